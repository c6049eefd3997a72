// What only the server knows to be valid it is asked about (dry run) before anything is written,
// where the rule wants it every manifest and patch and the status. Nothing is written unless the
// server would take all of it. What it cannot judge before something else of the output is there is
// asked about again as soon as that is, and nothing more is written then unless it is taken.
#include <algorithm>

#include "core/status.hpp"
#include "hooks/outcome.hpp"
#include "hooks/write_order.hpp"

namespace kubewatch::hooks {
namespace {

// In what a server says where a webhook has side effects.
constexpr std::string_view kNoDryRun = "does not support dry run";

bool defines(const Manifest& manifest, const core::ResourceType& type) {
  return is_crd(manifest.type.gvk) && manifest.key.name == type.plural + "." + type.gvk.group;
}

bool is_namespace(const Manifest& manifest, const std::string& name) {
  return order_class(manifest.type.gvk) == OrderClass::namespaces && manifest.key.name == name;
}

}  // namespace

const Manifest& OutcomeWriter::manifest_at(std::size_t index) const {
  const std::size_t applied = plan_.manifests.size();
  return index < applied ? plan_.manifests[index] : plan_.create[index - applied];
}

void OutcomeWriter::start_rehearsal() {
  to_try_ = tried_first();
  rehearse();
}

std::vector<std::size_t> OutcomeWriter::tried_first() const {
  std::vector<std::size_t> out;
  // Patches only where the rule asks for it: a webhook may refuse what is only tried.
  const bool everything = context_.rule().apply.validate == Validate::server;
  for (std::size_t i = 0; i < manifest_count(); ++i) {
    if (everything || manifest_at(i).ask_first) out.push_back(i);
  }
  const std::size_t status = manifest_count() + plan_.patches.size();
  for (std::size_t i = manifest_count(); everything && i < status; ++i) out.push_back(i);
  if ((everything || plan_.ask_status) && tries_status()) out.push_back(status);
  return out;
}

// A loop and not a recursion: some are answered at once.
void OutcomeWriter::rehearse() {
  step_again_ = true;
  if (stepping_) return;
  stepping_ = true;
  while (step_again_) {
    step_again_ = false;
    while (open_ < kParallel && next_try_ < to_try_.size()) try_one(to_try_[next_try_++]);
  }
  stepping_ = false;
  if (open_ == 0 && next_try_ == to_try_.size()) judge_refusals();
}

void OutcomeWriter::try_one(std::size_t index) {
  if (index < manifest_count()) return try_manifest(index);
  index < manifest_count() + plan_.patches.size() ? try_patch(index) : try_status(index);
}

void OutcomeWriter::try_manifest(std::size_t index) {
  const Manifest& manifest = manifest_at(index);
  ++open_;
  auto done = [this, index](Result<WriteEffect> effect) { tried(index, std::move(effect)); };
  if (is_own(manifest)) return children_.rehearse_own(manifest, std::move(done));
  children_.rehearse(manifest, index >= plan_.manifests.size(), std::move(done));
}

bool OutcomeWriter::is_own(const Manifest& manifest) const {
  return manifest.id() == child_id(input_.owner.gvk, input_.owner.key);
}

// A patch of what the same output writes first cannot be tried on what is there now.
void OutcomeWriter::try_patch(std::size_t index) {
  const PatchTarget& patch = plan_.patches[index - manifest_count()];
  if (index == manifest_count()) {
    for (std::size_t i = 0; i < index; ++i) written_before_.insert(manifest_at(i).id());
  }
  if (!written_before_.insert(patch.id()).second) return;
  ++open_;
  patches_.rehearse(patch,
                    [this, index](Result<WriteEffect> effect) { tried(index, std::move(effect)); });
}

// Under a definition that the same output applies it cannot be tried yet. What is only created
// changes none: that of the owner's kind is there.
bool OutcomeWriter::tries_status() const {
  const bool told = plan_.status || !plan_.conditions.empty();
  return told && !plan_.status_alone &&
         !defined_by_first(plan_.manifests.size(), context_.owner_type());
}

void OutcomeWriter::try_status(std::size_t index) {
  ++open_;
  status_.rehearse(plan_.status, plan_.conditions, [this, index](Result<bool> answer) {
    if (answer.ok()) return tried(index, WriteEffect::unchanged);
    tried(index, explained(std::move(answer.error())));
  });
}

void OutcomeWriter::tried(std::size_t index, Result<WriteEffect> effect) {
  --open_;
  if (!effect.ok()) {
    refusals_.emplace_back(index, std::move(effect.error()));
  } else if (index < manifest_count() && *effect != WriteEffect::created) {
    there_.insert(manifest_at(index).id());
  }
  rehearse();
}

void OutcomeWriter::judge_refusals() {
  const std::size_t before = report_.failures.size();
  const bool written = at_ > 0;
  for (auto& [index, error] : std::exchange(refusals_, {})) {
    if (const auto lacking = lacking_of(index, error)) {
      // Patches are the last: the write itself is judged.
      if (index < manifest_count()) waiting_[index] = *lacking;
    } else if (!written || !core::is_unknown_path(error) || index >= manifest_count() ||
               !defined_by_first(manifest_count(), manifest_at(index).type)) {
      // Else its definition is written: how soon its kind is served nobody knows.
      report_.child_refused = report_.child_refused || may_be_early(error);
      note_refusal(std::move(error));
    }
  }
  if (report_.failures.size() > before) return write_status();
  written ? next_children() : begin();
}

// A webhook may refuse what is only tried. Unless the rule wants all to be tried, the write itself
// is judged then.
void OutcomeWriter::note_refusal(Error error) {
  const bool untried =
      error.status() != nullptr && error.status()->message.find(kNoDryRun) != std::string::npos;
  if (untried && context_.rule().apply.validate != Validate::server) return;
  report_.failures.push_back(std::move(error));
}

std::optional<std::size_t> OutcomeWriter::lacking_of(std::size_t index,
                                                     const Error& refusal) const {
  const bool child = index < manifest_count();
  if (!child && index - manifest_count() >= plan_.patches.size()) return std::nullopt;
  const core::ResourceType& type =
      child ? manifest_at(index).type : plan_.patches[index - manifest_count()].type;
  const core::ObjectKey& key =
      child ? manifest_at(index).key : plan_.patches[index - manifest_count()].key;
  for (std::size_t i = at_; i < std::min(index, manifest_count()); ++i) {
    const Manifest& other = manifest_at(i);
    if (class_of(i) == class_of(index)) continue;  // written side by side
    // A definition that is there may be without this version.
    if (refusal.is_not_found() && defines(other, type)) return i;
    if (there_.count(other.id()) > 0) continue;
    if (refusal.is_not_found() && is_namespace(other, key.namespace_)) return i;
    if (says_lacking(refusal, key.namespace_, other.type.gvk, other.key)) return i;
  }
  return std::nullopt;
}

bool OutcomeWriter::defined_by_first(std::size_t count, const core::ResourceType& type) const {
  for (std::size_t i = 0; i < count; ++i) {
    if (defines(manifest_at(i), type)) return true;
  }
  return false;
}

bool OutcomeWriter::may_try_waiting() const {
  return open_ == 0 && std::any_of(waiting_.begin(), waiting_.end(),
                                   [&](const auto& one) { return one.second < at_; });
}

void OutcomeWriter::try_waiting() {
  to_try_.clear();
  next_try_ = 0;
  for (const auto& [index, lacking] : waiting_) {
    if (lacking < at_) to_try_.push_back(index);
  }
  for (const std::size_t index : to_try_) waiting_.erase(index);
  rehearse();
}

}  // namespace kubewatch::hooks
