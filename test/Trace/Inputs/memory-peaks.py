"""Compares the peaks that stg-trace finds in traces with those of the manifest.

    memory-peaks.py SCRATCH
"""

import json
import subprocess
import sys
from pathlib import Path

RUNS = ["llama3-8b --dp 2 --tp 2",
        "llama3-8b --pp 2 --dp 2 --micro-batch 1",
        "llama3-8b --dp 4 --zero 3 --micro-batch 1",
        "gpt2-1.5b --pp 2 --micro-batch 1 --schedule zb-h1",
        "mixtral-8x7b --dp 4 --ep 4 --zero 1 --micro-batch 2 "
        "--expert-histogram 8,4,2,2,2,1,1,1",
        "llama3-8b --pp 2 --dp 2 --micro-batch 1 --bundle"]


def run(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def main():
    for number, flags in enumerate(RUNS):
        folder = Path(sys.argv[1]) / str(number)
        manifest = json.loads(run("stg-compile", *flags.split(), "--batch", "8", "--seq", "64",
                                  "--set", "L=2", "--json", "--quiet", "-o", folder))
        stats = json.loads(run("stg-trace", "stats", "--json", "--quiet", folder))
        found = {entry["first_rank"]: entry["memory"] for entry in stats["classes"]}
        for entry in manifest["classes"]:
            said = entry["memory"]
            memory = found.pop(entry["first_rank"])
            assert memory["peak_bytes"] == said["peak_bytes"]["total"], flags
            assert memory["persistent_bytes"] == said["persistent_bytes"]["total"], flags
            assert memory["peak_at"].rsplit("/")[0] == said["peak_at"], flags
        assert not found, flags
        count = len(manifest["classes"])
        print(f"{count} class{' agrees' if count == 1 else 'es agree'}: {flags}")


if __name__ == "__main__":
    main()
