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

from dataclasses import replace

import checks
from checks import BF16, FP32, ID, LIBRARY, Plan

# Small sizes, all different.
SMALL = replace(LIBRARY["llama3-8b"], h=64, a=8, g=4, d=8, f=128, V=16, L=8, s=64)


def step(m=1, p=1, D=1, **others):
    """m micro-batches of one sequence for each data-parallel rank."""
    return Plan(pp=p, dp=D, batch=m * D, micro_batch=1, **others)


def message(model):
    """Bytes of the residual stream of a micro-batch."""
    return model.s * model.h * BF16


def saved_by_layer(model):
    """Of a micro-batch."""
    return model.s * (model.saved_outside + model.saved_inside)


def saved_by_head(model):
    """Input, output and rstd of the last norm, and the fp32 softmax."""
    return model.s * (4 * model.h + 4 + FP32 * model.V)


def is_last(plan, i):
    """Whether the device has the last virtual stage."""
    return i == plan.p - 1


def parameters(model, plan, i):
    """Parameters of the device i of a pipeline."""
    total = model.L // plan.p * model.layer
    total += model.embedding if i == 0 else 0
    return total + (model.head if is_last(plan, i) else 0)


def in_flight(plan, i):
    """Most forwards, of a virtual stage each, whose backward is still to come."""
    p, m, v = plan.p, plan.micro_batches, plan.v
    if plan.schedule == "gpipe":
        return m
    if v == 1:
        return min(m, p - i)
    return min(m * v, 2 * (p - i - 1) + (v - 1) * p + 1)


