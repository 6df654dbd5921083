#!/usr/bin/env python3
"""Compares steps of DeepSeek-V3 with a forward beside a backward with the same tasks one after the other.

    paired-tasks.py [--tool PATH] [--markdown]

DeepSeek publishes (arXiv 2412.19437, sections 1 and 3.2) that 2,048 H800 take 180,000 hours for 10^12 tokens: in 16
stages, with experts over 64 ranks, ZeRO-1, products and rows to experts in 8 bits, and DualPipe. How many layers
stages have is not published; here the last of 32 has the module of further tokens and the heads, and the first one
layer. `dualpipe-v` is DualPipe with one copy of the model. No constant was fitted on this run.
"""
import argparse
import json
import subprocess

LAYERS = [1] + 30 * [2] + [0]
STEP = ["--dp=128", "--ep=64", "--pp=16", "--virtual-stages=2", "--batch=15360", "--micro-batch=1", "--seq=4096",
        "--zero=1", "--mtp=1", "--fp8", "--machine=h800", "--preset=megatron-experts-deepep",
        "--layers-per-stage=" + ",".join(map(str, LAYERS))]
PUBLISHED = 1e12 / (180e3 * 3600)  # Tokens a second and device.
ROWS = {"16 bits": [], "8 bits to experts": ["--dispatch-bytes=D+D/32"]}
ORDERS = {"one after the other": [], "side by side": ["--overlap-moe-expert-parallel-comm"],
          "side by side, weights behind": ["--overlap-moe-expert-parallel-comm", "--delay-wgrad-compute"]}
SCHEDULES = ["dualpipe-v", "interleaved"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="stg-estimate")
    parser.add_argument("--markdown", action="store_true", help="print the table of docs/Schedules.md")
    options = parser.parse_args()
    lines = [["schedule", "rows", "tasks", "step, s", "tokens/s a device", f"of {PUBLISHED:.0f}"]]
    for schedule in SCHEDULES:
        batch = ["--batch=16384"] if schedule == "interleaved" else []  # Whole rounds.
        for rows, bytes_of_rows in ROWS.items():
            for tasks, order in ORDERS.items():
                command = [options.tool, "deepseek-v3", *STEP, f"--schedule={schedule}", *bytes_of_rows, *order, *batch]
                estimate = json.loads(subprocess.run([*command, "--json"], check=True, capture_output=True,
                                                     text=True).stdout)
                rate = estimate["tokens_per_second_and_device"]
                lines.append([f"`{schedule}`" if options.markdown else schedule, rows, tasks,
                              f"{estimate['step_seconds']:.2f}", f"{rate:.0f}", f"{100 * (rate / PUBLISHED - 1):+.1f} %"])
    if options.markdown:
        lines.insert(1, ["---"] * len(lines[0]))
        print("\n".join("| " + " | ".join(line) + " |" for line in lines))
        return
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


if __name__ == "__main__":
    main()
