// Driver, the part about what runs have written and the caches do not show yet: no run starts on
// what was there before the last one of its object. It waits for the event, and not for ever: a
// watch may be broken.
#include <fmt/format.h>

#include <utility>

#include "base/log.hpp"
#include "hooks/driver.hpp"

namespace kubewatch::hooks {
namespace {

constexpr Duration kOwnWritesCheck{1000};

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
  own_writes_.expect(owner.uid, owner.key, std::move(write), views(), services_.loop.now());
  watch_own_writes();
}

OwnWriteWaits::Views Driver::views() const {
  return [this](const ExpectedWrite& write) { return caches_.views_of(write.id, write.labels); };
}

void Driver::look_for_own_write(const ChildId& id) {
  if (own_writes_.has(id)) wake_waiting(own_writes_.settle(id, views()));
}

// What a list or a bookmark has passed comes with no event of its own.
void Driver::watch_own_writes() {
  if (own_writes_timer_ || !own_writes_.any()) return;
  own_writes_timer_ = services_.loop.after(kOwnWritesCheck, [this] {
    own_writes_timer_.reset();
    wake_waiting(own_writes_.settle(views()));
    wake_waiting(own_writes_.give_up(services_.loop.now()));
    services_.on_progress();
    watch_own_writes();
  });
}

bool Driver::waits_for_own_writes(const core::ObjectKey& key, const std::string& uid,
                                  const Done& done) {
  const TimePoint now = services_.loop.now();
  if (own_writes_.is_overdue(uid, now)) wake_waiting(own_writes_.give_up(now));
  if (const auto until = own_writes_.wait(key, uid)) {
    done(runtime::RunOutcome::put_off(*until));
    return true;
  }
  const std::string missed = own_writes_.start(key);
  if (missed.empty()) return false;
  const std::string why = fmt::format(
      "no watch has shown for {} what the last run wrote: the next one starts without it",
      base::format_duration(ExpectedWrites::kPatience));
  if (told_.admit(why, now)) {
    base::log_warn(
        why,
        {{"controller", rule_.name}, {"object", owner_of(key, {}).str()}, {"written", missed}});
  }
  return false;
}

// Their reasons and their attempts stay what they were.
void Driver::wake_waiting(const std::vector<core::ObjectKey>& keys) {
  for (const core::ObjectKey& key : keys) {
    const auto state = controller_.queue().look(key);
    if (stopping_ || !state || !state->pending || state->held) continue;
    controller_.add(key, state->reason, state->reason_object, Duration{0},
                    runtime::Priority::background);
  }
  if (!own_writes_.any()) services_.on_progress();
}

std::string Driver::why_behind(const core::ObjectKey& key) const {
  const auto id = own_writes_.first_of(key);
  return id ? "no watch has shown yet what its last run wrote: " + id->str() : "";
}

}  // namespace kubewatch::hooks
