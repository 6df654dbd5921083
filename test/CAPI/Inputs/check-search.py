"""What the structs of a search have is what its JSON has, and that is what the tool prints."""

import json
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    # The clock's.
    assert report.pop("seconds") > 0
    return report


tool, library = read(sys.argv[1]), read(sys.argv[2])
assert tool == library, (tool, library)
entries, best, front, values = [], 0, [], []
with open(sys.argv[3], encoding="utf-8") as file:
    counts = next(file).split()
    for line in file:
        kind, rest = line.rstrip("\n").split(" ", 1)
        if kind in ("best", "also"):
            best += kind == "best"
            numbers, text = rest.split(": ", 1)
            command, strategy = text.split(" {", 1)
            seconds, _, _, parts, _, total, needed, _, ranks, _, _, mfu, hfu, _, rate = \
                numbers.replace(",", "").split()
            assert parts == total, line
            entries.append({
                "step_seconds": float(seconds), "memory_bytes": int(float(needed)),
                "ranks": int(ranks), "mfu": float(mfu), "hfu": float(hfu), "command": command,
                "tokens_per_second_and_device": float(rate),
                "strategy": json.loads("{" + strategy)})
        elif kind == "goal":
            goal, bits = rest.split(", front of ")
            assert ["", "time", "throughput"][int(goal)] == tool["goal"], line
            names = [name for i, name in enumerate(("memory", "devices", "throughput"))
                     if int(bits) >> i & 1]
            assert tool["front_of"] == ["time", *names], line
        elif kind == "front":
            front.append(int(rest))
        else:
            value, numbers = rest.split(": ")
            seconds, least = (float(number) for number in numbers.split(", at least "))
            values.append((kind, value, seconds, least))

wanted = tool["strategies"]
assert [int(counts[1]), int(counts[3]), *map(int, counts[5].split("+")), int(counts[7]),
        int(counts[9].rstrip(","))] == [
    wanted[key] for key in ("all", "estimated", "cut_by_time", "cut_by_memory", "too_large",
                            "refused")], counts
assert best == len(tool["best"]) and len(front) == len(tool["front"])
for own, theirs in [*zip(entries, tool["best"]), *zip((entries[i] for i in front), tool["front"])]:
    assert own == {key: theirs[key] for key in own}, (own, theirs)
assert values == [(axis["flag"], value["value"], value.get("step_seconds", 0),
                   value.get("at_least_seconds", 0))
                  for axis in tool["axes"] for value in axis["values"]], values
