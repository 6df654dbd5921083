#!/usr/bin/env python3
"""Errors of stg-estimate on runs that its constants were not fitted on.

    cross-validate.py MEASURED.json [--tool PATH] [--only REGEX] [--jobs N] [--by KEY,...] [--csv FILE]

MEASURED.json is that of accuracy.py. The runs of a machine are divided into groups by a KEY (model,
layout, length, cluster). Each group is left out once: the constants below are fitted on the other
runs, and the tool predicts the group with them. Prints, for each machine and key, the mean and the
median of absolute errors, and of each constant the range over all fits, beside what the machine
has.

A fit sweeps each constant by itself (--sweep-machine) and adds what it changes, which is cheap, as
a model is compiled once. The errors are of the tool itself with all constants set (--machine-set).
"""
import argparse
import bisect
import collections
import concurrent.futures
import json
import math
import os
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import accuracy  # noqa: E402

# Of a group of runs, the constants that are fitted on it, as in docs/Rationale/Estimates.md.
CONSTANTS = {
    "vtrain one node": ["host.operation", "host.collective", "host.skew", "device.unaligned"],
    "vtrain many nodes": ["device.sustained", "network.network.share", "network.network.partial_share", "host.skew"],
    "mpt fsdp": ["device.sustained", "device.attention.flash-triton.rate", "network.network.share",
                 "overlap.interference"],
    "dense": ["device.sustained", "overlap.tensor_hidden"],
    "nemo dense": ["device.attention.cudnn-2024.rate"],
    "torchtitan": ["device.sustained"],
}
# Runs of one machine whose constants are the same.
TOGETHER = {"bridge dense": "dense"}
FACTORS = [0.5, 0.7, 0.85, 0.95, 1, 1.05, 1.15, 1.4, 1.8]
# Constants that are shares cannot be more.
MOST = {"overlap.tensor_hidden": 1, "overlap.interference": 1,
        "network.network.share": 1, "device.unaligned": 1}


def get_most(constant):
    """Attention does no more than the peak."""
    return MOST.get(constant, 1 if constant.endswith(".rate") else math.inf)


def get_group(row, key):
    hyper = row["hyper"]
    if key == "model":
        return tuple(hyper.get(name) for name in ("layers", "hidden", "ffn", "heads", "experts"))
    if key == "layout":
        return tuple(row[name] for name in ("tp", "pp", "cp", "ep", "mbs", "vp", "recompute", "precision"))
    return row["seq"] if key == "length" else row["gpus"]


