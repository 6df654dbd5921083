//===- STGDialect.cpp - The stg dialect -----------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/InliningUtils.h"
#include "stg/Dialect/STG/IR/Blocks.h"
#include "stg/Dialect/STG/IR/Delayed.h"
#include "stg/Dialect/STG/IR/KeptParameters.h"
#include "stg/Dialect/STG/IR/LayerProducts.h"
#include "stg/Dialect/STG/IR/Mixers.h"
#include "stg/Dialect/STG/IR/STGOpBase.h"
#include "stg/Dialect/Sym/IR/Bytecode.h"
#include "stg/Support/Names.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace stg;

#include "stg/Dialect/STG/IR/STGDialect.cpp.inc"
#include "stg/Dialect/STG/IR/STGInterfaces.cpp.inc"

namespace {
/// Every stg op may be inlined: a block of a model is a private function.
struct STGInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

/// To be counted up, with an upgrade or a reader of properties that knows both
/// (STGBytecode.cpp), when what was written before would not be read or would
/// mean something else.
/// 2: `draws` of products and biases, `seen` and `into` of attention's blocks,
/// `rollback` of states.
static constexpr uint64_t kBytecodeVersion = 2;

void STGDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "stg/Dialect/STG/IR/STGOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "stg/Dialect/STG/IR/STGMixerOps.cpp.inc"
      >();
  addInterfaces<STGInlinerInterface>();
  addInterface<VersionedBytecode>(kBytecodeVersion);
}

//===----------------------------------------------------------------------===//
// Discardable attributes
//===----------------------------------------------------------------------===//

static std::string quoteAll(ArrayRef<StringRef> names) {
  return "'" + llvm::join(names, "', '") + "'";
}

LogicalResult stg::detail::verifyDeclaredAttributes(Operation *op) {
  for (NamedAttribute attr : op->getDiscardableAttrs()) {
    StringRef name = attr.getName();
    if (name.contains('.'))
      continue;
    SmallVector<StringRef> known;
    for (StringAttr declared : op->getName().getAttributeNames())
      known.push_back(declared);
    InFlightDiagnostic diag = op->emitOpError("has no attribute '")
                              << name << "'";
    // One letter in three may be wrong.
    auto distance = [&](StringRef other) { return name.edit_distance(other); };
    auto nearest = llvm::min_element(known, [&](StringRef lhs, StringRef rhs) {
      return distance(lhs) < distance(rhs);
    });
    if (nearest != known.end() && distance(*nearest) <= name.size() / 3 + 1)
      diag << ", did you mean '" << *nearest << "'?";
    diag.attachNote() << (known.empty() ? "it has none"
                                        : "it has " + quoteAll(known))
                      << "; an attribute of another dialect has that "
                         "dialect's prefix";
    return diag;
  }
  return success();
}

LogicalResult stg::detail::verifyDestroyed(Operation *op, unsigned operand) {
  if (operand >= op->getNumOperands())
    return success(); // The number of operands is another trait's error.
  Value value = op->getOperand(operand);
  Block *block = value.getParentBlock();
  Operation *place = block->findAncestorOpInBlock(*op);
  if (place && place != op && isa<LoopLikeOpInterface>(op->getParentOp()))
    return op->emitOpError("destroys operand #")
           << operand << ", which each iteration of the repeat reads; carry it";
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    Operation *beside = op->getBlock()->findAncestorOpInBlock(*user);
    bool isLater = beside && beside != op && op->isBeforeInBlock(beside);
    if (!isLater && (user != op || use.getOperandNumber() == operand))
      continue;
    InFlightDiagnostic diag = op->emitOpError("destroys operand #")
                              << operand << ", which is read "
                              << (user == op ? "as another operand" : "later");
    if (user != op)
      diag.attachNote(user->getLoc()) << "read here";
    return diag;
  }
  return success();
}

/// Nobody reads an attribute of ours that is none.
static LogicalResult refuseUnknown(Operation *op, NamedAttribute attribute,
                                   ArrayRef<StringRef> known) {
  if (llvm::is_contained(known, attribute.getName().getValue()))
    return success();
  return op->emitOpError("has the unknown attribute '")
         << attribute.getName().getValue() << "', expected one of "
         << quoteAll(known);
}

/// Ops of this dialect declare their origin.
static LogicalResult verifyOrigin(Operation *op, Attribute value) {
  if (isa<OriginAttr>(value) && !isa<StepOpInterface>(op))
    return success();
  return op->emitOpError("has 'stg.origin' ")
         << value << ", expected a '#stg.origin' at an op that has no "
         << "'origin' of its own";
}

