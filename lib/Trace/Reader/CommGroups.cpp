//===- CommGroups.cpp - Communicator groups of a trace --------------------===//
//
// Reader of the communicator group file.
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Reader/CommGroups.h"
#include "stg/Support/Error.h"

#include "stg/Support/JSON.h"
#include "stg/Support/Text.h"
#include "llvm/ADT/StringExtras.h"

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

/// Takes the groups from the value of a file.
static Expected<CommGroups> getGroups(const json::Value &value,
                                      StringRef file) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return makeError(file, "expected an object of rank lists");

  CommGroups groups;
  groups.file = file.str();
  for (const auto &[key, entry] : *object) {
    std::string name = StringRef(key).str();
    const json::Array *array = entry.getAsArray();
    if (!array)
      return makeError(file, "group '" + shortenText(name) +
                                 "' is not a list of ranks");
    std::vector<int64_t> ranks;
    for (const json::Value &rank : *array) {
      std::optional<int64_t> number = rank.getAsInteger();
      if (!number)
        return makeError(file, "group '" + shortenText(name) +
                                   "' has a member that is no integer");
      ranks.push_back(*number);
    }
    groups.members.emplace(std::move(name), std::move(ranks));
  }
  return std::move(groups);
}

Expected<CommGroups> CommGroups::load(StringRef path) {
  Expected<json::Value> value = readJSON(path);
  if (!value)
    return makeError(path, llvm::toString(value.takeError()));
  return getGroups(*value, path);
}

Expected<CommGroups> CommGroups::parse(StringRef text, StringRef file) {
  Expected<json::Value> value = parseJSON(text);
  if (!value)
    return makeError(file, llvm::toString(value.takeError()));
  return getGroups(*value, file);
}

} // namespace stg::trace
