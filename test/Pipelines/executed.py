"""Compares stg-compile with training steps that really ran.

Inputs/executed.json holds what was counted while small Llama models trained in
PyTorch on 1 to 4 processes: each matrix product, each collective, the bytes of
parameters, gradients and optimizer state, and the tensors that autograd held for the
backward pass. The same models are compiled here (`models/llama.mlir` with other symbol
values, everything fp32, the full attention square counted, as the runs count it), and
the numbers must be equal: those of `stg-compile --json` and those of the files.

Two things differ by definition, and the differences are computed, not tolerated:

* Attention. The runs multiply QK^T and PV separately; a node of a trace is the fused
  kernel, so its operations are the sum of the two products (backward: of the four).
* What attention saves. The runs keep the softmax of [heads, s, s]; the fused kernel
  keeps one log-sum-exp per head and query.

Besides, autograd also holds integers and masks (ids and labels of 8 bytes, one or two
bool masks): they are in the run's total and not in its total of floats, which is the
one compared. In a trace ids and labels are inputs of the step, of 4 bytes.

With recomputation (`recompute`) a run's backward pass replays what its forward
pass did not keep. Its largest sum of saved tensors is then that of one replayed layer
and all inputs of layers, or with `selective`, which drops the softmax only, still that
at the end of forward.

A GPT (`gpt`) adds the embeddings of learned positions to those of tokens. With
sequence parallelism both are made whole on each rank, which keeps a slice of their sum.

Usage: executed.py {llama|gpt|recompute} MODEL_FILE
"""

import json
from collections import Counter
from pathlib import Path

import checks
import traces
from checks import FP32, ID, Plan

FACTS = json.loads((Path(__file__).parent / "Inputs" / "executed.json").read_text())

# The op of the model that the first part of a run's tag names.
OPS = {
    "embed": "tok_embeddings",
    "attn.qkv": "qkv_proj",
    "attn.out": "o_proj",
    "mlp.in": "gate_up_proj",
    "mlp.out": "down_proj",
    "head": "output",
    "ce": "cross_entropy",
    "sp_grads": "gradients",
    "dp": "gradients",
}

# The gradient of a GPT's embeddings is gathered for both tables, the positions first.
GPT_OPS = {**OPS, "mlp.in": "fc1", "mlp.out": "fc2"}
del GPT_OPS["embed"]
GPT_OPS.update({"embed.ar": "tok_embeddings", "embed.scatter": "pos_embeddings"})

# The ops that multiply matrices.
PRODUCTS = ("qkv_proj", "attention", "o_proj", "gate_up_proj", "down_proj", "output")
PRODUCTS += ("fc1", "fc2")

# Those in which a run multiplies matrices.
RUN_PHASES = ("fwd", "recompute", "bwd")

# The text of models/gpt.mlir that ties the head to the token embedding.
TIED = "tied = true"


def rows(run, table):
    """A table of executed.json as dictionaries."""
    return [dict(zip(run[f"{table}_fields"], row)) for row in run[table]]


def is_gpt(model):
    """Whether it learns positions; the other models are Llamas."""
    return "P" in model


def op_of(model, tag):
    """attn.qkv.ag.again -> qkv_proj."""
    ops = GPT_OPS if is_gpt(model) else OPS
    (op,) = [op for start, op in ops.items() if f"{tag}.".startswith(f"{start}.")]
    return op


def sizes(model, config):
    """The flags that make the model of a run of one that is in the library."""
    values = {name: value for name, value in model.items() if name != "B_per_dp"}
    return [f"--config={config}", *(f"--set={name}={value}" for name, value in values.items())]


def plan(model, run, **others):
    """The plan of a run."""
    recompute, batch = run.get("recompute", "none"), model["B_per_dp"] * run["dp"]
    return Plan(dp=run["dp"], batch=batch, recompute=recompute, dtype="f32", attention_count="full", **others)


