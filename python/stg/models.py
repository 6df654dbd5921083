# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of the library, and configurations of model hubs as models."""

from __future__ import annotations

import os
from typing import List, NamedTuple, Optional, Sequence, Tuple

from . import _stg
from .compiler import Path, to_folders
from .errors import Message
from .modules import Module


class LibraryModel(NamedTuple):
    """A model of the library."""

    name: str
    family: str
    parameters: int


class ImportedModel(NamedTuple):
    """What a configuration has become."""

    text: str
    """That of a `.mlir` file."""
    name: str
    family: str
    messages: Tuple[Message, ...]
    """What the model leaves out of the configuration."""

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
    name, family, module_text, messages = _stg.import_config(
        os.fspath(config), text, to_folders(models), ignore_quantization)
    return ImportedModel(module_text, name, family,
                         tuple(Message(*message) for message in messages))
