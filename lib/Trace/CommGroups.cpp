//===- CommGroups.cpp - Communicator groups of a trace --------------------===//
//
// Reader of the communicator group file.
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/CommGroups.h"

#include "stg/Trace/TraceNode.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace stg::trace {

static bool isNumber(StringRef text) {
  return !text.empty() && llvm::all_of(text, isDigit);
}

bool GroupNameLess::operator()(StringRef lhs, StringRef rhs) const {
  bool lhsNumber = isNumber(lhs), rhsNumber = isNumber(rhs);
  if (lhsNumber != rhsNumber)
    return lhsNumber;
  if (lhsNumber && lhs.size() != rhs.size())
    return lhs.size() < rhs.size();
  return lhs < rhs;
}

const std::vector<int64_t> *CommGroups::find(StringRef group) const {
  auto it = members.find(group.str());
  return it == members.end() ? nullptr : &it->second;
}

Expected<CommGroups> CommGroups::load(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return createStringError(buffer.getError(), "%s: cannot read the file: %s",
                             path.str().c_str(),
                             buffer.getError().message().c_str());
  return parse((*buffer)->getBuffer(), path);
}

/// The parser recurses for each level; a group file needs two.
static bool isNestedTooDeeply(StringRef text) {
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
      continue;
    }
    if (c == '"')
      inString = true;
    else if (c == '[' || c == '{')
      ++depth;
    else if ((c == ']' || c == '}') && depth > 0)
      --depth;
    if (depth > 16)
      return true;
  }
  return false;
}

static Error makeError(StringRef file, const Twine &message) {
  return createStringError(inconvertibleErrorCode(), file + ": " + message);
}

Expected<CommGroups> CommGroups::parse(StringRef text, StringRef file) {
  if (isNestedTooDeeply(text))
    return makeError(file, "expected an object of rank lists, found deeper "
                           "nesting");
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return makeError(file,
                     "not valid JSON: " + llvm::toString(value.takeError()));
  const json::Object *object = value->getAsObject();
  if (!object)
    return makeError(file, "expected an object of rank lists");

  CommGroups groups;
  groups.file = file.str();
  for (const auto &[key, entry] : *object) {
    std::string name = StringRef(key).str();
    const json::Array *array = entry.getAsArray();
    if (!array)
      return makeError(file, "group '" + escapeText(name) +
                                 "' is not a list of ranks");
    std::vector<int64_t> ranks;
    for (const json::Value &rank : *array) {
      std::optional<int64_t> number = rank.getAsInteger();
      if (!number)
        return makeError(file, "group '" + escapeText(name) +
                                   "' has a member that is no integer");
      ranks.push_back(*number);
    }
    groups.members.emplace(std::move(name), std::move(ranks));
  }
  return std::move(groups);
}

std::string formatRanks(ArrayRef<int64_t> ranks) {
  std::string result;
  for (size_t i = 0; i < ranks.size();) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last] != INT64_MAX &&
           ranks[last + 1] == ranks[last] + 1)
      ++last;
    if (!result.empty())
      result += ',';
    result += std::to_string(ranks[i]);
    if (last > i)
      result += (last == i + 1 ? "," : "-") + std::to_string(ranks[last]);
    i = last + 1;
  }
  return result;
}

} // namespace stg::trace
