//===- InlineBlocks.cpp - Puts blocks in the place of their calls ---------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function with calls is copied op by op. At a call the block is copied in
// its place, with what the call makes of its symbols and options, and so on
// inwards; of an `stg.if` the region that is chosen. So nothing is made that
// does not stay.
//
//===----------------------------------------------------------------------===//

#include "Model/Blocks.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/IRMapping.h"
#include "stg/Dialect/STG/IR/Blocks.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "stg/Support/Installation.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

namespace stg {
#define GEN_PASS_DEF_INLINEBLOCKS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct InlineBlocks : stg::impl::InlineBlocksBase<InlineBlocks> {
  using InlineBlocksBase::InlineBlocksBase;
  void runOnOperation() override;
};

/// Where ops are copied to, and as what.
struct Place {
  BlockBinding &binding;
  /// Before names of parameters, repeats and ops, with its dot.
  std::string prefix;
  /// Where the block is called; null in a function.
  LocationAttr caller;
  /// Whether parameters are not trained, by a call around.
  bool isFrozen = false;
  /// Whether the repeats around have parameters in common, by a call around.
  bool isShared = false;
  /// The values of the results, at the end of the block.
  SmallVector<Value> results = {};
};

/// Copies ops, with blocks in the place of their calls.
class Inliner {
public:
  Inliner(ModuleOp module, ArrayRef<std::string> frozen)
      : module(module), builder(module.getContext()), frozen(frozen) {}

  LogicalResult parseFrozen();
  LogicalResult run(func::FuncOp function);
  /// After all functions: a pattern that no block was called by is an error.
  LogicalResult checkFrozen();

private:
  LogicalResult copyOps(Block &block, IRMapping &mapping, Place &place);
  LogicalResult copyOp(Operation &op, IRMapping &mapping, Place &place);
  LogicalResult copyRegions(Operation &op, Operation *copy, IRMapping &mapping,
                            Place &place);
  Operation *copyPlain(Operation &op, IRMapping &mapping, const Place &place);
  LogicalResult copyParam(ParamOp op, IRMapping &mapping, Place &place);
  LogicalResult copyVariant(IfOp op, IRMapping &mapping, Place &place);
  LogicalResult copyBlock(BlockCallOp call, IRMapping &mapping, Place &place);
  LogicalResult checkResultTypes(BlockCallOp call, BlockOp block,
                                 const Place &place,
                                 const BlockBinding &binding);
  LogicalResult setOptions(BlockCallOp call, BlockOp block, Place &place,
                           BlockBinding &binding);
  LogicalResult setAttributes(Operation &op, Operation *copy, Place &place);
  LogicalResult setNames(Operation &op, Operation *copy, Place &place);

  FailureOr<StringAttr> getName(Operation &op, StringAttr text,
                                const Place &place);
  LogicalResult setRepeatName(Operation &op, RepeatOp copy, Place &place);
  FailureOr<StringAttr> getOption(Operation *op, StringAttr name,
                                  const BlockBinding &binding);
  FailureOr<StringAttr> fillIn(Operation *op, StringAttr text,
                               const BlockBinding &binding);

  bool isFrozen(BlockOp block);

  ModuleOp module;
  OpBuilder builder;
  SymbolTableCollection symbolTable;
  SmallVector<BlockOp> open; ///< Those that are being copied.
  ArrayRef<std::string> frozen;
  SmallVector<llvm::GlobPattern> frozenPatterns; ///< Of `frozen`.
  llvm::BitVector isFrozenFound;
  llvm::SmallSetVector<StringRef, 8> called; ///< Names of blocks.
  /// Of parameters, by their scope and name.
  DenseMap<std::pair<Block *, StringAttr>, Value> reads;
};
} // namespace

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// The value of an option that `op` sees.
FailureOr<StringAttr> Inliner::getOption(Operation *op, StringAttr name,
                                         const BlockBinding &binding) {
  auto option = lookupDeclared<OptionOp>(op, name, symbolTable);
  if (!option)
    return op->emitOpError("has the name '{")
           << name.getValue() << "}', but there is no option '"
           << name.getValue() << "' here";
  StringAttr value = isa<BlockOp>(option->getParentOp())
                         ? binding.lookupOption(name)
                         : option.getValueAttr();
  if (value)
    return value;
  InFlightDiagnostic diag = op->emitOpError("needs option '")
                            << name.getValue() << "', which has no value, "
                            << "expected " << option.getExpected();
  diag.attachNote(option.getLoc()) << "the option is declared here";
  return diag;
}

