//===- PlaceTables.cpp - Tables of different sizes on different devices ---===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tables of different sizes are one dimension, and their mean rows another.
// Here each device gets its own: the number of tables, and the rows of all of
// them together, become expressions in the device's coordinate, in every type
// that has them; all costs, sizes and messages follow from types.
//
//===----------------------------------------------------------------------===//

#include "Coordinates.h"
#include "SymbolValues.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

namespace stg {
#define GEN_PASS_DEF_PLACETABLES
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
/// The dimensions of tables and of their mean rows.
using TableDims = std::pair<DimAttr, DimAttr>;

/// The tables of a lookup, and what divides them: null is nothing.
struct Tables {
  ArrayRef<int64_t> rows;
  ArrayAttr over, rowsOver;

  bool operator==(const Tables &other) const {
    return rows == other.rows && over == other.over &&
           rowsOver == other.rowsOver;
  }
};

/// What becomes of the tables of a lookup.
struct PlacedTables {
  Tables tables;
  DimAttr own;        ///< Tables of a device.
  DimAttr joined;     ///< Their rows.
  SymExpr mostTables; ///< Of a device, where that differs.
};

struct PlaceTables : stg::impl::PlaceTablesBase<PlaceTables> {
  using PlaceTablesBase::PlaceTablesBase;
  void runOnOperation() override;

private:
  template <typename OpTy>
  LogicalResult addLookup(OpTy op, SymTensorType table);
  LogicalResult checkSizes(Operation *op, TableDims dims, const Tables &tables,
                           int64_t numDevices, int64_t numParts);
  FailureOr<PlacedTables> getTables(Operation *op, TableDims dims,
                                    const Tables &tables);
  FailureOr<SmallVector<int64_t>> place(Operation *op, ArrayRef<int64_t> rows,
                                        int64_t numDevices);
  LogicalResult addTables(func::FuncOp function);
  void separateExchanges(func::FuncOp function);
  LogicalResult setExchanges(func::FuncOp function);
  void join(func::FuncOp function);

  SymBinding binding; ///< What is known of symbols.
  llvm::MapVector<TableDims, PlacedTables> placed;
  bool isDivided = false; ///< Somewhere tables are.
};
} // namespace

/// The largest table first, each to the device that has the fewest rows; of
/// equal ones the first.
static SmallVector<int64_t> placeLargestFirst(ArrayRef<int64_t> rows,
                                              int64_t numDevices) {
  SmallVector<int64_t> order(rows.size()), device(rows.size()),
      sums(numDevices);
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](int64_t lhs, int64_t rhs) {
    return std::pair(rows[rhs], lhs) < std::pair(rows[lhs], rhs);
  });
  for (int64_t table : order) {
    device[table] = llvm::min_element(sums) - sums.begin();
    sums[device[table]] += rows[table];
  }
  return device;
}

/// The device of each table.
FailureOr<SmallVector<int64_t>>
PlaceTables::place(Operation *op, ArrayRef<int64_t> rows, int64_t numDevices) {
  if (ranks.empty())
    return placeLargestFirst(rows, numDevices);
  if (ranks.size() != rows.size())
    return op->emitOpError("looks up ")
           << rows.size() << " tables, but the ranks of " << ranks.size()
           << " are given";
  for (int64_t rank : ranks)
    if (rank < 0 || rank >= numDevices)
      return op->emitOpError("has tables that ")
             << numDevices << " ranks divide, numbered from 0, but one is to "
             << "be on rank " << rank;
  return llvm::to_vector(*ranks);
}

/// Adds axes, whose sizes must be numbers. Returns the number of devices.
static FailureOr<int64_t> addAxes(Operation *op, ArrayAttr over,
                                  SmallVector<SizedAxis> &axes) {
  int64_t numDevices = 1;
  if (!over)
    return numDevices;
  MeshAttr mesh = MeshOp::lookup(op).getMesh();
  for (auto axis : over.getAsRange<StringAttr>()) {
    std::optional<int64_t> size = mesh.getAxisSize(axis).getInt64();
    if (!size)
      return op->emitOpError("has tables that are divided over axis '")
             << axis.getValue() << "', whose size is not a number";
    axes.push_back({axis, *size});
    numDevices *= *size;
  }
  return numDevices;
}

