// A server's answers to the requests of who keeps a Lease, on a scripted transport.
#pragma once

#include <cstddef>
#include <string>

#include "base/json.hpp"
#include "client/rig.hpp"

namespace kubewatch::test {

// There is no such Lease.
inline void refuse_as_unknown(Rig& rig, std::size_t index) {
  rig.transport.call(index).head(404);
  rig.transport.call(index).data(R"({"kind":"Status","reason":"NotFound","code":404})");
  rig.transport.call(index).end();
}

// The Lease is kept as it was sent.
inline void accept_lease(Rig& rig, std::size_t index) {
  Json sent = Json::parse(rig.transport.request(index).body);
  sent["metadata"]["resourceVersion"] = std::to_string(index);
  rig.transport.call(index).head(200);
  rig.transport.call(index).data(sent.dump());
  rig.transport.call(index).end();
}

}  // namespace kubewatch::test
