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
#include "mlir/IR/IRMapping.h"
#include "mlir/Support/DebugStringHelper.h"
#include "stg/Dialect/Chakra/IR/ChakraOps.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Support/Error.h"
#include "stg/Support/Phases.h"
#include "stg/Trace/Program/RankSpace.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace stg;
using llvm::Error;
using llvm::Expected;
using stg::trace::RankSpace;

static constexpr llvm::StringLiteral kRankAxis = "rank";
/// Channels of stages are numbered from 0; these are far behind them.
static constexpr int64_t kFirstChannel = int64_t(1) << 40;

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

namespace {
using Range = std::pair<int64_t, int64_t>; ///< From, to.

/// The ranks of a program, by names of axes. Those that the mesh does not have
/// divide nothing.
class Mesh {
public:
  explicit Mesh(RankSpace space) : space(std::move(space)) {}

  int64_t getNumRanks() const { return space.getNumRanks(); }
  int64_t getCoordinate(int64_t rank, StringRef name) const {
    std::optional<unsigned> axis = space.findAxis(name);
    return axis ? space.getCoordinate(rank, *axis) : 0;
  }
  int64_t getSize(StringRef name) const {
    std::optional<unsigned> axis = space.findAxis(name);
    return axis ? space.getAxes()[*axis].size : 1;
  }
  int64_t getNeighbour(int64_t rank, StringRef name, int64_t shift) const {
    std::optional<unsigned> axis = space.findAxis(name);
    return axis ? space.getNeighbour(rank, *axis, shift) : rank;
  }
  /// The ranks that differ on these axes only, ascending.
  std::vector<int64_t> getMembers(int64_t rank, ArrayAttr names) const {
    trace::AxisMask mask = 0;
    for (StringAttr name : names.getAsRange<StringAttr>())
      if (std::optional<unsigned> axis = space.findAxis(name))
        mask |= trace::AxisMask(1) << *axis;
    return space.getMembers(mask, rank);
  }

private:
  RankSpace space;
};

/// A micro-batch of a rank.
struct Unit {
  int64_t rank;
  size_t turn;
  bool operator==(const Unit &other) const {
    return rank == other.rank && turn == other.turn;
  }
};

/// Where a rank executes what it does for a micro-batch.
using Turn = SmallVector<Block *, 1>;

/// One of the programs, rank by rank.
struct Side {
  explicit Side(const DisaggregatedProgram &program, StringRef name,
                int64_t firstRank, RankSpace space)
      : program(program), name(name), firstRank(firstRank),
        mesh(std::move(space)) {}

  const DisaggregatedProgram &program;
  StringRef name;
  int64_t firstRank;
  Mesh mesh;
  std::vector<chakra::GraphOp> graphs;  ///< By rank.
  std::vector<std::vector<Turn>> turns; ///< By rank and micro-batch.

  void forEachUnit(llvm::function_ref<void(Unit)> visit) const {
    for (auto [rank, own] : llvm::enumerate(turns))
      for (size_t turn = 0; turn != own.size(); ++turn)
        visit(Unit{static_cast<int64_t>(rank), turn});
  }
  const Turn &getTurn(Unit unit) const { return turns[unit.rank][unit.turn]; }
  /// The rows of a micro-batch: those of a rank follow one another.
  Range getRows(const KeptDim &dim, Unit unit) const {
    auto numTurns = static_cast<int64_t>(turns[unit.rank].size());
    int64_t index = getRange(dim, unit.rank).first / dim.local * numTurns +
                    static_cast<int64_t>(unit.turn);
    return {index * dim.local, (index + 1) * dim.local};
  }
  /// What tells the micro-batches of a rank apart in names.
  std::string getSuffix(Unit unit) const {
    return turns[unit.rank].size() > 1 ? ".mb" + std::to_string(unit.turn) : "";
  }

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

/// A micro-batch that keeps a cache: its rows, and some of the layers.
struct Holder {
  Unit unit;
  Place place;
  Range rows, layers;
  std::string stage; ///< In names, of a rank with several parts of them.
};

/// What one micro-batch sends to another one of each request: the caches of one
/// attention, in the repeats around it.
struct Transfer {
  Holder from, to;
  SmallVector<chakra::CompOp, 2> written; ///< Where it is sent from.
  Range rows;
  int64_t tokenBytes = 0; ///< Of a token of a row.
  TokenPart part;         ///< Which tokens.

