//===- TraceWriter.cpp - The files of a trace set -------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Files/TraceWriter.h"
#include "ExportDirectory.h"
#include "stg/Trace/Program/TraceEncoder.h"
#include "stg/Trace/Reader/Progress.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Threading.h"
#include <atomic>
#include <thread>

using namespace llvm;
using namespace stg::trace;

/// A class of more nodes than this is not kept as an image (of some 400 bytes a
/// node) but encoded again for each rank.
static constexpr uint64_t kMaxNodesOfImage = 1 << 18;

namespace {
/// The number of bytes written to it.
class CountingStream : public raw_ostream {
public:
  CountingStream() { SetUnbuffered(); }

private:
  void write_impl(const char *, size_t size) override { position += size; }
  uint64_t current_pos() const override { return position; }

  uint64_t position = 0;
};

/// The work on one set.
class Writer {
public:
  Writer(const TraceBundle &bundle, const WriteOptions &options)
      : bundle(bundle), options(options),
        ranks(options.ranks.value_or(
            RankRange(0, bundle.getSpace().getNumRanks()))),
        directory(bundle, options.directory),
        numThreads(
            hardware_concurrency(options.threads).compute_thread_count()),
        progress("written", ranks.second - ranks.first, options.quiet) {}

  Expected<WriteResult> run();

private:
  /// A class and its ranks that are written.
  struct Work {
    const TraceBundle::Class *entry;
    int64_t firstPosition, endPosition;
    /// Empty where the class is too long for an image.
    ClassImage image;
    std::vector<RankField> fields;
    bool hasImage = false;
  };

  Error prepare();
  Error writeGroups();
  std::vector<Work> collectWork() const;
  void encode(Work &work) const;
  Error writeBatch(MutableArrayRef<Work> batch);
  Error writeRank(const Work &work, int64_t rank, RankImage &image,
                  FileWriter &writer);
  void runOnThreads(int64_t count, function_ref<void(unsigned)> work) const;

  const TraceBundle &bundle;
  const WriteOptions &options;
  RankRange ranks;
  ExportDirectory directory;
  unsigned numThreads;
  Progress progress;
  std::atomic<uint64_t> filesKept = 0, bytesWritten = 0;
};
} // namespace

/// Calls `work` with 0, 1, ..., each on a thread of its own, but no more
/// threads than `count`. Plain threads, as the futures of llvm::ThreadPool are
/// made in our code and completed in libLLVM, which a thread sanitizer can only
/// report as a race.
void Writer::runOnThreads(int64_t count,
                          function_ref<void(unsigned)> work) const {
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < numThreads && i < count; ++i)
    threads.emplace_back(work, i);
  if (count > 0)
    work(0);
  for (std::thread &thread : threads)
    thread.join();
}

Error Writer::prepare() {
  if (options.ranks)
    return directory.join();
  return options.resume ? directory.resume() : directory.replace();
}

Error Writer::writeGroups() {
  FileWriter writer(options.directory, (Twine(ranks.first) + "-groups").str());
  return writer.write("comm_group.json",
                      [&](raw_ostream &os) { bundle.writeGroups(os); });
}

std::vector<Writer::Work> Writer::collectWork() const {
  std::vector<Work> all;
  for (const TraceBundle::Class &entry : bundle.getClasses()) {
    Work work = {&entry,
                 entry.ranks.countBelow(ranks.first),
                 entry.ranks.countBelow(ranks.second),
                 {},
                 {}};
    if (work.firstPosition < work.endPosition)
      all.push_back(std::move(work));
  }
  return all;
}

void Writer::encode(Work &work) const {
  const TraceProgram &program = work.entry->program;
  if (program.getNumNodes() > kMaxNodesOfImage)
    return;
  ProgramRunner runner(program);
  TraceEncoder encoder(program, runner, bundle.getVersion());
  FlatNode node;
  while (runner.next(node))
    encoder.encode(node);
  work.image = std::move(encoder.getImage());
  work.fields = encoder.getFields().vec();
  work.hasImage = true;
}

Error Writer::writeRank(const Work &work, int64_t rank, RankImage &image,
                        FileWriter &writer) {
  if (options.goOn && !options.goOn())
    return createStringError(inconvertibleErrorCode(), "interrupted");
  std::vector<std::string> fields =
      encodeFields(work.fields, bundle.getSpace(), bundle.getGroups(), rank);
  auto stream = [&](raw_ostream &os) { bundle.writeRank(rank, os); };
  std::string name = bundle.getFileName(rank);
  if (options.resume) {
    CountingStream count;
    if (!work.hasImage)
      stream(count);
    uint64_t size = work.hasImage ? getSize(work.image, fields) : count.tell();
    if (directory.hasFile(name, size)) {
      ++filesKept;
      progress.add(1, 0);
      return Error::success();
    }
  }
  uint64_t before = writer.getBytesWritten();
  Error error = work.hasImage
                    ? writer.write(name, image.fill(work.image, fields))
                    : writer.write(name, stream);
  if (error)
    return error;
  progress.add(1, writer.getBytesWritten() - before);
  return Error::success();
}

