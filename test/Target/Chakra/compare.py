#!/usr/bin/env python3
"""usage: compare.py DIRECTORY DIRECTORY: fails unless both hold the same traces and
groups. Manifests may differ: an import does not know phases and categories."""
import os
import sys

one, two = sys.argv[1:]
names = sorted(os.listdir(one))
if names != sorted(os.listdir(two)):
    sys.exit(f"{one} and {two} do not hold files of the same names")
for name in names:
    if name == "manifest.json":
        continue
    contents = [open(os.path.join(d, name), "rb").read() for d in (one, two)]
    if contents[0] != contents[1]:
        sys.exit(f"{name} differs in {one} and {two}")
