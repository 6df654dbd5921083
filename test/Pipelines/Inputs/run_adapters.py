"""Counts what ranks of tensor parallelism execute that train adapters beside frozen products.

  python3 run_adapters.py > executed_adapters.json

Each rank is a thread that trains its part of a few decoder layers in PyTorch; what ranks
exchange really goes from one to the other, and is counted where it does: of an all-gather what a
rank has before it. Gradients of all ranks together are those of one rank with all weights, or
nothing is printed.

Products whose outputs are divided (queries, keys and values, gate and up) read what all ranks
have; those that follow contract what is divided. With sequence parallelism ranks divide the tokens
between them, an adapter's inner factor is of a rank's own tokens, and what is gathered for a
product is gathered again for its gradient.
"""

import json
import math
import threading

import torch
import torch.nn.functional as F

from run_mechanisms import DTYPE
from run_vision import Attention, Counted, Gated, RmsNorm, Saved, causal

ELEMENT = 4  # Bytes of an f32, which a plan has.


class Ranks:
    """Ranks that exchange tensors; each calls the same methods in the same order."""

    def __init__(self, count):
        self.count, self.barrier, self.own = count, threading.Barrier(count), [None] * count

    def exchange(self, rank, tensor):
        self.own[rank] = tensor
        self.barrier.wait()
        everything = list(self.own)
        self.barrier.wait()
        return everything


class Rank:
    def __init__(self, ranks, number):
        self.ranks, self.number = ranks, number
        self.phase, self.collectives = "fwd", {}

    def _exchange(self, kind, tensor):
        if self.ranks.count == 1:
            return [tensor]
        count, size = self.collectives.get((kind, self.phase), (0, 0))
        self.collectives[kind, self.phase] = (count + 1, size + tensor.numel() * ELEMENT)
        return self.ranks.exchange(self.number, tensor)

    def all_reduce(self, tensor):
        return sum(self._exchange("all_reduce", tensor))

    def sum_gradients(self, parameters):
        """Those of which each rank has a part: all at once."""
        if self.ranks.count == 1:
            return
        gradients = [parameter.grad for parameter in parameters]
        total = self.all_reduce(torch.cat([g.reshape(-1) for g in gradients]))
        for gradient, part in zip(gradients, total.split([g.numel() for g in gradients])):
            gradient.copy_(part.view_as(gradient))

    def all_gather(self, tensor):
        return torch.cat(self._exchange("all_gather", tensor), 1)

    def reduce_scatter(self, tensor):
        return sum(self._exchange("reduce_scatter", tensor)).chunk(self.ranks.count, 1)[self.number].contiguous()


class Both(torch.autograd.Function):
    """One collective forward and one backward."""

    @staticmethod
    def forward(ctx, x, forward, backward):
        ctx.backward_of = backward
        return forward(x)

    @staticmethod
    def backward(ctx, dy):
        return ctx.backward_of(dy), None, None


def same(x):
    return x.view_as(x)


class GatheredProduct(torch.autograd.Function):
    """A product of all tokens, of which a rank keeps its own."""

    @staticmethod
    def forward(ctx, x, weight, rank):
        ctx.rank = rank
        ctx.save_for_backward(x, weight)
        return rank.all_gather(x) @ weight

    @staticmethod
    def backward(ctx, dy):
        x, weight = ctx.saved_tensors
        whole = ctx.rank.all_gather(x)
        dw = whole.reshape(-1, whole.shape[-1]).t() @ dy.reshape(-1, dy.shape[-1])
        return ctx.rank.reduce_scatter(dy @ weight.t()), dw, None


