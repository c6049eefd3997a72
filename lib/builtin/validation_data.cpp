// Kinds that hold data or say how things are: ConfigMaps, Secrets, Namespaces, Nodes, Events,
// Leases.
#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "builtin/validation_kinds.hpp"
#include "builtin/validation_pods.hpp"
#include "core/object_rules.hpp"
#include "core/resource.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::builtin {

namespace {

constexpr std::size_t kMostData = 1U << 20U;  // MaxSecretSize of k8s.io/api
constexpr const char* kNamespaceFinalizer = "kubernetes";

void check_data_keys(const Field& data) {
  for (const auto& [key, value] : data.entries()) {
    for (const auto& problem : core::data_key_problems(key)) {
      value.invalid_as(go_quoted(key), problem);
    }
  }
}

// Of all values together, base64 as what it stands for.
std::size_t data_size(const Field& data, bool bytes) {
  std::size_t total = 0;
  for (const auto& [key, value] : data.entries()) {
    const std::string text = value.text();
    const std::size_t padding =
        std::min<std::size_t>(2, text.size() - text.find_last_not_of('=') - 1);
    total += bytes && !text.empty() ? text.size() / 4 * 3 - padding : text.size();
  }
  return total;
}

void check_frozen(const Field& object, const Json* live, const Values& keys) {
  if (live == nullptr) return;
  const Field before(*live, object.errors());
  if (!before["immutable"].is_true()) return;
  for (const auto& key : keys) {
    const Json* now = object[key].json();
    const Json* then = before[key].json();
    if (now == then || (now != nullptr && then != nullptr && *now == *then)) continue;
    object[key].forbidden("field is immutable when `immutable` is set");
  }
}

std::string decoded(const Field& bytes) {
  const auto read = core::decode_bytes(bytes.text());
  const auto* text = std::get_if<std::string>(&read);
  return text != nullptr ? *text : "";
}

void check_docker_config(const Field& config) {
  if (!config.present()) return config.required();
  const std::string text(base::trim(decoded(config)));
  const auto parsed = base::parse_json(text);
  if (parsed.ok() && (parsed->is_object() || parsed->is_null())) return;
  std::string why = "unexpected end of JSON input";
  if (parsed.ok()) {
    why = schema::misread_value(schema::json_word(*parsed), "map[string]interface {}");
  } else if (!text.empty() && text[0] != '{' && text[0] != '[') {
    why = fmt::format("invalid character '{}' looking for beginning of value", text[0]);
  }
  config.invalid_as("\"<secret contents redacted>\"", why);
}

// The keys that a type of Secret has.
void check_secret_type(const Field& object) {
  const Field data = object["data"];
  const auto at = [&](const std::string& key) {
    return data[key].at(fmt::format("data[{}]", key));
  };
  const auto require = [&](const std::string& key) {
    if (!at(key).present()) at(key).required();
  };
  const Field type = object["type"];
  if (type.is("kubernetes.io/service-account-token")) {
    constexpr const char* key = "kubernetes.io/service-account.name";
    const Field name = object["metadata"]["annotations"][key];
    if (name.empty()) name.at(fmt::format("metadata.annotations[{}]", key)).required();
  } else if (type.is("kubernetes.io/dockercfg")) {
    check_docker_config(at(".dockercfg"));
  } else if (type.is("kubernetes.io/dockerconfigjson")) {
    check_docker_config(at(".dockerconfigjson"));
  } else if (type.is("kubernetes.io/basic-auth")) {
    if (at("username").present() || at("password").present()) return;
    require("username");
    require("password");
  } else if (type.is("kubernetes.io/ssh-auth")) {
    if (at("ssh-privatekey").empty()) at("ssh-privatekey").required();
  } else if (type.is("kubernetes.io/tls")) {
    require("tls.crt");
    require("tls.key");
  }
}

}  // namespace

void check_config_map_object(const Field& object, const Json* live) {
  check_frozen(object, live, {"immutable", "data", "binaryData"});
  const Field data = object["data"];
  const Field binary = object["binaryData"];
  check_data_keys(data);
  check_data_keys(binary);
  for (const auto& [key, value] : data.entries()) {
    if (!binary[key].present()) continue;
    value.invalid_as(go_quoted(key), "duplicate of key present in binaryData");
  }
  if (data_size(data, false) + data_size(binary, true) <= kMostData) return;
  object.at("[]").too_long(kMostData);
}

