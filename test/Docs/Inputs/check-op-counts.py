"""Checks that docs/Conventions.md has each op that costs something, and no other.

    check-op-counts.py ROOT OPS

OPS is a file with the names of all such ops, as `stg-test-opt --list-costs` prints them.
"""

import re
import sys
from pathlib import Path

# Said in the table, but no nodes: they have no operations to count.
WITHOUT_COST = {"splat", "param", "local_slice"}


def main(root, ops):
    text = (Path(root) / "docs" / "Conventions.md").read_text(encoding="utf-8")
    table = text[text.index("| op | operations |") : text.index("A collective has no operations")]
    rows = [line.split("|")[1] for line in table.splitlines()[2:] if line.startswith("|")]
    documented = {name for row in rows for name in re.findall(r"`(\w+)`", row)} - WITHOUT_COST
    registered = set(Path(ops).read_text(encoding="utf-8").split())
    for name in sorted(registered - documented):
        print(f"docs/Conventions.md does not say what stg.{name} counts", file=sys.stderr)
    for name in sorted(documented - registered):
        print(
            f"docs/Conventions.md has a count of stg.{name}, which is no op that costs something",
            file=sys.stderr,
        )
    return 1 if registered != documented else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
