"""Compares what --recompute-modules replays and does not save with closed forms.

A small DeepSeek-V3: n tokens of a micro-batch, D hidden size, H heads with queries and keys
of size EN + ER and values of size EV, latents of QL and KL; DF, F and G feed-forward sizes
of dense layers, of experts and of the shared one; X experts of which a token goes through A;
LD dense layers and LM with experts.

* Products: of mla_up_proj, those behind the latents; of the others all that the module has.
* Bytes that are not saved: outputs of what is not replayed, and inputs, stay.
* Nodes: a replay has those of the forward pass that the module has there, with their
  collectives, under tensor, sequence, expert and pipeline parallelism, ZeRO and 8 bits.

Usage: recompute_modules.py
"""

import json
import re
import tempfile
from collections import Counter
from pathlib import Path

import traces

D, H, QL, KL, EN, ER, EV = 64, 8, 48, 32, 16, 8, 24
DF, F, G, X, A, S, B = 160, 40, 80, 16, 4, 32, 4
LD, LM = 2, 3
VALUES = dict(D=D, H=H, QL=QL, KL=KL, EN=EN, ER=ER, EV=EV, DF=DF, F=F, G=G, X=X, A=A, S=S, L=LD + LM, LD=LD,
              NG=4, NL=2, V=4096)
L = LD + LM
n = B * S
BF16, F32, I32 = 2, 4, 4

# Operations of products, and bytes that are not saved, in all layers of a model of one device.
PRODUCTS = {
    "core_attn": L * 2 * B * S * (S + 1) // 2 * H * (EN + ER + EV),
    "layernorm": 0,
    "mla_up_proj": L * 2 * n * (QL * H * (EN + ER) + KL * H * (EN + EV)),
    "moe_act": 0,
    "shared_experts": LM * 2 * n * 3 * D * G,
    "mlp": LD * 2 * n * 3 * D * DF,
    "moe": LM * 2 * n * (D * X + A * 3 * D * F + 3 * D * G),
}
SHARED = BF16 * n * 3 * G  # gate, up, and their product
EXPERTS = BF16 * n * A * (D + 3 * F + D)  # rows, gate, up, their product, outputs
ROUTER = n * (I32 * A + F32 * A + F32 + F32 * X)  # choices, weights, their sum, scores
BYTES = {
    "core_attn": L * F32 * n * H,  # log-sum-exps
    "layernorm": L * 2 * (BF16 * n * D + F32 * n),  # outputs and reciprocal roots
    # Likewise of both latents; queries, keys, values. What is saved is not the latent of
    # keys and values, but that with the rotary key.
    "mla_up_proj": L * (BF16 * n * (QL + KL) + 2 * F32 * n + BF16 * n * H * (2 * (EN + ER) + EV) - BF16 * n * ER),
    "moe_act": LM * BF16 * n * A * F,
    "shared_experts": LM * SHARED,
    "mlp": LD * BF16 * n * 3 * DF,
    "moe": LM * (SHARED + EXPERTS + ROUTER),
}
# The repeats and the names of what a module executes.
BOTH, DENSE, SPARSE = ("dense", "layers"), ("dense",), ("layers",)
NODES = {
    "core_attn": (BOTH, {"attention"}),
    "layernorm": (BOTH, {"attention_norm", "ffn_norm"}),
    "mla_up_proj": (BOTH, {"q_a_norm", "q_b_proj", "rope_q", "kv_a_norm", "kv_b_proj", "rope_k", "rotary_keys"}),
    "moe_act": (SPARSE, {"swiglu"}),
    "shared_experts": (SPARSE, {"shared_gate_up_proj", "shared_swiglu", "shared_down_proj"}),
    "mlp": (DENSE, {"gate_up_proj", "swiglu", "down_proj"}),
    "moe": (SPARSE, {"router", "router_cast", "router_sigmoid", "router_correction", "router_compared",
                     "router_top_k", "router_weights", "dispatch", "gate_up_proj", "swiglu", "down_proj", "combine",
                     "shared_gate_up_proj", "shared_swiglu", "shared_down_proj", "experts_sum"}),
}
# What products of 8 bits read of a norm, or of an activation, is converted for the first of them.
CASTS = {
    "layernorm": {("dense", "q_a_proj"), ("dense", "gate_up_proj"), ("layers", "q_a_proj"), ("layers", "shared_gate_up_proj")},
    "moe_act": {("layers", "down_proj")},
    "shared_experts": {("layers", "shared_gate_up_proj")},
}
PLANS = [
    [],
    ["--tp=2"],
    ["--tp=2", "--sequence-parallel", "--dp=2", "--ep=2"],
    ["--tp=2", "--sequence-parallel", "--dp=2", "--ep=4", "--etp=1", "--zero=1"],
    ["--dp=2", "--ep=2", "--pp=2", "--micro-batch=1", "--layers-per-stage=3,2"],
    ["--dp=2", "--zero=3"],
    ["--fp8"],
]
PARTS_OF_MOE = {"moe_act", "shared_experts"}


