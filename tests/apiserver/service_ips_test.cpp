#include "apiserver/service_ips.hpp"

#include <set>
#include <string>
#include <vector>

#include "apiserver/support.hpp"
#include "builtin/defaults.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr std::uint64_t kSeed = 7;

Json service(const std::string& spec) {
  Json out = Json::parse(R"({"metadata":{"name":"s"},"spec":{)" + spec + "}}");
  builtin::apply_defaults("services", out);
  return out;
}

const std::string kPorts = R"("selector":{"a":"b"},"ports":[{"port":80}])";
const std::string kNodePort = R"("type":"NodePort",)" + kPorts;
const std::string kBalancer = R"("type":"LoadBalancer",)" + kPorts;

Json spec_of(const Json* live, const std::string& spec, const ServiceHoldings& others = {}) {
  Json made = service(spec);
  const auto done = allocate_service(live, made, others, kSeed);
  if (!done.ok()) FAIL(done.error().message());
  return made["spec"];
}
Json created(const std::string& spec, const ServiceHoldings& others = {}) {
  return spec_of(nullptr, spec, others);
}
Json updated(const Json& live_spec, const std::string& spec) {
  const Json live = {{"spec", live_spec}};
  return spec_of(&live, spec);
}

std::string refusal(const std::string& spec, const ServiceHoldings& others = {},
                    const Json* live = nullptr) {
  Json made = service(spec);
  const auto done = allocate_service(live, made, others, kSeed);
  return done.ok() ? "" : done.error().message();
}

std::string no_ip(const std::string& ip, const std::string& why) {
  return "Service \"s\" is invalid: spec.clusterIPs: Invalid value: [\"" + ip +
         "\"]: failed to allocate IP " + ip + ": " + why;
}

Json families(const Json& spec) {
  return {spec.value("ipFamilyPolicy", Json()), spec.value("ipFamilies", Json())};
}

const std::string kTaken = "provided IP is already allocated";
const std::string kRangeOfPorts =
    "provided port is not in the valid range. The range of valid ports is 30000-32767";

}  // namespace

TEST_CASE("addresses and ports are handed out from the upper part of their ranges first") {
  const auto ip = [](const std::set<std::string>& taken, std::uint64_t seed) {
    return next_cluster_ip([&](const std::string& one) { return taken.count(one) != 0; }, seed);
  };
  CHECK(ip({}, 0) == "10.96.1.1");
  CHECK(ip({"10.96.1.1"}, 0) == "10.96.1.2");
  CHECK(ip({}, 65277) == "10.96.255.254");
  CHECK(ip({"10.96.255.254"}, 65277) == "10.96.1.1");
  std::multiset<std::int64_t> ports;
  const auto port = [&](std::uint64_t seed) {
    return next_node_port([&](std::int64_t one) { return ports.count(one) != 0; }, seed);
  };
  CHECK(port(0) == 30086);
  for (std::int64_t one = 30086; one <= 32767; ++one) ports.insert(one);
  CHECK(port(5) == 30000);
  for (std::int64_t one = 30000; one < 30086; ++one) ports.insert(one);
  CHECK_FALSE(port(5));
  CHECK(refusal(kNodePort, {{}, ports}) ==
        "Internal error occurred: failed to allocate a nodePort: range is full");
}

TEST_CASE("which Services get an address") {
  const Json plain = created(kPorts);
  CHECK(plain["clusterIP"] == "10.96.1.8");
  CHECK(plain["clusterIPs"] == Json::array({"10.96.1.8"}));
  CHECK(families(plain) == Json::parse(R"(["SingleStack",["IPv4"]])"));
  CHECK(created(kPorts, {{"10.96.1.8"}, {}})["clusterIP"] == "10.96.1.9");
  CHECK(created(R"("clusterIP":"10.96.0.9",)" + kPorts)["clusterIPs"] ==
        Json::array({"10.96.0.9"}));
  const Json headless = created(R"("clusterIP":"None",)" + kPorts);
  CHECK(headless["clusterIPs"] == Json::array({"None"}));
  CHECK(families(headless) == Json::parse(R"(["SingleStack",["IPv4"]])"));
  const Json named = created(R"("type":"ExternalName","externalName":"a.b")");
  CHECK_FALSE(named.contains("clusterIP"));
  CHECK(families(named) == Json::parse("[null,null]"));
}

