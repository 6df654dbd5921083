# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a model to what each rank does."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from functools import cached_property
from pathlib import Path as _Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _stg
from .arguments import check_text, check_type, to_list, to_pair, to_path
from .errors import Message
from .modules import Module
from .nodes import Bundle
from .strategy import Strategy
from .tables import Table
from .totals import RankClass, make_class

Path = Union[str, "os.PathLike[str]"]
Progress = Callable[[str], object]

_NONE, _FILES, _BUNDLE, _MEMORY = range(4)


class Canceller:
    """Stops calls that it was given to. They raise Interrupted soon after."""

    def __init__(self) -> None:
        self._handle = _stg.Canceller()

    def _make_inner(self) -> "Canceller":
        """One for calls that this one stops, too."""
        inner = Canceller()
        inner._handle = _stg.Canceller(self._handle)
        return inner

    def cancel(self) -> None:
        """Stops all calls, from any thread, also those that begin later."""
        self._handle.cancel()

    @property
    def is_cancelled(self) -> bool:
        """True once `cancel` was called."""
        return self._handle.is_cancelled


class Compilation:
    """What a model and a strategy come to."""

    def __init__(self, handle: _stg.Compilation, timelines: Mapping[str, Table]):
        self._handle = handle
        self._timelines = timelines

    def __repr__(self) -> str:
        return (f"Compilation(parameters={self.parameters}, num_ranks={self.num_ranks}, "
                f"peak_memory={self.peak_memory})")

    @property
    def parameters(self) -> int:
        """Parameters of the whole model."""
        return self._handle.parameters

    @property
    def active_parameters(self) -> int:
        """Of them, those that a token goes through: not of all experts."""
        return self._handle.active_parameters

    @property
    def embedding_parameters(self) -> int:
        """Of them, those of tables that tokens are looked up in."""
        return self._handle.embedding_parameters

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
        """What `manifest.json` has: all totals, and what was compiled. Made when it is asked
        for."""
        manifest: Dict[str, Any] = json.loads(self._handle.manifest)
        return manifest

    @property
    def strategy(self) -> Strategy:
        """The strategy as it was compiled, with all that follows from the model."""
        return Strategy(**self.manifest["strategy"])

    @property
    def warnings(self) -> Tuple[Message, ...]:
        """What was said without being an error."""
        return tuple(map(Message._of_call, self._handle.messages))

    @property
    def bundle(self) -> Bundle:
        """The traces of all ranks; asked for with `compile(..., traces=True)`. Raises
        ValueError."""
        handle = self._handle.bundle
        if handle is None:
            raise ValueError("the traces were not kept; compile with traces=True")
        return Bundle._wrap(handle)

    @property
    def peak_memory(self) -> int:
        """Bytes of the rank that needs most."""
        return max(entry.peak_memory for entry in self.classes)

    def collectives(self) -> Table:
        """A table of all collectives. `bytes` are those of all payloads of one rank."""
        rows = [(entry.name, *row) for entry in self.classes for row in entry.collectives]
        return Table.from_rows(
            rows, ("class", "kind", "axes", "group_size", "phase", "count", "bytes"))

    def messages(self) -> Table:
        """A table of all messages. `bytes` are those of all of them of one rank."""
        rows = [(entry.name, *row) for entry in self.classes for row in entry.messages]
        return Table.from_rows(rows, ("class", "kind", "axis", "shift", "phase", "count", "bytes"))

    def transfers(self) -> Table:
        """A table of what is loaded from the host and stored there, with `offload`. `bytes` are
        those of all transfers of one rank."""
        rows = [(entry.name, *row) for entry in self.classes for row in entry.transfers]
        return Table.from_rows(rows, ("class", "kind", "phase", "count", "bytes"))

    def memory(self) -> Table:
        """A table of memory by category, in bytes."""
        rows = [(entry.name, *row) for entry in self.classes for row in entry.memory]
        return Table.from_rows(rows, ("class", "category", "persistent", "peak", "largest"))

    def operations(self) -> Table:
        """A table of operations by phase."""
        rows = [(entry.name, *row) for entry in self.classes for row in entry.phases]
        return Table.from_rows(rows, ("class", "phase", "operations", "product_operations"))

    def memory_timeline(self, class_name: Optional[str] = None) -> Table:
        """The memory of the ranks of a class over the step, by category, in bytes: a row for each
        node at which the total changes, with the number and the path of the node. Asked for
        with `compile(..., timeline=True)`. Without a name, of the class that needs most memory.
        Raises ValueError, and KeyError if there is no such class."""
        if not self._timelines:
            raise ValueError("the timeline was not kept; compile with timeline=True")
        if class_name is None:
            class_name = max(self.classes, key=lambda entry: entry.peak_memory).name
        return self._timelines[class_name]


def _read_timeline(path: _Path) -> Table:
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        names = next(rows)
        columns = list(zip(*rows)) or [()] * len(names)
    return Table({name: list(values) if name == "path" else [int(value) for value in values]
                  for name, values in zip(names, columns)})


