"""Numbers that a script compares with closed forms: what differs is said, and all of it."""

import sys
from collections import Counter

import traces

_DIFFERENT = []


def equal(what, found, want):
    """Reports a difference."""
    if found != want:
        _DIFFERENT.append(what)
        print(f"{what}: found {found}, expected {want}")


def compile_one(model, *flags):
    """The only class of ranks."""
    (entry,) = traces.compile_json(model, "--dry-run", *flags)["classes"]
    return entry


def totals(entry):
    """What adds up over steps."""
    sums = Counter(operations=entry["operations"], traffic=entry["memory_traffic_bytes"], compute=entry["compute_nodes"])
    sums["collective nodes"] = entry["collective_nodes"]
    for phase, operations in entry["matrix_operations_by_phase"].items():
        sums["products", phase] = operations
    for c in entry["collectives"]:
        sums["count", c["kind"], *c["axes"]] += c["count"]
        sums["bytes", c["kind"], *c["axes"]] += c["bytes"]
    return sums


def messages(entry):
    """(count, bytes) by (kind, shift)."""
    sums = {}
    for m in entry.get("messages", []):
        count, size = sums.get((m["kind"], m["shift"]), (0, 0))
        sums[m["kind"], m["shift"]] = (count + m["count"], size + m["bytes"])
    return sums


def finish():
    """Ends the script; its exit status says whether all numbers agree."""
    sys.exit(bool(_DIFFERENT))
