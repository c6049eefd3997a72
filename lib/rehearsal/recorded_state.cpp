#include "rehearsal/recorded_state.hpp"

#include <algorithm>

#include "core/resource_version.hpp"
#include "core/server_fields.hpp"
#include "hooks/recorded_request.hpp"

namespace kubewatch::rehearsal {

namespace {

std::string name_of(const std::string& group, const std::string& plural) {
  return group.empty() ? plural : plural + "." + group;
}

// 0 for what is no number: such a version is newer and older than none.
std::uint64_t number(const std::string& version) {
  return core::version_number(version).value_or(0);
}

std::uint64_t version_of(const Json& object) {
  return number(base::string_at(object, {"metadata", "resourceVersion"}));
}

bool is_metadata_only(const Json& object) {
  return base::string_at(object, {"kind"}) == "PartialObjectMetadata";
}

core::Labels labels_of(const Json& object) {
  core::Labels out;
  const Json* labels = base::find(object, {"metadata", "labels"});
  if (labels == nullptr || !labels->is_object()) return out;
  for (const auto& [key, value] : labels->items()) {
    if (value.is_string()) out.emplace_back(key, value.get<std::string>());
  }
  return out;
}

bool ends_initial_events(const Json& object) {
  const Json* annotations = base::find(object, {"metadata", "annotations"});
  return annotations != nullptr &&
         base::string_at(*annotations, {"k8s.io/initial-events-end"}) == "true";
}

Json difference(const Json& before, const Json& after) {
  Json out = Json::object();
  for (const auto& [key, value] : after.items()) {
    const auto old = before.find(key);
    if (old == before.end()) {
      out[key] = value;
    } else if (old->is_object() && value.is_object()) {
      if (Json inner = difference(*old, value); !inner.empty()) out[key] = std::move(inner);
    } else if (*old != value) {
      out[key] = value;
    }
  }
  for (const auto& [key, value] : before.items()) {
    if (!after.contains(key)) out[key] = nullptr;
  }
  return out;
}

}  // namespace

Json change_between(const Json& before, const Json& after) {
  const auto bare = [](Json object) {
    core::drop_metadata(object, {"uid", "resourceVersion", "managedFields", "creationTimestamp"});
    object.erase("kind");
    object.erase("apiVersion");
    return object;
  };
  return difference(bare(before), bare(after));
}

RecordedState::Id RecordedState::id_of(const Stream& stream, const core::ObjectKey& key) {
  return {name_of(stream.group, stream.plural), key};
}

void RecordedState::note_own(const std::string& path, const std::string& version) {
  const auto target = hooks::api_target(path);
  if (!target || version.empty()) return;
  own_.insert(
      {{name_of(target->group, target->plural), {target->namespace_, target->name}}, version});
}

void RecordedState::note_own_deletion(const std::string& path) {
  const auto target = hooks::api_target(path);
  if (!target) return;
  ++own_deletions_[{name_of(target->group, target->plural), {target->namespace_, target->name}}];
}

void RecordedState::open(const Json& entry) {
  const auto target = hooks::api_target(base::string_at(entry, {"path"}));
  if (!target) return;
  Stream& stream = streams_[static_cast<int>(base::int_at(entry, {"s"}).value_or(0))];
  stream.group = target->group;
  stream.version = target->version;
  stream.plural = target->plural;
  if (auto text = base::string_at(entry, {"labels"}); !text.empty()) {
    auto selector = core::LabelSelector::parse(text);
    if (selector.ok()) stream.labels = std::move(*selector);
  }
  const std::string how = base::string_at(entry, {"how"});
  if (how == "continue") return;
  stream.listing = how == "list";
  stream.listed.clear();
}

bool RecordedState::synced(int stream) const {
  const auto it = streams_.find(stream);
  return it != streams_.end() && it->second.synced;
}

void RecordedState::expect(const Json& entry) {
  const std::string type = base::string_at(entry, {"t"});
  const int stream = static_cast<int>(base::int_at(entry, {"s"}).value_or(0));
  if (type == "open") {
    const auto target = hooks::api_target(base::string_at(entry, {"path"}));
    if (target) expected_kinds_[stream] = name_of(target->group, target->plural);
  }
  if (type != "item" && type != "event") return;
  const auto kind = expected_kinds_.find(stream);
  const Json* object = base::find(entry, {"o"});
  if (kind == expected_kinds_.end() || object == nullptr || !object->is_object()) return;
  if (is_metadata_only(*object) || base::string_at(entry, {"type"}) == "BOOKMARK") return;
  if (const std::uint64_t version = version_of(*object); version != 0) {
    expected_[{kind->second, core::object_key(*object)}].insert({version, stream});
  }
}

// A state up to this one is still to be told whole, or a later one by a stream that has the object
// and missed this state. A stream that is not open yet may come much later: nobody waits for it.
bool RecordedState::waits_for_whole(const Id& id, std::uint64_t version) const {
  const auto found = expected_.find(id);
  if (found == expected_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](const auto& whole) {
    const auto stream = streams_.find(whole.second);
    if (stream == streams_.end()) return false;
    return whole.first <= version || stream->second.known.count(id.second) != 0;
  });
}

