"""Compares pipelines, ZeRO and context parallelism with closed forms.

Sources: Narayanan et al. arXiv:2104.04473 (pipelines, interleaving, messages), Rajbhandari
et al. arXiv:1910.02054 (ZeRO), Korthikanti et al. arXiv:2205.05198 (sequence parallelism),
Liu et al. arXiv:2310.01889 (ring attention), Jacobs et al. arXiv:2309.14509 (Ulysses),
Won et al. arXiv:2511.10480 (STAGE's volumes).

Usage: parallel_forms.py
    {iteration|zero|zero-stages|types|in-flight|replayed|alternate|needed|messages|layers|context|ranges|stage}...
"""

from collections import Counter
from dataclasses import replace

import checks
from checks import BF16, FP32, LIBRARY, Plan

LLAMA, GPT2, GPT3 = (LIBRARY[name] for name in ("llama3-8b", "gpt2-1.5b", "gpt3-175b"))
TINY = replace(LLAMA, h=64, a=8, g=4, d=8, f=128, V=16, L=16, s=64)


def step(m, **others):
    """m micro-batches of one sequence for each data-parallel rank."""
    return Plan(batch=m * others.get("dp", 1), micro_batch=1, **others)


def saved(check, model, plan):
    """Most saved activations of each device."""
    return [entry.largest["activation"] for entry in check.compile(model, plan).classes]


