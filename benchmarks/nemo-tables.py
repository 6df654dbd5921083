#!/usr/bin/env python3
"""Compares stg-estimate with the training steps that NeMo and NeMo Automodel publish.

    nemo-tables.py [--tool PATH] [--jobs N] PAGE...

A PAGE is docs/source/performance/performance_summary.md or performance_long_sequence.md of
NVIDIA/NeMo at a release of 2024, or docs/performance-summary.mdx of NVIDIA-NeMo/Automodel. Rows that
constants were fitted on have a `*`; errors of the others are said by themselves.
"""
import argparse
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import accuracy  # noqa: E402

MACHINES = {"H100": "h100-80gb-dgx", "B200": "b200-dgx"}
PRESETS = {"NeMo": "nemo-2024-overlap", "NeMo, tuned": "nemo-2024-overlap", "NeMo, long, H100": "nemo-2024",
           "NeMo, long, B200": "nemo-2025"}
GPT = {"P": 2048, "V": 51200}
# What pages call a model, its name here, and symbols.
MODELS = {
    "GPT3-5B": ("megatron-22b", {"L": 24, "D": 4096, "H": 32, **GPT}),
    "GPT3-20B": ("megatron-22b", {"L": 44, "D": 6144, "H": 48, **GPT}),
    "GPT3-175B": ("megatron-22b", {"L": 96, "D": 12288, "H": 96, **GPT}),
    "LLAMA2-7B": ("llama2-7b", {}),
    "LLAMA2-13B": ("llama2-13b", {}),
    "LLAMA2-70B": ("llama2-70b", {}),
    "LLAMA3-8B": ("llama3-8b", {}),
    "LLAMA3-70B": ("llama3-70b", {}),
    "Nemotron-8B": ("megatron-22b", {"L": 32, "D": 4096, "H": 32, "P": 4096, "V": 256000}),
    "Nemotron-22B": ("megatron-22b", {"L": 40, "D": 6144, "H": 48, "P": 4096, "V": 256000}),
    "Nemotron-340B": ("nemotron-4-340b", {}),
    "Nemotron V3 Nano 30B (26.02)": ("nemotron-3-nano-30b-a3b", {}),
    "DeepSeek V3 671B": ("deepseek-v3", {}),
    "Kimi K2": ("kimi-k2", {}),
    "Qwen3 MoE 30B": ("qwen3-30b-a3b", {}),
    "GPT-OSS 20B": ("gpt-oss-20b", {}),
    "GPT-OSS 120B": ("gpt-oss-120b", {}),
    "Llama3 8B": ("llama3-8b", {}),
    "Llama3 70B": ("llama3-70b", {}),
    "Qwen2.5 7B": ("qwen2.5-7b", {}),
    "Qwen2.5 32B": ("qwen2.5-32b", {}),
}
# Of models whose stages have not equally many.
LAYERS = {"deepseek-v3": 61, "kimi-k2": 61}
# What recipes of Automodel say and the page does not: layers are replayed in all but these, gathered
# parameters are kept in these, experts are divided over so many ranks.
NOT_REPLAYED = r"GPT-OSS|DeepSeek V3 671B 1024|Llama3 8B|Qwen2.5 7B"
KEPT_GATHERED = r"DeepSeek|GPT-OSS 120B|Qwen3"
EXPERT_RANKS = {"GPT-OSS 20B": 8, "GPT-OSS 120B": 64}
# For what pages count.
SIZES = {
    "LLAMA2-7B": {"layers": 32, "hidden": 4096, "ffn": 11008, "heads": 32, "kv_heads": 32, "head_dim": 128, "vocab": 32000},
    "LLAMA3-8B": {"layers": 32, "hidden": 4096, "ffn": 14336, "heads": 32, "kv_heads": 8, "head_dim": 128, "vocab": 128256}}
# Llama 2 7B at long sequences: 4M tokens in a step.
LONG_TOKENS = 4 * 2**20


