#!/usr/bin/env python3
"""Every family of configurations under every mechanism of parallelism, on 1 to 8 ranks.

Each family has a small configuration here, and so have the models of models/ that are no
configurations. Compiled under a strategy it is either refused, with one line that says why, or
compiles, passes `stg-trace validate`, and executes in all ranks together as many operations in
matrix products, forward and backward, as the ranks that divide heads alone: data, context (but
for all-to-alls) and expert parallelism, pipelines with any schedule, ZeRO and recomputation
repeat nothing. What tensor parallelism and all-to-alls of context parallelism repeat (routers,
latents, what all heads of a scan share), and context parallelism of any kind of what is made of a
whole sample (encoders, towers of images, pooled rows, vectors of a time step), is in both numbers; with
neither, it is one rank's. Where samples are compared with each other, as in CLIP, those of a rank
and micro-batch are; what is made of parameters alone is made for each of them.

Usage: families.py [--subset N] [--jobs J]       one of every N combinations
       families.py --sample N [--seed S]         any N, as many of each family
       families.py --table [FAMILY...]           the table in docs/Families.md
       families.py --write PAGE                  the same, into the page
       families.py --check PAGE [--subset N]     is it still what it was?
"""

import argparse
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from threading import Lock

TOOLS = os.environ.get("STG_TOOLS", "")
BEGIN, END = "<!-- strategies -->\n", "\n<!-- end of strategies -->\n"


def decoder(layers=8, **more):
    """What most decoders have: eight heads, of which four are of keys and values."""
    return {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": layers, "num_attention_heads": 8,
            "num_key_value_heads": 4, "vocab_size": 128, "max_position_embeddings": 32} | more


def few(layers=8, **more):
    """GPT-2 and those that name things as it does."""
    return {"n_embd": 64, "n_layer": layers, "n_head": 8, "n_positions": 32, "vocab_size": 128} | more


def alike(layers=8, **more):
    """Decoders with as many heads of keys and values as of queries."""
    config = decoder(layers, **more)
    del config["num_key_value_heads"]
    return config


WINDOW = {"sliding_window": 8}
SIZE = {"head_dim": 8}
NARROW_TABLES = {"hidden_size_per_layer_input": 8, "vocab_size_per_layer_input": 128}
EXPERTS = {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
ROUTED = {"n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "n_shared_experts": 1,
          "first_k_dense_replace": 2}
ROUTED_ALONE = {key: ROUTED[key] for key in ("n_routed_experts", "num_experts_per_tok", "moe_intermediate_size")}
LATENT_SIZES = {"kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8}
LATENT = ROUTED | LATENT_SIZES | {"num_key_value_heads": 8, "q_lora_rank": 24}
SCAN = {"mamba_n_heads": 16, "mamba_d_head": 8, "mamba_n_groups": 1, "mamba_d_state": 8, "mamba_chunk_size": 8}
DELTA = {"linear_num_key_heads": 8, "linear_num_value_heads": 16, "linear_key_head_dim": 8, "linear_value_head_dim": 8}
VISION = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 8, "num_hidden_layers": 8}
QWEN_TOWER = {"depth": 8, "hidden_size": 32, "intermediate_size": 48, "num_heads": 8, "out_hidden_size": 64, "patch_size": 64,
              "num_position_embeddings": 64}
STACKED_TOWER = QWEN_TOWER | {"deepstack_visual_indexes": [1, 3, 6]}
ENCODER = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 8, "num_attention_heads": 8}
MIXED = ["mamba", "attention"] * 4

