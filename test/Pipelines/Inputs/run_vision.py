"""Counts what is multiplied and saved while small models of images and texts train in PyTorch.

  python3 run_vision.py > executed_vision.json

Products are seen where PyTorch dispatches them; what is saved for backward, where autograd packs
it, each buffer once, without parameters and what is data. Norms, gated activations and attention
are functions of their own that save what a fused kernel does: attention its operands, its result
and the logarithms of the sums of its exponentials. What its backward pass makes again is not
counted. Rotary positions multiply nothing and save nothing, and are left out.
"""

import json
import math
import threading
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from run_mechanisms import DTYPE, linear, operations, parameter

EPSILON = 1e-5


class Counted(TorchDispatchMode):
    """Adds up products, but for those that a fused kernel repeats."""

    of_thread = threading.local()

    def __init__(self):
        super().__init__()
        self.phase, self.total, self.is_again = "fwd", {"fwd": 0, "bwd": 0}, False
        self.of_thread.current = self

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if not self.is_again:
            self.total[self.phase] += operations(function, args, result)
        return result

    @classmethod
    @contextmanager
    def again(cls):
        """What is made here has been made before."""
        current = getattr(cls.of_thread, "current", None)
        if current:
            current.is_again = True
        yield
        if current:
            current.is_again = False


class Saved(torch.autograd.graph.saved_tensors_hooks):
    """Buffers that autograd keeps in forward."""

    def __init__(self, products):
        super().__init__(self.keep, lambda tensor: tensor)
        self.products, self.buffers = products, {}

    def __enter__(self):
        super().__enter__()
        return self

    def keep(self, tensor):
        if self.products.phase == "fwd" and tensor.is_floating_point() and tensor.numel() > 1:
            place = (tensor.storage().data_ptr(), tensor.storage_offset(), tensor.numel())
            self.buffers[place] = tensor  # So that nothing else gets its memory.
        return tensor

    def count_elements(self, others):
        """Of all but these."""
        others = {tensor.storage().data_ptr() for tensor in others}
        return sum(size for storage, _, size in self.buffers if storage not in others)


class RmsNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        root = torch.rsqrt(x.square().mean(-1, keepdim=True) + EPSILON)
        ctx.save_for_backward(x, root, weight)
        return x * root if weight is None else x * root * weight

    @staticmethod
    def backward(ctx, dy):
        x, root, weight = ctx.saved_tensors
        y = x * root
        dw = None if weight is None else (dy * y).reshape(-1, x.shape[-1]).sum(0)
        dy = dy if weight is None else dy * weight
        return root * (dy - y * (dy * y).mean(-1, keepdim=True)), dw


class Gated(torch.autograd.Function):
    """activation(gate) * up, of both beside each other."""

    @staticmethod
    def forward(ctx, x, activation):
        ctx.save_for_backward(x)
        ctx.activation = activation
        gate, up = x.chunk(2, -1)
        return activation(gate) * up

    @staticmethod
    def backward(ctx, dy):
        with torch.enable_grad():
            x = ctx.saved_tensors[0].detach().requires_grad_()
            gate, up = x.chunk(2, -1)
            y = ctx.activation(gate) * up
        return torch.autograd.grad(y, x, dy)[0], None


