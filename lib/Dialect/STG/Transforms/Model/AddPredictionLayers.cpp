//===- AddPredictionLayers.cpp - Layers that predict further tokens -------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module of DeepSeek-V3's multi-token prediction is made of parts that the
// model has: the ops from tokens to the residual stream, its last layer or the
// ones that it names, and the ops from the stream to the loss are copied. What
// a word of the vocabulary has a row in is shared, everything else is the
// module's own, or that of all modules.
//
//===----------------------------------------------------------------------===//

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/IRMapping.h"
#include "stg/Dialect/STG/IR/LayerProducts.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {
#define GEN_PASS_DEF_ADDPREDICTIONLAYERS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct AddPredictionLayers
    : stg::impl::AddPredictionLayersBase<AddPredictionLayers> {
  using AddPredictionLayersBase::AddPredictionLayersBase;
  void runOnOperation() override;
};

/// A layer of which modules have a copy.
struct CopiedLayer {
  std::string scope; ///< Of its names in a module, which may have several.
  Block *body;
};

/// The parts of a language model.
struct LanguageModel {
  RepeatOp first, last; ///< Repeats at the top.
  LossOpInterface loss;
  SmallVector<Operation *> embedding; ///< From tokens to the stream.
  SmallVector<CopiedLayer> layers;
  SmallVector<Operation *> head;   ///< From the stream to the loss.
  DenseSet<StringAttr> vocabulary; ///< Names of dimensions.
};

/// Adds modules to a program.
class ModuleBuilder {
public:
  ModuleBuilder(func::FuncOp program, LanguageModel &model, unsigned count,
                bool isRepeated)
      : program(program), model(model), builder(program.getContext()),
        count(count), isRepeated(isRepeated) {}

  LogicalResult addModule(unsigned number, SymExpr weight);

private:
  Value addInput(BlockArgument like);
  bool isShared(ParamOp param) const;
  std::string getParamName(const Twine &name) const;
  void copy(ArrayRef<Operation *> ops, IRMapping &mapping,
            StringRef scope = "");
  Value addNorm(Value input, StringRef name);
  Value addProduct(Value input, StringRef equation, ArrayRef<DimAttr> dims,
                   StringRef name);
  FailureOr<Value> addProjection(Value stream, Value embedded);
  Value addProjections(Value streams, BroadcastOp embedded);

  func::FuncOp program;
  LanguageModel &model;
  OpBuilder builder;
  unsigned count;
  bool isRepeated;    ///< All modules have the parameters of one.
  std::string prefix; ///< Of the module's names.
  Value stream;       ///< What the module before has made.
};
} // namespace

//===----------------------------------------------------------------------===//
// The parts of the model
//===----------------------------------------------------------------------===//

static LogicalResult refuse(func::FuncOp program, const Twine &reason) {
  return program.emitOpError("has no place for layers that predict further "
                             "tokens: ")
         << reason;
}

/// What `value` is made of in its block, without repeats, in order.
static SmallVector<Operation *> getMakers(Value value) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) {
    return op->getBlock() == value.getParentBlock() && !isa<RepeatOp>(op);
  };
  (void)getBackwardSlice(value, &slice, options);
  SmallVector<Operation *> ops(slice.begin(), slice.end());
  llvm::sort(ops, [](Operation *lhs, Operation *rhs) {
    return lhs->isBeforeInBlock(rhs);
  });
  return ops;
}

/// Whether a repeat has a name, perhaps with a number to tell it from others.
static bool hasName(RepeatOp repeat, StringRef name) {
  StringRef rest = repeat.getRepeatName();
  return rest.consume_front(name) &&
         (rest.empty() ||
          (rest.consume_front("_") && llvm::all_of(rest, llvm::isDigit)));
}

/// True for a layer that the model does not have and its modules do: nothing
/// reads what it makes.
static bool isOfModules(RepeatOp repeat) {
  return llvm::all_of(repeat->getUsers(), llvm::IsaPred<KeepOp>);
}

static bool carriesStream(RepeatOp repeat) {
  return repeat.getNumCarried() == 1 && repeat.getNumResults() == 1 &&
         repeat.getStacks().empty();
}

/// The last layer, in the last repeat of repeats.
static LogicalResult findLastLayer(func::FuncOp program, LanguageModel &model) {
  RepeatOp layers = model.last;
  while (layers) {
    if (!carriesStream(layers))
      return refuse(program, "expected layers that carry one value, the "
                             "residual stream, and stack nothing");
    Block *body = &layers.getBody().front();
    layers = nullptr;
    for (auto nested : body->getOps<RepeatOp>())
      layers = nested;
    if (!layers)
      model.layers.push_back({"", body});
  }
  return success();
}