SOUND = ENCODER | {"conv_dim": [8] * 7, "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 4}
WINDOWS = {"image_size": 64, "patch_size": 2, "embed_dim": 16, "num_heads": [8, 8, 8, 8], "depths": [2, 2, 2, 2], "window_size": 4}
SEQUENCES = {"d_model": 64, "encoder_layers": 4, "decoder_layers": 4, "encoder_attention_heads": 8, "decoder_attention_heads": 8,
             "encoder_ffn_dim": 96, "decoder_ffn_dim": 96, "vocab_size": 128, "max_position_embeddings": 32}

CONFIGS = {
    "aimv2_vision_model": ENCODER | {"image_size": 32, "patch_size": 8, "qkv_bias": True, "use_head": False},
    "afmoe": decoder(**SIZE, **WINDOW, **EXPERTS, num_dense_layers=2, num_shared_experts=1, mup_enabled=True),
    "albert": ENCODER | {"architectures": ["AlbertForPreTraining"], "vocab_size": 128, "embedding_size": 32, "max_position_embeddings": 32},
    "AllegroTransformer3DModel": {"num_attention_heads": 8, "attention_head_dim": 12, "cross_attention_dim": 96, "num_layers": 8, "sample_height": 8, "sample_width": 8, "sample_frames": 4, "caption_channels": 32},
    "altclip": {"projection_dim": 32, "text_config": ENCODER | {"vocab_size": 128, "max_position_embeddings": 34, "project_dim": 24},
             "vision_config": ENCODER | {"image_size": 32, "patch_size": 8}},
    "apertus": decoder(),
    "arcee": decoder(),
    "aria": {"text_config": decoder(moe_num_experts=8, moe_topk=2, max_position_embeddings=512), "vision_config": VISION | {"image_size": 140, "patch_size": 2}},
    "aria_text": decoder(moe_num_experts=8, moe_topk=2),
    "arctic": decoder(num_experts=8, num_experts_per_tok=2, parallel_attn_mlp_res=True),
    "audio-spectrogram-transformer": ENCODER | {"architectures": ["ASTForAudioClassification"], "patch_size": 8, "max_length": 32,
                                                "num_mel_bins": 16, "frequency_stride": 8, "time_stride": 4},
    "audioflamingo3": {"text_config": decoder(), "audio_config": {
        "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 8, "num_attention_heads": 8, "num_mel_bins": 16, "max_source_positions": 32}},
    "axk1": decoder(**LATENT, n_group=2, topk_group=1),
    "axk2": decoder(**LATENT, index_topk=8, index_n_heads=8, index_head_dim=8, n_group=2, topk_group=1, gated_norm_rank=4),
    "aya_vision": {"alignment_intermediate_size": 96, "text_config": decoder(sliding_window=8),
                   "vision_config": VISION | {"image_size": 32, "patch_size": 8, "vision_use_head": False}},
    "baichuan": alike(max_position_embeddings=None, model_max_length=32),
    "bailing_moe": decoder(architectures=["BailingMoeV2ForCausalLM"], **SIZE, **EXPERTS, n_group=2, topk_group=1,
                           partial_rotary_factor=0.5),
    "bamba": decoder(attn_layer_indices=[1, 3, 5, 7], **SCAN),
    "bart": SEQUENCES,
    "beit": ENCODER | {"architectures": ["BeitForImageClassification"], "image_size": 32, "patch_size": 8, "use_relative_position_bias": True},
    "bert": ENCODER | {"architectures": ["BertForPreTraining"], "vocab_size": 128, "max_position_embeddings": 32},
    "bert-generation": ENCODER | {"architectures": ["BertGenerationDecoder"], "is_decoder": True, "vocab_size": 128, "max_position_embeddings": 32},
    "big_bird": ENCODER | {"architectures": ["BigBirdForPreTraining"], "attention_type": "original_full", "vocab_size": 128, "max_position_embeddings": 32},
    "biogpt": alike(),
    "bitnet": decoder(),
    "blenderbot": SEQUENCES,
    "blenderbot-small": SEQUENCES,
    "blip-2": {"num_query_tokens": 4, "vision_config": VISION | {"image_size": 32, "patch_size": 8}, "qformer_config": VISION,
               "text_config": {"hidden_size": 64, "num_hidden_layers": 8, "num_attention_heads": 8, "ffn_dim": 96, "vocab_size": 128,
                               "max_position_embeddings": 32}},
    "blip": {"text_config": alike(), "vision_config": VISION | {"image_size": 24, "patch_size": 8}},
    "bloom": {"hidden_size": 64, "n_layer": 8, "n_head": 8, "vocab_size": 128, "seq_length": 32},
    "chameleon": decoder(swin_norm=True),
    "chatglm": alike(ffn_hidden_size=96, kv_channels=8, multi_query_attention=True, multi_query_group_num=4, add_qkv_bias=True),
    "chinese_clip": {"projection_dim": 32, "text_config": ENCODER | {"vocab_size": 128, "max_position_embeddings": 32},
             "vision_config": ENCODER | {"image_size": 32, "patch_size": 8}},
    "clap": {"projection_dim": 32, "text_config": ENCODER | {"vocab_size": 128, "max_position_embeddings": 34},
             "audio_config": {"patch_embeds_hidden_size": 16, "hidden_size": 128, "num_attention_heads": [8, 8, 8, 8], "depths": [2, 2, 2, 2], "spec_size": 64, "patch_size": 2, "patch_stride": 2,
                              "num_mel_bins": 16, "window_size": 4, "enable_fusion": True}},
    "clip": {"projection_dim": 32, "text_config": ENCODER | {"vocab_size": 128, "max_position_embeddings": 32},
             "vision_config": ENCODER | {"image_size": 32, "patch_size": 8}},
    "clip_text_model": ENCODER | {"architectures": ["CLIPTextModelWithProjection"], "vocab_size": 128, "max_position_embeddings": 32,
                                  "projection_dim": 32},
    "clip_vision_model": ENCODER | {"image_size": 32, "patch_size": 8},
    "codegen": few(rotary_dim=4),
    "cohere": decoder(),
    "cohere2": decoder(**SIZE, **WINDOW),
    "cohere2_moe": decoder(**SIZE, **WINDOW, num_experts=8, num_experts_per_tok=2, num_shared_experts=1, first_k_dense_replace=2),
    "cohere2_vision": {"alignment_intermediate_size": 96, "text_config": decoder(sliding_window=8),
                       "vision_config": VISION | {"image_size": 32, "patch_size": 8, "vision_use_head": False}},
    "convnext": {"hidden_sizes": [8, 16, 24, 32], "depths": [2, 2, 6, 2], "image_size": 64},
    "convnextv2": {"hidden_sizes": [8, 16, 24, 32], "depths": [2, 2, 6, 2], "image_size": 64},
    "ctrl": few(dff=96),
    "cvt": {"architectures": ["CvtForImageClassification"], "embed_dim": [16, 32, 64], "num_heads": [8, 8, 8], "depth": [2, 2, 4], "num_labels": 8},
    "cwm": decoder(**SIZE, **WINDOW),
    "data2vec-text": ENCODER | {"architectures": ["Data2VecTextForMaskedLM"], "vocab_size": 128, "max_position_embeddings": 34},
    "data2vec-vision": ENCODER | {"image_size": 32, "patch_size": 8, "use_shared_relative_position_bias": True},
    "data2vec-audio": SOUND | {"num_conv_pos_embeddings": 5, "conv_pos_kernel_size": 3},
    "dbrx": {"d_model": 64, "n_heads": 8, "n_layers": 8, "vocab_size": 128, "max_seq_len": 32,
             "attn_config": {"kv_n_heads": 4, "clip_qkv": 8},
             "ffn_config": {"ffn_hidden_size": 32, "moe_num_experts": 8, "moe_top_k": 2}},
    "deberta": ENCODER | {"architectures": ["DebertaForMaskedLM"], "vocab_size": 128, "max_position_embeddings": 32, "relative_attention": True,
                "pos_att_type": "c2p|p2c"},
    "deberta-v2": ENCODER | {"architectures": ["DebertaV2ForMaskedLM"], "vocab_size": 128, "max_position_embeddings": 32, "relative_attention": True,
                   "pos_att_type": "c2p|p2c", "position_buckets": 8, "share_att_key": True, "norm_rel_ebd": "layer_norm", "conv_kernel_size": 3},
    "deepseek": decoder(**ROUTED, moe_layer_freq=1),
    "colmodernvbert": {"vlm_config": {"model_type": "modernvbert", "pixel_shuffle_factor": 2, "vision_config": VISION | {"image_size": 32, "patch_size": 8},
                                      "text_config": ENCODER | {"vocab_size": 128, "max_position_embeddings": 32, "local_attention": 8}}},
    "colpali": {"vlm_config": {"model_type": "paligemma", "projection_dim": 64, "text_config": {"model_type": "gemma"} | decoder(**SIZE),
                               "vision_config": VISION | {"model_type": "siglip_vision_model", "vision_use_head": False, "image_size": 32, "patch_size": 8}}},
    "colqwen2": {"vlm_config": {"model_type": "qwen2_vl"} | decoder(max_position_embeddings=4096, vision_config={
        "depth": 8, "embed_dim": 32, "mlp_ratio": 2, "num_heads": 8, "hidden_size": 64, "patch_size": 56})},
    "colqwen2_5": {"model_type": "colqwen2", "vlm_config": {"model_type": "qwen2_5_vl"} | decoder(max_position_embeddings=512, vision_config={
        "depth": 8, "hidden_size": 32, "intermediate_size": 48, "num_heads": 8, "out_hidden_size": 64, "fullatt_block_indexes": [3, 7], "window_size": 28})},
    "deepseek_ocr": {"model_type": "deepseek_vl_v2", "tile_tag": "2D", "vision_config": {"model_name": "deeplip_b_l"}, "projector_config": {"n_embed": 64},
                     "language_config": alike(max_position_embeddings=320, first_k_dense_replace=0, n_routed_experts=8, num_experts_per_tok=2, n_shared_experts=1, moe_intermediate_size=32,
                                              use_mla=False, kv_lora_rank=None, q_lora_rank=None, qk_nope_head_dim=0, qk_rope_head_dim=0, v_head_dim=0)},
    "deepseek_v2": decoder(**LATENT, n_group=1, topk_group=1),
    "deepseek_v3": decoder(**LATENT, n_group=2, topk_group=1),
    "deepseek_v32": decoder(**LATENT, n_group=2, topk_group=1, index_topk=8, index_n_heads=2, index_head_dim=8),
    "deepseek_v4": decoder(**ROUTED_ALONE, intermediate_size=32, **SIZE, **WINDOW, num_key_value_heads=1, n_shared_experts=1, qk_rope_head_dim=4, q_lora_rank=24,
                           o_groups=8, o_lora_rank=4, index_topk=3, index_n_heads=2, index_head_dim=8, num_nextn_predict_layers=0,
                           compress_rates={"compressed_sparse_attention": 4, "heavily_compressed_attention": 16},
                           compress_ratios=[0, 0, 4, 128, 4, 128, 4, 128]),
    "deepseek_vl": {"text_config": decoder(), "vision_config": VISION | {"image_size": 32, "patch_size": 8}},
    "deepseek_vl_v2": {"tile_tag": "2D", "language_config": decoder(**LATENT, n_group=1, topk_group=1, max_position_embeddings=128),
                       "vision_config": {"width": 32, "heads": 8, "layers": 8, "mlp_ratio": 2, "image_size": 24, "patch_size": 8},
                       "projector_config": {"input_dim": 32, "n_embed": 64}},
    "deit": ENCODER | {"architectures": ["DeiTForImageClassificationWithTeacher"], "image_size": 32, "patch_size": 8},
    "depth_anything": {"backbone_config": {"model_type": "dinov2", "hidden_size": 64, "num_attention_heads": 8, "num_hidden_layers": 8, "image_size": 56, "out_indices": [2, 4, 6, 8]},
                       "reassemble_hidden_size": 64, "neck_hidden_sizes": [8, 16, 32, 64], "fusion_hidden_size": 16, "head_hidden_size": 8},
    "detr": {"architectures": ["DetrForObjectDetection"], "backbone": "resnet18", "d_model": 64, "encoder_layers": 4, "decoder_layers": 4, "encoder_attention_heads": 8, "decoder_attention_heads": 8,
             "encoder_ffn_dim": 96, "decoder_ffn_dim": 96, "num_queries": 16},
    "diffllama": {**decoder(), "num_attention_heads": 16, "num_key_value_heads": 8},
    "dinov2": {"hidden_size": 64, "num_hidden_layers": 8, "num_attention_heads": 8, "image_size": 32, "patch_size": 8},
    "dinov2_with_registers": {"hidden_size": 64, "num_hidden_layers": 8, "num_attention_heads": 8, "image_size": 32, "patch_size": 8,
                              "num_register_tokens": 3},
    "dinov3_convnext": {"hidden_sizes": [16, 32, 64, 128], "depths": [2, 2, 2, 2], "image_size": 64},
    "dinov3_vit": {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 8, "num_attention_heads": 8, "image_size": 32,
                   "patch_size": 8, "num_register_tokens": 3},
    "distilbert": {"architectures": ["DistilBertForMaskedLM"], "dim": 64, "hidden_dim": 96, "n_layers": 8, "n_heads": 8,
                   "vocab_size": 128, "max_position_embeddings": 32},
    "donut-swin": WINDOWS | {"image_size": [64, 128]},
    "DiTTransformer2DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 8, "sample_size": 8},
    "dots1": decoder(**ROUTED, **SIZE),
    "dpr": ENCODER | {"vocab_size": 128, "max_position_embeddings": 32, "projection_dim": 32},
    "Dream": decoder(),
    "EasyAnimateTransformer3DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "in_channels": 4, "out_channels": 4, "patch_size": 2, "sample_width": 8, "sample_height": 8, "num_layers": 8, "time_embed_dim": 32, "text_embed_dim": 32, "add_norm_text_encoder": True},
    "efficientnet": {"architectures": ["EfficientNetForImageClassification"], "image_size": 64, "num_block_repeats": [1, 2, 2, 3, 3, 4, 2], "width_coefficient": 0.5, "depth_coefficient": 1.5, "hidden_dim": 640, "num_labels": 8},
    "electra": ENCODER | {"architectures": ["ElectraModel"], "vocab_size": 128, "max_position_embeddings": 32},
    "ernie": ENCODER | {"architectures": ["ErnieForPreTraining"], "vocab_size": 128, "max_position_embeddings": 32, "use_task_id": True},
    "ernie4_5": decoder(**SIZE),
    "ernie4_5_moe": decoder(moe_num_experts=8, moe_k=2, moe_intermediate_size=32, moe_num_shared_experts=1),
    "ernie_m": ENCODER | {"architectures": ["ErnieMForSequenceClassification"], "vocab_size": 128, "max_position_embeddings": 34},
    "ernie4_5_moe_vl": decoder(max_position_embeddings=64, moe_num_experts=[8, 8], moe_k=2, moe_intermediate_size=[32, 16], moe_num_shared_experts=1, moe_layer_start_index=[1, 1],
                               moe_layer_end_index=[8, 7], vision_config={"embed_dim": 64, "depth": 8, "num_heads": 8, "patch_size": 56}),
    "ernie4_5_vl_moe": {"text_config": decoder(max_position_embeddings=64, moe_num_experts=8, moe_k=2, moe_intermediate_size=[32, 16], moe_num_shared_experts=1),
                        "vision_config": {"hidden_size": 64, "depth": 8, "num_heads": 8, "patch_size": 56}},
    "esm": ENCODER | {"architectures": ["EsmForMaskedLM"], "vocab_size": 128, "max_position_embeddings": 34,
                      "position_embedding_type": "rotary", "token_dropout": True},
    "eurobert": decoder(architectures=["EuroBertForMaskedLM"]),
    "exaone": decoder(),
    "exaone4_5": {"text_config": decoder(max_position_embeddings=512, sliding_window=8, sliding_window_pattern=4),
                  "vision_config": {"depth": 8, "hidden_size": 32, "intermediate_size": 48, "num_heads": 8, "num_key_value_heads": 4, "out_hidden_size": 64,
                                    "patch_size": 14, "window_size": 28, "fullatt_block_indexes": [1, 3, 6]}},
    "exaone4": decoder(**SIZE, **WINDOW),
    "exaone_moe": decoder(**SIZE, **WINDOW, **EXPERTS, num_shared_experts=1, first_k_dense_replace=2),
    "falcon": {"hidden_size": 64, "num_hidden_layers": 8, "num_attention_heads": 8, "vocab_size": 128,
               "num_kv_heads": 4, "new_decoder_architecture": True},
    "falcon_h1": decoder(**SIZE, mamba_d_ssm=128, **SCAN),
    "falcon_mamba": {"hidden_size": 64, "num_hidden_layers": 8, "vocab_size": 128, "intermediate_size": 128},
    "flex_olmo": decoder(num_experts=8, num_experts_per_tok=2),
    "flaubert": {"architectures": ["FlaubertWithLMHeadModel"], "vocab_size": 128, "emb_dim": 64, "n_layers": 8, "n_heads": 8,
                 "max_position_embeddings": 32, "pre_norm": True},
    "dpt": {"architectures": ["DPTForSemanticSegmentation"], "hidden_size": 64, "num_attention_heads": 8, "num_hidden_layers": 8, "intermediate_size": 96, "image_size": 64,
            "backbone_out_indices": [1, 3, 5, 7], "neck_hidden_sizes": [8, 16, 32, 64], "fusion_hidden_size": 16, "num_labels": 8},
    "FluxTransformer2DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 4,
                               "num_single_layers": 4, "joint_attention_dim": 32, "pooled_projection_dim": 16},
    "florence2": {"text_config": {"vocab_size": 128, "d_model": 64, "encoder_layers": 4, "decoder_layers": 4, "encoder_attention_heads": 8, "decoder_attention_heads": 8, "encoder_ffn_dim": 96,
                                  "decoder_ffn_dim": 96, "max_position_embeddings": 608},
                  "vision_config": {"depths": [1, 1, 1, 1], "embed_dim": [16, 32, 32, 64], "num_heads": [8, 8, 8, 8], "num_groups": [8, 8, 8, 8], "projection_dim": 64}},
    "focalnet": {"architectures": ["FocalNetForImageClassification"], "image_size": 64, "embed_dim": 16, "focal_levels": [3, 2, 2, 1], "num_labels": 8},
    "fsmt": {key: value for key, value in SEQUENCES.items() if key != "vocab_size"} | {"src_vocab_size": 128, "tgt_vocab_size": 96},
    "fuyu": alike(image_size=16, patch_size=8),
    "gemma": decoder(**SIZE),
    "gemma2": decoder(**SIZE, **WINDOW),
    "gemma3": {"text_config": decoder(**SIZE, **WINDOW), "mm_tokens_per_image": 4,
               "vision_config": VISION | {"image_size": 32, "patch_size": 8}},
    "gemma3_text": decoder(**SIZE, **WINDOW),
    # Six layers of ten have queries alone, and each second one keeps the largest gates.
    "gemma3n_text": decoder(10, **SIZE, **WINDOW, num_kv_shared_layers=6, layer_types=["sliding_attention", "full_attention"] * 5, **NARROW_TABLES,
                            activation_sparsity_pattern=[0.95, 0.0] * 5, laurel_rank=8),
    # Six layers of ten have queries alone.
    "gemma4_text": decoder(10, **SIZE, **WINDOW, global_head_dim=16, num_kv_shared_layers=6, use_double_wide_mlp=True, num_global_key_value_heads=2,
                           attention_k_eq_v=True, layer_types=["sliding_attention", "full_attention"] * 5, **NARROW_TABLES),
    "gemma4": {"text_config": decoder(**SIZE, **WINDOW, global_head_dim=16, layer_types=["sliding_attention", "full_attention"] * 4, enable_moe_block=True,
                                      num_experts=8, top_k_experts=2, moe_intermediate_size=32, **NARROW_TABLES), "vision_soft_tokens_per_image": 4,
               "vision_config": {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 8, "num_attention_heads": 8, "num_key_value_heads": 8,
                                 "head_dim": 8, "pooling_kernel_size": 2}},
    "gemma4_plain": {"model_type": "gemma4", "text_config": decoder(**SIZE, **WINDOW, global_head_dim=16, layer_types=["sliding_attention", "full_attention"] * 4, **NARROW_TABLES)},
    "gemma4_unified_plain": {"model_type": "gemma4_unified",
                             "text_config": decoder(**SIZE, **WINDOW, global_head_dim=16, layer_types=["sliding_attention", "full_attention"] * 4)},
    "gemma4_unified": {"text_config": decoder(**SIZE, **WINDOW, global_head_dim=16, layer_types=["sliding_attention", "full_attention"] * 4), "vision_soft_tokens_per_image": 4,
                       "vision_config": {"mm_embed_dim": 32, "mm_posemb_size": 4, "patch_size": 4, "pooling_kernel_size": 2}},
    "gemma4_unified_text": decoder(**SIZE, **WINDOW, global_head_dim=16, num_global_key_value_heads=2, attention_k_eq_v=True,
                                   layer_types=["sliding_attention", "full_attention"] * 4),
    "git": alike(max_position_embeddings=22, vision_config=VISION | {"image_size": 24, "patch_size": 8}),
    "glm": decoder(**SIZE),
    "glm4": decoder(**SIZE),
    "glm4_moe": decoder(**ROUTED, **SIZE),
    "glm4_moe_lite": decoder(**LATENT),
    "glm_ocr": {"text_config": decoder(), "vision_config": {"depth": 8, "hidden_size": 32, "intermediate_size": 48, "num_heads": 8, "patch_size": 112,
                                                            "image_size": 448, "out_hidden_size": 64}},
    "dots_ocr": decoder(max_position_embeddings=512, vision_config={"num_hidden_layers": 8, "embed_dim": 32, "hidden_size": 64, "intermediate_size": 48,
                                                                    "num_attention_heads": 8, "patch_size": 56}),
    "gemma3n": {"text_config": decoder(10, **SIZE, **WINDOW, num_kv_shared_layers=6, layer_types=["sliding_attention", "full_attention"] * 5, **NARROW_TABLES, laurel_rank=8)
                | {"hidden_size": 2048}},
    "glpn": {"architectures": ["GLPNForDepthEstimation"], "hidden_sizes": [16, 32, 40, 48], "num_attention_heads": [8, 8, 8, 8], "decoder_hidden_size": 16},
    "HunyuanDiT2DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "hidden_size": 64, "in_channels": 4, "patch_size": 2, "sample_size": 16, "num_layers": 8, "cross_attention_dim": 32, "cross_attention_dim_t5": 64, "pooled_projection_dim": 32, "text_len": 8, "text_len_t5": 24},
    "Kandinsky5Transformer3DModel": {"in_visual_dim": 4, "in_text_dim": 32, "in_text_dim2": 16, "time_dim": 32, "model_dim": 96, "ff_dim": 128, "num_text_blocks": 2, "num_visual_blocks": 6, "axes_dims": [4, 4, 4], "visual_cond": True},
    "LatteTransformer3DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "in_channels": 4, "out_channels": 8, "num_layers": 8, "cross_attention_dim": 64, "attention_bias": True, "sample_size": 16, "patch_size": 2, "activation_fn": "gelu-approximate", "norm_type": "ada_norm_single", "norm_elementwise_affine": False, "caption_channels": 32, "video_length": 4},
    "mobilevit": {"architectures": ["MobileViTForImageClassification"], "image_size": 128, "hidden_sizes": [16, 16, 32], "neck_hidden_sizes": [8, 16, 16, 24, 32, 32, 64], "num_attention_heads": 8, "num_labels": 8},
    "mobilevitv2": {"architectures": ["MobileViTV2ForImageClassification"], "image_size": 128, "n_attn_blocks": [2, 4, 5], "width_multiplier": 0.25, "num_labels": 8},
    "OmniGenTransformer2DModel": {"hidden_size": 64, "num_attention_heads": 8, "num_key_value_heads": 4, "intermediate_size": 96, "num_layers": 8, "vocab_size": 128},
    "qwen3_asr": {"text_config": decoder(**SIZE), "audio_config": {
        "d_model": 32, "encoder_layers": 8, "encoder_attention_heads": 8, "encoder_ffn_dim": 48, "num_mel_bins": 16, "max_source_positions": 32, "n_window": 16,
        "n_window_infer": 32, "output_dim": 64, "downsample_hidden_size": 8}},
    "hunyuan_vl": {"text_config": decoder(max_position_embeddings=512), "vision_config": {
        "num_hidden_layers": 8, "hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 8, "patch_size": 128, "max_image_size": 512}},
    "glmasr": {"text_config": decoder(), "audio_config": {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 8, "num_attention_heads": 8,
                                                          "num_key_value_heads": 4, "num_mel_bins": 16, "max_source_positions": 32}},
    "glm4v": {"text_config": decoder(max_position_embeddings=512, **SIZE), "vision_config": {
        "depth": 8, "hidden_size": 32, "intermediate_size": 48, "num_heads": 8, "out_hidden_size": 64, "patch_size": 56,
        "image_size": 224}},
    "glm4v_moe": {"text_config": decoder(max_position_embeddings=512, **ROUTED, **SIZE), "vision_config": {
        "depth": 8, "hidden_size": 32, "intermediate_size": 48, "num_heads": 8, "out_hidden_size": 64, "patch_size": 56,
        "image_size": 224}},
    "glm5_next": {"text_config": decoder(**ROUTED_ALONE, max_position_embeddings=512, num_key_value_heads=8, q_lora_rank=24, kv_lora_rank=16, qk_nope_head_dim=8, v_head_dim=8,
                                       index_topk=8, index_n_heads=8, index_head_dim=8, index_kpool=4, linear_head_dim=8, linear_num_heads=8),
                  "vision_config": {"depth": 8, "hidden_size": 32, "intermediate_size": 48, "num_heads": 8, "patch_size": 112, "projection_intermediate_size": 48}},
    "glm5_next_text": decoder(**ROUTED_ALONE, num_key_value_heads=8, q_lora_rank=24, kv_lora_rank=16, qk_nope_head_dim=8, v_head_dim=8,
                            index_topk=8, index_n_heads=8, index_head_dim=8, index_kpool=4, linear_head_dim=8, linear_num_heads=8),
    "glm_moe_dsa": decoder(**LATENT, index_topk=8, index_n_heads=2, index_head_dim=8),
    "got_ocr2": {"text_config": decoder(), "vision_config": {"hidden_size": 64, "num_hidden_layers": 8, "num_attention_heads": 8, "mlp_dim": 96, "output_channels": 16, "image_size": 64, "patch_size": 8,
                                                             "window_size": 3, "global_attn_indexes": [1, 3, 5, 7]}},
    "gpt2": few(),
    "gpt_bigcode": few(),
    "gpt_neo": {"hidden_size": 64, "num_layers": 8, "num_heads": 8, "vocab_size": 128, "max_position_embeddings": 32, "window_size": 8,
                "attention_types": [[["global", "local"], 4]]},
    "gpt_neox": alike(),
    "gpt_neox_japanese": {"hidden_size": 64, "intermediate_multiple_size": 2, "num_hidden_layers": 8, "num_attention_heads": 8, "vocab_size": 128,
                          "max_position_embeddings": 32, "rotary_pct": 0.5},
    "gpt_oss": decoder(**SIZE, **WINDOW, num_local_experts=8, num_experts_per_tok=2),
    "gptj": few(rotary_dim=4),
    "granite": decoder(),
    "hiera": {"architectures": ["HieraForImageClassification"], "embed_dim": 32, "image_size": [64, 64], "depths": [2, 3, 3, 3], "num_heads": [8, 8, 8, 8]},
    "granite4_vision": {"text_config": decoder(max_position_embeddings=64), "downsample_rate": "1/2", "deepstack_layer_map": [[1, 3], [3, 2], [5, 1], [-1, 0]], "spatial_target_layers": [4, 5, 6, 7],
                        "vision_config": VISION | {"model_type": "siglip_vision_model", "image_size": 32, "patch_size": 8}, "qformer_config": {"num_attention_heads": 8, "intermediate_size": 48}},
    "granite_speech": {"text_config": decoder(), "encoder_config": {"input_dim": 16, "num_layers": 8, "hidden_dim": 32, "num_heads": 8, "feedforward_mult": 2, "output_dim": 8,
                                                                    "context_size": 20, "max_pos_emb": 32, "conv_kernel_size": 7},
                       "projector_config": {"hidden_size": 32, "num_hidden_layers": 8, "num_attention_heads": 8, "intermediate_size": 48, "encoder_hidden_size": 32}},
    "granite_swa": decoder(**WINDOW, layer_rope_theta=[0, 1e4] * 4),
    "granitemoe": decoder(num_local_experts=8, num_experts_per_tok=2),
    "granitemoe_swa": decoder(**WINDOW, num_local_experts=8, num_experts_per_tok=2, shared_intermediate_size=32),
    "granitemoehybrid": decoder(layer_types=MIXED, num_local_experts=8, num_experts_per_tok=2,
                                shared_intermediate_size=32, **SCAN),
    "granitemoeshared": decoder(num_local_experts=8, num_experts_per_tok=2, shared_intermediate_size=32),
    "grok-1": decoder(num_experts=8, num_experts_per_tok=2),
    "helium": decoder(**SIZE),
    "hubert": SOUND,
    "hunyuan_v1_dense": decoder(**SIZE),
    "hunyuan_v1_moe": decoder(**SIZE, num_experts=8, moe_topk=2),
    "hy_v3": decoder(**SIZE, **EXPERTS),
    "hy_v4": alike(10, **ROUTED_ALONE, **LATENT_SIZES, q_lora_rank=24, index_topk=8, index_n_heads=8, index_head_dim=8, hc_mult=2,
                   indexer_types=["full", *["shared"] * 4] * 2),
    "hyperclovax": decoder(use_post_norm=True, head_dim=8),
    "idefics2": {"text_config": decoder(**WINDOW), "vision_config": VISION | {"image_size": 32, "patch_size": 8}, "perceiver_config": {
        "resampler_n_latents": 8, "resampler_depth": 8, "resampler_n_heads": 8, "num_key_value_heads": 4, "resampler_head_dim": 8}},
    "idefics3": {"scale_factor": 2, "text_config": decoder(), "vision_config": VISION | {"image_size": 32, "patch_size": 8}},
    "ijepa": ENCODER | {"architectures": ["IJepaForImageClassification"], "image_size": 32, "patch_size": 8},
    "imagegpt": few() | {"vocab_size": 129},
    "instructblip": {"num_query_tokens": 4, "text_config": decoder(model_type="llama"), "vision_config": VISION | {"image_size": 32, "patch_size": 8},
                     "qformer_config": VISION | {"vocab_size": 64, "max_position_embeddings": 16}},
    "instructblipvideo": {"num_query_tokens": 4, "text_config": decoder(model_type="llama"), "vision_config": VISION | {"image_size": 32, "patch_size": 8},
                          "qformer_config": VISION | {"vocab_size": 64, "max_position_embeddings": 16}},
    "internlm2": decoder(bias=False),
    "internlm3": decoder(**SIZE),
    "internvl": {"text_config": {"model_type": "qwen3"} | decoder(**SIZE),
                 "vision_config": VISION | {"image_size": [32, 32], "patch_size": [8, 8]}},
    "internvl_qwen3_moe": {"model_type": "internvl", "text_config": {"model_type": "qwen3_moe"} | decoder(**SIZE, **EXPERTS),
                           "vision_config": VISION | {"image_size": [32, 32], "patch_size": [8, 8]}},
    "internvl_gpt_oss": {"model_type": "internvl", "text_config": {"model_type": "gpt_oss"} | decoder(**SIZE, **WINDOW, num_local_experts=8, num_experts_per_tok=2),
                         "vision_config": VISION | {"image_size": [32, 32], "patch_size": [8, 8]}},
    "internvl_chat_qwen3_moe": {"model_type": "internvl_chat", "llm_config": {"model_type": "qwen3_moe"} | decoder(**SIZE, **EXPERTS),
                                "vision_config": VISION | {"image_size": 32, "patch_size": 8, "qk_normalization": False}},
    "internvl_chat_gpt_oss": {"model_type": "internvl_chat", "llm_config": {"model_type": "gpt_oss"} | decoder(**SIZE, **WINDOW, num_local_experts=8, num_experts_per_tok=2),
                              "vision_config": VISION | {"image_size": 32, "patch_size": 8, "qk_normalization": False}},
    "interns1": {"text_config": {"model_type": "qwen3"} | decoder(**SIZE),
                 "vision_config": VISION | {"image_size": [32, 32], "patch_size": [8, 8]}},
    "interns1_experts": {"model_type": "interns1", "text_config": {"model_type": "qwen3_moe"} | decoder(**SIZE, **EXPERTS),
                         "vision_config": VISION | {"image_size": [32, 32], "patch_size": [8, 8]}},
    "internvl_chat": {"llm_config": {"model_type": "internlm2"} | decoder(),
                      "vision_config": VISION | {"image_size": 32, "patch_size": 8, "qk_normalization": False}},
    "internvl_chat_phi3": {"model_type": "internvl_chat", "llm_config": {"model_type": "phi3"} | decoder(**SIZE),
                           "vision_config": VISION | {"image_size": 32, "patch_size": 8, "qk_normalization": False}},
    "jais2": decoder(),
    "jamba": decoder(num_experts=8, num_experts_per_tok=2, mamba_d_state=4, mamba_dt_rank=4, attn_layer_period=4,
                     attn_layer_offset=1),
    "jina_embeddings_v3": ENCODER | {"architectures": ["JinaEmbeddingsV3ForMaskedLM"], "vocab_size": 128, "max_position_embeddings": 34},
    "kimi_k25": {"text_config": decoder(max_position_embeddings=512, **LATENT, n_group=1, topk_group=1), "vision_config": {
        "vt_num_hidden_layers": 8, "vt_hidden_size": 32, "vt_intermediate_size": 48, "vt_num_attention_heads": 8, "patch_size": 56,
        "init_pos_emb_height": 8, "init_pos_emb_width": 8}},
    "janus": {"text_config": decoder(), "vision_config": {"hidden_size": 32, "num_attention_heads": 8, "num_hidden_layers": 8, "mlp_ratio": 2, "image_size": 32,
                                                         "patch_size": 8, "projection_dim": 64}},
    "clipseg": {"projection_dim": 32, "extract_layers": [1, 3, 5], "reduce_dim": 32, "decoder_num_attention_heads": 4, "decoder_intermediate_size": 48, "use_complex_transposed_convolution": True,
                "text_config": ENCODER | {"vocab_size": 128, "max_position_embeddings": 32}, "vision_config": VISION | {"image_size": 32, "patch_size": 16}},
    "longt5": {"d_model": 64, "d_kv": 8, "d_ff": 96, "num_layers": 4, "num_heads": 8, "vocab_size": 128, "n_positions": 32, "local_radius": 7, "global_block_size": 4,
               "encoder_attention_type": "transient-global"},
    "luke": ENCODER | {"architectures": ["LukeForMaskedLM"], "vocab_size": 128, "max_position_embeddings": 34, "entity_vocab_size": 64, "entity_emb_size": 32},
    "csm": decoder(num_codebooks=4, text_vocab_size=96, depth_decoder_config={"num_codebooks": 4, "vocab_size": 128, "backbone_hidden_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 4,
                                                                             "num_attention_heads": 8, "num_key_value_heads": 4}),
    "SanaVideoTransformer3DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_cross_attention_heads": 8, "cross_attention_head_dim": 8, "cross_attention_dim": 64, "num_layers": 8, "caption_channels": 32},
    "seamless_m4t": SEQUENCES | {"architectures": ["SeamlessM4TForTextToText"]},
    "seamless_m4t_v2": SEQUENCES | {"architectures": ["SeamlessM4Tv2ForSpeechToText"], "speech_encoder_layers": 4, "speech_encoder_attention_heads": 8, "speech_encoder_intermediate_size": 96,
                                    "feature_projection_input_dim": 16, "left_max_position_embeddings": 8, "right_max_position_embeddings": 4},
    "sam": {"vision_config": {"hidden_size": 32, "output_channels": 64, "num_hidden_layers": 8, "num_attention_heads": 8, "image_size": 64, "patch_size": 8, "window_size": 3,
                              "global_attn_indexes": [1, 3, 5, 7], "mlp_dim": 48, "num_pos_feats": 32},
            "prompt_encoder_config": {"hidden_size": 64, "image_size": 64, "patch_size": 8},
            "mask_decoder_config": {"hidden_size": 64, "mlp_dim": 96, "num_hidden_layers": 4, "iou_head_hidden_dim": 32}},
    "speecht5_tts": {"model_type": "speecht5", "architectures": ["SpeechT5ForTextToSpeech"], "hidden_size": 64, "encoder_layers": 4, "decoder_layers": 4, "encoder_attention_heads": 8,
                     "decoder_attention_heads": 8, "encoder_ffn_dim": 96, "decoder_ffn_dim": 96, "vocab_size": 128, "encoder_max_relative_position": 8, "max_text_positions": 32, "max_speech_positions": 32,
                     "num_mel_bins": 8, "speech_decoder_prenet_units": 16, "speech_decoder_postnet_units": 16, "speaker_embedding_dim": 16},
    "dia": {"encoder_config": decoder(4, head_dim=8, num_key_value_heads=8), "decoder_config": decoder(4, head_dim=8, num_channels=4, cross_hidden_size=64, cross_num_attention_heads=8, cross_num_key_value_heads=4, cross_head_dim=8)},
    "kyutai_speech_to_text": {"hidden_size": 64, "ffn_dim": 192, "num_hidden_layers": 8, "num_attention_heads": 8, "num_key_value_heads": 4, "vocab_size": 128, "codebook_vocab_size": 16, "num_codebooks": 4,
                              "max_position_embeddings": 32, "sliding_window": 8},
    "musicgen": {"text_encoder": {"d_model": 32, "d_kv": 8, "d_ff": 96, "num_layers": 4, "num_heads": 8, "vocab_size": 128, "n_positions": 32},
                 "decoder": {"hidden_size": 64, "ffn_dim": 96, "num_hidden_layers": 4, "num_attention_heads": 8, "vocab_size": 128, "max_position_embeddings": 32}},
    "musicgen_melody": {"text_encoder": {"d_model": 32, "d_kv": 8, "d_ff": 96, "num_layers": 4, "num_heads": 8, "vocab_size": 128, "n_positions": 24}, "chroma_length": 8,
                        "decoder": {"hidden_size": 64, "ffn_dim": 96, "num_hidden_layers": 4, "num_attention_heads": 8, "vocab_size": 128, "max_position_embeddings": 64}},
    "moshi": {"hidden_size": 64, "ffn_dim": 192, "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 4, "vocab_size": 128, "audio_vocab_size": 16, "num_codebooks": 4, "max_position_embeddings": 32, "sliding_window": 8,
              "depth_decoder_config": {"num_codebooks": 4, "vocab_size": 128, "audio_vocab_size": 16, "input_size": 64, "hidden_size": 32, "ffn_dim": 96, "num_hidden_layers": 4, "num_attention_heads": 8}},
    "speecht5": {"hidden_size": 64, "conv_dim": [8] * 7, "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 4, "encoder_layers": 4, "decoder_layers": 4, "encoder_attention_heads": 8,
                 "decoder_attention_heads": 8, "encoder_ffn_dim": 96, "decoder_ffn_dim": 96, "vocab_size": 128, "encoder_max_relative_position": 8, "max_text_positions": 32},
    "swiftformer": {"architectures": ["SwiftFormerForImageClassification"], "image_size": 64, "embed_dims": [8, 16, 24, 32], "num_labels": 8},
    "tapas": ENCODER | {"architectures": ["TapasForMaskedLM"], "vocab_size": 128, "max_position_embeddings": 32, "type_vocab_sizes": [3, 8, 8, 2, 8, 8, 10]},
    "kosmos-2": {"text_config": {"embed_dim": 64, "layers": 8, "attention_heads": 8, "ffn_dim": 96, "vocab_size": 128, "max_position_embeddings": 32}, "latent_query_num": 8,
                 "vision_config": VISION | {"image_size": 32, "patch_size": 8}},
    "kosmos-2.5": {"text_config": {"embed_dim": 64, "layers": 8, "attention_heads": 8, "ffn_dim": 96, "vocab_size": 128, "max_position_embeddings": 32}, "latent_query_num": 8,
                   "vision_config": {"patch_embed_hidden_size": 48, "hidden_size": 64, "d_kv": 8, "num_attention_heads": 8, "d_ff": 96, "num_hidden_layers": 8, "seq_len": 32}},
    "siglip_classifier": {"model_type": "siglip", "architectures": ["SiglipForImageClassification"], "vision_config": VISION | {"image_size": 32, "patch_size": 8}},
    "siglip2_classifier": {"model_type": "siglip2", "architectures": ["Siglip2ForImageClassification"], "vision_config": VISION | {"num_patches": 16, "patch_size": 8}},
    "clip_classifier": {"model_type": "clip", "architectures": ["CLIPForImageClassification"], "vision_config": VISION | {"image_size": 32, "patch_size": 8}},
    "metaclip_2_classifier": {"model_type": "metaclip_2", "architectures": ["MetaClip2ForImageClassification"], "vision_config": VISION | {"image_size": 32, "patch_size": 8}},
    "UNet2DModel": {"sample_size": 16, "block_out_channels": [32, 64, 64], "down_block_types": ["DownBlock2D", "AttnDownBlock2D", "DownBlock2D"], "up_block_types": ["UpBlock2D", "AttnUpBlock2D", "UpBlock2D"]},
    "whisper_classifier": {"model_type": "whisper", "architectures": ["WhisperForAudioClassification"], "d_model": 64, "encoder_layers": 8, "encoder_attention_heads": 8, "encoder_ffn_dim": 96,
                           "num_mel_bins": 16, "max_source_positions": 32, "classifier_proj_size": 32},
    "ibert": ENCODER | {"architectures": ["IBertForMaskedLM"], "vocab_size": 128, "max_position_embeddings": 34},
    "blip_questions": {"model_type": "blip", "architectures": ["BlipForQuestionAnswering"], "text_config": alike(), "vision_config": VISION | {"hidden_size": 64, "image_size": 24, "patch_size": 8}},
    "decision_transformer": {"hidden_size": 64, "n_layer": 8, "n_head": 8, "n_inner": 96, "n_positions": 32, "max_ep_len": 32, "state_dim": 8, "act_dim": 4},
    "vision_encoder_decoder_gpt2": {"model_type": "vision-encoder-decoder", "encoder": VISION | {"image_size": 32, "patch_size": 8}, "decoder": {"model_type": "gpt2"} | few()},
    "vision_encoder_decoder_deit": {"model_type": "vision-encoder-decoder", "encoder": {"model_type": "deit"} | VISION | {"image_size": 32, "patch_size": 8},
                                    "decoder": {"model_type": "trocr", "d_model": 64, "decoder_layers": 8, "decoder_attention_heads": 8, "decoder_ffn_dim": 96, "vocab_size": 128,
                                                "max_position_embeddings": 32}},
    "donut": {"model_type": "vision-encoder-decoder", "encoder": {"model_type": "donut-swin"} | WINDOWS,
              "decoder": {"model_type": "mbart", "d_model": 128, "decoder_layers": 8, "decoder_attention_heads": 8, "decoder_ffn_dim": 96, "vocab_size": 128, "max_position_embeddings": 32}},
    "encoder-decoder": {"encoder": {"model_type": "bert"} | alike(), "decoder": {"model_type": "roberta"} | alike(max_position_embeddings=34)},
    "jetmoe": {"hidden_size": 64, "intermediate_size": 32, "num_hidden_layers": 8, "num_key_value_heads": 4, "kv_channels": 8, "vocab_size": 128,
               "max_position_embeddings": 32, "num_local_experts": 8, "num_experts_per_tok": 2},
    "kimi_linear": decoder(**EXPERTS, **LATENT_SIZES, num_shared_experts=1, first_k_dense_replace=2, mla_use_nope=True,
                           linear_attn_config={"kda_layers": [1, 2, 3, 5, 6, 7], "full_attn_layers": [4, 8], "num_heads": 8,
                                               "head_dim": 8, "short_conv_kernel_size": 4}),
    "kimi_vl": {"text_config": decoder(max_position_embeddings=512, **LATENT, n_group=1, topk_group=1), "vision_config": {
        "num_hidden_layers": 8, "hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 8, "patch_size": 56,
        "init_pos_emb_height": 8, "init_pos_emb_width": 8}},
    "laguna": decoder(**SIZE, **WINDOW, **EXPERTS, shared_expert_intermediate_size=32, num_attention_heads_per_layer=[8, 16, 16, 16] * 2,
                      layer_types=["full_attention"] + ["sliding_attention"] * 3 + ["full_attention"] + ["sliding_attention"] * 3),
    "layoutlm": ENCODER | {"architectures": ["LayoutLMForMaskedLM"], "vocab_size": 128, "max_position_embeddings": 32, "max_2d_position_embeddings": 64},
    "layoutlmv3": ENCODER | {"architectures": ["LayoutLMv3ForSequenceClassification"], "vocab_size": 128, "max_position_embeddings": 16,
                   "max_2d_position_embeddings": 64, "coordinate_size": 8, "shape_size": 16, "input_size": 24, "patch_size": 8},
    "led": SEQUENCES | {"max_encoder_position_embeddings": 32, "max_decoder_position_embeddings": 32, "attention_window": 8},
    "lighton_ocr": {"text_config": decoder(**SIZE), "vision_config": VISION | {"image_size": 64, "patch_size": 8}},
    "lfm2": decoder(full_attn_idxs=[2, 6]),
    "lfm2_vl": {"projector_hidden_size": 48, "downsample_factor": 4,
                "vision_config": VISION | {"patch_size": 64, "num_patches": 16, "vision_use_head": False},
                "text_config": decoder(full_attn_idxs=[2, 6])},
    "lfm2_moe": decoder(**EXPERTS, layer_types=["conv", "full_attention"] * 4),
    "lilt": ENCODER | {"architectures": ["LiltForSequenceClassification"], "hidden_size": 192, "vocab_size": 128, "max_position_embeddings": 34, "max_2d_position_embeddings": 32},
    "llada": {"block_type": "llama", "layer_norm_type": "rms", "rope": True, "activation_type": "silu", "weight_tying": False, "d_model": 64, "n_layers": 8,
              "n_heads": 8, "n_kv_heads": 4, "mlp_hidden_size": 96, "max_sequence_length": 32, "vocab_size": 128, "embedding_size": 128},
    "llama": decoder(),
    "llama4": {"text_config": decoder(**SIZE, num_local_experts=8, intermediate_size_mlp=96),
               "vision_config": VISION | {"intermediate_size": 128, "image_size": 32, "patch_size": 8, "vision_output_dim": 48,
                                          "projector_input_dim": 48, "projector_output_dim": 48}},
    "llama4_text": decoder(**SIZE, num_local_experts=8, intermediate_size_mlp=96, attention_chunk_size=8,
                           interleave_moe_layer_step=2),
    "llava": {"text_config": {"model_type": "llama"} | decoder(),
              "vision_config": VISION | {"image_size": 32, "patch_size": 8}, "vision_feature_layer": -1},
    "llava_next": {"text_config": {"model_type": "llama"} | decoder(max_position_embeddings=128),
                   "vision_config": VISION | {"image_size": 32, "patch_size": 8}, "vision_feature_layer": -1},
    "llava_next_qwen2": {"model_type": "llava_next", "text_config": {"model_type": "qwen2"} | decoder(max_position_embeddings=128),
                         "vision_config": VISION | {"image_size": 32, "patch_size": 8}, "vision_feature_layer": -1},
    "llava_onevision": {"text_config": {"model_type": "qwen2"} | decoder(max_position_embeddings=128),
                        "vision_config": VISION | {"model_type": "siglip_vision_model", "vision_use_head": False, "image_size": 32,
                                                   "patch_size": 8}},
    "longcat_flash": alike(**LATENT_SIZES, q_lora_rank=24, n_routed_experts=8, zero_expert_num=8, moe_topk=4,
                           expert_ffn_hidden_size=32),
    "longformer": ENCODER | {"architectures": ["LongformerForMaskedLM"], "vocab_size": 128, "max_position_embeddings": 34, "attention_window": 8},
    "m2m_100": SEQUENCES,
    "mamba": {"hidden_size": 64, "num_hidden_layers": 8, "vocab_size": 128},
    "mamba2": {"hidden_size": 64, "num_hidden_layers": 8, "vocab_size": 128, "num_heads": 16, "head_dim": 8,
               "n_groups": 8, "state_size": 8, "chunk_size": 8},
    "marian": SEQUENCES,
    "markuplm": ENCODER | {"architectures": ["MarkupLMForSequenceClassification"], "vocab_size": 128, "max_position_embeddings": 34,
                           "max_xpath_tag_unit_embeddings": 16, "max_xpath_subs_unit_embeddings": 16, "xpath_unit_hidden_size": 8, "max_depth": 4},
    "mbart": SEQUENCES,
    "megatron-bert": ENCODER | {"architectures": ["MegatronBertForPreTraining"], "vocab_size": 128, "max_position_embeddings": 32},
    "mellum": decoder(**SIZE, **WINDOW, **EXPERTS, layer_types=["sliding_attention", "full_attention"] * 4, mlp_layer_types=["dense"] * 2 + ["sparse"] * 6),
    "mimo": decoder(),
    "mimo_v2_flash": decoder(**ROUTED_ALONE, **WINDOW, head_dim=12, v_head_dim=8),
    "minicpm": decoder(scale_emb=12, dim_model_base=16),
    "minicpm3": decoder(num_key_value_heads=8, kv_lora_rank=16, q_lora_rank=24, qk_nope_head_dim=8, qk_rope_head_dim=4),
    "minicpmv": decoder(version=2.6) | {"hidden_size": 1024, "query_num": 4, "drop_vision_last_layer": False, "slice_config": {"scale_resolution": 32},
                                        "vision_config": VISION | {"image_size": 64, "patch_size": 8}},
    "minimax": decoder(**SIZE, num_local_experts=8, num_experts_per_tok=2, rotary_dim=4, block_size=8, mlp_alpha_factor=3.5),
    "minimax_m2": decoder(**SIZE, num_local_experts=8, num_experts_per_tok=2, rotary_dim=4),
    "minimax_m3_vl": {"text_config": decoder(**SIZE, num_local_experts=8, num_experts_per_tok=2, rotary_dim=4, max_position_embeddings=512, dense_intermediate_size=96,
                                             shared_intermediate_size=32, index_n_heads=8, index_head_dim=8, index_block_size=4, index_topk_blocks=2,
                                             layer_types=["full_attention", "minimax_m3_sparse"] * 4, mlp_layer_types=["dense", *["sparse"] * 7]),
                      "projector_hidden_size": 48, "vision_config": VISION | {"patch_size": 112}},
    "minimax_m3_vl_text": decoder(**SIZE, num_local_experts=8, num_experts_per_tok=2, rotary_dim=4, dense_intermediate_size=96, shared_intermediate_size=32, index_n_heads=8,
                                  index_head_dim=8, index_block_size=4, index_topk_blocks=2, layer_types=["full_attention", "minimax_m3_sparse"] * 4,
                                  mlp_layer_types=["dense", "sparse"] * 4),
    "ministral": decoder(**WINDOW, layer_types=["full_attention", "sliding_attention"] * 4),
    "ministral3": decoder(**SIZE),
    "mistral": decoder(**WINDOW),
    "mistral3": {"text_config": {"model_type": "mistral"} | decoder(),
                 "vision_config": VISION | {"image_size": 64, "patch_size": 8}, "spatial_merge_size": 2},
    "mistral3_qwen3": {"model_type": "mistral3", "text_config": decoder(model_type="qwen3", **SIZE), "vision_config": VISION | {"image_size": 64, "patch_size": 8}},
    "mistral3_mistral4": {"model_type": "mistral3", "text_config": {"model_type": "mistral4"} | decoder(**LATENT, n_group=2, topk_group=1),
                          "vision_config": VISION | {"image_size": 64, "patch_size": 8}},
    "mistral4": decoder(**LATENT),
    "mixtral": decoder(num_local_experts=8, num_experts_per_tok=2),
    "mllama": {"text_config": decoder(cross_attention_layers=[1, 3, 5, 7]), "vision_config": VISION | {
        "num_global_layers": 4, "image_size": 28, "vision_output_dim": 192, "intermediate_layers_indices": [1, 2, 3, 4, 6]}},
    "mobilebert": ENCODER | {"architectures": ["MobileBertForPreTraining"], "vocab_size": 128, "max_position_embeddings": 32, "embedding_size": 16, "intra_bottleneck_size": 32},
    "mobilenet_v1": {"architectures": ["MobileNetV1ForImageClassification"], "image_size": 64, "depth_multiplier": 0.25},
    "mobilenet_v2": {"architectures": ["MobileNetV2ForImageClassification"], "image_size": 64, "depth_multiplier": 0.5},
    "modernbert": ENCODER | {"architectures": ["ModernBertForMaskedLM"], "vocab_size": 128, "local_attention": 8,
                             "max_position_embeddings": 32},
    "modernbert-decoder": ENCODER | {"vocab_size": 128, "local_attention": 16, "max_position_embeddings": 32},
    "modernvbert": {"architectures": ["ModernVBertForMaskedLM"], "pixel_shuffle_factor": 2, "vision_config": VISION | {"image_size": 32, "patch_size": 8},
                    "text_config": ENCODER | {"vocab_size": 128, "max_position_embeddings": 32, "local_attention": 8}},
    "molmo": decoder(9, intermediate_size=192, embedding_size=128, max_position_embeddings=256, qkv_bias=True),
    "moonshine": {"hidden_size": 96, "intermediate_size": 128, "encoder_num_hidden_layers": 4, "decoder_num_hidden_layers": 4,
                  "encoder_num_attention_heads": 8, "decoder_num_attention_heads": 8, "pad_head_dim_to_multiple_of": 8,
                  "vocab_size": 128, "max_position_embeddings": 32},
    "mpnet": ENCODER | {"architectures": ["MPNetForMaskedLM"], "vocab_size": 128, "max_position_embeddings": 34},
    "mpt": {"d_model": 64, "n_heads": 8, "n_layers": 8, "vocab_size": 128, "max_seq_len": 32},
    "mt5": {"d_model": 64, "d_kv": 8, "d_ff": 96, "num_layers": 4, "num_heads": 8, "vocab_size": 128, "n_positions": 32},
    "mvp": SEQUENCES,
    "nanochat": decoder(),
    "muse_glimmer": {"out_hidden_size": 128, "projector_hidden_size": 48, "text_config": decoder(**SIZE, **WINDOW, max_position_embeddings=64),
                     "vision_config": VISION | {"pos_emb_height": 4, "pos_emb_width": 4, "patch_size": 2}},
    "musicflamingo": {"text_config": decoder(), "rope_parameters": {"partial_rotary_factor": 0.25}, "audio_config": {
        "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 8, "num_attention_heads": 8, "num_mel_bins": 16, "max_source_positions": 32}},
    "musicgen_decoder": ENCODER | {"vocab_size": 128, "max_position_embeddings": 32},
    "nemotron": decoder(),
    "nemotron_h": decoder(hybrid_override_pattern="ME*-ME*-", **SIZE, mamba_num_heads=16, mamba_head_dim=8, n_groups=8,
                          ssm_state_size=8, chunk_size=8, n_routed_experts=8, num_experts_per_tok=2,
                          moe_intermediate_size=32, moe_shared_expert_intermediate_size=32, moe_latent_size=16),
    "nemotron-nas": alike(block_configs=[
        {"attention": attention, "ffn": network} for attention, network in zip(
            [{"n_heads_in_group": 2}, {"n_heads_in_group": 1}, {"no_op": True}, {"replace_with_linear": True}] * 2,
            [{"ffn_mult": 0.5}] * 4 + [{"ffn_mult": 7.0}, {"ffn_mult": 0.5}, {"replace_with_linear": True}, {"no_op": True}])],
        intermediate_size=None),
    "new": ENCODER | {"architectures": ["NewForMaskedLM"], "vocab_size": 128, "max_position_embeddings": 32},
    "nomic_bert": ENCODER | {"architectures": ["NomicBertForPreTraining"], "vocab_size": 128, "max_position_embeddings": 32,
                             "activation_function": "swiglu", "rotary_emb_fraction": 1, "qkv_proj_bias": False,
                             "mlp_fc1_bias": False, "mlp_fc2_bias": False},
    "nllb-moe": SEQUENCES | {"num_experts": 8, "encoder_sparse_step": 2, "decoder_sparse_step": 2},
    "olmo": alike(),
    "olmo2": decoder(),
    "olmo3": decoder(**WINDOW),
    "olmo_hybrid": decoder(**DELTA),
    "olmoe": decoder(num_experts=8, num_experts_per_tok=2),
    "openai-gpt": few(),
    "orion": decoder(),
    "Yi": decoder(),
    "xverse": decoder(),
    "aquila": decoder(),
    "PanguEmbedded": decoder(),
    "lladamoe": decoder(intermediate_size=None, num_experts=8, num_experts_per_tok=2, expert_intermediate_size=32, dense_intermediate_size=96, moe_layer_freq=[0] + [1] * 7),
    "llada_experts": decoder(intermediate_size=None, model_type="llada", architectures=["LLaDAMoEModelLM"], num_experts=8, num_experts_per_tok=2, expert_intermediate_size=32),
    "openai_privacy_filter": decoder(**SIZE, **WINDOW, architectures=["OpenAIPrivacyFilterForTokenClassification"], num_labels=8, num_local_experts=8, num_experts_per_tok=2),
    "openelm": {"model_dim": 64, "num_transformer_layers": 8, "head_dim": 4, "num_gqa_groups": 2, "vocab_size": 128, "max_context_length": 32,
                "qkv_multipliers": 0.5, "ffn_multipliers": [0.5, 2.0], "ffn_dim_divisor": 16},
    "opt": {"hidden_size": 64, "num_hidden_layers": 8, "num_attention_heads": 8, "ffn_dim": 96, "vocab_size": 128,
            "max_position_embeddings": 32},
    "owlv2": {"architectures": ["Owlv2ForObjectDetection"], "projection_dim": 64, "text_config": ENCODER | {"vocab_size": 128, "max_position_embeddings": 32},
              "vision_config": ENCODER | {"image_size": 32, "patch_size": 8}},
    "owlvit": {"architectures": ["OwlViTForObjectDetection"], "projection_dim": 64, "text_config": ENCODER | {"vocab_size": 128, "max_position_embeddings": 32},
               "vision_config": ENCODER | {"image_size": 32, "patch_size": 8}},
    "paddleocr_vl": decoder(**SIZE) | {"vision_config": VISION | {"image_size": 224, "patch_size": 56}},
    "ovis2": {"text_config": decoder(), "vision_config": VISION | {"image_size": 32, "patch_size": 8, "hidden_stride": 2, "vocab_size": 37}},
    "paligemma": {"projection_dim": 64, "text_config": {"model_type": "gemma"} | decoder(**SIZE),
                  "vision_config": VISION | {"model_type": "siglip_vision_model", "vision_use_head": False, "image_size": 32,
                                             "patch_size": 8}},
    "paligemma_gemma2": {"model_type": "paligemma", "projection_dim": 64, "text_config": {"model_type": "gemma2"} | decoder(**SIZE),
                         "vision_config": VISION | {"model_type": "siglip_vision_model", "vision_use_head": False, "image_size": 32,
                                                    "patch_size": 8}},
    "parakeet_ctc": {"vocab_size": 128, "encoder_config": {"hidden_size": 64, "num_hidden_layers": 8, "num_attention_heads": 8, "intermediate_size": 96, "num_mel_bins": 16, "subsampling_conv_channels": 8}},
    "pegasus": SEQUENCES,
    "perception_lm": {"text_config": decoder(), "projector_pooling_ratio": 2, "vision_config": {"architecture": "vit_pe_core_large_patch14_336", "model_args": {
        "embed_dim": 64, "depth": 8, "img_size": [56, 56], "init_values": 0.1, "use_post_transformer_norm": False}}},
    "persimmon": alike(),
    "phi": decoder(),
    "phi3": decoder(),
    "phi3_v": decoder(max_position_embeddings=1024),
    "phi4_multimodal": decoder(max_position_embeddings=320, vision_config=VISION | {"image_size": 32, "patch_size": 8, "crop_size": 32},
                               audio_config={"hidden_size": 32, "num_attention_heads": 8, "intermediate_size": 48, "num_blocks": 8, "ext_pw_out_channel": 32, "depthwise_separable_out_channel": 32,
                                             "input_size": 16, "nemo_conv_channels": 8}),
    "phi4mm": decoder(9, max_position_embeddings=1600, vision_lora={"r": 4}, speech_lora={"r": 4},
                      audio_processor={"config": {"attention_dim": 32, "attention_heads": 8, "linear_units": 48, "num_blocks": 8, "ext_pw_out_channel": 32, "depthwise_seperable_out_channel": 32,
                                                  "input_size": 16, "nemo_conv_settings": {"conv_channels": 8}}}),
    "phimoe": decoder(num_local_experts=8, num_experts_per_tok=2, attention_bias=True, lm_head_bias=True),
    "pixtral": VISION | {"image_size": 64, "patch_size": 8},
    "PixArtTransformer2DModel": {"num_attention_heads": 8, "attention_head_dim": 9, "num_layers": 8, "sample_size": 8, "caption_channels": 32,
                                 "cross_attention_dim": 72, "use_additional_conditions": True},
    "plbart": SEQUENCES,
    "pvt_v2": {"architectures": ["PvtV2ForImageClassification"], "hidden_sizes": [16, 32, 64, 64], "num_attention_heads": [8, 8, 8, 8], "mlp_ratios": [2, 2, 2, 2], "image_size": 256},
    "qianfan_ocr": {"text_config": decoder(**SIZE), "vision_config": VISION | {"image_size": [32, 32], "patch_size": [8, 8]}},
    "qwen": alike(intermediate_size=192, kv_channels=8),
    "qwen2": decoder(),
    "qwen2_5_omni": {"thinker_config": {
        "text_config": decoder(max_position_embeddings=512),
        "vision_config": {"depth": 8, "hidden_size": 32, "intermediate_size": 48, "num_heads": 8, "out_hidden_size": 64,
                          "fullatt_block_indexes": [3, 7], "window_size": 28},
        "audio_config": {"d_model": 32, "encoder_ffn_dim": 48, "encoder_layers": 8, "encoder_attention_heads": 8, "num_mel_bins": 16,
                         "max_source_positions": 32, "n_window": 8, "output_dim": 64}}},
    "qwen2_5_vl": decoder(max_position_embeddings=512, vision_config={
        "depth": 8, "hidden_size": 32, "intermediate_size": 48, "num_heads": 8, "out_hidden_size": 64,
        "fullatt_block_indexes": [3, 7], "window_size": 28}),
    "qwen2_5_vl_text": decoder(),
    "qwen3_vl_text": decoder(**SIZE),
    "glm4v_text": decoder(),
    "glm_ocr_text": decoder(),
    "qwen2_audio": {"text_config": decoder(), "audio_config": {
        "d_model": 32, "encoder_ffn_dim": 48, "encoder_layers": 8, "encoder_attention_heads": 8, "num_mel_bins": 16, "max_source_positions": 32}},
    "qwen2_moe": decoder(**EXPERTS, shared_expert_intermediate_size=32),
    "qwen2_vl": decoder(max_position_embeddings=4096, vision_config={
        "depth": 8, "embed_dim": 32, "mlp_ratio": 2, "num_heads": 8, "hidden_size": 64, "patch_size": 56}),
    "qwen3": decoder(**SIZE),
    "qwen3_5": {"text_config": decoder(max_position_embeddings=512, **SIZE, **DELTA), "vision_config": QWEN_TOWER},
    "qwen3_5_moe": {"text_config": decoder(max_position_embeddings=512, **EXPERTS, **SIZE, **DELTA, shared_expert_intermediate_size=32),
                    "vision_config": QWEN_TOWER},
    "qwen3_5_moe_text": decoder(**EXPERTS, **SIZE, **DELTA, shared_expert_intermediate_size=32),
    "qwen3_5_text": decoder(**SIZE, **DELTA),
    "qwen3_moe": decoder(**EXPERTS, **SIZE),
    "qwen3_next": decoder(**EXPERTS, **SIZE, **DELTA, shared_expert_intermediate_size=32),
    "qwen3_vl": {"text_config": decoder(max_position_embeddings=512, **SIZE), "vision_config": STACKED_TOWER},
    "qwen3_omni_moe": {"thinker_config": {
        "text_config": decoder(max_position_embeddings=512, **EXPERTS, **SIZE), "vision_config": STACKED_TOWER,
        "audio_config": {"d_model": 32, "encoder_ffn_dim": 48, "encoder_layers": 8, "encoder_attention_heads": 8, "num_mel_bins": 16,
                         "max_source_positions": 32, "n_window": 8, "n_window_infer": 32, "output_dim": 64, "downsample_hidden_size": 8}}},
    "qwen3_vl_moe": {"text_config": decoder(max_position_embeddings=512, **EXPERTS, **SIZE), "vision_config": STACKED_TOWER},
    "QwenImageTransformer2DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 8, "in_channels": 16, "out_channels": 4,
                                    "joint_attention_dim": 32},
    "recurrent_gemma": alike(attention_window_size=8, lru_width=64, num_key_value_heads=4),
    "rembert": ENCODER | {"architectures": ["RemBertForMaskedLM"], "vocab_size": 128, "input_embedding_size": 32, "output_embedding_size": 96,
                          "max_position_embeddings": 32},
    "poolformer": {"architectures": ["PoolFormerForImageClassification"], "hidden_sizes": [16, 16, 16, 16], "mlp_ratio": 2, "num_labels": 8},
    "regnet": {"architectures": ["RegNetForImageClassification"], "hidden_sizes": [16, 32, 64, 128], "embedding_size": 8, "groups_width": 8, "depths": [4, 4, 4, 4], "num_labels": 8},
    "resnet": {"architectures": ["ResNetForImageClassification"], "hidden_sizes": [32, 64, 128, 256], "embedding_size": 8, "depths": [4, 4, 4, 4], "num_labels": 8},
    "roberta-prelayernorm": ENCODER | {"architectures": ["RobertaPreLayerNormForMaskedLM"], "vocab_size": 128, "max_position_embeddings": 34},
    "roberta": ENCODER | {"architectures": ["RobertaForMaskedLM"], "vocab_size": 128, "max_position_embeddings": 34},
    "roc_bert": ENCODER | {"architectures": ["RoCBertForMaskedLM"], "vocab_size": 128, "max_position_embeddings": 32, "shape_vocab_size": 64,
                 "shape_embed_dim": 32, "pronunciation_vocab_size": 32, "pronunciation_embed_dim": 16},
    "roformer": ENCODER | {"architectures": ["RoFormerForMaskedLM"], "vocab_size": 128, "embedding_size": 32, "max_position_embeddings": 32},
    "SD3Transformer2DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 8, "sample_size": 8,
                              "caption_projection_dim": 64, "joint_attention_dim": 32, "pooled_projection_dim": 16},
    "rwkv": {"hidden_size": 64, "num_hidden_layers": 8, "vocab_size": 128, "context_length": 32},
    "rwkv7": {"hidden_size": 64, "head_dim": 8, "num_hidden_layers": 9, "vocab_size": 128, "max_position_embeddings": 32, "decay_low_rank_dim": 4,
              "a_low_rank_dim": 4, "v_low_rank_dim": 4, "gate_low_rank_dim": 8},
    "seed_oss": decoder(**SIZE),
    "segformer": {"architectures": ["SegformerForImageClassification"], "hidden_sizes": [16, 16, 16, 16], "num_attention_heads": [8, 8, 8, 8],
                  "mlp_ratios": [2, 2, 2, 2], "depths": [2, 2, 2, 2]},
    "siglip": {"text_config": {"hidden_size": 32, "intermediate_size": 96, "num_attention_heads": 8, "num_hidden_layers": 8,
                               "vocab_size": 128, "max_position_embeddings": 32},
               "vision_config": VISION | {"image_size": 32, "patch_size": 8}},
    "siglip2": {"text_config": {"hidden_size": 32, "intermediate_size": 96, "num_attention_heads": 8, "num_hidden_layers": 8,
                                "vocab_size": 128, "max_position_embeddings": 32},
                "vision_config": VISION | {"patch_size": 8, "num_patches": 16}},
    "siglip2_vision_model": ENCODER | {"patch_size": 8, "num_patches": 16, "vision_use_head": False},
    "siglip_text_model": ENCODER | {"vocab_size": 128, "max_position_embeddings": 32},
    "siglip_vision_model": ENCODER | {"image_size": 32, "patch_size": 8, "vision_use_head": False},
    "smollm3": decoder(),
    "smolvlm": {"scale_factor": 2, "text_config": decoder(), "vision_config": VISION | {"image_size": 32, "patch_size": 8}},
    "solar_open": decoder(**SIZE, n_routed_experts=8, num_experts_per_tok=2, moe_intermediate_size=32),
    "speech_to_text": SEQUENCES | {"max_source_positions": 128, "max_target_positions": 32, "conv_channels": 32, "input_feat_per_channel": 16},
    "squeezebert": ENCODER | {"architectures": ["SqueezeBertForMaskedLM"], "vocab_size": 128, "max_position_embeddings": 32, "q_groups": 8, "k_groups": 8, "v_groups": 8, "intermediate_groups": 8, "output_groups": 8},
    "stablelm": decoder(),
    "starcoder2": decoder(),
    "step3p5": decoder(**SIZE, **WINDOW, **EXPERTS, share_expert_dim=32, num_sliding_attention_heads=16, swiglu_limits=[0, 0, 0, 7.0] * 2,
                       swiglu_limits_shared=[0, 16.0, 0, 16.0] * 2, layer_types=["full_attention", *["sliding_attention"] * 3] * 2),
    "step3p7": {"text_config": decoder(**SIZE, **WINDOW, **EXPERTS, share_expert_dim=32, num_sliding_attention_heads=16,
                                       layer_types=["full_attention", *["sliding_attention"] * 3] * 2),
                "vision_config": {"hidden_size": 32, "num_hidden_layers": 8, "num_attention_heads": 8, "mlp_ratio": 1.5, "image_size": 32, "patch_size": 4}},
    "switch_transformers": {"d_model": 64, "d_kv": 8, "d_ff": 96, "num_layers": 4, "num_decoder_layers": 4, "num_heads": 8,
                            "vocab_size": 128, "n_positions": 32, "num_sparse_encoder_layers": 2,
                            "num_sparse_decoder_layers": 2, "num_experts": 8},
    "swin": WINDOWS | {"architectures": ["SwinForImageClassification"]},
    "swinv2": WINDOWS | {"architectures": ["Swinv2ForImageClassification"]},
    "t5": {"d_model": 64, "d_kv": 8, "d_ff": 96, "num_layers": 4, "num_heads": 8, "vocab_size": 128, "n_positions": 32},
    "t5gemma": {"vocab_size": 128, "encoder": decoder(4, **SIZE, **WINDOW),
                "decoder": decoder(4, **SIZE, **WINDOW)},
    "table-transformer": {"architectures": ["TableTransformerForObjectDetection"], "backbone": "resnet50", "d_model": 64, "encoder_layers": 4, "decoder_layers": 4, "encoder_attention_heads": 8,
                          "decoder_attention_heads": 8, "encoder_ffn_dim": 96, "decoder_ffn_dim": 96, "num_queries": 16},
    "timesformer": ENCODER | {"architectures": ["TimesformerForVideoClassification"], "image_size": 24, "patch_size": 8, "num_frames": 3},
    "umt5": {"d_model": 64, "d_kv": 8, "d_ff": 96, "num_layers": 4, "num_heads": 8, "vocab_size": 128, "n_positions": 32},
    "unispeech": SOUND,
    "vaultgemma": decoder(**SIZE, **WINDOW),
    "video_llama_3": {"text_config": decoder(), "vision_config": VISION | {"patch_size": 112}},
    "video_llava": {"text_config": decoder(max_position_embeddings=64), "vision_config": VISION | {"image_size": 16, "patch_size": 8}},
    "videomae": ENCODER | {"architectures": ["VideoMAEForPreTraining"], "image_size": 32, "patch_size": 8, "num_frames": 8, "decoder_hidden_size": 32,
                 "decoder_num_attention_heads": 8, "decoder_intermediate_size": 48, "decoder_num_hidden_layers": 8},
    "vilt": ENCODER | {"architectures": ["ViltForQuestionAnswering"], "vocab_size": 128, "max_position_embeddings": 14, "image_size": 24,
             "patch_size": 8},
    "vision-encoder-decoder": {"encoder": VISION | {"image_size": 32, "patch_size": 8},
                               "decoder": {"model_type": "trocr", "d_model": 64, "decoder_layers": 8, "decoder_attention_heads": 8,
                                           "decoder_ffn_dim": 96, "vocab_size": 128, "max_position_embeddings": 32}},
    "visual_bert": ENCODER | {"architectures": ["VisualBertForPreTraining"], "vocab_size": 128, "max_position_embeddings": 28, "visual_embedding_dim": 24},
    "vipllava": {"text_config": decoder(), "vision_config": VISION | {"image_size": 32, "patch_size": 8}, "vision_feature_layers": [-2, -3, -4, -5, 2]},
    "vit": ENCODER | {"image_size": 32, "patch_size": 8},
    "vit_mae": ENCODER | {"image_size": 40, "patch_size": 8, "decoder_hidden_size": 32, "decoder_num_attention_heads": 8,
                "decoder_intermediate_size": 48, "decoder_num_hidden_layers": 8},
    "vit_msn": ENCODER | {"image_size": 32, "patch_size": 8},
    "vivit": ENCODER | {"architectures": ["VivitForVideoClassification"], "image_size": 24, "num_frames": 5, "tubelet_size": [1, 8, 8]},
    "mlcd_vision_model": ENCODER | {"image_size": 32, "patch_size": 8},
    "pix2struct": {"text_config": {"vocab_size": 128, "hidden_size": 64, "d_kv": 8, "num_heads": 8, "d_ff": 96, "num_layers": 4},
                   "vision_config": {"patch_embed_hidden_size": 48, "hidden_size": 64, "d_kv": 8, "num_attention_heads": 8, "d_ff": 96, "num_hidden_layers": 4, "seq_len": 32}},
    "splinter": ENCODER | {"architectures": ["SplinterForQuestionAnswering"], "vocab_size": 128, "max_position_embeddings": 32},
    "vjepa2": {"hidden_size": 64, "num_hidden_layers": 8, "num_attention_heads": 8, "patch_size": 8, "crop_size": 16, "frames_per_clip": 8, "pred_hidden_size": 64, "pred_num_attention_heads": 8, "pred_num_hidden_layers": 8},
    "voxtral": {"text_config": decoder(**SIZE), "audio_config": {
        "hidden_size": 32, "intermediate_size": 128, "num_hidden_layers": 8, "num_attention_heads": 8, "num_mel_bins": 16,
        "max_source_positions": 32}},
    "AutoencoderKL": {"sample_size": 16, "block_out_channels": [32, 64], "down_block_types": ["DownEncoderBlock2D"] * 2, "up_block_types": ["UpDecoderBlock2D"] * 2},
    "UNet2DConditionModel": {"sample_size": 8, "block_out_channels": [32, 64], "down_block_types": ["CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
                             "up_block_types": ["CrossAttnUpBlock2D", "CrossAttnUpBlock2D"], "cross_attention_dim": 32, "layers_per_block": 1, "transformer_layers_per_block": 2},
    "voxtral_realtime": {"text_config": decoder(**SIZE, **WINDOW), "audio_config": {
        "hidden_size": 32, "intermediate_size": 128, "num_hidden_layers": 8, "num_attention_heads": 8, "head_dim": 8, "num_mel_bins": 16, "sliding_window": 16}},
    "CogVideoXTransformer3DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 8, "in_channels": 4, "out_channels": 4,
                                    "time_embed_dim": 24, "text_embed_dim": 32, "sample_width": 8, "sample_height": 8, "sample_frames": 9,
                                    "max_text_seq_length": 16, "use_rotary_positional_embeddings": True},
    "HunyuanVideoTransformer3DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 4, "num_single_layers": 2, "in_channels": 4,
                                       "out_channels": 4, "text_embed_dim": 32, "pooled_projection_dim": 24},
    "LTXVideoTransformer3DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 8, "in_channels": 8, "out_channels": 8,
                                   "cross_attention_dim": 64, "caption_channels": 32},
    "Flux2Transformer2DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 4, "num_single_layers": 4, "in_channels": 8,
                                "joint_attention_dim": 32},
    "Lumina2Transformer2DModel": {"sample_size": 8, "in_channels": 4, "hidden_size": 64, "num_layers": 4, "num_attention_heads": 8, "num_kv_heads": 4,
                                  "multiple_of": 32, "cap_feat_dim": 32},
    "ZImageTransformer2DModel": {"in_channels": 4, "dim": 96, "n_layers": 4, "n_heads": 8, "n_kv_heads": 8, "cap_feat_dim": 32},
    "AuraFlowTransformer2DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_mmdit_layers": 4, "num_single_dit_layers": 4, "sample_size": 8,
                                   "joint_attention_dim": 32, "caption_projection_dim": 64, "pos_embed_max_size": 36},
    "MochiTransformer3DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 8, "pooled_projection_dim": 48, "in_channels": 4,
                                "text_embed_dim": 32, "max_sequence_length": 16},
    "SanaTransformer2DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 8, "in_channels": 8, "out_channels": 8, "sample_size": 8,
                               "num_cross_attention_heads": 4, "cross_attention_head_dim": 16, "cross_attention_dim": 64, "caption_channels": 32},
    "CosmosTransformer3DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 8, "in_channels": 4, "out_channels": 4, "text_embed_dim": 32,
                                 "adaln_lora_dim": 16, "max_size": [16, 32, 32]},
    "ChronoEditTransformer3DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 8, "in_channels": 8, "out_channels": 4,
                                     "text_dim": 32, "ffn_dim": 96, "image_dim": 48, "added_kv_proj_dim": 64, "pos_embed_seq_len": 16},
    "wan_image": {"model_type": "WanTransformer3DModel", "num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 8, "in_channels": 8, "out_channels": 4,
                  "text_dim": 32, "ffn_dim": 96, "image_dim": 48, "added_kv_proj_dim": 64, "pos_embed_seq_len": 16},
    "WanVACETransformer3DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 8, "in_channels": 4, "out_channels": 4, "text_dim": 32,
                                  "ffn_dim": 96, "vace_layers": [0, 2, 4, 6], "vace_in_channels": 12},
    "StableAudioDiTModel": {"sample_size": 32, "in_channels": 8, "num_layers": 8, "attention_head_dim": 8, "num_attention_heads": 8,
                            "num_key_value_attention_heads": 4, "out_channels": 8, "cross_attention_dim": 48, "global_states_input_dim": 24,
                            "cross_attention_input_dim": 32},
    "HiDreamImageTransformer2DModel": {"patch_size": 2, "in_channels": 4, "num_layers": 4, "num_single_layers": 4, "attention_head_dim": 8, "num_attention_heads": 8,
                                       "caption_channels": [24, 32], "text_emb_dim": 16, "llama_layers": [0, 1, 2, 3, 4, 5, 6, 7]},
    "CogView3PlusTransformer2DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 8, "in_channels": 4, "out_channels": 4,
                                       "text_embed_dim": 32, "time_embed_dim": 24, "condition_dim": 8, "sample_size": 8},
    "CogView4Transformer2DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 8, "in_channels": 4, "out_channels": 4,
                                   "text_embed_dim": 32, "time_embed_dim": 24, "condition_dim": 8, "sample_size": 8},
    "BriaTransformer2DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 4, "num_single_layers": 4, "in_channels": 8,
                               "joint_attention_dim": 32, "guidance_embeds": True},
    "LongCatImageTransformer2DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 4, "num_single_layers": 4, "in_channels": 8,
                                       "joint_attention_dim": 32},
    "OvisImageTransformer2DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 4, "num_single_layers": 4, "in_channels": 8,
                                    "out_channels": 8, "joint_attention_dim": 32},
    "SkyReelsV2Transformer3DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 8, "in_channels": 4, "out_channels": 4, "text_dim": 32,
                                     "ffn_dim": 96},
    "PriorTransformer": {"num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 8, "embedding_dim": 24, "num_embeddings": 28},
    "ChromaTransformer2DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 4, "num_single_layers": 4, "in_channels": 8,
                                 "joint_attention_dim": 32, "approximator_num_channels": 16, "approximator_hidden_dim": 48},
    "HunyuanImageTransformer2DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 4, "num_single_layers": 2, "in_channels": 4,
                                       "out_channels": 4, "text_embed_dim": 32, "text_embed_2_dim": 24, "use_meanflow": True},
    "HunyuanVideo15Transformer3DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 6, "in_channels": 4, "out_channels": 4,
                                         "text_embed_dim": 32, "text_embed_2_dim": 24, "image_embed_dim": 48},
    "WanTransformer3DModel": {"num_attention_heads": 8, "attention_head_dim": 8, "num_layers": 8, "in_channels": 4, "out_channels": 4, "text_dim": 32,
                              "ffn_dim": 96},
    "wav2vec2": SOUND | {"architectures": ["Wav2Vec2ForCTC"], "feat_extract_norm": "layer", "do_stable_layer_norm": True},
    "timesfm": ENCODER | {"head_dim": 8, "patch_length": 4, "context_length": 128, "horizon_length": 8},
    "chronos_bolt": {"model_type": "t5", "architectures": ["ChronosBoltModelForForecasting"], "d_model": 64, "d_kv": 8, "d_ff": 96, "num_layers": 4, "num_heads": 8,
                     "chronos_config": {"context_length": 124, "input_patch_size": 4, "input_patch_stride": 4, "prediction_length": 8}},
    "bigbird_pegasus": SEQUENCES | {"attention_type": "original_full"},
    "lxmert": {"architectures": ["LxmertForPreTraining"], "hidden_size": 64, "num_attention_heads": 8, "intermediate_size": 96, "vocab_size": 128, "max_position_embeddings": 32, "l_layers": 4, "x_layers": 2, "r_layers": 2,
               "visual_feat_dim": 16, "num_qa_labels": 8, "num_object_labels": 8, "num_attr_labels": 8},
    "vision-text-dual-encoder": {"projection_dim": 64, "text_config": ENCODER | {"model_type": "bert", "vocab_size": 128, "max_position_embeddings": 32}, "vision_config": VISION | {"model_type": "clip_vision_model", "image_size": 32, "patch_size": 8}},
    "convbert": ENCODER | {"architectures": ["ConvBertForMaskedLM"], "num_attention_heads": 16, "vocab_size": 128, "max_position_embeddings": 32, "embedding_size": 32},
    "canine": ENCODER | {"architectures": ["CanineForTokenClassification"], "num_hidden_layers": 6, "max_position_embeddings": 128, "local_transformer_stride": 32, "num_hash_buckets": 128},
    "sew": SOUND | {"conv_dim": [4] + 4 * [8] + 4 * [16] + 4 * [32]},
    "sew-d": SOUND | {"architectures": ["SEWDForCTC"], "conv_dim": [4] + 4 * [8] + 4 * [16] + 4 * [32], "position_buckets": 16},
    "time_series_transformer": {"d_model": 64, "encoder_layers": 4, "decoder_layers": 4, "encoder_attention_heads": 8, "decoder_attention_heads": 8, "encoder_ffn_dim": 96, "decoder_ffn_dim": 96, "prediction_length": 32,
                                "num_static_categorical_features": 1, "cardinality": [16]},
    "patchtst": {"num_input_channels": 4, "context_length": 128, "patch_length": 4, "patch_stride": 4, "num_hidden_layers": 8, "d_model": 64, "num_attention_heads": 8, "ffn_dim": 96, "prediction_length": 8, "pooling_type": None},
    "nystromformer": ENCODER | {"architectures": ["NystromformerForMaskedLM"], "vocab_size": 128, "max_position_embeddings": 32, "conv_kernel_size": 3},
    "bros": ENCODER | {"architectures": ["BrosForTokenClassification"], "vocab_size": 128, "max_position_embeddings": 32, "dim_bbox": 4},
    "doge": decoder(),
    "sarvam_moe": decoder(architectures=["SarvamMoEForCausalLM"], **SIZE, **EXPERTS, n_group=2, topk_group=1),
    "sarvam_mla": decoder(**LATENT_SIZES, num_key_value_heads=8, num_experts=8, num_experts_per_tok=2, moe_intermediate_size=32, n_group=2, topk_group=1),
    "moshi_text": {"model_type": "moshi", "architectures": ["MoshiForCausalLM"], "hidden_size": 64, "ffn_dim": 192, "num_hidden_layers": 8, "num_attention_heads": 8, "num_key_value_heads": 4, "vocab_size": 128,
                   "max_position_embeddings": 32, "sliding_window": 8},
    "pegasus_x": SEQUENCES | {"block_size": 8, "num_global_tokens": 4},
    "speech-encoder-decoder": {"encoder": {"model_type": "wav2vec2", "add_adapter": True} | SOUND | {"num_hidden_layers": 4},
                               "decoder": {"model_type": "mbart", "d_model": 64, "decoder_layers": 4, "decoder_attention_heads": 8, "decoder_ffn_dim": 96, "vocab_size": 128, "max_position_embeddings": 32}},
    "step3_text": {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 8, "num_attention_heads": 8, "head_dim": 8, "share_q_dim": 24, "vocab_size": 128, "max_position_embeddings": 32,
                   "moe_num_experts": 8, "moe_top_k": 2, "moe_intermediate_size": 32, "share_expert_dim": 32, "moe_layers_enum": [2, 3, 4, 5, 6, 7]},
    "apriel_hybrid_ssm": decoder(sliding_window=None, hybrid_block_layout=["t", "m2"] * 4, ssm_cfg={"d_state": 8, "d_inner": 128, "d_xb": 64}),
    "funnel": {"architectures": ["FunnelForMaskedLM"], "d_model": 64, "n_head": 8, "d_head": 8, "d_inner": 96, "vocab_size": 128, "block_sizes": [2, 3, 3], "block_repeats": [1, 2, 1]},
    "xclip": {"projection_dim": 32, "prompt_layers": 4, "text_config": ENCODER | {"num_hidden_layers": 4, "vocab_size": 128, "max_position_embeddings": 32},
              "vision_config": ENCODER | {"image_size": 32, "patch_size": 8, "num_frames": 4, "mit_hidden_size": 32, "mit_intermediate_size": 48, "mit_num_hidden_layers": 4}},
    "bert_sentences": ENCODER | {"model_type": "bert", "architectures": ["BertForNextSentencePrediction"], "vocab_size": 128, "max_position_embeddings": 32},
    "roberta_decoder": ENCODER | {"model_type": "roberta", "architectures": ["RobertaForCausalLM"], "is_decoder": True, "vocab_size": 128, "max_position_embeddings": 34},
    "wav2vec2_codebook": {"model_type": "wav2vec2", "architectures": ["Wav2Vec2ForPreTraining"], "num_codevectors_per_group": 8, "codevector_dim": 16, "proj_codevector_dim": 16, "num_negatives": 4} | SOUND,
    "wavlm_voices": {"model_type": "wavlm", "architectures": ["WavLMForXVector"], "use_weighted_layer_sum": True, "tdnn_dim": [16, 16, 16, 16, 24], "xvector_output_dim": 16} | SOUND,
    "wav2vec2-bert": ENCODER | {"feature_projection_input_dim": 16},
    "wav2vec2-conformer": SOUND,
    "wavlm": SOUND,
    "whisper": {"d_model": 64, "encoder_layers": 4, "decoder_layers": 4, "encoder_attention_heads": 8,
                "decoder_attention_heads": 8, "encoder_ffn_dim": 96, "decoder_ffn_dim": 96, "vocab_size": 128,
                "num_mel_bins": 16, "max_source_positions": 32, "max_target_positions": 32},
    "xglm": {"d_model": 64, "ffn_dim": 96, "num_layers": 8, "attention_heads": 8, "vocab_size": 128, "max_position_embeddings": 32},
    "xlm": {"architectures": ["XLMWithLMHeadModel"], "vocab_size": 128, "emb_dim": 64, "n_layers": 8, "n_heads": 8, "max_position_embeddings": 32,
            "n_langs": 4},
    "xlm-roberta-xl": ENCODER | {"architectures": ["XLMRobertaXLForMaskedLM"], "vocab_size": 128, "max_position_embeddings": 34},
    "xlnet": {"architectures": ["XLNetLMHeadModel"], "d_model": 64, "n_layer": 8, "n_head": 8, "d_inner": 96, "vocab_size": 128},
    "xlstm": {"hidden_size": 64, "num_heads": 8, "num_hidden_layers": 8, "vocab_size": 128, "max_position_embeddings": 32, "chunk_size": 8,
              "ffn_round_up_to_multiple_of": 16},
    "xmod": ENCODER | {"architectures": ["XmodForMaskedLM"], "vocab_size": 128, "max_position_embeddings": 34, "languages": ["a", "b", "c"]},
    "yolos": ENCODER | {"architectures": ["YolosForObjectDetection"], "image_size": [32, 64], "patch_size": 8, "num_detection_tokens": 7},
    "youtu": decoder(**LATENT_SIZES, num_key_value_heads=8, q_lora_rank=24),
    "zamba": decoder(layers_block_type=["mamba", "hybrid"] * 4, n_mamba_heads=2, mamba_d_state=8, mamba_dt_rank=4),
    "zamba2": decoder(layers_block_type=["mamba", "hybrid"] * 4, num_mem_blocks=2, adapter_rank=4, n_mamba_heads=16,
                      mamba_ngroups=2, mamba_d_state=8, chunk_size=8),
}
# Models of models/ that are no configurations, and what makes them small.
MODELS = {
    "resnet.mlir": ["resnet-50", "--set=IM=32", "--set=C=8", "--set=NC=16"],
    "dlrm": ["dlrm-stacked", "--set=NR=64", "--set=D=16", "--set=ND=32", "--set=J1=32", "--set=J2=16", "--set=NP=4",
             "--set=O1=32", "--set=O2=32", "--set=O3=32", "--set=O4=16"],
}
# What is said where a pass has made something that another one refuses.
DEFECTS = ("which is taken in this scope", "its peer's graph", "'chakra.")
# All heads of a scan share what they read and write.
ONE_GROUP = ("bamba", "falcon_h1", "granitemoehybrid")
# Scans of so many groups: where there are fewer than ranks that exchange tokens for heads, these work on the same.
FEW_GROUPS = {"zamba2": 2}
# What is made of a sample, of its images or by an encoder, and not of its tokens, each rank makes that has some of its tokens.
PER_SAMPLE = ("siglip", "albert", "bart", "bert", "m2m_100", "mbart", "distilbert", "electra", "clip", "vit",
              "DiTTransformer2DModel", "SD3Transformer2DModel", "FluxTransformer2DModel", "gemma3", "gemma4", "gemma4_unified", "glm5_next", "llama4", "llava",
              "mistral3", "qwen2_vl", "qwen2_5_omni", "qwen2_5_vl", "t5", "mt5", "whisper", "blenderbot", "blenderbot-small", "ernie",
              "marian", "megatron-bert", "pegasus", "plbart", "umt5", "audio-spectrogram-transformer", "aya_vision",
              "clip_text_model", "siglip_text_model", "cohere2_vision", "deit", "idefics3", "ijepa", "aimv2_vision_model", "internvl", "interns1", "interns1_experts", "internvl_qwen3_moe", "internvl_gpt_oss", "internvl_chat_qwen3_moe", "internvl_chat_gpt_oss", "HunyuanImageTransformer2DModel", "internvl_chat", "llava_next", "llava_onevision",
              "paligemma", "PixArtTransformer2DModel", "qwen2_audio", "qwen3_5", "qwen3_5_moe", "qwen3_omni_moe", "qwen3_vl", "qwen3_vl_moe", "QwenImageTransformer2DModel",
              "siglip_vision_model", "smolvlm", "voxtral", "ChronoEditTransformer3DModel", "WanTransformer3DModel", "CogVideoXTransformer3DModel", "HunyuanVideoTransformer3DModel", "LTXVideoTransformer3DModel", "Flux2Transformer2DModel", "Lumina2Transformer2DModel", "ZImageTransformer2DModel", "AuraFlowTransformer2DModel", "MochiTransformer3DModel", "SanaTransformer2DModel", "CosmosTransformer3DModel", "wan_image", "WanVACETransformer3DModel", "StableAudioDiTModel", "HiDreamImageTransformer2DModel", "CogView3PlusTransformer2DModel", "CogView4Transformer2DModel", "BriaTransformer2DModel", "LongCatImageTransformer2DModel", "OvisImageTransformer2DModel", "SkyReelsV2Transformer3DModel", "PriorTransformer", "ChromaTransformer2DModel", "HunyuanVideo15Transformer3DModel", "glm4v", "glm4v_moe", "kimi_k25", "kimi_vl", "nllb-moe",
              "switch_transformers", "t5gemma", "mllama", "data2vec-audio", "hubert", "unispeech",
              "wav2vec2", "ernie_m", "layoutlm", "markuplm", "vision-encoder-decoder", "vilt", "lfm2_vl", "musicgen_decoder", "blip-2", "fuyu", "moonshine", "videomae", "vit_mae", "yolos",
              "deberta", "deberta-v2", "swin", "swinv2", "wavlm", "wav2vec2-conformer", "donut-swin", "segformer", "depth_anything", "dpt", "UNet2DConditionModel",
              "siglip2", "siglip2_vision_model", "wav2vec2-bert", "layoutlmv3", "minicpmv", "minimax_m3_vl", "molmo", "step3p7", "aria", "paddleocr_vl",
              "deepseek_vl_v2", "mistral3_mistral4", "pixtral", "audioflamingo3", "deepseek_vl",
              "bert-generation", "dpr", "flaubert", "fsmt", "mvp", "roberta-prelayernorm", "roc_bert", "xlm", "altclip", "chinese_clip", "mobilebert", "visual_bert", "led", "speech_to_text", "squeezebert",
              "exaone4_5", "glm_ocr", "hunyuan_vl", "qwen3_asr", "dots_ocr", "phi3_v", "glmasr", "lighton_ocr", "internvl_chat_phi3", "llava_next_qwen2", "mistral3_qwen3", "paligemma_gemma2", "musicflamingo", "qianfan_ocr", "janus", "modernvbert", "ovis2",
              "perception_lm", "video_llama_3", "video_llava", "vipllava", "idefics2", "voxtral_realtime", "granite_speech",
              "mobilevit", "mobilevitv2", "cvt", "glpn", "AllegroTransformer3DModel", "Kandinsky5Transformer3DModel", "SanaVideoTransformer3DModel", "LatteTransformer3DModel", "EasyAnimateTransformer3DModel", "UNet2DModel", "OmniGenTransformer2DModel", "HunyuanDiT2DModel",
              "big_bird", "clap", "detr", "lilt", "muse_glimmer", "owlv2", "owlvit", "pvt_v2", "table-transformer", "timesformer", "xlnet",
              "pegasus_x", "speech-encoder-decoder", "doge", "funnel", "xclip", "bros", "nystromformer", "musicgen_melody", "time_series_transformer", "patchtst", "sew", "sew-d", "bigbird_pegasus", "lxmert", "vision-text-dual-encoder", "convbert", "canine", "timesfm", "chronos_bolt", "bert_sentences", "roberta_decoder", "speecht5_tts", "dia", "musicgen", "wav2vec2_codebook", "wavlm_voices", "kosmos-2", "blip_questions", "decision_transformer", "vision_encoder_decoder_gpt2", "vision_encoder_decoder_deit", "donut", "encoder-decoder", "siglip_classifier", "siglip2_classifier", "clip_classifier", "metaclip_2_classifier", "whisper_classifier", "ibert", "kosmos-2.5", "clipseg", "csm", "granite4_vision", "hiera", "mlcd_vision_model", "pix2struct", "splinter", "vjepa2", "longt5", "luke", "sam", "speecht5", "seamless_m4t", "seamless_m4t_v2", "tapas", "blip", "colmodernvbert", "colpali", "colqwen2", "colqwen2_5", "deepseek_ocr", "ernie4_5_moe_vl", "ernie4_5_vl_moe", "florence2", "git", "got_ocr2", "instructblip", "instructblipvideo", "parakeet_ctc", "phi4_multimodal", "phi4mm")
