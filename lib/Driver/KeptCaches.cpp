//===- KeptCaches.cpp - What devices keep of requests ---------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeptCaches.h"
#include "stg/Analysis/AttentionPairs.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Dialect/STG/Transforms/Layouts.h"
#include "stg/Support/Error.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace stg;
using llvm::Error;
using llvm::Expected;

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

int64_t KeptCache::countVisible(int64_t tokens) const {
  if (window)
    return std::min(tokens, window - 1);
  return chunk ? tokens % chunk : tokens;
}

int64_t KeptCache::countRoom(int64_t tokens) const {
  int64_t bound = window ? window : chunk;
  return bound ? std::min(tokens, bound) : tokens;
}

int64_t KeptCache::countKept(int64_t tokens) const {
  int64_t visible = countVisible(tokens);
  if (!window)
    return visible;
  return std::min<int64_t>(tokens, llvm::alignTo(visible, tokenParts));
}

/// The tokens of a prompt that a device has, by their place in it.
static SmallVector<TokenRange>
placeTokens(const KeptCache &cache, const Prompt &prompt, TokenPart part) {
  SmallVector<TokenRange> places;
  auto addShare = [&](int64_t tokens, TokenRange own, int64_t place) {
    bool zigzag =
        cache.tokenParts > part.parts && tokens % (2 * part.parts) == 0;
    for (TokenRange range :
         getTokensOf(part.number, part.parts, tokens, zigzag)) {
      range = {std::max(range.begin, own.begin), std::min(range.end, own.end)};
      if (range.begin < range.end)
        places.push_back(
            {range.begin - own.begin + place, range.end - own.begin + place});
    }
  };
  int64_t kept = cache.countKept(prompt.cached);
  addShare(kept, {0, kept}, prompt.cached - kept);
  addShare(prompt.row, {prompt.begin, prompt.begin + prompt.fresh},
           prompt.cached);
  for (TokenRange &range : places) {
    if (range.begin == prompt.cached - kept)
      range.begin = 0;
    if (range.end == prompt.countTokens())
      range.end = std::numeric_limits<int64_t>::max();
  }
  return places;
}

