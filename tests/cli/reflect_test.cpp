// The deciding parts of `reflect`: its flags, the file of several caches, differences of --verify,
// what --estimate counts, the words of its reports.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "apiserver/read_text.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "cli/app.hpp"
#include "cli/checked_text.hpp"
#include "cli/exit_code.hpp"
#include "cli/reflect/estimate.hpp"
#include "cli/reflect/flags.hpp"
#include "cli/reflect/query.hpp"
#include "cli/reflect/report.hpp"
#include "cli/reflect/saved.hpp"
#include "cli/reflect/serve.hpp"
#include "cli/reflect/verify.hpp"
#include "cli/reflect/versions.hpp"
#include "runtime/store.hpp"
#include "support/catch.hpp"
#include "support/scripted_transport.hpp"

namespace kubewatch::cli {

namespace {

std::string object(const std::string& name, const std::string& data, const std::string& label) {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
         R"(","namespace":"shop","uid":"u-)" + name +
         R"(","resourceVersion":"5","labels":{"app":")" + label + R"("}},"data":{"k":")" + data +
         R"("}})";
}

class StoreState : public core::ReadState {
 public:
  explicit StoreState(const std::vector<std::string>& objects) {
    store_.begin_init();
    for (const auto& one : objects) REQUIRE(store_.init_apply(one).ok());
    store_.finish_init("7", nullptr);
  }
  const std::string& resource_version() const override { return store_.resource_version(); }
  std::vector<core::ObjectKey> select(const core::LabelSelector& labels,
                                      const std::optional<std::string>& in) const override {
    return store_.select(labels, in);
  }
  std::optional<std::string> json(const core::ObjectKey& key) const override {
    const auto found = store_.get(key);
    return found ? std::optional(found->json) : std::nullopt;
  }
  const runtime::Store& store() const { return store_; }

 private:
  runtime::Store store_;
};

// The ConfigMaps of one cache.
class FakeKind : public core::ReadBackend {
 public:
  explicit FakeKind(const std::vector<std::string>& objects)
      : state_(std::make_shared<StoreState>(objects)) {
    type_.gvk = {"", "v1", "ConfigMap"};
    type_.plural = "configmaps";
  }
  const core::ResourceType& type() const override { return type_; }
  const std::string& namespace_name() const override { return everywhere_; }
  core::Content content() const override { return core::Content::full; }
  bool ready() const override { return true; }
  std::string resource_version() const override { return state_->resource_version(); }
  core::ReadStatePtr state() const override { return state_; }
  std::optional<std::string> json(const core::ObjectKey& key) const override {
    return state_->json(key);
  }
  std::vector<core::ObjectKey> reduced() const override { return {}; }

 private:
  core::ResourceType type_;
  std::string everywhere_;
  std::shared_ptr<const StoreState> state_;
};

std::string refusal(ReflectFlags flags) {
  const auto checked = flags.check();
  REQUIRE_FALSE(checked.ok());
  return checked.error().render();
}

ReflectFlags flags_of(const std::string& type) {
  ReflectFlags out;
  if (!type.empty()) out.words = {type};
  return out;
}

// A cache of ConfigMaps on a scripted server; its time is skipped.
struct CacheRig {
  CacheRig() : client(loop, transport, config()), kind(client, random, plan()) {}
  static client::ClientConfig config() {
    client::ClientConfig out;
    out.server = "http://server.test";
    return out;
  }
  static KindPlan plan() {
    KindPlan out;
    out.type.gvk = {"", "v1", "ConfigMap"};
    out.type.plural = "configmaps";
    out.type.subresources = {{"status", out.type.gvk, {}}};
    out.namespace_ = "shop";
    out.watch.strategy = runtime::ListStrategy::paged;
    out.watch.backoff = {Duration{2}, Duration{10}, 2.0, 0.0};
    return out;
  }
  test::ScriptedCall& call(std::size_t index) {
    REQUIRE(loop.run_until([&] { return transport.size() > index; }, Duration{60000}));
    return transport.call(index);
  }
  test::ScriptedCall& answer(std::size_t index, const std::string& body) {
    auto& to = call(index);
    to.head(200);
    to.data(body);
    return to;
  }
  void pass(Duration time) {
    loop.run_until([] { return false; }, time);
  }

  loop::EventLoop loop{loop::VirtualClock{}};
  test::ScriptedTransport transport;
  client::Client client;
  base::Random random{1};
  CachedKind kind;
};

// With what becomes of its kind where that is answered with 404.
struct VersionsRig : CacheRig {
  VersionsRig() : versions(client, nullptr, told()) {
    CachedKind::Told of_kind;
    of_kind.failed = [this](const Error& error) {
      if (error.is_not_found()) versions.not_found(kind, error);
      return ends;
    };
    kind.tell(std::move(of_kind));
  }
  KindVersions::Told told() {
    KindVersions::Told out;
    out.refused = [this](CachedKind& one, const Error&) { refused.push_back(one.name()); };
    return out;
  }

  std::vector<std::string> refused;
  KindVersions versions;
  bool ends = false;  // the command, at the next failure
};

// Each failure is logged.
struct QuietLog {
  QuietLog() { base::capture_log(&lines); }
  ~QuietLog() { base::capture_log(nullptr); }
  QuietLog(const QuietLog&) = delete;
  QuietLog& operator=(const QuietLog&) = delete;
  std::vector<std::string> lines;
};

