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


def orion(c):
    """Norms have biases."""
    total, active, table = llama(c)
    more = (2 * c["num_hidden_layers"] + 1) * c["hidden_size"]
    return total + more, active + more, table


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


def lladamoe(c):
    """OLMoE with norms of heads, and layers without experts that are listed."""
    D, H, L = c["hidden_size"], c["num_attention_heads"], c["num_hidden_layers"]
    K, bias, freq = first(c, "num_key_value_heads", default=H), c.get("attention_bias", False), c.get("moe_layer_freq") or [1] * L
    return mixture(c | {"intermediate_size": c.get("dense_intermediate_size", 8192)}, c.get("num_experts", 64), c.get("num_experts_per_tok", 8),
                   c.get("expert_intermediate_size", 1024), lambda layer: not freq[layer], K, D // H,
                   norms=2 * (D // H) if c.get("qk_layernorm", True) else 0, qkv_bias=bias, o_bias=bias)


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
    """Tied, so that a model without a head has as many."""
    return gemma2(c, head_norms=True)


def gpt_oss(c):
    """Biases everywhere, sinks of heads, and experts whose biases are theirs."""
    D, L, H, V = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads",
                                 "vocab_size"))
    X, A = c["num_local_experts"], first(c, "num_experts_per_tok", "experts_per_token", default=4)
    layer = grouped_attention(D, H, c["num_key_value_heads"], c.get("head_dim", 64), True, True)
    layer += H + 2 * D + linear(D, X, True)
    expert = gated(D, c["intermediate_size"], True)
    rest = D + (1 if c.get("tie_word_embeddings") else 2) * V * D
    return L * (layer + X * expert) + rest, L * (layer + A * expert) + rest, V * D


def latent_attention(c):
    D, H = c["hidden_size"], c["num_attention_heads"]
    n, r, v = (c.get(k, d) for k, d in (("qk_nope_head_dim", 128), ("qk_rope_head_dim", 64),
                                        ("v_head_dim", 128)))
    rank, query = c.get("kv_lora_rank", 512), c.get("q_lora_rank")
    queries = D * query + query + query * H * (n + r) if query else D * H * (n + r)
    biases = (query or 0) + rank + r + D if c.get("attention_bias", False) else 0
    return queries + D * (rank + r) + rank + rank * H * (n + v) + H * v * D + biases


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


