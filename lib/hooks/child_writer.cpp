// One child at a time, asynchronously.
#include "hooks/child_writer.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "client/apply_result.hpp"
#include "core/status.hpp"
#include "hooks/immutable_refusal.hpp"
#include "hooks/secret_refusal.hpp"
#include "hooks/shown_message.hpp"
#include "schema/crd_check.hpp"

namespace kubewatch::hooks {
namespace {

constexpr int kEstablishedTries = 120;
constexpr Duration kEstablishedPause{250};

// Of this object, by the rule under its former name, or by another one.
Error not_this_rules(const ChildId& id, const std::string& other, const std::string& managers) {
  return Error(
      ErrorKind::conflict,
      fmt::format("{} is this object's child by the controller {} (managed by: {}): if that "
                  "was renamed, kubewatch-troubleshooting(7) says how to hand it over; else "
                  "only one of the two may print it",
                  id.str(), other, managers));
}

Error not_ours(const ChildId& id, const core::ObjectMeta& meta, const std::string& managers,
               Belongs belongs, const Owner& owner) {
  const std::string* uid = meta.label(kOwnerUidLabel);
  const std::string* controller = meta.label(kControllerLabel);
  if (belongs == Belongs::other && !owner.uid.empty() && uid != nullptr && *uid == owner.uid &&
      controller != nullptr) {
    return not_this_rules(id, *controller, managers);
  }
  const std::string state =
      fmt::format("(labels: {}; managed by: {})", labels_text(meta), managers);
  if (belongs == Belongs::other) {
    return Error(ErrorKind::conflict,
                 fmt::format("{} belongs to another owner {}: two objects or controllers print the "
                             "same child; give it another name in one of them",
                             id.str(), state));
  }
  return Error(
      ErrorKind::conflict,
      fmt::format("{} exists and was not made by this controller {}: delete it, rename the "
                  "child, or set apply.adopt: unowned",
                  id.str(), state));
}

// Whoever controls it would go on writing it, and the two would delete it for different reasons.
Error controlled_by_another(const ChildId& id, const core::OwnerReference& controller,
                            const std::string& managers) {
  return Error(ErrorKind::conflict,
               fmt::format("{} exists and is controlled by {} {} (its owner reference says so; "
                           "managed by: {}), so apply.adopt: unowned does not take it over: "
                           "rename the child, or take that owner reference off",
                           id.str(), controller.kind, controller.name, managers));
}

// Of what had the owner's name before.
Error still_the_earlier_ones(const ChildId& id, const core::ObjectMeta& meta, const Owner& owner) {
  return Error(ErrorKind::conflict,
               fmt::format("{} was made for an earlier {} (uid {}), which its owner references "
                           "still name: the garbage collector deletes it for that, and then it is "
                           "made anew; without that reference it is taken over",
                           id.str(), owner.str(), *meta.label(kOwnerUidLabel)));
}

}  // namespace

struct ChildWriter::Job {
  Manifest manifest;
  ChildId id;
  Done done;
  bool creating = false;
  bool rehearsing = false;
  std::uint64_t hash = 0;
  std::string existing_version;  // "" = absent
  std::string existing_uid;
  bool blocks_owner = false;  // its reference to the owner, set by another
  bool live = false;          // looked at on the server, not in a cache
  bool claimed = false;
  bool recreated = false;
};

ChildWriter::ChildWriter(WriteContext& context, Owner owner, SecretMask mask,
                         base::LogFields log_fields)
    : context_(context),
      owner_(std::move(owner)),
      mask_(std::move(mask)),
      log_fields_(std::move(log_fields)) {}
ChildWriter::~ChildWriter() = default;

Error explain_conflict(Error error, const Json& applied, const std::vector<ForcedPath>& forced) {
  if (!is_field_conflict(error)) return error;
  const auto texts = [](const std::vector<core::StatusCause>& causes) {
    std::vector<std::string> out;
    for (const core::StatusCause& cause : causes) {
      if (cause.reason != "FieldManagerConflict") continue;
      out.push_back(cause.message + ": " + cause.field);
    }
    return out;
  };
  std::vector<std::string> parts = texts(conflicts_outside(error, applied, forced));
  if (parts.empty()) parts = texts(core::causes_of(error));
  std::string text = base::join(parts, "; ");
  text += " (leave these fields out, or name them in apply.force to take them over)";
  return Error(ErrorKind::conflict, std::move(text), *error.status());
}

ChildWriter::JobPtr ChildWriter::job_for(const Manifest& manifest, Done done) {
  auto job = std::make_shared<Job>();
  job->manifest = manifest;
  job->id = manifest.id();
  job->done = std::move(done);
  return job;
}

void ChildWriter::rehearse(const Manifest& manifest, bool creating, Done done) {
  const JobPtr job = job_for(manifest, std::move(done));
  job->rehearsing = true;
  job->creating = creating;
  job->hash = text_hash(base::dump_json(manifest.object));
  look(job);
}

void ChildWriter::apply(const Manifest& manifest, Done done) {
  const JobPtr job = job_for(manifest, std::move(done));
  job->hash = text_hash(base::dump_json(manifest.object));
  look(job);
}

void ChildWriter::create(const Manifest& manifest, Done done) {
  const JobPtr job = job_for(manifest, std::move(done));
  job->creating = true;
  look(job);
}

void ChildWriter::look(const JobPtr& job) {
  if (!context_.memory().claim(job->id, owner_.uid)) {
    return finish(job, Error(ErrorKind::conflict,
                             fmt::format("{} is being written for another object right now: two "
                                         "objects print the same child",
                                         job->id.str())));
  }
  job->claimed = true;
  if (auto meta = job->live ? std::nullopt : context_.cached_child(job->id)) {
    const bool ours = belongs_to(*meta, context_.rule().name, owner_.uid) == Belongs::us;
    if (ours && !meta->deleting()) return write_over(job, *meta);
  }
  read_child(job, [this, job](Result<Json> answer) {
    if (answer.ok()) return judge_existing(job, *answer);
    if (answer.error().is_not_found()) return write(job);
    finish(job, std::move(answer.error()).with_context("reading " + job->id.str()));
  });
}

void ChildWriter::read_child(const JobPtr& job, std::function<void(Result<Json>)> done) {
  requests_.run<Result<Json>>(std::move(done), [&](client::ObjectCallback callback) {
    return context_.client().get(job->manifest.type, job->manifest.key, std::move(callback));
  });
}

void ChildWriter::judge_existing(const JobPtr& job, const Json& object) {
  const core::ObjectMeta meta = core::meta_of(object);
  const Rule& rule = context_.rule();
  Belongs belongs = belongs_to(meta, rule.name, owner_.uid);
  // Somebody took our labels off: what we applied for this owner is ours all the same.
  const std::string* noted = meta.annotation(kOwnerAnnotation);
  const bool marked =
      references_owner(meta, owner_.uid) || (noted != nullptr && *noted == owner_.reference());
  if (belongs == Belongs::nobody && marked && managed_by(object, rule.apply.field_manager)) {
    belongs = Belongs::us;
  }
  const bool earlier = is_of_earlier_life(meta, rule.name, owner_);
  if (earlier && may_be_taken_over(meta, owner_)) belongs = Belongs::us;
  if (belongs == Belongs::other) {
    if (earlier && references_owner(meta, *meta.label(kOwnerUidLabel))) {
      return finish(job, still_the_earlier_ones(job->id, meta, owner_));
    }
    return finish(job, not_ours(job->id, meta, managers_text(object), belongs, owner_));
  }
  if (belongs == Belongs::us && !job->rehearsing) note_guess(*job);
  const bool adopts = belongs == Belongs::nobody && rule.apply.adopt == Adopt::unowned;
  const core::OwnerReference* controller = other_controller(meta, owner_.uid);
  if (job->creating && !meta.deleting()) {
    const bool takes = earlier || (adopts && controller == nullptr);
    if (takes && !job->rehearsing) return take_over(job, object);
    if (belongs == Belongs::nobody && !job->rehearsing) tell_stranger(*job, meta, object);
    return finish(job, WriteEffect::unchanged);
  }
  if (!job->creating && belongs == Belongs::nobody) {
    const std::string managers = managers_text(object);
    if (!adopts) return finish(job, not_ours(job->id, meta, managers, belongs, owner_));
    if (controller != nullptr) {
      return finish(job, controlled_by_another(job->id, *controller, managers));
    }
  }
  if (meta.deleting()) {
    const bool ours = belongs == Belongs::us;
    if (ours && context_.deletion_wakes(job->id, base::dump_json(object))) {
      return finish(job, WriteEffect::unchanged);
    }
    const char* later = job->creating ? "created" : "applied";
    return finish(job, Error(ErrorKind::conflict, job->id.str() + " is being deleted; it is " +
                                                      later + " once it is gone"));
  }
  write_over(job, meta);
}

void ChildWriter::write_over(const JobPtr& job, const core::ObjectMeta& meta) {
  job->existing_version = meta.resource_version;
  job->existing_uid = meta.uid;
  job->blocks_owner = blocks_owner(meta, owner_.uid);
  write(job);
}

void ChildWriter::note_guess(const Job& job) {
  context_.memory().note_guess(owner_.uid, job.id, job.manifest.type);
}

// Nothing is written, and nothing fails: the hook asked for it only where there is none.
void ChildWriter::tell_stranger(const Job& job, const core::ObjectMeta& meta, const Json& object) {
  const TimePoint now = context_.client().loop().now();
  if (!context_.memory().is_new_stranger(job.id, meta.uid, now)) return;
  base::LogFields fields = log_fields_;
  fields.emplace_back("child", job.id.str());
  fields.emplace_back("managers", managers_text(object));
  const core::OwnerReference* controller = other_controller(meta, owner_.uid);
  if (controller != nullptr) {
    fields.emplace_back("controller", controller->kind + " " + controller->name);
  }
  base::log_warn(fmt::format("what the hook lists under create exists and was not made by this "
                             "controller: it stays as it is and is no child of the object; delete "
                             "it, rename the child, or {}",
                             controller != nullptr ? "take the other controller's reference off"
                                                   : "set apply.adopt: unowned"),
                 fields);
}

// What was created once stays as it is, but whose it is: an apply says so by itself.
void ChildWriter::take_over(const JobPtr& job, const Json& object) {
  const Json& ours = job->manifest.object["metadata"];
  const Json was = object.value("metadata", Json::object());
  Json references = was.value("ownerReferences", Json::array());
  // Whoever restored it may have mended its reference alone.
  if (!references_owner(core::meta_of(object), owner_.uid)) {
    for (const Json& one : ours.value("ownerReferences", Json::array())) references.push_back(one);
  }
  Json patch = {{"metadata",
                 {{"uid", base::string_at(was, {"uid"})},
                  {"resourceVersion", base::string_at(was, {"resourceVersion"})}}}};
  // What names the owner; no label that the hook has printed besides.
  for (const auto& [map, key] :
       {std::pair{"labels", kControllerLabel}, std::pair{"labels", kOwnerUidLabel},
        std::pair{"annotations", kOwnerAnnotation}}) {
    const Json* wanted = base::find(ours, {map, key});
    if (wanted == nullptr || base::string_at(was, {map, key}) == *wanted) continue;
    patch["metadata"][map][std::string(key)] = *wanted;
  }
  if (!references.empty()) patch["metadata"]["ownerReferences"] = std::move(references);
  note_guess(*job);
  core::PatchParams params;
  params.type = core::PatchType::merge;
  params.field_manager = context_.rule().apply.field_manager;
  requests_.run<Result<client::ApplyResult>>(
      [this, job](Result<client::ApplyResult> answer) {
        if (!answer.ok()) {
          return finish(job,
                        without_secret_values(std::move(answer.error()), job->manifest.type.gvk)
                            .with_context("taking over " + job->id.str()));
        }
        finish_ours(job, answer->object, WriteEffect::configured);
      },
      [&](auto done) {
        return context_.client().patch(job->manifest.type, job->manifest.key, patch, params,
                                       std::move(done));
      });
}

void ChildWriter::write(const JobPtr& job) {
  if (job->creating) {
    if (!job->existing_version.empty()) return finish(job, WriteEffect::unchanged);
    return send_create(job);
  }
  const KnownChild* known = context_.memory().find(owner_.uid, job->id);
  if (known != nullptr && !job->existing_version.empty() && known->manifest_hash == job->hash &&
      known->resource_version == job->existing_version) {
    return finish(job, WriteEffect::unchanged);
  }
  send_apply(job, context_.rule().apply.force);
}

core::PatchParams ChildWriter::apply_params(const Job& job, bool force) const {
  core::PatchParams params;
  params.type = core::PatchType::apply;
  params.force = force;
  params.dry_run = job.rehearsing;
  params.field_manager = context_.rule().apply.field_manager;
  return params;
}

void ChildWriter::send_apply(const JobPtr& job, bool force) {
  const core::PatchParams params = apply_params(*job, force);
  if (!job->rehearsing) note_guess(*job);
  // Only the object that was looked at: another one of that name may be a human's.
  Json object = job->manifest.object;
  if (!job->existing_uid.empty()) object["metadata"]["uid"] = job->existing_uid;
  // What another controller has set there is its field, which the hook cannot leave out.
  if (Json* owners = base::find(object, {"metadata", "ownerReferences"});
      owners != nullptr && job->blocks_owner) {
    for (Json& one : *owners) {
      if (base::string_at(one, {"uid"}) == owner_.uid) one["blockOwnerDeletion"] = true;
    }
  }
  requests_.run<Result<client::ApplyResult>>(
      [this, job, force](Result<client::ApplyResult> answer) {
        if (!answer.ok() && !force &&
            conflicts_are_within(answer.error(), job->manifest.object,
                                 context_.rule().apply.force_paths)) {
          return send_apply(job, true);
        }
        if (!answer.ok() && recreate(job, answer.error())) return;
        applied(job, std::move(answer));
      },
      [&](auto done) {
        return context_.client().patch(job->manifest.type, job->manifest.key, object, params,
                                       std::move(done));
      });
}

// The child goes and comes anew, where the rule says so and the server refuses to change it.
bool ChildWriter::recreate(const JobPtr& job, const Error& error) {
  if (context_.rule().apply.on_immutable != OnImmutable::recreate || job->existing_uid.empty() ||
      job->recreated || !is_immutable_refusal(error)) {
    return false;
  }
  if (job->rehearsing) {
    finish(job, WriteEffect::unchanged);
    return true;
  }
  job->recreated = true;
  job->live = true;  // the cache is behind now
  base::LogFields fields = log_fields_;
  fields.emplace_back("child", job->id.str());
  const Error why = without_secret_values(error, job->manifest.type.gvk);
  fields.emplace_back("why", shown_message(mask_, why.message()));
  base::log_info("a field of a child cannot be changed: it is deleted and made anew", fields);
  core::DeleteParams params;
  params.propagation = core::Propagation::background;
  params.uid = job->existing_uid;
  requests_.run<Result<Json>>(
      [this, job](Result<Json> answer) {
        if (!answer.ok() && !answer.error().is_not_found()) {
          return finish(job,
                        without_secret_values(std::move(answer.error()), job->manifest.type.gvk)
                            .with_context("recreating " + job->id.str()));
        }
        if (answer.ok()) deleted_.push_back(job->id.str());
        job->existing_uid.clear();
        job->existing_version.clear();
        job->blocks_owner = false;
        context_.memory().forget_child(owner_.uid, job->id);
        // Gone, or dying: what is there now tells.
        look(job);
      },
      [&](client::ObjectCallback callback) {
        return context_.client().remove(job->manifest.type, job->manifest.key, params,
                                        std::move(callback));
      });
  return true;
}

void ChildWriter::applied(const JobPtr& job, Result<client::ApplyResult> answer) {
  if (job->rehearsing) {
    if (answer.ok()) {
      const bool made = answer->created || job->existing_version.empty();
      return finish(job, made ? WriteEffect::created : WriteEffect::unchanged);
    }
    return finish(
        job,
        explained(*job, std::move(answer.error())).with_context("dry run of " + job->id.str()));
  }
  if (!answer.ok()) {
    context_.memory().rivals().unsure(job->id);
    return finish(job, explain_unknown_kind(*job, explained(*job, std::move(answer.error())))
                           .with_context("applying " + job->id.str()));
  }
  const std::string version = base::string_at(answer->object, {"metadata", "resourceVersion"});
  const bool waits = is_crd(job->manifest.type.gvk) && !schema::is_crd_established(answer->object);
  // Of one that is waited for no state is known: a later try must not pass it over as unchanged.
  context_.memory().remember(owner_.uid, job->id,
                             {job->manifest.type, job->hash, waits ? "" : version});
  context_.memory().rivals().wrote(job->id, answer->object, context_.rule().apply.field_manager);
  WriteEffect effect = WriteEffect::configured;
  if (answer->created || job->existing_version.empty()) effect = WriteEffect::created;
  if (!answer->created && version == job->existing_version) effect = WriteEffect::unchanged;
  if (effect != WriteEffect::unchanged) {
    context_.expect(owner_, job->id, core::meta_of(answer->object));
  }
  if (waits) return wait_established(job, effect, kEstablishedTries);
  finish(job, effect);
}

Error ChildWriter::explained(const Job& job, Error error) const {
  return explain_conflict(without_secret_values(std::move(error), job.manifest.type.gvk),
                          job.manifest.object, context_.rule().apply.force_paths);
}

// The kind is one that discovery told, or the manifest would have been refused before.
Error ChildWriter::explain_unknown_kind(const Job& job, Error error) {
  return context_.unknown_kinds().explain(std::move(error), job.manifest.type.gvk,
                                          context_.client().loop().now());
}

void ChildWriter::wait_established(const JobPtr& job, WriteEffect effect, int tries) {
  if (tries == 0) {
    return finish(job, Error(ErrorKind::timeout,
                             job->id.str() + " was applied but is not established after 30s"));
  }
  waits_[job] = context_.client().loop().after(kEstablishedPause, [this, job, effect, tries] {
    waits_.erase(job);
    read_child(job, [this, job, effect, tries](Result<Json> answer) {
      if (answer.ok() && schema::is_crd_established(*answer)) return finish(job, effect);
      wait_established(job, effect, tries - 1);
    });
  });
}

void ChildWriter::send_create(const JobPtr& job) {
  if (!job->rehearsing) note_guess(*job);
  core::WriteParams params;
  params.field_manager = context_.rule().apply.field_manager;
  params.field_validation = "Strict";
  params.dry_run = job->rehearsing;
  requests_.run<Result<Json>>(
      [this, job](Result<Json> answer) {
        if (job->rehearsing && answer.ok()) return finish(job, WriteEffect::created);
        if (!answer.ok()) {
          // Somebody was faster, or an answer to us was lost: what is there now tells.
          if (answer.error().is_already_exists() && !job->live) {
            job->live = true;
            return look(job);
          }
          Error error = without_secret_values(std::move(answer.error()), job->manifest.type.gvk);
          if (job->rehearsing) {
            return finish(job, std::move(error).with_context("dry run of " + job->id.str()));
          }
          return finish(job, explain_unknown_kind(*job, std::move(error))
                                 .with_context("creating " + job->id.str()));
        }
        finish_ours(job, *answer, WriteEffect::created);
      },
      [&](client::ObjectCallback done) {
        return context_.client().create(job->manifest.type, job->manifest.key.namespace_,
                                        job->manifest.object, params, std::move(done));
      });
}

void ChildWriter::apply_own(const Manifest& manifest, Done done) {
  start_own(manifest, false, std::move(done));
}

void ChildWriter::rehearse_own(const Manifest& manifest, Done done) {
  start_own(manifest, true, std::move(done));
}

void ChildWriter::start_own(const Manifest& manifest, bool rehearsing, Done done) {
  const JobPtr job = job_for(manifest, std::move(done));
  // Without the uid the apply of an object that is gone would make a new one.
  job->manifest.object["metadata"]["uid"] = owner_.uid;
  job->rehearsing = rehearsing;
  job->existing_version = context_.owner_version(owner_);
  send_own(job, context_.rule().apply.force);
}

void ChildWriter::send_own(const JobPtr& job, bool force) {
  const core::PatchParams params = apply_params(*job, force);
  requests_.run<Result<client::ApplyResult>>(
      [this, job, force](Result<client::ApplyResult> answer) {
        if (answer.ok()) {
          if (job->rehearsing) return finish(job, WriteEffect::unchanged);
          const core::ObjectMeta left = core::meta_of(answer->object);
          if (left.resource_version == job->existing_version) {
            return finish(job, WriteEffect::unchanged);
          }
          context_.expect(owner_, job->id, left);
          return finish(job, WriteEffect::configured);
        }
        if (!force && conflicts_are_within(answer.error(), job->manifest.object,
                                           context_.rule().apply.force_paths)) {
          return send_own(job, true);
        }
        const std::string doing = (job->rehearsing ? "dry run of " : "applying ") + job->id.str();
        finish(job, explained(*job, std::move(answer.error())).with_context(doing));
      },
      [&](auto callback) {
        return context_.client().patch(context_.owner_type(), job->manifest.key,
                                       job->manifest.object, params, std::move(callback));
      });
}

void ChildWriter::remove(const DeleteTarget& target, Done done) {
  const ChildId id = child_id(target.type.gvk, target.key);
  auto on_deleted = [this, id, done, gvk = target.type.gvk](const core::ObjectMeta& was,
                                                            Result<Json> answer) {
    if (!answer.ok() && !answer.error().is_not_found()) {
      return done(without_secret_values(std::move(answer.error()), gvk)
                      .with_context("deleting " + id.str()));
    }
    if (answer.ok()) context_.expect_gone(owner_, id, was, core::meta_of(*answer));
    context_.memory().forget_child(owner_.uid, id);
    done(answer.ok() ? WriteEffect::deleted : WriteEffect::absent);
  };
  requests_.run<Result<Json>>(
      [this, target, id, done, on_deleted](Result<Json> answer) {
        if (!answer.ok()) {
          if (answer.error().is_not_found()) return done(WriteEffect::absent);
          return done(std::move(answer.error()).with_context("reading " + id.str()));
        }
        const core::ObjectMeta meta = core::meta_of(*answer);
        const std::string& rule = context_.rule().name;
        const bool left = is_of_earlier_life(meta, rule, owner_) && may_be_taken_over(meta, owner_);
        if (belongs_to(meta, rule, owner_.uid) == Belongs::other && !left) {
          return done(not_ours(id, meta, managers_text(*answer), Belongs::other, owner_));
        }
        if (meta.deleting()) return done(WriteEffect::absent);
        core::DeleteParams params;
        params.propagation = core::Propagation::background;
        params.uid = meta.uid;
        requests_.run<Result<Json>>(
            [on_deleted, meta](Result<Json> gone) { on_deleted(meta, std::move(gone)); },
            [&](client::ObjectCallback callback) {
              return context_.client().remove(target.type, target.key, params, std::move(callback));
            });
      },
      [&](client::ObjectCallback callback) {
        return context_.client().get(target.type, target.key, std::move(callback));
      });
}

void ChildWriter::finish_ours(const JobPtr& job, const Json& left, WriteEffect effect) {
  const core::ObjectMeta meta = core::meta_of(left);
  context_.memory().remember(owner_.uid, job->id, {job->manifest.type, 0, meta.resource_version});
  context_.expect(owner_, job->id, meta);
  finish(job, effect);
}

void ChildWriter::finish(const JobPtr& job, Result<WriteEffect> result) {
  if (job->claimed) context_.memory().release(job->id, owner_.uid);
  auto done = std::move(job->done);
  done(std::move(result));
}

}  // namespace kubewatch::hooks
