//===- config-fuzzer.cpp - Any text as a configuration --------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the input as a config.json. Either something is wrong, and it is said,
// or there is a model, whose text is a module that can be read with its blocks.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "stg/Import/Family.h"
#include "stg/Import/Import.h"
#include "stg/InitAll.h"
#include "stg/Support/Installation.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

static void require(bool condition, const char *message) {
  if (!condition)
    llvm::report_fatal_error(message);
}

static MLIRContext &getContext() {
  static DialectRegistry registry = [] {
    DialectRegistry registry;
    stg::registerAllDialects(registry);
    return registry;
  }();
  static MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  return context;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef text(reinterpret_cast<const char *>(data), size);
  stg::ImportOptions options;
  options.file = "config.json";
  std::vector<std::string> modelPath = stg::getModelPath({});
  stg::importer::FamilyLibrary families(modelPath);
  unsigned errors = 0;
  auto model = stg::importConfig(
      text, options, families, [&](const stg::ToolMessage &m) {
        errors += m.severity == stg::ToolMessage::Severity::Error;
        require(m.place && m.place->line > 0 && m.place->column > 0,
                "a message without a place");
      });
  require(model.has_value() == (errors == 0), "a failure without an error");
  if (!model)
    return 0;
  MLIRContext &context = getContext();
  ScopedDiagnosticHandler quiet(&context,
                                [](Diagnostic &) { return success(); });
  auto module = parseSourceString<ModuleOp>(model->text, &context);
  require(static_cast<bool>(module), "the text of a model is not valid");
  require(succeeded(stg::resolveImports(*module, modelPath)),
          "the blocks of a model are not there");
  return 0;
}