def activation(model, plan, i):
    """Saved in flight; a replayed layer has saved its input only."""
    layer = message(model) if plan.recompute == "full" else saved_by_layer(model)
    stages = plan.p * plan.v
    total = in_flight(plan, i) * (model.L // stages) * layer
    if is_last(plan, i):
        heads = plan.micro_batches if plan.schedule == "gpipe" else 1
        total += heads * saved_by_head(model)
    # The last stage of GPipe has received everything when it has saved most.
    waits = plan.p > 1 and not (plan.schedule == "gpipe" and is_last(plan, i))
    return total + (message(model) if waits else 0)


def communication(model, plan, i):
    """Messages of gradients; with ZeRO-3 two layers, one of them gathered ahead, and
    beside them either the messages or, in forward, what is gathered for the head."""
    receives = not is_last(plan, i) or plan.v > 1
    total = message(model) * (2 if receives else 1) if plan.p > 1 else 0
    if plan.zero == 3:
        head = model.head * BF16 if is_last(plan, i) else 0
        total = max(total, head if plan.zero_root == "kept" else 0)
        total += 2 * model.layer * BF16
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
    swiglu = model.s * 3 * model.f * BF16
    if i == 0 and model.L // (plan.p * plan.v) > 1:
        swiglu += message(model)
    if plan.recompute == "full":
        product = model.s * model.f * BF16
        swiglu += saved_by_layer(model) - message(model) - product
    if plan.zero < 2:
        return swiglu
    queries = (model.a + 2 * model.g) * model.d
    product = model.s * queries * BF16 + 2 * message(model)
    unit = (model.layer - model.h) * FP32
    waits = is_last(plan, i) and plan.zero_root == "kept"
    return max(swiglu, unit + product + (model.head * FP32 if waits else 0))


def states(model, plan, i):
    """What is there throughout a step."""
    held = parameters(model, plan, i)
    ends = [i == 0, is_last(plan, i)]
    return {
        "parameter": held * BF16 // (plan.D if plan.zero == 3 else 1),
        "optimizer": held * 3 * FP32 // (plan.D if plan.zero else 1),
        "input": sum(ends) * plan.micro_batches * model.s * ID,
    }


def gradient(model, plan, i):
    """One buffer, or one shard."""
    return parameters(model, plan, i) * FP32 // (plan.D if plan.zero >= 2 else 1)


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
        check.context = plan
        for i, entry in enumerate(check.compile(model, plan).classes):
            check.equal(f"device {i}", entry.largest, expected(model, plan, i))
            held = states(model, plan, i)
            held = {"total": sum(held.values()), **{k: v for k, v in held.items() if v}}
            check.equal(f"states of {i}", entry.states, held)


def schedules(check):
    """Micro-batches and pipelines, with and without replayed layers."""
    for recompute in ("none", "full"):
        plans = [step(m, D=D, recompute=recompute) for m in (1, 2, 5) for D in (1, 2)]
        for p in (2, 4):
            for schedule in ("1f1b", "gpipe"):
                plans += [step(m, p, schedule=schedule, recompute=recompute) for m in (4, 8)]
            plans.append(step(8, p, virtual_stages=2, schedule="interleaved", recompute=recompute))
        check_plans(check, SMALL, plans)


def zero(check):
    """Shards of states, gradients and parameters."""
    plans = []
    for level in (0, 1, 2, 3):
        for root in ("kept", "units") if level == 3 else ("kept",):
            for m, p in ((1, 1), (4, 1), (8, 2), (8, 4)):
                plans.append(step(m, p, D=4, zero=level, zero_root=root))
    for reduction in ("per-layer", "per-parameter"):
        for level in (0, 1):
            plans += [step(m, D=4, zero=level, gradient_reduction=reduction) for m in (1, 4)]
    check_plans(check, SMALL, plans)


def vocabulary(check):
    """A vocabulary that outweighs the layers, V = 64h.

    In one micro-batch the head's backward needs most: the gradients of the logits and of
    the norm's result. In the next ones the gradient of the embedding, which is no product,
    is made first and then added, with the gradient that it is made from.
    """
    model = replace(SMALL, V=4096)
    for m, D, level in ((1, 1, 0), (4, 1, 0), (4, 2, 1)):
        plan = step(m, D=D, zero=level)
        check.context = plan
        largest = check.compile(model, plan).only.largest
        head = model.s * model.V * BF16 + message(model)
        table = model.embedding * FP32 + message(model)
        want = head if m == 1 else max(head, table)
        check.equal("temporary", largest["temporary"], want)
        check.equal("gradient", largest["gradient"], gradient(model, plan, 0))


def published(check):
    """Llama 3 8B on 8 ranks: one copy of fp32 gradients, at the peak of later micro-batches,
    the cross-entropy, beside all that is saved, bf16 logits and the fp32 loss."""
    P, T = 8_030_261_248, 2048
    model = replace(LIBRARY["llama3-8b"], s=T)
    saved = 32 * T * 139_400 + T * (4 * 4096 + 4 + FP32 * 128_256)
    for level, kept, held in ((0, 4 * P, 14 * P), (1, 4 * P, 2 * P + 12 * P // 8)):
        check.context = f"Llama 3 8B, ZeRO-{level}"
        entry = check.compile(model, step(2, D=8, zero=level)).only
        check.equal("gradient", entry.largest["gradient"], kept)
        check.equal("saved", entry.largest["activation"], saved)
        logits = T * (128_256 * BF16 + FP32)
        peak = held + 2 * 2 * T * ID + kept + saved + logits
        check.equal("peak", entry["memory"]["peak_bytes"]["total"], peak)


def copies(check):
    """One copy of fp32 gradients, twice the bytes of bf16 parameters, in every model: where
    heads are replicated, experts divided, embeddings tied or layers reduced one by one."""
    ones = [dict(dp=2), dict(dp=2, zero=1), dict(dp=4, dp_replicate=2, zero=1), dict(pp=2, dp=2)]
    ones += [dict(dp=2, zero=1, bucket_size=100000000)]
    ones += [dict(dp=2, zero=1, gradient_reduction="per-layer")]
    tensors = [dict(tp=2, sequence_parallel=True, dp=2), dict(tp=16, sequence_parallel=True, pp=2)]
    experts = [dict(dp=4, ep=2), dict(dp=4, ep=2, pp=2, zero=1)]
    for name, strategies in (
        ("llama3-8b", ones + tensors),
        ("gpt2-1.5b", ones),
        ("palm-540b", ones + tensors),
        ("mixtral-8x7b", ones + tensors + experts),
        ("llama4-scout", ones + experts),
    ):
        model = replace(LIBRARY[name], L=4, s=128)
        for strategy in strategies:
            plan = Plan(batch=8, micro_batch=1, **strategy)
            check.context = f"{name} {plan}"
            for entry in check.compile(model, plan).classes:
                parameter = entry.states["parameter"]
                check.equal("gradient", entry.largest["gradient"], parameter // BF16 * FP32)


def kept_for_weights(model):
    """What a layer keeps from the input half of its backward to the weight half: inputs of
    its four products and gradients of their results, and the gradients of its norms."""
    inputs = 2 * model.h + model.a * model.d + model.f
    results = (model.a + 2 * model.g) * model.d + 2 * model.h + 2 * model.f
    return model.s * (inputs + results) * BF16 + 2 * model.h * FP32


def halves(check):
    """ZB-H1: device i has as many micro-batches in flight as with 1F1B, and as many of
    which only weight halves are missing as it has devices before it.

    It has most in SwiGLU's backward of its last layer, whose gradients are kept. Gradients
    of norms, which the input half makes, count as what it leaves to the other. The
    gradient of a layer's result is a message where it is received. The last device keeps
    input and gradient of the head's product, too, and has the gradient of the logits
    instead of the fp32 softmax at that place.
    """
    for L, p, m in ((8, 4, 8), (16, 4, 8), (8, 2, 6)):
        model = replace(SMALL, L=L)
        n = L // p
        plan = step(m, p, D=2, zero=1, schedule="zb-h1")
        check.context = plan
        for i, entry in enumerate(check.compile(model, plan).classes):
            norms = (2 * n + (1 if is_last(plan, i) else 0)) * model.h
            held = (parameters(model, plan, i) - norms) * FP32
            check.equal(f"gradient of {i}", entry.largest["gradient"], held)
            missing = n * kept_for_weights(model)
            want = (p - i) * n * saved_by_layer(model) + norms * FP32
            want += model.s * 2 * model.f * BF16
            if is_last(plan, i):
                logits = model.s * model.V * BF16
                missing += message(model) + logits + model.h * FP32
                want += saved_by_head(model) - logits
            else:
                missing -= message(model)
            want += i * missing
            check.equal(f"activation of {i}", entry.largest["activation"], want)


if __name__ == "__main__":
    checks.main(schedules, zero, vocabulary, published, copies, halves)
