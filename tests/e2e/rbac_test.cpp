// The rights that `run-controller rbac` prints are enough: rules, those of all examples among them,
// run as an account that has these and nothing else. The sandbox allows everything, so there this
// shows only that the documents can be applied and the rules run; kube-apiserver refuses what is
// not granted, and there the account has a token of its own.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "base/yaml.hpp"
#include "e2e/kubewatch_process.hpp"
#include "e2e/requests.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"
#include "hooks/rule_file.hpp"

namespace kubewatch::e2e {
namespace {

// Notes what was refused with a 403 for want of rights: what rules find in a namespace of another
// case, which is being deleted, is refused as well, whatever one may do.
class RefusalWatch : public http::Transport {
 public:
  explicit RefusalWatch(http::Transport& inner) : inner_(inner) {}
  std::unique_ptr<http::Call> start(http::Request request, http::CallHandlers handlers) override {
    const std::string what = request.method + " " + request.url;
    auto on_head = std::move(handlers.on_head);
    handlers.on_head = [this, on_head, what](const http::ResponseHead& head) {
      if (head.status == 403) refused.insert(what);
      if (on_head) on_head(head);
    };
    auto on_data = std::move(handlers.on_data);
    handlers.on_data = [this, on_data, what](std::string_view data) {
      const bool ending = data.find("because it is being terminated") != std::string_view::npos;
      if (ending) refused.erase(what);
      if (on_data) on_data(data);
    };
    return inner_.start(std::move(request), std::move(handlers));
  }
  std::set<std::string> refused;

 private:
  http::Transport& inner_;
};

// What a role's rules allow, one question for each verb, resource and name.
std::vector<Json> reviews_of(const Json& role) {
  std::vector<Json> out;
  for (const Json& rule : role["rules"]) {
    const Json names = rule.value("resourceNames", Json::array({""}));
    for (const Json& resource : rule["resources"]) {
      const std::string word = resource;
      const auto slash = word.find('/');
      for (const Json& verb : rule["verbs"]) {
        for (const Json& name : names) {
          Json attributes = {{"verb", verb},
                             {"group", rule["apiGroups"][0]},
                             {"resource", word.substr(0, slash)},
                             {"namespace", base::string_at(role, {"metadata", "namespace"})},
                             {"name", name}};
          if (slash != std::string::npos) attributes["subresource"] = word.substr(slash + 1);
          out.push_back({{"apiVersion", "authorization.k8s.io/v1"},
                         {"kind", "SelfSubjectAccessReview"},
                         {"spec", {{"resourceAttributes", attributes}}}});
        }
      }
    }
  }
  return out;
}

core::ResourceType builtin(const std::string& group, const std::string& kind,
                           const std::string& plural, bool namespaced) {
  core::ResourceType type;
  type.gvk = {group, "v1", kind};
  type.plural = plural;
  type.namespaced = namespaced;
  return type;
}

// Rules that run as an account which has what `rbac` printed for them.
class Account {
 public:
  Account(World& w, std::vector<std::string> words) : w_(w) {
    words.insert(words.begin(), {"run-controller", "rbac"});
    words.insert(words.end(), {"--name", "bot", "-n", w.ns()});
    const Ran rbac = Program(w.loop(), kubewatch_command(w, words)).ran();
    REQUIRE(rbac.code == 0);
    auto documents = base::parse_yaml_values(rbac.out);
    REQUIRE(documents.ok());
    documents_ = std::move(*documents);
    CHECK(rbac.out.find('*') == std::string::npos);
    w.apply(rbac.out);
    become();
    wait_for_rights();
  }
  ~Account() {
    engine_.reset();
    for (const char* kind : {"ClusterRole", "ClusterRoleBinding"}) {
      w_.try_remove(kind, w_.ns() + "-bot", "");
    }
  }

  void run(const std::vector<std::string>& rules) {
    auto loaded = hooks::load_rules(rules);
    for (const auto& problem : loaded.problems) FAIL_CHECK(problem.str());
    REQUIRE_FALSE(loaded.rules.empty());
    for (const auto& rule : loaded.rules) waiting_.insert(rule.document);
    hooks::EngineCallbacks callbacks;
    callbacks.on_run = [this](const hooks::RunRecord& run) { ran(run); };
    engine_ = std::make_unique<hooks::Engine>(w_.loop(), *client_, std::move(loaded.rules),
                                              hooks::EngineOptions{}, std::move(callbacks));
    engine_->start();
  }
  // Each rule has run with success, and nothing is left to do or waits for another attempt.
  void succeed() {
    INFO("last run: " << last_ << "; rules that have not run: "
                      << base::join({waiting_.begin(), waiting_.end()}, ", "));
    const bool all = w_.eventually(
        [&] {
          const auto status = engine_->status();
          return waiting_.empty() && status.idle && status.failing == 0 && status.parked == 0;
        },
        Duration{60000});
    for (const std::string& what : watch_->refused) FAIL_CHECK("refused: " << what);
    INFO("last run: " << last_);
    REQUIRE(all);
  }
  void end() {
    bool ended = false;
    engine_->shut_down([&] { ended = true; });
    REQUIRE(w_.eventually([&] { return ended; }));
    for (const std::string& what : watch_->refused) FAIL_CHECK("refused: " << what);
  }

