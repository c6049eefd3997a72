// The read-only API server over real HTTP in front of a small fake cache: lists, pages, versions,
// watches, tables, what it refuses and what it passes on.
#include "apiserver/read_server.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "apiserver/continue_token.hpp"
#include "apiserver/list_options.hpp"
#include "apiserver/read_text.hpp"
#include "apiserver/registry.hpp"
#include "apiserver/table.hpp"
#include "base/json.hpp"
#include "core/meta.hpp"
#include "http/transport.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

namespace {

using Objects = std::map<core::ObjectKey, std::string>;

class FakeState : public core::ReadState {
 public:
  FakeState(Objects objects, std::string version)
      : objects_(std::move(objects)), version_(std::move(version)) {}
  const std::string& resource_version() const override { return version_; }
  std::vector<core::ObjectKey> select(const core::LabelSelector& labels,
                                      const std::optional<std::string>& in) const override {
    std::vector<core::ObjectKey> out;
    for (const auto& [key, json] : objects_) {
      if (in && key.namespace_ != *in) continue;
      const auto meta = core::parse_meta(json);
      if (labels.matches(meta->labels)) out.push_back(key);
    }
    return out;
  }
  std::optional<std::string> json(const core::ObjectKey& key) const override {
    ++read;
    const auto it = objects_.find(key);
    return it == objects_.end() ? std::nullopt : std::optional(it->second);
  }
  static std::size_t read;  // objects, by all

 private:
  Objects objects_;
  std::string version_;
};

std::size_t FakeState::read = 0;

class FakeCache : public core::ReadBackend {
 public:
  explicit FakeCache(core::ResourceType type) : type_(std::move(type)) {}
  const core::ResourceType& type() const override { return type_; }
  const std::string& namespace_name() const override { return in; }
  core::Content content() const override { return what; }
  bool ready() const override { return is_ready; }
  std::string resource_version() const override { return std::to_string(version); }
  core::ReadStatePtr state() const override {
    return std::make_shared<FakeState>(objects, resource_version());
  }
  std::optional<std::string> json(const core::ObjectKey& key) const override {
    return FakeState(objects, "").json(key);
  }
  std::vector<core::ObjectKey> reduced() const override { return halves; }

  void turn_to(const std::string& kind_version) { type_.gvk.version = kind_version; }

  Objects objects;
  std::vector<core::ObjectKey> halves;
  std::uint64_t version = 10;
  bool is_ready = true;
  std::string in;
  core::Content what = core::Content::full;

 private:
  core::ResourceType type_;
};

std::string config_map(const std::string& ns, const std::string& name, std::uint64_t version,
                       const std::string& label = "one", const std::string& value = "v") {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
         R"(","namespace":")" + ns + R"(","uid":"u-)" + name + R"(","resourceVersion":")" +
         std::to_string(version) +
         R"(","creationTimestamp":"2024-01-01T00:00:00Z","labels":{"x":")" + label +
         R"("}},"data":{"k":")" + value + R"("}})";
}

struct Rig {
  explicit Rig(ReadServerOptions options = {}) {
    cache.objects[{"shop", "a"}] = config_map("shop", "a", 5);
    cache.objects[{"shop", "b"}] = config_map("shop", "b", 6, "two");
    cache.objects[{"shop-2", "c"}] = config_map("shop-2", "c", 7);
    options.insecure_http = true;
    options.version_wait = Duration{200};
    server = *ReadServer::start(loop, std::move(options));
    id = server->add(cache, registry.find("", "v1", "configmaps"));
    server->synced(id, false);
    http::TransportOptions wire;
    wire.user_agent = "test";
    transport = *http::make_curl_transport(loop, wire);
  }
  void change(ReadEventType type, const std::string& name, const std::string& label = "one") {
    const core::ObjectKey key{"shop", name};
    ReadChange one;
    one.type = type;
    one.key = key;
    one.version = ++cache.version;
    if (const auto it = cache.objects.find(key); it != cache.objects.end()) {
      one.previous_json = it->second;
      one.previous_labels = core::parse_meta(it->second)->labels;
    }
    one.json = config_map("shop", name, one.version, label);
    one.labels = {{"x", label}};
    if (type == ReadEventType::deleted) {
      cache.objects.erase(key);
    } else {
      cache.objects[key] = one.json;
    }
    server->changed(id, one, false);
    server->moved(id);
  }
  http::Response get(const std::string& target, const std::string& accept = "",
                     const std::string& method = "GET", http::Headers headers = {}) {
    http::Request request;
    request.headers = std::move(headers);
    request.method = method;
    request.max_body = std::size_t{256} << 20U;
    request.url = server->url() + target;
    if (!accept.empty()) request.headers.set("Accept", accept);
    std::optional<Result<http::Response>> answer;
    const auto call = http::fetch(*transport, std::move(request), [&](Result<http::Response> got) {
      answer.emplace(std::move(got));
    });
    REQUIRE(loop.run_until([&] { return answer.has_value(); }, Duration{10000}));
    REQUIRE(answer->ok());
    return **answer;
  }
  Json json(const std::string& target, int status = 200, const std::string& accept = "") {
    const auto answer = get(target, accept);
    INFO(target << ": " << answer.body);
    CHECK(answer.status == status);
    auto parsed = base::parse_json(answer.body);
    REQUIRE(parsed.ok());
    return *parsed;
  }

