// `reflect` as its own process: what readers get from the cache is what the server says.
#include <filesystem>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "client/config.hpp"
#include "core/json_cut.hpp"
#include "core/json_scan.hpp"
#include "core/url.hpp"
#include "e2e/kubectl.hpp"
#include "e2e/kubewatch_process.hpp"
#include "e2e/turner.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {

namespace {

// With a home, and past any proxy.
ProgramOptions command(World& w, std::vector<std::string> words, const std::string& kubeconfig) {
  words.insert(words.begin(), "reflect");
  ProgramOptions options = kubewatch_command(w, std::move(words), kubeconfig);
  for (const char* more : {"NO_PROXY=*", "no_proxy=*"}) options.environment.emplace_back(more);
  options.environment.push_back("HOME=" + w.folder());
  return options;
}

Ran reflect(World& w, std::vector<std::string> words, const std::string& kubeconfig) {
  return Program(w.loop(), command(w, std::move(words), kubeconfig)).ran();
}

Ran reflect(World& w, std::vector<std::string> words) {
  return reflect(w, std::move(words), w.kubeconfig());
}

// Where there is no server.
Ran reflect_offline(World& w, std::vector<std::string> words) {
  return reflect(w, std::move(words), w.folder() + "/none");
}

// A reader of a kubeconfig.
struct Reader {
  Reader(World& w, const std::string& kubeconfig) : w_(w) {
    client::ConfigOverrides overrides;
    overrides.kubeconfig = kubeconfig;
    auto config = client::load_config(overrides, {});
    if (!config.ok()) FAIL(config.error().render());
    transport_ = *client::make_transport(w.loop(), *config);
    client_ = std::make_unique<client::Client>(w.loop(), *transport_, *config);
  }
  http::Response get(const std::string& target, const std::string& accept = "application/json") {
    std::optional<Result<http::Response>> answer;
    const auto pending = client_->raw(
        "GET", target, [&](Result<http::Response> got) { answer.emplace(std::move(got)); }, accept);
    REQUIRE(w_.eventually([&] { return answer.has_value(); }));
    if (!answer->ok()) FAIL(answer->error().render());
    return **answer;
  }
  client::Client& client() { return *client_; }

 private:
  World& w_;
  std::unique_ptr<http::Transport> transport_;
  std::unique_ptr<client::Client> client_;
};

// The items of a list as their bytes, without managedFields.
std::vector<std::string> items_of(const std::string& list) {
  const core::JsonCutter cutter({{"/metadata/managedFields"}, {}, ""});
  std::vector<std::string> out;
  const auto read = core::for_each_member(list, [&](const core::JsonMember& member) {
    if (member.key != "items") return;
    core::JsonCursor items(member.value);
    REQUIRE(items.accept('['));
    while (items.peek() != ']') {
      out.push_back(cutter.cut(items.take_value().text, 200)->json);
      if (!items.accept(',')) return;
    }
  });
  REQUIRE(read.ok());
  return out;
}

void fill(World& w) {
  w.apply(kWebsiteCrd);
  for (const std::string name : {"a", "b", "c"}) {
    w.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name +
            ", namespace: '@NS@', labels: {name: l-" + name + "}}, data: {k: '" + name + "'}}");
  }
  w.apply(
      "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: '@NS@'}, stringData: "
      "{password: hunter2}}");
  w.apply(
      "{apiVersion: e2e.kubewatch.dev/v1, kind: Website, metadata: {name: site, namespace: "
      "'@NS@'}, spec: {title: one}}");
}

// A cache server over the namespace of the case.
struct Serving {
  Serving(World& w, std::vector<std::string> more = {},
          const std::string& types = "configmaps,websites.e2e.kubewatch.dev")
      : w_(w), path(w.folder() + "/served") {
    std::vector<std::string> words = {
        types, "-n", w.ns(), "--serve", "127.0.0.1:0", "--kubeconfig-out", path};
    words.insert(words.end(), more.begin(), more.end());
    program = std::make_unique<Program>(w.loop(), command(w, std::move(words), w.kubeconfig()));
    const bool there =
        w.eventually([&] { return std::filesystem::exists(path) || !program->running(); });
    INFO(program->err);
    REQUIRE(there);
    REQUIRE(program->running());
    reader = std::make_unique<Reader>(w, path);
    REQUIRE(w.eventually([&] { return reader->get("/readyz").status == 200; }));
  }
  // Until the cache has what the server has.
  void catch_up(const std::string& target, const std::string& text) {
    INFO(target << " never had " << text);
    REQUIRE(
        w_.eventually([&] { return reader->get(target).body.find(text) != std::string::npos; }));
  }
  void end() {
    CHECK(program->end() == 0);
    CHECK_FALSE(std::filesystem::exists(path));
  }

