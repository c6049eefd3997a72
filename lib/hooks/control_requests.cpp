#include "hooks/control_requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/log_level.hpp"
#include "base/strings.hpp"
#include "hooks/driver.hpp"
#include "hooks/finalizer_patch.hpp"
#include "hooks/kind_words.hpp"
#include "hooks/trigger_request.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMaxListedNames = 100;
constexpr std::size_t kMaxKeys = 1000;
constexpr std::size_t kMaxFollowers = 16;
constexpr std::size_t kMaxReleases = 2000;
constexpr std::size_t kMaxRunsAnswer = 8U << 20U;  // then older runs are left out

Error invalid_request(std::string message) {
  return Error(ErrorKind::invalid, std::move(message));
}

bool flag_at(const Json& args, std::string_view name) {
  const Json* value = base::find(args, {name});
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

std::size_t count_at(const Json& args, std::string_view name, std::size_t otherwise,
                     std::size_t most) {
  const auto value = base::int_at(args, {name});
  if (!value || *value <= 0) return otherwise;
  return std::min(static_cast<std::size_t>(*value), most);
}

core::ObjectKey key_at(const Json& args, Driver& driver) {
  if (!driver.rule().has_for) return kNoObject;
  const std::string name = base::string_at(args, {"name"});
  return {driver.owner_type().namespaced ? base::string_at(args, {"namespace"}) : "", name};
}

// What is in no namespace is not chosen with one.
bool is_chosen(const Json& args, const core::ObjectKey& key) {
  const std::string only = base::string_at(args, {"onlyNamespace"});
  return only.empty() || key.namespace_ == only;
}

std::string object_text(Driver& driver, const core::ObjectKey& key) {
  if (!driver.rule().has_for) return "<none>";
  return driver.rule().for_.gvk.kind + " " + key.str();
}

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

// Of a request for many objects one for each that is chosen.
std::vector<TriggerRequest> chosen_requests(const Json& args, const TriggerRequest& request,
                                            const Driver& driver) {
  if (request.key || base::string_at(args, {"onlyNamespace"}).empty()) return {request};
  std::vector<TriggerRequest> out;
  if (!driver.rule().has_for) {
    // Its one run is in no namespace: whoever names the rule means it all the same.
    if (!base::string_at(args, {"controller"}).empty()) out.push_back(request);
    return out;
  }
  const RuleCaches& caches = driver.caches();
  const auto keys = request.selector ? caches.selected(*request.selector) : caches.known_keys();
  for (const core::ObjectKey& key : keys) {
    if (!is_chosen(args, key)) continue;
    TriggerRequest one;
    one.key = key;
    one.reason = request.reason;
    out.push_back(std::move(one));
  }
  return out;
}

// What was made to run: how many, and the first of them.
struct Triggered {
  std::size_t count = 0;
  Json names = Json::array();

  void add(Driver& driver, const std::vector<core::ObjectKey>& keys) {
    for (const core::ObjectKey& key : keys) {
      if (++count > kMaxListedNames) continue;
      names.push_back(driver.rule().name + ": " + object_text(driver, key));
    }
  }
  Json answer() { return {{"triggered", count}, {"objects", std::move(names)}}; }
};

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

Error not_the_leader(const std::string& of) {
  return Error(ErrorKind::unavailable, of + "this instance may not write now: another one leads, "
                                            "or the lead is not sure; ask that one");
}

void keep_named(std::vector<Driver*>& drivers, const std::string& name) {
  std::erase_if(drivers, [&](Driver* one) { return one->rule().name != name; });
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

// --- explain: asks the server for what is in no cache, one driver after the other.

struct ControlRequests::Explaining {
  ControlReplyPtr reply;
  Json args;
  std::vector<std::string> controllers;  // whom to ask still; drivers may go meanwhile
  std::size_t at = 0;
  Json rules = Json::array();
};

Json ControlRequests::explained(Driver& driver, const core::ObjectKey& key, const Json* live,
                                const std::string& live_error) {
  ExplainFacts facts = driver.facts_of(key);
  facts.live = live;
  facts.live_error = live_error;
  if (const auto trouble = engine_.lead_trouble()) facts.lead_trouble = trouble->why;
  if (const auto last = history_.last(driver.rule().name, key)) {
    const auto ago = std::chrono::duration_cast<Duration>(client_.loop().wall() - last->ended);
    facts.last = LastRun{last->record.outcome, last->record.message, ago, false};
  }
  return told_of(driver.rule(), key, kubewatch::hooks::explain(driver.rule(), facts));
}

void ControlRequests::explain(const Json& args, const ControlReplyPtr& reply) {
  const std::string kind = base::string_at(args, {"kind"});
  const std::string controller = base::string_at(args, {"controller"});
  if (kind.empty() ? controller.empty() : base::string_at(args, {"name"}).empty()) {
    return reply->fail(
        invalid_request("explain needs kind and name, or the controller of a rule without "
                        "`for`"));
  }
  auto work = std::make_shared<Explaining>();
  work->reply = reply;
  work->args = args;
  std::vector<const Rule*> rules;
  for (Driver* driver : drivers_of(kind)) rules.push_back(&driver->rule());
  for (const Rule* rule : shared_rules(kind, "")) rules.push_back(rule);
  if (!kind.empty() && rules.empty()) return reply->fail(no_such_kind(kind));
  for (const Rule* rule : rules) {
    if (!controller.empty() && rule->name != controller) continue;
    if (kind.empty() && rule->has_for) {
      return reply->fail(invalid_request(fmt::format("{} is for objects of the kind {}: name one",
                                                     rule->name, rule->for_.gvk.kind)));
    }
    auto& names = work->controllers;
    const bool is_new = std::find(names.begin(), names.end(), rule->name) == names.end();
    if (is_new) names.push_back(rule->name);
  }
  if (work->controllers.empty()) return reply->fail(no_such_controller(controller, kind));
  explain_live(work);
}

// A rule has a driver for each shard that is led here, where shards narrow the lists.
std::vector<Driver*> ControlRequests::drivers_named(const std::string& name) {
  std::vector<Driver*> out = engine_.drivers();
  keep_named(out, name);
  return out;
}

// One answer for each rule: of the shard that has the object, or what keeps it out of each.
Json ControlRequests::explained_by(const std::vector<Driver*>& drivers, const core::ObjectKey& key,
                                   const Json* live, const std::string& live_error) {
  Json out;
  std::vector<std::string> texts;
  for (Driver* driver : drivers) {
    Json one = explained(*driver, key, live, live_error);
    if (base::string_at(one, {"state"}) != "not-selected") return one;
    const std::string text = base::string_at(one, {"text"});
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
    if (out.is_null()) out = std::move(one);
  }
  out["text"] = base::join(texts, "; ");
  return out;
}

void ControlRequests::explain_live(const std::shared_ptr<Explaining>& work) {
  while (work->at < work->controllers.size()) {
    const std::string name = work->controllers[work->at++];
    const auto drivers = drivers_named(name);
    const auto shared = shared_rules("", name);
    if (drivers.empty() && shared.empty()) continue;
    const core::ObjectKey key =
        drivers.empty() ? named_key(work->args) : key_at(work->args, *drivers.front());
    if (const auto told = shared.empty() ? std::nullopt : out_of_shards(*shared.front(), key)) {
      work->rules.push_back(told_of(*shared.front(), key, *told));
      continue;
    }
    if (drivers.empty()) continue;
    const auto first = [&](const auto& wanted) {
      return std::find_if(drivers.begin(), drivers.end(),
                          [&](Driver* one) { return wanted(one->facts_of(key)); });
    };
    auto known = first([](const ExplainFacts& facts) { return facts.is_known(); });
    if (known == drivers.end()) {
      known = first([](const ExplainFacts& facts) { return !facts.started; });
    }
    if (known != drivers.end()) {
      work->rules.push_back(explained(**known, key, nullptr, ""));
      continue;
    }
    return requests_.run<Result<Json>>(
        [this, work, name, key](Result<Json> answer) {
          const bool missing = !answer.ok() && answer.error().is_not_found();
          const std::string error = answer.ok() || missing ? "" : answer.error().render();
          const auto asked = drivers_named(name);
          const auto away = answer.ok() ? labelled_elsewhere(*answer) : std::nullopt;
          if (away && !asked.empty()) {
            work->rules.push_back(told_of(asked.front()->rule(), key, *away));
          } else if (!asked.empty()) {
            work->rules.push_back(
                explained_by(asked, key, answer.ok() ? &*answer : nullptr, error));
          }
          explain_live(work);
        },
        [&](client::ObjectCallback done) {
          return client_.get(drivers.front()->owner_type(), key, std::move(done));
        });
  }
  work->reply->result({{"rules", work->rules}});
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

// --- trigger, retry

// Why a trigger has run nothing.
Error ControlRequests::nothing_runs(const Json& args, const TriggerRequest& request,
                                    const std::vector<Driver*>& drivers) {
  std::string what;
  bool elsewhere = false;
  if (request.key && !drivers.empty()) {
    Driver& driver = *drivers.front();
    const core::ObjectKey key = key_at(args, driver);
    const ExplainFacts facts = driver.facts_of(key);
    what = object_text(driver, key);
    elsewhere = facts.sharded && !facts.owns_shard;
  }
  if (const auto error = request.key ? ask_another(args) : std::nullopt) return *error;
  const std::string of = what.empty() ? "" : what + ": ";
  if (!client_.may_write().ok()) {
    return not_the_leader(of);
  }
  if (elsewhere) {
    return Error(ErrorKind::unavailable, of + "another instance leads its shard; ask that one");
  }
  if (!what.empty()) return selected_by_none(args, drivers);
  return Error(ErrorKind::not_found,
               "no object of the rules' selections matches; explain KIND/NAME says why");
}

Result<Json> ControlRequests::trigger(const Json& args) {
  const std::string kind = base::string_at(args, {"kind"});
  const std::string name = base::string_at(args, {"name"});
  const std::string selector = base::string_at(args, {"selector"});
  const bool all = flag_at(args, "all");
  if (int{!name.empty()} + int{!selector.empty()} + int{all} != 1) {
    return invalid_request("trigger needs one of KIND/NAME, a selector and all");
  }
  TriggerRequest request;
  request.all = all;
  request.reason = tidy_trigger_reason(base::string_at(args, {"reason"}));
  if (!name.empty()) request.key = {base::string_at(args, {"namespace"}), name};
  request.by_person = !name.empty();
  if (!selector.empty()) {
    KW_ASSIGN(request.selector, core::LabelSelector::parse(selector));
  }
  auto drivers = drivers_of(kind);
  if (!kind.empty() && drivers.empty() && shared_rules(kind, "").empty()) return no_such_kind(kind);
  if (const std::string controller = base::string_at(args, {"controller"}); !controller.empty()) {
    keep_named(drivers, controller);
    if (drivers.empty() && shared_rules(kind, controller).empty()) {
      return no_such_controller(controller, kind);
    }
  }
  Triggered triggered;
  for (Driver* driver : drivers) {
    for (const TriggerRequest& one : chosen_requests(args, request, *driver)) {
      triggered.add(*driver, driver->trigger(one, runtime::Reason::manual));
    }
  }
  if (triggered.count == 0) return nothing_runs(args, request, drivers);
  return triggered.answer();
}

Result<Json> ControlRequests::retry(const Json& args) {
  Triggered triggered;
  for (Driver* driver : engine_.drivers()) {
    TriggerRequest request;
    request.reason = "retry --parked";
    for (const core::ObjectKey& key : driver->queue().parked()) {
      if (!is_chosen(args, key)) continue;
      // A rule without `for` is one run for everything.
      request.all = !driver->rule().has_for;
      if (!request.all) request.key = key;
      triggered.add(*driver, driver->trigger(request, runtime::Reason::manual));
    }
  }
  // What is parked, the leader knows.
  if (triggered.count == 0 && !client_.may_write().ok()) return not_the_leader("");
  return triggered.answer();
}

// --- queue, log-level

Json ControlRequests::queue(const Json& args) {
  const TimePoint now = client_.loop().now();
  const std::size_t limit = count_at(args, "limit", kMaxListedNames, kMaxKeys);
  const bool chooses = !base::string_at(args, {"onlyNamespace"}).empty();
  const std::size_t searched = chooses ? std::numeric_limits<std::size_t>::max() : limit;
  Json controllers = Json::array();
  for (Driver* driver : engine_.drivers()) {
    const auto counts = driver->queue().counts(now);
    Json one = {{"controller", driver->rule().name},
                {"started", driver->status().started},
                {"running", counts.held},
                {"ready", counts.ready},
                {"waiting", counts.waiting},
                {"parked", counts.parked},
                {"runs", driver->status().runs},
                {"failedRuns", driver->status().failed_runs}};
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
    if (!driver->status().started) {
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
