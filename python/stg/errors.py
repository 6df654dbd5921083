# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is wrong with the input, in parts."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence, Tuple


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

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.file else ""
        return f"{place}{self.severity}: {self.text}"


class Error(Exception):
    """The input is wrong. `messages` says how; the text has a line for each of them."""

    messages: Tuple[Message, ...]

    def __init__(self, messages: Sequence[Sequence[Any]]):
        self.messages = tuple(Message(*message) for message in messages)
        super().__init__("\n".join(str(message) for message in self.messages))

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.messages,)


class Interrupted(Error):
    """Nothing is wrong, but the call was cancelled."""