/// The layers that the program names: of each the last one of that name.
static LogicalResult findNamedLayers(func::FuncOp program, ArrayAttr names,
                                     LanguageModel &model) {
  for (auto name : names.getAsRange<StringAttr>()) {
    Block *body = nullptr;
    program.walk([&](RepeatOp repeat) {
      if (hasName(repeat, name) && carriesStream(repeat) &&
          repeat.getBody().front().getOps<RepeatOp>().empty())
        body = &repeat.getBody().front();
    });
    if (!body)
      return refuse(program, "expected an stg.repeat '" + name.getValue() +
                                 "' of layers that carry the residual stream, "
                                 "which '" +
                                 STGDialect::kModuleLayersAttr + "' names");
    auto isSame = [&](Attribute other) { return other == name; };
    std::string scope = name.str();
    if (llvm::count_if(names, isSame) > 1)
      scope += std::to_string(model.layers.size());
    model.layers.push_back({names.size() > 1 ? scope + "." : "", body});
  }
  return success();
}

static FailureOr<LanguageModel> findParts(func::FuncOp program) {
  LanguageModel model;
  Block &body = program.getBody().front();
  auto names = program->getAttrOfType<ArrayAttr>(STGDialect::kModuleLayersAttr);
  for (auto repeat : body.getOps<RepeatOp>()) {
    if (names && isOfModules(repeat))
      continue;
    if (!model.first)
      model.first = repeat;
    model.last = repeat;
  }
  for (auto loss : body.getOps<LossOpInterface>())
    model.loss = loss;
  if (!model.last || !model.loss)
    return refuse(program, "expected layers in an stg.repeat and a loss of "
                           "logits");
  if (failed(names ? findNamedLayers(program, names, model)
                   : findLastLayer(program, model)))
    return failure();
  if (model.first.getNumCarried() != 1)
    return refuse(program, "expected first layers that carry one value");
  model.embedding = getMakers(model.first.getInits().front());
  for (Value result : model.loss->getResults())
    for (Operation *op : getMakers(result))
      if (!llvm::is_contained(model.head, op))
        model.head.push_back(op);
  auto logits = cast<SymTensorType>(model.loss.getPredictions().getType());
  for (StringAttr name : logits.getDims().back().getNames())
    model.vocabulary.insert(name);
  bool isRead =
      llvm::any_of(model.last.getResult(0).getUsers(), [&](Operation *user) {
        return llvm::is_contained(model.head, user);
      });
  if (!isRead)
    return refuse(program, "expected a loss of what the last layers make");
  return model;
}

//===----------------------------------------------------------------------===//
// A module
//===----------------------------------------------------------------------===//

/// Tables with a row for each word, and the head.
bool ModuleBuilder::isShared(ParamOp param) const {
  return llvm::any_of(param.getType().getDims(), [&](DimAttr dim) {
    return llvm::any_of(dim.getNames(), [&](StringAttr name) {
      return model.vocabulary.contains(name);
    });
  });
}

Value ModuleBuilder::addInput(BlockArgument like) {
  auto own = program.getArgAttrOfType<StringAttr>(like.getArgNumber(),
                                                  STGDialect::kNameAttr);
  std::string name =
      own ? own.str() : "arg" + std::to_string(like.getArgNumber());
  unsigned number = program.getNumArguments();
  (void)program.insertArgument(
      number, like.getType(),
      builder.getDictionaryAttr(builder.getNamedAttr(
          STGDialect::kNameAttr, builder.getStringAttr(prefix + name))),
      like.getLoc());
  return program.getArgument(number);
}

std::string ModuleBuilder::getParamName(const Twine &name) const {
  return ((isRepeated ? "mtp." : prefix) + name).str();
}

void ModuleBuilder::copy(ArrayRef<Operation *> ops, IRMapping &mapping,
                         StringRef scope) {
  for (Operation *op : ops) {
    Operation *made = builder.clone(*op, mapping);
    made->walk([&](Operation *inner) {
      if (StringAttr name = getOrigin(inner).name)
        setName(inner, builder.getStringAttr(prefix + scope + name.getValue()));
    });
    if (auto param = dyn_cast<ParamOp>(made); param && !isShared(param))
      param.setParamName(getParamName(scope + param.getParamName()));
    if (auto repeat = dyn_cast<RepeatOp>(made))
      repeat.setRepeatName((prefix + scope + repeat.getRepeatName()).str());
  }
}

