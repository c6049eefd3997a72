#include "rehearsal/recorded_ground.hpp"

namespace kubewatch::rehearsal {

namespace {

constexpr const char* kNamespaces = "namespaces.";

std::string kind_of(const hooks::ApiTarget& target) {
  return target.plural + "." + target.group;
}

std::string id_of(const std::string& kind, const std::string& namespace_, const std::string& name) {
  return kind + "/" + namespace_ + "/" + name;
}

}  // namespace

void RecordedGround::note(const Json& entry) {
  const std::string type = base::string_at(entry, {"t"});
  if (type == "write") return note_write(entry);
  const int stream = static_cast<int>(base::int_at(entry, {"s"}).value_or(0));
  if (type == "open") {
    const auto target = hooks::api_target(base::string_at(entry, {"path"}));
    if (target) kinds_[stream] = kind_of(*target);
    if (entry.value("object", Json(false)) == Json(true)) readings_.insert(stream);
  }
  if (type != "item" && type != "event") return;
  const std::string id = id_in(entry);
  if (id.empty()) return;
  told_.insert(id);
  if (is_reading(stream)) return;
  watched_.insert(id);
  if (kinds_[stream] == kNamespaces)
    came_.insert(base::string_at(entry, {"o", "metadata", "name"}));
}

std::string RecordedGround::id_in(const Json& entry) const {
  const auto kind = kinds_.find(static_cast<int>(base::int_at(entry, {"s"}).value_or(0)));
  const std::string name = base::string_at(entry, {"o", "metadata", "name"});
  if (kind == kinds_.end() || name.empty()) return "";  // a bookmark
  return id_of(kind->second, base::string_at(entry, {"o", "metadata", "namespace"}), name);
}

bool RecordedGround::is_told_by_watch(const Json& entry) const {
  return watched_.count(id_in(entry)) != 0;
}

void RecordedGround::note_write(const Json& entry) {
  const auto target = hooks::api_target(base::string_at(entry, {"path"}));
  if (!target || target->name.empty()) return;
  const auto code = base::int_at(entry, {"code"}).value_or(0);
  if (code == 404 && !target->namespace_.empty()) missing_.insert(target->namespace_);
  if (code < 200 || code >= 300) return;
  if (!target->namespace_.empty()) written_.insert(target->namespace_);
  const std::string verb = base::string_at(entry, {"verb"});
  const std::string id = id_of(kind_of(*target), target->namespace_, target->name);
  if (verb == "patch" || verb == "delete") {
    if (made_.count(id) == 0) changed_.emplace(id, *target);
    return;
  }
  made_.insert(id);
  if (kind_of(*target) == kNamespaces && code == 201) came_.insert(target->name);
}

std::set<std::string> RecordedGround::namespaces(const std::vector<hooks::Rule>& rules) const {
  std::set<std::string> out;
  for (const hooks::Rule& rule : rules) {
    for (const auto& owns : rule.owns) {
      out.insert(owns.stream.namespaces.begin(), owns.stream.namespaces.end());
    }
    for (const auto& writes : rule.writes) {
      out.insert(writes.namespaces.begin(), writes.namespaces.end());
    }
  }
  for (const std::string& name : missing_) out.erase(name);
  out.insert(written_.begin(), written_.end());
  for (const std::string& name : came_) out.erase(name);
  return out;
}

std::vector<hooks::ApiTarget> RecordedGround::unknown() const {
  std::vector<hooks::ApiTarget> out;
  for (const auto& [id, target] : changed_) {
    if (told_.count(id) == 0) out.push_back(target);
  }
  return out;
}

}  // namespace kubewatch::rehearsal
