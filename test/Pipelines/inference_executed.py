"""Compares steps of inference with steps that were executed.

Inputs/executed_inference.json has totals that were counted while steps of tiny models really ran
in several processes (float32), with caches of keys and values. Each of them is compared exactly for
every rank and step: operations of matrix products, collectives (kind, size of the group, count,
bytes passed in), messages (peer, count, bytes), bytes of parameters and of what is cached.

Where ranks or micro-batches had requests of their own, each gets here the same number of tokens
with as many cached ones: with one new token everything is linear in these.

Usage: inference_executed.py RUN...
"""

import json
import sys
from collections import Counter
from pathlib import Path

import traces

RUNS = json.loads((Path(__file__).parent / "Inputs" / "executed_inference.json").read_text())
FAILED = False


def equal(what, found, want):
    """Reports a difference."""
    global FAILED
    if found != want:
        FAILED = True
        print(f"{what}: found {found}, expected {want}")


def flags_of(run):
    """The model with its sizes, and the plan."""
    m, parallel = run["model"], run["parallel"]
    sizes = dict(D=m["hidden"], H=m["heads"], E=m["head_dim"], F=m["ffn"], V=m["vocab"], L=m["layers"])
    if m["arch"] == "gpt":
        name = "gpt2-1.5b"
        sizes.update(P=m["max_pos"])
    elif "experts" in m:
        name = "mixtral-8x7b"
        sizes.update(K=m["kv_heads"], X=m["experts"], A=m["topk"], F=m["expert_ffn"])
    else:
        name = "llama3-8b"
        sizes.update(K=m["kv_heads"])
    flags = [name, "--dtype=f32", "--dry-run"] + [f"--set={key}={value}" for key, value in sizes.items()]
    flags += [f"--{axis}={size}" for axis, size in parallel.items()]
    if "experts" in m:
        flags += [f"--ep={parallel['dp']}"]
    if run["full"]:
        flags += ["--attention-count=full"]
    return flags


def share(requests, rows):
    """One list for each of so many rows, which together have all tokens."""
    if rows == 1:
        return requests
    count, cached = len(requests) // rows, sum(p for u, p, n in requests)
    assert all(u == 1 for u, p, n in requests) and cached % rows == 0
    own = [cached // rows // count] * count
    own[0] += cached // rows - sum(own)
    return [(1, p, 1) for p in own]


def step_flags(run, requests):
    """What a step is."""
    if "cp_variant" in run:
        ((u, p, n),) = requests
        ring = ["--cp-comm-type=p2p"] if run["cp_variant"] == "ring" else []
        return ["--mode=prefill", "--batch=1", f"--seq={u}", f"--kv-len={p}"] + ring
    rows = run["parallel"].get("dp", 1) * run.get("microbatches", 1)
    text = ",".join(f"({u},{p},{n})" for u, p, n in share(requests, rows))
    flags = [f"--requests={text}", f"--batch={rows}"]
    return flags + (["--micro-batch=1"] if "microbatches" in run else [])


def ranks_of(summary):
    """Each rank's class, and its coordinates."""
    axes = {axis["axis"]: axis["size"] for axis in summary["mesh"]}
    for rank in range(summary["ranks"]):
        coordinates, rest = {}, rank
        for axis, size in axes.items():
            rest, coordinates[axis] = divmod(rest, size)
        for entry in summary["classes"]:
            if entry["coordinates"].items() <= coordinates.items():
                yield rank, entry, coordinates


def messages_of(summary, entry, rank, coordinates):
    """(kind, peer, count, bytes), sorted."""
    found, stride = [], 1
    for axis in summary["mesh"]:
        for m in entry.get("messages", []):
            if m["axis"] == axis["axis"]:
                there = (coordinates[m["axis"]] + m["shift"]) % axis["size"]
                found.append([m["kind"], rank + (there - coordinates[m["axis"]]) * stride, m["count"], m["bytes"]])
        stride *= axis["size"]
    return sorted(found)


def collectives_of(entry):
    """[kind, size of the group, count, bytes], sorted."""
    counts, sizes = Counter(), Counter()
    for c in entry["collectives"]:
        counts[c["kind"], c["group_size"]] += c["count"]
        sizes[c["kind"], c["group_size"]] += c["bytes"]
    return sorted([*key, counts[key], sizes[key]] for key in counts)


def more_products(run, requests):
    """What ran executed beside what counts: diagonal slices of a ring, in full."""
    if run.get("cp_variant") != "ring":
        return 0
    ((u, p, n),) = requests
    m, size = run["model"], u // (2 * run["parallel"]["cp"])
    return size * (size - 1) * 4 * m["heads"] * m["head_dim"] * m["layers"]


def more_parameters(run):
    """What ran had a head of its own; GPT's is the embedding."""
    m = run["model"]
    return m["vocab"] * m["hidden"] * 4 if m["arch"] == "gpt" else 0


for name in sys.argv[1:]:
    run = RUNS[name]
    for number, requests in enumerate(run["steps"]):
        summary = traces.compile_json(*flags_of(run), *step_flags(run, requests))
        equal(f"{name}: ranks", summary["ranks"], len(run["ranks"]))
        for rank, entry, coordinates in ranks_of(summary):
            want, what = run["ranks"][rank]["steps"][number], f"{name}, step {number}, rank {rank}"
            equal(f"{what}: products", entry["matrix_operations_by_phase"], {"fwd": want["products"] - more_products(run, requests)})
            equal(f"{what}: collectives", collectives_of(entry), sorted(want["collectives"]))
            equal(f"{what}: messages", messages_of(summary, entry, rank, coordinates), sorted(want["messages"]))
            persistent = entry["memory"]["persistent_bytes"]
            equal(f"{what}: cache", persistent["kv_cache"], want["cache_bytes"])
            equal(f"{what}: parameters", persistent["parameter"], run["ranks"][rank]["parameter_bytes"] - more_parameters(run))
sys.exit(FAILED)
