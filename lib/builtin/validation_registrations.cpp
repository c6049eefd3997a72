// What makes the API server ask others: webhooks and APIServices.
#include <fmt/format.h>

#include <algorithm>

#include "base/strings.hpp"
#include "builtin/validation_kinds.hpp"

namespace kubewatch::builtin {

namespace {

bool has(const Field& list, const char* text) {
  const auto items = list.items();
  return std::any_of(items.begin(), items.end(), [&](const Field& one) { return one.is(text); });
}

void check_resources_of_rule(const Field& resources) {
  if (resources.empty()) resources.required();
  std::set<std::string> all_of;  // "pods" of "pods/*"
  std::set<std::string> of_all;  // "status" of "*/status"
  bool plain = false;
  for (const auto& one : resources.items()) {
    const std::string text = one.text();
    if (text.empty()) {
      one.required();
      continue;
    }
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos) {
      plain = text != "*";
      continue;
    }
    const std::string resource = text.substr(0, slash);
    const std::string sub = text.substr(slash + 1);
    if (all_of.count(resource) != 0) {
      one.invalid(fmt::format("if '{}/*' is present, must not specify {}", resource, text));
    }
    if (of_all.count(sub) != 0) {
      one.invalid(fmt::format("if '*/{}' is present, must not specify {}", sub, text));
    }
    if (sub == "*") all_of.insert(resource);
    if (resource == "*") of_all.insert(sub);
  }
  if (resources.size() > 1 && has(resources, "*/*")) {
    resources.invalid("if '*/*' is present, must not specify other resources");
  }
  if (has(resources, "*") && plain) {
    resources.invalid("if '*' is present, must not specify other resources without subresources");
  }
}

void check_alone(const Field& list, const char* others) {
  if (list.empty()) list.required();
  if (list.size() < 2 || !has(list, "*")) return;
  list.invalid(fmt::format("if '*' is present, must not specify other {}", others));
}

}  // namespace

void check_operations_rule(const Field& rule) {
  const Field operations = rule["operations"];
  check_alone(operations, "operations");
  for (const auto& one : operations.items()) {
    one.one_of({"*", "CONNECT", "CREATE", "DELETE", "UPDATE"});
  }
  check_alone(rule["apiGroups"], "API groups");
  check_alone(rule["apiVersions"], "API versions");
  for (const auto& version : rule["apiVersions"].items()) {
    if (version.empty()) version.required();
  }
  check_resources_of_rule(rule["resources"]);
  rule["scope"].one_of({"*", "Cluster", "Namespaced"});
}

namespace {

void check_full_name(const Field& name) {
  const std::string text = name.text();
  if (text.empty()) return name.required();
  const auto problems = subdomain_problems(text);
  if (!problems.empty()) return name.invalid(base::join(problems, ","));
  if (std::count(text.begin(), text.end(), '.') >= 2) return;
  name.invalid("should be a domain with at least three segments separated by dots");
}

void check_url(const Field& url) {
  static const char* const form = "; desired format: https://host[/path]";
  const std::string text = url.text();
  const std::size_t colon = text.find(':');
  const std::string scheme = colon == std::string::npos ? "" : text.substr(0, colon);
  if (scheme != "https") {
    url.invalid_as(go_quoted(scheme), std::string("'https' is the only allowed URL scheme") + form);
  }
  const std::size_t start = text.find("://");
  const std::string rest = start == std::string::npos ? "" : text.substr(start + 3);
  const std::string host = rest.substr(0, rest.find_first_of("/?#"));
  if (host.empty()) {
    url.invalid_as("\"\"", std::string("host must be specified") + form);
  }
  if (const std::size_t at = host.find('@'); at != std::string::npos) {
    url.invalid_as(go_quoted(host.substr(0, at)), "user information is not permitted in the URL");
  }
  const std::size_t hash = text.find('#');
  if (hash != std::string::npos && hash + 1 < text.size()) {
    url.invalid_as(go_quoted(text.substr(hash + 1)), "fragments are not permitted in the URL");
  }
  const std::string query = text.substr(0, hash);
  const std::size_t mark = query.find('?');
  if (mark != std::string::npos && mark + 1 < query.size()) {
    url.invalid_as(go_quoted(query.substr(mark + 1)),
                   "query parameters are not permitted in the URL");
  }
}

void check_path(const Field& path) {
  std::string text = path.text();
  if (text.empty() || text == "/") return;
  if (text == "//") return path.invalid("segment[0] may not be empty");
  if (!text.starts_with("/")) path.invalid("must start with a '/'");
  text.erase(0, 1);
  if (text.ends_with("/")) text.pop_back();
  const auto steps = base::split(text, '/');
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].empty()) {
      path.invalid(fmt::format("segment[{}] may not be empty", i));
      continue;
    }
    for (const auto& problem : subdomain_problems(steps[i])) {
      path.invalid(fmt::format("segment[{}]: {}", i, problem));
    }
  }
}

void check_service_port(const Field& port) {
  const std::int64_t number = port.number_or(443);
  if (number >= 1 && number <= 65535) return;
  port.invalid("port is not valid: " + range_sentence(1, 65535));
}

void check_client_config(const Field& config) {
  const Field url = config["url"];
  const Field service = config["service"];
  if (url.present() == service.present()) {
    return config.required("exactly one of url or service is required");
  }
  if (url.present()) return check_url(url);
  // The server takes each for the other.
  if (service["namespace"].empty()) service["name"].required();
  if (service["name"].empty()) service["namespace"].required();
  check_service_port(service["port"]);
  check_path(service["path"]);
}

