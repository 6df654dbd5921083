"""Parameters of models by their configurations, tensor by tensor, as their authors store them.

A second way to the numbers that stg-compile prints: nothing here reads the tables of families.
Each function takes the keys of a configuration and gives all, active and vocabulary parameters.
"""

import math


def first(c, *keys, default=None):
    """The first of several spellings that is there and is not null."""
    for key in keys:
        if c.get(key) is not None:
            return c[key]
    return default


def linear(rows, columns, bias=False):
    return rows * columns + (columns if bias else 0)


def layer_norm(size):
    return 2 * size


def dense(total, table):
    return total, total, table


def grouped_attention(D, H, K, E, qkv_bias=False, o_bias=False, head_norms=False):
    """Query, key and value projections, the output, and norms of heads."""
    total = linear(D, H * E, qkv_bias) + 2 * linear(D, K * E, qkv_bias)
    total += linear(H * E, D, o_bias)
    return total + (2 * E if head_norms else 0)


def gated(D, F, bias=False):
    return 2 * linear(D, F, bias) + linear(F, D, bias)


def plain(D, F, bias=False):
    return linear(D, F, bias) + linear(F, D, bias)


def rms_decoder(c, K, E, tied, **attention):
    """Llama and what differs from it in biases and norms of heads."""
    D, L, H, V = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads",
                                 "vocab_size"))
    layer = grouped_attention(D, H, K, E, **attention) + 2 * D
    layer += gated(D, c["intermediate_size"], c.get("mlp_bias", False))
    return dense(L * layer + D + V * D * (1 if tied else 2), V * D)


def llama(c):
    E = first(c, "head_dim", default=c["hidden_size"] // c["num_attention_heads"])
    bias = c.get("attention_bias", False)
    K = first(c, "num_key_value_heads", default=c["num_attention_heads"])
    return rms_decoder(c, K, E, c.get("tie_word_embeddings", False), qkv_bias=bias, o_bias=bias)


def mistral(c):
    return llama({"num_key_value_heads": 8} | c)


def qwen2(c):
    K = first(c, "num_key_value_heads", default=32)
    return rms_decoder(c, K, c["hidden_size"] // c["num_attention_heads"],
                       c.get("tie_word_embeddings", False), qkv_bias=True)


def qwen3(c):
    bias = c.get("attention_bias", False)
    return rms_decoder(c, first(c, "num_key_value_heads", default=32),
                       first(c, "head_dim", default=128), c.get("tie_word_embeddings", False),
                       qkv_bias=bias, o_bias=bias, head_norms=True)


def olmo2(c):
    """One norm over all query heads, one over all key heads."""
    H, K = c["num_attention_heads"], first(c, "num_key_value_heads",
                                           default=c["num_attention_heads"])
    E, bias = c["hidden_size"] // H, c.get("attention_bias", False)
    total, _, table = rms_decoder(c, K, E, c.get("tie_word_embeddings", False),
                                  qkv_bias=bias, o_bias=bias)
    return dense(total + c["num_hidden_layers"] * (H + K) * E, table)


def exaone4(c):
    E = first(c, "head_dim", default=c["hidden_size"] // c["num_attention_heads"])
    return rms_decoder(c, first(c, "num_key_value_heads", default=32), E,
                       c.get("tie_word_embeddings", False), head_norms=True)


def gemma(c):
    bias = c.get("attention_bias", False)
    return rms_decoder(c, first(c, "num_key_value_heads", default=16),
                       first(c, "head_dim", default=256), c.get("tie_word_embeddings", True),
                       qkv_bias=bias, o_bias=bias)


def mixture(c, X, A, width, is_dense, K, E, shared=0, norms=0, **attention):
    """Decoders of which some layers have experts; the shared one is so wide."""
    D, L, H, V = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads",
                                 "vocab_size"))
    total = active = D + V * D * (1 if c.get("tie_word_embeddings", False) else 2)
    for layer in range(L):
        common = grouped_attention(D, H, K, E, **attention) + 2 * D + norms
        if is_dense(layer):
            common += gated(D, c["intermediate_size"])
            total, active = total + common, active + common
            continue
        common += linear(D, X) + gated(D, shared)
        total += common + X * gated(D, width)
        active += common + A * gated(D, width)
    return total, active, V * D


