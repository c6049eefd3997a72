#include "rehearsal/replay_compare.hpp"

#include <algorithm>
#include <map>

#include "base/yaml.hpp"
#include "hooks/ownership.hpp"
#include "hooks/text_diff.hpp"

namespace kubewatch::rehearsal {

namespace {

// An operation of a JSON patch that says which state it is for.
bool is_precondition(const Json& operation) {
  const std::string path = base::string_at(operation, {"path"});
  return base::string_at(operation, {"op"}) == "test" &&
         (path == "/metadata/uid" || path == "/metadata/resourceVersion");
}

void erase_from_items(Json* list, const char* key) {
  if (list == nullptr || !list->is_array()) return;
  for (Json& item : *list) {
    if (item.is_object()) item.erase(key);
  }
}

struct Write {
  std::string verb;
  Json body;
  bool operator==(const Write&) const = default;
  std::string text() const {
    return "# " + verb + "\n" + (body.is_null() ? "" : base::dump_yaml(body));
  }
};

// By path, in order of time; what is written again as it was counts once.
using Histories = std::map<std::string, std::vector<Write>>;

Histories histories_of(const WriteEntries& entries) {
  Histories out;
  for (const Json& entry : entries) {
    Write write{base::string_at(entry, {"verb"}), nullptr};
    if (const Json* body = base::find(entry, {"body"})) write.body = comparable(*body);
    auto& history = out[base::string_at(entry, {"path"})];
    if (history.empty() || !(history.back() == write)) history.push_back(std::move(write));
  }
  return out;
}

std::string title(const std::string& path, const Write& write) {
  const std::string kind = base::string_at(write.body, {"kind"});
  const std::string name = base::string_at(write.body, {"metadata", "name"});
  if (kind.empty() || name.empty()) return path;
  const std::string in = base::string_at(write.body, {"metadata", "namespace"});
  return kind + " " + (in.empty() ? "" : in + "/") + name;
}

ReplayDifference difference(const char* change, const std::string& path, const Write* before,
                            const Write* after) {
  const Write& named = before != nullptr ? *before : *after;
  return {change, named.verb, path, title(path, named),
          hooks::unified_diff(before == nullptr ? "" : before->text(),
                              after == nullptr ? "" : after->text())};
}

// The first recorded write that does not come again, or another end.
void compare_history(const std::string& path, const std::vector<Write>& recorded,
                     const std::vector<Write>& replayed, bool whole,
                     std::vector<ReplayDifference>& out) {
  std::size_t at = 0;
  for (const Write& write : recorded) {
    const auto from = replayed.begin() + static_cast<std::ptrdiff_t>(at);
    const auto found = std::find(from, replayed.end(), write);
    if (found == replayed.end()) {
      const Write& instead = at < replayed.size() ? replayed[at] : replayed.back();
      out.push_back(difference("changed", path, &write, &instead));
      return;
    }
    at = static_cast<std::size_t>(found - replayed.begin()) + 1;
  }
  if (whole && !(recorded.back() == replayed.back())) {
    out.push_back(difference("changed", path, &recorded.back(), &replayed.back()));
  }
}

}  // namespace

Json comparable(Json body) {
  if (body.is_array()) {
    Json kept = Json::array();
    for (Json& operation : body) {
      if (!is_precondition(operation)) kept.push_back(std::move(operation));
    }
    return kept;
  }
  if (Json* metadata = base::find(body, {"metadata"}); metadata && metadata->is_object()) {
    metadata->erase("uid");
    metadata->erase("resourceVersion");
    if (Json* labels = base::find(*metadata, {"labels"}); labels && labels->is_object()) {
      labels->erase(std::string(hooks::kOwnerUidLabel));
    }
    erase_from_items(base::find(*metadata, {"ownerReferences"}), "uid");
  }
  erase_from_items(base::find(body, {"status", "conditions"}), "lastTransitionTime");
  return body;
}

std::vector<ReplayDifference> compare_writes(const WriteEntries& recorded,
                                             const WriteEntries& replayed, bool whole) {
  const Histories before = histories_of(recorded);
  const Histories after = histories_of(replayed);
  std::vector<ReplayDifference> out;
  for (const auto& [path, history] : before) {
    const auto again = after.find(path);
    if (again == after.end()) {
      out.push_back(difference("missing", path, &history.back(), nullptr));
    } else {
      compare_history(path, history, again->second, whole, out);
    }
  }
  for (const auto& [path, history] : after) {
    if (whole && before.count(path) == 0) {
      out.push_back(difference("created", path, nullptr, &history.back()));
    }
  }
  return out;
}

}  // namespace kubewatch::rehearsal
