"""The worked numbers of closed forms of inference, one by one.

Inputs/inference_numbers.json has 233 numbers of published models: operations, bytes, collectives,
parameters, each worked out by hand or taken from what was published. Each of them is compared here
with a closed form in the sizes of the model, and with what the compiler prints or writes: that is
not the form again, but the sum over nodes, classes of ranks or messages. `LEFT` has those that a
compiler does not print, and why. A number that is in neither, or in both, is an error.

Usage: inference_numbers.py {dense|collectives|context|experts|steps|drafts|latents|windows|
       recurrent|encoders|disaggregated|memory|left}..., `left` after all others
"""

import json
import math
import sys
import tempfile
from collections import namedtuple
from pathlib import Path

import traces

KNOWN = json.loads((Path(__file__).parent / "Inputs" / "inference_numbers.json").read_text())
SAID = set()
FAILED = False
Model = namedtuple("Model", "name L h a g d f V")
LLAMA3_8B = Model("llama3-8b", 32, 4096, 32, 8, 128, 14336, 128256)
LLAMA3_70B = Model("llama3-70b", 80, 8192, 64, 8, 128, 28672, 128256)
LLAMA31_405B = Model("llama3.1-405b", 126, 16384, 128, 8, 128, 53248, 128256)


def say(number, found, form):
    """One of the numbers: what was found, and what the closed form gives."""
    global FAILED
    known = KNOWN[number]
    if isinstance(known, float):
        digits = len(repr(known).split(".")[1])
        found, form = round(float(found), digits), round(float(form), digits)
    if not found == form == known:
        FAILED = True
        print(f"{number} = {known}: found {found}, the form gives {form}")
    if number in SAID:
        FAILED = True
        print(f"{number} is said twice")
    SAID.add(number)


def pairs(u, p, window=None, chunk=None):
    """Row by row: what each new token sees."""
    if window:
        return sum(min(i, window) for i in range(p + 1, p + u + 1))
    return sum(i % chunk + 1 for i in range(p, p + u)) if chunk else u * p + u * (u + 1) // 2


class Compiled:
    """What the compiler says of the first class of ranks, and, if asked for, writes for rank 0."""

    def __init__(self, model, *flags, nodes=False):
        if nodes:
            with tempfile.TemporaryDirectory() as folder:
                self.summary = traces.compile_json(model, *flags, "--ranks=0:1", "-o", folder)
                self.nodes = {node.name: node for node in traces.nodes(folder)}
        else:
            self.summary = traces.compile_json(model, *flags, "--dry-run")
        self.entry = self.summary["classes"][0]

    products = property(lambda self: sum(self.entry["matrix_operations_by_phase"].values()))
    forward = property(lambda self: self.entry["matrix_operations_by_phase"]["fwd"])
    parameters = property(lambda self: self.summary["parameters"])

    def held(self, category="parameter"):
        """Bytes throughout the step."""
        return self.entry["memory"]["persistent_bytes"][category]

    @property
    def cache(self):
        return self.held("kv_cache")

    def collective(self, kind, axes=None):
        """Count and bytes of one call of those that are alike."""
        (found,) = [c for c in self.entry["collectives"] if c["kind"] == kind and axes in (None, c["axes"])]
        return found["count"], found["bytes"] // found["count"]

    def ops(self, *names):
        """Operations of nodes of rank 0."""
        return sum(self.nodes[f"{name}.fwd"].attributes["num_ops"] for name in names)

    def bytes_of(self, name, kind):
        """Bytes that a node reads of parameters, caches ... of its own."""
        return sum(size for tensor, size in self.nodes[f"{name}.fwd"].tensors("inputs") if tensor.startswith(kind + "/"))

    def weights_read(self, name):
        """Bytes that a node moves beside those of activations."""
        node = self.nodes[f"{name}.fwd"]
        moved = sum(size for tensor, size in node.tensors("inputs") if not tensor.startswith("parameter/"))
        return node.attributes["tensor_size"] - moved - sum(size for _, size in node.tensors("outputs"))

    def sent(self, name):
        """The bytes that a collective passes in, and gives."""
        node = self.nodes[name]
        return node.attributes["comm_size"], sum(size for _, size in node.tensors("outputs"))


