// Many objects read by one list before they are applied: who is known then and who is not, and that
// nothing is told or written on the ground of a state that is over.
#include <algorithm>
#include <sstream>

#include "base/json.hpp"
#include "cli/apply/apply_report.hpp"
#include "cli/apply/listed_states.hpp"
#include "cli/apply/object_apply.hpp"
#include "runtime/api_rig.hpp"

namespace kubewatch::cli {
namespace {

const core::ResourceType kMaps = test::resource("", "v1", "ConfigMap", "configmaps");
constexpr const char* kList = "/api/v1/namespaces/shop/configmaps";

std::string item(const std::string& name, const std::string& version, const std::string& color) {
  return R"({"metadata":{"name":")" + name + R"(","namespace":"shop","resourceVersion":")" +
         version + R"("},"data":{"color":")" + color + R"("}})";
}

std::string list_of(const std::vector<std::string>& items, const std::string& next = "") {
  std::string out =
      R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":")" +
      next + R"("},"items":[)";
  for (std::size_t i = 0; i < items.size(); ++i) out += (i > 0 ? "," : "") + items[i];
  return out + "]}";
}

std::string name_of(int i) {
  return "c" + std::to_string(i);
}

struct Listed : test::ApiRig {
  Listed() : states(client, 2) {}
  void expect(int count) {
    for (int i = 0; i < count; ++i) states.expect(kMaps, {"shop", name_of(i)});
  }
  void read() {
    states.read([this] { done = true; });
  }
  std::optional<std::string> take(const std::string& name) {
    return states.take(kMaps, {"shop", name});
  }

  ListedStates states;
  bool done = false;
};

}  // namespace

TEST_CASE("a list tells the objects of a call that are there, and that the others are not") {
  Listed rig;
  rig.expect(10);
  rig.read();
  CHECK(rig.call(0).target() == std::string(kList) + "?limit=30");
  rig.answer(0, 200, list_of({item("c1", "5", "red"), item("stranger", "6", "red")}));
  CHECK(rig.done);
  CHECK(rig.take("c1") == item("c1", "5", "red"));
  CHECK(rig.take("c2") == "");
  CHECK_FALSE(rig.take("stranger"));
  CHECK_FALSE(rig.states.take(kMaps, {"other", "c3"}));
  CHECK(rig.transport.size() == 1);
}

TEST_CASE("a list of the next pages, as far as it is worth it") {
  Listed rig;
  rig.expect(10);
  rig.read();
  std::vector<std::string> page(20, item("stranger", "6", "red"));
  page[3] = item("c1", "5", "red");
  rig.answer(0, 200, list_of(page, "more"));
  CHECK(rig.call(1).target() == std::string(kList) + "?continue=more&limit=10");
  CHECK_FALSE(rig.done);
  rig.answer(1, 200, list_of(std::vector<std::string>(10, item("s", "6", "red")), "still"));
  CHECK(rig.done);
  CHECK(rig.take("c1") == item("c1", "5", "red"));
  // It may stand behind what was not read.
  CHECK_FALSE(rig.take("c2"));
  CHECK(rig.transport.size() == 2);
}

TEST_CASE("a list whose pages bring nothing is left") {
  Listed rig;
  rig.expect(10);
  rig.read();
  rig.answer(0, 200, list_of({}, "on"));
  CHECK(rig.done);
  CHECK(rig.transport.size() == 1);
  CHECK_FALSE(rig.take("c1"));
}

TEST_CASE("no more lists at once than were allowed") {
  Listed rig;
  for (const char* place : {"a", "b", "c"}) {
    for (int i = 0; i < 8; ++i) rig.states.expect(kMaps, {place, name_of(i)});
  }
  rig.read();
  rig.turn();
  CHECK(rig.transport.size() == 2);
  rig.answer(0, 200, list_of({}));
  rig.answer(1, 200, list_of({}));
  rig.answer(2, 200, list_of({}));
  CHECK(rig.done);
}

TEST_CASE("a list that is larger than asked for is cut off") {
  Listed rig;
  rig.expect(10);
  rig.read();
  auto& call = rig.call(0);
  call.head(200);
  const std::string whole =
      list_of(std::vector<std::string>(1000, item("s", "6", "red")));  // no limit for this server
  call.data(whole.substr(0, whole.size() - 200));
  REQUIRE(rig.until([&] { return rig.done; }));
  CHECK(call.canceled());
  CHECK_FALSE(rig.take("c2"));
}

