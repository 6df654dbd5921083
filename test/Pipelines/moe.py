"""Compares stg-compile with closed forms of Mixtral and of Llama 4 on a mesh with expert
parallelism.

The closed forms are computed here from published hyperparameters (arXiv:2401.04088 and
the config.json of the checkpoints), without a look at models/mixtral.mlir: h hidden
size, f feed-forward size of an expert, E experts of which a token goes through k, and one
that all tokens go through in Llama 4; T tokens of a rank, e expert-parallel, t tensor-parallel, c context-parallel and D
data-parallel degree. The plan is Megatron-LM's: e divides D, experts are divided among
e ranks and their columns among t; a rank sends the k copies of each of its tokens to the
ranks of their experts and gets them back, T*k*h elements each way, forward and backward.

Usage: moe.py FOLDER
"""

import sys
from collections import Counter
from dataclasses import dataclass

sys.dont_write_bytecode = True
from pathlib import Path  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
import traces  # noqa: E402

BF16, FP32 = 2, 4


@dataclass(frozen=True)
class Mixtral:
    """Published hyperparameters and count of parameters."""

    h: int
    a: int
    f: int
    V: int
    L: int
    published: int
    g: int = 8
    d: int = 128
    E: int = 8
    k: int = 2
    s: int = 4096
    shared: int = 0

    @property
    def attention(self):
        """Parameters of the projections of a layer: 2h*ad + 2h*gd."""
        return 2 * self.h * (self.a + self.g) * self.d

    @property
    def expert(self):
        """Parameters of one expert."""
        return 3 * self.h * self.f

    @property
    def router(self):
        """Parameters of one router."""
        return self.h * self.E

    @property
    def norms(self):
        """Two a layer and the last one."""
        return (2 * self.L + 1) * self.h

    @property
    def total(self):
        """All parameters; embedding and head are untied."""
        layer = self.attention + (self.E + self.shared) * self.expert + self.router
        return self.L * layer + self.norms + 2 * self.V * self.h


MODELS = {
    "mixtral-8x7b": Mixtral(4096, 32, 14336, 32000, 32, 46_702_792_704),
    "mixtral-8x22b": Mixtral(6144, 48, 16384, 32768, 56, 140_630_071_296),
    # Without the encoder of images, with which it is called 109B.
    "llama4-scout": Mixtral(5120, 40, 8192, 202048, 48, 107_769_861_120, E=16, k=1, s=8192, shared=1),
}


@dataclass(frozen=True)
class Plan:
    """Degrees and batch; capacity factor num/den; whether layers are replayed."""

    t: int = 1
    c: int = 1
    e: int = 1
    D: int = 1
    B: int = 1
    num: int = 1
    den: int = 1
    replay: bool = False
    regather: bool = False

    def flags(self):
        """The command line of stg-compile for it."""
        degrees = {"tp": self.t, "cp": self.c, "ep": self.e, "dp": self.D}
        flags = [f"--{name}={degree}" for name, degree in degrees.items()]
        flags += [f"--set=CN={self.num}", f"--set=CD={self.den}"]
        # Megatron-LM wants sequence parallelism where experts are tensor-parallel.
        flags += ["--sequence-parallel"] if self.t > 1 else []
        flags += ["--recompute=full"] if self.replay else []
        flags += ["--keep-gathered=none"] if self.regather else []
        return flags + [f"--batch={self.B}", "--attention-count=full"]


def expert_rows(m, plan):
    """Rows that all experts of a rank work on: the copies of the tokens of the ranks of
    a tensor-parallel group, scaled by the capacity factor."""
    rows = plan.B * m.s * m.k * plan.num
    assert rows % (plan.den * plan.D * plan.c) == 0
    return rows // (plan.den * plan.D * plan.c)


def local_parameters(m, plan):
    """Of a rank: experts over e and t, projections and vocabulary over t."""
    experts = m.L * m.E * m.expert // (plan.e * plan.t)
    projections = m.L * (m.attention + m.shared * m.expert) // plan.t
    vocabulary = 2 * m.V * m.h // plan.t
    return experts + projections + vocabulary + m.L * m.router + m.norms


