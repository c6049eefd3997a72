#include "cli/controller/control_client.hpp"

#include <fmt/format.h>

#include <optional>

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

}  // namespace kubewatch::cli