void check_secret_object(const Field& object, const Json* live) {
  const Field data = object["data"];
  if (live != nullptr) object["type"].immutable(Field(*live, object.errors())["type"]);
  check_frozen(object, live, {"immutable", "data"});
  check_data_keys(data);
  if (data_size(data, true) > kMostData) data.too_long(kMostData);
  check_secret_type(object);
}

void check_namespace(const Field& object, const Json* /*live*/) {
  const Field finalizers = object["spec"]["finalizers"];
  for (const auto& finalizer : finalizers.items()) {
    const std::string name = finalizer.text();
    const Field told = finalizer.at(finalizers.path());
    told.invalid_each(qualified_problems(name));
    if (name != kNamespaceFinalizer && name.find('/') == std::string::npos) {
      told.invalid_text(kNoFinalizer);
    }
  }
}

void check_namespace_status(const Field& object, const Json* /*live*/) {
  const bool dying = object["metadata"]["deletionTimestamp"].present();
  const char* phase = dying ? "Terminating" : "Active";
  const Field told = object["status"]["phase"];
  if (told.is(phase)) return;
  told.at("status.Phase")
      .invalid_text(fmt::format("may only be '{}' if `deletionTimestamp` is {}empty", phase,
                                dying ? "not " : ""));
}

namespace {

void check_taints(const Field& taints) {
  std::set<std::string> seen;
  for (const auto& taint : taints.items()) {
    const Field key = taint["key"];
    const Field value = taint["value"];
    const Field effect = taint["effect"];
    key.invalid_each(qualified_problems(key.text()));
    const auto problems = label_value_problems(value.text());
    if (!problems.empty()) value.invalid(base::join(problems, ";"));
    if (effect.empty()) {
      effect.required();
    } else {
      check_taint_effect(effect);
    }
    if (seen.insert(effect.text() + " " + key.text()).second) continue;
    const std::string shown = fmt::format(
        "{{\"Key\":{},\"Value\":{},\"Effect\":{},\"TimeAdded\":{}}}", json_text(key.text()),
        json_text(value.text()), json_text(effect.text()), taint["timeAdded"].shown());
    FieldError twice = field_duplicate(taint.path(), shown);
    twice.message += ": taints must be unique by key and effect pair";
    taint.errors().push_back(std::move(twice));
  }
}

// As the server reads two families out of them; "" or why it cannot.
std::string families_problem(const std::vector<Field>& ranges) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const std::string text = ranges[i].text();
    if (is_cidr(text)) continue;
    return fmt::format(
        "invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[{}]: <nil> "
        "(invalid CIDR address: {})",
        i, text);
  }
  return "";
}

void check_pod_ranges(const Field& ranges) {
  const auto all = ranges.items();
  for (const auto& range : all) check_cidr(range);
  if (all.size() < 2) return;
  const std::string problem = families_problem(all);
  if (!problem.empty()) {
    ranges.errors().push_back(schema::field_internal(ranges.path(), problem));
  }
  const auto is_v6 = [](const Field& range) { return range.text().find(':') != std::string::npos; };
  const auto six = std::count_if(all.begin(), all.end(), is_v6);
  if (problem.empty() && all.size() == 2 && six == 1) return;
  ranges.invalid("may specify no more than one CIDR for each IP family");
}

void check_node_update(const Field& spec, const Field& before) {
  const Field ranges = spec["podCIDRs"];
  if (!before["podCIDRs"].empty() && !same_field(ranges, before["podCIDRs"])) {
    ranges.forbidden("node updates may not change podCIDR except from \"\" to valid");
  }
  const Field provider = spec["providerID"];
  if (!before["providerID"].empty() && !same_field(provider, before["providerID"])) {
    provider.forbidden("node updates may not change providerID except from \"\" to valid");
  }
}

// "MyFeature/mySubFeature".
bool is_feature(const std::string& text) {
  const auto parts = base::split(text, '/');
  return base::is_upper(text.empty() ? ' ' : text.front()) &&
         std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
           return !part.empty() && !base::is_digit(part.front()) &&
                  std::all_of(part.begin(), part.end(), base::is_alphanumeric);
         });
}