def compile_step(*flags):
    values = [f"--set={name}={value}" for name, value in VALUES.items()]
    return traces.compile_json("deepseek-v3", *values, *flags, *([] if "-o" in flags else ["--dry-run"]))


def select(modules):
    return ["--recompute=selective", f"--recompute-modules={','.join(modules)}"] if modules else []


def check(what, found, expected):
    if found != expected:
        raise SystemExit(f"{what}: {found}, expected {expected}")
    print(f"{what}: {found}")


def disjoint(modules):
    """Those of them that are no part of another one."""
    return set(modules) - (PARTS_OF_MOE if "moe" in modules else set())


def get_saved(summary):
    """Bytes of activations where the forward pass ends: the loss has more than a layer's replay."""
    return summary["classes"][0]["memory"]["largest_bytes"]["activation"]


def sum_operations(summary, phase):
    return sum(entry["ranks"] * entry["operations_by_phase"].get(phase, 0) for entry in summary["classes"])


def check_closed_forms():
    nothing = compile_step(f"--batch={B}")
    combinations = [[module] for module in PRODUCTS] + [
        ["layernorm", "moe_act"], ["layernorm", "mla_up_proj", "moe_act"], ["mla_up_proj", "mlp"],
        ["mlp", "moe", "layernorm"], list(PRODUCTS)]
    for modules in combinations:
        summary = compile_step(f"--batch={B}", *select(modules))
        own = disjoint(modules)
        name = "+".join(modules)
        check(f"{name}: operations of products that are replayed", traces.products(summary).get("recompute", 0),
              sum(PRODUCTS[module] for module in own))
        check(f"{name}: bytes that are not saved", get_saved(nothing) - get_saved(summary),
              sum(BYTES[module] for module in own))
        for phase in ("fwd", "bwd", "opt"):
            check(f"{name}: operations of {phase}", sum_operations(summary, phase), sum_operations(nothing, phase))


def count_nodes(folder, rank):
    """By phase and repeat, how often an op has a node with so many operations and bytes."""
    counts = {}
    for node in traces.nodes(folder, rank):
        match = re.search(r"\b(dense|layers)\.\d+\.(.*?)\.(fwd|recompute)\b(.*)", node.name)
        if match:
            repeat, op, phase, rest = match.groups()
            what = op, rest, node.attributes.get("num_ops"), node.attributes.get("comm_size")
            counts.setdefault((phase, repeat), Counter())[what] += 1
    return counts


def check_none():
    """Without a module nothing is replayed, not even core attention."""
    nothing, none = compile_step(f"--batch={B}"), compile_step(f"--batch={B}", *select(["none"]))
    check("none: classes", none["classes"], nothing["classes"])


def check_patterns():
    """gpt-oss has layers of two kinds, in a loop in a loop. Its experts have biases: what the
    first product makes is saved instead of the sum with them."""
    sizes = dict(D=48, F=40, X=8, A=2, S=32, L=6)
    rows = B * sizes["S"]

    def compile_pattern(*flags):
        values = [f"--set={name}={value}" for name, value in sizes.items()]
        return traces.compile_json("gpt-oss-120b", *values, f"--batch={B}", *flags, "--dry-run")

    nothing = compile_pattern()
    for module, expected in {
            "layernorm": sizes["L"] * 2 * (BF16 * rows * sizes["D"] + F32 * rows),
            "moe_act": sizes["L"] * BF16 * rows * sizes["A"] * sizes["F"]}.items():
        summary = compile_pattern(*select([module]))
        check(f"gpt-oss, {module}: bytes that are not saved", get_saved(nothing) - get_saved(summary), expected)
        for phase in ("fwd", "bwd", "opt"):
            check(f"gpt-oss, {module}: operations of {phase}", sum_operations(summary, phase),
                  sum_operations(nothing, phase))


