//===- PrepareModel.h - The program that is compiled ----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DRIVER_PREPAREMODEL_H
#define STG_LIB_DRIVER_PREPAREMODEL_H

#include "ModelLibrary.h"
#include <map>

namespace stg {

/// Leaves the program that is compiled, without blocks and calls. Returns the
/// values that the options of the model have.
llvm::Expected<std::map<std::string, std::string>>
prepareModel(const Model &model, const CompileRequest &request,
             const StrategyInput &strategy);

} // namespace stg

#endif // STG_LIB_DRIVER_PREPAREMODEL_H