  World& w_;
  std::string path;
  std::unique_ptr<Program> program;
  std::unique_ptr<Reader> reader;
};

}  // namespace

E2E_CASE("reflect --serve answers lists, pages, selectors and objects as the server does") {
  World w;
  fill(w);
  Reader server(w, w.kubeconfig());
  Serving serving(w);
  const std::string maps = "/api/v1/namespaces/" + w.ns() + "/configmaps";
  const std::string sites = "/apis/e2e.kubewatch.dev/v1/namespaces/" + w.ns() + "/websites";
  for (const std::string& target :
       {maps, maps + "?labelSelector=name%3Dl-b", maps + "?fieldSelector=metadata.name%3Dc", sites,
        maps + "?limit=500"}) {
    INFO(target);
    // Again where something came between the two, as the ConfigMap that a cluster puts there.
    std::vector<std::string> theirs;
    const auto same = [&] {
      theirs = items_of(server.get(target).body);
      return items_of(serving.reader->get(target).body) == theirs;
    };
    CHECK(w.eventually(same));
    CHECK_FALSE(theirs.empty());
  }
  const auto pages = [&] {
    const Json page = *base::parse_json(serving.reader->get(maps + "?limit=1").body);
    REQUIRE(page["items"].size() == 1);
    const std::string token = page["metadata"]["continue"].get<std::string>();
    const auto rest =
        serving.reader->get(maps + "?limit=500&continue=" + base::percent_encode(token));
    return items_of(rest.body).size() + 1 == items_of(server.get(maps).body).size();
  };
  CHECK(w.eventually(pages));
  const core::JsonCutter cutter({{"/metadata/managedFields"}, {}, ""});
  const std::string ours = serving.reader->get(maps + "/a").body;
  const std::string theirs = server.get(maps + "/a").body;
  CHECK(cutter.cut(ours, 200)->json == cutter.cut(theirs, 200)->json);
  const auto table = base::parse_json(
      serving.reader->get(sites, "application/json;as=Table;v=v1;g=meta.k8s.io").body);
  REQUIRE(table.ok());
  CHECK((*table)["rows"][0]["cells"][0] == "site");
  // Discovery is the server's; what is not cached is refused; writes are.
  CHECK(serving.reader->get("/api/v1").body == server.get("/api/v1").body);
  CHECK(serving.reader->get("/api/v1/namespaces/" + w.ns() + "/secrets").status == 404);
  serving.end();
}

E2E_CASE("reflect --serve follows the server, and its readers follow it") {
  World w;
  fill(w);
  Serving serving(w, {"--forward-reads", "--forward-writes"});
  std::vector<std::string> told;
  core::WatchParams params;
  params.resource_version = "0";
  client::WatchHandlers handlers;
  handlers.on_event = [&](const core::WatchEvent& event) {
    const auto meta = core::parse_meta(event.object);
    if (meta.ok() && meta->name == "a") told.push_back(std::string(event.object));
  };
  const auto watch = serving.reader->client().watch(w.type("ConfigMap"), w.ns(), params, handlers);
  REQUIRE(w.eventually([&] { return told.size() == 1; }));
  w.merge("ConfigMap", "a", "{data: {k: changed}}");
  REQUIRE(w.eventually([&] { return told.size() == 2; }));
  CHECK(told[1].find("\"changed\"") != std::string::npos);
  CHECK(told[1].find("managedFields") == std::string::npos);
  w.remove("ConfigMap", "a");
  REQUIRE(w.eventually([&] { return told.size() == 3; }));
  serving.catch_up("/api/v1/namespaces/" + w.ns() + "/configmaps", "l-b");
  // Passed on with our credentials.
  CHECK(serving.reader->get("/api/v1/namespaces/" + w.ns() + "/secrets/s").status == 200);
  std::optional<Result<Json>> made;
  const auto creating = serving.reader->client().create(
      w.type("ConfigMap"), w.ns(),
      {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "passed"}}}}, {},
      [&](Result<Json> answer) { made.emplace(std::move(answer)); });
  REQUIRE(w.eventually([&] { return made.has_value(); }));
  CHECK(made->ok());
  CHECK(w.get("ConfigMap", "passed"));
  serving.catch_up("/api/v1/namespaces/" + w.ns() + "/configmaps", "passed");
  // A change that the cache finds by a relist is told as well.
  w.server().compact();
  w.merge("ConfigMap", "b", "{data: {k: after}}");
  serving.catch_up("/api/v1/namespaces/" + w.ns() + "/configmaps/b", "after");
  serving.end();
}

