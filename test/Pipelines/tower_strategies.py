"""Encoders, encoder-decoders, images and diffusion under strategies.

All ranks together execute the products of one rank; the files are valid. Tensor parallelism
repeats products of which it divides nothing: of patches, time steps and texts, of the vectors
of adaptive norms, and those of the heads of encoders.

Usage: tower_strategies.py
"""

import json
import subprocess
import tempfile
from pathlib import Path

import traces

BATCH = 8
ENCODER = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 4, "intermediate_size": 64}
IMAGE = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 4,
         "intermediate_size": 64, "image_size": 12, "patch_size": 4}
TEXT = {"hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 6,
        "intermediate_size": 64, "vocab_size": 64}
CONFIGS = {
    "bert": {"model_type": "bert", "architectures": ["BertForPreTraining"], "vocab_size": 64,
             "max_position_embeddings": 16} | ENCODER,
    "vit": {"model_type": "vit", "architectures": ["ViTForImageClassification"]} | IMAGE,
    "t5": {"model_type": "t5", "d_model": 32, "d_kv": 8, "num_heads": 4, "d_ff": 64, "num_layers": 3,
           "num_decoder_layers": 3, "vocab_size": 64, "n_positions": 16},
    "whisper": {"model_type": "whisper", "d_model": 32, "encoder_layers": 2, "decoder_layers": 2,
                "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 64,
                "decoder_ffn_dim": 64, "num_mel_bins": 8, "vocab_size": 64,
                "max_source_positions": 16, "max_target_positions": 8},
    "modernbert": {"model_type": "modernbert", "architectures": ["ModernBertForMaskedLM"],
                   "vocab_size": 64, "max_position_embeddings": 16, "local_attention": 4} | ENCODER,
    "clip": {"model_type": "clip", "projection_dim": 16,
             "text_config": {"vocab_size": 64, "max_position_embeddings": 16} | ENCODER,
             "vision_config": IMAGE},
    "dit": {"_class_name": "DiTTransformer2DModel", "num_attention_heads": 4,
            "attention_head_dim": 8, "num_layers": 4, "in_channels": 4, "sample_size": 8},
    "sd3": {"_class_name": "SD3Transformer2DModel", "num_attention_heads": 4,
            "attention_head_dim": 8, "num_layers": 4, "in_channels": 4, "sample_size": 8,
            "caption_projection_dim": 32, "joint_attention_dim": 16, "pooled_projection_dim": 24,
            "dual_attention_layers": [0, 3], "qk_norm": "rms_norm"},
    "llava": {"model_type": "llava", "vision_config": IMAGE | {"num_hidden_layers": 3},
              "text_config": {"num_hidden_layers": 5, "num_attention_heads": 4, "hidden_size": 32,
                              "intermediate_size": 64, "vocab_size": 64}},
    "gemma3": {"model_type": "gemma3", "mm_tokens_per_image": 9, "vision_config": IMAGE | {"image_size": 24},
               "text_config": {"num_hidden_layers": 6, "num_attention_heads": 4, "head_dim": 8,
                               "num_key_value_heads": 2, "hidden_size": 32, "intermediate_size": 64,
                               "vocab_size": 64, "sliding_window": 8}},
    "qwen2_5_vl": {"model_type": "qwen2_5_vl", "num_hidden_layers": 4, "num_attention_heads": 4,
                   "num_key_value_heads": 2, "hidden_size": 32, "intermediate_size": 64, "vocab_size": 64,
                   "vision_config": {"depth": 4, "hidden_size": 32, "intermediate_size": 64, "num_heads": 4,
                                     "patch_size": 7, "window_size": 14, "out_hidden_size": 32,
                                     "fullatt_block_indexes": [1, 3], "in_channels": 3}},
    "flux": {"_class_name": "FluxTransformer2DModel", "num_attention_heads": 4,
             "attention_head_dim": 8, "num_layers": 2, "num_single_layers": 2, "in_channels": 8,
             "joint_attention_dim": 16, "pooled_projection_dim": 24, "guidance_embeds": True},
    "qwen3_vl": {"model_type": "qwen3_vl", "text_config": TEXT | {"head_dim": 8},
                 "vision_config": {"depth": 4, "hidden_size": 32, "intermediate_size": 64, "num_heads": 4, "patch_size": 64,
                                   "out_hidden_size": 32, "num_position_embeddings": 16, "deepstack_visual_indexes": [0, 1, 3]}},
    "internvl": {"model_type": "internvl", "text_config": TEXT | {"model_type": "qwen2"},
                 "vision_config": IMAGE | {"image_size": [16, 16], "patch_size": [4, 4]}},
    "voxtral": {"model_type": "voxtral", "text_config": TEXT | {"head_dim": 8},
                "audio_config": {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4,
                                 "num_mel_bins": 8, "max_source_positions": 16}},
    "beit": {"model_type": "beit", "architectures": ["BeitForImageClassification"], "use_relative_position_bias": True} | IMAGE,
    "qwen_image": {"_class_name": "QwenImageTransformer2DModel", "num_attention_heads": 4, "attention_head_dim": 8,
                   "num_layers": 4, "in_channels": 8, "out_channels": 2, "joint_attention_dim": 16},
    "wan": {"_class_name": "WanTransformer3DModel", "num_attention_heads": 4, "attention_head_dim": 8, "num_layers": 4,
            "in_channels": 2, "out_channels": 2, "text_dim": 16, "ffn_dim": 64},
}
SIZES = {"llava": ["--seq=16"], "gemma3": ["--seq=16"], "qwen2_5_vl": ["--seq=32"], "sd3": ["--set=T=8"], "flux": ["--seq=16", "--set=T=8"],
         "qwen3_vl": ["--seq=32"], "internvl": ["--seq=16"], "voxtral": ["--seq=16"], "qwen_image": ["--seq=16", "--set=T=8"],
         "wan": ["--seq=16", "--set=T=8"]}
