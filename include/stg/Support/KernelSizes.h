//===- KernelSizes.h - What the sizes of a kernel are -----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel has a list of sizes, in the IR (`chakra.kernel`), in programs and in
// bundles. These are the lists of kernels that have more than elements of what
// they read and make, with a name for each size: symbolic ones where kernels
// are made, numbers where somebody wants to know how long they take.
//
//===----------------------------------------------------------------------===//

#ifndef STG_SUPPORT_KERNELSIZES_H
#define STG_SUPPORT_KERNELSIZES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace stg {

/// Of a product: of an einsum that contracts, or a convolution.
template <typename T> struct ProductSizes {
  /// Rows of the left operand, columns of the right one, what is summed over.
  T m, n, k;
  T batch; ///< What both have.
  /// Of the right operand, where it is stored otherwise, or read in part.
  std::optional<T> rightBytes = std::nullopt;

  static constexpr size_t kFewest = 4;

  explicit ProductSizes(T m, T n, T k, T batch)
      : m(m), n(n), k(k), batch(batch) {}
  /// Of a list of at least `kFewest` sizes.
  explicit ProductSizes(llvm::ArrayRef<T> sizes)
      : ProductSizes(sizes[0], sizes[1], sizes[2], sizes[3]) {
    if (sizes.size() > kFewest)
      rightBytes = sizes[kFewest];
  }

  llvm::SmallVector<T, 8> getList() const {
    llvm::SmallVector<T, 8> sizes = {m, n, k, batch};
    if (rightBytes)
      sizes.push_back(*rightBytes);
    return sizes;
  }
};

/// Of attention, or a block of it, and of their gradients.
template <typename T> struct AttentionSizes {
  /// Requests of one row that have as many new tokens.
  struct Requests {
    T newTokens;          ///< Of each.
    T count, keys, pairs; ///< Of all of them.
  };

  T batch; ///< Sequences.
  T heads, keyHeads;
  T queries, keys;      ///< Of a sequence.
  T keySize, valueSize; ///< Elements of a head.
  T pairs;              ///< A query and a key that are not masked, of a head.
  llvm::SmallVector<Requests, 1> requests = {};

  static constexpr size_t kFewest = 8;
  static constexpr size_t kOfRequests = 4;

  AttentionSizes() = default;
  /// Of a list of at least `kFewest` sizes.
  explicit AttentionSizes(llvm::ArrayRef<T> sizes)
      : batch(sizes[0]), heads(sizes[1]), keyHeads(sizes[2]), queries(sizes[3]),
        keys(sizes[4]), keySize(sizes[5]), valueSize(sizes[6]),
        pairs(sizes[7]) {
    for (llvm::ArrayRef<T> rest = sizes.drop_front(kFewest);
         rest.size() >= kOfRequests; rest = rest.drop_front(kOfRequests))
      requests.push_back({rest[0], rest[1], rest[2], rest[3]});
  }

  llvm::SmallVector<T, 8> getList() const {
    llvm::SmallVector<T, 8> sizes = {batch, heads,   keyHeads,  queries,
                                     keys,  keySize, valueSize, pairs};
    for (const Requests &own : requests)
      sizes.append({own.newTokens, own.count, own.keys, own.pairs});
    return sizes;
  }
};

/// Of what makes matrices orthogonal: of the block of a matrix that a
/// device has, its shorter and its longer side; how many matrices there are;
/// and how often each goes through a step of an iteration.
template <typename T> struct MatrixStepSizes {
  T shorter, longer, count, iterations;

  static constexpr size_t kFewest = 4;

  MatrixStepSizes(T shorter, T longer, T count, T iterations)
      : shorter(shorter), longer(longer), count(count), iterations(iterations) {
  }
  /// Of a list of at least `kFewest` sizes.
  explicit MatrixStepSizes(llvm::ArrayRef<T> sizes)
      : MatrixStepSizes(sizes[0], sizes[1], sizes[2], sizes[3]) {}

  llvm::SmallVector<T, 8> getList() const {
    return {shorter, longer, count, iterations};
  }
};

/// Of a router's choice.
template <typename T> struct ChoiceSizes {
  T scores, chosen; ///< Elements.
  /// Groups of experts, and from how many of them experts are chosen.
  struct Groups {
    T all, chosen;
  };
  std::optional<Groups> groups = std::nullopt;

  static constexpr size_t kFewest = 2;

  ChoiceSizes(T scores, T chosen) : scores(scores), chosen(chosen) {}
  /// Of a list of at least `kFewest` sizes.
  explicit ChoiceSizes(llvm::ArrayRef<T> sizes)
      : ChoiceSizes(sizes[0], sizes[1]) {
    if (sizes.size() >= kFewest + 2)
      groups = Groups{sizes[2], sizes[3]};
  }

  llvm::SmallVector<T, 8> getList() const {
    llvm::SmallVector<T, 8> sizes = {scores, chosen};
    if (groups)
      sizes.append({groups->all, groups->chosen});
    return sizes;
  }
};

} // namespace stg

#endif // STG_SUPPORT_KERNELSIZES_H
