#include "rehearsal/matcher.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.hpp"
#include "base/json_pointer.hpp"

namespace kubewatch::rehearsal {

namespace {

constexpr std::size_t kShownBytes = 200;
constexpr std::size_t kMaxDifferences = 50;

struct Place {
  std::string pointer;
  std::string path;
  Place key(const std::string& name) const {
    const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
      return base::is_alphanumeric(c) || c == '_' || c == '-';
    });
    return {pointer + "/" + base::escape_pointer(name),
            path + (plain ? "." + name : "[" + base::dump_json(Json(name)) + "]")};
  }
  Place item(std::size_t index, const std::string& shown_as) const {
    return {fmt::format("{}/{}", pointer, index), fmt::format("{}[{}]", path, shown_as)};
  }
};

void add(const Place& at, std::string message, std::vector<Difference>& out) {
  if (out.size() < kMaxDifferences) {
    out.push_back({at.pointer, at.path.empty() ? "." : at.path, std::move(message)});
  }
}

void walk(const Place& at, const Json& expected, const Json& actual, std::vector<Difference>& out);

// The field that names the items of a list, "" when they have none.
std::string item_key(const Json& expected, const Json& actual) {
  for (const char* name : {"name", "type", "key"}) {
    const auto has = [&](const Json& item) {
      const Json* value = base::find(item, {name});
      return value != nullptr && value->is_string();
    };
    if (!expected.empty() && std::all_of(expected.begin(), expected.end(), has) &&
        std::all_of(actual.begin(), actual.end(), has)) {
      return name;
    }
  }
  return "";
}

void walk_list(const Place& at, const Json& expected, const Json& actual,
               std::vector<Difference>& out) {
  const std::string key = item_key(expected, actual);
  if (key.empty() && expected.size() != actual.size()) {
    return add(
        at,
        fmt::format("expected {} items, got {}: {}", expected.size(), actual.size(), shown(actual)),
        out);
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (key.empty()) {
      walk(at.item(i, std::to_string(i)), expected[i], actual[i], out);
      continue;
    }
    const auto found = std::find_if(actual.begin(), actual.end(), [&](const Json& item) {
      return item.at(key) == expected[i].at(key);
    });
    const Place place = at.item(i, key + "=" + expected[i].at(key).get<std::string>());
    if (found == actual.end()) {
      add(place, "expected, but it is not there", out);
    } else {
      walk(place, expected[i], *found, out);
    }
  }
}

void walk(const Place& at, const Json& expected, const Json& actual, std::vector<Difference>& out) {
  if (expected.is_object() && actual.is_object()) {
    for (const auto& [name, value] : expected.items()) {
      const auto found = actual.find(name);
      if (found != actual.end()) {
        if (value.is_null() && !found->is_null()) {
          add(at.key(name), "expected not to be there, got " + shown(*found), out);
        } else {
          walk(at.key(name), value, *found, out);
        }
      } else if (!value.is_null()) {
        add(at.key(name), "expected " + shown(value) + ", but it is not there", out);
      }
    }
    return;
  }
  if (expected.is_array() && actual.is_array()) return walk_list(at, expected, actual, out);
  if (expected != actual) {
    add(at, fmt::format("expected {}, got {}", shown(expected), shown(actual)), out);
  }
}

}  // namespace

std::string shown(const Json& value) {
  std::string text = base::dump_json(value);
  if (text.size() <= kShownBytes) return text;
  std::size_t end = kShownBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "...";
}

std::vector<Difference> compare(const Json& expected, const Json& actual) {
  std::vector<Difference> out;
  walk({}, expected, actual, out);
  return out;
}

}  // namespace kubewatch::rehearsal
