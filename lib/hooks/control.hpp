// The control socket of a running controller: one request and its answers over each connection, as
// JSON lines. What requests mean is in control_requests.
//   request  {"version":1,"request":"runs","args":{...}}
//   answers  {"version":1,"result":{...}} ... then {"version":1,"end":true}
//            or {"version":1,"error":{"kind":"not_found","message":"..."}}
// Limits: 64 KiB a request, 16 MiB that wait for a slow reader, 32 connections, 10 s for a request.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/result.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::hooks {

inline constexpr int kControlVersion = 1;
// Bytes of its line.
inline constexpr std::size_t kMaxControlRequest = 64U << 10U;

struct ControlRequest {
  std::string name;
  // An object; null where none was sent. Shared: Json is only declared here.
  std::shared_ptr<const Json> args;
};

// The answers to one request; may be kept for as long as answers come.
class ControlReply {
 public:
  virtual ~ControlReply() = default;
  // False: whoever asked is gone.
  virtual bool more(const Json& result) = 0;
  virtual bool is_open() const = 0;
  virtual void end() = 0;
  virtual void fail(const Error& error) = 0;
  void result(const Json& result) {
    if (more(result)) end();
  }
};
using ControlReplyPtr = std::shared_ptr<ControlReply>;
using ControlHandler = std::function<void(const ControlRequest&, ControlReplyPtr)>;

// Errors: invalid, naming what is wrong with the line.
Result<ControlRequest> parse_control_request(std::string_view line);
std::string control_request_line(const std::string& name, const Json& args);
// What is said of a longer one.
Error too_long_request();

struct ControlAnswer {
  std::shared_ptr<const Json> result;  // null: the end
};
// One line of an answer. Errors: the one that it carries; invalid (no answer, another version).
Result<ControlAnswer> parse_control_answer(std::string_view line);

class ControlServer {
 public:
  // The folder of `path` must be private. Errors: as loop::UnixListener.
  static Result<std::unique_ptr<ControlServer>> open(loop::EventLoop& loop, const std::string& path,
                                                     ControlHandler handler);
  ~ControlServer();
  const std::string& path() const;

 private:
  struct Impl;
  explicit ControlServer(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

// Where a controller's socket is unless --socket says: XDG_RUNTIME_DIR/kubewatch or
// /tmp/kubewatch-UID.
std::string default_control_folder();

// The sockets in it that somebody answers on, sorted.
std::vector<std::string> live_control_sockets(const std::string& folder);

// Removes the sockets PID.sock of processes that are gone: a killed controller leaves its own
// behind.
void remove_dead_control_sockets(const std::string& folder);

}  // namespace kubewatch::hooks
