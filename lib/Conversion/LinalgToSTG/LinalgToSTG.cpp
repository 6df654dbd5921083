//===- LinalgToSTG.cpp - Models that come as linalg on tensors ------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Conversion/LinalgToSTG/LinalgToSTG.h"
#include "FunctionConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "stg/Dialect/STG/IR/SymbolUses.h"
#include "llvm/ADT/SetVector.h"

namespace stg {
#define GEN_PASS_DEF_CONVERTLINALGTOSTG
#include "stg/Conversion/LinalgToSTG/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

//===----------------------------------------------------------------------===//
// Which dimensions are one
//===----------------------------------------------------------------------===//

FunctionConverter::Lists FunctionConverter::makeDims(RankedTensorType type) {
  Lists lists;
  for (int64_t extent : type.getShape())
    lists.push_back(extent == 1 ? List() : List{factors.add(extent)});
  return lists;
}

const FunctionConverter::Lists &FunctionConverter::getDims(Value tensor) {
  auto [it, isNew] = dims.try_emplace(tensor);
  if (isNew)
    it->second = makeDims(cast<RankedTensorType>(tensor.getType()));
  return it->second;
}

LogicalResult FunctionConverter::unify(Operation *op, ArrayRef<Factor> lhs,
                                       ArrayRef<Factor> rhs) {
  std::string why;
  if (succeeded(factors.unify(lhs, rhs, why)))
    return success();
  return op->emitOpError("joins dimensions that do not go together: ") << why;
}

/// `S`, or `K=2 G=4 E=8` of a dimension that is a product, without an extent of
/// at most one of them.
LogicalResult FunctionConverter::nameFactors(BlockArgument arg, StringRef text,
                                             List &list) {
  SmallVector<StringRef> words;
  text.split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  if (words.empty() || words == SmallVector<StringRef>{"_"} || list.empty())
    return success();
  auto fail = [&](const Twine &what) {
    return emitError(arg.getLoc(), "argument #")
           << arg.getArgNumber() << " has a dimension called '" << text << "', "
           << what;
  };
  int64_t rest = factors.getExtent(list);
  bool isKnown = !ShapedType::isDynamic(rest);
  SmallVector<std::pair<StringRef, int64_t>> named;
  std::optional<unsigned> open;
  for (StringRef word : words) {
    auto [name, extent] = word.split('=');
    if (!llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; }) ||
        name.empty() || llvm::isDigit(name.front()))
      return fail("expected names of letters, digits and '_'");
    int64_t number = ShapedType::kDynamic;
    if (extent.empty() && words.size() > 1 && isKnown) {
      if (open)
        return fail("of which more than one factor has no extent");
      open = named.size();
    } else if (extent.empty()) {
      number = rest;
    } else if (extent.getAsInteger(10, number) || number < 1) {
      return fail("expected names with their extents, such as 'K=2 E=8'");
    }
    if (!ShapedType::isDynamic(number) && !extent.empty() && isKnown) {
      if (rest % number != 0)
        return fail("whose factors are no divisors of its extent");
      rest /= number;
    }
    named.emplace_back(name, number);
  }
  if (open)
    named[*open].second = rest;
  List parts;
  std::string why;
  for (auto [name, extent] : named) {
    auto attribute = StringAttr::get(function.getContext(), name);
    Factor factor = factors.add(extent, attribute);
    auto [it, isNew] = symbols.named.try_emplace(attribute, factor);
    if (!isNew && failed(factors.unify(it->second, factor, why)))
      return fail("and there is another '" + name + "': " + why);
    parts.push_back(it->second);
  }
  if (failed(factors.unify(list, parts, why)))
    return fail("which does not go with its extent: " + why);
  list = parts;
  return success();
}

LogicalResult FunctionConverter::readArgument(unsigned number,
                                              bool isParameter) {
  BlockArgument arg = function.getArgument(number);
  auto type = dyn_cast<RankedTensorType>(arg.getType());
  if (!type)
    return emitError(arg.getLoc(), "argument #")
           << number << " has type " << arg.getType()
           << ", expected a ranked tensor";
  if (llvm::is_contained(type.getShape(), 0))
    return emitError(arg.getLoc(), "argument #")
           << number << " has no elements";
  Lists lists = makeDims(type);
  if (auto names =
          function.getArgAttrOfType<ArrayAttr>(number, STGDialect::kDimsAttr)) {
    if (names.size() != lists.size())
      return emitError(arg.getLoc(), "argument #")
             << number << " has names for " << names.size()
             << " dimensions, expected " << lists.size();
    for (auto [dim, text] : llvm::enumerate(names.getAsRange<StringAttr>()))
      if (failed(nameFactors(arg, text.getValue(), lists[dim])))
        return failure();
  }
  dims[arg] = std::move(lists);
  if (!isParameter)
    return success();
  if (PositionValues::getMask(arg))
    return emitError(arg.getLoc(), "argument #")
           << number << " is a mask, so that it cannot be a parameter";
  auto name =
      function.getArgAttrOfType<StringAttr>(number, STGDialect::kParamAttr);
  if (!name)
    name = function.getArgAttrOfType<StringAttr>(number, STGDialect::kNameAttr);
  parameterNames[arg] = name ? name.str() : "arg" + std::to_string(number);
  return success();
}

LogicalResult
FunctionConverter::analyze(const llvm::DenseSet<unsigned> &parameters) {
  if (function.isExternal() || !llvm::hasSingleElement(function.getBody()))
    return function.emitOpError("has ")
           << (function.isExternal() ? "no body" : "control flow")
           << ", expected one block";
  for (unsigned number = 0, e = function.getNumArguments(); number < e;
       ++number)
    if (failed(readArgument(
            number, parameters.contains(number) ||
                        function.getArgAttr(number, STGDialect::kParamAttr))))
      return failure();
  for (Operation &op : function.getBody().front())
    if (failed(analyze(&op)))
      return failure();
  return analyzeParts();
}

