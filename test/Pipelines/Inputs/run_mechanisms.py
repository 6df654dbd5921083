"""Counts what is multiplied while small models really train in PyTorch, and prints it as JSON.

  python3 run_mechanisms.py > executed_mechanisms.json

Every product that PyTorch executes is seen where it is dispatched, forward and backward: nothing is
computed from a formula. Attention multiplies each query with the keys that it sees and no others;
gated linear attention is computed chunk by chunk, solves for its corrections row by row, begins
with a learned state, and its last state is part of the loss, so that all products of all chunks are
executed, forward and backward. Its result is compared with the recurrence, token by token.
"""

import json
import math

import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode

torch.manual_seed(1)
DTYPE = torch.float64
aten = torch.ops.aten


class Products(TorchDispatchMode):
    """Adds up 2mnk of each product, and of each product of a convolution."""

    def __init__(self):
        super().__init__()
        self.phase, self.total = "fwd", {"fwd": 0, "bwd": 0}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        self.total[self.phase] += operations(function, args, result)
        return result


def operations(function, args, result):
    if function in (aten.mm.default, aten.bmm.default):
        return 2 * args[0].shape.numel() * args[1].shape[-1]
    if function is aten.addmm.default:
        return 2 * args[1].shape.numel() * args[2].shape[-1]
    if function is aten.convolution.default:
        return 2 * result.shape.numel() * args[1].shape[1:].numel()
    if function is aten.convolution_backward.default:
        each = 2 * args[0].shape.numel() * args[2].shape[1:].numel()
        return each * sum(args[-1][:2])
    assert function not in (aten.matmul.default, aten.linear.default, aten.einsum.default)
    return 0


def parameter(*shape):
    return (torch.randn(*shape, dtype=DTYPE) / math.sqrt(shape[-1])).requires_grad_()


def normed(x, weight=None):
    y = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)
    return y if weight is None else y * weight


def linear(x, weight):
    return (x.reshape(-1, x.shape[-1]) @ weight.t()).reshape(*x.shape[:-1], -1)


def run(build):
    """One step of training: a loss, and its gradients."""
    parameters, forward = build()
    with Products() as products:
        loss = forward()
        products.phase = "bwd"
        loss.backward()
    assert all(p.grad is not None for p in parameters if p.requires_grad)
    size = lambda chosen: sum(p.numel() for p in chosen)
    return {
        **products.total,
        "parameters": size(parameters),
        "trained": size(p for p in parameters if p.requires_grad),
    }


def seen(c, query):
    """The first key that a query sees, and the one behind the last."""
    if c["span"] == "window":
        return max(0, query + 1 - c["width"]), query + 1
    if c["span"] == "chunk":
        return query // c["width"] * c["width"], query + 1
    return 0, c["width"] if query < c["width"] else query + 1


def attention(c, q, k, v):
    """Each query of a head with the keys that it sees."""
    rows = []
    for query in range(c["S"]):
        first, last = seen(c, query)
        scores = q[:, query : query + 1] @ k[:, first:last].transpose(1, 2)
        rows.append(torch.softmax(scores / math.sqrt(c["E"]), -1) @ v[:, first:last])
    return torch.cat(rows, 1)


def heads_of(c, x, number):
    return x.reshape(c["B"], c["S"], number, -1).transpose(1, 2).reshape(c["B"] * number, c["S"], -1)


def attention_layer(c):
    weights = [parameter((c["H"] + 2 * c["K"]) * c["E"], c["D"]), parameter(c["D"], c["H"] * c["E"]),
               torch.ones(c["D"], dtype=DTYPE).requires_grad_()]

    def forward(x):
        sizes = [c["H"] * c["E"], c["K"] * c["E"], c["K"] * c["E"]]
        q, k, v = linear(normed(x, weights[2]), weights[0]).split(sizes, -1)
        each = c["H"] // c["K"]
        q, k, v = heads_of(c, q, c["H"]), heads_of(c, k, c["K"]), heads_of(c, v, c["K"])
        k, v = (t.repeat_interleave(each, 0) for t in (k, v))
        o = attention(c, q, k, v).reshape(c["B"], c["H"], c["S"], -1).transpose(1, 2)
        return x + linear(o.reshape(c["B"], c["S"], -1), weights[1])

    return weights, forward


