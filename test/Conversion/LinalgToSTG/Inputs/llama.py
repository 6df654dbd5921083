"""Prints a decoder in linalg on tensors, as exporters of PyTorch models lower it.

Projections are transposed weights and batches of matrix products, norms and the softmax
are an op for each step, heads are reshapes and transpositions, groups of heads are
repeated, positions are rotated by halves, and a mask is added to scores. Names of
dimensions are given where they are first seen.
"""

import argparse

from printer import Printer, heads, linear, softmax


def rms_norm(p, name, x):
    d = p.shape(x)[2]
    wide = p.cast(x, "f32")
    if p.torch:
        two = p.add("arith.constant 2 : i64", (), "i64")
        squares = p.pointwise(lambda n, o: ([f"%r = math.fpowi {n[0]}, {two} : f32, i64"], "%r"), wide, element="f32")
    else:
        squares = p.scalar("math.powf", wide, "2.0")
    mean = p.scalar("arith.divf", p.reduce("arith.addf", squares, "0.0"), f"{float(d)}")
    if p.torch:
        small = p.add("arith.constant 1.0e-5 : f64", (), "f64")
        mean = p.pointwise(lambda n, o: ([f"%c = arith.truncf {small} : f64 to f32", f"%r = arith.addf {n[0]}, %c : f32"], "%r"),
                           mean, element="f32")
    else:
        mean = p.scalar("arith.addf", mean, "1.0e-5")
    root = p.unary("math.rsqrt", mean)
    rows = p.cast(p.binary("arith.mulf", wide, root), p.element)
    return p.binary("arith.mulf", rows, p.parameter(name, (d,)))


