#!/usr/bin/env python3
"""Imports every seed of a directory, and mutations of the seeds.

    run_config_seeds.py DIRECTORY SCRATCH

The exit status has to be 0 or 1. The mutations are always the same ones; all of one seed are
sections of one file, because starting a process takes longer than the work on a section.
"""

import os
import random
import subprocess
import sys

MUTATIONS = 40
SEPARATOR = b"\n// -----\n"
VALUES = [b"0", b"-1", b"1e400", b"9223372036854775807", b"99999999999999999999", b"NaN",
          b"null", b"[]", b"{}", b'""', b"[[1]]", b"true", b'"x"', b"4294967296", b"7", b"100"]


def mutate(text, rng):
    """Cut off, with bytes changed, or with the value of a key changed."""
    kind = rng.randrange(4)
    if kind == 0:
        return text[:rng.randrange(len(text))]
    if kind == 1:
        other = bytearray(text)
        for _ in range(rng.randrange(1, 4)):
            other[rng.randrange(len(other))] = rng.randrange(256)
        return bytes(other)
    lines = text.split(b"\n")
    at = rng.randrange(1, len(lines) - 1)
    key = lines[at].split(b":")[0]
    end = b"," if lines[at].endswith(b",") else b""
    lines[at] = key + b": " + rng.choice(VALUES) + end
    return b"\n".join(lines)


def main():
    directory, scratch = sys.argv[1:]
    os.makedirs(scratch, exist_ok=True)
    rng, crashes, count = random.Random(1), 0, 0
    names = sorted(os.listdir(directory))
    for name in names:
        with open(os.path.join(directory, name), "rb") as file:
            seed = file.read()
        sections = [seed] + [mutate(seed, rng) for _ in range(MUTATIONS)]
        count += MUTATIONS
        path = os.path.join(scratch, name)
        with open(path, "wb") as file:
            file.write(SEPARATOR.join(sections))
        run = subprocess.run(["stg-translate", "--import-hf-config", "--split-input-file", path],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=120,
                             check=False)
        if run.returncode not in (0, 1) or b"Stack dump" in run.stderr:
            crashes += 1
            print("crashed on", path, run.stderr[-2000:])
    print(f"{len(names)} seeds, {count} mutations, {crashes} crashes")


main()
