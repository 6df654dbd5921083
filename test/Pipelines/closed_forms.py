"""Compares what stg-compile makes of the Llama models with closed forms.

The closed forms are computed here from published hyperparameters, without a look at
models/llama.mlir. Symbols follow the literature: h hidden size, a query heads, g
key/value heads, d head size, f feed-forward size, V vocabulary, L layers, s sequence
length, B global batch, t tensor-parallel and D data-parallel degree, b = B/D sequences
of one rank, T = b*s its tokens. Sources:

* Megatron-LM, arXiv:1909.08053: the tensor-parallel layer and its all-reduces, the
  vocabulary-parallel embedding and cross-entropy; rank order with tp fastest.
* Narayanan et al., arXiv:2104.04473: operations of matrix products, 2mnk each, and
  twice as many in the backward pass.
* Korthikanti et al., arXiv:2205.05198: sequence parallelism (each all-reduce becomes
  a reduce-scatter and an all-gather; what a column-parallel layer has gathered is
  gathered again in backward) and activation memory.
* The counts per element of ops that are not products are conventions of this project;
  each op's description states them.

Usage: closed_forms.py {totals|groups|activations} MODEL...
"""

from collections import Counter
from dataclasses import replace

import checks
import traces
from checks import BF16, FP32, ID, LIBRARY, Plan

LLAMAS = ("llama2-7b", "llama2-70b", "llama3-8b", "llama3-70b", "llama3.1-405b")
STEP = Plan(batch=16)


def local_parameters(m, plan):
    """Parameters of a rank: matrices and vocabulary rows / t, norms whole."""
    return sharded_parameters(m, plan.t) + m.norms


def sharded_parameters(m, t):
    """Matrices of the layers, embedding and untied head."""
    whole = m.L * m.matrices + 2 * m.V * m.h
    assert whole % t == 0
    return whole // t


def tokens(m, plan):
    """T: tokens whose matrix products a rank works on."""
    return plan.B // plan.D * m.s


def stream_tokens(m, plan):
    """Tokens of the residual stream that a rank holds."""
    return tokens(m, plan) // plan.stream_shards


# Operations.


