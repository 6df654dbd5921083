//===- Disaggregation.cpp - Prefill and decoding on ranks of their own ----===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each rank gets a graph of its own on a mesh with one axis, in which groups
// are lists of ranks: so meshes of any shape can stand side by side. Who has
// which part of a cache follows from the axes that divide it.
//
//===----------------------------------------------------------------------===//

#include "Disaggregation.h"
#include "stg/Dialect/Chakra/IR/ChakraOps.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace stg;
using llvm::Error;
using llvm::Expected;

static constexpr llvm::StringLiteral kRankAxis = "rank";
static constexpr llvm::StringLiteral kPhase = "transfer";
/// Channels of stages are numbered from 0; these are far behind them.
static constexpr int64_t kFirstChannel = int64_t(1) << 40;

static Error makeError(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

//===----------------------------------------------------------------------===//
// What is kept
//===----------------------------------------------------------------------===//

/// Of so many tokens those that the next one sees.
static int64_t countVisible(const KeptCache &cache, int64_t tokens) {
  if (cache.window)
    return std::min(tokens, cache.window - 1);
  return cache.chunk ? tokens % cache.chunk : tokens;
}

/// Of so many tokens those that there is room for.
static int64_t countKept(const KeptCache &cache, int64_t tokens) {
  int64_t bound = cache.window ? cache.window : cache.chunk;
  return bound ? std::min(tokens, bound) : tokens;
}

/// Tokens of a request of which caches are sent: what the first new token sees,
/// as whole blocks, of which it begins one where they were full.
static int64_t countSent(const KeptCache &cache, int64_t tokens,
                         int64_t kvBlockSize) {
  int64_t first = tokens - countVisible(cache, tokens);
  if (kvBlockSize <= 1)
    return tokens - first;
  return (tokens / kvBlockSize - first / kvBlockSize + 1) * kvBlockSize;
}

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

/// What a device has of a dimension, and what divides it; none if that is no
/// number.
static std::optional<KeptDim> readDim(DimAttr dim, const DividingAxes &axes) {
  std::optional<int64_t> extent = dim.getExtent().getInt64();
  if (!extent)
    return std::nullopt;
  KeptDim own;
  own.local = *extent;
  if (dim.getNames().size() == 1)
    own.name = dim.getNames().front().str();
  if (auto known = axes.find(own.name); known != axes.end())
    own.axes = known->second;
  return own;
}

/// The state of a recurrent layer: as much for each request, however long it
/// is.
static Expected<KeptCache> readState(Operation *op, const StateBuffer &state,
                                     const Requests &requests,
                                     const DividingAxes &axes) {
  KeptCache cache;
  cache.name = state.suffix;
  cache.repeats = getRepeats(op);
  auto fail = [&](const Twine &message) {
    return makeError("the state '" + Twine(cache.name) +
                     "' cannot be sent: " + message);
  };
  if (auto tokens = axes.find("S"); tokens != axes.end())
    return fail("tokens are divided over " + Twine(tokens->second.front()) +
                ", of whose ranks each has a part of what makes it");
  SmallVector<DimAttr> dims(state.type.getDims());
  for (auto [i, dim] : llvm::enumerate(dims)) {
    std::optional<KeptDim> read = readDim(dim, axes);
    if (!read)
      return fail("dimension " + dim.str() + " is no number");
    KeptDim &own = cache.dims.emplace_back(std::move(*read));
    if (own.name != "B")
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
  return cache;
}

static Expected<KeptCache> readCache(CacheOp op, const Requests &requests,
                                     int64_t kvBlockSize,
                                     const DividingAxes &axes) {
  KeptCache cache;
  cache.name = op.getCacheName().str();
  cache.repeats = getRepeats(op);
  SymTensorType type = op.getType();
  auto fail = [&](const Twine &message) {
    return makeError("what '" + Twine(cache.name) +
                     "' keeps cannot be sent: " + message);
  };
  SmallVector<DimAttr> dims(type.getDims());
  SymExpr one = SymExpr::get(op.getContext(), 1);
  for (auto [i, dim] : llvm::enumerate(dims)) {
    std::optional<KeptDim> read = readDim(dim, axes);
    if (!read)
      return fail("dimension " + dim.str() + " is no number");
    KeptDim &own = cache.dims.emplace_back(std::move(*read));
    int64_t *special = own.name == "B"   ? &cache.row
                       : own.name == "S" ? &cache.token
                                         : nullptr;
    if (!special)
      continue;
    *special = i;
    dim = dim.withExtent(one);
  }
  if (cache.row < 0 || cache.token < 0)
    return fail("it has no dimension of rows 'B' and of tokens 'S'");
  if (AttentionOp reader = findReader(op)) {
    auto getNumber = [](SymExpr expr) {
      return expr ? expr.getInt64().value_or(0) : 0;
    };
    cache.window = getNumber(reader.getWindowAttr());
    cache.chunk = getNumber(reader.getChunkAttr());
  }
  int64_t all = 0, kept = 0, room = 0;
  for (const Request &request : requests.list) {
    int64_t own = countKept(cache, request.newTokens + request.cachedTokens);
    all += request.count *
           (request.newTokens + countVisible(cache, request.cachedTokens));
    kept += request.count * own;
    room +=
        request.count * static_cast<int64_t>(llvm::alignTo(own, kvBlockSize));
  }
  bool isDivided = !cache.dims[cache.token].axes.empty();
  if (isDivided && (cache.window || cache.chunk))
    return fail("its tokens are divided over " +
                Twine(cache.dims[cache.token].axes.front()) +
                ", and a token sees some of them only");
  if (isDivided && kvBlockSize > 1)
    return fail("its tokens are divided over " +
                Twine(cache.dims[cache.token].axes.front()) +
                ", which cuts blocks; use --kv-block-size 1");
  std::optional<int64_t> capacity =
      op.getCapacityAttr() ? op.getCapacityAttr().getInt64() : all;
  bool isWhole = cache.dims[cache.token].local == all && capacity &&
                 (*capacity == all || *capacity == kept || *capacity == room);
  if (!isWhole && !isDivided)
    return fail("it is of other tokens than attention sees");
  std::optional<int64_t> bytes = type.withDims(dims).getNumBytes().getInt64();
  if (!bytes)
    return fail("a token of it has no number of bytes");
  cache.tokenBytes = *bytes;
  return cache;
}

Expected<std::vector<KeptCache>> stg::collectCaches(ModuleOp module,
                                                    const Requests &requests,
                                                    int64_t kvBlockSize,
                                                    const DividingAxes &axes) {
  std::vector<KeptCache> caches;
  std::string problem;
  module.walk([&](CostOpInterface op) {
    auto cache = dyn_cast<CacheOp>(op.getOperation());
    if (!problem.empty())
      return;
    auto add = [&](Expected<KeptCache> own) {
      if (!own)
        problem = llvm::toString(own.takeError());
      // Stages have parts of one repeat.
      else if (llvm::none_of(caches, [&](const KeptCache &known) {
                 return known.name == own->name &&
                        known.repeats == own->repeats;
               }))
        caches.push_back(std::move(*own));
    };
    if (cache)
      return add(readCache(cache, requests, kvBlockSize, axes));
    for (const StateBuffer &state : op.getStateBuffers())
      if (state.kind == StateBuffer::Cache)
        add(readState(op, state, requests, axes));
  });
  if (!problem.empty())
    return makeError(problem);
  if (caches.empty())
    return makeError("the model keeps nothing that could be sent");
  return caches;
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

namespace {
using Range = std::pair<int64_t, int64_t>; ///< From, to.

/// Axes from the fastest to the slowest.
class Mesh {
public:
  explicit Mesh(MeshAttr mesh) {
    for (auto [name, size] :
         llvm::zip_equal(mesh.getAxisNames(), mesh.getAxisSizes())) {
      axes.push_back({name.str(), size.getInt64().value_or(1), numRanks});
      numRanks *= axes.back().size;
    }
  }
  int64_t getNumRanks() const { return numRanks; }
  int64_t getCoordinate(int64_t rank, StringRef name) const {
    for (const Axis &axis : axes)
      if (axis.name == name)
        return rank / axis.stride % axis.size;
    return 0;
  }
  int64_t getSize(StringRef name) const {
    for (const Axis &axis : axes)
      if (axis.name == name)
        return axis.size;
    return 1;
  }
  int64_t getNeighbour(int64_t rank, StringRef name, int64_t shift) const {
    for (const Axis &axis : axes)
      if (axis.name == name) {
        int64_t own = rank / axis.stride % axis.size;
        int64_t other = ((own + shift) % axis.size + axis.size) % axis.size;
        return rank + (other - own) * axis.stride;
      }
    return rank;
  }
  /// The ranks that differ on these axes only, ascending.
  SmallVector<int64_t> getMembers(int64_t rank, ArrayAttr names) const {
    SmallVector<int64_t> members;
    for (int64_t other = 0; other < numRanks; ++other)
      if (llvm::all_of(axes, [&](const Axis &axis) {
            bool isFree =
                llvm::any_of(names.getAsRange<StringAttr>(), [&](StringAttr n) {
                  return n.getValue() == axis.name;
                });
            return isFree || other / axis.stride % axis.size ==
                                 rank / axis.stride % axis.size;
          }))
        members.push_back(other);
    return members;
  }

private:
  struct Axis {
    std::string name;
    int64_t size, stride;
  };
  std::vector<Axis> axes;
  int64_t numRanks = 1;
};

/// One of the programs, rank by rank.
struct Side {
  explicit Side(const DisaggregatedProgram &program, StringRef name,
                int64_t firstRank, MeshAttr mesh)
      : program(program), name(name), firstRank(firstRank), mesh(mesh) {}

  const DisaggregatedProgram &program;
  StringRef name;
  int64_t firstRank;
  Mesh mesh;
  std::vector<chakra::GraphOp> graphs; ///< By rank.

  /// The part of a dimension that a rank has.
  Range getRange(const KeptDim &dim, int64_t rank) const {
    int64_t index = 0;
    for (const std::string &axis : dim.axes)
      index = index * mesh.getSize(axis) + mesh.getCoordinate(rank, axis);
    return {index * dim.local, (index + 1) * dim.local};
  }
  int64_t getExtent(const KeptDim &dim) const {
    int64_t extent = dim.local;
    for (const std::string &axis : dim.axes)
      extent *= mesh.getSize(axis);
    return extent;
  }
};

/// A cache in the graph of a rank: the node that writes it, in repeats.
struct Place {
  chakra::CompOp comp;
  SmallVector<chakra::RepeatOp, 2> repeats; ///< From the outside.
};

/// What one rank sends to another one of each request: the caches of one
/// attention, in the repeats around it.
struct Transfer {
  int64_t from, to;
  Range rows;
  int64_t tokenBytes;     ///< Of a token of a row.
  int64_t tokenParts = 1; ///< Ranks that have equally many of the tokens each.
};
} // namespace

static Range intersect(Range lhs, Range rhs) {
  return {std::max(lhs.first, rhs.first), std::min(lhs.second, rhs.second)};
}

static bool isEmpty(Range range) { return range.first >= range.second; }

/// `attention` of `attention.k`.
static StringRef getGroupName(StringRef cache) {
  return cache.rsplit('.').first;
}

/// The node that writes a cache, or goes on from a state.
static std::optional<Place> findPlace(chakra::GraphOp graph,
                                      const KeptCache &cache) {
  std::optional<Place> found;
  graph.walk([&](chakra::CompOp comp) {
    chakra::KernelAttr kernel = comp.getKernelAttr();
    StringRef own = cache.isState() ? getGroupName(cache.name) : cache.name;
    if (found || !kernel || (kernel.getOp() == "cache") == cache.isState() ||
        comp.getName().rsplit('.').first != own ||
        comp.getUpdatedResults().empty())
      return;
    Place place{comp, {}};
    for (Operation *op = comp->getParentOp(); op != graph;
         op = op->getParentOp())
      if (auto repeat = dyn_cast<chakra::RepeatOp>(op))
        place.repeats.insert(place.repeats.begin(), repeat);
    bool isSame =
        llvm::equal(place.repeats, cache.repeats,
                    [](chakra::RepeatOp repeat, const std::string &name) {
                      return repeat.getName() == name;
                    });
    if (isSame)
      found = place;
  });
  return found;
}

/// The iterations of a repeat, by the numbers in names.
static Range getIterations(chakra::RepeatOp repeat) {
  int64_t first =
      repeat.getFirst() ? repeat.getFirst()->getInt64().value_or(0) : 0;
  return {first, first + repeat.getCount().getInt64().value_or(0)};
}

//===----------------------------------------------------------------------===//
// One mesh
//===----------------------------------------------------------------------===//

namespace {
/// Makes the joined graphs.
class Joiner {
public:
  Joiner(ModuleOp joined, const Requests &requests, int64_t kvBlockSize,
         const std::map<std::string, int64_t> &symbols)
      : joined(joined), builder(joined.getContext()), requests(requests),
        kvBlockSize(kvBlockSize), symbols(symbols) {}

  Error run(const DisaggregatedProgram &prefill,
            const DisaggregatedProgram &decode);

private:
  Error addGraphs(Side &side, int64_t numRanks);
  Error moveToRank(chakra::GraphOp graph, const Side &side, int64_t rank);
  Error moveCollective(chakra::CollOp op, const Side &side, int64_t rank);
  Error addCaches();
  Error addCaches(StringRef group, ArrayRef<const KeptCache *> own,
                  ArrayRef<const KeptCache *> other);
  Expected<std::vector<Transfer>> findTransfers(const KeptCache &own,
                                                const KeptCache &other);
  Range getHeads(const Side &side, const KeptCache &cache, int64_t rank,
                 int64_t &count);
  Error addTransfer(StringRef group, const Transfer &transfer,
                    ArrayRef<const KeptCache *> own);
  Error addTokens();
  void wait();
  Value addReceive(int64_t from, int64_t to, StringRef name, int64_t bytes,
                   int64_t channel);
  void addSend(int64_t from, int64_t to, StringRef name, ValueRange inputs,
               int64_t bytes, int64_t channel);

  ModuleOp joined;
  OpBuilder builder;
  const Requests &requests;
  int64_t kvBlockSize;
  const std::map<std::string, int64_t> &symbols;
  std::optional<Side> prefill, decode;
  /// By rank of the decoding side, what its first node waits for.
  std::vector<SmallVector<Value>> received;
  int64_t nextChannel = kFirstChannel;
};
} // namespace

/// The ranks of the group, as coordinates on the only axis.
Error Joiner::moveCollective(chakra::CollOp op, const Side &side,
                             int64_t rank) {
  SmallVector<int64_t> members = side.mesh.getMembers(rank, op.getOver());
  if (std::optional<ArrayRef<int64_t>> among = op.getAmong()) {
    StringRef axis = cast<StringAttr>(op.getOver()[0]).getValue();
    llvm::erase_if(members, [&](int64_t member) {
      return !llvm::is_contained(*among, side.mesh.getCoordinate(member, axis));
    });
  }
  if (members.size() < 2) {
    op.replaceAllUsesWith(op.getInputs());
    op.erase();
    return Error::success();
  }
  for (int64_t &member : members)
    member += side.firstRank;
  op.setOverAttr(builder.getStrArrayAttr({kRankAxis}));
  op.setAmongAttr(builder.getDenseI64ArrayAttr(members));
  return Error::success();
}

Error Joiner::moveToRank(chakra::GraphOp graph, const Side &side,
                         int64_t rank) {
  SmallVector<chakra::CollOp> collectives;
  SmallVector<chakra::MessageOpInterface> messages;
  bool hasTurns = false;
  graph.walk([&](Operation *op) {
    if (auto coll = dyn_cast<chakra::CollOp>(op))
      collectives.push_back(coll);
    else if (auto message = dyn_cast<chakra::MessageOpInterface>(op))
      messages.push_back(message);
    hasTurns |= isa<chakra::ScheduleOp>(op);
  });
  if (hasTurns)
    return makeError("the plan of " + Twine(side.name) +
                     " has several micro-batches; give it one");
  for (chakra::CollOp op : collectives)
    if (Error error = moveCollective(op, side, rank))
      return error;
  for (chakra::MessageOpInterface op : messages) {
    int64_t peer = side.mesh.getNeighbour(rank, op.getAxis(),
                                          static_cast<int64_t>(op.getShift()));
    auto axis = builder.getStringAttr(kRankAxis);
    auto shift = builder.getI64IntegerAttr(peer - rank);
    if (auto send = dyn_cast<chakra::SendOp>(op.getOperation())) {
      send.setAxisAttr(axis);
      send.setShiftAttr(shift);
    } else {
      auto recv = cast<chakra::RecvOp>(op.getOperation());
      recv.setAxisAttr(axis);
      recv.setShiftAttr(shift);
    }
  }
  return Error::success();
}

/// A graph for each rank.
Error Joiner::addGraphs(Side &side, int64_t numRanks) {
  auto axis = builder.getStringAttr(kRankAxis);
  auto mesh = MeshAttr::get(builder.getContext(), {axis},
                            {SymExpr::get(builder.getContext(), numRanks)});
  for (int64_t rank = 0; rank < side.mesh.getNumRanks(); ++rank) {
    chakra::GraphOp source;
    for (auto graph : ModuleOp(side.program.module).getOps<chakra::GraphOp>()) {
      DictionaryAttr coordinates = graph.getCoordinatesAttr();
      if (!coordinates || llvm::all_of(coordinates, [&](NamedAttribute entry) {
            return cast<IntegerAttr>(entry.getValue()).getInt() ==
                   side.mesh.getCoordinate(rank, entry.getName());
          }))
        source = graph;
    }
    if (!source)
      return makeError("no graph of " + Twine(side.name) + " covers rank " +
                       Twine(rank));
    builder.setInsertionPointToEnd(joined.getBody());
    auto graph = cast<chakra::GraphOp>(builder.clone(*source));
    graph.setSymName((side.name + Twine(rank)).str());
    if (Error error = moveToRank(graph, side, rank))
      return error;
    graph.setMeshAttr(mesh);
    graph.setCoordinatesAttr(builder.getDictionaryAttr(builder.getNamedAttr(
        kRankAxis, builder.getI64IntegerAttr(side.firstRank + rank))));
    side.graphs.push_back(graph);
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

void Joiner::addSend(int64_t from, int64_t to, StringRef name,
                     ValueRange inputs, int64_t bytes, int64_t channel) {
  chakra::SendOp::create(
      builder, joined.getLoc(), builder.getStringAttr(name), inputs,
      ValueRange(), builder.getStringAttr(kRankAxis),
      builder.getI64IntegerAttr(decode->firstRank + to - from),
      builder.getI64IntegerAttr(channel), IntegerAttr(),
      builder.getStringAttr(kPhase), SymExpr::get(builder.getContext(), bytes));
}

Value Joiner::addReceive(int64_t from, int64_t to, StringRef name,
                         int64_t bytes, int64_t channel) {
  Type type = chakra::TensorType::get(builder.getContext(),
                                      SymExpr::get(builder.getContext(), bytes),
                                      chakra::Category::Communication);
  return chakra::RecvOp::create(
             builder, joined.getLoc(), TypeRange(type),
             builder.getStringAttr(name), /*into=*/Value(), ValueRange(),
             builder.getStringAttr(kRankAxis),
             builder.getI64IntegerAttr(from - decode->firstRank - to),
             builder.getI64IntegerAttr(channel), IntegerAttr(),
             builder.getStringAttr(kPhase), /*payload=*/SymExpr())
      .getResult(0);
}

/// The heads of a cache that a rank has, of `count`: replicas of a slice follow
/// one another. A cache without a divided dimension is one head.
Range Joiner::getHeads(const Side &side, const KeptCache &cache, int64_t rank,
                       int64_t &count) {
  count = 1;
  for (auto [i, dim] : llvm::enumerate(cache.dims)) {
    bool isOther = static_cast<int64_t>(i) != cache.row &&
                   static_cast<int64_t>(i) != cache.token;
    if (!isOther || dim.axes.empty())
      continue;
    int64_t slots = side.getExtent(dim);
    auto known = symbols.find(dim.name);
    count = known != symbols.end() ? std::min(known->second, slots) : slots;
    int64_t replicas = slots / count;
    Range range = side.getRange(dim, rank);
    return {range.first / replicas, llvm::divideCeil(range.second, replicas)};
  }
  return {0, 1};
}

/// A dimension that only one side divides is one of heads on both sides.
static void markDivided(KeptCache &own, const KeptCache &other) {
  for (auto [i, dim] : llvm::enumerate(own.dims))
    if (dim.axes.empty() && !other.dims[i].axes.empty())
      dim.axes.push_back(""); // An axis of one rank.
}

/// Who sends to whom: each rank gets what it has from the rank of its rows that
/// stands where it stands among those of its own, or from the nearest one that
/// has it.
Expected<std::vector<Transfer>> Joiner::findTransfers(const KeptCache &kept,
                                                      const KeptCache &needed) {
  KeptCache own = kept, other = needed;
  if (own.dims.size() != other.dims.size())
    return makeError("'" + own.name + "' has other dimensions in decoding");
  markDivided(own, other);
  markDivided(other, own);
  std::vector<Transfer> transfers;
  if (!needed.isState() && !needed.dims[needed.token].axes.empty())
    return makeError("the plan of decoding divides the tokens of '" +
                     needed.name + "'; tokens of steps that decode are whole");
  auto getTokens = [&](int64_t rank) {
    return kept.isState() ? Range(0, 1)
                          : prefill->getRange(kept.dims[kept.token], rank);
  };
  int64_t tokenParts = 1;
  if (!kept.isState())
    for (const std::string &axis : kept.dims[kept.token].axes)
      tokenParts *= prefill->mesh.getSize(axis);
  const KeptDim &ownRow = own.dims[own.row], &otherRow = other.dims[other.row];
  for (int64_t to = 0; to < decode->mesh.getNumRanks(); ++to) {
    std::optional<Place> place = findPlace(decode->graphs[to], other);
    if (!place)
      continue;
    Range rows = decode->getRange(otherRow, to);
    SmallVector<int64_t> beside;
    for (int64_t rank = 0; rank < decode->mesh.getNumRanks(); ++rank)
      if (decode->getRange(otherRow, rank) == rows &&
          findPlace(decode->graphs[rank], other))
        beside.push_back(rank);
    int64_t position = llvm::find(beside, to) - beside.begin();
    // By rows of the sending side, by the layers that a stage has, and by the
    // tokens of a rank.
    llvm::MapVector<std::pair<std::pair<Range, Range>, Range>,
                    SmallVector<int64_t>>
        senders;
    for (int64_t from = 0; from < prefill->mesh.getNumRanks(); ++from) {
      std::optional<Place> sender = findPlace(prefill->graphs[from], own);
      Range shared = intersect(rows, prefill->getRange(ownRow, from));
      if (!sender || isEmpty(shared))
        continue;
      Range layers = {0, 1};
      if (!sender->repeats.empty()) {
        layers = getIterations(sender->repeats.front());
        Range there = getIterations(place->repeats.front());
        Range both = intersect(layers, there);
        if (isEmpty(both))
          continue;
        if (both != layers)
          return makeError(
              "iterations " + Twine(layers.first) + " to " +
              Twine(layers.second - 1) + " of '" + own.repeats.front() +
              "', a stage of prefill, are divided among stages of decoding; "
              "give decoding as many stages or fewer, or prefill more");
      }
      senders[{{prefill->getRange(ownRow, from), layers}, getTokens(from)}]
          .push_back(from);
    }
    for (auto &[key, ranks] : senders) {
      Range shared = intersect(rows, key.first.first);
      int64_t best = position * static_cast<int64_t>(ranks.size()) /
                     static_cast<int64_t>(beside.size());
      int64_t count = 1, otherCount = 1;
      Range heads = getHeads(*decode, other, to, otherCount);
      std::map<int64_t, int64_t> headsFrom;
      for (int64_t head = heads.first; head < heads.second; ++head) {
        std::optional<int64_t> source;
        for (int64_t i = 0; i < static_cast<int64_t>(ranks.size()); ++i) {
          Range has = getHeads(*prefill, own, ranks[i], count);
          if (head >= has.first && head < has.second &&
              (!source || std::abs(i - best) < std::abs(*source - best)))
            source = i;
        }
        if (!source || count != otherCount)
          return makeError("'" + own.name + "' has other heads in decoding");
        ++headsFrom[ranks[*source]];
      }
      for (auto [from, number] : headsFrom) {
        int64_t dummy = 1;
        Range has = getHeads(*prefill, own, from, dummy);
        int64_t headBytes = own.tokenBytes / (has.second - has.first);
        if (headBytes * (heads.second - heads.first) != other.tokenBytes)
          return makeError("a token of '" + own.name + "' has " +
                           Twine(headBytes * (heads.second - heads.first)) +
                           " bytes where it is sent from and " +
                           Twine(other.tokenBytes) +
                           " where it is needed; give both plans one "
                           "--kv-dtype");
        transfers.push_back({from, to, shared, headBytes * number, tokenParts});
      }
    }
  }
  return transfers;
}

/// Sends and receives for all layers and requests between two ranks.
Error Joiner::addTransfer(StringRef group, const Transfer &transfer,
                          ArrayRef<const KeptCache *> own) {
  Place last{{}, {}};
  SmallVector<Value> buffers;
  for (const KeptCache *cache : own) {
    Place place = *findPlace(prefill->graphs[transfer.from], *cache);
    buffers.push_back(place.comp.getUpdatedResults().front());
    if (!last.comp || last.comp->isBeforeInBlock(place.comp))
      last = place;
  }
  std::string to = std::to_string(decode->firstRank + transfer.to);
  std::string from = std::to_string(transfer.from);
  int64_t numRows = transfer.rows.second - transfer.rows.first;
  SymExpr one = SymExpr::get(builder.getContext(), 1);
  for (auto [kind, request] : llvm::enumerate(requests.list)) {
    int64_t channel = nextChannel++;
    const KeptCache &cache = *own.front();
    int64_t tokens = request.newTokens + request.cachedTokens;
    int64_t bytes = transfer.tokenBytes *
                    (cache.isState() ? 1
                                     : countSent(cache, tokens, kvBlockSize) /
                                           transfer.tokenParts);
    // The next token may begin a chunk, and see nothing of what was before.
    if (bytes == 0)
      continue;
    SymExpr count = one * (numRows * request.count);
    std::string suffix =
        requests.list.size() > 1 ? ".kind" + std::to_string(kind) : "";
    // Behind the node that writes, and what other ranks are sent before.
    Operation *after = last.comp;
    while (after->getNextNode() &&
           (isa<chakra::SendOp>(after->getNextNode()) ||
            (isa<chakra::RepeatOp>(after->getNextNode()) &&
             cast<chakra::RepeatOp>(after->getNextNode())
                 .getName()
                 .contains(".to"))))
      after = after->getNextNode();
    builder.setInsertionPointAfter(after);
    auto requestsOut = chakra::RepeatOp::create(
        builder, joined.getLoc(), (group + ".to" + to + suffix).str(), count,
        ValueRange(), ValueRange(), TypeRange());
    builder.setInsertionPointToStart(&requestsOut.getBody().front());
    addSend(transfer.from, transfer.to, "send", buffers, bytes, channel);
    chakra::YieldOp::create(builder, joined.getLoc());
    // The same repeats where it is received.
    chakra::GraphOp graph = decode->graphs[transfer.to];
    Operation *first = nullptr;
    graph.walk([&](chakra::CompOp comp) {
      if (!first)
        first = graph.getBody().front().findAncestorOpInBlock(*comp);
    });
    builder.setInsertionPoint(first);
    SmallVector<chakra::RepeatOp> around;
    Type type = chakra::TensorType::get(builder.getContext(), one * bytes,
                                        chakra::Category::Communication);
    SmallVector<std::tuple<std::string, SymExpr, SymExpr>> levels;
    for (chakra::RepeatOp repeat : last.repeats)
      levels.emplace_back(repeat.getName().str(), repeat.getCount(),
                          repeat.getFirst().value_or(SymExpr()));
    levels.emplace_back((group + ".from" + from + suffix).str(), count,
                        SymExpr());
    SmallVector<Type> types = {type};
    for (auto &[name, number, begin] : llvm::reverse(levels))
      types.push_back(chakra::StackType::get(types.back(), number));
    for (auto [level, entry] : llvm::enumerate(levels)) {
      auto &[name, number, begin] = entry;
      auto repeat = chakra::RepeatOp::create(
          builder, joined.getLoc(), name, number, ValueRange(), ValueRange(),
          TypeRange(types[levels.size() - level]), /*reverse=*/false, begin);
      around.push_back(repeat);
      builder.setInsertionPointToStart(&repeat.getBody().front());
    }
    Value inner =
        addReceive(transfer.from, transfer.to, "recv", bytes, channel);
    for (chakra::RepeatOp repeat : llvm::reverse(around)) {
      chakra::YieldOp::create(builder, joined.getLoc(), ValueRange(),
                              ValueRange(inner));
      inner = repeat.getResult(0);
      builder.setInsertionPointAfter(repeat);
    }
    received[transfer.to].push_back(inner);
  }
  return Error::success();
}

/// The caches of one attention travel together.
Error Joiner::addCaches(StringRef group, ArrayRef<const KeptCache *> own,
                        ArrayRef<const KeptCache *> other) {
  std::vector<Transfer> all;
  for (auto [i, cache] : llvm::enumerate(own)) {
    Expected<std::vector<Transfer>> transfers =
        findTransfers(*cache, *other[i]);
    if (!transfers)
      return transfers.takeError();
    for (const Transfer &transfer : *transfers) {
      auto known = llvm::find_if(all, [&](const Transfer &entry) {
        return entry.from == transfer.from && entry.to == transfer.to &&
               entry.rows == transfer.rows;
      });
      if (known == all.end())
        all.push_back(transfer);
      else
        known->tokenBytes += transfer.tokenBytes;
    }
  }
  for (const Transfer &transfer : all)
    if (Error error = addTransfer(group, transfer, own))
      return error;
  return Error::success();
}

Error Joiner::addCaches() {
  using Key = std::pair<std::vector<std::string>, std::string>;
  llvm::SmallVector<Key> order;
  std::map<Key, SmallVector<const KeptCache *>> own, other;
  for (const KeptCache &cache : prefill->program.caches) {
    Key key = {cache.repeats, getGroupName(cache.name).str()};
    if (!own.count(key))
      order.push_back(key);
    own[key].push_back(&cache);
  }
  for (const KeptCache &cache : decode->program.caches)
    other[{cache.repeats, getGroupName(cache.name).str()}].push_back(&cache);
  // Forms of attention keep the same in another order.
  for (auto *groups : {&own, &other})
    for (auto &[key, caches] : *groups)
      llvm::sort(caches, [](const KeptCache *lhs, const KeptCache *rhs) {
        return lhs->name < rhs->name;
      });
  for (const Key &key : order) {
    auto isSame = [](const KeptCache *lhs, const KeptCache *rhs) {
      return lhs->name == rhs->name;
    };
    if (!llvm::equal(own[key], other[key], isSame))
      return makeError("decoding does not keep what prefill keeps for '" +
                       key.second + "'");
    if (Error error = addCaches(key.second, own[key], other[key]))
      return error;
  }
  return Error::success();
}

static chakra::CompOp findKernel(chakra::GraphOp graph, StringRef op) {
  chakra::CompOp found;
  graph.walk([&](chakra::CompOp comp) {
    if (!found && comp.getKernelAttr() && comp.getKernelAttr().getOp() == op)
      found = comp;
  });
  return found;
}

/// The first new token of each request, an i32, goes to who looks it up.
Error Joiner::addTokens() {
  const KeptCache &own = prefill->program.caches.front();
  const KeptCache &other = decode->program.caches.front();
  for (int64_t to = 0; to < decode->mesh.getNumRanks(); ++to) {
    if (!findKernel(decode->graphs[to], "embedding"))
      continue;
    Range rows = decode->getRange(other.dims[other.row], to);
    SmallVector<int64_t> beside;
    for (int64_t rank = 0; rank < decode->mesh.getNumRanks(); ++rank)
      if (decode->getRange(other.dims[other.row], rank) == rows &&
          findKernel(decode->graphs[rank], "embedding"))
        beside.push_back(rank);
    int64_t position = llvm::find(beside, to) - beside.begin();
    llvm::MapVector<Range, SmallVector<int64_t>> senders;
    for (int64_t from = 0; from < prefill->mesh.getNumRanks(); ++from) {
      Range has = prefill->getRange(own.dims[own.row], from);
      if (!isEmpty(intersect(rows, has)) &&
          findKernel(prefill->graphs[from], "sample"))
        senders[has].push_back(from);
    }
    for (auto &[has, ranks] : senders) {
      int64_t from = ranks[position * ranks.size() / beside.size()];
      Range shared = intersect(rows, has);
      int64_t bytes =
          4 * (shared.second - shared.first) * requests.countRequests();
      chakra::CompOp sample = findKernel(prefill->graphs[from], "sample");
      std::string target = std::to_string(decode->firstRank + to);
      builder.setInsertionPointAfter(sample);
      addSend(from, to, "first_tokens.to" + target, sample.getResult(0), bytes,
              nextChannel);
      Operation *first = findKernel(decode->graphs[to], "embedding");
      builder.setInsertionPoint(
          decode->graphs[to].getBody().front().findAncestorOpInBlock(*first));
      received[to].push_back(
          addReceive(from, to, "first_tokens.from" + std::to_string(from),
                     bytes, nextChannel++));
    }
  }
  return Error::success();
}

/// Decoding begins when everything is there.
void Joiner::wait() {
  for (auto [rank, values] : llvm::enumerate(received)) {
    chakra::CompOp first;
    decode->graphs[rank].walk([&](chakra::CompOp comp) {
      if (!first)
        first = comp;
    });
    if (first)
      first.getAfterMutable().append(values);
  }
}

static std::optional<MeshAttr> getMesh(ModuleOp module) {
  for (auto graph : module.getOps<chakra::GraphOp>())
    return graph.getMesh();
  return std::nullopt;
}

Error Joiner::run(const DisaggregatedProgram &first,
                  const DisaggregatedProgram &second) {
  prefill.emplace(first, "prefill", 0, *getMesh(first.module));
  int64_t numFirst = prefill->mesh.getNumRanks();
  decode.emplace(second, "decode", numFirst, *getMesh(second.module));
  int64_t numRanks = numFirst + decode->mesh.getNumRanks();
  received.resize(decode->mesh.getNumRanks());
  for (Side *side : {&*prefill, &*decode})
    if (Error error = addGraphs(*side, numRanks))
      return error;
  if (Error error = addCaches())
    return error;
  if (Error error = addTokens())
    return error;
  wait();
  return Error::success();
}

Error stg::joinPrograms(ModuleOp joined, const DisaggregatedProgram &prefill,
                        const DisaggregatedProgram &decode,
                        const Requests &requests, int64_t kvBlockSize,
                        const std::map<std::string, int64_t> &symbols) {
  return Joiner(joined, requests, kvBlockSize, symbols).run(prefill, decode);
}
