// What the schema of one kind says of conditions, asked of the server when first needed and kept
// for a few minutes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "client/discovery.hpp"
#include "client/in_flight.hpp"
#include "hooks/status_shape.hpp"

namespace kubewatch::hooks {

class StatusShapes {
 public:
  explicit StatusShapes(client::Client& client) : client_(client) {}
  // `resources` null or without CRDs, or a CRD that may not be read: the shape is unknown.
  void with(const core::ResourceType& type, const client::ResourceMap* resources,
            std::function<void(const StatusShape&)> done);

 private:
  void answer(const StatusShape& shape);

  client::Client& client_;
  std::optional<StatusShape> shape_;
  TimePoint read_at_{};
  std::vector<std::function<void(const StatusShape&)>> waiting_;
  client::InFlight requests_;
};

}  // namespace kubewatch::hooks
