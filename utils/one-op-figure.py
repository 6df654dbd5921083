#!/usr/bin/env python3
"""Writes docs/figures/one-op.svg: one op of a model on all levels, as the tools print it.

    utils/one-op-figure.py > docs/figures/one-op.svg

The tools are those on PATH. The op is the product of Llama's feed-forward layer that makes
gate and up: its weight is divided by columns. utils/update-docs.sh runs this script.
"""

import html
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OP = "gate_up_proj"
COLUMNS = 104
CHAR, LINE, MARGIN, LEFT = 7.25, 17, 16, 150
WIDTH = LEFT + COLUMNS * CHAR + 2 * MARGIN

# The level, what leads to it, what is said of it, which ops are shown, and which part of them
# is new.
LEVELS = [
    ("model", "--stg-inline-blocks --stg-name-ops",
     "The forward pass on one logical device. The op has the name of its parameter.",
     r'stg\.(param|einsum)', r'<"gate_up_proj">'),
    ("step", "--stg-autodiff --stg-optimizer",
     "Two products more in backward, for the input and for the weight.",
     r'stg\.einsum', r'<[^<>]*(fwd|bwd dx|bwd dw)>|into = f32'),
    ("plan", '--stg-apply-preset="dp=dp tp=tp sequence-parallel" --stg-propagate-shardings',
     "Each dimension says over which axes it is divided, each op what it computes divided.",
     r'stg\.einsum.* fwd>', r' : (dp|tp)|factors = #stg\.factors<[^>]*>'),
    ("local", "--stg-insert-collectives --stg-simplify-collectives",
     "What one device does: local extents, and a gather where tokens are divided.",
     r'stg\.\w+ .* fwd>', r'\w+/(dp|tp)|stg\.all_gather'),
    ("chakra", "--convert-stg-to-chakra",
     "Nodes and buffers, with operations and bytes as expressions.",
     r'chakra\.\w+ .*phase "fwd"', r'(ops|bytes|over)( )?[(\[].*?[)\]](?= )'),
]
TRACE = ("trace", "stg-compile llama3-8b --dp 2 --tp 2 --sequence-parallel --batch 8",
         "The same two nodes in the trace of rank 0, in layer 3.",
         r'"(comm_size|num_ops|tensor_size)","u?int64_val":\d+')


def run(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def find(text, pattern):
    """The lines that show the op: each once, as it is printed for the first time."""
    lines = []
    for line in text.splitlines():
        names_op = re.search(rf'(<|param |comp |coll \w+ )"{OP}[".]', line)
        if names_op and re.search(pattern, line):
            lines.append(line.strip())
    return lines


def collect(folder):
    """Yields the levels, each with its lines."""
    source = str(ROOT / "models" / "llama.mlir")
    for name, passes, meaning, pattern, new in LEVELS:
        output = str(Path(folder) / f"{name}.mlir")
        run("bash", "-c", f"stg-opt {source} {passes} -o {output}")
        lines = find(Path(output).read_text(encoding="utf-8"), pattern)
        # The parameter is read again in backward, and by the optimizer.
        yield name, "stg-opt " + passes, meaning, list(dict.fromkeys(lines))[:3], new
        source = output
    name, command, meaning, new = TRACE
    traces = str(Path(folder) / "traces")
    run(*command.split(), "--quiet", "-o", traces)
    nodes = run("stg-trace", "print", "--rank", "0", traces).splitlines()
    yield name, command, meaning, [node for node in nodes if
                                   f'"name":"layers.3.{OP}.fwd' in node], new


# Where a reader would cut a line: between types and clauses, and between members of JSON.
CUTS = re.compile(r'(?<=>, )|(?<= -> )|(?<= : )(?=[!(])|(?=<")|(?=\{stg)|(?=over \[)|(?<="\()|'
                  r'(?=phase )|(?=bytes\()|(?=ops\()|(?<=[\]}",0-9],)(?=["{])')


def wrap(line):
    """Yields the rows of a line, each with its indent."""
    indent = 0
    while len(line) > COLUMNS - indent:
        cut = max(match.start() for match in CUTS.finditer(line)
                  if match.start() <= COLUMNS - indent)
        yield indent, line[:cut].rstrip()
        line, indent = line[cut:].lstrip(), 4
    yield indent, line


def paint(row, marks):
    """The row as text of SVG, with what is new in another colour."""
    parts, at = [], 0
    for start, end in marks:
        parts += [html.escape(row[at:start], quote=False),
                  f'<tspan class="new">{html.escape(row[start:end], quote=False)}</tspan>']
        at = end
    return "".join(parts) + html.escape(row[at:], quote=False)


def text(x, y, style, content):
    return f'<text x="{x:g}" y="{y:g}" class="{style}">{content}</text>'


def draw_lines(lines, new, y):
    """Returns the elements of the lines, and where the next one may begin."""
    elements = []
    for line in lines:
        for indent, row in wrap(line):
            marks = [match.span() for match in re.finditer(new, row)]
            elements.append(text(LEFT + MARGIN + indent * CHAR, y, "code", paint(row, marks)))
            y += LINE
        y += 5
    return elements, y


def draw(levels):
    elements, y = [], 2 * MARGIN
    for name, command, meaning, lines, new in levels:
        assert lines, f"no op '{OP}' on level {name}"
        elements.append(text(LEFT + MARGIN, y, "pass", html.escape(command, quote=False)))
        top = y + 10
        body, bottom = draw_lines(lines, new, top + 2 * LINE + 6)
        elements.append(f'<rect x="{MARGIN}" y="{top:g}" width="{WIDTH - 2 * MARGIN:g}" '
                        f'height="{bottom - top - 4:g}"/>')
        elements.append(text(2 * MARGIN, top + LINE + 2, "level", name))
        elements.append(text(LEFT + MARGIN, top + LINE + 1, "meaning", html.escape(meaning)))
        elements += body
        y = bottom + 2 * MARGIN
    style = ("rect{fill:#f6f8fa;stroke:#d0d7de}"
             ".code{font:12px monospace;fill:#24292f}.new{fill:#0550ae;font-weight:bold}"
             ".pass{font:italic 12px monospace;fill:#57606a}"
             ".level{font:bold 16px sans-serif}.meaning{font:13px sans-serif}")
    height = y - 2 * MARGIN
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH:g}" '
                      f'height="{height:g}" viewBox="0 0 {WIDTH:g} {height:g}">',
                      f"<title>{OP} of models/llama.mlir on all levels</title>",
                      f"<style>{style}</style>", '<path d="M0 0H9999V9999H0Z" fill="#fff"/>',
                      *elements, "</svg>", ""])


def main():
    with tempfile.TemporaryDirectory() as folder:
        sys.stdout.write(draw(list(collect(folder))))


if __name__ == "__main__":
    main()
