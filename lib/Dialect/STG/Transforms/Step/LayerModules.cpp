//===- LayerModules.cpp - Modules of a layer ------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerModules.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/IR/Mixers.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace stg;

namespace {
using Ops = llvm::SetVector<Operation *>;

/// What is added to a residual stream: parts whose sum it is, and what makes
/// the sum of them.
struct Branch {
  SmallVector<Ops> parts;
  Ops sums;
};

class ModuleFinder {
public:
  explicit ModuleFinder(ScanOpInterface scan);

  SmallVector<LayerModule> find(const RecomputeModules &kinds);

private:
  void followStream(const CarriedValue &carried);
  /// The value that `value` of a stream is made of by adding a branch to it, by
  /// normalizing or by converting it, or by weighing streams of a token, or
  /// null.
  Value getBefore(Value value);
  /// Whether the op makes sums of the streams of a token, where there are
  /// several, with weights that are no parameters.
  bool weighsStreams(Operation *op) const;
  /// Whether the op may make a stream of one.
  bool keepsStream(Operation *op) const {
    return isa<RmsNormOp, LayerNormOp, AddOp, CastOp>(op) || weighsStreams(op);
  }
  void addBranch(Value summand);
  void addParts(Value value, Branch &branch);

  /// The op of the body that makes the value, but for what only reads a
  /// parameter or is constant.
  Operation *getMaker(Value value) const {
    Operation *op = value.getDefiningOp();
    return op && op->getBlock() == body && !isa<ParamOp, SplatOp>(op) ? op
                                                                      : nullptr;
  }
  /// What makes the values from the stream, without the norms that read it.
  Ops getMakers(ValueRange values) const;
  bool isStreamNorm(Operation *op) const;
  /// What makes queries, and what makes keys and values of latents, but for the
  /// products whose results others multiply again: those make the latents. What
  /// selects keys is no part of it. Empty without latents.
  Ops getUpProjections(AttentionOp attention) const;

  void add(RecomputeModule kind, ArrayRef<Operation *> ops);

  Block *body;
  /// Whatever a stream is between branches, and what may be one: it is made of
  /// what is carried by adding something, by normalizing it, or by weighing.
  DenseSet<Value> streams, candidates;
  SmallVector<Branch> branches;
  DenseSet<Operation *> taken;
  SmallVector<LayerModule> modules;
};
} // namespace

static bool isBefore(Operation *a, Operation *b) {
  return a->isBeforeInBlock(b);
}

static bool isNorm(Operation *op) { return isa<RmsNormOp, LayerNormOp>(op); }

static bool isProduct(Operation *op) {
  auto product = dyn_cast<EinsumOp>(op);
  return product && product.getInputs().size() == 2 &&
         product.getCost().isMatrix;
}

/// True if the op scales its first operand for each of several streams.
static bool isGate(Operation *op) {
  auto product = dyn_cast<EinsumOp>(op);
  return product && product.getInputs().size() == 2 &&
         !product.getCost().isMatrix;
}

static bool isMixer(Operation *op) {
  return isa<AttentionOpInterface, RecurrentOpInterface>(op);
}

ModuleFinder::ModuleFinder(ScanOpInterface scan) : body(&scan.getLoopBlock()) {
  SmallVector<CarriedValue> carried = getCarriedValues(scan);
  for (const CarriedValue &value : carried)
    candidates.insert(value.arg);
  for (Operation &op : *body) {
    if (keepsStream(&op)) {
      if (llvm::any_of(op.getOperands(), [&](Value operand) {
            return candidates.contains(operand);
          }))
        candidates.insert(op.getResult(0));
    } else if (isa<ScanOpInterface>(op)) {
      for (const CarriedValue &value : getCarriedValues(&op))
        if (candidates.contains(value.init->get()))
          candidates.insert(value.result);
    }
  }
  for (const CarriedValue &value : carried)
    followStream(value);
  // What branches read of several streams.
  for (Operation &op : *body)
    if (weighsStreams(&op) && streams.contains(op.getOperand(0)))
      streams.insert(op.getResult(0));
  // Branches end where any of the streams is read.
  for (const CarriedValue &value : carried) {
    SmallVector<Value> summands;
    for (Value stream = value.yielded->get(); stream && stream != value.arg;
         stream = getBefore(stream))
      if (auto sum = stream.getDefiningOp<AddOp>()) {
        Value before = getBefore(stream);
        summands.push_back(sum.getLhs() == before ? sum.getRhs()
                                                  : sum.getLhs());
      }
    for (Value summand : llvm::reverse(summands))
      addBranch(summand);
  }
}

