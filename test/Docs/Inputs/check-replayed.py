#!/usr/bin/env python3
"""Checks the table of docs/Estimating.md of what modules that are replayed cost and save: each row,
and what is shown below, is what stg-estimate says with the command there.

    check-replayed.py PAGE
"""
import re
import shlex
import subprocess
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        section = file.read().split("## What to replay\n")[1].split("\n## ")[0]
    command = re.search(r"\$ (stg-estimate .*?) \|", section.replace("\\\n", " ")).group(1)
    rows = re.findall(r"^\| `(.*?)` \| ([\d.]+) \| ([\d.]+) GiB \|$", section, re.MULTILINE)
    if len(rows) != section.count("\n| `") - 1:
        sys.exit("rows cannot be read")
    for modules, step, memory in rows:
        words = shlex.split(command)
        words[words.index("--recompute-modules") + 1] = modules
        found = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
        seconds = float(re.search(r"^step +([\d.]+) s", found, re.MULTILINE).group(1))
        gibibytes = re.search(r"^memory +([\d.]+) GiB", found, re.MULTILINE).group(1)
        if (f"{seconds:.2f}", gibibytes) != (step, memory):
            sys.exit(f"{modules}: {seconds:.2f} s, {gibibytes} GiB, not {step} s, {memory} GiB")
    shown = subprocess.run(command + " | grep '^memory'", shell=True, stdout=subprocess.PIPE, text=True, check=True)
    if f"{shown.stdout}```" not in section:
        sys.exit(f"{shown.stdout.strip()} is not what is shown")
    print(len(rows), "rows")


main()
