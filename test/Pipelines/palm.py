"""Compares what stg-compile makes of the PaLM models with closed forms.

The closed forms are computed here from published hyperparameters, without a look at
models/palm.mlir: D hidden size, H heads of E, one head of keys and values, feed-forward
size 4D in three matrices, V vocabulary, one table for tokens and head, L layers, s tokens
of a sequence; t tensor-parallel ranks, B sequences. Sources:

* Chowdhery et al., arXiv:2204.02311: table 1 (parameters), and appendix B (6N + 12LHEs
  operations per token, of a step that executes nothing twice);
* its section 2: attention and feed-forward network of one input, so that their outputs
  are summed by one all-reduce, half of what layers one after the other need.

N counts what is multiplied: all parameters but the scales of the norms.

Usage: palm.py {parameters|operations|collectives|activations}...
"""

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
import traces  # noqa: E402

BF16, FP32 = 2, 4


@dataclass(frozen=True)
class PaLM:
    """Published hyperparameters."""

    D: int
    H: int
    L: int
    published: float
    E: int = 256
    V: int = 256000
    s: int = 2048


# Billions of parameters as table 1 has them.
MODELS = {
    "palm-8b": PaLM(4096, 16, 32, 8.63),
    "palm-62b": PaLM(8192, 32, 64, 62.50),
    "palm-540b": PaLM(18432, 48, 118, 540.35),
}


def local_parameters(m, t=1):
    """Of one rank: each has the whole head of keys and values, and the norms."""
    layer = 2 * m.D * m.H * m.E // t + 2 * m.D * m.E + 3 * m.D * 4 * m.D // t + m.D
    return m.L * layer + m.V * m.D // t + m.D


def key_value_parameters(m):
    return m.L * 2 * m.D * m.E


def operations(m, B, t=1):
    """Of a rank, by phase: a third of appendix B in the forward pass, and the projections
    of keys and values as often as there are ranks."""
    tokens = B * m.s
    multiplied = local_parameters(m, t) - (m.L + 1) * m.D
    forward = tokens * (2 * multiplied + 4 * m.L * m.H * m.E * m.s // t)
    return {"fwd": forward, "bwd": 2 * forward}


def tensor_collectives(m, B, t, sequence_parallel):
    """(kind, phase) -> (count, bytes of all input buffers) of the tensor-parallel ranks."""
    stream = B * m.s * m.D * BF16
    blocks = m.L + 1  # layers; the embedding forward and the head backward
    calls = {("all_reduce", "fwd"): (3, 3 * B * m.s * FP32)}  # cross-entropy
    partial = key_value_parameters(m)
    if sequence_parallel:
        for phase, gathers in (("fwd", 1), ("bwd", 2)):
            calls["reduce_scatter", phase] = (blocks, blocks * stream)
            calls["all_gather", phase] = (gathers * blocks, gathers * blocks * stream // t)
        partial += (m.L + 1) * m.D  # norms
    else:
        count, size = calls["all_reduce", "fwd"]
        calls["all_reduce", "fwd"] = (count + blocks, size + blocks * stream)
        calls["all_reduce", "bwd"] = (blocks, blocks * stream)
    calls["all_reduce", "grad_sync"] = (1, partial * FP32)
    return calls


def saved_per_layer(m, t):
    """Bytes of one layer and sequence, with sequence parallelism: input and normalized input
    with its deviation; queries, keys, values, their attention and its log-sum-exp; both
    halves of the gated network and their product."""
    stream = m.s * (4 * m.D + 4) // t
    heads = BF16 * (2 * m.H // t + 2) * m.E + FP32 * m.H // t
    return stream + m.s * (heads + BF16 * 3 * 4 * m.D // t)


def compiled(name, *flags):
    (entry,) = (summary := traces.compile_json(name, *flags, "--dry-run"))["classes"]
    return summary, entry


def parameters(check):
    for name, m in MODELS.items():
        summary, _ = compiled(name, "--batch=1")
        check.equal(name, summary["parameters"], local_parameters(m))
        # The last digit is cut off in one row and rounded in another.
        differ = abs(summary["parameters"] - m.published * 1e9)
        check.equal(f"{name}, published to the last digit", differ < 1e7, True)
        for t in (2, 8, 16):
            _, entry = compiled(name, "--batch=1", f"--tp={t}")
            have = entry["memory"]["persistent_bytes"]
            count = local_parameters(m, t)
            check.equal(f"{name}, t={t}", (have["parameter"], have["optimizer"]), (BF16 * count, 3 * FP32 * count))


def operations_agree(check):
    for name, m in MODELS.items():
        step = 2 * m.s * (6 * (local_parameters(m) - (m.L + 1) * m.D) + 12 * m.L * m.H * m.E * m.s)
        check.equal(f"{name}, appendix B", sum(operations(m, 2).values()), step)
        for t in (1, 4, 16):
            _, entry = compiled(name, "--batch=2", f"--tp={t}", "--attention-count=full")
            check.equal(f"{name}, t={t}", entry["matrix_operations_by_phase"], operations(m, 2, t))


def collectives(check):
    m = MODELS["palm-540b"]
    for t in (2, 16):
        for flags in ([], ["--sequence-parallel"]):
            summary, _ = compiled("palm-540b", "--batch=4", "--dp=2", f"--tp={t}", *flags)
            expected = {
                (kind, "tp_replicate", t, phase): cost
                for (kind, phase), cost in tensor_collectives(m, 2, t, bool(flags)).items()
            }
            expected["all_reduce", "dp", 2, "grad_sync"] = (1, local_parameters(m, t) * FP32)
            check.equal(f"t={t} {flags}", traces.json_collectives(summary), expected)


def activations(check):
    m = MODELS["palm-540b"]
    for t in (1, 4, 16):
        largest = Counter()
        for layers in (2, 3):
            _, entry = compiled("palm-540b", "--batch=1", f"--tp={t}", f"--set=L={layers}",
                                *["--sequence-parallel"] * (t > 1))
            largest[layers] = entry["memory"]["largest_bytes"]["activation"]
        check.equal(f"t={t}", largest[3] - largest[2], saved_per_layer(m, t))


CHECKS = {"parameters": parameters, "operations": operations_agree, "collectives": collectives, "activations": activations}


def main(names):
    check = traces.Checker()
    for check.context in names:
        CHECKS[check.context](check)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
