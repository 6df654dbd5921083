#!/usr/bin/env python3
"""Measures how many strategies stg-search looks at in a second.

    search-rate.py [--tool PATH] [--jobs N] [--ranks N,N,...]

Llama 3 70B with 2,048 sequences on each number of devices; for each the strategies, what has become
of them, seconds, strategies a second, and the best step.
"""
import argparse
import json
import subprocess


def search(tool, ranks, jobs):
    command = [tool, "llama3-70b", "--machine=h100-80gb-dgx", f"--ranks={ranks}", "--batch=2048",
               f"--jobs={jobs}", "--json", "--quiet"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", default="stg-search")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--ranks", default="64,512,4096,16384")
    options = parser.parse_args()
    print("ranks   strategies  estimated  seconds  strategies/s  best step, s")
    for ranks in options.ranks.split(","):
        result = search(options.tool, int(ranks), options.jobs)
        counts, seconds = result["strategies"], result["seconds"]
        print(f"{ranks:>6}  {counts['all']:10,}  {counts['estimated']:9,}  {seconds:7.2f}  "
              f"{counts['all'] / seconds:12,.0f}  {result['best'][0]['step_seconds']:.6g}")


if __name__ == "__main__":
    main()
