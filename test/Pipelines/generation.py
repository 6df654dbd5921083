"""Compares runs of several steps with their steps, compiled one by one, and with closed forms.

What a run does is the sum of what its steps do: operations, bytes, collectives and nodes; its caches
are those of the step that keeps most. The steps are worked out here, request by request, in other
terms than the compiler does it.

Usage: generation.py {sums|formula|requests|windows|latents|states|pools|encoded|experts|files|chunks|remainder|budget|arrivals|replicas|forms}...
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

import comparing
import traces
from comparing import compile_one, equal, totals


def cache(entry):
    return entry["memory"]["persistent_bytes"].get("kv_cache", 0)


def check(what, entry, steps, grows=True):
    """A run against its steps."""
    want = sum((totals(step) for step in steps), Counter())
    equal(what, +totals(entry), +want)
    equal(f"{what}: cache", cache(entry), max(cache(step) for step in steps))
    parameters = {step["memory"]["persistent_bytes"]["parameter"] for step in steps}
    equal(f"{what}: parameters", {entry["memory"]["persistent_bytes"]["parameter"]}, parameters)
    # The steps are of one size, so that one of them has the peak; caches are those of the last one.
    if grows:
        temporary = [step["memory"]["peak_bytes"]["total"] - cache(step) for step in steps]
        equal(f"{what}: peak", entry["memory"]["peak_bytes"]["total"] - cache(entry), max(temporary))


def text_of(requests):
    return ",".join("(" + ",".join(map(str, request)) + ")" for request in requests)


def check_lists(what, model, entry, lists, *flags):
    steps = [compile_one(model, f"--requests={text_of(requests)}", *flags) for requests in lists]
    check(what, entry, steps, grows=False)


def sums():
    for flags in (["--batch=4"], ["--batch=4", "--tp=2"], ["--batch=8", "--dp=2", "--kv-dtype=f8E4M3FN"], ["--batch=4", "--tp=4", "--kv-block-size=16"]):
        entry = compile_one("llama3-8b", *flags, "--kv-len=100", "--steps=20")
        steps = [compile_one("llama3-8b", *flags, f"--kv-len={100 + i}") for i in range(20)]
        check(" ".join(flags), entry, steps)
    # Several new tokens: the next chunk of each row.
    entry = compile_one("llama3-8b", "--mode=prefill", "--batch=2", "--seq=64", "--kv-len=10", "--steps=5")
    steps = [compile_one("llama3-8b", "--mode=prefill", "--batch=2", "--seq=64", f"--kv-len={10 + 64 * i}") for i in range(5)]
    check("prefills", entry, steps)
    # One step is what it was.
    one = compile_one("llama3-8b", "--batch=4", "--kv-len=100", "--steps=1")
    equal("one step", one, compile_one("llama3-8b", "--batch=4", "--kv-len=100"))


def formula():
    """4,096 tokens of Llama 3 8B after a prompt of 1,024."""
    L, h, a, g, d, f, V, n, p = 32, 4096, 32, 8, 128, 14336, 128256, 4096, 1024
    entry = compile_one("llama3-8b", "--batch=1", f"--kv-len={p}", f"--steps={n}")
    linear = L * (2 * h * (a + 2 * g) * d + 2 * a * d * h + 6 * h * f) + 2 * h * V
    pairs = sum(p + j + 1 for j in range(n))
    equal("pairs", pairs, n * (p + 1) + n * (n - 1) // 2)
    equal("products", entry["matrix_operations_by_phase"], {"fwd": n * linear + L * 4 * pairs * a * d})
    equal("cache", cache(entry), (p + n) * L * 2 * g * d * 2)
    equal("nodes", entry["compute_nodes"], n * compile_one("llama3-8b", "--batch=1", "--kv-len=1")["compute_nodes"])


def requests():
    lists = [[(1, 4095 + i), (1, 4095 + i), (1, 100 + i), (512, 512 * i)] for i in range(6)]
    entry = compile_one("llama3-8b", f"--requests={text_of(lists[0])}", "--steps=6", "--tp=2")
    check_lists("requests", "llama3-8b", entry, lists, "--tp=2")


def windows():
    """Layers whose windows are full after some of the steps, and layers without one."""
    flags = ["gemma-3-1b", "--set=W=32", "--batch=3"]
    entry = compile_one(*flags, "--kv-len=20", "--steps=24")
    check("windows", entry, [compile_one(*flags, f"--kv-len={20 + i}") for i in range(24)])
    equal("ring", cache(entry), cache(compile_one(*flags, "--kv-len=43")))


def latents():
    flags = ["deepseek-v3", "--batch=32"]
    for form in ("absorbed", "naive", "auto"):
        own = [f"--mla-form={form}"]
        entry = compile_one(*flags, *own, "--kv-len=50", "--steps=7")
        check(form, entry, [compile_one(*flags, *own, f"--kv-len={50 + i}") for i in range(7)])


def states():
    """Layers whose states do not grow: all steps are alike."""
    flags = ["mamba2-2.7b", "--batch=4"]
    entry = compile_one(*flags, "--kv-len=64", "--steps=30")
    check("states", entry, [compile_one(*flags, "--kv-len=64")] * 30)


def pools():
    """States of requests that come and leave: there is a place for the most of a step."""
    for model, *more in ("mamba2-2.7b", "--tp=4"), ("mamba-2.8b",), ("qwen3-next-80b-a3b", "--set=X=16"), ("jamba-v0.1",):
        lists = [[(1, 9)], [(1, 10), (40, 0)], [(1, 11), (1, 40)], [(1, 41), (3, 0)], [(1, 42), (1, 3)]]
        entry = compile_one(model, *more, "--requests=(1,9)+3,(40,0)@1,(3,0)@3", "--steps=5", "--chunk=64")
        check_lists(f"pools, {model}", model, entry, lists, *more)
        chunks = [[(1, 9), (15, 0)], [(1, 10), (15, 15)], [(1, 11), (10, 30)]]
        entry = compile_one(model, *more, "--requests=(1,9),(40,0)", "--token-budget=16")
        check_lists(f"chunks, {model}", model, entry, chunks, *more)


# What was counted while a tiny model really ran, for two requests of 24 frames each: an encoder with
# the keys and values of cross attention, four tokens of a prompt, and two steps of decoding.
ENCODE, RAN = 24772608, [(4284416, 16384), (1165312, 20480), (1167360, 24576)]
ENCODED, PARAMETERS = 98304, 2290432


def encoded():
    """Keys and values of an encoder's tokens are made once, and read in every step."""
    model = str(Path(__file__).parent / "Inputs" / "encoder_decoder.mlir")
    sizes = dict(D=96, H=8, E=16, F=256, V=320, P=96, L=2, LD=2, T=24)
    flags = [model, "--dtype=f32", "--batch=2", "--attention-count=full", *(f"--set={key}={value}" for key, value in sizes.items())]
    for t in 1, 2:
        more = [f"--tp={t}"]
        plans = [["--mode=prefill", "--seq=4"], ["--kv-len=4"], ["--kv-len=5"]]
        steps = [compile_one(*flags, *more, *plan) for plan in plans]
        for number, (step, (products, kept)) in enumerate(zip(steps, RAN)):
            want = (products + (0 if number else ENCODE)) // t
            equal(f"encoded, tp {t}, step {number}", step["matrix_operations_by_phase"], {"fwd": want})
            equal(f"encoded, tp {t}, step {number}: cache", cache(step), (ENCODED + kept) // t)
        # An all-reduce for attention, cross attention and the network, and for tokens.
        reduced = [sum(c["count"] for c in step["collectives"] if c["kind"] == "all_reduce") for step in steps]
        equal(f"encoded, tp {t}: sums", reduced, [(2 * 2 + 3 * 2 + 1) * (t > 1)] + [(3 * 2 + 1) * (t > 1)] * 2)
        if t == 1:
            # There were positions of 16 frames more, and biases of keys.
            parameters = steps[0]["memory"]["persistent_bytes"]["parameter"]
            equal("encoded: parameters", parameters, PARAMETERS - 16 * 96 * 4 - 2 * 128 * 4)
        decode = compile_one(*flags, *more, "--kv-len=4", "--steps=2")
        equal(f"encoded, tp {t}: decode", +totals(decode), +sum((totals(step) for step in steps[1:]), Counter()))
    halves = compile_one(*flags, "--kv-len=4", "--dp=2")
    equal("encoded, dp", 2 * cache(halves), ENCODED + RAN[1][1])
    narrow = compile_one(*flags, "--kv-len=4", "--kv-dtype=f8E4M3FN")
    equal("encoded, f8", 4 * cache(narrow), ENCODED + RAN[1][1])
    with tempfile.TemporaryDirectory() as folder:
        # Written in the first step, and read in all others, without the encoder.
        for name, plan in ("first", ["--mode=prefill", "--seq=4"]), ("later", ["--kv-len=4", "--steps=3"]):
            where = f"{folder}/{name}"
            traces.run("stg-compile", *flags, "--tp=2", *plan, "-o", where)
            traces.run("stg-trace", "validate", where)
            nodes, is_first = traces.nodes(where), name == "first"
            written = [node.name for node in nodes if node.name.endswith("cross_attention.k.fwd")]
            equal(f"{name}: written", written, [f"decoder.{l}.cross_attention.k.fwd" for l in range(2)] if is_first else [])
            read = {tensor for node in nodes for tensor, _ in node.tensors("inputs") if "cross_attention" in tensor and tensor.startswith("kv_cache")}
            equal(f"{name}: read", read, {f"kv_cache/decoder.{l}.cross_attention.{x}" for l in range(2) for x in "kv"})
            equal(f"{name}: encoder", any("encoder." in node.name for node in nodes), is_first)


def experts():
    flags = ["mixtral-8x22b", "--batch=16", "--tp=8"]
    entry = compile_one(*flags, "--kv-len=512", "--steps=256")
    first, last = (compile_one(*flags, f"--kv-len={p}") for p in (512, 767))
    # Costs are affine, so that the ends are enough.
    for key, value in (totals(first) + totals(last)).items():
        equal(f"experts: {key}", totals(entry)[key], 128 * value)
    equal("experts: cache", cache(entry), cache(last))


def files():
    """What is written: every node of every step, and a bundle whose size does not grow with steps."""
    with tempfile.TemporaryDirectory() as folder:
        flags = ["stg-compile", "llama3-8b", "--set=L=3", "--batch=2", "--kv-len=9", "--tp=2"]
        traces.run(*flags, "--steps=5", "-o", f"{folder}/files")
        traces.run(*flags, "--steps=5", "--bundle", "-o", f"{folder}/bundle")
        for where in ("files", "bundle"):
            traces.run("stg-trace", "validate", f"{folder}/{where}")
        own, other = (traces.stats(f"{folder}/{where}") for where in ("bundle", "files"))
        for one in own + other:
            del one["file"]
        equal("bundle", own, other)
        traces.run("stg-translate", "--unbundle", f"{folder}/bundle/traces.stgb", f"--trace-dir={folder}/again")
        for name in ("workload.0.et", "workload.1.et"):
            own, other = (open(f"{folder}/{where}/{name}", "rb").read() for where in ("files", "again"))
            equal(name, own == other, True)
        nodes = traces.nodes(f"{folder}/files", rank=1)
        found = {node.name: node.attributes["num_ops"] for node in nodes if node.name.endswith("attention.fwd")}
        want = {f"step.{i}.layers.{l}.attention.fwd": 4 * 2 * (10 + i) * 16 * 128 for i in range(5) for l in range(3)}
        equal("attention", found, want)
        sizes = []
        for steps in (64, 4096):
            traces.run(*flags, f"--steps={steps}", "--bundle", "-o", f"{folder}/{steps}")
            sizes.append(len(open(f"{folder}/{steps}/traces.stgb", "rb").read()))
        equal("growth", abs(sizes[1] - sizes[0]) < 200, True)


def pairs_of(entry, tokens, rows):
    """Of Llama 3 8B: what is left without products of tokens."""
    L, h, a, g, d, f, V = 32, 4096, 32, 8, 128, 14336, 128256
    linear = tokens * (2 * h * (a + 2 * g) * d + 2 * a * d * h + 6 * h * f)
    core = entry["matrix_operations_by_phase"]["fwd"] - rows * 2 * h * V - L * linear
    return core // (L * 4 * a * d)


def chunks():
    """Chunks of a prompt are one prefill, but for their heads; then tokens follow."""
    flags = ["llama3-8b", "--mode=prefill", "--batch=1"]
    entry = compile_one(*flags, "--seq=16384", "--chunk=2048")
    parts = [compile_one(*flags, "--seq=2048", f"--kv-len={2048 * i}") for i in range(8)]
    check("chunks", entry, parts)
    head, whole = 2 * 4096 * 128256, compile_one(*flags, "--seq=16384")
    equal("sum", entry["matrix_operations_by_phase"]["fwd"] - 7 * head, whole["matrix_operations_by_phase"]["fwd"])
    equal("closed form", entry["matrix_operations_by_phase"]["fwd"] - 8 * head, 299071457722368)
    equal("cache", cache(entry), cache(whole))
    pairs = [pairs_of(part, 2048, 1) for part in parts]
    equal("pairs", (pairs[0], pairs[7], sum(pairs)), (2098176, 31458304, 134225920))
    equal("all pairs", pairs_of(entry, 16384, 8), 134225920)
    # What is read of caches, and of parameters, all but the table of tokens.
    equal("caches", sum(cache(part) for part in parts), 9663676416)
    equal("tokens", sum(cache(part) for part in parts) // 131072, 73728)
    equal("weights", 8 * (entry["memory"]["persistent_bytes"]["parameter"] - head), 120078794752)
    # The past is expanded again for each chunk of latents: 49,152 tokens.
    latent = ["deepseek-v3", "--set=L=4", "--mla-form=naive", *flags[1:]]
    entry = compile_one(*latent, "--seq=32768", "--chunk=8192")
    whole = compile_one(*latent, "--seq=32768")
    layers = cache(whole) // (32768 * 576 * 2)
    more = entry["matrix_operations_by_phase"]["fwd"] - whole["matrix_operations_by_phase"]["fwd"]
    equal("re-expansion", more - 3 * 2 * 7168 * 129280, layers * 1649267441664)
    equal("of a token", (more - 3 * 2 * 7168 * 129280) // (layers * 49152), 33554432)


def remainder():
    """A last chunk that is shorter, after what is cached, and generation behind it."""
    flags = ["llama3-8b", "--mode=prefill", "--batch=2", "--tp=2"]
    entry = compile_one(*flags, "--seq=1000", "--kv-len=64", "--chunk=384", "--steps=8")
    parts = [compile_one(*flags, "--seq=384", "--kv-len=64"), compile_one(*flags, "--seq=384", "--kv-len=448")]
    parts.append(compile_one(*flags, "--seq=232", "--kv-len=832"))
    parts += [compile_one(*flags, "--seq=1", f"--kv-len={1064 + i}") for i in range(5)]
    check("remainder", entry, parts)


def budget():
    """100 requests that generate, and a prompt: chunks of 1,948, 1,948 and 1,104 tokens."""
    lists = [[(1, 1000 + i)] * 100 + [chunk] for i, chunk in enumerate([(1948, 0), (1948, 1948), (1104, 3896)])]
    entry = compile_one("llama3-8b", "--requests=100*(1,1000),(5000,0)", "--token-budget=2048")
    check_lists("budget", "llama3-8b", entry, lists)
    first = compile_one("llama3-8b", "--requests=100*(1,1000),(5000,0)", "--token-budget=2048", "--steps=1")
    equal("first step", first["matrix_operations_by_phase"], {"fwd": 29741171081216})
    equal("pairs", pairs_of(first, 2048, 101), 1998426)
    run = traces.compile_json("llama3-8b", "--dry-run", "--requests=100*(1,1000),(5000,0)", "--token-budget=2048")
    found = [r["new"] for loop in run["steps"] for r in loop["requests"] for _ in range(loop["count"]) if r["new"] > 1]
    equal("chunks", found, [1948, 1948, 1104])
    # A prefix that is cached, and steps behind the prompt.
    lists = [[(1, 9), (255, 512)], [(1, 10), (45, 767)], [(1, 11), (1, 812)], [(1, 12), (1, 813)]]
    entry = compile_one("llama3-8b", "--requests=(1,9),(300,512)", "--token-budget=256", "--steps=4")
    check_lists("prefix", "llama3-8b", entry, lists)


def arrivals():
    """Requests that come with a step, and leave when they have their tokens."""
    lists = [[(1, 50), (1, 7)], [(1, 51), (1, 8)], [(1, 52), (64, 0)], [(1, 53), (64, 64)], [(1, 54)]]
    entry = compile_one("llama3-8b", "--requests=(1,50),(1,7)+2,(64,0)@2+2", "--steps=5")
    check_lists("arrivals", "llama3-8b", entry, lists)
    # The same with a budget: the prompt needs its tokens once.
    lists = [[(1, 50), (1, 7)], [(1, 51), (1, 8)], [(1, 52), (63, 0)], [(1, 53), (1, 63)], [(1, 54), (1, 64)]]
    entry = compile_one("llama3-8b", "--requests=(1,50),(1,7)+2,(64,0)@2+2", "--steps=5", "--token-budget=64")
    check_lists("budget", "llama3-8b", entry, lists)


def replicas():
    """Several ranks that are alike, and ranks that differ."""
    flags = ["deepseek-v3", "--batch=256", "--dp=8", "--ep=8"]
    entry = compile_one(*flags, "--kv-len=30", "--steps=3")
    check("experts", entry, [compile_one(*flags, f"--kv-len={30 + i}") for i in range(3)])
    flags = ["llama3-8b", "--mode=prefill", "--batch=1", "--cp=2", "--seq=256"]
    run = traces.compile_json(*flags, "--dry-run", "--steps=3")["classes"]
    parts = [traces.compile_json(*flags, "--dry-run", f"--kv-len={256 * i}")["classes"] for i in range(3)]
    for number, entry in enumerate(run):
        found, want = totals(entry), sum((totals(part[number]) for part in parts), Counter())
        # What is gathered of caches that have room for more is copied first.
        for sums in found, want:
            del sums["traffic"], sums["compute"]
        equal(f"class {number}", +found, +want)


def forms():
    """Requests whose latents are absorbed, and requests whose latents are expanded, have one cache."""
    model, token = "deepseek-v2-lite", 27 * (512 + 64) * 2  # Bytes of all layers.

    def products(requests, *flags):
        return compile_one(model, f"--requests={requests}", *flags)["matrix_operations_by_phase"]["fwd"]

    decoding, prompts = "(1,1000),(1,1500),(1,2001)", "(4001,0),(1003,0)"
    mixed = compile_one(model, f"--requests={decoding},{prompts}")
    equal("mixed: cache", cache(mixed), token * (3 + 4501 + 5004))
    parts = products(decoding, "--mla-form=absorbed") + products(prompts, "--mla-form=naive")
    equal("mixed: products", mixed["matrix_operations_by_phase"]["fwd"], parts)
    for form in "absorbed", "naive":
        own = products(f"{decoding},{prompts}", f"--mla-form={form}")
        equal(f"{form}: more products", own > parts, True)
    # Ranks that divide the tokens of all requests: the prompts are not read back.
    ranks = traces.compile_json(model, "--dry-run", f"--requests={decoding},{prompts}", "--tp=4", "--cache-axes=tp")["classes"]
    held = [sum((u + p - rank + 3) // 4 for u, p in [(1, 1000), (1, 1500), (1, 2001), (4001, 0), (1003, 0)]) for rank in range(4)]
    equal("divided: caches", [cache(c) for c in ranks for _ in range(c["ranks"])], [token * tokens for tokens in held])
    whole = compile_one(model, f"--requests={decoding},{prompts}", "--tp=4")["matrix_operations_by_phase"]["fwd"]
    equal("divided: products", sum(c["matrix_operations_by_phase"]["fwd"] * c["ranks"] for c in ranks), 4 * whole)
    # Steps that change from one form to the other: chunks, and then token by token.
    entry = compile_one(model, "--mode=prefill", "--batch=1", "--seq=4096", "--chunk=1024", "--steps=40")
    steps = [f"(1024,{1024 * i})" for i in range(4)] + [f"(1,{4096 + i})" for i in range(36)]
    equal("chunks: products", entry["matrix_operations_by_phase"]["fwd"], sum(map(products, steps)))
    equal("chunks: cache", cache(entry), token * (4096 + 36))
    entry = compile_one(model, "--requests=10*(1,1000),(5000,0)", "--token-budget=2048")
    steps = [f"10*(1,{1000 + i}),({chunk},{done})" for i, (chunk, done) in enumerate([(2038, 0), (2038, 2038), (924, 4076)])]
    equal("budget: products", entry["matrix_operations_by_phase"]["fwd"], sum(map(products, steps)))
    equal("budget: cache", cache(entry), token * (10 * 1003 + 5000))
    # Micro-batches that differ in form read the same parameters.
    stages = traces.compile_json(model, "--dry-run", "--requests=(1,1000)/0,(512,0)/1", "--batch=2", "--micro-batch=1", "--pp=3")["classes"]
    found = sum(c["matrix_operations_by_phase"]["fwd"] for c in stages)
    equal("micro-batches: products", found, products("(1,1000)") + products("(512,0)"))
    equal("micro-batches: cache", sum(map(cache, stages)), token * (1001 + 512))
    held = sum(c["memory"]["persistent_bytes"]["parameter"] for c in stages)
    equal("micro-batches: parameters", held, entry["memory"]["persistent_bytes"]["parameter"])


for name in sys.argv[1:]:
    globals()[name]()
comparing.finish()
