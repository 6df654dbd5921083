#!/usr/bin/env python3
"""Compares stg-estimate with tables of training steps as Megatron-Bridge publishes them.

    bridge-tables.py TABLES.md... [--tool PATH] [--only REGEX] [--jobs N]

TABLES.md is a page such as docs/performance-summary.md of NVIDIA-NeMo/Megatron-Bridge: headings of
releases and models, and tables with a row for each system. Models of the library whose layers and
sizes the page does not say are taken by their name; others are left out, and how many is said.
Prints the errors of each model and kind of run, as accuracy.py does. No constant of a machine was
fitted on rows other than those of 70B, 8B and Qwen3 30B.
"""
import argparse
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import accuracy  # noqa: E402

MACHINES = {"DGX-GB300": "gb300-nvl72", "DGX-GB200": "gb200-nvl72", "DGX-B300": "b300-dgx", "DGX-B200": "b200-dgx",
            "DGX-H100": "h100-80gb-dgx"}
# Model of the library, and its layers.
MODELS = {"LLAMA3_8B": ("llama3-8b", 32), "LLAMA3_70B": ("llama3-70b", 80), "LLAMA3.1_405B": ("llama3.1-405b", 126),
          "DeepSeekV3": ("deepseek-v3", 61), "GPT OSS 120B": ("gpt-oss-120b", 36),
          "DeepSeekV4 Flash": ("deepseek-v4-flash", 43), "Kimi_K2": ("kimi-k2", 61),
          "Nemotron_3_Nano": ("nemotron-3-nano-30b-a3b", 52),
          "Nemotron_3_5_Lightning": ("nemotron-3.5-lightning-30b-a3b", 52),
          "Nemotron_3_Super": ("nemotron-3-super-120b-a12b", 88),
          "Nemotron_3_Ultra": ("nemotron-3-ultra-550b-a55b", 108),
          "Qwen3_30B_a3B": ("qwen3-30b-a3b", 48), "Qwen3_235B_a22B": ("qwen3-235b-a22b", 94)}

# How recipes of a release execute experts: the first pattern of model, system, release and
# precision that matches. Read in scripts/performance/configs at v0.3.0 (26.02) to v0.5.1 (26.06.01), and in
# src/megatron/bridge/perf_recipes at v0.6.0 (26.08): cuda_graph_impl and cuda_graph_scope,
# moe_flex_dispatcher_backend, moe_a2a_overlap.
RECIPES = [
    # Nothing in graphs, but for scans on H100; with HybridEP between nodes.
    (r"Nemotron_3_Nano DGX-H100|Nemotron_3_Ultra", "megatron-experts"),
    (r"Nemotron_3_Super DGX-B200 26.04\S* MXFP8", "megatron-experts-deepep"),
    # Attention, scans and the router in graphs.
    (r"Nemotron_3_", "megatron-experts-parts"),
    # No graphs, exchanges beside nothing.
    (r"Kimi_K2 DGX-GB300", "megatron-experts"),
    # Whole iterations in graphs, exchanges beside other kernels, grouped products that are fused.
    (r"\S.* DGX-GB[23]00 26.0[68]|Qwen3_30B_a3B DGX-B300 26.06", "megatron-experts-graphs"),
    # DeepEP, exchanges beside other kernels, attention in graphs.
    (r"DeepSeekV3 DGX-B200 26.04.01", "megatron-experts-graphs"),
    # Attention and the router in graphs.
    (r"DeepSeekV3 DGX-(GB200 26.0[24]|B300 26.0(4.01|6))", "megatron-experts-parts"),
    (r"GPT OSS 120B DGX-G?B300 26", "megatron-experts-parts"),
    (r"Qwen3_235B_a22B DGX-GB[23]00 26.0[24]", "megatron-experts-parts"),
    (r"Qwen3_30B_a3B DGX-B200 26.0(2.01|4)", "megatron-experts-parts"),
    (r"\S.* DGX-H100", "megatron-experts-deepep"),
    (r"", "megatron-experts"),
]
# With a forward beside a backward (moe_a2a_overlap, overlap_moe_expert_parallel_comm), read in the same places from
# v0.3.0 on, all releases of repairs among them.
OVERLAPPED = (r"Qwen3_235B_a22B DGX-(H100 26.0[246]|B300 26.02 )|Qwen3_30B_a3B DGX-H100 26.02 |"
              r"GPT OSS 120B DGX-(GB200 26.0[468]|GB300 26.0[68])|DeepSeekV3 DGX-(B200 26.04.01|B300 26.06.01|GB[23]00 26.0[68])|"
              r"Qwen3_\w+ DGX-(GB[23]00 26.0[68]|B300 26.06)")
