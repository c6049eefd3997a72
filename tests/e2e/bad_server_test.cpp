// Every verb against a server that is wrong: an expired certificate, an object of 5 MB, escape
// sequences in everything it says, an end in the middle of an answer. The server is made here; the
// cases do not depend on the one that the others run on.
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "client/config.hpp"
#include "e2e/program.hpp"
#include "http/server.hpp"

namespace kubewatch::e2e {
namespace {

using Reply = std::shared_ptr<http::Responder>;
// Whether it has answered, or will.
using Handler = std::function<bool(const http::ServerRequest&, const Reply&)>;

std::string discovery() {
  Json resources = Json::array();
  for (const auto& [plural, kind] : {std::pair{"configmaps", "ConfigMap"}, {"secrets", "Secret"}}) {
    resources.push_back({{"resource", plural},
                         {"responseKind", {{"group", ""}, {"version", "v1"}, {"kind", kind}}},
                         {"scope", "Namespaced"},
                         {"singularResource", base::to_lower(kind)},
                         {"shortNames", {plural == std::string("secrets") ? "sec" : "cm"}},
                         {"verbs", {"get", "list", "watch", "patch", "create", "delete"}}});
  }
  const Json version = {{"version", "v1"}, {"resources", resources}};
  const Json group = {{"metadata", {{"name", ""}}}, {"versions", Json::array({version})}};
  return base::dump_json({{"kind", "APIGroupDiscoveryList"},
                          {"apiVersion", "apidiscovery.k8s.io/v2"},
                          {"metadata", Json::object()},
                          {"items", Json::array({group})}});
}

void answer(const Reply& to, int status, const std::string& body) {
  http::Headers headers;
  headers.set("Content-Type", "application/json");
  to->respond(status, headers, body);
}

std::string status(int code, const std::string& reason, const std::string& message) {
  return base::dump_json({{"kind", "Status"},
                          {"apiVersion", "v1"},
                          {"status", "Failure"},
                          {"reason", reason},
                          {"code", code},
                          {"message", message}});
}

Json config_map(const std::string& name, const std::string& value) {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata",
           {{"name", name},
            {"namespace", "default"},
            {"uid", "u-" + std::to_string(name.size())},
            {"resourceVersion", "7"},
            {"creationTimestamp", "2026-01-01T00:00:00Z"}}},
          {"data", {{"k", value}}}};
}

std::string list_of(const std::vector<Json>& items) {
  return base::dump_json({{"kind", "ConfigMapList"},
                          {"apiVersion", "v1"},
                          {"metadata", {{"resourceVersion", "9"}}},
                          {"items", items}});
}

// The server, and commands against it.
class Bad {
 public:
  // What `handler` leaves alone is answered as by a server with `objects`; watches stay open.
  explicit Bad(std::vector<Json> objects, Handler handler = {}, Duration age = Duration{0})
      : objects_(std::move(objects)), handler_(std::move(handler)) {
    char name[] = "/tmp/kubewatch-bad-XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    folder_ = name;
    auto made = http::generate_certificate({"localhost"}, {"127.0.0.1"}, loop_.wall() - age);
    REQUIRE(made.ok());
    http::ServerOptions options;
    options.tls = http::ServerTls{made->certificate_pem, made->key_pem};
    auto server = http::Server::listen(
        loop_, std::move(options),
        [this](const http::ServerRequest& request, const Reply& to) { handle(request, to); });
    REQUIRE(server.ok());
    server_ = std::move(*server);
    client::ClientConfig config;
    config.server = "https://127.0.0.1:" + std::to_string(server_->port());
    config.ca_pem = made->ca_pem;
    config.token = "a-token";
    config.namespace_ = "default";
    file("kubeconfig", client::render_kubeconfig(config, "bad"));
    file("a.yaml", base::dump_json(config_map("a", "new")) + "\n---\n" +
                       base::dump_json(config_map("b", "new")));
  }
  ~Bad() { std::filesystem::remove_all(folder_); }

  // A SIGTERM is sent once `until` holds of what it has printed.
  Ran run(const std::vector<std::string>& words,
          const std::function<bool(const Program&)>& until = {}) {
    ProgramOptions options;
    options.argv = {KUBEWATCH_BINARY};
    for (const auto& word : words)
      options.argv.push_back(word.ends_with(".yaml") ? folder_ + "/" + word : word);
    options.environment = {"HOME=" + folder_, "KUBECONFIG=" + folder_ + "/kubeconfig"};
    Program program(loop_, std::move(options));
    if (until) {
      CHECK(program.until([&] { return until(program); }));
      program.signal(SIGTERM);
    }
    const Ran out = program.ran();
    UNSCOPED_INFO(base::join(words, " "));
    return out;
  }
  void file(const std::string& name, const std::string& text) {
    REQUIRE(base::write_file_atomic(folder_ + "/" + name, text, 0600).ok());
  }
  std::size_t count(const std::string& method) const {
    return static_cast<std::size_t>(std::count(methods_.begin(), methods_.end(), method));
  }

