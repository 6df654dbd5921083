"""Layers that read the keys of another one: what is kept, read and sent, of Gemma 4 and of small ones.

A layer has a cache if it has keys of its own. Layers with a window keep its tokens, and the others all;
each is read by itself and by those that share its keys. The numbers here are sums over the layers of a
configuration.

Usage: shared_keys.py FOLDER
"""

import json
import sys
from pathlib import Path

import traces
from comparing import equal, finish


def kinds_of(c):
    kinds = list(c.get("layer_types") or ["full_attention" if (i + 1) % 6 == 0 else "sliding_attention" for i in range(c["num_hidden_layers"])])
    return kinds[:-1] + ["full_attention"]


def keys_of(c, kind):
    """Key/value heads of a layer and their size."""
    if kind == "sliding_attention":
        return c["num_key_value_heads"], c.get("head_dim", 256)
    heads = c.get("num_global_key_value_heads") if c.get("attention_k_eq_v") else None
    return heads or c["num_key_value_heads"], c.get("global_head_dim", 512)


def kept(c, tokens, ranks=1):
    """Bytes of a request with so many tokens, on each rank: heads that ranks cannot divide are there several times."""
    total = 0
    for kind in kinds_of(c)[: c["num_hidden_layers"] - c.get("num_kv_shared_layers", 0)]:
        heads, size = keys_of(c, kind)
        there = min(tokens, c["sliding_window"]) if kind == "sliding_attention" else tokens
        total += 2 * 2 * max(1, heads // ranks) * size * there
    return total


def attended(c, new, cached):
    """Operations of a request's attention: new tokens see those before them, or a window."""
    total = 0
    for kind in kinds_of(c):
        size = keys_of(c, kind)[1]
        width = c["sliding_window"] if kind == "sliding_attention" else new + cached
        pairs = sum(min(width, cached + i + 1) for i in range(new))
        total += 4 * c["num_attention_heads"] * size * pairs
    return total


def weighed(c):
    """Operations of a token in matrices of layers."""
    D, own = c["hidden_size"], c["num_hidden_layers"] - c.get("num_kv_shared_layers", 0)
    total = 0
    for layer, kind in enumerate(kinds_of(c)):
        heads, size = keys_of(c, kind)
        projections = 0 if layer >= own else 1 if c.get("attention_k_eq_v") and kind == "full_attention" else 2
        width = c["intermediate_size"] * (2 if c.get("use_double_wide_mlp") and layer >= own else 1)
        total += 2 * D * size * (2 * c["num_attention_heads"] + projections * heads)
        total += 6 * D * width + 6 * D * c.get("hidden_size_per_layer_input", 256)
    return total


def run(path, batch, *flags):
    return traces.compile_json(path, f"--batch={batch}", *flags, "--dry-run")


def memory(result, rank=0):
    return result["classes"][rank]["memory"]["largest_bytes"].get("kv_cache", 0)


def check(path, c, batch):
    """Prompts, a token behind them, and tokens of several steps."""
    name, head = path.stem, 2 * c["hidden_size"] * c["vocab_size"]
    for tokens in (c["sliding_window"] // 2, 3 * c["sliding_window"] + 5):
        result = run(path, batch, "--mode=prefill", f"--seq={tokens}")
        equal(f"{name}, prompt of {tokens}", traces.products(result)["fwd"], batch * (attended(c, tokens, 0) + tokens * weighed(c) + head))
        equal(f"{name}, cache of {tokens}", memory(result), batch * kept(c, tokens))
        result = run(path, batch, "--mode=decode", f"--kv-len={tokens}")
        equal(f"{name}, token after {tokens}", traces.products(result)["fwd"], batch * (attended(c, 1, tokens) + weighed(c) + head))
        equal(f"{name}, cache with a token after {tokens}", memory(result), batch * kept(c, tokens + 1))
        result = run(path, batch, "--mode=decode", f"--kv-len={tokens}", "--steps=3")
        equal(f"{name}, cache with three tokens after {tokens}", memory(result), batch * kept(c, tokens + 3))


def main(folder):
    small = {"model_type": "gemma4_text", "hidden_size": 48, "num_hidden_layers": 10, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 12,
             "global_head_dim": 20, "intermediate_size": 40, "vocab_size": 96, "sliding_window": 16, "num_kv_shared_layers": 6, "attention_k_eq_v": True,
             "num_global_key_value_heads": 2, "use_double_wide_mlp": True, "hidden_size_per_layer_input": 8, "vocab_size_per_layer_input": 96,
             "layer_types": ["sliding_attention", "full_attention"] * 5}
    path = Path(folder) / "small.json"
    path.write_text(json.dumps(small))
    large = {"model_type": "gemma4_text", "hidden_size": 1536, "num_hidden_layers": 35, "num_attention_heads": 8, "num_key_value_heads": 1,
             "intermediate_size": 6144, "vocab_size": 262144, "sliding_window": 512, "num_kv_shared_layers": 20, "use_double_wide_mlp": True,
             "layer_types": (["sliding_attention"] * 4 + ["full_attention"]) * 7}
    text = Path(folder) / "large.json"
    text.write_text(json.dumps(large))
    check(path, small, 3)
    check(text, large, 8)
    # Two axes of ranks that have the same heads: of layers with a window, and of the others.
    for ranks in (2, 4, 8):
        result = run(path, 4, f"--tp={ranks}", "--mode=decode", "--kv-len=100")
        equal(f"cache on {ranks} ranks", memory(result), 4 * kept(small, 101, ranks))
    # Stages hand on the stream and the first embeddings; the one with keys has all layers that read them.
    result = run(path, 4, "--pp=2", "--layers-per-stage=1,7", "--mode=decode", "--kv-len=100")
    sent = [sum(message["bytes"] for message in entry["messages"] if message["kind"] == "send") for entry in result["classes"]]
    equal("messages", sent, [2 * 2 * 4 * small["hidden_size"], 0])
    equal("caches of stages", memory(result, 0) + memory(result, 1), 4 * kept(small, 101))
    finish()


main(*sys.argv[1:])