const char* const kList =
    R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"7"},"items":[]})";

}  // namespace

TEST_CASE("reflect flags that contradict each other are refused with what to do") {
  ReflectFlags flags = flags_of("pods");
  CHECK(flags.check().ok());
  CHECK(flags.mode() == ReflectMode::keep);
  flags.once = flags.query = true;
  CHECK(refusal(flags).find("give one") != std::string::npos);
  CHECK(refusal(flags_of("")).find("--from") != std::string::npos);
  flags = flags_of("pods");
  flags.words.emplace_back("web");
  CHECK(flags.check().ok());
  flags.selection.label_selector = "a=b";
  CHECK(refusal(flags).find("name cannot be provided") != std::string::npos);
  flags.selection = {"", "metadata.name=web", false};
  CHECK(refusal(flags).find("name cannot be provided") != std::string::npos);
  flags = flags_of("pods");
  flags.timeout = Duration{1000};
  CHECK(refusal(flags).find("--timeout") != std::string::npos);
  flags = flags_of("pods");
  flags.forward_writes = true;
  CHECK(refusal(flags).find("--serve") != std::string::npos);
  flags = flags_of("pods");
  flags.serve = "nowhere";
  CHECK(refusal(flags).find("--serve") != std::string::npos);
  // Without a token everybody on the machine would have the owner's rights.
  flags = flags_of("pods");
  flags.serve = "127.0.0.1:0";
  flags.insecure_http = true;
  CHECK(flags.check().ok());
  flags.forward_reads = true;
  CHECK(refusal(flags).find("--insecure-http") != std::string::npos);
  std::swap(flags.forward_reads, flags.forward_writes);
  CHECK(refusal(flags).find("--insecure-http") != std::string::npos);
  flags = flags_of("pods");
  flags.snapshot_interval = Duration{1000};
  CHECK(refusal(flags).find("--snapshot FILE") != std::string::npos);
}

TEST_CASE("tunnels, tokens and paths that are not plain are never passed on") {
  const auto passes = [](const std::string& path, bool upgrade = false) {
    http::ServerRequest request;
    request.method = "GET";
    request.path = path;
    if (upgrade) request.headers.set("Upgrade", "SPDY/3.1");
    return may_pass(request);
  };
  CHECK(passes("/api/v1/namespaces/shop/pods/web"));
  CHECK(passes("/api/v1/namespaces/shop/pods/exec"));  // a Pod of that name
  CHECK(passes("/api/v1/namespaces/shop/pods/web/log"));
  CHECK(passes("/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode"));
  for (const char* path :
       {"/api/v1/namespaces/shop/pods/web/exec", "/api/v1/namespaces/shop/pods/web/proxy/a/b",
        "/api/v1/nodes/n1/proxy/run", "/api/v1/namespaces/shop/serviceaccounts/a/token",
        "/api/v1/namespaces/shop/pods/web/p%72oxy/a", "/api/v1/namespaces/../secrets",
        "/api/v1/namespaces/%2e%2e/secrets"}) {
    INFO(path);
    CHECK_FALSE(passes(path));
  }
  CHECK_FALSE(passes("/api/v1/pods", true));
}

TEST_CASE("autoscalers have their own table in both versions") {
  const std::string v1 =
      R"({"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler",)"
      R"("metadata":{"name":"a","annotations":{)"
      R"("autoscaling.alpha.kubernetes.io/metrics":"[{\"type\":\"Resource\",)"
      R"(\"resource\":{\"name\":\"memory\",\"targetAverageValue\":\"1Gi\"}}]"}},)"
      R"("spec":{"maxReplicas":3,"targetCPUUtilizationPercentage":50,)"
      R"("scaleTargetRef":{"kind":"Deployment","name":"web"}},)"
      R"("status":{"currentCPUUtilizationPercentage":7}})";
  const std::string v2 =
      R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"a"},)"
      R"("spec":{"maxReplicas":3,"metrics":[{"type":"Resource","resource":{"name":"memory",)"
      R"("target":{"type":"AverageValue","averageValue":"1Gi"}}},)"
      R"({"type":"Resource","resource":{"name":"cpu",)"
      R"("target":{"type":"Utilization","averageUtilization":50}}}],)"
      R"("scaleTargetRef":{"kind":"Deployment","name":"web"}},)"
      R"("status":{"currentMetrics":[{"type":"Resource","resource":{"name":"cpu",)"
      R"("current":{"averageUtilization":7}}}]}})";
  loop::EventLoop loop;
  test::ScriptedTransport transport;
  client::Client client(loop, transport, CacheRig::config());
  ReflectFlags flags = flags_of("hpa");
  flags.serve = "127.0.0.1:0";
  flags.insecure_http = true;
  const auto serving = CacheServing::start(client, flags);
  REQUIRE(serving.ok());
  for (const auto& [version, json] : {std::pair{"v1", v1}, std::pair{"v2", v2}}) {
    INFO(version);
    core::ResourceType type;
    type.gvk = {"autoscaling", version, "HorizontalPodAutoscaler"};
    type.plural = "horizontalpodautoscalers";
    const apiserver::ReadText text((*serving)->resource_of(type, nullptr), false);
    apiserver::Representation as;
    as.format = apiserver::Format::table;
    as.include = apiserver::IncludeObject::object;
    const auto table = base::parse_json(text.object(as, json, WallTime()));
    REQUIRE(table.ok());
    std::string names;
    for (const Json& column : (*table)["columnDefinitions"]) {
      names += column["name"].get<std::string>() + " ";
    }
    CHECK(names == "Name Reference Targets MinPods MaxPods Replicas Age ");
    const Json& row = (*table)["rows"][0];
    CHECK(row["cells"][1] == "Deployment/web");
    CHECK(row["cells"][2] == "memory: <unknown>/1Gi, cpu: <unknown>/50%");
    CHECK(row["object"] == *base::parse_json(json));  // in its own version
  }
}

