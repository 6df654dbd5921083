"""Checks a picture of a pipeline against the timeline of the same estimate.

check-picture.py PICTURE TIMELINE ROWS MICRO_BATCHES CHUNKS WEIGHTS: boxes of weights
there are if WEIGHTS is 1."""

import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict

rows, micro, chunks, weights = map(int, sys.argv[3:7])
root = ElementTree.parse(sys.argv[1]).getroot()
space = "{http://www.w3.org/2000/svg}"
assert root.tag == space + "svg"

boxes = defaultdict(list)  # By y.
for rect in root.iter(space + "rect"):
    title = rect.find(space + "title")
    if title is None or title.text.startswith("exposed"):
        continue
    kind, start, end = re.fullmatch(r"(.*): ([\d.e+-]+) to ([\d.e+-]+) ms", title.text).groups()
    boxes[float(rect.get("y"))].append(
        (float(start), float(end), kind, float(rect.get("x")), float(rect.get("width")), rect.get("fill"))
    )
assert len(boxes) == rows, boxes.keys()

# Boxes of a row are one after the other, as wide as they are long.
first = min(box[0] for row in boxes.values() for box in row)
last = max(box[1] for row in boxes.values() for box in row)
left = min(box[3] for row in boxes.values() for box in row)
right = max(box[3] + box[4] for row in boxes.values() for box in row)
scale = (right - left) / (last - first)
for row in boxes.values():
    row.sort()
    for (_, end, *_), (start, *_) in zip(row, row[1:]):
        assert start >= end - 1e-3, (start, end)
    for start, end, _, x, width, _ in row:
        assert abs(x - left - (start - first) * scale) < 0.1
        assert abs(width - max(0.3, (end - start) * scale)) < 0.1
    kinds = Counter(box[2] for box in row)
    wanted = ["forward", "backward"] + ["backward of weights"] * weights
    for kind in wanted:
        for number in range(micro):
            assert kinds.pop(f"{kind} of micro-batch {number}") == chunks, (kind, number)
    assert set(kinds) <= {"optimizer", "other"}, kinds
    # Virtual stages have colours of their own.
    assert len({box[5] for box in row if box[2].startswith("forward")}) == chunks

# They begin where the timeline has the first kernel of a task.
with open(sys.argv[2]) as file:
    events = json.load(file)["traceEvents"]
starts = {round(e["ts"] / 1e3, 2) for e in events if e["ph"] == "X" and e["tid"] == 7}
for row in boxes.values():
    for start, _, kind, *_ in row:
        assert any(abs(start - value) < 0.02 + 1e-5 * start for value in starts), (kind, start)

texts = [text.text for text in root.iter(space + "text")]
bubbles = [text for text in texts if re.fullmatch(r"bubble [\d.]+ %", text)]
assert len(bubbles) == rows
print(next(text for text in texts if text.startswith("step ")))
