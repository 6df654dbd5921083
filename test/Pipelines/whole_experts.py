"""Compares experts that are whole (--etp 1), or divided by a part of tp, with closed forms.

As with Megatron-Core's --expert-tensor-parallel-size, etp is the fastest part of tp, and divides
the feed-forward size of experts. The ranks of the rest of tp, then cp, then a part of dp hold
different experts: a device has X / ep of them. A token goes from the rank that has it (sequence
parallelism) to its experts in one all-to-all, and back in another; between them the etp ranks of
an expert gather their rows, and scatter the sums.

Usage: whole_experts.py {operations|exchanges|states|groups}...
"""

from dataclasses import replace

import checks
import traces
from checks import LIBRARY, Plan

SMALL = replace(LIBRARY["mixtral-8x7b"], h=32, a=8, g=4, d=4, f=48, V=64, L=4, s=32, E=16, k=2)
B = 16


def step(tp, cp, dp, ep, etp=1, **others):
    """With experts that are divided by etp ranks."""
    return Plan(tp=tp, cp=cp, dp=dp, ep=ep, etp=etp, batch=B, sequence_parallel=True, **others)


def operations(check):
    """All ranks together execute what one rank does alone."""
    for recompute in ("none", "full"):
        want = check.compile(SMALL, Plan(batch=B, recompute=recompute)).products()
        for plan in (
            step(2, 1, 4, 8), step(4, 1, 1, 4), step(2, 2, 2, 8, cp_comm_type="p2p"),
            step(2, 1, 4, 4, zero=3), step(2, 2, 2, 2), step(2, 2, 2, 1), step(1, 2, 2, 4, zero=1),
            step(2, 1, 2, 4, pp=2, micro_batch=2, zero=1), step(4, 1, 2, 2),
            step(4, 1, 2, 2, etp=2), step(4, 1, 4, 8, etp=2, zero=1), step(4, 2, 2, 8, etp=2),
            step(4, 1, 2, 1, etp=2), step(4, 1, 2, 4, etp=2, pp=2, micro_batch=2),
            step(2, 4, 1, 4), step(1, 4, 2, 2, zero=3), step(2, 4, 1, 4, cp_comm_type="a2a"),
        ):
            plan = replace(plan, recompute=recompute)
            check.context = plan
            check.equal("products", check.compile(SMALL, plan).products(), want)
    # Where tp is a multiple of the key/value heads, all tokens have these projections that often.
    projections = 2 * B * SMALL.s * SMALL.h * (2 * SMALL.g * SMALL.d) * SMALL.L
    alone = check.compile(SMALL, Plan(batch=B)).products()
    for plan, times in (
        (step(8, 1, 2, 16), 1), (step(8, 1, 2, 4, etp=2), 1), (step(8, 1, 1, 2, etp=4), 1),
        (step(8, 1, 2, 8), 1),
    ):
        want = {"fwd": alone["fwd"] + times * projections, "bwd": alone["bwd"] + 2 * times * projections}
        check.context = f"replicated heads, {plan}"
        check.equal("products", check.compile(SMALL, plan).products(), want)


def exchanges(check):
    """Tokens of a rank, once for each of their experts, there and back; the rows of each expert
    on all its ranks."""
    for tp, cp, dp, ep, etp in (
        (2, 1, 4, 8, 1), (4, 1, 2, 4, 1), (2, 2, 2, 8, 1), (4, 1, 4, 16, 1), (4, 1, 2, 2, 1),
        (4, 1, 2, 2, 2), (4, 1, 4, 8, 2), (4, 2, 1, 4, 2), (8, 1, 2, 4, 4), (8, 1, 1, 2, 2),
        (2, 4, 1, 4, 1), (1, 4, 2, 2, 1), (4, 4, 1, 4, 2),
    ):
        plan = step(tp, cp, dp, ep, etp)
        check.context = plan
        found = check.compile(SMALL, plan).only.collectives().items()
        rows = B * SMALL.s // (tp * cp * dp) * SMALL.k * SMALL.h * 2
        moved = [
            (phase, group, *total) for (kind, _, group, phase), total in found if kind == "all_to_all"
        ]
        want = [(phase, ep, 2 * SMALL.L, 2 * SMALL.L * rows) for phase in ("fwd", "bwd")]
        check.equal("all-to-alls", moved, want)
        # All of tp gathers and scatters the stream.
        shared = sorted(
            (kind, phase, group, *total)
            for (kind, axes, group, phase), total in found
            if kind in ("all_gather", "reduce_scatter") and group != tp and not axes.startswith("cp")
        )
        want = [
            (kind, phase, etp, SMALL.L, SMALL.L * size)
            for kind, size in (("all_gather", rows), ("reduce_scatter", etp * rows))
            for phase in ("bwd", "fwd")
        ]
        check.equal("rows of an expert", shared, want if etp > 1 else [])