TEST_CASE("without a list the objects are not known, and few are not listed") {
  Listed refused;
  refused.expect(10);
  refused.read();
  refused.answer(0, 403, test::status_text(403, "Forbidden", "no"));
  CHECK(refused.done);
  CHECK_FALSE(refused.take("c1"));

  Listed few;
  few.expect(7);
  few.read();
  CHECK(few.done);
  CHECK(few.transport.size() == 0);
  CHECK_FALSE(few.take("c1"));
}

namespace {

// One object that a list told, on its way to the server.
struct Applying : test::ApiRig {
  explicit Applying(const std::string& listed)
      : apply(client, options, secrets, manifest, kMaps, {"shop", "a"}) {
    apply.know(listed);
    apply.start([this] { done = true; });
    CHECK_FALSE(done);
  }
  std::string sent(std::size_t index) { return call(index).request().body; }

  ApplyOptions options;
  hooks::SecretHash secrets = hooks::SecretHash::make();
  Manifest manifest{Json::parse(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a",)"
                                R"("namespace":"shop"},"data":{"color":"red"}})"),
                    {}};
  ObjectApply apply;
  bool done = false;
};

}  // namespace

TEST_CASE("what was listed is written as it was listed, and not asked for") {
  Applying rig(item("a", "5", "blue"));
  CHECK(rig.call(0).line().substr(0, 5) == "PATCH");
  CHECK(rig.sent(0).find(R"("resourceVersion":"5")") != std::string::npos);
  // Items of a list do not say what they are, single objects do.
  rig.answer(0, 200, R"({"apiVersion":"v1","kind":"ConfigMap",)" + item("a", "6", "red").substr(1));
  REQUIRE(rig.done);
  CHECK(rig.apply.outcome().what == ApplyOutcome::What::configured);
  CHECK(rig.apply.outcome().changed == std::vector<std::string>{".data.color"});
  CHECK(rig.transport.size() == 1);
}

TEST_CASE("what changed since the list is read again, and its change is not told as ours") {
  Applying rig(item("a", "5", "blue"));
  rig.answer(0, 409, test::status_text(409, "Conflict", "the object has been modified"));
  CHECK(rig.call(1).line() == "GET /api/v1/namespaces/shop/configmaps/a");
  rig.answer(1, 200, item("a", "7", "red"));
  CHECK(rig.call(2).line().substr(0, 5) == "PATCH");
  CHECK(rig.sent(2).find("resourceVersion") == std::string::npos);
  rig.answer(2, 200, item("a", "7", "red"));
  REQUIRE(rig.done);
  CHECK(rig.apply.outcome().what == ApplyOutcome::What::unchanged);
}

TEST_CASE("what was made since the list is not told as created by us") {
  Applying rig("");
  CHECK(rig.sent(0).find("resourceVersion") == std::string::npos);
  rig.answer(0, 200, item("a", "7", "red"));
  REQUIRE(rig.done);
  CHECK(rig.apply.outcome().what == ApplyOutcome::What::configured);
  CHECK(rig.apply.outcome().changed.empty());
  CHECK(rig.apply.outcome().made_meanwhile);

  Applying created("");
  created.answer(0, 201, item("a", "7", "red"));
  REQUIRE(created.done);
  CHECK(created.apply.outcome().what == ApplyOutcome::What::created);
  CHECK_FALSE(created.apply.outcome().made_meanwhile);
}

TEST_CASE("of what was made meanwhile no report claims that only its ownership changed") {
  Applying rig("");
  rig.answer(0, 200, item("a", "7", "red"));
  REQUIRE(rig.done);
  const auto told = [&](const std::string& output, std::string& err_text) {
    std::ostringstream out;
    std::ostringstream err;
    GlobalOptions global;
    Context context{global, out, err};
    ReportStyle style;
    style.output = output;
    ApplyReport report(context, style, rig.secrets);
    report.add(rig.apply, {});
    err_text = err.str();
    return out.str();
  };
  std::string err;
  CHECK(told("text", err) ==
        "configmap/a configured: it was made meanwhile; what this changed is not known\n");
  CHECK(err.empty());
  const Json line = Json::parse(told("json", err));
  CHECK(line["result"] == "configured");
  CHECK(line["changed"].empty());
  CHECK(line["madeMeanwhile"] == true);
  CHECK(told("name", err) == "configmap/a\n");
  CHECK(err == "warning: configmap/a: it was made meanwhile; what this changed is not known\n");
}

