#include "hooks/control_requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/log_level.hpp"
#include "base/strings.hpp"
#include "hooks/control_args.hpp"
#include "hooks/driver.hpp"
#include "hooks/finalizer_patch.hpp"
#include "hooks/kind_words.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kUsualKeys = 100;
constexpr std::size_t kMaxKeys = 1000;
constexpr std::size_t kMaxFollowers = 16;
constexpr std::size_t kMaxReleases = 2000;
constexpr std::size_t kMaxRunsAnswer = 8U << 20U;  // then older runs are left out

bool shows(const Json& args, const RunRecord& run) {
  const std::string controller = base::string_at(args, {"controller"});
  if (!controller.empty() && run.controller != controller) return false;
  const std::string name = base::string_at(args, {"name"});
  if (name.empty()) return is_chosen(args, run.key);
  if (run.key.name != name) return false;
  return run.key.namespace_.empty() || run.key.namespace_ == base::string_at(args, {"namespace"});
}

bool is_of_kind(const Json& args, const RunRecord& run) {
  const std::string kind = base::string_at(args, {"kindName"});
  return kind.empty() || run.object.starts_with(kind + " ");
}

Json queue_entry(Driver& driver, const core::ObjectKey& key, const runtime::KeyState& state,
                 TimePoint now) {
  const char* name = state.held ? "running" : state.parked ? "parked" : "waiting";
  if (state.pending && !state.held && state.due <= now) name = "ready";
  Json out = {{"object", object_text(driver, key)}, {"state", name}, {"failures", state.failures}};
  if (state.pending) {
    out["reason"] = std::string(runtime::to_string(state.reason));
    out["inMilliseconds"] = std::max<std::int64_t>(0, (state.due - now).count());
  }
  std::string why = driver.why_waits(key);
  if (why.empty()) why = driver.why_behind(key);
  if (!why.empty()) out["why"] = std::move(why);
  return out;
}

}  // namespace

ControlRequests::ControlRequests(Engine& engine, client::Client& client)
    : engine_(engine), client_(client) {}

void ControlRequests::on_run(const RunRecord& run) {
  const auto past = history_.add(client_.loop().wall(), run);
  for (auto it = followers_.begin(); it != followers_.end();) {
    const bool wanted = shows(it->args, run) && is_of_kind(it->args, run);
    const Json answer = {{"runs", Json::array({to_json(*past)})}};
    const bool there = !wanted || it->reply->more(answer);
    it = there ? std::next(it) : followers_.erase(it);
  }
}

void ControlRequests::handle(const ControlRequest& request, const ControlReplyPtr& reply) {
  const Json& args = *request.args;
  const auto answer = [&](Result<Json> result) {
    result.ok() ? reply->result(*result) : reply->fail(result.error());
  };
  if (request.name == "explain") return explain(args, reply);
  if (request.name == "runs") return runs(args, reply);
  if (request.name == "trigger") return answer(trigger(args));
  if (request.name == "retry") return answer(retry(args));
  if (request.name == "queue") return answer(queue(args));
  if (request.name == "log-level") return answer(log_level(args));
  if (request.name == "finalizers") return finalizers(args, reply);
  reply->fail(invalid_request(fmt::format("the controller knows no request {}", request.name)));
}

// Drivers whose kinds are not known yet are asked by the kind alone.
std::vector<Driver*> ControlRequests::drivers_of(const std::string& kind) {
  std::vector<Driver*> out;
  for (Driver* driver : engine_.drivers()) {
    const Rule& rule = driver->rule();
    const bool named = driver->resolved() ? names_kind(kind, driver->owner_type())
                                          : names_kind(kind, rule.for_.gvk);
    if (kind.empty() || (rule.has_for && named)) out.push_back(driver);
  }
  return out;
}

// A rule has a driver for each shard that is led here, where shards narrow the lists.
std::vector<Driver*> ControlRequests::drivers_named(const std::string& name) {
  std::vector<Driver*> out = engine_.drivers();
  keep_named(out, name);
  return out;
}

Error ControlRequests::no_such_kind(const std::string& kind) {
  std::vector<const Rule*> rules = shared_rules("", "");
  const bool shared = !rules.empty();
  for (Driver* driver : engine_.drivers()) {
    if (!shared || driver->rule().has_for) rules.push_back(&driver->rule());
  }
  return no_rule_for_kind(kind, rules);
}

Error ControlRequests::no_such_controller(const std::string& name, const std::string& kind) {
  std::vector<std::string> names;
  for (const Rule* rule : shared_rules(kind, "")) names.push_back(rule->name);
  for (Driver* driver : drivers_of(kind)) {
    const std::string& known = driver->rule().name;
    if (std::find(names.begin(), names.end(), known) == names.end()) names.push_back(known);
  }
  std::string text = "there is no rule " + name;
  if (!kind.empty()) text += " for the kind " + kind;
  if (!names.empty()) text += "; there are " + base::join(names, ", ");
  return Error(ErrorKind::not_found, std::move(text));
}

