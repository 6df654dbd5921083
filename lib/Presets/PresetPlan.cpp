//===- PresetPlan.cpp - What a preset makes of degrees --------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Degrees are symbolic expressions, and so is everything that is computed with
// them. A condition on a symbol holds if it does as algebra: `tp != 1` holds
// for a symbol.
//
//===----------------------------------------------------------------------===//

#include "stg/Presets/Preset.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace stg;
using llvm::Error;
using llvm::Expected;

namespace {
class PresetEvaluator {
public:
  PresetEvaluator(const Preset &preset, const PresetRequest &request,
                  MLIRContext *context, const DimensionNames &dimensions)
      : preset(preset), request(request), context(context),
        dimensions(dimensions) {}

  Expected<PresetPlan> run();

private:
  Error fail(const Twine &message) {
    return llvm::createStringError(message.str());
  }
  /// What a user can do wrong is said as it is; the rest is a mistake of the
  /// preset.
  Error qualify(Error error) {
    return fail("preset '" + preset.name +
                "': " + llvm::toString(std::move(error)));
  }
  Error refuseValue(StringRef name, bool isOption);
  Error bindValues();
  Error bindValue(StringRef name, StringRef text);
  Error bindDefinitions();
  Error checkRequirements();
  Error orderGroups(SmallVectorImpl<StringRef> &order);
  Error makeMesh(ArrayRef<StringRef> order);
  Error addAxis(const Preset::Axis &axis, StringRef group);
  Error cutAxis(const Preset::Axis &axis, StringRef group, SymExpr size);
  Error collectPresetRules();
  void noteStream(const Preset::Rule &rule, RuleAttr parsed);
  Error applyUserRules();
  Error applyUserRule(StringRef text, std::vector<PresetPlan::Rule> &before,
                      std::vector<PresetPlan::Rule> &after);
  void replaceRules(RuleAttr rule, ArrayRef<PresetPlan::Rule> own);
  Error makeClaims();
  Error makeJoined();
  bool hasDimension(StringRef name) {
    return !dimensions || llvm::is_contained(*dimensions, name);
  }
  Error checkDimension(StringRef rule, StringRef dim);

  Expected<bool> holds(const Preset::Guard &guard);
  Expected<bool> holds(ArrayRef<std::string> conditions);
  Expected<bool> holds(StringRef condition);
  Expected<bool> compare(StringRef left, StringRef comparison, StringRef right);
  Expected<SymExpr> evaluate(StringRef text);
  std::string fillIn(StringRef message);
  SmallVector<PresetPlan::Rule> expand(RuleAttr rule, bool isPreset);
  Expected<RuleAttr> parseRule(StringRef text);

  const Preset &preset;
  const PresetRequest &request;
  MLIRContext *context;
  const DimensionNames &dimensions; ///< Of the model.

  SymBinding values;           ///< Degrees and definitions.
  llvm::StringMap<bool> flags; ///< Options.
  DenseSet<StringRef> absent;  ///< Optional degrees that are not given.
  SmallVector<StringRef> axes; ///< Of the mesh.
  /// Axes of the mesh by group, and by part of an axis that is cut, from the
  /// fastest to the slowest.
  llvm::StringMap<SmallVector<StringRef>> groups, parts;
  PresetPlan plan;
};
} // namespace

/// What divides evenly, as algebra or as numbers.
static bool divides(SymExpr divisor, SymExpr dividend) {
  SymExpr quotient = dividend.exactDiv(divisor);
  std::optional<Rational> number =
      quotient ? quotient.getConstant() : std::nullopt;
  return quotient && (!number || number->isInteger());
}

//===----------------------------------------------------------------------===//
// Expressions and conditions
//===----------------------------------------------------------------------===//

