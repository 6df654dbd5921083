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

Usage: gpt.py {parameters|operations|collectives|activations|recompute|groups}
"""

import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
import traces  # noqa: E402

ACTIVATION, FP32 = 2, 4  # bytes of an element: bf16, f32


@dataclass(frozen=True)
class GPT:
    """Published hyperparameters."""

    h: int
    a: int
    V: int
    n: int
    L: int

    @property
    def s(self):
        """Tokens per sequence: as many as there are positions."""
        return self.n


# GPT-2: the checkpoint gpt2-xl; GPT-3: arXiv:2005.14165 and GPT-2's vocabulary;
# the others: table 3 of Korthikanti et al. and table 1 of Narayanan et al.
MODELS = {
    "gpt2-1.5b": GPT(1600, 25, 50257, 1024, 48),
    "gpt3-175b": GPT(12288, 96, 50257, 2048, 96),
    "megatron-22b": GPT(6144, 64, 51200, 2048, 48),
    "megatron-530b": GPT(20480, 128, 51200, 2048, 105),
    "megatron-1t": GPT(25600, 160, 51200, 2048, 128),
}

# Elements of the published checkpoint's tensors, and of GPT-3's by its description.
PUBLISHED = {"gpt2-1.5b": 1_557_611_200, "gpt3-175b": 174_604_259_328}

# GPT-3 with the vocabulary padded so that 8 ranks share it.
PADDED = replace(MODELS["gpt3-175b"], V=51200)


@dataclass(frozen=True)
class Plan:
    """How a step is run."""

    t: int = 1
    D: int = 1
    B: int = 2
    sp: bool = False
    recompute: str = "none"
    layers: int = 1  # that are replayed together, or of a block
    block: bool = False
    sharded_start: bool = False  # each rank embeds its tokens only

    def replayed(self, m):
        """Layers that backward replays."""
        if self.recompute != "full":
            return 0
        return self.layers if self.block else m.L

    @property
    def shards_stream(self):
        """Whether a rank holds 1/t of the residual stream; with t = 1 that is all."""
        return self.sp and self.t > 1

    @property
    def stream_shards(self):
        """Ranks that share the residual stream."""
        return self.t if self.shards_stream else 1

    def flags(self):
        """The command line of stg-compile for it."""
        flags = [f"--tp={self.t}", f"--dp={self.D}", f"--batch={self.B}"]
        flags += ["--attention-count=full", f"--recompute={self.recompute}"]
        if self.recompute == "full":
            flags += [f"--recompute-layers={self.layers}"]
        if self.block:
            flags += ["--recompute-method=block"]
        if self.sharded_start and self.shards_stream:
            flags += ["--stream-start=sharded"]
        return flags + (["--sequence-parallel"] if self.shards_stream else [])


def compiled(name, m, plan, *flags):
    """The summary of a model, with the depth and vocabulary of `m`."""
    values = [f"--set=L={m.L}", f"--set=V={m.V}"]
    return traces.compile_json(name, *values, *plan.flags(), *flags)


# Closed forms.


def narayanan(m):
    """Parameters by the formula, and the last norm."""
    form = 1 + Fraction(13, 12 * m.h) + Fraction(m.V + m.n, 12 * m.L * m.h)
    return 12 * m.L * m.h**2 * form + 2 * m.h


def local_parameters(m, t):
    """Of one rank: (12h^2 + 7h)/t + 6h a layer (sharded are the matrices, 3h of query,
    key and value and 4h of the first feed-forward bias), 1/t of the vocabulary, all
    positions and the last norm."""
    layer = Fraction(12 * m.h**2 + 7 * m.h, t) + 6 * m.h
    return m.L * layer + Fraction(m.V * m.h, t) + m.n * m.h + 2 * m.h


def operations(m, plan):
    """Matrix operations of a rank by phase.

    Forward 24bsh^2 + 4bs^2h a layer and 2bshV for the head; backward is twice that.
    """
    tokens, ranks = plan.B * m.s, plan.t * plan.D
    core = 4 * tokens * m.s * m.h
    layer = 24 * tokens * m.h**2 + core
    forward = m.L * layer + 2 * tokens * m.h * m.V
    again = m.L * core if plan.recompute == "selective" else plan.replayed(m) * layer
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
    positions = m.n * m.h if plan.sharded_start else 0
    return 6 * m.L * m.h + 2 * m.h + positions


def collectives(m, plan):
    """(kind, axis, group size, phase) -> (count, bytes of all input buffers)."""
    M = plan.B // plan.D * m.s * m.h * ACTIVATION
    blocks = 2 * m.L + 1  # attentions and feed-forwards, and embedding or head
    again = 2 * plan.replayed(m)
    calls = Counter()
    if plan.shards_stream:
        shard = M // plan.t
        # Megatron-LM adds positions to whole embeddings: those are all-reduced.
        embedding = "reduce_scatter" if plan.sharded_start else "all_reduce"
        calls["reduce_scatter", "tp", "fwd", M] = blocks - 1
        calls[embedding, "tp", "fwd", M] += 1
        calls["all_gather", "tp", "fwd", shard] = blocks
        calls["reduce_scatter", "tp", "recompute", M] = again
        calls["all_gather", "tp", "recompute", shard] = again
        calls["reduce_scatter", "tp", "bwd", M] = blocks
        calls["all_gather", "tp", "bwd", shard] = 2 * blocks
        gradients = replicated_gradients(m, plan) * FP32
        calls["all_reduce", "tp", "grad_sync", gradients] = 1
    elif plan.t > 1:
        calls["all_reduce", "tp", "fwd", M] = blocks
        calls["all_reduce", "tp", "recompute", M] = again
        calls["all_reduce", "tp", "bwd", M] = blocks
    if plan.t > 1:  # cross-entropy: maximum, sum of exponentials, target logit
        calls["all_reduce", "tp", "fwd", plan.B // plan.D * m.s * FP32] += 3
    if plan.D > 1:
        gradients = int(local_parameters(m, plan.t)) * FP32
        calls["all_reduce", "dp", "grad_sync", gradients] = 1
    return +calls


def collective_totals(m, plan):
    """The same as `traces.json_collectives`."""
    totals = {}
    for (kind, axis, phase, size), count in collectives(m, plan).items():
        key = (kind, axis, plan.t if axis == "tp" else plan.D, phase)
        before = totals.get(key, (0, 0))
        totals[key] = (before[0] + count, before[1] + count * size)
    return totals


def wire_bytes(summary):
    """Bytes that a rank sends in the layers' collectives, with ring algorithms."""
    total = 0
    for (kind, _, n, phase), (_, size) in traces.json_collectives(summary).items():
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

    * no dropout, so without its two masks of a byte per element: -2sbh;
    * the mean and reciprocal deviation of both norms in fp32, which the paper calls
      small and leaves out: +16sb;
    * `selective`: the log-sum-exp is replayed with the rest of attention: -4asb;
    * `full`: nothing but the layer's input, 2sbh.
    """
    sb = plan.B // plan.D * m.s
    stream = Fraction(sb, plan.stream_shards)
    if plan.recompute == "full":
        return 2 * m.h * stream
    saved = korthikanti(m, plan) + (16 - 2 * m.h) * stream
    if plan.recompute == "selective":
        saved -= Fraction(4 * m.a * sb, plan.t)
    return saved


def saved(m, plan):
    """All that forward saves: the layers; the last norm's input, output, mean and
    deviation; the fp32 softmax. Embeddings save nothing but their ids."""
    sb = plan.B // plan.D * m.s
    head = Fraction(sb * (4 * m.h + 8), plan.stream_shards)
    layers = m.L * saved_per_layer(m, plan)
    if plan.block:  # The others save as without recomputation.
        others = saved_per_layer(m, replace(plan, recompute="none"))
        layers = plan.layers * saved_per_layer(m, plan) + (m.L - plan.layers) * others
    elif plan.recompute == "full":  # The input of each group.
        layers /= plan.layers
    return layers + head + Fraction(sb * m.V * FP32, plan.t)


def replayed_stream(m, plan):
    """Inputs of the groups and, in the replay of one, of its layers; the head's are gone.
    The rest of what a replay saves is temporary."""
    inputs = 0 if plan.block else m.L // plan.layers + plan.layers
    return inputs * saved_per_layer(m, plan)


def persistent(m, plan):
    """Parameters, fp32 master copy and two fp32 moments; ids, labels and positions."""
    tokens = plan.B // plan.D * m.s
    inputs = 2 * tokens
    inputs += tokens // (plan.stream_shards if plan.sharded_start else 1)
    return local_parameters(m, plan.t) * (ACTIVATION + 3 * FP32) + inputs * 4


def peak_in_loss(m, plan):
    """All bytes when the cross-entropy is computed, the peak if tokens are many.

    One rank reads logits and writes softmax (saved) and loss. Over a sharded vocabulary
    three numbers per token are communicated, and the exponentials become the softmax in
    place: there is no second fp32 buffer as large as the logits.
    """
    tokens = plan.B // plan.D * m.s
    numbers = 1 if plan.t == 1 else 3
    logits = tokens * (Fraction(m.V * ACTIVATION, plan.t) + numbers * FP32)
    return persistent(m, plan) + saved(m, plan) + logits


# Comparisons.


def check_parameters(check, _):
    """Whole models, and what a tensor-parallel rank holds."""
    check.context = "closed forms"
    worked = MODELS["megatron-1t"]
    check.equal("1T", narayanan(worked) - 2 * worked.h, 1_008_038_707_200)
    layer = local_parameters(PADDED, 8) - local_parameters(replace(PADDED, L=95), 8)
    check.equal("GPT-3 layer, t = 8", layer, 226_576_896)
    for name, m in MODELS.items():
        check.context = name
        count = compiled(name, m, Plan(), "--dry-run")["parameters"]
        check.equal("parameters", count, narayanan(m))
        check.equal("published", count, PUBLISHED.get(name, count))
        m = replace(m, V=51200, L=3)
        for t in (1, 2, 4, 8):
            if m.a % t:
                continue
            check.context = f"{name}, t = {t}"
            plan = Plan(t, D=2)
            (rank,) = compiled(name, m, plan, "--dry-run")["classes"]
            local = local_parameters(m, t)
            persistent = rank["memory"]["persistent_bytes"]
            check.equal("parameters", persistent["parameter"], local * ACTIVATION)
            check.equal("optimizer", persistent["optimizer"], local * 3 * FP32)
            # One gradient of the tied table: its two parts are added.
            largest = rank["memory"]["largest_bytes"]
            check.equal("gradients", largest["gradient"], local * FP32)


def check_operations(check, _):
    """Products by phase, and all of them against the papers' formulas."""
    check.context = "closed forms"
    for recompute, expected in [
        ("none", 3_386_196_746_387_324_928),
        ("selective", 3_416_596_043_872_075_776),
        ("full", 4_510_970_753_323_106_304),
    ]:
        found = published_operations(PADDED, 1536, recompute)
        check.equal(recompute, found, expected)
    one = operations(replace(PADDED, L=1), Plan(B=1))["fwd"]
    none = operations(replace(PADDED, L=0), Plan(B=1))["fwd"]
    check.equal("layer", one - none, 7_627_861_917_696)
    policies = ("none", "selective", "full")
    for (name, m), recompute in product(MODELS.items(), policies):
        plan = Plan(B=6, recompute=recompute)
        check.context = f"{name} {recompute}"
        (rank,) = compiled(name, m, plan, "--dry-run")["classes"]
        found = rank["matrix_operations_by_phase"]
        check.equal("operations", found, operations(m, plan))
        total = sum(found.values())
        check.equal("step", total, published_operations(m, 6, recompute))
    for recompute in policies:
        plan = Plan(8, 2, 1536, recompute == "full", recompute)
        check.context = f"GPT-3, {plan}"
        (rank,) = compiled("gpt3-175b", PADDED, plan, "--dry-run")["classes"]
        found = rank["matrix_operations_by_phase"]
        check.equal("operations", found, operations(PADDED, plan))