void check_features(const Field& features) {
  constexpr std::size_t most = 253;
  const auto all = features.items();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string text = all[i].text();
    const std::string told = "invalid feature name " + go_quoted(text) + ": ";
    if (text.size() > most) {
      all[i].invalid(told + fmt::format("must be no more than {} characters", most));
    } else if (!is_feature(text)) {
      all[i].invalid(
          told +
          "must start with an UpperCamelCase segment, with subsequent segments separated by '/' "
          "(e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters "
          "and slashes");
    }
    if (i + 1 == all.size()) break;
    const Field& next = all[i + 1];
    if (text == next.text()) next.duplicate();
    if (text > next.text()) next.invalid("list must be sorted alphabetically");
  }
}

void check_node_amounts(const Field& status) {
  for (const char* key : {"capacity", "allocatable"}) {
    for (const auto& [name, amount] : status[key].entries()) {
      check_resource_amount(name, amount.at(fmt::format("status.{}.{}", key, name)));
    }
  }
  check_features(status["declaredFeatures"]);
}

void check_node_addresses(const Field& addresses) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto& one : addresses.items()) {
    const std::string type = one["type"].text();
    const std::string address = one["address"].text();
    if (seen.emplace(type, address).second) continue;
    one.errors().push_back(field_duplicate(
        one.path(),
        fmt::format("{{\"Type\":{},\"Address\":{}}}", json_text(type), json_text(address))));
  }
}

}  // namespace

void check_node_status(const Field& object, const Json* /*live*/) {
  const Field status = object["status"];
  check_node_amounts(status);
  check_node_addresses(status["addresses"]);
}

void check_node(const Field& object, const Json* live) {
  const Field spec = object["spec"];
  const Field taints = spec["taints"].at("metadata.taints");
  check_taints(taints);
  check_node_amounts(object["status"]);
  const Field swap = object["status"]["nodeInfo"]["swap"]["capacity"];
  if (swap.number_or(1) <= 0) {
    swap.at("metadata.nodeSwapStatus.capacity").invalid("must be greater than zero");
  }
  check_pod_ranges(spec["podCIDRs"]);
  if (live == nullptr) return;
  check_node_status(object, live);
  const Field before = Field(*live, object.errors())["spec"];
  check_node_update(spec, before);
  check_taints(taints);
  const Field id = spec["externalID"];
  if (id.text() != before["externalID"].text()) id.forbidden("may not be updated");
}

