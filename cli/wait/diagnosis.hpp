// Reads, when a wait has failed, what tells why: the Pods that an object owns, their claims, and
// the last warning Events. On demand, few requests, within a time limit; what cannot be read is
// left out.
#pragma once

#include <optional>
#include <string>

#include "base/json.hpp"
#include "cli/session.hpp"
#include "runtime/wait_judge.hpp"

namespace kubewatch::cli {

class WaitDiagnosis {
 public:
  // `limit` is for all questions together.
  WaitDiagnosis(Session& session, Duration limit)
      : session_(session), ends_(session.loop().now() + limit) {}

  // One line; "" when nothing tells. Turns the loop.
  std::string cause(const runtime::WaitedObject& of, const Json& object);

 private:
  std::vector<Json> list(const core::ResourceType& type, const std::string& namespace_,
                         const std::string& labels, const std::string& fields, std::uint32_t limit,
                         bool* refused = nullptr);
  std::vector<Json> pods_of(const Json& object);
  std::string pods_cause(const Json& object, std::vector<std::string>& uids);
  std::string claims_cause(const Json& pod, std::vector<std::string>& uids);
  std::string events_cause(const std::string& namespace_, const std::vector<std::string>& uids);

  Session& session_;
  const TimePoint ends_;
};

}  // namespace kubewatch::cli
