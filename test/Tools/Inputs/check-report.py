"""Checks a page of stg-compile --report: check-report.py PAGE MANIFEST.

It loads nothing, its tables and pictures are those of the manifest."""

import json
import re
import sys
from html.parser import HTMLParser


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.rows, self.titles, self.sections, self.headings = [], [], [], [], []
        self.pictures = 0

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        assert not {"src", "href", "xlink:href", "data", "srcset"} & attrs.keys(), (tag, attrs)
        assert tag not in ("script", "link", "img", "iframe", "object", "embed"), tag
        if tag not in ("meta",):
            self.open.append(tag)
        if tag == "svg":
            self.pictures += 1
        elif tag == "tr":
            self.rows.append([])
        elif tag == "h2":
            self.sections.append(attrs["id"])

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "td":
            self.rows[-1].append(data)
        elif self.open and self.open[-1] == "title":
            self.titles.append(data)
        elif self.open and self.open[-1] == "h3":
            self.headings.append(data)


def to_text(count):
    """As STG writes bytes."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if count < 1024 or unit == "TiB":
            return f"{count} B" if unit == "B" else f"{count:.2f} {unit}"
        count /= 1024


with open(sys.argv[1]) as file:
    text = file.read()
assert not re.search(r"url\(|@import", text)
assert set(re.findall(r"https?://[^\"< ]*", text)) == {"http://www.w3.org/2000/svg"}
page = Page()
page.feed(text)
assert page.open == [], page.open
assert page.sections == ["summary", "time", "schedule", "memory", "communication", "pairs"]

with open(sys.argv[2]) as file:
    manifest = json.load(file)
classes = manifest["classes"]

# Memory of each class.
assert len(page.headings) == len(classes)
for heading, entry in zip(page.headings, classes):
    peak = entry["memory"]["peak_bytes"]["total"]
    assert heading == f"{entry['graph']}, {entry['ranks']} ranks: peak {to_text(peak)}", heading

# Communication by axis.
expected = set()
for entry in classes:
    for item in entry.get("collectives", []):
        name = item["kind"].replace("_", "-")
        expected.add((entry["graph"], "+".join(item["axes"]), name, item["phase"], item["count"], item["bytes"]))
    for item in entry.get("messages", []):
        name = {"send": "send", "recv": "receive"}[item["kind"]]
        expected.add((entry["graph"], item["axis"], name, item["phase"], item["count"], item["bytes"]))
got = {(*row[:4], int(row[4]), row[5]) for row in page.rows if row}
assert got == {(*item[:5], to_text(item[5])) for item in expected}, got

# Messages by pair: what the ranks of a class send to the next.
titles = "\n".join(page.titles)
for entry in classes:
    sent = sum(item["bytes"] for item in entry.get("messages", []) if item["kind"] == "send" and item["shift"] == 1)
    if sent:
        stride = 1
        for axis in manifest["mesh"]:
            if axis["axis"] == "pp":
                break
            stride *= axis["size"]
        rank = entry["first_rank"]
        assert f"rank {rank} to rank {rank + stride}: {to_text(sent)}" in titles, (rank, stride, to_text(sent))
print(page.pictures, "pictures")