def to_folders(models: Sequence[Path]) -> List[bytes]:
    """Folders as the C interface has them. One alone is a list of its letters to Python."""
    if isinstance(models, (str, os.PathLike)):
        raise TypeError(f"models are a list of folders, not the folder {os.fspath(models)!r}")
    return [to_path("models", folder) for folder in to_list("models", models, "a list of folders")]


def make_options(model: Union[Path, Module], strategy: Optional[Strategy], fields: Dict[str, Any],
                 text: Optional[str], config: Optional[str], program: Optional[str],
                 models: Sequence[Path], canceller: Optional[Canceller],
                 progress: Optional[Progress]) -> Dict[str, Any]:
    """What all calls that take a model tell the C interface."""
    if isinstance(model, Module):
        if text is not None:
            raise ValueError("a model is a module or a text, not both")
        name, text = os.fsencode(model.name), model.text
    else:
        name = to_path("model", model)
        if text is None and b"\n" in name:
            raise ValueError("model: expected a name or a file, found several lines; the text of a "
                             "model is given with text=")
    for argument, value in (("text", text), ("config", config), ("program", program)):
        if value is not None:
            check_text(argument, value, "a text")
    if strategy is not None:
        check_type("strategy", strategy, Strategy,
                   "a Strategy; fields are also given by name, as in tp=2")
    if canceller is not None:
        check_type("canceller", canceller, Canceller, "a Canceller")
    if progress is not None and not callable(progress):
        raise TypeError(f"progress={progress!r}: expected a function")
    given = strategy or Strategy()
    if fields:
        given = given.replace(**fields)
    return {
        "model": name, "text": text, "config": config, "program": program,
        "model_folders": to_folders(models), "strategy": given.to_json(),
        "canceller": canceller._handle if canceller else None, "progress": progress}


def compile(model: Union[Path, Module], strategy: Optional[Strategy] = None, *,
            text: Optional[str] = None, config: Optional[str] = None,
            program: Optional[str] = None, models: Sequence[Path] = (), traces: bool = False,
            timeline: bool = False, output: Optional[Path] = None, bundle: bool = False,
            prefix: Optional[str] = None, ranks: Optional[Tuple[int, int]] = None,
            threads: int = 0, resume: bool = False, ignore_quantization: bool = False,
            progress: Optional[Progress] = None, canceller: Optional[Canceller] = None,
            **fields: Any) -> Compilation:
    """Compiles a model under a strategy.

    model: a .mlir file, a config.json as model hubs have it, the name of a library model, or a
        module.
    strategy: fields that are given; `fields` are more of them, and override it.
    text: the text of the model; `model` is then what messages call it.
    config, program: chosen where the file has several.
    models: folders that are searched for models before those of the library.
    traces: keep the traces in memory, as `Compilation.bundle`.
    timeline: keep the memory over the step, as `Compilation.memory_timeline`.
    output: the folder in which a trace is written for each rank, or, with `bundle`, one file.
    prefix: of the names of files ("workload").
    ranks: first and end of the ranks that get files.
    threads: that write files; 0: one for each processor.
    resume: keep files that are complete.
    ignore_quantization: a quantized configuration is that of the model before.
    progress: called at once, and then now and then, with the name of the pass that runs next, or
        "write". What it raises ends the call.
    canceller: stops the call from another thread.

    Raises Error with what is wrong, Interrupted if it was cancelled, TypeError for a field that
    there is not or for what is of another type, and ValueError for arguments that exclude each
    other or have no such value. Other threads run meanwhile. In the main thread, Ctrl-C ends the
    call with KeyboardInterrupt.
    """
    if traces and output is not None:
        raise ValueError("traces are kept in memory or written to a folder, not both")
    if bundle and output is None:
        raise ValueError("a bundle is written to a folder; give one with output")
    chosen = (0, 0)
    if ranks is not None:
        chosen = to_pair("ranks", ranks)
        if chosen == (0, 0):
            # To the C interface these are all.
            raise ValueError("ranks 0 to 0: expected 0 <= first < end")
    if prefix is not None:
        check_text("prefix", prefix, "a text")
    options = make_options(model, strategy, fields, text, config, program, models, canceller,
                           progress)
    options["output"] = (_MEMORY if traces else _NONE if output is None else
                         _BUNDLE if bundle else _FILES)
    options["folder"] = None if output is None else to_path("output", output)
    options["prefix"] = prefix
    options["ranks"] = chosen
    options["threads"] = threads
    options["resume"] = resume
    options["ignore_quantization"] = ignore_quantization
    if not timeline:
        return Compilation(_stg.compile(options), {})
    with tempfile.TemporaryDirectory() as folder:
        options["memory_timeline"] = os.path.join(folder, "memory")
        handle = _stg.compile(options)
        # A name may have a '/' in it.
        return Compilation(handle, {
            str(path.relative_to(folder))[len("memory."):-len(".csv")]: _read_timeline(path)
            for path in _Path(folder).rglob("*.csv")})
