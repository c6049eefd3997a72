// Rights that the server does not give are named at the start, with the line that needs them.
#include "cli/controller/preflight.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "client/write_gate.hpp"
#include "hooks/rule_file.hpp"
#include "hooks/rule_folder.hpp"
#include "rehearsal/local_server.hpp"
#include "support/catch.hpp"

using namespace kubewatch;

namespace {

// A server that refuses one verb in its answers to access reviews.
class Refusing : public http::Transport {
 public:
  Refusing(http::Transport& inner, std::string verb) : inner_(inner), verb_(std::move(verb)) {}
  std::unique_ptr<http::Call> start(http::Request request, http::CallHandlers handlers) override {
    // Until then nothing of what it has can be found out.
    if ((request.url.ends_with("/api") || request.url.ends_with("/apis")) && away > 0) {
      --away;
      request.url += "/nosuch";
    }
    if (request.url.find("selfsubjectaccessreviews") != std::string::npos) {
      ++reviews;
      handlers.on_data = [this, on_data = handlers.on_data](std::string_view bytes) {
        auto review = base::parse_json(bytes);
        REQUIRE(review.ok());
        const bool refused =
            base::string_at(*review, {"spec", "resourceAttributes", "verb"}) == verb_;
        (*review)["status"]["allowed"] = !refused;
        on_data(base::dump_json(*review));
      };
    }
    return inner_.start(std::move(request), std::move(handlers));
  }
  int reviews = 0;
  int away = 0;

 private:
  http::Transport& inner_;
  std::string verb_;
};

// A client of that server, and what is logged meanwhile.
struct Asked {
  explicit Asked(const std::string& refused_verb)
      : server(loop), refusing(server, refused_verb), client(loop, refusing, config()) {
    base::capture_log(&lines);
  }
  ~Asked() { base::capture_log(nullptr); }

  static client::ClientConfig config() {
    client::ClientConfig out;
    out.server = rehearsal::LocalServer::kUrl;
    return out;
  }
  static std::vector<hooks::Rule> rules_of(const std::string& file) {
    auto loaded = hooks::load_rules({file});
    REQUIRE(loaded.problems.empty());
    return std::move(loaded.rules);
  }
  // Until nothing is on its way; `least` reviews were made then, or more.
  void wait(int least) {
    loop.run_until([&] { return refusing.reviews >= least && server.quiet(); }, Duration{10000});
    loop.run_until([] { return false; }, Duration{50});
    CHECK(refusing.reviews >= least);
  }

  loop::EventLoop loop;
  rehearsal::LocalServer server;
  Refusing refusing;
  client::Client client;
  std::vector<std::string> lines;
};

// Its `spec` begins in the fifth line.
std::string rule_in(const test::RuleFolder& folder, const std::string& name,
                    const std::string& spec) {
  return folder.write("rules.yaml",
                      "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: " + name +
                          "}\nspec:\n" + spec);
}

std::vector<std::string> log_without(const std::string& verb, const std::string& file) {
  Asked asked(verb);
  cli::Preflight preflight(asked.client);
  preflight.ask(Asked::rules_of(file));
  asked.wait(6);
  return asked.lines;
}

}  // namespace

TEST_CASE("each right that is missing is named with the line of the rule that needs it") {
  const test::RuleFolder folder;
  const auto file = rule_in(folder, "copier",
                            "  for: {apiVersion: v1, kind: ConfigMap, namespaces: [shop]}\n"
                            "  owns:\n"
                            "    - {apiVersion: v1, kind: Service}\n"
                            "  reconcile: {shell: 'true'}\n");
  const auto lines = log_without("delete", file);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].find("the server does not allow to delete services in namespace shop") !=
        std::string::npos);
  CHECK(lines[0].find("needed_by=" + file + ":7") != std::string::npos);
  CHECK(lines[1].find("run-controller rbac") != std::string::npos);
  CHECK(log_without("none", file).empty());
}

TEST_CASE("an instance that stands by asks as well, though it may not write") {
  struct Shut : client::WriteGate {
    Result<Duration> admit() override { return Error(ErrorKind::canceled, "not the leader"); }
  } shut;
  const test::RuleFolder folder;
  const auto file = rule_in(folder, "watcher",
                            "  for: {apiVersion: v1, kind: ConfigMap, namespaces: [shop]}\n"
                            "  reconcile: {shell: 'true', output: log}\n");
  Asked asked("watch");
  asked.client.set_write_gate(&shut);
  cli::Preflight preflight(asked.client);
  preflight.ask(Asked::rules_of(file));
  asked.wait(3);
  REQUIRE(asked.lines.size() == 2);
  CHECK(asked.lines[0].find("does not allow to watch configmaps") != std::string::npos);
  asked.client.set_write_gate(nullptr);
}

