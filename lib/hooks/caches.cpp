// Resolving a rule's kinds, opening its streams, and answering what the caches hold.
#include "hooks/caches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/json.hpp"
#include "core/object_ref.hpp"
#include "core/resource_version.hpp"
#include "hooks/evaluate.hpp"
#include "hooks/optional_kinds.hpp"
#include "hooks/output_rights.hpp"
#include "hooks/shard_plan.hpp"
#include "runtime/store_ingest.hpp"

namespace kubewatch::hooks {
namespace {

Result<core::ResourceType> find_type(const client::ResourceMap& resources, const core::Gvk& gvk) {
  if (const core::ResourceType* type = resources.find(gvk)) return *type;
  std::string message = "the server has no kind " + gvk.str();
  for (const std::string& group : resources.failed_groups) {
    if (client::ResourceMap::is_of_group(group, gvk.group))
      message += " (discovery failed: " + group + ")";
  }
  if (const core::ResourceType* other = resources.find_kind(gvk.group, gvk.kind)) {
    message += "; it serves " + other->gvk.api_version();
  }
  return Error(ErrorKind::not_found, std::move(message));
}

Result<void> check_scope(const core::ResourceType& type, const StreamRule& stream) {
  if (!type.namespaced && !stream.namespace_selector.empty()) {
    return Error(ErrorKind::invalid,
                 fmt::format("{} is cluster-scoped, but the rule selects namespaces for it",
                             type.gvk.str()));
  }
  if (is_in_no_shard(stream, type)) {
    return Error(ErrorKind::invalid,
                 fmt::format("{} is cluster-scoped, and --shard-by namespace=... makes shards of "
                             "namespaces alone: no instance handles its objects",
                             type.gvk.str()));
  }
  if (type.namespaced || stream.namespaces.empty()) return {};
  return Error(ErrorKind::invalid,
               fmt::format("{} is cluster-scoped, but the rule lists namespaces "
                           "for it",
                           type.gvk.str()));
}

// Of owns and watches. An optional kind that the server lacks has no more than its name.
Result<void> find_entry(const client::ResourceMap& resources, const StreamRule& stream,
                        core::ResourceType& type, bool& absent) {
  absent = stream.optional && is_absent(resources, stream.gvk);
  if (absent) {
    type.gvk = stream.gvk;
    return {};
  }
  KW_ASSIGN(type, find_type(resources, stream.gvk));
  return check_scope(type, stream);
}

void note_reduced(const StreamGroup& group, ReducedKeys& out) {
  for (const auto& stream : group.streams()) {
    for (core::ObjectKey& key : stream->store().reduced()) out.add(std::move(key));
  }
}

// Adds the object where the entry's filter lets it pass; says what the list may lack. True: it is
// in.
bool add_to(InputList& list, const StreamRule& stream, const std::string& place,
            runtime::StoredObject object) {
  const auto name = [&] { return core::object_text(list.gvk, object.meta.key()); };
  if (object.reduced) {  // nor is its filter to be believed
    if (!list.lack) list.lack = {why_reduced(name()), place + "/content"};
    return true;
  }
  const auto passed = passes(stream.filter, object.json);
  if (!passed.ok()) {
    if (list.lack) return false;
    list.lack = {
        fmt::format("{} fails on {}: {}",
                    list.name.empty() ? "a filter of owns" : "filter of watches " + list.name,
                    name(), shown_failure(list.gvk, object.json, passed.error())),
        place + "/filter"};
    return false;
  }
  if (*passed) list.objects.push_back(std::move(object.json));
  return *passed;
}

}  // namespace

RuleCaches::RuleCaches(const Rule& rule, CacheCallbacks callbacks)
    : rule_(rule), callbacks_(std::move(callbacks)), content_(rule) {}

Result<void> RuleCaches::resolve(const client::ResourceMap& resources) {
  if (const auto* type = resources.find({"", "v1", "Namespace"})) namespace_type_ = *type;
  for_.type.namespaced = false;
  if (rule_.has_for) {
    KW_ASSIGN(for_.type, find_type(resources, rule_.for_.gvk));
    KW_TRY(check_scope(for_.type, rule_.for_));
  }
  owned_.clear();
  related_.clear();
  writes_.clear();
  for (const OwnsRule& owns : rule_.owns) {
    auto entry = std::make_unique<Owned>();
    entry->rule = &owns;
    entry->place = fmt::format("/spec/owns/{}", owned_.size());
    KW_TRY(find_entry(resources, owns.stream, entry->type, entry->absent));
    owned_.push_back(std::move(entry));
  }
  for (const WatchesRule& watches : rule_.watches) {
    auto entry = std::make_unique<Related>();
    entry->rule = &watches;
    entry->place = fmt::format("/spec/watches/{}", related_.size());
    KW_TRY(find_entry(resources, watches.stream, entry->type, entry->absent));
    related_.push_back(std::move(entry));
  }
  missing_writes_.clear();
  for (const WritesRule& writes : rule_.writes) missing_writes_.push_back(&writes);
  // Kinds that are only written may come later, with a CRD that a hook prints; whoever needs to
  // know all of them asks again.
  (void)resolve_writes(resources);
  const bool selects = !rule_.for_.label_selector.empty() || !rule_.for_.field_selector.empty();
  may_finalize_ = may_need_finalizer(rule_, for_.type.namespaced,
                                     [&](const core::Gvk& gvk) -> std::optional<bool> {
                                       const auto* type = resources.find(gvk);
                                       if (type == nullptr) return std::nullopt;
                                       return type->namespaced;
                                     });
  for_.needs_guard = selects && may_finalize_;
  return {};
}

// Children are in the owner's namespace or a listed one: no more than that needs to be watched.
std::vector<std::string> RuleCaches::owns_namespaces(const OwnsRule& owns, bool namespaced) const {
  if (!namespaced || !owns.stream.namespace_selector.empty()) return {};
  if (!for_.type.namespaced) return owns.stream.namespaces;
  if (rule_.for_.namespaces.empty()) return {};
  std::set<std::string> out(rule_.for_.namespaces.begin(), rule_.for_.namespaces.end());
  out.insert(owns.stream.namespaces.begin(), owns.stream.namespaces.end());
  return {out.begin(), out.end()};
}

void RuleCaches::build() {
  built_ = true;
  for (const core::ObjectKey& key : for_.group.keys()) {
    if (auto object = for_.group.get(key)) index_object(*object);
  }
  note_reduced(for_.group, for_.reduced);
  for (auto& owned : owned_) note_reduced(owned->group, owned->reduced);
  for (auto& related : related_) {
    note_reduced(related->group, related->reduced);
    index_related(*related);
  }
  for (const core::ObjectKey& key : known_keys()) {
    callbacks_.wake({key, runtime::Reason::startup, "", false, ""});
  }
  wake_left();
}

std::vector<core::ObjectKey> RuleCaches::known_keys() const {
  if (!rule_.has_for) return {kNoObject};
  std::vector<core::ObjectKey> keys = for_.group.keys();
  for (core::ObjectKey& key : for_.group.keys_outside()) {
    if (is_guarded_outside(key)) keys.push_back(std::move(key));
  }
  for (const StreamGroup* guard : {&for_.guard, &for_.left}) {
    for (const core::ObjectKey& key : guard->keys()) {
      if (is_guarded_outside(key)) keys.push_back(key);
    }
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

std::optional<runtime::StoredObject> RuleCaches::object(const core::ObjectKey& key) const {
  if (!rule_.has_for) return runtime::StoredObject{};
  return for_.group.get(key);
}

bool RuleCaches::has_object(const core::ObjectKey& key, std::optional<std::string_view> uid) const {
  if (!rule_.has_for) return !uid || uid->empty();
  return for_.group.contains(key, uid);
}

std::optional<core::ObjectMeta> RuleCaches::object_meta(const core::ObjectKey& key) const {
  if (!rule_.has_for) return core::ObjectMeta{};
  return for_.group.get_meta(key);
}

std::optional<core::ObjectMeta> RuleCaches::meta_outside(const core::ObjectKey& key) const {
  if (for_.left.covers(key.namespace_)) return for_.left.get_meta(key);
  return for_.needs_guard ? for_.guard.get_meta(key) : for_.group.get_meta_outside(key);
}

bool RuleCaches::is_guarded_outside(const core::ObjectKey& key) const {
  if (for_.group.contains(key)) return false;
  const auto meta = meta_outside(key);
  return meta && meta->has_finalizer(rule_.finalizer_name);
}

bool RuleCaches::is_on_its_way(const core::ObjectMeta& meta, const Json& live) const {
  const StreamRule& stream = rule_.for_;
  const std::string& in = meta.namespace_;
  if (!for_.group.covers(in) || !for_.group.includes(in)) return false;
  if (!stream.label_selector.matches(meta.labels) || !stream.field_selector.matches(live)) {
    return false;
  }
  // A watch that has come past it and does not show it selects by more than can be seen here.
  const std::string seen = for_.group.resource_version_in(in);
  return core::older_version(seen, meta.resource_version);
}

std::optional<core::ObjectMeta> RuleCaches::guarded_meta(const core::ObjectKey& key) const {
  if (!is_guarded_outside(key)) return std::nullopt;
  return meta_outside(key);
}

// Every object in an `owns` stream carries the controller's label; without an owner it must carry
// no owner's.
std::vector<core::ObjectKey> RuleCaches::children_of(const StreamGroup& group,
                                                     const std::string& owner_uid) const {
  if (!owner_uid.empty()) return group.keys_with_label(std::string(kOwnerUidLabel), owner_uid);
  std::vector<core::ObjectKey> out;
  for (core::ObjectKey& key : group.keys()) {
    const auto meta = group.get_meta(key);
    if (meta && is_child_of(*meta, rule_.name, "")) out.push_back(std::move(key));
  }
  return out;
}

// Entries may overlap, as of one kind in several namespaces: each child is told once.
std::vector<InputList> RuleCaches::owned(const std::string& owner_uid,
                                         const std::string& owner_namespace) const {
  std::vector<InputList> out;
  std::set<std::string> told;
  for (const auto& owned : owned_) {
    InputList list{"", owned->type.gvk};
    list.absent = owned->absent;
    list.resource_version = owned->group.resource_version();
    std::vector<const StreamGroup*> groups = {&owned->group};
    if (const auto left = owned->left.find(owner_namespace); left != owned->left.end()) {
      groups.push_back(&left->second);
      const std::string version = left->second.resource_version();
      if (core::at_least_version(list.resource_version, version)) list.resource_version = version;
      if (!left->second.ready()) {
        list.lack = {fmt::format("the {} in namespace {}, which the rule does not name any more, "
                                 "cannot be listed",
                                 owned->type.plural, owner_namespace),
                     owned->place + "/kind"};
      }
    }
    for (const StreamGroup* group : groups) {
      for (const core::ObjectKey& key : children_of(*group, owner_uid)) {
        auto object = group->get(key);
        if (!object || told.contains(object->meta.uid)) continue;
        const std::string uid = object->meta.uid;
        if (add_to(list, owned->rule->stream, owned->place, std::move(*object))) told.insert(uid);
      }
    }
    out.push_back(std::move(list));
  }
  return out;
}

std::vector<core::ObjectKey> RuleCaches::related_keys(const Related& related,
                                                      const core::ObjectKey& key) {
  if (related.rule->map_all) return related.group.keys();
  return related.rule->refs ? related.relations.targets_of(key) : related.relations.sources_of(key);
}

// An object on which `map` fails may belong to any of ours.
std::string RuleCaches::relation_failure(const Related& related, const core::ObjectKey& key) {
  return related.rule->refs ? related.relations.failure_of(key) : related.relations.any_failure();
}

std::optional<Lack> RuleCaches::lack_of(const Related& related, const core::ObjectKey& key) {
  std::string why = relation_failure(related, key);
  if (why.empty()) return std::nullopt;
  return Lack{std::move(why), related.place + (related.rule->refs ? "/refs" : "/map")};
}

std::vector<InputList> RuleCaches::related(const core::ObjectKey& key,
                                           const std::optional<Unindexed>& unindexed) const {
  std::vector<InputList> out;
  for (const auto& related : related_) {
    InputList list{related->rule->name, related->type.gvk};
    list.absent = related->absent;
    list.resource_version = related->group.resource_version();
    std::vector<core::ObjectKey> keys;
    if (unindexed && related->rule->refs) {
      auto targets = refs_of(*related, key, unindexed->json);
      if (targets.ok()) {
        keys = std::move(*targets);
      } else if (!unindexed->gone) {
        list.lack = {targets.error().render(), related->place + "/refs"};
      }
    } else {
      list.lack = lack_of(*related, key);
      keys = related_keys(*related, key);
    }
    for (const core::ObjectKey& other : keys) {
      if (auto object = related->group.get(other)) {
        add_to(list, related->rule->stream, related->place, std::move(*object));
      }
    }
    out.push_back(std::move(list));
  }
  return out;
}

std::optional<core::ObjectMeta> RuleCaches::cached_child(const ChildId& id) const {
  for (const auto& owned : owned_) {
    if (owned->type.gvk.group != id.group || owned->type.gvk.kind != id.kind) continue;
    if (auto meta = owned->group.get_meta(id.key)) return meta;
  }
  return std::nullopt;
}

std::string RuleCaches::applied_at(const ChildId& id, const std::string& manager) const {
  for (const auto& owned : owned_) {
    if (owned->type.gvk.group != id.group || owned->type.gvk.kind != id.kind) continue;
    const auto child = owned->group.get(id.key);
    if (!child) continue;
    for (const runtime::FieldManager& entry : child->managers()) {
      const bool applies = entry.operation == "Apply" && entry.subresource.empty();
      if (applies && entry.manager == manager) return entry.time;
    }
  }
  return "";
}

Result<bool> RuleCaches::resolve_writes(const client::ResourceMap& resources) {
  std::vector<const WritesRule*> missing;
  std::optional<Error> unknown;
  for (const WritesRule* writes : missing_writes_) {
    if (auto type = find_type(resources, writes->gvk); type.ok()) {
      writes_.emplace_back(std::move(*type), writes->namespaces);
      continue;
    }
    missing.push_back(writes);
    for (const std::string& group : resources.failed_groups) {
      if (client::ResourceMap::is_of_group(group, writes->gvk.group)) {
        unknown = Error(ErrorKind::unavailable,
                        fmt::format("cannot tell whether children of kind {} are left: discovery "
                                    "failed: {}",
                                    writes->gvk.str(), group));
      }
    }
  }
  missing_writes_ = std::move(missing);
  if (unknown) return std::move(*unknown);
  return missing_writes_.empty();
}

bool RuleCaches::watches(const Owned& owned, const ChildId& id) {
  return owned.type.gvk.group == id.group && owned.type.gvk.kind == id.kind &&
         owned.rule->stream.label_selector.empty() && owned.rule->stream.field_selector.empty() &&
         owned.group.covers(id.key.namespace_);
}

std::vector<CacheView> RuleCaches::views_of(
    const ChildId& id, const std::vector<std::pair<std::string, std::string>>& labels) const {
  std::vector<CacheView> out;
  const std::string& in = id.key.namespace_;
  const auto is_of = [&](const core::Gvk& gvk) {
    return gvk.group == id.group && gvk.kind == id.kind;
  };
  const auto add = [&](const StreamGroup& group) {
    out.push_back({group.get_meta(id.key), group.resource_version_in(in)});
  };
  if (rule_.has_for && is_of(for_.type.gvk) && for_.group.contains(id.key)) add(for_.group);
  const std::pair<std::string, std::string> ours{kControllerLabel, rule_.name};
  const bool is_child = std::find(labels.begin(), labels.end(), ours) != labels.end();
  for (const auto& owned : owned_) {
    if (is_child && watches(*owned, id)) add(owned->group);
  }
  for (const auto& related : related_) {
    const StreamRule& stream = related->rule->stream;
    if (is_of(related->type.gvk) && stream.field_selector.empty() &&
        stream.label_selector.matches(labels) && related->group.covers(in) &&
        related->group.includes(in)) {
      add(related->group);
    }
  }
  return out;
}

bool RuleCaches::deletion_wakes(const ChildId& id, const std::string& object_json) const {
  return std::any_of(owned_.begin(), owned_.end(), [&](const auto& owned) {
    if (!watches(*owned, id) || !owned->rule->on_delete) return false;
    const auto passed = passes(owned->rule->stream.filter, object_json);
    return passed.ok() && *passed;
  });
}

std::vector<FoundChild> RuleCaches::cached_children(const std::string& owner_uid) const {
  std::vector<FoundChild> out;
  for (const auto& owned : owned_) {
    for (const core::ObjectKey& key : children_of(owned->group, owner_uid)) {
      if (auto meta = owned->group.get_meta(key)) out.push_back({owned->type, std::move(*meta)});
    }
  }
  return out;
}

// `writes` kinds, and `owns` kinds whose streams select or do not watch where the owner is: their
// other children are found by a LIST.
std::vector<WriteContext::Unwatched> RuleCaches::unwatched_places(const Owner& owner, bool stale,
                                                                  bool referring_too) const {
  std::vector<WriteContext::Unwatched> out;
  auto add = [&](const core::ResourceType& type, const std::vector<std::string>& namespaces) {
    if (!type.namespaced) return out.push_back({type, ""});
    std::set<std::string> names(namespaces.begin(), namespaces.end());
    if (owner.namespaced) names.insert(owner.key.namespace_);
    if (names.empty()) return out.push_back({type, ""});
    for (const std::string& name : names) out.push_back({type, name});
  };
  for (const auto& [type, namespaces] : writes_) add(type, namespaces);
  for (const auto& owned : owned_) {
    if (owned->absent) continue;
    const StreamRule& stream = owned->rule->stream;
    const bool selects = !stream.label_selector.empty() || !stream.field_selector.empty();
    const std::size_t before = out.size();
    if (!stream.namespace_selector.empty()) {
      out.push_back({owned->type, ""});
    } else {
      add(owned->type, stream.namespaces);
    }
    if (selects) continue;
    const auto is_known = [&](const WriteContext::Unwatched& place) {
      return (!stale && owned->group.covers(place.namespace_)) ||
             (!referring_too &&
              !needs_finalizer(owner, rule_.apply.owner_reference, place.namespace_));
    };
    out.erase(
        std::remove_if(out.begin() + static_cast<std::ptrdiff_t>(before), out.end(), is_known),
        out.end());
  }
  return out;
}

HeldStreams RuleCaches::hold_objects(StreamPool& pool, const OnChange& on_change) const {
  HeldStreams out(pool);
  if (for_.selection) {
    // A namespace that goes together with its objects was selected all the same.
    const auto tell = [names = for_.selection->names(),
                       on_change](const runtime::StoreChange& change) {
      if (names.contains(change.meta.namespace_)) on_change(change);
    };
    out.add(for_.group.streams(), tell);
  } else {
    out.add(for_.group.streams(), on_change);
  }
  out.add(for_.guard.streams(), [](const runtime::StoreChange&) {});
  return out;
}

std::vector<RuleCaches::CachedKind> RuleCaches::cached_kinds() const {
  const auto selects = [](const StreamRule& stream) {
    return !stream.label_selector.empty() || !stream.field_selector.empty() ||
           !stream.namespace_selector.empty() || !stream.shard_selector.empty();
  };
  std::vector<CachedKind> out;
  if (rule_.has_for) {
    out.push_back({for_.type, rule_.for_, for_.group, !selects(rule_.for_)});
  }
  // Of owned kinds only this controller's children are watched.
  for (const auto& owned : owned_) {
    if (!owned->absent) out.push_back({owned->type, owned->rule->stream, owned->group, false});
  }
  for (const auto& related : related_) {
    const StreamRule& stream = related->rule->stream;
    if (!related->absent) out.push_back({related->type, stream, related->group, !selects(stream)});
  }
  return out;
}

std::vector<core::ResourceType> RuleCaches::writable_kinds() const {
  std::vector<core::ResourceType> out;
  if (rule_.has_for) out.push_back(for_.type);
  for (const auto& owned : owned_) {
    if (!owned->absent) out.push_back(owned->type);
  }
  for (const auto& [type, namespaces] : writes_) out.push_back(type);
  return out;
}

}  // namespace kubewatch::hooks
