"""Compares the products of backward of models with adapters with closed forms, for one layer and more.

T tokens, h hidden, a heads of d and g of keys, f feed-forward, V vocabulary, r the rank. The head
gives a gradient of what it reads (2 T h V). A layer of which nobody needs the gradient of what it
reads has that of the output projection, of the feed-forward and, of attention, of values, scores
and queries, and of adapters all but the gradient of their input. Where the adapters are at the
down projection alone, all but the adapters themselves lies before them. Other layers have all.

Layers of DeepSeek begin with a repeat of dense ones. With more of them each adds as much as the
one before, also the second one to a single one but for what the first one lacks.

Usage: first_layers.py FOLDER
"""

import json
import sys
from pathlib import Path

import traces
from comparing import equal, finish

h, a, g, d, f, V, r, B, S = 256, 16, 4, 24, 512, 1024, 8, 4, 64
T = B * S
LLAMA = {"model_type": "llama", "hidden_size": h, "intermediate_size": f, "num_hidden_layers": 4,
         "num_attention_heads": a, "num_key_value_heads": g, "head_dim": d, "vocab_size": V,
         "max_position_embeddings": S, "tie_word_embeddings": False}
# A pair of products of attention, QK^T or PV, of a causal mask.
PAIRS = 2 * B * a * (S * (S + 1) // 2) * d
OUTPUT = 2 * T * a * d * h
QKV = 2 * T * h * (a + 2 * g) * d
FEED_FORWARD = 2 * T * 3 * h * f


def adapter(inputs, outputs, has_input):
    """The gradients of both factors and of what lies between, and that of the input."""
    return 2 * T * r * (2 * outputs + inputs * (2 if has_input else 1))


def attention_targets(layers):
    """q_proj and v_proj."""
    def adapters(has_input):
        return adapter(h, a * d, has_input) + adapter(h, g * d, has_input)
    first = OUTPUT + FEED_FORWARD + 3 * PAIRS + adapters(False)
    other = OUTPUT + FEED_FORWARD + 4 * PAIRS + QKV + adapters(True)
    return 2 * T * h * V + first + (layers - 1) * other


def down_target(layers):
    other = OUTPUT + FEED_FORWARD + 4 * PAIRS + QKV + adapter(f, h, True)
    return 2 * T * h * V + adapter(f, h, False) + (layers - 1) * other


def compile_step(path, targets, *flags):
    return traces.compile_json(path, f"--batch={B}", f"--seq={S}", f"--lora=rank={r},targets={targets}", *flags,
                               "--dry-run")


def main(folder):
    path = Path(folder) / "llama.json"
    path.write_text(json.dumps(LLAMA))
    equal("the exact case", [attention_targets(n) for n in (1, 2)], [411_074_560, 771_915_776])
    equal("the exact case, down", down_target(1), 138_412_032)
    for layers in (1, 2, 3, 4):
        for targets, expected in ("q_proj:v_proj", attention_targets), ("down_proj", down_target):
            summary = compile_step(path, targets, f"--set=L={layers}")
            equal(f"{layers} layers, {targets}", traces.products(summary)["bwd"], expected(layers))
    # With replays what the first layer reads has a gradient, whether it is the only one or not.
    for targets, expected in ("q_proj:v_proj", attention_targets), ("down_proj", down_target):
        found = [traces.products(compile_step(path, targets, f"--set=L={n}", "--recompute=full"))["bwd"]
                 for n in (1, 2)]
        step = expected(2) - expected(1)
        equal(f"replayed, {targets}", found, [2 * T * h * V + step, 2 * T * h * V + 2 * step])
    for name in "deepseek-v2-lite", "kimi-k2":
        for targets in "q_proj", "down_proj", "all-linear":
            if name == "kimi-k2" and targets == "q_proj":
                targets = "q_a_proj"
            bwd = {n: traces.products(compile_step(name, targets, f"--set=LD={n}", f"--set=L={n + 2}"))["bwd"]
                   for n in (1, 2, 3, 4)}
            equal(f"{name}, {targets}: layers of their own", bwd[2] - bwd[1], bwd[3] - bwd[2])
            equal(f"{name}, {targets}: further layers", bwd[4] - bwd[3], bwd[3] - bwd[2])


main(sys.argv[1])
finish()
