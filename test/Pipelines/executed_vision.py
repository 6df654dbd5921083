"""Compares models of images and texts with steps that really ran.

Inputs/executed_vision.json is what Inputs/run_vision.py prints, which trains small models in
PyTorch and counts every product and everything that is saved for backward: towers of images, in
windows and whole, what makes tokens of images, and the text behind them.

Usage: executed_vision.py vision
"""

import json
from pathlib import Path

import checks
from checks import FP32, Plan

RUNS = json.loads((Path(__file__).parent / "Inputs" / "executed_vision.json").read_text())


def text(c):
    return {
        "hidden_size": c["D"],
        "intermediate_size": c["F"],
        "num_hidden_layers": c["L"],
        "num_attention_heads": c["H"],
        "num_key_value_heads": c["K"],
        "vocab_size": c["V"],
        "max_position_embeddings": c["S"],
        "tie_word_embeddings": c["tied"],
    }


def tower(v):
    return {
        "hidden_size": v["D"],
        "intermediate_size": v["F"],
        "num_hidden_layers": v["L"],
        "num_attention_heads": v["H"],
        "num_channels": 3,
        "patch_size": 2,
        "image_size": 2 * v["side"],
    }


def llava(c):
    vision = tower(c["vision"]) | {"hidden_act": "gelu"}
    return {"text_config": {"model_type": "llama"} | text(c), "vision_config": vision, "vision_feature_layer": -1}


def gemma3(c):
    own = {"head_dim": c["E"], "sliding_window": c["S"]}
    tokens = (c["vision"]["side"] // c["by"]) ** 2
    return {"text_config": text(c) | own, "vision_config": tower(c["vision"]), "mm_tokens_per_image": tokens}


def qwen2_5_vl(c):
    v = c["vision"]
    return text(c) | {
        "vision_config": {
            "depth": v["L"],
            "hidden_size": v["D"],
            "intermediate_size": v["F"],
            "num_heads": v["H"],
            "out_hidden_size": c["D"],
            "in_channels": 3,
            "temporal_patch_size": 1,
            "patch_size": 2,
            "window_size": 2 * round(v["window"] ** 0.5),
            "fullatt_block_indexes": v["full"],
        }
    }


def llama4(c):
    # Dense layers, of which each rotates positions.
    own = {"head_dim": c["E"], "intermediate_size_mlp": c["F"], "moe_layers": [], "no_rope_layers": [1] * c["L"],
           "attention_chunk_size": c["S"], "num_local_experts": 1}  # fmt: skip
    vision = tower(c["vision"]) | {
        "vision_output_dim": c["DP"], "projector_input_dim": c["DP"], "projector_output_dim": c["DP"],
    }  # fmt: skip
    return {"text_config": text(c) | own, "vision_config": vision}


MODELS = {"llava": llava, "gemma3": gemma3, "qwen2_5_vl": qwen2_5_vl, "llama4": llama4}


def vision(check):
    """All runs."""
    for name, run in RUNS.items():
        check.context, c = name, run["config"]
        file = check.folder / f"{name}.json"
        file.write_text(json.dumps({"model_type": name} | MODELS[name](c)))
        compiled = check.compile(str(file), Plan(batch=c["B"], dtype="f32"), f"--seq={c['S']}")
        found = compiled.only
        check.equal("operations in products", found.products, {k: run[k] for k in ("fwd", "bwd")})
        check.equal("parameters", compiled["parameters"], run["parameters"])
        check.equal("gradients", found.largest["gradient"], FP32 * run["trained"])
        check.equal("activations", found.largest["activation"], FP32 * run["saved"])


if __name__ == "__main__":
    checks.main(vision)
