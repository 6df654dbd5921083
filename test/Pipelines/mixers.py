"""Recurrent layers agree with closed forms and known numbers.

What a rank executes, keeps and sends of Mamba, Mamba-2 and Gated DeltaNet, computed here from the
sizes of published models, in other terms than the compiler does it.

Usage: mixers.py {states|decode|training|context}...
"""

import sys

import comparing
import traces
from comparing import compile_one, equal

# Letters of Nemotron-H 56B: 54 mixers, 10 of attention, 54 networks.
LETTERS = {"M": 54, "*": 10, "-": 54}


def products(entry):
    return entry["matrix_operations_by_phase"]


def collectives(entry):
    """(kind, phase) -> (count, bytes)."""
    found = {}
    for c in entry["collectives"]:
        count, size = found.get((c["kind"], c["phase"]), (0, 0))
        found[c["kind"], c["phase"]] = count + c["count"], size + c["bytes"]
    return found


def total(*sizes):
    """The count and the bytes of so many collectives of each size."""
    return sum(count for count, _ in sizes), sum(count * size for count, size in sizes)


def states():
    """What is kept of a sequence does not grow; keys and values do."""
    kept = lambda entry: entry["memory"]["persistent_bytes"]["kv_cache"]
    attention = 10 * 4096 * 2 * 8 * 128 * 2
    entry = compile_one("nemotron-h-56b", "--batch=1", "--kv-len=4095")
    equal("Nemotron-H", kept(entry) - attention, 912605184)
    equal("Nemotron-H: a layer", 912605184 // 54, 16777216 + 122880)
    entry = compile_one("nemotron-h-56b", "--batch=1", "--kv-len=4095", "--tp=8")
    equal("Nemotron-H, tp", kept(entry) - attention // 8, 54 * 2112512)
    entry = compile_one("mamba2-2.7b", "--batch=1", "--kv-len=4095", "--tp=8")
    equal("Mamba-2", kept(entry), 64 * (327680 + 5376))
    entry = compile_one("mamba2-2.7b", "--batch=3", "--kv-len=7")
    equal("Mamba-2, three sequences", kept(entry), 3 * 64 * (80 * 64 * 128 * 4 + 3 * 5376 * 2))
    entry = compile_one("mamba-2.8b", "--batch=1", "--kv-len=100")
    equal("Mamba", kept(entry), 64 * (5120 * 16 * 4 + 3 * 5120 * 2))
    # Each expert gets equally many tokens: 256 times 10 of 512.
    entry = compile_one("qwen3-next-80b-a3b", "--batch=256", "--kv-len=4095")
    keys = 12 * 4096 * 2 * 2 * 256 * 2
    delta = 32 * 128 * 128 * 4 + 3 * (2 * 16 * 128 + 32 * 128) * 2
    equal("Gated DeltaNet", kept(entry), 256 * (keys + 36 * delta))


def decode():
    """One token of each sequence goes on from the states; a prompt goes through chunks."""
    projections, recurrent, chunked = 876609536, 16777216, 21495808
    attention = 2 * 8192 * (64 + 16) * 128 + 2 * 8192 * 8192
    head = 2 * 8192 * 131072
    token = lambda scan: 54 * (projections + scan + 4 * 8192 * 32768) + 10 * attention
    entry = compile_one("nemotron-h-56b", "--batch=1", "--kv-len=4095")
    core = 10 * 4 * 4096 * 64 * 128
    equal("Nemotron-H, one token", products(entry), {"fwd": token(recurrent) + core + head})
    entry = compile_one("nemotron-h-56b", "--batch=1", "--mode=prefill", "--seq=1024")
    core = 10 * 4 * (1024 * 1025 // 2) * 64 * 128
    equal("Nemotron-H, a prompt", products(entry), {"fwd": 1024 * token(chunked) + core + head})
    entry = compile_one("mamba2-2.7b", "--batch=64", "--kv-len=4095", "--tp=8")
    logits = total((1, 64 * 50288 // 8 * 2))
    want = {("all_reduce", "fwd"): total((64, 256), (65, 327680)), ("all_gather", "fwd"): logits}
    equal("Mamba-2, collectives", collectives(entry), want)
    entry = compile_one("mamba-2.8b", "--batch=64", "--kv-len=4095", "--tp=4")
    logits = total((1, 64 * 50280 // 4 * 2))
    want = {("all_reduce", "fwd"): total((64, 24576), (65, 327680)), ("all_gather", "fwd"): logits}
    equal("Mamba, collectives", collectives(entry), want)


def training():
    """Collectives of a step: forward as engines have them, backward their transposes."""
    flags = ["--batch=2", "--seq=256", "--tp=4"]
    tokens, loss = 512, (3, 512 * 4)
    pair = lambda fwd, bwd: {("all_reduce", "fwd"): total(loss, *fwd), ("all_reduce", "bwd"): total(*bwd)}
    # Mamba: the step, what is written and read, summed before and behind; the stream in and out.
    stream, low = tokens * 2560 * 2, tokens * (160 + 2 * 16) * 2
    entry = compile_one("mamba-2.8b", *flags)
    both = [(65, stream), (64, low)]
    equal("Mamba", collectives(entry), pair(both, both))
    # Mamba-2 with one group: what all heads share has its gradient summed, the norm two numbers.
    entry = compile_one("mamba2-2.7b", *flags)
    norm, shared = (64, tokens * 4), (64, tokens * 256 * 2)
    want = pair([norm, (65, stream)], [norm, shared, (65, stream)])
    equal("Mamba-2, one group", collectives(entry), want)
    # With groups all is divided.
    stream = tokens * 4096 * 2
    entry = compile_one("codestral-mamba-7b", *flags)
    equal("Mamba-2, groups", collectives(entry), pair([(65, stream)], [(65, stream)]))
    # With sequence parallelism each sum is scattered and gathered, also behind the embedding and
    # before the head; backward gathers again what products read. Heads and channels are divided as
    # before, and so are parameters.
    for model, layers, width, more in (("codestral-mamba-7b", 64, 4096, []), ("mamba-2.8b", 64, 2560, [(64, low)])):
        entry = compile_one(model, *flags, "--sequence-parallel")
        stream, count = tokens * width * 2, layers + 1
        want = {
            ("reduce_scatter", "fwd"): total((count, stream)), ("all_gather", "fwd"): total((count, stream // 4)),
            ("reduce_scatter", "bwd"): total((count, stream)), ("all_gather", "bwd"): total((2 * count, stream // 4)),
            ("all_reduce", "fwd"): total(loss, *more),
        }
        if more:
            want["all_reduce", "bwd"] = total(*more)
        found = {key: value for key, value in collectives(entry).items() if key[1] != "grad_sync"}
        equal(f"{model}, sequence parallel", found, want)
        divided = compile_one(model, *flags)["memory"]["persistent_bytes"]["parameter"]
        equal(f"{model}, parameters", entry["memory"]["persistent_bytes"]["parameter"], divided)
    # Gated DeltaNet, attention and experts: two sums for each layer.
    entry = compile_one("qwen3-next-80b-a3b", "--batch=2", "--seq=512", "--tp=2")
    found = collectives(entry)["all_reduce", "fwd"]
    equal("Gated DeltaNet", found[1] % (1024 * 2048 * 2), 3 * 1024 * 4)


def context():
    """Tokens that are divided become heads that are: all ranks together execute what one does."""
    # Where all heads are one group each rank makes C B^T of it.
    shared = 1024 * 2 * 256 * 128
    for model, again, flags in (
        ("mamba2-2.7b", 64 * shared, []),
        ("codestral-mamba-7b", 0, ["--tp=2"]),
        ("mamba-2.8b", 0, []),
        ("bamba-9b", 29 * shared, ["--cp-comm-type=p2p"]),
    ):
        step = [model, "--batch=1", "--seq=1024", "--dry-run"]
        one = traces.products(traces.compile_json(*step))
        all_ranks = traces.products(traces.compile_json(*step, "--cp=2", *flags))
        want = {"fwd": one["fwd"] + again, "bwd": one["bwd"] + 2 * again}
        equal(f"{model}, cp", all_ranks, want)
    entry = compile_one("codestral-mamba-7b", "--batch=1", "--seq=1024", "--cp=2")
    equal("Mamba-2, exchanges", ("all_to_all", "fwd") in collectives(entry), True)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        {"states": states, "decode": decode, "training": training, "context": context}[name]()
    comparing.finish()
