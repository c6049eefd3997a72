// Finding and deleting unwanted children.
#include "hooks/pruner.hpp"

#include "base/json.hpp"
#include "hooks/secret_refusal.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMaxPrunedNames = 50;
constexpr std::uint32_t kChildrenPage = 500;
constexpr std::size_t kMaxConflicts = 20;

std::string selector_for(const Rule& rule, const std::string& owner_uid) {
  const std::string ours = std::string(kControllerLabel) + "=" + rule.name + ",";
  if (owner_uid.empty()) return ours + "!" + std::string(kOwnerUidLabel);
  return ours + std::string(kOwnerUidLabel) + "=" + owner_uid;
}

}  // namespace

bool is_prunable(const Json& object, const core::ObjectMeta& meta, const Rule& rule,
                 const Owner& owner, PruneMode mode) {
  if (!is_child_of(meta, rule.name, owner.uid)) return false;
  if (meta.deleting() || prune_disabled(meta)) return false;
  switch (mode) {
    case PruneMode::unprinted: return applied_by(object, rule.apply.field_manager);
    case PruneMode::all: return managed_by(object, rule.apply.field_manager);
    case PruneMode::unreferenced:
      return !references_owner(meta, owner.uid) && managed_by(object, rule.apply.field_manager);
  }
  return false;
}

Pruner::Pruner(WriteContext& context, Owner owner) : context_(context), owner_(std::move(owner)) {}

void Pruner::start(PruneMode mode, const std::vector<ChildId>& keep,
                   const std::vector<Child>& guarded, Done done) {
  mode_ = mode;
  keep_ = {keep.begin(), keep.end()};
  candidates_ = {guarded.begin(), guarded.end()};
  done_ = std::move(done);
  // What is missed now is missed for ever: with its finalizer off, nothing ties them to the owner.
  all_ = finalizing_ && context_.may_follow_another(owner_);
  // What refers is the garbage collector's, but where it is to go before the owner does.
  referring_too_ = finalizing_ && mode == PruneMode::all;
  if (context_.memory().is_listed(owner_.uid, all_, referring_too_)) return list_next();
  context_.with_unwatched_places(
      owner_, all_, referring_too_, [this, alive = std::weak_ptr<char>(alive_)](auto places) {
        if (alive.expired()) return;
        if (!places.ok()) {
          fail(std::move(places).error(), "looking for children of " + owner_.str());
        } else {
          places_ = {places->begin(), places->end()};
        }
        list_next();
      });
}

void Pruner::clean_up(PruneMode mode, const std::optional<Dying>& dying, Done done) {
  finalizing_ = true;
  dying_ = dying;
  start(mode, {}, {}, std::move(done));
}

void Pruner::list_next() {
  if (places_.empty()) {
    if (report_.failures.empty()) context_.memory().set_listed(owner_.uid, all_, referring_too_);
    return collect();
  }
  const WriteContext::Unwatched place = std::move(places_.front());
  places_.pop_front();
  list_page(place, "");
}

void Pruner::list_page(const WriteContext::Unwatched& place, std::string continue_token) {
  core::ListParams params;
  params.label_selector = selector_for(context_.rule(), owner_.uid);
  params.limit = kChildrenPage;
  params.continue_token = std::move(continue_token);
  requests_.run<Result<client::ListResult>>(
      [this, place](Result<client::ListResult> answer) {
        if (!answer.ok()) {
          // A kind whose CRD is gone has no children left.
          if (!answer.error().is_not_found()) {
            fail(std::move(answer.error()), "listing children of kind " + place.type.gvk.kind);
          }
          return list_next();
        }
        for (const std::string& item : answer->items) {
          auto meta = core::parse_meta(item);
          if (!meta.ok()) {
            fail(std::move(meta).error(), "reading a child of kind " + place.type.gvk.kind);
            continue;
          }
          const ChildId id = child_id(place.type.gvk, meta->key());
          if (context_.memory().find(owner_.uid, id) == nullptr) {
            context_.memory().remember(owner_.uid, id, {place.type, 0, meta->resource_version});
          }
        }
        if (answer->page.continue_token.empty()) return list_next();
        list_page(place, answer->page.continue_token);
      },
      [&](auto done) {
        return context_.client().list(place.type, place.namespace_, params, std::move(done));
      });
}

void Pruner::collect() {
  std::map<ChildId, core::ResourceType> found;
  for (const FoundChild& child : context_.cached_children(owner_.uid)) {
    found.emplace(child_id(child.type.gvk, child.meta.key()), child.type);
  }
  for (const auto& [id, known] : context_.memory().children(owner_.uid))
    found.emplace(id, known.type);
  for (const auto& [id, type] : found) {
    if (keep_.count(id) == 0) candidates_.emplace_back(id, type);
  }
  dying_ ? look_at_references() : check_next();
}

