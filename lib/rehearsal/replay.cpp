#include "rehearsal/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "hooks/record_mask.hpp"
#include "hooks/recorded_request.hpp"
#include "hooks/recording_format.hpp"
#include "hooks/text_diff.hpp"
#include "hooks/verdict.hpp"
#include "rehearsal/recorded_ground.hpp"
#include "rehearsal/recorded_state.hpp"
#include "rehearsal/replay_kinds.hpp"
#include "rehearsal/world.hpp"

namespace kubewatch::rehearsal {

namespace {

constexpr std::uint64_t kMostRuns = 1'000'000;  // of one event
constexpr std::size_t kShownFailures = 20;
constexpr Duration kLongest = std::chrono::hours(366 * 24);

// What all entries together say, read before anything is run.
struct Outline {
  Json start;
  std::vector<Json> kinds;
  RecordedState state;
  RecordedGround ground;
  WriteEntries writes;
  std::size_t runs = 0;
  std::map<std::string, std::string> outcomes;  // of the last run of "copier ConfigMap shop/a"
  std::string end;                              // "done", "full"; "" = there is none
  std::string damage;                           // "line 17: ..."; what follows is not replayed
  bool whole = false;
};

std::int64_t number_at(const Json& entry, const char* key) {
  return base::int_at(entry, {key}).value_or(0);
}

bool is_true(const Json& entry, const char* key) {
  const Json* value = base::find(entry, {key});
  return value != nullptr && *value == Json(true);
}

void note_own(const Json& write, RecordedState& state) {
  const auto code = number_at(write, "code");
  if (code < 200 || code >= 300) return;
  const std::string path = base::string_at(write, {"path"});
  state.note_own(path, base::string_at(write, {"rv"}));
  if (base::string_at(write, {"verb"}) == "delete") state.note_own_deletion(path);
}

// "" when the entry counts; `last`: the time of the one before. A replay goes through all time
// between two entries.
std::string damage_of(const Result<Json>& entry, Duration& last) {
  if (!entry.ok() || !entry->is_object()) return "it is no JSON object";
  if (!entry->contains("at")) return "";
  const Json& at = (*entry)["at"];
  // Their comparison would take the largest for negative.
  const auto most = static_cast<std::uint64_t>(kLongest.count());
  const bool counts = at.is_number_unsigned()
                          ? at.get<std::uint64_t>() <= most
                          : at.is_number_integer() && at.get<std::int64_t>() == 0;
  if (!counts) return "its time is no time of a recording";
  const Duration time{at.get<std::int64_t>()};
  if (time < last) return "its time is before that of the line above";
  last = time;
  return "";
}

// Ends at the first line that is damaged: `lines` are those that count.
Outline outline_of(std::vector<std::string>& lines) {
  Outline out;
  Duration last{0};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto entry = base::parse_json(lines[i]);
    if (const std::string damage = damage_of(entry, last); !damage.empty()) {
      out.damage = fmt::format("line {}: {}", i + 1, damage);
      lines.resize(i);
      break;
    }
    out.state.expect(*entry);
    out.ground.note(*entry);
    const std::string type = base::string_at(*entry, {"t"});
    if (type == "start")
      out.start = std::move(*entry);
    else if (type == "kind")
      out.kinds.push_back(std::move(*entry));
    else if (type == "run") {
      ++out.runs;
      const std::string name =
          base::string_at(*entry, {"controller"}) + " " + base::string_at(*entry, {"object"});
      out.outcomes[name] = base::string_at(*entry, {"outcome"});
    } else if (type == "end") {
      out.end = base::string_at(*entry, {"why"});
      out.whole = out.end == "done" && is_true(*entry, "idle");
    } else if (type == "write") {
      note_own(*entry, out.state);
      out.writes.push_back(std::move(*entry));
    }
  }
  out.whole = out.whole && is_true(out.start, "complete");
  return out;
}

hooks::SecretHash::Key secret_key_of(const Json& start) {
  const std::string hex = base::string_at(start, {"key"});
  return hex.size() == 32 ? hooks::SecretHash::key_of(hex) : hooks::SecretHash::Key{};
}

// One replay, from its first entry to its last.
class Player {
 public:
  Player(Outline outline, std::vector<hooks::Rule> rules, WorldOptions options)
      : outline_(std::move(outline)),
        mask_(hooks::SecretHash(secret_key_of(outline_.start)), /*keep_placeholders=*/true),
        world_(std::move(rules), options) {
    world_.set_on_exchange(
        [this](const hooks::HookExchange& exchange) { mask_.learn(exchange.mask); });
  }

