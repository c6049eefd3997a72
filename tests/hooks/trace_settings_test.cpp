// What the variables of OpenTelemetry ask for.
#include "hooks/trace_settings.hpp"

#include "hooks/rule_folder.hpp"
#include "http/server.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

using Variables = std::map<std::string, std::string>;

Result<std::optional<TraceTarget>> target(const Variables& variables) {
  return trace_target([&variables](const std::string& name) -> std::optional<std::string> {
    const auto it = variables.find(name);
    return it == variables.end() ? std::nullopt : std::optional(it->second);
  });
}

// With an endpoint.
TraceTarget read(Variables variables) {
  variables.try_emplace("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318");
  auto found = target(variables);
  if (!found.ok()) FAIL(found.error().render());
  REQUIRE(found->has_value());
  return **std::move(found);
}

std::string problem(Variables variables) {
  variables.try_emplace("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c");
  const auto found = target(variables);
  return found.ok() ? "" : found.error().render();
}

using Headers = std::vector<std::pair<std::string, std::string>>;

}  // namespace

TEST_CASE("tracing is off without an endpoint, and when it is disabled") {
  CHECK_FALSE(target({})->has_value());
  CHECK_FALSE(
      target({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"}, {"OTEL_SDK_DISABLED", "true"}})
          ->has_value());
  CHECK_FALSE(
      target({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"}, {"OTEL_TRACES_EXPORTER", "none"}})
          ->has_value());
}

TEST_CASE("endpoint, headers and service name are read as OpenTelemetry says") {
  const auto one = read({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/"},
                         {"OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b, x=1"},
                         {"OTEL_SERVICE_NAME", "shop"}});
  CHECK(one.url == "http://c:4318/v1/traces");
  CHECK(one.headers == Headers{{"api-key", "a b"}, {"x", "1"}});
  CHECK(one.service_name == "shop");
  CHECK(one.warnings.empty());
  const auto own = target({{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://c/x"}});
  CHECK((*own)->url == "https://c/x");
  CHECK((*own)->service_name == "kubewatch");
}

TEST_CASE("what is said of traces alone goes before what is said of all") {
  const auto one = read({{"OTEL_EXPORTER_OTLP_HEADERS", "a=1"},
                         {"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "b=2"},
                         {"OTEL_EXPORTER_OTLP_TIMEOUT", "1000"},
                         {"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "2500"},
                         {"OTEL_EXPORTER_OTLP_CERTIFICATE", "/all.pem"},
                         {"OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "/traces.pem"}});
  CHECK(one.headers == Headers{{"b", "2"}});
  CHECK(one.timeout == Duration{2500});
  CHECK(one.ca.path == "/traces.pem");
  CHECK(one.ca.variable == "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE");
  CHECK(read({}).timeout == Duration{10000});
  const auto wrong = read({{"OTEL_EXPORTER_OTLP_TIMEOUT", "10s"}});
  CHECK(wrong.timeout == Duration{10000});
  REQUIRE(wrong.warnings.size() == 1);
}

TEST_CASE("resource attributes are sent, and the name of the service is the one that is set") {
  const auto one = read({{"OTEL_RESOURCE_ATTRIBUTES", "team=a%2Cb, service.name=shop"}});
  CHECK(one.resource == std::map<std::string, std::string>{{"team", "a,b"}});
  CHECK(one.service_name == "shop");
  CHECK(read({{"OTEL_RESOURCE_ATTRIBUTES", "service.name=shop"}, {"OTEL_SERVICE_NAME", "web"}})
            .service_name == "web");
  const auto wrong = read({{"OTEL_RESOURCE_ATTRIBUTES", "team=a,secret"}});
  CHECK(wrong.resource.empty());
  REQUIRE(wrong.warnings.size() == 1);
  CHECK(wrong.warnings[0].find("OTEL_RESOURCE_ATTRIBUTES") == 0);
  CHECK(wrong.warnings[0].find("secret") == std::string::npos);
}

TEST_CASE("samplers that need no server are followed, others are told") {
  const auto sampled = [](const std::string& sampler, const std::string& argument = "") {
    const auto one =
        read({{"OTEL_TRACES_SAMPLER", sampler}, {"OTEL_TRACES_SAMPLER_ARG", argument}});
    return std::make_pair(one.sampled, one.warnings.size());
  };
  CHECK(sampled("") == std::make_pair(1.0, std::size_t{0}));
  CHECK(sampled("always_on") == std::make_pair(1.0, std::size_t{0}));
  CHECK(sampled("parentbased_always_off") == std::make_pair(0.0, std::size_t{0}));
  CHECK(sampled("traceidratio", "0.25") == std::make_pair(0.25, std::size_t{0}));
  CHECK(sampled("parentbased_traceidratio") == std::make_pair(1.0, std::size_t{0}));
  CHECK(sampled("traceidratio", "2") == std::make_pair(1.0, std::size_t{1}));
  CHECK(sampled("traceidratio", "nan") == std::make_pair(1.0, std::size_t{1}));
  CHECK(sampled("jaeger_remote", "endpoint=x") == std::make_pair(1.0, std::size_t{1}));
}

TEST_CASE("another exporter or protocol than ours is told, and no target lost for it") {
  const auto warnings = [](const Variables& variables) {
    std::string out;
    for (const std::string& one : read(variables).warnings) out += one + "\n";
    return out;
  };
  CHECK(warnings({{"OTEL_TRACES_EXPORTER", "otlp"}}).empty());
  CHECK(warnings({{"OTEL_TRACES_EXPORTER", "zipkin"}}) ==
        "OTEL_TRACES_EXPORTER asks for something else than otlp: they are sent by that all the "
        "same\n");
  CHECK(warnings({{"OTEL_TRACES_EXPORTER", "otlp,console"}}).find("by that alone") !=
        std::string::npos);
  CHECK(warnings({{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"}}).empty());
  const std::string all_the_same = ": they are sent as http/json, to the same address\n";
  CHECK(warnings({{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}}) ==
        "OTEL_EXPORTER_OTLP_PROTOCOL asks for grpc" + all_the_same);
  // That of traces alone comes first.
  CHECK(warnings({{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"},
                  {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"}})
            .empty());
  CHECK(warnings({{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf"}}) ==
        "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL asks for http/protobuf" + all_the_same);
  CHECK(warnings({{"OTEL_EXPORTER_OTLP_PROTOCOL", "se\ncret"}}) ==
        "OTEL_EXPORTER_OTLP_PROTOCOL asks for something else" + all_the_same);
}

TEST_CASE("a wrong variable is named, its value is not") {
  for (const Variables& variables :
       std::vector<Variables>{{{"OTEL_EXPORTER_OTLP_ENDPOINT", "secret:4317"}},
                              {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://se cret"}},
                              {{"OTEL_EXPORTER_OTLP_HEADERS", "secret"}},
                              {{"OTEL_EXPORTER_OTLP_HEADERS", "a=secret%0d%0ab"}},
                              {{"OTEL_EXPORTER_OTLP_HEADERS", "a=secret%01"}},
                              {{"OTEL_EXPORTER_OTLP_HEADERS", "api key=secret"}},
                              {{"OTEL_EXPORTER_OTLP_HEADERS", "Content-Length=secret"}},
                              {{"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "host=secret"}},
                              {{"OTEL_EXPORTER_OTLP_CLIENT_KEY", "/secret"}},
                              {{"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "/secret"}}}) {
    const std::string says = problem(variables);
    INFO(says);
    CHECK(says.find("OTEL_EXPORTER_OTLP_") == 0);
    CHECK(says.find("secret") == std::string::npos);
  }
}

TEST_CASE("the proxy of the environment leads to the collector, but not to this machine") {
  client::ConfigEnvironment environment;
  environment.https_proxy = "http://secure:3128";
  environment.http_proxy = "http://plain:3128";
  environment.no_proxy = "internal";
  const auto chosen = [&](const std::string& url) {
    TraceTarget out;
    out.url = url;
    choose_trace_proxy(environment, out);
    return out;
  };
  CHECK(chosen("https://c/v1/traces").proxy == "http://secure:3128");
  CHECK(chosen("https://c/v1/traces").no_proxy == "internal");
  CHECK(chosen("http://c/v1/traces").proxy == "http://plain:3128");
  CHECK(chosen("http://127.0.0.1:4318/v1/traces").proxy.empty());
}

TEST_CASE("the files of TLS are read, and a wrong one is told with its variable") {
  const test::RuleFolder folder;
  const auto made = http::generate_certificate({"c"}, {});
  REQUIRE(made.ok());
  TraceTarget files;
  files.ca = {"CA_VARIABLE", folder.write("ca.pem", made->ca_pem)};
  files.certificate = {"CERTIFICATE_VARIABLE", folder.write("tls.crt", made->certificate_pem)};
  files.key = {"KEY_VARIABLE", folder.write("tls.key", made->key_pem)};
  const auto tls = read_trace_tls(files);
  REQUIRE(tls.ok());
  CHECK(tls->ca_pem == made->ca_pem);
  CHECK(tls->client_cert_pem == made->certificate_pem);
  CHECK(tls->client_key_pem == made->key_pem);
  CHECK(read_trace_tls({})->ca_pem.empty());

  const auto refusal = [](const TraceTarget& wrong) {
    const auto read = read_trace_tls(wrong);
    return read.ok() ? "" : read.error().render();
  };
  TraceTarget wrong = files;
  wrong.ca.path = folder.file("absent.pem");
  CHECK(refusal(wrong).find("CA_VARIABLE") == 0);
  wrong = files;
  wrong.certificate.path = folder.write("not.pem", "text");
  CHECK(refusal(wrong).find("CERTIFICATE_VARIABLE holds no PEM certificate") == 0);
  wrong = files;
  wrong.key.path = files.ca.path;
  CHECK(refusal(wrong).find("KEY_VARIABLE holds no PEM private key") == 0);
}
