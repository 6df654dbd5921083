"""What scripts of DLRM have in common."""

import traces

BF16, FP32, ID = 2, 4, 4


def widths(dense, tables, d, bottom, top):
    """Pairs of widths of the layers, those for numbers and those for the answer."""
    first, second = [dense, *bottom, d], [d + tables * (tables + 1) // 2, *top, 1]
    return list(zip(first, first[1:])), list(zip(second, second[1:]))


def compile(name, *flags):
    return traces.compile_json(name, *flags, "--dry-run")


def expect(what, have, want):
    if have != want:
        raise SystemExit(f"{what}: {have}, expected {want}")


def collectives(entry):
    return sorted((c["kind"], c["phase"], c["count"], c["bytes"]) for c in entry["collectives"])
