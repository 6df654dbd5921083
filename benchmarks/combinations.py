#!/usr/bin/env python3
"""Compiles and validates all combinations of parallelism on 1 to 16 ranks of small models.

Data, tensor (with and without sequence parallelism), context (each kind, balanced and
in ranges), expert and pipeline parallelism (each schedule, with and without a forward
beside a backward), ZeRO 0 to 3, recomputation. Each combination must compile, pass
`stg-trace validate`, and execute in all ranks together as many operations in matrix
products as one rank alone, in forward and in backward, but for the projections of
replicated key/value heads. What is replayed is a phase of its own: with full
recomputation it must equal the forward products of the layers, with selective those of
attention. (Router products of a mixture of experts are executed by each tensor-parallel
rank without sequence parallelism, so those are not combined.)

Usage: combinations.py [--subset N] [--jobs J]      one of every N combinations
"""

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import report_cases

SIZES = "--seq=32 --set=D=32 --set=H=8 --set=K=8 --set=E=4 --set=F=64 --set=V=64 --set=L=8 --batch=16"
MODELS = {
    "dense": f"llama3-8b {SIZES}",
    "moe": f"mixtral-8x7b {SIZES} --set=X=4 --set=A=2",
    # Fewer key/value heads than tensor-parallel ranks.
    "replicated": f"llama3-8b {SIZES} --set=K=2",
}
REPLICAS = 2
# Products of one more projection of the keys and values of all tokens in all layers, forward.
PROJECTIONS = 2 * (16 * 32) * 32 * (2 * 2 * 4) * 8
PIPELINES = [(1, "1f1b", 1)] + [
    (p, schedule, v) for p in (2, 4)
    for schedule, v in (("gpipe", 1), ("1f1b", 1), ("interleaved", 2), ("zb-h1", 1), ("zb-v", 2), ("dualpipe-v", 2))
]


# How ranks see the tokens of others, and which are theirs.
CONTEXTS = [
    (1, "all_gather", "zigzag"), (2, "all_gather", "zigzag"), (2, "a2a", "zigzag"), (2, "p2p", "zigzag"),
    (2, "all_gather", "none"), (2, "p2p", "none"), (2, "gather_p2p", "zigzag"), (2, "gather_p2p", "none"),
]

# Schedules that can have a forward beside a backward.
WITH_PAIRS = ("1f1b", "interleaved", "dualpipe-v")

# Expert parallelism, and whether experts are whole.
EXPERTS = [(1, False), (2, False), (1, True), (2, True), (4, True)]


def combinations():
    for model, dp, (ep, whole), (tp, sp), (cp, kind, balance), (pp, schedule, v), zero, recompute, micro in itertools.product(
        MODELS, (1, 2, 4), EXPERTS, ((1, False), (2, False), (2, True), (4, False), (4, True)),
        CONTEXTS, PIPELINES, range(4),
        ("none", "selective", "full"), (1, 2),
    ):
        if dp * tp * cp * pp > 16 or (zero and dp * cp == 1) or (not whole and dp % ep):
            continue
        if (model == "moe" and tp > 1 and not sp) or (model != "moe" and ep > 1):
            continue
        # Four ranks of tp where that replicates heads, which all-to-alls cannot divide further.
        if (tp == 4) != (model == "replicated") or (model == "replicated" and kind == "a2a"):
            continue
        # Whole experts are divided over tp, then cp, then a part of dp; with none of the former they are whole anyway.
        if whole and (model != "moe" or tp * cp == 1 or (ep not in (1, tp) and dp * tp * cp % ep + ep % (tp * cp))):
            continue
        if schedule == "interleaved" and (16 // dp // micro) % pp:
            continue
        if schedule == "dualpipe-v" and 16 // dp // micro < 2 * pp:
            continue
        flags = (
            f"--dp={dp} --ep={ep} --tp={tp} --cp={cp} --pp={pp} "
            f"--virtual-stages={v} --zero={zero} --recompute={recompute} --micro-batch={micro}"
            + (f" --cp-comm-type={kind} --cp-balance={balance}" if cp > 1 else "") + (f" --schedule={schedule}" if pp > 1 else "")
            + (" --sequence-parallel" if sp else "") + (" --etp=1" if whole else "")
        )
        yield model, flags, recompute
        if ep > 1 and schedule in WITH_PAIRS and dp * micro < 16:
            yield model, flags + " --overlap-moe-expert-parallel-comm", recompute


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def products(manifest):
    total = {}
    for entry in manifest["classes"]:
        for phase, operations in entry["matrix_operations_by_phase"].items():
            total[phase] = total.get(phase, 0) + operations * entry["ranks"]
    return total


def expected(model):
    """Products of one rank, without recomputation and with both kinds, and those of replicas."""
    result = {}
    for recompute in ("none", "selective", "full"):
        command = ["stg-compile", *MODELS[model].split(), f"--recompute={recompute}", "--dry-run", "--json"]
        total = result[recompute] = products(json.loads(run(*command).stdout))
        if model == "replicated":
            for phase, times in (("fwd", 1), ("bwd", 2)) + ((("recompute", 1),) if recompute == "full" else ()):
                total[phase] += times * (REPLICAS - 1) * PROJECTIONS
    return result


def check(case, want):
    model, flags, recompute = case
    with tempfile.TemporaryDirectory() as folder:
        made = run("stg-compile", *MODELS[model].split(), *flags.split(), "-o", folder)
        if made.returncode:
            return f"does not compile: {made.stderr.strip()}"
        valid = run("stg-trace", "validate", folder)
        if valid.returncode:
            return f"is not valid: {valid.stdout.strip()[:500]}"
        have = products(json.loads((Path(folder) / "manifest.json").read_text()))
    if have != want[model][recompute]:
        return f"executes {have}, one rank {want[model][recompute]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--subset", type=int, default=1, metavar="N", help="only one of every N combinations")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    cases = list(combinations())
    chosen = cases[:: args.subset]
    want = {model: expected(model) for model in MODELS}
    return report_cases(
        chosen, lambda case: check(case, want), lambda case: " ".join(case[:2]), args.jobs, "combinations",
        f" ({len(cases)} in all)")


if __name__ == "__main__":
    sys.exit(main())