def check_streams():
    """Branches of a small DeepSeek-V4 read and write several streams. Behind latents are queries alone: keys are
    made of the stream, and those of blocks are; what selects these is not replayed."""
    config = {"model_type": "deepseek_v4", "vocab_size": 96, "hidden_size": 64, "moe_intermediate_size": 24, "num_hidden_layers": 6,
              "num_attention_heads": 4, "head_dim": 32, "qk_rope_head_dim": 8, "q_lora_rank": 16, "o_groups": 2, "o_lora_rank": 8,
              "n_routed_experts": 8, "num_experts_per_tok": 2, "index_n_heads": 2, "index_head_dim": 16, "index_topk": 6,
              "sliding_window": 10, "num_hash_layers": 2, "num_nextn_predict_layers": 0, "compress_ratios": [0, 4, 128, 4, 128, 4]}
    layers, width, heads, size, q, f, chosen = 6, 64, 4, 32, 16, 24, 2
    rows = B * 256
    pairs = sum(layers * min(t, 10) + 3 * min(t // 4, 6) + 2 * (t // 128) for t in range(1, 257))
    expected = {
        # Products read the output without positions, so that with them is not saved either.
        "core_attn": (2 * B * heads * 2 * size * pairs, layers * rows * heads * (F32 + BF16 * size)),
        "layernorm": (0, layers * 2 * (BF16 * rows * width + F32 * rows)),
        # The latent, queries with and without their norm, and both roots.
        "mla_up_proj": (layers * 2 * rows * q * heads * size,
                        layers * (BF16 * rows * (q + 2 * heads * size) + F32 * rows * (1 + heads))),
        "moe_act": (0, layers * BF16 * rows * chosen * f),
        "shared_experts": (layers * 2 * rows * 3 * width * f, layers * BF16 * rows * 3 * f),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.json"
        path.write_text(json.dumps(config))

        def compile_streams(*flags):
            return traces.compile_json(path, "--seq=256", f"--batch={B}", *flags, "--dry-run")

        nothing = compile_streams()
        for module, (products, saved) in expected.items():
            summary = compile_streams(*select([module]))
            check(f"streams, {module}: operations of products that are replayed",
                  traces.products(summary).get("recompute", 0), products)
            check(f"streams, {module}: bytes that are not saved", get_saved(nothing) - get_saved(summary), saved)
            for phase in ("fwd", "bwd", "opt"):
                check(f"streams, {module}: operations of {phase}", sum_operations(summary, phase),
                      sum_operations(nothing, phase))


def is_of(module, repeat, op, rest):
    repeats, ops = NODES[module]
    return repeat in repeats and op in ops or rest == ".cast" and (repeat, op) in CASTS.get(module, ())


def check_nodes(modules, plan):
    """Replays have the nodes that the forward pass has of the modules, and no others."""
    found, expected = Counter(), Counter()
    with tempfile.TemporaryDirectory() as folder:
        summary = compile_step(f"--batch={B}", *plan, *select(modules), "-o", folder)
        for rank in range(summary["ranks"]):
            counts = count_nodes(folder, rank)
            for repeat in BOTH:
                found.update({(rank, repeat, *what): count
                              for what, count in counts.get(("recompute", repeat), {}).items()})
                expected.update({(rank, repeat, *what): count
                                 for what, count in counts.get(("fwd", repeat), {}).items()
                                 if any(is_of(module, repeat, *what[:2]) for module in modules)})
    name = f"{' '.join(plan)} {'+'.join(modules)}"
    if found != expected:
        raise SystemExit(f"{name}: replayed {found - expected}, not replayed {expected - found}")
    print(f"{name}: {found.total()} nodes")


def main():
    check_closed_forms()
    check_none()
    check_patterns()
    check_streams()
    for plan in PLANS:
        for modules in [[module] for module in PRODUCTS] + [["layernorm", "mla_up_proj", "moe_act"], list(PRODUCTS)]:
            check_nodes(modules, plan)


main()