# Samples are compared with those that a rank has at a time.
PAIRS = ("xclip", "vision-text-dual-encoder", "clip", "siglip", "siglip2", "altclip", "chinese_clip", "clap")
# What is made of parameters alone, such as heads of relative positions, or of a condition of the whole batch, each rank makes for
# what it has at a time.
OF_PARAMETERS = ("funnel", "sew-d", "deberta", "deberta-v2", "parakeet_ctc", "swinv2", "voxtral_realtime", "wav2vec2-conformer", "xlnet", "MochiTransformer3DModel")
# The first layer reads zeros, whose gradient nothing needs: where the layer is replayed, it is made.
FROM_ZEROS = ("detr",)
BATCH = 16

# What the table has: a column each.
MECHANISMS = {
    "dp": ["--dp=2"],
    "zero 1": ["--dp=2", "--zero=1"],
    "zero 2": ["--dp=2", "--zero=2"],
    "zero 3": ["--dp=2", "--zero=3"],
    "tp": ["--tp=2"],
    "tp, sp": ["--tp=2", "--sequence-parallel"],
    "cp gather": ["--cp=2", "--cp-comm-type=all_gather"],
    "cp ring": ["--cp=2", "--cp-comm-type=p2p"],
    "cp a2a": ["--cp=2", "--cp-comm-type=a2a"],
    "ep": ["--dp=2", "--ep=2"],
    "pp": ["--pp=2", "--micro-batch=2"],
    "interleaved": ["--pp=2", "--virtual-stages=2", "--schedule=interleaved", "--micro-batch=2"],
    "zb-h1": ["--pp=2", "--schedule=zb-h1", "--micro-batch=2"],
    "recompute": ["--recompute=full"],
}


