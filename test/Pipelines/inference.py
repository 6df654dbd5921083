"""Compares steps of inference with closed forms, and with numbers that are known.

A step is a list of requests (u new tokens, p cached ones). What follows from that is computed here
from the sizes of the models, in other terms than the compiler does it.

Usage: inference.py {decode|prefill|replicas|ragged|verify|chunks|context|budget|experts|memory|groups|windows|latents|filled|relative}...
"""

import math
import sys
from collections import namedtuple
from fractions import Fraction
from pathlib import Path

import comparing
import traces
from comparing import compile_one, equal

Model = namedtuple("Model", "name L h a g d f V")
LLAMA3_8B = Model("llama3-8b", 32, 4096, 32, 8, 128, 14336, 128256)
LLAMA3_70B = Model("llama3-70b", 80, 8192, 64, 8, 128, 28672, 128256)
LLAMA31_405B = Model("llama3.1-405b", 126, 16384, 128, 8, 128, 53248, 128256)


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
    return compile_one(model.name, *flags)


def products(entry):
    return sum(entry["matrix_operations_by_phase"].values())


def collectives(entry):
    return [(c["kind"], c["axes"], c["phase"], c["count"], c["bytes"]) for c in entry["collectives"]]


def exchanges(entry):
    """The rows of experts; the correction of a router is gathered, too."""
    return [c for c in collectives(entry) if c[0] == "all_to_all"]


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
    # What both experts of a token made is combined before it is summed over tp.
    reduced = 65 * 524288
    equal("experts", collectives(entry), [("all_reduce", ["tp"], "fwd", 65, reduced), ("all_gather", ["tp"], "fwd", 1, 64 * 32000 // 8 * 2)])
    tokens, h, f, t = 64, 4096, 14336, 8
    layer = 2 * tokens * h * (32 // t + 2) * 128 + 2 * tokens * 32 // t * 128 * h + 4 * tokens * 4096 * 32 // t * 128
    layer += 2 * tokens * h * 8 + 2 * 6 * tokens * h * f // t
    equal("experts: operations", products(entry), 32 * layer + 2 * tokens * h * 32000 // t)
    hits()


def nearest(value):
    return math.floor(value + Fraction(1, 2))


def hits():
    """Experts that few tokens are expected to hit; of many tokens, and in training, all are read."""
    def traffic(*flags):
        (entry,) = traces.compile_json("mixtral-8x7b", "--dry-run", *flags)["classes"]
        return entry["memory_traffic_bytes"]

    h, f, X, k = 4096, 14336, 8, 2
    for flags, ranks, tokens in [(["--batch=4"], 1, 4), (["--batch=8", "--dp=4", "--ep=4"], 4, 8), (["--batch=8", "--dp=4"], 1, 2)]:
        flags = [*flags, "--kv-len=4095"]
        part = 1 - Fraction(X - k, X) ** tokens
        whole = [X // ranks * h * f * 2 * times for times in (2, 1)]
        # Two tokens of two experts each have no more than half of the experts.
        rows = min(Fraction(1), Fraction(tokens * k, X))
        saved = sum(size * rows - nearest(size * part) for size in whole)
        read = traces.compile_json("mixtral-8x7b", "--dry-run", *flags)["experts_read"]
        equal(f"experts of {tokens} tokens", read, [{"held": X // ranks, "read": nearest(X // ranks * part)}])
        equal(f"experts that {tokens} tokens hit", traffic(*flags, "--expert-hits=all") - traffic(*flags), 32 * saved)
    # Replicas are chosen among like other experts.
    for more, tokens in (4, 8), (8, 4), (4, 32):
        flags = [f"--batch={tokens}", "--dp=4", "--ep=4", "--kv-len=4095", f"--redundant-experts={more}"]
        held, all_experts = (X + more) // 4, X + more
        part = 1 - Fraction(all_experts - k, all_experts) ** tokens
        read = traces.compile_json("mixtral-8x7b", "--dry-run", *flags)["experts_read"]
        equal(f"{more} replicas, {tokens} tokens", read, [{"held": held, "read": nearest(held * part)}])
        row = f"experts read    {nearest(held * part)} of {held} on a rank, expected of a layer"
        equal(f"{more} replicas: row", row in traces.run("stg-compile", "mixtral-8x7b", "--dry-run", *flags), True)
    for flags in ["--mode=prefill", "--batch=1", "--seq=8192"], ["--batch=256", "--kv-len=15"]:
        equal("all experts", traffic(*flags), traffic(*flags, "--expert-hits=all"))
    # Buffers with whole rows, of which each expert has one here, are all multiplied.
    flags = ["--batch=4", "--kv-len=4095"]
    equal("padded", traffic(*flags, "--expert-rows=padded"), traffic(*flags, "--expert-hits=all"))


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


def groups():
    """Attention of groups with 16 requests each, before and after a feed-forward of 8 ranks."""
    flags = ["--set=D=7168", "--preset=sglang", "--kv-len=4095"]
    entry = compile_step(LLAMA3_8B, *flags, "--dp=8", "--batch=128")
    whole = 8 * 229376
    equal("whole", whole, 1835008)
    equal("groups", collectives(entry), [("all_gather", ["dp"], "fwd", 32, 32 * 229376), ("reduce_scatter", ["dp"], "fwd", 32, 32 * whole)])
    # With two ranks of a group each gives half of its requests.
    entry = compile_step(LLAMA3_8B, *flags, "--dp=4", "--tp=2", "--batch=64", "--sequence-parallel")
    parts = [("all_gather", ["tp", "dp"], "fwd", 32, 32 * 114688), ("reduce_scatter", ["tp", "dp"], "fwd", 32, 32 * 8 * 114688)]
    equal("two ranks", [c for c in collectives(entry) if c[1] == ["tp", "dp"]], parts)


def count_pairs(u, p, window=None, chunk=None):
    """Row by row: what each new token sees."""
    if window:
        return sum(min(i, window) for i in range(p + 1, p + u + 1))
    return sum(i % chunk + 1 for i in range(p, p + u)) if chunk else u * p + u * (u + 1) // 2


def windows():
    """Layers with a window and layers without, in turns, as gpt-oss-120b and Mistral have them."""
    Sizes = namedtuple("Sizes", "L h a g d f V")
    m, W = Sizes(36, 2880, 64, 8, 64, 2880, 201088), 128
    flags = [f"--set={k}={v}" for k, v in dict(D=m.h, H=m.a, K=m.g, E=m.d, F=m.f, V=m.V, N=1, L=18, W=W, rest="false").items()]

    def check_step(what, requests, window, *more):
        entry = traces.compile_json("gemma-3-1b", "--dry-run", "--batch=1", *flags, *more)["classes"][0]
        T = sum(u for u, p in requests)
        layer = 2 * T * m.h * (m.a + 2 * m.g) * m.d + 2 * T * m.a * m.d * m.h + 6 * T * m.h * m.f
        head = 2 * len(requests) * m.h * m.V
        own = sum(count_pairs(u, p, window) for u, p in requests)
        whole = sum(count_pairs(u, p) for u, p in requests)
        equal(f"{what}: core", products(entry) - m.L * layer - head, 18 * 4 * (own + whole) * m.a * m.d)
        kept = sum(min(u + p, window) + u + p for u, p in requests)
        equal(f"{what}: cache", entry["memory"]["persistent_bytes"]["kv_cache"], 18 * kept * 2 * m.g * m.d * 2)
        return 4 * own * m.a * m.d, 4 * whole * m.a * m.d, entry

    equal("pairs", (count_pairs(8192, 0, W), count_pairs(8192, 0)), (1040448, 33558528))
    own, whole, _ = check_step("prefill", [(8192, 0)], W, "--mode=prefill", "--seq=8192")
    equal("prefill", (own, whole, 18 * (own + whole)), (17046700032, 549822922752, 10203653210112))
    own, whole, entry = check_step("decode", [(1, 8191)], W, "--kv-len=8191")
    equal("decode", 18 * (own + whole), 2453667840)
    equal("decode: ring", entry["memory"]["persistent_bytes"]["kv_cache"], 306708480)
    equal("per token", 2 * m.g * m.d * 2, 2048)
    equal("steady", count_pairs(2048, 6144, 4096), 8388608)
    equal("Mistral", count_pairs(8192, 0, 4096), 25167872)
    check_step("steady", [(2048, 6144)], 4096, "--seq=2048", "--kv-len=6144", "--set=W=4096")
    check_step("ragged", [(9, 20), (1, 127), (1, 128), (300, 0), (300, 5000)], W, "--requests=(9,20),(1,127),(1,128),(300,0),(300,5000)")
    # A ring of whole blocks, and of tokens that are in it.
    entry = check_step("blocks", [(1, 8191)], W, "--kv-len=8191", "--kv-block-size=128")[2]
    entry = traces.compile_json("gemma-3-1b", "--dry-run", "--batch=1", *flags, "--kv-len=99", "--kv-block-size=16")["classes"][0]
    equal("part of a block", entry["memory"]["persistent_bytes"]["kv_cache"], 36 * 112 * 2048)
    # Chunks: a query sees its own, so the last chunk is kept.
    equal("Llama 4", (count_pairs(20000, 0, chunk=8192), count_pairs(1000, 16000, chunk=8192)), (73656592, 3262228))
    model = str(Path(__file__).parent / "Inputs" / "chunks.mlir")
    flags = [f"--set={k}={v}" for k, v in dict(D=64, H=40, K=8, E=128, F=64, V=64, L=36, W=8192).items()]
    for u, p in (1, 16000), (1000, 16000), (20000, 0):
        plan = ["--dry-run", "--batch=1", "--mode=decode", f"--seq={u}", f"--kv-len={p}", *flags]
        (entry,) = traces.compile_json(model, *plan)["classes"]
        rest = 36 * u * (2 * 64 * 56 * 128 + 2 * 40 * 128 * 64 + 6 * 64 * 64) + 2 * 64 * 64
        equal(f"chunks {u}, {p}", products(entry) - rest, 36 * 4 * count_pairs(u, p, chunk=8192) * 40 * 128)
        equal(f"chunks {u}, {p}: cache", entry["memory"]["persistent_bytes"]["kv_cache"], 36 * min(u + p, 8192) * 2 * 8 * 128 * 2)
    equal("keys", count_pairs(1, 16000, chunk=8192), 7809)
    # Blocks of 16 tokens, one more for the first token that is generated.
    for prompt, size in (128, 21233664), (32768, 4834197504):
        entry = traces.compile_json("qwen3-8b", "--dry-run", "--batch=1", f"--kv-len={prompt}", "--kv-block-size=16")["classes"][0]
        equal(f"prompt of {prompt}", entry["memory"]["persistent_bytes"]["kv_cache"], size)
        entry = traces.compile_json("qwen3-8b", "--dry-run", "--batch=1", f"--kv-len={prompt}", "--preset=vllm")["classes"][0]
        equal(f"prompt of {prompt}, preset", entry["memory"]["persistent_bytes"]["kv_cache"], size)


class Latents:
    """What a request of DeepSeek-V3 executes in a layer beside its projections."""

    H, KL, EN, ER, EV = 128, 512, 128, 64, 128
    expand = 2 * KL * H * (EN + EV)

    @classmethod
    def naive(cls, u, p):
        return cls.expand * (p + u) + 2 * count_pairs(u, p) * cls.H * (cls.EN + cls.ER + cls.EV)

    @classmethod
    def absorbed(cls, u, p):
        return cls.expand * u + 2 * count_pairs(u, p) * cls.H * (2 * cls.KL + cls.ER)


def latents():
    """DeepSeek-V3: a decode step of one of 64 ranks, and which form is cheaper."""
    form = Latents
    h, layers, tokens = 7168, 61, 128
    rest = 2 * (h * 1536 + 1536 * 128 * 192 + h * 576 + 128 * 128 * h)
    equal("projections of a token", rest + form.expand, 374210560)
    equal("decode, absorbed", rest + form.absorbed(1, 4095), 1515061248)
    equal("decode, naive", rest + form.naive(1, 4095), 138115153920)
    attention = layers * tokens * (rest + form.absorbed(1, 4095))
    equal("attention", attention, 11829598224384)
    dense = 3 * 6 * tokens * h * 18432
    experts = 58 * tokens * (2 * h * 256 + 9 * 6 * h * 2048)
    head = 2 * tokens * h * 129280
    equal("parts", (dense, experts, head), (304405807104, 5912425136128, 237229834240))
    plan = ["--dry-run", "--dp=64", "--ep=64", "--batch=8192", "--kv-len=4095"]
    (entry,) = traces.compile_json("deepseek-v3", *plan)["classes"]
    equal("step", attention + dense + experts + head, 18283659001856)
    equal("step: operations", products(entry), 18283659001856)
    equal("step: cache", entry["memory"]["persistent_bytes"]["kv_cache"], 36842766336)
    # Rows that are sent: 8-bit elements, a scale for 128 of them and a header of 16 bytes.
    (kind, axes, phase, count, size), *others = exchanges(entry)
    equal("one kind", others, [])
    equal("rows of elements", (kind, axes, count, size), ("all_to_all", ["ep"], 2 * 58, 2 * 58 * 128 * 8 * 2 * h))
    row = h + 4 * h // 128 + 16
    equal("a row", (row, 16 + 2 * h), (7408, 14352))
    (sent,) = traces.compile_json("deepseek-v3", *plan, "--dispatch-bytes=D + D/32 + 16")["classes"]
    (kind, axes, phase, count, size), *others = exchanges(sent)
    equal("dispatch", 128 * 8 * row, 7585792)
    equal("combine", 128 * 8 * 2 * h, 14680064)
    equal("low latency", (count, size), (2 * 58, 439975936 + 851443712))
    (preset,) = traces.compile_json("deepseek-v3", *plan, "--preset=deepep")["classes"]
    equal("preset", preset, sent)
    equal("encoded: products", products(sent), products(entry))
    (sent,) = traces.compile_json("deepseek-v3", *plan, "--dispatch-bytes=16 + 2*D")["classes"]
    equal("bf16", exchanges(sent)[0][4], 58 * 128 * 8 * (14352 + 14336))
    # Rows of the other kind, padded to 16 bytes: a row, its source, scales, indices and weights.
    normal = ["--dispatch-bytes=16*ceildiv(D + 8 + D/32 + 8*A, 16)", "--combine-bytes=16*ceildiv(2*D + 8 + 4*A, 16)"]
    (sent,) = traces.compile_json("deepseek-v3", *plan, *normal)["classes"]
    equal("normal", exchanges(sent)[0][4], 58 * 128 * 8 * (7472 + 14384))
    # Once to each node, or rank, that has any of the 8 experts of 4 groups of 8: so many that are
    # expected, as parts of rows, to the nearest byte.
    def places(ranks_of_place):
        """Of all ways to choose 4 groups and 8 of their 128 experts."""
        each = 256 // (64 // ranks_of_place)
        one = 1 - Fraction(math.comb(128 - each, 8), math.comb(128, 8))
        if each <= 32:
            return 64 // ranks_of_place * Fraction(4, 8) * one
        groups = each // 32
        hit = sum(Fraction(math.comb(groups, i) * math.comb(8 - groups, 4 - i), math.comb(8, 4))
                  * (1 - Fraction(math.comb(128 - 32 * i, 8), math.comb(128, 8))) for i in range(1, min(groups, 4) + 1))
        return 64 // ranks_of_place * hit

    nearest = lambda size, part: int(size * part + Fraction(1, 2))
    for ranks in 1, 8, 16:
        (sent,) = traces.compile_json("deepseek-v3", *plan, *normal, f"--dispatch-once={ranks}")["classes"]
        rows = nearest(7472, places(ranks) / 8) + nearest(14384, places(ranks) / 8)
        equal(f"once to {ranks} ranks", exchanges(sent)[0][4], 58 * 128 * 8 * rows)
    equal("nodes", f"{float(places(8)):.5f} {float(places(1)):.5f}", "3.62901 7.35937")
    (preset,) = traces.compile_json("deepseek-v3", *plan, "--preset=deepep-normal")["classes"]
    (sent,) = traces.compile_json("deepseek-v3", *plan, *normal, "--dispatch-once=8")["classes"]
    equal("preset deepep-normal", preset, sent)
    (sent,) = traces.compile_json("deepseek-v3", *plan, "--dispatch-once=8")["classes"]
    equal("once, elements", exchanges(sent)[0][4], 58 * 128 * 8 * 2 * nearest(14336, places(8) / 8))
    equal("bytes of a token", layers * 576 * 2, 70272)
    (other,) = traces.compile_json("deepseek-v3", *plan, "--mla-form=naive")["classes"]
    more = layers * tokens * (form.naive(1, 4095) - form.absorbed(1, 4095))
    equal("step, naive: operations", products(other) - products(entry), more)
    equal("step, naive: cache", other["memory"]["persistent_bytes"]["kv_cache"], 36842766336)
    equal("parameters", other["memory"]["persistent_bytes"]["parameter"], entry["memory"]["persistent_bytes"]["parameter"])

    def step(*flags):
        (entry,) = traces.compile_json("deepseek-v2-lite", "--dry-run", "--set=X=6", *flags)["classes"]
        return products(entry)

    # From 170 2/3 new tokens on products with cached latents are the cheaper ones, for any
    # number of heads, the nearer the more are cached.
    for u in 64, 170, 171, 192:
        flags = ["--batch=1", f"--seq={u}", "--kv-len=65536", "--mode=decode"]
        naive, absorbed, auto = (step(*flags, f"--mla-form={f}") for f in ("naive", "absorbed", "auto"))
        equal(f"{u} tokens", auto, absorbed if u < 170.667 else naive)
        heads = 16 / form.H
        equal(f"{u} tokens: difference", naive - absorbed, 27 * int(heads * (form.naive(u, 65536) - form.absorbed(u, 65536))))
    # Each request in its form; together they are what they are alone.
    both = step("--requests=32*(1,4095),(2048,0)")
    alone = 27 * int(16 / form.H * (32 * form.absorbed(1, 4095) + form.naive(2048, 0)))
    equal("by request", step("--requests=32*(1,4095),(2048,0)", "--mla-form=by-request"), both)
    every = 27 * int(16 / form.H * (32 * form.naive(1, 4095) + form.naive(2048, 0)))
    equal("each in its form", step("--requests=32*(1,4095),(2048,0)", "--mla-form=naive") - both, every - alone)
    # Linear layers in 8 bits: there are as many products in each form, and caches are as wide.
    for name in "naive", "absorbed", "auto", "by-request":
        flags = ["deepseek-v2-lite", "--dry-run", "--set=X=6", "--requests=32*(1,4095),(512,0)", f"--mla-form={name}"]
        (plain,), (narrow,) = (traces.compile_json(*flags, *more)["classes"] for more in ([], ["--fp8"]))
        equal(f"8 bits, {name}: operations", products(narrow), products(plain))
        equal(f"8 bits, {name}: caches", narrow["memory"]["persistent_bytes"]["kv_cache"], plain["memory"]["persistent_bytes"]["kv_cache"])
    # Chunks of a prompt: the past is expanded again for each.
    chunks = [step("--batch=1", "--mode=prefill", "--seq=8192", f"--kv-len={i * 8192}", "--mla-form=naive") for i in range(4)]
    whole = step("--batch=1", "--mode=prefill", "--seq=32768", "--mla-form=naive")
    equal("expansion of the past", 49152 * form.expand, 1649267441664)
    equal("chunks", sum(chunks) - whole - 3 * 2 * 2048 * 102400, 27 * 49152 * form.expand // 8)


def filled():
    """Rows that are divided over the stream are filled up to a multiple of tp; requests stay what they are."""
    m, t = LLAMA3_8B, 8
    lists = [
        [(1, 99)],
        [(1, 99)] * 7,
        [(1, 99)] * 8,
        [(1, 99), (16, 0)],
        [(5, 40), (1, 7), (1, 3000), (300, 0)],
    ]
    for requests in lists:
        text = ",".join(f"({u},{p})" for u, p in requests)
        entry = compile_step(m, f"--tp={t}", "--sequence-parallel", f"--requests={text}")
        own, rows = Step(m, requests, t), -(-sum(u for u, p in requests) // t) * t
        # All products are on all rows but those of attention and of the head.
        linear = m.L * (own.projections + own.mlp) // own.tokens * rows
        equal(f"{text}: products", products(entry), linear + m.L * own.core + own.head)
        equal(f"{text}: cache", entry["memory"]["persistent_bytes"]["kv_cache"], own.per_token() * own.cached)
        found = sorted((c["kind"], c["count"], c["bytes"]) for c in entry["collectives"])
        row = rows * m.h * 2
        want = [
            ("all_gather", 2 * m.L + 2, (2 * m.L + 1) * row // t + len(requests) * m.V // t * 2),
            ("reduce_scatter", 2 * m.L + 1, (2 * m.L + 1) * row),
        ]
        equal(f"{text}: collectives", found, want)
    # Rows of several steps are filled up, too, each by itself.
    flags = ["llama3-8b", "--tp=8", "--sequence-parallel"]
    entry = compile_one(*flags, "--requests=6*(1,50),(3,0)", "--steps=3")
    steps = [compile_one(*flags, f"--requests=6*(1,{50 + i}),(3,{3 * i})") for i in range(3)]
    equal("steps", products(entry), sum(products(step) for step in steps))
    # Latents of requests in both forms: 13 tokens are 16.
    flags = ["deepseek-v3", "--tp=8", "--requests=4*(1,50),(9,0)", "--mla-form=by-request", "--kv-dtype=bf16"]
    entry = compile_one(*flags, "--sequence-parallel")
    equal("latents", entry["memory"]["persistent_bytes"]["kv_cache"], (4 * 51 + 9) * 61 * 576 * 2)
    # They are gathered before they are kept: what is cached is on every rank, and stays there.
    flags = ["deepseek-v2-lite", "--tp=8", "--sequence-parallel", "--mla-form=absorbed"]
    short, long = [compile_one(*flags, f"--requests=(1,{p}),(7,{p})") for p in (51, 5000)]
    equal("latents: collectives", long["collectives"], short["collectives"])
    equal("latents: cache", long["memory"]["persistent_bytes"]["kv_cache"], (8 + 2 * 5000) * 27 * 576 * 2)


def relative():
    """Scores with a bias by position: decoding one by one is a chunk at once, and T5-small in closed form."""
    L, h, heads, d, f, V, B = 6, 512, 8, 64, 2048, 32128, 4
    wide = heads * d

    def step(u, p):
        flags = ["--mode=decode"] if u == 1 else ["--mode=prefill", f"--seq={u}"]
        return compile_one("t5-small", *flags, f"--batch={B}", f"--kv-len={p}", "--set=T=32", "--logits=all")

    decoded = [step(1, p) for p in range(16, 24)]
    equal("chunk", products(step(8, 16)), sum(products(entry) for entry in decoded))
    for p, entry in zip(range(16, 24), decoded):
        layer = 6 * 2 * h * wide + 4 * (p + 1) * wide + 4 * 32 * wide + 4 * h * f
        equal(f"{p} cached", products(entry), B * (L * layer + 2 * h * V))
    # A token more is a key and a value that all read, and a bias of each head that is looked up once.
    first, second = decoded[:2]
    more = L * B * 2 * wide * 2 + L * heads * 2 + 2 * heads * 2
    equal("traffic", second["memory_traffic_bytes"] - first["memory_traffic_bytes"], more)


for name in sys.argv[1:]:
    globals()[name]()
comparing.finish()
