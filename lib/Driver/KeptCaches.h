//===- KeptCaches.h - What devices keep of requests -------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The caches and states of a local program: which axes divide them, and which
// tokens of a request a device has that divides tokens with others.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DRIVER_KEPTCACHES_H
#define STG_LIB_DRIVER_KEPTCACHES_H

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

/// A prompt: tokens that were cached before, and new ones, which begin at a
/// place of the row that they are in.
struct Prompt {
  int64_t cached = 0, fresh = 0;
  int64_t begin = 0, row = 0;
  int64_t countTokens() const { return cached + fresh; }
};

/// One of the devices that divide tokens.
struct TokenPart {
  int64_t number = 0, parts = 1;
  bool operator==(TokenPart other) const {
    return number == other.number && parts == other.parts;
  }
};

/// What one op keeps on each device.
struct KeptCache {
  std::string name;
  std::vector<std::string> repeats; ///< Around it, from the outside.
  /// Of one token of one row; of a state, which has none, of one request.
  int64_t tokenBytes = 0;
  mlir::Type elementType;
  /// A token sees so many, its own too, or those of a chunk; 0: all.
  int64_t window = 0, chunk = 0;
  /// Of tokens that devices divide each has one of so many parts, or two.
  int64_t tokenParts = 1;
  int64_t row = -1, token = -1; ///< Dimensions; a state has no tokens.
  std::vector<KeptDim> dims;

  bool isState() const { return token < 0; }
  /// Of so many tokens those that the next one sees.
  int64_t countVisible(int64_t tokens) const;
  /// Of so many tokens those that there is room for.
  int64_t countRoom(int64_t tokens) const;
  /// Of so many tokens those that are kept and that a step sees: of a window
  /// equally many in each part.
  int64_t countKept(int64_t tokens) const;
  /// The tokens of a prompt that a device sends: of those that the first new
  /// token sees, as whole blocks, of which it begins one where they were full.
  /// Each is sent by who has it. What is in the last block and not made yet is
  /// sent with the last token, what is in the first one and not kept with the
  /// first that is.
  int64_t countSent(const Prompt &prompt, TokenPart part,
                    int64_t kvBlockSize) const;
};

/// The axes that divide dimensions, major to minor, by their names.
using DividingAxes = std::map<std::string, llvm::SmallVector<std::string, 2>>;

/// The caches of the program at the local level. What cannot be sent is an
/// error. `requests` are those of a row. `axes` are those that divide where no
/// layout is known, and first where one is. `tokenParts` is into how many parts
/// devices divide tokens. What a token sees is that of `others`, a program of
/// the same model, where devices do not have all keys.
llvm::Expected<std::vector<KeptCache>>
collectCaches(mlir::ModuleOp module, const Requests &requests,
              const DividingAxes &axes, int64_t tokenParts,
              llvm::ArrayRef<KeptCache> others = {});

} // namespace stg

#endif // STG_LIB_DRIVER_KEPTCACHES_H
