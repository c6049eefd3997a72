// A client on a scripted transport whose answers come with the loop's next turns, for drivers of
// the runtime; and the few texts that its tests share.
#pragma once

#include <optional>
#include <string>

#include "base/json.hpp"
#include "base/random.hpp"
#include "client/client.hpp"
#include "support/catch.hpp"
#include "support/limit.hpp"
#include "support/scripted_transport.hpp"
#include "support/watch_line.hpp"

namespace kubewatch::test {

inline core::ResourceType resource(const std::string& group, const std::string& version,
                                   const std::string& kind, const std::string& plural) {
  core::ResourceType type;
  type.gvk = {group, version, kind};
  type.plural = plural;
  return type;
}

inline std::string pod_list(const std::string& items, int version) {
  return R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" +
         std::to_string(version) + R"("},"items":[)" + items + "]}";
}

struct ApiRig {
  explicit ApiRig(const std::optional<loop::VirtualClock>& clock = {})
      : loop(clock ? loop::EventLoop(*clock) : loop::EventLoop()) {}

  static client::ClientConfig config() {
    client::ClientConfig out;
    out.server = "http://server.test";
    return out;
  }
  // The call of that index, once it is there.
  ScriptedCall& call(std::size_t index) {
    REQUIRE(loop.run_until([&] { return transport.size() > index; }, kLimit));
    return transport.call(index);
  }
  void answer(std::size_t index, int code, const std::string& body) {
    auto& to = call(index);
    to.head(code);
    to.data(body);
    to.end();
  }
  bool until(const std::function<bool()>& done) { return loop.run_until(done, kLimit); }
  // Turns the loop a few times.
  void turn() {
    for (int i = 0; i < 5; ++i) {
      bool turned = false;
      loop.post([&] { turned = true; });
      loop.run_until([&] { return turned; }, kLimit);
    }
  }

  loop::EventLoop loop;
  ScriptedTransport transport;
  client::Client client{loop, transport, config()};
  base::Random random{1};
};

inline std::string status_text(int code, const std::string& reason, const std::string& message,
                               const std::string& details = "{}") {
  return R"({"kind":"Status","apiVersion":"v1","status":"Failure","code":)" + std::to_string(code) +
         R"(,"reason":")" + reason + R"(","message":")" + message + R"(","details":)" + details +
         "}";
}

}  // namespace kubewatch::test
