//===- CompileFlags.h - The flags of stg-compile ----------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_TOOLS_STG_COMPILE_COMPILEFLAGS_H
#define STG_TOOLS_STG_COMPILE_COMPILEFLAGS_H

#include "stg/Driver/RequestFlags.h"
#include "stg/Machine/Machine.h"

namespace stg {

/// The command line: that of the strategy, and what is written where.
struct CompileFlags : TwoPlanFlags {
  CompileFlags()
      : TwoPlanFlags("MODEL (a .mlir file, a config.json or the name of a "
                     "library model)") {}

  std::string ranks, part;
  bool json = false, bundle = false, printSchedule = false, listModels = false;
  double memoryLimit = 0;
  std::string machine, report;
  std::vector<std::string> machineChanges;
  bool astraSim = false;

  llvm::cl::OptionCategory outputCategory{"Output"};

  llvm::cl::opt<bool, true> listModelsFlag{
      "list-models", llvm::cl::location(listModels),
      llvm::cl::desc("Print name, family and parameters of the library's "
                     "models, and do nothing else"),
      llvm::cl::cat(modelCategory)};
  llvm::cl::opt<std::string, true> output{
      "o", llvm::cl::location(request.exportOptions.files.directory),
      llvm::cl::value_desc("DIR"), llvm::cl::desc("Folder for the traces"),
      llvm::cl::cat(outputCategory)};
  llvm::cl::opt<unsigned, true> threads{
      "threads", llvm::cl::location(request.exportOptions.files.threads),
      llvm::cl::value_desc("N"),
      llvm::cl::desc("Threads that write files (default: all cores)"),
      llvm::cl::cat(outputCategory)};
  llvm::cl::opt<std::string, true> memoryTimeline{
      "memory-timeline",
      llvm::cl::location(request.exportOptions.memoryTimeline),
      llvm::cl::value_desc("PREFIX"),
      llvm::cl::desc("Write the live bytes by category over the step of each "
                     "class of ranks to PREFIX.<class>.csv"),
      llvm::cl::cat(outputCategory)};
  llvm::cl::opt<std::string, true> rankRange{
      "ranks", llvm::cl::location(ranks), llvm::cl::value_desc("LO:HI"),
      llvm::cl::desc("Write only the traces of ranks LO to HI-1"),
      llvm::cl::cat(outputCategory)};
  llvm::cl::opt<std::string, true> partFlag{
      "part", llvm::cl::location(part), llvm::cl::value_desc("I/N"),
      llvm::cl::desc("Write only the traces of part I of N, counted from 1"),
      llvm::cl::cat(outputCategory)};
  llvm::cl::opt<bool, true> bundleFlag{
      "bundle", llvm::cl::location(bundle),
      llvm::cl::desc("Write one file, DIR/traces.stgb, that any trace can be "
                     "made from, instead of the traces"),
      llvm::cl::cat(outputCategory)};
  llvm::cl::opt<bool, true> resume{
      "resume", llvm::cl::location(request.exportOptions.files.resume),
      llvm::cl::desc("Keep traces of an interrupted run of the same command "
                     "that are complete"),
      llvm::cl::cat(outputCategory)};
  llvm::cl::opt<bool, true> quiet{
      "quiet", llvm::cl::location(request.exportOptions.files.quiet),
      llvm::cl::desc("Show no progress"), llvm::cl::cat(outputCategory)};
  llvm::cl::opt<bool, true> dryRun{
      "dry-run", llvm::cl::location(request.dryRun),
      llvm::cl::desc("Print the summary, write nothing"),
      llvm::cl::cat(outputCategory)};
  llvm::cl::opt<bool, true> jsonFlag{
      "json", llvm::cl::location(json),
      llvm::cl::desc("Print the summary as JSON"),
      llvm::cl::cat(outputCategory)};
  llvm::cl::opt<bool, true> printScheduleFlag{
      "print-schedule", llvm::cl::location(printSchedule),
      llvm::cl::desc("Print the schedule of the pipeline in the form that "
                     "--schedule reads, and do nothing else"),
      llvm::cl::cat(outputCategory)};
  llvm::cl::opt<bool, true> verbose{
      "verbose", llvm::cl::location(request.verbose),
      llvm::cl::desc("Print all that is known of each class of ranks, below "
                     "the table of all classes"),
      llvm::cl::cat(outputCategory)};
  llvm::cl::opt<double, true> memoryLimitFlag{
      "memory-limit", llvm::cl::location(memoryLimit),
      llvm::cl::value_desc("GiB"),
      llvm::cl::desc("Memory of a device: the summary says which ranks need "
                     "more at their peak"),
      llvm::cl::cat(outputCategory)};

  llvm::cl::opt<std::string, true> machineFlag{
      "machine", llvm::cl::location(machine), llvm::cl::value_desc("NAME|FILE"),
      llvm::cl::desc("Machine of --astra-sim, and of times in --report"),
      llvm::cl::cat(outputCategory)};
  llvm::cl::list<std::string, std::vector<std::string>> machineChangeFlag{
      "machine-set", llvm::cl::location(machineChanges),
      llvm::cl::value_desc("KEY=VALUE"),
      llvm::cl::desc("Change a number of the machine"),
      llvm::cl::cat(outputCategory)};
  llvm::cl::opt<bool, true> astraSimFlag{
      "astra-sim", llvm::cl::location(astraSim),
      llvm::cl::desc("Write what ASTRA-sim reads beside the traces, and print "
                     "its command line; needs --machine"),
      llvm::cl::cat(outputCategory)};

  llvm::cl::opt<std::string, true> reportFlag{
      "report", llvm::cl::location(report), llvm::cl::value_desc("FILE.html"),
      llvm::cl::desc("Write a page with pictures of memory and communication, "
                     "and with --machine of the schedule and its times"),
      llvm::cl::cat(outputCategory)};

  /// What `-h` lists; the options that libLLVM registers are not in it.
  std::vector<const llvm::cl::OptionCategory *> getCategories() const;

  /// Reads the strategy and checks what llvm::cl::opt cannot.
  llvm::Error finish();
  llvm::Expected<Machine> loadMachine() const {
    return Machine::load(machine, machineChanges);
  }

private:
  llvm::Error finishList();
  llvm::Error finishSchedule();
  llvm::Error finishSummary();
  llvm::Error finishOutput();
  llvm::Error finishPart();
  llvm::Error finishRanks();
  llvm::Error finishAstraSim();
  llvm::Error finishMachine();
  llvm::Error checkReport();
};
} // namespace stg

#endif // STG_TOOLS_STG_COMPILE_COMPILEFLAGS_H