E2E_CASE("reflect goes on in another version of its kind, and serves that") {
  World w;
  make_turner(w, "true", "false");
  const auto object = [](const std::string& version, const std::string& name) {
    return "{apiVersion: turn.kubewatch.dev/" + version +
           ", kind: Turner, metadata: {name: " + name + ", namespace: '@NS@'}}";
  };
  w.apply(object("v1alpha1", "t1"));
  const auto target = [&](const std::string& version) {
    return "/apis/turn.kubewatch.dev/" + version + "/namespaces/" + w.ns() + "/turners";
  };
  const std::string saved = w.folder() + "/saved";
  {
    Serving serving(w, {"--snapshot", saved}, "turners.turn.kubewatch.dev");
    CHECK(items_of(serving.reader->get(target("v1alpha1")).body).size() == 1);
    serving.end();
  }
  Program pinned(w.loop(),
                 command(w, {"turners.v1alpha1.turn.kubewatch.dev", "-n", w.ns()}, w.kubeconfig()));
  REQUIRE(pinned.will_say(" 1 | "));  // it has begun while there is its version
  Serving serving(w, {}, "turners.turn.kubewatch.dev");
  w.apply(turner("false", "true"));
  REQUIRE(turned(w, "v1", true));
  CHECK(serving.program->will_say(
      "turners.turn.kubewatch.dev is served as v1 now, not as v1alpha1: going on", kDiscovery));
  CHECK(pinned.will_say("waiting for the version that was asked for", kDiscovery));
  w.apply(object("v1", "t2"));
  serving.catch_up(target("v1"), "\"t2\"");
  const auto items = items_of(serving.reader->get(target("v1")).body);
  REQUIRE(items.size() == 2);
  CHECK(items[0].find("turn.kubewatch.dev/v1\"") != std::string::npos);
  CHECK(serving.reader->get(target("v1alpha1")).status == 404);
  serving.end();
  // What was saved of the version before is compared with the one that there is.
  const auto once = reflect(w, {"--from", saved, "--once", "-o", "name"});
  CHECK(once.code == 0);
  CHECK(once.out.find("t1") != std::string::npos);
  CHECK(once.out.find("t2") != std::string::npos);
  CHECK(once.err.find("going on with that") != std::string::npos);
  pinned.end();
  remove_turner(w);
}

E2E_CASE("kubectl reads through reflect --serve") {
  World w;
  fill(w);
  Serving serving(w);
  Kubectl program(w, serving.path);
  if (program.missing()) return;
  const auto ask = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"-n", w.ns()});
    return program.run(std::move(words));
  };
  const auto kubectl = [&](std::vector<std::string> words) {
    const Ran answer = ask(std::move(words));
    INFO(answer.out << answer.err);
    CHECK(answer.code == 0);
    return answer.out;
  };
  CHECK(kubectl({"get", "configmaps", "-l", "name", "-o", "name"}) ==
        "configmap/a\nconfigmap/b\nconfigmap/c\n");
  const std::string table = kubectl({"get", "configmap", "a"});
  CHECK(table.find("NAME   DATA   AGE") != std::string::npos);
  CHECK(kubectl({"get", "websites.e2e.kubewatch.dev", "site", "-o", "jsonpath={.spec.title}"}) ==
        "one");
  CHECK(kubectl({"get", "configmap", "b", "-o", "jsonpath={.data.k}", "--watch=false"}) == "b");
  const Ran absent = ask({"get", "configmap", "nope"});
  CHECK(absent.code == 1);
  CHECK(absent.err.find("configmaps \"nope\" not found") != std::string::npos);
  const Ran refused = ask({"delete", "configmap", "a", "--wait=false"});
  CHECK(refused.code == 1);
  CHECK(refused.err.find("--forward-writes") != std::string::npos);
  serving.end();
}

