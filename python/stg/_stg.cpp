//===- _stg.cpp - The C interface as a module of Python -------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Objects of C as objects of Python, and nothing else: what is comfortable is
// written in Python, in the files beside. An error of C becomes the exception
// `stg.Error`. Long calls let other threads of Python run.
//
//===----------------------------------------------------------------------===//

#include "stg-c/Models.h"
#include "stg-c/Search.h"
#include "stg-c/Trace.h"
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <string>
#include <thread>
#include <vector>

namespace py = pybind11;

namespace {
template <auto Destroy> struct Destroyer {
  template <typename T> void operator()(T *object) const { Destroy(object); }
};
template <typename T, auto Destroy>
using Owner = std::unique_ptr<T, Destroyer<Destroy>>;

/// A text as C has it, which ends at its first null character: Python's own
/// functions refuse others in these words, too.
struct CText : std::string {};

using Error = Owner<StgError, stgErrorDestroy>;
using Strategy = Owner<StgStrategy, stgStrategyDestroy>;

py::str toString(StgText text) {
  return py::reinterpret_steal<py::str>(PyUnicode_DecodeUTF8(
      text.data, static_cast<Py_ssize_t>(text.size), "replace"));
}

/// Python's numbers have any size.
py::object toInt(StgExact value) {
  py::object low =
      py::reinterpret_steal<py::object>(PyLong_FromUnsignedLongLong(value.low));
  if (value.high == 0)
    return low;
  return (py::int_(value.high) << py::int_(64)) + low;
}

py::tuple toTuple(const StgMessage &message) {
  static const char *const names[] = {"error", "warning", "remark", "note"};
  return py::make_tuple(names[message.severity], toString(message.text),
                        toString(message.file), message.line, message.column);
}

/// Raises stg.Error with the messages.
void check(StgError *raw) {
  if (!raw)
    return;
  Error error(raw);
  py::list messages;
  for (size_t i = 0; i < stgErrorGetNumMessages(raw); ++i)
    messages.append(toTuple(stgErrorGetMessage(raw, i)));
  const char *name = stgErrorIsInterruption(raw) ? "Interrupted" : "Error";
  py::object type = py::module_::import("stg.errors").attr(name);
  py::object exception = type(messages);
  PyErr_SetObject(type.ptr(), exception.ptr());
  throw py::error_already_set();
}

/// What `Compilation` and its parts share.
struct Compilation {
  Owner<StgCompilation, stgCompilationDestroy> handle;
};

/// A bundle, opened from a file or kept by a compilation.
struct Bundle {
  std::shared_ptr<const StgTraceBundle> handle;

  void checkRank(int64_t rank) const {
    int64_t count = stgTraceBundleGetNumRanks(handle.get());
    if (rank < 0 || rank >= count)
      throw py::index_error("rank " + std::to_string(rank) + " of " +
                            std::to_string(count));
  }
};

/// Iterates over nodes of a rank.
struct Nodes {
  std::shared_ptr<const StgTraceBundle> bundle;
  Owner<StgNodeStream, stgNodeStreamClose> stream;
};

/// One column for each attribute of nodes, of equal length.
struct Columns {
  std::vector<int32_t> type;
  std::vector<int64_t> numOps, tensorSize, commSize, payloadBytes, collective,
      group, source, target, tag;
  std::vector<std::string> names;
};
} // namespace

namespace pybind11::detail {
template <> struct type_caster<CText> {
  PYBIND11_TYPE_CASTER(CText, const_name("str"));

  bool load(handle source, bool convert) {
    make_caster<std::string> text;
    if (!text.load(source, convert))
      return false;
    value = {cast_op<std::string &&>(std::move(text))};
    if (value.find('\0') != std::string::npos)
      throw value_error("embedded null character");
    return true;
  }
};
} // namespace pybind11::detail

//===----------------------------------------------------------------------===//
// Interruption
//===----------------------------------------------------------------------===//

namespace {
/// Stops calls of other threads.
struct Canceller {
  std::atomic<bool> wasCancelled = false;
  /// Stops them, too; may be null.
  std::shared_ptr<Canceller> outer;

  bool isCancelled() const {
    return wasCancelled || (outer && outer->isCancelled());
  }
};

/// Asks, while a call runs, whether it goes on: a canceller always, and Python
/// now and then, as that may have to wait for other threads. Progress is told
/// of the first step at once. Signals are handled by the thread that has called
/// (the main one), whose turn others do not take.
class Watch {
public:
  Watch(std::shared_ptr<Canceller> canceller, py::object progress)
      : canceller(std::move(canceller)), progress(std::move(progress)) {
    if (this->progress.is_none())
      nextOfCaller = std::chrono::steady_clock::now() + kPeriod;
  }

  static bool goOn(StgText step, void *data) {
    return static_cast<Watch *>(data)->goOn(step);
  }
  /// Raises what Python said; called when the call has ended.
  void rethrow() {
    if (error)
      throw *error;
  }

private:
  static constexpr std::chrono::milliseconds kPeriod{50};