def plans(degrees, recompute=("none",)):
    """With and without sequence parallelism."""
    for (t, D), sp, policy in product(degrees, (False, True), recompute):
        yield Plan(t, D, 2 * D, sp, policy)


def check_collectives(check, _):
    """Counts and bytes of every collective by phase."""
    m = replace(PADDED, L=5)
    for plan in plans([(1, 1), (1, 4), (2, 1), (4, 2), (8, 8)]):
        check.context = str(plan)
        found = traces.json_collectives(compiled("gpt3-175b", m, plan, "--dry-run"))
        check.equal("collectives", found, collective_totals(m, plan))
    for t, D in [(2, 1), (8, 8)]:
        plan = Plan(t, D, 2 * D, sp=True, sharded_start=True)
        check.context = str(plan)
        found = traces.json_collectives(compiled("gpt3-175b", m, plan, "--dry-run"))
        check.equal("collectives", found, collective_totals(m, plan))
    check_measured(check)


def check_measured(check):
    """NCCL volumes of 8 H100 that trained a GPT of 24 layers on 128 sequences (Won et
    al., arXiv:2511.10480): millions of elements a step, over all micro-batches."""
    m = GPT(4096, 32, 51200, 2048, 24)
    values = {"D": m.h, "H": m.a, "V": m.V, "P": m.n, "L": m.L}
    flags = [f"--set={name}={value}" for name, value in values.items()]
    flags += ["--tp=8", "--sequence-parallel", "--batch=128", "--micro-batch=1"]
    check.context = "measured"
    summary = traces.compile_json("gpt3-175b", *flags, "--dry-run")
    elements = Counter()
    for key, (count, size) in traces.json_collectives(summary).items():
        kind, _, _, phase = key
        # The cross-entropy's three numbers of a token and gradients are in fp32.
        numbers = 3 * 128 * m.s if (kind, phase) == ("all_reduce", "fwd") else 0
        width = FP32 if phase == "grad_sync" else ACTIVATION
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


