//===- RequestLists.cpp - Requests of devices that differ -----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RequestLists.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace stg;

FailureOr<RequestsAttr> stg::parseRequestList(Operation *op, StringRef text) {
  MLIRContext *context = op->getContext();
  Attribute parsed;
  {
    // What is wrong is told once, by what was given.
    ScopedDiagnosticHandler quiet(context,
                                  [](Diagnostic &) { return success(); });
    parsed = parseAttribute(("#stg.requests<" + text + ">").str(), context);
  }
  if (auto list = dyn_cast_or_null<RequestsAttr>(parsed))
    return list;
  return op->emitError("requests is '")
         << text
         << "', expected COUNT*(NEW,CACHED,LOGITS),... such as "
            "64*(1,4095),(512,0)";
}

FailureOr<RequestLists> stg::parseRequestLists(Operation *op, StringRef text) {
  MLIRContext *context = op->getContext();
  SmallVector<StringRef> texts;
  text.split(texts, ';');
  RequestLists lists;
  SmallVector<SymExpr> counts, newTokens, cachedTokens, logits;
  DenseMap<std::tuple<SymExpr, SymExpr, SymExpr>, size_t> known;
  for (StringRef own : texts) {
    FailureOr<RequestsAttr> list = parseRequestList(op, own);
    if (failed(list))
      return failure();
    SmallVector<int64_t> &row = lists.counts.emplace_back();
    for (auto [count, fresh, cached, rows] :
         llvm::zip_equal(list->getCounts(), list->getNewTokens(),
                         list->getCachedTokens(), list->getLogits())) {
      std::optional<int64_t> number = count.getInt64();
      if (!number)
        return op->emitError("requests has a count of ")
               << count << " in one of several lists, expected a number";
      auto [it, isNew] =
          known.try_emplace({fresh, cached, rows}, newTokens.size());
      if (isNew) {
        lists.symbols.push_back(StringAttr::get(
            context, "requests" + std::to_string(newTokens.size())));
        counts.push_back(SymExpr::getSymbol(lists.symbols.back()));
        newTokens.push_back(fresh);
        cachedTokens.push_back(cached);
        logits.push_back(rows);
      }
      row.resize(std::max(row.size(), it->second + 1));
      row[it->second] += *number;
    }
  }
  for (SmallVector<int64_t> &row : lists.counts)
    row.resize(newTokens.size());
  lists.kinds =
      RequestsAttr::get(context, counts, newTokens, cachedTokens, logits);
  return lists;
}
