#!/usr/bin/env python3
"""What traces cost against ranks, layers and micro-batches.

A bundle of all ranks, the files of one rank out of it, and the files of some ranks; the
rest of the step is kept. For each of them a straight line is fitted: what it costs at all,
and what each further rank, layer or micro-batch costs.

Prints Markdown tables, and plots them as SVG with gnuplot.
"""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import measure

# Pipelines of 4 stages; 8 micro-batches of one sequence unless they are what varies.
MODEL = ["llama3-70b", "--tp=8", "--pp=4", "--micro-batch=1", "--quiet"]
STAGE_RANKS = 32


def step(ranks=256, layers=80, micro_batches=8):
    data_parallel = ranks // STAGE_RANKS
    return [*MODEL, f"--dp={data_parallel}", f"--batch={micro_batches * data_parallel}", f"--set=L={layers}"]


@dataclass(frozen=True)
class Curve:
    """A quantity, its values, and those up to which files are written."""

    name: str
    unit: str
    values: tuple
    most_for_files: int
    # Ranks whose files are written; None for all of them.
    ranks: int | None = None

    def step(self, value):
        return step(**{self.name.replace("-", "_"): value})


CURVES = (
    Curve("ranks", "rank", (32, 128, 512, 2048, 32_768, 262_144, 1_048_576), 2048),
    Curve("layers", "layer", (8, 40, 80, 160, 320, 640), 640, ranks=32),
    Curve("micro-batches", "micro-batch", (4, 8, 16, 32, 64, 128), 128, ranks=32),
)
SERIES = ("bundle", "one rank out of it", "files")


def measure_curve(curve, tools, runs, scratch):
    """For each series the (value, seconds, bytes) of its points."""
    points = {name: [] for name in SERIES}
    for value in curve.values:
        actions = make_actions(curve, curve.step(value), value <= curve.most_for_files, tools, scratch)
        results = measure.take_turns(list(actions.values()), runs)
        for name, costs in zip(actions, results):
            folder = scratch.path / name
            points[name].append((value, measure.median(costs).seconds, sum(measure.trace_sizes(folder))))
    return points


def make_actions(curve, step, with_files, tools, scratch):
    compiler, translate = tools
    bundle = scratch.path / "bundle" / "traces.stgb"

    def run(name, *command):
        folder = scratch.empty(name)
        return measure.run([*command, folder])

    actions = {
        "bundle": lambda: run("bundle", compiler, *step, "--bundle", "-o"),
        "one rank out of it": lambda: run(
            "one rank out of it", translate, "--unbundle", bundle, "--ranks=9:10", "--quiet", "--trace-dir"
        ),
    }
    if with_files:
        some = [f"--ranks=0:{curve.ranks}"] if curve.ranks else []
        actions["files"] = lambda: run("files", compiler, *step, *some, "-o")
    return actions


def fit(points):
    """Seconds at zero and per unit, of the line with the least squares of relative errors:
    the points span orders of magnitude."""
    weights = [1 / seconds**2 for _, seconds, _ in points]
    total = sum(weights)
    mean_x = sum(w * x for w, (x, _, _) in zip(weights, points)) / total
    mean_y = sum(w * y for w, (_, y, _) in zip(weights, points)) / total
    squares = sum(w * (x - mean_x) ** 2 for w, (x, _, _) in zip(weights, points))
    slope = sum(w * (x - mean_x) * (y - mean_y) for w, (x, y, _) in zip(weights, points)) / squares
    return mean_y - slope * mean_x, slope


def print_curve(curve, points):
    columns = {name: {value: (seconds, size) for value, seconds, size in points[name]} for name in SERIES}
    rows = []
    for value in curve.values:
        cells = [columns[name].get(value) for name in SERIES]
        rows.append([f"{value:,}", *(measure.in_seconds(cell[0]) + f", {measure.in_bytes(cell[1])}" if cell else "" for cell in cells)])
    lines = [fit(points[name]) for name in SERIES]
    rows.append([
        f"at all, and per {curve.unit}",
        *(f"{measure.in_seconds(at_all)}, {measure.in_seconds(slope)}" for at_all, slope in lines),
    ])
    some = f"files of {curve.ranks} ranks" if curve.ranks else "files of all ranks"
    measure.print_table([curve.name, "bundle of all ranks", "files of one rank out of it", some], rows)


def plot(curve, points, folder):
    """An SVG of all series, both axes logarithmic."""
    data = "".join(
        f"${index} << EOD\n" + "".join(f"{value} {seconds}\n" for value, seconds, _ in points[name]) + "EOD\n"
        for index, name in zip("abc", SERIES)
    )
    titles = ("bundle of all ranks", "files of one rank", f"files of {curve.ranks or 'all'} ranks")
    lines = ", ".join(
        f"${index} with linespoints pointtype 7 pointsize 0.5 linewidth 2 linecolor rgb '{color}' title '{title}'"
        for index, title, color in zip("abc", titles, ("#1b6ca8", "#3a9d5d", "#c8553d"))
    )
    script = f"""{data}
set terminal svg size 640,360 font 'sans-serif,13' background '#ffffff'
set output '{folder / f"cost-{curve.name}.svg"}'
set logscale xy
set xlabel '{curve.name}'
set xrange [{curve.values[0]}:{curve.values[-1]}]
set ylabel 'seconds'
set yrange [0.001:10]
set format x '%.0s%c'
set format y '%g'
set grid linecolor rgb '#dddddd'
set key outside top center horizontal
plot {lines}
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def main():
    parser = measure.parser(__doc__, turns=5)
    parser.add_argument("--curves", nargs="+", choices=[curve.name for curve in CURVES], default=[curve.name for curve in CURVES])
    parser.add_argument("--figures", help="folder for SVG files (default: none are made)")
    arguments = parser.parse_args()
    tools = measure.find_tool("stg-compile"), measure.find_tool("stg-translate")
    measure.print_machine(arguments.runs)
    with measure.Scratch(arguments.scratch) as scratch:
        for curve in CURVES:
            if curve.name not in arguments.curves:
                continue
            points = measure_curve(curve, tools, arguments.runs, scratch)
            print_curve(curve, points)
            if arguments.figures:
                os.makedirs(arguments.figures, exist_ok=True)
                plot(curve, points, Path(arguments.figures))


if __name__ == "__main__":
    main()
