#include "hooks/control_requests.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/log_level.hpp"
#include "base/strings.hpp"
#include "client/apply_result.hpp"
#include "hooks/driver.hpp"
#include "hooks/trigger_request.hpp"
#include "runtime/finalizer.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMaxNames = 100;
constexpr std::size_t kMaxKeys = 1000;
constexpr std::size_t kMaxFollowers = 16;
constexpr std::size_t kMaxReleases = 2000;
constexpr std::size_t kMaxAnswer = 8U << 20U;  // then older runs are left out

Error invalid(std::string message) {
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

core::ObjectKey key_at(const Json& args, const core::ResourceType& type) {
  const std::string name = base::string_at(args, {"name"});
  return {type.namespaced ? base::string_at(args, {"namespace"}) : "", name};
}

std::string object_text(Driver& driver, const core::ObjectKey& key) {
  if (!driver.rule().has_for) return "<none>";
  return driver.owner_type().gvk.kind + " " + key.str();
}

bool shows(const Json& args, const RunRecord& run) {
  const std::string controller = base::string_at(args, {"controller"});
  if (!controller.empty() && run.controller != controller) return false;
  const std::string name = base::string_at(args, {"name"});
  if (name.empty()) return true;
  if (run.key.name != name) return false;
  return run.key.namespace_.empty() || run.key.namespace_ == base::string_at(args, {"namespace"});
}

bool is_of_kind(const Json& args, const RunRecord& run) {
  const std::string kind = base::string_at(args, {"kindName"});
  return kind.empty() || run.object.starts_with(kind + " ");
}

// What was made to run: how many, and the first of them.
struct Triggered {
  std::size_t count = 0;
  Json names = Json::array();

  void add(Driver& driver, const std::vector<core::ObjectKey>& keys) {
    for (const core::ObjectKey& key : keys) {
      if (++count > kMaxNames) continue;
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
  return out;
}

}  // namespace

bool names_kind(std::string_view word, const core::ResourceType& type) {
  const std::string wanted = base::to_lower(word);
  std::vector<std::string> names = {base::to_lower(type.gvk.kind), type.plural, type.singular};
  names.insert(names.end(), type.short_names.begin(), type.short_names.end());
  for (const std::string& name : names) {
    if (name.empty()) continue;
    if (wanted == name || wanted == name + "." + type.gvk.group ||
        wanted == name + "." + type.gvk.version + "." + type.gvk.group) {
      return true;
    }
  }
  return false;
}

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
  if (request.name == "retry") return answer(retry());
  if (request.name == "queue") return answer(queue(args));
  if (request.name == "log-level") return answer(log_level(args));
  if (request.name == "finalizers") return finalizers(args, reply);
  reply->fail(invalid(fmt::format("the controller knows no request {}", request.name)));
}

// Drivers whose kinds are not known yet are asked by the kind alone.
std::vector<Driver*> ControlRequests::drivers_of(const std::string& kind) {
  std::vector<Driver*> out;
  for (Driver* driver : engine_.drivers()) {
    core::ResourceType type = driver->owner_type();
    if (!driver->resolved()) {
      type.gvk = driver->rule().for_.gvk;
      type.plural = base::to_lower(type.gvk.kind) + "s";
    }
    if (kind.empty() || names_kind(kind, type)) out.push_back(driver);
  }
  return out;
}

Error ControlRequests::no_such_kind(const std::string& kind) {
  std::vector<std::string> kinds;
  std::vector<std::string> owners;
  for (Driver* driver : engine_.drivers()) {
    const std::string& name = driver->rule().for_.gvk.kind;
    if (std::find(kinds.begin(), kinds.end(), name) == kinds.end()) kinds.push_back(name);
    for (const OwnsRule& owned : driver->rule().owns) {
      core::ResourceType type;
      type.gvk = owned.stream.gvk;
      type.plural = base::to_lower(type.gvk.kind) + "s";
      if (names_kind(kind, type)) owners.push_back(driver->rule().name);
    }
  }
  std::string text = fmt::format("no rule is for the kind {}; there are rules for {}", kind,
                                 base::join(kinds, ", "));
  if (!owners.empty()) {
    text += fmt::format("; {} {} it as a child: ask for its owner", base::join(owners, ", "),
                        owners.size() == 1 ? "owns" : "own");
  }
  return Error(ErrorKind::not_found, std::move(text));
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
  if (const auto last = history_.last(driver.rule().name, key)) {
    const auto ago = std::chrono::duration_cast<Duration>(client_.loop().wall() - last->ended);
    facts.last = LastRun{last->record.outcome, last->record.message, ago};
  }
  Json out = to_json(kubewatch::hooks::explain(driver.rule(), key, facts));
  out["controller"] = driver.rule().name;
  out["object"] = driver.rule().for_.gvk.kind + " " + key.str();
  out["file"] = fmt::format("{}:{}", driver.rule().file, driver.rule().line);
  return out;
}

void ControlRequests::explain(const Json& args, const ControlReplyPtr& reply) {
  const std::string kind = base::string_at(args, {"kind"});
  if (kind.empty() || base::string_at(args, {"name"}).empty()) {
    return reply->fail(invalid("explain needs kind and name"));
  }
  auto work = std::make_shared<Explaining>();
  work->reply = reply;
  work->args = args;
  for (Driver* driver : drivers_of(kind)) work->controllers.push_back(driver->rule().name);
  if (work->controllers.empty()) return reply->fail(no_such_kind(kind));
  explain_live(work);
}

void ControlRequests::explain_live(const std::shared_ptr<Explaining>& work) {
  while (work->at < work->controllers.size()) {
    const std::string name = work->controllers[work->at++];
    const auto drivers = engine_.drivers();
    const auto it = std::find_if(drivers.begin(), drivers.end(),
                                 [&](Driver* one) { return one->rule().name == name; });
    if (it == drivers.end()) continue;
    Driver& driver = **it;
    const core::ObjectKey key = key_at(work->args, driver.owner_type());
    const ExplainFacts facts = driver.facts_of(key);
    if (!facts.started || facts.cached || facts.guarded_outside) {
      work->rules.push_back(explained(driver, key, nullptr, ""));
      continue;
    }
    return requests_.run<Result<Json>>(
        [this, work, name, key](Result<Json> answer) {
          for (Driver* one : engine_.drivers()) {
            if (one->rule().name != name) continue;
            const bool missing = !answer.ok() && answer.error().is_not_found();
            const std::string error = answer.ok() || missing ? "" : answer.error().render();
            work->rules.push_back(explained(*one, key, answer.ok() ? &*answer : nullptr, error));
            break;
          }
          explain_live(work);
        },
        [&](client::ObjectCallback done) {
          return client_.get(driver.owner_type(), key, std::move(done));
        });
  }
  work->reply->result({{"rules", work->rules}});
}

// --- runs

// Runs of a rule that has ended since are there still.
Result<void> ControlRequests::check_controller(const std::string& name, const std::string& kind) {
  if (name.empty() || !history_.of_controller(name).empty()) return {};
  std::vector<std::string> names;
  for (Driver* driver : drivers_of(kind)) names.push_back(driver->rule().name);
  if (std::find(names.begin(), names.end(), name) != names.end()) return {};
  const std::string of = kind.empty() ? "" : " for the kind " + kind;
  return Error(ErrorKind::not_found, names.empty()
                                         ? fmt::format("there is no rule {}{}", name, of)
                                         : fmt::format("there is no rule {}{}; there are {}", name,
                                                       of, base::join(names, ", ")));
}

void ControlRequests::runs(const Json& args, const ControlReplyPtr& reply) {
  Json wanted = args;
  const std::string kind = base::string_at(args, {"kind"});
  const auto drivers = drivers_of(kind);
  if (!kind.empty()) {
    if (drivers.empty()) return reply->fail(no_such_kind(kind));
    wanted["kindName"] = drivers.front()->rule().for_.gvk.kind;
  }
  const auto known = check_controller(base::string_at(args, {"controller"}), kind);
  if (!known.ok()) return reply->fail(known.error());
  Json list = Json::array();
  std::vector<std::shared_ptr<const PastRun>> all = history_.all();
  if (!kind.empty() && !base::string_at(args, {"name"}).empty()) {
    all.clear();  // its own ring reaches further back than its controller's
    for (Driver* driver : drivers) {
      const auto of = history_.of_object(driver->rule().name, key_at(args, driver->owner_type()));
      all.insert(all.end(), of.begin(), of.end());
    }
    // What a rule that has not begun selects is not known.
    const auto may_run = [&](Driver* driver) {
      const ExplainFacts facts = driver->facts_of(key_at(args, driver->owner_type()));
      return !facts.started || facts.cached || facts.guarded_outside;
    };
    // Whoever follows may wait for an object that is to come.
    if (all.empty() && !flag_at(args, "watch") &&
        std::none_of(drivers.begin(), drivers.end(), may_run)) {
      return reply->fail(
          Error(ErrorKind::not_found,
                fmt::format("no rule selects {} {}, or there is none; explain KIND/NAME says why",
                            base::string_at(wanted, {"kindName"}),
                            key_at(args, drivers.front()->owner_type()).str())));
    }
  }
  const std::size_t limit = count_at(args, "limit", 200, 2000);
  std::vector<Json> chosen;
  std::size_t bytes = 0;
  for (auto it = all.rbegin(); it != all.rend() && chosen.size() < limit; ++it) {
    if (!shows(wanted, (*it)->record) || !is_of_kind(wanted, (*it)->record)) continue;
    chosen.push_back(to_json(**it));
    bytes += base::dump_json(chosen.back()).size();
    if (bytes > kMaxAnswer) break;
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

Result<Json> ControlRequests::trigger(const Json& args) {
  const std::string kind = base::string_at(args, {"kind"});
  const std::string name = base::string_at(args, {"name"});
  const std::string selector = base::string_at(args, {"selector"});
  const bool all = flag_at(args, "all");
  if (int{!name.empty()} + int{!selector.empty()} + int{all} != 1) {
    return invalid("trigger needs one of KIND/NAME, a selector and all");
  }
  TriggerRequest request;
  request.all = all;
  request.reason = tidy_trigger_reason(base::string_at(args, {"reason"}));
  if (!name.empty()) request.key = {base::string_at(args, {"namespace"}), name};
  request.by_person = !name.empty();
  if (!selector.empty()) {
    KW_ASSIGN(request.selector, core::LabelSelector::parse(selector));
  }
  const auto drivers = drivers_of(kind);
  if (drivers.empty()) return no_such_kind(kind);
  Triggered triggered;
  for (Driver* driver : drivers) {
    triggered.add(*driver, driver->trigger(request, runtime::Reason::manual));
  }
  if (triggered.count == 0) {
    return Error(ErrorKind::not_found,
                 "no object of the rules' selections matches; explain KIND/NAME says why");
  }
  return triggered.answer();
}

Json ControlRequests::retry() {
  Triggered triggered;
  for (Driver* driver : engine_.drivers()) {
    TriggerRequest request;
    request.reason = "retry --parked";
    for (const core::ObjectKey& key : driver->queue().parked()) {
      // A rule without `for` is one run for everything.
      request.all = !driver->rule().has_for;
      if (!request.all) request.key = key;
      triggered.add(*driver, driver->trigger(request, runtime::Reason::manual));
    }
  }
  return triggered.answer();
}

// --- queue, log-level

Json ControlRequests::queue(const Json& args) {
  const TimePoint now = client_.loop().now();
  const std::size_t limit = count_at(args, "limit", kMaxNames, kMaxKeys);
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
    Json keys = Json::array();
    for (const auto& [key, state] : driver->queue().entries(limit)) {
      keys.push_back(queue_entry(*driver, key, state, now));
    }
    one["objects"] = std::move(keys);
    controllers.push_back(std::move(one));
  }
  return {{"controllers", std::move(controllers)}};
}

Result<Json> ControlRequests::log_level(const Json& args) {
  const int was = base::log_verbosity();
  if (base::find(args, {"level"}) != nullptr) {
    const auto level = base::int_at(args, {"level"});
    if (!level || *level < 0 || *level > 10) return invalid("the level must be from 0 to 10");
    base::set_log_verbosity(static_cast<int>(*level));
    base::log_info("verbosity changed",
                   {{"from", std::to_string(was)}, {"to", std::to_string(*level)}});
  }
  return Json{{"verbosity", base::log_verbosity()}, {"was", was}};
}

// --- finalizers

// Dying objects that our finalizers hold; with `release` each is let go without its cleanup.
void ControlRequests::finalizers(const Json& args, const ControlReplyPtr& reply) {
  const std::string kind = base::string_at(args, {"kind"});
  const std::string name = base::string_at(args, {"name"});
  const auto drivers = drivers_of(kind);
  if (drivers.empty()) return reply->fail(no_such_kind(kind));
  struct Work {
    ControlReplyPtr reply;
    Json objects = Json::array();
    std::size_t open = 1;
    void one_less() {
      if (--open == 0) reply->result({{"objects", objects}});
    }
  };
  auto work = std::make_shared<Work>();
  work->reply = reply;
  for (Driver* driver : drivers) {
    if (!driver->status().started) continue;
    for (const core::ObjectKey& key : driver->caches().known_keys()) {
      if (!name.empty() && key != key_at(args, driver->owner_type())) continue;
      auto meta = driver->caches().object_meta(key);
      if (!meta) meta = driver->caches().guarded_meta(key);
      const std::string& finalizer = driver->rule().finalizer_name;
      if (!meta || !meta->deleting() || !meta->has_finalizer(finalizer)) continue;
      if (work->objects.size() >= kMaxReleases) break;
      const std::size_t at = work->objects.size();
      Json object = explained(*driver, key, nullptr, "");
      object["finalizer"] = finalizer;
      object["since"] = *meta->deletion_timestamp;
      work->objects.push_back(std::move(object));
      if (!flag_at(args, "release")) continue;
      ++work->open;
      core::PatchParams params;
      params.type = core::PatchType::json;
      params.field_manager = driver->rule().apply.field_manager;
      requests_.run<Result<client::ApplyResult>>(
          [work, at](Result<client::ApplyResult> answer) {
            const bool gone = !answer.ok() && answer.error().is_not_found();
            work->objects[at]["released"] = answer.ok() || gone;
            if (!answer.ok() && !gone) work->objects[at]["error"] = answer.error().render();
            work->one_less();
          },
          [&](auto done) {
            return client_.patch(driver->owner_type(), key,
                                 runtime::remove_finalizer_patch(*meta, finalizer), params,
                                 std::move(done));
          });
    }
  }
  work->one_less();
}

}  // namespace kubewatch::hooks
