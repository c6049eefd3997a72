#include "hooks/control.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <utility>

#include "base/json.hpp"
#include "loop/unix_socket.hpp"

namespace kubewatch::hooks {
namespace {

// Who sends more than a request may have is told so, up to this.
constexpr std::size_t kMaxControlLine = 1U << 20U;
constexpr std::size_t kMaxUnsent = 16U << 20U;
constexpr std::size_t kMaxControlConnections = 32;
constexpr Duration kRequestTimeout{10000};

Json envelope() {
  return {{"version", kControlVersion}};
}

std::string result_line(const Json& result) {
  Json out = envelope();
  out["result"] = result;
  return base::dump_json(out);
}

std::string end_line() {
  Json out = envelope();
  out["end"] = true;
  return base::dump_json(out);
}

// Kinds that a client's exit code depends on.
constexpr std::pair<ErrorKind, const char*> kKinds[] = {
    {ErrorKind::not_found, "not_found"},     {ErrorKind::invalid, "invalid"},
    {ErrorKind::forbidden, "forbidden"},     {ErrorKind::unreachable, "unreachable"},
    {ErrorKind::unavailable, "unavailable"}, {ErrorKind::conflict, "conflict"}};

std::string error_line(const Error& error) {
  const char* kind = "internal";
  for (const auto& [value, name] : kKinds) {
    if (error.kind() == value) kind = name;
  }
  Json out = envelope();
  out["error"] = {{"kind", kind}, {"message", error.render()}};
  return base::dump_json(out);
}

Result<Json> parse_line(std::string_view line) {
  KW_ASSIGN(Json value, base::parse_json(line, {kMaxUnsent, 60}));
  if (base::int_at(value, {"version"}) == kControlVersion) return value;
  return Error(ErrorKind::invalid,
               fmt::format("not of version {} of the control socket: client and controller are of "
                           "different versions of kubewatch",
                           kControlVersion));
}

}  // namespace

Error too_long_request() {
  return Error(ErrorKind::invalid,
               fmt::format("the request is longer than {} KiB", kMaxControlRequest >> 10U));
}

Result<ControlRequest> parse_control_request(std::string_view line) {
  KW_ASSIGN(const Json value, parse_line(line));
  ControlRequest out;
  out.name = base::string_at(value, {"request"});
  if (out.name.empty()) return Error(ErrorKind::invalid, "the request has no name");
  const Json* args = base::find(value, {"args"});
  if (args != nullptr && !args->is_object()) {
    return Error(ErrorKind::invalid, "the request's args are no object");
  }
  out.args = std::make_shared<const Json>(args != nullptr ? *args : Json::object());
  return out;
}

std::string control_request_line(const std::string& name, const Json& args) {
  Json out = envelope();
  out["request"] = name;
  out["args"] = args;
  return base::dump_json(out);
}

Result<ControlAnswer> parse_control_answer(std::string_view line) {
  KW_ASSIGN(const Json value, parse_line(line));
  if (const Json* error = base::find(value, {"error"})) {
    const std::string kind = base::string_at(*error, {"kind"});
    std::string message = base::string_at(*error, {"message"});
    if (message.empty()) message = "the controller says that it failed, and not why";
    for (const auto& [number, name] : kKinds) {
      if (kind == name) return Error(number, std::move(message));
    }
    return Error(ErrorKind::internal, std::move(message));
  }
  if (const Json* result = base::find(value, {"result"})) {
    return ControlAnswer{std::make_shared<const Json>(*result)};
  }
  if (base::find(value, {"end"}) != nullptr) return ControlAnswer{};
  return Error(ErrorKind::invalid, "the controller's answer has neither a result nor an error");
}

struct ControlServer::Impl : std::enable_shared_from_this<ControlServer::Impl> {
  // One connection; lives until its stream ends, whoever asked it.
  struct Connection {
    std::unique_ptr<loop::LineStream> stream;
    loop::Timer timeout;
    bool asked = false;
  };

  class Reply : public ControlReply {
   public:
    Reply(std::weak_ptr<Impl> server, std::uint64_t id) : server_(std::move(server)), id_(id) {}
    bool more(const Json& result) override { return send(result_line(result)); }
    bool is_open() const override { return stream() != nullptr; }
    void end() override {
      if (send(end_line())) finish();
    }
    void fail(const Error& error) override {
      if (send(error_line(error))) finish();
    }

