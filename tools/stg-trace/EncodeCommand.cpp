//===- EncodeCommand.cpp - stg-trace encode -------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The way back from the JSON form of a trace.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "stg/Support/Files.h"
#include "stg/Trace/Reader/ChakraJSON.h"

using namespace llvm;

namespace stg::trace {

static cl::SubCommand command("encode",
                              "Write the trace of which a file is the JSON "
                              "form (print --form=messages)");
static cl::opt<std::string> input(cl::Positional, cl::Required,
                                  cl::desc("<.json file or ->"),
                                  cl::sub(command));

cl::SubCommand &getEncodeCommand() { return command; }

Expected<bool> runEncode(raw_ostream &os) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = stg::readInput(input);
  if (!buffer)
    return createStringError(input + ": " + toString(buffer.takeError()));
  if (Error error = encodeMessages((*buffer)->getBuffer(), input, os))
    return std::move(error);
  return true;
}

} // namespace stg::trace
