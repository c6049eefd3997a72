#include "client/request_observer.hpp"

#include "base/json.hpp"
#include "base/log.hpp"
#include "rig.hpp"

using namespace kubewatch;
using namespace kubewatch::client;
using namespace kubewatch::test;

namespace {

struct Seen : RequestObserver {
  void on_request(const RequestFacts& request) override {
    lines.push_back(std::string(request.verb()) + " " + std::string(request.method) + " " +
                    std::to_string(request.status));
  }
  base::LogFields log_fields() const override { return fields; }
  std::vector<std::string> lines;
  base::LogFields fields;
};

const char* const kPod = R"({"kind":"Pod","metadata":{"name":"web","namespace":"shop"}})";

}  // namespace

TEST_CASE("an observer of all is told of each answer with its verb and status") {
  Rig rig;
  Seen all;
  rig.client.observers().all = &all;
  rig.transport.answer(200, kPod);
  rig.transport.answer(404, "{}");
  const auto get = rig.client.get(kPods, {"shop", "web"}, [](const Result<Json>&) {});
  const auto remove = rig.client.remove(kPods, {"shop", "web"}, {}, [](const Result<Json>&) {});
  rig.run();
  CHECK(all.lines == std::vector<std::string>{"get GET 200", "delete DELETE 404"});
  rig.client.observers().all = nullptr;
}

TEST_CASE("the lines of requests say whose they are, and are filtered by it") {
  std::vector<std::string> lines;
  base::LogOptions options;
  options.format = base::LogFormat::json;
  options.filter = *base::LogFilter::parse("warn,controller/web=6");
  base::configure_log(options);
  base::capture_log(&lines);
  {
    Rig rig;
    const auto run = std::make_shared<Seen>();
    run->fields = {{"controller", "web"}, {"run", "r1"}};
    rig.transport.answer(200, kPod);
    rig.transport.answer(200,
                         R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[]})");
    rig.transport.fail(Error(ErrorKind::unreachable, "nobody there"));
    rig.transport.answer(200, kPod);
    const auto ignore = [](const auto&) {};
    PendingPtr get, list, remove;
    {
      const RequestScope scope(rig.client.observers(), run);
      get = rig.client.get(kPods, {"shop", "web"}, ignore);
      list = rig.client.list(kPods, "shop", {}, ignore);
      remove = rig.client.remove(kPods, {"shop", "web"}, {}, ignore);
    }
    const auto other = rig.client.get(kPods, {"shop", "other"}, ignore);
    rig.run();
  }
  base::capture_log(nullptr);
  base::configure_log({});
  REQUIRE(lines.size() == 3);
  for (const std::string& line : lines) {
    const Json told = Json::parse(line);
    CHECK(told["msg"] == "request");
    CHECK(told.value("controller", "") == "web");
    CHECK(told.value("run", "") == "r1");
  }
}

TEST_CASE("what follows from a request's answer belongs to the scope that it started in") {
  Rig rig;
  const auto run = std::make_shared<Seen>();
  rig.transport.answer(200, kPod);
  rig.transport.answer(200, kPod);
  rig.transport.answer(200, kPod);
  PendingPtr second;
  PendingPtr first;
  {
    const RequestScope scope(rig.client.observers(), run);
    first = rig.client.get(kPods, {"shop", "web"}, [&](const Result<Json>&) {
      second = rig.client.remove(kPods, {"shop", "web"}, {}, [](const Result<Json>&) {});
    });
  }
  const auto other = rig.client.get(kPods, {"shop", "other"}, [](const Result<Json>&) {});
  rig.run();
  CHECK(run->lines == std::vector<std::string>{"get GET 200", "delete DELETE 200"});
  CHECK(rig.client.observers().current == nullptr);
}
