// Requests of one source that look at many objects, and come faster than these are looked at: a
// text that is read in one piece may hold hundreds, which would stop the loop. Pure.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "hooks/trigger_request.hpp"

namespace kubewatch::hooks {

class TriggerBacklog {
 public:
  // So many at once, then one each so often: as fast as TriggerFeed lets them be read, so that no
  // more of them wait than one text holds.
  static constexpr int kAtOnce = 10;
  static constexpr Duration kEach{500};

  // Whether to carry it out now, as what names an object always is. Else it waits here; once,
  // however often it comes until then.
  bool take(TimePoint now, const TriggerRequest& request);
  // The first that waits, once its time has come.
  std::optional<TriggerRequest> next(TimePoint now);
  // Until then; absent: none waits.
  std::optional<Duration> wait(TimePoint now) const;

 private:
  struct Waiting {
    std::string objects;  // that it asks for, in words
    TriggerRequest request;
  };

  Duration left(TimePoint now) const;
  void count(TimePoint now);

  std::deque<Waiting> waiting_;
  TimePoint paid_until_{};
};

}  // namespace kubewatch::hooks
