# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of arguments."""

from __future__ import annotations

from operator import index
from typing import Any, Tuple, Union


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
