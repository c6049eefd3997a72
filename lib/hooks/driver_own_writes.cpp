// Driver, the part about what runs have written and the caches do not show yet: no run starts on
// what was there before the last one of its object. It waits for the event, and not for ever: a
// watch may be broken.
#include <fmt/format.h>

#include <utility>

#include "base/log.hpp"
#include "hooks/driver.hpp"

namespace kubewatch::hooks {
namespace {

constexpr Duration kExpectationCheck{1000};

}  // namespace

void Driver::expect(const Owner& owner, const ChildId& id, const core::ObjectMeta& left) {
  if (left.resource_version.empty()) return;
  expect_write(owner, {id, left.resource_version, "", left.labels});
}

void Driver::expect_gone(const Owner& owner, const ChildId& id, const core::ObjectMeta& was,
                         const core::ObjectMeta& answer) {
  // A server that was only asked: no event of it will come.
  if (!answer.deleting() && answer.resource_version == was.resource_version) return;
  expect_write(owner, {id, "", was.uid, was.labels});
}

void Driver::expect_write(const Owner& owner, ExpectedWrite write) {
  if (write.is_shown(caches_.views_of(write.id, write.labels))) return;  // its event came first
  expected_.expect(owner.uid, owner.key, std::move(write), services_.loop.now());
  watch_expectations();
}

ExpectedWrites::Views Driver::views() const {
  return [this](const ExpectedWrite& write) { return caches_.views_of(write.id, write.labels); };
}

void Driver::look_for_expected(const ChildId& id) {
  if (expected_.has(id)) wake_waiting(expected_.settle(id, views()));
}

// What a list or a bookmark has passed comes with no event of its own.
void Driver::watch_expectations() {
  if (expectation_timer_) return;
  expectation_timer_ = services_.loop.after(kExpectationCheck, [this] {
    expectation_timer_.reset();
    wake_waiting(expected_.settle(views()));
    give_up_expected();
    services_.on_progress();
    if (!expected_.empty()) watch_expectations();
  });
}

void Driver::give_up_expected() {
  std::vector<core::ObjectKey> owners;
  for (ExpectedWrites::Missed& missed : expected_.expire(services_.loop.now())) {
    const auto it = unshown_.find(missed.owner);
    if (it == unshown_.end() || it->second.uid != missed.owner_uid) continue;
    it->second.missed = missed.id.str();
    owners.push_back(std::move(missed.owner));
  }
  wake_waiting(owners);
}

// The server's data went back: versions may come again for another content.
void Driver::forget_expected() {
  expected_ = ExpectedWrites{};
  std::vector<core::ObjectKey> owners;
  for (const auto& [key, waiting] : unshown_) owners.push_back(key);
  wake_waiting(owners);
}

bool Driver::waits_for_own_writes(const core::ObjectKey& key, const std::string& uid,
                                  const Done& done) {
  auto until = expected_.until(uid);
  if (until && *until <= services_.loop.now()) {
    give_up_expected();
    until.reset();
  }
  if (until) {
    unshown_[key] = {uid, ""};
    done(runtime::RunOutcome::put_off(*until));
    return true;
  }
  if (unshown_.empty()) return false;
  const auto node = unshown_.extract(key);
  if (node.empty() || node.mapped().missed.empty()) return false;
  const std::string why = fmt::format(
      "no watch has shown for {} what the last run wrote: the next one starts without it",
      base::format_duration(ExpectedWrites::kPatience));
  if (told_.admit(why, services_.loop.now())) {
    base::log_warn(why, {{"controller", rule_.name},
                         {"object", owner_of(key, {}).str()},
                         {"written", node.mapped().missed}});
  }
  return false;
}

// Its reason and its attempt stay what they were.
void Driver::wake_waiting(const std::vector<core::ObjectKey>& owners) {
  for (const core::ObjectKey& key : owners) {
    const auto it = unshown_.find(key);
    if (it == unshown_.end() || expected_.until(it->second.uid)) continue;
    if (it->second.missed.empty()) unshown_.erase(it);
    const auto state = controller_.queue().look(key);
    if (stopping_ || !state || !state->pending || state->held) continue;
    controller_.add(key, state->reason, state->reason_object, Duration{0},
                    runtime::Priority::background);
  }
  if (expected_.empty()) services_.on_progress();
}

std::string Driver::why_behind(const core::ObjectKey& key) const {
  const auto it = unshown_.find(key);
  if (it == unshown_.end()) return "";
  const auto id = expected_.first_of(it->second.uid);
  return id ? "no watch has shown yet what its last run wrote: " + id->str() : "";
}

}  // namespace kubewatch::hooks
