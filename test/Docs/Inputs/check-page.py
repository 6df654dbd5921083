"""Checks that what a page of the documentation shows is what the tools print.

    check-page.py PAGE.md... ROOT [BUILD]

In a page,

  * a ```console block has commands, `$ COMMAND`, each followed by its output;
  * a block after `<!-- stg-opt FLAGS -->` is input that stg-opt accepts;
  * a block after `<!-- file: NAME -->` is a file that later commands may use;
  * a block after `<!-- from: FILE -->` is what FILE of the repository contains;
  * what utils/follow-howto.py makes of a block may end in `; as: FILE`: FILE, which is
    compiled, contains the block from its first line `using namespace` on, if it has one,
    but for white space and, after `but`, what matches a regular expression;
  * a ```console block after `<!-- follow -->` is left to that script.

A line `...` stands for any number of lines, `...` in a line for any text, and a
backslash at the end of a line continues it.
Commands run in an empty folder that shows docs/, examples/, models/ and test/ of ROOT,
and BUILD, if it is given, as build/. Several pages have one folder, so that one may go on
with what another has made.
"""

import os
import re
import subprocess
import sys
import tempfile


def get_blocks(lines):
    """Yields (line number, language, comment before the block, its lines)."""
    comment, block = "", None
    for number, line in enumerate(lines, 1):
        if block is not None:
            if line.startswith("```"):
                yield start, language, comment, block
                comment, block = "", None
            else:
                block.append(line)
        elif line.startswith("```"):
            start, language, block = number, line[3:].strip(), []
        elif line.strip():
            match = re.fullmatch(r"<!-- (.*) -->", line.strip())
            comment = match.group(1) if match else ""


def to_pattern(lines):
    """A regular expression for text in which `...` stands for anything."""
    pattern = ""
    for line in lines:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            parts = [re.escape(part) for part in line.rstrip().split("...")]
            pattern += ".*?".join(parts) + r"[ ]*\n"
    return pattern


def run(command, folder, text=None):
    process = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder,
                             input=text, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, check=False)
    return process.returncode, process.stdout


def split_transcript(lines):
    """Returns a list of [offset, command, output lines]."""
    commands, continued = [], False
    for offset, line in enumerate(lines):
        text = line[:-1] if line.endswith("\\") else line
        if continued:
            if commands[-1][2]:
                commands[-1][2][-1] += text.lstrip()
            else:
                commands[-1][1] += text.lstrip()
        elif line.startswith("$ "):
            commands.append([offset, text[2:], []])
        else:
            assert commands, f"expected '$ COMMAND', found '{line}'"
            commands[-1][2].append(text)
        continued = line.endswith("\\")
    return commands


def is_compiled(lines, place, root):
    """True if the file that `place` names contains the lines."""
    name, _, difference = place.partition(" but ")
    with open(os.path.join(root, name), encoding="utf-8") as file:
        compiled = " ".join(file.read().split())
    start = next((i for i, line in enumerate(lines) if line.startswith("using namespace")), 0)
    shown = " ".join(" ".join(lines[start:]).split())
    return shown in (re.sub(difference, "", compiled) if difference else compiled)


def check_block(block, folder, root):
    """Yields (line number, message) for what does not hold."""
    start, language, comment, lines = block
    kind, _, rest = comment.partition(" ")
    text = "\n".join(lines) + "\n"
    if kind == "stg-opt":
        status, output = run(comment, folder, text)
        if status:
            yield start, f"'{comment}' fails:\n{output}"
    elif kind == "file:":
        with open(os.path.join(folder, rest), "w", encoding="utf-8") as file:
            file.write(text)
    elif kind == "from:":
        with open(os.path.join(root, rest), encoding="utf-8") as file:
            if not re.search("^" + to_pattern(lines), file.read(), re.MULTILINE):
                yield start, f"this is not what {rest} contains"
    elif kind in ("new:", "insert:") and "; as: " in rest:
        place = rest.partition("; as: ")[2]
        if not is_compiled(lines, place, root):
            yield start, f"this is not what is compiled in {place}"
    if language == "console" and kind != "follow":
        for offset, command, expected in split_transcript(lines):
            output = run(command, folder)[1]
            if output and not output.endswith("\n"):
                output += "\n"
            if not re.fullmatch(to_pattern(expected), output):
                yield start + 1 + offset, f"'{command}' prints\n{output}"


def main():
    pages = [name for name in sys.argv[1:] if name.endswith(".md")]
    folders = [os.path.abspath(name) for name in sys.argv[1:] if name not in pages]
    root, failures = folders[0], 0
    with tempfile.TemporaryDirectory() as folder:
        for name in ["docs", "examples", "models", "test"]:
            os.symlink(os.path.join(root, name), os.path.join(folder, name))
        for build in folders[1:]:
            os.symlink(build, os.path.join(folder, "build"))
        for page in pages:
            with open(page, encoding="utf-8") as file:
                lines = file.read().splitlines()
            for block in get_blocks(lines):
                for number, message in check_block(block, folder, root):
                    print(f"{page}:{number}: {message}", file=sys.stderr)
                    failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
