//===- requests-fuzzer.cpp - Fuzzes the reader of requests ----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is read is printed and read back: as a text, and as JSON.
//
//===----------------------------------------------------------------------===//

#include "stg/Strategy/Requests.h"
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
  return 0;
}