# Their recompute_modules, read in the same places: the first pattern that matches.
MODULES = [
    (r"Nemotron_3_Nano DGX-H100 26.0[46]", "layernorm,core_attn,moe"),
    (r"Nemotron_3_Super DGX-B(300 26.0[46]\S* NVFP4|200 26.04\S* MXFP8)", "layernorm,moe_act"),
    (r"Nemotron_3_Ultra", "moe_act"),
    (r"DeepSeekV3 DGX-GB300 26.0[68]", ""),
    (r"DeepSeekV3 DGX-GB200 26.04", "mlp"),
    (r"DeepSeekV3 DGX-B200 26.08", "mla_up_proj,mlp"),
    (r"DeepSeekV3|DeepSeekV4|Kimi_K2", "mla_up_proj"),
    (r"GPT OSS 120B DGX-(GB200|B200|H100) 26.0[24]", "layernorm,moe_act"),
    (r"", ""),
]
# Ops whose results are on the host (offload_modules): what grouped products make before the activation, which is
# replayed.
OFFLOADED = [(r"Nemotron_3_Ultra", "fc1"), (r"", "")]
# Modules that predict further tokens, of one set of parameters where there are two
# (mtp_use_repeated_layer); Kimi K2 has none, and its layers are divided as if.
MODULES_AHEAD = {"deepseek-v3": 1, "deepseek-v4-flash": 1, "kimi-k2": 0, "nemotron-3.5-lightning-30b-a3b": 2, "nemotron-3-super-120b-a12b": 2,
                 "nemotron-3-ultra-550b-a55b": 2}
# Products with other operands (te_quant.cfg, num_layers_at_end_in_bf16), read in the same places from v0.4.0 on.
KEPT = [
    (r"Nemotron_3_Super \S+ \S+ NVFP4",
     ["--product-keep=router,qkv_proj,o_proj,latent_*,out_proj=f8E4M3FN,mtp.*", "--num-layers-at-end-in-bf16=14"]),
    (r"", []),
]
# Recipes with fp8_output_proj.
NARROW_HEADS = r"(DeepSeekV3|GPT OSS 120B) DGX-GB[23]00 26.0[68]"


def read_rows(paths):
    """Each row by the heads of its columns, with `model`, `kind` and `release`."""
    for path in paths:
        release = kind = model = heads = None
        with open(path, encoding="utf-8") as file:
            for line in file:
                cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
                if match := re.match(r"## (\d\d\.\d\d(\.\d\d)?)", line):
                    release = match.group(1)
                elif match := re.match(r"#### Model: (.*)", line):
                    model = match.group(1).strip()
                elif match := re.match(r"### (\S+)", line):
                    kind = match.group(1)
                elif line.startswith("| System"):
                    heads = cells
                elif line.startswith("| DGX") and len(cells) == len(heads):
                    yield dict(zip(heads, cells), model=model, kind=kind, release=release)


def find_first(table, recipe):
    """What stands behind the first pattern that matches."""
    return next(value for pattern, value in table if re.match(pattern, recipe))


def get_number(row, name, missing=1):
    match = re.match(r"\d+", row.get(name, ""))
    return int(match.group()) if match else missing


