//===- stg-reduce.cpp - Makes a failing program smaller -------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's reducer deletes ops of which nothing is left to use. In a model every
// op has a user, so that ours also give way to their operands, and loops to one
// iteration.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Reducer/ReductionPatternInterface.h"
#include "mlir/Reducer/Tester.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "stg/InitAll.h"
#include "stg/Support/Messages.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace stg;

namespace {
/// Simplifies ops over tensors, of any dialect, one after the other: a result
/// gives way to an operand of its type, a loop runs once. MLIR's reducer
/// applies patterns to all ops at once, and does not survive if nothing
/// interesting is left. So the test is asked about each op first.
struct SimplifyOp : RewritePattern {
  SimplifyOp(MLIRContext *context, Tester &tester)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context),
        tester(tester) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    auto module = op->getParentOfType<ModuleOp>();
    if (!module)
      return failure();
    IRMapping map;
    OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone(map));
    IRRewriter copyRewriter(op->getContext());
    if (failed(simplify(map.lookup(op), copyRewriter)) ||
        tester.isInteresting(*copy).first != Tester::Interestingness::True)
      return failure();
    return simplify(op, rewriter);
  }

private:
  static LogicalResult simplify(Operation *op, RewriterBase &rewriter) {
    if (auto repeat = dyn_cast<RepeatOp>(op))
      return repeatOnce(repeat, rewriter);
    return bypass(op, rewriter);
  }

  static LogicalResult repeatOnce(RepeatOp repeat, RewriterBase &rewriter) {
    SymExpr one = SymExpr::get(repeat.getContext(), 1);
    if (repeat.getCount() == one)
      return bypass(repeat, rewriter);
    rewriter.modifyOpInPlace(repeat, [&] { repeat.setCountAttr(one); });
    return success();
  }

  static LogicalResult bypass(Operation *op, RewriterBase &rewriter) {
    SmallVector<Value> values;
    for (Value result : op->getResults()) {
      auto operand = llvm::find_if(op->getOperands(), [&](Value value) {
        return value.getType() == result.getType();
      });
      if (operand != op->operand_end() && isa<SymTensorType>(result.getType()))
        values.push_back(*operand);
      else if (result.use_empty())
        values.push_back(Value());
      else
        return failure();
    }
    if (values.empty())
      return failure();
    rewriter.replaceOp(op, values);
    return success();
  }

  Tester &tester;
};

struct Reduction : DialectReductionPatternInterface {
  explicit Reduction(Dialect *dialect)
      : DialectReductionPatternInterface(dialect) {}

  void populateReductionPatterns(RewritePatternSet &) const override {}
  void populateReductionPatternsWithTester(RewritePatternSet &patterns,
                                           Tester &tester) const override {
    patterns.add<SimplifyOp>(patterns.getContext(), tester);
  }
};
} // namespace

namespace {
/// The files of the command line. The reducer reads it itself.
struct FileNames {
  FileNames(ArrayRef<char *> arguments) {
    for (unsigned i = 0; i < arguments.size(); ++i) {
      StringRef text = arguments[i];
      if (text == "-" || !text.consume_front("-")) {
        input = text;
        continue;
      }
      text.consume_front("-");
      if (text == "o" && i + 1 < arguments.size())
        output = arguments[++i];
      else if (text.consume_front("o="))
        output = text;
    }
  }

  StringRef input = "-", output = "-";
};
} // namespace

namespace {
/// The options of the reducer's passes.
struct ReductionOptions : PassPipelineOptions<ReductionOptions> {
  Option<std::string> test{*this, "test"};
  ListOption<std::string> testArguments{*this, "test-arg"};
  Option<unsigned> traversalMode{*this, "traversal-mode"};
  Option<std::string> optPass{*this, "opt-pass"};
};
} // namespace

/// Fails if a pass has a test that cannot be run, of which the reducer would
/// die. Of anything else that is wrong with options the reducer complains.
static LogicalResult checkTests(ArrayRef<char *> arguments) {
  for (StringRef argument : arguments) {
    auto [flag, text] = argument.split('=');
    StringRef name = flag.ltrim('-');
    if (flag == name ||
        (name != "reduction-tree" && name != "opt-reduction-pass"))
      continue;
    ReductionOptions options;
    if (failed(options.parseFromString(text, llvm::nulls())))
      continue;
    std::error_code problem =
        llvm::sys::fs::access(options.test, llvm::sys::fs::AccessMode::Execute);
    if (!problem)
      continue;
    llvm::raw_ostream &os = llvm::WithColor::error(llvm::errs(), "stg-reduce")
                            << "--" << name;
    if (options.test.empty())
      os << " has no test; give it one: --" << name << "=test=SCRIPT\n";
    else
      os << ": cannot run the test '" << options.test
         << "': " << problem.message() << '\n';
    return failure();
  }
  return success();
}

/// Says why the reducer has failed where it does not say so itself: about its
/// output, and about a program that is not interesting as it is.
static void explainFailure(const FileNames &names) {
  std::string message;
  if (openOutputFile(names.output, &message) &&
      (names.input == "-" || openInputFile(names.input)))
    message = "the test finds nothing interesting in the program as it is; its "
              "exit status is to be 1 where it does, and 0 where it does not";
  if (!message.empty())
    llvm::WithColor::error(llvm::errs(), "stg-reduce") << message << '\n';
}

int main(int argc, char **argv) {
  guardStandardStreams("stg-reduce");
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllPasses();
  registry.addExtension(+[](MLIRContext *, STGDialect *dialect) {
    dialect->addInterfaces<Reduction>();
  });
  auto arguments = ArrayRef<char *>(argv, argc).drop_front();
  if (failed(checkTests(arguments)))
    return EXIT_FAILURE;
  FileNames names(arguments);
  if (llvm::sys::fs::equivalent(names.input, names.output)) {
    llvm::WithColor::error(llvm::errs(), "stg-reduce")
        << names.input << ": cannot read the file: it is the output, too\n";
    return EXIT_FAILURE;
  }
  MLIRContext context(registry);
  // The reducer asks loaded dialects, before it reads.
  context.loadDialect<STGDialect>();
  bool isExplained = false;
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    isExplained |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return failure();
  });
  if (succeeded(mlirReduceMain(argc, argv, context)))
    return EXIT_SUCCESS;
  if (!isExplained)
    explainFailure(names);
  return EXIT_FAILURE;
}
