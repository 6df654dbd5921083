"""Compares T5 on any number of pipeline stages with closed forms.

L layers of the encoder are followed by M of the decoder, and p stages of v virtual ones each cut
that row of layers into equal parts, wherever the cuts fall. Before a cut within the encoder only its stream
travels; at its end and behind it what the encoder has made, which all later layers read; within
the decoder the decoder's stream, too. Gradients go the same ways back. The shared table is read
where the encoder and the decoder begin and by the head, a table of relative positions by all
layers of its stack: the gradient of a table that several ranks have is all-reduced among them,
once per step, and those of tables that the same ranks have, at once. From ZeRO-2 on each
data-parallel rank has a shard of it.

Gradients are compared where none is in two parts: a rank with several stages that read a table
has one for each, and with halves of backward passes those of norms are no gradients at first.

Usage: t5_stages.py stages
"""

import json

import checks
from checks import BF16, FP32, Plan

B, S, T, D, H, E, F, V, N = 12, 6, 10, 16, 2, 6, 20, 40, 8
MICRO = 2
# Schedule, virtual stages, and the rank of a stage.
SCHEDULES = {
    "gpipe": (1, lambda p, stage: stage),
    "1f1b": (1, lambda p, stage: stage),
    "zb-h1": (1, lambda p, stage: stage),
    "interleaved": (2, lambda p, stage: stage % p),
    "zb-v": (2, lambda p, stage: min(stage, 2 * p - 1 - stage)),
    "dualpipe-v": (2, lambda p, stage: min(stage, 2 * p - 1 - stage)),
}
# Of both stacks, and numbers of ranks; some cuts fall between the stacks, and others do not.
DEPTHS = {(5, 7): (1, 2, 3, 4, 6, 12), (8, 8): (2, 4, 8, 16), (1, 3): (2, 4), (9, 3): (2, 3, 6)}


def config(encoder, decoder):
    return {
        "model_type": "t5", "d_model": D, "d_kv": E, "num_heads": H, "d_ff": F, "vocab_size": V,
        "num_layers": encoder, "num_decoder_layers": decoder, "relative_attention_num_buckets": N,
    }  # fmt: skip


