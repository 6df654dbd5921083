"""Compares a search with an exhaustive one, and a sample of its strategies with stg-estimate."""
import csv
import json
from fractions import Fraction
import os
import shlex
import subprocess
import sys

folder, flags = sys.argv[1], sys.argv[2:]
MOST = 16


def run(*command):
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 0, (command, process.stderr)
    return process.stdout


def search(name, *more):
    path = os.path.join(folder, name + ".csv")
    result = json.loads(run("stg-search", *flags, "--top=5", "--json", "--csv=" + path, *more))
    with open(path, encoding="utf-8") as file:
        return result, list(csv.DictReader(file))


def costs(row):
    """All that may be compared. The less, the better."""
    ticks, ranks, tokens = round(float(row["step_seconds"]) * 1e12), int(row["ranks"]), int(row["tokens"])
    interval = row.get("interval_seconds", row.get("step_interval_seconds", row["step_seconds"]))
    return {"time": ticks, "memory": int(row["memory_bytes"]), "devices": ranks,
            "throughput": Fraction(round(float(interval) * 1e12) * ranks, tokens), "job": (ranks, tokens)}


def front(rows, criteria, within):
    """What no row is as good as in all criteria, of those that are short enough for their job."""
    fastest = {}
    for row in rows:
        fastest[row["job"]] = min(row["time"], fastest.get(row["job"], row["time"]))
    points = {tuple(row[name] for name in criteria) for row in rows
              if row["time"] <= fastest[row["job"]] * within}
    return sorted(one for one in points if not any(
        other != one and all(a <= b for a, b in zip(other, one)) for other in points))


def key(entry, tokens):
    """The same of what the search says."""
    return costs({**entry, "tokens": tokens})


fast, _ = search("fast")
full, rows = search("full", "--exhaustive")
counts = fast["strategies"]
assert counts["all"] == full["strategies"]["all"] == sum(
    full["strategies"][key] for key in ("estimated", "refused", "cut_by_time")), full["strategies"]
assert full["strategies"]["cut_by_time"] == full["strategies"]["cut_by_memory"] == 0
assert len(rows) > 5, len(rows)
# Bounds are least times and memory; strategies that offload have none.
for row in rows:
    has_bounds = row.get("offload", "none") in ("", "none")
    for least, found in (("at_least_seconds", "step_seconds"), ("at_least_bytes", "memory_bytes"),
                         ("at_least_interval_seconds", "interval_seconds")):
        assert float(row[least]) <= float(row[found]), (least, row)
        assert (float(row[least]) > 0) == has_bounds, (least, row)
every, goal = [costs(row) for row in rows], fast["goal"]
tokens = {int(row["number"]): row["tokens"] for row in rows}
best = sorted(row[goal] for row in every)[:5]
found = [key(entry, tokens[entry["number"]]) for entry in fast["best"]]
assert [entry[goal] for entry in found] == best, (fast["best"], best)
found = [key(entry, tokens[entry["number"]]) for entry in fast["front"]]
found = sorted(tuple(entry[name] for name in fast["front_of"]) for entry in found)
assert found == front(every, fast["front_of"], 1.1), (found, front(every, fast["front_of"], 1.1))
assert [entry["step_seconds"] for entry in fast["front"]] == sorted(
    entry["step_seconds"] for entry in fast["front"])
exact, least = {"time": ("step_seconds", "at_least_seconds"),
                "throughput": ("device_seconds_per_token", "at_least_device_seconds_per_token")}[goal]
for axis in fast["axes"]:
    for value in axis["values"]:
        own = [float(costs(row)[goal]) * 1e-12 for row in rows if row.get(axis["flag"]) == value["value"]]
        if not own:
            continue
        if exact in value:
            assert min(own) <= value[exact] * (1 + 1e-9), (axis["flag"], value)
        assert min(value.get(exact, 1e9), value.get(least, 1e9)) <= min(own) * (1 + 1e-9), (axis["flag"], value, min(own))

# Evenly over all that were estimated, the slowest among them.
machine = [flag for flag in flags if flag.startswith("--machine")]
model = [flag for flag in flags if not flag.startswith("--")]
fields = [field for field in rows[0] if field not in
          ("number", "step_seconds", "memory_bytes", "ranks", "tokens", "mfu", "hfu",
           "at_least_seconds", "at_least_bytes", "interval_seconds", "at_least_interval_seconds")]
sample = [rows[i * (len(rows) - 1) // (MOST - 1)] for i in range(MOST)]
for row in sample:
    given = [f"--{field}={value}" for field in fields if row[field]
             for value in (row[field].split(",") if field == "set" else [row[field]])]
    report = json.loads(run("stg-estimate", *model, *machine, *given, "--json"))
    assert f"{report['step_seconds']:.12f}" == row["step_seconds"], (given, report, row)
    assert report["memory"]["needed_bytes"] == int(float(row["memory_bytes"])), (given, report, row)
    assert report["ranks"] == int(row["ranks"]), (given, report, row)
    interval = report.get("step_interval_seconds", report["step_seconds"])
    assert f"{interval:.12f}" == row["interval_seconds"], (given, report, row)
    rate = int(row["tokens"]) / interval / report["ranks"]
    assert abs(report["tokens_per_second_and_device"] / rate - 1) < 1e-9, (given, report, row)

# The command of the best is one of stg-compile.
command = shlex.split(fast["best"][0]["command"])
assert command[0] == "stg-compile", command
report = json.loads(run("stg-estimate", *command[1:], *machine, "--json"))
assert report["step_seconds"] == fast["best"][0]["step_seconds"], (command, report)
cut = counts["cut_by_time"] + counts["cut_by_memory"]
print(f"{counts['all']} strategies, {cut} cut, {len(sample)} compared, {goal}, front of {', '.join(fast['front_of'])}")
