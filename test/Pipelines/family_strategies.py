"""Families of models under strategies: all ranks together execute the products of one rank.

Under tensor parallelism without sequence parallelism each rank executes the products that make
the latents of DeepSeek's attention, and those of routers: these are added.

Usage: family_strategies.py
"""

import traces

BATCH, SEQ = 12, 16
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
}  # fmt: skip
DENSE = ("gemma-3-1b", "gemma-2-9b")
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


def repeated(name):
    """Forward products that both tensor-parallel ranks execute, once."""
    sizes = SMALL[name]
    latents = sizes.get("QL", 0) + sizes["KL"] + sizes["ER"] if "KL" in sizes else 0
    routers = sizes.get("X", 0) * (sizes["L"] - sizes.get("LD", 0))
    return 2 * BATCH * SEQ * sizes["D"] * (latents * sizes["L"] + routers)


def check(name, strategy, one):
    found = compiled(name, *strategy)
    found.pop("recompute", None)
    expected = dict(one)
    if "--tp=2" in strategy and "--sequence-parallel" not in strategy:
        expected["fwd"] += repeated(name)
        expected["bwd"] += 2 * repeated(name)
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