TEST_CASE("a path to strip is a plain path of what the cache can do without") {
  CHECK(*strip_pointer(".status") == "/status");
  CHECK(*strip_pointer(R"(.metadata.annotations["a/b~c"])") == "/metadata/annotations/a~1b~0c");
  for (const char* path :
       {".", ".metadata", ".metadata.name", ".metadata.labels", ".a | .b", "x("}) {
    INFO(path);
    CHECK_FALSE(strip_pointer(path).ok());
  }
}

TEST_CASE("kinds and namespaces of the command line make one cache each") {
  core::ResourceType pods;
  pods.gvk = {"", "v1", "Pod"};
  pods.plural = "pods";
  core::ResourceType nodes;
  nodes.gvk = {"", "v1", "Node"};
  nodes.plural = "nodes";
  nodes.namespaced = false;
  ReflectFlags flags = flags_of("pods,nodes");
  flags.namespaces = {"a", "b"};
  const auto plans = plan_kinds(flags, {{pods, {}}, {nodes, {}}, {pods, {}}}, "default");
  REQUIRE(plans.ok());
  REQUIRE(plans->size() == 3);
  CHECK((*plans)[1].namespace_ == "b");
  CHECK((*plans)[2].namespace_.empty());
  flags.namespaces.clear();
  CHECK((*plan_kinds(flags, {{pods, {}}}, "default"))[0].namespace_ == "default");
  flags.selection.all_namespaces = true;
  CHECK((*plan_kinds(flags, {{pods, {}}}, "default"))[0].namespace_.empty());
}

TEST_CASE("each name is a cache of one object, but --serve holds one cache of a kind") {
  core::ResourceType pods;
  pods.gvk = {"", "v1", "Pod"};
  pods.plural = "pods";
  ReflectFlags flags = flags_of("pods");
  flags.selection.field_selector = "spec.nodeName=n";
  const auto plans = plan_kinds(flags, {{pods, {"a", "b", "a"}}}, "shop");
  REQUIRE(plans.ok());
  REQUIRE(plans->size() == 2);
  CHECK((*plans)[1].watch.field_selector == "spec.nodeName=n,metadata.name=b");
  CHECK((*plans)[1].text() == "pods/b in shop");
  CHECK(check_served({(*plans)[0]}).ok());
  const auto two = check_served(*plans);
  REQUIRE_FALSE(two.ok());
  CHECK(two.error().render().find("one cache of a kind") != std::string::npos);
  std::vector<std::string> many;
  for (int i = 0; i < 300; ++i) many.push_back("p" + std::to_string(i));
  CHECK(plan_kinds(flags, {{pods, many}}, "shop").error().render().find("cache whole kinds") !=
        std::string::npos);
}

TEST_CASE("verify names the objects that differ and their fields, and shows no secret") {
  const StoreState here(
      {object("same", "1", "x"), object("changed", "1", "x"), object("old", "1", "x")});
  const StoreState there(
      {object("same", "1", "x"), object("changed", "2", "x"), object("new", "1", "x")});
  const auto drift = compare_states(here, there.store(), false);
  REQUIRE(drift.size() == 3);
  CHECK(drift[0].key.name == "changed");
  CHECK(drift[0].fields == std::vector<std::string>{".data.k: \"1\" here, \"2\" on the server"});
  CHECK(drift[1].what == Drift::What::surplus);
  CHECK(drift[2].what == Drift::What::missing);
  const auto masked = differing_fields(R"({"data":{"p":"YQ=="},"type":"a"})",
                                       R"({"data":{"p":"Yg=="},"type":"b"})", true);
  CHECK(masked == std::vector<std::string>{".data.p: *** here, *** on the server",
                                           ".type: \"a\" here, \"b\" on the server"});
  CHECK(differing_fields(R"({"a":1,"b":2})", R"({"b":2,"a":1})", false).empty());
  CHECK(differing_fields(R"({"a":{"x":1}})", R"({"a":{}})", false) ==
        std::vector<std::string>{".a.x: 1 here, nothing on the server"});
}

