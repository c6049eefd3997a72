#include "cli/control_client.hpp"

#include <fmt/format.h>

#include <optional>

#include <CLI/CLI.hpp>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "cli/interrupt.hpp"
#include "hooks/control.hpp"
#include "loop/event_loop.hpp"
#include "loop/unix_socket.hpp"

namespace kubewatch::cli {

namespace {

constexpr Duration kFirstAnswer{30000};

Error no_controller(const std::string& folder) {
  return Error(ErrorKind::unreachable,
               fmt::format("no controller of this user answers in {}; start one with kubewatch "
                           "run-controller -f RULES, or name its --socket",
                           folder));
}

// One request's life on a loop of its own.
class Asking {
 public:
  Asking(loop::EventLoop& loop, loop::Fd fd, const std::function<bool(const Json&)>& on_result)
      : loop_(loop),
        on_result_(on_result),
        stream_(
            loop, std::move(fd), {64U << 20U, 1U << 20U},
            [this](std::string_view line) { on_line(line); },
            [this](const std::string&) {
              finish(Error(ErrorKind::unreachable, "the controller ended, or cut the connection"));
            }) {
    timer_ = loop.after(kFirstAnswer, [this] {
      finish(Error(ErrorKind::timeout, "the controller does not answer"));
    });
  }

  Result<void> run(const std::string& line) {
    stream_.send(line);
    // Following goes on until it is interrupted.
    Interrupt interrupt(loop_, [this] { finish({}); });
    while (!result_) loop_.run_until([this] { return result_.has_value(); }, Duration{3600000});
    return std::move(*result_);
  }

 private:
  void on_line(std::string_view line) {
    if (result_) return;
    timer_.reset();
    const auto answer = hooks::parse_control_answer(line);
    if (!answer.ok()) return finish(answer.error());
    if (answer->result == nullptr || !on_result_(*answer->result)) finish({});
  }
  void finish(Result<void> result) {
    if (!result_) result_.emplace(std::move(result));
  }

  loop::EventLoop& loop_;
  const std::function<bool(const Json&)>& on_result_;
  loop::LineStream stream_;
  loop::Timer timer_;
  std::optional<Result<void>> result_;
};

}  // namespace

void bind_socket(CLI::App& app, std::string& socket) {
  app.add_option("--socket", socket,
                 "control socket of the controller (default: the only one of this user)")
      ->type_name("FILE");
}

Result<std::string> find_socket(const std::string& flag) {
  if (!flag.empty()) return flag;
  const std::string folder = hooks::default_control_folder();
  if (auto ours = loop::make_private_folder(folder); !ours.ok()) {
    return ours.error().is_not_found() ? no_controller(folder) : ours.error();
  }
  const auto live = hooks::live_control_sockets(folder);
  if (live.empty()) return no_controller(folder);
  if (live.size() == 1) return live.front();
  return Error(
      ErrorKind::invalid,
      "several controllers of this user run; choose one with --socket: " + base::join(live, ", "));
}

Result<void> ask(const std::string& socket, const std::string& request, const Json& args,
                 const std::function<bool(const Json&)>& on_result) {
  auto fd = loop::connect_unix(socket);
  if (!fd.ok()) {
    if (fd.error().is_forbidden()) return fd.error();
    return Error(ErrorKind::unreachable, "no controller answers: " + fd.error().message());
  }
  loop::EventLoop loop;
  Asking asking(loop, std::move(*fd), on_result);
  return asking.run(hooks::control_request_line(request, args));
}

Result<std::shared_ptr<const Json>> ask_once(const std::string& flag, const std::string& request,
                                             const Json& args) {
  KW_ASSIGN(const std::string socket, find_socket(flag));
  std::shared_ptr<const Json> out;
  KW_TRY(ask(socket, request, args, [&](const Json& result) {
    out = std::make_shared<const Json>(result);
    return true;
  }));
  if (out == nullptr) return Error(ErrorKind::internal, "the controller's answer is empty");
  return out;
}

Result<std::shared_ptr<Json>> target_args(const std::string& target,
                                          const client::ConfigOverrides& config, bool kind_alone) {
  const auto parts = base::split(target, '/');
  const bool whole = parts.size() == 2 && !parts[0].empty() && !parts[1].empty();
  const bool alone = kind_alone && parts.size() == 1 && !parts[0].empty();
  if (!whole && !alone) {
    return Error(ErrorKind::invalid,
                 fmt::format("\"{}\" is not KIND/NAME, such as website/blog", target));
  }
  std::string namespace_ = config.namespace_;
  if (namespace_.empty()) {
    // Without a kubeconfig too there may be a controller, with --sandbox.
    const auto loaded = client::load_config(config, client::ConfigEnvironment::from_process());
    namespace_ = loaded.ok() && !loaded->namespace_.empty() ? loaded->namespace_ : "default";
  }
  Json out = {{"kind", parts[0]}, {"namespace", namespace_}};
  if (whole) out["name"] = parts[1];
  return std::make_shared<Json>(std::move(out));
}

}  // namespace kubewatch::cli
