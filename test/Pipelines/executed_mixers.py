"""Compares Mamba-2 with fewer groups than ranks with steps that really ran.

Inputs/executed_mixers.json is what Inputs/run_mixers.py prints: ranks train layers in PyTorch, those
whose heads are of one group add up what its norm needs, forward and backward, and the gradients of
what they share; products and what ranks exchange are counted.

Usage: executed_mixers.py mixers MODEL_FILE
"""

import json
from pathlib import Path

import checks
from checks import FP32, Plan

RUNS = json.loads((Path(__file__).parent / "Inputs" / "executed_mixers.json").read_text())
SYMBOLS = ("S", "D", "MH", "MP", "MG", "MN", "CW", "MQ", "L")


def mixers(check, model_file):
    """All runs."""
    for name, run in RUNS.items():
        check.context, c = name, run["config"]
        plan = Plan(tp=run["ranks"], batch=c["B"], dtype="f32", grad_dtype="f32")
        compiled = check.compile(model_file, plan, *(f"--set={symbol}={c[symbol]}" for symbol in SYMBOLS))
        found = compiled.only
        check.equal("operations in products", found.products, {k: run[k] for k in ("fwd", "bwd")})
        sizes = {"all": run["ranks"], "group": run["ranks"] // c["MG"]}
        want = {(kind, sizes[of], phase): (n, size) for of, kind, phase, n, size in run["collectives"]}
        totals = {(kind, size, phase): total for (kind, _, size, phase), total in found.collectives().items()}
        check.equal("collectives", totals, want)
        check.equal("parameters", found.states["parameter"], FP32 * run["parameters"])


if __name__ == "__main__":
    checks.main(mixers)
