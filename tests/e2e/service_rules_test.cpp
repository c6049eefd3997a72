// What the server says of the addresses, ports and load balancers of Services, and of the points of
// Ingresses: before it gives an address, when a state is told, when a type changes, in a dry run.
#include <string>
#include <vector>

#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

std::string services(const World& w) {
  return "/api/v1/namespaces/" + w.ns() + "/services";
}

// `spec` without its braces; its ports are those of the Service, if it says any.
Json service_of(const std::string& name, const std::string& spec) {
  return Json::parse(R"({"apiVersion":"v1","kind":"Service","metadata":{"name":")" + name +
                     R"("},"spec":{"ports":[{"port":80}],)" + spec + "}}");
}

Answer spec_patched(World& w, const std::string& path, const char* spec) {
  return patch(w, path, {{"spec", Json::parse(spec)}});
}

Answer points_told(World& w, const std::string& path, const char* points) {
  return patch(w, path + "/status",
               {{"status", {{"loadBalancer", {{"ingress", Json::parse(points)}}}}}});
}

constexpr const char* kNoIp = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
constexpr const char* kPolicies =
    ": supported values: \"PreferDualStack\", \"RequireDualStack\", \"SingleStack\"";
constexpr const char* kNoSubdomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

}  // namespace

E2E_CASE("what is wrong with the addresses of a Service is told before it gets any") {
  World w;
  struct Wrong {
    std::string spec;
    std::string told;
  };
  const std::string ips = "spec.clusterIPs: ";
  const std::string first = "spec.clusterIPs[0]: Invalid value: ";
  const std::string unasked = ": must be empty when `clusterIP` is not specified";
  const std::string families = ": supported values: \"IPv4\", \"IPv6\"";
  const std::string traffic = ": supported values: \"Cluster\", \"Local\"";
  const std::string named = R"("type":"ExternalName","externalName":"a.b",)";
  const std::string none_named = ips + "Forbidden: may not be set for ExternalName services";
  const std::vector<Wrong> all = {
      {R"("clusterIP":"bad")", first + "\"bad\": " + kNoIp},
      {R"("clusterIP":"bad","ports":[])", first + "\"bad\": " + kNoIp},
      {R"("clusterIPs":["a"])",
       "[" + ips + "Invalid value: [\"a\"]" + unasked + ", " + first + "\"a\": " + kNoIp + "]"},
      {R"("clusterIPs":[""])",
       "[" + ips + "Invalid value: [\"\"]" + unasked + ", " + first + "\"\": " + kNoIp + "]"},
      {R"("clusterIP":"010.0.0.8")", first + "\"010.0.0.8\": must not have leading 0s"},
      {R"("clusterIP":"10.0.0.8","ipFamilies":["IPv6"])",
       first + "\"10.0.0.8\": expected an IPv6 value as indicated by `ipFamilies[0]`"},
      {R"("clusterIP":"10.0.0.8","clusterIPs":["10.0.0.8","fd00::1","fd00::2"])",
       ips + "Invalid value: [\"10.0.0.8\",\"fd00::1\",\"fd00::2\"]: may only hold up to 2 values"},
      {R"("ipFamilies":["IPv9"])", "spec.ipFamilies[0]: Unsupported value: \"IPv9\"" + families},
      {R"("ipFamilies":["IPv4","IPv4"])", "spec.ipFamilies[1]: Duplicate value: \"IPv4\""},
      {R"("ipFamilyPolicy":"")",
       std::string("spec.ipFamilyPolicy: Unsupported value: \"\"") + kPolicies},
      {R"("clusterIP":"None","ipFamilyPolicy":"")",
       std::string("spec.ipFamilyPolicy: Unsupported value: \"\"") + kPolicies},
      {named + R"("clusterIP":"10.0.0.9")", none_named},
      {named + R"("clusterIP":"None")", none_named},
      {named + R"("internalTrafficPolicy":"zz")",
       "spec.internalTrafficPolicy: Unsupported value: \"zz\"" + traffic},
      {named + R"("internalTrafficPolicy":"")",
       "spec.internalTrafficPolicy: Unsupported value: \"\"" + traffic},
  };
  for (const Wrong& one : all) {
    CAPTURE(one.spec);
    CHECK(message(send(w, "POST", services(w) + "?dryRun=All", service_of("x", one.spec))) ==
          "Service \"x\" is invalid: " + one.told);
  }

  made(w, services(w), service_of("live", R"("type":"ClusterIP")"));
  const auto changed = [&](const char* spec) {
    return message(spec_patched(w, services(w) + "/live?dryRun=All", spec));
  };
  const std::string invalid = "Service \"live\" is invalid: ";
  CHECK(changed(R"({"clusterIP":"bad"})") == invalid + first + "\"bad\": " + kNoIp);
  CHECK(changed(R"({"ipFamilies":["IPv6"]})")
            .ends_with("expected an IPv6 value as indicated by `ipFamilies[0]`"));
  CHECK(changed(R"({"ipFamilyPolicy":""})") ==
        invalid + "spec.ipFamilyPolicy: Unsupported value: \"\"" + kPolicies);
}

