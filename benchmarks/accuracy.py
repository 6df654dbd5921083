#!/usr/bin/env python3
"""Compares stg-estimate with measured training steps.

    accuracy.py MEASURED.json [--tool PATH] [--only REGEX] [--jobs N] [--csv FILE]

MEASURED.json has `rows`, each with id, hyper (layers, hidden, ffn, heads, kv_heads, head_dim,
vocab, gated; experts, topk, moe_ffn), hardware, gpus, seq, gbs, mbs, tp, pp, cp, vp, ep, dp, sp,
recompute, precision, zero, and a metric with its value. `hardware` is the name of a machine or one
that it is also known as. Prints the errors of each group of rows: mean and median of their absolute
values, the mean with its sign, and the rank correlation.
"""
import argparse
import concurrent.futures
import json
import os
import re
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

# Of each group: a pattern of ids, and its preset.
GROUPS = [
    ("vtrain one node", r"vtrain-s", "megatron-2023-no-dropout"),
    ("vtrain many nodes", r"vtrain-m", "megatron-2023"),
    ("korthikanti", r"korthikanti-[^l]*-(full|selective)$", "megatron-2021"),
    ("mpt fsdp", r"mpt-.*a100_40", "llm-foundry-pure"),
    ("mpt fsdp", r"mpt-", "llm-foundry"),
    ("nemo dense", r"nemo2407", "nemo-2024-overlap"),
    ("nemo dense", r"nemo-", "nemo-2024"),
    ("bridge in 4 bits", r"bridge.*NVFP4", "megatron"),
    ("bridge dense", r"bridge.*LLAMA", "megatron"),
    # H100 has DeepEP; Blackwell has graphs, and exchanges that are hidden, from 26.06 on. With
    # buffers of one size, in 25.09, no sizes come back to the host.
    ("bridge experts, tokens dropped", r"bridge-25.09", "megatron-experts"),
    ("bridge experts", r"bridge-[0-9.]+-H100", "megatron-experts-deepep"),
    ("bridge experts", r"bridge-26.0[68]", "megatron-experts-graphs"),
    ("bridge experts", r"bridge", "megatron-experts"),
    ("torchtitan", r"torchtitan.*eager", "torchtitan"),
    ("torchtitan", r"torchtitan", "torchtitan-compile"),
    ("tpu", r"maxtext|trillium|ironwood", "maxtext"),
    # Nobody says their micro-batches: see MICRO_BATCHES. ZeRO-3 of DeepSpeed has no preset.
    ("narayanan", r"narayanan-(t1|t2-PTD)", "megatron-2021"),
    # Micro-batches and virtual stages from memory; that nothing is replayed is assumed.
    ("megascale's baseline", r"megascale-megatron", "megatron-2023"),
    # FSDP2 with kernels of TransformerEngine.
    ("automodel", r"automodel-Llama", "megatron"),
    ("automodel", r"automodel", "megatron-experts-deepep"),
    # Layers alone, forward and backward together.
    ("layers, korthikanti", r"korthikanti-22B-layer", "megatron-2021"),
    ("layers of experts", r"moeperf.*a2a", "megatron-experts"),
    ("layers of experts", r"moeperf", "megatron-experts-deepep"),
]

GIB = 2 ** 30
# Of runs that do not say theirs: the fastest of these by the estimate, as who tunes a run would take.
MICRO_BATCHES = (1, 2, 4, 8)
# Recipes of Automodel at 2013a4dd6 replay layers (activation_checkpointing) but for gpt-oss.
REPLAYED = r"automodel-(Llama|Qwen)"


# Results of all products of a layer with weights: "minimal" of MaxText.
MINIMAL = "qkv_proj,o_proj,gate_up_proj,down_proj"
# Recipes of TPUs replay layers but for these results.
SAVED = [
    ("maxtext", MINIMAL),
    ("trillium-Llama3.1-70B", "qkv_proj"),
    ("trillium-Llama3.1-8B", "qkv_proj,o_proj"),
    ("ironwood", "qkv_proj,attention"),
]