  loop::EventLoop loop;
  Registry registry;
  FakeCache cache{registry_type()};
  std::unique_ptr<ReadServer> server;
  ReadServer::KindId id = 0;
  std::unique_ptr<http::Transport> transport;

 private:
  core::ResourceType registry_type() { return registry.find("", "v1", "configmaps")->type; }
};

// Lines of an open watch as they come.
struct Stream {
  Stream(Rig& rig, const std::string& target) : rig_(rig) {
    http::Request request;
    request.url = rig.server->url() + target;
    request.streaming = true;
    http::CallHandlers handlers;
    handlers.on_data = [this](std::string_view bytes) { text_.append(bytes); };
    handlers.on_done = [this](const Result<void>&) { ended = true; };
    call_ = rig.transport->start(std::move(request), std::move(handlers));
  }
  std::vector<Json> lines(std::size_t count) {
    REQUIRE(rig_.loop.run_until([&] { return all().size() >= count; }, Duration{10000}));
    return all();
  }
  std::vector<Json> all() const {
    std::vector<Json> out;
    std::size_t at = 0;
    for (std::size_t end = 0; (end = text_.find('\n', at)) != std::string::npos; at = end + 1) {
      out.push_back(*base::parse_json(text_.substr(at, end - at)));
    }
    return out;
  }
  bool ended = false;

 private:
  Rig& rig_;
  std::string text_;
  std::unique_ptr<http::Call> call_;
};

std::vector<std::string> names_of(const Json& list) {
  std::vector<std::string> out;
  for (const auto& item : list.at("items")) {
    out.push_back(base::string_at(item, {"metadata", "name"}));
  }
  return out;
}
using Names = std::vector<std::string>;

const char* const kMaps = "/api/v1/configmaps";
const char* const kTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

}  // namespace

TEST_CASE("a cached object is answered as the server has it") {
  Rig rig;
  const auto answer = rig.get("/api/v1/namespaces/shop/configmaps/a");
  CHECK(answer.status == 200);
  CHECK(answer.body.starts_with(R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a")"));
  const Json missing = rig.json("/api/v1/namespaces/shop/configmaps/z", 404);
  CHECK(missing["message"] == "configmaps \"z\" not found");
  const auto yaml = rig.get("/api/v1/namespaces/shop/configmaps/a", "application/yaml");
  CHECK(yaml.body.find("kind: ConfigMap\n") != std::string::npos);
}

