#!/usr/bin/env python3
"""Compares the traces that two builds write, byte by byte, for strategies over all models.

A change that is not meant to change a number changes no byte. For each strategy both builds
write the traces of all ranks and the groups; manifests are not compared, because they describe
the strategy in words. A strategy that only one build accepts differs, one that both refuse is
an error of this script.

    compare-builds.py BEFORE AFTER        two folders with the tools of a build
    compare-builds.py BEFORE AFTER --only zero --verbose

Prints the strategies whose traces differ, with the first node that does, and how many agree.
The exit status is 0 only if all agree.
"""

import argparse
import filecmp
import itertools
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from measure import Scratch

# A few layers show what all of them do. Widths are those of the published models.
DENSE = {
    "llama2-7b": "--set=L=8",
    "llama3-8b": "--set=L=8",
    "llama3-70b": "--set=L=8",
    "gpt2-1.5b": "--set=L=8",
    "gpt3-175b": "--set=L=8 --set=V=51200",
    "megatron-22b": "--set=L=8",
    "palm-8b": "--set=L=8",
}
MIXED = {"mixtral-8x7b": "--set=L=8", "mixtral-8x22b": "--set=L=8", "llama4-scout": "--set=L=8"}
# gpt2-1.5b has 25 heads and an odd vocabulary; that of gpt3-175b is padded as for training.
WITHOUT_TENSOR = ("gpt2-1.5b",)

# One rank, each kind of parallelism alone, and combinations of them.
EVERYWHERE = [
    "--batch=2",
    "--dp=4 --batch=8",
    "--dp=2 --batch=8 --micro-batch=1",
    "--pp=2 --batch=4 --micro-batch=1",
    "--dp=2 --pp=4 --batch=8 --micro-batch=1 --zero=1",
    "--dp=4 --batch=4 --zero=3",
    "--batch=2 --recompute=full",
]
TENSOR = [
    "--tp=2 --batch=2",
    "--tp=4 --sequence-parallel --batch=2",
    "--dp=2 --tp=4 --sequence-parallel --batch=4 --micro-batch=1 --zero=1 --recompute=selective",
    "--dp=2 --tp=2 --pp=2 --sequence-parallel --batch=8 --micro-batch=1",
]
LLAMA = [
    "--cp=2 --batch=2",
    "--cp=4 --cp-comm-type=p2p --batch=2",
    "--cp=4 --cp-comm-type=a2a --batch=2",
    "--cp=4 --cp-balance=none --batch=2",
    "--cp=2 --cp-comm-type=p2p --cp-balance=none --tp=2 --sequence-parallel --batch=2",
    "--cp=4 --cp-comm-type=p2p --cp-balance=none --batch=2",
    "--cp=2 --cp-comm-type=p2p --pp=2 --batch=4 --micro-batch=1",
    "--cp=4 --cp-comm-type=p2p --dp=2 --batch=4 --zero=3 --recompute=full",
    "--dp=2 --cp=2 --tp=2 --pp=2 --sequence-parallel --batch=8 --micro-batch=1 --zero=1",
    "--tp=16 --sequence-parallel --batch=2",
    "--tp=16 --dp=2 --batch=4 --zero=3",
    "--dp=8 --dp-replicate=2 --batch=8 --zero=3",
    "--dp=4 --batch=4 --zero=2 --grad-dtype=bf16",
    "--dp=4 --batch=8 --micro-batch=1 --zero=2",
    "--dp=4 --batch=4 --zero=3 --zero-root=units",
    "--dp=4 --batch=4 --zero=3 --reshard-after-forward=false",
    "--dp=4 --batch=4 --zero=3 --prefetch=0",
    "--dp=4 --batch=4 --zero=3 --recompute=full",
    "--dp=4 --batch=8 --micro-batch=1 --zero=3 --param-dtype=f32",
    "--dp=4 --batch=4 --zero=3 --fp8 --fp8-gather",
    "--dp=4 --batch=4 --fp8",
    "--dp=4 --batch=4 --dtype=f32",
    "--dp=4 --batch=4 --gradient-reduction=per-layer",
    "--dp=4 --batch=4 --gradient-reduction=per-parameter",
    "--dp=4 --batch=4 --bucket-size=100000000",
    "--dp=2 --tp=2 --batch=4 --rank-order=dp-tp",
    "--batch=2 --attention-count=full",
    "--batch=2 --recompute=full --recompute-layers=2",
    "--batch=2 --recompute=full --recompute-method=block --recompute-layers=2",
    "--pp=2 --virtual-stages=2 --batch=8 --micro-batch=1",
    "--pp=4 --schedule=gpipe --batch=8 --micro-batch=1",
    "--pp=4 --schedule=zb-h1 --batch=8 --micro-batch=1",
    "--pp=2 --schedule=zb-v --virtual-stages=2 --batch=8 --micro-batch=1",
    "--pp=2 --schedule=dualpipe-v --virtual-stages=2 --batch=8 --micro-batch=1",
    "--pp=2 --dp=2 --batch=8 --micro-batch=1 --zero=2",
    "--pp=2 --dp=2 --batch=8 --micro-batch=1 --zero=3",
    "--pp=2 --layers-per-stage=3,5 --batch=4 --micro-batch=1 --recompute=full",
    "--tp=2 --rules=V: --batch=2",
]
EXPERTS = [
    "--batch=2",
    "--dp=4 --ep=4 --batch=4",
    "--dp=8 --ep=4 --batch=8 --zero=1",
    "--dp=4 --ep=2 --tp=2 --sequence-parallel --batch=4",
    "--dp=4 --ep=4 --tp=2 --sequence-parallel --pp=2 --batch=8 --micro-batch=1",
    "--dp=4 --ep=4 --tp=2 --sequence-parallel --etp=1 --batch=4",
    "--dp=4 --ep=4 --cp=2 --batch=4",
    "--dp=4 --ep=4 --batch=4 --zero=3 --recompute=full",
]
LOADS = "--dp=4 --ep=4 --batch=4 --expert-histogram=5,3,2,2,1,1,1,1"


