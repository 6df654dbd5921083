//===- TraceSet.cpp - Finding the files of a trace ------------------------===//
//
// Directory scans are sorted, so that results do not depend on the order in
// which the file system lists names.
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Reader/TraceSet.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace llvm;

namespace stg::trace {

namespace {

/// A file name of the form <stem>.<rank>.et.
struct RankedName {
  StringRef stem;
  uint64_t rank = 0;
  bool isCanonical = false;
};

using Sets = std::map<std::string, TraceSet>;

} // namespace

static std::optional<RankedName> parseName(StringRef name) {
  if (!name.consume_back(".et"))
    return std::nullopt;
  auto [stem, digits] = name.rsplit('.');
  RankedName result;
  result.stem = stem;
  if (digits.empty() || !llvm::all_of(digits, isDigit) ||
      digits.getAsInteger(10, result.rank) || result.rank > INT32_MAX)
    return std::nullopt;
  result.isCanonical = digits == std::to_string(result.rank);
  return result;
}

const RankFile *TraceSet::find(uint64_t rank) const {
  auto it = llvm::find_if(
      files, [&](const RankFile &file) { return file.rank == rank; });
  return it == files.end() ? nullptr : &*it;
}

/// All traces in `directory`, by the stem of their file names. Paths are built
/// with `shown`, the directory as the user wrote it.
static Expected<Sets> scan(StringRef directory, StringRef shown) {
  Sets sets;
  std::error_code error;
  for (sys::fs::directory_iterator it(directory, error), end;
       it != end && !error; it.increment(error)) {
    StringRef name = sys::path::filename(it->path());
    std::optional<RankedName> parsed = parseName(name);
    if (!parsed)
      continue;
    TraceSet &set = sets[parsed->stem.str()];
    std::string path = (shown + name).str();
    if (parsed->isCanonical)
      set.files.push_back({parsed->rank, std::move(path)});
    else
      set.misnamed.push_back(std::move(path));
    set.prefix = (shown + parsed->stem).str();
  }
  if (error)
    return createStringError(error, "%s: cannot list the directory: %s",
                             directory.str().c_str(), error.message().c_str());
  for (auto &[stem, set] : sets) {
    llvm::sort(set.files, [](const RankFile &lhs, const RankFile &rhs) {
      return lhs.rank < rhs.rank;
    });
    llvm::sort(set.misnamed);
  }
  return std::move(sets);
}

static TraceSet makeSingle(StringRef path) {
  TraceSet set;
  set.isSingleFile = true;
  set.prefix = path.str();
  uint64_t rank = 0;
  StringRef name = sys::path::filename(path);
  if (std::optional<RankedName> parsed = parseName(name)) {
    rank = parsed->rank;
    set.prefix = path.drop_back(name.size() - parsed->stem.size()).str();
  }
  set.files.push_back({rank, path.str()});
  return set;
}

/// Finds `<prefix>.<rank>.et`; an empty set if there is no such file.
static Expected<TraceSet> findPrefix(StringRef prefix) {
  StringRef stem = sys::path::filename(prefix);
  StringRef shown = prefix.drop_back(stem.size());
  StringRef directory = shown.empty() ? StringRef(".") : shown;
  if (stem.empty() || !sys::fs::is_directory(directory))
    return TraceSet();
  Expected<Sets> sets = scan(directory, shown);
  if (!sets)
    return sets.takeError();
  auto it = sets->find(stem.str());
  return it == sets->end() ? TraceSet() : std::move(it->second);
}

static Expected<TraceSet> findInDirectory(StringRef directory) {
  std::string shown = directory.str();
  if (!sys::path::is_separator(shown.back()))
    shown += '/';
  Expected<Sets> sets = scan(directory, shown);
  if (!sets)
    return sets.takeError();
  if (sets->empty())
    return createStringError(inconvertibleErrorCode(),
                             "%s: directory has no <prefix>.<rank>.et file",
                             directory.str().c_str());
  if (sets->size() == 1)
    return std::move(sets->begin()->second);
  std::string names;
  for (const auto &[stem, set] : *sets)
    names += (names.empty() ? "'" : ", '") + stem + "'";
  return createStringError(inconvertibleErrorCode(),
                           "%s: directory has several traces, name one of %s",
                           directory.str().c_str(), names.c_str());
}

Expected<TraceSet> findTraces(StringRef input) {
  if (input == "-")
    return makeSingle(input);
  if (input.empty())
    return createStringError(inconvertibleErrorCode(), "no trace named");
  Expected<TraceSet> set = findPrefix(input);
  if (!set || !set->files.empty())
    return set;
  if (sys::fs::is_directory(input))
    return findInDirectory(input);
  if (sys::fs::exists(input))
    return makeSingle(input);
  return createStringError(
      inconvertibleErrorCode(), "%s: no such file or directory, and no file %s",
      input.str().c_str(), (input + ".<rank>.et").str().c_str());
}

std::optional<std::string> findCommGroupFile(const TraceSet &set) {
  StringRef prefix = set.prefix;
  StringRef directory = prefix.drop_back(sys::path::filename(prefix).size());
  std::string candidates[] = {(prefix + ".comm_group.json").str(),
                              (directory + "comm_group.json").str(),
                              (prefix + ".json").str()};
  for (std::string &path : candidates)
    if (sys::fs::exists(path))
      return std::move(path);
  return std::nullopt;
}

} // namespace stg::trace