STRATEGIES = [
    ["--dp=2", "--zero=1"],
    ["--dp=4", "--zero=3"],
    ["--dp=2", "--zero=2", "--micro-batch=2", "--recompute=full"],
    ["--tp=2"],
    ["--tp=2", "--dp=2"],
    ["--pp=2", "--micro-batch=2"],
    ["--pp=2", "--dp=2", "--micro-batch=2", "--recompute=full", "--zero=1"],
]
# Of a window without a causal mask, whatever ranks exchange.
CONTEXTS = [["--cp=2", f"--cp-comm-type={kind}"] for kind in ("all_gather", "p2p", "a2a")]
MORE = {"modernbert": CONTEXTS}

D, TOKENS = 32, BATCH * 16
HIDDEN = (TOKENS, D, D)
POOLED = [(BATCH, D, D), (BATCH, D, 2)]
TIME = [(BATCH, D, D)]
PATCHES = [(BATCH * 9, 48, D)]
# Products that tensor-parallel ranks repeat: rows, and the extents of a matrix. Those of data
# have no gradient of their input.
REPEATED = {
    "bert": ([], [HIDDEN, *POOLED]),
    "vit": (PATCHES, [(BATCH, D, 2)]),
    "t5": ([], []),
    "whisper": ([(2 * TOKENS, 3 * 8, D)], [(TOKENS, 3 * D, D)]),
    "modernbert": ([], [HIDDEN]),
    "clip": (PATCHES, [(BATCH, D, 16), (BATCH, D, 16), (BATCH, BATCH, 16)]),
    "llava": (PATCHES, [(BATCH * 9, D, D)] * 2),
    "gemma3": ([(BATCH * 36, 48, D)], [(BATCH * 9, D, D)]),
    "qwen2_5_vl": ([(BATCH * 64, 3 * 2 * 49, D)], [(BATCH * 16, 4 * D, 4 * D), (BATCH * 16, 4 * D, D)]),
    "dit": ([(TOKENS, 16, D), (BATCH, 256, D)], [*TIME, (BATCH, D, (4 * 6 + 2) * D), (TOKENS, D, 16)]),
    "sd3": ([(TOKENS, 16, D), (BATCH * 8, 16, D), (BATCH, 256, D), (BATCH, 24, D)],
            [*TIME * 2, (BATCH, D, (3 * 12 + 6 + 2 + 2 * 3 + 2) * D), (TOKENS, D, 16)]),
    "flux": ([(TOKENS, 8, D), (BATCH * 8, 16, D), (BATCH, 256, D), (BATCH, 256, D), (BATCH, 24, D)],
             [*TIME * 3, (BATCH, D, (2 * 12 + 2 * 3 + 2) * D), (TOKENS, D, 8)]),
    "qwen3_vl": ([(BATCH * 64, 3 * 2 * 64**2, D)], [(BATCH * 16, 4 * D, 4 * D), (BATCH * 16, 4 * D, D)] * 4),
    "internvl": ([(BATCH * 16, 48, D)], [(BATCH * 4, 4 * D, D), (BATCH * 4, D, D)]),
    "voxtral": ([(2 * TOKENS, 3 * 8, D)], [(TOKENS, 3 * D, D), (BATCH * 8, 2 * D, D), (BATCH * 8, D, D)]),
    "beit": (PATCHES, [(BATCH, D, 2)]),
    "qwen_image": ([(TOKENS, 8, D), (BATCH, 256, D)],
                   [(BATCH * 8, 16, D), *TIME, (BATCH, D, (4 * 12 + 2) * D), (TOKENS, D, 8)]),
    "wan": ([(TOKENS, 8, D), (BATCH * 8, 16, D), (BATCH, 256, D)], [(BATCH * 8, D, D), *TIME, (BATCH, D, 6 * D), (TOKENS, D, 8)]),
}


