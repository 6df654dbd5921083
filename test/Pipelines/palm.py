"""Compares what stg-compile makes of the PaLM models with closed forms.

The closed forms are computed here from published hyperparameters, without a look at
models/palm.mlir: h hidden size, a heads of d, one head of keys and values, feed-forward
size 4h in three matrices, V vocabulary, one table for tokens and head, L layers, s tokens
of a sequence; t tensor-parallel ranks, B sequences. Sources:

* Chowdhery et al., arXiv:2204.02311: table 1 (parameters), and appendix B (6N + 12Lads
  operations per token, of a step that executes nothing twice);
* its section 2: attention and feed-forward network of one input, so that their outputs
  are summed by one all-reduce, half of what layers one after the other need.

N counts what is multiplied: all parameters but the scales of the norms.

Usage: palm.py {parameters|operations|collectives|activations}...
"""

from dataclasses import replace

import checks
from checks import BF16, FP32, LIBRARY, Plan

# Billions of parameters as table 1 has them.
PUBLISHED = {"palm-8b": 8.63, "palm-62b": 62.50, "palm-540b": 540.35}


def local_parameters(m, t=1):
    """Of one rank: each has the whole head of keys and values, and the norms."""
    layer = 2 * m.h * m.a * m.d // t + 2 * m.h * m.d + 3 * m.h * m.f // t + m.h
    return m.L * layer + m.V * m.h // t + m.h


def key_value_parameters(m):
    """Of the one head of keys and values of all layers."""
    return m.L * 2 * m.h * m.d


def phases(m, B, t=1):
    """Of a rank, by phase: a third of appendix B in the forward pass, and the projections
    of keys and values as often as there are ranks."""
    tokens = B * m.s
    multiplied = local_parameters(m, t) - (m.L + 1) * m.h
    forward = tokens * (2 * multiplied + 4 * m.L * m.a * m.d * m.s // t)
    return {"fwd": forward, "bwd": 2 * forward}


def tensor_collectives(m, B, t, sequence_parallel):
    """(kind, phase) -> (count, bytes of all input buffers) of the tensor-parallel ranks."""
    stream = B * m.s * m.h * BF16
    blocks = m.L + 1  # layers; the embedding forward and the head backward
    calls = {("all_reduce", "fwd"): (3, 3 * B * m.s * FP32)}  # cross-entropy
    partial = key_value_parameters(m)
    if sequence_parallel:
        for phase, gathers in (("fwd", 1), ("bwd", 2)):
            calls["reduce_scatter", phase] = (blocks, blocks * stream)
            calls["all_gather", phase] = (gathers * blocks, gathers * blocks * stream // t)
        partial += (m.L + 1) * m.h  # norms
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
    stream = m.s * (4 * m.h + 4) // t
    heads = BF16 * (2 * m.a // t + 2) * m.d + FP32 * m.a // t
    return stream + m.s * (heads + BF16 * 3 * m.f // t)


def parameters(check):
    """Whole models, and what a tensor-parallel rank holds."""
    for name, published in PUBLISHED.items():
        m = LIBRARY[name]
        check.context = name
        count = check.compile(m, Plan(batch=1))["parameters"]
        check.equal("parameters", count, local_parameters(m))
        # The last digit is cut off in one row and rounded in another.
        check.equal("published to the last digit", abs(count - published * 1e9) < 1e7, True)
        for t in (2, 8, 16):
            have = check.compile(m, Plan(tp=t, batch=1)).only.states
            count = local_parameters(m, t)
            check.equal(f"t={t}", (have["parameter"], have["optimizer"]), (BF16 * count, 3 * FP32 * count))


def operations(check):
    """Products by phase, and appendix B."""
    for name in PUBLISHED:
        m = LIBRARY[name]
        check.context = name
        step = 2 * m.s * (6 * (local_parameters(m) - (m.L + 1) * m.h) + 12 * m.L * m.a * m.d * m.s)
        check.equal("appendix B", sum(phases(m, 2).values()), step)
        for t in (1, 4, 16):
            plan = Plan(tp=t, batch=2, attention_count="full")
            check.equal(f"t={t}", check.compile(m, plan).only.products, phases(m, 2, t))


def collectives(check):
    """All of them, by phase."""
    m = LIBRARY["palm-540b"]
    for t in (2, 16):
        for sp in (False, True):
            plan = Plan(tp=t, dp=2, batch=4, sequence_parallel=sp)
            check.context = plan
            expected = {
                (kind, "tp", t, phase): cost
                for (kind, phase), cost in tensor_collectives(m, 2, t, sp).items()
            }
            expected["all_reduce", "dp", 2, "grad_sync"] = (1, local_parameters(m, t) * FP32)
            check.equal("collectives", check.compile(m, plan).only.collectives(), expected)


def activations(check):
    """What one more layer saves."""
    m = LIBRARY["palm-540b"]
    for t in (1, 4, 16):
        plan = Plan(tp=t, batch=1, sequence_parallel=True)
        check.context = plan
        two, three = (
            check.compile(replace(m, L=layers), plan).only.largest["activation"] for layers in (2, 3)
        )
        check.equal("layer", three - two, saved_per_layer(m, t))


if __name__ == "__main__":
    checks.main(parameters, operations, collectives, activations)
