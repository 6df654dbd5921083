//===- MemoryChecks.h - Rules for the tensors of one rank -------*- C++ -*-===//
//
// Rule 8 and rule 2.7: what the nodes of a rank say about the tensors that they
// read and write, and whether the dependencies order writers before readers.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TRACE_MEMORYCHECKS_H
#define STG_LIB_TRACE_MEMORYCHECKS_H

#include "NodeChecks.h"
#include "RankGraph.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace stg::trace {

/// Collects reads and writes while a rank is read, and checks them at its end.
/// Names point into the trace's buffer.
class MemoryChecker {
public:
  MemoryChecker(const RankContext &context, ViolationList &violations)
      : context(context), violations(violations) {}

  /// Takes the names of persistent tensors; one that ends in `*` is a prefix.
  void addMetadata(const Metadata &metadata);

  /// Checks the lists of one node, which becomes node `index` of the graph.
  void addNode(const Node &node, uint32_t index);

  /// Reports a violation at node `index`.
  using Reporter =
      llvm::function_ref<void(Rule, uint32_t index, const llvm::Twine &)>;

  /// Checks each read against the writes. `order` is a topological order;
  /// with `isComplete` unset some nodes could not be read, and nothing is said
  /// about tensors without a writer.
  void finish(const RankGraph &graph, llvm::ArrayRef<uint32_t> order,
              bool isComplete, Reporter report);

private:
  struct Read {
    uint32_t node = 0;
    llvm::StringRef name;
  };
  struct Writer {
    uint32_t node = 0;
    uint64_t id = 0;
  };

  void report(Rule rule, const Node &node, const llvm::Twine &message);
  llvm::ArrayRef<llvm::StringRef> getNames(const Node &node,
                                           llvm::StringRef attribute);
  void checkSizes(const Node &node, llvm::StringRef attribute,
                  llvm::ArrayRef<llvm::StringRef> list);
  void addWrite(const Node &node, uint32_t index, llvm::StringRef name);
  bool isPersistent(llvm::StringRef name) const;
  bool mustBePersistent() const {
    return listsPersistent || context.options.strictMemory;
  }

  const RankContext &context;
  ViolationList &violations;
  /// True if the metadata says which tensors are persistent.
  bool listsPersistent = false;
  llvm::DenseSet<llvm::StringRef> persistentNames;
  llvm::SmallVector<llvm::StringRef, 4> persistentPrefixes;
  std::vector<Read> reads;
  llvm::DenseMap<llvm::StringRef, Writer> writers;
};

} // namespace stg::trace

#endif // STG_LIB_TRACE_MEMORYCHECKS_H
