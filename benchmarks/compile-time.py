#!/usr/bin/env python3
"""Shows what the time of stg-compile depends on, and on what it hardly does.

Every figure is the wall time of a whole process, from its start to its end, the
median of several runs; the runs of different rows take turns, so that whatever else
the machine does falls on all rows alike. Compare the ratios, which hold on any
machine, rather than the times.

Usage: compile-time.py               what it depends on
       compile-time.py --families    all models of the library, on 1,024 ranks

Prints Markdown tables.
"""

import json
import re
import subprocess
from functools import partial

import measure

LAYERS = (8, 32, 126, 1000)
# (tensor-parallel, data-parallel) degrees.
MESHES = ((8, 1), (8, 8), (8, 128), (8, 1024), (8, 8192))
MICRO_BATCHES = (1024, 4096, 16384)
STAGES = (64, 128, 256)
MODEL = "llama3-8b"

# A thousand ranks, of which so many divide the model in one way; fewer where it does not divide.
RANKS, DEGREE = 1024, 8
# Models with several kinds of layers, and numbers of these.
GROWING = {
    "deepseek-v3": (61, 122, 610), "gemma-3-27b": (62, 122, 620), "jamba-1.5-large": (72, 144, 720),
    "qwen3-next-80b-a3b": (48, 96, 480), "qwen2.5-vl-7b": (28, 56, 280), "dit-xl-2": (28, 56, 280),
}


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


def divide(compiler, model, mechanism):
    """The command that divides the model over as many ranks as it can, up to eight; none if
    the mechanism is not for it."""
    degree, stages = DEGREE, []
    while degree > 1:
        degrees = [f"--dp={RANKS}", f"--ep={degree}"] if mechanism == "ep" else [
            f"--{mechanism}={degree}", f"--dp={RANKS // degree}"]
        command = [compiler, model, f"--batch={RANKS}", "--micro-batch=1", "--dry-run", *degrees, *stages]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode == 0:
            return command
        # Stages need not have equally many layers.
        layers = re.search(r"do not divide the (\d+) layers", result.stderr)
        if layers and not stages and int(layers[1]) >= degree:
            each, more = divmod(int(layers[1]), degree)
            stages = ["--layers-per-stage=" + ",".join(str(each + (stage < more)) for stage in range(degree))]
        else:
            degree, stages = degree // 2, []
    return None


def show_families(compiler, runs, most):
    """Each model with each way to divide it, and those that take longest."""
    models = json.loads(subprocess.run([compiler, "--list-models", "--json"], capture_output=True, check=True).stdout)
    commands = {}
    for model in models:
        for mechanism in ("tp", "pp", "ep"):
            command = divide(compiler, model["name"], mechanism)
            if command:
                commands[model["name"], mechanism] = command
    costs = measure.take_turns([partial(measure.run, command) for command in commands.values()], runs)
    # What else the machine does adds to time and takes nothing away.
    least = [min(own, key=lambda cost: cost.processor_seconds) for own in costs]
    rows = sorted(zip(least, commands), key=lambda row: -row[0].processor_seconds)
    measure.print_table(
        [f"{RANKS:,} ranks, nothing written", "divided", "processor time", "wall time"],
        [
            [name, next(flag for flag in commands[name, mechanism] if flag.startswith(f"--{mechanism}="))[2:],
             measure.in_seconds(cost.processor_seconds), measure.in_seconds(cost.seconds)]
            for cost, (name, mechanism) in rows[:most]
        ],
    )
    slow = sum(cost.processor_seconds > 0.1 for cost, _ in rows)
    median = rows[len(rows) // 2][0].processor_seconds
    print(f"{len(rows)} plans of {len(models)} models, the least of {runs} runs: half take at most {measure.in_seconds(median)}, "
          f"{slow} more than 0.1 s\n")


def show_growing(compiler, runs):
    """Layers are kinds of layers, so that more of them cost little."""
    for model, numbers in GROWING.items():
        show(
            f"layers of {model} (8 ranks, nothing written)",
            [str(number) for number in numbers],
            [[compiler, model, "--batch=8", "--dp=8", f"--set=L={number}", "--dry-run"] for number in numbers],
            runs,
        )


def main():
    parser = measure.parser(__doc__, turns=10)
    parser.add_argument("--compiler", help="path of stg-compile")
    parser.add_argument("--families", action="store_true", help="all models of the library, on 1,024 ranks")
    parser.add_argument("--most", type=int, default=10, help="rows of the table of families (default 10)")
    arguments = parser.parse_args()
    compiler = measure.find_tool("stg-compile", arguments.compiler)
    measure.print_machine(arguments.runs)
    if arguments.families:
        show_families(compiler, arguments.runs, arguments.most)
        show_growing(compiler, arguments.runs)
        return
    show_layers(compiler, arguments.runs)
    show_ranks(compiler, arguments.runs)
    show_micro_batches(compiler, arguments.runs)
    show_stages(compiler, arguments.runs)
    with measure.Scratch(arguments.scratch) as scratch:
        show_files(compiler, arguments.runs, scratch)


if __name__ == "__main__":
    main()
