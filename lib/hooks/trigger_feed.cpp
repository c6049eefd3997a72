// Lines to requests.
#include "hooks/trigger_feed.hpp"

#include "base/strings.hpp"

namespace kubewatch::hooks {
namespace {

constexpr double kWideCost = 99;  // of a request that looks at all objects, beside its own

}  // namespace

TriggerFeed::TriggerFeed(OnRequest on_request, OnRefused on_refused)
    : on_request_(std::move(on_request)),
      on_refused_(std::move(on_refused)),
      lines_(kMaxTriggerBytes + 1) {}

void TriggerFeed::line(TimePoint now, std::string_view text, std::set<std::string>& wide) {
  if (base::trim(text).empty()) return;
  allowed_.take(now);
  auto request = read_trigger_request(text);
  if (!request.ok()) return on_refused_(request.error());
  if (!request->key) {
    if (!wide.insert(objects_of(*request)).second) return;
    allowed_.take(now, kWideCost);
  }
  on_request_(*request);
}

void TriggerFeed::bytes(TimePoint now, std::string_view text) {
  std::set<std::string> wide;
  lines_.feed(text, [&](std::string_view one, std::string_view) {
    line(now, one, wide);
    return true;
  });
}

void TriggerFeed::end(TimePoint now) {
  std::set<std::string> wide;
  lines_.finish([&](std::string_view one, std::string_view) {
    line(now, one, wide);
    return true;
  });
}

void TriggerFeed::restart() {
  lines_.clear();
}

Duration TriggerFeed::pause(TimePoint now) const {
  const double left = allowed_.level(now);
  if (left >= 0) return Duration{0};
  return Duration{1 +
                  static_cast<std::int64_t>(-left * static_cast<double>(kOneTriggerPer.count()))};
}

}  // namespace kubewatch::hooks