class Layers:
    """A rank's part of all layers."""

    def __init__(self, c, rank, is_divided):
        self.c, self.rank, self.is_divided = c, rank, is_divided
        self.frozen, self.trained, self.partial = [], {}, []
        self.scale = torch.tensor(c["alpha"] / c["rank"], dtype=DTYPE)
        self.generator = torch.Generator().manual_seed(1)
        self.layers = [self.make_layer(number) for number in range(c["L"])]
        self.norm = self.make(None, (c["D"],), None, [])

    def make(self, name, whole, dim, groups):
        """A rank's slice of a weight: a part of each of the groups of `dim`."""
        weight = torch.randn(whole, generator=self.generator, dtype=DTYPE) / math.sqrt(whole[0])
        if dim is not None:
            n = self.rank.ranks.count
            parts = [part.chunk(n, dim)[self.rank.number] for part in weight.split(groups, dim)]
            weight = torch.cat(parts, dim)
        weight = weight.contiguous()
        if name is None:
            self.frozen.append(weight)
            return weight
        self.trained[name] = weight.requires_grad_()
        return weight

    def adapter(self, name, inputs, outputs, groups, divides_inputs):
        r = self.c["rank"]
        a = self.make(name + ".A", (inputs, r), 0 if divides_inputs else None, [inputs])
        b = self.make(name + ".B", (r, outputs), None if divides_inputs else 1, groups)
        return name, a, b

    def make_layer(self, number):
        c, targets = self.c, self.c["targets"]
        D, E, F_ = c["D"], c["E"], c["F"]
        sizes = {"q": c["H"] * E, "k": c["K"] * E, "v": c["K"] * E, "gate": F_, "up": F_}
        result = {}
        for joint, parts in ("qkv", ("q", "k", "v")), ("gate_up", ("gate", "up")):
            groups = [sizes[part] for part in parts]
            result[joint] = self.make(None, (D, sum(groups)), 1, groups)
            own = [(parts, groups)] if joint in targets else []
            own += [((part,), [sizes[part]]) for part in parts if part in targets]
            result[joint + ".adapters"] = [
                (of, *self.adapter(f"{number}.{'_'.join(of)}", D, sum(size), size, False)) for of, size in own]
        for name, inputs in ("o", c["H"] * E), ("down", F_):
            result[name] = self.make(None, (inputs, D), 0, [inputs])
            result[name + ".adapters"] = (
                [self.adapter(f"{number}.{name}", inputs, D, [D], True)] if name in targets else [])
        result["norms"] = [self.make(None, (D,), None, []) for _ in range(2)]
        return result

    def column(self, layer, joint, parts, x):
        """What is divided by its outputs; each part of it."""
        rank, n = self.rank, self.rank.ranks.count
        is_first = not x.requires_grad
        if self.is_divided:
            whole = Both.apply(x, rank.all_gather, rank.reduce_scatter)
        else:
            whole = x if is_first else Both.apply(x, same, rank.all_reduce)
        y = dict(zip(parts, (whole @ layer[joint]).split([size // n for size in parts.values()], -1)))
        for of, name, a, b in layer[joint + ".adapters"]:
            if self.is_divided:
                self.partial.append(name + ".A")
                z = GatheredProduct.apply(x @ a, b, rank)
            else:
                inner = whole @ a
                # Of nothing that is trained: its gradient is summed, and not that of its factor.
                if is_first:
                    inner = Both.apply(inner, same, rank.all_reduce)
                else:
                    self.partial.append(name + ".A")
                z = inner @ b
            z = (z * self.scale).split([parts[part] // n for part in of], -1)
            y |= {part: y[part] + more for part, more in zip(of, z)}
        return [part.contiguous() for part in y.values()]

    def row(self, layer, name, x):
        """What contracts what is divided."""
        rank = self.rank
        scatter = lambda t: Both.apply(t, rank.reduce_scatter, rank.all_gather)
        y = x @ layer[name]
        if self.is_divided:
            y = scatter(y)
        for own, a, b in layer[name + ".adapters"]:
            self.partial.append(own + ".B")
            inner = x @ a
            y = y + ((scatter(inner) if self.is_divided else inner) @ b) * self.scale
        return y if self.is_divided else Both.apply(y, rank.all_reduce, same)

    def forward(self, x):
        c = self.c
        E, sizes = c["E"], {"q": c["H"] * c["E"], "k": c["K"] * c["E"], "v": c["K"] * c["E"]}
        for layer in self.layers:
            parts = self.column(layer, "qkv", sizes, RmsNorm.apply(x, layer["norms"][0]))
            q, k, v = (part.reshape(*part.shape[:2], -1, E) for part in parts)
            o = Attention.apply(q, k, v, causal)
            x = x + self.row(layer, "o", o.reshape(*o.shape[:2], -1))
            parts = self.column(layer, "gate_up", {"gate": c["F"], "up": c["F"]}, RmsNorm.apply(x, layer["norms"][1]))
            x = x + self.row(layer, "down", Gated.apply(torch.cat(parts, -1), F.silu))
        return RmsNorm.apply(x, self.norm)

    def sum_partial(self):
        """The gradients of whole weights, of which each rank has a part."""
        self.rank.sum_gradients(self.trained[name] for name in self.partial)


def train(c, ranks, number, is_divided, results):
    rank = Rank(ranks, number)
    model = Layers(c, rank, is_divided)
    generator = torch.Generator().manual_seed(2)
    x, dy = (torch.randn(c["B"], c["S"], c["D"], generator=generator, dtype=DTYPE) for _ in range(2))
    if is_divided:
        x, dy = (t.chunk(ranks.count, 1)[number].contiguous() for t in (x, dy))
    with Counted() as products, Saved(products) as saved:
        y = model.forward(x)
        products.phase = rank.phase = "bwd"
        y.backward(dy)
    rank.phase = "grad_sync"
    model.sum_partial()
    trained = list(model.trained.values())
    results[number] = model, {
        **products.total,
        "collectives": [[*key, *value] for key, value in sorted(rank.collectives.items())],
        "parameters": sum(p.numel() for p in model.frozen + trained),
        "trained": sum(p.numel() for p in trained),
        "saved": saved.count_elements(model.frozen + trained + [x]),
    }


def run(c, count, is_divided):
    ranks, results = Ranks(count), [None] * count
    threads = [threading.Thread(target=train, args=(c, ranks, i, is_divided, results)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [model for model, _ in results], [found for _, found in results]


def check_gradients(models, whole):
    """The sum of what ranks have, each part once, is that of one rank."""
    for name, weight in whole.trained.items():
        own = [model.trained[name].grad for model in models]
        if own[0].shape == weight.shape:
            assert all(torch.allclose(gradient, weight.grad) for gradient in own), name
        else:
            total = sum(gradient.sum() for gradient in own)
            squares = sum(gradient.square().sum() for gradient in own)
            assert torch.allclose(total, weight.grad.sum()) and torch.allclose(squares, weight.grad.square().sum()), name


SIZES = dict(B=2, S=8, D=16, H=4, K=2, E=4, F=24, L=3, rank=4, alpha=8)
TARGETS = {
    "queries and values": ["q", "v"],
    "joint": ["qkv", "o", "gate_up", "down"],
    "each": ["q", "k", "v", "o", "gate", "up", "down"],
    "outputs": ["o", "down"],
}


def main():
    result = {}
    for name, targets in TARGETS.items():
        c = SIZES | {"targets": targets}
        whole = run(c, 1, False)[0][0]
        for is_divided in (False, True):
            models, (first, second) = run(c, 2, is_divided)
            check_gradients(models, whole)
            assert first == second
            title = name + (", tokens divided" if is_divided else "")
            result[title] = {"config": c, "ranks": 2, "tokens_divided": is_divided, **first}
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
