#!/usr/bin/env python3
"""Runs stg-opt on every seed of a directory and on mutations of the seeds.

    run_mlir_seeds.py DIRECTORY SCRATCH

The exit status has to be 0 or 1; a signal or an assertion gives another one. The
mutations are always the same ones. Those of one seed are sections of one file,
because starting a process takes longer than the work on a section.
"""

import os
import random
import subprocess
import sys

COMMANDS = ([], ["--mlir-print-op-generic"], ["--stg-pipeline=tp=2 dp=2"])
TRUNCATIONS, FLIPS, SWAPS = 4, 6, 4
SEPARATOR = b"\n// -----\n"
MESSAGES = (b"PLEASE submit a bug report", b"Stack dump", b"Assertion",
            b"ERROR: AddressSanitizer", b"runtime error:", b"LLVM ERROR")


def crashes(options, path):
    """Runs stg-opt; true if it ends other than with a result or an error."""
    command = ["stg-opt", "--mlir-disable-threading", *options, path]
    result = subprocess.run(command, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            timeout=120, check=False)
    crashed = (result.returncode not in (0, 1) or
               any(message in result.stderr for message in MESSAGES))
    if crashed:
        print("crashed:", *command, result.returncode)
        print(result.stderr.decode(errors="replace")[-4000:])
    return crashed


def mutate(text, rng):
    """Yields `text` cut off, with some bytes changed, and with words swapped."""
    for _ in range(TRUNCATIONS):
        yield text[:rng.randrange(len(text))]
    for _ in range(FLIPS):
        other = bytearray(text)
        for _ in range(rng.randrange(1, 4)):
            other[rng.randrange(len(other))] = rng.randrange(256)
        yield bytes(other)
    for _ in range(SWAPS):
        words = text.split(b" ")
        i, j = rng.randrange(len(words)), rng.randrange(len(words))
        words[i], words[j] = words[j], words[i]
        yield b" ".join(words)


def main():
    directory, scratch = sys.argv[1:]
    os.makedirs(scratch, exist_ok=True)
    names = sorted(os.listdir(directory))
    mutations = failures = 0
    for name in names:
        path = os.path.join(directory, name)
        with open(path, "rb") as file:
            text = file.read()
        for options in COMMANDS:
            failures += crashes(options, path)
        if not text:
            continue
        sections = list(mutate(text, random.Random(name)))
        mutations += len(sections)
        path = os.path.join(scratch, name)
        with open(path, "wb") as file:
            file.write(SEPARATOR.join(sections))
        for options in COMMANDS[::2]:
            failures += crashes(["--split-input-file", *options], path)
    print(len(names), "seeds,", mutations, "mutations,", failures, "crashes")


if __name__ == "__main__":
    main()
