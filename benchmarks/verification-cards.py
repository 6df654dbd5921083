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
import concurrent.futures
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import accuracy  # noqa: E402

GIB = 2 ** 30
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
                                           "--preset=megatron-experts", *AHEAD]),
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
    found = []
    for path in options.cards:
        card = os.path.basename(os.path.dirname(os.path.abspath(path)))
        for item, numbers in read_items(path).items():
            if (card, item) in RUNS and "last_10_steps_step_time_ms_avg" in numbers:
                found.append((card, item, numbers))
    if not found:
        parser.error("none of the cards has a run that is known here")

    def estimate(run):
        model, flags = RUNS[run[:2]]
        return accuracy.run(options.tool, [model, *flags, "--zero=1", "--grad-dtype=bf16", "--json"])

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(estimate, found))
    pairs = []
    for (card, item, numbers), result in zip(found, results):
        if isinstance(result, str):
            raise SystemExit(f"{card}, {item}: {result}")
        measured, time = numbers["last_10_steps_step_time_ms_avg"] / 1e3, result["step_seconds"]
        pairs.append((measured, time))
        memory = numbers.get("peak_reserved_memory_gib")
        room = ""
        if memory:
            room = f"  {memory:6.1f} GiB  {100 * (result['memory']['needed_bytes'] / GIB / memory - 1):+6.1f} %"
        print(f"{card + ', ' + item:56} {measured:8.3f} s  estimated {time:8.3f} s  "
              f"{100 * (time / measured - 1):+6.1f} %{room}")
    accuracy.show("cards", pairs)


if __name__ == "__main__":
    main()
