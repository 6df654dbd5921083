//===- PipelinePicture.cpp - A step as a picture --------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Estimate/PipelinePicture.h"
#include "stg/Support/Phases.h"
#include "stg/Support/SVG.h"
#include "stg/Support/Units.h"
#include "stg/Trace/Program/LiveTensors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

using namespace llvm;
using namespace stg;
using namespace stg::trace;

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

static PipelineBox::Kind getKind(StringRef phase) {
  if (phase == kForwardPhase)
    return PipelineBox::Forward;
  if (phase == kBackwardPhase || phase == kRecomputePhase)
    return PipelineBox::Backward;
  if (phase == kWeightGradPhase)
    return PipelineBox::Weights;
  return phase == kOptimizerPhase ? PipelineBox::Optimizer : PipelineBox::Other;
}

namespace {
/// A task, before it is known what the others are.
struct FoundTask {
  PipelineBox box;
  uint32_t step;
  uint32_t firstEvent;
  std::optional<int64_t> firstLayer; ///< See TaskBody.
};
} // namespace

static std::optional<FoundTask> findTask(const TraceProgram &program,
                                         const Recording &recording,
                                         const RecordedEvent &task,
                                         uint32_t index) {
  FoundTask found{{}, task.index, task.link, std::nullopt};
  auto events = ArrayRef(recording.events).slice(task.link, index - task.link);
  const auto *kernel = llvm::find_if(events, [](const RecordedEvent &event) {
    return event.kind == RecordedEvent::Kernel;
  });
  if (kernel == events.end())
    return std::nullopt;
  found.box.start = kernel->start;
  found.box.end = task.end;
  found.box.kind = getKind(program.nodes[kernel->index].phase);
  if (std::optional<TaskBody> body = TaskBody::get(program, task)) {
    if (body->phase.empty())
      return std::nullopt;
    found.box.kind = getKind(body->phase);
    found.firstLayer = body->firstLayer;
  }
  if (task.index != kNone)
    found.box.microBatch = task.turn;
  return found;
}

std::vector<PipelineBox> stg::getPipelineBoxes(const TraceProgram &program,
                                               const Recording &recording) {
  std::vector<FoundTask> tasks;
  for (auto [i, event] : enumerate(recording.events))
    if (event.kind == RecordedEvent::Task)
      if (auto task = findTask(program, recording, event, i))
        tasks.push_back(*task);
  std::set<int64_t> layers;
  for (const FoundTask &task : tasks)
    if (task.step != kNone && task.firstLayer)
      layers.insert(*task.firstLayer);
  for (size_t i = 1; i < tasks.size(); ++i)
    if (tasks[i].step != kNone && tasks[i - 1].step != kNone &&
        tasks[i].firstEvent == tasks[i - 1].firstEvent) {
      tasks[i - 1].box.place = PipelineBox::Above;
      tasks[i].box.place = PipelineBox::Below;
    }
  std::vector<PipelineBox> boxes;
  // By micro-batch and virtual stage, the step that was backward first: what
  // comes after it is for weights.
  std::map<std::pair<uint32_t, unsigned>, uint32_t> backward;
  for (FoundTask &task : tasks) {
    PipelineBox &box = task.box;
    if (task.step != kNone && task.firstLayer)
      box.chunk = std::distance(layers.begin(), layers.find(*task.firstLayer));
    if (box.kind == PipelineBox::Backward && task.step != kNone) {
      auto it =
          backward.try_emplace({box.microBatch, box.chunk}, task.step).first;
      if (it->second != task.step)
        box.kind = PipelineBox::Weights;
    }
    boxes.push_back(box);
  }
  return boxes;
}

//===----------------------------------------------------------------------===//
// Drawing
//===----------------------------------------------------------------------===//

namespace {
constexpr double kLeft = 92, kRight = 150, kTop = 66, kBottom = 36;
constexpr double kBoxes = 26, kStrip = 10, kMemory = 28, kGap = 12;
constexpr double kRow = kBoxes + kStrip + kMemory + kGap;

struct Colour {
  unsigned red, green, blue;

  std::string str() const {
    return formatv("#{0:x-2}{1:x-2}{2:x-2}", red, green, blue).str();
  }
  Colour darker(double factor) const {
    auto part = [&](unsigned value) {
      return static_cast<unsigned>(value * factor);
    };
    return {part(red), part(green), part(blue)};
  }
  bool isDark() const { return 3 * red + 6 * green + blue < 1300; }
};

class PictureWriter {
public:
  PictureWriter(const PipelinePicture &picture, raw_ostream &os);

