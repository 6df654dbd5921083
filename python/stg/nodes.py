# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The nodes of any rank, out of a bundle."""

from __future__ import annotations

import os
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple, Union

from . import _stg
from .arguments import to_path, to_rank
from .tables import Table

LOAD, STORE, COMPUTE, SEND, RECEIVE, COLLECTIVE = 2, 3, 4, 5, 6, 7
"""Types of nodes, as Chakra numbers them."""


class Node(NamedTuple):
    """One node of a rank. What does not apply to its type is None."""

    id: int
    name: str
    type: int
    data_deps: List[int]
    ctrl_deps: List[int]
    inputs: List[Tuple[str, int]]
    """Names and bytes of tensors."""
    outputs: List[Tuple[str, int]]
    num_ops: Optional[int]
    """Operations, at least 1."""
    tensor_size: Optional[int]
    """Bytes read and written, at least 1; of loads and stores those that are transferred."""
    comm_size: Optional[int]
    """Bytes; of collectives padded for simulators."""
    payload_bytes: Optional[int]
    """Bytes, exact."""
    collective: Optional[int]
    """Chakra's number of the kind."""
    group: Optional[int]
    """From 1."""
    source: Optional[int]
    target: Optional[int]
    tag: Optional[int]


class Bundle:
    """The traces of all ranks, made when they are asked for."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]):
        """Opens the file that `stg-compile --bundle` writes. Raises Error."""
        self._handle = _stg.open_bundle(to_path("path", path))

    @classmethod
    def _wrap(cls, handle: _stg.Bundle) -> "Bundle":
        bundle = cls.__new__(cls)
        bundle._handle = handle
        return bundle

    @property
    def num_ranks(self) -> int:
        """The number of ranks, and of traces."""
        return self._handle.num_ranks

    @property
    def axes(self) -> Dict[str, int]:
        """Sizes of the axes of the mesh by name, the fastest first."""
        return dict(self._handle.axes)

    @property
    def groups(self) -> List[List[int]]:
        """The ranks of each communication group; the first one has number 1."""
        return [self._handle.get_group(group) for group in range(1, self._handle.num_groups + 1)]

    def num_nodes(self, rank: int) -> int:
        """The number of nodes of a rank. Raises IndexError."""
        return self._handle.get_num_nodes(to_rank(rank, self.num_ranks))

    def nodes(self, rank: int) -> Iterator[Node]:
        """The nodes of a rank in their order, made one by one. Raises IndexError."""
        return map(Node._make, self._handle.get_nodes(to_rank(rank, self.num_ranks)))

    def columns(self, rank: int) -> Table:
        """The nodes of a rank as columns of equal length: a list of names, and NumPy arrays of
        64-bit numbers (`type`: 32) that nothing else refers to. Sizes are bytes. What does not
        apply is 0 for sizes and -1 for identities. Raises IndexError."""
        return Table(self._handle.get_columns(to_rank(rank, self.num_ranks)))