def mixtral(c):
    E = first(c, "head_dim", default=c["hidden_size"] // c["num_attention_heads"])
    K = first(c, "num_key_value_heads", default=8)
    X = first(c, "num_local_experts", "num_experts", default=8)
    return mixture(c, X, c.get("num_experts_per_tok", 2), c["intermediate_size"],
                   lambda layer: False, K, E)


def qwen3_moe(c):
    E = first(c, "head_dim", default=c["hidden_size"] // c["num_attention_heads"])
    step, only = c.get("decoder_sparse_step", 1), c.get("mlp_only_layers") or []
    bias = c.get("attention_bias", False)
    return mixture(c, c.get("num_experts", 128), c.get("num_experts_per_tok", 8),
                   c.get("moe_intermediate_size", 768),
                   lambda layer: layer in only or (layer + 1) % step != 0,
                   first(c, "num_key_value_heads", default=4), E,
                   qkv_bias=bias, o_bias=bias, head_norms=True)


def olmoe(c):
    D, H = c["hidden_size"], c["num_attention_heads"]
    K, bias = first(c, "num_key_value_heads", default=H), c.get("attention_bias", False)
    return mixture(c, c.get("num_experts", 64), c.get("num_experts_per_tok", 8),
                   c["intermediate_size"], lambda layer: False, K, D // H,
                   norms=(H + K) * (D // H), qkv_bias=bias, o_bias=bias)


def qwen2_moe(c):
    """A shared expert, and a gate of one value for it."""
    step, only = c.get("decoder_sparse_step", 1), c.get("mlp_only_layers") or []
    shared = first(c, "shared_expert_intermediate_size", default=5632)
    is_dense = lambda layer: layer in only or (layer + 1) % step != 0
    total, active, table = mixture(
        c, c.get("num_experts", 60), c.get("num_experts_per_tok", 4),
        c.get("moe_intermediate_size", 1408), is_dense,
        first(c, "num_key_value_heads", default=16),
        c["hidden_size"] // c["num_attention_heads"], shared=shared,
        qkv_bias=c.get("qkv_bias", True))
    gates = sum(not is_dense(layer) for layer in range(c["num_hidden_layers"]))
    gates *= c["hidden_size"]
    return total + gates, active + gates, table


def gemma2(c, E=256, head_norms=False):
    """Four norms in each layer."""
    D, H, K = (c.get(k, v) for k, v in (("hidden_size", 2304), ("num_attention_heads", 8),
                                        ("num_key_value_heads", 4)))
    L, F, V = (c.get(k, v) for k, v in (("num_hidden_layers", 26), ("intermediate_size", 9216),
                                        ("vocab_size", 262208 if head_norms else 256000)))
    bias = c.get("attention_bias", False)
    layer = grouped_attention(D, H, K, first(c, "head_dim", default=E), bias, bias, head_norms)
    tables = 1 if c.get("tie_word_embeddings", True) else 2
    return dense(L * (layer + gated(D, F) + 4 * D) + D + tables * V * D, V * D)


def gemma3_text(c):
    return gemma2(c, head_norms=True)


def gpt_oss(c):
    """Biases everywhere, sinks of heads, and experts whose biases are theirs."""
    D, L, H, V = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads",
                                 "vocab_size"))
    X, A = c["num_local_experts"], first(c, "num_experts_per_tok", "experts_per_token", default=4)
    layer = grouped_attention(D, H, c["num_key_value_heads"], c.get("head_dim", 64), True, True)
    layer += H + 2 * D + linear(D, X, True)
    expert = gated(D, c["intermediate_size"], True)
    rest = D + 2 * V * D
    return L * (layer + X * expert) + rest, L * (layer + A * expert) + rest, V * D


def latent_attention(c):
    D, H = c["hidden_size"], c["num_attention_heads"]
    n, r, v = (c.get(k, d) for k, d in (("qk_nope_head_dim", 128), ("qk_rope_head_dim", 64),
                                        ("v_head_dim", 128)))
    rank, query = c.get("kv_lora_rank", 512), c.get("q_lora_rank")
    queries = D * query + query + query * H * (n + r) if query else D * H * (n + r)
    return queries + D * (rank + r) + rank + rank * H * (n + v) + H * v * D


def sigmoid_mixture(c, attention, correction=True):
    """DeepSeek's layers of experts: shared ones, and a bias that corrects the router's choice."""
    D, L, V, X, A = (c[k] for k in ("hidden_size", "num_hidden_layers", "vocab_size",
                                    "n_routed_experts", "num_experts_per_tok"))
    width, shared = c["moe_intermediate_size"], c.get("n_shared_experts") or 0
    total = active = D + V * D * (1 if c.get("tie_word_embeddings", False) else 2)
    for layer in range(L):
        common = attention + 2 * D
        is_dense = (layer < c["first_k_dense_replace"]
                    or layer % c.get("moe_layer_freq", 1) != 0)
        if is_dense:
            common += gated(D, c["intermediate_size"])
        else:
            common += D * X + (X if correction else 0) + gated(D, shared * width)
            total += X * gated(D, width)
            active += A * gated(D, width)
        total, active = total + common, active + common
    return total, active, V * D


def deepseek_v2(c):
    return sigmoid_mixture(c, latent_attention(c), correction=False)


def deepseek_v3(c):
    return sigmoid_mixture(c, latent_attention(c))


def glm4_moe(c):
    bias, E = c.get("attention_bias", False), c.get("head_dim")
    E = E or c["hidden_size"] // c["num_attention_heads"]
    attention = grouped_attention(c["hidden_size"], c["num_attention_heads"],
                                  c["num_key_value_heads"], E, bias,
                                  head_norms=c.get("use_qk_norm", False))
    return sigmoid_mixture(c, attention)


def deepseek(c):
    D, H, width = c["hidden_size"], c["num_attention_heads"], c["moe_intermediate_size"]
    first_dense, every = c.get("first_k_dense_replace", 0), c.get("moe_layer_freq", 1)
    return mixture(c, c["n_routed_experts"], c["num_experts_per_tok"], width,
                   lambda layer: layer < first_dense or layer % every != 0,
                   first(c, "num_key_value_heads", default=H), D // H,
                   shared=(c.get("n_shared_experts") or 0) * width)


def gpt2(c, K=None):
    D = first(c, "n_embd", "hidden_size")
    L, H = first(c, "n_layer", "num_hidden_layers"), first(c, "n_head", "num_attention_heads")
    K = K or H
    F, V, P = first(c, "n_inner", default=4 * D), c["vocab_size"], first(c, "n_positions", "n_ctx")
    layer = grouped_attention(D, H, K, D // H, True, True) + plain(D, F, True)
    return dense(L * (layer + 2 * layer_norm(D)) + layer_norm(D) + (V + P) * D, V * D)


def gpt_bigcode(c):
    return gpt2(c, 1 if c.get("multi_query", True) else None)


def opt(c):
    D, L, H = c["hidden_size"], c["num_hidden_layers"], c["num_attention_heads"]
    V, P, bias = c["vocab_size"], c["max_position_embeddings"] + 2, c.get("enable_bias", True)
    layer = grouped_attention(D, H, H, D // H, bias, bias) + plain(D, c["ffn_dim"], bias)
    return dense(L * (layer + 2 * layer_norm(D)) + layer_norm(D) + (V + P) * D, V * D)


def gptj(c):
    D, L, H, V = c["n_embd"], c["n_layer"], c["n_head"], c["vocab_size"]
    F = first(c, "n_inner", default=4 * D)
    layer = grouped_attention(D, H, H, D // H) + plain(D, F, True) + layer_norm(D)
    return dense(L * layer + layer_norm(D) + V * D + linear(D, V, True), V * D)


def phi(c):
    D, L, H, V = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads",
                                 "vocab_size"))
    K = first(c, "num_key_value_heads", default=H)
    layer = grouped_attention(D, H, K, D // H, True, True)
    layer += plain(D, c["intermediate_size"], True) + layer_norm(D)
    return dense(L * layer + layer_norm(D) + V * D + linear(D, V, True), V * D)


def phi3(c):
    return rms_decoder(c, first(c, "num_key_value_heads", default=c["num_attention_heads"]),
                       c["hidden_size"] // c["num_attention_heads"],
                       c.get("tie_word_embeddings", False))


def gpt_neox(c):
    D, L, H, V = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads",
                                 "vocab_size"))
    bias = c.get("attention_bias", True)
    layer = grouped_attention(D, H, H, D // H, bias, bias)
    layer += plain(D, c["intermediate_size"], True) + 2 * layer_norm(D)
    tables = 1 if c.get("tie_word_embeddings", False) else 2
    return dense(L * layer + layer_norm(D) + tables * V * D, V * D)


def falcon(c):
    D, V = c["hidden_size"], c["vocab_size"]
    L, H = first(c, "num_hidden_layers", "n_layer"), first(c, "num_attention_heads", "n_head")
    new = c.get("new_decoder_architecture", False)
    few = first(c, "num_kv_heads", "n_head_kv", default=H)
    K = few if new else 1 if c.get("multi_query", True) else H
    norms = c.get("num_ln_in_parallel_attn") or (2 if new else 1)
    bias = c.get("bias", False)
    F = first(c, "ffn_hidden_size", default=4 * D)
    layer = grouped_attention(D, H, K, D // H, bias, bias) + plain(D, F, bias)
    return dense(L * (layer + norms * layer_norm(D)) + layer_norm(D) + V * D, V * D)


def starcoder2(c):
    D, L, H, V = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads",
                                 "vocab_size"))
    bias = c.get("use_bias", True)
    layer = grouped_attention(D, H, first(c, "num_key_value_heads", default=2), D // H, bias, bias)
    layer += plain(D, c["intermediate_size"], bias) + 2 * layer_norm(D)
    tables = 1 if c.get("tie_word_embeddings", True) else 2
    return dense(L * layer + layer_norm(D) + tables * V * D, V * D)


def stablelm(c):
    D, L, H, V = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads",
                                 "vocab_size"))
    K, F = first(c, "num_key_value_heads", default=32), c["intermediate_size"]
    layer = grouped_attention(D, H, K, D // H, c.get("use_qkv_bias", False)) + gated(D, F)
    norms = 1 if c.get("use_parallel_residual", False) else 2
    tables = 1 if c.get("tie_word_embeddings", False) else 2
    return dense(L * (layer + norms * layer_norm(D)) + layer_norm(D) + tables * V * D, V * D)


FAMILIES = {
    "deepseek_v2": deepseek_v2, "deepseek_v3": deepseek_v3, "gemma2": gemma2,
    "gemma3_text": gemma3_text, "glm4_moe": glm4_moe, "gpt_oss": gpt_oss,
    "kimi_k2": deepseek_v3, "qwen2_moe": qwen2_moe,
    "deepseek": deepseek, "exaone4": exaone4, "olmo2": olmo2, "olmo3": olmo2, "olmoe": olmoe,
    "falcon": falcon, "gemma": gemma, "gpt2": gpt2, "gpt_bigcode": gpt_bigcode,
    "gpt_neox": gpt_neox, "gptj": gptj, "llama": llama, "mistral": mistral, "mixtral": mixtral,
    "opt": opt, "phi": phi, "phi3": phi3, "qwen2": qwen2, "qwen3": qwen3,
    "qwen3_moe": qwen3_moe, "stablelm": stablelm, "starcoder2": starcoder2,
}


def count(config):
    return FAMILIES[config["model_type"]](config)
