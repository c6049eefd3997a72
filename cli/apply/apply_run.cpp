#include "cli/apply/apply_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/apply/listed_states.hpp"
#include "cli/apply/manifest_notes.hpp"
#include "cli/resource_args.hpp"
#include "client/login_waits.hpp"
#include "hooks/field_warnings.hpp"
#include "hooks/output.hpp"

namespace kubewatch::cli {

namespace {

constexpr Duration kServedWithin{15000};
constexpr Duration kServedPause{100};
constexpr Duration kLong{3600000};
// What was written is in the caches that a server looks it up in.
constexpr Duration kSeenWithin{2000};
// What is not listed by then is read one by one.
constexpr Duration kListWithin{10000};
constexpr std::size_t kListsAtOnce = 4;
constexpr std::size_t kMostWarnings = 20;

std::vector<std::string> warnings_of(Json& manifest, bool strip, const ApplyOptions& options) {
  std::vector<std::string> out;
  const bool keep_status = options.subresource == "status";
  if (strip) {
    strip_server_fields(manifest, keep_status);
  } else {
    for (const auto& path : server_fields_of(manifest, keep_status)) {
      out.push_back(path + " is the server's; leave it out, or use --strip-server-fields");
    }
  }
  Json rest = manifest;  // what was told is not told as null as well
  strip_server_fields(rest, keep_status);
  for (const auto& text : hooks::field_warnings(rest, kMostWarnings)) {
    out.push_back("." + text + ": it will be owned like any value");
  }
  return out;
}

// Whether the CRD makes the kind as it is known, which may be as another CRD made it before.
bool is_made_by(const Json& crd, const core::ResourceType& type) {
  const std::string scope = base::string_at(crd, {"spec", "scope"});
  return type.plural == base::string_at(crd, {"spec", "names", "plural"}) &&
         (scope.empty() || type.namespaced == (scope != "Cluster"));
}

}  // namespace

ApplyRun::Stage ApplyRun::Slot::stage() const {
  if (order_class == hooks::OrderClass::namespaces) return Stage::namespaces;
  return order_class == hooks::OrderClass::definitions ? Stage::definitions : Stage::objects;
}

ApplyRun::ApplyRun(Session& session, const ApplyOptions& options, ApplyReport& report,
                   const hooks::SecretHash& secrets, std::size_t concurrency)
    : session_(session),
      options_(options),
      report_(report),
      secrets_(secrets),
      concurrency_(concurrency),
      pace_(concurrency),
      idle_paths_(options.force.paths) {
  // As refusals are: who applies Secrets from here has them.
  session_.client().show_all_warnings();
}

ApplyRun::~ApplyRun() {
  session_.bound_waits(std::nullopt);
}

void ApplyRun::stop_when(std::function<bool()> stopped) {
  stopped_ = std::move(stopped);
  // It bounds nothing: what was sent is waited for. But it is asked in each turn.
  session_.bound_waits(Session::Bound{TimePoint::max(), "", [this] {
                                        end_login_waits();
                                        return false;
                                      }});
}

// Of an interruption nobody waits for a login any more: its program may take minutes.
void ApplyRun::end_login_waits() const {
  if (stopped_ && stopped_()) client::cancel_login_waits();
}

const ApplyRun::Slot* ApplyRun::own_crd(const core::Gvk& gvk) const {
  for (const std::size_t index : crds_) {
    const Slot& crd = slots_[index];
    // Nobody serves what was refused.
    if (crd.error || (crd.apply && crd.finished && crd.apply->outcome().error)) continue;
    if (hooks::type_from_crd(crd.manifest.object, gvk)) return &crd;
  }
  return nullptr;
}

Result<void> ApplyRun::take(std::vector<Manifest> manifests, bool strip, const std::string& asked) {
  slots_.reserve(manifests.size());
  for (auto& manifest : manifests) {
    Slot slot;
    KW_ASSIGN(slot.gvk, core::gvk_of(manifest.object));
    slot.manifest = std::move(manifest);
    slot.warnings = warnings_of(slot.manifest.object, strip, options_);
    slot.order_class = hooks::order_class(slot.gvk);
    if (slot.stage() == Stage::definitions) crds_.push_back(slots_.size());
    slots_.push_back(std::move(slot));
  }
  for (auto& slot : slots_) {
    KW_ASSIGN(std::optional<core::ResourceType> type, session_.type_of(slot.gvk));
    const Slot* crd = own_crd(slot.gvk);
    if (crd != nullptr && !(type && is_made_by(crd->manifest.object, *type))) {
      type = hooks::type_from_crd(crd->manifest.object, slot.gvk);
    }
    slot.key.name = base::string_at(slot.manifest.object, {"metadata", "name"});
    const bool namespaced = !type || type->namespaced;
    KW_ASSIGN(slot.key.namespace_, namespace_of(slot.manifest, namespaced, asked,
                                                session_.client().config().namespace_));
    if (!namespaced) {
      slot.key.namespace_.clear();
      continue;
    }
    // Unknown kinds get it when they are known.
    if (type) slot.manifest.object["metadata"]["namespace"] = slot.key.namespace_;
    namespaces_.insert(slot.key.namespace_);
  }
  return {};
}

bool ApplyRun::several_kinds() const {
  return std::any_of(slots_.begin(), slots_.end(),
                     [&](const Slot& slot) { return slot.gvk != slots_.front().gvk; });
}

Result<SetContents> ApplyRun::join(const std::string& set_id, const std::string& parent_namespace) {
  SetContents out;
  for (auto& slot : slots_) {
    KW_TRY(join_set(slot.manifest.object, set_id));
    core::ResourceType type;
    type.gvk = slot.gvk;
    type.namespaced = !slot.key.namespace_.empty();
    out.add(type, slot.key, parent_namespace);
  }
  return out;
}

// Discovered again once; longer when its CRD was applied a moment ago.
Result<core::ResourceType> ApplyRun::find_type(const Slot& slot) {
  const TimePoint deadline = session_.loop().now() + kServedWithin;
  const Slot* crd = own_crd(slot.gvk);
  const bool awaited = !options_.dry_run && crd != nullptr;
  for (int attempt = 0;; ++attempt) {
    KW_ASSIGN(auto type, session_.type_of(slot.gvk));
    const bool last = attempt > 0 && (!awaited || session_.loop().now() > deadline || !goes_on());
    const bool believed =
        type && (crd == nullptr || is_made_by(crd->manifest.object, *type)) &&
        (options_.subresource != "scale" || session_.has_asked() || type->has_subresource("scale"));
    if (type && (last || believed)) return std::move(*type);
    if (last) break;
    if (attempt > 0) session_.loop().run_until([] { return false; }, kServedPause);
    session_.forget_resources();
  }
  // Its CRD is made by this call, and a dry run makes nothing.
  if (options_.dry_run && crd != nullptr) {
    if (auto type = hooks::type_from_crd(crd->manifest.object, slot.gvk)) return std::move(*type);
  }
  return resolve_manifest(session_, slot.manifest);
}

std::optional<ApplyOutcome::Lacks> ApplyRun::lacks_place(const Slot& slot) {
  if (!options_.dry_run) return std::nullopt;
  const auto type = session_.type_of(slot.gvk);
  if (type.ok() && !type->has_value()) {
    if (const Slot* crd = own_crd(slot.gvk)) return ApplyOutcome::Lacks{crd->gvk, crd->key};
  }
  for (const Slot& other : slots_) {
    const bool its = other.stage() == Stage::namespaces && other.key.name == slot.key.namespace_;
    if (its && other.made) return ApplyOutcome::Lacks{other.gvk, other.key};
  }
  return std::nullopt;
}

std::optional<ApplyOutcome::Lacks> ApplyRun::refused_for(const Slot& slot) const {
  const auto& refusal = slot.apply->outcome().error;
  if (!options_.dry_run || !refusal) return std::nullopt;
  for (const Slot& other : slots_) {
    if (other.made && other.order_class < slot.order_class &&
        hooks::says_lacking(*refusal, slot.key.namespace_, other.gvk, other.key)) {
      return ApplyOutcome::Lacks{other.gvk, other.key};
    }
  }
  return std::nullopt;
}

void ApplyRun::prepare(Stage stage) {
  std::set<core::Gvk> unknown;  // asked for once, however many objects there are
  std::set<core::Gvk> told;
  for (auto& slot : slots_) {
    if (slot.stage() != stage) continue;
    auto type =
        unknown.count(slot.gvk) > 0 ? resolve_manifest(session_, slot.manifest) : find_type(slot);
    if (!type.ok()) {
      unknown.insert(slot.gvk);
      unreachable_ = unreachable_ || type.error().is_unreachable();
      slot.error = std::move(type).error();
      slot.finished = true;
      continue;
    }
    if (on_type_ && told.insert(type->gvk).second) on_type_(*type);
    if (type->namespaced) {
      // It was taken for a kind without namespaces.
      if (slot.key.namespace_.empty()) {
        slot.key.namespace_ = base::string_at(slot.manifest.object, {"metadata", "namespace"});
      }
      if (slot.key.namespace_.empty()) {
        slot.key.namespace_ = session_.client().config().namespace_;
      }
      slot.manifest.object["metadata"]["namespace"] = slot.key.namespace_;
    } else {
      slot.key.namespace_.clear();
      slot.manifest.object["metadata"].erase("namespace");
    }
    slot.apply = std::make_unique<ObjectApply>(session_.client(), options_, secrets_, slot.manifest,
                                               std::move(*type), slot.key);
    slot.apply->stop_when([this] { return !goes_on(); });
    slot.apply->on_answer([this] { answered_ = true; });
    slot.apply->reconnect_when([this] { return answered_; });
    slot.apply->on_pause([this, &slot](const Error& why, Duration pause) {
      slot.paused = true;
      pace_.busy();
      report_.note_pause(*slot.apply, why, pause, session_.loop().now());
    });
    if (stage != Stage::objects) continue;
    if (auto lacks = lacks_place(slot)) {
      slot.apply->assume(std::move(*lacks));
      slot.finished = true;
    }
  }
}

void ApplyRun::finish(Slot& slot) {
  slot.finished = true;
  if (auto lacks = refused_for(slot)) slot.apply->assume(std::move(*lacks));
  const ApplyOutcome& outcome = slot.apply->outcome();
  conflicts_left_ = conflicts_left_ || !outcome.conflicts.empty();
  unasked_ = unasked_ || !outcome.other_set.empty();
  for (const auto* conflicts : {&outcome.conflicts, &outcome.forced}) {
    for (const FieldConflict& one : *conflicts) {
      std::erase_if(idle_paths_,
                    [&](const std::string& path) { return ForcePolicy::covers(path, one); });
    }
  }
  if (outcome.error) {
    unreachable_ = unreachable_ || outcome.error->is_unreachable();
    return;
  }
  slot.made = outcome.what == ApplyOutcome::What::created;
  const bool written = slot.made || outcome.what == ApplyOutcome::What::configured;
  // What is known of its kind is of another CRD, or of this one as it was.
  if (slot.stage() == Stage::definitions && (slot.made || (written && !options_.dry_run))) {
    session_.forget_resources();
  }
  if (written && !options_.dry_run && slot.order_class == hooks::OrderClass::looked_up) {
    looked_up_by_ = session_.loop().now() + kSeenWithin;
  }
  uids_.insert(base::string_at(outcome.after, {"metadata", "uid"}));
  if (slot.stage() == Stage::objects && listener_.applied) listener_.applied(*slot.apply);
}

std::vector<std::string> ApplyRun::idle_paths() const {
  const bool all_told =
      std::all_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.finished; });
  return conflicts_left_ && all_told && !unasked_ ? idle_paths_ : std::vector<std::string>();
}