def iteration(check):
    """Llama 3 8B on 16 ranks: t=2 with sequence parallelism, a ring of c=2, p=2, D=2,
    micro-batches of one sequence of 8192, m=4, distributed optimizer."""
    plan = step(4, tp=2, sequence_parallel=True, cp=2, cp_comm_type="p2p", pp=2, dp=2, zero=1)
    first, last = check.compile(LLAMA, plan).classes
    M = 8192 // 2 * 4096 * 2  # bytes of the residual stream of a context-parallel rank
    check.equal("M", M, 33_554_432)

    # Wire bytes of rings: (n-1) * shard to gather, (n-1)/n * whole to scatter.
    def tp_wire(entry):
        return entry.collective("tp", "all_gather")[1] + entry.collective("tp", "reduce_scatter")[1] // 2

    layers, embedding, head = 10_737_418_240, 134_217_728, 201_326_592
    check.equal("tp of stage 0", tp_wire(first), layers + embedding)
    check.equal("tp of stage 1", tp_wire(last), layers + head)
    # An all-reduce moves 2(t-1)/t times its buffer, which is once for t=2.
    check.equal("cross-entropy", last.collective("tp", "all_reduce", "fwd")[1], 196_608)
    check.equal("ring", first.sent("cp")[1], 1_610_612_736)
    check.equal("ring of stage 1", last.sent("cp")[1], 1_610_612_736)
    for entry in (first, last):
        check.equal("pipeline", entry.sent("pp"), (4, 67_108_864))
    P = [entry.states["parameter"] // 2 for entry in (first, last)]
    check.equal("parameters", P, [2_007_629_824, 2_007_633_920])
    scattered, gathered = first.collective("cp+dp", "reduce_scatter"), first.collective("cp+dp", "all_gather")
    check.equal("collectives of the optimizer", (scattered[0], gathered[0]), (1, 1))
    check.equal("optimizer, wire", 3 * scattered[1] // 4 + 3 * gathered[1], 9_034_334_208)
    for entry, p in ((first, P[0]), (last, P[1])):
        check.equal("scattered", entry.collective("cp+dp", "reduce_scatter"), (1, FP32 * p))
        check.equal("gathered", entry.collective("cp+dp", "all_gather"), (1, BF16 * p // 4))
    check.equal("norms over tp", first.collective("tp", "all_reduce", "grad_sync"), (1, 524_288))
    check.equal("and the last", last.collective("tp", "all_reduce", "grad_sync"), (1, 524_288 + 4096 * FP32))
    products = [sum(entry.products.values()) for entry in (first, last)]
    check.equal("mean products", sum(products) // 2, 210_825_985_916_928)


def zero(check):
    """Volumes over n ranks with m micro-batches, and bytes of states."""
    P, n = 8_030_261_248, 8
    inside = P - 2 * 128256 * 4096 - 4096  # parameters of the layers
    for m in (1, 4):
        base = step(m, dp=n)

        def volumes(**others):
            entry = check.compile(LLAMA, replace(base, **others)).only
            return entry.collective("dp", "reduce_scatter"), entry.collective("dp", "all_gather")

        check.equal(f"ZeRO-1, m={m}", volumes(zero=1), ((1, 4 * P), (1, 2 * P // n)))
        scattered, gathered = volumes(zero=2)
        check.equal(f"ZeRO-2, m={m}", (scattered[1], gathered), (m * 4 * P, (1, 2 * P // n)))
        check.equal(f"ZeRO-3, m={m}", volumes(zero=3, zero_root="units", grad_dtype="bf16"),
                    ((m * 34, m * 2 * P), (m * 68, m * 2 * 2 * P // n)))
        # Recomputation reads what backward gathers; a group of layers is gathered twice.
        for layers, again in ((1, 0), (4, 1)):
            plan = replace(base, zero=3, zero_root="units", recompute="full", recompute_layers=layers)
            entry = check.compile(LLAMA, plan).only
            check.equal(f"ZeRO-3, groups of {layers}, m={m}", entry.collective("dp", "all_gather", "bwd"),
                        (m * (34 + 32 * again), m * 2 * (P + again * inside) // n))
            check.equal("gathered in forward", entry.collective("dp", "all_gather", "fwd"), (m * 34, m * 2 * P // n))
            check.equal("scattered", entry.collective("dp", "reduce_scatter"), (m * 34, m * 4 * P))
    # ZeRO-1 reduces once a step, also layer by layer.
    entry = check.compile(LLAMA, step(4, dp=n, zero=1, gradient_reduction="per-layer")).only
    check.equal("ZeRO-1, per layer", entry.collective("dp", "reduce_scatter"), (32 + 1, 4 * P))
    check.equal("gathered", entry.collective("dp", "all_gather"), (1, 2 * P // n))
    # A unit has biases and norms, which backward does not read: 12h^2 + 13h of a GPT layer.
    h, L = GPT2.h, GPT2.L
    layers = L * (12 * h * h + 13 * h)
    whole = layers + (50257 + 1024) * h + 2 * h
    for root, units, want in (("kept", L, layers), ("units", L + 2, whole)):
        for recompute in ("none", "selective", "full"):
            gpt = check.compile(GPT2, Plan(dp=2, batch=2, zero=3, zero_root=root, recompute=recompute)).only
            found = [gpt.collective("dp", "all_gather", phase) for phase in ("fwd", "bwd")]
            outside = 1 if root == "kept" else 2
            check.equal(f"GPT, {root}, {recompute}", found, [(L + outside, whole), (units, want)])
            check.equal("scattered", gpt.collective("dp", "reduce_scatter"), (L + outside, 4 * whole))
    wire = (n - 1) * 2 * (2 * P // n) + (n - 1) * 2 * P // n
    check.equal("FSDP on the wire, m=1", wire, 42_158_871_552)
    hybrid = check.compile(LLAMA, Plan(dp=16, dp_replicate=2, batch=16, zero=3)).only
    found = hybrid.collective("dp", "reduce_scatter")[1], hybrid.collective("dp_replicate", "all_reduce")[1]
    check.equal("hybrid", found, (4 * P, 4 * P // n))
    found = [hybrid.collective("dp", "all_gather", phase) for phase in ("fwd", "bwd")]
    check.equal("hybrid, gathered", found, [(33, 2 * P // n), (32, 2 * inside // n)])
    for level, want in ((0, (2, 12)), (1, (2, 12 / n)), (2, (2, 12 / n)), (3, (2 / n, 12 / n))):
        entry = check.compile(LLAMA, Plan(dp=n, batch=n, zero=level)).only
        states = entry.states["parameter"], entry.states["optimizer"]
        check.equal(f"states, level {level}", states, (want[0] * P, want[1] * P))
        check.equal(f"gradients, level {level}", entry.largest["gradient"], 4 * P // (n if level >= 2 else 1))


def zero_stages(check):
    """ZeRO of pipelines: each device shards and reduces what its stages hold, and messages
    are activations only; the two copies of a tied embedding are summed once."""
    n, m, stages = 2, 4, 4
    for model, layer, ends, tied in (
            (replace(LLAMA, s=256), 218_112_000, (128_256 * 4096, 128_256 * 4096 + 4096), 0),
            (GPT2, 30_740_800, (51_281 * 1600, 50_257 * 1600 + 2 * 1600), 50_257 * 1600)):
        model = replace(model, L=stages)
        base = step(m, pp=stages, dp=n)
        held = [layer + ends[0], layer, layer, layer + ends[1]]
        copies = [tied, 0, 0, tied]
        plain = [entry.sent("pp") for entry in check.compile(model, base).classes]
        for others in (dict(zero=1), dict(zero=2), dict(zero=3), dict(zero=3, zero_root="units"),
                       dict(zero=2, schedule="zb-h1")):
            level, plan = others["zero"], replace(base, **others)
            check.context = f"{model} {plan}"
            classes = check.compile(model, plan).classes
            check.equal("messages", [entry.sent("pp") for entry in classes], plain)
            check.equal("moments", [entry.states["optimizer"] for entry in classes], [12 * p // n for p in held])
            check.equal("parameters", [entry.states["parameter"] for entry in classes],
                        [2 * p // (n if level == 3 else 1) for p in held])
            check.equal("gradients", [entry.collective("dp", "reduce_scatter")[1] for entry in classes],
                        [4 * p * (m if level >= 2 else 1) for p in held])
            # Before each forward and, if it is not kept, each backward; or once, when it is stepped.
            again = [layer] * stages if plan.zero_root == "kept" else held
            want = [[m * 2 * p // n for p in part] for part in (held, again)]
            if level < 3:
                want = [[2 * p // n for p in held]]
            found = [[entry.collective("dp", "all_gather", phase)[1] for entry in classes]
                     for phase in (("fwd", "bwd") if level == 3 else ("opt",))]
            check.equal("gathered", found, want)
            check.equal("copies", [entry.collective("pp", "all_reduce")[1] for entry in classes],
                        [4 * p // (n if level >= 2 else 1) for p in copies])


def types(check):
    """Element types of each kind of tensor: bytes of states, of what layers save, and of
    collectives."""
    P, n = 8_030_261_248, 8
    matrices = LLAMA.L * LLAMA.matrices

    def run(model=LLAMA, **others):
        return check.compile(model, Plan(dp=n, batch=n, **others)).only

    def layer(**others):
        few, many = (run(replace(LLAMA, L=depth), **others).largest["activation"] for depth in (3, 4))
        return many - few

    stored = dict(param_dtype="f32")
    check.equal("what a layer saves", layer(**stored), layer())
    check.equal("products", run(**stored).products, run().products)
    for others, parameter, optimizer in (
            ({}, 2, 12), (stored, 4, 8), (dict(param_dtype="f8E4M3FN"), 1, 12),
            (dict(dtype="f32", param_dtype="bf16"), 2, 12), (dict(stored, optimizer_dtype="bf16"), 4, 4)):
        entry = run(**others)
        states = entry.states["parameter"], entry.states["optimizer"]
        check.equal(f"states, {others}", states, (parameter * P, optimizer * P))
        check.equal(f"gradients, {others}", entry.largest["gradient"], 4 * P)
    tied = [[entry.sent("pp") for entry in check.compile(GPT2, step(8, pp=4, **others)).classes]
            for others in (stored, {})]
    check.equal("sends of a tied model", *tied)
    # Parameters are gathered as they are read if that is less, 8-bit casts if one says so.
    gather = dict(fp8=True, fp8_gather=True)
    for others, size, reduced in (
            ({}, 2 * P, 4 * P), (stored, 2 * P, 4 * P), (dict(stored, grad_dtype="bf16"), 2 * P, 2 * P),
            (dict(param_dtype="f8E4M3FN"), P, 4 * P), (dict(fp8=True), 2 * P, 4 * P),
            (dict(stored, fp8=True), 2 * P, 4 * P),
            (gather, 2 * P - matrices, 4 * P),
            (dict(stored, **gather), 2 * P - matrices, 4 * P),
            (dict(stored, recompute="full"), 2 * P, 4 * P)):
        entry = run(zero=3, zero_root="units", **others)
        gathered = [entry.collective("dp", "all_gather", phase)[1] for phase in ("fwd", "bwd")]
        check.equal(f"gathered, {others}", gathered, [size // n] * 2)
        check.equal(f"scattered, {others}", entry.collective("dp", "reduce_scatter")[1], reduced)
    states = run(zero=3, zero_root="units", **stored).states
    check.equal("sharded states", (states["parameter"], states["optimizer"]), (4 * P // n, 8 * P // n))


def in_flight(check):
    """Most saved activations of a stage, in micro-batches times virtual stages, and one
    message: what the last forward has made until it is sent, or an input that is received
    ahead."""
    def peaks(schedule, virtual=1):
        return saved(check, TINY, step(8, pp=4, schedule=schedule, virtual_stages=virtual))

    few, many = (saved(check, replace(TINY, L=depth), Plan(batch=1))[0] for depth in (4, 8))
    stage, head, message = many - few, few - (many - few), 64 * 64 * 2
    ends = [message, message, message, message + head]
    check.equal("GPipe", peaks("gpipe"), [8 * stage + message] * 3 + [8 * (stage + head)])
    check.equal("1F1B", peaks("1f1b"), [k * stage + end for k, end in zip((4, 3, 2, 1), ends)])
    check.equal("interleaved", peaks("interleaved", 2),
                [k * stage // 2 + end for k, end in zip((11, 9, 7, 5), ends)])


def replayed(check):
    """Pipeline stages that replay groups of layers, or their first layers."""
    def run(p, **others):
        return check.compile(TINY, step(8, pp=p, recompute="full", **others)).classes

    def again(entry):
        return entry.products.get("recompute", 0)

    (one,) = run(1)
    layer = again(one) // 16
    stream = 64 * 64 * 2  # bytes that a layer reads of one micro-batch
    for p, v in ((2, 1), (4, 1), (2, 2)):
        whole, of = run(p, virtual_stages=v), 16 // p
        groups = run(p, virtual_stages=v, recompute_layers=2)
        for entry in groups:
            check.equal(f"groups, p={p}, v={v}", again(entry), of * layer)
        for size in range(1, of // v):
            for entry in run(p, virtual_stages=v, recompute_method="block", recompute_layers=size):
                check.equal(f"first {size}, p={p}, v={v}", again(entry), v * size * layer)
        # 1F1B: the first stage holds p micro-batches.
        if v == 1:
            less = whole[0].largest["activation"] - groups[0].largest["activation"]
            check.equal(f"inputs that a group of 2 does not save, p={p}", less, p * of // 2 * stream)


def alternate(check):
    """A layer with --recompute=alternate, and with operands of products of 8 and 4 bits: what
    it saves, and products that are replayed."""
    def layer(**others):
        few, many = (check.compile(replace(TINY, L=depth), Plan(batch=4, **others)).classes[0]
                     for depth in (11, 12))
        again = many.products.get("recompute", 0) - few.products.get("recompute", 0)
        return many.largest["activation"] - few.largest["activation"], again

    m, tokens = TINY, 4 * TINY.s
    q, kv = m.a * m.d, m.g * m.d
    kept = BF16 * (m.h + q) + FP32 * m.a  # the input, and attention with its log-sum-exp
    # Of query, key, value, output, gate, up and down all second ones are replayed.
    check.equal("separate projections", layer(recompute="alternate", set="separate_projections=true"),
                (tokens * (kept + BF16 * (q + kv + m.f)), 2 * tokens * m.h * (kv + q + m.f)))
    # Of qkv, output, gate-up and down the output is; nobody reads what down makes.
    check.equal("fused projections", layer(recompute="alternate"),
                (tokens * (kept + BF16 * (q + 2 * kv + 2 * m.f)), 2 * tokens * m.h * q))
    eight, four, both = (layer(product_dtype=name)[0] for name in ("f8E4M3FN", "f4E2M1FN", "f8E5M2"))
    check.equal("8 bits and 4", eight - four, tokens * (2 * m.h + q + m.f) // 2)
    check.equal("types of 8 bits", both, eight)
    check.equal("as with --fp8", layer(fp8=True)[0], eight)


def needed(check):
    """A layer with --recompute=needed: what it saves, and products that are replayed."""
    def layer(*names):
        few, many = (check.compile(replace(TINY, L=depth), Plan(
            batch=4, recompute="needed", set="separate_projections=true",
            **({"recompute_saved": ",".join(names)} if names else {}))).classes[0] for depth in (11, 12))
        again = many.products.get("recompute", 0) - few.products.get("recompute", 0)
        return many.largest["activation"] - few.largest["activation"], again

    m, tokens = TINY, 4 * TINY.s
    q, kv = m.a * m.d, m.g * m.d
    attention = 2 * tokens * (m.s + 1) * q  # scores and their product with values, of pairs under the mask
    products = 2 * tokens * m.h * (2 * q + 2 * kv + 2 * m.f)  # all but that of down
    check.equal("nothing is saved but the input", layer(), (BF16 * tokens * m.h, products + attention))
    check.equal("queries, keys and values", layer("q_proj", "k_proj", "v_proj"),
                (BF16 * tokens * (m.h + q + 2 * kv), products + attention - 2 * tokens * m.h * (q + 2 * kv)))
    # Of attention its log-sum-exp is saved, too; queries, keys and values are made again for its backward.
    check.equal("attention", layer("attention"),
                (tokens * (BF16 * (m.h + q) + FP32 * m.a), products))
    check.equal("patterns", layer("[qkv]_proj"), layer("q_proj", "k_proj", "v_proj"))
    check.equal("what backward does not read", layer("down_proj"), layer())


def messages(check):
    """Narayanan et al. 2.2: messages that each device sends."""
    def sends(p, m, v, schedule):
        plan = step(m, pp=p, virtual_stages=v, schedule=schedule)
        return [entry.sent("pp")[0] for entry in check.compile(replace(TINY, L=p * v), plan).classes]

    check.equal("1F1B", sends(4, 8, 1, "1f1b"), [8, 16, 16, 8])
    check.equal("interleaved", sends(4, 8, 2, "interleaved"), [24, 32, 32, 24])
    for schedule in ("zb-v", "dualpipe-v"):
        check.equal(schedule, sends(4, 8, 2, schedule), [16, 32, 32, 16])
    check.equal("p=8, m=16", sum(sends(8, 16, 1, "1f1b")), 224)
    check.equal("p=8, m=16, v=3", sum(sends(8, 16, 3, "interleaved")), 736)
    for others, divisor in ((dict(tp=2), 1), (dict(tp=2, sequence_parallel=True), 2), (dict(cp=2), 2)):
        first = check.compile(TINY, Plan(batch=8, micro_batch=2, pp=2, **others)).classes[0]
        check.equal(f"bytes with {others}", first.sent("pp"), (4, 4 * 2 * 64 * 64 * 2 // divisor))
    tied = check.compile(GPT2, step(8, pp=4)).classes
    table = (1, 50257 * 1600 * 4)
    shared = [entry.collective("pp", "all_reduce") for entry in tied]
    check.equal("tied embedding", shared, [table, (0, 0), (0, 0), table])
    # In a V the first device has both ends: one table, and a gradient of it for each until the
    # step. Those of norms are made by the input half, which saves them.
    table, ends = 50257 * 1600, (50257 + 1024 + 2) * 1600
    own = [(1_557_611_200 - ends) // 4 - 12 * 4 * 1600] * 4
    own[0] += ends - 2 * 1600 + table
    for schedule in ("zb-v", "dualpipe-v"):
        folded = check.compile(GPT2, step(8, pp=4, virtual_stages=2, schedule=schedule)).classes
        shared = [entry.collective("pp", "all_reduce") for entry in folded]
        check.equal(f"tied embedding, {schedule}", shared, [(0, 0)] * 4)
        if schedule == "zb-v":
            gradients = [entry.largest["gradient"] for entry in folded]
            check.equal("gradients, zb-v", gradients, [FP32 * count for count in own])


def layers(check):
    """Korthikanti et al. section 4 without dropout: what one more layer saves of a sequence,
    with tensor, sequence and context parallelism and each recomputation."""
    s = 2048
    # Bytes per token: what tensor parallelism leaves whole, what it shards (of that, the
    # log-sum-exps and the keys and values), and the stream.
    llama = (LLAMA.saved_outside, LLAMA.saved_inside, 4 * 32, 4 * 1024, 2 * 4096)
    gpt = (8 * 12288 + 16, 24 * 12288 + 4 * 96, 4 * 96, 4 * 12288, 2 * 12288)
    check.equal("Llama 3 8B", llama[0] + llama[1], 139_400)
    check.equal("GPT-3", s * (gpt[0] + gpt[1] + 2 * 12288 - 16), 856_424_448)
    for model, (whole, sharded, lse, keys, stream) in ((LLAMA, llama), (replace(GPT3, V=50304), gpt)):
        model = replace(model, s=s)
        for t, sp, c, kind in ((1, 0, 1, ""), (4, 0, 1, ""), (4, 1, 1, ""), (1, 0, 4, "all_gather"), (1, 0, 4, "a2a"),
                               (1, 0, 4, "p2p"), (2, 0, 2, "a2a"), (2, 1, 2, "all_gather"), (2, 1, 2, "p2p")):
            tokens, parts = s // c, t if sp else 1
            want = {"none": tokens * whole // parts + tokens * sharded // t, "full": tokens * stream // parts}
            want["selective"] = want["none"] - tokens * lse // t
            base = Plan(batch=1, tp=t, cp=c, sequence_parallel=bool(sp), cp_comm_type=kind or "all_gather")
            check.context = f"{model} {base}"

            def grown(**others):
                plan = replace(base, **others)
                few, many = (saved(check, replace(model, L=depth), plan)[0] for depth in (4, 8))
                return (many - few) // 4

            for recompute, size in want.items():
                check.equal(f"layer, {recompute}", grown(recompute=recompute), size)
            # Kept are the keys and values of all ranks, and the inputs that were gathered.
            if kind in ("", "all_gather"):
                inputs = tokens * 4 * stream // 2 * (parts - 1) // parts
                kept = want["none"] + inputs + tokens * keys * (c - 1) // t
                check.equal("kept", grown(keep_gathered="all"), kept)


def context(check):
    """Llama 3 8B, one sequence of 8192, c=4: bytes of a layer."""
    def run(kind):
        return check.compile(LLAMA, Plan(cp=4, cp_comm_type=kind, batch=1)).only

    L, C = 32, 8_388_608
    ring = run("p2p")
    by_phase = {phase: ring.sent("cp", phase)[1] // L for phase in ("fwd", "bwd")}
    check.equal("ring", by_phase, {"fwd": 3 * C, "bwd": 6 * C})
    gathered = run("all_gather")
    found = [gathered.collective("cp", kind, phase)[1] // L for kind, phase in
             (("all_gather", "fwd"), ("all_gather", "bwd"), ("reduce_scatter", "bwd"))]
    check.equal("gathered", found, [C, C, 4 * C])
    # Send buffers of q, k, v and the output: 2a + 2g heads of 128 over s/c tokens.
    ulysses = run("a2a")
    whole = 8192 // 4 * 128 * 2 * (2 * 32 + 2 * 8)
    check.equal("all-to-alls", ulysses.collective("cp", "all_to_all", "fwd"), (4 * L, whole * L))
    check.equal("all-to-alls, wire", whole * 3 // 4, 31_457_280)
    # Gradients of the four, and once more a heads.
    check.equal("all-to-alls of backward", ulysses.collective("cp", "all_to_all", "bwd"),
                (5 * L, (whole + 8192 // 4 * 128 * 2 * 32) * L))
    for entry in (gathered, ulysses):
        check.equal("gradients", entry.collective("cp", "all_reduce", "grad_sync"), (1, FP32 * LLAMA.parameters))
    # Keys and values are gathered, and gradients of them go round as often as there are ranks: of all
    # query heads, four for each of their own, and in f32, as PyTorch sends them.
    repeated = dict(cp_comm_type="gather_p2p", cp_sum_dtype="f32", attention_heads="repeated")
    round_ = run("gather_p2p")
    copies = check.compile(LLAMA, Plan(cp=4, batch=1, **repeated)).only
    titan = check.compile(LLAMA, Plan(cp=4, batch=1, preset="torchtitan")).only
    for name, entry, heads, width in (("gathered ring", round_, 1, 1), ("copies", copies, 4, 2),
                                      ("torchtitan", titan, 4, 2)):
        for phase in ("fwd", "bwd"):
            check.equal(f"{name}, gathered, {phase}", entry.collective("cp", "all_gather", phase), (L, L * heads * C))
        check.equal(f"{name}, sent", entry.sent("cp"), (L * 4, L * 4 * heads * width * C))
        check.equal(f"{name}, gradients", entry.collective("cp", "all_reduce", "grad_sync"),
                    (1, FP32 * LLAMA.parameters))
    for kind, other in (("ring", ring), ("gathered", gathered), ("Ulysses", ulysses), ("gathered ring", round_),
                        ("copies", copies)):
        check.equal(f"products, {kind}", other.products["fwd"], 140_550_657_277_952 // 4)


def ranges(check):
    """Contiguous context parallelism: rank i has the queries of range i, which see q*q*i pairs
    in the ranges before it and q(q+1)/2 in its own; each pair is 4 d a operations forward,
    twice that backward. All other products are divided equally."""
    B, m = 8, TINY
    base = step(B)
    replays = ("fwd", "bwd", "recompute")
    names = {"none": ("fwd", "bwd"), "selective": replays, "full": replays}
    others = [
        dict(tp=2, sequence_parallel=True), dict(dp=2, zero=3), dict(pp=2),
        dict(dp=2, tp=2, pp=4, schedule="zb-h1"), dict(pp=2, schedule="zb-v", virtual_stages=2),
        dict(pp=2, schedule="dualpipe-v", virtual_stages=2),
    ]
    kinds = ("all_gather", "p2p", "gather_p2p")
    cases = [(c, kind, {}, recompute) for c in (2, 4, 8) for kind in kinds for recompute in names]
    cases += [(4, kind, other, recompute) for kind in kinds for other in others for recompute in ("none", "full")]
    for c, kind, other, recompute in cases:
        whole = check.compile(m, replace(base, recompute=recompute)).only.products
        q = m.s // c
        pairs = [q * q * i + q * (q + 1) // 2 for i in range(c)]
        check.equal("pairs of all ranks", sum(pairs), m.s * (m.s + 1) // 2)
        want = []
        for i in range(c):
            entry = {}
            for phase in names[recompute]:
                each = 4 * m.d * m.a * B * m.L * (2 if phase == "bwd" else 1)
                entry[phase] = (whole[phase] - each * sum(pairs)) // c + each * pairs[i]
            want.append(entry)
        have = [Counter() for _ in range(c)]
        plan = replace(base, cp=c, cp_comm_type=kind, cp_balance="none", recompute=recompute, **other)
        check.context = plan
        for entry in check.compile(m, plan).classes:
            for phase, operations in entry.products.items():
                have[entry["coordinates"]["cp"]][phase] += operations * entry["ranks"]
        check.equal("ranges", [dict(entry) for entry in have], want)
    # Where all ranks see whole sequences, or all pairs are counted, there is nothing to split.
    for same in (dict(cp_comm_type="a2a"), dict(cp_comm_type="p2p", attention_count="full")):
        compiled = check.compile(m, replace(base, cp=4, cp_balance="none", **same))
        check.equal(f"classes, {same}", len(compiled.classes), 1)
    # A hidden block is passed on, but is no node: rank i computes i + 1 blocks of c, and sets
    # the gradients of the farthest one to zero. Backward adds gradients of keys and of values
    # behind all other blocks.
    plan = replace(base, cp=8, cp_comm_type="p2p", cp_balance="none")
    check.context = plan
    ring = check.compile(m, plan).classes
    nodes = [entry["compute_nodes"] for entry in ring]
    check.equal("blocks", [n - nodes[0] for n in nodes], [m.L * B * (4 * i - 3 * (i == 7)) for i in range(8)])
    for entry in ring:
        check.equal("messages", entry["messages"], ring[0]["messages"])


def stage(check):
    """STAGE's volumes for a GPT-3-like 5B: elements in bf16. Its all-gathers are those of
    forward and backward and re-gathers, 6 shards a layer and micro-batch; its
    reduce-scatters 4 whole buffers."""
    model = replace(GPT3, h=4096, a=32, f=16384, V=8192, L=24)
    entry = check.compile(model, step(128, tp=8, sequence_parallel=True)).only
    whole = 2048 * 4096 * 128  # elements of the stream, all micro-batches
    scattered = entry.collective("tp", "reduce_scatter")[1] // 2 - whole  # without the head
    check.equal("reduce-scatter", round(scattered / 1e6, 1), 103_079.2)
    # Outside of layers: the head's input, twice, and the gradient of the embeddings.
    in_layers = entry.collective("tp", "all_gather")[1] // 2 - 3 * whole // 8
    check.equal("all-gather, shards", in_layers, 24 * 6 * whole // 8)
    check.equal("all-gather", in_layers // 10**5 / 10, 19_327.3)  # as printed, cut off
    # The embedding, and the cross-entropy's three numbers of a token; norms and biases
    # behind scatters.
    size = whole * BF16 + 3 * 128 * 2048 * FP32
    check.equal("all-reduce", entry.collective("tp", "all_reduce", "fwd"), (4 * 128, size))
    whole_on_ranks = (6 * 24 + 2) * 4096
    check.equal("gradients", entry.collective("tp", "all_reduce", "grad_sync"), (1, whole_on_ranks * FP32))
    pipeline = check.compile(model, step(128, pp=8)).classes
    check.equal("first stage", pipeline[0].sent("pp"), (128, 2 * whole))
    check.equal("first stage, elements", round(whole / 1e6, 1), 1_073.7)


if __name__ == "__main__":
    checks.main(iteration, zero, zero_stages, types, in_flight, replayed, alternate, needed, messages, layers, context, ranges, stage)
