"""Compares more tensor parallelism than key/value heads with closed forms.

With t ranks of tensor parallelism and K < t key/value heads, each head is held by t/K
neighbours, which project the same keys and values and reduce the gradients of the
projection among themselves (NeuronX Distributed's GQAQKVColumnParallelLinear has the same
plan). So all ranks together execute what one rank does alone, and t/K - 1 times the
projections of keys and values; nothing else is done twice.

Usage: replicated_heads.py {operations|states|gradients|groups|activations}...
"""

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
from traces import compile_json, products, run  # noqa: E402

D, H, E, F, V, L, S, B = 64, 16, 8, 96, 32, 4, 32, 16
TOKENS = B * S
SIZES = f"--set=D={D} --set=H={H} --set=E={E} --set=F={F} --set=V={V} --set=L={L} --seq={S} --batch={B}"


def compiled(heads, flags, model="llama3-8b"):
    command = f"{model} {SIZES} --set=K={heads} {flags} --dry-run"
    return compile_json(*command.split())


def equal(what, have, want):
    assert have == want, f"{what}: {have}, expected {want}"
    print(f"{what}: {have}")


def operations():
    """Each rank of tp executes the same, together what is said above."""
    for heads, tp in ((8, 16), (4, 8), (2, 8), (1, 4)):
        projections = (tp // heads - 1) * 2 * TOKENS * D * 2 * heads * E * L
        for flags in ("", "--sequence-parallel --dp=2 --zero=3", "--dp=2 --pp=2 --micro-batch=2 --zero=1",
                      "--cp=2 --cp-comm-type=p2p --zero=2", "--recompute=full --dp=2", "--fp8"):
            one = products(compiled(heads, "--recompute=full" if "recompute" in flags else ""))
            want = dict(one, fwd=one["fwd"] + projections, bwd=one["bwd"] + 2 * projections)
            if "recompute" in flags:
                want["recompute"] += projections
            equal(f"K={heads} tp={tp} {flags}", products(compiled(heads, f"--tp={tp} {flags}")), want)
        experts = "--set=X=4 --set=A=2"
        one = products(compiled(heads, experts, "mixtral-8x7b"))
        many = compiled(heads, f"{experts} --tp={tp} --sequence-parallel --dp=4 --ep=2", "mixtral-8x7b")
        equal(f"experts, K={heads} tp={tp}", products(many),
              {"fwd": one["fwd"] + projections, "bwd": one["bwd"] + 2 * projections})


def local_parameters(heads, tp):
    """Parameters of a layer on a rank, those of keys and values, and those outside of layers."""
    keys_values = D * 2 * max(1, heads // tp) * E
    return 2 * D * H * E // tp + keys_values + 3 * D * F // tp + 2 * D, keys_values, 2 * V * D // tp + D


def states():
    """Bytes of parameters and optimizer, and the parameters of the model, which are not more."""
    for heads, tp in ((8, 8), (8, 16), (2, 8), (1, 4)):
        layer, _, root = local_parameters(heads, tp)
        count = L * layer + root
        manifest = compiled(heads, f"--tp={tp}")
        (entry,) = manifest["classes"]
        have = entry["memory"]["persistent_bytes"]
        equal(f"K={heads} tp={tp}", (have["parameter"], have["optimizer"]), (2 * count, 12 * count))
        equal("model", manifest["parameters"], L * (D * (2 * H + 2 * heads) * E + 3 * D * F + 2 * D) + 2 * V * D + D)
        (entry,) = compiled(heads, f"--tp={tp} --dp=2 --zero=3 --zero-root=units")["classes"]
        have = entry["memory"]["persistent_bytes"]
        equal(f"ZeRO-3 K={heads} tp={tp}", (have["parameter"], have["optimizer"]), (count, 6 * count))


def reductions(entry, axes):
    return [(c["kind"], c["phase"], c["group_size"], c["count"], c["bytes"])
            for c in entry["collectives"] if c["axes"] == axes]


def gradients():
    """The gradients of the projections of keys and values, in fp32, are all-reduced among
    the ranks that hold the same heads, before those of all parameters over dp."""
    heads, tp = 4, 16
    layer, keys_values, root = local_parameters(heads, tp)
    size = tp // heads
    group, all_ranks = ["tp_replicate"], ["tp_replicate", "tp_kv"]
    flat = [("all_reduce", "grad_sync", size, 1, 4 * L * keys_values)]
    (entry,) = compiled(heads, f"--tp={tp} --dp=2")["classes"]
    equal("replicas", reductions(entry, group), flat)
    equal("dp", reductions(entry, ["dp"]), [("all_reduce", "grad_sync", 2, 1, 4 * (L * layer + root))])
    (entry,) = compiled(heads, f"--tp={tp} --dp=2 --gradient-reduction=per-layer")["classes"]
    equal("per layer", reductions(entry, group), [("all_reduce", "grad_sync", size, L, 4 * L * keys_values)])
    (entry,) = compiled(heads, f"--tp={tp} --dp=2 --sequence-parallel")["classes"]
    equal("replicas, sequence parallel", reductions(entry, group), flat)
    norms = [c for c in reductions(entry, all_ranks) if c[1] == "grad_sync"]
    equal("norms", norms, [("all_reduce", "grad_sync", tp, 1, 4 * (2 * L + 1) * D)])
    # A layer's output twice, forward and backward, the embedding's, that of the head's input.
    shard = [c for c in reductions(entry, all_ranks) if c[0] == "reduce_scatter"]
    whole = TOKENS // 2 * D * 2
    equal("stream", shard, [("reduce_scatter", phase, tp, 2 * L + 1, (2 * L + 1) * whole) for phase in ("fwd", "bwd")])
    for level in (1, 2, 3):
        (entry,) = compiled(heads, f"--tp={tp} --dp=2 --zero={level} --micro-batch=4")["classes"]
        times = 1 if level == 1 else 2 * L
        want = (size, times, 4 * keys_values * (L if level == 1 else 2 * L))
        equal(f"ZeRO-{level}", [c[2:] for c in reductions(entry, group)], [want])
    stages = compiled(heads, f"--tp={tp} --pp=2 --micro-batch=4")["classes"]
    for entry in stages:
        equal("stage", reductions(entry, group), [("all_reduce", "grad_sync", size, 1, 2 * L * keys_values)])


def groups():
    """Ranks that hold the same heads are neighbours, all of tp are one group."""
    with tempfile.TemporaryDirectory() as folder:
        flags = f"{SIZES} --set=K=2 --tp=8 --dp=2 --pp=2 --micro-batch=4 --sequence-parallel -o {folder}"
        run("stg-compile", "llama3-8b", *flags.split())
        print(run("stg-trace", "validate", folder).strip())
        found = {tuple(ranks) for ranks in json.loads((Path(folder) / "comm_group.json").read_text()).values()}
    want = {tuple(range(first, first + size)) for size in (4, 8) for first in range(0, 32, size)}
    want |= {(first + i, first + i + 8) for first in (0, 16) for i in range(8)}
    equal("groups", sorted(found), sorted(want))


def activations():
    """Saved bytes of a layer and token: queries over tp, keys and values over their heads."""
    for heads, tp in ((8, 8), (4, 8), (1, 8)):
        (one,), (two,) = (compiled(heads, f"--tp={tp} --sequence-parallel --set=L={layers}")["classes"]
                          for layers in (L, 2 * L))
        saved = [entry["memory"]["largest_bytes"]["activation"] for entry in (one, two)]
        a, g = H // tp, max(1, heads // tp)
        want = 8 * D // tp + 4 * a * E + 4 * g * E + 6 * F // tp + 4 * a + 8 // tp
        equal(f"K={heads} tp={tp}", (saved[1] - saved[0]) // L, want * TOKENS)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
