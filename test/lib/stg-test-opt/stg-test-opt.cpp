//===- stg-test-opt.cpp - stg-opt with the test dialect -------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestDialect.h"
#include "TestPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "stg/InitAll.h"

/// Prints the ops of the dialect that cost something, one in a line.
static int listCosts(mlir::DialectRegistry &registry) {
  mlir::MLIRContext context(registry);
  context.loadDialect<stg::STGDialect>();
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations())
    if (name.hasInterface<stg::CostOpInterface>() &&
        name.getDialectNamespace() == "stg")
      llvm::outs() << name.stripDialect() << "\n";
  return 0;
}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  stg::registerAllDialects(registry);
  test::registerTestDialect(registry);
  if (argc == 2 && llvm::StringRef(argv[1]) == "--list-costs")
    return listCosts(registry);
  stg::registerAllPasses();
  stg::registerSTGTestPasses();
  test::registerTestGradientFlow();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "stg-opt with ops that no pass knows\n", registry));
}