  void write();

private:
  static std::vector<std::vector<PipelineBox>>
  getAllBoxes(const PipelinePicture &picture);
  static double getWidth(ArrayRef<std::vector<PipelineBox>> boxes);
  double getX(Ticks time) const {
    return kLeft + width * double(time) / double(std::max<Ticks>(total, 1));
  }
  void writeCaption();
  void writeLegend();
  void writeAxis();
  void writeRow(size_t index, uint32_t classIndex);
  void writeBox(const PipelineBox &box, double y);
  void writeExposed(uint32_t classIndex, double y);
  void writeMemory(uint32_t classIndex, double y);
  void findMemory();
  std::string getLabel(uint32_t classIndex) const;

  const PipelinePicture &picture;
  const Ticks total;
  std::vector<std::vector<PipelineBox>> boxes; ///< By class.
  double width;                                ///< Of the axis.
  SVGWriter svg;
  /// By class and pixel, the most bytes of activations.
  std::vector<std::vector<double>> memory;
  std::vector<double> peaks; ///< By class.
};
} // namespace

static Colour getColour(const PipelineBox &box) {
  static constexpr Colour colours[] = {{57, 122, 242},
                                       {68, 211, 218},
                                       {224, 240, 231},
                                       {200, 83, 8},
                                       {190, 190, 190}};
  double shade = std::max(0.4, 1 - 0.22 * box.chunk);
  return colours[box.kind].darker(shade);
}

static StringRef getName(PipelineBox::Kind kind) {
  static constexpr StringLiteral names[] = {
      "forward", "backward", "backward of weights", "optimizer", "other"};
  return names[kind];
}

/// Of groups of axes, in their order.
static StringRef getGroupColour(size_t group) {
  static constexpr StringLiteral colours[] = {"#e34234", "#8e44ad", "#99803a",
                                              "#2e7d32", "#c2185b", "#455a64"};
  return colours[group % std::size(colours)];
}

std::vector<std::vector<PipelineBox>>
PictureWriter::getAllBoxes(const PipelinePicture &picture) {
  std::vector<std::vector<PipelineBox>> boxes;
  for (auto [own, recording] :
       zip(picture.programs.getClasses(), picture.recording.classes))
    boxes.push_back(getPipelineBoxes(own.program, recording));
  return boxes;
}

/// Room for the number of a micro-batch in a box of mean length.
double PictureWriter::getWidth(ArrayRef<std::vector<PipelineBox>> boxes) {
  size_t most = 0;
  for (ArrayRef<PipelineBox> row : boxes)
    most = std::max(most, row.size());
  return std::clamp(18. * double(most), 900., 8000.);
}

PictureWriter::PictureWriter(const PipelinePicture &picture, raw_ostream &os)
    : picture(picture), total(picture.step.total), boxes(getAllBoxes(picture)),
      width(getWidth(boxes)),
      svg(os, kLeft + width + kRight,
          kTop + kRow * double(boxes.size()) + kBottom) {}

/// `pp 2`: where the class is on the axes that tell classes apart.
std::string PictureWriter::getLabel(uint32_t classIndex) const {
  const TraceBundle::Class &own = picture.programs.getClasses()[classIndex];
  std::string label;
  for (RankClass::Coordinate coordinate : own.ranks.getCoordinates())
    label += (label.empty() ? "" : ", ") +
             picture.programs.getSpace().getAxes()[coordinate.axis].name + " " +
             itostr(coordinate.value);
  return label.empty() ? own.name.str() : label;
}

void PictureWriter::writeCaption() {
  double bubble = 0, ranks = 0;
  uint32_t microBatches = 0;
  for (const ClassTimes &entry : picture.step.classes) {
    bubble += double(entry.spending.bubble) * double(entry.ranks);
    ranks += double(entry.ranks);
  }
  for (ArrayRef<PipelineBox> row : boxes)
    for (const PipelineBox &box : row)
      if (box.microBatch != kNone)
        microBatches = std::max(microBatches, box.microBatch + 1);
  std::string text;
  raw_string_ostream os(text);
  os << format("step %.6g s", picture.step.getSeconds()) << ", "
     << picture.programs.getSpace().getNumRanks() << " ranks";
  if (microBatches)
    os << ", " << microBatches << " micro-batches";
  os << format(", bubble %.1f %% of the time of all ranks",
               100 * bubble / (ranks * double(std::max<Ticks>(total, 1))));
  svg.text(kLeft, 22, text, 14, SVGWriter::Anchor::Start, "#000", true);
}

