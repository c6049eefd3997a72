// The C++ controller of lib/runtime/README.md: it compiles, it runs, and the page shows exactly
// this.
#include "base/strings.hpp"
#include "runtime/controller.hpp"
#include "runtime/reflector.hpp"
#include "support/catch.hpp"
#include "support/scripted_transport.hpp"

using namespace kubewatch;

// [example]
// Runs once for each ConfigMap at start, and again whenever one changes.
class Greeter : public runtime::Reconciler {
 public:
  Greeter(loop::EventLoop& loop, client::Client& client, base::Random& random)
      : controller_(loop, *this, random, slots_, {}),
        reflector_(client, config_maps(), /*namespace_=*/"", {}, {}, random, callbacks()) {}

  void start() { reflector_.start(); }
  std::vector<std::string> greeted;

  void reconcile(const runtime::Work& work,
                 std::function<void(runtime::RunOutcome)> done) override {
    // The newest state, not that of the event: many changes may have become one run.
    const auto object = reflector_.store().get(work.key);
    if (object) greeted.push_back("hello " + object->meta.name);
    done(runtime::RunOutcome::done());  // or requeue, not_yet, failed: with backoff per object
  }

 private:
  static core::ResourceType config_maps() {  // client::Discovery finds it by any name
    core::ResourceType type;
    type.gvk = {"", "v1", "ConfigMap"};
    type.plural = "configmaps";
    return type;
  }
  runtime::ReflectorCallbacks callbacks() {
    runtime::ReflectorCallbacks out;
    out.on_change = [this](const runtime::StoreChange& change) { on_change(change); };
    out.on_synced = [this](bool) { controller_.release(); };
    return out;
  }
  void on_change(const runtime::StoreChange& change) {
    using runtime::ChangeType, runtime::Reason, runtime::Priority;
    if (change.type == ChangeType::deleted) return controller_.forget(change.meta.key());
    controller_.add(change.meta.key(), change.initial ? Reason::startup : Reason::updated, "",
                    Duration{0}, change.initial ? Priority::background : Priority::live);
  }

  runtime::RunSlots slots_{0};
  runtime::Controller controller_;
  runtime::Reflector reflector_;
};
// [example]

TEST_CASE("the controller of the README runs for what is there and for what changes") {
  loop::EventLoop loop;
  test::ScriptedTransport transport;
  client::ClientConfig config;
  config.server = "http://server.test";
  client::Client client(loop, transport, config);
  base::Random random(1);
  Greeter greeter(loop, client, random);
  greeter.start();
  transport.call(0).head(200);
  transport.call(0).data(
      R"({"metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a"}}]})");
  transport.call(0).end();
  transport.call(1).head(200);
  REQUIRE(loop.run_until([&] { return greeter.greeted.size() == 1; }, Duration{5000}));
  transport.call(1).data(
      R"({"type":"ADDED","object":{"metadata":{"name":"b","resourceVersion":"6"}}})");
  REQUIRE(loop.run_until([&] { return greeter.greeted.size() == 2; }, Duration{5000}));
  CHECK(greeter.greeted == std::vector<std::string>{"hello a", "hello b"});
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
