#include "runtime/wait_judge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "core/resource_version.hpp"
#include "runtime/store_options.hpp"

namespace kubewatch::runtime {

namespace {

std::vector<std::string> texts(const std::vector<WaitCondition>& conditions) {
  std::vector<std::string> out;
  for (const auto& one : conditions) out.push_back(one.text());
  return out;
}

bool deletion(const WaitCondition& condition) {
  return condition.waits_for_deletion();
}

bool is(const Judgement& judgement, Judgement::State state) {
  return judgement.state == state;
}

}  // namespace

std::string_view to_string(WaitState state) {
  switch (state) {
    case WaitState::met: return "met";
    case WaitState::not_met: return "notMet";
    case WaitState::failed: return "failed";
    case WaitState::invalid: return "invalid";
    case WaitState::deleted: return "deleted";
    case WaitState::not_found: return "notFound";
    case WaitState::unknown: break;
  }
  return "unknown";
}

bool WaitGoal::awaits_deletion() const {
  return !wanted.empty() && std::all_of(wanted.begin(), wanted.end(), deletion);
}

bool WaitGoal::wants_deletion() const {
  return std::any_of(wanted.begin(), wanted.end(), deletion);
}

bool WaitGoal::asks_for_deletion() const {
  return wants_deletion() || std::any_of(fail_if.begin(), fail_if.end(), deletion);
}

bool WaitGoal::asks_for_content() const {
  const auto content = [](const WaitCondition& condition) {
    return !condition.waits_for_deletion() && !condition.waits_for_creation();
  };
  return std::any_of(wanted.begin(), wanted.end(), content) ||
         std::any_of(fail_if.begin(), fail_if.end(), content);
}

std::string WaitGoal::text() const {
  return base::join(texts(wanted), any ? " or " : " and ");
}

Result<void> WaitGoal::check() const {
  if (wanted.empty()) return Error(ErrorKind::invalid, "nothing is waited for: give --for");
  const bool some = std::any_of(wanted.begin(), wanted.end(), deletion);
  if (some && !any && !awaits_deletion()) {
    return Error(ErrorKind::invalid,
                 fmt::format("no object can be {} at once: join them with --any", text()));
  }
  if (awaits_deletion() && (min_count || exactly)) {
    return Error(ErrorKind::invalid,
                 "--min-count and --exactly count objects that are there, "
                 "which --for=delete has none of");
  }
  if (min_count && exactly && *min_count > *exactly) {
    return Error(ErrorKind::invalid, "--min-count is more than --exactly");
  }
  return {};
}

std::string WaitTarget::str() const {
  if (by_name()) return type.qualified_plural() + "/" + name;
  std::vector<std::string> by;
  if (!label_selector.empty()) by.push_back("-l " + label_selector);
  if (!field_selector.empty()) by.push_back("--field-selector " + field_selector);
  return fmt::format("{} ({})", type.qualified_plural(), by.empty() ? "all" : base::join(by, " "));
}

std::string WaitedObject::str() const {
  if (!key.name.empty()) return type.qualified_plural() + "/" + key.name;
  return fmt::format("{} ({})", type.qualified_plural(), selector);
}

std::size_t WaitJudge::add(WaitTarget target) {
  Entry entry;
  entry.target = std::move(target);
  if (entry.target.by_name()) {
    // Named ones are asked for whether they are there or not.
    Member& member = entry.members[{entry.target.namespace_, entry.target.name}];
    judge(member, nullptr, WallTime{});
  }
  entries_.push_back(std::move(entry));
  return entries_.size() - 1;
}

void WaitJudge::judge(Member& member, const Json* object, WallTime now, bool reduced) const {
  member.judgements.clear();
  member.changes_at.reset();
  member.failed_by.clear();
  const auto ask = [&](const WaitCondition& condition) {
    Judgement out = condition.judge(object, now, goal_.kstatus);
    if (reduced && !condition.waits_for_creation() && !condition.waits_for_deletion()) {
      out.state = Judgement::State::invalid;
      out.current = why_reduced("it") + ", which says nothing of this condition";
      out.changes_at.reset();
    }
    if (out.changes_at && (!member.changes_at || *out.changes_at < *member.changes_at)) {
      member.changes_at = out.changes_at;
    }
    return out;
  };
  std::size_t met = 0;
  std::size_t failed = 0;
  std::optional<std::size_t> invalid;
  std::optional<std::size_t> unmet;
  std::optional<std::size_t> hopeless;
  for (const auto& condition : goal_.wanted) {
    const std::size_t at = member.judgements.size();
    member.judgements.push_back(ask(condition));
    const Judgement& one = member.judgements.back();
    if (is(one, Judgement::State::met)) {
      ++met;
      continue;
    }
    if (!unmet) unmet = at;
    if (is(one, Judgement::State::invalid) && !invalid) invalid = at;
    if (is(one, Judgement::State::failed)) {
      ++failed;
      if (!hopeless) hopeless = at;
    }
  }
  const std::size_t all = goal_.wanted.size();
  member.deciding = unmet.value_or(0);
  member.state = WaitState::not_met;
  if (goal_.any ? met > 0 : met == all) {
    member.state = WaitState::met;
    for (std::size_t i = 0; i < all; ++i) {
      if (is(member.judgements[i], Judgement::State::met)) member.deciding = i;
    }
  } else if (invalid) {
    member.state = WaitState::invalid;
    member.deciding = *invalid;
  } else if (goal_.any ? failed == all : failed > 0) {
    member.state = WaitState::failed;
    member.deciding = *hopeless;
  }
  for (const auto& condition : goal_.fail_if) {
    if (object == nullptr && !(condition.waits_for_deletion() && member.existed)) continue;
    Judgement one = ask(condition);
    // What cannot be asked may well hold.
    const bool invalid_here = is(one, Judgement::State::invalid);
    if (!is(one, Judgement::State::met) && !invalid_here) continue;
    member.state = invalid_here ? WaitState::invalid : WaitState::failed;
    member.failed_by = condition.text();
    member.failure = std::move(one);
    if (!invalid_here) break;
  }
}

void WaitJudge::seen(std::size_t target, const Json& object, WallTime wall, bool reduced) {
  Entry& entry = entries_.at(target);
  const std::string uid = base::string_at(object, {"metadata", "uid"});
  const std::string version = base::string_at(object, {"metadata", "resourceVersion"});
  if (entry.expecting) {
    // Another object that is as new has come in the place of what was written.
    const bool after = core::at_least_version(version, entry.expected_version);
    if (!after && uid == entry.expected_uid) return;
    if (after) entry.expecting = false;
  }
  const core::ObjectKey key = core::object_key(object);
  Member& member = entry.members[key];
  const bool another = member.existed && member.uid != uid;
  if (another) met_since_.reset();
  if (another && goal_.awaits_deletion()) member.replaced = true;
  member.present = true;
  member.existed = true;
  member.undecided = member.outside = false;
  member.uid = uid;
  member.resource_version = version;
  // The object that was waited for to go has gone, whoever has its name now.
  judge(member, member.replaced ? nullptr : &object, wall, reduced && !member.replaced);
}

void WaitJudge::gone(std::size_t target, const core::ObjectKey& key) {
  Entry& entry = entries_.at(target);
  const auto found = entry.members.find(key);
  if (found == entry.members.end()) return;
  Member& member = found->second;
  if (member.uid == entry.expected_uid) entry.expecting = false;
  met_since_.reset();
  if (!entry.target.by_name() && !goal_.asks_for_deletion()) {
    entry.members.erase(found);  // no longer a member
    return;
  }
  member.present = false;
  member.undecided = member.outside = false;
  judge(member, nullptr, WallTime{});
}

bool WaitJudge::may_only_have_left(std::size_t target) const {
  const WaitTarget& of = entries_.at(target).target;
  const bool chosen = !of.label_selector.empty() || !of.field_selector.empty();
  return !of.by_name() && chosen && goal_.asks_for_deletion();
}

void WaitJudge::left(std::size_t target, const core::ObjectKey& key) {
  Entry& entry = entries_.at(target);
  const auto found = entry.members.find(key);
  if (found == entry.members.end()) return;
  met_since_.reset();
  found->second.undecided = true;
}

bool WaitJudge::outside(std::size_t target, const core::ObjectKey& key) {
  Entry& entry = entries_.at(target);
  const auto found = entry.members.find(key);
  if (found == entry.members.end()) return false;
  if (!goal_.wants_deletion()) {
    entry.members.erase(found);
    return false;
  }
  found->second.undecided = false;
  found->second.outside = true;
  return true;
}

std::string WaitJudge::uid_of(std::size_t target, const core::ObjectKey& key) const {
  const auto& members = entries_.at(target).members;
  const auto found = members.find(key);
  if (found == members.end() || !found->second.present || found->second.replaced) return "";
  return found->second.uid;
}

std::vector<core::ObjectKey> WaitJudge::inside(std::size_t target) const {
  std::vector<core::ObjectKey> out;
  for (const auto& [key, member] : entries_.at(target).members) {
    if (member.present && !member.undecided && !member.outside) out.push_back(key);
  }
  return out;
}

void WaitJudge::retype(std::size_t target, core::ResourceType type) {
  Entry& entry = entries_.at(target);
  WaitTarget& of = entry.target;
  if (!type.namespaced && !of.namespace_.empty()) {
    auto named = entry.members.extract(core::ObjectKey{of.namespace_, of.name});
    of.namespace_.clear();
    if (of.by_name() && named) {
      named.key().namespace_.clear();
      entry.members.insert(std::move(named));
    }
  }
  of.type = std::move(type);
}

// The state after the write was told already, or a later one: it may have gone, too, and another
// object may have its name.
bool WaitJudge::knows(const Member& member, const std::string& uid,
                      const std::string& resource_version) {
  if (!member.existed) return false;
  if (!member.present && member.uid == uid) return true;
  return core::at_least_version(member.resource_version, resource_version);
}

void WaitJudge::expect(std::size_t target, const std::string& uid,
                       const std::string& resource_version) {
  Entry& entry = entries_.at(target);
  const core::ObjectKey key = {entry.target.namespace_, entry.target.name};
  const auto found = entry.members.find(key);
  if (found != entry.members.end() && knows(found->second, uid, resource_version)) return;
  entry.expected_uid = uid;
  entry.expected_version = resource_version;
  entry.expecting = true;
  met_since_.reset();
}

void WaitJudge::absent(std::size_t target, const std::string& resource_version) {
  Entry& entry = entries_.at(target);
  if (!entry.expecting || !core::at_least_version(resource_version, entry.expected_version)) return;
  entry.expecting = false;
  met_since_.reset();
  Member& member = entry.members[{entry.target.namespace_, entry.target.name}];
  member.uid = entry.expected_uid;
  member.resource_version = entry.expected_version;
  member.existed = true;
  member.present = member.undecided = member.outside = member.replaced = false;
  judge(member, nullptr, WallTime{});
}

WaitJudge::Count WaitJudge::count() const {
  Count out;
  for (const auto& entry : entries_) {
    if (!entry.synced || entry.expecting) out.all_synced = false;
    for (const auto& [key, member] : entry.members) {
      ++out.all;
      const bool chosen = member.present && !member.undecided && !member.outside;
      if (chosen && !entry.target.by_name()) ++out.chosen;
      if (member.undecided) out.all_decided = false;
      if (member.state == WaitState::met) ++out.met;
    }
    if (!has_one(entry)) out.every_target_has_one = false;
  }
  return out;
}

bool WaitJudge::has_one(const Entry& entry) const {
  if (!entry.members.empty()) return true;
  const std::string& category = entry.target.category;
  return !category.empty() && std::any_of(entries_.begin(), entries_.end(), [&](const auto& other) {
    return other.target.category == category &&
           other.target.namespace_ == entry.target.namespace_ && !other.members.empty();
  });
}

bool WaitJudge::enough(const Count& count) const {
  if (goal_.awaits_deletion()) return true;
  if (goal_.exactly && count.chosen != *goal_.exactly) return false;
  if (goal_.min_count && count.chosen < *goal_.min_count) return false;
  return goal_.exactly || goal_.min_count || count.every_target_has_one;
}

// What ends a wait whatever the others do.
WaitOutcome WaitJudge::decide_members() const {
  WaitOutcome out = WaitOutcome::pending;
  for (const auto& entry : entries_) {
    if (!entry.synced || entry.expecting) continue;
    for (const auto& [key, member] : entry.members) {
      if (member.state == WaitState::failed) return WaitOutcome::failed;
      if (member.state == WaitState::invalid) out = WaitOutcome::invalid;
      const bool lost = entry.target.by_name() && member.existed && !member.present &&
                        member.state != WaitState::met;
      if (lost && out == WaitOutcome::pending) out = WaitOutcome::deleted;
    }
  }
  return out;
}

WaitOutcome WaitJudge::decide(TimePoint now, TimePoint confirmed) {
  if (const auto ended = decide_members(); ended != WaitOutcome::pending) return ended;
  const Count counted = count();
  const bool met = !entries_.empty() && counted.all_synced && counted.all_decided &&
                   counted.met == counted.all && enough(counted);
  if (!met) {
    met_since_.reset();
    return WaitOutcome::pending;
  }
  if (!met_since_) met_since_ = now;
  return std::min(now, confirmed) >= *met_since_ + goal_.hold ? WaitOutcome::met
                                                              : WaitOutcome::pending;
}

std::optional<TimePoint> WaitJudge::hold_ends() const {
  if (!met_since_) return std::nullopt;
  return *met_since_ + goal_.hold;
}

std::vector<WaitJudge::Due> WaitJudge::due() const {
  std::vector<Due> out;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    for (const auto& [key, member] : entries_[i].members) {
      if (member.changes_at) out.push_back({i, key, *member.changes_at});
    }
  }
  return out;
}

