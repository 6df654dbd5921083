"""Compares scans whose tokens are divided, and hand on states, with closed forms.

Rank r of n has the r-th range of tokens. It hands on, of each sequence and layer, the state behind
its tokens, in fp32, and of each convolution of w tokens the last w - 1 of its own; backward the
gradient of the state that it started from, and of the first w - 1 tokens, to rank r - 1. Sizes are
those of the models' papers: Mamba (arXiv:2312.00752) has channels times N numbers, Mamba-2
(arXiv:2405.21060) heads times P times N, Gated DeltaNet (arXiv:2412.06464) value heads times the
sizes of a key and of a value.

Usage: passed_states.py {operations|messages|saved|order}...
"""

import json
import sys
import tempfile
from collections import Counter

import traces

FAILED = False
BF16, FP32 = 2, 4


def equal(what, found, want):
    """Reports a difference."""
    global FAILED
    if found != want:
        FAILED = True
        print(f"{what}: found {found}, expected {want}")


class Model:
    """Sizes of a library model with few layers: state elements of a layer, and widths and
    channels of its convolutions."""

    def __init__(self, name, layers, sizes, state, tails, added, flags=()):
        self.name, self.layers, self.state, self.tails, self.added = name, layers, state, tails, added
        self.flags = [name, *(f"--set={k}={v}" for k, v in sizes.items()), *flags]


# Mamba: D 64, 128 channels, state 8. Mamba-2: 8 heads of 16, state 32, 2 groups, or one for all.
# Qwen 3 Next: three layers of Gated DeltaNet and one of attention, whose tokens are exchanged for heads. xLSTM: 8 heads of 16 and
# 24, with one value more, and a number of each head.
MODELS = [
    Model("mamba-2.8b", 4, dict(L=4, D=64, MC=128, MN=8, MR=4, V=64), 128 * 8, [(4, 128)], 0),
    Model("codestral-mamba-7b", 4, dict(L=4, D=64, MH=8, MP=16, MN=32, MG=2, MQ=8, V=64), 8 * 16 * 32,
          [(4, 128), (4, 2 * 2 * 32)], 8 * 16 * 32),
    Model("mamba2-2.7b", 4, dict(L=4, D=64, MH=8, MP=16, MN=32, MQ=8, V=64), 8 * 16 * 32,
          [(4, 128), (4, 2 * 32)], 8 * 16 * 32),
    Model("qwen3-next-80b-a3b", 3, dict(L=4, D=64, H=8, K=4, E=8, R=4, F=16, G=16, X=8, A=2, LK=4, LV=8, EK=16, EL=16,
                                        MQ=8, V=64),
          8 * 16 * 16, [(4, 2 * 4 * 16), (4, 8 * 16)], 0, ["--cp-comm-type=a2a"]),
    Model("xlstm-7b", 4, dict(L=4, D=64, LV=8, EK=16, EL=24, F=32, MQ=8, V=64), 8 * (16 * 25 + 1), [], 8 * (16 * 25 + 1)),
]
B, S = 4, 128


def summary(model, *flags, seq=S):
    flags = [flag for flag in (*model.flags, *flags) if "--cp=" in " ".join(flags) or "--cp-" not in flag]
    return traces.compile_json(*flags, f"--batch={B}", f"--seq={seq}", "--dry-run")


def passing(model, n, *flags):
    return summary(model, f"--cp={n}", "--cp-scan-type=p2p", *flags)


def all_operations(found):
    total = Counter()
    for entry in found["classes"]:
        for phase, number in entry["operations_by_phase"].items():
            total[phase] += number * entry["ranks"]
    return total


def operations():
    """All ranks together execute what one does, but for states that are added: 2 per element."""
    for model in MODELS:
        for recompute in ("none", "full"):
            one = summary(model, f"--recompute={recompute}")
            plans = [(2, []), (4, []), (2, ["--dp=2", "--micro-batch=1"]), (2, ["--pp=2", "--micro-batch=2"])]
            for n, flags in plans if recompute == "none" else plans[:1]:
                found = passing(model, n, f"--recompute={recompute}", *flags)
                what = f"{model.name} {recompute} cp {n} {flags}"
                equal(what, traces.products(found), traces.products(one))
                if any("dp" in flag or "pp" in flag for flag in flags):
                    continue
                more = all_operations(found)
                more.subtract(all_operations(one))
                added = 2 * model.layers * B * model.added * n
                # Each rank adds the gradients that a table has at both ends of the model.
                tied = (n - 1) * 64 * 64 if model.name in ("mamba-2.8b", "mamba2-2.7b") else 0
                want = {"fwd": added, "bwd": added + tied}
                if recompute == "full":
                    want["recompute"] = added
                if model.name != "qwen3-next-80b-a3b":
                    equal(what, {phase: more[phase] for phase in want}, want)


def sent(nodes):
    """(phase, to) -> sizes of messages of a rank, by what they are."""
    found = Counter()
    for node in nodes:
        if node.type in ("COMM_SEND", "COMM_RECV"):
            found[node.type[5:].lower(), node.phase, node.attributes["comm_size"]] += 1
    return found