def operations(products):
    return sum(2 * rows * inputs * outputs for rows, inputs, outputs in products)


def expected(name, strategy, one):
    """Products of all ranks, from those of one."""
    result = dict(one)
    if "--tp=2" in strategy:
        data, others = map(operations, REPEATED[name])
        result["fwd"] += data + others
        result["bwd"] += data + 2 * others
    if name == "clip" and "--micro-batch=2" in strategy:
        # Texts and images of a micro-batch are compared.
        parts = BATCH // 2 // (2 if "--dp=2" in strategy else 1)
        less = operations([(BATCH, BATCH, 16)]) * (parts - 1) // parts
        result["fwd"] -= less
        result["bwd"] -= 2 * less
    return result


def check(name, command, strategy, one, folder):
    run = subprocess.run(["stg-compile", *command, *strategy, "--json", "-o", folder],
                         capture_output=True, text=True)
    if run.returncode:
        return f"{name} {strategy}: {run.stderr}"
    found = traces.products(json.loads(run.stdout))
    found.pop("recompute", None)
    wanted = expected(name, strategy, one)
    if found != wanted:
        return f"{name} {strategy}: {found}, expected {wanted}"
    valid = subprocess.run(["stg-trace", "validate", folder], capture_output=True, text=True)
    return f"{name} {strategy}: {valid.stdout} {valid.stderr}" if valid.returncode else ""


def main():
    count, wrong = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for name, config in CONFIGS.items():
            path = Path(folder) / f"{name}.json"
            path.write_text(json.dumps(config))
            command = [path, f"--batch={BATCH}", *SIZES.get(name, [])]
            one = traces.products(traces.compile_json(*command, "--dry-run"))
            for strategy in STRATEGIES + MORE.get(name, []):
                wrong.append(check(name, command, strategy, one, Path(folder) / str(count)))
                count += 1
    print(*filter(None, wrong), sep="\n")
    print(f"{count} strategies of {len(CONFIGS)} models, {sum(map(bool, wrong))} wrong")


if __name__ == "__main__":
    main()
