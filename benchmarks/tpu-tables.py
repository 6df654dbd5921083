#!/usr/bin/env python3
"""Compares stg-estimate with the training steps on TPUs that MaxText and its recipes publish.

    tpu-tables.py MAXTEXT TPU-RECIPES [--tool PATH] [--only REGEX] [--jobs N]

MAXTEXT and TPU-RECIPES are checkouts of AI-Hypercomputer/maxtext and AI-Hypercomputer/tpu-recipes.
Steps that constants were fitted on have a `*`; errors of the others are said by themselves. What a
device is to MaxText is half a chip of v7x; here it is the chip.
"""
import argparse
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import accuracy  # noqa: E402

V4, V5E, V5P, V6E, V7X = (f"tpu-v{name}" for name in ("4", "5e", "5p", "6e", "7x"))

EXPERTS = "mixtral|deepseek|gpt-oss|qwen3-235b|llama-?4"

# Results of a layer that recipes save, or move to the host, in their remat_policy.
QKV = "qkv_proj"
MINIMAL = accuracy.MINIMAL


class Run:
    """A step: the page that has its time, and what its recipe says. `share` are sequences of a chip,
    `saved` the names of what layers save, `key` what finds a table's row."""

    def __init__(self, page, key, machine, chips, model, seq, share, saved="", slices=1, fitted=False, flags=(),
                 sizes=None):
        self.page, self.key, self.machine, self.chips, self.slices = page, key, machine, chips, slices
        self.model, self.sizes, self.seq, self.share = model, sizes or {}, seq, share
        self.saved, self.fitted, self.flags = saved, fitted, list(flags)

    @property
    def ranks(self):
        return self.chips * self.slices

    @property
    def name(self):
        title = self.key if "D" in self.sizes else self.model
        slices = f"{self.slices} x " if self.slices > 1 else ""
        return f"{title}, {slices}{self.chips} {self.machine[4:]}, {self.seq} tokens" + \
            (" in 8 bits" if "--fp8" in self.flags else "")

    @property
    def group(self):
        return "fitted" if self.fitted else self.machine + (", experts" if re.search(EXPERTS, self.model) else ", dense")

    def get_degree(self, name):
        match = re.search(rf"--{name}=(\d+)", " ".join(self.flags))
        return int(match.group(1)) if match else 1

    def get_flags(self):
        dp = self.ranks // (self.get_degree("tp") * self.get_degree("cp"))
        batch = round(self.share * self.ranks)
        flags = [self.model, f"--seq={self.seq}", f"--batch={batch}", f"--micro-batch={batch // dp}", f"--dp={dp}",
                 "--zero=3", "--grad-dtype=bf16", "--param-dtype=f32", "--recompute=needed",
                 f"--machine={self.machine}", "--preset=maxtext", "--json"]
        flags += [f"--recompute-saved={self.saved}"] if self.saved else []
        # A slice is a torus of its own.
        flags += [f"--dp-replicate={self.slices}", f"--machine-set=network.ici.ranks={self.chips}"] \
            if self.slices > 1 else []
        return flags + [f"--set={name}={value}" for name, value in self.sizes.items()] + self.flags


def scale(size):
    """MaxText's global_parameter_scale: heads and feed-forward, hidden size, and layers take turns in
    doubling. Keys have as many heads as queries."""
    base, rest = divmod(size.bit_length() - 1, 3)
    wide = base + (rest > 0)
    return {"D": 2048 << base + (rest > 1), "H": 16 << wide, "K": 16 << wide, "E": 128, "F": 7168 << wide, "L": 16 << base,
            "V": 32000}


# The recipes of v5e-256 replay layers but for the largest, which moves queries, keys and values.
V5E_RUNS = [(16, 6, "", 1), (32, 4, "", 1), (64, 2, "", 1), (128, 1, QKV, 16)]
# Size, sequences, tensor parallelism, what is saved, and chips of slices (two for each core of `v5p-N`).
V5P_RUNS = [(32, 6, 4, MINIMAL, (64,)), (64, 3, 4, MINIMAL, (64,)), (128, 1, 8, MINIMAL, (128, 256)),
            (256, 1, 8, MINIMAL, (512,)), (512, 2, 8, "", (512,)), (1024, 2, 16, "", (1024, 2048))]