  Result<ReplayReport> play(const std::vector<std::string>& lines) {
    report_.recorded_runs = outline_.runs;
    report_.recorded_writes = outline_.writes.size();
    KW_TRY(install_kinds(world_, outline_.kinds, lines));
    KW_TRY(begin(lines));
    KW_TRY(go_on(lines));
    world_.end_engine();
    KW_TRY(collect());
    compare();
    return std::move(report_);
  }

 private:
  // The first list of every stream is what was there when the controllers started, and the first
  // reading of an object that no watch tells of.
  Result<void> begin(const std::vector<std::string>& lines) {
    std::vector<RecordedChange> there;
    std::vector<RecordedChange> read;
    taken_.assign(lines.size(), false);
    std::set<int> begun;
    std::set<int> done;
    bool at_work = false;  // a stream that is opened later has its place in time
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto entry = base::parse_json(lines[i]);
      if (!entry.ok()) continue;
      const std::string type = base::string_at(*entry, {"t"});
      at_work = at_work || type == "run" || type == "write";
      const int stream = static_cast<int>(number_at(*entry, "s"));
      if (stream == 0 || done.count(stream) != 0) continue;
      const bool reading = outline_.ground.is_reading(stream);
      if (!at_work || reading) begun.insert(stream);
      if (begun.count(stream) == 0) continue;
      taken_[i] = true;
      if (reading && type == "item" && outline_.ground.is_told_by_watch(*entry)) continue;
      for (auto& change : outline_.state.take(*entry)) {
        (reading ? read : there).push_back(std::move(change));
      }
      if (outline_.state.synced(stream)) done.insert(stream);
    }
    for (auto* changes : {&there, &read}) {
      std::stable_sort(changes->begin(), changes->end(), [](const auto& a, const auto& b) {
        return (a.plural == "namespaces") > (b.plural == "namespaces");
      });
    }
    for (const RecordedChange& change : there) KW_TRY(put(change));
    KW_TRY(lay_ground(read));
    world_.server().finish_work();
    KW_TRY(make_accounts());
    world_.start_engine();
    started_ = world_.loop().now();
    return settle();
  }

