"""Stages without layers at the ends of a pipeline.

As in Megatron-LM where the embedding and the loss count as layers, the first stage has the
embedding alone, and the last one the final norm, the head and the loss. Matrix operations and
parameters of each device are computed here, without the compiler.
"""
import json
import subprocess

BATCH, S, D, H, K, E, F, V, L = 8, 16, 64, 4, 2, 16, 128, 256, 6
TOKENS = BATCH * S
LAYER = D * (H + 2 * K) * E + H * E * D + 3 * D * F
# Two products of causal attention; backward has two for each.
PAIRS = BATCH * S * (S + 1) // 2
ATTENTION = 4 * H * E * PAIRS * 3
# Operations of products, and parameters: a layer, the embedding, the head with its norm.
LAYER_WORK = (6 * TOKENS * LAYER + ATTENTION, LAYER + 2 * D)
EMBEDDING = (0, V * D)
HEAD = (6 * TOKENS * V * D, V * D + D)


def compile_model(*flags):
    sizes = dict(D=D, H=H, K=K, E=E, F=F, V=V, L=L)
    text = subprocess.run(
        ["stg-compile", "llama3-8b", f"--seq={S}", f"--batch={BATCH}", "--micro-batch=1", "--dry-run", "--json",
         "--attention-count=executed"] + [f"--set={n}={v}" for n, v in sizes.items()] + list(flags),
        check=True, capture_output=True, text=True).stdout
    return json.loads(text)["classes"]


def get_work(entry):
    return (sum(entry["matrix_operations_by_phase"].values()),
            entry["memory"]["persistent_bytes"]["parameter"] // 2)


def add(*parts):
    return tuple(map(sum, zip(*parts)))


def check(expected, *flags):
    found = [get_work(entry) for entry in compile_model(*flags)]
    assert found == expected, (flags, found, expected)


layers = [LAYER_WORK] * 3
for schedule in ("1f1b", "gpipe", "zb-h1"):
    check([EMBEDDING, add(*layers), add(*layers), HEAD],
          "--pp=4", "--layers-per-stage=0,3,3,0", f"--schedule={schedule}")
# Two ranks of each stage have a half of the products, and of all parameters but norms.
halves = [tuple(map(sum, zip(half, (0, norms)))) for half, norms in (
    ((0, V * D // 2), 0), ((3 * LAYER_WORK[0] // 2, 3 * LAYER // 2), 6 * D), ((HEAD[0] // 2, V * D // 2), D))]
for flags in ([], ["--sequence-parallel"]):
    check([halves[0], halves[1], halves[1], halves[2]], "--pp=4", "--layers-per-stage=0,3,3,0", "--tp=2", *flags)
check([add(EMBEDDING, *layers), add(*layers), HEAD], "--pp=3", "--layers-per-stage=3,3,0")
check([EMBEDDING, add(*layers), add(*layers, HEAD)], "--pp=3", "--layers-per-stage=0,3,3")
# Device 0 has stages 0 and 4, device 3 stages 3 and 7; back and forth: 0 and 7, 3 and 4.
check([add(EMBEDDING, LAYER_WORK)] + [add(LAYER_WORK, LAYER_WORK)] * 2 + [add(LAYER_WORK, HEAD)],
      "--pp=4", "--virtual-stages=2", "--layers-per-stage=0,1,1,1,1,1,1,0")
check([add(EMBEDDING, HEAD)] + [add(LAYER_WORK, LAYER_WORK)] * 3,
      "--pp=4", "--virtual-stages=2", "--layers-per-stage=0,1,1,1,1,1,1,0", "--schedule=zb-v")
