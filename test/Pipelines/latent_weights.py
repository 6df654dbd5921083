"""Compares the bytes of matrices that make keys and values of latents with closed forms.

kv_b_proj is a matrix of r latents and H (n + v) outputs, n and v the size of a head's keys without
positions and of its values. Whether it is executed on latents (naive) or on queries and outputs
(absorbed), it is stored once: elements, and scales of blocks of so many latents and outputs.

Usage: latent_weights.py FOLDER
"""

import json
import sys
from pathlib import Path

import traces
from comparing import equal, finish

r, H, n, e, v, h, L = 64, 8, 32, 16, 48, 64, 3
CONFIG = {"model_type": "deepseek_v3", "hidden_size": h, "intermediate_size": 96, "moe_intermediate_size": 32,
          "num_hidden_layers": L, "num_attention_heads": H, "num_key_value_heads": H, "kv_lora_rank": r,
          "q_lora_rank": 32, "qk_nope_head_dim": n, "qk_rope_head_dim": e, "v_head_dim": v, "vocab_size": 128,
          "n_routed_experts": 8, "n_shared_experts": 1, "num_experts_per_tok": 2, "first_k_dense_replace": 1,
          "n_group": 1, "topk_group": 1, "max_position_embeddings": 2048}
# Bytes of eight elements, of a scale, and the latents that share one; None: all.
FORMATS = {"fp8": (8, 4, None), "int8": (8, 4, None), "mxfp8": (8, 1, 32), "int4": (4, 2, 128), "mxfp4": (4, 1, 32),
           "nvfp4": (4, 1, 16)}


def parameters(path, *flags):
    summary = traces.compile_json(path, "--batch=1", "--kv-len=1000", "--seq=2", *flags, "--dry-run")
    return summary["classes"][0]["memory"]["persistent_bytes"]["parameter"]


def main(folder):
    path = Path(folder) / "model.json"
    path.write_text(json.dumps(CONFIG))
    outputs = H * (n + v)
    for name, (eight, scale, block) in FORMATS.items():
        for tp in (1, 2):
            flags = (f"--weight-dtype={name}", f"--tp={tp}")
            # What the matrix has less than in two bytes, whose other matrices are as they are.
            kept = "router,q_*,kv_a_proj*,o_proj,*gate*,*up*,*down*"
            wide = parameters(path, f"--tp={tp}")
            blocks = -(-r // block) if block else 1
            own = outputs // tp * (r * eight // 8 + blocks * scale)
            want = wide - L * (2 * r * outputs // tp - own)
            for form in "naive", "absorbed", "auto":
                found = parameters(path, *flags, f"--mla-form={form}", f"--weight-keep={kept}")
                equal(f"{name}, tp {tp}, {form}", found, want)
            both = {parameters(path, *flags, f"--mla-form={form}") for form in ("naive", "absorbed", "auto")}
            equal(f"{name}, tp {tp}: all matrices", len(both), 1)
        # A prompt in parts: the first steps are naive, others may not be.
        for chunk in (300, 128, 1000):
            traces.run("stg-compile", path, "--requests=(1000,0)", f"--chunk={chunk}", "--steps=12",
                       f"--weight-dtype={name}", "--dry-run")


main(sys.argv[1])
finish()
