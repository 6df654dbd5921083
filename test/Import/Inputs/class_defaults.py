"""Compiles files that leave out almost everything, and what classes write into files.

    class_defaults.py CASES.json FOLDER

CASES.json has `files`, a number of parameters and a configuration each, and `saved`, a model type
and members with which its default configuration has the same parameters as without.
"""
import json
import sys
from pathlib import Path

import compiling


def main(cases, folder):
    cases = json.loads(Path(cases).read_text())
    path = Path(folder) / "config.json"

    def count(config):
        path.write_text(json.dumps(config))
        return compiling.parameters(path)

    wrong = []
    for expected, config in cases["files"]:
        found = count(config)
        if found != expected:
            wrong.append(f"{config}: {expected} expected, {found}")
    for name, members in cases["saved"]:
        expected, found = count({"model_type": name}), count({"model_type": name} | members)
        if not isinstance(expected, int) or found != expected:
            wrong.append(f"{name} with {members}: {expected} expected, {found}")
    print("\n".join(wrong))
    print(f"{len(cases['files'])} files, {len(cases['saved'])} members that classes save, "
          f"{len(wrong)} wrong")


main(*sys.argv[1:])
