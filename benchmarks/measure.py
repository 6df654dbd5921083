"""What the benchmarks share: the cost of a process, the cost of plain writing, tables."""

import argparse
import os
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Cost:
    """What a process took, from its start to its end."""

    seconds: float
    processor_seconds: float
    kernel_seconds: float
    peak_bytes: int


def run(command, **options):
    """Runs the command, whose output is dropped, and says what it took."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        **options,
    )
    # Unlike Popen.wait(), this gives the usage of this child alone.
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"exit status {process.returncode}: {' '.join(map(str, command))}")
    return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_stime, usage.ru_maxrss * 1024)


def median(costs):
    """The cost with the median time (of an even number, the later one)."""
    return sorted(costs, key=lambda cost: cost.seconds)[len(costs) // 2]


def median_of(values):
    return sorted(values)[len(values) // 2]


def take_turns(actions, turns):
    """The results of each of the actions, which are done one after the other, several
    times, so that whatever else the machine does falls on all of them alike. One turn is
    thrown away: it brings files into the page cache."""
    results = [[] for _ in actions]
    for turn in range(turns + 1):
        for action, own in zip(actions, results):
            result = action()
            if turn > 0:
                own.append(result)
    return results


class Scratch:
    """A folder for outputs, removed in the end."""

    def __init__(self, parent):
        self.folder = tempfile.TemporaryDirectory(prefix="stg-benchmark-", dir=parent)
        self.path = Path(self.folder.name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def empty(self, name):
        """A folder in it that does not exist. What was written before is removed and on
        the disk, so that nobody waits for what another one wrote."""
        path = self.path / name
        shutil.rmtree(path, ignore_errors=True)
        os.sync()
        return path


def trace_sizes(folder):
    """Bytes of each file of a set."""
    return [entry.stat().st_size for entry in os.scandir(folder) if entry.is_file()]


def write_plainly(folder, sizes, threads):
    """Seconds that this machine takes for files of these sizes: one write() each, of bytes
    that lie ready. Each thread makes every n-th file, as the exporter does."""
    # Not zeros: some file systems do not store those.
    data = memoryview(os.urandom(max(sizes)))
    os.mkdir(folder)

    def write_share(first):
        for index in range(first, len(sizes), threads):
            descriptor = os.open(folder / str(index), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            left = data[: sizes[index]]
            while left:
                left = left[os.write(descriptor, left) :]
            os.close(descriptor)

    start = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(write_share, range(threads)))
    return time.perf_counter() - start


def seconds_to_disk(action):
    """What the action gives, and the seconds until all that it wrote is on the disk."""
    start = time.perf_counter()
    result = action()
    os.sync()
    return result, time.perf_counter() - start


def print_table(header, rows):
    """A Markdown table; all columns but the first are numbers."""
    print("| " + " | ".join(header) + " |")
    print("|---|" + "---:|" * (len(header) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def in_seconds(seconds):
    """As many digits as repeat."""
    if abs(seconds) >= 10:
        return f"{seconds:.1f} s"
    if abs(seconds) >= 1:
        return f"{seconds:.2f} s"
    if abs(seconds) >= 0.01:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds * 1000:.2f} ms" if abs(seconds) >= 0.001 else f"{seconds * 1e6:.3g} µs"


def in_bytes(count):
    """Decimal units, as disks and `MB` mean them."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            value = count / size
            return f"{value:.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"
    return f"{count} B"


def in_times(ratio):
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2f}"


def find_tool(name, given=None):
    """The given path, the tool on PATH or that of the build folder."""
    built = Path(__file__).resolve().parent.parent / "build" / "bin" / name
    tool = given or shutil.which(name) or built
    if not os.access(tool, os.X_OK):
        raise SystemExit(f"{tool} is not an executable; put {name} on PATH, or build it in build/")
    return str(tool)


def parser(documentation, turns):
    """With what all benchmarks take."""
    result = argparse.ArgumentParser(description=documentation.split("\n\n", maxsplit=1)[0])
    result.add_argument("--runs", type=int, default=turns, help=f"runs of each command (default {turns})")
    result.add_argument("--scratch", help="folder on the disk that files are written to (default: that for temporary files)")
    return result


def print_machine(runs):
    print(f"{os.cpu_count()} cores; each figure is the median of {runs} runs that took turns.\n")


def report_cases(cases, check, describe, jobs, what, note=""):
    """Checks all cases, `jobs` at a time; prints those that do not hold and how many do. True if one does not."""
    failed = 0
    with ThreadPoolExecutor(jobs) as pool:
        for case, error in zip(cases, pool.map(check, cases)):
            if error:
                failed += 1
                print(f"{describe(case)}\n  {error}")
    print(f"{len(cases) - failed} of {len(cases)} {what} hold{note}")
    return failed > 0
