// What a rule knows of its objects over restarts.
#include "hooks/rule_state.hpp"

#include <algorithm>
#include <chrono>

#include "base/document_words.hpp"

namespace kubewatch::hooks {

std::int64_t milliseconds_of(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

const HandledObject* RuleState::find(const core::ObjectKey& key) const {
  return store_ == nullptr ? nullptr : store_->find({rule_.name, key});
}

std::vector<std::pair<core::ObjectKey, HandledObject>> RuleState::all() const {
  if (store_ == nullptr) return {};
  return store_->of_controller(rule_.name);
}

void RuleState::set(const core::ObjectKey& key, HandledObject handled) {
  if (store_ != nullptr) store_->set({rule_.name, key}, std::move(handled));
}

void RuleState::forget(const core::ObjectKey& key) {
  if (store_ != nullptr) store_->forget({rule_.name, key});
}

std::string RuleState::kind() const {
  return rule_.for_.gvk.group_kind();
}

void RuleState::forget_other_kinds() {
  for (const auto& [key, handled] : all()) {
    if (rule_.has_for && (handled.kind.empty() || handled.kind == kind())) continue;
    forget(key);
  }
}

void RuleState::learn_kind(const core::ObjectKey& key, HandledObject handled) {
  handled.kind = kind();
  set(key, std::move(handled));
}

void RuleState::set_to_run(const core::ObjectKey& key, const std::string& uid) {
  set(key, to_be_handled(kind(), uid));
}

void RuleState::know(const core::ObjectKey& key, const std::string& uid) {
  if (find(key) == nullptr) set_to_run(key, uid);
}

void RuleState::ask(const core::ObjectKey& key, runtime::Reason reason) {
  if (!is_request(reason) || !rule_.has_for) return;
  const HandledObject* known = find(key);
  if (known == nullptr || known->hash.empty()) return;
  set(key, to_be_handled(kind(), known->uid, known->ran));
}

bool RuleState::is_request(runtime::Reason reason) {
  using runtime::Reason;
  return reason == Reason::external || reason == Reason::manual || reason == Reason::schedule;
}

std::string RuleState::mark(const std::string& input) {
  return store_->hash(std::to_string(rule_.fingerprint) + "\n" + hook_files_.mark(rule_, *store_) +
                      "\n" + input);
}

void RuleState::begin(const std::string& run_id, const core::ObjectMeta& meta,
                      const std::string& input, WallTime now) {
  HandledObject handled = to_be_handled(kind(), meta.uid, milliseconds_of(now));
  set(meta.key(), handled);
  handled.hash = mark(input);
  handling_[run_id] = std::move(handled);
}

std::optional<HandledObject> RuleState::end(const std::string& run_id) {
  auto node = handling_.extract(run_id);
  if (node.empty()) return std::nullopt;
  return std::move(node.mapped());
}

std::optional<HandledObject> RuleState::ended(HandledObject handled,
                                              const runtime::RunOutcome& outcome, bool parked,
                                              const std::string& why, WallTime now) {
  using Verdict = runtime::RunOutcome::Verdict;
  if (outcome.verdict == Verdict::requeue) {
    handled.due = milliseconds_of(now + outcome.after.value_or(Duration{0}));
  } else if (parked) {
    handled.parked = true;
    handled.why = base::shortened(why, kMaxWhy);
  } else if (outcome.verdict != Verdict::done) {
    return std::nullopt;
  }
  return handled;
}

HandledObject RuleState::by_the_clock_of(WallTime now, HandledObject handled) {
  const std::int64_t ahead = handled.ran - milliseconds_of(now);
  if (ahead <= 0) return handled;
  handled.ran -= ahead;
  if (handled.due != 0) handled.due -= ahead;
  return handled;
}

std::optional<LastRun> RuleState::last_run(const core::ObjectKey& key, WallTime now) const {
  const HandledObject* known = find(key);
  if (known == nullptr || known->why.empty()) return std::nullopt;
  LastRun last{known->why, "", Duration{0}, true};
  last.ago = Duration{std::max<std::int64_t>(0, milliseconds_of(now) - known->ran)};
  return last;
}

}  // namespace kubewatch::hooks