void PictureWriter::writeLegend() {
  double x = kLeft;
  auto add = [&](StringRef colour, StringRef name) {
    svg.rect(x, 36, 12, 12, {colour, "#666", 0.5});
    svg.text(x + 16, 46, name, 11);
    x += 34 + 6.2 * double(name.size());
  };
  std::set<std::pair<PipelineBox::Kind, unsigned>> kinds;
  for (ArrayRef<PipelineBox> row : boxes)
    for (const PipelineBox &box : row)
      kinds.insert({box.kind, box.chunk});
  for (auto [kind, chunk] : kinds) {
    std::string name = getName(kind).str();
    if (chunk)
      name = "stage " + utostr(chunk + 1) + " of the device";
    if (!chunk || kind == PipelineBox::Forward)
      add(getColour({kind, kNone, chunk, 0, 0, PipelineBox::Alone}).str(),
          name);
  }
  for (auto [i, name] : enumerate(picture.step.groups))
    if (any_of(picture.step.classes, [&, group = i](const ClassTimes &entry) {
          return entry.spending.exposed[group] > 0;
        }))
      add(getGroupColour(i), "exposed " + name);
  add("#f2e3b3", "activations");
}

/// A step of 1, 2 or 5 times a power of ten that gives about ten of them.
static double getTick(double seconds) {
  double power = std::pow(10, std::floor(std::log10(seconds / 8)));
  for (double factor : {1., 2., 5.})
    if (seconds / (factor * power) <= 12)
      return factor * power;
  return 10 * power;
}

void PictureWriter::writeAxis() {
  const double seconds = picture.step.getSeconds();
  const double y = kTop + kRow * double(boxes.size());
  svg.line(kLeft, y, kLeft + width, y, "#000");
  if (seconds <= 0)
    return;
  const double tick = getTick(seconds);
  const bool isLong = seconds >= 2;
  for (int64_t i = 0; double(i) * tick <= seconds; ++i) {
    double x = getX(toTicks(double(i) * tick));
    svg.line(x, y, x, y + 5, "#000");
    std::string text;
    raw_string_ostream(text)
        << format("%.6g", double(i) * tick * (isLong ? 1 : 1000));
    svg.text(x, y + 18, text, 11, SVGWriter::Anchor::Middle);
  }
  svg.text(kLeft + width + 8, y + 18, isLong ? "s" : "ms", 11);
}

void PictureWriter::writeBox(const PipelineBox &box, double y) {
  double x = getX(box.start), length = getX(box.end) - x;
  const double height = box.place == PipelineBox::Alone ? kBoxes : kBoxes / 2;
  if (box.place == PipelineBox::Below)
    y += height;
  Colour colour = getColour(box);
  std::string number, title = getName(box.kind).str();
  if (box.microBatch != kNone) {
    number = utostr(box.microBatch);
    title += " of micro-batch " + number;
  }
  raw_string_ostream(title) << format(
      ": %.6g to %.6g ms", double(box.start) / 1e9, double(box.end) / 1e9);
  std::string fill = colour.str();
  svg.rect(x, y, std::max(length, 0.3), height, {fill, "#444", 0.5, title});
  double size = std::min(11., (length - 1) / (0.62 * double(number.size())));
  if (!number.empty() && size >= 5)
    svg.text(x + length / 2, y + height / 2 + size * 0.36, number, size,
             SVGWriter::Anchor::Middle, colour.isDark() ? "#fff" : "#000");
}

/// By pixel, the share of its time in which kernels wait for communication.
void PictureWriter::writeExposed(uint32_t classIndex, double y) {
  const size_t pixels = static_cast<size_t>(width);
  const size_t groups = picture.step.groups.size();
  std::vector<std::vector<double>> shares(groups,
                                          std::vector<double>(pixels, 0));
  const double perPixel = double(total) / double(pixels);
  for (const RecordedEvent &event :
       picture.recording.classes[classIndex].events) {
    if (event.kind != RecordedEvent::Exposed)
      continue;
    double from = double(event.start) / perPixel,
           to = double(event.end) / perPixel;
    for (size_t i = static_cast<size_t>(from); i < pixels && double(i) < to;
         ++i)
      shares[event.group][i] +=
          std::min(to, double(i + 1)) - std::max(from, double(i));
  }
  std::vector<double> base(pixels, 0);
  for (size_t group = 0; group < groups; ++group)
    for (size_t i = 0; i < pixels;) {
      // Pixels that are alike are one rectangle.
      auto height = [&](size_t pixel) {
        return std::round(shares[group][pixel] * kStrip * 4) / 4;
      };
      size_t end = i + 1;
      while (end < pixels && height(end) == height(i) && base[end] == base[i])
        ++end;
      double tall = height(i), low = base[i];
      if (tall > 0)
        svg.rect(kLeft + double(i), y + kStrip - low - tall, double(end - i),
                 tall,
                 {getGroupColour(group), "none", 1,
                  "exposed " + picture.step.groups[group]});
      for (; i < end; ++i)
        base[i] += tall;
    }
}

