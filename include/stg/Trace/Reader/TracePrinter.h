//===- TracePrinter.h - Trace messages as JSON ------------------*- C++ -*-===//
//
// Text form of a trace: one JSON object a line, the metadata first. Field and
// attribute names are those of the schema (include/stg/Proto/et_def.proto),
// e.g.
//
//   {"metadata":{"version":"0.0.4","attr":[]}}
//   {"id":3,"name":"x","type":"COMP","data_deps":[1,2],
//    "attr":[{"name":"num_ops","int64_val":8}]}
//
// Fields with the schema's default are left out, except id, name and type.
// Every byte sequence gives valid JSON: what is not UTF-8 appears as the text
// `\xNN`, bytes attributes are base64, and floating point values without a
// JSON number are the strings "NaN", "Infinity" and "-Infinity".
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_READER_TRACEPRINTER_H
#define STG_TRACE_READER_TRACEPRINTER_H

#include "stg/Trace/Reader/TraceReader.h"

namespace stg::trace {

/// Writes one line.
void printMetadata(const Metadata &metadata, llvm::raw_ostream &os);

/// Writes one line.
void printNode(const Node &node, llvm::raw_ostream &os);

/// Writes a whole file; stops at the first error.
llvm::Error printTrace(TraceReader &reader, llvm::raw_ostream &os);

} // namespace stg::trace

#endif // STG_TRACE_READER_TRACEPRINTER_H
