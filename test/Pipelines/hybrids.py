"""Models of layers that differ, from small configurations, under strategies.

All ranks together execute the products of one rank. Traces are written, and are valid: of layers
that share parameters in several places, too.

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
                   "linear_num_value_heads": 4, "linear_key_head_dim": 8,
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