  Result<void> go_on(const std::vector<std::string>& lines) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (taken_[i]) continue;
      const auto entry = base::parse_json(lines[i]);
      if (!entry.ok()) continue;
      const std::string type = base::string_at(*entry, {"t"});
      const Duration at{number_at(*entry, "at")};
      if (type == "end" && outline_.end == "done") KW_TRY(advance_to(at));
      if (type == "run") KW_TRY(trigger(*entry, at));
      for (const RecordedChange& change : outline_.state.take(*entry)) {
        KW_TRY(advance_to(at));
        KW_TRY(put(change));
        world_.server().finish_work();
        KW_TRY(settle());
      }
    }
    return {};
  }

  // Schedules, resyncs, requeues and backoffs until then come as they did.
  Result<void> advance_to(Duration at) {
    const Duration left = at - (world_.loop().now() - started_);
    return left > Duration{0} ? settle(left) : Result<void>{};
  }

  Result<void> settle(Duration advance = Duration{0}) {
    KW_TRY(world_.settle(advance));
    return collect();
  }

  // Requests from outside are in no watch: the runs that they led to are.
  Result<void> trigger(const Json& run, Duration at) {
    const std::string reason = base::string_at(run, {"reason"});
    if (reason != "External" && reason != "Manual") return {};
    if (number_at(run, "attempt") > 1) return {};
    hooks::TriggerRequest request;
    request.reason = base::string_at(run, {"reasonObject"});
    const core::ObjectKey key{base::string_at(run, {"namespace"}), base::string_at(run, {"name"})};
    request.all = key.name.empty();
    if (!request.all) request.key = key;
    request.by_person = reason == "Manual";  // it did run, whatever held it
    const std::string controller = base::string_at(run, {"controller"});
    for (const hooks::Rule& rule : world_.rules()) {
      if (rule.name != controller) continue;
      KW_TRY(advance_to(at));
      const auto why = reason == "Manual" ? runtime::Reason::manual : runtime::Reason::external;
      world_.engine().trigger(rule.document, request, why);
      return settle();
    }
    return {};
  }

  Result<void> put(const RecordedChange& change) {
    mask_.learn(change.after);
    const auto resource =
        world_.server().api().registry().find(change.group, change.version, change.plural);
    if (resource == nullptr) {
      const std::string kind = change.plural + " of " +
                               (change.group.empty() ? "" : change.group + "/") + change.version;
      note(kind + " are not replayed: the embedded server has no such kind");
      if (report_.early.empty()) {
        report_.early =
            fmt::format("{} {}: the embedded server has no such kind", kind, change.key.str());
      }
      return {};
    }
    KW_TRY(world_.make_namespace(change.key.namespace_));
    if (!world_.put(*resource, change)) return {};
    ++report_.events;
    if (change.in_doubt && ++in_doubt_ == 1) {
      first_in_doubt_ = resource->type.gvk.kind + " " + change.key.str();
    }
    return {};
  }

  // What no watch tells of.
  Result<void> lay_ground(const std::vector<RecordedChange>& read) {
    const std::set<std::string> spaces = outline_.ground.namespaces(world_.rules());
    for (const std::string& name : spaces) KW_TRY(world_.make_namespace(name));
    const auto& registry = world_.server().api().registry();
    for (const RecordedChange& change : read) {
      mask_.learn(change.after);
      const auto resource = registry.find(change.group, change.version, change.plural);
      if (resource == nullptr) continue;  // nor can it be written
      if (!is_there(change.key.namespace_)) {
        pretend(*resource, change.key, change.after);
      } else {
        world_.put(*resource, change);
      }
    }
    for (const hooks::ApiTarget& target : outline_.ground.unknown()) {
      const auto resource = registry.find(target.group, target.version, target.plural);
      if (resource == nullptr) continue;
      const core::ObjectKey key{target.namespace_, target.name};
      pretend(*resource, key,
              {{"apiVersion", resource->type.gvk.api_version()},
               {"kind", resource->type.gvk.kind},
               {"metadata",
                {{"name", key.name},
                 {"namespace", key.namespace_},
                 {"uid", "00000000-0000-4000-8000-000000000000"},
                 {"resourceVersion", "1"}}}});
    }
    return {};
  }

  // The namespace, where there is one to be in.
  bool is_there(const std::string& space) {
    return space.empty() ||
           world_.server().ask("GET", "/api/v1/namespaces/" + space, "", nullptr).ok();
  }

  // Of an object that cannot be laid down: it would be there too early, or it is not known.
  void pretend(const apiserver::Resource& resource, const core::ObjectKey& key, Json object) {
    const auto stored = apiserver::object_key(key.namespace_, key.name);
    if (world_.server().api().storage().get(resource.storage_id, stored) != nullptr) return;
    world_.server().pretend(resource, key, std::move(object));
    note(
        fmt::format("{} {} is not in the recording as it was at the beginning: its patches and "
                    "deletions are compared, but not replayed",
                    resource.type.gvk.kind, key.str()));
  }

  // Hooks get tokens of them, whether a rule watches service accounts or not.
  Result<void> make_accounts() {
    for (const hooks::Rule& rule : world_.rules()) {
      std::vector<const hooks::CredentialsRule*> all = {&rule.reconcile.credentials};
      if (rule.finalize) all.push_back(&rule.finalize->hook.credentials);
      for (const hooks::CredentialsRule* one : all) {
        if (one->kind != hooks::CredentialsRule::Kind::service_account) continue;
        KW_TRY(world_.apply({{"apiVersion", "v1"},
                             {"kind", "ServiceAccount"},
                             {"metadata", {{"name", one->service_account}}}}));
      }
    }
    return {};
  }

  bool is_recorded(const std::string& path) const {
    return std::any_of(outline_.writes.begin(), outline_.writes.end(),
                       [&](const Json& write) { return base::string_at(write, {"path"}) == path; });
  }

  // What was written meanwhile, hidden by what is known so far, as a recording does it.
  Result<void> collect() {
    const auto& writes = world_.server().writes();
    for (; collected_ < writes.size(); ++collected_) {
      const ApiWrite& write = writes[collected_];
      if (write.by_hook) continue;  // recorded as a change of somebody else
      auto entry =
          hooks::write_entry(method_of(write.verb), write.target, write.content_type, write.body);
      if (!entry) continue;
      // Recordings do not have who owned what at the beginning: what only claims that is no news.
      if (write.ownership && !is_recorded(base::string_at(*entry, {"path"}))) continue;
      mask_.learn_write(*entry);
      mask_.hide_write(*entry);
      replayed_.push_back(std::move(*entry));
    }
    for (const Json& run : world_.take_runs()) {
      if (has_run(run)) ++report_.replayed_runs;
      const std::string name = fmt::format(
          "{} {} {}", base::string_at(run, {"controller"}), base::string_at(run, {"kind"}),
          core::ObjectKey{base::string_at(run, {"namespace"}), base::string_at(run, {"name"})}
              .str());
      const std::string outcome = base::string_at(run, {"outcome"});
      if (hooks::is_fine(outcome)) {
        failing_.erase(name);
        continue;
      }
      const std::string why = mask_.hide(outcome + ": " + base::string_at(run, {"message"}));
      failing_[name] = why;
      if (report_.failed_runs.size() < kShownFailures) {
        report_.failed_runs.push_back(name + ": " + why);
      }
    }
    return {};
  }

  static std::string method_of(const std::string& verb) {
    if (verb == "create") return "POST";
    if (verb == "update") return "PUT";
    return verb == "delete" || verb == "deletecollection" ? "DELETE" : "PATCH";
  }

  // A recording hides by what was known a little later as well: both by all that is known now.
  void compare() {
    for (WriteEntries* writes : {&outline_.writes, &replayed_}) {
      for (Json& entry : *writes) mask_.hide_write(entry);
    }
    report_.differences = compare_writes(outline_.writes, replayed_, outline_.whole);
    for (const auto& [name, why] : failing_) {
      const auto recorded = outline_.outcomes.find(name);
      if (recorded == outline_.outcomes.end() || recorded->second != "done") continue;
      report_.differences.push_back(
          {"changed", "run", "", name, hooks::unified_diff("done\n", why + "\n")});
    }
    if (in_doubt_ > 0) {
      const bool more = in_doubt_ > 1;
      note(
          fmt::format("{}{}: the recording does not tell whether {} deleted or only left the "
                      "selection of a watch: taken as deleted",
                      first_in_doubt_, more ? fmt::format(" and {} more", in_doubt_ - 1) : "",
                      more ? "they were" : "it was"));
    }
    if (!outline_.whole) {
      note(
          "the recording was not made from a clean start to an idle end: writes that it lacks are "
          "no differences");
    }
  }

  void note(const std::string& text) {
    if (noted_.insert(text).second) report_.notes.push_back(text);
  }

  Outline outline_;
  hooks::RecordMask mask_;
  World world_;
  TimePoint started_{};
  std::vector<bool> taken_;
  std::size_t collected_ = 0;
  WriteEntries replayed_;
  std::map<std::string, std::string> failing_;  // the last run of each: why
  std::set<std::string> noted_;
  std::size_t in_doubt_ = 0;  // deletions
  std::string first_in_doubt_;
  ReplayReport report_;
};

}  // namespace

