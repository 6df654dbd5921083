"""Compares prefill and decoding on ranks of their own with closed forms, and with what was measured.

Sizes of messages are those of inference.md: whole blocks of a request's tokens, which the first new
token begins where they were full; heads from whoever has them to whoever needs them.

Usage: disaggregated.py {sizes|heads|latents|batch|stages|turns|waits|times|kinds|windows|context|places|states|recurrent|executed} DIR
"""

import json
import re
import sys
from collections import Counter
from pathlib import Path

import comparing
import traces
from comparing import equal

DIR = Path(sys.argv[2])


def flags_of(prefill, decode):
    """The flags of two plans."""
    flags = []
    for name, plan in (("prefill", prefill), ("decode", decode)):
        path = DIR / f"{name}.json"
        path.write_text(json.dumps(plan))
        flags.append(f"--{name}-strategy={path}")
    return flags


def compile_both(model, prefill, decode, *flags):
    return traces.compile_json(model, "--dry-run", *flags_of(prefill, decode), *flags)


def sent(summary):
    """(from, to) -> (messages, bytes), of caches and first tokens."""
    found = {}
    for entry in summary["classes"]:
        for m in entry.get("messages", []):
            if m["phase"] == "transfer" and m["kind"] == "send":
                found[entry["first_rank"], entry["first_rank"] + m["shift"]] = (m["count"], m["bytes"])
    return found


def check_receives(what, summary):
    """What is received is what is sent."""
    got = {}
    for entry in summary["classes"]:
        for m in entry.get("messages", []):
            if m["phase"] == "transfer" and m["kind"] == "recv":
                got[entry["first_rank"] + m["shift"], entry["first_rank"]] = (m["count"], m["bytes"])
    equal(f"{what}: received", got, sent(summary))


# What Mooncake reported for Qwen3-8B, TP8 to TP8: tokens, MB or GB of 2^20 or 2^30 bytes.
MEASURED = [(128, 20, 20), (256, 38, 20), (512, 74, 20), (1024, 146, 20), (2048, 290, 20), (4096, 578, 20)]
MEASURED += [(8192, 1.13, 30), (16384, 2.25, 30), (32768, 4.50, 30)]
QWEN3_8B = ["--set=D=4096", "--set=H=32", "--set=K=8", "--set=E=128", "--set=F=12288", "--set=V=151936", "--set=L=36"]


