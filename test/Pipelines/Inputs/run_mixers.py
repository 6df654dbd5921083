"""Counts what ranks of tensor parallelism execute that train Mamba-2 with fewer groups than ranks.

  python3 run_mixers.py > executed_mixers.json

Each rank is a thread that trains its heads of a few layers in PyTorch; what ranks exchange really
goes from one to the other, and is counted where it does. Ranks whose heads are of one group each
have what the group writes and reads; the norm behind the gate is one of all of the group's heads,
so these ranks add their sums of squares, and what backward needs of them, and the gradients of what
they share. All gradients are those of one rank with all heads, or nothing is printed.

The scan goes chunk by chunk, with all products of all chunks: it begins with a state that is
trained, and its last state is part of the loss.
"""

import json
import math
import threading

import torch
import torch.nn.functional as F

from run_adapters import Both, Rank, Ranks, same
from run_mechanisms import DTYPE
from run_vision import Counted, RmsNorm

EPSILON = 1e-5


def convolve(x, weight, bias):
    """Each channel over its last tokens; no product of matrices."""
    taps = weight.shape[-1]
    padded = F.pad(x, (0, 0, taps - 1, 0))
    return F.silu(sum(padded[:, i : i + x.shape[1]] * weight[:, i] for i in range(taps)) + bias)


def times(a, b):
    """A batched product, of the last two dimensions."""
    shape = a.shape[:-2]
    return torch.bmm(a.reshape(-1, *a.shape[-2:]), b.reshape(-1, *b.shape[-2:])).reshape(*shape, a.shape[-2], b.shape[-1])


def scan(x, dt, a, b, c, start, chunk):
    """The state-space dual form: x [batch, tokens, groups, heads of a group, P]; b and c [batch,
    tokens, groups, N]; dt and the rate a of each head. Result and last state."""
    B, S, G, H, P = x.shape
    N, result = b.shape[-1], []
    state = start.expand(B, G, H, N, P)
    for begin in range(0, S, chunk):
        part = slice(begin, begin + chunk)
        # [batch, groups, heads, tokens of the chunk]
        log = (dt[:, part] * a).permute(0, 2, 3, 1)
        total = log.cumsum(-1)
        rows, columns = total.unsqueeze(-1), total.unsqueeze(-2)
        decay = torch.exp((rows - columns).masked_fill(torch.ones(chunk, chunk).triu(1).bool(), -math.inf))
        cg, bg = c[:, part].transpose(1, 2), b[:, part].transpose(1, 2)
        xs = (x[:, part] * dt[:, part].unsqueeze(-1)).permute(0, 2, 3, 1, 4)
        scores = times(cg, bg.transpose(-1, -2)).unsqueeze(2) * decay
        inside = times(scores, xs)
        # All heads of a group at once: [tokens, N] times [N, heads and P].
        before = times(cg, state.permute(0, 1, 3, 2, 4).reshape(B, G, N, H * P))
        before = before.reshape(B, G, chunk, H, P).transpose(2, 3) * torch.exp(total).unsqueeze(-1)
        left = (xs * torch.exp(total[..., -1:] - total).unsqueeze(-1)).transpose(2, 3).reshape(B, G, chunk, H * P)
        added = times(bg.transpose(-1, -2), left).reshape(B, G, N, H, P).transpose(2, 3)
        state = state * torch.exp(total[..., -1])[..., None, None] + added
        result.append((inside + before).permute(0, 3, 1, 2, 4))
    return torch.cat(result, 1), state