E2E_CASE("reflect --once, --query, --estimate and --verify say what the server has") {
  World w;
  fill(w);
  const Ran once = reflect(w, {"configmaps,secrets", "-n", w.ns(), "--once", "-o", "json"});
  REQUIRE(once.code == 0);
  const auto figures = base::parse_json(once.out);
  REQUIRE(figures.ok());
  REQUIRE((*figures)["kinds"].size() == 2);
  CHECK((*figures)["kinds"][0]["type"] == "configmaps");
  CHECK((*figures)["kinds"][0]["objects"].get<int>() >= 3);
  CHECK((*figures)["kinds"][0]["relists"] == 0);
  CHECK((*figures)["kinds"][0]["lagSeconds"].is_number());
  CHECK((*figures)["kinds"][0]["bytesPerObject"].get<int>() > 0);

  const Ran names = reflect(w, {"configmaps", "-n", w.ns(), "-l", "name", "--query", "-o", "name"});
  CHECK(names.out == "configmap/a\nconfigmap/b\nconfigmap/c\n");
  const Ran value = reflect(w, {"configmaps", "b", "-n", w.ns(), "--query", "--jq", ".data.k"});
  CHECK(value.out == "b\n");
  const Ran missing = reflect(w, {"configmaps", "zz", "-n", w.ns(), "--query"});
  CHECK(missing.code == 5);
  // Each cache gives what it has of the names; the rest is told by kind, as kubectl does.
  const Ran some = reflect(
      w, {"configmaps,secrets", "a", "s", "c", "zz", "-n", w.ns(), "--query", "-o", "name"});
  CHECK(some.code == 5);
  CHECK(some.out == "configmap/a\nconfigmap/c\nsecret/s\n");
  CHECK(some.err.find("\"zz\" not found") != std::string::npos);
  CHECK(some.err.find("configmaps \"s\" not found") != std::string::npos);
  CHECK(some.err.find("secrets \"s\" not found") == std::string::npos);

  const Ran estimate = reflect(w, {"configmaps", "-n", w.ns(), "--estimate", "-o", "json"});
  REQUIRE(estimate.code == 0);
  const auto costs = base::parse_json(estimate.out);
  REQUIRE(costs.ok());
  CHECK((*costs)["kinds"][0]["objects"].get<int>() >= 3);
  CHECK((*costs)["kinds"][0]["costs"][0]["how"] == "as asked");

  const Ran verify = reflect(
      w, {"configmaps,secrets", "-n", w.ns(), "--verify", "--rounds", "2", "--interval", "100ms"});
  INFO(verify.out << verify.err);
  CHECK(verify.code == 0);
  CHECK(verify.out.find("no difference") != std::string::npos);
}

