"""Compares steps of inference with steps that were executed.

Inputs/executed_inference.json has totals that were counted while steps of tiny models really ran
in several processes (float32), with caches of keys and values. Each of them is compared exactly for
every rank and step: operations of matrix products, collectives (kind, size of the group, count,
bytes passed in), messages (peer, count, bytes), bytes of parameters and of what is cached.

Data-parallel ranks that had requests of their own have these here, too. Where micro-batches had,
or ranks that divide the requests of a group, each gets here the same number of tokens with as many
cached ones: with one new token everything is linear in these. Ranks that had other numbers of cached
tokens are compared with their mean. Where a run has several steps, they are compared one by one, and
then all together, as one trace; not where ranks divide caches, whose room is that of all requests
together then, rounded up once.

Usage: inference_executed.py RUN...
"""

import json
import sys
from collections import Counter
from pathlib import Path

import comparing
import traces
from comparing import equal

RUNS = json.loads((Path(__file__).parent / "Inputs" / "executed_inference.json").read_text())
def model_of(run, number):
    """The model that executes a step: a draft model makes those before the last."""
    models = run.get("models", [])
    return models[number] if number < len(models) else run["model"]


def flags_of(run, m):
    """The model with its sizes, and the plan."""
    parallel = run["parallel"]
    sizes = dict(D=m["hidden"], V=m["vocab"], L=m["layers"])
    if "heads" in m:
        sizes.update(H=m["heads"], E=m["head_dim"], F=m["ffn"])
    if "shared_ffn" in m:
        name = str(Path(__file__).parent / "Inputs" / "variants.mlir")
        sizes.update(K=m["kv_heads"], X=m["experts"], A=m["topk"], M=m["expert_ffn"], G=m["shared_ffn"], mixtures="all")
    elif "kv_lora" in m:
        name = str(Path(__file__).parent / "Inputs" / "variants.mlir")
        sizes.update(QL=m["q_lora"], KL=m["kv_lora"], EN=m["nope_dim"], ER=m["rope_dim"], EV=m["v_dim"], latent="true")
    elif "window" in m:
        # Periods of a layer with a window and one without.
        name = "gemma-3-1b"
        assert m["kinds"] == ["window", "full"] * (m["layers"] // 2)
        sizes.update(K=m["kv_heads"], W=m["window"], N=1, L=m["layers"] // 2, rest="false", qk_norm="false")
        sizes.update(placement="input", activation="silu", tied="false")
    elif "d_inner" in m:
        # With one group the library has a tied head.
        sizes.update(MH=m["ssm_heads"], MP=m["d_inner"] // m["ssm_heads"])
        sizes.update(MN=m["d_state"], CW=m["d_conv"], MQ=m["ssm_chunk"])
        name = "codestral-mamba-7b" if m["ssm_groups"] > 1 else "mamba2-2.7b"
        if m["ssm_groups"] > 1:
            sizes.update(MG=m["ssm_groups"])
    elif m["arch"] == "gpt":
        name = "gpt2-1.5b"
        sizes.update(P=m["max_pos"])
    elif "experts" in m:
        name = "mixtral-8x7b"
        sizes.update(K=m["kv_heads"], X=m["experts"], A=m["topk"], F=m["expert_ffn"])
    else:
        name = "llama3-8b"
        sizes.update(K=m["kv_heads"])
    flags = [name, "--dtype=f32", "--dry-run"] + [f"--set={key}={value}" for key, value in sizes.items()]
    if run.get("dcp_variant") == "ar":
        # An axis of its own divides the tokens of caches, and nothing else.
        parallel = dict(parallel)
        flags += ["--preset=kv-parallel", f"--degrees=kvp={parallel.pop('cp')}"]
    if run.get("dcp_variant") == "helix":
        parallel = dict(parallel)
        flags += ["--preset=helix", f"--degrees=kvp={parallel.pop('cp')}"]
    flags += [f"--{axis}={size}" for axis, size in parallel.items()]
    if run.get("moe_mode") == "agrs":
        flags += ["--preset=sglang-experts", "--expert-histogram=" + loads(run)]
    elif "experts" in m:
        flags += [f"--ep={parallel.get('dp', 1)}"]
    if "dp_ffn" in run and run.get("moe_mode") != "agrs":
        # Requests are divided over tp, too, where there is one.
        flags += ["--preset=sglang"] + ["--sequence-parallel"] * ("tp" in parallel)
    if run.get("dp_ffn") == "sum_len":
        flags += ["--gathered-rows=summed"]
    if run.get("dcp_variant") == "ag_rs":
        flags += ["--cache-axes=tp"]
    if "mla_form" in run:
        flags += ["--mla-form=" + run["mla_form"].replace("_", "-")]
    if run["full"]:
        flags += ["--attention-count=full"]
    return flags


def loads(run):
    """The rows of each expert: those of a rank begin with its first token."""
    m, counts = run["model"], Counter()
    ((*requests,),) = run["steps"]
    count = len(requests) // run["parallel"]["dp"]
    for first in range(0, len(requests), count):
        rows = sum(u for u, p, n in requests[first : first + count]) * m["topk"]
        counts.update(row % m["experts"] for row in range(rows))
    return ",".join(str(counts[expert]) for expert in range(m["experts"]))


def share(requests, rows):
    """One list for each of so many rows, which together have all tokens."""
    if rows == 1:
        return requests
    count, cached = len(requests) // rows, sum(p for u, p, n in requests)
    assert all(u == 1 for u, p, n in requests) and cached % rows == 0
    own = [cached // rows // count] * count
    own[0] += cached // rows - sum(own)
    return [(1, p, 1) for p in own]


def has_lists(run):
    """Whether data-parallel ranks have lists of their own; where tp divides these, too, they have not."""
    return run["parallel"].get("dp", 1) > 1 and not ("dp_ffn" in run and "tp" in run["parallel"])


def lists(run, requests):
    """The requests of each data-parallel rank, as many for each."""
    count = len(requests) // run["parallel"]["dp"]
    return ",".join(f"({u},{p},{n})#{number // count}" for number, (u, p, n) in enumerate(requests))


def step_flags(run, requests):
    """What a step is."""
    if has_lists(run):
        return ["--requests=" + lists(run, requests)]
    if "cp_variant" in run:
        ((u, p, n),) = requests
        ring = ["--cp-comm-type=p2p"] if run["cp_variant"] == "ring" else []
        return ["--mode=prefill", "--batch=1", f"--seq={u}", f"--kv-len={p}"] + ring
    if "dp_ffn" in run:
        cached = sum(p for u, p, n in requests)
        assert all((u, n) == (1, 1) for u, p, n in requests) and cached % len(requests) == 0
        return [f"--batch={len(requests)}", f"--kv-len={cached // len(requests)}"]
    rows = run["parallel"].get("dp", 1) * run.get("microbatches", 1)
    text = ",".join(f"({u},{p},{n})" for u, p, n in share(requests, rows))
    flags = [f"--requests={text}", f"--batch={rows}"]
    return flags + (["--micro-batch=1"] if "microbatches" in run else [])


def ranks_of(summary):
    """Each rank's class, and its coordinates."""
    axes = {axis["axis"]: axis["size"] for axis in summary["mesh"]}
    for rank in range(summary["ranks"]):
        coordinates, rest = {}, rank
        for axis, size in axes.items():
            rest, coordinates[axis] = divmod(rest, size)
        for entry in summary["classes"]:
            if entry["coordinates"].items() <= coordinates.items():
                yield rank, entry, coordinates


def messages_of(summary, entry, rank, coordinates):
    """(kind, peer, count, bytes), sorted."""
    found, stride = [], 1
    for axis in summary["mesh"]:
        for m in entry.get("messages", []):
            if m["axis"] == axis["axis"]:
                there = (coordinates[m["axis"]] + m["shift"]) % axis["size"]
                found.append([m["kind"], rank + (there - coordinates[m["axis"]]) * stride, m["count"], m["bytes"]])
        stride *= axis["size"]
    return sorted(found)


def collectives_of(entry):
    """[kind, size of the group, count, bytes], sorted."""
    counts, sizes = Counter(), Counter()
    for c in entry["collectives"]:
        counts[c["kind"], c["group_size"]] += c["count"]
        sizes[c["kind"], c["group_size"]] += c["bytes"]
    return sorted([*key, counts[key], sizes[key]] for key in counts)


def more_products(run, requests):
    """What ran executed beside what counts: diagonal slices of a ring, in full."""
    if run.get("cp_variant") != "ring":
        return 0
    ((u, p, n),) = requests
    m, size = run["model"], u // (2 * run["parallel"]["cp"])
    return size * (size - 1) * 4 * m["heads"] * m["head_dim"] * m["layers"]


def collectives_that_ran(run, want):
    """Where requests are divided between layers, too, the sum after the embedding is not one
    all-reduce but its two halves."""
    if "dp_ffn" not in run or "tp" not in run["parallel"]:
        return sorted(want)
    found, size = Counter(), run["parallel"]["tp"]
    for kind, group, count, total in want:
        halves = {"reduce_scatter": total, "all_gather": total // size} if kind == "all_reduce" else {kind: total}
        for half, share in halves.items():
            found[half, group] += complex(count, share)
    return sorted([*key, int(both.real), int(both.imag)] for key, both in found.items())


def mean(run, number, rank, what):
    """Of a rank, or where ranks had other requests of all of them."""
    steps = [entry["steps"][number][what] for entry in run["ranks"]]
    if "dp_ffn" not in run or has_lists(run):
        return steps[rank]
    assert sum(steps) % len(steps) == 0
    return sum(steps) // len(steps)


def more_parameters(m, ranks):
    """What ran had a head of its own, divided; GPT's is the embedding."""
    is_tied = m["arch"] == "gpt" or m.get("ssm_groups") == 1
    return m["vocab"] * m["hidden"] * 4 // ranks if is_tied else 0


def add_collectives(steps):
    """Of several steps."""
    counts, sizes = Counter(), Counter()
    for step in steps:
        for kind, group, count, total in step["collectives"]:
            counts[kind, group] += count
            sizes[kind, group] += total
    return sorted([*key, counts[key], sizes[key]] for key in counts)


def check_whole(name, run):
    """All steps in one trace: the tokens of each request, in chunks."""
    chunk = max(u for u, p, n in run["steps"][0])
    text = ",".join(f"({sum(step[i][0] for step in run['steps'])},{p},{n})" for i, (u, p, n) in enumerate(run["steps"][0]))
    summary = traces.compile_json(*flags_of(run, run["model"]), f"--requests={text}", f"--chunk={chunk}")
    equal(f"{name}: steps", sum(loop["count"] for loop in summary["steps"]), len(run["steps"]))
    for rank, entry, coordinates in ranks_of(summary):
        steps, what = run["ranks"][rank]["steps"], f"{name}, all steps, rank {rank}"
        equal(f"{what}: products", entry["matrix_operations_by_phase"], {"fwd": sum(step["products"] for step in steps)})
        equal(f"{what}: collectives", collectives_of(entry), add_collectives(steps))
        equal(f"{what}: cache", entry["memory"]["persistent_bytes"]["kv_cache"], max(step["cache_bytes"] for step in steps))


def check_rounds(name, run):
    """Drafts and verification as one round: contexts are those of the last step."""
    *drafts, verified = run["steps"]
    requests = ",".join(f"(1,{p})" for u, p, n in verified)
    flags = flags_of(run, run["model"]) + [f"--requests={requests}", f"--drafts={len(drafts)}", "--acceptance=0.5"]
    draft, *others = flags_of(run, run["models"][0])
    sizes = [flag.replace("--set=", "--draft-set=") for flag in others if flag.startswith("--set=")]
    summary = traces.compile_json(*flags, f"--draft={draft}", *sizes)
    for rank, entry, coordinates in ranks_of(summary):
        steps, what = run["ranks"][rank]["steps"], f"{name}, round, rank {rank}"
        equal(f"{what}: products", entry["matrix_operations_by_phase"], {"fwd": sum(step["products"] for step in steps)})
        equal(f"{what}: collectives", collectives_of(entry), add_collectives(steps))
        persistent = entry["memory"]["persistent_bytes"]
        held = run["ranks"][rank]["parameter_bytes"] + run["ranks"][rank]["draft_parameter_bytes"]
        equal(f"{what}: parameters", persistent["parameter"], held)
        equal(f"{what}: cache", persistent["kv_cache"], steps[-2]["cache_bytes"] + steps[-1]["cache_bytes"])


for name in sys.argv[1:]:
    run = RUNS[name]
    for number, requests in enumerate(run["steps"]):
        model = model_of(run, number)
        held = "parameter_bytes" if model == run["model"] else "draft_parameter_bytes"
        summary = traces.compile_json(*flags_of(run, model), *step_flags(run, requests))
        equal(f"{name}: ranks", summary["ranks"], len(run["ranks"]))
        for rank, entry, coordinates in ranks_of(summary):
            want, what = run["ranks"][rank]["steps"][number], f"{name}, step {number}, rank {rank}"
            products = mean(run, number, rank, "products") - more_products(run, requests)
            equal(f"{what}: products", entry["matrix_operations_by_phase"], {"fwd": products})
            equal(f"{what}: collectives", collectives_of(entry), collectives_that_ran(run, want["collectives"]))
            equal(f"{what}: messages", messages_of(summary, entry, rank, coordinates), sorted(want["messages"]))
            persistent = entry["memory"]["persistent_bytes"]
            equal(f"{what}: cache", persistent["kv_cache"], mean(run, number, rank, "cache_bytes"))
            equal(f"{what}: parameters", persistent["parameter"], run["ranks"][rank][held] - more_parameters(model, run["parallel"].get("tp", 1)))
    if len(run["steps"]) > 1 and not {"microbatches", "models", "dcp_variant"} & run.keys():
        check_whole(name, run)
    if "models" in run:
        check_rounds(name, run)
comparing.finish()
