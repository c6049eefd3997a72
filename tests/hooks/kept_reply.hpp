// What a request on the control socket was answered with, kept for a look.
#pragma once

#include <optional>
#include <vector>

#include "base/json.hpp"
#include "hooks/control_requests.hpp"

namespace kubewatch::test {

class KeptReply : public hooks::ControlReply {
 public:
  bool more(const Json& result) override {
    results.push_back(result);
    return true;
  }
  bool is_open() const override { return !ended; }
  void end() override { ended = true; }
  void fail(const Error& error) override {
    failed = error;
    ended = true;
  }

  std::vector<Json> results;
  std::optional<Error> failed;
  bool ended = false;
};

}  // namespace kubewatch::test