void RecordedState::hold_or_tell(Stream& stream, const std::string& type, const Json& object,
                                 std::vector<RecordedChange>& out) {
  const core::ObjectKey key = core::object_key(object);
  const Id id = id_of(stream, key);
  const std::uint64_t version = version_of(object);
  if (is_metadata_only(object)) {
    if (version != 0 && waits_for_whole(id, version)) {
      held_[id].push_back({&stream, type, object});
    } else {
      tell(stream, type, object, out);
    }
    return;
  }
  tell(stream, type, object, out);
  if (const auto found = expected_.find(id); found != expected_.end()) {
    auto& versions = found->second;
    versions.erase(versions.begin(), versions.upper_bound(version));
    if (versions.empty()) expected_.erase(found);
  }
  const auto held = held_.find(id);
  if (held == held_.end()) return;
  const std::vector<Held> again = std::move(held->second);
  held_.erase(held);
  for (const Held& one : again) hold_or_tell(*one.stream, one.type, one.object, out);
}

void RecordedState::tell(Stream& stream, const std::string& type, const Json& object,
                         std::vector<RecordedChange>& out) {
  // Out of the selection is not gone: the event has the state that does not match any more.
  const bool left = stream.labels && !stream.labels->matches(labels_of(object));
  if (type != "DELETED" || left) return take_object(stream, object, out);
  const Id id = id_of(stream, core::object_key(object));
  const auto found = objects_.find(id);
  const std::uint64_t version = version_of(object);
  // Another stream has told of a later object of that name.
  if (found != objects_.end() && version != 0 && version < found->second.version) return;
  if (version != 0) gone_[id] = std::max(gone_[id], version);
  remove(stream, id.second, out);
}

void RecordedState::take_object(Stream& stream, const Json& object,
                                std::vector<RecordedChange>& out) {
  const core::ObjectKey key = core::object_key(object);
  const std::string version = base::string_at(object, {"metadata", "resourceVersion"});
  const bool partial = is_metadata_only(object);
  const Id id = id_of(stream, key);
  const auto gone = gone_.find(id);
  if (gone != gone_.end() && number(version) != 0 && number(version) <= gone->second) return;
  const auto found = objects_.find(id);
  const bool known = found != objects_.end();
  // Of the same state, the whole object says more than its metadata.
  const bool more = known && !partial && is_metadata_only(found->second.object);
  if (known && number(version) <= found->second.version && number(version) != 0 &&
      !(more && number(version) == found->second.version)) {
    return;
  }
  RecordedChange change{stream.group, stream.version, stream.plural, key, {}, object, partial};
  if (known) change.before = found->second.object;
  Known now{number(version), object};
  if (partial && known && !is_metadata_only(found->second.object)) {
    now.object = found->second.object;
    now.object["metadata"] = object["metadata"];
  }
  objects_[id] = std::move(now);
  if (own_.count({id, version}) == 0) out.push_back(std::move(change));
}

void RecordedState::remove(Stream& stream, const core::ObjectKey& key,
                           std::vector<RecordedChange>& out) {
  stream.known.erase(key);
  const auto found = objects_.find(id_of(stream, key));
  if (found == objects_.end()) return;
  RecordedChange gone{stream.group, stream.version,       stream.plural,
                      key,          found->second.object, nullptr};
  if (const auto own = own_deletions_.find(found->first); own != own_deletions_.end()) {
    gone.own_deletion = true;
    if (--own->second == 0) own_deletions_.erase(own);
  }
  out.push_back(std::move(gone));
  objects_.erase(found);
}

// What a list does not name any more is gone.
void RecordedState::end_list(Stream& stream, std::vector<RecordedChange>& out) {
  const auto known = stream.known;
  for (const core::ObjectKey& key : known) {
    if (stream.listed.count(key) == 0) remove(stream, key, out);
  }
  stream.listing = false;
  stream.synced = true;
}

std::vector<RecordedChange> RecordedState::take(const Json& entry) {
  std::vector<RecordedChange> out;
  const std::string type = base::string_at(entry, {"t"});
  if (type == "open") open(entry);
  if (type != "item" && type != "page" && type != "event") return out;
  const auto it = streams_.find(static_cast<int>(base::int_at(entry, {"s"}).value_or(0)));
  if (it == streams_.end()) return out;
  Stream& stream = it->second;
  if (type == "page") {
    const Json* more = base::find(entry, {"more"});
    if (stream.listing && (more == nullptr || *more != Json(true))) end_list(stream, out);
    return out;
  }
  const Json* object = base::find(entry, {"o"});
  if (object == nullptr || !object->is_object()) return out;
  const std::string event = base::string_at(entry, {"type"});
  if (event == "BOOKMARK") {
    if (stream.listing && ends_initial_events(*object)) end_list(stream, out);
    return out;
  }
  const core::ObjectKey key = core::object_key(*object);
  if (key.name.empty()) return out;
  if (event == "DELETED") {
    stream.known.erase(key);
  } else {
    stream.known.insert(key);
    stream.listed.insert(key);
  }
  hold_or_tell(stream, event, *object, out);
  return out;
}

}  // namespace kubewatch::rehearsal
