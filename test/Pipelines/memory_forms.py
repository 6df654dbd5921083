"""Compares the memory of every category, under every schedule, with closed forms.

A Llama with untied embeddings: h hidden size, a query heads, g key/value heads of size d,
f feed-forward size, V vocabulary, L layers, s tokens of a sequence; micro-batches of one
sequence, of which a rank has m; p pipeline stages of v virtual ones each, D data ranks.
bf16 parameters and activations, fp32 gradients, moments and master copy.

* parameter, optimizer: 2 and 12 bytes of each parameter of the stage; ZeRO-1 divides the
  second by D, ZeRO-3 the first, too (Rajbhandari et al., arXiv:1910.02054).
* gradient: 4 bytes of each, one buffer in which micro-batches add up and which is reduced
  in place; ZeRO-1 scatters it into a part of itself, ZeRO-2 and -3 keep a shard.
* activation: what a layer saves (Korthikanti et al., arXiv:2205.05198) times the layers of
  a stage times the micro-batches in flight (Narayanan et al., arXiv:2104.04473), and one
  message: what the last forward has made for the next stage until it is sent, or an input
  that is received ahead.
* communication: in a pipeline, the gradient of a message's size that layers hand to each
  other where it is received or will be sent, and one more that is received ahead; with
  ZeRO-3, gathered parameters.
* temporary: what lives inside of the op that needs most of it, with what waits around.

Usage: memory_forms.py {schedules|zero|vocabulary|published|copies|halves}...
"""

import sys
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
import traces  # noqa: E402

ACTIVATION, FP32, ID = 2, 4, 4  # bytes of an element: bf16, f32, i32


@dataclass(frozen=True)
class Llama:
    """The sizes of a model, small and all different."""

    h: int = 64
    a: int = 8
    g: int = 4
    d: int = 8
    f: int = 128
    V: int = 16
    L: int = 8
    s: int = 64

    def flags(self):
        """The command line of stg-compile for it."""
        sizes = dict(D=self.h, H=self.a, K=self.g, E=self.d, F=self.f)
        sizes.update(V=self.V, L=self.L)
        flags = [f"--set={name}={value}" for name, value in sizes.items()]
        return ["llama3-8b", f"--seq={self.s}", *flags]

    @property
    def layer(self):
        """Parameters of a layer."""
        attention = self.h * (2 * self.a + 2 * self.g) * self.d
        return attention + 3 * self.h * self.f + 2 * self.h

    @property
    def embedding(self):
        """Parameters before the layers."""
        return self.V * self.h

    @property
    def head(self):
        """Parameters behind the layers: a norm and the untied head."""
        return self.V * self.h + self.h

    @property
    def message(self):
        """Bytes of the residual stream of a micro-batch."""
        return self.s * self.h * ACTIVATION

    @property
    def saved_by_layer(self):
        """Inputs and outputs of two norms and fp32 rstd; Q and O, K and V, the fp32
        log-sum-exp; gate, up and their product."""
        inside = 4 * self.a * self.d + 4 * self.g * self.d + 4 * self.a + 6 * self.f
        return self.s * (8 * self.h + 8 + inside)

    @property
    def saved_by_head(self):
        """Input, output and rstd of the last norm, and the fp32 softmax."""
        return self.s * (4 * self.h + 4 + FP32 * self.V)


@dataclass(frozen=True)
class Plan:
    """How a step is run."""

    m: int = 1
    p: int = 1
    v: int = 1
    D: int = 1
    schedule: str = "1f1b"
    zero: int = 0
    full: bool = False  # recomputation
    root: str = "kept"
    reduction: str = "flat"

    def flags(self):
        """The command line of stg-compile for it."""
        flags = [f"--batch={self.m * self.D}", "--micro-batch=1", f"--pp={self.p}"]
        flags += [f"--dp={self.D}", f"--zero={self.zero}"]
        if self.p > 1:
            flags += [f"--schedule={self.schedule}", f"--virtual-stages={self.v}"]
        if self.full:
            flags.append("--recompute=full")
        if self.zero == 3:
            flags.append(f"--zero-root={self.root}")
        flags.append(f"--gradient-reduction={self.reduction}")
        return flags

    def is_last(self, i):
        """Whether the device has the last virtual stage."""
        return i == self.p - 1