def forward_products(m, plan):
    """Operations of each product of a layer, and of the head. The router works on the
    rank's part of the sequence."""
    T = plan.B * m.s // (plan.D * plan.c)
    rows = expert_rows(m, plan)
    return {
        "qkv_proj": 2 * T * m.h * (m.a + 2 * m.g) * m.d // plan.t,
        "attention": 4 * T * m.s * m.a * m.d // plan.t,
        "o_proj": 2 * T * m.a * m.d * m.h // plan.t,
        "router": 2 * T * m.h * m.E // plan.t,
        "gate_up_proj": 4 * rows * m.h * m.f // plan.t,
        "down_proj": 2 * rows * m.f * m.h // plan.t,
        "shared": 2 * T * m.shared * m.expert // plan.t,
        "output": 2 * T * m.h * m.V // plan.t,
    }


def expert_collectives(m, plan):
    """(kind, axes, phase) -> (count, bytes) of what belongs to the experts.

    In each layer and way: rows go to their experts by an all-to-all, are gathered over
    t, and the experts' sums are scattered over t and come back by an all-to-all. What
    forward gathered is kept for backward, as by Megatron-Core, or gathered again. Each
    step moves the rows that a rank has before it; a gather has one t-th as its input.
    """
    rows = expert_rows(m, plan) * m.h * BF16
    found = {}
    for phase in ("fwd", "bwd", "recompute") if plan.replay else ("fwd", "bwd"):
        if plan.e > 1:
            found["all_to_all", "ep", phase] = (2 * m.L, 2 * m.L * rows // plan.t)
        if plan.t > 1:
            assert not plan.replay
            again = m.L if phase == "bwd" and plan.regather else 0
            gathers = m.L + again
            found["all_gather", "tp", phase] = (gathers, gathers * rows // plan.t)
            found["reduce_scatter", "tp", phase] = (m.L, m.L * rows)
    return found


def check_total(check, m, plan, name):
    """Parameters and operations of one rank; the summary is returned."""
    summary = traces.compile_json(name, *plan.flags(), "--dry-run")
    (only,) = summary["classes"]
    parameters = only["memory"]["persistent_bytes"]["parameter"]
    check.equal("parameters", summary["parameters"], m.total)
    check.equal("local parameters", parameters, local_parameters(m, plan) * BF16)
    products = forward_products(m, plan)
    head = products.pop("output")
    forward = m.L * sum(products.values()) + head
    expected = {"fwd": forward, "bwd": 2 * forward}
    if plan.replay:
        expected["recompute"] = forward - head
    found = only["matrix_operations_by_phase"]
    check.equal("operations in products", found, expected)
    return summary


def check_gradients(check, m, plan, found):
    """Experts are reduced over the ranks that hold them, everything else over all ranks
    that divide the tokens. Without expert parallelism that is the same."""
    axes = {"cp": plan.c, "ep": plan.e, "edp": plan.D // plan.e}
    if plan.e == 1:
        axes = {"cp": plan.c, "dp": plan.D}
    experts = m.L * m.E * m.expert // (plan.e * plan.t)
    others = local_parameters(m, plan) - experts
    expected = Counter()
    for elements, without in ((experts, "ep"), (others, None)):
        over = [axis for axis in axes if axes[axis] > 1 and axis != without]
        if over:
            expected["+".join(over)] += elements * FP32
    sizes = {
        axes: size
        for (kind, axes, phase), (_, size) in found.items()
        if kind == "all_reduce" and phase == "grad_sync" and axes != "tp"
    }
    check.equal("gradients", sizes, dict(expected))


def exchanges(nodes):
    """Counts of (kind, phase, bytes) of what belongs to the experts, in a file."""
    ops = ("dispatch", "combine", "gate_up_proj", "down_proj")
    return Counter(
        (node.kind, node.phase, node.attributes["comm_size"])
        for node in nodes
        if node.type == "COMM_COLL" and node.op in ops
    )


def check_plan(check, m, plan, name):
    """Totals of one plan of a model."""
    check.context = f"{name} {plan}"
    summary = check_total(check, m, plan, name)
    found = {
        (kind, axes, phase): total
        for (kind, axes, _, phase), total in traces.json_collectives(summary).items()
    }
    exchanged = {key: total for key, total in found.items() if key[0] == "all_to_all"}
    expected = expert_collectives(m, plan).items()
    expected = {key: total for key, total in expected if key[0] == "all_to_all"}
    check.equal("all-to-alls", exchanged, expected)
    check_gradients(check, m, plan, found)


def loaded_rows(m, plan, loads):
    """Rows of each rank of e under given loads of experts. The tokens' rows of an
    expert-parallel group are cut where an expert's share ends, rounded up; ranks of t
    have their own tokens."""
    rows = plan.e * expert_rows(m, plan) // plan.t
    ends = [0]
    for rank in range(plan.e):
        own = m.E // plan.e
        ends.append(-(-rows * sum(loads[: (rank + 1) * own]) // sum(loads)))
    return [plan.t * (end - begin) for begin, end in zip(ends, ends[1:])]


def check_loads(check, m, plan, name, loads):
    """Ranks of e execute what their experts get, together as much as with uniform
    routing; all-to-alls have the size of the most loaded one."""
    check.context = f"{name} {plan} {loads}"
    histogram = "--expert-histogram=" + ",".join(map(str, loads))
    summary = traces.compile_json(name, *plan.flags(), histogram, "--dry-run")
    rows = loaded_rows(m, plan, loads)
    check.equal("rows", sum(rows), plan.e * expert_rows(m, plan))
    for entry in summary["classes"]:
        own = rows[entry["coordinates"]["ep"]]
        products = forward_products(m, plan)
        head = products.pop("output")
        products["gate_up_proj"] = 4 * own * m.h * m.f // plan.t
        products["down_proj"] = 2 * own * m.f * m.h // plan.t
        forward = m.L * sum(products.values()) + head
        expected = {"fwd": forward, "bwd": 2 * forward}
        if plan.replay:
            expected["recompute"] = forward - head
        check.equal("operations in products", entry["matrix_operations_by_phase"], expected)
        sizes = {c["bytes"] // c["count"] for c in entry["collectives"] if c["kind"] == "all_to_all"}
        check.equal("all-to-alls", sizes, {max(rows) // plan.t * m.h * BF16})
    check.equal("classes", sum(entry["ranks"] for entry in summary["classes"]), summary["ranks"])


def check_file(check, m, plan, name, folder):
    """What belongs to the experts in a written trace: count and bytes of each call."""
    check.context = f"{name} {plan} files"
    traces.compile_json(name, *plan.flags(), "--set=L=2", "--ranks=0:1", "-o", folder)
    expected = Counter()
    for (kind, _, phase), (count, size) in expert_collectives(m, plan).items():
        expected[kind, phase, size // count] += count // m.L * 2
    check.equal("exchanges", exchanges(traces.nodes(folder)), expected)


def check_published(check):
    """Numbers that others publish for Mixtral 8x7B."""
    m = MODELS["mixtral-8x7b"]
    check.context = "published"
    check.equal("block", m.router + m.E * m.expert, 1_409_318_912)
    products = forward_products(m, Plan())
    block = products["router"] + products["gate_up_proj"] + products["down_proj"]
    check.equal("block, operations of a token", block // m.s, 704_708_608)
    summary = traces.compile_json("mixtral-8x7b", *Plan().flags(), "--dry-run")
    (only,) = summary["classes"]
    step = sum(only["matrix_operations_by_phase"].values())
    check.equal("one sequence", step, 339_697_553_375_232)
    # 4096 tokens of a rank: each all-to-all moves 64 MiB.
    plan = Plan(e=8, D=8, B=8)
    summary = traces.compile_json("mixtral-8x7b", *plan.flags(), "--dry-run")
    for (kind, _, _, _), (count, size) in traces.json_collectives(summary).items():
        if kind == "all_to_all":
            check.equal("payload", size // count, 67_108_864)


PLANS = [
    Plan(),
    Plan(B=2, num=5, den=4),
    Plan(D=2, B=2),
    Plan(e=8, D=8, B=8),
    Plan(e=4, D=8, B=16),
    Plan(e=4, D=8, B=8, replay=True),
    Plan(t=2, e=2, D=4, B=4),
    Plan(t=4, e=8, D=16, B=16, num=3, den=2),
    Plan(t=2, e=2, D=4, B=4, regather=True),
    Plan(t=2, c=2, e=4, D=8, B=8),
    Plan(c=2, e=2, D=2, B=2, num=2),
]


def main(folder):
    """The exit status says whether all numbers agree."""
    check = traces.Checker()
    check_published(check)
    for name, m in MODELS.items():
        check.context = name
        check.equal("published parameters", m.total, m.published)
        for plan in PLANS:
            check_plan(check, m, plan, name)
        for plan in PLANS:
            if plan.e > 1 and plan.num == plan.den:
                for loads in ([3, 1, 0, 4, 1, 1, 5, 2], [1, 0.5, 0.125, 0, 0, 0, 0, 2]):
                    check_loads(check, m, plan, name, loads + [1] * (m.E - len(loads)))
    plans = [plan for plan in PLANS if plan.e > 1]
    for number, plan in enumerate(plans):
        name = "mixtral-8x7b"
        path = Path(folder) / str(number)
        check_file(check, MODELS[name], plan, name, path)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
