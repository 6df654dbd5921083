//===- Flags.cpp - Checks of what the user asked for ----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "stg/Dialect/STG/IR/DimensionRule.h"
#include "stg/Schedule/PipelineSchedule.h"
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
    if (values.count(name.str()) || symbol.getCoordinate())
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

/// What divides `number`, the smallest first, and divides `related` or is a
/// multiple of it.
static std::string listDivisors(int64_t number, int64_t related = 1) {
  SmallVector<std::string> divisors;
  for (int64_t i = 1; i <= number && divisors.size() < 12; ++i)
    if (number % i == 0 && (related % i == 0 || i % related == 0))
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
  StringRef schedule = request.schedule;
  std::string known;
  bool isKnown = schedule.empty() || schedule.ends_with(".json");
  for (const auto &[name, description] : listSchedules()) {
    isKnown |= schedule == name;
    known += name + ", ";
  }
  if (!isKnown) {
    error = "--schedule " + request.schedule + ": expected " + known +
            "or a .json file";
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
  return success();
}

/// Whole experts are divided over tp, then cp, then a part of dp. Leaves that
/// part.
static LogicalResult divideWholeExperts(const CompileRequest &request,
                                        int64_t &experts, std::string &error) {
  std::string product = "--tp";
  int64_t others = 1;
  for (auto [degree, flag] : {std::pair<int64_t, const char *>(request.tp, ""),
                              {request.cp, " times --cp"}}) {
    if (request.ep == others)
      break;
    others *= degree;
    product += flag;
    if (request.ep % others) {
      error = "--etp 1: --ep " + std::to_string(request.ep) +
              " is not divisible by " + product + ", " +
              std::to_string(others) +
              "; experts are divided over tp, then cp, then a part of dp";
      return failure();
    }
  }
  experts = request.ep / others;
  return success();
}

/// What data parallelism is divided into: experts and replicas.
static LogicalResult checkDataParts(const CompileRequest &request,
                                    std::string &error) {
  int64_t experts = request.ep;
  std::string flags = "--ep " + std::to_string(request.ep);
  if (request.etp && *request.etp != 1 && *request.etp != request.tp) {
    error = "--etp " + std::to_string(*request.etp) +
            ": expected 1 or the degree of --tp, " + std::to_string(request.tp);
    return failure();
  }
  if (request.etp == 1) {
    if (request.tp > 1 && !request.sequenceParallel) {
      error = "--etp 1: whole experts are divided over tp, whose ranks must "
              "have different tokens; add --sequence-parallel";
      return failure();
    }
    if (failed(divideWholeExperts(request, experts, error)))
      return failure();
    if (experts != request.ep)
      flags += " / " + std::to_string(request.ep / experts);
  }
  if (request.dp % (experts * request.dpReplicate)) {
    error =
        "--dp " + std::to_string(request.dp) + " is not divisible by " + flags;
    if (request.dpReplicate > 1)
      error += " times --dp-replicate " + std::to_string(request.dpReplicate);
    error += "; expert parallelism and replicas are parts of dp";
    return failure();
  }
  return success();
}

/// Flags that say how layers are grouped for recomputation.
static LogicalResult checkRecomputeChoices(const CompileRequest &request,
                                           std::string &error) {
  bool isBlock = request.recomputeMethod == "block";
  std::string size = std::to_string(request.recomputeLayers);
  if (request.recompute != "none" && request.recompute != "selective" &&
      request.recompute != "full")
    error = "--recompute " + request.recompute +
            ": expected none, selective or full";
  else if (!isBlock && request.recomputeMethod != "uniform")
    error = "--recompute-method " + request.recomputeMethod +
            ": expected uniform or block";
  else if (request.recomputeLayers == 0)
    error = "--recompute-layers 0: expected an integer of at least 1";
  else if (request.recompute != "full" &&
           (isBlock || request.recomputeLayers > 1))
    error =
        (isBlock ? "--recompute-method block" : "--recompute-layers " + size) +
        ": says which layers are replayed whole; needs --recompute full";
  else if (isBlock && !request.layersPerStage.empty())
    error = "--recompute-method block: the first " + size +
            " layers of each stage can be replayed where all have equally "
            "many; leave out --layers-per-stage, or use uniform";
  return failure(!error.empty());
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
        {"--param-dtype", request.paramDtype},
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
  if (request.cpBalance != "zigzag" && request.cpBalance != "none")
    return fail("--cp-balance", request.cpBalance, "zigzag or none");
  if (request.zero > 3)
    return fail("--zero", std::to_string(request.zero), "0, 1, 2 or 3");
  if (request.fp8Gather && !(request.fp8 && request.zero == 3)) {
    error =
        "--fp8-gather: gathers the parameters that --fp8 casts; needs --fp8 "
        "and --zero 3";
    return failure();
  }
  if (request.zeroRoot != "kept" && request.zeroRoot != "units")
    return fail("--zero-root", request.zeroRoot, "kept or units");
  if (request.zero >= 2 && request.gradientReduction == "per-parameter")
    return fail(
        "--gradient-reduction", request.gradientReduction,
        "flat or per-layer with --zero 2 and 3, whose units are layers");
  if (request.bucketSize && request.gradientReduction == "per-parameter")
    return fail("--gradient-reduction", request.gradientReduction,
                "flat or per-layer with --bucket-size, because each parameter "
                "is reduced by itself");
  if (failed(checkRecomputeChoices(request, error)))
    return failure();
  static constexpr StringLiteral axes[] = {"tp", "cp", "dp", "pp"};
  SmallVector<StringRef> order;
  StringRef(request.rankOrder).split(order, '-');
  for (StringRef axis : order)
    if (!llvm::is_contained(axes, axis) || llvm::count(order, axis) != 1)
      return fail("--rank-order", request.rankOrder,
                  "tp, cp, dp and pp, each at most once, joined by '-'");
  if (failed(checkStages(request, error)))
    return failure();
  return checkDataParts(request, error);
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
  int64_t share = all / request.dp;
  if (all % request.dp != 0)
    error = "--dp " + std::to_string(request.dp) +
            " does not divide B = " + std::to_string(all) + ", from " +
            batch->second.source + "; degrees that do: " + listDivisors(all);
  else if (share % *request.microBatch != 0)
    error = flag + ": with --dp " + std::to_string(request.dp) +
            " it does not divide B = " + std::to_string(all) + ", from " +
            batch->second.source +
            "; micro-batches that do: " + listDivisors(share);
  else
    return share / *request.microBatch;
  return failure();
}

std::optional<Exact> stg::evaluate(SymExpr expr, const SymbolValues &symbols) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> values;
  for (auto &[name, value] : symbols) {
    names.push_back(StringAttr::get(expr.getContext(), name));
    values.push_back(value.value);
  }
  CompiledExprs::Result result = CompiledExprs(expr, names).evaluate(0, values);
  if (result.status != CompiledExprs::Status::Ok)
    return std::nullopt;
  return result.value;
}

