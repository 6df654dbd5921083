# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""When devices compute, if nothing but their dependencies and their speed counts."""

from __future__ import annotations

import re
from collections import deque
from typing import Deque, Dict, Iterable, List, NamedTuple, Optional, Tuple

from .arguments import check_above, check_type, to_list, to_rank
from .nodes import COLLECTIVE, COMPUTE, LOAD, SEND, STORE, Bundle, Node
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
    """A rank while it is executed: nodes by id, when they ended, and how many others each waits
    for."""

    def __init__(self, bundle: Bundle, rank: int):
        self.rank = rank
        self.nodes = list(bundle.nodes(rank))
        self.ends: Dict[int, float] = {}
        self.missing: Dict[int, int] = {}
        self.users: Dict[int, List[int]] = {}
        for node in self.nodes:
            deps = set(node.data_deps + node.ctrl_deps)
            self.missing[node.id] = len(deps)
            for dep in deps:
                self.users.setdefault(dep, []).append(node.id)
        self.free = 0.0
        self.spans: List[Span] = []

    def get_ready(self, node: Node) -> float:
        return max((self.ends[dep] for dep in node.data_deps + node.ctrl_deps), default=0.0)

    def compute(self, node: Node, seconds: float) -> float:
        start = max(self.free, self.get_ready(node))
        self.free = start + seconds
        turn, phase = _TURN.search(node.name), _PHASES.search(node.name)
        key = (int(turn.group(1)) if turn else None, phase.group(1) if phase else "")
        last = self.spans[-1] if self.spans else None
        if last and last.end == start and (last.turn, last.phase) == key:
            self.spans[-1] = last._replace(end=self.free)
        else:
            self.spans.append(Span(self.rank, start, self.free, *key))
        return self.free


class _Execution:
    """All ranks, and what they wait for from each other."""

    def __init__(self, bundle: Bundle, ranks: Iterable[int], peak: float, bandwidth: float):
        self.ranks = {rank: _Rank(bundle, rank) for rank in ranks}
        self.peak, self.bandwidth = peak, bandwidth
        self.members = [[rank for rank in group if rank in self.ranks] for group in bundle.groups]
        self.ready: Deque[Tuple[_Rank, Node]] = deque()
        # Messages by source, target and tag: when it was sent, or who waits for it.
        self.sent: Dict[Tuple[int, int, int], float] = {}
        self.receivers: Dict[Tuple[int, int, int], Tuple[_Rank, Node]] = {}
        # By group and number of the collective in it: who came.
        self.came: Dict[Tuple[int, int], List[Tuple[_Rank, Node]]] = {}
        self.counts: Dict[Tuple[int, int], int] = {}

    def run(self) -> None:
        for state in self.ranks.values():
            self.ready.extend((state, node) for node in state.nodes
                              if state.missing[node.id] == 0)
        while self.ready:
            state, node = self.ready.popleft()
            if node.type == COMPUTE:
                self.finish(state, node, state.compute(node, self.get_seconds(node)))
            elif node.type in (LOAD, STORE):
                raise ValueError("transfers to and from the host have no bandwidth here")
            elif node.type == COLLECTIVE:
                self.join(state, node)
            else:
                self.exchange(state, node)
        waiting = [state.rank for state in self.ranks.values()
                   if len(state.ends) < len(state.nodes)]
        if waiting:
            raise ValueError(f"ranks {waiting} wait for each other")

    def get_seconds(self, node: Node) -> float:
        return max((node.num_ops or 0) / self.peak, (node.tensor_size or 0) / self.bandwidth)

    def finish(self, state: _Rank, node: Node, end: float) -> None:
        state.ends[node.id] = end
        for user in state.users.get(node.id, ()):
            state.missing[user] -= 1
            if state.missing[user] == 0:
                self.ready.append((state, state.nodes[user]))

    def exchange(self, state: _Rank, node: Node) -> None:
        key = (node.source or 0, node.target or 0, node.tag or 0)
        time = state.get_ready(node)
        if node.type == SEND:
            self.sent[key] = time
            self.finish(state, node, time)
            if key in self.receivers:
                self.exchange(*self.receivers.pop(key))
        elif key[0] not in self.ranks:
            self.finish(state, node, time)
        elif key in self.sent:
            self.finish(state, node, max(time, self.sent[key]))
        else:
            self.receivers[key] = (state, node)

    def join(self, state: _Rank, node: Node) -> None:
        group = node.group or 0
        number = self.counts.get((state.rank, group), 0)
        self.counts[state.rank, group] = number + 1
        came = self.came.setdefault((group, number), [])
        came.append((state, node))
        if len(came) == len(self.members[group - 1]):
            end = max(member.get_ready(theirs) for member, theirs in came)
            for member, theirs in self.came.pop((group, number)):
                self.finish(member, theirs, end)


def execute(bundle: Bundle, ranks: Optional[Iterable[int]] = None, *, peak_tflops: float = 900,
            memory_bandwidth: float = 3350) -> Timeline:
    """Executes the nodes of ranks as soon as what they depend on has ended. A compute node takes as
    long as its operations at the peak rate, or its bytes at the bandwidth of the memory, whichever
    is longer. Communication takes no time: a message is there when it is sent, and a collective
    ends when all members that are executed have come to it. So this shows what a schedule makes
    idle, and is no estimate.

    ranks: those that are executed (all). What others would send is there at once.
    peak_tflops: 10^12 operations a second.
    memory_bandwidth: 10^9 bytes a second.

    Raises IndexError, and ValueError where ranks wait for each other or a speed means nothing.
    """
    for name, value in (("peak_tflops", peak_tflops), ("memory_bandwidth", memory_bandwidth)):
        check_above(name, value, 0)
    check_type("bundle", bundle, Bundle, "a Bundle")
    chosen: Iterable[int] = range(bundle.num_ranks)
    if ranks is not None:
        listed = to_list("ranks", ranks, "a list of integers")
        chosen = sorted({to_rank(rank, bundle.num_ranks) for rank in listed})
    execution = _Execution(bundle, chosen, peak_tflops * 1e12, memory_bandwidth * 1e9)
    execution.run()
    return Timeline(span for state in execution.ranks.values() for span in state.spans)
