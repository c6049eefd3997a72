#include "runtime/finalizer_runner.hpp"

#include "base/json.hpp"
#include "client/apply_result.hpp"
#include "core/status.hpp"

namespace kubewatch::runtime {

namespace {

constexpr int kRemoveTries = 3;
constexpr const char* kAdding = "adding";
constexpr const char* kRemoving = "removing";

// A JSON patch whose test fails is answered with 422, a lost race with 409.
bool may_be_stale(const Error& error) {
  return error.is_conflict() || error.kind() == ErrorKind::invalid;
}

RunOutcome not_yet() {
  return {RunOutcome::Verdict::not_yet, {}};
}

}  // namespace

struct FinalizerRunner::Job {
  StoredObject object;
  core::ObjectMeta meta;  // what the next patch tests
  Done done;
  int tries = 0;
};

FinalizerRunner::FinalizerRunner(client::Client& client, core::ResourceType type, std::string name,
                                 std::string field_manager, Tasks tasks)
    : client_(client),
      type_(std::move(type)),
      name_(std::move(name)),
      field_manager_(std::move(field_manager)),
      tasks_(std::move(tasks)) {}

void FinalizerRunner::step(const StoredObject& object, Done done) {
  switch (finalizer_step(object.meta, name_, /*wanted=*/true)) {
    case FinalizerStep::reconcile: return tasks_.apply(object, std::move(done));
    case FinalizerStep::nothing:
    case FinalizerStep::remove: return done(RunOutcome::done());
    case FinalizerStep::add_first:
      return add(std::make_shared<Job>(Job{object, object.meta, std::move(done)}));
    case FinalizerStep::clean_up:
      return clean_up(std::make_shared<Job>(Job{object, object.meta, std::move(done)}));
  }
}

void FinalizerRunner::add(const JobPtr& job) {
  send(job, add_finalizer_patch(job->meta, name_), [this, job](Result<Json> answer) {
    // Gone: its deletion needs nothing of us, who did nothing yet.
    if (answer.ok() || core::is_absent_object(answer.error())) return job->done(RunOutcome::done());
    if (may_be_stale(answer.error())) return look_after_refused_add(job, answer.error());
    fail(job, answer.error(), kAdding);
  });
}

// Either the object is another than the one that was seen, and its event runs it again; or the
// server will never take this finalizer.
void FinalizerRunner::look_after_refused_add(const JobPtr& job, const Error& refusal) {
  get(job, [this, job, refusal](Result<core::ObjectMeta> now) {
    if (!now.ok() && core::is_absent_object(now.error())) return job->done(RunOutcome::done());
    if (!now.ok()) return fail(job, now.error(), kAdding);
    const bool changed = now->uid != job->meta.uid || now->finalizers != job->meta.finalizers ||
                         now->deleting() != job->meta.deleting();
    if (changed || refusal.is_conflict()) return job->done(not_yet());
    fail(job, refusal, kAdding);
  });
}

void FinalizerRunner::clean_up(const JobPtr& job) {
  tasks_.cleanup(job->object, [this, job](Result<RunOutcome> outcome) {
    const bool cleaned = outcome.ok() && outcome->verdict == RunOutcome::Verdict::done;
    if (!cleaned) return job->done(std::move(outcome));
    remove(job);
  });
}

void FinalizerRunner::remove(const JobPtr& job) {
  ++job->tries;
  send(job, remove_finalizer_patch(job->meta, name_), [this, job](Result<Json> answer) {
    if (answer.ok() || core::is_absent_object(answer.error())) return job->done(RunOutcome::done());
    if (may_be_stale(answer.error())) return look_after_refused_remove(job, answer.error());
    fail(job, answer.error(), kRemoving);
  });
}

// Somebody else's finalizer came or went: the cleanup stays done, only the patch is made anew.
void FinalizerRunner::look_after_refused_remove(const JobPtr& job, const Error& refusal) {
  if (job->tries >= kRemoveTries) return fail(job, refusal, kRemoving);
  get(job, [this, job](Result<core::ObjectMeta> now) {
    if (!now.ok() && !core::is_absent_object(now.error())) return fail(job, now.error(), kRemoving);
    const bool gone =
        !now.ok() || now->uid != job->meta.uid || !now->deleting() || !now->has_finalizer(name_);
    if (gone) return job->done(RunOutcome::done());
    job->meta = std::move(now).value();
    remove(job);
  });
}

void FinalizerRunner::send(const JobPtr& job, const Json& patch,
                           std::function<void(Result<Json>)> done) {
  core::PatchParams params;
  params.type = core::PatchType::json;
  params.field_manager = field_manager_;
  requests_.run<Result<client::ApplyResult>>(
      [done = std::move(done)](Result<client::ApplyResult> answer) {
        if (!answer.ok()) return done(std::move(answer).error());
        done(std::move(answer->object));
      },
      [&](auto callback) {
        return client_.patch(type_, job->meta.key(), patch, params, std::move(callback));
      });
}

void FinalizerRunner::get(const JobPtr& job, std::function<void(Result<core::ObjectMeta>)> done) {
  requests_.run<Result<Json>>(
      [done = std::move(done)](Result<Json> answer) {
        if (!answer.ok()) return done(std::move(answer).error());
        done(core::meta_of(*answer));
      },
      [&](client::ObjectCallback callback) {
        return client_.get(type_, job->meta.key(), std::move(callback));
      });
}

void FinalizerRunner::fail(const JobPtr& job, Error error, const char* doing) {
  job->done(std::move(error).with_context(std::string(doing) + " the finalizer " + name_));
}

}  // namespace kubewatch::runtime
