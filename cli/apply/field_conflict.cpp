#include "cli/apply/field_conflict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/strings.hpp"
#include "core/status.hpp"

namespace kubewatch::cli {

namespace {

constexpr int kDeepest = 64;
constexpr std::size_t kMostShown = 200;

// The place behind a bracket that opens at 0; quotes may hold brackets.
std::size_t end_of_bracket(std::string_view path) {
  bool quoted = false;
  for (std::size_t i = 1; i < path.size(); ++i) {
    if (quoted && path[i] == '\\') {
      ++i;
    } else if (path[i] == '"') {
      quoted = !quoted;
    } else if (path[i] == ']' && !quoted) {
      return i + 1;
    }
  }
  return 0;
}

// `name="web",port=80` as an object. Values are JSON.
std::optional<Json> keys_of(std::string_view text) {
  Json out = Json::object();
  while (!text.empty()) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string name(text.substr(0, equals));
    text.remove_prefix(equals + 1);
    bool quoted = false;
    std::size_t end = 0;
    for (; end < text.size() && (quoted || text[end] != ','); ++end) {
      if (text[end] == '\\')
        ++end;
      else if (text[end] == '"')
        quoted = !quoted;
    }
    auto value = base::parse_json(text.substr(0, end));
    if (!value.ok()) return std::nullopt;
    out[name] = std::move(*value);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

const Json* in_list(const Json& list, std::string_view step) {
  if (!list.is_array() || step.empty()) return nullptr;
  const bool number =
      std::all_of(step.begin(), step.end(), [](char c) { return '0' <= c && c <= '9'; });
  if (number) {
    const auto index = base::parse_json(step);
    if (!index.ok() || index->get<std::size_t>() >= list.size()) return nullptr;
    return &list[index->get<std::size_t>()];
  }
  const auto keys = step.front() == '=' ? std::nullopt : keys_of(step);
  const auto wanted = step.front() == '=' ? base::parse_json(step.substr(1)) : Result<Json>(Json());
  for (const auto& item : list) {
    if (keys && item.is_object()) {
      const bool same =
          std::all_of(keys->items().begin(), keys->items().end(), [&](const auto& key) {
            const auto found = item.find(key.key());
            return found != item.end() && *found == key.value();
          });
      if (same) return &item;
    }
    if (!keys && wanted.ok() && item == *wanted) return &item;
  }
  return nullptr;
}

const Json* look(const Json& value, std::string_view path, int depth) {
  if (path.empty()) return &value;
  if (depth > kDeepest) return nullptr;
  if (path.front() == '[') {
    const std::size_t end = end_of_bracket(path);
    if (end < 2) return nullptr;
    const Json* item = in_list(value, path.substr(1, end - 2));
    return item == nullptr ? nullptr : look(*item, path.substr(end), depth + 1);
  }
  if (path.front() != '.' || !value.is_object()) return nullptr;
  for (const auto& [key, inner] : value.items()) {
    if (!path.substr(1).starts_with(key)) continue;
    const std::string_view rest = path.substr(1 + key.size());
    if (!rest.empty() && rest.front() != '.' && rest.front() != '[') continue;
    if (const Json* found = look(inner, rest, depth + 1)) return found;
  }
  return nullptr;
}

// The quoted name in `conflict with "kubectl" using v1`.
std::string owner_of(std::string_view words) {
  const auto open = words.find('"');
  if (open == std::string_view::npos) return std::string(words);
  std::size_t close = open + 1;
  while (close < words.size() && words[close] != '"') close += words[close] == '\\' ? 2 : 1;
  if (close >= words.size()) return std::string(words.substr(open + 1));
  const auto name = base::parse_json(words.substr(open, close + 1 - open));
  return name.ok() ? name->get<std::string>()
                   : std::string(words.substr(open + 1, close - open - 1));
}

std::string shown(const Json& value) {
  if (value.is_null()) return "nothing";
  std::string text = base::dump_json(value);
  if (text.size() <= kMostShown) return text;
  text.resize(kMostShown);
  return text + "...";
}

}  // namespace

const Json* value_at_field(const Json& object, std::string_view path) {
  return look(object, path, 0);
}

std::vector<FieldConflict> conflicts_of(const Error& error, const Json& before,
                                        const Json& manifest) {
  std::vector<FieldConflict> out;
  for (const auto& cause : core::causes_of(error)) {
    if (cause.reason != "FieldManagerConflict") continue;
    FieldConflict one{cause.field, owner_of(cause.message), cause.message, Json(), Json()};
    if (const Json* theirs = value_at_field(before, cause.field)) one.theirs = *theirs;
    if (const Json* mine = value_at_field(manifest, cause.field)) one.mine = *mine;
    out.push_back(std::move(one));
  }
  return out;
}

bool ForcePolicy::takes(const FieldConflict& conflict) const {
  if (all) return true;
  if (std::find(owners.begin(), owners.end(), conflict.owner) != owners.end()) return true;
  return std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
    if (!conflict.path.starts_with(path)) return false;
    const std::string_view rest = std::string_view(conflict.path).substr(path.size());
    return rest.empty() || rest.front() == '.' || rest.front() == '[';
  });
}