LogicalResult stg::checkRecompute(func::FuncOp program,
                                  const CompileRequest &request,
                                  const SymbolValues &values,
                                  std::string &error) {
  int64_t size = request.recomputeLayers;
  bool isBlock = request.recomputeMethod == "block";
  if (!isBlock && size == 1)
    return success();
  std::string flag = "--recompute-layers " + std::to_string(size);
  int64_t stages = request.pp * request.virtualStages;
  if (!request.reshardAfterForward && (!isBlock || stages > 1)) {
    error = flag + ": with --reshard-after-forward=false, parameters of groups "
                   "of layers are not kept; use groups of one layer";
    return failure();
  }
  int64_t total = 0, common = 0;
  for (auto repeat : program.getBody().getOps<RepeatOp>()) {
    std::optional<Exact> count = evaluate(repeat.getCount(), values);
    if (!count)
      return success(); // Binding says why.
    total += static_cast<int64_t>(*count);
    common = std::gcd(common, static_cast<int64_t>(*count));
  }
  if (!request.layersPerStage.empty())
    for (int64_t layers : request.layersPerStage)
      common = std::gcd(common, layers);
  else if (total % stages == 0)
    common = std::gcd(common, total / stages);
  if (!isBlock && common % size != 0) {
    error =
        flag + ": groups of so many layers do not divide the " +
        std::to_string(total) + " layers" +
        (stages > 1 ? " of the model and those of each pipeline stage" : "") +
        "; sizes that do: " + listDivisors(common);
    return failure();
  }
  if (isBlock && total % stages == 0 && size >= total / stages) {
    error = flag + ": a stage has " + std::to_string(total / stages) +
            " layers; with --recompute-method block some of them are not "
            "replayed, replay all with uniform";
    return failure();
  }
  return success();
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
      request.cpBalance == "zigzag" &&
      tokens->second.value % (2 * request.cp) != 0) {
    error =
        flag + ": twice that does not divide S = " +
        std::to_string(tokens->second.value) + ", from " +
        tokens->second.source +
        ", into the 2 x cp chunks that balance a causal mask; degrees that "
        "do: " +
        (tokens->second.value % 2 ? "1"
                                  : listDivisors(tokens->second.value / 2)) +
        "; with --cp-balance none each rank has one chunk";
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

/// True if tensor parallelism may replicate the dimension: key/value heads, if
/// no rule of the user says how they are to be divided.
static bool mayReplicate(StringRef dim, const CompileRequest &request) {
  return dim == "K" && llvm::none_of(request.rules, [&](StringRef rule) {
           return rule.split(':').first.trim() == dim;
         });
}

int64_t stg::countReplicas(const CompileRequest &request,
                           const SymbolValues &values) {
  auto heads = values.find("K");
  if (heads == values.end() || !mayReplicate("K", request) ||
      request.tp % heads->second.value != 0)
    return 1;
  return request.tp / heads->second.value;
}

namespace {
/// A dimension and the degrees that it is divided by, by flag.
struct DividedDim {
  std::string name;
  const SymbolValue *value;
  SmallVector<std::pair<std::string, int64_t>> degrees;

  bool isDivisible(int64_t parts) const { return value->value % parts == 0; }
  /// Multiplies axes that are parts of one degree.
  void divideBy(StringRef flag, int64_t parts) {
    for (auto &[known, degree] : degrees)
      if (known == flag) {
        degree *= parts;
        return;
      }
    degrees.emplace_back(flag.str(), parts);
  }
};
} // namespace

/// The dimensions that the rules of the mesh name, as far as they have values.
static SmallVector<DividedDim> collectDivided(MeshOp mesh,
                                              const SymbolValues &values) {
  SmallVector<DividedDim> dims;
  std::string error;
  for (auto text : mesh.getRules()->getAsRange<StringAttr>()) {
    FailureOr<DimensionRule> rule =
        DimensionRule::parse(mesh.getContext(), text, error);
    assert(succeeded(rule) && "verified");
    StringRef axis = rule->axis;
    std::optional<int64_t> size = mesh.getMesh().getAxisSize(axis).getInt64();
    auto value = values.find(rule->dim.str());
    if (value == values.end() || !size)
      continue;
    auto it = llvm::find_if(
        dims, [&](const DividedDim &dim) { return dim.name == value->first; });
    if (it == dims.end())
      it = dims.insert(it, {value->first, &value->second, {}});
    it->divideBy(axis.starts_with("tp_") ? "tp" : axis, *size);
  }
  return dims;
}

/// Says which degrees can be given with the flag, which divides `dims`.
static std::string describeDegrees(ArrayRef<DividedDim> dims, StringRef flag,
                                   const CompileRequest &request) {
  int64_t common = 0, heads = 0; ///< Of what is not and what is replicated.
  for (const DividedDim &dim : dims) {
    if (llvm::none_of(dim.degrees,
                      [&](auto &degree) { return degree.first == flag; }))
      continue;
    bool isReplicated = flag == "tp" && mayReplicate(dim.name, request);
    int64_t &divisor = isReplicated ? heads : common;
    divisor = std::gcd(divisor, dim.value->value);
  }
  std::string text =
      "degrees that divide all that is sharded over " + flag.str();
  if (heads == 0)
    return text + ": " + listDivisors(common);
  text += ", or are multiples of K";
  return text + ": " + listDivisors(common ? common : heads, heads);
}

LogicalResult stg::checkDegrees(const CompileRequest &request, MeshOp mesh,
                                const SymbolValues &values,
                                std::string &error) {
  if (!mesh.getRules())
    return success();
  auto module = mesh->getParentOfType<ModuleOp>();
  SmallVector<DividedDim> dims = collectDivided(mesh, values);
  for (const DividedDim &dim : dims) {
    int64_t product = 1;
    std::string flags;
    for (auto &[flag, degree] : dim.degrees) {
      product *= degree;
      flags += (flags.empty() ? "--" : " and --") + flag + " " +
               std::to_string(degree);
      if (dim.isDivisible(product))
        continue;
      std::string extent = dim.name + " = " + std::to_string(dim.value->value);
      if (dim.isDivisible(degree)) {
        error = flags + " together do not divide " + extent + ", from " +
                dim.value->source;
        return failure();
      }
      error = "--" + flag + " " + std::to_string(degree) + " does not divide " +
              extent;
      auto symbol = module.lookupSymbol<SymbolOp>(dim.name);
      if (symbol && symbol.getDescription())
        error += " (" + symbol.getDescription()->str() + ")";
      error += ", from " + dim.value->source + "; " +
               describeDegrees(dims, flag, request);
      return failure();
    }
  }
  return success();
}
