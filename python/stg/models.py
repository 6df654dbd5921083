# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of the library, and configurations of model hubs and programs in linalg as models."""

from __future__ import annotations

from typing import Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _stg
from .arguments import check_text, check_type, to_list, to_path
from .compiler import Path, to_folders
from .errors import Message
from .modules import Module


class LibraryModel(NamedTuple):
    """A model of the library."""

    name: str
    family: str
    parameters: int


class ImportedModel(NamedTuple):
    """What a configuration or a program in linalg has become."""

    text: str
    """That of a `.mlir` file."""
    name: str
    family: str
    messages: Tuple[Message, ...]
    """What the model leaves out of the configuration, or what has stayed in parts of kernels."""

    @property
    def module(self) -> Module:
        """The model, for passes and for `compile`."""
        return Module(self.text, self.name)


def list_models(models: Sequence[Path] = ()) -> List[LibraryModel]:
    """The models that `compile` knows by name. `models` are folders that are searched before those
    of the library. Raises Error if something is wrong with one of them, or if a folder is none."""
    return [LibraryModel(*entry)
            for entry in _stg.list_models(to_folders(models))]


def import_config(config: Path, *, text: Optional[str] = None, models: Sequence[Path] = (),
                  ignore_quantization: bool = False) -> ImportedModel:
    """Makes a model of a `config.json`. `compile` takes such a file as it is; here the text of the
    model can be seen and changed.

    config: the file, or with `text` what messages call it.
    ignore_quantization: a quantized configuration is that of the model before.

    Raises Error with everything that cannot be said, each with its place in the file.
    """
    if text is not None:
        check_text("text", text, "the text of a configuration")
    check_type("ignore_quantization", ignore_quantization, (int, np.bool_), "True or False")
    name, family, module_text, messages = _stg.import_config(
        to_path("config", config), text, to_folders(models), bool(ignore_quantization))
    return ImportedModel(module_text, name, family,
                         tuple(map(Message._of_call, messages)))


def import_linalg(program: Path, *, text: Optional[str] = None, loss: bool = False,
                  parameters: Iterable[Union[int, str]] = ()) -> ImportedModel:
    """Makes a model of a program of linalg on tensors, such as what torch-mlir gives, as
    `stg-opt --stg-import-linalg` does. The model has no family.

    program: a `.mlir` file, or with `text` what messages call it.
    loss: return the cross-entropy of the result, which is logits, and of labels, a further input.
    parameters: arguments that are parameters, where they have no `stg.param`: their numbers, such
    as `range(1, 292)`, or ranges as texts, such as `["1-291"]`.

    Raises Error with the place of the op that has no counterpart.
    """
    if text is not None:
        check_text("text", text, "the text of a program")
    check_type("loss", loss, (int, np.bool_), "True or False")
    numbers = [str(number) for number in (
        [parameters] if isinstance(parameters, str) else
        to_list("parameters", parameters, "a list of numbers and ranges"))]
    for number in numbers:
        check_text("parameters", number, "a text")
    name, family, module_text, messages = _stg.import_linalg(
        to_path("program", program), text, bool(loss), numbers)
    return ImportedModel(module_text, name, family,
                         tuple(map(Message._of_call, messages)))
