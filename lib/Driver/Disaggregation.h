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

#include "mlir/IR/BuiltinOps.h"
#include "stg/Strategy/Strategy.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>
#include <vector>

namespace stg {

/// A dimension of a cache: what a device has of it, and the axes, major to
/// minor, that divide it.
struct KeptDim {
  std::string name; ///< Empty if there is none, or several.
  int64_t local = 1;
  llvm::SmallVector<std::string, 2> axes;
};

/// What one op keeps on each device.
struct KeptCache {
  std::string name;
  std::vector<std::string> repeats; ///< Around it, from the outside.
  /// Of one token of one row; of a state, which has none, of one request.
  int64_t tokenBytes = 0;
  /// A token sees so many, its own too, or those of a chunk; 0: all.
  int64_t window = 0, chunk = 0;
  int64_t row = -1, token = -1; ///< Dimensions; a state has no tokens.
  bool isState() const { return token < 0; }
  std::vector<KeptDim> dims;
};

/// A program whose symbols have values, and what it keeps.
struct DisaggregatedProgram {
  mlir::ModuleOp module; ///< At the chakra level.
  std::vector<KeptCache> caches;
};

/// The axes that divide dimensions, major to minor, by their names.
using DividingAxes = std::map<std::string, llvm::SmallVector<std::string, 2>>;

/// The caches of the program at the local level. What cannot be sent is an
/// error. `requests` are those of a row, `kvBlockSize` tokens are a block.
llvm::Expected<std::vector<KeptCache>> collectCaches(mlir::ModuleOp module,
                                                     const Requests &requests,
                                                     int64_t kvBlockSize,
                                                     const DividingAxes &axes);

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
