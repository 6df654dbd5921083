# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which strategy is the best."""

from __future__ import annotations

import dataclasses
import json
from math import inf
from numbers import Integral
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence
from typing import Tuple, Union

from . import _stg
from .arguments import check_type, to_float, to_integer, to_lasting, to_list, to_path
from .compiler import Canceller, Path, make_options
from .errors import Message
from .modules import Module
from .strategy import Strategy
from .tables import Table


class SearchProgress(NamedTuple):
    """How far a search is."""

    step: str
    """"listing", "measuring tasks" or "estimating"."""
    done: int
    total: int
    """Of this step; 0: that is not known yet."""
    best_seconds: Optional[float]
    """The shortest step so far."""


class Found(NamedTuple):
    """A strategy that was estimated and fits."""

    strategy: Strategy
    """With all that follows from it."""
    step_seconds: float
    needed_bytes: float
    """Memory of the device that needs most."""
    num_ranks: int
    model_use: float
    """Operations of products and attention that the program counts, without those that are done again,
    over what the devices could do (MFU)."""
    hardware_use: float
    """The same of operations that kernels execute, from 0 to 1 (HFU)."""
    interval_seconds: Optional[float]
    """From one step of decoding to the next one, where stages have several of them; else None."""
    token_rate: Optional[float]
    """Tokens per second and device; None if the step has none."""
    parts: Dict[str, float]
    """Seconds of a rank by what they are spent on, the mean of all: together the step."""
    command: str
    """Of a shell, that compiles it."""
    number: int
    """In the list that was chosen from; of no meaning without one."""


class SearchValue(NamedTuple):
    """The best with a value of a field that was varied."""

    field: str
    value: str
    cost: Optional[float]
    """Of the best that was estimated, None if none was: seconds of a step, or of a device for each
    token where the goal is throughput."""
    at_least: Optional[float]
    """None costs less than that. None if nothing that was not estimated is better than the best
    that was, or nothing with the value fits."""


class SearchCounts(NamedTuple):
    """Where strategies have gone."""

    all: int
    estimated: int
    cut_by_time: int
    cut_by_memory: int
    """By bounds, without an estimate."""
    too_large: int
    """Estimated, and do not fit."""
    refused: int
    """There is no such program."""


@dataclasses.dataclass(frozen=True)
class SearchResult:
    """What a search has found."""

    goal: str
    """What the best have: the shortest step ("time"), or the most tokens per second and device
    ("throughput")."""
    best: Tuple[Found, ...]
    """The best one first."""
    compared: Tuple[str, ...]
    """What the front compares: "time" and any of "memory", "devices" and "throughput"."""
    front: Tuple[Found, ...]
    """Those than which no other is as good in all of this (Pareto), the shortest step first."""
    estimated: Tuple[Found, ...]
    """All that were estimated and fit, the best one first."""
    values: Tuple[SearchValue, ...]
    counts: SearchCounts
    complete: bool
    """False if it ended because `progress` said so."""
    warnings: Tuple[Message, ...]
    text: str = dataclasses.field(repr=False)
    """What `stg-search --json` prints."""

    def to_dict(self) -> Dict[str, Any]:
        """What `stg-search --json` prints."""
        result: Dict[str, Any] = json.loads(self.text)
        return result

    def table(self) -> Table:
        """A table of all that were estimated and fit, with a column for each field of a strategy
        in which they differ."""
        strategies = [found.strategy.to_dict() for found in self.estimated]
        names = [field.name for field in dataclasses.fields(Strategy)
                 if any(one.get(field.name) != strategies[0].get(field.name) for one in strategies)]
        columns: Dict[str, Any] = {
            "step_seconds": [found.step_seconds for found in self.estimated],
            "needed_bytes": [int(found.needed_bytes) for found in self.estimated],
            "model_use": [found.model_use for found in self.estimated]}
        for name in names:
            columns[name] = [one.get(name) for one in strategies]
        return Table(columns)


# As the C interface numbers them.
_GOALS = {"time": 1, "throughput": 2}
_CRITERIA = {"memory": 1, "devices": 2, "throughput": 4}