  bool goOn(StgText step) {
    if (canceller && canceller->isCancelled())
      return false;
    bool isCaller = std::this_thread::get_id() == caller;
    if (!isCaller && progress.is_none())
      return true;
    std::unique_lock<std::mutex> lock(mutex, std::try_to_lock);
    auto now = std::chrono::steady_clock::now();
    auto &turn = isCaller ? nextOfCaller : next;
    if (!lock || now < turn)
      return true;
    turn = now + kPeriod;
    return ask(step);
  }

  bool ask(StgText step) {
    py::gil_scoped_acquire python;
    try {
      // Runs handlers of signals, if this is the main thread.
      if (PyErr_CheckSignals() != 0)
        throw py::error_already_set();
      if (!progress.is_none())
        progress(toString(step));
    } catch (py::error_already_set &raised) {
      error = std::make_unique<py::error_already_set>(raised);
      return false;
    }
    return true;
  }

  std::shared_ptr<Canceller> canceller;
  py::object progress;
  std::mutex mutex;
  const std::thread::id caller = std::this_thread::get_id();
  /// When Python is asked again.
  std::chrono::steady_clock::time_point nextOfCaller, next;
  std::unique_ptr<py::error_already_set> error;
};
} // namespace

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

static Strategy makeStrategy(const CText &json) {
  Strategy strategy(stgStrategyCreate());
  if (!json.empty())
    check(stgStrategyReadJSON(strategy.get(), json.c_str(), "strategy"));
  return strategy;
}

static const char *orNull(const std::optional<CText> &text) {
  return text ? text->c_str() : nullptr;
}

static std::vector<const char *> toPointers(const std::vector<CText> &texts) {
  std::vector<const char *> pointers;
  for (const CText &text : texts)
    pointers.push_back(text.c_str());
  return pointers;
}

namespace {
/// A request, and all that it points to.
struct Request {
  Request(const py::dict &options);
  Request(const Request &) = delete;
  Request &operator=(const Request &) = delete;

  CText model;
  std::optional<CText> text, config, program, folder, prefix, timeline;
  std::vector<CText> folders;
  std::vector<const char *> folderNames;
  Strategy strategy;
  std::unique_ptr<Watch> watch;
  StgCompileRequest request = {};
};
} // namespace

/// What an option of the type is, in the words of messages.
template <typename T> static const char *getExpectation() {
  if (std::is_same_v<T, bool>)
    return "True or False";
  if (std::is_integral_v<T>)
    return "an integer";
  if (std::is_floating_point_v<T>)
    return "a number";
  return "a text";
}

template <typename T>
static T getOption(const py::dict &options, const char *name, T otherwise) {
  if (!options.contains(name))
    return otherwise;
  py::object value = options[name];
  try {
    return value.cast<T>();
  } catch (py::cast_error &) {
    std::string text =
        std::string(name) + "=" + py::repr(value).cast<std::string>();
    // Integers, and the pairs of them that Python has made, have C's sizes.
    bool isOfType = std::is_integral_v<T> && !std::is_same_v<T, bool>
                        ? py::isinstance<py::int_>(value)
                        : py::isinstance<py::tuple>(value);
    if (isOfType)
      throw py::value_error(text + ": it has no such value");
    throw py::type_error(text + ": expected " + getExpectation<T>());
  }
}

Request::Request(const py::dict &options)
    : model(getOption<CText>(options, "model", {})) {
  using Text = std::optional<CText>;
  text = getOption<Text>(options, "text", {});
  config = getOption<Text>(options, "config", {});
  program = getOption<Text>(options, "program", {});
  folder = getOption<Text>(options, "folder", {});
  prefix = getOption<Text>(options, "prefix", {});
  timeline = getOption<Text>(options, "memory_timeline", {});
  folders = getOption<std::vector<CText>>(options, "model_folders", {});
  folderNames = toPointers(folders);
  strategy = makeStrategy(getOption<CText>(options, "strategy", {}));
  watch = std::make_unique<Watch>(
      getOption<std::shared_ptr<Canceller>>(options, "canceller", nullptr),
      getOption<py::object>(options, "progress", py::none()));
  auto ranks = getOption<std::pair<int64_t, int64_t>>(options, "ranks", {0, 0});
  request.model = model.c_str();
  request.modelText = orNull(text);
  request.config = orNull(config);
  request.program = orNull(program);
  request.strategy = strategy.get();
  request.modelFolders = folderNames.data();
  request.numModelFolders = folderNames.size();
  request.output = static_cast<StgOutput>(getOption(options, "output", 0));
  request.folder = orNull(folder);
  request.prefix = orNull(prefix);
  request.firstRank = ranks.first;
  request.endRank = ranks.second;
  request.numThreads = getOption(options, "threads", 0u);
  request.resume = getOption(options, "resume", false);
  request.memoryTimeline = orNull(timeline);
  request.ignoreQuantization = getOption(options, "ignore_quantization", false);
  request.goOn = Watch::goOn;
  request.goOnData = watch.get();
}

static std::shared_ptr<Compilation> compile(const py::dict &options) {
  Request request(options);
  auto result = std::make_shared<Compilation>();
  StgCompilation *compilation = nullptr;
  Error error;
  {
    py::gil_scoped_release others;
    error.reset(stgCompile(&request.request, &compilation));
  }
  result->handle.reset(compilation);
  request.watch->rethrow();
  check(error.release());
  return result;
}

//===----------------------------------------------------------------------===//
// Estimates
//===----------------------------------------------------------------------===//

