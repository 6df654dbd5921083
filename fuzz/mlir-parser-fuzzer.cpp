//===- mlir-parser-fuzzer.cpp - Any text as a module ----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses and verifies the input. A module that is valid is printed, and reading
// that must give the same print; then it goes through the whole pipeline on a
// mesh of four devices, where every pass must leave a valid module or say what
// is wrong; and what has a chakra.graph is exported, without files.
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/Chakra/IR/ChakraOps.h"
#include "stg/Dialect/Sym/IR/SymExpr.h"
#include "stg/InitAll.h"
#include "stg/Pipelines/Pipelines.h"
#include "stg/Target/Chakra/Export.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>
#include <random>

using namespace mlir;
using namespace stg;

namespace {

/// Longer inputs find nothing that shorter ones do not.
constexpr size_t kMaxSize = 16 * 1024;
/// MLIR's own parser recurses without a limit.
constexpr unsigned kMaxDepth = 300;
/// A count such as 2^31 is legal, but its unrolling takes minutes.
constexpr int64_t kMaxIterations = 100000;
/// As many ranks as 31 bits can number are legal, at some bytes each.
constexpr int64_t kMaxRanks = 1000000;

/// Formats every diagnostic, shows none, and counts the errors.
class ErrorCounter : public ScopedDiagnosticHandler {
public:
  explicit ErrorCounter(MLIRContext *context)
      : ScopedDiagnosticHandler(context) {
    setHandler([this](Diagnostic &diag) {
      std::string text = diag.str();
      if (diag.getSeverity() != DiagnosticSeverity::Error)
        return success();
      last = std::move(text);
      ++errors;
      return success();
    });
  }
  unsigned errors = 0;
  std::string last;
};

/// Stops at a pass that succeeds with a module that is invalid.
struct VerifyAfterPass : PassInstrumentation {
  explicit VerifyAfterPass(ErrorCounter &diagnostics)
      : diagnostics(diagnostics) {}
  void runAfterPass(Pass *pass, Operation *op) override {
    // The names that a user gives are left for the verifier of the graph.
    if (succeeded(verify(op)) ||
        (pass->getArgument() == "convert-stg-to-chakra" &&
         StringRef(diagnostics.last).contains(" name ")))
      return;
    llvm::report_fatal_error(Twine("invalid after ") + pass->getName() + ": " +
                             diagnostics.last);
  }
  ErrorCounter &diagnostics;
};

} // namespace

static void require(bool condition, const char *message) {
  if (!condition)
    llvm::report_fatal_error(message);
}

/// False for bytecode, whose reader is not ours, and for deep nesting.
static bool isWorthParsing(StringRef text) {
  if (text.size() > kMaxSize || text.starts_with("ML\xEFR"))
    return false;
  unsigned depth = 0;
  for (char c : text) {
    if (StringRef("([{<").contains(c) && ++depth > kMaxDepth)
      return false;
    if (StringRef(")]}>").contains(c) && depth > 0)
      --depth;
  }
  return true;
}

static std::string printModule(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  return text;
}

static void checkRoundTrip(ModuleOp module, ErrorCounter &diagnostics) {
  std::string text = printModule(module);
  OwningOpRef<ModuleOp> again =
      parseSourceString<ModuleOp>(text, module.getContext());
  if (!again)
    llvm::report_fatal_error(Twine("print is not valid: ") + diagnostics.last +
                             "\n" + text);
  std::string other = printModule(*again);
  if (text != other)
    llvm::report_fatal_error(Twine("print changes:\n") + text + "\ninto:\n" +
                             other);
}

/// False for a number of ranks that is accepted and takes gigabytes.
static bool isSmall(MeshAttr mesh) {
  int64_t product = 1;
  for (SymExpr size : mesh.getAxisSizes())
    if (llvm::MulOverflow(product, size.getInt64().value_or(1), product))
      return true;
  return product <= kMaxRanks || product > INT32_MAX;
}

