# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules as text, and passes on them."""

from __future__ import annotations

import os
from pathlib import Path as _Path
from typing import Union, overload

from . import _stg
from .arguments import check_text, to_path

Path = Union[str, "os.PathLike[str]"]


class Module:
    """A module of the compiler's intermediate representation. It does not change: passes make
    other modules of it."""

    def __init__(self, text: str, name: str = "module"):
        """Checks the text. `name` is what messages call it. Raises Error."""
        check_text("text", text, "the text of a module")
        check_text("name", name, "a text")
        self.name = name
        self._text = _stg.run_passes(text, "", name)

    @classmethod
    def from_file(cls, path: Path) -> "Module":
        """Reads a .mlir file. Raises OSError, ValueError for what is no UTF-8, and Error."""
        name = to_path("path", path)
        return cls(_Path(os.fsdecode(name)).read_text(encoding="utf-8"), name.decode(errors="replace"))

    @property
    def text(self) -> str:
        """The module as text, printed as `stg-opt` prints it."""
        return self._text

    def run(self, pipeline: str) -> "Module":
        """The module after a pipeline of `stg-opt`, such as "stg-name-ops,stg-autodiff". Raises
        Error."""
        check_text("pipeline", pipeline, "a text, such as 'stg-name-ops,stg-autodiff'")
        module = Module.__new__(Module)
        module.name = self.name
        module._text = _stg.run_passes(self._text, pipeline, self.name)
        return module

    def __str__(self) -> str:
        return self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Module) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


@overload
def run_passes(module: str, pipeline: str = "", name: str = "module") -> str: ...


@overload
def run_passes(module: Module, pipeline: str = "", name: str = "module") -> Module: ...


def run_passes(module: Union[str, Module], pipeline: str = "",
               name: str = "module") -> Union[str, Module]:
    """Runs a pipeline of `stg-opt`, such as "stg-name-ops,stg-autodiff", on a module or the text of
    one, and returns the result as what it was. `name` is what messages call a text. Raises
    Error. Other threads run meanwhile."""
    if isinstance(module, Module):
        return module.run(pipeline)
    check_text("module", module, "a Module, or the text of one")
    check_text("pipeline", pipeline, "a text, such as 'stg-name-ops,stg-autodiff'")
    check_text("name", name, "a text")
    return _stg.run_passes(module, pipeline, name)
