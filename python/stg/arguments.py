# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What arguments are checked for, and made into."""

from __future__ import annotations

import json
import os
from operator import index
from typing import Any, Dict, Hashable, Iterable, Iterator, List, Tuple, Union


def check_type(name: str, value: object, types: Union[type, Tuple[type, ...]],
               expected: str) -> None:
    """Raises TypeError for a value that is of another type, with the name of the argument."""
    if not isinstance(value, types):
        raise TypeError(f"{name}={value!r}: expected {expected}")


def check_text(name: str, value: object, expected: str) -> None:
    """Raises TypeError for what is no text, and ValueError for one that C cannot have."""
    check_type(name, value, str, expected)
    try:
        _check_null(name, str(value).encode())
    except UnicodeEncodeError:
        raise ValueError(f"{name}={value!r}: half of a character, which no text has") from None


def _check_null(name: str, value: bytes) -> None:
    if b"\0" in value:
        raise ValueError(f"{name}: embedded null character")


def check_above(name: str, value: Any, least: float) -> None:
    """Raises TypeError for what is no number, and ValueError for one that is not greater."""
    try:
        is_above = bool(value > least)
    except TypeError:
        raise TypeError(f"{name}={value!r}: expected a number") from None
    if not is_above:
        raise ValueError(f"{name} must be greater than {least}, not {value}")


def to_integer(name: str, value: Any) -> int:
    """Raises TypeError for what is no integer."""
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r}: expected an integer") from None


def to_float(name: str, value: Any) -> float:
    """Raises TypeError for what is no number."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name}={value!r}: expected a number")
    try:
        return float(value)
    except TypeError:
        raise TypeError(f"{name}={value!r}: expected a number") from None


def to_list(name: str, values: Any, expected: str) -> List[Any]:
    """Raises TypeError for what cannot be iterated over, and for a text, which is a list of its
    letters to Python."""
    try:
        if not isinstance(values, (str, bytes)):
            return list(values)
    except TypeError:
        pass
    raise TypeError(f"{name}={values!r}: expected {expected}")


def to_pair(name: str, values: Any) -> Tuple[int, int]:
    """Raises TypeError for what are not two integers."""
    expected = "two integers, such as (0, 8)"
    pair = to_list(name, values, expected)
    if len(pair) != 2:
        raise TypeError(f"{name}={values!r}: expected {expected}")
    return to_integer(name, pair[0]), to_integer(name, pair[1])


def to_path(name: str, value: Any) -> bytes:
    """A path, or the name of something in the library, as the system has it: names of files are
    bytes, which need not be a text. Raises TypeError and ValueError."""
    try:
        path = os.fsencode(value)
    except TypeError:
        raise TypeError(f"{name}={value!r}: expected a text or a path") from None
    except UnicodeEncodeError:
        raise ValueError(f"{name}={value!r}: half of a character, which no path has") from None
    _check_null(name, path)
    return path


def to_rank(rank: Any, num_ranks: int) -> int:
    """A rank of so many. Raises TypeError, and IndexError."""
    number = to_integer("rank", rank)
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


def to_json(fields: Dict[str, Any]) -> str:
    """A JSON object. Raises TypeError and ValueError with the name of the field."""
    texts = []
    for name, value in fields.items():
        try:
            text = json.dumps(value, default=to_plain, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name}={value!r}: {error}") from None
        texts.append(f"{json.dumps(name)}: {text}")
    return "{" + ", ".join(texts) + "}"


def to_lasting(value: Any) -> Any:
    """The same each time that it is looked at, and equal to what is equal: iterators and arrays as
    lists."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return list(value) if isinstance(value, Iterator) else value


def to_hashable(value: Any) -> Any:
    """Of equal values what is equal, too."""
    if isinstance(value, dict):
        return frozenset((key, to_hashable(one)) for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(map(to_hashable, value))
    return value if isinstance(value, Hashable) else type(value)
