"""Adapters of layers of two kinds, which stages of a pipeline cut: all ranks together execute the
products of one rank.

Where layers are replayed, what the first layer reads has a gradient, whether it is an iteration of
a loop or alone in its stage. Where backward is split, a stage that sends nothing back executes each
product in one half only, also where ZeRO-3 keeps what it gathers.
"""

import json
import subprocess
import sys
from pathlib import Path

SIZES = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 8, "num_attention_heads": 8,
         "num_key_value_heads": 4, "head_dim": 8, "vocab_size": 128, "max_position_embeddings": 32,
         "sliding_window": 8}
CONFIGS = {
    "gemma2": SIZES,
    "gpt_oss": SIZES | {"num_local_experts": 8, "num_experts_per_tok": 2},
}
STAGES = {
    "none": ["--schedule=zb-h1 --zero=3", "--schedule=zb-h1 --zero=2", "--schedule=1f1b --zero=3"],
    "full": ["--schedule=interleaved --virtual-stages=2", "--schedule=1f1b", "--schedule=zb-v --virtual-stages=2"],
}


def products(path, *flags):
    run = subprocess.run(
        ["stg-compile", path, "--batch=16", "--lora=rank=4,targets=all-linear", *flags, "--dry-run", "--json"],
        capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{path} {flags}: {run.stderr}")
    total = {}
    for entry in json.loads(run.stdout)["classes"]:
        for phase, operations in entry["matrix_operations_by_phase"].items():
            total[phase] = total.get(phase, 0) + operations * entry["ranks"]
    return total


def main(folder):
    count = wrong = 0
    for family, config in CONFIGS.items():
        path = Path(folder) / f"{family}.json"
        path.write_text(json.dumps({"model_type": family} | config))
        for recompute, plans in STAGES.items():
            want = products(path, f"--recompute={recompute}")
            for plan in plans:
                have = products(path, f"--recompute={recompute}", "--dp=2", "--pp=4", "--micro-batch=1", *plan.split())
                count += 1
                if have != want:
                    wrong += 1
                    print(f"{family} {recompute} {plan}: {have}, one rank has {want}")
    print(f"{count} plans, {wrong} wrong")


main(sys.argv[1])
