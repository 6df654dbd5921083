#!/usr/bin/env python3
"""Compares the cost of traces with that of STAGE for the same steps.

Dimensions, layers, degrees, batch and micro-batches are the same: Llama 2 70B, 80 layers,
tensor-parallel 8 and the rest data-parallel, 4096 tokens, one sequence for each device's
share. What the traces count differently is in docs/Conventions.md.

STAGE (github.com/astra-sim/stage) is a checkout of your own, with the Python packages of
its requirements.txt in the interpreter given by --python. It takes minutes, so each shape is
run once, and --kept names a file that its figures are kept in and taken from. It runs in one
thread: ratios are those of its processor time to our wall time, so that whatever else the
machine does counts against us.

Prints Markdown tables.
"""

import json
import os
import subprocess
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import measure

TENSOR_PARALLEL = 8


@dataclass(frozen=True)
class Shape:
    ranks: int
    micro_batches: int = 1

    @property
    def name(self):
        return f"{self.ranks:,} ranks" + (f", {self.micro_batches} micro-batches" if self.micro_batches > 1 else "")

    @property
    def data_parallel(self):
        return self.ranks // TENSOR_PARALLEL

    @property
    def batch(self):
        return self.data_parallel * self.micro_batches


SHAPES = [Shape(8), Shape(64), Shape(64, 8), Shape(1024), Shape(4096)]


def stage_command(python, shape, folder):
    """`llama` with mixed precision is STAGE's gated feed-forward network; its
    --micro_batch counts the sequences of all data-parallel ranks. Tensor parallelism comes
    with sequence parallelism unless it is turned off."""
    return [
        python, "main.py", "--output_dir", folder, "--output_name", "workload.%d.et",
        "--model_type", "llama", "--mixed_precision", "true", "--num_stacks", 80, "--seq", 4096,
        "--tp", TENSOR_PARALLEL, "--dp", shape.data_parallel,
        "--batch", shape.batch, "--micro_batch", shape.data_parallel,
    ]


def own_command(compiler, shape, folder):
    return [
        compiler, "llama2-70b", f"--tp={TENSOR_PARALLEL}", "--sequence-parallel", f"--dp={shape.data_parallel}",
        f"--batch={shape.batch}", "--micro-batch=1", "--quiet", "-o", folder,
    ]


class Stage:
    """Runs STAGE, or remembers what it took."""

    def __init__(self, checkout, python, kept, scratch):
        self.checkout, self.python, self.scratch = checkout, python, scratch
        self.file = Path(kept) if kept else None
        self.costs = json.loads(self.file.read_text()) if self.file and self.file.exists() else {}

    def cost(self, shape):
        if shape.name not in self.costs:
            if not self.checkout:
                raise SystemExit(f"nothing is kept of {shape.name}: give a checkout of STAGE with --stage")
            folder = self.scratch.empty("stage")
            command = stage_command(self.python, shape, folder)
            cost = measure.run(command, cwd=self.checkout, stderr=subprocess.DEVNULL)
            self.costs[shape.name] = asdict(cost) | {"bytes": sum(measure.trace_sizes(folder))}
            if self.file:
                self.file.write_text(json.dumps(self.costs, indent=2) + "\n")
        return self.costs[shape.name]


def compare(compiler, stage, shape, runs, scratch):
    other = stage.cost(shape)

    def own(name="files", *flags):
        folder = scratch.empty(name)
        return measure.run([*own_command(compiler, shape, folder), *flags])

    def plain(sizes):
        return measure.write_plainly(scratch.empty("plain"), sizes, os.cpu_count())

    own()
    sizes = measure.trace_sizes(scratch.path / "files")
    files, bundle, disk = measure.take_turns([own, partial(own, "bundle", "--bundle"), partial(plain, sizes)], runs)
    files, bundle, disk = measure.median(files), measure.median(bundle), measure.median_of(disk)
    theirs = other["processor_seconds"]
    times = [
        shape.name, measure.in_seconds(other["seconds"]), measure.in_seconds(theirs),
        measure.in_seconds(files.seconds), measure.in_seconds(files.processor_seconds), measure.in_seconds(disk),
        measure.in_times(theirs / files.seconds), measure.in_times(theirs / files.processor_seconds),
        measure.in_seconds(bundle.seconds), measure.in_times(theirs / bundle.seconds),
    ]
    sizes = [
        shape.name, measure.in_bytes(other["peak_bytes"]), measure.in_bytes(files.peak_bytes), measure.in_bytes(bundle.peak_bytes),
        measure.in_times(other["peak_bytes"] / files.peak_bytes),
        measure.in_bytes(other["bytes"]), measure.in_bytes(sum(sizes)), measure.in_bytes(sum(measure.trace_sizes(scratch.path / "bundle"))),
    ]
    return times, sizes


def main():
    parser = measure.parser(__doc__, turns=5)
    parser.add_argument("--stage", help="checkout of STAGE")
    parser.add_argument("--python", default="python3", help="interpreter with what STAGE needs (default python3)")
    parser.add_argument("--kept", help="JSON file with what STAGE took, added to")
    parser.add_argument("--shapes", type=int, nargs="+", default=range(len(SHAPES)), metavar="I",
                        help="numbers of the shapes: " + "; ".join(f"{i} {shape.name}" for i, shape in enumerate(SHAPES)))
    arguments = parser.parse_args()
    compiler = measure.find_tool("stg-compile")
    measure.print_machine(arguments.runs)
    rows = []
    with measure.Scratch(arguments.scratch) as scratch:
        stage = Stage(arguments.stage, arguments.python, arguments.kept, scratch)
        for i in arguments.shapes:
            rows.append(compare(compiler, stage, SHAPES[i], arguments.runs, scratch))
    times, sizes = zip(*rows)
    measure.print_table(
        ["Llama 2 70B, tp 8", "STAGE", "its processor time", "files", "their processor time", "as many bytes, plainly",
         "times faster", "in processor time", "bundle", "times faster"], times
    )
    measure.print_table(
        ["Llama 2 70B, tp 8", "STAGE's memory", "files", "bundle", "times less", "bytes of STAGE", "of files", "of bundle"], sizes
    )


if __name__ == "__main__":
    main()
