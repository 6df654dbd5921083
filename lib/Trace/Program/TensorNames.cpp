//===- TensorNames.cpp - What nodes say beside their wiring ---------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Program/ProgramRunner.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace stg::trace;

int64_t stg::trace::getNumOps(const NodeTemplate &node) {
  return std::max<int64_t>(node.operations, 1);
}

int64_t stg::trace::getTensorSize(const FlatNode &node) {
  // A root of fewer bytes than this could finish in no time at the memory
  // bandwidth of today's machines.
  constexpr int64_t kMinRootBytes = 4096;
  bool isRoot = node.dataDeps.empty() && node.ctrlDeps.empty();
  return std::max<int64_t>(node.common->bytes, isRoot ? kMinRootBytes : 1);
}

StringRef stg::trace::getSuffix(NodeKind kind) {
  switch (kind) {
  case NodeKind::Comp:
    return kCompSuffix;
  case NodeKind::Coll:
    return kCollSuffix;
  case NodeKind::Send:
    return kSendSuffix;
  case NodeKind::Recv:
    return kRecvSuffix;
  case NodeKind::Load:
    return kLoadSuffix;
  case NodeKind::Store:
    return kStoreSuffix;
  }
  llvm_unreachable("unknown kind");
}

TensorNames::TensorNames(const TraceProgram &program,
                         const ProgramRunner &runner)
    : runner(runner) {
  for (const TensorTemplate &tensor : program.tensors) {
    Parts &common = parts.emplace_back();
    if (tensor.stateName.empty())
      continue;
    common.head = (getCategoryName(tensor.category) + "/").str();
    common.tail = tensor.stateName.str();
  }
  for (auto [node, wiring] : llvm::zip_equal(program.nodes, program.wiring)) {
    for (const TraceProgram::Output &output : wiring.outputs) {
      if (output.kind != TraceProgram::Output::New)
        continue;
      Parts &common = parts[output.tensorTemplate];
      common.tail = (node.name + ":").str();
      common.isOutput = true;
    }
  }
}

size_t TensorNames::getSize(const TensorInstance &tensor) const {
  size_t size = 0;
  forEachPart(tensor, [&](StringRef part) { size += part.size(); });
  return size;
}
