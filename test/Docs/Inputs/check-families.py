"""The families that a page lists are those that have tables.

    check-families.py PAGE FAMILIES [--write]
"""

import json
import sys
from pathlib import Path

BEGIN, END = "<!-- families -->\n", "\n<!-- end of families -->\n"


def make_table(folder):
    rows = ["| `model_type` | family | `architectures` |\n", "|---|---|---|\n"]
    for path in sorted(Path(folder).glob("*.json")):
        table = json.loads(path.read_text())
        if "types" in table:
            types, classes = (", ".join(f"`{name}`" for name in table[key])
                              for key in ("types", "architectures"))
            for key, values in table.get("when", {}).items():
                types += f", `{key}` " + " or ".join("`null`" if value is None else f"`{value}`" for value in values)
            rows.append(f"| {types} | {table['description']} | {classes} |\n")
    return "".join(rows)


def main(page, folder, *options):
    text = Path(page).read_text()
    before, rest = text.split(BEGIN)
    listed, behind = rest.split(END)
    expected = make_table(folder)
    if "--write" in options:
        Path(page).write_text(before + BEGIN + expected + END + behind)
    elif listed != expected:
        sys.exit(f"{page} does not list the families of {folder}; run this with --write")


main(*sys.argv[1:])
