"""Compares what each rank has of tables of different sizes with closed forms.

Nothing here is read from models/: the rows are those of MLPerf's 26 tables of Criteo's terabyte
(at most 40 million each), or lists that are made up here; networks and products are those of Naumov
et al., arXiv:1906.00091. A rank with the tables T of R rows has

  parameters     networks + R*d
  exchanges      ids of its tables for all samples, what is found, and its gradient: all ranks say
                 the size of the one with the most tables, B*P*max|T| ids and B*max|T|*d elements
  operations     those of the networks for its samples, and B*P*|T|*d additions forward and as many
                 backward

and the optimizer has 14 operations and 12 bytes for each parameter. With sparse gradients a table
has one fp32 number for each row instead, and 5*d + 5 operations for each id. Of rows that are
divided a rank has ceil(R/ranks) of each table, the last ones what is left; ids that are sent are
B*P*N/ranks ids and B*N lengths for each rank.

A model of large tables by rows and small ones whole has the sum of both, in one step.

Usage: dlrm-tables.py whole | rows | sparse | mixed MODEL
"""

import sys

import recommendation
from recommendation import BF16, FP32, ID, collectives, expect

CRITEO = [40000000, 39060, 17295, 7424, 20265, 3, 7122, 1543, 63, 40000000, 3067956, 405282, 10, 2209,
          11938, 155, 4, 976, 14, 40000000, 40000000, 40000000, 590152, 12973, 108, 36]
ND, D = 13, 128
BOTTOM, TOP = [512, 256], [1024, 1024, 512, 256]


def compile(*flags, model="dlrm-mlperf"):
    return recommendation.compile(model, *flags)


def layers(tables, bottom=BOTTOM, top=TOP, d=D):
    first, second = recommendation.widths(ND, tables, d, bottom, top)
    return first + second


def networks(*shape):
    return sum(i * o + o for i, o in layers(*shape))


def products(batch, tables, phase):
    """Operations of matrix products: nothing needs the gradient of the numbers."""
    forward = 2 * batch * (sum(i * o for i, o in layers(tables)) + (tables + 1) ** 2 * D)
    return forward if phase == "fwd" else 2 * forward - 2 * batch * ND * BOTTOM[0]


def greedy(rows, ranks):
    """The tables of each rank: the largest first, each to the rank with the fewest rows."""
    have = [[] for _ in range(ranks)]
    for table in sorted(range(len(rows)), key=lambda t: (-rows[t], t)):
        place = min(range(ranks), key=lambda r: (sum(rows[t] for t in have[r]), r))
        have[place].append(table)
    return have


def flags_of(rows):
    if rows is CRITEO:
        return []
    return ["--set", "rows=" + ",".join(map(str, rows)), "--set", f"NT={len(rows)}", "--set", f"NR={sum(rows)}"]


def by_rank(made, ranks):
    """The class of each rank, which its coordinate is written in."""
    classes = [None] * ranks
    for entry in made["classes"]:
        own = entry["coordinates"].get("dp")
        for rank in range(ranks):
            if own is None or own == rank:
                classes[rank] = entry
    expect("ranks of all classes", sum(c["ranks"] for c in made["classes"]), ranks)
    return classes


def other_operations(entry, phase):
    return entry["operations_by_phase"][phase] - entry["matrix_operations_by_phase"].get(phase, 0)


def plain(batch, rows, ids):
    """Operations of one rank with all tables that are no products and no lookups, by phase."""
    entry, = compile(f"--batch={batch}", f"--set=NP={ids}", *flags_of(rows))["classes"]
    return {phase: other_operations(entry, phase) - batch * ids * len(rows) * D for phase in ("fwd", "bwd")}


def check_states(what, entry, dense, rows, sparse, d=D):
    states = entry["memory"]["persistent_bytes"]
    expect(f"{what}: parameters", states["parameter"], BF16 * (dense + rows * d))
    expect(f"{what}: optimizer", states["optimizer"],
           3 * FP32 * dense + (FP32 * rows if sparse else 3 * FP32 * rows * d))
    most = entry["memory"]["largest_bytes"]["gradient"]
    expect(f"{what}: gradients", most, FP32 * (dense + (0 if sparse else rows * d)))