TEST_CASE("what the server has under a name that cannot be read is not told to be gone there") {
  CacheRig rig;
  rig.kind.start();
  const auto list = [](const std::string& items) {
    return R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"7"},"items":[)" + items + "]}";
  };
  const std::string a = object("a", "1", "x");
  const std::string b = object("b", "1", "x");
  rig.answer(0, list(a + "," + b)).end();
  rig.call(1).head(200);
  std::optional<Result<Verified>> told;
  const VerifyRound round(rig.client, rig.kind,
                          [&](Result<Verified> one) { told.emplace(std::move(one)); });
  rig.answer(2, list(object("b", "2", "x") + R"(,{"metadata":{"name":7}})")).end();
  REQUIRE(rig.loop.run_until([&] { return told.has_value(); }, Duration{60000}));
  REQUIRE(told->ok());
  const Verified& verified = **told;
  REQUIRE(verified.drift.size() == 1);
  CHECK(verified.drift[0].key.name == "b");
  CHECK(verified.drift[0].what == Drift::What::different);
  CHECK(drift_text(rig.kind, verified).find("1 differ, 1 not compared") != std::string::npos);
  VerifyTally tally({"configmaps"});
  tally.add(0, {"7", 3, {}, false, {}, {}, 1});
  tally.round_done();
  CHECK(tally.verdict(VerifyTally::End::whole).code == kFailed);
  CHECK(tally.verdict(VerifyTally::End::whole).message.find("not compared: of configmaps") == 0);
}

TEST_CASE("a verification that compared nothing, or not all, is no success") {
  using End = VerifyTally::End;
  const Verified same{"7", 3, {}, false, {}};
  const Verified skipped{"7", 0, {}, true, {}};
  const Verified differs{"7", 3, {{{"shop", "a"}, Drift::What::missing, {}}}, false, {}};
  VerifyTally whole({"pods"});
  CHECK(whole.verdict(End::interrupted).code == kFailed);
  CHECK(whole.verdict(End::timed_out).code == kTimedOut);
  whole.add(0, same);
  whole.round_done();
  CHECK(whole.verdict(End::whole).code == kDone);
  CHECK(whole.verdict(End::whole).message.empty());
  // With --rounds 0 an interrupt is how it ends.
  CHECK(whole.verdict(End::interrupted).code == kDone);
  CHECK(whole.verdict(End::timed_out).code == kTimedOut);

  VerifyTally refused({"pods"});
  Verified failed{"7", 0, {}, false, {}};
  failed.failed = Error(ErrorKind::unavailable, "the server answered 503");
  refused.add(0, failed);
  refused.round_done();
  CHECK(refused.verdict(End::whole).code == kFailed);
  CHECK(refused.verdict(End::whole).message.find("answered 503") != std::string::npos);
  failed.failed = Error(ErrorKind::unreachable, "gone");
  refused.add(0, failed);
  CHECK(refused.verdict(End::whole).code == kUnreachable);
  // A round that was compared is enough, before or after.
  refused.add(0, same);
  refused.add(0, failed);
  CHECK(refused.verdict(End::whole).code == kDone);
  CHECK(refused.verdict(End::whole).message.empty());
  CHECK(passes(Error(ErrorKind::unreachable, "gone")));
  CHECK(passes(Error(ErrorKind::unavailable, "503")));
  CHECK_FALSE(passes(Error(ErrorKind::forbidden, "403")));

  VerifyTally deep({"pods"});
  deep.add(0, {"7", 3, {}, false, {{"shop", "a"}}});
  deep.round_done();
  CHECK(deep.verdict(End::whole).code == kFailed);
  CHECK(deep.verdict(End::whole).message.find("not compared: of shop/a (pods)") == 0);

  VerifyTally half({"pods", "secrets"});
  half.add(0, same);
  half.add(1, skipped);
  half.round_done();
  CHECK(half.verdict(End::whole).code == kFailed);
  CHECK(half.verdict(End::whole).message.find("secrets") != std::string::npos);
  CHECK(half.verdict(End::whole).message.find("pods") == std::string::npos);
  half.add(1, same);
  CHECK(half.verdict(End::whole).code == kDone);
  half.add(0, differs);
  CHECK(half.verdict(End::whole).code == kFindings);
  CHECK(half.verdict(End::timed_out).code == kFindings);
}

TEST_CASE("names that one cache has not are looked for in the others, and missed at the end") {
  const FakeKind shop({object("a", "1", "x"), object("b", "1", "x")});
  const FakeKind other({object("c", "1", "x")});
  QueryChoice choice;
  choice.names = {"b", "c", "zz", "zz"};
  auto found = choose(shop, choice);
  REQUIRE(found.size() == 1);
  CHECK(found[0].name == "b");
  const auto more = choose(other, choice);
  REQUIRE(more.size() == 1);
  CHECK(more[0].name == "c");
  found.insert(found.end(), more.begin(), more.end());
  CHECK(missing_names(choice, found) == std::vector<std::string>{"zz"});
  choice.names.clear();
  CHECK(choose(shop, choice).size() == 2);
  CHECK(missing_names(choice, {}).empty());
}

