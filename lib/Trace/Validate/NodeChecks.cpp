//===- NodeChecks.cpp - Rules for one node on its own ---------------------===//
//
// Values are read leniently, from any integer member of the oneof, so that a
// wrong wire type gives one violation and the value is still checked.
//
//===----------------------------------------------------------------------===//

#include "NodeChecks.h"

#include "stg/Trace/Reader/RankSet.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace stg::trace {

namespace {

enum TypeMask : unsigned {
  OnComp = 1,
  OnSend = 2,
  OnRecv = 4,
  OnColl = 8,
  OnTransfer = 16,
  OnMessage = OnSend | OnRecv,
  OnComm = OnMessage | OnColl,
  OnAll = OnComp | OnComm | OnTransfer,
};

/// An attribute that consumers read.
struct AttrSpec {
  StringRef name;
  /// The one member of the oneof that every consumer understands.
  AttrKind kind;
  unsigned types;
  bool isRequired;
};

constexpr int64_t maxMessageSize = INT32_MAX;

} // namespace

static const AttrSpec attrSpecs[] = {
    {"is_cpu_op", AttrKind::Bool, OnAll, true},
    {"num_ops", AttrKind::Int64, OnComp, true},
    {"tensor_size", AttrKind::Uint64, OnComp | OnTransfer, true},
    {"comm_type", AttrKind::Int64, OnColl, true},
    {"comm_size", AttrKind::Int64, OnComm, true},
    {"comm_src", AttrKind::Int32, OnMessage, true},
    {"comm_dst", AttrKind::Int32, OnMessage, true},
    {"comm_tag", AttrKind::Int32, OnMessage, true},
    {"comm_priority", AttrKind::Int32, OnColl, false},
    {"involved_dim", AttrKind::BoolList, OnColl, false},
    {"payload_bytes", AttrKind::Int64, OnComm, false},
    // Its absence is a violation of rule 5.4.
    {"pg_name", AttrKind::String, OnColl, false},
};

/// Transfers count as what consumers take only where the trace says so.
unsigned NodeChecker::getMask(const Node &node) const {
  switch (static_cast<NodeType>(node.type)) {
  case NodeType::MemLoad:
  case NodeType::MemStore:
    return usesHost ? static_cast<unsigned>(OnTransfer) : 0;
  case NodeType::Comp:
    return OnComp;
  case NodeType::Send:
    return OnSend;
  case NodeType::Recv:
    return OnRecv;
  case NodeType::Coll:
    return OnColl;
  default:
    return 0;
  }
}

void NodeChecker::addMetadata(const Metadata &metadata) {
  usesHost = metadata.attrs.getInteger(kHostAttr).value_or(0) != 0;
}

void NodeChecker::report(Rule rule, const Node &node, const Twine &message) {
  violations.add(rule, context.file, node.id, node.name, message);
}

void NodeChecker::checkText(const Node &node) {
  if (node.invalidText)
    report(Rule::Utf8, node,
           "field '" + *node.invalidText + "' is not valid UTF-8");
}

void NodeChecker::checkDistinct(const Node &node) {
  SmallDenseSet<StringRef, 16> seen;
  for (const Attribute &attr : node.attrs.attributes)
    if (!seen.insert(attr.name).second)
      report(Rule::AttrOnce, node,
             "attribute '" + shortenText(attr.name) +
                 "' is given more than once");
}

void NodeChecker::checkAttributes(const Node &node) {
  unsigned mask = getMask(node);
  for (const AttrSpec &spec : attrSpecs) {
    if (!(spec.types & mask))
      continue;
    const Attribute *attr = node.attrs.find(spec.name);
    if (!attr && spec.isRequired)
      report(Rule::AttrPresent, node,
             "attribute '" + spec.name + "' is missing on a " +
                 getNodeTypeName(node.type) + " node");
    if (attr && attr->kind != spec.kind)
      report(Rule::AttrKinds, node,
             "attribute '" + spec.name + "' is " + getAttrKindName(attr->kind) +
                 ", expected " + getAttrKindName(spec.kind));
  }
}

void NodeChecker::checkRoot(const Node &node, Int128 numOps,
                            Int128 tensorSize) {
  if (!node.dataDeps.empty() || !node.ctrlDeps.empty())
    return;
  const ValidatorOptions &options = context.options;
  double computeNs = static_cast<double>(numOps) / (options.peakTflops * 1e3);
  double memoryNs = static_cast<double>(tensorSize) / options.memBandwidth;
  if (computeNs < 1 && memoryNs < 1)
    report(Rule::RootTime, node,
           "node has no dependencies and runs for less than 1 ns: num_ops " +
               toString(numOps) + ", tensor_size " + toString(tensorSize));
}

