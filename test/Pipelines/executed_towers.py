"""Compares encoders, encoder-decoders and a diffusion transformer with steps that really ran.

Inputs/executed_towers.json holds what was counted while small models trained in PyTorch on 1 or
2 processes. Here a config.json describes each of them. Everything is fp32, and the full
attention square counted. A fused attention saves the log-sum-exp of a query and head instead of
its softmax; what is data in a run is an input here: patches, features of time, the mask. One run
has a frozen encoder with a table of its own.

Usage: executed_towers.py towers
"""

import json
from pathlib import Path

import checks
import traces
from checks import Plan

RUNS = json.loads((Path(__file__).parent / "Inputs" / "executed_towers.json").read_text())
FP32 = 4


def t5(c):
    return {
        "model_type": "t5",
        "d_model": c["hidden"],
        "d_kv": c["head_dim"],
        "num_heads": c["heads"],
        "d_ff": c["ffn"],
        "num_layers": c["enc_layers"],
        "num_decoder_layers": c["layers"],
        "relative_attention_num_buckets": c["buckets"],
        "vocab_size": c["vocab"],
        "tie_word_embeddings": c["tied"],
    }, [f"--set=T={c['enc_seq']}"]


def bert(c):
    return {
        "model_type": "bert",
        "architectures": ["BertForPreTraining"],
        "hidden_size": c["hidden"],
        "num_hidden_layers": c["layers"],
        "num_attention_heads": c["heads"],
        "intermediate_size": c["ffn"],
        "vocab_size": c["vocab"],
        "max_position_embeddings": c["max_pos"],
    }, []


def vit(c):
    side, patch = round((c["seq"] - 1) ** 0.5), 4
    return {
        "model_type": "vit",
        "architectures": ["ViTForImageClassification"],
        "hidden_size": c["hidden"],
        "num_hidden_layers": c["layers"],
        "num_attention_heads": c["heads"],
        "intermediate_size": c["ffn"],
        "image_size": side * patch,
        "patch_size": patch,
        "num_channels": c["patch_dim"] // patch**2,
        "id2label": {str(i): str(i) for i in range(c["classes"])},
    }, []


def dit(c):
    return {
        "_class_name": "DiTTransformer2DModel",
        "num_attention_heads": c["heads"],
        "attention_head_dim": c["head_dim"],
        "num_layers": c["layers"],
        "in_channels": c["patch_dim"] // 4,
        "sample_size": 2 * round(c["seq"] ** 0.5),
        "patch_size": 2,
        "num_embeds_ada_norm": c["classes"],
    }, [f"--set=TD={c['t_dim']}"]


def frozen_encoder(text):
    """The model with a table of its own for the encoder, all of which is then frozen."""
    shared = "@token_embedding(%read) :"
    assert text.count(shared) == 1
    return text.replace(shared, '@token_embedding(%read) <"encoder"> :')


def softmaxes(c):
    """(queries, keys) of each attention with something trained before it."""
    if c["arch"] != "t5":
        return [(c["seq"], c["seq"])] * c["layers"]
    decoder = [(c["seq"], c["seq"]), (c["seq"], c["enc_seq"])] * c["layers"]
    encoder = 0 if c.get("freeze") == "encoder" else c["enc_layers"]
    return [(c["enc_seq"], c["enc_seq"])] * encoder + decoder


def data(c):
    """Elements of inputs that a run saves."""
    tokens = c["micro_batch"] * c["seq"]
    if c["arch"] == "vit":
        return (tokens - c["micro_batch"]) * c["patch_dim"]
    if c["arch"] == "dit":
        return tokens * c["patch_dim"] + c["micro_batch"] * c["t_dim"]
    return tokens if c["arch"] == "bert" else 0


def saved(c, rank):
    """Bytes of floats that are saved, with a fused attention: its backward needs the bias of
    its scores, which is one for all layers of a stack."""
    rows = c["micro_batch"] * c["heads"] // c["tp"]
    fused = sum(rows * (q * k - q) for q, k in softmaxes(c))
    stacks = {queries for queries, keys in softmaxes(c) if queries == keys} if c["arch"] == "t5" else ()
    bias = sum(c["heads"] // c["tp"] * tokens**2 for tokens in stacks)
    return rank["saved_float_bytes"] - FP32 * (fused + data(c) - bias)


def collectives(found):
    result = {}
    for (kind, _, ranks, phase), (count, size) in found.collectives().items():
        before = result.get((kind, ranks, phase), (0, 0))
        result[kind, ranks, phase] = (before[0] + count, before[1] + size)
    return result


def towers(check):
    """All runs."""
    for name, run in RUNS.items():
        check.context = name
        c = run["config"]
        plan = Plan(
            tp=c["tp"],
            dp=c["dp"],
            pp=c["pp"],
            micro_batch=c["micro_batch"] if c["pp"] > 1 else None,
            batch=c["micro_batch"] * c["microbatches"] * c["dp"],
            dtype="f32",
            attention_count="full",
        )
        config, flags = {"t5": t5, "bert": bert, "vit": vit, "dit": dit}[c["arch"]](c)
        file = check.folder / f"{name}.json"
        file.write_text(json.dumps(config))
        if c["arch"] in ("t5", "bert"):
            flags = [*flags, f"--seq={c['seq']}"]
        if c.get("freeze") == "encoder":
            text = traces.run("stg-translate", "--import-hf-config", file)
            file = file.with_suffix(".mlir")
            file.write_text(frozen_encoder(text))
            flags = [*flags, "--freeze=encoder"]
        compiled = check.compile(str(file), plan, *flags)
        check.equal("classes", len(compiled.classes), c["pp"])
        for number, found in enumerate(compiled.classes):
            rank = run["ranks"][number]
            check.context = f"{name}, stage {number}"
            check.equal("operations in products", found.products, {k: rank[k] for k in ("fwd", "bwd")})
            expected = {(k, n, phase): (count, size) for k, n, phase, count, size in rank["collectives"]}
            check.equal("collectives", collectives(found), expected)
            check.equal("parameters", found.states["parameter"], rank["param_bytes"])
            check.equal("gradients", found.largest["gradient"], rank["grad_bytes"])
            check.equal("optimizer state", found.states["optimizer"], rank["optimizer_state_bytes"])
            if c["pp"] == 1:
                check.equal("activations", found.largest["activation"], saved(c, rank))
            sent = {phase: (count, size) for phase, count, size in rank["sent"]}
            if c["pp"] > 1:
                check.equal("messages", {p: found.sent("pp", p) for p in sent}, sent)


if __name__ == "__main__":
    checks.main(towers)