/// Null if the expression uses an optional degree that is not given.
Expected<SymExpr> PresetEvaluator::evaluate(StringRef text) {
  Expected<SymExpr> expr = SymExpr::parse(context, text);
  if (!expr)
    return fail("'" + text + "': " + llvm::toString(expr.takeError()));
  std::string unknown;
  bool isAbsent = false;
  expr->walkSymbols([&](StringAttr name) {
    isAbsent |= absent.contains(name.getValue());
    if (!values.contains(name) && !absent.contains(name.getValue()))
      unknown = name.str();
  });
  if (!unknown.empty())
    return fail("'" + text + "' uses '" + unknown +
                "', which is neither a degree nor defined by 'let'");
  if (isAbsent)
    return SymExpr();
  SymExpr value = expr->substitute(values);
  if (!value)
    return fail("'" + text + "' does not divide evenly");
  return value;
}

Expected<bool> PresetEvaluator::compare(StringRef left, StringRef comparison,
                                        StringRef right) {
  Expected<SymExpr> lhs = evaluate(left);
  if (!lhs)
    return lhs.takeError();
  Expected<SymExpr> rhs = evaluate(right);
  if (!rhs)
    return rhs.takeError();
  if (!*lhs || !*rhs)
    return false;
  if (comparison == "divides")
    return divides(*lhs, *rhs);
  return (*lhs == *rhs) == (comparison == "==");
}

/// `A == B`, `A != B`, `A divides B`, `has DIMENSION`, an option that is set,
/// an optional degree that is given, and `not` before any of them.
Expected<bool> PresetEvaluator::holds(StringRef condition) {
  condition = condition.trim();
  if (condition.consume_front("not ")) {
    Expected<bool> inner = holds(condition);
    if (!inner)
      return inner.takeError();
    return !*inner;
  }
  if (condition.consume_front("has "))
    return hasDimension(condition.trim());
  for (StringRef comparison : {"==", "!=", "divides"}) {
    auto [left, right] = condition.split((" " + comparison + " ").str());
    if (!right.empty())
      return compare(left, comparison, right);
  }
  auto flag = flags.find(condition);
  if (flag != flags.end())
    return flag->second;
  for (const Preset::Degree &degree : preset.degrees)
    if (degree.name == condition && degree.isOptional)
      return !absent.contains(degree.name);
  return fail("'" + condition +
              "' is not a condition; expected A == B, A != B, A divides B, has "
              "DIMENSION, an option or an optional degree");
}

Expected<bool> PresetEvaluator::holds(ArrayRef<std::string> conditions) {
  for (StringRef condition : conditions) {
    Expected<bool> result = holds(condition);
    if (!result || !*result)
      return result;
  }
  return true;
}

Expected<bool> PresetEvaluator::holds(const Preset::Guard &guard) {
  Expected<bool> result = holds(guard.conditions);
  if (!result || !*result || guard.unless.empty())
    return result;
  Expected<bool> excluded = holds(guard.unless);
  if (!excluded)
    return excluded.takeError();
  return !*excluded;
}

