#include "rehearsal/recorded_state.hpp"

#include <algorithm>

#include "core/meta.hpp"
#include "core/resource_version.hpp"
#include "core/server_fields.hpp"
#include "hooks/ownership.hpp"
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

std::string uid_of(const Json& object) {
  return base::string_at(object, {"metadata", "uid"});
}

bool is_another(const Json& one, const Json& other) {
  return !uid_of(one).empty() && !uid_of(other).empty() && uid_of(one) != uid_of(other);
}

bool is_dying(const Json& object) {
  return base::find(object, {"metadata", "deletionTimestamp"}) != nullptr;
}

// Such an object is marked first: a state without the mark is not its last one.
bool goes_in_two_steps(const std::string& resource, const Json& object) {
  const Json* finalizers = base::find(object, {"metadata", "finalizers"});
  return resource == "namespaces" || (finalizers != nullptr && !finalizers->empty());
}

// A selection, when all that is known of an object is that it matches no more: which of its labels
// has changed is a guess, and nobody takes the label of a child for another's.
void unmatch(Json& object, const core::LabelSelector& selector) {
  const auto& all = selector.requirements();
  if (all.empty()) return;
  const auto found = std::find_if(
      all.begin(), all.end(), [](const auto& one) { return one.key != hooks::kControllerLabel; });
  const core::LabelRequirement& one = found == all.end() ? all.front() : *found;
  Json& labels = object["metadata"]["labels"];
  if (!labels.is_object()) labels = Json::object();
  if (one.op == core::SelectorOperator::not_exists) {
    labels[one.key] = "";
  } else if (one.op == core::SelectorOperator::not_in && !one.values.empty()) {
    labels[one.key] = one.values.front();
  } else {
    labels.erase(one.key);
  }
}

// Of an open; the reading of one object is of its name alone.
bool selects(const Json& entry) {
  const Json* single = base::find(entry, {"object"});
  if (single != nullptr && *single == Json(true)) return false;
  return !base::string_at(entry, {"labels"}).empty() || !base::string_at(entry, {"fields"}).empty();
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
  const int number = static_cast<int>(base::int_at(entry, {"s"}).value_or(0));
  Stream& stream = streams_[number];
  stream.number = number;
  stream.group = target->group;
  stream.version = target->version;
  stream.plural = target->plural;
  const std::string labels = base::string_at(entry, {"labels"});
  if (auto selector = core::LabelSelector::parse(labels); selector.ok()) {
    stream.labels = std::move(*selector);
  }
  stream.selects = selects(entry);
  stream.can_be_left =
      stream.selects && hooks::can_be_left(labels, base::string_at(entry, {"fields"}));
  const std::string how = base::string_at(entry, {"how"});
  if (how == "continue") return;
  stream.listing = how == "list";
  stream.listed.clear();
}

bool RecordedState::synced(int stream) const {
  const auto it = streams_.find(stream);
  return it != streams_.end() && it->second.synced;
}

void RecordedState::expect_life(const Id& id, const std::string& uid, std::uint64_t version,
                                int by) {
  if (!uid.empty() && version != 0) lives_[id][uid].insert({version, by});
}

void RecordedState::expect(const Json& entry) {
  const std::string type = base::string_at(entry, {"t"});
  const int stream = static_cast<int>(base::int_at(entry, {"s"}).value_or(0));
  if (type == "open") {
    const auto target = hooks::api_target(base::string_at(entry, {"path"}));
    if (target) {
      expected_streams_[stream] = {name_of(target->group, target->plural), target->version,
                                   selects(entry)};
    }
  }
  const auto of = expected_streams_.find(stream);
  if (of == expected_streams_.end()) return;
  const std::string& kind = of->second.kind;
  const Json* object = base::find(entry, {"o"});
  const bool has_object = object != nullptr && object->is_object();
  if (type == "still") {
    const core::ObjectKey key{base::string_at(entry, {"namespace"}),
                              base::string_at(entry, {"name"})};
    const std::string uid = base::string_at(entry, {"uid"});
    if (!has_object) ends_.insert({{kind, key}, uid});
    // It lived on, whatever else has happened to it by then.
    const std::uint64_t left = number(base::string_at(entry, {"rv"}));
    if (has_object) expect_life({kind, key}, uid, std::max(left, version_of(*object)), 0);
  }
  if ((type != "item" && type != "event") || !has_object) return;
  const std::string event = base::string_at(entry, {"type"});
  if (event == "BOOKMARK") return;
  const Id id{kind, core::object_key(*object)};
  const std::uint64_t version = version_of(*object);
  if (event != "DELETED") {
    expect_life(id, uid_of(*object), version, stream);
  } else if (!of->second.selects) {
    ends_.insert({id, uid_of(*object)});
  }
  if (version == 0) return;
  const State state{id, version};
  if (is_metadata_only(*object)) {
    bare_.insert(state);
    return;
  }
  expected_[id].insert({version, stream});
  // What leaves a selection is told as it was before.
  const bool is_state = event != "DELETED" && bare_.contains(state);
  if (is_state) wholes_.try_emplace(state, Whole{of->second.version, *object});
}