TEST_CASE("a headless Service without a selector may have any families") {
  const std::string none = R"("clusterIP":"None")";
  CHECK(families(created(none)) == Json::parse(R"(["RequireDualStack",["IPv4","IPv6"]])"));
  CHECK(families(created(none + R"(,"ipFamilies":["IPv6"])")) ==
        Json::parse(R"(["RequireDualStack",["IPv6","IPv4"]])"));
  CHECK(families(created(none + R"(,"ipFamilyPolicy":"SingleStack")")) ==
        Json::parse(R"(["SingleStack",["IPv4"]])"));
}

TEST_CASE("addresses that a Service does not get") {
  const auto asked = [](const std::string& ip) { return R"("clusterIP":")" + ip + "\"," + kPorts; };
  CHECK(refusal(asked("10.96.0.9"), {{"10.96.0.9"}, {}}) == no_ip("10.96.0.9", kTaken));

  for (const char* ip : {"10.9.0.7", "10.96.0.0", "10.96.255.255"}) {
    CHECK(refusal(asked(ip)) == no_ip(ip, "the provided network does not match the current range"));
  }
  CHECK(refusal(asked("fd00::1")) ==
        "Service \"s\" is invalid: spec.clusterIPs[0]: Invalid value: [\"fd00::1\"]: IPv6 is not "
        "configured on this cluster");
  CHECK(refusal(R"("ipFamilies":["IPv6"],)" + kPorts) ==
        "Service \"s\" is invalid: spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on "
        "this cluster");
  CHECK(refusal(R"("ipFamilyPolicy":"RequireDualStack",)" + kPorts) ==
        "Service \"s\" is invalid: spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this "
        "cluster is not configured for dual-stack services");
  CHECK(refusal(R"("clusterIP":"10.96.0.5","clusterIPs":["10.96.0.5","fd00::1"],)" + kPorts) ==
        "Service \"s\" is invalid: [spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be "
        "'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified, "
        "spec.clusterIPs[1]: Invalid value: [\"10.96.0.5\",\"fd00::1\"]: IPv6 is not configured on "
        "this cluster]");
}

TEST_CASE("addresses are judged before any is given, and a dry run gives none") {
  const std::string start = "Service \"s\" is invalid: ";
  CHECK(refusal(R"("clusterIP":"bad",)" + kPorts) ==
        start +
            "spec.clusterIPs[0]: Invalid value: \"bad\": must be a valid IP address, (e.g. "
            "10.9.8.7 or 2001:db8::ffff)");
  CHECK(refusal(R"("ipFamilies":["IPv9"],)" + kPorts) ==
        start +
            "spec.ipFamilies[0]: Unsupported value: \"IPv9\": supported values: \"IPv4\", "
            "\"IPv6\"");
  const auto dry = [](const std::string& spec, const ServiceHoldings& held) {
    Json made = service(spec);
    const auto done = allocate_service(nullptr, made, held, kSeed, true);
    return done.ok() ? "" : done.error().message();
  };
  CHECK(dry(R"("clusterIP":"10.96.0.9",)" + kPorts, {{"10.96.0.9"}, {}}).empty());
  for (const char* ip : {"10.9.0.9", "10.96.0.0"}) {
    CHECK(dry(R"("clusterIP":")" + std::string(ip) + "\"," + kPorts, {}) ==
          no_ip(ip, "the provided IP (" + std::string(ip) +
                        ") is not in the valid range. The range of valid IPs is 10.96.0.0/16"));
  }
  const std::string port = R"("type":"NodePort","ports":[{"port":80,"nodePort":1}])";
  CHECK(dry(port, {}).empty());
  CHECK_FALSE(dry(port, {{}, {1}}).empty());
}

