# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Traces of any producer: reading and checking them."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple, Union

from . import _stg
from .arguments import check_above, to_path
from .nodes import Bundle

Path = Union[str, "os.PathLike[str]"]


class TraceNode(NamedTuple):
    """A node as it is in a file."""

    id: int
    name: str
    type: int
    """As Chakra numbers them: stg.COMPUTE and others."""
    data_deps: List[int]
    ctrl_deps: List[int]
    start_micros: int
    """0 if the file has none."""
    duration_micros: int
    attributes: Dict[str, Any]
    """Numbers, texts, bytes, and lists of them."""


class TraceFile:
    """The trace of one rank, read node by node: it can be iterated over once."""

    def __init__(self, path: Path):
        """Opens a file and reads its metadata. Raises Error."""
        self._handle = _stg.open_trace_file(to_path("path", path))

    @property
    def version(self) -> str:
        """The version of the schema, as the file says."""
        return self._handle.version

    @property
    def attributes(self) -> Dict[str, Any]:
        """What the metadata say."""
        return self._handle.attributes

    def __iter__(self) -> Iterator[TraceNode]:
        """The nodes that have not been read. Raises Error where the file is damaged."""
        return map(TraceNode._make, self._handle)


def read_trace(path: Path) -> TraceFile:
    """Opens the `.et` file of one rank, whoever made it. Raises Error."""
    return TraceFile(path)


class Violation(NamedTuple):
    """A rule that a trace does not keep."""

    rule: str
    """Its number, such as "5.2"."""
    rule_text: str
    """What it asks for."""
    file: str
    id: Optional[int]
    """Of the node; None for what is wrong with a whole file."""
    name: Optional[str]
    message: str

    def __str__(self) -> str:
        place = self.file if self.id is None else f"{self.file}: node {self.id} ({self.name})"
        return f"{place}: rule {self.rule}: {self.message}"


class Validation(NamedTuple):
    """What a validation found."""

    num_ranks: int
    num_nodes: int
    num_violations: int
    """All of them."""
    violations: Tuple[Violation, ...]
    """Those that are kept: `max_shown` of each rule."""

    @property
    def is_valid(self) -> bool:
        """True if the trace will run to its end."""
        return self.num_violations == 0


def validate(trace: Union[Bundle, Path], *, comm_groups: Optional[Path] = None,
             peak_tflops: float = 900, memory_bandwidth: float = 3350, splits: int = 4,
             num_npus: Optional[int] = None, strict_memory: bool = False,
             eager_sends: bool = False, max_shown: int = 20, threads: int = 0) -> Validation:
    """Checks a trace as `stg-trace validate` does.

    trace: a bundle, or a prefix, a directory, or the file of a rank or of a bundle.
    comm_groups: a file of groups (the one beside the trace); a bundle has its own.
    peak_tflops: 10^12 operations a second of a device.
    memory_bandwidth: 10^9 bytes a second of a device.
    splits: pieces that the simulator cuts a collective into.
    num_npus: ranks (as many as files and groups say).
    strict_memory: apply rule 8.7 also to traces that list no persistent tensors.
    eager_sends: leave out rule 6.4, as sends never wait for receives.
    max_shown: violations that are kept of each rule.
    threads: that read; 0: one for each processor.

    Violations are in the result. Raises Error where there is no trace to check, or groups for a
    bundle, and ValueError for numbers that mean nothing. Other threads run meanwhile.
    """
    positive = {"peak_tflops": peak_tflops, "memory_bandwidth": memory_bandwidth,
                "splits": splits, "max_shown": max_shown,
                "num_npus": 1 if num_npus is None else num_npus}
    for name, value in positive.items():
        check_above(name, value, 0)
    options: Dict[str, Any] = {
        "peak_tflops": float(peak_tflops), "memory_bandwidth": float(memory_bandwidth),
        "splits": splits, "num_npus": num_npus or 0, "strict_memory": strict_memory,
        "eager_sends": eager_sends, "max_shown": max_shown, "threads": threads}
    if comm_groups is not None:
        options["comm_groups"] = to_path("comm_groups", comm_groups)
    handle: Union[_stg.Bundle, bytes] = (
        trace._handle if isinstance(trace, Bundle) else to_path("trace", trace))
    ranks, nodes, total, violations = _stg.validate(handle, options)
    return Validation(ranks, nodes, total, tuple(Violation(*row) for row in violations))