  bool hasSameEnds(const Transfer &other) const {
    return from.unit == other.from.unit && to.unit == other.to.unit &&
           from.layers == other.from.layers && to.layers == other.to.layers &&
           rows == other.rows && part == other.part;
  }
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

/// The nodes that write a cache, or go on from a state: one of each stage that
/// a rank has.
static void findPlaces(Block &block, const KeptCache &cache,
                       SmallVectorImpl<Place> &places) {
  block.walk([&](chakra::CompOp comp) {
    chakra::KernelAttr kernel = comp.getKernelAttr();
    StringRef own = cache.isState() ? getGroupName(cache.name) : cache.name;
    if (!kernel || (kernel.getOp() == "cache") == cache.isState() ||
        comp.getName().rsplit('.').first != own ||
        comp.getUpdatedResults().empty())
      return;
    Place place{comp, {}};
    for (Operation *op = comp->getParentOp(); op != block.getParentOp();
         op = op->getParentOp())
      if (auto repeat = dyn_cast<chakra::RepeatOp>(op))
        place.repeats.insert(place.repeats.begin(), repeat);
    bool isSame =
        llvm::equal(place.repeats, cache.repeats,
                    [](chakra::RepeatOp repeat, const std::string &name) {
                      return repeat.getName() == name;
                    });
    auto isKnown = [&](const Place &known) {
      return known.repeats == place.repeats;
    };
    if (isSame && llvm::none_of(places, isKnown))
      places.push_back(std::move(place));
  });
}

/// The iterations of a repeat, by the numbers in names.
static Range getIterations(chakra::RepeatOp repeat) {
  int64_t first =
      repeat.getFirst() ? repeat.getFirst()->getInt64().value_or(0) : 0;
  return {first, first + repeat.getCount().getInt64().value_or(0)};
}

/// In the order of ranks, micro-batches and stages.
static std::vector<Holder> findHolders(const Side &side,
                                       const KeptCache &cache) {
  std::vector<Holder> holders;
  side.forEachUnit([&](Unit unit) {
    SmallVector<Place> places;
    for (Block *block : side.getTurn(unit))
      findPlaces(*block, cache, places);
    for (auto [stage, place] : llvm::enumerate(places)) {
      Range layers = place.repeats.empty()
                         ? Range(0, 1)
                         : getIterations(place.repeats.front());
      holders.push_back(
          {unit, std::move(place), side.getRows(cache.dims[cache.row], unit),
           layers, places.size() > 1 ? ".stage" + std::to_string(stage) : ""});
    }
  });
  return holders;
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
        kvBlockSize(kvBlockSize), symbols(symbols) {
    placePrompts();
  }

  Expected<int64_t> run(const DisaggregatedProgram &prefill,
                        const DisaggregatedProgram &decode);

private:
  void placePrompts();
  Error addGraphs(Side &side, int64_t numRanks);
  Error moveToRank(chakra::GraphOp graph, const Side &side, int64_t rank);
  Error moveCollective(chakra::CollOp op, const Side &side, int64_t rank);
  Error addCaches();
  Error addCaches(StringRef group, ArrayRef<const KeptCache *> own,
                  ArrayRef<const KeptCache *> other);
  Expected<std::vector<Transfer>> findTransfers(const KeptCache &own,
                                                const KeptCache &other);
  Error findSenders(const KeptCache &own, const KeptCache &other,
                    ArrayRef<Holder> holders, ArrayRef<Holder> beside,
                    size_t position, std::vector<Transfer> &transfers);
  Error addHeads(const KeptCache &own, const KeptCache &other,
                 ArrayRef<const Holder *> holders, size_t nearest,
                 Transfer transfer, std::vector<Transfer> &transfers);
  Range getHeads(const Side &side, const KeptCache &cache, int64_t rank,
                 int64_t &count);
  void addTransfer(StringRef group, const Transfer &transfer,
                   const KeptCache &cache);
  void addTransfer(StringRef group, const Transfer &transfer, StringRef suffix,
                   int64_t count, int64_t bytes);
  void addSends(const Transfer &transfer, StringRef name, int64_t count,
                int64_t bytes);
  void addReceives(const Transfer &transfer, StringRef name, int64_t count,
                   int64_t bytes);
  void addTokens();
  void addTokens(Range rows, Unit to, size_t position, size_t count);
  void wait();
  Operation *getStart(Unit unit) const;
  std::string getTarget(Unit unit) const;
  Block *findBlock(Unit unit, Operation *op) const;
  Value addReceive(int64_t from, int64_t to, StringRef name, int64_t bytes,
                   int64_t channel);
  void addSend(int64_t from, int64_t to, StringRef name, ValueRange inputs,
               int64_t bytes, int64_t channel);

  ModuleOp joined;
  OpBuilder builder;
  const Requests &requests;
  int64_t kvBlockSize;
  const std::map<std::string, int64_t> &symbols;
  std::vector<std::vector<Prompt>> prompts; ///< Of a row, by kind.
  std::optional<Side> prefill, decode;
  /// Of the decoding side, what the first node of a block waits for.
  llvm::MapVector<Block *, SmallVector<Value>> received;
  int64_t nextChannel = kFirstChannel;
};
} // namespace

/// The new tokens of requests follow one another in a row.
void Joiner::placePrompts() {
  int64_t begin = 0, row = requests.countNew();
  for (const Request &request : requests.list) {
    std::vector<Prompt> &own = prompts.emplace_back();
    for (int64_t i = 0; i < request.count; ++i) {
      own.push_back({request.cachedTokens, request.newTokens, begin, row});
      begin += own.back().fresh;
    }
  }
}

/// The ranks of the group, as coordinates on the only axis.
Error Joiner::moveCollective(chakra::CollOp op, const Side &side,
                             int64_t rank) {
  std::vector<int64_t> members = side.mesh.getMembers(rank, op.getOver());
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
  graph.walk([&](Operation *op) {
    if (auto coll = dyn_cast<chakra::CollOp>(op))
      collectives.push_back(coll);
    else if (auto message = dyn_cast<chakra::MessageOpInterface>(op))
      messages.push_back(message);
  });
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

namespace {
/// Executes the turns of a schedule one by one, each with functions of its own:
/// who gets what a turn keeps differs.
class TurnUnroller {
public:
  explicit TurnUnroller(chakra::ScheduleOp schedule)
      : schedule(schedule), builder(schedule), values(schedule.getCount()),
        turns(schedule.getCount()) {}

  std::vector<Turn> run();

private:
  void execute(Operation *op, uint32_t turn);
  void call(chakra::CallOp op, uint32_t turn);

  chakra::ScheduleOp schedule;
  OpBuilder builder;
  std::vector<IRMapping> values; ///< By turn.
  std::vector<Turn> turns;
  llvm::SetVector<Operation *> called;
};
} // namespace

void TurnUnroller::call(chakra::CallOp op, uint32_t turn) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<chakra::FuncOp>(
      schedule, op.getCalleeAttr());
  called.insert(callee);
  auto own = cast<chakra::FuncOp>(builder.clone(*callee));
  own.setSymName((callee.getSymName() + ".turn" + Twine(turn)).str());
  turns[turn].push_back(&own.getBody().front());
  auto copy = cast<chakra::CallOp>(builder.clone(*op, values[turn]));
  copy.setCalleeAttr(FlatSymbolRefAttr::get(own.getSymNameAttr()));
  std::string scope = (schedule.getName() + Twine(turn)).str();
  copy.setScope(
      copy.getScope().empty() ? scope : (scope + "." + copy.getScope()).str());
}

void TurnUnroller::execute(Operation *op, uint32_t turn) {
  if (auto own = dyn_cast<chakra::CallOp>(op))
    return call(own, turn);
  Operation *copy = builder.clone(*op, values[turn]);
  auto name = cast<chakra::NamedOpInterface>(copy).getNameAttr();
  copy->setAttr("name", builder.getStringAttr(schedule.getName() + Twine(turn) +
                                              "." + name.getValue()));
  auto renumber = [&](auto message) {
    if (IntegerAttr stride = message.getStrideAttr())
      message.setChannelAttr(
          builder.getI64IntegerAttr(static_cast<int64_t>(message.getChannel()) +
                                    stride.getInt() * int64_t(turn)));
    message.removeStrideAttr();
  };
  llvm::TypeSwitch<Operation *>(copy).Case<chakra::SendOp, chakra::RecvOp>(
      renumber);
}

std::vector<Turn> TurnUnroller::run() {
  SmallVector<Operation *> ops;
  Block &body = schedule.getBody().front();
  for (Operation &op : body)
    ops.push_back(&op);
  for (auto [turn, own] : llvm::enumerate(values))
    for (BlockArgument arg : body.getArguments())
      own.map(arg, schedule.getInput(arg.getArgNumber(), turn));
  schedule.getOrder().getOrder().forEach(
      [&](OrderEntry entry) { execute(ops[entry.step], entry.turn); });
  schedule->erase();
  for (Operation *function : called)
    function->erase();
  return std::move(turns);
}

/// What a rank executes for each micro-batch.
static std::vector<Turn> getTurns(chakra::GraphOp graph) {
  chakra::ScheduleOp found;
  graph.walk([&](chakra::ScheduleOp schedule) { found = schedule; });
  if (found)
    return TurnUnroller(found).run();
  return {{&graph.getBody().front()}};
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
    side.turns.push_back(getTurns(graph));
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
      builder.getStringAttr(kTransferPhase),
      SymExpr::get(builder.getContext(), bytes));
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
             builder.getStringAttr(kTransferPhase), /*payload=*/SymExpr())
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
  // What is needed by rows and layers, which several ranks may have.
  llvm::MapVector<std::pair<Range, Range>, std::vector<Holder>> needs;
  for (Holder &to : findHolders(*decode, other))
    needs[{to.rows, to.layers}].push_back(std::move(to));
  std::vector<Holder> holders = findHolders(*prefill, own);
  for (auto &[key, beside] : needs)
    for (size_t position = 0; position != beside.size(); ++position)
      if (Error error =
              findSenders(own, other, holders, beside, position, transfers))
        return std::move(error);
  return transfers;
}

