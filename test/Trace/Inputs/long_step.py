#!/usr/bin/env python3
"""Writes the trace of a long step: long_step.py LAYERS FILE

Each layer has two branches forward. What they write is read again backward,
where it is no dependency of its own.
"""

import sys

import make_trace


class Step:
    """Nodes one after the other."""

    def __init__(self):
        self.data = bytearray(make_trace.message(["meta"], 0))
        self.count = 0

    def add(self, deps, reads, write):
        words = ["comp", str(self.count), f"out={write}:1"]
        if deps:
            words.append("data=" + ",".join(map(str, deps)))
        if reads:
            words.append("in=" + ",".join(name + ":1" for name in reads))
        self.data += make_trace.message(words, 0)
        self.count += 1
        return self.count - 1


def main():
    layers, step, last = int(sys.argv[1]), Step(), []
    for layer in range(layers):
        branches = [step.add(last, [], f"{branch}{layer}") for branch in "ab"]
        last = [step.add(branches, [f"a{layer}", f"b{layer}"], f"c{layer}")]
    for layer in reversed(range(layers)):
        last = [step.add(last, [f"{name}{layer}" for name in "abc"], f"d{layer}")]
    step.add([], [], "alone")
    step.add(last, ["alone"], "e")
    with open(sys.argv[2], "wb") as file:
        file.write(step.data)


main()
