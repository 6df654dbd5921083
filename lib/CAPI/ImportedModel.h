//===- ImportedModel.h - What importers give to C ---------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_CAPI_IMPORTEDMODEL_H
#define STG_LIB_CAPI_IMPORTEDMODEL_H

#include "CAPI.h"
#include "stg-c/Models.h"
#include "stg/Import/Import.h"

struct StgImportedModel {
  stg::ImportedModel model;
  MessageList messages;
};

#endif // STG_LIB_CAPI_IMPORTEDMODEL_H