TEST_CASE("a list has the API's order, selectors and no types in its items") {
  Rig rig;
  const auto answer = rig.get(kMaps);
  CHECK(answer.body.starts_with(
      R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"10"},"items":[{"metadata":{"name":"c")"));
  CHECK(names_of(rig.json(kMaps)) == Names{"c", "a", "b"});  // shop-2/ is before shop/
  CHECK(names_of(rig.json("/api/v1/namespaces/shop/configmaps")) == Names{"a", "b"});
  CHECK(names_of(rig.json(std::string(kMaps) + "?labelSelector=x%3Dtwo")) == Names{"b"});
  CHECK(names_of(rig.json(std::string(kMaps) + "?fieldSelector=metadata.name%3Da")) == Names{"a"});
  CHECK(names_of(rig.json("/api/v1/namespaces/none/configmaps")).empty());
  rig.json(std::string(kMaps) + "?labelSelector=%3D%3D", 400);
}

TEST_CASE("pages are of one state, however the cache changes between them") {
  Rig rig;
  const Json first = rig.json(std::string(kMaps) + "?limit=2");
  CHECK(names_of(first) == Names{"c", "a"});
  CHECK(first["metadata"]["remainingItemCount"] == 1);
  rig.change(ReadEventType::deleted, "b");
  const std::string token = first["metadata"]["continue"].get<std::string>();
  const Json second = rig.json(std::string(kMaps) + "?limit=2&continue=" + token);
  CHECK(names_of(second) == Names{"b"});
  CHECK(second["metadata"]["resourceVersion"] == "10");
  const Json whole = rig.json(std::string(kMaps) + "?limit=1");
  const std::string from = whole["metadata"]["continue"].get<std::string>();
  CHECK(names_of(rig.json(std::string(kMaps) + "?limit=1&resourceVersion=0&continue=" + from)) ==
        Names{"a"});
  CHECK_FALSE(second["metadata"].contains("continue"));
  CHECK(names_of(rig.json(kMaps)) == Names{"c", "a"});
  rig.json(std::string(kMaps) + "?continue=nonsense", 400);
  rig.json(std::string(kMaps) + "?resourceVersion=10&continue=" + token, 400);
  // A token of a state that is not kept: 410, with a token to go on inconsistently.
  const std::string old = encode_continue({3, "shop/a"}, "");
  const Json gone = rig.json(std::string(kMaps) + "?limit=2&continue=" + old, 410);
  const std::string further = gone["metadata"]["continue"].get<std::string>();
  CHECK(names_of(rig.json(std::string(kMaps) + "?limit=2&continue=" + further)) == Names{"a"});
}

TEST_CASE("resourceVersions mean what they mean to the real server") {
  Rig rig;
  const std::string maps = std::string(kMaps) + "?resourceVersion=";
  CHECK(names_of(rig.json(maps + "0&limit=1")).size() == 3);
  CHECK(names_of(rig.json(maps + "4")).size() == 3);
  CHECK(names_of(rig.json(maps + "10&resourceVersionMatch=Exact")).size() == 3);
  CHECK(rig.json(maps + "9&resourceVersionMatch=Exact", 410)["reason"] == "Expired");
  CHECK(rig.json(maps + "9&limit=1", 410)["reason"] == "Expired");
  const Json future = rig.json(maps + "11&resourceVersionMatch=NotOlderThan", 504);
  CHECK(future["message"].get<std::string>().find("Too large resource version: 11") !=
        std::string::npos);
  rig.json(maps + "x", 400);
  rig.json(maps + "0&resourceVersionMatch=Exact", 422);
  CHECK(rig.json("/api/v1/namespaces/shop/configmaps/a?resourceVersion=11", 504)["code"] == 504);
}

TEST_CASE("a request for a newer state waits until the cache has it") {
  Rig rig;
  rig.loop.post([&] { rig.change(ReadEventType::added, "new"); });
  const Json list = rig.json(std::string(kMaps) + "?resourceVersion=11");
  CHECK(names_of(list).size() == 4);
  CHECK(list["metadata"]["resourceVersion"] == "11");
}

TEST_CASE("nobody reads a cache that is not complete") {
  Rig rig;
  rig.cache.is_ready = false;
  const auto answer = rig.get(kMaps);
  CHECK(answer.status == 503);
  CHECK(answer.headers.get("Retry-After") == "1");
  CHECK(rig.get("/readyz").status == 503);
  CHECK(rig.get("/healthz").body == "ok");
  rig.cache.is_ready = true;
  CHECK(rig.get("/readyz").body == "ok");
}

TEST_CASE("a kind that goes on in another version is served in that, and the one before ends") {
  Rig rig;
  Stream watch(rig, std::string(kMaps) + "?watch=1&resourceVersion=10");
  Stream waits(rig, std::string(kMaps) + "?resourceVersion=99");
  REQUIRE(
      rig.loop.run_until([&] { return rig.server->counters().requests == 2; }, Duration{10000}));
  auto newer = std::make_shared<Resource>(*rig.registry.find("", "v1", "configmaps"));
  newer->type.gvk.version = "v2";
  rig.server->change_version(rig.id, newer);
  rig.cache.turn_to("v2");
  CHECK(rig.loop.run_until([&] { return watch.ended && waits.ended; }, Duration{10000}));
  CHECK(rig.server->counters().watches_open == 0);
  // What the cache holds until then is of the version before.
  CHECK(rig.json("/api/v2/configmaps", 503)["message"] ==
        "the cache of configmaps is not complete yet");
  CHECK(rig.get("/readyz").status == 503);
  CHECK(rig.json(kMaps, 404)["message"].get<std::string>().find("not configmaps of version v1") !=
        std::string::npos);
  rig.cache.version = 12;
  rig.server->synced(rig.id, true);
  CHECK(rig.json("/api/v2/configmaps")["items"].size() == 3);
  CHECK(rig.get("/readyz").status == 200);
  // Nothing goes on from before.
  Stream old(rig, "/api/v2/configmaps?watch=1&resourceVersion=11");
  CHECK(old.lines(1)[0]["object"]["code"] == 410);
  Stream now(rig, "/api/v2/configmaps?watch=1&resourceVersion=12");
  rig.change(ReadEventType::added, "d");
  CHECK(now.lines(1)[0]["type"] == "ADDED");
  // Also where its first state comes only then.
  rig.server->change_version(rig.id, newer);
  rig.server->synced(rig.id, false);
  CHECK(rig.get("/readyz").status == 200);
}

TEST_CASE("a watch tells what changes, as each client selects it") {
  Rig rig;
  Stream all(rig, std::string(kMaps) + "?watch=1&resourceVersion=10");
  Stream ones(rig, std::string(kMaps) + "?watch=1&resourceVersion=10&labelSelector=x%3Done");
  Stream named(rig, "/api/v1/namespaces/shop/configmaps/b?watch=1&resourceVersion=10");
  REQUIRE(rig.loop.run_until([&] { return rig.server->counters().watches_open == 3; },
                             Duration{10000}));
  rig.change(ReadEventType::modified, "a", "two");  // leaves the selection
  rig.change(ReadEventType::modified, "b", "one");  // enters it
  rig.change(ReadEventType::deleted, "b");
  const auto told = all.lines(3);
  CHECK(told[0]["type"] == "MODIFIED");
  CHECK(told[0]["object"]["kind"] == "ConfigMap");
  CHECK(told[2]["type"] == "DELETED");
  CHECK(told[2]["object"]["metadata"]["resourceVersion"] == "13");
  const auto selected = ones.lines(3);
  CHECK(selected[0]["type"] == "DELETED");
  CHECK(selected[0]["object"]["metadata"]["resourceVersion"] == "11");
  CHECK(selected[0]["object"]["metadata"]["labels"]["x"] == "one");
  CHECK(selected[1]["type"] == "ADDED");
  CHECK(named.lines(2)[0]["object"]["metadata"]["name"] == "b");
}

TEST_CASE("a watch from the start gets the state, the end of it marked, then what changes") {
  Rig rig;
  Stream stream(rig, std::string(kMaps) +
                         "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true"
                         "&resourceVersionMatch=NotOlderThan&resourceVersion=");
  const auto lines = stream.lines(4);
  CHECK(lines[0]["type"] == "ADDED");
  CHECK(lines[3]["type"] == "BOOKMARK");
  CHECK(lines[3]["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"] == "true");
  CHECK(lines[3]["object"]["metadata"]["resourceVersion"] == "10");
  rig.change(ReadEventType::added, "new");
  CHECK(stream.lines(5)[4]["object"]["metadata"]["name"] == "new");
}

TEST_CASE(
    "a watch from too old a resourceVersion is told 410, and so is one after a new beginning") {
  ReadServerOptions options;
  options.history.events = 2;
  Rig rig(std::move(options));
  const std::string token =
      rig.json(std::string(kMaps) + "?limit=2")["metadata"]["continue"].get<std::string>();
  Stream lively(rig, std::string(kMaps) + "?watch=1&resourceVersion=10");
  REQUIRE(rig.loop.run_until([&] { return rig.server->counters().watches_open == 1; },
                             Duration{10000}));
  for (int i = 0; i < 4; ++i) rig.change(ReadEventType::modified, "a");
  CHECK(lively.lines(4).size() == 4);
  Stream old(rig, std::string(kMaps) + "?watch=1&resourceVersion=10");
  const auto told = old.lines(1);
  CHECK(told[0]["type"] == "ERROR");
  CHECK(told[0]["object"]["code"] == 410);
  CHECK(told[0]["object"]["reason"] == "Expired");
  CHECK(rig.loop.run_until([&] { return old.ended; }, Duration{10000}));
  rig.cache.version = 3;  // the server was restored from a backup
  rig.server->synced(rig.id, true);
  CHECK(lively.lines(5)[4]["object"]["code"] == 410);
  // Who comes back with what was told before it was restored is told so, and pages are not read on.
  Stream back(rig, std::string(kMaps) + "?watch=1&resourceVersion=11");
  CHECK(back.lines(1)[0]["object"]["code"] == 410);
  rig.json(std::string(kMaps) + "?limit=2&continue=" + token, 410);
}

TEST_CASE("data that went back and on to a higher version is a new beginning, too") {
  Rig rig;
  const std::string from_10 = std::string(kMaps) + "?watch=1&resourceVersion=10";
  const std::string token =
      rig.json(std::string(kMaps) + "?limit=2")["metadata"]["continue"].get<std::string>();
  Stream open(rig, from_10);
  REQUIRE(rig.loop.run_until([&] { return rig.server->counters().watches_open == 1; },
                             Duration{10000}));
  ReadChange undone;
  undone.type = ReadEventType::modified;
  undone.key = {"shop", "a"};
  undone.version = 4;
  undone.previous_json = rig.cache.objects[undone.key];
  undone.json = rig.cache.objects[undone.key] = config_map("shop", "a", 4, "one", "before");
  rig.cache.version = 20;
  rig.server->changed(rig.id, undone, true);
  rig.server->synced(rig.id, true);
  CHECK(open.lines(1)[0]["object"]["code"] == 410);
  Stream back(rig, from_10);
  CHECK(back.lines(1)[0]["object"]["code"] == 410);
  rig.json(std::string(kMaps) + "?limit=2&continue=" + token, 410);
  CHECK(rig.json(kMaps)["metadata"]["resourceVersion"] == "20");
}

TEST_CASE("a watch ends when its time is over, with a bookmark before") {
  Rig rig;
  Stream stream(rig, std::string(kMaps) +
                         "?watch=1&resourceVersion=10&timeoutSeconds=1&allowWatchBookmarks=true");
  CHECK(rig.loop.run_until([&] { return stream.ended; }, Duration{10000}));
  CHECK(rig.server->counters().watches_open == 0);
}

TEST_CASE("tables and metadata are made here") {
  Rig rig;
  const Json table = rig.json(kMaps, 200, kTable);
  CHECK(table["kind"] == "Table");
  CHECK(table["columnDefinitions"][0]["name"] == "Name");
  CHECK(table["rows"].size() == 3);
  CHECK(table["rows"][1]["cells"][0] == "a");
  CHECK(table["rows"][1]["cells"][1] == 1);
  CHECK(table["rows"][1]["object"]["kind"] == "PartialObjectMetadata");
  CHECK_FALSE(table["rows"][1]["object"].contains("data"));
  const Json metadata =
      rig.json(kMaps, 200, "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io");
  CHECK(metadata["kind"] == "PartialObjectMetadataList");
  CHECK(metadata["items"][0]["metadata"]["name"] == "c");
  CHECK_FALSE(metadata["items"][0].contains("data"));
}

TEST_CASE("a cache of metadata alone answers no whole objects") {
  Rig rig;
  rig.cache.what = core::Content::metadata;
  const auto id = rig.server->add(rig.cache, rig.registry.find("", "v1", "configmaps"));
  (void)id;
  rig.json(kMaps, 406);
  rig.json(kMaps, 200, "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io");
}

TEST_CASE("long lists go out in pieces and are whole") {
  Rig rig;
  for (int i = 0; i < 3000; ++i) {
    const std::string name = "n" + std::to_string(i);
    rig.cache.objects[{"shop", name}] = config_map("shop", name, 8, "one", std::string(1000, 'x'));
  }
  const Json list = rig.json(kMaps);
  CHECK(list["items"].size() == 3003);
  const Json table = rig.json(kMaps, 200, kTable);
  CHECK(table["rows"].size() == 3003);
  CHECK(names_of(rig.json(std::string(kMaps) + "?fieldSelector=metadata.name%3Dn7")) ==
        Names{"n7"});
}

TEST_CASE(
    "a list of few objects that are long together goes out in pieces, but for indented ones") {
  Rig rig;
  const std::string megabyte(1U << 20U, 'x');
  for (int i = 0; i < 70; ++i) {
    const std::string name = "n" + std::to_string(i);
    rig.cache.objects[{"shop", name}] = config_map("shop", name, 8, "one", megabyte);
  }
  const auto answer = rig.get(kMaps);  // more than is parsed or printed
  CHECK(answer.status == 200);
  CHECK(answer.body.size() > (std::size_t{70} << 20U));
  CHECK(answer.body.ends_with("]}"));
  CHECK(rig.server->counters().objects_sent == 73);
  const Json refused = rig.json(std::string(kMaps) + "?pretty=true", 406);
  CHECK(refused["message"].get<std::string>().find("too long to be indented") != std::string::npos);
}

namespace {

// Pods as well, of which some are on node n1.
struct PodRig : Rig {
  explicit PodRig(std::size_t size, const std::function<bool(std::size_t)>& on_n1) {
    for (std::size_t i = 0; i < size; ++i) {
      const std::string name = "p" + std::to_string(10000 + i);
      pods.objects[{"shop", name}] = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" +
                                     name + R"(","namespace":"shop"},"spec":{"nodeName":")" +
                                     (on_n1(i) ? "n1" : "n2") + R"("}})";
    }
    pods_id = server->add(pods, registry.find("", "v1", "pods"));
    server->synced(pods_id, false);
  }
  ~PodRig() { server.reset(); }  // before the cache that it reads

  FakeCache pods{registry.find("", "v1", "pods")->type};
  ReadServer::KindId pods_id = 0;
};

const char* const kOnN1 = "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1";

}  // namespace