def run(*command):
    return subprocess.run([TOOLS + command[0], *command[1:]], capture_output=True, text=True)


FOLDER = []
FOLDER_LOCK = Lock()


def folder():
    """The folder of all configurations. Threads that want it first get the same one: of two, one would be deleted when
    nobody refers to it any more, with files that the other thread has just named."""
    with FOLDER_LOCK:
        if not FOLDER:
            FOLDER.append(tempfile.TemporaryDirectory())
            for family, config in CONFIGS.items():
                key = "model_type" if family.islower() else "_class_name"
                (Path(FOLDER[0].name) / f"{family}.json").write_text(json.dumps({key: family} | config))
    return FOLDER[0].name


def model(family):
    return MODELS.get(family) or [str(Path(folder()) / f"{family}.json")]


def compile(family, flags, *more):
    return run("stg-compile", *model(family), f"--batch={BATCH}", *flags, *more)


def why(family, result):
    """The line that says why not."""
    lines = [line for line in result.stderr.splitlines() if "error:" in line] or result.stderr.splitlines() or ["?"]
    text = lines[0].split("error: ", 1)[-1].replace(folder() + "/", "")
    return text if len(lines) == 1 else f"{text} [{len(lines)} errors]"


#===------------------------------------------------------------------------===#
# The table
#===------------------------------------------------------------------------===#


