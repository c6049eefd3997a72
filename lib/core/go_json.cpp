#include "core/go_json.hpp"

#include <string_view>

#include "base/json.hpp"

namespace kubewatch::core {

std::string go_json(const Json& value) {
  const std::string json = base::dump_json(value);
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string_view separator = std::string_view(json).substr(i, 3);
    if (separator == "\xe2\x80\xa8" || separator == "\xe2\x80\xa9") {
      out += separator.back() == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
      continue;
    }
    switch (json[i]) {
      case '<': out += "\\u003c"; break;
      case '>': out += "\\u003e"; break;
      case '&': out += "\\u0026"; break;
      default: out += json[i];
    }
  }
  return out;
}

}  // namespace kubewatch::core
