"""Gathers that are ahead of layers, of classes that differ along cp, are of all members alike: layers take the same
each, and no member of a group ends before another one has begun."""
import collections
import json
import subprocess
import sys

FLAGS = ["--batch=2", "--micro-batch=1", "--seq=4096", "--cp=2", "--cp-comm-type=p2p", "--cp-balance=none", "--zero=3",
         "--machine=h100-80gb-dgx"]


def estimate(*flags):
    command = ["stg-estimate", *flags, *FLAGS, "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["step_seconds"]


steps = [estimate("llama3-8b", f"--set=L={layers}", "--tp=2", "--dp=2", "--sequence-parallel") for layers in range(4, 10)]
more = [after - before for before, after in zip(steps, steps[1:])]
assert max(more) - min(more) < 1e-3 * min(more), more

command = ["stg-estimate", "llama3-8b", *FLAGS, "--batch=1", f"--timeline={sys.argv[1]}"]
subprocess.run(command, check=True, capture_output=True)
with open(sys.argv[1], encoding="utf-8") as file:
    events = json.load(file)["traceEvents"]
gathers = collections.defaultdict(list)
for event in events:
    if event.get("cat") == "kernel" and event["name"] == "ncclDevKernel_AllGather":
        gathers[event["pid"]].append((event["ts"], event["ts"] + event["dur"]))
assert [len(own) for own in gathers.values()] == [65, 65], gathers.keys()
for number, (first, second) in enumerate(zip(*(sorted(own) for own in gathers.values()))):
    assert max(first[0], second[0]) < min(first[1], second[1]), (number, first, second)
