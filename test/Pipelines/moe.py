"""Compares stg-compile with closed forms of Mixtral and of Llama 4 on a mesh with expert
parallelism.

The closed forms are computed here from published hyperparameters (arXiv:2401.04088 and
the config.json of the checkpoints), without a look at models/mixtral.mlir: h hidden
size, f feed-forward size of an expert, E experts of which a token goes through k, and one
that all tokens go through in Llama 4; T tokens of a rank, e expert-parallel, t tensor-parallel,
c context-parallel and D data-parallel degree. The plan is Megatron-LM's: e divides D, experts are divided among
e ranks and their columns among t; a rank sends the k copies of each of its tokens to the
ranks of their experts and gets them back, T*k*h elements each way, forward and backward.

Usage: moe.py {published|totals|loads|files}...
"""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import checks
import traces
from checks import BF16, FP32, LIBRARY, Plan

MIXTURES = ("mixtral-8x7b", "mixtral-8x22b", "llama4-scout")


def steps():
    """Plans, and capacity factors; rows that were gathered are kept, as by Megatron-Core, or
    gathered again. Megatron-LM wants sequence parallelism where experts are
    tensor-parallel."""
    for (t, c, e, D, B), capacity, again in [
        ((1, 1, 1, 1, 1), Fraction(1), "none"),
        ((1, 1, 1, 1, 2), Fraction(5, 4), "none"),
        ((1, 1, 1, 2, 2), Fraction(1), "none"),
        ((1, 1, 8, 8, 8), Fraction(1), "none"),
        ((1, 1, 4, 8, 16), Fraction(1), "none"),
        ((1, 1, 4, 8, 8), Fraction(1), "full"),
        ((2, 1, 2, 4, 4), Fraction(1), "none"),
        ((4, 1, 8, 16, 16), Fraction(3, 2), "none"),
        ((2, 1, 2, 4, 4), Fraction(1), "regather"),
        ((2, 2, 4, 8, 8), Fraction(1), "none"),
        ((1, 2, 2, 2, 2), Fraction(2), "none"),
    ]:
        plan = Plan(tp=t, cp=c, ep=e, dp=D, batch=B, sequence_parallel=t > 1, attention_count="full")
        again = dict(keep_gathered="none") if again == "regather" else dict(recompute=again)
        yield replace(plan, **again), capacity


def expert_rows(m, plan):
    """Rows that all experts of a rank work on: the copies of the tokens of the ranks of
    a tensor-parallel group, scaled by the capacity factor."""
    rows = plan.B * m.s * m.k * m.capacity / (plan.D * plan.c)
    assert rows.denominator == 1
    return int(rows)


def local_parameters(m, plan):
    """Of a rank: experts over e and t, projections and vocabulary over t."""
    experts = m.L * m.E * m.gated // (plan.e * plan.t)
    projections = m.L * (m.projections + m.shared * m.gated) // plan.t
    vocabulary = 2 * m.V * m.h // plan.t
    return experts + projections + vocabulary + m.L * m.router + m.norms


def forward_products(m, plan, rows):
    """Operations of each product of a layer, and of the head. The router works on the
    rank's part of the sequence."""
    T = plan.B * m.s // (plan.D * plan.c)
    return m.forward_products(T, T * m.s, plan.t, rows)


def product_operations(m, plan, rows):
    """Operations of a rank by phase; a replay leaves out the head."""
    products = forward_products(m, plan, rows)
    head = products.pop("output")
    layers = m.L * sum(products.values())
    expected = {"fwd": layers + head, "bwd": 2 * (layers + head)}
    return {**expected, "recompute": layers} if plan.recompute == "full" else expected


