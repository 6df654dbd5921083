#!/usr/bin/env python3
"""usage: timeline.py SUMMARY PREFIX: the peak that a summary (--json) states is the largest
sum of a row of its class's timeline, and the largest value of each category that of its
column."""
import csv
import json
import sys

summary, prefix = sys.argv[1:]
for entry in json.load(open(summary))["classes"]:
    rows = list(csv.DictReader(open(f"{prefix}.{entry['graph']}.csv")))
    categories = list(rows[0])[2:]
    sums = [sum(int(row[name]) for name in categories) for row in rows]
    memory = entry["memory"]
    numbers = [int(row["node"]) for row in rows]
    assert numbers == sorted(set(numbers)), entry["graph"]
    assert all(before != after for before, after in zip(sums, sums[1:])), entry["graph"]
    assert max(sums) == memory["peak_bytes"]["total"], entry["graph"]
    assert rows[sums.index(max(sums))]["path"] == memory["peak_at"], entry["graph"]
    for name in categories:
        largest = max(int(row[name]) for row in rows)
        assert largest == memory["largest_bytes"].get(name, 0), (entry["graph"], name)
    print(f"{entry['graph']}: {len(rows)} lines")
