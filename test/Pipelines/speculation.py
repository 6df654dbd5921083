"""Compares rounds of drafts and verification with their steps, and with closed forms.

A round is so many steps of a draft model, and one of the model. What rounds do is the sum of what
these steps do, compiled one by one; contexts grow by the tokens that are expected of a round, whole
ones, which are worked out here with fractions.

Usage: speculation.py {sums|recurrent|lists|module|parallel|stages|module_stages|estimate|files}...
"""

import json
import sys
import tempfile
from collections import Counter
from fractions import Fraction

import comparing
import traces
from comparing import compile_one, equal, messages, totals


def held(entry, category):
    return entry["memory"]["persistent_bytes"].get(category, 0)


def expected(chance, drafts):
    """Tokens of a round: each draft counts if all before it are accepted."""
    return sum(Fraction(chance) ** i for i in range(drafts + 1))


def contexts(chance, drafts, rounds):
    """By how much a context is longer before each round."""
    return [i * expected(chance, drafts) // 1 for i in range(rounds)]


def check(what, entry, verified, drafted):
    """Rounds against steps of the model and of the draft model."""
    want = sum((totals(step) for step in verified + drafted), Counter())
    equal(what, +totals(entry), +want)
    most = lambda steps, category: max(held(step, category) for step in steps)
    for category in ("parameter", "kv_cache"):
        equal(f"{what}: {category}", held(entry, category), most(verified, category) + most(drafted, category))


def sums():
    llama, qwen = ("llama3-70b", "llama3.2-1b"), ("qwen3-8b", "qwen3-0.6b")
    # Functions of models are named, and a draft need not be of the family of the model.
    for (model, draft), k, chance, rounds, more in (
        (llama, 4, "0.8", 9, []),
        (llama, 4, "0.8", 9, ["--tp=8"]),
        (llama, 1, "0.85", 5, ["--tp=2"]),
        (llama, 3, "1", 4, ["--kv-block-size=16"]),
        (llama, 2, "0", 4, ["--kv-dtype=f8E4M3FN"]),
        (llama, 3, "0.5", 1, []),
        (qwen, 2, "0.5", 3, []),
        (("qwen3-8b", "llama3.2-1b"), 2, "0.5", 3, ["--tp=2"]),
    ):
        flags = ["--batch=8", *more]
        speculation = [f"--draft={draft}", f"--drafts={k}", f"--acceptance={chance}", f"--steps={rounds}"]
        run = traces.compile_json(model, "--dry-run", *flags, "--kv-len=1000", *speculation)
        (entry,) = run["classes"]
        verified = [compile_one(model, *flags, f"--kv-len={1000 + x}", f"--seq={k + 1}", "--logits=all") for x in contexts(chance, k, rounds)]
        drafted = [compile_one(draft, *flags, f"--kv-len={1000 + x + j}") for x in contexts(chance, k, rounds) for j in range(k)]
        check(" ".join([model, *speculation, *more]), entry, verified, drafted)
        equal("tokens", run["draft"]["tokens_of_round"], float(expected(chance, k)))
        (loop,) = run["steps"]
        equal("rounds", (loop["count"], Fraction(loop["advance"])), (rounds, expected(chance, k)))
        equal("verified", loop["requests"], [{"new": k + 1, "cached": 1000, "logits": k + 1}])


def lists():
    """Requests with contexts of their own, packed into a row."""
    k, chance, rounds, requests = 2, "0.75", 6, [(3, 100), (1, 4000)]
    text = lambda u, x, n: ",".join(f"{count}*({u},{p + x},{n})" for count, p in requests)
    flags = ["--draft=llama3-8b", "--draft-set=L=2", f"--drafts={k}", f"--acceptance={chance}", f"--steps={rounds}"]
    given = ",".join(f"{count}*(1,{p})" for count, p in requests)
    entry = compile_one("llama3-8b", f"--requests={given}", *flags)
    verified = [compile_one("llama3-8b", f"--requests={text(k + 1, x, k + 1)}") for x in contexts(chance, k, rounds)]
    drafted = [compile_one("llama3-8b", "--set=L=2", f"--requests={text(1, x + j, 1)}") for x in contexts(chance, k, rounds) for j in range(k)]
    check("lists", entry, verified, drafted)


def module():
    """DeepSeek-V3 drafts with its module: a layer more, whose table and head are those of the model."""
    h, V, X, fe, latent, n, p, ranks = 7168, 129280, 256, 2048, 512 + 64, 128, 4095, 64
    plan = ["--dp=64", "--ep=64", f"--batch={n * ranks}", f"--kv-len={p}"]
    for k, chance, rounds in (1, "0.85", 1), (3, "0.9", 5):
        flags = [*plan, "--draft=mtp", f"--drafts={k}", f"--acceptance={chance}", f"--steps={rounds}"]
        entry = compile_one("deepseek-v3", *flags)
        steps = [compile_one("deepseek-v3", "--dp=64", "--ep=64", f"--batch={n * ranks}", f"--kv-len={p + x}", f"--seq={k + 1}", "--logits=all")
                 for x in contexts(chance, k, rounds)]
        rest = totals(entry)
        rest.subtract(sum((totals(step) for step in steps), Counter()))
        matrices = h * 1536 + 1536 * 128 * 192 + h * latent + 512 * 128 * 256 + 128 * 128 * h
        token = 2 * matrices + 2 * h * X + 9 * 6 * h * fe + 2 * 2 * h * h + 2 * h * V
        keys = sum(p + x + j + 1 for x in contexts(chance, k, rounds) for j in range(k))
        what = f"module, {k} drafts"
        equal(f"{what}: products", rest["products", "fwd"], n * (rounds * k * token + keys * 2 * 128 * (512 + latent)))
        equal(f"{what}: rows of experts", (rest["count", "all_to_all", "ep"], rest["bytes", "all_to_all", "ep"]), (2 * k * rounds, 2 * k * rounds * n * 8 * 2 * h))
        own = matrices + 1536 + 512 + 2 * h + h * X + 3 * h * fe * (X // ranks + 1) + 2 * h * h + 3 * h
        correction = X
        equal(f"{what}: parameters", held(entry, "parameter") - held(steps[0], "parameter"), 2 * (own - h * X + h * X + correction))
        last = p + contexts(chance, k, rounds)[-1] + k
        equal(f"{what}: cache", held(entry, "kv_cache") - held(steps[-1], "kv_cache"), n * last * latent * 2)


def parallel():
    """Ranks that are alike in groups of their own: all executes what is executed by one, or a share."""
    flags = ["--batch=16", "--kv-len=100", "--draft=llama3.2-1b", "--drafts=3", "--acceptance=0.7", "--steps=5"]
    one = compile_one("llama3-8b", *flags)
    for plan in (["--dp=4"], ["--tp=4"], ["--tp=2", "--dp=4"]):
        entry = compile_one("llama3-8b", *flags, *plan)
        ranks = 1
        for word in plan:
            ranks *= int(word.split("=")[1])
        equal(f"{plan}: products", entry["matrix_operations_by_phase"]["fwd"] * ranks, one["matrix_operations_by_phase"]["fwd"])
        equal(f"{plan}: cache", held(entry, "kv_cache") * ranks, held(one, "kv_cache"))


def check_stages(what, run, verified, drafted, pp, micro_batches, tokens):
    """Each stage does what it does in the single steps. The last one sends the first one a message of
    `tokens` ids for each micro-batch behind each step but the last one of all."""
    returned = (len(verified) + len(drafted) - 1) * micro_batches
    for number, entry in enumerate(run):
        own = [step[number] for step in verified + drafted]
        name = f"{what}, class {number}"
        check(name, entry, [step[number] for step in verified], [step[number] for step in drafted])
        want = {}
        for step in own:
            for key, (count, size) in messages(step).items():
                had = want.get(key, (0, 0))
                want[key] = (had[0] + count, had[1] + size)
        stage = entry["coordinates"].get("pp", 0)
        for kind, end, shift in ("recv", 0, pp - 1), ("send", pp - 1, 1 - pp):
            if pp > 1 and stage == end:
                had = want.get((kind, shift), (0, 0))
                want[kind, shift] = (had[0] + returned, had[1] + returned * tokens * 4)
        equal(f"{name}: messages", messages(entry), want)


def stages():
    """Stages and micro-batches; rounds that are the first, the last, or both."""
    for pp, batch, micro, rounds, k, chance, more in (
        (2, 8, 2, 5, 2, "0.7", []),
        (2, 4, 4, 4, 1, "0.85", ["--tp=2"]),
        (4, 8, 1, 2, 3, "0.8", []),
        (2, 4, 2, 1, 2, "0.5", []),
        (1, 8, 2, 4, 2, "0.6", ["--tp=2"]),
        (2, 8, 2, 3, 2, "0.7", ["--preset=vllm", "--tp=2"]),
        (2, 4, 2, 3, 2, "0.7", ["--tp=2", "--logits-gather=one"]),
    ):
        flags = [f"--pp={pp}", f"--batch={batch}", f"--micro-batch={micro}", *more]
        compile_all = lambda model, *own: traces.compile_json(model, "--dry-run", *flags, *own)["classes"]
        speculation = ["--draft=llama3.2-1b", f"--drafts={k}", f"--acceptance={chance}", f"--steps={rounds}"]
        run = traces.compile_json("llama3-8b", "--dry-run", "--set=L=8", *flags, "--kv-len=100", *speculation)
        verified = [compile_all("llama3-8b", "--set=L=8", f"--kv-len={100 + x}", f"--seq={k + 1}", "--logits=all") for x in contexts(chance, k, rounds)]
        drafted = [compile_all("llama3.2-1b", f"--kv-len={100 + x + j}") for x in contexts(chance, k, rounds) for j in range(k)]
        what = " ".join([*flags, *speculation])
        check_stages(what, run["classes"], verified, drafted, pp, batch // micro, micro)
        equal(f"{what}: rounds", sum(loop["count"] for loop in run["steps"]), rounds)
    # Lists: a row has a token of each request.
    flags = ["--pp=2", "--batch=2", "--micro-batch=1"]
    compile_all = lambda *own: traces.compile_json("llama3-8b", "--dry-run", *flags, *own)["classes"]
    k, chance, rounds = 2, "0.75", 6
    text = lambda u, x, n: f"3*({u},{100 + x},{n}),({u},{4000 + x},{n})"
    run = compile_all("--set=L=4", "--requests=3*(1,100),(1,4000)", "--draft=llama3-8b", "--draft-set=L=2", f"--drafts={k}", f"--acceptance={chance}", f"--steps={rounds}")
    verified = [compile_all("--set=L=4", f"--requests={text(k + 1, x, k + 1)}") for x in contexts(chance, k, rounds)]
    drafted = [compile_all("--set=L=2", f"--requests={text(1, x + j, 1)}") for x in contexts(chance, k, rounds) for j in range(k)]
    check_stages("lists", run, verified, drafted, 2, 2, 4)
    with tempfile.TemporaryDirectory() as folder:
        own = ["stg-compile", "llama3-8b", "--set=L=4", "--pp=2", "--batch=4", "--micro-batch=2", "--kv-len=9"]
        own += ["--draft=llama3-8b", "--draft-set=L=2", "--drafts=2", "--acceptance=0.5", "--steps=4"]
        for where, more in ("files", []), ("bundle", ["--bundle"]), ("one", ["--tp=2", "--logits-gather=one"]), ("whole", ["--micro-batch=4"]):
            traces.run(*own, *more, "-o", f"{folder}/{where}")
            traces.run("stg-trace", "validate", f"{folder}/{where}")
        names = {node.name.split(".")[2] for node in traces.nodes(f"{folder}/whole", rank=1)}
        equal("names without a micro-batch", sorted(names), ["cross_entropy", "draft", "layers", "norm", "output", "stage0", "stage1"])
        # What waits for a token is what looks it up, in each micro-batch of each step but the first.
        nodes = traces.nodes(f"{folder}/files", rank=0)
        found = [node.name.split(".stage0")[0] for node in nodes if node.type == "COMM_RECV"]
        steps = [f"step.{i}.{part}mb{j}" for i in range(4) for part in ("draft.0.", "draft.1.", "") for j in range(2)]
        equal("who waits", found, steps[2:])
        sent = [node.name.split(".stage0")[0] for node in traces.nodes(f"{folder}/files", rank=1) if node.type == "COMM_SEND"]
        equal("who sends", sent, steps[:-2])
        sizes = []
        for steps in (16, 1024):
            traces.run(*own[:-1], f"--steps={steps}", "--bundle", "-o", f"{folder}/{steps}")
            sizes.append(len(open(f"{folder}/{steps}/traces.stgb", "rb").read()))
        equal("growth", sizes[1] < 20 * sizes[0], True)


def add_up(entries):
    sums = {}
    for entry in entries:
        for key, (count, size) in messages(entry).items():
            had = sums.get(key, (0, 0))
            sums[key] = (had[0] + count, had[1] + size)
    return sums


def module_stages():
    """A module is where the head is: its device does what the module does on one stage, beside what its
    own stage does. Drafts, and the token before them, go to the first stage in one message."""
    for pp, last, batch, micro, rounds, k, chance, more, schedule in (
        (2, 1, 8, 2, 5, 2, "0.7", ["--tp=2"], []),
        (4, 3, 8, 8, 3, 1, "0.85", ["--tp=4"], []),
        (2, 1, 8, 2, 1, 3, "0.8", ["--dp=2", "--ep=2"], []),
        (2, 1, 4, 2, 3, 2, "0.7", ["--tp=2", "--logits-gather=one"], []),
        (2, 1, 8, 2, 4, 2, "0.6", [], ["--virtual-stages=2"]),
        (2, 0, 8, 2, 3, 2, "0.6", [], ["--schedule=zb-v", "--virtual-stages=2"]),
    ):
        flags = ["deepseek-v3", "--set=L=4", f"--batch={batch}", f"--micro-batch={micro}", *more]
        stages = [f"--pp={pp}", *schedule]
        compile_all = lambda *own: traces.compile_json(*flags, "--dry-run", *own)["classes"]
        speculation = ["--kv-len=100", "--draft=mtp", f"--drafts={k}", f"--acceptance={chance}", f"--steps={rounds}"]
        verify = [[f"--kv-len={100 + x}", f"--seq={k + 1}", "--logits=all"] for x in contexts(chance, k, rounds)]
        run = compile_all(*stages, *speculation)
        verified = [compile_all(*stages, *own) for own in verify]
        # What the module does where there is one stage.
        ends = compile_all(*speculation), [compile_all(*own) for own in verify]
        what = " ".join([*flags, *stages, *speculation])
        equal(f"{what}: classes", len(run), len(verified[0]))
        turns = batch // micro // (2 if "--dp=2" in more else 1)
        sent = (k * rounds + rounds - 1) * micro * turns * 4
        # Those of tp that do not gather logits are classes of their own.
        beside = [number for number, entry in enumerate(run) if entry["coordinates"]["pp"] == last]
        equal(f"{what}: classes of the module", len(beside), len(ends[0]))
        for number, entry in enumerate(run):
            own = [step[number] for step in verified]
            want = sum(map(totals, own), Counter())
            extra = Counter()
            if number in beside:
                place = beside.index(number)
                want.update(totals(ends[0][place]))
                want.subtract(sum((totals(step[place]) for step in ends[1]), Counter()))
                for category in "parameter", "kv_cache":
                    extra[category] = held(ends[0][place], category) - max(held(step[place], category) for step in ends[1])
                # The table of tokens is on the first stage, too.
                if last != 0:
                    extra["parameter"] += 129280 * 7168 * 2 // (int(more[0][5:]) if more and "--tp" in more[0] else 1)
            name = f"{what}, class {number}"
            equal(name, +totals(entry), +want)
            for category in "parameter", "kv_cache":
                equal(f"{name}: {category}", held(entry, category), max(held(step, category) for step in own) + extra[category])
            exchanged = add_up(own)
            if number in beside:
                # Of logits that one rank gathers.
                both, rest = messages(ends[0][place]), add_up(step[place] for step in ends[1])
                for key, (count, size) in both.items():
                    had, less = exchanged.get(key, (0, 0)), rest[key]
                    exchanged[key] = (had[0] + count - less[0], had[1] + size - less[1])
            for kind, end, shift in ("recv", 0, pp - 1), ("send", last, 1 - pp):
                if last != 0 and entry["coordinates"]["pp"] == end:
                    count, size = exchanged.get((kind, shift), (0, 0))
                    exchanged[kind, shift] = (count + rounds * turns, size + sent)
            equal(f"{name}: messages", messages(entry), exchanged)
    # Lists of micro-batches: each sends what its own requests have drafted.
    flags = ["deepseek-v3", "--set=L=4", "--pp=2", "--batch=2", "--micro-batch=1"]
    draft = ["--draft=mtp", "--drafts=2", "--acceptance=0.7", "--steps=3"]
    run = traces.compile_json(*flags, "--dry-run", "--requests=2*(1,9)/0,(1,30)/1", *draft)["classes"]
    steps = [
        traces.compile_json(*flags, "--dry-run", f"--requests=2*(3,{9 + x},3)/0,(3,{30 + x},3)/1")["classes"]
        for x in contexts("0.7", 2, 3)
    ]
    for number, kind, shift in (0, "recv", 1), (1, "send", -1):
        want = add_up(step[number] for step in steps)
        want[kind, shift] = (3 * 2, (2 + 3 + 3) * (2 + 1) * 4)
        equal(f"lists, class {number}", messages(run[number]), want)
    with tempfile.TemporaryDirectory() as folder:
        own = ["stg-compile", "deepseek-v3", "--set=L=4", "--pp=2", "--tp=2", "--batch=4", "--kv-len=9", *draft]
        for where, more in ("files", ["--micro-batch=2"]), ("bundle", ["--micro-batch=2", "--bundle"]), ("whole", []):
            traces.run(*own, *more, "-o", f"{folder}/{where}")
            traces.run("stg-trace", "validate", f"{folder}/{where}")
            traces.run("stg-trace", "validate", "--eager-sends", f"{folder}/{where}")
        # The last draft of a micro-batch sends, and what looks tokens up waits.
        step = lambda i, j, part: f"step.{i}.{part}mb{j}"
        found = [node.name.split(".stage0")[0] for node in traces.nodes(f"{folder}/files", rank=2) if node.type == "COMM_SEND"]
        equal("who sends", found, [step(i, j, "draft.1.") for i in range(3) for j in range(2)])
        found = [node.name.split(".stage0")[0] for node in traces.nodes(f"{folder}/files", rank=0) if node.type == "COMM_RECV"]
        equal("who waits", found, [step(i, j, "") for i in range(3) for j in range(2)])


def recurrent():
    """What may be taken back has states of its own, which are written; one is read. Convolutions keep the inputs instead."""
    n, k, p = 4, 3, 1000
    scan, delta = 5120 * 16 * 4, 32 * 128 * 128 * 4
    models = {
        "mamba-2.8b": 64 * (scan + 5120 * 2),
        "mamba2-2.7b": 64 * (5120 * 128 * 4 + (5120 + 2 * 128) * 2),
        "qwen3-next-80b-a3b": 36 * (delta + (2 * 16 + 32) * 128 * 2),
    }
    for model, token in models.items():
        for tp in 1, 2:
            if model == "mamba2-2.7b" and tp > 1:
                continue  # Its one group is on both ranks.
            step = [f"--batch={n}", f"--kv-len={p}", f"--seq={k + 1}", "--logits=all", f"--tp={tp}"]
            plain, kept = compile_one(model, *step), compile_one(model, *step, f"--rollback={k}")
            more = n * k * token // tp
            what = f"{model}, {k} tokens may be taken back, tp {tp}"
            equal(f"{what}: states", held(kept, "kv_cache") - held(plain, "kv_cache"), more)
            equal(f"{what}: everything", totals(kept), totals(plain) + Counter({"traffic": more}))
    for chance, rounds, more in ("0.8", 3, []), ("0.5", 1, []), ("0.8", 2, ["--tp=2"]):
        run = compile_one("mamba-2.8b", f"--batch={n}", f"--kv-len={p}", *more, "--draft=mamba-130m", f"--drafts={k}", f"--acceptance={chance}", f"--steps={rounds}")
        verified = [compile_one("mamba-2.8b", f"--batch={n}", f"--kv-len={p + x}", *more, f"--seq={k + 1}", "--logits=all", f"--rollback={k}")
                    for x in contexts(chance, k, rounds)]
        # A draft writes one state, and there is one behind each draft.
        drafted = [compile_one("mamba-130m", f"--batch={n}", f"--kv-len={p + x + j}", *more, f"--rollback={k - 1}")
                   for x in contexts(chance, k, rounds) for j in range(k)]
        check(f"recurrent layers, {chance}, {more}", run, verified, drafted)
        plain = compile_one("mamba-130m", f"--batch={n}", f"--kv-len={p}", *more)
        equal(f"a draft, {more}", totals(drafted[0]), totals(plain))
        tp = len(more) + 1
        states, inputs = 24 * 1536 * 16 * 4 // tp, 24 * 1536 * 2 // tp
        equal(f"states of drafts, {more}", held(drafted[0], "kv_cache"), n * (k * states + (3 + k - 1) * inputs))
        equal(f"states of a step, {more}", held(plain, "kv_cache"), n * (states + 3 * inputs))
    # Requests with other numbers of new tokens write as many states.
    for model, token in models.items():
        step = ["--requests=3*(1,100),(2,50),2*(6,7)"]
        plain, kept = compile_one(model, *step), compile_one(model, *step, f"--rollback={k}")
        equal(f"{model}, a list: states", held(kept, "kv_cache") - held(plain, "kv_cache"), 6 * k * token)
        equal(f"{model}, a list", totals(kept), totals(plain) + Counter({"traffic": (3 * 0 + 1 + 2 * k) * token}))
        # Micro-batches have states of their own, and read those.
        step = ["--batch=8", "--kv-len=100"]
        whole, parts = compile_one(model, *step), compile_one(model, *step, "--micro-batch=2")
        equal(f"{model}, micro-batches: states", held(parts, "kv_cache"), held(whole, "kv_cache"))
        step = ["--batch=2", "--kv-len=100"]
        equal(f"{model}, micro-batches", totals(parts)["traffic"], 4 * totals(compile_one(model, *step))["traffic"])


def windows():
    """A ring has room for what tokens that are taken back have taken the place of: W - 1 and as many as these may be."""
    k, chance, rounds = 3, "0.5", 5
    for model, draft, layers, drafting, window, token, p in (
        ("gpt-oss-120b", "gpt-oss-20b", (18, 18), (12, 12), 128, 2 * 8 * 64 * 2, 1000),
        ("gpt-oss-120b", "gpt-oss-20b", (18, 18), (12, 12), 128, 2 * 8 * 64 * 2, 100),
        ("llama-4-scout", "llama-4-scout", (12, 36), (12, 36), 8192, 2 * 8 * 128 * 2, 10000),
    ):
        last = p + contexts(chance, k, rounds)[-1]
        room = lambda n, back: min(n, window - 1 + max(back, 1))
        size = lambda counts, n, back: token * (counts[0] * n + counts[1] * room(n, back))
        entry = compile_one(model, "--batch=1", f"--kv-len={p}", f"--draft={draft}", f"--drafts={k}", f"--acceptance={chance}", f"--steps={rounds}")
        what = f"{model}, {p} tokens"
        equal(f"{what}: cache", held(entry, "kv_cache"), size(layers, last + k + 1, k) + size(drafting, last + k, k - 1))
        verified = [compile_one(model, "--batch=1", f"--kv-len={p + x}", f"--seq={k + 1}", "--logits=all") for x in contexts(chance, k, rounds)]
        drafted = [compile_one(draft, "--batch=1", f"--kv-len={p + x + j}") for x in contexts(chance, k, rounds) for j in range(k)]
        equal(f"{what}: everything else", totals(entry), sum(map(totals, verified + drafted), Counter()))
        for back in 0, 1, 2, k:
            step = [model, "--batch=1", f"--kv-len={p}", f"--seq={k + 1}", f"--rollback={back}"]
            equal(f"{what}, {back} may be taken back", held(compile_one(*step), "kv_cache"), size(layers, p + k + 1, back))
    # Blocks are those of the ring, and what a scheduler reserves counts if it is more.
    for more, want in (["--kv-block-size=16"], (1008, 144)), (["--kv-window-room=9"], (1004, 136)), (["--kv-window-room=2"], (1004, 130)):
        entry = compile_one("gpt-oss-120b", "--batch=1", "--kv-len=1000", "--seq=4", "--rollback=3", *more)
        equal(str(more), held(entry, "kv_cache"), 2048 * 18 * sum(want))


def estimate():
    """A token takes a round over the tokens that are expected of it."""
    flags = ["llama3-8b", "--batch=4", "--kv-len=100", "--machine=h100-80gb-dgx", "--json"]
    speculation = ["--draft=llama3.2-1b", "--drafts=4", "--acceptance=0.8", "--steps=6"]
    found = json.loads(traces.run("stg-estimate", *flags, *speculation))
    mean = found["steps"]["mean_seconds"]
    equal("rounds", found["steps"]["count"], 6)
    equal("time per token", abs(found["time_per_token_seconds"] * float(expected("0.8", 4)) / mean - 1) < 1e-9, True)
    equal("first token", "time_to_first_token_seconds" in found, False)


def files():
    """What is written: each draft has its name, and everything is valid."""
    with tempfile.TemporaryDirectory() as folder:
        flags = ["stg-compile", "llama3-8b", "--set=L=3", "--batch=2", "--kv-len=9", "--tp=2"]
        flags += ["--draft=llama3-8b", "--draft-set=L=1", "--drafts=2", "--acceptance=0.5", "--steps=4"]
        traces.run(*flags, "-o", f"{folder}/files")
        traces.run(*flags, "--bundle", "-o", f"{folder}/bundle")
        for where in ("files", "bundle"):
            traces.run("stg-trace", "validate", f"{folder}/{where}")
        own, other = (traces.stats(f"{folder}/{where}") for where in ("bundle", "files"))
        for one in own + other:
            del one["file"]
        equal("bundle", own, other)
        nodes = traces.nodes(f"{folder}/files", rank=1)
        found = {node.name: node.attributes["num_ops"] for node in nodes if node.name.endswith("attention.fwd")}
        core = 4 * 2 * 16 * 128
        want = {}
        for i, x in enumerate(contexts("0.5", 2, 4)):
            for j in range(2):
                want[f"step.{i}.draft.{j}.layers.0.attention.fwd"] = core * (9 + x + j + 1)
            for l in range(3):
                want[f"step.{i}.layers.{l}.attention.fwd"] = core * (3 * (9 + x) + 6)
        equal("attention", found, want)
        order = [node.name.split(".")[2:4] for node in nodes if node.name.endswith("tok_embeddings.fwd")]
        equal("order", order, [["draft", "0"], ["draft", "1"], ["tok_embeddings", "fwd"]] * 4)
        # Both have states of their own.
        states = {name for node in nodes for name, _ in node.tensors("inputs") if "attention.k" in name}
        equal("states", states, {"kv_cache/draft.layers.0.attention.k"} | {f"kv_cache/layers.{l}.attention.k" for l in range(3)})
        sizes = []
        for steps in (64, 4096):
            traces.run(*flags[:-1], f"--steps={steps}", "--bundle", "-o", f"{folder}/{steps}")
            sizes.append(len(open(f"{folder}/{steps}/traces.stgb", "rb").read()))
        equal("growth", sizes[1] < 20 * sizes[0], True)
        module = ["stg-compile", "deepseek-v3", "--set=L=4", "--batch=8", "--dp=2", "--ep=2", "--kv-len=9"]
        traces.run(*module, "--draft=mtp", "--drafts=2", "--acceptance=0.9", "--steps=3", "-o", f"{folder}/module")
        traces.run("stg-trace", "validate", f"{folder}/module")


for name in sys.argv[1:]:
    globals()[name]()
comparing.finish()
