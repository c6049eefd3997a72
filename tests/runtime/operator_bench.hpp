// A controller in C++ beside a scripted server: objects as JSON, lists and events as the test says,
// and what ran.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "runtime/operator.hpp"
#include "support/catch.hpp"
#include "support/limit.hpp"
#include "support/scripted_transport.hpp"

namespace kubewatch::test {

using namespace kubewatch::runtime;
using core::ObjectKey;
using Lines = std::vector<std::string>;

inline core::ResourceType type_of(const std::string& kind, const std::string& plural) {
  core::ResourceType type;
  type.gvk = {"demo.dev", "v1", kind};
  type.plural = plural;
  return type;
}
inline core::ResourceType websites() {
  return type_of("Website", "websites");
}
inline core::ResourceType children() {
  return type_of("Child", "children");
}
inline core::ResourceType settings() {
  return type_of("Setting", "settings");
}

inline std::string object(const std::string& name, int version, const std::string& more = "",
                          const std::string& uid = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"shop","uid":"{}","resourceVersion":"{}"{}}}}})",
      name, uid.empty() ? "uid-" + name : uid, version, more);
}
inline std::string child(const std::string& name, int version, const std::string& owner) {
  return object(name, version,
                fmt::format(R"(,"ownerReferences":[{{"apiVersion":"demo.dev/v1","kind":"Website",)"
                            R"("name":"{}","uid":"uid-{}","controller":true}}])",
                            owner, owner));
}
inline std::string setting(const std::string& name, int version, const std::string& target) {
  return object(name, version, fmt::format(R"(,"labels":{{"target":"{}"}})", target));
}

// A controller under construction, and the server that the test speaks for.
struct OperatorBench {
  loop::EventLoop loop;
  test::ScriptedTransport transport;
  client::Client client{loop, transport, config()};
  base::Random random{1};
  ControllerBuilder builder{loop, client, random};
  std::unique_ptr<Operator> op;
  Lines runs;  // "a Startup 1"
  std::map<std::string, ReconcileDone> open;
  bool at_once = true;
  std::function<void()> before_start;  // once it is built
  std::vector<std::string> logged;

  // With a clock of its own: time passes when nothing else is to be done.
  explicit OperatorBench(loop::VirtualClock clock) : OperatorBench({}, clock) {}
  explicit OperatorBench(KindOptions own = {}, std::optional<loop::VirtualClock> clock = {})
      : loop(clock ? loop::EventLoop(*clock) : loop::EventLoop()) {
    base::capture_log(&logged);
    builder.for_(websites(), std::move(own)).retry({Duration{2}, Duration{10}, 2.0, 0.0});
  }
  ~OperatorBench() { base::capture_log(nullptr); }
  static client::ClientConfig config() {
    client::ClientConfig out;
    out.server = "http://server.test";
    return out;
  }

  void start() {
    auto built = builder.build(
        [this](const StoredObject& object, const Work& work, const ReconcileDone& done) {
          runs.push_back(
              fmt::format("{} {} {}", object.meta.name, to_string(work.reason), work.attempt));
          if (at_once) return done(RunOutcome::await_change());
          open[object.meta.name] = done;
        });
    REQUIRE(built.ok());
    op = std::move(*built);
    if (before_start) before_start();
    op->start();
    turn();
  }
  void end(const std::string& name, Result<RunOutcome> result) {
    const ReconcileDone done = open.at(name);
    open.erase(name);
    done(std::move(result));
  }

  bool until(const std::function<bool()>& done) { return loop.run_until(done, kLimit); }
  bool until_runs(std::size_t count) {
    return until([&] { return runs.size() >= count; });
  }
  void turn() {
    for (int i = 0; i < 4; ++i) {
      bool turned = false;
      loop.post([&] { turned = true; });
      REQUIRE(until([&] { return turned; }));
    }
  }
  // The newest request for that collection.
  test::ScriptedCall& request(const std::string& plural) {
    for (std::size_t i = transport.size(); i-- > 0;) {
      auto& call = transport.call(i);
      if (call.path().find("/" + plural) != std::string::npos) return call;
    }
    FAIL("no request for " << plural);
    return transport.call(0);
  }
  void list(const std::string& plural, const Lines& items) {
    std::string joined;
    for (const auto& item : items) joined += (joined.empty() ? "" : ",") + item;
    auto& call = request(plural);
    call.head(200);
    call.data(fmt::format(R"({{"metadata":{{"resourceVersion":"5"}},"items":[{}]}})", joined));
    call.end();
    request(plural).head(200);
    turn();
  }
  void event(const std::string& plural, const std::string& what, const std::string& text) {
    request(plural).data(fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", what, text));
    turn();
  }
  Lines taken() { return std::exchange(runs, {}); }
};

}  // namespace kubewatch::test
