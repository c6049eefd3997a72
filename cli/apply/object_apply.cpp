#include "cli/apply/object_apply.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/apply/apply_set.hpp"
#include "cli/apply/manifest_notes.hpp"
#include "client/apply_result.hpp"
#include "client/retry.hpp"
#include "client/sender.hpp"
#include "core/url.hpp"
#include "hooks/changed_paths.hpp"
#include "hooks/forced_paths.hpp"
#include "hooks/output.hpp"
#include "hooks/write_order.hpp"
#include "runtime/object_status.hpp"
#include "schema/crd_check.hpp"
#include "schema/managed_entries.hpp"

namespace kubewatch::cli {

namespace {

constexpr int kRounds = 10;
constexpr std::size_t kMostPaths = 1000;
constexpr std::size_t kMostDefaults = 8;
constexpr Duration kUsableWithin{30000};
constexpr Duration kUsablePause{100};
constexpr Duration kSeenPause{200};

// A namespace whose phase is not told yet, a CRD that is not established.
bool must_be_awaited(const core::Gvk& gvk, const Json& object) {
  if (hooks::is_crd(gvk)) return !schema::is_crd_established(object);
  return gvk.group.empty() && gvk.kind == "Namespace" &&
         base::string_at(object, {"status", "phase"}).empty();
}

// Status apart: controllers write that as soon as they see an object.
bool is_only_of(const Json& object, const std::string& manager) {
  const Json* managed = schema::managed_fields_of(object);
  return managed != nullptr && managed->is_array() && !managed->empty() &&
         std::all_of(managed->begin(), managed->end(), [&](const Json& entry) {
           return base::string_at(entry, {"manager"}) == manager ||
                  !base::string_at(entry, {"subresource"}).empty();
         });
}

// What keeps a CRD from being established: its names are another's, who may be going, or what the
// server says of that.
std::string why_not_established(const Json& crd) {
  const Json* names = runtime::find_condition(crd, "NamesAccepted");
  const bool refused = names != nullptr && base::string_at(*names, {"status"}) == "False";
  return runtime::describe_condition(crd, refused ? "NamesAccepted" : "Established");
}

std::string version_of(const Json& object) {
  return base::string_at(object, {"metadata", "resourceVersion"});
}

}  // namespace

Change compare(const Json& before, const Json& after, std::size_t most) {
  if (before.is_null()) return {ApplyOutcome::What::created, {}};
  // What is written only when something is written: equal means untouched. A dry run's answer has
  // the old one whatever it would do.
  auto changed = hooks::changed_paths(base::dump_json(before), base::dump_json(after), most);
  const bool touched = !changed.empty() || version_of(before) != version_of(after);
  return {touched ? ApplyOutcome::What::configured : ApplyOutcome::What::unchanged,
          std::move(changed)};
}

Result<Json> scale_body(const Json& manifest, const core::ResourceType& type) {
  const auto found = std::find_if(type.subresources.begin(), type.subresources.end(),
                                  [](const auto& one) { return one.name == "scale"; });
  if (found == type.subresources.end()) {
    return Error(ErrorKind::unsupported, type.qualified_plural() + " have no subresource scale");
  }
  const Json* spec = base::find(manifest, {"spec"});
  const Json* replicas = base::find(manifest, {"spec", "replicas"});
  if (replicas == nullptr || !replicas->is_number_integer() || spec->size() != 1) {
    return Error(ErrorKind::invalid,
                 "with --subresource=scale a manifest says spec.replicas and no other field of the "
                 "spec");
  }
  core::Gvk gvk = found->kind;
  if (gvk.kind.empty()) gvk = {"autoscaling", "v1", "Scale"};
  Json metadata = {{"name", manifest["metadata"]["name"]}};
  if (const auto place = base::string_at(manifest, {"metadata", "namespace"}); !place.empty()) {
    metadata["namespace"] = place;
  }
  return Json{{"apiVersion", gvk.api_version()},
              {"kind", gvk.kind},
              {"metadata", std::move(metadata)},
              {"spec", {{"replicas", *replicas}}}};
}

ObjectApply::ObjectApply(client::Client& client, const ApplyOptions& options,
                         const hooks::SecretHash& secrets, const Manifest& manifest,
                         core::ResourceType type, core::ObjectKey key)
    : client_(client),
      options_(options),
      secrets_(secrets),
      manifest_(manifest),
      type_(std::move(type)),
      key_(std::move(key)) {}

void ObjectApply::start(Done done) {
  done_ = std::move(done);
  if (!listed_) return read();
  // Not before this returns.
  timer_ = client_.loop().after(Duration{0}, [this] {
    const std::string text = std::move(listed_text_);
    if (text.empty()) return on_read(Json());
    auto object = base::parse_json(text);
    if (!object.ok()) return read();
    // Items of built-in kinds do not say what they are.
    (*object)["apiVersion"] = type_.gvk.api_version();
    (*object)["kind"] = type_.gvk.kind;
    on_read(std::move(object));
  });
}

void ObjectApply::know(std::string listed) {
  listed_text_ = std::move(listed);
  listed_ = true;
}

void ObjectApply::assume(ApplyOutcome::Lacks lacks) {
  const bool is_new = outcome_.before.is_null();
  outcome_.what = is_new ? ApplyOutcome::What::created : ApplyOutcome::What::configured;
  outcome_.after = is_new ? manifest_.object : outcome_.before;
  outcome_.error.reset();
  outcome_.lacks = std::move(lacks);
}

void ObjectApply::end(std::optional<Error> error) {
  if (error && attempt_ > 0 && error->is_retryable()) {
    error = std::move(*error).with_context(
        fmt::format("given up after {} tries in {}", attempt_ + 1, base::format_duration(spent_)));
  }
  if (error) outcome_.error = std::move(error);
  done_();
}

bool ObjectApply::again(const Error& error, std::function<void()> step) {
  if (stopped_ && stopped_()) return false;
  const TimePoint now = client_.loop().now();
  if (!failing_since_) failing_since_ = now;
  spent_ = std::max(spent_, now - *failing_since_);  // attempts take their time as well
  auto delay = client::retry_delay(error, attempt_, spent_);
  if (!delay && answered_ && answered_()) {
    delay = client::reconnect_delay(error, attempt_, spent_);
  }
  if (!delay) return false;
  ++attempt_;
  spent_ += *delay;
  if (on_pause_) on_pause_(error, *delay);
  timer_ = client_.loop().after(*delay, std::move(step));
  return true;
}

bool ObjectApply::again_if_early(const Error& error, std::function<void()> step) {
  if (stopped_ && stopped_()) return false;
  const bool early = seen_by_ && client_.loop().now() < *seen_by_;
  if (!early || !hooks::may_be_early(error)) return false;
  timer_ = client_.loop().after(kSeenPause, std::move(step));
  return true;
}

void ObjectApply::note_answer(const Error* error) {
  const bool answered = error == nullptr || error->status() != nullptr;
  if (answered && on_answer_) on_answer_();
}

void ObjectApply::get(std::function<void(Result<Json>)> done) {
  if (options_.subresource != "scale") {
    return requests_.run<Result<Json>>(
        std::move(done), [&](auto ready) { return client_.get(type_, key_, std::move(ready)); });
  }
  auto parse = [this, done = std::move(done)](Result<http::Response> answer) {
    if (!answer.ok()) return done(std::move(answer).error());
    const std::string what = "GET " + core::object_path(type_, key_, "scale");
    if (answer->status >= 300) {
      return done(
          client::error_of_answer(answer->status, answer->headers, answer->body, &client_.config())
              .with_context(what));
    }
    auto scale = base::parse_json(answer->body);
    if (!scale.ok()) {
      return done(client::unreadable_answer(std::move(scale).error()).with_context(what));
    }
    done(std::move(scale));
  };
  requests_.run<Result<http::Response>>(std::move(parse), [&](auto ready) {
    return client_.raw("GET", core::object_path(type_, key_, "scale"), std::move(ready));
  });
}

void ObjectApply::read() {
  listed_ = false;
  get([this](Result<Json> answer) { on_read(std::move(answer)); });
}

void ObjectApply::on_read(Result<Json> answer) {
  note_answer(answer.ok() ? nullptr : &answer.error());
  if (!answer.ok() && !answer.error().is_not_found()) {
    if (again(answer.error(), [this] { read(); })) return;
    return end(std::move(answer).error());
  }
  outcome_.before = answer.ok() ? std::move(*answer) : Json();
  if (belongs_to_other_set()) return end(in_other_set(outcome_.other_set));
  if (outcome_.before.is_null() || !options_.subresource.empty()) return apply(false);
  rehearsed_.reset();
  outcome_.migrated.clear();
  auto migration = plan_migration(outcome_.before, options_.manager, options_.migrate_from);
  if (!migration.ok()) return end(std::move(migration).error());
  if (!*migration) return apply(false);
  outcome_.migrated = (*migration)->managers;
  if (!options_.dry_run) return migrate(**migration);
  rehearsed_ = std::move(**migration);
  apply(false);
}

bool ObjectApply::belongs_to_other_set() {
  if (!options_.joins_set) return false;
  auto other = set_conflict(outcome_.before, manifest_.object);
  if (!other) return false;
  if (options_.force.moves(*other)) {
    note_forced({std::move(*other)});
    return false;
  }
  outcome_.what = ApplyOutcome::What::conflict;
  outcome_.other_set = other->theirs.get<std::string>();
  outcome_.conflicts = {std::move(*other)};
  return true;
}

// A move to another set is one even where the server has no conflict of it to tell.
void ObjectApply::note_forced(std::vector<FieldConflict> taken) {
  const bool told = std::any_of(taken.begin(), taken.end(), is_of_set);
  if (!told) std::erase_if(outcome_.forced, [](const auto& one) { return !is_of_set(one); });
  if (told) outcome_.forced.clear();
  for (auto& one : taken) outcome_.forced.push_back(std::move(one));
}

void ObjectApply::migrate(const Migration& migration) {
  core::PatchParams params;
  params.type = core::PatchType::json;
  params.field_manager = options_.manager;
  requests_.run<Result<client::ApplyResult>>(
      [this](Result<client::ApplyResult> answer) {
        if (answer.ok()) {
          // What others see of the object has not changed: paths are told against the same state.
          outcome_.before = std::move(answer->object);
          return apply(false);
        }
        const bool moved = answer.error().is_conflict() ||
                           (std::exchange(listed_, false) && !answer.error().is_retryable());
        if (moved && ++rounds_ < kRounds) return read();
        if (again(answer.error(), [this] { read(); })) return;
        end(std::move(answer).error().with_context("handing over client-side ownership"));
      },
      [&](auto ready) {
        return client_.patch(type_, key_, migration.patch, params, std::move(ready));
      });
}

void ObjectApply::apply(bool force) {
  core::PatchParams params;
  params.type = core::PatchType::apply;
  params.field_manager = options_.manager;
  params.force = force;
  params.dry_run = options_.dry_run;
  params.field_validation = options_.field_validation;
  Json body = manifest_.object;
  if (options_.subresource == "scale") {
    auto scale = scale_body(manifest_.object, type_);
    if (!scale.ok()) return end(std::move(scale).error());
    body = std::move(*scale);
  }
  // Force takes all conflicts that there are, so it may only meet the state whose conflicts were
  // judged. And what changed since a list is not to be told as changed by us.
  const std::string version = version_of(outcome_.before);
  // Nor may another set have got it in between.
  const bool joins = options_.joins_set && set_of(outcome_.before) != set_of(manifest_.object);
  if ((force || listed_ || joins) && !version.empty() && version_of(body).empty()) {
    body["metadata"]["resourceVersion"] = version;
  }
  requests_.run<Result<client::ApplyResult>>(
      [this, force](Result<client::ApplyResult> answer) { on_applied(force, std::move(answer)); },
      [&](auto ready) {
        return client_.patch(type_, key_, body, params, std::move(ready), options_.subresource);
      });
}

void ObjectApply::on_applied(bool force, Result<client::ApplyResult> answer) {
  note_answer(answer.ok() ? nullptr : &answer.error());
  if (answer.ok()) return judge(std::move(*answer));
  const Error& error = answer.error();
  if (error.is_unreachable() && !before_lost_) before_lost_ = outcome_.before;
  const bool was_listed = std::exchange(listed_, false);
  const bool refused = error.is_conflict() || !error.is_retryable();
  if (was_listed && refused) return read();
  if (hooks::is_field_conflict(error)) return on_conflict(error);
  // The object changed between read and forced apply, or faster than the server's own retries.
  const bool own_version = !version_of(manifest_.object).empty();
  if (error.is_conflict() && !own_version && ++rounds_ < kRounds) return read();
  const bool anew = force || was_listed;
  const auto step = [this, anew] { anew ? read() : apply(false); };
  if (again_if_early(error, step) || again(error, step)) return;
  end(std::move(answer).error());
}

void ObjectApply::on_conflict(const Error& error) {
  Json before = outcome_.before;
  Json manifest = manifest_.object;
  secrets_.hide(before, hooks::SecretHash::Reader::person);
  secrets_.hide(manifest, hooks::SecretHash::Reader::person);
  auto conflicts = conflicts_of(error, before, manifest);
  // Made by someone between the two requests.
  if (outcome_.before.is_null() && ++rounds_ < kRounds) return read();
  std::vector<FieldConflict> left;
  for (auto& one : conflicts) {
    const bool rehearsed =
        rehearsed_ && std::find(rehearsed_->managers.begin(), rehearsed_->managers.end(),
                                one.owner) != rehearsed_->managers.end();
    if (!rehearsed) left.push_back(std::move(one));
  }
  if (left.empty() || options_.force.takes_all(left)) {
    note_forced(std::move(left));
    return apply(true);
  }
  outcome_.what = ApplyOutcome::What::conflict;
  outcome_.conflicts = std::move(left);
  end(error);
}

void ObjectApply::judge(client::ApplyResult answer) {
  outcome_.after = std::move(answer.object);
  const bool repeated = before_lost_.has_value();
  if (repeated) outcome_.before = std::move(*before_lost_);
  if (answer.created) outcome_.before = Json();
  // Made by someone since it was asked for: what we changed of it nobody can tell. By us, where the
  // answer to that was lost and nobody else has been at it.
  outcome_.made_meanwhile = outcome_.before.is_null() && !answer.created &&
                            !(repeated && is_only_of(outcome_.after, options_.manager));
  if (outcome_.made_meanwhile && options_.dry_run && ++rounds_ < kRounds) {
    // Nothing was written: what it would change of the object that is there now can be told.
    before_lost_.reset();
    return read();
  }
  const bool removes = rehearsed_ && rehearse(*rehearsed_, options_.manager, outcome_.after);
  removes ? complete_rehearsal() : tell_changes();
}

// What client-side apply created it owns whole, defaults included; the server would put those back,
// and only the server knows them. An update has no other effect in a dry run than to show that.
void ObjectApply::complete_rehearsal() {
  Json body = schema::without_managed(outcome_.after);
  // Written, never read: the server makes `data` of it.
  if (const Json* written = base::find(manifest_.object, {"stringData"})) {
    if (type_.gvk.kind == "Secret") body["stringData"] = *written;
  }
  core::WriteParams params;
  params.dry_run = true;
  params.field_manager = options_.manager;
  requests_.run<Result<Json>>(
      [this](Result<Json> answer) {
        // Who may not update sees what the apply takes away, and not what the server puts back.
        if (answer.ok()) {
          Json managed = std::move(outcome_.after["metadata"]["managedFields"]);
          outcome_.after = std::move(*answer);
          outcome_.after["metadata"]["managedFields"] = std::move(managed);
        }
        tell_changes();
      },
      [&](auto ready) { return client_.update(type_, body, params, std::move(ready)); });
}

void ObjectApply::tell_changes() {
  Change change = compare(outcome_.before, outcome_.after, kMostPaths);
  outcome_.what = outcome_.made_meanwhile ? ApplyOutcome::What::configured : change.what;
  // A dry run's answer has the resourceVersion of before, whatever it would write.
  if (options_.dry_run && outcome_.what == ApplyOutcome::What::unchanged &&
      !schema::same_owners(schema::managed_fields_of(outcome_.before),
                           schema::managed_fields_of(outcome_.after))) {
    outcome_.what = ApplyOutcome::What::configured;
  }
  outcome_.changed = std::move(change.changed);
  if (outcome_.what != ApplyOutcome::What::created && options_.subresource.empty()) {
    outcome_.defaults =
        taken_defaults(outcome_.before, outcome_.after, options_.manager, kMostDefaults);
  }
  if (options_.dry_run || !options_.subresource.empty() ||
      !must_be_awaited(type_.gvk, outcome_.after)) {
    return end(std::nullopt);
  }
  usable_by_ = client_.loop().now() + kUsableWithin;
  await_usable();
}

void ObjectApply::await_usable() {
  get([this](Result<Json> answer) {
    if (answer.ok() && !must_be_awaited(type_.gvk, *answer)) return end(std::nullopt);
    if (!answer.ok() && !answer.error().is_retryable()) return end(std::move(answer).error());
    if (client_.loop().now() < usable_by_) {
      timer_ = client_.loop().after(kUsablePause, [this] { await_usable(); });
      return;
    }
    const bool crd = hooks::is_crd(type_.gvk);
    std::string why = fmt::format("applied, but not {} within {}", crd ? "established" : "active",
                                  base::format_duration(kUsableWithin));
    if (crd && answer.ok()) why += ": " + why_not_established(*answer);
    end(Error(ErrorKind::timeout, std::move(why)));
  });
}

}  // namespace kubewatch::cli
