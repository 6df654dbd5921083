//===- Graphviz.cpp - Pictures of any level -------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Target/Graphviz/Graphviz.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "stg/Describe/Describe.h"
#include "stg/Dialect/Chakra/IR/ChakraDialect.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Support/Phases.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace stg;
using Kind = OpDescription::Kind;

namespace {
/// Nodes have the numbers of ops and block arguments in the order of the text.
///
/// An op with a body is a box that begins with a node for the op itself, its
/// head: operands end there, and arguments of the body begin there. What leaves
/// the box leaves from the terminator, or from the head if there is none. So
/// the picture has no cycles, and loops are read from top to bottom.
class GraphWriter {
public:
  explicit GraphWriter(raw_ostream &os) : os(os) {}

  void writeModule(ModuleOp module);

private:
  void number(Operation *op);
  /// Writes nodes and boxes, each where it is.
  void writeOp(Operation *op, unsigned indent);
  void writeBox(Operation *op, unsigned indent);
  void writeNode(Operation *op, unsigned indent);
  void writeArgument(BlockArgument argument, unsigned indent);
  /// Writes the edges that end at the op and in it.
  void writeEdges(Operation *op);
  void writeCall(CallOpInterface call);

  std::string getSource(Value value) const;
  std::string getNode(const void *object) const {
    return "n" + std::to_string(numbers.lookup(object));
  }

  raw_ostream &os;
  DenseMap<const void *, unsigned> numbers;
  SymbolTableCollection symbols;
};
} // namespace

static bool hasBody(Operation *op) {
  return llvm::any_of(op->getRegions(),
                      [](Region &region) { return !region.empty(); });
}

/// False for declarations, which nothing flows through.
static bool isDrawn(Operation *op) {
  return op->getNumOperands() || op->getNumResults() || hasBody(op) ||
         op->hasTrait<OpTrait::IsTerminator>();
}

/// The text in quotes, as DOT wants it.
static std::string quote(StringRef text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

/// A label of several lines.
static std::string quoteLines(ArrayRef<std::string> lines) {
  SmallVector<std::string> quoted;
  for (const std::string &line : lines)
    if (!line.empty())
      quoted.push_back(StringRef(quote(line)).drop_front().drop_back().str());
  return "\"" + llvm::join(quoted, "\\n") + "\"";
}

static std::string formatType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static StringRef getShape(Kind kind) {
  switch (kind) {
  case Kind::Buffer:
    return "cylinder";
  case Kind::Collective:
    return "hexagon";
  case Kind::Message:
    return "cds";
  case Kind::View:
    return "plain";
  case Kind::Compute:
  case Kind::Other:
    return "box";
  }
  llvm_unreachable("unknown kind of op");
}

static StringRef getColor(StringRef phase) {
  return llvm::StringSwitch<StringRef>(phase)
      .Case(kForwardPhase, "#cfe2f3")
      .Case(kRecomputePhase, "#d9d2e9")
      .Case(kBackwardPhase, "#fce5cd")
      .Case(kGradSyncPhase, "#f4cccc")
      .Case(kOptimizerPhase, "#d9ead3")
      .Default("#ffffff");
}

void GraphWriter::number(Operation *op) {
  if (!isDrawn(op))
    return;
  numbers[op] = numbers.size();
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      for (BlockArgument argument : block.getArguments())
        numbers[argument.getAsOpaquePointer()] = numbers.size();
      for (Operation &inner : block)
        number(&inner);
    }
}

/// The node that a value comes from.
std::string GraphWriter::getSource(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op)
    return getNode(value.getAsOpaquePointer());
  if (hasBody(op)) {
    Block &last = op->getRegions().back().back();
    if (last.mightHaveTerminator())
      return getNode(last.getTerminator());
  }
  return getNode(op);
}