TEST_CASE("which Services get node ports") {
  CHECK_FALSE(created(kPorts)["ports"][0].contains("nodePort"));
  CHECK(created(kNodePort)["ports"][0]["nodePort"] == 30093);
  const Json balancer = created(R"("externalTrafficPolicy":"Local",)" + kBalancer);
  CHECK(balancer["ports"][0]["nodePort"] == 30093);
  CHECK(balancer["healthCheckNodePort"] == 30094);
  CHECK_FALSE(created(kBalancer).contains("healthCheckNodePort"));
  CHECK_FALSE(created(R"("allocateLoadBalancerNodePorts":false,)" + kBalancer)["ports"][0].contains(
      "nodePort"));
  const Json pair = created(R"("type":"NodePort","ports":[{"name":"a","port":80},
                               {"name":"b","port":80,"protocol":"UDP","nodePort":30101}])");
  CHECK(pair["ports"][0]["nodePort"] == 30101);
}

TEST_CASE("node ports that a Service does not get") {
  const auto asked = [](const std::string& port) {
    return R"("type":"NodePort","ports":[{"port":80,"nodePort":)" + port + "}]";
  };
  const std::string start = "Service \"s\" is invalid: spec.ports[0].nodePort: Invalid value: ";
  CHECK(refusal(asked("80")) == start + "80: " + kRangeOfPorts);
  CHECK(refusal(asked("31000"), {{}, {31000}}) ==
        start + "31000: provided port is already allocated");
  CHECK(refusal(R"("type":"NodePort","ports":[{"name":"a","port":80,"nodePort":30100},
                                              {"name":"b","port":81,"nodePort":30100}])") ==
        "Service \"s\" is invalid: spec.ports[1].nodePort: Invalid value: 30100: provided port is "
        "already allocated");
  CHECK(refusal(R"("externalTrafficPolicy":"Local","healthCheckNodePort":100,)" + kBalancer) ==
        "Internal error occurred: failed to allocate requested HealthCheck NodePort 100: " +
            kRangeOfPorts);
  const Json live = {{"spec", created(kNodePort)}};
  CHECK(refusal(R"("type":"NodePort","ports":[{"name":"a","port":80,"nodePort":31005},
                                              {"name":"b","port":81,"nodePort":31005}])",
                {}, &live) == "duplicate nodePort: {TCP 31005}");
}

TEST_CASE("an update that says nothing of addresses and ports keeps them") {
  const Json live = created(R"("externalTrafficPolicy":"Local",)" + kBalancer);
  CHECK(updated(live, R"("externalTrafficPolicy":"Local",)" + kBalancer) == live);
  const Json moved = updated(live, R"("externalTrafficPolicy":"Local","type":"LoadBalancer",
                                      "ports":[{"port":81}])");
  CHECK(moved["ports"][0]["nodePort"] == live["ports"][0]["nodePort"]);
  const Json headless = created(R"("clusterIP":"None",)" + kPorts);
  CHECK(updated(headless, kPorts) == headless);
  const Json swapped =
      updated(created(R"("type":"NodePort","ports":[{"name":"a","port":80,"nodePort":31000},
                                                    {"name":"b","port":81,"nodePort":31001}])"),
              R"("type":"NodePort","ports":[{"name":"a","port":80},
                                            {"name":"b","port":81,"nodePort":31000}])");
  CHECK(swapped["ports"][0]["nodePort"] == 30093);
}