 private:
  void become() {
    const Json request = {{"apiVersion", "authentication.k8s.io/v1"},
                          {"kind", "TokenRequest"},
                          {"spec", {{"expirationSeconds", 3600}}}};
    std::string token;
    const auto pending = w_.client().create_below(
        builtin("", "ServiceAccount", "serviceaccounts", true), {w_.ns(), "bot"}, "token", request,
        [&](const Result<Json>& answer) {
          token = answer.ok() ? base::string_at(*answer, {"status", "token"}) : "-";
        });
    REQUIRE(w_.eventually([&] { return !token.empty(); }));
    REQUIRE(token != "-");
    config_ = way_to_server(w_);
    config_.token = token;
    auto transport = client::make_transport(w_.loop(), config_);
    REQUIRE(transport.ok());
    transport_ = std::move(*transport);
    watch_ = std::make_unique<RefusalWatch>(*transport_);
    client_ = std::make_unique<client::Client>(w_.loop(), *watch_, config_);
  }

  // A server learns of new roles a moment after they are written.
  void wait_for_rights() {
    client::Client asking(w_.loop(), *transport_, config_);
    const auto type = builtin("authorization.k8s.io", "SelfSubjectAccessReview",
                              "selfsubjectaccessreviews", false);
    for (const Json& document : documents_) {
      if (!document.contains("rules")) continue;
      for (const Json& review : reviews_of(document)) {
        INFO(review.dump());
        bool allowed = false;
        for (int tries = 0; tries < 300 && !allowed; ++tries) {
          bool answered = false;
          const auto pending = asking.create(type, "", review, {}, [&](const Result<Json>& answer) {
            answered = true;
            const Json* said = answer.ok() ? base::find(*answer, {"status", "allowed"}) : nullptr;
            allowed = said != nullptr && *said == true;
          });
          w_.loop().run_until([&] { return answered; }, Duration{10000});
          if (!allowed) w_.holds_for([] { return true; }, Duration{100});
        }
        CHECK(allowed);
      }
    }
  }

  void ran(const hooks::RunRecord& run) {
    last_ = run.controller + " " + run.object + ": " + run.outcome + " " + run.message;
    if (run.outcome != "done" && run.outcome != "not-yet") return;
    // The controllers of a rule for many kinds have its name and a word more.
    std::erase_if(waiting_, [&](const std::string& rule) {
      return run.controller == rule || run.controller.starts_with(rule + "-");
    });
  }

  World& w_;
  std::vector<Json> documents_;
  client::ClientConfig config_;
  std::unique_ptr<http::Transport> transport_;
  std::unique_ptr<RefusalWatch> watch_;
  std::unique_ptr<client::Client> client_;
  std::unique_ptr<hooks::Engine> engine_;
  std::set<std::string> waiting_;  // rules that have not run with success
  std::string last_;
};

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// What a user of the example applies; and what has to be there before.
std::vector<Json> samples_of(const std::filesystem::path& folder, bool definitions) {
  std::vector<Json> out;
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.insert(entry.path());
  for (const auto& path : files) {
    const std::string name = path.filename();
    if (path.extension() != ".yaml" || name == "rules.yaml" || name == "tests.yaml") continue;
    auto documents = base::parse_yaml_values(text_of(path));
    REQUIRE(documents.ok());
    for (Json& document : *documents) {
      const bool is_definition = document["kind"] == "CustomResourceDefinition";
      if (is_definition == definitions) out.push_back(std::move(document));
    }
  }
  return out;
}

void run_example(const std::filesystem::path& folder) {
  World w;
  for (const Json& definition : samples_of(folder, true)) w.apply(base::dump_json(definition));
  Account account(w, {"-f", folder});
  const auto samples = samples_of(folder, false);
  REQUIRE_FALSE(samples.empty());
  account.run({folder});
  for (const Json& sample : samples) w.apply(base::dump_json(sample));
  account.succeed();
  // Their finalizers, and children that go, need rights as well.
  for (auto it = samples.rbegin(); it != samples.rend(); ++it) {
    const auto gvk = core::gvk_of(*it);
    REQUIRE(gvk.ok());
    const std::string kind = gvk->group + "/" + gvk->kind;
    const std::string name = base::string_at(*it, {"metadata", "name"});
    const std::string place = base::string_at(*it, {"metadata", "namespace"});
    w.remove(kind, name, place);
    if (kind == "/Namespace") continue;
    INFO(kind << " " << name);
    CHECK(w.eventually([&] { return !w.get(kind, name, place); }));
  }
  account.succeed();
  account.end();
  w.try_remove("ConfigMap", "teams", "default");  // it has no owner that would take it along
}

}  // namespace

E2E_CASE("a rule runs under exactly the rights that rbac prints, with nothing refused") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(
      website_rule(std::string(kOwnsConfigMaps) + kReconcile + "  finalize: {shell: 'true'}\n"));
  w.script("reconcile.sh", kPrintConfigMap);
  w.file("crd.yaml", kWebsiteCrd);
  Account account(w, {"-f", w.folder() + "/rules.yaml", "--crd", w.folder() + "/crd.yaml"});
  account.run({w.folder() + "/rules.yaml"});
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "a-page").has_value(); }));
  account.succeed();
  w.remove("Website", "a");
  REQUIRE(w.eventually([&] { return !w.get("Website", "a").has_value(); }));
  account.end();
}

