"""Compares stg-compile with training steps of a mixture of experts that really ran.

The set `moe` of Inputs/executed.json is what was counted while a small Llama with four
experts, two for each token, trained in PyTorch on 1 to 4 processes that exchanged their
tokens; every expert got equally many. executed.py says what is compared and which two
differences attention makes; what is particular here:

* A run multiplies the rows of one expert at a time. A node of a trace is the product of
  all experts of the rank, so its operations are the sum of theirs.
* A run keeps three vectors of 8-byte indices a layer, which are not in its total of
  floats. Here the chosen experts are kept as one tensor of 4-byte integers.

Usage: moe_executed.py mixture MODEL_FILE
"""

from collections import Counter

import checks
import traces
from checks import FP32, ID
from executed import FACTS, matrix_operations, plan, rows, sizes, state_bytes

PRODUCTS = (
    "qkv_proj",
    "attention",
    "o_proj",
    "router",
    "gate_up_proj",
    "down_proj",
    "output",
)

# The group of the runs that collectives over these axes of the mesh are in.
GROUPS = {"ep": "ep", "edp": "edp", "ep+edp": "dp"}


def products(model, run):
    """Counts of (phase, operations) of single products: attention fused per layer, and
    the products of the rank's experts, which have the rows of one expert each."""
    layers, experts = model["L"], model["X"] // run["ep"]
    counts = Counter()
    attention = Counter()
    for row in rows(run, "matmul_detail"):
        operations = 2 * row["batch"] * row["m"] * row["n"] * row["k"]
        assert row["flops_total"] == operations * row["count"]
        if row["batch"] > 1:
            attention[row["phase"]] += operations * row["count"] // layers
        elif row["count"] == experts * layers:
            counts[row["phase"], experts * operations] += layers
        else:
            assert row["count"] in (1, layers)
            counts[row["phase"], operations] += row["count"]
    for phase, operations in attention.items():
        counts[phase, operations] += layers
    return counts


def op_of(tag):
    """moe.dispatch.dgrad -> dispatch; None for gradients, which have no op."""
    kind, op = tag.split(".")[:2]
    return op if kind == "moe" else None


def calls(run, members):
    """Counts of (kind, ranks, phase, op, bytes of one call)."""
    counts = Counter()
    for row in rows(run, "comm_detail"):
        key = (row["kind"], tuple(members[row["group"]]), row["phase"])
        counts[(*key, op_of(row["tag"]), row["input_bytes_each"])] += row["count"]
    return counts


def totals(counts):
    """(kind, ranks, phase) -> (count, bytes)."""
    result = {}
    for (kind, ranks, phase, _, size), count in counts.items():
        before = result.get((kind, ranks, phase), (0, 0))
        result[kind, ranks, phase] = (before[0] + count, before[1] + count * size)
    return result


def choices(model):
    """Bytes of the chosen experts of all layers."""
    return model["L"] * model["B_per_dp"] * model["S"] * model["A"] * ID


def saved(model, run):
    """Bytes that the run saves, with one log-sum-exp in place of each row of a softmax
    of attention, and with the choices."""
    attention_rows = model["B_per_dp"] * model["H"] * model["S"]
    difference = model["L"] * attention_rows * (model["S"] - 1) * FP32
    return run["saved_activation_float_bytes_peak"] - difference + choices(model)


def check_totals(check, model, run, only):
    """The compiler's totals; its groups are those of rank 0."""
    check.equal("operations in products", only.products, matrix_operations(run))
    members = run["groups"][0]
    found = {
        (kind, tuple(members[GROUPS[axes]]), phase): total
        for (kind, axes, _, phase), total in only.collectives().items()
    }
    check.equal("collectives", found, totals(calls(run, members)))
    check.equal("parameters", only.states["parameter"], run["param_bytes"])
    check.equal("optimizer state", only.states["optimizer"], run["optimizer_state_bytes"])
    check.equal("gradients", only.largest["gradient"], run["grad_bytes"])
    check.equal("activations", only.largest["activation"], saved(model, run))


def check_nodes(check, model, run, rank, nodes, groups):
    """The nodes of one rank's file."""
    found = Counter(
        (node.phase, node.attributes["num_ops"])
        for node in nodes
        if node.type == "COMP" and node.phase in ("fwd", "bwd") and node.op in PRODUCTS
        # The sum of the gradients that the router and the experts give of a token.
        and not node.name.endswith(".add")
    )
    check.equal("products of the file", found, products(model, run))
    found = Counter()
    for node in nodes:
        if node.type == "COMM_COLL":
            ranks = tuple(groups[node.attributes["pg_name"]])
            op = node.op if node.phase != "grad_sync" else None
            size = node.attributes["comm_size"]
            found[node.kind, ranks, node.phase, op, size] += 1
    expected = calls(run, run["groups"][rank])
    check.equal("collectives of the file", found, expected)
    states = state_bytes(nodes)
    check.equal("parameters of the file", states["parameter"], run["param_bytes"])
    check.equal("gradients of the file", states["gradient"], run["grad_bytes"])
    check.equal("activations of the file", traces.saved_bytes(nodes), saved(model, run))


def mixture(check, model_file):
    """All runs, all their ranks."""
    model = FACTS["moe"]["model"]
    for name, run in FACTS["moe"]["configurations"].items():
        check.context = name
        flags = sizes(model, "mixtral-8x7b")
        compiled = check.write(model_file, plan(model, run, ep=run["ep"]), *flags)
        check_totals(check, model, run, compiled.only)
        groups = traces.read_groups(compiled.folder)
        check.equal("ranks", compiled["ranks"], len(run["groups"]))
        for rank in range(len(run["groups"])):
            nodes = traces.nodes(compiled.folder, rank)
            check_nodes(check, model, run, rank, nodes, groups)


if __name__ == "__main__":
    checks.main(mixture)
