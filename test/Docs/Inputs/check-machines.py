"""Checks that docs/Machines.md has each key of a machine, each unit and each file, and no other.

    check-machines.py ROOT [PAGE]
"""

import os
import re
import sys


def difference(what, page, code):
    for name in sorted(page ^ code):
        place = "the page" if name in page else "the project"
        print(f"{what} '{name}' is in {place} alone", file=sys.stderr)
        yield name


def section(text, title):
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0]


def main():
    root = sys.argv[1]
    page = sys.argv[2] if len(sys.argv) > 2 else os.path.join(root, "docs/Machines.md")
    with open(page, encoding="utf-8") as file:
        text = file.read()
    with open(os.path.join(root, "lib/Machine/MachineKeys.cpp"), encoding="utf-8") as file:
        code = file.read()
    numbers = section(text, "Numbers")
    cells = [line.split("|")[1] for line in section(text, "Which there are").splitlines()
             if line.startswith("| `")]
    found = [
        ("key", set(re.findall(r"^\| `([^`]+)`", numbers, re.M)),
         set(re.findall(r'\{"([a-z][^"]*\.[^"]*)", Dimension', code))),
        ("unit", set(re.findall(r"`([^`]+)`", numbers.split("\nUnits are ")[1].split("\n\n")[0])),
         set(re.findall(r'\{"([^".]+)", Dimension', code))),
        ("machine", {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)},
         {name[:-len(".json")] for name in os.listdir(os.path.join(root, "machines"))}),
    ]
    return 1 if [name for entry in found for name in difference(*entry)] else 0


if __name__ == "__main__":
    sys.exit(main())