TEST_CASE("what a field selector chooses is looked for turn by turn, and is all of it") {
  PodRig rig(6000, [](std::size_t i) { return i % 2000 == 1999; });
  // The most objects that were read in one turn of the loop.
  std::size_t before = FakeState::read;
  std::size_t most = 0;
  std::function<void()> look = [&] {
    most = std::max(most, FakeState::read - before);
    before = FakeState::read;
    rig.loop.post(look);
  };
  rig.loop.post(look);
  const std::string wanted = kOnN1;
  const Json first = rig.json(wanted + "&limit=2");
  CHECK(names_of(first) == Names{"p11999", "p13999"});
  const std::string token = first["metadata"]["continue"].get<std::string>();
  const Json second = rig.json(wanted + "&limit=2&continue=" + token);
  CHECK(names_of(second) == Names{"p15999"});
  CHECK_FALSE(second["metadata"].contains("continue"));
  CHECK(names_of(rig.json(wanted)).size() == 3);
  CHECK(names_of(rig.json(wanted + "&pretty=true")).size() == 3);
  Stream watch(rig, wanted +
                        "&watch=1&sendInitialEvents=true&allowWatchBookmarks=true"
                        "&resourceVersionMatch=NotOlderThan&resourceVersion=");
  CHECK(watch.lines(4)[3]["type"] == "BOOKMARK");
  // Of several readers together.
  Stream one(rig, wanted);
  Stream two(rig, wanted + "&limit=500");
  Stream three(rig, wanted + "&watch=1&resourceVersion=0");
  CHECK(three.lines(3).size() == 3);
  REQUIRE(rig.loop.run_until([&] { return one.ended && two.ended; }, Duration{10000}));
  CHECK(most >= 900);
  CHECK(most <= 1010);  // and those that were found
  look = [] {};
}