def delta_chunk(q, k, v, decay, beta, state):
    """One chunk of gated linear attention, [heads, tokens, size]; the output and the next state."""
    n = q.shape[1]
    total = decay.cumsum(1)
    ratio = (total[:, :, None] - total[:, None, :]).exp()
    lower = torch.tril(torch.ones(n, n, dtype=DTYPE), -1)
    inner = -(k * beta[..., None]) @ k.transpose(1, 2) * ratio * lower
    rows = [inner[:, :1]]
    for i in range(1, n):
        row = inner[:, i : i + 1]
        known = torch.cat(rows, 1)[:, :, :i]
        rows.append(torch.cat([row[:, :, :i] + row[:, :, :i] @ known, row[:, :, i:]], 2))
    solved = torch.cat(rows, 1) + torch.eye(n, dtype=DTYPE)
    values = solved @ (v * beta[..., None])
    decayed = solved @ (k * (beta * total.exp())[..., None])
    scores = q @ k.transpose(1, 2) * ratio * (lower + torch.eye(n, dtype=DTYPE))
    new = values - decayed @ state
    out = (q * total.exp()[..., None]) @ state + scores @ new
    last = total[:, -1:]
    state = state * last.exp()[..., None] + (k * (last - total).exp()[..., None]).transpose(1, 2) @ new
    return out, state


def delta_by_token(q, k, v, decay, beta, state):
    """The same by its definition."""
    out = []
    for t in range(q.shape[1]):
        state = state * decay[:, t, None, None].exp()
        found = (state * k[:, t, :, None]).sum(1)
        state = state + k[:, t, :, None] * ((v[:, t] - found) * beta[:, t, None])[:, None]
        out.append((state * q[:, t, :, None]).sum(1))
    return torch.stack(out, 1), state


