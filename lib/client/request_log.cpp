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

}  // namespace

bool may_log_body(const core::ResourceType* type, std::string_view subresource) {
  if (type == nullptr || subresource == "token") return false;
  const std::string& plural = type->plural;
  return plural.find("secret") == std::string::npos && plural.find("token") == std::string::npos;
}

void log_request_body(const http::Request& request) {
  if (base::log_verbosity() < kBodyLevel || request.body.empty()) return;
  base::vlog(kBodyLevel, "request body", {{"body", cut(request.body)}});
}

void log_answer(const std::string& method, const std::string& url, int status, Duration took) {
  if (base::log_verbosity() < kRequestLevel) return;
  base::vlog(kRequestLevel, "request",
             {{"method", method},
              {"url", url},
              {"status", std::to_string(status)},
              {"ms", std::to_string(took.count())}});
}

void log_no_answer(const std::string& method, const std::string& url, const Error& error,
                   Duration took) {
  if (base::log_verbosity() < kRequestLevel) return;
  base::vlog(kRequestLevel, "request",
             {{"method", method},
              {"url", url},
              {"error", error.render()},
              {"ms", std::to_string(took.count())}});
}

void log_answer_body(std::string_view body) {
  if (base::log_verbosity() < kBodyLevel || body.empty()) return;
  base::vlog(kBodyLevel, "answer body", {{"body", cut(body)}});
}

void ServerWarnings::report(const http::Headers& headers) {
  for (const auto& [name, value] : headers.all()) {
    if (base::to_lower(name) != "warning" || seen_.size() >= kMaxWarnings) continue;
    const std::string text = warning_text(value);
    if (!text.empty() && seen_.insert(text).second)
      base::log_warn("warning from the server: " + text);
  }
}

}  // namespace kubewatch::client
