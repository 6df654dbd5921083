"""Estimates a bundle on each machine of a folder and prints how many there are.

    each-machine.py BUNDLE MACHINES
"""
import json
import subprocess
import sys
from pathlib import Path

names = sorted(path.stem for path in Path(sys.argv[2]).glob("*.json"))
for name in names:
    process = subprocess.run(["stg-estimate", sys.argv[1], "--machine", name, "--json"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert process.returncode == 0, process.stderr
    report = json.loads(process.stdout)
    assert report["step_seconds"] > 0 and report["mfu"] < 1, (name, report)
print(len(names), "machines")
