"""Binding changes nothing but extents: numbers bound before anything else has
happened give the same traces, byte for byte, as numbers bound at the end."""

import filecmp
import subprocess
import sys
from pathlib import Path

MODELS = Path(sys.argv[1])
FOLDER = Path(sys.argv[2])

LLAMA = ("llama", "config=llama3-8b B=16 S=1024 L=4 D=512 F=1024 V=2048")
GPT = ("gpt", "config=gpt3-175b B=16 S=1024 L=4 D=768 H=8 V=2048")
MIXTRAL = ("mixtral", "config=mixtral-8x7b B=16 S=1024 L=4 D=512 F=1024 V=2048")
LLAMA4 = ("llama4", "config=llama4-scout B=16 S=1024 L=4 D=512 F=1024 V=2048")
PALM = ("palm", "config=palm-8b B=16 S=1024 L=4 D=512 F=1024 V=2048")

CASES = [
    (LLAMA, "tp=2 dp=2 sequence-parallel"),
    (LLAMA, "dp=4 cp=2 zero=3 micro-batches=2"),
    (LLAMA, "pp=2 tp=2 dp=2 micro-batches=4 zero=1 recompute=full"),
    (LLAMA, "tp=16 tp-replicate=2 dp=2 micro-batches=2 sequence-parallel keep-gathered"),
    (LLAMA, "cp=2 cp-comm-type=p2p dp=2 gradient-reduction=per-layer"),
    (LLAMA, "cp=2 cp-comm-type=a2a cp-balance=none"),
    (LLAMA, "rules=D:tp tp=2 dp=4 dp-replicate=2 zero=2 micro-batches=2"),
    (GPT, "tp=2 dp=2 zero=2 micro-batches=2 sequence-parallel"),
    (GPT, "pp=2 cp=2 tp=2 micro-batches=4 virtual-stages=2 recompute=selective"),
    (MIXTRAL, "dp=4 ep=2 tp=2 sequence-parallel micro-batches=2"),
    (MIXTRAL, "dp=4 ep=4 cp=2 zero=3 micro-batches=2"),
    (MIXTRAL, "dp=4 ep=4 micro-batches=2 expert-histogram=9,5,3,1,7,2,0,1"),
    (MIXTRAL, "dp=2 tp=2 ep=2 pp=2 micro-batches=4 sequence-parallel "
     "expert-histogram=9,5,3,1,7,2,0,1 clip-experts"),
    (MIXTRAL, "dp=2 tp=2 ep=4 etp=1 sequence-parallel"),
    (LLAMA4, "dp=4 ep=2 tp=4 sequence-parallel micro-batches=2"),
    (PALM, "tp=2 tp-replicate=2 dp=2 micro-batches=2 zero=1"),
    (PALM, "pp=2 dp=2 micro-batches=4 schedule=zb-h1 fp8"),
]


def write(folder, module):
    subprocess.run(
        ["stg-translate", "--chakra-to-traces", f"--trace-dir={folder}"],
        input=module,
        check=True,
    )


def compile_model(model, *passes):
    command = ["stg-opt", MODELS / f"{model}.mlir", *passes]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout


def compare(number, model, values, strategy):
    first, last = FOLDER / f"{number}-first", FOLDER / f"{number}-last"
    bind = values.replace(" ", ",") + ",defaults=true"
    write(last, compile_model(model, f"--stg-pipeline={strategy} bind={bind}"))
    write(
        first,
        compile_model(
            model,
            "--stg-resolve-imports",
            "--stg-inline-blocks",
            f"--stg-bind={values} defaults=true",
            f"--stg-pipeline={strategy}",
        ),
    )
    names = sorted(path.name for path in last.iterdir())
    assert names == sorted(path.name for path in first.iterdir()), names
    traces = [name for name in names if name != "manifest.json"]
    assert any(name.endswith(".et") for name in traces), names
    _, different, errors = filecmp.cmpfiles(first, last, traces, shallow=False)
    assert not different and not errors, (model, strategy, different, errors)


for number, ((model, values), strategy) in enumerate(CASES):
    compare(number, model, values, strategy)
