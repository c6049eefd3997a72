#include "base/json_pointer.hpp"

namespace kubewatch::base {

std::string escape_pointer(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::string unescape_pointer(std::string_view step) {
  std::string out;
  for (std::size_t i = 0; i < step.size(); ++i) {
    const bool escape = step[i] == '~' && i + 1 < step.size();
    if (escape && (step[i + 1] == '0' || step[i + 1] == '1')) {
      out += step[++i] == '0' ? '~' : '/';
    } else {
      out += step[i];
    }
  }
  return out;
}

std::string pointer_to(const std::vector<std::string>& keys) {
  std::string out;
  for (const std::string& key : keys) out += "/" + escape_pointer(key);
  return out;
}

}  // namespace kubewatch::base