def recompute_flags(row):
    text = row["recompute"] or ("full" if re.match(REPLAYED, row["id"]) else "none")
    block = re.match(r"full, block, (\d+)", text)
    if block:
        return ["--recompute=full", "--recompute-method=block",
                f"--recompute-layers={block.group(1)}"]
    saved = next((saved for pattern, saved in SAVED if re.match(pattern, row["id"])), None)
    if saved:
        return ["--recompute=needed", f"--recompute-saved={saved}"]
    if text.startswith(("full", "custom")):
        return ["--recompute=full"]
    if text.startswith("selective"):
        return ["--recompute=" + ("alternate" if "per-op" in text else "selective")]
    return []


def model_flags(row, tp):
    hyper = row["hyper"]
    if "layers" not in hyper:
        # Experts alone; the rest is the same for any number of layers.
        return [os.path.join(HERE, "experts-layer.mlir"), f"--set=D={hyper['hidden']}", f"--set=F={hyper['moe_ffn']}",
                f"--set=X={hyper['experts']}", f"--set=A={hyper['topk']}"]
    symbols = {"D": hyper["hidden"], "H": hyper["heads"], "L": hyper["layers"]}
    gated = hyper.get("gated") or hyper["heads"] != hyper["kv_heads"]
    # What is not padded is not divided either.
    pad = 1 if row["id"].startswith("vtrain") and tp == 1 else 128 * tp
    symbols["V"] = -(-hyper["vocab"] // pad) * pad
    if "experts" in hyper:
        symbols.update(K=hyper["kv_heads"], E=hyper["head_dim"], F=hyper["moe_ffn"],
                       X=hyper["experts"], A=hyper["topk"])
        model = "gpt-oss-20b" if hyper.get("sliding_window") else "mixtral-8x7b"
    elif gated or hyper["ffn"] != 4 * hyper["hidden"]:
        symbols.update(K=hyper["kv_heads"], E=hyper["head_dim"], F=hyper["ffn"])
        model = "llama3-8b"
    else:
        symbols.update(P=row["seq"])
        model = "megatron-22b"
    if row["id"].startswith("torchtitan"):
        symbols["separate_projections"] = "true"
    return [model] + [f"--set={name}={value}" for name, value in symbols.items()]


def divide_layers(layers, stages):
    """Nothing where stages have equally many layers; else the first have those that are left over."""
    if layers % stages == 0:
        return []
    return ["--layers-per-stage=" + ",".join(str(layers // stages + (i < layers % stages)) for i in range(stages))]


def stage_flags(row, pp, micro_batches):
    virtual, layers = row["vp"] or 1, row["hyper"]["layers"]
    if micro_batches % pp:
        virtual = 1
    stages = pp * virtual
    flags = [f"--virtual-stages={virtual}"] if virtual > 1 else []
    return flags + divide_layers(layers, stages)


def get_flags(row, preset):
    tp, cp, pp, ep = (row[name] or 1 for name in ("tp", "cp", "pp", "ep"))
    dp = row["dp"] or row["gpus"] // (tp * cp * pp)
    share = row["gbs"] // dp
    # With a pipeline there are as many micro-batches as stages if nothing is said. On TPUs the batch
    # of a device is what it has at a time.
    micro_batch = row["mbs"] or max(1, share // pp if pp > 1 else share)
    if row["hardware"].startswith("TPU"):
        micro_batch = share
    flags = model_flags(row, tp) + [
        f"--seq={row['seq']}", f"--batch={dp * max(share, micro_batch)}",
        f"--micro-batch={micro_batch}", f"--tp={tp}", f"--pp={pp}", f"--cp={cp}", f"--dp={dp}"]
    flags += stage_flags(row, pp, share // micro_batch) if pp > 1 else []
    if ep > 1:
        flags.append(f"--ep={ep}")
    if "experts" in row["hyper"] and row["etp"] == 1 and tp > 1:
        flags.append("--etp=1")
    if row["sp"] or (tp > 1 and row["sp"] is None):
        flags.append("--sequence-parallel")
    flags += recompute_flags(row)
    zero = row["zero"] or 0
    if zero and dp * cp > 1:
        keeps = row["id"].startswith("mpt") and zero == 2
        # Torchtitan gathers once for a step where there is a pipeline. Elsewhere its shards are in
        # f32, and cast when they are gathered.
        if row["id"].startswith("torchtitan"):
            zero = 1 if pp > 1 else zero
            flags += ["--param-dtype=f32"] if pp == 1 else []
        flags += ["--zero=3", "--reshard-after-forward=false"] if keeps else [f"--zero={zero}"]
    if re.match("(mx)?fp8", row["precision"]):
        flags.append("--fp8")
    elif row["precision"] == "nvfp4":
        flags.append("--product-dtype=f4E2M1FN")
    # The recipes of Bridge's performance runs have gradients in 16 bits (grad_reduce_in_fp32).
    # Those of MaxText have the type of activations, and parameters are stored in 32 bits.
    if row["id"].startswith(("vtrain-s", "bridge")):
        flags.append("--grad-dtype=bf16")
    if row["hardware"].startswith("TPU"):
        flags += ["--grad-dtype=bf16", "--param-dtype=f32"]
    name = preset if isinstance(preset, str) else json.dumps(preset)
    return flags + [f"--preset={name}", f"--machine={row['hardware']}", "--json"]


def get_seconds(row):
    if "seconds" in row:
        return row["seconds"]
    if row["metric"] == "step_s":
        return row["value"]
    if row["metric"] == "tokens_s_gpu":
        return row["gbs"] * row["seq"] / (row["gpus"] * row["value"])
    if row["id"].startswith("maxtext"):
        return get_operations(row) / (row["gpus"] * row["value"] * 1e12)
    return (row["also"] or {}).get("step_s")


def get_operations(row):
    """As MaxText counts them: the embedding once, and all pairs of tokens."""
    hyper = row["hyper"]
    heads, kv_heads, size = (hyper[name] for name in ("heads", "kv_heads", "head_dim"))
    layer = hyper["hidden"] * (2 * (heads + kv_heads) * size + 3 * hyper["ffn"])
    weights = hyper["layers"] * layer + hyper["hidden"] * hyper["vocab"]
    pairs = 2 * hyper["layers"] * heads * size * row["seq"]
    return 6 * (weights + pairs) * row["gbs"] * row["seq"]


def join_layers(rows):
    """Of layers that are measured alone one row, of forward and backward together."""
    layers = {}
    for row in rows:
        if not row["metric"].startswith("layer_"):
            yield row
            continue
        name = re.sub("-(fwd|bwd)$", "", row["id"])
        layer = layers.setdefault(name, {**row, "id": name, "seconds": 0, "is_layer": True})
        layer["seconds"] += row["value"] / 1e3
    yield from layers.values()


def select(rows, only):
    """The rows that can be expressed, each with its group."""
    for row in join_layers(rows):
        group = next((g for g in GROUPS if re.match(g[1], row["id"])), None)
        known = "layers" in row["hyper"] or "is_layer" in row
        if group and known and get_seconds(row) and re.search(only, row["id"]):
            yield group, row


def run(tool, flags):
    """The report, or the first line of what was wrong."""
    process = subprocess.run([tool] + flags, capture_output=True, text=True)
    if process.returncode:
        return process.stderr.strip().splitlines()[0]
    return json.loads(process.stdout)


def estimate_layer(tool, row, preset):
    """What a third layer takes, without its share of the optimizer."""
    pure = {"description": "without an optimizer", "based_on": preset, "execution": {"optimizer_bytes": 0}}
    flags = [flag for flag in get_flags(row, pure) if not flag.startswith("--set=L=")]
    results = [run(tool, flags + [f"--set=L={layers}"]) for layers in (3, 2)]
    wrong = [result for result in results if isinstance(result, str)]
    if wrong:
        return wrong[0]
    more, less = results
    time = {part: value - less["time"][part] for part, value in more["time"].items() if part != "exposed"}
    time["exposed"] = {axes: value - less["time"]["exposed"].get(axes, 0)
                       for axes, value in more["time"]["exposed"].items()}
    return {"step_seconds": more["step_seconds"] - less["step_seconds"], "time": time}


def estimate(tool, row, preset):
    if "is_layer" in row:
        return estimate_layer(tool, row, preset)
    if row["mbs"] or not row["id"].startswith("narayanan"):
        return run(tool, get_flags(row, preset))
    results = [run(tool, get_flags({**row, "mbs": size}, preset)) for size in MICRO_BATCHES]
    known = [result for result in results if not isinstance(result, str)]
    return min(known, key=lambda result: result["step_seconds"]) if known else results[0]


def get_ranks(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    ranks = [0] * len(values)
    for rank, i in enumerate(order):
        ranks[i] = rank
    return ranks


def correlate(first, second):
    n = len(first)
    squares = sum((a - b) ** 2 for a, b in zip(get_ranks(first), get_ranks(second)))
    return 1 - 6 * squares / (n * (n * n - 1)) if n > 1 else 1


def show(name, pairs):
    errors = [ours / measured - 1 for measured, ours in pairs]
    absolute = [abs(error) for error in errors]
    print(f"{name:30} {len(pairs):4} rows  mean {100 * statistics.mean(absolute):5.1f} %  "
          f"median {100 * statistics.median(absolute):5.1f} %  "
          f"bias {100 * statistics.mean(errors):+5.1f} %  "
          f"rank correlation {correlate(*zip(*pairs)):.3f}")


def describe_memory(measured, report):
    """What a line says of the GiB that a run took; nothing where nobody has measured them."""
    if not measured:
        return ""
    return f"  {measured:5.1f} GiB  {100 * (report['memory']['needed_bytes'] / GIB / measured - 1):+6.1f} %"


def compare(rows, jobs, parts=False, memory=None):
    """Prints the errors of rows and of their groups: each row is a name, whether it has a `*` (None:
    no row has one), its group or None, measured seconds, and what gives the report. `memory` has the
    GiB that some of them took, by name. Returns the pairs of each group."""
    rows = list(rows)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(lambda row: row[-1](), rows))
    pairs = {}
    for (name, has_star, group, measured, _), result in zip(rows, results):
        if isinstance(result, str):
            print(f"{name}: {result}")
            continue
        ours = result["step_seconds"]
        star = "" if has_star is None else "* " if has_star else "  "
        room = describe_memory((memory or {}).get(name), result)
        print(f"{star}{name:66} {measured:8.3f} s  estimated {ours:8.3f} s  {100 * (ours / measured - 1):+6.1f} %{room}")
        if parts:
            print("    " + " ".join(f"{part}={value:.3f}" for part, value in {**result["time"], **result["time"]["exposed"]}.items()
                                    if not isinstance(value, dict)))
        if group:
            pairs.setdefault(group, []).append((measured, ours))
    for group, found in pairs.items():
        show(group, found)
    return pairs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measured")
    parser.add_argument("--tool", default="stg-estimate")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--csv")
    options = parser.parse_args()
    with open(options.measured, encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    work = list(select(rows, options.only))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda w: estimate(options.tool, w[1], w[0][2]), work))
    pairs, lines = {}, []
    for ((name, _, _), row), result in zip(work, results):
        if isinstance(result, str):
            print(f"{row['id']}: {result}", file=sys.stderr)
            continue
        measured, ours = get_seconds(row), result["step_seconds"]
        pairs.setdefault(name, []).append((measured, ours))
        lines.append(f"{row['id']},{measured:.6g},{ours:.6g},{ours / measured - 1:+.4f}," +
                     " ".join(f"{part}={value / ours:.3f}" for part, value in
                              {**result["time"], **result["time"]["exposed"]}.items()
                              if not isinstance(value, dict)))
    for name, values in pairs.items():
        show(name, values)
    if options.csv:
        with open(options.csv, "w", encoding="utf-8") as file:
            file.write("id,measured,estimated,error,parts\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