WaitedObject WaitJudge::describe(const Entry& entry, const core::ObjectKey& key,
                                 const Member& member) const {
  WaitedObject out;
  out.type = entry.target.type;
  out.key = key;
  out.uid = member.uid;
  out.resource_version = member.resource_version;
  out.state = member.state;
  for (std::size_t i = 0; i < member.judgements.size(); ++i) {
    out.conditions.emplace_back(goal_.wanted[i].text(), member.judgements[i]);
  }
  out.condition = goal_.wanted[member.deciding].text();
  out.judgement = member.judgements[member.deciding];
  if (!member.failed_by.empty()) {
    out.condition = member.failed_by;
    out.judgement = member.failure;
    out.judgement.wanted = "not " + member.failed_by;
  }
  if (!entry.synced || entry.expecting) {
    out.state = WaitState::unknown;
    out.judgement.current = entry.synced ? "the state after the write was not seen yet"
                                         : "no answer from the server yet";
  } else if (member.undecided) {
    out.state = WaitState::unknown;
    out.judgement.current = "the selection has it no more; whether it exists is not known yet";
  } else if (member.outside && out.state == WaitState::not_met) {
    out.judgement.current += ", though the selection has it no more";
  } else if (!member.present && out.state == WaitState::not_met) {
    out.state = member.existed ? WaitState::deleted : WaitState::not_found;
    if (member.existed) out.judgement.current = "was deleted while waiting";
  }
  return out;
}

