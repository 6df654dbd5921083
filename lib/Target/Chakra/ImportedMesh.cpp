//===- ImportedMesh.cpp - The mesh that a trace was made for --------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImportedMesh.h"
#include "mlir/IR/Builders.h"
#include "stg/Support/JSON.h"
#include "stg/Trace/Reader/CommGroups.h"
#include "stg/Trace/Reader/TraceSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace stg::chakra;
namespace trace = stg::trace;
using stg::MeshAttr;
using stg::SymExpr;
using stg::trace::AxisMask;
using stg::trace::RankSpace;

namespace {
/// The search for one trace.
class MeshFinder {
public:
  MeshFinder(ArrayRef<ImportedNode> nodes, StringRef file,
             const ImportOptions &options, Location loc)
      : nodes(nodes), file(file), options(options), loc(loc),
        builder(loc.getContext()) {
    for (const ImportedNode &node : nodes)
      if (node.isColl() && !llvm::is_contained(groupNames, node.group))
        groupNames.push_back(node.group);
  }

  FailureOr<ImportedMesh> run();

private:
  LogicalResult readGroups();
  LogicalResult readManifest();
  LogicalResult readClass(const llvm::json::Array &classes);
  LogicalResult findPeers();
  bool findGroup(const std::string &group);
  bool findAmong(const std::string &group, ArrayRef<int64_t> members);
  bool findHop(int64_t peer);
  void makeAxes();

  ArrayRef<ImportedNode> nodes;
  StringRef file;
  const ImportOptions &options;
  Location loc;
  Builder builder;
  SmallVector<std::string> groupNames; ///< In order of first use.
  SmallVector<int64_t> peers;          ///< Likewise, of messages.

  std::optional<int64_t> rank;
  std::optional<trace::CommGroups> groups;
  std::optional<RankSpace> space;
  ImportedMesh result;
};
} // namespace

LogicalResult MeshFinder::readGroups() {
  std::string path = options.groupsFile;
  rank = options.rank;
  llvm::Expected<trace::TraceSet> set = trace::findTraces(file);
  if (!set) {
    llvm::consumeError(set.takeError());
  } else {
    // A file that is not named after a rank counts as rank 0 there.
    uint64_t number = set->files.empty() ? 0 : set->files.front().rank;
    if (!rank && file.ends_with(("." + Twine(number) + ".et").str()))
      rank = number;
    if (path.empty())
      path = trace::findCommGroupFile(*set).value_or("");
  }
  if (path.empty())
    return success();
  llvm::Expected<trace::CommGroups> loaded = trace::CommGroups::load(path);
  if (!loaded)
    return emitError(loc) << llvm::toString(loaded.takeError());
  groups = std::move(*loaded);
  return success();
}

/// Takes the graph's name and coordinates from the class that has our rank.
LogicalResult MeshFinder::readClass(const llvm::json::Array &classes) {
  for (const llvm::json::Value &value : classes) {
    const llvm::json::Object *entry = value.getAsObject();
    const llvm::json::Object *coordinates =
        entry ? entry->getObject("coordinates") : nullptr;
    if (!coordinates)
      return failure();
    NamedAttrList fixed;
    bool matches = true;
    for (auto [i, axis] : llvm::enumerate(space->getAxes())) {
      std::optional<int64_t> coordinate = coordinates->getInteger(axis.name);
      if (!coordinate)
        continue;
      matches &= *coordinate == space->getCoordinate(*rank, i);
      fixed.set(axis.name, builder.getI64IntegerAttr(*coordinate));
    }
    if (!matches)
      continue;
    if (!fixed.empty())
      result.coordinates = fixed.getDictionary(builder.getContext());
    result.graphName = entry->getString("graph").value_or("").str();
    return success();
  }
  return failure();
}

/// Reads the mesh of an export. Its absence is no error.
LogicalResult MeshFinder::readManifest() {
  llvm::SmallString<128> path(options.manifestFile);
  if (path.empty()) {
    path = llvm::sys::path::parent_path(file);
    llvm::sys::path::append(path, "manifest.json");
    if (!llvm::sys::fs::exists(path))
      return success();
  }
  llvm::Expected<llvm::json::Value> json = stg::readJSON(path);
  if (!json)
    return emitError(loc) << path << ": " << llvm::toString(json.takeError());
  const llvm::json::Object *manifest = json->getAsObject();
  const llvm::json::Array *mesh =
      manifest ? manifest->getArray("mesh") : nullptr;
  const llvm::json::Array *classes =
      manifest ? manifest->getArray("classes") : nullptr;
  SmallVector<std::pair<std::string, int64_t>> axes;
  bool valid = mesh && classes;
  for (size_t i = 0; valid && i < mesh->size(); ++i) {
    const llvm::json::Object *axis = (*mesh)[i].getAsObject();
    valid = axis && axis->getString("axis") && axis->getInteger("size");
    if (valid)
      axes.push_back(
          {axis->getString("axis")->str(), *axis->getInteger("size")});
  }
  if (valid)
    space = RankSpace::create(axes);
  if (!space)
    return emitError(loc) << "'" << path
                          << "' is not the manifest of an export";
  if (!rank || *rank < 0 || *rank >= space->getNumRanks())
    return emitError(loc)
           << "the rank of the trace is not known, or not in the "
              "mesh of '"
           << path << "'; give it with --trace-rank";
  if (failed(readClass(*classes)))
    return emitError(loc) << "'" << path << "' has no class with rank "
                          << *rank;
  return success();
}