   private:
    loop::LineStream* stream() const {
      const auto server = server_.lock();
      if (server == nullptr) return nullptr;
      const auto it = server->connections.find(id_);
      return it == server->connections.end() ? nullptr : it->second.stream.get();
    }
    bool send(const std::string& line) {
      auto* to = stream();
      return to != nullptr && to->send(line);
    }
    void finish() {
      if (auto* to = stream()) to->finish();
    }

    std::weak_ptr<Impl> server_;
    std::uint64_t id_;
  };

  loop::EventLoop& loop;
  ControlHandler handler;
  std::unique_ptr<loop::UnixListener> listener;
  std::map<std::uint64_t, Connection> connections;
  std::uint64_t last_id = 0;

  Impl(loop::EventLoop& the_loop, ControlHandler the_handler)
      : loop(the_loop), handler(std::move(the_handler)) {}

  // Its stream is on the stack below us: it goes in the next turn.
  void drop(std::uint64_t id) {
    auto node = connections.extract(id);
    if (node.empty()) return;
    node.mapped().timeout.reset();
    loop.post([stream = std::shared_ptr<loop::LineStream>(std::move(node.mapped().stream))] {});
  }

  void accept(loop::Fd fd) {
    if (connections.size() >= kMaxControlConnections) return;
    const std::uint64_t id = ++last_id;
    Connection& connection = connections[id];
    connection.stream = std::make_unique<loop::LineStream>(
        loop, std::move(fd), loop::LineLimits{kMaxControlLine, kMaxUnsent},
        [weak = weak_from_this(), id](std::string_view line) {
          if (const auto self = weak.lock()) self->on_line(id, line);
        },
        [weak = weak_from_this(), id](const std::string&) {
          if (const auto self = weak.lock()) self->drop(id);
        });
    connection.timeout = loop.after(kRequestTimeout, [this, id] { drop(id); });
  }

  void on_line(std::uint64_t id, std::string_view line) {
    const auto it = connections.find(id);
    if (it == connections.end()) return;
    Connection& connection = it->second;
    if (connection.asked) return drop(id);  // one request a connection
    connection.asked = true;
    connection.timeout.reset();
    const auto reply = std::make_shared<Reply>(weak_from_this(), id);
    if (line.size() > kMaxControlRequest) return reply->fail(too_long_request());
    const auto request = parse_control_request(line);
    if (!request.ok()) return reply->fail(request.error());
    handler(*request, reply);
  }
};

ControlServer::ControlServer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
ControlServer::~ControlServer() = default;

const std::string& ControlServer::path() const {
  return impl_->listener->path();
}

Result<std::unique_ptr<ControlServer>> ControlServer::open(loop::EventLoop& loop,
                                                           const std::string& path,
                                                           ControlHandler handler) {
  auto impl = std::make_shared<Impl>(loop, std::move(handler));
  KW_ASSIGN(impl->listener, loop::UnixListener::open(loop, path, [raw = impl.get()](loop::Fd fd) {
              raw->accept(std::move(fd));
            }));
  return std::unique_ptr<ControlServer>(new ControlServer(std::move(impl)));
}

std::string default_control_folder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/') return std::string(runtime) + "/kubewatch";
  return fmt::format("/tmp/kubewatch-{}", ::geteuid());
}

void remove_dead_control_sockets(const std::string& folder) {
  std::error_code failed;
  std::vector<std::filesystem::path> dead;
  std::filesystem::directory_iterator it(folder, failed);
  for (; !failed && it != std::filesystem::directory_iterator(); it.increment(failed)) {
    const std::string name = it->path().stem().string();
    const bool number = !name.empty() && name.size() < 10 &&
                        name.find_first_not_of("0123456789") == std::string::npos;
    if (!number || it->path().extension() != ".sock") continue;
    if (::kill(std::stoi(name), 0) != 0 && errno == ESRCH) dead.push_back(it->path());
  }
  for (const auto& path : dead) std::filesystem::remove(path, failed);
}

std::vector<std::string> live_control_sockets(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code failed;
  std::filesystem::directory_iterator it(folder, failed);
  for (; !failed && it != std::filesystem::directory_iterator(); it.increment(failed)) {
    if (it->path().extension() != ".sock") continue;
    const auto connected = loop::connect_unix(it->path().string());
    // One with a full queue is busy, not gone.
    const bool busy = !connected.ok() && connected.error().kind() == ErrorKind::unavailable;
    if (connected.ok() || busy) out.push_back(it->path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace kubewatch::hooks
