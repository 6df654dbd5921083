//===- Import.cpp - Graphs from Chakra execution traces -------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Target/Chakra/Import.h"
#include "ImportedMesh.h"
#include "ImportedTrace.h"
#include "mlir/IR/Builders.h"
#include "stg/Dialect/Chakra/IR/ChakraOps.h"
#include "stg/Trace/Program/ProgramRunner.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ConvertUTF.h"

using namespace mlir;
using namespace stg::chakra;
using stg::SymExpr;
using stg::trace::NodeKind;

namespace {
/// Builds the graph of one rank.
class GraphImporter {
public:
  GraphImporter(ArrayRef<ImportedNode> nodes, const ImportedMesh &mesh,
                OpBuilder &builder, Location loc)
      : nodes(nodes), mesh(mesh), builder(builder), loc(loc),
        inPlace(nodes.size(), false), needsToken(nodes.size(), false),
        results(nodes.size()) {}

  LogicalResult run();

private:
  /// What a tensor's name stands for at some point of the program.
  struct Version {
    Value value;
    /// The nodes that reading it implies a dependency on.
    SmallVector<uint64_t, 2> deps;
  };

  void findInPlace();
  bool rejectInPlace(ArrayRef<uint64_t> readers);
  void findStates();
  LogicalResult findTokens();
  void importNode(uint64_t position);
  void importComp(uint64_t position, ValueRange inputs, ValueRange after);
  void importColl(uint64_t position, ValueRange inputs, ValueRange after);
  void importSend(const ImportedNode &node, ValueRange inputs,
                  ValueRange after);
  void importRecv(uint64_t position, ValueRange after);
  void importTransfer(uint64_t position, ValueRange inputs, ValueRange after);
  bool isPlainColl(const ImportedNode &node, const ImportedGroup &group);

  /// Control dependencies that the streams do not imply, and data dependencies,
  /// ascending, of the node at `position`.
  SmallVector<uint64_t> getDeps(uint64_t position);
  /// The ones of them that do not come with its inputs.
  SmallVector<uint64_t> getExtraDeps(uint64_t position);
  bool hasBuffers(uint64_t position) {
    return inPlace[position] || !nodes[position].outputs.empty();
  }
  void setResults(uint64_t position, ResultRange values);
  Version &getVersion(const ImportedTensor &tensor) {
    return (tensor.isHost ? hostVersions : versions)[tensor.name];
  }
  /// What a node that works in place changes.
  static ArrayRef<ImportedTensor> getChanged(const ImportedNode &node) {
    ArrayRef<ImportedTensor> inputs = node.inputs;
    return node.isStore() ? inputs.drop_front() : inputs;
  }
  std::string makeName(StringRef name, bool isState);
  Type getTensorType(int64_t bytes, Category category) {
    return stg::chakra::TensorType::get(
        builder.getContext(), SymExpr::get(builder.getContext(), bytes),
        category);
  }

  ArrayRef<ImportedNode> nodes;
  const ImportedMesh &mesh;
  OpBuilder &builder;
  Location loc;

  /// A collective that changes its inputs, a store into a buffer.
  std::vector<bool> inPlace;
  std::vector<bool> needsToken; ///< Depended on, but without a buffer.
  std::vector<Value> results;   ///< A value that implies only its node.
  llvm::StringMap<Version> versions, hostVersions;
  llvm::StringSet<> names;
};
} // namespace

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

/// Of the readers of one tensor, in program order, every one must depend on the
/// collective that has changed it last. If one does not, the collective cannot
/// have changed it in place, as the reader would have raced with it.
bool GraphImporter::rejectInPlace(ArrayRef<uint64_t> readers) {
  std::optional<uint64_t> last;
  for (uint64_t reader : readers) {
    if (last && !llvm::is_contained(nodes[reader].dataDeps, *last)) {
      inPlace[*last] = false;
      return true;
    }
    if (inPlace[reader])
      last = reader;
  }
  return false;
}

