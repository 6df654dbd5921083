//===- ChakraJSON.h - Traces in Chakra's own JSON forms ---------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two forms that Chakra's tools know:
//
// - the JSON form of protobuf messages (proto3's mapping), one object after the
//   other, the metadata first, as `chakra_jsonizer` writes it. It holds all of
//   a trace, and is read back.
// - what Chakra's feeder takes instead of a trace: one object with a list
//   `workload_graph`. It holds what the feeder reads of it, and is not read.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_READER_CHAKRAJSON_H
#define STG_TRACE_READER_CHAKRAJSON_H

#include "stg/Trace/Reader/TraceReader.h"

namespace stg::trace {

/// Writes a whole trace as messages. Text that is not UTF-8 is an error, as
/// JSON cannot hold it.
llvm::Error printMessages(TraceReader &reader, llvm::raw_ostream &os);

/// Writes a whole trace as a graph for the feeder.
llvm::Error printFeederGraph(TraceReader &reader, llvm::raw_ostream &os);

/// Writes the trace of which `text` is the JSON form. Fields have the names of
/// the mapping or those of the schema; what is none of the schema is an error.
/// `file` is what messages call the text.
llvm::Error encodeMessages(llvm::StringRef text, llvm::StringRef file,
                           llvm::raw_ostream &os);

} // namespace stg::trace

#endif // STG_TRACE_READER_CHAKRAJSON_H
