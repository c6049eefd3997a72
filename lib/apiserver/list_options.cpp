#include "apiserver/list_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "apiserver/convert.hpp"
#include "apiserver/selector_words.hpp"
#include "base/strings.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::apiserver {

namespace {

using Names = std::set<std::string>;

// Field labels of built-in kinds beyond metadata.name and metadata.namespace.
const Names& builtin_fields(const std::string& plural) {
  static const std::map<std::string, Names> table = {
      {"pods",
       {"spec.nodeName", "spec.host", "spec.restartPolicy", "spec.schedulerName",
        "spec.serviceAccountName", "spec.hostNetwork", "status.phase", "status.podIP",
        "status.podIPs", "status.nominatedNodeName"}},
      {"events",
       {"involvedObject.kind", "involvedObject.namespace", "involvedObject.name",
        "involvedObject.uid", "involvedObject.apiVersion", "involvedObject.resourceVersion",
        "involvedObject.fieldPath", "reason", "reportingComponent", "source", "type"}},
      {"events.events.k8s.io",
       {"regarding.kind", "regarding.namespace", "regarding.name", "regarding.uid",
        "regarding.apiVersion", "regarding.resourceVersion", "regarding.fieldPath", "reason",
        "reportingController", "type"}},
      {"namespaces", {"status.phase"}},
      {"secrets", {"type"}},
      {"nodes", {"spec.unschedulable"}},
      {"services", {"spec.clusterIP", "spec.type"}},
      {"jobs.batch", {"status.successful"}},
      {"replicationcontrollers", {"status.replicas"}},
      {"certificatesigningrequests.certificates.k8s.io", {"spec.signerName"}},
      {"resourceslices.resource.k8s.io", {"spec.driver", "spec.nodeName"}},
  };
  static const Names none;
  const auto it = table.find(plural);
  return it == table.end() ? none : it->second;
}

// Each kind has words of its own.
Error unsupported_label(const Resource& resource, const std::string& label) {
  const std::string plural = resource.type.qualified_plural();
  if (plural == "jobs.batch") {
    return bad_request(fmt::format("field label \"{}\" not supported for Job", label));
  }
  if (plural == "resourceslices.resource.k8s.io") {
    return bad_request(fmt::format("field label not supported for {}, Kind=ResourceSlice: {}",
                                   resource.type.gvk.api_version(), label));
  }
  return bad_request("field label not supported: " + label);
}

Result<void> check_field(const Resource& resource, const std::string& label) {
  if (label == "metadata.name") return {};
  const bool of_namespace = label == "metadata.namespace";
  if (of_namespace && resource.type.namespaced) return {};
  if (resource.custom) {
    const auto& known = resource.custom->selectable_fields;
    if (std::find(known.begin(), known.end(), label) != known.end()) return {};
    return bad_request("field label not supported: " + label);
  }
  const Names& known = builtin_fields(resource.type.qualified_plural());
  // Kinds without labels of their own have this one, whether they have namespaces or not.
  if (known.count(label) != 0 || (of_namespace && known.empty())) return {};
  if (!known.empty()) return unsupported_label(resource, label);
  return bad_request(
      fmt::format("{} is not a known field selector: only \"metadata.name\", "
                  "\"metadata.namespace\"",
                  base::dump_json(Json(label))));
}

Result<void> check_fields(const Resource& resource, const std::string& selector) {
  for (const std::string& label : selected_fields(selector)) {
    KW_TRY(check_field(resource, label));
  }
  return {};
}

Result<core::LabelSelector> parse_labels(const std::string& text) {
  if (const auto why = why_no_label_selector(text)) return bad_request(*why);
  auto labels = core::LabelSelector::parse(text);
  return labels ? std::move(labels) : bad_request(labels.error().message());
}

// Where a label is not the path of its value. Of events the label is the component alone; where
// that is empty the real server takes reportingComponent, which no single path can say.
std::string path_of_label(const std::string& plural, const std::string& label) {
  static const std::map<std::pair<std::string, std::string>, std::string> table = {
      {{"events", "source"}, "source.component"},
      {{"jobs.batch", "status.successful"}, "status.succeeded"},
      {{"pods", "spec.host"}, "spec.nodeName"},
  };
  const auto it = table.find({plural, label});
  return it == table.end() ? label : it->second;
}

// Values that objects do not show where they are false or 0, which is then what they are chosen by.
bool is_truth(const std::string& path) {
  return path == "spec.unschedulable" || path == "spec.hostNetwork";
}
bool is_unshown_count(const std::string& path) {
  return path == "status.succeeded";
}

// Of labels and the server's own values: of paths and what objects show there.
core::FieldSelector as_shown(const Resource& resource, const core::FieldSelector& given) {
  if (resource.custom) return given;
  return given.with_each([&](core::FieldRequirement& one) {
    one.path = path_of_label(resource.type.qualified_plural(), one.path);
    const bool truth = is_truth(one.path);
    const bool count = is_unshown_count(one.path);
    if ((truth || count) && one.value.empty()) {
      one.value = "none";  // no value is empty
    } else if (truth && one.value == "false") {
      one.value = "true";
      one.equal = !one.equal;
    } else if (count && one.value == "0") {
      one.value.clear();
    }
  });
}

// Without the terms that name no field and no value, which choose everything.
std::string naming_terms(const std::string& fields) {
  static const Names nothing = {"", "=", "==", "!="};
  std::vector<std::string> out;
  for (const auto& term : base::split(fields, ',')) {
    // Behind a comma that is escaped it goes on.
    const bool begins = out.empty() || !out.back().ends_with('\\');
    if (!begins || nothing.count(std::string(term)) == 0) out.emplace_back(term);
  }
  return base::join(out, ",");
}

constexpr const char kMatchField[] = "resourceVersionMatch";

void check_continue(const ListOptions& options, FieldErrors& errors) {
  if (options.continue_token.empty()) return;
  errors.push_back(
      field_forbidden(kMatchField, "resourceVersionMatch is forbidden when continue is provided"));
}

void check_watch_match(const ListOptions& options, const std::string& match, FieldErrors& errors) {
  if (options.send_initial_events && match != "NotOlderThan") {
    errors.push_back(field_forbidden(
        kMatchField, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  } else if (!options.send_initial_events && !match.empty()) {
    errors.push_back(field_forbidden(
        kMatchField,
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
  }
  if (!match.empty() && match != "NotOlderThan") {
    errors.push_back(field_not_supported(kMatchField, '"' + match + '"', {"NotOlderThan"}));
  }
  // A watch from anywhere that says neither counts as one with initial events, NotOlderThan.
  const bool from_anywhere = options.resource_version.empty() || options.resource_version == "0";
  if (!match.empty() || (from_anywhere && !options.send_initial_events)) {
    check_continue(options, errors);
  }
}

void check_match(const ListOptions& options, const std::string& match, FieldErrors& errors) {
  if (options.watch) return check_watch_match(options, match, errors);
  if (!match.empty()) {
    if (options.resource_version.empty()) {
      errors.push_back(field_forbidden(
          kMatchField, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
    }
    check_continue(options, errors);
    if (match != "Exact" && match != "NotOlderThan") {
      errors.push_back(
          field_not_supported(kMatchField, '"' + match + '"', {"Exact", "NotOlderThan", ""}));
    }
    if (match == "Exact" && options.resource_version == "0") {
      errors.push_back(field_forbidden(
          kMatchField, "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""));
    }
  }
  if (options.send_initial_events) {
    errors.push_back(
        field_forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
}

Result<std::int64_t> number(const Query& query, const char* name) {
  if (!query.has(name)) return std::int64_t{0};
  return parse_whole(query.get(name));
}

Result<void> read_version(const Query& query, ListOptions& out) {
  out.resource_version = query.get("resourceVersion");
  if (out.resource_version.empty()) return {};
  // Whatever it is: that it is there is told of first, with the token.
  if (!out.watch && !out.continue_token.empty()) return {};
  auto version = parse_version(out.resource_version);
  if (!version && out.watch) return internal_error(version.error().message());
  if (!version) return bad_request("invalid resource version: " + version.error().message());
  out.version = version.value();
  return {};
}

}  // namespace

Result<std::uint64_t> parse_version(const std::string& text) {
  auto version = schema::parse_uint(text);
  if (version) return version;
  return Error(ErrorKind::invalid, fmt::format("resourceVersion: Invalid value: {}: {}",
                                               schema::go_quoted(text), version.error().message()));
}

Result<ListOptions> parse_list_options(const Resource& resource, const Query& query, bool watch) {
  ListOptions out;
  out.watch = watch;
  KW_ASSIGN(const std::int64_t timeout, number(query, "timeoutSeconds"));
  if (timeout > 0) out.timeout = Duration(std::min<std::int64_t>(timeout, 86400 * 365) * 1000);
  KW_ASSIGN(const std::int64_t limit, number(query, "limit"));
  out.limit = limit > 0 ? static_cast<std::uint64_t>(limit) : 0;
  KW_ASSIGN(out.labels, parse_labels(query.get("labelSelector")));
  std::string fields = query.get("fieldSelector");
  if (const auto why = why_no_field_selector(fields)) return bad_request(*why);
  fields = naming_terms(fields);
  out.continue_token = query.get("continue");
  out.bookmarks = query.flag("allowWatchBookmarks");
  if (query.has("sendInitialEvents")) out.send_initial_events = query.flag("sendInitialEvents");
  out.resource_version = query.get("resourceVersion");
  const std::string match = query.get("resourceVersionMatch");
  FieldErrors errors;
  check_match(out, match, errors);
  if (!errors.empty()) return invalid_options("ListOptions", errors);
  KW_TRY(check_fields(resource, fields));
  auto selector = core::FieldSelector::parse(fields);
  if (!selector) return bad_request(selector.error().message());
  out.fields = as_shown(resource, *selector);
  if (match == "Exact") out.match = core::VersionMatch::exact;
  if (match == "NotOlderThan") out.match = core::VersionMatch::not_older_than;
  KW_TRY(read_version(query, out));
  return out;
}

Result<ListOptions> stored_list_options(const Resource& resource, const Query& query, bool watch) {
  KW_ASSIGN(ListOptions out, parse_list_options(resource, query, watch));
  out.fields = to_stored(resource, out.fields);
  return out;
}

Duration watch_time(const ListOptions& options, base::Random& random) {
  constexpr std::int64_t kLeastWatchMs = 1800 * 1000;
  return options.timeout.value_or(
      Duration(kLeastWatchMs + static_cast<std::int64_t>(random.below(kLeastWatchMs))));
}

}  // namespace kubewatch::apiserver
