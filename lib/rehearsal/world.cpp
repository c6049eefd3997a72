#include "rehearsal/world.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apiserver/convert.hpp"
#include "base/yaml.hpp"
#include "core/server_fields.hpp"
#include "core/url.hpp"
#include "hooks/driver.hpp"

namespace kubewatch::rehearsal {

namespace {

constexpr Duration kNever = std::chrono::hours(24 * 364);
constexpr Duration kHookPoll{20};
constexpr Duration kEndPatience{40000};
constexpr const char* kUser = "fieldManager=kubectl&force=true";
constexpr const char* kApply = "application/apply-patch+yaml";
constexpr const char* kEvents = "/apis/events.k8s.io/v1/events";

client::ClientConfig local_config() {
  client::ClientConfig config;
  config.server = LocalServer::kUrl;
  config.namespace_ = "default";
  config.source = "the rehearsal";
  return config;
}

std::vector<hooks::Rule> steady(std::vector<hooks::Rule> rules) {
  for (hooks::Rule& rule : rules) make_steady(rule);
  return rules;
}

Json told_event(const std::string& controller, const runtime::Happening& what) {
  return {{"reportingController", std::string(hooks::kDomain) + controller},
          {"type", what.type == runtime::EventType::normal ? "Normal" : "Warning"},
          {"reason", what.reason},
          {"action", what.action},
          {"regarding", what.regarding.to_json()},
          {"note", what.note}};
}

// The Event on the server that it became, or was counted into.
bool is_told(const Json& told, const Json& event) {
  for (const char* key : {"reportingController", "type", "reason", "action", "regarding"}) {
    if (event.value(key, Json()) != told[key]) return false;
  }
  return true;
}

void make_steady_stream(hooks::StreamRule& stream) {
  stream.list.idle = kNever;
  stream.list.bookmarks = false;
  stream.list.backoff.jitter = 0;
}

// What was told of an object in this version, as it is stored. A custom kind may have been
// converted by a webhook, which is not there: its fields stay as they are, whatever the stored
// version has.
Json as_stored(const apiserver::Resource& resource, Json told) {
  const core::Gvk& gvk = resource.custom ? resource.storage_gvk : resource.type.gvk;
  told["apiVersion"] = gvk.api_version();
  told["kind"] = gvk.kind;
  return resource.custom ? told : apiserver::to_stored(resource, std::move(told));
}

// Other streams may have told of it in another version.
Json as_stored(const apiserver::Registry& registry, const apiserver::Resource& resource,
               const Json& told) {
  const auto gvk = core::gvk_of(told);
  const auto own = gvk.ok() ? registry.find_kind(*gvk) : nullptr;
  const bool same = own != nullptr && own->storage_id == resource.storage_id;
  return as_stored(same ? *own : resource, told);
}

// Of what is only metadata the rest is not known to be gone: it is as it is now. Some versions have
// in annotations what others have in fields.
Json with_metadata_of(const apiserver::Resource& resource, const Json& live, const Json& told) {
  Json object = apiserver::to_served(resource, live);
  object["metadata"] = told.value("metadata", Json::object());
  return as_stored(resource, std::move(object));
}

bool hands_out_credentials(const hooks::Rule& rule) {
  const auto has_some = [](const hooks::HookRule& hook) {
    return hook.credentials.kind != hooks::CredentialsRule::Kind::none;
  };
  return has_some(rule.reconcile) || (rule.finalize && has_some(rule.finalize->hook));
}

}  // namespace

// What its triggers would tell is the test case's to say, or in the recording: their programs and
// files are the real world's.
void make_steady(hooks::Rule& rule) {
  rule.triggers.clear();
  rule.retry.backoff.jitter = 0;
  make_steady_stream(rule.for_);
  for (auto& owns : rule.owns) make_steady_stream(owns.stream);
  for (auto& watches : rule.watches) make_steady_stream(watches.stream);
}

World::World(std::vector<hooks::Rule> rules, WorldOptions options)
    : time_(loop_, options.now),
      options_(options),
      rules_(steady(std::move(rules))),
      server_(loop_),
      client_(loop_, server_, open_door()) {
  base::capture_log(&captured_);
}

// Hooks without credentials look for no server: then there is none to be found.
client::ClientConfig World::open_door() {
  client::ClientConfig config = local_config();
  if (std::none_of(rules_.begin(), rules_.end(), hands_out_credentials)) return config;
  auto door = FrontDoor::open(loop_, server_);
  if (!door.ok()) {
    opened_ = std::move(door).error().with_context("the API server for hooks with credentials");
    return config;
  }
  door_ = std::move(*door);
  config.server = door_->url();
  config.ca_pem = door_->ca_pem();
  config.token = door_->token();
  return config;
}

World::~World() {
  engine_.reset();
  // Runs that were dropped go in the next turn.
  turn();
  base::capture_log(nullptr);
}

void World::start_engine() {
  if (engine_ == nullptr && earlier_runs_ == 0) take_events();  // they were given
  hooks::EngineCallbacks callbacks;
  callbacks.on_run = [this](const hooks::RunRecord& run) { runs_.push_back(run_json(run)); };
  callbacks.on_held = callbacks.on_run;
  if (on_exchange_) callbacks.on_exchange = on_exchange_;
  callbacks.on_event = [this](const std::string& controller, const runtime::Happening& what) {
    told_.push_back(told_event(controller, what));
  };
  callbacks.on_metric = [this](const std::string& controller, const hooks::HookMetric& metric) {
    note_metric(controller, metric);
  };
  hooks::EngineOptions options;
  options.steady = true;
  engine_ = std::make_unique<hooks::Engine>(loop_, client_, rules_, std::move(options),
                                            std::move(callbacks));
  engine_->start();
}

bool World::end_engine() {
  if (engine_ == nullptr) return true;
  bool ended = false;
  engine_->shut_down([&] { ended = true; });
  loop_.run_until([&] { return ended; }, kEndPatience);
  earlier_runs_ += engine_->status().runs;
  engine_.reset();
  turn();
  return ended;
}

// As a Result has it.
void World::note_metric(const std::string& controller, const hooks::HookMetric& metric) {
  Json out = {{"controller", controller},
              {"name", metric.name},
              {"type", std::string(hooks::to_string(metric.kind))},
              {"value", metric.value}};
  if (!metric.labels.empty()) out["labels"] = metric.labels;
  if (!metric.help.empty()) out["help"] = metric.help;
  if (!metric.buckets.empty()) out["buckets"] = metric.buckets;
  if (metric.ttl) out["ttl"] = base::format_duration(*metric.ttl);
  metrics_.push_back(std::move(out));
}

apiserver::ResourcePtr World::find_kind(const Json& reference) const {
  const std::string kind = base::string_at(reference, {"kind"});
  const std::string api_version = base::string_at(reference, {"apiVersion"});
  if (!api_version.empty()) {
    const auto gvk = core::gvk_of(reference);
    return gvk.ok() ? server_.api().registry().find_kind(*gvk) : nullptr;
  }
  for (const auto& resource : server_.api().registry().all()) {
    if (resource->type.gvk.kind == kind) return resource;
  }
  return nullptr;
}

bool World::has_kind(const std::string& kind) const {
  return find_kind({{"kind", kind}}) != nullptr;
}

Result<void> World::apply(const Json& object) {
  const auto resource = find_kind(object);
  const std::string kind = base::string_at(object, {"kind"});
  const std::string name = base::string_at(object, {"metadata", "name"});
  if (resource == nullptr) {
    return Error(
        ErrorKind::not_found,
        fmt::format("there is no kind {}: give its CustomResourceDefinition before", kind));
  }
  core::ObjectKey key{"", name};
  if (resource->type.namespaced) {
    key.namespace_ = base::string_at(object, {"metadata", "namespace"});
    if (key.namespace_.empty()) key.namespace_ = "default";
    KW_TRY(make_namespace(key.namespace_));
  }
  Json manifest = object;
  const bool has_status = resource->has_status() && manifest.contains("status");
  if (has_status) manifest.erase("status");
  const std::string path = core::object_path(resource->type, key);
  KW_TRY(server_.ask("PATCH", path, kUser, manifest, kApply).with_context(kind + " " + key.str()));
  server_.finish_work();
  if (!has_status) return {};
  Json status = {{"apiVersion", object["apiVersion"]},
                 {"kind", kind},
                 {"metadata", {{"name", name}}},
                 {"status", object["status"]}};
  // It follows from the spec: the server has said it, and no other is taken.
  if (resource->storage_id == "pods" && status["status"].is_object()) {
    status["status"].erase("qosClass");
  }
  KW_TRY(server_.ask("PATCH", path + "/status", kUser, status, kApply)
             .with_context(kind + " " + key.str() + " status"));
  return {};
}

Result<void> World::make_namespace(const std::string& name) {
  const std::string path = "/api/v1/namespaces/" + name;
  if (name.empty() || server_.ask("GET", path, "", nullptr).ok()) return {};
  const Json space = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}};
  KW_TRY(server_.ask("PATCH", path, kUser, space, kApply));
  return {};
}