def get_maxtext_runs():
    """The tables of src/maxtext/configs/tpu: TFLOP/s of a chip."""
    # Of v4 the models are those that have as many parameters: feed-forward without a gate, heads of 256.
    for key, chips, share, sizes, numbers in (
            ("22B", 64, 13, {"D": 6144, "H": 24, "L": 48}, (1, 2, 4, 8)),
            ("52B", 192, 7, {"D": 12288, "H": 32, "L": 32}, (1, 2))):
        for slices in numbers:
            yield Run("v4", key, V4, chips, "megatron-22b", 2048, share, slices=slices,
                      sizes={**sizes, "V": 32000, "P": 2048})
    for size, share, saved, tp in V5E_RUNS:
        for slices in (1, 2, 4, 8, 16, 32):
            yield Run("v5e", f"{size}B", V5E, 256, "llama3-8b", 2048, share, saved, slices, sizes=scale(size),
                      flags=[f"--tp={tp}", "--sequence-parallel"] if tp > 1 else [])
    for size, share, tp, saved, numbers in V5P_RUNS:
        for chips in numbers:
            for slices in (1, 2):
                yield Run("v5p", f"{size}B", V5P, chips, "llama3-8b", 2048, share, saved, slices, sizes=scale(size),
                          fitted=slices == 1 and (size, chips) in ((32, 64), (128, 128)),
                          flags=[f"--tp={tp}", "--sequence-parallel"])


def get_recipes():
    """The pages of training/trillium and training/v5p: a logged step."""
    trillium, v5p = "training/trillium/", "training/v5p/"
    yield Run(trillium + "GPT3-175B-MaxText/bf16", None, V6E, 256, "gpt3-175b", 2048, 3)
    for slices, folder in ((1, "v6e-256"), (2, "2x-v6e-256"), (4, "4x-v6e-256")):
        yield Run(trillium + f"Gemma3-12B-MaxText/{folder}", None, V6E, 256, "gemma-3-12b", 32768, 1, slices=slices)
    # The logged step has two sequences of a chip.
    yield Run(trillium + "Llama2-70B-MaxText", None, V6E, 256, "llama2-70b", 4096, 2, QKV)
    yield Run(trillium + "Llama3.1-405B-MaxText", None, V6E, 512, "llama3.1-405b", 8192, 1, 
              flags=["--machine-set=network.ici.ranks=256"])
    for chips, share in ((32, 2), (64, 2), (128, 4), (256, 5)):
        yield Run(trillium + f"Llama3.1-70B-MaxText/v6e-{chips}", None, V6E, chips, "llama3.1-70b", 8192, share, QKV,
                  fitted=chips == 32)
    for chips, share in ((8, 3), (16, 3), (32, 3), (64, 5), (128, 4), (256, 4)):
        yield Run(trillium + f"Llama3.1-8B-MaxText/v6e-{chips}", None, V6E, chips, "llama3.1-8b", 8192, share,
                  QKV + ",o_proj", fitted=chips == 8)
    yield Run(trillium + "Mistral-7B-MaxText", None, V6E, 8, "mistral-7b-v0.1", 8192, 6, QKV + ",o_proj")
    # Buffers of experts have room for 1.25 times as many tokens.
    yield Run(trillium + "Mixtral-8x7B-MaxText", None, V6E, 256, "mixtral-8x7b", 4096, 12, QKV + ",o_proj",
              sizes={"CN": 5, "CD": 4})
    yield Run(trillium + "Mixtral-8x22B-MaxText", None, V6E, 256, "mixtral-8x22b", 4096, 8, QKV + ",o_proj",
              sizes={"CN": 5, "CD": 4}, flags=["--ep=4"])
    yield Run(v5p + "DeepSeek3-671B-MaxText", None, V5P, 512, "deepseek-v3", 8192, 6, "o_proj")
    yield Run(v5p + "Llama3.1-405B-MaxText", None, V5P, 512, "llama3.1-405b", 8192, 2, "attention,down_proj")
    yield Run(v5p + "Llama4-Maverick-17B-128E-Maxtext", None, V5P, 128, "llama-4-maverick", 8192, 4, QKV + ",o_proj",
              flags=["--tp=4", "--sequence-parallel"])
    yield Run(v5p + "Llama4-Scout-17B-16E-Maxtext", None, V5P, 512, "llama4-scout", 8192, 8)


