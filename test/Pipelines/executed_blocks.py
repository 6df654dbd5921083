"""Compares variants of blocks with training steps that really ran.

Inputs/executed_blocks.json holds what was counted while small models trained in PyTorch on
1 or 2 processes: operations of matrix products, collectives, and the bytes of parameters,
gradients, optimizer state and of what was saved for backward. Inputs/variants.mlir makes these models of the library's
blocks; its options say which. Everything is fp32, and the full attention square counted.

A run caps the scores of attention by a tanh, or adds ALiBi's distances to them, which is no
product: a fused kernel keeps neither. The gradient of the input of a
shared expert's gate is an outer product, which contracts nothing: a run multiplies matrices
for it, and here it is a pointwise op.

Runs with adapters or frozen parts execute no gradient that nothing trained needs: neither
do layers here that have no trained parameter before them.

Usage: executed_blocks.py variants MODEL_FILE
"""

import json
from pathlib import Path

import checks
from checks import FP32, Plan

RUNS = json.loads((Path(__file__).parent / "Inputs" / "executed_blocks.json").read_text())


def sizes(config):
    """Values of the model's symbols."""
    values = {
        "S": "seq",
        "D": "hidden",
        "H": "heads",
        "K": "kv_heads",
        "E": "head_dim",
        "F": "ffn",
        "V": "vocab",
        "L": "layers",
        "QL": "q_rank",
        "KL": "kv_rank",
        "EN": "d_nope",
        "ER": "d_rope",
        "EV": "d_v",
        "X": "experts",
        "A": "topk",
        "M": "moe_ffn",
        "G": "shared_ffn",
        "LD": "dense_first",
        "MH": "ssm_heads",
        "MN": "d_state",
        "MG": "groups",
        "CW": "conv_k",
        "MQ": "chunk",
    }
    found = {symbol: config[key] for symbol, key in values.items() if config.get(key)}
    if "MH" in found:
        found["MP"] = config["d_inner"] // found["MH"]
    return found


def options(config):
    """Values of the model's options."""
    if config.get("arch") == "mamba2":
        return {"scans": True, "mixer_groups": config["groups"] > 1}
    experts = "none" if not config["experts"] else "behind" if config["dense_first"] else "all"
    sigmoid = bool(config["experts"]) and config["router"] == "sigmoid"
    return {
        "latent": config["attn"] == "mla",
        "mixtures": experts,
        "parallel": config["parallel_block"],
        "qk_norm": config["qk_norm"],
        "rotary": config["pos"] == "rope",
        "norm_kind": config["norm"],
        "placement": "both" if config["sandwich"] else "input",
        "gated": config["act"] != "gelu",
        "activation": "silu" if config["act"] == "swiglu" else "gelu",
        "router": "sigmoid" if sigmoid else "softmax",
        "normalized": sigmoid,
        "shared_gate": config["shared_gate"],
        "tied": config["tied"],
        "logit_cap": config["logit_cap"] > 0,
        "score_cap": config["score_cap"] > 0,
        "alibi": config["pos"] == "alibi",
    }


TARGETS = {
    "qv": "q_proj:v_proj",
    "qkvo": "q_proj:k_proj:v_proj:o_proj",
    "all": "all-linear",
}
FROZEN = {"embed": "tok_embeddings", "layers2": "layers:2"}


def training(config):
    """Flags that say what is trained."""
    words = []
    if config.get("mtp"):
        words.append(f"--mtp={config['mtp']}")
    if config.get("lora"):
        targets = TARGETS[config["lora"]]
        alpha = f",alpha={config['lora_alpha']}"
        words.append(f"--lora=rank={config['lora_r']},targets={targets}{alpha}")
    elif config.get("freeze"):
        names = [FROZEN[part] for part in config["freeze"].split("+")]
        words.append("--freeze=" + ",".join(names))
    return words


def flags(config):
    """The command line that makes the model."""
    words = {**sizes(config), **options(config)}
    settings = [f"--set={name}={str(value).lower()}" for name, value in words.items()]
    return settings + training(config)


