#include "cli/watch/field_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "base/ascii.hpp"

namespace kubewatch::cli::watch {

namespace {

// What names the items of Kubernetes' lists.
constexpr std::array<const char*, 6> kItemKeys = {"name", "type", "key", "uid", "ip", "manager"};

bool is_plain_key(const std::string& key) {
  return !key.empty() && !base::is_digit(key.front()) &&
         std::all_of(key.begin(), key.end(),
                     [](char c) { return base::is_alphanumeric(c) || c == '_' || c == '-'; });
}

std::string key_text(const std::string& key) {
  return is_plain_key(key) ? "." + key : "[" + base::json_quoted(key) + "]";
}

// The value of `key` in each item, when each has one of its own.
std::optional<std::map<std::string, std::size_t>> named_items(const Json& list, const char* key) {
  std::map<std::string, std::size_t> out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_object()) return std::nullopt;
    const auto found = list[i].find(key);
    if (found == list[i].end() || !found->is_string()) return std::nullopt;
    if (!out.emplace(found->get<std::string>(), i).second) return std::nullopt;
  }
  return out;
}

class Comparison {
 public:
  std::vector<FieldChange> run(const Json& before, const Json& after) {
    compare(before, after);
    return std::move(out_);
  }

 private:
  void compare(const Json& before, const Json& after) {
    if (out_.size() > kMostFieldChanges || before == after) return;
    if (before.is_object() && after.is_object()) return compare_objects(before, after);
    if (before.is_array() && after.is_array() && compare_lists(before, after)) return;
    add(&before, &after);
  }

  void add(const Json* before, const Json* after) {
    if (out_.size() == kMostFieldChanges) out_.push_back({"...", {}, {}, {}});
    if (out_.size() >= kMostFieldChanges) return;
    FieldChange change{path_, steps_, {}, {}};
    if (before != nullptr) change.before = *before;
    if (after != nullptr) change.after = *after;
    out_.push_back(std::move(change));
  }

  void compare_objects(const Json& before, const Json& after) {
    std::set<std::string> keys;
    for (const auto& [key, value] : before.items()) keys.insert(key);
    for (const auto& [key, value] : after.items()) keys.insert(key);
    for (const std::string& key : keys) {
      if (is_the_servers(key)) continue;
      const auto old = before.find(key);
      const auto now = after.find(key);
      below(key_text(key), key, old == before.end() ? nullptr : &*old,
            now == after.end() ? nullptr : &*now);
    }
  }

  void below(const std::string& text, FieldStep step, const Json* before, const Json* after) {
    const std::size_t length = path_.size();
    path_ += text;
    steps_.push_back(std::move(step));
    if (before != nullptr && after != nullptr) {
      compare(*before, *after);
    } else {
      add(before, after);
    }
    steps_.pop_back();
    path_.resize(length);
  }

  bool is_the_servers(const std::string& key) const {
    return path_ == ".metadata" &&
           (key == "managedFields" || key == "resourceVersion" || key == "generation");
  }

  // False: only the lists as a whole can be told.
  bool compare_lists(const Json& before, const Json& after) {
    for (const char* key : kItemKeys) {
      const auto old = named_items(before, key);
      const auto now = named_items(after, key);
      if (!old || !now || (old->empty() && now->empty())) continue;
      std::set<std::string> names;
      for (const auto& [name, at] : *old) names.insert(name);
      for (const auto& [name, at] : *now) names.insert(name);
      const std::size_t told = out_.size();
      for (const std::string& name : names) {
        const auto from = old->find(name);
        const auto to = now->find(name);
        below(fmt::format("[{}={}]", key, name), to != now->end() ? to->second : from->second,
              from == old->end() ? nullptr : &before[from->second],
              to == now->end() ? nullptr : &after[to->second]);
      }
      return out_.size() > told;  // nothing but another order: told as a whole
    }
    if (before.size() != after.size()) return false;
    for (std::size_t i = 0; i < before.size(); ++i) {
      below(fmt::format("[{}]", i), i, &before[i], &after[i]);
    }
    return true;
  }

  std::string path_;
  std::vector<FieldStep> steps_;
  std::vector<FieldChange> out_;
};

}  // namespace

std::vector<FieldChange> field_changes(const Json& before, const Json& after) {
  return Comparison().run(before, after);
}

}  // namespace kubewatch::cli::watch