TEST_CASE("a dry run looks again at what was made meanwhile, and tells what would change of it") {
  Applying rig("");
  rig.options.dry_run = true;
  rig.answer(0, 200, item("a", "7", "red"));
  CHECK(rig.call(1).line() == "GET /api/v1/namespaces/shop/configmaps/a");
  rig.answer(1, 200, item("a", "7", "blue"));
  rig.answer(2, 200, item("a", "7", "red"));
  REQUIRE(rig.done);
  CHECK(rig.apply.outcome().what == ApplyOutcome::What::configured);
  CHECK(rig.apply.outcome().changed == std::vector<std::string>{".data.color"});
  CHECK_FALSE(rig.apply.outcome().made_meanwhile);
}

TEST_CASE("what is sent again after a while is read again") {
  Applying rig(item("a", "5", "red"));
  auto& busy = rig.call(0);
  http::Headers later;
  later.add("Retry-After", "0");
  busy.head(429, later);
  busy.data(test::status_text(429, "TooManyRequests", "later"));
  busy.end();
  CHECK(rig.call(1).line() == "GET /api/v1/namespaces/shop/configmaps/a");
  rig.answer(1, 200, item("a", "7", "red"));
  CHECK(rig.sent(2).find("resourceVersion") == std::string::npos);
  rig.answer(2, 200, item("a", "7", "red"));
  REQUIRE(rig.done);
  CHECK(rig.apply.outcome().what == ApplyOutcome::What::unchanged);
}

TEST_CASE("what was deleted since the list, before its ownership is handed over, is made anew") {
  Applying rig(
      R"({"metadata":{"name":"a","namespace":"shop","resourceVersion":"5","managedFields":[)"
      R"({"manager":"kubectl-client-side-apply","operation":"Update","apiVersion":"v1",)"
      R"("fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:color":{}}}}]},"data":{"color":"red"}})");
  CHECK(rig.call(0).request().headers.get("Content-Type") == "application/json-patch+json");
  rig.answer(0, 404, test::status_text(404, "NotFound", "gone"));
  CHECK(rig.call(1).line() == "GET /api/v1/namespaces/shop/configmaps/a");
  rig.answer(1, 404, test::status_text(404, "NotFound", "gone"));
  rig.answer(2, 201, item("a", "9", "red"));
  REQUIRE(rig.done);
  CHECK(rig.apply.outcome().what == ApplyOutcome::What::created);
}