def _to_flag(value: Any) -> str:
    """As a flag has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(_to_flag(one) for one in value)
    return str(value)


def _to_ranks(ranks: Union[int, Iterable[int], None]) -> List[int]:
    if ranks is None:
        return []
    listed = [ranks] if isinstance(ranks, (int, Integral)) else to_list(
        "ranks", ranks, "an integer or a list of them")
    return [to_integer("ranks", number) for number in listed]


def _to_variation(name: str, values: Iterable[Any]) -> str:
    listed = to_list("vary", values, f"a list of values of {name}")
    texts = [_to_flag(to_lasting(value)) for value in listed]
    # A separator says that commas are in values; one value has none unless it stands twice.
    if any("," in text for text in texts):
        return f"{name.replace('_', '-')}=" + ";".join(texts * 2 if len(texts) == 1 else texts)
    return f"{name.replace('_', '-')}=" + ",".join(texts)


def _to_found(entry: Dict[str, Any]) -> Found:
    entry["strategy"] = Strategy.from_json(entry["strategy"])
    entry["parts"] = dict(entry["parts"])
    return Found(**entry)


def search(model: Union[Path, Module], machine: Path, strategy: Optional[Strategy] = None, *,
           ranks: Union[int, Iterable[int], None] = None, vary: Mapping[str, Iterable[Any]] = {},
           among: Optional[Iterable[Strategy]] = None, memory_limit: Optional[float] = None,
           top: int = 10, goal: Optional[str] = None, front: Iterable[str] = (),
           within: float = 1.1, threads: int = 0,
           machine_set: Mapping[str, Any] = {}, text: Optional[str] = None,
           config: Optional[str] = None, program: Optional[str] = None,
           models: Sequence[Path] = (), ignore_quantization: bool = False,
           progress: Optional[Callable[[SearchProgress], object]] = None,
           canceller: Optional[Canceller] = None, **fields: Any) -> SearchResult:
    """Finds the strategies with the shortest steps on a machine, or with the most tokens of a device.

    machine, machine_set: as of `estimate`.
    strategy: fields that are the same for all; `fields` are more of them, and override it. What
        is not given is tried.
    ranks: devices, all of which a strategy uses; or several such numbers.
    vary: values of a field that are tried, such as {"zero": [1, 3]}.
    among: instead of both, strategies to choose from. What `strategy` gives takes the place of
        their fields.
    memory_limit: bytes of a device; that of the machine without what is set aside.
    top: the best so many are found.
    goal: "time" for the shortest step, "throughput" for the most tokens per second and device; None:
        throughput if steps have different numbers of tokens, else time.
    front: what the front compares beside time, of "memory", "devices" and "throughput"; empty:
        memory, or of several numbers of devices or tokens throughput in inference, and memory,
        devices and throughput in training.
    within: the front has no longer steps than so many times the best with as many devices and
        tokens.
    threads: that estimate at once; 0: one for each processor.
    progress: called now and then, perhaps in another thread. After it returns False, the search
        ends soon with what it has found. What it raises ends the call.
    canceller: stops the call from another thread; what was found is lost.
    The rest is as of `compile`.

    Raises Error with what is wrong, or if there is no such strategy, Interrupted if it was
    cancelled or ended before anything was found, TypeError for a field that there is not or for
    what is of another type, and ValueError for a value that cannot be one. Other threads run
    meanwhile. In the main thread, Ctrl-C ends the call with KeyboardInterrupt.
    """
    listed: Optional[List[str]] = None
    if among is not None:
        listed = []
        for one in to_list("among", among, "a list of strategies"):
            check_type("among", one, Strategy, "a Strategy each")
            listed.append(one.to_json())
    if listed is not None and not listed:
        raise ValueError("there is no strategy to choose from")
    if to_integer("top", top) < 1:
        raise ValueError(f"top={top}: expected at least 1")
    if memory_limit is not None and not 0 < to_float("memory_limit", memory_limit) < inf:
        raise ValueError(f"memory_limit={memory_limit}: expected a number of bytes above 0")
    if goal is not None and goal not in _GOALS:
        raise ValueError(f"goal={goal!r}: expected 'time' or 'throughput'")
    criteria = 0
    for name in [front] if isinstance(front, str) else to_list("front", front, "a list of texts"):
        if name not in _CRITERIA:
            raise ValueError(f"front has {name!r}: expected 'memory', 'devices' or 'throughput'")
        criteria |= _CRITERIA[name]
    if not to_float("within", within) >= 1:
        raise ValueError(f"within={within}: expected a factor of at least 1")
    check_type("vary", vary, Mapping, "a dictionary of lists, such as {'zero': [1, 3]}")
    check_type("machine_set", machine_set, Mapping,
               "a dictionary, such as {'device.memory.capacity': '40 GB'}")
    if progress is not None and not callable(progress):
        raise TypeError(f"progress={progress!r}: expected a function")
    options = make_options(model, strategy, fields, text, config, program, models, canceller, None)
    options["ignore_quantization"] = ignore_quantization
    watch: Optional[Callable[..., object]] = None
    if progress is not None:
        told = progress
        watch = lambda *state: told(SearchProgress(*state))  # noqa: E731
    result = _stg.search(
        options, to_path("machine", machine), [f"{key}={value}" for key, value in machine_set.items()],
        {"ranks": _to_ranks(ranks),
         "among": listed or [], "memory_limit": memory_limit or 0.0, "goal": _GOALS[goal] if goal else 0,
         "front": criteria,
         "vary": [_to_variation(name, values) for name, values in vary.items()],
         "top": to_integer("top", top), "within": float(within), "threads": threads, "progress": watch})
    found = tuple(_to_found(entry) for entry in result["entries"])
    return SearchResult(
        goal=next(name for name, number in _GOALS.items() if number == result["goal"]),
        compared=("time", *(name for name, bit in _CRITERIA.items() if bit & result["criteria"])),
        best=found[:result["num_best"]], front=tuple(found[index] for index in result["front"]),
        estimated=found,
        values=tuple(SearchValue(flag.replace("-", "_"), *rest)
                     for flag, *rest in result["values"]),
        counts=SearchCounts(*result["counts"]), complete=result["complete"],
        warnings=tuple(map(Message._of_call, result["messages"])), text=result["text"])