TEST_CASE("an estimate counts what is not in the sample and says what saves most") {
  Sampler sampler("configmaps");
  std::uint64_t seed = 7;
  for (int i = 0; i < 100; ++i) {
    std::string data;  // that does not compress
    for (int n = 0; n < 100; ++n) {
      data += std::to_string(seed = seed * 6364136223846793005U + 1442695040888963407U);
    }
    sampler.add(object("n" + std::to_string(i), data, i < 25 ? "web" : "db"));
  }
  core::ListPage page;
  page.remaining = 900;
  page.continue_token = "x";
  const Sample sample = sampler.finish(page);
  CHECK(sample.items.size() == 100);
  runtime::StoreOptions options;
  options.type = {"", "v1", "ConfigMap"};
  const Estimate out = estimate(sample, options);
  CHECK(out.objects == 1000);
  CHECK(out.exact_count);
  std::vector<std::string> ways;
  for (const auto& cost : out.costs) ways.push_back(cost.how);
  CHECK(ways == std::vector<std::string>{"as asked", "--metadata-only", "--strip .data",
                                         "-l app=db", "-l app=web"});
  CHECK(out.costs[1].cache_per_object < out.costs[0].cache_per_object);
  CHECK(out.costs[3].share == 0.75);
  CHECK(estimate_text({out}).find("configmaps: 1000 objects, from a sample of 100") !=
        std::string::npos);
}

TEST_CASE("a sample keeps no more bytes than it may, and counts the objects that it leaves out") {
  core::ListPage page;
  Sampler sampler("x", 10);
  for (const char* item : {"{1234}", "{}", "{12345}", "{}"}) sampler.add(item);
  const Sample some = sampler.finish(page);
  CHECK(some.items == std::vector<std::string>{"{1234}", "{}"});
  CHECK(some.remaining == 2);
  CHECK(some.remaining_known);
  Sampler large("x", 10);
  for (const char* item : {"{1234567890}", "{}"}) large.add(item);
  page.remaining = 5;
  page.continue_token = "t";
  const Sample one = large.finish(page);
  CHECK(one.items == std::vector<std::string>{"{1234567890}"});
  CHECK(one.remaining == 6);
  CHECK(one.remaining_known);
  page.remaining.reset();
  CHECK_FALSE(Sampler("x").finish(page).remaining_known);
}

TEST_CASE("a saved file of another server is told by both names") {
  SavedKind one;
  CHECK(why_foreign({one}, {"https://b", "m"}).empty());
  one.server.url = "https://a";
  CHECK(why_foreign({one}, {"https://a", "m"}).empty());
  CHECK(why_foreign({one}, {"https://b", "m"}) == "saved from https://a, and this is https://b");
  one.server.mark = "m";
  CHECK(why_foreign({one}, {"https://a", "m"}).empty());
  CHECK(why_foreign({one}, {"https://a", "n"}) ==
        "saved from https://a with another certificate authority");
}

TEST_CASE("a saved file that is none, cut short or damaged is refused") {
  CHECK_FALSE(parse_saved("").ok());
  CHECK_FALSE(parse_saved("something else").ok());
  std::string good = "kubewatch-reflect\n";
  const std::string header =
      R"({"version":1,"server":"s","kinds":[{"kind":"Pod","version":"v1","plural":"pods","bytes":3}]})";
  good += std::string{static_cast<char>(header.size()), 0, 0, 0} + header + "abc";
  const auto parsed = parse_saved(good);
  REQUIRE(parsed.ok());
  CHECK((*parsed)[0].bytes == "abc");
  CHECK((*parsed)[0].plan.type.plural == "pods");
  for (std::size_t size = 0; size < good.size(); ++size) {
    INFO(size);
    CHECK_FALSE(parse_saved(std::string_view(good).substr(0, size)).ok());
  }
  CHECK_FALSE(parse_saved(good + "x").ok());
}

TEST_CASE("a saved file whose kinds have no names is refused") {
  const auto opens = [](const std::string& key, const std::string& value) {
    Json kind = {{"kind", "Pod"},  {"version", "v1"}, {"group", ""}, {"plural", "pods"},
                 {"singular", ""}, {"namespace", ""}, {"bytes", 3}};
    kind[key] = value;
    const std::string header =
        base::dump_json({{"version", 1}, {"kinds", Json::array({std::move(kind)})}});
    return parse_saved("kubewatch-reflect\n" +
                       std::string{static_cast<char>(header.size()), 0, 0, 0} + header + "abc")
        .ok();
  };
  CHECK(opens("kind", "Pod"));
  CHECK(opens("group", "a-b.example.com"));
  CHECK(opens("namespace", "shop-1"));
  for (const char* key : {"kind", "plural", "group", "version", "singular", "namespace"}) {
    for (const char* value : {"../../x", "x\ny", "\x1b[31m", "a/b", ".", "x::y", "x y"}) {
      INFO(key << " " << value);
      CHECK_FALSE(opens(key, value));
    }
  }
}

TEST_CASE("a saved file has a checksum of its header, which those of version 1 lack") {
  const auto file = [](int version, bool summed) {
    const std::string header =
        R"({"version":)" + std::to_string(version) +
        R"(,"kinds":[{"kind":"Pod","version":"v1","plural":"pods","bytes":3}]})";
    return "kubewatch-reflect\n" + std::string{static_cast<char>(header.size()), 0, 0, 0} +
           (summed ? with_checksum(header) : header) + "abc";
  };
  const std::string good = file(2, true);
  const auto parsed = parse_saved(good);
  REQUIRE(parsed.ok());
  CHECK((*parsed)[0].bytes == "abc");
  CHECK(parse_saved(file(1, false)).ok());
  CHECK_FALSE(parse_saved(file(1, true)).ok());
  CHECK(parse_saved(file(2, false)).error().message().find("checksum") != std::string::npos);
  CHECK(parse_saved(file(3, true)).error().message().find("another version") != std::string::npos);
  for (std::size_t bit = 0; bit < 8 * (good.size() - 3); ++bit) {
    std::string broken = good;
    broken[bit / 8] = static_cast<char>(broken[bit / 8] ^ (1 << bit % 8));
    INFO(bit);
    REQUIRE_FALSE(parse_saved(broken).ok());
  }
}

