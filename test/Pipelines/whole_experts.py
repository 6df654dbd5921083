"""Compares whole experts (--etp 1) with closed forms.

As with Megatron-Core's --expert-tensor-parallel-size 1, the ranks of tp, then cp, then a
part of dp hold different experts: a device has X / ep of them, of full feed-forward size, and a
token goes from the rank that has it (sequence parallelism) to its experts in one
all-to-all, and back in another.

Usage: whole_experts.py {operations|exchanges|states|groups}...
"""

from dataclasses import replace

import checks
import traces
from checks import LIBRARY, Plan

SMALL = replace(LIBRARY["mixtral-8x7b"], h=32, a=8, g=4, d=4, f=48, V=64, L=4, s=32, E=16, k=2)
B = 16


def step(tp, cp, dp, ep, **others):
    """With whole experts."""
    return Plan(tp=tp, cp=cp, dp=dp, ep=ep, etp=1, batch=B, sequence_parallel=True, **others)


def operations(check):
    """All ranks together execute what one rank does alone."""
    for recompute in ("none", "full"):
        want = check.compile(SMALL, Plan(batch=B, recompute=recompute)).products()
        for plan in (
            step(2, 1, 4, 8), step(4, 1, 1, 4), step(2, 2, 2, 8, cp_comm_type="p2p"),
            step(2, 1, 4, 4, zero=3), step(2, 2, 2, 2), step(2, 2, 2, 1), step(1, 2, 2, 4, zero=1),
            step(2, 1, 2, 4, pp=2, micro_batch=2, zero=1),
        ):
            plan = replace(plan, recompute=recompute)
            check.context = plan
            check.equal("products", check.compile(SMALL, plan).products(), want)
    # Where tp is twice the key/value heads, all tokens have these projections twice.
    projections = 2 * B * SMALL.s * SMALL.h * (2 * SMALL.g * SMALL.d) * SMALL.L
    want = check.compile(SMALL, Plan(batch=B)).products()
    want = {"fwd": want["fwd"] + projections, "bwd": want["bwd"] + 2 * projections}
    check.context = "replicated heads"
    check.equal("products", check.compile(SMALL, step(8, 1, 2, 16)).products(), want)


def exchanges(check):
    """Tokens of a rank, once for each of their experts, there and back."""
    for tp, cp, dp, ep in ((2, 1, 4, 8), (4, 1, 2, 4), (2, 2, 2, 8), (4, 1, 4, 16)):
        plan = step(tp, cp, dp, ep)
        check.context = plan
        moved = [
            (phase, group, *total)
            for (kind, _, group, phase), total in check.compile(SMALL, plan).only.collectives().items()
            if kind == "all_to_all"
        ]
        tokens, times = B * SMALL.s // (tp * cp * dp), 2 * SMALL.L
        size = times * tokens * SMALL.k * SMALL.h * 2
        check.equal("all-to-alls", moved, [("fwd", ep, times, size), ("bwd", ep, times, size)])


def states(check):
    """A rank has E / ep experts; their gradients are reduced where ranks have the same, and there
    ZeRO divides their parameters and moments. Over tp that is one collective, over cp and dp another."""
    m = SMALL
    cases = [(2, 1, 4, 8), (2, 1, 4, 4), (4, 1, 2, 4), (2, 2, 2, 2), (2, 2, 2, 4), (1, 2, 4, 4), (2, 2, 2, 1)]
    for tp, cp, dp, ep in cases:
        plan = step(tp, cp, dp, ep)
        check.context = plan
        experts = m.L * (m.E // ep) * m.gated
        over_tp = m.L * (m.router + 2 * m.h) + m.h  # dense parameters that each rank of tp has
        dense = (m.L * m.projections + 2 * m.V * m.h) // tp + over_tp
        same = tp * cp * dp // max(ep, tp)  # ranks of cp and dp that have the same experts
        entry = check.compile(m, plan).only
        check.equal("parameters", entry.states["parameter"], 2 * (dense + experts))
        reduced = {
            (size, "tp" in axes.split("+")): total
            for (_, axes, size, phase), (_, total) in entry.collectives().items()
            if phase == "grad_sync"
        }
        want = {(cp * dp, False): dense}
        if tp > 1:
            want[tp, True] = over_tp + (experts if ep == 1 else 0)
        if same > 1:
            want[same, False] = want.get((same, False), 0) + experts
        check.equal("gradients", reduced, {group: 4 * parameters for group, parameters in want.items()})
        held = check.compile(m, replace(plan, zero=3)).only.states
        have = dense // (cp * dp) + experts // same
        check.equal("ZeRO 3", held["parameter"], 2 * have)
        check.equal("moments, master weights", held["optimizer"], 12 * have)


def groups(check):
    """Neighbours hold different experts, across cp, too."""
    folder = check.write(SMALL, step(2, 2, 4, 8)).folder
    traces.run("stg-trace", "validate", folder)
    found = {tuple(ranks) for ranks in traces.read_groups(folder).values()}
    neighbours = sorted(g for g in found if len(g) == 8 and g[1] == g[0] + 1)
    check.equal("groups of 8", neighbours, [tuple(range(8)), tuple(range(8, 16))])
    same = sorted(g for g in found if g[1] == g[0] + 8)
    check.equal("same experts", same, [(rank, rank + 8) for rank in range(8)])


if __name__ == "__main__":
    checks.main(operations, exchanges, states, groups)