TEST_CASE("a list that is being looked for begins anew where the data went back, or is no more") {
  PodRig rig(3000, [](std::size_t i) { return i == 2999; });
  const std::string wanted = std::string(kOnN1) + "&limit=5";
  // Between its first turn and its last.
  std::size_t before = FakeState::read;
  std::function<void()> then;
  std::function<void()> look = [&] { FakeState::read == before ? rig.loop.post(look) : then(); };
  bool done = false;
  then = [&] {
    rig.pods.version = 4;
    rig.server->synced(rig.pods_id, true);
    done = true;
  };
  rig.loop.post(look);
  const Json list = rig.json(wanted);
  CHECK(done);
  CHECK(list["metadata"]["resourceVersion"] == "4");
  CHECK(names_of(list) == Names{"p12999"});
  auto newer = std::make_shared<Resource>(*rig.registry.find("", "v1", "pods"));
  newer->type.gvk.version = "v2";
  before = FakeState::read;
  then = [&] {
    rig.server->change_version(rig.pods_id, newer);
    rig.pods.turn_to("v2");
  };
  rig.loop.post(look);
  rig.json(wanted, 404);
}

TEST_CASE("what is not cached, and writes, are refused in words that say what to do") {
  Rig rig;
  const Json other = rig.json("/api/v1/pods", 404);
  CHECK(other["message"].get<std::string>().find("--forward-reads") != std::string::npos);
  CHECK(other["message"].get<std::string>().find("configmaps") != std::string::npos);
  const auto write = rig.get("/api/v1/namespaces/shop/configmaps/a", "", "DELETE");
  CHECK(write.status == 405);
  CHECK(write.body.find("--forward-writes") != std::string::npos);
  CHECK(rig.get("/api/v1/namespaces/shop/configmaps/a/scale").status == 404);
  CHECK(rig.get("/api/v1/namespaces/shop/configmaps/a/status").status == 404);
  CHECK(rig.get("/secrets.txt").status == 404);
}