def check_activations(check, _):
    """What layers save, with and without recomputation."""
    check.context = "closed forms"
    for plan, expected in [
        (Plan(B=1), 856_424_448),
        (Plan(8, B=1), Fraction(327_155_712) + 4 * 96 * 2048 // 8),
        (Plan(8, B=1, sp=True), Fraction(106_954_752) + 4 * 96 * 2048 // 8),
    ]:
        check.equal(f"{plan}", korthikanti(PADDED, plan), expected)
    policies = ("none", "selective", "full")
    for plan in plans([(1, 1), (2, 1), (8, 2)], policies):
        check.context = str(plan)
        largest = []
        for depth in (2, 3):
            m = replace(PADDED, L=depth)
            (rank,) = compiled("gpt3-175b", m, plan, "--dry-run")["classes"]
            largest.append(rank["memory"]["largest_bytes"]["activation"])
            check.equal("activations", largest[-1], saved(m, plan))
        check.equal("layer", largest[1] - largest[0], saved_per_layer(PADDED, plan))
        # Elsewhere it is in the head's or in a replayed layer's backward pass.
        if plan.t > 2 or plan.recompute == "full":
            continue
        many = replace(plan, B=64 * plan.D)
        (rank,) = compiled("gpt3-175b", m, many, "--dry-run")["classes"]
        check.equal("peak in", rank["memory"]["peak_at"].split(".")[0], "cross_entropy")
        peak = rank["memory"]["peak_bytes"]["total"]
        check.equal("peak", peak, peak_in_loss(m, many))


def groups(degrees):
    """Plans and depths in which some layers are replayed together, or some not."""
    for plan in plans(degrees, ("full",)):
        for depth, size in [(6, 2), (6, 3), (6, 6), (8, 4)]:
            yield replace(PADDED, L=depth), replace(plan, layers=size)
        for depth, size in [(6, 1), (6, 5), (8, 3)]:
            yield replace(PADDED, L=depth), replace(plan, layers=size, block=True)


def check_groups(check, folder):
    """Groups of layers that are replayed together, and blocks of layers."""
    for m, plan in groups([(1, 1), (2, 2), (8, 1)]):
        check.context = f"{m.L} layers, {plan}"
        summary = compiled("gpt3-175b", m, plan, "--dry-run")
        (rank,) = summary["classes"]
        found = rank["matrix_operations_by_phase"]
        check.equal("operations", found, operations(m, plan))
        found = traces.json_collectives(summary)
        check.equal("collectives", found, collective_totals(m, plan))
        found = rank["memory"]["largest_bytes"]["activation"]
        check.equal("activations", found, max(saved(m, plan), replayed_stream(m, plan)))
    check_replayed_group(check)
    m = replace(PADDED, L=4)
    for size, block in [(2, False), (3, True)]:
        plan = Plan(4, 2, 4, True, "full", size, block)
        check.context = f"files, {plan}"
        check_files(check, m, plan, Path(folder) / f"{size}-{block}")


def check_replayed_group(check):
    """A replayed group saves its layers as without recomputation. With many tokens the
    peak is when the first group has been replayed and all others have gradients."""
    plan = Plan(8, B=16, sp=True, recompute="full")
    m = replace(PADDED, L=32)
    check.context = f"peak, {plan}"
    local = local_parameters(m, plan.t) - local_parameters(replace(m, L=31), plan.t)
    layer = saved_per_layer(m, replace(plan, recompute="none")) - local * FP32
    peaks = {}
    for size in (8, 16, 32):
        grouped = replace(plan, layers=size)
        (rank,) = compiled("gpt3-175b", m, grouped, "--dry-run")["classes"]
        peaks[size] = rank["memory"]["peak_bytes"]["total"]
    for size in (8, 16):
        check.equal(f"{size} more layers", peaks[2 * size] - peaks[size], size * layer)


def check_files(check, m, plan, folder):
    """The file of one rank: collectives, saved tensors, one step of the tied table."""
    compiled("gpt3-175b", m, plan, "-o", folder)
    traces.run("stg-trace", "validate", folder)
    nodes = traces.nodes(folder)
    groups = traces.read_groups(folder)
    members = traces.expected_groups(0, plan.t, plan.D)
    axes = {tuple(ranks): axis for axis, ranks in members.items()}
    found = Counter()
    for (kind, group, phase, size), count in traces.file_collectives(nodes).items():
        found[kind, axes[tuple(groups[group])], phase, size] += count
    check.equal("collectives of the file", found, collectives(m, plan))
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


def check_recompute(check, folder):
    """Collectives with recomputation: what is on the wire per layer, and files."""
    for sp, recompute, expected in [
        (False, "none", 352_321_536),
        (True, "none", 440_401_920),
        (False, "selective", 352_321_536),
        (True, "selective", 440_401_920),
        (False, "full", 528_482_304),
        (True, "full", 616_562_688),
    ]:
        plan = Plan(8, B=1, sp=sp, recompute=recompute)
        check.context = str(plan)
        wire = []
        for depth in (2, 3):
            m = replace(PADDED, L=depth)
            summary = compiled("gpt3-175b", m, plan, "--dry-run")
            found = traces.json_collectives(summary)
            check.equal("collectives", found, collective_totals(m, plan))
            wire.append(wire_bytes(summary))
        check.equal("wire bytes of a layer", wire[1] - wire[0], expected)
    m = replace(PADDED, L=2)
    for plan in plans([(4, 2)], ("none", "selective", "full")):
        check.context = f"files, {plan}"
        check_files(check, m, plan, Path(folder) / f"{plan.sp}-{plan.recompute}")


CHECKS = {
    "parameters": check_parameters,
    "operations": check_operations,
    "collectives": check_collectives,
    "activations": check_activations,
    "recompute": check_recompute,
    "groups": check_groups,
}


def main(name):
    """The exit status says whether all numbers agree."""
    check = traces.Checker()
    with tempfile.TemporaryDirectory() as folder:
        CHECKS[name](check, folder)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
