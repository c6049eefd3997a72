// Cutting where a character begins.
#include "base/cut_text.hpp"

namespace kubewatch::base {

std::string cut_text(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  text.resize(end);
  return text;
}

}  // namespace kubewatch::base