def get_layers(layers, stages, predicted):
    """With layers that are left over the ends of the model count as layers, where that divides them.
    With modules that predict further tokens, of which there may be none, the last stage has what
    others leave."""
    if predicted is not None:
        most = -(-(layers + predicted + 1) // stages)
        return [most] * (stages - 1) + [layers - most * (stages - 1)]
    if (layers + 2) % stages == 0:
        return [(layers + 2) // stages - (stage in (0, stages - 1)) for stage in range(stages)]
    return [layers // stages + (stage < layers % stages) for stage in range(stages)]


def get_flags(row):
    """Flags of the run, or none where what it trains is not in the library."""
    if row["model"] not in MODELS or row["System"] not in MACHINES:
        return None
    name, layers = MODELS[row["model"]]
    tp, pp, cp, vp, ep = (get_number(row, key) for key in ("TP", "PP", "CP", "VP", "EP"))
    dp = get_number(row, "#-GPUs") // (tp * pp * cp)
    recipe = f"{row['model']} {row['System']} {row['release']} {row['Precision']}"
    predicted = MODULES_AHEAD.get(name)
    flags = [name, f"--seq={row['Sequence Length']}", f"--batch={row['GBS']}", f"--micro-batch={row['MBS']}",
             f"--tp={tp}", f"--pp={pp}", f"--cp={cp}", f"--dp={dp}", "--grad-dtype=bf16",
             f"--machine={MACHINES[row['System']]}", "--json"]
    if pp > 1 and vp > 1:
        flags.append(f"--virtual-stages={vp}")
    if pp > 1 and layers % (pp * vp):
        flags.append("--layers-per-stage=" + ",".join(map(str, get_layers(layers, pp * vp, predicted))))
    if tp > 1:
        flags.append("--sequence-parallel")
    if ep > 1:
        flags += [f"--ep={ep}"] + (["--etp=1"] if tp > 1 else [])
    # Shards of an NVLink domain.
    hybrid = name == "nemotron-3-ultra-550b-a55b"
    if dp * cp > 1:
        flags.append("--zero=3" if hybrid or get_number(row, "FSDP", 0) > 1 else "--zero=1")
    if hybrid:
        flags.append(f"--dp-replicate={max(1, get_number(row, '#-GPUs') // 64)}")
    if predicted:
        flags.append(f"--mtp={predicted}")
    if predicted == 2:
        flags.append("--mtp-repeated")
    if "FP8" in row["Precision"]:
        flags.append("--fp8")
        if re.match(NARROW_HEADS, recipe):
            flags.append("--narrow-head")
    elif row["Precision"] == "NVFP4":
        flags.append("--product-dtype=f4E2M1FN")
    flags += find_first(KEPT, recipe)
    if row["kind"] == "LoRA":
        flags.append("--lora=rank=16,targets=qkv_proj:o_proj")
    if modules := find_first(MODULES, recipe):
        flags += ["--recompute=selective", f"--recompute-modules={modules}"]
    if names := find_first(OFFLOADED, recipe):
        flags += ["--offload=activations", f"--offload-saved={names}"]
    if ep > 1 and int(row["GBS"]) > dp * int(row["MBS"]):
        overlapped = "true" if re.match(OVERLAPPED, recipe) else "false"
        flags += [f"--overlap-moe-expert-parallel-comm={overlapped}", f"--delay-wgrad-compute={overlapped}"]
    preset = "megatron" if ep == 1 else find_first(RECIPES, recipe)
    return flags + [f"--preset={preset}"]


def get_seconds(row):
    """Those of a step."""
    tokens = get_number(row, "GBS") * get_number(row, "Sequence Length")
    return tokens / get_number(row, "#-GPUs") / get_number(row, "Tokens / sec / GPU")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="+")
    parser.add_argument("--tool", default="stg-estimate")
    parser.add_argument("--only", default="", help="pattern of the models")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    rows = [row for row in read_rows(options.tables) if re.search(options.only, row["model"] or "")]
    known = [row for row in rows if get_flags(row)]
    accuracy.compare(
        ((" ".join(row[key] for key in ("model", "kind", "release", "System", "#-GPUs", "Precision")), None,
          f"{row['model']} {row['kind']}", get_seconds(row), lambda row=row: accuracy.run(options.tool, get_flags(row)))
         for row in known), options.jobs)
    print(f"{len(rows) - len(known)} rows of models or systems that are not known here")


if __name__ == "__main__":
    main()
