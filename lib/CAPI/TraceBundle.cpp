//===- TraceBundle.cpp - Nodes of any rank out of a bundle ----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CAPI.h"
#include "stg/Trace/Program/ProgramRunner.h"
#include "llvm/ADT/SmallString.h"

using namespace llvm;
using namespace stg::capi;
using namespace stg::trace;

struct StgNodeStream {
  StgNodeStream(const TraceBundle &bundle, int64_t rank)
      : bundle(bundle), rank(rank), program(bundle.getClass(rank).program),
        runner(program), names(program, runner) {}

  bool next(StgNode &node);

private:
  void setCommunication(const FlatNode &flat, StgNode &node);
  void addTensor(uint32_t tensor);

  const TraceBundle &bundle;
  int64_t rank;
  const TraceProgram &program;
  ProgramRunner runner;
  TensorNames names;
  SmallString<64> name;
  /// The names of `tensors`, one after the other.
  SmallString<0> text;
  SmallVector<StgTensor> tensors;
};

static StgNodeType getType(NodeKind kind) {
  switch (kind) {
  case NodeKind::Comp:
    return STG_COMP_NODE;
  case NodeKind::Coll:
    return STG_COMM_COLL_NODE;
  case NodeKind::Send:
    return STG_COMM_SEND_NODE;
  case NodeKind::Recv:
    return STG_COMM_RECV_NODE;
  case NodeKind::Load:
    return STG_MEM_LOAD_NODE;
  case NodeKind::Store:
    return STG_MEM_STORE_NODE;
  }
  llvm_unreachable("unknown kind");
}

void StgNodeStream::addTensor(uint32_t tensor) {
  const TensorInstance &instance = runner.getInstances()[tensor];
  size_t begin = text.size();
  names.forEachPart(instance, [&](StringRef part) { text += part; });
  tensors.push_back({{nullptr, text.size() - begin},
                     program.tensors[instance.tensorTemplate].bytes});
}

void StgNodeStream::setCommunication(const FlatNode &flat, StgNode &node) {
  const NodeTemplate &common = *flat.common;
  node.commSize = common.commSize;
  node.payloadBytes = common.bytes;
  if (common.isColl()) {
    node.collective =
        static_cast<StgCollective>(static_cast<int64_t>(common.collective));
    node.group = bundle.getGroups().getId(common.axes, rank);
    return;
  }
  int64_t peer =
      bundle.getSpace().getNeighbour(rank, common.axis, common.shift);
  bool isSend = common.kind == NodeKind::Send;
  node.source = isSend ? rank : peer;
  node.target = isSend ? peer : rank;
  node.tag = flat.tag;
}

bool StgNodeStream::next(StgNode &node) {
  FlatNode flat;
  if (!runner.next(flat))
    return false;
  node = {};
  node.id = flat.id;
  name = flat.prefix;
  name += flat.common->name;
  name += getSuffix(flat.common->kind);
  node.name = toText(name);
  node.type = getType(flat.common->kind);
  node.dataDeps = flat.dataDeps.data();
  node.numDataDeps = flat.dataDeps.size();
  node.ctrlDeps = flat.ctrlDeps.data();
  node.numCtrlDeps = flat.ctrlDeps.size();
  text.clear();
  tensors.clear();
  for (uint32_t tensor : flat.inputs)
    addTensor(tensor);
  for (uint32_t i = 0; i < flat.numOutputs; ++i)
    addTensor(flat.firstOutput + i);
  // The text does not move any more.
  const char *begin = text.data();
  for (StgTensor &tensor : tensors) {
    tensor.name.data = begin;
    begin += tensor.name.size;
  }
  node.inputs = tensors.data();
  node.numInputs = flat.inputs.size();
  node.outputs = tensors.data() + flat.inputs.size();
  node.numOutputs = flat.numOutputs;
  if (flat.common->isComp()) {
    node.numOps = getNumOps(*flat.common);
    node.tensorSize = getTensorSize(flat);
  } else if (flat.common->isTransfer()) {
    node.tensorSize = flat.common->bytes;
  } else {
    setCommunication(flat, node);
  }
  return true;
}

StgError *stgTraceBundleOpen(const char *path, StgTraceBundle **result) {
  *result = nullptr;
  Expected<std::unique_ptr<TraceBundle>> bundle = TraceBundle::open(path);
  if (!bundle)
    return toStgError(bundle.takeError());
  *result = new StgTraceBundle{std::move(*bundle)};
  return nullptr;
}

void stgTraceBundleClose(StgTraceBundle *bundle) { delete bundle; }

int64_t stgTraceBundleGetNumRanks(const StgTraceBundle *bundle) {
  return bundle->bundle->getSpace().getNumRanks();
}

size_t stgTraceBundleGetNumAxes(const StgTraceBundle *bundle) {
  return bundle->bundle->getSpace().getAxes().size();
}

StgText stgTraceBundleGetAxisName(const StgTraceBundle *bundle, size_t axis) {
  if (axis >= stgTraceBundleGetNumAxes(bundle))
    return {};
  return toText(bundle->bundle->getSpace().getAxes()[axis].name);
}

int64_t stgTraceBundleGetAxisSize(const StgTraceBundle *bundle, size_t axis) {
  if (axis >= stgTraceBundleGetNumAxes(bundle))
    return 0;
  return bundle->bundle->getSpace().getAxes()[axis].size;
}

int64_t stgTraceBundleGetNumGroups(const StgTraceBundle *bundle) {
  return bundle->bundle->getGroups().getNumGroups();
}

size_t stgTraceBundleGetGroup(const StgTraceBundle *bundle, int64_t group,
                              int64_t *members, size_t capacity) {
  const GroupTable &groups = bundle->bundle->getGroups();
  if (group < 1 || group > groups.getNumGroups())
    return 0;
  auto [mask, rank] = groups.getGroup(group);
  std::vector<int64_t> all = bundle->bundle->getSpace().getMembers(mask, rank);
  std::copy_n(all.begin(), std::min(all.size(), capacity), members);
  return all.size();
}

uint64_t stgTraceBundleGetNumNodes(const StgTraceBundle *bundle, int64_t rank) {
  if (rank < 0 || rank >= stgTraceBundleGetNumRanks(bundle))
    return 0;
  return bundle->bundle->getClass(rank).program.getNumNodes();
}

StgNodeStream *stgNodeStreamOpen(const StgTraceBundle *bundle, int64_t rank) {
  if (rank < 0 || rank >= stgTraceBundleGetNumRanks(bundle))
    return nullptr;
  return new StgNodeStream(*bundle->bundle, rank);
}

bool stgNodeStreamNext(StgNodeStream *stream, StgNode *node) {
  return stream->next(*node);
}

void stgNodeStreamClose(StgNodeStream *stream) { delete stream; }
