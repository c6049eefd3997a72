// Rights that the server does not give are named at the start, with the line that needs them.
#include "cli/preflight.hpp"

#include <algorithm>

#include "base/log.hpp"
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

 private:
  http::Transport& inner_;
  std::string verb_;
};

// Its `spec` begins in the fifth line.
std::string rule_in(const test::RuleFolder& folder, const std::string& name,
                    const std::string& spec) {
  return folder.write("rules.yaml",
                      "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: " + name +
                          "}\nspec:\n" + spec);
}

// What is logged at the start where `verb` is refused.
std::vector<std::string> log_without(const std::string& verb, const std::string& file) {
  loop::EventLoop loop;
  rehearsal::LocalServer server(loop);
  Refusing refusing(server, verb);
  client::ClientConfig config;
  config.server = rehearsal::LocalServer::kUrl;
  client::Client client(loop, refusing, config);
  auto loaded = hooks::load_rules({file});
  REQUIRE(loaded.problems.empty());
  std::vector<std::string> lines;
  base::capture_log(&lines);
  {
    cli::Preflight preflight(client, std::move(loaded.rules));
    preflight.start();
    loop.run_until([&] { return refusing.reviews > 5 && server.quiet(); }, Duration{10000});
    loop.run_until([] { return false; }, Duration{50});
  }
  base::capture_log(nullptr);
  CHECK(refusing.reviews > 5);
  return lines;
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
