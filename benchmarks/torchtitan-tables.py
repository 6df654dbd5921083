#!/usr/bin/env python3
"""Compares stg-estimate with the steps and the memory that torchtitan publishes.

    torchtitan-tables.py TABLES.md [--tool PATH] [--jobs N]

TABLES.md is benchmarks/llama3_h100_202412_torchtitan.md of pytorch/torchtitan. Five of its rows are
those that constants were fitted on (`*`); errors of the others are said by themselves.
"""
import argparse
import concurrent.futures
import os
import re
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import accuracy  # noqa: E402

GIB = 2 ** 30
HARDWARE = "H100-96GB HBM2e 2.4TB/s 500W, NVLink, 400Gb/GPU"
# Layers, hidden size, feed-forward and heads.
MODELS = {"8B": (32, 4096, 14336, 32), "70B": (80, 8192, 28672, 64), "405B": (126, 16384, 53248, 128)}
# Of a table the first cells of the rows that constants were fitted on.
FITTED = {"1": ["FSDP", "FSDP + torch.compile"], "2": ["FSDP 8, CP 1"], "4": ["2D"], "5": ["1F1B"]}


def get_degree(text, name):
    match = re.search(name + r" ?(\d+)", text)
    return int(match.group(1)) if match else 1


def read_rows(path):
    """Each row as those of accuracy.py."""
    title, number = "", ""
    with open(path, encoding="utf-8") as file:
        for line in file:
            cells = [cell.strip().replace(",", "") if i else cell.strip()
                     for i, cell in enumerate(line.strip().strip("|").split("|"))]
            if match := re.match(r"\*\*Table (\d)\*\* (.*)", line):
                number, title = match.groups()
            elif len(cells) >= 3 and re.fullmatch(r"[0-9.]+", cells[-1]):
                yield make_row(number, title, cells)


def make_row(number, title, cells):
    kind, gpus = cells[0], int(re.search(r"(\d+) GPUs", title).group(1))
    layers, hidden, ffn, heads = MODELS[re.search(r"(\d+B) model", title).group(1)]
    tp, pp, cp = get_degree(title, "TP"), get_degree(title, "PP"), get_degree(kind, "CP")
    dp = gpus // (tp * pp * cp)
    share = int(re.search(r"Local batch size (\d+)", title).group(1))
    eager = "compile" not in title + kind
    return {
        "id": f"torchtitan-{number} {kind}" + (" eager" if eager else ""), "fitted": kind in FITTED.get(number, []),
        "hyper": {"layers": layers, "hidden": hidden, "ffn": ffn, "heads": heads, "kv_heads": 8, "head_dim": 128,
                  "vocab": 128256, "gated": True},
        "hardware": HARDWARE, "gpus": gpus, "seq": int(cells[1]) if len(cells) > 3 else 8192, "gbs": share * dp,
        "mbs": None, "tp": tp, "pp": pp, "cp": cp, "vp": 2 if kind.startswith("Interleaved") else None, "ep": 1,
        "etp": 1, "dp": dp, "sp": tp > 1, "precision": "fp8" if "Float8" in title + kind else "bf16", "zero": 3,
        "recompute": "full" if "Full" in title else "selective (per-op)", "metric": "tokens_s_gpu",
        "value": float(cells[-2]), "also": {"peak_gib": float(cells[-1])}}


def estimate(tool, row):
    return accuracy.estimate(tool, row, "torchtitan" if row["id"].endswith("eager") else "torchtitan-compile")


def show(name, errors):
    absolute = [abs(error) for error in errors]
    print(f"{name:18} {len(errors):2} rows  mean {100 * statistics.mean(absolute):5.1f} %  "
          f"median {100 * statistics.median(absolute):5.1f} %  worst {100 * max(absolute):5.1f} %  "
          f"bias {100 * statistics.mean(errors):+5.1f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables")
    parser.add_argument("--tool", default="stg-estimate")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    rows = list(read_rows(options.tables))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda row: estimate(options.tool, row), rows))
    errors = {}
    for row, result in zip(rows, results):
        if isinstance(result, str):
            raise SystemExit(f"{row['id']}: {result}")
        measured, memory = accuracy.get_seconds(row), row["also"]["peak_gib"]
        time, needed = result["step_seconds"], result["memory"]["needed_bytes"] / GIB
        print(f"{'*' if row['fitted'] else ' '} {row['id']:44} {row['seq']:6} tokens  {measured:7.2f} s  "
              f"{100 * (time / measured - 1):+6.1f} %  {memory:5.1f} GiB  {100 * (needed / memory - 1):+6.1f} %")
        kind = "fitted" if row["fitted"] else "not fitted"
        errors.setdefault((kind, "time"), []).append(time / measured - 1)
        errors.setdefault((kind, "memory"), []).append(needed / memory - 1)
    for (kind, what), found in sorted(errors.items()):
        show(f"{kind}, {what}", found)


if __name__ == "__main__":
    main()
