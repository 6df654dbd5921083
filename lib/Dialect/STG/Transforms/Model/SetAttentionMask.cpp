//===- SetAttentionMask.cpp - Which tokens of a row see each other --------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {
#define GEN_PASS_DEF_SETATTENTIONMASK
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct SetAttentionMask : stg::impl::SetAttentionMaskBase<SetAttentionMask> {
  using SetAttentionMaskBase::SetAttentionMaskBase;
  void runOnOperation() override;

private:
  LogicalResult checkOptions();
  RequestsAttr getDocuments();
  /// The dimension of the queries, or of the keys, of an attention.
  static DimAttr getRow(AttentionOpInterface op, unsigned operand);
};
} // namespace

LogicalResult SetAttentionMask::checkOptions() {
  for (int64_t length : documents)
    if (length < 1)
      return getOperation().emitError("a document has ")
             << length << " tokens, expected at least 1";
  if (prefix < 0)
    return getOperation().emitError("a prefix has ")
           << prefix.getValue() << " tokens, expected at least 1";
  return success();
}

/// Documents of one length in a row are one entry.
RequestsAttr SetAttentionMask::getDocuments() {
  SmallVector<int64_t> counts, lengths;
  for (int64_t length : documents) {
    if (!lengths.empty() && lengths.back() == length) {
      ++counts.back();
      continue;
    }
    counts.push_back(1);
    lengths.push_back(length);
  }
  auto get = [&](int64_t number) {
    return SymExpr::get(&getContext(), number);
  };
  SmallVector<SymExpr> tokens = llvm::map_to_vector(lengths, get);
  SmallVector<SymExpr> none(counts.size(), get(0)), one(counts.size(), get(1));
  return RequestsAttr::get(&getContext(), llvm::map_to_vector(counts, get),
                           tokens, none, one);
}

DimAttr SetAttentionMask::getRow(AttentionOpInterface op, unsigned operand) {
  return cast<SymTensorType>(op->getOperand(operand).getType()).getDim(1);
}

void SetAttentionMask::runOnOperation() {
  if (documents.empty() && prefix == 0)
    return markAllAnalysesPreserved();
  if (failed(checkOptions()))
    return signalPassFailure();
  RequestsAttr packed = documents.empty() ? RequestsAttr() : getDocuments();
  auto row = StringAttr::get(&getContext(), tokens);
  bool isSet = false;
  WalkResult walked = getOperation().walk([&](AttentionOpInterface op) {
    if (!getRow(op, 0).hasName(row))
      return WalkResult::advance();
    if (SymExpr size = op.getCompressedAttr()) {
      op->emitOpError("has keys of blocks of ")
          << size.str() << " tokens, which begin at any token of a document"
          << " and go on with the next one; needs one document in a row, and "
             "no prefix";
      return WalkResult::interrupt();
    }
    // Not of what is joined with them, as a text with the patches of an image.
    for (unsigned operand : {0, 1}) {
      DimAttr dim = getRow(op, operand);
      if (!packed || (dim.hasName(row) && dim.getNames().size() == 1))
        continue;
      op->emitOpError(operand == 0 ? "has queries of " : "has keys of ")
          << dim.getNamesText()
          << "; which of them belong to a document of tokens '" << tokens
          << "' is not known";
      return WalkResult::interrupt();
    }
    if (packed)
      op.setRequestsAttr(packed);
    bool hasPrefix = prefix > 0 && op.getMask() == AttentionMask::Causal;
    if (hasPrefix)
      op.setPrefixAttr(SymExpr::get(&getContext(), prefix));
    isSet |= packed || hasPrefix;
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return signalPassFailure();
  if (!isSet) {
    getOperation().emitError("has no ")
        << (packed ? "attention" : "causal attention") << " of tokens '"
        << tokens << "' to each other, expected one for "
        << (packed ? "documents" : "a prefix");
    signalPassFailure();
  }
}
