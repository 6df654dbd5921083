"""Ops of linalg on tensors as text, with the shapes of their results."""


class Printer:
    """Values with their shapes, and ops that make values of values."""

    def __init__(self, element, torch=False):
        self.element = element
        self.torch = torch  # As torch-mlir lowers it.
        self.lines = []
        self.args = []
        self.count = 0
        self.types = {}

    def print(self, result):
        print(f"func.func @main({', '.join(self.args)}) -> {self.of(result)} {{")
        print("\n".join(self.lines))
        print(f"    return {result} : {self.of(result)}\n}}")

    def type(self, shape, element=None):
        return f"tensor<{'x'.join(map(str, shape))}{'x' if shape else ''}{element or self.element}>"

    def add(self, text, shape, element=None):
        name = f"%{self.count}"
        self.count += 1
        self.lines.append(f"    {name} = {text}")
        self.types[name] = (tuple(shape), element or self.element)
        return name

    def shape(self, value):
        return self.types[value][0]

    def of(self, value):
        shape, element = self.types[value]
        return self.type(shape, element)

    def argument(self, name, shape, element=None, attributes=""):
        self.args.append(f"%{name}: {self.type(shape, element)} {{{attributes}}}")
        self.types[f"%{name}"] = (tuple(shape), element or self.element)
        return f"%{name}"

    def parameter(self, name, shape, dims=None):
        value = name.replace(".", "_")
        attributes = f'stg.param = "{name}"'
        if dims:
            attributes += f', stg.dims = ["{dims}", ""]'
        return self.argument(value, shape, attributes=attributes)

    def empty(self, shape, element=None):
        return self.add(f"tensor.empty() : {self.type(shape, element)}", shape, element)

    def fill(self, value, shape, element=None):
        element = element or self.element
        constant = self.add(f"arith.constant {value} : {element}", (), element)
        empty = self.empty(shape, element)
        return self.add(f"linalg.fill ins({constant} : {element}) outs({empty} : {self.type(shape, element)})"
                        f" -> {self.type(shape, element)}", shape, element)

    def generic(self, inputs, maps, shape, body, element=None, reduce=0, init=None):
        """`body(names, out)` gives lines and the name of what is yielded."""
        element = element or self.element
        out = init or self.empty(shape, element)
        loops = len(shape) + reduce
        dims = ", ".join(f"d{i}" for i in range(loops))
        text = [f"affine_map<({dims}) -> ({', '.join(str(x) if isinstance(x, str) else f'd{x}' for x in m)})>"
                for m in maps]
        kinds = ['"parallel"'] * loops
        used = set(maps[-1])
        for i in range(loops):
            if i not in used and reduce:
                kinds[i] = '"reduction"'
        names = [f"%a{i}" for i in range(len(inputs))]
        lines, result = body(names, "%out")
        block = ", ".join([f"{n}: {self.types[v][1]}" for n, v in zip(names, inputs)] + [f"%out: {element}"])
        ins = ""
        if inputs:
            ins = f" ins({', '.join(inputs)} : {', '.join(self.of(v) for v in inputs)})"
        inner = "\n".join(f"      {line}" for line in lines)
        return self.add(
            f"linalg.generic {{indexing_maps = [{', '.join(text)}], iterator_types = [{', '.join(kinds)}]}}{ins}"
            f" outs({out} : {self.type(shape, element)}) {{\n    ^bb0({block}):\n{inner}\n"
            f"      linalg.yield {result} : {element}\n    }} -> {self.type(shape, element)}", shape, element)

    def pointwise(self, op, *inputs, element=None):
        """An op over tensors of one rank, some of whose extents are 1."""
        rank = max(len(self.shape(v)) for v in inputs)
        shape = [max([self.shape(v)[i - rank + len(self.shape(v))] for v in inputs
                      if i >= rank - len(self.shape(v))]) for i in range(rank)]
        maps = []
        for v in inputs:
            own = self.shape(v)
            offset = rank - len(own)
            maps.append(["0" if extent == 1 and shape[i + offset] != 1 else i + offset
                         for i, extent in enumerate(own)])
        maps.append(list(range(rank)))
        return self.generic(inputs, maps, shape, op, element)

    def unary(self, op, x):
        t = self.types[x][1]
        return self.pointwise(lambda a, o: ([f"%r = {op} {a[0]} : {t}"], "%r"), x, element=t)

    def binary(self, op, x, y):
        t = self.types[x][1]
        return self.pointwise(lambda a, o: ([f"%r = {op} {a[0]}, {a[1]} : {t}"], "%r"), x, y, element=t)

    def scalar(self, op, x, value):
        t = self.types[x][1]
        return self.pointwise(lambda a, o: ([f"%c = arith.constant {value} : {t}", f"%r = {op} {a[0]}, %c : {t}"],
                                            "%r"), x, element=t)

    def cast(self, x, element):
        own = self.types[x][1]
        if own == element:
            return x
        op = "arith.extf" if element == "f32" else "arith.truncf"
        return self.pointwise(lambda a, o: ([f"%r = {op} {a[0]} : {own} to {element}"], "%r"), x, element=element)

    def transpose(self, x, order):
        shape = [self.shape(x)[i] for i in order]
        empty = self.empty(shape, self.types[x][1])
        return self.add(f"linalg.transpose ins({x} : {self.of(x)}) outs({empty} : {self.of(empty)})"
                        f" permutation = [{', '.join(map(str, order))}]", shape, self.types[x][1])

    def collapse(self, x, groups):
        own = self.shape(x)
        shape = []
        for group in groups:
            extent = 1
            for i in group:
                extent *= own[i]
            shape.append(extent)
        t = self.types[x][1]
        return self.add(f"tensor.collapse_shape {x} {[list(g) for g in groups]} : {self.of(x)} into {self.type(shape, t)}",
                        shape, t)

    def expand(self, x, groups, shape):
        t = self.types[x][1]
        return self.add(f"tensor.expand_shape {x} {[list(g) for g in groups]} output_shape {list(shape)} :"
                        f" {self.of(x)} into {self.type(shape, t)}", shape, t)

    def reduce(self, op, x, neutral):
        """Along the last dimension, which stays with an extent of 1."""
        own, t = self.types[x]
        shape = list(own[:-1]) + [1]
        init = self.fill(neutral, shape, t)
        rank = len(own)
        maps = [list(range(rank)), list(range(rank - 1)) + ["0"]]
        # Dimensions of the result that are 1 are the constant 0 in its map.
        dims = ", ".join(f"d{i}" for i in range(rank))
        text = [f"affine_map<({dims}) -> ({', '.join(x if isinstance(x, str) else f'd{x}' for x in m)})>" for m in maps]
        kinds = ", ".join(['"parallel"'] * (rank - 1) + ['"reduction"'])
        return self.add(
            f"linalg.generic {{indexing_maps = [{', '.join(text)}], iterator_types = [{kinds}]}} ins({x} : {self.of(x)})"
            f" outs({init} : {self.of(init)}) {{\n    ^bb0(%a0: {t}, %out: {t}):\n      %r = {op} %a0, %out : {t}\n"
            f"      linalg.yield %r : {t}\n    }} -> {self.type(shape, t)}", shape, t)

    def batch_matmul(self, x, y):
        (b, m, _), t = self.types[x]
        n = self.shape(y)[2]
        zero = self.fill("0.0", (b, m, n), t)
        return self.add(f"linalg.batch_matmul ins({x}, {y} : {self.of(x)}, {self.of(y)}) outs({zero} : {self.of(zero)})"
                        f" -> {self.of(zero)}", (b, m, n), t)

    def matmul(self, x, y):
        (m, _), t = self.types[x]
        n = self.shape(y)[1]
        zero = self.fill("0.0", (m, n), t)
        return self.add(f"linalg.matmul ins({x}, {y} : {self.of(x)}, {self.of(y)}) outs({zero} : {self.of(zero)})"
                        f" -> {self.of(zero)}", (m, n), t)

    def slice(self, x, dim, offset, size):
        own, t = self.types[x]
        shape = list(own)
        shape[dim] = size
        offsets = [offset if i == dim else 0 for i in range(len(own))]
        return self.add(f"tensor.extract_slice {x}{offsets} {shape} {[1] * len(own)} : {self.of(x)} to {self.type(shape, t)}",
                        shape, t)

    def concat(self, dim, *inputs):
        own, t = self.types[inputs[0]]
        shape = list(own)
        shape[dim] = sum(self.shape(v)[dim] for v in inputs)
        return self.add(f"tensor.concat dim({dim}) {', '.join(inputs)} : ({', '.join(self.of(v) for v in inputs)})"
                        f" -> {self.type(shape, t)}", shape, t)


