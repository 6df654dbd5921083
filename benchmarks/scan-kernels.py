#!/usr/bin/env python3
"""Compares the times that machines have for scans by chunks with measured ones.

    scan-kernels.py ROWS.jsonl [--machine NAME] [--framework NAME] [--fit]

ROWS.jsonl has the rows of a table gdn_perf.parquet of ai-dynamo/aiconfigurator, an object in each
line: forward passes of the gated delta rule, with head_k_dim, head_v_dim, num_v_heads, batch_size,
seq_len, and latency in ms. Any reader of Parquet writes them, such as npm's hyparquet. Prints the
mean error of the kernels that have some work to do, and with --fit the constants that fit best.
"""
import argparse
import json
import math
import os

MACHINES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "machines")
CHUNK = 64
# Smaller ones take what launching their kernels takes.
LEAST_OPERATIONS = 2e9


def load(name):
    """Numbers of a machine in units without prefixes, with those of the machine it is based on."""
    with open(os.path.join(MACHINES, name + ".json"), encoding="utf-8") as file:
        machine = json.load(file)
    numbers = load(machine["based_on"]) if "based_on" in machine else {}
    device = machine["device"]
    for key, value in device.get("peak", {}).items():
        numbers["peak." + key] = value["value"] * 1e12
    for key, value in device.get("scan", {}).get("triton", {}).items():
        numbers[key] = value["value"] * (1e-6 if value["unit"] == "us" else 1)
    return numbers


def get_operations(row):
    """Of a forward pass, as stg.gated_delta_rule counts them."""
    key, value = row["head_k_dim"], row["head_v_dim"]

    def chunk(tokens):
        return tokens * tokens * (key * 6 + value * 4) + (tokens - 1) * tokens * (2 * tokens - 1) // 3

    whole, rest = divmod(row["seq_len"], CHUNK)
    tokens = whole * chunk(CHUNK) + chunk(rest) + row["seq_len"] * key * value * 6
    return row["batch_size"] * row["num_v_heads"] * tokens


def get_error(rows, rate, step, fixed):
    """The mean of absolute logarithms of estimate over measurement."""
    total = 0
    for row in rows:
        time = fixed + max(get_operations(row) / rate, math.ceil(row["seq_len"] / CHUNK) * step)
        total += abs(math.log(time / row["latency"] * 1e3))
    return total / len(rows)


def fit(rows):
    constants, factor = [1e14, 2e-6, 2e-5], 1.3
    best = get_error(rows, *constants)
    while factor > 1.005:
        moved = False
        for place in range(3):
            for change in (factor, 1 / factor):
                other = list(constants)
                other[place] *= change
                if (error := get_error(rows, *other)) < best:
                    best, constants, moved = error, other, True
        if not moved:
            factor = math.sqrt(factor)
    return constants


def show(text, rows, rate, step, fixed):
    error = 100 * (math.exp(get_error(rows, rate, step, fixed)) - 1)
    print(f"{text:8} {len(rows):5} rows  {rate / 1e12:6.1f} TFLOP/s  {step * 1e6:5.2f} us for a chunk  "
          f"{fixed * 1e6:5.1f} us fixed  mean error {error:5.1f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows")
    parser.add_argument("--machine", default="h100-80gb-dgx")
    parser.add_argument("--framework", default="TRTLLM")
    parser.add_argument("--fit", action="store_true")
    options = parser.parse_args()
    with open(options.rows, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    rows = [row for row in rows if row["framework"] == options.framework and row["kernel_source"].startswith("chunk_")
            and row["op_name"] == "gdn" and get_operations(row) > LEAST_OPERATIONS]
    if not rows:
        parser.error(f"{options.rows} has no scan of {options.framework}")
    machine = load(options.machine)
    show("machine", rows, machine["peak.bf16"] * machine["rate"], machine["step"], machine["fixed"])
    if options.fit:
        show("fit", rows, *fit(rows))


if __name__ == "__main__":
    main()
