"""Compares losses of routers with closed forms.

The loss that balances experts (Switch Transformer, arXiv:2101.03961, equation 4) is, of T tokens of
which each has k of E experts, E/(k T^2) times the sum over experts of how often one was chosen times
the sum of its scores over the tokens. Megatron-LM counts choices over the ranks that divide the
tokens of a micro-batch (tp with sequence parallelism, and cp), and each of them takes the scores of
its own tokens, so that only the counts are summed. DeepSeek has such a loss of each sequence
(arXiv:2405.04434, section 2.2.3), and ST-MoE the mean square of the log-sum-exp of the logits
(arXiv:2202.08906, equation 5).

Operations of a token: one for each choice that is counted, a product and a sum for each score, and
backward a product for each score, which is added to the gradient that the weights of experts have.
Of the logits' loss: maximum, difference, exponential and sum of each logit, logarithm, sum and square
of their sum; backward difference, exponential and product of each logit and two products of the
token, and the sum of both gradients of the logits.

Usage: router_losses.py {operations|collectives|saved|configurations}...
"""

import json
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import checks
import traces
from checks import BF16, FP32, LIBRARY, Plan

SMALL = replace(LIBRARY["mixtral-8x7b"], h=32, a=8, g=4, d=4, f=48, V=64, L=4, s=32, E=16, k=2)
B = 16
T = B * SMALL.s
BALANCES = ("batch", "sequence", "global")


def step(tp, cp, dp, ep, **others):
    return Plan(tp=tp, cp=cp, dp=dp, ep=ep, batch=B, sequence_parallel=True, **others)


PLANS = (
    step(1, 1, 1, 1), step(2, 1, 1, 1), step(1, 2, 1, 1), step(1, 2, 2, 1, cp_comm_type="p2p"), step(2, 2, 2, 2),
    step(2, 1, 4, 4, zero=3), step(2, 2, 2, 2, pp=2, micro_batch=2), step(1, 1, 4, 2, micro_batch=1),
    step(2, 1, 2, 1, recompute="full"), step(4, 1, 2, 4, etp=2),
)


def summary(plan, *flags, model=SMALL):
    return traces.compile_json(*model.flags(), "--dry-run", *plan.flags(), *flags)


def operations_of(found):
    """Of all ranks, by phase, and the parameters."""
    total = Counter()
    for entry in found["classes"]:
        for phase, number in entry["operations_by_phase"].items():
            total[phase] += number * entry["ranks"]
    return total


def collectives_of(found):
    """(class, kind, axes, phase) -> (count, bytes)."""
    total = {}
    for entry in found["classes"]:
        for c in entry["collectives"]:
            key = (entry["graph"], c["kind"], str(c.get("axes")), c["phase"])
            count, size = total.get(key, (0, 0))
            total[key] = (count + c["count"], size + c["bytes"])
    return total


def balance_operations(E, k):
    return {"fwd": k + 2 * E, "bwd": E + E}


def z_operations(E):
    return {"fwd": 4 * E + 3, "bwd": 3 * E + 2 + E}


def operations(check):
    """What a loss adds is the same in all ranks together as in one; parameters are the same."""
    for plan in PLANS:
        plain = summary(plan)
        for flags, each in (
            *((["--router-loss", kind], balance_operations(SMALL.E, SMALL.k)) for kind in BALANCES),
            (["--router-z-loss"], z_operations(SMALL.E)),
        ):
            check.context = f"{plan} {' '.join(flags)}"
            found = summary(plan, *flags)
            more = operations_of(found)
            more.subtract(operations_of(plain))
            want = {phase: SMALL.L * T * number for phase, number in each.items()}
            if plan.recompute == "full":
                want["recompute"] = want["fwd"]
            check.equal("operations", {phase: n for phase, n in more.items() if n}, want)
            check.equal("products", traces.products(found), traces.products(plain))
            check.equal("parameters", found["parameters"], plain["parameters"])


def collectives(check):
    """An all-reduce of the counts over each axis that divides what is counted together; the rest
    communicates as before."""
    for plan in PLANS:
        plain = collectives_of(summary(plan))
        check.context = f"{plan} --router-z-loss"
        check.equal("collectives", collectives_of(summary(plan, "--router-z-loss")), plain)
        for kind in BALANCES:
            check.context = f"{plan} --router-loss {kind}"
            more = Counter()
            for key, (count, size) in collectives_of(summary(plan, "--router-loss", kind)).items():
                before = plain.get(key, (0, 0))
                if (count, size) != before:
                    more[key[0], key[1], key[3]] += count - before[0]
                    check.equal("bytes of one", (size - before[1]) / (count - before[0]),
                                counted(plan, kind) * SMALL.E * FP32)
            # tp, and cp with the data ranks, which are one group.
            groups = (plan.tp > 1) + (plan.cp > 1 or (kind == "global" and plan.dp > 1))
            each = SMALL.L // plan.pp * plan.micro_batches * groups
            want = Counter()
            for entry in {key[0] for key in plain} if plain else ():
                for phase in ("fwd", "recompute") if plan.recompute == "full" else ("fwd",):
                    want[entry, "all_reduce", phase] = each
            check.equal("sums of counts", +more, +want)


