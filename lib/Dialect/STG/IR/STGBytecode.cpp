//===- STGBytecode.cpp - Properties of ops by the version of the dialect --===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What TableGen generates reads the attributes of an op one after the other,
// so that an op with one more reads nothing that was written before. Ops whose
// attributes have changed since version 1 write them by name, and read what
// version 1 wrote in its order. An attribute more is then a new version of the
// dialect, which programs that do not know it refuse, and nothing else.
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/IR/Mixers.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Dialect/Sym/IR/Bytecode.h"
#include <functional>

using namespace mlir;
using namespace stg;

namespace {
/// An attribute that is always there.
template <typename AttrT> struct Required {
  AttrT &attribute;
};
template <typename AttrT> Required(AttrT &) -> Required<AttrT>;
} // namespace

template <typename AttrT>
static LogicalResult readNext(DialectBytecodeReader &reader,
                              Required<AttrT> next) {
  return reader.readAttribute(next.attribute);
}
template <typename AttrT>
static LogicalResult readNext(DialectBytecodeReader &reader,
                              std::reference_wrapper<AttrT> next) {
  return reader.readOptionalAttribute(next.get());
}

/// `first` are the attributes of version 1, in its order.
template <typename OpT, typename... AttrTs>
static LogicalResult readByVersion(DialectBytecodeReader &reader,
                                   typename OpT::Properties &properties,
                                   AttrTs... first) {
  if (getBytecodeVersion<STGDialect>(reader) == 1)
    return success((succeeded(readNext(reader, first)) && ...));
  DictionaryAttr attributes;
  if (failed(reader.readAttribute(attributes)))
    return failure();
  return OpT::setPropertiesFromAttr(properties, attributes,
                                    [&] { return reader.emitError(); });
}

template <typename OpT>
static void writeByName(DialectBytecodeWriter &writer, OpT op) {
  MLIRContext *context = op.getContext();
  Attribute attributes = OpT::getPropertiesAsAttr(context, op.getProperties());
  writer.writeAttribute(attributes ? attributes : DictionaryAttr::get(context));
}

LogicalResult EinsumOp::readProperties(DialectBytecodeReader &reader,
                                       OperationState &state) {
  Properties &p = state.getOrAddProperties<Properties>();
  return readByVersion<EinsumOp>(reader, p, Required{p.equation},
                                 std::ref(p.factors), std::ref(p.into),
                                 std::ref(p.origin));
}
void EinsumOp::writeProperties(DialectBytecodeWriter &writer) {
  writeByName(writer, *this);
}

LogicalResult BiasAddOp::readProperties(DialectBytecodeReader &reader,
                                        OperationState &state) {
  Properties &p = state.getOrAddProperties<Properties>();
  return readByVersion<BiasAddOp>(reader, p, std::ref(p.dims),
                                  std::ref(p.factors), std::ref(p.origin));
}
void BiasAddOp::writeProperties(DialectBytecodeWriter &writer) {
  writeByName(writer, *this);
}

LogicalResult AttentionBlockOp::readProperties(DialectBytecodeReader &reader,
                                               OperationState &state) {
  Properties &p = state.getOrAddProperties<Properties>();
  return readByVersion<AttentionBlockOp>(reader, p, std::ref(p.origin),
                                         Required{p.pairs});
}
void AttentionBlockOp::writeProperties(DialectBytecodeWriter &writer) {
  writeByName(writer, *this);
}

LogicalResult
AttentionBlockGradOp::readProperties(DialectBytecodeReader &reader,
                                     OperationState &state) {
  Properties &p = state.getOrAddProperties<Properties>();
  return readByVersion<AttentionBlockGradOp>(
      reader, p, std::ref(p.origin), Required{p.pairs}, std::ref(p.seen));
}
void AttentionBlockGradOp::writeProperties(DialectBytecodeWriter &writer) {
  writeByName(writer, *this);
}

LogicalResult CausalConvOp::readProperties(DialectBytecodeReader &reader,
                                           OperationState &state) {
  Properties &p = state.getOrAddProperties<Properties>();
  return readByVersion<CausalConvOp>(reader, p, std::ref(p.along),
                                     std::ref(p.factors), std::ref(p.origin),
                                     std::ref(p.parts), std::ref(p.requests),
                                     std::ref(p.reversed), std::ref(p.state));
}
void CausalConvOp::writeProperties(DialectBytecodeWriter &writer) {
  writeByName(writer, *this);
}

LogicalResult SelectiveScanOp::readProperties(DialectBytecodeReader &reader,
                                              OperationState &state) {
  Properties &p = state.getOrAddProperties<Properties>();
  return readByVersion<SelectiveScanOp>(
      reader, p, std::ref(p.along), std::ref(p.factors), std::ref(p.origin),
      std::ref(p.parts), std::ref(p.requests), std::ref(p.state));
}
void SelectiveScanOp::writeProperties(DialectBytecodeWriter &writer) {
  writeByName(writer, *this);
}

LogicalResult SsdOp::readProperties(DialectBytecodeReader &reader,
                                    OperationState &state) {
  Properties &p = state.getOrAddProperties<Properties>();
  return readByVersion<SsdOp>(reader, p, std::ref(p.along), Required{p.chunk},
                              std::ref(p.factors), std::ref(p.origin),
                              std::ref(p.parts), std::ref(p.requests),
                              std::ref(p.state));
}
void SsdOp::writeProperties(DialectBytecodeWriter &writer) {
  writeByName(writer, *this);
}

LogicalResult GatedDeltaRuleOp::readProperties(DialectBytecodeReader &reader,
                                               OperationState &state) {
  Properties &p = state.getOrAddProperties<Properties>();
  return readByVersion<GatedDeltaRuleOp>(
      reader, p, std::ref(p.along), Required{p.chunk}, std::ref(p.factors),
      std::ref(p.origin), std::ref(p.parts), std::ref(p.requests),
      std::ref(p.state));
}
void GatedDeltaRuleOp::writeProperties(DialectBytecodeWriter &writer) {
  writeByName(writer, *this);
}