// Where nothing was said to be kept, first only at those that seem to have lost theirs.
void Pruner::look_at_references() {
  std::set<ChildId> refer;
  if (!dying_->unsure) {
    for (const FoundChild& child : context_.cached_children(owner_.uid)) {
      if (references_owner(child.meta, owner_.uid)) {
        refer.insert(child_id(child.type.gvk, child.meta.key()));
      }
    }
  }
  const OwnerRef mode = context_.rule().apply.owner_reference;
  for (const auto& [id, type] : candidates_) {
    if (needs_finalizer(owner_, mode, id.key.namespace_)) continue;
    (refer.count(id) > 0 ? seem_to_refer_ : looks_).emplace_back(id, type);
  }
  look_next();
}

// The garbage collector takes the references of all children or of none: one that still refers says
// that nothing was to stay, or that it was taken back.
void Pruner::look_next() {
  if (looks_.empty() && lost()) looks_.swap(seem_to_refer_);
  if (refers_ || looks_.empty()) {
    report_.orphaned = (lost() || dying_->unsure) && !refers_;
    return report_.orphaned ? finish() : check_next();
  }
  const auto look = std::move(looks_.front());
  looks_.pop_front();
  requests_.run<Result<Json>>(
      [this, id = look.first](const Result<Json>& answer) { looked_at(id, answer); },
      [&](client::ObjectCallback done) {
        return context_.client().get(look.second, look.first.key, std::move(done));
      });
}

void Pruner::looked_at(const ChildId& id, const Result<Json>& answer) {
  if (!answer.ok()) {
    if (answer.error().is_not_found()) return look_next();
    fail(answer.error(), "reading " + id.str());
    return finish();
  }
  const core::ObjectMeta meta = core::meta_of(*answer);
  const Rule& rule = context_.rule();
  if (is_child_of(meta, rule.name, owner_.uid)) {
    const bool refers = references_owner(meta, owner_.uid);
    refers_ = refers_ || refers;
    // What is written for a dying owner has none from the start. Of what was applied before, the
    // garbage collector took it off, for the child is to stay. What was created once says so only
    // where no other child can: it may have been made without, and no run gives it one later.
    const std::string& manager = rule.apply.field_manager;
    const bool applied = applied_by(*answer, manager);
    const bool gone = !refers && written_before(*answer, manager, dying_->since);
    applied_seen_ = applied_seen_ || applied;
    lost_ = lost_ || (applied && gone);
    lost_created_ = lost_created_ || (!applied && gone);
  }
  look_next();
}

void Pruner::finish() {
  const auto done = std::move(done_);
  done(std::move(report_));
}

void Pruner::check_next() {
  if (candidates_.empty()) return finish();
  const ChildId id = candidates_.front().first;
  const core::ResourceType type = candidates_.front().second;
  requests_.run<Result<Json>>(
      [this, id, type](Result<Json> answer) {
        if (!answer.ok()) {
          candidates_.pop_front();
          if (answer.error().is_not_found()) {
            context_.memory().forget_child(owner_.uid, id);
          } else {
            fail(std::move(answer.error()), "reading " + id.str());
          }
          return check_next();
        }
        const core::ObjectMeta meta = core::meta_of(*answer);
        const bool kept = keep_.count(id) > 0;
        if (!kept && is_prunable(*answer, meta, context_.rule(), owner_, mode_)) {
          return remove(type, meta);
        }
        const KnownChild* known = context_.memory().find(owner_.uid, id);
        if (known != nullptr && known->guess &&
            !is_child_of(meta, context_.rule().name, owner_.uid)) {
          context_.memory().forget_child(owner_.uid, id);
        }
        // It stays now, but Kubernetes will not remove it with its owner: that is left to us.
        if (is_prunable(*answer, meta, context_.rule(), owner_, PruneMode::unreferenced)) {
          report_.needs_guard = true;
        }
        candidates_.pop_front();
        check_next();
      },
      [&](client::ObjectCallback done) {
        return context_.client().get(type, id.key, std::move(done));
      });
}

void Pruner::remove(const core::ResourceType& type, const core::ObjectMeta& meta) {
  core::DeleteParams params;
  params.propagation = core::Propagation::background;
  params.uid = meta.uid;
  params.resource_version = meta.resource_version;
  const ChildId id = candidates_.front().first;
  requests_.run<Result<Json>>(
      [this, id, meta, gvk = type.gvk](Result<Json> answer) {
        // It changed since it was read: read it again.
        if (!answer.ok() && answer.error().is_conflict() && ++conflicts_ < kMaxConflicts) {
          return check_next();
        }
        candidates_.pop_front();
        if (!answer.ok() && !answer.error().is_not_found()) {
          fail(without_secret_values(std::move(answer.error()), gvk), "deleting " + id.str());
        } else {
          if (answer.ok()) context_.expect_gone(owner_, id, meta, core::meta_of(*answer));
          context_.memory().forget_child(owner_.uid, id);
          ++report_.deleted;
          if (report_.names.size() < kMaxPrunedNames) report_.names.push_back(id.str());
        }
        check_next();
      },
      [&](client::ObjectCallback done) {
        return context_.client().remove(type, id.key, params, std::move(done));
      });
}

void Pruner::fail(Error error, const std::string& what) {
  report_.failures.push_back(std::move(error).with_context(what));
}

}  // namespace kubewatch::hooks