void ApplyRun::read_together(const std::vector<ObjectApply*>& applies) {
  // The state of a scale is no item of a list.
  if (!options_.list_many || options_.subresource == "scale") return;
  ListedStates states(session_.client(), std::min(kListsAtOnce, concurrency_));
  for (const ObjectApply* one : applies) states.expect(one->type(), one->key());
  bool all_read = false;
  states.read([&] { all_read = true; });
  session_.loop().run_until([&] { return all_read || !goes_on(); }, kListWithin);
  for (ObjectApply* one : applies) {
    auto state = states.take(one->type(), one->key());
    if (!state) continue;
    answered_ = true;
    one->know(std::move(*state));
  }
}

void ApplyRun::run(Stage stage) {
  prepare(stage);
  std::vector<Slot*> waiting;
  std::vector<ObjectApply*> applies;
  for (auto& slot : slots_) {
    if (slot.stage() != stage || !slot.apply || slot.finished) continue;
    waiting.push_back(&slot);
    applies.push_back(slot.apply.get());
  }
  hooks::sort_for_writing(waiting, [](const Slot* slot) { return slot->gvk; });
  if (stage == Stage::objects && listener_.before && !applies.empty()) {
    if (auto ready = listener_.before(applies); !ready.ok()) {
      for (Slot* slot : waiting) {
        slot->error = ready.error();
        slot->apply.reset();
        slot->finished = true;
      }
      return;
    }
  }
  read_together(applies);
  std::size_t next = 0;
  std::size_t open = 0;
  // An object that is given twice is written twice, in the order of the input.
  std::set<std::pair<std::string, core::ObjectKey>> busy;
  const auto name_of = [](const Slot& slot) { return std::pair(slot.gvk.group_kind(), slot.key); };
  while (open > 0 || (next < waiting.size() && goes_on())) {
    for (; open < pace_.limit() && next < waiting.size() && goes_on(); ++next) {
      Slot& slot = *waiting[next];
      if (open > 0 && slot.order_class != waiting[next - 1]->order_class) break;
      if (!busy.insert(name_of(slot)).second) break;
      ++open;
      if (looked_up_by_ && slot.order_class == hooks::OrderClass::rest) {
        slot.apply->retry_refusals_until(*looked_up_by_);
      }
      const TimePoint begin = session_.loop().now();
      slot.apply->start([this, &slot, &open, &busy, &name_of, begin] {
        --open;
        if (!slot.paused) pace_.note(session_.loop().now() - begin);
        busy.erase(name_of(slot));
        finish(slot);
      });
    }
    const std::size_t before = open;
    const auto one_ended = [&] {
      end_login_waits();
      return open < before;
    };
    if (open > 0) session_.loop().run_until(one_ended, kLong);
    report_finished();
  }
}