void NodeChecker::checkCompute(const Node &node) {
  std::optional<Int128> numOps = node.attrs.getInteger("num_ops");
  std::optional<Int128> tensorSize = node.attrs.getInteger("tensor_size");
  if (numOps && *numOps < 1)
    report(Rule::NumOps, node,
           "num_ops is " + toString(*numOps) + ", expected at least 1");
  if (tensorSize && *tensorSize < 1)
    report(Rule::TensorSize, node,
           "tensor_size is " + toString(*tensorSize) + ", expected at least 1");
  if (numOps && tensorSize && *numOps >= 1 && *tensorSize >= 1)
    checkRoot(node, *numOps, *tensorSize);
}

/// True for what the simulator reads as a group number.
static bool isGroupNumber(StringRef name) {
  uint64_t number = 0;
  return !name.empty() && llvm::all_of(name, isDigit) &&
         !name.getAsInteger(10, number) && number >= 1 && number <= INT32_MAX;
}

const NodeChecker::GroupInfo &NodeChecker::getGroup(StringRef name) {
  auto [it, isNew] = groups.try_emplace(name);
  GroupInfo &info = it->second;
  if (isNew)
    info.members = context.groups.find(name);
  if (isNew && info.members)
    info.isMember =
        llvm::is_contained(*info.members, static_cast<int64_t>(context.rank));
  return info;
}

/// Returns the number of members, if the node's group has any.
std::optional<uint64_t> NodeChecker::checkGroup(const Node &node) {
  std::string name = getGroupName(node);
  if (name.empty()) {
    report(Rule::GroupNamed, node,
           "collective names no group (pg_name), expected a number of at "
           "least 1 also for the group of all ranks");
    return context.numNpus;
  }
  if (!isGroupNumber(name))
    report(Rule::GroupNamed, node,
           "group '" + shortenText(name) +
               "' is not a decimal number in 1 ... 2147483647");
  const auto &[members, isMember] = getGroup(name);
  if (!members) {
    const std::string &file = context.groups.file;
    std::string where =
        file.empty() ? ": there is no group file" : " in " + file;
    report(Rule::GroupDefined, node,
           "group '" + shortenText(name) + "' is not defined" + where);
    return std::nullopt;
  }
  if (members->size() < 2)
    report(Rule::GroupSize, node,
           "group '" + shortenText(name) + "' has " + Twine(members->size()) +
               " members, expected at least 2");
  if (!isMember)
    report(Rule::RankInGroup, node,
           "rank " + Twine(context.rank) + " is not a member of group '" +
               shortenText(name) + "' (ranks " + formatRanks(*members) + ")");
  return members->size();
}

void NodeChecker::checkCollectiveSize(const Node &node,
                                      std::optional<uint64_t> groupSize) {
  std::optional<Int128> size = node.attrs.getInteger("comm_size");
  if (!size)
    return;
  Int128 splits = context.options.splits;
  if (groupSize && *groupSize > 0 && *size > 0 &&
      *size % (splits * *groupSize) != 0)
    report(Rule::SizeGranularity, node,
           "comm_size " + toString(*size) + " is not a multiple of " +
               toString(splits * *groupSize) + " (" + toString(splits) +
               " splits of " + Twine(*groupSize) + " members)");
  Int128 minimum = splits * context.numNpus.value_or(1);
  if (*size < minimum)
    report(Rule::MinimalSize, node,
           "comm_size " + toString(*size) + " is less than " +
               toString(minimum) + " (" + toString(splits) + " splits of " +
               Twine(context.numNpus.value_or(1)) + " NPUs)");
}

void NodeChecker::checkCollective(const Node &node) {
  if (std::optional<Int128> type = node.attrs.getInteger("comm_type")) {
    switch (static_cast<CollectiveType>(clampToInt64(*type))) {
    case CollectiveType::AllReduce:
    case CollectiveType::AllGather:
    case CollectiveType::AllToAll:
    case CollectiveType::ReduceScatter:
      break;
    default:
      report(Rule::CollectiveTypes, node,
             "collective type " + getCollectiveName(clampToInt64(*type)) +
                 " is none of ALL_REDUCE, ALL_GATHER, ALL_TO_ALL, "
                 "REDUCE_SCATTER");
    }
  }
  checkCollectiveSize(node, checkGroup(node));
}