class Row:
    """A step that a page has: cells by the heads of their columns, and what kind of run it is."""

    def __init__(self, kind, cells):
        self.kind, self.cells = kind, cells
        self.model = cells["Model"].strip()

    def get(self, name, missing=1):
        match = re.match(r"[\d,]+", self.cells.get(name, ""))
        return int(match.group().replace(",", "")) if match else missing

    @property
    def name(self):
        text = f"{self.kind}, {self.model.split(' (')[0]}, {self.gpus} devices, {self.seq} tokens"
        return text + "".join(f", {name} {value}" for name, value in self.degrees.items() if value > 1)

    @property
    def gpus(self):
        return self.get("#GPUs", 0) or self.get("#-GPUs")

    @property
    def seq(self):
        return self.get("Seq Length", 0) or self.get("Packed Sequence Length", 0) or self.get("Sequence Length")

    @property
    def degrees(self):
        return {name.lower(): self.get(name) for name in ("TP", "PP", "CP")}

    @property
    def seconds(self):
        if "Time per Global Step (s)" in self.cells:
            return float(self.cells["Time per Global Step (s)"])
        return self.get("GBS") * self.seq / (self.gpus * self.get("Tokens / sec / GPU"))

    @property
    def is_fitted(self):
        known = {"GPT3-5B", "LLAMA2-7B", "LLAMA2-70B", "LLAMA3-8B"}
        return self.kind == "NeMo" and self.model in known or self.kind == "NeMo, long, H100" and self.gpus in (4, 32, 256)

    @property
    def ranks_with_batch(self):
        degrees = self.degrees
        return self.gpus // (degrees["tp"] * degrees["pp"] * degrees["cp"])

    def get_flags(self):
        if self.model not in MODELS or self.get("GBS") % self.ranks_with_batch:
            return None
        name, symbols = MODELS[self.model]
        degrees, batch, micro = self.degrees, self.get("GBS"), self.get("MBS")
        dp = self.ranks_with_batch
        system = self.cells.get("System", "H100")
        flags = [name, f"--machine={MACHINES[system]}", f"--batch={batch}", f"--micro-batch={micro}", f"--seq={self.seq}",
                 f"--dp={dp}", "--json"]
        flags += [f"--set={symbol}={value}" for symbol, value in symbols.items()]
        flags += [f"--{degree}={value}" for degree, value in degrees.items() if value > 1]
        virtual = self.get("VP")
        if degrees["pp"] > 1:
            flags += [f"--virtual-stages={virtual}"] if virtual > 1 else []
            flags += accuracy.divide_layers(LAYERS.get(name, 0), degrees["pp"] * virtual)
        if self.kind.startswith("NeMo"):
            # Context parallelism is a ring, as TransformerEngine has it.
            flags += ["--preset=" + PRESETS[self.kind], "--fp8"]
            flags += ["--cp-comm-type=p2p"] if degrees["cp"] > 1 else []
            flags += ["--zero=1"] if dp * degrees["cp"] > 1 else []
            flags += ["--sequence-parallel"] if degrees["tp"] > 1 else []
            flags += ["--lora=rank=32,targets=qkv_proj"] if self.cells.get("Task") == "LoRA" else []
            return flags
        ranks = EXPERT_RANKS.get(self.model, self.get("EP"))
        flags += [f"--ep={ranks}", "--preset=megatron-experts-deepep"] if ranks > 1 else ["--preset=megatron"]
        if dp * degrees["cp"] > 1:
            flags += ["--zero=3"] + (["--reshard-after-forward=false"] if re.match(KEPT_GATHERED, self.model) else [])
        if not re.match(NOT_REPLAYED, f"{self.model} {self.gpus}"):
            flags.append("--recompute=full")
        if self.kind.endswith("LoRA"):
            flags.append("--lora=rank=16,targets=qkv_proj:o_proj:gate_up_proj:down_proj")
            flags += ["--sequence-parallel"] if degrees["tp"] > 1 and "70B" in self.model else []
        return flags


def read_markdown(text, product):
    kind, heads = product, None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("#"):
            kind = product + (", LoRA" if "LoRA" in line else ", tuned" if "inetuning" in line else "")
        elif line.startswith("| Model"):
            heads = cells
        elif heads and line.startswith("|") and len(cells) == len(heads) and not set(line) <= set("|-: "):
            yield Row(kind, dict(zip(heads, cells)))
        elif not line.startswith("|"):
            heads = None


def read_long(text):
    """Rows of TFLOP/s, which count all pairs of tokens. Tables of older releases have no batch: 4M
    tokens in a step."""
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        model, system = re.match(r"(\S+) \(FP8\)(?: - (\S+))?", section).groups()
        for row in re.findall(r"<tr>(.*?)</tr>", section, re.S):
            cells = [cell.strip() for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.S)]
            if len(cells) < 9:
                continue
            seq, gpus = 1024 * int(cells[0]), cells[1]
            batch = cells[2] if len(cells) > 9 else str(LONG_TOKENS // seq)
            tp, pp, _, cp, rate, _ = cells[-6:]
            operations = accuracy.get_operations({"hyper": SIZES[model], "seq": seq, "gbs": 1}) / seq
            tokens = float(rate.replace(",", "")) * 1e12 / operations
            yield Row(f"NeMo, long, {system or 'H100'}", {
                "Model": model, "#-GPUs": gpus, "GBS": batch, "MBS": "1", "Sequence Length": str(seq), "TP": tp, "PP": pp,
                "CP": cp, "Tokens / sec / GPU": str(round(tokens)), "System": system or "H100"})


def read_page(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if "<table>" in text:
        return list(read_long(text))
    return list(read_markdown(text, "Automodel" if "AutoModel" in text else "NeMo"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="+")
    parser.add_argument("--tool", default="stg-estimate")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    rows = [row for page in options.pages for row in read_page(page)]
    known = [row for row in rows if row.get_flags()]
    accuracy.compare(
        ((row.name, row.is_fitted, "fitted" if row.is_fitted else row.kind, row.seconds,
          lambda row=row: accuracy.run(options.tool, row.get_flags())) for row in known), options.jobs)
    print(f"{len(rows) - len(known)} rows of models that are not here, or whose degrees do not fit")


if __name__ == "__main__":
    main()
