// Tells of failed runs, and what hooks tell: Events on objects, best effort; runtime/event_recorder
// makes series of repetitions and slows floods down. The log line is run's; the condition is
// outcome's.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "client/client.hpp"
#include "hooks/ownership.hpp"
#include "hooks/verdict.hpp"
#include "runtime/event_recorder.hpp"

namespace kubewatch::hooks {

// "HookFailed", "HookTimedOut", ...: the reason of the Event.
std::string_view event_reason(Outcome outcome);
// What is reported of a failed run. Pure.
runtime::Happening failure_of(const Owner& owner, Outcome outcome, const std::string& note);

using OnEvent = std::function<void(const std::string& controller, const runtime::Happening& what)>;

class Reporter {
 public:
  // `on_event` (may be empty) hears of what is told.
  Reporter(client::Client& client, base::Random& random, OnEvent on_event = nullptr);
  void report(const Owner& owner, const std::string& controller, Outcome outcome,
              const std::string& note);
  // What a hook says itself, and what is found out about a run.
  void tell(const std::string& controller, const runtime::Happening& what);
  // See EventRecorder::flush().
  void flush(Duration at_most, std::function<void()> done) {
    recorder_.flush(at_most, std::move(done));
  }

 private:
  std::string instance_;
  runtime::EventRecorder recorder_;
  OnEvent on_event_;
};

}  // namespace kubewatch::hooks
