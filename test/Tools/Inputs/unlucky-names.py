"""Models that differ from Llama in names alone.

Most of the names are those that schedules, micro-batches and phases have. What is compiled must be
the same but for names, and a name that a trace cannot have is told once, at what has it.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

SIZES = {"S": 256, "D": 128, "H": 4, "K": 2, "E": 32, "F": 256, "V": 512}
STRATEGIES = [
    "--pp 2 --virtual-stages 2 --tp 2 --sequence-parallel --schedule interleaved",
    "--pp 2 --dp 2 --zero 1 --schedule zb-h1",
    "--dp 2 --zero 3 --cp 2 --cp-comm-type p2p",
]
LOOPS = ["stage0", "stage1.message0", "mb0", "fwd", "tp", "S", "a b", "a/b", "0", "device0.step"]
PROGRAMS = ["stage0", "llama.stage0.forward", "step", "a b", "0"]
SYMBOLS = ["mb", "cp_index", "stage0"]
TOKENS = ["mb0.tokens", "arg1", "stage0", "mb", "a b", "a/b"]

FLAW = "expects a name without control characters, commas and equals signs, found"
REFUSED = [
    ('repeat "layers"', 'repeat "x,y"', f"'stg.repeat' op {FLAW} 'x,y'"),
    ('repeat "layers"', 'repeat "x=y"', f"'stg.repeat' op {FLAW} 'x=y'"),
    ('repeat "layers"', r'repeat "x\0A"', rf"'stg.repeat' op {FLAW} 'x\x0a'"),
    ('repeat "layers"', 'repeat "B"',
     "'stg.repeat' op is named 'B', as the batch is, which would cut what the loop stacks; give "
     "the loop another name"),
    ('"tokens"', '"x=y"', "'func.func' op expects as 'stg.name' "
                          f"{FLAW.removeprefix('expects ')} 'x=y'"),
]


def compile_model(text, strategy, folder, layers="L"):
    """Standard error, and all numbers of the statistics of the traces."""
    model, traces = folder / "model.mlir", folder / "traces"
    model.write_text(text)
    shutil.rmtree(traces, ignore_errors=True)
    sizes = [word for name, size in ({layers: 4} | SIZES).items()
             for word in ("--set", f"{name}={size}")]
    run = subprocess.run(
        ["stg-compile", model, "--config=llama3-8b", *sizes, "--batch=8", "--micro-batch=1",
         *strategy.split(), "--bundle", "-o", traces], capture_output=True, text=True)
    if run.returncode:
        assert not traces.exists(), f"{traces} is left"
        return run.stderr, None
    subprocess.run(["stg-trace", "validate", traces], check=True, capture_output=True)
    stats = subprocess.run(["stg-trace", "stats", traces, "--json"], check=True,
                           capture_output=True, text=True).stdout
    numbers = []

    def collect(value):
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            for element in value:
                collect(element)
        elif not isinstance(value, str):
            numbers.append(value)
    collect(json.loads(stats))
    return run.stderr, numbers


def main(model, folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    base = Path(model).read_text()
    texts = [base.replace('repeat "layers"', f'repeat "{name}"') for name in LOOPS]
    texts += [base.replace("@llama(", f'@"{name}"(') for name in PROGRAMS]
    texts += [base.replace('"tokens"', f'"{name}"') for name in TOKENS]
    texts.append(base.replace('"labels"', '"mb1.tokens"').replace('"tokens"', '"mb0.labels"'))
    variants = [(text, "L") for text in texts]
    for name in SYMBOLS:
        text = base.replace("@L ", f"@{name} ").replace("* L ", f"* {name} ")
        variants.append((re.sub(r"\bL =", f"{name} =", text), name))
    for strategy in STRATEGIES:
        _, expected = compile_model(base, strategy, folder)
        for text, symbol in variants:
            assert text != base
            errors, numbers = compile_model(text, strategy, folder, symbol)
            assert numbers == expected, (strategy, text, errors)
    for old, new, message in REFUSED:
        errors, _ = compile_model(base.replace(old, new, 1), STRATEGIES[1], folder)
        assert errors.count("error:") == 1 and f"error: {message}\n" in errors, (message, errors)
        assert re.match(r"\S+model\.mlir:\d+:\d+: ", errors), errors


main(*sys.argv[1:])