TEST_CASE("what is asked for is passed on: reads, writes, and documents, which are kept") {
  std::vector<std::string> passed;
  std::vector<std::string> fetched;
  ReadServerOptions options;
  options.forward_reads = options.forward_writes = true;
  options.forward = [&](const http::ServerRequest& request,
                        const std::shared_ptr<http::Responder>& to) {
    passed.push_back(request.method + " " + request.path);
    to->respond(200, {}, "passed");
  };
  options.fetch = [&](const std::string& target, const std::string&,
                      const ReadServerOptions::Fetched& done) {
    fetched.push_back(target);
    http::Response answer;
    answer.status = 200;
    answer.headers.set("Content-Type", "application/json");
    answer.body = R"({"kind":"APIVersions"})";
    done(std::move(answer));
  };
  Rig rig(std::move(options));
  CHECK(rig.get("/api/v1/pods").body == "passed");
  CHECK(rig.get("/api/v1/namespaces/shop/configmaps/a", "", "DELETE").body == "passed");
  CHECK(passed == Names{"GET /api/v1/pods", "DELETE /api/v1/namespaces/shop/configmaps/a"});
  CHECK(rig.json("/api")["kind"] == "APIVersions");
  CHECK(rig.json("/api")["kind"] == "APIVersions");
  CHECK(fetched == Names{"/api"});
}

TEST_CASE("a document that many ask for at once is asked for once, and so are not too many") {
  std::vector<std::string> fetched;
  std::vector<ReadServerOptions::Fetched> open;
  ReadServerOptions options;
  options.fetch = [&](const std::string& target, const std::string&,
                      const ReadServerOptions::Fetched& done) {
    fetched.push_back(target);
    open.push_back(done);
  };
  Rig rig(std::move(options));
  const auto asked = [&](std::uint64_t count) {
    REQUIRE(rig.loop.run_until([&] { return rig.server->counters().requests == count; },
                               Duration{10000}));
  };
  std::vector<std::unique_ptr<Stream>> readers;
  const auto ask = [&](const std::string& target) {
    readers.push_back(std::make_unique<Stream>(rig, target));
  };
  for (int i = 0; i < 3; ++i) ask("/apis");
  asked(3);
  CHECK(fetched == Names{"/apis"});
  http::Response answer;
  answer.status = 200;
  answer.body = R"({"kind":"APIGroupList"})"
                "\n";
  open[0](answer);
  for (const auto& one : readers) CHECK(one->lines(1)[0]["kind"] == "APIGroupList");
  CHECK(rig.json("/apis")["kind"] == "APIGroupList");
  // What fails is told to all who wait as well, and asked for again by the next.
  ask("/version");
  ask("/version");
  asked(6);
  CHECK(fetched == Names{"/apis", "/version"});
  open[1](Error(ErrorKind::unreachable, "away"));
  REQUIRE(
      rig.loop.run_until([&] { return readers[3]->ended && readers[4]->ended; }, Duration{10000}));
  CHECK(rig.server->counters().refused == 2);
  for (int i = 0; i < 64; ++i) ask("/version?x=" + std::to_string(i));
  asked(70);
  CHECK(fetched.size() == 66);
  CHECK(rig.get("/version?x=64").status == 503);
  CHECK(fetched.size() == 66);
  rig.server.reset();
  open.back()(answer);  // nobody is there any more
}

