//===- SVG.cpp - Pictures -------------------------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Support/SVG.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace llvm;
using namespace stg;

std::string stg::escapeXML(StringRef text) {
  std::string result;
  for (char c : text) {
    switch (c) {
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '&':
      result += "&amp;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      result += c;
    }
  }
  return result;
}

std::string stg::formatPixels(double value) {
  std::string text;
  raw_string_ostream(text) << format("%.2f", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.')
    text.pop_back();
  return text == "-0" ? "0" : text;
}

SVGWriter::SVGWriter(raw_ostream &os, double width, double height) : os(os) {
  std::string w = formatPixels(width), h = formatPixels(height);
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << w
     << "\" height=\"" << h << "\" viewBox=\"0 0 " << w << ' ' << h
     << "\" font-family=\"Helvetica, Arial, sans-serif\">\n";
  rect(0, 0, width, height, {"#fff"});
}

SVGWriter::~SVGWriter() { os << "</svg>\n"; }

/// Ends an element that has begun.
void SVGWriter::writeStyle(const Style &style, StringRef element) {
  os << " fill=\"" << style.fill << '"';
  if (style.stroke != "none")
    os << " stroke=\"" << style.stroke << "\" stroke-width=\""
       << formatPixels(style.strokeWidth) << '"';
  if (style.isDashed)
    os << " stroke-dasharray=\"4 3\"";
  if (style.title.empty())
    os << "/>\n";
  else
    os << "><title>" << escapeXML(style.title) << "</title></" << element
       << ">\n";
}

void SVGWriter::rect(double x, double y, double width, double height,
                     const Style &style) {
  os << "<rect x=\"" << formatPixels(x) << "\" y=\"" << formatPixels(y)
     << "\" width=\"" << formatPixels(width) << "\" height=\""
     << formatPixels(height) << '"';
  if (style.radius > 0)
    os << " rx=\"" << formatPixels(style.radius) << '"';
  writeStyle(style, "rect");
}

void SVGWriter::line(double x1, double y1, double x2, double y2,
                     StringRef stroke, double width) {
  os << "<line x1=\"" << formatPixels(x1) << "\" y1=\"" << formatPixels(y1)
     << "\" x2=\"" << formatPixels(x2) << "\" y2=\"" << formatPixels(y2)
     << "\" stroke=\"" << stroke << "\" stroke-width=\"" << formatPixels(width)
     << "\"/>\n";
}

void SVGWriter::text(double x, double y, StringRef text, double size,
                     Anchor anchor, StringRef fill, bool isBold) {
  os << "<text x=\"" << formatPixels(x) << "\" y=\"" << formatPixels(y)
     << "\" font-size=\"" << formatPixels(size) << '"';
  if (anchor != Anchor::Start)
    os << " text-anchor=\"" << (anchor == Anchor::Middle ? "middle" : "end")
       << '"';
  if (fill != "#000")
    os << " fill=\"" << fill << '"';
  if (isBold)
    os << " font-weight=\"bold\"";
  os << '>' << escapeXML(text) << "</text>\n";
}

void SVGWriter::writePoints(StringRef element, Points points,
                            const Style &style) {
  os << '<' << element << " points=\"";
  StringRef separator;
  for (auto [x, y] : points) {
    os << separator << formatPixels(x) << ',' << formatPixels(y);
    separator = " ";
  }
  os << '"';
  writeStyle(style, element);
}

void SVGWriter::polygon(Points points, const Style &style) {
  writePoints("polygon", points, style);
}

void SVGWriter::polyline(Points points, const Style &style) {
  writePoints("polyline", points, style);
}

void SVGWriter::arrow(Points points, StringRef stroke, double width) {
  polyline(points, {"none", stroke, width});
  auto [x, y] = points.back();
  auto [fromX, fromY] = points[points.size() - 2];
  double length = std::hypot(x - fromX, y - fromY);
  if (length == 0)
    return;
  constexpr double size = 6;
  double dx = (x - fromX) / length * size, dy = (y - fromY) / length * size;
  polygon({{x, y},
           {x - dx + dy / 2, y - dy - dx / 2},
           {x - dx - dy / 2, y - dy + dx / 2}},
          {stroke});
}
