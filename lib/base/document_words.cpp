#include "base/document_words.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "base/utf8.hpp"

namespace kubewatch::base {

std::string shortened(std::string_view text, std::size_t characters) {
  std::size_t end = 0;
  for (std::size_t shown = 0; end < text.size() && shown < characters; ++shown) {
    end += next_utf8(text, end).size;
  }
  std::string out = escape_for_terminal(text.substr(0, end));
  if (end < text.size()) out += "...";
  return out;
}

std::string in_quotes(std::string_view text) {
  return "\"" + shortened(text) + "\"";
}

std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& known) {
  const auto close = suggest(wanted, known);
  return close.empty() ? "" : fmt::format(", did you mean \"{}\"?", close.front());
}

std::string_view misread_name(std::string_view name) {
  if (name != "true" && name != "false") return "";
  return "YAML reads names such as Y, N, ON and OFF as true and false";
}

std::string_view type_name(const Json& value) {
  if (value.is_string()) return "text";
  if (value.is_boolean()) return "true or false";
  if (value.is_number()) return "a number";
  if (value.is_array()) return "a list";
  if (value.is_object()) return "a mapping";
  return "nothing";
}

}  // namespace kubewatch::base
