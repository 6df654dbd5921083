//===- Disaggregation.h - Prefill and decoding on ranks of their own ------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two programs of one model, one that reads prompts and one that goes on with
// them, become one set of graphs: the ranks of the second follow those of the
// first, and what the first has kept is sent to who needs it.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DRIVER_DISAGGREGATION_H
#define STG_LIB_DRIVER_DISAGGREGATION_H

#include "KeptCaches.h"

namespace stg {

/// A program whose symbols have values, and what it keeps.
struct DisaggregatedProgram {
  mlir::ModuleOp module; ///< At the chakra level.
  std::vector<KeptCache> caches;
};

/// Puts the graphs of both programs into `joined`, one for each rank, with the
/// messages between them. `requests` are the prompts of each row, and `symbols`
/// the values of the model's symbols. Returns the first rank of decoding.
llvm::Expected<int64_t>
joinPrograms(mlir::ModuleOp joined, const DisaggregatedProgram &prefill,
             const DisaggregatedProgram &decode, const Requests &requests,
             int64_t kvBlockSize,
             const std::map<std::string, int64_t> &symbols);

} // namespace stg

#endif // STG_LIB_DRIVER_DISAGGREGATION_H
