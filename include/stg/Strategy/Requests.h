//===- Requests.h - The requests of a step of inference ---------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step of inference is a list of requests, each with new tokens and tokens
// that earlier steps have kept. It is given as a text, `64*(1,4095),(512,0)`,
// or as a file of JSON objects, one in each line: `{"new": 512, "cached": 0}`.
// Where there are several steps, a request may come with one of them, and
// leave. Data-parallel ranks, and micro-batches, may each have a list of their
// own.
//
//===----------------------------------------------------------------------===//

#ifndef STG_STRATEGY_REQUESTS_H
#define STG_STRATEGY_REQUESTS_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace stg {

/// So many requests that are alike.
struct Request {
  int64_t count = 1;
  int64_t newTokens = 1;
  int64_t cachedTokens = 0;
  /// The last of the new tokens, of which logits are made; none: as the
  /// strategy says.
  std::optional<int64_t> logits;
  /// The step with which they come; where there are several.
  int64_t arrival = 0;
  /// Tokens after which they leave; none: they stay.
  std::optional<int64_t> generate;
  /// The data-parallel rank whose they are; none: each rank has them.
  std::optional<int64_t> rank;
  /// The micro-batch whose they are; none: each micro-batch has them.
  std::optional<int64_t> microBatch;

  auto getKind() const {
    return std::tie(newTokens, cachedTokens, logits, arrival, generate, rank,
                    microBatch);
  }
};

/// The requests whose tokens are packed into a row, equal ones together; empty:
/// each row is a request.
struct Requests {
  std::vector<Request> list;

  bool empty() const { return list.empty(); }
  int64_t countRequests() const;
  int64_t countNew() const;
  int64_t countCached() const;
  /// True if requests come or leave.
  bool change() const;
  /// True if data-parallel ranks have requests of their own.
  bool areOfRanks() const;
  /// True if micro-batches have requests of their own.
  bool areOfMicroBatches() const;
  /// The requests of each rank; one list if all ranks have the same.
  std::vector<Requests> getLists() const;
  /// The requests of each micro-batch, of all ranks, likewise.
  std::vector<Requests> getMicroBatches() const;
  /// `64*(1,4095),(5,1024,5)`, `(512,0)@8+16` of one that comes with step 8 and
  /// leaves when it has 16 tokens, `(1,9)#2` of data-parallel rank 2, and
  /// `(1,9)/2` of micro-batch 2.
  std::string str() const;
  /// Puts equal requests together, where the first of them is: a step does not
  /// depend on their order, and what is compiled not on how many are alike.
  void joinEqual();
  /// The same with as many rows of logits as are made where none are said.
  Requests withLogits(bool all) const;
};

/// Reads the text of a list, or of a file if it begins with `{` or `[`: an
/// array, or an object in each line. The error names the line.
llvm::Expected<Requests> readRequests(llvm::StringRef text);
/// The same of an array, whose elements are counted from 0.
llvm::Expected<Requests> readRequests(const llvm::json::Array &array);
/// The array that `readRequests` reads.
llvm::json::Value writeRequests(const Requests &requests);

} // namespace stg

#endif // STG_STRATEGY_REQUESTS_H
