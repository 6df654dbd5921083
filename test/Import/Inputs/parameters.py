"""Parameters of configurations: as published, and as the closed forms have them.

All models of the library that are configurations, and configurations with sizes drawn by a
fixed seed: each comes to the total, active and vocabulary parameters of closed_forms.py.
"""

import json
import sys
from pathlib import Path

import closed_forms
import compiling

RUNS = 250
ACTIVATIONS = ["silu", "gelu_new", "gelu_pytorch_tanh"]


def draw_sizes(draw):
    K, group, E = draw.choice([1, 2, 3]), draw.choice([1, 2, 4]), draw.choice([8, 16])
    return {"hidden_size": K * group * E, "num_attention_heads": K * group,
            "num_hidden_layers": draw.randint(1, 9), "vocab_size": draw.randint(100, 999),
            "intermediate_size": draw.randint(3, 99), "num_key_value_heads": K}


def draw_llama(draw):
    return draw_sizes(draw) | {"attention_bias": draw.random() < 0.5,
                               "mlp_bias": draw.random() < 0.5,
                               "tie_word_embeddings": draw.random() < 0.5,
                               "head_dim": draw.choice([None, 12, 24])}


def draw_qwen2(draw):
    return draw_sizes(draw) | {"tie_word_embeddings": draw.random() < 0.5}


def draw_qwen3(draw):
    return draw_qwen2(draw) | {"attention_bias": draw.random() < 0.5,
                               "head_dim": draw.choice([None, 12, 24])}


def draw_qwen3_moe(draw):
    layers = draw.randint(1, 12)
    only = sorted(draw.sample(range(layers), draw.randint(0, layers)))
    return draw_qwen3(draw) | {
        "num_hidden_layers": layers, "num_experts": draw.choice([4, 6]),
        "num_experts_per_tok": draw.choice([1, 2, 4]), "moe_intermediate_size": 24,
        "decoder_sparse_step": draw.randint(1, 4), "mlp_only_layers": only}


def draw_mixtral(draw):
    return draw_sizes(draw) | {"num_local_experts": draw.choice([2, 4]),
                               "num_experts_per_tok": draw.choice([1, 2])}


def draw_olmo2(draw):
    return draw_sizes(draw) | {"attention_bias": draw.random() < 0.5,
                               "tie_word_embeddings": draw.random() < 0.5}


def draw_exaone4(draw):
    return draw_sizes(draw) | {"sliding_window": None, "sliding_window_pattern": None,
                               "head_dim": draw.choice([None, 24])}


def draw_olmoe(draw):
    return draw_olmo2(draw) | {"num_experts": draw.choice([4, 8]),
                               "num_experts_per_tok": draw.choice([1, 2, 3])}


def draw_deepseek(draw):
    return draw_sizes(draw) | {
        "n_routed_experts": draw.choice([4, 8]), "num_experts_per_tok": draw.choice([1, 2]),
        "n_shared_experts": draw.choice([None, 1, 2]), "moe_intermediate_size": 20,
        "first_k_dense_replace": draw.randint(0, 3), "moe_layer_freq": draw.randint(1, 3)}


def draw_gemma(draw):
    return draw_sizes(draw) | {"head_dim": draw.choice([None, 24])}


def draw_gpt2(draw):
    sizes = draw_sizes(draw)
    return {"n_embd": sizes["hidden_size"], "n_layer": sizes["num_hidden_layers"],
            "n_head": sizes["num_attention_heads"], "vocab_size": sizes["vocab_size"],
            "n_positions": draw.randint(8, 64), "n_inner": draw.choice([None, 40])}


def draw_gpt_bigcode(draw):
    return draw_gpt2(draw) | {"multi_query": draw.random() < 0.5}


def draw_opt(draw):
    sizes = draw_sizes(draw)
    sizes["ffn_dim"] = sizes.pop("intermediate_size")
    del sizes["num_key_value_heads"]
    return sizes | {"max_position_embeddings": draw.randint(8, 64),
                    "enable_bias": draw.random() < 0.5,
                    "do_layer_norm_before": draw.random() < 0.5,
                    "word_embed_proj_dim": draw.choice([None, 12, sizes["hidden_size"]])}


def draw_gpt_neox(draw):
    sizes = draw_sizes(draw)
    del sizes["num_key_value_heads"]
    return sizes | {"rotary_pct": draw.choice([0.25, 0.5, 1]),
                    "use_parallel_residual": draw.random() < 0.5,
                    "attention_bias": draw.random() < 0.5}


def draw_gptj(draw):
    sizes = draw_gpt2(draw)
    return sizes | {"rotary_dim": draw.choice([2, 4, 8])}


def draw_phi(draw):
    return draw_sizes(draw) | {"partial_rotary_factor": draw.choice([0.4, 0.5]), "qk_layernorm": draw.random() < 0.5}


def draw_phi3(draw):
    return draw_qwen2(draw) | {"sliding_window": draw.choice([None, 7, 2047, 99999]),
                               "partial_rotary_factor": draw.choice([0.75, 1.0])}


def draw_starcoder2(draw):
    return draw_qwen2(draw) | {"sliding_window": draw.choice([None, 16]),
                               "use_bias": draw.random() < 0.5}


def draw_stablelm(draw):
    return draw_qwen2(draw) | {"use_qkv_bias": draw.random() < 0.5, "qk_layernorm": draw.random() < 0.5,
                               "use_parallel_residual": draw.random() < 0.5}


def draw_qwen2_moe(draw):
    moe = draw_qwen3_moe(draw)
    for key in ("head_dim", "attention_bias"):
        del moe[key]
    return moe | {"shared_expert_intermediate_size": 36, "qkv_bias": draw.random() < 0.5}


def draw_gemma2(draw):
    return draw_sizes(draw) | {"head_dim": draw.choice([None, 24]), "sliding_window": 32,
                               "query_pre_attn_scalar": 24}


def draw_gemma3_text(draw):
    return draw_gemma2(draw) | {"sliding_window_pattern": draw.choice([None, 2, 3])}


def draw_gemma4_text(draw):
    sizes, K = draw_sizes(draw), draw.choice([2, 4])
    layers = sizes["num_hidden_layers"] = draw.choice([7, 8, 12])
    shared, has_experts = draw.choice([0, 0, 1, 3, 4]), draw.random() < 0.4
    types = [draw.choice(["full_attention", "sliding_attention"]) for _ in range(layers)]
    types[:2] = ["sliding_attention", "full_attention"]
    if layers > 7 and shared < 3:
        types = draw.choice([None, types])
    sizes |= {
        "num_attention_heads": 8, "num_key_value_heads": K, "head_dim": draw.choice([12, 24]), "global_head_dim": draw.choice([12, 40]), "sliding_window": 16,
        "layer_types": types, "attention_bias": draw.random() < 0.3, "attention_k_eq_v": draw.random() < 0.5,
        "num_global_key_value_heads": draw.choice([None, 1, 2]), "num_kv_shared_layers": shared,
        "hidden_size_per_layer_input": draw.choice([0, 6, 20]), "vocab_size_per_layer_input": draw.choice([64, 100]), "tie_word_embeddings": draw.random() < 0.7,
        "final_logit_softcapping": draw.choice([None, 30.0]), "use_bidirectional_attention": draw.choice([None, "vision"])}
    if has_experts:
        return sizes | {"enable_moe_block": True, "num_experts": draw.choice([4, 8]), "top_k_experts": 2, "moe_intermediate_size": 20}
    return sizes | {"use_double_wide_mlp": draw.random() < 0.5}


