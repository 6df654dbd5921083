#!/usr/bin/env python3
"""Does what a page of docs/ tells its reader to do, and compares what comes out.

    utils/follow-howto.py [--build-dir DIR] [--keep] PAGE.md...

In a page,

  * a block after `<!-- new: FILE -->` is a new file of the tree;
  * a block after `<!-- insert: FILE before "TEXT" -->`, or `after`, is put there, in front
    of the line or behind the line that is TEXT;
  * a ```console block after `<!-- follow -->` has commands, `$ COMMAND`, each followed by
    its output, that are run when all of this is built.

Nothing of it is left behind: the tree and its build folder are seen through an overlay in a
mount namespace of the script's own, and what is changed is in memory. So only what a page
changes is compiled. Where there are no such namespaces, run the script in a copy of the tree
with --keep, which changes the tree itself.
"""

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def load_check_page():
    path = ROOT / "test" / "Docs" / "Inputs" / "check-page.py"
    spec = importlib.util.spec_from_file_location("check_page", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check_page = load_check_page()


def enter_overlay():
    """Starts this script again, where the tree can be changed without being changed."""
    if os.environ.get("STG_FOLLOW_OVERLAY"):
        return
    scratch = tempfile.mkdtemp(prefix="stg-follow-")
    mounts = (f"mount -t tmpfs tmpfs {scratch} && mkdir {scratch}/upper {scratch}/work && "
              f"mount -t overlay overlay -o lowerdir={ROOT},upperdir={scratch}/upper,"
              f"workdir={scratch}/work,userxattr {ROOT} && cd {ROOT} && exec \"$@\"")
    command = ["unshare", "--user", "--map-root-user", "--mount", "bash", "-c", mounts, "bash",
               sys.executable, os.path.abspath(__file__), *sys.argv[1:]]
    try:
        status = subprocess.run(command, check=False,
                                env={**os.environ, "STG_FOLLOW_OVERLAY": "1"}).returncode
    finally:
        os.rmdir(scratch)
    sys.exit(status)


def insert(path, place, lines):
    """Puts lines before or after the one line that is the text."""
    match = re.fullmatch(r'(before|after) "(.*)"', place)
    assert match, f"expected 'before \"TEXT\"' or 'after \"TEXT\"', found '{place}'"
    old = path.read_text(encoding="utf-8").splitlines()
    numbers = [number for number, line in enumerate(old) if line == match.group(2)]
    assert len(numbers) == 1, f"{path}: the line '{match.group(2)}' is there {len(numbers)} times"
    at = numbers[0] + (match.group(1) == "after")
    path.write_text("\n".join(old[:at] + lines + old[at:]) + "\n", encoding="utf-8")


def apply(page):
    """Makes the files of a page; returns its commands."""
    commands = []
    lines = Path(page).read_text(encoding="utf-8").splitlines()
    for start, language, comment, block in check_page.get_blocks(lines):
        kind, _, rest = comment.partition(" ")
        name, _, place = rest.partition(";")[0].strip().partition(" ")
        if kind == "new:":
            path = ROOT / name
            assert not path.exists(), f"{page}:{start}: {name} is there already"
            path.write_text("\n".join(block) + "\n", encoding="utf-8")
            print(f"{page}:{start}: makes {name}", flush=True)
        elif kind == "insert:":
            insert(ROOT / name, place, block)
            print(f"{page}:{start}: changes {name}", flush=True)
        elif kind == "follow" and language == "console":
            commands += [(start + 1 + offset, command, expected) for
                         offset, command, expected in check_page.split_transcript(block)]
    return commands


def run_commands(page, commands, build):
    failures = 0
    tools = "/usr/lib/llvm-22/bin"  # FileCheck
    os.environ["PATH"] = os.pathsep.join([str(build / "bin"), tools, os.environ["PATH"]])
    for number, command, expected in commands:
        status, output = check_page.run(command, ROOT)
        if output and not output.endswith("\n"):
            output += "\n"
        if re.fullmatch(check_page.to_pattern(expected), output):
            print(f"{page}:{number}: $ {command}", flush=True)
        else:
            print(f"{page}:{number}: '{command}' ends with {status} and prints\n{output}",
                  file=sys.stderr)
            failures += 1
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="+", metavar="PAGE.md")
    parser.add_argument("--build-dir", default=os.environ.get("STG_BUILD_DIR", "build"),
                        help="a build folder in the tree (default: build)")
    parser.add_argument("--keep", action="store_true", help="change the tree itself")
    arguments = parser.parse_args()
    build = ROOT / arguments.build_dir
    if not (build / "CMakeCache.txt").exists():
        sys.exit(f"follow-howto.py: error: {build} is not configured; see CONTRIBUTING.md")
    if not arguments.keep:
        enter_overlay()
    os.chdir(ROOT)
    commands = [(page, apply(page)) for page in arguments.pages]
    subprocess.run(["cmake", "--build", build, "--target", "stg-opt", "stg-translate"],
                   check=True)
    failures = sum(run_commands(page, list_, build) for page, list_ in commands)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
