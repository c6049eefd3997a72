#include "jq/helper.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <set>

#include "base/signal_name.hpp"
#include "jq/helper_protocol.hpp"

namespace kubewatch::jq {

namespace {

using Clock = std::chrono::steady_clock;

constexpr Duration kCompileDeadline{10000};
constexpr std::size_t kMaxReply = 64U << 20U;

struct Reply {
  HelperReply kind = HelperReply::done;
  std::string body;
};

// Between fork and helper_main in the child: nothing here returns.
[[noreturn]] void enter_child(int socket, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  ::setpgid(0, 0);  // not reached by ^C: it serves until we end
  const int null = ::open("/dev/null", O_RDWR);
  // Away from the numbers that are about to be overwritten.
  const int high = ::fcntl(socket, F_DUPFD, 10);
  if (null < 0 || high < 0) ::_exit(1);
  for (int fd = 0; fd < 3; ++fd) ::dup2(null, fd);
  ::dup2(high, 3);
  ::close_range(4, ~0U, 0);
  helper_main(3);
}

class Helper {
 public:
  static Helper& instance() {
    static Helper helper;
    return helper;
  }

  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;
  ~Helper() { stop(); }

  // A helper runs; one that runs already goes on. Errors: unavailable.
  Result<void> start() {
    if (pid_ > 0 && owner_ == ::getpid() && alive()) return {};
    stop();
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return no_process();
    owner_ = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) {
      const int code = errno;
      ::close(pair[0]);
      ::close(pair[1]);
      errno = code;
      return no_process();
    }
    if (pid == 0) enter_child(pair[1], owner_);
    ::close(pair[1]);
    pid_ = pid;
    socket_ = pair[0];
    return {};
  }

  // Sends a request to the helper that was started; the replies are read with next(). Errors:
  // timeout, and died()'s.
  Result<void> ask(const std::string& text, const std::string& input, const Limits& limits,
                   bool first_only) {
    deadline_ = limits.deadline;
    end_ = Clock::now() + limits.deadline;
    const HelperRequest request{static_cast<std::uint32_t>(text.size()),
                                static_cast<std::uint32_t>(input.size()),
                                first_only ? 1U : 0U,
                                0,
                                limits.max_outputs,
                                limits.max_output_bytes};
    std::string bytes(reinterpret_cast<const char*>(&request), sizeof request);
    bytes += text;
    bytes += input;
    return send_all(bytes);
  }

  // Errors: timeout, too_large, and died()'s.
  Result<Reply> next() {
    HelperReplyHeader header;
    KW_TRY(receive_all(reinterpret_cast<char*>(&header), sizeof header));
    if (header.size > kMaxReply) {
      stop();
      return Error(ErrorKind::too_large, "one output of the jq program is too large");
    }
    Reply reply{header.kind, std::string(header.size, '\0')};
    KW_TRY(receive_all(reply.body.data(), reply.body.size()));
    return reply;
  }

  // What it ended of, as waitpid() tells it; absent where there was none. One that was ending
  // before we kill it keeps its own status.
  std::optional<int> stop() {
    std::optional<int> status;
    // A forked copy of this object has no helper of its own to end.
    if (pid_ > 0 && owner_ == ::getpid()) {
      ::kill(pid_, SIGKILL);
      int ended = 0;
      pid_t reaped = 0;
      while ((reaped = ::waitpid(pid_, &ended, 0)) < 0 && errno == EINTR) {
      }
      if (reaped == pid_) status = ended;
    }
    if (socket_ >= 0) ::close(socket_);
    pid_ = 0;
    socket_ = -1;
    compiled_.clear();
    return status;
  }

  int pid() const { return pid_; }

  // The helper that was started has compiled the text. A wrong "no" costs a compilation more.
  bool has(const std::string& text) const { return compiled_.count(text) > 0; }
  void compiled(const std::string& text) {
    if (compiled_.size() >= kKeptPrograms) compiled_.clear();
    compiled_.insert(text);
  }

 private:
  Helper() = default;

  // Between requests nothing is to be read: something means that it has gone.
  bool alive() const {
    pollfd look{socket_, POLLIN, 0};
    return ::poll(&look, 1, 0) == 0;
  }

  static Error no_process() {
    return Error(ErrorKind::unavailable,
                 fmt::format("cannot start the jq process: {}", std::strerror(errno)));
  }

  Error timed_out() {
    stop();
    return Error(ErrorKind::timeout, fmt::format("the jq program runs longer than {}",
                                                 base::format_duration(deadline_)));
  }

  // Errors: too_large (of memory, or of what libjq cannot do), unavailable (somebody ended it).
  Error died() { return helper_ended(stop()); }

