"""Key/value heads of the text on several ranks, beside a tower of images with heads of its own.

What all ranks of tp together execute in products is W + (tp - 1) R: R is what each rank has whole
(patches, what joins them with the text). With twice as many ranks as key/value heads the projections of
these are there twice. W and R follow from one and two ranks.
"""
import json
import subprocess


def count(model, tp, *flags):
    text = subprocess.run(["stg-compile", model, "--batch=2", "--seq=512", f"--tp={tp}", "--dry-run", "--json", *flags],
                          check=True, capture_output=True, text=True).stdout
    entries = json.loads(text)["classes"]
    # And the parameters that a rank has of the tower and of the text.
    return (sum(entry["ranks"] * sum(entry["matrix_operations_by_phase"].values()) for entry in entries),
            sum(entry["ranks"] * entry["memory"]["persistent_bytes"]["parameter"] for entry in entries))


def check(model, layers, hidden, kv_heads, head_size, *flags):
    one, two = count(model, 1, *flags), count(model, 2, *flags)
    whole = [b - a for a, b in zip(one, two)]
    tp = 2 * kv_heads
    # Keys and values; three products of each in training, one in a chunk of a prompt.
    weights = layers * 2 * kv_heads * head_size * hidden
    tokens, passes = 2 * 512, 1 if flags else 3
    found = count(model, tp, *flags)
    expected = one[0] + (tp - 1) * whole[0] + 2 * passes * tokens * weights
    assert found[0] == expected, (model, flags, found[0], expected)
    biases = layers * 2 * kv_heads * head_size if model.startswith("qwen") else 0
    expected = one[1] + (tp - 1) * whole[1] + 2 * (weights + biases)
    assert found[1] == expected, (model, flags, found[1], expected)


for flags in ([], ["--kv-len=100"]):
    check("qwen2.5-vl-3b", 36, 2048, 2, 128, *flags)
    check("gemma-3-4b", 34, 2560, 4, 256, *flags)
