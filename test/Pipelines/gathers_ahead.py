"""Gathers of ZeRO-3 ahead of layers that differ: periods, periods in periods, runs one behind the other.

Layers here differ by name alone: a window of all tokens is none. So whatever the pattern, a step is that of layers that
are all of one kind, to the picosecond and to the byte, and the gather of a layer is issued where the layer begins
that is so many layers before it in the pass.

Usage: gathers_ahead.py {estimates|memory|order|bundles}... FOLDER
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import traces
from comparing import equal, finish

LAYERS, SEQ = 12, 256
MODEL = {
    "model_type": "gemma2", "hidden_size": 512, "num_hidden_layers": LAYERS, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 64,
    "intermediate_size": 2048, "vocab_size": 1024, "sliding_window": SEQ, "max_position_embeddings": SEQ}  # fmt: skip
PATTERNS = {
    "one": "g" * 12, "pairs": "lg" * 6, "threes": "llg" * 4, "runs": "l" * 4 + "g" * 8, "rest": "lg" * 5 + "ll", "nested": ("lgl" + "ggg") * 2}  # fmt: skip
KINDS = {"l": "sliding_attention", "g": "full_attention"}
MACHINE = "--machine=h100-80gb-dgx"
PLANS = [
    ["--zero=3", "--dp=8", "--prefetch=0"], ["--zero=3", "--dp=8"], ["--zero=3", "--dp=8", "--prefetch=3"], ["--zero=3", "--dp=8", "--prefetch=20"],
    ["--zero=3", "--dp=8", "--recompute=full", "--micro-batch=1"], ["--zero=3", "--dp=8", "--reshard-after-forward=false"],
    ["--zero=3", "--dp=4", "--pp=2", "--micro-batch=1"], ["--zero=3", "--dp=4", "--pp=2", "--micro-batch=1", "--prefetch=2", "--recompute=full"]]  # fmt: skip


def write(folder):
    paths = {}
    for name, pattern in PATTERNS.items():
        paths[name] = Path(folder) / f"{name}.json"
        paths[name].write_text(json.dumps(MODEL | {"layer_types": [KINDS[kind] for kind in pattern]}))
    return paths


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


def estimate(path, *flags):
    return json.loads(run("stg-estimate", path, "--batch=16", MACHINE, "--json", *flags))["step_seconds"]


def estimates(folder):
    paths = write(folder)
    for plan in PLANS:
        expected = estimate(paths["one"], *plan)
        for name, path in paths.items():
            equal(f"{name}, {plan}", estimate(path, *plan), expected)
    # Gathers that are ahead are hidden.
    first, second = (estimate(paths["nested"], "--zero=3", "--dp=8", f"--prefetch={n}") for n in (0, 1))
    equal("is faster", second < first, True)


def peaks(path, plan):
    classes = traces.compile_json(path, "--batch=16", "--dry-run", *plan)["classes"]
    return [(entry["memory"]["peak_bytes"], entry["memory"]["largest_bytes"]["communication"]) for entry in classes]


def memory(folder):
    paths = write(folder)
    for plan in PLANS:
        expected = peaks(paths["one"], plan)
        for name, path in paths.items():
            equal(f"{name}, {plan}", peaks(path, plan), expected)


def layer_of(name, layers):
    """The number in a pass of the layer that a node is of; none if it is of none."""
    found = re.match(r"(.*\.\d+)\.[^.]+\.(?:fwd|bwd)|", name).group(1)
    if found is None:
        return None
    return layers.setdefault(found, len(layers))


def order(folder):
    """In each pass the first node behind a gather that is of a layer is of the one that begins there."""
    paths = write(folder)
    for name, path in paths.items():
        for ahead in (0, 1, 2, 5):
            out = Path(folder) / "traces"
            run("stg-compile", path, "--batch=16", "--dp=2", "--zero=3", f"--prefetch={ahead}", "-o", out)
            lines = [json.loads(line) for line in run("stg-trace", "print", out / "workload.0.et").splitlines()[1:]]
            names = [line["name"].split("/")[0] for line in lines]
            for phase in ("fwd", "bwd"):
                gathers = [i for i, n in enumerate(names) if n.endswith(f"unit.{phase}.all_gather") and n.count(".") > 2]
                equal(f"{name}, {ahead}, gathers in {phase}", len(gathers), LAYERS)
                units = [names[i].rsplit(".unit.", 1)[0] for i in gathers]
                equal(f"{name}, {ahead}, each once in {phase}", len(set(units)), LAYERS)
                for number, i in enumerate(gathers):
                    begins = next(n for n in names[i:] if "unit." not in n)
                    expected = units[max(number - ahead, 0)]
                    equal(f"{name}, {ahead}, behind gather {number} of {phase}", begins.startswith(expected + "."), True)


def bundles(folder):
    """A bundle says what its program makes ahead: times of the model, the bytes of its files, and paths of its nodes."""
    paths = write(folder)
    plan = ["--zero=3", "--dp=2", "--prefetch=2", "--recompute=full"]
    for name in ("pairs", "nested", "rest"):
        bundle, out = Path(folder) / f"{name}.bundle" / "traces.stgb", Path(folder) / f"{name}.traces"
        run("stg-compile", paths[name], "--batch=16", *plan, "--bundle", "-o", bundle.parent)
        run("stg-compile", paths[name], "--batch=16", *plan, "-o", out)
        equal(f"{name}, format", int.from_bytes(bundle.read_bytes()[4:8], "little"), 7)
        equal(f"{name}, time", json.loads(run("stg-estimate", bundle, MACHINE, "--json"))["step_seconds"], estimate(paths[name], *plan))
        printed = run("stg-trace", "print", bundle, "--rank=0")
        equal(f"{name}, files", printed, run("stg-trace", "print", out / "workload.0.et"))
    run("stg-compile", paths["one"], "--batch=16", *plan, "--bundle", "-o", Path(folder) / "one.bundle")
    equal("one, format", int.from_bytes((Path(folder) / "one.bundle" / "traces.stgb").read_bytes()[4:8], "little"), 3)


for word in sys.argv[1:-1]:
    {"estimates": estimates, "memory": memory, "order": order, "bundles": bundles}[word](sys.argv[-1])
finish()
