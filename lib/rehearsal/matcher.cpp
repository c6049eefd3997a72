#include "rehearsal/matcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/ascii.hpp"
#include "base/json_pointer.hpp"
#include "rehearsal/met_items.hpp"

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
            path + (plain ? "." + name : "[" + base::json_quoted(name) + "]")};
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

using Indexes = std::vector<std::size_t>;
using Differences = std::vector<Difference>;
using Between = std::vector<std::vector<Differences>>;  // expected items x items that are there

// What the item misses of the nearest that it does not fit; null: there is none. `taken`: also of
// those that another item fits.
const Differences* nearest_to(std::size_t item, bool taken, const Between& between) {
  const Differences* nearest = nullptr;
  for (std::size_t one = 0; one < between[item].size(); ++one) {
    const auto fits = [one](const auto& of_item) { return of_item[one].empty(); };
    const bool passed_over =
        taken ? fits(between[item]) : std::any_of(between.begin(), between.end(), fits);
    const Differences& differences = between[item][one];
    if (passed_over || (nearest != nullptr && nearest->size() <= differences.size())) continue;
    nearest = &differences;
  }
  return nearest;
}

// The items of one key. A list may have it more than once (a port for TCP and UDP): then they are
// told apart by what they have, and none takes the item that another needs.
void walk_of_one_key(const std::vector<Place>& places, const Json& expected, const Indexes& wanted,
                     const Json& actual, const Indexes& there, std::vector<Difference>& out) {
  Between between(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    for (const std::size_t index : there) {
      walk(places[i], expected[wanted[i]], actual[index], between[i].emplace_back());
    }
  }
  const std::vector<std::size_t> met =
      met_items(std::vector<ExpectedItem>(wanted.size()), there.size(),
                [&](std::size_t item, std::size_t one) { return between[item][one].empty(); });
  const bool some_left = std::accumulate(met.begin(), met.end(), std::size_t{0}) < there.size();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (met[i] > 0) continue;
    // Where all fit others, but are more than those need, one of them is meant.
    const Differences* nearest = nearest_to(i, false, between);
    if (nearest == nullptr && some_left) nearest = nearest_to(i, true, between);
    if (nearest == nullptr) {
      add(places[i], "expected, but it is not there", out);
      continue;
    }
    const std::size_t left = kMaxDifferences - std::min(kMaxDifferences, out.size());
    out.insert(out.end(), nearest->begin(),
               nearest->begin() + static_cast<std::ptrdiff_t>(std::min(left, nearest->size())));
  }
}

// Items that are found by `key`, in the order of the first of each.
void walk_keyed(const Place& at, const std::string& key, const Json& expected, const Json& actual,
                std::vector<Difference>& out) {
  std::map<std::string, Indexes> there;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    there[actual[i].at(key).get<std::string>()].push_back(i);
  }
  std::map<std::string, Indexes> wanted;
  std::vector<std::string> order;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::string name = expected[i].at(key).get<std::string>();
    Indexes& of_name = wanted[name];
    if (of_name.empty()) order.push_back(name);
    of_name.push_back(i);
  }
  for (const std::string& name : order) {
    std::vector<Place> places;
    for (const std::size_t i : wanted[name]) places.push_back(at.item(i, key + "=" + name));
    walk_of_one_key(places, expected, wanted[name], actual, there[name], out);
  }
}

void walk_list(const Place& at, const Json& expected, const Json& actual,
               std::vector<Difference>& out) {
  const std::string key = item_key(expected, actual);
  if (!key.empty()) return walk_keyed(at, key, expected, actual, out);
  if (expected.size() != actual.size()) {
    return add(
        at,
        fmt::format("expected {} items, got {}: {}", expected.size(), actual.size(), shown(actual)),
        out);
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    walk(at.item(i, std::to_string(i)), expected[i], actual[i], out);
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
