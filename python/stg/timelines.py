# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""When devices compute, if nothing but their dependencies and their speed counts."""

from __future__ import annotations

import re
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from .nodes import COLLECTIVE, COMPUTE, RECEIVE, SEND, Bundle, Node
from .tables import Table

_PHASES = re.compile(r"\.(fwd|bwd|recompute|opt|grad_sync)\b")
_TURN = re.compile(r"mb(\d+)\.")


class Span(NamedTuple):
    """What a rank computes without a break of a turn and a phase."""

    rank: int
    start: float
    """Seconds from the start of the step."""
    end: float
    turn: Optional[int]
    """The number of the micro-batch; None outside of them."""
    phase: str
    """"fwd", "bwd", "recompute", "grad_sync" or "opt"; empty if the name has none."""


class Timeline:
    """When ranks compute."""

    def __init__(self, spans: Iterable[Span]):
        self.spans: Tuple[Span, ...] = tuple(spans)

    @property
    def seconds(self) -> float:
        """How long the step takes."""
        return max((span.end for span in self.spans), default=0.0)

    def busy(self, rank: int) -> float:
        """Seconds in which a rank computes."""
        return sum(span.end - span.start for span in self.spans if span.rank == rank)

    def table(self) -> Table:
        """The spans as columns."""
        return Table.from_rows(self.spans, Span._fields)


class _Rank:
    """A rank while it is executed: its nodes in order, and when those before ended."""

    def __init__(self, bundle: Bundle, rank: int):
        self.rank = rank
        self.nodes = iter(bundle.nodes(rank))
        self.node: Optional[Node] = next(self.nodes, None)
        self.ends: List[float] = []
        self.free = 0.0
        self.spans: List[Span] = []

    def get_ready(self, node: Node) -> float:
        return max((self.ends[dep] for dep in node.data_deps + node.ctrl_deps), default=0.0)

    def finish(self, end: float) -> None:
        self.ends.append(end)
        self.node = next(self.nodes, None)

    def compute(self, node: Node, seconds: float) -> None:
        start = max(self.free, self.get_ready(node))
        self.free = start + seconds
        turn, phase = _TURN.search(node.name), _PHASES.search(node.name)
        key = (int(turn.group(1)) if turn else None, phase.group(1) if phase else "")
        last = self.spans[-1] if self.spans else None
        if last and last.end == start and (last.turn, last.phase) == key:
            self.spans[-1] = last._replace(end=self.free)
        else:
            self.spans.append(Span(self.rank, start, self.free, *key))
        self.finish(self.free)


def execute(bundle: Bundle, ranks: Optional[Iterable[int]] = None, *, peak_tflops: float = 900,
            memory_bandwidth: float = 3350) -> Timeline:
    """Executes the nodes of ranks in their order. A compute node takes as long as its operations at
    the peak rate, or its bytes at the bandwidth of the memory, whichever is longer. Communication
    takes no time: a message is there when it is sent, and a collective ends when all members that
    are executed have come to it. So this shows what a schedule makes idle, and is no estimate.

    ranks: those that are executed (all). What others would send is there at once.
    peak_tflops: 10^12 operations a second.
    memory_bandwidth: 10^9 bytes a second.

    Raises ValueError where ranks wait for each other.
    """
    chosen = list(range(bundle.num_ranks)) if ranks is None else sorted(set(ranks))
    states = {rank: _Rank(bundle, rank) for rank in chosen}
    groups = bundle.groups
    messages: Dict[Tuple[int, int, int], float] = {}
    # By group and number of the collective in it: when each member came.
    arrivals: Dict[Tuple[int, int], Dict[int, float]] = {}
    counts: Dict[Tuple[int, int], int] = {}

    def step(state: _Rank, node: Node) -> bool:
        """Executes the node; false if it has to wait."""
        if node.type == COMPUTE:
            state.compute(node, max((node.num_ops or 0) / (peak_tflops * 1e12),
                                    (node.tensor_size or 0) / (memory_bandwidth * 1e9)))
            return True
        ready = state.get_ready(node)
        if node.type in (SEND, RECEIVE):
            key = (node.source or 0, node.target or 0, node.tag or 0)
            if node.type == SEND:
                messages[key] = ready
            elif key[0] in states:
                if key not in messages:
                    return False
                ready = max(ready, messages[key])
        elif node.type == COLLECTIVE:
            group = node.group or 0
            number = counts.get((state.rank, group), 0)
            came = arrivals.setdefault((group, number), {})
            came[state.rank] = ready
            members = [rank for rank in groups[group - 1] if rank in states]
            if len(came) < len(members):
                return False
            counts[state.rank, group] = number + 1
            ready = max(came.values())
        state.finish(ready)
        return True

    progressed = True
    while progressed:
        progressed = False
        for state in states.values():
            while state.node is not None and step(state, state.node):
                progressed = True
    waiting = [state.rank for state in states.values() if state.node is not None]
    if waiting:
        raise ValueError(f"ranks {waiting} wait for each other")
    return Timeline(span for state in states.values() for span in state.spans)
