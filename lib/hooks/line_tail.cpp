#include "hooks/line_tail.hpp"

#include <utility>

#include "base/cut_text.hpp"

namespace kubewatch::hooks {

void LineTail::add(std::string line, bool cut) {
  if (line.size() >= bytes_) {
    cut = true;
    line = base::cut_text(std::move(line), bytes_ - 1);
  }
  held_ += line.size() + 1;
  tail_.push_back({std::move(line), cut});
  while (tail_.size() > lines_ || held_ > bytes_) {
    held_ -= tail_.front().text.size() + 1;
    tail_.pop_front();
  }
}

}  // namespace kubewatch::hooks
