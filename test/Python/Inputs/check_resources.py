"""Twice of anything never makes a step slower, on any machine, whatever the strategy.

    check_resources.py MACHINES COUNT [SEED]

MACHINES is the folder of the library's machines. Of COUNT strategies drawn from all that compile,
each is estimated on a machine as it is, and with twice of each peak, of the bandwidths of memory
and of each tier, and half of each latency and fixed cost. Prints how many pairs were compared.
"""

import itertools
import json
import random
import sys
from pathlib import Path

import stg

MODELS = [("llama3-8b", {"set": {"L": 4}, "seq": 2048}), ("mixtral-8x7b", {"set": {"L": 4}, "seq": 1024})]
RANKS, BATCH = 16, 32
PRESETS = ["megatron", "megatron-2021", "torchtitan", "torchtitan-compile", "llm-foundry"]


def read_machine(folder, name):
    """The values of a machine by their keys, in the units of its file."""
    content = json.loads((folder / f"{name}.json").read_text())
    values = read_machine(folder, content["based_on"]) if "based_on" in content else {}

    def read(prefix, entry):
        if isinstance(entry, dict) and "value" in entry:
            values[prefix] = (entry["value"], entry["unit"])
        elif isinstance(entry, dict):
            for key, value in entry.items():
                read(f"{prefix}.{key}", value)

    read("device", content.get("device", {}))
    if "network" in content:
        values = {key: value for key, value in values.items() if not key.startswith("network.")}
    for tier in content.get("network", ()):
        for key in ("bandwidth", "latency"):
            if key in tier and "value" in tier[key]:
                values[f"network.{tier['name']}.{key}"] = (tier[key]["value"], tier[key]["unit"])
    return values


def get_resources(folder, name):
    """Keys of a machine, with what is twice as good."""
    for key, (value, unit) in read_machine(folder, name).items():
        factor = None
        if key.startswith("device.peak.") or key.endswith("bandwidth"):
            factor = 2
        elif key.endswith(("latency", "kernel.fixed")) and value > 0:
            factor = 0.5
        if factor and "second_memory" not in key:
            yield key, f"{value * factor} {unit}"


def get_strategies(rng):
    """Strategies of all degrees and options, in random order, for ever."""
    degrees = [which for which in itertools.product((1, 2, 4, 8, 16), repeat=4)
               if which[0] * which[1] * which[2] * which[3] == RANKS]
    while True:
        dp, tp, pp, cp = rng.choice(degrees)
        fields = {"dp": dp, "tp": tp, "pp": pp, "cp": cp, "batch": BATCH,
                  "micro_batch": rng.choice([1, 2]), "zero": rng.choice([0, 1, 2, 3]),
                  "recompute": rng.choice(["none", "selective", "full"]), "preset": rng.choice(PRESETS)}
        if tp > 1 and rng.random() < 0.5:
            fields["sequence_parallel"] = True
        if pp > 1:
            fields["schedule"] = rng.choice(["1f1b", "gpipe", "zb-h1"])
        if cp > 1:
            fields["cp_comm_type"] = rng.choice(["all_gather", "a2a", "p2p"])
        if dp > 1:
            fields["gradient_reduction"] = rng.choice(["flat", "per-layer"])
        yield fields


def main():
    folder, count = Path(sys.argv[1]), int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    rng = random.Random(seed)
    machines = sorted(path.stem for path in folder.glob("*.json"))
    resources = {name: list(get_resources(folder, name)) for name in machines}
    assert all(len(entries) >= 3 for entries in resources.values()), resources
    pairs, compiled = 0, 0
    for number, fields in enumerate(get_strategies(rng)):
        model, options = MODELS[number % len(MODELS)]
        if model.startswith("mixtral") and fields["dp"] > 1 and rng.random() < 0.5:
            fields["ep"] = 2
        try:
            bundle = stg.compile(model, traces=True, **fields, **options).bundle
        except stg.Error:
            continue  # Not every draw is possible.
        machine = machines[compiled % len(machines)]
        first = stg.estimate(bundle, machine).step_seconds
        for key, value in resources[machine]:
            second = stg.estimate(bundle, machine, machine_set={key: value}).step_seconds
            assert second <= first, (model, fields, machine, key, value, first, second)
            pairs += 1
        compiled += 1
        if compiled == count:
            break
    print(f"{compiled} strategies of {number + 1} draws on {len(machines)} machines, {pairs} pairs")


if __name__ == "__main__":
    main()
