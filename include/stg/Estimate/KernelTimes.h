//===- KernelTimes.h - How long a kernel takes on a machine -----*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Seconds of kernels from their shapes, as docs/Rationale/Estimates.md says.
// Numbers of the machine are looked up once; asking for a time allocates
// nothing.
//
//===----------------------------------------------------------------------===//

#ifndef STG_ESTIMATE_KERNELTIMES_H
#define STG_ESTIMATE_KERNELTIMES_H

#include "stg/Machine/Machine.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include <optional>

namespace stg {

/// `batch` products of M x K by K x N.
struct ProductShape {
  int64_t m = 1, n = 1, k = 1, batch = 1;
  double operandBytes = 2, resultBytes = 2; ///< Of one element.
  /// Of all of the right operand, where it is not stored in such elements.
  std::optional<int64_t> rightBytes = std::nullopt;
  /// Of all operands and results, where a product reads elements of the left
  /// one several times, as a convolution does.
  std::optional<double> bytes = std::nullopt;

  double getOperations() const { return 2. * m * n * k * batch; }
};

/// The product with so many operations whose operands and result have so many
/// elements: what can be said of a trace, which has no shapes. None if there is
/// no such product, as where an operand is read from several tensors.
std::optional<ProductShape> deriveProduct(int64_t operations, int64_t left,
                                          int64_t right, int64_t result);

/// Fused attention, in which sequences may have different lengths.
struct AttentionShape {
  /// `batch` alike sequences.
  struct Sequences {
    int64_t batch = 1;
    int64_t queries = 1; ///< Of each.
    double keys = 1;     ///< Of each, on average.
    /// Pairs of a query and a key that are not masked, of each.
    double pairs = 1;
  };
  int64_t heads = 1, kvHeads = 1;
  int64_t keySize = 1, valueSize = 1; ///< Elements of a head.
  bool isBackward = false;
  llvm::SmallVector<Sequences, 2> sequences;
  double elementBytes = 2; ///< Of one element.
  /// All that forward reads and writes, where elements have several types, or
  /// keys and values are in one buffer.
  std::optional<double> bytes = std::nullopt;
};

/// What products of one element type do on a machine.
struct ProductRates {
  double peak = 0;                ///< FLOP/s of the device.
  double tiles[4] = {1, 1, 1, 1}; ///< Of the peak: 256x128 to 64x64.
  double prologue = 0, fixed = 0, bandwidth = 0, ceiling = 1;
};

class KernelTimes {
public:
  /// Fails if the machine has no attention kernel of this name. It need not
  /// have such kernels of scans.
  static llvm::Expected<KernelTimes> get(const Machine &machine,
                                         llvm::StringRef attentionKernel,
                                         llvm::StringRef scanKernels = "");

  /// Null if the machine has no peak for the type.
  const ProductRates *findRates(llvm::StringRef elementType) const;

  /// Of elements of so many bytes, a type that the machine has no peak for.
  ProductRates getOtherRates(double bytes) const;

  double getProduct(const ProductRates &rates, const ProductShape &shape) const;
  /// So many operations, at the rate of the largest products: what takes less
  /// does not exist.
  double getOperations(const ProductRates &rates, double operations) const;
  double getAttention(const ProductRates &rates,
                      const AttentionShape &shape) const;
  /// A scan of so many operations, in chunks of which so many wait for one
  /// another.
  double getScan(const ProductRates &rates, double operations, int64_t chunks,
                 bool isBackward) const;
  /// A kernel that is bound by memory.
  double getElementwise(double bytes) const;
  /// What any kernel takes beside what it does.
  double getFixed() const { return fixed; }

private:
  void readRates(const Machine &machine, llvm::StringRef elementType);

  llvm::StringMap<ProductRates> rates;
  const PeakType *reference = nullptr; ///< Null before it is read.
  double cores = 1, sustained = 1, unaligned = 1;
  double fixed = 0, bandwidth = 0;
  struct {
    double rate = 1, overhead = 0, fixed = 0, backward = 1;
    double softmax = 0, softmaxBackward = 0;
  } attention;
  struct ScanRates {
    double rate = 1, backward = 1, step = 0, fixed = 0;
  };
  std::optional<ScanRates> scan;
};

} // namespace stg

#endif // STG_ESTIMATE_KERNELTIMES_H