E2E_CASE("reflect caches objects that are named, and only these") {
  World w;
  fill(w);
  const std::string file = w.folder() + "/named.kw";
  const Ran once = reflect(w, {"cm/a", "cm/b", "websites.e2e.kubewatch.dev/site", "-n", w.ns(),
                               "--once", "-o", "json", "--snapshot", file});
  INFO(once.out << once.err);
  REQUIRE(once.code == 0);
  const auto figures = base::parse_json(once.out);
  REQUIRE(figures.ok());
  REQUIRE((*figures)["kinds"].size() == 3);
  for (const Json& kind : (*figures)["kinds"]) CHECK(kind["objects"] == 1);
  const Ran query =
      reflect(w, {"cm/a,websites.e2e.kubewatch.dev/site", "-n", w.ns(), "--query", "-o", "name"});
  CHECK(query.out == "configmap/a\nwebsite.e2e.kubewatch.dev/site\n");
  const Ran missing =
      reflect(w, {"cm/a,websites.e2e.kubewatch.dev/a", "-n", w.ns(), "--query", "-o", "name"});
  CHECK(missing.code == 5);
  CHECK(missing.out == "configmap/a\n");
  CHECK(missing.err == "error: websites.e2e.kubewatch.dev \"a\" not found\n");
  CHECK(reflect(w, {"cm", "a", "-n", w.ns(), "--verify"}).code == 0);
  const Ran nothing = reflect(w, {"cm", "-l", "name=none", "-n", w.ns(), "--query"});
  CHECK(nothing.code == 5);
  CHECK(nothing.err == "No resources found\n");
  // A saved one is taken up by its name.
  w.merge("ConfigMap", "a", "{data: {k: later}}");
  const Ran again = reflect(w, {"cm/a", "-n", w.ns(), "--from", file, "--once", "--jq", ".data.k"});
  CHECK(again.out == "later\n");
  const Ran offline = reflect_offline(w, {"--from", file, "--query", "cm/b", "-o", "name"});
  CHECK(offline.out == "configmap/b\n");
  const Ran refused = reflect(w, {"cm/a", "cm/b", "-n", w.ns(), "--serve", "127.0.0.1:0"});
  CHECK(refused.code == 2);
}

E2E_CASE("reflect --snapshot is a cache that --from reads without the server, and goes on from") {
  World w;
  fill(w);
  const std::string file = w.folder() + "/cache.kw";
  const Ran saved = reflect(
      w, {"configmaps,websites.e2e.kubewatch.dev", "-n", w.ns(), "--once", "--snapshot", file});
  REQUIRE(saved.code == 0);
  CHECK((std::filesystem::status(file).permissions() & std::filesystem::perms::all) ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  const auto offline = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"--from", file, "--query"});
    return reflect_offline(w, std::move(words));
  };
  CHECK(offline({"cm", "-l", "name=l-b", "-o", "name"}).out == "configmap/b\n");
  CHECK(offline({"cm", "--field-selector", "data.k=c", "-o", "name"}).out == "configmap/c\n");
  CHECK(offline({"websites", "site", "-o", "jq=.spec.title"}).out == "one\n");
  CHECK(offline({"pods"}).code == 5);
  // What changed meanwhile is found, whether by its watch or by a relist.
  w.merge("ConfigMap", "a", "{data: {k: later}}");
  w.remove("ConfigMap", "c");
  // One that ends at once says what the server has, and not what the file had.
  const Ran verified = reflect(w, {"--from", file, "--verify", "--rounds", "1"});
  INFO(verified.out << verified.err);
  CHECK(verified.code == 0);
  const std::string fresh = w.folder() + "/fresh.kw";
  CHECK(reflect(w, {"--from", file, "--once", "--snapshot", fresh}).code == 0);
  const auto in_fresh = [&](const std::string& name) {
    return reflect_offline(w, {"--from", fresh, "--query", "cm", name, "--jq", ".data.k"});
  };
  CHECK(in_fresh("a").out == "later\n");
  CHECK(in_fresh("c").code == 5);
  // Nothing is asked for a login that is not there, however often it could be tried.
  client::ClientConfig nobody = w.server().config();
  nobody.token.clear();
  nobody.token_file = w.folder() + "/no-token";
  w.file("nobody", client::render_kubeconfig(nobody, "e2e"));
  const Ran locked =
      reflect(w, {"--from", file, "--once", "--timeout", "60s"}, w.folder() + "/nobody");
  CHECK(locked.code == 2);
  CHECK(locked.err.find("no-token") != std::string::npos);
  Serving warm(w, {"--from", file});
  warm.catch_up("/api/v1/namespaces/" + w.ns() + "/configmaps/a", "later");
  REQUIRE(w.eventually([&] {
    return warm.reader->get("/api/v1/namespaces/" + w.ns() + "/configmaps/c").status == 404;
  }));
  warm.end();
}

}  // namespace kubewatch::e2e