namespace {

constexpr std::size_t kMostWord = 128;
constexpr std::size_t kMostNote = 1024;

void check_length(const Field& field, std::size_t most) {
  if (field.size() <= most) return;
  field.invalid_as("\"\"", fmt::format("can have at most {} characters", most));
}

void check_new_event(const Field& object, const char* reporter, const Field& subject) {
  const std::string space = object["metadata"]["namespace"].text();
  if (subject.empty() && space != "default" && space != "kube-system") {
    subject.invalid_text("does not match event.namespace");
  }
  const Field name = object[reporter];
  if (name.empty()) name.required();
  name.invalid_each(qualified_problems(name.text()));
  for (const char* key : {"reportingInstance", "action", "reason"}) {
    if (object[key].empty()) object[key].required();
    check_length(object[key], kMostWord);
  }
}

void check_event_series(const Field& series) {
  const Field count = series["count"];
  if (!series.present()) return;
  if (count.number_or(0) < 2) count.invalid_as("\"\"", "should be at least 2");
  if (!series["lastObservedTime"].present()) series["lastObservedTime"].required();
}

// Of the newer group alone, which has no use for what the older one says.
void check_created_event(const Field& object) {
  check_event_series(object["series"]);
  if (!object["eventTime"].present()) object["eventTime"].required();
  const Field type = object["type"];
  if (!type.is("Normal") && !type.is("Warning")) {
    type.invalid_as("\"\"", "has invalid value: " + type.text());
  }
  const Field first = object["deprecatedFirstTimestamp"].at("firstTimestamp");
  const Field last = object["deprecatedLastTimestamp"].at("lastTimestamp");
  const Field count = object["deprecatedCount"].at("count");
  const Field source = object["deprecatedSource"].at("source");
  const bool has_source = !source["component"].empty() || !source["host"].empty();
  for (const auto& [field, is_set] :
       {std::pair{first, first.present()}, std::pair{last, last.present()},
        std::pair{count, count.number_or(0) != 0}, std::pair{source, has_source}}) {
    if (is_set) field.invalid_as("\"\"", "needs to be unset");
  }
}

using GoNames = std::vector<std::pair<const char*, const char*>>;

// In the form of the server's own types.
std::string go_texts(const Field& map, const GoNames& names) {
  std::vector<std::string> out;
  for (const auto& [key, name] : names) {
    out.push_back(fmt::format("\"{}\":{}", name, json_text(map[key].text())));
  }
  return "{" + base::join(out, ",") + "}";
}

std::string shown_reference(const Field& reference) {
  static const GoNames names = {{"kind", "Kind"},
                                {"namespace", "Namespace"},
                                {"name", "Name"},
                                {"uid", "UID"},
                                {"apiVersion", "APIVersion"},
                                {"resourceVersion", "ResourceVersion"},
                                {"fieldPath", "FieldPath"}};
  return go_texts(reference, names);
}

std::string shown_related(const Field& reference) {
  return reference.present() ? shown_reference(reference) : "null";
}

std::string shown_source(const Field& source) {
  static const GoNames names = {{"component", "Component"}, {"host", "Host"}};
  return go_texts(source, names);
}

std::string shown_word(const Field& text) {
  return go_quoted(text.text());
}

std::string shown_count(const Field& count) {
  return std::to_string(count.number_or(0));
}

std::string shown_time(const Field& time) {
  return time.shown();
}

// Of the newer group alone: only its series may grow.
void check_updated_event(const Field& object, const Field& before) {
  struct Frozen {
    const char* key;
    const char* told;
    std::string (*shown)(const Field& field);
  };
  // The server asks for the reason twice.
  constexpr Frozen frozen[] = {{"regarding", "involvedObject", shown_reference},
                               {"reason", "reason", shown_word},
                               {"note", "message", shown_word},
                               {"deprecatedSource", "source", shown_source},
                               {"deprecatedFirstTimestamp", "firstTimestamp", shown_time},
                               {"deprecatedLastTimestamp", "lastTimestamp", shown_time},
                               {"deprecatedCount", "count", shown_count},
                               {"reason", "reason", shown_word},
                               {"type", "type", shown_word},
                               {"eventTime", "eventTime", shown_time},
                               {"action", "action", shown_word},
                               {"related", "related", shown_related},
                               {"reportingController", "reportingController", shown_word},
                               {"reportingInstance", "reportingInstance", shown_word}};
  const Field series = object["series"];
  if (!same_optional(series, before["series"])) check_event_series(series);
  for (const Frozen& one : frozen) {
    const Field field = object[one.key];
    const bool pointer = one.shown == shown_related;
    if (pointer ? same_optional(field, before[one.key]) : same_field(field, before[one.key])) {
      continue;
    }
    field.at(one.told).invalid_as(one.shown(field), "field is immutable");
  }
}

}  // namespace

// Events of both API groups: the newer one has other names for the same fields.
void check_event(const Field& object, const Json* live) {
  const bool newer = object["apiVersion"].is("events.k8s.io/v1");
  const Field subject =
      object[newer ? "regarding" : "involvedObject"]["namespace"].at("involvedObject.namespace");
  const Field note = object[newer ? "note" : "message"].at("message");
  if (object["eventTime"].present()) {
    check_new_event(object, newer ? "reportingController" : "reportingComponent", subject);
    check_length(note, kMostNote);
  } else {
    const std::string space = object["metadata"]["namespace"].text();
    const bool anywhere = subject.empty() && (space.empty() || space == "default");
    if (!anywhere && !subject.is(space)) subject.invalid_text("does not match event.namespace");
  }
  if (!newer) return;
  if (live == nullptr) return check_created_event(object);
  check_updated_event(object, Field(*live, object.errors()));
}

void check_lease(const Field& object, const Json* /*live*/) {
  const Field spec = object["spec"];
  const Field duration = spec["leaseDurationSeconds"];
  if (duration.number_or(1) <= 0) duration.invalid("must be greater than 0");
  spec["leaseTransitions"].not_negative();
}

}  // namespace kubewatch::builtin
