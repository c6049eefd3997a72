// A coordination.k8s.io/v1 Lease as leader election reads and writes it. Data only. Whatever else
// the object holds (labels, annotations, fields of later Kubernetes versions) is carried along.
// Source: the API reference of Lease v1; the meaning of the fields is client-go's.
#pragma once

#include <map>
#include <string>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "core/resource.hpp"

namespace kubewatch::runtime {

struct Lease {
  std::string holder;      // "": nobody
  Duration duration{0};    // 0: not set
  std::string renew_time;  // MicroTime as sent, "" when absent: never compared with a clock
  std::int64_t transitions = 0;
  std::string resource_version;
  Json object;  // the whole object as the server sent it

  // Somebody renewed, took or released it: what standbys measure the age of.
  bool same_spec(const Lease& other) const;
};

// Errors: invalid when it is not a Lease at all. A spec with missing fields is read as empty.
Result<Lease> read_lease(const Json& object);

// `before` as it is written by `holder` at `wall`: renewed when it already holds it, else acquired
// (acquireTime now, one more transition).
Json renewed_lease(const Lease& before, const std::string& holder, Duration duration,
                   WallTime wall);
// The first Lease of this name. Labels may be empty.
Json new_lease(const core::ObjectKey& key, const std::map<std::string, std::string>& labels,
               const std::string& holder, Duration duration, WallTime wall);
// Nobody's, for one second; transitions stay.
Json released_lease(const Lease& before, WallTime wall);

// leases.coordination.k8s.io/v1, which every server has served since 1.14.
const core::ResourceType& lease_type();

}  // namespace kubewatch::runtime
