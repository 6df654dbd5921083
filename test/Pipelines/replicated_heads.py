"""Compares more tensor parallelism than key/value heads with closed forms.

With t ranks of tensor parallelism and K < t key/value heads, each head is held by t/K
neighbours, which project the same keys and values and reduce the gradients of the
projection among themselves (NeuronX Distributed's GQAQKVColumnParallelLinear has the same
plan). So all ranks together execute what one rank does alone, and t/K - 1 times the
projections of keys and values; nothing else is done twice.

Where tokens are exchanged for heads, a rank has each of its key/value heads as often as ranks of
context parallelism need it, before the exchange.

Usage: replicated_heads.py {operations|states|gradients|groups|activations|exchanged}...
"""

from dataclasses import replace

import checks
import traces
from checks import LIBRARY, Plan

SMALL = replace(LIBRARY["llama3-8b"], h=64, a=16, d=8, f=96, V=32, L=4, s=32)
B = 16
TOKENS = B * SMALL.s
L = SMALL.L


def step(tp=1, **others):
    """One batch."""
    return Plan(tp=tp, batch=B, **others)


def operations(check):
    """Each rank of tp executes the same, together what is said above."""
    sharded = dict(sequence_parallel=True, dp=2, zero=3)
    stages = dict(dp=2, pp=2, micro_batch=2, zero=1)
    ring = dict(cp=2, cp_comm_type="p2p", zero=2)
    experts = replace(SMALL, name="mixtral-8x7b", E=4, k=2)
    for heads, tp in ((8, 16), (4, 8), (2, 8), (1, 4)):
        m = replace(SMALL, g=heads)
        projections = (tp // heads - 1) * 2 * TOKENS * m.h * 2 * heads * m.d * L
        for others in ({}, sharded, stages, ring, dict(recompute="full", dp=2), dict(fp8=True)):
            check.context = f"K={heads} tp={tp} {others}"
            recompute = others.get("recompute", "none")
            one = check.compile(m, step(recompute=recompute)).products()
            want = dict(one, fwd=one["fwd"] + projections, bwd=one["bwd"] + 2 * projections)
            if recompute == "full":
                want["recompute"] += projections
            check.equal("products", check.compile(m, step(tp, **others)).products(), want)
        m = replace(experts, g=heads)
        check.context = f"experts, K={heads} tp={tp}"
        one = check.compile(m, step()).products()
        many = check.compile(m, step(tp, sequence_parallel=True, dp=4, ep=2)).products()
        want = {"fwd": one["fwd"] + projections, "bwd": one["bwd"] + 2 * projections}
        check.equal("products", many, want)


def local_parameters(m, tp):
    """Parameters of a layer on a rank, those of keys and values, and those outside of layers."""
    keys_values = m.h * 2 * max(1, m.g // tp) * m.d
    layer = 2 * m.h * m.a * m.d // tp + keys_values + m.gated // tp + 2 * m.h
    return layer, keys_values, 2 * m.V * m.h // tp + m.h


def states(check):
    """Bytes of parameters and optimizer, and the parameters of the model, which are not more."""
    for heads, tp in ((8, 8), (8, 16), (2, 8), (1, 4)):
        m = replace(SMALL, g=heads)
        check.context = f"K={heads} tp={tp}"
        layer, _, root = local_parameters(m, tp)
        count = L * layer + root
        compiled = check.compile(m, step(tp))
        have = compiled.only.states
        check.equal("states", (have["parameter"], have["optimizer"]), (2 * count, 12 * count))
        check.equal("model", compiled["parameters"], m.parameters)
        have = check.compile(m, step(tp, dp=2, zero=3, zero_root="units")).only.states
        check.equal("ZeRO-3", (have["parameter"], have["optimizer"]), (count, 6 * count))


REPLICAS, ALL = "tp_replicate", "tp_replicate+tp_kv"


def reductions(entry, axes):
    """What is done over these axes."""
    return [
        (kind, phase, size, *total)
        for (kind, over, size, phase), total in entry.collectives().items()
        if over == axes
    ]


def gradients(check):
    """The gradients of the projections of keys and values, in fp32, are all-reduced among
    the ranks that hold the same heads, before those of all parameters over dp."""
    heads, tp = 4, 16
    m = replace(SMALL, g=heads)
    layer, keys_values, root = local_parameters(m, tp)
    size = tp // heads
    flat = [("all_reduce", "grad_sync", size, 1, 4 * L * keys_values)]
    entry = check.compile(m, step(tp, dp=2)).only
    check.equal("replicas", reductions(entry, REPLICAS), flat)
    dp = [("all_reduce", "grad_sync", 2, 1, 4 * (L * layer + root))]
    check.equal("dp", reductions(entry, "dp"), dp)
    entry = check.compile(m, step(tp, dp=2, gradient_reduction="per-layer")).only
    each = [("all_reduce", "grad_sync", size, L, 4 * L * keys_values)]
    check.equal("per layer", reductions(entry, REPLICAS), each)
    entry = check.compile(m, step(tp, dp=2, sequence_parallel=True)).only
    check.equal("replicas, sequence parallel", reductions(entry, REPLICAS), flat)
    norms = [c for c in reductions(entry, ALL) if c[1] == "grad_sync"]
    check.equal("norms", norms, [("all_reduce", "grad_sync", tp, 1, 4 * m.norms)])
    # A layer's output twice, forward and backward, the embedding's, that of the head's input.
    shard = [c for c in reductions(entry, ALL) if c[0] == "reduce_scatter"]
    blocks, whole = 2 * L + 1, TOKENS // 2 * m.h * 2
    want = [("reduce_scatter", phase, tp, blocks, blocks * whole) for phase in ("fwd", "bwd")]
    check.equal("stream", shard, want)
    for level in (1, 2, 3):
        entry = check.compile(m, step(tp, dp=2, zero=level, micro_batch=4)).only
        times = 1 if level == 1 else 2 * L
        want = (size, times, 4 * keys_values * (L if level == 1 else 2 * L))
        check.equal(f"ZeRO-{level}", [c[2:] for c in reductions(entry, REPLICAS)], [want])
    half = [("all_reduce", "grad_sync", size, 1, 2 * L * keys_values)]
    for entry in check.compile(m, step(tp, pp=2, micro_batch=4)).classes:
        check.equal("stage", reductions(entry, REPLICAS), half)


def groups(check):
    """Ranks that hold the same heads are neighbours, all of tp are one group."""
    plan = step(8, dp=2, pp=2, micro_batch=4, sequence_parallel=True)
    folder = check.write(replace(SMALL, g=2), plan).folder
    traces.run("stg-trace", "validate", folder)
    found = {tuple(ranks) for ranks in traces.read_groups(folder).values()}
    want = {tuple(range(first, first + size)) for size in (4, 8) for first in range(0, 32, size)}
    want |= {(first + i, first + i + 8) for first in (0, 16) for i in range(8)}
    check.equal("groups", sorted(found), sorted(want))


def activations(check):
    """Saved bytes of a layer and token: queries over tp, keys and values over their heads."""
    for heads, tp in ((8, 8), (4, 8), (1, 8)):
        m = replace(SMALL, g=heads)
        check.context = f"K={heads} tp={tp}"
        one, two = (
            check.compile(replace(m, L=depth), step(tp, sequence_parallel=True)).only.largest["activation"]
            for depth in (L, 2 * L)
        )
        local = replace(m, a=m.a // tp, g=max(1, heads // tp), f=m.f // tp)
        want = m.saved_outside // tp + local.saved_inside
        check.equal("layer", (two - one) // L, want * TOKENS)


def exchanged(check):
    """All ranks execute what one does, and parameters are not more; queries and outputs are exchanged
    once, and keys and values of as many heads as there are ranks, if these are more."""
    for heads, tp, cp in ((8, 1, 16), (4, 2, 4), (2, 1, 4), (1, 1, 2), (2, 4, 2), (8, 2, 4)):
        m = replace(SMALL, g=heads)
        plan = step(tp, cp=cp, cp_comm_type="a2a")
        check.context = plan, heads
        one = check.compile(m, step()).products()
        again = (max(tp // heads, 1) - 1) * 2 * TOKENS * m.h * 2 * heads * m.d * L
        want = {"fwd": one["fwd"] + again, "bwd": one["bwd"] + 2 * again}
        compiled = check.compile(m, plan)
        check.equal("products", compiled.products(), want)
        have, whole = compiled.only.states, check.compile(m, step(tp)).only.states
        for part in ("parameter", "optimizer"):
            check.equal(part, have[part], whole[part])
        sent = {}
        for (kind, _, _, phase), (count, size) in compiled.only.collectives().items():
            if kind == "all_to_all":
                sent[phase] = count, size
        # Of a token, an exchange of queries or outputs, and one of keys or values.
        per_head = TOKENS // cp * m.d * 2
        queries, keys = per_head * m.a // tp, per_head * max(heads, tp * cp) // tp
        check.equal("forward", sent["fwd"], (4 * L, L * (2 * queries + 2 * keys)))
        check.equal("backward", sent["bwd"], (5 * L, L * (3 * queries + 2 * keys)))


if __name__ == "__main__":
    checks.main(operations, states, gradients, groups, activations, exchanged)
