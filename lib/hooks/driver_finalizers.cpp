// Driver, the part for the rule's finalizer: putting it on an object, taking it off, and what the
// cache does not show of that yet.
#include <utility>

#include "base/json.hpp"
#include "hooks/driver.hpp"
#include "hooks/finalizer_patch.hpp"
#include "hooks/run_requests.hpp"

namespace kubewatch::hooks {

void Driver::look_at_dying(const runtime::Work& work, const std::string& uid, bool matched,
                           const Done& done) {
  get_live(work.key, [this, work, uid, matched, done](Result<Json> answer) {
    if (!answer.ok() && !answer.error().is_not_found()) {
      return fail_early(work, last_of(work.key, uid).meta, answer.error(), done);
    }
    const core::ObjectMeta meta = answer.ok() ? core::meta_of(*answer) : core::ObjectMeta();
    // Its event comes some time, and ends it here.
    if (meta.uid != uid || !meta.has_finalizer(rule_.finalizer_name)) {
      return done(runtime::RunOutcome::done());
    }
    patched_.forget(work.key);
    proceed(work, {meta, base::dump_json(*answer)}, matched, done);
  });
}

void Driver::patch_finalizer(const runtime::Work& work, const runtime::StoredObject& of, bool add,
                             const Done& done) {
  const core::ObjectMeta& meta = of.meta;
  const Owner owner{owner_type().gvk, owner_type().namespaced, meta.key(), meta.uid,
                    meta.deleting()};
  if (add) state_.know(meta.key(), meta.uid);  // no run may follow here
  const client::RequestScope inside(services_.client.observers(),
                                    std::make_shared<RunRequests>(base::LogFields{
                                        {"controller", rule_.name}, {"object", owner.str()}}));
  change_finalizer(
      services_.client, requests_,
      {owner_type(), meta, rule_.finalizer_name, rule_.apply.field_manager, add},
      [this, work, meta, add, owner, done, json = of.json](Result<ChangedMeta> changed) {
        const client::RequestScope outside(services_.client.observers(), nullptr);
        if (changed.ok()) {
          if (!add) forget_left(work.key);
          if (!changed->has_value()) return done(runtime::RunOutcome::done());
          if (add) notes_.keep_reason(work);
          notes_.settle(work.key);
          lacking_.forget(work.key);
          // A server that was only asked: no event of it will come.
          auto object = add && (*changed)->resource_version == meta.resource_version
                            ? caches_.object(work.key)
                            : std::nullopt;
          if (object && object->meta.uid == meta.uid &&
              (*changed)->has_finalizer(rule_.finalizer_name)) {
            object->meta = **changed;
            return start_run(work, std::move(*object), false, done);
          }
          finalizer_patched(owner, (*changed)->resource_version);
          return done(runtime::RunOutcome::done());
        }
        Error error = std::move(changed.error());
        error.add_context(std::string(add ? "adding" : "removing") + " finalizer " +
                          rule_.finalizer_name);
        // Admission, and a proxy, may quote of it what they like.
        SecretMask mask;
        mask.add_json(json);
        error = Error(error.kind(), mask.mask_message(error.render()));
        if (left_namespaces_.is_refused(work.key, error)) return done(runtime::RunOutcome::done());
        fail_finalizer(work, meta, add, error, done);
      });
}

// The status of an object that has left the selection is not the rule's to write: of a finalizer
// that cannot be taken off there an Event tells alone.
void Driver::fail_finalizer(const runtime::Work& work, const core::ObjectMeta& meta, bool add,
                            const Error& error, const Done& done) {
  const auto fail = [this, work, meta, error, done] {
    fail_early(work, meta, error, done, Outcome::write_failed);
  };
  if (!add || !is_permanent_write_error(error)) return fail();
  tell_in_condition(work.key, meta, kWriteFailedReason, error.render(), fail);
}

void Driver::tell_in_condition(const core::ObjectKey& key, const core::ObjectMeta& meta,
                               std::string_view reason, const std::string& why,
                               std::function<void()> then) {
  memory_.begin_run(meta.uid);
  const auto condition = std::make_shared<OwnerCondition>(*this, owner_of(key, meta), meta);
  conditions_[key] = condition;
  condition->tell(reason, why, [this, key, uid = meta.uid, then = std::move(then)](bool) {
    // It is on the stack below us: it goes in the next turn.
    auto node = conditions_.extract(key);
    services_.loop.post([told = std::move(node.mapped())] {});
    memory_.end_run(uid, !caches_.has_object(key, uid));
    then();
  });
}

void Driver::finalizer_patched(const Owner& owner, const std::string& resource_version) {
  if (resource_version.empty()) return;
  const auto shown = caches_.object_meta(owner.key);
  if (!shown || shown->uid != owner.uid) return;
  if (!patched_.note(*shown, resource_version, owner.deleting, services_.loop.now())) return;
  core::ObjectMeta left = *shown;
  left.resource_version = resource_version;
  expect(owner, child_id(owner.gvk, owner.key), left);
}

}  // namespace kubewatch::hooks
