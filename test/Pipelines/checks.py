"""What the numerical checks share: plans, sizes of models, and what is expected of them.

A check is a function that compares what stg-compile makes of a `Model` and a `Plan` with
numbers that are computed from published formulas, or that were counted while a step really
ran. Symbols follow the literature: h hidden size, a query heads, g key/value heads, d head
size, f feed-forward size, V vocabulary, L layers, s tokens of a sequence, E experts of which
a token goes through k; t tensor-, c context-, e expert- and D data-parallel degree, p stages
of v virtual ones each, B sequences of a step.
"""

import gc
import inspect
import sys
import tempfile
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path

import traces

BF16, FP32, ID = 2, 4, 4  # bytes of an element: bf16, f32, i32


@dataclass(frozen=True)
class Plan:
    """How a step is run: each field is the flag of that name, and given if it is not what
    stg-compile does by itself."""

    tp: int = 1
    dp: int = 1
    cp: int = 1
    ep: int = 1
    etp: int = None
    pp: int = 1
    batch: int = None
    micro_batch: int = None
    sequence_parallel: bool = False
    keep_gathered: str = "experts"
    stream_start: str = "whole"
    cp_comm_type: str = "all_gather"
    cp_balance: str = "zigzag"
    cp_sum_dtype: str = None
    attention_heads: str = "grouped"
    preset: str = "megatron"
    schedule: str = None
    virtual_stages: int = 1
    zero: int = 0
    zero_root: str = "kept"
    dp_replicate: int = 1
    bucket_size: int = None
    gradient_reduction: str = "flat"
    recompute: str = "none"
    recompute_saved: str = None
    recompute_layers: int = 1
    recompute_method: str = "uniform"
    attention_count: str = "executed"
    expert_histogram: tuple = None
    dtype: str = None
    param_dtype: str = None
    grad_dtype: str = "f32"
    optimizer_dtype: str = None
    fp8: bool = False
    fp8_gather: bool = False
    product_dtype: str = None
    set: str = None

    def flags(self):
        """The command line of stg-compile for it."""
        result = []
        for field in fields(self):
            value, flag = getattr(self, field.name), f"--{field.name.replace('_', '-')}"
            if value == field.default or (field.name == "sequence_parallel" and self.tp == 1):
                continue  # It would have no effect.
            if isinstance(value, tuple):
                value = ",".join(map(str, value))
            result.append(flag if value is True else f"{flag}={value}")
        return result

    def __str__(self):
        return " ".join(self.flags())

    t = property(lambda self: self.tp)
    c = property(lambda self: self.cp)
    e = property(lambda self: self.ep)
    D = property(lambda self: self.dp)
    p = property(lambda self: self.pp)
    v = property(lambda self: self.virtual_stages)
    B = property(lambda self: self.batch)

    @property
    def ranks(self):
        """All of them; experts are divided over ranks that are there anyway."""
        return self.tp * self.cp * self.dp * self.pp

    @property
    def micro_batches(self):
        """Of one rank in a step."""
        return self.batch // self.dp // self.micro_batch if self.micro_batch else 1

    @property
    def gradient(self):
        """Bytes of an element of a gradient."""
        return {"f32": FP32, "bf16": BF16}[self.grad_dtype]

    @property
    def stream_shards(self):
        """Ranks that share the residual stream."""
        return self.tp if self.sequence_parallel else 1


# The symbols of the models in models/ that our fields are.
SYMBOLS = {"h": "D", "a": "H", "g": "K", "d": "E", "f": "F", "V": "V", "L": "L", "E": "X", "k": "A"}