def states(check):
    """A rank has E / ep experts, and of each a part; their gradients are reduced where ranks have the
    same, and there ZeRO divides their parameters and moments. Over tp that is one collective, over cp
    and dp another."""
    m = SMALL
    cases = [
        (2, 1, 4, 8, 1), (2, 1, 4, 4, 1), (4, 1, 2, 4, 1), (2, 2, 2, 2, 1), (2, 2, 2, 4, 1), (1, 2, 4, 4, 1),
        (2, 2, 2, 1, 1), (4, 1, 2, 2, 1), (4, 1, 4, 2, 2), (4, 1, 4, 4, 2), (4, 2, 2, 4, 2), (8, 1, 2, 2, 2),
        (2, 4, 1, 4, 1), (1, 4, 2, 2, 1), (4, 4, 1, 4, 2), (2, 4, 2, 8, 1),
    ]
    for tp, cp, dp, ep, etp in cases:
        plan = step(tp, cp, dp, ep, etp)
        check.context = plan
        kv = max(tp // m.g, 1)  # ranks that have the same key/value heads
        heads = m.L * m.h * 2 * m.g * m.d  # parameters that make them
        experts = m.L * (m.E // ep) * m.gated // etp
        over_tp = m.L * (m.router + 2 * m.h) + m.h  # dense parameters that each rank of tp has
        dense = (m.L * m.projections + 2 * m.V * m.h + (kv - 1) * heads) // tp + over_tp
        rest = tp // etp  # of tp
        same = cp * dp // (max(ep, rest) // rest)  # ranks of cp and dp that have the same experts
        entry = check.compile(m, plan).only
        check.equal("parameters", entry.states["parameter"], 2 * (dense + experts))
        reduced = {}
        for (kind, axes, size, phase), (_, total) in entry.collectives().items():
            if phase == "grad_sync":
                key = size, axes.startswith(("tp", "etp"))
                reduced[key] = reduced.get(key, 0) + total
        want = {}

        def reduce(size, is_tensor, parameters):
            if size > 1:
                want[size, is_tensor] = want.get((size, is_tensor), 0) + 4 * parameters

        reduce(cp * dp, False, dense)
        reduce(tp, True, over_tp)
        reduce(rest // min(ep, rest), True, experts)
        reduce(kv, True, heads * kv // tp)
        reduce(same, False, experts)
        check.equal("gradients", reduced, want)
        held = check.compile(m, replace(plan, zero=3)).only.states
        have = dense // (cp * dp) + experts // same
        check.equal("ZeRO 3", held["parameter"], 2 * have)
        check.equal("moments, master weights", held["optimizer"], 12 * have)


def groups(check):
    """Neighbours hold different experts, across cp, too; or parts of the same."""
    folder = check.write(SMALL, step(2, 2, 4, 8)).folder
    traces.run("stg-trace", "validate", folder)
    found = {tuple(ranks) for ranks in traces.read_groups(folder).values()}
    neighbours = sorted(g for g in found if len(g) == 8 and g[1] == g[0] + 1)
    check.equal("groups of 8", neighbours, [tuple(range(8)), tuple(range(8, 16))])
    same = sorted(g for g in found if g[1] == g[0] + 8)
    check.equal("same experts", same, [(rank, rank + 8) for rank in range(8)])
    # What etp leaves of tp and the fastest part of cp; the rest of cp has the same again.
    folder = check.write(SMALL, step(2, 4, 1, 4)).folder
    traces.run("stg-trace", "validate", folder)
    found = {tuple(ranks) for ranks in traces.read_groups(folder).values()}
    different = [(0, 1, 2, 3), (4, 5, 6, 7)]
    check.equal("part of cp", sorted(g for g in found if g[0] + 3 == g[-1]), different)
    same = sorted(g for g in found if len(g) == 2 and g[1] == g[0] + 4)
    check.equal("same experts, cp", same, [(rank, rank + 4) for rank in range(4)])
    folder = check.write(SMALL, step(4, 1, 4, 4, etp=2)).folder
    traces.run("stg-trace", "validate", folder)
    found = sorted(tuple(ranks) for ranks in traces.read_groups(folder).values())
    parts = [(first, first + 1) for first in range(0, 16, 2)]
    different = [tuple(range(first, first + 8, 2)) for first in (0, 1, 8, 9)]
    tensor = [tuple(range(first, first + 4)) for first in range(0, 16, 4)]
    data = [tuple(range(first, 16, 4)) for first in range(4)]
    copies = [(rank, rank + 8) for rank in range(8)]
    check.equal("all groups", found, sorted(parts + different + tensor + data + copies))


if __name__ == "__main__":
    checks.main(operations, exchanges, states, groups)