LogicalResult FunctionConverter::analyze(Operation *op) {
  if (isa<ml_program::GlobalStoreOp>(op))
    return op->emitOpError("changes what other steps read, which no op of a "
                           "model does");
  for (Type type : op->getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (isa<TensorType>(type) && !tensor)
      return op->emitOpError("has type ")
             << type << ", expected a ranked tensor";
    if (tensor && llvm::is_contained(tensor.getShape(), 0))
      return op->emitOpError("has no elements");
  }
  if (op->getNumResults() > 0 && llvm::all_of(op->getResults(), [&](Value v) {
        return positions.isPosition(v);
      }))
    return success();
  if (PositionValues::isParameter(op)) {
    getDims(op->getResult(0));
    return success();
  }
  if (isa<tensor::EmptyOp, tensor::DimOp, func::ReturnOp>(op))
    return success();
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return analyzeStructured(structured);
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op)) {
    for (auto [lhs, rhs] : llvm::zip_equal(getDims(softmax.getInput()),
                                           getDims(softmax->getResult(0))))
      if (failed(unify(op, lhs, rhs)))
        return failure();
    return success();
  }
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op))
    return analyzeReshape(op);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return analyzeSlice(slice);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return analyzeConcat(concat);
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return analyzePad(pad);
  // Extents that are computed.
  if (llvm::all_of(op->getResultTypes(), [](Type type) {
        return type.isIndex() || type.isInteger();
      }))
    return success();
  InFlightDiagnostic diag = op->emitOpError("has no counterpart in a model");
  if (isa<func::CallOp>(op))
    diag << "; --inline puts functions in the place of their calls";
  else if (OpTrait::hasElementwiseMappableTraits(op))
    diag << "; --convert-elementwise-to-linalg makes it one of linalg";
  return diag;
}

LogicalResult FunctionConverter::bindLoops(Operation *op, Value tensor,
                                           AffineMap map, Lists &loops,
                                           SmallVectorImpl<bool> &isBound) {
  const Lists lists = getDims(tensor);
  for (auto [list, expr] : llvm::zip_equal(lists, map.getResults())) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      unsigned loop = dim.getPosition();
      if (!isBound[loop])
        loops[loop] = list;
      else if (failed(unify(op, loops[loop], list)))
        return failure();
      isBound[loop] = true;
      continue;
    }
    if (isa<AffineConstantExpr>(expr) && list.empty())
      continue;
    return op->emitOpError("has the indexing map ")
           << AffineMapAttr::get(map)
           << ", not all of whose results are loops, which no op of a model "
              "reads but a convolution or a pooling its first input";
  }
  return success();
}

BlockArgument FunctionConverter::getIndexSource(Value scalar) {
  if (auto arg = dyn_cast<BlockArgument>(scalar))
    return arg;
  Operation *op = scalar.getDefiningOp();
  if (!isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
           arith::ExtUIOp, arith::TruncIOp, arith::AddIOp, arith::MaxSIOp,
           arith::MinSIOp, arith::SelectOp, arith::CmpIOp>(op))
    return {};
  BlockArgument source;
  for (Value operand : op->getOperands()) {
    if (matchPattern(operand, m_Constant()))
      continue;
    BlockArgument own = getIndexSource(operand);
    if (!own || (source && own != source))
      return {};
    source = own;
  }
  return source;
}

LogicalResult
FunctionConverter::analyzeLookups(linalg::LinalgOp op, Lists &loops,
                                  SmallVectorImpl<bool> &isBound) {
  WalkResult result = op.getBlock()->walk([&](tensor::ExtractOp extract) {
    const Lists table = getDims(extract.getTensor());
    unsigned lookups = 0;
    for (auto [list, index] : llvm::zip_equal(table, extract.getIndices())) {
      if (auto loop = index.getDefiningOp<linalg::IndexOp>()) {
        unsigned dim = loop.getDim();
        if (!isBound[dim])
          loops[dim] = list;
        else if (failed(unify(extract, loops[dim], list)))
          return WalkResult::interrupt();
        isBound[dim] = true;
      } else if (getIndexSource(index)) {
        ++lookups;
      } else if (!list.empty()) {
        extract.emitOpError("has an index that is neither a loop nor read from "
                            "a tensor");
        return WalkResult::interrupt();
      }
    }
    if (lookups == 1)
      return WalkResult::advance();
    extract.emitOpError("looks up along ")
        << lookups << " dimensions, expected one";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult FunctionConverter::analyzeStructured(linalg::LinalgOp op) {
  // Bodies of named ops are generated, and stand nowhere.
  op.getBlock()->walk([&](Operation *body) {
    if (isa<UnknownLoc>(body->getLoc()))
      body->setLoc(op.getLoc());
  });
  if (hasWindows(op))
    return analyzeWindows(op);
  Lists loops(op.getNumLoops());
  SmallVector<bool> isBound(op.getNumLoops(), false);
  for (OpOperand &operand : op->getOpOperands()) {
    Value tensor = operand.get();
    if (PositionValues::isUndefined(tensor) &&
        op.payloadUsesValueFromOperand(&operand))
      return op->emitOpError("reads elements of a tensor.empty, which are "
                             "undefined; fill it first");
    if (!isa<RankedTensorType>(tensor.getType()) ||
        positions.getSplat(tensor) || PositionValues::isUndefined(tensor) ||
        (op.isDpsInit(&operand) && !op.payloadUsesValueFromOperand(&operand)))
      continue;
    if (failed(bindLoops(op, tensor, op.getMatchingIndexingMap(&operand), loops,
                         isBound)))
      return failure();
  }
  if (failed(analyzeLookups(op, loops, isBound)) ||
      failed(bindResults(op, loops, isBound)))
    return failure();
  opLoops[op] = std::move(loops);
  return success();
}

/// Gives results their dimensions, and loops that nothing else binds one.
LogicalResult FunctionConverter::bindResults(linalg::LinalgOp op, Lists &loops,
                                             SmallVectorImpl<bool> &isBound) {
  for (OpResult result : op->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    AffineMap map = op.getIndexingMapMatchingResult(result);
    Lists lists;
    for (auto [expr, extent] :
         llvm::zip_equal(map.getResults(), type.getShape())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim) {
        lists.emplace_back();
        continue;
      }
      unsigned loop = dim.getPosition();
      if (!isBound[loop] && extent != 1)
        loops[loop] = {factors.add(extent)};
      isBound[loop] = true;
      lists.push_back(loops[loop]);
    }
    dims[result] = std::move(lists);
  }
  return success();
}

LogicalResult FunctionConverter::analyzeReshape(Operation *op) {
  Value source = op->getOperand(0), result = op->getResult(0);
  const Lists from = getDims(source);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    Lists lists;
    for (const ReassociationIndices &group :
         collapse.getReassociationIndices()) {
      List joined;
      for (int64_t dim : group)
        joined.append(from[dim]);
      lists.push_back(std::move(joined));
    }
    dims[result] = std::move(lists);
    return success();
  }
  const Lists to = getDims(result);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    for (auto [list, group] :
         llvm::zip_equal(from, expand.getReassociationIndices())) {
      List joined;
      for (int64_t dim : group)
        joined.append(to[dim]);
      if (failed(unify(op, list, joined)))
        return failure();
    }
    return success();
  }
  for (auto [lhs, rhs] : llvm::zip_equal(from, to))
    if (failed(unify(op, lhs, rhs)))
      return failure();
  return success();
}

