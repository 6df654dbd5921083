"""Checks that prose in Markdown is wrapped at 100 columns.

    check-wrapping.py ROOT

Left out are blocks of code, tables, comments, and generated pages. A code span or a link is
not cut.
"""

import re
import sys
from pathlib import Path

COLUMNS = 100


def get_pages(root):
    for page in sorted([*root.glob("*.md"), *root.glob("docs/**/*.md"),
                        *root.glob("*/README.md")]):
        if "reference" not in page.parts:
            yield page


def can_be_cut(line):
    held = re.sub(r"`[^`]*`|\[[^\]]*\]\([^)]*\)", lambda part: part.group().replace(" ", "_"),
                  line)
    words = re.sub(r"^\s*([-*+]|\d+\.)\s+", "", held).split()
    return len(words) > 1


def main():
    root = Path(sys.argv[1])
    failures = 0
    for page in get_pages(root):
        in_code = False
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            if line.lstrip().startswith("```"):
                in_code = not in_code
            text = line.lstrip()
            if in_code or text.startswith(("|", "<!--", "#", "![")) or line.startswith("    "):
                continue
            if len(line) > COLUMNS and can_be_cut(line):
                print(f"{page}:{number}: {len(line)} columns", file=sys.stderr)
                failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
