"""Checks each row that the example `sweep` prints against stg-compile.

    check-sweep.py CSV ERRORS MODEL BATCH
"""

import csv
import json
import subprocess
import sys


def compile_point(model, batch, point):
    """The row that stg-compile gives, or its error."""
    flags = [f"--{axis}={point[axis]}" for axis in ("tp", "pp", "dp")]
    if point["zero"] != "0":
        flags.append(f"--zero={point['zero']}")
    command = ["stg-compile", model, f"--batch={batch}", "--micro-batch=1", *flags, "--dry-run", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return None, json.loads(done.stderr.splitlines()[-1])["message"]
    classes = json.loads(done.stdout)["classes"]
    return {
        "operations": max(entry["operations"] for entry in classes),
        "collective_bytes": max(sum(coll["bytes"] for coll in entry["collectives"])
                                for entry in classes),
        "peak_bytes": max(entry["memory"]["peak_bytes"]["total"] for entry in classes),
    }, None


def main():
    path, errors, model, batch = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with open(errors, encoding="utf-8") as file:
        failures = file.read().splitlines()
    assert rows, "no strategy compiles"
    for row in rows:
        expected, error = compile_point(model, batch, row)
        assert error is None, f"{row}: {error}"
        for name, value in expected.items():
            assert int(row[name]) == value, f"{row}: {name} should be {value}"
    for line in failures:
        where, _, message = line.partition(": error: ")
        point = dict(zip(("tp", "pp", "dp", "zero"),
                         (part.split()[-1] for part in where.split(", "))))
        _, error = compile_point(model, batch, point)
        assert error == message, f"{line}: stg-compile says {error}"
    # Every way to divide 4 ranks, with four levels of ZeRO where there are replicas.
    assert len(rows) + len(failures) == 15, f"{len(rows)} rows and {len(failures)} errors"


if __name__ == "__main__":
    main()