Value ModuleBuilder::addNorm(Value input, StringRef name) {
  auto type = cast<SymTensorType>(input.getType());
  auto weight = ParamOp::create(builder, input.getLoc(),
                                SymTensorType::get(builder.getContext(),
                                                   {type.getDims().back()},
                                                   type.getElementType()),
                                builder.getStringAttr(getParamName(name)));
  auto norm = RmsNormOp::create(builder, input.getLoc(), input, weight);
  setName(norm, builder.getStringAttr(prefix + name));
  return norm.getResult();
}

/// Not the same dimension twice: the first one of a weight is contracted.
Value ModuleBuilder::addProduct(Value input, StringRef equation,
                                ArrayRef<DimAttr> dims, StringRef name) {
  Location loc = input.getLoc();
  Type element = cast<SymTensorType>(input.getType()).getElementType();
  auto weight = ParamOp::create(
      builder, loc, SymTensorType::get(builder.getContext(), dims, element),
      builder.getStringAttr(getParamName(name)));
  auto product =
      EinsumOp::create(builder, loc, ValueRange{input, weight}, equation,
                       /*into=*/TypeAttr(), DrawsAttr(), SymExpr());
  setName(product, builder.getStringAttr(prefix + name));
  setInLayer(product);
  return product.getResult();
}

/// Where a token has several streams, which start alike, each is projected by
/// itself, and the projected embedding is added to each.
Value ModuleBuilder::addProjections(Value before, BroadcastOp embedded) {
  auto type = cast<SymTensorType>(before.getType());
  DimAttr width = type.getDims().back();
  Value next = addProduct(addNorm(embedded.getInput(), "enorm"), "bsc,cd->bsd",
                          {width, width}, "e_proj");
  auto spread = BroadcastOp::create(builder, embedded.getLoc(), type, next,
                                    embedded.getDim());
  setName(spread, builder.getStringAttr(prefix + "streams"));
  Value streams = addProduct(addNorm(before, "hnorm"), "bsnc,cd->bsnd",
                             {width, width}, "h_proj");
  auto sum = AddOp::create(builder, before.getLoc(), streams, spread);
  setName(sum, builder.getStringAttr(prefix + "eh_sum"));
  return sum.getResult();
}

/// The stream and the embedding of the next tokens, normalized, joined, and
/// made as wide as the stream.
FailureOr<Value> ModuleBuilder::addProjection(Value before, Value embedded) {
  auto type = cast<SymTensorType>(before.getType());
  auto spread = embedded.getDefiningOp<BroadcastOp>();
  if (spread && embedded.getType() == type && type.getRank() == 4 &&
      spread.getDim() == 2)
    return addProjections(before, spread);
  if (embedded.getType() != type || type.getRank() != 3)
    return refuse(program, "expected a residual stream of batch, tokens and "
                           "width that starts as it ends");
  Value parts[] = {addNorm(before, "hnorm"), addNorm(embedded, "enorm")};
  SmallVector<DimAttr> dims(type.getDims());
  DimAttr width = dims.back();
  DimAttr twice = width.withExtent(width.getExtent() * 2);
  dims.back() = twice;
  MLIRContext *context = builder.getContext();
  Location loc = before.getLoc();
  Type element = type.getElementType();
  Value joined =
      ConcatOp::create(builder, loc, SymTensorType::get(context, dims, element),
                       parts, type.getRank() - 1, /*ordered=*/true);
  setName(joined.getDefiningOp(), builder.getStringAttr(prefix + "eh_concat"));
  return addProduct(joined, "bsc,cd->bsd", {twice, width}, "eh_proj");
}