TEST_CASE("of a saved file all namespaces are no selection") {
  ReflectFlags flags = flags_of("");
  flags.from = "cache";
  flags.once = true;
  flags.selection.all_namespaces = true;
  CHECK_FALSE(flags.selects_of_file());
  CHECK(flags.check_saved_kinds().ok());
  flags.namespaces = {"shop"};
  CHECK(flags.selects_of_file());
}

TEST_CASE("a cache that was loaded lags as far as nobody knows until the server tells something") {
  std::string file;
  {
    CacheRig first;
    first.kind.start();
    first.answer(0, kList).end();
    first.pass(Duration{1});
    REQUIRE(first.kind.synced());
    CHECK(first.kind.lag());
    const auto saved = first.kind.reflector().save([&](std::string_view bytes) -> Result<void> {
      file.append(bytes);
      return {};
    });
    REQUIRE(saved.ok());
  }
  CacheRig rig;
  REQUIRE(rig.kind.reflector().load(file).ok());
  rig.kind.start();
  CHECK(rig.kind.ready());
  CHECK_FALSE(rig.kind.lag());
  rig.call(0).fail(Error(ErrorKind::unreachable, "away"));
  rig.pass(Duration{1});
  CHECK_FALSE(rig.kind.lag());
  // Where the server is, it is asked first, then watched.
  rig.answer(1, kList).end();
  rig.answer(2, R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}})"
                "\n");
  CHECK(rig.kind.lag() == Duration{0});
}

TEST_CASE("a cache that is only kept hears events, not bookmarks alone") {
  CacheRig rig;
  rig.kind.start();
  rig.answer(0, kList).end();
  rig.call(1).head(200);
  rig.pass(Duration{5000});
  CHECK(rig.kind.lag() == Duration{5000});
  const auto event = [&](const std::string& type, int version) {
    rig.call(1).data(R"({"type":")" + type + R"(","object":{"metadata":{"name":"a",)" +
                     R"("namespace":"shop","uid":"u-a","resourceVersion":")" +
                     std::to_string(version) + "\"}}}\n");
  };
  event("ADDED", 8);
  CHECK(rig.kind.lag() == Duration{0});
  rig.pass(Duration{3000});
  CHECK(rig.kind.lag() == Duration{3000});
  event("DELETED", 9);
  CHECK(rig.kind.lag() == Duration{0});
}

TEST_CASE("a cache of an undone past is not served as ready, nor saved as good") {
  const char* const object =
      R"({"metadata":{"name":"a","namespace":"shop","uid":"u-a","resourceVersion":"5"}})";
  const std::string list =
      R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"7"},"items":[)" +
      std::string(object) + "]}";
  std::string file;
  {
    CacheRig first;
    first.kind.start();
    first.answer(0, list).end();
    first.answer(1, R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}})"
                    "\n");
    first.pass(Duration{1});
    CHECK(first.kind.ready());
    first.call(1).data(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"3"}}})"
                       "\n");
    first.call(2).fail(Error(ErrorKind::unreachable, "away"));
    CHECK_FALSE(first.kind.ready());
    const auto saved = first.kind.reflector().save([&](std::string_view bytes) -> Result<void> {
      file.append(bytes);
      return {};
    });
    REQUIRE(saved.ok());
    first.answer(3, kList).end();
    first.pass(Duration{1});
    CHECK(first.kind.ready());
  }
  CacheRig rig;
  REQUIRE(rig.kind.reflector().load(file).ok());
  rig.kind.start();
  CHECK(rig.kind.store().size() == 1);
  CHECK_FALSE(rig.kind.ready());
  CHECK_FALSE(rig.kind.synced());
  rig.answer(0, kList).end();
  rig.pass(Duration{1});
  CHECK(rig.kind.ready());
  CHECK(rig.kind.synced());
  CHECK(rig.kind.store().size() == 0);
}

TEST_CASE("a failure is not the last word once a later list is on its way for long") {
  CacheRig rig;
  rig.kind.start();
  CHECK_FALSE(rig.kind.reached_since_failure());
  rig.call(0).fail(Error(ErrorKind::unreachable, "cut"));
  rig.answer(1, R"({"kind":"ConfigMapList","items":[)");
  CHECK_FALSE(rig.kind.reached_since_failure());
  rig.pass(Duration{12000});
  CHECK(rig.kind.reached_since_failure());
  rig.call(1).fail(Error(ErrorKind::unreachable, "cut again"));
  CHECK_FALSE(rig.kind.reached_since_failure());
}

