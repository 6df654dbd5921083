"""Says which of our files the headers in a folder include that are not there.

    check-includes.py FOLDER
"""

import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
headers = [path for path in root.rglob("*") if path.is_file()]
for header in headers:
    for name in re.findall(r'^\s*(?:#\s*)?include "(stg(?:-c)?/[^"]*)"', header.read_text(), re.MULTILINE):
        if not (root / name).is_file():
            sys.exit(f"{header}: {name} is missing")
print(f"{len(headers)} headers")
