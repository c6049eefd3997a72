#include "builtin/warnings.hpp"
#include "support/catch.hpp"

namespace kubewatch::builtin {

namespace {

using Warnings = std::vector<std::string>;

Warnings of_volume(const char* volume) {
  Json object = Json::parse(R"({"metadata":{"name":"p"},"spec":{"volumes":[{"name":"v"}]}})");
  object["spec"]["volumes"][0].merge_patch(Json::parse(volume));
  return warnings_of("pods", nullptr, object);
}

std::string overlap(const std::string& of, const std::string& one, const std::string& other) {
  return "volume \"v\" (" + of + "): overlapping paths: " + one + " with " + other;
}

}  // namespace

TEST_CASE("files of a volume that lie in each other's way are warned of") {
  CHECK(of_volume(R"({"configMap":{"name":"m","items":[{"path":"a/b"},{"path":"a/"},{"path":"ab"},
      {"path":""},{"path":"a/b/c"},{"path":"a"}]}})") ==
        Warnings{overlap("ConfigMap \"m\"", "\"a\"", "\"a/b\""),
                 overlap("ConfigMap \"m\"", "\"a/b/c\"", "\"a/b\""),
                 overlap("ConfigMap \"m\"", "\"a/b/c\"", "\"a\""),
                 overlap("ConfigMap \"m\"", "\"a\"", "\"a/b\""),
                 overlap("ConfigMap \"m\"", "\"a\"", "\"a\""),
                 overlap("ConfigMap \"m\"", "\"a\"", "\"a/b/c\"")});
  CHECK(of_volume(R"({"secret":{"secretName":"s","items":[{"path":"a"},{"path":"a"}]}})") ==
        Warnings{overlap("Secret \"s\"", "\"a\"", "\"a\"")});
  CHECK(of_volume(R"({"downwardAPI":{"items":[{"path":"a"},{"path":"a/b"}]}})") ==
        Warnings{overlap("DownwardAPI", "\"a/b\"", "\"a\"")});
}

TEST_CASE(
    "sources of a projected volume share its paths, and one without any source is warned of") {
  CHECK(of_volume(R"({"projected":{"sources":[{"configMap":{"name":"m","items":[{"path":"a"}]}},
      {"secret":{"name":"s","items":[{"path":"a/b"}]}},{},
      {"downwardAPI":{"items":[{"path":"c"}]}},{"serviceAccountToken":{"path":"c"}}]}})") ==
        Warnings{overlap("Projected", "\"a/b\" (Secret \"s\")", "\"a\" (ConfigMap \"m\")"),
                 "volume \"v\" (Projected) has no sources provided",
                 overlap("Projected", "\"c\" (ServiceAccountToken)", "\"c\" (DownwardAPI)")});
}

TEST_CASE("a volume plugin is warned of by its name in the server") {
  CHECK(of_volume(R"({"storageos":{"volumeName":"v1"}})") ==
        Warnings{"spec.volumes[0].storageOS: deprecated in v1.22, non-functional in v1.25+"});
}

TEST_CASE("of many files that are in each other's way some are told") {
  Json volume = Json::parse(R"({"name":"v","configMap":{"name":"m"}})");
  Json& items = volume["configMap"]["items"];
  for (int i = 0; i < 5000; ++i) items.push_back({{"path", "a"}});
  Warnings warnings;
  warn_of_volumes("spec", {{"volumes", Json::array({volume})}}, warnings);
  CHECK(warnings.size() > 4096);
  CHECK(warnings.size() < 10000);
}

TEST_CASE("IPv6 addresses that have another form are warned of") {
  const auto form = [](const std::string& path, const std::string& kind, const std::string& given,
                       const std::string& canonical) {
    return path + ": IPv6 " + kind + " \"" + given +
           "\" should be in RFC 5952 canonical format (\"" + canonical + "\")";
  };
  const auto warned = [](const char* kind, const char* object) {
    return warnings_of(kind, nullptr, Json::parse(object));
  };
  CHECK(warned("pods", R"({"spec":{"dnsConfig":{"nameservers":["::1.2.3.4","1.2.3.4","fd00::1"]},
      "hostAliases":[{"ip":"FD00::0001"}]}})") ==
        Warnings{form("spec.dnsConfig.nameservers[0]", "address", "::1.2.3.4", "::102:304"),
                 form("spec.hostAliases[0].ip", "address", "FD00::0001", "fd00::1")});
  CHECK(warned("services", R"({"spec":{"type":"LoadBalancer","clusterIP":"FD00::1",
      "clusterIPs":["FD00::1"],"loadBalancerIP":"FD00::2",
      "loadBalancerSourceRanges":["FD00::/8","10.0.0.0/8"]}})") ==
        Warnings{form("spec.clusterIPs[0]", "address", "FD00::1", "fd00::1"),
                 form("spec.loadBalancerIP", "address", "FD00::2", "fd00::2"),
                 form("spec.loadBalancerSourceRanges[0]", "CIDR value", "FD00::/8", "fd00::/8")});
  CHECK(warned("services", R"({"spec":{"type":"ExternalName","externalIPs":["FD00::1"]}})")[0] ==
        form("spec.externalIPs[0]", "address", "FD00::1", "fd00::1"));
  CHECK(warned("networkpolicies.networking.k8s.io",
               R"({"spec":{"ingress":[{"from":[{},{"ipBlock":{"cidr":"FD00::/8",
      "except":["FD01::/16"]}}]}],"egress":[{"to":[{"ipBlock":{"cidr":"10.0.0.0/8"}}]}]}})") ==
        Warnings{form("spec.ingress[0].from[1].ipBlock.cidr", "CIDR value", "FD00::/8", "fd00::/8"),
                 form("spec.ingress[0].from[1].ipBlock.except[0]", "CIDR value", "FD01::/16",
                      "fd01::/16")});
  CHECK(warned("nodes", R"({"spec":{"podCIDRs":["FD00::/8"]}})") ==
        Warnings{form("spec.podCIDRs[0]", "CIDR value", "FD00::/8", "fd00::/8")});
  const Json endpoints = Json::parse(R"({"metadata":{"labels":{}},"subsets":[
      {"addresses":[{"ip":"10.0.0.1"}],"notReadyAddresses":[{"ip":"FD00::2"}]}]})");
  CHECK(warnings_of("endpoints", nullptr, endpoints) ==
        Warnings{form("subsets[0].notReadyAddresses[0].ip", "address", "FD00::2", "fd00::2")});
  Json controlled = endpoints;
  controlled["metadata"]["labels"]["endpoints.kubernetes.io/managed-by"] = "endpoint-controller";
  CHECK(warnings_of("endpoints", nullptr, controlled).empty());
}

}  // namespace kubewatch::builtin
