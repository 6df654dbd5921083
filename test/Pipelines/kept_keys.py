"""Chunks of a prefill whose tokens are divided, under masks, on each rank.

Each query of a chunk sees keys that earlier steps have kept, and keys of the chunk. Here each pair
is counted one by one, of each rank, and with a ring of each block: which keys of which rank the
queries of a rank see. Attention executes 4 operations for each pair, head and element of a head.
What a rank keeps, and what it gathers or passes on, is its share of all keys that are there. Where
queries go round, a rank has the pairs of its keys with all queries instead.

Usage: kept_keys.py {pairs|blocks|bytes|auto|lists|squares|whole}... FOLDER
"""

import sys
from pathlib import Path

import comparing
import traces
from comparing import equal

HEADS, KEYS, SIZE, LAYERS = 4, 2, 8, 2
FIXED = dict(D=32, H=HEADS, K=KEYS, E=SIZE, F=48, V=64, L=LAYERS)
CP = 4


def is_seen(query, key, span, width):
    """Places are those in the whole sequence."""
    if span == "window" and query - key >= width:
        return False
    if span == "chunk" and query // width != key // width:
        return False
    return key <= query


def tokens_of(rank, begin, tokens, balance):
    """The places of a rank's share of so many tokens."""
    if balance == "none":
        each = tokens // CP
        return range(begin + rank * each, begin + (rank + 1) * each)
    each, last = tokens // (2 * CP), 2 * CP - 1 - rank
    return [*range(begin + rank * each, begin + (rank + 1) * each),
            *range(begin + last * each, begin + (last + 1) * each)]  # fmt: skip


