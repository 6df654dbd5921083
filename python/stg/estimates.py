# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long a step takes on a machine."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Dict, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import _stg
from .arguments import check_type, to_path
from .compiler import Canceller, Path, Progress, make_options
from .errors import Message
from .modules import Module
from .nodes import Bundle
from .strategy import Strategy


class ClassTime(NamedTuple):
    """When the ranks of a class are done."""

    name: str
    num_ranks: int
    end_seconds: float


@dataclasses.dataclass(frozen=True)
class Estimate:
    """The time of a step, and where it goes."""

    step_seconds: float
    machine: str
    num_ranks: int
    model_use: float
    """Operations of products and attention that the program counts, without those that are done again,
    over what the devices could do (MFU)."""
    hardware_use: float
    """The same of operations that kernels execute, from 0 to 1 (HFU)."""
    interval_seconds: Optional[float]
    """From one step of decoding to the next one, where stages have several of them; else None."""
    token_rate: Optional[float]
    """Tokens per second and device; None if the step has none."""
    needed_bytes: float
    available_bytes: float
    """Memory of a device that is needed, and that is there."""
    mean_error: Optional[float]
    """Of steps of this machine that no constant was fitted on, a fraction; None if no step has been
    compared."""
    parts: Dict[str, float]
    """Seconds of a rank by what they are spent on, the mean of all: together the step."""
    classes: Tuple[ClassTime, ...]
    last_class: str
    """The class that is done last."""
    text: str = dataclasses.field(repr=False)
    """What `stg-estimate --json` prints."""
    warnings: Tuple[Message, ...] = dataclasses.field(default=(), compare=False)
    """What compiling said without being an error; nothing of a bundle."""

    @property
    def fits(self) -> bool:
        """Whether a device has the memory, and its host what is offloaded."""
        return bool(self.to_dict()["memory"]["fits"])

    def to_dict(self) -> Dict[str, Any]:
        """What `stg-estimate --json` prints."""
        result: Dict[str, Any] = json.loads(self.text)
        return result


def estimate(model: Union[Path, Module, Bundle], machine: Path,
             strategy: Optional[Strategy] = None, *, machine_set: Mapping[str, Any] = {},
             text: Optional[str] = None, config: Optional[str] = None,
             program: Optional[str] = None, models: Sequence[Path] = (),
             ignore_quantization: bool = False, progress: Optional[Progress] = None,
             canceller: Optional[Canceller] = None, **fields: Any) -> Estimate:
    """Estimates how long a step takes on a machine.

    model: what `compile` takes, or a bundle, which has its strategy.
    machine: the name of a machine of the library, or a .json file.
    machine_set: numbers of the machine that are others, such as
        {"device.memory.capacity": "40 GB"}.
    The rest is as of `compile`.

    Raises Error with what is wrong, Interrupted if it was cancelled, TypeError for a field that
    there is not, and ValueError for a bundle with a strategy, or with what only compiling asks for
    (`ignore_quantization`, `progress` and `canceller`). Other threads run meanwhile.
    """
    check_type("machine_set", machine_set, Mapping,
               "a dictionary, such as {'device.memory.capacity': '40 GB'}")
    changes = [f"{key}={value}" for key, value in machine_set.items()]
    name = to_path("machine", machine)
    if isinstance(model, Bundle):
        if strategy is not None or fields or text or config or program or models:
            raise ValueError("a bundle is of a model with a strategy")
        if ignore_quantization or progress is not None or canceller is not None:
            raise ValueError("a bundle is compiled: nothing is ignored, reported or cancelled")
        parts = _stg.estimate_bundle(model._handle, name, changes)
    else:
        options = make_options(model, strategy, fields, text, config, program, models, canceller,
                               progress)
        options["ignore_quantization"] = ignore_quantization
        parts = _stg.estimate(options, name, changes)
    parts["parts"] = dict(parts["parts"])
    parts["classes"] = tuple(ClassTime(*entry) for entry in parts["classes"])
    parts["warnings"] = tuple(map(Message._of_call, parts["warnings"]))
    return Estimate(**parts)
