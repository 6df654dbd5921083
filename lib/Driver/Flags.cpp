//===- Flags.cpp - Checks of what the user asked for ----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "stg/Dialect/STG/IR/DimensionRule.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <numeric>

using namespace mlir;
using namespace stg;

/// Sets a symbol that must exist.
static LogicalResult setSymbol(ModuleOp module, StringRef name, int64_t value,
                               std::string source, SymbolValues &values,
                               std::string &error) {
  if (!module.lookupSymbol<SymbolOp>(name)) {
    SmallVector<StringRef> names;
    for (auto symbol : module.getOps<SymbolOp>())
      names.push_back(symbol.getSymName());
    error = source + ": the model has no symbol '" + name.str() +
            "'; its symbols are " + llvm::join(names, ", ");
    return failure();
  }
  if (value < 1) {
    error = source + ": expected an integer of at least 1";
    return failure();
  }
  values[name.str()] = {value, std::move(source)};
  return success();
}

static LogicalResult setFromFlags(ModuleOp module,
                                  const CompileRequest &request,
                                  SymbolValues &values, std::string &error) {
  if (request.batch &&
      failed(setSymbol(module, "B", *request.batch,
                       "--batch " + std::to_string(*request.batch), values,
                       error)))
    return failure();
  if (request.seq &&
      failed(setSymbol(module, "S", *request.seq,
                       "--seq " + std::to_string(*request.seq), values, error)))
    return failure();
  for (const std::string &assignment : request.set) {
    auto [name, text] = StringRef(assignment).split('=');
    int64_t value = 0;
    if (name.empty() || text.getAsInteger(10, value)) {
      error = "--set " + assignment +
              ": expected SYMBOL=VALUE with an integer value";
      return failure();
    }
    if (failed(setSymbol(module, name, value, "--set " + assignment, values,
                         error)))
      return failure();
  }
  return success();
}

/// Symbols that are declared with a value, which may depend on others.
static LogicalResult setDefaults(ModuleOp module, SymbolValues &values,
                                 std::string &error) {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto symbol : module.getOps<SymbolOp>()) {
      if (!symbol.getValue() || values.count(symbol.getSymName().str()))
        continue;
      SymBinding binding;
      for (auto &[name, value] : values)
        binding[StringAttr::get(symbol.getContext(), name)] =
            SymExpr::get(symbol.getContext(), value.value);
      SymExpr result = symbol.getValue()->substitute(binding);
      if (!result || !result.isConstant())
        continue;
      std::optional<int64_t> value = result.getInt64();
      if (!value || *value < 1) {
        error = "symbol '" + symbol.getSymName().str() +
                "' = " + symbol.getValue()->str() + " is " + result.str() +
                ", expected an integer of at least 1";
        return failure();
      }
      values[symbol.getSymName().str()] = {*value, "the model"};
      changed = true;
    }
  }
  return success();
}

FailureOr<SymbolValues> stg::collectSymbols(const Model &model,
                                            const CompileRequest &request,
                                            std::string &error) {
  ModuleOp module = *model.module;
  SymbolValues values;
  if (ConfigOp config = model.config)
    for (NamedAttribute entry : config.getBindings())
      values[entry.getName().str()] = {
          cast<IntegerAttr>(entry.getValue()).getInt(),
          "configuration " + config.getSymName().str()};
  if (failed(setFromFlags(module, request, values, error)) ||
      failed(setDefaults(module, values, error)))
    return failure();
  for (auto symbol : module.getOps<SymbolOp>()) {
    StringRef name = symbol.getSymName();
    if (values.count(name.str()))
      continue;
    error = "symbol '" + name.str() + "'";
    if (symbol.getDescription())
      error += " (" + symbol.getDescription()->str() + ")";
    error += " has no value; give it with ";
    error += name == "B" ? "--batch" : name == "S" ? "--seq" : "";
    error += name == "B" || name == "S" ? " or " : "";
    error += "--set " + name.str() + "=VALUE";
    return failure();
  }
  return values;
}

/// What divides `number`, the smallest first.
static std::string listDivisors(int64_t number) {
  SmallVector<std::string> divisors;
  for (int64_t i = 1; i <= number && divisors.size() < 12; ++i)
    if (number % i == 0)
      divisors.push_back(std::to_string(i));
  return llvm::join(divisors, ", ");
}

