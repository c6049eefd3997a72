// Cutting where a character begins.
#include "base/cut_text.hpp"

#include <utility>

namespace kubewatch::base {

std::string cut_text(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  text.resize(end);
  return text;
}

std::string shortened_bytes(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  return cut_text(std::move(text), most) + "...";
}

}  // namespace kubewatch::base