LogicalResult FunctionConverter::analyzeSlice(tensor::ExtractSliceOp op) {
  RankedTensorType type = op.getSourceType();
  const Lists from = getDims(op.getSource());
  llvm::SmallBitVector dropped = op.getDroppedDims();
  Lists lists;
  std::optional<unsigned> sliced;
  for (unsigned dim = 0, e = type.getRank(); dim < e; ++dim) {
    int64_t size = op.getStaticSizes()[dim];
    bool isWhole =
        op.getStaticOffsets()[dim] == 0 &&
        (size == type.getDimSize(dim) ? !ShapedType::isDynamic(size) : false);
    // The size of a dynamic dimension is that dimension.
    if (ShapedType::isDynamic(size))
      if (auto extent = op.getMixedSizes()[dim]
                            .dyn_cast<Value>()
                            .getDefiningOp<tensor::DimOp>())
        isWhole = op.getStaticOffsets()[dim] == 0 &&
                  extent.getSource() == op.getSource() &&
                  extent.getConstantIndex() == std::optional<int64_t>(dim);
    if (isWhole) {
      if (!dropped[dim])
        lists.push_back(from[dim]);
      continue;
    }
    if (sliced || ShapedType::isDynamic(size) ||
        ShapedType::isDynamic(op.getStaticOffsets()[dim]) ||
        op.getStaticStrides()[dim] != 1)
      return op.emitOpError("is no part of one dimension, with numbers as its "
                            "offset and size and a stride of 1");
    sliced = dim;
    if (!dropped[dim])
      lists.push_back(size == 1 ? List() : List{factors.add(size)});
  }
  dims[op.getResult()] = std::move(lists);
  if (!sliced)
    return success();
  Parts &entry = parts[{op.getSource(), 2 * *sliced}];
  entry.whole = op.getSource();
  entry.dim = *sliced;
  Part part = {op.getResult(), op.getStaticOffsets()[*sliced],
               op.getStaticSizes()[*sliced]};
  entry.parts.push_back(part);
  return success();
}

LogicalResult FunctionConverter::analyzeConcat(tensor::ConcatOp op) {
  unsigned dim = op.getDim();
  Lists whole = getDims(op.getResult());
  Parts entry;
  entry.whole = op.getResult();
  entry.dim = dim;
  entry.isConcat = true;
  int64_t offset = 0;
  for (Value input : op.getInputs()) {
    const Lists lists = getDims(input);
    int64_t extent = cast<RankedTensorType>(input.getType()).getDimSize(dim);
    if (ShapedType::isDynamic(extent))
      return op.emitOpError("joins dimensions of unknown extents");
    for (unsigned i = 0, e = lists.size(); i < e; ++i)
      if (i != dim && failed(unify(op, whole[i], lists[i])))
        return failure();
    entry.parts.push_back({input, offset, extent});
    offset += extent;
  }
  parts[{op.getResult(), 2 * dim + 1}] = std::move(entry);
  return success();
}

FunctionConverter::List FunctionConverter::getPartFactors(const Parts &entry,
                                                          const Part &part) {
  unsigned dim = entry.dim;
  if (!entry.isConcat) {
    llvm::SmallBitVector dropped =
        part.tensor.getDefiningOp<tensor::ExtractSliceOp>().getDroppedDims();
    if (dropped[dim])
      return {};
    for (unsigned before = 0; before < entry.dim; ++before)
      dim -= dropped[before];
  }
  return factors.resolve(getDims(part.tensor)[dim]);
}

/// Whether parts are all of the dimension, one after the other.
void FunctionConverter::orderParts() {
  for (auto &[key, entry] : parts) {
    int64_t end = 0;
    llvm::sort(entry.parts, [](const Part &lhs, const Part &rhs) {
      return lhs.offset < rhs.offset;
    });
    for (const Part &part : entry.parts) {
      entry.tiles &= part.offset == end;
      end = part.offset + part.extent;
    }
    auto type = cast<RankedTensorType>(entry.whole.getType());
    entry.tiles &= end == type.getDimSize(entry.dim);
  }
}

