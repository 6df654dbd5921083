#!/usr/bin/env python3
"""Two different sets are written to one directory at the same time.

    writers.py TRIES DIRECTORY

Whatever happens, the directory holds one of them, complete, and whoever wrote
that one, and only he, or he and one who was through before he began, succeeds.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import time

ERROR = "is being written by another process"


def start(layers, out, extra=()):
    command = ["stg-compile", "llama3-8b", "--dp", "64", "--batch", "64",
               "--seq", "64", "--set", "L=%d" % layers, "--quiet", "-o", out]
    return subprocess.Popen(command + list(extra), stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True)


def finish(process):
    error = process.communicate()[1]
    assert process.returncode == 0 or ERROR in error, error
    return process.returncode == 0


def get_layers(out):
    """Of the set in the directory, after a check that it is whole."""
    report = subprocess.run(["stg-trace", "validate", out], text=True,
                            capture_output=True)
    assert report.stdout.startswith("no violations in 64 ranks"), report.stdout
    with open(os.path.join(out, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    assert manifest["ranks_written"] == [0, 64], manifest["ranks_written"]
    hidden = [name for name in os.listdir(out) if name.startswith(".")]
    assert not hidden, hidden
    return manifest["symbols"]["L"]


def main():
    tries, out = int(sys.argv[1]), os.path.join(sys.argv[2], "out")
    both = refused = 0
    for _ in range(tries):
        shutil.rmtree(out, ignore_errors=True)
        first = start(2, out)
        time.sleep(random.random() * 0.05)
        second = start(3, out)
        done = {2: finish(first), 3: finish(second)}
        assert done[get_layers(out)], done
        both += all(done.values())
        refused += not all(done.values())
    print("tries:", tries, "one after the other:", both, "refused:", refused)


main()
