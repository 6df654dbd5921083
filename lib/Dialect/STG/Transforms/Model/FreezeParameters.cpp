//===- FreezeParameters.cpp - What is not trained -------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What follows from a frozen parameter follows from activity alone: autodiff
// makes no gradient of what needs none. A repeat has one body, so iterations
// that need less of a gradient than others are taken out of it here.
//
//===----------------------------------------------------------------------===//

#include "SymbolValues.h"
#include "stg/Dialect/STG/Analysis/Activity.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/GlobPattern.h"

namespace stg {
#define GEN_PASS_DEF_FREEZEPARAMETERS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct FreezeParameters : stg::impl::FreezeParametersBase<FreezeParameters> {
  using FreezeParametersBase::FreezeParametersBase;
  void runOnOperation() override;

private:
  LogicalResult freeze(StringRef name, ArrayRef<func::FuncOp> programs);
  LogicalResult freezeFirst(StringRef name, int64_t count,
                            ArrayRef<func::FuncOp> programs);
  FailureOr<RepeatOp> takeFirst(RepeatOp repeat, int64_t count,
                                StringRef suffix);
  LogicalResult peelBlock(Block &block, Activity &activity);
  LogicalResult peelRepeats(func::FuncOp program);

  SymBinding binding;
};
} // namespace

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// The name, and what stands before each of its dots.
static void addPrefixes(StringRef name, SmallVectorImpl<std::string> &names) {
  for (size_t dot = name.find('.'); dot != StringRef::npos;
       dot = name.find('.', dot + 1))
    names.push_back(name.take_front(dot).str());
  names.push_back(name.str());
}

/// All that a pattern may be for that freezes the parameter.
static SmallVector<std::string> getNames(ParamOp param) {
  SmallVector<std::string> names;
  std::string path = getParameterPath(param);
  SmallVector<StringRef> segments;
  StringRef(path).split(segments, '/');
  for (StringRef segment : segments)
    addPrefixes(segment, names);
  for (size_t slash = 0; slash != StringRef::npos;
       slash = path.find('/', slash + 1)) {
    StringRef suffix = StringRef(path).drop_front(slash ? slash + 1 : 0);
    if (suffix.contains('/'))
      names.push_back(suffix.str());
  }
  return names;
}

/// An error that lists what there is, the nearest first.
static LogicalResult reportUnknown(ModuleOp module, StringRef kind,
                                   StringRef name,
                                   ArrayRef<std::string> known) {
  SmallVector<StringRef> sorted(known.begin(), known.end());
  llvm::sort(sorted, [&](StringRef lhs, StringRef rhs) {
    return std::make_pair(name.edit_distance(lhs), lhs) <
           std::make_pair(name.edit_distance(rhs), rhs);
  });
  sorted.erase(llvm::unique(sorted), sorted.end());
  InFlightDiagnostic diag = module.emitError("freezes '")
                            << name << "', but no " << kind
                            << " has such a name; there are ";
  constexpr size_t kMostNames = 8;
  llvm::interleaveComma(ArrayRef(sorted).take_front(kMostNames), diag);
  if (sorted.size() > kMostNames)
    diag << " and " << sorted.size() - kMostNames << " others";
  return diag;
}

LogicalResult FreezeParameters::freeze(StringRef name,
                                       ArrayRef<func::FuncOp> programs) {
  llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(name);
  if (!pattern)
    return getOperation().emitError("freezes '")
           << name
           << "', which is no pattern: " << llvm::toString(pattern.takeError());
  bool isFound = false;
  std::vector<std::string> known;
  for (func::FuncOp program : programs)
    program.walk([&](ParamOp param) {
      SmallVector<std::string> names = getNames(param);
      bool isMeant = llvm::any_of(
          names, [&](StringRef text) { return pattern->match(text); });
      param.setFrozen(param.getFrozen() || isMeant);
      isFound |= isMeant;
      llvm::append_range(known, names);
    });
  return isFound ? success()
                 : reportUnknown(getOperation(), "parameter or repeat", name,
                                 known);
}

LogicalResult FreezeParameters::freezeFirst(StringRef name, int64_t count,
                                            ArrayRef<func::FuncOp> programs) {
  bool isFound = false;
  std::vector<std::string> known;
  for (func::FuncOp program : programs) {
    SmallVector<RepeatOp> repeats;
    program.walk([&](RepeatOp repeat) {
      known.push_back(repeat.getRepeatName().str());
      if (repeat.getRepeatName() == name)
        repeats.push_back(repeat);
    });
    isFound |= !repeats.empty();
    for (RepeatOp repeat : repeats) {
      FailureOr<RepeatOp> first = takeFirst(repeat, count, "_frozen");
      if (failed(first))
        return failure();
      bool hasParameters = false;
      first->walk([&](ParamOp param) {
        param.setFrozen(true);
        hasParameters = true;
      });
      if (!hasParameters)
        return first->emitOpError("has no parameters of its own that could be "
                                  "frozen: its layers share those of others; "
                                  "name parameters instead");
    }
  }
  return isFound ? success()
                 : reportUnknown(getOperation(), "repeat", name, known);
}

