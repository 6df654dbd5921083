#!/usr/bin/env python3
"""Compares stg-estimate with the steps and the memory that torchtitan publishes.

    torchtitan-tables.py TABLES.md... [--tool PATH] [--jobs N]

TABLES.md is a page in benchmarks of pytorch/torchtitan: llama3_h100_202412_torchtitan.md, five of
whose rows are those that constants were fitted on (`*`); errors of the others are said by
themselves; asyncTP_llama3_h100_2025-06_torchtitan.md, of which products in 8 bits with a scale for
each row are left out, whose casts no preset has; and
llama3-8b_h200_202506_trainy-whitefiber.md.
"""
import argparse
import concurrent.futures
import os
import re
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import accuracy  # noqa: E402

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
            elif title and len(cells) >= 3 and re.fullmatch(r"[0-9.]+", cells[-1]):
                yield make_row(number, title, cells)


def make_row(number, title, cells):
    kind, gpus = cells[0], int(re.search(r"(\d+) GPUs", title).group(1))
    tp, pp, cp = get_degree(title, "TP"), get_degree(title, "PP"), get_degree(kind, "CP")
    share = int(re.search(r"Local batch size (\d+)", title).group(1))
    eager = "compile" not in title + kind
    return describe(
        f"torchtitan-{number} {kind}" + (" eager" if eager else ""), re.search(r"(\d+B) model", title).group(1), gpus, share,
        float(cells[-2]), "Float8" in title + kind, "Full" in title, tp=tp, pp=pp, cp=cp,
        fitted=kind in FITTED.get(number, []), seq=int(cells[1]) if len(cells) > 3 else 8192,
        vp=2 if kind.startswith("Interleaved") else None, also={"peak_gib": float(cells[-1])},
        preset="torchtitan" if eager else "torchtitan-compile")


def describe(name, model, gpus, share, tokens, is_narrow, is_replayed, **others):
    """A row of `tokens` for a second and device, with `share` sequences on each rank of dp."""
    layers, hidden, ffn, heads = MODELS[model]
    row = {"id": name, "fitted": False, "hardware": HARDWARE, "seq": 8192, "mbs": None, "tp": 1, "pp": 1, "cp": 1,
           "vp": None, "ep": 1, "etp": 1, "zero": 3, "metric": "tokens_s_gpu", "also": {}, "preset": "torchtitan-2025"}
    row |= others
    dp = gpus // (row["tp"] * row["pp"] * row["cp"])
    return row | {
        "hyper": {"layers": layers, "hidden": hidden, "ffn": ffn, "heads": heads, "kv_heads": 8, "head_dim": 128,
                  "vocab": 128256, "gated": True},
        "gpus": gpus, "gbs": share * dp, "dp": dp, "sp": row["tp"] > 1, "precision": "fp8" if is_narrow else "bf16",
        "recompute": "full" if is_replayed else "selective (per-op)", "value": tokens}


def read_later_rows(path):
    """Pages of 2025: a table for a model with tensor parallelism, or one for numbers of nodes."""
    title = None
    with open(path, encoding="utf-8") as file:
        for line in file:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if match := re.match(r"#### Llama3 (\d+)b on (\d+) H100s with FSDP=\d+, TP=(\d+), torch.compile, (full)?.*"
                                 r"local batch size (\d+)", line):
                title = match.groups()
            elif title and cells[0] in ("None (bfloat16)", "float8 tensorwise"):
                model, gpus, tp, full, share = title
                for kind, tokens in ("", cells[1]), (" + AsyncTP", cells[2]):
                    yield describe(f"torchtitan-2025 {model}B, {cells[0]}{kind}", model + "B", int(gpus), int(share),
                                   float(tokens), "float8" in cells[0], bool(full), tp=int(tp))
            elif not title and len(cells) == 3 and re.fullmatch(r"[0-9.]+", "".join(cells)):
                nodes, tokens, memory = cells
                yield describe(f"torchtitan-2025 8B on H200, {nodes} nodes", "8B", 8 * int(nodes), 2, float(tokens), True, False,
                               hardware="h200-dgx", also={"peak_gib": float(memory)})


def estimate(tool, row):
    return accuracy.estimate(tool, row, row["preset"])


def show(name, errors):
    absolute = [abs(error) for error in errors]
    print(f"{name:18} {len(errors):2} rows  mean {100 * statistics.mean(absolute):5.1f} %  "
          f"median {100 * statistics.median(absolute):5.1f} %  worst {100 * max(absolute):5.1f} %  "
          f"bias {100 * statistics.mean(errors):+5.1f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="+")
    parser.add_argument("--tool", default="stg-estimate")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    rows = [row for path in options.tables for read in (read_rows, read_later_rows) for row in read(path)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda row: estimate(options.tool, row), rows))
    errors = {}
    for row, result in zip(rows, results):
        if isinstance(result, str):
            raise SystemExit(f"{row['id']}: {result}")
        measured, memory = accuracy.get_seconds(row), row["also"].get("peak_gib")
        time, needed = result["step_seconds"], result["memory"]["needed_bytes"] / accuracy.GIB
        print(f"{'*' if row['fitted'] else ' '} {row['id']:48} {row['seq']:6} tokens  {measured:7.2f} s  "
              f"{100 * (time / measured - 1):+6.1f} %{accuracy.describe_memory(memory, result)}")
        kind = "fitted" if row["fitted"] else "not fitted"
        errors.setdefault((kind, "time"), []).append(time / measured - 1)
        if memory:
            errors.setdefault((kind, "memory"), []).append(needed / memory - 1)
    for (kind, what), found in sorted(errors.items()):
        show(f"{kind}, {what}", found)


if __name__ == "__main__":
    main()
