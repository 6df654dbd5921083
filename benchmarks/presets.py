#!/usr/bin/env python3
"""Compiles and validates the presets beside Megatron-LM's on small models.

Each plan must compile through stg-opt and stg-translate, pass `stg-trace validate`, and execute
in all ranks together as many operations in matrix products as one rank alone, in each phase.

Usage: presets.py [--only TEXT] [--jobs J]
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import report_cases

ROOT = Path(__file__).resolve().parent.parent
SIZES = "B=16,S=32,D=32,H=8,E=4,F=64,V=64,L=4"
MODELS = {
    "llama": ("llama.mlir", f"{SIZES},K=8"),
    "gpt": ("gpt.mlir", f"{SIZES},P=32"),
    "mixtral": ("mixtral.mlir", f"{SIZES},K=8,X=4,A=2,CN=1,CD=1"),
    "palm": ("palm.mlir", f"{SIZES},K=8"),
}
# Without tokens over columns all of them compute the router of a mixture of experts.
PLANS = {
    "tensor-2d": {
        "llama": ["rows=2,columns=2", "rows=4,columns=2", "rows=2,columns=2,dp=2,sequence_parallel=true",
                  "rows=2,columns=2,sequence_parallel=true pp=2 micro-batches=2"],
        "gpt": ["rows=2,columns=2", "rows=2,columns=4,sequence_parallel=true"],
        "mixtral": ["rows=2,columns=2,sequence_parallel=true", "rows=2,columns=2,dp=2,sequence_parallel=true"],
        "palm": ["rows=2,columns=2", "rows=4,columns=2,dp=2"],
    },
    "fsdp-tensor": {
        "llama": ["x=2,y=2,z=2", "x=4,y=2", "x=2,y=2,z=2 recompute=full"],
        "gpt": ["x=2,y=2,z=2", "y=2,z=4"],
        "mixtral": ["x=2,y=2,z=2", "x=2,z=4"],
        "palm": ["x=2,y=2,z=2", "x=4,z=4"],
    },
    "heads-and-ffn": {
        "llama": ["heads=2,ffn=2", "heads=2,ffn=4", "heads=2,ffn=2,dp=2", "heads=2,ffn=2 pp=2 micro-batches=2"],
        "gpt": ["heads=2,ffn=2", "heads=4,ffn=2"],
        "mixtral": ["heads=2,ffn=2", "heads=4,ffn=2"],
        "palm": ["heads=2,ffn=2", "heads=2,ffn=2,dp=2"],
    },
    "sglang": {
        "llama": ["dp=2,tp=2", "dp=4,tp=2,sequence_parallel=true", "dp=2,tp=2 pp=2 micro-batches=2"],
        "gpt": ["dp=4", "dp=2,tp=2,sequence_parallel=true"],
    },
}


def run(command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True)


def products(model, options, folder):
    """Operations in matrix products by phase, of all ranks; or what went wrong."""
    file, symbols = MODELS[model]
    made = run(["stg-opt", str(ROOT / "models" / file), f"--stg-pipeline={options} bind={symbols}"])
    if made.returncode:
        return f"does not compile: {made.stderr.strip()[:2000]}"
    written = run(["stg-translate", "--chakra-to-traces", f"--trace-dir={folder}", "--trace-quiet"], made.stdout)
    if written.returncode:
        return f"is not written: {written.stderr.strip()[:2000]}"
    valid = run(["stg-trace", "validate", folder])
    if valid.returncode:
        return f"is not valid: {valid.stdout.strip()[:2000]}"
    total = {}
    for entry in json.loads((Path(folder) / "manifest.json").read_text())["classes"]:
        for phase, operations in entry["matrix_operations_by_phase"].items():
            total[phase] = total.get(phase, 0) + operations * entry["ranks"]
    return total


def check(case):
    preset, model, plan = case
    degrees, *others = plan.split()
    with tempfile.TemporaryDirectory() as alone, tempfile.TemporaryDirectory() as folder:
        same = " ".join(option for option in others if option.startswith("recompute"))
        want = products(model, same, alone)
        have = products(model, " ".join([f"preset={preset}", f"degrees={degrees}", *others]), folder)
    return None if have == want else f"executes {have}, one rank {want}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="TEXT", help="plans whose name contains this text")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    cases = [
        (preset, model, plan)
        for preset, models in PLANS.items()
        for model, plans in models.items()
        for plan in plans
        if args.only in f"{preset} {model} {plan}"
    ]
    return report_cases(cases, check, " ".join, args.jobs, "plans")


if __name__ == "__main__":
    sys.exit(main())
