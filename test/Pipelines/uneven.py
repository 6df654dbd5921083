"""Compares vocabularies that ranks do not divide with closed forms, and with one rank.

Each rank has as many rows as the others, rounded up, and the last one what is left. What ranks
execute and hold adds up to what one rank does, and a gather says the largest part.

Usage: uneven.py {sums|gathers|steps|files} DIR
"""

import sys
from collections import Counter

import comparing
import traces
from comparing import compile_one, equal

DIR = sys.argv[2]


def parts(V, ranks):
    each = -(-V // ranks)
    return [min(each, V - rank * each) for rank in range(ranks)]


def by_rank(summary, tp):
    """The class of each rank of tp."""
    found = {}
    for entry in summary["classes"]:
        coordinates = entry["coordinates"]
        for rank in range(tp):
            if coordinates.get("tp", rank) == rank:
                found[rank] = entry
    return [found[rank] for rank in range(tp)]


def products(entry):
    return sum(entry["matrix_operations_by_phase"].values())


def held(entry, category="parameter"):
    return entry["memory"]["persistent_bytes"].get(category, 0)


# Model, flags, vocabulary, ranks, width of the model, tables of the vocabulary, and new tokens.
CASES = [
    ("gpt2-1.5b", ["--set=L=2", "--batch=6", "--kv-len=99"], 50257, 5, 1600, 1),
    ("llama3-8b", ["--set=L=2", "--set=V=128259", "--batch=64", "--kv-len=99"], 128259, 8, 4096, 2),
    ("llama3-8b", ["--set=L=2", "--set=V=128257", "--requests=3*(1,9),(7,2)"], 128257, 4, 4096, 2),
    ("llama3-8b", ["--set=L=2", "--set=V=1003", "--batch=4", "--mode=train", "--set=S=64"], 1003, 8, 4096, 2),
]


def sums():
    """All ranks execute, and hold of the vocabulary, what one does."""
    for model, flags, V, tp, D, tables in CASES:
        what = " ".join([model, *flags])
        one = compile_one(model, *flags)
        ranks = by_rank(traces.compile_json(model, "--dry-run", *flags, f"--tp={tp}", "--uneven=V"), tp)
        # The rest is that of a vocabulary which divides evenly.
        even = V - V % tp + tp
        plain = compile_one(model, *flags, f"--set=V={even}", f"--tp={tp}")
        for rank, (entry, own) in enumerate(zip(ranks, parts(V, tp))):
            less = even // tp - own
            equal(f"{what}, rank {rank}: rows", held(plain) - held(entry), tables * less * D * 2)
        equal(f"{what}: products", sum(map(products, ranks)), products(one))
        equal(f"{what}: classes", {held(entry) for entry in ranks}, {held(ranks[0]), held(ranks[-1])})


def gathers():
    """The all-gather of logits: bytes are exact, and the largest part is what all ranks say."""
    for model, flags, V, tp, D, tables in CASES[:-1]:
        rows = 4 if "requests" in flags[-1] else int(flags[-2].split("=")[1])
        what = " ".join([model, *flags])
        ranks = by_rank(traces.compile_json(model, "--dry-run", *flags, f"--tp={tp}", "--uneven=V"), tp)
        for rank, (entry, own) in enumerate(zip(ranks, parts(V, tp))):
            found = [(c["count"], c["bytes"]) for c in entry["collectives"] if c["kind"] == "all_gather"]
            equal(f"{what}, rank {rank}", found, [(1, rows * own * 2)])
        top = by_rank(traces.compile_json(model, "--dry-run", *flags, f"--tp={tp}", "--uneven=V", "--logits-gather=top"), tp)
        for rank, entry in enumerate(top):
            found = [(c["count"], c["bytes"]) for c in entry["collectives"] if c["kind"] == "all_gather"]
            equal(f"{what}, rank {rank}: top", found, [(1, rows * 8)])
        one = by_rank(traces.compile_json(model, "--dry-run", *flags, f"--tp={tp}", "--uneven=V", "--logits-gather=one"), tp)
        for rank, entry in enumerate(one):
            found = sorted((m["kind"], m["shift"], m["bytes"]) for m in entry["messages"])
            want = [("recv", -rank, rows * 4), ("send", -rank, rows * parts(V, tp)[rank] * 2)]
            if rank == 0:
                want = [("recv", i, rows * own * 2) for i, own in enumerate(parts(V, tp)) if i]
                want += [("send", i, rows * 4) for i in range(1, tp)]
            equal(f"{what}, rank {rank}: one", found, sorted(want))


def steps():
    """With stages the last one has the head; each rank of it its part. Several axes are one group."""
    V, pp, tp = 128257, 2, 4
    flags = ["llama3-8b", "--dry-run", "--set=L=4", f"--set=V={V}", f"--tp={tp}", "--uneven=V", "--batch=4", "--kv-len=9"]
    single = by_rank(traces.compile_json(*flags), tp)
    both = traces.compile_json(*flags, f"--pp={pp}", "--micro-batch=2", "--steps=3")["classes"]
    for rank in range(tp):
        own = [entry for entry in both if entry["coordinates"].get("tp", rank) == rank]
        equal(f"rank {rank}: parameters", sum(map(held, own)), held(single[rank]))
        found = [c["bytes"] for entry in own for c in entry["collectives"] if c["kind"] == "all_gather"]
        equal(f"rank {rank}: gathered", sum(found), 3 * 4 * parts(V, tp)[rank] * 2)
    # Replicated heads are two axes, which divide the vocabulary together.
    flags = ["llama3-8b", "--dry-run", "--set=L=2", "--set=K=2", f"--set=V={V}", "--tp=8", "--uneven=V", "--batch=4", "--kv-len=9"]
    found = Counter()
    for entry in traces.compile_json(*flags)["classes"]:
        for c in entry["collectives"]:
            if c["kind"] == "all_gather":
                found[c["bytes"]] += entry["ranks"]
    equal("two axes", found, Counter(4 * own * 2 for own in parts(V, 8)))


def files():
    """Sizes of a group are those of the largest part, rounded up for the simulator, and payloads exact."""
    V, tp, rows = 1003, 8, 6
    flags = ["stg-compile", "llama3-8b", "--set=L=1", f"--set=V={V}", f"--tp={tp}", "--uneven=V", f"--batch={rows}", "--kv-len=9"]
    traces.run(*flags, "-o", f"{DIR}/files")
    traces.run("stg-trace", "validate", f"{DIR}/files")
    for rank, own in enumerate(parts(V, tp)):
        (gather,) = [node for node in traces.nodes(f"{DIR}/files", rank) if node.type == "COMM_COLL" and node.kind == "all_gather"]
        equal(f"payload of rank {rank}", int(gather.attributes.get("payload_bytes", gather.attributes["comm_size"])), rows * own * 2)
        # Four splits of eight members: a multiple of 32.
        equal(f"size of rank {rank}", int(gather.attributes["comm_size"]), -(-rows * parts(V, tp)[0] * 2 // 32) * 32)
    for more in ["--logits-gather=one"], ["--logits-gather=one", "--pp=1", "--micro-batch=3"], ["--preset=trtllm"]:
        where = f"{DIR}/{'-'.join(more)}"
        traces.run(*flags, *more, "-o", where)
        traces.run("stg-trace", "validate", where)
    traces.run(*flags[:-2], "--batch=8", "--mode=train", "--set=S=16", "--zero=1", "--dp=2", "-o", f"{DIR}/train")
    traces.run("stg-trace", "validate", f"{DIR}/train")


globals()[sys.argv[1]]()
comparing.finish()
