# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a model to what each rank does."""

from __future__ import annotations

import json
import os
from functools import cached_property
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from . import _stg
from .errors import Message
from .nodes import Bundle
from .strategy import Strategy
from .totals import RankClass, make_class, make_table

Path = Union[str, "os.PathLike[str]"]

_NONE, _FILES, _BUNDLE, _MEMORY = range(4)


class Compilation:
    """What a model and a strategy come to."""

    def __init__(self, handle: Any):
        self._handle = handle

    @property
    def parameters(self) -> int:
        """Parameters of the whole model."""
        return self._handle.parameters

    @property
    def num_ranks(self) -> int:
        """The number of ranks."""
        return self._handle.num_ranks

    @cached_property
    def classes(self) -> Tuple[RankClass, ...]:
        """Totals of each class of ranks."""
        return tuple(make_class(self._handle.get_class(index))
                     for index in range(self._handle.num_classes))

    @cached_property
    def manifest(self) -> Dict[str, Any]:
        """What `manifest.json` has: all totals, and what was compiled."""
        return json.loads(self._handle.manifest)

    @property
    def strategy(self) -> Strategy:
        """The strategy as it was compiled, with all that follows from the model."""
        return Strategy(**self.manifest["strategy"])

    @property
    def warnings(self) -> Tuple[Message, ...]:
        """What was said without being an error."""
        return tuple(Message(*message) for message in self._handle.messages)

    @property
    def bundle(self) -> Bundle:
        """The traces of all ranks; asked for with `compile(..., traces=True)`."""
        handle = self._handle.bundle
        if handle is None:
            raise ValueError("the traces were not kept; compile with traces=True")
        return Bundle._wrap(handle)

    @property
    def peak_memory(self) -> int:
        """Bytes of the rank that needs most."""
        return max(entry.peak_memory for entry in self.classes)

    def collectives(self) -> Dict[str, List[Any]]:
        """A table of all collectives: columns by name, for `pandas.DataFrame`."""
        rows = [(entry.name, *row) for entry in self.classes for row in entry.collectives]
        return make_table(rows, ("class", "kind", "axes", "group_size", "phase", "count", "bytes"))

    def messages(self) -> Dict[str, List[Any]]:
        """A table of all messages."""
        rows = [(entry.name, *row) for entry in self.classes for row in entry.messages]
        return make_table(rows, ("class", "kind", "axis", "shift", "phase", "count", "bytes"))

    def memory(self) -> Dict[str, List[Any]]:
        """A table of memory by category, in bytes."""
        rows = [(entry.name, *row) for entry in self.classes for row in entry.memory]
        return make_table(rows, ("class", "category", "persistent", "peak", "largest"))

    def operations(self) -> Dict[str, List[Any]]:
        """A table of operations by phase."""
        rows = [(entry.name, *row) for entry in self.classes for row in entry.phases]
        return make_table(rows, ("class", "phase", "operations", "product_operations"))


def compile(model: Path, strategy: Optional[Strategy] = None, *, text: Optional[str] = None,
            config: Optional[str] = None, program: Optional[str] = None,
            models: Sequence[Path] = (), traces: bool = False, output: Optional[Path] = None,
            bundle: bool = False, prefix: Optional[str] = None,
            ranks: Optional[Tuple[int, int]] = None, threads: int = 0, resume: bool = False,
            **fields: Any) -> Compilation:
    """Compiles a model under a strategy.

    model: a .mlir file, or the name of a library model.
    strategy: fields that are given; `fields` are more of them, and override it.
    text: the text of the model; `model` is then what messages call it.
    config, program: chosen where the file has several.
    models: folders that are searched for models before those of the library.
    traces: keep the traces in memory, as `Compilation.bundle`.
    output: the folder in which a trace is written for each rank, or, with `bundle`, one file.
    prefix: of the names of files ("workload").
    ranks: first and end of the ranks that get files.
    threads: that write files; 0: one for each processor.
    resume: keep files that are complete.

    Raises Error with what is wrong. Other threads run meanwhile.
    """
    if traces and output is not None:
        raise ValueError("traces are kept in memory or written to a folder, not both")
    if bundle and output is None:
        raise ValueError("a bundle is written to a folder; give one with output")
    given = (strategy or Strategy()).replace(**fields)
    kind = _MEMORY if traces else _NONE if output is None else _BUNDLE if bundle else _FILES
    handle = _stg.compile(os.fspath(model), text, config, program, given.to_json(),
                          [os.fspath(folder) for folder in models], kind,
                          None if output is None else os.fspath(output), prefix, ranks or (0, 0),
                          threads, resume)
    return Compilation(handle)


def run_passes(text: str, pipeline: str = "", name: str = "module") -> str:
    """Runs a pipeline of `stg-opt`, such as "stg-name-ops,stg-autodiff", on the text of a module,
    and returns the result as text. `name` is what messages call the module. Raises Error."""
    return _stg.run_passes(text, pipeline, name)