void GraphWriter::writeNode(Operation *op, unsigned indent) {
  OpDescription description = describe(op);
  SmallVector<std::string> lines = {description.name,
                                    op->getName().getStringRef().str()};
  if (!description.loop.empty())
    lines[0] = description.loop;
  if (description.operations) {
    lines.push_back(description.operations.str() + " ops");
    lines.push_back(description.bytes.str() + " bytes");
  }
  if (!description.sharding.empty())
    lines.push_back("over " + description.sharding);
  lines.push_back(description.communication);
  if (!hasBody(op))
    for (Type type : op->getResultTypes())
      lines.push_back(formatType(type));
  os.indent(indent) << getNode(op) << " [shape=" << getShape(description.kind)
                    << ", fillcolor=" << quote(getColor(description.phase))
                    << ", label=" << quoteLines(lines) << "];\n";
}

void GraphWriter::writeArgument(BlockArgument argument, unsigned indent) {
  std::string name = "argument " + std::to_string(argument.getArgNumber());
  if (auto function =
          dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
    if (auto attr = function.getArgAttrOfType<StringAttr>(
            argument.getArgNumber(), STGDialect::kNameAttr))
      name = attr.str();
  os.indent(indent) << getNode(argument.getAsOpaquePointer())
                    << " [shape=ellipse, label="
                    << quoteLines({name, formatType(argument.getType())})
                    << "];\n";
}

void GraphWriter::writeBox(Operation *op, unsigned indent) {
  os.indent(indent) << "subgraph cluster_" << getNode(op) << " {\n";
  writeNode(op, indent + 2);
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      for (BlockArgument argument : block.getArguments())
        writeArgument(argument, indent + 2);
      for (Operation &inner : block)
        writeOp(&inner, indent + 2);
    }
  os.indent(indent) << "}\n";
}

void GraphWriter::writeOp(Operation *op, unsigned indent) {
  if (!isDrawn(op))
    return;
  if (hasBody(op))
    writeBox(op, indent);
  else
    writeNode(op, indent);
}

void GraphWriter::writeCall(CallOpInterface call) {
  Operation *callee = call.resolveCallableInTable(&symbols);
  if (callee && numbers.contains(callee))
    os << "  " << getNode(call) << " -> " << getNode(callee)
       << " [style=dotted, constraint=false];\n";
}

void GraphWriter::writeEdges(Operation *op) {
  if (!isDrawn(op))
    return;
  SmallVector<std::string> seen;
  for (Value operand : op->getOperands()) {
    std::string source = getSource(operand);
    if (llvm::is_contained(seen, source))
      continue;
    os << "  " << source << " -> " << getNode(op) << ";\n";
    seen.push_back(source);
  }
  if (auto call = dyn_cast<CallOpInterface>(op))
    writeCall(call);
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      for (BlockArgument argument : block.getArguments())
        os << "  " << getNode(op) << " -> "
           << getNode(argument.getAsOpaquePointer()) << " [style=dashed];\n";
      for (Operation &inner : block)
        writeEdges(&inner);
    }
}

void GraphWriter::writeModule(ModuleOp module) {
  for (Operation &op : module.getOps())
    number(&op);
  os << "digraph stg {\n"
     << "  node [style=filled, fillcolor=white, fontname=Helvetica];\n";
  for (Operation &op : module.getOps())
    writeOp(&op, 2);
  for (Operation &op : module.getOps())
    writeEdges(&op);
  os << "}\n";
}

void stg::writeGraphviz(ModuleOp module, llvm::raw_ostream &os) {
  GraphWriter(os).writeModule(module);
}

void stg::registerGraphvizTranslation() {
  TranslateFromMLIRRegistration registration(
      "to-graphviz", "draw functions and graphs, for 'dot'",
      [](ModuleOp module, raw_ostream &os) {
        writeGraphviz(module, os);
        return success();
      },
      [](DialectRegistry &registry) {
        registry.insert<func::FuncDialect, SymDialect, STGDialect,
                        chakra::ChakraDialect>();
      });
}
