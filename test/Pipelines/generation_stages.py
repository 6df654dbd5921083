"""Compares steps of several stages and micro-batches with their steps, compiled one by one.

Each device does what it does in the single steps, and tokens are messages from the last stage to the
first: one for each micro-batch behind each step but the last, of the requests that have got a token.

Usage: generation_stages.py {sums|lists|single|summands|files|bundles|times|executed|own}...
"""

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

import comparing
import traces
from comparing import equal, messages, totals

ID = 4  # Bytes of a token.


def compile_all(model, *flags):
    """By class, in the order of the stages."""
    return traces.compile_json(model, "--dry-run", *flags)["classes"]


def add(many):
    sums = {}
    for own in many:
        for key, (count, size) in own.items():
            had = sums.get(key, (0, 0))
            sums[key] = (had[0] + count, had[1] + size)
    return sums


def check(what, run, steps, tokens, pp, micro_batches):
    """`run` against its steps; `tokens`: those of a micro-batch and rank behind each step."""
    sent = [count for count in tokens[:-1] if count]
    returned = (len(sent) * micro_batches, sum(sent) * micro_batches * ID)
    equal(f"{what}: classes", len(run), len(steps[0]))
    for number, entry in enumerate(run):
        own = [step[number] for step in steps]
        name = f"{what}, class {number}"
        equal(name, +totals(entry), +sum((totals(step) for step in own), Counter()))
        want = add(map(messages, own))
        stage = entry["coordinates"].get("pp", 0)
        if pp > 1 and sent:
            if stage == 0:
                want = add([want, {("recv", pp - 1): returned}])
            if stage == pp - 1:
                want = add([want, {("send", 1 - pp): returned}])
        equal(f"{name}: messages", messages(entry), want)
        for category in "kv_cache", "parameter":
            kept = [step["memory"]["persistent_bytes"].get(category, 0) for step in own]
            equal(f"{name}: {category}", entry["memory"]["persistent_bytes"].get(category, 0), max(kept))
        # A message of tokens has no buffer of its own.
        temporary = [step["memory"]["peak_bytes"]["total"] - step["memory"]["persistent_bytes"]["total"] for step in own]
        peak = entry["memory"]["peak_bytes"]["total"] - entry["memory"]["persistent_bytes"]["total"]
        if not max(temporary) <= peak <= max(temporary) + ID * max(tokens) * micro_batches:
            equal(f"{name}: peak", peak, temporary)