void NodeChecker::checkPeers(const Node &node) {
  bool isSend = node.is(NodeType::Send);
  StringRef ownName = isSend ? "comm_src" : "comm_dst";
  StringRef peerName = isSend ? "comm_dst" : "comm_src";
  Int128 rank = context.rank;
  std::optional<Int128> own = node.attrs.getInteger(ownName);
  if (own && *own != rank)
    report(Rule::MessageRanks, node,
           ownName + " is " + toString(*own) + ", expected this rank, " +
               toString(rank));
  std::optional<Int128> peer = node.attrs.getInteger(peerName);
  if (!peer)
    return;
  if (*peer == rank)
    report(Rule::MessageRanks, node,
           peerName + " is this rank, " + toString(rank));
  else if (*peer < 0 || (context.numNpus && *peer >= *context.numNpus))
    report(Rule::MessageRanks, node,
           peerName + " is " + toString(*peer) +
               ", which is no rank of the trace");
}

void NodeChecker::checkMessage(const Node &node) {
  checkPeers(node);
  std::optional<Int128> tag = node.attrs.getInteger("comm_tag");
  if (tag && (*tag < 0 || *tag >= kNumTags))
    report(Rule::TagRange, node,
           "comm_tag " + toString(*tag) + " is not in 0 ... " +
               Twine(kNumTags - 1));
  std::optional<Int128> size = node.attrs.getInteger("comm_size");
  if (size && (*size < 1 || *size > maxMessageSize))
    report(Rule::MessageSize, node,
           "comm_size " + toString(*size) + " is not in 1 ... " +
               Twine(maxMessageSize));
}

/// The bytes of a list of tensors; what is no number is reported elsewhere.
static Int128 sumSizes(const Node &node, StringRef attribute) {
  Int128 sum = 0;
  const Attribute *attr = node.attrs.find(attribute);
  if (!attr || attr->kind != AttrKind::StringList)
    return sum;
  ArrayRef<StringRef> list = node.attrs.getStrings(*attr);
  for (size_t i = 1; i < list.size(); i += 2) {
    uint64_t bytes = 0;
    if (!list[i].getAsInteger(10, bytes))
      sum += bytes;
  }
  return sum;
}

/// What leaves one memory comes into the other. A store into a buffer that is
/// there before the step reads that, as everything does that changes in place.
void NodeChecker::checkTransfer(const Node &node) {
  std::optional<Int128> size = node.attrs.getInteger("tensor_size");
  if (!size)
    return;
  if (*size < 1)
    report(Rule::TensorSize, node,
           "tensor_size is " + toString(*size) + ", expected at least 1");
  bool isLoad = node.is(NodeType::MemLoad);
  Int128 own = sumSizes(node, isLoad ? "outputs" : "inputs");
  Int128 other = sumSizes(node, isLoad ? "inputs" : "outputs");
  Int128 host = sumSizes(node, "host_inputs") + sumSizes(node, "host_outputs");
  if (own != *size || host != *size || other != 0)
    report(Rule::TransferSize, node,
           "tensor_size is " + toString(*size) + ", but the node " +
               (isLoad ? "writes " : "reads ") + toString(own) +
               " bytes here, " + (isLoad ? "reads " : "writes ") +
               toString(other) + ", and has " + toString(host) +
               " on the host");
}

void NodeChecker::check(const Node &node) {
  checkText(node);
  unsigned mask = getMask(node);
  if (mask == 0)
    report(Rule::NodeTypes, node,
           "node type is " + getNodeTypeName(node.type) +
               ", expected COMP, COMM_SEND, COMM_RECV or COMM_COLL" +
               (usesHost ? ", MEM_LOAD or MEM_STORE" : ""));
  checkDistinct(node);
  checkAttributes(node);
  if (node.attrs.getInteger("is_cpu_op").value_or(0) != 0)
    report(Rule::NotCpuOp, node, "is_cpu_op is true");
  if (mask == OnComp)
    checkCompute(node);
  else if (mask == OnColl)
    checkCollective(node);
  else if (mask & OnMessage)
    checkMessage(node);
  else if (mask == OnTransfer)
    checkTransfer(node);
}

} // namespace stg::trace