/// Writes the files of the ranks of `batch`, which has been encoded.
Error Writer::writeBatch(MutableArrayRef<Work> batch) {
  // Jobs are numbered through the classes; `ends` says where each class ends.
  std::vector<int64_t> ends;
  int64_t numJobs = 0;
  for (const Work &work : batch)
    ends.push_back(numJobs += work.endPosition - work.firstPosition);
  std::atomic<int64_t> nextJob = 0;
  std::mutex mutex;
  Error firstError = Error::success();
  runOnThreads(numJobs, [&](unsigned worker) {
    FileWriter writer(options.directory,
                      (Twine(ranks.first) + "-" + Twine(worker)).str());
    RankImage image;
    for (int64_t job; (job = nextJob++) < numJobs;) {
      size_t index = llvm::upper_bound(ends, job) - ends.begin();
      const Work &work = batch[index];
      int64_t rank = work.entry->ranks[work.endPosition - (ends[index] - job)];
      Error error = writeRank(work, rank, image, writer);
      if (!error)
        continue;
      nextJob = numJobs;
      std::lock_guard<std::mutex> lock(mutex);
      if (firstError)
        consumeError(std::move(error));
      else
        firstError = std::move(error);
    }
    bytesWritten += writer.getBytesWritten();
  });
  return firstError;
}

Expected<WriteResult> Writer::run() {
  if (Error error = prepare())
    return std::move(error);
  if (Error error = writeGroups())
    return std::move(error);
  // As many classes at a time as there are threads to encode them, which bounds
  // the memory that their images take.
  std::vector<Work> all = collectWork();
  for (size_t begin = 0; begin < all.size(); begin += numThreads) {
    size_t count = std::min<size_t>(numThreads, all.size() - begin);
    auto batch = MutableArrayRef(all).slice(begin, count);
    std::atomic<size_t> next = 0;
    runOnThreads(count, [&](unsigned) {
      for (size_t i; (i = next++) < count;)
        encode(batch[i]);
    });
    if (Error error = writeBatch(batch))
      return std::move(error);
    for (Work &work : batch)
      work.image = ClassImage();
  }
  Error error =
      options.ranks ? directory.finishPart(ranks) : directory.finishWhole();
  if (error)
    return std::move(error);
  return WriteResult{ranks, filesKept, bytesWritten};
}

Expected<WriteResult> stg::trace::writeTraces(const TraceBundle &bundle,
                                              const WriteOptions &options) {
  return Writer(bundle, options).run();
}

Expected<uint64_t> stg::trace::writeBundle(const TraceBundle &bundle,
                                           StringRef directory) {
  ExportDirectory place(bundle, directory);
  if (Error error = place.prepareBundle())
    return std::move(error);
  FileWriter writer(directory, "bundle");
  if (Error error = writer.write(TraceBundle::kFileName,
                                 [&](raw_ostream &os) { bundle.write(os); }))
    return std::move(error);
  return writer.getBytesWritten();
}

RankRange stg::trace::getPart(int64_t numRanks, int64_t part, int64_t count) {
  auto getBegin = [&](int64_t index) {
    return static_cast<int64_t>(static_cast<__int128>(numRanks) * index /
                                count);
  };
  return {getBegin(part - 1), getBegin(part)};
}

Expected<std::optional<RankRange>>
stg::trace::chooseRanks(int64_t numRanks, std::optional<RankRange> ranks,
                        std::optional<std::pair<int64_t, int64_t>> part) {
  if (part && (part->first < 1 || part->first > part->second))
    return createStringError("part " + Twine(part->first) + "/" +
                             Twine(part->second) +
                             " does not exist; parts are 1/n to n/n");
  if (part)
    return getPart(numRanks, part->first, part->second);
  if (ranks && (ranks->first < 0 || ranks->first >= ranks->second ||
                ranks->second > numRanks))
    return createStringError("ranks " + Twine(ranks->first) + ":" +
                             Twine(ranks->second) +
                             " are not a range within 0:" + Twine(numRanks) +
                             " (the first one, and one past the last)");
  return ranks;
}
