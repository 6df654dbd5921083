#!/usr/bin/env python3
"""Shows what the time of stg-compile depends on, and on what it hardly does.

Every figure is the wall time of a whole process, from its start to its end, the
median of several runs; the runs of different rows take turns, so that whatever else
the machine does falls on all rows alike. Compare the ratios, which hold on any
machine, rather than the times.

Prints Markdown tables.
"""

from functools import partial

import measure

LAYERS = (8, 32, 126, 1000)
# (tensor-parallel, data-parallel) degrees.
MESHES = ((8, 1), (8, 8), (8, 128), (8, 1024), (8, 8192))
MICRO_BATCHES = (1024, 4096, 16384)
STAGES = (64, 128, 256)
MODEL = "llama3-8b"


def plan(tp, dp):
    """The flags of a mesh with one sequence per data-parallel rank."""
    return [f"--tp={tp}", f"--dp={dp}", f"--batch={dp}"] + ["--sequence-parallel"] * (tp > 1)


def show(title, names, commands, runs):
    """One table: time and ratio to the first row."""
    costs = measure.take_turns([partial(measure.run, command) for command in commands], runs)
    times = [measure.median(own).seconds for own in costs]
    measure.print_table(
        [title, "wall time", "ratio"],
        [
            [name, measure.in_seconds(seconds), f"{seconds / times[0]:.2f}"]
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


def show_growth(title, unit, sizes, commands, runs):
    """One table: time by size, and the ratio of the time for each unit to that of the
    first row, which is at most 1 where cost is linear."""
    costs = measure.take_turns([partial(measure.run, command) for command in commands], runs)
    medians = [measure.median(own) for own in costs]
    each = [cost.seconds / size for cost, size in zip(medians, sizes)]
    measure.print_table(
        [title, "wall time", "memory", f"time for each {unit}", "ratio"],
        [
            [
                f"{size:,}",
                measure.in_seconds(cost.seconds),
                measure.in_bytes(cost.peak_bytes),
                measure.in_seconds(seconds),
                f"{seconds / each[0]:.2f}",
            ]
            for size, cost, seconds in zip(sizes, medians, each)
        ],
    )


def show_micro_batches(compiler, runs):
    """A device executes the calls of one turn for each micro-batch."""
    show_growth(
        "micro-batches (4 layers, 1 rank, nothing written)",
        "micro-batch",
        MICRO_BATCHES,
        [
            [compiler, MODEL, "--set=L=4", "--seq=64", f"--batch={count}", "--micro-batch=1", "--dry-run"]
            for count in MICRO_BATCHES
        ],
        runs,
    )


def show_stages(compiler, runs):
    """Each stage has a program of its own."""
    show_growth(
        "stages (256 layers, 128 micro-batches, nothing written)",
        "stage",
        STAGES,
        [
            [
                compiler,
                MODEL,
                "--set=L=256",
                "--seq=64",
                "--batch=128",
                "--micro-batch=1",
                f"--pp={count}",
                "--dry-run",
            ]
            for count in STAGES
        ],
        runs,
    )


def show_files(compiler, runs, scratch):
    """With files; the process does everything from reading the model on. The last row
    is what it takes to start the process and load its libraries."""
    meshes = [(8, 1), (8, 8)]
    show(
        f"{MODEL}, files written",
        [*(f"{tp * dp} ranks" for tp, dp in meshes), "`--version` only"],
        [
            *([compiler, MODEL, *plan(*mesh), "-o", scratch.path / f"traces{mesh}"] for mesh in meshes),
            [compiler, "--version"],
        ],
        runs,
    )


def main():
    parser = measure.parser(__doc__, turns=10)
    parser.add_argument("--compiler", help="path of stg-compile")
    arguments = parser.parse_args()
    compiler = measure.find_tool("stg-compile", arguments.compiler)
    measure.print_machine(arguments.runs)
    show_layers(compiler, arguments.runs)
    show_ranks(compiler, arguments.runs)
    show_micro_batches(compiler, arguments.runs)
    show_stages(compiler, arguments.runs)
    with measure.Scratch(arguments.scratch) as scratch:
        show_files(compiler, arguments.runs, scratch)


if __name__ == "__main__":
    main()
