"""Parameters that several pipeline stages read: each stage has a copy, their gradients are
summed once per step, and every device that has a copy steps it once.

Inputs/shared.mlir reads its table in three places and another matrix in two. Where these
places are follows from the schedule; what each device reads, steps, reduces and sends is
computed here from that, and compared with the files of all ranks.

Usage: shared_parameters.py stages
"""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import checks
import traces
from checks import BF16, FP32, Plan

MODEL = Path(__file__).parent / "Inputs" / "shared.mlir"
S, D, V, LAYERS = 16, 64, 512, 6
MICRO_BATCHES = 6
SIZES = {"table": V * D, "mix": D * D}  # elements

# The layers before the ops that read a parameter.
PLACES = {"table": (0, 4, 6), "mix": (0, 4)}


def stage_of(layers_before, stages):
    """An op is where the layer before it is."""
    return max(layers_before - 1, 0) // (LAYERS // stages)


def device_of(stage, p, v, schedule):
    """Virtual stages go round the devices, or forth and back."""
    turn, position = divmod(stage, p)
    return p - 1 - position if schedule in ("zb-v", "dualpipe-v") and turn % 2 else position


def holders(p, v, schedule):
    """The devices that have a copy of each parameter."""
    return {
        name: sorted({device_of(stage_of(place, p * v), p, v, schedule) for place in places})
        for name, places in PLACES.items()
    }


def shared_names(nodes, phases):
    """The shared parameters among the inputs of computations, and how many read each."""
    found = Counter()
    for node in nodes:
        if node.phase in phases and node.type == "COMP":
            found.update({name.split("/")[1] for name, _ in node.tensors("inputs") if name.startswith("parameter/")})
    return {name: count for name, count in found.items() if name in PLACES}


def padded(size, ranks):
    """As a collective is written: a multiple of 4 chunks for each rank."""
    return -(-size // (4 * ranks)) * 4 * ranks


def check_rank(check, folder, rank, p, n, held, level):
    """The file of one rank; data parallelism is over neighbours."""
    nodes, groups = traces.nodes(folder, rank), traces.read_groups(folder)
    device, replica = divmod(rank, n)
    own = {name for name, devices in held.items() if device in devices}
    if level < 3:  # Gathered parameters have another name.
        check.equal("read", set(shared_names(nodes, ("fwd", "bwd"))), own)
    check.equal("stepped", shared_names(nodes, ("opt",)), {name: 1 for name in own})
    # Gradients of all parameters on the same devices are reduced as one.
    together = Counter()
    for name in own:
        if len(held[name]) > 1:
            together[tuple(held[name])] += SIZES[name] * FP32 // (n if level >= 2 else 1)
    wanted = Counter()
    for devices, size in together.items():
        wanted[tuple(d * n + replica for d in devices), padded(size, len(devices))] += 1
    found = Counter()
    for node in nodes:
        if node.type == "COMM_COLL" and node.kind == "all_reduce" and node.phase == "grad_sync":
            members = tuple(groups[node.attributes["pg_name"]])
            if {member // n for member in members} != {device}:
                found[members, node.attributes["comm_size"]] += 1
    check.equal("reductions over stages", found, wanted)
    sizes = {node.attributes["comm_size"] for node in nodes if node.type == "COMM_SEND"}
    check.equal("messages are activations", sizes, {S * D * BF16})


CASES = [(3, 1, 1, schedule, 0) for schedule in ("gpipe", "1f1b", "zb-h1")]
CASES += [(2, 1, 1, "1f1b", 0), (6, 1, 1, "1f1b", 0), (3, 2, 1, "interleaved", 0)]
CASES += [(3, 2, 1, schedule, 0) for schedule in ("zb-v", "dualpipe-v")]
CASES += [(3, 1, 2, "1f1b", level) for level in (0, 1, 2, 3)]
CASES += [(3, 2, 2, schedule, level) for schedule in ("interleaved", "zb-v") for level in (1, 2, 3)]


def stages(check):
    """Every schedule, and ZeRO."""
    for p, v, n, schedule, level in CASES:
        plan = Plan(pp=p, virtual_stages=v, dp=n, schedule=schedule, zero=level)
        plan = replace(plan, batch=MICRO_BATCHES * n, micro_batch=1)
        check.context = plan
        folder = check.write(MODEL, plan).folder
        traces.run("stg-trace", "validate", folder)
        held = holders(p, v, schedule)
        for rank in range(p * n):
            check_rank(check, folder, rank, p, n, held, level)


if __name__ == "__main__":
    checks.main(stages)
