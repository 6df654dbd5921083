#!/usr/bin/env python3
"""Compares exchanges of rows of experts with those that were measured.

    exchange-kernels.py [--tool PATH]

DeepEP publishes what its kernels take on H800 (deepseek-ai/DeepEP, docs/legacy.md), with rows of 7,168
elements, 256 experts, 8 of them for each token, rows sent in 8 bits and sums in 16. The low-latency ones
have 128 tokens on a rank, and times in microseconds. The normal ones have 4,096, and rates that count
each row once for each rank of the only node, or for each node that it goes to, its own among them; with
more than one node tokens choose experts of at most four. `device.exchange.fixed` was fitted on the
low-latency kernels of 8 to 32 ranks; nothing was fitted on the others.
"""
import argparse
import json
import math
import subprocess
import tempfile

NODE, TOKENS, EXPERTS, CHOSEN = 8, 4096, 256, 8
ROW_BYTES = (7168 * 33 // 32, 7168 * 2)  # Sent, with scales, and back.

# By ranks, microseconds of dispatch and combine.
LOW_LATENCY = {8: (77, 114), 16: (118, 195), 32: (155, 273), 64: (173, 314), 128: (192, 369), 256: (194, 360)}
# By ranks, GB/s of both.
NORMAL = {8: (153, 158), 16: (43, 43), 32: (58, 57), 64: (51, 50)}


def count_distinct(places, experts):
    """Of places that have equally many experts, those with one that is chosen."""
    return places * (1 - math.comb(experts - experts // places, CHOSEN) / math.comb(experts, CHOSEN))


def get_normal_times(ranks):
    """Microseconds, and the groups that nodes are, of which a token has experts of so many."""
    nodes = ranks // NODE
    limit = min(nodes, 4)
    places = NODE if nodes == 1 else limit
    copies = TOKENS * count_distinct(places, EXPERTS * limit // nodes)
    return [copies * size / rate / 1e3 for size, rate in zip(ROW_BYTES, NORMAL[ranks])], (nodes, limit)


def estimate(tool, ranks, flags):
    """Microseconds of dispatch and combine in a layer of DeepSeek-V3."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/timeline.json"
        subprocess.run([tool, "deepseek-v3", "--machine=h800", f"--dp={ranks}", f"--ep={ranks}", "--fp8",
                        f"--timeline={path}", *flags], check=True, capture_output=True)
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
    times = {}
    for event in events:
        name = event.get("args", {}).get("node", "")
        for kind in ("dispatch", "combine"):
            if event.get("cat") == "kernel" and name.endswith(f"{kind}.fwd.all_to_all"):
                times[kind] = event["dur"]
    return times["dispatch"], times["combine"]


def show(name, ranks, measured, ours):
    cells = "  ".join(f"{there:7.0f} {here:7.0f} {here / there - 1:+7.1%}" for there, here in zip(measured, ours))
    print(f"{name:12} {ranks:4}  {cells}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", default="stg-estimate")
    tool = parser.parse_args().tool
    print("kernels     ranks  dispatch, us: measured, estimated  combine, us")
    for ranks, measured in LOW_LATENCY.items():
        show("low-latency", ranks, measured,
             estimate(tool, ranks, ["--preset=deepep", "--kv-len=4096", f"--batch={128 * ranks}"]))
    for ranks in NORMAL:
        measured, (groups, limit) = get_normal_times(ranks)
        show("normal", ranks, measured,
             estimate(tool, ranks, ["--preset=deepep-normal", "--mode=prefill", f"--seq={TOKENS}",
                                    f"--batch={ranks}", f"--set=NG={groups}", f"--set=NL={limit}"]))


if __name__ == "__main__":
    main()
