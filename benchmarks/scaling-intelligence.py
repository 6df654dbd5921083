#!/usr/bin/env python3
"""The study of "Scaling Intelligence" (arXiv 2506.15006) with stg-estimate.

    scaling-intelligence.py [--bin FOLDER] [--machines FOLDER]

Two mixtures of experts of 1.8 and 29 trillion parameters take a training step on 4,096 devices of
machines that do not exist yet. Prints the times beside those of the study's public tool under its
own constants, then the ratios that the study is about, the same with constants that were measured
(shares of peaks, launches and attention of a B200, shares and latencies of its networks), and what
domains, overlap and memory change. The tool's figures are its release e3eb609, run with its own
machines.
"""

import argparse
import json
import os
import subprocess
import tempfile

MODEL = """
stg.import "blocks/attention.mlir"
stg.import "blocks/experts.mlir"
stg.import "blocks/text.mlir"

stg.symbol @B "sequences in the global batch"
stg.symbol @S "tokens per sequence"
stg.symbol @D "hidden size"
stg.symbol @H "heads"
stg.symbol @K "key/value heads"
stg.symbol @E "head size"
stg.symbol @F "feed-forward size of an expert"
stg.symbol @V "vocabulary"
stg.symbol @L "layers"
stg.symbol @X "experts"
stg.symbol @A "experts per token"
stg.symbol @CN = 1 "capacity factor, numerator"
stg.symbol @CD = 1 "capacity factor, denominator"

stg.config @"1.8t" "1.8T" {D = 10752, H = 96, K = 96, E = 112, F = 43008, V = 51200, L = 120, X = 16, A = 2, S = 4096}
stg.config @"29t" "29T" {D = 15360, H = 96, K = 96, E = 160, F = 61440, V = 51200, L = 120, X = 128, A = 2, S = 32768}

!ids = !stg.tensor<[B, S], i32>
!loss = !stg.tensor<[B, S], f32>
!stream = !stg.tensor<[B, S, D], bf16>

func.func @gpt_experts(%tokens: !ids {stg.name = "tokens"}, %labels: !ids {stg.name = "labels"}) -> !loss {
  %e = stg.call @token_embedding(%tokens) : (!ids) -> !stream
  %x = stg.repeat "layers" * L carry(%h = %e : !stream) {
    %a = stg.call @attention_layer(%h) : (!stream) -> !stream
    %f = stg.call @experts_layer(%a) {expert_gated = false, activation = "gelu"} : (!stream) -> !stream
    stg.yield %f : !stream
  }
  %loss = stg.call @token_loss(%x, %labels) : (!stream, !ids) -> !loss
  return %loss : !loss
}
"""

# The tool's own times; None: it does not fit.
TOOL = {
    "two-tier-8": (8.477, None),
    "two-tier-64": (1.625, 27.956),
    "two-tier-64-software": (1.793, 29.423),
    "two-tier-128-software": (1.793, 29.423),
    "fullflat": (1.427, 26.144),
    "fullflat-software": (1.555, 27.605),
}
RATIOS = [
    ("FullFlat over two tiers", "two-tier-64", "fullflat"),
    ("the same, software", "two-tier-64-software", "fullflat-software"),
    ("network over software, two tiers", "two-tier-64-software", "two-tier-64"),
    ("network over software, FullFlat", "fullflat-software", "fullflat"),
]
COMMON = ["--tp=8", "--pp=4", "--dp=128", "--batch=1024", "--micro-batch=1", "--zero=1",
          "--sequence-parallel"]
EXPERTS = {"1.8t": "--ep=16", "29t": "--ep=32"}
# Scores are in memory there, as in Megatron-LM before fused attention.
AS_THE_TOOL = ["--recompute=full", "--preset=megatron-2021"]


