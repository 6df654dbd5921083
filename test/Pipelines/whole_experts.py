"""Compares whole experts (--etp 1) with closed forms.

As with Megatron-Core's --expert-tensor-parallel-size 1, the ranks of tp, cp and a part of
dp hold different experts: a device has X / ep of them, of full feed-forward size, and a
token goes from the rank that has it (sequence parallelism) to its experts in one
all-to-all, and back in another.

Usage: whole_experts.py {operations|exchanges|states|groups}...
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

D, H, K, E, F, V, L, S, B, X, A = 32, 8, 4, 4, 48, 64, 4, 32, 16, 16, 2
VALUES = dict(D=D, H=H, K=K, E=E, F=F, V=V, L=L, X=X, A=A)
MODEL = ["mixtral-8x7b", f"--seq={S}", f"--batch={B}", *(f"--set={name}={value}" for name, value in VALUES.items())]
EXPERT = 3 * D * F  # parameters


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def compiled(flags=""):
    return json.loads(run("stg-compile", *MODEL, *flags.split(), "--dry-run", "--json"))


def equal(what, have, want):
    assert have == want, f"{what}: {have}, expected {want}"
    print(f"{what}: {have}")


def products(manifest):
    total = {}
    for entry in manifest["classes"]:
        for phase, operations in entry["matrix_operations_by_phase"].items():
            total[phase] = total.get(phase, 0) + operations * entry["ranks"]
    return total


def plan(tp, cp, dp, ep):
    return f"--tp={tp} --cp={cp} --dp={dp} --ep={ep} --etp=1 --sequence-parallel"


def operations():
    """All ranks together execute what one rank does alone."""
    for recompute in ("none", "full"):
        want = products(compiled(f"--recompute={recompute}"))
        for flags in (plan(2, 1, 4, 8), plan(4, 1, 1, 4), plan(2, 2, 2, 8) + " --cp-comm-type=p2p", plan(2, 1, 4, 4) + " --zero=3",
                      plan(2, 1, 2, 4) + " --pp=2 --micro-batch=2 --zero=1"):
            equal(f"{flags} {recompute}", products(compiled(f"{flags} --recompute={recompute}")), want)


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
    """A rank has X / ep experts; their gradients are reduced where ranks have the same."""
    for tp, dp, ep in ((2, 4, 8), (2, 4, 4), (4, 2, 4)):
        (entry,) = compiled(plan(tp, 1, dp, ep))["classes"]
        experts = X // ep * EXPERT
        layer = D * (2 * H + 2 * K) * E // tp + D * X + 2 * D
        want = L * (layer + experts) + 2 * V * D // tp + D
        equal(f"tp={tp} ep={ep}", entry["memory"]["persistent_bytes"]["parameter"], 2 * want)
        others = tp * dp // ep  # that have the same experts
        reduced = [c["bytes"] for c in entry["collectives"] if c["phase"] == "grad_sync" and c["group_size"] == others
                   and c["axes"] in (["edp"], ["dp"])]
        # Where ep is tp alone, all of dp has the same experts, and one collective is for all gradients.
        rest = 4 * (want - L * experts) if ep == tp else 0
        equal("gradients", reduced, [4 * L * experts + rest] if others > 1 else [])


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