void PictureWriter::findMemory() {
  const size_t pixels = static_cast<size_t>(width);
  for (auto [own, recording] :
       zip(picture.programs.getClasses(), picture.recording.classes)) {
    ProgramRunner runner(own.program);
    FlatNode node;
    while (runner.next(node))
      ;
    LiveTensors tensors(own.program, runner);
    std::vector<double> most(pixels, 0);
    double last = 0, peak = 0;
    size_t place = 0;
    auto setUntil = [&](size_t pixel) {
      for (; place < std::min(pixel, pixels); ++place)
        most[place] = std::max(most[place], last);
    };
    for (const RecordedEvent &event : recording.events) {
      if (!event.isNode())
        continue;
      Ticks time =
          event.kind == RecordedEvent::Kernel ? event.start : event.issue;
      setUntil(
          static_cast<size_t>(double(time) / double(total) * double(pixels)));
      last = static_cast<double>(
          tensors.next()[static_cast<unsigned>(TensorCategory::Activation)]);
      peak = std::max(peak, last);
      if (place < pixels)
        most[place] = std::max(most[place], last);
    }
    setUntil(pixels);
    memory.push_back(std::move(most));
    peaks.push_back(peak);
  }
}

void PictureWriter::writeMemory(uint32_t classIndex, double y) {
  double highest = *llvm::max_element(peaks);
  if (highest <= 0)
    return;
  std::vector<std::pair<double, double>> points = {{kLeft, y + kMemory}};
  double last = -1;
  const std::vector<double> &most = memory[classIndex];
  for (size_t i = 0; i < most.size(); ++i) {
    double top =
        y + kMemory - std::round(most[i] / highest * kMemory * 10) / 10;
    if (top == last)
      continue;
    double x = kLeft + double(i);
    points.push_back({x, points.back().second});
    points.push_back({x, top});
    last = top;
  }
  points.push_back({kLeft + width, points.back().second});
  points.push_back({kLeft + width, y + kMemory});
  svg.polygon(points, {"#f2e3b3", "#b08d2a", 0.7});
}

void PictureWriter::writeRow(size_t index, uint32_t classIndex) {
  double y = kTop + kRow * double(index);
  const ClassTimes &times = picture.step.classes[classIndex];
  svg.text(kLeft - 8, y + kBoxes / 2 + 4, getLabel(classIndex), 12,
           SVGWriter::Anchor::End);
  svg.line(kLeft, y + kBoxes, kLeft + width, y + kBoxes, "#bbb", 0.5);
  for (const PipelineBox &box : boxes[classIndex])
    writeBox(box, y);
  writeExposed(classIndex, y + kBoxes);
  writeMemory(classIndex, y + kBoxes + kStrip);
  std::string bubble, peak;
  raw_string_ostream(bubble) << format(
      "bubble %.1f %%", 100. * double(times.spending.bubble) / double(total));
  svg.text(kLeft + width + 8, y + kBoxes / 2 + 4, bubble, 11);
  svg.text(kLeft + width + 8, y + kBoxes + kStrip + kMemory / 2 + 4,
           "peak " + asBytes(static_cast<__int128>(peaks[classIndex])), 11);
}

void PictureWriter::write() {
  findMemory();
  writeCaption();
  writeLegend();
  std::vector<std::pair<int64_t, uint32_t>> order;
  for (auto [i, own] : enumerate(picture.programs.getClasses()))
    order.push_back({own.ranks[0], i});
  llvm::sort(order);
  for (auto [i, entry] : enumerate(order))
    writeRow(i, entry.second);
  writeAxis();
}

void PipelinePicture::write(raw_ostream &os) const {
  PictureWriter(*this, os).write();
}
