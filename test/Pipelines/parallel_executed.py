"""Compares pipelines, micro-batches, ZeRO, FSDP and context parallelism with executed steps.

Inputs/executed_parallel.json has totals that were counted while distributed training
steps of tiny models really ran (float32, whole square of causal attention counted). Each
of them is compared exactly, for every rank: operations of matrix products, every
collective (kind, size of the group, count, bytes passed in), every message (peer, count,
bytes), bytes of parameters, of gradients, of Adam's moments and of floating point numbers
that were saved for backward, at their most. (The runs saved softmaxes of attention, of which we save
log-sum-exps, and did not count what a stage waits to send or has received ahead.)

Usage: parallel_executed.py RUN...
"""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
RUNS = json.loads((HERE / "Inputs" / "executed_parallel.json").read_text())


def flags(c):
    """The command line of stg-compile for a configuration."""
    model = "gpt2-1.5b" if c["arch"] == "gpt" else "llama3-8b"
    sizes = dict(D=c["hidden"], H=c["heads"], E=c["head_dim"], F=c["ffn"], V=c["vocab"], L=c["layers"])
    sizes.update(dict(P=c["max_pos"]) if c["arch"] == "gpt" else dict(K=c["kv_heads"]))
    batch = c["micro_batch"] * c["microbatches"] * c["dp"]
    result = [model, f"--batch={batch}", f"--micro-batch={c['micro_batch']}", f"--seq={c['seq']}"]
    result += [f"--set={name}={value}" for name, value in sizes.items()]
    result += [f"--{axis}={c[axis]}" for axis in ("tp", "cp", "dp", "pp")]
    result += ["--dtype=f32", "--grad-dtype=f32", "--attention-count=full", f"--recompute={c['recompute']}"]
    if c["sp"]:
        result.append("--sequence-parallel")
    if (c["tp"] > 1 and c["sp"] and not c["sp_regather"]) or (c["cp"] > 1 and not c["cp_regather"]):
        result.append("--keep-gathered")
    if c["zero1"]:
        result.append("--zero=1")
    if c["fsdp"]:
        result += ["--zero=3", f"--zero-root={c['fsdp_root']}"]
    return result


def compiled(c):
    """What each rank does, in the form of the executed totals."""
    command = ["stg-compile", *flags(c), "--dry-run", "--json"]
    manifest = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    degrees = {axis["axis"]: axis["size"] for axis in manifest["mesh"]}
    strides, stride = {}, 1
    for axis in manifest["mesh"]:
        strides[axis["axis"]] = stride
        stride *= axis["size"]
    ranks = {}
    for entry in manifest["classes"]:
        for rank in range(manifest["ranks"]):
            coordinate = {axis: rank // strides[axis] % size for axis, size in degrees.items()}
            if any(coordinate[axis] != value for axis, value in entry["coordinates"].items()):
                continue
            messages = Counter()
            for m in entry.get("messages", []):
                size = degrees[m["axis"]]
                peer = rank + ((coordinate[m["axis"]] + m["shift"]) % size - coordinate[m["axis"]]) * strides[m["axis"]]
                messages[m["kind"], peer, "count"] += m["count"]
                messages[m["kind"], peer, "bytes"] += m["bytes"]
            collectives = Counter()
            for coll in entry["collectives"]:
                collectives[coll["kind"], coll["group_size"], "count"] += coll["count"]
                collectives[coll["kind"], coll["group_size"], "bytes"] += coll["bytes"]
            phases = entry["matrix_operations_by_phase"]
            ranks[rank] = {
                "products_forward": phases["fwd"],
                "products_backward": phases["bwd"] + phases.get("recompute", 0),
                "collectives": collectives,
                "messages": messages,
                "parameter_bytes": entry["memory"]["persistent_bytes"]["parameter"],
                "gradient_bytes": entry["memory"]["largest_bytes"]["gradient"],
                "optimizer_bytes": entry["memory"]["persistent_bytes"]["optimizer"],
                "saved_bytes": entry["memory"]["largest_bytes"]["activation"],
            }
    return ranks


def saved(c, rank):
    """What the run saved, with log-sum-exps in place of softmaxes, and one message."""
    stage = rank["rank"] // (c["tp"] * c["cp"] * c["dp"])
    in_flight = min(c["pp"] - stage, c["microbatches"])
    rows = c["micro_batch"] * c["heads"] // c["tp"] * c["seq"] // c["cp"]
    softmaxes = rows * (c["seq"] - 1) * 4 * c["layers"] // c["pp"] * in_flight
    tokens = c["micro_batch"] * c["seq"] // c["cp"] // (c["tp"] if c["sp"] else 1)
    message = tokens * c["hidden"] * 4 if c["pp"] > 1 else 0
    return rank["saved_bytes"] - softmaxes + message


def executed(c, rank):
    collectives, messages = Counter(), Counter()
    for kind, size, count, bytes_in in rank["collectives"]:
        collectives[kind, size, "count"] += count
        collectives[kind, size, "bytes"] += bytes_in
    for kind, peer, count, total in rank["messages"]:
        messages[kind, peer, "count"] += count
        messages[kind, peer, "bytes"] += total
    return dict(rank, collectives=collectives, messages=messages, saved_bytes=saved(c, rank))


def main():
    failures = 0
    for name in sys.argv[1:]:
        run = RUNS[name]
        ours = compiled(run["config"])
        for rank in run["ranks"]:
            want, have = executed(run["config"], rank), ours[rank["rank"]]
            for key, value in have.items():
                if value != want[key]:
                    failures += 1
                    print(f"{name} rank {rank['rank']}: {key}\n  executed {want[key]}\n  compiled {value}")
        print(f"{name}: {len(run['ranks'])} ranks compared")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