E2E_CASE("a rule without for writes Events where it declares children, with the rights of rbac") {
  World w;
  w.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: seen, namespace: '@NS@'}}");
  w.rules(
      "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: '@NS@'}\nspec:\n  owns: "
      "[{apiVersion: v1, kind: ConfigMap, namespaces: ['@NS@']}]\n  reconcile: {exec: "
      "[./reconcile.sh]}\n");
  const auto print_event = [&](const std::string& place) {
    w.script("reconcile.sh",
             "echo '{apiVersion: kubewatch.dev/v1, kind: Result, events: [{reason: Seen, note: "
             "there it is, regarding: {apiVersion: v1, kind: ConfigMap, namespace: " +
                 place + ", name: seen}}]}'\n");
  };
  print_event(w.ns());
  Account account(w, {"-f", w.folder() + "/rules.yaml"});
  account.run({w.folder() + "/rules.yaml"});
  account.succeed();
  CHECK(w.eventually([&] {
    const auto events = w.list("events.k8s.io/Event");
    return std::any_of(events.begin(), events.end(),
                       [](const Json& event) { return event["reason"] == "Seen"; });
  }));
  account.end();

  print_event(w.ns2());
  w.start();
  CHECK(w.eventually([&] { return !w.runs().empty(); }));
  CHECK(w.runs().front().outcome == "invalid-output");
  CHECK(w.runs().front().message.find("does not declare") != std::string::npos);
}

E2E_CASE("all examples run under exactly the rights that rbac prints, with nothing refused") {
  std::set<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(KUBEWATCH_EXAMPLES)) {
    // The folders of rules; others have types of custom resources, or a Deployment.
    if (std::filesystem::exists(entry.path() / "tests.yaml")) folders.insert(entry.path());
  }
  CHECK(folders.size() >= 9);
  for (const auto& folder : folders) {
    INFO(folder.filename());
    UNSCOPED_INFO("examples/" << folder.filename());
    run_example(folder);
  }
}

E2E_CASE("rbac finds the kinds of a group on the server, and patched subresources in outputs") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(R"x(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@'}
spec:
  for: {group: e2e.kubewatch.dev, kinds: '*', namespaces: ['@NS@']}
  owns: [{apiVersion: apps/v1, kind: Deployment}]
  reconcile: {exec: [./reconcile.sh]}
)x");
  w.script("reconcile.sh", R"x(
cat <<MANIFEST
apiVersion: apps/v1
kind: Deployment
metadata: {name: $KW_NAME, namespace: $KW_NAMESPACE}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "example.com/web:1"}]}
---
apiVersion: kubewatch.dev/v1
kind: Result
patches:
  - {apiVersion: apps/v1, kind: Deployment, namespace: $KW_NAMESPACE, name: $KW_NAME,
     subresource: scale, type: merge, patch: {spec: {replicas: 2}}}
MANIFEST
)x");
  w.file("printed.yaml", R"x(
apiVersion: kubewatch.dev/v1
kind: Result
patches: [{apiVersion: apps/v1, kind: Deployment, name: a, subresource: scale, patch: {}}]
)x");
  Account account(w, {"-f", w.folder() + "/rules.yaml", "--discover", "--outputs",
                      w.folder() + "/printed.yaml"});
  account.run({w.folder() + "/rules.yaml"});
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] {
    const auto made = w.get("Deployment", "a");
    return made && base::int_at(*made, {"spec", "replicas"}) == 2;
  }));
  account.succeed();
  account.end();
}

}  // namespace kubewatch::e2e
