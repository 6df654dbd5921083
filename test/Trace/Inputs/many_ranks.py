"""Prints a trace of 70 ranks as make_trace.py takes it."""

import sys

RANKS = 70


def ring(rank):
    """Each rank sends to the next one before it receives."""
    return [
        "send 0 to=%d tag=0" % ((rank + 1) % RANKS),
        "comp 1 ctrl=0",
        "recv 2 from=%d tag=0 data=1" % ((rank - 1) % RANKS),
    ]


def different(rank):
    """Ranks 5 and 30 do not do what others do."""
    return [
        "coll 0 size=%d" % (22400 if rank == 5 else 11200),
        "send 1 to=%d tag=%d ctrl=0" % (rank ^ 1, 9 if rank == 30 else 0),
        "recv 2 from=%d tag=0 ctrl=0" % (rank ^ 1),
    ]


def halves(rank):
    """A rank of the second half does something else than its partner."""
    half = RANKS // 2
    return [
        "coll 0 group=%d type=%d" % (rank % half + 1, 2 if rank >= half else 0)
    ]


GROUPS = {
    ring: "",
    different: '"1": %s' % list(range(RANKS)),
    halves: ", ".join(
        '"%d": [%d, %d]' % (i + 1, i, i + RANKS // 2) for i in range(RANKS // 2)
    ),
}

case = {"ring": ring, "different": different, "halves": halves}[sys.argv[1]]
for number in range(RANKS):
    print("//--- w.%d.et\nmeta" % number)
    print("\n".join(case(number)))
print("//--- comm_group.json\n{%s}" % GROUPS[case])
