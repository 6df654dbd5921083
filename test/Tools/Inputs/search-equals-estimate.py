"""Compares a search with an exhaustive one, and a sample of its strategies with stg-estimate."""
import csv
import json
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


def front(rows, within):
    """Times and memory than which no row has less of both."""
    rows = sorted({(row["step_seconds"], row["memory_bytes"]) for row in rows})
    result = []
    for seconds, memory in rows:
        if seconds <= rows[0][0] * within and (not result or memory < result[-1][1]):
            result.append((seconds, memory))
    return result


def numbers(rows):
    return [{"step_seconds": float(row["step_seconds"]), "memory_bytes": float(row["memory_bytes"])}
            for row in rows]


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
    for least, found in (("at_least_seconds", "step_seconds"), ("at_least_bytes", "memory_bytes")):
        assert float(row[least]) <= float(row[found]), (least, row)
        assert (float(row[least]) > 0) == has_bounds, (least, row)
every = numbers(rows)
best = sorted(row["step_seconds"] for row in every)[:5]
assert [round(entry["step_seconds"], 12) for entry in fast["best"]] == best, (fast["best"], best)
found = [(round(entry["step_seconds"], 12), float(entry["memory_bytes"])) for entry in fast["front"]]
assert found == front(every, 1.1), (found, front(every, 1.1))
for axis in fast["axes"]:
    for value in axis["values"]:
        own = [float(row["step_seconds"]) for row in rows if row.get(axis["flag"]) == value["value"]]
        if not own:
            continue
        if "step_seconds" in value:
            assert min(own) <= round(value["step_seconds"], 12), (axis["flag"], value)
        least = min(value.get("step_seconds", 1e9), value.get("at_least_seconds", 1e9))
        assert least <= min(own) + 1e-12, (axis["flag"], value, min(own))

# Evenly over all that were estimated, the slowest among them.
machine = [flag for flag in flags if flag.startswith("--machine")]
model = [flag for flag in flags if not flag.startswith("--")]
fields = [field for field in rows[0] if field not in
          ("number", "step_seconds", "memory_bytes", "ranks", "mfu", "hfu", "at_least_seconds",
           "at_least_bytes")]
sample = [rows[i * (len(rows) - 1) // (MOST - 1)] for i in range(MOST)]
for row in sample:
    given = [f"--{field}={row[field]}" for field in fields if row[field]]
    report = json.loads(run("stg-estimate", *model, *machine, *given, "--json"))
    assert f"{report['step_seconds']:.12f}" == row["step_seconds"], (given, report, row)
    assert report["memory"]["needed_bytes"] == int(float(row["memory_bytes"])), (given, report, row)
    assert report["ranks"] == int(row["ranks"]), (given, report, row)

# The command of the best is one of stg-compile.
command = shlex.split(fast["best"][0]["command"])
assert command[0] == "stg-compile", command
report = json.loads(run("stg-estimate", *command[1:], *machine, "--json"))
assert report["step_seconds"] == fast["best"][0]["step_seconds"], (command, report)
cut = counts["cut_by_time"] + counts["cut_by_memory"]
print(f"{counts['all']} strategies, {cut} cut, {len(sample)} compared")
