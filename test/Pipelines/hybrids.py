"""Models of layers that differ, from small configurations, under strategies.

All ranks together execute the products of one rank. Traces are written, and are valid: of layers
that share parameters in several places, too. Where there are fewer groups of a mixer, or key heads,
than ranks, each rank executes what it does with as many as there are ranks.

Usage: hybrids.py FOLDER
"""

import json
import sys
from pathlib import Path

import traces

SIZES = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4,
         "num_key_value_heads": 2, "vocab_size": 64}  # fmt: skip
MAMBA2 = {"mamba_num_heads": 8, "mamba_head_dim": 8, "n_groups": 2, "ssm_state_size": 8}
CONFIGS = {
    "jamba": {"num_hidden_layers": 8, "attn_layer_period": 4, "attn_layer_offset": 2,
              "num_experts": 4},
    "nemotron_h": {"num_hidden_layers": 8, "hybrid_override_pattern": "M-*EM-*E", "head_dim": 8,
                   "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
                   "moe_shared_expert_intermediate_size": 16} | MAMBA2,
    "qwen3_next": {"num_hidden_layers": 4, "head_dim": 8, "num_experts": 4,
                   "num_experts_per_tok": 2, "moe_intermediate_size": 16,
                   "shared_expert_intermediate_size": 16, "linear_num_key_heads": 2,
                   "linear_num_value_heads": 8, "linear_key_head_dim": 8,
                   "linear_value_head_dim": 8},
    "granitemoehybrid": {"num_hidden_layers": 4, "layer_types": ["mamba", "attention"] * 2,
                         "num_local_experts": 0, "mamba_n_heads": 8, "mamba_n_groups": 2,
                         "mamba_d_state": 8},
    "gpt_oss": {"num_hidden_layers": 4, "head_dim": 8, "num_local_experts": 4,
                "num_experts_per_tok": 2, "sliding_window": 5},
    "zamba2": {"num_hidden_layers": 6, "n_mamba_heads": 8, "num_mem_blocks": 2,
               "layers_block_type": ["mamba", "hybrid", "mamba", "hybrid", "hybrid", "mamba"]},
}  # fmt: skip
STRATEGIES = [
    ["--dp=2", "--zero=3"],
    ["--tp=2", "--sequence-parallel"],
    ["--pp=2", "--tp=2", "--sequence-parallel", "--micro-batch=2", "--recompute=full"],
    ["--cp=2", "--cp-comm-type=a2a"],
]
# Adapters, and the projection behind them, are on every rank.
DIVIDED = {"zamba2": [["--dp=2", "--zero=3"], ["--dp=2", "--zero=1"]]}


FALCON = {"num_hidden_layers": 4, "mamba_n_heads": 8, "mamba_d_ssm": 64, "mamba_rms_norm": True,
          "mamba_d_state": 8, "ssm_multipliers": [2.0] * 5}  # fmt: skip
#: The key that says how many, and strategies of 4 ranks that divide heads.
GROUPED = {
    "nemotron_h": "n_groups", "granitemoehybrid": "mamba_n_groups", "zamba2": "mamba_ngroups",
    "qwen3_next": "linear_num_key_heads", "falcon_h1": "mamba_n_groups",
}  # fmt: skip
HEADS = [
    ["--tp=4", "--sequence-parallel"],
    ["--tp=2", "--cp=2", "--cp-comm-type=a2a"],
    ["--tp=4", "--cp=2", "--cp-comm-type=p2p"],
    ["--tp=4", "--dp=2", "--zero=3", "--recompute=full"],
]


def fewer_groups(folder):
    """Two groups, or one key head for two, on four ranks."""
    checked = 0
    for name, key in GROUPED.items():
        config = CONFIGS.get(name, FALCON)
        paths = {}
        for count in (2, 4):
            paths[count] = Path(folder) / f"{name}-{count}.json"
            values = {"model_type": name} | SIZES | config | {key: count}
            paths[count].write_text(json.dumps(values))
        for strategy in HEADS:
            step = ["--batch=8", "--seq=32", *strategy]
            few, many = (
                traces.products(traces.compile_json(paths[count], *step, "--dry-run"))
                for count in (2, 4)
            )
            # Where tokens are exchanged, each rank makes what groups read and write of its own.
            if any("a2a" in flag for flag in strategy):
                assert few["fwd"] < many["fwd"], f"{name} {strategy}: {few}, expected less than {many}"
            else:
                assert few == many, f"{name} {strategy}: {few}, expected {many}"
            written = Path(folder) / f"{name}-few"
            traces.run("stg-compile", paths[2], *step, "-o", written)
            traces.run("stg-trace", "validate", written)
            checked += 1
    print(f"{checked} strategies with few groups of {len(GROUPED)} models")


def main(folder):
    checked = 0
    for name, config in CONFIGS.items():
        path = Path(folder) / f"{name}.json"
        path.write_text(json.dumps({"model_type": name} | SIZES | config))
        step = [path, "--batch=8", "--seq=32"]
        one = traces.products(traces.compile_json(*step, "--dry-run"))
        for strategy in DIVIDED.get(name, STRATEGIES):
            found = traces.products(traces.compile_json(*step, *strategy, "--dry-run"))
            found.pop("recompute", None)
            assert found == one, f"{name} {strategy}: {found}, expected {one}"
            checked += 1
        written = Path(folder) / name
        traces.run("stg-compile", *step, "--tp=2", "--dp=2", "-o", written)
        traces.run("stg-trace", "validate", written)
    print(f"{checked} strategies of {len(CONFIGS)} models")


main(*sys.argv[1:])
fewer_groups(*sys.argv[1:])
