// RuleCaches, the part that opens streams, and namespaces that join and leave them.
#include <algorithm>
#include <array>

#include "hooks/caches.hpp"

namespace kubewatch::hooks {
namespace {

std::string joined(const std::string& selector, const std::string& further) {
  return selector.empty() || further.empty() ? selector + further : selector + "," + further;
}

StreamSpec spec_of(const StreamRule& rule, const core::ResourceType& type) {
  StreamSpec spec;
  spec.type = type;
  spec.label_selector = joined(rule.label_selector.str(), rule.shard_selector);
  spec.field_selector = rule.field_selector.str();
  spec.strip = rule.strip;
  spec.list = rule.list;
  return spec;
}

}  // namespace

void RuleCaches::open_selection(StreamPool& pool, const StreamRule& rule, Selection& out,
                                std::function<void(const std::string&)> joined_in,
                                std::function<void(const std::string&)> left) {
  if (rule.namespace_selector.empty()) return;
  out = std::make_unique<NamespaceSelection>();
  out->open(pool, namespace_type_, rule.namespace_selector,
            {std::move(joined_in), std::move(left), [this] { callbacks_.on_ready(); }});
}

void RuleCaches::open_for(StreamPool& pool) {
  const auto ready = [this] { callbacks_.on_ready(); };
  open_selection(
      pool, rule_.for_, for_.selection,
      [this](const std::string& name) { on_namespace_joined(name); },
      [this](const std::string& name) { on_namespace_left(name); });
  if (for_.selection) {
    for_.group.restrict_to([this](const std::string& name) { return for_.selection->has(name); });
  }
  for_.group.open(pool, spec_of(rule_.for_, for_.type), rule_.for_.namespaces,
                  {[this](const runtime::StoreChange& change) { on_object(change); }, ready});
  if (!for_.needs_guard) return;
  for_.guard.open(pool, guard_spec(), rule_.for_.namespaces,
                  {[this](const runtime::StoreChange& change) { on_guarded(change); }, ready});
}

StreamSpec RuleCaches::guard_spec() const {
  StreamSpec spec = spec_of(rule_.for_, for_.type);
  spec.label_selector = rule_.for_.shard_selector;
  spec.field_selector.clear();
  spec.list.content = core::Content::metadata;
  return spec;
}

void RuleCaches::open_left(StreamPool& pool, const std::vector<std::string>& namespaces) {
  StreamSpec spec = guard_spec();
  spec.needed = false;
  left_waits_ = true;
  for (auto& owned : owned_) {
    for (const std::string& name : namespaces) open_left_children(pool, *owned, name);
  }
  for_.left.open(pool, spec, namespaces,
                 {[this](const runtime::StoreChange& change) { on_guarded(change); },
                  [this] {
                    wake_left();
                    callbacks_.on_ready();
                  }});
  wake_left();  // another rule may have the stream open already
}

void RuleCaches::wake_left() {
  if (!built_ || !left_waits_ || !for_.left.ready()) return;
  left_waits_ = false;
  for (const core::ObjectKey& key : for_.left.keys()) {
    if (is_guarded_outside(key)) callbacks_.wake({key, runtime::Reason::updated, "", false, ""});
  }
}

// Children in a namespace that is not selected any more are still children: the hook stops to print
// them, and prune has to find them.
void RuleCaches::open_owned(StreamPool& pool, Owned& owned) {
  const auto ignore = [](const std::string&) {};
  open_selection(pool, owned.rule->stream, owned.selection, ignore, ignore);
  owned.group.open(pool, owned_spec(owned), owns_namespaces(*owned.rule, owned.type.namespaced),
                   {[this, &owned](const runtime::StoreChange& change) { on_owned(owned, change); },
                    [this] { callbacks_.on_ready(); }});
}

// Every child carries our label, so nothing else needs to be kept.
StreamSpec RuleCaches::owned_spec(const Owned& owned) const {
  StreamSpec spec = spec_of(owned.rule->stream, owned.type);
  spec.label_selector =
      joined(spec.label_selector, std::string(kControllerLabel) + "=" + rule_.name);
  return spec;
}

// Without a hook that is given them nobody needs more than the list of the pruner.
void RuleCaches::open_left_children(StreamPool& pool, Owned& owned, const std::string& namespace_) {
  if (!rule_.finalize || owned.absent || owned.group.covers(namespace_)) return;
  StreamSpec spec = owned_spec(owned);
  spec.needed = false;
  owned.left[namespace_].open(
      pool, spec, {namespace_},
      {[this, &owned](const runtime::StoreChange& change) { on_owned(owned, change); },
       [this, namespace_] {
         on_left_children(namespace_);
         callbacks_.on_ready();
       }});
}

bool RuleCaches::lists_children_left(const std::string& namespace_) const {
  return std::any_of(owned_.begin(), owned_.end(), [&](const auto& owned) {
    const auto left = owned->left.find(namespace_);
    return left != owned->left.end() && !left->second.ready() && !left->second.blocked() &&
           !left->second.stalled();
  });
}

bool RuleCaches::cleanup_waits_for_children() const {
  const auto finalizes = [this](const core::ObjectKey& key) {
    const auto meta = guarded_meta(key);
    return meta && (meta->deleting() || rule_.when_no_longer_matched == WhenUnmatched::finalize);
  };
  return std::ranges::any_of(owned_, [&](const auto& owned) {
    return std::ranges::any_of(owned->left, [&](const auto& left) {
      return lists_children_left(left.first) &&
             std::ranges::any_of(for_.left.keys_in(left.first), finalizes);
    });
  });
}

// Listed, or they may not be, which is to be told.
void RuleCaches::on_left_children(const std::string& namespace_) {
  if (!built_ || lists_children_left(namespace_)) return;
  for (const core::ObjectKey& key : for_.left.keys_in(namespace_)) {
    if (is_guarded_outside(key)) callbacks_.wake({key, runtime::Reason::updated, "", false, ""});
  }
}

void RuleCaches::open_related(StreamPool& pool, Related& related) {
  const StreamRule& stream = related.rule->stream;
  open_selection(
      pool, stream, related.selection,
      [this, &related](const std::string& name) { on_related_namespace(related, name, true); },
      [this, &related](const std::string& name) { on_related_namespace(related, name, false); });
  if (related.selection) {
    related.group.restrict_to(
        [&related](const std::string& name) { return related.selection->has(name); });
  }
  related.group.open(
      pool, spec_of(stream, related.type), stream.namespaces,
      {[this, &related](const runtime::StoreChange& change) { on_related(related, change); },
       [this] { callbacks_.on_ready(); }});
}

void RuleCaches::open(StreamPool& pool) {
  if (rule_.has_for) open_for(pool);
  for (auto& owned : owned_) {
    if (!owned->absent) open_owned(pool, *owned);
  }
  for (auto& related : related_) {
    if (!related->absent) open_related(pool, *related);
  }
  opened_ = true;
}

bool RuleCaches::ready() const {
  const auto is_ready = [](const auto& kind) {
    return kind.group.ready() && (!kind.selection || kind.selection->ready());
  };
  const auto entry_is_ready = [&](const auto& entry) { return is_ready(*entry); };
  return opened_ && is_ready(for_) && (!for_.needs_guard || for_.guard.ready()) &&
         std::all_of(owned_.begin(), owned_.end(), entry_is_ready) &&
         std::all_of(related_.begin(), related_.end(), entry_is_ready);
}

bool RuleCaches::any_group(bool (StreamGroup::*is)() const) const {
  const auto has = [is](const auto& kind) {
    return (kind.group.*is)() || (kind.selection && (kind.selection->namespaces().*is)());
  };
  const auto entry_has = [&](const auto& entry) { return has(*entry); };
  return has(for_) || (for_.guard.*is)() || std::any_of(owned_.begin(), owned_.end(), entry_has) ||
         std::any_of(related_.begin(), related_.end(), entry_has);
}

bool RuleCaches::blocked() const {
  return any_group(&StreamGroup::blocked);
}

bool RuleCaches::stalled() const {
  return any_group(&StreamGroup::stalled);
}

bool RuleCaches::left_awaited() const {
  return std::ranges::any_of(for_.left.streams(), [](const auto& stream) {
    return !stream->ready() && !stream->blocked() && !stream->stalled();
  });
}

std::vector<WatchFacts> RuleCaches::left_unread() const {
  std::vector<WatchFacts> out;
  for (const auto& stream : for_.left.streams()) {
    if (stream->stalled() && !stream->blocked()) out.push_back(stream->facts());
  }
  return out;
}

std::vector<WatchFacts> RuleCaches::watches() const {
  std::vector<const Stream*> streams;
  const auto add = [&](const StreamGroup& group) {
    for (const auto& stream : group.streams()) {
      // Two entries of the rule may share it.
      const bool known = std::find(streams.begin(), streams.end(), stream.get()) != streams.end();
      if (!known) streams.push_back(stream.get());
    }
  };
  const auto add_entry = [&](const auto& entry) {
    add(entry.group);
    if (entry.selection) add(entry.selection->namespaces());
  };
  add_entry(for_);
  add(for_.guard);
  for (const auto& owned : owned_) add_entry(*owned);
  for (const auto& related : related_) add_entry(*related);
  std::vector<WatchFacts> out;
  for (const Stream* stream : streams) out.push_back(stream->facts());
  return out;
}

bool RuleCaches::selects_namespace(const StreamRule& stream, const std::string& name) const {
  return std::any_of(owned_.begin(), owned_.end(), [&](const auto& owned) {
    return &owned->rule->stream == &stream && owned->selection && owned->selection->has(name);
  });
}

void RuleCaches::on_namespace_joined(const std::string& name) {
  if (!built_) return;
  for (const core::ObjectKey& key : for_.group.keys_in(name)) {
    const auto object = for_.group.get(key);
    if (!object) continue;
    index_object(*object);
    callbacks_.wake({key, runtime::Reason::created, "", false, ""});
  }
}

// With our finalizer on it whenNoLongerMatched decides. A namespace that is deleted is told like
// one that has lost its labels, perhaps before its objects are: whoever tells of deletions has to
// look.
void RuleCaches::on_namespace_left(const std::string& name) {
  if (!built_) return;
  for (const core::ObjectKey& key : for_.group.keys_in(name)) {
    const auto meta = for_.group.get_meta_outside(key);
    if (!meta) continue;
    forget_relations(*meta);
    if (meta->has_finalizer(rule_.finalizer_name)) {
      callbacks_.wake({key, runtime::Reason::updated, "", false, ""});
    } else if (const auto last = rule_.on_delete ? for_.group.get_anywhere(key) : std::nullopt) {
      callbacks_.gone(*last, how_gone(*last) == Gone::left ? Gone::left : Gone::deleted_or_left);
    } else {
      callbacks_.gone({*meta, ""}, Gone::left);
    }
  }
}

void RuleCaches::on_related_namespace(Related& related, const std::string& name, bool joined_in) {
  for (const core::ObjectKey& key : related.group.keys_in(name)) {
    const auto object = related.group.get_anywhere(key);
    if (!object) continue;
    runtime::StoreChange change;
    change.type = joined_in ? runtime::ChangeType::added : runtime::ChangeType::deleted;
    change.meta = object->meta;
    change.json = object->json;
    change.reduced = object->reduced;
    take_related(related, change);
  }
}

}  // namespace kubewatch::hooks