/// Holds what is listed against the dimensions, as far as these are numbers.
LogicalResult PlaceTables::checkSizes(Operation *op, TableDims dims,
                                      const Tables &tables, int64_t numDevices,
                                      int64_t numParts) {
  int64_t sum = 0;
  for (int64_t number : tables.rows)
    if (llvm::AddOverflow(sum, number, sum))
      return op->emitOpError("lists more rows than fit 64 bits");
  auto number = static_cast<int64_t>(tables.rows.size());
  SymExpr count = dims.first.getExtent() * numDevices,
          all = count * dims.second.getExtent() * numParts;
  if (int64_t known = evaluate(count, binding).value_or(number);
      known != number)
    return op->emitOpError("lists the rows of ")
           << number << " tables, but " << count.str() << " is " << known;
  if (int64_t known = evaluate(all, binding).value_or(sum); known != sum)
    return op->emitOpError("lists ")
           << sum << " rows in all, but " << all.str() << " is " << known;
  return success();
}

/// The rows that one of so many devices has of a table: as many as the others,
/// but for the last ones.
static int64_t getPart(int64_t rows, int64_t part, int64_t numParts) {
  int64_t size = llvm::divideCeil(rows, numParts);
  return std::clamp<int64_t>(rows - part * size, 0, size);
}

FailureOr<PlacedTables> PlaceTables::getTables(Operation *op, TableDims dims,
                                               const Tables &tables) {
  auto [own, mean] = dims;
  SmallVector<SizedAxis> axes;
  FailureOr<int64_t> numDevices = addAxes(op, tables.over, axes);
  size_t numAxes = axes.size();
  if (failed(numDevices))
    return failure();
  FailureOr<int64_t> numParts = addAxes(op, tables.rowsOver, axes);
  if (failed(numParts) ||
      failed(checkSizes(op, dims, tables, *numDevices, *numParts)))
    return failure();
  PlacedTables result{tables, own,
                      mean.withExtent(own.getExtent() * mean.getExtent()),
                      SymExpr()};
  if (axes.empty())
    return result;
  SmallVector<int64_t> devices(tables.rows.size());
  if (tables.over) {
    isDivided = true;
    FailureOr<SmallVector<int64_t>> placed =
        place(op, tables.rows, *numDevices);
    if (failed(placed))
      return failure();
    devices = *placed;
  }
  SmallVector<int64_t> counts(*numDevices), rows(*numDevices * *numParts);
  for (auto [number, device] : llvm::zip_equal(tables.rows, devices)) {
    ++counts[device];
    for (int64_t part = 0; part < *numParts; ++part)
      rows[device + part * *numDevices] += getPart(number, part, *numParts);
  }
  auto lookUp = [&](ArrayRef<SizedAxis> axes, ArrayRef<int64_t> numbers) {
    return lookUpByCoordinates(
        getOperation(), axes, llvm::map_to_vector(numbers, [&](int64_t number) {
          return SymExpr::get(&getContext(), number);
        }));
  };
  result.joined = mean.withExtent(lookUp(axes, rows));
  if (!llvm::all_equal(counts)) {
    result.own =
        own.withExtent(lookUp(ArrayRef(axes).take_front(numAxes), counts));
    result.mostTables = SymExpr::get(&getContext(), *llvm::max_element(counts));
  }
  return result;
}

