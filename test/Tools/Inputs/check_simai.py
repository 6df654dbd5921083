"""Compares a workload of SimAI with what stg-compile and stg-estimate say of the step.

    check_simai.py WORKLOAD SUMMARY ESTIMATE TP DP

The lines are executed as SimAI does: forward down the list, backward up. Collectives are those of
the summary, and what is computed is, in nanoseconds, what the estimate's kernels take.
"""

import json
import sys
from collections import Counter

KINDS = {"ALLREDUCE": "all_reduce", "ALLGATHER": "all_gather", "REDUCESCATTER": "reduce_scatter",
         "ALLTOALL": "all_to_all"}


def main():
    tp, dp = int(sys.argv[4]), int(sys.argv[5])
    with open(sys.argv[1], encoding="utf-8") as file:
        header, count, *lines = file.read().splitlines()
    words = header.split()
    assert words[0] == "HYBRID_TRANSFORMER_FWD_IN_BCKWD", words
    named = dict(zip(words[1::2], words[2::2]))
    assert named["model_parallel_NPU_group:"] == str(tp) and named["all_gpus:"] == str(tp * dp), named
    assert named["pp:"] == "1" and named["checkpoints:"] == "0" and int(count) == len(lines)
    rows = [line.split() for line in lines]
    assert all(len(row) == 12 and row[1] == "-1" for row in rows)
    forward = [(int(row[2]), row[3], int(row[4])) for row in rows]
    backward = [(int(row[5]), row[6], int(row[7]), int(row[8]), row[9], int(row[10]))
                for row in reversed(rows)]
    # Nothing is in both passes, and each pass is in one piece.
    used = [bool(f[0] or f[1] != "NONE") for f in forward]
    assert used == sorted(used), "forward is not at the end"
    found = Counter()

    def add(name, size, is_model):
        if name == "NONE":
            assert size == 0
            return
        axis = "tp" if is_model else "dp"
        kind = KINDS[name]
        ranks = tp if is_model else dp
        found[kind, axis, "bytes"] += size // ranks if kind == "all_gather" else size
        found[kind, axis, "count"] += 1
    compute = 0
    for time, name, size in forward:
        compute += time
        add(name, size, True)
    for time, name, size, weights, weight_name, weight_size in backward:
        compute += time + weights
        add(name, size, True)
        add(weight_name, weight_size, False)
    with open(sys.argv[2], encoding="utf-8") as file:
        (ranks,) = json.load(file)["classes"]
    expected = Counter()
    for coll in ranks["collectives"]:
        key = coll["kind"], "+".join(coll["axes"])
        expected[(*key, "bytes")] += coll["bytes"]
        expected[(*key, "count")] += coll["count"]
    assert found == expected, f"{found}\n{expected}"
    with open(sys.argv[3], encoding="utf-8") as file:
        time = json.load(file)["time"]
    kernels = time["products"] + time["attention"] + time["other_kernels"]
    assert abs(compute - kernels * 1e9) <= 2, f"{compute} ns, expected {kernels * 1e9}"
    print(f"{len(rows)} layers, {compute} ns")


if __name__ == "__main__":
    main()
