#include "hooks/finalizer_patch.hpp"

#include <memory>
#include <utility>

#include "base/json.hpp"
#include "client/apply_result.hpp"
#include "core/status.hpp"
#include "hooks/secret_refusal.hpp"
#include "runtime/finalizer.hpp"

namespace kubewatch::hooks {
namespace {

constexpr int kMostTries = 10;  // more rules for one kind are rare

struct Work {
  client::Client& client;
  client::InFlight& requests;
  FinalizerChange change;
  std::function<void(Result<ChangedMeta>)> done;
  int tries = 0;

  void end(Result<ChangedMeta> result) const {
    const auto callback = done;
    callback(std::move(result));
  }
};
using WorkPtr = std::shared_ptr<Work>;

void patch(const WorkPtr& work);

// A refusal of the object as it was seen is about something else than its finalizers.
bool is_as_tested(const core::ObjectMeta& now, const Work& work) {
  return now.finalizers == work.change.meta.finalizers;
}

void on_looked(const WorkPtr& work, Error refusal, const Result<Json>& answer) {
  FinalizerChange& change = work->change;
  if (!answer.ok()) {
    if (core::is_absent_object(answer.error())) return work->end(ChangedMeta());
    return work->end(answer.error());
  }
  core::ObjectMeta now = core::meta_of(*answer);
  const bool another = !change.meta.uid.empty() && now.uid != change.meta.uid;
  if (another) return work->end(ChangedMeta());
  if (change.add && now.deleting()) return work->end(ChangedMeta());
  if (now.has_finalizer(change.finalizer) == change.add) return work->end(ChangedMeta(now));
  if (!refusal.is_conflict() && is_as_tested(now, *work)) return work->end(std::move(refusal));
  if (work->tries >= kMostTries) {
    return work->end(Error(ErrorKind::conflict,
                           "its finalizers keep changing, the last time while they were patched"));
  }
  change.meta = std::move(now);
  patch(work);
}

void look_again(const WorkPtr& work, const Error& refusal) {
  work->requests.run<Result<Json>>(
      [work, refusal](const Result<Json>& answer) { on_looked(work, refusal, answer); },
      [&](client::ObjectCallback done) {
        return work->client.get(work->change.type, work->change.meta.key(), std::move(done));
      });
}

void patch(const WorkPtr& work) {
  ++work->tries;
  const FinalizerChange& change = work->change;
  core::PatchParams params;
  params.type = core::PatchType::json;
  params.field_manager = change.field_manager;
  const Json body = change.add ? runtime::add_finalizer_patch(change.meta, change.finalizer)
                               : runtime::remove_finalizer_patch(change.meta, change.finalizer);
  work->requests.run<Result<client::ApplyResult>>(
      [work](const Result<client::ApplyResult>& answer) {
        if (answer.ok()) return work->end(ChangedMeta(core::meta_of(answer->object)));
        const Error error = without_secret_values(answer.error(), work->change.type.gvk);
        if (core::is_absent_object(error)) return work->end(ChangedMeta());
        // A failed test is a 422, as much else.
        const bool changed = error.is_conflict() || error.kind() == ErrorKind::invalid;
        changed ? look_again(work, error) : work->end(error);
      },
      [&](auto done) {
        return work->client.patch(change.type, change.meta.key(), body, params, std::move(done));
      });
}

}  // namespace

void change_finalizer(client::Client& client, client::InFlight& requests, FinalizerChange change,
                      std::function<void(Result<ChangedMeta>)> done) {
  patch(std::make_shared<Work>(Work{client, requests, std::move(change), std::move(done)}));
}

}  // namespace kubewatch::hooks
