//===- Describe.cpp - What an op is, to a reader --------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Describe/Describe.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "stg/Dialect/Chakra/IR/ChakraOps.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Dialect/STG/IR/STGInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace stg;
using Kind = OpDescription::Kind;

/// `NAME.PHASE.ROLE`, as far as they are known.
static std::string getNodeName(const Origin &origin) {
  std::string name = origin.name ? origin.name.getValue().str() : "";
  if (origin.phase)
    name += "." + stringifyPhase(*origin.phase).str();
  if (origin.role)
    name += "." + stringifyRole(*origin.role).str();
  return StringRef(name).ltrim('.').str();
}

static std::string formatAxes(ArrayAttr axes) {
  std::string text =
      llvm::join(llvm::map_range(axes.getAsRange<StringAttr>(),
                                 [](StringAttr axis) { return axis.str(); }),
                 ", ");
  return axes.size() == 1 ? text : "(" + text + ")";
}

static std::string formatFactors(FactorsAttr factors) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(
      llvm::zip_equal(factors.getFactors(), factors.getAxes()), os,
      [&](auto entry) {
        auto [factor, axes] = entry;
        os << factor.getValue() << " : " << formatAxes(axes);
      });
  return text;
}

static std::string formatCollective(StringRef kind, ArrayAttr axes,
                                    SymExpr bytes) {
  std::string text = kind.str() + " over " + formatAxes(axes);
  return bytes ? text + ", " + bytes.str() + " bytes" : text;
}

static std::string formatMessage(StringRef axis, uint64_t shift,
                                 SymExpr bytes) {
  std::string text = "message along " + axis.str() + " by " +
                     std::to_string(static_cast<int64_t>(shift));
  return bytes ? text + ", " + bytes.str() + " bytes" : text;
}

//===----------------------------------------------------------------------===//
// The stg dialect, and others with its interfaces
//===----------------------------------------------------------------------===//

static SymExpr addBytes(TypeRange types) {
  SymExpr sum;
  for (Type type : types)
    if (auto tensor = dyn_cast<SymTensorType>(type))
      sum = sum ? sum + tensor.getNumBytes() : tensor.getNumBytes();
  return sum;
}

static void describeCost(CostOpInterface op, OpDescription &description) {
  if (op.isView()) {
    description.kind = Kind::View;
    return;
  }
  OpCost cost = op.getCost();
  description.kind = Kind::Compute;
  description.operations = cost.operations;
  description.bytes = cost.bytes;
  description.isMatrix = cost.isMatrix;
}

/// The phase of the op or of the next one around it that has one.
static std::string findPhase(Operation *op) {
  for (; op; op = op->getParentOp())
    if (std::optional<Phase> phase = getOrigin(op).phase)
      return stringifyPhase(*phase).str();
  return "";
}

static void describeStep(Operation *op, OpDescription &description) {
  Origin origin = getOrigin(op);
  description.name = getNodeName(origin);
  description.phase = findPhase(op);
  if (auto param = dyn_cast<ParamOp>(op)) {
    description.kind = Kind::Buffer;
    description.name = param.getParamName().str();
  } else if (auto scan = dyn_cast<ScanOpInterface>(op)) {
    description.name = scan.getScopeName().str();
    description.loop = description.name + " * " + scan.getCount().str();
  } else if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
    description.kind =
        collective.communicates() ? Kind::Collective : Kind::View;
    description.communication = formatCollective(
        stringifyCollectiveKind(collective.getCollectiveKind()),
        collective.getAxes(), getNumBytes(collective));
  } else if (auto message = dyn_cast<MessageOpInterface>(op)) {
    description.kind = Kind::Message;
    description.communication =
        formatMessage(message.getAxisAttr(), message.getShift(),
                      addBytes(message.getMessageTypes()));
  } else if (auto costs = dyn_cast<CostOpInterface>(op)) {
    describeCost(costs, description);
  }
  if (auto shardable = dyn_cast<ShardableOpInterface>(op))
    if (FactorsAttr factors = shardable.getFactorsAttr())
      description.sharding = formatFactors(factors);
}

//===----------------------------------------------------------------------===//
// The chakra dialect
//===----------------------------------------------------------------------===//

static SymExpr addBufferBytes(TypeRange types) {
  SymExpr sum;
  for (Type type : types) {
    SymExpr bytes;
    if (auto tensor = dyn_cast<chakra::TensorType>(type))
      bytes = tensor.getBytes();
    else if (auto stack = dyn_cast<chakra::StackType>(type))
      bytes = stack.getBytes();
    if (bytes)
      sum = sum ? sum + bytes : bytes;
  }
  return sum;
}

static void describeNode(Operation *op, OpDescription &description) {
  if (auto named = dyn_cast<chakra::NamedOpInterface>(op))
    description.name = named.getNameAttr().str();
  if (auto node = dyn_cast<chakra::NodeOpInterface>(op))
    if (StringAttr phase = node.getPhaseAttr())
      description.phase = phase.str();
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](chakra::StateOp) { description.kind = Kind::Buffer; })
      .Case([&](chakra::CompOp comp) {
        description.kind = Kind::Compute;
        description.operations = comp.getOps();
        description.bytes = comp.getBytes();
        description.isMatrix = comp.getMatrix();
      })
      .Case([&](chakra::CollOp coll) {
        description.kind = Kind::Collective;
        SymExpr payload = coll.getPayload().value_or(
            addBufferBytes(coll.getInputs().getTypes()));
        description.communication = formatCollective(
            chakra::stringifyCollKind(coll.getKind()), coll.getOver(), payload);
      })
      .Case([&](chakra::MessageOpInterface message) {
        description.kind = Kind::Message;
        description.communication =
            formatMessage(message.getAxis(), message.getShift(),
                          addBufferBytes(message.getMessageTypes()));
      })
      .Case([&](chakra::RepeatOp repeat) {
        description.loop = description.name + " * " + repeat.getCount().str();
      })
      .Case([&](chakra::ScheduleOp schedule) {
        description.name = schedule.getName().str();
        description.loop =
            description.name + " * " + std::to_string(schedule.getCount());
      });
}

OpDescription stg::describe(Operation *op) {
  OpDescription description;
  if (isa_and_nonnull<chakra::ChakraDialect>(op->getDialect()))
    describeNode(op, description);
  else
    describeStep(op, description);
  if (auto call = dyn_cast<CallOpInterface>(op))
    if (auto callee = dyn_cast<SymbolRefAttr>(call.getCallableForCallee()))
      description.name = callee.getLeafReference().str();
  if (description.name.empty())
    if (auto symbol = dyn_cast<SymbolOpInterface>(op))
      if (StringAttr name = symbol.getNameAttr())
        description.name = name.str();
  return description;
}