/// A parameter that is read in several places is one parameter. True if any is
/// frozen.
static bool freezeAllReads(func::FuncOp program) {
  llvm::StringMap<bool> isFrozen;
  bool any = false;
  program.walk([&](ParamOp param) {
    isFrozen[getParameterPath(param)] |= param.getFrozen();
    any |= param.getFrozen();
  });
  program.walk([&](ParamOp param) {
    param.setFrozen(isFrozen.lookup(getParameterPath(param)));
  });
  return any;
}

//===----------------------------------------------------------------------===//
// Iterations of their own
//===----------------------------------------------------------------------===//

/// The name with the suffix, and with a number where a repeat beside it is
/// called so: of iterations that are taken one after the other.
static std::string getFreeName(RepeatOp repeat, StringRef suffix) {
  const std::string stem = (repeat.getRepeatName() + suffix).str();
  std::string name = stem;
  auto isTaken = [&](RepeatOp other) { return other.getRepeatName() == name; };
  auto repeats = repeat->getBlock()->getOps<RepeatOp>();
  for (unsigned number = 2; llvm::any_of(repeats, isTaken); ++number)
    name = stem + std::to_string(number);
  return name;
}

/// Makes a repeat of the first iterations, which `repeat` goes on from. If
/// there are no others, that is `repeat` itself. Both count from the same
/// number: they are scopes of their own.
FailureOr<RepeatOp> FreezeParameters::takeFirst(RepeatOp repeat, int64_t count,
                                                StringRef suffix) {
  std::optional<int64_t> number = evaluate(repeat.getCount(), binding);
  if (count < 1 || (number && *number < count))
    return repeat.emitOpError("repeats ")
           << repeat.getCount().str() << " times, which has no first " << count
           << " iterations";
  if (number == count)
    return repeat;
  if (repeat.getNumResults() != repeat.getNumCarried() ||
      !repeat.getStacks().empty())
    return repeat.emitOpError("reads or makes stacks, so that its first "
                              "iterations cannot be a repeat of their own");
  const std::string name = getFreeName(repeat, suffix);
  OpBuilder builder(repeat);
  auto first = cast<RepeatOp>(builder.clone(*repeat));
  first.setRepeatName(name);
  SymExpr start =
      repeat.getFirst().value_or(SymExpr::get(repeat.getContext(), 0));
  first.setRange(start, SymExpr::get(repeat.getContext(), count));
  repeat.setRange(start, repeat.getCount() - count);
  for (auto [init, result] :
       llvm::zip_equal(repeat.getInitsMutable(), first.getResults()))
    init.set(result);
  return first;
}

/// True if a value that the repeat starts with needs no gradient, but what the
/// first iteration makes of it does.
static bool startsInactive(RepeatOp repeat, const Activity &activity) {
  return llvm::any_of(getCarriedValues(repeat), [&](const CarriedValue &value) {
    return !activity.contains(value.init->get()) &&
           activity.contains(value.arg);
  });
}

/// Nothing is handed on in a repeat of one iteration. Activity knows it of a
/// count that is a number, not of a symbol that has the value.
static void tellSingle(RepeatOp repeat) {
  MLIRContext *context = repeat.getContext();
  SymExpr start = repeat.getFirst().value_or(SymExpr::get(context, 0));
  repeat.setRange(start, SymExpr::get(context, 1));
}

LogicalResult FreezeParameters::peelBlock(Block &block, Activity &activity) {
  for (auto repeat : llvm::to_vector(block.getOps<RepeatOp>())) {
    bool hasStacks = repeat.getNumResults() != repeat.getNumCarried() ||
                     !repeat.getStacks().empty();
    std::optional<int64_t> count = evaluate(repeat.getCount(), binding);
    if (startsInactive(repeat, activity) && !hasStacks) {
      if (count == 1)
        tellSingle(repeat);
      else if (failed(takeFirst(repeat, 1, "_first")))
        return failure();
      // What is active is another now, in all of the block.
      return peelRepeats(repeat->getParentOfType<func::FuncOp>());
    }
    if (failed(peelBlock(repeat.getBody().front(), activity)))
      return failure();
  }
  return success();
}

LogicalResult FreezeParameters::peelRepeats(func::FuncOp program) {
  Activity activity;
  activity.addBlock(program.getBody().front());
  return peelBlock(program.getBody().front(), activity);
}

void FreezeParameters::runOnOperation() {
  ModuleOp module = getOperation();
  WalkResult found = module.walk([](ParamOp param) {
    return param.getFrozen() ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (names.empty() && !found.wasInterrupted())
    return markAllAnalysesPreserved();
  FailureOr<SymBinding> known = collectSymbolValues(module, config, values);
  if (failed(known))
    return signalPassFailure();
  binding = std::move(*known);
  SmallVector<func::FuncOp> programs;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && !function.isPrivate())
      programs.push_back(function);
  for (StringRef entry : names) {
    auto [name, number] = entry.rsplit(':');
    int64_t count = 0;
    bool isFirst = !number.empty() && !number.getAsInteger(10, count);
    if (failed(isFirst ? freezeFirst(name, count, programs)
                       : freeze(entry, programs)))
      return signalPassFailure();
  }
  for (func::FuncOp program : programs)
    if (freezeAllReads(program) && peel && failed(peelRepeats(program)))
      return signalPassFailure();
}