def written(model, folder, *flags):
    traces.run("stg-compile", *model.flags, *flags, f"--batch={B}", f"--seq={S}", "-o", folder, "--quiet")
    traces.run("stg-trace", "validate", folder)
    return folder


def messages():
    """The chain's: no message wraps around, and nothing else is sent."""
    for model in MODELS:
        for n, flags, b, tp in ((2, [], B, 1), (4, ["--recompute=full"], B, 1), (2, ["--micro-batch=1"], 1, 1),
                                (2, ["--tp=2", "--sequence-parallel"], B, 2)):
            with tempfile.TemporaryDirectory() as folder:
                path = f"{folder}/t"
                written(model, path, f"--cp={n}", "--cp-scan-type=p2p", *flags)
                times = model.layers * B // b
                shared = 2 * 32 if model.name == "mamba2-2.7b" else None  # What all heads read is not divided.
                sizes = [b * model.state * FP32 // tp]
                for w, c in model.tails:
                    sizes.append(b * (w - 1) * c * BF16 // (1 if c == shared else tp))
                phases = ["fwd", "recompute"] if "--recompute=full" in flags else ["fwd"]
                for r in range(n):
                    want = Counter()
                    for size in sizes:
                        for phase in phases:
                            want["send", phase, size] += times * (r < n - 1)
                            want["recv", phase, size] += times * (r > 0)
                        want["send", "bwd", size] += times * (r > 0)
                        want["recv", "bwd", size] += times * (r < n - 1)
                    found = sent(traces.nodes(path, r * tp))
                    equal(f"{model.name} cp {n} {flags} rank {r}", found, +want)
        found = {c["kind"] for c in passing(model, 2)["classes"][0]["collectives"]}
        equal(f"{model.name} all-to-alls", "all_to_all" in found, model.name == "qwen3-next-80b-a3b")


def saved():
    """A rank saves what one alone saves of so many tokens, and what scans start from."""
    largest = lambda found: found["classes"][0]["memory"]["largest_bytes"]["activation"]
    for model in MODELS[:3]:
        for n in (2, 4):
            found = {largest(dict(classes=[entry])) for entry in passing(model, n)["classes"]}
            want = largest(summary(model, seq=S // n)) + model.layers * B * model.state * FP32
            equal(f"{model.name} cp {n} saved", found, {want})


def order():
    """Which nodes wait for the state of another rank, and in which order ranks can go on."""
    parts = {
        "mamba-2.8b": (set(), {"state"}),
        "codestral-mamba-7b": ({"own"}, {"state", "rest"}),
        "qwen3-next-80b-a3b": ({"own"}, {"state", "rest"}),
    }
    for model in MODELS:
        if model.name not in parts:
            continue
        free, waiting = parts[model.name]
        with tempfile.TemporaryDirectory() as folder:
            written(model, f"{folder}/t", "--cp=2", "--cp-scan-type=p2p", *([] if model.flags[-1][:4] != "--cp" else []))
            for rank, phase in ((1, "fwd"), (0, "bwd")):
                text = traces.run("stg-trace", "print", f"--rank={rank}", f"{folder}/t").splitlines()
                nodes = {e["id"]: e for e in json.loads(f"[{','.join(text)}]") if "metadata" not in e}
                scans = [e for e in nodes.values() if f".scan.{phase}." in e["name"] or f".delta_rule.{phase}." in e["name"]]
                layer = lambda e: e["name"].split(".scan.")[0].split(".delta_rule.")[0]
                for recv in (e for e in scans if e["type"] == "COMM_RECV"):
                    behind = {recv["id"]}
                    for i in sorted(nodes):
                        if behind & set(nodes[i].get("data_deps", [])):
                            behind.add(i)
                    here = {e["name"].rsplit("/", 1)[0].rsplit(".", 1)[-1]: e["id"] in behind for e in scans
                            if layer(e) == layer(recv) and e["type"] == "COMP"}
                    want = {**{part: False for part in free}, **{part: True for part in waiting}}
                    here = {part: waits for part, waits in here.items() if part in want}
                    equal(f"{model.name} rank {rank} {phase} {layer(recv)}", here, want)
            # What goes on is the state, not the output.
            for rank, phase in ((0, "fwd"), (1, "bwd")):
                text = traces.run("stg-trace", "print", f"--rank={rank}", f"{folder}/t").splitlines()
                nodes = {e["id"]: e for e in json.loads(f"[{','.join(text)}]") if "metadata" not in e}
                for e in nodes.values():
                    if e["type"] == "COMM_SEND" and f".{phase}.state." in e["name"]:
                        parts = {nodes[i]["name"].rsplit("/", 1)[0].rsplit(".", 1)[-1] for i in e.get("data_deps", [])}
                        equal(f"{model.name} {e['name']}", parts - {"own"}, {"state"})


if __name__ == "__main__":
    for name in sys.argv[1:]:
        {"operations": operations, "messages": messages, "saved": saved, "order": order}[name]()
    sys.exit(FAILED)