def products(run):
    """Operations of products that contract a dimension."""
    config = run["config"]
    outer = 2 * config["micro_batch"] * config["seq"] * config["hidden"] * config["layers"]
    return {"fwd": run["fwd"], "bwd": run["bwd"] - (outer if config.get("shared_gate") else 0)}


def collectives(only):
    """(kind, ranks, phase) -> (count, bytes)."""
    result = {}
    for (kind, _, ranks, phase), (count, size) in only.collectives().items():
        before = result.get((kind, ranks, phase), (0, 0))
        result[kind, ranks, phase] = (before[0] + count, before[1] + size)
    return result


def attention_layers(config):
    """Layers whose attention has something trained before it, and so a backward pass."""
    if config.get("arch") == "mamba2":
        return 0
    frozen = 2 if "layers2" in config.get("freeze", "") else 0
    return config["layers"] - frozen + config.get("mtp", 0)


def not_fused(config):
    """Elements that a run saves of what a fused kernel makes again.

    Attention: softmaxes, of which we save a log-sum-exp for each query and head, and capped
    scores. Mamba-2, with A = cumsum(-exp(a_log) dt) of a chunk's tokens: A, exp(A), exp(A_end - A)
    and the last times dt; exp(A_end), exp(a_log) and d; C B^T of groups and of heads; decayed B and
    C of each head; states at the starts of chunks.
    """
    sequences, seq = config["micro_batch"], config["seq"]
    heads = config.get("heads", 0) // config["tp"]
    saved = attention_layers(config) * sequences * heads * (seq**2 - seq)
    if config.get("score_cap"):
        saved += config["layers"] * sequences * heads * seq**2
    if config.get("arch") == "mamba2":
        tokens, size = sequences * seq, config["d_state"]
        heads, groups = config["ssm_heads"] // config["tp"], config["groups"] // config["tp"]
        chunks, channels = tokens // config["chunk"], config["d_inner"] // config["ssm_heads"]
        decays = 4 * tokens * heads + chunks * heads + 2 * heads
        products = tokens * config["chunk"] * (groups + heads) + 2 * tokens * heads * size
        saved += config["layers"] * (decays + products + chunks * heads * size * channels)
    return saved


def only_here(config):
    """Elements that we save, and a run does not: the indices of chosen experts, with 4 bytes,
    which are no floats, and a gate for each element of a shared expert's output instead of each
    token's; a run has the chosen scores before they are divided by their sum."""
    layers = (config.get("layers", 0) - config.get("dense_first", 0)) if config.get("experts") else 0
    tokens = config["micro_batch"] * config["seq"]
    indices = tokens * config.get("topk", 0)
    divided = indices if config.get("router") == "sigmoid" else 0
    gate = tokens * config["hidden"] if config.get("shared_gate") else 0
    return layers * (indices - divided + gate)


def saved(run):
    """Bytes of activations that backward reads."""
    config = run["config"]
    return run["saved_float_bytes"] + FP32 * (only_here(config) - not_fused(config))


def variants(check, model_file):
    """All runs."""
    for name, run in RUNS.items():
        check.context = name
        config = run["config"]
        plan = Plan(
            tp=config["tp"],
            dp=config["dp"],
            ep=config.get("ep", 1),
            batch=config["micro_batch"] * config["dp"],
            sequence_parallel=config["sp"],
            dtype="f32",
            attention_count="full",
        )
        compiled = check.compile(model_file, plan, *flags(config))
        only = compiled.only
        check.equal("operations in products", only.products, products(run))
        expected = {(k, n, phase): (c, b) for k, n, phase, c, b in run["collectives"]}
        check.equal("collectives", collectives(only), expected)
        check.equal("parameters", only.states["parameter"], run["param_bytes"])
        if "trainable_param_bytes" in run:
            frozen = run["param_bytes"] - run["trainable_param_bytes"]
            trained = compiled["parameters"] - frozen // 4
            check.equal("trained parameters", compiled["trainable_parameters"], trained)
        check.equal("gradients", only.largest["gradient"], run["grad_bytes"])
        check.equal("activations", only.largest["activation"], saved(run))
        check.equal("optimizer state", only.states["optimizer"], run["optimizer_state_bytes"])


if __name__ == "__main__":
    checks.main(variants)
