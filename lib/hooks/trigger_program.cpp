// A trigger program: its standard output is a named pipe that is read no faster than allowed, so
// that a program which prints too much waits instead of losing requests.
#include "hooks/trigger_program.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <utility>

#include "base/find_program.hpp"
#include "base/log.hpp"
#include "hooks/hook_homes.hpp"
#include "loop/process.hpp"

namespace kubewatch::hooks {
namespace {

constexpr Duration kLivedLong{60000};
constexpr Duration kDrainLook{50};

}  // namespace

TriggerProgram::TriggerProgram(TriggerSetting setting, std::vector<std::string> argv,
                               std::size_t index)
    : setting_(std::move(setting)),
      argv_(std::move(argv)),
      pipe_(setting_.folder + "/trigger-" + std::to_string(index)),
      feed_([this](const TriggerRequest& request) { setting_.on_request(request); },
            [this](const Error& error) { refuse(error); }) {
  start();
}

TriggerProgram::~TriggerProgram() {
  process_.reset();
  readable_.reset();
  if (fd_ >= 0) ::close(fd_);
  ::unlink(pipe_.c_str());
}

base::LogFields TriggerProgram::fields() const {
  return {{"controller", setting_.controller}, {"trigger", argv_.front()}};
}

void TriggerProgram::refuse(const Error& error) {
  if (!told_.admit(setting_.loop.now())) return;
  base::log_warn("a trigger program printed something else than a request: " + error.render(),
                 fields());
}

// Whether its name still leads to it: whatever cleans up temporary folders takes pipes as well, and
// the shell would make a file there that nobody reads.
bool TriggerProgram::has_pipe() const {
  struct stat named {};
  struct stat ours {};
  return fd_ >= 0 && ::lstat(pipe_.c_str(), &named) == 0 && ::fstat(fd_, &ours) == 0 &&
         named.st_dev == ours.st_dev && named.st_ino == ours.st_ino;
}

// Open for writing as well: the pipe has no end while its program is started again.
bool TriggerProgram::open_pipe() {
  if (has_pipe()) return true;
  readable_.reset();
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  if (::access(setting_.folder.c_str(), F_OK) != 0) {
    const auto parent = std::filesystem::path(setting_.folder).parent_path();
    // Somebody else's in its place is not taken for it.
    if (!make_private_folder(parent.string()).ok()) return false;
  }
  if (!make_private_folder(setting_.folder).ok()) return false;
  ::unlink(pipe_.c_str());
  if (::mkfifo(pipe_.c_str(), 0600) != 0) return false;
  fd_ = ::open(pipe_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  return fd_ >= 0;
}

void TriggerProgram::start() {
  started_ = setting_.loop.now();
  if (!open_pipe()) return again("cannot make the pipe " + pipe_);
  loop::ProcessOptions options;
  options.argv = {"/bin/sh", "-c", "p=$KW_PIPE; unset KW_PIPE; exec \"$@\" >\"$p\"", "sh"};
  options.argv.insert(options.argv.end(), argv_.begin(), argv_.end());
  options.environment = {"PATH=" + base::search_path(), "HOME=" + setting_.folder,
                         "KW_CONTROLLER=" + setting_.controller, "KW_PIPE=" + pipe_};
  options.directory = setting_.directory;
  options.timeout = Duration{0};
  auto process = loop::Process::start(
      setting_.loop, std::move(options),
      [this](std::string_view line) {
        if (told_.admit(setting_.loop.now())) base::log_info(std::string(line), fields());
      },
      [this](const loop::ProcessExit& exit) {
        again(exit.signal ? "ended by signal " + std::to_string(*exit.signal)
                          : "ended with exit code " + std::to_string(exit.code.value_or(0)));
      });
  if (!process.ok()) return again(process.error().render());
  process_ = std::move(*process);
  listen();
}

void TriggerProgram::listen() {
  if (fd_ < 0 || readable_ || pause_) return;
  readable_ = setting_.loop.on_readable(fd_, [this] { read(); });
}

void TriggerProgram::read() {
  std::array<char, kTriggerChunk> buffer{};
  const ssize_t size = ::read(fd_, buffer.data(), buffer.size());
  if (size <= 0) return;
  const TimePoint now = setting_.loop.now();
  feed_.bytes(now, {buffer.data(), static_cast<std::size_t>(size)});
  const Duration pause = feed_.pause(now);
  if (pause <= Duration{0}) return;
  readable_.reset();
  pause_ = setting_.loop.after(pause, [this] {
    pause_.reset();
    listen();
  });
}

void TriggerProgram::again(const std::string& why) {
  const TimePoint now = setting_.loop.now();
  if (now - started_ >= kLivedLong) backoff_.succeed();
  const Duration wait = backoff_.fail(setting_.random);
  base::log_warn(
      "a trigger program " + why + "; starting it again in " + base::format_duration(wait),
      fields());
  restart_ = setting_.loop.after(wait, [this] { restart(); });
}

// What it printed last is read first, however long that takes: a line of the next one must not be
// taken for the end of its own.
void TriggerProgram::restart() {
  int unread = 0;
  if (fd_ >= 0 && ::ioctl(fd_, FIONREAD, &unread) == 0 && unread > 0) {
    restart_ = setting_.loop.after(kDrainLook, [this] { restart(); });
    return;
  }
  feed_.end(setting_.loop.now());
  start();
}

}  // namespace kubewatch::hooks