/// The factor that a dimension, or else all of its parts, end with; none where
/// nothing cuts it, or the parts do not agree.
auto FunctionConverter::findHead(const Parts &entry) -> std::optional<Factor> {
  List whole = factors.resolve(getDims(entry.whole)[entry.dim]);
  std::optional<Factor> last;
  bool isCommon = !entry.parts.empty(), isCut = whole.size() != 1;
  for (const Part &part : entry.parts) {
    List list = getPartFactors(entry, part);
    if (list.empty()) {
      isCommon = false;
      break;
    }
    if (!last)
      last = list.back();
    isCommon &= factors.getExtent(*last) == factors.getExtent(list.back());
    isCut |= list.size() > 1;
  }
  if (whole.size() > 1) {
    last = whole.back();
    isCommon = true;
  }
  bool isHead = isCommon && isCut && last &&
                !ShapedType::isDynamic(factors.getExtent(*last));
  return isHead ? last : std::nullopt;
}

/// Parts of a dimension that are heads of one size make it heads of that size.
/// True if that was not so before.
FailureOr<bool> FunctionConverter::divideInHeads(const Parts &entry) {
  std::optional<Factor> last = findHead(entry);
  if (!last)
    return false;
  Operation *op = getPartsOp(entry);
  List whole = factors.resolve(getDims(entry.whole)[entry.dim]);
  const int64_t inner = factors.getExtent(*last);
  if (llvm::any_of(entry.parts, [&](const Part &part) {
        return part.offset % inner != 0 || part.extent % inner != 0;
      }))
    return op->emitOpError("cuts a dimension of ")
           << factors.str(whole) << " between multiples of " << inner;
  bool changed = false;
  // Where every part is one such row, it is a dimension of its own.
  bool isDone = whole.size() == 2 && whole.back() == *last;
  if (whole.size() == 1) {
    Factor rows = factors.add(factors.getExtent(whole) / inner);
    if (failed(unify(op, whole, {rows, *last})))
      return failure();
    changed = true;
  } else if (!isDone) {
    return op->emitOpError("cuts a dimension of ")
           << factors.str(whole) << ", expected one or two factors";
  }
  for (const Part &part : entry.parts) {
    List list = getPartFactors(entry, part);
    if (list.back() == *last)
      continue;
    List expected = {*last};
    if (part.extent != inner)
      expected.insert(expected.begin(), factors.add(part.extent / inner));
    if (list.size() > 1)
      expected = {*last}, list = {list.back()};
    if (failed(unify(op, list, expected)))
      return failure();
    changed = true;
  }
  return changed;
}

LogicalResult FunctionConverter::analyzeParts() {
  orderParts();
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &[key, entry] : parts) {
      FailureOr<bool> divided = divideInHeads(entry);
      if (failed(divided))
        return failure();
      changed |= *divided;
    }
  }
  return unifyParts();
}

/// Parts of one size that are all of a dimension are alike: halves that are
/// rotated, keys and values. So are those at one place of one dimension, of
/// several tensors that have it.
LogicalResult FunctionConverter::unifyParts() {
  llvm::DenseMap<std::tuple<Factor, int64_t, int64_t>, List> places;
  for (auto &[key, entry] : parts) {
    List whole = factors.resolve(getDims(entry.whole)[entry.dim]);
    if (whole.empty())
      continue;
    bool areAlike =
        entry.tiles &&
        llvm::all_equal(llvm::map_range(
            entry.parts, [](const Part &part) { return part.extent; }));
    for (const Part &part : entry.parts) {
      List list = getPartFactors(entry, part);
      if (areAlike &&
          failed(unify(getPartsOp(entry),
                       getPartFactors(entry, entry.parts.front()), list)))
        return failure();
      auto [it, isNew] =
          places.try_emplace({whole.front(), part.offset, part.extent}, list);
      if (!isNew && failed(unify(getPartsOp(entry), it->second, list)))
        return failure();
    }
  }
  return success();
}

/// True if a parameter or an argument has the factor as it is.
bool FunctionConverter::isGiven(Factor factor) {
  return llvm::any_of(dims, [&](auto &entry) {
    Value tensor = entry.first;
    Operation *op = tensor.getDefiningOp();
    return (!op || PositionValues::isParameter(op)) &&
           llvm::any_of(entry.second, [&](const List &list) {
             return llvm::is_contained(factors.resolve(list), factor);
           });
  });
}