def delta_layer(c, extra):
    LK, LV, EK, EL, CW = c["LK"], c["LV"], c["EK"], c["EL"], 4
    sizes = [(2 * LK * EK, c["D"]), (2 * LV * EL, c["D"]), (2 * LV, c["D"]), (c["D"], LV * EL),
             (2 * LK * EK, CW), (LV * EL, CW)]
    qk, vz, ba, out, qk_conv, v_conv = weights = [parameter(*s) for s in sizes]
    norm, gate_norm, a_log, bias = ones = [
        torch.rand(n, dtype=DTYPE).requires_grad_() for n in (c["D"], EL, LV, LV)]
    state = parameter(c["B"] * LV, EK, EL)  # Not among the parameters.

    def conv(x, weight):
        # Shifted products of elements, as it is none of matrices.
        x = F.pad(x, (0, 0, CW - 1, 0))
        return F.silu(sum(x[:, i : i + c["S"]] * weight[:, i] for i in range(CW)))

    def forward(x):
        h = normed(x, norm)
        q, k = conv(linear(h, qk), qk_conv).chunk(2, -1)
        v, z = linear(h, vz).chunk(2, -1)
        v = conv(v, v_conv)
        b, t = linear(h, ba).chunk(2, -1)
        decay = -a_log.exp() * F.softplus(t + bias)
        per_head = lambda y: y.transpose(1, 2).reshape(c["B"] * LV, c["S"])
        decay, beta = per_head(decay), per_head(torch.sigmoid(b))
        q, k = (F.normalize(heads_of(c, y, LK), dim=-1).repeat_interleave(LV // LK, 0) for y in (q, k))
        v, here, parts = heads_of(c, v, LV), state, []
        for i in range(0, c["S"], c["MQ"]):
            at = slice(i, i + c["MQ"])
            y, here = delta_chunk(q[:, at], k[:, at], v[:, at], decay[:, at], beta[:, at], here)
            parts.append(y)
        y = torch.cat(parts, 1)
        with torch.no_grad():
            want, last = delta_by_token(q, k, v, decay, beta, state)
            assert torch.allclose(y, want) and torch.allclose(here, last)
        extra.append(here.sum())
        y = normed(y, gate_norm).reshape(c["B"], LV, c["S"], EL).transpose(1, 2)
        y = y.reshape(c["B"], c["S"], -1) * F.silu(z)
        return x + linear(y, out)

    return weights + ones, forward


def feed_forward(c):
    up, down, norm = weights = [parameter(2 * c["F"], c["D"]), parameter(c["D"], c["F"]),
                                torch.ones(c["D"], dtype=DTYPE).requires_grad_()]

    def forward(x):
        g, u = linear(normed(x, norm), up).chunk(2, -1)
        return x + linear(F.silu(g) * u, down)

    return weights, forward


def decoder(c):
    def build():
        extra = []
        table, head = parameter(c["V"], c["D"]), parameter(c["V"], c["D"])
        norm = torch.ones(c["D"], dtype=DTYPE).requires_grad_()
        layers = []
        for _ in range(c["L"]):
            layers += [delta_layer(c, extra) if c.get("linear") else attention_layer(c), feed_forward(c)]
        tokens = torch.randint(c["V"], (c["B"], c["S"]))

        def forward():
            x = table[tokens]
            for _, layer in layers:
                x = layer(x)
            logits = linear(normed(x, norm), head)
            return F.cross_entropy(logits.reshape(-1, c["V"]), tokens.roll(1, 1).reshape(-1)) + sum(extra)

        return [table, head, norm, *(w for weights, _ in layers for w in weights)], forward

    return build


def sound(c):
    """Whisper: two convolutions and an encoder, a decoder with a tied head."""
    D, heads, size = c["D"], c["H"], c["D"] // c["H"]

    def attend(x, y, number, tokens, causal, weights):
        q, k, v, o, bq, bv, bo = weights
        each = lambda t: t.reshape(c["B"], -1, heads, size).transpose(1, 2).reshape(c["B"] * heads, -1, size)
        q, k, v = each(linear(x, q) + bq), each(linear(y, k)), each(linear(y, v) + bv)
        s = q @ k.transpose(1, 2) / math.sqrt(size)
        if causal:
            s = s.masked_fill(torch.ones(s.shape[1:], dtype=torch.bool).triu(1), -math.inf)
        out = (torch.softmax(s, -1) @ v).reshape(c["B"], heads, -1, size).transpose(1, 2)
        return linear(out.reshape(c["B"], -1, D), o) + bo

    def build():
        every = []

        def new(*shape):
            every.append(parameter(*shape))
            return every[-1]

        attention = lambda: [*(new(D, D) for _ in range(4)), *(new(D) for _ in range(3))]
        norm = lambda: (new(D), new(D))
        mlp = lambda: (new(c["F"], D), new(c["F"]), new(D, c["F"]), new(D))
        use = lambda x, n: F.layer_norm(x, (D,), *n)
        feed = lambda x, m: linear(F.gelu(linear(x, m[0]) + m[1]), m[2]) + m[3]
        conv1, bias1, conv2, bias2 = new(D, c["M"], 3), new(D), new(D, D, 3), new(D)
        places, last = new(c["T"], D), norm()
        encoder = [(norm(), attention(), norm(), mlp()) for _ in range(c["L"])]
        table, positions, end = new(c["V"], D), new(c["S"], D), norm()
        decoder = [(norm(), attention(), norm(), attention(), norm(), mlp()) for _ in range(c["L"])]
        spectrogram = torch.randn(c["B"], c["M"], 2 * c["T"], dtype=DTYPE)
        tokens = torch.randint(c["V"], (c["B"], c["S"]))

        def forward():
            e = F.gelu(F.conv1d(spectrogram, conv1, bias1, padding=1))
            e = F.gelu(F.conv1d(e, conv2, bias2, stride=2, padding=1)).transpose(1, 2) + places
            for n1, a, n2, m in encoder:
                h = use(e, n1)
                e = e + attend(h, h, heads, c["T"], False, a)
                e = e + feed(use(e, n2), m)
            e = use(e, last)
            x = table[tokens] + positions
            for n1, a, n2, b, n3, m in decoder:
                h = use(x, n1)
                x = x + attend(h, h, heads, c["S"], True, a)
                x = x + attend(use(x, n2), e, heads, c["T"], False, b)
                x = x + feed(use(x, n3), m)
            logits = linear(use(x, end), table)
            return F.cross_entropy(logits.reshape(-1, c["V"]), tokens.reshape(-1))

        return every, forward

    return build


DECODER = dict(B=2, S=24, D=32, H=4, K=2, E=8, F=48, V=64, L=2)
RUNS = {
    "window": dict(DECODER, span="window", width=7),
    "chunk": dict(DECODER, span="chunk", width=10),
    "prefix": dict(DECODER, span="prefix", width=9),
    "linear": dict(DECODER, linear=True, LK=2, LV=4, EK=8, EL=6, MQ=8),
    "sound": dict(B=2, S=12, T=20, D=32, H=4, F=48, V=64, L=2, M=10),
}


def main():
    result = {}
    for name, c in RUNS.items():
        result[name] = {"config": c, **run(sound(c) if name == "sound" else decoder(c))}
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