Value ModuleFinder::getBefore(Value value) {
  Operation *op = getMaker(value);
  if (!op)
    return {};
  if (auto scan = dyn_cast<ScanOpInterface>(op)) {
    for (const CarriedValue &carried : getCarriedValues(op))
      if (carried.result == value)
        return carried.init->get();
    return {};
  }
  if (!keepsStream(op))
    return {};
  for (Value operand : op->getOperands())
    if (candidates.contains(operand))
      return operand;
  return {};
}

bool ModuleFinder::weighsStreams(Operation *op) const {
  if (!isProduct(op) || !candidates.contains(op->getOperand(0)) ||
      !getMaker(op->getOperand(1)))
    return false;
  // The width of a stream stays what it is.
  auto equation =
      llvm::cantFail(EinsumEquation::parse(cast<EinsumOp>(op).getEquation()));
  return !equation.output.empty() &&
         equation.inputs.front().back() == equation.output.back();
}

void ModuleFinder::followStream(const CarriedValue &carried) {
  for (Value stream = carried.yielded->get(); stream;
       stream = getBefore(stream))
    streams.insert(stream);
}

bool ModuleFinder::isStreamNorm(Operation *op) const {
  return isNorm(op) && streams.contains(op->getOperand(0));
}

Ops ModuleFinder::getMakers(ValueRange values) const {
  SmallVector<Value> worklist(values);
  DenseSet<Operation *> found;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (streams.contains(value))
      continue;
    Operation *op = getMaker(value);
    if (op && !isStreamNorm(op) && found.insert(op).second)
      llvm::append_range(worklist, op->getOperands());
  }
  Ops ordered;
  for (Operation &op : *body)
    if (found.contains(&op))
      ordered.insert(&op);
  return ordered;
}

/// Looks for sums behind what keeps a value's place: norms, dropout, casts.
void ModuleFinder::addParts(Value value, Branch &branch) {
  Operation *op = getMaker(value);
  if (!op || streams.contains(value))
    return;
  if (auto sum = dyn_cast<AddOp>(op)) {
    branch.sums.insert(op);
    addParts(sum.getLhs(), branch);
    return addParts(sum.getRhs(), branch);
  }
  if (!isStreamNorm(op) &&
      (isNorm(op) || isGate(op) || isa<DropoutOp, CastOp>(op))) {
    branch.sums.insert(op);
    return addParts(op->getOperand(0), branch);
  }
  if (Ops makers = getMakers(value); !makers.empty())
    branch.parts.push_back(std::move(makers));
}

void ModuleFinder::addBranch(Value summand) {
  Branch branch;
  addParts(summand, branch);
  // What is behind the only part is of it, but for a gate, which reads streams.
  if (branch.parts.size() == 1 && llvm::none_of(branch.sums, isGate)) {
    branch.parts.front() = getMakers(summand);
    branch.sums.clear();
  }
  branches.push_back(std::move(branch));
}

/// Ops of `ops` that read, directly or not, what ops that `isStart` make.
static Ops getReaders(const Ops &ops, function_ref<bool(Operation *)> isStart) {
  Ops readers;
  for (Operation *op : ops)
    if (llvm::any_of(op->getOperands(), [&](Value operand) {
          Operation *maker = operand.getDefiningOp();
          return maker && ops.contains(maker) &&
                 (isStart(maker) || readers.contains(maker));
        }))
      readers.insert(op);
  return readers;
}

/// Likewise what makes, directly or not, what ops that `isEnd` read.
static Ops getSources(const Ops &ops, function_ref<bool(Operation *)> isEnd) {
  Ops sources;
  for (Operation *op : llvm::reverse(ops.getArrayRef()))
    if (llvm::any_of(op->getUsers(), [&](Operation *user) {
          return ops.contains(user) && (isEnd(user) || sources.contains(user));
        }))
      sources.insert(op);
  return sources;
}

/// What experts execute between their products.
static Ops getExpertActivations(const Ops &experts) {
  Ops rows =
      getReaders(experts, [](Operation *op) { return isa<DispatchOp>(op); });
  Ops behind = getReaders(rows, isProduct);
  Ops before = getSources(rows, isProduct);
  Ops activations;
  for (Operation *op : behind)
    if (before.contains(op) && !isProduct(op))
      activations.insert(op);
  return activations;
}

