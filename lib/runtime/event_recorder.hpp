// Writes Events about objects without ever holding up who reports: what is written, when and how
// often is event_aggregator's. Best effort: a process that ends without flush() leaves the last
// ones unwritten.
#pragma once

#include <functional>

#include "client/client.hpp"
#include "client/in_flight.hpp"
#include "runtime/event_aggregator.hpp"

namespace kubewatch::runtime {

class EventRecorder {
 public:
  // `client` and `random` must outlive it. Needs create and patch of events in events.k8s.io.
  EventRecorder(client::Client& client, base::Random& random, EventLimits limits = {});

  // Returns at once. Errors: invalid (what the API would refuse).
  Result<void> record(const EventReporter& reporter, const Happening& what);
  // `done` once all that was recorded is written, how often it was repeated as well, but for what
  // is to be tried again later, or after `at_most`: at once where nothing is left, else from the
  // loop. One at a time.
  void flush(Duration at_most, std::function<void()> done);
  const EventStats& stats() const { return aggregator_.stats(); }

 private:
  void pump();
  void send(EventWrite write);
  void on_result(std::uint64_t id, const Error* error);
  void end_flush();

  client::Client& client_;
  EventAggregator aggregator_;
  std::size_t open_ = 0;
  loop::Timer timer_;
  loop::Timer flush_timer_;
  std::function<void()> flushed_;
  client::InFlight requests_;
};

}  // namespace kubewatch::runtime