/// Of what one of those that need the same gets.
Error Joiner::findSenders(const KeptCache &own, const KeptCache &other,
                          ArrayRef<Holder> holders, ArrayRef<Holder> beside,
                          size_t position, std::vector<Transfer> &transfers) {
  const Holder &to = beside[position];
  // By rows, by layers, and by the tokens of a rank.
  using Key = std::pair<std::pair<Range, Range>, int64_t>;
  llvm::MapVector<Key, SmallVector<const Holder *>> senders;
  TokenPart part;
  const KeptDim *tokens = own.isState() ? nullptr : &own.dims[own.token];
  if (tokens)
    part.parts = prefill->getExtent(*tokens) / tokens->local;
  for (const Holder &from : holders) {
    Range layers = intersect(from.layers, to.layers);
    if (isEmpty(intersect(from.rows, to.rows)) || isEmpty(layers))
      continue;
    assert(layers == from.layers && "a stage is cut where others begin");
    if (tokens)
      part.number =
          prefill->getRange(*tokens, from.unit.rank).first / tokens->local;
    senders[{{from.rows, layers}, part.number}].push_back(&from);
  }
  for (auto &[key, those] : senders) {
    Transfer transfer;
    transfer.to = to;
    transfer.rows = intersect(key.first.first, to.rows);
    transfer.part = {key.second, part.parts};
    if (Error error =
            addHeads(own, other, those, position * those.size() / beside.size(),
                     std::move(transfer), transfers))
      return error;
  }
  return Error::success();
}