E2E_CASE("a dry run has any port and an address of another Service, if it is of the range") {
  World w;
  const std::string dry = services(w) + "?dryRun=All";
  const Json taken = made(w, services(w), service_of("a", R"("type":"NodePort")"));
  const std::string ip = base::string_at(taken, {"spec", "clusterIP"});
  const Json* ports = base::find(taken, {"spec", "ports"});
  REQUIRE(ports != nullptr);
  const auto with_port = [](const std::string& port) {
    return service_of("x", R"("type":"NodePort","ports":[{"port":80,"nodePort":)" + port + "}]");
  };
  CHECK(send(w, "POST", dry, service_of("x", R"("clusterIP":")" + ip + "\"")).code == 201);
  CHECK(send(w, "POST", dry, with_port("1")).code == 201);
  const auto refused = [&](const std::string& path) {
    return message(send(w, "POST", path, service_of("x", R"("clusterIP":"1.2.3.4")")));
  };
  const std::string no_ip =
      "Service \"x\" is invalid: spec.clusterIPs: Invalid value: [\"1.2.3.4\"]: failed to allocate "
      "IP 1.2.3.4: the provided ";
  CHECK(refused(services(w)) == no_ip + "network does not match the current range");
  CHECK(refused(dry).starts_with(
      no_ip + "IP (1.2.3.4) is not in the valid range. The range of valid IPs is "));
  CHECK(message(send(w, "POST", dry, with_port(ports->at(0).at("nodePort").dump())))
            .ends_with(": provided port is already allocated"));
  const std::string wrong = R"("type":"NodePort","ports":[
      {"name":"a","port":80,"nodePort":1},{"name":"b","port":81,"nodePort":1}])";
  CHECK(message(send(w, "POST", dry, service_of("x", wrong))) ==
        "Service \"x\" is invalid: spec.ports[1].nodePort: Invalid value: 1: provided port is "
        "already allocated");
}

