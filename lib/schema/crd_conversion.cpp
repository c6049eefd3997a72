// Conversion webhooks in crd_check.hpp: which, where, and in what form it is asked.
#include <fmt/format.h>

#include <set>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "core/go_json.hpp"
#include "core/resource.hpp"
#include "schema/crd_report.hpp"
#include "schema/embedded.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::schema {

using base::string_at;

namespace {

constexpr const char* kConversion = "conversion";
constexpr const char* kClient = "spec.conversion.webhookClientConfig";

void check_url(const std::string& url, Report& report) {
  const std::string field = std::string(kClient) + ".url";
  const std::string form = "; desired format: https://host[/path]";
  const std::size_t colon = url.find(':');
  const std::string scheme = colon == std::string::npos ? "" : base::to_lower(url.substr(0, colon));
  const bool hierarchical = colon != std::string::npos && url.compare(colon, 3, "://") == 0;
  const std::string rest = hierarchical ? url.substr(colon + 3) : "";
  const std::string authority = rest.substr(0, rest.find_first_of("/?#"));
  const std::size_t at = authority.rfind('@');
  const std::string host = at == std::string::npos ? authority : authority.substr(at + 1);
  const auto refuse = [&](const std::string& shown, const std::string& why) {
    report.add(kConversion, field_invalid(field, go_quoted(shown), why));
  };
  if (scheme != "https") refuse(scheme, "'https' is the only allowed URL scheme" + form);
  if (host.empty()) refuse(host, "host must be specified" + form);
  if (at != std::string::npos) {
    refuse(authority.substr(0, at), "user information is not permitted in the URL");
  }
  const std::size_t hash = url.find('#');
  if (hash != std::string::npos && hash + 1 < url.size()) {
    refuse(url.substr(hash + 1), "fragments are not permitted in the URL");
  }
  const std::string before = url.substr(0, hash);
  const std::size_t query = before.find('?');
  if (query != std::string::npos && query + 1 < before.size()) {
    refuse(before.substr(query + 1), "query parameters are not permitted in the URL");
  }
}

void check_service_path(const std::string& path, Report& report) {
  const std::string field = std::string(kClient) + ".service.path";
  if (path.empty() || path == "/") return;
  const auto refuse = [&](const std::string& why) {
    report.add(kConversion, field_invalid(field, go_quoted(path), why));
  };
  if (path == "//") {
    refuse("segment[0] may not be empty");
    return;
  }
  if (path[0] != '/') refuse("must start with a '/'");
  std::string rest = path.substr(1);
  if (!rest.empty() && rest.back() == '/') rest.pop_back();
  std::size_t index = 0, start = 0;
  while (start <= rest.size()) {
    const std::size_t end = std::min(rest.find('/', start), rest.size());
    const std::string step = rest.substr(start, end - start);
    if (step.empty()) {
      refuse(fmt::format("segment[{}] may not be empty", index));
    } else if (const std::string why = core::check_dns_subdomain(step); !why.empty()) {
      refuse(fmt::format("segment[{}]: {}", index, why));
    }
    ++index;
    start = end + 1;
  }
}

void check_service(const Json& service, Report& report) {
  const std::string field = std::string(kClient) + ".service";
  // The server takes one for the other here, and we say what it says.
  if (string_at(service, {"namespace"}).empty())
    report.add(kConversion, field_required(field + ".name"));
  if (string_at(service, {"name"}).empty())
    report.add(kConversion, field_required(field + ".namespace"));
  constexpr std::int64_t kDefault = 443, kMost = 65535;
  const auto port = base::int_at(service, {"port"}).value_or(kDefault);
  if (port < 1 || port > kMost) {
    report.add(kConversion,
               field_invalid(field + ".port", std::to_string(port),
                             "port is not valid: must be between 1 and 65535, inclusive"));
  }
  check_service_path(string_at(service, {"path"}), report);
}

void check_client(const Json* client, Report& report) {
  if (client == nullptr || !client->is_object()) {
    report.add(kConversion, field_required(kClient, "required when strategy is set to Webhook"));
    return;
  }
  const Json* url = base::find(*client, {"url"});
  const Json* service = base::find(*client, {"service"});
  if ((url == nullptr) == (service == nullptr)) {
    report.add(kConversion, field_required(kClient, "exactly one of url or service is required"));
  } else if (url != nullptr) {
    check_url(url->is_string() ? url->get<std::string>() : "", report);
  } else {
    check_service(*service, report);
  }
}

void check_review_versions(const Json* versions, Report& report) {
  const std::string field = "spec.conversion.conversionReviewVersions";
  if (versions == nullptr || !versions->is_array() || versions->empty()) {
    report.add(kConversion, field_required(field));
    return;
  }
  std::set<std::string> seen;
  std::size_t index = 0;
  for (const auto& one : *versions) {
    const std::string name = one.is_string() ? one.get<std::string>() : "";
    const std::string at = fmt::format("{}[{}]", field, index++);
    if (!seen.insert(name).second) {
      report.add(kConversion, field_invalid(at, go_quoted(name), "duplicate version"));
      continue;
    }
    const std::string problem = check_dns1035_label(name);
    if (!problem.empty()) report.add(kConversion, field_invalid(at, go_quoted(name), problem));
  }
  if (seen.count("v1") + seen.count("v1beta1") != 0) return;
  report.add(kConversion, field_invalid(field, shown_value(*versions),
                                        "must include at least one of v1, v1beta1"));
}

}  // namespace

void check_conversion(const Json& spec, Report& report) {
  const Json* conversion = base::find(spec, {"conversion"});
  if (conversion == nullptr || !conversion->is_object()) return;
  const std::string strategy = string_at(*conversion, {"strategy"});
  if (strategy.empty()) {
    report.add(kConversion, field_required("spec.conversion.strategy"));
  } else if (strategy != "None" && strategy != "Webhook") {
    report.add(kConversion, field_not_supported("spec.conversion.strategy", core::go_json(strategy),
                                                {"None", "Webhook"}));
  }
  const Json* client = base::find(*conversion, {"webhook", "clientConfig"});
  const Json* versions = base::find(*conversion, {"webhook", "conversionReviewVersions"});
  if (strategy == "Webhook") {
    check_client(client, report);
    check_review_versions(versions, report);
    return;
  }
  const char* why = "should not be set when strategy is not set to Webhook";
  if (client != nullptr) report.add(kConversion, field_forbidden(kClient, why));
  if (versions != nullptr && versions->is_array() && !versions->empty()) {
    report.add(kConversion, field_forbidden("spec.conversion.conversionReviewVersions", why));
  }
}

}  // namespace kubewatch::schema