def draw_gemma3n_text(draw):
    sizes, K = draw_sizes(draw), draw.choice([2, 4])
    layers = sizes["num_hidden_layers"] = draw.choice([7, 10, 12])
    types = ["sliding_attention", "full_attention"] + [draw.choice(["full_attention", "sliding_attention"]) for _ in range(layers - 2)]
    own = draw.choice([5, 7, layers])
    return sizes | {
        "num_attention_heads": 8, "num_key_value_heads": K, "head_dim": draw.choice([12, 24]), "sliding_window": 16,
        "layer_types": draw.choice([None, types]), "attention_bias": draw.random() < 0.3, "num_kv_shared_layers": layers - own,
        "intermediate_size": draw.choice([40, [draw.choice([24, 40]) for _ in range(layers)]]),
        "hidden_size_per_layer_input": draw.choice([6, 20]), "vocab_size_per_layer_input": draw.choice([64, 100]),
        "tie_word_embeddings": draw.random() < 0.7, "altup_num_inputs": draw.choice([2, 3, 4]), "laurel_rank": draw.choice([4, 10]),
        "activation_sparsity_pattern": draw.choice([None, [draw.choice([0.0, 0.95]) for _ in range(layers)]]),
        "final_logit_softcapping": draw.choice([None, 30.0])}


def draw_olmo3(draw):
    sizes = draw_olmo2(draw)
    kinds = [draw.choice(["full_attention", "sliding_attention"])
             for _ in range(sizes["num_hidden_layers"])]
    return sizes | {"sliding_window": 16, "layer_types": draw.choice([None, kinds])}


def draw_deepseek_v2(draw):
    sizes = draw_deepseek(draw)
    sizes.update(first_k_dense_replace=draw.randint(0, 2), q_lora_rank=draw.choice([None, 12]),
                 n_shared_experts=draw.choice([1, 2]), kv_lora_rank=20, qk_nope_head_dim=12, qk_rope_head_dim=4, v_head_dim=10,
                 n_group=1, topk_group=1, attention_bias=draw.random() < 0.3)
    return sizes


def draw_deepseek_v3(draw):
    sizes = draw_deepseek_v2(draw)
    return sizes | {"n_group": 2, "topk_group": draw.choice([1, 2]), "n_shared_experts": 1,
                    "num_nextn_predict_layers": draw.choice([0, 1]),
                    "q_lora_rank": draw.choice([8, 12])}


def draw_deepseek_v32(draw):
    return draw_deepseek_v3(draw) | {"index_topk": draw.choice([3, 2048]), "index_n_heads": draw.choice([1, 6]),
                                     "index_head_dim": draw.choice([4, 10])}


def draw_deepseek_v4(draw):
    L, H = draw.randint(1, 9), draw.choice([4, 8])
    kinds = ["sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention"]
    layers = draw.choice([{"compress_ratios": [draw.choice([0, 4, 128]) for _ in range(L + 1)]}, {},
                          {"layer_types": [draw.choice(kinds) for _ in range(L)]}])
    tables = draw.choice([{}, {"num_hash_layers": draw.randint(0, L)},
                          {"mlp_layer_types": [draw.choice(["hash_moe", "moe"]) for _ in range(L)]}])
    rates = draw.choice([{}, {"compress_rates": {kinds[1]: 8, kinds[2]: 32}}, {"compress_rate_csa": 2}, {"compress_rate_hca": 64}])
    return layers | tables | rates | {
        "hidden_size": draw.choice([24, 40]), "num_hidden_layers": L, "num_attention_heads": H, "head_dim": draw.choice([16, 24]),
        "qk_rope_head_dim": 8, "q_lora_rank": draw.choice([8, 12]), "o_groups": draw.choice([1, 2, 4]), "o_lora_rank": draw.choice([6, 10]),
        "moe_intermediate_size": draw.choice([12, 20]), "n_routed_experts": draw.choice([4, 6]), "num_experts_per_tok": draw.choice([1, 2]),
        "hc_mult": draw.choice([2, 4]), "index_n_heads": draw.choice([1, 3]), "index_head_dim": draw.choice([8, 12]), "index_topk": 16,
        "vocab_size": draw.randint(100, 999), "sliding_window": 16, "tie_word_embeddings": draw.random() < 0.3}