/// Flags that say how a pipeline is cut and ordered.
static LogicalResult checkStages(const CompileRequest &request,
                                 std::string &error) {
  if (request.pp == 1 && request.virtualStages > 1) {
    error = "--virtual-stages " + std::to_string(request.virtualStages) +
            ": needs pipeline stages; give their number with --pp";
    return failure();
  }
  int64_t stages = request.pp * request.virtualStages;
  int64_t listed = request.layersPerStage.size();
  if (listed && listed != stages) {
    error = "--layers-per-stage lists " + std::to_string(listed) +
            " stages, expected " + std::to_string(stages) +
            ", one for each of --pp times --virtual-stages";
    return failure();
  }
  if (request.dp % (request.ep * request.dpReplicate)) {
    error = "--dp " + std::to_string(request.dp) +
            " is not divisible by --ep " + std::to_string(request.ep);
    if (request.dpReplicate > 1)
      error += " times --dp-replicate " + std::to_string(request.dpReplicate);
    error += ", which are parts of it";
    return failure();
  }
  return success();
}

LogicalResult stg::checkChoices(MLIRContext &context,
                                const CompileRequest &request,
                                std::string &error) {
  auto fail = [&](StringRef flag, StringRef value, StringRef expected) {
    error = (flag + " " + value + ": expected " + expected).str();
    return failure();
  };
  for (auto [flag, value] :
       {std::pair<StringRef, StringRef>("--dtype", request.dtype),
        {"--grad-dtype", request.gradDtype},
        {"--optimizer-dtype", request.optimizerDtype}})
    if (!value.empty() && !getFloatType(&context, value))
      return fail(flag, value, "bf16, f16, f32, f64, f8E4M3FN or f8E5M2");
  if (request.attentionCount != "executed" && request.attentionCount != "full")
    return fail("--attention-count", request.attentionCount,
                "executed or full");
  if (request.gradientReduction != "flat" &&
      request.gradientReduction != "per-parameter" &&
      request.gradientReduction != "per-layer")
    return fail("--gradient-reduction", request.gradientReduction,
                "flat, per-parameter or per-layer");
  if (request.cpCommType != "all_gather" && request.cpCommType != "a2a" &&
      request.cpCommType != "p2p")
    return fail("--cp-comm-type", request.cpCommType, "all_gather, a2a or p2p");
  if (request.zero > 3)
    return fail("--zero", std::to_string(request.zero), "0, 1, 2 or 3");
  if (request.zeroRoot != "kept" && request.zeroRoot != "units")
    return fail("--zero-root", request.zeroRoot, "kept or units");
  if (request.zero >= 2 && request.gradientReduction == "per-parameter")
    return fail(
        "--gradient-reduction", request.gradientReduction,
        "flat or per-layer with --zero 2 and 3, whose units are layers");
  if (request.recompute != "none" && request.recompute != "selective" &&
      request.recompute != "full")
    return fail("--recompute", request.recompute, "none, selective or full");
  static constexpr StringLiteral axes[] = {"tp", "cp", "dp", "pp"};
  SmallVector<StringRef> order;
  StringRef(request.rankOrder).split(order, '-');
  for (StringRef axis : order)
    if (!llvm::is_contained(axes, axis) || llvm::count(order, axis) != 1)
      return fail("--rank-order", request.rankOrder,
                  "tp, cp, dp and pp, each at most once, joined by '-'");
  return checkStages(request, error);
}

FailureOr<int64_t> stg::countMicroBatches(const CompileRequest &request,
                                          const SymbolValues &values,
                                          std::string &error) {
  if (!request.microBatch)
    return 1;
  std::string flag = "--micro-batch " + std::to_string(*request.microBatch);
  auto batch = values.find("B");
  if (batch == values.end()) {
    error = flag + ": the model has no symbol 'B', the batch";
    return failure();
  }
  int64_t all = batch->second.value;
  if (all % request.dp == 0 && (all / request.dp) % *request.microBatch == 0)
    return all / request.dp / *request.microBatch;
  error = flag + ": with --dp " + std::to_string(request.dp) +
          " it does not divide B = " + std::to_string(all) + ", from " +
          batch->second.source;
  if (all % request.dp == 0)
    error += "; micro-batches that do: " + listDivisors(all / request.dp);
  return failure();
}