Ops ModuleFinder::getUpProjections(AttentionOp attention) const {
  SmallVector<Value> operands(attention->getOperands());
  llvm::erase(operands, attention.getSelected());
  Ops makers = getMakers(operands);
  // DiT's norms are scaled by products, too, which are of no token.
  Ops ofTokens;
  for (Operation *op : makers)
    if (llvm::any_of(op->getOperands(), [&](Value operand) {
          Operation *maker = operand.getDefiningOp();
          return streams.contains(operand) ||
                 (maker && (isStreamNorm(maker) || ofTokens.contains(maker)));
        }))
      ofTokens.insert(op);
  Ops latents;
  for (Operation *op : getSources(ofTokens, isProduct))
    if (isProduct(op))
      latents.insert(op);
  if (latents.empty())
    return {};
  Ops before =
      getSources(makers, [&](Operation *op) { return latents.contains(op); });
  Ops behind =
      getReaders(makers, [&](Operation *op) { return latents.contains(op); });
  behind.insert_range(getMakers(attention.getQuery()));
  Ops ups;
  for (Operation *op : makers)
    if (behind.contains(op) && !latents.contains(op) && !before.contains(op))
      ups.insert(op);
  return ups;
}

void ModuleFinder::add(RecomputeModule kind, ArrayRef<Operation *> ops) {
  // Loops inside of a layer replay what they contain themselves.
  if (llvm::any_of(ops, [](Operation *op) { return op->getNumRegions() != 0; }))
    return;
  LayerModule module;
  module.discardsOutput = kind == RecomputeModule::LayerNorm ||
                          kind == RecomputeModule::MlaUpProj ||
                          kind == RecomputeModule::MoeAct;
  for (Operation *op : ops)
    if (taken.insert(op).second)
      module.ops.push_back(op);
  llvm::sort(module.ops, isBefore);
  if (!module.ops.empty())
    modules.push_back(std::move(module));
}

SmallVector<LayerModule> ModuleFinder::find(const RecomputeModules &kinds) {
  auto has = [](const Ops &part, auto isOne) {
    return llvm::any_of(part, isOne);
  };
  auto isCombine = [](Operation *op) { return isa<CombineOp>(op); };
  for (const Branch &branch : branches) {
    bool hasExperts = llvm::any_of(
        branch.parts, [&](const Ops &part) { return has(part, isCombine); });
    auto isDense = [&](const Ops &part) {
      return !has(part, isCombine) && !has(part, isMixer) &&
             llvm::count_if(part, isProduct) >= 2;
    };
    if (hasExperts && kinds.count(RecomputeModule::Moe)) {
      Ops all = branch.sums;
      for (const Ops &part : branch.parts)
        if (isDense(part) || has(part, isCombine))
          all.insert_range(part);
      add(RecomputeModule::Moe, all.getArrayRef());
    }
    RecomputeModule dense =
        hasExperts ? RecomputeModule::SharedExperts : RecomputeModule::Mlp;
    for (const Ops &part : branch.parts) {
      if (isDense(part) && kinds.count(dense))
        add(dense, part.getArrayRef());
      if (has(part, isCombine) && kinds.count(RecomputeModule::MoeAct))
        add(RecomputeModule::MoeAct, getExpertActivations(part).getArrayRef());
    }
  }
  for (Operation &op : *body) {
    auto attention = dyn_cast<AttentionOp>(op);
    if (attention && kinds.count(RecomputeModule::MlaUpProj))
      add(RecomputeModule::MlaUpProj,
          getUpProjections(attention).getArrayRef());
    if (attention && kinds.count(RecomputeModule::CoreAttn))
      add(RecomputeModule::CoreAttn, ArrayRef<Operation *>(&op));
    if (isStreamNorm(&op) && kinds.count(RecomputeModule::LayerNorm)) {
      Ops norm;
      norm.insert(&op);
      // Products of 8 bits read a conversion of it.
      for (Operation *user : op.getResult(0).getUsers())
        if (isa<CastOp>(user) && user->getBlock() == body)
          norm.insert(user);
      add(RecomputeModule::LayerNorm, norm.getArrayRef());
    }
  }
  llvm::sort(modules, [](const LayerModule &a, const LayerModule &b) {
    return isBefore(a.ops.front(), b.ops.front());
  });
  return std::move(modules);
}

SmallVector<LayerModule> stg::findModules(ScanOpInterface scan,
                                          const RecomputeModules &kinds) {
  return ModuleFinder(scan).find(kinds);
}

SmallVector<LayerModule> stg::findConvolutions(ScanOpInterface scan) {
  SmallVector<LayerModule> modules;
  for (auto conv : scan.getLoopBlock().getOps<CausalConvOp>())
    if (SmallVector<Operation *> ops = getMadeAgain(conv); !ops.empty()) {
      llvm::sort(ops, isBefore);
      modules.push_back({std::move(ops), /*discardsOutput=*/true});
    }
  return modules;
}
