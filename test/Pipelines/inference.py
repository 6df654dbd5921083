"""Compares steps of inference with closed forms, and with numbers that are known.

A step is a list of requests (u new tokens, p cached ones). What follows from that is computed here
from the sizes of the models, in other terms than the compiler does it.

Usage: inference.py {decode|prefill|replicas|ragged|verify|chunks|context|budget|experts|memory}...
"""

import sys
from collections import namedtuple

import traces

Model = namedtuple("Model", "name L h a g d f V")
LLAMA3_8B = Model("llama3-8b", 32, 4096, 32, 8, 128, 14336, 128256)
LLAMA3_70B = Model("llama3-70b", 80, 8192, 64, 8, 128, 28672, 128256)
LLAMA31_405B = Model("llama3.1-405b", 126, 16384, 128, 8, 128, 53248, 128256)
FAILED = False


def equal(what, found, want):
    """Reports a difference."""
    global FAILED
    if found != want:
        FAILED = True
        print(f"{what}: found {found}, expected {want}")


class Step:
    """What one rank of t does in a step, by closed forms."""

    def __init__(self, model, requests, t=1, logits=1, full=False):
        m, self.model, self.t = model, model, t
        self.tokens = sum(u for u, p in requests)
        self.cached = sum(u + p for u, p in requests)
        self.rows = sum(logits if isinstance(logits, int) else u for u, p in requests)
        self.heads = max(1, m.g // t)
        pairs = sum(u * (p + u) if full else u * p + u * (u + 1) // 2 for u, p in requests)
        qkv = 2 * self.tokens * m.h * (m.a // t + 2 * self.heads) * m.d
        out = 2 * self.tokens * (m.a // t) * m.d * m.h
        self.projections = qkv + out
        self.core = 4 * pairs * (m.a // t) * m.d
        self.mlp = 6 * self.tokens * m.h * (m.f // t)
        self.head = 2 * self.rows * m.h * (m.V // t)

    def operations(self, head=True):
        return self.model.L * (self.projections + self.core + self.mlp) + head * self.head

    def per_token(self, size=2):
        """Bytes that are kept of a token."""
        return self.model.L * 2 * self.heads * self.model.d * size

    def parameters(self):
        m = self.model
        layer = m.h * (m.a // self.t + 2 * self.heads) * m.d + m.a // self.t * m.d * m.h
        return m.L * (layer + 3 * m.h * m.f // self.t + 2 * m.h) + 2 * m.V // self.t * m.h + m.h


def compile_step(model, *flags):
    """The summary of one class of ranks."""
    summary = traces.compile_json(model.name, "--dry-run", *flags)
    (entry,) = summary["classes"]
    return entry


def products(entry):
    return sum(entry["matrix_operations_by_phase"].values())


def collectives(entry):
    return [(c["kind"], c["axes"], c["phase"], c["count"], c["bytes"]) for c in entry["collectives"]]


def check(what, entry, step, size=2, parameters=2):
    """All that the forms say."""
    m, t = step.model, step.t
    equal(f"{what}: operations", products(entry), step.operations())
    equal(f"{what}: phases", list(entry["matrix_operations_by_phase"]), ["fwd"])
    want = []
    if t > 1:
        want = [("all_reduce", 1 + 2 * m.L, (1 + 2 * m.L) * step.tokens * m.h * 2), ("all_gather", 1, step.rows * m.V // t * 2)]
    # Replicated heads have two axes.
    found = [(kind, count, size) for kind, _, phase, count, size in collectives(entry) if phase == "fwd"]
    equal(f"{what}: collectives", found, want)
    persistent = entry["memory"]["persistent_bytes"]
    equal(f"{what}: cache", persistent["kv_cache"], step.cached * step.per_token(size))
    equal(f"{what}: parameters", persistent["parameter"], step.parameters() * parameters)
    equal(f"{what}: states", set(persistent), {"total", "parameter", "kv_cache", "input"})


def decode():
    step = Step(LLAMA3_70B, [(1, 4095)] * 64, t=8)
    equal("projections", step.projections, 2415919104)
    equal("core", step.core, 1073741824)
    equal("MLP", step.mlp, 11274289152)
    equal("head", step.head, 16810770432)
    equal("operations", step.operations(), 1197926776832)
    equal("cache per token", step.per_token(), 40960)
    equal("cache", step.cached * step.per_token(), 10737418240)
    flags = ["--tp=8", "--batch=64", "--kv-len=4095"]
    entry = compile_step(LLAMA3_70B, *flags)
    check("decode", entry, step)
    equal("decode: all", collectives(entry), [("all_reduce", ["tp"], "fwd", 161, 161 * 1048576), ("all_gather", ["tp"], "fwd", 1, 2052096)])
    # Weights that are read: all but the table, of which rows are.
    table = LLAMA3_70B.V // 8 * LLAMA3_70B.h * 2
    equal("decode: weights", entry["memory"]["persistent_bytes"]["parameter"] - table, 17378066432)
    # A query sees all keys there are: no rectangle is larger.
    check("decode, full", compile_step(LLAMA3_70B, *flags, "--attention-count=full"), step)
    check("decode, f8", compile_step(LLAMA3_70B, *flags, "--kv-dtype=f8E4M3FN"), step, size=1)
    check("decode, said", compile_step(LLAMA3_70B, *flags, "--mode=decode", "--seq=1", "--logits=all"), step)
    halves = compile_step(LLAMA3_70B, *flags, "--dp=2")
    check("decode, dp", halves, Step(LLAMA3_70B, [(1, 4095)] * 32, t=8))


def prefill():
    step = Step(LLAMA3_8B, [(8192, 0)])
    equal("projections", step.projections, 687194767360)
    equal("core", step.core, 549822922752)
    equal("MLP", step.mlp, 2886218022912)
    equal("operations", step.operations(), 131944593489920)
    check("prefill", compile_step(LLAMA3_8B, "--mode=prefill", "--batch=1"), step)
    everything = Step(LLAMA3_8B, [(8192, 0)], logits="all")
    equal("all rows", everything.operations(), 140550657277952)
    check("all rows", compile_step(LLAMA3_8B, "--mode=prefill", "--batch=1", "--logits=all"), everything)
    square = Step(LLAMA3_8B, [(8192, 0)], full=True)
    equal("square", square.core, 1099511627776)
    check("square", compile_step(LLAMA3_8B, "--mode=prefill", "--batch=1", "--attention-count=full"), square)
    entry = compile_step(LLAMA3_8B, "--mode=prefill", "--batch=1", "--tp=4")
    check("tp", entry, Step(LLAMA3_8B, [(8192, 0)], t=4))
    equal("tp: all", collectives(entry), [("all_reduce", ["tp"], "fwd", 65, 65 * 67108864), ("all_gather", ["tp"], "fwd", 1, 64128)])
    long = Step(LLAMA31_405B, [(128000, 0)])
    equal("405B", long.operations(), 170467784663236608)
    check("405B", compile_step(LLAMA31_405B, "--mode=prefill", "--batch=1", "--seq=128000"), long)


def replicas():
    step = Step(LLAMA3_70B, [(1, 4095)] * 64, t=16)
    equal("cache per token", step.per_token(), 40960)
    layer = step.parameters() - 2 * LLAMA3_70B.V // 16 * LLAMA3_70B.h - LLAMA3_70B.h
    equal("matrices of a layer", layer // 80 - 2 * LLAMA3_70B.h, 54525952)
    check("replicas", compile_step(LLAMA3_70B, "--tp=16", "--batch=64", "--kv-len=4095"), step)


def ragged():
    requests = [(1, 4095), (1, 100), (512, 0), (1024, 2048)]
    step = Step(LLAMA3_8B, requests)
    equal("tokens", step.tokens, 1538)
    equal("pairs", step.core // (4 * 32 * 128), 2757477)
    equal("operations", step.operations(), 22918308823040)
    text = ",".join(f"({u},{p})" for u, p in requests)
    check("ragged", compile_step(LLAMA3_8B, f"--requests={text}"), step)
    check("ragged, full", compile_step(LLAMA3_8B, f"--requests={text}", "--attention-count=full"), Step(LLAMA3_8B, requests, full=True))
    check("ragged, tp", compile_step(LLAMA3_8B, f"--requests={text}", "--tp=8"), Step(LLAMA3_8B, requests, t=8))
    # A row for each data-parallel rank, so each executes that.
    check("ragged, dp", compile_step(LLAMA3_8B, f"--requests={text}", "--dp=4"), step)
    # Equal requests in one row are the same as in rows of their own.
    check("equal", compile_step(LLAMA3_70B, "--requests=64*(1,4095)", "--tp=8"), Step(LLAMA3_70B, [(1, 4095)] * 64, t=8))


def verify():
    step = Step(LLAMA3_70B, [(5, 4091)] * 64, t=8, logits="all")
    equal("pairs", step.core // (4 * 8 * 128 * 64), 20470)
    equal("operations", step.operations(), 5989424168960)
    plain = Step(LLAMA3_70B, [(1, 4091)] * 64, t=8)
    equal("plain", plain.operations(), 1197842890752)
    check("plain", compile_step(LLAMA3_70B, "--tp=8", "--batch=64", "--kv-len=4091"), plain)
    flags = ["--tp=8", "--batch=64", "--kv-len=4091", "--seq=5", "--logits=all"]
    entry = compile_step(LLAMA3_70B, *flags)
    check("verify", entry, step)
    equal("verify: all", collectives(entry), [("all_reduce", ["tp"], "fwd", 161, 161 * 5242880), ("all_gather", ["tp"], "fwd", 1, 10260480)])
    check("packed", compile_step(LLAMA3_70B, "--tp=8", "--requests=64*(5,4091,5)"), step)


def chunks():
    size, whole = 2048, Step(LLAMA3_8B, [(16384, 0)])
    parts = []
    for i in range(8):
        entry = compile_step(LLAMA3_8B, "--mode=prefill", "--batch=1", f"--seq={size}", f"--kv-len={i * size}")
        step = Step(LLAMA3_8B, [(size, i * size)])
        check(f"chunk {i}", entry, step)
        parts.append(products(entry) - step.head)
    equal("first", parts[0], 29687350820864)
    equal("last", parts[7], 45080513609728)
    equal("sum", sum(parts), 299071457722368)
    equal("whole", whole.operations(head=False), 299071457722368)
    one = compile_step(LLAMA3_8B, "--mode=prefill", "--batch=1", "--seq=16384")
    equal("one shot", products(one) - whole.head, sum(parts))


def context():
    """A chunk whose tokens are divided, and each rank keeps its share: together what one does."""
    step = Step(LLAMA3_8B, [(2048, 6144)])
    for exchange in ("all_gather", "p2p", "a2a"):
        entry = compile_step(LLAMA3_8B, "--mode=prefill", "--batch=1", "--seq=2048", "--kv-len=6144", "--cp=4", f"--cp-comm-type={exchange}")
        equal(f"{exchange}: operations", products(entry), step.operations(head=False) // 4 + step.head)
        equal(f"{exchange}: cache", entry["memory"]["persistent_bytes"]["kv_cache"], step.cached * step.per_token() // 4)


def budget():
    requests = [(1, 1000)] * 100 + [(1948, 0)]
    step = Step(LLAMA3_8B, requests)
    equal("operations", step.operations(), 29741171081216)
    check("budget", compile_step(LLAMA3_8B, "--requests=100*(1,1000),(1948,0)"), step)


def experts():
    summary = traces.compile_json("mixtral-8x7b", "--dry-run", "--tp=8", "--batch=64", "--kv-len=4095")
    (entry,) = summary["classes"]
    # The rows of both experts of a token are summed over tp before they are combined.
    reduced = (33 + 2 * 32) * 524288
    equal("experts", collectives(entry), [("all_reduce", ["tp"], "fwd", 65, reduced), ("all_gather", ["tp"], "fwd", 1, 64 * 32000 // 8 * 2)])
    tokens, h, f, t = 64, 4096, 14336, 8
    layer = 2 * tokens * h * (32 // t + 2) * 128 + 2 * tokens * 32 // t * 128 * h + 4 * tokens * 4096 * 32 // t * 128
    layer += 2 * tokens * h * 8 + 2 * 6 * tokens * h * f // t
    equal("experts: operations", products(entry), 32 * layer + 2 * tokens * h * 32000 // t)


def memory():
    """Blocks of 16 tokens of 32 layers with 8 heads; weights of the same model."""
    entry = compile_step(LLAMA3_8B, "--batch=1", "--kv-len=15")
    equal("block", entry["memory"]["persistent_bytes"]["kv_cache"], 2097152)
    equal("weights", entry["memory"]["persistent_bytes"]["parameter"], 16060522496)
    entry = compile_step(LLAMA3_70B, "--batch=1", "--kv-len=15", "--tp=8")
    equal("block, tp", entry["memory"]["persistent_bytes"]["kv_cache"], 655360)
    equal("weights, tp", entry["memory"]["persistent_bytes"]["parameter"], 17640734720)
    # What forward makes nobody saves.
    equal("activations", "activation" in entry["memory"]["largest_bytes"], False)


for name in sys.argv[1:]:
    globals()[name]()
sys.exit(FAILED)