def kimi_linear(c):
    """Attention without queries' latent in few layers; in the others heads of one size, with two gates
    that are projected through as many channels, and a bias of each channel."""
    c = {"hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 27, "num_attention_heads": 32, "vocab_size": 163840} | c
    D, L, V = (c[k] for k in ("hidden_size", "num_hidden_layers", "vocab_size"))
    given = c.get("linear_attn_config") or {}
    X = first(c, "num_experts", "num_local_experts", default=256 if "num_experts" not in c else None)
    H, E = given.get("num_heads", c.get("linear_num_heads", 32)), given.get("head_dim", c.get("linear_head_dim", 128))
    taps = given.get("short_conv_kernel_size", c.get("linear_conv_kernel_dim", 4))
    delta = 3 * (D * H * E + H * E * taps) + 2 * (D * E + E * H * E) + H * E + H + D * H + E + H * E * D
    latent = latent_attention(c)
    kinds = c.get("layer_types") or [i + 1 not in given["kda_layers"] if "kda_layers" in given else i % 4 == 3 for i in range(L)]
    networks = c.get("mlp_layer_types") or [i < c.get("first_k_dense_replace", 1) or i % c.get("moe_layer_freq", 1) for i in range(L)]
    width, shared = c.get("moe_intermediate_size", 1024), first(c, "num_shared_experts", "n_shared_experts", default=1)
    total = active = D + V * D * (1 if c.get("tie_word_embeddings", False) else 2)
    for kind, network in zip(kinds, networks):
        common = 2 * D + (latent if kind in (True, "full_attention") else delta)
        if not X or network not in (False, 0, "sparse"):
            common += gated(D, first(c, "dense_ffn_hidden", "intermediate_size"))
        else:
            common += D * X + X + gated(D, shared * width)
            total += X * gated(D, width)
            active += first(c, "num_experts_per_token", "num_experts_per_tok", default=8) * gated(D, width)
        total, active = total + common, active + common
    return total, active, V * D


def longcat_flash(c):
    """Two attentions, two networks and four norms; a router of all choices, of which some are nothing."""
    D, V = c.get("hidden_size", 6144), c.get("vocab_size", 131072)
    L = first(c, "num_layers", "num_hidden_layers", default=28)
    X, Z, A = c.get("n_routed_experts", 512), first(c, "zero_expert_num", default=0), c.get("moe_topk", 12)
    common = 2 * (latent_attention({"q_lora_rank": 1536} | c) + gated(D, c.get("ffn_hidden_size", 12288)) + 2 * D)
    common += (D + 1) * (X + Z)
    expert = gated(D, c.get("expert_ffn_hidden_size", 2048))
    rest = D + V * D * (1 if c.get("tie_word_embeddings", False) else 2)
    return L * (common + X * expert) + rest, L * (common + A * X // (X + Z) * expert) + rest, V * D


def selection(c, heads=64):
    """Queries of the latent of all queries, one key for all heads with a norm, a weight of each head."""
    H, E = c.get("index_n_heads", heads), c.get("index_head_dim", 128)
    return c["q_lora_rank"] * H * E + c["hidden_size"] * (E + H) + layer_norm(E)


def deepseek_v32(c):
    return sigmoid_mixture(c, latent_attention(c) + selection(c))


def kinds_of_blocks(c):
    """Of each layer the tokens of a block, 0 if there are none: 4 overlap and are selected."""
    L = c.get("num_hidden_layers", 43)
    rates = {"sliding_attention": 0, "compressed_sparse_attention": 4, "heavily_compressed_attention": 128}
    if c.get("layer_types"):
        return [rates[kind] for kind in c["layer_types"][:L]]
    if c.get("compress_ratios"):
        return c["compress_ratios"][:L]
    return [128, 128, *(4 if i % 2 else 128 for i in range(L - 2))][:L]


def deepseek_v4(c):
    """Queries of a latent, one key that is its value, and an output in groups; where there are blocks,
    values, scores and places of them, once more for what selects; two connections of each layer."""
    c = {"hidden_size": 4096, "vocab_size": 129280, "num_attention_heads": 64, "head_dim": 512, "q_lora_rank": 1024,
         "o_groups": 8, "o_lora_rank": 1024, "moe_intermediate_size": 2048, "n_routed_experts": 256, "num_experts_per_tok": 6,
         "hc_mult": 4, "index_n_heads": 64, "index_head_dim": 128, "num_hash_layers": 3} | c
    D, H, E, Q, V, X, n = (c[k] for k in ("hidden_size", "num_attention_heads", "head_dim", "q_lora_rank", "vocab_size",
                                          "n_routed_experts", "hc_mult"))
    rates = dict(c.get("compress_rates") or {})
    four = rates.get("compressed_sparse_attention", c.get("compress_rate_csa") or 4)
    many = rates.get("heavily_compressed_attention", c.get("compress_rate_hca") or 128)
    G, O, I, J = c["o_groups"], c["o_lora_rank"], c["index_n_heads"], c["index_head_dim"]

    def compressor(tokens, series, size):
        return 2 * D * series * size + tokens * series * size + size

    attention = D * Q + Q + Q * H * E + D * E + E + H + H * E * O + G * O * D
    connection = n * D * (2 + n) * n + (2 + n) * n + 3
    expert = gated(D, c["moe_intermediate_size"])
    total = active = n * D * n + n + 1 + D + V * D * (1 if c.get("tie_word_embeddings", False) else 2)
    for layer, kind in enumerate(kinds_of_blocks(c)):
        common = attention + 2 * connection + 2 * D + D * X + expert
        if kind == 4:
            common += compressor(four, 2, E) + compressor(four, 2, J) + Q * I * J + D * I
        elif kind:
            common += compressor(many, 1, E)
        types = c.get("mlp_layer_types")
        hashed = types[layer] == "hash_moe" if types else layer < c["num_hash_layers"]
        common += 0 if hashed else X
        total, active = total + common + X * expert, active + common + c["num_experts_per_tok"] * expert
    return total, active, V * D


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
    rows = c.get("word_embed_proj_dim") or D
    projections = 2 * D * rows if rows != D else 0
    last = layer_norm(D) if c.get("do_layer_norm_before", True) else 0
    return dense(L * (layer + 2 * layer_norm(D)) + last + projections + P * D + V * rows, V * rows)


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
    layer += 2 * layer_norm(D // H) if c.get("qk_layernorm", False) else 0
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
    if not c.get("parallel_attn", True):
        norms = 2
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
    layer += (H + K) * (D // H) if c.get("qk_layernorm", False) else 0
    tables = 1 if c.get("tie_word_embeddings", False) else 2
    return dense(L * (layer + norms * layer_norm(D)) + layer_norm(D) + tables * V * D, V * D)


def bloom(c):
    """ALiBi has no parameters; the embedding has a norm."""
    D, V = first(c, "hidden_size", "n_embed"), c["vocab_size"]
    L, H = first(c, "n_layer", "num_hidden_layers"), first(c, "n_head", "num_attention_heads")
    layer = grouped_attention(D, H, H, D // H, True, True) + plain(D, 4 * D, True)
    return dense(L * (layer + 2 * layer_norm(D)) + 2 * layer_norm(D) + V * D, V * D)


def cohere(c):
    """One norm without bias in each layer; those of heads have weights for each head."""
    D, L, H, V = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads",
                                 "vocab_size"))
    K, bias = first(c, "num_key_value_heads", default=H), c.get("attention_bias", False)
    E = first(c, "head_dim", default=D // H)
    layer = grouped_attention(D, H, K, E, bias, bias) + gated(D, c["intermediate_size"]) + D
    layer += (H + K) * E if c.get("use_qk_norm", False) else 0
    tables = 1 if c.get("tie_word_embeddings", True) else 2
    return dense(L * layer + D + tables * V * D, V * D)


def granite(c):
    bias = c.get("attention_bias", False)
    return rms_decoder(c, first(c, "num_key_value_heads", default=c["num_attention_heads"]),
                       c["hidden_size"] // c["num_attention_heads"],
                       c.get("tie_word_embeddings", False), qkv_bias=bias, o_bias=bias)


def hyperclovax(c):
    """Granite with heads of a size of their own, and two norms more in a layer."""
    more = 2 * c["hidden_size"] * c["num_hidden_layers"] if c["use_post_norm"] else 0
    total, active, table = llama(c)
    return total + more, active + more, table


def granitemoe(c):
    bias, H = c.get("attention_bias", False), c["num_attention_heads"]
    return mixture(c, c.get("num_local_experts", 8), c.get("num_experts_per_tok", 2),
                   c["intermediate_size"], lambda layer: False,
                   first(c, "num_key_value_heads", default=H), c["hidden_size"] // H,
                   shared=c.get("shared_intermediate_size", 0), qkv_bias=bias, o_bias=bias)


def llama4_text(c):
    """Norms of heads have no weights; layers without experts are wider."""
    step, bias = c.get("interleave_moe_layer_step", 1), c.get("attention_bias", False)
    chosen = c["moe_layers"] if c.get("moe_layers") is not None else range(step - 1, c["num_hidden_layers"], step)
    widths = c | {"intermediate_size": c["intermediate_size_mlp"]}
    return mixture(widths, c["num_local_experts"], c.get("num_experts_per_tok", 1),
                   c["intermediate_size"], lambda layer: layer not in chosen,
                   first(c, "num_key_value_heads", default=8), c.get("head_dim", 128),
                   shared=c["intermediate_size"], qkv_bias=bias, o_bias=bias)


def llama4_tower(v):
    """A class token, norms with biases before and behind, two matrices of an adapter."""
    D, F = v.get("hidden_size", 768), v.get("intermediate_size", 5632)
    size, inputs = v.get("patch_size", 14), v.get("projector_input_dim", 4096)
    patches = (v.get("image_size", 448) // size) ** 2
    layer = grouped_attention(D, 1, 1, D, True, True) + plain(D, F, True) + 2 * layer_norm(D)
    total = 3 * size * size * D + D + (patches + 1) * D + 2 * layer_norm(D)
    return (total + v.get("num_hidden_layers", 34) * layer + F * inputs
            + inputs * v.get("projector_output_dim", 4096))


def llama4(c):
    text, v = c | c["text_config"], c.get("vision_config") or {}
    tower = llama4_tower(v) + v.get("vision_output_dim", 7680) * text["hidden_size"]
    total, active, table = llama4_text(text)
    return total + tower, active + tower, table


def mamba1_mixer(D, I, N, R, width, bias=False, conv_bias=True, norms=False):
    """A norm of the input, the mixer, and perhaps norms of what the scan reads."""
    total = D + linear(D, 2 * I, bias) + linear(I, R + 2 * N) + linear(R, I, True) + I * N + I
    return (total + linear(I, D, bias) + I * (width + (1 if conv_bias else 0))
            + (R + 2 * N if norms else 0))


def mamba2_mixer(D, heads, P, G, N, width, bias=False, conv_bias=True):
    I = heads * P
    total = D + linear(D, 2 * I + 2 * G * N + heads, bias) + linear(I, D, bias)
    return total + (I + 2 * G * N) * (width + (1 if conv_bias else 0)) + 3 * heads + I


def mamba(c):
    D, L, V = c["hidden_size"], c["num_hidden_layers"], c["vocab_size"]
    R = c.get("time_step_rank", "auto")
    R = math.ceil(D / 16) if R == "auto" else R
    I = first(c, "intermediate_size", default=c.get("expand", 2) * D)
    layer = mamba1_mixer(D, I, c.get("state_size", 16), R, c.get("conv_kernel", 4),
                         c.get("use_bias", False), c.get("use_conv_bias", True))
    tables = 1 if c.get("tie_word_embeddings", True) else 2
    return dense(L * layer + D + tables * V * D, V * D)


def mamba2(c):
    D, L, V = c["hidden_size"], c["num_hidden_layers"], c["vocab_size"]
    layer = mamba2_mixer(D, c["num_heads"], c["head_dim"], c.get("n_groups", 8),
                         c.get("state_size", 128), c.get("conv_kernel", 4),
                         c.get("use_bias", False), c.get("use_conv_bias", True))
    tables = 1 if c.get("tie_word_embeddings", False) else 2
    return dense(L * layer + D + tables * V * D, V * D)


def has_attention(c, layer, otherwise):
    """What the list of layers says, which has two names, as its kinds have."""
    kinds = first(c, "layer_types", "layers_block_type")
    return kinds[layer] in ("attention", "full_attention") if kinds else otherwise


def jamba(c):
    """Attention every so many layers, experts every so many; the rest is Mamba and dense."""
    D, L, H, V, F = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads",
                                    "vocab_size", "intermediate_size"))
    K, X = first(c, "num_key_value_heads", default=8), c.get("num_experts", 16)
    R = first(c, "mamba_dt_rank", default="auto")
    R = math.ceil(D / 16) if R == "auto" else R
    total = active = D + V * D * (1 if c.get("tie_word_embeddings", False) else 2)
    for layer in range(L):
        if has_attention(c, layer, layer % c.get("attn_layer_period", 8) == c.get("attn_layer_offset", 4)):
            common = grouped_attention(D, H, K, D // H) + D
        else:
            common = mamba1_mixer(D, c.get("mamba_expand", 2) * D, c.get("mamba_d_state", 16), R,
                                  c.get("mamba_d_conv", 4), c.get("mamba_proj_bias", False),
                                  c.get("mamba_conv_bias", True), norms=True)
        common += D
        sparse = layer % c.get("expert_layer_period", 2) == c.get("expert_layer_offset", 1)
        if sparse and X > 1:
            common += D * X
            total += X * gated(D, F)
            active += c.get("num_experts_per_tok", 2) * gated(D, F)
        else:
            common += gated(D, F)
        total, active = total + common, active + common
    return total, active, V * D


def hybrid_mixer(c):
    heads, expand = c.get("mamba_n_heads", 128), c.get("mamba_expand", 2)
    P = c.get("mamba_d_head", "auto")
    P = expand * c["hidden_size"] // heads if P == "auto" else P
    return mamba2_mixer(c["hidden_size"], heads, P, c.get("mamba_n_groups", 1),
                        c.get("mamba_d_state", 256), c.get("mamba_d_conv", 4),
                        c.get("mamba_proj_bias", False), c.get("mamba_conv_bias", True))


def bamba(c):
    D, L, H, V = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads",
                                 "vocab_size"))
    attention = grouped_attention(D, H, first(c, "num_key_value_heads", default=8), D // H) + D
    chosen = c.get("attn_layer_indices") or []
    layers = sum(attention if has_attention(c, layer, layer in chosen) else hybrid_mixer(c) for layer in range(L))
    tables = 1 if c.get("tie_word_embeddings", False) else 2
    return dense(layers + L * (D + gated(D, c["intermediate_size"])) + D + tables * V * D, V * D)


def granitemoehybrid(c):
    D, L, H, V = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads",
                                 "vocab_size"))
    X, A = c.get("num_local_experts", 8), c.get("num_experts_per_tok", 2)
    bias = c.get("attention_bias", False)
    attention = grouped_attention(D, H, first(c, "num_key_value_heads", default=H), D // H,
                                  bias, bias) + D
    total = active = D + V * D * (1 if c.get("tie_word_embeddings", False) else 2)
    for kind in c.get("layer_types") or ["mamba"] * L:
        common = (attention if kind == "attention" else hybrid_mixer(c)) + D
        common += gated(D, c.get("shared_intermediate_size", 1024)) + (D * X if X else 0)
        total += common + X * gated(D, c["intermediate_size"])
        active += common + (A if X else 0) * gated(D, c["intermediate_size"])
    return total, active, V * D


def nemotron_h(c):
    """One mixer in each layer, by the letters of a pattern or by names; nothing is gated."""
    D, V, H = c["hidden_size"], c["vocab_size"], c.get("num_attention_heads", 32)
    E = first(c, "head_dim", "attention_head_dim", default=128)
    K, bias = first(c, "num_key_value_heads", default=8), c.get("attention_bias", False)
    X, A = c.get("n_routed_experts", 8), c.get("num_experts_per_tok", 2)
    M, mlp = c.get("moe_intermediate_size", 7688), c.get("mlp_bias", False)
    shared = c.get("n_shared_experts", 1) * c.get("moe_shared_expert_intermediate_size", 7688)
    total = active = D + V * D * (1 if c.get("tie_word_embeddings", False) else 2)
    letters = {"mamba": "M", "linear_attention": "M", "attention": "*", "full_attention": "*", "mlp": "-", "moe": "E"}
    for kind in c.get("layers_block_type") or c["hybrid_override_pattern"]:
        letter, skipped = letters.get(kind, kind), 0
        if letter == "M":
            layer = mamba2_mixer(D, c["mamba_num_heads"], c["mamba_head_dim"], c["n_groups"],
                                 c["ssm_state_size"], c.get("conv_kernel", 4),
                                 c.get("use_bias", False), c.get("use_conv_bias", True))
        elif letter == "*":
            layer = D + grouped_attention(D, H, K, E, bias, bias)
        elif letter == "-":
            layer = D + plain(D, c["intermediate_size"], mlp)
        else:
            space = c.get("moe_latent_size") or D
            layer = D + D * X + X + X * plain(space, M, mlp) + plain(D, shared, mlp)
            layer += plain(D, space, mlp) if space != D else 0
            skipped = (X - A) * plain(space, M, mlp)
        total, active = total + layer, active + layer - skipped
    return total, active, V * D


def glm_text(c):
    """Of GLM-4 with images, and of GLM-OCR; heads are as large as the width says."""
    return glm({"head_dim": c["hidden_size"] // c["num_attention_heads"]} | c)


def smollm3(c):
    return llama({"num_key_value_heads": 4, "tie_word_embeddings": True} | c)


def seed_oss(c):
    """Heads of 128 where nothing is said, and a part of the width where null is."""
    return rms_decoder(c, first(c, "num_key_value_heads", default=8),
                       c.get("head_dim", 128) or c["hidden_size"] // c["num_attention_heads"], c.get("tie_word_embeddings", False),
                       qkv_bias=c.get("attention_bias", True),
                       o_bias=c.get("attention_out_bias", False))


def olmo(c):
    """Norms have no weights."""
    total, _, table = llama(c)
    return dense(total - (2 * c["num_hidden_layers"] + 1) * c["hidden_size"], table)


def phimoe(c):
    """LayerNorms have biases, and so has the head."""
    D, L, V = c["hidden_size"], c["num_hidden_layers"], c["vocab_size"]
    bias = c.get("attention_bias", False)
    total, active, table = mixture(
        c, c.get("num_local_experts", 16), c.get("num_experts_per_tok", 2), c["intermediate_size"],
        lambda layer: False, first(c, "num_key_value_heads", default=8),
        D // c["num_attention_heads"], qkv_bias=bias, o_bias=bias)
    more = (2 * L + 1) * D + (V if c.get("lm_head_bias", False) else 0)
    return total + more, active + more, table


def falcon_h1(c):
    """Attention and a mixer in each layer, which share a norm."""
    D, L, H, V = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads",
                                 "vocab_size"))
    K, E = first(c, "num_key_value_heads", default=8), first(c, "head_dim", default=D // H)
    heads, bias = c.get("mamba_n_heads", 128), c.get("attention_bias", False)
    I = c.get("mamba_d_ssm", 1024)
    layer = mamba2_mixer(D, heads, I // heads, c.get("mamba_n_groups", 1),
                         c.get("mamba_d_state", 256), c.get("mamba_d_conv", 4),
                         c.get("mamba_proj_bias", False), c.get("mamba_conv_bias", True))
    layer -= 0 if c.get("mamba_rms_norm", False) else I
    layer += grouped_attention(D, H, K, E, bias, bias)
    layer += D + gated(D, c["intermediate_size"], c.get("mlp_bias", False))
    tables = 1 if c.get("tie_word_embeddings", False) else 2
    return dense(L * layer + D + tables * V * D, V * D)


def glm(c):
    bias = c.get("attention_bias", c["model_type"] in ("glm", "glm4v_text"))
    total, _, table = rms_decoder(c, first(c, "num_key_value_heads", default=2),
                                  first(c, "head_dim", default=128),
                                  c.get("tie_word_embeddings", False), qkv_bias=bias)
    more = 2 * c["hidden_size"] if c["model_type"] != "glm" else 0
    return dense(total + c["num_hidden_layers"] * more, table)


def qwen3_next(c):
    """Gated DeltaNet, and attention whose queries have a gate beside them."""
    D, L, H, V = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads",
                                 "vocab_size"))
    K, E, bias = c.get("num_key_value_heads", 2), c.get("head_dim", 256), c.get("attention_bias")
    keys = c.get("linear_num_key_heads", 16) * c.get("linear_key_head_dim", 128)
    heads, size = c.get("linear_num_value_heads", 32), c.get("linear_value_head_dim", 128)
    values = heads * size
    delta = D * (2 * keys + 2 * values + 2 * heads) + values * D + 2 * heads + size
    delta += (2 * keys + values) * c.get("linear_conv_kernel_dim", 4)
    attention = (linear(D, 2 * H * E, bias) + 2 * linear(D, K * E, bias) + linear(H * E, D, bias)
                 + 2 * E)
    X, A = c.get("num_experts", 512), c.get("num_experts_per_tok", 10)
    M, shared = c.get("moe_intermediate_size", 512), c.get("shared_expert_intermediate_size", 512)
    step, only = c.get("decoder_sparse_step", 1), c.get("mlp_only_layers") or []
    every = c.get("full_attention_interval", 4)
    kinds = c.get("layer_types") or ["full_attention" if (layer + 1) % every == 0
                                     else "linear_attention" for layer in range(L)]
    total = active = D + V * D * (1 if c.get("tie_word_embeddings", False) else 2)
    for layer, kind in enumerate(kinds):
        common = 2 * D + (attention if kind == "full_attention" else delta)
        if layer in only or (layer + 1) % step != 0:
            common += gated(D, c["intermediate_size"])
        else:
            common += D * X + gated(D, shared) + D
            total += X * gated(D, M)
            active += A * gated(D, M)
        total, active = total + common, active + common
    return total, active, V * D


def zamba2(c):
    """Shared layers count once, whatever the number of their places; adapters are a place's."""
    D, V, H = c["hidden_size"], c["vocab_size"], c["num_attention_heads"]
    K, E, r = first(c, "num_key_value_heads", default=H), 2 * D // H, c.get("adapter_rank", 128)
    F, heads = first(c, "intermediate_size", default=4 * D), c.get("n_mamba_heads", 8)
    kinds, shared = c["layers_block_type"], c.get("num_mem_blocks", 1)
    places = kinds.count("hybrid")
    mixer = mamba2_mixer(D, heads, c.get("mamba_expand", 2) * D // heads,
                         c.get("mamba_ngroups", 1), c.get("mamba_d_state", 64),
                         c.get("mamba_d_conv", 4), conv_bias=c.get("use_conv_bias", True))
    layer = 3 * D + 2 * D * (H + 2 * K) * E + H * E * D + gated(D, F)
    place = D * D + D * r + r * 2 * F
    if c.get("use_shared_attention_adapter", False):
        place += 2 * D * r + r * (H + 2 * K) * E
    tables = 1 if c.get("tie_word_embeddings", True) else 2
    return dense(len(kinds) * mixer + min(shared, places) * layer + places * place + D
                 + tables * V * D, V * D)


def gpt_neo(c):
    """GPT-2 whose queries, keys and values have no biases."""
    D, L, V = c["hidden_size"], first(c, "num_layers", "num_hidden_layers"), c["vocab_size"]
    F = first(c, "intermediate_size", default=4 * D)
    layer = grouped_attention(D, 1, 1, D, o_bias=True) + plain(D, F, True) + 2 * layer_norm(D)
    return dense(L * layer + layer_norm(D) + (V + c["max_position_embeddings"]) * D, V * D)


def minicpm(c):
    D, H, tied = c["hidden_size"], c["num_attention_heads"], c.get("tie_word_embeddings", True)
    K, X = first(c, "num_key_value_heads", default=H), c.get("num_experts", 0)
    if X == 0:
        return rms_decoder(c, K, D // H, tied)
    return mixture(c | {"tie_word_embeddings": tied}, X, c.get("num_experts_per_tok", 2),
                   c["intermediate_size"], lambda layer: False, K, D // H)


def minicpm3(c):
    D, L, V, H = (c[k] for k in ("hidden_size", "num_hidden_layers", "vocab_size",
                                 "num_attention_heads"))
    sizes = {"qk_nope_head_dim": 64, "qk_rope_head_dim": 32, "kv_lora_rank": 256,
             "q_lora_rank": 768} | c
    sizes["v_head_dim"] = c.get("v_head_dim") or D // H  # null
    tables = 1 if c.get("tie_word_embeddings", True) else 2
    layer = latent_attention(sizes) + gated(D, c["intermediate_size"]) + 2 * D
    return dense(L * layer + D + tables * V * D, V * D)


def youtu(c):
    """Latent attention and dense networks, one table."""
    sizes = {"qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "kv_lora_rank": 512, "q_lora_rank": 1536} | c
    D, V = c["hidden_size"], c["vocab_size"]
    layer = latent_attention(sizes) + gated(D, c["intermediate_size"]) + 2 * D
    return dense(c["num_hidden_layers"] * layer + D + (1 if c.get("tie_word_embeddings", True) else 2) * V * D, V * D)


def mellum(c):
    """Qwen 3 with experts; layers without them are listed."""
    kinds, bias = c.get("mlp_layer_types"), c.get("attention_bias", False)
    return mixture(c, c.get("num_experts", 64), c.get("num_experts_per_tok", 8), c.get("moe_intermediate_size", 896),
                   lambda layer: bool(kinds) and kinds[layer] == "dense", first(c, "num_key_value_heads", default=4),
                   first(c, "head_dim", default=128), qkv_bias=bias, o_bias=bias, head_norms=True)


def ernie4_5(c):
    bias, H = c.get("use_bias", False), c["num_attention_heads"]
    K, E = first(c, "num_key_value_heads", default=2), c.get("head_dim", 128)
    E = E or c["hidden_size"] // H  # null
    return rms_decoder(c | {"mlp_bias": bias}, K, E, c.get("tie_word_embeddings", True),
                       qkv_bias=bias, o_bias=bias)


def ernie4_5_moe(c):
    """Experts from one layer to another, every so many; a bias corrects the router's choice."""
    D, L, H = c["hidden_size"], c["num_hidden_layers"], c["num_attention_heads"]
    width, X = c["moe_intermediate_size"], first(c, "moe_num_experts", "num_experts", default=64)
    start, end = c.get("moe_layer_start_index", 1), c.get("moe_layer_end_index", -1)
    every = c.get("moe_layer_interval", 1)
    has_experts = [start <= layer <= (L - 1 if end == -1 else end) and (layer + 1) % every == 0
                   for layer in range(L)]
    total, active, table = mixture(
        {"tie_word_embeddings": True} | c, X, first(c, "moe_k", "num_experts_per_tok", default=6), width,
        lambda layer: not has_experts[layer], first(c, "num_key_value_heads", default=4),
        first(c, "head_dim", default=D // H), shared=c.get("moe_num_shared_experts", 2) * width)
    corrections = X * sum(has_experts)
    return total + corrections, active + corrections, table


def hunyuan_v1_dense(c):
    total, _, table = llama(c)
    E = first(c, "head_dim", default=c["hidden_size"] // c["num_attention_heads"])
    return dense(total + c["num_hidden_layers"] * 2 * E, table)


def dots1(c):
    D, H = c["hidden_size"], c["num_attention_heads"]
    bias, E = c.get("attention_bias", False), c.get("head_dim") or D // H
    attention = grouped_attention(D, H, first(c, "num_key_value_heads", default=32), E, bias, bias, True)
    return sigmoid_mixture(c, attention)


def arcee(c):
    """One matrix in place of gate and up."""
    total, _, table = llama(c)
    D, F = c["hidden_size"], c["intermediate_size"]
    return dense(total - c["num_hidden_layers"] * linear(D, F, c.get("mlp_bias", False)), table)


def nemotron(c):
    total, _, table = arcee(c)
    return dense(total + (2 * c["num_hidden_layers"] + 1) * c["hidden_size"], table)


def minimax_m2(c):
    H, K, E = c["num_attention_heads"], c.get("num_key_value_heads", 8), c.get("head_dim", 128)
    X = first(c, "num_local_experts", "num_experts", default=256)
    total, active, table = mixture(
        c, X, c.get("num_experts_per_tok", 8), c["intermediate_size"], lambda layer: False, K, E,
        norms=(H + K) * E if c.get("use_qk_norm", True) else 0)
    corrections = X * c["num_hidden_layers"]
    return total + corrections, active + corrections, table


def helium(c):
    bias = c.get("attention_bias", False)
    return rms_decoder(c, first(c, "num_key_value_heads", default=20),
                       first(c, "head_dim", default=128), c.get("tie_word_embeddings", False),
                       qkv_bias=bias)


def internlm3(c):
    E = first(c, "head_dim", default=c["hidden_size"] // c["num_attention_heads"])
    bias = c.get("bias", False)
    return rms_decoder(c | {"mlp_bias": bias}, first(c, "num_key_value_heads", default=2), E,
                       c.get("tie_word_embeddings", False), qkv_bias=c.get("qkv_bias", False), o_bias=bias)


def lfm2(c):
    """A convolution between two gates, or attention; a feed-forward network in each layer."""
    D, L, V, H = (c[k] for k in ("hidden_size", "num_hidden_layers", "vocab_size",
                                 "num_attention_heads"))
    F, bias = first(c, "block_ff_dim", "intermediate_size"), c.get("conv_bias", False)
    if c["model_type"] == "lfm2" and c.get("block_auto_adjust_ff_dim", True):
        multiple = c.get("block_multiple_of", 256)
        F = math.ceil((2 * F // 3) / multiple) * multiple
    chosen = first(c, "full_attn_idxs", default=range(L))
    kinds = c.get("layer_types") or ["full_attention" if layer in chosen else "conv" for layer in range(L)]
    conv = linear(D, 3 * D, bias) + D * c.get("conv_L_cache", 3) + (D if bias else 0) + linear(D, D, bias)
    attention = grouped_attention(D, H, first(c, "num_key_value_heads", default=8), D // H, head_norms=True)
    X, A, M = (c.get(k, d) for k, d in (("num_experts", 32), ("num_experts_per_tok", 4),
                                        ("moe_intermediate_size", 1792)))
    first_dense = c.get("num_dense_layers", 2) if c["model_type"] == "lfm2_moe" else L
    total = active = D + V * D * (1 if c.get("tie_word_embeddings", True) else 2)
    for layer, kind in enumerate(kinds):
        common = 2 * D + (attention if kind == "full_attention" else conv)
        if layer < first_dense:
            common += gated(D, F)
        else:
            common += D * X + (X if c.get("use_expert_bias", True) else 0)
            total += X * gated(D, M)
            active += A * gated(D, M)
        total, active = total + common, active + common
    return total, active, V * D


def routed(c, attention, is_dense, X, A, width, shared, norms=2, correction=True):
    """Layers that are dense or have experts with a correction, whatever their attention."""
    D, V = c["hidden_size"], c["vocab_size"]
    total = active = D + V * D * (1 if c.get("tie_word_embeddings", False) else 2)
    for dense_layer in is_dense:
        common = attention + norms * D
        if dense_layer:
            common += gated(D, c["intermediate_size"])
        else:
            common += D * X + (X if correction else 0) + gated(D, shared)
            total += X * gated(D, width)
            active += A * gated(D, width)
        total, active = total + common, active + common
    return total, active, V * D


def dense_first(c, key, default):
    """Of each layer, whether it has no experts."""
    if c.get("mlp_layer_types"):
        return [kind == "dense" for kind in c["mlp_layer_types"]]
    return [layer < c.get(key, default) for layer in range(c["num_hidden_layers"])]


def afmoe(c):
    """An output gate as wide as the queries, four norms in a layer."""
    D, H, E = c["hidden_size"], c["num_attention_heads"], c.get("head_dim") or 128
    K, width = first(c, "num_key_value_heads", default=H), c.get("moe_intermediate_size", 1408)
    attention = grouped_attention(D, H, K, E, head_norms=True) + linear(D, H * E)
    return routed(c, attention, dense_first(c, "num_dense_layers", 1), c.get("num_experts", 64),
                  c.get("num_experts_per_tok", 6), width, c.get("num_shared_experts", 2) * width, norms=4)


def bailing_moe(c):
    """Ling 2 has norms of heads and corrections; Ling 1 has neither."""
    D, H, is_second = c["hidden_size"], c["num_attention_heads"], "V2" in c["architectures"][0]
    E = first(c, "head_dim", default=128 if is_second else D // H)
    attention = grouped_attention(D, H, c["num_key_value_heads"], E, c.get("use_qkv_bias", False),
                                  c.get("use_bias", not is_second), c.get("use_qk_norm", is_second))
    width, shared = c["moe_intermediate_size"], c.get("num_shared_experts", 1 if is_second else 0)
    return routed(c, attention, dense_first(c, "first_k_dense_replace", 1 if is_second else 0), c["num_experts"],
                  c["num_experts_per_tok"], width, shared * width, correction=is_second)


def sarvam_moe(c):
    """Ling 2 with names of its own; the class of transformers has one flag for all biases."""
    is_published = (c.get("architectures") or [""])[0].startswith("SarvamMoE")
    c = {"hidden_size": 4096, "num_hidden_layers": 19, "num_attention_heads": 16 if is_published else 64, "intermediate_size": 8192, "vocab_size": 262144} | c
    D, H, bias, width = c["hidden_size"], c["num_attention_heads"], c.get("attention_bias", False), c.get("moe_intermediate_size", 1024)
    E = c.get("head_dim", 256 if is_published else None) or D // H
    attention = grouped_attention(D, H, c.get("num_key_value_heads", 4), E, c.get("use_qkv_bias", bias), c.get("use_bias", bias), c.get("use_qk_norm", True))
    return routed(c, attention, dense_first(c, "first_k_dense_replace", 1), c.get("num_experts", 128), c.get("num_experts_per_tok", 6), width,
                  c.get("num_shared_experts", 1) * width)


def sarvam_mla(c):
    """DeepSeek 3 with other defaults."""
    return deepseek_v3({"hidden_size": 4096, "intermediate_size": 16384, "moe_intermediate_size": 2048, "num_hidden_layers": 32, "num_attention_heads": 64, "vocab_size": 262144,
                        "n_routed_experts": c.get("num_experts", 128), "n_shared_experts": c.get("num_shared_experts", 1), "num_experts_per_tok": 8, "first_k_dense_replace": 1} | c)


def doge(c):
    """Llama with norms of heads, what values say of each key head, and two vectors for the residual stream."""
    c = {"hidden_size": 1024, "intermediate_size": 2048, "num_hidden_layers": 32, "num_attention_heads": 8, "vocab_size": 32768} | c
    D, H, bias = c["hidden_size"], c["num_attention_heads"], c.get("attention_bias", False)
    E, K = first(c, "head_dim", default=D // H), first(c, "num_key_value_heads", default=H)
    total, _, table = rms_decoder(c, K, E, c.get("tie_word_embeddings", False), qkv_bias=bias, o_bias=bias, head_norms=True)
    return dense(total + c["num_hidden_layers"] * (linear(K * E, K, bias) + K + 2 * D), table)


def step3_text(c):
    """Queries of all heads are made of one normalized vector; one head of keys and values; experts in the layers that are listed."""
    c = {"hidden_size": 7168, "num_hidden_layers": 61, "num_attention_heads": 64, "intermediate_size": 18432, "vocab_size": 128815} | c
    D, H, E, Q = c["hidden_size"], c["num_attention_heads"], c.get("head_dim", 256), c.get("share_q_dim", 2048)
    attention = D * Q + Q + Q * H * E + 2 * D * E + H * E * D
    listed = c.get("moe_layers_enum", range(4, 60))
    return routed(c, attention, [layer not in listed for layer in range(c["num_hidden_layers"])], c.get("moe_num_experts", 48), c.get("moe_top_k", 3),
                  c.get("moe_intermediate_size", 5120), c.get("share_expert_dim", 5120), correction=False)


def apriel_hybrid_ssm(c):
    """Mistral's layers, or a scan whose heads have as many channels as states; what it reads and writes is of fewer heads."""
    D, F, V, H, s = c["hidden_size"], c["intermediate_size"], c["vocab_size"], c["num_attention_heads"], c["ssm_cfg"]
    K, E = first(c, "num_key_value_heads", default=H), first(c, "head_dim", default=D // H)
    C, X, N, bias = s["d_inner"], first(s, "d_xb", default=D), s["d_state"], s.get("bias", False)
    R = -(-D // 16) if s.get("dt_rank", "auto") == "auto" else s["dt_rank"]
    taps = (s.get("d_conv", 4) + (1 if s.get("conv_bias", True) else 0)) * (C if s.get("repeat_kv_before_conv", True) else X)
    scan = linear(D, 2 * C + 2 * X, bias) + linear(D, R, bias) + linear(R, C, True) + taps + C * N + C + linear(C, D, bias)
    layers = sum(scan if kind == "m2" else grouped_attention(D, H, K, E) for kind in c["hybrid_block_layout"])
    layers += c["num_hidden_layers"] * (2 * D + gated(D, F))
    return dense(layers + D + V * D * (1 if c.get("tie_word_embeddings", False) else 2), V * D)


def exaone_moe(c):
    D, H, width = c["hidden_size"], c["num_attention_heads"], c.get("moe_intermediate_size", 1024)
    E, K = first(c, "head_dim", default=D // H), first(c, "num_key_value_heads", default=32)
    return routed(c, grouped_attention(D, H, K, E, head_norms=True), dense_first(c, "first_k_dense_replace", 1),
                  c.get("num_experts", 64), c.get("num_experts_per_tok", 8), width,
                  c.get("num_shared_experts", 1) * width)


def glm4_moe_lite(c):
    c = {"q_lora_rank": 768, "qk_nope_head_dim": 192, "v_head_dim": 256} | c
    width = c.get("moe_intermediate_size", 1536)
    return routed(c, latent_attention(c), dense_first(c, "first_k_dense_replace", 1), c["n_routed_experts"],
                  c["num_experts_per_tok"], width, c.get("n_shared_experts", 1) * width)


def glm_moe_dsa(c):
    c = {"q_lora_rank": 2048, "qk_nope_head_dim": 192, "v_head_dim": 256, "n_routed_experts": 256, "num_experts_per_tok": 8,
         "vocab_size": 154880} | c
    width = c.get("moe_intermediate_size", 2048)
    total, active, table = routed(c, latent_attention(c) + selection(c, 32), dense_first(c, "first_k_dense_replace", 3), c["n_routed_experts"],
                                  c["num_experts_per_tok"], width, c.get("n_shared_experts", 1) * width)
    without = selecting_layers(c).count(False) * selection(c, 32)
    return total - without, active - without, table


def selecting_layers(c):
    """Of each layer, whether it selects keys of its own."""
    if c.get("indexer_types"):
        return [kind == "full" for kind in c["indexer_types"]]
    if c.get("index_topk_pattern"):
        return [letter == "F" for letter in c["index_topk_pattern"]]
    every, offset = c.get("index_topk_freq", 1), c.get("index_skip_topk_offset", 2)
    return [max(layer - offset + 1, 0) % every == 0 for layer in range(c["num_hidden_layers"])]


def hy_v4(c):
    """Two connections of each layer that mix nothing; gates of all values, a score of each head that no key has."""
    c = {"hidden_size": 2816, "intermediate_size": 6912, "moe_intermediate_size": 768, "num_hidden_layers": 34, "num_attention_heads": 32, "vocab_size": 120832,
         "n_routed_experts": 256, "num_experts_per_tok": 8, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 192, "qk_rope_head_dim": 64,
         "v_head_dim": 256, "hc_mult": 4} | c
    D, L, H, n, width = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads", "hc_mult", "moe_intermediate_size"))
    dense = [kind == "dense" for kind in c.get("mlp_layer_types") or ["dense"] + (L - 1) * ["sparse"]]
    kinds = c.get("indexer_types") or ["full" if i == 0 or i % 4 == 1 else "shared" for i in range(L)]
    layer = latent_attention(c) + D * H * c["v_head_dim"] + H + 2 * (n * D * 2 * n + 2 * n + 2)
    total, active, table = routed(c, layer, dense, c["n_routed_experts"], c["num_experts_per_tok"], width, c.get("n_shared_experts", 1) * width)
    rest = kinds.count("full") * selection(c, 16) + n * D * n + n + 1
    return total + rest, active + rest, table


def glm5_next_text(c):
    """Layers with Kimi's delta rule, and with latent attention without positions, whose selection has a gate and places of blocks."""
    c = {"hidden_size": 4096, "intermediate_size": 12288, "moe_intermediate_size": 2048, "num_hidden_layers": 45, "num_attention_heads": 64, "vocab_size": 154880,
         "n_routed_experts": 288, "num_experts_per_tok": 8, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 256, "qk_rope_head_dim": 0,
         "v_head_dim": 256, "hc_mult": 4, "linear_head_dim": 128, "linear_num_heads": 64, "linear_conv_kernel_dim": 4} | c
    D, L, n, width, X = (c[k] for k in ("hidden_size", "num_hidden_layers", "hc_mult", "moe_intermediate_size", "n_routed_experts"))
    given = c.get("linear_attn_config") or {}
    E, heads = given.get("head_dim", c["linear_head_dim"]), given.get("num_heads", c["linear_num_heads"])
    P, J = E * heads, c.get("index_head_dim", 128)
    linear_part = 4 * D * P + 3 * P * given.get("short_conv_kernel_size", c["linear_conv_kernel_dim"]) + 2 * (D * E + E * P) + P + heads + D * heads + E
    selecting = latent_attention(c) + selection(c, 32) + D * J + c.get("index_kpool", 16) * J
    kinds = c.get("layer_types") or ["full" if i % 4 == 3 else "linear_attention" for i in range(L)]
    types = c.get("mlp_layer_types") or ["dense" if i < 3 else "sparse" for i in range(L)]
    total = active = D + c["vocab_size"] * D * (1 if c.get("tie_word_embeddings", False) else 2)
    for kind, network in zip(kinds, types):
        common = (linear_part if kind == "linear_attention" else selecting) + 2 * D + 2 * (n * D * (2 + n) * n + (2 + n) * n + 3)
        if network == "dense":
            total, active = total + common + gated(D, c["intermediate_size"]), active + common + gated(D, c["intermediate_size"])
        else:
            common += D * X + X + gated(D, c.get("n_shared_experts", 1) * width)
            total, active = total + common + X * gated(D, width), active + common + c["num_experts_per_tok"] * gated(D, width)
    return total, active, c["vocab_size"] * D


def minimax_m3_vl_text(c):
    """What selects keys has as many queries as it likes and one key, both with norms, and no weights."""
    c = {"hidden_size": 6144, "intermediate_size": 3072, "num_hidden_layers": 60, "num_attention_heads": 64, "num_key_value_heads": 4, "vocab_size": 200064,
         "num_local_experts": 128, "num_experts_per_tok": 4} | c
    D, L, X, width, E = c["hidden_size"], c["num_hidden_layers"], c["num_local_experts"], c["intermediate_size"], c.get("head_dim", 128)
    sparse = c.get("sparse_attention_config") or {}
    dense = [kind == "dense" for kind in c.get("mlp_layer_types") or []] or [not kind for kind in c.get("moe_layer_freq") or L * [1]]
    kinds = [kind == "minimax_m3_sparse" for kind in c.get("layer_types") or []] or sparse.get("sparse_attention_freq") or L * [0]
    J, heads = sparse.get("sparse_index_dim", c.get("index_head_dim", 128)), sparse.get("sparse_num_index_heads", c.get("index_n_heads", 4))
    attention = grouped_attention(D, c["num_attention_heads"], c["num_key_value_heads"], E, head_norms=True)
    total, active, table = routed(c | {"intermediate_size": c.get("dense_intermediate_size", 12288)}, attention, dense, X, c["num_experts_per_tok"], width,
                                  c.get("shared_intermediate_size", 3072))
    selections = sum(map(bool, kinds)) * (D * J * (heads + 1) + 2 * J)
    return total + selections, active + selections, table


def gemma4_unified_text(c):
    c = {"vocab_size": 262144, "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 30, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256} | c
    return gemma4_text(c | {"hidden_size_per_layer_input": 0})


def solar_open(c):
    """Experts in every layer."""
    D, H, width = c["hidden_size"], c["num_attention_heads"], c["moe_intermediate_size"]
    attention = grouped_attention(D, H, first(c, "num_key_value_heads", default=8),
                                  first(c, "head_dim", default=128), c.get("attention_bias", False))
    return routed(c, attention, [False] * c["num_hidden_layers"], c["n_routed_experts"],
                  c["num_experts_per_tok"], width, c.get("n_shared_experts", 1) * width)


def hunyuan_v1_moe(c):
    """Numbers may be lists of one for each layer; the shared expert is as wide as the others."""
    D, H, F = c["hidden_size"], c["num_attention_heads"], c["intermediate_size"]
    E, bias = first(c, "head_dim", "attention_head_dim", default=D // H), c.get("attention_bias", False)
    attention = grouped_attention(D, H, first(c, "num_key_value_heads", default=H), E, bias, bias, True)
    X, A = (c[key][0] if isinstance(c[key], list) else c[key] for key in ("num_experts", "moe_topk"))
    return routed(c, attention, [False] * c["num_hidden_layers"], X, A, F, F, correction=False)


def vaultgemma(c):
    """Gemma 2 without norms behind attention and the feed-forward network."""
    return gemma(c | {"num_key_value_heads": first(c, "num_key_value_heads", default=4)})


def biogpt(c):
    """OPT's decoder, also of XGLM, whose positions are fixed."""
    D = first(c, "d_model", "hidden_size")
    L, F = first(c, "num_layers", "num_hidden_layers"), first(c, "ffn_dim", "intermediate_size")
    layer = grouped_attention(D, 1, 1, D, True, True) + plain(D, F, True) + 2 * layer_norm(D)
    positions = 0 if c["model_type"] == "xglm" else c["max_position_embeddings"] + 2
    V, tables = c["vocab_size"], 1 if c.get("tie_word_embeddings", True) else 2
    return dense(L * layer + layer_norm(D) + (tables * V + positions) * D, V * D)


def persimmon(c):
    """LayerNorms of heads have biases."""
    D, L, V, H = (c[k] for k in ("hidden_size", "num_hidden_layers", "vocab_size",
                                 "num_attention_heads"))
    layer = grouped_attention(D, H, H, D // H, True, True) + plain(D, c["intermediate_size"], True)
    layer += 2 * layer_norm(D) + (2 * layer_norm(D // H) if c.get("qk_layernorm", True) else 0)
    tables = 1 if c.get("tie_word_embeddings", False) else 2
    return dense(L * layer + layer_norm(D) + tables * V * D, V * D)


def qwen3_5_text(c):
    """Qwen 3 Next whose layers are all dense."""
    given = {"num_key_value_heads": 4} | c
    return qwen3_next(given | {"decoder_sparse_step": c["num_hidden_layers"] + 1})


def qwen3_5_moe_text(c):
    return qwen3_next({"num_experts": 256, "num_experts_per_tok": 8} | c)


def mimo(c):
    return rms_decoder(c, first(c, "num_key_value_heads", default=32),
                       first(c, "head_dim", default=c["hidden_size"] // c["num_attention_heads"]),
                       c.get("tie_word_embeddings", False), qkv_bias=True)


def openai_gpt(c):
    """GPT-2 without a last norm."""
    total, _, table = gpt2({"n_positions": 512} | c)
    return dense(total - layer_norm(c["n_embd"]), table)


def ministral3(c):
    return mistral({"head_dim": 128} | c)


def apertus(c):
    """A network of two matrices and two numbers; norms of heads."""
    D, L, V, H = (c[k] for k in ("hidden_size", "num_hidden_layers", "vocab_size",
                                 "num_attention_heads"))
    E, bias = first(c, "head_dim", default=D // H), c.get("attention_bias", False)
    layer = grouped_attention(D, H, first(c, "num_key_value_heads", default=H), E, bias, bias, True)
    layer += plain(D, c["intermediate_size"]) + 2 * D
    layer += 2 if c.get("hidden_act", "xielu") == "xielu" else 0
    tables = 1 if c.get("tie_word_embeddings", False) else 2
    return dense(L * layer + D + tables * V * D, V * D)


def bitnet(c):
    """Llama with a norm before the output of attention and one before that of the network."""
    E = first(c, "head_dim", default=c["hidden_size"] // c["num_attention_heads"])
    total, _, table = llama(c)
    inner = c["num_attention_heads"] * E + c["intermediate_size"]
    return dense(total + c["num_hidden_layers"] * inner, table)


def dbrx(c):
    """Sizes of attention and of experts stand in parts of their own."""
    D, H = first(c, "d_model", "hidden_size"), first(c, "n_heads", "num_attention_heads")
    parts = {"kv_n_heads": 1, "ffn_hidden_size": 3584, "moe_num_experts": 4, "moe_top_k": 1}
    parts |= c.get("attn_config", {}) | c.get("ffn_config", {})
    sizes = {"hidden_size": D, "num_hidden_layers": first(c, "n_layers", "num_hidden_layers"),
             "num_attention_heads": H, "vocab_size": c["vocab_size"]}
    return mixture(sizes, parts["moe_num_experts"], parts["moe_top_k"], parts["ffn_hidden_size"],
                   lambda layer: False, parts["kv_n_heads"], D // H)


def olmo_hybrid(c):
    """Norms of all heads together in attention; each kind of layer has two norms."""
    D, L, H, V = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads",
                                 "vocab_size"))
    K, E, bias = first(c, "num_key_value_heads", default=H), D // H, c.get("attention_bias", False)
    heads = first(c, "linear_num_key_heads", default=H)
    size = first(c, "linear_key_head_dim", default=int(0.75 * D / heads))
    value_heads = first(c, "linear_num_value_heads", default=H)
    value_size = first(c, "linear_value_head_dim", default=2 * size)
    keys, values = heads * size, value_heads * value_size
    delta = D * (2 * keys + 2 * values + 2 * value_heads) + values * D + 2 * value_heads + value_size
    delta += (2 * keys + values) * c.get("linear_conv_kernel_dim", 4)
    attention = grouped_attention(D, H, K, E, bias, bias) + (H + K) * E
    kinds = c.get("layer_types")
    if not kinds:
        kinds = ["full_attention" if i % 4 == 3 or i == L - 1 < 3 else "linear_attention" for i in range(L)]
    count = kinds.count("full_attention")
    total = count * attention + (L - count) * delta + L * (2 * D + gated(D, c["intermediate_size"]))
    return dense(total + D + V * D * (1 if c.get("tie_word_embeddings", False) else 2), V * D)


def minimax(c):
    """Experts behind lightning attention, which has a gate and a norm of all heads, or attention."""
    D, L, H, V = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads",
                                 "vocab_size"))
    K, E = first(c, "num_key_value_heads", default=8), first(c, "head_dim", default=D // H)
    lightning, full = 5 * D * H * E + H * E, grouped_attention(D, H, K, E)
    kinds = c.get("attn_type_list") or [kind == "full_attention" for kind in c.get("layer_types") or []]
    kinds = kinds or [layer % 2 == 0 for layer in range(L)]
    X, A, expert = c.get("num_local_experts", 8), c.get("num_experts_per_tok", 2), gated(D, c["intermediate_size"])
    common = sum(full if kind else lightning for kind in kinds) + L * (2 * D + D * X) + D
    common += V * D * (1 if c.get("tie_word_embeddings", False) else 2)
    return common + L * X * expert, common + L * A * expert, V * D


def mistral4(c):
    """DeepSeek's layers whose router has no correction."""
    return sigmoid_mixture(c, latent_attention(c), correction=False)


def mimo_v2_flash(c):
    """Layers with a window have twice as many key/value heads, and a sink of each query head."""
    D, H, L, E, V = (c[k] for k in ("hidden_size", "num_attention_heads", "num_hidden_layers", "head_dim", "v_head_dim"))
    types = c.get("layer_types") or ["full" if i == 0 or i % 6 == 5 else "sliding_attention" for i in range(L)]
    networks = c.get("mlp_layer_types") or ["dense"] + ["sparse"] * (L - 1)
    X, width, bias = c["n_routed_experts"], c["moe_intermediate_size"], c.get("attention_bias", False)
    total = active = D + 2 * c["vocab_size"] * D
    for kind, network in zip(types, networks):
        is_local = kind == "sliding_attention"
        K = c["num_key_value_heads"] * (2 if is_local else 1)
        common = linear(D, H * E, bias) + linear(D, K * E, bias) + linear(D, K * V, bias) + linear(H * V, D)
        common += 2 * D + (H if is_local else 0)
        if network == "dense":
            common += gated(D, c["intermediate_size"])
        else:
            common += linear(D, X, False) + X
            total += X * gated(D, width)
            active += c["num_experts_per_tok"] * gated(D, width)
        total, active = total + common, active + common
    return total, active, c["vocab_size"] * D


def hy_v3(c):
    """Biases of networks are those of dense ones and of the shared expert."""
    D, L, H, K, F = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "intermediate_size"))
    width, bias, X = first(c, "moe_intermediate_size", "expert_hidden_dim", default=1536), c.get("mlp_bias", False), c["num_experts"]
    attention_bias = c.get("attention_bias", False)
    attention = grouped_attention(D, H, K, c.get("head_dim", 128), attention_bias, attention_bias, True)
    types = c.get("mlp_layer_types") or ["dense"] + ["sparse"] * (L - 1)
    dense_layers = types.count("dense")
    sparse_layers = L - dense_layers
    common = D + c["vocab_size"] * D * (1 if c.get("tie_word_embeddings", False) else 2) + L * (attention + 2 * D)
    common += dense_layers * gated(D, F, bias)
    common += sparse_layers * (linear(D, X) + X + gated(D, c.get("num_shared_experts", 1) * width, bias))
    expert = sparse_layers * gated(D, width)
    return common + X * expert, common + c.get("num_experts_per_tok", 8) * expert, c["vocab_size"] * D


def cohere2_moe(c):
    """One norm without bias in a layer; shared experts are one, as wide as all of them."""
    D, H, L, F, V = (c[k] for k in ("hidden_size", "num_attention_heads", "num_hidden_layers", "intermediate_size", "vocab_size"))
    bias, K, prefix = c.get("attention_bias", False), first(c, "num_key_value_heads", default=H), c.get("first_k_dense_replace", 0)
    attention = grouped_attention(D, H, K, c.get("head_dim", 128), bias, bias)
    types = c.get("mlp_layer_types") or ["dense"] * prefix + ["sparse"] * (L - prefix)
    sparse = types.count("sparse")
    common = D + V * D * (1 if c.get("tie_word_embeddings", True) else 2) + L * (attention + D)
    common += (L - sparse) * gated(D, first(c, "prefix_dense_intermediate_size", default=F))
    common += sparse * (linear(D, c["num_experts"]) + gated(D, c.get("num_shared_experts", 0) * F))
    expert = sparse * gated(D, F)
    return common + c["num_experts"] * expert, common + c["num_experts_per_tok"] * expert, V * D


def axk1(c):
    """DeepSeek 3 with a norm behind the experts of a layer."""
    total, active, table = deepseek_v3(c)
    norms = max(c["num_hidden_layers"] - c["first_k_dense_replace"], 0) * c["hidden_size"]
    return total + norms, active + norms, table


def axk2(c):
    """DeepSeek 3.2 whose queries and gates are of two latents, with gates of a low rank of two norms, of one where there are no experts."""
    c = {"qk_nope_head_dim": 64, "qk_rope_head_dim": 32, "v_head_dim": 64, "kv_lora_rank": 128, "q_lora_rank": 384, "index_n_heads": 16, "n_shared_experts": 1} | c
    D, H, L, query, rank = c["hidden_size"], c["num_attention_heads"], c["num_hidden_layers"], c["q_lora_rank"], c.get("gated_norm_rank", 16)
    gates = query * H * c["v_head_dim"] + query * H * (c["qk_nope_head_dim"] + c["qk_rope_head_dim"] + c["v_head_dim"]) + 2 * D * rank
    kinds = c.get("mlp_layer_types") or ["dense" if layer < c.get("first_k_dense_replace", 1) else "sparse" for layer in range(L)]
    dense_layers = kinds.count("dense")
    total, active, table = sigmoid_mixture(c | {"first_k_dense_replace": dense_layers, "moe_layer_freq": 1}, latent_attention(c) + selection(c) + gates)
    return total + 2 * D * rank * (L - dense_layers), active + 2 * D * rank * (L - dense_layers), table


def with_sinks(c, counts):
    """A sink of each head in each layer."""
    total, active, table = counts
    sinks = c["num_hidden_layers"] * c["num_attention_heads"]
    return total + sinks, active + sinks, table


def granite_swa(c):
    return with_sinks(c, granite({"num_key_value_heads": 4, "tie_word_embeddings": True} | c))


def granitemoe_swa(c):
    return with_sinks(c, granitemoe(c))


def jais2(c):
    """LayerNorms, whose biases are as many as their weights, and two matrices."""
    D, L, H, V = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size"))
    bias, K = c.get("attention_bias", True), first(c, "num_key_value_heads", default=H)
    attention = grouped_attention(D, H, K, first(c, "head_dim", default=D // H), bias, bias)
    layer = attention + plain(D, c["intermediate_size"], c.get("mlp_bias", True)) + 2 * layer_norm(D)
    return dense(L * layer + layer_norm(D) + V * D * (1 if c.get("tie_word_embeddings", False) else 2), V * D)


def laguna(c):
    """Layers may have other numbers of query heads; a gate of each head, or of each of its elements."""
    D, L, K, E, X, V = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_key_value_heads", "head_dim", "num_experts", "vocab_size"))
    heads = c.get("num_attention_heads_per_layer") or [c["num_attention_heads"]] * L
    networks, bias = c.get("mlp_layer_types") or ["dense"] + ["sparse"] * (L - 1), c.get("attention_bias", False)
    gates = E if c.get("gating") == "per-element" else 1
    total = active = D + V * D * (1 if c.get("tie_word_embeddings", False) else 2)
    for H, network in zip(heads, networks):
        common = grouped_attention(D, H, K, E, bias, bias, True) + D * H * gates + 2 * D
        if network == "dense":
            common += gated(D, c["intermediate_size"])
        else:
            common += D * X + X + gated(D, c["shared_expert_intermediate_size"])
            total += X * gated(D, c["moe_intermediate_size"])
            active += c["num_experts_per_tok"] * gated(D, c["moe_intermediate_size"])
        total, active = total + common, active + common
    return total, active, V * D


def step3p5(c):
    """A gate of each head, other numbers of which layers with a window may have."""
    D, L, K, E, X, V = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_groups", "head_dim", "moe_num_experts", "vocab_size"))
    other = (c.get("attention_other_setting") or {}).get("num_attention_heads")
    local = first(c, "num_sliding_attention_heads", default=other or c["num_attention_heads"])
    types = (c.get("layer_types") or ["full_attention"] * L)[:L]
    listed = c.get("moe_layers_enum")
    sparse = range(3, L) if listed is None else listed
    networks = c.get("mlp_layer_types") or ["sparse" if layer in sparse else "dense" for layer in range(L)]
    bias, mlp_bias = c.get("attention_bias", False), c.get("mlp_bias", False)
    total = active = D + V * D * (1 if c.get("tie_word_embeddings", False) else 2)
    for kind, network in zip(types, networks):
        H = local if kind == "sliding_attention" else c["num_attention_heads"]
        common = grouped_attention(D, H, K, E, bias, bias, True) + D * H + 2 * D
        if network == "dense":
            common += gated(D, c["intermediate_size"], mlp_bias)
        else:
            common += D * X + X + gated(D, c["share_expert_dim"], mlp_bias)
            total += X * gated(D, c["moe_intermediate_size"])
            active += c["moe_top_k"] * gated(D, c["moe_intermediate_size"])
        total, active = total + common, active + common
    return total, active, V * D


def gemma4_text(c):
    """Other heads in layers without a window, whose values may be their keys; the last layers have no
    keys of their own and may be twice as wide; each layer may have a table, with a gate and two matrices."""
    D, L, H, K, V = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "vocab_size"))
    kinds = list(c.get("layer_types") or ["full_attention" if (i + 1) % 6 == 0 else "sliding_attention" for i in range(L)])
    kinds[-1] = "full_attention"
    own, width, bias = L - c.get("num_kv_shared_layers", 0), c.get("hidden_size_per_layer_input", 256), c.get("attention_bias", False)
    is_same = c.get("attention_k_eq_v", False)
    total = D + V * D * (1 if c.get("tie_word_embeddings", True) else 2)
    total += width * (c.get("vocab_size_per_layer_input", 262144) * L + D * L + 1)
    active = 0
    for layer, kind in enumerate(kinds):
        is_global = kind == "full_attention"
        E = c.get("global_head_dim", 512) if is_global else c["head_dim"]
        keys = (c.get("num_global_key_value_heads") or K) if is_global and is_same else K
        total += linear(D, H * E, bias) + linear(H * E, D, bias) + E + 4 * D
        if layer < own:
            total += (1 if is_global and is_same else 2) * linear(D, keys * E, bias) + E
        is_wide = c.get("use_double_wide_mlp", False) and layer >= own
        total += gated(D, c["intermediate_size"] * (2 if is_wide else 1)) + (2 * D * width + D if width else 0)
        if c.get("enable_moe_block", False):
            X, expert = c["num_experts"], gated(D, c["moe_intermediate_size"])
            total += D * X + X + 4 * D + X * expert
            active -= (X - c["top_k_experts"]) * expert
    return total, total + active, V * D


def gemma3n_text(c):
    """Streams with a router and coefficients, a low-rank product beside attention, layers that may differ in
    width, of which the last have no keys of their own, and a table of each layer with a gate and a matrix."""
    D, L, H, K, E, V = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim", "vocab_size"))
    streams, rank, width = c["altup_num_inputs"], c["laurel_rank"], c["hidden_size_per_layer_input"]
    bias, own = c.get("attention_bias", False), L - c["num_kv_shared_layers"]
    widths = c["intermediate_size"] if isinstance(c["intermediate_size"], list) else L * [c["intermediate_size"]]
    total = D + V * D * (1 if c.get("tie_word_embeddings", True) else 2) + 2 * (streams - 1) * D * D
    total += width * (c["vocab_size_per_layer_input"] * L + D * L + 1)
    for layer in range(L):
        total += linear(D, H * E, bias) + linear(H * E, D, bias) + E
        if layer < own:
            total += 2 * linear(D, K * E, bias) + E
        total += 4 * D + gated(D, widths[layer]) + 2 * D * rank + D + 2 * D * width + D
        total += D + streams**2 + streams**3 + D * streams + D
    return total, total, V * D


def chameleon(c):
    """LayerNorms of heads, with weights and biases for each; the images' tokens are made elsewhere."""
    E, H = c["hidden_size"] // c["num_attention_heads"], c["num_attention_heads"]
    K = first(c, "num_key_value_heads", default=H)
    total, _, table = llama(c)
    return dense(total + c["num_hidden_layers"] * 2 * (H + K) * E, table)


def gpt_neox_japanese(c):
    """LayerNorms, two matrices, and one bias behind all other layers."""
    D, L, V = (c[k] for k in ("hidden_size", "num_hidden_layers", "vocab_size"))
    layer = 4 * D * D + plain(D, D * c["intermediate_multiple_size"]) + 2 * layer_norm(D)
    return dense(L * layer + D + layer_norm(D) + V * D * (1 if c.get("tie_word_embeddings", True) else 2), V * D)


def ctrl(c):
    """Biases everywhere, also of the head, and no table of positions."""
    D, V = c["n_embd"], c["vocab_size"]
    layer = 4 * linear(D, D, True) + plain(D, c["dff"], True) + 2 * layer_norm(D)
    return dense(c["n_layer"] * layer + layer_norm(D) + V + V * D * (1 if c.get("tie_word_embeddings", True) else 2), V * D)


def nanochat(c):
    """No norm has a parameter."""
    D, L, H, V = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size"))
    bias, K = c.get("attention_bias", False), first(c, "num_key_value_heads", default=H)
    layer = grouped_attention(D, H, K, first(c, "head_dim", default=D // H), bias, bias) + plain(D, c["intermediate_size"])
    return dense(L * layer + V * D * (1 if c.get("tie_word_embeddings", False) else 2), V * D)


def grok_1(c):
    """Mixtral with two norms more in each layer."""
    tied = c.get("tie_word_embeddings", True)
    K = first(c, "num_key_value_heads", default=c["num_attention_heads"])
    return mixture(c | {"tie_word_embeddings": tied}, c.get("num_experts", 8), c.get("num_experts_per_tok", 2), c["intermediate_size"], lambda layer: False,
                   K, c["hidden_size"] // c["num_attention_heads"], norms=2 * c["hidden_size"])


def arctic(c):
    """Layers with experts may have a network that is as wide as the stream, and its norm."""
    D, L, H, V = (c[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size"))
    K, X, A = first(c, "num_key_value_heads", default=H), c.get("num_local_experts", 8), c.get("num_experts_per_tok", 1)
    expert = gated(D, c["intermediate_size"])
    total = active = D + V * D * (1 if c.get("tie_word_embeddings", False) else 2)
    for layer in range(1, L + 1):
        common = grouped_attention(D, H, K, D // H) + 2 * D
        if layer % c.get("moe_layer_frequency", 2):
            total, active = total + common + expert, active + common + expert
            continue
        common += D * X + (gated(D, D) + D if c.get("parallel_attn_mlp_res", False) else 0)
        total, active = total + common + X * expert, active + common + A * expert
    return total, active, V * D


def diffllama(c):
    """Llama with four vectors as long as a head in each layer."""
    E = first(c, "head_dim", default=c["hidden_size"] // c["num_attention_heads"])
    total, _, table = llama(c)
    return dense(total + c["num_hidden_layers"] * 4 * E, table)


def divisible(size, step):
    """The nearest multiple of a step, at least one of them, that is not more than a tenth too small."""
    near = max(step, int(size + step / 2) // step * step)
    return near + step if near < 0.9 * size else near


def spaced(numbers, layers):
    """One for each layer: the same, those that are listed, or between the first and the last."""
    if not isinstance(numbers, list):
        return [numbers] * layers
    if len(numbers) != 2:
        return numbers
    first_one, last = numbers
    steps = [first_one + i * ((last - first_one) / (layers - 1)) for i in range(layers - 1)] if layers > 1 else []
    return [round(number, 2) for number in [*steps, last if layers > 1 else first_one]]


def openelm(c):
    """Layers have heads and networks of their own; the table is tied where the file says so."""
    D, L = first(c, "model_dim", "hidden_size", default=2048), first(c, "num_transformer_layers", "num_hidden_layers", default=12)
    E, V, group = c.get("head_dim", 128), c.get("vocab_size", 32000), c.get("num_gqa_groups", 1)
    total = D + V * D * (1 if c.get("share_input_output_layers", False) else 2)
    matrices = 3 if c.get("ffn_with_glu", True) else 2
    for width, factor in zip(spaced(c.get("qkv_multipliers", 1.0), L), spaced(c.get("ffn_multipliers", 4.0), L)):
        H = divisible(D * width, E * group) // E
        total += D * E * (2 * H + 2 * (H // group)) + 2 * D + (2 * E if c.get("normalize_qk_projections", False) else 0)
        total += matrices * D * divisible(factor * D, c.get("ffn_dim_divisor", 256))
    return dense(total, V * D)


def nemotron_nas(c):
    """Each part of a layer is there with its norm, or is one matrix with its norm, or is not there."""
    D, H, V = c["hidden_size"], c["num_attention_heads"], c["vocab_size"]
    E, bias, wide = first(c, "head_dim", default=D // H), c.get("attention_bias", False), c.get("mlp_bias", False)
    total = D + V * D * (1 if c.get("tie_word_embeddings", False) else 2)
    for block in c["block_configs"]:
        attention, network = block["attention"], block["ffn"]
        if not attention.get("no_op"):
            total += D + (linear(D, D, bias) if attention.get("replace_with_linear") else
                          grouped_attention(D, H, H // attention["n_heads_in_group"], E, bias, bias))
        if not network.get("no_op"):
            total += D + (linear(D, D, wide) if network.get("replace_with_linear") else
                          gated(D, -(-int(2 * network["ffn_mult"] * D / 3) // 256) * 256, wide))
    return dense(total, V * D)


def rwkv(c):
    """Three mixtures and four matrices, two vectors of channels; two mixtures and three matrices; norms."""
    D, L, V = c.get("hidden_size", 4096), c.get("num_hidden_layers", 32), c.get("vocab_size", 50277)
    A, F = first(c, "attention_hidden_size", default=D), first(c, "intermediate_size", default=4 * D)
    layer = 3 * D + 4 * D * A + 2 * A + 2 * D + 2 * D * F + D * D + 2 * layer_norm(D)
    return dense(L * layer + 2 * layer_norm(D) + V * D * (1 if c.get("tie_word_embeddings", False) else 2), V * D)


def rwkv7(c):
    """Six mixtures and four matrices, pairs of narrow ones with biases, vectors of heads; one mixture and two matrices; norms. The
    first layer moves no values."""
    D, L, V = c.get("hidden_size", 768), c.get("num_hidden_layers", 12), c.get("vocab_size", 65536)
    w, a, v, g = (c.get(f"{name}_low_rank_dim", size) for name, size in (("decay", 64), ("a", 64), ("v", 32), ("gate", 128)))
    F, n = first(c, "intermediate_size", default=4 * D), layer_norm(D) if c.get("norm_bias", True) else D
    values = linear(D, v) + linear(v, D, True)
    layer = 6 * D + 4 * D * D + linear(D, w) + linear(w, D, True) + linear(D, a) + linear(a, D, True) + 2 * D * g + values
    layer += 3 * D + layer_norm(D) + D + 2 * D * F + 2 * n
    return dense(L * layer - values + 2 * n + V * D * (1 if c.get("tie_word_embeddings", False) else 2), V * D)


def xlstm(c):
    """Gates of heads have biases; a network of a multiple of 64."""
    D, L, V, H = c.get("hidden_size", 4096), c.get("num_hidden_layers", 32), c.get("vocab_size", 50304), c.get("num_heads", 8)
    K, W = int(D * c.get("qk_dim_factor", 0.5)), int(D * c.get("v_dim_factor", 1.0))
    step = c.get("ffn_round_up_to_multiple_of", 64)
    F = -(-int(D * c.get("ffn_proj_factor", 2.667)) // step) * step
    layer = 2 * D * K + 3 * D * W + 2 * linear(D, H, True) + W + gated(D, F) + 2 * D
    return dense(L * layer + D + V * D * (1 if c.get("tie_word_embeddings", False) else 2), V * D)


def zamba(c):
    """Each head projects its channels by itself; one shared layer, and a matrix of each of its places."""
    D, V, H, X = c.get("hidden_size", 3712), c.get("vocab_size", 32000), c.get("num_attention_heads", 16), c.get("n_mamba_heads", 2)
    K, F, L = first(c, "num_key_value_heads", default=H), c.get("intermediate_size", 14848), c.get("num_hidden_layers", 76)
    C, N, R = c.get("mamba_expand", 2) * D, c.get("mamba_d_state", 16), c.get("mamba_dt_rank", "auto")
    R, bias, wide = -(-D // 16) if R == "auto" else R, c.get("mamba_proj_bias", False), c.get("mamba_conv_bias", True)
    period, offset = c.get("attn_layer_period", 6), c.get("attn_layer_offset", 4)
    kinds = first(c, "layers_block_type", default=["mamba", "mamba", "hybrid"]
                  + ["hybrid" if i % period == offset else "mamba" for i in range(L - 3)])[:L]
    places = len([kind for kind in kinds if kind != "mamba"])
    mixer = linear(D, 2 * C, bias) + C * (c.get("mamba_d_conv", 4) + (1 if wide else 0)) + C * (R + 2 * N) + R * C + C + C * N + C + linear(C, D, bias) + D
    E = 2 * D // H
    shared = 2 * D + 2 * D * (H + 2 * K) * E + H * E * D + D + gated(D, F)
    total = L * mixer + (shared if places else 0) + places * D * D + D
    return dense(total + V * D * (1 if c.get("tie_word_embeddings", True) else 2), V * D)


def recurrent_gemma(c):
    """Biases of all but queries, keys and values; gates of blocks of the recurrence have matrices of their own."""
    D, L, H, V = c["hidden_size"], c["num_hidden_layers"], c["num_attention_heads"], c.get("vocab_size", 256000)
    K, W, kinds = first(c, "num_key_value_heads", default=H), first(c, "lru_width", default=D), first(c, "block_types", default=["recurrent", "recurrent", "attention"])
    bias = c.get("attention_bias", False)
    attention = grouped_attention(D, H, K, D // H, bias, True)
    recurrence = 2 * linear(D, W, True) + linear(W, D, True) + W * (c.get("conv1d_width", 4) + 1) + W
    recurrence += 2 * (W * (W // H) + W)
    total = D + V * D * (1 if c.get("tie_word_embeddings", True) else 2)
    for layer in range(L):
        total += attention if kinds[layer % len(kinds)] == "attention" else recurrence
        total += 2 * D + gated(D, c["intermediate_size"] // 2, True)
    return dense(total, V * D)


def jetmoe(c):
    """Experts of attention are two matrices, experts of networks three; both have a router and a bias."""
    D, L, V = c.get("hidden_size", 2048), c.get("num_hidden_layers", 12), c.get("vocab_size", 32000)
    K, E = first(c, "num_key_value_heads", default=16), first(c, "kv_channels", default=128)
    X, A = c.get("num_local_experts", 8), c.get("num_experts_per_tok", 2)
    expert = 2 * D * K * E + gated(D, c.get("intermediate_size", 5632))
    total = active = D + V * D * (1 if c.get("tie_word_embeddings", True) else 2)
    common = 2 * D * K * E + 2 * (D * X + D) + 2 * D
    return total + L * (common + X * expert), active + L * (common + A * expert), V * D


def aria_text(c):
    """Shared experts are as many experts more, which all tokens see."""
    H, F = c.get("num_attention_heads", 32), first(c, "moe_intermediate_size", "intermediate_size", default=4096)
    c = {"hidden_size": 4096, "num_hidden_layers": 32, "vocab_size": 32000} | c | {"num_attention_heads": H}
    bias, E = c.get("attention_bias", False), first(c, "head_dim", default=c["hidden_size"] // H)
    return mixture(c, c.get("moe_num_experts", 8), c.get("moe_topk", 2), F, lambda layer: False, first(c, "num_key_value_heads", default=H), E,
                   shared=c.get("moe_num_shared_experts", 2) * F, qkv_bias=bias, o_bias=bias)


FAMILIES = {
    "aria_text": aria_text,
    "hy_v4": hy_v4, "glm5_next_text": glm5_next_text, "minimax_m3_vl_text": minimax_m3_vl_text, "gemma4_unified_text": gemma4_unified_text,
    "jetmoe": jetmoe,
    "openelm": openelm, "nemotron-nas": nemotron_nas, "rwkv": rwkv, "rwkv7": rwkv7, "xlstm": xlstm, "zamba": zamba, "recurrent_gemma": recurrent_gemma,
    "diffllama": diffllama, "arctic": arctic, "grok-1": grok_1, "nanochat": nanochat, "ctrl": ctrl, "gpt_neox_japanese": gpt_neox_japanese, "chameleon": chameleon, "gemma3n_text": gemma3n_text, "gemma4_text": gemma4_text,
    "mistral4": mistral4, "mimo_v2_flash": mimo_v2_flash, "hy_v3": hy_v3, "cohere2_moe": cohere2_moe, "axk1": axk1,
    "hyperclovax": hyperclovax, "youtu": youtu, "mellum": mellum, "axk2": axk2,
    "granite_swa": granite_swa, "granitemoe_swa": granitemoe_swa, "jais2": jais2, "laguna": laguna,
    "step3p5": step3p5,
    "kimi_linear": kimi_linear, "longcat_flash": longcat_flash,
    "apertus": apertus, "bitnet": bitnet, "dbrx": dbrx, "minimax": minimax, "olmo_hybrid": olmo_hybrid,
    "step3_text": step3_text, "apriel_hybrid_ssm": apriel_hybrid_ssm,
    "sarvam_moe": sarvam_moe, "sarvam_mla": sarvam_mla, "doge": doge,
    "afmoe": afmoe, "bailing_moe": bailing_moe, "biogpt": biogpt, "cwm": mistral,
    "exaone_moe": exaone_moe, "glm4_moe_lite": glm4_moe_lite, "glm_moe_dsa": glm_moe_dsa, "hunyuan_v1_moe": hunyuan_v1_moe,
    "ministral": mistral, "ministral3": ministral3, "persimmon": persimmon, "solar_open": solar_open,
    "vaultgemma": vaultgemma, "xglm": biogpt, "qwen3_5_text": qwen3_5_text,
    "qwen3_5_moe_text": qwen3_5_moe_text, "mimo": mimo, "openai-gpt": openai_gpt,
    "arcee": arcee, "codegen": gptj, "dots1": dots1, "ernie4_5": ernie4_5,
    "ernie4_5_moe": ernie4_5_moe, "flex_olmo": olmoe, "gpt_neo": gpt_neo, "helium": helium,
    "hunyuan_v1_dense": hunyuan_v1_dense, "internlm3": internlm3, "lfm2": lfm2, "lfm2_moe": lfm2,
    "minicpm": minicpm, "minicpm3": minicpm3, "minimax_m2": minimax_m2, "nemotron": nemotron,
    "olmo": olmo, "phimoe": phimoe, "seed_oss": seed_oss, "smollm3": smollm3,
    "falcon_h1": falcon_h1, "glm": glm, "glm4": glm, "glm4v_text": glm_text, "glm_ocr_text": glm_text, "qwen2_5_vl_text": qwen2, "qwen2_vl_text": qwen2, "qwen3_vl_text": qwen3,
    "zamba2": zamba2, "bamba": bamba, "falcon_mamba": mamba, "granitemoehybrid": granitemoehybrid, "jamba": jamba,
    "mamba": mamba, "mamba2": mamba2, "nemotron_h": nemotron_h, "qwen3_next": qwen3_next,
    "bloom": bloom, "cohere": cohere, "cohere2": cohere, "granite": granite,
    "granitemoe": granitemoe, "granitemoeshared": granitemoe, "llama4": llama4,
    "llama4_text": llama4_text,
    "deepseek_v2": deepseek_v2, "deepseek_v3": deepseek_v3, "deepseek_v32": deepseek_v32, "deepseek_v4": deepseek_v4, "gemma2": gemma2,
    "gemma3_text": gemma3_text, "glm4_moe": glm4_moe, "gpt_oss": gpt_oss,
    "orion": orion, "xverse": llama, "aquila": llama, "lladamoe": lladamoe,
    "code_llama": llama, "gpt-sw3": gpt2, "kimi_k2": deepseek_v3, "qwen2_moe": qwen2_moe,
    "deepseek": deepseek, "exaone4": exaone4, "olmo2": olmo2, "olmo3": olmo2, "olmoe": olmoe,
    "falcon": falcon, "gemma": gemma, "gpt2": gpt2, "gpt_bigcode": gpt_bigcode,
    "gpt_neox": gpt_neox, "gptj": gptj, "llama": llama, "mistral": mistral, "mixtral": mixtral,
    "opt": opt, "phi": phi, "phi3": phi3, "qwen2": qwen2, "qwen3": qwen3,
    "qwen3_moe": qwen3_moe, "stablelm": stablelm, "starcoder2": starcoder2,
}


def count(config):
    return FAMILIES[config["model_type"]](config)
