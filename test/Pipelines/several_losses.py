"""All ranks of each plan execute the products of one rank, and their traces are valid.

Usage: several_losses.py FOLDER MODEL PARAMETERS FLAG... -- PLAN...
"""

import json
import subprocess
import sys


def compile_with(model, folder, flags):
    """The summary of the traces, which are looked at."""
    run = subprocess.run(["stg-compile", model, *flags, "--json", "-o", folder],
                         capture_output=True, text=True)
    assert run.returncode == 0, (flags, run.stderr)
    valid = subprocess.run(["stg-trace", "validate", folder], capture_output=True, text=True)
    assert valid.returncode == 0, (flags, valid.stdout)
    return json.loads(run.stdout)


def count_products(summary):
    """The operations in products of all ranks, by phase."""
    total = {}
    for entry in summary["classes"]:
        for phase, operations in entry["matrix_operations_by_phase"].items():
            total[phase] = total.get(phase, 0) + operations * entry["ranks"]
    return total


def main(folder, name, parameters, *rest):
    flags, plans = rest[: rest.index("--")], rest[rest.index("--") + 1 :]
    model = f"{folder}/{name}.mlir"
    one = compile_with(model, f"{folder}/{name}.one", flags)
    assert one["parameters"] == int(parameters), one["parameters"]
    expected = count_products(one)
    for number, plan in enumerate(plans):
        summary = compile_with(model, f"{folder}/{name}.{number}", [*flags, *plan.split()])
        assert count_products(summary) == expected, (plan, count_products(summary), expected)
    print(f"{name}: {len(plans)} plans, {sum(expected.values())} operations in products")


main(*sys.argv[1:])
