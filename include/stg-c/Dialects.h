/*===- stg-c/Dialects.h - Dialects and passes for MLIR's C interface -*- C
-*-===*\
|*                                                                            *|
|* Part of the STG project, under the Apache License v2.0 with LLVM           *|
|* Exceptions. See the LICENSE file for license information.                  *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* For programs that use `mlir-c`: they link `libSTGShared.so`, `libMLIR.so`  *|
|* and MLIR's archive `MLIRCAPIIR`, or archives of all. It is not in          *|
|* `libSTG.so`, which shows nothing of MLIR.                                  *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef STG_C_DIALECTS_H
#define STG_C_DIALECTS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Sym, sym);
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(STG, stg);
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Chakra, chakra);

/** Our dialects, and those that models use or come in (linalg on tensors). */
MLIR_CAPI_EXPORTED void stgRegisterAllDialects(MlirDialectRegistry registry);

/** Our passes and pipelines, and the general ones that `stg-opt` has. To be
 *  called once in a process. */
MLIR_CAPI_EXPORTED void stgRegisterAllPasses(void);

#ifdef __cplusplus
}
#endif

#endif /* STG_C_DIALECTS_H */