/// Each head comes from the nearest one that has it.
Error Joiner::addHeads(const KeptCache &own, const KeptCache &other,
                       ArrayRef<const Holder *> holders, size_t nearest,
                       Transfer transfer, std::vector<Transfer> &transfers) {
  auto getDistance = [&](size_t i) {
    return std::max(i, nearest) - std::min(i, nearest);
  };
  if (own.elementType != other.elementType)
    return makeError(
        "'" + own.name + "' has elements of " + debugString(own.elementType) +
        " where it is sent from and of " + debugString(other.elementType) +
        " where it is needed; give both plans one --dtype or "
        "--kv-dtype");
  int64_t count = 1, otherCount = 1;
  Range heads = getHeads(*decode, other, transfer.to.unit.rank, otherCount);
  std::map<size_t, int64_t> headsFrom;
  for (int64_t head = heads.first; head < heads.second; ++head) {
    std::optional<size_t> source;
    for (auto [i, holder] : llvm::enumerate(holders)) {
      Range has = getHeads(*prefill, own, holder->unit.rank, count);
      if (head >= has.first && head < has.second &&
          (!source || getDistance(i) < getDistance(*source)))
        source = i;
    }
    if (!source || count != otherCount)
      return makeError("'" + own.name + "' has other heads in decoding");
    ++headsFrom[*source];
  }
  for (auto [from, number] : headsFrom) {
    transfer.from = *holders[from];
    Range has = getHeads(*prefill, own, transfer.from.unit.rank, count);
    int64_t headBytes = own.tokenBytes / (has.second - has.first);
    if (headBytes * (heads.second - heads.first) != other.tokenBytes)
      return makeError("a token of '" + own.name + "' has " +
                       Twine(headBytes * (heads.second - heads.first)) +
                       " bytes where it is sent from and " +
                       Twine(other.tokenBytes) +
                       " where it is needed; give both plans one "
                       "--kv-dtype");
    transfer.written = {transfer.from.place.comp};
    transfer.tokenBytes = headBytes * number;
    transfers.push_back(transfer);
  }
  return Error::success();
}