def linear(p, name, x, out, dims=None):
    """The rows of `x` times the transposed weight, whose rows are called `dims`."""
    b, s, d = p.shape(x)
    w = p.parameter(name, (out, d), dims)
    if p.torch:  # The weight is repeated for each row of the batch.
        t = p.transpose(w, [1, 0])
        return p.batch_matmul(x, p.generic([t], [[1, 2], [0, 1, 2]], (b, d, out), lambda n, o: ([], n[0])))
    y = p.matmul(p.collapse(x, [[0, 1], [2]]), p.transpose(w, [1, 0]))
    return p.expand(y, [[0, 1], [2]], (b, s, out))


def maximum_and_place(p, x):
    """Two results, the second of which is where the maximum is."""
    own, t = p.types[x]
    shape, rank = own[:-1], len(own)
    values, places = p.fill("0xFF800000", shape, t), p.fill("0", shape, "i64")
    dims = ", ".join(f"d{i}" for i in range(rank))
    result = f"affine_map<({dims}) -> ({', '.join(f'd{i}' for i in range(rank - 1))})>"
    kinds = ", ".join(['"parallel"'] * (rank - 1) + ['"reduction"'])
    both = p.add(
        f"linalg.generic {{indexing_maps = [affine_map<({dims}) -> ({dims})>, {result}, {result}], iterator_types = [{kinds}]}}"
        f" ins({x} : {p.of(x)}) outs({values}, {places} : {p.of(values)}, {p.of(places)}) {{\n"
        f"    ^bb0(%a: {t}, %out: {t}, %place: i64):\n      %i = linalg.index {rank - 1} : index\n"
        f"      %j = arith.index_cast %i : index to i64\n      %m = arith.maximumf %a, %out : {t}\n"
        f"      %c = arith.cmpf ogt, %a, %out : {t}\n      %p = arith.select %c, %j, %place : i64\n"
        f"      linalg.yield %m, %p : {t}, i64\n    }} -> ({p.of(values)}, {p.of(places)})", shape, t)
    p.lines[-1] = p.lines[-1].replace(f"{both} =", f"{both}:2 =", 1)
    first = f"{both}#0"
    p.types[first] = (shape, t)
    groups = [[i] for i in range(rank - 2)] + [[rank - 2, rank - 1]]
    return p.expand(first, groups, shape + (1,))


def softmax(p, x):
    maximum = maximum_and_place(p, x) if p.torch else p.reduce("arith.maximumf", x, "0xFF800000")
    difference = p.binary("arith.subf", x, maximum)
    e = p.unary("math.exp", difference)
    return p.binary("arith.divf", e, p.reduce("arith.addf", e, "0.0"))


def heads(p, x, count):
    b, s, d = p.shape(x)
    x = p.expand(x, [[0], [1], [2, 3]], (b, s, count, d // count))
    return p.transpose(x, [0, 2, 1, 3])
