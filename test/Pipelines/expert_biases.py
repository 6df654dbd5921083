"""Compares what experts with biases, and without, send over tp with closed forms.

A step of inference sums three kinds of rows of T tokens and h numbers over tp: what the embedding
gives, and in each of L layers what attention and the experts give: (1 + 2 L) T h. What the experts
make of a token is combined before that; the bias of the last matrix is that of one rank, and the
others have zeros, so that all have its bytes. In training the rows of the A experts of each token
are summed before they are combined: (1 + (1 + A) L) T h, which frameworks do.

Usage: expert_biases.py FOLDER
"""

import json
import sys
from pathlib import Path

import traces
from comparing import equal, finish

h, f, V, X, A, L, H, K, d = 64, 96, 256, 8, 4, 4, 8, 4, 16
SIZES = {"hidden_size": h, "intermediate_size": f, "num_hidden_layers": L, "num_attention_heads": H,
         "num_key_value_heads": K, "head_dim": d, "vocab_size": V, "max_position_embeddings": 64,
         "num_local_experts": X, "num_experts_per_tok": A, "sliding_window": 16}
MODELS = {"gpt_oss": SIZES, "mixtral": SIZES}
B = 8
STEPS = {"--kv-len=40": 1, "--kv-len=40 --seq=3": 3, "--mode=prefill --seq=12": 12}


def compile_step(path, *flags):
    return traces.compile_json(path, f"--batch={B}", *flags, "--dry-run")


def sums(summary, axes=("tp",), phase="fwd"):
    """All-reduces over the axes: how many, and bytes, in each class."""
    return [(entry["count"], entry["bytes"]) for part in summary["classes"] for entry in part["collectives"]
            if entry["kind"] == "all_reduce" and entry["axes"] == list(axes) and entry["phase"] == phase]


def biases(tp):
    """Bytes of the biases of a rank: of experts gate and up in parts, the last one whole."""
    return 2 * L * X * (2 * f // tp + h)


def inference(path, name):
    for step, tokens in STEPS.items():
        row = 2 * B * tokens * h
        for flags in (
            "--tp=2", "--tp=4", "--tp=2 --preset=vllm", "--tp=2 --weight-dtype=int8", "--tp=2 --param-dtype=f32",
            "--tp=2 --fp8", "--tp=4 --expert-hits=expected", "--tp=4 --preset=vllm-experts",
        ):
            summary = compile_step(path, *step.split(), *flags.split())
            equal(f"{name} {step} {flags}", sums(summary), [(1 + 2 * L, (1 + 2 * L) * row)])
        parts = compile_step(path, *step.split(), "--tp=2", "--overlapped-batches=2")
        equal(f"{name} {step}, parts", sums(parts), [(2 * (1 + 2 * L), (1 + 2 * L) * row)])
        # The first stage looks up, too.
        stages = compile_step(path, *step.split(), "--tp=2", "--pp=2")
        equal(f"{name} {step}, stages", sums(stages),
              [(1 + L, (1 + L) * row), (L, L * row)])


def training(path, name):
    S = 16
    row = 2 * B * S * h
    summary = compile_step(path, "--tp=2", f"--seq={S}")
    small = 3 * 4 * B * S  # Three numbers of each token for the loss.
    equal(f"{name}, training", sum(size for _, size in sums(summary)), (1 + (1 + A) * L) * row + small)


def main(folder):
    paths = {}
    for name, config in MODELS.items():
        paths[name] = Path(folder) / f"{name}.json"
        paths[name].write_text(json.dumps({"model_type": name} | config))
        inference(paths[name], name)
        training(paths[name], name)
    # All ranks have the bytes of the bias: what a rank has less with twice as many.
    for tp in (1, 2, 4):
        held = compile_step(paths["gpt_oss"], "--kv-len=40", f"--tp={tp}")["classes"][0]
        matrices = 3 * X * h * f // tp + h * (H + 2 * K) * d // tp + H * d * h // tp + h * X
        # Norms, biases of attention and of the router, sinks.
        vectors = 2 * h + (H + 2 * K) * d // tp + h + X + H // tp
        whole = 2 * (L * (matrices + vectors) + 2 * V * h // tp + h) + biases(tp)
        equal(f"parameters, tp {tp}", held["memory"]["persistent_bytes"]["parameter"], whole)


main(sys.argv[1])
finish()