/// Ops of this dialect declare the factors that they compute sharded.
static LogicalResult verifyFactors(Operation *op, Attribute value) {
  if (isa<FactorsAttr>(value) && isa<ShardableOpInterface>(op) &&
      !llvm::is_contained(op->getName().getAttributeNames(),
                          STGDialect::kFactorsName))
    return success();
  return op->emitOpError("has 'stg.factors' ")
         << value << ", expected a '#stg.factors' at an op that has a sharding "
         << "rule and no 'factors' of its own";
}

/// What is expected instead follows.
static InFlightDiagnostic refuseValue(Operation *op, NamedAttribute attribute) {
  return op->emitOpError("has '") << attribute.getName().getValue() << "' "
                                  << attribute.getValue() << ", expected ";
}

static LogicalResult verifyText(Operation *op, NamedAttribute attribute) {
  auto text = dyn_cast<StringAttr>(attribute.getValue());
  if (!text || text.getValue().empty())
    return refuseValue(op, attribute) << "a text that is not empty";
  if (std::string flaw = findFlawOfName(text); !flaw.empty())
    return op->emitOpError("expects as '")
           << attribute.getName().getValue() << "' " << flaw;
  return success();
}

static LogicalResult verifyTexts(Operation *op, NamedAttribute attribute) {
  auto texts = dyn_cast<ArrayAttr>(attribute.getValue());
  if (texts && llvm::all_of(texts, llvm::IsaPred<StringAttr>))
    return success();
  return refuseValue(op, attribute) << "texts, such as [\"B\", \"S\"]";
}

static LogicalResult verifyMask(Operation *op, NamedAttribute attribute) {
  auto text = dyn_cast<StringAttr>(attribute.getValue());
  if (text && symbolizeAttentionMask(text.getValue()))
    return success();
  return refuseValue(op, attribute) << "\"causal\" or \"none\"";
}

template <typename OpTy, typename AttrTy>
static LogicalResult verifyKind(Operation *op, NamedAttribute attribute) {
  if (isa<OpTy>(op) && isa<AttrTy>(attribute.getValue()))
    return success();
  return refuseValue(op, attribute) << "a '#" << AttrTy::name << "' at a '"
                                    << OpTy::getOperationName() << "'";
}

template <typename OpTy>
static LogicalResult verifyMark(Operation *op, NamedAttribute attribute,
                                StringRef kind) {
  if (isa<OpTy>(op) && isa<UnitAttr>(attribute.getValue()))
    return success();
  return op->emitOpError("has '")
         << attribute.getName().getValue()
         << "', expected it without a value, and at " << kind;
}

/// A module without layers would predict nothing.
static LogicalResult verifyModuleLayers(Operation *op,
                                        NamedAttribute attribute) {
  auto names = dyn_cast<ArrayAttr>(attribute.getValue());
  auto isName = [](Attribute name) {
    auto text = dyn_cast<StringAttr>(name);
    return text && !text.getValue().empty();
  };
  if (isa<func::FuncOp>(op) && names && !names.empty() &&
      llvm::all_of(names, isName))
    return success();
  return refuseValue(op, attribute)
         << "names of layers, such as [\"attention\", \"experts\"], at a '"
         << func::FuncOp::getOperationName() << "'";
}

/// The weight of a loss; 0 would not be one.
static LogicalResult verifyLoss(Operation *op, Attribute value) {
  auto weight = dyn_cast<SymExpr>(value);
  if (weight && !weight.isZero() && isa<func::FuncOp>(op))
    return success();
  return op->emitOpError("has 'stg.loss' ")
         << value << ", expected the weight of a loss, a '#sym.expr' that is "
         << "not 0, at a result of a 'func.func'";
}

/// Attributes of the op, and options that are declared.
static LogicalResult verifyOptions(Operation *op, Attribute value) {
  auto options = dyn_cast<DictionaryAttr>(value);
  SymbolTableCollection symbolTable;
  for (NamedAttribute entry :
       options ? options.getValue() : ArrayRef<NamedAttribute>()) {
    auto name = dyn_cast<StringAttr>(entry.getValue());
    if (!op->getInherentAttr(entry.getName()).value_or(Attribute()))
      return op->emitOpError("has 'stg.options' for '")
             << entry.getName().getValue()
             << "', which is no attribute that it has";
    if (!name || !lookupDeclared<OptionOp>(op, name, symbolTable))
      return op->emitOpError("takes '")
             << entry.getName().getValue() << "' from option "
             << entry.getValue() << ", which is not declared";
  }
  if (options)
    return success();
  return op->emitOpError("has 'stg.options' ")
         << value << ", expected the options that give values to attributes, "
         << "such as {function = \"activation\"}";
}

