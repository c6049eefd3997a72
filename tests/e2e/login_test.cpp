// Logging in with a program: a server's own 401 asks for another login.
#include "e2e/world.hpp"

namespace kubewatch::e2e {

namespace {

struct Programs {
  explicit Programs(World& world, const std::string& body) : w(world), config(w.server().config()) {
    REQUIRE_FALSE(config.token.empty());
    w.file("token", config.token);
    w.script("login",
             "cd " + w.folder() + "\necho ran >> runs\n" + body +
                 "\necho '{\"apiVersion\":\"client.authentication.k8s.io/v1\","
                 "\"kind\":\"ExecCredential\",\"status\":{\"token\":\"'\"$token\"'\"}}'\n");
    config.token.clear();
    client::ExecPlugin plugin;
    plugin.api_version = "client.authentication.k8s.io/v1";
    plugin.command = w.folder() + "/login";
    plugin.interactive = client::ExecPlugin::Interactive::never;
    config.exec = plugin;
    auto made = client::make_transport(w.loop(), config);
    if (!made.ok()) FAIL(made.error().render());
    transport = std::move(*made);
    client = std::make_unique<client::Client>(w.loop(), *transport, config);
  }

  // GET of the case's namespace, `times` at once; how many were answered.
  std::size_t ask(std::size_t times) {
    std::vector<client::PendingPtr> pending;
    std::size_t answered = 0;
    std::size_t good = 0;
    for (std::size_t i = 0; i < times; ++i) {
      pending.push_back(client->get(w.type("Namespace"), {"", w.ns()}, [&](Result<Json> answer) {
        ++answered;
        if (answer.ok()) ++good;
        if (!answer.ok()) last = answer.error();
      }));
    }
    REQUIRE(w.eventually([&] { return answered == times; }));
    return good;
  }

  World& w;
  client::ClientConfig config;
  std::unique_ptr<http::Transport> transport;
  std::unique_ptr<client::Client> client;
  std::optional<Error> last;
};

}  // namespace

E2E_CASE(
    "a program logs in once for all requests, and again when the server refuses what it gave") {
  World w;
  // A real server remembers for some seconds that it refused a token: another one each time.
  Programs p(w, "token=wrong-$$\nif [ $(wc -l < runs) -gt 1 ]; then token=$(cat token); fi");
  CHECK(p.ask(5) == 5);
  CHECK(w.lines("runs") == 2);
  CHECK(p.ask(3) == 3);
  CHECK(w.lines("runs") == 2);
}

E2E_CASE("a login that stays refused is the caller's 401, after one more try") {
  World w;
  Programs p(w, "token=always-wrong");
  CHECK(p.ask(1) == 0);
  CHECK(p.last->is_unauthorized());
  CHECK(w.lines("runs") == 2);
}

}  // namespace kubewatch::e2e