E2E_CASE("only a load balancer has points, and they are addresses or names") {
  World w;
  made(w, services(w), service_of("plain", R"("type":"ClusterIP")"));
  made(w, services(w), service_of("balancer", R"("type":"LoadBalancer")"));
  const std::string ingresses = "/apis/networking.k8s.io/v1/namespaces/" + w.ns() + "/ingresses";
  made(w, ingresses, Json::parse(R"({"apiVersion":"networking.k8s.io/v1","kind":"Ingress",
      "metadata":{"name":"i"},"spec":{"rules":[{"host":"a.b"}]}})"));
  CHECK(message(points_told(w, services(w) + "/plain", R"([{"ip":"1.2.3.4"}])")) ==
        "Service \"plain\" is invalid: status.loadBalancer.ingress: Forbidden: may only be used "
        "when `spec.type` is 'LoadBalancer'");
  struct Point {
    const char* points;
    std::string told;
  };
  const std::vector<Point> wrong = {
      {R"([{"hostname":"Bad Value!"}])",
       std::string("hostname: Invalid value: \"Bad Value!\": ") + kNoSubdomain},
      {R"([{"hostname":"010.1.1.1"}])",
       "hostname: Invalid value: \"010.1.1.1\": must be a DNS name, not an IP address"},
      {R"([{"ip":"bad"}])", std::string("ip: Invalid value: \"bad\": ") + kNoIp},
      {R"([{"ip":"01.2.3.4"}])", "ip: Invalid value: \"01.2.3.4\": must not have leading 0s"}};
  const std::string at = "is invalid: status.loadBalancer.ingress[0].";
  for (const Point& one : wrong) {
    CAPTURE(one.points);
    CHECK(message(points_told(w, services(w) + "/balancer", one.points)) ==
          "Service \"balancer\" " + at + one.told);
    CHECK(message(points_told(w, ingresses + "/i", one.points)) ==
          "Ingress.networking.k8s.io \"i\" " + at + one.told);
  }
  CHECK(message(
            points_told(w, services(w) + "/balancer", R"([{"hostname":"a.b","ipMode":"VIP"}])")) ==
        "Service \"balancer\" " + at +
            "ipMode: Forbidden: may not be specified when `ip` is not "
            "set");
  CHECK(message(points_told(w, services(w) + "/balancer", R"([{"ip":"1.2.3.4","ipMode":"zz"}])")) ==
        "Service \"balancer\" " + at +
            "ipMode: Unsupported value: \"zz\": supported values: \"Proxy\", \"VIP\"");

  CHECK(points_told(w, services(w) + "/balancer", R"([{"ip":"1.2.3.4"}])").code == 200);
  const Answer plain = spec_patched(w, services(w) + "/balancer", R"({"type":"ClusterIP"})");
  CHECK(plain.code == 200);
  CHECK(plain.body["status"] == Json::parse(R"({"loadBalancer":{}})"));
}

E2E_CASE("a type that changes gives back what the request only repeats") {
  World w;
  const Json ports = made(w, services(w), service_of("ports", R"("type":"NodePort","ports":[
      {"name":"a","port":80},{"name":"b","port":81}])"))["spec"]["ports"];
  const Answer one = patch(w, services(w) + "/ports",
                           {{"spec", {{"type", "ClusterIP"}, {"ports", {ports.at(0)}}}}});
  CHECK(message(one).empty());
  CHECK_FALSE(one.body["spec"]["ports"][0].contains("nodePort"));

  made(w, services(w),
       service_of("balancer", R"("type":"LoadBalancer","externalIPs":["1.2.3.4"])"));
  const Answer named =
      spec_patched(w, services(w) + "/balancer", R"({"type":"ExternalName","externalName":"a.b"})");
  CHECK(message(named).empty());
  for (const char* key : {"externalTrafficPolicy", "internalTrafficPolicy", "clusterIP"}) {
    CHECK_FALSE(named.body["spec"].contains(key));
  }

  made(w, services(w), service_of("headless", R"("clusterIP":"None")"));
  const std::string headless = services(w) + "/headless?dryRun=All";
  CHECK(
      spec_patched(w, headless, R"({"ipFamilyPolicy":"SingleStack"})").body["spec"]["ipFamilies"] ==
      Json::array({"IPv4"}));
  CHECK(message(spec_patched(w, headless, R"({"ipFamilies":["IPv4"]})")) ==
        "Service \"headless\" is invalid: spec.ipFamilyPolicy: Invalid value: "
        "\"RequireDualStack\": must be 'SingleStack' to release the secondary IP family");
}

E2E_CASE("an ExternalName keeps who owns its internal traffic policy, which it does not show") {
  World w;
  const Json service = made(w, services(w), service_of("x", R"("type":"ExternalName",
      "externalName":"a.b","internalTrafficPolicy":"Cluster")"));
  CHECK_FALSE(service["spec"].contains("internalTrafficPolicy"));
  CHECK(service["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"].contains(
      "f:internalTrafficPolicy"));
}

}  // namespace kubewatch::e2e
