// The election's state machine: at most one request open, one timer set.
#include "runtime/leader_election.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/strings.hpp"

namespace kubewatch::runtime {
namespace {

constexpr double kJitter = 1.2;  // client-go's: a standby waits 1 to 2.2 retry periods
constexpr Duration kLongestLease{std::int64_t{std::numeric_limits<std::int32_t>::max()} * 1000};
constexpr int kConflictsInARow = 3;
constexpr int kShortestRetry = 4;  // of a leader near its fence: so many in a retry period
// In retry periods.
constexpr double kSpread = 0.3;  // so much earlier at the most, where not all are to come at once
constexpr double kLooks = 0.5;   // at a shared lease
constexpr double kShortestLook = 0.1;
constexpr Duration kShortestRequest{1000};
constexpr std::size_t kRememberedRenewals = 16;

Duration part(Duration of, double factor) {
  return std::chrono::duration_cast<Duration>(of * factor);
}

Error refusal(const std::string& message) {
  return Error(ErrorKind::invalid, message);
}

}  // namespace

Result<void> ElectionOptions::validate(const ElectionNames& names) const {
  const auto text = [](Duration duration) { return base::format_duration(duration); };
  if (lease.name.empty()) return refusal(names.lease_name + " is missing");
  if (lease.namespace_.empty()) return refusal(names.lease_namespace + " is missing");
  if (auto wrong = core::check_dns_subdomain(lease.name); !wrong.empty()) {
    return refusal(names.lease_name + " \"" + lease.name + "\": " + wrong);
  }
  if (auto wrong = core::check_dns_label(lease.namespace_); !wrong.empty()) {
    return refusal(names.lease_namespace + " \"" + lease.namespace_ + "\": " + wrong);
  }
  if (identity.empty()) return refusal(names.identity + " is empty");
  if (!base::is_valid_utf8(identity)) {
    return refusal(names.identity + " is not UTF-8: a Lease holds no other text");
  }
  if (retry_period <= Duration{0}) return refusal(names.retry_period + " must be more than 0");
  if (lease_duration.count() % 1000 != 0) {
    return refusal(fmt::format("{} {} must be whole seconds: a Lease holds no less",
                               names.lease_duration, text(lease_duration)));
  }
  if (lease_duration > kLongestLease) {
    return refusal(fmt::format("{} {} must be {} at most: a Lease holds no more",
                               names.lease_duration, text(lease_duration), text(kLongestLease)));
  }
  if (lease_duration <= renew_deadline) {
    return refusal(fmt::format("{} {} must be more than {} {}", names.lease_duration,
                               text(lease_duration), names.renew_deadline, text(renew_deadline)));
  }
  if (renew_deadline * 10 <= retry_period * 12) {
    return refusal(fmt::format("{} {} must be more than 1.2 times {} {}", names.renew_deadline,
                               text(renew_deadline), names.retry_period, text(retry_period)));
  }
  return {};
}

Duration ElectionOptions::request_timeout() const {
  return std::max(kShortestRequest, renew_deadline / 2);
}

Duration time_to_end(const Fence& fence, TimePoint now) {
  return std::max(Duration{0}, fence.end_before - std::max(now, fence.start_before));
}

LeaderElector::LeaderElector(ElectionOptions options, base::Random& random)
    : options_(std::move(options)), random_(random) {}

ElectionActions LeaderElector::take() {
  return std::exchange(actions_, {});
}

std::optional<Fence> LeaderElector::fence() const {
  if (state_ != ElectionState::leading) return std::nullopt;
  const Duration slack = options_.lease_duration - options_.renew_deadline;
  const TimePoint end = confirmed_at_ + options_.renew_deadline;
  return Fence{end, end + slack / 2};
}

ElectionActions LeaderElector::start(TimePoint now, WallTime /*wall*/) {
  if (state_ != ElectionState::idle) return {};
  state_ = ElectionState::standing_by;
  record_.reset();
  observed_.reset();
  told_holder_.reset();
  own_renew_times_.clear();
  conflicts_ = 0;
  sent_at_ = now;
  get();
  return take();
}

ElectionActions LeaderElector::on_timer(TimePoint now, WallTime wall) {
  switch (state_) {
    case ElectionState::idle: break;
    case ElectionState::standing_by:
      sent_at_ = now;
      if (open_ == Open::nothing) get();
      break;
    case ElectionState::leading:
      if (now >= fence()->start_before) {
        lose("no renewal was confirmed for " + base::format_duration(options_.renew_deadline));
      } else if (open_ == Open::nothing && now >= retry_at_) {
        sent_at_ = now;
        // Of a shared lease somebody else may have renewed it: then there is nothing to write.
        record_ && !options_.shared ? write(now, wall) : get();
      }
      break;
    case ElectionState::releasing:
      if (now >= release_until_) {
        if (open_ != Open::nothing) actions_.push_back(CancelLeaseRequest{});
        finish_release(false);
      } else if (open_ == Open::nothing) {
        get();
      }
      break;
  }
  set_timer();
  return take();
}

void LeaderElector::get() {
  open_ = Open::get;
  actions_.push_back(GetLease{});
}

// Fast path: an update of what was seen last. It fails with a conflict when that is not the newest.
void LeaderElector::write(TimePoint now, WallTime wall) {
  sent_at_ = now;
  open_ = Open::renewal;
  const bool with_others = options_.shared && record_->holder == options_.identity;
  // Never shorter than others that hold it count on.
  const Duration lasts =
      with_others ? std::max(options_.lease_duration, record_->duration) : options_.lease_duration;
  Json object = renewed_lease(*record_, options_.identity, lasts, wall);
  sent_renew_time_ = base::string_at(object, {"spec", "renewTime"});
  actions_.push_back(UpdateLease{std::move(object)});
}

void LeaderElector::write_release(WallTime wall) {
  open_ = Open::release;
  actions_.push_back(UpdateLease{released_lease(*record_, wall)});
}

void LeaderElector::observe(TimePoint now, Lease lease) {
  if (!observed_ || !observed_->same_spec(lease)) observed_at_ = now;
  holder_ = lease.holder;
  record_ = lease;
  observed_ = std::move(lease);
}

ElectionActions LeaderElector::on_answer(TimePoint now, WallTime wall, Result<Json> answer) {
  const Open what = std::exchange(open_, Open::nothing);
  if (state_ == ElectionState::idle || what == Open::nothing) return take();
  if (what == Open::get) {
    on_got(now, wall, std::move(answer));
  } else {
    on_put(now, wall, what, std::move(answer));
  }
  set_timer();
  return take();
}

void LeaderElector::on_got(TimePoint now, WallTime wall, Result<Json> answer) {
  if (!answer.ok()) {
    if (!answer.error().is_not_found()) return retry(now, &answer.error());
    record_.reset();
    holder_.clear();
    if (state_ == ElectionState::releasing) return finish_release(true);
    sent_at_ = now;
    open_ = Open::create;
    Json object = new_lease(options_.lease, options_.labels, options_.identity,
                            options_.lease_duration, wall);
    sent_renew_time_ = base::string_at(object, {"spec", "renewTime"});
    return actions_.push_back(CreateLease{std::move(object)});
  }
  auto lease = read_lease(*answer);
  if (!lease.ok()) return retry(now, &lease.error());
  const std::optional<Lease> before = observed_;
  const TimePoint looked_at = std::exchange(looked_at_, sent_at_);
  observe(now, std::move(*lease));
  if (before && renewed_by_others(*before)) {
    if (state_ == ElectionState::leading) confirmed_at_ = std::max(confirmed_at_, looked_at);
    if (!is_due(now, looked_at)) return confirm(now, looked_at);
  }
  decide(now, wall);
}

// Since that was seen, and for as long as we count on.
bool LeaderElector::renewed_by_others(const Lease& before) const {
  const bool renewing = state_ == ElectionState::leading || state_ == ElectionState::standing_by;
  return options_.shared && renewing && before.holder == options_.identity &&
         record_->holder == options_.identity && before.transitions == record_->transitions &&
         !before.same_spec(*record_) && record_->duration >= options_.lease_duration;
}

// What the lease as it is now asks for.
void LeaderElector::decide(TimePoint now, WallTime wall) {
  const bool ours = record_->holder == options_.identity;
  switch (state_) {
    case ElectionState::idle: return;
    case ElectionState::releasing:
      if (!ours) return finish_release(true);
      return write_release(wall);
    case ElectionState::leading:
      if (!ours) {
        return lose(record_->holder.empty() ? "somebody else released the lease"
                                            : "it is held by " + record_->holder);
      }
      if (!options_.shared && is_rival()) {
        return lose("another process renews it with the same identity " + options_.identity);
      }
      if (options_.shared && !is_due(now, confirmed_at_) &&
          record_->duration >= options_.lease_duration) {
        return look_again(now);
      }
      return write(now, wall);
    case ElectionState::standing_by:
      if (ours || record_->holder.empty() || is_expired(now)) return write(now, wall);
      if (told_holder_ != record_->holder) {
        told_holder_ = record_->holder;
        actions_.push_back(StandingBy{record_->holder});
      }
      return retry(now, nullptr);
  }
}

bool LeaderElector::is_expired(TimePoint now) const {
  const Duration lasts =
      record_->duration > Duration{0} ? record_->duration : options_.lease_duration;
  return now >= observed_at_ + lasts;
}

bool LeaderElector::is_rival() const {
  return std::find(own_renew_times_.begin(), own_renew_times_.end(), record_->renew_time) ==
         own_renew_times_.end();
}

void LeaderElector::on_put(TimePoint now, WallTime wall, Open what, Result<Json> answer) {
  // Whether it succeeded or nobody knows: a renewal of this time is ours.
  if (what != Open::release) {
    own_renew_times_.push_back(sent_renew_time_);
    if (own_renew_times_.size() > kRememberedRenewals) {
      own_renew_times_.erase(own_renew_times_.begin());
    }
  }
  if (!answer.ok()) return on_put_failed(now, what, answer.error());
  auto lease = read_lease(*answer);
  if (!lease.ok()) {
    record_.reset();
    return retry(now, &lease.error());
  }
  conflicts_ = 0;
  observe(now, std::move(*lease));
  if (what == Open::release) return finish_release(true);
  confirmed(now, wall);
}

void LeaderElector::on_put_failed(TimePoint now, Open what, const Error& error) {
  // A create that finds nothing has no namespace, which somebody should hear of.
  const bool outdated = error.is_conflict() || error.is_already_exists() ||
                        (error.is_not_found() && what != Open::create);
  if (!outdated) return retry(now, &error);
  record_.reset();
  // Whoever was faster at a shared lease has most likely renewed it for us.
  const bool is_rivals = state_ == ElectionState::standing_by && !options_.shared;
  if (is_rivals || ++conflicts_ > kConflictsInARow) {
    conflicts_ = 0;
    return retry(now, what == Open::release ? &error : nullptr);
  }
  sent_at_ = now;
  get();
}

// A renewal or a take-over that the server has accepted.
void LeaderElector::confirmed(TimePoint now, WallTime wall) {
  switch (state_) {
    case ElectionState::idle: return;
    case ElectionState::releasing: return write_release(wall);
    case ElectionState::standing_by:
      // An answer that comes so late allows nothing any more: once again.
      if (now >= sent_at_ + options_.renew_deadline) return write(now, wall);
      [[fallthrough]];
    case ElectionState::leading: looked_at_ = sent_at_; confirm(now, sent_at_);
  }
}

// Held, and by a renewal that came after `since`.
void LeaderElector::confirm(TimePoint now, TimePoint since) {
  if (state_ == ElectionState::standing_by) {
    state_ = ElectionState::leading;
    confirmed_at_ = since;
    told_holder_.reset();
    actions_.push_back(BecameLeader{});
  }
  confirmed_at_ = std::max(confirmed_at_, since);
  conflicts_ = 0;
  if (options_.shared) return look_again(now);
  const double early = options_.one_of_many ? kSpread * random_.unit() : 0;
  retry_at_ = now + part(options_.retry_period, 1 - early);
}

// Of a shared lease that was renewed then: whether it is for us to renew it.
bool LeaderElector::is_due(TimePoint now, TimePoint renewed) const {
  return now >= renewed + part(options_.retry_period, 1 - kSpread);
}

// At the latest when it is due.
void LeaderElector::look_again(TimePoint now) {
  const Duration period = options_.retry_period;
  const Duration most = std::min(part(period, kLooks), confirmed_at_ + period - now);
  retry_at_ = now + std::max(part(most, 1 - kSpread * random_.unit()), part(period, kShortestLook));
}

void LeaderElector::retry(TimePoint now, const Error* error) {
  Duration wait = options_.retry_period;
  if (state_ == ElectionState::standing_by) {
    wait += part(wait, kJitter * random_.unit());
  } else if (const auto held = fence()) {
    const Duration half = (held->start_before - now) / 2;
    wait = std::clamp(half, options_.retry_period / kShortestRetry, options_.retry_period);
  }
  retry_at_ = now + wait;
  if (error != nullptr) actions_.push_back(ElectionTrouble{*error, wait});
}

// While a request is open its answer, or its own timeout, comes first.
void LeaderElector::set_timer() {
  const bool waiting = open_ != Open::nothing;
  switch (state_) {
    case ElectionState::idle: return;
    case ElectionState::standing_by:
      if (!waiting) actions_.push_back(SetElectionTimer{retry_at_});
      return;
    case ElectionState::leading: {
      const TimePoint end = fence()->start_before;
      actions_.push_back(SetElectionTimer{waiting ? end : std::min(retry_at_, end)});
      return;
    }
    case ElectionState::releasing:
      actions_.push_back(
          SetElectionTimer{waiting ? release_until_ : std::min(retry_at_, release_until_)});
      return;
  }
}

ElectionActions LeaderElector::release(TimePoint now, WallTime wall) {
  const bool was_leading = state_ == ElectionState::leading;
  if (state_ == ElectionState::releasing) return {};
  if (state_ == ElectionState::idle) {
    finish_release(true);
    return take();
  }
  // A shared one is still needed by the others of its identity, and what is on its way does nothing
  // but renew it for them. Of any other a take-over that is on its way may still succeed.
  if (options_.shared || (!was_leading && open_ != Open::create && open_ != Open::renewal)) {
    if (open_ != Open::nothing) actions_.push_back(CancelLeaseRequest{});
    finish_release(true);
    return take();
  }
  state_ = ElectionState::releasing;
  release_until_ = now + options_.renew_deadline;
  retry_at_ = now;
  if (open_ == Open::nothing) record_ ? write_release(wall) : get();
  set_timer();
  return take();
}

void LeaderElector::lose(std::string why) {
  const Fence last = fence().value_or(Fence{});
  if (open_ != Open::nothing) actions_.push_back(CancelLeaseRequest{});
  open_ = Open::nothing;
  state_ = ElectionState::idle;
  actions_.push_back(LostLead{std::move(why), last});
}

void LeaderElector::finish_release(bool confirmed) {
  open_ = Open::nothing;
  state_ = ElectionState::idle;
  actions_.push_back(ReleasedLead{confirmed});
}

}  // namespace kubewatch::runtime
