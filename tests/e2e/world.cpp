#include "e2e/world.hpp"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/log.hpp"
#include "base/yaml.hpp"
#include "hooks/driver.hpp"
#include "hooks/health.hpp"
#include "hooks/rule_file.hpp"

namespace kubewatch::e2e {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what);
}

const std::vector<Json> documents(const std::string& yaml) {
  auto parsed = base::parse_yaml_values(yaml);
  if (!parsed.ok()) fail("the case's own YAML: " + parsed.error().render());
  return std::move(parsed).value();
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

template <class T>
Result<T> World::wait(
    const std::function<client::PendingPtr(std::function<void(Result<T>)>)>& start) {
  std::optional<Result<T>> answer;
  const auto pending = start([&](Result<T> result) { answer.emplace(std::move(result)); });
  if (!loop_.run_until([&] { return answer.has_value(); }, Duration{60000})) {
    return Error(ErrorKind::timeout, "no answer from " + server_->name() + " in 60 s");
  }
  return std::move(*answer);
}

World::World() : random_(base::Random::from_system()), server_(make_server(loop_)) {
  auto transport = client::make_transport(loop_, server_->config());
  if (!transport.ok()) fail(transport.error().render());
  transport_ = std::move(transport).value();
  client_ = std::make_unique<client::Client>(loop_, *transport_, server_->config());
  char folder[] = "/tmp/kubewatch-e2e-XXXXXX";
  if (::mkdtemp(folder) == nullptr) fail("mkdtemp");
  folder_ = folder;
  file("kubeconfig", client::render_kubeconfig(server_->config(), "e2e"));
  discover();
  const std::string unique = random_.suffix(6);
  ns_ = "e2e-" + unique;
  ns2_ = "e2e-" + unique + "-b";
  apply("{apiVersion: v1, kind: Namespace, metadata: {name: '@NS@'}}");
  apply("{apiVersion: v1, kind: Namespace, metadata: {name: '@NS2@'}}");
}

World::~World() {
  try {
    if (engine_) stop();
    for (const auto& name : {ns_, ns2_}) remove("Namespace", name, "");
  } catch (const std::exception&) {
    // A case that failed leaves what it made to the server's end.
  }
  engine_.reset();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void World::fail_for_now(const std::string& what) const {
  if (server_->name() == "sandbox") fail(what);
  throw NotNow(what);
}

void World::fail_with(const Error& error) const {
  switch (error.kind()) {
    case ErrorKind::rate_limited:
    case ErrorKind::timeout:
    case ErrorKind::unavailable:
    case ErrorKind::unreachable: fail_for_now(error.render());
    default: fail(error.render());
  }
}

void World::discover() {
  auto found = wait<std::shared_ptr<const client::ResourceMap>>(
      [&](auto done) { return client::discover(*client_, std::move(done)); });
  if (!found.ok()) fail_with(found.error());
  resources_ = std::move(found).value();
}

const core::ResourceType* World::known(const std::string& kind) const {
  const std::size_t slash = kind.find('/');  // "events.k8s.io/Event"
  if (slash != std::string::npos) {
    const auto* found = resources_->find_kind(kind.substr(0, slash), kind.substr(slash + 1));
    if (found != nullptr) return found;
  }
  // Our own group first: the server may hold kinds of the same name from elsewhere.
  for (const char* group :
       {"e2e.kubewatch.dev", "kinds.e2e.kubewatch.dev", "", "apps", "apiextensions.k8s.io",
        "coordination.k8s.io", "rbac.authorization.k8s.io"}) {
    if (const auto* found = resources_->find_kind(group, kind)) return found;
  }
  return nullptr;
}

const core::ResourceType& World::type(const std::string& kind) {
  const core::ResourceType* found = known(kind);
  const auto served = [&] {  // its CRD may be new
    if (found != nullptr) return true;
    loop_.run_until([] { return false; }, Duration{200});
    discover();
    found = known(kind);
    return found != nullptr;
  };
  if (!eventually(served, kDiscovery)) fail("no kind " + kind + " on " + server_->name());
  return *found;
}

std::string World::expand(std::string text) const {
  replace_all(text, "@NS@", ns_);
  replace_all(text, "@NS2@", ns2_);
  return text;
}

void World::file(const std::string& name, const std::string& text) {
  std::ofstream(folder_ + "/" + name) << expand(text);
}

void World::script(const std::string& name, const std::string& body) {
  // A new file each time: a running hook may still hold the old one (ETXTBSY).
  fs::remove(folder_ + "/" + name);
  file(name, "#!/bin/sh\nset -eu\n" + body);
  ::chmod((folder_ + "/" + name).c_str(), 0755);
}

std::string World::read(const std::string& name) const {
  std::ifstream in(folder_ + "/" + name);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::size_t World::lines(const std::string& name) const {
  const std::string text = read(name);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

void World::rules(const std::string& yaml) {
  file("rules.yaml", yaml);
}

void World::start() {
  auto loaded = hooks::load_rules({folder_ + "/rules.yaml"});
  for (const auto& problem : loaded.problems) fail(problem.str());
  hooks::EngineOptions options;
  options.work_dir = folder_ + "/work";
  fs::create_directories(options.work_dir);
  options.triggers.emplace();  // any free port, for rules with HTTP triggers
  options.traces = traces_;
  hooks::EngineCallbacks callbacks;
  callbacks.on_run = [this](const hooks::RunRecord& run) {
    base::log_info("run " + run.outcome, {{"object", run.object},
                                          {"reason", run.reason},
                                          {"attempt", std::to_string(run.attempt)},
                                          {"message", run.message}});
    runs_.push_back(run);
  };
  engine_ = std::make_unique<hooks::Engine>(loop_, *client_, std::move(loaded.rules), options,
                                            std::move(callbacks));
  engine_->start();
}

void World::stop() {
  bool done = false;
  engine_->shut_down([&] { done = true; });
  // Longer than it gives its hooks and its last writes together.
  if (!loop_.run_until([&] { return done; }, Duration{90000})) fail("the engine did not shut down");
  engine_.reset();
}

void World::reload(const std::string& yaml) {
  rules(yaml);
  auto loaded = hooks::load_rules({folder_ + "/rules.yaml"});
  for (const auto& problem : loaded.problems) fail(problem.str());
  if (auto plan = engine_->reload(std::move(loaded.rules)); !plan.ok()) fail(plan.error().render());
}

std::string World::metrics() const {
  const auto facts = engine_->facts();
  return engine_->metrics_text(facts, hooks::judge_readiness(facts, {}).ok());
}

std::size_t World::runs_of(const std::string& name, const std::string& outcome) const {
  return static_cast<std::size_t>(std::count_if(runs_.begin(), runs_.end(), [&](const auto& run) {
    const auto cut = run.object.find_last_of("/ ");
    return run.object.substr(cut + 1) == name && (outcome.empty() || run.outcome == outcome);
  }));
}

void World::settle(Duration quiet, Duration deadline) {
  TimePoint since = loop_.now();
  std::uint64_t seen = engine_->status().runs;
  const auto quiet_for_long = [&] {
    const auto status = engine_->status();
    if (!status.idle || status.runs != seen) {
      seen = status.runs;
      since = loop_.now();
    }
    return loop_.now() - since >= quiet;
  };
  if (!eventually(quiet_for_long, deadline)) fail("the engine did not settle");
}

std::uint64_t World::their_runs() const {
  std::uint64_t runs = 0;
  for (const hooks::Driver* driver : engine_->drivers()) runs += driver->status().runs;
  return runs;
}

Result<Json> World::try_create(const Json& object, bool dry_run,
                               const std::string& field_validation) {
  core::WriteParams params;
  params.field_manager = "e2e";
  params.dry_run = dry_run;
  params.field_validation = field_validation;
  const std::string version = base::string_at(object, {"apiVersion"});
  const auto slash = version.find('/');
  const std::string group = slash == std::string::npos ? "" : version.substr(0, slash);
  const auto& resource = type(group + "/" + base::string_at(object, {"kind"}));
  return wait<Json>([&](auto done) {
    return client_->create(resource, base::string_at(object, {"metadata", "namespace"}), object,
                           params, std::move(done));
  });
}

Result<client::ApplyResult> World::try_apply(const std::string& yaml, const std::string& manager,
                                             bool force) {
  const Json object = documents(expand(yaml)).at(0);
  core::PatchParams params;
  params.type = core::PatchType::apply;
  params.field_manager = manager;
  params.force = force;
  const core::ObjectKey key{base::string_at(object, {"metadata", "namespace"}),
                            base::string_at(object, {"metadata", "name"})};
  const std::string version = base::string_at(object, {"apiVersion"});
  const auto slash = version.find('/');
  const std::string group = slash == std::string::npos ? "" : version.substr(0, slash);
  const auto& resource = type(group + "/" + base::string_at(object, {"kind"}));
  return wait<client::ApplyResult>(
      [&](auto done) { return client_->patch(resource, key, object, params, std::move(done)); });
}

Json World::apply(const std::string& yaml, const std::string& manager) {
  Json last;
  for (const auto& document : documents(expand(yaml))) {
    // Right after a CRD or a namespace was made, the real server may need a moment.
    const auto applied = [&] {
      auto result = try_apply(base::dump_json(document), manager, true);
      if (result.ok()) {
        last = std::move(result->object);
        return true;
      }
      if (!result.error().is_not_found()) fail_with(result.error());
      loop_.run_until([] { return false; }, Duration{150});
      throw NotNow(result.error().render());
    };
    eventually(applied);
  }
  return last;
}

Json World::create(const std::string& yaml) {
  const Json object = documents(expand(yaml)).at(0);
  const auto& resource = type(base::string_at(object, {"kind"}));
  auto made = wait<Json>([&](auto done) {
    core::WriteParams params;
    params.field_manager = "e2e";
    return client_->create(resource, base::string_at(object, {"metadata", "namespace"}), object,
                           params, std::move(done));
  });
  if (!made.ok()) fail_with(made.error());
  return std::move(made).value();
}

Json World::merge(const std::string& kind, const std::string& name, const std::string& patch_yaml,
                  const std::string& namespace_, const std::string& subresource) {
  const auto& resource = type(kind);
  core::PatchParams params;
  params.type = core::PatchType::merge;
  params.field_manager = "e2e";
  auto done = wait<client::ApplyResult>([&](auto callback) {
    return client_->patch(resource, {expand(namespace_), expand(name)},
                          documents(expand(patch_yaml)).at(0), params, std::move(callback),
                          subresource);
  });
  if (!done.ok()) fail_with(done.error());
  return std::move(done).value().object;
}

bool World::try_merge(const std::string& kind, const std::string& name,
                      const std::string& patch_yaml, const std::string& namespace_) {
  const auto& resource = type(kind);
  core::PatchParams params;
  params.type = core::PatchType::merge;
  params.field_manager = "e2e";
  return wait<client::ApplyResult>([&](auto callback) {
           return client_->patch(resource, {expand(namespace_), expand(name)},
                                 documents(expand(patch_yaml)).at(0), params, std::move(callback));
         })
      .ok();
}

bool World::try_remove(const std::string& kind, const std::string& name,
                       const std::string& namespace_) {
  const auto& resource = type(kind);
  return wait<Json>([&](auto callback) {
           return client_->remove(resource, {expand(namespace_), expand(name)}, {},
                                  std::move(callback));
         })
      .ok();
}

void World::remove(const std::string& kind, const std::string& name,
                   const std::string& namespace_) {
  const auto& resource = type(kind);
  core::DeleteParams params;
  params.propagation = core::Propagation::background;
  auto done = wait<Json>([&](auto callback) {
    return client_->remove(resource, {expand(namespace_), expand(name)}, params,
                           std::move(callback));
  });
  if (!done.ok()) fail_with(done.error());
}

void World::remove_definition(const std::string& name) {
  const char* const kind = "CustomResourceDefinition";
  remove(kind, name, "");
  if (!eventually([&] { return !get(kind, name, ""); }, kCrdGone)) {
    fail("the definition " + name + " is still there");
  }
}

std::optional<Json> World::get(const std::string& kind, const std::string& name,
                               const std::string& namespace_) {
  const auto& resource = type(kind);
  auto found = wait<Json>([&](auto callback) {
    return client_->get(resource, {expand(namespace_), expand(name)}, std::move(callback));
  });
  if (!found.ok() && found.error().is_not_found()) return std::nullopt;
  if (!found.ok()) fail_with(found.error());
  return std::move(found).value();
}

std::vector<Json> World::list(const std::string& kind, const std::string& selector,
                              const std::string& namespace_) {
  const auto& resource = type(kind);
  core::ListParams params;
  params.label_selector = expand(selector);
  auto found = wait<client::ListResult>([&](auto callback) {
    return client_->list(resource, expand(namespace_), params, std::move(callback));
  });
  if (!found.ok()) fail_with(found.error());
  std::vector<Json> out;
  for (const auto& item : found->items) {
    auto parsed = base::parse_json(item);
    if (!parsed.ok()) fail(parsed.error().render());
    out.push_back(std::move(parsed).value());
  }
  return out;
}

bool World::eventually(const std::function<bool()>& holds, Duration deadline) {
  const TimePoint end = loop_.now() + deadline;
  for (;;) {
    try {
      if (holds()) return true;
      if (loop_.now() >= end) return false;
    } catch (const NotNow&) {
      if (loop_.now() >= end) throw;
    }
    loop_.run_until([] { return false; }, Duration{50});
  }
}

bool World::holds_for(const std::function<bool()>& holds, Duration how_long) {
  const TimePoint end = loop_.now() + how_long;
  while (loop_.now() < end) {
    if (!holds()) return false;
    loop_.run_until([] { return false; }, Duration{50});
  }
  return true;
}

const char* const kWebsiteCrd = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: websites.e2e.kubewatch.dev}
spec:
  group: e2e.kubewatch.dev
  scope: Namespaced
  names: {plural: websites, singular: website, kind: Website, shortNames: [ws]}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                title: {type: string}
                replicas: {type: integer}
                paused: {type: boolean}
                config: {type: string}
            status:
              type: object
              properties:
                ready: {type: boolean}
                title: {type: string}
                observedGeneration: {type: integer}
                conditions:
                  type: array
                  x-kubernetes-list-type: map
                  x-kubernetes-list-map-keys: [type]
                  items:
                    type: object
                    required: [type, status]
                    properties:
                      type: {type: string}
                      status: {type: string}
                      reason: {type: string}
                      message: {type: string}
                      lastTransitionTime: {type: string, format: date-time}
                      observedGeneration: {type: integer}
)";

const char* const kFleetCrd = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: fleets.e2e.kubewatch.dev}
spec:
  group: e2e.kubewatch.dev
  scope: Cluster
  names: {plural: fleets, singular: fleet, kind: Fleet}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, properties: {title: {type: string}}}
)";

const char* const kPlainCrd = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: plains.e2e.kubewatch.dev}
spec:
  group: e2e.kubewatch.dev
  scope: Namespaced
  names: {plural: plains, singular: plain, kind: Plain}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, properties: {title: {type: string}}}
            status:
              type: object
              properties:
                ready: {type: boolean}
                conditions:
                  type: array
                  items:
                    type: object
                    properties:
                      type: {type: string}
                      status: {type: string}
                      reason: {type: string}
                      message: {type: string}
                      lastTransitionTime: {type: string}
)";

}  // namespace kubewatch::e2e