def by_head(x, keys):
    """[samples, tokens, heads, size] as [samples and heads of keys, heads that share them, tokens, size]."""
    B, S, H, E = x.shape
    return x.transpose(1, 2).reshape(B * keys, H // keys, S, E)


def by_token(x, samples):
    """The inverse."""
    rows, each, S, E = x.shape
    return x.reshape(samples, rows // samples * each, S, E).transpose(1, 2).contiguous()


class Attention(torch.autograd.Function):
    """A query sees keys of a span: the first one, and the one behind the last."""

    @staticmethod
    def forward(ctx, queries, keys, values, seen):
        K, scale = keys.shape[2], 1 / math.sqrt(queries.shape[-1])
        q, k, v = by_head(queries, K), by_head(keys, K)[:, 0], by_head(values, K)[:, 0]
        rows, sums = [], []
        for i in range(q.shape[2]):
            first, last = seen(i)
            scores = q[:, :, i] @ k[:, first:last].transpose(1, 2) * scale
            sums.append(scores.logsumexp(-1))
            rows.append((scores - sums[-1][..., None]).exp() @ v[:, first:last])
        out, sums = by_token(torch.stack(rows, 2), len(queries)), torch.stack(sums, 2)
        ctx.seen = seen
        ctx.save_for_backward(queries, keys, values, out, sums)
        return out

    @staticmethod
    def backward(ctx, dout):
        queries, keys, values, out, sums = ctx.saved_tensors
        K, scale = keys.shape[2], 1 / math.sqrt(queries.shape[-1])
        q, out, dout = (by_head(t, K) for t in (queries, out, dout))
        k, v = (by_head(t, K)[:, 0] for t in (keys, values))
        dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
        for i in range(q.shape[2]):
            first, last = ctx.seen(i)
            own, their = k[:, first:last], v[:, first:last]
            with Counted.again():
                p = (q[:, :, i] @ own.transpose(1, 2) * scale - sums[:, :, i, None]).exp()
            dv[:, first:last] += p.transpose(1, 2) @ dout[:, :, i]
            inner = (dout[:, :, i] * out[:, :, i]).sum(-1, keepdim=True)
            ds = p * (dout[:, :, i] @ their.transpose(1, 2) - inner) * scale
            if ctx.needs_input_grad[0]:
                dq[:, :, i] = ds @ own
            if ctx.needs_input_grad[1]:
                dk[:, first:last] += ds.transpose(1, 2) @ q[:, :, i]
        return (*(by_token(t, len(queries)) for t in (dq, dk[:, None], dv[:, None])), None)


class Model:
    """Parameters by the order in which they are made; what is data."""

    def __init__(self):
        self.parameters, self.data = [], []

    def new(self, *shape):
        self.parameters.append(parameter(*shape))
        return self.parameters[-1]

    def of_data(self, tensor):
        self.data.append(tensor)
        return tensor

    def norm(self, size, kind):
        if kind == "rms":
            weight = self.new(size)
            return lambda x: RmsNorm.apply(x, weight)
        weight, bias = self.new(size), self.new(size)
        return lambda x: F.layer_norm(x, (size,), weight, bias, EPSILON)

    def linear(self, inputs, outputs, bias):
        weight = self.new(outputs, inputs)
        add = self.new(outputs) if bias else None
        return lambda x: linear(x, weight) + add if bias else linear(x, weight)

    def attention(self, c, seen):
        """Of queries and fewer keys; heads may have norms, before the rotation or behind it."""
        H, K, E = c["H"], c["K"], c["E"]
        qkv = self.linear(c["D"], (H + 2 * K) * E, c.get("qkv_bias"))
        each = c.get("head_norm")
        norms = [self.norm(E, "rms") for _ in range(2)] if each == "weights" else []
        out = self.linear(H * E, c["D"], c.get("o_bias"))

        def forward(x):
            B, S = x.shape[:2]
            q, k, v = qkv(x).split([H * E, K * E, K * E], -1)
            q, k, v = (t.reshape(B, S, -1, E).contiguous() for t in (q, k, v))
            if each == "weights":
                q, k = norms[0](q), norms[1](k)
            elif each == "bare":
                q, k = (RmsNorm.apply(t, None) for t in (q, k))
            return out(Attention.apply(q, k, v, seen).reshape(B, S, H * E))

        return forward

    def network(self, c):
        """Of two matrices, or of gate and up beside each other and one."""
        bias, activation = c.get("ffn_bias"), c["activation"]
        if not c["gated"]:
            up, down = self.linear(c["D"], c["F"], bias), self.linear(c["F"], c["D"], bias)
            return lambda x: down(activation(up(x)))
        up, down = self.linear(c["D"], 2 * c["F"], bias), self.linear(c["F"], c["D"], bias)
        return lambda x: down(Gated.apply(up(x), activation))

    def layer(self, c, seen):
        parts = []
        for part in (self.attention(c, seen), self.network(c)):
            before = self.norm(c["D"], c["norm"])
            behind = self.norm(c["D"], c["norm"]) if c.get("sandwich") else None
            parts.append((before, part, behind))

        def forward(x):
            for before, part, behind in parts:
                y = part(before(x))
                x = x + (behind(y) if behind else y)
            return x

        return forward


def everything(tokens):
    return lambda query: (0, tokens)


def causal(query):
    return 0, query + 1


def windows(width):
    return lambda query: (query // width * width, query // width * width + width)


def squares(x, side, by):
    """[images, side * side patches, size] in squares of `by` x `by`."""
    n = side // by
    x = x.reshape(x.shape[0], n, by, n, by, -1).transpose(2, 3)
    return x.reshape(x.shape[0], n * n, by * by, -1)


# Tokens of an image, and what is made of them for the text.
def clip_tower(m, c, v):
    patches = m.linear(v["PC"], v["D"], False)
    first, places = m.new(1, v["D"]), m.new(v["side"] ** 2 + 1, v["D"])
    norm = m.norm(v["D"], "layer")
    layers = [m.layer(v, everything(v["side"] ** 2 + 1)) for _ in range(v["L"])]
    end = m.norm(v["D"], "layer")

    def forward(images):
        x = patches(images)
        x = torch.cat([first.expand(len(x), 1, -1), x], 1) + places
        x = norm(x)
        for layer in layers:
            x = layer(x)
        return x, end

    return forward


def llava(m, c, v):
    tower = clip_tower(m, c, v)
    unread = m.parameters[-2:]
    one, two = m.linear(v["D"], c["D"], True), m.linear(c["D"], c["D"], True)

    def forward(images):
        x, _ = tower(images)
        return two(F.gelu(one(x[:, 1:])))

    return forward, unread


def llama4(m, c, v):
    tower = clip_tower(m, c, v)
    one = m.linear(4 * v["D"], c["DP"], False)
    two, three = m.linear(c["DP"], c["DP"], False), m.linear(c["DP"], c["D"], False)

    def forward(images):
        x, end = tower(images)
        x = squares(end(x)[:, 1:], v["side"], 2).reshape(len(x), -1, 4 * v["D"])
        return three(F.gelu(two(F.gelu(one(x)))))

    return forward, []


def gemma3(m, c, v):
    patches, places = m.linear(v["PC"], v["D"], True), m.new(v["side"] ** 2, v["D"])
    layers = [m.layer(v, everything(v["side"] ** 2)) for _ in range(v["L"])]
    end, norm = m.norm(v["D"], "layer"), m.norm(v["D"], "rms")
    project = m.linear(v["D"], c["D"], False)

    def forward(images):
        x = patches(images) + places
        for layer in layers:
            x = layer(x)
        # PyTorch keeps what it takes a mean of, whose gradient needs none of it.
        mean = squares(end(x), v["side"], c["by"]).sum(2) * torch.tensor(1 / c["by"] ** 2, dtype=DTYPE)
        return project(norm(mean))

    return forward, []


def qwen2_5_vl(m, c, v):
    patches = m.linear(v["PC"], v["D"], False)
    layers = [m.layer(v, everything(v["side"] ** 2) if i in v["full"] else windows(v["window"]))
              for i in range(v["L"])]
    norm = m.norm(v["D"], "rms")
    wide = 4 * v["D"]
    one, two = m.linear(wide, wide, True), m.linear(wide, c["D"], True)

    def forward(images):
        x = patches(images)
        for layer in layers:
            x = layer(x)
        return two(F.gelu(one(norm(x).reshape(len(x), -1, wide))))

    return forward, []


def step(c, tower):
    m = Model()
    v = c["vision"]
    v = v | {"activation": {"gelu": F.gelu, "silu": F.silu}[v["activation"]], "K": v["H"], "E": v["D"] // v["H"]}
    t = c | {"activation": {"gelu": F.gelu, "silu": F.silu}[c["activation"]]}
    see, unread = tower(m, c, v)
    table, head = m.new(c["V"], c["D"]), None
    if not c["tied"]:
        head = m.new(c["V"], c["D"])
    layers = [m.layer(t, causal) for _ in range(c["L"])]
    last = m.norm(c["D"], "rms")
    images = m.of_data(torch.randn(c["B"], v["side"] ** 2, v["PC"], dtype=DTYPE))
    with Counted() as products, Saved(products) as saved:
        i = see(images)
        tokens = torch.randint(c["V"], (c["B"], c["S"] - i.shape[1]))
        w = F.embedding(tokens, table)
        x = torch.cat([i, w * torch.tensor(math.sqrt(c["D"]), dtype=DTYPE) if c.get("scaled") else w], 1)
        for layer in layers:
            x = layer(x)
        logits = linear(last(x), table if head is None else head)
        labels = torch.randint(c["V"], (c["B"], c["S"], 1))
        loss = -torch.log_softmax(logits, -1).gather(-1, labels).mean()
        products.phase = "bwd"
        loss.backward()
    trained = [p for p in m.parameters if not any(p is other for other in unread)]
    assert all(p.grad is not None for p in trained) and all(p.grad is None for p in unread)
    return {
        **products.total,
        "parameters": sum(p.numel() for p in m.parameters),
        "trained": sum(p.numel() for p in trained),
        "saved": saved.count_elements(m.parameters + m.data),
    }


def check_functions():
    """Gradients are those that PyTorch's own functions have."""
    def random(*shape):
        return torch.randn(*shape, dtype=DTYPE, requires_grad=True)

    check = torch.autograd.gradcheck
    assert check(lambda q, k, v: Attention.apply(q, k, v, causal), (random(2, 5, 4, 3), random(2, 5, 2, 3), random(2, 5, 2, 3)))
    assert check(RmsNorm.apply, (random(2, 3, 4), random(4)))
    assert check(lambda x: RmsNorm.apply(x, None), (random(2, 3, 4),))
    assert check(lambda x: Gated.apply(x, F.silu), (random(2, 6),))


TEXT = dict(B=2, S=24, D=32, H=4, K=2, E=8, F=48, V=64, L=2, norm="rms", gated=True, activation="silu", tied=False)
CLIP = dict(D=24, H=3, F=40, L=2, side=4, PC=12, norm="layer", gated=False, activation="gelu", qkv_bias=True, o_bias=True,
            ffn_bias=True)
RUNS = {
    "llava": (llava, TEXT | {"vision": CLIP}),
    "gemma3": (gemma3, TEXT | {"vision": CLIP, "by": 2, "head_norm": "weights", "sandwich": True, "activation": "gelu",
                               "tied": True, "scaled": True}),
    "qwen2_5_vl": (qwen2_5_vl, TEXT | {"S": 40, "qkv_bias": True, "vision": CLIP | {
        "side": 8, "L": 3, "full": [1], "window": 4, "norm": "rms", "gated": True, "activation": "silu"}}),
    "llama4": (llama4, TEXT | {"vision": CLIP | {"F": 96}, "DP": 20, "head_norm": "bare"}),
}


def main():
    check_functions()
    result = {}
    for name, (tower, c) in RUNS.items():
        torch.manual_seed(1)
        result[name] = {"config": c, **step(c, tower)}
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
