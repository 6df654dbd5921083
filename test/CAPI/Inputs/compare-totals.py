"""Compares what the structs of the C interface have with a manifest.

    compare-totals.py MANIFEST TOTALS

TOTALS is what `stg-c-test totals` prints.
"""

import json
import sys

KINDS = {"all_reduce": 0, "all_gather": 2, "all_to_all": 6, "reduce_scatter": 7}
CATEGORIES = ["parameter", "gradient", "optimizer", "activation", "temporary", "communication",
              "input", "kv_cache", "host"]


def expect_class(entry):
    """The lines of one class."""
    memory = entry["memory"]
    nodes = "+".join(str(entry[f"{kind}_nodes"]) for kind in ("compute", "collective", "send", "recv"))
    yield f"class {entry['graph']} ranks {entry['ranks']} from {entry['first_rank']} nodes {nodes}"
    yield (f"  operations {entry['operations']} traffic {entry['memory_traffic_bytes']} "
           f"peak {memory['peak_bytes']['total']} at {memory['peak_at']}")
    products = entry["matrix_operations_by_phase"]
    for phase, operations in entry["operations_by_phase"].items():
        yield f"  {phase} operations {operations} products {products.get(phase, 0)}"
    for coll in entry["collectives"]:
        yield (f"  {'+'.join(coll['axes'])} kind {KINDS[coll['kind']]} of {coll['group_size']} "
               f"{coll['phase']} count {coll['count']} bytes {coll['bytes']}")
    for message in entry.get("messages", []):
        verb = "send" if message["kind"] == "send" else "receive"
        yield (f"  {verb} {message['axis']} shift {message['shift']} {message['phase']} "
               f"count {message['count']} bytes {message['bytes']}")
    for transfer in entry.get("transfers", []):
        yield (f"  {transfer['kind']} {transfer['phase']} count {transfer['count']} "
               f"bytes {transfer['bytes']}")
    for category in CATEGORIES:
        persistent, peak, largest = (memory[f"{which}_bytes"].get(category, 0)
                                     for which in ("persistent", "peak", "largest"))
        yield f"  {category} persistent {persistent} peak {peak} largest {largest}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        manifest = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        found = [line.rstrip("\n") for line in file]
    expected = [f"parameters {manifest['parameters']}", f"ranks {manifest['ranks']}"]
    for entry in manifest["classes"]:
        expected += expect_class(entry)
    for have, want in zip(found, expected):
        assert have == want, f"found    {have}\nexpected {want}"
    assert len(found) == len(expected), f"{len(found)} lines, expected {len(expected)}"


if __name__ == "__main__":
    main()
