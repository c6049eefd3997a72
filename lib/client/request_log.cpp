// Log lines of requests.
#include "client/request_log.hpp"

#include <algorithm>
#include <vector>

#include "base/log.hpp"
#include "base/strings.hpp"

namespace kubewatch::client {
namespace {

constexpr int kRequestLevel = 6;
constexpr int kBodyLevel = 8;
constexpr std::size_t kShownBody = 1024;
constexpr std::size_t kMaxWarnings = 256;
constexpr std::size_t kMaxWarningBytes = 1024;

std::string cut(std::string_view body) {
  if (body.size() <= kShownBody) return std::string(body);
  return std::string(body.substr(0, kShownBody)) + "... (" + std::to_string(body.size()) +
         " bytes)";
}

// What stands between the quotes that `rest` begins with, which is taken off it.
std::string take_quoted(std::string_view& rest) {
  std::string out;
  std::size_t i = 1;
  for (; i < rest.size() && rest[i] != '"'; ++i) {
    if (rest[i] == '\\' && i + 1 < rest.size()) ++i;
    out += rest[i];
  }
  rest.remove_prefix(std::min(i + 1, rest.size()));
  return out;
}

// The texts of `299 - "text"`, which may have a quoted date behind it; one value may hold several
// with commas between them (RFC 9110, 5.3).
std::vector<std::string> warning_texts(std::string_view value) {
  std::vector<std::string> out;
  const auto skip = [&](std::string_view what) {
    value.remove_prefix(std::min(value.find_first_not_of(what), value.size()));
  };
  for (skip(" \t,"); !value.empty(); skip(" \t,")) {
    const bool ours = value.starts_with("299 ");
    value.remove_prefix(std::min(value.find('"'), value.size()));
    if (value.empty()) break;
    std::string text = take_quoted(value);
    skip(" \t");
    if (value.starts_with('"')) take_quoted(value);
    if (ours && !text.empty()) out.push_back(text.substr(0, kMaxWarningBytes));
  }
  return out;
}

// What a policy evaluates may quote whatever is in the object, a webhook says what it likes, and
// nothing tells its words from the server's own.
std::string without_quotes(std::string_view text) {
  constexpr std::string_view kPolicy = "Validation failed for ValidatingAdmissionPolicy '";
  std::string out;
  if (text.starts_with(kPolicy)) {
    const std::size_t end = text.find("': ");  // behind the names of policy and binding
    if (end != std::string_view::npos) out = std::string(text.substr(0, end + 3));
  }
  return out + "(its text is not shown: it may quote values of a Secret or a token)";
}

base::LogFields of_scope(base::LogFields fields, const RequestObserverPtr& scope) {
  if (scope == nullptr) return fields;
  for (base::LogField& field : scope->log_fields()) fields.push_back(std::move(field));
  return fields;
}

}  // namespace

bool may_log_body(std::string_view plural, std::string_view subresource) {
  return subresource != "token" && plural.find("secret") == std::string_view::npos &&
         plural.find("token") == std::string_view::npos;
}

void log_request_body(const http::Request& request, const RequestObserverPtr& scope) {
  if (base::log_verbosity() < kBodyLevel || request.body.empty()) return;
  base::vlog(kBodyLevel, "request body", of_scope({{"body", cut(request.body)}}, scope));
}

void log_answer(const std::string& method, const std::string& url, int status, Duration took,
                const RequestObserverPtr& scope) {
  if (base::log_verbosity() < kRequestLevel) return;
  base::vlog(kRequestLevel, "request",
             of_scope({{"method", method},
                       {"url", url},
                       {"status", std::to_string(status)},
                       {"ms", std::to_string(took.count())}},
                      scope));
}

void log_no_answer(const std::string& method, const std::string& url, const Error& error,
                   Duration took, const RequestObserverPtr& scope) {
  if (base::log_verbosity() < kRequestLevel) return;
  base::vlog(kRequestLevel, "request",
             of_scope({{"method", method},
                       {"url", url},
                       {"error", error.render()},
                       {"ms", std::to_string(took.count())}},
                      scope));
}

void log_answer_body(std::string_view body, const RequestObserverPtr& scope) {
  if (base::log_verbosity() < kBodyLevel || body.empty()) return;
  base::vlog(kBodyLevel, "answer body", of_scope({{"body", cut(body)}}, scope));
}

void ServerWarnings::report(const http::Request& request, const http::Headers& headers,
                            bool may_quote, const RequestObserverPtr& scope) {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const bool shown = reads || may_quote || shows_all_;
  for (const auto& [name, value] : headers.all()) {
    if (base::to_lower(name) != "warning") continue;
    for (std::string& text : warning_texts(value)) {
      if (seen_.size() >= kMaxWarnings || !seen_.insert(text).second) continue;
      if (!shown) text = without_quotes(text);
      base::LogFields fields;
      if (!shown) fields = {{"method", request.method}, {"url", request.url}};
      base::log_warn("warning from the server: " + text, of_scope(std::move(fields), scope));
    }
  }
}

}  // namespace kubewatch::client
