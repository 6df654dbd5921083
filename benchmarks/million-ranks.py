#!/usr/bin/env python3
"""What it costs to make, check and use traces of up to a million ranks.

For each model: a bundle of all ranks; `stg-trace validate` of it; the file of one rank out
of it, compared with plainly writing the same bytes.

Prints a Markdown table.
"""

import measure
import plans

CASES = {
    "PaLM 540B, 118 layers, 4 micro-batches": (32_768, plans.palm_540b(4096)),
    "Llama 3.1 405B, 32 micro-batches": (131_072, plans.llama_405b(512)),
    "Llama 3.1 405B, 32 micro-batches, dp 4096": (1_048_576, plans.llama_405b(4096)),
}


def show(case, runs, scratch):
    """One row."""
    ranks, plan = CASES[case]
    compiler, translate, trace = map(measure.find_tool, ("stg-compile", "stg-translate", "stg-trace"))
    bundle = scratch.path / "bundle"
    file = bundle / "traces.stgb"
    # A rank of the middle: neither of the first stage nor of the last.
    rank = ranks // 2 + 1

    def one_rank():
        return measure.run([translate, "--unbundle", file, f"--trace-dir={scratch.empty('one')}", f"--ranks={rank}:{rank + 1}"])

    measure.run([compiler, *plan, "--quiet", "--bundle", "-o", bundle])
    one_rank()
    sizes = measure.trace_sizes(scratch.path / "one")
    made, checked, taken, plain = measure.take_turns(
        [
            lambda: measure.run([compiler, *plan, "--quiet", "--bundle", "-o", scratch.empty("bundle")]),
            lambda: measure.run([trace, "validate", file]),
            one_rank,
            lambda: measure.write_plainly(scratch.empty("plain"), sizes, 1),
        ],
        runs,
    )
    made, checked, taken = map(measure.median, (made, checked, taken))
    return [
        case, f"{ranks:,}", measure.in_seconds(made.seconds), measure.in_bytes(made.peak_bytes), measure.in_bytes(file.stat().st_size),
        measure.in_seconds(checked.seconds), measure.in_bytes(checked.peak_bytes),
        measure.in_seconds(taken.seconds), measure.in_bytes(sum(sizes)), measure.in_seconds(measure.median_of(plain)),
    ]


def main():
    parser = measure.parser(__doc__, turns=5)
    parser.add_argument("--cases", type=int, nargs="+", default=range(len(CASES)), metavar="I",
                        help="numbers of the cases: " + "; ".join(f"{i} {case}" for i, case in enumerate(CASES)))
    arguments = parser.parse_args()
    measure.print_machine(arguments.runs)
    with measure.Scratch(arguments.scratch) as scratch:
        rows = [show(case, arguments.runs, scratch) for case in map(list(CASES).__getitem__, arguments.cases)]
    measure.print_table(
        ["", "ranks", "bundle", "its memory", "its size", "validate", "its memory", "files of one rank", "their bytes", "plain write"], rows
    )


if __name__ == "__main__":
    main()