def parameters(model, plan, i):
    """Parameters of the device i of a pipeline."""
    total = model.L // plan.p * model.layer
    total += model.embedding if i == 0 else 0
    return total + (model.head if plan.is_last(i) else 0)


def in_flight(plan, i):
    """Most forwards, of a virtual stage each, whose backward is still to come."""
    p, m, v = plan.p, plan.m, plan.v
    if plan.schedule == "gpipe":
        return m
    if v == 1:
        return min(m, p - i)
    return min(m * v, 2 * (p - i - 1) + (v - 1) * p + 1)


def activation(model, plan, i):
    """Saved in flight; a replayed layer has saved its input only."""
    layer = model.message if plan.full else model.saved_by_layer
    stages = plan.p * plan.v
    total = in_flight(plan, i) * (model.L // stages) * layer
    if plan.is_last(i):
        heads = plan.m if plan.schedule == "gpipe" else 1
        total += heads * model.saved_by_head
    # The last stage of GPipe has received everything when it has saved most.
    waits = plan.p > 1 and not (plan.schedule == "gpipe" and plan.is_last(i))
    return total + (model.message if waits else 0)


def communication(model, plan, i):
    """Messages of gradients; with ZeRO-3 two layers, one of them gathered ahead, and
    beside them either the messages or, in forward, what is gathered for the head."""
    receives = not plan.is_last(i) or plan.v > 1
    total = model.message * (2 if receives else 1) if plan.p > 1 else 0
    if plan.zero == 3:
        head = model.head * ACTIVATION if plan.is_last(i) else 0
        total = max(total, head if plan.root == "kept" else 0)
        total += 2 * model.layer * ACTIVATION
    return total


def temporary(model, plan, i):
    """The op of a layer's backward that needs most, with what waits around it.

    Without recomputation and shards of gradients that is SwiGLU's backward: the gradients
    of its result and of both operands, and that of the residual stream, unless it is a
    message. Where the layer is replayed, all that it saves but its input waits, too; the
    result of SwiGLU is not needed any more. With ZeRO-2 and -3 all gradients of the layer but that
    of the first norm wait for their scatter in the product for queries, keys and values,
    whose gradients are there with that of the norm's result and that of the residual
    stream; a root that is kept is scattered at the end, so the head's wait, too.
    """
    swiglu = model.s * 3 * model.f * ACTIVATION
    if i == 0 and model.L // (plan.p * plan.v) > 1:
        swiglu += model.message
    if plan.full:
        product = model.s * model.f * ACTIVATION
        swiglu += model.saved_by_layer - model.message - product
    if plan.zero < 2:
        return swiglu
    queries = (model.a + 2 * model.g) * model.d
    product = model.s * queries * ACTIVATION + 2 * model.message
    unit = (model.layer - model.h) * FP32
    waits = plan.is_last(i) and plan.root == "kept"
    return max(swiglu, unit + product + (model.head * FP32 if waits else 0))


def states(model, plan, i):
    """What is there throughout a step."""
    held = parameters(model, plan, i)
    ends = [i == 0, plan.is_last(i)]
    return {
        "parameter": held * ACTIVATION // (plan.D if plan.zero == 3 else 1),
        "optimizer": held * 3 * FP32 // (plan.D if plan.zero else 1),
        "input": sum(ends) * plan.m * model.s * ID,
    }


def gradient(model, plan, i):
    """One buffer, or one shard."""
    return parameters(model, plan, i) * FP32 // (plan.D if plan.zero >= 2 else 1)


def compiled(model, plan):
    """The memory of each device of a pipeline."""
    summary = traces.compile_json(*model.flags(), *plan.flags(), "--dry-run")
    return [entry["memory"] for entry in summary["classes"]]


def expected(model, plan, i):
    """The largest value of each category; what is never there is not listed."""
    result = {
        **states(model, plan, i),
        "gradient": gradient(model, plan, i),
        "activation": activation(model, plan, i),
        "communication": communication(model, plan, i),
        "temporary": temporary(model, plan, i),
    }
    return {category: size for category, size in result.items() if size}


def check_plans(check, model, plans):
    """Every category of every device."""
    for plan in plans:
        check.context = " ".join(plan.flags())
        for i, memory in enumerate(compiled(model, plan)):
            want = expected(model, plan, i)
            check.equal(f"device {i}", memory["largest_bytes"], want)
            held = dict(states(model, plan, i))
            held = {"total": sum(held.values()), **{k: v for k, v in held.items() if v}}
            check.equal(f"states of {i}", memory["persistent_bytes"], held)


def check_schedules(check):
    """Micro-batches and pipelines, with and without replayed layers."""
    for full in (False, True):
        plans = [Plan(m, D=D, full=full) for m in (1, 2, 5) for D in (1, 2)]
        for p in (2, 4):
            for schedule in ("1f1b", "gpipe"):
                plans += [Plan(m, p, schedule=schedule, full=full) for m in (4, 8)]
            plans += [Plan(8, p, v=2, schedule="interleaved", full=full)]
        check_plans(check, Llama(), plans)


def check_zero(check):
    """Shards of states, gradients and parameters."""
    plans = []
    for zero in (0, 1, 2, 3):
        for root in ("kept", "units") if zero == 3 else ("kept",):
            for m, p in ((1, 1), (4, 1), (8, 2), (8, 4)):
                plans.append(Plan(m, p, D=4, zero=zero, root=root))
    for reduction in ("per-layer", "per-parameter"):
        for zero in (0, 1):
            plans += [Plan(m, D=4, zero=zero, reduction=reduction) for m in (1, 4)]
    check_plans(check, Llama(), plans)


def check_vocabulary(check):
    """A vocabulary that outweighs the layers, V = 64h.

    In one micro-batch the head's backward needs most: the gradients of the logits and of
    the norm's result. In the next ones the gradient of the embedding, which is no product,
    is made first and then added, with the gradient that it is made from.
    """
    model = Llama(V=4096)
    for m, D, zero in ((1, 1, 0), (4, 1, 0), (4, 2, 1)):
        plan = Plan(m, D=D, zero=zero)
        check.context = "vocabulary " + " ".join(plan.flags())
        (memory,) = compiled(model, plan)
        head = model.s * model.V * ACTIVATION + model.message
        table = model.embedding * FP32 + model.message
        want = head if m == 1 else max(head, table)
        check.equal("temporary", memory["largest_bytes"]["temporary"], want)
        check.equal("gradient", memory["largest_bytes"]["gradient"], gradient(model, plan, 0))


def check_published(check):
    """Llama 3 8B on 8 ranks: one copy of fp32 gradients, at the peak of later micro-batches,
    the cross-entropy, beside all that is saved, bf16 logits and the fp32 loss."""
    P, T = 8_030_261_248, 2048
    saved = 32 * T * 139_400 + T * (4 * 4096 + 4 + FP32 * 128_256)
    for zero, kept, held in ((0, 4 * P, 14 * P), (1, 4 * P, 2 * P + 12 * P // 8)):
        check.context = f"Llama 3 8B, ZeRO-{zero}"
        flags = f"--dp=8 --batch=16 --micro-batch=1 --seq={T} --zero={zero} --dry-run"
        summary = traces.compile_json("llama3-8b", *flags.split())
        memory = summary["classes"][0]["memory"]
        check.equal("gradient", memory["largest_bytes"]["gradient"], kept)
        check.equal("saved", memory["largest_bytes"]["activation"], saved)
        logits = T * (128_256 * ACTIVATION + FP32)
        peak = held + 2 * 2 * T * ID + kept + saved + logits
        check.equal("peak", memory["peak_bytes"]["total"], peak)


def check_copies(check):
    """One copy of fp32 gradients, twice the bytes of bf16 parameters, in every model: where
    heads are replicated, experts divided, embeddings tied or layers reduced one by one."""
    ones = ("--dp=2", "--dp=2 --zero=1", "--dp=4 --dp-replicate=2 --zero=1", "--pp=2 --dp=2")
    ones += ("--dp=2 --zero=1 --bucket-size=100000000",)
    ones += ("--dp=2 --zero=1 --gradient-reduction=per-layer",)
    tensors = ("--tp=2 --sequence-parallel --dp=2", "--tp=16 --sequence-parallel --pp=2")
    experts = ("--dp=4 --ep=2", "--dp=4 --ep=2 --pp=2 --zero=1")
    for name, strategies in (
        ("llama3-8b", ones + tensors),
        ("gpt2-1.5b", ones),
        ("palm-540b", ones + tensors),
        ("mixtral-8x7b", ones + tensors + experts),
        ("llama4-scout", ones + experts),
    ):
        for strategy in strategies:
            check.context = f"{name} {strategy}"
            flags = f"{strategy} --batch=8 --micro-batch=1 --seq=128 --set=L=4 --dry-run"
            for entry in traces.compile_json(name, *flags.split())["classes"]:
                parameter = entry["memory"]["persistent_bytes"]["parameter"]
                found = entry["memory"]["largest_bytes"]["gradient"]
                check.equal("gradient", found, parameter // ACTIVATION * FP32)


def kept_for_weights(model):
    """What a layer keeps from the input half of its backward to the weight half: inputs of
    its four products and gradients of their results, and the gradients of its norms."""
    inputs = 2 * model.h + model.a * model.d + model.f
    results = (model.a + 2 * model.g) * model.d + 2 * model.h + 2 * model.f
    return model.s * (inputs + results) * ACTIVATION + 2 * model.h * FP32


def check_halves(check):
    """ZB-H1: device i has as many micro-batches in flight as with 1F1B, and as many of
    which only weight halves are missing as it has devices before it.

    It has most in SwiGLU's backward of its last layer, whose gradients are kept. Gradients
    of norms, which the input half makes, count as what it leaves to the other. The
    gradient of a layer's result is a message where it is received. The last device keeps
    input and gradient of the head's product, too, and has the gradient of the logits
    instead of the fp32 softmax at that place.
    """
    for L, p, m in ((8, 4, 8), (16, 4, 8), (8, 2, 6)):
        model = Llama(L=L)
        n = L // p
        plan = Plan(m, p, D=2, zero=1, schedule="zb-h1")
        check.context = " ".join(plan.flags())
        for i, memory in enumerate(compiled(model, plan)):
            norms = (2 * n + (1 if plan.is_last(i) else 0)) * model.h
            held = (parameters(model, plan, i) - norms) * FP32
            check.equal(f"gradient of {i}", memory["largest_bytes"]["gradient"], held)
            missing = n * kept_for_weights(model)
            want = (p - i) * n * model.saved_by_layer + norms * FP32
            want += model.s * 2 * model.f * ACTIVATION
            if plan.is_last(i):
                logits = model.s * model.V * ACTIVATION
                missing += model.message + logits + model.h * FP32
                want += model.saved_by_head - logits
            else:
                missing -= model.message
            want += i * missing
            check.equal(f"activation of {i}", memory["largest_bytes"]["activation"], want)


CHECKS = {
    "schedules": check_schedules,
    "copies": check_copies,
    "halves": check_halves,
    "zero": check_zero,
    "vocabulary": check_vocabulary,
    "published": check_published,
}


def main(arguments):
    """The exit status says whether all numbers agree."""
    if not arguments or any(name not in CHECKS for name in arguments):
        raise SystemExit(__doc__)
    check = traces.Checker()
    for name in arguments:
        CHECKS[name](check)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