TEST_CASE("a saved file knows which subresources a kind has") {
  CacheRig rig;
  rig.kind.start();
  rig.answer(0, kList).end();
  rig.pass(Duration{1});
  CachedKinds kinds;
  kinds.push_back(std::make_unique<CachedKind>(rig.client, rig.random, CacheRig::plan()));
  std::string bytes;
  REQUIRE(rig.kind.reflector()
              .save([&](std::string_view piece) -> Result<void> {
                bytes.append(piece);
                return {};
              })
              .ok());
  REQUIRE(kinds[0]->reflector().load(bytes).ok());
  const std::string path = std::filesystem::temp_directory_path() /
                           ("kubewatch-saved-" + std::to_string(::getpid()) + ".kw");
  const client::ServerIdentity server{"http://server.test", "mark"};
  REQUIRE(write_saved(path, server, kinds).ok());
  const std::string content = *read_saved(path);
  std::filesystem::remove(path);
  const auto parsed = parse_saved(content);
  REQUIRE(parsed.ok());
  CHECK((*parsed)[0].server == server);
  for (std::size_t bit = 0; bit < 8 * (content.size() - bytes.size()); ++bit) {
    std::string broken = content;
    broken[bit / 8] = static_cast<char>(broken[bit / 8] ^ (1 << bit % 8));
    INFO(bit);
    REQUIRE_FALSE(parse_saved(broken).ok());
  }
  CHECK((*parsed)[0].plan.type.has_subresource("status"));
  CHECK_FALSE((*parsed)[0].plan.type.has_subresource("scale"));
}

TEST_CASE("the reports of a cache name kinds, bytes, relists and lag") {
  KindFigures one;
  one.type = "pods";
  one.namespace_ = "shop";
  one.synced = true;
  one.store.objects = 4;
  one.store.held_bytes = 1000;
  one.store.json_bytes = 4000;
  one.store.relists = 2;
  one.stream.failures = {0, 0, 7, 1, 0};
  one.lag = Duration{1500};
  KindFigures two;
  two.type = "nodes\x1b[31m";
  const std::vector<KindFigures> all = {one, two};
  const std::string text = figures_text(all, {1, 2});
  CHECK(text.find("pods in shop") != std::string::npos);
  CHECK(text.find("250") != std::string::npos);
  CHECK(text.find("1.5s") != std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  apiserver::ReadCounters served;
  served.watches_open = 3;
  CHECK(status_line({one}, served) == "pods in shop 4 | 1.0 kB | lag 1.5s | 3 watches, 0 requests");
  CHECK(status_line(all, std::nullopt).find("(syncing)") != std::string::npos);
  const std::string metrics = metrics_of({one}, {1, 2}, served, true);
  CHECK(metrics.find(R"(kubewatch_cache_objects{namespace="shop",resource="pods"} 4)") !=
        std::string::npos);
  CHECK(metrics.find("kubewatch_serve_watches_open 3") != std::string::npos);
  // As run-controller names them: one alert for both.
  for (const char* const line :
       {R"(kubewatch_cache_bytes{namespace="shop",resource="pods"} )",
        R"(kubewatch_watch_up{namespace="shop",resource="pods"} 1)",
        R"(kubewatch_watch_failing_seconds{namespace="shop",resource="pods"} 0)",
        R"(kubewatch_watch_relists_total{namespace="shop",resource="pods"} )",
        R"(kubewatch_watch_reconnects_total{namespace="shop",resource="pods"} )",
        R"(kubewatch_cache_lag_seconds{namespace="shop",resource="pods"} 1.5)",
        "kubewatch_build_info{version=", "process_cpu_seconds_total "}) {
    INFO(line);
    CHECK(metrics.find(line) != std::string::npos);
  }
  KindFigures silent = one;
  silent.lag.reset();
  silent.name = "p";
  const std::string of_one = metrics_of({silent}, {1, 2}, std::nullopt, true);
  CHECK(of_one.find("kubewatch_cache_lag_seconds") == std::string::npos);
  CHECK(of_one.find(R"(kubewatch_cache_objects{name="p",namespace="shop",resource="pods"} 4)") !=
        std::string::npos);
  const auto failures = [](const std::string& where, int count) {
    return R"(kubewatch_watch_failures_total{class=")" + where +
           R"(",namespace="shop",resource="pods"} )" + std::to_string(count) + "\n";
  };
  CHECK(metrics.find(failures("stream", 7)) != std::string::npos);
  CHECK(metrics.find(failures("serverError", 1)) != std::string::npos);
  CHECK(metrics.find(failures("initialList", 0)) != std::string::npos);
  CHECK(facts_of(all).watches[0].failures[2] == 7);
  CHECK(facts_of(all).watches[0].synced);
}

TEST_CASE("a 404 refuses a cache only once discovery says that its kind is gone") {
  const QuietLog quiet;
  VersionsRig rig;
  const std::vector<std::string>& refused = rig.refused;
  const auto served = [&](const std::string& path, int status, const std::string& body) {
    rig.transport.route("GET", path, status, body);
  };
  const auto pass = [&] {
    for (int i = 0; i < 100; ++i) {
      rig.transport.run();
      rig.pass(Duration{2});
    }
  };
  const auto asked = [&](const std::string& line) {
    const auto lines = rig.transport.lines();
    return std::count(lines.begin(), lines.end(), line);
  };
  const std::string pods =
      R"({"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods",)"
      R"("singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get","list","watch"]}]})";
  // Whatever stands before the server: to everything, then to what it does not know itself.
  served("", 404, "no such page");
  rig.kind.start();
  pass();
  CHECK(refused.empty());
  CHECK(asked("GET /api") > 1);
  served("", 503, "no backend");
  served("/api/v1/namespaces/shop/configmaps", 404, "no such page");
  pass();
  CHECK(refused.empty());
  served("/api", 200, R"({"kind":"APIVersions","versions":["v1"]})");
  served("/apis", 200, R"({"kind":"APIGroupList","apiVersion":"v1","groups":[]})");
  pass();
  CHECK(refused.empty());
  served("/api/v1", 200, pods);
  pass();
  CHECK_FALSE(refused.empty());
}