/// The first node.
static chakra::CompOp findFirst(Block &block) {
  chakra::CompOp first;
  block.walk([&](chakra::CompOp comp) {
    if (!first)
      first = comp;
  });
  return first;
}

/// Before all that a rank executes, also for other micro-batches: who sends may
/// wait for a receive.
Operation *Joiner::getStart(Unit unit) const {
  chakra::GraphOp graph = decode->graphs[unit.rank];
  Block &body = graph.getBody().front();
  return body.findAncestorOpInBlock(*findFirst(body));
}

/// Of a receive, which stands before all micro-batches, the one that waits for
/// it: behind the prefix of a micro-batch are its own nodes.
std::string Joiner::getTarget(Unit unit) const {
  std::string suffix = decode->getSuffix(unit);
  return suffix.empty() ? suffix : ".for" + suffix;
}

/// The block of a micro-batch that has the node.
Block *Joiner::findBlock(Unit unit, Operation *op) const {
  for (Block *block : decode->getTurn(unit))
    if (block->findAncestorOpInBlock(*op))
      return block;
  return nullptr;
}

/// Sends and receives for all layers and requests between two micro-batches. Of
/// requests of one kind that follow one another, and of which as much is sent,
/// they are one repeat.
void Joiner::addTransfer(StringRef group, const Transfer &transfer,
                         const KeptCache &cache) {
  struct Run {
    size_t first;
    int64_t count, bytes;
  };
  for (auto [kind, own] : llvm::enumerate(prompts)) {
    SmallVector<Run> runs;
    for (auto [i, prompt] : llvm::enumerate(own)) {
      int64_t tokens =
          cache.isState() ? 1
                          : cache.countSent(prompt, transfer.part, kvBlockSize);
      int64_t bytes = transfer.tokenBytes * tokens;
      if (runs.empty() || runs.back().bytes != bytes)
        runs.push_back({i, 0, bytes});
      ++runs.back().count;
    }
    std::string suffix =
        prompts.size() > 1 ? ".kind" + std::to_string(kind) : "";
    for (const Run &run : runs)
      // The next token may begin a chunk, and see nothing of what was before,
      // and a rank may have no token of a request.
      if (run.bytes > 0)
        addTransfer(group, transfer,
                    runs.size() == 1
                        ? suffix
                        : suffix + ".request" + std::to_string(run.first),
                    run.count, run.bytes);
  }
}

/// `bytes` of so many requests of each row.
void Joiner::addTransfer(StringRef group, const Transfer &transfer,
                         StringRef suffix, int64_t count, int64_t bytes) {
  std::string to = std::to_string(decode->firstRank + transfer.to.unit.rank) +
                   decode->getSuffix(transfer.to.unit);
  std::string from = std::to_string(transfer.from.unit.rank) +
                     prefill->getSuffix(transfer.from.unit) +
                     transfer.from.stage + getTarget(transfer.to.unit);
  count *= transfer.rows.second - transfer.rows.first;
  addSends(transfer, (group + ".to" + to + suffix).str(), count, bytes);
  addReceives(transfer, (group + ".from" + from + suffix).str(), count, bytes);
  ++nextChannel;
}

