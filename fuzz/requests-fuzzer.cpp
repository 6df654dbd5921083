//===- requests-fuzzer.cpp - Fuzzes the reader of requests ----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is read is printed and read back: as a text, and as JSON. Then it is
// scheduled: each step is a list that can be read, and within its limits.
//
//===----------------------------------------------------------------------===//

#include "stg/Strategy/StepPlan.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace llvm;
using namespace stg;

static void require(bool holds, const char *what) {
  if (holds)
    return;
  errs() << what << '\n';
  std::abort();
}

static void checkSteps(Expected<std::vector<StepLoop>> loops, int64_t budget) {
  if (!loops)
    return consumeError(loops.takeError());
  require(!loops->empty(), "there are no steps");
  for (const StepLoop &loop : *loops) {
    require(loop.count > 0, "a loop has no steps");
    require(loop.requests.countNew() <= budget, "a step is over its budget");
    Expected<Requests> again = readRequests(loop.getLast().str());
    require(again && again->str() == loop.getLast().str(),
            "a step reads back differently");
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef text(reinterpret_cast<const char *>(data), size);
  Expected<Requests> requests = readRequests(text);
  if (!requests) {
    consumeError(requests.takeError());
    return -1;
  }
  require(requests->countNew() >= requests->countRequests(),
          "a request has no new token");
  Expected<Requests> again = readRequests(requests->str());
  require(again && again->str() == requests->str(),
          "the text reads back differently");
  json::Value value = writeRequests(*requests);
  Expected<Requests> fromJSON = readRequests(*value.getAsArray());
  require(fromJSON && fromJSON->str() == requests->str(),
          "JSON reads back differently");
  require(readRequests(requests->withLogits(true).str()).operator bool(),
          "rows of logits are more than tokens");
  checkSteps(repeatSteps(*requests, 5), INT64_MAX);
  checkSteps(scheduleSteps(*requests, {64, 0}, 20), 64);
  checkSteps(scheduleSteps(*requests, {64, 16}, 20), 64);
  return 0;
}