namespace {

// One object that needs what was written a moment before, on a clock that jumps.
struct Early {
  explicit Early(Duration seen_within)
      : client(loop, transport, test::ApiRig::config()),
        apply(client, options, secrets, manifest, kMaps, {"shop", "a"}) {
    apply.retry_refusals_until(loop.now() + seen_within);
    apply.start([this] { done = true; });
    loop.run_until([this] { return transport.size() > 0; }, Duration{1000});
    answer(404, test::status_text(404, "NotFound", "not there"));
  }
  void answer(int code, const std::string& body) {
    const std::size_t before = transport.size();
    auto& call = transport.call(before - 1);
    call.head(code);
    call.data(body);
    call.end();
    loop.run_until([&] { return done || transport.size() > before; }, Duration{10'000});
  }
  void refuse(int code) { answer(code, test::status_text(code, "Refused", "no")); }

  loop::EventLoop loop{loop::VirtualClock{}};
  test::ScriptedTransport transport;
  client::Client client;
  ApplyOptions options;
  hooks::SecretHash secrets = hooks::SecretHash::make();
  Manifest manifest{
      Json::parse(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})"), {}};
  ObjectApply apply;
  bool done = false;
};

}  // namespace

TEST_CASE("a refusal for want of what was just written is sent again, for a while") {
  const int code = GENERATE(403, 404);
  Early early{Duration{2000}};
  early.refuse(code);
  early.refuse(code);
  CHECK_FALSE(early.done);
  early.answer(201, item("a", "7", "red"));
  REQUIRE(early.done);
  CHECK(early.apply.outcome().what == ApplyOutcome::What::created);

  Early never{Duration{2000}};
  for (int tries = 0; tries < 20 && !never.done; ++tries) never.refuse(code);
  REQUIRE(never.done);
  CHECK(never.apply.outcome().error->status()->code == code);

  // What is wrong with the object itself, and what had time enough.
  Early invalid{Duration{2000}};
  invalid.refuse(422);
  CHECK(invalid.done);
  Early late{Duration{0}};
  late.refuse(code);
  CHECK(late.done);
}

TEST_CASE("a refusal after a list is judged by a state of its own") {
  Applying rig(item("a", "5", "blue"));
  rig.answer(0, 422, test::status_text(422, "Invalid", "bad"));
  rig.answer(1, 404, test::status_text(404, "NotFound", "gone"));
  rig.answer(2, 422, test::status_text(422, "Invalid", "bad"));
  REQUIRE(rig.done);
  REQUIRE(rig.apply.outcome().error);
  CHECK(rig.apply.outcome().before.is_null());
  CHECK(rig.transport.size() == 3);
}

namespace {

void break_off(Applying& rig, std::size_t index) {
  rig.call(index).fail(Error(ErrorKind::unreachable, "the connection broke off"));
}

std::string owned_by(const std::string& manager) {
  return R"({"metadata":{"name":"a","namespace":"shop","resourceVersion":"6","managedFields":[)"
         R"({"manager":")" +
         manager +
         R"(","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1",)"
         R"("fieldsV1":{"f:data":{"f:color":{}}}}]},"data":{"color":"red"}})";
}

}  // namespace

TEST_CASE("a write whose answer is lost is sent again, and told by the state before it") {
  Applying rig(item("a", "5", "blue"));
  rig.apply.reconnect_when([] { return true; });
  break_off(rig, 0);
  CHECK(rig.call(1).line() == "GET /api/v1/namespaces/shop/configmaps/a");
  rig.answer(1, 200, item("a", "6", "red"));
  rig.answer(2, 200, R"({"apiVersion":"v1","kind":"ConfigMap",)" + item("a", "6", "red").substr(1));
  REQUIRE(rig.done);
  CHECK(rig.apply.outcome().what == ApplyOutcome::What::configured);
  CHECK(rig.apply.outcome().changed == std::vector<std::string>{".data.color"});
}

TEST_CASE(
    "what was created by a write whose answer is lost is told as created, if nobody else did") {
  for (const char* manager : {"kubewatch", "stranger"}) {
    Applying rig("");
    rig.apply.reconnect_when([] { return true; });
    break_off(rig, 0);
    rig.answer(1, 200, owned_by(manager));
    rig.answer(2, 200, owned_by(manager));
    REQUIRE(rig.done);
    const bool ours = std::string(manager) == "kubewatch";
    CHECK(rig.apply.outcome().what ==
          (ours ? ApplyOutcome::What::created : ApplyOutcome::What::configured));
    CHECK(rig.apply.outcome().made_meanwhile != ours);
  }
}

TEST_CASE("a server that has never answered is not waited for") {
  Applying rig(item("a", "5", "blue"));
  int answers = 0;
  (void)rig.call(0);  // what a list told counts as an answer: of that we do not hear here
  rig.apply.on_answer([&] { ++answers; });
  rig.apply.reconnect_when([&] { return answers > 0; });
  break_off(rig, 0);
  REQUIRE(rig.until([&] { return rig.done; }));
  CHECK(rig.apply.outcome().error->is_unreachable());
  CHECK(answers == 0);

  Applying later(item("a", "5", "blue"));
  (void)later.call(0);
  later.apply.on_answer([&] { ++answers; });
  later.apply.reconnect_when([&] { return answers > 0; });
  later.answer(0, 409, test::status_text(409, "Conflict", "the object has been modified"));
  CHECK(answers == 1);
  break_off(later, 1);
  later.answer(2, 404, test::status_text(404, "NotFound", "gone"));
  later.answer(3, 201, item("a", "9", "red"));
  REQUIRE(later.done);
  CHECK(later.apply.outcome().what == ApplyOutcome::What::created);
}

}  // namespace kubewatch::cli