void ApplyRun::report_finished() {
  for (; reported_ < slots_.size() && slots_[reported_].finished; ++reported_) {
    Slot& slot = slots_[reported_];
    const bool failed = slot.error || slot.apply->outcome().error;
    if (failed) ++failures_;
    if (slot.error) {
      report_.add_failed(slot.manifest, *slot.error);
    } else {
      name_other_set(slot.apply->outcome());
      report_.add(*slot.apply, slot.warnings);
    }
    slot.apply.reset();
    // What a CRD defines is looked up again when its objects' turn comes.
    if (slot.stage() == Stage::objects || failed) slot.manifest.object = Json();
  }
  report_.flush();
}

void ApplyRun::name_other_set(ApplyOutcome& outcome) {
  if (outcome.other_set.empty() || !name_of_set_ || !goes_on()) return;
  outcome.error = in_other_set(name_of_set_(outcome.other_set));
}

// After an interruption each object that was not begun is told.
void ApplyRun::give_up_rest() {
  for (auto& slot : slots_) {
    if (slot.finished) continue;
    slot.apply.reset();
    slot.error.emplace(ErrorKind::canceled, "not applied: interrupted");
    slot.finished = true;
  }
}

bool ApplyRun::apply_all() {
  for (const Stage stage : {Stage::namespaces, Stage::definitions, Stage::objects}) {
    if (!goes_on()) break;
    run(stage);
    report_finished();
  }
  if (!goes_on() && !unreachable_) {
    give_up_rest();
    report_finished();
  }
  // Those that never began, and finished ones behind them.
  std::vector<const Manifest*> left;
  for (const Slot& slot : slots_) {
    if (!slot.finished) left.push_back(&slot.manifest);
  }
  failures_ += left.size();
  for (; reported_ < slots_.size(); ++reported_) {
    Slot& slot = slots_[reported_];
    if (!slot.finished) continue;
    if (slot.error || slot.apply->outcome().error) ++failures_;
    slot.error ? report_.add_failed(slot.manifest, *slot.error)
               : report_.add(*slot.apply, slot.warnings);
  }
  report_.note_left(left);
  return left.empty();
}

}  // namespace kubewatch::cli
