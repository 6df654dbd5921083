"""Writes the small configuration of each family: FAMILY.json, and all of them as sections of all.json.

Usage: write_families.py FOLDER
"""

import json
import sys
from pathlib import Path

import compiling

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "benchmarks"))
import families

folder = Path(sys.argv[1])
texts = {family: json.dumps({compiling.type_key(family): family} | config) for family, config in families.CONFIGS.items()}
for family, text in texts.items():
    (folder / f"{family}.json").write_text(text)
(folder / "all.json").write_text("\n// -----\n".join(texts.values()))
print(f"{len(texts)} families")
