//===- ProgramFacts.h - What the nodes of a program are for -----*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_ESTIMATE_PROGRAMFACTS_H
#define STG_LIB_ESTIMATE_PROGRAMFACTS_H

#include "stg/Trace/Program/TraceProgram.h"
#include <optional>
#include <vector>

namespace stg {

/// Follows tensors through the slots of a program.
class ProgramFacts {
public:
  explicit ProgramFacts(const trace::TraceProgram &program);

  /// True if the first result of the node is a gradient of a parameter.
  bool makesGradient(uint32_t node) const;
  /// True if the node casts a parameter that the device holds.
  bool castsParameter(uint32_t node) const;
  /// True if the node sends parameters or their gradients.
  bool isOfState(uint32_t node) const;
  /// True if what the node sends is summed up to gradients of parameters.
  bool reducesGradients(uint32_t node) const;
  /// True if the node adds up what such a collective has reduced.
  bool addsReduced(uint32_t node) const;
  /// True if all that reads a result of the node makes gradients of parameters.
  bool feedsGradients(uint32_t node) const;
  /// True if all that reads a result of the node is attention.
  bool feedsAttention(uint32_t node) const;
  /// True for an all-to-all of rows of experts.
  bool exchangesRows(uint32_t node) const;
  /// True if the node adds a bias to rows of experts that are combined next, or
  /// makes the gradient of such a bias.
  bool addsToRows(uint32_t node) const;
  /// True if the node is the activation behind a causal convolution, its
  /// gradient, or a convolution that is made again for that gradient alone.
  bool isOfConvolution(uint32_t node) const;
  /// True if the node reads what has more elements the more sequences a
  /// micro-batch has.
  bool grows(uint32_t node) const;
  /// Bytes of what the node reads and makes that grow so, at most all of its.
  int64_t getGrowingBytes(uint32_t node) const;
  /// Bytes of parameters and caches that the node reads. Rows that are looked
  /// up in a table, and what is appended to a cache, do not count.
  int64_t getStateBytes(uint32_t node) const;

private:
  using Program = trace::TraceProgram;
  using Category = trace::TensorCategory;

  void visitBody(uint32_t body);
  void visitStep(Program::Step step);
  void visitRepeat(const Program::Repeat &repeat);
  void visitCall(const Program::Call &call);
  void visitNode(uint32_t node);
  void copy(uint32_t from, uint32_t to) {
    links.push_back({from, to});
    if (categories[from])
      categories[to] = categories[from];
    bytes[to] = std::max(bytes[to], bytes[from]);
    isKept[to] = isKept[to] || isKept[from];
    growing[to] = std::max(growing[to], growing[from]);
  }

  const Program &program;
  std::vector<std::optional<Category>> categories; ///< By slot.
  std::vector<int64_t> bytes;                      ///< By slot, of one tensor.
  std::vector<bool> isKept;     ///< By slot: a state that a step begins with.
  std::vector<int64_t> growing; ///< By slot, bytes; 0: does not grow.
  std::vector<bool> isVisited;  ///< By body.
  bool feedsOnly(uint32_t node, const std::vector<uint32_t> &of) const;

  /// By slot, readers, those that make gradients, those that add it up, and
  /// those that are attention.
  std::vector<uint32_t> readers, gradientReaders, addingReaders,
      attentionReaders;
  std::vector<bool> isReduced; ///< By slot.
  /// The axes over which rows are sent that are put together for experts, or
  /// taken apart.
  llvm::SmallVector<trace::AxisMask, 1> rowAxes;
  void findRowAxes();
  /// By slot: rows of experts that are combined, and gradients of those.
  std::vector<bool> isCombined;
  void findCombinedRows();
  /// By slot: what a causal convolution makes, with its bias; what one reads in
  /// backward, or sums up for a bias; and what an activation's gradient alone
  /// reads of what backward makes again.
  std::vector<bool> isConvolved, isConvolvedGradient, isForGradient;
  void findConvolutions();
  /// By slot: no larger for more sequences, as the parameter that it is for.
  std::vector<bool> isOfParameter;
  void findParameterSized();
  /// Slots and others that are the same.
  std::vector<std::pair<uint32_t, uint32_t>> links;
};

} // namespace stg

#endif // STG_LIB_ESTIMATE_PROGRAMFACTS_H
