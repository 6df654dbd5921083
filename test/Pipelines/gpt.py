"""Compares what stg-compile makes of the GPT models with closed forms.

The closed forms are computed here from published hyperparameters, without a look at
models/gpt.mlir. Symbols follow the literature: h hidden size, a heads, V vocabulary,
n learned positions, L layers, s sequence length, B global batch, t tensor-parallel and
D data-parallel degree, b = B/D sequences of one rank. Sources:

* Narayanan et al., arXiv:2104.04473: parameters 12Lh^2(1 + 13/12h + (V+s)/12Lh), which
  leaves out the last norm (2h), and operations with full recomputation
  96BsLh^2(1 + s/6h + V/16Lh).
* Korthikanti et al., arXiv:2205.05198: operations 72BLsh^2(1 + s/6h + V/12hL), the
  collectives of tensor and sequence parallelism, and activation memory.
* Megatron-LM: what a tensor-parallel rank holds, and that sequence parallelism
  all-reduces the gradients of what all ranks hold: 6h a layer, and the last norm.

Where the models differ from these on purpose, the difference is part of the closed form
and said at its function: `replicated_gradients`, `saved_per_layer`.

A model has as many learned positions as a sequence has tokens, s.

Usage: gpt.py {parameters|operations|collectives|activations|recompute|groups}...
"""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product

import checks
import traces
from checks import BF16, FP32, LIBRARY, Plan

GPTS = ("gpt2-1.5b", "gpt3-175b", "megatron-22b", "megatron-530b", "megatron-1t")
STEP = Plan(batch=2, attention_count="full")
POLICIES = ("none", "selective", "full")

# GPT-3 with the vocabulary padded so that 8 ranks share it.
PADDED = replace(LIBRARY["gpt3-175b"], V=51200)


def replayed(m, plan):
    """Layers that backward replays."""
    if plan.recompute != "full":
        return 0
    return plan.recompute_layers if plan.recompute_method == "block" else m.L


# Closed forms.


def narayanan(m):
    """Parameters by the formula, and the last norm."""
    form = 1 + Fraction(13, 12 * m.h) + Fraction(m.V + m.s, 12 * m.L * m.h)
    return 12 * m.L * m.h**2 * form + 2 * m.h


def local_parameters(m, t):
    """Of one rank: (12h^2 + 7h)/t + 6h a layer (sharded are the matrices, 3h of query,
    key and value and 4h of the first feed-forward bias), 1/t of the vocabulary, all
    positions and the last norm."""
    layer = Fraction(12 * m.h**2 + 7 * m.h, t) + 6 * m.h
    return m.L * layer + Fraction(m.V * m.h, t) + m.s * m.h + 2 * m.h


def phases(m, plan):
    """Matrix operations of a rank by phase.

    Forward 24bsh^2 + 4bs^2h a layer and 2bshV for the head; backward is twice that.
    """
    tokens, ranks = plan.B * m.s, plan.t * plan.D
    core = 4 * tokens * m.s * m.h
    layer = 24 * tokens * m.h**2 + core
    forward = m.L * layer + 2 * tokens * m.h * m.V
    again = m.L * core if plan.recompute == "selective" else replayed(m, plan) * layer
    found = {"fwd": forward, "bwd": 2 * forward, "recompute": again}
    return {phase: Fraction(count, ranks) for phase, count in found.items() if count}


def published_operations(m, B, recompute):
    """All ranks and phases, as the papers print it; selective recomputation replays the
    4Bs^2hL of core attention: 72BLsh^2 * 2s/9h is s/6h and 4s/72h. (Korthikanti et al.
    print s/3h: forward and backward of the core again.)"""
    whole = B * m.s * m.L * m.h**2
    if recompute == "full":
        form = 1 + Fraction(m.s, 6 * m.h) + Fraction(m.V, 16 * m.L * m.h)
        return 96 * whole * form
    core = Fraction(2, 9) if recompute == "selective" else Fraction(1, 6)
    core *= Fraction(m.s, m.h)
    return 72 * whole * (1 + core + Fraction(m.V, 12 * m.h * m.L))


def replicated_gradients(m, plan):
    """Elements that sequence parallelism all-reduces over tp.

    6h a layer (two norms, the biases after the two reductions) and the last norm. Where
    each rank looks up the positions of its tokens only, the table's gradient is partial,
    too; Megatron-LM looks up all on each rank and keeps a slice.
    """
    positions = m.s * m.h if plan.stream_start == "sharded" else 0
    return 6 * m.L * m.h + 2 * m.h + positions


