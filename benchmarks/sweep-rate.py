#!/usr/bin/env python3
"""Compares a sweep in Python with the same in C, and looks for leaks.

The strategies are those of examples/sweep: all ways to divide ranks among tensor, pipeline and data
parallelism, with ZeRO 0 to 3, over and over. Both are one process with one thread; Python also uses
all processors. A process for each strategy is timed with a few. The rows of both must agree.

    PYTHONPATH=build/python PATH=build/bin:$PATH benchmarks/sweep-rate.py [--count 10000]

With --calls N, the memory of the process is looked at N / 10 calls apart: what is resident, and what
malloc has given out and not got back, to the byte. The first may grow as pieces of memory are left
between others; the second must not.
"""

import argparse
import ctypes
import gc
import itertools
import json
import os
import subprocess
import sys
import time

import stg


def get_strategies(ranks, batch):
    """Those of examples/sweep/sweep.c."""
    for tp in range(1, ranks + 1):
        for pp in range(1, ranks // tp + 1):
            if ranks % (tp * pp):
                continue
            dp = ranks // (tp * pp)
            for zero in range(4 if dp > 1 else 1):
                fields = {"tp": tp, "pp": pp, "dp": dp, "batch": batch, "micro_batch": 1}
                yield stg.Strategy(**fields, **({"zero": zero} if zero else {}))


def make_row(result):
    """What the program in C prints."""
    chosen, run, _ = result
    if run is None:
        return None
    numbers = (max(ranks.operations for ranks in run.classes),
               max(ranks.collective_bytes for ranks in run.classes), run.peak_memory)
    return ",".join([f"{chosen.tp},{chosen.pp},{chosen.dp},{chosen.zero or 0}",
                     *(f"{float(number):.0f}" for number in numbers)])


def time_c(args, rounds):
    rows = None
    begin = time.monotonic()
    for _ in range(rounds):
        process = subprocess.run(["sweep", args.model, str(args.ranks), str(args.batch)],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                 check=True)
        rows = process.stdout.splitlines()[1:]
    return time.monotonic() - begin, rows


def time_python(args, strategies, threads):
    begin = time.monotonic()
    rows = [make_row(result) for result in stg.sweep(args.model, strategies, threads=threads)]
    return time.monotonic() - begin, rows


def time_processes(args, strategies):
    begin = time.monotonic()
    for strategy in strategies:
        flags = [f"--{name.replace('_', '-')}={value}" for name, value in strategy.to_dict().items()]
        subprocess.run(["stg-compile", args.model, *flags, "--dry-run", "--json"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.monotonic() - begin


def get_resident():
    with open("/proc/self/statm", encoding="utf-8") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


class MallInfo(ctypes.Structure):
    """What mallinfo2 of glibc returns."""

    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
        "fordblks", "keepcost")]


def get_given_out():
    """Bytes of all arenas and of blocks of their own; small objects of Python are not malloc's."""
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = MallInfo
    info = mallinfo()
    return info.uordblks + info.hblkhd


def look_for_leaks(args, strategies):
    """Totals and errors, over and over."""
    endless = itertools.cycle(strategies)
    for part in range(11):
        gc.collect()
        print(f"{part * args.calls // 10:8} calls: {get_resident():8.1f} MiB resident, "
              f"{get_given_out():12,} bytes given out", flush=True)
        if part < 10:
            for result in stg.sweep(args.model, itertools.islice(endless, args.calls // 10),
                                    threads=args.threads):
                make_row(result)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="gpt2-1.5b")
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--count", type=int, default=10000, help="strategies")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--calls", type=int, help="look for leaks over so many calls, and nothing else")
    args = parser.parse_args()
    once = list(get_strategies(args.ranks, args.batch))
    if args.calls:
        look_for_leaks(args, once)
        return 0
    rounds = max(1, args.count // len(once))
    strategies = once * rounds
    seconds_c, rows_c = time_c(args, rounds)
    seconds, rows = time_python(args, strategies, 1)
    seconds_all, _ = time_python(args, strategies, args.threads)
    few = once[:: max(1, len(once) // 20)]
    seconds_few = time_processes(args, few)
    agree = [row for row in rows[: len(once)] if row] == rows_c
    rates = {"C, one thread": len(strategies) / seconds_c,
             "Python, one thread": len(strategies) / seconds,
             f"Python, {args.threads} threads": len(strategies) / seconds_all,
             "a process each": len(few) / seconds_few}
    for name, rate in rates.items():
        print(f"{name:22} {rate:8.1f} strategies a second")
    print(json.dumps({"strategies": len(strategies), "python_to_c": round(seconds_c / seconds, 3),
                      "rows_agree": agree}))
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
