"""Prints a decoder like GPT-2 in linalg on tensors.

One projection for queries, keys and values that is sliced, products that start from their
bias, layer norms in fp32, GELU by tanh or the error function, positions that are learned,
and a tied head.
"""

import argparse

from printer import Printer, heads, softmax


def addmm(p, name, x, out, columns, rows=""):
    """The rows of `x` times the weight, added to the bias."""
    b, s, d = p.shape(x)
    t = p.element
    w = p.argument(f"{name}.weight".replace(".", "_"), (d, out),
                   attributes=f'stg.param = "{name}.weight", stg.dims = ["{rows}", "{columns}"]')
    bias = p.parameter(f"{name}.bias", (out,))
    start = p.generic([bias], [[1], [0, 1]], (b * s, out), lambda n, o: ([], n[0]))
    rows = p.collapse(x, [[0, 1], [2]])
    y = p.add(f"linalg.matmul ins({rows}, {w} : {p.of(rows)}, {p.of(w)}) outs({start} : {p.of(start)})"
              f" -> {p.of(start)}", (b * s, out), t)
    return p.expand(y, [[0, 1], [2]], (b, s, out))


def layer_norm(p, name, x):
    d = p.shape(x)[2]
    wide = p.cast(x, "f32")
    mean = p.scalar("arith.divf", p.reduce("arith.addf", wide, "0.0"), f"{float(d)}")
    centered = p.binary("arith.subf", wide, mean)
    squares = p.binary("arith.mulf", centered, centered)
    variance = p.scalar("arith.divf", p.reduce("arith.addf", squares, "0.0"), f"{float(d)}")
    root = p.unary("math.rsqrt", p.scalar("arith.addf", variance, "1.0e-5"))
    rows = p.cast(p.binary("arith.mulf", centered, root), p.element)
    return p.binary("arith.addf", p.binary("arith.mulf", rows, p.parameter(f"{name}.weight", (d,))),
                    p.parameter(f"{name}.bias", (d,)))


def gelu(p, x, kind):
    half = p.scalar("arith.mulf", x, "0.5")
    if kind == "erf":
        inner = p.unary("math.erf", p.scalar("arith.mulf", x, "0.70710678"))
    else:
        cube = p.scalar("math.powf", x, "3.0")
        inner = p.binary("arith.addf", x, p.scalar("arith.mulf", cube, "0.044715"))
        inner = p.unary("math.tanh", p.scalar("arith.mulf", inner, "0.79788456"))
    return p.binary("arith.mulf", half, p.scalar("arith.addf", inner, "1.0"))


def main():
    parser = argparse.ArgumentParser()
    for name, value in [("batch", 4), ("tokens", 32), ("hidden", 64), ("heads", 8), ("vocabulary", 256), ("positions", 40), ("layers", 2)]:
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--gelu", default="tanh", choices=["tanh", "erf"])
    a = parser.parse_args()
    p = Printer("bf16")
    b, s, d = a.batch, a.tokens, a.hidden
    e = d // a.heads
    ids = p.argument("tokens", (b, s), "i32", 'stg.name = "tokens", stg.dims = ["B", "S"]')
    table = p.argument("table", (a.vocabulary, d), attributes='stg.param = "wte", stg.dims = ["V", "D"]')
    places = p.argument("positions", (b, s), "i32", 'stg.name = "positions", stg.dims = ["B", "S"]')
    wpe = p.argument("wpe", (a.positions, d), attributes='stg.param = "wpe", stg.dims = ["P", ""]')

    def look_up(table, ids):
        return p.generic([ids], [[0, 1], [0, 1, 2]], (b, s, d), lambda n, o: (
            [f"%i = arith.index_cast {n[0]} : i32 to index", "%k = linalg.index 2 : index",
             f"%r = tensor.extract {table}[%i, %k] : {p.of(table)}"], "%r"))

    x = p.binary("arith.addf", look_up(table, ids), look_up(wpe, places))
    flat = [[0, 1], [2], [3]]
    for i in range(a.layers):
        layer = f"h.{i}"
        qkv = addmm(p, f"{layer}.attn", layer_norm(p, f"{layer}.ln_1", x), 3 * d, "")
        q, k, v = (heads(p, p.slice(qkv, 2, n * d, d), a.heads) for n in range(3))
        scores = p.batch_matmul(p.collapse(p.scalar("arith.mulf", q, f"{e ** -0.5:.9f}"), flat),
                                p.collapse(p.transpose(k, [0, 1, 3, 2]), flat))
        scores = p.expand(scores, flat, (b, a.heads, s, s))
        scores = p.generic(
            [scores], [[0, 1, 2, 3]] * 2, (b, a.heads, s, s),
            lambda n, o: (["%h = arith.constant 0xFF80 : bf16", "%i = linalg.index 2 : index", "%j = linalg.index 3 : index",
                           "%c = arith.cmpi sle, %j, %i : index", f"%r = arith.select %c, {n[0]}, %h : bf16"], "%r"))
        weights = p.cast(softmax(p, p.cast(scores, "f32")), "bf16")
        y = p.transpose(p.expand(p.batch_matmul(p.collapse(weights, flat), p.collapse(v, flat)), flat,
                                 (b, a.heads, s, e)), [0, 2, 1, 3])
        x = p.binary("arith.addf", addmm(p, f"{layer}.proj", p.collapse(y, [[0], [1], [2, 3]]), d, "", f"H={a.heads} E={e}"), x)
        h = gelu(p, addmm(p, f"{layer}.fc", layer_norm(p, f"{layer}.ln_2", x), 4 * d, "F"), a.gelu)
        x = p.binary("arith.addf", addmm(p, f"{layer}.out", h, d, ""), x)
    x = layer_norm(p, "ln_f", x)
    y = p.matmul(p.collapse(x, [[0, 1], [2]]), p.transpose(table, [1, 0]))
    p.print(p.expand(y, [[0, 1], [2]], (b, s, a.vocabulary)))


main()
