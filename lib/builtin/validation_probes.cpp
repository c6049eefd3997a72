// What a kubelet does to a container: probes, and the hooks of its lifecycle.
#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.hpp"
#include "builtin/validation_pods.hpp"

namespace kubewatch::builtin {

namespace {

using Grace = std::optional<std::int64_t>;

constexpr const char* kOneHandler = "may not specify more than 1 handler type";

void check_header_name(const Field& headers, const std::string& name) {
  const bool good = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return base::is_alphanumeric(c) || c == '-';
  });
  if (good) return;
  headers.invalid_as(
      go_quoted(name),
      shape_sentence("a valid HTTP header must consist of alphanumeric characters or '-'",
                     {"X-Header-Name"}, "[-A-Za-z0-9]+"));
}

void check_http_get(const Field& action) {
  const Field path = action["path"];
  if (path.present() && path.empty()) path.required();
  check_port_or_name(action["port"]);
  action["scheme"].one_of({"HTTP", "HTTPS"});
  for (const auto& header : action["httpHeaders"].items()) {
    check_header_name(action["httpHeaders"], header["name"].text());
  }
}

void check_sleep(const Field& sleep, const Grace& grace) {
  const std::int64_t seconds = sleep["seconds"].number_or(0);
  if (!grace || (seconds >= 0 && seconds <= *grace)) return;
  sleep.invalid_as(
      std::to_string(seconds),
      fmt::format("must be non-negative and less than terminationGracePeriodSeconds ({})", *grace));
}

void check_action(const std::string& kind, const Field& action, const Grace& grace) {
  if (kind == "exec" && action["command"].empty()) action["command"].required();
  if (kind == "httpGet") check_http_get(action);
  if (kind == "tcpSocket") check_port_or_name(action["port"]);
  if (kind == "grpc") check_port_number(action["port"]);
  if (kind == "sleep") check_sleep(action, grace);
}

// Exactly one of them.
void check_handler(const Field& handler, const Values& kinds, const Grace& grace) {
  bool found = false;
  for (const auto& kind : kinds) {
    const Field action = handler[kind];
    if (!action.present()) continue;
    if (found) {
      action.forbidden(kOneHandler);
    } else {
      check_action(kind, action, grace);
    }
    found = true;
  }
  if (!found) handler.required("must specify a handler type");
}

void check_probe(const Field& probe, const Grace& grace) {
  check_handler(probe, {"exec", "httpGet", "tcpSocket", "grpc"}, grace);
  for (const char* key : {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                          "successThreshold", "failureThreshold"}) {
    probe[key].not_negative();
  }
  const Field end = probe["terminationGracePeriodSeconds"];
  if (end.number_or(1) <= 0) end.invalid("must be greater than 0");
}

}  // namespace

void check_lifecycle(const Field& lifecycle, Grace grace) {
  for (const char* key : {"postStart", "preStop"}) {
    const Field hook = lifecycle[key];
    if (hook.present()) check_handler(hook, {"exec", "httpGet", "tcpSocket", "sleep"}, grace);
  }
}

void check_probes(const Field& container, Grace grace) {
  for (const char* key : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    const Field probe = container[key];
    if (!probe.present()) continue;
    check_probe(probe, grace);
    if (std::string_view(key) == "readinessProbe") {
      const Field end = probe["terminationGracePeriodSeconds"];
      if (end.present()) end.invalid("must not be set for readinessProbes");
    } else if (probe["successThreshold"].number_or(1) != 1) {
      probe["successThreshold"].invalid("must be 1");
    }
  }
}

}  // namespace kubewatch::builtin
