#!/usr/bin/env python3
"""Shows what the time of stg-compile depends on, and on what it hardly does.

Every figure is the wall time of a whole process, from its start to its end, the
fastest of several runs; the runs of different rows take turns, so that whatever else
the machine does falls on all rows alike. Compare the ratios, which hold on any
machine, rather than the times.

Prints Markdown tables.
"""

import argparse
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

LAYERS = (8, 32, 126, 1000)
# (tensor-parallel, data-parallel) degrees.
MESHES = ((8, 1), (8, 8), (8, 128), (8, 1024), (8, 8192))
MODEL = "llama3-8b"


def run_once(command):
    """Wall seconds of one process."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def fastest(commands, runs):
    """The minimum over several turns for each of the commands; one turn is thrown
    away, so that files are in the page cache."""
    best = [float("inf")] * len(commands)
    for turn in range(runs + 1):
        for i, command in enumerate(commands):
            with tempfile.TemporaryDirectory() as folder:
                words = [word.replace("OUT", folder) for word in command]
                seconds = run_once(words)
            if turn > 0:
                best[i] = min(best[i], seconds)
    return best


def print_table(header, rows):
    """A Markdown table; all columns but the first are numbers."""
    print("| " + " | ".join(header) + " |")
    print("|---|" + "---:|" * (len(header) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def milliseconds(seconds):
    """Three digits are more than repeat."""
    return f"{seconds * 1000:.0f} ms"


def plan(tp, dp):
    """The flags of a mesh with one sequence per data-parallel rank."""
    return [f"--tp={tp}", f"--dp={dp}", f"--batch={dp}", "--sequence-parallel"]


def show(title, names, commands, runs):
    """One table: time and ratio to the first row."""
    times = fastest(commands, runs)
    print_table(
        [title, "wall time", "ratio"],
        [
            [name, milliseconds(seconds), f"{seconds / times[0]:.2f}"]
            for name, seconds in zip(names, times)
        ],
    )


def show_layers(compiler, runs):
    """The memory of a step is measured over all nodes, so that a thousand layers
    take a little longer; the compiler's passes see one layer."""
    show(
        "layers (64 ranks, nothing written)",
        [str(layers) for layers in LAYERS],
        [
            [compiler, MODEL, *plan(8, 8), f"--set=L={layers}", "--dry-run"]
            for layers in LAYERS
        ],
        runs,
    )


def show_ranks(compiler, runs):
    """Ranks are classes: one program for all of them."""
    show(
        "ranks (32 layers, nothing written)",
        [f"{tp * dp} (tp {tp} x dp {dp})" for tp, dp in MESHES],
        [[compiler, MODEL, *plan(tp, dp), "--dry-run"] for tp, dp in MESHES],
        runs,
    )


def show_files(compiler, runs):
    """With files; the process does everything from reading the model on. The last row
    is what it takes to start the process and load its libraries."""
    meshes = [(8, 1), (8, 8)]
    show(
        f"{MODEL}, files written",
        [*(f"{tp * dp} ranks" for tp, dp in meshes), "`--version` only"],
        [
            *([compiler, MODEL, *plan(*mesh), "-o", "OUT/traces"] for mesh in meshes),
            [compiler, "--version"],
        ],
        runs,
    )


def find_compiler(given):
    """The given one, the one on PATH or that of the build folder."""
    built = Path(__file__).resolve().parent.parent / "build" / "bin" / "stg-compile"
    compiler = given or shutil.which("stg-compile") or built
    if not os.access(compiler, os.X_OK):
        raise SystemExit(f"{compiler} is not an executable; give one with --compiler")
    return str(compiler)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--compiler", help="path of stg-compile")
    parser.add_argument("--runs", type=int, default=10, help="runs of each command")
    arguments = parser.parse_args()
    compiler = find_compiler(arguments.compiler)
    print(f"Fastest of {arguments.runs} runs each on {os.cpu_count()} cores.\n")
    for table in (show_layers, show_ranks, show_files):
        table(compiler, arguments.runs)


if __name__ == "__main__":
    main()
