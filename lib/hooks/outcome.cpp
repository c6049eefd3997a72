// Executes a plan: guard, children, create, delete, prune, unguard, status.
#include "hooks/outcome.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "client/apply_result.hpp"
#include "runtime/finalizer.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMaxNamedFailures = 5;

}  // namespace

bool WriteReport::permanent() const {
  return !failures.empty() &&
         std::all_of(failures.begin(), failures.end(), is_permanent_write_error);
}

std::string WriteReport::message() const {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < failures.size() && i < kMaxNamedFailures; ++i) {
    parts.push_back(failures[i].render());
  }
  if (failures.size() > kMaxNamedFailures) {
    parts.push_back("and " + std::to_string(failures.size() - kMaxNamedFailures) + " more");
  }
  return base::join(parts, "; ");
}

OutcomeWriter::OutcomeWriter(WriteContext& context, OutcomeInput input, WritePlan plan)
    : context_(context),
      input_(std::move(input)),
      plan_(std::move(plan)),
      children_(context, input_.owner),
      pruner_(context, input_.owner),
      status_(context, input_.owner, input_.meta.generation, input_.meta.resource_version) {}

void OutcomeWriter::start(Done done) {
  done_ = std::move(done);
  if (plan_.needs_finalizer && !input_.owner.deleting &&
      !input_.meta.has_finalizer(context_.rule().finalizer_name)) {
    return guard_owner();
  }
  next_child();
}

// A child that only we would remove: the owner must not go before we did.
void OutcomeWriter::guard_owner() {
  core::PatchParams params;
  params.type = core::PatchType::json;
  params.field_manager = context_.rule().apply.field_manager;
  const Json patch = runtime::add_finalizer_patch(input_.meta, context_.rule().finalizer_name);
  requests_.run<Result<client::ApplyResult>>(
      [this](Result<client::ApplyResult> answer) {
        if (!answer.ok()) {
          // The patch tests what the hook saw; a refusal means that the object changed: run again.
          report_.failures.push_back(refused_patch(std::move(answer.error()))
                                         .with_context("adding finalizer " +
                                                       context_.rule().finalizer_name + " to " +
                                                       input_.owner.str()));
          return finish();
        }
        input_.meta = core::meta_of(answer->object);
        context_.finalizer_patched(input_.owner, input_.meta.resource_version);
        next_child();
      },
      [&](auto done) {
        return context_.client().patch(context_.owner_type(), input_.owner.key, patch, params,
                                       std::move(done));
      });
}

// A loop and not a recursion: unchanged children are answered at once.
void OutcomeWriter::next_child() {
  step_again_ = true;
  if (stepping_) return;
  stepping_ = true;
  while (step_again_) {
    step_again_ = false;
    one_child();
  }
  stepping_ = false;
}

void OutcomeWriter::one_child() {
  const std::size_t manifests = plan_.manifests.size();
  const std::size_t creates = manifests + plan_.create.size();
  const std::size_t deletes = creates + plan_.deletes.size();
  const std::size_t i = at_++;
  const std::string what =
      i < manifests ? plan_.manifests[i].id().str()
      : i < creates ? plan_.create[i - manifests].id().str()
      : i < deletes
          ? child_id(plan_.deletes[i - creates].type.gvk, plan_.deletes[i - creates].key).str()
          : "";
  auto done = [this, what](Result<WriteEffect> effect) {
    note(std::move(effect), what);
    next_child();
  };
  if (i < manifests) {
    const Manifest& manifest = plan_.manifests[i];
    const bool own = manifest.id() == child_id(input_.owner.gvk, input_.owner.key);
    return own ? children_.apply_own(manifest, done) : children_.apply(manifest, done);
  }
  if (i < creates) return children_.create(plan_.create[i - manifests], done);
  if (i < deletes) return children_.remove(plan_.deletes[i - creates], done);
  prune();
}

void OutcomeWriter::note(Result<WriteEffect> effect, const std::string& what) {
  if (!effect.ok()) {
    report_.failures.push_back(std::move(effect.error()));
    return;
  }
  switch (*effect) {
    case WriteEffect::created: ++report_.created; break;
    case WriteEffect::configured: ++report_.configured; break;
    case WriteEffect::unchanged: ++report_.unchanged; break;
    case WriteEffect::deleted: ++report_.deleted; break;
    case WriteEffect::absent: break;
  }
  const char* word = *effect == WriteEffect::created      ? "created "
                     : *effect == WriteEffect::configured ? "configured "
                     : *effect == WriteEffect::deleted    ? "deleted "
                                                          : nullptr;
  if (word != nullptr) report_.wrote(word + what);
}

void OutcomeWriter::prune() {
  if (!plan_.prune || !report_.failures.empty()) return write_status();
  const PruneMode mode = plan_.keep.empty() ? PruneMode::all : PruneMode::unprinted;
  pruner_.start(mode, plan_.keep, [this](PruneReport pruned) {
    report_.deleted += pruned.deleted;
    for (const std::string& name : pruned.names) report_.wrote("deleted " + name);
    for (Error& error : pruned.failures) report_.failures.push_back(std::move(error));
    if (plan_.drop_finalizer && !pruned.needs_guard && report_.failures.empty()) {
      return unguard_owner();
    }
    write_status();
  });
}

void OutcomeWriter::unguard_owner() {
  if (!input_.meta.has_finalizer(context_.rule().finalizer_name)) return write_status();
  core::PatchParams params;
  params.type = core::PatchType::json;
  params.field_manager = context_.rule().apply.field_manager;
  const Json patch = runtime::remove_finalizer_patch(input_.meta, context_.rule().finalizer_name);
  requests_.run<Result<client::ApplyResult>>(
      // Best effort: a refusal means that the object changed, and then it runs again anyway.
      [this](Result<client::ApplyResult> answer) {
        if (answer.ok()) {
          context_.finalizer_patched(
              input_.owner, base::string_at(answer->object, {"metadata", "resourceVersion"}));
        }
        write_status();
      },
      [&](auto done) {
        return context_.client().patch(context_.owner_type(), input_.owner.key, patch, params,
                                       std::move(done));
      });
}

void OutcomeWriter::write_status() {
  std::optional<Json> status = std::move(plan_.status);
  std::vector<Json> conditions = std::move(plan_.conditions);
  if (!report_.failures.empty()) {
    status.reset();
    conditions.clear();
    if (report_.permanent() && input_.has_conditions) {
      conditions.push_back(error_condition("WriteFailed", input_.mask.mask(report_.message())));
    }
  }
  if (!status && conditions.empty()) return finish();
  status_.start(std::move(status), std::move(conditions), [this](Result<void> written) {
    if (!written.ok()) {
      report_.failures.push_back(context_.unknown_kinds().explain(
          std::move(written.error()), input_.owner.gvk, context_.client().loop().now()));
    }
    finish();
  });
}

void OutcomeWriter::finish() {
  auto done = std::move(done_);
  done(std::move(report_));
}

}  // namespace kubewatch::hooks
