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

bool LineSplitter::feed(std::string_view bytes, const Emit& emit) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    keep(bytes.substr(0, end));
    if (end == std::string_view::npos) return true;
    bytes.remove_prefix(end + 1);
    if (!emit(take())) return false;
  }
  return true;
}

bool LineSplitter::finish(const Emit& emit) {
  if (line_.empty() && !cut_) return true;
  return emit(take());
}

}  // namespace kubewatch::loop
