#include "hooks/program_changes.hpp"

#include <algorithm>

namespace kubewatch::hooks {
namespace {

// Whoever edits a program and tries it, or a checkout that writes it in steps, stays below.
constexpr std::uint32_t kFree = 3;
constexpr Duration kSoonAgain{10000};
constexpr Duration kShortestPause{10000};
constexpr Duration kLongestProgramPause{3600000};
constexpr int kToldAgain = 6;  // times the pause that was told last

}  // namespace

ProgramChanges::Judgement ProgramChanges::judge(const std::string& path, const std::string& stamp,
                                                TimePoint now) {
  File& file = files_[path];
  if (file.in_a_row > 0 && file.stamp == stamp) return {true, {}};
  if (file.in_a_row > 0 && now - file.at < file.pause) return {};
  // By the longer pauses it is found later, too.
  const bool again = file.in_a_row > 0 && now - file.at < file.pause * 2 + kSoonAgain;
  if (!again) file.pause = file.told = Duration{0};
  file.in_a_row = again ? file.in_a_row + 1 : 1;
  if (file.in_a_row >= kFree) {
    file.pause = std::clamp(file.pause * 2, kShortestPause, kLongestProgramPause);
  }
  file.stamp = stamp;
  file.at = now;
  if (file.in_a_row < kFree || file.pause < file.told * kToldAgain) return {true, {}};
  file.told = file.pause;
  return {true, file.pause};
}

}  // namespace kubewatch::hooks