def check_whole(rows, ranks, batch, ids=1, placed=None, sparse=False):
    tables, dense = len(rows), networks(len(rows))
    flags = [f"--batch={batch}", f"--dp={ranks}", "--rules=NT:dp+", f"--set=NP={ids}", *flags_of(rows)]
    if placed:
        flags.append("--table-ranks=" + ",".join(map(str, placed)))
        have = [[t for t in range(tables) if placed[t] == r] for r in range(ranks)]
    else:
        have = greedy(rows, ranks)
    made = compile(*flags, *(["--sparse-gradients"] if sparse else []))
    expect("all parameters", made["parameters"], dense + sum(rows) * D)
    most = max(map(len, have))
    rest = plain(batch, rows, ids)
    total = {"fwd": 0, "bwd": 0}
    for rank, entry in enumerate(by_rank(made, ranks)):
        what = f"{tables} tables on {ranks} ranks, rank {rank}"
        own, own_rows = len(have[rank]), sum(rows[t] for t in have[rank])
        check_states(what, entry, dense, own_rows, sparse)
        expect(f"{what}: collectives", collectives(entry), sorted([
            ("all_reduce", "grad_sync", 1, dense * FP32),
            ("all_to_all", "fwd", 2, batch * most * (ids * ID + D * BF16)),
            ("all_to_all", "bwd", 1, batch * most * D * BF16)]))
        lookups = batch * ids * own
        for phase in ("fwd", "bwd"):
            expect(f"{what}: products {phase}", entry["matrix_operations_by_phase"][phase],
                   products(batch, tables, phase) // ranks)
            each = 5 * D + 5 if sparse and phase == "bwd" else D
            expect(f"{what}: others {phase}", other_operations(entry, phase),
                   rest[phase] // ranks + lookups * each)
            total[phase] += lookups
        expect(f"{what}: optimizer", entry["operations_by_phase"]["opt"],
               14 * (dense + (0 if sparse else own_rows * D)))
    expect("lookups of all ranks", total["fwd"], batch * ids * tables)


def check_micro_batches(flags, sparse):
    """Micro-batches do what the batch does, and add up the gradients that no product makes."""
    ranks, batches, tables = 4, 4, len(CRITEO)
    flags = ["--batch=64", f"--dp={ranks}", *flags] + (["--sparse-gradients"] if sparse else [])
    at_once = by_rank(compile(*flags), ranks)
    in_parts = by_rank(compile(*flags, f"--micro-batch={64 // ranks // batches}"), ranks)
    biases = sum(o for _, o in layers(tables))
    for rank, (one, several) in enumerate(zip(at_once, in_parts)):
        what = f"{batches} micro-batches, {flags}, rank {rank}"
        rows = (one["memory"]["persistent_bytes"]["parameter"] // BF16 - networks(tables)) // D
        sums = (batches - 1) * (biases + (0 if sparse else rows * D))
        want = {**one["operations_by_phase"]}
        want["bwd"] += sums
        expect(f"{what}: operations", several["operations_by_phase"], want)
        expect(f"{what}: collectives", collectives(several), sorted(
            (kind, phase, count if phase == "grad_sync" else batches * count, size)
            for kind, phase, count, size in collectives(one)))


def check_rows(rows, ranks, batch, ids, send, sparse):
    tables, dense = len(rows), networks(len(rows))
    flags = [f"--batch={batch}", f"--dp={ranks}", "--rules=NR:dp+", f"--set=NP={ids}", *flags_of(rows)]
    flags += ["--row-ids=send"] if send else []
    flags += ["--sparse-gradients"] if sparse else []
    have = [sum(map(len, parts(rows, rank, ranks))) for rank in range(ranks)]
    expect("rows of all ranks", sum(have), sum(rows))
    rest = plain(batch, rows, ids)
    for rank, entry in enumerate(by_rank(compile(*flags), ranks)):
        what = f"rows over {ranks} ranks, rank {rank}, ids sent {send}, sparse {sparse}"
        check_states(what, entry, dense, have[rank], sparse)
        check_exchange(what, entry, tables, dense, ranks, batch, ids, send, sparse, rest)


def parts(rows, rank, ranks):
    """The rows of each table that a rank has: as many as the others, but for the last ones."""
    return [range(number)[rank * -(-number // ranks):(rank + 1) * -(-number // ranks)] for number in rows]


def check_exchange(what, entry, tables, dense, ranks, batch, ids, send, sparse, rest):
    chosen, found = batch * ids * tables, batch * tables * D * BF16
    want = [("all_reduce", "grad_sync", 1, dense * FP32), ("reduce_scatter", "fwd", 1, found)]
    if send:
        # Each rank sends the ids of its samples, and their lengths for each rank.
        want += [("all_to_all", "fwd", 2, chosen // ranks * ID + batch * tables * ID),
                 ("all_gather", "bwd", 1, found // ranks)]
    else:
        want += [("all_gather", "fwd", 1, chosen * ID // ranks),
                 ("all_gather", "bwd", 2, (chosen * ID + found) // ranks)]
    expect(f"{what}: collectives", collectives(entry), sorted(want))
    expect(f"{what}: others fwd", other_operations(entry, "fwd"),
           rest["fwd"] // ranks + (chosen // ranks if send else chosen) * D)
    own = chosen // ranks if send or sparse else chosen
    expect(f"{what}: others bwd", other_operations(entry, "bwd"),
           rest["bwd"] // ranks + own * (5 * D + 5 if sparse else D))


def check_traffic(ranks, batch, ids):
    """Sparse gradients, all tables on each rank: what a step of the tables reads and writes.

    Dense gradients: 4*R*d are written, and read with the parameter's master copy and two moments,
    which are read and written, and 2*R*d are written. Sparse: ids, gradient of what was found, rows
    and numbers of the ids twice. Ids and gradients of all ranks are gathered.
    """
    rows = CRITEO
    flags = [f"--batch={batch}", f"--dp={ranks}", f"--set=NP={ids}"]
    dense, = compile(*flags)["classes"]
    sparse, = compile(*flags, "--sparse-gradients")["classes"]
    chosen, found = batch * ids * len(rows), batch * len(rows) * D * BF16
    elements = sum(rows) * D
    own = chosen * ID + found
    # Only gathered ids and gradients are read by the sparse step, those of a rank by the dense one.
    want = (own + chosen * (D * BF16 * 2 + FP32 * 2)
            - (own // ranks + elements * FP32) - elements * (FP32 + 2 * 3 * FP32 + BF16))
    if ranks == 1:
        expect("traffic", sparse["memory_traffic_bytes"] - dense["memory_traffic_bytes"], want)
        return
    expect("gathered", collectives(sparse), sorted([
        ("all_reduce", "grad_sync", 1, networks(len(rows)) * FP32),
        ("all_gather", "bwd", 2, own // ranks)]))


def check_mixed(model, ranks, batch, ids, sparse):
    large, small, d = [1000, 500], [3, 30, 4, 20, 3], 16
    flags = [f"--batch={batch}", f"--dp={ranks}", "--rules=RL:dp+,NS:dp+", f"--set=NP={ids}"]
    made = compile(*flags, *(["--sparse-gradients"] if sparse else []), model=model)
    dense = networks(len(large + small), [32], [64], d)
    placed = greedy(small, ranks)
    most = max(map(len, placed))
    ids_of_large, of_large = batch * ids * len(large) * ID, batch * len(large) * d * BF16
    for rank, entry in enumerate(by_rank(made, ranks)):
        what = f"mixed on {ranks} ranks, rank {rank}"
        rows = sum(map(len, parts(large, rank, ranks))) + sum(small[t] for t in placed[rank])
        check_states(what, entry, dense, rows, sparse, d)
        expect(f"{what}: collectives", collectives(entry), sorted([
            ("all_reduce", "grad_sync", 1, dense * FP32),
            ("all_gather", "fwd", 1, ids_of_large // ranks),
            ("reduce_scatter", "fwd", 1, of_large),
            ("all_gather", "bwd", 2, (ids_of_large + of_large) // ranks),
            ("all_to_all", "fwd", 2, batch * most * (ids * ID + d * BF16)),
            ("all_to_all", "bwd", 1, batch * most * d * BF16)]))


what = sys.argv[1]
if what == "whole":
    check_whole(CRITEO, 4, 64)
    check_whole(CRITEO, 8, 64, ids=3)
    check_whole(CRITEO, 32, 64)  # Fewer tables than ranks: six ranks have none.
    check_whole([10**9, 5, 5], 4, 16)  # One is nearly all there is.
    check_whole([7, 5, 3, 2], 2, 8, placed=[1, 0, 0, 0])
    check_whole([6, 6, 6, 6], 2, 8)  # Equal: one class.
    check_whole(CRITEO, 4, 64, ids=3, sparse=True)
    for sparse in (False, True):
        check_micro_batches(["--rules=NT:dp+"], sparse)
        check_micro_batches(["--rules=NR:dp+", "--row-ids=send"], sparse)
    # On one rank there is nothing to place, and the list changes no number.
    alone, joined = (compile("--batch=16", *more)["classes"] for more in ([], ["--set", "tables=joined"]))
    expect("one rank", alone, joined)
elif what == "rows":
    for send in (False, True):
        for sparse in (False, True):
            check_rows(CRITEO, 4, 64, 1, send, sparse)
            check_rows(CRITEO, 8, 64, 2, send, sparse)  # Which do not divide the rows of all tables.
            check_rows([50, 30, 20, 3], 8, 32, 4, send, sparse)  # Some ranks have none of the last.
elif what == "mixed":
    for sparse in (False, True):
        check_mixed(sys.argv[2], 2, 16, 1, sparse)
        check_mixed(sys.argv[2], 4, 16, 3, sparse)
        check_mixed(sys.argv[2], 8, 16, 2, sparse)
else:
    check_traffic(1, 64, 1)
    check_traffic(1, 32, 5)
    check_traffic(4, 64, 1)
