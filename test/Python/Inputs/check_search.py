"""A search in Python is that of the tool; it can be watched, and ended."""

import json
import os
import subprocess
import sys
import threading

import stg

TMP = sys.argv[1]
os.makedirs(TMP, exist_ok=True)
FIXED = {"seq": 1024, "batch": 8, "set": {"L": 4}}
FLAGS = ["--machine=h100-80gb-dgx", "--seq=1024", "--batch=8", "--set=L=4", "--quiet", "--jobs=1",
         "--json"]


def run_tool(*flags):
    output = subprocess.run(["stg-search", "llama3-8b", *FLAGS, *flags], stdout=subprocess.PIPE,
                            check=True).stdout
    return json.loads(output)


def check_equal(result, report):
    own = result.to_dict()
    # The clock's.
    assert own.pop("seconds") > 0 and report.pop("seconds") > 0
    assert own == report, (own, report)
    for found, entries in ((result.best, report["best"]), (result.front, report["front"])):
        assert len(found) == len(entries) > 0
        for one, entry in zip(found, entries):
            assert (one.step_seconds, one.num_ranks, one.model_use, one.hardware_use,
                    one.token_rate, one.command) == (
                entry["step_seconds"], entry["ranks"], entry["mfu"], entry["hfu"],
                entry["tokens_per_second_and_device"], entry["command"])
            assert int(one.needed_bytes) == entry["memory_bytes"]
            assert one.strategy == stg.Strategy(**entry["strategy"])
            assert abs(sum(one.parts.values()) - one.step_seconds) < 1e-9 * one.step_seconds
    counts = report["strategies"]
    assert result.counts._asdict() == counts, (result.counts, counts)
    assert result.complete and not result.warnings
    assert (result.goal, list(result.compared)) == (report["goal"], report["front_of"])
    cost, least = {"time": ("step_seconds", "at_least_seconds"),
                   "throughput": ("device_seconds_per_token",
                                  "at_least_device_seconds_per_token")}[result.goal]
    assert [(value.field.replace("_", "-"), value.value, value.cost,
             value.at_least) for value in result.values] == [
        (axis["flag"], value["value"], value.get(cost), value.get(least))
        for axis in report["axes"] for value in axis["values"]]


# A space, with values of fields as Python has them.
states = []
result = stg.search("llama3-8b", "h100-80gb-dgx", stg.Strategy(pp=1, cp=1), ranks=4,
                    vary={"tp": [1, 2], "zero": (1, 3), "gradient_reduction": ["flat"],
                          "sequence_parallel": [True, False]},
                    micro_batch=1, recompute="none", threads=1, progress=states.append, **FIXED)
check_equal(result, run_tool("--ranks=4", "--vary=tp=1,2", "--vary=zero=1,3", "--pp=1", "--cp=1",
                             "--vary=gradient-reduction=flat",
                             "--vary=sequence-parallel=true,false", "--micro-batch=1",
                             "--recompute=none"))
assert all(isinstance(state, stg.SearchProgress) for state in states)
assert {state.step for state in states} == {"listing", "measuring tasks", "estimating"}, states
assert states[0].best_seconds is None
assert min(state.best_seconds for state in states if state.best_seconds) == \
    result.best[0].step_seconds
for state in states:
    assert state.total == 0 or state.done <= state.total
assert len(result.estimated) == result.counts.estimated - result.counts.too_large

