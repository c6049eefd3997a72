// Log lines of requests.
#include "client/request_log.hpp"

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

// The quoted text of `299 - "text"`, "" when it is something else.
std::string warning_text(std::string_view value) {
  if (!value.starts_with("299 ")) return "";
  const std::size_t open = value.find('"');
  if (open == std::string_view::npos) return "";
  std::string out;
  for (std::size_t i = open + 1; i < value.size() && value[i] != '"'; ++i) {
    if (value[i] == '\\' && i + 1 < value.size()) ++i;
    out += value[i];
  }
  return out.substr(0, kMaxWarningBytes);
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
    if (base::to_lower(name) != "warning" || seen_.size() >= kMaxWarnings) continue;
    std::string text = warning_text(value);
    if (text.empty()) continue;
    if (!seen_.insert(text).second) continue;
    if (!shown) text = without_quotes(text);
    base::LogFields fields;
    if (!shown) fields = {{"method", request.method}, {"url", request.url}};
    base::log_warn("warning from the server: " + text, of_scope(std::move(fields), scope));
  }
}

}  // namespace kubewatch::client
