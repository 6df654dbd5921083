"""Recurrent layers agree with closed forms and known numbers.

What a rank executes, keeps and sends of Mamba, Mamba-2 and Gated DeltaNet, computed here from the
sizes of published models, in other terms than the compiler does it.

Usage: mixers.py {states|decode|training|context|groups|exchanged|served}...
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


class Codestral:
    """Codestral Mamba 7B: 64 layers of 128 heads in 8 groups."""

    name = "codestral-mamba-7b"
    layers, width, heads, size, state, taps, groups = 64, 4096, 128, 64, 128, 4, 8
    inner = heads * size
    batch, seq, chunk = 2, 256, 256
    tokens = batch * seq
    flags = [f"--batch={batch}", f"--seq={seq}"]
    #: What a group has: its projection, convolution and the bias of that.
    group = layers * 2 * state * (width + taps + 1)

    @classmethod
    def again(cls, projected, scanned):
        """The products of groups that are there so many times instead of once."""
        projection = 2 * cls.tokens * cls.width * 2 * cls.groups * cls.state
        pairs = 2 * cls.batch * cls.seq * cls.chunk * cls.state * cls.groups
        return cls.layers * ((projected - 1) * projection + (scanned - 1) * pairs)


def groups():
    """More ranks of tp than groups: each has what its heads' group has, once. Ranks of a group
    sum the squares that its norm needs, and the gradients of what they share."""
    m = Codestral
    run = lambda *flags: traces.products(traces.compile_json(m.name, *m.flags, "--dry-run", *flags))
    one, all_parameters = run(), compile_one(m.name, *m.flags)["memory"]["persistent_bytes"]["parameter"] // 2
    norms, mine = (m.layers + 1) * m.width, m.groups * m.group
    stream, norm = (m.layers + 1, m.tokens * m.width * 2), m.tokens * 4
    for tp, more in ((8, []), (16, []), (32, []), (16, ["--sequence-parallel"])):
        times = tp // m.groups
        again = m.again(times, times)
        want = {"fwd": one["fwd"] + again, "bwd": one["bwd"] + 2 * again}
        equal(f"products, tp={tp} {more}", run(f"--tp={tp}", *more), want)
        entry = compile_one(m.name, *m.flags, f"--tp={tp}", "--dp=2", "--batch=4", *more)
        bytes_of = entry["memory"]["persistent_bytes"]
        held = norms + (all_parameters - norms - mine) // tp + m.group * max(1, m.groups // tp)
        equal(f"parameters, tp={tp}", bytes_of["parameter"], 2 * held)
        equal(f"optimizer, tp={tp}", bytes_of["optimizer"], 12 * held)
        found = {(c["kind"], *c["axes"], c["phase"]): (c["group_size"], c["count"], c["bytes"])
                 for c in entry["collectives"]}  # fmt: skip
        if times == 1:
            continue
        part = ("all_reduce", "tp_mg_replicate")
        sums = (times, m.layers, m.layers * norm)
        equal(f"norm, tp={tp}", found.pop((*part, "fwd")), sums)
        equal(f"norm, backward, tp={tp}", found.pop((*part, "bwd")), sums)
        shared = (times, 1, 4 * m.group)
        equal(f"shared gradients, tp={tp}", found.pop((*part, "grad_sync")), shared)
        if not more:
            tp_axes = ("all_reduce", "tp_mg_replicate", "tp_mg")
            fwd = total((3, norm), stream)
            want = {(*tp_axes, "fwd"): (tp, *fwd), (*tp_axes, "bwd"): (tp, *total(stream)),
                    ("all_reduce", "dp", "grad_sync"): (2, 1, 4 * held)}  # fmt: skip
            equal(f"others, tp={tp}", found, want)
    # One step of an engine: 10 layers have attention, 8 heads of keys for 16 ranks.
    entry = compile_one("nemotron-h-56b", "--batch=64", "--kv-len=4095", "--tp=16")
    channels = (16384 + 2 * 16 * 256) // 16
    state = 64 * 54 * (16 * 64 * 256 * 4 + 3 * channels * 2)
    keys = 64 * 10 * 4096 * 2 * 128 * 2
    equal("Nemotron-H, tp=16", entry["memory"]["persistent_bytes"]["kv_cache"], state + keys)
    sums = [c for c in entry["collectives"] if len(c["axes"]) == 1 and c["kind"] == "all_reduce"]
    equal("Nemotron-H, norms", [(c["group_size"], c["count"], c["bytes"]) for c in sums], [(2, 54, 54 * 64 * 4)])
    # vLLM gathers the gated values, in fp32, of all ranks; each then has the norms of all groups.
    logits = 64 * 131072 // 16 * 2
    for more in (["--cut-norms=gather"], ["--preset=vllm"]):
        gathered = compile_one("nemotron-h-56b", "--batch=64", "--kv-len=4095", "--tp=16", *more)
        found = [(c["kind"], c["group_size"], c["count"], c["bytes"]) for c in gathered["collectives"]]
        want = [("all_reduce", 16, 119, 119 * 64 * 8192 * 2),
                ("all_gather", 16, 55, 54 * 64 * 16384 // 16 * 4 + logits)]  # fmt: skip
        equal(f"Nemotron-H, gathered norms {more}", found, want)
    # Gated DeltaNet with 4 key heads and 32 of values, beside attention with 2 of keys: ranks execute
    # what they do with 8 key heads, and hold half of these.
    run = lambda heads: compile_one("qwen3-next-80b-a3b", "--set", f"LK={heads}", "--batch=16", "--seq=64", "--tp=8")
    few, many = run(4), run(8)
    equal("Gated DeltaNet, products", products(few), products(many))
    held = lambda entry: entry["memory"]["persistent_bytes"]["parameter"]
    equal("Gated DeltaNet, parameters", held(few), held(many))
    part = [(c["group_size"], c["bytes"]) for c in few["collectives"] if c["axes"] == ["tp_lk_replicate"]]
    equal("Gated DeltaNet, gradients", part, [(2, 4 * 36 * 2 * 128 * (2048 + 4))])


def exchanged():
    """Tokens that are exchanged for heads, with fewer groups than ranks."""
    m = Codestral
    run = lambda *flags: traces.products(traces.compile_json(m.name, *m.flags, "--dry-run", *flags))
    one = run()
    for tp, cp in ((1, 4), (1, 16), (2, 8), (16, 2), (4, 4)):
        projected = max(1, tp // m.groups)
        scanned = max(1, tp * cp // m.groups)
        again = m.again(projected, scanned)
        want = {"fwd": one["fwd"] + again, "bwd": one["bwd"] + 2 * again}
        equal(f"products, tp={tp} cp={cp}", run(f"--tp={tp}", f"--cp={cp}"), want)
        entry = compile_one(m.name, *m.flags, f"--tp={tp}", f"--cp={cp}")
        # There: the input, the step, and what groups write and read; back: the result.
        found = sum(
            c["bytes"] for c in entry["collectives"] if (c["kind"], c["phase"]) == ("all_to_all", "fwd")
        )
        sent = 2 * m.inner + m.heads + scanned * m.groups * 2 * m.state
        equal(f"exchanged, tp={tp} cp={cp}", found, m.layers * m.tokens // cp * 2 * sent // tp)


def served():
    """Engines whose groups have requests of their own divide mixers over the ranks of a group."""
    step, presets = ["--batch=64", "--kv-len=4095"], ("sglang", "sglang-experts", "vllm-experts", "trtllm-attention-dp")
    cache = lambda entry: entry["memory"]["persistent_bytes"]["kv_cache"]
    held = lambda entry: entry["memory"]["persistent_bytes"]["parameter"]
    # All ranks together do what one does: nothing is there twice, and pages of tokens are full.
    for model in ("nemotron-h-8b", "codestral-mamba-7b"):
        one = compile_one(model, *step)
        for preset in presets:
            for tp, dp in ((8, 1), (4, 2), (2, 4), (1, 8)):
                entry = compile_one(model, *step, f"--preset={preset}", f"--tp={tp}", f"--dp={dp}")
                what = f"{model}, {preset}, tp={tp}, dp={dp}"
                equal(f"{what}: products", 8 * products(entry)["fwd"], products(one)["fwd"])
                equal(f"{what}: states and keys", 8 * cache(entry), cache(one))
    # Where ranks have the same groups, or key heads, they do what those of tp do alone.
    for model, *flags in (
        ("nemotron-h-56b", "--tp=16"), ("codestral-mamba-7b", "--tp=32"), ("qwen3-next-80b-a3b", "--set=LK=4", "--tp=8"),
        ("nemotron-3-nano-30b-a3b", "--tp=16"),
    ):  # fmt: skip
        plain = compile_one(model, *step, *flags)
        for preset in presets:
            entry = compile_one(model, *step, f"--preset={preset}", *flags)
            what = f"{model}, {preset} {flags}"
            equal(f"{what}: products", products(entry), products(plain))
            equal(f"{what}: states and keys", cache(entry), cache(plain))
            equal(f"{what}: parameters", held(entry), held(plain))
            # Each group of ranks has half of the requests, whose states and keys it keeps.
            entry = compile_one(model, *step, f"--preset={preset}", *flags, "--dp=2")
            equal(f"{what}: states and keys of groups", 2 * cache(entry), cache(plain))
    # Norms of groups that ranks share: two numbers of each token are summed, or all is gathered.
    for preset in presets:
        entry = compile_one("nemotron-h-56b", *step, f"--preset={preset}", "--tp=16", "--dp=2")
        shared = [(c["group_size"], c["count"], c["bytes"]) for c in entry["collectives"] if c["group_size"] == 2
                  and c["kind"] == "all_reduce"]  # fmt: skip
        gathered = [(c["count"], c["bytes"]) for c in entry["collectives"]
                    if (c["kind"], c["group_size"]) == ("all_gather", 16)]  # fmt: skip
        is_gathered, logits = preset == "vllm-experts", 32 * 131072 // 16 * 2
        equal(f"norms, {preset}", shared, [] if is_gathered else [(2, 54, 54 * 32 * 4)])
        want = (55, 54 * 32 * 16384 // 16 * 4 + logits) if is_gathered else (1, logits)
        equal(f"gathered, {preset}", gathered, [want])


if __name__ == "__main__":
    for name in sys.argv[1:]:
        {"states": states, "decode": decode, "training": training, "context": context,
         "groups": groups, "exchanged": exchanged, "served": served}[name]()  # fmt: skip
    comparing.finish()
