"""Checks a page that is read like a notebook.

    check-notebook.py PAGE.md [--script FILE] [--figures FOLDER]

The ```python blocks of the page are executed in their order, in one namespace and an empty folder.
A ```text block after one has what it prints; a block without one prints nothing. A line `...`
stands for any number of lines, and `...` in a line for any text.

--script writes the blocks to a file, one after the other, for a checker of types. --figures copies
the pictures that they save to a folder.
"""

import argparse
import contextlib
import importlib.util
import io
import os
import shutil
import sys
import tempfile
import traceback
from pathlib import Path

PAGES = importlib.util.spec_from_file_location("pages", Path(__file__).parent / "check-page.py")
pages = importlib.util.module_from_spec(PAGES)
PAGES.loader.exec_module(pages)


def get_cells(text):
    """Yields (line number, code, lines that it prints)."""
    cell = None
    for start, language, _, lines in pages.get_blocks(text.splitlines()):
        if language == "python":
            if cell:
                yield cell
            cell = (start, "\n".join(lines) + "\n", [])
        elif language == "text" and cell:
            yield (*cell[:2], lines)
            cell = None
    if cell:
        yield cell


def run(page, cells):
    """Executes the cells in the current folder; the number of those that are wrong."""
    namespace, failures = {"__name__": "__main__"}, 0
    for start, code, expected in cells:
        output = io.StringIO()
        # Line numbers in messages are those of the page.
        compiled = compile("\n" * start + code, page, "exec")
        with contextlib.redirect_stdout(output):
            exec(compiled, namespace)
        if not pages.re.fullmatch(pages.to_pattern(expected), output.getvalue()):
            print(f"{page}:{start}: this prints\n{output.getvalue()}", file=sys.stderr)
            failures += 1
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page")
    parser.add_argument("--script")
    parser.add_argument("--figures")
    args = parser.parse_args()
    cells = list(get_cells(Path(args.page).read_text(encoding="utf-8")))
    if args.script:
        Path(args.script).write_text("".join(code for _, code, _ in cells), encoding="utf-8")
    os.environ.setdefault("MPLBACKEND", "Agg")
    figures = args.figures and os.path.abspath(args.figures)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("MPLCONFIGDIR", folder)
        place = os.getcwd()
        os.chdir(folder)
        try:
            failures = run(args.page, cells)
        except Exception:
            traceback.print_exc()
            failures = 1
        finally:
            os.chdir(place)
        for figure in sorted(Path(folder).glob("*.svg")):
            if "<path" not in figure.read_text(encoding="utf-8"):
                print(f"{args.page}: {figure.name} is empty", file=sys.stderr)
                failures += 1
            if figures:
                shutil.copy(figure, Path(figures) / figure.name)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
