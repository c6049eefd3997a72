// Bytes of a trigger program or file to requests: lines with a limit on their length, and an
// allowance that says when to read on. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "base/token_bucket.hpp"
#include "hooks/trigger_request.hpp"
#include "loop/lines.hpp"

namespace kubewatch::hooks {

// Requests of one source. More than a burst at once, or a rate after it, has to wait: what is not
// read yet stays with the writer, and nothing is lost.
inline constexpr double kTriggerBurst = 1000;
inline constexpr Duration kOneTriggerPer{5};
inline constexpr std::size_t kTriggerChunk = 16U << 10U;  // bytes of one read

class TriggerFeed {
 public:
  using OnRequest = std::function<void(const TriggerRequest&)>;
  using OnRefused = std::function<void(const Error&)>;
  TriggerFeed(OnRequest on_request, OnRefused on_refused);

  // Empty lines count for nothing. Of requests for all objects, or for those of one selector, the
  // first in a text is told: nothing happens between them and it, so they would find the same.
  void bytes(TimePoint now, std::string_view text);
  // Its writer ended: a last line without a newline is one.
  void end(TimePoint now);
  // What was begun is forgotten: the text starts anew.
  void restart();
  // How long not to read.
  Duration pause(TimePoint now) const;

 private:
  void line(TimePoint now, std::string_view text, std::set<std::string>& wide);

  OnRequest on_request_;
  OnRefused on_refused_;
  loop::LineSplitter lines_;
  base::TokenBucket allowed_{kTriggerBurst, kOneTriggerPer};
};

}  // namespace kubewatch::hooks
