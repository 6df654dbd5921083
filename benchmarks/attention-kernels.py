#!/usr/bin/env python3
"""Compares the attention of stg-estimate with kernels that NVIDIA measured.

    attention-kernels.py TABLE.csv... [--backend NAME] [--kernel NAME] [--tool PATH] [--jobs N] [--rows]

A TABLE is a file of benchmark/sdpa_benchmark_training/results of NVIDIA/cudnn-frontend: a row is
attention of so many sequences and heads, forward or backward, on the device that it names. Rows of
BACKEND (cudnn) in 16 bits are compared with KERNEL (cudnn) of the machine, those whose order of
additions is fixed and those that failed are left out. Prints the errors for each device, sizes of
heads, mask and pass, with --rows of each row, too.
"""
import argparse
import collections
import concurrent.futures
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MACHINES = {"NVIDIA H200": "h200-dgx", "NVIDIA H100": "h100-80gb-dgx", "NVIDIA B200": "b200-dgx",
            "NVIDIA GB200": "gb200-nvl72", "NVIDIA GB300": "gb300-nvl72", "NVIDIA B300": "b300-dgx",
            "NVIDIA A100": "a100-80gb-dgx"}
MASKS = {"top_left": "causal", "no_mask": "none"}


def find_machine(device):
    return next((machine for name, machine in MACHINES.items()
                 if device == name or device.startswith(name + " ") or device.startswith(name + "-")), None)


def read_rows(path, backend):
    """What is executed, and its milliseconds by pass. Tables have the passes in a row or in two."""
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            machine = find_machine(row["gpu_name"] or "")
            if (row["success"] != "True" or row["backend"] != backend or row["data_type"] != "bfloat16" or
                    row["deterministic_bwd"] == "True" or row["attn_mask"] not in MASKS or
                    row["q_seqlen"] != row["kv_seqlen"] or not machine):
                continue
            window = int(float(row["sliding_window_size"])) if row.get("sliding_window_size") else None
            shape = (machine, MASKS[row["attn_mask"]], window) + tuple(
                int(row[key]) for key in ("batch_size", "q_seqlen", "num_q_heads", "num_kv_heads",
                                          "head_dim_qk", "head_dim_vo"))
            if "time_ms" in row:
                yield shape, {row["profile_pass"]: float(row["time_ms"])}
            else:
                yield shape, {"fwd": float(row["fwd_time_ms"]), "bwd": float(row["bwd_time_ms"])}


def estimate(tool, kernel, shape):
    """Milliseconds of each pass."""
    machine, mask, window, batch, length, heads, kv_heads, keys, values = shape
    with open(os.path.join(HERE, "attention-layer.mlir"), encoding="utf-8") as file:
        model = file.read().replace('"blocks/', '"' + os.path.join(HERE, "..", "models", "blocks") + "/")
    if window is None:
        model = model.replace(" {window = #sym.expr<W>}", "")
    model = model.replace("attention causal", f"attention {mask}")
    with tempfile.TemporaryDirectory() as scratch:
        path, timeline = os.path.join(scratch, "attention.mlir"), os.path.join(scratch, "timeline.json")
        preset = os.path.join(scratch, "kernel.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(model)
        with open(preset, "w", encoding="utf-8") as file:
            json.dump({"description": "another kernel", "based_on": "megatron", "execution": {"attention": kernel}}, file)
        sizes = {"H": heads, "K": kv_heads, "E": keys, "EV": values}
        if window is not None:
            sizes["W"] = window
        # A training step is executed at the clock that it sustains, a benchmark at that of its table.
        process = subprocess.run(
            [tool, path, f"--batch={batch}", f"--seq={length}", f"--preset={preset}", f"--machine={machine}",
             "--machine-set=device.sustained=1", "--machine-set=device.memory.capacity=1 TB", f"--timeline={timeline}"] +
            [f"--set={name}={size}" for name, size in sizes.items()], capture_output=True, text=True)
        if process.returncode:
            raise SystemExit(process.stderr.strip())
        with open(timeline, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
    return {event["args"]["phase"]: event["dur"] / 1e3 for event in events
            if event.get("cat") == "kernel" and event["name"].startswith("attention.")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="+")
    parser.add_argument("--backend", default="cudnn")
    parser.add_argument("--kernel", default="cudnn")
    parser.add_argument("--tool", default="stg-estimate")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rows", action="store_true")
    options = parser.parse_args()
    measured = collections.defaultdict(dict)
    for path in options.tables:
        for shape, times in read_rows(path, options.backend):
            measured[path, shape].update(times)
    if not measured:
        sys.exit("no rows of this backend")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda key: estimate(options.tool, options.kernel, key[1]), measured))
    errors = collections.defaultdict(list)
    for (path, shape), result in zip(measured, results):
        for which, time in measured[path, shape].items():
            if time <= 0:
                continue
            error = result[which] / time - 1
            machine, mask, window, _, length, *_, keys, values = shape
            mask = f"window of {window}" if window is not None else mask
            errors[machine, f"{keys}/{values}", mask, which].append(error)
            if options.rows:
                print(f"{machine:12} {shape[3:]} {mask:14} {which} {time:9.3f} ms {100 * error:+6.1f} %")
    everything = collections.defaultdict(list)
    for (machine, *rest), found in errors.items():
        everything[machine] += found
        print(f"{machine:12} heads of {rest[0]:8} {rest[1]:14} {rest[2]} {len(found):4} rows  "
              f"mean {100 * statistics.mean(map(abs, found)):5.1f} %  bias {100 * statistics.mean(found):+6.1f} %")
    for machine, found in everything.items():
        print(f"{machine:12} {len(found):43} rows  mean {100 * statistics.mean(map(abs, found)):5.1f} %  "
              f"bias {100 * statistics.mean(found):+6.1f} %")


if __name__ == "__main__":
    main()
