#!/usr/bin/env python3
"""Measures how many strategies stg-search looks at in a second.

    search-rate.py [--tool PATH] [--jobs N] [--seconds S] [--only NAME,...] [--calculon PATH]

Searches of dense models and of a mixture of experts, by name: for each the strategies, how many of
them are possible and how many were estimated, seconds of processors and of the clock, strategies a
second of the clock, and the best step. A search that takes longer than S seconds is interrupted,
and its line says so.

With --calculon, which is the folder of a copy of calculon-ai/calculon, its own search of GPT-3 13B
on two devices is run beside it, and its rate is what it prints itself. More devices have more
strategies, for hours, at the same rate.
"""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

SEARCHES = {
    "8b-64": ("llama3-8b", 64, 512),
    "70b-64": ("llama3-70b", 64, 2048),
    "70b-4096": ("llama3-70b", 4096, 2048),
    "gpt3-64": ("gpt3-175b", 64, 64),
    "mixtral-64": ("mixtral-8x7b", 64, 512),
}


def search(tool, name, jobs, seconds):
    """The result, and the seconds of processors; no result if nothing was found in time."""
    model, ranks, batch = SEARCHES[name]
    command = [tool, model, "--machine=h100-80gb-dgx", f"--ranks={ranks}", f"--batch={batch}",
               f"--jobs={jobs}", "--json", "--quiet"]
    before = os.times()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            out, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate()
    after = os.times()
    spent = after.children_user - before.children_user + \
        after.children_system - before.children_system
    return (json.loads(out) if process.returncode == 0 else None), spent


def run_calculon(folder, jobs):
    """The line in which Calculon prints its rate."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "bin/calculon", "llm-optimal-execution", "models/gpt3-13B.json",
                   "2", "2", "float16", "systems/h100_80g_nvl8.json",
                   os.path.join(scratch, "best.json"), "--cpus", str(jobs), "--noneok"]
        process = subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": "."},
                                 check=True, capture_output=True, text=True)
    lines = re.findall(r"(?:Total executions|Calculation rate): .*", process.stdout + process.stderr)
    return ", ".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", default="stg-search")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--only", default=",".join(SEARCHES))
    parser.add_argument("--calculon")
    options = parser.parse_args()
    print("search      strategies   possible  estimated  processor s  seconds  strategies/s"
          "  best step, s")
    for name in options.only.split(","):
        result, spent = search(options.tool, name, options.jobs, options.seconds)
        if result is None:
            print(f"{name:10}  nothing found in {options.seconds:g} s", flush=True)
            continue
        counts, seconds = result["strategies"], result["seconds"]
        print(f"{name:10}  {counts['all']:10,} {counts['all'] - counts['refused']:10,} "
              f"{counts['estimated']:10,}  {spent:11.1f}  {seconds:7.1f}  "
              f"{counts['all'] / seconds:12,.0f}  {result['best'][0]['step_seconds']:.6g}"
              + ("" if result["complete"] else "  interrupted"), flush=True)
    if options.calculon:
        print("calculon   ", run_calculon(options.calculon, options.jobs))


if __name__ == "__main__":
    main()
