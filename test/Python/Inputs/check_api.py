"""Checks what the package has beside totals: tables, expressions, sweeps, interruption, traces,
modules and timelines.

    check_api.py FOLDER
"""

import itertools
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

import stg
import stg.plot
from stg.expressions import _evaluate

BIG = "llama3.1-405b"
BIG_STRATEGY = stg.Strategy(tp=8, pp=18, dp=2, batch=4608, micro_batch=1)


def expect(exception, call, text):
    try:
        call()
    except exception as error:
        assert type(error) is exception and text in str(error), repr(error)
        return
    raise AssertionError(f"no {exception.__name__}; expected {text}")


def check_types(folder):
    """What is of another type is said with the argument and what it should be."""
    bundle = stg.compile("gpt2-1.5b", batch=1, set={"L": 1}, traces=True).bundle
    module = stg.Module("module {}")
    given = {"batch": 1, "set": {"L": 1}}
    h100 = "h100-80gb-dgx"
    for call, text in (
            (lambda: stg.compile("gpt2-1.5b", {"tp": 2}),
             "strategy={'tp': 2}: expected a Strategy; fields are also given by name, as in tp=2"),
            (lambda: stg.search("gpt2-1.5b", h100, among=[{"tp": 2}]),
             "among={'tp': 2}: expected a Strategy each"),
            (lambda: list(stg.sweep("gpt2-1.5b", ["tp=2"])), "strategy='tp=2': expected a Strategy"),
            (lambda: next(stg.sweep("gpt2-1.5b", [], canceller="x")),
             "canceller='x': expected a Canceller"),
            (lambda: stg.compile("gpt2-1.5b", canceller="x", **given),
             "canceller='x': expected a Canceller"),
            (lambda: stg.compile("gpt2-1.5b", progress="x", **given),
             "progress='x': expected a function"),
            (lambda: stg.search("gpt2-1.5b", h100, ranks=1, progress="x"),
             "progress='x': expected a function"),
            (lambda: stg.search("gpt2-1.5b", h100, ranks=1, vary=["zero"]),
             "vary=['zero']: expected a dictionary of lists, such as {'zero': [1, 3]}"),
            (lambda: stg.estimate("gpt2-1.5b", h100, machine_set="x", **given),
             "machine_set='x': expected a dictionary"),
            (lambda: stg.compile("gpt2-1.5b", batch=1, set={"L": None.__class__}),
             "<class 'NoneType'>: expected a number, a text, a list or a dictionary"),
            (lambda: bundle.nodes("0"), "rank='0': expected an integer"),
            (lambda: bundle.columns(0.0), "rank=0.0: expected an integer"),
            (lambda: bundle.num_nodes(None), "rank=None: expected an integer"),
            (lambda: stg.Module(None), "text=None: expected the text of a module"),
            (lambda: module.run(5), "pipeline=5: expected a text, such as 'stg-name-ops,stg-autodiff'"),
            (lambda: stg.run_passes(5), "module=5: expected a Module, or the text of one"),
            (lambda: stg.import_linalg("x.mlir", loss="x"), "loss='x': expected True or False"),
            (lambda: stg.import_config("x.json", text=5), "text=5: expected the text of a")):
        expect(TypeError, call, text)
    expect(IndexError, lambda: bundle.nodes(2**70), f"rank {2**70} of 1")
    expect(IndexError, lambda: bundle.nodes(-1), "rank -1 of 1")
    assert len(list(bundle.nodes(np.int32(0)))) == bundle.num_nodes(0)
    for limit in (float("inf"), float("nan"), -1):
        expect(ValueError, lambda: stg.search("gpt2-1.5b", h100, ranks=1, memory_limit=limit),
               f"memory_limit={limit}: expected a number of bytes above 0")


def check_plots():
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("agg")
    bundle = stg.compile("gpt2-1.5b", batch=1, set={"L": 1}, traces=True).bundle
    assert stg.plot.schedule(stg.execute(bundle)).get_legend()
    assert not stg.plot.schedule(stg.execute(bundle, [])).get_legend()
    points = [(1, 2), (2, 1)]
    assert stg.plot.pareto(points, ["a", "b"]) and stg.plot.pareto(points)
    expect(ValueError, lambda: stg.plot.pareto(points, ["a"]), "1 labels of 2 points: expected one for each")


def check_tables():
    table = stg.Table.from_rows([("a", 1, 2**63), ("b", -1, 2)], ("name", "small", "large"))
    assert table == {"name": ["a", "b"], "small": [1, -1], "large": [2**63, 2]}
    records = np.asarray(table)
    assert [str(records.dtype[name]) for name in records.dtype.names] == ["object", "int64", "object"]
    assert records.tolist() == list(table.rows()) == [("a", 1, 2**63), ("b", -1, 2)]
    columns = {"float": [0.5, 2], "gap": [0.5, None], "bool": [True, False], "mixed": [True, 1],
               "turn": [1, None], "large": [0.5, 2**53 + 1], "none": [None, None]}
    records = stg.Table(columns).to_numpy()
    assert [str(records.dtype[name]) for name in columns] == [
        "float64", "float64", "bool", "object", "object", "object", "object"]
    assert records["float"].tolist() == [0.5, 2] and np.isnan(records["gap"]).tolist() == [False, True]
    assert stg.Table({}).num_rows == 0 and stg.Table({"x": []}).to_numpy().shape == (0,)
    expect(ValueError, lambda: stg.Table({"x": [1], "y": []}), "different lengths: {'x': 1, 'y': 0}")
    run = stg.compile("gpt2-1.5b", dp=2, batch=2)
    assert run.collectives().to_numpy()["bytes"].sum() == run.classes[0].collective_bytes
    try:
        import pandas
    except ImportError:
        return
    frame = run.memory().to_pandas()
    assert frame.equals(pandas.DataFrame(run.memory()))
    assert frame["peak"].sum() == run.peak_memory and str(frame["peak"].dtype) == "int64"
    frame = stg.Table(columns).to_pandas()
    assert frame.nsmallest(1, "float").index.tolist() == [0] and frame[~frame["bool"]].index.tolist() == [1]


