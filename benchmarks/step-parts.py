#!/usr/bin/env python3
"""Of what parts vTrain's steps of one node are made up, measured and estimated.

    step-parts.py TABLE.csv [--tool PATH] [--jobs N]

TABLE.csv is data/ground_truth_single.csv of VIA-Research/vTrain. Without a pipeline a step of m
micro-batches of L layers takes m (L layer + head) + L tail + fixed. The four numbers are differences
of rows that differ in m and in L alone, in milliseconds, for each hidden size, tp, micro-batch and
dp; the last column is what any row of these is off from what they give, at most, as measured.
"""
import argparse
import collections
import concurrent.futures
import importlib.util
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import accuracy  # noqa: E402

spec = importlib.util.spec_from_file_location(
    "published_steps", os.path.join(os.path.dirname(os.path.abspath(__file__)), "published-steps.py"))
published = importlib.util.module_from_spec(spec)
spec.loader.exec_module(published)


def get_place(row):
    """Layers and micro-batches."""
    return row["hyper"]["layers"], row["gbs"] // row["dp"] // row["mbs"]


def split(seconds):
    """Layer, head, tail and fixed, in ms, of seconds by layers and micro-batches; None if these do
    not say them. And the largest difference of any of them to the sum of its parts."""
    lines = {}
    for layers in sorted({place[0] for place in seconds}):
        counts = sorted(count for own, count in seconds if own == layers)
        if len(counts) > 1:
            first, last = seconds[layers, counts[0]], seconds[layers, counts[-1]]
            slope = (last - first) / (counts[-1] - counts[0])
            lines[layers] = (slope, first - slope * counts[0])
    if len(lines) < 2:
        return None
    low, high = min(lines), max(lines)
    layer, tail = ((lines[high][i] - lines[low][i]) / (high - low) for i in range(2))
    head, fixed = (lines[low][i] - low * of for i, of in enumerate((layer, tail)))
    off = max(abs(m * (n * layer + head) + n * tail + fixed - t) for (n, m), t in seconds.items())
    return [1e3 * part for part in (layer, head, tail, fixed, off)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table")
    parser.add_argument("--tool", default="stg-estimate")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    groups = collections.defaultdict(list)
    for row in published.read_vtrain(options.table):
        if row["pp"] == 1:
            groups[row["hyper"]["hidden"], row["tp"], row["mbs"], row["dp"]].append(row)
    print("hidden  tp  micro-batch  dp |  layer    head   tail  fixed  measured |"
          "  layer    head   tail  fixed  estimated | off")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for key, rows in sorted(groups.items()):
            measured = split({get_place(row): row["value"] for row in rows})
            if not measured:
                continue
            preset = next(accuracy.select(rows, ""))[0][2]
            reports = pool.map(lambda row: accuracy.estimate(options.tool, row, preset), rows)
            ours = split({get_place(row): report["step_seconds"] for row, report in zip(rows, reports)})
            show = [" ".join(f"{part:{width}.3f}" for part, width in zip(parts, (6, 7, 6, 6)))
                    for parts in (measured, ours)]
            print(f"{key[0]:6}  {key[1]:2}  {key[2]:11}  {key[3]:2} | {show[0]}           | {show[1]}            |"
                  f" {measured[4]:.3f}")


if __name__ == "__main__":
    main()