Result<ReplayReport> replay(std::string_view recording, std::vector<hooks::Rule> rules,
                            const ReplayOptions& options) {
  KW_ASSIGN(hooks::LoadedRecording loaded, hooks::load_recording(recording));
  Outline outline = outline_of(loaded.lines);
  if (!outline.start.is_object()) {
    const std::string& damage = outline.damage.empty() ? loaded.damage : outline.damage;
    return Error(ErrorKind::invalid, damage.empty() ? "it ends before anything was recorded"
                                                    : "nothing of it can be read: " + damage);
  }
  std::string early;
  if (!outline.damage.empty()) {
    early = outline.damage;
  } else if (!loaded.damage.empty()) {
    early = fmt::format("byte {}: {}", loaded.valid, loaded.damage);
  } else if (outline.end.empty()) {
    early = fmt::format("byte {}: its end is missing", loaded.valid);
  }
  WorldOptions with;
  with.patience = options.patience;
  with.max_runs = kMostRuns;
  const auto time = base::parse_rfc3339(base::string_at(outline.start, {"time"}));
  if (time.ok()) with.now = *time;
  auto report = Player(std::move(outline), std::move(rules), with).play(loaded.lines);
  if (report.ok() && !early.empty()) report->early = std::move(early);
  return report;
}

}  // namespace kubewatch::rehearsal
