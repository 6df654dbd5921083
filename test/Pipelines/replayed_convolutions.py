"""Compares what --replay-convolutions replays and does not save with closed forms.

Kernels of a causal convolution make again in backward what its activation reads, and those of Mamba and
Mamba-2 what the scan reads, too: of n tokens of a layer the channels of the convolution once, or twice.

* Bytes that are not saved: those; what convolutions read is saved.
* Operations that are replayed: of the convolution 2 per channel and element of its weight, of a bias 1, and
  of the activation, where it is made again, those of forward.
* Nothing else changes, under tensor, context, expert and pipeline parallelism and ZeRO, either.

Usage: replayed_convolutions.py
"""

import traces

B, S, BF16 = 4, 64, 2
SILU = 4  # Operations of an element: a sigmoid, of four operations, whose product with it is one of those.
n = B * S
D, V = 64, 512
MAMBA = dict(D=D, V=V, S=S, L=4, MC=128, MN=8, MR=4)
MAMBA2 = dict(D=D, V=V, S=S, L=4, MH=8, MP=16, MN=32, MQ=16)
NEXT = dict(D=D, V=V, S=S, L=8, H=4, K=2, E=32, R=8, F=32, X=8, A=2, G=32, LK=4, LV=8, EK=16, EL=8, MQ=16)
# Layers with a convolution, its channels, whether it has a bias, and whether the activation is made again.
MODELS = {
    "mamba-2.8b": (MAMBA, 4, 128, True, True),
    "mamba2-2.7b": (MAMBA2, 4, 8 * 16 + 2 * 32, True, True),
    "qwen3-next-80b-a3b": (NEXT, 6, 2 * 4 * 16 + 8 * 8, False, False),
}
WIDTH = 4
PLANS = [
    [],
    ["--tp=2"],
    ["--tp=2", "--sequence-parallel", "--dp=2", "--zero=3"],
    ["--cp=2", "--cp-comm-type=a2a"],
    ["--dp=2", "--pp=2", "--micro-batch=1"],
]


def compile_step(model, *flags):
    values = [f"--set={name}={value}" for name, value in MODELS[model][0].items()]
    return traces.compile_json(model, *values, f"--batch={B}", "--dry-run", *flags)


def check(what, found, expected):
    if found != expected:
        raise SystemExit(f"{what}: {found}, expected {expected}")
    print(f"{what}: {found}")


def get_saved(summary):
    return summary["classes"][0]["memory"]["largest_bytes"]["activation"]


def sum_operations(summary, phase):
    return sum(entry["ranks"] * entry["operations_by_phase"].get(phase, 0) for entry in summary["classes"])


def check_model(model):
    _, layers, channels, has_bias, is_activated = MODELS[model]
    nothing, replayed = compile_step(model), compile_step(model, "--replay-convolutions")
    check(f"{model}: bytes that are not saved", get_saved(nothing) - get_saved(replayed),
          layers * BF16 * n * channels * (2 if is_activated else 1))
    check(f"{model}: operations that are replayed", sum_operations(replayed, "recompute"),
          layers * n * channels * (2 * WIDTH + has_bias + SILU * is_activated))
    check(f"{model}: products that are replayed", traces.products(replayed).get("recompute", 0), 0)
    # Beside modules: those of the model are replayed, too.
    modules = ["--recompute=selective", "--recompute-modules=layernorm"]
    both, norms = compile_step(model, "--replay-convolutions", *modules), compile_step(model, *modules)
    check(f"{model}: bytes beside norms", get_saved(norms) - get_saved(both), get_saved(nothing) - get_saved(replayed))
    check(f"{model}: operations beside norms", sum_operations(both, "recompute") - sum_operations(norms, "recompute"),
          sum_operations(replayed, "recompute"))
    for plan in PLANS:
        if model == "mamba2-2.7b" and "--tp=2" in plan:
            continue  # What all heads share is on each rank of tp.
        before, after = compile_step(model, *plan), compile_step(model, *plan, "--replay-convolutions")
        name = f"{model} {' '.join(plan)}"
        check(f"{name}: operations that are replayed", sum_operations(after, "recompute"),
              sum_operations(replayed, "recompute"))
        for phase in ("fwd", "bwd", "opt"):
            check(f"{name}: operations of {phase}", sum_operations(after, phase), sum_operations(before, phase))
        for old, new in zip(before["classes"], after["classes"]):
            check(f"{name}: communication", new["collectives"], old["collectives"])


for model in MODELS:
    check_model(model)
# What a preset does where nothing is said; nothing of a model without such layers.
check("preset", compile_step("mamba2-2.7b", "--preset=nemo-2025")["classes"],
      compile_step("mamba2-2.7b", "--preset=nemo-2025", "--replay-convolutions")["classes"])
check("preset, not", compile_step("mamba2-2.7b", "--preset=nemo-2025", "--replay-convolutions=false")["classes"],
      compile_step("mamba2-2.7b")["classes"])
