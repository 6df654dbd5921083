"""Counts the ops of two levels of a pipeline, as printed after each pass.

    count-ops.py COMPILER MICRO_BATCHES SCRATCH

64 stages of one layer each. Prints the ops of the schedule level and of the chakra level, the
states of the latter, and the runs of all orders.
"""

import re
import subprocess
import sys
from pathlib import Path

compiler, micro_batches, scratch = sys.argv[1:]
command = [compiler, "llama3-8b", "--set=L=64", "--seq=64", "--pp=64", "--micro-batch=1"]
command += [f"--batch={micro_batches}", "--dry-run", "--quiet", "--threads=1"]
command += ["--mlir-print-ir-after-all", f"--mlir-print-ir-tree-dir={scratch}"]
subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def read(name):
    (path,) = Path(scratch).rglob(f"*_{name}.mlir")
    return path.read_text(encoding="utf-8")


def count_ops(text):
    return re.findall(r"(?m)^\s*(?:%[^=]* = )?((?:stg|chakra|func)\.\w+|call|return)\b", text)


schedule, chakra = count_ops(read("stg-schedule")), count_ops(read("convert-stg-to-chakra"))
orders = re.findall(r"order <(.*?)>", read("stg-schedule"))
states = chakra.count("chakra.state")
print(f"{len(schedule)} ops, {len(chakra) - states} ops beside {states} states")
print(f"{len(orders)} orders of {max(order.count('[') for order in orders)} runs at most")