namespace {
/// A machine, and all that it points to.
struct MachineRequest {
  MachineRequest(CText name, std::vector<CText> changes)
      : name(std::move(name)), changes(std::move(changes)),
        texts(toPointers(this->changes)) {
    machine = {this->name.c_str(), texts.data(), texts.size()};
  }
  MachineRequest(const MachineRequest &) = delete;
  MachineRequest &operator=(const MachineRequest &) = delete;

  CText name;
  std::vector<CText> changes;
  std::vector<const char *> texts;
  StgMachine machine;
};
} // namespace

static py::object orNone(bool given, double value) {
  return given ? py::object(py::float_(value)) : py::object(py::none());
}

/// In the order of the fields of stg.Estimate.
static py::dict toDict(StgEstimate *raw) {
  Owner<StgEstimate, stgEstimateDestroy> estimate(raw);
  const StgEstimateTotals *totals = stgEstimateGetTotals(raw);
  py::list parts, classes, messages;
  for (size_t i = 0; i < totals->numParts; ++i)
    parts.append(py::make_tuple(toString(totals->parts[i].name),
                                totals->parts[i].seconds));
  for (size_t i = 0; i < totals->numClasses; ++i)
    classes.append(py::make_tuple(toString(totals->classes[i].name),
                                  totals->classes[i].numRanks,
                                  totals->classes[i].endSeconds));
  for (size_t i = 0; i < stgEstimateGetNumMessages(raw); ++i)
    messages.append(toTuple(stgEstimateGetMessage(raw, i)));
  py::dict result;
  result["step_seconds"] = totals->stepSeconds;
  result["machine"] = toString(totals->machine);
  result["num_ranks"] = totals->numRanks;
  result["model_use"] = totals->modelUse;
  result["hardware_use"] = totals->hardwareUse;
  result["interval_seconds"] =
      orNone(totals->intervalSeconds > 0, totals->intervalSeconds);
  result["token_rate"] = orNone(totals->tokenRate > 0, totals->tokenRate);
  result["needed_bytes"] = totals->neededBytes;
  result["available_bytes"] = totals->availableBytes;
  result["mean_error"] = orNone(totals->meanError >= 0, totals->meanError);
  result["parts"] = parts;
  result["classes"] = classes;
  result["last_class"] = toString(totals->lastClass);
  result["text"] = toString(stgEstimateGetJSON(raw));
  result["warnings"] = messages;
  return result;
}

static py::dict estimate(const py::dict &options, const CText &name,
                         const std::vector<CText> &changes) {
  Request request(options);
  MachineRequest machine(name, changes);
  StgEstimate *raw = nullptr;
  Error error;
  {
    py::gil_scoped_release others;
    error.reset(stgEstimate(&request.request, &machine.machine, &raw));
  }
  Owner<StgEstimate, stgEstimateDestroy> owner(raw);
  request.watch->rethrow();
  check(error.release());
  return toDict(owner.release());
}

static py::dict estimateBundle(const Bundle &bundle, const CText &name,
                               const std::vector<CText> &changes) {
  MachineRequest machine(name, changes);
  StgEstimate *raw = nullptr;
  Error error;
  {
    py::gil_scoped_release others;
    error.reset(stgEstimateBundle(bundle.handle.get(), &machine.machine, &raw));
  }
  check(error.release());
  return toDict(raw);
}

//===----------------------------------------------------------------------===//
// Searches
//===----------------------------------------------------------------------===//

namespace {
/// Tells Python how far a search is, from any thread.
class SearchWatch {
public:
  explicit SearchWatch(py::object progress) : progress(std::move(progress)) {}

  static bool goOn(StgSearchProgress progress, void *data) {
    return static_cast<SearchWatch *>(data)->goOn(progress);
  }
  /// Raises what Python said; called when the call has ended.
  void rethrow() {
    if (error)
      throw *error;
  }

private:
  /// False is an answer; None, as of a function that returns nothing, is not.
  bool goOn(const StgSearchProgress &state) {
    py::gil_scoped_acquire python;
    try {
      py::object answer =
          progress(toString(state.step), state.done, state.total,
                   orNone(state.bestSeconds > 0, state.bestSeconds));
      return !answer.is(py::bool_(false));
    } catch (py::error_already_set &raised) {
      error = std::make_unique<py::error_already_set>(raised);
      return false;
    }
  }

  py::object progress;
  std::unique_ptr<py::error_already_set> error;
};
} // namespace

static py::dict toDict(const StgSearchEntry &entry) {
  py::list parts;
  for (size_t i = 0; i < entry.numParts; ++i)
    parts.append(
        py::make_tuple(toString(entry.parts[i].name), entry.parts[i].seconds));
  py::dict result;
  result["number"] = entry.number;
  result["step_seconds"] = entry.stepSeconds;
  result["needed_bytes"] = entry.neededBytes;
  result["num_ranks"] = entry.numRanks;
  result["model_use"] = entry.modelUse;
  result["hardware_use"] = entry.hardwareUse;
  result["interval_seconds"] =
      orNone(entry.intervalSeconds > 0, entry.intervalSeconds);
  result["token_rate"] = orNone(entry.tokenRate > 0, entry.tokenRate);
  result["parts"] = parts;
  result["strategy"] = toString(entry.strategy);
  result["command"] = toString(entry.command);
  return result;
}

