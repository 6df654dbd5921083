"""Families in which ops make of parameters what activations are computed with: a weight of a
direction and a length, gates, projections of tables of positions. The gradients of these
parameters are reduced over data ranks once per step, in one collective with all others, and ZeRO
divides them.

What is reduced, gathered, kept and stepped is computed here from the number of parameters
alone, as of a model in which each op reads its parameters itself.

Usage: made_of_parameters.py
"""

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import families
import traces

MICRO_BATCHES = 4
FP32, BF16 = 4, 2

# Of each family the parameters of an odd number of elements, which a shard of two ranks pads.
FAMILIES = {
    "beit": 0, "deberta": 0, "deberta-v2": 0, "diffllama": 0, "donut-swin": 0, "hubert": 0, "mllama": 19,
    "recurrent_gemma": 0, "rwkv": 0, "swin": 0, "swinv2": 0, "umt5": 0, "unispeech": 0, "vit_mae": 0, "wav2vec2": 0,
    "wav2vec2-bert": 0, "wav2vec2-conformer": 0, "wavlm": 0, "llama": 0,
}


def check(family, odd, level, config):
    summary = traces.compile_json(config, "--batch=16", "--dp=2", "--micro-batch=2", f"--zero={level}", "--dry-run")
    (entry,) = summary["classes"]
    size, held = summary["trainable_parameters"], summary["parameters"]
    padded = size + odd
    # Bytes over dp by what is done when; gathers for computation are ZeRO-3's own.
    found = {}
    for each in entry["collectives"]:
        if not (level == 3 and each["kind"] == "all_gather"):
            key = each["kind"], each["phase"]
            found[key] = found.get(key, 0) + each["bytes"]
            # There is one group, and all is reduced in one type.
            assert each["count"] == 1 or each["phase"] != "grad_sync", f"{family}, ZeRO-{level}: {each}"
    memory = entry["memory"]
    found |= {name: memory["persistent_bytes"][name] for name in ("parameter", "optimizer")}
    found["gradient"] = memory["largest_bytes"]["gradient"]
    shard = padded // 2
    wanted = {
        "parameter": BF16 * ((held + odd) // 2 if level == 3 else held),
        "optimizer": 3 * FP32 * (shard if level else size),
        "gradient": FP32 * (shard if level >= 2 else size),
    }
    if level == 0:
        wanted["all_reduce", "grad_sync"] = FP32 * size
    elif level == 1:
        wanted["reduce_scatter", "grad_sync"] = FP32 * padded
    else:
        wanted["reduce_scatter", "bwd"] = MICRO_BATCHES * FP32 * padded
    if level in (1, 2):
        wanted["all_gather", "opt"] = BF16 * shard
    assert found == wanted, f"{family}, ZeRO-{level}: {found}, expected {wanted}"


def main():
    with tempfile.TemporaryDirectory() as folder:
        for family, odd in FAMILIES.items():
            config = Path(folder) / f"{family}.json"
            config.write_text(json.dumps({"model_type": family} | families.CONFIGS[family]))
            for level in range(4):
                check(family, odd, level, config)
    print(f"{len(FAMILIES)} families, 4 levels each")


if __name__ == "__main__":
    main()
