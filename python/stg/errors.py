# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is wrong with the input, in parts."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Dict, FrozenSet, NamedTuple, Sequence, Tuple

from . import _stg

_FLAG = re.compile(r"""
    (?P<tool>\bstg-[a-z-]+\ )?         # Of a tool it stays a flag.
    (?<![\w-])--(?P<name>[a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?![\w-])
    (?:[ =](?:
        (?P<key>[A-Za-z_][\w.-]*)=(?P<of_key>[^\s:,;)]+)
        | (?P<number>-?\d+(?:\.\d+)?)(?![\w.-]*\w)
        | (?P<placeholder>[A-Z]+)(?![\w-])
        | (?P<text>[A-Za-z_][\w.-]*)(?P<colon>:)?
    ))?""", re.VERBOSE)

_ARGUMENTS = ("among", "comm-groups", "config", "goal", "ignore-quantization", "machine",
              "machine-set", "memory-limit", "program", "ranks", "top", "vary", "within")
"""Those that are flags of a tool and no fields of a strategy."""


@lru_cache(maxsize=None)
def _get_keywords() -> Dict[str, Tuple[str, FrozenSet[str]]]:
    """Keywords by the names of flags, with the words that are values."""
    keywords: Dict[str, Tuple[str, FrozenSet[str]]] = {
        name: (name.replace("-", "_"), frozenset()) for name in _ARGUMENTS}
    for name, keyword, _, expectation in _stg.fields():
        is_choice = not expectation.startswith(("a ", "an "))
        words = re.findall(r"[\w.-]+", expectation) if is_choice else []
        keywords[name] = keyword, frozenset(words) - {"or"}
    return keywords


def _to_keyword(match: "re.Match[str]") -> str:
    """What a flag is to who has called a function."""
    if match["tool"]:
        return match[0]
    if match["name"] == "list-models":
        return "stg.list_models()" + match[0].partition("models")[2]
    if match["name"] not in _get_keywords():
        return match[0]
    keyword, words = _get_keywords()[match["name"]]
    rest = match[0].partition(match["name"])[2]
    if match["key"]:
        value = match["of_key"]
        shown = value if re.fullmatch(r"-?\d+|[A-Z]+", value) else repr(value)
        return f"{keyword}={{{match['key']!r}: {shown}}}"
    if match["number"] or match["placeholder"]:
        return f"{keyword}={rest[1:]}"
    if match["text"] in words or match["colon"]:
        return f"{keyword}={match['text']!r}{match['colon'] or ''}"
    return keyword + rest


def to_keywords(text: str) -> str:
    """What is said of flags, said of arguments: `--cp-balance none` is `cp_balance='none'`."""
    return _FLAG.sub(_to_keyword, text)


class Message(NamedTuple):
    """What is said about the input, and where it was seen."""

    severity: str
    """"error", "warning", "remark", or "note", which belongs to the message before it."""
    text: str
    file: str
    """Empty if the message has no place."""
    line: int
    """From 1; 0 if the message has no place."""
    column: int

    @classmethod
    def _of_call(cls, parts: Sequence[Any]) -> "Message":
        """What a call has said, in the words of Python."""
        message = cls(*parts)
        return message._replace(text=to_keywords(message.text))

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.file else ""
        return f"{place}{self.severity}: {self.text}"


class Error(Exception):
    """The input is wrong. `messages` says how; the text has a line for each of them."""

    messages: Tuple[Message, ...]

    def __init__(self, messages: Sequence[Sequence[Any]]):
        self.messages = tuple(map(Message._of_call, messages))
        super().__init__("\n".join(str(message) for message in self.messages))

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.messages,)


class Interrupted(Error):
    """Nothing is wrong, but the call was cancelled."""