/// Notes what becomes of the tables that `op` looks up.
template <typename OpTy>
LogicalResult PlaceTables::addLookup(OpTy op, SymTensorType table) {
  std::optional<ArrayRef<int64_t>> rows = op.getRows();
  if (!rows || table.getRank() != 3)
    return success();
  TableDims dims = {table.getDim(0), table.getDim(1)};
  Tables tables = {*rows, op.getOverAttr(), op.getRowsOverAttr()};
  auto refuse = [&] {
    return op.emitOpError("looks up tables whose dimensions have the names and "
                          "extents of other tables; name them differently");
  };
  if (auto it = placed.find(dims); it != placed.end())
    return it->second.tables == tables ? success() : refuse();
  FailureOr<PlacedTables> found = getTables(op, dims, tables);
  if (failed(found))
    return failure();
  for (auto &[other, known] : placed)
    if (other.first == dims.first && known.own != found->own)
      return refuse();
  placed.insert({dims, *found});
  return success();
}

LogicalResult PlaceTables::addTables(func::FuncOp function) {
  WalkResult walked = function.walk([&](Operation *op) {
    if (auto lookup = dyn_cast<EmbeddingOp>(op))
      return WalkResult(addLookup(lookup, lookup.getTable().getType()));
    if (auto gradient = dyn_cast<EmbeddingGradOp>(op))
      return WalkResult(addLookup(gradient, gradient.getResult().getType()));
    if (auto step = dyn_cast<RowAdagradOp>(op))
      return WalkResult(addLookup(step, step.getParam().getType()));
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

/// The number of the first of two dimensions of tables, if there are such.
static std::optional<unsigned>
findTables(SymTensorType type,
           const llvm::MapVector<TableDims, PlacedTables> &placed) {
  for (int64_t i = 0; i + 1 < type.getRank(); ++i)
    if (placed.contains({type.getDim(i), type.getDim(i + 1)}))
      return i;
  return std::nullopt;
}

/// Ids of several tables may be one dimension with the ids of a table: what is
/// exchanged is then as much as `NP*NT`. Here dimensions are told apart before
/// the exchange, so that tables are one that is exchanged.
void PlaceTables::separateExchanges(func::FuncOp function) {
  auto separate = [](RearrangeOp op, DimAttr tables, ArrayAttr over) {
    auto exchange = op.getInput().getDefiningOp<AllToAllOp>();
    ArrayRef<DimAttr> dims = op.getType().getDims();
    const auto *to = llvm::find(dims, tables);
    if (!exchange || exchange.getAxes() != over || to == dims.end())
      return false;
    DimAttr whole = exchange.getResult().getType().getDim(exchange.getFrom()),
            divided = exchange.getInput().getType().getDim(exchange.getFrom());
    const auto *from = llvm::find(dims, whole);
    if (from == dims.end())
      return false;
    SmallVector<DimAttr> before(dims);
    SymExpr group = whole.getExtent().exactDiv(divided.getExtent());
    before[from - dims.begin()] = divided;
    before[to - dims.begin()] = tables.withExtent(tables.getExtent() * group);
    OpBuilder builder(op);
    auto first = cast<RearrangeOp>(builder.clone(*op));
    first.getInputMutable().assign(exchange.getInput());
    first.getResult().setType(op.getType().withDims(before));
    auto second = AllToAllOp::create(builder, exchange.getLoc(), op.getType(),
                                     first.getResult(), from - dims.begin(),
                                     to - dims.begin(), exchange.getAxes(),
                                     SymExpr(), SymExpr());
    setOrigin(second, getOrigin(exchange));
    op.replaceAllUsesWith(second.getResult());
    op.erase();
    if (exchange->use_empty())
      exchange.erase();
    return true;
  };
  SmallVector<RearrangeOp> ops;
  function.walk([&](RearrangeOp op) { ops.push_back(op); });
  for (RearrangeOp op : ops)
    for (auto &[dims, tables] : placed)
      if (tables.tables.over && separate(op, dims.first, tables.tables.over))
        break;
}

/// Sets the sizes of the exchanges of ids and of what is found.
LogicalResult PlaceTables::setExchanges(func::FuncOp function) {
  WalkResult walked = function.walk([&](CollectiveOpInterface op) {
    for (Value operand : op->getOperands())
      if (!op.isFlat() && (op.getDividedBefore() || op.getDividedAfter()) &&
          findTables(cast<SymTensorType>(operand.getType()), placed)) {
        op->emitOpError("moves parts of tables of different sizes, which are "
                        "divided by rows or by table only");
        return WalkResult::interrupt();
      }
    for (auto &[dims, tables] : placed) {
      if (!tables.mostTables)
        continue;
      auto hasTables = [&, dim = dims.first](Value value) {
        return llvm::is_contained(
            cast<SymTensorType>(value.getType()).getDims(), dim);
      };
      bool goesIn = llvm::any_of(op->getOperands(), hasTables),
           comesOut = llvm::any_of(op->getResults(), hasTables);
      if (!goesIn && !comesOut)
        continue;
      auto exchange = dyn_cast<AllToAllOp>(*op);
      if (goesIn == comesOut && !exchange)
        continue; // Over other axes.
      if (!exchange || goesIn == comesOut ||
          exchange.getAxes() != tables.tables.over) {
        op->emitOpError("has values of the tables of a device, which are "
                        "exchanged for samples over ")
            << tables.tables.over
            << " and nothing else; divide the samples over the "
            << "axes that divide the tables";
        return WalkResult::interrupt();
      }
      SymTensorType type = goesIn ? exchange.getInput().getType()
                                  : exchange.getResult().getType();
      exchange.setPayloadAttr(
          type.getNumBytes().exactDiv(dims.first.getExtent()) *
          tables.mostTables);
    }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

/// Joins the dimensions of tables and rows in all types.
void PlaceTables::join(func::FuncOp function) {
  llvm::DenseMap<DimAttr, DimAttr> own;
  for (auto &[dims, tables] : placed)
    own[dims.first] = tables.own;
  // Where a parameter is divided is said by numbers of dimensions.
  function.walk([&](ParamOp op) {
    std::optional<unsigned> first = findTables(op.getType(), placed);
    LayoutAttr layout = op.getLayoutAttr();
    if (!first || !layout)
      return;
    SmallVector<AxisState> states;
    for (StringAttr axis : layout.getAxes()) {
      states.push_back(layout.getState(axis));
      if (states.back().kind == AxisState::Divided &&
          states.back().dim > static_cast<int64_t>(*first))
        --states.back().dim;
    }
    op.setLayoutAttr(LayoutAttr::get(&getContext(), layout.getAxes(), states));
  });
  function.walk([&](Operation *op) {
    // A table with all rows is a table like others.
    auto forget = [](auto lookup) {
      if (lookup.getOver())
        return;
      lookup.removeRowsAttr();
      lookup.removeRowsOverAttr();
    };
    llvm::TypeSwitch<Operation *>(op)
        .Case<EmbeddingOp, EmbeddingGradOp, RowAdagradOp>(forget);
  });
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](SymTensorType type) -> std::optional<Type> {
    SmallVector<DimAttr> dims(type.getDims());
    if (std::optional<unsigned> first = findTables(type, placed)) {
      dims[*first] = placed.lookup({dims[*first], dims[*first + 1]}).joined;
      dims.erase(dims.begin() + *first + 1);
      return type.withDims(dims);
    }
    for (DimAttr &dim : dims)
      if (DimAttr tables = own.lookup(dim))
        dim = tables;
    return type.withDims(dims);
  });
  function->walk([&](Operation *op) {
    replacer.replaceElementsIn(op, /*replaceAttrs=*/true,
                               /*replaceLocs=*/false, /*replaceTypes=*/true);
  });
}

void PlaceTables::runOnOperation() {
  FailureOr<SymBinding> known =
      collectSymbolValues(getOperation(), config, *values);
  if (failed(known))
    return signalPassFailure();
  binding = std::move(*known);
  isDivided = false;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    placed.clear();
    if (failed(addTables(function)))
      return signalPassFailure();
    separateExchanges(function);
    if (failed(setExchanges(function)))
      return signalPassFailure();
    if (!placed.empty())
      join(function);
  }
  if (ranks.empty() || isDivided)
    return;
  getOperation().emitError("ranks of tables are given, but no tables of "
                           "different sizes are divided; divide them with a "
                           "rule for their dimension, such as NT:dp+");
  signalPassFailure();
}