void GraphImporter::findInPlace() {
  llvm::StringMap<SmallVector<uint64_t>> readers;
  for (auto [position, node] : llvm::enumerate(nodes)) {
    bool sameSize = node.collKind == CollKind::AllReduce ||
                    node.collKind == CollKind::AllToAll;
    llvm::StringSet<> distinct;
    for (const ImportedTensor &tensor : node.inputs)
      if (!node.isStore() && !tensor.isHost &&
          distinct.insert(tensor.name).second)
        readers[tensor.name].push_back(position);
    // A store that makes no buffer says what it changes.
    bool isPlace = node.isStore() || (node.isColl() && sameSize);
    inPlace[position] = isPlace && node.outputs.empty() && !node.inputs.empty();
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &entry : readers)
      changed |= rejectInPlace(entry.second);
  }
}

/// True if two nodes are executed in their order without a dependency: compute
/// nodes are a stream, collectives and sends together, loads, and stores.
static bool shareStream(const ImportedNode &a, const ImportedNode &b) {
  return !a.isRecv() && !b.isRecv() && a.isComp() == b.isComp() &&
         a.isLoad() == b.isLoad() && a.isStore() == b.isStore();
}

SmallVector<uint64_t> GraphImporter::getDeps(uint64_t position) {
  const ImportedNode &node = nodes[position];
  SmallVector<uint64_t> deps(ArrayRef<uint64_t>(node.dataDeps));
  // A collective or receive that waits for no data is issued behind the compute
  // node before it, as the exporter has it; what it adds by itself is left out.
  uint64_t lastComp = position;
  while (lastComp > 0 && !nodes[lastComp - 1].isComp())
    --lastComp;
  // So is any load.
  bool followsComp = node.isLoad() || ((node.isColl() || node.isRecv()) &&
                                       node.dataDeps.empty());
  for (uint64_t dep : node.ctrlDeps)
    if (!shareStream(nodes[dep], node) && !(followsComp && dep + 1 == lastComp))
      deps.push_back(dep);
  llvm::sort(deps);
  deps.erase(llvm::unique(deps), deps.end());
  return deps;
}

SmallVector<uint64_t> GraphImporter::getExtraDeps(uint64_t position) {
  SmallVector<uint64_t> deps = getDeps(position);
  for (const ImportedTensor &tensor : nodes[position].inputs)
    for (uint64_t implied : getVersion(tensor).deps)
      llvm::erase(deps, implied);
  return deps;
}

