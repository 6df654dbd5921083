//===- SplitClasses.cpp - One graph for each coordinate -------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/PatternMatch.h"
#include "stg/Dialect/Chakra/IR/ChakraOps.h"
#include "stg/Dialect/Chakra/Transforms/Passes.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "llvm/ADT/MapVector.h"

namespace stg::chakra {
#define GEN_PASS_DEF_SPLITCLASSES
#include "stg/Dialect/Chakra/Transforms/Passes.h.inc"
} // namespace stg::chakra

using namespace mlir;
using namespace stg;
using namespace stg::chakra;

namespace {
/// The declared coordinates by name, in the order of declaration.
using Coordinates = llvm::MapVector<StringAttr, SymbolOp>;

struct SplitClasses : chakra::impl::SplitClassesBase<SplitClasses> {
  using SplitClassesBase::SplitClassesBase;
  void runOnOperation() override;

private:
  FailureOr<SmallVector<GraphOp>> split(GraphOp graph, SymbolOp symbol);
};
} // namespace

/// The first declared coordinate that an expression in the graph mentions.
static SymbolOp findCoordinate(GraphOp graph, const Coordinates &coordinates) {
  DenseSet<StringAttr> mentioned;
  AttrTypeWalker walker;
  walker.addWalk([&](SymExpr expr) {
    expr.walkSymbols([&](StringAttr name) { mentioned.insert(name); });
    return WalkResult::skip();
  });
  graph.walk([&](Operation *op) {
    walker.walk(op->getAttrDictionary());
    for (Type type : op->getResultTypes())
      walker.walk(type);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          walker.walk(type);
  });
  for (auto &[name, symbol] : coordinates)
    if (mentioned.contains(name))
      return symbol;
  return {};
}

/// Puts a number in place of a symbol. Fails at an op with an expression that
/// has no value then.
static LogicalResult substitute(GraphOp graph, StringAttr symbol,
                                int64_t value) {
  SymBinding binding;
  binding[symbol] = SymExpr::get(graph.getContext(), value);
  std::optional<std::string> undefined;
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](SymExpr expr) -> std::optional<std::pair<Attribute, WalkResult>> {
        SymExpr result = expr.substitute(binding);
        if (!result)
          undefined = expr.str();
        return {{result ? result : expr, WalkResult::skip()}};
      });
  WalkResult walked = graph.walk([&](Operation *op) {
    replacer.replaceElementsIn(op, /*replaceAttrs=*/true,
                               /*replaceLocs=*/false, /*replaceTypes=*/true);
    if (!undefined)
      return WalkResult::advance();
    op->emitOpError("has expression ")
        << *undefined << ", which has no value with " << symbol.getValue()
        << " = " << value;
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

/// The ranges that a device does not see are repeats without iterations.
static void removeEmptyRepeats(GraphOp graph) {
  PatternRewriter rewriter(graph.getContext());
  graph.walk([&](chakra::RepeatOp repeat) {
    (void)chakra::RepeatOp::canonicalize(repeat, rewriter);
  });
}

/// One graph for each coordinate of the ranks that execute this one.
FailureOr<SmallVector<GraphOp>> SplitClasses::split(GraphOp graph,
                                                    SymbolOp symbol) {
  StringAttr axis = symbol.getCoordinateAttr();
  SymExpr size = graph.getMesh().getAxisSize(axis);
  if (!size)
    return graph.emitOpError("mentions '")
           << symbol.getSymName() << "', the coordinate on axis '"
           << axis.getValue() << "', which the mesh does not have";
  std::optional<int64_t> number = size.getInt64();
  if (!number)
    return graph.emitOpError("depends on the coordinate on axis '")
           << axis.getValue() << "', whose size " << size
           << " is not a number; run --stg-bind first";
  auto specialize = [&](GraphOp copy, int64_t coordinate) {
    if (failed(substitute(copy, symbol.getSymNameAttr(), coordinate)))
      return failure();
    removeEmptyRepeats(copy);
    return success();
  };
  if (std::optional<int64_t> own = graph.getCoordinate(axis)) {
    if (failed(specialize(graph, *own)))
      return failure();
    return SmallVector<GraphOp>{graph};
  }
  SmallVector<GraphOp> copies;
  OpBuilder builder(graph);
  for (int64_t coordinate = 0; coordinate < *number; ++coordinate) {
    auto copy = cast<GraphOp>(builder.clone(*graph));
    copy.setSymName(
        (graph.getSymName() + "." + axis.getValue() + Twine(coordinate)).str());
    NamedAttrList coordinates(graph.getCoordinatesAttr());
    coordinates.set(axis, builder.getI64IntegerAttr(coordinate));
    copy.setCoordinatesAttr(coordinates.getDictionary(&getContext()));
    if (failed(specialize(copy, coordinate)))
      return failure();
    copies.push_back(copy);
  }
  graph.erase();
  return copies;
}

void SplitClasses::runOnOperation() {
  Coordinates coordinates;
  for (auto symbol : getOperation().getOps<SymbolOp>())
    if (symbol.getCoordinate())
      coordinates[symbol.getSymNameAttr()] = symbol;
  if (coordinates.empty())
    return markAllAnalysesPreserved();
  SmallVector<GraphOp> worklist(getOperation().getOps<GraphOp>());
  while (!worklist.empty()) {
    GraphOp graph = worklist.pop_back_val();
    SymbolOp symbol = findCoordinate(graph, coordinates);
    if (!symbol)
      continue;
    // What is made of a graph may mention another coordinate.
    FailureOr<SmallVector<GraphOp>> graphs = split(graph, symbol);
    if (failed(graphs))
      return signalPassFailure();
    llvm::append_range(worklist, *graphs);
  }
}
