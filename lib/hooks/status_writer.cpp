// Status writes, asynchronously.
#include "hooks/status_writer.hpp"

#include "base/json.hpp"
#include "client/apply_result.hpp"
#include "hooks/child_writer.hpp"

namespace kubewatch::hooks {
namespace {

constexpr int kMaxTries = 4;

std::string version_of(const Json& object) {
  return base::string_at(object, {"metadata", "resourceVersion"});
}

}  // namespace

StatusWriter::StatusWriter(WriteContext& context, Owner owner, std::int64_t generation,
                           std::string version)
    : context_(context),
      owner_(std::move(owner)),
      generation_(generation),
      version_(std::move(version)) {}

void StatusWriter::start(std::optional<Json> status, std::vector<Json> conditions, Done done) {
  status_ = std::move(status);
  conditions_ = std::move(conditions);
  done_ = std::move(done);
  hash_ = text_hash(
      base::dump_json(Json::array({status_ ? *status_ : Json(), Json(conditions_), generation_})));
  const StatusMemory& memory = context_.memory().status(owner_.uid);
  if (memory.hash == hash_ && !version_.empty() && memory.resource_version == version_) {
    return finish({});
  }
  context_.with_status_shape([this](const StatusShape& shape) {
    shape_ = shape;
    read();
  });
}

void StatusWriter::read() {
  requests_.run<Result<Json>>(
      [this](Result<Json> answer) {
        if (answer.ok()) return decide(*answer);
        if (answer.error().is_not_found()) return finish({});
        finish(std::move(answer.error()).with_context("reading " + owner_.str()));
      },
      [&](client::ObjectCallback done) {
        return context_.client().get(context_.owner_type(), owner_.key, std::move(done));
      });
}

void StatusWriter::decide(const Json& live) {
  if (base::string_at(live, {"metadata", "uid"}) != owner_.uid) return finish({});
  const StatusRequest request{
      live,        owner_.gvk,  context_.rule().apply.field_manager, status_,
      conditions_, generation_, context_.client().loop().wall(),     shape_};
  auto writes = plan_status_writes(request);
  if (!writes.ok()) return finish(std::move(writes.error()).with_context(owner_.str()));
  writes_ = std::move(*writes);
  if (writes_.conditions_patch) return send_conditions();
  if (writes_.apply) return send_apply();
  written(version_of(live));
}

void StatusWriter::send_conditions() {
  core::PatchParams params;
  params.type = core::PatchType::merge;
  params.field_manager = context_.rule().apply.field_manager;
  requests_.run<Result<client::ApplyResult>>(
      [this](Result<client::ApplyResult> answer) {
        if (!answer.ok()) {
          // Somebody wrote in between: merge into what is there now.
          if (answer.error().is_conflict() && ++tries_ < kMaxTries) return read();
          if (answer.error().is_not_found()) return finish({});
          return finish(
              std::move(answer.error()).with_context("writing conditions of " + owner_.str()));
        }
        if (writes_.apply) return send_apply();
        written(version_of(answer->object));
      },
      [&](auto done) {
        return context_.client().patch(context_.owner_type(), owner_.key, *writes_.conditions_patch,
                                       params, std::move(done), "status");
      });
}

void StatusWriter::send_apply() {
  core::PatchParams params;
  params.type = core::PatchType::apply;
  params.force = true;
  params.field_manager = context_.rule().apply.field_manager;
  requests_.run<Result<client::ApplyResult>>(
      [this](Result<client::ApplyResult> answer) {
        if (!answer.ok()) {
          if (answer.error().is_not_found()) return finish({});
          return finish(explain_conflict(std::move(answer.error()))
                            .with_context("writing status of " + owner_.str()));
        }
        written(version_of(answer->object));
      },
      [&](auto done) {
        return context_.client().patch(context_.owner_type(), owner_.key, *writes_.apply, params,
                                       std::move(done), "status");
      });
}

void StatusWriter::written(const std::string& resource_version) {
  context_.memory().status(owner_.uid) = {hash_, resource_version};
  if (resource_version != version_) {
    context_.expect(child_id(owner_.gvk, owner_.key), resource_version);
  }
  finish({});
}

void StatusWriter::finish(Result<void> result) {
  auto done = std::move(done_);
  done(std::move(result));
}

}  // namespace kubewatch::hooks
