"""Compares pipelines, ZeRO and context parallelism with closed forms.

Sources: Narayanan et al. arXiv:2104.04473 (pipelines, interleaving, messages), Rajbhandari
et al. arXiv:1910.02054 (ZeRO), Korthikanti et al. arXiv:2205.05198 (sequence parallelism),
Liu et al. arXiv:2310.01889 (ring attention), Jacobs et al. arXiv:2309.14509 (Ulysses),
Won et al. arXiv:2511.10480 (STAGE's volumes).

Usage: parallel_forms.py
    {iteration|zero|zero-stages|types|in-flight|replayed|messages|layers|context|ranges|stage}...
"""

import json
import subprocess
import sys
from collections import Counter

TINY = "llama3-8b --seq=64 --set=D=64 --set=H=8 --set=K=4 --set=E=8 --set=F=128 --set=V=16 --set=L=16"


def compiled(command):
    result = subprocess.run(["stg-compile", *command.split(), "--dry-run", "--json"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def coll(entry, axes, kind, phase=None):
    """Count and bytes of a class's collectives."""
    found = [c for c in entry["collectives"] if c["axes"] == axes and c["kind"] == kind and phase in (None, c["phase"])]
    return sum(c["count"] for c in found), sum(c["bytes"] for c in found)


def sent(entry, axis):
    found = [m for m in entry["messages"] if m["kind"] == "send" and m["axis"] == axis]
    return sum(m["count"] for m in found), sum(m["bytes"] for m in found)


def equal(what, have, want):
    assert have == want, f"{what}: {have}, expected {want}"
    print(f"{what}: {have}")


def iteration():
    """Llama 3 8B on 16 ranks: t=2 with sequence parallelism, a ring of c=2, p=2, D=2,
    micro-batches of one sequence of 8192, m=4, distributed optimizer."""
    m = compiled("llama3-8b --tp=2 --sequence-parallel --cp=2 --cp-comm-type=p2p --pp=2 --dp=2 --batch=8 "
                 "--micro-batch=1 --seq=8192 --zero=1")
    first, last = m["classes"]
    M = 8192 // 2 * 4096 * 2  # bytes of the residual stream of a context-parallel rank
    equal("M", M, 33_554_432)
    # Wire bytes of rings: (n-1) * shard to gather, (n-1)/n * whole to scatter.
    def tp_wire(entry):
        return coll(entry, ["tp"], "all_gather")[1] + coll(entry, ["tp"], "reduce_scatter")[1] // 2
    layers, embedding, head = 10_737_418_240, 134_217_728, 201_326_592
    equal("tp of stage 0", tp_wire(first), layers + embedding)
    equal("tp of stage 1", tp_wire(last), layers + head)
    # An all-reduce moves 2(t-1)/t times its buffer, which is once for t=2.
    equal("cross-entropy", coll(last, ["tp"], "all_reduce", "fwd")[1], 196_608)
    equal("ring", sent(first, "cp")[1], 1_610_612_736)
    equal("ring of stage 1", sent(last, "cp")[1], 1_610_612_736)
    for entry in (first, last):
        equal("pipeline", sent(entry, "pp"), (4, 67_108_864))
    P = [entry["memory"]["persistent_bytes"]["parameter"] // 2 for entry in (first, last)]
    equal("parameters", P, [2_007_629_824, 2_007_633_920])
    scattered, gathered = coll(first, ["cp", "dp"], "reduce_scatter"), coll(first, ["cp", "dp"], "all_gather")
    equal("collectives of the optimizer", (scattered[0], gathered[0]), (1, 1))
    equal("optimizer, wire", 3 * scattered[1] // 4 + 3 * gathered[1], 9_034_334_208)
    equal("norms over tp", coll(first, ["tp"], "all_reduce", "grad_sync"), (1, 524_288))
    products = [sum(entry["matrix_operations_by_phase"].values()) for entry in (first, last)]
    equal("mean products", sum(products) // 2, 210_825_985_916_928)


def zero():
    """Volumes over n ranks with m micro-batches, and bytes of states."""
    P, n = 8_030_261_248, 8
    inside = P - 2 * 128256 * 4096 - 4096  # parameters of the layers
    for m in (1, 4):
        base = f"llama3-8b --dp={n} --batch={n * m} --micro-batch=1"
        (one,) = compiled(base + " --zero=1")["classes"]
        equal(f"ZeRO-1, m={m}", (coll(one, ["dp"], "reduce_scatter"), coll(one, ["dp"], "all_gather")),
              ((1, 4 * P), (1, 2 * P // n)))
        (two,) = compiled(base + " --zero=2")["classes"]
        equal(f"ZeRO-2, m={m}", (coll(two, ["dp"], "reduce_scatter")[1], coll(two, ["dp"], "all_gather")),
              (m * 4 * P, (1, 2 * P // n)))
        (three,) = compiled(base + " --zero=3 --zero-root=units --grad-dtype=bf16")["classes"]
        equal(f"ZeRO-3, m={m}", (coll(three, ["dp"], "reduce_scatter"), coll(three, ["dp"], "all_gather")),
              ((m * 34, m * 2 * P), (m * 68, m * 2 * 2 * P // n)))
        # Recomputation reads what backward gathers; a group of layers is gathered twice.
        for layers, again in ((1, 0), (4, 1)):
            (full,) = compiled(base + f" --zero=3 --zero-root=units --recompute=full --recompute-layers={layers}")["classes"]
            equal(f"ZeRO-3, groups of {layers}, m={m}", coll(full, ["dp"], "all_gather", "bwd"),
                  (m * (34 + 32 * again), m * 2 * (P + again * inside) // n))
    # ZeRO-1 reduces once a step, also layer by layer.
    (one,) = compiled(f"llama3-8b --dp={n} --batch={n * 4} --micro-batch=1 --zero=1 --gradient-reduction=per-layer")["classes"]
    equal("ZeRO-1, per layer", coll(one, ["dp"], "reduce_scatter"), (32 + 1, 4 * P))
    # A unit has biases and norms, which backward does not read: 12h^2 + 13h of a GPT layer.
    h, L = 1600, 48
    layers = L * (12 * h * h + 13 * h)
    whole = layers + (50257 + 1024) * h + 2 * h
    for root, units, want in (("kept", L, layers), ("units", L + 2, whole)):
        for recompute in ("none", "selective", "full"):
            (gpt,) = compiled(f"gpt2-1.5b --dp=2 --batch=2 --zero=3 --zero-root={root} --recompute={recompute}")["classes"]
            equal(f"GPT, {root}, {recompute}", [coll(gpt, ["dp"], "all_gather", phase) for phase in ("fwd", "bwd")],
                  [(L + (1 if root == "kept" else 2), whole), (units, want)])
    wire = (n - 1) * 2 * (2 * P // n) + (n - 1) * 2 * P // n
    equal("FSDP on the wire, m=1", wire, 42_158_871_552)
    (hybrid,) = compiled("llama3-8b --dp=16 --dp-replicate=2 --batch=16 --zero=3")["classes"]
    equal("hybrid", (coll(hybrid, ["dp"], "reduce_scatter")[1], coll(hybrid, ["dp_replicate"], "all_reduce")[1]),
          (4 * P, 4 * P // n))
    for level, want in ((0, (2, 12)), (1, (2, 12 / n)), (2, (2, 12 / n)), (3, (2 / n, 12 / n))):
        (entry,) = compiled(f"llama3-8b --dp={n} --batch={n} --zero={level}")["classes"]
        states = entry["memory"]["persistent_bytes"]
        equal(f"states, level {level}", (states["parameter"], states["optimizer"]), (want[0] * P, want[1] * P))
        gradient = entry["memory"]["largest_bytes"]["gradient"]
        equal(f"gradients, level {level}", gradient, 4 * P // (n if level >= 2 else 1))


def zero_stages():
    """ZeRO of pipelines: each device shards and reduces what its stages hold, and messages
    are activations only; the two copies of a tied embedding are summed once."""
    n, m, stages = 2, 4, 4
    for model, layer, ends, tied in (
            ("llama3-8b --seq=256", 218_112_000, (128_256 * 4096, 128_256 * 4096 + 4096), 0),
            ("gpt2-1.5b", 30_740_800, (51_281 * 1600, 50_257 * 1600 + 2 * 1600), 50_257 * 1600)):
        base = f"{model} --set=L={stages} --pp={stages} --dp={n} --batch={n * m} --micro-batch=1"
        held = [layer + ends[0], layer, layer, layer + ends[1]]
        copies = [tied, 0, 0, tied]
        plain = [sent(entry, "pp") for entry in compiled(base)["classes"]]
        for flags in ("--zero=1", "--zero=2", "--zero=3", "--zero=3 --zero-root=units", "--zero=2"
                      " --schedule=zb-h1"):
            level = int(flags[7])
            classes = compiled(f"{base} {flags}")["classes"]
            equal(f"{flags}, messages", [sent(entry, "pp") for entry in classes], plain)
            states = [entry["memory"]["persistent_bytes"] for entry in classes]
            equal(f"{flags}, moments", [state["optimizer"] for state in states], [12 * p // n for p in held])
            equal(f"{flags}, parameters", [state["parameter"] for state in states],
                  [2 * p // (n if level == 3 else 1) for p in held])
            equal(f"{flags}, gradients", [coll(entry, ["dp"], "reduce_scatter")[1] for entry in classes],
                  [4 * p * (m if level >= 2 else 1) for p in held])
            equal(f"{flags}, copies", [coll(entry, ["pp"], "all_reduce")[1] for entry in classes],
                  [4 * p // (n if level >= 2 else 1) for p in copies])


def types():
    """Element types of each kind of tensor: bytes of states, of what layers save, and of
    collectives."""
    P, n, L = 8_030_261_248, 8, 32
    matrices = P - 2 * 128256 * 4096 - (2 * L + 1) * 4096  # of the layers
    def run(flags, layers=L):
        return compiled(f"llama3-8b --dp={n} --batch={n} --set=L={layers} {flags}")["classes"][0]
    def layer(flags):
        return run(flags, 4)["memory"]["largest_bytes"]["activation"] - run(flags, 3)["memory"]["largest_bytes"]["activation"]
    stored = "--param-dtype=f32"
    equal("what a layer saves", layer(stored), layer(""))
    equal("products", run(stored)["matrix_operations_by_phase"], run("")["matrix_operations_by_phase"])
    for flags, parameter, optimizer in (("", 2, 12), (stored, 4, 8), ("--param-dtype=f8E4M3FN", 1, 12),
                                        ("--dtype=f32 --param-dtype=bf16", 2, 12),
                                        (f"{stored} --optimizer-dtype=bf16", 4, 4)):
        states = run(flags)["memory"]["persistent_bytes"]
        equal(f"states, {flags}", (states["parameter"], states["optimizer"]), (parameter * P, optimizer * P))
        equal(f"gradients, {flags}", run(flags)["memory"]["largest_bytes"]["gradient"], 4 * P)
    tied = [compiled(f"gpt2-1.5b --pp=4 --batch=8 --micro-batch=1 {flags}")["classes"] for flags in (stored, "")]
    equal("sends of a tied model", *[[sent(entry, "pp") for entry in classes] for classes in tied])
    # Parameters are gathered as they are read if that is less, 8-bit casts if one says so.
    fsdp = "--zero=3 --zero-root=units"
    for flags, size, reduced in (("", 2 * P, 4 * P), (stored, 2 * P, 4 * P), (f"{stored} --grad-dtype=bf16", 2 * P, 2 * P),
                                 ("--param-dtype=f8E4M3FN", P, 4 * P), ("--fp8", 2 * P, 4 * P),
                                 (f"{stored} --fp8", 2 * P, 4 * P),
                                 ("--fp8 --fp8-gather", 2 * P - matrices, 4 * P),
                                 (f"{stored} --fp8 --fp8-gather", 2 * P - matrices, 4 * P),
                                 (f"{stored} --recompute=full", 2 * P, 4 * P)):
        entry = run(f"{fsdp} {flags}")
        gathered = [coll(entry, ["dp"], "all_gather", phase)[1] for phase in ("fwd", "bwd")]
        equal(f"gathered, {flags}", gathered, [size // n] * 2)
        equal(f"scattered, {flags}", coll(entry, ["dp"], "reduce_scatter")[1], reduced)
    states = run(f"{fsdp} {stored}")["memory"]["persistent_bytes"]
    equal("sharded states", (states["parameter"], states["optimizer"]), (4 * P // n, 8 * P // n))


def in_flight():
    """Most saved activations of a stage, in micro-batches times virtual stages, and one
    message: what the last forward has made until it is sent, or an input that is received
    ahead."""
    def peaks(schedule, virtual=1):
        m = compiled(f"{TINY} --batch=8 --micro-batch=1 --pp=4 --schedule={schedule} --virtual-stages={virtual}")
        return [entry["memory"]["largest_bytes"]["activation"] for entry in m["classes"]]
    (entry,) = compiled(f"{TINY} --set=L=4 --batch=1")["classes"]
    (more,) = compiled(f"{TINY} --set=L=8 --batch=1")["classes"]
    few, many = (e["memory"]["largest_bytes"]["activation"] for e in (entry, more))
    stage, head, message = many - few, few - (many - few), 64 * 64 * 2
    ends = [message, message, message, message + head]
    equal("GPipe", peaks("gpipe"), [8 * stage + message] * 3 + [8 * (stage + head)])
    equal("1F1B", peaks("1f1b"), [k * stage + end for k, end in zip((4, 3, 2, 1), ends)])
    equal("interleaved", peaks("interleaved", 2), [k * stage // 2 + end for k, end in zip((11, 9, 7, 5), ends)])


def replayed():
    """Pipeline stages that replay groups of layers, or their first layers."""
    def run(flags, p):
        return compiled(f"{TINY} --batch=8 --micro-batch=1 --recompute=full --pp={p} {flags}")["classes"]
    def again(entry):
        phases = entry["matrix_operations_by_phase"]
        return phases.get("recompute", 0), phases["bwd"]
    (one,) = run("", 1)
    layer = again(one)[0] // 16
    stream = 64 * 64 * 2  # bytes that a layer reads of one micro-batch
    for p, v in ((2, 1), (4, 1), (2, 2)):
        stages = f"--virtual-stages={v}"
        whole, of = run(stages, p), 16 // p
        for entry in run(f"{stages} --recompute-layers=2", p):
            equal(f"groups, p={p}, v={v}", again(entry)[0], of * layer)
        for size in range(1, of // v):
            for entry in run(f"{stages} --recompute-method=block --recompute-layers={size}", p):
                equal(f"first {size}, p={p}, v={v}", again(entry)[0], v * size * layer)
        # 1F1B: the first stage holds p micro-batches.
        if v == 1:
            saved = [entry["memory"]["largest_bytes"]["activation"] for entry in
                     (whole[0], run("--recompute-layers=2", p)[0])]
            equal(f"inputs that a group of 2 does not save, p={p}", saved[0] - saved[1], p * of // 2 * stream)


def messages():
    """Narayanan et al. 2.2: messages that each device sends."""
    def sends(p, m, v, schedule):
        result = compiled(f"{TINY} --set=L={p * v} --batch={m} --micro-batch=1 --pp={p} --virtual-stages={v} "
                          f"--schedule={schedule}")
        return [sent(entry, "pp")[0] for entry in result["classes"]]
    equal("1F1B", sends(4, 8, 1, "1f1b"), [8, 16, 16, 8])
    equal("interleaved", sends(4, 8, 2, "interleaved"), [24, 32, 32, 24])
    for schedule in ("zb-v", "dualpipe-v"):
        equal(schedule, sends(4, 8, 2, schedule), [16, 32, 32, 16])
    equal("p=8, m=16", sum(sends(8, 16, 1, "1f1b")), 224)
    equal("p=8, m=16, v=3", sum(sends(8, 16, 3, "interleaved")), 736)
    for flags, divisor in (("--tp=2", 1), ("--tp=2 --sequence-parallel", 2), ("--cp=2", 2)):
        result = compiled(f"{TINY} --batch=8 --micro-batch=2 --pp=2 {flags}")
        equal(f"bytes with {flags}", sent(result["classes"][0], "pp"), (4, 4 * 2 * 64 * 64 * 2 // divisor))
    tied = compiled("gpt2-1.5b --pp=4 --batch=8 --micro-batch=1")["classes"]
    shared = [coll(entry, ["pp"], "all_reduce") for entry in tied]
    equal("tied embedding", shared, [(1, 50257 * 1600 * 4), (0, 0), (0, 0), (1, 50257 * 1600 * 4)])


def layers():
    """Korthikanti et al. section 4 without dropout: what one more layer saves of a sequence,
    with tensor, sequence and context parallelism and each recomputation."""
    s = 2048
    # Bytes per token: what tensor parallelism leaves whole, what it shards (of that, the
    # log-sum-exps and the keys and values), and the stream.
    llama = (8 * 4096 + 8, 4 * 4096 + 4 * 1024 + 4 * 32 + 6 * 14336, 4 * 32, 4 * 1024, 2 * 4096)
    gpt = (8 * 12288 + 16, 24 * 12288 + 4 * 96, 4 * 96, 4 * 12288, 2 * 12288)
    equal("Llama 3 8B", llama[0] + llama[1], 139_400)
    equal("GPT-3", s * (gpt[0] + gpt[1] + 2 * 12288 - 16), 856_424_448)
    for name, model, (whole, sharded, lse, keys, stream) in (
            ("Llama", "llama3-8b", llama), ("GPT", "gpt3-175b --set=V=50304", gpt)):
        for t, sp, c, kind in ((1, 0, 1, ""), (4, 0, 1, ""), (4, 1, 1, ""), (1, 0, 4, "all_gather"), (1, 0, 4, "a2a"),
                               (1, 0, 4, "p2p"), (2, 0, 2, "a2a"), (2, 1, 2, "all_gather"), (2, 1, 2, "p2p")):
            tokens, parts = s // c, t if sp else 1
            want = {"none": tokens * whole // parts + tokens * sharded // t, "full": tokens * stream // parts}
            want["selective"] = want["none"] - tokens * lse // t
            base = f"{model} --batch=1 --seq={s} --tp={t} --cp={c}" + " --sequence-parallel" * sp
            base += f" --cp-comm-type={kind}" if kind else ""
            def grown(flags):
                peaks = [compiled(f"{base} {flags} --set=L={depth}")["classes"][0]["memory"] for depth in (4, 8)]
                return (peaks[1]["largest_bytes"]["activation"] - peaks[0]["largest_bytes"]["activation"]) // 4
            for recompute, size in want.items():
                equal(f"{name} t={t} sp={sp} c={c} {kind} {recompute}", grown(f"--recompute={recompute}"), size)
            # Kept are the keys and values of all ranks, and the inputs that were gathered.
            if kind in ("", "all_gather"):
                inputs = tokens * 4 * stream // 2 * (parts - 1) // parts
                equal("kept", grown("--keep-gathered"), want["none"] + inputs + tokens * keys * (c - 1) // t)


def context():
    """Llama 3 8B, one sequence of 8192, c=4: bytes of a layer."""
    def entry(kind):
        return compiled(f"llama3-8b --cp=4 --cp-comm-type={kind} --batch=1 --seq=8192")["classes"][0]
    L, C = 32, 8_388_608
    ring = entry("p2p")
    by_phase = Counter()
    for message in ring["messages"]:
        if message["kind"] == "send":
            by_phase[message["phase"]] += message["bytes"] // L
    equal("ring", dict(by_phase), {"fwd": 3 * C, "bwd": 6 * C})
    gathered = entry("all_gather")
    equal("gathered", [coll(gathered, ["cp"], kind, phase)[1] // L for kind, phase in
                       (("all_gather", "fwd"), ("all_gather", "bwd"), ("reduce_scatter", "bwd"))], [C, C, 4 * C])
    # Send buffers of q, k, v and the output: 2a + 2g heads of 128 over s/c tokens.
    ulysses = entry("a2a")
    whole = 8192 // 4 * 128 * 2 * (2 * 32 + 2 * 8)
    equal("all-to-alls", coll(ulysses, ["cp"], "all_to_all", "fwd"), (4 * L, whole * L))
    equal("all-to-alls, wire", whole * 3 // 4, 31_457_280)
    for kind, other in (("ring", ring), ("gathered", gathered), ("Ulysses", ulysses)):
        equal(f"products, {kind}", other["matrix_operations_by_phase"]["fwd"], 140_550_657_277_952 // 4)


def ranges():
    """Contiguous context parallelism: rank i has the queries of range i, which see q*q*i pairs
    in the ranges before it and q(q+1)/2 in its own; each pair is 4 E H operations forward,
    twice that backward. All other products are divided equally."""
    S, B, L, H, E = 64, 8, 16, 8, 8
    model = f"{TINY} --batch={B} --micro-batch=1"
    names = {"none": ("fwd", "bwd"), "selective": ("fwd", "bwd", "recompute"), "full": ("fwd", "bwd", "recompute")}
    flags = ["", "--tp=2 --sequence-parallel", "--dp=2 --zero=3", "--pp=2", "--dp=2 --tp=2 --pp=4 --schedule=zb-h1",
             "--pp=2 --schedule=zb-v --virtual-stages=2", "--pp=2 --schedule=dualpipe-v --virtual-stages=2"]
    cases = [(c, kind, flags[0], recompute) for c in (2, 4, 8) for kind in ("all_gather", "p2p")
             for recompute in names]
    cases += [(4, kind, other, recompute) for kind in ("all_gather", "p2p") for other in flags[1:]
              for recompute in ("none", "full")]
    for c, kind, other, recompute in cases:
        (one,) = compiled(f"{model} --recompute={recompute}")["classes"]
        whole = one["matrix_operations_by_phase"]
        q = S // c
        pairs = [q * q * i + q * (q + 1) // 2 for i in range(c)]
        assert sum(pairs) == S * (S + 1) // 2
        want = []
        for i in range(c):
            entry = {}
            for phase in names[recompute]:
                each = 4 * E * H * B * L * (2 if phase == "bwd" else 1)
                entry[phase] = (whole[phase] - each * sum(pairs)) // c + each * pairs[i]
            want.append(entry)
        have = [Counter() for _ in range(c)]
        result = compiled(f"{model} --cp={c} --cp-comm-type={kind} --cp-balance=none --recompute={recompute} {other}")
        for entry in result["classes"]:
            for phase, operations in entry["matrix_operations_by_phase"].items():
                have[entry["coordinates"]["cp"]][phase] += operations * entry["ranks"]
        equal(f"ranges, {c} {kind} {other} {recompute}", [dict(entry) for entry in have], want)
    # Where all ranks see whole sequences, or all pairs are counted, there is nothing to split.
    for same in ("--cp-comm-type=a2a", "--cp-comm-type=p2p --attention-count=full"):
        equal(f"classes, {same}", len(compiled(f"{model} --cp=4 --cp-balance=none {same}")["classes"]), 1)
    # A hidden block is passed on, but is no node: rank i computes i + 1 blocks of c, and sets
    # the gradients of the farthest one to zero.
    ring = compiled(f"{model} --cp=8 --cp-comm-type=p2p --cp-balance=none")["classes"]
    nodes = [entry["compute_nodes"] for entry in ring]
    equal("blocks", [n - nodes[0] for n in nodes], [L * B * (2 * i - (i == 7)) for i in range(8)])
    assert len({json.dumps([sorted(m.items()) for m in entry["messages"]]) for entry in ring}) == 1


def stage():
    """STAGE's volumes for a GPT-3-like 5B: elements in bf16. Its all-gathers are those of
    forward and backward and re-gathers, 6 shards a layer and micro-batch; its
    reduce-scatters 4 whole buffers."""
    model = ("gpt3-175b --set=D=4096 --set=H=32 --set=F=16384 --set=V=8192 --set=P=2048 --set=L=24 --seq=2048 "
             "--batch=128 --micro-batch=1")
    (entry,) = compiled(model + " --tp=8 --sequence-parallel")["classes"]
    whole = 2048 * 4096 * 128  # elements of the stream, all micro-batches
    scattered = coll(entry, ["tp"], "reduce_scatter")[1] // 2 - whole  # without the head
    equal("reduce-scatter", round(scattered / 1e6, 1), 103_079.2)
    # Outside of layers: the head's input, twice, and the gradient of the embeddings.
    in_layers = coll(entry, ["tp"], "all_gather")[1] // 2 - 3 * whole // 8
    equal("all-gather, shards", in_layers, 24 * 6 * whole // 8)
    equal("all-gather", in_layers // 10**5 / 10, 19_327.3)  # as printed, cut off
    pipeline = compiled(model + " --pp=8")["classes"]
    equal("first stage", sent(pipeline[0], "pp"), (128, 2 * whole))
    equal("first stage, elements", round(whole / 1e6, 1), 1_073.7)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name.replace("-", "_")]()
