"""Compares mechanisms with steps that really ran.

Inputs/executed_mechanisms.json is what Inputs/run_mechanisms.py prints, which trains small models
in PyTorch and counts every product: attention with a window, in chunks and with a prefix, gated
linear attention in chunks, and an encoder of sound with its convolutions and a decoder.

A run learns the state with which linear attention begins, so that every product of a chunk has its
gradients; it is not among the parameters.

Usage: executed_mechanisms.py mechanisms MODEL_FILE
"""

import json
from pathlib import Path

import checks
from checks import Plan

RUNS = json.loads((Path(__file__).parent / "Inputs" / "executed_mechanisms.json").read_text())
SYMBOLS = ("S", "D", "H", "K", "E", "F", "V", "L", "LK", "LV", "EK", "EL", "MQ")


def whisper(c):
    return {
        "model_type": "whisper",
        "d_model": c["D"],
        "num_mel_bins": c["M"],
        "vocab_size": c["V"],
        "encoder_layers": c["L"],
        "decoder_layers": c["L"],
        "encoder_attention_heads": c["H"],
        "decoder_attention_heads": c["H"],
        "encoder_ffn_dim": c["F"],
        "decoder_ffn_dim": c["F"],
        "max_source_positions": c["T"],
        "max_target_positions": c["S"],
    }


def mechanisms(check, model_file):
    """All runs."""
    for name, run in RUNS.items():
        check.context, c = name, run["config"]
        count = "executed"
        if name == "sound":
            file, flags, count = check.folder / f"{name}.json", [f"--seq={c['S']}"], "full"
            file.write_text(json.dumps(whisper(c)))
        else:
            sizes = {symbol: c[symbol] for symbol in SYMBOLS if symbol in c}
            options = {"W": c["width"], "span": c["span"]} if "span" in c else {"linear": "true"}
            file, flags = model_file, [f"--set={k}={v}" for k, v in {**sizes, **options}.items()]
        plan = Plan(batch=c["B"], dtype="f32", attention_count=count)
        compiled = check.compile(str(file), plan, *flags)
        check.equal("operations in products", compiled.only.products, {k: run[k] for k in ("fwd", "bwd")})
        check.equal("parameters", compiled["parameters"], run["parameters"])


if __name__ == "__main__":
    checks.main(mechanisms)
