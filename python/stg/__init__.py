# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What each device of a distributed model does, exactly, without any device.

    import stg

    run = stg.compile("llama3-8b", tp=8, dp=4, batch=16)
    print(run.peak_memory, run.classes[0].operations)
"""

from . import _stg
from .compiler import Compilation, compile, run_passes
from .errors import Error, Message
from .nodes import Bundle, Node
from .strategy import Strategy
from .totals import Collective, Memory, Messages, Phase, RankClass

__version__: str = _stg.version

__all__ = [
    "Bundle", "Collective", "Compilation", "Error", "Memory", "Message", "Messages", "Node",
    "Phase", "RankClass", "Strategy", "compile", "run_passes",
]