TEST_CASE("a document that was asked for before a kind was listed is no news after it") {
  std::vector<ReadServerOptions::Fetched> open;
  ReadServerOptions options;
  options.fetch = [&](const std::string&, const std::string&,
                      const ReadServerOptions::Fetched& done) { open.push_back(done); };
  Rig rig(std::move(options));
  const auto pass = [&] {
    const TimePoint now = rig.loop.now();
    REQUIRE(rig.loop.run_until([&] { return rig.loop.now() > now; }, Duration{10000}));
  };
  const auto asked = [&](std::size_t count) {
    REQUIRE(rig.loop.run_until([&] { return open.size() == count; }, Duration{10000}));
  };
  http::Response answer;
  answer.status = 200;
  answer.body = "{}\n";
  Stream first(rig, "/apis");
  asked(1);
  pass();
  rig.server->synced(rig.id, false);
  pass();
  open[0](answer);
  CHECK(first.lines(1).size() == 1);
  Stream second(rig, "/apis");
  asked(2);
  open[1](answer);
  CHECK(second.lines(1).size() == 1);
  rig.json("/apis");
  CHECK(open.size() == 2);
  // Where nothing more can be asked for, an old one is better than none.
  pass();
  rig.server->synced(rig.id, false);
  std::vector<std::unique_ptr<Stream>> others;
  for (int i = 0; i < 64; ++i) {
    others.push_back(std::make_unique<Stream>(rig, "/version?x=" + std::to_string(i)));
  }
  asked(66);
  CHECK(rig.get("/version").status == 503);
  CHECK(rig.get("/apis").status == 200);
  rig.server.reset();
}

TEST_CASE("the status of an object is answered where its kind has one") {
  Rig rig;
  core::ResourceType type = rig.registry.find("", "v1", "pods")->type;
  FakeCache pods(type);
  pods.objects[{"shop", "web"}] =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"shop"}})";
  const auto id = rig.server->add(pods, rig.registry.find("", "v1", "pods"));
  rig.server->synced(id, false);
  CHECK(rig.json("/api/v1/namespaces/shop/pods/web/status")["metadata"]["name"] == "web");
  rig.server.reset();  // before the cache that it reads
}

TEST_CASE("a kept document is asked for again once a kind was listed anew") {
  std::size_t asked = 0;
  ReadServerOptions options;
  options.fetch = [&](const std::string&, const std::string&,
                      const ReadServerOptions::Fetched& done) {
    ++asked;
    http::Response answer;
    answer.status = 200;
    answer.body = "{\"n\":" + std::to_string(asked) + "}";
    done(std::move(answer));
  };
  Rig rig(std::move(options));
  CHECK(rig.json("/apis")["n"] == 1);
  CHECK(rig.json("/apis")["n"] == 1);
  rig.server->synced(rig.id, true);
  // Discovery is behind what is served for a while: what it says now is not kept either.
  CHECK(rig.json("/apis")["n"] == 2);
  CHECK(rig.json("/apis")["n"] == 3);
}

TEST_CASE("that the server refuses the cache's own login is no 401 of its readers") {
  int status = 401;
  ReadServerOptions options;
  options.fetch = [&](const std::string&, const std::string&,
                      const ReadServerOptions::Fetched& done) {
    http::Response answer;
    answer.status = status;
    answer.body = R"({"kind":"APIGroupList"})";
    done(std::move(answer));
  };
  Rig rig(std::move(options));
  const Json refused = rig.json("/apis", 503);
  CHECK(refused["message"].get<std::string>().find("login of this cache") != std::string::npos);
  status = 200;
  rig.json("/apis");
  // The old one, though it is not new enough.
  status = 401;
  rig.server->synced(rig.id, true);
  CHECK(rig.json("/apis")["kind"] == "APIGroupList");
}

TEST_CASE("who asks to act as somebody else is not answered with the rights of the cache's owner") {
  ReadServerOptions options;
  options.forward_reads = options.forward_writes = true;
  options.forward = [](const http::ServerRequest&, const std::shared_ptr<http::Responder>& to) {
    to->respond(200, {}, "passed");
  };
  Rig rig(std::move(options));
  for (const char* name : {"Impersonate-User", "impersonate-group", "Impersonate-Extra-Scopes"}) {
    http::Headers as;
    as.set(name, "bob");
    for (const char* method : {"GET", "DELETE"}) {
      CAPTURE(name, method);
      const auto answer = rig.get("/api/v1/namespaces/shop/configmaps/a", "", method, as);
      CHECK(answer.status == 403);
      CHECK(answer.body.find("acts as its owner only") != std::string::npos);
    }
  }
}

TEST_CASE("a reader needs the token, over TLS by an own CA") {
  loop::EventLoop loop;
  auto server = *ReadServer::start(loop, {});
  http::TransportOptions wire;
  wire.user_agent = "test";
  wire.tls.ca_pem = server->ca_pem();
  auto transport = *http::make_curl_transport(loop, wire);
  const auto status = [&](const std::string& token) {
    http::Request request;
    request.url = server->url() + "/apis";
    if (!token.empty()) request.headers.set("Authorization", "Bearer " + token);
    int out = 0;
    const auto call = http::fetch(*transport, std::move(request), [&](Result<http::Response> got) {
      out = got.ok() ? got->status : -1;
    });
    REQUIRE(loop.run_until([&] { return out != 0; }, Duration{10000}));
    return out;
  };
  CHECK(status("") == 401);
  CHECK(status("wrong") == 401);
  CHECK(status(server->token()) == 503);  // no server to ask for discovery
  ReadServerOptions open;
  open.insecure_http = true;
  open.address = "0.0.0.0";
  CHECK_FALSE(ReadServer::start(loop, open).ok());
}