/// Replaces `{name}` by the value of the option.
FailureOr<StringAttr> Inliner::fillIn(Operation *op, StringAttr text,
                                      const BlockBinding &binding) {
  StringRef rest = text.getValue();
  std::string filled;
  while (true) {
    auto [before, behind] = rest.split('{');
    filled += before;
    if (before.size() == rest.size())
      break;
    auto [name, after] = behind.split('}');
    FailureOr<StringAttr> value =
        getOption(op, builder.getStringAttr(name), binding);
    if (failed(value))
      return failure();
    filled += value->getValue();
    rest = after;
  }
  return builder.getStringAttr(filled);
}

/// What the call says, what holds where it stands, or the default.
LogicalResult Inliner::setOptions(BlockCallOp call, BlockOp block, Place &place,
                                  BlockBinding &binding) {
  binding.inheritOptions(place.binding);
  DictionaryAttr written = call.getValuesAttr();
  for (NamedAttribute entry :
       written ? written.getValue() : ArrayRef<NamedAttribute>()) {
    auto expr = dyn_cast<SymExpr>(entry.getValue());
    auto text = dyn_cast<StringAttr>(entry.getValue());
    StringAttr other = expr ? expr.getAsSymbol() : StringAttr();
    if ((!text && !other) ||
        lookupDeclared<SymbolOp>(block.getBody().front().getTerminator(),
                                 entry.getName(), symbolTable))
      continue;
    FailureOr<StringAttr> value = text ? fillIn(call, text, place.binding)
                                       : getOption(call, other, place.binding);
    if (failed(value))
      return failure();
    binding.setOption(entry.getName(), *value);
  }
  auto module = call->getParentOfType<ModuleOp>();
  for (auto option : block.getBody().getOps<OptionOp>()) {
    StringAttr name = option.getSymNameAttr();
    StringAttr value = binding.lookupOption(name);
    if (auto shared = symbolTable.lookupSymbolIn<OptionOp>(module, name);
        shared && !value)
      value = shared.getValueAttr();
    if (!value)
      value = option.getValueAttr();
    // One without a value is missed where it is needed.
    if (value && failed(checkOptionValue(option, value,
                                         [&] { return call.emitOpError(); })))
      return failure();
    if (value)
      binding.setOption(name, value);
  }
  return success();
}