bool World::put(const apiserver::Resource& resource, const RecordedChange& change) {
  auto& storage = server_.api().storage();
  const auto key = apiserver::object_key(change.key.namespace_, change.key.name);
  const auto live = storage.get(resource.storage_id, key);
  if (change.after.is_null()) {
    if (live == nullptr) return false;
    // What the controller deletes it deletes anew; only the last step may be another's.
    const bool dying = base::find(live->json(), {"metadata", "deletionTimestamp"}) != nullptr;
    if (change.own_deletion && !dying) return false;
    storage.remove(resource.storage_id, key);
    return true;
  }
  if (live == nullptr && change.before) return false;  // it came from a write that is not made now
  const auto stored = [&](const Json& told) {
    if (live != nullptr && change.metadata_only)
      return with_metadata_of(resource, live->json(), told);
    return as_stored(server_.api().registry(), resource, told);
  };
  Json object = stored(change.after);
  if (live != nullptr) {
    const Json before = change.before ? stored(*change.before) : live->json();
    const Json difference = change_between(before, object);
    object = live->json();
    object.merge_patch(difference);
    if (object == live->json()) return false;
  }
  storage.put(resource.storage_id, std::move(object));
  return true;
}

Result<void> World::remove(const Json& reference) {
  const auto resource = find_kind(reference);
  if (resource == nullptr) {
    return Error(ErrorKind::not_found, "there is no kind " + base::string_at(reference, {"kind"}));
  }
  std::string name = base::string_at(reference, {"name"});
  if (name.empty()) name = base::string_at(reference, {"metadata", "name"});
  core::ObjectKey key{"", name};
  if (resource->type.namespaced) {
    key.namespace_ = base::string_at(reference, {"namespace"});
    if (key.namespace_.empty())
      key.namespace_ = base::string_at(reference, {"metadata", "namespace"});
    if (key.namespace_.empty()) key.namespace_ = "default";
  }
  const Json options = {
      {"kind", "DeleteOptions"}, {"apiVersion", "v1"}, {"propagationPolicy", "Background"}};
  KW_TRY(server_.ask("DELETE", core::object_path(resource->type, key), "", options)
             .with_context(resource->type.gvk.kind + " " + key.str()));
  server_.finish_work();
  return {};
}

