#include "bench/readback.hpp"

namespace kubewatch::bench {

void ItemCutter::feed(std::string_view bytes,
                      const std::function<void(std::string_view)>& on_item) {
  for (const char c : bytes) {
    const bool inside = path_.size() > 2;
    if (inside) item_.push_back(c);
    if (in_string_) {
      in_string_ = escaped_ || c != '"';
      escaped_ = !escaped_ && c == '\\';
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      path_.push_back(c);
      if (path_ == "{[{") item_ = "{";
    } else if (c == '}' || c == ']') {
      if (path_ == "{[{") on_item(item_);
      path_.pop_back();
    }
  }
}

namespace {

// Behind the value that begins at `at`.
std::size_t end_of_value(std::string_view text, std::size_t at) {
  int depth = 0;
  bool in_string = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') {
        ++at;
      } else if (c == '"') {
        in_string = false;
        if (depth == 0) return at + 1;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return at;
      if (--depth == 0) return at + 1;
    } else if (c == ',' && depth == 0) {
      return at;
    }
  }
  return at;
}

// Where the member of the object that begins at `object` starts; npos when it has none of that
// name.
std::size_t find_member(std::string_view text, std::size_t object, std::string_view key) {
  std::size_t at = object + 1;
  while (at < text.size() && text[at] == '"') {
    const std::size_t value = end_of_value(text, at) + 1;  // behind the colon
    if (text.substr(at + 1, value - at - 3) == key) return at;
    at = end_of_value(text, value) + 1;
  }
  return std::string_view::npos;
}

}  // namespace

std::string without_managed_fields(std::string_view object) {
  std::string out(object);
  const std::size_t metadata = find_member(object, 0, "metadata");
  if (metadata == std::string_view::npos) return out;
  const std::size_t braces = end_of_value(object, metadata) + 1;
  std::size_t begin = find_member(object, braces, "managedFields");
  if (begin == std::string_view::npos) return out;
  std::size_t end = end_of_value(object, end_of_value(object, begin) + 1);
  if (object[end] == ',') {
    ++end;
  } else if (object[begin - 1] == ',') {
    --begin;
  }
  return out.erase(begin, end - begin);
}

std::string without_type(std::string_view object) {
  std::string out(object);
  while (out.rfind("{\"kind\":", 0) == 0 || out.rfind("{\"apiVersion\":", 0) == 0) {
    const std::size_t value = end_of_value(out, 1) + 1;
    out.erase(1, end_of_value(out, value));
  }
  return out;
}

}  // namespace kubewatch::bench