def get_ironwood_runs():
    """The table of training/ironwood. Keys are its model, chips, tokens and type."""
    def run(model, chips, seq, share, saved="", fitted=False, flags=(), table=None, sizes=None):
        for dtype in ("bf16", "fp8_full"):
            yield Run("ironwood", (table or model, chips, seq, dtype), V7X, chips, model, seq, share, saved,
                      fitted=fitted, sizes=sizes, flags=[*flags, *(["--fp8"] if dtype != "bf16" else [])])
    for chips in (128, 256):
        yield from run("deepseek-v3", chips, 4096, 16)
    for chips in (64, 256):
        yield from run("gpt-oss-120b", chips, 8192, 20, "down_proj")
    yield from run("llama3.1-405b", 256, 8192, 6, "down_proj")
    for chips in (64, 256):
        yield from run("llama3.1-70b", chips, 8192, 4, QKV + ",attention", fitted=chips == 64)
    yield from run("llama3.1-70b", 256, 131072, 0.25, QKV + ",attention,down_proj", flags=["--cp=4"])
    yield from run("qwen3-235b-a22b", 256, 4096, 32)


def read(folder, path):
    """The text of a page, or nothing where a checkout does not have it."""
    name = os.path.join(folder, path, "README.md")
    if not os.path.exists(name):
        return ""
    with open(name, encoding="utf-8") as file:
        return file.read()


def get_operations(run):
    """Of a step, as MaxText counts them."""
    sizes = run.sizes
    if run.machine == V4:
        sizes = {**sizes, "K": sizes["H"], "E": 256, "F": 8 * sizes["D"] // 3}
    hyper = {"layers": sizes["L"], "hidden": sizes["D"], "ffn": sizes["F"], "heads": sizes["H"], "kv_heads": sizes["K"],
             "head_dim": sizes["E"], "vocab": sizes["V"]}
    return accuracy.get_operations({"hyper": hyper, "seq": run.seq, "gbs": run.share * run.ranks})


def get_seconds(run, maxtext, recipes):
    """The measured step, or None where a table does not have it."""
    if run.page.startswith("training"):
        match = re.search(r"completed step: \d+, seconds: ([0-9.]+)", read(recipes, run.page))
        return float(match.group(1)) if match else None
    if run.page == "ironwood":
        for line in read(recipes, "training/ironwood").splitlines():
            cells = [cell.strip() for cell in line.strip("| \n").split("|")]
            if len(cells) == 8 and (cells[0], cells[1], cells[3], cells[4]) == tuple(map(str, run.key)):
                return float(cells[5])
        return None
    section = ""
    for line in read(maxtext, f"src/maxtext/configs/tpu/{run.page}").splitlines():
        cells = [cell.strip() for cell in line.split("#")[0].strip("| \n").split("|")]
        if match := re.match(r"### (\S+) model", line):
            section = match.group(1)
        elif cells[0] == "Hardware":
            heads = cells
        elif match := re.match(rf"{run.slices}x {run.page}-(\d+)$", cells[0]):
            cores = 1 if run.page == "v5e" else 2
            name = f"{run.key} TFLOP/sec/chip"
            if int(match.group(1)) == cores * run.chips and (section == run.key or name in heads):
                rate = float(cells[heads.index(name) if name in heads else 1])
                return get_operations(run) / (run.ranks * rate * 1e12)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("maxtext")
    parser.add_argument("recipes")
    parser.add_argument("--tool", default="stg-estimate")
    parser.add_argument("--only", default="", help="pattern of the names that are printed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--parts", action="store_true", help="print where the time goes")
    options = parser.parse_args()
    runs = [run for run in (*get_maxtext_runs(), *get_recipes(), *get_ironwood_runs()) if re.search(options.only, run.name)]
    measured = [get_seconds(run, options.maxtext, options.recipes) for run in runs]
    runs = [(run, seconds) for run, seconds in zip(runs, measured) if seconds]
    pairs = accuracy.compare(
        ((run.name, run.fitted, run.group, seconds, lambda run=run: accuracy.run(options.tool, run.get_flags()))
         for run, seconds in runs), options.jobs, options.parts)
    rest = [pair for name, found in pairs.items() if name != "fitted" for pair in found]
    if rest:
        accuracy.show("all but fitted", rest)


if __name__ == "__main__":
    main()
