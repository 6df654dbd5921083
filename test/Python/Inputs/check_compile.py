"""Checks the package against stg-compile and stg-trace.

    check_compile.py FOLDER
"""

import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy

import stg

STRATEGIES = [
    ("llama3-8b", {"dp": 2, "tp": 4, "pp": 2, "batch": 16, "micro_batch": 1, "zero": 1}),
    ("mixtral-8x7b", {"dp": 4, "ep": 4, "batch": 8, "expert_histogram": [5, 3, 2, 2, 1, 1, 1, 1]}),
    ("megatron-22b", {"tp": 8, "sequence_parallel": True, "pp": 8, "virtual_stages": 2, "batch": 64,
                   "micro_batch": 1, "recompute": "selective"}),
    ("llama3.1-405b", {"cp": 4, "cp_comm_type": "p2p", "dp": 2, "batch": 8, "set": {"L": 2}}),
]


def run_tool(model, strategy, *flags):
    """What stg-compile prints."""
    path = Path(sys.argv[1]) / "strategy.json"
    path.write_text(json.dumps(strategy), encoding="utf-8")
    command = ["stg-compile", model, "--strategy", str(path), *flags]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def check_totals(model, strategy):
    """The manifest, and the objects that the structs are made into."""
    expected = json.loads(run_tool(model, strategy, "--dry-run", "--json"))
    run = stg.compile(model, stg.Strategy(**strategy))
    assert run.manifest == expected
    assert run.parameters == expected["parameters"]
    assert run.num_ranks == expected["ranks"]
    assert len(run.classes) == len(expected["classes"])
    for entry, other in zip(run.classes, expected["classes"]):
        assert entry.name == other["graph"]
        assert entry.operations == other["operations"]
        assert entry.memory_traffic == other["memory_traffic_bytes"]
        assert entry.peak_memory == other["memory"]["peak_bytes"]["total"]
        assert {row.phase: row.operations for row in entry.phases} == other["operations_by_phase"]
        for row, coll in zip(entry.collectives, other["collectives"]):
            assert row._asdict() == {**coll, "axes": "+".join(coll["axes"])}
        assert [row._asdict() for row in entry.messages] == other.get("messages", [])
        for which in ("persistent", "peak", "largest"):
            found = {row.category: getattr(row, which) for row in entry.memory if getattr(row, which)}
            total = other["memory"][f"{which}_bytes"]
            assert found == {name: total[name] for name in total if name != "total"}
    # What was compiled compiles to the same.
    assert stg.compile(model, run.strategy).manifest == expected
    table = run.collectives()
    assert len(table["bytes"]) == sum(len(entry.collectives) for entry in run.classes)
    assert sum(table["bytes"]) == sum(entry.collective_bytes for entry in run.classes)


def check_nodes():
    """Nodes in memory, from a bundle, and in files are the same."""
    folder = Path(sys.argv[1])
    strategy = {"dp": 2, "pp": 2, "batch": 8, "micro_batch": 1, "set": {"L": 4}}
    run = stg.compile("llama3-8b", traces=True, **strategy)
    written = stg.compile("llama3-8b", output=folder / "bundle", bundle=True, **strategy)
    assert written.manifest["fingerprint"] == run.manifest["fingerprint"]
    bundle = stg.Bundle(folder / "bundle" / "traces.stgb")
    assert bundle.num_ranks == run.bundle.num_ranks == 4
    assert bundle.axes == run.bundle.axes == {"dp": 2, "pp": 2}
    assert bundle.groups == run.bundle.groups and bundle.groups[0] == [0, 1]
    for rank in range(4):
        nodes = list(run.bundle.nodes(rank))
        assert nodes == list(bundle.nodes(rank))
        assert len(nodes) == bundle.num_nodes(rank) == run.classes[rank // 2].num_nodes
        columns = bundle.columns(rank)
        assert columns["name"] == [node.name for node in nodes]
        assert columns["num_ops"].dtype == numpy.int64
        assert columns["num_ops"].sum() == sum(node.num_ops or 0 for node in nodes)
        assert columns["payload_bytes"].tolist() == [node.payload_bytes or 0 for node in nodes]
        assert columns["type"].tolist() == [node.type for node in nodes]
        assert all(dep < node.id for node in nodes for dep in node.data_deps + node.ctrl_deps)
    # A bundle outlives the compilation that it is of.
    kept = run.bundle
    del run
    assert kept.num_nodes(3) == bundle.num_nodes(3)
    try:
        bundle.num_nodes(4)
        raise AssertionError("there is no rank 4")
    except IndexError as error:
        assert str(error) == "rank 4 of 4"


def expect_error(call, *messages):
    try:
        call()
    except stg.Error as error:
        assert [str(message) for message in error.messages] == list(messages), str(error)
        return
    raise AssertionError(f"no error; expected {messages}")


def check_errors():
    expect_error(lambda: stg.compile("llama3-8b", dp="two"),
                 'error: strategy: "dp": "two": expected an integer of at least 1')
    expect_error(lambda: stg.compile("nothing.mlir"),
                 "error: cannot open 'nothing.mlir': no such file")
    text = "stg.symbol @B\nfunc.func @f(%x: !stg.tensor<[C], bf16>) { return }\n"
    expect_error(lambda: stg.run_passes("stg.symbol @B\nstg.symbol\n", name="broken.mlir"),
                 "broken.mlir:3:1: error: custom op 'stg.symbol' expected valid '@'-identifier for symbol name")
    assert "func.func @f" in stg.run_passes(text)
    try:
        stg.compile("llama3-8b", warp=9)
        raise AssertionError("there is no field warp")
    except TypeError as error:
        assert "warp" in str(error)


def check_threads():
    """Compilations run beside each other and agree."""
    found = []

    def work():
        found.append(stg.compile("llama3-8b", tp=2, batch=4).manifest)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6 and all(manifest == found[0] for manifest in found)


def main():
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    for model, strategy in STRATEGIES:
        check_totals(model, strategy)
    check_nodes()
    check_errors()
    check_threads()


if __name__ == "__main__":
    main()
