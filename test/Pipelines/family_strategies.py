"""Families of models under strategies: all ranks together execute the products of one rank.

Under tensor parallelism without sequence parallelism each rank executes the products that make
the latents of DeepSeek's attention, those of routers, and what all heads of Mamba-2 share if they
are one group: these are added. The product C B^T of such a group each rank executes that has some
of its heads, however tokens are divided.

Usage: family_strategies.py
"""

from pathlib import Path

import traces

BATCH, SEQ = 12, 16
# Llama 4 Maverick without its tower.
TEXT = str(Path(__file__).parent / "Inputs" / "llama-4-maverick-text.json")
SMALL = {
    "deepseek-v3": {
        "D": 64, "H": 8, "QL": 48, "KL": 32, "EN": 16, "ER": 8, "EV": 16, "DF": 128, "F": 32,
        "G": 32, "X": 8, "A": 2, "NG": 4, "NL": 2, "V": 128, "L": 6, "LD": 2,
    },
    "deepseek-v2-lite": {
        "D": 64, "H": 8, "KL": 32, "EN": 16, "ER": 8, "EV": 16, "DF": 128, "F": 32,
        "G": 64, "X": 8, "A": 2, "V": 128, "L": 6, "LD": 2,
    },
    "qwen3-30b-a3b": {"D": 64, "H": 8, "K": 4, "E": 16, "F": 32, "X": 8, "A": 2, "V": 128, "L": 6},
    "gemma-3-1b": {
        "D": 64, "H": 8, "K": 4, "E": 16, "F": 128, "V": 128, "W": 5, "N": 3, "L": 4, "T": 2,
    },
    "gemma-2-9b": {"D": 64, "H": 8, "K": 4, "E": 16, "F": 128, "V": 128, "W": 5, "L": 3},
    "gpt-oss-20b": {
        "D": 64, "H": 8, "K": 4, "E": 16, "F": 32, "X": 8, "A": 2, "V": 128, "W": 5, "L": 6,
    },
    TEXT: {
        "D": 64, "H": 8, "K": 4, "E": 16, "F": 32, "I": 48, "G": 32, "X": 8, "A": 1, "V": 128,
        "W": 4, "L": 12,
    },
    "mamba-2.8b": {"D": 64, "MC": 128, "MN": 4, "MR": 8, "V": 128, "L": 6},
    "mamba2-2.7b": {"D": 64, "MH": 8, "MP": 16, "MN": 8, "MQ": 8, "V": 128, "L": 6},
    "codestral-mamba-7b": {
        "D": 64, "MH": 8, "MP": 16, "MG": 4, "MN": 8, "MQ": 8, "V": 128, "L": 6,
    },
    "bloom-560m": {"D": 64, "H": 8, "E": 16, "F": 128, "V": 128, "L": 6},
    "command-r-plus-104b": {"D": 64, "H": 8, "K": 4, "E": 16, "F": 128, "V": 128, "L": 6},
}  # fmt: skip
DENSE = (
    "gemma-3-1b", "gemma-2-9b", "bloom-560m", "command-r-plus-104b", "mamba-2.8b", "mamba2-2.7b",
    "codestral-mamba-7b",
)  # fmt: skip
# Layers without experts.
PLAIN = {TEXT: 6}
STRATEGIES = [
    ["--dp=2", "--zero=1"],
    ["--dp=4", "--zero=3"],
    ["--tp=2", "--sequence-parallel"],
    ["--tp=2", "--dp=2"],
    ["--pp=3", "--micro-batch=2"],
    ["--pp=2", "--tp=2", "--sequence-parallel", "--micro-batch=3", "--recompute=full"],
    ["--cp=2", "--cp-comm-type=a2a"],
]
EXPERTS = [["--dp=4", "--ep=4"], ["--dp=2", "--ep=2", "--pp=2", "--micro-batch=2"]]


def flags(name):
    return [f"--set={symbol}={value}" for symbol, value in SMALL[name].items()]


def compiled(name, *strategy):
    command = [name, *flags(name), f"--batch={BATCH}", f"--seq={SEQ}", *strategy, "--dry-run"]
    return traces.products(traces.compile_json(*command))


def shared_group(name, strategy):
    """Forward products that both ranks execute that divide heads of one group, once."""
    sizes = SMALL[name]
    is_divided = "--tp=2" in strategy or "--cp=2" in strategy
    if not is_divided or "MH" not in sizes or "MG" in sizes:
        return 0
    return 2 * BATCH * SEQ * sizes["MQ"] * sizes["MN"] * sizes["L"]


def repeated(name):
    """Forward products that both tensor-parallel ranks execute, once."""
    sizes = SMALL[name]
    if "MH" in sizes:
        shared = 0 if "MG" in sizes else 2 * sizes["MN"]
        return 2 * BATCH * SEQ * sizes["D"] * shared * sizes["L"]
    latents = sizes.get("QL", 0) + sizes["KL"] + sizes["ER"] if "KL" in sizes else 0
    routers = sizes.get("X", 0) * (sizes["L"] - sizes.get("LD", PLAIN.get(name, 0)))
    return 2 * BATCH * SEQ * sizes["D"] * (latents * sizes["L"] + routers)


def check(name, strategy, one):
    found = compiled(name, *strategy)
    found.pop("recompute", None)
    expected = dict(one)
    again = shared_group(name, strategy)
    if "--tp=2" in strategy and "--sequence-parallel" not in strategy:
        again += repeated(name)
    expected["fwd"] += again
    expected["bwd"] += 2 * again
    assert found == expected, f"{name} {strategy}: {found}, expected {expected}"


def main():
    count = 0
    for name in SMALL:
        one = compiled(name)
        strategies = STRATEGIES + ([] if name in DENSE else EXPERTS)
        for strategy in strategies:
            check(name, strategy, one)
            count += 1
    print(f"{count} strategies of {len(SMALL)} models")


if __name__ == "__main__":
    main()
