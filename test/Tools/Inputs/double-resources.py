"""Estimates steps with and without twice of each resource of a machine."""
import json
import subprocess
import sys

MODEL = ["llama3-8b", "--set=L=4", "--seq=2048", "--batch=64"]
STRATEGIES = [
    "--dp=64 --preset=megatron-2021",
    "--dp=64 --zero=3 --preset=torchtitan --recompute=full",
    "--tp=8 --dp=8 --zero=1",
    "--tp=4 --sequence-parallel --dp=16 --recompute=selective --preset=torchtitan-compile",
    "--pp=4 --dp=16 --micro-batch=1 --preset=megatron-2021",
    "--pp=2 --virtual-stages=2 --dp=4 --tp=2 --micro-batch=2",
    "--pp=4 --dp=8 --schedule=zb-h1 --micro-batch=1 --preset=torchtitan",
    "--cp=4 --dp=16 --zero=1",
    "--cp=2 --cp-comm-type=p2p --tp=2 --dp=8",
    "--dp=16 --tp=2 --pp=2 --micro-batch=1 --gradient-reduction=per-layer --preset=llm-foundry",
]
# A value, and twice of it, or half of what is lost.
RESOURCES = [
    ("device.peak.bf16", "312 TFLOP/s", "624 TFLOP/s"),
    ("device.memory.bandwidth", "2.04 TB/s", "4.08 TB/s"),
    ("network.nvlink.bandwidth", "300 GB/s", "600 GB/s"),
    ("network.network.bandwidth", "25 GB/s", "50 GB/s"),
    ("network.network.latency", "14 us", "7 us"),
    ("device.kernel.fixed", "3 us", "1.5 us"),
]


def run(*command):
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 0, (command, process.stderr)
    return process.stdout


pairs = 0
for number, strategy in enumerate(STRATEGIES):
    folder = f"{sys.argv[1]}/{number}"
    run("stg-compile", *MODEL, *strategy.split(), "--bundle", "--quiet", "-o", folder)
    for key, one, two in RESOURCES:
        text = run("stg-estimate", folder, "--machine=h100-80gb-mosaic", "--json",
                   f"--sweep-machine={key}={one},{two}")
        first, second = [report["step_seconds"] for report in json.loads(text)]
        assert second <= first, (strategy, key, first, second)
        pairs += 1
print(pairs, "pairs")
