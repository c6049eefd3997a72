// Status writes, asynchronously.
#include "hooks/status_writer.hpp"

#include <utility>

#include "base/json.hpp"
#include "client/apply_result.hpp"
#include "hooks/child_writer.hpp"
#include "hooks/kind_schemas.hpp"
#include "hooks/plan.hpp"

namespace kubewatch::hooks {
namespace {

constexpr int kMaxTries = 4;

std::string version_of(const Json& object) {
  return base::string_at(object, {"metadata", "resourceVersion"});
}

std::uint64_t hash_of_error(const Json& live) {
  for (const Json& condition : base::items_at(live, {"status", "conditions"})) {
    if (base::string_at(condition, {"type"}) == kErrorCondition) {
      return text_hash(base::string_at(condition, {"message"}));
    }
  }
  return 0;
}

}  // namespace

StatusWriter::StatusWriter(WriteContext& context, Owner owner, std::int64_t generation,
                           std::string version)
    : context_(context),
      owner_(std::move(owner)),
      generation_(generation),
      version_(std::move(version)) {}

StatusWriter::~StatusWriter() {
  if (sent_ && done_) context_.memory().end_status(owner_.uid);
}

void StatusWriter::start(std::optional<Json> status, std::vector<Json> conditions, Done done) {
  rehearsing_ = false;
  begin(std::move(status), std::move(conditions), std::move(done));
}

void StatusWriter::rehearse(std::optional<Json> status, std::vector<Json> conditions, Done done) {
  rehearsing_ = true;
  begin(std::move(status), std::move(conditions), std::move(done));
}

void StatusWriter::begin(std::optional<Json> status, std::vector<Json> conditions, Done done) {
  status_ = std::move(status);
  conditions_ = std::move(conditions);
  done_ = std::move(done);
  tries_ = 0;
  hash_ = text_hash(
      base::dump_json(Json::array({status_ ? *status_ : Json(), Json(conditions_), generation_})));
  const StatusMemory& memory = context_.memory().status(owner_.uid);
  if (memory.hash == hash_ && !version_.empty() && memory.resource_version == version_) {
    return finish(false);
  }
  began_ = context_.client().loop().now();
  renewed_ = false;
  look_at_shape(began_ - kSchemaAge);
}

void StatusWriter::look_at_shape(TimePoint oldest) {
  context_.with_status_shape(oldest, [this](const StatusShape& shape) {
    shape_ = shape;
    read();
  });
}

void StatusWriter::read() {
  requests_.run<Result<Json>>(
      [this](Result<Json> answer) {
        if (answer.ok()) return decide(*answer);
        if (answer.error().is_not_found()) return finish(false);
        finish(std::move(answer.error()).with_context("reading " + owner_.str()));
      },
      [&](client::ObjectCallback done) {
        return context_.client().get(context_.owner_type(), owner_.key, std::move(done));
      });
}

void StatusWriter::decide(const Json& live) {
  if (std::exchange(sent_, false)) context_.memory().end_status(owner_.uid);  // after a conflict
  if (base::string_at(live, {"metadata", "uid"}) != owner_.uid) return finish(false);
  const std::set<std::string> managers = context_.rule_managers();
  // Another rule may have written its own over it.
  const StatusMemory& memory = context_.memory().status(owner_.uid);
  const bool wrote_error = memory.shows_error && memory.error == hash_of_error(live);
  const StatusRequest request{
      live,        owner_.gvk,  context_.rule().apply.field_manager, status_,
      conditions_, generation_, context_.client().loop().wall(),     shape_,
      wrote_error, &managers};
  auto writes = plan_status_writes(request);
  if (!writes.ok()) {
    // The definition may have been changed since it was read.
    if (!std::exchange(renewed_, true)) return look_at_shape(began_);
    return finish(std::move(writes.error()).with_context(owner_.str()));
  }
  writes_ = std::move(*writes);
  if (!writes_.conditions_patch && !writes_.apply) return written(live);
  if (!rehearsing_) {
    sent_ = true;
    context_.memory().begin_status(owner_.uid);
  }
  writes_.conditions_patch ? send_conditions() : send_apply();
}

core::PatchParams StatusWriter::params(core::PatchType type) const {
  core::PatchParams out;
  out.type = type;
  out.dry_run = rehearsing_;
  out.force = type == core::PatchType::apply;
  out.field_manager = context_.rule().apply.field_manager;
  return out;
}

std::string StatusWriter::doing(const char* what) const {
  return std::string(rehearsing_ ? "dry run of writing " : "writing ") + what + " of " +
         owner_.str();
}

void StatusWriter::send_conditions() {
  requests_.run<Result<client::ApplyResult>>(
      [this](Result<client::ApplyResult> answer) {
        if (!answer.ok()) {
          // Somebody wrote in between: merge into what is there now.
          if (answer.error().is_conflict() && ++tries_ < kMaxTries) return read();
          if (answer.error().is_not_found()) return finish(false);
          return finish(std::move(answer.error()).with_context(doing("conditions")));
        }
        if (writes_.apply) return send_apply();
        written(answer->object);
      },
      [&](auto done) {
        return context_.client().patch(context_.owner_type(), owner_.key, *writes_.conditions_patch,
                                       params(core::PatchType::merge), std::move(done), "status");
      });
}

void StatusWriter::send_apply() {
  requests_.run<Result<client::ApplyResult>>(
      [this](Result<client::ApplyResult> answer) {
        if (!answer.ok()) {
          if (answer.error().is_not_found()) return finish(false);
          return finish(explain_conflict(std::move(answer.error()), Json(), {})
                            .with_context(doing("status")));
        }
        written(answer->object);
      },
      [&](auto done) {
        return context_.client().patch(context_.owner_type(), owner_.key, *writes_.apply,
                                       params(core::PatchType::apply), std::move(done), "status");
      });
}

void StatusWriter::written(const Json& object) {
  if (rehearsing_) return finish(false);
  const std::string resource_version = version_of(object);
  StatusMemory& memory = context_.memory().status(owner_.uid);
  memory.hash = hash_;
  memory.resource_version = resource_version;
  if (sent_) memory.written_version = resource_version;
  for (const Json& condition : conditions_) {
    const bool left_out = writes_.own_left_out && yields_to_failure(condition);
    if (!left_out && base::string_at(condition, {"type"}) == kErrorCondition) {
      memory.shows_error = is_error_condition(condition);
      memory.error = text_hash(base::string_at(condition, {"message"}));
    }
  }
  if (resource_version != version_) {
    context_.expect(owner_, child_id(owner_.gvk, owner_.key), core::meta_of(object));
  }
  finish(sent_);
}

void StatusWriter::finish(Result<bool> result) {
  if (sent_) context_.memory().end_status(owner_.uid);
  const Done done = std::exchange(done_, nullptr);
  done(std::move(result));
}

}  // namespace kubewatch::hooks
