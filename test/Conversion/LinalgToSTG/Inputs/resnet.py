"""A residual network with bottlenecks as linalg on tensors, as torch-mlir lowers torchvision's."""

import argparse

from printer import Printer


def pad(p, x, amount, value, dims=(2, 3)):
    """`amount` elements on both sides of rows and columns."""
    if amount == 0:
        return x
    shape, t = p.types[x]
    constant = p.add(f"arith.constant {value} : {t}", (), t)
    edges = [amount if i in dims else 0 for i in range(4)]
    padded = [extent + 2 * edge for extent, edge in zip(shape, edges)]
    return p.add(f"tensor.pad {x} low{edges} high{edges} {{\n    ^bb0(%i: index, %j: index, %k: index, %l: index):\n"
                 f"      tensor.yield {constant} : {t}\n    }} : {p.of(x)} to {p.type(padded, t)}", padded, t)


def windows(p, op, x, other, outputs, size, stride, start):
    """`op` over windows of an image, with a weight or what has the shape of a window."""
    (batch, _, rows, columns), t = p.types[x]
    shape = (batch, outputs, (rows - size) // stride + 1, (columns - size) // stride + 1)
    out = p.fill(start, shape, t)
    return p.add(f"linalg.{op} {{dilations = dense<1> : vector<2xi64>, strides = dense<{stride}> : vector<2xi64>}}"
                 f" ins({x}, {other} : {p.of(x)}, {p.of(other)}) outs({out} : {p.of(out)}) -> {p.of(out)}", shape, t)


def convolution(p, name, x, outputs, size, stride=1, padding=0, last=False):
    channels = p.shape(x)[1]
    if last:  # Channels last, as TensorFlow has it, and the names of ops that say so.
        w = p.parameter(name, (size, size, channels, outputs))
        x = p.transpose(x, [0, 2, 3, 1])
        (batch, rows, columns, _), t = p.types[x]
        x = pad(p, x, padding, "0.0", dims=(1, 2))
        _, rows, columns, _ = p.shape(x)
        shape = (batch, (rows - size) // stride + 1, (columns - size) // stride + 1, outputs)
        out = p.fill("0.0", shape, t)
        y = p.add(f"linalg.conv_2d_nhwc_hwcf {{dilations = dense<1> : tensor<2xi64>, strides = dense<{stride}> :"
                  f" tensor<2xi64>}} ins({x}, {w} : {p.of(x)}, {p.of(w)}) outs({out} : {p.of(out)}) -> {p.of(out)}",
                  shape, t)
        return p.transpose(y, [0, 3, 1, 2])
    w = p.parameter(name, (outputs, channels, size, size))
    return windows(p, "conv_2d_nchw_fchw", pad(p, x, padding, "0.0"), w, outputs, size, stride, "0.0")


def batch_norm(p, name, x, rectified=True):
    """With running averages, in one body."""
    shape, t = p.types[x]
    vectors = [p.parameter(f"{name}.{part}", (shape[1],)) for part in ("weight", "bias", "mean", "variance")]
    place = [0, 1, 2, 3]

    def body(a, out):
        return [f"%eps = arith.constant 1.0e-5 : {t}", f"%v = arith.addf {a[4]}, %eps : {t}", f"%r = math.rsqrt %v : {t}",
                f"%d = arith.subf {a[0]}, {a[3]} : {t}", f"%n = arith.mulf %d, %r : {t}", f"%w = arith.mulf %n, {a[1]} : {t}",
                f"%b = arith.addf %w, {a[2]} : {t}"], "%b"

    y = p.generic([x, *vectors], [place, [1], [1], [1], [1], place], shape, body)
    return rectify(p, y) if rectified else y


def rectify(p, x):
    t = p.types[x][1]
    return p.pointwise(lambda a, o: ([f"%z = arith.constant 0.0 : {t}", f"%c = arith.cmpf ugt, {a[0]}, %z : {t}",
                                      f"%r = arith.select %c, {a[0]}, %z : {t}"], "%r"), x)


def bottleneck(p, name, x, channels, stride, last):
    y = batch_norm(p, f"{name}.bn1", convolution(p, f"{name}.conv1", x, channels, 1, last=last))
    y = batch_norm(p, f"{name}.bn2", convolution(p, f"{name}.conv2", y, channels, 3, stride, 1, last=last))
    y = batch_norm(p, f"{name}.bn3", convolution(p, f"{name}.conv3", y, 4 * channels, 1, last=last), rectified=False)
    if p.shape(x) != p.shape(y):
        x = batch_norm(p, f"{name}.down_bn", convolution(p, f"{name}.down", x, 4 * channels, 1, stride, last=last),
                       rectified=False)
    return rectify(p, p.binary("arith.addf", x, y))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", default="2,2,3,2")
    parser.add_argument("--channels", type=int, default=8)
    parser.add_argument("--image", type=int, default=64)
    parser.add_argument("--classes", type=int, default=20)
    parser.add_argument("--channels-last", action="store_true")
    options = parser.parse_args()
    p = Printer("bf16")
    batch, last = 4, options.channels_last
    dims = {"B": batch, "IY": options.image, "IX": options.image, "CI": 3}
    order = ["B", "IY", "IX", "CI"] if last else ["B", "CI", "IY", "IX"]
    names = ", ".join(f'"{dim}"' for dim in order)
    x = p.argument("images", [dims[dim] for dim in order], attributes=f'stg.name = "images", stg.dims = [{names}]')
    if last:
        x = p.transpose(x, [0, 3, 1, 2])
    x = batch_norm(p, "bn", convolution(p, "conv", x, options.channels, 7, 2, 3, last=last))
    window = p.empty((3, 3))
    x = windows(p, "pooling_nchw_max", pad(p, x, 1, "0xFF80"), window, options.channels, 3, 2, "0xFF80")
    for stage, count in enumerate(map(int, options.layers.split(","))):
        for layer in range(count):
            stride = 2 if stage > 0 and layer == 0 else 1
            x = bottleneck(p, f"layer{stage + 1}.{layer}", x, options.channels << stage, stride, last)
    (_, features, rows, columns), t = p.types[x]
    window = p.empty((rows, columns))
    out = p.fill("0.0", (batch, features, 1, 1))
    x = p.add(f"linalg.pooling_nchw_sum {{dilations = dense<1> : vector<2xi64>, strides = dense<{rows}> : vector<2xi64>}}"
              f" ins({x}, {window} : {p.of(x)}, {p.of(window)}) outs({out} : {p.of(out)}) -> {p.of(out)}",
              (batch, features, 1, 1))
    x = p.scalar("arith.divf", x, float(rows * columns))
    x = p.collapse(x, [[0], [1, 2, 3]])
    w = p.parameter("fc", (options.classes, features))
    y = p.matmul(x, p.transpose(w, [1, 0]))
    bias = p.parameter("fc_bias", (options.classes,))
    y = p.generic([y, bias], [[0, 1], [1], [0, 1]], (batch, options.classes),
                  lambda a, o: ([f"%r = arith.addf {a[0]}, {a[1]} : {t}"], "%r"))
    p.print(y)


main()
