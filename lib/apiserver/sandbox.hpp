// The embedded API server as others start it: objects in memory, real HTTP, garbage collector and
// namespace lifecycle included. Owned by cli verbs and tests; dies with its owner. Never listens
// beyond loopback unless told so. Its resourceVersions begin at the clock, so that a client of one
// that was here before is told that what it knows is too old.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/random.hpp"
#include "base/result.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::apiserver {

struct SandboxOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
  bool insecure_http = false;  // loopback only; else TLS with an own CA and a bearer token
  // Changes kept per kind before a resourceVersion is too old; see HistoryLimits for their bytes.
  std::size_t history = 10000;
  std::uint64_t random_seed = 0;  // 0 = from the system
  Duration bookmark_interval{60000};
};

class Sandbox {
 public:
  // Errors: unavailable (bind), invalid.
  static Result<std::unique_ptr<Sandbox>> start(loop::EventLoop& loop, SandboxOptions options);
  virtual ~Sandbox() = default;

  virtual std::string url() const = 0;     // "https://127.0.0.1:34567"
  virtual std::string ca_pem() const = 0;  // "" with insecure_http
  virtual std::string token() const = 0;

  // Stores an object as a create by `manager` would (CRDs first, namespaces made as needed is NOT
  // done). Errors: as the API's.
  virtual Result<void> load(const Json& object, const std::string& manager) = 0;

  // Faults and measurements, for tests: forget history (all older resourceVersions answer 410),
  // close all watches.
  virtual void compact() = 0;
  virtual void drop_watches() = 0;
  // Objects and resourceVersions go back to what they were at the last back_up(), as after a
  // restore of etcd; nothing without one. Watches are cut off.
  virtual void back_up() = 0;
  virtual void restore() = 0;
  struct Counters {
    std::uint64_t requests = 0;
    std::uint64_t writes = 0;
    std::uint64_t watches_open = 0;
  };
  virtual Counters counters() const = 0;
};

}  // namespace kubewatch::apiserver