LogicalResult ModuleBuilder::addModule(unsigned number, SymExpr weight) {
  prefix = "mtp" + (count > 1 ? std::to_string(number) : std::string()) + ".";
  Operation *terminator = program.getBody().front().getTerminator();
  builder.setInsertionPoint(terminator);
  if (!stream)
    stream = model.last.getResult(0);
  // The embedding of the next tokens.
  IRMapping embedding;
  bool hasTokens = false;
  for (Operation *op : model.embedding)
    if (auto lookup = dyn_cast<EmbeddingOp>(op)) {
      auto param = lookup.getTable().getDefiningOp<ParamOp>();
      auto ids = dyn_cast<BlockArgument>(lookup.getIds());
      if (param && ids && isShared(param) && !embedding.contains(ids)) {
        embedding.map(ids, addInput(ids));
        hasTokens = true;
      }
    }
  if (!hasTokens)
    return refuse(program, "expected an argument with the tokens, whose rows "
                           "of a table the layers start with");
  copy(model.embedding, embedding);
  FailureOr<Value> joined =
      addProjection(stream, embedding.lookup(model.first.getInits().front()));
  if (failed(joined))
    return failure();
  stream = *joined;
  for (const CopiedLayer &layer : model.layers) {
    IRMapping mapping;
    mapping.map(layer.body->getArgument(0), stream);
    SmallVector<Operation *> ops;
    for (Operation &op : layer.body->without_terminator())
      ops.push_back(&op);
    copy(ops, mapping, layer.scope);
    for (Operation *op : ops)
      if (auto copied = dyn_cast<EinsumOp>(mapping.lookup(op)))
        setInLayer(copied);
    stream =
        mapping.lookupOrDefault(layer.body->getTerminator()->getOperand(0));
  }
  // The loss of the tokens after the next.
  IRMapping head;
  head.map(model.last.getResult(0), stream);
  for (Value operand : model.loss->getOperands())
    if (auto labels = dyn_cast<BlockArgument>(operand))
      head.map(labels, addInput(labels));
  copy(model.head, head);
  Operation *loss = model.loss;
  unsigned result = program.getNumResults();
  (void)program.insertResult(result, loss->getResult(0).getType(),
                             builder.getDictionaryAttr(builder.getNamedAttr(
                                 STGDialect::kLossAttr, weight)));
  terminator->insertOperands(terminator->getNumOperands(),
                             head.lookup(loss->getResult(0)));
  return success();
}

/// Layers of modules alone are copied, and are none of the model.
static void eraseLayersOfModules(func::FuncOp program) {
  if (!program->hasAttr(STGDialect::kModuleLayersAttr))
    return;
  for (auto repeat :
       llvm::make_early_inc_range(program.getBody().getOps<RepeatOp>())) {
    if (!isOfModules(repeat))
      continue;
    for (Operation *keep : llvm::make_early_inc_range(repeat->getUsers()))
      keep->erase();
    repeat.erase();
  }
}

/// What the modules need, and nothing else: the last of the results, made of an
/// argument in place of the stream of the model.
static void keepModules(func::FuncOp program, LanguageModel &model) {
  Block &body = program.getBody().front();
  Value stream = model.last.getResult(0);
  MLIRContext *context = program.getContext();
  unsigned number = program.getNumArguments();
  NamedAttribute name(StringAttr::get(context, STGDialect::kNameAttr),
                      StringAttr::get(context, "hidden"));
  (void)program.insertArgument(number, stream.getType(),
                               DictionaryAttr::get(context, name),
                               stream.getLoc());
  stream.replaceAllUsesWith(program.getArgument(number));
  BitVector dropped(program.getNumResults(), true);
  dropped.reset(program.getNumResults() - 1);
  body.getTerminator()->eraseOperands(dropped);
  (void)program.eraseResults(dropped);
  program.setResultAttr(0, STGDialect::kLossAttr, SymExpr::get(context, 1));
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (!op.hasTrait<OpTrait::IsTerminator>() && op.use_empty())
      op.erase();
  BitVector unused(program.getNumArguments());
  for (BlockArgument argument : program.getArguments())
    if (argument.use_empty())
      unused.set(argument.getArgNumber());
  (void)program.eraseArguments(unused);
}

void AddPredictionLayers::runOnOperation() {
  func::FuncOp program = getOperation();
  if (program.isExternal() || program.isPrivate())
    return;
  if (count == 0)
    return eraseLayersOfModules(program);
  llvm::Expected<SymExpr> total = SymExpr::parse(&getContext(), weight);
  if (!total || total->isZero()) {
    program.emitError("layers that predict further tokens have the weight '")
        << weight << "', expected one such as 3/10";
    if (!total)
      llvm::consumeError(total.takeError());
    return signalPassFailure();
  }
  FailureOr<LanguageModel> model = findParts(program);
  if (failed(model))
    return signalPassFailure();
  // The first result is a loss like the others from now on.
  if (!program.getResultAttr(0, STGDialect::kLossAttr))
    program.setResultAttr(0, STGDialect::kLossAttr,
                          SymExpr::get(&getContext(), 1));
  SymExpr each = total->exactDiv(SymExpr::get(&getContext(), count));
  ModuleBuilder modules(program, *model, count, repeated);
  for (unsigned number = 0; number < count; ++number)
    if (failed(modules.addModule(number, each)))
      return signalPassFailure();
  eraseLayersOfModules(program);
  if (only)
    keepModules(program, *model);
}
