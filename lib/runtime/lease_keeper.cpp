#include "runtime/lease_keeper.hpp"

#include <algorithm>
#include <utility>

#include "base/json.hpp"
#include "base/log.hpp"
#include "loop/boot_clock.hpp"
#include "runtime/overloaded.hpp"

namespace kubewatch::runtime {
namespace {

constexpr Duration kLongestSleep{1000};
constexpr Duration kWarnAgain{60000};

// Nothing more is to be asked about the answer that made these.
bool is_settled(const ElectionActions& actions) {
  return std::none_of(actions.begin(), actions.end(), [](const ElectionAction& action) {
    return std::holds_alternative<GetLease>(action) ||
           std::holds_alternative<CreateLease>(action) ||
           std::holds_alternative<UpdateLease>(action) ||
           std::holds_alternative<ElectionTrouble>(action);
  });
}

}  // namespace

bool LastingTrouble::note(const Error& error, TimePoint now) {
  trouble_ = LeaseTrouble{error, trouble_ ? trouble_->since : now};
  std::string text = error.render();
  if (text == told_ && now < told_at_ + kWarnAgain) return false;
  told_ = std::move(text);
  told_at_ = now;
  return true;
}

void LastingTrouble::is_over() {
  trouble_.reset();
  told_.clear();
}

LeaseKeeper::LeaseKeeper(client::Client& client, ElectionOptions options, base::Random& random,
                         LeaseKeeperCallbacks callbacks, LeaseTurns* turns)
    : client_(client),
      elector_(std::move(options), random),
      callbacks_(std::move(callbacks)),
      turns_(turns) {}

void LeaseKeeper::start() {
  trouble_.forget();
  run(elector_.start(loop::boot_now(), client_.loop().wall()));
}

void LeaseKeeper::release() {
  run(elector_.release(loop::boot_now(), client_.loop().wall()));
}

// The elector counts from when it wanted the request: what waits for its turn only makes a lead
// end sooner.
void LeaseKeeper::send(std::function<client::PendingPtr()> request) {
  if (turns_ == nullptr) {
    request_ = request();
    return;
  }
  const ElectionState state = elector_.state();
  const bool held = state == ElectionState::leading || state == ElectionState::releasing;
  turn_.end();
  turn_ = turns_->ask(held ? LeaseTurns::Of::held : LeaseTurns::Of::other,
                      [this, request = std::move(request)] { request_ = request(); });
}

void LeaseKeeper::answered(Result<Json> answer) {
  turn_.end();
  auto actions = elector_.on_answer(loop::boot_now(), client_.loop().wall(), std::move(answer));
  // A look that lets nothing be written has not helped.
  if (is_settled(actions)) trouble_.is_over();
  run(std::move(actions));
}

void LeaseKeeper::tell_trouble(const ElectionTrouble& trouble) {
  if (!trouble_.note(trouble.error, loop::boot_now())) return;
  base::log_warn("the lease cannot be read or written; trying again in " +
                     base::format_duration(trouble.retry_in),
                 {{"lease", options().lease.str()}, {"error", trouble.error.render()}});
}

// In short sleeps: the loop's timers stand still while the machine is suspended, the lease does
// not, and that it has run out must be noticed soon afterwards.
void LeaseKeeper::wait_until(TimePoint at) {
  const Duration left = std::max(Duration{0}, at - loop::boot_now());
  timer_ = client_.loop().after(std::min(left, kLongestSleep), [this, at] {
    if (loop::boot_now() < at) return wait_until(at);
    run(elector_.on_timer(loop::boot_now(), client_.loop().wall()));
  });
}

void LeaseKeeper::run(ElectionActions actions) {
  const auto answer = [this](Result<Json> result) { answered(std::move(result)); };
  for (auto& action : actions) {
    std::visit(
        Overloaded{
            [&](GetLease&) {
              send([this, answer] { return client_.get(lease_type(), options().lease, answer); });
            },
            [&](CreateLease& a) {
              send([this, answer, object = std::move(a.object)] {
                return client_.create(lease_type(), options().lease.namespace_, object, {}, answer);
              });
            },
            [&](UpdateLease& a) {
              send([this, answer, object = std::move(a.object)] {
                return client_.update(lease_type(), object, {}, answer);
              });
            },
            [&](CancelLeaseRequest&) {
              request_.reset();
              turn_.end();
            },
            [&](SetElectionTimer& a) { wait_until(a.at); },
            [&](BecameLeader&) {
              if (callbacks_.on_leading) callbacks_.on_leading();
            },
            [&](StandingBy& a) {
              if (callbacks_.on_standing_by) callbacks_.on_standing_by(a.holder);
            },
            [&](LostLead& a) {
              timer_.reset();
              if (callbacks_.on_lost) callbacks_.on_lost(a);
            },
            [&](ReleasedLead& a) {
              timer_.reset();
              if (callbacks_.on_released) callbacks_.on_released(a.confirmed);
            },
            [&](ElectionTrouble& a) {
              tell_trouble(a);
              if (callbacks_.on_trouble) callbacks_.on_trouble(a.error);
            },
        },
        action);
  }
}

Result<Duration> LeaseGate::admit() {
  const auto fence = fence_();
  const TimePoint now = loop::boot_now();
  if (!fence) {
    return Error(ErrorKind::canceled,
                 "this instance does not lead: it holds no lease, so nothing is written");
  }
  if (now >= fence->start_before) {
    return Error(
        ErrorKind::canceled,
        "not the leader any more: the lease was not renewed in time, so nothing is written");
  }
  return std::max(Duration{1}, fence->end_before - now);
}

}  // namespace kubewatch::runtime
