"""Running the tools, and reading what they say and write.

Everything a test compares is read twice, along two paths that share no code: the
totals that `stg-compile --json` prints, and the files that it writes, read back by
`stg-trace`.
"""

import json
import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

# Chakra's CollectiveCommType.
COLLECTIVE_KINDS = {
    0: "all_reduce",
    2: "all_gather",
    6: "all_to_all",
    7: "reduce_scatter",
}

# A node's name: its layers, its op, its pass, and what it is there.
NAME = re.compile(r"(?:layers(?:_groups|_replayed|_first|_frozen)?\.\d+\.)*(.*?)\.(fwd|recompute|bwd|opt|grad_sync)\b")


def run(*command):
    """Standard output of a command; its standard error goes to ours."""
    result = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, text=True
    )
    if result.returncode:
        words = " ".join(map(str, command))
        raise SystemExit(f"exit status {result.returncode}: {words}")
    return result.stdout


def compile_json(*arguments):
    """The summary of `stg-compile` as JSON."""
    return json.loads(run("stg-compile", *arguments, "--json"))


def products(summary):
    """Operations of matrix products in all ranks together, by phase."""
    total = Counter()
    for entry in summary["classes"]:
        for phase, operations in entry["matrix_operations_by_phase"].items():
            total[phase] += operations * entry["ranks"]
    return dict(total)


def stats(folder):
    """The statistics of written traces: a list, one entry per rank."""
    return json.loads(run("stg-trace", "stats", "--json", "--ranks=0:", folder))["ranks"]


@dataclass(frozen=True)
class Node:
    """A node of a written trace."""

    name: str
    type: str
    attributes: dict

    phase: str  # `fwd`, `recompute`, `bwd`, `opt` or `grad_sync`
    op: str  # `qkv_proj`

    @property
    def kind(self):
        """The kind of a collective."""
        return COLLECTIVE_KINDS[self.attributes["comm_type"]]

    def tensors(self, key):
        """The (name, bytes) of `inputs` or `outputs`."""
        flat = self.attributes.get(key, [])
        return [(flat[i], int(flat[i + 1])) for i in range(0, len(flat), 2)]


def nodes(folder, rank=0):
    """The nodes of one rank's file."""
    lines = run("stg-trace", "print", f"--rank={rank}", folder).splitlines()
    result = []
    for entry in json.loads(f"[{','.join(lines)}]"):
        if "metadata" not in entry:
            name = entry["name"].rsplit("/", 1)[0]
            named = NAME.match(name)
            op, phase = named.groups() if named else (None, None)
            # An attribute is printed as its name and, called by its type, its value.
            attributes = dict(attribute.values() for attribute in entry["attr"])
            result.append(Node(name, entry["type"], attributes, phase, op))
    return result


def saved_bytes(rank_nodes, phase="fwd"):
    """Bytes that forward writes and backward reads, each tensor once.

    What backward replays belongs to it; with `phase="recompute"` the replay writes.
    Parameters, states and inputs of the step are not written by a node.
    """
    written = {}
    saved = set()
    for node in rank_nodes:
        if node.phase == phase:
            written.update(node.tensors("outputs"))
        elif node.phase in ("bwd", "recompute"):
            saved.update(name for name, _ in node.tensors("inputs") if name in written)
    return sum(written[name] for name in saved)


def file_collectives(rank_nodes):
    """Counts of (kind, group, phase, bytes of one call), from the nodes of a file."""
    counts = Counter()
    for node in rank_nodes:
        if node.type == "COMM_COLL":
            group, size = node.attributes["pg_name"], node.attributes["comm_size"]
            counts[node.kind, group, node.phase, size] += 1
    return counts


def read_groups(folder):
    """comm_group.json: group -> ranks."""
    return json.loads((Path(folder) / "comm_group.json").read_text())


def expected_groups(rank, tp, dp):
    """The groups of a rank: tensor-parallel ranks are neighbours (Megatron-LM)."""
    tp_index, dp_index = rank % tp, rank // tp
    groups = {}
    if tp > 1:
        groups["tp"] = [dp_index * tp + i for i in range(tp)]
    if dp > 1:
        groups["dp"] = [i * tp + tp_index for i in range(dp)]
    return groups
