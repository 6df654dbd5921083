#!/usr/bin/env python3
"""Compares stg-estimate with all training steps that vTrain and llm-foundry publish.

    published-steps.py TABLE... [--fitted MEASURED.json] [--tool PATH] [--jobs N] [--rows FILE]

A TABLE is data/ground_truth_single.csv or ground_truth_multi.csv of VIA-Research/vTrain, or
scripts/train/benchmarking/README.md of mosaicml/llm-foundry. Rows of MEASURED.json, a file as
accuracy.py reads it, which constants were fitted on, are left out. Prints the errors of each group. With --rows it writes
the rows that are left to FILE instead, for regret.py and accuracy.py.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import accuracy  # noqa: E402

VTRAIN_NODE = "A100-80GB-SXM one node"
VTRAIN_NODES = "A100-80GB-SXM x8/node, 800 Gb/s IB per node"
# Layers, hidden size and heads of MPT models.
MPT = {"125m": (12, 768, 12), "350m": (24, 1024, 16), "760m": (24, 1536, 12), "1b": (24, 2048, 16),
       "3b": (32, 2560, 20), "7b": (32, 4096, 32), "13b": (40, 5120, 40), "30b": (48, 7168, 56),
       "70b": (80, 8192, 64)}
MPT_HARDWARE = {"h100_80gb": "H100-80GB-SXM", "a100_80gb": "A100-80GB-SXM, 1600Gb RoCE/node",
                "a100_40gb": "A100-40GB-SXM, 1600Gb RoCE/node"}


def make_row(name, layers, hidden, heads, vocabulary, **own):
    hyper = {"layers": layers, "hidden": hidden, "ffn": 4 * hidden, "heads": heads, "kv_heads": heads,
             "head_dim": hidden // heads, "vocab": vocabulary, "gated": False, "tied": True}
    return {"id": name, "model": f"{layers} layers of {hidden}", "source": "published", "hyper": hyper, "cp": 1, "vp": 1, "ep": 1, "etp": 1, "sp": False, "also": None, **own}


def read_vtrain(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        for cells in csv.reader(file):
            if not cells or not cells[0][:1].isdigit():
                continue
            has_many = len(cells) == 12  # The first is the number of parameters.
            kind = f"m-{cells[0]}" if has_many else "s-"
            gpus, batch, micro, hidden, heads, layers, seq, tp, dp, pp = map(int, cells[has_many:-1])
            yield make_row(f"vtrain-{kind}L{layers}H{hidden}-g{gpus}-t{tp}d{dp}p{pp}-b{batch}m{micro}",
                           layers, hidden, heads, 50257, gpus=gpus, seq=seq, gbs=batch, mbs=micro, tp=tp, dp=dp,
                           pp=pp, recompute="full", precision="fp16", zero=0, metric="step_s",
                           hardware=VTRAIN_NODES if has_many else VTRAIN_NODE, value=float(cells[-1]) / 1000)


def read_mpt(path):
    heads = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if line.startswith("|") and cells[0] == "Model":
                heads = cells
            elif line.startswith("|") and cells[0] in MPT:
                row = dict(zip(heads, cells))
                gpus, seq = int(row["# GPUs"]), int(row["SeqLen (T)"])
                kind = {"amp_fp8": "fp8-default", "amp_bf16": "bf16-default"}.get(row["Precision"], "bf16")
                yield make_row(f"mpt-{cells[0]}-{row['GPU']}-g{gpus}-s{seq}-{kind}", *MPT[cells[0]], 50368,
                               gpus=gpus, seq=seq, gbs=int(row["GlobalBatchSize"]), mbs=int(row["MicroBatchSize"]),
                               tp=1, dp=gpus, pp=1, hardware=MPT_HARDWARE[row["GPU"]], metric="tokens_s_gpu",
                               recompute="full" if row["Activation Checkpointing"] == "True" else "none",
                               precision=kind.split("-")[0],
                               zero=3 if row["Sharding Strategy"] == "FULL_SHARD" else 2,
                               value=float(row["Throughput (T/s/GPU)"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="+")
    parser.add_argument("--fitted")
    parser.add_argument("--tool", default="stg-estimate")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rows")
    options = parser.parse_args()
    fitted = set()
    if options.fitted:
        with open(options.fitted, encoding="utf-8") as file:
            fitted = {row["id"] for row in json.load(file)["rows"]}
    rows = [row for path in options.tables for row in (read_vtrain if path.endswith(".csv") else read_mpt)(path)]
    work = list(accuracy.select([row for row in rows if row["id"] not in fitted], ""))
    print(f"{len(rows)} rows, {len(rows) - len(work)} of them left out")
    if options.rows:
        with open(options.rows, "w", encoding="utf-8") as file:
            json.dump({"rows": [row for _, row in work]}, file)
        return
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda w: accuracy.estimate(options.tool, w[1], w[0][2]), work))
    pairs = {}
    for ((name, _, _), row), result in zip(work, results):
        if isinstance(result, str):
            print(f"{row['id']}: {result}", file=sys.stderr)
        else:
            pairs.setdefault(name, []).append((accuracy.get_seconds(row), result["step_seconds"]))
    for name, values in pairs.items():
        accuracy.show(name, values)


if __name__ == "__main__":
    main()
