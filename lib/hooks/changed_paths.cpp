// Two cursors over two texts.
#include "hooks/changed_paths.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/ascii.hpp"
#include "core/json_scan.hpp"

namespace kubewatch::hooks {
namespace {

// Deeper differences are told as one.
constexpr std::size_t kDeepestDifference = 32;

using Members = std::vector<std::pair<std::string_view, std::string_view>>;

// Keys with their quotes, so that no decoding is needed to compare them. Absent: broken text.
std::optional<Members> members_of(std::string_view text) {
  core::JsonCursor cursor(text);
  Members out;
  if (!cursor.accept('{')) return std::nullopt;
  if (cursor.accept('}')) return out;
  while (true) {
    const std::string_view key = cursor.take_string();
    if (key.empty() || !cursor.accept(':')) return std::nullopt;
    const std::string_view value = cursor.take_value().text;
    if (value.empty()) return std::nullopt;
    out.emplace_back(key, value);
    if (cursor.accept('}')) return out;
    if (!cursor.accept(',')) return std::nullopt;
  }
}

std::optional<std::vector<std::string_view>> items_of(std::string_view text) {
  core::JsonCursor cursor(text);
  std::vector<std::string_view> out;
  if (!cursor.accept('[')) return std::nullopt;
  if (cursor.accept(']')) return out;
  while (true) {
    const std::string_view value = cursor.take_value().text;
    if (value.empty()) return std::nullopt;
    out.push_back(value);
    if (cursor.accept(']')) return out;
    if (!cursor.accept(',')) return std::nullopt;
  }
}

bool is_counted_by_server(std::string_view path) {
  return path == ".metadata.resourceVersion" || path == ".metadata.generation" ||
         path == ".metadata.managedFields";
}

class Difference {
 public:
  explicit Difference(std::size_t max) : max_(max) {}

  void compare(std::string_view before, std::string_view after, const std::string& path,
               std::size_t depth) {
    if (before == after || full()) return;
    if (is_counted_by_server(path)) return;
    if (depth < kDeepestDifference && !before.empty() && !after.empty() && before[0] == after[0]) {
      if (after[0] == '{' && compare_objects(before, after, path, depth)) return;
      if (after[0] == '[' && compare_lists(before, after, path, depth)) return;
    }
    note(path);
  }
  std::vector<std::string> take() { return std::move(out_); }

 private:
  bool full() const { return out_.size() > max_; }

  void note(const std::string& path) {
    if (path.empty() || full()) return;
    out_.push_back(out_.size() < max_ ? path : "...");
  }

  bool compare_objects(std::string_view before, std::string_view after, const std::string& path,
                       std::size_t depth) {
    const auto old_members = members_of(before);
    const auto new_members = members_of(after);
    if (!old_members || !new_members) return false;
    std::unordered_map<std::string_view, std::string_view> old(old_members->begin(),
                                                               old_members->end());
    for (const auto& [key, value] : *new_members) {
      const auto found = old.find(key);
      const std::string_view was = found == old.end() ? std::string_view() : found->second;
      if (found != old.end()) old.erase(found);
      if (was != value) compare(was, value, path + path_step(key), depth + 1);
    }
    for (const auto& [key, value] : *old_members) {
      if (old.count(key) > 0) compare(value, {}, path + path_step(key), depth + 1);
    }
    return true;
  }

  bool compare_lists(std::string_view before, std::string_view after, const std::string& path,
                     std::size_t depth) {
    const auto old_items = items_of(before);
    const auto new_items = items_of(after);
    if (!old_items || !new_items || old_items->size() != new_items->size()) return false;
    for (std::size_t i = 0; i < new_items->size(); ++i) {
      compare((*old_items)[i], (*new_items)[i], path + "[" + std::to_string(i) + "]", depth + 1);
    }
    return true;
  }

  std::size_t max_;
  std::vector<std::string> out_;
};

}  // namespace

std::string path_step(std::string_view literal) {
  const std::string_view name = literal.substr(1, literal.size() - 2);
  const auto plain = [](char c) { return base::is_alphanumeric(c) || c == '_'; };
  const bool word =
      !name.empty() && !base::is_digit(name[0]) && std::all_of(name.begin(), name.end(), plain);
  return word ? "." + std::string(name) : "[" + std::string(literal) + "]";
}

std::vector<std::string> changed_paths(std::string_view before, std::string_view after,
                                       std::size_t max) {
  Difference difference(max);
  difference.compare(before, after, "", 0);
  return difference.take();
}

}  // namespace kubewatch::hooks