TEST_CASE("a change of the type gets or gives back what the type has") {
  const Json plain = created(kPorts);
  CHECK(updated(plain, kNodePort)["ports"][0]["nodePort"] == 30093);
  const auto retyped = [](Json spec, const std::string& type) {
    spec["type"] = type;
    return spec.dump().substr(1, spec.dump().size() - 2);
  };
  const Json balancer = created(R"("externalTrafficPolicy":"Local",)" + kBalancer);
  const Json back = updated(balancer, retyped(balancer, "ClusterIP"));
  CHECK(back["clusterIP"] == balancer["clusterIP"]);
  CHECK_FALSE(back["ports"][0].contains("nodePort"));
  for (const char* key :
       {"healthCheckNodePort", "allocateLoadBalancerNodePorts", "externalTrafficPolicy"}) {
    CHECK_FALSE(back.contains(key));
  }
  const Json named = updated(plain, retyped(plain, "ExternalName"));
  for (const char* key : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}) {
    CHECK_FALSE(named.contains(key));
  }
  CHECK(updated(named, kPorts)["clusterIP"] == "10.96.1.8");
  const Json both = created("\"clusterIP\":\"None\"");
  CHECK(families(updated(both, R"("clusterIP":"None","ipFamilyPolicy":"SingleStack",
                                  "ipFamilies":["IPv4","IPv6"])")) ==
        Json::parse(R"(["SingleStack",["IPv4"]])"));
}

TEST_CASE("what Services hold") {
  const Json balancer = {{"spec", created(R"("externalTrafficPolicy":"Local",)" + kBalancer)}};
  ServiceHoldings held;
  add_holdings(balancer, held);
  add_holdings({{"spec", created(R"("clusterIP":"None",)" + kPorts)}}, held);
  add_holdings(Json::object(), held);
  CHECK(held.ips == std::multiset<std::string>{"10.96.1.8"});
  CHECK(held.ports == std::multiset<std::int64_t>{30093, 30094});
  // Two that hold the same, as no check keeps a restore from.
  add_holdings(balancer, held);
  drop_holdings(balancer, held);
  CHECK(held.ips.count("10.96.1.8") == 1);
  drop_holdings(balancer, held);
  CHECK(held.ips.empty());
  CHECK(held.ports.empty());
}

TEST_CASE("what a Service has itself is not taken, what another has as well is") {
  const Json live = {{"spec", created(kNodePort)}};
  const std::string other = R"("type":"NodePort","ports":[{"port":80,"nodePort":30093}])";
  ServiceHoldings held;
  add_holdings(live, held);
  CHECK(refusal(other, held, &live).empty());
  CHECK_FALSE(refusal(other, held).empty());
}

TEST_CASE("a Service that is written makes nobody look at the others") {
  test::Server server;
  const std::string path = "/api/v1/namespaces/default/services";
  const auto make = [&](const std::string& name) {
    return server.post(path, {{"metadata", {{"name", name}}},
                              {"spec", {{"type", "NodePort"}, {"ports", {{{"port", 80}}}}}}});
  };
  std::vector<ObjectPtr> others;
  std::set<std::string> ips;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "s" + std::to_string(i);
    const auto made = make(name);
    REQUIRE(made.code == 201);
    ips.insert(made.at({"spec", "clusterIP"}));
    others.push_back(server.api.storage().get("services", "default/" + name));
    others.back()->shrink();
  }
  CHECK(ips.size() == 20);
  const auto last = make("last");
  CHECK(ips.count(last.at({"spec", "clusterIP"})) == 0);
  CHECK(server.merge(path + "/last", {{"metadata", {{"labels", {{"a", "b"}}}}}}).code == 200);
  for (const auto& object : others) CHECK(object->is_shrunk());
  // What is given back can be had again.
  const Json again = {{"metadata", {{"name", "again"}}},
                      {"spec", {{"clusterIP", *ips.begin()}, {"ports", {{{"port", 80}}}}}}};
  CHECK(server.post(path, again).code == 422);
  for (int i = 0; i < 20; ++i) server.remove(path + "/s" + std::to_string(i));
  CHECK(server.post(path, again).code == 201);
}

}  // namespace kubewatch::apiserver
