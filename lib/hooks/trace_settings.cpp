#include "hooks/trace_settings.hpp"

#include <algorithm>
#include <array>

#include "base/ascii.hpp"
#include "base/files.hpp"
#include "base/number_text.hpp"
#include "base/strings.hpp"
#include "http/checks.hpp"
#include "http/listen_address.hpp"
#include "http/pem.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMostHeaders = 32;
constexpr std::size_t kMostAttributes = 128;
constexpr std::size_t kMostPem = 1U << 20U;
constexpr std::int64_t kMostMilliseconds = 600000;

// What a request says of itself, or of its connection.
constexpr std::array<std::string_view, 13> kOwnHeaders = {"connection",
                                                          "content-encoding",
                                                          "content-length",
                                                          "content-type",
                                                          "expect",
                                                          "host",
                                                          "keep-alive",
                                                          "proxy-connection",
                                                          "te",
                                                          "trailer",
                                                          "transfer-encoding",
                                                          "upgrade",
                                                          "accept-encoding"};

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && base::hex_value(text[i + 1]) >= 0 &&
        base::hex_value(text[i + 2]) >= 0) {
      out += static_cast<char>(base::hex_value(text[i + 1]) * 16 + base::hex_value(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

Error wrong_variable(const std::string& variable, const std::string& problem) {
  return Error(ErrorKind::invalid, variable + " " + problem);
}

bool is_http_url(const std::string& text) {
  return http::is_request_target(text) && http::parse_endpoint(text).ok();
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

// NAME=VALUE,NAME=VALUE with percent signs in the values, as W3C baggage has it.
Result<Pairs> parse_pairs(const std::string& variable, const std::string& text, std::size_t most) {
  Pairs out;
  for (const std::string& part : base::split(text, ',')) {
    if (base::trim(part).empty()) continue;
    const std::size_t equals = part.find('=');
    std::string name(base::trim(std::string_view(part).substr(0, equals)));
    if (equals == std::string::npos || name.empty() || out.size() >= most) {
      return wrong_variable(
          variable, "must be NAME=VALUE,NAME=VALUE, at most " + std::to_string(most) + " of them");
    }
    out.emplace_back(std::move(name),
                     percent_decoded(base::trim(std::string_view(part).substr(equals + 1))));
  }
  return out;
}

Result<void> check_headers(const std::string& variable, const Pairs& headers) {
  for (const auto& [name, value] : headers) {
    if (!http::is_token(name)) return wrong_variable(variable, "holds what is no header name");
    if (!http::is_header_value(value)) {
      return wrong_variable(variable, "holds a line break or another control character");
    }
    const std::string lower = base::to_lower(name);
    if (std::find(kOwnHeaders.begin(), kOwnHeaders.end(), lower) != kOwnHeaders.end()) {
      return wrong_variable(variable, "sets " + lower + ", which each request sets for itself");
    }
  }
  return {};
}

class SettingsReader {
 public:
  explicit SettingsReader(const Environment& environment) : environment_(environment) {}

  Result<std::optional<TraceTarget>> read() {
    if (base::to_lower(get("OTEL_SDK_DISABLED")) == "true" || !wants_traces()) {
      return std::optional<TraceTarget>();
    }
    KW_ASSIGN(const bool there, read_url());
    if (!there) return std::optional<TraceTarget>();
    KW_TRY(read_headers());
    read_resource();
    read_timeout();
    out_.ca = file("CERTIFICATE");
    out_.certificate = file("CLIENT_CERTIFICATE");
    out_.key = file("CLIENT_KEY");
    if (out_.certificate.path.empty() != out_.key.path.empty()) {
      const bool key = out_.certificate.path.empty();
      return wrong_variable(
          key ? out_.key.variable : out_.certificate.variable,
          std::string("needs the ") + (key ? "certificate of that key" : "key of it") +
              " as well: OTEL_EXPORTER_OTLP_CLIENT_" + (key ? "CERTIFICATE" : "KEY"));
    }
    read_sampler();
    read_protocol();
    return std::optional(std::move(out_));
  }

 private:
  std::string get(const std::string& name) const { return environment_(name).value_or(""); }
  // That of traces alone goes before the general one; with the name of the one that it is.
  std::pair<std::string, std::string> of_exporter(const std::string& name) const {
    const std::string own = "OTEL_EXPORTER_OTLP_TRACES_" + name;
    if (std::string value = get(own); !value.empty()) return {own, std::move(value)};
    const std::string general = "OTEL_EXPORTER_OTLP_" + name;
    return {general, get(general)};
  }
  TraceTarget::File file(const std::string& name) const {
    auto [variable, path] = of_exporter(name);
    return {std::move(variable), std::move(path)};
  }
  void warn(std::string sentence) { out_.warnings.push_back(std::move(sentence)); }

  bool wants_traces() {
    const std::string list = base::to_lower(get("OTEL_TRACES_EXPORTER"));
    bool others = false;
    bool otlp = list.empty();
    for (const std::string& part : base::split(list, ',')) {
      const std::string_view one = base::trim(part);
      if (one == "none") return false;
      otlp = otlp || one == "otlp";
      others = others || (one != "otlp" && !one.empty());
    }
    if (others) {
      warn(std::string("OTEL_TRACES_EXPORTER asks for something else than otlp: they are sent ") +
           (otlp ? "by that alone" : "by that all the same"));
    }
    return true;
  }

  Result<bool> read_url() {
    auto [variable, url] = of_exporter("ENDPOINT");
    if (url.empty()) return false;
    if (variable == "OTEL_EXPORTER_OTLP_ENDPOINT") {
      while (!url.empty() && url.back() == '/') url.pop_back();
      url += "/v1/traces";
    }
    if (!is_http_url(url)) return wrong_variable(variable, "must be an http or https URL");
    out_.url = std::move(url);
    return true;
  }

  Result<void> read_headers() {
    const auto [variable, text] = of_exporter("HEADERS");
    KW_ASSIGN(out_.headers, parse_pairs(variable, text, kMostHeaders));
    return check_headers(variable, out_.headers);
  }

  // One that cannot be read is discarded whole, as is said of it.
  void read_resource() {
    const std::string variable = "OTEL_RESOURCE_ATTRIBUTES";
    const auto pairs = parse_pairs(variable, get(variable), kMostAttributes);
    if (!pairs.ok()) warn(pairs.error().message() + ": nothing of it is taken");
    for (const auto& [name, value] : pairs.ok() ? *pairs : Pairs{}) {
      out_.resource[name] = value;
    }
    if (const auto own = out_.resource.extract("service.name"); !own.empty()) {
      if (!own.mapped().empty()) out_.service_name = own.mapped();
    }
    if (const std::string name = get("OTEL_SERVICE_NAME"); !name.empty()) out_.service_name = name;
  }

  void read_timeout() {
    const auto [variable, text] = of_exporter("TIMEOUT");
    if (text.empty()) return;
    const auto value = base::read_number<std::int64_t>(text);
    if (!value || *value < 0 || *value > kMostMilliseconds) {
      return warn(variable + " is no number of milliseconds up to 600000: they have 10s");
    }
    // No limit at all would let a collector that hangs hold up all spans without a word.
    out_.timeout = Duration{*value == 0 ? kMostMilliseconds : *value};
  }

  // A run is the root of its trace: whatever is based on a parent has none.
  void read_sampler() {
    const std::string asked = base::to_lower(get("OTEL_TRACES_SAMPLER"));
    if (asked.empty() || asked == "always_on" || asked == "parentbased_always_on") return;
    if (asked == "always_off" || asked == "parentbased_always_off") {
      out_.sampled = 0;
    } else if (asked == "traceidratio" || asked == "parentbased_traceidratio") {
      read_ratio();
    } else {
      warn("OTEL_TRACES_SAMPLER asks for a sampler that there is not: all are sent");
    }
  }

  void read_ratio() {
    const std::string text = get("OTEL_TRACES_SAMPLER_ARG");
    if (text.empty()) return;
    const auto ratio = base::read_number<double>(text);
    if (!ratio || !(*ratio >= 0 && *ratio <= 1)) {
      return warn("OTEL_TRACES_SAMPLER_ARG is no number from 0 to 1: all are sent");
    }
    out_.sampled = *ratio;
  }

  // Of the three that there are only one is spoken.
  void read_protocol() {
    const auto [variable, text] = of_exporter("PROTOCOL");
    const std::string asked = base::to_lower(text);
    if (asked.empty() || asked == "http/json") return;
    const bool known = asked == "grpc" || asked == "http/protobuf";
    warn(variable + " asks for " + (known ? asked : "something else") +
         ": they are sent as http/json, to the same address");
  }

  const Environment& environment_;
  TraceTarget out_;
};

Result<std::string> content_of(const TraceTarget::File& file) {
  if (file.path.empty()) return std::string();
  return base::read_regular_file(file.path, kMostPem).with_context(file.variable);
}

}  // namespace

Result<std::optional<TraceTarget>> trace_target(const Environment& environment) {
  return SettingsReader(environment).read();
}

void choose_trace_proxy(const client::ConfigEnvironment& environment, TraceTarget& target) {
  if (http::is_loopback_host(client::host_of_url(target.url))) return;
  const bool tls = target.url.starts_with("https://");
  target.proxy = tls ? environment.https_proxy : environment.http_proxy;
  target.no_proxy = environment.no_proxy;
}

Result<http::TlsOptions> read_trace_tls(const TraceTarget& target) {
  http::TlsOptions out;
  KW_ASSIGN(out.ca_pem, content_of(target.ca));
  KW_ASSIGN(out.client_cert_pem, content_of(target.certificate));
  KW_ASSIGN(out.client_key_pem, content_of(target.key));
  if (!target.ca.path.empty()) {
    KW_TRY(http::parse_certificate(out.ca_pem, target.ca.variable));
  }
  if (!target.key.path.empty()) {
    KW_TRY(http::parse_certificate(out.client_cert_pem, target.certificate.variable));
    KW_TRY(http::parse_private_key(out.client_key_pem, target.key.variable));
    KW_TRY(http::check_key_pair(out.client_cert_pem, out.client_key_pem, target.key.variable));
  }
  return out;
}

}  // namespace kubewatch::hooks