// As a stream that opens later tells the same state. Without its fields the object would be none
// that a server could have: who changes it then would be refused what was never there.
const Json& RecordedState::whole_of(const Stream& stream, const Json& metadata) const {
  const auto found =
      wholes_.find({id_of(stream, core::object_key(metadata)), version_of(metadata)});
  const bool same = found != wholes_.end() && found->second.version == stream.version;
  return same ? found->second.object : metadata;
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
      tell(stream, type, type == "DELETED" ? object : whole_of(stream, object), out);
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
  if (type != "DELETED") return take_object(stream, object, out);
  const Id id = id_of(stream, core::object_key(object));
  const auto found = objects_.find(id);
  const std::uint64_t version = version_of(object);
  // Another stream has told of a later object of that name.
  if (found != objects_.end() && version != 0 && version < found->second.version) return;
  if (has_left(stream, id, object)) {
    const std::string as_told = base::string_at(object, {"metadata", "resourceVersion"});
    return leave(stream, id.second, as_told, out);
  }
  if (version != 0) gone_[id] = std::max(gone_[id], version);
  remove(stream, id.second, out);
}

const RecordedState::Life* RecordedState::life_of(const Id& id, const Json& object) const {
  const auto found = lives_.find(id);
  if (found == lives_.end()) return nullptr;
  const auto life = found->second.find(uid_of(object));
  return life == found->second.end() ? nullptr : &life->second;
}

// The same object is told of, by whomever, later than this version; or at it, but not by the stream
// itself: there are servers that delete without a new one.
bool RecordedState::lives_at(const Stream& stream, const Id& id, const Json& object,
                             std::uint64_t version) const {
  const Life* life = life_of(id, object);
  if (life == nullptr || version == 0) return false;
  return std::any_of(life->lower_bound({version, 0}), life->end(), [&](const auto& told) {
    return told.first > version || told.second != stream.number;
  });
}

// `last`: the object of a DELETED, which is as it last matched, with the version that ended that.
bool RecordedState::has_left(const Stream& stream, const Id& id, const Json& last) const {
  if (!stream.selects) return false;
  if (lives_at(stream, id, last, version_of(last))) return true;
  if (is_dying(last)) return false;
  if (goes_in_two_steps(id.first, last)) return true;
  const std::string version = base::string_at(last, {"metadata", "resourceVersion"});
  return own_.count({id, version}) != 0 && own_deletions_.count(id) == 0;
}

// What it has become another stream tells, or the server was asked for it. Where neither is so, it
// is only known to match no more; it keeps its version, so that any other state is newer.
void RecordedState::leave(Stream& stream, const core::ObjectKey& key, const std::string& version,
                          std::vector<RecordedChange>& out) {
  const Id id = id_of(stream, key);
  const auto found = objects_.find(id);
  if (found == objects_.end() || found->second.version >= number(version)) return;
  if (own_.count({id, version}) != 0) return;  // it is written anew
  bool told_by_another = false;
  if (const Life* life = life_of(id, found->second.object); life != nullptr) {
    const auto later = life->lower_bound({number(version), 0});
    if (later != life->end() && later->first == number(version)) return;
    told_by_another = std::any_of(later, life->end(),
                                  [&](const auto& one) { return one.second != stream.number; });
  }
  Json now = found->second.object;
  unmatch(now, stream.labels);
  if (now == found->second.object) {
    // By its fields. Where nobody else tells what they had become, it goes, and comes back.
    return told_by_another ? void() : remove(stream, key, out);
  }
  RecordedChange change{
      stream.group, stream.version,       stream.plural, key, found->second.object,
      now,          is_metadata_only(now)};
  found->second.object = std::move(now);
  out.push_back(std::move(change));
}