TEST_CASE("the quick cells of a Pod are those of the slow way, or none") {
  const Registry registry;
  const auto pods = registry.find("", "v1", "pods");
  const WallTime now = *base::parse_rfc3339("2024-01-01T01:00:00Z");
  const std::string head =
      R"({"metadata":{"name":"a\"b","creationTimestamp":"2024-01-01T00:00:00Z"},)";
  const std::vector<std::string> ordinary = {
      head + R"("spec":{"containers":[{"name":"x"},{"name":"y"}]},"status":{"phase":"Pending"}})",
      head +
          R"("spec":{"nodeName":"n1","containers":[{"name":"x"}]},"status":{"phase":"Running",)" +
          R"("podIP":"10.0.0.1","containerStatuses":[{"ready":true,"restartCount":0,)" +
          R"("state":{"running":{"startedAt":"x"}}}]}})"};
  for (const auto& pod : ordinary) {
    std::string quick;
    REQUIRE(append_pod_cells(pod, now, quick));
    CHECK(*base::parse_json(quick) == table_cells(*pods, *base::parse_json(pod), now));
  }
  const std::vector<std::string> special = {
      head + R"("spec":{"containers":[{}]},"status":{"phase":"Failed","reason":"Evicted"}})",
      head + R"("spec":{"containers":[{}]},"status":{"phase":"Running","containerStatuses":[)" +
          R"({"restartCount":3,"state":{"running":{}}}]}})",
      head + R"("spec":{"containers":[{}]},"status":{"phase":"Pending","containerStatuses":[)" +
          R"({"restartCount":0,"state":{"waiting":{"reason":"ErrImagePull"}}}]}})",
      R"({"metadata":{"name":"a","creationTimestamp":"2024-01-01T00:00:00Z",)" +
          std::string(R"("deletionTimestamp":"2024-01-01T00:00:00Z"},"spec":{},"status":{}})")};
  for (const auto& pod : special) {
    std::string quick;
    CHECK_FALSE(append_pod_cells(pod, now, quick));
    CHECK(quick.empty());
  }
}

TEST_CASE("field selectors are answered from the text") {
  const std::string pod =
      R"({"spec":{"nodeName":"n\u0031","on":true,"count":3,"list":[1]},"status":{"phase":null}})";
  CHECK(field_text(pod, "spec.nodeName") == "n1");
  CHECK(field_text(pod, "spec.on") == "true");
  CHECK(field_text(pod, "spec.count") == "3");
  CHECK(field_text(pod, "spec.list").empty());
  CHECK(field_text(pod, "status.phase").empty());
  CHECK(field_text(pod, "no.such").empty());
  const auto fields = core::FieldSelector::parse("spec.nodeName=n1,metadata.namespace!=shop");
  CHECK(matches_fields(*fields, {"blog", "a"}, pod));
  CHECK_FALSE(matches_fields(*fields, {"shop", "a"}, pod));
}

TEST_CASE(
    "an object that could not be cached whole is the API server's to tell, alone and in lists") {
  const std::string partial = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
  {
    Rig rig;
    const std::string shop = "/api/v1/namespaces/shop/configmaps";
    Stream whole(rig, shop + "?watch=true&resourceVersion=10");
    REQUIRE(rig.loop.run_until([&] { return rig.server->counters().watches_open == 1; },
                               Duration{10000}));
    rig.cache.halves = {{"shop", "a"}};
    rig.change(ReadEventType::modified, "a");
    // The change itself is of a whole object in this test; the next one is not.
    CHECK(whole.lines(1)[0]["type"] == "MODIFIED");
    ReadChange half;
    half.type = ReadEventType::modified;
    half.key = {"shop", "a"};
    half.version = ++rig.cache.version;
    half.json = half.previous_json = config_map("shop", "a", half.version);
    half.reduced = true;
    rig.server->changed(rig.id, half, false);
    rig.server->moved(rig.id);
    CHECK(whole.lines(2)[1]["object"]["code"] == 410);
    const auto refused = rig.json(shop + "/a", 406);
    CHECK(refused["message"].get<std::string>().find("--forward-reads") != std::string::npos);
    CHECK(rig.json(shop + "/b")["metadata"]["name"] == "b");
    rig.json(shop, 406);
    rig.json(shop + "/a", 200, partial);
    rig.json(shop, 200, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
  }
  std::vector<std::string> passed;
  ReadServerOptions options;
  options.forward_reads = true;
  options.forward = [&](const http::ServerRequest& request, const auto& to) {
    passed.push_back(request.path);
    to->respond(200, {}, "{}");
  };
  Rig rig(std::move(options));
  rig.cache.halves = {{"shop", "a"}};
  rig.json("/api/v1/namespaces/shop/configmaps/a");
  rig.json("/api/v1/namespaces/shop/configmaps/b");
  rig.json("/api/v1/namespaces/shop/configmaps");
  CHECK(passed == std::vector<std::string>{"/api/v1/namespaces/shop/configmaps/a",
                                           "/api/v1/namespaces/shop/configmaps"});
}

}  // namespace kubewatch::apiserver