def cell(family, mechanism):
    """None where it works, else why not."""
    result = compile(family, MECHANISMS[mechanism], "--dry-run")
    return why(family, result) if result.returncode else None


def page(families, jobs):
    cells = list(itertools.product(families, MECHANISMS))
    with ThreadPoolExecutor(jobs) as pool:
        found = dict(zip(cells, pool.map(lambda item: cell(*item), cells)))
    reasons, rows = {}, []
    for family in families:
        marks = []
        for mechanism in MECHANISMS:
            reason = found[family, mechanism]
            if reason is None:
                marks.append("yes")
                continue
            number = reasons.setdefault(shorten(family, reason), len(reasons) + 1)
            marks.append(f"({number})")
        rows.append(f"| `{family}` | " + " | ".join(marks) + " |")
    head = ["| family | " + " | ".join(MECHANISMS) + " |", "|---|" + "---|" * len(MECHANISMS)]
    notes = [f"{number}. `{reason}`" for reason, number in reasons.items()]
    return "\n".join(head + rows + [""] + notes)


def shorten(family, reason):
    """The reason for any family."""
    reason = reason.replace(f"{family}.json", "MODEL").replace(model(family)[0], "MODEL").replace("stg-compile: ", "")
    return reason.replace(f"configuration {family},", "configuration MODEL,").replace(f"configuration {family};", "configuration MODEL;")


