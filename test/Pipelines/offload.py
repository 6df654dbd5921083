"""Compares what is transferred to and from the host, and what that leaves in the memory of a
rank, with closed forms.

A Llama with untied embeddings: h hidden size, V vocabulary, L layers, s tokens of a sequence;
micro-batches of one sequence, of which a rank has m; p pipeline stages, D data ranks. bf16
parameters and activations, fp32 gradients, moments and master copy.

* activations: what a layer saves (Korthikanti et al., arXiv:2205.05198), of each layer of the
  stage and each micro-batch, goes there in forward and comes back in backward. The host has
  at most that of the micro-batches in flight.
* optimizer: 12 bytes of each parameter of the stage, or of its shard, come and go in the step.
* parameters: 2 bytes of each come in the forward and the backward pass of each micro-batch
  (of the table of tokens in forward only, unless its unit is gathered again; of a root that is
  kept once) and in the step, after
  which they go.

The rank's peak is at the loss, when no layer executes: it falls by all that is on the host.

Rings of context parallelism read what a layer has loaded: it is loaded once, whatever ranges of
tokens a rank sees, so that all ranks have the same collectives.

Usage: offload.py {activations|rings|states|parts|names|files}...
"""

from dataclasses import replace

import checks
import traces
from checks import BF16, FP32, LIBRARY, Plan
from memory_forms import SMALL, in_flight, is_last, message, parameters, saved_by_layer, step

# The loss needs most: few layers, short sequences, many words.
LOSS = replace(SMALL, L=4, V=8192, s=512)


def transferred(entry):
    """(kind, phase) -> bytes."""
    return {(e["kind"], e["phase"]): e["bytes"] for e in entry.entry.get("transfers", [])}


def compare(check, model, plan, kinds, *more):
    """What the plan is without and with buffers on the host."""
    flags = [f"--offload={kinds}", *more]
    check.context = f"{model} {plan} {' '.join(flags)}"
    return check.compile(model, plan).classes, check.compile(model, plan, *flags).classes


def falls(check, before, after, moved):
    """The peak is at the same place, and by so much lower; all categories beside those that
    have been moved are as they were."""
    check.equal("place of the peak", after["memory"]["peak_at"], before["memory"]["peak_at"])
    was, now = before["memory"]["peak_bytes"], after["memory"]["peak_bytes"]
    check.equal("peak", now["total"], was["total"] - moved)
    check.equal("same", after.products, before.products)


def activations(check):
    plans = [step(1), step(2, D=2), step(2, D=2, zero=1), step(2, D=2, zero=3), step(4, p=2)]
    plans += [step(8, p=4, D=2, zero=1), step(2, recompute="full"), step(8, p=2, schedule="gpipe")]
    for plan in plans:
        model = SMALL
        before, after = compare(check, model, plan, "activations")
        for i, entry in enumerate(after):
            layer = message(model) if plan.recompute == "full" else saved_by_layer(model)
            stage = model.L // plan.p * layer
            back = "recompute" if plan.recompute == "full" else "bwd"
            moved = plan.micro_batches * stage
            want = {("store", "fwd"): moved, ("load", back): moved}
            check.equal(f"transfers of {i}", transferred(entry), want)
            check.equal(f"host of {i}", entry.largest["host"], in_flight(plan, i) * stage)
            check.equal(f"products of {i}", entry.products, before[i].products)
    for m in (1, 2):
        plan = step(m)
        (before,), (after,) = compare(check, LOSS, plan, "activations")
        falls(check, before, after, LOSS.L * saved_by_layer(LOSS))


def rings(check):
    """Layers of two kinds, in turns. All that is stored is loaded once, on each rank as on others."""
    flags = ["gpt-oss-20b", "--set=L=4", "--set=V=1024", "--batch=2", "--micro-batch=1", "--seq=1024",
             "--cp=2", "--offload=activations", "--dry-run"]
    stored = {}
    for exchange in "p2p", "gather_p2p":
        for balance in "none", "zigzag":
            for more in ("--zero=3", "--zero=2", "--zero=3 --prefetch=0", "--zero=3 --offload-ahead=0"):
                check.context = f"rings {exchange} {balance} {more}"
                summary = traces.compile_json(
                    *flags, f"--cp-comm-type={exchange}", f"--cp-balance={balance}", *more.split())
                for entry in summary["classes"]:
                    moved = {(e["kind"], e["phase"]): (e["count"], e["bytes"]) for e in entry["transfers"]}
                    check.equal("kinds", sorted(moved), [("load", "bwd"), ("store", "fwd")])
                    check.equal("loads", moved["load", "bwd"], moved["store", "fwd"])
                    check.equal("stores", moved["store", "fwd"],
                                stored.setdefault((exchange, balance), moved["store", "fwd"]))