def check_expressions():
    e = stg.Expression("(7*a*b - 3)*c/(2*d) + ceildiv(a, 3)*min(b, c) - max(a, b, 5)/6")
    assert e.symbols == ("a", "b", "c", "d") and stg.Expression(str(e)) == e
    minus = stg.Expression("S") - stg.Expression("B")
    assert str(minus) == "-B + S" and minus.symbols == ("B", "S") and minus(S=5, B=3) == 2
    assert minus.substitute(B=3) == stg.Expression("S - 3") and stg.Expression("max(-KT + S, 0)").symbols == ("KT", "S")
    assert stg.Expression("a + b") == stg.Expression("b + a") and hash(e) == hash(stg.Expression(str(e)))
    assert e + 1 - e == 1 and 2 * e / 2 == e and (1 - e) + e == 1
    assert e.substitute(a="b", b="a").substitute(a="b", b="a") == e

    def by_hand(a, b, c, d):
        return (Fraction((7 * a * b - 3) * c, 2 * d) + -(-a // 3) * min(b, c)
                - Fraction(max(a, b, 5), 6))

    random.seed(1)
    for bits in (4, 12, 50):
        points = [[random.randrange(1, 2**bits) for _ in "abcd"] for _ in range(200)]
        arrays = {name: np.array(column) for name, column in zip("abcd", zip(*points))}
        value = _evaluate(e._tree, {name: array.astype(object) for name, array in arrays.items()})
        assert [Fraction(n, d) for n, d in zip(value.num, np.broadcast_to(value.den, 200))] == [
            by_hand(*point) for point in points]
        # What is an integer comes as one, in 64 bits where everything fits.
        whole = stg.Expression("7*a*b*c - 3*ceildiv(c, d) + min(a, b)*max(c, d)")
        got = whole(arrays)
        assert got.dtype == (object if bits == 50 else np.int64), (bits, got.dtype)
        assert got.tolist() == [7 * a * b * c - 3 * -(-c // d) + min(a, b) * max(c, d)
                                for a, b, c, d in points]
    # What 16 tokens hit of 256 buckets, 8 of which each takes.
    hits = stg.Expression("hits(a, 256, 8, b)")
    assert hits(a=10**9, b=16) == round(10**9 * (1 - Fraction(31, 32)**16))
    assert hits(a=[2, 10**9, -2], b=[0, 2000, 1]).tolist() == [0, 10**9, 0]
    assert stg.Expression("hits(a, 4, 1, b)")(a=[2, -2], b=1).tolist() == [1, -1]
    expect(ZeroDivisionError, lambda: stg.Expression("hits(a, b, 1, 1)")(a=1, b=0), "no buckets")
    # Integers, equal or not, are as those of Python; other operands are none.
    three = stg.Expression("3")
    assert len({3, three, np.int64(3), stg.Expression("6/2")}) == 1 and {3: 1}[three] == 1
    assert stg.Expression("-2") == -2 and stg.Expression("B - 2") != -2 and three != 10**5000
    assert hash(stg.Expression("-2")) == hash(-2) and stg.Expression("True") != True
    b = stg.Expression("B")
    assert np.int64(2) + b - np.int32(2) == b and str(b * 2**70) == f"{2**70}*B"
    for other in (None, "S", "S)*(2", 1.5, True, Fraction(1, 2)):
        expect(TypeError, lambda: b + other, "unsupported operand type(s) for +: 'Expression'")
        expect(TypeError, lambda: other - b, "unsupported operand type(s) for -")
        expect(TypeError, lambda: b / other, "unsupported operand type(s) for /")
    # Names of functions are no symbols.
    least = stg.Expression("min(B, S, min)")
    assert least.symbols == ("B", "S", "min") and least.substitute(min=3) == stg.Expression("min(B, S, 3)")
    assert str((b * 2).substitute(B="S + 1")) == "2*S + 2" and (b * 2).substitute(B=np.int64(4)) == 8
    expect(stg.Error, lambda: b.substitute(B="S)*(2"), "at column 2")
    for value in (None, 1.5, True):
        expect(TypeError, lambda: b.substitute(B=value),
               f"B={value}: expected an expression, its text or an integer")
    expect(TypeError, lambda: stg.Expression(5), "made of a text, such as '2*B*S', not of 5")
    # As many terms as there may be, and factors and levels.
    terms = {f"x{i}": i for i in range(4096)}
    many = stg.Expression(" + ".join(terms))
    assert many(terms) == sum(range(4096)) and len(many.symbols) == 4096
    assert many({**terms, "x1": np.arange(2)}).tolist() == [sum(range(4096)) - 1, sum(range(4096))]
    assert stg.Expression("*".join(list(terms)[:2000]))(dict.fromkeys(terms, 1)) == 1
    deep = "x"
    for _ in range(90):
        deep = f"ceildiv(3*{deep} - 1, 2)"
    assert stg.Expression(deep)(x=1) == 1
    product = stg.Expression("x*y")
    assert product(x=np.arange(3), y=np.array([[1], [10]])).tolist() == [[0, 1, 2], [0, 10, 20]]
    assert product(x=2**40, y=2**40) == 2**80 and product(x=[2**40], y=2**40).tolist() == [2**80]
    assert stg.Expression("5")(z=np.arange(3)) == 5
    expect(KeyError, lambda: product(x=1), "the symbol y has no value; x*y has the symbols x, y")
    expect(ValueError, lambda: product(x=1.5, y=1), "the values of x are not integers, but float64")
    expect(ValueError, lambda: (product / 2)(x=[1, 2], y=1), "the result is not an integer")
    # The smallest numbers of types, which have no absolute value in them, and what no type holds.
    for least in (np.array([-128], np.int8), np.array([-2**31], np.int32), np.array([-2**63])):
        assert product(x=least, y=10**18).tolist() == [int(least[0]) * 10**18], least
    assert product(x=[-1, 2**63], y=2).tolist() == [-2, 2**64] and product(x=[], y=1).tolist() == []
    for value in (1.5, None, True):
        expect(ValueError, lambda: product(x=np.array([value], dtype=object), y=2),
               "the values of x are not integers, but object")
    expect(ZeroDivisionError, lambda: stg.Expression("1/x")(x=0), "division by zero")
    expect(stg.Error, lambda: stg.Expression("1/(x + y)"), "is not divisible by 'x + y'")
    expect(stg.Error, lambda: stg.Expression("x +"), "error:")


COSTS = [
    ("llama3-8b", {"dp": 2, "tp": 4, "batch": 8}),
    ("gpt2-1.5b", {"dp": 4, "batch": 8, "zero": 3, "recompute": "full"}),
    ("mixtral-8x7b", {"dp": 4, "ep": 2, "tp": 2, "sequence_parallel": True, "batch": 8, "zero": 1}),
    ("llama3-8b", {"cp": 4, "dp": 2, "batch": 8, "cp_comm_type": "p2p"}),
]


def check_costs():
    """Expressions are the totals at the values of the model, and at others."""
    for model, fields in COSTS:
        costs = stg.costs(model, **fields)
        others = {"L": 3, "B": 2 * fields["batch"]}
        for given, run in [({}, stg.compile(model, **fields)),
                           (others, stg.compile(model, **{**fields, "batch": others["B"]}, set={"L": 3}))]:
            values = costs.symbols | given
            assert len(run.classes) == 1
            ranks = run.classes[0]
            assert costs.operations(values) == ranks.operations
            assert costs.product_operations(values) == sum(p.product_operations for p in ranks.phases)
            assert costs.memory_traffic(values) == ranks.memory_traffic
            found = {}
            for row in costs.rows:
                if row.quantity == "collective":
                    found[row.kind, row.axes, row.phase] = row.expression(values)
            assert found == {(c.kind, c.axes, c.phase): c.bytes for c in ranks.collectives}
            assert {name: states(values) for name, states in costs.states.items()} == {
                row.category: row.persistent for row in ranks.memory if row.persistent}
    expect(stg.Error, lambda: stg.costs("gpt2-1.5b", pp=2, batch=2),
           "costs with symbols need one pipeline stage and one micro-batch, found 2 and 1")
    # Where ranks differ, the coordinate of one is a symbol: that of the first is 0.
    ring = dict(cp=4, cp_balance="none", dp=1, batch=2)
    costs = stg.costs("llama3-8b", **ring)
    assert costs.symbols["cp_index"] == 0
    found = sorted(costs.operations(costs.symbols | {"cp_index": rank}) for rank in range(4))
    assert found == sorted(ranks.operations for ranks in stg.compile("llama3-8b", **ring).classes)
    assert len(set(found)) == 4
    # A step of inference is one, several are not.
    decode = dict(tp=2, batch=8, kv_len=100)
    assert stg.costs("llama3-8b", **decode).rows == stg.costs("llama3-8b", steps=1, **decode).rows
    for fields in [
            dict(decode, steps=3), dict(decode, draft="gpt2-1.5b"),
            dict(mode="prefill", batch=2, seq=256, chunk=64),
            dict(requests="4*(1,64),(128,0)", token_budget=64)]:
        expect(stg.Error, lambda: stg.costs("llama3-8b", **fields),
               ": costs with symbols are those of one step of one model")


def check_sweep():
    strategies = [stg.Strategy(dp=dp, zero=zero) for dp in (1, 2, 3, 4) for zero in (0, 1)]
    seen = []
    results = list(stg.sweep("gpt2-1.5b", strategies, threads=3, batch=4, set={"L": 2},
                             progress=lambda *counts: seen.append(counts)))
    assert [result.strategy for result in results] == strategies
    assert seen == [(i + 1, 8) for i in range(8)]
    for strategy, run, error in results:
        wrong = strategy.dp == 3 or (strategy.dp == 1 and strategy.zero)
        assert (run is None) == (error is not None) == bool(wrong), strategy
        if run:
            assert run.manifest == stg.compile("gpt2-1.5b", strategy, batch=4, set={"L": 2}).manifest

    def endless():
        while True:
            yield strategies[0]

    # A canceller stops all of it, also what has not begun.
    canceller = stg.Canceller()
    results = stg.sweep("gpt2-1.5b", endless(), threads=2, canceller=canceller, batch=4, set={"L": 2})
    assert next(results).compilation
    canceller.cancel()
    expect(stg.Interrupted, lambda: list(results), "error: interrupted")
    assert list(stg.sweep("gpt2-1.5b", [], canceller=canceller)) == []
    expect(stg.Interrupted, lambda: next(stg.sweep("gpt2-1.5b", [stg.Strategy(tp=3)], canceller=canceller)),
           "interrupted")

    begin = set(threading.enumerate())
    for count, _ in enumerate(stg.sweep("gpt2-1.5b", endless(), batch=4, set={"L": 2})):
        if count == 3:
            break
    for thread in set(threading.enumerate()) - begin:
        thread.join()


def check_interruption():
    steps = []
    stg.compile("gpt2-1.5b", batch=4, progress=steps.append)
    assert steps and all(step and isinstance(step, str) for step in steps)

    def fail(step):
        raise RuntimeError(step)

    try:
        stg.compile("gpt2-1.5b", batch=4, progress=fail)
        raise AssertionError("what progress raises ends the call")
    except RuntimeError as error:
        assert str(error) == steps[0]

    # Another thread cancels while progress is told of the first step.
    canceller = stg.Canceller()

    def cancel_elsewhere(step):
        thread = threading.Thread(target=canceller.cancel)
        thread.start()
        thread.join()

    expect(stg.Interrupted,
           lambda: stg.compile("gpt2-1.5b", batch=4, canceller=canceller, progress=cancel_elsewhere),
           "error: interrupted")
    assert canceller.is_cancelled
    expect(stg.Interrupted, lambda: stg.costs("gpt2-1.5b", canceller=canceller, batch=1),
           "error: interrupted")

    # Ctrl-C in compilations and in a sweep, which go on until it comes, and in a search of minutes,
    # whose threads are more than the one that handles it. A shell may have told us to ignore it.
    def compile_again_and_again():
        while True:
            stg.compile(BIG, BIG_STRATEGY)

    signal.signal(signal.SIGINT, signal.default_int_handler)
    for seconds, call in (
            (0.1, compile_again_and_again),
            (0.1, lambda: list(stg.sweep(BIG, itertools.repeat(BIG_STRATEGY), threads=2))),
            (2, lambda: stg.search("llama3-70b", "h100-80gb-dgx", ranks=64, batch=256, threads=8))):
        try:
            threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            call()
        except KeyboardInterrupt:
            continue
        raise AssertionError("it has ended by itself")
    stg.compile("gpt2-1.5b", batch=4)


def check_traces(folder):
    fields = {"dp": 2, "pp": 2, "batch": 4, "set": {"L": 2}}
    stg.compile("gpt2-1.5b", output=folder / "files", prefix="x", **fields)
    bundle = stg.compile("gpt2-1.5b", traces=True, **fields).bundle
    for rank in range(bundle.num_ranks):
        trace = stg.read_trace(folder / "files" / f"x.{rank}.et")
        assert trace.version.startswith("stg-") and "persistent_tensors" in trace.attributes
        read, made = list(trace), list(bundle.nodes(rank))
        assert [node.id for node in read] == list(range(len(made)))
        for node, other in zip(read, made):
            assert node.type == other.type and node.name.startswith(other.name)
            assert (node.data_deps, node.ctrl_deps) == (other.data_deps, other.ctrl_deps)
            assert node.attributes.get("num_ops") == other.num_ops
            assert node.attributes.get("comm_size") == other.comm_size
            names = node.attributes["inputs"][::2]
            assert names == [name for name, _ in other.inputs]
        assert list(trace) == []
    whole = stg.validate(folder / "files")
    assert whole == stg.validate(bundle) == (4, sum(map(bundle.num_nodes, range(4))), 0, ())
    assert whole.is_valid
    (folder / "files" / "x.3.et").unlink()
    broken = stg.validate(folder / "files", max_shown=1)
    assert not broken.is_valid and broken.num_violations >= len(broken.violations) > 0
    assert broken.violations[0].rule == "1.8" and str(broken.violations[0]).count("rule 1.8: ") == 1
    data = (folder / "files" / "x.0.et").read_bytes()
    (folder / "cut.et").write_bytes(data[: len(data) // 2])
    expect(stg.Error, lambda: list(stg.read_trace(folder / "cut.et")), "cut.et")
    expect(stg.Error, lambda: stg.read_trace(folder / "nothing.et"), "nothing.et")
    expect(stg.Error, lambda: stg.validate(bundle, comm_groups="nope"),
           "a bundle has its own groups, remove the file of groups 'nope'")
    expect(ValueError, lambda: stg.validate(bundle, splits=0), "splits must be greater than 0, not 0")


def check_modules():
    text = "stg.symbol @B\nfunc.func @f(%x: !stg.tensor<[B], bf16>) -> !stg.tensor<[B], bf16> {\n" \
           "  %y = stg.add %x, %x : !stg.tensor<[B], bf16>, !stg.tensor<[B], bf16>\n" \
           "  return %y : !stg.tensor<[B], bf16>\n}\n"
    module = stg.Module(text)
    named = module.run("stg-name-ops")
    assert named != module and named.run("stg-name-ops") == named and len({module, named}) == 2
    assert str(named) == named.text == stg.run_passes(text, "stg-name-ops")
    assert stg.run_passes(module, "stg-name-ops") == named
    expect(stg.Error, lambda: stg.Module("stg.symbol @B\nstg.symbol", name="mine"), "mine:2:1")
    expect(stg.Error, lambda: module.run("nonsense"), "'nonsense' does not refer to a registered pass")
    expect(ValueError, lambda: stg.compile(module, text="x"), "a module or a text, not both")


def check_arguments(folder):
    """What Python has, and C or JSON do not: as it is meant, or an error that names it."""
    plain = stg.compile("gpt2-1.5b", dp=2, batch=4, set={"L": 2}).manifest
    assert stg.compile("gpt2-1.5b", dp=np.int64(2), batch=np.int32(4),
                       set={"L": np.array(2)}).manifest == plain
    schedule = Path(folder) / "schedule.json"
    schedule.write_text(run_tool("stg-compile", "gpt2-1.5b", "--pp", "2", "--batch", "2",
                                 "--micro-batch", "1", "--schedule", "gpipe", "--print-schedule"))
    run = stg.compile("gpt2-1.5b", pp=2, batch=2, micro_batch=1, schedule=schedule)
    assert run.manifest["strategy"]["schedule"] == json.loads(schedule.read_text())
    expect(ValueError, lambda: stg.compile("gpt2-1.5b", batch=4, threads=-1),
           "threads=-1: it has no such value")
    for name, value, expected in (
            ("text", 5, "a text"), ("config", 5, "a text"), ("prefix", 5, "a text"),
            ("threads", "a", "an integer"), ("resume", "no", "True or False"),
            ("ranks", (1,), "two integers, such as (0, 8)"), ("ranks", 5, "two integers"),
            ("output", 5, "a text or a path"), ("models", None, "a list of folders"),
            ("tp", object, "a number, a text, a list or a dictionary of them")):
        expect(TypeError, lambda: stg.compile("gpt2-1.5b", batch=4, **{name: value}),
               f"{name}={value!r}: ")
        expect(TypeError, lambda: stg.compile("gpt2-1.5b", batch=4, **{name: value}),
               f": expected {expected}")
    expect(ValueError, lambda: stg.compile("gpt2-1.5b", batch=4, ranks=(0, 2**70)),
           f"ranks=(0, {2**70}): it has no such value")
    for call, text in (
            (lambda: stg.compile(None), "model=None: expected a text or a path"),
            (lambda: stg.estimate("gpt2-1.5b", 5), "machine=5: expected a text or a path"),
            (lambda: stg.Bundle(5), "path=5: expected a text or a path"),
            (lambda: stg.validate(5), "trace=5: expected a text or a path"),
            (lambda: stg.validate("x", splits="4"), "splits='4': expected a number"),
            (lambda: stg.execute("x"), "bundle='x': expected a Bundle"),
            (lambda: stg.import_config(None), "config=None: expected a text or a path"),
            (lambda: stg.import_linalg("x", parameters=5), "parameters=5: expected a list of numbers"),
            (lambda: next(stg.sweep("gpt2-1.5b", [], threads=0.5)), "threads=0.5: expected an integer"),
            (lambda: next(stg.sweep("gpt2-1.5b", [], progress="x")), "progress='x': expected a function"),
            (lambda: stg.search("gpt2-1.5b", "x", ranks=0.5), "ranks=0.5: expected an integer or a list"),
            (lambda: stg.search("gpt2-1.5b", "x", top=None), "top=None: expected an integer"),
            (lambda: stg.search("gpt2-1.5b", "x", within="2"), "within='2': expected a number"),
            (lambda: stg.search("gpt2-1.5b", "x", front=5), "front=5: expected a list of texts"),
            (lambda: stg.search("gpt2-1.5b", "x", vary={"recompute": "full"}),
             "vary='full': expected a list of values of recompute")):
        expect(TypeError, call, text)
    expect(ValueError, lambda: next(stg.sweep("gpt2-1.5b", [], threads=-1)),
           "threads=-1: expected at least 0")
    # Neither C's texts nor JSON have these.
    expect(ValueError, lambda: stg.compile("gpt2-1.5b", batch=float("nan")), "batch=nan: ")
    for call in (lambda: stg.run_passes("\udc80"), lambda: stg.Expression("\udc80"),
                 lambda: stg.compile("gpt2-1.5b", text="\udc80")):
        expect(ValueError, call, "half of a character")
    # Names of files need not be texts.
    path = os.fsdecode(os.fsencode(folder) + b"/\xff.mlir")
    Path(path).write_text("module {}")
    assert stg.Module.from_file(path).name.endswith("/\ufffd.mlir")
    expect(stg.Error, lambda: stg.compile(path), "\ufffd.mlir")
    # What can be read once is kept.
    once = stg.Strategy(documents=(tokens for tokens in (3, 5)))
    assert once.to_json() == once.to_json() == '{"documents": [3, 5]}'
    assert stg.Strategy(documents=np.array([3, 5])) == once == stg.Strategy(documents=[3, 5])
    expect(ValueError, lambda: stg.compile("gpt2-1.5b", batch=4, ranks=(0, 0), output=folder),
           "ranks 0 to 0: expected 0 <= first < end")
    expect(ValueError, lambda: stg.execute(stg.compile("gpt2-1.5b", batch=1, traces=True).bundle,
                                           peak_tflops=-1), "greater than 0, not -1")
    expect(ValueError, lambda: stg.Strategy.from_json('{"strategy": {}, "decode_strategy": {}}'),
           "a plan of prefill and one of decoding")
    for text in ("[]", "5", "null", '{"strategy": 5}'):
        expect(ValueError, lambda: stg.Strategy.from_json(text),
               "expected a JSON object with fields of a strategy, found ")
    expect(TypeError, lambda: stg.Strategy.from_json('{"warp": 9}'), "'warp'")
    # What a strategy is shown as makes it again.
    shown = stg.Strategy(tp=2, schedule="zb-h1", offload=["optimizer"])
    assert repr(shown) == "Strategy(offload=['optimizer'], schedule='zb-h1', tp=2)", repr(shown)
    assert eval(repr(shown), {"Strategy": stg.Strategy}) == shown
    assert repr(stg.Strategy()) == "Strategy()"
    small = stg.compile("gpt2-1.5b", batch=1)
    assert repr(small) == (f"Compilation(parameters={small.parameters}, num_ranks=1, "
                           f"peak_memory={small.peak_memory})")
    # A text is no name, and with a text the name may be anything.
    expect(ValueError, lambda: stg.compile("module {\n}"),
           "expected a name or a file, found several lines; the text of a model is given with text=")
    expect(stg.Error, lambda: stg.compile("two\nlines", text="module {}"), "expects a public function")
    lists = stg.Strategy(tp=2, set={"L": 2, "x": [1, {"y": 2}]}, offload=["optimizer"])
    seen = {lists: 1, stg.Strategy(tp=2): 2, stg.Strategy(table_ranks=np.array([1])): 3}
    assert seen[stg.Strategy.from_json(lists.to_json())] == 1 and seen[stg.Strategy(tp=np.int64(2))] == 2
    expect(ValueError, lambda: next(stg.sweep("gpt2-1.5b", [stg.Strategy(batch=1)], output=folder)),
           "would write to the folder")
    for call in (lambda models: stg.compile("gpt2-1.5b", batch=1, models=models),
                 lambda models: stg.list_models(models),
                 lambda models: stg.import_config("x.json", text="{}", models=models)):
        expect(TypeError, lambda: call("/tmp"), "a list of folders, not the folder '/tmp'")
        expect(stg.Error, lambda: call(["no-such-folder"]),
               "error: 'no-such-folder', to be searched for models, is not a folder")
    # C's texts end at a null character.
    for call in (lambda: stg.compile("gpt2-1.5b\0x", batch=4),
                 lambda: stg.compile("gpt2-1.5b", batch=4, output="out\0x"),
                 lambda: stg.estimate("gpt2-1.5b", "h100-80gb-dgx\0x", batch=4),
                 lambda: stg.run_passes("module {}\0x"), lambda: stg.Expression("B\0x"),
                 lambda: stg.Bundle("x\0y"), lambda: stg.validate("x\0y"),
                 lambda: stg.list_models(["x\0y"])):
        expect(ValueError, call, "embedded null character")


def check_keywords():
    """What is said of flags is said of arguments, but for those of tools."""
    for said, text in (
            ("give it with --batch or --set B=VALUE", "give it with batch or set={'B': VALUE}"),
            ("--kv-len is for --mode prefill, or --mode=decode",
             "kv_len is for mode='prefill', or mode='decode'"),
            ("--mode is not --modes, nor x--mode", "mode is not --modes, nor x--mode"),
            ("one for each of --pp times --virtual-stages", "one for each of pp times virtual_stages"),
            ("--micro-batch 3: it does not divide", "micro_batch=3: it does not divide"),
            ("--program decode: there is none", "program='decode': there is none"),
            ("--machine-set device.x=y: is none", "machine_set={'device.x': 'y'}: is none"),
            ("needs --zero 3, and --steps 1.", "needs zero=3, and steps=1."),
            ("what --list-models prints", "what stg.list_models() prints"),
            ("stg-compile --bundle or stg-opt --set B=1", "stg-compile --bundle or stg-opt --set B=1"),
            ("run --stg-bind first", "run --stg-bind first")):
        error = stg.Error([("error", said, "", 0, 0)])
        assert error.messages[0].text == text, error
        assert pickle.loads(pickle.dumps(error)).messages == error.messages
    expect(stg.Error, lambda: stg.compile("gpt2-1.5b", pp=7, batch=8),
           "or give the layers of each with layers_per_stage")
    expect(stg.Error, lambda: stg.compile("gpt2-1.5b"), "give it with batch or set={'B': VALUE}")


def check_timelines():
    named = stg.Module("""
      func.func @"a/b"(%x: !stg.tensor<[8], f32> {stg.name = "x"}) -> !stg.tensor<[8], f32> {
        %w = stg.param "w" : !stg.tensor<[8], f32>
        %y = stg.add %x, %w : !stg.tensor<[8], f32>, !stg.tensor<[8], f32>
        return %y : !stg.tensor<[8], f32>
      }""")
    run = stg.compile(named, timeline=True)
    assert run.classes[0].name == "a/b" and run.memory_timeline("a/b") == run.memory_timeline()
    names = [name for name in run.memory_timeline() if name not in ("node", "path")]
    assert max(map(sum, zip(*(run.memory_timeline()[name] for name in names)))) == run.peak_memory
    run = stg.compile("gpt2-1.5b", pp=2, batch=8, micro_batch=2, set={"L": 4}, timeline=True, traces=True)
    for ranks in run.classes:
        table = run.memory_timeline(ranks.name)
        totals = sum(np.array(table[row.category]) for row in ranks.memory)
        assert totals.max() == ranks.peak_memory
        assert table["path"][int(totals.argmax())] == ranks.peak_node
    most = max(run.classes, key=lambda ranks: ranks.peak_memory)
    assert run.memory_timeline() == run.memory_timeline(most.name)
    expect(ValueError, lambda: stg.compile("gpt2-1.5b", batch=1).memory_timeline(), "timeline=True")

    alone = stg.execute(run.bundle, [1])
    both = stg.execute(run.bundle)
    busy = sum(max(node.num_ops / 900e12, node.tensor_size / 3350e9)
               for node in run.bundle.nodes(1) if node.type == stg.COMPUTE)
    assert abs(alone.busy(1) - busy) < 1e-9 and abs(both.busy(1) - busy) < 1e-9
    # Without its peer the last stage never waits; with it, it waits for the first activations.
    assert abs(alone.seconds - busy) < 1e-9 and alone.seconds < both.seconds
    assert both.seconds < both.busy(0) + both.busy(1)
    turns = {span.turn for span in both.spans if span.rank == 0 and span.phase == "fwd"}
    assert turns == {0, 1, 2, 3}
    assert stg.plot.get_front([(1, 5), (2, 2), (2, 3), (3, 1), (4, 1), (2, 2)]) == [0, 1, 3]


def run_tool(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def check_estimates(folder):
    fields = dict(tp=4, pp=2, batch=8, micro_batch=1)
    flags = ["--tp=4", "--pp=2", "--batch=8", "--micro-batch=1"]
    one = stg.estimate("llama3-8b", "h100-80gb-dgx", **fields)
    tool = json.loads(run_tool("stg-estimate", "llama3-8b", "--machine=h100-80gb-dgx", "--json", *flags))
    assert one.to_dict() == tool and one.step_seconds == tool["step_seconds"]
    assert one.model_use == tool["mfu"] and one.num_ranks == tool["ranks"] == 8
    assert abs(sum(one.parts.values()) - one.step_seconds) < 1e-9 and one.fits
    assert max(entry.end_seconds for entry in one.classes) <= one.step_seconds
    assert one.interval_seconds is None
    decode = stg.estimate("llama3-8b", "h100-80gb-dgx", mode="decode", kv_len=64, **fields)
    assert decode.interval_seconds == decode.to_dict()["step_interval_seconds"] < decode.step_seconds
    assert abs(decode.token_rate * decode.num_ranks * decode.interval_seconds - 8) < 1e-9
    less = stg.estimate("llama3-8b", "h100-80gb-dgx", stg.Strategy(**fields),
                        machine_set={"device.memory.capacity": "20 GB"})
    assert not less.fits and less.step_seconds == one.step_seconds
    # What is offloaded must fit into the host: 12 bytes of each parameter.
    host = [stg.estimate("gpt2-1.5b", "h100-80gb-dgx", batch=1, offload=["optimizer"],
                         machine_set={"device.second_memory.capacity": f"{gigabytes} GB"})
            for gigabytes in (18, 19)]
    assert host[0].available_bytes >= host[0].needed_bytes == host[1].needed_bytes
    assert [entry.fits for entry in host] == [False, True]
    path = folder / "further.json"
    path.write_text('{"architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", '
                    '"num_nextn_predict_layers": 1}')
    for made in (stg.estimate(path, "h100-80gb-dgx", batch=1), stg.costs(path, batch=1)):
        (message,) = made.warnings
        assert message.text.startswith("the model leaves out what mtp=1 adds"), message
    assert one.warnings == () == stg.costs("gpt2-1.5b", batch=1).warnings
    run = stg.compile("llama3-8b", traces=True, **fields)
    assert stg.estimate(run.bundle, "h100-80gb-dgx") == one
    expect(ValueError, lambda: stg.estimate(run.bundle, "h100-80gb-dgx", tp=2), "with a strategy")
    expect(stg.Error, lambda: stg.estimate("llama3-8b", "toaster", batch=1), "toaster")
    expect(stg.Error, lambda: stg.estimate("llama3-8b", "h100-80gb-dgx", dp=3, batch=4), '"dp": 3')


CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64,
          "intermediate_size": 128, "num_attention_heads": 4, "num_key_value_heads": 2,
          "num_hidden_layers": 2, "vocab_size": 256, "max_position_embeddings": 128,
          "rms_norm_eps": 1e-5, "hidden_act": "silu", "tie_word_embeddings": False}


def check_models(folder):
    path = folder / "config.json"
    path.write_text(json.dumps(CONFIG))
    model = stg.import_config(path)
    assert model.text == run_tool("stg-translate", "--import-hf-config", str(path))
    same = stg.import_config(path, text=json.dumps(CONFIG))
    assert same == model and model.name == folder.name and model.family == "llama"
    run, again = stg.compile(path, batch=2), stg.compile(model.module, batch=2)
    # h 64, 4 and 2 heads of 16, f 128, V 256, 2 layers.
    layer = 64 * (64 + 2 * 32) + 64 * 64 + 3 * 64 * 128 + 2 * 64
    assert run.parameters == again.parameters == 2 * layer + 2 * 256 * 64 + 64
    assert run.embedding_parameters == 256 * 64 and run.active_parameters == run.parameters
    sparse = stg.compile("mixtral-8x7b", batch=1)
    assert sparse.active_parameters < sparse.parameters == 46702792704
    broken = dict(CONFIG, hidden_size="wide")
    expect(stg.Error, lambda: stg.import_config("x.json", text=json.dumps(broken)), "x.json:1:")
    expect(stg.Error, lambda: stg.import_config("x.mlir"), "is no configuration")
    # Tables that are edited between calls are read again.
    table = folder / "families" / "mine.json"
    table.parent.mkdir(exist_ok=True)
    for layers in 1, 3:
        table.write_text(json.dumps({"based_on": "llama", "types": ["mine"],
                                     "keys": {"num_hidden_layers": layers}}))
        mine = stg.import_config("x.json", text='{"model_type": "mine"}', models=[folder])
        assert mine.family == "mine" and f" L = {layers}}}" in mine.text
    known = {entry.name: entry for entry in stg.list_models()}
    assert known["llama3-8b"].parameters == 8030261248 and len(known) > 20


def check_linalg(folder):
    """A program of linalg is a model; what stays in parts is a message."""
    program = """func.func @main(%x: tensor<4x8xbf16> {stg.dims = ["B", "D"]}, %w: tensor<8x6xbf16>) -> tensor<4x6xbf16> {
      %zero = arith.constant 0.0 : bf16
      %e = tensor.empty() : tensor<4x6xbf16>
      %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<4x6xbf16>) -> tensor<4x6xbf16>
      %p = linalg.matmul ins(%x, %w : tensor<4x8xbf16>, tensor<8x6xbf16>)
        outs(%f : tensor<4x6xbf16>) -> tensor<4x6xbf16>
      %y = linalg.exp ins(%p : tensor<4x6xbf16>) outs(%e : tensor<4x6xbf16>) -> tensor<4x6xbf16>
      return %y : tensor<4x6xbf16>
    }"""
    path = folder / "program.mlir"
    path.write_text(program)
    model = stg.import_linalg(path, parameters=range(1, 2), loss=True)
    assert model.name == "program" and model.family == ""
    same = stg.import_linalg("program.mlir", text=program, parameters=["1-1"], loss=True)
    assert same.text == model.text == stg.import_linalg(path, parameters="1", loss=True).text
    assert len(model.messages) == 1 and "is in no kernel that is known" in model.messages[0].text
    run = stg.compile(model.module, batch=16, dp=2)
    # 16 rows on two ranks: 2*8*8*6 operations forward, and as many for the weight's gradient.
    products = run.manifest["classes"][0]["matrix_operations_by_phase"]
    assert run.parameters == 48 and products == {"fwd": 2 * 8 * 8 * 6, "bwd": 2 * 8 * 8 * 6}
    plain = stg.import_linalg(path)
    assert "stg.param" not in plain.text and "labels" not in plain.text
    assert stg.run_passes(program, "stg-import-linalg{loss=true parameters=1}") == model.text
    expect(stg.Error, lambda: stg.import_linalg(path, parameters=[2]), "parameters=2 is no number")
    expect(stg.Error, lambda: stg.import_linalg("mine.mlir", text="func.func @f() {\n  return\n"), "mine.mlir:2:9: error: expected operation name")
    expect(stg.Error, lambda: stg.import_linalg("no.mlir"), "no.mlir: cannot read the file: No such file or directory")


def check_transfers():
    run = stg.compile("gpt2-1.5b", batch=1, set={"L": 4}, offload=["optimizer"], traces=True)
    (ranks,) = run.classes
    table = run.transfers()
    assert table["kind"] == ["load", "store"] and table["phase"] == ["opt", "opt"]
    # Moments and a master copy of each parameter.
    assert list(table["bytes"]) == [12 * run.parameters] * 2
    (host,) = [row for row in ranks.memory if row.category == "host"]
    assert host.persistent == 12 * run.parameters
    nodes = list(run.bundle.nodes(0))
    for kind, count in ((stg.LOAD, table["count"][0]), (stg.STORE, table["count"][1])):
        moved = [node.tensor_size for node in nodes if node.type == kind]
        assert len(moved) == count and sum(moved) == 12 * run.parameters
    assert len(nodes) == ranks.num_nodes == run.bundle.num_nodes(0)
    expect(ValueError, lambda: stg.execute(run.bundle), "no bandwidth")


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for check in (check_tables, check_expressions, check_costs, check_sweep, check_interruption,
                  check_modules, check_keywords, check_timelines, check_transfers, check_plots):
        begin = time.monotonic()
        check()
        print(f"{check.__name__}: {time.monotonic() - begin:.2f} s", flush=True)
    check_types(folder)
    check_arguments(folder)
    check_traces(folder)
    check_estimates(folder)
    check_models(folder)
    check_linalg(folder)


if __name__ == "__main__":
    main()
