"""Compares what stg-compile makes of DLRM with closed forms.

The closed forms are those of Naumov et al., arXiv:1906.00091, computed here without a look at
models/dlrm.mlir: layers of given widths, tables of T times R rows of d elements, products of
all pairs of T + 1 features. Published: MLPerf's tables have 204,184,588 rows of 128 elements,
its networks 2,368,897 parameters.

Tables of different sizes have a test of their own; MLPerf's are one table here.

Placed by table (rule NT:dp): a rank looks up its tables for all samples, so ids, what is found
and its gradient are each exchanged once. Placed by rows (NR:dp): each rank looks up the rows
that it has for all ids, which are gathered in both passes; sums are scattered, their gradient is
gathered. Either way the tables' gradients are complete where the tables are, and those of the
networks are reduced.
"""

from recommendation import BF16, FP32, ID, collectives, compile, expect, widths


def check(name, dense, tables, d, bottom, top, rows, ids, stacked, batch):
    first, second = widths(dense, tables, d, bottom, top)
    networks = sum(i * o + o for i, o in first + second)
    all_rows = rows * (tables if stacked else 1)
    tables_flag = [] if stacked else ["--set=tables=joined"]
    made = compile(name, f"--batch={batch}", *tables_flag)
    expect(f"{name}: parameters", made["parameters"], networks + all_rows * d)
    forward = 2 * batch * (sum(i * o for i, o in first + second) + (tables + 1) ** 2 * d)
    # Nothing needs the gradient of the numbers.
    products = {"fwd": forward, "bwd": 2 * forward - 2 * batch * first[0][0] * first[0][1]}
    only, = made["classes"]
    expect(f"{name}: products", only["matrix_operations_by_phase"], products)
    # Each row that is found is added once, forward and backward.
    looked_up = batch * ids * tables * d
    ranks = 4
    found = batch * tables * d * BF16
    chosen = batch * ids * tables * ID
    rest = ("all_reduce", "grad_sync", 1, networks * FP32)
    placements = {
        "NR": [("all_gather", "bwd", 2, (chosen + found) // ranks), ("all_gather", "fwd", 1, chosen // ranks),
               rest, ("reduce_scatter", "fwd", 1, found)],
        "NT": [rest, ("all_to_all", "bwd", 1, found // ranks), ("all_to_all", "fwd", 2, (chosen + found) // ranks)],
    }
    for dimension, want in placements.items():
        if dimension == "NT" and not stacked:
            continue
        part, = compile(name, f"--batch={batch}", f"--dp={ranks}", f"--rules={dimension}:dp+", *tables_flag)["classes"]
        what = f"{name}, {dimension} over dp"
        expect(f"{what}: products", part["matrix_operations_by_phase"], {p: n // ranks for p, n in products.items()})
        expect(f"{what}: collectives", collectives(part), sorted(want))
        states = part["memory"]["persistent_bytes"]
        expect(f"{what}: parameters of a rank", states["parameter"], BF16 * (networks + all_rows * d // ranks))
        # Where rows are divided a rank adds for all samples, where tables are, for its own.
        more = part["operations_by_phase"]["fwd"] * ranks - only["operations_by_phase"]["fwd"]
        expect(f"{what}: operations of lookups", more, looked_up * (ranks - 1) if dimension == "NR" else 0)
    # Without a rule every rank has all tables.
    part, = compile(name, f"--batch={batch}", f"--dp={ranks}", *tables_flag)["classes"]
    expect(f"{name}: gradients", collectives(part), [("all_reduce", "grad_sync", 1, (networks + all_rows * d) * FP32)])
    return networks


expect("MLPerf's networks", check("dlrm-mlperf", 13, 26, 128, [512, 256], [1024, 1024, 512, 256], 204184588, 1, False, 64),
       2_368_897)
check("dlrm-stacked", 512, 8, 64, [512, 64], [1024, 1024, 512, 256], 10**6, 100, True, 64)
