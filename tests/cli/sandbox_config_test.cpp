// How files are loaded into a sandbox.
#include "cli/sandbox_config.hpp"

#include <functional>

#include "apiserver/object.hpp"
#include "apiserver/service_ips.hpp"
#include "support/catch.hpp"

namespace kubewatch::cli {

TEST_CASE("a Service that names no address takes none that a later one names") {
  loop::EventLoop loop;
  apiserver::SandboxOptions options;
  options.insecure_http = true;
  auto server = apiserver::Sandbox::start(loop, options);
  REQUIRE(server.ok());
  // The address that the first one is given where it may choose.
  const std::size_t seed = std::hash<std::string>()(apiserver::object_key("default", "first"));
  const auto is_taken = [](const std::string&) { return false; };
  const auto chosen = apiserver::next_cluster_ip(is_taken, seed);
  REQUIRE(chosen);
  const auto service = [](const char* name) {
    return Json{{"apiVersion", "v1"},
                {"kind", "Service"},
                {"metadata", {{"name", name}, {"namespace", "default"}}},
                {"spec", {{"ports", {{{"port", 80}}}}}}};
  };
  Json second = service("second");
  second["spec"]["clusterIP"] = *chosen;
  const auto loaded = load_into(**server, {{service("first"), "a.yaml"}, {second, "a.yaml"}});
  if (!loaded.ok()) FAIL(loaded.error().render());
}

}  // namespace kubewatch::cli
