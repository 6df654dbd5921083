#!/usr/bin/env python3
"""Runs every subcommand of stg-trace on every file of a directory.

    run_seeds.py DIRECTORY

The exit status has to be 0 or 1; a signal or an assertion gives another one.
"""

import os
import subprocess
import sys

COMMANDS = (["stats"], ["stats", "--json"], ["validate"],
            ["validate", "--strict-memory", "--max-errors=0"], ["print"])


def main():
    directory = sys.argv[1]
    names = sorted(os.listdir(directory))
    crashes = 0
    for name in names:
        path = os.path.join(directory, name)
        for command in COMMANDS:
            result = subprocess.run(["stg-trace", *command, path],
                                    stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, check=False)
            if result.returncode not in (0, 1):
                crashes += 1
                print("crashed:", *command, name, result.returncode)
    print(len(names), "seeds,", crashes, "crashes")


if __name__ == "__main__":
    main()
