// Operations as requests.
#include "compat/object_patcher.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "client/apply_result.hpp"
#include "compat/kinds.hpp"
#include "core/meta.hpp"
#include "hooks/evaluate.hpp"
#include "hooks/printed_secrets.hpp"
#include "hooks/secret_parts.hpp"
#include "hooks/secret_refusal.hpp"

namespace kubewatch::compat {
namespace {

constexpr const char* kFieldManager = "kubewatch-compat";
constexpr int kConflictTries = 5;
constexpr Duration kLookAgain{250};
constexpr int kLooks = 80;  // 20 s
constexpr std::size_t kNamedWrites = 20;

core::WriteParams write_params() {
  core::WriteParams out;
  out.field_manager = kFieldManager;
  return out;
}

std::string version_of(const Json& object) {
  return base::string_at(object, {"metadata", "resourceVersion"});
}

}  // namespace

ObjectPatcher::ObjectPatcher(client::Client& client,
                             std::shared_ptr<const client::ResourceMap> resources,
                             std::string default_namespace, bool dry)
    : client_(client),
      resources_(std::move(resources)),
      default_namespace_(std::move(default_namespace)),
      dry_(dry) {}

void ObjectPatcher::run(std::vector<Operation> operations, Done done) {
  operations_ = std::move(operations);
  done_ = std::move(done);
  timer_ = client_.loop().after(Duration{0}, [this] { next(); });
}

void ObjectPatcher::next() {
  if (at_ == operations_.size()) {
    // What is called may destroy this.
    const Done done = std::move(done_);
    return done(std::move(summary_));
  }
  tries_ = 0;
  start(operations_[at_]);
}

void ObjectPatcher::start(const Operation& operation) {
  auto type = find_kind(*resources_, operation.api_version, operation.kind);
  if (!type.ok()) return fail(std::move(type.error()));
  type_ = *std::move(type);
  key_ = {type_.namespaced ? operation.namespace_ : "", operation.name};
  if (type_.namespaced && key_.namespace_.empty()) key_.namespace_ = default_namespace_;
  if (is_secret()) {
    if (operation.object.is_object()) learn(operation.object);
    hooks::mask_patch(operation.patch, summary_.secrets);
  }
  switch (operation.type) {
    case OperationType::create:
    case OperationType::create_or_update:
    case OperationType::create_if_not_exists: return create(operation);
    case OperationType::remove:
    case OperationType::remove_in_background:
    case OperationType::remove_non_cascading: return remove(operation);
    case OperationType::jq_patch: return edit(operation);
    case OperationType::merge_patch:
    case OperationType::json_patch: return patch(operation);
  }
}

bool ObjectPatcher::is_secret() const {
  return hooks::is_secret(type_.gvk);
}

void ObjectPatcher::learn(Json object) {
  if (!is_secret()) return;
  object["kind"] = "Secret";
  summary_.secrets.add_object(object);
}

void ObjectPatcher::finish(const char* effect) {
  const std::string_view word = effect;
  if (word == "created") ++summary_.created;
  if (word == "configured") ++summary_.configured;
  if (word == "unchanged") ++summary_.unchanged;
  if (word == "deleted") ++summary_.deleted;
  if (summary_.writes.size() < kNamedWrites && word != "unchanged") {
    summary_.writes.push_back(fmt::format("{} {} {}", word, type_.gvk.str(), key_.str()));
  }
  go_on();
}

// From the loop: thousands of operations that end at once must not be thousands of calls deep.
void ObjectPatcher::go_on() {
  ++at_;
  timer_ = client_.loop().after(Duration{0}, [this] { next(); });
}

void ObjectPatcher::fail(Error error) {
  summary_.errors.push_back(hooks::without_secret_values(std::move(error), type_.gvk)
                                .with_context(operations_[at_].str()));
  go_on();
}

void ObjectPatcher::create(const Operation& operation) {
  Json object = operation.object;
  if (type_.namespaced) object["metadata"]["namespace"] = key_.namespace_;
  requests_.run<Result<Json>>(
      [this, &operation](Result<Json> answer) {
        if (answer.ok()) return finish("created");
        const bool there = answer.error().kind() == ErrorKind::already_exists;
        if (!there || operation.type == OperationType::create) {
          return fail(std::move(answer.error()));
        }
        if (operation.type == OperationType::create_if_not_exists) return finish("unchanged");
        requests_.run<Result<Json>>(
            [this, &operation](Result<Json> live) {
              if (!live.ok()) return again(operation, std::move(live.error()));
              replace(operation, *std::move(live));
            },
            [&](auto done) { return client_.get(type_, key_, std::move(done)); });
      },
      [&](auto done) {
        return client_.create(type_, key_.namespace_, object, write_params(), std::move(done));
      });
}

// Somebody else wrote, or it went away, between our read and our write.
void ObjectPatcher::again(const Operation& operation, Error error) {
  const bool race = error.is_conflict() || (error.is_not_found() && operation.object.is_object());
  if (!race || ++tries_ >= kConflictTries) return fail(std::move(error));
  start(operation);
}

// The whole object but its status, as `operation` has it.
void ObjectPatcher::replace(const Operation& operation, Json live) {
  Json object = operation.object;
  object["metadata"]["resourceVersion"] = version_of(live);
  if (type_.namespaced) object["metadata"]["namespace"] = key_.namespace_;
  requests_.run<Result<Json>>(
      [this, &operation, before = version_of(live)](Result<Json> answer) {
        if (!answer.ok()) return again(operation, std::move(answer.error()));
        finish(version_of(*answer) == before ? "unchanged" : "configured");
      },
      [&](auto done) {
        return client_.update(type_, object, write_params(), std::move(done),
                              operation.subresource);
      });
}

void ObjectPatcher::remove(const Operation& operation) {
  core::DeleteParams params;
  params.propagation = core::Propagation::foreground;
  if (operation.type == OperationType::remove_in_background) {
    params.propagation = core::Propagation::background;
  }
  if (operation.type == OperationType::remove_non_cascading) {
    params.propagation = core::Propagation::orphan;
  }
  requests_.run<Result<Json>>(
      [this, &operation](Result<Json> answer) {
        if (!answer.ok()) {
          return answer.error().is_not_found() ? finish("unchanged")
                                               : fail(std::move(answer.error()));
        }
        if (dry_ || operation.type != OperationType::remove) return finish("deleted");
        wait_until_gone(core::meta_of(*answer).uid, 0);
      },
      [&](auto done) { return client_.remove(type_, key_, params, std::move(done)); });
}

// `uid`: of what dies; "" when the server did not tell.
void ObjectPatcher::wait_until_gone(const std::string& uid, int looks) {
  requests_.run<Result<Json>>(
      [this, uid, looks](Result<Json> answer) {
        if (!answer.ok() && answer.error().is_not_found()) return finish("deleted");
        const bool other = answer.ok() && !uid.empty() && core::meta_of(*answer).uid != uid;
        if (other) return finish("deleted");
        if (looks >= kLooks) {
          return fail(Error(ErrorKind::timeout,
                            "it is not gone after 20s: its finalizers or what it owns hold it"));
        }
        timer_ = client_.loop().after(kLookAgain,
                                      [this, uid, looks] { wait_until_gone(uid, looks + 1); });
      },
      [&](auto done) { return client_.get(type_, key_, std::move(done)); });
}

void ObjectPatcher::patch(const Operation& operation) {
  core::PatchParams params;
  params.type =
      operation.type == OperationType::json_patch ? core::PatchType::json : core::PatchType::merge;
  params.field_manager = kFieldManager;
  requests_.run<Result<client::ApplyResult>>(
      [this, &operation](Result<client::ApplyResult> answer) {
        if (answer.ok()) return finish("configured");
        if (answer.error().is_not_found() && operation.ignore_missing) return finish("unchanged");
        fail(std::move(answer.error()));
      },
      [&](auto done) {
        return client_.patch(type_, key_, operation.patch, params, std::move(done),
                             operation.subresource);
      });
}

void ObjectPatcher::edit(const Operation& operation) {
  requests_.run<Result<Json>>(
      [this, &operation](Result<Json> live) {
        if (live.ok()) return edit(operation, *std::move(live));
        if (live.error().is_not_found() && operation.ignore_missing) return finish("unchanged");
        fail(std::move(live.error()));
      },
      [&](auto done) { return client_.get(type_, key_, std::move(done)); });
}

void ObjectPatcher::edit(const Operation& operation, Json live) {
  learn(live);
  auto outputs = operation.filter->run(live);
  if (!outputs.ok()) {
    const Error& error = outputs.error();
    const std::string said = hooks::shown_failure(type_.gvk, base::dump_json(live), error);
    return fail(Error(error.kind(), "jqFilter: " + said));
  }
  if (outputs->size() != 1 || !outputs->front().is_object()) {
    return fail(Error(ErrorKind::invalid, "jqFilter must give one object"));
  }
  Json object = std::move(outputs->front());
  if (object == live) return finish("unchanged");
  learn(object);
  requests_.run<Result<Json>>(
      [this, &operation](Result<Json> answer) {
        if (!answer.ok()) return again(operation, std::move(answer.error()));
        finish("configured");
      },
      [&](auto done) {
        return client_.update(type_, object, write_params(), std::move(done),
                              operation.subresource);
      });
}

}  // namespace kubewatch::compat
