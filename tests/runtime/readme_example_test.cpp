// The C++ controller of lib/runtime/README.md: it compiles, it runs, and the page shows exactly
// this.
#include "base/files.hpp"
#include "base/json.hpp"
#include "core/object_ref.hpp"
#include "runtime/applier.hpp"
#include "runtime/operator.hpp"
#include "support/catch.hpp"
#include "support/limit.hpp"
#include "support/scripted_transport.hpp"

using namespace kubewatch;

// [example]
// Keeps one ConfigMap per Site, and tells in the Site's status which one. What somebody changes or
// deletes of it is put back; it goes with its Site, by its owner reference.
class Sites {
 public:
  Sites(loop::EventLoop& loop, client::Client& client, base::Random& random,
        core::ResourceType sites, core::ResourceType config_maps)
      : sites_(std::move(sites)),
        config_maps_(std::move(config_maps)),
        applier_(client, "sites", /*force=*/true) {  // or what somebody changed is a conflict
    operator_ = runtime::ControllerBuilder(loop, client, random)
                    .for_(sites_)
                    .owns(config_maps_)
                    .predicates(runtime::predicates::generation())  // our own status is no news
                    .build([this](const auto& site, const auto&, auto done) { apply(site, done); })
                    .value();  // an Error only where the chain above is wrong
    operator_->start();
  }

 private:
  // The newest state. An Error ends the run: it is logged and retried with the Site's own backoff.
  void apply(const runtime::StoredObject& site, const runtime::ReconcileDone& done) {
    const core::ObjectMeta& meta = site.meta;
    if (meta.deleting()) return done(runtime::RunOutcome::await_change());
    Json metadata = {{"name", meta.name}, {"namespace", meta.namespace_}};
    const Json status = {{"apiVersion", meta.api_version},
                         {"kind", meta.kind},
                         {"metadata", metadata},
                         {"status", {{"page", meta.name}}}};
    metadata["ownerReferences"] =
        Json::array({core::owner_reference(core::object_ref(meta), true)});
    const Json page = {{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", metadata},
                       {"data", {{"index.html", "Welcome to " + meta.name}}}};
    applier_.apply(config_maps_, page, [this, status, done](auto applied) {
      if (!applied.ok()) return done(applied);
      applier_.apply(sites_, status, done, "status");
    });
  }

  const core::ResourceType sites_, config_maps_;  // client::ResourceMap::resolve() finds them
  runtime::Applier applier_;
  std::unique_ptr<runtime::Operator> operator_;
};
// [example]

namespace {

core::ResourceType type_of(const std::string& group, const std::string& kind,
                           const std::string& plural) {
  core::ResourceType type;
  type.gvk = {group, "v1", kind};
  type.plural = plural;
  return type;
}

struct Bench {
  loop::EventLoop loop;
  test::ScriptedTransport transport;
  client::ClientConfig config;
  std::unique_ptr<client::Client> client;
  base::Random random{1};
  std::unique_ptr<Sites> sites;

  Bench() {
    config.server = "http://server.test";
    client = std::make_unique<client::Client>(loop, transport, config);
    sites = std::make_unique<Sites>(loop, *client, random, type_of("demo.dev", "Site", "sites"),
                                    type_of("", "ConfigMap", "configmaps"));
    sync("/sites", R"({"metadata":{"name":"a","namespace":"shop","uid":"u1","generation":1}})");
    sync("/configmaps", "");
  }
  // The open request whose line begins with `method` and holds `path`.
  test::ScriptedCall& wait_for(const std::string& method, const std::string& path) {
    test::ScriptedCall* found = nullptr;
    REQUIRE(loop.run_until(
        [&] {
          for (std::size_t i = 0; i < transport.size(); ++i) {
            auto& call = transport.call(i);
            const bool fits = call.open() && call.request().method == method &&
                              call.path().find(path) != std::string::npos;
            if (fits) found = &call;
          }
          return found != nullptr;
        },
        kLimit));
    return *found;
  }
  void sync(const std::string& path, const std::string& items) {
    auto& list = wait_for("GET", path);
    list.head(200);
    list.data(R"({"metadata":{"resourceVersion":"5"},"items":[)" + items + "]}");
    list.end();
    wait_for("GET", path).head(200);
  }
  // A write that does not take back what others have changed is a conflict.
  Json answer(test::ScriptedCall& call, int code) {
    const Json body = *base::parse_json(call.request().body);
    if (code < 300 && call.target().find("force=true") == std::string::npos) code = 409;
    call.head(code);
    call.data(code < 300 ? call.request().body : R"({"kind":"Status","code":500})");
    call.end();
    return body;
  }
};

}  // namespace

TEST_CASE("the controller of the README keeps its child and its status, and retries") {
  Bench b;
  const std::string page = "/api/v1/namespaces/shop/configmaps/a";
  const std::string status = "/apis/demo.dev/v1/namespaces/shop/sites/a/status";
  b.answer(b.wait_for("PATCH", page), 500);
  const Json child = b.answer(b.wait_for("PATCH", page), 201);  // with backoff
  CHECK(child["data"]["index.html"] == "Welcome to a");
  CHECK(child["metadata"]["ownerReferences"][0] == Json{{"apiVersion", "demo.dev/v1"},
                                                        {"kind", "Site"},
                                                        {"name", "a"},
                                                        {"uid", "u1"},
                                                        {"controller", true},
                                                        {"blockOwnerDeletion", false}});
  CHECK(b.answer(b.wait_for("PATCH", status), 200)["status"]["page"] == "a");
  // The child shows up, which runs the Site once more; then somebody changes it, and deletes it.
  int version = 9;
  for (const std::string type : {"ADDED", "MODIFIED", "DELETED"}) {
    b.wait_for("GET", "/configmaps")
        .data(R"({"type":")" + type +
              R"(","object":{"metadata":{"name":"a","namespace":"shop","uid":"u2",)"
              R"("resourceVersion":")" +
              std::to_string(version++) +
              R"(","ownerReferences":[{"apiVersion":"demo.dev/v1",)"
              R"("kind":"Site","name":"a","uid":"u1","controller":true}]}}})"
              "\n");
    CHECK(b.answer(b.wait_for("PATCH", page), 201)["data"]["index.html"] == "Welcome to a");
    b.answer(b.wait_for("PATCH", status), 200);
  }
}

TEST_CASE("the README shows the example as it is tested") {
  const std::string here = __FILE__;
  const std::string root = here.substr(0, here.rfind("/tests/"));
  const auto source = base::read_file(here, 1U << 20U);
  const auto page = base::read_file(root + "/lib/runtime/README.md", 1U << 20U);
  REQUIRE(source.ok());
  REQUIRE(page.ok());
  const std::string mark = "// [example]\n";
  const std::size_t begin = source->find(mark) + mark.size();
  const std::string example = source->substr(begin, source->find(mark, begin) - begin);
  CHECK(page->find(example) != std::string::npos);
}
