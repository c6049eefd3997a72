// A server whose data goes back to a backup while clients hold what it said later. It tells nobody;
// the caches and the controller must notice, on both servers.

#include <fmt/format.h>

#include <map>
#include <set>

#include "client/rewinds.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"
#include "http/transport.hpp"
#include "runtime/reflector.hpp"

using namespace kubewatch;
using namespace kubewatch::e2e;

namespace {

// Far more than a kube-apiserver writes by itself while it starts: until as many are written again,
// a client that asks can see that the data went back.
constexpr int kWrites = 400;
constexpr int kAtOnce = 10;

std::uint64_t version_of(const Json& object) {
  return std::stoull(object["metadata"]["resourceVersion"].get<std::string>());
}

// A transport that can be cut off from the server: all calls end at once, further ones get nowhere.
class Gate : public http::Transport {
 public:
  Gate(loop::EventLoop& loop, const client::ClientConfig& config) : loop_(loop) {
    auto made = client::make_transport(loop, config);
    REQUIRE(made.ok());
    inner_ = std::move(made).value();
  }

  std::unique_ptr<http::Call> start(http::Request request, http::CallHandlers handlers) override {
    auto call = std::make_unique<GatedCall>(*this, std::move(handlers));
    if (shut_) {
      call->later = loop_.after(Duration{0}, [at = call.get()] { at->cut(); });
      return call;
    }
    auto through = call->handlers;
    call->inner = inner_->start(std::move(request), std::move(through));
    return call;
  }
  Result<void> set_tls(http::TlsOptions tls) override { return inner_->set_tls(std::move(tls)); }

  void shut() {
    shut_ = true;
    const std::set<GatedCall*> open = calls_;
    for (GatedCall* call : open) {
      if (calls_.contains(call)) call->cut();
    }
  }
  void open() { shut_ = false; }

 private:
  struct GatedCall : http::Call {
    GatedCall(Gate& the_gate, http::CallHandlers the_handlers)
        : gate(the_gate), handlers(std::move(the_handlers)) {
      gate.calls_.insert(this);
    }
    ~GatedCall() override { gate.calls_.erase(this); }
    void cut() {
      gate.calls_.erase(this);
      inner.reset();
      const auto done = handlers.on_done;
      done(Error(ErrorKind::unreachable, "the gate is shut"));  // may destroy it
    }

    Gate& gate;
    http::CallHandlers handlers;
    std::unique_ptr<http::Call> inner;
    loop::Timer later;
  };

  loop::EventLoop& loop_;
  std::unique_ptr<http::Transport> inner_;
  std::set<GatedCall*> calls_;
  bool shut_ = false;
};

// One cache behind a connection of its own.
class Cache {
 public:
  Cache(World& world, std::shared_ptr<client::Rewinds> rewinds, const std::string& kind)
      : gate(world.loop(), world.server().config()),
        client_(world.loop(), gate, world.server().config(), std::move(rewinds)),
        random_(7) {
    runtime::WatcherOptions options;
    options.backoff = base::BackoffPolicy{Duration{100}, Duration{500}, 2.0, 0.5};
    runtime::ReflectorCallbacks callbacks;
    callbacks.on_change = [this](const runtime::StoreChange& change) {
      if (change.type == runtime::ChangeType::deleted) deleted.insert(change.meta.name);
    };
    reflector_ = std::make_unique<runtime::Reflector>(client_, world.type(kind), world.ns(),
                                                      options, runtime::StoreOptions{}, random_,
                                                      std::move(callbacks));
    reflector_->start();
  }

  // name -> data.v, of the objects that cases write.
  std::map<std::string, std::string> content() const {
    std::map<std::string, std::string> out;
    for (const auto& key : reflector_->store().keys()) {
      const auto object = reflector_->store().get(key);
      const Json json = Json::parse(object ? object->json : "{}");
      if (json.value("/data/v"_json_pointer, Json()).is_string()) {
        out[key.name] = json["data"]["v"];
      }
    }
    return out;
  }

  Gate gate;
  std::set<std::string> deleted;

