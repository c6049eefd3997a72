#include "hooks/recorded_request.hpp"

#include <algorithm>

#include "core/selector.hpp"
#include "hooks/ownership.hpp"

namespace kubewatch::hooks {

std::string verb_of(const std::string& method, std::string_view content_type) {
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "DELETE") return "delete";
  return content_type.find("apply-patch") != std::string_view::npos ? "apply" : "patch";
}

std::string ApiTarget::parameter(std::string_view wanted) const {
  const auto values = core::QueryValues::parse(query);
  return values.ok() ? values->get(wanted) : "";
}

bool ApiTarget::flag(std::string_view wanted) const {
  const auto values = core::QueryValues::parse(query);
  return values.ok() && values->flag(wanted);
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
  const auto mark = url.find('?');
  const std::string_view path = url.substr(0, mark);
  if (!path.starts_with("/")) return std::nullopt;
  const auto segments = core::path_segments(path);
  if (!segments.ok()) return std::nullopt;
  auto named = core::parse_api_path(*segments);
  if (!named) return std::nullopt;
  ApiTarget out{*std::move(named), std::string(path), ""};
  if (mark != std::string_view::npos) out.query = url.substr(mark + 1);
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

bool can_be_left(std::string_view labels, std::string_view fields) {
  const auto by_label = core::LabelSelector::parse(labels);
  const auto by_field = core::FieldSelector::parse(fields);
  if (!by_label.ok() || !by_field.ok()) return true;
  const auto& of_labels = by_label->requirements();
  const auto& of_fields = by_field->requirements();
  return std::any_of(of_labels.begin(), of_labels.end(),
                     [](const auto& one) { return one.key != kControllerLabel; }) ||
         std::any_of(of_fields.begin(), of_fields.end(), [](const auto& one) {
           return one.path != "metadata.name" && one.path != "metadata.namespace";
         });
}

RequestUse use_of(const std::string& method, const ApiTarget& target) {
  if (method == "GET") {
    // One object is watched by the old prefix only.
    if (target.watch) return RequestUse::watch;
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
