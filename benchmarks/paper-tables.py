#!/usr/bin/env python3
"""Compares stg-estimate with the scaling tables of two papers.

    paper-tables.py [--tool PATH] [--jobs N]

Table 1 of arXiv:2104.04473 has models of 1.7B to 1T parameters on 32 to 3,072 A100, and Table 2 of
arXiv:2402.15627 a model of 175B on 256 to 12,288 A100 with Megatron-LM. The first does not say its
micro-batches: of 1, 2, 4 and 8 the fastest by the estimate is taken. The second says neither what is
replayed nor its virtual stages, of which six are taken. Rows of accuracy.py have a `*`.
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import accuracy  # noqa: E402

SEQ = 2048
# Name, heads, hidden size, layers, tp, pp, devices, sequences of a step, TFLOP/s of a device.
NARAYANAN = [
    ("1.7B", 24, 2304, 24, 1, 1, 32, 512, 137), ("3.6B", 32, 3072, 30, 2, 1, 64, 512, 138),
    ("7.5B", 32, 4096, 36, 4, 1, 128, 512, 142), ("18.4B", 48, 6144, 40, 8, 1, 256, 1024, 135),
    ("39.1B", 64, 8192, 48, 8, 2, 512, 1536, 138), ("76.1B", 80, 10240, 60, 8, 4, 1024, 1792, 140),
    ("145.6B", 96, 12288, 80, 8, 8, 1536, 2304, 148), ("310.1B", 128, 16384, 96, 8, 16, 1920, 2160, 155),
    ("529.6B", 128, 20480, 105, 8, 35, 2520, 2520, 163), ("1008B", 160, 25600, 128, 8, 64, 3072, 3072, 163)]
# Devices, sequences of a step, and seconds.
MEGASCALE = [(256, 768, 40.0), (512, 768, 21.2), (768, 768, 15.2), (1024, 768, 11.9), (3072, 6144, 29.02),
             (6144, 6144, 14.78), (8192, 6144, 12.24), (12288, 6144, 8.57)]
SHOWN = ("1.7B", "7.5B", "39.1B", 256, 3072)
PRESETS = {"narayanan": "megatron-2021", "megascale": "megatron-2023"}


def make_row(name, heads, hidden, layers, vocab, **others):
    return {"id": name, "hyper": {"layers": layers, "hidden": hidden, "ffn": 4 * hidden, "heads": heads, "kv_heads": heads,
                                  "head_dim": hidden // heads, "vocab": vocab, "gated": False},
            "seq": SEQ, "cp": 1, "ep": 1, "etp": 1, "tp": 8, "mbs": 1, "vp": None, "metric": "step_s", **others}


def get_rows():
    """Each row with its paper, and whether accuracy.py has it."""
    for name, heads, hidden, layers, tp, pp, gpus, batch, rate in NARAYANAN:
        vocab = 51200
        # The paper's count, with what is computed again.
        operations = 96 * batch * SEQ * layers * hidden**2 * (1 + SEQ / (6 * hidden) + vocab / (16 * layers * hidden))
        yield "narayanan", name in SHOWN, make_row(
            f"narayanan-t1-{name}", heads, hidden, layers, vocab, hardware="a100-80gb-selene", gpus=gpus, gbs=batch,
            mbs=None, tp=tp, pp=pp, dp=gpus // (tp * pp), sp=False, recompute="full", precision="fp16", zero=0,
            value=operations / (gpus * rate * 1e12))
    for gpus, batch, seconds in MEGASCALE:
        yield "megascale", gpus in SHOWN, make_row(
            f"megascale-megatron-{gpus}", 128, 12288, 96, 64000, hardware="a100-roce200", gpus=gpus, gbs=batch, pp=8,
            vp=6, dp=gpus // 64, sp=True, recompute="none", precision="bf16", zero=1, value=seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", default="stg-estimate")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    accuracy.compare(
        ((f"{row['id']}, {row['gpus']} devices", shown, None if shown else paper, row["value"],
          lambda paper=paper, row=row: accuracy.estimate(options.tool, row, PRESETS[paper]))
         for paper, shown, row in get_rows()), options.jobs)


if __name__ == "__main__":
    main()