@dataclass(frozen=True)
class Model:
    """The sizes of a decoder; sizes that differ from those of the library's model `name`
    are set on the command line."""

    name: str
    h: int
    a: int
    g: int
    d: int
    f: int
    V: int
    L: int
    s: int
    E: int = 0  # experts in each layer
    k: int = 0  # experts of a token
    shared: int = 0  # experts of all tokens
    capacity: Fraction = Fraction(1)  # rows of experts for each copy of a token

    def flags(self):
        """The command line of stg-compile for it."""
        library, result = LIBRARY[self.name], [self.name]
        for field, symbol in SYMBOLS.items():
            value = getattr(self, field)
            if value != getattr(library, field):
                result.append(f"--set={symbol}={value}")
        if self.capacity != library.capacity:
            num, den = self.capacity.as_integer_ratio()
            result += [f"--set=CN={num}", f"--set=CD={den}"]
        return result + ([f"--seq={self.s}"] if self.s != library.s else [])

    def __str__(self):
        return " ".join(self.flags())

    @property
    def qkv(self):
        """Columns of the fused projection of queries, keys and values."""
        return (self.a + 2 * self.g) * self.d

    @property
    def projections(self):
        """Parameters of attention in one layer: 2h*ad + 2h*gd."""
        return self.h * self.qkv + self.a * self.d * self.h

    @property
    def gated(self):
        """Parameters of a gated feed-forward network, or of one expert: 3hf."""
        return 3 * self.h * self.f

    @property
    def router(self):
        """Parameters that choose a token's experts."""
        return self.h * self.E

    @property
    def norms(self):
        """Scales of two norms a layer and of the last one."""
        return (2 * self.L + 1) * self.h

    @property
    def matrices(self):
        """Parameters of the matrices of one layer, all experts included."""
        networks = self.E + self.shared if self.E else 1
        return self.projections + networks * self.gated + self.router

    @property
    def layer(self):
        """All parameters of one layer."""
        return self.matrices + 2 * self.h

    @property
    def embedding(self):
        """The table of tokens, before the layers."""
        return self.V * self.h

    @property
    def head(self):
        """Behind the layers: the last norm and the untied head."""
        return self.V * self.h + self.h

    @property
    def parameters(self):
        """All parameters of a model with rms norms, gated networks and an untied head."""
        return self.L * self.layer + self.embedding + self.head


    @property
    def saved_outside(self):
        """Bytes that a bf16 Llama layer saves per token and tensor parallelism leaves whole:
        inputs and outputs of two norms, and their fp32 reciprocal deviations."""
        return 8 * self.h + 8

    @property
    def saved_inside(self):
        """Bytes that it saves per token between column- and row-parallel products: Q and O,
        K and V, the fp32 log-sum-exp of a fused attention; gate, up and their product."""
        return 4 * self.a * self.d + 4 * self.g * self.d + 4 * self.a + 6 * self.f

    def forward_products(self, tokens, pairs, t=1, rows=None):
        """Operations of each product of one layer, and of the head ("output"): 2mnk. `pairs`
        are those of a query and a key that attention multiplies, QK^T and PV; `rows` those
        that experts work on. Tensor parallelism divides all of it by t."""
        rows = tokens if rows is None else rows
        whole = {
            "qkv_proj": 2 * tokens * self.h * self.qkv,
            "attention": 2 * 2 * pairs * self.a * self.d,
            "o_proj": 2 * tokens * self.a * self.d * self.h,
            "gate_up_proj": 2 * rows * self.h * 2 * self.f,
            "down_proj": 2 * rows * self.f * self.h,
            "output": 2 * tokens * self.h * self.V,
        }
        if self.E:
            whole["router"] = 2 * tokens * self.router
            whole["shared"] = 2 * tokens * self.shared * self.gated
        assert all(operations % t == 0 for operations in whole.values())
        return {op: operations // t for op, operations in whole.items()}


# Published hyperparameters. Llama 2: arXiv:2307.09288; Llama 3 and 3.1: arXiv:2407.21783;
# Mixtral: arXiv:2401.04088; and the config.json of the checkpoints. GPT-2: the checkpoint
# gpt2-xl; GPT-3: arXiv:2005.14165 and GPT-2's vocabulary; the other GPTs: table 3 of
# Korthikanti et al., arXiv:2205.05198, and table 1 of Narayanan et al., arXiv:2104.04473;
# they learn as many positions as sequences have tokens. PaLM: arXiv:2204.02311. The last
# number of a row is s of pretraining, which a model has without --seq.
_PUBLISHED = [
    Model("llama2-7b", 4096, 32, 32, 128, 11008, 32000, 32, 4096),
    Model("llama2-70b", 8192, 64, 8, 128, 28672, 32000, 80, 4096),
    Model("llama3-8b", 4096, 32, 8, 128, 14336, 128256, 32, 8192),
    Model("llama3-70b", 8192, 64, 8, 128, 28672, 128256, 80, 8192),
    Model("llama3.1-405b", 16384, 128, 8, 128, 53248, 128256, 126, 8192),
    Model("mixtral-8x7b", 4096, 32, 8, 128, 14336, 32000, 32, 4096, E=8, k=2),
    Model("mixtral-8x22b", 6144, 48, 8, 128, 16384, 32768, 56, 4096, E=8, k=2),
    # Without the encoder of images, with which it is called 109B.
    Model("llama4-scout", 5120, 40, 8, 128, 8192, 202048, 48, 8192, E=16, k=1, shared=1),
    Model("gpt2-1.5b", 1600, 25, 25, 64, 6400, 50257, 48, 1024),
    Model("gpt3-175b", 12288, 96, 96, 128, 49152, 50257, 96, 2048),
    Model("megatron-22b", 6144, 64, 64, 96, 24576, 51200, 48, 2048),
    Model("megatron-530b", 20480, 128, 128, 160, 81920, 51200, 105, 2048),
    Model("megatron-1t", 25600, 160, 160, 160, 102400, 51200, 128, 2048),
    Model("palm-8b", 4096, 16, 1, 256, 16384, 256000, 32, 2048),
    Model("palm-62b", 8192, 32, 1, 256, 32768, 256000, 64, 2048),
    Model("palm-540b", 18432, 48, 1, 256, 73728, 256000, 118, 2048),
]
LIBRARY = {model.name: model for model in _PUBLISHED}

# Elements of the tensors of the published checkpoints; those of GPT-3 by its description.
CHECKPOINTS = {
    "llama2-7b": 6_738_415_616,
    "llama2-70b": 68_976_648_192,
    "llama3-8b": 8_030_261_248,
    "llama3-70b": 70_553_706_496,
    "llama3.1-405b": 405_853_388_800,
    "mixtral-8x7b": 46_702_792_704,
    "mixtral-8x22b": 140_630_071_296,
    "llama4-scout": 107_769_861_120,
    "gpt2-1.5b": 1_557_611_200,
    "gpt3-175b": 174_604_259_328,
}


class RankClass:
    """What stg-compile says of ranks that do the same.

    It remembers for which collectives and messages a check has asked, so that those that
    no expectation names are found, too.
    """

    def __init__(self, entry):
        self.entry = entry
        self.asked = {"collectives": set(), "messages": set()}
        self.whole = False

    def __getitem__(self, key):
        return self.entry[key]

    @property
    def products(self):
        """Operations in products by phase."""
        return self.entry["matrix_operations_by_phase"]

    @property
    def states(self):
        """Bytes of each category throughout the step."""
        return self.entry["memory"]["persistent_bytes"]

    @property
    def largest(self):
        """Most bytes of each category."""
        return self.entry["memory"]["largest_bytes"]

    def _total(self, what, wanted):
        found = [i for i, e in enumerate(self.entry.get(what, [])) if wanted(e)]
        self.asked[what].update(found)
        entries = [self.entry[what][i] for i in found]
        return sum(e["count"] for e in entries), sum(e["bytes"] for e in entries)

    def collective(self, axes, kind, phase=None):
        """Count and bytes of the collectives of a kind over these axes ("cp+dp")."""
        return self._total(
            "collectives",
            lambda e: "+".join(e["axes"]) == axes and e["kind"] == kind and phase in (None, e["phase"]),
        )

    def sent(self, axis, phase=None):
        """Count and bytes of the messages that are sent along an axis."""
        self._total("messages", lambda e: e["kind"] == "recv" and e["axis"] == axis)
        return self._total(
            "messages",
            lambda e: e["kind"] == "send" and e["axis"] == axis and phase in (None, e["phase"]),
        )

    def collectives(self):
        """(kind, axes, group size, phase) -> (count, bytes), all there are."""
        self.whole = True
        return {
            (c["kind"], "+".join(c["axes"]), c["group_size"], c["phase"]): (c["count"], c["bytes"])
            for c in self.entry["collectives"]
        }

    def not_asked_for(self):
        """Where a check has asked for some, those for which it has not."""
        return [
            (e["kind"], "+".join(e.get("axes", [e.get("axis")])), e["phase"], e["count"], e["bytes"])
            for what, asked in self.asked.items()
            for i, e in enumerate(self.entry.get(what, []))
            if asked and i not in asked and not (self.whole and what == "collectives")
        ]


class Compiled:
    """What stg-compile --json says, and the folder of the traces if there are any."""

    def __init__(self, summary, folder=None):
        self.summary = summary
        self.folder = folder
        self.classes = [RankClass(entry) for entry in summary["classes"]]

    def __getitem__(self, key):
        return self.summary[key]

    @property
    def only(self):
        """The class of all ranks, where all do the same."""
        (entry,) = self.classes
        return entry

    def products(self):
        """Operations in products of all ranks together, by phase."""
        return traces.products(self.summary)


class Check:
    """Compares numbers, and remembers what differs and which commands it came from."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.comparisons = 0
        self.failures = []
        self.compiled = {}
        self.written = 0
        self.context = ""

    @property
    def context(self):
        """What is compared now; the commands of a failure are those since it was set."""
        return self._context

    @context.setter
    def context(self, text):
        self._context = str(text)
        self._commands = []

    def compile(self, model, plan=Plan(), *flags):
        """What a step is, without its files; each command is run once."""
        command = self._command(model, plan, flags) + ["--dry-run"]
        key = tuple(command)
        if key not in self.compiled:
            self.compiled[key] = Compiled(traces.compile_json(*command))
        return self.compiled[key]

    def write(self, model, plan=Plan(), *flags):
        """What a step is, with its files in a folder of their own."""
        self.written += 1
        folder = self.folder / str(self.written)
        command = self._command(model, plan, flags)
        return Compiled(traces.compile_json(*command, "-o", folder), folder)

    def _command(self, model, plan, flags):
        named = model.flags() if isinstance(model, Model) else [model]
        command = [*named, *plan.flags(), *flags]
        self._commands.append(" ".join(["stg-compile", *map(str, command)]))
        return command

    def equal(self, what, found, expected):
        """One number, or a list or dictionary in which nothing is missing or too much."""
        self.comparisons += 1
        if found != expected:
            lines = [f"{self.context}: {what}", *_difference(found, expected)]
            self.failures.append("\n  ".join(lines + self._commands))

    def finish(self):
        """Prints the outcome; the exit status."""
        for command, compiled in self.compiled.items():
            self.context = " ".join(["stg-compile", *command])
            for entry in compiled.classes:
                if any(entry.asked.values()):
                    self.equal("of which nothing is expected", entry.not_asked_for(), [])
        for failure in self.failures[:40]:
            print(failure)
        print(f"{self.comparisons} comparisons, {len(self.failures)} differ")
        return 1 if self.failures or not self.comparisons else 0


def _difference(found, expected):
    """Only the entries that differ, where both are dictionaries."""
    if not (isinstance(found, dict) and isinstance(expected, dict)):
        return [f"expected {expected}", f"found    {found}"]
    keys = sorted(set(found) | set(expected), key=str)
    return [
        f"{key}: expected {expected.get(key)}, found {found.get(key)}"
        for key in keys
        if found.get(key) != expected.get(key)
    ][:6]


def main(*functions):
    """Runs the checks that the command line names, each with the arguments that follow its
    name; the exit status says whether all numbers agree."""
    named = {function.__name__.replace("_", "-"): function for function in functions}
    calls = []
    for word in sys.argv[1:]:
        if word in named:
            calls.append((named[word], []))
        elif calls:
            calls[-1][1].append(word)
    if not calls or sys.argv[1] not in named:
        raise SystemExit(f"{inspect.getmodule(functions[0]).__doc__}\nChecks: {' '.join(named)}")
    gc.disable()  # Nothing here is cyclic, and traces are many small objects to look at.
    with tempfile.TemporaryDirectory() as folder:
        check = Check(folder)
        for function, arguments in calls:
            check.context = function.__name__
            function(check, *arguments)
        sys.exit(check.finish())
