"""Checks a timeline of stg-estimate against the estimate itself.

check-timeline.py TIMELINE ESTIMATE MANIFEST: of each class the timeline has the first
rank."""

import json
import sys
from collections import defaultdict
from decimal import Decimal


def read(path, **options):
    with open(path) as file:
        return json.load(file, **options)


timeline = read(sys.argv[1], parse_float=Decimal)
report = read(sys.argv[2])
manifest = read(sys.argv[3])
events = timeline["traceEvents"]
world = timeline["distributedInfo"]["world_size"]
assert world == report["ranks"]
spans = [event for event in events if event["ph"] == "X"]
ranks = sorted({event["pid"] for event in spans} - {world})
assert timeline["distributedInfo"] == {"backend": "nccl", "rank": ranks[0], "world_size": world}
assert len(ranks) == len(report["classes"])

# Times are whole picoseconds, as microseconds with six digits.
step = Decimal(round(report["step_seconds"] * 1e12)) / 10**6
assert max(event["ts"] + event["dur"] for event in spans) == step
assert report["critical_path"]["seconds"] == report["step_seconds"]

# The critical path is one piece, from the start to the end.
time = Decimal(0)
kinds = defaultdict(Decimal)
for event in spans:
    if event["pid"] == world:
        assert event["ts"] == time, (event, time)
        time += event["dur"]
        kinds[event["args"]["kind"]] += event["dur"]
assert time == step
assert "waiting" not in kinds
assert set(kinds) == set(report["critical_path"]["kinds"])
for kind, seconds in report["critical_path"]["kinds"].items():
    assert round(seconds * 1e12) == kinds[kind] * 10**6, kind

# Spans of a thread do not overlap but by being in one another.
threads = defaultdict(list)
for event in spans:
    threads[event["pid"], event["tid"]].append((event["ts"], -event["dur"]))
for entries in threads.values():
    stack = []
    for start, length in sorted(entries):
        while stack and stack[-1] <= start:
            stack.pop()
        assert not stack or start - length <= stack[-1]
        stack.append(start - length)

# What the compute stream executes and what it waits for are the whole step.
kernels = waits = Decimal(0)
for rank in ranks:
    own = [event for event in spans if event["pid"] == rank]
    busy = [event for event in own if event["tid"] in (2, 7)]
    time = Decimal(0)
    for event in sorted(busy, key=lambda event: event["ts"] + event["dur"]):
        assert event["ts"] == time or not event["dur"], event
        time = event["ts"] + event["dur"]
    assert time == step
    # Each node is there.
    name = next(e["args"]["name"] for e in events if e["name"] == "process_name" and e["pid"] == rank)
    assert name.startswith(f"rank {rank} ("), name
    [entry] = [entry for entry in manifest["classes"] if name.endswith(", " + entry["graph"])]
    nodes = [event for event in own if event["cat"] == "kernel" and event["args"]["correlation"]]
    sorts = ("compute", "collective", "send", "recv")
    assert len(nodes) == sum(entry.get(sort + "_nodes", 0) for sort in sorts)
    assert len({event["args"]["node"] for event in nodes}) == len(nodes)
    executed = [event for event in busy if event["tid"] == 7 and event["args"]["correlation"]]
    kernels += entry["ranks"] * sum(event["dur"] for event in executed)
    waits += entry["ranks"] * sum(event["dur"] for event in busy if event["tid"] == 2)
    # Memory is that of the manifest.
    counters = [event for event in events if event["ph"] == "C" and event["pid"] == rank]
    assert max(sum(c["args"].values()) for c in counters) == entry["memory"]["peak_bytes"]["total"]
    assert [c["ts"] for c in counters] == sorted(c["ts"] for c in counters)
    # Tools tell communication by its name.
    for event in nodes:
        assert event["name"].startswith("ncclDevKernel_") == ("Collective name" in event["args"])
parts = report["time"]
for got, names in (
    (kernels, ("products", "attention", "other_kernels")),
    (waits, ("bubble", "host")),
):
    expected = sum(parts[name] for name in names)
    expected += sum(parts["exposed"].values()) if "host" in names else 0
    # Means are rounded to picoseconds, each part by itself.
    assert abs(float(got) / 1e6 / world - expected) < 20e-12, (got, names, expected)

# An arrow begins in a send, and ends in its receive on another rank, after it.
starts, ends = ({e["id"]: e for e in events if e["ph"] == phase} for phase in "sf")
assert starts.keys() == ends.keys()
assert len(starts) == sum(e["ph"] == "s" for e in events)
place = {(e["pid"], e["tid"], e["ts"]): e for e in spans}
for number, start in starts.items():
    end = ends[number]
    send = place[start["pid"], start["tid"], start["ts"]]
    assert send["args"]["Collective name"] == "send"
    assert send["args"]["Dst Rank"] == end["pid"] and send["args"]["Src Rank"] == start["pid"]
    assert send["ts"] <= end["ts"] <= send["ts"] + send["dur"]
print(len(ranks), "ranks,", len(starts), "arrows")
