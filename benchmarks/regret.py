#!/usr/bin/env python3
"""How much is lost by running what stg-search picks, on measured strategies.

    regret.py MEASURED.json [--tool PATH] [--least N] [--only REGEX] [--jobs N]

MEASURED.json is as in accuracy.py. Rows of one job (model, devices, sequences, precision, source)
that differ in their strategy are a group. stg-search chooses among them. For each group of at least
N strategies: how many there are, by how much the pick is slower than the fastest, the same for the
best of the first five, and the rank of the fastest in what it says.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

import accuracy


def get_job(row):
    """What the strategies of a group have in common."""
    name = next((g[0] for g in accuracy.GROUPS if re.match(g[1], row["id"])), None)
    return (name, row["model"], row["hardware"], row["gpus"], row["seq"], row["gbs"],
            row["precision"], row["source"])


def split_flags(flags):
    """The model, and its flags as members of a strategy; the machine."""
    strategy, settings, machine = {}, {}, None
    for flag in flags[1:]:
        name, _, value = flag.removeprefix("--").partition("=")
        if name == "machine":
            machine = value
        elif name == "set":
            symbol, _, number = value.partition("=")
            settings[symbol] = int(number)
        elif name == "preset":
            strategy[name] = json.loads(value) if value.startswith("{") else value
        elif name == "layers-per-stage":
            strategy["layers_per_stage"] = [int(word) for word in value.split(",")]
        elif name != "json":
            key = name.replace("-", "_")
            plain = value in ("", "true") or value == "false"
            strategy[key] = value != "false" if plain else (
                int(value) if value.isdigit() else value)
    return flags[0], dict(strategy, set=settings), machine


def search(tool, rows):
    """The numbers of the rows, the shortest step first, with that; None if it says nothing."""
    parts = []
    for row in rows:
        preset = next(g[2] for g in accuracy.GROUPS if re.match(g[1], row["id"]))
        parts.append(split_flags(accuracy.get_flags(row, preset)))
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        for _, strategy, _ in parts:
            file.write(json.dumps(strategy) + "\n")
        file.flush()
        command = [tool, parts[0][0], f"--machine={parts[0][2]}", f"--among={file.name}",
                   f"--top={len(rows)}", "--memory-limit=1000000", "--json", "--quiet", "--jobs=1"]
        process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        print(process.stderr.strip().splitlines()[0], file=sys.stderr)
        return None
    return [(entry["number"], entry["step_seconds"])
            for entry in json.loads(process.stdout)["best"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measured")
    parser.add_argument("--tool", default="stg-search")
    parser.add_argument("--least", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with open(options.measured, encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    groups = collections.defaultdict(list)
    for row in rows:
        known = "layers" in row["hyper"] and not row["hyper"].get("sliding_window")
        job = get_job(row)
        if job[0] and known and accuracy.get_seconds(row) and re.search(options.only, row["id"]):
            groups[job].append(row)
    groups = {job: own for job, own in groups.items() if len(own) >= options.least}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        found = list(pool.map(lambda own: search(options.tool, own), groups.values()))
    print("strategies  pick, % slower  of first five  rank of fastest  job")
    picks, fives = [], []
    for (job, own), order in zip(groups.items(), found):
        if not order:
            continue
        measured = [accuracy.get_seconds(own[number]) for number, _ in order]
        best = min(measured)
        pick, five = measured[0] / best - 1, min(measured[:5]) / best - 1
        picks.append(pick)
        fives.append(five)
        print(f"{len(order):10}  {100 * pick:14.2f}  {100 * five:13.2f}  "
              f"{1 + measured.index(best):15}  {' '.join(str(word) for word in job[:7])}")
    if picks:
        print(f"{len(picks)} jobs: pick {100 * statistics.mean(picks):.2f} % slower on average, at "
              f"most {100 * max(picks):.2f} %; within 3 % in {sum(p <= 0.03 for p in picks)}; "
              f"first five have the fastest in {sum(f == 0 for f in fives)}")


if __name__ == "__main__":
    main()