def sums():
    """Rows that generate, and rows with chunks of a prompt."""
    for pp, tp, dp, batch, micro, n in (2, 1, 1, 8, 2, 5), (2, 1, 1, 3, 3, 4), (4, 2, 1, 16, 2, 3), (2, 1, 2, 8, 2, 2), (1, 2, 1, 8, 2, 4), (3, 1, 1, 2, 1, 3):
        flags = ["llama3-8b", "--set=L=12", f"--pp={pp}", f"--tp={tp}", f"--dp={dp}", f"--batch={batch}", f"--micro-batch={micro}"]
        run = compile_all(*flags, "--kv-len=100", f"--steps={n}")
        steps = [compile_all(*flags, f"--kv-len={100 + i}") for i in range(n)]
        check(" ".join(flags), run, steps, [micro] * n, pp, batch // dp // micro)
    # Chunks send no tokens; the last one and the tokens behind it do.
    flags = ["llama3-8b", "--set=L=8", "--pp=4", "--batch=4", "--micro-batch=1"]
    plans = [["--mode=prefill", "--seq=64", f"--kv-len={64 * i}"] for i in range(4)] + [["--mode=prefill", "--seq=44", "--kv-len=256"]]
    plans += [[f"--kv-len={300 + i}"] for i in range(3)]
    steps = [compile_all(*flags, *plan) for plan in plans]
    run = compile_all(*flags, "--mode=prefill", "--seq=300", "--chunk=64", "--steps=8")
    check("chunks", run, steps, [0, 0, 0, 0, 1, 1, 1, 1], 4, 4)
    run = compile_all(*flags, "--mode=prefill", "--seq=300", "--chunk=64")
    check("only chunks", run, steps[:5], [0, 0, 0, 0, 1], 4, 4)
    # Virtual stages: the first and the last one are on different devices, or on one.
    for schedule, virtual, pp in ("interleaved", 2, 2), ("zb-v", 2, 1):
        own = ["llama3-8b", "--set=L=8", "--pp=2", f"--schedule={schedule}", f"--virtual-stages={virtual}", "--batch=4", "--micro-batch=1"]
        run = compile_all(*own, "--kv-len=9", "--steps=3")
        check(schedule, run, [compile_all(*own, f"--kv-len={9 + i}") for i in range(3)], [1] * 3, pp, 4)
        with tempfile.TemporaryDirectory() as folder:
            traces.run("stg-compile", *own, "--kv-len=9", "--steps=3", "-o", folder)
            traces.run("stg-trace", "validate", folder)
    # Positions are ids, too, and come from nobody.
    own = ["gpt2-1.5b", "--set=L=4", "--pp=2", "--batch=4", "--micro-batch=2"]
    run = compile_all(*own, "--kv-len=9", "--steps=3")
    check("positions", run, [compile_all(*own, f"--kv-len={9 + i}") for i in range(3)], [2] * 3, 2, 2)


def text_of(requests):
    return ",".join("(" + ",".join(map(str, request)) + ")" for request in requests)


def lists():
    """A budget that mixes chunks and tokens; requests that come and leave."""
    flags = ["llama3-8b", "--set=L=4", "--pp=2", "--batch=2", "--micro-batch=1"]
    chunks = [[(1, 9), (1, 30), (14, 0)], [(1, 10), (1, 31), (14, 14)], [(1, 11), (1, 32), (12, 28)], [(1, 12), (1, 33), (1, 40)]]
    steps = [compile_all(*flags, f"--requests={text_of(own)}") for own in chunks]
    run = compile_all(*flags, "--requests=(1,9),(1,30),(40,0)", "--token-budget=16", "--steps=4")
    check("budget", run, steps, [2, 2, 3, 3], 2, 2)
    come = [[(1, 9)], [(1, 10), (1, 50)], [(1, 11), (1, 51)], [(1, 52)]]
    steps = [compile_all(*flags, f"--requests={text_of(own)}") for own in come]
    run = compile_all(*flags, "--requests=(1,9)+3,(1,50)@1", "--steps=4")
    check("arrivals", run, steps, [1, 2, 2, 1], 2, 2)


def single():
    """One stage: micro-batches one after the other, and no messages."""
    flags = ["deepseek-v3", "--set=L=3", "--batch=8", "--micro-batch=2", "--mla-form=absorbed"]
    run = compile_all(*flags, "--kv-len=50", "--steps=3")
    check("single", run, [compile_all(*flags, f"--kv-len={50 + i}") for i in range(3)], [2] * 3, 1, 4)


def summands():
    """Two tensors between stages, whole and in slices: the addition moves to the stage behind."""
    for pp, tp, batch, more in (2, 1, 4, []), (4, 2, 8, ["--steps=3"]), (2, 4, 4, ["--sequence-parallel", "--mode=prefill", "--seq=64"]):
        flags = ["llama3-8b", "--set=L=8", f"--pp={pp}", f"--tp={tp}", f"--batch={batch}", "--micro-batch=2", *more]
        flags += [] if "--seq=64" in more else ["--kv-len=9"]
        one, two = compile_all(*flags), compile_all(*flags, "--stage-tensors=2")
        sliced = compile_all(*flags, "--stage-tensors=2", "--stage-slices")
        tokens, steps = (2 * 64 // tp, 1) if "--seq=64" in more else (2, 3 if more else 1)
        m, h = batch // 2, 4096
        what = " ".join(flags)
        # An addition of all tokens of a micro-batch: two tensors are read and one is written.
        add = Counter(operations=tokens * h, traffic=3 * tokens * h * 2, compute=1)
        for number, (before, after) in enumerate(zip(one, two)):
            ranks, stage = before["ranks"], before["coordinates"]["pp"]
            moved = (stage > 0) - (stage < pp - 1)
            want = totals(before)
            for key, value in add.items():
                want[key] += moved * value * m * steps
            equal(f"{what}, class {number}", +totals(after), +want)
            hidden = {("send", 1): stage < pp - 1, ("recv", -1): stage > 0}
            want = messages(before)
            for key, isThere in hidden.items():
                if isThere:
                    count, size = want[key]
                    equal(f"{what}: a tensor", (count, size), (m * steps, m * steps * tokens * h * 2))
                    want[key] = (count, 2 * size)
            equal(f"{what}, class {number}: messages", messages(after), want)
            # With sequence parallelism ranks have different tokens, and there is nothing to slice.
            parts = 1 if "--sequence-parallel" in more else tp
            want = {key: (count, size // parts if key in hidden else size) for key, (count, size) in want.items()}
            equal(f"{what}, class {number}: slices", messages(sliced[number]), want)
            more_gathers = totals(sliced[number]) - totals(after)
            gathers = 2 * m * steps * (stage > 0) * (parts > 1)
            equal(f"{what}, class {number}: gathers", more_gathers["count", "all_gather", "tp"], gathers)
            equal(f"{what}, class {number}: gathered", more_gathers["bytes", "all_gather", "tp"], gathers * tokens * h * 2 // parts)
    with tempfile.TemporaryDirectory() as folder:
        traces.run("stg-compile", "llama3-8b", "--set=L=4", "--pp=2", "--tp=2", "--batch=4", "--micro-batch=2", "--kv-len=7", "--steps=2", "--preset=vllm", "-o", folder)
        traces.run("stg-trace", "validate", folder)


def print_nodes(folder, rank):
    """The nodes of a file, as they are printed."""
    lines = traces.run("stg-trace", "print", f"--rank={rank}", folder).splitlines()
    return [entry for entry in json.loads(f"[{','.join(lines)}]") if "metadata" not in entry]


def attributes(node):
    return dict(attribute.values() for attribute in node["attr"])


def files():
    """What waits for tokens is what looks them up, in each micro-batch."""
    with tempfile.TemporaryDirectory() as folder:
        pp, m, n = 2, 2, 4
        traces.run("stg-compile", "llama3-8b", "--set=L=2", f"--pp={pp}", "--batch=4", "--micro-batch=2", "--kv-len=7", f"--steps={n}", "-o", folder)
        traces.run("stg-trace", "validate", folder)
        first, last = print_nodes(folder, 0), print_nodes(folder, 1)
        by_id = {node["id"]: node for node in first}
        found = []
        for node in first:
            name = node["name"]
            if ".tok_embeddings" not in name and ".embed" not in name:
                continue
            deps = [by_id[i]["name"] for i in node.get("dataDeps", node.get("data_deps", []))]
            found.append((name.split(".tok")[0].split(".embed")[0], [dep.split("/")[0] for dep in deps]))
        want = [(f"step.{i}.mb{j}", [f"step.{i}.mb{j}.stage0.fwd.recv"] if i else []) for i in range(n) for j in range(m)]
        equal("who waits", found, want)
        sent = [node["name"].split("/")[0] for node in last if "SEND" in node["type"]]
        equal("who sends", sent, [f"step.{i}.mb{j}.stage0.fwd.send" for i in range(n - 1) for j in range(m)])
        for kind, nodes in ("SEND", last), ("RECV", first):
            own = [attributes(node) for node in nodes if kind in node["type"]]
            equal(f"{kind} bytes", {int(a["comm_size"]) for a in own}, {2 * ID})
        # A message is known by its tag: those of a channel are the same at both ends, and no two are alike.
        tags = [[(int(attributes(node)["comm_tag"])) for node in nodes if kind in node["type"]] for kind, nodes in (("SEND", last), ("RECV", first))]
        equal("tags", tags[0], tags[1])
        hidden = [int(attributes(node)["comm_tag"]) for node in first if "SEND" in node["type"]]
        equal("distinct tags", len(set(hidden)), n * m)


def bundles():
    """A bundle of many steps is as large as one of a few."""
    with tempfile.TemporaryDirectory() as folder:
        sizes = []
        for n in 16, 1024:
            path = Path(folder) / str(n)
            traces.run("stg-compile", "llama3-8b", "--set=L=2", "--pp=2", "--batch=4", "--micro-batch=2", "--kv-len=100", f"--steps={n}", "--bundle", "-o", path)
            traces.run("stg-trace", "validate", path)
            sizes.append((path / "traces.stgb").stat().st_size)
        # Numbers that grow evenly are runs, whose lengths and strides take some bytes more.
        if not sizes[0] <= sizes[1] < sizes[0] * 1.05:
            equal("bundles", sizes, "sizes that do not depend on the steps")


def estimate(*flags):
    return json.loads(traces.run("stg-estimate", "llama3-8b", "--machine=h100-80gb-dgx", "--json", *flags))


def times():
    """A request waits for all stages and its token; where micro-batches fill the stages nobody waits."""
    flags = ["--pp=4", "--batch=2", "--micro-batch=2"]
    one = [estimate(*flags, f"--kv-len={1000 + i}")["step_seconds"] for i in range(4)]
    runs = [estimate(*flags, "--kv-len=1000", f"--steps={n}")["step_seconds"] for n in (2, 3, 4)]
    message = [run - sum(one[: n + 2]) for n, run in enumerate(runs)]
    for n, extra in enumerate(message):
        # The time of a message of tokens, each time.
        if not abs(extra - (n + 1) * message[0]) < 1e-9:
            equal(f"{n + 2} steps", extra, (n + 1) * message[0])
    if not 0 < message[0] < 1e-4:
        equal("a message of tokens", message[0], "a few microseconds")
    # More micro-batches than stages: the last stage, which has the head, waits for nobody but in the
    # first step, and a step more is its part of eight micro-batches.
    flags = ["--pp=4", "--micro-batch=1"]
    ends = [estimate(*flags, "--batch=8", "--kv-len=1000", f"--steps={n}")["step_seconds"] for n in (3, 4)]
    eight, one = (estimate(*flags, f"--batch={n}", "--kv-len=1003")["classes"][-1]["end_seconds"] for n in (8, 1))
    step, want = ends[1] - ends[0], (eight - one) * 8 / 7
    host = estimate(*flags, "--batch=1", "--kv-len=1003")["step_seconds"] - one
    if not abs(step - host - want) < 1e-8:
        equal("a step among others", step - host, want)


# What was counted while two stages really ran: bytes of a message between them.
RAN = {"pp2_decode_2mb": ["--pp=2"], "pp2_tp2_decode_2mb": ["--pp=2", "--tp=2"]}


def executed():
    """Runs of two micro-batches with lists of their own."""
    runs = json.loads((Path(__file__).parent / "Inputs" / "executed_inference.json").read_text())
    for name, plan in RAN.items():
        run = runs[name]
        m = run["model"]
        sizes = dict(D=m["hidden"], V=m["vocab"], L=m["layers"], H=m["heads"], E=m["head_dim"], F=m["ffn"], K=m["kv_heads"])
        flags = ["llama3-8b", "--dtype=f32", "--attention-count=full", "--batch=2", "--micro-batch=1", *plan]
        flags += [f"--set={key}={value}" for key, value in sizes.items()]
        steps = run["steps"]
        half = len(steps[0]) // 2
        lists = [(number, own) for number, own in enumerate([steps[0][:half], steps[0][half:]])]
        text = ",".join(f"({u},{p},{n})/{number}" for number, own in lists for u, p, n in own)
        classes = compile_all(*flags, f"--requests={text}", f"--steps={len(steps)}")
        for number, rank in enumerate(run["ranks"]):
            stage = number // run["parallel"].get("tp", 1)
            entry = classes[stage]
            found, want = Counter(products=sum(entry["matrix_operations_by_phase"].values())), Counter()
            for c in entry["collectives"]:
                found["count", c["kind"]] += c["count"]
                found["bytes", c["kind"]] += c["bytes"]
            for (kind, shift), (count, size) in messages(entry).items():
                # Tokens, which were given there, go from the last stage to the first.
                if (kind, shift) not in (("recv", 1), ("send", -1)):
                    found["count", kind] += count
                    found["bytes", kind] += size
            for step in rank["steps"]:
                want["products"] += step["products"]
                for kind, _, count, size in step["collectives"] + step["messages"]:
                    want["count", kind] += count
                    want["bytes", kind] += size
            equal(f"{name}, rank {number}", +found, +want)
            # All micro-batches together, in the last step.
            kept = entry["memory"]["persistent_bytes"]["kv_cache"]
            equal(f"{name}, rank {number}: cache", kept, rank["steps"][-1]["cache_bytes"])


def own():
    """Micro-batches with lists of their own: each turn does what it does where all have its list."""
    for model, plan, m, rows, steps, lists in (
        ("llama3-8b", ["--pp=2", "--set=L=4"], 2, 1, 1, ["3*(1,9),(4,3)", "(5,0)"]),
        ("llama3-8b", ["--pp=2", "--tp=2", "--set=L=4"], 3, 2, 4, ["(1,9)", "2*(1,30),(1,7)", "(1,9)"]),
        ("llama3-8b", ["--tp=2", "--dp=2", "--set=L=4"], 2, 1, 3, ["(1,9)", "2*(1,30)"]),
        ("llama3-8b", ["--pp=4", "--set=L=8", "--virtual-stages=2"], 4, 1, 2, ["(1,9)", "(1,30)", "(1,31)", "4*(1,2)"]),
        ("mamba-130m", ["--pp=2"], 2, 1, 3, ["3*(1,9)", "(1,30)"]),
        ("gemma-3-1b", ["--set=L=4"], 2, 1, 3, ["3*(1,600)", "(1,508)"]),
    ):
        dp = 2 if "--dp=2" in plan else 1
        flags = [*plan, f"--batch={m * rows * dp}", f"--micro-batch={rows}", f"--steps={steps}"]
        joined = ",".join("/".join([request + ")", str(i)]) for i, text in enumerate(lists) for request in text[:-1].split("),"))
        run = traces.compile_json(model, "--dry-run", *flags, f"--requests={joined}")
        parts = [compile_all(model, *flags, f"--requests={text}") for text in lists]
        what = " ".join([model, *flags, joined])
        equal(f"{what}: classes", len(run["classes"]), len(parts[0]))
        for number, entry in enumerate(run["classes"]):
            all_turns = [part[number] for part in parts]
            times = lambda sums: {key: value * m for key, value in sums.items() if value}
            equal(f"{what}, class {number}", times(totals(entry)), dict(+sum(map(totals, all_turns), Counter())))
            found = {key: (count * m, size * m) for key, (count, size) in messages(entry).items()}
            equal(f"{what}, class {number}: messages", found, add(map(messages, all_turns)))
            for category in "kv_cache", "parameter", "input":
                kept = [part["memory"]["persistent_bytes"].get(category, 0) for part in all_turns]
                equal(f"{what}, class {number}: {category}", entry["memory"]["persistent_bytes"].get(category, 0) * m, sum(kept))
        facts = [json.loads(traces.run("stg-estimate", model, "--machine=h100-80gb-dgx", "--json", *flags, f"--requests={text}")) for text in (joined, *lists)]
        times = [own["step_seconds"] for own in facts]
        if not min(times[1:]) * 0.99 <= times[0] <= max(times[1:]) * 1.01:
            equal(f"{what}: seconds", times[0], times[1:])
        with tempfile.TemporaryDirectory() as folder:
            traces.run("stg-compile", model, *flags, f"--requests={joined}", "-o", folder)
            traces.run("stg-trace", "validate", folder)
            again = traces.compile_json(model, "--dry-run", f"--strategy={folder}/manifest.json")
            equal(f"{what}: again", again["classes"], run["classes"])
    # Drafts, and a list that all of one micro-batch have.
    flags = ["--pp=2", "--set=L=4", "--batch=2", "--micro-batch=1", "--draft=llama3-8b", "--draft-set=L=2", "--drafts=2", "--acceptance=0.75", "--steps=5"]
    run = compile_all("llama3-8b", *flags, "--requests=3*(1,100)/0,(1,4000)/1")
    both = [compile_all("llama3-8b", *flags, f"--requests={text}") for text in ("3*(1,100)", "(1,4000)")]
    for number, entry in enumerate(run):
        twice = {key: 2 * value for key, value in totals(entry).items() if value}
        equal(f"drafts, class {number}", twice, dict(+sum((totals(own[number]) for own in both), Counter())))


def main():
    for name in sys.argv[1:]:
        globals()[name]()
    comparing.finish()


main()
