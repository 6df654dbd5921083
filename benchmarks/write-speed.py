#!/usr/bin/env python3
"""Compares writing traces with writing as many bytes by plain write() calls.

Files of the same sizes, on the same disk, by as many threads, in turns in the same run.
Twice: until the process ends, when what was written may be in memory, and until it is on
the disk (sync).

Prints Markdown tables. Needs twice the room of the traces.
"""

import os
from functools import partial

import measure
import plans


def compare(compiler, ranks, runs, scratch):
    """One row: the rates of both, their ratio, the memory of the exporter."""
    dp = ranks // 32
    command = [compiler, *plans.llama_70b(dp), "--quiet", f"--threads={os.cpu_count()}", "-o"]
    traces = scratch.path / "traces"
    measure.run([*command, traces])
    sizes = measure.trace_sizes(traces)

    def export():
        folder = scratch.empty("traces")
        return measure.seconds_to_disk(partial(measure.run, [*command, folder]))

    def plain():
        folder = scratch.empty("plain")
        return measure.seconds_to_disk(partial(measure.write_plainly, folder, sizes, os.cpu_count()))

    exported, plainly = measure.take_turns([export, plain], runs)
    for_both = [
        ("the process ends", [cost.seconds for cost, _ in exported], [seconds for seconds, _ in plainly]),
        ("it is on the disk", [seconds for _, seconds in exported], [seconds for _, seconds in plainly]),
    ]
    peak = max(cost.peak_bytes for cost, _ in exported)
    for until, own, other in for_both:
        own, other = measure.median_of(own), measure.median_of(other)
        yield [
            f"{ranks:,} ranks, until {until}", f"{len(sizes):,}", measure.in_bytes(sum(sizes)),
            measure.in_seconds(own), measure.in_seconds(other), f"{other / own:.0%}", measure.in_bytes(peak),
        ]


def main():
    parser = measure.parser(__doc__, turns=3)
    parser.add_argument("--ranks", type=int, nargs="+", default=[512, 4096], help="multiples of 32 (default 512 4096)")
    arguments = parser.parse_args()
    compiler = measure.find_tool("stg-compile")
    measure.print_machine(arguments.runs)
    rows = []
    with measure.Scratch(arguments.scratch) as scratch:
        for ranks in arguments.ranks:
            rows += compare(compiler, ranks, arguments.runs, scratch)
    measure.print_table(
        ["Llama-3-70B, tp 8, pp 4, 8 micro-batches", "files", "bytes", "stg-compile", "plain write", "rate", "memory"], rows
    )


if __name__ == "__main__":
    main()
