#include "jq/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/cut_text.hpp"
#include "base/utf8.hpp"
#include "jq/number.hpp"

namespace kubewatch::jq {

namespace {

int rank(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null: return 0;
    case Json::value_t::boolean: return value.get<bool>() ? 2 : 1;
    case Json::value_t::string: return 4;
    case Json::value_t::array: return 5;
    case Json::value_t::object: return 6;
    default: return 3;
  }
}

int compare_texts(const std::string& a, const std::string& b, Comparisons& left) {
  constexpr std::size_t kBytesPerNumber = 64;  // compared in the time that a number takes
  if (!left.take(1 + std::min(a.size(), b.size()) / kBytesPerNumber)) return 1;
  return a.compare(b);
}

int compare_arrays(const Json& a, const Json& b, Comparisons& left) {
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (const int order = compare(a[i], b[i], left); order != 0) return order;
  }
  return a.size() < b.size() ? -1 : (a.size() > b.size() ? 1 : 0);
}

// First the sorted keys as arrays, then the values key by key.
int compare_objects(const Json& a, const Json& b, Comparisons& left) {
  auto x = a.begin();
  auto y = b.begin();
  for (; x != a.end() && y != b.end(); ++x, ++y) {
    if (const int order = compare_texts(x.key(), y.key(), left); order != 0) return order;
  }
  if (x != a.end() || y != b.end()) return x == a.end() ? -1 : 1;
  for (x = a.begin(), y = b.begin(); x != a.end(); ++x, ++y) {
    if (const int order = compare(x.value(), y.value(), left); order != 0) return order;
  }
  return 0;
}

void append_string(std::string& out, std::string_view text) {
  out.push_back('"');
  for (std::size_t at = 0; at < text.size();) {
    const base::Utf8Char c = base::next_utf8(text, at);
    switch (c.valid ? c.code : 0xfffd) {
      case U'"': out += "\\\""; break;
      case U'\\': out += "\\\\"; break;
      case U'\b': out += "\\b"; break;
      case U'\f': out += "\\f"; break;
      case U'\n': out += "\\n"; break;
      case U'\r': out += "\\r"; break;
      case U'\t': out += "\\t"; break;
      default:
        if (!c.valid) {
          base::append_utf8(out, 0xfffd);
        } else if (c.code < 0x20 || c.code == 0x7f) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c.code));
        } else {
          out += text.substr(at, c.size);
        }
    }
    at += c.size;
  }
  out.push_back('"');
}

void append_text(std::string& out, const Json& value) {
  if (value.is_string()) {
    append_string(out, value.get_ref<const std::string&>());
  } else if (value.is_array()) {
    out.push_back('[');
    bool first = true;
    for (const Json& item : value) {
      if (!first) out.push_back(',');
      first = false;
      append_text(out, item);
    }
    out.push_back(']');
  } else if (value.is_object()) {
    out.push_back('{');
    bool first = true;
    for (const auto& [key, member] : value.items()) {
      if (!first) out.push_back(',');
      first = false;
      append_string(out, key);
      out.push_back(':');
      append_text(out, member);
    }
    out.push_back('}');
  } else if (value.is_number()) {
    out += dump_number(value);
  } else {
    out += value.dump();
  }
}

}  // namespace

std::string_view type_name(const Json& value) {
  static constexpr std::string_view kNames[] = {"null",   "boolean", "boolean", "number",
                                                "string", "array",   "object"};
  return kNames[rank(value)];
}

bool is_truthy(const Json& value) {
  return !value.is_null() && !(value.is_boolean() && !value.get<bool>());
}

Error Comparisons::too_many() {
  return Error(ErrorKind::too_large,
               fmt::format("comparing each with each takes more than {} comparisons", kMost));
}

int compare(const Json& a, const Json& b) {
  Comparisons unlimited(std::numeric_limits<std::size_t>::max());
  return compare(a, b, unlimited);
}

int compare(const Json& a, const Json& b, Comparisons& left) {
  if (!left.take()) return 1;
  const int kind = rank(a);
  if (const int difference = kind - rank(b); difference != 0) return difference;
  switch (kind) {
    case 3: return compare_numbers(a, b);
    case 4:
      return compare_texts(a.get_ref<const std::string&>(), b.get_ref<const std::string&>(), left);
    case 5: return compare_arrays(a, b, left);
    case 6: return compare_objects(a, b, left);
    default: return 0;
  }
}

std::string to_text(const Json& value) {
  std::string out;
  append_text(out, value);
  return out;
}

std::string to_display(const Json& value) {
  return value.is_string() ? value.get<std::string>() : to_text(value);
}

std::string describe(const Json& value) {
  constexpr std::size_t kMax = 14;
  std::string text = to_text(value);
  if (text.size() > kMax) text = base::cut_text(std::move(text), kMax - 3) + "...";
  return fmt::format("{} ({})", type_name(value), text);
}

Error type_error(const Json& value, std::string_view what) {
  return Error(ErrorKind::invalid, fmt::format("{} {}", describe(value), what));
}

Error type_error(const Json& a, const Json& b, std::string_view what) {
  return Error(ErrorKind::invalid, fmt::format("{} and {} {}", describe(a), describe(b), what));
}

std::size_t cost_of(const Json& value) {
  constexpr std::size_t kNode = 32;
  constexpr std::size_t kMember = 64;
  if (value.is_string()) return kNode + value.get_ref<const std::string&>().size();
  std::size_t total = kNode;
  if (value.is_array()) {
    for (const Json& item : value) total += cost_of(item);
  } else if (value.is_object()) {
    for (const auto& [key, member] : value.items()) total += kMember + key.size() + cost_of(member);
  }
  return total;
}

}  // namespace kubewatch::jq
