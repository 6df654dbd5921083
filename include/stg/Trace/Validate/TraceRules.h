//===- TraceRules.h - Rules that a trace has to keep ------------*- C++ -*-===//
//
// The numbered rules of `stg-trace validate`. A trace that keeps them runs to
// its end in the simulator; the number's first part says what a rule is about:
//
//   1 files        1.1 length prefixes are well-formed and nothing is cut off
//                  1.2 the first message is GlobalMetadata with a version
//                  1.3 no message has zero length
//                  1.4 messages follow the schema
//                  1.5 strings are valid UTF-8
//                  1.6 the file is writable
//                  1.7 a rank has at least one node
//                  1.8 there is one file for each rank from 0 on
//   2 graph        2.1 ids are unique in a rank
//                  2.2 ids ascend in file order
//                  2.3 dependencies exist
//                  2.4 dependencies stand earlier in the file
//                  2.5 a dependency is listed once
//                  2.6 dependencies have no cycle
//                  2.7 a tensor's writer reaches its reader by data_deps
//   3 nodes        3.1 types are COMP, COMM_SEND, COMM_RECV or COMM_COLL
//                  3.2 is_cpu_op is false
//                  3.3 attributes that the node's type needs are there
//                  3.4 attributes have the wire type that all consumers read
//                  3.5 sender and receiver of a message are right
//                  3.6 an attribute is given once
//   4 compute      4.1 num_ops is at least 1
//                  4.2 tensor_size is at least 1
//                  4.3 a node without dependencies runs for at least 1 ns
//   5 collectives  5.1 the type is one that the simulator runs
//                  5.2 comm_size is a multiple of splits * group size
//                  5.3 comm_size is at least splits * NPUs
//                  5.4 the group is named, by a number of at least 1
//                  5.5 the group is defined
//                  5.6 the group has at least two members
//                  5.7 members of a group are distinct
//                  5.8 members of a group are ranks of the trace
//                  5.9 the rank is a member of the group
//   6 order        6.1 members run the same collectives in the same order
//                  6.2 no deadlock across ranks
//                  6.3 COMM_COLL and COMM_SEND of a rank form one chain
//                  6.4 no deadlock if sends wait for their receive
//   7 messages     7.1 a send has a receive
//                  7.2 a receive has a send
//                  7.3 both sides have the same size
//                  7.4 a tag is used once for each pair of ranks
//                  7.5 tags are in 0 ... 499999999
//                  7.6 sizes are in 1 ... 2^31 - 1
//   8 memory       8.1 inputs and outputs are string lists
//                  8.2 they hold pairs of name and size
//                  8.3 sizes are decimal numbers of bytes
//                  8.4 a tensor is written once
//                  8.5 no node reads what it writes
//                  8.6 a tensor's writer, and what changes it in place, is
//                      upstream of its reader
//                  8.7 a tensor that is never written is persistent
//                  8.8 a persistent tensor is never written
//                  8.9 a tensor has one size, for all its readers and where
//                      it is written
//
// A tensor is persistent if the string list `persistent_tensors` in the
// metadata's attributes names it; an entry that ends in `*` names all tensors
// that begin with what is before it. A trace without that attribute has no way
// to say, and rule 8.7 then holds only where it is asked for.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_VALIDATE_TRACERULES_H
#define STG_TRACE_VALIDATE_TRACERULES_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace stg::trace {

/// The rules, in the order of their numbers.
enum class Rule : uint8_t {
  Framing,
  MetadataFirst,
  ZeroLength,
  Schema,
  Utf8,
  Writable,
  HasNodes,
  AllRanks,
  UniqueIds,
  AscendingIds,
  DepsExist,
  DepsEarlier,
  DepsDistinct,
  DepsAcyclic,
  DataDeps,
  NodeTypes,
  NotCpuOp,
  AttrPresent,
  AttrKinds,
  MessageRanks,
  AttrOnce,
  NumOps,
  TensorSize,
  RootTime,
  CollectiveTypes,
  SizeGranularity,
  MinimalSize,
  GroupNamed,
  GroupDefined,
  GroupSize,
  MembersDistinct,
  MembersInRange,
  RankInGroup,
  SameSequence,
  NoDeadlock,
  Chained,
  NoRendezvousDeadlock,
  SendMatched,
  RecvMatched,
  EqualSizes,
  TagOnce,
  TagRange,
  MessageSize,
  MemoryLists,
  MemoryPairs,
  MemorySizes,
  WrittenOnce,
  NotInPlace,
  WriterUpstream,
  Persistent,
  PersistentNotWritten,
  SameSize,
  TransferSize,
};

/// Number of rules.
constexpr unsigned numRules = static_cast<unsigned>(Rule::TransferSize) + 1;

/// Number of a rule, e.g. "5.2".
llvm::StringRef getRuleNumber(Rule rule);

/// One sentence on what the rule asks for.
llvm::StringRef getRuleText(Rule rule);

/// Writes all rules, one a line.
void printRules(llvm::raw_ostream &os);
void printRulesJSON(llvm::raw_ostream &os);

} // namespace stg::trace

#endif // STG_TRACE_VALIDATE_TRACERULES_H
