//===- stg-search.cpp - Which strategy is the best ------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchFlags.h"
#include "stg/Search/SearchReport.h"
#include "stg/Support/Files.h"
#include "stg/Support/Messages.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Signals.h"
#include <atomic>
#include <chrono>
#include <csignal>

using namespace llvm;
using namespace stg;

static std::atomic<bool> isInterrupted = false;

/// The second time the process ends, without files that are not complete.
static void handleInterrupt(int) {
  if (!isInterrupted.exchange(true))
    return;
  sys::RunInterruptHandlers();
  std::signal(SIGINT, SIG_DFL);
  std::raise(SIGINT);
}

namespace {
/// One line that is written over, where somebody watches.
class ProgressLine {
public:
  explicit ProgressLine(bool isQuiet)
      : isShown(!isQuiet && errs().is_displayed()) {}
  ~ProgressLine() {
    if (hasLine)
      errs() << "\r\x1b[K";
  }

  void show(StringRef step, uint64_t done, uint64_t total, double best) {
    auto now = std::chrono::steady_clock::now();
    if (!isShown || (hasLine && now < next))
      return;
    next = now + std::chrono::milliseconds(100);
    hasLine = true;
    errs() << "\r\x1b[K" << step;
    if (total)
      errs() << formatv(" {0:N0} of {1:N0}", done, total);
    if (best > 0)
      errs() << format(", best %.6g s", best);
  }

private:
  bool isShown, hasLine = false;
  std::chrono::steady_clock::time_point next;
};
} // namespace

namespace {
/// The files that a result is written to. They are opened before the search:
/// what was found after a long time is not lost with a file that cannot be.
struct ResultFiles {
  std::unique_ptr<OutputFile> csv, strategy;

  static Expected<ResultFiles> open(const SearchFlags &flags);
  Error write(const SearchReport &report);
};
} // namespace

static Error openFile(const std::string &path,
                      std::unique_ptr<OutputFile> &file) {
  if (path.empty())
    return Error::success();
  return OutputFile::open(path).moveInto(file);
}

Expected<ResultFiles> ResultFiles::open(const SearchFlags &flags) {
  ResultFiles files;
  if (Error error = openFile(flags.csv, files.csv))
    return std::move(error);
  if (Error error = openFile(flags.strategyOutput, files.strategy))
    return std::move(error);
  return files;
}

Error ResultFiles::write(const SearchReport &report) {
  if (csv) {
    report.writeCSV(csv->os());
    if (Error error = csv->keep())
      return error;
  }
  if (!strategy)
    return Error::success();
  report.writeStrategy(strategy->os());
  return strategy->keep();
}

/// The search on one machine.
static Expected<SearchResult> runSearch(const SearchFlags &flags,
                                        SearchRequest &request,
                                        const MessagePrinter &printer) {
  ProgressLine line(flags.quiet);
  request.progress = [&](StringRef step, uint64_t done, uint64_t total,
                         double best) { line.show(step, done, total, best); };
  return stg::search(request, printer);
}

/// On standard error, whatever else is printed.
static void printWork(const SearchResult &result) {
  for (const SearchResult::Work &work : result.work)
    errs() << left_justify(work.name, 28) << formatv("{0,14:N0}", work.count)
           << format("%10.2f s of threads\n", work.seconds);
}

/// A point of a sweep, where it may be that nothing fits, or all without one.
static Error runPoint(SearchFlags &flags, StringRef point,
                      const MessagePrinter &printer, json::Array &results) {
  Expected<Machine> machine = flags.loadMachine(point);
  if (!machine)
    return machine.takeError();
  Expected<SearchRequest> request = flags.makeRequest(*machine);
  if (!request)
    return request.takeError();
  request->space.isInterrupted = [] { return isInterrupted.load(); };
  Expected<ResultFiles> files = ResultFiles::open(flags);
  if (!files)
    return files.takeError();
  Expected<SearchResult> result = runSearch(flags, *request, printer);
  if (!result)
    return result.takeError();
  if (flags.showsWork)
    printWork(*result);
  SearchReport report = {flags.request, *machine, *result,
                         request->memoryLimit};
  std::string message;
  if (Error error = report.check()) {
    if (point.empty())
      return error;
    message = toString(std::move(error));
  }
  Error written = files->write(report);
  // After an error there is no JSON. Text is for whoever has waited for it.
  if (flags.json && written)
    return written;
  if (flags.json) {
    json::Object object = report.getJSON();
    if (!point.empty())
      object["machine_set"] = point;
    if (!message.empty())
      object["message"] = message;
    results.push_back(std::move(object));
    return written;
  }
  if (!point.empty())
    outs() << point << ":\n";
  if (message.empty())
    report.printText(outs());
  else
    outs() << message << '\n';
  return written;
}

static Error run(SearchFlags &flags, MessagePrinter &printer) {
  if (Error error = flags.finish())
    return error;
  Expected<std::vector<std::string>> points = listSweepPoints(flags.sweep);
  if (!points)
    return points.takeError();
  // What is wrong with a machine is said before a model is compiled.
  for (const std::string &point : *points)
    if (Expected<Machine> machine = flags.loadMachine(point); !machine)
      return machine.takeError();
  std::signal(SIGINT, handleInterrupt);
  json::Array results;
  for (const std::string &point : *points) {
    if (Error error = runPoint(flags, point, printer, results))
      return error;
    if (isInterrupted)
      break;
  }
  if (flags.json && flags.sweep.empty())
    outs() << formatv("{0:2}\n", results.front());
  else if (flags.json)
    outs() << formatv("{0:2}\n", json::Value(std::move(results)));
  return Error::success();
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  MessagePrinter &printer = guardStandardStreams("stg-search");
  SearchFlags flags;
  cl::HideUnrelatedOptions(flags.getCategories());
  if (!parseCommandLine(argc, argv, "STG: which strategy is the best\n",
                        printer))
    return 1;
  Error error = run(flags, printer);
  if (!error)
    return 0;
  // What has been printed has no message.
  std::string message = toString(std::move(error));
  if (!message.empty())
    printer.error(message);
  return 1;
}