/// Replaces `{NAME}` by a value; degrees and options as they were given.
std::string PresetEvaluator::fillIn(StringRef message) {
  std::string text;
  while (!message.empty()) {
    auto [before, rest] = message.split('{');
    auto [name, after] = rest.split('}');
    text += before;
    auto isIt = [name = name](const auto &known) { return known.name == name; };
    bool isOption = llvm::any_of(preset.options, isIt);
    bool isDegree = llvm::any_of(preset.degrees, isIt);
    if (request.spell && (isOption || isDegree))
      text += request.spell(name);
    else if (isOption)
      text += name;
    else if (SymExpr value = values.lookup(StringAttr::get(context, name)))
      text += (isDegree ? (name + "=").str() : "") + value.str();
    message = after;
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Degrees
//===----------------------------------------------------------------------===//

/// The preset has nothing of that name.
Error PresetEvaluator::refuseValue(StringRef name, bool isOption) {
  SmallVector<StringRef> known;
  if (isOption)
    for (const Preset::Option &option : preset.options)
      known.push_back(option.name);
  else
    for (const Preset::Degree &degree : preset.degrees)
      known.push_back(degree.name);
  std::string what = isOption ? "option" : "degree";
  return fail(
      "preset '" + preset.name + "' has no " + what + " '" + name + "'; " +
      (known.empty() ? "it has no " + what + "s"
                     : "its " + what + "s are " + llvm::join(known, ", ")));
}

Error PresetEvaluator::bindValue(StringRef name, StringRef text) {
  for (const Preset::Option &option : preset.options)
    if (option.name == name) {
      if (text != "true" && text != "false")
        return fail("option '" + name + "' is '" + text +
                    "', expected true or false");
      flags[name] = text == "true";
      return Error::success();
    }
  bool isOption = text == "true" || text == "false";
  if (isOption ||
      llvm::none_of(preset.degrees, [name](const Preset::Degree &degree) {
        return degree.name == name;
      }))
    return refuseValue(name, isOption);
  std::optional<SymExpr> degree =
      llvm::expectedToOptional(SymExpr::parse(context, text));
  bool isNumber = degree && degree->isConstant();
  bool isValid =
      degree && (isNumber ? degree->getInt64().value_or(0) >= 1
                          : static_cast<bool>(degree->getAsSymbol()));
  if (!isValid)
    return fail("degree of '" + name + "' is '" + text +
                "', expected an integer of at least 1 or a symbol");
  values[StringAttr::get(context, name)] = *degree;
  absent.erase(name);
  return Error::success();
}

Error PresetEvaluator::bindValues() {
  for (const Preset::Degree &degree : preset.degrees) {
    if (degree.isOptional)
      absent.insert(degree.name);
    else
      values[StringAttr::get(context, degree.name)] = SymExpr::get(context, 1);
  }
  for (const Preset::Option &option : preset.options)
    flags[option.name] = false;
  for (auto &[name, text] : request.values)
    if (Error error = bindValue(name, text))
      return error;
  return Error::success();
}

Error PresetEvaluator::bindDefinitions() {
  for (const Preset::Definition &definition : preset.definitions) {
    bool isDefined = false;
    for (const Preset::Case &single : definition.cases) {
      Expected<bool> applies = holds(single.guard);
      if (!applies)
        return applies.takeError();
      if (!*applies)
        continue;
      Expected<SymExpr> value = evaluate(single.value);
      if (!value)
        return value.takeError();
      values[StringAttr::get(context, definition.name)] = *value;
      isDefined = true;
      break;
    }
    if (!isDefined)
      return fail("no case of '" + definition.name + "' holds");
  }
  return Error::success();
}

Error PresetEvaluator::checkRequirements() {
  for (const Preset::Requirement &requirement : preset.requirements) {
    Expected<bool> applies = holds(requirement.guard);
    if (!applies)
      return qualify(applies.takeError());
    Expected<bool> isMet = *applies ? holds(requirement.that) : true;
    if (!isMet)
      return qualify(isMet.takeError());
    if (!*isMet)
      return fail(fillIn(requirement.message));
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The mesh
//===----------------------------------------------------------------------===//

Error PresetEvaluator::addAxis(const Preset::Axis &axis, StringRef group) {
  Expected<bool> applies = holds(axis.guard);
  if (!applies)
    return applies.takeError();
  if (!*applies)
    return Error::success();
  Expected<SymExpr> size = evaluate(axis.size);
  if (!size)
    return size.takeError();
  if (!*size)
    return fail("axis '" + axis.name + "' has the size '" + axis.size +
                "', which uses a degree that is not given");
  // Nothing is divided over one rank.
  if (size->isOne())
    return Error::success();
  return cutAxis(axis, group, *size);
}

namespace {
/// A part of an axis, which begins and ends at divisors of its size.
struct PartRange {
  StringRef name;
  SymExpr from, to;
};

/// The divisors of an axis' size at which it is cut, each a divisor of the
/// next.
class Cuts {
public:
  Cuts(SymExpr one, SymExpr size) : cuts({one, size}) {}

  /// False if the cut is in no order with the others. Of symbols each divides
  /// each: they stand in the order in which they come.
  bool add(SymExpr cut) {
    if (llvm::is_contained(cuts, cut))
      return true;
    for (unsigned i = 1; i < cuts.size(); ++i)
      if (divides(cuts[i - 1], cut) && divides(cut, cuts[i])) {
        cuts.insert(cuts.begin() + i, cut);
        return true;
      }
    return false;
  }

  unsigned getNumPieces() const { return cuts.size() - 1; }
  SymExpr getSize(unsigned piece) const {
    return cuts[piece + 1].exactDiv(cuts[piece]);
  }
  bool isIn(unsigned piece, const PartRange &range) const {
    return find(range.from) <= piece && piece < find(range.to);
  }
  bool isAllOf(unsigned piece, const PartRange &range) const {
    return find(range.from) == piece && find(range.to) == piece + 1;
  }
  bool isWhole(const PartRange &range) const {
    return range.from == cuts.front() && range.to == cuts.back();
  }
  std::string str() const {
    return llvm::join(llvm::map_range(ArrayRef(cuts).drop_front().drop_back(),
                                      [](SymExpr cut) { return cut.str(); }),
                      ", ");
  }

private:
  unsigned find(SymExpr cut) const {
    return llvm::find(cuts, cut) - cuts.begin();
  }

  SmallVector<SymExpr> cuts;
};
} // namespace

/// A piece has the name of the part that is just that, or else of all parts
/// that it is in and that are not the whole axis.
static std::string namePiece(ArrayRef<PartRange> ranges, const Cuts &cuts,
                             unsigned piece) {
  SmallVector<StringRef> around;
  for (const PartRange &range : ranges) {
    if (cuts.isAllOf(piece, range))
      return range.name.str();
    if (cuts.isIn(piece, range) && !cuts.isWhole(range))
      around.push_back(range.name);
  }
  return llvm::join(around, "_");
}

/// Cuts the axis where its parts begin and end. Each part stands for the pieces
/// between its ends. What is not cut has the name of the axis.
Error PresetEvaluator::cutAxis(const Preset::Axis &axis, StringRef group,
                               SymExpr size) {
  SmallVector<PartRange> ranges;
  Cuts cuts(SymExpr::get(context, 1), size);
  for (const Preset::Part &part : axis.parts) {
    Expected<SymExpr> from = evaluate(part.from);
    if (!from)
      return from.takeError();
    Expected<SymExpr> to = evaluate(part.to);
    if (!to)
      return to.takeError();
    if (!*from || !*to || !divides(*from, *to) || !divides(*to, size))
      return fail("part '" + part.name + "' of axis '" + axis.name +
                  "' goes from '" + part.from + "' to '" + part.to +
                  "', expected divisors of its size, the first of the second");
    ranges.push_back({part.name, *from, *to});
    for (SymExpr cut : {*from, *to})
      if (*from != *to && !cuts.add(cut))
        return fail(
            "part '" + part.name + "' of axis '" + axis.name + "' cuts it at " +
            cut.str() +
            ", which neither divides nor is a multiple of other cuts: " +
            cuts.str());
  }
  for (unsigned piece = 0; piece < cuts.getNumPieces(); ++piece) {
    bool isWhole = cuts.getNumPieces() == 1;
    std::string name = isWhole ? "" : namePiece(ranges, cuts, piece);
    auto symbol = StringAttr::get(context, name.empty() ? axis.name : name);
    plan.axes.push_back(
        {symbol.str(), group.str(), axis.of, cuts.getSize(piece), axis.role});
    axes.push_back(symbol);
    for (const PartRange &range : ranges)
      if (range.from != range.to && cuts.isIn(piece, range))
        parts[range.name].push_back(symbol);
  }
  return Error::success();
}

/// Groups that the user does not list come after those that he does.
Error PresetEvaluator::orderGroups(SmallVectorImpl<StringRef> &order) {
  SmallVector<StringRef> known;
  for (const Preset::Group &group : preset.groups)
    known.push_back(group.name);
  if (!request.rankOrder.empty())
    StringRef(request.rankOrder).split(order, '-');
  for (StringRef name : order)
    if (!llvm::is_contained(known, name) || llvm::count(order, name) != 1)
      return fail("rank order is '" + request.rankOrder + "', expected " +
                  llvm::join(ArrayRef(known).drop_back(), ", ") + " and " +
                  known.back() + ", each at most once, joined by '-'");
  for (StringRef name : known)
    if (!llvm::is_contained(order, name))
      order.push_back(name);
  plan.groups.assign(order.begin(), order.end());
  return Error::success();
}

Error PresetEvaluator::makeMesh(ArrayRef<StringRef> order) {
  for (StringRef name : order)
    for (const Preset::Group &group : preset.groups) {
      if (group.name != name)
        continue;
      size_t first = axes.size();
      for (const Preset::Axis &axis : group.axes)
        if (Error error = addAxis(axis, name))
          return error;
      groups[name] = SmallVector<StringRef>(ArrayRef(axes).drop_front(first));
    }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// A rule for a group is one for each of its axes, the slowest first.
SmallVector<PresetPlan::Rule> PresetEvaluator::expand(RuleAttr rule,
                                                      bool isPreset) {
  StringRef name = rule.getAxis();
  SmallVector<StringRef> divided;
  auto group = groups.find(name), part = parts.find(name);
  if (group != groups.end())
    divided = group->second;
  else if (part != parts.end())
    divided = part->second;
  else if (llvm::is_contained(axes, name))
    divided.push_back(name);
  // A part that is all of a group is what the degree of the group makes.
  for (const auto &[known, all] : groups)
    if (part != parts.end() && all == divided)
      name = known;
  SmallVector<PresetPlan::Rule> rules;
  for (StringRef axis : llvm::reverse(divided))
    rules.push_back(
        {RuleAttr::get(context, rule.getDim(), StringAttr::get(context, axis),
                       rule.getScope()),
         name.str(), isPreset});
  return rules;
}

Expected<RuleAttr> PresetEvaluator::parseRule(StringRef text) {
  Expected<RuleAttr> rule = RuleAttr::parseText(context, text);
  if (!rule)
    return fail(llvm::toString(rule.takeError()));
  // Stages divide the program, not its values.
  SmallVector<StringRef> known;
  auto note = [&](StringRef name) {
    if (!llvm::is_contained(known, name))
      known.push_back(name);
  };
  for (const Preset::Group &group : preset.groups)
    for (const Preset::Axis &axis : group.axes) {
      if (axis.role == AxisRole::Pipeline)
        continue;
      note(group.name);
      for (const Preset::Part &part : axis.parts)
        note(part.name);
      note(axis.name);
    }
  if (!llvm::is_contained(known, rule->getAxis().getValue()))
    return fail("rule '" + text + "' names mesh axis '" +
                rule->getAxis().getValue() + "', expected one of " +
                llvm::join(known, ", "));
  return *rule;
}

/// Notes what would make the rule divide the stream: the option that it waits
/// for, or degrees.
void PresetEvaluator::noteStream(const Preset::Rule &rule, RuleAttr parsed) {
  auto note = [&](StringRef name) {
    if (!llvm::is_contained(plan.streamSources, name))
      plan.streamSources.push_back(name.str());
  };
  bool waits = false;
  for (StringRef condition : rule.guard.conditions) {
    auto option = flags.find(condition.trim());
    if (option == flags.end() || option->second)
      continue;
    note(option->first());
    waits = true;
  }
  StringRef axis = parsed.getAxis();
  for (const Preset::Group &group : preset.groups)
    for (const Preset::Axis &known : group.axes)
      if (!waits && (group.name == axis || known.name == axis))
        note(known.of);
}

/// Rules of a preset may be for dimensions that a model does not have, and for
/// axes that the mesh does not have.
Error PresetEvaluator::collectPresetRules() {
  for (const Preset::Rule &rule : preset.rules) {
    Expected<RuleAttr> parsed = parseRule(rule.text);
    if (!parsed)
      return parsed.takeError();
    if (parsed->getScope() == RuleScope::Stream)
      noteStream(rule, *parsed);
    Expected<bool> applies = holds(rule.guard);
    if (!applies)
      return applies.takeError();
    if (*applies && hasDimension(parsed->getDim()))
      llvm::append_range(plan.rules, expand(*parsed, /*isPreset=*/true));
  }
  return Error::success();
}

/// True for a rule for that dimension and, if one is given, of that scope.
static bool matches(const PresetPlan::Rule &rule, StringRef dim,
                    std::optional<RuleScope> scope) {
  return rule.rule.getDim().getValue() == dim &&
         (!scope || rule.rule.getScope() == *scope);
}

Error PresetEvaluator::checkDimension(StringRef rule, StringRef dim) {
  if (hasDimension(dim))
    return Error::success();
  return fail("rule '" + rule + "' names dimension '" + dim +
              "', which the model does not have; its dimensions are named " +
              llvm::join(*dimensions, ", "));
}

/// A second rule of the user for a dimension comes after the first one.
void PresetEvaluator::replaceRules(RuleAttr rule,
                                   ArrayRef<PresetPlan::Rule> own) {
  auto isSame = [&](const PresetPlan::Rule &other) {
    return matches(other, rule.getDim(), rule.getScope());
  };
  size_t position = plan.rules.size();
  for (size_t i = plan.rules.size(); i-- > 0;)
    if (isSame(plan.rules[i])) {
      position = i + (plan.rules[i].isPreset ? 0 : 1);
      if (!plan.rules[i].isPreset)
        break;
    }
  llvm::erase_if(plan.rules, [&](const PresetPlan::Rule &other) {
    return other.isPreset && isSame(other);
  });
  position = std::min(position, plan.rules.size());
  plan.rules.insert(plan.rules.begin() + position, own.begin(), own.end());
}

Error PresetEvaluator::applyUserRule(StringRef text,
                                     std::vector<PresetPlan::Rule> &before,
                                     std::vector<PresetPlan::Rule> &after) {
  StringRef whole = text;
  bool isAfter = text.consume_front("+"), isBefore = text.consume_back("+");
  StringRef dropped = text;
  if (dropped.consume_back(":") && !isAfter && !isBefore) {
    if (Error error = checkDimension(text, dropped))
      return error;
    llvm::erase_if(plan.rules, [&](const PresetPlan::Rule &rule) {
      return rule.isPreset && matches(rule, dropped, std::nullopt);
    });
    return Error::success();
  }
  if (isAfter && isBefore)
    return fail("rule '" + whole +
                "' is to stand before and after those of the preset, expected "
                "'RULE+' or '+RULE'");
  Expected<RuleAttr> rule = parseRule(text);
  if (!rule)
    return rule.takeError();
  if (Error error = checkDimension(text, rule->getDim()))
    return error;
  SmallVector<PresetPlan::Rule> own = expand(*rule, /*isPreset=*/false);
  if (own.empty())
    return fail("rule '" + text + "' shards nothing: mesh axis '" +
                rule->getAxis().getValue() + "' has size 1");
  if (isBefore || isAfter)
    llvm::append_range(isBefore ? before : after, own);
  else
    replaceRules(*rule, own);
  return Error::success();
}

Error PresetEvaluator::applyUserRules() {
  std::vector<PresetPlan::Rule> before, after;
  for (StringRef text : request.rules)
    if (Error error = applyUserRule(text.trim(), before, after))
      return error;
  plan.rules.insert(plan.rules.begin(), before.begin(), before.end());
  plan.rules.insert(plan.rules.end(), after.begin(), after.end());
  return Error::success();
}

Error PresetEvaluator::makeClaims() {
  for (const Preset::Claim &claim : preset.claims) {
    Expected<bool> applies = holds(claim.guard);
    if (!applies)
      return applies.takeError();
    SmallVector<StringRef> claimed;
    auto part = parts.find(claim.axis);
    if (part != parts.end())
      llvm::append_range(claimed, llvm::reverse(part->second));
    else if (llvm::is_contained(axes, claim.axis))
      claimed.push_back(claim.axis);
    // What the model does not have nothing is claimed of, but of names that a
    // step has and the model has not, for which a guard says it.
    bool isHere = *applies &&
                  (claim.dimension.empty() || !claim.guard.conditions.empty() ||
                   hasDimension(claim.dimension));
    std::string place = claim.dimension.empty() ? "" : "@" + claim.dimension;
    for (StringRef axis : isHere ? ArrayRef(claimed) : ArrayRef<StringRef>())
      plan.claims.push_back(claim.op + (claim.isBehind ? ">" : "/") +
                            claim.factor + place + ":" + axis.str());
  }
  return Error::success();
}

/// Groups stand for their axes.
Error PresetEvaluator::makeJoined() {
  if (!preset.joined)
    return Error::success();
  for (const std::vector<std::string> &list : *preset.joined) {
    SmallVector<StringRef> all;
    for (const std::string &name : list) {
      bool isAxis = llvm::any_of(preset.groups, [&](const auto &group) {
        return llvm::any_of(group.axes, [&](const Preset::Axis &axis) {
          return axis.name == name ||
                 llvm::any_of(axis.parts, [&](const Preset::Part &part) {
                   return part.name == name;
                 });
        });
      });
      auto group = groups.find(name), part = parts.find(name);
      if (group != groups.end())
        llvm::append_range(all, group->second);
      else if (part != parts.end())
        llvm::append_range(all, part->second);
      else if (llvm::is_contained(axes, name))
        all.push_back(name);
      else if (!isAxis)
        return fail("joins '" + name +
                    "', which is neither a group nor an "
                    "axis");
    }
    if (!all.empty())
      plan.joined.push_back(llvm::join(all, "+"));
  }
  // Nothing is joined, which is not what roles would do.
  if (plan.joined.empty() && !axes.empty())
    plan.joined.push_back(axes.front().str());
  return Error::success();
}

Expected<PresetPlan> PresetEvaluator::run() {
  SmallVector<StringRef> order;
  if (Error error = bindValues())
    return std::move(error);
  if (Error error = bindDefinitions())
    return qualify(std::move(error));
  if (Error error = checkRequirements())
    return std::move(error);
  if (Error error = orderGroups(order))
    return std::move(error);
  if (Error error = makeMesh(order))
    return qualify(std::move(error));
  if (Error error = collectPresetRules())
    return qualify(std::move(error));
  if (Error error = applyUserRules())
    return std::move(error);
  if (Error error = makeClaims())
    return qualify(std::move(error));
  if (Error error = makeJoined())
    return qualify(std::move(error));
  return std::move(plan);
}

Expected<PresetPlan> stg::evaluatePreset(const Preset &preset,
                                         const PresetRequest &request,
                                         MLIRContext *context,
                                         const DimensionNames &dimensions) {
  return PresetEvaluator(preset, request, context, dimensions).run();
}

//===----------------------------------------------------------------------===//
// As options of --stg-parallelize
//===----------------------------------------------------------------------===//

std::vector<std::string> PresetPlan::getMesh() const {
  std::vector<std::string> texts;
  for (const Axis &axis : axes) {
    texts.push_back(axis.name + "=" + axis.size.str());
    if (axis.role != AxisRole::None)
      texts.back() += (":" + stringifyAxisRole(axis.role)).str();
  }
  return texts;
}

std::vector<std::string> PresetPlan::getRules() const {
  std::vector<std::string> texts;
  for (const Rule &rule : rules)
    texts.push_back(rule.rule.str() + (rule.isPreset ? "?" : ""));
  return texts;
}
