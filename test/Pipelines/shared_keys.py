"""Layers that read the keys of another one: what is multiplied, kept, read and sent, of Gemma 3n and 4 and of small ones.

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
    is_3n = c["model_type"] == "gemma3n_text"
    period = 5 if is_3n else 6
    kinds = list(c.get("layer_types") or ["full_attention" if (i + 1) % period == 0 else "sliding_attention" for i in range(c["num_hidden_layers"])])
    return kinds if is_3n else kinds[:-1] + ["full_attention"]


def keys_of(c, kind):
    """Key/value heads of a layer and their size."""
    if kind == "sliding_attention" or c["model_type"] == "gemma3n_text":
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
        widths = c["intermediate_size"]
        width = widths[layer] if isinstance(widths, list) else widths * (2 if c.get("use_double_wide_mlp") and layer >= own else 1)
        total += 2 * D * size * (2 * c["num_attention_heads"] + projections * heads)
        total += 6 * D * width + 6 * D * c.get("hidden_size_per_layer_input", 256)
    if c["model_type"] == "gemma3n_text":
        total += c["num_hidden_layers"] * streams(D, c["altup_num_inputs"], c["laurel_rank"]) + 4 * (c["altup_num_inputs"] - 1) * D**2
    return total


def streams(D, count, rank):
    """Operations of a token in what Gemma 3n has beside attention and a network: two routers, a mix of all streams and what it
    and the correction are made of, and a product of a low rank."""
    return 2 * 2 * D * count + 2 * count**3 + 2 * count**2 * D + 2 * count**2 + 2 * 2 * D * rank


def run(path, batch, *flags):
    return traces.compile_json(path, f"--batch={batch}", *flags, "--dry-run")


def memory(result, rank=0):
    return result["classes"][rank]["memory"]["largest_bytes"].get("kv_cache", 0)


def check(path, c, batch):
    """A step of training, prompts, a token behind them, and tokens of several steps."""
    name, head = path.stem, 2 * c["hidden_size"] * c["vocab_size"]
    for tokens in (c["sliding_window"] // 2, 3 * c["sliding_window"] + 5):
        result, forward = traces.products(run(path, batch, f"--seq={tokens}")), batch * (attended(c, tokens, 0) + tokens * (weighed(c) + head))
        # Each correction is a product of a stream and a number, which sums nothing but in its gradients.
        corrections = batch * tokens * c["num_hidden_layers"] * c.get("altup_num_inputs", 0) * c["hidden_size"]
        equal(f"{name}, {tokens} tokens", (result["fwd"], result["bwd"]), (forward, 2 * forward + 4 * corrections))
        result = run(path, batch, "--mode=prefill", f"--seq={tokens}")
        equal(f"{name}, prompt of {tokens}", traces.products(result)["fwd"], batch * (attended(c, tokens, 0) + tokens * weighed(c) + head))
        equal(f"{name}, cache of {tokens}", memory(result), batch * kept(c, tokens))
        result = run(path, batch, "--mode=decode", f"--kv-len={tokens}")
        equal(f"{name}, token after {tokens}", traces.products(result)["fwd"], batch * (attended(c, 1, tokens) + weighed(c) + head))
        equal(f"{name}, cache with a token after {tokens}", memory(result), batch * kept(c, tokens + 1))
        result = run(path, batch, "--mode=decode", f"--kv-len={tokens}", "--steps=3")
        equal(f"{name}, cache with three tokens after {tokens}", memory(result), batch * kept(c, tokens + 3))


def check_ranks(path, c, ranks, stages):
    """Axes of ranks that divide heads, and stages of which one has all layers with keys and those that read them."""
    name = path.stem
    for count in ranks:
        result = run(path, 4, f"--tp={count}", "--mode=decode", "--kv-len=100")
        equal(f"{name}, cache on {count} ranks", memory(result), 4 * kept(c, 101, count))
    result = run(path, 4, "--pp=2", f"--layers-per-stage={stages}", "--mode=decode", "--kv-len=100")
    sent = [sum(message["bytes"] for message in entry["messages"] if message["kind"] == "send") for entry in result["classes"]]
    # Beside the first embeddings.
    streams = c.get("altup_num_inputs", 1)
    equal(f"{name}, messages", sent, [2 * (streams + 1) * 4 * c["hidden_size"], 0])
    equal(f"{name}, caches of stages", memory(result, 0) + memory(result, 1), 4 * kept(c, 101))


def write(folder, name, **config):
    path = Path(folder) / f"{name}.json"
    path.write_text(json.dumps(config))
    return path, config


def main(folder):
    small = write(folder, "small", model_type="gemma4_text", hidden_size=48, num_hidden_layers=10, num_attention_heads=8, num_key_value_heads=4, head_dim=12,
                  global_head_dim=20, intermediate_size=40, vocab_size=96, sliding_window=16, num_kv_shared_layers=6, attention_k_eq_v=True,
                  num_global_key_value_heads=2, use_double_wide_mlp=True, hidden_size_per_layer_input=8, vocab_size_per_layer_input=96,
                  layer_types=["sliding_attention", "full_attention"] * 5)
    large = write(folder, "large", model_type="gemma4_text", hidden_size=1536, num_hidden_layers=35, num_attention_heads=8, num_key_value_heads=1,
                  intermediate_size=6144, vocab_size=262144, sliding_window=512, num_kv_shared_layers=20, use_double_wide_mlp=True,
                  layer_types=(["sliding_attention"] * 4 + ["full_attention"]) * 7)
    # Each second layer keeps the largest gates alone, which multiplies nothing less, and networks have different widths.
    streams = write(folder, "streams", model_type="gemma3n_text", hidden_size=48, num_hidden_layers=10, num_attention_heads=8, num_key_value_heads=4, head_dim=12,
                    intermediate_size=[40, 24] * 5, vocab_size=96, sliding_window=16, num_kv_shared_layers=6, hidden_size_per_layer_input=8,
                    vocab_size_per_layer_input=96, layer_types=["sliding_attention", "full_attention"] * 5, altup_num_inputs=3, laurel_rank=6,
                    activation_sparsity_pattern=[0.95, 0.0] * 5)
    e2b = write(folder, "gemma-3n-e2b", model_type="gemma3n_text", hidden_size=2048, num_hidden_layers=30, num_attention_heads=8, num_key_value_heads=2,
                intermediate_size=8192, vocab_size=262400, sliding_window=512, num_kv_shared_layers=10, altup_num_inputs=4, laurel_rank=64)
    for model, batch in ((small, 3), (large, 8), (streams, 3), (e2b, 8)):
        check(*model, batch)
    # Two axes of ranks that have the same heads: of layers with a window, and of the others.
    check_ranks(*small, (2, 4, 8), "1,7")
    check_ranks(*streams, (2, 4, 8), "1,7")
    finish()


main(*sys.argv[1:])
