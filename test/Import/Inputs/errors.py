"""Configurations that are refused, each with all that is said of it.

errors.json lists texts, or what is changed in a good configuration. A configuration has one key
in each line, so the place of a message is that of its key. With --write the file gets what the
compiler says now.
"""

import json
import subprocess
import sys
from pathlib import Path


def get_text(case, bases):
    """Of the file."""
    if "text" in case:
        return case["text"]
    return json.dumps(bases[case["base"]] | case["set"], indent=1)


def get_types(families):
    """The types that tables are for, as a message lists them."""
    types = set()
    for table in Path(families).glob("*.json"):
        types.update(json.loads(table.read_text()).get("types", []))
    *others, last = sorted(types)
    return ", ".join(others) + " or " + last


def get_messages(path, types):
    """Exit status and what is said, without the name of the file and the list of types."""
    run = subprocess.run(["stg-compile", path, "--batch", "1", "--dry-run"],
                         capture_output=True, text=True)
    text = run.stderr.replace(f"{path}:", "").replace(f"known: {types}\n", "known: TYPES\n")
    return run.returncode, text.splitlines()


def main(table, families, folder, write=False):
    data = json.loads(Path(table).read_text())
    types = get_types(families)
    path = Path(folder) / "bad.json"
    wrong = 0
    for case in data["cases"]:
        path.write_text(get_text(case, data["bases"]))
        status, messages = get_messages(path, types)
        if write:
            case["messages"] = messages
        elif status != 1 or messages != case["messages"]:
            wrong += 1
            print("case", case, "has status", status, "and says", *messages, sep="\n  ")
    for name, base in data["bases"].items():
        path.write_text(json.dumps(base))
        status, messages = get_messages(path, types)
        if status or any("error" in message for message in messages):
            wrong += 1
            print("base", name, *messages)
    if write:
        Path(table).write_text(json.dumps(data, indent=1) + "\n")
    print(len(data["cases"]), "cases,", wrong, "wrong")


main(*sys.argv[1:])