def calls(m, plan):
    """Counts of (kind, axis, phase, bytes of the input buffer of one call)."""
    M = plan.B // plan.D * m.s * m.h * BF16
    blocks = 2 * m.L + 1  # attentions and feed-forwards, and embedding or head
    again = 2 * replayed(m, plan)
    found = Counter()
    if plan.stream_shards > 1:
        shard = M // plan.t
        # Megatron-LM adds positions to whole embeddings: those are all-reduced.
        embedding = "reduce_scatter" if plan.stream_start == "sharded" else "all_reduce"
        found["reduce_scatter", "tp", "fwd", M] = blocks - 1
        found[embedding, "tp", "fwd", M] += 1
        found["all_gather", "tp", "fwd", shard] = blocks
        found["reduce_scatter", "tp", "recompute", M] = again
        found["all_gather", "tp", "recompute", shard] = again
        found["reduce_scatter", "tp", "bwd", M] = blocks
        found["all_gather", "tp", "bwd", shard] = 2 * blocks
        gradients = replicated_gradients(m, plan) * FP32
        found["all_reduce", "tp", "grad_sync", gradients] = 1
    elif plan.t > 1:
        found["all_reduce", "tp", "fwd", M] = blocks
        found["all_reduce", "tp", "recompute", M] = again
        found["all_reduce", "tp", "bwd", M] = blocks
    if plan.t > 1:  # cross-entropy: maximum, sum of exponentials, target logit
        found["all_reduce", "tp", "fwd", plan.B // plan.D * m.s * FP32] += 3
    if plan.D > 1:
        gradients = int(local_parameters(m, plan.t)) * FP32
        found["all_reduce", "dp", "grad_sync", gradients] = 1
    return +found


def collective_totals(m, plan):
    """The same, as stg-compile sums it up."""
    totals = {}
    for (kind, axis, phase, size), count in calls(m, plan).items():
        key = (kind, axis, plan.t if axis == "tp" else plan.D, phase)
        before = totals.get(key, (0, 0))
        totals[key] = (before[0] + count, before[1] + count * size)
    return totals


def wire_bytes(entry):
    """Bytes that a rank sends in the layers' collectives, with ring algorithms."""
    total = 0
    for (kind, _, n, phase), (_, size) in entry.collectives().items():
        if phase != "grad_sync":
            factor = {"all_reduce": 2, "reduce_scatter": 1, "all_gather": n}[kind]
            total += Fraction(factor * (n - 1), n) * size
    return total


def korthikanti(m, plan):
    """Table 2 with a fused attention, bytes of one layer: sbh(34 + 4a/h) on one rank,
    sbh(10 + (24 + 4a/h)/t) with tensor parallelism, all of it / t with sequences."""
    sbh = plan.B // plan.D * m.s * m.h
    whole, inside = 10, 24 + Fraction(4 * m.a, m.h)
    return sbh * (Fraction(whole, plan.stream_shards) + inside / plan.t)


def saved_per_layer(m, plan):
    """Bytes that one layer saves: Korthikanti's, but

    * the two masks of dropout, a byte per element, only where it is on: else -2sbh;
    * the mean and reciprocal deviation of both norms in fp32, which the paper calls
      small and leaves out: +16sb;
    * `selective`: the log-sum-exp is replayed with the rest of attention: -4asb;
    * `full`: nothing but the layer's input, 2sbh.
    """
    sb = plan.B // plan.D * m.s
    stream = Fraction(sb, plan.stream_shards)
    if plan.recompute == "full":
        return 2 * m.h * stream
    masks = 0 if plan.set == "dropout=true" else 2 * m.h
    saved = korthikanti(m, plan) + (16 - masks) * stream
    if plan.recompute == "selective":
        saved -= Fraction(4 * m.a * sb, plan.t)
    return saved


def saved(m, plan):
    """All that forward saves: the layers; the last norm's input, output, mean and
    deviation; the fp32 softmax. Embeddings save nothing but their ids."""
    sb = plan.B // plan.D * m.s
    head = Fraction(sb * (4 * m.h + 8), plan.stream_shards)
    layers = m.L * saved_per_layer(m, plan)
    block = plan.recompute_method == "block"
    if block:  # The others save as without recomputation.
        others = saved_per_layer(m, replace(plan, recompute="none"))
        first = plan.recompute_layers
        layers = first * saved_per_layer(m, plan) + (m.L - first) * others
    elif plan.recompute == "full":  # The input of each group.
        layers /= plan.recompute_layers
    return layers + head + Fraction(sb * m.V * FP32, plan.t)


def replayed_stream(m, plan):
    """Inputs of the groups and, in the replay of one, of its layers; the head's are gone.
    The rest of what a replay saves is temporary."""
    if plan.recompute_method == "block":
        return 0
    size = plan.recompute_layers
    return (m.L // size + size) * saved_per_layer(m, plan)


def persistent(m, plan):
    """Parameters, fp32 master copy and two fp32 moments; ids, labels and positions."""
    tokens = plan.B // plan.D * m.s
    inputs = 2 * tokens
    inputs += tokens // (plan.stream_shards if plan.stream_start == "sharded" else 1)
    return local_parameters(m, plan.t) * (BF16 + 3 * FP32) + inputs * 4


def peak_in_loss(m, plan):
    """All bytes when the cross-entropy is computed, the peak if tokens are many.

    One rank reads logits and writes softmax (saved) and loss. Over a sharded vocabulary
    three numbers per token are communicated, and the exponentials become the softmax in
    place: there is no second fp32 buffer as large as the logits.
    """
    tokens = plan.B // plan.D * m.s
    numbers = 1 if plan.t == 1 else 3
    logits = tokens * (Fraction(m.V * BF16, plan.t) + numbers * FP32)
    return persistent(m, plan) + saved(m, plan) + logits


# Comparisons.


def parameters(check):
    """Whole models, and what a tensor-parallel rank holds."""
    check.context = "closed forms"
    worked = LIBRARY["megatron-1t"]
    check.equal("1T", narayanan(worked) - 2 * worked.h, 1_008_038_707_200)
    layer = local_parameters(PADDED, 8) - local_parameters(replace(PADDED, L=95), 8)
    check.equal("GPT-3 layer, t = 8", layer, 226_576_896)
    for name in GPTS:
        m = LIBRARY[name]
        check.context = name
        count = check.compile(m, STEP)["parameters"]
        check.equal("parameters", count, narayanan(m))
        check.equal("published", count, checks.CHECKPOINTS.get(name, count))
        m = replace(m, V=51200, L=3)
        for t in (1, 2, 4, 8):
            if m.a % t:
                continue
            check.context = f"{name}, t = {t}"
            rank = check.compile(m, replace(STEP, tp=t, dp=2)).only
            local = local_parameters(m, t)
            check.equal("parameters", rank.states["parameter"], local * BF16)
            check.equal("optimizer", rank.states["optimizer"], local * 3 * FP32)
            # One gradient of the tied table: its two parts are added.
            check.equal("gradients", rank.largest["gradient"], local * FP32)


def operations(check):
    """Products by phase, and all of them against the papers' formulas."""
    check.context = "closed forms"
    for recompute, expected in [
        ("none", 3_386_196_746_387_324_928),
        ("selective", 3_416_596_043_872_075_776),
        ("full", 4_510_970_753_323_106_304),
    ]:
        found = published_operations(PADDED, 1536, recompute)
        check.equal(recompute, found, expected)
    one = phases(replace(PADDED, L=1), Plan(batch=1))["fwd"]
    none = phases(replace(PADDED, L=0), Plan(batch=1))["fwd"]
    check.equal("layer", one - none, 7_627_861_917_696)
    for name, recompute in product(GPTS, POLICIES):
        m, plan = LIBRARY[name], replace(STEP, batch=6, recompute=recompute)
        check.context = f"{name} {recompute}"
        found = check.compile(m, plan).only.products
        check.equal("operations", found, phases(m, plan))
        total = sum(found.values())
        check.equal("step", total, published_operations(m, 6, recompute))
    for recompute in POLICIES:
        sp = recompute == "full"
        plan = replace(STEP, tp=8, dp=2, batch=1536, sequence_parallel=sp, recompute=recompute)
        check.context = f"GPT-3, {plan}"
        found = check.compile(PADDED, plan).only.products
        check.equal("operations", found, phases(PADDED, plan))


def plans(degrees, recompute=("none",)):
    """With and without sequence parallelism."""
    for (t, D), sp, policy in product(degrees, (False, True), recompute):
        if sp and t == 1:
            continue
        yield replace(STEP, tp=t, dp=D, batch=2 * D, sequence_parallel=sp, recompute=policy)


def collectives(check):
    """Counts and bytes of every collective by phase."""
    m = replace(PADDED, L=5)
    every = list(plans([(1, 1), (1, 4), (2, 1), (4, 2), (8, 8)]))
    for t, D in [(2, 1), (8, 8)]:
        plan = replace(STEP, tp=t, dp=D, batch=2 * D, sequence_parallel=True)
        every.append(replace(plan, stream_start="sharded"))
    for plan in every:
        check.context = plan
        found = check.compile(m, plan).only.collectives()
        check.equal("collectives", found, collective_totals(m, plan))
    check_measured(check)


def check_measured(check):
    """NCCL volumes of 8 H100 that trained a GPT of 24 layers on 128 sequences (Won et
    al., arXiv:2511.10480): millions of elements a step, over all micro-batches."""
    m = replace(PADDED, h=4096, a=32, f=16384, L=24)
    plan = Plan(tp=8, sequence_parallel=True, batch=128, micro_batch=1)
    check.context = "measured"
    elements = Counter()
    for key, (count, size) in check.compile(m, plan).only.collectives().items():
        kind, _, _, phase = key
        # The cross-entropy's three numbers of a token and gradients are in fp32.
        numbers = 3 * 128 * m.s if (kind, phase) == ("all_reduce", "fwd") else 0
        width = FP32 if phase == "grad_sync" else BF16
        elements[kind, phase] += (size - numbers * FP32) // width + numbers
    stream = 128 * m.s * m.h
    check.equal("of forward", elements["reduce_scatter", "fwd"], 48 * stream)
    check.equal("of backward", elements["reduce_scatter", "bwd"], 49 * stream)
    scattered = 48 * stream + 49 * stream
    check.equal("reduce-scatter, M", round(scattered / 1e6, 1), 104_153.0)
    check.equal("in layers, M", round((scattered - stream) / 1e6, 1), 103_079.2)
    check.equal("of the head, M", round(stream / 1e6, 1), 1_073.7)
    reduced = sum(n for (kind, _), n in elements.items() if kind == "all_reduce")
    check.equal("all-reduce", reduced, stream + 3 * 128 * m.s + 146 * m.h)
    check.equal("all-reduce, M", round(reduced / 1e6, 1), 1_075.1)


def activations(check):
    """What layers save, with and without recomputation."""
    check.context = "closed forms"
    for plan, expected in [
        (Plan(batch=1), 856_424_448),
        (Plan(tp=8, batch=1), Fraction(327_155_712) + 4 * 96 * 2048 // 8),
        (Plan(tp=8, batch=1, sequence_parallel=True), Fraction(106_954_752) + 4 * 96 * 2048 // 8),
    ]:
        check.equal(f"{plan}", korthikanti(PADDED, plan), expected)
    dropout = plans([(1, 1), (8, 2)], ("none", "selective"))
    for plan in [*plans([(1, 1), (2, 1), (8, 2)], POLICIES), *(replace(p, set="dropout=true") for p in dropout)]:
        check.context = plan
        largest = []
        for depth in (2, 3):
            m = replace(PADDED, L=depth)
            largest.append(check.compile(m, plan).only.largest["activation"])
            check.equal("activations", largest[-1], saved(m, plan))
        check.equal("layer", largest[1] - largest[0], saved_per_layer(PADDED, plan))
        # Elsewhere it is in the head's or in a replayed layer's backward pass.
        if plan.t > 2 or plan.recompute == "full":
            continue
        many = replace(plan, batch=64 * plan.D)
        memory = check.compile(m, many).only["memory"]
        check.equal("peak in", memory["peak_at"].split(".")[0], "cross_entropy")
        check.equal("peak", memory["peak_bytes"]["total"], peak_in_loss(m, many))


def grouped(degrees):
    """Plans and depths in which some layers are replayed together, or some not."""
    for plan in plans(degrees, ("full",)):
        for depth, size in [(6, 2), (6, 3), (6, 6), (8, 4)]:
            yield replace(PADDED, L=depth), replace(plan, recompute_layers=size)
        block = replace(plan, recompute_method="block")
        for depth, size in [(6, 1), (6, 5), (8, 3)]:
            yield replace(PADDED, L=depth), replace(block, recompute_layers=size)


def groups(check):
    """Groups of layers that are replayed together, and blocks of layers."""
    for m, plan in grouped([(1, 1), (2, 2), (8, 1)]):
        check.context = f"{m.L} layers, {plan}"
        rank = check.compile(m, plan).only
        check.equal("operations", rank.products, phases(m, plan))
        check.equal("collectives", rank.collectives(), collective_totals(m, plan))
        found = rank.largest["activation"]
        check.equal("activations", found, max(saved(m, plan), replayed_stream(m, plan)))
    check_replayed_group(check)
    for size, method in [(2, "uniform"), (3, "block")]:
        plan = replace(STEP, tp=4, dp=2, batch=4, sequence_parallel=True, recompute="full")
        plan = replace(plan, recompute_layers=size, recompute_method=method)
        check_files(check, replace(PADDED, L=4), plan)


def check_replayed_group(check):
    """A replayed group saves its layers as without recomputation. With many tokens the
    peak is when the first group has been replayed and all others have gradients."""
    plan = replace(STEP, tp=8, batch=16, sequence_parallel=True, recompute="full")
    m = replace(PADDED, L=32)
    check.context = f"peak, {plan}"
    local = local_parameters(m, plan.t) - local_parameters(replace(m, L=31), plan.t)
    layer = saved_per_layer(m, replace(plan, recompute="none")) - local * FP32
    peaks = {}
    for size in (8, 16, 32):
        rank = check.compile(m, replace(plan, recompute_layers=size)).only
        peaks[size] = rank["memory"]["peak_bytes"]["total"]
    for size in (8, 16):
        check.equal(f"{size} more layers", peaks[2 * size] - peaks[size], size * layer)


def check_files(check, m, plan):
    """The file of one rank: collectives, saved tensors, one step of the tied table."""
    check.context = f"files, {plan}"
    folder = check.write(m, plan).folder
    traces.run("stg-trace", "validate", folder)
    nodes = traces.nodes(folder)
    members = traces.expected_groups(0, plan.t, plan.D)
    axes = {tuple(ranks): axis for axis, ranks in members.items()}
    of_file = traces.read_groups(folder)
    found = Counter()
    for (kind, group, phase, size), count in traces.file_collectives(nodes).items():
        found[kind, axes[tuple(of_file[group])], phase, size] += count
    check.equal("collectives of the file", found, calls(m, plan))
    check.equal("saved in the file", traces.saved_bytes(nodes), saved(m, plan))
    table = Counter(node.phase for node in nodes if node.op == "tok_embeddings")
    check.equal("steps of the table", table["opt"], 1)
    replays = {node.op for node in nodes if node.phase == "recompute"}
    check.equal("replayed ops", replays, replayed_ops(plan.recompute))


def replayed_ops(recompute):
    """A whole layer, its last projection and residual sum included, or attention."""
    norms = {"attention_norm", "ffn_norm"}
    biases = {"qkv_bias", "o_bias", "fc1_bias", "fc2_bias"}
    matrices = {"qkv_proj", "o_proj", "fc1", "fc2"}
    others = {"attention", "gelu", "attention_residual", "ffn_residual"}
    ops = {"none": set(), "selective": {"attention"}}
    return ops.get(recompute, norms | biases | matrices | others)


def recompute(check):
    """Collectives with recomputation: what is on the wire per layer, and files."""
    for sp, policy, expected in [
        (False, "none", 352_321_536),
        (True, "none", 440_401_920),
        (False, "selective", 352_321_536),
        (True, "selective", 440_401_920),
        (False, "full", 528_482_304),
        (True, "full", 616_562_688),
    ]:
        plan = replace(STEP, tp=8, batch=1, sequence_parallel=sp, recompute=policy)
        check.context = plan
        wire = []
        for depth in (2, 3):
            m = replace(PADDED, L=depth)
            rank = check.compile(m, plan).only
            check.equal("collectives", rank.collectives(), collective_totals(m, plan))
            wire.append(wire_bytes(rank))
        check.equal("wire bytes of a layer", wire[1] - wire[0], expected)
    for plan in plans([(4, 2)], POLICIES):
        check_files(check, replace(PADDED, L=2), plan)


if __name__ == "__main__":
    checks.main(parameters, operations, collectives, activations, recompute, groups)