PaceFacts World::facts(Debounced debounced) const {
  PaceFacts out;
  out.now = loop_.now();
  out.real = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - step_started_);
  const hooks::EngineStatus status = engine_->status();
  out.skipped = skipped_;
  out.activity = server_.activity() + status.runs;
  out.in_flight = !server_.quiet();
  out.watches_complete = server_.watches_complete();
  out.idle = status.idle || (debounced == Debounced::left && status.debounced);
  out.hooks = status.hooks;
  out.failing = status.failing;
  out.runs = earlier_runs_ + status.runs;
  out.next_timer = time_.next_timer();
  return out;
}

void World::skip_to(TimePoint time) {
  const Duration distance = std::max(time - loop_.now(), Duration{0});
  skipped_ += distance;
  time_.skip(distance);
}

// One turn that does not wait.
void World::turn() {
  bool turned = false;
  loop_.post([&turned] { turned = true; });
  loop_.run_until([&turned] { return turned; }, Duration{3600000});
}

void World::wait_for_hook() {
  bool first = true;
  loop_.run_until([&first] { return !std::exchange(first, false); }, kHookPoll);
}

Result<void> World::settle(Duration advance, Debounced debounced) {
  KW_TRY(opened_);
  step_started_ = std::chrono::steady_clock::now();
  skipped_ = Duration{0};
  PaceLimits limits;
  limits.real = options_.patience;
  limits.runs = options_.max_runs;
  Pace pace(facts(debounced), advance, options_.through_retries, limits);
  for (;;) {
    const PaceDecision decision = pace.decide(facts(debounced));
    switch (decision.move) {
      case PaceMove::turn: turn(); break;
      case PaceMove::wait: wait_for_hook(); break;
      case PaceMove::jump:
        skip_to(decision.to);
        turn();
        break;
      case PaceMove::settled: sort_log(); return {};
      case PaceMove::stuck: sort_log(); return Error(ErrorKind::timeout, decision.why);
    }
  }
}