/// Attributes that options give values to: the text of one of the same kind.
LogicalResult Inliner::setAttributes(Operation &op, Operation *copy,
                                     Place &place) {
  auto options = copy->getAttrOfType<DictionaryAttr>(STGDialect::kOptionsAttr);
  if (!options)
    return success();
  copy->removeAttr(STGDialect::kOptionsAttr);
  for (NamedAttribute entry : options) {
    FailureOr<StringAttr> value =
        getOption(&op, cast<StringAttr>(entry.getValue()), place.binding);
    if (failed(value))
      return failure();
    Attribute old = *copy->getInherentAttr(entry.getName());
    Attribute attr = *value;
    if (isa<UnitAttr>(old)) {
      if (value->getValue() == "false")
        copy->removeAttr(entry.getName());
      else if (value->getValue() != "true")
        return op.emitOpError("takes '")
               << entry.getName().getValue() << "' from option "
               << entry.getValue() << ", whose value '" << value->getValue()
               << "' is neither true nor false";
      continue;
    }
    bool isList = isa<DenseI64ArrayAttr>(old);
    if (!isa<StringAttr>(old)) {
      ScopedDiagnosticHandler quiet(op.getContext(),
                                    [](Diagnostic &) { return success(); });
      auto [dialect, mnemonic] =
          old.getAbstractAttribute().getName().split('.');
      std::string text =
          isList
              ? ("array<i64: " + value->getValue() + ">").str()
              : ("#" + dialect + "<" + mnemonic + " " + value->getValue() + ">")
                    .str();
      attr = parseAttribute(text, op.getContext());
    }
    if (!attr) {
      InFlightDiagnostic diag =
          op.emitOpError("takes '")
          << entry.getName().getValue() << "' from option " << entry.getValue()
          << ", whose value '" << value->getValue() << "' is no ";
      return isList ? diag << "list of integers, such as 5,2,1"
                    : diag << "#" << old.getAbstractAttribute().getName();
    }
    copy->setAttr(entry.getName(), attr);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// The name in a place: with options, and with the scope of the call.
FailureOr<StringAttr> Inliner::getName(Operation &op, StringAttr text,
                                       const Place &place) {
  FailureOr<StringAttr> filled = fillIn(&op, text, place.binding);
  if (failed(filled) || place.prefix.empty())
    return filled;
  return builder.getStringAttr(place.prefix + filled->getValue());
}

/// Dimensions of what the repeat stacks are called as it is.
LogicalResult Inliner::setRepeatName(Operation &op, RepeatOp copy,
                                     Place &place) {
  StringAttr old = copy.getRepeatNameAttr();
  FailureOr<StringAttr> name = getName(op, old, place);
  if (failed(name))
    return failure();
  copy.setRepeatNameAttr(*name);
  if (*name != old)
    place.binding.rename(old, *name);
  return success();
}

/// What all iterations share is read before the first one.
static void moveBeforeRepeats(ParamOp param) {
  Operation *outermost = param;
  while (auto repeat = outermost->getParentOfType<RepeatOp>())
    outermost = repeat;
  if (outermost != param)
    param->moveBefore(outermost);
}

/// A parameter that two blocks read in one scope is read once, as where it is
/// handed from one place to the other.
LogicalResult Inliner::copyParam(ParamOp op, IRMapping &mapping, Place &place) {
  FailureOr<StringAttr> name =
      getName(*op.getOperation(), op.getParamNameAttr(), place);
  if (failed(name))
    return failure();
  auto copy = cast<ParamOp>(copyPlain(*op.getOperation(), mapping, place));
  copy.setParamNameAttr(*name);
  copy.setFrozen(copy.getFrozen() || place.isFrozen);
  if (failed(place.binding.substitute(copy, op)) ||
      failed(setAttributes(*op.getOperation(), copy, place)) ||
      failed(setNames(*op.getOperation(), copy, place)))
    return failure();
  if (place.isShared)
    moveBeforeRepeats(copy);
  Value &read = reads[{copy->getBlock(), *name}];
  if (!read || read.getType() != copy.getType()) {
    read = copy.getResult();
    return success();
  }
  auto first = cast<ParamOp>(read.getDefiningOp());
  first.setFrozen(first.getFrozen() || copy.getFrozen());
  copy.erase();
  mapping.map(op.getResult(), read);
  return success();
}

LogicalResult Inliner::setNames(Operation &op, Operation *copy, Place &place) {
  StringAttr own = getOrigin(copy).name;
  if (!own && !place.prefix.empty() && isa<CostOpInterface>(copy) &&
      !getNamingParameter(copy))
    own = builder.getStringAttr(copy->getName().stripDialect());
  if (!own)
    return success();
  FailureOr<StringAttr> name = getName(op, own, place);
  if (failed(name))
    return failure();
  setName(copy, *name);
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult Inliner::copyVariant(IfOp op, IRMapping &mapping, Place &place) {
  FailureOr<StringAttr> value =
      getOption(op, op.getOptionAttr().getAttr(), place.binding);
  if (failed(value))
    return failure();
  Region &chosen =
      op.isChosen(*value) ? op.getThenRegion() : op.getElseRegion();
  Place inner{place.binding, place.prefix, place.caller, place.isFrozen,
              place.isShared};
  if (failed(copyOps(chosen.front(), mapping, inner)))
    return failure();
  mapping.map(op.getResults(), inner.results);
  return success();
}

LogicalResult Inliner::parseFrozen() {
  for (StringRef text : frozen) {
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(text);
    if (!pattern)
      return module.emitError("freezes block '")
             << text << "', which is no pattern: "
             << llvm::toString(pattern.takeError());
    frozenPatterns.push_back(std::move(*pattern));
  }
  isFrozenFound.resize(frozenPatterns.size());
  return success();
}

/// True if a pattern is for the block; it is called.
bool Inliner::isFrozen(BlockOp block) {
  called.insert(block.getSymName());
  bool isNamed = false;
  for (auto [number, pattern] : llvm::enumerate(frozenPatterns))
    if (pattern.match(block.getSymName())) {
      isFrozenFound.set(number);
      isNamed = true;
    }
  return isNamed;
}

LogicalResult Inliner::checkFrozen() {
  for (auto [number, text] : llvm::enumerate(frozen)) {
    if (isFrozenFound.test(number))
      continue;
    InFlightDiagnostic diag = module.emitError("freezes block '")
                              << text << "', but ";
    if (called.empty())
      return diag << "the program calls no blocks";
    diag << "no block of such a name is called; there are ";
    llvm::interleaveComma(called, diag);
    return diag;
  }
  return success();
}

/// A call of a block that was imported has not been verified, and what its
/// results are said to be goes with the call.
LogicalResult Inliner::checkResultTypes(BlockCallOp call, BlockOp block,
                                        const Place &place,
                                        const BlockBinding &binding) {
  SmallVector<Type> types;
  for (Type type : call.getResultTypes()) {
    std::string problem;
    types.push_back(place.binding.substitute(type, problem));
    if (!types.back())
      return call.emitOpError(problem);
  }
  return checkResults(call, block, binding, types);
}

LogicalResult Inliner::copyBlock(BlockCallOp call, IRMapping &mapping,
                                 Place &place) {
  BlockOp block = getBlock(call, symbolTable);
  if (!block)
    return call.emitOpError("calls '")
           << call.getCallee() << "', which is no block here";
  if (llvm::is_contained(open, block)) {
    InFlightDiagnostic diag = call.emitOpError("calls '")
                              << call.getCallee() << "', which calls itself";
    for (BlockOp other : open)
      diag.attachNote(other.getLoc())
          << "'" << other.getSymName() << "' is being inlined";
    return diag;
  }
  SmallVector<Value> operands;
  for (Value operand : call.getInputs())
    operands.push_back(mapping.lookup(operand));
  FailureOr<BlockBinding> binding = bindSymbols(
      call, block, place.binding, TypeRange(ValueRange(operands)), symbolTable);
  if (failed(binding) ||
      failed(checkResultTypes(call, block, place, *binding)) ||
      failed(setOptions(call, block, place, *binding)))
    return failure();
  Location loc = place.caller
                     ? Location(CallSiteLoc::get(call.getLoc(), place.caller))
                     : call.getLoc();
  bool isNamed = isFrozen(block);
  Place inner{*binding, place.prefix, loc,
              place.isFrozen || call.getFrozen() || isNamed,
              place.isShared || call.getShared()};
  if (call.getScopeAttr()) {
    FailureOr<StringAttr> scope =
        fillIn(call, call.getScopeAttr(), place.binding);
    if (failed(scope))
      return failure();
    inner.prefix += (scope->getValue() + ".").str();
  }
  open.push_back(block);
  IRMapping own;
  own.map(block.getBody().front().getArguments(), operands);
  if (failed(copyOps(block.getBody().front(), own, inner)))
    return failure();
  open.pop_back();
  mapping.map(call.getResults(), inner.results);
  return success();
}

LogicalResult Inliner::copyRegions(Operation &op, Operation *copy,
                                   IRMapping &mapping, Place &place) {
  // The iterations of a repeat are a scope of their own, whose name has all
  // that stands before.
  BlockBinding binding = place.binding;
  Place inner{binding, isa<RepeatOp>(op) ? "" : place.prefix, place.caller,
              place.isFrozen, place.isShared};
  for (auto [region, target] :
       llvm::zip_equal(op.getRegions(), copy->getRegions()))
    for (Block &block : region) {
      OpBuilder::InsertionGuard guard(builder);
      Block *made = builder.createBlock(&target, target.end());
      mapping.map(&block, made);
      for (BlockArgument arg : block.getArguments()) {
        std::string problem;
        Type type = binding.substitute(arg.getType(), problem);
        if (!type)
          return op.emitOpError(problem);
        mapping.map(arg, made->addArgument(type, arg.getLoc()));
      }
      if (failed(copyOps(block, mapping, inner)))
        return failure();
    }
  return success();
}

/// The op without its regions, as it is.
Operation *Inliner::copyPlain(Operation &op, IRMapping &mapping,
                              const Place &place) {
  Operation *copy = builder.insert(op.cloneWithoutRegions(mapping));
  if (place.caller)
    copy->setLoc(CallSiteLoc::get(op.getLoc(), place.caller));
  return copy;
}

LogicalResult Inliner::copyOp(Operation &op, IRMapping &mapping, Place &place) {
  if (auto call = dyn_cast<BlockCallOp>(op))
    return copyBlock(call, mapping, place);
  if (auto variant = dyn_cast<IfOp>(op))
    return copyVariant(variant, mapping, place);
  if (isa<SymbolOp, OptionOp>(op))
    return success();
  if (auto param = dyn_cast<ParamOp>(op))
    return copyParam(param, mapping, place);
  if (isa<BlockReturnOp>(op) ||
      (isa<YieldOp>(op) && isa<IfOp>(op.getParentOp()))) {
    for (Value value : op.getOperands())
      place.results.push_back(mapping.lookup(value));
    return success();
  }
  Operation *copy = copyPlain(op, mapping, place);
  if (auto repeat = dyn_cast<RepeatOp>(copy))
    if (failed(setRepeatName(op, repeat, place)))
      return failure();
  if (failed(place.binding.substitute(copy, &op)) ||
      failed(setAttributes(op, copy, place)) ||
      failed(setNames(op, copy, place)))
    return failure();
  return copyRegions(op, copy, mapping, place);
}

LogicalResult Inliner::copyOps(Block &block, IRMapping &mapping, Place &place) {
  for (Operation &op : block)
    if (failed(copyOp(op, mapping, place)))
      return failure();
  return success();
}

/// True for what stands only where blocks have not been inlined.
static bool isInlined(Operation *op) {
  return isa<BlockCallOp, IfOp>(op) || op->hasAttr(STGDialect::kOptionsAttr);
}

LogicalResult Inliner::run(func::FuncOp function) {
  WalkResult found = function.walk([](Operation *op) {
    return isInlined(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!found.wasInterrupted())
    return success();
  BlockBinding binding;
  Place place{binding, "", nullptr};
  IRMapping mapping;
  Region body;
  Block &old = function.getBody().front();
  Block *made = builder.createBlock(&body);
  for (BlockArgument arg : old.getArguments())
    mapping.map(arg, made->addArgument(arg.getType(), arg.getLoc()));
  if (failed(copyOps(old, mapping, place)))
    return failure();
  function.getBody().takeBody(body);
  return success();
}

LogicalResult stg::bindOptions(ModuleOp module, StringRef config,
                               ArrayRef<std::string> values) {
  auto set = [&](Operation *place, StringRef name,
                 StringRef value) -> LogicalResult {
    auto option = module.lookupSymbol<OptionOp>(name);
    if (!option)
      return success();
    if (failed(checkOptionValue(option, value,
                                [&] { return place->emitError(); })))
      return failure();
    option.setValue(value);
    return success();
  };
  if (auto op = module.lookupSymbol<ConfigOp>(config))
    for (NamedAttribute entry : op.getBindings())
      if (StringAttr text = getOptionValue(entry.getValue()))
        if (failed(set(op, entry.getName(), text)))
          return failure();
  for (StringRef assignment : values) {
    auto [name, text] = assignment.split('=');
    if (failed(set(module, name.trim(), text)))
      return failure();
  }
  return success();
}

void InlineBlocks::runOnOperation() {
  ModuleOp module = getOperation();
  if (failed(resolveImports(module, getModelPath(path))) ||
      failed(bindOptions(module, config, values)))
    return signalPassFailure();
  Inliner inliner(module, freeze);
  if (failed(inliner.parseFrozen()))
    return signalPassFailure();
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
    if (!function.isExternal() && failed(inliner.run(function)))
      return signalPassFailure();
  if (failed(inliner.checkFrozen()))
    return signalPassFailure();
  for (auto block : llvm::make_early_inc_range(module.getOps<BlockOp>()))
    block.erase();
}
