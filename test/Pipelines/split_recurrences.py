"""What split backwards send along the sequence is what whole ones send.

The gradient of the state and of the convolution's tail each cross the border between two context-parallel ranks
once, whatever half of backward asks for it.

Usage: split_recurrences.py
"""

from collections import Counter

import traces
from comparing import equal, finish

BATCH, MICRO, CP = 16, 8, 2
TAPS = 4


def messages(model, *flags):
    result = traces.compile_json(
        model, f"--batch={BATCH}", f"--micro-batch={BATCH // MICRO}", "--seq=1024", f"--cp={CP}",
        "--cp-scan-type=p2p", "--cp-balance=none", *flags, "--dry-run")  # fmt: skip
    total = Counter()
    for entry in result["classes"]:
        for message in entry["messages"]:
            if message["axis"] == "cp":
                total[message["kind"], message["phase"]] += message["bytes"] * entry["ranks"]
    return total


def expected(layers, state, channels):
    """Bytes of `BATCH` sequences, each at the one border that two ranks have."""
    return BATCH * layers * (state * 4 + (TAPS - 1) * channels * 2) * (CP - 1)


def main():
    # Mamba: 24 layers of 1,536 channels with states of 16. Mamba 2: 24 layers of 24 heads of 64 with states of 128,
    # whose keys and queries are convolved as well.
    for model, layers, state, channels in [
        ("mamba-130m", 24, 1536 * 16, 1536), ("mamba2-130m", 24, 1536 * 128, 1536 + 2 * 128)]:  # fmt: skip
        bytes = expected(layers, state, channels)
        sent = {(kind, phase): bytes for kind in ("send", "recv") for phase in ("fwd", "bwd")}
        for flags in (["--schedule=1f1b"], ["--schedule=zb-h1"], ["--pp=2"], ["--pp=2", "--schedule=zb-h1"],
                      ["--pp=2", "--virtual-stages=2", "--schedule=zb-v"],
                      ["--pp=2", "--virtual-stages=2", "--schedule=dualpipe-v"]):  # fmt: skip
            equal(f"{model} {flags}", dict(messages(model, *flags)), sent)
    finish()


main()