def split(text):
    before, rest = text.split(BEGIN)
    table, after = rest.split(END)
    return before, table, after


#===------------------------------------------------------------------------===#
# Combinations
#===------------------------------------------------------------------------===#


def has_scans(family):
    """Adapters of what a scan reads are of all tokens, and so on each rank that divides its channels."""
    return any(word in family + json.dumps(CONFIGS.get(family, {})) for word in ("mamba", "linear_num", "lru", "rwkv", "xlstm"))


def combinations():
    pipelines = [(1, "1f1b", 1)] + [(p, s, v) for p in (2, 4) for s, v in
                                    (("gpipe", 1), ("1f1b", 1), ("interleaved", 2), ("zb-h1", 1), ("zb-v", 2),
                                     ("dualpipe-v", 2))]
    for family, dp, (tp, sp), (cp, kind), ep, (pp, schedule, v), zero, recompute, adapters in itertools.product(
        [*CONFIGS, *MODELS], (1, 2, 4, 8), ((1, False), (2, False), (2, True), (4, True)),
        ((1, "none"), (2, "all_gather"), (2, "p2p"), (2, "a2a"), (4, "a2a")), (1, 2, 4), pipelines, range(4),
        ("none", "selective", "full"), (False, True),
    ):
        if dp * tp * cp * pp > 8 or dp % ep or (zero and dp == 1) or (v > 1 and pp * v > 8):
            continue
        # What has no effect is refused, as the table shows.
        if ((tp * cp > 1 or adapters) and family in MODELS) or (pp > 1 and family == "dlrm"):
            continue
        if ep > 1 and "expert" not in json.dumps(CONFIGS.get(family, {})):
            continue
        flags = [f"--dp={dp}", f"--tp={tp}", f"--cp={cp}", f"--pp={pp}", f"--ep={ep}", f"--zero={zero}",
                 f"--recompute={recompute}"]
        same = [f"--tp={tp}"]
        if sp:
            flags.append("--sequence-parallel")
            same.append("--sequence-parallel")
        if cp > 1:
            flags.append(f"--cp-comm-type={kind}")
            # Scans exchange tokens for heads whatever attention does.
            is_repeated = (family in ONE_GROUP + PER_SAMPLE or tp * cp > FEW_GROUPS.get(family, tp * cp)
                           or (adapters and has_scans(family)))
            if kind == "a2a" or is_repeated:
                # Attention has four heads to exchange.
                is_whole = family in PER_SAMPLE or tp * cp > 4
                same += [f"--cp={cp}", f"--cp-comm-type={kind if is_whole else 'a2a'}"]
        if pp > 1:
            flags += [f"--schedule={schedule}", f"--virtual-stages={v}", f"--micro-batch={BATCH // dp // 8 or 1}"]
            # A forward beside a backward, in half of the cases that can have that.
            if ep > 1 and schedule in ("1f1b", "interleaved", "dualpipe-v") and zero % 2:
                flags.append("--overlap-moe-expert-parallel-comm")
        if adapters:
            # Which gradients nothing needs depends on what is replayed.
            flags.append("--lora=rank=4,targets=all-linear")
            same += [flags[-1], f"--recompute={recompute}"]
        elif family in FROM_ZEROS:
            same.append(f"--recompute={recompute}")
        if family in PAIRS + OF_PARAMETERS:
            same += [flag for flag in flags if flag.startswith(("--dp=", "--micro-batch="))]
        yield family, tuple(flags), tuple(same)


