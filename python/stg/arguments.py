# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What arguments are checked for, and made into."""

from __future__ import annotations

import os
from operator import index
from typing import Any, Hashable, Iterable, Tuple, Union


def check_type(name: str, value: object, types: Union[type, Tuple[type, ...]],
               expected: str) -> None:
    """Raises TypeError for a value that is of another type, with the name of the argument."""
    if not isinstance(value, types):
        raise TypeError(f"{name}={value!r}: expected {expected}")


def to_rank(rank: Any, num_ranks: int) -> int:
    """A rank of so many. Raises TypeError, and IndexError."""
    try:
        number = index(rank)
    except TypeError:
        raise TypeError(f"rank={rank!r}: expected an integer") from None
    if not 0 <= number < num_ranks:
        raise IndexError(f"rank {number} of {num_ranks}")
    return number


def to_plain(value: Any) -> Any:
    """What JSON has no type for: paths, numbers and arrays of NumPy, other sequences."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Iterable):
        return list(value)
    raise TypeError(f"{value!r}: expected a number, a text, a list or a dictionary of them")


def to_hashable(value: Any) -> Any:
    """Of equal values what is equal, too."""
    if isinstance(value, dict):
        return frozenset((key, to_hashable(one)) for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(map(to_hashable, value))
    return value if isinstance(value, Hashable) else type(value)
