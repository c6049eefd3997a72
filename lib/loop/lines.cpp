// One string of at most max_line bytes, whatever comes.
#include "loop/lines.hpp"

#include <algorithm>
#include <utility>

namespace kubewatch::loop {

void LineSplitter::keep(std::string_view part) {
  const std::size_t room = max_line_ - line_.size();
  if (part.size() > room) cut_ = true;
  line_.append(part.substr(0, std::min(part.size(), room)));
}

std::string LineSplitter::take() {
  std::string out = std::exchange(line_, {});
  if (std::exchange(cut_, false)) {
    out += " [cut: the line is longer than " + std::to_string(max_line_) + " bytes]";
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

}  // namespace kubewatch::loop