class Layers:
    """A rank's heads of all layers."""

    def __init__(self, c, rank, group):
        self.c, self.rank, self.group = c, rank, group
        self.trained, self.shared, self.starts = {}, [], []
        self.generator = torch.Generator().manual_seed(1)
        self.layers = [self.make_layer(number) for number in range(c["L"])]
        self.norm = self.make("norm", (c["D"],), None)

    def make(self, name, whole, dim, of_group=False):
        """A rank's slice of a weight along `dim`: of its heads, or of its groups."""
        weight = torch.randn(whole, generator=self.generator, dtype=DTYPE) / math.sqrt(whole[0])
        count, ranks = self.rank.ranks.count, self.group.ranks.count
        if dim is not None:
            parts, own = (count // ranks, self.rank.number // ranks) if of_group else (count, self.rank.number)
            weight = weight.chunk(parts, dim)[own]
        self.trained[name] = weight.contiguous().requires_grad_()
        if of_group:
            self.shared.append(name)
        return self.trained[name]

    def make_layer(self, number):
        c = self.c
        D, H, P, G, N, taps = (c[k] for k in ("D", "MH", "MP", "MG", "MN", "CW"))
        own = lambda name, *whole, dim=0: self.make(f"{number}.{name}", whole, dim)
        of_group = lambda name, *whole, dim=0: self.make(f"{number}.{name}", whole, dim, of_group=True)
        start = torch.randn(G, H // G, N, P, generator=self.generator, dtype=DTYPE)
        count, ranks = self.rank.ranks.count, self.group.ranks.count
        start = start.chunk(count // ranks)[self.rank.number // ranks].chunk(ranks, 1)[self.rank.number % ranks]
        self.starts.append(start.contiguous().requires_grad_())
        return {
            "norm": self.make(f"{number}.mixer_norm", (D,), None), "start": self.starts[-1],
            "zx": own("zx", D, H, 2 * P, dim=1), "dt": own("dt", D, H, dim=1), "dt_bias": own("dt_bias", H),
            "conv": own("conv", H, P, taps), "conv_bias": own("conv_bias", H, P),
            "bc": of_group("bc", D, G, 2 * N, dim=1), "bc_conv": of_group("bc_conv", G, 2 * N, taps),
            "bc_bias": of_group("bc_bias", G, 2 * N),
            "a": own("a", H), "d": own("d", H), "gate_norm": own("gate_norm", H, P), "out": own("out", H, P, D),
        }  # fmt: skip

    def gate(self, y, z, weight):
        """Of the heads of each of the rank's groups, and of those of other ranks of the group."""
        c, rank = self.c, self.group
        g = y * F.silu(z)
        sums = g.square().sum((-2, -1))
        if rank.ranks.count > 1:
            sums = Both.apply(sums, rank.all_reduce, rank.all_reduce)
        mean = sums / (c["MH"] // c["MG"] * c["MP"])
        return g * torch.rsqrt(mean + EPSILON)[..., None, None] * weight.reshape(g.shape[2:])

    def mixer(self, x, layer):
        c = self.c
        B, S, D, P, N = x.shape[0], x.shape[1], c["D"], c["MP"], c["MN"]
        heads, groups = layer["a"].shape[0], layer["bc"].shape[1]
        each = heads // groups
        zx = (x @ layer["zx"].reshape(D, -1)).reshape(B, S, groups, each, 2 * P)
        z, u = zx.split(P, -1)
        bc = convolve(x @ layer["bc"].reshape(D, -1), layer["bc_conv"].reshape(-1, c["CW"]), layer["bc_bias"].reshape(-1))
        b, read = bc.reshape(B, S, groups, 2 * N).split(N, -1)
        u = convolve(u.reshape(B, S, -1), layer["conv"].reshape(-1, c["CW"]), layer["conv_bias"].reshape(-1))
        u = u.reshape(B, S, groups, each, P)
        dt = F.softplus(x @ layer["dt"] + layer["dt_bias"]).reshape(B, S, groups, each)
        y, last = scan(u, dt, -torch.exp(layer["a"]).reshape(groups, each), b, read, layer["start"], c["MQ"])
        y = y + u * layer["d"].reshape(groups, each, 1)
        n = self.gate(y, z, layer["gate_norm"])
        return n.reshape(B, S, -1) @ layer["out"].reshape(-1, D), last

    def forward(self, x):
        rank, lasts = self.rank, []
        for layer in self.layers:
            n = RmsNorm.apply(x, layer["norm"])
            if rank.ranks.count > 1:
                n = Both.apply(n, same, rank.all_reduce)
            o, last = self.mixer(n, layer)
            x = x + (Both.apply(o, rank.all_reduce, same) if rank.ranks.count > 1 else o)
            lasts.append(last)
        return RmsNorm.apply(x, self.norm), lasts

    def sum_shared(self):
        """Ranks of a group each have a part of the gradients of what it has."""
        self.group.sum_gradients(self.trained[name] for name in self.shared)


def train(c, ranks, group, number, results):
    rank, own = Rank(ranks, number), Rank(group, number % group.count)
    model = Layers(c, rank, own)
    generator = torch.Generator().manual_seed(2)
    x, dy = (torch.randn(c["B"], c["S"], c["D"], generator=generator, dtype=DTYPE) for _ in range(2))
    with Counted() as products:
        y, lasts = model.forward(x)
        products.phase = rank.phase = own.phase = "bwd"
        torch.autograd.backward([y, *lasts], [dy, *map(torch.ones_like, lasts)])
    rank.phase = own.phase = "grad_sync"
    model.sum_shared()
    results[number] = model, {
        **products.total,
        "collectives": [["all", *key, *value] for key, value in sorted(rank.collectives.items())]
        + [["group", *key, *value] for key, value in sorted(own.collectives.items())],
        "parameters": sum(p.numel() for p in model.trained.values()),
    }


def run(c, count):
    """Ranks share a group where there are more of them than groups."""
    ranks, each, results = Ranks(count), max(1, count // c["MG"]), [None] * count
    groups = [Ranks(each) for _ in range(count // each)]
    threads = [threading.Thread(target=train, args=(c, ranks, groups[i // each], i, results)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [model for model, _ in results], [found for _, found in results]


def check_gradients(models, whole):
    """What ranks have, each part once, is what one rank has."""
    times = models[0].group.ranks.count
    for name, weight in whole.trained.items():
        own = [model.trained[name].grad for model in models]
        if own[0].shape == weight.shape:
            assert all(torch.allclose(gradient, weight.grad) for gradient in own), name
            continue
        if name in whole.shared:
            assert all(torch.allclose(own[i], own[i - i % times]) for i in range(len(own))), name
            own = own[::times]
        total, squares = sum(g.sum() for g in own), sum(g.square().sum() for g in own)
        assert torch.allclose(total, weight.grad.sum()) and torch.allclose(squares, weight.grad.square().sum()), name


SIZES = dict(B=2, S=16, D=24, MH=8, MP=6, MN=10, MG=2, CW=4, MQ=8, L=3)


def main():
    result = {}
    for groups, count in ((2, 2), (2, 4), (2, 8), (4, 8), (8, 8)):
        c = SIZES | {"MG": groups}
        models, found = run(c, count)
        check_gradients(models, run(c, 1)[0][0])
        assert all(one == found[0] for one in found)
        result[f"{groups} groups on {count} ranks"] = {"config": c, "ranks": count, **found[0]}
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
