"""Compares whole experts (--etp 1) with closed forms.

As with Megatron-Core's --expert-tensor-parallel-size 1, the ranks of tp, then cp, then a
part of dp hold different experts: a device has X / ep of them, of full feed-forward size, and a
token goes from the rank that has it (sequence parallelism) to its experts in one
all-to-all, and back in another.

Usage: whole_experts.py {operations|exchanges|states|groups}...
"""

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from traces import compile_json, products, run  # noqa: E402

D, H, K, E, F, V, L, S, B, X, A = 32, 8, 4, 4, 48, 64, 4, 32, 16, 16, 2
VALUES = dict(D=D, H=H, K=K, E=E, F=F, V=V, L=L, X=X, A=A)
MODEL = ["mixtral-8x7b", f"--seq={S}", f"--batch={B}", *(f"--set={name}={value}" for name, value in VALUES.items())]
EXPERT = 3 * D * F  # parameters


def compiled(flags=""):
    return compile_json(*MODEL, *flags.split(), "--dry-run")


def equal(what, have, want):
    assert have == want, f"{what}: {have}, expected {want}"
    print(f"{what}: {have}")


def plan(tp, cp, dp, ep):
    return f"--tp={tp} --cp={cp} --dp={dp} --ep={ep} --etp=1" + " --sequence-parallel" * (tp > 1)


def operations():
    """All ranks together execute what one rank does alone."""
    for recompute in ("none", "full"):
        want = products(compiled(f"--recompute={recompute}"))
        for flags in (plan(2, 1, 4, 8), plan(4, 1, 1, 4), plan(2, 2, 2, 8) + " --cp-comm-type=p2p", plan(2, 1, 4, 4) + " --zero=3",
                      plan(2, 2, 2, 2), plan(2, 2, 2, 1), plan(1, 2, 2, 4) + " --zero=1",
                      plan(2, 1, 2, 4) + " --pp=2 --micro-batch=2 --zero=1"):
            equal(f"{flags} {recompute}", products(compiled(f"{flags} --recompute={recompute}")), want)
    # Where tp is twice the key/value heads, all tokens have these projections twice.
    projections = 2 * B * S * D * (2 * K * E) * L
    want = products(compiled())
    equal("replicated heads", products(compiled(plan(8, 1, 2, 16))),
          {"fwd": want["fwd"] + projections, "bwd": want["bwd"] + 2 * projections})


def exchanges():
    """Tokens of a rank, once for each of their experts, there and back."""
    for tp, cp, dp, ep in ((2, 1, 4, 8), (4, 1, 2, 4), (2, 2, 2, 8), (4, 1, 4, 16)):
        (entry,) = compiled(plan(tp, cp, dp, ep))["classes"]
        tokens = B * S // (tp * cp * dp)
        moved = [(c["phase"], c["group_size"], c["count"], c["bytes"])
                 for c in entry["collectives"] if c["kind"] == "all_to_all"]
        size = 2 * L * tokens * A * D * 2
        equal(f"tp={tp} cp={cp} ep={ep}", moved, [("fwd", ep, 2 * L, size), ("bwd", ep, 2 * L, size)])


def states():
    """A rank has X / ep experts; their gradients are reduced where ranks have the same, and there
    ZeRO divides their parameters and moments. Over tp that is one collective, over cp and dp another."""
    for tp, cp, dp, ep in ((2, 1, 4, 8), (2, 1, 4, 4), (4, 1, 2, 4), (2, 2, 2, 2), (2, 2, 2, 4), (1, 2, 4, 4), (2, 2, 2, 1)):
        experts = L * (X // ep) * EXPERT
        dense = L * (D * (2 * H + 2 * K) * E // tp + D * X + 2 * D) + 2 * V * D // tp + D
        over_tp = L * (D * X + 2 * D) + D  # dense parameters that each rank of tp has
        same = tp * cp * dp // max(ep, tp)  # ranks of cp and dp that have the same experts
        (entry,) = compiled(plan(tp, cp, dp, ep))["classes"]
        equal(f"tp={tp} cp={cp} dp={dp} ep={ep}", entry["memory"]["persistent_bytes"]["parameter"], 2 * (dense + experts))
        reduced = {}
        for c in entry["collectives"]:
            if c["phase"] == "grad_sync":
                reduced[c["group_size"], "tp" in c["axes"]] = c["bytes"]
        want = {(cp * dp, False): dense}
        if tp > 1:
            want[tp, True] = over_tp + (experts if ep == 1 else 0)
        if same > 1:
            want[same, False] = want.get((same, False), 0) + experts
        equal("gradients", reduced, {group: 4 * parameters for group, parameters in want.items()})
        (entry,) = compiled(plan(tp, cp, dp, ep) + " --zero=3")["classes"]
        have = dense // (cp * dp) + experts // same
        equal("ZeRO 3", entry["memory"]["persistent_bytes"]["parameter"], 2 * have)
        equal("moments, master weights", entry["memory"]["persistent_bytes"]["optimizer"], 12 * have)


def groups():
    """Neighbours hold different experts, across cp, too."""
    with tempfile.TemporaryDirectory() as folder:
        run("stg-compile", *MODEL, *plan(2, 2, 4, 8).split(), "-o", folder)
        print(run("stg-trace", "validate", folder).strip())
        found = {tuple(ranks) for ranks in json.loads((Path(folder) / "comm_group.json").read_text()).values()}
    equal("groups of 8", sorted(g for g in found if len(g) == 8 and g[1] == g[0] + 1), [tuple(range(8)), tuple(range(8, 16))])
    equal("same experts", sorted(g for g in found if g[1] == g[0] + 8), [(rank, rank + 8) for rank in range(8)])


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