def count_kept(cached, span, width, parts):
    """Keys of earlier steps that are there; ranks have equally many of a window."""
    if span == "window":
        return min(cached, -(-min(cached, width - 1) // parts) * parts)
    return cached % width if span == "chunk" else cached


def model_of(span, folder):
    """A decoder all of whose layers see that far."""
    text = (Path(__file__).parent / "Inputs" / "chunks.mlir").read_text()
    path = Path(folder) / f"{span}.mlir"
    path.write_text(text.replace('span = "chunk"', f'span = "{span}"'))
    return path


class Case:
    """One chunk of a prefill."""

    def __init__(self, folder, span, width, fresh, cached, exchange, balance):
        self.span, self.width, self.fresh, self.cached, self.balance = span, width, fresh, cached, balance
        self.exchange = exchange
        parts = CP if exchange == "a2a" or balance == "none" else 2 * CP
        self.kept = count_kept(cached, span, width, parts)
        values = FIXED | {"W": width or 1}
        self.step = [model_of(span, folder), "--batch=1", "--mode=prefill", f"--seq={fresh}", f"--kv-len={cached}"]
        self.step += [f"--set={k}={v}" for k, v in values.items()]
        self.plan = [f"--cp={CP}", f"--cp-comm-type={exchange}", f"--cp-balance={balance}"]
        self.name = f"{span} {width}, {fresh} after {cached}, {exchange} {balance}"

    @property
    def passed(self):
        """What goes round: `auto_p2p` takes queries where these are fewer bytes."""
        if self.exchange == "auto_p2p":
            return "queries" if self.fresh * HEADS < 2 * (self.kept + self.fresh) * KEYS else "keys"
        return "queries" if self.exchange == "query_p2p" else "keys"

    def block(self, rank, other):
        """The pairs of one step of the ring."""
        if self.passed == "queries":
            return self.pairs(self.queries(other), self.keys(rank))
        return self.pairs(self.queries(rank), self.keys(other))

    def pairs(self, queries, keys):
        return sum(is_seen(q, k, self.span, self.width) for q in queries for k in keys)

    def queries(self, rank):
        return tokens_of(rank, self.cached, self.fresh, self.balance)

    def keys(self, rank):
        """The share of what is kept, and that of the chunk."""
        first = self.cached - self.kept
        return [*tokens_of(rank, first, self.kept, self.balance), *self.queries(rank)]


def cases(folder):
    for exchange in ("all_gather", "p2p", "gather_p2p", "query_p2p", "auto_p2p", "a2a"):
        for balance in ("zigzag", "none"):
            if exchange == "a2a" and balance == "none":
                continue
            for span, width, fresh, cached in (
                ("full", 0, 16, 24), ("window", 5, 16, 24), ("window", 12, 32, 40), ("window", 30, 16, 24),
                ("window", 100, 16, 8), ("chunk", 16, 16, 24), ("chunk", 8, 24, 48), ("chunk", 64, 16, 40),
            ):  # fmt: skip
                yield Case(folder, span, width, fresh, cached, exchange, balance)


def operations(number):
    return LAYERS * 4 * number * HEADS * SIZE


def by_rank(summary):
    """The class of each rank."""
    found = {}
    for entry in summary["classes"]:
        place = entry["coordinates"].get("cp")
        for rank in [place] if place is not None else range(CP):
            found[rank] = entry
    return found


def pairs(folder):
    """What each rank executes, and all of them together."""
    for case in cases(folder):
        one = traces.products(traces.compile_json(*case.step, "--dry-run"))["fwd"]
        every = range(case.cached, case.cached + case.fresh)
        whole = operations(case.pairs(every, range(case.cached + case.fresh)))
        head = 2 * FIXED["D"] * FIXED["V"]
        rest = one - whole - head
        found = by_rank(traces.compile_json(*case.step, *case.plan, "--dry-run"))
        seen = 0
        for rank in range(CP):
            own = whole // CP
            if case.exchange.endswith("p2p"):
                own = operations(sum(case.block(rank, other) for other in range(CP)))
            elif case.exchange != "a2a":
                own = operations(case.pairs(case.queries(rank), range(case.cached + case.fresh)))
            equal(f"{case.name}, rank {rank}", found[rank]["matrix_operations_by_phase"], {"fwd": rest // CP + own + head})
            seen += own
        equal(f"{case.name}, all", seen, whole)


def blocks(folder):
    """In a ring a rank has a block for the keys of each rank of which it sees some."""
    for case in cases(folder):
        if not case.exchange.endswith("p2p"):
            continue
        written = Path(folder) / "ring"
        traces.run("stg-compile", *case.step, *case.plan, "-o", written, "--quiet")
        traces.run("stg-trace", "validate", written)
        for rank in range(CP):
            want = sorted(
                4 * HEADS * SIZE * number
                for other in range(CP)
                for number in [case.block(rank, other)]
                if number
            ) * LAYERS
            # Beside them, keys and values that were not in one piece are packed.
            found = sorted(
                int(node.attributes["num_ops"])
                for node in traces.nodes(written, rank)
                if node.type == "COMP" and node.op == "attention" and int(node.attributes["num_ops"]) > 1
            )
            equal(f"{case.name}, blocks of rank {rank}", found, sorted(want))


def bytes_of(folder):
    """What is kept, and what is communicated of it."""
    for case in cases(folder):
        keys = 2 * KEYS * SIZE * 2
        for rank, entry in by_rank(traces.compile_json(*case.step, *case.plan, "--dry-run")).items():
            room = case.cached + case.fresh
            if case.span != "full":
                room = min(room, case.width)
            # Heads that are replicated for an exchange are kept once.
            want = LAYERS * -(-room // CP) * keys
            equal(f"{case.name}, cache", entry["memory"]["persistent_bytes"]["kv_cache"], want)
            found = sum(c["bytes"] for c in entry["collectives"] if c["kind"] == "all_gather" and "cp" in c["axes"])
            there = case.kept + case.fresh
            if case.exchange == "all_gather":
                # The last layer's tokens, one of which has logits.
                stream = case.fresh // CP * FIXED["D"] * 2
                equal(f"{case.name}, gathered", found, LAYERS * there // CP * keys + stream)
            passes = case.exchange in ("p2p", "query_p2p", "auto_p2p")
            isQueries = passes and case.passed == "queries"
            part = case.fresh // CP * HEADS * SIZE * 2 if isQueries else there // CP * keys
            sent = {(kind, 1 if kind == "send" else -1): (LAYERS * (CP - 1), LAYERS * (CP - 1) * part) for kind in ("send", "recv")}
            equal(f"{case.name}, messages", comparing.messages(entry), sent if passes else {})
            # Of each query and head the output, and two fp32 numbers.
            parts = LAYERS * case.fresh * HEADS * (SIZE * 2 + 8)
            found = [(c["count"], c["bytes"]) for c in entry["collectives"] if c["kind"] == "all_to_all"]
            if case.exchange != "a2a":
                equal(f"{case.name}, exchanged", found, [(LAYERS, parts)] if isQueries else [])


def auto(folder):
    """Keys go round up to where queries are as many bytes, of rows and of chunks; where nothing is kept, keys do."""
    # With one head of keys for four of queries both are equal where as many tokens are kept as are new.
    flags = [model_of("full", folder), "--mode=prefill", *(f"--set={k}={v}" for k, v in (FIXED | {"W": 1, "K": 1}).items())]
    flags += [f"--cp={CP}", "--cp-comm-type=auto_p2p"]
    for batch in 1, 3:
        for fresh, cached in (32, 24), (32, 32), (32, 40), (32, 0):
            (entry,) = traces.compile_json(*flags, f"--batch={batch}", f"--seq={fresh}", f"--kv-len={cached}", "--dry-run")["classes"]
            queries, keys = fresh // CP * HEADS * SIZE * 2, 2 * (fresh + cached) // CP * SIZE * 2
            want = LAYERS * (CP - 1), LAYERS * (CP - 1) * batch * min(queries, keys)
            equal(f"auto, {batch} x {fresh} after {cached}", comparing.messages(entry)["send", 1], want)
            found = sum(c["count"] for c in entry["collectives"] if c["kind"] == "all_to_all")
            equal(f"auto, {batch} x {fresh} after {cached}: exchanged", found, LAYERS if queries < keys else 0)
            equal(f"auto, {batch} x {fresh} after {cached}: cache", entry["memory"]["persistent_bytes"]["kv_cache"],
                  LAYERS * batch * 2 * (fresh + cached) // CP * SIZE * 2)  # fmt: skip


REQUESTS = [(8, 24), (3, 0), (13, 40), (1, 8), (7, 16)]


class List:
    """Requests of a row: a rank has a share of the row of new tokens, and of what is kept of each request."""

    def __init__(self, folder, span, width, exchange, balance, count="executed", requests=REQUESTS):
        self.span, self.width, self.exchange, self.balance, self.count = span, width, exchange, balance, count
        self.requests = requests
        parts = CP * (1 if balance == "none" or exchange == "a2a" else 2)
        self.kept = [count_kept(cached, span, width, parts) for _, cached in requests]
        text = ",".join(f"({new},{cached})" for new, cached in requests)
        self.step = [model_of(span, folder), f"--requests={text}", f"--attention-count={count}"]
        self.step += [f"--set={k}={v}" for k, v in (FIXED | {"W": width or 1}).items()]
        self.plan = [f"--cp={CP}", f"--cp-comm-type={exchange}", f"--cp-balance={balance}"]
        self.name = f"list, {span} {width}, {count}, {exchange} {balance}"
        # Of each new token, in the order of the row, its request and its place in that.
        self.row = [(r, cached + i) for r, (new, cached) in enumerate(requests) for i in range(new)]

    def sees(self, query, key):
        """Of places that are (request, place)."""
        same = query[0] == key[0]
        return same and (self.count == "full" or is_seen(query[1], key[1], self.span, self.width))

    def queries(self, rank):
        return [self.row[i] for i in tokens_of(rank, 0, len(self.row), self.balance)]

    def keys(self, rank):
        there = enumerate(zip(self.requests, self.kept))
        kept = [(r, place) for r, ((_, cached), n) in there for place in tokens_of(rank, cached - n, n, self.balance)]
        return kept + self.queries(rank)

    def block(self, rank, other):
        ends = (rank, other) if self.exchange != "query_p2p" else (other, rank)
        queries, keys = self.queries(ends[0]), self.keys(ends[1])
        return sum(self.sees(q, k) for q in queries for k in keys)

    @property
    def whole(self):
        """Closed forms of each request; a window that is kept in shares may be longer where all is counted."""
        if self.count == "full":
            return sum(u * (kept + u) for (u, _), kept in zip(self.requests, self.kept))
        return sum(is_seen(q, k, self.span, self.width) for u, p in self.requests for q in range(p, p + u) for k in range(p + u))


def list_cases(folder):
    for balance in "zigzag", "none":
        for exchange in "p2p", "query_p2p", "gather_p2p", "all_gather":
            for count in "executed", "full":
                for span, width in ("full", 0), ("window", 5), ("window", 20), ("window", 100), ("chunk", 16):
                    yield List(folder, span, width, exchange, balance, count)


def check_list(case, written):
    """Each rank and each block of it, what it keeps and what it passes on; returns the pairs of all ranks."""
    one = traces.products(traces.compile_json(*case.step, "--dry-run"))["fwd"]
    plain = sum(u * (count_kept(p, case.span, case.width, 1) + u) for u, p in case.requests)
    alone = plain if case.count == "full" else case.whole
    head = len(case.requests) * 2 * FIXED["D"] * FIXED["V"]
    rest = one - operations(alone) - head
    found, seen = by_rank(traces.compile_json(*case.step, *case.plan, "--dry-run")), 0
    traces.run("stg-compile", *case.step, *case.plan, "-o", written, "--quiet")
    traces.run("stg-trace", "validate", written)
    for rank in range(CP):
        blocks = [case.block(rank, other) for other in range(CP)]
        what = f"{case.name}, rank {rank}"
        equal(what, found[rank]["matrix_operations_by_phase"], {"fwd": rest // CP + operations(sum(blocks)) + head})
        nodes = [node for node in traces.nodes(written, rank) if node.type == "COMP" and node.op == "attention"]
        numbers = [int(node.attributes["num_ops"]) for node in nodes if int(node.attributes["num_ops"]) > 1]
        parts = [sum(blocks)] if case.exchange == "all_gather" else blocks
        equal(f"{what}: blocks", sorted(numbers), sorted([4 * HEADS * SIZE * n for n in parts if n] * LAYERS))
        seen += sum(blocks)
        keys = 2 * KEYS * SIZE * 2
        room = sum(u + p if case.span == "full" else min(u + p, case.width) for u, p in case.requests)
        equal(f"{what}: cache", found[rank]["memory"]["persistent_bytes"]["kv_cache"], LAYERS * -(-room // CP) * keys)
        there = (sum(case.kept) + len(case.row)) // CP
        part = len(case.row) // CP * HEADS * SIZE * 2 if case.exchange == "query_p2p" else there * keys
        sent = comparing.messages(found[rank]).get(("send", 1))
        passes = case.exchange in ("p2p", "query_p2p")
        equal(f"{what}: sent", sent, (LAYERS * (CP - 1), LAYERS * (CP - 1) * part) if passes else None)
        if case.exchange == "all_gather":
            # Beside keys and values, tokens of which some have logits.
            gathered = sum(c["bytes"] for c in found[rank]["collectives"] if c["kind"] == "all_gather" and "cp" in c["axes"])
            equal(f"{what}: gathered", gathered, LAYERS * there * keys + len(case.row) // CP * FIXED["D"] * 2)
    return seen


def lists(folder):
    """Under each mask, of the pairs that are executed and of whole squares of each request."""
    for case in list_cases(folder):
        equal(f"{case.name}, all", check_list(case, Path(folder) / "list"), case.whole)


def squares(folder):
    """Whole squares of requests, u(p + u) each, however tokens are divided."""
    prompts = [(u, 0) for u, _ in REQUESTS]
    for balance in "zigzag", "none":
        for exchange in "p2p", "query_p2p", "gather_p2p", "all_gather", "a2a":
            if exchange != "a2a" or balance == "zigzag":
                for requests in prompts, REQUESTS:
                    case = List(folder, "full", 0, exchange, balance, "full", requests)
                    equal(f"{case.name}, closed form", case.whole, sum(u * (p + u) for u, p in requests))
                    check_pairs(case)


def whole(folder):
    """With a2a a rank executes all attention of some heads."""
    for span, width in ("full", 0), ("window", 5), ("window", 20), ("window", 100), ("chunk", 16):
        check_pairs(List(folder, span, width, "a2a", "zigzag"))


def check_pairs(case):
    """The products of each rank."""
    one = traces.products(traces.compile_json(*case.step, "--dry-run"))["fwd"]
    head = len(case.requests) * 2 * FIXED["D"] * FIXED["V"]
    rest = one - operations(case.whole) - head
    found = by_rank(traces.compile_json(*case.step, *case.plan, "--dry-run"))
    for rank in range(CP):
        own = operations(sum(case.block(rank, other) for other in range(CP)))
        if case.exchange == "a2a":
            own = operations(case.whole) // CP
        equal(f"{case.name}, rank {rank}", found[rank]["matrix_operations_by_phase"], {"fwd": rest // CP + own + head})


if __name__ == "__main__":
    for name in sys.argv[1:-1]:
        {"pairs": pairs, "blocks": blocks, "bytes": bytes_of, "auto": auto, "lists": lists, "squares": squares, "whole": whole}[name](sys.argv[-1])
    comparing.finish()
