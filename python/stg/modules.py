# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules as text, and passes on them."""

from __future__ import annotations

import os
from pathlib import Path as _Path
from typing import Union, overload

from . import _stg
from .arguments import check_type

Path = Union[str, "os.PathLike[str]"]


class Module:
    """A module of the compiler's intermediate representation. It does not change: passes make
    other modules of it."""

    def __init__(self, text: str, name: str = "module"):
        """Checks the text. `name` is what messages call it. Raises Error."""
        check_type("text", text, str, "the text of a module")
        check_type("name", name, str, "a text")
        self.name = name
        self._text = _stg.run_passes(text, "", name)

    @classmethod
    def from_file(cls, path: Path) -> "Module":
        """Reads a .mlir file. Raises OSError, and Error."""
        return cls(_Path(path).read_text(encoding="utf-8"), os.fspath(path))

    @property
    def text(self) -> str:
        """The module as text, printed as `stg-opt` prints it."""
        return self._text

    def run(self, pipeline: str) -> "Module":
        """The module after a pipeline of `stg-opt`, such as "stg-name-ops,stg-autodiff". Raises
        Error."""
        check_type("pipeline", pipeline, str, "a text, such as 'stg-name-ops,stg-autodiff'")
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
    check_type("module", module, str, "a Module, or the text of one")
    check_type("pipeline", pipeline, str, "a text, such as 'stg-name-ops,stg-autodiff'")
    check_type("name", name, str, "a text")
    return _stg.run_passes(module, pipeline, name)