LogicalResult STGDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  if (attribute.getName() == kOriginAttr)
    return verifyOrigin(op, attribute.getValue());
  if (attribute.getName() == kFactorsAttr)
    return verifyFactors(op, attribute.getValue());
  if (attribute.getName() == kOptionsAttr)
    return verifyOptions(op, attribute.getValue());
  if (attribute.getName() == kTaskAttr)
    return verifyKind<func::FuncOp, TaskAttr>(op, attribute);
  if (attribute.getName() == kCoordinatesAttr)
    return verifyKind<func::FuncOp, CoordinatesAttr>(op, attribute);
  if (attribute.getName() == kProgramAttr)
    return verifyKind<func::FuncOp, ProgramAttr>(op, attribute);
  if (attribute.getName() == kModuleLayersAttr)
    return verifyModuleLayers(op, attribute);
  if (attribute.getName() == kScopeAttr)
    return isa<func::CallOp>(op)
               ? verifyText(op, attribute)
               : verifyKind<func::CallOp, StringAttr>(op, attribute);
  if (attribute.getName() == kKeptAttr)
    return verifyKind<ParamOp, UnitAttr>(op, attribute);
  if (attribute.getName() == kDelayedAttr)
    return verifyMark<CostOpInterface>(op, attribute, "an op that computes");
  if (attribute.getName() == kInLayerAttr)
    return verifyMark<EinsumOp>(op, attribute, "a product");
  return refuseUnknown(op, attribute,
                       {kOriginAttr, kFactorsAttr, kScopeAttr, kOptionsAttr,
                        kTaskAttr, kCoordinatesAttr, kProgramAttr,
                        kModuleLayersAttr, kKeptAttr, kDelayedAttr,
                        kInLayerAttr});
}

LogicalResult STGDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                   unsigned number,
                                                   NamedAttribute attribute) {
  if (attribute.getName() == kNameAttr || attribute.getName() == kParamAttr)
    return verifyText(op, attribute);
  if (attribute.getName() == kDimsAttr)
    return verifyTexts(op, attribute);
  if (attribute.getName() == kMaskAttr)
    return verifyMask(op, attribute);
  if (attribute.getName() != kLayoutAttr)
    return refuseUnknown(
        op, attribute,
        {kNameAttr, kDimsAttr, kParamAttr, kMaskAttr, kLayoutAttr});
  if (failed(verifyKind<func::FuncOp, LayoutAttr>(op, attribute)))
    return failure();
  auto layout = cast<LayoutAttr>(attribute.getValue());
  Type type = cast<func::FuncOp>(op).getArgumentTypes()[number];
  return failure(
      failed(stg::detail::verifyLayout(op, layout, type)) ||
      failed(stg::detail::verifyLayoutAxes(op, layout, MeshOp::lookup(op))));
}

LogicalResult
STGDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                        NamedAttribute attribute) {
  if (attribute.getName() == kLossAttr)
    return verifyLoss(op, attribute.getValue());
  if (attribute.getName() != kGradientAttr)
    return refuseUnknown(op, attribute, {kGradientAttr, kLossAttr});
  return verifyKind<func::FuncOp, GradientAttr>(op, attribute);
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

FactorsAttr stg::detail::getFactors(Operation *op) {
  return op->getAttrOfType<FactorsAttr>(STGDialect::kFactorsAttr);
}

void stg::detail::setFactors(Operation *op, FactorsAttr factors) {
  if (factors)
    op->setAttr(STGDialect::kFactorsAttr, factors);
  else
    op->removeAttr(STGDialect::kFactorsAttr);
}

//===----------------------------------------------------------------------===//
// Origins
//===----------------------------------------------------------------------===//

Origin stg::getOrigin(Operation *op) {
  if (auto step = dyn_cast<StepOpInterface>(op))
    return Origin::get(step.getOriginAttr());
  return Origin::get(op->getAttrOfType<OriginAttr>(STGDialect::kOriginAttr));
}

void stg::setOrigin(Operation *op, const Origin &origin) {
  OriginAttr attr = origin.getAttr(op->getContext());
  if (auto step = dyn_cast<StepOpInterface>(op))
    return step.setOriginAttr(attr);
  if (attr)
    op->setAttr(STGDialect::kOriginAttr, attr);
  else
    op->removeAttr(STGDialect::kOriginAttr);
}

void stg::copyOrigin(Operation *from, Operation *to) {
  Origin source = getOrigin(from), origin = getOrigin(to);
  if (source.name)
    origin.name = source.name;
  if (source.phase)
    origin.phase = source.phase;
  if (source.role)
    origin.role = source.role;
  setOrigin(to, origin);
}

void stg::setName(Operation *op, StringAttr name) {
  Origin origin = getOrigin(op);
  origin.name = name;
  setOrigin(op, origin);
}

void stg::setPhase(Operation *op, Phase phase) {
  Origin origin = getOrigin(op);
  origin.phase = phase;
  setOrigin(op, origin);
}

void stg::markForward(func::FuncOp function) {
  function.walk([&](Operation *op) {
    if (isa<CostOpInterface, ScanOpInterface>(op) && !getOrigin(op).phase)
      setPhase(op, Phase::Forward);
  });
}

void stg::setRole(Operation *op, std::optional<Role> role) {
  Origin origin = getOrigin(op);
  origin.role = role;
  setOrigin(op, origin);
}

Phase stg::getPhase(Operation *op) {
  for (; op; op = op->getParentOp())
    if (std::optional<Phase> phase = getOrigin(op).phase)
      return *phase;
  return Phase::Forward;
}

FloatType stg::getFloatType(MLIRContext *context, StringRef name) {
  return llvm::StringSwitch<FloatType>(name)
      .Case("bf16", BFloat16Type::get(context))
      .Case("f16", Float16Type::get(context))
      .Case("f32", Float32Type::get(context))
      .Case("f64", Float64Type::get(context))
      .Case("f8E4M3FN", Float8E4M3FNType::get(context))
      .Case("f8E5M2", Float8E5M2Type::get(context))
      .Default(FloatType());
}

func::FuncOp stg::getProgram(ModuleOp module) {
  func::FuncOp program;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isPrivate() || function.isExternal())
      continue;
    if (program) {
      InFlightDiagnostic diag = function.emitOpError(
          "is a second public function; exactly one "
          "function is the program, make the others private");
      diag.attachNote(program.getLoc()) << "the first is here";
      return {};
    }
    program = function;
  }
  if (!program)
    module.emitError("expects a public function: the program to compile");
  return program;
}