def products(run, layers):
    """Counts of (phase, operations) of single products, attention fused per layer."""
    counts = Counter()
    attention = Counter()
    for row in rows(run, "matmul_detail"):
        operations = 2 * row["batch"] * row["m"] * row["n"] * row["k"]
        assert row["flops_total"] == operations * row["count"]
        if row["batch"] == 1:
            counts[row["phase"], operations] += row["count"]
        else:
            assert row["count"] % layers == 0
            attention[row["phase"]] += operations * row["count"] // layers
    for phase, operations in attention.items():
        counts[phase, operations] += layers
    return counts


def calls(model, run):
    """Counts of (kind, axis, phase, op, bytes of the input of one call)."""
    counts = Counter()
    for row in rows(run, "comm_detail"):
        key = (row["kind"], row["group"], row["phase"], op_of(model, row["tag"]))
        counts[(*key, row["input_bytes_each"])] += row["count"]
    return counts


def totals_by_phase(model, run):
    """The same, as stg-compile sums it up."""
    totals = {}
    for (kind, axis, phase, _, size), count in calls(model, run).items():
        key = (kind, axis, run[axis], phase)
        before = totals.get(key, (0, 0))
        totals[key] = (before[0] + count, before[1] + count * size)
    return totals


def saved_floats(model, run):
    """Float bytes that the run holds when its forward pass ends."""
    if run.get("recompute") != "full":
        return run["saved_activation_float_bytes_peak"]
    return run["saved_activation_bytes_after_first_forward"] - integers(model, run)


def attention_difference(model, run):
    """Bytes of one layer's softmax less those of its log-sum-exps."""
    rows_of_attention = model["B_per_dp"] * model["H"] // run["tp"] * model["S"]
    return rows_of_attention * (model["S"] - 1) * FP32


def saved(model, run):
    """Float bytes that the run saves, with log-sum-exps in place of softmaxes.

    A run that replays attention or whole layers saves neither.
    """
    if "recompute" in run:
        return saved_floats(model, run)
    return saved_floats(model, run) - model["L"] * attention_difference(model, run)


def replayed(model, run):
    """Bytes that all replays of whole layers make and backward reads.

    The run's peak is in the backward pass of the last layer: all inputs of layers,
    and what one layer replays.
    """
    stream = model["B_per_dp"] * model["S"] * model["D"] * FP32
    inputs = model["L"] * stream // (run["tp"] if run["sp"] else 1)
    layer = run["saved_activation_float_bytes_peak"] - inputs
    return model["L"] * (layer - attention_difference(model, run))


def integers(model, run):
    """Bytes of ids, labels and a mask, and of a second mask for a sharded embedding;
    positions are the same for all sequences."""
    each = 8 + 8 + (2 if run["tp"] > 1 else 1)
    positions = 8 * model["S"] if is_gpt(model) else 0
    return each * model["B_per_dp"] * model["S"] + positions


def integers_at_peak(model, run):
    """With full recomputation the head's labels and mask are gone by then."""
    head = 8 + 1 if run.get("recompute") == "full" else 0
    return integers(model, run) - head * model["B_per_dp"] * model["S"]


def inputs(model, run):
    """Bytes of ids and labels, and of positions."""
    return (3 if is_gpt(model) else 2) * model["B_per_dp"] * model["S"] * ID


def matrix_operations(run):
    """By phase; what a run calls `bwd` contains `recompute`."""
    again = run.get("matmul_flops_recompute", 0)
    result = {"fwd": run["matmul_flops_fwd"], "bwd": run["matmul_flops_bwd"] - again}
    return {**result, "recompute": again} if again else result


def check_totals(check, model, run, only):
    """The compiler's totals."""
    check.equal("operations in products", only.products, matrix_operations(run))
    check.equal("collectives", only.collectives(), totals_by_phase(model, run))
    check.equal("parameters", only.states["parameter"], run["param_bytes"])
    check.equal("optimizer state", only.states["optimizer"], run["optimizer_state_bytes"])
    check.equal("gradients", only.largest["gradient"], run["grad_bytes"])
    check.equal("activations", only.largest["activation"], saved(model, run))
    check.equal("ids and labels", only.states["input"], inputs(model, run))
    check.equal(
        "integers of the run",
        run["saved_activation_bytes_peak"] - run["saved_activation_float_bytes_peak"],
        integers_at_peak(model, run),
    )


