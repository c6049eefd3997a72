#include "hooks/line_tail.hpp"

#include <utility>

namespace kubewatch::hooks {

void LineTail::add(std::string line) {
  if (line.size() >= bytes_) line.resize(bytes_ - 1);
  held_ += line.size() + 1;
  tail_.push_back(std::move(line));
  while (tail_.size() > lines_ || held_ > bytes_) {
    held_ -= tail_.front().size() + 1;
    tail_.pop_front();
  }
}

std::string LineTail::text() const {
  std::string out;
  for (const std::string& line : tail_) out += line + "\n";
  return out;
}

}  // namespace kubewatch::hooks
