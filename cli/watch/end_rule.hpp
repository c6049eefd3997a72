// When a watch ends by itself: --until, --max-events, --duration. Without any of them never. Pure
// but for jq's helper process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "cli/watch/event_filter.hpp"
#include "runtime/wait_condition.hpp"

namespace kubewatch::cli::watch {

class EndRule {
 public:
  struct Flags {
    std::string until;  // kubectl wait's forms, or jq; "" = not given
    std::uint64_t max_events = 0;
    std::optional<Duration> duration;
  };
  // Errors: invalid, naming the flag.
  static Result<EndRule> parse(const Flags& flags);

  // note() judges the object.
  bool wants_object() const { return condition_.has_value() || program_.has_value(); }
  // It does so by more than that the object is there or not.
  bool reads_content() const;
  // For objects of which no more is kept. Errors: invalid, naming the flag.
  Result<void> check(const MetadataReads& kept) const;
  enum class Verdict { goes_on, met, enough };  // met: --until; enough: --max-events
  // An event that was shown. Null: it is counted, and not judged. Errors: of jq.
  Result<Verdict> note(const EventView* event);
  // The events that were shown.
  std::uint64_t shown() const { return shown_; }
  const std::optional<Duration>& duration() const { return flags_.duration; }
  // After --duration or --max-events: 0, or 3 when --until was waited for.
  bool timed_out_is_failure() const { return wants_object(); }
  const std::string& until() const { return flags_.until; }
  // Why a signal before the end is a failure; "" = it is the way to end this.
  std::string why_unmet() const {
    return wants_object() ? "interrupted before --until " + until() + " was met" : "";
  }

 private:
  Result<bool> until_met(const EventView& event) const;

  Flags flags_;
  std::optional<runtime::WaitCondition> condition_;
  std::optional<jq::Program> program_;
  std::uint64_t shown_ = 0;
};

}  // namespace kubewatch::cli::watch