class Study:
    def __init__(self, folder, tools, machines):
        self.folder, self.tools, self.machines = folder, tools, machines
        self.model = os.path.join(folder, "gpt_experts.mlir")
        with open(self.model, "w") as file:
            file.write(MODEL)

    def read_machine(self, name):
        with open(os.path.join(self.machines, name + ".json")) as file:
            return json.load(file)

    def make_measured(self, name):
        """Peaks, memory, links and collectives of a machine, and what a B200 and its networks
        make of theirs."""
        machine, real = self.read_machine(name), self.read_machine("b200-dgx")
        for part in ("kernel", "product", "attention", "sustained", "cores"):
            if part in real["device"]:
                machine["device"][part] = real["device"][part]
        for tier, other in zip(machine["network"], real["network"]):
            for key in ("share", "latency"):
                if key in other:
                    tier[key] = other[key]
        machine["sources"] = {**real["sources"], **machine["sources"]}
        path = os.path.join(self.folder, name + "-measured.json")
        with open(path, "w") as file:
            json.dump(machine, file)
        return path

    def estimate(self, config, machine, *flags):
        command = [os.path.join(self.tools, "stg-estimate"), self.model, "--config", config, "--json",
                   "--machine", machine, EXPERTS[config], *COMMON, *flags]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)

    def get_times(self, machines, *flags):
        return {name: tuple(self.estimate(config, machine, *flags)["step_seconds"] for config in EXPERTS)
                for name, machine in machines.items()}


def print_ratios(times):
    print(f"{'ratio':36}{'1.8T':>8}{'tool':>8}{'29T':>8}{'tool':>8}")
    for text, slow, fast in RATIOS:
        print(f"{text:36}" + "".join(
            f"{times[slow][i] / times[fast][i]:8.3f}{TOOL[slow][i] / TOOL[fast][i]:8.3f}" for i in (0, 1)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--bin", default=os.path.join(here, "..", "build", "bin"))
    parser.add_argument("--machines", default=os.path.join(here, "..", "machines"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study = Study(folder, args.bin, args.machines)
        print("With the tool's constants, seconds of a step (and of the tool)")
        times = study.get_times({name: name for name in TOOL}, *AS_THE_TOOL)
        for name, values in times.items():
            print(f"{name:24}" + "".join(
                f"{time:9.3f} ({tool:.3f})" if tool else f"{time:9.3f} (does not fit)"
                for time, tool in zip(values, TOOL[name])))
        print_ratios(times)

        print("\nWith measured constants and fused attention")
        measured = {name: study.make_measured(name) for name in TOOL if name != "two-tier-8"}
        times = study.get_times(measured, "--recompute=full")
        for name, values in times.items():
            print(f"{name:24}" + "".join(f"{time:9.3f}" for time in values))
        print_ratios(times)

        print("\nDomains of two tiers, 1.8T, seconds with the tool's constants and with measured ones")
        for ranks in (8, 16, 32, 64, 128, 256, 512, 1024):
            flags = [f"--machine-set=network.scale_up.ranks={ranks}"]
            print(f"{ranks:6}" + "".join(
                f"{study.estimate('1.8t', machine, *flags, *more)['step_seconds']:9.3f}"
                for machine, more in (("two-tier-64", AS_THE_TOOL),
                                      (measured["two-tier-64"], ["--recompute=full"]))))

        print("\nGradients, 1.8T, measured constants: seconds reduced after backward, or a layer's at once")
        for name in ("two-tier-64", "fullflat"):
            print(f"{name:24}" + "".join(
                f"{study.estimate('1.8t', measured[name], '--recompute=full', '--gradient-reduction=' + kind)['step_seconds']:9.3f}"
                for kind in ("flat", "per-layer")))

        print("\nMemory, measured constants: seconds and GiB of a device with what is recomputed")
        for config in EXPERTS:
            for kind in ("full", "selective", "none"):
                found = study.estimate(config, measured["fullflat"], "--recompute=" + kind)
                memory = found["memory"]
                print(f"{config:6}{kind:12}{found['step_seconds']:9.3f}"
                      f"{memory['needed_bytes'] / 2**30:9.1f} of {memory['available_bytes'] / 2**30:.1f}")


if __name__ == "__main__":
    main()
