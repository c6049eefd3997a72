// One string of at most max_line bytes, whatever comes.
#include "loop/lines.hpp"

#include <algorithm>
#include <utility>

#include "base/ascii.hpp"

namespace kubewatch::loop {
namespace {

constexpr std::string_view kCut = " [cut: the line is longer than ";
constexpr std::string_view kCutEnd = " bytes]";

}  // namespace

void LineSplitter::keep(std::string_view part) {
  const std::size_t room = max_line_ - line_.size();
  if (part.size() > room) cut_ = true;
  line_.append(part.substr(0, std::min(part.size(), room)));
}

std::string LineSplitter::take() {
  std::string out = std::exchange(line_, {});
  if (std::exchange(cut_, false)) {
    out += std::string(kCut) + std::to_string(max_line_) + std::string(kCutEnd);
  }
  return out;
}

void LineSplitter::clear() {
  line_.clear();
  cut_ = false;
}

LineSplitter::Fed LineSplitter::feed(std::string_view bytes, const Emit& emit) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    const bool fits = line_.size() + part.size() <= max_line_;
    if (!fits && longer_ == Longer::refused) {
      clear();
      return Fed::too_long;
    }
    if (end == std::string_view::npos) {
      keep(part);
      return Fed::all;
    }
    bytes.remove_prefix(end + 1);
    if (fits && line_.empty() && !cut_) {
      if (!emit(part, bytes)) return Fed::stopped;
      continue;
    }
    keep(part);
    if (!emit(take(), bytes)) return Fed::stopped;
  }
  return Fed::all;
}

LineSplitter::Fed LineSplitter::finish(const Emit& emit) {
  if (line_.empty() && !cut_) return Fed::all;
  return emit(take(), {}) ? Fed::all : Fed::stopped;
}

std::size_t cut_words_at(std::string_view line) {
  const std::size_t at = line.ends_with(kCutEnd) ? line.rfind(kCut) : std::string_view::npos;
  if (at == std::string_view::npos) return at;
  const std::string_view words = line.substr(at);
  if (words.size() <= kCut.size() + kCutEnd.size()) return std::string_view::npos;
  const std::string_view number =
      words.substr(kCut.size(), words.size() - kCut.size() - kCutEnd.size());
  return std::all_of(number.begin(), number.end(), base::is_digit) ? at : std::string_view::npos;
}

}  // namespace kubewatch::loop
