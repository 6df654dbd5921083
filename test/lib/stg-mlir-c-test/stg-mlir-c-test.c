/*===- stg-mlir-c-test.c - Our dialects and passes through mlir-c ----------===*\
|*                                                                            *|
|* Part of the STG project, under the Apache License v2.0 with LLVM           *|
|* Exceptions. See the LICENSE file for license information.                  *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|*   stg-mlir-c-test PIPELINE < module                                        *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Pass.h"
#include "stg-c/Dialects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print(MlirStringRef text, void *file) {
  fwrite(text.data, 1, text.length, file);
}

static MlirLogicalResult runPipeline(MlirModule module, const char *pipeline) {
  MlirPassManager manager =
      mlirPassManagerCreate(mlirModuleGetContext(module));
  MlirLogicalResult result =
      mlirParsePassPipeline(mlirPassManagerGetAsOpPassManager(manager),
                            mlirStringRefCreateFromCString(pipeline), print,
                            stderr);
  if (mlirLogicalResultIsSuccess(result))
    result =
        mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module));
  mlirPassManagerDestroy(manager);
  return result;
}

/** Dialects one by one, and all at once. */
static void registerDialects(MlirDialectRegistry registry) {
  MlirDialectHandle handles[] = {mlirGetDialectHandle__sym__(),
                                 mlirGetDialectHandle__stg__(),
                                 mlirGetDialectHandle__chakra__()};
  for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); ++i) {
    mlirDialectHandleInsertDialect(handles[i], registry);
    print(mlirDialectHandleGetNamespace(handles[i]), stderr);
    fputs("\n", stderr);
  }
  stgRegisterAllDialects(registry);
}

int main(int argc, char **argv) {
  static char text[1 << 16];
  size_t size = fread(text, 1, sizeof(text) - 1, stdin);
  if (argc != 2 || size == 0)
    return 2;
  stgRegisterAllPasses();
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  registerDialects(registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  MlirModule module =
      mlirModuleCreateParse(context, mlirStringRefCreateFromCString(text));
  int status = 1;
  if (!mlirModuleIsNull(module) &&
      mlirLogicalResultIsSuccess(runPipeline(module, argv[1]))) {
    mlirOperationPrint(mlirModuleGetOperation(module), print, stdout);
    puts(""); /* As stg-opt does. */
    status = 0;
  }
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  return status;
}