/// Sends for all requests, or of first tokens.
static bool isTransfer(Operation *op) {
  if (auto repeat = dyn_cast<chakra::RepeatOp>(op))
    op = &repeat.getBody().front().front();
  auto send = dyn_cast<chakra::SendOp>(op);
  return send && send.getPhase() == kTransferPhase;
}

/// Behind the node that writes last, and what other ranks are sent before.
void Joiner::addSends(const Transfer &transfer, StringRef name, int64_t count,
                      int64_t bytes) {
  SmallVector<Value> buffers;
  Operation *after = transfer.written.front();
  for (chakra::CompOp comp : transfer.written) {
    buffers.push_back(comp.getUpdatedResults().front());
    if (after->isBeforeInBlock(comp))
      after = comp;
  }
  while (after->getNextNode() && isTransfer(after->getNextNode()))
    after = after->getNextNode();
  builder.setInsertionPointAfter(after);
  auto repeat = chakra::RepeatOp::create(
      builder, joined.getLoc(), name, SymExpr::get(builder.getContext(), count),
      ValueRange(), ValueRange(), TypeRange());
  builder.setInsertionPointToStart(&repeat.getBody().front());
  addSend(transfer.from.unit.rank, transfer.to.unit.rank, "send", buffers,
          bytes, nextChannel);
  chakra::YieldOp::create(builder, joined.getLoc());
}

/// In the same repeats as they are sent in.
void Joiner::addReceives(const Transfer &transfer, StringRef name,
                         int64_t count, int64_t bytes) {
  SmallVector<std::tuple<std::string, SymExpr, SymExpr>> levels;
  for (chakra::RepeatOp repeat : transfer.from.place.repeats)
    levels.emplace_back(repeat.getName().str(), repeat.getCount(),
                        repeat.getFirst().value_or(SymExpr()));
  levels.emplace_back(name.str(), SymExpr::get(builder.getContext(), count),
                      SymExpr());
  SmallVector<Type> types = {chakra::TensorType::get(
      builder.getContext(), SymExpr::get(builder.getContext(), bytes),
      chakra::Category::Communication)};
  for (auto &[level, number, begin] : llvm::reverse(levels))
    types.push_back(chakra::StackType::get(types.back(), number));
  builder.setInsertionPoint(getStart(transfer.to.unit));
  SmallVector<chakra::RepeatOp> around;
  for (auto [depth, entry] : llvm::enumerate(levels)) {
    auto &[level, number, begin] = entry;
    auto repeat = chakra::RepeatOp::create(
        builder, joined.getLoc(), level, number, ValueRange(), ValueRange(),
        TypeRange(types[levels.size() - depth]), /*reverse=*/false, begin);
    around.push_back(repeat);
    builder.setInsertionPointToStart(&repeat.getBody().front());
  }
  Value inner = addReceive(transfer.from.unit.rank, transfer.to.unit.rank,
                           "recv", bytes, nextChannel);
  for (chakra::RepeatOp repeat : llvm::reverse(around)) {
    chakra::YieldOp::create(builder, joined.getLoc(), ValueRange(),
                            ValueRange(inner));
    inner = repeat.getResult(0);
    builder.setInsertionPointAfter(repeat);
  }
  received[findBlock(transfer.to.unit, transfer.to.place.comp)].push_back(
      inner);
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
        return entry.hasSameEnds(transfer);
      });
      if (known == all.end()) {
        all.push_back(transfer);
        continue;
      }
      known->tokenBytes += transfer.tokenBytes;
      known->written.append(transfer.written);
    }
  }
  for (const Transfer &transfer : all)
    addTransfer(group, transfer, *own.front());
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

static chakra::CompOp findKernel(const Turn &turn, StringRef op) {
  chakra::CompOp found;
  for (Block *block : turn)
    block->walk([&](chakra::CompOp comp) {
      if (!found && comp.getKernelAttr() && comp.getKernelAttr().getOp() == op)
        found = comp;
    });
  return found;
}