def states(check):
    for plan in (step(1), step(2, D=2), step(2, D=2, zero=1), step(2, D=2, zero=2),
                 step(2, D=2, zero=3), step(4, p=2, D=2, zero=1)):
        shards = plan.D if plan.zero else 1
        before, after = compare(check, LOSS, plan, "optimizer")
        for i, entry in enumerate(after):
            moved = 12 * parameters(LOSS, plan, i) // shards
            check.equal(f"before, of {i}", before[i].states["optimizer"], moved)
            check.equal(f"transfers of {i}", transferred(entry),
                        {("load", "opt"): moved, ("store", "opt"): moved})
            check.equal(f"states of {i}", entry.states.get("optimizer", 0), 0)
            check.equal(f"host of {i}", entry.states["host"], moved)
            if is_last(plan, i):
                falls(check, before[i], entry, moved)
    for plan in (step(1), step(2, D=2), step(4, p=2), step(2, D=2, zero=3),
                 step(2, D=2, zero=3, zero_root="units")):
        shards = plan.D if plan.zero else 1
        before, after = compare(check, LOSS, plan, "parameters")
        for i, entry in enumerate(after):
            layers = LOSS.L // plan.p * LOSS.layer
            head = LOSS.head if is_last(plan, i) else 0
            root = (LOSS.embedding if i == 0 else 0) + head
            again = head if not plan.zero else 0 if plan.zero_root == "kept" else root
            bytes = BF16
            m = plan.micro_batches
            whole = layers + root
            check.equal(f"transfers of {i}", transferred(entry), {
                ("load", "fwd"): m * (layers + root) * bytes // shards,
                ("load", "bwd"): m * (layers + again) * bytes // shards,
                ("load", "opt"): whole * bytes // shards,
                ("store", "opt"): whole * bytes // shards})
            check.equal(f"host of {i}", entry.states["host"], whole * bytes // shards)
            check.equal(f"states of {i}", entry.states.get("parameter", 0), 0)
            if is_last(plan, i) and not plan.zero:
                falls(check, before[i], entry, whole * bytes)


def saved_tensors(model):
    """Bytes of each tensor that a layer saves: input, output and deviation of two norms, q, k,
    v, output and log-sum-exp of attention, gate with up, and their product."""
    tokens = model.s
    stream, heads = tokens * model.h * BF16, tokens * model.a * model.d * BF16
    kept = tokens * model.g * model.d * BF16
    wide = tokens * model.f * BF16
    return [stream] * 4 + [tokens * FP32] * 2 + [heads] * 2 + [kept] * 2 + [
        tokens * model.a * FP32, 2 * wide, wide]


def parts(check):
    """The largest first, as long as they are within the part."""
    plan = step(2)
    sizes = sorted(saved_tensors(SMALL), reverse=True)
    check.context = "what a layer saves"
    check.equal("all", sum(sizes), saved_by_layer(SMALL))
    for percent in (20, 50, 75, 99, 100):
        taken = 0
        for size in sizes:
            if (taken + size) * 100 <= sum(sizes) * percent:
                taken += size
        _, (entry,) = compare(check, SMALL, plan, "activations", *(
            [f"--offload-percent={percent}"] if percent < 100 else []))
        moved = plan.micro_batches * SMALL.L * taken
        check.equal("transfers", transferred(entry),
                    {("store", "fwd"): moved, ("load", "bwd"): moved})
    # All kinds together are the sum of each by itself.
    _, (entry,) = compare(check, SMALL, plan, "all")
    total = {}
    for kind in ("activations", "optimizer", "parameters"):
        _, (one,) = compare(check, SMALL, plan, kind)
        for key, bytes in transferred(one).items():
            total[key] = total.get(key, 0) + bytes
    check.equal("all kinds", transferred(entry), total)


def names(check):
    """What ops with such names make, and what a layer begins with."""
    model = SMALL
    tokens = model.s
    stream, wide = tokens * model.h * BF16, tokens * model.f * BF16
    heads, kept = tokens * model.a * model.d * BF16, tokens * model.g * model.d * BF16
    cases = {
        "input": stream,
        "attention": heads + tokens * model.a * FP32,
        "swiglu,gate_up_proj": 3 * wide,
        "*_norm": 2 * (stream + tokens * FP32),
        "rope_?,qkv_proj": heads + 2 * kept,
        "*": saved_by_layer(model),
    }
    for plan in (step(2), step(4, p=2), step(2, D=2, zero=3)):
        for patterns, size in cases.items():
            before, after = compare(check, model, plan, "activations", f"--offload-saved={patterns}")
            for i, entry in enumerate(after):
                moved = plan.micro_batches * model.L // plan.p * size
                check.equal(f"transfers of {i}", transferred(entry), {("store", "fwd"): moved, ("load", "bwd"): moved})
                check.equal(f"products of {i}", entry.products, before[i].products)
    # The largest of them, as long as they are within the part of these.
    _, (entry,) = compare(check, model, step(1), "activations", "--offload-saved=swiglu,gate_up_proj", "--offload-percent=70")
    check.equal("the larger one", transferred(entry), {("store", "fwd"): model.L * 2 * wide, ("load", "bwd"): model.L * 2 * wide})


def files(check):
    """Traces are valid, of files and of bundles, and have what the manifest says."""
    for plan in (step(2), step(4, p=2, D=2, zero=3, recompute="selective")):
        kinds = "all"
        check.context = f"traces {plan}"
        run = check.write(SMALL, plan, f"--offload={kinds}")
        traces.run("stg-trace", "validate", run.folder)
        bundle = check.folder / f"bundle{check.written}"
        traces.run("stg-compile", *SMALL.flags(), *plan.flags(), f"--offload={kinds}", "--bundle",
                   "-o", bundle)
        traces.run("stg-trace", "validate", bundle)
        count = sum(e["count"] * entry["ranks"] for entry in run.classes
                    for e in entry.entry["transfers"])
        loads = stores = 0
        for rank in traces.stats(run.folder):
            types = rank["nodes"]
            loads += types.get("MEM_LOAD", 0)
            stores += types.get("MEM_STORE", 0)
        check.equal("nodes", loads + stores, count)
        for of_files, of_bundle in zip(traces.stats(run.folder), traces.stats(bundle)):
            check.equal("memory", of_files["memory"], of_bundle["memory"])
        peaks = {rank["memory"]["peak_bytes"] for rank in traces.stats(run.folder)}
        check.equal("peaks", peaks,
                    {entry["memory"]["peak_bytes"]["total"] for entry in run.classes})


if __name__ == "__main__":
    checks.main(activations, rings, states, parts, names, files)
