"""Recomputation, and ZeRO-3 beside it, of models whose layers differ by a pattern.

What is replayed is told by products, which layers of both kinds have alike; what ZeRO-3 gathers in backward is each
layer once, whether it is replayed or not.

Usage: recomputed_patterns.py FOLDER
"""

import json
import sys
from pathlib import Path

import traces
from comparing import equal, finish

LAYERS, D, H, K, E, F, V, S, WINDOW = 8, 64, 8, 4, 8, 96, 128, 32, 8
BATCH = 16


def layer_products(layer):
    """Operations of a layer's products, of a micro-batch of all sequences."""
    pairs = S * (S + 1) // 2 if layer % 2 else WINDOW * (WINDOW + 1) // 2 + (S - WINDOW) * WINDOW
    weighed = D * E * (2 * H + 2 * K) + 3 * D * F
    return BATCH * (2 * S * weighed + 4 * H * E * pairs)


def layer_parameters():
    return D * E * (2 * H + 2 * K) + 3 * D * F + 4 * D


def run(path, *flags):
    return traces.compile_json(path, f"--batch={BATCH}", *flags, "--dry-run")


def main(folder):
    path = Path(folder) / "pattern.json"
    path.write_text(json.dumps({
        "model_type": "gemma2", "hidden_size": D, "num_hidden_layers": LAYERS, "num_attention_heads": H, "num_key_value_heads": K, "head_dim": E,
        "intermediate_size": F, "vocab_size": V, "sliding_window": WINDOW, "max_position_embeddings": S}))  # fmt: skip
    every = sum(layer_products(layer) for layer in range(LAYERS))
    for flags in ([], ["--recompute-layers=2"], ["--recompute-layers=4"], ["--recompute-layers=8"], ["--pp=4", "--micro-batch=4"]):
        equal(f"replayed, {flags}", traces.products(run(path, "--recompute=full", *flags))["recompute"], every)
    block = ["--recompute=full", "--recompute-method=block"]
    for first in (2, 4, 6):
        expected = sum(layer_products(layer) for layer in range(first))
        equal(f"replayed of the first {first}", traces.products(run(path, *block, f"--recompute-layers={first}"))["recompute"], expected)
    # Two layers of each of two stages.
    result = run(path, *block, "--recompute-layers=2", "--pp=2", "--micro-batch=4")
    equal("replayed in stages", traces.products(result)["recompute"], 2 * (layer_products(0) + layer_products(1)))
    for flags in ([], ["--recompute=full"]):
        (entry,) = run(path, "--dp=2", "--zero=3", *flags)["classes"]
        gathers = [c for c in entry["collectives"] if c["kind"] == "all_gather" and c["phase"] == "bwd"]
        found = [(c["count"], c["bytes"]) for c in gathers]
        equal(f"gathered in backward, {flags}", found, [(LAYERS, LAYERS * layer_parameters())])
    finish()


main(*sys.argv[1:])
