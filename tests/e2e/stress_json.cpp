#include "e2e/stress_json.hpp"

namespace kubewatch::e2e {

namespace {

// The position behind the value that begins at `at`.
std::size_t value_end(std::string_view text, std::size_t at) {
  int depth = 0;
  bool in_string = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\')
        ++at;
      else if (c == '"')
        in_string = false;
      if (!in_string && depth == 0) return at + 1;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth <= 0) return depth == 0 ? at + 1 : at;
    if (depth == 0 && c == ',') return at;
  }
  return at;
}

// The members of the object text "{...}" that `keep` wants, in their order, as `change` has them.
template <class Keep, class Change>
std::string members(std::string_view object, const Keep& keep, const Change& change) {
  std::string out = "{";
  std::size_t at = 1;
  while (at < object.size() && object[at] == '"') {
    const std::size_t key_end = value_end(object, at);
    const std::string_view key = object.substr(at + 1, key_end - at - 2);
    const std::size_t begin = key_end + 1;  // behind the colon
    const std::size_t end = value_end(object, begin);
    if (keep(key)) {
      if (out.size() > 1) out += ',';
      out += object.substr(at, begin - at);
      out += change(key, object.substr(begin, end - begin));
    }
    at = end + 1;
  }
  return out + "}";
}

}  // namespace

std::string without_managed_fields_and_type(std::string_view object) {
  return members(
      object, [](std::string_view key) { return key != "apiVersion" && key != "kind"; },
      [](std::string_view key, std::string_view value) {
        if (key != "metadata") return std::string(value);
        return members(
            value, [](std::string_view inner) { return inner != "managedFields"; },
            [](std::string_view, std::string_view text) { return std::string(text); });
      });
}

}  // namespace kubewatch::e2e
