"""Checks that docs/Conventions.md has each op that costs something.

    check-op-counts.py ROOT
"""

import os
import re
import sys


def main():
    root = sys.argv[1]
    with open(os.path.join(root, "lib/Dialect/STG/IR/STGCosts.cpp"), encoding="utf-8") as file:
        classes = re.findall(r"^OpCost (\w+)Op::getCost", file.read(), re.MULTILINE)
    with open(os.path.join(root, "docs/Conventions.md"), encoding="utf-8") as file:
        text = file.read()
    table = text[text.index("| op | operations |") : text.index("A collective has no operations")]
    missing = 0
    for name in classes:
        mnemonic = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        if f"`{mnemonic}`" not in table:
            print(f"docs/Conventions.md does not say what stg.{mnemonic} counts", file=sys.stderr)
            missing += 1
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