def draw_kimi_linear(draw):
    sizes = draw_deepseek(draw)
    sizes["num_experts"], sizes["num_experts_per_token"] = sizes.pop("n_routed_experts"), sizes.pop("num_experts_per_tok")
    sizes["num_shared_experts"] = sizes.pop("n_shared_experts") or 0
    layers = range(1, sizes["num_hidden_layers"] + 1)
    linear = [layer for layer in layers if draw.random() < 0.6]
    heads, size, taps = draw.choice([2, 3]), draw.choice([6, 16]), draw.choice([2, 4])
    sizes |= {"kv_lora_rank": 16, "q_lora_rank": draw.choice([None, 12]), "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 10, "mla_use_nope": True}
    if draw.random() < 0.5:
        # As the library's class writes it.
        for other, name in (("num_local_experts", "num_experts"), ("num_experts_per_tok", "num_experts_per_token"), ("n_shared_experts", "num_shared_experts")):
            sizes[other] = sizes.pop(name)
        for key in ("first_k_dense_replace", "moe_layer_freq"):
            sizes.pop(key, None)
        return sizes | {"layer_types": draw.choice([None, ["linear_attention" if layer in linear else "full_attention" for layer in layers]]),
                        "mlp_layer_types": draw.choice([None, [draw.choice(["dense", "sparse"]) for _ in layers]]), "dense_ffn_hidden": draw.choice([None, 20]),
                        "linear_num_heads": heads, "linear_head_dim": size, "linear_conv_kernel_dim": taps}
    return sizes | {"num_experts": draw.choice([None, sizes["num_experts"]]),
                    "linear_attn_config": {"kda_layers": linear, "full_attn_layers": sorted(set(layers) - set(linear)),
                                           "num_heads": heads, "head_dim": size, "short_conv_kernel_size": taps}}


def draw_mistral4(draw):
    sizes = draw_deepseek_v2(draw)
    del sizes["attention_bias"]
    del sizes["moe_layer_freq"]
    return sizes | {"n_group": 2, "topk_group": draw.choice([1, 2]), "n_shared_experts": draw.choice([1, 2]),
                    "q_lora_rank": draw.choice([None, 12])}


def draw_mimo_v2_flash(draw):
    sizes = draw_sizes(draw) | {"num_attention_heads": draw.choice([4, 12]), "num_key_value_heads": draw.choice([1, 2])}
    layers = range(sizes["num_hidden_layers"])
    return sizes | {
        "head_dim": draw.choice([12, 24]), "v_head_dim": draw.choice([8, 12]), "sliding_window": 16, "partial_rotary_factor": 0.334,
        "attention_bias": draw.random() < 0.5, "attention_value_scale": draw.choice([0.7, 1.0]),
        "n_routed_experts": draw.choice([4, 8]), "num_experts_per_tok": 2, "moe_intermediate_size": 20, "n_group": draw.choice([1, 2]),
        "layer_types": draw.choice([None, [draw.choice(["full_attention", "sliding_attention"]) for _ in layers]]),
        "mlp_layer_types": draw.choice([None, [draw.choice(["dense", "sparse"]) for _ in layers]])}


def draw_hy_v3(draw):
    sizes = draw_sizes(draw)
    layers = range(sizes["num_hidden_layers"])
    return sizes | {"head_dim": draw.choice([12, 24]), "attention_bias": draw.random() < 0.5, "mlp_bias": draw.random() < 0.5,
                    "tie_word_embeddings": draw.random() < 0.5, "num_experts": draw.choice([4, 8]), "num_experts_per_tok": 2,
                    "expert_hidden_dim": 20, "num_shared_experts": draw.choice([1, 2]), "num_nextn_predict_layers": draw.choice([0, 1]),
                    "mlp_layer_types": draw.choice([None, [draw.choice(["dense", "sparse"]) for _ in layers]])}


def draw_cohere2_moe(draw):
    sizes = draw_sizes(draw)
    layers = range(sizes["num_hidden_layers"])
    return sizes | {
        "head_dim": draw.choice([12, 24]), "attention_bias": draw.random() < 0.5, "tie_word_embeddings": draw.random() < 0.5,
        "sliding_window": 16, "num_experts": draw.choice([4, 8]), "num_experts_per_tok": 2, "num_shared_experts": draw.choice([0, 1, 2]),
        "shared_expert_combination_strategy": draw.choice(["average", "sum"]), "expert_selection_fn": draw.choice(["softmax", "sigmoid"]),
        "norm_topk_prob": draw.random() < 0.5, "rms_norm_eps": draw.choice([None, 1e-5]),
        "first_k_dense_replace": draw.randint(0, sizes["num_hidden_layers"]), "prefix_dense_sliding_window_pattern": draw.choice([1, 2]),
        "prefix_dense_intermediate_size": draw.choice([None, 60]), "sliding_window_pattern": draw.choice([1, 4]),
        "mlp_layer_types": draw.choice([None, [draw.choice(["dense", "sparse"]) for _ in layers]])}


def draw_axk1(draw):
    sizes = draw_deepseek_v3(draw)
    del sizes["attention_bias"]
    del sizes["moe_layer_freq"]
    return sizes


def draw_granite_swa(draw):
    sizes = draw_granite(draw)
    layers = range(sizes["num_hidden_layers"])
    return sizes | {"mlp_bias": draw.random() < 0.5, "sliding_window": draw.choice([16, None]),
                    "layer_types": draw.choice([None, [draw.choice(["full_attention", "sliding_attention"]) for _ in layers]]),
                    "layer_rope_theta": draw.choice([None, [draw.choice([0, 1e4]) for _ in layers]])}


def draw_granitemoe_swa(draw):
    sizes = draw_granitemoeshared(draw)
    layers = range(sizes["num_hidden_layers"])
    return sizes | {"layer_types": draw.choice([None, [draw.choice(["full_attention", "sliding_attention"]) for _ in layers]]),
                    "layer_rope_theta": draw.choice([None, [draw.choice([0, 1e4]) for _ in layers]])}


def draw_youtu(draw):
    sizes = draw_qwen2(draw)
    del sizes["num_key_value_heads"]
    return sizes | {"q_lora_rank": draw.choice([None, 12]), "kv_lora_rank": 20, "qk_nope_head_dim": 12, "qk_rope_head_dim": 4, "v_head_dim": 10,
                    "attention_bias": draw.random() < 0.5}


def draw_axk2(draw):
    sizes = draw_deepseek_v32(draw)
    del sizes["attention_bias"]
    for key in ("moe_layer_freq", "num_nextn_predict_layers"):
        del sizes[key]
    kinds = [draw.choice(["dense", "sparse"]) for _ in range(sizes["num_hidden_layers"])]
    groups = draw.choice([{}, {"n_group": None, "topk_group": None}])
    return sizes | groups | {"gated_norm_rank": draw.choice([3, 16]), "mlp_layer_types": draw.choice([None, kinds])}


def draw_mellum(draw):
    sizes = draw_qwen2(draw)
    layers = range(sizes["num_hidden_layers"])
    return sizes | {
        "head_dim": draw.choice([12, 24]), "attention_bias": draw.random() < 0.5, "sliding_window": 16, "num_experts": draw.choice([4, 8]),
        "num_experts_per_tok": 2, "moe_intermediate_size": 20,
        "layer_types": draw.choice([None, [draw.choice(["full_attention", "sliding_attention"]) for _ in layers]]),
        "mlp_layer_types": draw.choice([None, [draw.choice(["dense", "sparse"]) for _ in layers]])}


def draw_jais2(draw):
    return draw_llama(draw)


def draw_laguna(draw):
    sizes = draw_sizes(draw)
    K, layers = sizes["num_key_value_heads"], range(sizes["num_hidden_layers"])
    is_biased = draw.random() < 0.5
    return sizes | {
        "head_dim": draw.choice([12, 24]), "attention_bias": is_biased, "sliding_window": 16, "num_experts": draw.choice([4, 8]), "num_experts_per_tok": 2,
        "moe_intermediate_size": 20, "shared_expert_intermediate_size": draw.choice([20, 28]), "tie_word_embeddings": draw.random() < 0.5,
        "gating": draw.choice([True, "per-head"] if is_biased else [True, "per-head", "per-element"]), "moe_routed_scaling_factor": draw.choice([1.0, 2.5]),
        "moe_router_logit_softcapping": draw.choice([0.0, 30.0]),
        "num_attention_heads_per_layer": draw.choice([None, [K * draw.choice([1, 2, 3]) for _ in layers]]),
        "layer_types": draw.choice([None, [draw.choice(["full_attention", "sliding_attention"]) for _ in layers]]),
        "mlp_layer_types": draw.choice([None, [draw.choice(["dense", "sparse"]) for _ in layers]])}


def draw_step3p5(draw):
    sizes = draw_sizes(draw)
    K, count = sizes["num_key_value_heads"], sizes["num_hidden_layers"]
    sizes["num_attention_groups"] = sizes.pop("num_key_value_heads")
    further = draw.choice([0, 2])
    layers = range(count + further)
    heads = {"attention_other_setting": {"num_attention_heads": 3 * K, "num_attention_groups": K}}
    networks = [draw.choice(["dense", "sparse"]) for _ in layers]
    return sizes | draw.choice([{}, heads, {"num_sliding_attention_heads": 3 * K}]) | {
        "head_dim": draw.choice([12, 24]), "attention_bias": draw.random() < 0.5, "mlp_bias": draw.random() < 0.5, "sliding_window": draw.choice([16, None]),
        "moe_num_experts": draw.choice([4, 8]), "moe_top_k": 2, "moe_intermediate_size": 20, "share_expert_dim": draw.choice([20, 28]),
        "num_nextn_predict_layers": further, "moe_router_scaling_factor": draw.choice([1.0, 3.0]),
        "layer_types": draw.choice([None, [draw.choice(["full_attention", "sliding_attention"]) for _ in layers]]),
        "mlp_layer_types": draw.choice([None, networks]), "moe_layers_enum": draw.choice([None, sorted(draw.sample(range(count), count // 2))]),
        "swiglu_limits": draw.choice([None, [draw.choice([0.0, 7.0]) for _ in layers]]),
        "swiglu_limits_shared": draw.choice([None, [draw.choice([0.0, 16.0]) for _ in layers]])}


def draw_longcat_flash(draw):
    sizes = draw_sizes(draw)
    sizes["ffn_hidden_size"], sizes["num_layers"] = sizes.pop("intermediate_size"), sizes.pop("num_hidden_layers")
    experts, nothing, choices = draw.choice([(4, 4, 2), (8, 4, 3), (4, 0, 2), (6, 2, 4), (4, None, 3)])
    return sizes | {"kv_lora_rank": 16, "q_lora_rank": draw.choice([8, 12]), "qk_nope_head_dim": 8, "qk_rope_head_dim": 4,
                    "v_head_dim": 10, "n_routed_experts": experts, "zero_expert_num": nothing, "moe_topk": choices,
                    "expert_ffn_hidden_size": 20, "routed_scaling_factor": draw.choice([1.0, 6.0])}


def draw_glm4_moe(draw):
    sizes = draw_deepseek(draw)
    del sizes["moe_layer_freq"]
    return sizes | {"attention_bias": draw.random() < 0.5, "use_qk_norm": draw.random() < 0.5,
                    "n_shared_experts": 1}


def draw_falcon(draw):
    sizes = draw_sizes(draw)
    few = sizes.pop("num_key_value_heads")
    del sizes["intermediate_size"]
    new = draw.random() < 0.5
    return sizes | {"new_decoder_architecture": new, "multi_query": draw.random() < 0.5,
                    "parallel_attn": new or draw.random() < 0.5,
                    "bias": draw.random() < 0.5, "num_kv_heads": few if new else None,
                    "num_ln_in_parallel_attn": draw.choice([None, 1, 2]),
                    "ffn_hidden_size": draw.choice([None, 40])}


def draw_bloom(draw):
    sizes = draw_sizes(draw)
    return {"n_embed": sizes["hidden_size"], "n_layer": sizes["num_hidden_layers"],
            "num_attention_heads": sizes["num_attention_heads"],
            "vocab_size": sizes["vocab_size"], "n_inner": None}


def draw_cohere(draw):
    return draw_olmo2(draw) | {"use_qk_norm": draw.random() < 0.5,
                               "logit_scale": draw.choice([1.0, 0.25])}


def draw_cohere2(draw):
    return draw_sizes(draw) | {"head_dim": draw.choice([None, 24]), "sliding_window": 16,
                               "sliding_window_pattern": draw.choice([2, 4])}


def draw_granite(draw):
    return draw_olmo2(draw) | {"residual_multiplier": draw.choice([1.0, 0.22]),
                               "embedding_multiplier": 12.0}


def draw_hyperclovax(draw):
    return draw_granite(draw) | {"use_post_norm": draw.random() < 0.5, "head_dim": draw.choice([None, 24]), "attention_multiplier": draw.choice([None, 0.125])}


def draw_granitemoe(draw):
    return draw_granite(draw) | {"num_local_experts": draw.choice([4, 8]),
                                 "num_experts_per_tok": draw.choice([1, 2, 4])}


def draw_granitemoeshared(draw):
    return draw_granitemoe(draw) | {"shared_intermediate_size": draw.choice([0, 36])}


def draw_gpt_oss(draw):
    return draw_sizes(draw) | {"head_dim": draw.choice([8, 24]), "sliding_window": 16,
                               "num_local_experts": draw.choice([4, 8]),
                               draw.choice(["num_experts_per_tok", "experts_per_token"]): 2}


def draw_llama4_text(draw):
    sizes = draw_sizes(draw)
    layers = sizes["num_hidden_layers"]
    chosen = sorted(draw.sample(range(layers), draw.randint(1, layers)))
    return sizes | {"head_dim": draw.choice([8, 24]), "intermediate_size_mlp": 48,
                    "num_local_experts": draw.choice([4, 8]), "attention_chunk_size": 32,
                    "interleave_moe_layer_step": 1 if layers < 3 else draw.choice([1, 2, 3]),
                    "moe_layers": draw.choice([None, chosen]),
                    "use_qk_norm": draw.random() < 0.5,
                    "no_rope_layers": draw.choice([[], None, [draw.randint(0, 1)
                                                              for _ in range(layers)]])}


def draw_mamba(draw):
    D = draw.choice([24, 40])
    return {"hidden_size": D, "num_hidden_layers": draw.randint(1, 5), "vocab_size": 99,
            "expand": draw.choice([1, 2]), "state_size": draw.choice([4, 6]),
            "time_step_rank": draw.choice(["auto", 5]), "use_bias": draw.random() < 0.5,
            "use_conv_bias": draw.random() < 0.5, "conv_kernel": draw.choice([3, 4])}


def draw_falcon_mamba(draw):
    return draw_mamba(draw) | {"intermediate_size": 36, "tie_word_embeddings": False}


def draw_mamba2(draw):
    G, P = draw.choice([1, 2, 4]), draw.choice([4, 6])
    return {"hidden_size": 4 * P, "num_hidden_layers": draw.randint(1, 5), "vocab_size": 99,
            "num_heads": 8, "head_dim": P, "n_groups": G, "state_size": draw.choice([4, 6]),
            "chunk_size": 16, "use_bias": draw.random() < 0.5,
            "use_conv_bias": draw.random() < 0.5, "conv_kernel": draw.choice([3, 4])}


def scan_layers(draw, layers):
    """A list of the kinds of layers, by either name, or none."""
    kinds = [draw.choice(["mamba", "linear_attention", "attention", "full_attention"]) for _ in range(layers)]
    return draw.choice([{}, {}, {"layer_types": kinds}, {"layers_block_type": kinds}])


def draw_jamba(draw):
    attention, expert, layers = draw.randint(1, 4), draw.randint(1, 3), draw.randint(1, 12)
    return draw_sizes(draw) | scan_layers(draw, layers) | {
        "num_hidden_layers": layers, "attn_layer_period": attention,
        "attn_layer_offset": draw.randint(0, attention - 1), "expert_layer_period": expert,
        "expert_layer_offset": draw.randint(0, expert - 1), "num_experts": draw.choice([1, 4]),
        "num_experts_per_tok": 1, "mamba_dt_rank": draw.choice([None, "auto", 3]),
        "mamba_d_state": 6, "mamba_proj_bias": draw.random() < 0.5}


def draw_hybrid(draw):
    sizes = draw_sizes(draw)
    return sizes | {"mamba_n_heads": sizes["hidden_size"] // 4, "mamba_d_head": draw.choice(["auto", 8]),
                    "mamba_n_groups": draw.choice([1, 2]), "mamba_d_state": 6,
                    "mamba_chunk_size": 16, "mamba_conv_bias": draw.random() < 0.5}


def draw_bamba(draw):
    hybrid = draw_hybrid(draw)
    layers = hybrid["num_hidden_layers"]
    chosen = sorted(draw.sample(range(layers), draw.randint(0, layers)))
    return hybrid | scan_layers(draw, layers) | {"attn_layer_indices": draw.choice([None, chosen])}


def draw_granitemoehybrid(draw):
    hybrid = draw_hybrid(draw)
    kinds = [draw.choice(["mamba", "attention"]) for _ in range(hybrid["num_hidden_layers"])]
    return hybrid | {"layer_types": draw.choice([None, kinds]), "attention_bias": True,
                     "num_local_experts": draw.choice([0, 4]), "shared_intermediate_size": 28,
                     "tie_word_embeddings": draw.random() < 0.5}


def draw_nemotron_h(draw):
    pattern = "".join(draw.choice("MM*-E") for _ in range(draw.randint(1, 14)))
    names = {"M": ["mamba", "linear_attention"], "*": ["attention", "full_attention"], "-": ["mlp"], "E": ["moe"]}
    named = {"layers_block_type": [draw.choice(names[letter]) for letter in pattern]}
    sizes = draw_sizes(draw)
    return sizes | draw.choice([{"hybrid_override_pattern": pattern}, named]) | {
        "num_hidden_layers": len(pattern), "head_dim": 8,
        "mamba_num_heads": 8, "mamba_head_dim": 6, "n_groups": draw.choice([1, 2]),
        "ssm_state_size": 4, "chunk_size": 16, "n_routed_experts": 4, "num_experts_per_tok": 2,
        "moe_intermediate_size": 20, "moe_shared_expert_intermediate_size": 28,
        "moe_latent_size": draw.choice([None, 12]),
        "mlp_bias": draw.random() < 0.5, "use_bias": draw.random() < 0.5}


def draw_falcon_h1(draw):
    heads, size = draw.choice([2, 4]), draw.choice([4, 6])
    return draw_sizes(draw) | {
        "head_dim": draw.choice([None, 12]), "mamba_d_ssm": heads * size, "mamba_n_heads": heads,
        "mamba_d_head": draw.choice(["auto", size]), "mamba_n_groups": draw.choice([1, 2]),
        "mamba_d_state": 6, "mamba_chunk_size": 16, "mamba_rms_norm": draw.random() < 0.5,
        "mamba_conv_bias": draw.random() < 0.5, "attention_bias": draw.random() < 0.5,
        "mlp_bias": draw.random() < 0.5, "tie_word_embeddings": draw.random() < 0.5,
        "key_multiplier": 0.5, "ssm_multipliers": [1, 1, 0.5, 1, 1], "mlp_multipliers": [0.5, 1]}


def draw_glm(draw):
    return draw_qwen3(draw) | {"partial_rotary_factor": 0.5}


def draw_glm4(draw):
    return draw_glm(draw)


def draw_glm4v_text(draw):
    return draw_qwen2(draw) | draw.choice([{}, {"head_dim": 12}])


def draw_glm_ocr_text(draw):
    return draw_glm4v_text(draw) | {"num_nextn_predict_layers": draw.choice([0, 1])}


def draw_qwen2_5_vl_text(draw):
    return draw_qwen2(draw)


def draw_qwen2_vl_text(draw):
    return draw_qwen2(draw)


def draw_qwen3_vl_text(draw):
    return draw_qwen3(draw)


def draw_smollm3(draw):
    return draw_qwen2(draw) | {"no_rope_layer_interval": draw.choice([1, 2, 4])}


def draw_seed_oss(draw):
    return draw_qwen3(draw) | {"attention_out_bias": draw.random() < 0.5}


def draw_olmo(draw):
    return draw_qwen2(draw)


def draw_phimoe(draw):
    return draw_mixtral(draw) | {"attention_bias": draw.random() < 0.5,
                                 "lm_head_bias": draw.random() < 0.5}


def draw_llama4(draw):
    D = draw.choice([16, 24])
    vision = {"hidden_size": D, "intermediate_size": 4 * D, "num_attention_heads": 2,
              "num_hidden_layers": draw.randint(1, 4), "image_size": 2 * 7 * draw.randint(1, 3),
              "patch_size": 7, "vision_output_dim": 20, "projector_input_dim": 20,
              "projector_output_dim": 20}
    return {"text_config": draw_llama4_text(draw), "vision_config": vision}


def draw_qwen3_next(draw):
    moe = draw_qwen3_moe(draw)
    kinds = [draw.choice(["full_attention", "linear_attention"])
             for _ in range(moe["num_hidden_layers"])]
    return moe | {"head_dim": draw.choice([8, 24]), "layer_types": draw.choice([None, kinds]),
                  "full_attention_interval": draw.choice([2, 4]), "linear_num_key_heads": 2,
                  "linear_num_value_heads": draw.choice([2, 4]), "linear_key_head_dim": 6,
                  "linear_value_head_dim": 10, "shared_expert_intermediate_size": 36}


def draw_zamba2(draw):
    sizes = draw_sizes(draw)
    kinds = [draw.choice(["mamba", "mamba", "hybrid"])
             for _ in range(sizes["num_hidden_layers"])]
    return sizes | {"layers_block_type": kinds, "num_mem_blocks": draw.choice([1, 2, 3]),
                    "adapter_rank": draw.choice([3, 5]), "n_mamba_heads": 4,
                    "mamba_ngroups": draw.choice([1, 2]), "mamba_d_state": 6,
                    "use_mem_rope": draw.random() < 0.5, "chunk_size": 16}


def draw_gpt_neo(draw):
    sizes = draw_sizes(draw)
    del sizes["num_key_value_heads"]
    layers = sizes["num_hidden_layers"]
    kinds = [draw.choice(["global", "local"]) for _ in range(layers)]
    return sizes | draw.choice([{"attention_types": [[["local"], layers]]}, {"attention_layers": kinds, "attention_types": [[kinds, 1]]}]) | {
        "window_size": 8, "max_position_embeddings": draw.randint(8, 64),
        "intermediate_size": draw.choice([None, 40])}


def draw_minicpm(draw):
    return draw_sizes(draw) | {
        "scale_emb": 12, "scale_depth": 1.4, "dim_model_base": 8, "num_experts": draw.choice([0, 0, 4]),
        "tie_word_embeddings": draw.random() < 0.5}


def draw_minicpm3(draw):
    sizes = draw_sizes(draw)
    return sizes | {"num_key_value_heads": sizes["num_attention_heads"], "kv_lora_rank": 20,
                    "q_lora_rank": draw.choice([None, 12]), "qk_nope_head_dim": 12,
                    "qk_rope_head_dim": 4, "v_head_dim": draw.choice([None, 10])}


def draw_ernie4_5(draw):
    return draw_sizes(draw) | {"head_dim": draw.choice([None, 24]), "use_bias": draw.random() < 0.5,
                               "tie_word_embeddings": draw.random() < 0.5}


def draw_ernie4_5_moe(draw):
    start = draw.randint(0, 2)
    return draw_sizes(draw) | {
        "head_dim": draw.choice([None, 24]), "moe_intermediate_size": 20, "moe_k": draw.choice([1, 2]),
        "moe_num_experts": draw.choice([4, 8]), "moe_num_shared_experts": draw.choice([0, 2]), "num_hidden_layers": draw.randint(start + 3, 9),
        "moe_layer_start_index": start, "moe_layer_end_index": draw.choice([-1, start + 2]),
        "moe_layer_interval": draw.choice([1, 2]), "num_nextn_predict_layers": draw.choice([0, 1])}


def draw_hunyuan_v1_dense(draw):
    return draw_llama(draw)


def draw_dots1(draw):
    sizes = draw_deepseek(draw)
    del sizes["moe_layer_freq"]
    return sizes | {"attention_bias": draw.random() < 0.5, "sliding_window": 16,
                    "max_window_layers": draw.randint(0, 9)}


def draw_orion(draw):
    sizes = draw_llama(draw)
    del sizes["mlp_bias"]
    return sizes


def draw_xverse(draw):
    return draw_qwen2(draw) | {"head_dim": draw.choice([None, 12])}


def draw_aquila(draw):
    return draw_xverse(draw)


def draw_lladamoe(draw):
    sizes = draw_olmoe(draw)
    del sizes["intermediate_size"]
    freq = draw.choice([None, [draw.choice([0, 1]) for _ in range(sizes["num_hidden_layers"])]])
    return sizes | {"dense_intermediate_size": 48, "expert_intermediate_size": 20, "moe_layer_freq": freq, "qk_layernorm": draw.random() < 0.5}


def draw_arcee(draw):
    return draw_llama(draw)


def draw_nemotron(draw):
    return draw_llama(draw) | {"partial_rotary_factor": 0.5}


def draw_minimax_m2(draw):
    return draw_mixtral(draw) | {"head_dim": draw.choice([8, 24]), "rotary_dim": draw.choice([4, None]),
                                 "use_qk_norm": draw.random() < 0.5}


def draw_codegen(draw):
    return draw_gptj(draw)


def draw_flex_olmo(draw):
    return draw_olmoe(draw)


def draw_helium(draw):
    return draw_qwen3(draw) | {"head_dim": draw.choice([12, 24])}


def draw_internlm3(draw):
    return draw_qwen2(draw) | {"qkv_bias": draw.random() < 0.5, "bias": draw.random() < 0.5,
                               "head_dim": draw.choice([None, 24])}


def draw_lfm2(draw):
    sizes = draw_sizes(draw)
    layers = sizes["num_hidden_layers"]
    chosen = sorted(draw.sample(range(layers), draw.randint(0, layers)))
    kinds = [draw.choice(["conv", "full_attention"]) for _ in range(layers)]
    return sizes | draw.choice([{"full_attn_idxs": chosen}, {"layer_types": kinds}]) | {
        "conv_bias": draw.random() < 0.5, "conv_L_cache": draw.choice([3, 4]),
        "block_auto_adjust_ff_dim": draw.random() < 0.5, "block_multiple_of": draw.choice([4, 16]),
        "tie_word_embeddings": draw.random() < 0.5}


def draw_lfm2_moe(draw):
    sizes = draw_lfm2(draw)
    for key in ("block_auto_adjust_ff_dim", "block_multiple_of"):
        del sizes[key]
    return sizes | {"num_dense_layers": draw.randint(0, 3), "num_experts": draw.choice([4, 8]),
                    "num_experts_per_tok": 2, "moe_intermediate_size": 20,
                    "use_expert_bias": draw.random() < 0.5}


def draw_cwm(draw):
    layers = draw.randint(1, 9)
    kinds = [draw.choice(["full_attention", "sliding_attention"]) for _ in range(layers)]
    return draw_qwen2(draw) | {"num_hidden_layers": layers, "head_dim": draw.choice([12, 24]), "sliding_window": draw.choice([None, 7]),
                               "layer_types": draw.choice([None, kinds])}


def draw_ministral(draw):
    return draw_cwm(draw)


def draw_ministral3(draw):
    return draw_qwen2(draw) | {"head_dim": draw.choice([12, 24])}


def draw_vaultgemma(draw):
    return draw_gemma(draw) | {"sliding_window": draw.choice([None, 7]), "attn_logit_softcapping": None}


def draw_biogpt(draw):
    sizes = draw_qwen2(draw)
    del sizes["num_key_value_heads"]
    return sizes | {"max_position_embeddings": draw.randint(8, 64), "scale_embedding": draw.random() < 0.5}


def draw_xglm(draw):
    sizes = draw_biogpt(draw)
    names = {"hidden_size": "d_model", "num_hidden_layers": "num_layers", "num_attention_heads": "attention_heads",
             "intermediate_size": "ffn_dim"}
    return {names.get(key, key): value for key, value in sizes.items()}


def draw_persimmon(draw):
    sizes = draw_qwen2(draw)
    del sizes["num_key_value_heads"]
    return sizes | {"qk_layernorm": draw.random() < 0.5}


def draw_routed(draw):
    """Experts, and layers without them, which may be listed."""
    sizes = draw_qwen2(draw)
    kinds = [draw.choice(["dense", "sparse"]) for _ in range(sizes["num_hidden_layers"])]
    return sizes | {"num_experts": draw.choice([4, 8]), "num_experts_per_tok": draw.choice([1, 2]),
                    "moe_intermediate_size": 20, "num_shared_experts": draw.choice([0, 1, 2]),
                    "first_k_dense_replace": draw.randint(0, 3), "mlp_layer_types": draw.choice([None, kinds])}


def draw_afmoe(draw):
    sizes = draw_routed(draw)
    del sizes["mlp_layer_types"]
    return sizes | {"num_dense_layers": sizes.pop("first_k_dense_replace"), "head_dim": draw.choice([8, 24]),
                    "mup_enabled": draw.random() < 0.5, "sliding_window": 7}


def draw_bailing_moe(draw):
    sizes = draw_routed(draw)
    del sizes["mlp_layer_types"]
    common = {"use_bias": draw.random() < 0.5, "use_qkv_bias": draw.random() < 0.5, "use_qk_norm": draw.random() < 0.5,
              "head_dim": draw.choice([8, 24])}
    return sizes | common | draw.choice([
        {"architectures": ["BailingMoeForCausalLM"], "norm_topk_prob": draw.random() < 0.5},
        {"architectures": ["BailingMoeV2ForCausalLM"], "n_group": 2, "topk_group": draw.choice([1, 2]),
         "partial_rotary_factor": 0.5}])


def draw_sarvam_moe(draw):
    sizes = draw_routed(draw)
    del sizes["mlp_layer_types"]
    flags = {"use_bias": draw.random() < 0.5, "use_qkv_bias": draw.random() < 0.5, "use_qk_norm": draw.random() < 0.5}
    return sizes | {"head_dim": draw.choice([8, 24]), "n_group": 2, "topk_group": draw.choice([1, 2])} | draw.choice([
        {"architectures": ["SarvamMoEForCausalLM"]} | flags,
        {"architectures": ["SarvamMoeForCausalLM"], "attention_bias": draw.random() < 0.5, "norm_topk_prob": draw.random() < 0.5}])


def draw_sarvam_mla(draw):
    sizes = draw_deepseek_v2(draw)
    del sizes["attention_bias"]
    del sizes["moe_layer_freq"]
    return sizes | {"n_group": 2, "topk_group": draw.choice([1, 2]), "num_experts": sizes.pop("n_routed_experts"), "num_shared_experts": sizes.pop("n_shared_experts")}


def draw_step3_text(draw):
    sizes = draw_qwen2(draw)
    del sizes["num_key_value_heads"]
    layers = sizes["num_hidden_layers"]
    return sizes | {"head_dim": draw.choice([8, 24]), "share_q_dim": draw.choice([12, 20]), "moe_num_experts": draw.choice([4, 8]), "moe_top_k": draw.choice([1, 2]),
                    "moe_intermediate_size": 20, "share_expert_dim": draw.choice([8, 20]), "norm_expert_weight": draw.random() < 0.5,
                    "moe_layers_enum": sorted(draw.sample(range(layers), draw.randint(1, layers)))}


def draw_apriel_hybrid_ssm(draw):
    sizes = draw_qwen2(draw)
    states, groups, kinds = draw.choice([4, 8]), draw.choice([1, 2]), [draw.choice(["t", "m2"]) for _ in range(sizes["num_hidden_layers"])]
    return sizes | {"sliding_window": draw.choice([None, 7]), "hybrid_block_layout": kinds, "ssm_cfg": {
        "d_state": states, "d_xb": groups * states, "d_inner": draw.choice([1, 3]) * groups * states, "dt_rank": draw.choice(["auto", 5]), "bias": draw.random() < 0.5,
        "conv_bias": draw.random() < 0.5, "d_conv": draw.choice([2, 4]), "repeat_kv_before_conv": draw.random() < 0.5}}


def draw_doge(draw):
    return draw_llama(draw) | {"attention_bias": draw.random() < 0.5}


def draw_exaone_moe(draw):
    return draw_routed(draw) | {"head_dim": draw.choice([None, 24]), "sliding_window": draw.choice([None, 7])}


def draw_glm4_moe_lite(draw):
    sizes = draw_routed(draw)
    return sizes | {"n_routed_experts": sizes.pop("num_experts"), "n_shared_experts": sizes.pop("num_shared_experts"),
                    "q_lora_rank": draw.choice([8, 12]), "kv_lora_rank": 20, "qk_nope_head_dim": 12,
                    "qk_rope_head_dim": 4, "v_head_dim": 10, "num_nextn_predict_layers": draw.choice([0, 1])}


def draw_glm_moe_dsa(draw):
    sizes = draw_glm4_moe_lite(draw)
    rest = range(1, sizes["num_hidden_layers"])
    shared = draw.choice([{}, {"indexer_types": ["full", *(draw.choice(["full", "shared"]) for _ in rest)]},
                          {"index_topk_pattern": "F" + "".join(draw.choice("FS") for _ in rest)},
                          {"index_topk_freq": draw.choice([2, 3]), "index_skip_topk_offset": draw.choice([1, 2, 4])}])
    return sizes | shared | {"index_topk": draw.choice([3, 2048]), "index_n_heads": draw.choice([1, 6]),
                             "index_head_dim": draw.choice([4, 10])}


def draw_hy_v4(draw):
    L = draw.randint(1, 9)
    return {"hidden_size": draw.choice([24, 40]), "num_hidden_layers": L, "num_attention_heads": draw.choice([2, 4]), "intermediate_size": draw.randint(3, 99),
            "moe_intermediate_size": draw.choice([12, 20]), "n_routed_experts": draw.choice([4, 6]), "num_experts_per_tok": draw.choice([1, 2]),
            "n_shared_experts": draw.choice([0, 1, 2]), "q_lora_rank": draw.choice([8, 12]), "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4,
            "v_head_dim": 10, "index_topk": draw.choice([3, 2048]), "index_n_heads": draw.choice([1, 6]), "index_head_dim": draw.choice([4, 10]),
            "hc_mult": draw.choice([2, 4]), "vocab_size": draw.randint(100, 999), "swiglu_limit": draw.choice([0.0, 7.0]),
            "indexer_types": draw.choice([None, ["full", *(draw.choice(["full", "shared"]) for _ in range(L - 1))]]),
            "mlp_layer_types": draw.choice([None, [draw.choice(["dense", "sparse"]) for _ in range(L)]]), "tie_word_embeddings": draw.random() < 0.5}


def draw_glm5_next_text(draw):
    sizes = draw_hy_v4(draw)
    for key in ("indexer_types", "qk_rope_head_dim"):
        del sizes[key]
    L = sizes["num_hidden_layers"]
    linear = draw.choice([{"linear_head_dim": 6, "linear_num_heads": 3}, {"linear_attn_config": {"head_dim": 6, "num_heads": 2, "short_conv_kernel_size": 3}}])
    return sizes | linear | {"num_key_value_heads": sizes["num_attention_heads"], "index_topk": draw.choice([4, 2048]), "index_kpool": draw.choice([2, 4]),
                             "layer_types": draw.choice([None, [draw.choice(["linear_attention", "deepseek_sparse_attention"]) for _ in range(L)]])}


def draw_minimax_m3_vl_text(draw):
    sizes = draw_sizes(draw)
    layers = range(sizes["num_hidden_layers"])
    freq = [draw.choice([0, 1]) for _ in layers]
    keys = draw.choice([{}, {"layer_types": [draw.choice(["full_attention", "minimax_m3_sparse"]) for _ in layers], "index_n_heads": 3, "index_head_dim": 10},
                        {"sparse_attention_config": {"sparse_attention_freq": freq, "sparse_disable_index_value": freq, "sparse_index_dim": 8, "sparse_topk_blocks": 2}}])
    kinds = draw.choice([{}, {"mlp_layer_types": [draw.choice(["dense", "sparse"]) for _ in layers]}, {"moe_layer_freq": [draw.choice([0, 1]) for _ in layers]}])
    return sizes | keys | kinds | {"head_dim": draw.choice([8, 12]), "rotary_dim": draw.choice([4, 8]), "num_local_experts": draw.choice([4, 6]),
                                   "num_experts_per_tok": draw.choice([1, 2]), "dense_intermediate_size": 30, "shared_intermediate_size": 14,
                                   "routed_scaling_factor": draw.choice([1.0, 2.0]), "tie_word_embeddings": draw.random() < 0.5}


def draw_gemma4_unified_text(draw):
    L = draw.choice([7, 8])
    return {"hidden_size": 8 * draw.choice([2, 3]), "num_hidden_layers": L, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 12,
            "global_head_dim": draw.choice([12, 20]), "num_global_key_value_heads": draw.choice([None, 1]), "intermediate_size": draw.randint(3, 99),
            "vocab_size": draw.randint(100, 999), "max_position_embeddings": 64, "sliding_window": 16, "attention_k_eq_v": draw.random() < 0.5,
            "num_kv_shared_layers": draw.choice([0, 1]), "layer_types": draw.choice([None, [draw.choice(["sliding_attention", "full_attention"]) for _ in range(2)]
                                                                                     + ["sliding_attention", "full_attention"] * (L // 2 - 1) + ["full_attention"] * (L % 2)])}


def draw_solar_open(draw):
    sizes = draw_qwen2(draw)
    return sizes | {"n_routed_experts": draw.choice([4, 8]), "num_experts_per_tok": 2, "moe_intermediate_size": 20,
                    "n_shared_experts": draw.choice([0, 1]), "attention_bias": draw.random() < 0.5,
                    "head_dim": draw.choice([8, 24])}


def draw_hunyuan_v1_moe(draw):
    sizes = draw_qwen2(draw)
    layers, top = sizes["num_hidden_layers"], draw.choice([1, 2])
    return sizes | {"num_experts": draw.choice([4, [4] * layers]), "moe_topk": draw.choice([top, [top] * layers]),
                    "head_dim": draw.choice([None, 24]), "attention_bias": draw.random() < 0.5}


def draw_qwen3_5_moe_text(draw):
    sizes = draw_qwen3_next(draw)
    for key in ("decoder_sparse_step", "mlp_only_layers"):
        del sizes[key]
    return sizes | {"mtp_num_hidden_layers": draw.choice([0, 1])}


def draw_qwen3_5_text(draw):
    sizes = draw_qwen3_5_moe_text(draw)
    for key in ("num_experts", "num_experts_per_tok", "moe_intermediate_size", "shared_expert_intermediate_size"):
        del sizes[key]
    return sizes


def draw_mimo(draw):
    return draw_qwen2(draw) | {"head_dim": draw.choice([None, 24]), "num_nextn_predict_layers": draw.choice([0, 1])}


def draw_openai_gpt(draw):
    sizes = draw_gpt2(draw)
    del sizes["n_inner"]
    return sizes | {"afn": draw.choice(["gelu", "relu"])}


def draw_apertus(draw):
    sizes = draw_llama(draw)
    del sizes["mlp_bias"]
    return sizes | {"hidden_act": draw.choice(["xielu", "xielu", "relu2"])}


def draw_bitnet(draw):
    sizes = draw_llama(draw)
    del sizes["mlp_bias"]
    return sizes


def draw_dbrx(draw):
    sizes = draw_gpt2(draw)
    heads = draw.choice([1, sizes["n_head"]])
    return {"d_model": sizes["n_embd"], "n_heads": sizes["n_head"], "n_layers": sizes["n_layer"],
            "vocab_size": sizes["vocab_size"],
            "attn_config": {"clip_qkv": draw.choice([None, 8]), "kv_n_heads": heads},
            "ffn_config": {"ffn_hidden_size": 24, "moe_num_experts": draw.choice([2, 4]), "moe_top_k": draw.choice([1, 2]),
                           "moe_normalize_expert_weights": draw.choice([None, 1])}}


def draw_minimax(draw):
    sizes = draw_mixtral(draw)
    layers = sizes["num_hidden_layers"]
    kinds = [draw.randint(0, 1) for _ in range(layers)]
    names = [draw.choice(["full_attention", "linear_attention"]) for _ in range(layers)]
    return sizes | draw.choice([{}, {"attn_type_list": kinds}, {"layer_types": names}]) | {
        "head_dim": draw.choice([8, 24]), "rotary_dim": draw.choice([None, 4, 8]), "mlp_alpha_factor": draw.choice([1, 3.5]),
        "linear_attn_beta_factor": draw.choice([1, 0.5])}


def draw_olmo_hybrid(draw):
    sizes = draw_olmo2(draw)
    kinds = [draw.choice(["full_attention", "linear_attention"]) for _ in range(sizes["num_hidden_layers"])]
    has_both = len(set(kinds)) == 2
    if sizes["num_hidden_layers"] == 1:
        sizes["num_hidden_layers"] = 2
    return sizes | {"layer_types": kinds if has_both else None, "linear_num_key_heads": draw.choice([None, 2]),
                    "linear_num_value_heads": 24,
                    "linear_key_head_dim": draw.choice([None, 6]), "linear_value_head_dim": draw.choice([None, 10]),
                    "rope_theta": draw.choice([None, 10000.0])}


def draw_chameleon(draw):
    return draw_llama(draw) | {"head_dim": None, "swin_norm": draw.random() < 0.5}


def draw_gpt_neox_japanese(draw):
    sizes = draw_sizes(draw)
    for key in ("num_key_value_heads", "intermediate_size"):
        del sizes[key]
    return sizes | {"intermediate_multiple_size": draw.choice([1, 4]), "rotary_pct": draw.choice([0.25, 1]),
                    "tie_word_embeddings": draw.random() < 0.5}


def draw_ctrl(draw):
    sizes = draw_gpt2(draw)
    del sizes["n_inner"]
    return sizes | {"dff": draw.randint(3, 99), "tie_word_embeddings": draw.random() < 0.5}


def draw_nanochat(draw):
    sizes = draw_llama(draw)
    del sizes["mlp_bias"]
    return sizes | {"final_logit_softcapping": draw.choice([15.0, 30.0])}


def draw_grok_1(draw):
    return draw_sizes(draw) | {"num_experts": draw.choice([2, 4]), "num_experts_per_tok": draw.choice([1, 2]),
                               "tie_word_embeddings": draw.random() < 0.5}


def draw_arctic(draw):
    return draw_qwen2(draw) | {"num_local_experts": draw.choice([2, 4]), "num_experts_per_tok": draw.choice([1, 2]), "sliding_window": draw.choice([None, 16]),
                               "moe_layer_frequency": draw.randint(1, 3), "parallel_attn_mlp_res": draw.random() < 0.5}


def draw_diffllama(draw):
    sizes = draw_llama(draw)
    del sizes["mlp_bias"]
    return sizes | {key: 2 * sizes[key] for key in ("hidden_size", "num_attention_heads", "num_key_value_heads")}


def draw_openelm(draw):
    E, group = draw.choice([4, 8]), draw.choice([1, 2, 4])
    layers = draw.randint(1, 9)

    def spread(low, high):
        return draw.choice([draw.choice([low, high]), [low, high]])
    return {
        "model_dim": E * group * draw.randint(2, 9), "num_transformer_layers": layers, "head_dim": E, "num_gqa_groups": group,
        "vocab_size": draw.randint(100, 999), "max_context_length": 64, "qkv_multipliers": spread(0.5, draw.choice([1.0, 1.3])),
        "ffn_multipliers": draw.choice([spread(0.5, 4.0), [draw.choice([0.37, 2, 3.15]) for _ in range(layers)]]) if layers != 2 else spread(0.5, 4.0),
        "ffn_dim_divisor": draw.choice([1, 7, 16, 256]), "ffn_with_glu": draw.random() < 0.7,
        "normalize_qk_projections": draw.random() < 0.5, "share_input_output_layers": draw.random() < 0.5}


def draw_nemotron_nas(draw):
    sizes = draw_llama(draw)
    H = sizes["num_attention_heads"]
    del sizes["intermediate_size"], sizes["num_key_value_heads"]

    def part(name, values):
        kind = draw.choice(["own", "own", "own", "no_op", "replace_with_linear"])
        return {name: draw.choice(values)} | ({kind: True} if kind != "own" else draw.choice([{}, {"no_op": False}]))
    groups = [group for group in range(1, H + 1) if H % group == 0]
    return sizes | {"intermediate_size": None, "num_key_value_heads": None, "block_configs": [
        {"attention": part("n_heads_in_group", groups), "ffn": part("ffn_mult", [0.2, 0.5, 1.3125, 5.25, 30])}
        for _ in range(sizes["num_hidden_layers"])]}


def draw_rwkv(draw):
    size = draw.choice([16, 24, 40])
    return {"hidden_size": size, "num_hidden_layers": draw.randint(1, 6), "vocab_size": draw.randint(100, 999), "context_length": 32,
            "attention_hidden_size": draw.choice([None, 12]), "intermediate_size": draw.choice([None, 30]),
            "tie_word_embeddings": draw.random() < 0.5}


def draw_rwkv7(draw):
    size = draw.choice([8, 16])
    return {"hidden_size": size * draw.randint(1, 4), "head_dim": size, "num_hidden_layers": draw.randint(1, 6), "vocab_size": draw.randint(100, 999),
            "max_position_embeddings": 32, "decay_low_rank_dim": draw.randint(1, 9), "a_low_rank_dim": draw.randint(1, 9), "v_low_rank_dim": draw.randint(1, 9),
            "gate_low_rank_dim": draw.randint(1, 9), "intermediate_size": draw.choice([None, 30]), "norm_bias": draw.random() < 0.5,
            "tie_word_embeddings": draw.random() < 0.5}


def draw_xlstm(draw):
    H = draw.choice([1, 2, 4])
    return {"hidden_size": 16 * H, "num_heads": H, "num_hidden_layers": draw.randint(1, 6), "vocab_size": draw.randint(100, 999), "max_position_embeddings": 32,
            "qk_dim_factor": draw.choice([0.5, 1.0]), "v_dim_factor": draw.choice([1.0, 2.0]), "ffn_proj_factor": draw.choice([2.667, 1.3]),
            "ffn_round_up_to_multiple_of": draw.choice([8, 64]), "chunk_size": 16, "tie_word_embeddings": draw.random() < 0.5,
            "weight_mode": draw.choice(["single", "fused"])}


def draw_zamba(draw):
    sizes = draw_sizes(draw)
    kinds = [draw.choice(["mamba", "mamba", "hybrid"]) for _ in range(sizes["num_hidden_layers"])]
    places = draw.choice([{"layers_block_type": kinds}, {"attn_layer_period": 3, "attn_layer_offset": draw.randint(0, 2)}])
    return sizes | places | {"n_mamba_heads": draw.choice([1, 2, 4]), "mamba_d_state": 6, "mamba_dt_rank": draw.choice(["auto", 5]),
                             "mamba_conv_bias": draw.random() < 0.5, "mamba_proj_bias": draw.random() < 0.5,
                             "tie_word_embeddings": draw.random() < 0.5}


def draw_recurrent_gemma(draw):
    sizes = draw_sizes(draw)
    return sizes | {"intermediate_size": 2 * sizes["intermediate_size"], "lru_width": draw.choice([None, sizes["num_attention_heads"] * 6]),
                    "block_types": draw.choice([None, ["attention"], ["recurrent"], ["attention", "recurrent"]]), "attention_bias": draw.random() < 0.5,
                    "conv1d_width": draw.choice([2, 4]), "tie_word_embeddings": draw.random() < 0.5, "partial_rotary_factor": draw.choice([0.5, 1.0]),
                    "attention_window_size": 16}


def draw_jetmoe(draw):
    sizes = draw_sizes(draw)
    sizes["kv_channels"] = draw.choice([8, 12])
    A = draw.choice([1, 2, 3])
    heads = {"num_attention_heads": draw.choice([None, A * sizes["num_key_value_heads"]])}
    return sizes | heads | {"num_local_experts": draw.choice([4, 8]), "num_experts_per_tok": A, "tie_word_embeddings": draw.random() < 0.5,
                            "output_router_logits": draw.random() < 0.5}


def draw_aria_text(draw):
    sizes = draw_sizes(draw)
    return sizes | {"moe_num_experts": draw.choice([4, 8]), "moe_topk": draw.choice([1, 2, 3]), "moe_num_shared_experts": draw.choice([0, 1, 2]),
                    "attention_bias": draw.random() < 0.5, "tie_word_embeddings": draw.random() < 0.5, "head_dim": draw.choice([None, 12])}


DRAWS = {name[5:].replace("openai_gpt", "openai-gpt").replace("grok_1", "grok-1").replace("nemotron_nas", "nemotron-nas"): draw for name, draw in list(globals().items())
         if name.startswith("draw_") and name not in ("draw_sizes", "draw_hybrid", "draw_routed")}


def check_sizes(families, listed):
    """Parameters of models in tables are those that --list-models has."""
    number, wrong = 0, []
    for name, family, config in compiling.read_sizes(families):
        if config.get("model_type") not in closed_forms.FAMILIES:
            continue  # towers.py has these.
        number += 1
        expected, entry = closed_forms.count(config)[0], listed.get(name)
        if entry != {"name": name, "family": family, "parameters": expected}:
            wrong.append(f"{name}: {expected} expected, {entry}")
    return number, wrong


def check_library(folder, published):
    """Each compiles with a batch alone; --list-models has its name, family and parameters."""
    listed = compiling.list_models()
    wrong = [f"{name}: {count} expected, {listed.get(name)}" for name, count in published.items()
             if name not in listed or listed[name]["parameters"] != count]
    number, sizes = check_sizes(Path(folder).parent / "families", listed)
    wrong += sizes
    for path in sorted(Path(folder).glob("*.json")):
        config = json.loads(path.read_text())
        if config.get("model_type") not in closed_forms.FAMILIES:
            continue  # towers.py has these.
        number += 1
        entry = listed[path.stem]
        expected, found = closed_forms.count(config), compiling.numbers(path)
        if (found != expected or entry["parameters"] != expected[0]
                or entry["family"] != config["model_type"].replace("-", "_")):
            wrong.append(f"{path.stem}: {expected} expected, {found}, {entry}")
    return number, wrong


def main(configs, published, folder):
    number, wrong = check_library(configs, json.loads(Path(published).read_text()))
    # Windows are then off.
    nulls = ("sliding_window", "q_lora_rank", "zero_expert_num")
    wrong += compiling.check_drawn(folder, RUNS, DRAWS, nulls, closed_forms.count, compiling.numbers)
    compiling.report(number, RUNS, wrong)


main(*sys.argv[1:])
