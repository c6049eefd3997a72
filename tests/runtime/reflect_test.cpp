// Typed doors: what an Api names kept up to date, and read back as C++ types.
#include "runtime/reflect.hpp"

#include "api_rig.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;

namespace {

struct Title {
  std::string title;
};
[[maybe_unused]] void to_json(Json& out, const Title& spec) {
  out = {{"title", spec.title}};
}
void from_json(const Json& in, Title& spec) {
  in.at("title").get_to(spec.title);
}

struct Website : client::Object<Title> {
  static constexpr const char* kGroup = "demo.example.com";
  static constexpr const char* kVersion = "v1";
  static constexpr const char* kKind = "Website";
  static constexpr const char* kPlural = "websites";
  static constexpr client::Scope kScope = client::Scope::namespaced;
};

}  // namespace

TEST_CASE("a reflector of a typed Api keeps its objects, which are read back as the type") {
  test::ApiRig rig;
  const auto api = client::Api<Website>::namespaced(rig.client, "shop");
  bool synced = false;
  ReflectorCallbacks callbacks;
  callbacks.on_synced = [&](bool) { synced = true; };
  WatcherOptions options;
  options.strategy = ListStrategy::unpaged;
  const auto reflector = reflect(api, options, {}, rig.random, std::move(callbacks));
  reflector->start();
  CHECK(rig.call(0).path() == "/apis/demo.example.com/v1/namespaces/shop/websites");
  rig.answer(0, 200,
             R"({"kind":"WebsiteList","apiVersion":"demo.example.com/v1",
    "metadata":{"resourceVersion":"5"},"items":[
    {"metadata":{"name":"a","namespace":"shop","uid":"u","resourceVersion":"4"},
     "spec":{"title":"Hi"}},
    {"metadata":{"name":"b","namespace":"shop","uid":"v","resourceVersion":"3"},
     "spec":{"title":7}},
    {"metadata":{"name":"deep","namespace":"shop","uid":"w","resourceVersion":"2"},
     "spec":{"title":"Hi","more":)" +
                 std::string(300, '[') + std::string(300, ']') + "}}]}");
  REQUIRE(rig.until([&] { return synced; }));
  const auto read = [&](const char* name) {
    return runtime::read_as<Website>(*reflector, {"shop", name});
  };
  REQUIRE(read("a").ok());
  CHECK((*read("a"))->spec.title == "Hi");
  CHECK((*read("a"))->api_version == "demo.example.com/v1");
  CHECK_FALSE(read("absent")->has_value());
  CHECK(read("b").error().kind() == ErrorKind::invalid);
  // Of it only the metadata is kept: it is not one without a spec.
  REQUIRE_FALSE(read("deep").ok());
  CHECK(read("deep").error().kind() == ErrorKind::too_large);
  CHECK(read("deep").error().render().find("of websites.demo.example.com shop/deep only") !=
        std::string::npos);
}