static py::dict toDict(const StgSearch *search) {
  py::list entries, front, values, messages;
  for (size_t i = 0; i < stgSearchGetNumEntries(search); ++i)
    entries.append(toDict(*stgSearchGetEntry(search, i)));
  for (size_t i = 0; i < stgSearchGetNumFront(search); ++i)
    front.append(stgSearchGetFront(search, i));
  for (size_t i = 0; i < stgSearchGetNumValues(search); ++i) {
    StgSearchValue value = stgSearchGetValue(search, i);
    values.append(py::make_tuple(toString(value.flag), toString(value.value),
                                 orNone(value.cost > 0, value.cost),
                                 orNone(value.atLeast > 0, value.atLeast)));
  }
  for (size_t i = 0; i < stgSearchGetNumMessages(search); ++i)
    messages.append(toTuple(stgSearchGetMessage(search, i)));
  StgSearchCounts counts = stgSearchGetCounts(search);
  py::dict result;
  result["entries"] = entries;
  result["num_best"] = stgSearchGetNumBest(search);
  result["goal"] = static_cast<int>(stgSearchGetGoal(search));
  result["criteria"] = stgSearchGetCriteria(search);
  result["front"] = front;
  result["values"] = values;
  result["counts"] =
      py::make_tuple(counts.all, counts.estimated, counts.cutByTime,
                     counts.cutByMemory, counts.tooLarge, counts.refused);
  result["messages"] = messages;
  result["complete"] = stgSearchIsComplete(search);
  result["text"] = toString(stgSearchGetJSON(search));
  return result;
}