std::vector<WaitedObject> WaitJudge::report() const {
  std::vector<WaitedObject> out;
  const bool none_needed = enough(count());
  for (const auto& entry : entries_) {
    for (const auto& [key, member] : entry.members) out.push_back(describe(entry, key, member));
    if (!entry.members.empty() || (entry.synced && (none_needed || has_one(entry)))) continue;
    WaitedObject none;
    none.type = entry.target.type;
    none.key = {entry.target.namespace_, ""};
    const std::string text = entry.target.str();
    none.selector = text.substr(text.find('(') + 1);
    none.selector.pop_back();
    none.state = entry.synced ? WaitState::not_found : WaitState::unknown;
    none.condition = goal_.wanted.front().text();
    none.judgement.current = entry.synced ? "nothing matches" : "no answer from the server yet";
    none.judgement.wanted = "a matching object";
    none.judgement.rule = "selector";
    out.push_back(std::move(none));
  }
  return out;
}

std::string WaitJudge::summary() const {
  const Count counted = count();
  std::string out = fmt::format("{} of {} objects {} as asked", counted.met, counted.all,
                                counted.met == 1 ? "is" : "are");
  if (goal_.exactly && counted.chosen != *goal_.exactly) {
    out += fmt::format("; {} match, exactly {} are wanted", counted.chosen, *goal_.exactly);
  } else if (goal_.min_count && counted.chosen < *goal_.min_count) {
    out += fmt::format("; {} match, at least {} are wanted", counted.chosen, *goal_.min_count);
  }
  return out;
}

}  // namespace kubewatch::runtime