// Lines with a run's id are a hook's; the rest is ours.
void World::sort_log() {
  for (std::string& line : captured_) {
    if (line.find(" run=") != std::string::npos) step_log_.push_back(line);
    all_log_.push_back(std::move(line));
  }
  captured_.clear();
}

std::vector<Json> World::objects() const {
  std::vector<Json> out;
  for (const auto& resource : server_.api().registry().stored()) {
    server_.api().storage().each(resource->storage_id, "", "",
                                 [&](const apiserver::ObjectPtr& one) {
                                   Json object = one->json();
                                   object["apiVersion"] = resource->storage_gvk.api_version();
                                   object["kind"] = resource->storage_gvk.kind;
                                   core::drop_metadata(object, {"managedFields"});
                                   out.push_back(std::move(object));
                                   return true;
                                 });
  }
  return out;
}

Observed World::take() {
  Observed out;
  out.objects = objects();
  out.resources = server_.api().registry().all();
  for (const hooks::Rule& rule : rules_) {
    if (rule.has_for && !rule.for_.every_kind) out.for_.push_back(rule.for_.gvk);
  }
  out.used = out.for_;
  for (const hooks::Rule& rule : rules_) {
    for (const auto& owns : rule.owns) out.used.push_back(owns.stream.gvk);
    for (const auto& watches : rule.watches) out.used.push_back(watches.stream.gvk);
    for (const auto& writes : rule.writes) out.used.push_back(writes.gvk);
  }
  for (const hooks::Driver* driver : engine_->drivers()) {
    out.controllers.push_back(driver->rule().name);
  }
  out.runs = std::exchange(runs_, {});
  out.metrics = std::exchange(metrics_, {});
  out.log = std::exchange(step_log_, {});
  const auto& writes = server_.writes();
  for (; writes_taken_ < writes.size(); ++writes_taken_) {
    out.writes.push_back(write_json(writes[writes_taken_]));
  }
  out.events = take_events();
  return out;
}

// Of a series the server hears of its beginning and then seldom: what happened is what the engine
// told, as it stands on the server. What anybody else wrote counts where it is new or has grown.
std::vector<Json> World::take_events() {
  std::vector<Json> out;
  const auto events = server_.ask("GET", kEvents, "", nullptr);
  const Json* items = events.ok() ? base::find(*events, {"items"}) : nullptr;
  if (items == nullptr) return out;
  std::erase_if(told_, [&](const Json& told) {
    const auto written = std::find_if(items->begin(), items->end(),
                                      [&](const Json& event) { return is_told(told, event); });
    if (written == items->end()) return false;
    out.push_back(*written);
    out.back()["note"] = told["note"];
    return true;
  });
  for (const Json& event : *items) {
    if (!is_ours(event) && has_grown(event)) out.push_back(event);
  }
  return out;
}

bool World::is_ours(const Json& event) const {
  return std::any_of(rules_.begin(), rules_.end(), [&](const hooks::Rule& rule) {
    return base::string_at(event, {"reportingController"}) ==
           std::string(hooks::kDomain) + rule.name;
  });
}

bool World::has_grown(const Json& event) {
  const std::int64_t count = base::int_at(event, {"series", "count"}).value_or(1);
  std::int64_t& known = known_events_[base::string_at(event, {"metadata", "uid"})];
  return std::exchange(known, std::max(known, count)) < count;
}

}  // namespace kubewatch::rehearsal
