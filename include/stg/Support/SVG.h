//===- SVG.h - Pictures -----------------------------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_SUPPORT_SVG_H
#define STG_SUPPORT_SVG_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <utility>

namespace stg {

/// `text` as XML has it in text and in quotes.
std::string escapeXML(llvm::StringRef text);

/// Writes one picture. Lengths are in pixels; colours are those of CSS.
class SVGWriter {
public:
  /// `width` x `height`, on white.
  SVGWriter(llvm::raw_ostream &os, double width, double height);
  ~SVGWriter();
  SVGWriter(const SVGWriter &) = delete;
  SVGWriter &operator=(const SVGWriter &) = delete;

  /// What a shape says when a pointer is on it; empty: nothing.
  struct Style {
    llvm::StringRef fill = "none", stroke = "none";
    double strokeWidth = 1;
    llvm::StringRef title = "";
    double radius = 0; ///< Of the corners of a rectangle.
    bool isDashed = false;
  };
  enum class Anchor { Start, Middle, End };

  void rect(double x, double y, double width, double height,
            const Style &style);
  void line(double x1, double y1, double x2, double y2, llvm::StringRef stroke,
            double width = 1);
  /// `y` is that of the base line.
  void text(double x, double y, llvm::StringRef text, double size = 12,
            Anchor anchor = Anchor::Start, llvm::StringRef fill = "#000",
            bool isBold = false);
  using Points = llvm::ArrayRef<std::pair<double, double>>;
  void polygon(Points points, const Style &style);
  void polyline(Points points, const Style &style);
  /// A line that bends from one point to another below it, with an arrow head.
  void arrow(Points points, llvm::StringRef stroke, double width = 1);

private:
  void writeStyle(const Style &style, llvm::StringRef element);
  void writePoints(llvm::StringRef element, Points points, const Style &style);

  llvm::raw_ostream &os;
};

/// A number with at most two digits behind the point, and no zeros at the end.
std::string formatPixels(double value);

} // namespace stg

#endif // STG_SUPPORT_SVG_H