 private:
  void handle(const http::ServerRequest& request, const Reply& to) {
    methods_.push_back(request.method);
    if (request.path == "/api") {
      http::Headers headers;
      headers.set("Content-Type",
                  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
      return to->respond(200, headers, discovery());
    }
    if (request.path == "/apis") {
      http::Headers headers;
      headers.set("Content-Type",
                  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
      return to->respond(200, headers,
                         R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2",)"
                         R"("metadata":{},"items":[]})");
    }
    if (handler_ && handler_(request, to)) return;
    if (request.query.find("watch=") != std::string::npos) {
      http::Headers headers;
      headers.set("Content-Type", "application/json");
      to->begin(200, headers);
      open_.push_back(to);
      return;
    }
    if (request.method == "GET" && request.path.ends_with("/configmaps")) {
      return answer(to, 200, list_of(objects_));
    }
    for (const Json& object : objects_) {
      if (request.method != "GET") break;
      if (!request.path.ends_with("/" + base::string_at(object, {"metadata", "name"}))) continue;
      return answer(to, 200, base::dump_json(object));
    }
    answer(to, 404, status(404, "NotFound", "not there"));
  }
  loop::EventLoop loop_;
  std::vector<Json> objects_;
  Handler handler_;
  std::string folder_;
  std::vector<std::string> methods_;
  std::vector<Reply> open_;
  std::unique_ptr<http::Server> server_;
};

using Words = std::vector<std::string>;

const Words kWatch = {"watch", "cm", "--max-events", "1", "-o", "name"};
const Words kReflect = {"reflect", "cm", "--once"};
const Words kWait = {"wait-condition", "cm/a", "--for=create", "--timeout", "30s"};
const Words kApply = {"apply-ssa", "-f", "a.yaml"};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool is_list(const http::ServerRequest& request) {
  return request.path.ends_with("/configmaps") && request.query.find("watch=") == std::string::npos;
}

}  // namespace

E2E_CASE("every verb: an expired certificate is 8, says so, and nothing is sent") {
  Bad bad({config_map("a", "1")}, {}, Duration{11LL * 365 * 24 * 3600 * 1000});
  for (const Words& words : {kWatch, kReflect, kWait, kApply}) {
    const auto ended = bad.run(words);
    CHECK(ended.code == 8);
    CHECK(has(ended.err, "has expired"));
    CHECK(ended.out.empty());
  }
  CHECK(bad.count("GET") == 0);
}

E2E_CASE("every verb: an object of 5 MB is read like any other") {
  const std::string much(5U << 20U, 'x');
  Bad bad({config_map("a", much)}, [&](const http::ServerRequest& request, const Reply& to) {
    if (request.method != "PATCH") return false;
    const std::string name = request.path.substr(request.path.rfind('/') + 1);
    answer(to, 200, base::dump_json(config_map(name, "new")));
    return true;
  });
  auto ended = bad.run(kWatch);
  CHECK(ended.code == 0);
  CHECK(ended.out == "configmap/a\n");
  ended = bad.run(kReflect);
  CHECK(ended.code == 0);
  CHECK(ended.out.size() < 2000);
  ended = bad.run({"wait-condition", "cm/a", "--for=jsonpath={.data.k}=y", "--timeout", "0"});
  CHECK(ended.code == 3);
  CHECK(bad.run(kWait).code == 0);
  ended = bad.run(kApply);
  CHECK(ended.code == 0);
  CHECK(has(ended.out, "configmap/a configured: .data.k\n"));
  CHECK(ended.out.size() < 2000);
}

E2E_CASE("every verb: escape sequences of a server are never printed as they are") {
  Json evil = config_map("a\x1b[31mb", "red\x1b]0;title\x07");
  evil["metadata"]["labels"] = {{"k", "\x1b[2J"}};
  evil["metadata"]["managedFields"] = {{{"manager", "m\x1b[0m"}, {"operation", "Update"}}};
  Bad bad({evil}, [&](const http::ServerRequest& request, const Reply& to) {
    if (request.method != "PATCH") return false;
    answer(to, 422, status(422, "Invalid", "no \x1b[31mgood"));
    return true;
  });
  const std::pair<Words, int> commands[] = {
      {{"watch", "cm", "--max-events", "1"}, 0},
      {{"watch", "cm", "--max-events", "1", "-o", "wide"}, 0},
      {{"watch", "cm", "--max-events", "1", "-o", "name"}, 0},
      {{"watch", "cm", "--max-events", "1", "-o", "json"}, 0},
      {{"watch", "cm", "--max-events", "1", "--diff", "--show-managed-fields"}, 0},
      {{"watch", "cm", "--max-events", "1", "--fields", ".data.k"}, 0},
      {{"watch", "cm", "--duration", "6s", "--when", ".data.k + 1"}, 0},
      {{"reflect", "cm", "--once"}, 0},
      {{"reflect", "cm", "--query"}, 0},
      {{"reflect", "cm", "--query", "-o", "wide", "--show-labels"}, 0},
      {{"reflect", "cm", "--query", "-o", "name"}, 0},
      {{"wait-condition", "cm", "--all", "--for=jsonpath={.data.k}=x", "--timeout", "0"}, 3},
      {{"wait-condition", "cm", "--all", "--for=jsonpath={.data.k}=x", "--timeout", "0", "-o",
        "github"},
       3},
      {{"wait-condition", "cm", "--all", "--for=create", "--timeout", "0"}, 0},
      {kApply, 1},
  };
  for (const auto& [words, code] : commands) {
    auto ended = bad.run(words);
    if (ended.code == 3 && code == 0) {  // it may have read nothing in its time
      Words longer = words;
      std::replace(longer.begin(), longer.end(), std::string("6s"), std::string("30s"));
      ended = bad.run(longer);
    }
    CHECK(ended.code == code);
    CHECK_FALSE(has(ended.out, "\x1b"));
    CHECK_FALSE(has(ended.out, "\x07"));
    CHECK_FALSE(has(ended.err, "\x1b"));
    CHECK((ended.out + ended.err).size() > 5);
  }
}

E2E_CASE("every verb: a refusal is 7, and its words are printed without their escapes") {
  for (const int code : {401, 403}) {
    Bad bad({}, [&](const http::ServerRequest&, const Reply& to) {
      answer(to, code, status(code, code == 401 ? "Unauthorized" : "Forbidden", "not \x1b[5myou"));
      return true;
    });
    for (const Words& words : {kWatch, kReflect, kWait, kApply}) {
      const auto ended = bad.run(words);
      CHECK(ended.code == 7);
      CHECK(has(ended.err, "you"));
      CHECK_FALSE(has(ended.err, "\x1b"));
      CHECK_FALSE(has(ended.err, "a-token"));
    }
  }
}

E2E_CASE("watch goes on with what it may read when the other kinds are refused later") {
  int lists = 0;
  Bad bad({config_map("a", "1")}, [&](const http::ServerRequest& request, const Reply& to) {
    const bool secrets = request.path.ends_with("/secrets");
    const bool maps = request.path.ends_with("/configmaps");
    if (maps && request.query.find("watch=") == std::string::npos && lists++ == 0) {
      return answer(to, 403, status(403, "Forbidden", "not yet")), true;
    }
    if (!secrets) return false;
    const bool later = lists > 1;
    answer(to, later ? 403 : 500, status(later ? 403 : 500, "Forbidden", later ? "never" : "busy"));
    return true;
  });
  const auto ended = bad.run({"watch", "cm,secrets", "-o", "name"}, [](const Program& seen) {
    return seen.shows("configmap/a") && seen.says("never");
  });
  CHECK(ended.code == 0);
}

E2E_CASE("every verb: a server that ends in the middle of an answer") {
  std::string half = list_of({config_map("a", "1"), config_map("b", "1")});
  half.resize(half.size() / 2);
  const auto cut = [&](const Reply& to) {
    http::Headers headers;
    headers.set("Content-Type", "application/json");
    to->begin(200, headers);
    to->send(half);
    to->abort();
    return true;
  };
  Bad bad({}, [&](const http::ServerRequest& request, const Reply& to) {
    return (request.method == "PATCH" || is_list(request)) && cut(to);
  });
  // A watch never ends by itself: it says what happened and tries again.
  auto ended =
      bad.run({"watch", "cm", "-o", "name", "--backoff-initial", "50ms", "--backoff-max", "50ms"},
              [](const Program& so_far) {
                const auto first = so_far.err.find("interrupted, trying again");
                return first != std::string::npos &&
                       so_far.err.find("interrupted, trying again", first + 1) != std::string::npos;
              });
  CHECK(ended.code == 0);
  // They may have got no answer at all before a short time is over.
  const auto run_until_cut = [&](Words words) {
    words.insert(words.end(), {"--timeout", "6s"});
    ended = bad.run(words);
    words.back() = "30s";
    if (ended.code != 8) ended = bad.run(words);
  };
  run_until_cut({"reflect", "cm", "--once"});
  CHECK(ended.code == 8);
  CHECK(has(ended.err, "timed out reading configmaps"));
  run_until_cut({"wait-condition", "cm/a", "--for=create"});
  CHECK(ended.code == 8);
  ended = bad.run(kApply);
  CHECK(ended.code == 8);
  CHECK(ended.out.empty());
}

E2E_CASE("apply-ssa: a server that quotes a Secret in its refusal is not repeated") {
  Bad bad({}, [&](const http::ServerRequest& request, const Reply& to) {
    if (request.method != "PATCH") return false;
    answer(to, 422, status(422, "Invalid", "cannot take " + request.body));
    return true;
  });
  bad.file("secret.yaml",
           "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {k: open-sesame}, "
           "data: {b: aHVudGVyMi1odW50ZXIy}}");
  const auto ended = bad.run({"apply-ssa", "-f", "secret.yaml", "-o", "json", "-v", "9"});
  CHECK(ended.code == 1);
  CHECK(has(ended.err, "cannot take"));
  CHECK(has(ended.out, "***"));
  for (const char* value : {"open-sesame", "aHVudGVyMi1odW50ZXIy", "hunter2"}) {
    CHECK_FALSE(has(ended.err, value));
    CHECK_FALSE(has(ended.out, value));
  }
}

}  // namespace kubewatch::e2e