# What was found is estimated as by itself.
for found in result.estimated[:: max(1, len(result.estimated) // 3)]:
    alone = stg.estimate("llama3-8b", "h100-80gb-dgx", found.strategy)
    assert (alone.step_seconds, alone.needed_bytes, alone.parts) == (
        found.step_seconds, found.needed_bytes, found.parts)

# Several numbers of devices, and batches.
many = stg.search("llama3-8b", "h100-80gb-dgx", ranks=[2, 4], vary={"batch": [8, 64]}, kv_len=4096,
                  threads=1, set={"L": 4})
report = json.loads(subprocess.run(
    ["stg-search", "llama3-8b", "--machine=h100-80gb-dgx", "--set=L=4", "--kv-len=4096", "--quiet",
     "--jobs=1", "--json", "--ranks=2,4", "--vary=batch=8,64"], stdout=subprocess.PIPE,
    check=True).stdout)
check_equal(many, report)
assert (many.goal, many.compared) == ("throughput", ("time", "throughput"))
assert many.best[0].token_rate == max(found.token_rate for found in many.estimated)
few = stg.search("llama3-8b", "h100-80gb-dgx", ranks=4, kv_len=4096, threads=1, goal="throughput",
                 front=["devices", "memory"], batch=8, set={"L": 4})
assert (few.goal, few.compared) == ("throughput", ("time", "memory", "devices"))
for wrong in ({"goal": "speed"}, {"front": ["time"]}):
    try:
        stg.search("llama3-8b", "h100-80gb-dgx", ranks=4, **wrong, **FIXED)
        assert False
    except ValueError as error:
        assert "expected '" in str(error), error

# A table has what differs.
table = result.table()
assert table.num_rows == len(result.estimated) and "tp" in table and "seq" not in table
assert table["tp"] == [found.strategy.tp for found in result.estimated]

# A list, and values that have commas.
strategies = [stg.Strategy(tp=8), stg.Strategy(dp=8), stg.Strategy(tp=5)]
with open(f"{TMP}/list.jsonl", "w", encoding="utf-8") as file:
    file.writelines(strategy.to_json() + "\n" for strategy in strategies)
result = stg.search("llama3-8b", "h100-80gb-dgx", among=iter(strategies), threads=1, **FIXED)
check_equal(result, run_tool(f"--among={TMP}/list.jsonl"))
assert sorted(found.number for found in result.estimated) == [0, 1]
for values, flag in (([[1, 3]], "1,3;1,3"), ([[1, 3], [2, 2]], "1,3;2,2")):
    result = stg.search("llama3-8b", "h100-80gb-dgx", ranks=2, pp=2, threads=1, micro_batch=1,
                        vary={"layers_per_stage": values}, recompute="none", schedule="1f1b",
                        zero=0, **FIXED)
    check_equal(result, run_tool("--ranks=2", "--pp=2", f"--vary=layers-per-stage={flag}",
                                 "--micro-batch=1", "--recompute=none", "--schedule=1f1b",
                                 "--zero=0"))

alone = stg.estimate("llama3-8b", "h100-80gb-dgx", result.best[0].strategy)
assert alone.step_seconds == result.best[0].step_seconds

# A name that is as long as any lives as long as the result.
result = stg.search("llama3-8b", "h100-80gb-dgx", threads=1, **FIXED, among=[
    stg.Strategy(pp=2, micro_batch=1, schedule="interleaved", virtual_stages=2)])
assert result.best[0].strategy.schedule == "interleaved"
alone = stg.estimate("llama3-8b", "h100-80gb-dgx", result.best[0].strategy)
assert alone.step_seconds == result.best[0].step_seconds

# What is needed is limited, and a machine has other numbers.
least = min(found.needed_bytes for found in result.estimated)
try:
    stg.search("llama3-8b", "h100-80gb-dgx", ranks=2, pp=2, recompute="none", zero=0,
               memory_limit=2**20, **FIXED)
    assert False
except stg.Error as error:
    assert "no strategy fits" in str(error), error
changed = stg.search("llama3-8b", "h100-80gb-dgx", among=strategies[:1], threads=1,
                     machine_set={"device.memory.bandwidth": "1 TB/s"}, **FIXED)
assert changed.best[0].step_seconds > 0
assert changed.to_dict()["best"] != result.to_dict()["best"]

# Progress ends a search, which has what was found; what it raises is raised.
result = stg.search("llama3-8b", "h100-80gb-dgx", among=strategies[:2], threads=1,
                    progress=lambda state: False, **FIXED)
assert not result.complete and len(result.estimated) == 1
assert result.best[0].strategy.tp == 8


class Enough(Exception):
    pass


def stop(state):
    raise Enough(state.step)


try:
    stg.search("llama3-8b", "h100-80gb-dgx", among=strategies, progress=stop, **FIXED)
    assert False
except Enough as enough:
    assert str(enough) == "estimating"

# A canceller ends it, from another thread or before it begins.
canceller = stg.Canceller()
seen = threading.Event()
release = threading.Event()


def wait(state):
    seen.set()
    release.wait()


def cancel():
    seen.wait()
    canceller.cancel()
    release.set()


thread = threading.Thread(target=cancel)
thread.start()
for _ in range(2):
    try:
        stg.search("llama3-8b", "h100-80gb-dgx", among=strategies[:2], threads=1,
                   canceller=canceller, progress=wait, **FIXED)
        assert False
    except stg.Interrupted:
        pass
thread.join()

# What is wrong.
for options, expected in (
        ({"ranks": 0}, "ranks=0: expected at least 1"),
        ({"ranks": []}, "ranks=N with N of at least 1 says how many devices there are; or give strategies with among=FILE"),
        ({"ranks": 8, "among": strategies}, "ranks with among"),
        ({"ranks": 8, "vary": {"speed": [1]}}, "there is no flag --speed"),
        ({"ranks": 8, "vary": {"zero": [7]}}, "zero=7: expected 0, 1, 2 or 3"),
        ({"ranks": 8, "vary": {"zero": []}}, "vary zero=: expected FLAG=VALUE"),
        ({"ranks": 8, "machine_set": {"device.nothing": 1}}, "device.nothing")):
    try:
        stg.search("llama3-8b", "h100-80gb-dgx", **options, **FIXED)
        assert False, options
    except stg.Error as error:
        assert expected in str(error), error
for options in ({"among": []}, {"ranks": 8, "top": 0}, {"ranks": 8, "within": 0.5},
                {"ranks": 8, "memory_limit": 0}):
    try:
        stg.search("llama3-8b", "h100-80gb-dgx", **options, **FIXED)
        assert False, options
    except ValueError:
        pass
try:
    stg.search("llama3-8b", "h100-80gb-dgx", ranks=8, speed=1)
    assert False
except TypeError:
    pass