def expert_collectives(m, plan):
    """(kind, axes, phase) -> (count, bytes) of what belongs to the experts.

    In each layer and way: rows go to their experts by an all-to-all, are gathered over
    t, and the experts' sums are scattered over t and come back by an all-to-all. What
    forward gathered is kept for backward, or gathered again. Each step moves the rows
    that a rank has before it; a gather has one t-th as its input.
    """
    rows = expert_rows(m, plan) * m.h * BF16
    found = {}
    for phase in ("fwd", "bwd", "recompute") if plan.recompute == "full" else ("fwd", "bwd"):
        if plan.e > 1:
            found["all_to_all", "ep", phase] = (2 * m.L, 2 * m.L * rows // plan.t)
        if plan.t > 1:
            assert plan.recompute == "none"
            again = phase == "bwd" and plan.keep_gathered == "none"
            gathers = 2 * m.L if again else m.L
            found["all_gather", "tp", phase] = (gathers, gathers * rows // plan.t)
            found["reduce_scatter", "tp", phase] = (m.L, m.L * rows)
    return found


def check_gradients(check, m, plan, found):
    """Experts are reduced over the ranks that hold them, everything else over all ranks
    that divide the tokens. Without expert parallelism that is the same."""
    axes = {"cp": plan.c, "ep": plan.e, "edp": plan.D // plan.e}
    if plan.e == 1:
        axes = {"cp": plan.c, "dp": plan.D}
    experts = m.L * m.E * m.gated // (plan.e * plan.t)
    others = local_parameters(m, plan) - experts
    expected = Counter()
    for elements, without in ((experts, "ep"), (others, None)):
        over = [axis for axis in axes if axes[axis] > 1 and axis != without]
        if over:
            expected["+".join(over)] += elements * FP32
    sizes = {
        axes: size
        for (kind, axes, phase), (_, size) in found.items()
        if kind == "all_reduce" and phase == "grad_sync" and axes != "tp"
    }
    check.equal("gradients", sizes, dict(expected))


def exchanges(nodes):
    """Counts of (kind, phase, bytes) of what belongs to the experts, in a file."""
    ops = ("dispatch", "combine", "gate_up_proj", "down_proj")
    return Counter(
        (node.kind, node.phase, node.attributes["comm_size"])
        for node in nodes
        if node.type == "COMM_COLL" and node.op in ops
    )


def check_plan(check, m, plan):
    """Totals of one plan of a model."""
    check.context = f"{m} {plan}"
    compiled = check.compile(m, plan)
    check.equal("parameters", compiled["parameters"], m.parameters)
    only = compiled.only
    check.equal("local parameters", only.states["parameter"], local_parameters(m, plan) * BF16)
    expected = product_operations(m, plan, expert_rows(m, plan))
    check.equal("operations in products", only.products, expected)
    found = {
        (kind, axes, phase): total
        for (kind, axes, _, phase), total in only.collectives().items()
    }
    exchanged = {key: total for key, total in found.items() if key[0] == "all_to_all"}
    expected = expert_collectives(m, plan).items()
    expected = {key: total for key, total in expected if key[0] == "all_to_all"}
    check.equal("all-to-alls", exchanged, expected)
    check_gradients(check, m, plan, found)


def loaded_rows(m, plan, loads):
    """Rows of each rank of e under given loads of experts. The tokens' rows of an
    expert-parallel group are cut where an expert's share ends, rounded up; ranks of t
    have their own tokens."""
    rows = plan.e * expert_rows(m, plan) // plan.t
    ends = [0]
    for rank in range(plan.e):
        own = m.E // plan.e
        ends.append(-(-rows * sum(loads[: (rank + 1) * own]) // sum(loads)))
    return [plan.t * (end - begin) for begin, end in zip(ends, ends[1:])]


def check_loads(check, m, plan):
    """Ranks of e execute what their experts get, together as much as with uniform
    routing; all-to-alls have the size of the most loaded one."""
    check.context = f"{m} {plan}"
    compiled = check.compile(m, plan)
    rows = loaded_rows(m, plan, plan.expert_histogram)
    check.equal("rows", sum(rows), plan.e * expert_rows(m, plan))
    for entry in compiled.classes:
        expected = product_operations(m, plan, rows[entry["coordinates"]["ep"]])
        check.equal("operations in products", entry.products, expected)
        sizes = {
            size // count
            for (kind, *_), (count, size) in entry.collectives().items()
            if kind == "all_to_all"
        }
        check.equal("all-to-alls", sizes, {max(rows) // plan.t * m.h * BF16})
    ranks = sum(entry["ranks"] for entry in compiled.classes)
    check.equal("classes", ranks, compiled["ranks"])


def published(check):
    """Numbers that others publish for Mixtral 8x7B."""
    m = LIBRARY["mixtral-8x7b"]
    check.equal("block", m.router + m.E * m.gated, 1_409_318_912)
    one = Plan(batch=1, attention_count="full")
    products = forward_products(m, one, expert_rows(m, one))
    block = products["router"] + products["gate_up_proj"] + products["down_proj"]
    check.equal("block, operations of a token", block // m.s, 704_708_608)
    step = sum(check.compile(m, one).only.products.values())
    check.equal("one sequence", step, 339_697_553_375_232)
    # 4096 tokens of a rank: each all-to-all moves 64 MiB.
    entry = check.compile(m, replace(one, ep=8, dp=8, batch=8)).only
    for (kind, _, _, _), (count, size) in entry.collectives().items():
        if kind == "all_to_all":
            check.equal("payload", size // count, 67_108_864)


def totals(check):
    """Every model and plan."""
    for name in MIXTURES:
        check.equal("published parameters", LIBRARY[name].parameters, checks.CHECKPOINTS[name])
        for plan, capacity in steps():
            check_plan(check, replace(LIBRARY[name], capacity=capacity), plan)


def loads(check):
    """Experts of which some have more to do."""
    for name in MIXTURES:
        m = LIBRARY[name]
        for plan, capacity in steps():
            if plan.e > 1 and capacity == 1:
                for first in ((3, 1, 0, 4, 1, 1, 5, 2), (1, 0.5, 0.125, 0, 0, 0, 0, 2)):
                    all_loads = first + (1,) * (m.E - len(first))
                    check_loads(check, m, replace(plan, expert_histogram=all_loads))


def files(check):
    """What belongs to the experts in a written trace: count and bytes of each call."""
    for plan, capacity in steps():
        if plan.e == 1:
            continue
        m = replace(LIBRARY["mixtral-8x7b"], L=2, capacity=capacity)
        check.context = f"{m} {plan}"
        folder = check.write(m, plan, "--ranks=0:1").folder
        expected = Counter()
        for (kind, _, phase), (count, size) in expert_collectives(m, plan).items():
            expected[kind, phase, size // count] += count
        check.equal("exchanges", exchanges(traces.nodes(folder)), expected)


if __name__ == "__main__":
    checks.main(published, totals, loads, files)