LogicalResult stg::makeFolder(const CompileRequest &request,
                              std::string &error) {
  if (request.dryRun)
    return success();
  const std::string &folder = request.exportOptions.files.directory;
  std::error_code code = llvm::sys::fs::create_directories(
      folder, /*IgnoreExisting=*/true, llvm::sys::fs::all_all);
  if (!code)
    return success();
  error = "-o " + folder + ": cannot create the folder: " + code.message();
  return failure();
}

LogicalResult stg::checkContext(const CompileRequest &request,
                                const SymbolValues &values,
                                std::string &error) {
  if (request.cp == 1)
    return success();
  std::string flag = "--cp " + std::to_string(request.cp);
  auto tokens = values.find("S");
  // Each rank has one chunk from the start and one from the end.
  if (tokens != values.end() && request.attentionCount == "executed" &&
      tokens->second.value % (2 * request.cp) != 0) {
    error = flag + ": twice that does not divide S = " +
            std::to_string(tokens->second.value) + ", from " +
            tokens->second.source +
            ", into the 2 x cp chunks that balance a causal mask";
    return failure();
  }
  auto heads = values.find("K");
  if (heads == values.end())
    heads = values.find("H");
  int64_t parts = request.tp * request.cp;
  if (request.cpCommType == "a2a" && heads != values.end() &&
      heads->second.value % parts != 0) {
    error = "--cp-comm-type a2a: --tp times --cp is " + std::to_string(parts) +
            ", which does not divide " + heads->first + " = " +
            std::to_string(heads->second.value) +
            ", the heads that take the place of tokens; use all_gather or p2p, "
            "or degrees whose product is one of " +
            listDivisors(heads->second.value);
    return failure();
  }
  return success();
}

LogicalResult stg::checkDegrees(MeshOp mesh, const SymbolValues &values,
                                std::string &error) {
  auto rules = mesh.getRules();
  auto module = mesh->getParentOfType<ModuleOp>();
  if (!rules)
    return success();
  std::map<std::string, int64_t> common; ///< Of all extents, by axis.
  SmallVector<std::pair<StringRef, StringRef>> parsed;
  for (auto text : rules->getAsRange<StringAttr>()) {
    FailureOr<DimensionRule> rule =
        DimensionRule::parse(mesh.getContext(), text, error);
    if (failed(rule))
      return failure();
    StringRef dim = rule->dim, axis = rule->axis;
    auto it = values.find(dim.str());
    if (it == values.end())
      continue;
    int64_t &divisor = common[axis.str()];
    divisor = std::gcd(divisor, it->second.value);
    parsed.emplace_back(dim, axis);
  }
  struct Sharded {
    int64_t product = 1; ///< Of the degrees.
    std::string flags;
  };
  std::map<std::string, Sharded> dims; ///< What shards each dimension.
  for (auto [dim, axis] : parsed) {
    std::optional<int64_t> degree = mesh.getMesh().getAxisSize(axis).getInt64();
    int64_t extent = values.at(dim.str()).value;
    if (!degree)
      continue;
    Sharded &sharded = dims[dim.str()];
    sharded.product *= *degree;
    sharded.flags += (sharded.flags.empty() ? "--" : " and --") + axis.str() +
                     " " + std::to_string(*degree);
    if (extent % sharded.product == 0)
      continue;
    if (extent % *degree == 0) {
      error = sharded.flags + " together do not divide " + dim.str() + " = " +
              std::to_string(extent) + ", from " + values.at(dim.str()).source;
      return failure();
    }
    auto symbol = module.lookupSymbol<SymbolOp>(dim);
    error = "--" + axis.str() + " " + std::to_string(*degree) +
            " does not divide " + dim.str() + " = " + std::to_string(extent);
    if (symbol && symbol.getDescription())
      error += " (" + symbol.getDescription()->str() + ")";
    error += ", from " + values.at(dim.str()).source +
             "; degrees that divide all " + "that is sharded over " +
             axis.str() + ": " + listDivisors(common[axis.str()]);
    return failure();
  }
  return success();
}