class Stages:
    """What each rank has to do."""

    def __init__(self, encoder, decoder, p, schedule):
        virtual, rank_of = SCHEDULES[schedule]
        self.encoder, self.count = encoder, p * virtual
        self.layers = encoder + decoder
        self.each = self.layers // self.count
        self.rank_of = [rank_of(p, stage) for stage in range(self.count)]

    def rank_of_layer(self, layer):
        return self.rank_of[layer // self.each]

    def readers(self):
        """Parameters that several ranks may read, and which do."""
        return {
            V * D: {self.rank_of_layer(layer) for layer in (0, self.encoder, self.layers - 1)},
            # Of the encoder and of the decoder.
            (N * H, 0): {self.rank_of_layer(layer) for layer in range(self.encoder)},
            (N * H, 1): {self.rank_of_layer(layer) for layer in range(self.encoder, self.layers)},
        }

    def parameters(self, rank):
        attention, network = 4 * D * H * E + D, 2 * D * F + D
        total = sum(
            attention * (1 if layer < self.encoder else 2) + network
            for layer in range(self.layers) if self.rank_of_layer(layer) == rank
        )  # fmt: skip
        for size, ranks in self.readers().items():
            total += (size if isinstance(size, int) else size[0]) * (rank in ranks)
        # The last norm of each stack.
        return total + D * sum(self.rank_of_layer(last - 1) == rank for last in (self.encoder, self.layers))

    def operations(self, rank):
        """In products, forward."""
        width = H * E
        project = lambda tokens, number: 2 * B * tokens * D * width * number
        network = lambda tokens: 2 * 2 * B * tokens * D * F
        pairs = lambda number: 2 * 2 * B * number * width
        encoder = project(T, 4) + pairs(T * T) + network(T)
        own = project(S, 4) + pairs(S * (S + 1) // 2)
        decoder = own + project(S, 2) + project(T, 2) + pairs(S * T) + network(S)
        total = sum(
            encoder if layer < self.encoder else decoder
            for layer in range(self.layers) if self.rank_of_layer(layer) == rank
        )  # fmt: skip
        return total + 2 * B * S * D * V * (self.rank_of_layer(self.layers - 1) == rank)

    def messages(self, rank):
        """Count and bytes of what the rank sends, forward and backward."""
        sent = {"fwd": (0, 0), "bwd": (0, 0)}
        for stage in range(self.count - 1):
            cut = (stage + 1) * self.each
            tokens = (T if cut <= self.encoder else S + T) * B
            here, there = self.rank_of[stage], self.rank_of[stage + 1]
            for phase, source in ("fwd", here), ("bwd", there):
                if here != there and source == rank:
                    count, size = sent[phase]
                    sent[phase] = (count + B // MICRO, size + tokens * D * BF16)
        return sent

    def reductions(self, rank, shards):
        """Number of ranks -> count and bytes of the sums over stages."""
        groups = {}
        for size, ranks in self.readers().items():
            if rank in ranks and len(ranks) > 1:
                size = size if isinstance(size, int) else size[0]
                group = frozenset(ranks)
                groups[group] = groups.get(group, 0) + size * FP32 // shards
        result = {}
        for group, size in groups.items():
            count, total = result.get(len(group), (0, 0))
            result[len(group)] = (count + 1, total + size)
        return result


def compare(check, file, depths, p, schedule, dp=1, zero=0):
    """`dp` times the batch: each data-parallel rank has the same."""
    virtual = SCHEDULES[schedule][0]
    plan = Plan(
        dp=dp, pp=p, batch=dp * B, micro_batch=MICRO, virtual_stages=virtual, zero=zero,
        schedule=schedule if p > 1 else None,
    )  # fmt: skip
    stages = Stages(*depths, p, schedule)
    compiled = check.compile(str(file), plan, f"--seq={S}", f"--set=T={T}")
    check.equal("ranks that differ", len(compiled.classes), p)
    for rank, found in enumerate(compiled.classes):
        check.context = f"{depths} layers, rank {rank} of {p}, {schedule}"
        forward = stages.operations(rank)
        check.equal("products", found.products, {"fwd": forward, "bwd": 2 * forward})
        if zero == 0:
            check.equal("parameters", found.states["parameter"], BF16 * stages.parameters(rank))
            if schedule in ("gpipe", "1f1b"):
                check.equal("gradients", found.largest["gradient"], FP32 * stages.parameters(rank))
        for phase, sent in stages.messages(rank).items():
            check.equal(f"messages, {phase}", found.sent("pp", phase), sent)
        reduced = {
            ranks: total
            for (kind, axes, ranks, phase), total in found.collectives().items() if axes == "pp"
        }  # fmt: skip
        check.equal("sums over stages", reduced, stages.reductions(rank, dp if zero > 1 else 1))


def stages(check):
    """All depths, ranks and schedules that divide them."""
    for depths, degrees in DEPTHS.items():
        file = check.folder / "t5.json"
        file = file.with_stem(f"t5-{depths[0]}-{depths[1]}")
        file.write_text(json.dumps(config(*depths)))
        for p in degrees:
            for schedule, (virtual, _) in SCHEDULES.items():
                is_divided = sum(depths) % (p * virtual) == 0
                has_batches = (schedule != "interleaved" or (B // MICRO) % p == 0) and (
                    schedule != "dualpipe-v" or B // MICRO >= 2 * p)
                if is_divided and has_batches and (p > 1 or schedule == "1f1b"):
                    compare(check, file, depths, p, schedule)
                    for zero in (0, 1, 2, 3) if depths == (5, 7) and p in (2, 3) else ():
                        compare(check, file, depths, p, schedule, dp=2, zero=zero)


if __name__ == "__main__":
    checks.main(stages)