int64_t KeptCache::countSent(const Prompt &prompt, TokenPart part,
                             int64_t kvBlockSize) const {
  int64_t end = prompt.countTokens(), first = end - countVisible(end);
  if (kvBlockSize > 1) {
    first -= first % kvBlockSize;
    end = (end / kvBlockSize + 1) * kvBlockSize;
  }
  int64_t sent = 0;
  for (TokenRange range : placeTokens(*this, prompt, part))
    sent += std::max<int64_t>(0, std::min(range.end, end) -
                                     std::max(range.begin, first));
  return sent;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// The attention that reads a cache, if need be through ops that make heads or
/// rows of it.
static AttentionOp findReader(CacheOp op) {
  llvm::SetVector<Operation *> reached;
  auto reach = [&](Operation *maker) {
    for (Operation *user : maker->getUsers())
      reached.insert(user);
  };
  reach(op);
  for (size_t i = 0; i < reached.size(); ++i) {
    if (auto attention = dyn_cast<AttentionOp>(reached[i]))
      return attention;
    reach(reached[i]);
  }
  return {};
}

/// The names of the scans around an op, from the outside.
static std::vector<std::string> getRepeats(Operation *op) {
  std::vector<std::string> repeats;
  for (Operation *around = op->getParentOp(); around;
       around = around->getParentOp())
    if (auto scan = dyn_cast<ScanOpInterface>(around))
      repeats.insert(repeats.begin(), scan.getScopeName().getValue().str());
  return repeats;
}

static bool isRow(DimAttr dim) {
  return dim.getNames().size() == 1 && dim.getNames().front() == kBatchDim;
}

namespace {
/// Reads the caches of one function.
class CacheReader {
public:
  CacheReader(func::FuncOp function, const Requests &requests,
              const DividingAxes &rules, int64_t tokenParts,
              ArrayRef<KeptCache> others);

  Expected<KeptCache> readCache(CacheOp op) const;
  /// The state of a recurrent layer: as much for each request, however long it
  /// is.
  Expected<KeptCache> readState(Operation *op, const StateBuffer &state) const;

private:
  std::optional<KeptDim> readDim(DimAttr dim, Value value,
                                 unsigned number) const;
  std::optional<KeptDim> readStateDim(DimAttr dim, Operation *op) const;
  void readSpan(CacheOp op, KeptCache &cache) const;
  bool isComplete(CacheOp op, const KeptCache &cache) const;

  const Requests &requests;
  const DividingAxes &rules;
  int64_t tokenParts;
  ArrayRef<KeptCache> others;
  MeshAttr mesh;
  DenseMap<Value, LayoutAttr> layouts;
};
} // namespace

CacheReader::CacheReader(func::FuncOp function, const Requests &requests,
                         const DividingAxes &rules, int64_t tokenParts,
                         ArrayRef<KeptCache> others)
    : requests(requests), rules(rules), tokenParts(tokenParts), others(others) {
  if (MeshOp op = MeshOp::lookup(function))
    mesh = op.getMesh();
  SmallVector<Value> values;
  function.walk([&](CostOpInterface op) {
    if (!isa<CacheOp>(op) && op.getStateBuffers().empty())
      return;
    llvm::append_range(values, op->getOperands());
    llvm::append_range(values, op->getResults());
  });
  for (auto [value, layout] :
       llvm::zip_equal(values, getLayouts(function, values)))
    layouts[value] = layout;
}

/// What a device has of a dimension of a value, and what divides it; none if
/// that is no number.
std::optional<KeptDim> CacheReader::readDim(DimAttr dim, Value value,
                                            unsigned number) const {
  std::optional<int64_t> extent = dim.getExtent().getInt64();
  if (!extent)
    return std::nullopt;
  KeptDim own;
  own.local = *extent;
  if (dim.getNames().size() == 1)
    own.name = dim.getNames().front().str();
  // What rules say comes first, and is all where nothing is known.
  SmallVector<std::string, 2> ruled;
  if (auto known = rules.find(own.name); known != rules.end())
    ruled = known->second;
  LayoutAttr layout = layouts.lookup(value);
  auto add = [&](StringRef axis, bool isRuled) {
    AxisState state{AxisState::Unknown};
    if (layout)
      state = layout.getState(StringAttr::get(dim.getContext(), axis));
    if (state == AxisState::getDivided(number) ||
        (isRuled && state.kind == AxisState::Unknown))
      own.axes.push_back(axis.str());
  };
  for (const std::string &axis : ruled)
    add(axis, /*isRuled=*/true);
  for (StringAttr axis : mesh ? mesh.getAxisNames() : ArrayRef<StringAttr>())
    if (!llvm::is_contained(ruled, axis.getValue()))
      add(axis, /*isRuled=*/false);
  return own;
}

/// A state is divided like what it is made of.
std::optional<KeptDim> CacheReader::readStateDim(DimAttr dim,
                                                 Operation *op) const {
  for (Value value : op->getOperands())
    for (auto [number, other] :
         llvm::enumerate(cast<SymTensorType>(value.getType()).getDims()))
      if (!dim.getNames().empty() && other.getNames() == dim.getNames())
        return readDim(dim, value, number);
  return readDim(dim, Value(), 0);
}

Expected<KeptCache> CacheReader::readState(Operation *op,
                                           const StateBuffer &state) const {
  KeptCache cache;
  cache.name = state.suffix;
  cache.repeats = getRepeats(op);
  auto fail = [&](const Twine &message) {
    return makeError("the state '" + Twine(cache.name) +
                     "' cannot be sent: " + message);
  };
  // The states of micro-batches are a stack of those of each.
  ArrayRef<DimAttr> all = state.type.getDims();
  SmallVector<DimAttr> dims(llvm::find_if(all, isRow), all.end());
  for (auto [i, dim] : llvm::enumerate(dims)) {
    std::optional<KeptDim> read = readStateDim(dim, op);
    if (!read)
      return fail("dimension " + dim.str() + " is no number");
    KeptDim &own = cache.dims.emplace_back(std::move(*read));
    if (own.name != kBatchDim)
      continue;
    // A row has the requests of a list.
    cache.row = i;
    own.local /= std::max<int64_t>(requests.countRequests(), 1);
    dim = dim.withExtent(SymExpr::get(op->getContext(), 1));
  }
  std::optional<int64_t> bytes =
      state.type.withDims(dims).getNumBytes().getInt64();
  if (cache.row < 0 || !bytes)
    return fail("it is not one of each row 'B'");
  cache.tokenBytes = *bytes;
  cache.elementType = state.type.getElementType();
  return cache;
}

/// How far the tokens of a cache see. Of keys that go round a ring nobody but
/// the other program says it.
void CacheReader::readSpan(CacheOp op, KeptCache &cache) const {
  for (const KeptCache &other : others)
    if (other.name == cache.name && other.repeats == cache.repeats) {
      cache.window = other.window;
      cache.chunk = other.chunk;
    }
  AttentionOp reader = findReader(op);
  if (!reader)
    return;
  auto getNumber = [](SymExpr expr) {
    return expr ? expr.getInt64().value_or(0) : 0;
  };
  cache.window = getNumber(reader.getWindowAttr());
  cache.chunk = getNumber(reader.getChunkAttr());
}

/// True if it has what attention sees of all requests, or equal parts of that,
/// and room for it. There may be room for more, in blocks or for tokens that
/// come.
bool CacheReader::isComplete(CacheOp op, const KeptCache &cache) const {
  int64_t all = 0, room = 0, parts = 1;
  for (const Request &request : requests.list) {
    all += request.count *
           (request.newTokens + cache.countKept(request.cachedTokens));
    room += request.count *
            cache.countRoom(request.newTokens + request.cachedTokens);
  }
  const KeptDim &token = cache.dims[cache.token];
  for (const std::string &axis : token.axes)
    parts *= mesh.getAxisSize(StringAttr::get(op.getContext(), axis))
                 .getInt64()
                 .value_or(1);
  std::optional<int64_t> capacity =
      op.getCapacityAttr() ? op.getCapacityAttr().getInt64() : token.local;
  return token.local * parts == all && capacity && *capacity * parts >= room;
}

Expected<KeptCache> CacheReader::readCache(CacheOp op) const {
  KeptCache cache;
  cache.name = op.getCacheName().str();
  cache.repeats = getRepeats(op);
  cache.tokenParts = tokenParts;
  SymTensorType type = op.getType();
  auto fail = [&](const Twine &message) {
    return makeError("what '" + Twine(cache.name) +
                     "' keeps cannot be sent: " + message);
  };
  SmallVector<DimAttr> dims(type.getDims());
  SymExpr one = SymExpr::get(op.getContext(), 1);
  for (auto [i, dim] : llvm::enumerate(dims)) {
    std::optional<KeptDim> read = readDim(dim, op.getResult(), i);
    if (!read)
      return fail("dimension " + dim.str() + " is no number");
    KeptDim &own = cache.dims.emplace_back(std::move(*read));
    int64_t *special = own.name == kBatchDim   ? &cache.row
                       : own.name == kTokenDim ? &cache.token
                                               : nullptr;
    if (!special)
      continue;
    *special = i;
    dim = dim.withExtent(one);
  }
  if (cache.row < 0 || cache.token < 0)
    return fail("it has no dimension of rows 'B' and of tokens 'S'");
  readSpan(op, cache);
  if (!isComplete(op, cache))
    return fail("it is of other tokens than attention sees");
  std::optional<int64_t> bytes = type.withDims(dims).getNumBytes().getInt64();
  if (!bytes)
    return fail("a token of it has no number of bytes");
  cache.tokenBytes = *bytes;
  cache.elementType = type.getElementType();
  return cache;
}

/// Adds what the function keeps; stages have parts of one repeat.
static Error addCaches(func::FuncOp function, const CacheReader &reader,
                       std::vector<KeptCache> &caches) {
  Error error = Error::success();
  auto add = [&](Expected<KeptCache> own) {
    if (!own) {
      error = llvm::joinErrors(std::move(error), own.takeError());
      return WalkResult::interrupt();
    }
    bool isNew = llvm::none_of(caches, [&](const KeptCache &known) {
      return known.name == own->name && known.repeats == own->repeats;
    });
    if (isNew)
      caches.push_back(std::move(*own));
    return WalkResult::advance();
  };
  function.walk([&](CostOpInterface op) {
    if (auto cache = dyn_cast<CacheOp>(op.getOperation()))
      return add(reader.readCache(cache));
    for (const StateBuffer &state : op.getStateBuffers())
      if (state.kind == StateBuffer::Cache &&
          add(reader.readState(op, state)).wasInterrupted())
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return error;
}

Expected<std::vector<KeptCache>>
stg::collectCaches(ModuleOp module, const Requests &requests,
                   const DividingAxes &axes, int64_t tokenParts,
                   ArrayRef<KeptCache> others) {
  std::vector<KeptCache> caches;
  for (auto function : module.getOps<func::FuncOp>())
    if (Error error = addCaches(
            function, CacheReader(function, requests, axes, tokenParts, others),
            caches))
      return std::move(error);
  if (caches.empty())
    return makeError("the model keeps nothing that could be sent");
  return caches;
}
