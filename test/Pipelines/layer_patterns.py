"""Layers by a pattern: a pipeline cuts anywhere, and a step is what one rank executes.

Inputs/patterns.mlir has dense layers first, then periods of local layers and a global one, in
repeats of repeats, then one more layer. However its 15 layers are divided, all ranks together
execute the products of one rank, each layer is in one stage, and its nodes have the names that
they have on one rank, but for the part of the periods that a layer is in.

Usage: layer_patterns.py
"""

import re
import tempfile
from pathlib import Path

import traces

MODEL = Path(__file__).parent / "Inputs" / "patterns.mlir"
BATCH = 12
LAYERS = 15

# Each with what it recomputes: nothing, or forward once more.
STRATEGIES = [
    ["--pp=3"],
    ["--pp=5", "--micro-batch=1"],
    ["--pp=3", "--virtual-stages=5", "--micro-batch=2", "--schedule=interleaved"],
    ["--pp=4", "--layers-per-stage=1,3,6,5", "--micro-batch=1"],
    ["--pp=4", "--layers-per-stage=3,1,1,10", "--micro-batch=1", "--dp=2", "--zero=1"],
    ["--pp=2", "--layers-per-stage=8,7", "--dp=2", "--zero=2", "--micro-batch=2"],
    ["--dp=2", "--zero=3"],
    ["--tp=2", "--sequence-parallel", "--pp=3"],
    ["--dp=2", "--ep=2", "--pp=3"],
    ["--pp=2", "--layers-per-stage=9,6", "--schedule=zb-h1", "--micro-batch=1"],
]
RECOMPUTED = [
    ["--recompute=full"],
    ["--pp=3", "--recompute=full", "--micro-batch=1"],
    ["--dp=2", "--zero=3", "--recompute=full"],
]


def compile_model(flags, *more):
    return traces.compile_json(MODEL, f"--batch={BATCH}", *flags, *more)


def layer_names(folder, ranks):
    """The forward projections of all ranks, each once for every time that it is executed."""
    found = set()
    for rank in range(ranks):
        for node in traces.nodes(folder, rank):
            if node.name.endswith("qkv_proj.fwd"):
                name = re.sub(r"^mb\d+\.", "", node.name)
                found.add(re.sub(r"^periods_\d+\.", "periods.", name))
    return found


def check(flags, expected, names):
    with tempfile.TemporaryDirectory() as folder:
        summary = compile_model(flags, "-o", folder)
        traces.run("stg-trace", "validate", folder)
        ranks = sum(entry["ranks"] for entry in summary["classes"])
        found = traces.products(summary)
        assert found == expected, f"{flags}: {found}, expected {expected}"
        layers = layer_names(folder, ranks)
        assert layers == names, f"{flags}: {sorted(layers ^ names)}"


def main():
    one = traces.products(compile_model([], "--dry-run"))
    with tempfile.TemporaryDirectory() as folder:
        compile_model([], "-o", folder)
        names = layer_names(folder, 1)
    assert len(names) == LAYERS, sorted(names)
    for flags in STRATEGIES:
        check(flags, one, names)
    for flags in RECOMPUTED:
        found = traces.products(compile_model(flags, "--dry-run"))
        assert found["fwd"] == one["fwd"] and found["bwd"] == one["bwd"], f"{flags}: {found}"
        replayed = found["recompute"]
        # The head is in no layer.
        head = 2 * BATCH * 16 * 64 * 256
        assert replayed == one["fwd"] - head, f"{flags}: replays {replayed} of {one['fwd']}"
    print(f"{len(STRATEGIES) + len(RECOMPUTED)} strategies")


if __name__ == "__main__":
    main()