def sizes():
    for tokens, reported, power in MEASURED:
        plan = {"tp": 8, "kv_block_size": 16}
        summary = compile_both("llama3-8b", plan, plan, "--batch=1", f"--seq={tokens}", *QWEN3_8B)
        messages = sent(summary)
        check_receives(f"{tokens} tokens", summary)
        # Each rank sends to the one that stands where it does: a message for a layer, and a token.
        equal(f"{tokens} tokens: pairs", sorted(messages), [(rank, 8 + rank) for rank in range(8)])
        caches = sum(size - 4 for count, size in messages.values())
        equal(f"{tokens} tokens", caches, (tokens // 16 + 1) * 16 * 147456)
        equal(f"{tokens} tokens: messages", {count for count, size in messages.values()}, {37})
        digits = 0 if power == 20 else 2
        equal(f"{tokens} tokens: reported", round(caches / 2**power, digits), reported)


def heads():
    """Llama 3 70B, 4,096 tokens, four ranks to eight, and other numbers of them."""
    for here, there in ((4, 8), (8, 4), (2, 1), (1, 2), (2, 8)):
        summary = compile_both("llama3-70b", {"tp": here}, {"tp": there}, "--batch=1", "--seq=4096")
        check_receives(f"{here} to {there}", summary)
        most = max(here, there)
        want = {}
        for part in range(most):
            pair = part * here // most, here + part * there // most
            want[pair] = (81, 1342177280 // most + 4)
        # The token is that of one rank; who sends heads and no token has one message less.
        found = sent(summary)
        equal(f"{here} to {there}: pairs", sorted(found), sorted(want))
        for pair, (count, size) in found.items():
            tokens = count - 80
            equal(f"{here} to {there}, {pair}", (tokens in (0, 1), size), (True, want[pair][1] - 4 + 4 * tokens))
        equal(f"{here} to {there}: tokens", sum(count - 80 for count, size in found.values()), there)
    # More ranks than heads: all of them send, also those that hold the same.
    plan = {"tp": 16, "kv_block_size": 16}
    found = sent(compile_both("llama3-70b", plan, plan, "--batch=1", "--seq=4096"))
    equal("replicas", sum(size - 4 for count, size in found.values()), 2 * 257 * 16 * 327680)


def latents():
    """DeepSeek-V3, 4,096 tokens: each rank of decoding has all of a latent, from one rank."""
    for here, there in ((1, 1), (4, 8), (8, 4)):
        summary = compile_both("deepseek-v3", {"tp": here}, {"tp": there}, "--batch=1", "--seq=4096")
        check_receives(f"latents {here} to {there}", summary)
        want = {(to * here // there, here + to): (62, 287834112 + 4) for to in range(there)}
        equal(f"latents {here} to {there}", sent(summary), want)


def batch():
    """Each group of data-parallel ranks gets the caches of its requests."""
    summary = compile_both("llama3-8b", {"tp": 2, "dp": 2}, {"tp": 1, "dp": 4}, "--batch=8", "--seq=64")
    check_receives("batch", summary)
    want = {}
    for to in range(4):
        for tp in range(2):
            # Two of eight requests, half of their heads.
            want[2 * (to // 2) + tp, 4 + to] = 2 * 64 * 131072 // 2
    found = sent(summary)
    tokens = {pair: size - want.get(pair, 0) for pair, (count, size) in found.items()}
    equal("batch: pairs", sorted(found), sorted(want))
    equal("batch: tokens", Counter(tokens.values()), {0: 4, 8: 4})


def stages():
    """Each stage sends its layers, to stages that have them."""
    for here, there in ((2, 1), (4, 2), (2, 2), (1, 2), (2, 4), (4, 3), (3, 4), (3, 2), (1, 12)):
        summary = compile_both("llama3-8b", {"pp": here}, {"pp": there}, "--batch=1", "--seq=64", "--set=L=12")
        check_receives(f"stages {here} to {there}", summary)
        want = Counter((layer * here // 12, here + layer * there // 12) for layer in range(12))
        want = {pair: (layers, layers * 64 * 4096) for pair, layers in want.items()}
        last = here - 1, here
        count, size = want.get(last, (0, 0))
        want[last] = (count + 1, size + 4)
        equal(f"stages {here} to {there}", sent(summary), want)
    # Stages with other numbers of layers, and layers in groups: Gemma 3 1B, of which each sixth sees all.
    for here, there in (([7, 6, 13], [13, 13]), ([26], [3, 23]), ([13, 13], [13, 13]), ([20, 6], [1, 2, 23]), ([9, 17], [26])):
        plans = [{"pp": len(layers), "layers_per_stage": layers} if len(layers) > 1 else {} for layers in (here, there)]
        what = f"stages {here} to {there}"
        summary = compile_both("gemma-3-1b", *plans, "--batch=2", "--seq=600")
        check_receives(what, summary)
        of = [[stage for stage, number in enumerate(layers) for _ in range(number)] for layers in (here, there)]
        want, counts = Counter(), Counter()
        for layer, (a, b) in enumerate(zip(*of)):
            want[a, len(here) + b] += 2 * (600 if layer % 6 == 5 else 511) * 2 * 256 * 2
            counts[a, len(here) + b] += 2
        last = len(here) - 1, len(here)
        want[last] += 8
        counts[last] += 1
        equal(what, sent(summary), {pair: (counts[pair], want[pair]) for pair in want})
        folder = DIR / "groups"
        traces.run("stg-compile", "gemma-3-1b", *flags_of(*plans), "--batch=2", "--seq=600", "-o", folder)
        traces.run("stg-trace", "validate", folder)
        traces.run("stg-trace", "validate", "--eager-sends", folder)


class Plan:
    """Who has which request and which layer: ranks of tp are neighbours, then those of dp, then stages."""

    def __init__(self, batch, layers, tp=1, dp=1, pp=1, virtual_stages=1, micro_batch=None):
        self.batch, self.layers, self.tp, self.dp, self.pp = batch, layers, tp, dp, pp
        self.ranks = tp * dp * pp
        self.rows = batch // dp
        self.micro_batch = micro_batch or self.rows
        self.stages = pp * virtual_stages

    def turn(self, request):
        return request % self.rows // self.micro_batch

    def rank(self, stage, request, part):
        return (stage % self.pp * self.dp + request // self.rows) * self.tp + part

    def layer(self, layer, request, part):
        return self.rank(layer * self.stages // self.layers, request, part)


def sent_between(own, other, head_bytes, heads):
    """(from, to) -> (messages, bytes), of caches and, by pairs of micro-batches, of first tokens."""
    found, tokens = Counter(), Counter()
    for request in range(own.batch):
        for layer in range(own.layers):
            parts = Counter((head * own.tp // heads, head * other.tp // heads) for head in range(heads))
            for (a, b), number in parts.items():
                pair = own.layer(layer, request, a), own.ranks + other.layer(layer, request, b)
                found[pair, "count"] += 1
                found[pair, "bytes"] += number * head_bytes
        for b in range(other.tp):
            # Who looks tokens up gets them from the one who stands as it does among those who sample.
            a = b * own.tp // other.tp
            pair = own.rank(own.stages - 1, request, a), own.ranks + other.rank(0, request, b)
            found[pair, "bytes"] += 4
            tokens[pair, own.turn(request), other.turn(request)] += 1
    for pair, _, _ in tokens:
        found[pair, "count"] += 1
    return {pair: (found[pair, "count"], found[pair, "bytes"]) for pair, kind in found if kind == "bytes"}


TURNS = [
    ({"tp": 2}, {"tp": 2}),
    ({"tp": 2, "dp": 2}, {"tp": 1, "dp": 4}),
    ({"pp": 2}, {"tp": 4}),
    ({"pp": 4}, {"pp": 2, "tp": 2}),
    ({"pp": 2, "dp": 2}, {"pp": 2, "tp": 2}),
    ({"pp": 2, "virtual_stages": 2}, {"tp": 2}),
    ({"pp": 2, "virtual_stages": 2}, {"pp": 2, "virtual_stages": 2}),
    ({"pp": 2}, {"pp": 4}),
    ({"tp": 2}, {"pp": 2, "virtual_stages": 2}),
]


def turns():
    """Each micro-batch sends the caches of its requests to those that go on with them."""
    model = ["llama3-8b", "--set=L=4", "--batch=8", "--seq=64"]
    folder = DIR / "turns"
    for prefill, decode in TURNS:
        rows = [8 // plan.get("dp", 1) for plan in (prefill, decode)]
        for here, there in ((rows[0] // 2, rows[1]), (rows[0], 1), (1, 1), (rows[0] // 2, rows[1] // 2)):
            # Virtual stages take turns with micro-batches.
            sides = (prefill, here, rows[0]), (decode, there, rows[1])
            if any("virtual_stages" in plan and size == all_rows for plan, size, all_rows in sides):
                continue
            both = {**prefill, "micro_batch": here}, {**decode, "micro_batch": there}
            what = f"{both[0]} to {both[1]}"
            summary = compile_both(*model[:1], *both, *model[1:])
            check_receives(what, summary)
            equal(what, sent(summary), sent_between(*(Plan(8, 4, **plan) for plan in both), 64 * 2 * 128 * 2, 8))
            traces.run("stg-compile", *model, *flags_of(*both), "-o", folder)
            traces.run("stg-trace", "validate", folder)
            traces.run("stg-trace", "validate", "--eager-sends", folder)

    # Windows, latents, states, and lists of requests: micro-batches send together what one of all rows sends.
    for model, flags in (
        ("gemma-3-1b", ["--seq=600"]),
        ("deepseek-v3", ["--seq=64", "--set=L=4"]),
        ("nemotron-h-8b", ["--seq=64"]),
        ("llama3-8b", ["--requests=3*(64,0),(16,32)", "--set=L=4"]),
    ):
        want = sent(compile_both(model, {}, {}, "--batch=4", *flags))
        found = sent(compile_both(model, {"micro_batch": 2}, {"micro_batch": 1}, "--batch=4", *flags))
        # First tokens go to each of four, instead of to one.
        equal(model, found, {pair: (count + 3, size) for pair, (count, size) in want.items()})


def waits():
    """A micro-batch of decoding waits for its own requests: four layers of each, and their tokens."""
    for here, there in ((4, 4), (2, 4), (8, 4), (4, 2)):
        folder = DIR / f"waits-{here}-{there}"
        model = ["llama3-8b", "--set=L=4", "--batch=8", "--seq=64"]
        traces.run("stg-compile", *model, *flags_of({"micro_batch": here}, {"micro_batch": there}), "-o", folder)
        lines = traces.run("stg-trace", "print", "--rank=1", folder).splitlines()
        nodes = [entry for entry in json.loads(f"[{','.join(lines)}]") if "name" in entry]
        by_id = {node["id"]: node for node in nodes}
        lookups = [node for node in nodes if re.fullmatch(r"mb\d+\.tok_embeddings\.fwd/.*", node["name"])]
        equal(f"{here} to {there}: micro-batches", len(lookups), 8 // there)
        for turn, node in enumerate(lookups):
            before = [by_id[i]["name"] for key in ("data_deps", "ctrl_deps") for i in node.get(key, [])]
            before = [name for name in before if ".from0" in name]
            senders = {request // here for request in range(turn * there, (turn + 1) * there)}
            what = f"{here} to {there}, micro-batch {turn}"
            equal(f"{what}: receives", len(before), 4 * there + len(senders))
            equal(f"{what}: its own", [name for name in before if f".for.mb{turn}" not in name], [])
            own = {f".mb{sender}." for sender in senders} if here < 8 else {""}
            equal(f"{what}: senders", {re.search(r"\.from0((?:\.mb\d+\.)?)", name)[1] for name in before}, own)


def estimate(*flags):
    return json.loads(traces.run("stg-estimate", *flags, "--machine=h100-80gb-dgx", "--json"))


def times():
    """Each side takes as long as its plan alone; what is between them is sent one after the other."""
    # Prefill has whole nodes, so that groups of decoding are on as many nodes as they are alone.
    for prefill, decode in (
        ({"tp": 8}, {"tp": 2}),
        ({"tp": 4, "pp": 2, "micro_batch": 2}, {"tp": 4, "pp": 2, "micro_batch": 4}),
        ({"tp": 2, "dp": 4}, {"tp": 8}),
    ):
        model = ["llama3-8b", "--set=L=8", "--batch=8"]
        what = f"{prefill} to {decode}"
        both = estimate(*model, "--seq=512", *flags_of(prefill, decode))
        first = estimate(*model, "--mode=prefill", "--seq=512", f"--strategy={DIR / 'prefill.json'}")
        token = estimate(*model, "--mode=decode", "--kv-len=512", f"--strategy={DIR / 'decode.json'}")
        for key, own in (("time_to_first_token_seconds", first), ("time_per_token_seconds", token)):
            equal(f"{what}: {key}", both[key], own["step_seconds"])
        # Steps on ranks of their own are not taken to overlap in stages.
        for key, own in (("prompts_per_second", first), ("tokens_per_second", token)):
            equal(f"{what}: {key}", both[key], 8 / own["step_seconds"])
        alone = first["step_seconds"] + token["step_seconds"]
        equal(f"{what}: together", round(max(0, both["step_seconds"] - alone), 9), round(both["transfer_seconds"], 9))
        rate = (8 * 512 + 8) / (both["step_seconds"] * both["ranks"])
        equal(f"{what}: tokens", round(both["tokens_per_second_and_device"], 3), round(rate, 3))
    # Over a slow link the last of three times two messages arrives so much later.
    model = ["llama3-8b", "--set=L=2", "--seq=64", *flags_of({}, {})]
    share, size, seconds = 0.8, 64 * 8 * 128 * 2 * 2, []
    for bandwidth in 1, 4:
        link = f"--machine-set=network.nvlink.bandwidth={bandwidth / 1000} GB/s"
        seconds.append(estimate(*model, "--batch=3", link))
    for key in "step_seconds", "transfer_seconds":
        late = seconds[0][key] - seconds[1][key]
        equal(f"slow link: {key}", round(late, 9), round(3 * 2 * size * (1 - 1 / 4) / (share * 1e6), 9))
    equal("slow link: first token", *(own["time_to_first_token_seconds"] for own in seconds))
    # A bundle says the same, and so does the manifest.
    folder = DIR / "both"
    traces.run("stg-compile", *model, "--batch=3", "--bundle", "-o", folder)
    equal("bundle", estimate(folder), estimate(*model, "--batch=3"))
    traces.run("stg-compile", *model, "--batch=3", "-o", DIR / "files")
    equal("manifest", estimate(*model[:3], "--batch=3", f"--strategy={DIR / 'files' / 'manifest.json'}"), estimate(folder))
    # Requests of a list begin and go on, too.
    both = estimate("llama3-8b", "--set=L=2", "--requests=2*(64,0),(40,0)", "--batch=2", *flags_of({}, {}))
    equal("list", round(both["prompts_per_second"] * both["time_to_first_token_seconds"], 6), 6)
    equal("list: tokens", round(both["tokens_per_second_and_device"] * both["step_seconds"] * 2, 6), 2 * 168 + 6)


def kinds():
    """A list of prompts, of which some tokens were cached before."""
    summary = compile_both("llama3-8b", {"tp": 2}, {"tp": 2}, "--requests=3*(64,0),(16,32)", "--kv-block-size=16")
    check_receives("kinds", summary)
    tokens = 3 * 80 + 64
    want = {(rank, 2 + rank): (4 * 32 + 1, tokens * 131072 // 2 + 16) for rank in range(2)}
    equal("kinds", sent(summary), want)


def windows():
    """Under a window what the next token sees is sent: Gemma 3 1B, 22 of 26 layers see 512 tokens."""
    per_token = 2 * 256 * 2
    for tokens, block in ((100, 1), (2000, 1), (512, 1), (511, 1), (2000, 16), (2047, 16), (100, 16)):
        plan = {"kv_block_size": block}
        summary = compile_both("gemma-3-1b", plan, plan, "--batch=3", f"--seq={tokens}")
        check_receives(f"{tokens} tokens", summary)
        # Positions from the first one that is seen on, in blocks; with blocks also that of the next token.
        first, end = max(0, tokens - 511), tokens if block == 1 else tokens + 1
        seen = len({position // block for position in range(first, end)}) * block
        whole = -(-end // block) * block
        want = 3 * per_token * (22 * seen + 4 * whole) + 3 * 4
        equal(f"{tokens} tokens in blocks of {block}", sent(summary), {(0, 1): (3 * 26 + 1, want)})
    # A token sees those of its own chunk; one that begins a chunk sees none.
    model = str(Path(__file__).parent / "Inputs" / "chunks.mlir")
    values = [f"--set={text}" for text in ("D=64", "H=4", "K=2", "E=16", "F=128", "V=512", "L=3", "W=64")]
    for tokens, seen in ((100, 36), (128, 0), (40, 40)):
        found = sent(compile_both(model, {}, {}, "--batch=2", f"--seq={tokens}", *values))
        want = (3 * 2 + 1, 3 * 2 * seen * 2 * 2 * 16 * 2 + 8) if seen else (1, 8)
        equal(f"chunks, {tokens} tokens", found, {(0, 1): want})
    one = compile_both("gemma-3-1b", {"tp": 1}, {"tp": 1}, "--requests=2*(600,0),(40,0)")
    seen = 2 * (22 * 511 + 4 * 600) + 26 * 40
    equal("list", sent(one), {(0, 1): (3 * 26 + 1, per_token * seen + 12)})


def context():
    """Ranks that divide the tokens of prompts send those that they have."""
    for cp, here, there in ((2, 2, 4), (4, 1, 1), (2, 4, 2)):
        summary = compile_both("llama3-8b", {"cp": cp, "tp": here}, {"tp": there}, "--batch=3", "--seq=64")
        check_receives(f"cp {cp}", summary)
        want = {}
        for part in range(max(here, there)):
            a, b = part * here // max(here, there), part * there // max(here, there)
            for c in range(cp):
                want[c * here + a, cp * here + b] = 3 * (64 // cp) * 131072 // max(here, there)
        # First tokens are those of any rank that has sampled them.
        for pair, (count, size) in sent(summary).items():
            tokens = size - want.get(pair, 0)
            what = f"cp {cp}, tp {here} to {there}, {pair}"
            equal(what, (tokens in (0, 12), count), (True, 3 * 32 * (pair in want) + (tokens > 0)))
        equal(f"cp {cp}, tp {here} to {there}: pairs", set(want) - set(sent(summary)), set())
        total = sum(size for count, size in sent(summary).values())
        equal(f"cp {cp}, tp {here} to {there}: all", total, sum(want.values()) + 12 * there)


def shares(total, cp, balance):
    """The places of each rank in a row of so many tokens."""
    parts = cp if balance == "none" else 2 * cp
    each = total // parts
    slices = [range(i * each, (i + 1) * each) for i in range(parts)]
    return [[*slices[rank], *(slices[2 * cp - 1 - rank] if parts > cp else [])] for rank in range(cp)]


def dealt(requests, cp, balance, window, block):
    """Of each request how many tokens each rank sends, place by place. `requests` are (new, cached)."""
    owner, row = {}, [(r, cached + i) for r, (new, cached) in enumerate(requests) for i in range(new)]
    for rank, own in enumerate(shares(len(row), cp, balance)):
        owner.update({row[place]: rank for place in own})
    parts, found = cp if balance == "none" else 2 * cp, []
    for r, (new, cached) in enumerate(requests):
        # Ranks keep equally many of a window.
        kept = min(cached, -(-(window - 1) // parts) * parts) if window else cached
        for rank, own in enumerate(shares(kept, cp, balance)):
            owner.update({(r, cached - kept + place): rank for place in own})
        tokens = new + cached
        first, end = max(0, tokens - window + 1) if window else 0, tokens + (block > 1)
        blocks = range(first // block, -(-end // block))
        counts = Counter()
        for place in range(blocks[0] * block, (blocks[-1] + 1) * block if block > 1 else tokens):
            # What is not made yet goes with the last token, what is not kept with the first one that is.
            counts[owner[r, min(max(place, cached - kept), tokens - 1)]] += 1
        found.append([counts[rank] for rank in range(cp)])
    return found


CONTEXTS = [
    (2, "p2p", "zigzag"), (4, "p2p", "none"), (4, "query_p2p", "zigzag"), (2, "gather_p2p", "none"),
    (2, "all_gather", "zigzag"), (4, "all_gather", "none"),
]  # fmt: skip
LISTED = [(100, 0), (60, 64), (8, 704), (24, 8)]


def places():
    """Each rank sends the tokens that it has, of blocks and of windows: together what one rank would send."""
    local, everywhere, token = 22, 4, 2 * 256 * 2
    for cp, exchange, balance in CONTEXTS:
        for block in 1, 16:
            # Rows with cached tokens, and lists, of which with all_gather none are cached.
            cases = [([(256, 0)], ["--batch=3", "--seq=256"], 3), ([(64, 640)], ["--batch=2", "--seq=64", "--kv-len=640"], 2)]
            requests = [(u + p, 0) for u, p in LISTED] if exchange == "all_gather" else LISTED
            cases.append((requests, ["--requests=" + ",".join(f"({u},{p})" for u, p in requests)], 1))
            # Requests of one kind lie in the row one behind the other.
            cases.append(([(24, 0)] * 4, ["--requests=4*(24,0)"], 1))
            for requests, flags, rows in cases:
                what = f"cp {cp}, {exchange}, {balance}, blocks of {block}, {flags}"
                plan = {"cp": cp, "cp_comm_type": exchange, "cp_balance": balance, "kv_block_size": block}
                summary = compile_both("gemma-3-1b", plan, {"kv_block_size": block}, *flags)
                check_receives(what, summary)
                want, messages = Counter(), Counter()
                for layers, window in (local, 512), (everywhere, 0):
                    for counts in dealt(requests, cp, balance, window, block):
                        for rank, tokens in enumerate(counts):
                            want[rank, cp] += rows * layers * tokens * token
                            messages[rank, cp] += rows * layers * (tokens > 0)
                found = sent(summary)
                # One rank has sent the first tokens.
                size = 4 * rows * len(requests)
                first = {pair: int(found.get(pair, (0, 0))[1] == want[pair] + size) for pair in want}
                equal(f"{what}: first tokens", sum(first.values()), 1)
                equal(what, found, {pair: (messages[pair] + first[pair], want[pair] + size * first[pair])
                                    for pair in want if want[pair] + first[pair]})  # fmt: skip
                one = compile_both("gemma-3-1b", {"kv_block_size": block}, {"kv_block_size": block}, *flags)
                equal(f"{what}: all", sum(b for _, b in found.values()), sum(b for _, b in sent(one).values()))
    # Where tokens are exchanged for heads they are kept before that, as a range of each rank.
    for cp, here, there in (2, 1, 1), (2, 2, 4), (4, 2, 2):
        plan = {"cp": cp, "tp": here, "cp_comm_type": "a2a", "kv_block_size": 16}
        what = f"a2a {cp} x {here} to {there}"
        decode = {"tp": there, "kv_block_size": 16}
        summary = compile_both("llama3-8b", plan, decode, "--batch=3", "--seq=64")
        check_receives(what, summary)
        most, want = max(here, there), Counter()
        for rank, tokens in enumerate(dealt([(64, 0)], cp, "none", 0, 16)[0]):
            for part in range(most):
                want[rank * here + part * here // most, cp * here + part * there // most] += 3 * tokens * 131072 // most
        found = {pair: size for pair, (count, size) in sent(summary).items() if size > 12}
        equal(what, {pair: size // 4096 for pair, size in found.items()}, {pair: size // 4096 for pair, size in want.items()})
        equal(f"{what}: all", sum(size for _, size in sent(summary).values()), 3 * 80 * 131072 + 12 * there)
    # Ranks of vLLM's prefill context parallelism keep all tokens, and one of them sends.
    plan = {"preset": "vllm-pcp", "cp": 2, "kv_block_size": 16}
    summary = compile_both("deepseek-v3", plan, {"kv_block_size": 16}, "--batch=2", "--seq=4096", "--set=L=4")
    check_receives("vllm-pcp", summary)
    (size,) = {b for _, b in sent(summary).values()}
    equal("vllm-pcp", size, 2 * 4112 * 576 * 2 * 4 + 8)


def states():
    """A message of the state of a recurrent layer, as long as it is with any prompt."""
    for tokens in (64, 1000):
        # A convolution and a scan in each layer; Mamba-2 has another one for B and C.
        for model, number in (("mamba-130m", 2 * 24), ("mamba2-2.7b", 3 * 64)):
            summary = compile_both(model, {}, {}, "--batch=3", f"--seq={tokens}")
            check_receives(model, summary)
            (pair,) = sent(summary).items()
            held = summary["classes"][1]["memory"]["persistent_bytes"]["kv_cache"]
            equal(f"{model}, {tokens} tokens", pair, ((0, 1), (number * 3 + 1, held + 12)))
    # Attention, convolutions and scans in one model, each on two ranks.
    summary = compile_both("nemotron-h-8b", {"tp": 2}, {"tp": 2}, "--requests=2*(64,0),(40,0)")
    check_receives("hybrid", summary)
    held = sum(entry["memory"]["persistent_bytes"]["kv_cache"] for entry in summary["classes"][2:])
    # Decoding keeps a token more of each request in 4 layers, of 8 heads.
    found = sent(summary)
    equal("hybrid: pairs", sorted(found), [(0, 2), (1, 3)])
    equal("hybrid", sum(size for count, size in found.values()), held - 3 * 4 * 2 * 8 * 128 * 2 + 2 * 3 * 4)


def recurrent():
    """Ranks that divide the tokens of prompts have states of some channels, and send these."""
    for model, number in (("mamba-130m", 2 * 24), ("mamba2-2.7b", 3 * 64), ("qwen3-next-80b-a3b", None), ("nemotron-h-8b", None)):
        one = sent(compile_both(model, {}, {}, "--batch=4", "--seq=64"))[0, 1]
        for cp, there in (2, 1), (2, 2), (4, 2):
            if model == "mamba2-2.7b" and there > 1:
                continue  # Its one group is on both ranks.
            what = f"{model}, cp {cp} to tp {there}"
            summary = compile_both(model, {"cp": cp}, {"tp": there}, "--batch=4", "--seq=64")
            check_receives(what, summary)
            found = sent(summary)
            equal(f"{what}: all", sum(b for _, b in found.values()), one[1] + 16 * (there - 1))


def executed():
    """What tiny models did on ranks of their own, float32, in each rank: Inputs/executed_disaggregated.json.

    There the first tokens were known everywhere, and not sent.
    """
    runs = json.loads((Path(__file__).parent / "Inputs" / "executed_disaggregated.json").read_text())
    for name, run in runs.items():
        m = run["model"]
        sizes = dict(D=m["hidden"], H=m["heads"], E=m["head_dim"], F=m["ffn"], V=m["vocab"], L=m["layers"])
        model = "llama3-8b"
        if "kv_lora" in m:
            model = str(Path(__file__).parent / "Inputs" / "variants.mlir")
            sizes.update(QL=m["q_lora"], KL=m["kv_lora"], EN=m["nope_dim"], ER=m["rope_dim"], EV=m["v_dim"], latent="true")
        else:
            sizes.update(K=m["kv_heads"])
        flags = [f"--set={key}={value}" for key, value in sizes.items()]
        if "mla_form" in run:
            flags += ["--mla-form=" + run["mla_form"].replace("_", "-")]
        flags += ["--requests=" + ",".join(f"({u},{p},{n})" for u, p, n in run["steps"][0])]
        plan = {"tp": run["parallel"]["tp_prefill"]}, {"tp": run["parallel"]["tp_decode"]}
        summary = compile_both(model, *plan, "--dtype=f32", "--attention-count=full", *flags)
        equal(f"{name}: ranks", summary["ranks"], len(run["ranks"]))
        for entry, want in zip(sorted(summary["classes"], key=lambda entry: entry["first_rank"]), run["ranks"]):
            rank = entry["first_rank"]
            what = f"{name}, rank {rank}"
            equal(f"{what}: products", sum(entry["matrix_operations_by_phase"].values()), want["products"])
            counts, totals = Counter(), Counter()
            for c in entry["collectives"]:
                counts[c["kind"], c["group_size"]] += c["count"]
                totals[c["kind"], c["group_size"]] += c["bytes"]
            found = sorted([*key, counts[key], totals[key]] for key in counts)
            equal(f"{what}: collectives", found, want["collectives"])
            found = []
            for message in entry.get("messages", []):
                tokens = message["count"] - m["layers"] * len(run["steps"][0])
                size = message["bytes"] - 4 * len(run["steps"][0]) * tokens
                if size:
                    found.append([message["kind"], rank + message["shift"], message["count"] - tokens, size])
            equal(f"{what}: messages", sorted(found), want["messages"])
            persistent = entry["memory"]["persistent_bytes"]
            equal(f"{what}: cache", persistent["kv_cache"], want["cache_bytes"])
            equal(f"{what}: parameters", persistent["parameter"], want["parameter_bytes"])


globals()[sys.argv[1]]()
comparing.finish()
