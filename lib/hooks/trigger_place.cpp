#include "hooks/trigger_place.hpp"

#include <algorithm>

namespace kubewatch::hooks {

FileMoment moment_of(const struct stat& info) {
  return {info.st_dev, info.st_ino, info.st_size,
          std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec};
}

bool TriggerPlace::is_another(const FileMoment& now, std::string_view before) const {
  if (now.device != last_.device || now.inode != last_.inode || now.size < offset_) return true;
  if (before != tail_) return true;
  // Written to, and no longer than before: the same text once more. Rather twice than not at all.
  return now.size == offset_ && now.changed != last_.changed;
}

void TriggerPlace::restart() {
  offset_ = 0;
  tail_.clear();
}

void TriggerPlace::skip_to(off_t offset, std::string_view before) {
  offset_ = offset;
  tail_ = before.substr(before.size() - std::min(before.size(), kMostKept));
}

void TriggerPlace::read(std::string_view bytes) {
  offset_ += static_cast<off_t>(bytes.size());
  tail_ += bytes;
  tail_.erase(0, tail_.size() - std::min(tail_.size(), kMostKept));
}

}  // namespace kubewatch::hooks