def state_bytes(nodes):
    """Bytes by kind of state ('parameter', 'optimizer'), and of all gradients, from
    the inputs of the optimizer's nodes."""
    found = Counter()
    for node in nodes:
        if node.phase == "opt":
            for name, size in node.tensors("inputs"):
                kind = name.split("/")[0] if "/" in name else "gradient"
                found[kind] += size
    return found


def check_nodes(check, model, run, nodes, axes):
    """The nodes of one rank's file; `axes` names its groups."""
    found = Counter(
        (node.phase, node.attributes["num_ops"])
        for node in nodes
        if node.type == "COMP" and node.phase in RUN_PHASES and node.op in PRODUCTS
    )
    check.equal("products of the file", found, products(run, model["L"]))
    found = Counter()
    for node in nodes:
        if node.type == "COMM_COLL":
            axis, size = axes[node.attributes["pg_name"]], node.attributes["comm_size"]
            found[node.kind, axis, node.phase, node.op, size] += 1
    check.equal("collectives of the file", found, calls(model, run))
    states = state_bytes(nodes)
    check.equal("parameters of the file", states["parameter"], run["param_bytes"])
    optimizer = run["optimizer_state_bytes"]
    check.equal("optimizer of the file", states["optimizer"], optimizer)
    check.equal("gradients of the file", states["gradient"], run["grad_bytes"])
    check.equal("activations of the file", traces.saved_bytes(nodes), saved(model, run))
    if run.get("recompute") == "full":
        found = traces.saved_bytes(nodes, "recompute")
        check.equal("replayed tensors of the file", found, replayed(model, run))


def check_statistics(check, model, run, rank, axes):
    """What stg-trace sums up, against the run's own totals."""
    found = Counter()
    for entry in rank["collectives"]:
        key = (entry["type"].lower(), axes[entry["group"]], entry["group_size"])
        found[(*key, "count")] += entry["count"]
        found[(*key, "bytes")] += entry["bytes"]
    expected = Counter()
    for row in rows(run, "comm"):
        key = (row["kind"], row["group"], row["group_size"])
        expected[(*key, "count")] += row["count"]
        expected[(*key, "bytes")] += row["input_bytes_total"]
    check.equal("totals of collectives", found, expected)


def axes_of(groups, members):
    """Group -> axis, for the groups of one rank."""
    return {
        group: axis
        for group, ranks in groups.items()
        for axis, expected in members.items()
        if ranks == expected
    }


def untie(model_file, folder):
    """A copy of the model whose head has a table of its own."""
    text = Path(model_file).read_text()
    assert text.count(TIED) == 1
    copy = Path(folder) / "untied.mlir"
    copy.write_text(text.replace(TIED, "tied = false"))
    return copy


def check_run(check, model_file, model, run):
    """One run, all its ranks."""
    config = "gpt2-1.5b" if is_gpt(model) else "llama3-8b"
    step = plan(model, run, tp=run["tp"], sequence_parallel=run["sp"])
    compiled = check.write(model_file, step, *sizes(model, config))
    check_totals(check, model, run, compiled.only)
    groups = traces.read_groups(compiled.folder)
    statistics = traces.stats(compiled.folder)
    check.equal("ranks", len(statistics), len(run["groups"]))
    for rank, members in enumerate(run["groups"]):
        axes = axes_of(groups, members)
        check_statistics(check, model, run, statistics[rank], axes)
        check_nodes(check, model, run, traces.nodes(compiled.folder, rank), axes)


def check_runs(check, facts, model_file):
    """All runs of a set."""
    for name, run in facts["configurations"].items():
        check.context = name
        file = model_file if run.get("tied", True) else untie(model_file, check.folder)
        check_run(check, file, facts["model"], run)


def llama(check, model_file):
    """Tensor, sequence and data parallelism."""
    check_runs(check, FACTS, model_file)


def gpt(check, model_file):
    """The same with learned positions."""
    check_runs(check, FACTS["gpt"], model_file)


def recompute(check, model_file):
    """Llamas that replay layers or attention."""
    check_runs(check, FACTS["recompute"], model_file)


if __name__ == "__main__":
    checks.main(llama, gpt, recompute)
