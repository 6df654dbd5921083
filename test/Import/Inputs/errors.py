"""Configurations that are refused, each with all that is said of it.

errors.json lists texts, or what is changed in a good configuration. A configuration has one key
in each line, so the place of a message is that of its key. With --write the file gets what the
compiler says now. All are compiled in this process, which takes a fifth of the time of a tool
that starts for each.
"""

import json
import re
import sys
from pathlib import Path

import stg


def get_text(case, bases):
    """Of the file."""
    if "text" in case:
        return case["text"]
    return json.dumps(bases[case["base"]] | case["set"], indent=1)


def count_types(families):
    """The types that tables are for."""
    types = set()
    for table in Path(families).glob("*.json"):
        types.update(json.loads(table.read_text()).get("types", []))
    return len(types)


def get_place(message, path):
    """Of a message, without the name of the file."""
    if not message.file:
        return ""
    file = "" if message.file == str(path) else message.file + ":"
    return f"{file}{message.line}:{message.column}: "


def hide_count(line, types):
    """How many types are known is not said again for each new family."""
    similar = re.search(r"known types are (.*) and (\d+) more, which docs/", line)
    if similar and len(similar[1].split(", ")) + int(similar[2]) == types:
        return line[: similar.start(2)] + "N" + line[similar.end(2) :]
    return line.replace(f"lists the {types} types", "lists the N types")


def get_messages(path, types):
    """What is said, one line for each line of it, without numbers of types. None if it compiles."""
    try:
        stg.compile(str(path), batch=1)
    except stg.Error as error:
        texts = [f"{get_place(message, path)}{message.severity}: {message.text}" for message in error.messages]
        return [hide_count(line, types) for text in texts for line in text.splitlines()]
    return None


def main(table, families, folder, write=False):
    data = json.loads(Path(table).read_text())
    types = count_types(families)
    path = Path(folder) / "bad.json"
    wrong = 0
    for case in data["cases"]:
        path.write_text(get_text(case, data["bases"]))
        messages = get_messages(path, types)
        if messages is None:
            wrong += 1
            print("case", case, "compiles")
        elif write:
            case["messages"] = messages
        elif messages != case["messages"]:
            wrong += 1
            print("case", case, "says", *messages, sep="\n  ")
    for name, base in data["bases"].items():
        path.write_text(json.dumps(base))
        messages = get_messages(path, types)
        if messages is not None:
            wrong += 1
            print("base", name, *messages)
    if write:
        Path(table).write_text(json.dumps(data, indent=1) + "\n")
    print(len(data["cases"]), "cases,", wrong, "wrong")


main(*sys.argv[1:])