 private:
  client::Client client_;
  base::Random random_;
  std::unique_ptr<runtime::Reflector> reflector_;
};

std::string object(const std::string& kind, const std::string& name, const std::string& value) {
  return "{apiVersion: v1, kind: " + kind + ", metadata: {name: " + name +
         ", namespace: '@NS@'}, data: {v: '" + value + "'}}";
}

// Changes of one object, some at a time: of many at once each makes the server try all others
// again.
void churn(World& w, const std::string& kind, const std::string& name) {
  std::vector<client::PendingPtr> pending;
  int done = 0;
  const auto all_but = [&](int most) {
    return w.eventually([&] { return static_cast<int>(pending.size()) - done <= most; });
  };
  for (int i = 0; i < kWrites; ++i) {
    Json body;
    body["metadata"]["annotations"]["churn"] =
        fmt::format("{}-{}", i, w.loop().now().time_since_epoch().count());
    pending.push_back(w.client().patch(w.type(kind), {w.ns(), name}, body, {},
                                       [&](Result<client::ApplyResult> result) {
                                         INFO((result.ok() ? "" : result.error().render()));
                                         REQUIRE(result.ok());
                                         ++done;
                                       }));
    REQUIRE(all_but(kAtOnce));
  }
  REQUIRE(all_but(0));
}

}  // namespace

E2E_CASE("a restored server: who asks first sees it, and who asks too late to see it is told") {
  World w;
  const auto rewinds = std::make_shared<client::Rewinds>(w.loop());
  w.apply(object("ConfigMap", "a", "1"));
  w.apply(object("Secret", "s", "MQ=="));
  w.server().back_up();
  Cache first(w, rewinds, "ConfigMap");
  Cache late(w, rewinds, "Secret");
  w.apply(object("ConfigMap", "a", "2"));
  w.apply(object("ConfigMap", "b", "1"));
  churn(w, "ConfigMap", "b");
  w.apply(object("Secret", "t", "Mg=="));
  const std::uint64_t last = version_of(w.merge("ConfigMap", "b", "{data: {v: '2'}}"));
  const std::map<std::string, std::string> before = {{"a", "2"}, {"b", "2"}};
  const std::map<std::string, std::string> secrets_before = {{"s", "MQ=="}, {"t", "Mg=="}};
  REQUIRE(
      w.eventually([&] { return first.content() == before && late.content() == secrets_before; }));

  first.gate.shut();
  late.gate.shut();
  w.server().restore();
  first.gate.open();
  const std::map<std::string, std::string> after = {{"a", "1"}};
  CHECK(w.eventually([&] { return first.content() == after; }));
  CHECK(first.deleted.contains("b"));

  // The new history passes all that the other one knows before that one asks.
  for (int round = 0;
       round < 4 && version_of(w.merge("ConfigMap", "a",
                                       "{data: {w: '" + std::to_string(round) + "'}}")) <= last;
       ++round) {
    churn(w, "ConfigMap", "a");
  }
  w.apply(object("ConfigMap", "c", "1"));
  w.apply(object("Secret", "u", "Mw=="));
  late.gate.open();
  const std::map<std::string, std::string> secrets_after = {{"s", "MQ=="}, {"u", "Mw=="}};
  CHECK(w.eventually([&] { return late.content() == secrets_after; }));
  CHECK(late.deleted.contains("t"));
  // And both go on.
  w.apply(object("Secret", "v", "NA=="));
  CHECK(
      w.eventually([&] { return first.content().contains("c") && late.content().contains("v"); }));
}

E2E_CASE("a restored server: the controller makes again what the backup does not have") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule("  changed: [.spec.title]\n" + std::string(kOwnsConfigMaps) + kReconcile));
  w.script("reconcile.sh", kPrintConfigMap);
  w.apply(website("a", "one"));
  w.server().back_up();
  w.start();
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "a-page").has_value(); }));
  w.apply(website("gone", "one"));
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "gone-page").has_value(); }));
  churn(w, "Website", "a");
  w.settle();

  w.server().restore();
  CHECK(w.eventually([&] { return w.get("ConfigMap", "a-page").has_value(); }, Duration{120000}));
  w.settle();
  CHECK_FALSE(w.get("Website", "gone"));
  CHECK_FALSE(w.get("ConfigMap", "gone-page"));
  // It knows that the name is free, and that nothing of what it wrote is there.
  w.apply(website("gone", "two"));
  REQUIRE(w.eventually([&] {
    const auto page = w.get("ConfigMap", "gone-page");
    return page && (*page)["data"]["title"] == "two";
  }));
}
