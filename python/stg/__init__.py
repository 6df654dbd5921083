# Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
# See the LICENSE file for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What each device of a distributed model does, exactly, without any device.

    import stg

    run = stg.compile("llama3-8b", tp=8, dp=4, batch=16)
    print(run.peak_memory, run.classes[0].operations)

`stg.plot` draws pictures of it, and `stg.execute` shows when ranks compute.
"""

from . import _stg
from .compiler import Canceller, Compilation, compile
from .estimates import ClassTime, Estimate, estimate
from .errors import Error, Interrupted, Message
from .expressions import Cost, Costs, Expression, costs
from .models import ImportedModel, LibraryModel, import_config, import_linalg, list_models
from .modules import Module, run_passes
from .nodes import COLLECTIVE, COMPUTE, LOAD, RECEIVE, SEND, STORE, Bundle, Node
from .searches import Found, SearchCounts, SearchProgress, SearchResult, SearchValue, search
from .strategy import Strategy
from .sweeps import SweepResult, sweep
from .tables import Table
from .timelines import Span, Timeline, execute
from .totals import Collective, Memory, Messages, Phase, RankClass, Transfers
from .traces import TraceFile, TraceNode, Validation, Violation, read_trace, validate

__version__: str = _stg.version

__all__ = [
    "COLLECTIVE", "COMPUTE", "LOAD", "RECEIVE", "SEND", "STORE", "Bundle", "Canceller",
    "ClassTime", "Collective", "Compilation", "Cost", "Costs", "Error", "Estimate",
    "Expression", "Found", "ImportedModel", "Interrupted", "LibraryModel", "Memory", "Message",
    "Messages", "Module", "Node", "Phase", "RankClass", "SearchCounts", "SearchProgress",
    "SearchResult", "SearchValue", "Span", "Strategy", "SweepResult", "Table", "Timeline",
    "TraceFile", "TraceNode", "Transfers", "Validation", "Violation", "compile", "costs",
    "estimate", "execute", "import_config", "import_linalg", "list_models", "read_trace",
    "run_passes", "search", "sweep", "validate",
]