class Runs:
    """The runs of one machine that share constants."""

    def __init__(self, tool, pool, machine):
        self.tool, self.pool, self.machine = tool, pool, machine
        self.rows, self.presets, self.flags, self.measured = [], [], [], []
        self.current, self.curves = {}, {}

    def add(self, row, preset):
        self.rows.append(row)
        self.flags.append(accuracy.get_flags(row, preset))
        self.measured.append(accuracy.get_seconds(row))

    def call(self, flags):
        process = subprocess.run([self.tool] + flags, capture_output=True, text=True)
        if process.returncode:
            raise SystemExit(process.stderr.strip())
        return json.loads(process.stdout)

    def read_constants(self, names):
        constants = self.call(self.flags[0] + ["--list-constants"])["constants"]
        for name in names:
            if name in constants:
                unit = constants[name]["unit"]
                self.current[name] = (constants[name]["value"], "" if unit == "1" else unit)

    def get_value(self, name, factor):
        value, unit = self.current[name]
        return f"{value * factor:.6g} {unit}".strip()

    def sweep(self):
        """Of each constant and run, the seconds at each factor."""
        self.base = [t["step_seconds"] for t in self.pool.map(self.call, self.flags)]
        for name, (value, _) in self.current.items():
            factors = [f for f in FACTORS if value * f <= get_most(name)]
            self.curves[name] = (factors, [list(run) for run in self.pool.map(
                lambda flags: self.get_curve(flags, name, factors), self.flags)])

    def get_curve(self, flags, name, factors):
        points = ",".join(self.get_value(name, factor) for factor in factors)
        return [t["step_seconds"] for t in self.call(flags + [f"--sweep-machine={name}={points}"])]

    def get_change(self, name, run, factor):
        """What the constant at so many times what it is adds to the seconds of a run."""
        factors, curves = self.curves[name]
        at = min(max(bisect.bisect_left(factors, factor), 1), len(factors) - 1)
        low, high = factors[at - 1], factors[at]
        part = (factor - low) / (high - low)
        return curves[run][at - 1] * (1 - part) + curves[run][at] * part - self.base[run]

    def get_loss(self, runs, chosen):
        total = 0
        for run in runs:
            seconds = self.base[run] + sum(self.get_change(n, run, f) for n, f in chosen.items())
            total += abs(math.log(max(seconds, 1e-9) / self.measured[run]))
        return total / len(runs)

    def fit(self, runs):
        """Coordinate by coordinate, on ever finer steps."""
        chosen = {name: 1.0 for name in self.curves}
        best = self.get_loss(runs, chosen)
        for step in (0.2, 0.1, 0.05, 0.02, 0.01):
            improved = True
            while improved:
                improved = False
                for name, (factors, _) in self.curves.items():
                    for candidate in (chosen[name] * (1 - step), chosen[name] * (1 + step)):
                        candidate = min(max(candidate, factors[0]), factors[-1])
                        loss = self.get_loss(runs, {**chosen, name: candidate})
                        if loss < best - 1e-6:
                            best, chosen[name], improved = loss, candidate, True
        return chosen

    def predict(self, run, chosen):
        sets = [f"--machine-set={name}={self.get_value(name, factor)}" for name, factor in chosen.items()]
        return self.call(self.flags[run] + sets)["step_seconds"]


def validate(runs, key):
    """The errors of all runs, each predicted without its group, and the fits."""
    groups = collections.defaultdict(list)
    for run, row in enumerate(runs.rows):
        groups[get_group(row, key)].append(run)
    if len(groups) < 2:
        return None, []
    errors, fits = {}, []
    for group in groups.values():
        others = [run for run in range(len(runs.rows)) if run not in group]
        fits.append(runs.fit(others))
        seconds = runs.pool.map(lambda run: runs.predict(run, fits[-1]), group)
        for run, estimated in zip(group, seconds):
            errors[run] = estimated / runs.measured[run] - 1
    return errors, fits


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measured")
    parser.add_argument("--tool", default="stg-estimate")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--by", default="model,layout")
    parser.add_argument("--csv")
    options = parser.parse_args()
    with open(options.measured, encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    lines = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        all_runs = {}
        for (name, _, preset), row in accuracy.select(rows, options.only):
            name = TOGETHER.get(name, name)
            if name in CONSTANTS:
                key = (name, row["hardware"])
                all_runs.setdefault(key, Runs(options.tool, pool, row["hardware"])).add(row, preset)
        for (name, hardware), runs in all_runs.items():
            runs.read_constants(CONSTANTS[name])
            runs.sweep()
            for key in options.by.split(","):
                errors, fits = validate(runs, key)
                if not errors:
                    continue
                absolute = [abs(error) for error in errors.values()]
                print(f"{name:18} {hardware[:34]:34} {len(errors):4} rows, {len(fits):3} groups by {key:8}"
                      f"mean {100 * statistics.mean(absolute):5.1f} %  "
                      f"median {100 * statistics.median(absolute):5.1f} %", flush=True)
                for constant, (value, unit) in runs.current.items():
                    found = [fit[constant] for fit in fits]
                    print(f"    {constant} {value * min(found):.4g} to {value * max(found):.4g} {unit}, "
                          f"has {value:.4g}")
                lines += [f"{runs.rows[run]['id']},{key},{error:+.4f}" for run, error in errors.items()]
    if options.csv:
        with open(options.csv, "w", encoding="utf-8") as file:
            file.write("id,key,error\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