/// The iterations of nested repeats multiply.
static bool isSmall(ModuleOp module) {
  for (chakra::GraphOp graph : module.getOps<chakra::GraphOp>())
    if (!isSmall(graph.getMesh()))
      return false;
  WalkResult result = module.walk([](chakra::RepeatOp repeat) {
    int64_t product = 1;
    for (; repeat; repeat = repeat->getParentOfType<chakra::RepeatOp>()) {
      std::optional<int64_t> count = repeat.getCount().getInt64();
      if (count && llvm::MulOverflow(product, *count, product))
        return WalkResult::interrupt();
    }
    return product > kMaxIterations ? WalkResult::interrupt()
                                    : WalkResult::advance();
  });
  return !result.wasInterrupted();
}

static void runExport(ModuleOp module, ErrorCounter &diagnostics) {
  if (module.getOps<chakra::GraphOp>().empty() || !isSmall(module))
    return;
  chakra::ExportOptions options;
  options.files.threads = 1;
  options.output = stg::chakra::ExportOptions::Output::Nothing;
  unsigned errors = diagnostics.errors;
  FailureOr<chakra::ExportSummary> summary =
      chakra::exportTraces(module, options);
  if (failed(summary)) {
    require(diagnostics.errors > errors, "export fails without an error");
    return;
  }
  llvm::raw_null_ostream os;
  chakra::writeManifest(*summary, options, os);
}

static void runPipeline(ModuleOp module, ErrorCounter &diagnostics) {
  PassManager pm(module.getContext());
  // A pass that breaks the module is to be told from one that refuses it.
  pm.enableVerifier(false);
  pm.addInstrumentation(std::make_unique<VerifyAfterPass>(diagnostics));
  static std::once_flag registered;
  std::call_once(registered, registerPipelines);
  LogicalResult isKnown = parsePassPipeline("stg-pipeline{tp=2 dp=2}", pm);
  require(succeeded(isKnown), "there is no such pipeline");
  unsigned errors = diagnostics.errors;
  if (failed(pm.run(module))) {
    require(diagnostics.errors > errors, "pass fails without an error");
    return;
  }
  if (failed(verify(module)))
    return;
  checkRoundTrip(module, diagnostics);
  runExport(module, diagnostics);
}

/// Where the words of `text` stand: names, numbers, and their sigils.
static SmallVector<std::pair<size_t, size_t>> findWords(StringRef text) {
  auto isPart = [](char c) {
    return llvm::isAlnum(c) || StringRef("_.#@!%").contains(c);
  };
  SmallVector<std::pair<size_t, size_t>> words;
  for (size_t i = 0; i < text.size(); ++i) {
    size_t begin = i;
    while (i < text.size() && isPart(text[i]))
      ++i;
    if (i > begin)
      words.push_back({begin, i - begin});
  }
  return words;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

/// Half of the mutations are of bytes, which rarely parse; the others put a
/// word in place of another, or a copy of a line before another or in its
/// place.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  std::minstd_rand random(seed);
  auto choose = [&](size_t count) { return random() % count; };
  StringRef text(reinterpret_cast<const char *>(data), size);
  SmallVector<std::pair<size_t, size_t>> words = findWords(text);
  size_t kind = choose(4);
  if (kind < 2 || words.empty())
    return LLVMFuzzerMutate(data, size, maxSize);
  std::string result;
  if (kind == 2) {
    auto [to, toSize] = words[choose(words.size())];
    auto [from, fromSize] = words[choose(words.size())];
    result = (text.take_front(to) + text.substr(from, fromSize) +
              text.drop_front(to + toSize))
                 .str();
  } else {
    SmallVector<StringRef> lines;
    text.split(lines, '\n');
    size_t to = choose(lines.size());
    StringRef line = lines[choose(lines.size())];
    if (choose(2))
      lines[to] = line;
    else
      lines.insert(lines.begin() + to, line);
    result = llvm::join(lines, "\n");
  }
  if (result.size() > maxSize)
    return LLVMFuzzerMutate(data, size, maxSize);
  llvm::copy(result, data);
  return result.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  if (!isWorthParsing(text))
    return -1;
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ErrorCounter diagnostics(&context);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module) {
    require(diagnostics.errors > 0, "parser fails without an error");
    return 0;
  }
  checkRoundTrip(*module, diagnostics);
  runExport(*module, diagnostics);
  OwningOpRef<ModuleOp> clone = module->clone();
  runPipeline(*clone, diagnostics);
  return 0;
}
