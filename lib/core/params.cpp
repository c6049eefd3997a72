// Query strings and their validation. Parameters stand in alphabetical order, as kubectl sends
// them.
#include "core/params.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "base/strings.hpp"

namespace kubewatch::core {
namespace {

constexpr std::size_t kMaxFieldManagerBytes = 128;

class Query {
 public:
  void text(std::string_view name, std::string_view value) {
    if (value.empty()) return;
    if (!out_.empty()) out_ += '&';
    out_ += name;
    out_ += '=';
    out_ += base::percent_encode(value);
  }
  void flag(std::string_view name, bool value) {
    if (value) text(name, "true");
  }
  void number(std::string_view name, std::int64_t value) {
    if (value != 0) text(name, std::to_string(value));
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

std::string_view match_name(VersionMatch match) {
  switch (match) {
    case VersionMatch::not_older_than: return "NotOlderThan";
    case VersionMatch::exact: return "Exact";
    case VersionMatch::unset: break;
  }
  return "";
}

Error invalid(std::string message) {
  return Error(ErrorKind::invalid, std::move(message));
}

Result<void> check_field_validation(const std::string& value) {
  if (value.empty() || value == "Ignore" || value == "Warn" || value == "Strict") return {};
  return invalid("fieldValidation \"" + value + "\" is none of Ignore, Warn, Strict");
}

std::int64_t whole_seconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}

std::string_view propagation_name(Propagation propagation) {
  switch (propagation) {
    case Propagation::background: return "Background";
    case Propagation::foreground: return "Foreground";
    case Propagation::orphan: return "Orphan";
    case Propagation::unset: break;
  }
  return "";
}

}  // namespace

std::string_view accept_list(Content content) {
  if (content == Content::full) return "application/json";
  return "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
}

std::string_view accept_watch(Content content) {
  if (content == Content::full) return "application/json";
  return "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
}

Result<void> ListParams::validate() const {
  if (!continue_token.empty()) return {};  // resourceVersion and match are not sent then
  if (match != VersionMatch::unset && resource_version.empty()) {
    return invalid("resourceVersionMatch is forbidden unless resourceVersion is provided");
  }
  if (match == VersionMatch::exact && resource_version == "0") {
    return invalid("resourceVersionMatch \"Exact\" is forbidden for resourceVersion \"0\"");
  }
  return {};
}

std::string ListParams::query() const {
  Query query;
  query.text("continue", continue_token);
  query.text("fieldSelector", field_selector);
  query.text("labelSelector", label_selector);
  query.number("limit", limit);
  if (continue_token.empty()) {
    query.text("resourceVersion", resource_version);
    query.text("resourceVersionMatch", match_name(match));
  }
  return query.take();
}

Result<void> WatchParams::validate() const {
  if (timeout.count() < 0) return invalid("the watch timeout is negative");
  if (timeout.count() > 0 && whole_seconds(timeout) == 0) {
    return invalid("the watch timeout is below 1s; the server counts whole seconds");
  }
  if (send_initial_events && !bookmarks) {
    return invalid("sendInitialEvents needs bookmarks: the end of the initial events is one");
  }
  return {};
}

std::string WatchParams::query() const {
  Query query;
  query.flag("allowWatchBookmarks", bookmarks);
  query.text("fieldSelector", field_selector);
  query.text("labelSelector", label_selector);
  query.text("resourceVersion", resource_version);
  if (send_initial_events) {
    query.text("resourceVersionMatch", match_name(VersionMatch::not_older_than));
    query.flag("sendInitialEvents", true);
  }
  query.number("timeoutSeconds", whole_seconds(timeout));
  query.flag("watch", true);
  return query.take();
}

std::string WriteParams::query() const {
  Query query;
  query.text("dryRun", dry_run ? "All" : "");
  query.text("fieldManager", field_manager);
  query.text("fieldValidation", field_validation);
  return query.take();
}

std::string_view content_type(PatchType type) {
  switch (type) {
    case PatchType::json: return "application/json-patch+json";
    case PatchType::merge: return "application/merge-patch+json";
    case PatchType::strategic: return "application/strategic-merge-patch+json";
    case PatchType::apply: break;
  }
  return "application/apply-patch+yaml";
}

Result<void> PatchParams::validate() const {
  if (type == PatchType::apply && field_manager.empty()) {
    return invalid("server-side apply needs a field manager");
  }
  if (field_manager.size() > kMaxFieldManagerBytes) {
    return invalid("the field manager is longer than 128 characters");
  }
  const bool printable = std::all_of(field_manager.begin(), field_manager.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f;
  });
  if (!printable || !base::is_valid_utf8(field_manager)) {
    return invalid("the field manager holds characters that are not printable");
  }
  if (force && type != PatchType::apply) {
    return invalid("force is for server-side apply only");
  }
  return check_field_validation(field_validation);
}

std::string PatchParams::query() const {
  Query query;
  query.text("dryRun", dry_run ? "All" : "");
  query.text("fieldManager", field_manager);
  query.text("fieldValidation", field_validation);
  query.flag("force", force);
  return query.take();
}

// The server reads the query only of a request without a body; ours always has one.
std::string DeleteParams::query() const {
  Query query;
  query.text("dryRun", dry_run ? "All" : "");
  return query.take();
}

std::string DeleteParams::body() const {
  Json out{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (propagation != Propagation::unset) out["propagationPolicy"] = propagation_name(propagation);
  if (!uid.empty()) out["preconditions"]["uid"] = uid;
  if (!resource_version.empty()) out["preconditions"]["resourceVersion"] = resource_version;
  if (dry_run) out["dryRun"] = Json::array({"All"});
  if (grace_period_seconds) out["gracePeriodSeconds"] = *grace_period_seconds;
  return base::dump_json(out);
}

}  // namespace kubewatch::core
