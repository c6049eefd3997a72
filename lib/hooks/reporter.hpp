// Tells of failed runs: an Event on the object, at most one per message and object in six minutes,
// best effort. The log line is run's; the condition is outcome's.
#pragma once

#include <map>
#include <string>

#include "client/client.hpp"
#include "client/discovery.hpp"
#include "client/in_flight.hpp"
#include "hooks/ownership.hpp"
#include "hooks/verdict.hpp"

namespace kubewatch::hooks {

// Admits each key once per window. Pure.
class OncePer {
 public:
  explicit OncePer(Duration window) : window_(window) {}
  bool admit(const std::string& key, TimePoint now);

 private:
  Duration window_;
  std::map<std::string, TimePoint> last_;
};

// "HookFailed", "HookTimedOut", ...: the reason of the Event.
std::string_view event_reason(Outcome outcome);
// The events.k8s.io/v1 Event. Pure.
Json make_event(const Owner& owner, const std::string& controller, const std::string& instance,
                std::string_view reason, const std::string& note, const std::string& suffix,
                WallTime now);

class Reporter {
 public:
  Reporter(client::Client& client, base::Random& random);
  // `type` null: the server has no events.k8s.io/v1; nothing is sent.
  void report(const core::ResourceType* type, const Owner& owner, const std::string& controller,
              Outcome outcome, const std::string& note);

 private:
  client::Client& client_;
  base::Random& random_;
  std::string instance_;
  OncePer once_{Duration{360000}};
  client::InFlight requests_;
};

}  // namespace kubewatch::hooks