bool ForcePolicy::takes_all(const std::vector<FieldConflict>& conflicts) const {
  return !conflicts.empty() && std::all_of(conflicts.begin(), conflicts.end(),
                                           [&](const auto& one) { return takes(one); });
}

// As the server writes paths of fields: .spec.containers[name="web"].image, .data.a. Absent: it is.
std::optional<std::string> wrong_in_path(std::string_view path) {
  bool quoted = false;
  std::size_t open = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"' && open > 0) {
      quoted = !quoted;
    } else if (quoted) {
      continue;
    } else if (c == '[') {
      if (++open > 1) return "a [ inside of [ ]";
    } else if (c == ']') {
      if (open-- == 0) return "a ] without [";
    } else if (open == 0 && (c == '{' || c == '}')) {
      return "it is no jsonpath: leave the braces out";
    }
  }
  if (open > 0) return "a [ that is not closed";
  if (path.ends_with('.')) return "nothing behind the last dot";
  if (path.starts_with("./")) return "it is no JSON pointer";
  return std::nullopt;
}

Result<ForcePolicy> parse_force(const std::vector<std::string>& conflicts,
                                const std::vector<std::string>& owners) {
  ForcePolicy out;
  for (const auto& word : conflicts) {
    if (word == "true") {
      out.all = true;
    } else if (word != "false") {
      const bool rooted = word.starts_with('.') || word.starts_with('[');
      out.paths.push_back(rooted ? word : "." + word);
      if (out.paths.back() == ".") {
        return Error(ErrorKind::invalid,
                     "--force-conflicts= needs a path, as .spec.replicas; --force-conflicts alone "
                     "takes everything");
      }
      if (const auto wrong = wrong_in_path(out.paths.back())) {
        return Error(ErrorKind::invalid,
                     fmt::format("--force-conflicts={}: {}; paths are written as in conflicts, "
                                 "such as .spec.containers[name=\"web\"].image",
                                 word, *wrong));
      }
    }
  }
  for (const auto& owner : owners) {
    if (owner.empty()) return Error(ErrorKind::invalid, "--force-owner needs a manager's name");
  }
  if (out.all && (!out.paths.empty() || !owners.empty())) {
    return Error(ErrorKind::invalid,
                 "--force-conflicts takes everything: give it alone, or paths and --force-owner");
  }
  out.owners = owners;
  return out;
}

Json to_json(const FieldConflict& conflict) {
  return {{"path", conflict.path},
          {"owner", conflict.owner},
          {"theirs", conflict.theirs},
          {"mine", conflict.mine}};
}

std::string to_text(const FieldConflict& conflict) {
  return fmt::format("{}: {} of manager \"{}\", here {}", conflict.path, shown(conflict.theirs),
                     conflict.owner, shown(conflict.mine));
}

}  // namespace kubewatch::cli
