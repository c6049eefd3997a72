// Following one file.
#include "hooks/trigger_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/log.hpp"
#include "hooks/trigger_program.hpp"

namespace kubewatch::hooks {
namespace {

constexpr Duration kLook{1000};
constexpr Duration kMore{10};
constexpr std::size_t kChunk = 16U << 10U;

}  // namespace

TriggerFile::TriggerFile(TriggerSetting setting, std::string path)
    : setting_(std::move(setting)),
      path_(std::move(path)),
      feed_([this](const TriggerRequest& request) { setting_.on_request(request); },
            [this](const Error& error) { refuse(error); }) {
  look();
}

void TriggerFile::refuse(const Error& error) {
  if (!told_.admit(setting_.loop.now())) return;
  base::log_warn("a line of a trigger file is no request: " + error.render(),
                 {{"controller", setting_.controller}, {"file", path_}});
}

void TriggerFile::look() {
  Duration next = kLook;
  const int fd = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat info {};
  if (fd >= 0 && ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
    const bool same = info.st_dev == device_ && info.st_ino == inode_ && info.st_size >= offset_;
    if (first_) offset_ = info.st_size;
    if (!first_ && !same) {
      feed_.restart();
      offset_ = 0;
    }
    device_ = info.st_dev;
    inode_ = info.st_ino;
    next = read_on(fd);
  }
  if (fd >= 0) ::close(fd);
  first_ = false;
  timer_ = setting_.loop.after(next, [this] { look(); });
}

Duration TriggerFile::read_on(int fd) {
  std::array<char, kChunk> buffer{};
  const ssize_t size = ::pread(fd, buffer.data(), buffer.size(), offset_);
  if (size <= 0) return kLook;
  offset_ += size;
  const TimePoint now = setting_.loop.now();
  feed_.bytes(now, {buffer.data(), static_cast<std::size_t>(size)});
  const bool more = static_cast<std::size_t>(size) == buffer.size();
  return std::max(feed_.pause(now), more ? kMore : kLook);
}

std::unique_ptr<TriggerSource> open_trigger(const TriggerSetting& setting, const TriggerRule& rule,
                                            std::size_t index) {
  if (!rule.exec.empty()) return std::make_unique<TriggerProgram>(setting, rule.exec, index);
  if (!rule.file.empty()) return std::make_unique<TriggerFile>(setting, rule.file);
  return nullptr;
}

}  // namespace kubewatch::hooks
