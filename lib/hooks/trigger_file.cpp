// Following one file.
#include "hooks/trigger_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/log.hpp"

namespace kubewatch::hooks {
namespace {

constexpr Duration kLook{1000};
constexpr Duration kMore{10};

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

// Once, until it is another thing, or well.
void TriggerFile::tell_wrong(std::string why) {
  if (!why.empty() && why != wrong_) {
    base::log_warn("a trigger file cannot be read: " + why,
                   {{"controller", setting_.controller}, {"file", path_}});
  }
  wrong_ = std::move(why);
}

void TriggerFile::look() {
  Duration next = kLook;
  struct stat info {};
  // Opening a pipe or a device is noticed by whoever is at its other end.
  int fd = -1;
  bool there = ::stat(path_.c_str(), &info) == 0;
  if (there && S_ISREG(info.st_mode)) {
    fd = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    there = fd >= 0 && ::fstat(fd, &info) == 0;
  }
  std::string wrong;
  if (!there) {
    if (errno != ENOENT) wrong = std::strerror(errno);  // else it may appear later
  } else if (!S_ISREG(info.st_mode)) {
    wrong = "it is no regular file";
  } else {
    const FileMoment now = moment_of(info);
    if (first_) {
      place_.skip_to(now.size, before(fd, now.size, TriggerPlace::kMostKept));
    } else if (place_.is_another(now, before(fd, place_.offset(), place_.kept()))) {
      feed_.restart();
      place_.restart();
    }
    place_.looked(now);
    next = read_on(fd, now.size);
  }
  if (fd >= 0) ::close(fd);
  tell_wrong(std::move(wrong));
  first_ = false;
  timer_ = setting_.loop.after(next, [this] { look(); });
}

std::string TriggerFile::before(int fd, off_t offset, std::size_t count) {
  std::string out(std::min(count, static_cast<std::size_t>(offset)), '\0');
  const ssize_t size = ::pread(fd, out.data(), out.size(), offset - static_cast<off_t>(out.size()));
  out.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return out;
}

// Not beyond what the look has shown: what comes after it is told by the next one.
Duration TriggerFile::read_on(int fd, off_t end) {
  std::array<char, kTriggerChunk> buffer{};
  const auto left = static_cast<std::size_t>(end - place_.offset());
  const ssize_t size = ::pread(fd, buffer.data(), std::min(buffer.size(), left), place_.offset());
  if (size <= 0) return kLook;
  const std::string_view bytes(buffer.data(), static_cast<std::size_t>(size));
  place_.read(bytes);
  const TimePoint now = setting_.loop.now();
  feed_.bytes(now, bytes);
  return std::max(feed_.pause(now), place_.offset() < end ? kMore : kLook);
}

}  // namespace kubewatch::hooks