  Result<void> wait_for(short events) {
    while (true) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now()).count();
      if (left <= 0) return timed_out();
      pollfd look{socket_, events, 0};
      const int ready = ::poll(&look, 1, static_cast<int>(left));
      if (ready > 0) return {};
      if (ready < 0 && errno != EINTR) return died();
    }
  }

  Result<void> send_all(std::string_view bytes) {
    while (!bytes.empty()) {
      KW_TRY(wait_for(POLLOUT));
      const ssize_t count =
          ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (count < 0) return died();
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
  }

  Result<void> receive_all(char* out, std::size_t size) {
    while (size > 0) {
      KW_TRY(wait_for(POLLIN));
      const ssize_t count = ::recv(socket_, out, size, MSG_DONTWAIT);
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (count <= 0) return died();
      out += count;
      size -= static_cast<std::size_t>(count);
    }
    return {};
  }

  pid_t pid_ = 0;
  pid_t owner_ = 0;
  int socket_ = -1;
  std::set<std::string> compiled_;
  Duration deadline_{};
  Clock::time_point end_;
};

// "jq: error: syntax error, unexpected ... (Unix shell quoting issues?) at <top-level>, line
// 1:\ntext..." in one line and without what is of no use in a rule file.
std::string tidy_message(std::string_view message) {
  std::string line(message.substr(0, message.find('\n')));
  for (const std::string_view noise :
       {"jq: ", "error: ", " (Unix shell quoting issues?)", " at <top-level>", ", line 1:"}) {
    if (const std::size_t at = line.find(noise); at != std::string::npos) {
      line.erase(at, noise.size());
    }
  }
  return line;
}

Error reply_error(const Reply& reply) {
  if (reply.kind == HelperReply::compile_error) {
    return Error(ErrorKind::invalid, tidy_message(reply.body));
  }
  if (reply.kind == HelperReply::limited) {
    return Error(ErrorKind::too_large, "the jq program has more output than allowed");
  }
  return Error(ErrorKind::invalid, reply.body);
}

}  // namespace

Error helper_ended(std::optional<int> status) {
  const auto ended = [](ErrorKind kind, std::string_view why) {
    return Error(kind, fmt::format("the jq process ended: {}", why));
  };
  if (!status) return ended(ErrorKind::unavailable, "nobody knows why");
  if (!WIFSIGNALED(*status)) {
    return ended(ErrorKind::too_large, fmt::format("exit code {}", WEXITSTATUS(*status)));
  }
  switch (const int number = WTERMSIG(*status)) {
    // How libjq ends where it gets no memory, or where one of its assertions fails.
    case SIGABRT:
      return ended(ErrorKind::too_large,
                   "the program uses too much memory, or meets a fault of libjq (SIGABRT)");
    // How the kernel ends who takes too much.
    case SIGKILL:
      return ended(ErrorKind::too_large,
                   "it was killed (SIGKILL), as what uses too much memory is");
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
      return ended(ErrorKind::too_large,
                   fmt::format("the program makes libjq crash ({})", base::signal_name(number)));
    default:
      return ended(ErrorKind::unavailable,
                   fmt::format("somebody sent it {}", base::signal_name(number)));
  }
}

Result<void> helper_compile(const std::string& text) {
  Helper& helper = Helper::instance();
  KW_TRY(helper.start());
  KW_TRY(helper.ask(text, "", {kCompileDeadline, 0, 0}, false));
  KW_ASSIGN(const Reply reply, helper.next());
  if (reply.kind != HelperReply::done) return reply_error(reply);
  helper.compiled(text);
  return {};
}

Result<std::vector<Json>> helper_run(const std::string& text, const Json& input,
                                     const Limits& limits, bool first_only) {
  Helper& helper = Helper::instance();
  KW_TRY(helper.start());
  // What libjq needs to begin is not the program's time.
  if (!helper.has(text)) KW_TRY(helper_compile(text));
  KW_TRY(helper.ask(text, base::dump_json(input), limits, first_only));
  std::vector<Json> outputs;
  while (true) {
    KW_ASSIGN(const Reply reply, helper.next());
    if (reply.kind == HelperReply::done) return outputs;
    if (reply.kind != HelperReply::output) return reply_error(reply);
    auto parsed = base::parse_json(reply.body, {kMaxReply, 1000});
    if (!parsed.ok()) {
      // More replies are on their way: a fresh process is simpler than reading them all.
      helper.stop();
      return std::move(parsed).error();
    }
    outputs.push_back(*std::move(parsed));
  }
}

int helper_pid() {
  return Helper::instance().pid();
}

}  // namespace kubewatch::jq