/// Finds the peers of messages, and, from them, our rank if nothing else tells.
LogicalResult MeshFinder::findPeers() {
  for (const ImportedNode &node : nodes) {
    if (!node.isMessage())
      continue;
    if (!rank)
      rank = node.rank;
    if (!rank)
      return emitNodeError(loc, node)
             << "does not say which rank it is of; give it with --trace-rank";
    if (node.rank.value_or(*rank) != *rank)
      return emitNodeError(loc, node)
             << "is of rank " << *node.rank << " in the trace of rank " << *rank
             << "; give the rank of the trace with --trace-rank";
    if (node.peer == *rank)
      return emitNodeError(loc, node)
             << "has rank " << *rank << " at both ends";
    if (!llvm::is_contained(peers, node.peer))
      peers.push_back(node.peer);
  }
  return success();
}

/// Finds the axis along which `peer` is, and how far: the shorter way around,
/// as for all ranks of our class.
bool MeshFinder::findHop(int64_t peer) {
  if (peer >= space->getNumRanks())
    return false;
  for (auto [i, axis] : llvm::enumerate(space->getAxes())) {
    int64_t shift =
        space->getCoordinate(peer, i) - space->getCoordinate(*rank, i);
    if (space->getNeighbour(*rank, i, shift) != peer)
      continue;
    if (2 * shift > axis.size)
      shift -= axis.size;
    else if (2 * shift < -axis.size)
      shift += axis.size;
    result.hops[peer] = {axis.name, shift};
    return true;
  }
  return false;
}

/// Finds the axes over which our group has the members of `group`.
bool MeshFinder::findGroup(const std::string &group) {
  const std::vector<int64_t> *members = groups ? groups->find(group) : nullptr;
  size_t numAxes = space->getAxes().size();
  if (numAxes > 16 || (!members && !group.empty()))
    return false;
  for (AxisMask mask = 1; mask < AxisMask(1) << numAxes; ++mask) {
    int64_t size = space->getGroupSize(mask);
    int64_t wanted = members ? members->size() : space->getNumRanks();
    if (size != wanted)
      continue;
    if (members && space->getMembers(mask, *rank) != *members)
      continue;
    SmallVector<Attribute> names;
    for (auto [i, axis] : llvm::enumerate(space->getAxes()))
      if ((mask >> i & 1) && axis.size > 1)
        names.push_back(builder.getStringAttr(axis.name));
    result.groups[group] = {builder.getArrayAttr(names),
                            {},
                            SymExpr::get(builder.getContext(), size)};
    return true;
  }
  return members && findAmong(group, *members);
}

/// Finds the axis along which some ranks are the members. Our class has a
/// coordinate on it, as other ranks along it are in no such group.
bool MeshFinder::findAmong(const std::string &group,
                           ArrayRef<int64_t> members) {
  for (auto [i, axis] : llvm::enumerate(space->getAxes())) {
    SmallVector<int64_t> among;
    for (int64_t member : members)
      if (member >= 0 && member < space->getNumRanks())
        among.push_back(space->getCoordinate(member, i));
    if (!result.coordinates || !result.coordinates.contains(axis.name) ||
        !llvm::is_contained(members, *rank) || !llvm::is_sorted(among))
      continue;
    AxisMask mask = space->restrict(AxisMask(1) << i, among);
    if (space->getMembers(mask, *rank) != members.vec())
      continue;
    result.groups[group] = {
        builder.getStrArrayAttr({axis.name}),
        builder.getDenseI64ArrayAttr(among),
        SymExpr::get(builder.getContext(), int64_t(members.size()))};
    return true;
  }
  return false;
}

/// Makes an axis of every group, and one of all ranks for messages. A size that
/// is not known becomes a symbol.
void MeshFinder::makeAxes() {
  SmallVector<StringAttr> names;
  SmallVector<SymExpr> sizes;
  // All ranks are the group without a name.
  if (!peers.empty() && !llvm::is_contained(groupNames, ""))
    groupNames.push_back("");
  for (int64_t peer : peers)
    result.hops[peer] = {"world", peer - *rank};
  for (const std::string &group : groupNames) {
    std::string name = group.empty() ? "world" : "group_" + group;
    const std::vector<int64_t> *members =
        groups ? groups->find(group) : nullptr;
    names.push_back(builder.getStringAttr(name));
    sizes.push_back(members
                        ? SymExpr::get(builder.getContext(),
                                       static_cast<int64_t>(members->size()))
                        : SymExpr::getSymbol(builder.getContext(), name));
    result.groups[group] = {
        builder.getArrayAttr({names.back()}), {}, sizes.back()};
  }
  result.mesh = MeshAttr::get(builder.getContext(), names, sizes);
  result.coordinates = {};
}

FailureOr<ImportedMesh> MeshFinder::run() {
  if (failed(readGroups()) || failed(findPeers()) || failed(readManifest()))
    return failure();
  bool known = space &&
               llvm::all_of(groupNames,
                            [&](const std::string &group) {
                              return findGroup(group);
                            }) &&
               llvm::all_of(peers, [&](int64_t peer) { return findHop(peer); });
  if (known) {
    SmallVector<StringAttr> names;
    SmallVector<SymExpr> sizes;
    for (const RankSpace::Axis &axis : space->getAxes()) {
      names.push_back(builder.getStringAttr(axis.name));
      sizes.push_back(SymExpr::get(builder.getContext(), axis.size));
    }
    result.mesh = MeshAttr::get(builder.getContext(), names, sizes);
  } else {
    makeAxes();
  }
  if (result.graphName.empty())
    result.graphName = rank ? "rank" + std::to_string(*rank) : "rank";
  return std::move(result);
}

FailureOr<ImportedMesh> stg::chakra::findMesh(ArrayRef<ImportedNode> nodes,
                                              StringRef file,
                                              const ImportOptions &options,
                                              Location loc) {
  return MeshFinder(nodes, file, options, loc).run();
}
