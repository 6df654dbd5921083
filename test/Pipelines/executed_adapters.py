"""Compares adapters under tensor parallelism with steps that really ran.

Inputs/executed_adapters.json is what Inputs/run_adapters.py prints: two ranks train adapters beside
frozen products in PyTorch, with and without sequence parallelism; products, what ranks exchange and
what is saved for backward are counted.

Usage: executed_adapters.py adapters MODEL_FILE
"""

import json
from pathlib import Path

import checks
from checks import FP32, Plan

RUNS = json.loads((Path(__file__).parent / "Inputs" / "executed_adapters.json").read_text())
SYMBOLS = ("S", "D", "H", "K", "E", "F", "L")


def adapters(check, model_file):
    """All runs."""
    for name, run in RUNS.items():
        check.context, c = name, run["config"]
        plan = Plan(
            tp=run["ranks"], sequence_parallel=run["tokens_divided"], batch=c["B"], dtype="f32", grad_dtype="f32"
        )
        targets = ":".join(f"{part}_proj" for part in c["targets"])
        sizes = [f"--set={symbol}={c[symbol]}" for symbol in SYMBOLS]
        lora = f"--lora=rank={c['rank']},alpha={c['alpha']},targets={targets}"
        compiled = check.compile(model_file, plan, *sizes, lora)
        found = compiled.only
        check.equal("operations in products", found.products, {k: run[k] for k in ("fwd", "bwd")})
        totals = {(kind, phase): total for (kind, _, _, phase), total in found.collectives().items()}
        check.equal("collectives", totals, {(kind, phase): (n, size) for kind, phase, n, size in run["collectives"]})
        check.equal("parameters", found.states["parameter"], FP32 * run["parameters"])
        check.equal("gradients", found.largest["gradient"], FP32 * run["trained"])
        check.equal("activations", found.largest["activation"], FP32 * run["saved"])


if __name__ == "__main__":
    checks.main(adapters)
