"""Checks pictures of nodes against the nodes: check-graph.py SVG DOT NODES MATCH.
NODES is what stg-trace print writes."""
import json
import re
import sys
import xml.etree.ElementTree as ElementTree

nodes = {}
with open(sys.argv[3]) as file:
    for line in file:
        entry = json.loads(line)
        if "id" in entry:
            nodes[entry["id"]] = entry
chosen = {i for i, node in nodes.items() if sys.argv[4] in node["name"]}
edges = {
    (source, i) for i in chosen for source in nodes[i].get("data_deps", []) + nodes[i].get("ctrl_deps", [])
}
drawn = chosen | {source for source, _ in edges}

with open(sys.argv[2]) as file:
    dot = file.read()
assert {int(i) for i in re.findall(r"^  n(\d+) \[", dot, re.M)} == drawn
assert {(int(a), int(b)) for a, b in re.findall(r"^  n(\d+) -> n(\d+);", dot, re.M)} == edges

space = "{http://www.w3.org/2000/svg}"
root = ElementTree.parse(sys.argv[1]).getroot()
boxes = [
    tuple(float(rect.get(key)) for key in ("x", "y", "width", "height"))
    for rect in root.iter(space + "rect")
    if rect.get("rx")
]
assert len(boxes) == len(drawn)
# No box is on another, and all are on the picture.
width, height = float(root.get("width")), float(root.get("height"))
for i, (x, y, w, h) in enumerate(boxes):
    assert 0 <= x and x + w <= width and 0 <= y and y + h <= height
    for a, b, c, d in boxes[:i]:
        assert x >= a + c or a >= x + w or y >= b + d or b >= y + h
lines = list(root.iter(space + "polyline"))
assert len(lines) == len(edges)
for line in lines:
    (_, top), (_, bottom) = (map(float, point.split(",")) for point in line.get("points").split())
    assert top < bottom
names = {text.text for text in root.iter(space + "text")}
assert {nodes[i]["name"].split("/")[0] for i in drawn} <= names
print(len(drawn), "nodes,", len(edges), "edges")