// What a rule that has not begun selects is not known.
bool ControlRequests::may_be_known(const Json& args, const std::vector<Driver*>& drivers) {
  return std::any_of(drivers.begin(), drivers.end(), [&](Driver* driver) {
    const ExplainFacts facts = driver->facts_of(key_at(args, *driver));
    return !facts.started || facts.is_known();
  });
}

std::string ControlRequests::object_named(const Json& args,
                                          const std::vector<Driver*>& drivers) const {
  if (!drivers.empty()) return object_text(*drivers.front(), key_at(args, *drivers.front()));
  const auto shared = shared_rules(base::string_at(args, {"kind"}), "");
  return (shared.empty() ? "" : shared.front()->for_.gvk.kind + " ") + named_key(args).str();
}

Error ControlRequests::selected_by_none(const Json& args, const std::vector<Driver*>& drivers) {
  return Error(ErrorKind::not_found,
               fmt::format("no rule selects {}, or there is none; explain KIND/NAME says why",
                           object_named(args, drivers)));
}

// --- runs

// Runs of a rule that has ended since are there still.
Result<void> ControlRequests::check_controller(const std::string& name, const std::string& kind) {
  if (name.empty() || !history_.of_controller(name).empty()) return {};
  for (Driver* driver : drivers_of(kind)) {
    if (driver->rule().name == name) return {};
  }
  if (!shared_rules(kind, name).empty()) return {};
  return no_such_controller(name, kind);
}

void ControlRequests::runs(const Json& args, const ControlReplyPtr& reply) {
  Json wanted = args;
  const std::string kind = base::string_at(args, {"kind"});
  const auto drivers = drivers_of(kind);
  if (!kind.empty()) {
    const auto shared = shared_rules(kind, "");
    if (drivers.empty() && shared.empty()) return reply->fail(no_such_kind(kind));
    const Rule& rule = drivers.empty() ? *shared.front() : drivers.front()->rule();
    wanted["kindName"] = rule.for_.gvk.kind;
  }
  const auto known = check_controller(base::string_at(args, {"controller"}), kind);
  if (!known.ok()) return reply->fail(known.error());
  Json list = Json::array();
  std::vector<std::shared_ptr<const PastRun>> all = history_.all();
  if (!kind.empty() && !base::string_at(args, {"name"}).empty()) {
    // Its own ring reaches further back than its controllers'.
    std::vector<std::pair<std::string, core::ObjectKey>> of;
    for (Driver* driver : drivers) of.emplace_back(driver->rule().name, key_at(args, *driver));
    all = history_.of_object(of);
    // Whoever follows may wait for an object that is to come.
    if (all.empty() && !flag_at(args, "watch") && !may_be_known(args, drivers)) {
      if (const auto error = ask_another(args)) return reply->fail(*error);
      return reply->fail(selected_by_none(args, drivers));
    }
  }
  const std::size_t limit = count_at(args, "limit", 200, 2000);
  std::vector<Json> chosen;
  std::size_t bytes = 0;
  for (auto it = all.rbegin(); it != all.rend() && chosen.size() < limit; ++it) {
    if (!shows(wanted, (*it)->record) || !is_of_kind(wanted, (*it)->record)) continue;
    chosen.push_back(to_json(**it));
    bytes += base::dump_json(chosen.back()).size();
    if (bytes > kMaxRunsAnswer) break;
  }
  for (auto it = chosen.rbegin(); it != chosen.rend(); ++it) list.push_back(std::move(*it));
  const Json answer = {{"runs", std::move(list)}};
  if (!flag_at(args, "watch")) return reply->result(answer);
  std::erase_if(followers_, [](const auto& one) { return !one.reply->is_open(); });
  if (followers_.size() >= kMaxFollowers) {
    return reply->fail(Error(ErrorKind::unavailable, "too many follow the runs already"));
  }
  if (reply->more(answer)) followers_.push_back({std::move(wanted), reply});
}

// --- queue, log-level

