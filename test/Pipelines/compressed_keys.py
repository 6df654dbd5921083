"""Steps of a small DeepSeek-V4 against sums over its tokens, one after the other.

Prompts, tokens behind any number of others, lists of requests, and several steps: products are what
each new token executes, with the pairs that it sees of the window, of blocks that it selects, and of
blocks that it does not; caches are what requests have room for.

Usage: compressed_keys.py
"""

import json
import random
import tempfile
from pathlib import Path

import traces

LONG, SHORT = 16, 4
KINDS = {"sliding_attention": 0, "compressed_sparse_attention": SHORT, "heavily_compressed_attention": LONG}
CONFIG = {
    "model_type": "deepseek_v4", "vocab_size": 96, "hidden_size": 64, "moe_intermediate_size": 24, "num_hidden_layers": 4,
    "num_attention_heads": 4, "head_dim": 32, "qk_rope_head_dim": 8, "q_lora_rank": 16, "o_groups": 2, "o_lora_rank": 8,
    "n_routed_experts": 4, "num_experts_per_tok": 2, "index_n_heads": 2, "index_head_dim": 16, "index_topk": 6, "sliding_window": 10,
    "num_hash_layers": 1, "num_nextn_predict_layers": 0, "max_position_embeddings": 4096,
    "compress_rates": {"compressed_sparse_attention": SHORT, "heavily_compressed_attention": LONG},
    "layer_types": ["sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention", "compressed_sparse_attention"],
}


def token_products(t):
    """Of the token number t, counted from 1, without the head."""
    c = CONFIG
    h, H, E, q, n = c["hidden_size"], c["num_attention_heads"], c["head_dim"], c["q_lora_rank"], 4
    I, J = c["index_n_heads"], c["index_head_dim"]
    products = n * h * (n + 1)
    pairs = scores = 0
    for layer in c["layer_types"]:
        kind = KINDS[layer]
        products += h * q + q * H * E + h * E + H * E * c["o_lora_rank"] + c["o_groups"] * c["o_lora_rank"] * h
        products += 2 * n * h * (n * n + 2 * n + 1 + n)
        products += h * c["n_routed_experts"] + 3 * h * c["moe_intermediate_size"] * (c["num_experts_per_tok"] + 1)
        pairs += min(t, c["sliding_window"])
        if kind == SHORT:
            products += 4 * h * E + 4 * h * J + q * I * J + h * I
            pairs += min(t // SHORT, c["index_topk"])
            scores += t // SHORT * (I * (2 * J + 3) + 1)
        elif kind == LONG:
            products += 2 * h * E
            pairs += t // LONG
    return 2 * products + 4 * H * E * pairs + scores


def expect_products(requests):
    """Of (new, cached) tokens; one row of logits each."""
    head = 2 * CONFIG["hidden_size"] * CONFIG["vocab_size"]
    return sum(head + sum(map(token_products, range(p + 1, p + u + 1))) for u, p in requests)


def expect_caches(requests):
    """Bytes that there is room for: a window, a row for each block, and tokens of the last block, with the
    one before where blocks overlap."""
    E, J, W = CONFIG["head_dim"], CONFIG["index_head_dim"], CONFIG["sliding_window"]
    total = 0
    for u, p in requests:
        for layer in CONFIG["layer_types"]:
            kind, n = KINDS[layer], p + u
            total += min(n, W) * E * 2
            if kind == SHORT:
                total += -(-n // SHORT) * (E + J) * 2 + min(n, 2 * SHORT) * (2 * 2 * E + 2 * 2 * J) * 2
            elif kind == LONG:
                total += -(-n // LONG) * E * 2 + min(n, LONG) * 2 * E * 2
    return total


def check(path, flags, requests, caches=None):
    summary = traces.compile_json(path, *flags, "--dry-run")
    entry = summary["classes"][0]
    found = {"products": entry["matrix_operations_by_phase"]["fwd"], "caches": entry["memory"]["persistent_bytes"]["kv_cache"]}
    expected = {"products": expect_products(requests), "caches": expect_caches(caches or requests)}
    assert found == expected, f"{' '.join(flags)}: {found}, expected {expected}"


def main():
    draw = random.Random(7)
    steps = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.json"
        path.write_text(json.dumps(CONFIG))
        for tokens in [1, 3, 4, 5, 16, 100, draw.randint(101, 400)]:
            check(path, ["--mode=prefill", f"--seq={tokens}", "--batch=2"], 2 * [(tokens, 0)])
            steps += 1
        for cached in [1, 2, 3, 4, 7, 14, 15, 16, 23, 24, 127, draw.randint(128, 4000)]:
            check(path, [f"--kv-len={cached}", "--batch=2"], 2 * [(1, cached)])
            steps += 1
        for _ in range(8):
            cached, tokens = draw.randint(0, 200), draw.randint(2, 60)
            check(path, ["--mode=prefill", f"--kv-len={cached}", f"--seq={tokens}", "--batch=2"], 2 * [(tokens, cached)])
            steps += 1
        for _ in range(8):
            requests = [(draw.choice([1, draw.randint(1, 50)]), draw.randint(0, 200)) for _ in range(draw.randint(1, 5))]
            text = ",".join(f"({u},{p})" for u, p in requests)
            check(path, [f"--requests={text}"], requests)
            steps += 1
        # Caches have room for what the last step adds.
        check(path, ["--kv-len=13", "--batch=2", "--steps=30"], [(1, p) for p in 2 * list(range(13, 43))], caches=2 * [(1, 42)])
        steps += 1
    print(f"{steps} steps")


if __name__ == "__main__":
    main()