SmallVector<func::FuncOp> stg::getPrograms(ModuleOp module) {
  SmallVector<func::FuncOp> programs;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isPrivate() && !function.isExternal())
      programs.push_back(function);
  bool areNamed = llvm::all_of(programs, [](func::FuncOp program) {
    return program->hasAttr(STGDialect::kProgramAttr);
  });
  if (!programs.empty() && areNamed)
    return programs;
  func::FuncOp program = getProgram(module);
  return program ? SmallVector<func::FuncOp>{program}
                 : SmallVector<func::FuncOp>();
}

ProgramAttr stg::getProgramAttr(Operation *op) {
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function)
    function = op->getParentOfType<func::FuncOp>();
  return function
             ? function->getAttrOfType<ProgramAttr>(STGDialect::kProgramAttr)
             : ProgramAttr();
}

void stg::copyProgram(func::FuncOp from, func::FuncOp to) {
  if (ProgramAttr program = getProgramAttr(from))
    to->setAttr(STGDialect::kProgramAttr, program);
}

/// A call goes to a block that programs share, or stays in the program.
static LogicalResult verifyCall(Operation *call, FlatSymbolRefAttr name,
                                ProgramAttr program,
                                SymbolTableCollection &symbolTable) {
  auto callee = symbolTable.lookupNearestSymbolFrom<func::FuncOp>(call, name);
  ProgramAttr other = callee ? getProgramAttr(callee) : ProgramAttr();
  if (!other || other == program)
    return success();
  InFlightDiagnostic diag =
      call->emitOpError("calls '") // program_c2
      << name.getValue() << "' of program " << other.getProgram() << " on '"
      << other.getMesh() << "' from program " << program.getProgram() << " on '"
      << program.getMesh() << "'; a program cannot call another one";
  diag.attachNote(callee.getLoc()) << "the other function is here";
  return diag;
}

LogicalResult
ProgramAttr::verifySymbolUses(Operation *op,
                              SymbolTableCollection &symbolTable) const {
  auto mesh = symbolTable.lookupNearestSymbolFrom<MeshOp>(op, getMesh());
  if (!mesh) // program_c1
    return op->emitOpError("is to run on the mesh '")
           << getMesh() << "', which is not declared; declare it with "
           << "'stg.mesh " << getMesh() << "'";
  WalkResult walked = op->walk([&](CallOpInterface call) {
    SmallVector<FlatSymbolRefAttr, 3> callees;
    if (auto turnCall = dyn_cast<TurnCallOp>(*call))
      callees = turnCall.getCallees();
    else if (auto plain = dyn_cast<func::CallOp>(*call))
      callees = {plain.getCalleeAttr()};
    for (FlatSymbolRefAttr callee : callees)
      if (failed(verifyCall(call, callee, *this, symbolTable)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}
