#!/usr/bin/env python3
"""Compares stg-estimate with the training steps of Megatron-Bridge's verification cards.

    verification-cards.py CARD.yaml... [--tool PATH] [--jobs N]

A CARD is examples/model_verification_cards/MODEL/card.yaml of NVIDIA-NeMo/Megatron-Bridge. Its items
have commands, and the mean times of their last ten steps. Compared are those in RUNS, of which the
flags are what the recipes of the commands say (067f987, 2026-08-22); no constant was fitted on them.
Runs that pages of the project list, too, are those of bridge-tables.py. Some cards say what memory
PyTorch reserved at the peak.
"""
import argparse
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import accuracy  # noqa: E402

STEP_TIME = "last_10_steps_step_time_ms_avg"
H100, GB200 = "--machine=h100-80gb-dgx", "--machine=gb200-nvl72"
AHEAD = ["--mtp=2", "--mtp-repeated"]
SELECTIVE = "--recompute=selective"
# By the identifier of the model and the item of its card: the model here, and flags.
RUNS = {
    ("nemotron-3.5-lightning", "pretrain_performance.GB200"): (
        "nemotron-3.5-lightning-30b-a3b", [GB200, "--seq=8192", "--batch=512", "--micro-batch=2", "--dp=8", "--ep=8",
                                           "--preset=megatron-experts-parts", *AHEAD]),
    ("nemotron-3.5-lightning", "pretrain_performance.H100"): (
        "nemotron-3.5-lightning-30b-a3b", [H100, "--seq=8192", "--batch=512", "--micro-batch=1", "--dp=16", "--ep=8",
                                           SELECTIVE, "--recompute-modules=moe_act,layernorm",
                                           "--optimizer-dtype=bf16", "--offload=activations",
                                           "--offload-saved=dispatch", "--preset=megatron-experts", *AHEAD]),
    ("nemotron-3-super-120b-a12b", "pretrain_performance.H100"): (
        "nemotron-3-super-120b-a12b", [H100, "--seq=4096", "--batch=1280", "--micro-batch=1", "--dp=32", "--pp=2",
                                       "--ep=32", SELECTIVE, "--recompute-modules=layernorm,moe,core_attn",
                                       "--preset=megatron-experts-deepep", *AHEAD]),
    ("qwen3-30b-a3b", "pretrain_performance.H100"): (
        "qwen3-30b-a3b", [H100, "--seq=4096", "--batch=1024", "--micro-batch=1", "--dp=16", "--ep=16",
                          "--preset=megatron-experts-graphs"]),
    # Recipes that are not tuned.
    ("nemotron-3-nano-4b", "pretrain.H100"): (
        "nemotron-3-nano-4b", [H100, "--seq=4096", "--batch=1024", "--micro-batch=1", "--dp=8", "--preset=megatron"]),
    ("qwen3-8b", "pretrain.H100"): (
        "qwen3-8b", [H100, "--seq=4096", "--batch=1024", "--micro-batch=1", "--dp=16", "--preset=megatron"]),
}


def read_items(path):
    """Each item, by the keys above its numbers, with these."""
    keys, items = [], {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            match = re.match(r"( *)([\w.-]+):\s*(\S.*)?$", line)
            if not match:
                continue
            depth, key, value = len(match.group(1)), match.group(2), match.group(3)
            keys = [pair for pair in keys if pair[0] < depth] + [(depth, key)]
            if value and re.fullmatch(r"[0-9.]+", value):
                above = ".".join(name for _, name in keys[:-1] if name not in ("items", "metrics"))
                items.setdefault(above, {})[key] = float(value)
    return items


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cards", nargs="+")
    parser.add_argument("--tool", default="stg-estimate")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    rows, memory = [], {}
    for path in options.cards:
        card = os.path.basename(os.path.dirname(os.path.abspath(path)))
        for item, numbers in read_items(path).items():
            if (card, item) not in RUNS or STEP_TIME not in numbers:
                continue
            model, flags = RUNS[card, item]
            flags = [model, *flags, "--zero=1", "--grad-dtype=bf16", "--json"]
            rows.append((f"{card}, {item}", None, "cards", numbers[STEP_TIME] / 1e3,
                         lambda flags=flags: accuracy.run(options.tool, flags)))
            memory[f"{card}, {item}"] = numbers.get("peak_reserved_memory_gib")
    if not rows:
        parser.error("none of the cards has a run that is known here")
    pairs = accuracy.compare(rows, options.jobs, memory=memory)
    if len(pairs.get("cards", [])) < len(rows):
        raise SystemExit("not all runs have an estimate")


if __name__ == "__main__":
    main()