void check_review_versions(const Field& versions) {
  if (versions.empty()) return versions.required("must specify one of v1, v1beta1");
  std::set<std::string> seen;
  for (const auto& version : versions.items()) {
    if (!seen.insert(version.text()).second) {
      version.invalid("duplicate version");
      continue;
    }
    version.invalid_each(dns1035_problems(version.text()));
  }
  if (has(versions, "v1") || has(versions, "v1beta1")) return;
  versions.invalid("must include at least one of v1, v1beta1");
}

// Where none changes they are not looked at again.
bool keeps_conditions(const Field& hooks, const Json* live) {
  if (live == nullptr) return false;
  const auto now = hooks.items();
  const auto before = Field(*live, hooks.errors())["webhooks"].items();
  return now.size() == before.size() &&
         std::equal(now.begin(), now.end(), before.begin(), [](const Field& a, const Field& b) {
           return same_field(a["matchConditions"], b["matchConditions"]);
         });
}

void check_webhook(const Field& hook, bool kept_conditions) {
  check_full_name(hook["name"]);
  for (const auto& rule : hook["rules"].items()) check_operations_rule(rule);
  hook["failurePolicy"].one_of({"Fail", "Ignore"});
  hook["matchPolicy"].one_of({"Equivalent", "Exact"});
  const Field effects = hook["sideEffects"];
  if (!effects.present()) effects.required("must specify one of None, NoneOnDryRun");
  effects.one_of({"None", "NoneOnDryRun"});
  const Field timeout = hook["timeoutSeconds"];
  if (timeout.number_or(1) < 1 || timeout.number_or(1) > 30) {
    timeout.invalid("the timeout value must be between 1 and 30 seconds");
  }
  check_label_selector(hook["namespaceSelector"]);
  check_label_selector(hook["objectSelector"]);
  hook["reinvocationPolicy"].one_of({"IfNeeded", "Never"});
  check_client_config(hook["clientConfig"]);
  if (!kept_conditions) check_match_conditions(hook["matchConditions"], false);
}

}  // namespace

void check_webhooks(const Field& object, const Json* live) {
  const Field hooks = object["webhooks"];
  const bool kept_conditions = keeps_conditions(hooks, live);
  std::set<std::string> names;
  for (const auto& hook : hooks.items()) {
    check_webhook(hook, kept_conditions);
    check_review_versions(hook["admissionReviewVersions"]);
    const Field name = hook["name"];
    if (!name.empty() && !names.insert(name.text()).second) name.duplicate();
  }
}

namespace {

// It has one name that it may have.
void check_service_name(const Field& metadata, const std::string& expected) {
  for (const char* key : {"generateName", "name"}) {
    const Field name = metadata[key];
    if (name.empty()) continue;
    const auto problems = path_segment_problems(name.text());
    name.invalid_each(problems);
    if (!problems.empty() || name.is(expected)) continue;
    name.invalid_text(
        fmt::format("must be `spec.version+\".\"+spec.group`: {}", go_quoted(expected)));
  }
}

// What the server serves itself is reached by no TLS.
void check_local_service(const Field& spec) {
  if (const Field bundle = spec["caBundle"]; !bundle.empty()) {
    const auto bytes = base::base64_decode(bundle.text());
    bundle.invalid_as(go_quoted(fmt::format("{} bytes", bytes ? bytes->size() : 0)),
                      "local APIServices may not have a caBundle");
  }
  const Field unsafe = spec["insecureSkipTLSVerify"];
  if (unsafe.is_true()) unsafe.invalid("local APIServices may not have insecureSkipTLSVerify");
}

}  // namespace

void check_api_service(const Field& object, const Json* /*live*/) {
  const Field spec = object["spec"];
  const Field group = spec["group"];
  const Field version = spec["version"];
  check_service_name(object["metadata"], version.text() + "." + group.text());
  if (group.empty() && !version.is("v1")) {
    group.required("only v1 may have an empty group and it better be legacy kube");
  }
  if (!group.empty()) group.invalid_each(subdomain_problems(group.text()));
  version.invalid_each(dns1035_problems(version.text()));
  const auto check_priority = [&](const char* key, std::int64_t most) {
    const std::int64_t value = spec[key].number_or(0);
    if (value > 0 && value <= most) return;
    spec[key].invalid_as(std::to_string(value),
                         fmt::format("must be positive and less than {}", most));
  };
  check_priority("groupPriorityMinimum", 20000);
  check_priority("versionPriority", 1000);
  const Field service = spec["service"];
  if (!service.present()) return check_local_service(spec);
  for (const char* key : {"namespace", "name"}) {
    if (service[key].empty()) service[key].required();
  }
  check_service_port(service["port"]);
  const Field unsafe = spec["insecureSkipTLSVerify"];
  if (unsafe.is_true() && !spec["caBundle"].empty()) {
    unsafe.invalid("may not be true if caBundle is present");
  }
}

void check_api_service_status(const Field& object, const Json* /*live*/) {
  static const Values states = {"True", "False", "Unknown"};
  for (const auto& condition : object["status"]["conditions"].items()) {
    const Field state = condition["status"];
    if (!is_one(state.text(), states)) state.not_supported(states);
  }
}

}  // namespace kubewatch::builtin
