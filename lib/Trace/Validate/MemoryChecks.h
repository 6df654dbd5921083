//===- MemoryChecks.h - Rules for the tensors of one rank -------*- C++ -*-===//
//
// Rule 8 and rule 2.7: what the nodes of a rank say about the tensors that they
// read and write, and whether the dependencies order writers before readers.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TRACE_VALIDATE_MEMORYCHECKS_H
#define STG_LIB_TRACE_VALIDATE_MEMORYCHECKS_H

#include "NodeChecks.h"
#include "RankGraph.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace stg::trace {

/// Collects writes while a rank is read, and those reads that are not of a
/// tensor that a direct dependency has written, and checks these at its end.
/// Tensors are known by a hash of 128 bits, so that nobody goes back to the
/// file for their names.
class MemoryChecker {
public:
  /// The nodes before the one that is added stand in `graph`.
  MemoryChecker(const RankContext &context, const RankGraph &graph,
                ViolationList &violations)
      : context(context), graph(graph), violations(violations) {}

  /// Takes the names of persistent tensors; one that ends in `*` is a prefix.
  void addMetadata(const Metadata &metadata);

  /// Checks the lists of one node, which becomes node `index` of the graph. Its
  /// dependencies are only looked at if all ids so far are `distinct`.
  void addNode(const Node &node, uint32_t index, bool distinct);
  /// Makes room for so many tensors that are written.
  void reserve(size_t count) { writers.reserve(count); }

  /// Reports a violation at node `index`.
  using Reporter =
      llvm::function_ref<void(Rule, uint32_t index, const llvm::Twine &)>;

  /// Reads node `index` again.
  using NodeReader = llvm::function_ref<void(uint32_t index, Node &)>;

  /// Checks each read against the writes. `order` is a topological order;
  /// with `isComplete` unset some nodes could not be read, and nothing is said
  /// about tensors without a writer.
  void finish(llvm::ArrayRef<uint32_t> order, bool isComplete,
              NodeReader readNode, Reporter report);

private:
  using TensorKey = std::pair<uint64_t, uint64_t>;
  struct Read {
    TensorKey tensor;
    uint64_t bytes = 0;
    uint32_t node = 0;
    bool isPersistent = false;
  };
  struct Write {
    uint64_t bytes;
    uint32_t node;
  };

  static TensorKey getKey(llvm::StringRef name);

  void report(Rule rule, const Node &node, const llvm::Twine &message);
  llvm::ArrayRef<llvm::StringRef> getNames(const Node &node,
                                           llvm::StringRef attribute);
  void checkSizes(const Node &node, llvm::StringRef attribute,
                  llvm::ArrayRef<llvm::StringRef> list);
  void addReads(const Node &node, uint32_t index, llvm::StringRef attribute);
  void addWrites(const Node &node, uint32_t index, llvm::StringRef attribute);
  void addRead(const Node &node, uint32_t index, llvm::StringRef name,
               uint64_t bytes);
  void addWrite(const Node &node, const Write &write, llvm::StringRef name);
  bool isPersistent(llvm::StringRef name) const;
  bool mustBePersistent() const {
    return listsPersistent || context.options.strictMemory;
  }

  const RankContext &context;
  const RankGraph &graph;
  ViolationList &violations;
  /// True if the metadata says which tensors are persistent.
  bool listsPersistent = false;
  bool usesHost = false; ///< The trace has transfers.
  llvm::DenseSet<llvm::StringRef> persistentNames;
  llvm::SmallVector<llvm::StringRef, 4> persistentPrefixes;
  std::vector<Read> reads;
  /// Reads behind a collective that changes the tensor in place, which is no
  /// direct dependency.
  struct ChangedRead {
    uint32_t change; ///< The node of the collective.
    Read read;
  };
  std::vector<ChangedRead> changedReads;
  /// Collectives that change a tensor in place.
  llvm::DenseMap<TensorKey, llvm::SmallVector<uint32_t, 1>> changes;
  /// Who writes tensors first, and how much.
  llvm::DenseMap<TensorKey, Write> writers;
  /// Of the node that is added, ascending.
  llvm::SmallVector<uint64_t> directDeps;
};

} // namespace stg::trace

#endif // STG_LIB_TRACE_VALIDATE_MEMORYCHECKS_H