def counted(plan, kind):
    """Rows of counts that a rank has of a micro-batch."""
    return plan.batch // plan.dp // plan.micro_batches if kind == "sequence" else 1


def saved(check):
    """Until backward: the counts, the logits, which nothing else keeps, and their log-sum-exp."""
    kept = lambda found: found["classes"][0]["memory"]["largest_bytes"]["activation"]
    for plan in (step(1, 1, 1, 1), step(1, 2, 1, 1), step(2, 2, 2, 2)):
        tokens = T // (plan.tp * plan.cp * plan.dp)
        plain = kept(summary(plan))
        for kind in BALANCES:
            check.context = f"{plan} --router-loss {kind}"
            more = SMALL.L * counted(plan, kind) * SMALL.E * FP32
            check.equal("saved", kept(summary(plan, "--router-loss", kind)) - plain, more)
        check.context = f"{plan} --router-z-loss"
        more = SMALL.L * tokens * (SMALL.E * BF16 + FP32)
        check.equal("saved", kept(summary(plan, "--router-z-loss")) - plain, more)


def configurations(check):
    """transformers adds the loss where `output_router_logits` is set and its coefficient is not 0.
    A step of inference has none."""
    E, k, layers = 8, 2, 3
    sizes = dict(vocab_size=64, hidden_size=32, num_hidden_layers=layers, num_attention_heads=4,
                 num_key_value_heads=2, max_position_embeddings=32)
    kinds = {
        # A softmax that the router has made; of sigmoids their shares; of what is compared another softmax.
        "mixtral": (dict(intermediate_size=32, num_local_experts=E, num_experts_per_tok=k), 0, 0),
        "gpt_oss": (dict(intermediate_size=32, num_local_experts=E, num_experts_per_tok=k, head_dim=8,
                         layer_types=["full_attention"] * layers), 5 * E, 4 * E),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.json"
        compiled = lambda keys, *flags: (
            path.write_text(json.dumps({**sizes, **keys})),
            traces.compile_json(path, "--batch=4", "--seq=32", "--dry-run", *flags),
        )[1]
        for family, (keys, fwd, bwd) in kinds.items():
            check.context = family
            keys = {"model_type": family, **keys}
            plain = operations_of(compiled(keys))
            want = balance_operations(E, k)
            want = {"fwd": want["fwd"] + fwd, "bwd": want["bwd"] + bwd}
            for on, coefficient in ((False, 0.1), (True, 0.0), (True, 0.1)):
                found = compiled({**keys, "output_router_logits": on, "router_aux_loss_coef": coefficient})
                more = operations_of(found)
                more.subtract(plain)
                each = want if on and coefficient else {}
                check.equal(f"{on}, {coefficient}", {phase: n for phase, n in more.items() if n},
                            {phase: layers * 4 * 32 * n for phase, n in each.items()})
            loud = {**keys, "output_router_logits": True}
            check.equal("flag", operations_of(compiled(loud, "--router-loss=none")), plain)
            check.equal("same loss", operations_of(compiled(loud)), operations_of(compiled(keys, "--router-loss=batch")))
            for flags in (["--mode=prefill"], ["--kv-len=31"]):
                check.equal("inference", operations_of(compiled(loud, *flags)), operations_of(compiled(keys, *flags)))
        # Scores of DeepSeek 3 are sigmoids.
        check.context = "deepseek_v3"
        keys = dict(model_type="deepseek_v3", intermediate_size=48, moe_intermediate_size=16, n_routed_experts=E,
                    num_experts_per_tok=k, n_group=1, topk_group=1, first_k_dense_replace=1, n_shared_experts=1,
                    q_lora_rank=16, kv_lora_rank=8, qk_nope_head_dim=8, qk_rope_head_dim=4, v_head_dim=8)
        keys["num_key_value_heads"] = 4
        more = operations_of(compiled(keys, "--router-loss=sequence"))
        more.subtract(operations_of(compiled(keys)))
        want = balance_operations(E, k)
        want = {"fwd": want["fwd"] + 2 * E, "bwd": want["bwd"] + 4 * E}
        check.equal("sigmoids", {phase: n for phase, n in more.items() if n},
                    {phase: (layers - 1) * 4 * 32 * n for phase, n in want.items()})


if __name__ == "__main__":
    checks.main(operations, collectives, saved, configurations)
