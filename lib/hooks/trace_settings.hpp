// Where spans go and which of them, as the environment variables of OpenTelemetry say it
// (opentelemetry.io: "Environment Variable Specification", "OTLP Exporter Configuration"). Pure,
// but for the files that read_trace_tls() reads.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "client/config.hpp"
#include "http/transport.hpp"

namespace kubewatch::hooks {

struct TraceTarget {
  std::string url;                                           // .../v1/traces
  std::vector<std::pair<std::string, std::string>> headers;  // may hold a token: never shown
  std::string service_name = "kubewatch";
  std::map<std::string, std::string> resource = {};  // further attributes of it
  Duration timeout{10000};                           // of one request, more than 0
  // Files in PEM, "" = none; with the variable that names each.
  struct File {
    std::string variable;
    std::string path;
  };
  File ca = {};
  File certificate = {};
  File key = {};
  double sampled = 1;  // which part of all traces is sent
  std::string proxy = {};
  std::string no_proxy = {};
  // What was asked for and is not done: whole sentences, without a value of a variable.
  std::vector<std::string> warnings = {};
};

using Environment = std::function<std::optional<std::string>(const std::string&)>;
// Absent when no endpoint is set, OTEL_SDK_DISABLED is true, or OTEL_TRACES_EXPORTER is none; an
// empty variable is none. Errors: invalid, naming the variable (never its value).
Result<std::optional<TraceTarget>> trace_target(const Environment& environment);

// The proxy that the environment has for it; none to this machine.
void choose_trace_proxy(const client::ConfigEnvironment& environment, TraceTarget& target);

// What its files hold now. Errors: those of reading a file; invalid; each naming the variable.
Result<http::TlsOptions> read_trace_tls(const TraceTarget& target);

}  // namespace kubewatch::hooks
