"""Compares what engines of inference do with closed forms.

What follows from the sizes of the models is computed here in other terms than the compiler does it.

Usage: engines.py {uneven|padded|weights|scales|lists|redundant|replicas|logits|divided|helix|routed|kept}...
"""

import math
import sys
from collections import Counter, namedtuple
from fractions import Fraction

import comparing
import traces
from comparing import compile_one, equal

# Attention, then experts: width, number of them, how many a token uses.
Model = namedtuple("Model", "name L h a g d V fe E k")
MIXTRAL = Model("mixtral-8x7b", 32, 4096, 32, 8, 128, 32000, 14336, 8, 2)
QWEN = Model("qwen3-30b-a3b", 48, 2048, 32, 4, 128, 151936, 768, 128, 8)


def ceildiv(a, b):
    return -(-a // b)


def products(entry):
    return sum(entry["matrix_operations_by_phase"].values())


def step_products(m, tokens, keys, rows):
    """Of a decoding step of one rank: tokens of its own, and rows that its experts get."""
    attention = 2 * tokens * m.h * (2 * m.a + 2 * m.g) * m.d + 4 * tokens * keys * m.a * m.d
    return m.L * (attention + 2 * tokens * m.h * m.E + 6 * rows * m.h * m.fe) + 2 * tokens * m.h * m.V


def exchanges(entry):
    return [(c["count"], c["bytes"]) for c in entry["collectives"] if c["kind"] == "all_to_all"]


def uneven():
    """Experts get as many rows as tokens choose, whatever the batch."""
    for m in (MIXTRAL, QWEN):
        for batch in (1, 2, 3, 5, 7, 16):
            entry = compile_one(m.name, "--mode=decode", f"--batch={batch}", "--kv-len=99")
            equal(f"{m.name}, {batch}", products(entry), step_products(m, batch, 100, batch * m.k))
        for ranks in (2, 4, 8):
            for own in (1, 3):
                flags = [f"--batch={own * ranks}", "--kv-len=99", f"--dp={ranks}", f"--ep={ranks}"]
                entry = compile_one(m.name, *flags)
                what = f"{m.name}, {own} of each of {ranks}"
                equal(what, products(entry), step_products(m, own, 100, own * m.k))
                equal(f"{what}: rows", exchanges(entry), [(2 * m.L, 2 * m.L * own * m.k * m.h * 2)])
        # Over tp experts are cut, and all ranks have all rows.
        halves = products(compile_one(m.name, "--batch=3", "--kv-len=99", "--tp=2"))
        router = m.L * 2 * 3 * m.h * m.E
        equal(f"{m.name}, tp", 2 * halves - router, step_products(m, 3, 100, 3 * m.k))
    for batch in range(1, 17):
        compile_one("deepseek-v3", "--mode=decode", f"--batch={batch}", "--kv-len=99")
    for ranks in (2, 16, 64):
        compile_one("deepseek-v3", "--mode=decode", f"--batch={3 * ranks}", "--kv-len=99", f"--dp={ranks}", f"--ep={ranks}")


def padded():
    """Or the buffer of each expert has whole rows, those of each rank by itself."""
    for m in (MIXTRAL, QWEN):
        for batch in (1, 3, 16):
            entry = compile_one(m.name, f"--batch={batch}", "--kv-len=99", "--expert-rows=padded")
            rows = m.E * ceildiv(batch * m.k, m.E)
            equal(f"{m.name}, {batch}", products(entry), step_products(m, batch, 100, rows))
        entry = compile_one(m.name, "--batch=12", "--kv-len=99", "--dp=4", "--ep=4", "--expert-rows=padded")
        # A rank dispatches so many rows for all experts, and gets as many for its own.
        rows = m.E * ceildiv(3 * m.k, m.E)
        equal(f"{m.name}, ep", products(entry), step_products(m, 3, 100, rows))
        equal(f"{m.name}, ep: rows", exchanges(entry), [(2 * m.L, 2 * m.L * rows * m.h * 2)])
    # A capacity is one of whole rows: 5/4 of 6 rows are 8 for 8 experts.
    entry = compile_one("mixtral-8x7b", "--batch=3", "--kv-len=99", "--set=CN=5", "--set=CD=4")
    equal("capacity", products(entry), step_products(MIXTRAL, 3, 100, 8))


# Bits of an element; bytes of a scale; elements along what is summed over and along outputs.
FORMATS = {
    "fp8": (8, 4, None, 1),
    "fp8-block": (8, 4, 128, 128),
    "mxfp8": (8, 1, 32, 1),
    "int8": (8, 4, None, 1),
    "int4": (4, 2, 128, 1),
    "mxfp4": (4, 1, 32, 1),
    "nvfp4": (4, 1, 16, 1),
}


def stored(name, k, n):
    """Bytes of a matrix that sums over k and has n outputs."""
    bits, scale, along, across = FORMATS[name]
    return k * n * bits // 8 + ceildiv(k, along or k) * ceildiv(n, across) * scale


def weights():
    """Matrices of layers with their scales; all others have two bytes for each element."""
    L, h, a, g, d, f, V = 32, 4096, 32, 8, 128, 14336, 128256
    for name in FORMATS:
        for t in (1, 2, 8):
            flags = ["--batch=4", "--kv-len=99", f"--tp={t}"]
            entry = compile_one("llama3-8b", *flags, f"--weight-dtype={name}")
            # Gate and up are two matrices; heads and their sizes are one dimension.
            layer = stored(name, h, (a + 2 * g) * d // t) + stored(name, a * d // t, h)
            layer += 2 * stored(name, h, f // t) + stored(name, f // t, h)
            rest = 2 * (2 * V * h // t + h + 2 * L * h)
            equal(f"{name}, tp {t}", entry["memory"]["persistent_bytes"]["parameter"], L * layer + rest)
            plain = compile_one("llama3-8b", *flags)
            equal(f"{name}, tp {t}: products", products(entry), products(plain))
            elements = h * (a + 2 * g) * d // t + a * d * h // t + 3 * h * f // t
            # Each element of a weight is multiplied by its scale, and weights are read as they are stored.
            equal(f"{name}, tp {t}: dequantization", entry["operations"] - plain["operations"], L * elements)
            less = plain["memory_traffic_bytes"] - entry["memory_traffic_bytes"]
            equal(f"{name}, tp {t}: traffic", less, L * (2 * elements - layer))
    # Experts of DeepSeek-V3: 44,040,192 bytes, and a scale for 128 x 128 of them.
    one = 3 * stored("fp8-block", 7168, 2048)
    equal("expert", one, 44040192 + 4 * 44040192 // 16384)
    entry = compile_one("deepseek-v3", "--batch=64", "--kv-len=99", "--dp=64", "--ep=64", "--weight-dtype=fp8-block")
    other = compile_one("deepseek-v3", "--batch=64", "--kv-len=99", "--dp=32", "--ep=32", "--weight-dtype=fp8-block")
    # Half as many ranks have twice as many experts each; all have the corrections of the router.
    more = other["memory"]["persistent_bytes"]["parameter"] - entry["memory"]["persistent_bytes"]["parameter"]
    equal("experts of a rank", more, 58 * 4 * one)
    # Of 128 experts the 24 that have a row are read, multiplied and nothing else, or those that 3
    # tokens with 8 of them each are expected to hit.
    m, flags = QWEN, ["--batch=3", "--kv-len=99"]
    part = 1 - Fraction(128 - 8, 128) ** 3
    expected = sum(math.floor(128 * size * part + Fraction(1, 2)) for size in (2 * m.h * m.fe, m.h * m.fe))
    for choice, experts in ("all", 24 * 3 * m.h * m.fe), ("expected", expected):
        hits = f"--expert-hits={choice}"
        plain = compile_one(m.name, *flags, hits)
        entry = compile_one(m.name, *flags, hits, "--weight-dtype=mxfp4")
        elements = m.h * (m.a + 2 * m.g) * m.d + m.a * m.d * m.h + experts
        equal(f"rows, {choice}", entry["operations"] - plain["operations"], m.L * elements)
    # Kept as they are: the router by default, or what is named.
    kept = compile_one(m.name, *flags, "--weight-dtype=mxfp4", "--weight-keep=router,qkv_proj,o_proj")
    equal("kept", entry["operations"] - kept["operations"], m.L * (elements - expected))


def scales():
    """A cache of 8 bits has a scale of four bytes for so many elements of a row."""
    for block in (32, 128):
        entry = compile_one("llama3-8b", "--batch=4", "--kv-len=99", "--kv-dtype=f8E4M3FN", f"--kv-scale-block={block}")
        want = 4 * 100 * 32 * 2 * 8 * (128 + 4 * 128 // block)
        equal(f"heads, {block}", entry["memory"]["persistent_bytes"]["kv_cache"], want)
    entry = compile_one("deepseek-v3", "--batch=1", "--kv-len=99", "--kv-dtype=f8E4M3FN", "--kv-scale-block=128")
    # Of latents 512 elements with four scales, of positions 64 with one.
    equal("latents", entry["memory"]["persistent_bytes"]["kv_cache"], 100 * 61 * (512 + 16 + 64 + 4))
    # I7.7: positions keep the 16 bits of activations, as in FlashMLA's format: 656 bytes.
    for form in ("absorbed", "naive"):
        flags = ["--batch=1", "--kv-len=99", "--kv-dtype=f8E4M3FN", "--kv-scale-block=128", f"--mla-form={form}"]
        entry = compile_one("deepseek-v3", *flags, "--kv-keep=rope_k")
        equal(f"latents, {form}: positions", entry["memory"]["persistent_bytes"]["kv_cache"], 100 * 61 * 656)


def lists():
    """Data-parallel ranks with requests of their own: each executes its list, and together they send what is on all."""
    own = [[(1, 9, 1)] * 3, [(5, 0, 1), (1, 40, 1)], [(7, 100, 1)], [(1, 1000, 1)] * 16]
    text = ",".join(f"({u},{p})#{rank}" for rank, requests in enumerate(own) for u, p, n in requests)
    tokens = [sum(u for u, p, n in requests) for requests in own]
    pairs = [sum(u * p + u * (u + 1) // 2 for u, p, n in requests) for requests in own]
    keys = [sum(u + p for u, p, n in requests) for requests in own]

    def attention(m, rank):
        return 2 * tokens[rank] * m.h * (2 * m.a + 2 * m.g) * m.d + 4 * pairs[rank] * m.a * m.d

    # Experts of each rank: they get what all ranks choose, evenly.
    m, ranks = MIXTRAL, len(own)
    summary = traces.compile_json(m.name, "--dry-run", f"--dp={ranks}", f"--ep={ranks}", "--requests=" + text)
    for entry in summary["classes"]:
        rank = entry["coordinates"]["ep"]
        rows = sum(tokens) * m.k // ranks
        want = m.L * (attention(m, rank) + 2 * tokens[rank] * m.h * m.E + 6 * rows * m.h * m.fe)
        equal(f"experts, rank {rank}", products(entry), want + 2 * len(own[rank]) * m.h * m.V)
        sent = m.L * (tokens[rank] * m.k + rows) * m.h * 2
        equal(f"experts, rank {rank}: rows", exchanges(entry), [(2 * m.L, sent)])
        cache = entry["memory"]["persistent_bytes"]["kv_cache"]
        equal(f"experts, rank {rank}: cache", cache, m.L * keys[rank] * 2 * m.g * m.d * 2)
    # A feed-forward that all ranks divide, with both ways to gather.
    L, h, a, g, d, f, V = 32, 4096, 32, 8, 128, 14336, 128256
    m = Model("llama3-8b", L, h, a, g, d, V, f, 0, 0)
    for rows, all_rows in (("exact", sum(tokens)), ("padded", ranks * max(tokens))):
        flags = ["--preset=sglang", f"--dp={ranks}", "--requests=" + text, f"--gathered-rows={rows}"]
        summary = traces.compile_json(m.name, "--dry-run", *flags)
        equal(f"{rows}: classes", len(summary["classes"]), ranks)
        for entry in summary["classes"]:
            rank = entry["coordinates"]["dp"]
            want = L * (attention(m, rank) + 6 * all_rows * h * f // ranks) + 2 * len(own[rank]) * h * V
            equal(f"{rows}, rank {rank}", products(entry), want)
            brought = tokens[rank] if rows == "exact" else max(tokens)
            found = {c["kind"]: (c["count"], c["bytes"]) for c in entry["collectives"]}
            want = {"all_gather": (L, L * brought * h * 2), "reduce_scatter": (L, L * all_rows * h * 2)}
            equal(f"{rows}, rank {rank}: rows", found, want)
    # Ranks with equal lists are one class, and the same as without lists.
    for flags in (["--preset=sglang"], ["--ep=2"]):
        name = "mixtral-8x7b"
        for rows in ("exact", "padded"):
            one = traces.compile_json(name, "--dry-run", "--dp=2", *flags, "--requests=2*(1,99),(3,0)")
            own = traces.compile_json(
                name, "--dry-run", "--dp=2", *flags, f"--gathered-rows={rows}", "--requests=2*(1,99)#0,(3,0)#0,(3,0)#1,2*(1,99)#1"
            )
            equal("equal lists", own["classes"], one["classes"])


def constants():
    """Models that multiply by a constant, or a number for each token: where nothing is gathered, each of the ranks with
    lists of their own does what it would do alone."""
    own = ["4*(1,100),(50,20)", "(7,0),3*(1,40)"]
    text = ",".join(item + f"#{rank}" for rank, items in enumerate(own) for item in items.replace("),", ");").split(";"))
    for name, degrees in (
        ("command-r7b", (1, 2)), ("granite-3.0-1b-a400m", (1,)), ("falcon-h1-0.5b", (1, 2)), ("minicpm3-4b", (1, 2)),
        ("dots.llm1", (1, 2)), ("nemotron-3-nano-30b-a3b", (1, 2)),
    ):  # fmt: skip
        for tp in degrees:
            flags = [name, "--dry-run", f"--tp={tp}"]
            entries = traces.compile_json(*flags, "--dp=2", "--requests=" + text)["classes"]
            equal(f"{name}, tp {tp}: classes", len(entries), 2)
            for entry in entries:
                rank = entry["coordinates"]["dp"]
                (alone,) = traces.compile_json(*flags, "--requests=" + own[rank])["classes"]
                for what in ("matrix_operations_by_phase", "operations", "memory_traffic_bytes", "memory"):
                    equal(f"{name}, tp {tp}, rank {rank}: {what}", entry[what], alone[what])
                sent = [[(c["kind"], c["count"], c["bytes"]) for c in e["collectives"]] for e in (entry, alone)]
                equal(f"{name}, tp {tp}, rank {rank}: collectives", *sent)


def redundant():
    """Replicas of experts: more parameters, as many rows."""
    m = QWEN
    tokens, ranks, more = 60, 5, 32
    flags = [f"--batch={tokens * ranks}", "--kv-len=99", f"--dp={ranks}", f"--ep={ranks}"]
    entry = compile_one(m.name, *flags, f"--redundant-experts={more}")
    equal("products", products(entry), step_products(m, tokens, 100, tokens * m.k))
    equal("rows", exchanges(entry), [(2 * m.L, 2 * m.L * tokens * m.k * m.h * 2)])
    plain = compile_one(m.name, f"--batch={tokens}", "--kv-len=99")
    # Of 160 experts a rank has 32; without replicas it would have all 128, and the rest is the same.
    less = plain["memory"]["persistent_bytes"]["parameter"] - entry["memory"]["persistent_bytes"]["parameter"]
    equal("parameters", less, m.L * (m.E - (m.E + more) // ranks) * 3 * m.h * m.fe * 2)
    # Attention over tp 4 and dp 2, experts over all eight ranks.
    flags = ["--requests=64*(1,99)", "--batch=2", "--tp=4", "--dp=2", "--etp=1", "--ep=8", "--sequence-parallel"]
    entry = compile_one(m.name, *flags, f"--redundant-experts={more}")
    own = compile_one(m.name, *flags)
    rows = [(2 * m.L, 2 * m.L * 16 * m.k * m.h * 2)]
    equal("tp and dp: rows", exchanges(entry), rows)
    equal("tp and dp: rows without replicas", exchanges(own), rows)
    equal("tp and dp: products", products(entry), products(own))
    added = entry["memory"]["persistent_bytes"]["parameter"] - own["memory"]["persistent_bytes"]["parameter"]
    equal("tp and dp: parameters", added, m.L * more // 8 * 3 * m.h * m.fe * 2)


def balance(loads, replicas, ranks):
    """Shares of ranks, computed with fractions: each replica is one of the most loaded expert, the most loaded
    ones are dealt first."""
    counts = [1] * len(loads)
    for _ in range(replicas):
        most = max(range(len(loads)), key=lambda i: (Fraction(loads[i], counts[i]), -i))
        counts[most] += 1
    shares = sorted((Fraction(l, c) for l, c in zip(loads, counts) for _ in range(c)), reverse=True)
    sums, room = [Fraction(0)] * ranks, [len(shares) // ranks] * ranks
    for share in shares:
        rank = min((r for r in range(ranks) if room[r]), key=lambda r: (sums[r], r))
        sums[rank] += share
        room[rank] -= 1
    return sums


def replicas():
    """Loads of experts with replicas, of which the most loaded experts have most."""
    m, ranks, more = MIXTRAL, 4, 4
    loads = [60, 1, 7, 7, 20, 3, 1, 1]
    tokens = 1500
    flags = [f"--requests={tokens}*(1,99)", f"--batch={ranks}", f"--dp={ranks}", f"--ep={ranks}"]
    histogram = ",".join(map(str, loads))
    summary = traces.compile_json(m.name, "--dry-run", *flags, f"--redundant-experts={more}", f"--expert-histogram={histogram}")
    sums = balance(loads, more, ranks)
    rest = step_products(m, tokens, 100, 0)
    found = {}
    for entry in summary["classes"]:
        found[entry["coordinates"]["ep"]] = (products(entry) - rest) // (6 * m.h * m.fe * m.L)
    all_rows = tokens * ranks * m.k
    equal("rows of all", sum(found.values()), all_rows)
    for rank, share in enumerate(sums):
        want = share * all_rows / sum(loads)
        # Ends of ranges are rounded up, of each replica.
        if abs(found[rank] - want) >= 2 * len(loads):
            equal(f"rows of rank {rank}", found[rank], want)
    # Loads of all replicas are those of ranks, in order.
    given = [5, 5, 5, 1, 1, 1, 2, 2, 2, 4, 4, 4]
    histogram = ",".join(map(str, given))
    summary = traces.compile_json(m.name, "--dry-run", *flags, f"--redundant-experts={more}", f"--expert-histogram={histogram}")
    for entry in summary["classes"]:
        rank = entry["coordinates"]["ep"]
        rows = (products(entry) - rest) // (6 * m.h * m.fe * m.L)
        equal(f"given loads, rank {rank}", rows, all_rows * sum(given[3 * rank : 3 * rank + 3]) // sum(given))


def logits():
    """Rows of logits of which ranks have parts: I1.12, I2.1 of 64 rows, or messages to the first rank."""
    V, tokens = 128256, 64
    for name, L, tp in (("llama3-70b", 80, 8), ("llama3-8b", 32, 4)):
        flags = [name, "--dry-run", f"--batch={tokens}", "--kv-len=99", f"--tp={tp}"]
        (plain,) = traces.compile_json(*flags)["classes"]
        gathers = [c for c in plain["collectives"] if c["kind"] == "all_gather"]
        equal(f"{name}: all", [(c["count"], c["bytes"]) for c in gathers], [(1, tokens * V // tp * 2)])
        (top,) = traces.compile_json(*flags, "--logits-gather=top")["classes"]
        gathers = [c for c in top["collectives"] if c["kind"] == "all_gather"]
        equal(f"{name}: top", [(c["count"], c["bytes"]) for c in gathers], [(1, tokens * 2 * 4)])
        equal(f"{name}: top, products", products(top), products(plain))
        # A rank looks at its own logits, and at two numbers of each part.
        less = tokens * (V - V // tp - 2 * tp)
        equal(f"{name}: top, operations", plain["operations"] - top["operations"], less)
        summary = traces.compile_json(*flags, "--logits-gather=one")
        equal(f"{name}: one, classes", len(summary["classes"]), tp)
        for entry in summary["classes"]:
            rank = entry["coordinates"]["tp"]
            part, back = tokens * V // tp * 2, tokens * 4
            found = sorted((m["kind"], m["shift"], m["count"], m["bytes"]) for m in entry["messages"])
            if rank == 0:
                want = [("recv", i, 1, part) for i in range(1, tp)] + [("send", i, 1, back) for i in range(1, tp)]
            else:
                want = [("recv", -rank, 1, back), ("send", -rank, 1, part)]
            equal(f"{name}: one, rank {rank}", found, sorted(want))
            equal(f"{name}: one, products", products(entry), products(plain))
            kinds = {c["kind"] for c in entry["collectives"]}
            equal(f"{name}: one, collectives", kinds, {"all_reduce"})


def divided():
    """Caches whose tokens are dealt to ranks with the same heads: I3.1 to I3.7, and I3.10."""
    # Absorbed latents of DeepSeek-V3 over all of tp 8.
    L, h, heads, dq, dv, B = 61, 7168, 128, 576, 512, 32
    flags = ["deepseek-v3", "--dry-run", f"--batch={B}", "--kv-len=10000", "--tp=8", "--mla-form=absorbed"]
    plain = traces.compile_json(*flags)["classes"][0]
    keys = [1251] + [1250] * 7
    summary = traces.compile_json(*flags, "--cache-axes=tp")
    equal("latents: classes", len(summary["classes"]), 8)
    for entry in summary["classes"]:
        (rank,) = entry["coordinates"].values()
        equal(f"latents, rank {rank}", entry["memory"]["persistent_bytes"]["kv_cache"], L * B * keys[rank] * dq * 2)
        more = products(entry) - products(plain)
        equal(f"latents, rank {rank}: products", more, L * B * 2 * (dq + dv) * (keys[rank] * heads - 10001 * heads // 8))
        want = Counter({(c["kind"], c["count"], c["bytes"]): 1 for c in plain["collectives"]})
        found = Counter({(c["kind"], c["count"], c["bytes"]): 1 for c in entry["collectives"]})
        gathered = L * (B * heads // 8 * dq * 2 + B * heads * 4)
        equal(
            f"latents, rank {rank}: collectives",
            (found - want, {kind for kind, count, size in want - found}),
            (
                Counter({
                    ("all_gather", 2 * L + 1, gathered + B * 129280 // 8 * 2): 1,
                    ("reduce_scatter", L, L * B * heads * dv * 2): 1,
                }),
                {"all_gather"},
            ),
        )
    # Two ranks with the same head of Qwen3-235B.
    flags = ["qwen3-235b-a22b", "--dry-run", f"--batch={B}", "--kv-len=4095", "--tp=8"]
    plain = traces.compile_json(*flags)["classes"][0]
    (entry,) = traces.compile_json(*flags, "--cache-axes=tp_replicate")["classes"]
    equal("heads: products", products(entry), products(plain))
    whole, half = (e["memory"]["persistent_bytes"]["kv_cache"] for e in (plain, entry))
    equal("heads: cache", 2 * half, whole)
    found = sorted((c["kind"], c["group_size"], c["count"], c["bytes"]) for c in entry["collectives"] if c["group_size"] == 2)
    want = [("all_gather", 2, 2 * 94, 94 * (65536 + 2048)), ("reduce_scatter", 2, 94, 94 * 131072)]
    equal("heads: collectives", found, want)
    # Four with the same one of Qwen3-Next, beside linear attention, whose states are not divided more, and a shared
    # expert with a gate.
    flags = ["qwen3-next-80b-a3b", "--dry-run", "--batch=16", "--kv-len=4095", "--tp=8"]
    plain = traces.compile_json(*flags)["classes"][0]
    (entry,) = traces.compile_json(*flags, "--cache-axes=tp_replicate")["classes"]
    equal("gated: products", products(entry), products(plain))
    keys = 16 * 12 * 4096 * 2 * 256 * 2
    less = plain["memory"]["persistent_bytes"]["kv_cache"] - entry["memory"]["persistent_bytes"]["kv_cache"]
    equal("gated: cache", less, keys - keys // 4)
    found = sorted((c["kind"], c["group_size"], c["count"], c["bytes"]) for c in entry["collectives"] if c["group_size"] == 4)
    # Queries of two heads of each rank, and their sums; then what eight make, of which each gets its two.
    want = [("all_gather", 4, 2 * 12, 12 * 16 * (2 * 256 * 2 + 8 * 4)), ("reduce_scatter", 4, 12, 12 * 16 * 8 * 256 * 2)]
    equal("gated: collectives", found, want)


def helix():
    """Parts of outputs that are exchanged for heads: I3.8, I3.9, and with gathered queries I3.4."""
    L, h, heads, dq, dv, B, V = 61, 7168, 128, 576, 512, 32, 129280
    flags = ["deepseek-v3", "--dry-run", f"--batch={B}", "--kv-len=9999", "--mla-form=absorbed"]
    # Of each head two fp32 numbers beside the output, to each of 8 ranks.
    peer = B * heads // 8 * (dv * 2 + 8)
    equal("helix: to each rank", peer, 528384)
    (entry,) = traces.compile_json(*flags, "--preset=helix", "--degrees=kvp=8")["classes"]
    equal("helix: exchanges", exchanges(entry), [(L, L * 8 * peer)])
    equal("helix: sent", 8 * peer, 4227072)
    # Nothing of queries is gathered; logits are.
    gathers = [(c["count"], c["bytes"]) for c in entry["collectives"] if c["kind"] == "all_gather"]
    equal("helix: gathers", gathers, [(1, B * V // 8 * 2)])
    # Ranks have all projections of queries, keys and values, and an eighth of everything behind attention.
    (plain,) = traces.compile_json(*flags)["classes"]
    (entry4,) = traces.compile_json(*flags, "--preset=helix", "--degrees=kvp=4")["classes"]
    less = products(entry4) - products(entry)
    behind = products(plain) - products(entry)
    # What is divided: an eighth is left of it, or a quarter; attention is as much work as keys.
    equal("helix: products", 7 * less, behind)
    equal("helix: cache", 8 * entry["memory"]["persistent_bytes"]["kv_cache"], L * B * 10000 * dq * 2)
    # Over tp queries are gathered, and outputs exchanged instead of summed.
    (entry,) = traces.compile_json(*flags, "--tp=8", "--cache-axes=tp", "--cache-merge=exchange")["classes"]
    equal("exchange", exchanges(entry), [(L, L * 8 * peer)])
    gathers = [(c["count"], c["bytes"]) for c in entry["collectives"] if c["kind"] == "all_gather"]
    queries = B * heads // 8 * dq * 2
    equal("exchange: queries", (queries, 8 * queries), (589824, 4718592))
    equal("exchange: gathers", gathers, [(L + 1, L * queries + B * V // 8 * 2)])
    # Experts over kvp, or over kvp and a part of tp: one sum of what they and the shared one make.
    for tp, degrees in ((1, (8,)), (2, (4, 8, 16)), (4, (8,))):
        (whole,) = traces.compile_json(*flags, "--preset=helix", "--degrees=kvp=8", f"--tp={tp}")["classes"]
        for ep in degrees:
            (entry,) = traces.compile_json(*flags, "--preset=helix", f"--degrees=kvp=8,ep={ep}", f"--tp={tp}")["classes"]
            sums = [(c["group_size"], c["count"], c["bytes"]) for c in entry["collectives"] if c["kind"] == "all_reduce"]
            what = f"helix, experts over {ep} of {8 * tp}"
            equal(f"{what}: sums", sums, [(8 * tp, 2 * L + 1, (2 * L + 1) * B * h * 2)])
            # Experts are divided by number or by width, and are there once.
            held, all_held = (e["memory"]["persistent_bytes"]["parameter"] for e in (entry, whole))
            equal(f"{what}: parameters", held, all_held)
            equal(f"{what}: products", products(entry), products(whole))


def gathered(entry, *axes):
    return [(c["count"], c["bytes"]) for c in entry["collectives"] if c["kind"] == "all_gather" and c["axes"] == list(axes)]


def routed():
    """Ranks route their own tokens, and gather logits of the router, or choices and weights, beside tokens."""
    # Bytes of a logit: a sigmoid is of fp32, a softmax of what the router has made.
    for name, h, E, k, layers, dense, logit, latents in (
        ("deepseek-v3", 7168, 256, 8, 5, 3, 4, 1536 + 512 + 64), ("qwen3-30b-a3b", 2048, 128, 8, 4, 0, 2, 0),
        ("mixtral-8x7b", 4096, 8, 2, 3, 0, 2, 0),
    ):  # fmt: skip
        plan = [f"--set=L={layers}", "--kv-len=99", "--preset=vllm-experts"]
        experts = layers - dense
        for dp, tp, own in (8, 1, 16), (4, 2, 4), (2, 4, 8):
            batch = dp * own
            whole = products(compile_one(name, *plan, f"--batch={batch}"))
            for choices in False, True:
                flags = [*plan, f"--batch={batch}", f"--dp={dp}", f"--tp={tp}", f"--degrees=choices={str(choices).lower()}"]
                entry = compile_one(name, *flags)
                # Over tp all ranks have the same tokens, route them, and make latents of them.
                again = (tp - 1) * 2 * batch * h * (experts * E + layers * latents)
                equal(f"{name}, {dp} x {tp}, {choices}", dp * tp * products(entry) - again, whole)
                count, size = (2, k * 4 * 2) if choices else (1, E * logit)
                want = (layers + experts * count, layers * own * h * 2 + experts * own * size)
                equal(f"{name}, {dp} x {tp}, {choices}: gathered", gathered(entry, "dp"), [want])
    # Where ranks of tp have slices of the tokens they route these, and all ranks gather.
    plan = ["--set=L=5", "--kv-len=99", "--preset=vllm-experts", "--batch=32"]
    entry = compile_one("deepseek-v3", *plan, "--dp=2", "--tp=4", "--sequence-parallel")
    want = (5 + 2, 5 * 4 * 7168 * 2 + 2 * 4 * 256 * 4)
    equal("slices", gathered(entry, "tp", "dp"), [want])
    equal("slices: products", 8 * products(entry), products(compile_one("deepseek-v3", *plan)))
    # Also where two ranks each have the same key/value head.
    entry = compile_one("qwen3-30b-a3b", "--kv-len=99", "--preset=vllm-experts", "--batch=64", "--dp=2", "--tp=8", "--sequence-parallel")
    want = (2 * 48, 48 * 4 * (2048 + 128) * 2)
    equal("slices, same heads", gathered(entry, "tp_replicate", "tp_kv", "dp"), [want])


def kept():
    """Ranks of cp keep all tokens of a prefill: what is cached of new ones is gathered, of earlier ones nothing is."""
    # Elements that are cached of a token, in two tensors, and those that keys and values are made of again.
    for name, h, V, cached, again in ("deepseek-v3", 7168, 129280, 512 + 64, 512 * 128 * 256), ("llama3-8b", 4096, 128256, 2 * 8 * 128, 0):
        for c, u, p in (2, 8192, 0), (2, 1024, 4096), (4, 512, 512):
            plan = ["--set=L=5", "--batch=1", "--mode=prefill", f"--seq={u}", f"--kv-len={p}", "--preset=vllm-pcp"]
            plan += ["--mla-form=naive"] if again else []
            one, entry = compile_one(name, *plan), compile_one(name, *plan, f"--cp={c}")
            what = f"{name}, {u} after {p} on {c}"
            equal(what, gathered(entry, "cp"), [(2 * 5 + 1, u // c * 2 * (5 * cached + h))])
            cache = [e["memory"]["persistent_bytes"]["kv_cache"] for e in (one, entry)]
            equal(f"{what}: cache", cache, [5 * cached * 2 * -(-(u + p) // 16) * 16] * 2)
            # All ranks make keys and values of all latents, and the logits of the last token.
            more = (c - 1) * (5 * 2 * (u + p) * again + 2 * h * V)
            equal(f"{what}: products", c * products(entry), products(one) + more)


for argument in sys.argv[1:]:
    globals()[argument]()
comparing.finish()
