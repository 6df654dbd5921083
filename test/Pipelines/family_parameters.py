"""Compares the parameters of library models with those of published checkpoints.

Usage: family_parameters.py
"""

import traces

# Counts of the stored tensors, without layers that predict further tokens.
PUBLISHED = {
    "qwen2-0.5b": 494_032_768,
    "qwen2.5-7b": 7_615_616_512,
    "qwen3-8b": 8_190_735_360,
    "qwen3-30b-a3b": 30_532_122_624,
    "deepseek-v2-lite": 15_706_484_224,
    "deepseek-v3": 671_026_419_200,
    "kimi-k2": 1_026_408_232_448,
    "gemma-2-9b": 9_241_705_984,
    "gemma-3-1b": 999_885_952,
}


def main():
    for name, expected in PUBLISHED.items():
        # Experts get equally many tokens: 3 is a factor of Kimi's 384.
        found = traces.compile_json(name, "--batch=3", "--dry-run")["parameters"]
        assert found == expected, f"{name}: {found}, expected {expected}: {found - expected}"
    print(f"{len(PUBLISHED)} models")


if __name__ == "__main__":
    main()
