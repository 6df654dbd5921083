# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures with matplotlib, which is imported when one is drawn."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple, TypeVar

import numpy as np

from .compiler import Compilation
from .timelines import Timeline

T = TypeVar("T")

_GIB = 2.0**30
_COLORS = {"fwd": "#4c78a8", "bwd": "#f58518", "recompute": "#eeca3b", "grad_sync": "#72b7b2",
           "opt": "#54a24b", "": "#9d9da1"}


def _get_axes(axes: Any, width: float = 7.0, height: float = 3.5) -> Any:
    if axes is not None:
        return axes
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height), constrained_layout=True)[1]


def memory(run: Compilation, class_name: Optional[str] = None, axes: Any = None) -> Any:
    """Draws the memory of a rank over the step, in GiB, stacked by category. The compilation has
    its timeline: `compile(..., timeline=True)`.

    class_name: the class of the rank (the one that needs most memory).
    axes: of matplotlib, to draw on; made if there are none.

    Returns the axes.
    """
    table = run.memory_timeline(class_name)
    axes = _get_axes(axes)
    names = [name for name in table if name not in ("node", "path") and any(table[name])]
    axes.stackplot(table["node"], [np.array(table[name]) / _GIB for name in names], labels=names,
                   step="post", rasterized=True)
    axes.set_xlabel("node")
    axes.set_ylabel("GiB")
    axes.margins(x=0)
    axes.legend(loc="upper left", fontsize="small")
    return axes


def schedule(timeline: Timeline, axes: Any = None) -> Any:
    """Draws when ranks compute, one row for each, with the numbers of micro-batches.

    axes: of matplotlib, to draw on; made if there are none.

    Returns the axes.
    """
    ranks = sorted({span.rank for span in timeline.spans})
    axes = _get_axes(axes, height=1.0 + 0.35 * len(ranks))
    drawn: Dict[str, Any] = {}
    for span in timeline.spans:
        row = ranks.index(span.rank)
        bar = axes.barh(row, 1e3 * (span.end - span.start), left=1e3 * span.start, height=0.85,
                        color=_COLORS.get(span.phase, _COLORS[""]), edgecolor="white", linewidth=0.3)
        drawn.setdefault(span.phase or "other", bar)
        if span.turn is not None and span.end - span.start > 0.015 * timeline.seconds:
            axes.text(500 * (span.start + span.end), row, str(span.turn), ha="center", va="center",
                      fontsize="x-small", color="white")
    axes.set_yticks(range(len(ranks)), [f"rank {rank}" for rank in ranks])
    axes.invert_yaxis()
    axes.set_xlabel("ms")
    axes.margins(x=0)
    if drawn:
        axes.legend(drawn.values(), drawn.keys(), loc="upper center", bbox_to_anchor=(0.5, 1.2),
                    ncol=len(drawn), fontsize="small", frameon=False)
    return axes


def get_front(points: Sequence[Tuple[float, float]]) -> List[int]:
    """The positions of the points that no other is at most as large as in both coordinates, by
    their first coordinate. Of equal points the first one is taken."""
    order = sorted(range(len(points)), key=lambda i: (points[i][0], points[i][1], i))
    front: List[int] = []
    for i in order:
        if not front or points[i][1] < points[front[-1]][1]:
            front.append(i)
    return front


def pareto(points: Sequence[Tuple[float, float]], labels: Optional[Sequence[str]] = None,
           names: Tuple[str, str] = ("", ""), axes: Any = None) -> Any:
    """Draws points, and a line through those that no other is better than in both coordinates, of
    which less is better.

    labels: of the points, one for each; those on the front are shown.
    names: of the coordinates.
    axes: of matplotlib, to draw on; made if there are none.

    Returns the axes. Raises ValueError for another number of labels.
    """
    if labels and len(labels) != len(points):
        raise ValueError(f"{len(labels)} labels of {len(points)} points: expected one for each")
    axes = _get_axes(axes, height=4.0)
    axes.scatter([point[0] for point in points], [point[1] for point in points], s=12,
                 color="#9d9da1")
    front = get_front(points)
    axes.plot([points[i][0] for i in front], [points[i][1] for i in front], marker="o",
              markersize=4, color="#4c78a8", drawstyle="steps-post")
    for i in front:
        if labels:
            axes.annotate(labels[i], points[i], xytext=(4, 4), textcoords="offset points",
                          fontsize="x-small")
    axes.set_xlabel(names[0])
    axes.set_ylabel(names[1])
    return axes
