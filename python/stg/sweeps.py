# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many strategies in one process."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Callable, Deque, Iterable, Iterator, NamedTuple, Optional, Sized, Union

from .arguments import check_type, to_integer
from .compiler import Canceller, Compilation, Path, compile
from .errors import Error, Interrupted
from .modules import Module
from .strategy import Strategy


class SweepResult(NamedTuple):
    """What came of one strategy: a compilation, or an error."""

    strategy: Strategy
    compilation: Optional[Compilation]
    error: Optional[Error]
    """Why it cannot be compiled."""


def sweep(model: Union[Path, Module], strategies: Iterable[Strategy], *, threads: int = 0,
          progress: Optional[Callable[[int, Optional[int]], object]] = None,
          canceller: Optional[Canceller] = None, **options: Any) -> Iterator[SweepResult]:
    """Compiles a model under many strategies, and yields what comes of each, in their order.

    strategies: any number of them, also without an end; they are taken as they are compiled.
    threads: that compile at once; 0: one for each processor.
    progress: called after each strategy with how many are done, and of how many if that is known.
    canceller: stops the sweep from another thread.
    options: other keywords of `compile` that are the same for all, also fields of the strategy.

    A strategy that cannot be compiled does not end the sweep: the result has the error. Whoever
    stops asking for results, with Ctrl-C or in another way, stops what is being compiled. Raises
    Interrupted if it was cancelled, and ValueError for `output`, which would be the same folder for
    all.
    """
    if options.get("output") is not None:
        raise ValueError("all strategies would write to the folder of output")
    count = to_integer("threads", threads) or len(os.sched_getaffinity(0))
    if count < 0:
        raise ValueError(f"threads={threads}: expected at least 0")
    if progress is not None and not callable(progress):
        raise TypeError(f"progress={progress!r}: expected a function")
    total = len(strategies) if isinstance(strategies, Sized) else None
    if canceller is not None:
        check_type("canceller", canceller, Canceller, "a Canceller")
    # Also of whoever stops asking.
    own = (canceller or Canceller())._make_inner()

    def work(strategy: Strategy) -> SweepResult:
        # A call that fails at once has not asked.
        if own.is_cancelled:
            raise Interrupted([("error", "interrupted", "", 0, 0)])
        try:
            return SweepResult(strategy, compile(model, strategy, canceller=own, **options), None)
        except Interrupted:
            raise
        except Error as error:
            return SweepResult(strategy, None, error)

    done = 0
    pending: Deque["Future[SweepResult]"] = deque()
    with ThreadPoolExecutor(count) as pool:
        try:
            for strategy in strategies:
                pending.append(pool.submit(work, strategy))
                # Enough that no thread waits, and not all results at once.
                if len(pending) < 8 * count:
                    continue
                done += 1
                yield _finish(pending, done, total, progress)
            while pending:
                done += 1
                yield _finish(pending, done, total, progress)
        finally:
            own.cancel()
            pool.shutdown(wait=False, cancel_futures=True)


def _finish(pending: "Deque[Future[SweepResult]]", done: int, total: Optional[int],
            progress: Optional[Callable[[int, Optional[int]], object]]) -> SweepResult:
    result = pending.popleft().result()
    if progress:
        progress(done, total)
    return result