/// The first new token of each request, an i32, goes to who looks it up.
void Joiner::addTokens() {
  const KeptCache &other = decode->program.caches.front();
  const KeptDim &row = other.dims[other.row];
  llvm::MapVector<Range, SmallVector<Unit>> beside;
  decode->forEachUnit([&](Unit to) {
    if (findKernel(decode->getTurn(to), "embedding"))
      beside[decode->getRows(row, to)].push_back(to);
  });
  for (auto &[rows, units] : beside)
    for (auto [position, to] : llvm::enumerate(units))
      addTokens(rows, to, position, units.size());
}

/// Those of one micro-batch, which is one of `count` with these rows.
void Joiner::addTokens(Range rows, Unit to, size_t position, size_t count) {
  const KeptCache &own = prefill->program.caches.front();
  llvm::MapVector<Range, SmallVector<Unit>> senders;
  prefill->forEachUnit([&](Unit from) {
    Range has = prefill->getRows(own.dims[own.row], from);
    if (!isEmpty(intersect(rows, has)) &&
        findKernel(prefill->getTurn(from), "sample"))
      senders[has].push_back(from);
  });
  for (auto &[has, units] : senders) {
    Unit from = units[position * units.size() / count];
    Range shared = intersect(rows, has);
    int64_t bytes =
        4 * (shared.second - shared.first) * requests.countRequests();
    chakra::CompOp sample = findKernel(prefill->getTurn(from), "sample");
    std::string target =
        std::to_string(decode->firstRank + to.rank) + decode->getSuffix(to);
    builder.setInsertionPointAfter(sample);
    addSend(from.rank, to.rank, "first_tokens.to" + target, sample.getResult(0),
            bytes, nextChannel);
    Block *block = findBlock(to, findKernel(decode->getTurn(to), "embedding"));
    builder.setInsertionPoint(getStart(to));
    received[block].push_back(
        addReceive(from.rank, to.rank,
                   "first_tokens.from" + std::to_string(from.rank) +
                       prefill->getSuffix(from) + getTarget(to),
                   bytes, nextChannel++));
  }
}

/// Decoding begins when everything is there, that of a micro-batch with its
/// own.
void Joiner::wait() {
  for (auto &[block, values] : received)
    findFirst(*block).getAfterMutable().append(values);
}

/// The ranks of a program, whose axes have numbers.
static Expected<RankSpace> getRanks(ModuleOp module) {
  std::vector<std::pair<std::string, int64_t>> axes;
  MeshAttr mesh = (*module.getOps<chakra::GraphOp>().begin()).getMesh();
  for (auto [name, size] :
       llvm::zip_equal(mesh.getAxisNames(), mesh.getAxisSizes()))
    axes.emplace_back(name.str(), size.getInt64().value_or(1));
  if (std::optional<RankSpace> space = RankSpace::create(axes))
    return std::move(*space);
  return makeError("the mesh has more ranks than can be numbered");
}

Expected<int64_t> Joiner::run(const DisaggregatedProgram &first,
                              const DisaggregatedProgram &second) {
  Expected<RankSpace> firstRanks = getRanks(first.module);
  if (!firstRanks)
    return firstRanks.takeError();
  Expected<RankSpace> secondRanks = getRanks(second.module);
  if (!secondRanks)
    return secondRanks.takeError();
  prefill.emplace(first, "prefill", 0, std::move(*firstRanks));
  int64_t numFirst = prefill->mesh.getNumRanks();
  decode.emplace(second, "decode", numFirst, std::move(*secondRanks));
  int64_t numRanks = numFirst + decode->mesh.getNumRanks();
  for (Side *side : {&*prefill, &*decode})
    if (Error error = addGraphs(*side, numRanks))
      return std::move(error);
  if (Error error = addCaches())
    return std::move(error);
  addTokens();
  wait();
  return numFirst;
}

Expected<int64_t>
stg::joinPrograms(ModuleOp joined, const DisaggregatedProgram &prefill,
                  const DisaggregatedProgram &decode, const Requests &requests,
                  int64_t kvBlockSize,
                  const std::map<std::string, int64_t> &symbols) {
  return Joiner(joined, requests, kvBlockSize, symbols).run(prefill, decode);
}
