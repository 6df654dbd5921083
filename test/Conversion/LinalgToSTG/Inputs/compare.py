"""Holds what is compiled of a program in linalg against the library's model of the same network.

Every number of both summaries is the same: operations, bytes, collectives, memory and
nodes, of each class of ranks. Names of models, ops and symbols are not.
"""

import json
import subprocess
import sys

STRATEGIES = [
    [],
    ["--tp", "2"],
    ["--tp", "2", "--sequence-parallel", "--dp", "2", "--zero", "3"],
    ["--pp", "2", "--micro-batch", "2", "--recompute", "full"],
    ["--cp", "2"],
    ["--cp", "2", "--cp-comm-type", "a2a"],
    ["--mode", "prefill"],
    ["--mode", "decode", "--kv-len", "100", "--tp", "2"],
]
IMAGES = [
    [],
    ["--dp", "2"],
    ["--dp", "4", "--zero", "1"],
    ["--dp", "2", "--zero", "3"],
    ["--dp", "2", "--micro-batch", "2"],
    ["--recompute", "full", "--micro-batch", "2"],
]
NAMES = {"graph", "description", "fingerprint", "model", "options", "batch", "seq", "set", "symbols", "peak_at"}


def compiled(model, arguments):
    command = ["stg-compile", *model, *arguments, "--dry-run", "--json"]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit(f"{' '.join(command)}: {run.stderr}")
    return json.loads(run.stdout)


def differences(ours, theirs, path=""):
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(set(ours) | set(theirs)):
            if key not in NAMES:
                yield from differences(ours.get(key), theirs.get(key), f"{path}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for i, (x, y) in enumerate(zip(ours, theirs)):
            yield from differences(x, y, f"{path}[{i}]")
    elif ours != theirs:
        yield f"{path}: {ours}, expected {theirs}"


def main():
    imported, *library = sys.argv[1:]
    isImages = library[0] == "images"
    failed = False
    for strategy in IMAGES if isImages else STRATEGIES:
        sizes = ["--batch", "8"] if isImages else ["--batch", "8", "--seq", "32"]
        ours = compiled([imported], [*sizes, *strategy])
        theirs = compiled(library[isImages:], [*sizes, *strategy])
        assert theirs["classes"][0]["operations"]
        for difference in differences(ours, theirs):
            print(" ".join(strategy), difference)
            failed = True
    print(f"{len(IMAGES if isImages else STRATEGIES)} strategies compared")
    sys.exit(failed)


main()
