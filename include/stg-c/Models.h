/*===- stg-c/Models.h - Models of the library and of hubs ---------*- C -*-===*\
|*                                                                            *|
|* Part of the STG project, under the Apache License v2.0 with LLVM           *|
|* Exceptions. See the LICENSE file for license information.                  *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* `stgCompile` takes names of models, and a `config.json` as model hubs have *|
|* it. Here is which names there are, and what a configuration becomes.       *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef STG_C_MODELS_H
#define STG_C_MODELS_H

#include "stg-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct StgModel {
  StgText name;
  StgText family;
  StgExact parameters;
} StgModel;

typedef struct StgModels StgModels;

/** All models of the library by name, and of the folders, which come first.
 *  What is wrong with one of them is an error. */
STG_C_EXPORT StgError *stgListModels(const char *const *folders,
                                     size_t numFolders, StgModels **models);
STG_C_EXPORT void stgModelsDestroy(StgModels *models);
STG_C_EXPORT size_t stgModelsGetNum(const StgModels *models);
STG_C_EXPORT StgModel stgModelsGet(const StgModels *models, size_t index);

typedef struct StgConfigRequest {
  const char *file; /**< A .json file, or what messages call `text`. */
  const char *text; /**< Of the configuration; null: that of the file. */
  /** Folders that are searched for tables of families and for blocks before
   *  those of the library. */
  const char *const *folders;
  size_t numFolders;
  /** A quantized configuration is that of the model before. */
  bool ignoreQuantization;
} StgConfigRequest;

typedef struct StgImportedModel StgImportedModel;

/** Makes a model of a configuration. All that cannot be said is an error, each
 *  with its place. What is left out is told by messages of the result. */
STG_C_EXPORT StgError *stgImportConfig(const StgConfigRequest *request,
                                       StgImportedModel **model);

typedef struct StgLinalgRequest {
  const char *file; /**< A .mlir file, or what messages call `text`. */
  const char *text; /**< Of the program; null: that of the file. */
  bool loss; /**< Return the cross-entropy of the result and of labels. */
  /** Arguments that are parameters, as numbers and ranges: "1-291". */
  const char *const *parameters;
  size_t numParameters;
} StgLinalgRequest;

/** Makes a model of a program of linalg on tensors, as `--stg-import-linalg`
 *  of `stg-opt` does. Its name is that of the file, and it has no family. What
 *  has stayed in parts is told by messages of the result. */
STG_C_EXPORT StgError *stgImportLinalg(const StgLinalgRequest *request,
                                       StgImportedModel **model);

STG_C_EXPORT void stgImportedModelDestroy(StgImportedModel *model);
STG_C_EXPORT StgText stgImportedModelGetName(const StgImportedModel *model);
STG_C_EXPORT StgText stgImportedModelGetFamily(const StgImportedModel *model);
/** The text of a .mlir file. */
STG_C_EXPORT StgText stgImportedModelGetText(const StgImportedModel *model);
STG_C_EXPORT size_t
stgImportedModelGetNumMessages(const StgImportedModel *model);
STG_C_EXPORT StgMessage
stgImportedModelGetMessage(const StgImportedModel *model, size_t index);

#ifdef __cplusplus
}
#endif

#endif /* STG_C_MODELS_H */