def forward_products(m, plan):
    """Operations of each product of one layer ('layers') and of the head.

    Attention works on the pairs of a query and a key that a kernel does not skip: s*s, or
    s(s+1)/2 if it skips what the causal mask hides.
    """
    full = plan.attention_count == "full"
    span = m.s * m.s if full else m.s * (m.s + 1) // 2
    return m.forward_products(tokens(m, plan), plan.B // plan.D * span, plan.t)


def repeats(m, op):
    """How often a product occurs in a forward pass."""
    return 1 if op == "output" else m.L


def product_nodes(m, plan):
    """Counts of (op, phase, operations) of single products.

    A GEMM's backward is dX and dW, each as large as the forward product; that of
    attention is dV, dP, dQ and dK in one fused node, twice the forward products.
    """
    nodes = Counter()
    for op, operations in forward_products(m, plan).items():
        nodes[op, "fwd", operations] += repeats(m, op)
        if op == "attention":
            nodes[op, "bwd", 2 * operations] += m.L
        else:
            nodes[op, "bwd", operations] += 2 * repeats(m, op)
    return nodes


def product_operations(m, plan):
    """Operations in products by phase; backward is twice forward."""
    products = forward_products(m, plan)
    forward = sum(repeats(m, op) * products[op] for op in products)
    return {"fwd": forward, "bwd": 2 * forward}


def other_operations(m, plan):
    """Operations outside products by (op, phase), from the documented counts.

    Per element: rms_norm 4 (+3 per row), its gradient 9 (+1 per row); rope 3 both
    ways; SwiGLU 5, its gradient 4+7+2; add 1, also where backward adds the gradient
    of a norm to that of the residual; cross-entropy 5 (+3 per token), its gradient 1
    (+1 per token); embedding 0, its gradient 1; Adam 14 per parameter.
    """
    T, S, L, t = tokens(m, plan), stream_tokens(m, plan), m.L, plan.t
    norm, norm_gradient, add = S * (4 * m.h + 3), S * (9 * m.h + 1), S * m.h
    queries, keys = T * m.a * m.d // t, T * m.g * m.d // t
    hidden, logits = T * m.f // t, T * m.V // t
    return {
        ("tok_embeddings", "fwd"): 0,
        ("attention_norm", "fwd"): L * norm,
        ("rope_q", "fwd"): L * 3 * queries,
        ("rope_k", "fwd"): L * 3 * keys,
        ("attention_residual", "fwd"): L * add,
        ("ffn_norm", "fwd"): L * norm,
        ("swiglu", "fwd"): L * 5 * hidden,
        ("ffn_residual", "fwd"): L * add,
        ("norm", "fwd"): norm,
        ("cross_entropy", "fwd"): 5 * logits + 3 * T,
        ("cross_entropy", "bwd"): logits + T,
        ("norm", "bwd"): norm_gradient,
        ("swiglu", "bwd"): L * (4 + 7 + 2) * hidden,
        ("ffn_norm", "bwd"): L * (norm_gradient + add),
        ("rope_k", "bwd"): L * 3 * keys,
        ("rope_q", "bwd"): L * 3 * queries,
        ("attention_norm", "bwd"): L * (norm_gradient + add),
        ("tok_embeddings", "bwd"): T * m.h,
        ("parameters", "opt"): 14 * local_parameters(m, plan),
    }


def operations(m, plan):
    """All operations by phase."""
    totals = Counter(product_operations(m, plan))
    for (_, phase), count in other_operations(m, plan).items():
        totals[phase] += count
    return dict(totals)


def nodes_without_operations(plan):
    """The op and phase of nodes that execute nothing.

    A file says 1 there because simulators divide by it. They are the embedding and,
    where the vocabulary is sharded, the op that picks the target's logit.
    """
    picks = [("cross_entropy", "fwd")] if plan.t > 1 else []
    return [("tok_embeddings", "fwd"), *picks]


# Bytes that nodes read and write: every operand and result once.


def product_bytes(m, plan):
    """Bytes of the GEMMs, forward and backward.

    Forward and dX touch x, W and y in the activations' type; dW writes a gradient.
    """
    T, t = tokens(m, plan), plan.t
    rows = {  # op: (inner elements per token, outer ones, elements of W)
        "qkv_proj": (m.h, m.qkv // t, m.h * m.qkv // t),
        "o_proj": (m.a * m.d // t, m.h, m.a * m.d * m.h // t),
        "gate_up_proj": (m.h, 2 * m.f // t, 2 * m.f * m.h // t),
        "down_proj": (m.f // t, m.h, m.f * m.h // t),
        "output": (m.h, m.V // t, m.h * m.V // t),
    }
    total = 0
    for op, (inner, outer, weights) in rows.items():
        stream = T * (inner + outer) * BF16
        forward = stream + weights * BF16
        total += repeats(m, op) * (2 * forward + stream + weights * plan.gradient)
    return total


def layer_bytes(m, plan):
    """Bytes of the other ops of one layer, forward and backward."""
    T, S, t = tokens(m, plan), stream_tokens(m, plan), plan.t
    heads, pairs = m.a * m.d // t, m.g * m.d // t
    attention = T * (BF16 * (2 * heads + 2 * pairs) + FP32 * m.a // t)
    attention += T * (BF16 * (4 * heads + 4 * pairs) + FP32 * m.a // t)
    rope = 2 * 2 * T * BF16 * (heads + pairs)
    swiglu = T * BF16 * (3 + 5) * (m.f // t)
    adds = 4 * S * BF16 * 3 * m.h
    return 2 * norm_bytes(m, plan) + attention + rope + swiglu + adds


def norm_bytes(m, plan):
    """x, w -> y, rstd; then x, w, rstd, dy -> dx, dw."""
    S = stream_tokens(m, plan)
    forward = S * (2 * m.h * BF16 + FP32) + m.h * BF16
    backward = S * (3 * m.h * BF16 + FP32) + m.h * (BF16 + plan.gradient)
    return forward + backward


def embedding_bytes(m, plan):
    """A row of the table per id, not the table; backward writes its whole gradient."""
    T = tokens(m, plan)
    forward = T * (ID + 2 * m.h * BF16)
    return forward + T * (ID + m.h * BF16) + m.V * m.h // plan.t * plan.gradient


def cross_entropy_bytes(m, plan):
    """Logits to fp32 softmax and back.

    Fused: logits, labels -> loss, softmax. Over a sharded vocabulary: maximum,
    exponential and sum, target (one element read per token), loss from the three,
    normalization.
    """
    T, V = tokens(m, plan), m.V // plan.t
    forward = T * (V * (BF16 + FP32) + ID + FP32)
    if plan.t > 1:
        maximum = T * (V * BF16 + FP32)
        exp_sum = T * (V * (BF16 + FP32) + 2 * FP32)
        pick = T * (BF16 + ID + FP32)
        normalize = T * (2 * V * FP32 + FP32)
        forward = maximum + exp_sum + pick + T * 4 * FP32 + normalize
    return forward + T * (V * (FP32 + BF16) + ID)


def optimizer_bytes(m, plan):
    """Gradient read, three fp32 states read and written, parameter written."""
    return local_parameters(m, plan) * (plan.gradient + 3 * 2 * FP32 + BF16)


def memory_traffic(m, plan):
    """All bytes that compute nodes read and write."""
    return (
        product_bytes(m, plan)
        + m.L * layer_bytes(m, plan)
        + norm_bytes(m, plan)
        + embedding_bytes(m, plan)
        + cross_entropy_bytes(m, plan)
        + optimizer_bytes(m, plan)
    )


# Communication.


def collectives(m, plan):
    """Counts of (kind, axis, phase, bytes of the input buffer of one call)."""
    calls = Counter()
    stream = tokens(m, plan) * m.h * BF16
    blocks = 2 * m.L + 1  # attentions and feed-forwards, and embedding or head
    if plan.stream_shards > 1:
        shard = stream // plan.t
        # Forward: scattered behind embedding, o_proj and down_proj, gathered before
        # qkv_proj, gate_up_proj and the head. Backward: the conjugates.
        calls["reduce_scatter", "tp", "fwd", stream] = blocks
        calls["all_gather", "tp", "fwd", shard] = blocks
        calls["reduce_scatter", "tp", "bwd", stream] = blocks
        calls["all_gather", "tp", "bwd", shard] = blocks * (1 if plan.keep_gathered == "all" else 2)
        calls.update(gradient_reductions(m, plan, "tp", 0))
    elif plan.t > 1:
        calls["all_reduce", "tp", "fwd", stream] = blocks
        calls["all_reduce", "tp", "bwd", stream] = blocks
    if plan.t > 1:  # cross-entropy: maximum, sum of exponentials, target logit
        calls["all_reduce", "tp", "fwd", tokens(m, plan) * FP32] += 3
    if plan.D > 1:
        calls.update(gradient_reductions(m, plan, "dp", sharded_parameters(m, plan.t)))
    return calls


def gradient_reductions(m, plan, axis, sharded):
    """All-reduces of the gradients of all norms and of `sharded` other parameters."""
    gradients = (sharded + m.norms) * plan.gradient
    if plan.gradient_reduction == "flat":
        return Counter({("all_reduce", axis, "grad_sync", gradients): 1})
    matrices = m.matrices // plan.t if sharded else 0
    layer = (matrices + 2 * m.h) * plan.gradient
    rest = gradients - m.L * layer
    key = ("all_reduce", axis, "grad_sync")
    return Counter({(*key, layer): m.L, (*key, rest): 1})


def collective_totals(m, plan):
    """The same, as stg-compile sums it up."""
    totals = {}
    for (kind, axis, phase, size), count in collectives(m, plan).items():
        key = (kind, axis, plan.t if axis == "tp" else plan.D, phase)
        before = totals.get(key, (0, 0))
        totals[key] = (before[0] + count, before[1] + count * size)
    return totals


# Memory.


def persistent(m, plan):
    """Bytes throughout a step: parameters, fp32 master copy and two fp32 moments."""
    parameters = local_parameters(m, plan)
    parts = {
        "parameter": parameters * BF16,
        "optimizer": parameters * 3 * FP32,
        "input": 2 * tokens(m, plan) * ID,
    }
    return {"total": sum(parts.values()), **parts}


def saved_per_layer(m, plan):
    """Bytes that one layer saves for its backward pass.

    Korthikanti et al. applied to a bf16 Llama layer with a flash attention. Tensor
    parallelism shards what lies between column- and row-parallel layers, sequence
    parallelism the rest, except that the two inputs of column-parallel layers stay whole
    if kept gathered.
    """
    T, S = tokens(m, plan), stream_tokens(m, plan)
    column_inputs = (T if plan.keep_gathered == "all" else S) * 4 * m.h
    outside = S * (m.saved_outside - 4 * m.h)
    return outside + column_inputs + T * m.saved_inside // plan.t


def saved_by_head(m, plan):
    """The last norm's input, output and rstd, and the fp32 softmax."""
    T, S = tokens(m, plan), stream_tokens(m, plan)
    column_input = T if plan.keep_gathered == "all" else S
    return S * (2 * m.h + 4) + column_input * 2 * m.h + T * m.V // plan.t * FP32


def saved(m, plan):
    """All that forward saves for backward."""
    return m.L * saved_per_layer(m, plan) + saved_by_head(m, plan)


# The closed forms themselves, at values that were computed elsewhere: worked examples
# of Llama 3 8B, and the published counts.


def check_forms(check):
    """Guards the formulas above against slips of the pen."""
    check.context = "closed forms"
    m = LIBRARY["llama3-8b"]
    one = replace(STEP, batch=1)
    whole = replace(one, attention_count="full")
    layer = lambda t: m.matrices // t + 2 * m.h  # noqa: E731
    check.equal("parameters of a layer", layer(1), 218_112_000)
    check.equal("parameters of a layer, t = 2", layer(2), 109_060_096)
    causal = forward_products(m, one)
    full = forward_products(m, whole)
    linear = sum(causal[op] for op in causal if op.endswith("proj"))
    check.equal("projections per token", linear // m.s, 436_207_616)
    check.equal("attention, causal", causal["attention"], 549_822_922_752)
    check.equal("attention, full", full["attention"], 1_099_511_627_776)
    for plan, expected in [(one, 421_651_971_833_856), (whole, 474_422_087_516_160)]:
        found = sum(product_operations(m, plan).values())
        check.equal("products of a step", found, expected)
    check.equal("saved per token", saved_per_layer(m, one) // m.s, 139_400)
    for name in LLAMAS:
        check.equal(f"{name}: parameters", LIBRARY[name].parameters, checks.CHECKPOINTS[name])


# Comparisons.


def check_summary(check, m, plan, compiled):
    """The compiler's own totals."""
    only = compiled.only
    check.equal("parameters", compiled["parameters"], checks.CHECKPOINTS[m.name])
    check.equal("sequence length", compiled["symbols"]["S"], m.s)
    check.equal("ranks", (compiled["ranks"], only["ranks"]), (plan.ranks,) * 2)
    check.equal("operations in products", only.products, product_operations(m, plan))
    phases = operations(m, plan)
    check.equal("operations", only["operations_by_phase"], phases)
    check.equal("sum of operations", only["operations"], sum(phases.values()))
    check.equal("traffic", only["memory_traffic_bytes"], memory_traffic(m, plan))
    check.equal("collectives", only.collectives(), collective_totals(m, plan))
    check.equal("persistent memory", only.states, persistent(m, plan))
    gradients = local_parameters(m, plan) * plan.gradient
    check.equal("gradients", only.largest["gradient"], gradients)
    check.equal("saved activations", only.largest["activation"], saved(m, plan))


def check_statistics(check, m, plan, rank, groups):
    """What stg-trace sums up over one rank's file."""
    check.equal(
        "num_ops",
        rank["num_ops"],
        sum(operations(m, plan).values()) + len(nodes_without_operations(plan)),
    )
    check.equal("tensor_size", rank["tensor_size"], memory_traffic(m, plan))
    found = Counter()
    for entry in rank["collectives"]:
        members = tuple(groups[entry["group"]])
        for size, count in entry["sizes"].items():
            found[entry["type"].lower(), members, int(size)] += count
    members = traces.expected_groups(rank["rank"], plan.t, plan.D)
    expected = Counter()
    for (kind, axis, _, size), count in collectives(m, plan).items():
        expected[kind, tuple(members[axis]), size] += count
    check.equal("collectives of the file", found, expected)


def check_compute_nodes(check, m, plan, nodes):
    """Each product, and the sums over each other op of the model."""
    multiplies = forward_products(m, plan)
    products, others = Counter(), Counter()
    for node in nodes:
        if node.type != "COMP":
            continue
        count = node.attributes["num_ops"]
        if node.phase == "opt":
            others["parameters", "opt"] += count
        elif node.op in multiplies:
            products[node.op, node.phase, count] += 1
        else:
            others[node.op, node.phase] += count
    check.equal("products of the file", products, product_nodes(m, plan))
    expected = Counter(other_operations(m, plan))
    expected.update(nodes_without_operations(plan))
    check.equal("other operations of the file", others, expected)


def check_nodes(check, m, plan, nodes, groups):
    """The nodes of the file of rank 0, each with its phase."""
    check_compute_nodes(check, m, plan, nodes)
    members = traces.expected_groups(0, plan.t, plan.D)
    found = Counter()
    for (kind, group, phase, size), count in traces.file_collectives(nodes).items():
        found[kind, tuple(groups[group]), phase, size] += count
    expected = Counter(
        {
            (kind, tuple(members[axis]), phase, size): count
            for (kind, axis, phase, size), count in collectives(m, plan).items()
        }
    )
    check.equal("collectives of the file by phase", found, expected)
    found = traces.saved_bytes(nodes)
    check.equal("saved activations of the file", found, saved(m, plan))


def check_plan(check, m, plan):
    """One compilation at full depth, with the files of the first ranks.

    The attention count changes numbers and no structure, so that one plan with files
    is enough for the count of the full square.
    """
    check.context = f"{m} {plan}"
    if plan.attention_count == "full" and plan != FULL:
        check_summary(check, m, plan, check.compile(m, plan))
        return
    ranks = min(2, plan.ranks)
    compiled = check.write(m, plan, f"--ranks=0:{ranks}")
    check_summary(check, m, plan, compiled)
    groups = traces.read_groups(compiled.folder)
    statistics = traces.stats(compiled.folder)
    check.equal("files", len(statistics), ranks)
    for rank in statistics:
        check_statistics(check, m, plan, rank, groups)
    check_nodes(check, m, plan, traces.nodes(compiled.folder), groups)


FULL = replace(STEP, tp=8, dp=8, sequence_parallel=True, attention_count="full")


def plans():
    """Every combination of degrees with and without sequence parallelism."""
    for t in (1, 2, 4, 8):
        for D in (1, 2, 8):
            for sp in (False, True) if t > 1 else (False,):
                for count in ("executed", "full"):
                    yield replace(STEP, tp=t, dp=D, sequence_parallel=sp, attention_count=count)
    plan = replace(STEP, tp=8, dp=2, sequence_parallel=True)
    yield replace(plan, keep_gathered="all")
    yield replace(plan, grad_dtype="bf16")
    yield replace(plan, gradient_reduction="per-layer")


def totals(check, *names):
    """All numbers of models."""
    check_forms(check)
    for name in names:
        for plan in plans():
            check_plan(check, LIBRARY[name], plan)


def groups(check, name):
    """Files of all ranks, of a model of two layers: who talks to whom."""
    check_forms(check)
    m = replace(LIBRARY[name], L=2)
    for t in (1, 2, 4, 8):
        for D in (1, 2, 8):
            plan = replace(STEP, tp=t, dp=D, sequence_parallel=True)
            check.context = f"{m} {plan}"
            folder = check.write(m, plan).folder
            found = traces.read_groups(folder)
            check.equal("groups", sorted(found.values()), all_groups(t, D))
            statistics = traces.stats(folder)
            check.equal("files", [r["rank"] for r in statistics], list(range(t * D)))
            for rank in statistics:
                check_statistics(check, m, plan, rank, found)


def all_groups(t, D):
    """Every group of a mesh, once."""
    members = [traces.expected_groups(rank, t, D).values() for rank in range(t * D)]
    return sorted(map(list, {tuple(group) for some in members for group in some}))


def activations(check, *names):
    """Memory of saved activations: one layer more, and the peak itself.

    With 65536 tokens a rank the activations outweigh the gradients, so that the peak
    is in the cross-entropy, where all layers' saved tensors are alive: from one depth
    to the next, the peak's category `activation` grows by exactly what a layer saves.
    (With few tokens the peak is at the end of backward, where gradients are whole and
    saved tensors gone; no closed form of activations is comparable with that peak.)
    A sharded vocabulary can be so small that the peak is one op earlier, in the head,
    where the softmax is not made yet.
    On one rank the peak itself has a closed form: the cross-entropy reads logits and
    writes the softmax, which is saved, and the loss.
    """
    check_forms(check)
    for name in names:
        for t in (1, 2, 8):
            for sp in (False, True) if t > 1 else (False,):
                batch = 65536 // LIBRARY[name].s
                check_activations(check, name, Plan(tp=t, batch=batch, sequence_parallel=sp))


def check_activations(check, name, plan):
    """Two depths of one model."""
    check.context = f"{name} {plan}"
    peaks = []
    for layers in (2, 3):
        m = replace(LIBRARY[name], L=layers)
        memory = check.compile(m, plan).only["memory"]
        peaks.append(memory)
        peak_op = memory["peak_at"].split(".")[0]
        check.equal("peak known", peak_op in ("output", "cross_entropy"), True)
        activation = memory["peak_bytes"]["activation"]
        if peak_op == "output":
            activation += tokens(m, plan) * m.V // plan.t * FP32
        check.equal("saved at the peak", activation, saved(m, plan))
        if plan.t == 1:
            temporary = tokens(m, plan) * (m.V * BF16 + FP32)
            peak = persistent(m, plan)["total"] + saved(m, plan) + temporary
            check.equal("peak", memory["peak_bytes"]["total"], peak)
    for key in ("peak_bytes", "largest_bytes"):
        grown = peaks[1][key]["activation"] - peaks[0][key]["activation"]
        layer = saved_per_layer(LIBRARY[name], plan)
        check.equal(f"{key} of one layer", grown, layer)


if __name__ == "__main__":
    checks.main(totals, groups, activations)