static py::dict search(const py::dict &options, const CText &name,
                       const std::vector<CText> &changes,
                       const py::dict &what) {
  Request request(options);
  MachineRequest machine(name, changes);
  auto vary = getOption<std::vector<CText>>(what, "vary", {});
  std::vector<const char *> varied = toPointers(vary);
  std::vector<Strategy> among;
  std::vector<const StgStrategy *> listed;
  for (const CText &text : getOption<std::vector<CText>>(what, "among", {})) {
    among.push_back(makeStrategy(text));
    listed.push_back(among.back().get());
  }
  auto progress = getOption<py::object>(what, "progress", py::none());
  SearchWatch watch(progress);
  StgSearchOptions asked = {};
  auto ranks = getOption<std::vector<int64_t>>(what, "ranks", {});
  asked.ranks = ranks.data();
  asked.numRanks = ranks.size();
  asked.vary = varied.data();
  asked.numVary = varied.size();
  asked.among = listed.data();
  asked.numAmong = listed.size();
  asked.memoryLimit = getOption(what, "memory_limit", 0.0);
  asked.numBest = getOption<size_t>(what, "top", 0);
  asked.goal =
      static_cast<StgSearchGoal>(getOption<int>(what, "goal", STG_GOAL_AUTO));
  asked.front = getOption<unsigned>(what, "front", 0);
  asked.within = getOption(what, "within", 0.0);
  asked.numThreads = getOption(what, "threads", 0u);
  if (!progress.is_none()) {
    asked.progress = SearchWatch::goOn;
    asked.progressData = &watch;
  }
  StgSearch *raw = nullptr;
  Error error;
  {
    py::gil_scoped_release others;
    error.reset(stgSearch(&request.request, &machine.machine, &asked, &raw));
  }
  Owner<StgSearch, stgSearchDestroy> owner(raw);
  watch.rethrow();
  request.watch->rethrow();
  check(error.release());
  return toDict(raw);
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

static py::list listModels(const std::vector<CText> &folders) {
  std::vector<const char *> names = toPointers(folders);
  StgModels *raw = nullptr;
  Error error;
  {
    py::gil_scoped_release others;
    error.reset(stgListModels(names.data(), names.size(), &raw));
  }
  check(error.release());
  Owner<StgModels, stgModelsDestroy> models(raw);
  py::list result;
  for (size_t i = 0; i < stgModelsGetNum(raw); ++i) {
    StgModel model = stgModelsGet(raw, i);
    result.append(py::make_tuple(toString(model.name), toString(model.family),
                                 toInt(model.parameters)));
  }
  return result;
}

static py::tuple
toTuple(Owner<StgImportedModel, stgImportedModelDestroy> model) {
  py::list messages;
  for (size_t i = 0; i < stgImportedModelGetNumMessages(model.get()); ++i)
    messages.append(toTuple(stgImportedModelGetMessage(model.get(), i)));
  return py::make_tuple(toString(stgImportedModelGetName(model.get())),
                        toString(stgImportedModelGetFamily(model.get())),
                        toString(stgImportedModelGetText(model.get())),
                        messages);
}

static py::tuple importConfig(const CText &file,
                              const std::optional<CText> &text,
                              const std::vector<CText> &folders,
                              bool ignoreQuantization) {
  std::vector<const char *> names = toPointers(folders);
  StgConfigRequest request = {file.c_str(), orNull(text), names.data(),
                              names.size(), ignoreQuantization};
  StgImportedModel *raw = nullptr;
  check(stgImportConfig(&request, &raw));
  return toTuple(Owner<StgImportedModel, stgImportedModelDestroy>(raw));
}

static py::tuple importLinalg(const CText &file,
                              const std::optional<CText> &text, bool loss,
                              const std::vector<CText> &parameters) {
  std::vector<const char *> arguments = toPointers(parameters);
  StgLinalgRequest request = {file.c_str(), orNull(text), loss,
                              arguments.data(), arguments.size()};
  StgImportedModel *raw = nullptr;
  Error error;
  {
    py::gil_scoped_release others;
    error.reset(stgImportLinalg(&request, &raw));
  }
  check(error.release());
  return toTuple(Owner<StgImportedModel, stgImportedModelDestroy>(raw));
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

static py::tuple computeCosts(const py::dict &options) {
  Request request(options);
  StgCosts *raw = nullptr;
  Error error;
  {
    py::gil_scoped_release others;
    error.reset(stgComputeCosts(&request.request, &raw));
  }
  Owner<StgCosts, stgCostsDestroy> costs(raw);
  request.watch->rethrow();
  check(error.release());
  py::list rows;
  for (size_t i = 0; i < stgCostsGetNum(raw); ++i) {
    StgCost cost = stgCostsGet(raw, i);
    rows.append(py::make_tuple(toString(cost.quantity), toString(cost.phase),
                               toString(cost.kind), toString(cost.axes),
                               toString(cost.expression)));
  }
  py::dict symbols;
  for (size_t i = 0; i < stgCostsGetNumSymbols(raw); ++i) {
    StgSymbol symbol = stgCostsGetSymbol(raw, i);
    symbols[toString(symbol.name)] = symbol.value;
  }
  py::list messages;
  for (size_t i = 0; i < stgCostsGetNumMessages(raw); ++i)
    messages.append(toTuple(stgCostsGetMessage(raw, i)));
  return py::make_tuple(rows, symbols, messages);
}

/// Text that C allocated.
static std::string take(char *text) {
  std::string result(text);
  stgTextFree(text);
  return result;
}

static std::string simplify(const CText &text) {
  char *simplified = nullptr;
  check(stgExpressionSimplify(text.c_str(), &simplified));
  return take(simplified);
}

static py::list getMessages(const Compilation &compilation) {
  py::list messages;
  const StgCompilation *handle = compilation.handle.get();
  for (size_t i = 0; i < stgCompilationGetNumMessages(handle); ++i)
    messages.append(toTuple(stgCompilationGetMessage(handle, i)));
  return messages;
}

/// The totals of a class as a dictionary, which `stg.totals` makes objects of.
static py::dict getClass(const Compilation &compilation, size_t index) {
  const StgRankClass *ranks =
      stgCompilationGetClass(compilation.handle.get(), index);
  if (!ranks)
    throw py::index_error("class " + std::to_string(index));
  py::list phases, collectives, messages, memory, transfers;
  for (size_t i = 0; i < ranks->numPhases; ++i) {
    const StgPhaseTotals &phase = ranks->phases[i];
    phases.append(py::make_tuple(toString(phase.phase), toInt(phase.operations),
                                 toInt(phase.productOperations)));
  }
  for (size_t i = 0; i < ranks->numCollectives; ++i) {
    const StgCollectiveTotals &coll = ranks->collectives[i];
    collectives.append(py::make_tuple(
        static_cast<int>(coll.kind), toString(coll.axes), coll.groupSize,
        toString(coll.phase), coll.count, toInt(coll.bytes)));
  }
  for (size_t i = 0; i < ranks->numMessages; ++i) {
    const StgMessageTotals &message = ranks->messages[i];
    messages.append(py::make_tuple(message.isSend, toString(message.axis),
                                   message.shift, toString(message.phase),
                                   message.count, toInt(message.bytes)));
  }
  for (size_t i = 0; i < ranks->numCategories; ++i) {
    const StgMemoryTotals &category = ranks->memory[i];
    memory.append(
        py::make_tuple(toString(category.category), toInt(category.persistent),
                       toInt(category.peak), toInt(category.largest)));
  }
  for (size_t i = 0; i < ranks->numTransfers; ++i) {
    const StgTransferTotals &transfer = ranks->transfers[i];
    transfers.append(py::make_tuple(transfer.isLoad, toString(transfer.phase),
                                    transfer.count, toInt(transfer.bytes)));
  }
  py::dict result;
  result["name"] = toString(ranks->name);
  result["num_ranks"] = ranks->numRanks;
  result["first_rank"] = ranks->firstRank;
  result["num_compute_nodes"] = ranks->numCompNodes;
  result["num_collective_nodes"] = ranks->numCollNodes;
  result["num_send_nodes"] = ranks->numSendNodes;
  result["num_receive_nodes"] = ranks->numRecvNodes;
  result["operations"] = toInt(ranks->operations);
  result["memory_traffic"] = toInt(ranks->memoryTraffic);
  result["peak_memory"] = toInt(ranks->peakMemory);
  result["peak_node"] = toString(ranks->peakNode);
  result["phases"] = phases;
  result["collectives"] = collectives;
  result["messages"] = messages;
  result["memory"] = memory;
  result["transfers"] = transfers;
  return result;
}

static std::optional<Bundle>
getBundle(const std::shared_ptr<Compilation> &compilation) {
  const StgTraceBundle *bundle =
      stgCompilationGetBundle(compilation->handle.get());
  if (!bundle)
    return std::nullopt;
  // It lives as long as the compilation.
  return Bundle{std::shared_ptr<const StgTraceBundle>(compilation, bundle)};
}

static std::string runPasses(const CText &text, const CText &pipeline,
                             const CText &name) {
  char *printed = nullptr;
  StgError *error = nullptr;
  {
    py::gil_scoped_release others;
    error =
        stgRunPasses(text.c_str(), name.c_str(), pipeline.c_str(), &printed);
  }
  check(error);
  return take(printed);
}

//===----------------------------------------------------------------------===//
// Bundles
//===----------------------------------------------------------------------===//

static Bundle openBundle(const CText &path) {
  StgTraceBundle *bundle = nullptr;
  StgError *error = nullptr;
  {
    py::gil_scoped_release others;
    error = stgTraceBundleOpen(path.c_str(), &bundle);
  }
  check(error);
  return Bundle{std::shared_ptr<const StgTraceBundle>(
      bundle, [](const StgTraceBundle *b) {
        stgTraceBundleClose(const_cast<StgTraceBundle *>(b));
      })};
}

static py::list getAxes(const Bundle &bundle) {
  py::list axes;
  const StgTraceBundle *handle = bundle.handle.get();
  for (size_t i = 0; i < stgTraceBundleGetNumAxes(handle); ++i)
    axes.append(py::make_tuple(toString(stgTraceBundleGetAxisName(handle, i)),
                               stgTraceBundleGetAxisSize(handle, i)));
  return axes;
}

static std::vector<int64_t> getGroup(const Bundle &bundle, int64_t group) {
  const StgTraceBundle *handle = bundle.handle.get();
  size_t count = stgTraceBundleGetGroup(handle, group, nullptr, 0);
  if (count == 0)
    throw py::index_error("group " + std::to_string(group) + " of " +
                          std::to_string(stgTraceBundleGetNumGroups(handle)) +
                          ", which are counted from 1");
  std::vector<int64_t> members(count);
  stgTraceBundleGetGroup(handle, group, members.data(), count);
  return members;
}

static Nodes getNodes(const Bundle &bundle, int64_t rank) {
  bundle.checkRank(rank);
  Nodes nodes;
  nodes.bundle = bundle.handle;
  nodes.stream.reset(stgNodeStreamOpen(bundle.handle.get(), rank));
  return nodes;
}

static py::list toList(const uint32_t *ids, size_t count) {
  py::list list(count);
  for (size_t i = 0; i < count; ++i)
    list[i] = py::int_(ids[i]);
  return list;
}

static py::list toList(const StgTensor *tensors, size_t count) {
  py::list list(count);
  for (size_t i = 0; i < count; ++i)
    list[i] = py::make_tuple(toString(tensors[i].name), tensors[i].bytes);
  return list;
}

/// The next node in the order of the fields of stg.Node.
static py::tuple getNext(Nodes &nodes) {
  StgNode node;
  if (!stgNodeStreamNext(nodes.stream.get(), &node))
    throw py::stop_iteration();
  bool isComp = node.type == STG_COMP_NODE;
  bool isColl = node.type == STG_COMM_COLL_NODE;
  bool isTransfer =
      node.type == STG_MEM_LOAD_NODE || node.type == STG_MEM_STORE_NODE;
  bool isMessage = !isComp && !isColl && !isTransfer;
  bool isComm = isColl || isMessage;
  auto only = [](bool given, int64_t value) -> py::object {
    return given ? py::object(py::int_(value)) : py::object(py::none());
  };
  return py::make_tuple(
      node.id, toString(node.name), static_cast<int>(node.type),
      toList(node.dataDeps, node.numDataDeps),
      toList(node.ctrlDeps, node.numCtrlDeps),
      toList(node.inputs, node.numInputs),
      toList(node.outputs, node.numOutputs), only(isComp, node.numOps),
      only(!isComm, node.tensorSize), only(isComm, node.commSize),
      only(isComm, node.payloadBytes), only(isColl, node.collective),
      only(isColl, node.group), only(isMessage, node.source),
      only(isMessage, node.target), only(isMessage, node.tag));
}

static Columns readColumns(const StgTraceBundle *bundle, int64_t rank) {
  Columns columns;
  Owner<StgNodeStream, stgNodeStreamClose> stream(
      stgNodeStreamOpen(bundle, rank));
  StgNode node;
  while (stgNodeStreamNext(stream.get(), &node)) {
    bool isComp = node.type == STG_COMP_NODE;
    bool isColl = node.type == STG_COMM_COLL_NODE;
    bool isTransfer =
        node.type == STG_MEM_LOAD_NODE || node.type == STG_MEM_STORE_NODE;
    bool isMessage = !isComp && !isColl && !isTransfer;
    columns.type.push_back(node.type);
    columns.names.emplace_back(node.name.data, node.name.size);
    columns.numOps.push_back(isComp ? node.numOps : 0);
    columns.tensorSize.push_back(node.tensorSize);
    columns.commSize.push_back(node.commSize);
    columns.payloadBytes.push_back(node.payloadBytes);
    columns.collective.push_back(isColl ? node.collective : -1);
    columns.group.push_back(isColl ? node.group : -1);
    columns.source.push_back(isMessage ? node.source : -1);
    columns.target.push_back(isMessage ? node.target : -1);
    columns.tag.push_back(isMessage ? node.tag : -1);
  }
  return columns;
}

/// The array takes the memory of the vector.
template <typename T> static py::array toArray(std::vector<T> &&values) {
  auto owner = std::make_unique<std::vector<T>>(std::move(values));
  T *data = owner->data();
  size_t size = owner->size();
  py::capsule capsule(owner.release(), [](void *pointer) {
    delete static_cast<std::vector<T> *>(pointer);
  });
  return py::array_t<T>(size, data, capsule);
}

static py::dict getColumns(const Bundle &bundle, int64_t rank) {
  bundle.checkRank(rank);
  Columns columns;
  {
    py::gil_scoped_release others;
    columns = readColumns(bundle.handle.get(), rank);
  }
  py::dict result;
  result["name"] = py::cast(columns.names);
  result["type"] = toArray(std::move(columns.type));
  result["num_ops"] = toArray(std::move(columns.numOps));
  result["tensor_size"] = toArray(std::move(columns.tensorSize));
  result["comm_size"] = toArray(std::move(columns.commSize));
  result["payload_bytes"] = toArray(std::move(columns.payloadBytes));
  result["collective"] = toArray(std::move(columns.collective));
  result["group"] = toArray(std::move(columns.group));
  result["source"] = toArray(std::move(columns.source));
  result["target"] = toArray(std::move(columns.target));
  result["tag"] = toArray(std::move(columns.tag));
  return result;
}

//===----------------------------------------------------------------------===//
// Traces of any producer
//===----------------------------------------------------------------------===//

namespace {
struct TraceFile {
  Owner<StgTraceFile, stgTraceFileClose> handle;
};
} // namespace

static py::object toObject(StgValueKind kind, const StgValue &value) {
  switch (kind) {
  case STG_VALUE_SIGNED:
    return py::int_(value.integer);
  case STG_VALUE_UNSIGNED:
    return py::int_(value.natural);
  case STG_VALUE_DOUBLE:
    return py::float_(value.real);
  case STG_VALUE_BOOL:
    return py::bool_(value.natural != 0);
  case STG_VALUE_TEXT:
    return toString(value.text);
  case STG_VALUE_BYTES:
    return py::bytes(value.text.data, value.text.size);
  case STG_VALUE_NONE:
    break;
  }
  return py::none();
}

static py::dict toDict(const StgAttribute *attributes, size_t count) {
  py::dict result;
  for (size_t i = 0; i < count; ++i) {
    const StgAttribute &attribute = attributes[i];
    py::str name = toString(attribute.name);
    // The first of several is the one that simulators take.
    if (result.contains(name))
      continue;
    py::list values;
    for (size_t k = 0; k < attribute.numValues; ++k)
      values.append(toObject(attribute.kind, attribute.values[k]));
    if (attribute.isList)
      result[name] = values;
    else
      result[name] = values.empty() ? py::object(py::none()) : values[0];
  }
  return result;
}

static TraceFile openTraceFile(const CText &path) {
  StgTraceFile *file = nullptr;
  check(stgTraceFileOpen(path.c_str(), &file));
  TraceFile result;
  result.handle.reset(file);
  return result;
}

static py::list toList(const uint64_t *ids, size_t count) {
  py::list list(count);
  for (size_t i = 0; i < count; ++i)
    list[i] = py::int_(ids[i]);
  return list;
}

/// The next node in the order of the fields of stg.TraceNode.
static py::tuple getNextOfFile(TraceFile &file) {
  StgTraceNode node;
  bool hasNode = false;
  check(stgTraceFileNext(file.handle.get(), &node, &hasNode));
  if (!hasNode)
    throw py::stop_iteration();
  return py::make_tuple(node.id, toString(node.name), node.type,
                        toList(node.dataDeps, node.numDataDeps),
                        toList(node.ctrlDeps, node.numCtrlDeps),
                        node.startMicros, node.durationMicros,
                        toDict(node.attributes, node.numAttributes));
}

static py::dict getFileAttributes(const TraceFile &file) {
  const StgAttribute *attributes = nullptr;
  size_t count = stgTraceFileGetAttributes(file.handle.get(), &attributes);
  return toDict(attributes, count);
}

static py::tuple toTuple(const StgValidation *validation) {
  py::list violations;
  for (size_t i = 0; i < stgValidationGetNumShown(validation); ++i) {
    StgViolation violation = stgValidationGetViolation(validation, i);
    py::object id = py::none(), name = py::none();
    if (violation.hasNode) {
      id = py::int_(violation.id);
      name = toString(violation.name);
    }
    violations.append(py::make_tuple(
        toString(violation.rule), toString(violation.ruleText),
        toString(violation.file), id, name, toString(violation.message)));
  }
  return py::make_tuple(stgValidationGetNumRanks(validation),
                        stgValidationGetNumNodes(validation),
                        stgValidationGetTotal(validation), violations);
}

/// `trace` is a path, or a bundle.
static py::tuple validate(const py::object &trace, const py::dict &from) {
  auto groups = getOption<std::optional<CText>>(from, "comm_groups", {});
  StgValidationOptions options = {};
  options.commGroups = orNull(groups);
  options.peakTflops = getOption(from, "peak_tflops", 0.0);
  options.memoryBandwidth = getOption(from, "memory_bandwidth", 0.0);
  options.splits = getOption<uint64_t>(from, "splits", 0);
  options.numNpus = getOption<uint64_t>(from, "num_npus", 0);
  options.strictMemory = getOption(from, "strict_memory", false);
  options.eagerSends = getOption(from, "eager_sends", false);
  options.maxShown = getOption<uint64_t>(from, "max_shown", 0);
  options.numThreads = getOption(from, "threads", 0u);
  CText path;
  std::shared_ptr<const StgTraceBundle> bundle;
  if (py::isinstance<Bundle>(trace))
    bundle = trace.cast<Bundle>().handle;
  else
    path = trace.cast<CText>();
  StgValidation *raw = nullptr;
  Error error;
  {
    py::gil_scoped_release others;
    error.reset(bundle ? stgTraceBundleValidate(bundle.get(), &options, &raw)
                       : stgValidate(path.c_str(), &options, &raw));
  }
  Owner<StgValidation, stgValidationDestroy> validation(raw);
  check(error.release());
  return toTuple(raw);
}

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

static py::list getFields() {
  py::list fields;
  for (size_t i = 0; i < stgGetNumFields(); ++i) {
    StgField field = stgGetField(i);
    fields.append(py::make_tuple(toString(field.name), toString(field.jsonName),
                                 toString(field.help),
                                 toString(field.expectation)));
  }
  return fields;
}

PYBIND11_MODULE(_stg, module) {
  module.doc() = "The C interface of STG; use the package stg.";
  module.attr("version") = stgGetVersion();
  module.def("fields", getFields);
  module.def("compile", compile);
  module.def("estimate", estimate);
  module.def("estimate_bundle", estimateBundle);
  module.def("search", search);
  module.def("list_models", listModels);
  module.def("import_config", importConfig);
  module.def("import_linalg", importLinalg);
  module.def("compute_costs", computeCosts);
  module.def("simplify", simplify);
  module.def("run_passes", runPasses);
  module.def("open_bundle", openBundle);
  module.def("open_trace_file", openTraceFile);
  module.def("validate", validate);

  py::class_<Canceller, std::shared_ptr<Canceller>>(module, "Canceller")
      .def(py::init([](std::shared_ptr<Canceller> outer) {
             auto canceller = std::make_shared<Canceller>();
             canceller->outer = std::move(outer);
             return canceller;
           }),
           py::arg("outer") = nullptr)
      .def("cancel", [](Canceller &self) { self.wasCancelled = true; })
      .def_property_readonly("is_cancelled", &Canceller::isCancelled);

  py::class_<Compilation, std::shared_ptr<Compilation>>(module, "Compilation")
      .def_property_readonly(
          "parameters",
          [](const Compilation &self) {
            return toInt(stgCompilationGetParameters(self.handle.get()));
          })
      .def_property_readonly(
          "active_parameters",
          [](const Compilation &self) {
            return toInt(stgCompilationGetActiveParameters(self.handle.get()));
          })
      .def_property_readonly(
          "embedding_parameters",
          [](const Compilation &self) {
            return toInt(
                stgCompilationGetEmbeddingParameters(self.handle.get()));
          })
      .def_property_readonly("num_ranks",
                             [](const Compilation &self) {
                               return stgCompilationGetNumRanks(
                                   self.handle.get());
                             })
      .def_property_readonly("num_classes",
                             [](const Compilation &self) {
                               return stgCompilationGetNumClasses(
                                   self.handle.get());
                             })
      .def_property_readonly(
          "manifest",
          [](const Compilation &self) {
            return toString(stgCompilationGetManifest(self.handle.get()));
          })
      .def_property_readonly("messages", getMessages)
      .def_property_readonly("bundle", getBundle)
      .def("get_class", getClass);

  py::class_<Bundle>(module, "Bundle")
      .def_property_readonly("num_ranks",
                             [](const Bundle &self) {
                               return stgTraceBundleGetNumRanks(
                                   self.handle.get());
                             })
      .def_property_readonly("num_groups",
                             [](const Bundle &self) {
                               return stgTraceBundleGetNumGroups(
                                   self.handle.get());
                             })
      .def_property_readonly("axes", getAxes)
      .def("get_num_nodes",
           [](const Bundle &self, int64_t rank) {
             self.checkRank(rank);
             return stgTraceBundleGetNumNodes(self.handle.get(), rank);
           })
      .def("get_group", getGroup)
      .def("get_nodes", getNodes)
      .def("get_columns", getColumns);

  py::class_<Nodes>(module, "Nodes")
      .def("__iter__", [](py::object self) { return self; })
      .def("__next__", getNext);

  py::class_<TraceFile>(module, "TraceFile")
      .def_property_readonly("version",
                             [](const TraceFile &self) {
                               return toString(
                                   stgTraceFileGetVersion(self.handle.get()));
                             })
      .def_property_readonly("attributes", getFileAttributes)
      .def("__iter__", [](py::object self) { return self; })
      .def("__next__", getNextOfFile);
}
