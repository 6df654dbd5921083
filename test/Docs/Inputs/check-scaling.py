"""The tables of the study of machines in a page are what its script prints.

Usage: check-scaling.py PAGE OUTPUT
"""

import re
import sys
from pathlib import Path


def read_output(text):
    """Rows of step times, and of ratios with the tool's constants and with measured ones."""
    times, ratios = {}, {}
    tool, measured = text.split("With measured constants")
    for line in tool.splitlines():
        row = re.fullmatch(r"(\S+) +([\d.]+) \((.*?)\) +([\d.]+) \((.*?)\)", line)
        if row:
            times[row[1]] = row.groups()[1:]
    for part in (tool, measured.split("\n\n")[0]):
        for line in part.splitlines():
            row = re.fullmatch(r"(\S.*?) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)", line)
            if row:
                ratios.setdefault(row[1], []).append(row.groups()[1:])
    return times, ratios


def main(page, output):
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in Path(page).read_text().splitlines() if line.startswith("|")]
    times, ratios = read_output(Path(output).read_text())
    wrong = 0
    for name, values in times.items():
        found = [tuple(row[1:]) for row in rows if row[0].split(" ")[0] == f"`{name}`" and len(row) == 5]
        if found != [values]:
            wrong += 1
            print(name, "is", *values, "and stands as", *found)
    for name, (with_tool, with_measured) in ratios.items():
        values = (*with_tool[:2], with_measured[0], *with_tool[2:], with_measured[2])
        found = [tuple(row[1:]) for row in rows if row[0] == name]
        if found != [values]:
            wrong += 1
            print(name, "is", *values, "and stands as", *found)
    print(len(times), "machines and", len(ratios), "ratios,", wrong, "wrong")


main(*sys.argv[1:])