def rotate(p, x, cos, sin):
    e = p.shape(x)[3]
    first, second = p.slice(x, 3, 0, e // 2), p.slice(x, 3, e // 2, e // 2)
    turned = p.concat(3, p.unary("arith.negf", second), first)
    return p.binary("arith.addf", p.binary("arith.mulf", x, cos), p.binary("arith.mulf", turned, sin))


def repeat(p, x, times):
    """Each head so many times."""
    if times == 1:
        return x
    b, k, s, e = p.shape(x)
    x = p.generic([x], [[0, 1, 3, 4], [0, 1, 2, 3, 4]], (b, k, times, s, e), lambda a, o: ([], a[0]))
    return p.collapse(x, [[0], [1, 2], [3], [4]])


def attention(p, layer, x, a, cos, sin, mask):
    b, s, d = p.shape(x)
    e = a.head
    q = rotate(p, heads(p, linear(p, f"{layer}.q", x, a.heads * e, f"K={a.kv} G={a.heads // a.kv} E={e}"), a.heads), cos, sin)
    k = rotate(p, heads(p, linear(p, f"{layer}.k", x, a.kv * e), a.kv), cos, sin)
    v = heads(p, linear(p, f"{layer}.v", x, a.kv * e, f"K={a.kv} E"), a.kv)
    k, v = repeat(p, k, a.heads // a.kv), repeat(p, v, a.heads // a.kv)
    flat = [[0, 1], [2], [3]]
    scores = p.batch_matmul(p.collapse(q, flat), p.collapse(p.transpose(k, [0, 1, 3, 2]), flat))
    scores = p.expand(scores, flat, (b, a.heads, s, s))
    scores = p.scalar("arith.mulf", scores, f"{e ** -0.5:.9f}")
    if a.mask in ("add", "argument"):
        scores = p.binary("arith.addf", scores, mask)
    else:
        hide = "0xFF800000" if p.element == "f32" else "0xFF80"
        t = p.element
        scores = p.generic(
            [scores], [[0, 1, 2, 3]] * 2, (b, a.heads, s, s),
            lambda n, o: ([f"%h = arith.constant {hide} : {t}", "%i = linalg.index 2 : index", "%j = linalg.index 3 : index",
                           "%c = arith.cmpi ugt, %j, %i : index", f"%r = arith.select %c, %h, {n[0]} : {t}"], "%r"))
    weights = p.cast(softmax(p, p.cast(scores, "f32")), p.element)
    y = p.batch_matmul(p.collapse(weights, flat), p.collapse(v, flat))
    y = p.transpose(p.expand(y, flat, (b, a.heads, s, e)), [0, 2, 1, 3])
    return linear(p, f"{layer}.o", p.collapse(y, [[0], [1], [2, 3]]), d)


def feed_forward(p, layer, x, a):
    gate = linear(p, f"{layer}.gate", x, a.ffn, "F")
    t = p.element
    sigmoid = p.pointwise(lambda n, o: (
        [f"%one = arith.constant 1.0 : {t}", f"%n = arith.negf {n[0]} : {t}", f"%e = math.exp %n : {t}",
         f"%s = arith.addf %e, %one : {t}", f"%r = arith.divf %one, %s : {t}"], "%r"), gate)
    silu = p.binary("arith.mulf", sigmoid, gate)
    return linear(p, f"{layer}.down", p.binary("arith.mulf", silu, linear(p, f"{layer}.up", x, a.ffn)), p.shape(x)[2])


def main():
    parser = argparse.ArgumentParser()
    for name, value in [("batch", 4), ("tokens", 32), ("hidden", 64), ("heads", 8), ("kv", 2), ("head", 8), ("ffn", 160),
                        ("vocabulary", 256), ("layers", 2), ("window", 0)]:
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--element", default="bf16")
    parser.add_argument("--ids", default="i32")
    parser.add_argument("--mask", default="add", choices=["add", "select", "argument"])
    parser.add_argument("--torch", action="store_true", help="products and maxima as torch-mlir lowers them")
    a = parser.parse_args()
    p = Printer(a.element, a.torch)
    b, s, d = a.batch, a.tokens, a.hidden
    ids = p.argument("tokens", (b, s), a.ids, 'stg.name = "tokens", stg.dims = ["B", "S"]')
    table = p.argument("table", (a.vocabulary, d), attributes='stg.param = "embed", stg.dims = ["V", "D"]')
    x = p.generic([ids], [[0, 1], [0, 1, 2]], (b, s, d), lambda n, o: (
        [f"%i = arith.index_cast {n[0]} : {a.ids} to index", "%k = linalg.index 2 : index",
         f"%r = tensor.extract {table}[%i, %k] : {p.of(table)}"], "%r"))
    # Angles of positions: what the program computes without its inputs.
    def angles(function):
        angle = p.generic([], [[0, 1]], (s, a.head), lambda n, o: (
            ["%i = linalg.index 0 : index", "%k = arith.index_cast %i : index to i32", "%f = arith.sitofp %k : i32 to f32",
             f"%r = {function} %f : f32"], "%r"), "f32")
        return p.cast(angle, a.element)
    cos, sin = angles("math.cos"), angles("math.sin")
    hidden = "-3.0e+38" if a.element != "f16" else "-6.0e+4"
    bound = f"%w = arith.constant {a.window if a.window else s} : index"
    if a.mask == "argument":
        mask = p.argument("mask", (b, 1, s, s), attributes='stg.mask = "causal"')
    else:
        mask = p.generic([], [[0, 1]], (s, s), lambda n, o: (
            ["%i = linalg.index 0 : index", "%j = linalg.index 1 : index", bound, "%k = arith.addi %j, %w : index",
             f"%zero = arith.constant 0.0 : {a.element}", f"%low = arith.constant {hidden} : {a.element}",
             "%after = arith.cmpi ugt, %j, %i : index", "%far = arith.cmpi ule, %k, %i : index",
             "%hide = arith.ori %after, %far : i1", f"%r = arith.select %hide, %low, %zero : {a.element}"], "%r"))
    for i in range(a.layers):
        layer = f"layers.{i}"
        x = p.binary("arith.addf", x, attention(p, layer, rms_norm(p, f"{layer}.norm1", x), a, cos, sin, mask))
        x = p.binary("arith.addf", x, feed_forward(p, layer, rms_norm(p, f"{layer}.norm2", x), a))
    p.print(linear(p, "head", rms_norm(p, "norm", x), a.vocabulary, "V"))


main()
