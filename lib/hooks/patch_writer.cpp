// One patch.
#include "hooks/patch_writer.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "core/meta.hpp"
#include "hooks/secret_refusal.hpp"

namespace kubewatch::hooks {

struct PatchWriter::Job {
  const PatchTarget& target;
  ChildId id;
  Done done;
  bool rehearsing = false;
  core::ObjectMeta was{};
  std::string doing() const {
    return (rehearsing ? "dry run of patching " : "patching ") + id.str();
  }
};

Json bound_patch(const PatchTarget& target, const std::string& uid) {
  Json patch = target.patch;
  if (target.patch_type != core::PatchType::json) {
    patch["metadata"]["uid"] = uid;
    return patch;
  }
  Json out = Json::array({{{"op", "test"}, {"path", "/metadata/uid"}, {"value", uid}}});
  for (Json& operation : patch) out.push_back(std::move(operation));
  return out;
}

PatchWriter::PatchWriter(WriteContext& context, Owner owner)
    : context_(context), owner_(std::move(owner)) {}

PatchWriter::~PatchWriter() {
  if (sent_) context_.memory().patches().end(owner_.uid, *sent_, "");
}

void PatchWriter::patch(const PatchTarget& target, Done done) {
  look(std::make_shared<Job>(Job{target, target.id(), std::move(done)}));
}

void PatchWriter::rehearse(const PatchTarget& target, Done done) {
  look(std::make_shared<Job>(Job{target, target.id(), std::move(done), true}));
}

void PatchWriter::look(const JobPtr& job) {
  if (const auto meta = context_.cached_child(job->id)) {
    if (belongs_to(*meta, context_.rule().name, owner_.uid) == Belongs::us) {
      job->was = *meta;
      return send(job);
    }
  }
  requests_.run<Result<Json>>(
      [this, job](Result<Json> answer) {
        if (!answer.ok()) {
          return job->done(std::move(answer.error()).with_context(job->doing()));
        }
        core::ObjectMeta meta = core::meta_of(*answer);
        if (belongs_to(meta, context_.rule().name, owner_.uid) == Belongs::other) {
          return job->done(
              Error(ErrorKind::conflict,
                    fmt::format("{}: it belongs to another owner (labels: {}; managed by: {})",
                                job->doing(), labels_text(meta), managers_text(*answer))));
        }
        job->was = std::move(meta);
        send(job);
      },
      [&](client::ObjectCallback callback) {
        return context_.client().get(job->target.type, job->target.key, std::move(callback));
      });
}

void PatchWriter::send(const JobPtr& job) {
  core::PatchParams params;
  params.type = job->target.patch_type;
  params.field_manager = context_.rule().apply.field_manager;
  params.field_validation = "Strict";
  params.dry_run = job->rehearsing;
  if (!job->rehearsing) {
    context_.memory().patches().begin(owner_.uid, job->id);
    sent_ = job->id;
  }
  requests_.run<Result<client::ApplyResult>>(
      [this, job](Result<client::ApplyResult> answer) { answered(job, std::move(answer)); },
      [&](auto done) {
        return context_.client().patch(job->target.type, job->target.key,
                                       bound_patch(job->target, job->was.uid), params,
                                       std::move(done), job->target.subresource);
      });
}

void PatchWriter::answered(const JobPtr& job, Result<client::ApplyResult> answer) {
  if (!answer.ok()) {
    if (!job->rehearsing) over(job, "");
    return refused(job, without_secret_values(std::move(answer.error()), job->target.type.gvk));
  }
  if (job->rehearsing) return job->done(WriteEffect::unchanged);
  core::ObjectMeta left = core::meta_of(answer->object);
  const bool changed = left.resource_version != job->was.resource_version;
  over(job, changed ? left.resource_version : "");
  if (!changed) return job->done(WriteEffect::unchanged);
  // A Scale has none.
  if (left.kind != job->target.type.gvk.kind) left.labels = job->was.labels;
  context_.expect(owner_, job->id, left);
  job->done(WriteEffect::configured);
}

void PatchWriter::over(const JobPtr& job, const std::string& resource_version) {
  context_.memory().patches().end(owner_.uid, job->id, resource_version);
  sent_.reset();
}

// A test or a path that failed may be one that another writer has just changed: then it is worth
// another run. Where the object is what it was, only another patch helps.
void PatchWriter::refused(const JobPtr& job, Error error) {
  error.add_context(job->doing());
  if (error.kind() != ErrorKind::invalid) return job->done(std::move(error));
  requests_.run<Result<Json>>(
      [job, error](const Result<Json>& answer) {
        const bool same =
            answer.ok() && base::string_at(*answer, {"metadata", "uid"}) == job->was.uid &&
            base::string_at(*answer, {"metadata", "resourceVersion"}) == job->was.resource_version;
        if (same) return job->done(error);
        job->done(Error(ErrorKind::conflict, error.render()));
      },
      [&](client::ObjectCallback callback) {
        return context_.client().get(job->target.type, job->target.key, std::move(callback));
      });
}

}  // namespace kubewatch::hooks
