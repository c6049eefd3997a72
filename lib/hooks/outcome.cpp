// Executes a plan: guard, children, create, patches, delete, prune, unguard, status.
#include "hooks/outcome.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "hooks/finalizer_patch.hpp"
#include "hooks/shown_message.hpp"
#include "hooks/write_order.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMaxNamedFailures = 5;

}  // namespace

bool WriteReport::permanent() const {
  const bool too_early = brought_looked_up && child_refused;
  return !failures.empty() && !too_early &&
         std::all_of(failures.begin(), failures.end(), is_permanent_write_error);
}

bool WriteReport::refused() const {
  return !failures.empty() && std::all_of(failures.begin(), failures.end(), is_refused_value);
}

bool WriteReport::conflicts() const {
  return std::any_of(failures.begin(), failures.end(), is_field_conflict);
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
      children_(context, input_.owner, input_.mask, input_.log_fields),
      patches_(context, input_.owner),
      pruner_(context, input_.owner),
      status_(context, input_.owner, input_.meta.generation, input_.meta.resource_version) {}

void OutcomeWriter::start(Done done) {
  done_ = std::move(done);
  start_rehearsal();
}

void OutcomeWriter::begin() {
  if (plan_.needs_finalizer && !input_.owner.deleting &&
      !input_.meta.has_finalizer(context_.rule().finalizer_name)) {
    return guard_owner();
  }
  next_children();
}

// A child that only we would remove: the owner must not go before we did.
void OutcomeWriter::guard_owner() {
  change_finalizer(context_.client(), requests_,
                   {context_.owner_type(), input_.meta, context_.rule().finalizer_name,
                    context_.rule().apply.field_manager, true},
                   [this](Result<ChangedMeta> changed) {
                     report_.owner_gone = changed.ok() && !changed->has_value();
                     if (report_.owner_gone) return finish();
                     if (!changed.ok()) {
                       Error error = std::move(changed.error());
                       error.add_context("adding finalizer " + context_.rule().finalizer_name +
                                         " to " + input_.owner.str());
                       report_.failures.push_back(std::move(error));
                       return write_status();
                     }
                     input_.meta = std::move(**changed);
                     context_.finalizer_patched(input_.owner, input_.meta.resource_version);
                     next_children();
                   });
}

// A loop and not a recursion: unchanged children are answered at once.
void OutcomeWriter::next_children() {
  step_again_ = true;
  if (stepping_) return;
  stepping_ = true;
  std::optional<int> current;
  while (step_again_) {
    step_again_ = false;
    if (open_ > 0) current = class_of(at_ - 1);
    while (true) {
      if (may_try_waiting()) {
        stepping_ = false;
        return try_waiting();
      }
      pass_deletions_by();  // what was started a moment ago may have failed at once
      const auto next = class_of(at_);
      const bool fits =
          next && (open_ == 0 || (open_ < kParallel && current == next && *next >= 0));
      if (!fits) break;
      current = next;
      ++open_;
      start_child(at_++);
    }
  }
  stepping_ = false;
  if (open_ == 0 && !class_of(at_)) prune();
}

// What is to go may be what still does the work of a child that was refused: the retry deletes it.
void OutcomeWriter::pass_deletions_by() {
  const std::size_t first = manifest_count() + plan_.patches.size();
  if (at_ == first && open_ == 0 && !report_.failures.empty()) at_ += plan_.deletes.size();
}

// Negative: one at a time (patches: they may be of the same object).
std::optional<int> OutcomeWriter::class_of(std::size_t index) const {
  const auto order = [](const Manifest& one) {
    return static_cast<int>(order_class(one.type.gvk));
  };
  if (index < plan_.manifests.size()) return order(plan_.manifests[index]);
  index -= plan_.manifests.size();
  if (index < plan_.create.size()) return 10 + order(plan_.create[index]);
  index -= plan_.create.size();
  if (index < plan_.patches.size()) return -1;
  index -= plan_.patches.size();
  if (index < plan_.deletes.size()) return 20;
  return std::nullopt;
}

// For the list of runs.
std::string OutcomeWriter::what_is(std::size_t index) const {
  if (index < plan_.manifests.size()) return plan_.manifests[index].id().str();
  index -= plan_.manifests.size();
  if (index < plan_.create.size()) return plan_.create[index].id().str();
  index -= plan_.create.size();
  const auto name = [](const auto& target) { return child_id(target.type.gvk, target.key).str(); };
  if (index < plan_.patches.size()) return name(plan_.patches[index]);
  index -= plan_.patches.size();
  return index < plan_.deletes.size() ? name(plan_.deletes[index]) : "";
}

void OutcomeWriter::start_child(std::size_t index) {
  const std::size_t manifests = plan_.manifests.size();
  const std::size_t creates = manifest_count();
  const std::size_t patches = creates + plan_.patches.size();
  auto done = [this, index, creates, what = what_is(index)](Result<WriteEffect> effect) {
    --open_;
    for (const std::string& name : children_.take_deleted()) {
      ++report_.deleted;
      report_.wrote("deleted " + name);
    }
    if (index < creates) note_manifest(manifest_at(index), effect);
    note(std::move(effect), what);
    next_children();
  };
  if (index < manifests) {
    const Manifest& manifest = plan_.manifests[index];
    return is_own(manifest) ? children_.apply_own(manifest, done) : children_.apply(manifest, done);
  }
  if (index < creates) return children_.create(plan_.create[index - manifests], done);
  if (index < patches) return patches_.patch(plan_.patches[index - creates], done);
  children_.remove(plan_.deletes[index - patches], done);
}

void OutcomeWriter::note_manifest(const Manifest& manifest, const Result<WriteEffect>& effect) {
  if (!effect.ok()) {
    report_.child_refused = report_.child_refused || may_be_early(effect.error());
    return;
  }
  const bool written = *effect == WriteEffect::created || *effect == WriteEffect::configured;
  const bool looked_up = order_class(manifest.type.gvk) == OrderClass::looked_up;
  report_.brought_looked_up = report_.brought_looked_up || (written && looked_up);
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
  // An apply gives what it keeps the owner reference that the rule wants now; a create does not.
  std::vector<Pruner::Child> guarded;
  if (plan_.drop_finalizer) {
    for (const Manifest& made : plan_.create) guarded.emplace_back(made.id(), made.type);
  }
  pruner_.start(mode, plan_.keep, guarded, [this](PruneReport pruned) {
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
  change_finalizer(context_.client(), requests_,
                   {context_.owner_type(), input_.meta, context_.rule().finalizer_name,
                    context_.rule().apply.field_manager, false},
                   // Best effort: the next run takes it off as well.
                   [this](const Result<ChangedMeta>& changed) {
                     if (changed.ok() && changed->has_value()) {
                       context_.finalizer_patched(input_.owner, (*changed)->resource_version);
                     }
                     write_status();
                   });
}

Error OutcomeWriter::explained(Error error) {
  error = context_.unknown_kinds().explain(std::move(error), input_.owner.gvk,
                                           context_.client().loop().now());
  if (!is_refused_value(error) || error.status() == nullptr) return error;
  return Error(ErrorKind::invalid, error.render(), *error.status());
}

// The conditions alone, and that the rest was refused: they must not go on saying what was true
// before. Where they are what was refused, ours alone.
void OutcomeWriter::tell_refused_status(std::vector<Json> printed) {
  const std::string why = shown_message(input_.mask, report_.message());
  const auto is_ours = [](const Json& condition) {
    return base::string_at(condition, {"type"}) == kErrorCondition;
  };
  Json ours = error_condition(kWriteFailedReason, why);
  const auto failed = std::find_if(printed.begin(), printed.end(), is_ours);
  if (failed != printed.end() && is_error_condition(*failed)) {
    ours = error_condition(base::string_at(*failed, {"reason"}),
                           base::string_at(*failed, {"message"}) + "; " + why);
  }
  std::erase_if(printed, is_ours);
  const bool others = !printed.empty();
  printed.push_back(ours);
  status_.start(std::nullopt, std::move(printed),
                [this, others, ours = std::move(ours)](const Result<bool>& written) {
                  report_.status_written = written.ok() && *written;
                  if (written.ok() || !others) return finish();
                  status_.start(std::nullopt, {ours}, [this](const Result<bool>& told) {
                    report_.status_written = told.ok() && *told;
                    finish();
                  });
                });
}

void OutcomeWriter::write_status() {
  std::optional<Json> status = std::move(plan_.status);
  std::vector<Json> conditions = std::move(plan_.conditions);
  if (!report_.failures.empty()) {
    status.reset();
    conditions.clear();
    const bool tell = report_.permanent() || report_.conflicts();
    if (tell && input_.has_conditions) {
      conditions.push_back(
          error_condition(report_.conflicts() ? kConflictReason : kWriteFailedReason,
                          shown_message(input_.mask, report_.message())));
    }
  }
  if (!status && conditions.empty()) return finish();
  const bool tells = status && input_.has_conditions;
  status_.start(std::move(status), conditions, [this, tells, conditions](Result<bool> written) {
    report_.status_written = written.ok() && *written;
    if (written.ok()) return finish();
    Error error = explained(std::move(written.error()));
    const bool refused = is_refused_value(error);
    report_.failures.push_back(std::move(error));
    // Conditions that go ahead of it stand there already: to write others then and now would be a
    // change at each run.
    if (refused && tells && status_.writes_all_at_once()) return tell_refused_status(conditions);
    finish();
  });
}

void OutcomeWriter::finish() {
  auto done = std::move(done_);
  done(std::move(report_));
}

}  // namespace kubewatch::hooks
