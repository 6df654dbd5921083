# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a compilation came to: exact totals of the ranks of each class."""

from __future__ import annotations

from typing import Any, Dict, NamedTuple, Tuple

COLLECTIVES = {0: "all_reduce", 2: "all_gather", 6: "all_to_all", 7: "reduce_scatter"}
"""Names of Chakra's numbers of collectives."""


class Phase(NamedTuple):
    """Operations of one rank in a phase of the step."""

    phase: str
    operations: int
    product_operations: int
    """Those of `operations` that are in matrix products."""


class Collective(NamedTuple):
    """What one rank does in collectives of one kind, group and phase."""

    kind: str
    axes: str
    """Of the mesh, joined by '+'."""
    group_size: int
    phase: str
    count: int  # type: ignore[assignment]
    bytes: int
    """Of all payloads, exact."""


class Messages(NamedTuple):
    """The messages of one rank in one direction and phase."""

    kind: str
    """"send" or "recv"."""
    axis: str
    shift: int
    """From the rank to its peer, along the axis."""
    phase: str
    count: int  # type: ignore[assignment]
    bytes: int


class Transfers(NamedTuple):
    """What one rank loads from its host or stores there in one phase."""

    kind: str
    """"load" or "store"."""
    phase: str
    count: int  # type: ignore[assignment]
    bytes: int


class Memory(NamedTuple):
    """Bytes of one rank in one category. What is in "host" is not in its memory, and in no
    total."""

    category: str
    persistent: int
    """States, over the whole step."""
    peak: int
    """When the sum over all categories is largest."""
    largest: int
    """When those of the category are most."""


class RankClass(NamedTuple):
    """Ranks that do the same. All numbers are those of one rank."""

    name: str
    num_ranks: int
    first_rank: int
    num_compute_nodes: int
    num_collective_nodes: int
    num_send_nodes: int
    num_receive_nodes: int
    operations: int
    memory_traffic: int
    """Bytes that compute nodes read and write."""
    peak_memory: int
    """Bytes."""
    peak_node: str
    """The first node that runs at the peak."""
    phases: Tuple[Phase, ...]
    collectives: Tuple[Collective, ...]
    messages: Tuple[Messages, ...]
    memory: Tuple[Memory, ...]
    transfers: Tuple[Transfers, ...] = ()

    @property
    def num_nodes(self) -> int:
        """Nodes of all types."""
        return (self.num_compute_nodes + self.num_collective_nodes + self.num_send_nodes +
                self.num_receive_nodes + sum(entry.count for entry in self.transfers))

    @property
    def collective_bytes(self) -> int:
        """Bytes of the payloads of all collectives."""
        return sum(entry.bytes for entry in self.collectives)


def make_class(parts: Dict[str, Any]) -> RankClass:
    """Makes a class of what the C interface says."""
    parts = dict(parts)
    parts["phases"] = tuple(Phase(*entry) for entry in parts["phases"])
    parts["collectives"] = tuple(
        Collective(COLLECTIVES[entry[0]], *entry[1:]) for entry in parts["collectives"])
    parts["messages"] = tuple(
        Messages("send" if entry[0] else "recv", *entry[1:]) for entry in parts["messages"])
    parts["memory"] = tuple(Memory(*entry) for entry in parts["memory"])
    parts["transfers"] = tuple(
        Transfers("load" if entry[0] else "store", *entry[1:]) for entry in parts["transfers"])
    return RankClass(**parts)
