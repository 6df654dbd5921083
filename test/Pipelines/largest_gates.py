"""Gates that are kept if they are large for their token: what that costs, and what ranks that divide them exchange.

Usage: largest_gates.py FOLDER
"""

import json
import sys
from pathlib import Path

import traces
from comparing import equal, finish

HIDDEN, WIDTH, TABLE, LAYERS, BATCH, SEQ = 64, 96, 8, 4, 4, 32
TOKENS = BATCH * SEQ


def compile(folder, sparse, *flags):
    """With so many layers that keep the largest gates alone."""
    path = Path(folder) / f"sparse{sparse}.json"
    path.write_text(json.dumps({
        "model_type": "gemma3n_text", "hidden_size": HIDDEN, "intermediate_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": 8,
        "num_key_value_heads": 4, "head_dim": 8, "vocab_size": 128, "sliding_window": 8, "num_kv_shared_layers": 0, "hidden_size_per_layer_input": TABLE,
        "vocab_size_per_layer_input": 128, "laurel_rank": 8, "activation_sparsity_pattern": [0.95] * sparse + [0.0] * (LAYERS - sparse)}))
    return traces.compile_json(path, f"--batch={BATCH}", f"--seq={SEQ}", *flags, "--dry-run")["classes"][0]


def reduced(entry, phase):
    """Counts and bytes of all-reduces over tp."""
    found = [c for c in entry["collectives"] if c["kind"] == "all_reduce" and c["phase"] == phase]
    return sum(c["count"] for c in found), sum(c["bytes"] for c in found)


def check(folder, sparse, ranks):
    name = f"{sparse} layers on {ranks} ranks"
    dense, entry = (compile(folder, count, f"--tp={ranks}") for count in (0, sparse))
    # Of each gate two sums, a square, a difference and the ReLU; of each token two means, a square, a difference, a root, a
    # product and a sum.
    forward = sparse * TOKENS * (5 * WIDTH // ranks + 7)
    equal(f"{name}, forward", entry["operations_by_phase"]["fwd"] - dense["operations_by_phase"]["fwd"], forward)
    # Of each gate the gradients of the ReLU, the difference and the square, and two sums of gradients; but the activation of
    # a gate that is no part of one product with up is not computed again, and what both read has two gradients.
    gates, token = 1 + 1 + 2 + 2 - 8, 3 + 2 + 1 + 2 + 1
    # Two loops of layers add the gradients of the norm that they share.
    backward = sparse * TOKENS * (gates * WIDTH // ranks + token + HIDDEN) + (TABLE if sparse < LAYERS else 0)
    equal(f"{name}, backward", entry["operations_by_phase"]["bwd"] - dense["operations_by_phase"]["bwd"], backward)
    for phase, each in (("fwd", 2), ("bwd", 1)):
        more = [x - y for x, y in zip(reduced(entry, phase), reduced(dense, phase))]
        equal(f"{name}, reduced {phase}", more, [each * sparse, each * sparse * 2 * TOKENS] if ranks > 1 else [0, 0])


def main(folder):
    for sparse in (1, 3, 4):
        for ranks in (1, 2, 4):
            check(folder, sparse, ranks)
    finish()


main(*sys.argv[1:])