Json ControlRequests::queue(const Json& args) {
  const TimePoint now = client_.loop().now();
  const std::size_t limit = count_at(args, "limit", kUsualKeys, kMaxKeys);
  const bool chooses = !base::string_at(args, {"onlyNamespace"}).empty();
  const std::size_t searched = chooses ? std::numeric_limits<std::size_t>::max() : limit;
  Json controllers = Json::array();
  for (Driver* driver : engine_.drivers()) {
    const auto counts = driver->queue().counts(now);
    const auto status = driver->status();
    Json one = {{"controller", driver->rule().name},
                {"started", status.started},
                {"running", counts.held},
                {"ready", counts.ready},
                {"waiting", counts.waiting},
                {"parked", counts.parked},
                {"runs", status.runs},
                {"failedRuns", status.failed_runs}};
    if (const auto age = driver->queue().oldest_ready_age(now)) {
      one["oldestReadyMilliseconds"] = age->count();
    }
    // What is one run for all is passed over by its clock while that is parked.
    const bool rests = !driver->rule().has_for && counts.parked > 0;
    if (const auto wait = rests ? std::nullopt : driver->schedule_in()) {
      one["scheduleInMilliseconds"] = std::max<std::int64_t>(0, wait->count());
    }
    Json keys = Json::array();
    for (const auto& [key, state] : driver->queue().entries(searched)) {
      if (keys.size() >= limit) break;
      if (is_chosen(args, key)) keys.push_back(queue_entry(*driver, key, state, now));
    }
    one["objects"] = std::move(keys);
    controllers.push_back(std::move(one));
  }
  // Those that have no shard here, too: that nothing is to be done for them nobody can say.
  for (const Rule* rule : shared_rules("", "")) {
    if (!drivers_named(rule->name).empty()) continue;
    controllers.push_back({{"controller", rule->name},
                           {"started", false},
                           {"running", 0},
                           {"ready", 0},
                           {"waiting", 0},
                           {"parked", 0},
                           {"runs", 0},
                           {"failedRuns", 0},
                           {"objects", Json::array()}});
  }
  return {{"controllers", std::move(controllers)}};
}

Result<Json> ControlRequests::log_level(const Json& args) {
  const int was = base::general_log_verbosity();
  if (base::find(args, {"level"}) != nullptr) {
    const auto level = base::int_at(args, {"level"});
    if (!level || *level < 0 || *level > 10)
      return invalid_request("the level must be from 0 to 10");
    base::set_log_verbosity(static_cast<int>(*level));
    base::log_info("verbosity changed",
                   {{"from", std::to_string(was)}, {"to", std::to_string(*level)}});
  }
  return Json{{"verbosity", base::general_log_verbosity()}, {"was", was}};
}

// --- finalizers

// Dying objects that our finalizers hold; with `release` each is let go without its cleanup.
void ControlRequests::finalizers(const Json& args, const ControlReplyPtr& reply) {
  const std::string kind = base::string_at(args, {"kind"});
  const std::string name = base::string_at(args, {"name"});
  const auto drivers = drivers_of(kind);
  if (drivers.empty()) {
    if (const auto error = ask_another(args)) return reply->fail(*error);
    if (!kind.empty()) {
      const bool shared = !shared_rules(kind, "").empty();
      return reply->fail(shared ? selected_by_none(args, drivers) : no_such_kind(kind));
    }
  }
  // A name that is not there is a typo, and not an object that is held by nothing.
  if (!name.empty() && !drivers.empty() && !may_be_known(args, drivers)) {
    if (const auto error = ask_another(args)) return reply->fail(*error);
    return reply->fail(selected_by_none(args, drivers));
  }
  struct Work {
    ControlReplyPtr reply;
    Json objects = Json::array();
    Json not_started = Json::array();
    bool more = false;  // than fit into one answer
    std::size_t open = 1;
    void one_less() {
      if (--open > 0) return;
      Json answer = {{"objects", objects}};
      if (!not_started.empty()) answer["notStarted"] = not_started;
      if (more) answer["more"] = true;
      reply->result(answer);
    }
  };
  auto work = std::make_shared<Work>();
  work->reply = reply;
  for (Driver* driver : drivers) {
    if (!driver->started()) {
      if (!driver->absent()) work->not_started.push_back(driver->rule().name);
      continue;
    }
    for (const core::ObjectKey& key : driver->caches().known_keys()) {
      if (!name.empty() ? key != key_at(args, *driver) : !is_chosen(args, key)) continue;
      auto meta = driver->caches().object_meta(key);
      if (!meta) meta = driver->caches().guarded_meta(key);
      const std::string& finalizer = driver->rule().finalizer_name;
      if (!meta || !meta->deleting() || !meta->has_finalizer(finalizer)) continue;
      if (work->objects.size() >= kMaxReleases) {
        work->more = true;
        break;
      }
      const std::size_t at = work->objects.size();
      Json object = explained(*driver, key, nullptr, "");
      object["finalizer"] = finalizer;
      object["since"] = *meta->deletion_timestamp;
      work->objects.push_back(std::move(object));
      if (!flag_at(args, "release")) continue;
      ++work->open;
      change_finalizer(
          client_, requests_,
          {driver->owner_type(), *meta, finalizer, driver->rule().apply.field_manager, false},
          [work, at](const Result<ChangedMeta>& changed) {
            work->objects[at]["released"] = changed.ok();
            if (!changed.ok()) work->objects[at]["error"] = changed.error().render();
            work->one_less();
          });
    }
  }
  work->one_less();
}

}  // namespace kubewatch::hooks
