"""Compares pipelines, micro-batches, ZeRO, FSDP and context parallelism with executed steps.

Inputs/executed_parallel.json has totals that were counted while distributed training
steps of tiny models really ran (float32, whole square of causal attention counted). Each
of them is compared exactly, for every rank: operations of matrix products, every
collective (kind, size of the group, count, bytes passed in), every message (peer, count,
bytes), bytes of parameters, of gradients, of Adam's moments and of floating point numbers
that were saved for backward, at their most. (The runs saved softmaxes of attention, of which we save
log-sum-exps, and did not count what a stage waits to send or has received ahead.)

Usage: parallel_executed.py runs RUN...
"""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import checks
from checks import LIBRARY, Plan

RUNS = json.loads((Path(__file__).parent / "Inputs" / "executed_parallel.json").read_text())


def model_of(c):
    """The model of a configuration, and flags for what is not a size of all models."""
    gpt = c["arch"] == "gpt"
    model = LIBRARY["gpt2-1.5b" if gpt else "llama3-8b"]
    heads = dict(a=c["heads"], d=c["head_dim"]) if gpt else dict(a=c["heads"], g=c["kv_heads"], d=c["head_dim"])
    model = replace(model, h=c["hidden"], f=c["ffn"], V=c["vocab"], L=c["layers"], s=c["seq"], **heads)
    return model, [f"--set=P={c['max_pos']}"] if gpt else []


def plan_of(c):
    """The plan of a configuration."""
    regathers = c["sp_regather"] or not c["sp"] or c["tp"] == 1
    regathers = regathers and (c["cp_regather"] or c["cp"] == 1)
    return Plan(
        **{axis: c[axis] for axis in ("tp", "cp", "dp", "pp")},
        batch=c["micro_batch"] * c["microbatches"] * c["dp"],
        micro_batch=c["micro_batch"],
        sequence_parallel=c["sp"],
        keep_gathered="experts" if regathers else "all",
        zero=3 if c["fsdp"] else 1 if c["zero1"] else 0,
        zero_root=c["fsdp_root"] if c["fsdp"] else "kept",
        recompute=c["recompute"],
        attention_count="full",
        dtype="f32",
    )


def counted(totals):
    """Counts and bytes of (key..., count, bytes)."""
    result = Counter()
    for *key, count, size in totals:
        result[(*key, "count")] += count
        result[(*key, "bytes")] += size
    return result


def ranks_of(compiled):
    """Each rank's class, and its coordinates."""
    axes = {axis["axis"]: axis["size"] for axis in compiled["mesh"]}
    for rank in range(compiled["ranks"]):
        coordinates, rest = {}, rank
        for axis, size in axes.items():
            rest, coordinates[axis] = divmod(rest, size)
        for entry in compiled.classes:
            if entry["coordinates"].items() <= coordinates.items():
                yield rank, entry, coordinates


def sent_and_received(compiled, entry, rank, coordinates):
    """(kind, peer, count, bytes) of the messages of a rank."""
    stride = 1
    for axis in compiled["mesh"]:
        for m in entry.entry.get("messages", []):
            if m["axis"] == axis["axis"]:
                there = (coordinates[m["axis"]] + m["shift"]) % axis["size"]
                peer = rank + (there - coordinates[m["axis"]]) * stride
                yield m["kind"], peer, m["count"], m["bytes"]
        stride *= axis["size"]


def found(compiled):
    """What each rank does, in the form of the executed totals."""
    result = {}
    for rank, entry, coordinates in ranks_of(compiled):
        collectives = [(c["kind"], c["group_size"], c["count"], c["bytes"]) for c in entry["collectives"]]
        result[rank] = {
            "products_forward": entry.products["fwd"],
            "products_backward": entry.products["bwd"] + entry.products.get("recompute", 0),
            "collectives": counted(collectives),
            "messages": counted(sent_and_received(compiled, entry, rank, coordinates)),
            "parameter_bytes": entry.states["parameter"],
            "gradient_bytes": entry.largest["gradient"],
            "optimizer_bytes": entry.states["optimizer"],
            "saved_bytes": entry.largest["activation"],
        }
    return result


def saved(c, rank):
    """What the run saved, with log-sum-exps in place of softmaxes, and one message."""
    stage = rank["rank"] // (c["tp"] * c["cp"] * c["dp"])
    in_flight = min(c["pp"] - stage, c["microbatches"])
    rows = c["micro_batch"] * c["heads"] // c["tp"] * c["seq"] // c["cp"]
    softmaxes = rows * (c["seq"] - 1) * 4 * c["layers"] // c["pp"] * in_flight
    tokens = c["micro_batch"] * c["seq"] // c["cp"] // (c["tp"] if c["sp"] else 1)
    message = tokens * c["hidden"] * 4 if c["pp"] > 1 else 0
    return rank["saved_bytes"] - softmaxes + message


def runs(check, *names):
    """Every rank of each run."""
    for name in names:
        c = RUNS[name]["config"]
        model, flags = model_of(c)
        check.context = name
        ours = found(check.compile(model, plan_of(c), *flags))
        check.equal("ranks", sorted(ours), [rank["rank"] for rank in RUNS[name]["ranks"]])
        for rank in RUNS[name]["ranks"]:
            collectives, messages = counted(rank["collectives"]), counted(rank["messages"])
            want = dict(rank, collectives=collectives, messages=messages, saved_bytes=saved(c, rank))
            for key, value in ours[rank["rank"]].items():
                check.equal(f"rank {rank['rank']}, {key}", value, want[key])


if __name__ == "__main__":
    checks.main(runs)
