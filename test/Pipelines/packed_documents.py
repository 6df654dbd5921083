"""Pairs of a query and a key under masks, on each rank of context parallelism.

Documents that are packed into a row, windows, chunks and a prefix leave some pairs, which are
counted here one by one. What attention of a rank executes is 4 operations for each pair, head
and element of a head in forward, and twice that in backward; the rest is the same on all ranks.
With a ring the blocks of a rank are those pairs that it has with the tokens of each other one.

Usage: packed_documents.py {documents|spans|squares|messages}...
"""

import checks
import traces
from checks import LIBRARY, Plan
from dataclasses import replace

SMALL = replace(LIBRARY["llama3-8b"], h=32, a=8, g=8, d=4, f=48, V=64, L=2, s=48)
ROWS = [[48], [5, 1, 30, 12], [24, 24], [16, 16, 16], [47, 1], [1] * 48]
BATCH = 2


def is_seen(query, key, documents, span, width, causal=True):
    begin = 0
    for tokens in documents:
        if query < begin + tokens:
            break
        begin += tokens
    if not begin <= key < begin + tokens:
        return False
    query, key = query - begin, key - begin
    if span == "prefix" and query < width and key < width:
        return True
    if span == "chunk" and query // width != key // width:
        return False
    if span == "window" and query - key >= width:
        return False
    return key <= query


def tokens_of(rank, cp, tokens, balance):
    if balance == "none":
        each = tokens // cp
        return range(rank * each, (rank + 1) * each)
    each = tokens // (2 * cp)
    last = 2 * cp - 1 - rank
    return [*range(rank * each, (rank + 1) * each), *range(last * each, (last + 1) * each)]


def pairs(documents, span, width, queries, keys):
    return sum(is_seen(q, k, documents, span, width) for q in queries for k in keys)


def attention(m, number):
    """Forward operations of so many pairs of each sequence, in all layers."""
    return BATCH * m.L * 4 * number * m.a * m.d


def by_rank(check, compiled, cp):
    """Operations in products of each rank of a ring, by phase."""
    found = {}
    for entry in compiled.classes:
        places = entry["coordinates"].get("cp")
        for place in [places] if places is not None else range(cp):
            found[place] = entry.products
    return found


def compare(check, m, flags, plan, documents, span, width):
    """All ranks against pairs that are counted one by one."""
    tokens = sum(documents)
    every = range(tokens)
    whole = attention(m, pairs(documents, span, width, every, every))
    one = check.compile(m, Plan(batch=BATCH), *flags).only.products
    rest = one["fwd"] - whole
    plain = check.compile(replace(m, s=tokens), Plan(batch=BATCH)).only.products
    square = attention(m, tokens * (tokens + 1) // 2)
    check.equal("one rank", rest, plain["fwd"] - square)
    found = by_rank(check, check.compile(m, plan, *flags), plan.cp)
    for rank in range(plan.cp):
        own = whole // plan.cp
        if plan.cp_comm_type != "a2a":
            queries = tokens_of(rank, plan.cp, tokens, plan.cp_balance)
            own = attention(m, pairs(documents, span, width, queries, every))
        want = {"fwd": rest // plan.cp + own, "bwd": 2 * (rest // plan.cp + own)}
        check.equal(f"rank {rank}", found[rank], want)


def exchanges(degrees):
    for cp in degrees:
        for kind in ("all_gather", "p2p", "gather_p2p", "a2a"):
            for balance in ("zigzag", "none"):
                if kind != "a2a" or balance == "zigzag":
                    yield Plan(cp=cp, cp_comm_type=kind, cp_balance=balance, batch=BATCH)


def documents(check):
    """Rows of documents."""
    m = replace(SMALL, s=LIBRARY["llama3-8b"].s)  # Documents say how long a row is.
    for row in ROWS:
        flags = ["--documents=" + ",".join(map(str, row))]
        for plan in exchanges((2, 4)):
            check.context = f"{row} {plan}"
            compare(check, m, flags, plan, row, None, None)


def spans(check):
    """A prefix of a row."""
    for width in (1, 7, 24, 48):
        for plan in exchanges((2, 4)):
            check.context = f"prefix {width} {plan}"
            compare(check, SMALL, [f"--prefix-tokens={width}"], plan, [SMALL.s], "prefix", width)


def squares(check):
    """Whole squares of documents, which see none of the others."""
    m = replace(SMALL, s=LIBRARY["llama3-8b"].s)
    for row in ROWS:
        flags = ["--documents=" + ",".join(map(str, row)), "--attention-count=full"]
        document = [number for number, tokens in enumerate(row) for _ in range(tokens)]
        whole = attention(m, sum(tokens * tokens for tokens in row))
        rest = check.compile(m, Plan(batch=BATCH), *flags).only.products["fwd"] - whole
        for plan in exchanges((2, 4)):
            check.context = f"squares of {row} {plan}"
            found = by_rank(check, check.compile(m, plan, *flags), plan.cp)
            for rank in range(plan.cp):
                own = whole // plan.cp
                if plan.cp_comm_type != "a2a":
                    queries = tokens_of(rank, plan.cp, len(document), plan.cp_balance)
                    own = attention(m, sum(row[document[query]] for query in queries))
                fwd = rest // plan.cp + own
                check.equal(f"rank {rank}", found[rank], {"fwd": fwd, "bwd": 2 * fwd})


def messages(check):
    """A ring passes keys on, whatever is seen of them: as many messages as without documents."""
    for balance in ("zigzag", "none"):
        plan = Plan(cp=4, cp_comm_type="p2p", cp_balance=balance, batch=BATCH)
        check.context = plan
        plain = check.compile(SMALL, plan).classes
        m = replace(SMALL, s=LIBRARY["llama3-8b"].s)
        packed = check.compile(m, plan, "--documents=5,1,30,12").classes
        sent = lambda entry: {phase: entry.sent("cp", phase) for phase in ("fwd", "bwd")}
        for entry in packed:
            check.equal("messages", sent(entry), sent(plain[0]))
        folder = check.write(m, plan, "--documents=5,1,30,12").folder
        traces.run("stg-trace", "validate", folder)


if __name__ == "__main__":
    checks.main(documents, spans, squares, messages)