TEST_CASE("what leader election needs is asked for where its Leases are, and once") {
  const test::RuleFolder folder;
  const auto file = rule_in(folder, "watcher",
                            "  for: {apiVersion: v1, kind: ConfigMap, namespaces: [shop]}\n"
                            "  reconcile: {shell: 'true', output: log}\n");
  Asked asked("update");
  cli::Preflight preflight(asked.client);
  preflight.ask_for_leases({"ops", true});
  preflight.ask(Asked::rules_of(file));
  asked.wait(5 + 5);  // of the rule, Events included, and of the Leases
  REQUIRE(asked.lines.size() == 2);
  CHECK(asked.lines[0].find("does not allow to update leases.coordination.k8s.io in namespace "
                            "ops") != std::string::npos);
  CHECK(asked.lines[0].find("needed_by=--leader-elect") != std::string::npos);
  preflight.ask(Asked::rules_of(file));
  asked.wait(10 + 5);
  CHECK(asked.refusing.reviews == 10 + 5);
  CHECK(asked.lines.size() == 2);
}

TEST_CASE("rules for every kind of a group are asked about each kind that the server has") {
  const test::RuleFolder folder;
  const auto file = rule_in(folder, "labels",
                            "  for: {group: apps, kinds: '*', namespaces: [shop]}\n"
                            "  reconcile: {shell: 'true'}\n");
  const auto lines = log_without("get", file);
  const bool told = std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.find("get statefulsets.apps in namespace shop") != std::string::npos &&
           line.find("needed_by=" + file + ":5") != std::string::npos;
  });
  CHECK(told);
}

TEST_CASE("a rule for a list of kinds is named with its line as well") {
  const test::RuleFolder folder;
  const auto file = rule_in(folder, "labels",
                            "  for:\n"
                            "    - {apiVersion: v1, kind: ConfigMap, namespaces: [shop]}\n"
                            "    - {apiVersion: v1, kind: Service, namespaces: [shop]}\n"
                            "  owns:\n"
                            "    - {apiVersion: v1, kind: ConfigMap}\n"
                            "  reconcile: {shell: 'true'}\n");
  const auto lines = log_without("delete", file);
  REQUIRE(lines.size() >= 2);
  CHECK(lines[0].find("delete configmaps in namespace shop") != std::string::npos);
  CHECK(lines[0].find("needed_by=" + file + ":9") != std::string::npos);
}

TEST_CASE("rules that are asked about while others are come after them") {
  const test::RuleFolder folder;
  const auto rule = [&](const std::string& name, const std::string& kind) {
    return Asked::rules_of(rule_in(folder, name,
                                   "  for: {apiVersion: v1, kind: " + kind +
                                       ", namespaces: [shop]}\n"
                                       "  reconcile: {shell: 'true', output: log}\n"));
  };
  Asked asked("watch");
  cli::Preflight preflight(asked.client);
  preflight.ask(rule("maps", "ConfigMap"));
  preflight.ask({});
  preflight.ask(rule("secrets", "Secret"));
  preflight.ask(rule("accounts", "ServiceAccount"));
  asked.wait(9);
  std::vector<std::string> missing;
  for (const std::string& line : asked.lines) {
    const auto at = line.find("watch ", line.find("does not allow"));
    if (at != std::string::npos) missing.push_back(line.substr(at, line.find(" in ") - at));
  }
  CHECK(missing ==
        std::vector<std::string>{"watch configmaps", "watch serviceaccounts", "watch secrets"});
}

TEST_CASE("a server that could not be asked is asked again, for what is wanted by then") {
  const test::RuleFolder folder;
  const auto rule = [&](const std::string& kind) {
    return Asked::rules_of(rule_in(folder, "one",
                                   "  for: {apiVersion: v1, kind: " + kind +
                                       ", namespaces: [shop]}\n"
                                       "  reconcile: {shell: 'true', output: log}\n"));
  };
  Asked asked("watch");
  asked.refusing.away = 8;
  cli::Preflight preflight(asked.client, Duration{20});
  preflight.ask(rule("ConfigMap"));
  preflight.ask(rule("Secret"));
  asked.wait(3);
  const auto told = [&](const std::string& text) {
    return std::count_if(asked.lines.begin(), asked.lines.end(), [&](const std::string& line) {
      return line.find(text) != std::string::npos;
    });
  };
  CHECK(asked.refusing.away == 0);
  CHECK(told("allow to watch secrets") == 1);
  CHECK(told("allow to watch configmaps") == 0);
}