void FunctionConverter::collectSums() {
  llvm::DenseSet<Factor> joined;
  for (auto &[key, entry] : parts)
    for (Factor factor : factors.resolve(getDims(entry.whole)[entry.dim]))
      if (entry.isConcat)
        joined.insert(factor);
  for (auto &[key, entry] : parts) {
    List whole = factors.resolve(getDims(entry.whole)[entry.dim]);
    if (!entry.tiles || whole.empty())
      continue;
    SmallVector<List> rows;
    for (const Part &part : entry.parts) {
      rows.push_back(getPartFactors(entry, part));
      rows.back().truncate(rows.back().size() - (whole.size() - 1));
    }
    // Halves of what is given are made of it; what is given in parts is their
    // sum.
    if (llvm::all_equal(rows) && rows[0].size() == 1 &&
        (factors.getName(whole.front()) || isGiven(whole.front())) &&
        !factors.getName(rows[0][0]) && !isGiven(rows[0][0])) {
      quotients.try_emplace(rows[0][0],
                            std::pair(whole.front(), int64_t(rows.size())));
      continue;
    }
    // What is called keeps its name: parts are copied, unless it is joined of
    // them, too.
    if (factors.getName(whole.front()) && !joined.contains(whole.front())) {
      entry.tiles = false;
      continue;
    }
    // Of several ways to cut it the first one counts.
    sums.try_emplace(whole.front(), std::move(rows));
  }
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

FunctionConverter::List FunctionConverter::getFactors(Value tensor) {
  List all;
  for (const List &list : getDims(tensor))
    all.append(factors.resolve(list));
  return all;
}

SymExpr FunctionConverter::getExtent(Factor factor) {
  if (SymExpr extent = symbols.extents.lookup(factor))
    return extent;
  MLIRContext *context = function.getContext();
  auto quotient = quotients.find(factor);
  if (quotient != quotients.end() && !sums.contains(quotient->second.first)) {
    auto [whole, count] = quotient->second;
    quotients.erase(quotient);
    return symbols.extents[factor] = getExtent(whole).exactDiv(count);
  }
  auto sum = sums.find(factor);
  if (sum != sums.end()) {
    SmallVector<List> rows = std::move(sum->second);
    sums.erase(sum); // A part of itself it is a symbol.
    SymExpr extent = SymExpr::get(context, 0);
    for (const List &list : rows)
      extent = extent + getExtent(list);
    return symbols.extents[factor] = extent;
  }
  auto part = derived.find(factor);
  if (part != derived.end()) {
    Span span = std::move(part->second);
    derived.erase(part);
    return symbols.extents[factor] =
               (getExtent(span.from) + SymExpr::get(context, span.rest))
                   .exactDiv(span.stride);
  }
  StringAttr name = factors.getName(factor);
  std::string text = name ? name.str() : "";
  for (unsigned number = 0; text.empty(); ++number)
    if (std::string free = "d" + std::to_string(number);
        !symbols.taken.contains(free) &&
        !symbols.named.contains(StringAttr::get(context, free)))
      text = free;
  symbols.taken.insert(text);
  OpBuilder declarations(context);
  if (symbols.lastDeclaration)
    declarations.setInsertionPointAfter(symbols.lastDeclaration);
  else
    declarations.setInsertionPointToStart(symbols.module.getBody());
  SymExpr value;
  if (int64_t number = factors.getExtent(factor);
      !ShapedType::isDynamic(number))
    value = SymExpr::get(context, number);
  symbols.declared.insert(text);
  symbols.lastDeclaration = SymbolOp::create(
      declarations, function.getLoc(), text, value, StringAttr(), StringAttr());
  return symbols.extents[factor] = SymExpr::getSymbol(context, text);
}

SymExpr FunctionConverter::getExtent(ArrayRef<Factor> list) {
  SymExpr extent = SymExpr::get(function.getContext(), 1);
  for (Factor factor : list)
    extent = extent * getExtent(factor);
  return extent;
}

DimAttr FunctionConverter::getDim(ArrayRef<Factor> list) {
  SymExpr extent = getExtent(list);
  return list.empty() ? DimAttr::get(function.getContext(),
                                     ArrayRef<StringAttr>(), extent)
                      : DimAttr::get(extent);
}

SymTensorType FunctionConverter::getType(ArrayRef<Factor> list, Type element) {
  SmallVector<DimAttr> dims;
  for (Factor factor : list)
    dims.push_back(DimAttr::get(getExtent(factor)));
  return SymTensorType::get(function.getContext(), dims, element);
}

FailureOr<Type> FunctionConverter::getElementType(Operation *op, Value tensor) {
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  if (SymTensorType::isValidElementType(element))
    return element;
  return op->emitOpError("has element type ")
         << element << ", which no tensor of a model has";
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

FailureOr<View> FunctionConverter::getView(Operation *user, Value tensor) {
  auto it = views.find(tensor);
  if (it != views.end())
    return it->second;
  if (!positions.isPosition(tensor))
    return user->emitOpError("reads what has not been converted");
  FailureOr<Type> element = getElementType(user, tensor);
  if (failed(element))
    return failure();
  List list = getFactors(tensor);
  unsigned number = model.getNumArguments();
  auto name = builder.getStringAttr("constant" + std::to_string(number));
  if (failed(
          model.insertArgument(number, getType(list, *element),
                               builder.getDictionaryAttr(builder.getNamedAttr(
                                   STGDialect::kNameAttr, name)),
                               tensor.getLoc())))
    return failure();
  View view = {model.getArgument(number),
               llvm::to_vector(llvm::seq<unsigned>(0, list.size()))};
  return views[tensor] = view;
}

unsigned FunctionConverter::getFirstSlot(linalg::LinalgOp op, unsigned loop) {
  return getFirstSlot(opLoops[op], loop);
}

unsigned FunctionConverter::getFirstSlot(ArrayRef<List> lists,
                                         unsigned dim) const {
  unsigned slot = 0;
  for (const List &list : lists.take_front(dim))
    slot += factors.resolve(list).size();
  return slot;
}

FunctionConverter::Group
FunctionConverter::getGroup(ArrayRef<List> lists,
                            ArrayRef<unsigned> dims) const {
  Group group;
  for (unsigned dim : dims) {
    unsigned first = getFirstSlot(lists, dim);
    unsigned count = factors.resolve(lists[dim]).size();
    llvm::append_range(group, llvm::seq(first, first + count));
  }
  return group;
}

SmallVector<unsigned> FunctionConverter::getSlots(linalg::LinalgOp op,
                                                  AffineMap map) {
  SmallVector<unsigned> slots;
  for (AffineExpr expr : map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      unsigned loop = dim.getPosition(), first = getFirstSlot(op, loop);
      unsigned count = factors.resolve(opLoops[op][loop]).size();
      llvm::append_range(slots, llvm::seq(first, first + count));
    }
  return slots;
}

FailureOr<View> FunctionConverter::getView(linalg::LinalgOp op,
                                           OpOperand *operand) {
  FailureOr<View> own = getView(op, operand->get());
  if (failed(own))
    return failure();
  SmallVector<unsigned> slots =
      getSlots(op, op.getMatchingIndexingMap(operand));
  View view = {own->value, {}};
  for (unsigned slot : own->slots) {
    if (llvm::is_contained(view.slots, slots[slot]))
      return op.emitOpError("reads a diagonal, which no op of a model does");
    view.slots.push_back(slots[slot]);
  }
  return view;
}

LogicalResult FunctionConverter::convert(bool loss) {
  MLIRContext *context = function.getContext();
  model = func::FuncOp::create(builder, function.getLoc(), function.getName(),
                               FunctionType::get(context, {}, {}));
  model.setVisibility(function.getVisibility());
  builder.setInsertionPointToStart(model.addEntryBlock());
  collectSums();
  collectSpans();
  for (BlockArgument arg : function.getArguments()) {
    auto type = cast<RankedTensorType>(arg.getType());
    if (arg.use_empty() || PositionValues::getMask(arg))
      continue;
    if (!SymTensorType::isValidElementType(type.getElementType()))
      return emitError(arg.getLoc(), "argument #")
             << arg.getArgNumber() << " has element type "
             << type.getElementType() << ", which no tensor of a model has";
    std::optional<Groups> layout = getWindowLayout(arg);
    SymTensorType own = getDeclaredType(arg, type.getElementType(), layout);
    Value made;
    auto parameter = parameterNames.find(arg);
    if (parameter != parameterNames.end()) {
      made = ParamOp::create(builder, arg.getLoc(), own, parameter->second,
                             LayoutAttr());
    } else {
      unsigned number = model.getNumArguments();
      StringAttr name = function.getArgAttrOfType<StringAttr>(
          arg.getArgNumber(), STGDialect::kNameAttr);
      if (!name)
        name = builder.getStringAttr("arg" + std::to_string(number));
      if (failed(model.insertArgument(
              number, own,
              builder.getDictionaryAttr(
                  builder.getNamedAttr(STGDialect::kNameAttr, name)),
              arg.getLoc())))
        return failure();
      made = model.getArgument(number);
      for (DimAttr dim : own.getDims())
        dim.getExtent().walkSymbols(
            [&](StringAttr symbol) { inputSymbols.insert(symbol.getValue()); });
    }
    declare(arg, made, layout);
  }
  for (Operation &op : function.getBody().front()) {
    if (auto end = dyn_cast<func::ReturnOp>(op))
      return convertReturn(end, loss);
    if (failed(convert(&op)))
      return failure();
  }
  return success();
}

LogicalResult FunctionConverter::convert(Operation *op) {
  if (op->getNumResults() > 0 && llvm::all_of(op->getResults(), [&](Value v) {
        return positions.isPosition(v);
      }))
    return success();
  if (PositionValues::isParameter(op))
    return convertParameter(op);
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return convertStructured(structured);
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
    return convertSoftmax(softmax);
  if (keepsFactors(op)) {
    if (laidOut.contains(getOrigin(op->getOperand(0))))
      return success();
    FailureOr<View> view = getView(op, op->getOperand(0));
    if (failed(view))
      return failure();
    views[op->getResult(0)] = *view;
    return success();
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return convertSlice(slice);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return convertConcat(concat);
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return convertPad(pad);
  return success();
}

/// A name that a parameter may have.
static std::string toParameterName(StringRef text) {
  std::string name = text.str();
  for (char &c : name)
    if (c == ',' || c == '=' || c == '/')
      c = '_';
  return name.empty() ? "param" : name;
}

LogicalResult FunctionConverter::convertParameter(Operation *op) {
  Value tensor = op->getResult(0);
  FailureOr<Type> element = getElementType(op, tensor);
  if (failed(element))
    return failure();
  std::string name = "constant";
  bool frozen = false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto resource =
            dyn_cast<DenseResourceElementsAttr>(constant.getValue()))
      name = resource.getRawHandle().getKey().str();
    else
      frozen = true;
  } else if (auto symbol = op->getAttrOfType<SymbolRefAttr>("global")) {
    name = symbol.getLeafReference().str();
  }
  name = toParameterName(name);
  // A global that is read twice is one parameter.
  if (!isa<ml_program::GlobalLoadOp, ml_program::GlobalLoadConstOp>(op)) {
    std::string base = name;
    for (unsigned i = 1; !parameterTaken.insert(name).second; ++i)
      name = base + "." + std::to_string(i);
  }
  std::optional<Groups> layout = getWindowLayout(tensor);
  auto param = ParamOp::create(builder, op->getLoc(),
                               getDeclaredType(tensor, *element, layout), name,
                               LayoutAttr());
  param.setFrozen(frozen);
  declare(tensor, param, layout);
  return success();
}

LogicalResult FunctionConverter::convertSoftmax(linalg::SoftmaxOp op) {
  FailureOr<View> view = getView(op, op.getInput());
  FailureOr<Type> element = getElementType(op, op->getResult(0));
  if (failed(view) || failed(element))
    return failure();
  // Its dimension comes last.
  const Lists lists = getDims(op.getInput());
  unsigned first = getFirstSlot(lists, op.getDimension());
  if (factors.resolve(lists[op.getDimension()]).size() != 1 ||
      !llvm::is_contained(view->slots, first))
    return op.emitOpError("normalizes along a dimension that is none of the "
                          "model");
  SmallVector<unsigned> order(view->slots);
  llvm::erase(order, first);
  order.push_back(first);
  View rows = reorder(op.getLoc(), *view, order);
  Value result = SoftmaxOp::create(builder, op.getLoc(), rows.value);
  views[op->getResult(0)] = castTo(op.getLoc(), {result, rows.slots}, *element);
  return success();
}

/// Of an einsum's or a rearrangement's pattern.
static std::string getLetters(unsigned count, unsigned first = 0) {
  std::string letters;
  for (unsigned i = 0; i < count; ++i)
    letters += static_cast<char>('a' + first + i);
  return letters;
}

/// True if the order along a dimension counts, as that of tokens does: an input
/// has one of its symbols. Columns of parameters may stand in any order.
bool FunctionConverter::isOfInput(SymExpr extent) {
  bool isOne = false;
  extent.walkSymbols([&](StringAttr symbol) {
    isOne |= inputSymbols.contains(symbol.getValue());
  });
  return isOne;
}

/// The parts of its source that the slice is one of; null if it is all of it.
FunctionConverter::Parts *
FunctionConverter::findParts(tensor::ExtractSliceOp op) {
  for (unsigned dim = 0, e = getDims(op.getSource()).size(); dim < e; ++dim) {
    auto it = parts.find({op.getSource(), 2 * dim});
    if (it != parts.end() &&
        llvm::any_of(it->second.parts, [&](const Part &part) {
          return part.tensor == op.getResult();
        }))
      return &it->second;
  }
  return nullptr;
}

/// Cuts dimension `dim` of what the source is into the parts, of which each has
/// some rows.
FailureOr<SmallVector<Value>>
FunctionConverter::cutParts(tensor::ExtractSliceOp op, const Parts &entry,
                            ArrayRef<List> rows, Value source, unsigned dim) {
  auto type = cast<SymTensorType>(source.getType());
  List whole = factors.resolve(getDims(op.getSource())[entry.dim]);
  SmallVector<Type> types;
  for (const List &list : rows) {
    SmallVector<DimAttr> dims(type.getDims());
    dims[dim] = getDim(list);
    types.push_back(
        SymTensorType::get(function.getContext(), dims, type.getElementType()));
  }
  SmallVector<Value> results;
  if (entry.tiles) {
    bool isOrdered = isOfInput(getExtent(whole));
    llvm::append_range(results, SplitOp::create(builder, op.getLoc(), types,
                                                source, dim, isOrdered)
                                    .getResults());
    return results;
  }
  int64_t inner = whole.size() > 1 ? factors.getExtent(whole.back()) : 1;
  if (ShapedType::isDynamic(inner))
    return op.emitOpError("is a part of heads whose size is not known");
  for (auto [part, own] : llvm::zip_equal(entry.parts, types))
    results.push_back(SliceOp::create(
        builder, op.getLoc(), cast<SymTensorType>(own), source, dim,
        SymExpr::get(function.getContext(), part.offset / inner)));
  return results;
}

/// Makes dimension `dim` of a part one for each factor of its rows: rows of
/// several factors are cut further, one row is no dimension.
Value FunctionConverter::separateRows(Location loc, Value part, unsigned dim,
                                      const List &rows) {
  if (rows.size() == 1)
    return part;
  auto type = cast<SymTensorType>(part.getType());
  SmallVector<DimAttr> dims;
  std::string before, after;
  for (unsigned own = 0, rank = type.getRank(); own < rank; ++own) {
    std::string letters = getLetters(own == dim ? rows.size() : 1, dims.size());
    before += own == dim ? "(" + letters + ")" : letters;
    after += letters;
    if (own != dim) {
      dims.push_back(type.getDim(own));
      continue;
    }
    for (const Factor &factor : rows)
      dims.push_back(DimAttr::get(getExtent(factor)));
  }
  return RearrangeOp::create(
      builder, loc,
      SymTensorType::get(function.getContext(), dims, type.getElementType()),
      part, before + "->" + after);
}

LogicalResult FunctionConverter::convertSlice(tensor::ExtractSliceOp op) {
  if (views.contains(op.getResult())) // With another part.
    return success();
  FailureOr<View> source = getView(op, op.getSource());
  if (failed(source))
    return failure();
  Parts *entry = findParts(op);
  if (!entry) {
    views[op.getResult()] = *source;
    return success();
  }
  const Lists lists = getDims(op.getSource());
  unsigned slot = getFirstSlot(lists, entry->dim);
  List whole = factors.resolve(lists[entry->dim]);
  SmallVector<List> rows; // What each part has of the dimension that is cut.
  for (const Part &part : entry->parts) {
    rows.push_back(getPartFactors(*entry, part));
    if (whole.size() > 1)
      rows.back().pop_back();
  }
  auto *found = llvm::find(source->slots, slot);
  const bool repeats = found == source->slots.end();
  unsigned dim = found - source->slots.begin();
  SmallVector<Value> results(entry->parts.size(), source->value);
  if (!repeats) {
    FailureOr<SmallVector<Value>> cut =
        cutParts(op, *entry, rows, source->value, dim);
    if (failed(cut))
      return failure();
    results = std::move(*cut);
  }
  for (auto [part, own, value] : llvm::zip_equal(entry->parts, rows, results)) {
    View &view = views[part.tensor];
    view = {};
    view.value = repeats ? value : separateRows(op.getLoc(), value, dim, own);
    // Slots behind the rows move.
    for (unsigned other : source->slots) {
      if (other == slot)
        llvm::append_range(view.slots,
                           llvm::seq<unsigned>(slot, slot + own.size()));
      else
        view.slots.push_back(other < slot ? other : other + own.size() - 1);
    }
  }
  return success();
}

LogicalResult FunctionConverter::convertConcat(tensor::ConcatOp op) {
  Parts &entry =
      parts.find({op.getResult(), 2 * unsigned(op.getDim()) + 1})->second;
  const Lists lists = getDims(op.getResult());
  unsigned slot = getFirstSlot(lists, entry.dim);
  List whole = factors.resolve(lists[entry.dim]);
  List all = getFactors(op.getResult());
  FailureOr<Type> element = getElementType(op, op.getResult());
  if (failed(element))
    return failure();
  // In the order that the first part has, if it has all dimensions and is one
  // row of them; else in that of the result.
  auto sequence = llvm::to_vector(llvm::seq<unsigned>(0, all.size()));
  FailureOr<View> first = getView(op, entry.parts.front().tensor);
  if (failed(first))
    return failure();
  if (getPartFactors(entry, entry.parts.front()).size() == whole.size() &&
      first->slots.size() == all.size())
    sequence = first->slots;
  unsigned place = llvm::find(sequence, slot) - sequence.begin();
  SmallVector<DimAttr> resultDims;
  for (unsigned own : sequence)
    resultDims.push_back(DimAttr::get(getExtent(all[own])));
  SmallVector<Value> inputs;
  for (const Part &part : entry.parts) {
    FailureOr<View> own = getView(op, part.tensor);
    if (failed(own))
      return failure();
    List rows = getPartFactors(entry, part);
    if (whole.size() > 1)
      rows.pop_back();
    unsigned count = rows.size();
    // All of the part's rows in the place of one dimension.
    SmallVector<unsigned> order;
    SmallVector<DimAttr> dims;
    std::string before, after;
    for (unsigned other : sequence) {
      unsigned width = other == slot ? count : 1;
      std::string letters = getLetters(width, order.size());
      before += letters;
      after += other == slot && count != 1 ? "(" + letters + ")" : letters;
      for (unsigned k = 0; k < width; ++k) {
        order.push_back(other <= slot ? other + k : other + count - 1);
        dims.push_back(
            DimAttr::get(getExtent(other == slot ? rows[k] : all[other])));
      }
    }
    View view = materialize(op.getLoc(), *own, order, dims);
    if (count != 1) {
      SmallVector<DimAttr> joined(resultDims);
      joined[place] = getDim(rows);
      view.value = RearrangeOp::create(
          builder, op.getLoc(),
          SymTensorType::get(function.getContext(), joined, *element),
          view.value, before + "->" + after);
    }
    inputs.push_back(view.value);
  }
  bool isOrdered = isOfInput(getExtent(whole));
  Value result = ConcatOp::create(
      builder, op.getLoc(),
      SymTensorType::get(function.getContext(), resultDims, *element), inputs,
      place, isOrdered);
  views[op.getResult()] = {result, sequence};
  return success();
}

LogicalResult FunctionConverter::convertReturn(func::ReturnOp op, bool loss) {
  SmallVector<Value> results;
  for (Value operand : op.getOperands()) {
    if (!isa<RankedTensorType>(operand.getType()))
      return op.emitOpError("returns ")
             << operand.getType() << ", expected a ranked tensor";
    FailureOr<View> view = getView(op, operand);
    if (failed(view))
      return failure();
    List list = getFactors(operand);
    SymTensorType type = getType(
        list, cast<SymTensorType>(view->value.getType()).getElementType());
    results.push_back(
        materialize(op.getLoc(), *view,
                    llvm::to_vector(llvm::seq<unsigned>(0, list.size())),
                    type.getDims())
            .value);
  }
  if (loss) {
    auto logits = results.size() == 1
                      ? cast<SymTensorType>(results[0].getType())
                      : SymTensorType();
    if (!logits || logits.getRank() < 2)
      return op.emitOpError("has ")
             << results.size()
             << " results, expected one, logits of at least two dimensions, "
                "for a loss";
    unsigned number = model.getNumArguments();
    if (failed(model.insertArgument(
            number,
            SymTensorType::get(function.getContext(),
                               logits.getDims().drop_back(),
                               builder.getI32Type()),
            builder.getDictionaryAttr(builder.getNamedAttr(
                STGDialect::kNameAttr, builder.getStringAttr("labels"))),
            op.getLoc())))
      return failure();
    results[0] = CrossEntropyOp::create(builder, op.getLoc(), results[0],
                                        model.getArgument(number))
                     .getLoss();
  }
  func::ReturnOp::create(builder, op.getLoc(), results);
  model.setFunctionType(FunctionType::get(function.getContext(),
                                          model.getArgumentTypes(),
                                          ValueRange(results).getTypes()));
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

void stg::registerLinalgDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect,
                  ml_program::MLProgramDialect, tensor::TensorDialect>();
}

namespace {
struct ConvertLinalgToSTG
    : stg::impl::ConvertLinalgToSTGBase<ConvertLinalgToSTG> {
  using ConvertLinalgToSTGBase::ConvertLinalgToSTGBase;
  void runOnOperation() override;
};
} // namespace

/// `1-291` or `3`.
static LogicalResult readRange(StringRef text, unsigned limit,
                               llvm::DenseSet<unsigned> &numbers) {
  auto [first, last] = text.split('-');
  unsigned from = 0, to = 0;
  if (first.getAsInteger(10, from) ||
      (last.empty() ? text.ends_with("-") : last.getAsInteger(10, to)))
    return failure();
  unsigned end = last.empty() ? from : to;
  if (end < from || end >= limit)
    return failure();
  for (unsigned i = from; i <= end; ++i)
    numbers.insert(i);
  return success();
}

void ConvertLinalgToSTG::runOnOperation() {
  ModuleOp module = getOperation();
  ModelSymbols shared;
  shared.module = module;
  std::vector<std::unique_ptr<FunctionConverter>> converters;
  SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
  llvm::erase_if(functions,
                 [](func::FuncOp function) { return function.isPrivate(); });
  if (functions.empty()) {
    module.emitError("has no public function to convert");
    return signalPassFailure();
  }
  llvm::DenseSet<unsigned> numbers;
  unsigned most = 0;
  for (func::FuncOp function : functions)
    most = std::max(most, function.getNumArguments());
  for (StringRef text : parameters)
    if (failed(readRange(text, most, numbers))) {
      module.emitError("parameters=")
          << text << " is no number of an argument and no range FIRST-LAST of "
          << "these; there are " << most << " arguments, counted from 0";
      return signalPassFailure();
    }
  for (SymbolOp symbol : module.getOps<SymbolOp>())
    shared.taken.insert(symbol.getSymName());
  for (func::FuncOp function : functions) {
    converters.push_back(std::make_unique<FunctionConverter>(function, shared));
    if (failed(converters.back()->analyze(numbers)))
      return signalPassFailure();
  }
  for (auto &converter : converters)
    if (failed(converter->convert(loss)))
      return signalPassFailure();
  for (func::FuncOp function : functions)
    function.erase();
  // What only these have read, and dimensions that nothing has in the end.
  SymbolUses used(module);
  for (auto model : module.getOps<func::FuncOp>())
    used.addAll(model);
  for (SymbolOp symbol : llvm::make_early_inc_range(module.getOps<SymbolOp>()))
    if (shared.declared.contains(symbol.getSymName()) &&
        !used.contains(symbol.getSymNameAttr()))
      symbol.erase();
  for (auto global :
       llvm::make_early_inc_range(module.getOps<ml_program::GlobalOp>()))
    global.erase();
}
