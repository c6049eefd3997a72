#include "hooks/trace.hpp"

#include <fmt/format.h>

#include "base/ascii.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMostHeaders = 32;
constexpr int kInternal = 1;
constexpr int kClient = 3;
constexpr int kError = 2;

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
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (text.size() > scheme.size() && text.compare(0, scheme.size(), scheme) == 0) return true;
  }
  return false;
}

Result<std::vector<std::pair<std::string, std::string>>> parse_headers(const std::string& variable,
                                                                       const std::string& text) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const std::string& part : base::split(text, ',')) {
    if (base::trim(part).empty()) continue;
    const std::size_t equals = part.find('=');
    std::string name(base::trim(std::string_view(part).substr(0, equals)));
    if (equals == std::string::npos || name.empty() || out.size() >= kMostHeaders) {
      return wrong_variable(variable, "must be NAME=VALUE,NAME=VALUE, at most 32 of them");
    }
    std::string value = percent_decoded(base::trim(std::string_view(part).substr(equals + 1)));
    if ((name + value).find_first_of(std::string("\r\n\0", 3)) != std::string::npos) {
      return wrong_variable(variable, "holds a line break");
    }
    out.emplace_back(std::move(name), std::move(value));
  }
  return out;
}

std::string hex(std::uint64_t value) {
  return fmt::format("{:016x}", value == 0 ? 1 : value);
}

Json attribute(const std::string& key, const std::string& value) {
  return {{"key", key}, {"value", {{"stringValue", value}}}};
}

Json attributes(const std::map<std::string, std::string>& values) {
  Json out = Json::array();
  for (const auto& [key, value] : values) out.push_back(attribute(key, value));
  return out;
}

std::string nanoseconds(WallTime time) {
  using std::chrono::nanoseconds;
  return std::to_string(std::chrono::duration_cast<nanoseconds>(time.time_since_epoch()).count());
}

Json document_of(const Span& span) {
  Json out = {{"traceId", span.ids.trace},
              {"spanId", span.ids.span},
              {"name", span.name},
              {"kind", span.client ? kClient : kInternal},
              {"startTimeUnixNano", nanoseconds(span.start)},
              {"endTimeUnixNano", nanoseconds(span.start + span.took)},
              {"attributes", attributes(span.attributes)}};
  if (!span.parent.empty()) out["parentSpanId"] = span.parent;
  if (span.error) out["status"] = {{"code", kError}, {"message", *span.error}};
  return out;
}

// Of the three that there are only one is spoken.
std::string other_protocol(const Environment& environment) {
  for (const char* variable :
       {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"}) {
    const std::string asked = base::to_lower(environment(variable).value_or(""));
    if (asked.empty()) continue;
    if (asked == "http/json") return "";
    const bool known = asked == "grpc" || asked == "http/protobuf";
    return variable + std::string(" asks for ") + (known ? asked : "something else");
  }
  return "";
}

}  // namespace

Result<std::optional<TraceTarget>> trace_target(const Environment& environment) {
  const auto get = [&](const std::string& name) { return environment(name).value_or(""); };
  if (base::to_lower(get("OTEL_SDK_DISABLED")) == "true") return std::optional<TraceTarget>();
  TraceTarget out;
  std::string variable = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
  out.url = get(variable);
  if (out.url.empty()) {
    variable = "OTEL_EXPORTER_OTLP_ENDPOINT";
    out.url = get(variable);
    if (out.url.empty()) return std::optional<TraceTarget>();
    while (!out.url.empty() && out.url.back() == '/') out.url.pop_back();
    out.url += "/v1/traces";
  }
  if (!is_http_url(out.url)) return wrong_variable(variable, "must be an http or https URL");
  variable = "OTEL_EXPORTER_OTLP_HEADERS";
  KW_ASSIGN(out.headers, parse_headers(variable, get(variable)));
  if (const std::string name = get("OTEL_SERVICE_NAME"); !name.empty()) out.service_name = name;
  out.other_protocol = other_protocol(environment);
  return std::optional(std::move(out));
}

TraceIds new_trace(base::Random& random) {
  // All zeros are no identifier.
  return {hex(random.next() | 1U) + hex(random.next()), new_span_id(random)};
}

std::string new_span_id(base::Random& random) {
  return hex(random.next() | 1U);
}

void SpanQueue::add(Span span) {
  if (spans_.size() >= most_) {
    ++dropped_;
    return;
  }
  spans_.push_back(std::move(span));
}

std::vector<Span> SpanQueue::take(std::size_t most) {
  std::vector<Span> out;
  while (!spans_.empty() && out.size() < most) {
    out.push_back(std::move(spans_.front()));
    spans_.pop_front();
  }
  return out;
}

void SpanQueue::put_back(std::vector<Span> spans) {
  for (auto it = spans.rbegin(); it != spans.rend(); ++it) {
    if (spans_.size() >= most_) {
      ++dropped_;
      continue;
    }
    spans_.push_front(std::move(*it));
  }
}

std::string otlp_document(const std::vector<Span>& spans, const std::string& service_name) {
  Json list = Json::array();
  for (const Span& span : spans) list.push_back(document_of(span));
  const Json scope = {{"name", "kubewatch"}, {"version", KUBEWATCH_VERSION}};
  const Json resource = {
      {"attributes", Json::array({attribute("service.name", service_name),
                                  attribute("service.version", KUBEWATCH_VERSION)})}};
  const Json scope_spans = Json::array({{{"scope", scope}, {"spans", std::move(list)}}});
  return base::dump_json(
      {{"resourceSpans", Json::array({{{"resource", resource}, {"scopeSpans", scope_spans}}})}});
}

}  // namespace kubewatch::hooks
