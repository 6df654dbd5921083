# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables that NumPy and pandas take as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterable, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas


def _to_column(values: Any) -> npt.NDArray[Any]:
    """64-bit numbers and bools where they fit, else what Python has; texts as objects."""
    if isinstance(values, np.ndarray):
        return values
    column = np.empty(len(values), dtype=_get_type(values))
    column[:] = values
    return column


def _get_type(values: Sequence[Any]) -> npt.DTypeLike:
    types = set(map(type, values))
    if types == {bool}:
        return np.bool_
    if types == {int} and all(-(2**63) <= value < 2**63 for value in values):
        return np.int64
    # With integers among them only where these are floats, too.
    if float in types and types <= {float, int, type(None)} and all(
            type(value) is not int or abs(value) <= 2**53 for value in values):
        return np.float64
    return object


class Table(Dict[str, Any]):
    """Columns of equal length by name: lists, or arrays of NumPy.

    It is a dictionary, which `pandas.DataFrame` takes. `numpy.asarray` makes records of it.
    """

    def __init__(self, columns: Dict[str, Any]):
        super().__init__(columns)
        lengths = {name: len(values) for name, values in columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns of different lengths: {lengths}")

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[Any]], names: Sequence[str]) -> "Table":
        """Makes columns of rows."""
        kept = list(rows)
        return cls({name: [row[index] for row in kept] for index, name in enumerate(names)})

    @property
    def num_rows(self) -> int:
        """The length of the columns."""
        return len(next(iter(self.values()))) if self else 0

    def rows(self) -> Iterable[Tuple[Any, ...]]:
        """The rows, with the columns in their order."""
        return zip(*self.values())

    def to_numpy(self) -> npt.NDArray[Any]:
        """An array of records with a field for each column. Numbers have 64 bits where all of a
        column fit, and are numbers of Python where not: nothing is rounded. None among floats is
        nan."""
        columns = {name: _to_column(values) for name, values in self.items()}
        fields = [(name, column.dtype) for name, column in columns.items()]
        records = np.empty(self.num_rows, dtype=fields)
        for name, column in columns.items():
            records[name] = column
        return records

    def __array__(self, dtype: Optional[npt.DTypeLike] = None) -> npt.NDArray[Any]:
        records = self.to_numpy()
        return records if dtype is None else records.astype(dtype)

    def to_pandas(self) -> "pandas.DataFrame":
        """A data frame, with columns as of `to_numpy`. Raises ImportError where there is no
        pandas."""
        import pandas

        return pandas.DataFrame({name: _to_column(values) for name, values in self.items()})
