#include "apiserver/delete_options.hpp"

#include <fmt/format.h>

#include <set>

#include "builtin/misread.hpp"
#include "core/go_json.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::apiserver {

namespace {

using base::string_at;

constexpr const char kOptionsKind[] = "DeleteOptions";

std::optional<std::string> text_at(const Json& body, std::initializer_list<std::string_view> path) {
  const Json* value = base::find(body, path);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return value->get<std::string>();
}

std::optional<std::string> why_misread_options(const Json& body) {
  static const builtin::WireType& type = *builtin::wire_type("meta/v1.DeleteOptions");
  return builtin::why_undecoded(type, body);
}

// An empty policy is one that was given.
void check_propagation(const Json& body, FieldErrors& errors) {
  static const std::set<std::string> known = {"Background", "Foreground", "Orphan"};
  const auto policy = text_at(body, {"propagationPolicy"});
  if (!policy) return;
  const Json* orphan = base::find(body, {"orphanDependents"});
  if (orphan != nullptr && orphan->is_boolean()) {
    errors.push_back(field_invalid("propagationPolicy", core::go_json(*policy),
                                   "orphanDependents and deletionPropagation cannot be both set"));
  }
  if (known.count(*policy) == 0) {
    errors.push_back(field_not_supported("propagationPolicy", core::go_json(*policy),
                                         {"Foreground", "Background", "Orphan", "nil"}));
  }
}

// Whether it is a dry run.
bool check_dry_run(const Json& body, FieldErrors& errors) {
  const Json* listed = base::find(body, {"dryRun"});
  if (listed == nullptr || listed->empty()) return false;
  for (const auto& one : *listed) {
    if (one == "All") continue;
    errors.push_back(field_not_supported("dryRun", schema::shown_value(*listed), {"All"}));
    break;
  }
  return true;
}

// The kind of any version is taken.
Result<void> check_options_kind(const Json& body) {
  const std::string kind = string_at(body, {"kind"});
  if (kind.empty() || kind == kOptionsKind) return {};
  const std::string version = string_at(body, {"apiVersion"});
  return bad_request(
      fmt::format("no kind \"{}\" is registered for version \"{}\" in scheme "
                  "\"pkg/runtime/scheme.go:111\"",
                  kind, version.empty() ? "meta.k8s.io/v1" : version));
}

}  // namespace

Result<DeleteOptions> delete_options_of(const Json& body) {
  if (body.is_null()) return DeleteOptions{};
  KW_TRY(check_options_kind(body));
  if (const auto why = why_misread_options(body)) return bad_request(*why);
  DeleteOptions out;
  FieldErrors errors;
  check_propagation(body, errors);
  out.dry_run = check_dry_run(body, errors);
  if (!errors.empty()) return invalid_options(kOptionsKind, errors);
  out.uid = text_at(body, {"preconditions", "uid"});
  out.resource_version = text_at(body, {"preconditions", "resourceVersion"});
  out.propagation = string_at(body, {"propagationPolicy"});
  const Json* orphan = base::find(body, {"orphanDependents"});
  if (orphan != nullptr && orphan->is_boolean()) {
    out.propagation = orphan->get<bool>() ? "Orphan" : "Background";
    out.by_orphan_flag = true;
  }
  return out;
}

Result<DeleteOptions> delete_options_of(const Query& query) {
  Json body = Json::object();
  if (query.has("gracePeriodSeconds")) {
    KW_TRY(parse_whole(query.get("gracePeriodSeconds")));
  }
  if (query.has("orphanDependents")) body["orphanDependents"] = query.flag("orphanDependents");
  if (query.has("propagationPolicy")) body["propagationPolicy"] = query.get("propagationPolicy");
  if (query.has("dryRun")) body["dryRun"] = query.all("dryRun");
  return delete_options_of(body);
}

}  // namespace kubewatch::apiserver
