"""Compares the totals of the package with the manifest of stg-compile, for the strategies of
benchmarks/combinations.py.

    check_combinations.py SOURCE_ROOT [N]      one of every N
"""

import json
import subprocess
import sys
from pathlib import Path

import stg

sys.path.insert(0, str(Path(sys.argv[1]) / "benchmarks"))
from combinations import MODELS, combinations  # pylint: disable=wrong-import-position


def to_strategy(flags):
    """The fields that flags of stg-compile give."""
    fields, symbols = {}, {}
    for flag in flags:
        name, _, value = flag.removeprefix("--").partition("=")
        if name == "set":
            symbol, _, number = value.partition("=")
            symbols[symbol] = int(number)
        elif not value:
            fields[name.replace("-", "_")] = True
        else:
            fields[name.replace("-", "_")] = int(value) if value.isdecimal() else value
    return stg.Strategy(**fields, set=symbols)


def by(rows, *names):
    return {tuple(getattr(row, name) for name in names): row for row in rows}


def compare(run, manifest):
    """Numbers of objects, which do not come from the text of the manifest."""
    assert (run.parameters, run.num_ranks) == (manifest["parameters"], manifest["ranks"])
    assert len(run.classes) == len(manifest["classes"])
    for ranks, other in zip(run.classes, manifest["classes"]):
        assert (ranks.name, ranks.num_ranks) == (other["graph"], other["ranks"])
        assert ranks.operations == other["operations"]
        assert ranks.memory_traffic == other["memory_traffic_bytes"]
        assert {row.phase: row.operations for row in ranks.phases} == other["operations_by_phase"]
        assert {row.phase: row.product_operations for row in ranks.phases
                if row.product_operations} == other["matrix_operations_by_phase"]
        assert [row._asdict() for row in ranks.collectives] == [
            {**coll, "axes": "+".join(coll["axes"])} for coll in other["collectives"]]
        assert [row._asdict() for row in ranks.messages] == other.get("messages", [])
        assert ranks.peak_memory == other["memory"]["peak_bytes"]["total"]
        for kind in ("persistent", "peak", "largest"):
            found = {row.category: getattr(row, kind) for row in ranks.memory if getattr(row, kind)}
            expected = dict(other["memory"][f"{kind}_bytes"])
            expected.pop("total", None)
            assert found == expected, kind
    assert run.manifest == manifest


def main():
    cases = list(combinations())[:: int(sys.argv[2]) if len(sys.argv) > 2 else 1]
    commands = [[*MODELS[model].split(), *flags.split()] for model, flags, _ in cases]
    # One sweep for each model; results come in their order.
    runs = {}
    for name in sorted({command[0] for command in commands}):
        chosen = [command for command in commands if command[0] == name]
        results = stg.sweep(name, [to_strategy(command[1:]) for command in chosen])
        for command, (_, run, error) in zip(chosen, results):
            assert error is None, f"{command}: {error}"
            process = subprocess.run(["stg-compile", *command, "--dry-run", "--json"],
                                     capture_output=True, text=True, check=True)
            compare(run, json.loads(process.stdout))
            runs[tuple(command)] = run
    print(f"{len(commands)} strategies agree")


if __name__ == "__main__":
    main()