bool RecordedState::is_in_doubt(const Stream& stream, const Id& id, const Json& last) const {
  const std::string uid = uid_of(last);
  if (!stream.can_be_left || is_dying(last) || ends_.count({id, uid}) != 0) return false;
  const auto lives = lives_.find(id);
  if (lives == lives_.end()) return true;
  // Another one has its name later.
  return std::none_of(lives->second.begin(), lives->second.end(), [&](const auto& other) {
    return other.first != uid && other.second.rbegin()->first > version_of(last);
  });
}

void RecordedState::take_object(Stream& stream, const Json& object,
                                std::vector<RecordedChange>& out) {
  const core::ObjectKey key = core::object_key(object);
  const std::string version = base::string_at(object, {"metadata", "resourceVersion"});
  const bool partial = is_metadata_only(object);
  const Id id = id_of(stream, key);
  const auto gone = gone_.find(id);
  if (gone != gone_.end() && number(version) != 0 && number(version) <= gone->second) return;
  auto found = objects_.find(id);
  if (found != objects_.end() && number(version) > found->second.version &&
      is_another(found->second.object, object)) {
    // The one before it went unseen, out of all selections.
    const bool is_known = stream.known.count(key) != 0;
    remove(stream, key, out);
    if (is_known) stream.known.insert(key);
    found = objects_.end();
  }
  const bool known = found != objects_.end();
  // Of the same state, the whole object says more than its metadata.
  const bool more = known && !partial && found->second.partial;
  if (known && number(version) <= found->second.version && number(version) != 0 &&
      !(more && number(version) == found->second.version)) {
    return;
  }
  RecordedChange change{stream.group, stream.version, stream.plural, key, {}, object, partial};
  if (known) change.before = found->second.object;
  Known now{number(version), object, partial};
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
  gone.in_doubt = !gone.own_deletion && is_in_doubt(stream, found->first, found->second.object);
  out.push_back(std::move(gone));
  objects_.erase(found);
}

// What a list does not name any more is gone, or has left.
void RecordedState::end_list(Stream& stream, const std::string& version,
                             std::vector<RecordedChange>& out) {
  const auto known = stream.known;
  for (const core::ObjectKey& key : known) {
    if (stream.listed.count(key) != 0) continue;
    const Id id = id_of(stream, key);
    const auto found = objects_.find(id);
    if (stream.selects && found != objects_.end() &&
        lives_at(stream, id, found->second.object, number(version))) {
      stream.known.erase(key);
      leave(stream, key, version, out);
    } else {
      remove(stream, key, out);
    }
  }
  stream.listing = false;
  stream.synced = true;
}

std::vector<RecordedChange> RecordedState::take(const Json& entry) {
  std::vector<RecordedChange> out;
  const std::string type = base::string_at(entry, {"t"});
  if (type == "open") open(entry);
  if (type != "item" && type != "page" && type != "event" && type != "still") return out;
  const auto it = streams_.find(static_cast<int>(base::int_at(entry, {"s"}).value_or(0)));
  if (it == streams_.end()) return out;
  Stream& stream = it->second;
  if (type == "page") {
    const Json* more = base::find(entry, {"more"});
    if (stream.listing && (more == nullptr || *more != Json(true))) {
      end_list(stream, base::string_at(entry, {"rv"}), out);
    }
    return out;
  }
  const Json* object = base::find(entry, {"o"});
  if (object == nullptr || !object->is_object()) return out;
  const std::string event = base::string_at(entry, {"type"});
  if (event == "BOOKMARK") {
    if (stream.listing && core::ends_initial_events(*object)) {
      end_list(stream, base::string_at(*object, {"metadata", "resourceVersion"}), out);
    }
    return out;
  }
  const core::ObjectKey key = core::object_key(*object);
  if (key.name.empty()) return out;
  if (event == "DELETED") {
    stream.known.erase(key);
  } else if (type != "still") {
    stream.known.insert(key);
    stream.listed.insert(key);
  }
  hold_or_tell(stream, event, *object, out);
  return out;
}

}  // namespace kubewatch::rehearsal