def dense():
    """Section 1: dense models, a step of one rank."""
    m, t, n, keys = LLAMA3_70B, 8, 64, 4096
    flags = ["--tp=8", "--batch=64"]
    one = Compiled(m.name, *flags, "--kv-len=4095", "--set=L=1", nodes=True)
    own = lambda *names: one.ops(*(f"layers.0.{name}" for name in names))
    projections = 2 * n * m.h * (m.a // t + 2) * m.d + 2 * n * (m.a // t) * m.d * m.h
    core, mlp = 4 * n * keys * (m.a // t) * m.d, 6 * n * m.h * m.f // t
    head = 2 * n * m.h * m.V // t
    say("I1.1", own("qkv_proj", "o_proj"), projections)
    say("I1.2", own("attention"), core)
    say("I1.3", own("gate_up_proj", "down_proj"), mlp)
    say("I1.4", one.ops("output"), head)
    step, before = Compiled(m.name, *flags, "--kv-len=4095"), Compiled(m.name, *flags, "--kv-len=4094")
    operations = m.L * (projections + core + mlp) + head
    say("I1.5", step.products, operations)
    layer = m.h * (m.a // t + 2) * m.d + m.a // t * m.d * m.h + 3 * m.h * m.f // t + 2 * m.h
    weights = 2 * (m.L * layer + m.h * m.V // t + m.h)
    table = one.bytes_of("tok_embeddings", "parameter")
    say("I1.6", step.held() - table, weights)
    say("I1.7", step.cache // (n * keys), m.L * 2 * m.d * 2)
    say("I1.8", m.L * one.bytes_of("layers.0.attention", "kv_cache"), n * keys * m.L * 2 * m.d * 2)
    say("I1.9", step.cache - before.cache, n * m.L * 2 * m.d * 2)
    count, size = step.collective("all_reduce")
    say("I1.10", size, n * m.h * 2)
    say("I1.11", count, 1 + 2 * m.L)
    sent, gathered = one.sent("cross_entropy.sample.fwd.all_gather")
    say("I1.12", sent, n * m.V // t * 2)
    say("I1.13", gathered, n * m.V * 2)
    say("I1.14", count * size * 2 * (t - 1) // t, (1 + 2 * m.L) * 2 * (t - 1) * n * m.h * 2 // t)
    # The time that memory of 3.35 TB/s takes for weights and caches, products of 989.4 TFLOP/s.
    say("I1.15", (step.held() - table + step.cache) / 3.35e6, (weights + n * keys * m.L * 2 * m.d * 2) / 3.35e6)
    say("I1.16", step.products / 989.4e6, operations / 989.4e6)
    # The prompt of 8,192 tokens.
    m, u = LLAMA3_8B, 8192
    flags = ["--mode=prefill", "--batch=1", "--seq=8192"]
    one = Compiled(m.name, *flags, "--set=L=1", nodes=True)
    own = lambda *names: one.ops(*(f"layers.0.{name}" for name in names))
    square = Compiled(m.name, *flags, "--set=L=1", "--attention-count=full", nodes=True)
    projections, mlp = 2 * u * m.h * (2 * m.a + 2 * m.g) * m.d, 6 * u * m.h * m.f
    core, head = 4 * pairs(u, 0) * m.a * m.d, 2 * m.h * m.V
    say("I1.20", own("qkv_proj", "o_proj"), projections)
    say("I1.21", own("attention"), core)
    say("I1.22", square.ops("layers.0.attention"), 4 * u * u * m.a * m.d)
    say("I1.23", own("gate_up_proj", "down_proj"), mlp)
    say("I1.24", one.ops("output"), head)
    say("I1.25", Compiled(m.name, *flags).products, m.L * (projections + core + mlp) + head)
    rows = Compiled(m.name, *flags, "--set=L=1", "--logits=all", nodes=True)
    say("I1.26", rows.ops("output"), u * head)
    say("I1.27", Compiled(m.name, *flags, "--logits=all").products, m.L * (projections + core + mlp) + u * head)
    four = Compiled(m.name, *flags, "--tp=4")
    say("I1.28", four.collective("all_reduce")[1], u * m.h * 2)
    say("I1.29", four.collective("all_reduce")[0], 1 + 2 * m.L)
    say("I1.30", four.collective("all_gather")[1], m.V // 4 * 2)
    # Heads that several ranks hold.
    m = LLAMA3_70B
    step = Compiled(m.name, "--tp=16", "--batch=64", "--kv-len=4095")
    say("I1.31", step.cache // (64 * 4096), m.L * 2 * m.d * 2)
    say("I1.32", sum(entry["ranks"] * entry["memory"]["persistent_bytes"]["kv_cache"] for entry in step.summary["classes"]) // (64 * 4096), 16 * m.L * 2 * m.d * 2)
    outside = 2 * m.V // 16 * m.h + m.h
    matrices = lambda t, heads: m.h * (m.a * 2 + heads * 2) * m.d // t + 3 * m.h * m.f // t
    say("I1.33", (step.held() // 2 - outside) // m.L - 2 * m.h, matrices(16, 16))
    whole = Compiled(m.name, "--batch=64", "--kv-len=4095")
    say("I1.34", ((whole.held() // 2 - 2 * m.V * m.h - m.h) // m.L - 2 * m.h) // 16, matrices(16, 8))
    # Requests of all kinds in one step.
    m, requests = LLAMA3_8B, [(1, 4095), (1, 100), (512, 0), (1024, 2048)]
    text = ",".join(f"({u},{p})" for u, p in requests)
    one = Compiled(m.name, f"--requests={text}", "--set=L=1", nodes=True)
    tokens, seen = sum(u for u, p in requests), sum(pairs(u, p) for u, p in requests)
    say("I1.40", one.ops("layers.0.attention") // (4 * m.a * m.d), seen)
    linear = m.L * (2 * tokens * m.h * (2 * m.a + 2 * m.g) * m.d + 6 * tokens * m.h * m.f)
    say("I1.41", Compiled(m.name, f"--requests={text}").products, linear + m.L * 4 * seen * m.a * m.d + 4 * head)
    say("I1.42", one.summary["symbols"]["S"], tokens)


def collectives():
    """Section 2: groups with requests of their own before a feed-forward of all ranks."""
    flags = ["--set=D=7168", "--preset=sglang", "--kv-len=4095"]
    eight = Compiled("llama3-8b", *flags, "--dp=8", "--batch=128", "--set=L=1", nodes=True)
    gathers = [node for node in eight.nodes.values() if node.type == "COMM_COLL" and node.kind == "all_gather"]
    sizes = {(node.attributes["comm_size"], sum(size for _, size in node.tensors("outputs"))) for node in gathers}
    ((sent, gathered),) = sizes
    say("I2.10", sent, 16 * 7168 * 2)
    say("I2.11", gathered, 8 * 16 * 7168 * 2)
    four = Compiled("llama3-8b", *flags, "--dp=4", "--tp=2", "--batch=64", "--sequence-parallel")
    say("I2.12", four.collective("all_gather", ["tp", "dp"])[1], 16 // 2 * 7168 * 2)
    # What vLLM gathers of each of 16 tokens is the same.
    say("I2.16", eight.collective("all_gather")[1], 16 * 7168 * 2)
    # It gathers fp32 logits of the router beside them, of tokens that each rank has routed.
    routed = Compiled("deepseek-v3", "--set=L=4", "--preset=vllm-experts", "--dp=8", "--batch=128", "--kv-len=4095", nodes=True)
    say("I2.17", routed.sent("layers.0.router_sigmoid.fwd.all_gather")[0], 16 * 256 * 4)
    # Ranks with different numbers of tokens sum buffers for all of these.
    own = [16, 3, 9, 1, 16, 2, 7, 10]
    lists = ",".join(f"{n}*(1,99)#{rank}" for rank, n in enumerate(own))
    summed = Compiled("deepseek-v3", "--preset=sglang-experts", "--dp=8", "--gathered-rows=summed", f"--requests={lists}")
    count, size = summed.collective("all_reduce")
    say("I2.13", size, sum(own) * 7168 * 2)
    say("I2.15", size // (7168 * 2), sum(own))
    # Two tensors of 64 tokens between stages, whole, and a slice of each of tp, which are gathered.
    m, flags = LLAMA3_70B, ["--dry-run", "--batch=64", "--kv-len=4095", "--preset=vllm", "--pp=2"]
    for number, t in ("I2.2", 1), ("I2.3", 8):
        first, last = traces.compile_json(m.name, *flags, f"--tp={t}")["classes"]
        (message,) = first["messages"]
        say(number, message["bytes"] // message["count"], 2 * 64 * m.h * 2 // t)
        gathers = [(c["count"], c["bytes"]) for c in last["collectives"] if c["kind"] == "all_gather"]
        # Of logits there is one more.
        want = [(3, 2 * 131072 + 64 * m.V // t * 2)] if t > 1 else []
        if gathers != want:
            print(f"{number}: gathers {gathers}, expected {want}")
            raise SystemExit(1)


def context():
    """Section 3: prompts that are divided over ranks."""
    m, s, c, t = LLAMA31_405B, 131072, 8, 8
    flags = ["--mode=prefill", "--batch=1", f"--cp={c}", f"--tp={t}", "--cp-comm-type=p2p"]
    step = Compiled(m.name, *flags, f"--seq={s}")
    (ring,) = [x for x in step.entry["messages"] if x["kind"] == "send"]
    say("I3.11", ring["bytes"] // ring["count"], 2 * (s // c) * (m.g // t) * m.d * 2)
    say("I3.12", ring["bytes"] // m.L, (c - 1) * 2 * (s // c) * (m.g // t) * m.d * 2)
    u = 128000
    whole = Compiled(m.name, "--mode=prefill", "--batch=1", f"--seq={u}")
    layer = 2 * u * m.h * (2 * m.a + 2 * m.g) * m.d + 6 * u * m.h * m.f + 4 * pairs(u, 0) * m.a * m.d
    say("I3.19", whole.products, m.L * layer + 2 * m.h * m.V)
    # What is cached of new tokens is gathered, 512 elements and 64 of positions, and rows before the head.
    s, c, layers = 8192, 2, 5
    plan = ["--preset=vllm-pcp", f"--cp={c}", "--batch=1", "--mode=prefill", f"--seq={s}"]
    one = Compiled("deepseek-v3", f"--set=L={layers}", *plan, nodes=True)
    latents = [one.sent(f"layers.0.attention.{name}.fwd.all_gather")[0] for name in ("kv_a_norm", "rope_k")]
    say("I3.14", sum(latents), s // c * (512 + 64) * 2)
    say("I3.15", one.sent("cross_entropy.rows.fwd.all_gather")[0], s // c * 7168 * 2)
    # New tokens behind many that are cached: what goes around is keys and values of both.
    u, p, c = 1280, 126720, 4
    step = Compiled(m.name, "--mode=decode", "--batch=1", f"--cp={c}", f"--tp={t}", "--cp-comm-type=p2p", f"--seq={u}", f"--kv-len={p}")
    (ring,) = [x for x in step.entry["messages"] if x["kind"] == "send"]
    say("I3.17", ring["bytes"] // ring["count"], 2 * (u + p) // c * (m.g // t) * m.d * 2)

    # Or queries go around; the fewer of both do, from as many new tokens on as make them equal.
    def passed(exchange, u, p):
        plan = ["--mode=decode", "--batch=1", f"--cp={c}", f"--tp={t}", f"--cp-comm-type={exchange}", f"--seq={u}", f"--kv-len={p}"]
        step = Compiled(m.name, *plan, "--set=L=1")
        (ring,) = [x for x in step.entry["messages"] if x["kind"] == "send"]
        return ring["bytes"] // ring["count"]

    queries = lambda u: u // c * (m.a // t) * m.d * 2
    say("I3.16", passed("query_p2p", u, p), queries(u))
    steps = [new for new in (15992, 16000, 16008) if passed("query_p2p", new, u + p - new) == passed("p2p", new, u + p - new)]
    sizes = [passed("auto_p2p", new, u + p - new) for new in (15992, 16000, 16008)]
    (equal,) = steps
    say("I3.18", equal, (u + p) * 2 * m.g // m.a)
    if sizes != [queries(15992), queries(16000), queries(16000)]:
        print(f"I3.18: around it {sizes} go round")
        raise SystemExit(1)


def experts():
    """Section 4: experts of DeepSeek-V3 on 64 ranks, and of Mixtral on 8."""
    h, fe, X, k, T, ranks = 7168, 2048, 256, 8, 128, 64
    plan = ["--dp=64", "--ep=64", "--batch=8192", "--kv-len=4095"]
    one = Compiled("deepseek-v3", *plan, "--set=L=4", nodes=True)
    low = Compiled("deepseek-v3", *plan, "--set=L=4", "--preset=deepep", nodes=True)
    wide = Compiled("deepseek-v3", *plan, "--set=L=4", "--dispatch-bytes=16 + 2*D", nodes=True)
    layer = "layers.0."
    copies = one.sent(f"{layer}dispatch.fwd.all_to_all")[0] // (2 * h)
    say("I4.17", copies, T * k)
    say("I4.1", low.sent(f"{layer}dispatch.fwd.all_to_all")[0] // copies, 16 + h + 4 * h // 128)
    say("I4.2", low.sent(f"{layer}combine.fwd.all_to_all")[0] // copies, 2 * h)
    say("I4.3", wide.sent(f"{layer}dispatch.fwd.all_to_all")[0] // copies, 16 + 2 * h)
    say("I4.4", low.sent(f"{layer}dispatch.fwd.all_to_all")[0], T * k * (16 + h + 4 * h // 128))
    say("I4.5", low.sent(f"{layer}combine.fwd.all_to_all")[0], T * k * 2 * h)
    normal = ["--dispatch-bytes=16*ceildiv(D + 8 + D/32 + 8*A, 16)", "--combine-bytes=16*ceildiv(2*D + 8 + 4*A, 16)"]
    other = Compiled("deepseek-v3", *plan, "--set=L=4", *normal, nodes=True)
    align = lambda size: -(-size // 16) * 16
    say("I4.6", other.sent(f"{layer}dispatch.fwd.all_to_all")[0] // copies, align(h + 8 + 4 * h // 128 + 8 * k))
    say("I4.7", other.sent(f"{layer}combine.fwd.all_to_all")[0] // copies, align(2 * h + 8 + 4 * k))
    weights = one.bytes_of(f"{layer}gate_up_proj", "parameter") + one.bytes_of(f"{layer}down_proj", "parameter")
    say("I4.16", weights // 2, X // ranks * 3 * h * fe)
    half = Compiled("deepseek-v3", "--dp=32", "--ep=32", "--batch=4096", "--kv-len=4095", "--set=L=4")
    # A rank of 32 has four experts more.
    say("I4.15", (half.held() - one.held()) // 2 // 4, 3 * h * fe)
    say("I4.18", one.ops(f"{layer}gate_up_proj", f"{layer}down_proj"), 6 * h * fe * k * T)
    rows = one.nodes[f"{layer}gate_up_proj.fwd"].tensors("outputs")[0][1] // (2 * 2 * fe)
    say("I4.19", rows // (X // ranks), T * ranks * k // X)
    say("I4.20", one.ops(f"{layer}shared_gate_up_proj", f"{layer}shared_down_proj"), 6 * h * fe * T)
    # With 32 more experts than 256, those of a rank of 32 and of 144.
    for number, n in ("I4.21", 32), ("I4.22", 144):
        step = Compiled("deepseek-v3", "--set=X=288", f"--dp={n}", f"--ep={n}", f"--batch={n * 9}", "--kv-len=4095", "--set=L=4", nodes=True)
        weights = step.bytes_of(f"{layer}gate_up_proj", "parameter") + step.bytes_of(f"{layer}down_proj", "parameter")
        say(number, weights // (2 * 3 * h * fe), 288 // n)
    # Experts whose weights few tokens read.
    for number, model, tokens, size, flags in [
            ("I4.13", "deepseek-v3", 128, 3 * h * fe * 2, ["--set=L=4"]),
            ("I4.14", "deepseek-v3", 16, 3 * h * fe * 2, ["--set=L=4"]),
            ("I4.25", "mixtral-8x7b", 4, 3 * 4096 * 14336 * 2, ["--set=L=1"])]:
        step = Compiled(model, *flags, f"--batch={tokens}", "--kv-len=4095", nodes=True)
        every, each = (256, 8) if model == "deepseek-v3" else (8, 2)
        say(number, sum(step.weights_read(f"{layer}{name}") for name in ("gate_up_proj", "down_proj")) / size,
            every * (1 - (1 - each / every) ** tokens))
    step = Compiled("mixtral-8x7b", "--tp=8", "--batch=64", "--kv-len=4095", "--set=L=1", nodes=True)
    weights = step.bytes_of(f"{layer}gate_up_proj", "parameter") + step.bytes_of(f"{layer}down_proj", "parameter")
    say("I4.23", weights, 8 * 3 * 4096 * 14336 // 8 * 2)
    say("I4.24", step.collective("all_reduce")[1], 64 * 4096 * 2)


def steps():
    """Section 5: chunks of a prompt, and a budget of tokens."""
    m, size, s = LLAMA3_8B, 2048, 16384
    part = lambda i: Compiled(m.name, "--mode=prefill", "--batch=1", f"--seq={size}", f"--kv-len={i * size}", "--set=L=1", nodes=True)
    parts = [part(i) for i in range(8)]
    seen = [one.ops("layers.0.attention") // (4 * m.a * m.d) for one in parts]
    say("I5.1", seen[0], pairs(size, 0))
    say("I5.2", seen[7], pairs(size, 7 * size))
    say("I5.3", sum(seen), pairs(s, 0))
    flags = ["--mode=prefill", "--batch=1", f"--seq={s}"]
    run, whole = Compiled(m.name, *flags, "--chunk=2048"), Compiled(m.name, *flags)
    token = m.L * 2 * m.g * m.d * 2
    read = sum(m.L * one.bytes_of("layers.0.attention", "kv_cache") for one in parts)
    say("I5.4", read // token, sum(size * (i + 1) for i in range(8)))
    say("I5.5", whole.cache // token, s)
    head, linear = 2 * m.h * m.V, 2 * m.h * (2 * m.a + 2 * m.g) * m.d + 6 * m.h * m.f
    form = lambda u, p: m.L * (u * linear + 4 * pairs(u, p) * m.a * m.d)
    first, last = (Compiled(m.name, "--mode=prefill", "--batch=1", f"--seq={size}", f"--kv-len={i * size}") for i in (0, 7))
    say("I5.6", first.products - head, form(size, 0))
    say("I5.7", last.products - head, form(size, 7 * size))
    say("I5.8", run.products - 8 * head, form(s, 0))
    table = parts[0].bytes_of("tok_embeddings", "parameter")
    layer = m.h * (2 * m.a + 2 * m.g) * m.d + 3 * m.h * m.f + 2 * m.h
    say("I5.9", 8 * (run.held() - table), 8 * 2 * (m.L * layer + m.h * m.V + m.h))
    say("I5.10", read, sum(size * (i + 1) for i in range(8)) * token)
    budget = ["--requests=100*(1,1000),(5000,0)", "--token-budget=2048"]
    run = traces.compile_json(m.name, "--dry-run", *budget)
    found = [r["new"] for loop in run["steps"] for r in loop["requests"] for _ in range(loop["count"]) if r["new"] > 1]
    chunks, left = [], 5000
    while left:
        chunks.append(min(left, 2048 - 100))
        left -= chunks[-1]
    say("I5.11", found, chunks)
    first = Compiled(m.name, *budget, "--steps=1", "--set=L=1")
    whole = Compiled(m.name, *budget, "--steps=1")
    seen = 100 * pairs(1, 1000) + pairs(1948, 0)
    say("I5.12", whole.products, m.L * (2048 * linear + 4 * seen * m.a * m.d) + 101 * head)
    say("I5.13", (first.products - 101 * head - 2048 * linear) // (4 * m.a * m.d), seen)
    # The past of latents is expanded again for each chunk.
    form = 2 * 512 * 128 * (128 + 128)
    step = lambda u, p: Compiled("deepseek-v3", "--mode=prefill", "--batch=1", f"--seq={u}", f"--kv-len={p}", "--set=L=4", "--mla-form=naive", nodes=True)
    expand = lambda one: sum(node.attributes["num_ops"] for name, node in one.nodes.items() if name.startswith("layers.0.") and "kv_b_proj" in name)
    chunks = [expand(step(8192, i * 8192)) for i in range(4)]
    say("I5.16", expand(step(32768, 0)), 32768 * form)
    say("I5.15", sum(chunks) - 32768 * form, 8192 * (1 + 2 + 3) * form)
    say("I5.14", (chunks[1] - chunks[0]) // 8192, form)


def drafts():
    """Section 6: drafts that are verified, and the module that predicts further tokens."""
    m, t, n, p = LLAMA3_70B, 8, 64, 4091
    flags = ["--tp=8", "--batch=64", f"--kv-len={p}"]
    for number, k, chance in ("I6.1", 4, 0.8), ("I6.2", 1, 0.85), ("I6.3", 1, 0.9):
        run = traces.compile_json("llama3-8b", "--dry-run", "--batch=1", "--kv-len=9", "--draft=llama3.2-1b", f"--drafts={k}", f"--acceptance={chance}")
        say(number, run["draft"]["tokens_of_round"], (1 - chance ** (k + 1)) / (1 - chance))
    verify = Compiled(m.name, *flags, "--seq=5", "--logits=all")
    one = Compiled(m.name, *flags, "--seq=5", "--logits=all", "--set=L=1", nodes=True)
    linear = 2 * m.h * (2 * m.a + 2 * m.g) * m.d // t + 6 * m.h * m.f // t
    form = lambda u: m.L * n * (u * linear + 4 * pairs(u, p) * m.a // t * m.d) + n * u * 2 * m.h * m.V // t
    say("I6.4", one.ops("layers.0.attention") // (n * 4 * m.a // t * m.d), pairs(5, p))
    say("I6.5", verify.products, form(5))
    say("I6.6", Compiled(m.name, *flags).products, form(1))
    say("I6.7", m.L * one.bytes_of("layers.0.attention", "kv_cache"), n * (p + 5) * m.L * 2 * m.d * 2)
    say("I6.8", verify.collective("all_reduce")[1], n * 5 * m.h * 2)
    say("I6.9", verify.collective("all_gather")[1], n * 5 * m.V // t * 2)
    # The module of DeepSeek-V3.
    h, V, X, k, fe = 7168, 129280, 256, 8, 2048
    module = traces.compile_json("deepseek-v3", "--dry-run", "--batch=1", "--kv-len=9", "--draft=mtp", "--drafts=1", "--acceptance=0.9", "--expert-rows=exact")
    latent = h * 1536 + 1536 + 1536 * 128 * 192 + h * 576 + 512 + 512 * 128 * 256 + 128 * 128 * h
    layer = latent + 2 * h + h * X + X + (X + 1) * 3 * h * fe
    found = module["draft"]["parameters"] - 2 * V * h
    projection = 2 * h * h + 3 * h
    say("I6.10", found - projection, layer)
    say("I6.11", found, layer + projection)
    active = latent + 2 * h + h * X + X + (k + 1) * 3 * h * fe + projection + 2 * V * h
    # Three norms and the correction of the router are not counted there.
    rest = 3 * h + X
    say("I6.12", module["draft"]["active_parameters"] - rest, active - rest)
    one = Compiled("deepseek-v3", "--batch=1", "--kv-len=9", "--draft=mtp", "--drafts=1", "--acceptance=0.9", "--set=L=4", nodes=True)
    own = lambda *names: sum(node.attributes["num_ops"] for name, node in one.nodes.items() if ".draft.0." in name and any(f".{n}.fwd" in name for n in names))
    products = "q_a_proj q_b_proj kv_a_proj attention.absorb_q attention.absorb_v o_proj router gate_up_proj down_proj shared_gate_up_proj shared_down_proj eh_proj output".split()
    rest = 2 * (h * 1536 + 1536 * 128 * 192 + h * 576 + 512 * 128 * 256 + 128 * 128 * h)
    say("I6.13", own(*products), rest + 2 * h * X + 9 * 6 * h * fe + 2 * 2 * h * h + 2 * h * V)
    alone = Compiled("deepseek-v3", "--batch=1", "--kv-len=9", "--seq=2", "--logits=all", "--set=L=4")
    say("I6.14", (one.cache - alone.cache) // 10, (512 + 64) * 2)


def parameters_of(one, prefix):
    """Elements of two bytes that nodes of a scope read of parameters, each once."""
    held = {}
    for node in one.nodes.values():
        held.update((tensor, size) for tensor, size in node.tensors("inputs") if tensor.startswith(f"parameter/{prefix}"))
    return held


def latents():
    """Section 7: attention with latents, DeepSeek-V3 and Kimi K2."""
    h, ql, kl, n, r, v, a = 7168, 1536, 512, 128, 64, 128, 128
    matrices = lambda a: h * ql + ql * a * (n + r) + h * (kl + r) + kl * a * (n + v) + a * v * h
    projections = ["q_a_proj", "q_b_proj", "kv_a_proj", "attention.absorb_q", "attention.absorb_v", "o_proj"]
    plan = ["--dp=64", "--ep=64", "--batch=8192", "--kv-len=4095"]
    tokens, keys, ranks = 128, 4096, 64
    step = Compiled("deepseek-v3", *plan, nodes=True)
    own = lambda one, *names, layer="layers.0": one.ops(*(f"{layer}.{name}" for name in names))
    say("I7.1", own(step, *projections) // tokens, 2 * matrices(a))
    core = own(step, "attention") // (tokens * keys)
    say("I7.2", core, 2 * a * (2 * kl + r))
    whole = Compiled("deepseek-v3", *plan, "--set=L=4", "--mla-form=naive", nodes=True)
    naive = own(whole, "attention") // (tokens * keys)
    say("I7.3", naive, 2 * a * (n + r + v))
    say("I7.4", (own(step, *projections, "attention")) // tokens, 2 * matrices(a) + keys * 2 * a * (2 * kl + r))
    expands = [name for name in whole.nodes if name.startswith("layers.0.") and "kv_b_proj" in name and name.endswith(".fwd")]
    expand = sum(whole.nodes[name].attributes["num_ops"] for name in expands)
    say("I7.5", (own(whole, "q_a_proj", "q_b_proj", "kv_a_proj", "o_proj", "attention") + expand) // tokens,
        2 * matrices(a) + 4095 * 2 * kl * a * (n + v) + keys * 2 * a * (n + r + v))
    per_token = step.cache // (tokens * keys * 61)
    say("I7.6", core / per_token, 2 * a * (2 * kl + r) / (2 * (kl + r)))
    one = Compiled("deepseek-v3", "--tp=8", "--batch=1", "--kv-len=4095", "--set=L=4", nodes=True)
    norms = ql + kl
    held = parameters_of(one, "layers.0.")
    attention = sum(size for name, size in held.items() if any(word in name for word in ("q_a", "q_b", "kv_a", "kv_b", "o_proj")))
    eighth = h * ql + ql * a * (n + r) // 8 + h * (kl + r) + kl * a * (n + v) // 8 + a * v * h // 8
    say("I7.8", attention // 2, eighth + norms)
    say("I7.9", own(one, *projections, "attention"), 2 * eighth + keys * 2 * a * (2 * kl + r) // 8)
    say("I7.10", per_token * 61, 61 * (kl + r) * 2)
    say("I7.11", expand / (tokens * keys) / (core - naive), kl * (n + v) / ((2 * kl + r) - (n + r + v)))
    # Kimi K2.
    kimi = Compiled("kimi-k2", "--batch=384", "--kv-len=9", "--set=L=2", nodes=True)
    held = parameters_of(kimi, "layers.0.")
    attention = sum(size for name, size in held.items() if any(word in name for word in ("q_a", "q_b", "kv_a", "kv_b", "o_proj")))
    latent = matrices(64) + norms
    say("I7.12", attention // 2, latent)
    whole = traces.compile_json("kimi-k2", "--dry-run", "--batch=1", "--kv-len=9")
    V, fe, X, k = 163840, 2048, 384, 8
    layer = lambda experts: latent + 2 * h + h * X + X + (experts + 1) * 3 * h * fe
    dense = latent + 2 * h + 3 * h * 18432
    say("I7.13", whole["parameters"], dense + 60 * layer(X) + 2 * V * h + h)
    say("I7.14", whole["active_parameters"], dense + 60 * layer(k) + 2 * V * h + h)
    say("I7.15", own(kimi, "attention") // (384 * 10), 2 * 64 * (2 * kl + r))
    # One of 64 ranks, and what it sends to experts.
    names = [name[:-4] for name in step.nodes if name.endswith(".fwd")]
    total = lambda words, scopes: sum(step.ops(name) for name in names if name.startswith(scopes) and any(name.endswith("." + w) for w in words))
    core = tokens * keys * 2 * a * (2 * kl + r)
    say("I7.20", total([*projections, "attention"], ("dense.", "layers.")), 61 * (tokens * 2 * matrices(a) + core))
    say("I7.21", total(["gate_up_proj", "down_proj"], "dense."), 3 * 6 * tokens * h * 18432)
    words = ["router", "gate_up_proj", "down_proj", "shared_gate_up_proj", "shared_down_proj"]
    say("I7.22", total(words, "layers."), 58 * tokens * (2 * h * 256 + 9 * 6 * h * 2048))
    say("I7.23", step.ops("output"), 2 * tokens * h * 129280)
    sums = 61 * (tokens * 2 * matrices(a) + core) + 3 * 6 * tokens * h * 18432 + 58 * tokens * (2 * h * 256 + 9 * 6 * h * 2048)
    say("I7.24", step.products, sums + 2 * tokens * h * 129280)
    say("I7.25", sum(step.bytes_of(name, "kv_cache") for name in names if name.endswith(".attention")), tokens * keys * 61 * (kl + r) * 2)
    low = Compiled("deepseek-v3", *plan, "--preset=deepep", nodes=True)
    bytes_of = lambda word: sum(node.attributes["comm_size"] for name, node in low.nodes.items() if name.endswith(f".{word}.fwd.all_to_all"))
    say("I7.26", bytes_of("dispatch"), 58 * tokens * 8 * (16 + h + 4 * h // 128))
    say("I7.27", bytes_of("combine"), 58 * tokens * 8 * 2 * h)


def windows():
    """Section 8: gpt-oss-120b, Mistral 7B and Llama 4."""
    a, g, d, W, s = 64, 8, 64, 128, 8192
    flags = ["gpt-oss-120b", "--batch=1", "--expert-rows=exact"]
    prefill = Compiled(*flags, "--mode=prefill", f"--seq={s}", nodes=True)
    cores = [node.attributes["num_ops"] for name, node in prefill.nodes.items() if name.endswith(".sinks.fwd")]
    least, most = min(cores), max(cores)
    say("I8.1", least // (4 * a * d), pairs(s, 0, W))
    say("I8.2", most // (4 * a * d), pairs(s, 0))
    say("I8.3", least, 4 * pairs(s, 0, W) * a * d)
    say("I8.4", most, 4 * pairs(s, 0) * a * d)
    say("I8.5", sum(cores), 18 * 4 * (pairs(s, 0, W) + pairs(s, 0)) * a * d)
    decode = Compiled(*flags, f"--kv-len={s - 1}", nodes=True)
    read = [decode.bytes_of(name[:-4], "kv_cache") for name in decode.nodes if name.endswith(".sinks.fwd")]
    say("I8.6", max(read) // s, 2 * g * d * 2)
    say("I8.7", decode.cache, 18 * (W + s) * 2 * g * d * 2)
    for number, name, window, batched in ("I8.13", "gpt-oss-120b", W, 8192), ("I8.14", "mistral-7b-v0.1", 4096, 2048):
        # A long request: full layers keep all of it, those with a window what is reserved.
        long, block = 32768, 16
        reserved = [f"--kv-window-room={batched}", f"--kv-block-size={block}"]
        one = Compiled(name, "--batch=1", f"--kv-len={long - 1}", *reserved)
        token = 2 * 8 * (d if name == "gpt-oss-120b" else 128) * 2
        full = 18 * token * long if name == "gpt-oss-120b" else 0
        layers = 18 if name == "gpt-oss-120b" else 32
        blocks = -(-min(window - 1 + batched, long) // block) + 1
        say(number, (one.cache - full) // (layers * token), blocks * block)
    cores = [node.attributes["num_ops"] for name, node in decode.nodes.items() if name.endswith(".sinks.fwd")]
    say("I8.8", sum(cores), 18 * 4 * (W + s) * a * d)
    model = str(Path(__file__).parent / "Inputs" / "chunks.mlir")
    sizes = [f"--set={k}={v}" for k, v in dict(D=64, H=40, K=8, E=128, F=64, V=64, L=1, W=8192).items()]
    for number, u, p in ("I8.9", 20000, 0), ("I8.10", 1000, 16000), ("I8.11", 1, 16000):
        one = Compiled(model, "--batch=1", "--mode=decode", f"--seq={u}", f"--kv-len={p}", *sizes, nodes=True)
        say(number, one.ops("layers.0.attention") // (4 * 40 * 128), pairs(u, p, chunk=8192))
    for number, u, p in ("I8.12", 2048, 6144), ("I8.15", 8192, 0):
        one = Compiled("mistral-7b-v0.1", "--batch=1", "--mode=decode", f"--seq={u}", f"--kv-len={p}", "--set=L=1", nodes=True)
        say(number, one.ops("layers.0.attention") // (4 * 32 * 128), pairs(u, p, 4096))


def recurrent():
    """Section 9: Nemotron-H 56B, Mamba-2, Mamba, and the layers of Qwen3.5-397B."""
    h, di, N, G, H, K, Q = 8192, 16384, 256, 8, 256, 4, 128
    flags = ["nemotron-h-56b", "--batch=1"]
    one = Compiled(*flags, "--kv-len=4095", nodes=True)
    scope = "periods.0.mamba2.0"
    own = lambda one, *names: one.ops(*(f"{scope}.{name}" for name in names))
    channels = di + 2 * G * N
    held = parameters_of(one, scope + ".")
    norm = held.pop(f"parameter/{scope}.mixer_norm")
    say("I9.1", sum(held.values()) // 2, h * (2 * di + 2 * G * N + H) + (K + 1) * channels + 3 * H + di + di * h)
    products = ["zx_proj", "dt_proj", "bc_proj", "out_proj"]
    say("I9.2", own(one, *products), 2 * h * (2 * di + 2 * G * N + H) + 2 * di * h)
    say("I9.3", own(one, "conv", "bc_conv"), 2 * K * channels)
    prompt = Compiled(*flags, "--mode=prefill", "--seq=1024", nodes=True)
    say("I9.4", own(prompt, "scan") // 1024, 2 * Q * N * G + 2 * Q * di + 4 * N * di)
    say("I9.5", own(one, "scan"), 4 * di * N)
    say("I9.6", one.bytes_of(f"{scope}.scan", "kv_cache"), di * N * 4)
    say("I9.7", sum(one.bytes_of(f"{scope}.{name}", "kv_cache") for name in ("conv", "bc_conv")), (K - 1) * channels * 2)
    longer = Compiled(*flags, "--kv-len=4096")
    say("I9.8", one.cache - 4096 * (longer.cache - one.cache), 54 * (di * N * 4 + (K - 1) * channels * 2))
    assert norm == h * 2
    mixer = h * (2 * di + 2 * G * N + H) + (K + 1) * channels + 3 * H + di + di * h
    attention = h * (64 + 16) * 128 + 64 * 128 * h
    say("I9.9", one.parameters, 54 * mixer + 10 * attention + 54 * 2 * h * 32768 + 118 * h + 2 * 131072 * h + h)
    # Over tp: Mamba-2 with one group, Nemotron-H with eight, Mamba.
    scope, t, di, N = "layers.0", 8, 5120, 128
    one = Compiled("mamba2-2.7b", "--batch=64", "--kv-len=4095", "--tp=8", nodes=True)
    state = one.bytes_of(f"{scope}.scan", "kv_cache") // 64
    conv = sum(one.bytes_of(f"{scope}.{name}", "kv_cache") for name in ("conv", "bc_conv")) // 64
    say("I9.10", conv // (3 * 2), di // t + 2 * N)
    say("I9.11", state, di // t * N * 4)
    say("I9.12", conv, (di // t + 2 * N) * 3 * 2)
    sums = sorted({node.attributes["comm_size"] for node in one.nodes.values() if node.type == "COMM_COLL" and node.kind == "all_reduce"})
    say("I9.13", sums[0], 64 * 4)
    say("I9.14", sums[1], 64 * 2560 * 2)
    scope, di, N = "periods.0.mamba2.0", 16384, 256
    one = Compiled(*flags, "--kv-len=4095", "--tp=8", nodes=True)
    conv = sum(one.bytes_of(f"{scope}.{name}", "kv_cache") for name in ("conv", "bc_conv"))
    say("I9.15", conv // (3 * 2), (di + 2 * G * N) // t)
    say("I9.16", one.bytes_of(f"{scope}.scan", "kv_cache") + conv, di // t * N * 4 + (di + 2 * G * N) // t * 3 * 2)
    one = Compiled("nemotron-h-56b", "--batch=64", "--kv-len=4095", "--tp=16", "--cut-norms=gather", nodes=True)
    gathered = {node.attributes["comm_size"] for node in one.nodes.values()
                if node.type == "COMM_COLL" and node.kind == "all_gather" and "gate_norm" in node.name}
    say("I9.17", *gathered, 64 * 16384 // 16 * 4)
    scope, di, N, R = "layers.0", 5120, 16, 160
    one = Compiled("mamba-2.8b", "--batch=64", "--kv-len=4095", "--tp=4", nodes=True)
    sums = sorted({node.attributes["comm_size"] for node in one.nodes.values() if node.type == "COMM_COLL" and node.kind == "all_reduce"})
    say("I9.18", sums[0], 64 * (R + 2 * N) * 2)
    one = Compiled("mamba-2.8b", "--batch=1", "--kv-len=100", nodes=True)
    say("I9.19", one.ops("layers.0.scan"), 7 * di * N)
    # Gated DeltaNet and gated attention.
    h, Hk, Hv, D, C = 4096, 16, 64, 128, 64
    sizes = ["--set=D=4096", "--set=LV=64", "--set=H=32", "--set=L=60"]
    scope, qk, v = "periods.0.delta.0", Hk * D, Hv * D
    one = Compiled("qwen3-next-80b-a3b", *sizes, "--batch=1", "--kv-len=4095", nodes=True)
    prompt = Compiled("qwen3-next-80b-a3b", *sizes, "--set=L=4", "--batch=1", "--mode=prefill", "--seq=1024", nodes=True)
    held = parameters_of(one, scope + ".")
    mixer = sum(size for name, size in held.items() if not any(word in name for word in ("mixer_norm", "ffn_norm", "router", "gate_up", "down_proj", "shared")))
    say("I9.20", mixer // 2, h * (2 * qk + 2 * v + 2 * Hv) + 4 * (2 * qk + v) + 2 * Hv + D + v * h)
    say("I9.21", own(one, "qk_proj", "vz_proj", "ba_proj", "out_proj"), 2 * (h * (2 * qk + 2 * v + 2 * Hv) + v * h))
    say("I9.22", own(one, "qk_conv", "v_conv"), 2 * 4 * (2 * qk + v))
    say("I9.23", own(one, "delta_rule"), 6 * D * D * Hv)
    chunk = 6 * C * C * D + 4 * C * C * D + 6 * C * D * D
    solve = (C - 1) * C * (2 * C - 1) // 3
    say("I9.24", own(prompt, "delta_rule") // 1024, Hv * (chunk + solve) // C)
    say("I9.25", own(prompt, "delta_rule") // 1024 - Hv * solve // C, Hv * chunk // C)
    say("I9.26", one.bytes_of(f"{scope}.delta_rule", "kv_cache"), Hv * D * D * 4)
    conv = sum(one.bytes_of(f"{scope}.{name}", "kv_cache") for name in ("qk_conv", "v_conv"))
    say("I9.27", conv, 3 * (2 * qk + v) * 2)
    longer = Compiled("qwen3-next-80b-a3b", *sizes, "--batch=1", "--kv-len=4096")
    token = longer.cache - one.cache
    states = one.cache - 4096 * token
    say("I9.28", states, 45 * (Hv * D * D * 4 + 3 * (2 * qk + v) * 2))
    say("I9.30", token, 15 * 2 * 2 * 256 * 2)
    held = parameters_of(one, "periods.0.attention.0.")
    attention = sum(size for name, size in held.items() if any(word in name for word in ("qkv_proj", "q_norm", "k_norm", "o_proj")))
    say("I9.31", attention // 2, h * (2 * 32 + 2 * 2) * 256 + 32 * 256 * h + 2 * 256)
    say("I9.32", round(states / token), round(45 * (Hv * D * D * 4 + 3 * (2 * qk + v) * 2) / (15 * 2 * 2 * 256 * 2)))


def encoders():
    """Section 10: Whisper large v3, ViT-L/16 and DiT-XL/2, forward."""
    h, L, s = 1280, 32, 1500
    one = Compiled("whisper-large-v3", "--batch=1", nodes=True)
    fixed = one.bytes_of("encoder.embeddings", "parameter") // 2
    positions = s * h
    convs = 128 * h * 3 + h + h * h * 3 + h
    trained = convs + L * (12 * h * h + 12 * h) + L * (16 * h * h + 17 * h) + 2 * 2 * h + 51866 * h + 448 * h
    say("I10.1", one.parameters - fixed, trained)
    say("I10.2", one.parameters, trained + positions)
    say("I10.3", sum(parameters_of(one, "encoder.0.").values()) // 2, 12 * h * h + 12 * h)
    say("I10.4", sum(parameters_of(one, "decoder.0.").values()) // 2, 16 * h * h + 17 * h)
    total = lambda one, scope, words: sum(node.attributes["num_ops"] for name, node in one.nodes.items()
                                          if name.startswith(scope) and any(name.endswith(f".{word}.fwd") for word in words))
    products = ["qkv_proj", "attention", "o_proj", "fc1", "fc2"]
    say("I10.8", total(one, "encoder.", products), L * (24 * s * h * h + 4 * s * s * h))
    say("I10.5", total(one, "decoder.", ["cross_kv_proj"]), L * 2 * s * h * 2 * h)
    kept = sum(size for name, node in one.nodes.items() if name.endswith("cross_kv_proj.fwd") for _, size in node.tensors("outputs"))
    say("I10.6", kept, L * 2 * s * h * 2)
    cross = total(one, "decoder.", ["cross_q_proj", "cross_attention", "cross_o_proj"])
    say("I10.7", cross // 448, L * (4 * h * h + 4 * s * h))
    # A token after 99 others; keys and values of the frames are there.
    step = Compiled("whisper-large-v3", "--batch=1", "--kv-len=99")
    decoder = L * (8 * h * h + 4 * 100 * h + 4 * h * h + 4 * s * h + 16 * h * h)
    say("I10.9", step.products, decoder + 2 * h * 51866)
    # Images of 224 by 224 in patches of 16 by 16, and a class token.
    h, L, P, N = 1024, 24, 16, 196
    one = Compiled("vit-l-16", "--batch=1", nodes=True)
    T = one.nodes["embeddings.fwd"].tensors("outputs")[0][1] // (2 * h)
    say("I10.13", T, N + 1)
    body = 3 * P * P * h + h + h + (N + 1) * h + L * (12 * h * h + 13 * h) + 2 * h
    say("I10.10", one.parameters, body + h * 1000 + 1000)
    core = L * 4 * (N + 1) ** 2 * h
    operations = 2 * N * 3 * P * P * h + L * 24 * (N + 1) * h * h + core + 2 * h * 1000
    say("I10.11", one.forward, operations)
    say("I10.12", one.forward / 2e9, operations / 2e9)
    say("I10.14", (one.forward - total(one, "layers.", ["attention"])) / 2e9, (operations - core) / 2e9)
    # Latents of 32 by 32 in patches of 2 by 2, with their timestep and class.
    h, L, N = 1152, 28, 256
    one = Compiled("dit-xl-2", "--batch=1", nodes=True)
    block, work = 18 * h * h + 15 * h, 24 * N * h * h + 4 * N * N * h + 12 * h * h
    outside = 16 * h + h + (256 * h + h + h * h + h) + 1001 * h + (2 * h * h + 2 * h) + (h * 32 + 32)
    say("I10.20", one.parameters, L * block + outside)
    say("I10.23", sum(parameters_of(one, "layers.0.").values()) // 2, block)
    words = ["modulation", "qkv_proj", "attention", "o_proj", "fc1", "fc2"]
    say("I10.24", total(one, "layers.0.", words), work)
    rest = 2 * N * 16 * h + 2 * (256 * h + h * h) + 2 * 2 * h * h + 2 * N * h * 32
    say("I10.21", one.forward, L * work + rest)
    say("I10.22", one.forward / 2e9, (L * work + rest) / 2e9)


def sent(model, prefill, decode, *flags):
    """Bytes and messages of caches, (from, to), between ranks of two plans."""
    with tempfile.TemporaryDirectory() as folder:
        for name, plan in ("prefill", prefill), ("decode", decode):
            (Path(folder) / f"{name}.json").write_text(json.dumps(plan))
        plans = [f"--{name}-strategy={folder}/{name}.json" for name in ("prefill", "decode")]
        summary = traces.compile_json(model, "--dry-run", *plans, *flags)
    found = {}
    for entry in summary["classes"]:
        for m in entry.get("messages", []):
            if m["phase"] == "transfer" and m["kind"] == "send":
                found[entry["first_rank"], entry["first_rank"] + m["shift"]] = (m["count"], m["bytes"])
    return found


def disaggregated():
    """Section 11: what is sent from ranks of prefill to ranks of decoding."""
    tokens = lambda model, *flags: Compiled(model, "--batch=1", "--kv-len=127", *flags)
    say("I11.1", tokens("qwen3-8b").cache // 128, 36 * 2 * 8 * 128 * 2)
    say("I11.2", tokens("qwen3-235b-a22b").cache // 128, 94 * 2 * 4 * 128 * 2)
    blocks = {n: Compiled("qwen3-8b", "--batch=1", f"--kv-len={n}", "--kv-block-size=16").cache for n in (128, 32768)}
    say("I11.3", blocks[128], (128 // 16 + 1) * 16 * 147456)
    say("I11.4", blocks[128] / 2**20, 9 * 16 * 147456 / 2**20)
    say("I11.5", blocks[32768], (32768 // 16 + 1) * 16 * 147456)
    replicated = tokens("qwen3-235b-a22b", "--tp=8")
    total = lambda one: sum(entry["ranks"] * entry["memory"]["persistent_bytes"]["kv_cache"] for entry in one.summary["classes"])
    say("I11.6", total(replicated) // 128, 94 * 2 * 8 * 128 * 2)
    say("I11.7", total(Compiled("qwen3-235b-a22b", "--batch=1", "--kv-len=32767", "--tp=8")), 32768 * 94 * 2 * 8 * 128 * 2)
    # The token that a prompt has generated is sent, too: a message of four bytes.
    found = sent("llama3-70b", {"tp": 4}, {"tp": 8}, "--batch=1", "--seq=4096")
    token = 80 * 2 * 8 * 128 * 2
    caches = {pair: size - 4 * (count - 80) for pair, (count, size) in found.items()}
    say("I11.8", sum(caches.values()), 4096 * token)
    say("I11.9", sum(size for (here, _), size in caches.items() if here == 0), 4096 * token // 4)
    say("I11.10", sum(size for (_, there), size in caches.items() if there == 4), 4096 * token // 8)
    say("I11.11", caches[0, 4] // 80, 4096 * token // 8 // 80)
    say("I11.14", caches[0, 4] / 50e6, 4096 * token / 8 / 50e6)
    found = sent("deepseek-v3", {"tp": 1}, {"tp": 8}, "--batch=1", "--seq=4096")
    sizes = [size - 4 * (count - 61) for count, size in found.values()]
    say("I11.12", min(sizes), 4096 * 61 * 576 * 2)
    say("I11.13", sum(sizes), 8 * 4096 * 61 * 576 * 2)


def memory():
    """Section 12: blocks of a cache, and how many requests there is room for."""
    block = lambda model, *flags: Compiled(model, "--batch=1", "--kv-len=15", *flags)
    small, large = block("llama3.1-8b"), block("llama3-70b", "--tp=8")
    token = 32 * 2 * 8 * 128 * 2
    say("I12.1", small.cache, 16 * token)
    weights = lambda m, t: 2 * (m.L * (m.h * (m.a + 2 * m.g) * m.d // t + m.a * m.d * m.h // t + 3 * m.h * m.f // t + 2 * m.h) + 2 * m.V * m.h // t + m.h)
    # So many blocks were there on a device of 25,250,627,584 bytes, of which 0.9 was used.
    cache = Compiled("llama3.1-8b", "--batch=1", f"--kv-len={2588 * 16 - 1}").cache
    say("I12.2", cache // token, 2588 * 16)
    say("I12.3", cache, 2588 * 16 * token)
    say("I12.5", small.held(), weights(LLAMA3_8B, 1))
    used = int(0.9 * 25250627584)
    say("I12.6", used - small.held() - cache, used - weights(LLAMA3_8B, 1) - 2588 * 16 * token)
    # 70B on eight devices of 80 GiB: 0.9 of each without 4 GiB.
    say("I12.7", large.held(), weights(LLAMA3_70B, 8))
    limit = 9 * 80 * 2**30 // 10 - 4 * 2**30
    available = limit - weights(LLAMA3_70B, 8)
    say("I12.8", limit - large.held(), available)
    say("I12.9", large.cache, 16 * 40960)
    say("I12.10", (limit - large.held()) // large.cache, available // (16 * 40960))

    def room(*flags):
        """Requests of 4,100 tokens where that is left for caches."""
        plan = ["llama3-70b", "--tp=8", "--batch=1", "--kv-len=4099", *flags]
        one = Compiled(*plan)
        rest = one.entry["memory"]["peak_bytes"]["total"] - one.cache
        summary = traces.compile_json(*plan, "--dry-run", f"--memory-limit={(available + rest) / 2**30!r}")
        return summary["cache_room_requests"], one.cache

    requests, blocks = room("--kv-block-size=16")
    say("I12.11", requests, available // (16 * 40960) // -(-4100 // 16))
    plain, exact = room()
    say("I12.12", (blocks - exact) // 40960, -4100 % 16)
    say("I12.13", plain, available // (4100 * 40960))


# Those that a compiler does not print, by what would have to be there.
LEFT = {
    "engines.test compares it: pairs of a value and its index, caches that are divided or of several types": [
        "I2.1", "I3.1", "I3.2", "I3.3", "I3.4", "I3.5", "I3.6", "I3.7", "I3.8", "I3.9", "I3.10", "I7.7"],
    "buffers of a library of communication are not part of a step": ["I4.8"],
    "EstimateTest.cpp and inference.test compare them: ranks and nodes that a token is sent to once, which is a part of a row": [
        "I4.9", "I4.10", "I4.11", "I4.12"],
    "it is another count of what I9.24 counts": ["I9.29"],
    "it is a share of a device, without a model": ["I12.4"],
}


def left():
    """Each number is said above, or left out with a reason."""
    global FAILED
    out = [number for numbers in LEFT.values() for number in numbers]
    wrong = (set(KNOWN) ^ (SAID | set(out))) | (SAID & set(out)) | {n for n in out if out.count(n) > 1}
    if wrong:
        FAILED = True
        print(f"neither compared nor left out, or both: {sorted(wrong)}")
    print(f"{len(SAID)} of {len(KNOWN)} numbers")
    page = (Path(__file__).parents[2] / "docs" / "Rationale" / "Inference.md").read_text()
    if f"{len(SAID)} of {len(KNOWN)} worked" not in page.replace("\n", " "):
        FAILED = True
        print("docs/Rationale/Inference.md has another count")
    for reason, numbers in LEFT.items():
        print(f"left out: {reason}: {', '.join(numbers)}")
        if f"| {reason} | {', '.join(numbers)} |" not in page:
            FAILED = True
            print("which docs/Rationale/Inference.md does not say")


for name in sys.argv[1:]:
    globals()[name]()
sys.exit(FAILED)
