#include "hooks/program_changes.hpp"

#include <algorithm>

namespace kubewatch::hooks {
namespace {

// Whoever edits a program and tries it, or a checkout that writes it in steps, stays below.
constexpr std::uint32_t kFree = 3;
constexpr Duration kSoon{10000};
constexpr Duration kShortestPause{10000};
constexpr Duration kLongestPause{3600000};

}  // namespace

ProgramChanges::Judgement ProgramChanges::judge(const std::string& path, const std::string& stamp,
                                                TimePoint now) {
  File& file = files_[path];
  if (file.in_a_row > 0 && file.stamp == stamp) return {true, {}};
  if (file.in_a_row > 0 && now - file.at < file.pause) return {};
  // By the longer pauses it is found later, too.
  const bool again = file.in_a_row > 0 && now - file.at < file.pause * 2 + kSoon;
  if (!again) file.pause = Duration{0};
  file.in_a_row = again ? file.in_a_row + 1 : 1;
  if (file.in_a_row >= kFree) {
    file.pause = std::clamp(file.pause * 2, kShortestPause, kLongestPause);
  }
  file.stamp = stamp;
  file.at = now;
  if (file.in_a_row < kFree || file.told) return {true, {}};
  file.told = true;
  return {true, file.pause};
}

}  // namespace kubewatch::hooks
