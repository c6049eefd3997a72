#include "hooks/recorded_request.hpp"

#include <algorithm>
#include <vector>

#include "base/strings.hpp"

namespace kubewatch::hooks {

namespace {

std::string decoded(const std::string& text) {
  auto out = base::percent_decode(text);
  if (!out.ok()) return text;
  return *std::move(out);
}

}  // namespace

std::string verb_of(const std::string& method, std::string_view content_type) {
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "DELETE") return "delete";
  return content_type.find("apply-patch") != std::string_view::npos ? "apply" : "patch";
}

std::string ApiTarget::parameter(std::string_view wanted) const {
  for (const std::string& part : base::split(query, '&')) {
    const auto equals = part.find('=');
    if (equals == std::string::npos || std::string_view(part).substr(0, equals) != wanted) continue;
    auto value = base::percent_decode(part.substr(equals + 1), true);
    if (value.ok()) return std::move(*value);
  }
  return "";
}

bool ApiTarget::flag(std::string_view wanted) const {
  const std::string value = parameter(wanted);
  return value == "true" || value == "1";
}

std::string ApiTarget::stream() const {
  return path + "?" + parameter("labelSelector") + "&" + parameter("fieldSelector");
}

std::optional<ApiTarget> api_target(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme != std::string_view::npos) {
    const auto slash = url.find('/', scheme + 3);
    url = slash == std::string_view::npos ? "/" : url.substr(slash);
    // A server may stand below a path of its own.
    url = url.substr(std::min({url.find("/api/"), url.find("/apis/"), url.size()}));
  }
  ApiTarget out;
  const auto mark = url.find('?');
  out.path = url.substr(0, mark);
  if (mark != std::string_view::npos) out.query = url.substr(mark + 1);
  std::vector<std::string> words = base::split(out.path, '/');
  for (std::string& word : words) word = decoded(word);
  if (words.size() < 4 || !words[0].empty()) return std::nullopt;
  std::size_t at = 0;
  if (words[1] == "api") {
    out.version = words[2];
    at = 3;
  } else if (words[1] == "apis" && words.size() >= 5) {
    out.group = words[2];
    out.version = words[3];
    at = 4;
  } else {
    return std::nullopt;
  }
  // Namespaces are a kind as well: two words are a namespace itself, or its subresource.
  const bool in_namespace = words[at] == "namespaces" && words.size() > at + 2 &&
                            words[at + 2] != "status" && words[at + 2] != "finalize";
  if (in_namespace) {
    out.namespace_ = words[at + 1];
    at += 2;
  }
  out.plural = words[at];
  if (words.size() > at + 1) out.name = words[at + 1];
  if (words.size() > at + 2) out.subresource = words[at + 2];
  if (out.plural.empty()) return std::nullopt;
  return out;
}

bool is_review(const ApiTarget& target) {
  return target.group == "authorization.k8s.io" || target.group == "authentication.k8s.io" ||
         (target.plural == "serviceaccounts" && target.subresource == "token");
}

bool is_left_out(const ApiTarget& target) {
  if (target.group == "coordination.k8s.io" && target.plural == "leases") return true;
  if (target.plural == "events" && (target.group.empty() || target.group == "events.k8s.io")) {
    return true;
  }
  return is_review(target) || !target.parameter("dryRun").empty();
}

RequestUse use_of(const std::string& method, const ApiTarget& target) {
  if (method == "GET") {
    if (!target.name.empty()) return RequestUse::other;
    return target.flag("watch") ? RequestUse::watch : RequestUse::list;
  }
  return method == "HEAD" || is_left_out(target) ? RequestUse::other : RequestUse::write;
}

std::optional<Json> write_entry(const std::string& method, const std::string& url,
                                std::string_view content_type, const std::string& body) {
  const auto target = api_target(url);
  if (!target || use_of(method, *target) != RequestUse::write) return std::nullopt;
  Json out = {{"verb", verb_of(method, content_type)}, {"path", target->path}};
  if (const auto manager = target->parameter("fieldManager"); !manager.empty()) {
    out["manager"] = manager;
  }
  auto sent = base::parse_json(body);
  if (method == "POST" && target->name.empty() && sent.ok()) {
    out["path"] = target->path + "/" + base::string_at(*sent, {"metadata", "name"});
  }
  if (method != "DELETE" && sent.ok()) out["body"] = std::move(*sent);
  return out;
}

}  // namespace kubewatch::hooks
