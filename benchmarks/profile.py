#!/usr/bin/env python3
"""Where the time of the compiler and of the writer goes.

Counts instructions in user space with valgrind (callgrind), and the time spent there and in
the kernel without it. Counts hardly depend on what else the machine does.

Prints Markdown tables.
"""

import re
import subprocess

import measure
import plans

CASES = {
    "Llama 3.1 405B, 131,072 ranks, bundle": [*plans.llama_405b(512), "--bundle"],
    "Llama 3 70B, 128 ranks, files": [*plans.llama_70b(4), "--threads=1"],
}
# `  20,359,660 ( 6.96%)  file:function [object]`
ENTRY = re.compile(r"\s*([\d,]+) \(\s*[\d.]+%\)\s+(\S.*)")


def count_instructions(command, scratch):
    """(function, library) -> instructions."""
    counts = scratch.path / "callgrind"
    tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}"]
    subprocess.run([*tool, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    text = subprocess.run(
        ["callgrind_annotate", "--threshold=100", "--auto=no", counts], capture_output=True, text=True, check=True
    ).stdout
    functions = {}
    for line in text.splitlines():
        entry = ENTRY.match(line)
        if not entry or entry[2] == "PROGRAM TOTALS":
            continue
        # Most functions of the dynamic loader name no object.
        where = re.search(r" \[.*?([^/]+)\]$", entry[2])
        name = entry[2][: where.start()] if where else entry[2]
        library = "loader" if not where or where[1].startswith("ld-") else where[1]
        key = shorten(name.split(":", maxsplit=1)[1]), library
        functions[key] = functions.get(key, 0) + int(entry[1].replace(",", ""))
    return functions


def shorten(function):
    """The name without template arguments, return type and parameters. Those of stripped
    libraries have none."""
    if function.startswith("0x"):
        return "(internal)"
    function = function.replace("(anonymous namespace)", "{anonymous}")
    while (shorter := re.sub(r"<[^<>]*>", "", function)) != function:
        function = shorter
    words = re.split(r"[(\[]", function)[0].split()
    return words[-1] if words else function


def print_shares(title, counts, total, most):
    rows = sorted(counts.items(), key=lambda entry: -entry[1])[:most]
    measure.print_table([title, "instructions"], [[f"`{name[:90]}`", f"{count / total:.1%}"] for name, count in rows])


def show(case, runs, scratch):
    command = [measure.find_tool("stg-compile"), *CASES[case], "--quiet", "-o", str(scratch.path / "out")]
    (costs,) = measure.take_turns([lambda: measure.run(command)], runs)
    cost = measure.median(costs)
    functions = count_instructions(command, scratch)
    total = sum(functions.values())
    print(
        f"{case}: {measure.in_seconds(cost.processor_seconds)} of processor time, "
        f"of which {measure.in_seconds(cost.kernel_seconds)} in the kernel; {total / 1e6:,.0f} million instructions.\n"
    )
    libraries = {}
    for (_, library), count in functions.items():
        libraries[library] = libraries.get(library, 0) + count
    print_shares("where", libraries, total, 6)
    print_shares("function", {f"{library}: {name}": count for (name, library), count in functions.items()}, total, 5)


def main():
    parser = measure.parser(__doc__, turns=3)
    arguments = parser.parse_args()
    measure.print_machine(arguments.runs)
    with measure.Scratch(arguments.scratch) as scratch:
        for case in CASES:
            show(case, arguments.runs, scratch)


if __name__ == "__main__":
    main()