TEST_CASE("a 404 of a kind that discovery has is asked again, and two looks tell that it is gone") {
  const QuietLog quiet;
  VersionsRig rig;
  const std::vector<std::string>& refused = rig.refused;
  const std::string list = "/api/v1/namespaces/shop/configmaps";
  const auto resources = [](const std::string& name, bool namespaced, const std::string& kind) {
    return R"({"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":")" + name +
           R"(","singularName":"","namespaced":)" + (namespaced ? "true" : "false") +
           R"(,"kind":")" + kind + R"(","verbs":["get","list","watch"]}]})";
  };
  const auto looks = [&] {
    const auto lines = rig.transport.lines();
    return std::count(lines.begin(), lines.end(), "GET /api/v1");
  };
  const auto look = [&] {
    const auto before = looks();
    for (int i = 0; i < 1000 && looks() == before; ++i) {
      rig.transport.run();
      rig.pass(Duration{1});
    }
    REQUIRE(looks() == before + 1);
    rig.transport.run();
    rig.pass(Duration{0});
  };
  rig.transport.route("GET", "", 404, "");
  rig.transport.route("GET", "/api", 200, R"({"kind":"APIVersions","versions":["v1"]})");
  rig.transport.route("GET", "/apis", 200,
                      R"({"kind":"APIGroupList","apiVersion":"v1","groups":[]})");
  rig.transport.route("GET", "/api/v1", 200, resources("configmaps", true, "ConfigMap"));
  rig.kind.start();
  for (int i = 0; i < 3; ++i) look();
  CHECK(refused.empty());
  // Gone between two versions, as a single look may find it.
  rig.transport.route("GET", "/api/v1", 200, resources("pods", true, "Pod"));
  look();
  rig.transport.route("GET", "/api/v1", 200, resources("configmaps", true, "ConfigMap"));
  look();
  rig.transport.route("GET", "/api/v1", 200, resources("pods", true, "Pod"));
  look();
  CHECK(refused.empty());
  rig.transport.route("GET", "/api/v1", 200, resources("configmaps", true, "ConfigMap"));
  rig.transport.route("GET", list, 200, kList);
  for (int i = 0; i < 1000 && !rig.kind.synced(); ++i) {
    rig.transport.run();
    rig.pass(Duration{1});
  }
  CHECK(rig.kind.synced());
  CHECK(refused.empty());
}

TEST_CASE("a kind under another path is refused, and one that is not found for long") {
  const QuietLog quiet;
  for (const char* resource :
       {R"({"name":"configmaps","namespaced":false,"kind":"ConfigMap","verbs":["list","watch"]})",
        R"({"name":"maps","namespaced":true,"kind":"ConfigMap","verbs":["list","watch"]})",
        R"({"name":"pods","namespaced":true,"kind":"Pod","verbs":["list","watch"]})",
        R"({"name":"configmaps","namespaced":true,"kind":"ConfigMap","verbs":["list","watch"]})"}) {
    CAPTURE(resource);
    VersionsRig rig;
    rig.transport.route("GET", "", 404, "");
    rig.transport.route("GET", "/api", 200, R"({"kind":"APIVersions","versions":["v1"]})");
    rig.transport.route("GET", "/apis", 200,
                        R"({"kind":"APIGroupList","apiVersion":"v1","groups":[]})");
    rig.transport.route("GET", "/api/v1", 200,
                        std::string(R"({"kind":"APIResourceList","groupVersion":"v1",)") +
                            R"("resources":[)" + resource + "]}");
    rig.kind.start();
    for (int i = 0; i < 1000 && rig.refused.empty(); ++i) {
      rig.transport.run();
      rig.pass(Duration{1});
    }
    CHECK_FALSE(rig.refused.empty());
  }
}

TEST_CASE("a failure that ends the command is not announced as one after which it goes on") {
  const QuietLog log;
  VersionsRig rig;
  rig.transport.route("GET", "", 403, "");
  rig.kind.start();
  rig.transport.run();
  REQUIRE(log.lines.size() == 1);
  CHECK(log.lines.front().find("trying again") != std::string::npos);
  VersionsRig last;
  last.ends = true;
  last.transport.route("GET", "", 403, "");
  last.kind.start();
  last.transport.run();
  CHECK(last.kind.reflector().last_failure());
  CHECK(log.lines.size() == 1);
}

TEST_CASE("a 404 to somebody who may not ask for discovery is the end of it") {
  const QuietLog quiet;
  VersionsRig rig;
  rig.transport.route("GET", "", 403, "");
  rig.transport.route("GET", "/api/v1/namespaces/shop/configmaps", 404, "");
  rig.kind.start();
  for (int i = 0; i < 20; ++i) {
    rig.transport.run();
    rig.pass(Duration{2});
  }
  CHECK_FALSE(rig.refused.empty());
}

}  // namespace kubewatch::cli