/// Follows the versions of tensors through the program before any op exists, to
/// find the nodes that need a token.
LogicalResult GraphImporter::findTokens() {
  for (uint64_t position = 0; position < nodes.size(); ++position) {
    for (uint64_t dep : getExtraDeps(position)) {
      if (nodes[dep].isSend())
        return emitNodeError(loc, nodes[position])
               << "depends on node " << nodes[dep].id
               << ", a COMM_SEND, which chakra.send cannot express: only "
                  "collectives and sends come after it";
      if (!hasBuffers(dep))
        needsToken[dep] = true;
    }
    setResults(position, ResultRange(nullptr, 0));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// A name that the dialect allows and that is not taken.
std::string GraphImporter::makeName(StringRef name, bool isState) {
  if (!isState) {
    for (NodeKind kind : {NodeKind::Comp, NodeKind::Coll, NodeKind::Send,
                          NodeKind::Recv, NodeKind::Load, NodeKind::Store})
      name.consume_back(stg::trace::getSuffix(kind));
  }
  std::string clean;
  for (unsigned char c : name)
    clean.push_back(c < 0x20 || c == 0x7f || c == ',' || c == '=' ? '_' : c);
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(clean.data());
  if (!llvm::isLegalUTF8String(&begin, begin + clean.size()))
    clean = stg::escapeText(clean);
  StringRef prefix = StringRef(clean).split('/').first;
  if (clean.empty() ||
      (!isState && prefix.size() != clean.size() && symbolizeCategory(prefix)))
    clean = "node/" + clean;
  std::string unique = clean;
  for (unsigned n = 2; !names.insert(unique).second; ++n)
    unique = clean + "#" + std::to_string(n);
  return unique;
}

/// Makes states of the tensors that are read before they are written.
void GraphImporter::findStates() {
  llvm::StringSet<> known, knownHost;
  for (const ImportedNode &node : nodes) {
    for (const ImportedTensor &tensor : node.inputs) {
      if (!(tensor.isHost ? knownHost : known).insert(tensor.name).second)
        continue;
      auto [prefix, rest] = tensor.name.split('/');
      std::optional<Category> category = symbolizeCategory(prefix);
      std::string text = (category && !rest.empty() ? rest : tensor.name).str();
      // The name of a transfer, whose trace has none for it.
      if (tensor.isHost && tensor.name == node.name)
        text += ".host";
      std::string name = makeName(text, true);
      Category own =
          tensor.isHost ? Category::Host : category.value_or(Category::Input);
      auto state =
          StateOp::create(builder, loc, getTensorType(tensor.bytes, own), name);
      getVersion(tensor).value = state.getResult();
    }
    for (const ImportedTensor &tensor : node.outputs)
      (tensor.isHost ? knownHost : known).insert(tensor.name);
  }
}

/// Makes what the node at `position` has written or changed the current version
/// of the tensors; `values` are its results, none while nothing is built yet.
void GraphImporter::setResults(uint64_t position, ResultRange values) {
  const ImportedNode &node = nodes[position];
  auto getValue = [&](size_t index) {
    return index < values.size() ? Value(values[index]) : Value();
  };
  if (inPlace[position]) {
    for (auto [i, tensor] : llvm::enumerate(getChanged(node))) {
      Version &version = getVersion(tensor);
      if (getValue(i))
        version.value = getValue(i);
      // The writer of the tensor and the last node that has changed it.
      if (version.deps.size() == 2 ||
          (version.deps.size() == 1 && inPlace[version.deps.front()]))
        version.deps.pop_back();
      version.deps.push_back(position);
    }
  }
  for (auto [i, tensor] : llvm::enumerate(node.outputs)) {
    Version &version = getVersion(tensor);
    version.deps = {position};
    if (getValue(i))
      version.value = getValue(i);
  }
  if (!values.empty())
    results[position] = values.back();
}

void GraphImporter::importComp(uint64_t position, ValueRange inputs,
                               ValueRange after) {
  const ImportedNode &node = nodes[position];
  SmallVector<Type> types;
  for (const ImportedTensor &tensor : node.outputs)
    types.push_back(getTensorType(tensor.bytes, Category::Temporary));
  if (needsToken[position])
    types.push_back(TokenType::get(builder.getContext()));
  MLIRContext *context = builder.getContext();
  auto op = CompOp::create(builder, loc, makeName(node.name, false), inputs,
                           SymExpr::get(context, node.operations),
                           SymExpr::get(context, node.bytes), types,
                           /*phase=*/"", /*updates=*/ValueRange(), after);
  if (node.durationMicros)
    op->setAttr(ChakraDialect::kDurationAttr,
                builder.getI64IntegerAttr(node.durationMicros));
  setResults(position, op.getResults());
}

/// True if operands and results say all about the collective.
bool GraphImporter::isPlainColl(const ImportedNode &node,
                                const ImportedGroup &group) {
  std::optional<int64_t> ranks = group.size.getInt64();
  __int128 payload = 0;
  for (const ImportedTensor &tensor : node.inputs)
    payload += tensor.bytes;
  if (payload != node.bytes)
    return false;
  if (node.outputs.empty() || !ranks)
    return false;
  if (node.inputs.size() != node.outputs.size())
    return false;
  for (auto [input, output] : llvm::zip_equal(node.inputs, node.outputs)) {
    __int128 in = input.bytes, out = output.bytes;
    if (node.collKind == CollKind::AllGather)
      in *= *ranks;
    if (node.collKind == CollKind::ReduceScatter)
      out *= *ranks;
    if (in != out)
      return false;
  }
  return true;
}

void GraphImporter::importColl(uint64_t position, ValueRange inputs,
                               ValueRange after) {
  const ImportedNode &node = nodes[position];
  const ImportedGroup &group = mesh.groups.at(node.group);
  SmallVector<Type> types;
  bool plain = isPlainColl(node, group);
  if (inPlace[position]) {
    llvm::append_range(types, inputs.getTypes());
    __int128 payload = 0;
    for (const ImportedTensor &tensor : node.inputs)
      payload += tensor.bytes;
    plain = payload == node.bytes;
  }
  for (const ImportedTensor &tensor : node.outputs)
    types.push_back(getTensorType(tensor.bytes, Category::Communication));
  if (needsToken[position])
    types.push_back(TokenType::get(builder.getContext()));
  SymExpr payload =
      plain ? SymExpr() : SymExpr::get(builder.getContext(), node.bytes);
  auto op = CollOp::create(
      builder, loc, node.collKind, makeName(node.name, false), inputs,
      group.axes, types, inPlace[position], /*phase=*/"", after, payload);
  if (group.among)
    op.setAmongAttr(group.among);
  setResults(position, op.getResults());
}

/// A tag is a channel of its own, so that both ends agree on it without knowing
/// of each other. The exporter numbers tags in the order of channels again.
void GraphImporter::importSend(const ImportedNode &node, ValueRange inputs,
                               ValueRange after) {
  const ImportedHop &hop = mesh.hops.at(node.peer);
  SendOp::create(builder, loc, makeName(node.name, false), inputs, after,
                 hop.axis, hop.shift, /*channel=*/node.tag, /*stride=*/nullptr,
                 /*phase=*/nullptr, /*payload=*/nullptr);
}

void GraphImporter::importRecv(uint64_t position, ValueRange after) {
  const ImportedNode &node = nodes[position];
  const ImportedHop &hop = mesh.hops.at(node.peer);
  SmallVector<Type> types;
  for (const ImportedTensor &tensor : node.outputs)
    types.push_back(getTensorType(tensor.bytes, Category::Communication));
  auto op = RecvOp::create(builder, loc, types, makeName(node.name, false),
                           /*into=*/nullptr, after, hop.axis, hop.shift,
                           /*channel=*/node.tag, /*stride=*/nullptr,
                           /*phase=*/nullptr, /*payload=*/nullptr);
  setResults(position, op.getResults());
}

void GraphImporter::importTransfer(uint64_t position, ValueRange inputs,
                                   ValueRange after) {
  const ImportedNode &node = nodes[position];
  std::string name = makeName(node.name, false);
  if (node.isLoad()) {
    auto op = LoadOp::create(builder, loc,
                             getTensorType(node.bytes, Category::Temporary),
                             name, inputs[0], after, /*ahead=*/nullptr,
                             /*phase=*/nullptr);
    return setResults(position, op->getResults());
  }
  auto op = StoreOp::create(
      builder, loc, getTensorType(node.bytes, Category::Host), name, inputs[0],
      inputs.size() > 1 ? inputs[1] : Value(), after, /*phase=*/nullptr);
  setResults(position, op->getResults());
}

void GraphImporter::importNode(uint64_t position) {
  const ImportedNode &node = nodes[position];
  SmallVector<Value> inputs, after;
  for (const ImportedTensor &tensor : node.inputs)
    inputs.push_back(getVersion(tensor).value);
  for (uint64_t dep : getExtraDeps(position))
    after.push_back(results[dep]);
  switch (node.kind) {
  case NodeKind::Comp:
    return importComp(position, inputs, after);
  case NodeKind::Coll:
    return importColl(position, inputs, after);
  case NodeKind::Send:
    return importSend(node, inputs, after);
  case NodeKind::Recv:
    return importRecv(position, after);
  case NodeKind::Load:
  case NodeKind::Store:
    return importTransfer(position, inputs, after);
  }
  llvm_unreachable("a node of no known kind");
}

LogicalResult GraphImporter::run() {
  auto graph = GraphOp::create(builder, loc, mesh.graphName, mesh.mesh,
                               mesh.coordinates);
  builder.setInsertionPointToStart(&graph.getBody().front());
  findInPlace();
  if (failed(findTokens()))
    return failure();
  versions.clear();
  hostVersions.clear();
  findStates();
  for (uint64_t position = 0; position < nodes.size(); ++position)
    importNode(position);
  return success();
}

OwningOpRef<ModuleOp> stg::chakra::importTrace(llvm::MemoryBufferRef buffer,
                                               const ImportOptions &options,
                                               MLIRContext *context) {
  context->loadDialect<ChakraDialect>();
  StringRef file = buffer.getBufferIdentifier();
  Location loc = FileLineColLoc::get(context, file, 0, 0);
  FailureOr<std::vector<ImportedNode>> nodes = readTrace(buffer, loc);
  if (failed(nodes))
    return {};
  FailureOr<ImportedMesh> mesh = findMesh(*nodes, file, options, loc);
  if (failed(mesh))
    return {};
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  if (failed(GraphImporter(*nodes, *mesh, builder, loc).run()))
    return {};
  return module;
}
