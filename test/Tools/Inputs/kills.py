#!/usr/bin/env python3
"""Kills exports at random moments and resumes them.

    kills.py KILLS DIRECTORY [SEED]

After each kill, whatever has a final name must be whole: equal to the file of an export
that was left alone. When a resumed export comes to its end, the directory must be equal to
that of the other one, and nothing else may be in it.

A moment is a number of entries in the directory, so that most kills meet a process that
writes, however fast or busy the machine is, and a few milliseconds more.
"""

import filecmp
import json
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

COMMON = "llama3-8b --tp=2 --pp=2 --dp=8 --batch=32 --micro-batch=1 --set=L=8 --quiet".split()
PARTS = 3
SIGNALS = [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT]


def compile_set(folder, *flags, sequence=1024):
    return ["stg-compile", *COMMON, f"--seq={sequence}", "-o", str(folder), *flags]


def of_parts(command):
    """One command for each part of the set."""
    return [[*command, f"--part={part}/{PARTS}"] for part in range(1, PARTS + 1)]


def run(command):
    """The exit status, and what was printed."""
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return result.returncode, result.stdout


def run_well(command):
    status, output = run(command)
    if status:
        raise SystemExit(f"exit status {status}: {' '.join(command)}\n{output}")


class Sets:
    """What exports leave that nobody kills, of the set and of an earlier one."""

    def __init__(self, root):
        self.new, self.old, self.bundle = root / "new", root / "old", root / "bundle"
        run_well(compile_set(self.new))
        run_well(compile_set(self.old, sequence=2048))
        run_well(compile_set(self.bundle, "--bundle"))
        self.num_files = len(list(self.new.iterdir()))

    def is_whole(self, file):
        return any(
            (known / file.name).exists() and filecmp.cmp(file, known / file.name, shallow=False)
            for known in (self.new, self.old)
        )

    def check_rest(self, folder):
        """Everything that has a final name, after a kill."""
        for file in folder.iterdir():
            part = re.fullmatch(r"manifest\.(\d+)-(\d+)\.json", file.name)
            if part:
                first, end = map(int, part.groups())
                if json.loads(file.read_text())["ranks_written"] != [first, end]:
                    raise SystemExit(f"{file} is of other ranks")
                self.check_present(folder, range(first, end))
            elif not file.name.startswith(".stg-") and not self.is_whole(file):
                raise SystemExit(f"{file} is not whole")
        if (folder / "manifest.json").exists():
            self.check_present(folder, range(self.num_files - 2))

    def check_present(self, folder, ranks):
        for rank in ranks:
            if not (folder / f"workload.{rank}.et").exists():
                raise SystemExit(f"{folder} has a manifest, but not rank {rank}")

    def check_end(self, folder):
        names = {entry.name for entry in self.new.iterdir()}
        extra = {entry.name for entry in folder.iterdir()} ^ names
        _, differ, errors = filecmp.cmpfiles(self.new, folder, names, shallow=False)
        if extra or differ or errors:
            raise SystemExit(f"{folder} differs: {sorted(extra)} {differ} {errors}")


def is_old(folder, sets):
    """True if a process was killed before it touched the earlier export."""
    return (folder / "manifest.json").exists() and filecmp.cmp(
        folder / "manifest.json", sets.old / "manifest.json", shallow=False
    )


class Case:
    """A way to make the set; `commands` run at the same time."""

    def __init__(self, name, sets, folder):
        self.name, self.sets, self.folder = name, sets, folder
        unbundle = ["stg-translate", "--unbundle", str(sets.bundle / "traces.stgb"), f"--trace-dir={folder}", "--quiet"]
        self.commands = {
            "whole": [compile_set(folder)],
            "replacing": [compile_set(folder)],
            "parts": of_parts(compile_set(folder)),
            "unbundle": [unbundle],
            "unbundled parts": of_parts(unbundle),
        }[name]

    def begin(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.name == "replacing":
            shutil.copytree(self.sets.old, self.folder)

    def next_commands(self):
        """To go on with. Only a whole export replaces another set, and one that resumes
        does so if the first one has begun with it."""
        if not self.folder.exists() or is_old(self.folder, self.sets):
            return self.commands
        return [[*command, "--resume"] for command in self.commands]


def count_entries(folder):
    return len(list(folder.iterdir())) if folder.exists() else 0


def wait_for(processes, folder, entries):
    """Until the directory has so many entries, or the processes are through."""
    while count_entries(folder) < entries and any(process.poll() is None for process in processes):
        time.sleep(0.0005)


def kill_once(case, rng):
    """Runs the commands and kills them at the same moment; false if all had come to their end."""
    # Replacing begins by removing files, so that any number of them is there at once.
    present = 0 if case.name == "replacing" else count_entries(case.folder)
    moment = rng.randint(present, max(present, case.sets.num_files + 1))
    delay = rng.uniform(0, 0.1 if moment == present else 0.005)
    processes = [
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for command in case.next_commands()
    ]
    wait_for(processes, case.folder, moment)
    time.sleep(delay)
    killer = rng.choice(SIGNALS)
    for process in processes:
        process.send_signal(killer)
    statuses = [process.wait() for process in processes]
    return -killer in statuses


def main():
    wanted, root = int(sys.argv[1]), Path(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
    print("seed", seed, flush=True)
    rng = random.Random(seed)
    sets = Sets(root)
    cases = [Case(name, sets, root / "out") for name in ("whole", "replacing", "parts", "unbundle", "unbundled parts")]
    kills = halfway = 0
    while kills < wanted:
        case = rng.choice(cases)
        case.begin()
        for _ in range(rng.randint(1, 4)):
            killed = kill_once(case, rng)
            kills += killed
            halfway += killed and 0 < count_entries(case.folder) < sets.num_files
            if case.folder.exists():
                sets.check_rest(case.folder)
        for command in case.next_commands():
            run_well(command)
        sets.check_end(case.folder)
    print("halfway:", halfway)
    print("kills:", kills)


if __name__ == "__main__":
    main()
