// Writes Events about objects without ever holding up who reports: what is written, when and how
// often is event_aggregator's. Best effort: a process that ends may leave the last ones unwritten.
#pragma once

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
  const EventStats& stats() const { return aggregator_.stats(); }

 private:
  void pump();
  void send(EventWrite write);
  void on_result(std::uint64_t id, const Error* error);

  client::Client& client_;
  EventAggregator aggregator_;
  std::size_t open_ = 0;
  loop::Timer timer_;
  client::InFlight requests_;
};

}  // namespace kubewatch::runtime
