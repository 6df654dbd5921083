//===- SettleStrategy.h - From what is given to what is compiled -*- C++ -*-==//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DRIVER_SETTLESTRATEGY_H
#define STG_LIB_DRIVER_SETTLESTRATEGY_H

#include "SymbolValues.h"
#include "stg/Presets/Preset.h"
#include "stg/Schedule/PipelineSchedule.h"

namespace stg {

/// Makes the strategy what is compiled: with the defaults of the preset, and
/// what follows from the model and the mesh. Pads the vocabulary in `values`.
llvm::Expected<PresetPlan> settleStrategy(const Preset &preset,
                                          const CompileRequest &request,
                                          mlir::ModuleOp module,
                                          SymbolValues &values,
                                          StrategyInput &strategy);

/// What the schedule of a strategy is wanted for.
ScheduleRequest getScheduleRequest(const Strategy &strategy);

} // namespace stg

#endif // STG_LIB_DRIVER_SETTLESTRATEGY_H