def strategies():
    for model, sizes in itertools.chain(DENSE.items(), MIXED.items()):
        chosen = list(EVERYWHERE if model in DENSE else EXPERTS)
        if model in DENSE and model not in WITHOUT_TENSOR:
            chosen += TENSOR
        if model == "llama3-8b":
            chosen += LLAMA
        if model == "mixtral-8x7b":
            chosen.append(LOADS)
        for strategy in chosen:
            yield [model, *sizes.split(), "--seq=512", *strategy.split()]


def describe(line):
    """A node of a trace as printed, by field; attributes by name."""
    node = json.loads(line) if line else {}
    fields = {entry["name"]: entry for entry in node.pop("attr", [])}
    return {**node, **fields}


def first_difference(before, after, name, tools):
    """The first node that differs, and in which fields."""
    if not name.endswith(".et"):
        return name
    texts = []
    for folder, bin_folder in zip((before, after), tools):
        command = [bin_folder / "stg-trace", "print", folder / name]
        texts.append(subprocess.run(command, capture_output=True, text=True).stdout.splitlines())
    for old, new in itertools.zip_longest(*texts):
        if old == new:
            continue
        old, new = describe(old), describe(new)
        lines = [f"{name} at node {new.get('id', old.get('id'))}, {new.get('name', old.get('name'))}"]
        for field in sorted({*old, *new}):
            if old.get(field) != new.get(field):
                lines.append(f"    {field}: {json.dumps(old.get(field))} -> {json.dumps(new.get(field))}")
        return "\n".join(lines)
    return f"{name}: in what is not printed"


def compare(strategy, tools, scratch, number):
    """Nothing if both builds write the same, else how they differ."""
    folders = [scratch / f"{number}.{which}" for which in ("before", "after")]
    errors = []
    for folder, bin_folder in zip(folders, tools):
        command = [bin_folder / "stg-compile", *strategy, "--quiet", "--threads=1", "-o", folder]
        made = subprocess.run(command, capture_output=True, text=True)
        errors.append(made.stderr.strip() if made.returncode else None)
    try:
        if all(errors):
            raise SystemExit(f"{' '.join(strategy)}: no build accepts it: {errors[1]}")
        if any(errors):
            return f"only one build accepts it: {errors[0] or errors[1]}"
        names = [set(os.listdir(folder)) - {"manifest.json"} for folder in folders]
        if names[0] != names[1]:
            return f"other files: {' '.join(sorted(names[0] ^ names[1])[:5])}"
        _, differing, missing = filecmp.cmpfiles(*folders, sorted(names[0]), shallow=False)
        if missing or differing:
            detail = first_difference(*folders, (missing + differing)[0], tools)
            return f"{len(missing + differing)} of {len(names[0])} files differ, the first one {detail}"
        return None
    finally:
        subprocess.run(["rm", "-rf", *folders], check=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("before", type=Path, help="folder with the tools of one build")
    arguments.add_argument("after", type=Path, help="folder with the tools of the other")
    arguments.add_argument("--only", metavar="TEXT", help="strategies whose flags contain this text")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments.add_argument("--scratch", help="folder for the traces (default: that for temporary files)")
    arguments.add_argument("--verbose", action="store_true", help="print all strategies")
    args = arguments.parse_args()
    tools = [args.before.resolve(), args.after.resolve()]
    chosen = [case for case in strategies() if not args.only or args.only in " ".join(case)]
    different = 0
    with Scratch(args.scratch) as scratch, ThreadPoolExecutor(args.jobs) as pool:
        results = pool.map(lambda case: compare(case[1], tools, scratch.path, case[0]), enumerate(chosen))
        for strategy, difference in zip(chosen, results):
            different += difference is not None
            if difference or args.verbose:
                print(" ".join(strategy), f"\n  {difference or 'the same'}", flush=True)
    print(f"{len(chosen) - different} of {len(chosen)} strategies give the same traces in both builds")
    return different > 0


if __name__ == "__main__":
    sys.exit(main())
