#include "cli/apply/field_conflict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "cli/apply/apply_set.hpp"
#include "core/field_text.hpp"
#include "core/status.hpp"

namespace kubewatch::cli {

namespace {

constexpr std::size_t kMostShown = 200;

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

std::vector<std::size_t> no_ends_of(std::string_view path, const Json& manifest) {
  std::vector<std::size_t> out;
  for (const core::FieldReading& reading : core::readings_of(manifest, path)) {
    std::size_t end = 0;
    for (const std::string_view step : reading.steps) {
      for (std::size_t i = 1; i < step.size(); ++i) {
        if (step[i] == '.' || step[i] == '[') out.push_back(end + i);
      }
      end += step.size();
    }
  }
  return out;
}

std::string set_label_path() {
  return std::string(".metadata.labels.") + kPartOfLabel;
}

// "" where managedFields do not say.
std::string keeper_of_set_label(const Json& object) {
  const std::string field = std::string("f:") + kPartOfLabel;
  for (const Json& entry : base::items_at(object, {"metadata", "managedFields"})) {
    if (base::find(entry, {"fieldsV1", "f:metadata", "f:labels", field}) != nullptr) {
      return base::string_at(entry, {"manager"});
    }
  }
  return "";
}

std::string shown(const Json& value) {
  if (value.is_null()) return "nothing";
  std::string text = base::dump_json(value);
  if (text.size() <= kMostShown) return text;
  text.resize(kMostShown);
  return text + "...";
}

}  // namespace

std::vector<FieldConflict> conflicts_of(const Error& error, const Json& before,
                                        const Json& manifest) {
  std::vector<FieldConflict> out;
  for (const auto& cause : core::causes_of(error)) {
    if (cause.reason != "FieldManagerConflict") continue;
    FieldConflict one{cause.field, owner_of(cause.message),          cause.message, Json(),
                      Json(),      no_ends_of(cause.field, manifest)};
    if (const Json* theirs = core::value_at_field(before, cause.field)) one.theirs = *theirs;
    if (const Json* mine = core::value_at_field(manifest, cause.field)) one.mine = *mine;
    out.push_back(std::move(one));
  }
  return out;
}

std::optional<FieldConflict> set_conflict(const Json& before, const Json& manifest) {
  const std::string theirs = set_of(before);
  const std::string mine = set_of(manifest);
  if (theirs.empty() || theirs == mine) return std::nullopt;
  const std::string path = set_label_path();
  return FieldConflict{path, keeper_of_set_label(before), "", theirs,
                       mine, no_ends_of(path, manifest)};
}

bool is_of_set(const FieldConflict& conflict) {
  return conflict.path == set_label_path();
}

bool ForcePolicy::takes(const FieldConflict& conflict) const {
  return moves(conflict) || std::find(owners.begin(), owners.end(), conflict.owner) != owners.end();
}

bool ForcePolicy::moves(const FieldConflict& conflict) const {
  return all || std::any_of(paths.begin(), paths.end(),
                            [&](const std::string& path) { return covers(path, conflict); });
}

bool ForcePolicy::covers(const std::string& path, const FieldConflict& conflict) {
  if (!conflict.path.starts_with(path)) return false;
  const std::string_view rest = std::string_view(conflict.path).substr(path.size());
  if (rest.empty()) return true;
  const auto& no_ends = conflict.no_ends;
  return (rest.front() == '.' || rest.front() == '[') &&
         std::find(no_ends.begin(), no_ends.end(), path.size()) == no_ends.end();
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

// .data["a.b"] to .data.a.b. Whatever else stands in brackets (an index, a key with its value, an
// item of a set) the server writes so as well.
std::string as_the_server_writes(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    std::size_t end = 1;
    if (path.starts_with('[')) {
      bool quoted = false;
      for (; end < path.size() && (quoted || path[end] != ']'); ++end) {
        if (path[end] == '"') quoted = !quoted;
        if (quoted && path[end] == '\\') ++end;
      }
      end = std::min(end + 1, path.size());
    }
    const std::string_view step = path.substr(0, end);
    const auto key =
        step.starts_with("[\"") ? base::parse_json(step.substr(1, end - 2)) : Result<Json>(Json());
    out += key.ok() && key->is_string() ? "." + key->get<std::string>() : std::string(step);
    path.remove_prefix(end);
  }
  return out;
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
      out.paths.back() = as_the_server_writes(out.paths.back());
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
  const std::string owner =
      conflict.owner.empty() ? "" : fmt::format(" of manager \"{}\"", conflict.owner);
  return fmt::format("{}: {}{}, here {}", conflict.path, shown(conflict.theirs), owner,
                     shown(conflict.mine));
}

}  // namespace kubewatch::cli