def products(manifest):
    total = {}
    for entry in manifest["classes"]:
        for phase, operations in entry["matrix_operations_by_phase"].items():
            if phase != "recompute":
                total[phase] = total.get(phase, 0) + operations * entry["ranks"]
    return total


@lru_cache(maxsize=None)
def expected(family, flags):
    result = compile(family, flags, "--dry-run", "--json")
    return products(json.loads(result.stdout)) if result.returncode == 0 else why(family, result)


def check(case):
    """What became of it: "equal", "refused" and why, or what is wrong."""
    family, flags, same = case
    with tempfile.TemporaryDirectory() as out:
        made = compile(family, flags, "-o", out)
        if made.returncode:
            reason = why(family, made)
            is_said = made.returncode == 1 and made.stderr.count("error: ") == 1
            return ("refused" if is_said and not any(text in reason for text in DEFECTS) else "wrong"), reason
        valid = run("stg-trace", "validate", out)
        if valid.returncode:
            return "wrong", f"is not valid: {valid.stdout.strip()[:300]}"
        have = products(json.loads((Path(out) / "manifest.json").read_text()))
    want = expected(family, same)
    if have != want:
        return "wrong", f"executes {have}, {' '.join(same)} alone {want}"
    return "equal", ""


def draw(cases, count, seed):
    """As many of each family, any of them."""
    families = {}
    for case in cases:
        families.setdefault(case[0], []).append(case)
    generator = random.Random(seed)
    each = -(-count // len(families))
    return [case for group in families.values() for case in generator.sample(group, min(each, len(group)))]


def check_all(subset, jobs, sample=0, seed=0):
    cases = list(combinations())
    chosen = draw(cases, sample, seed) if sample else cases[::subset]
    counts, reasons, wrong = {}, {}, 0
    with ThreadPoolExecutor(jobs) as pool:
        for case, (kind, text) in zip(chosen, pool.map(check, chosen)):
            counts[kind] = counts.get(kind, 0) + 1
            if kind == "wrong":
                wrong += 1
                print("wrong:", case[0], " ".join(case[1]), text, flush=True)
            elif kind == "refused":
                key = re.sub(r"\d+", "N", shorten(case[0], text))
                reasons.setdefault(key, []).append(case)
    for reason, refused in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"refused {len(refused)}: {reason}    e.g. {refused[0][0]} {' '.join(refused[0][1])}")
    families = len({case[0] for case in chosen})
    print(f"{len(chosen)} of {len(cases)} combinations of {families} families: {counts.get('equal', 0)} valid and equal,"
          f" {counts.get('refused', 0)} refused, {wrong} wrong")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--subset", type=int, default=1, metavar="N", help="only one of every N")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="any N, as many of each family")
    parser.add_argument("--seed", type=int, default=0, help="which ones --sample takes")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--table", nargs="*", metavar="FAMILY", help="print the table")
    parser.add_argument("--write", metavar="PAGE", help="put the table into a page")
    parser.add_argument("--check", metavar="PAGE", help="compare the table, or one of every N families, with a page")
    args = parser.parse_args()
    families = [*sorted(CONFIGS, key=str.lower), *MODELS]
    if args.table is not None:
        print(page(args.table or families, args.jobs))
    elif args.write:
        before, _, after = split(Path(args.write).read_text())
        Path(args.write).write_text(before + BEGIN + page(families, args.jobs) + END + after)
    elif args.check:
        return check_page(Path(args.check), families, args.subset, args.jobs)
    else:
        return check_all(args.subset, args.jobs, args.sample, args.seed)
    return 0


def read_table(text):
    """Of a family, what each cell says, with notes in their places."""
    notes = dict(re.findall(r"^(\d+)\. `(.*)`$", text, re.M))
    rows = {}
    for line in text.splitlines():
        parts = [part.strip() for part in line.strip("|").split("|")]
        if line.startswith("| `"):
            rows[parts[0].strip("`")] = [notes.get(mark.strip("()"), mark) for mark in parts[1:]]
    return rows


def check_page(path, families, subset, jobs):
    committed = read_table(split(path.read_text())[1])
    chosen = families[::subset]
    current = read_table(page(chosen, jobs))
    wrong = [f"{family}: {current[family]}, the page has {committed.get(family)}" for family in chosen
             if current[family] != committed.get(family)]
    if list(committed) != families:
        wrong.append(f"the page has {list(committed)}, there are {families}")
    print(*wrong, sep="\n")
    print(f"{len(chosen)} of {len(families)} families, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
