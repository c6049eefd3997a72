// Checks and reads events, patches and metrics of a Result.
#include "hooks/result_extras.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "base/document_words.hpp"
#include "base/strings.hpp"

namespace kubewatch::hooks {

Error invalid_result(const std::string& message) {
  return {ErrorKind::invalid, "Result: " + message};
}
namespace {

constexpr std::size_t kMostEvents = 100;
constexpr std::size_t kMostPatches = 1000;
constexpr std::size_t kMostOperations = 10000;  // the API server's own limit
constexpr std::size_t kMostMetrics = 1000;
constexpr std::size_t kLongestWord = 128;  // events.k8s.io/v1: reason and action
constexpr std::size_t kLongestNote = 32768;
constexpr std::size_t kLongestName = 128;

// One entry of a list, with the words for what is wrong with it.
struct Entry {
  const Json& value;
  std::string where;  // "events[2]"

  Error wrong(const std::string& key, const std::string& problem) const {
    return invalid_result(fmt::format("{}.{} {}", where, key, problem));
  }
  Result<void> known(const std::vector<std::string>& keys) const {
    for (const auto& [key, item] : value.items()) {
      if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
      const auto close = base::suggest(key, keys);
      return invalid_result(fmt::format("{}: unknown key \"{}\"{}", where, key,
                                        close.empty() ? " (known: " + base::join(keys, ", ") + ")"
                                                      : "; did you mean " + close.front() + "?"));
    }
    return {};
  }
  // null and absent are the same.
  const Json* get(const std::string& key) const { return base::present_at(value, {key}); }
  Result<std::string> text(const std::string& key, std::size_t longest) const {
    const Json* item = get(key);
    if (item == nullptr) return std::string();
    if (!item->is_string()) {
      return wrong(key, fmt::format("must be a string, not {}", item->type_name()));
    }
    if (item->get_ref<const std::string&>().size() > longest) {
      return wrong(key, fmt::format("is longer than {} bytes", longest));
    }
    return item->get<std::string>();
  }
  Result<std::string> required(const std::string& key, std::size_t longest) const {
    KW_ASSIGN(std::string out, text(key, longest));
    if (out.empty()) return wrong(key, "is missing");
    return out;
  }
};

template <class T>
Result<std::vector<T>> read_list(const Json& value, const std::string& key, std::size_t most,
                                 const std::function<Result<T>(const Entry&)>& read) {
  if (!value.is_array()) return invalid_result(key + " must be a list");
  if (value.size() > most) {
    return invalid_result(
        fmt::format("{}: {} entries, at most {} are allowed", key, value.size(), most));
  }
  std::vector<T> out;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const Entry entry{value[i], fmt::format("{}[{}]", key, i)};
    if (!value[i].is_object()) return invalid_result(entry.where + " must be an object");
    KW_ASSIGN(T one, read(entry));
    out.push_back(std::move(one));
  }
  return out;
}

// {apiVersion, kind, namespace?, name, and whatever `more` allows}.
Result<void> check_reference(const Entry& entry, const std::vector<std::string>& more) {
  std::vector<std::string> keys = {"apiVersion", "kind", "namespace", "name"};
  keys.insert(keys.end(), more.begin(), more.end());
  KW_TRY(entry.known(keys));
  for (const char* key : {"apiVersion", "kind", "name"}) {
    KW_TRY(entry.required(key, kLongestName * 2));
  }
  KW_TRY(entry.text("namespace", kLongestName));
  return {};
}

Result<std::string> one_word(const Entry& entry, const std::string& key) {
  KW_ASSIGN(std::string word, entry.text(key, kLongestWord));
  if (word.find_first_of(" \t\r\n") != std::string::npos) {
    return entry.wrong(key, "must be one word, as in MadeBackup; sentences go into the note");
  }
  return word;
}

Result<HookEvent> read_event(const Entry& entry) {
  KW_TRY(entry.known({"type", "reason", "action", "note", "regarding"}));
  HookEvent out;
  KW_ASSIGN(const std::string type, entry.text("type", kLongestWord));
  if (!type.empty() && type != "Normal" && type != "Warning") {
    return entry.wrong("type", fmt::format("is \"{}\"; it must be Normal or Warning", type));
  }
  out.warning = type == "Warning";
  KW_ASSIGN(out.reason, one_word(entry, "reason"));
  if (out.reason.empty()) return entry.wrong("reason", "is missing");
  KW_ASSIGN(out.action, one_word(entry, "action"));
  if (out.action.empty()) out.action = "Reconcile";
  KW_ASSIGN(out.note, entry.text("note", kLongestNote));
  if (const Json* regarding = entry.get("regarding")) {
    const Entry inner{*regarding, entry.where + ".regarding"};
    if (!regarding->is_object()) return invalid_result(inner.where + " must be an object");
    KW_TRY(check_reference(inner, {"uid"}));
    KW_TRY(inner.text("uid", kLongestName));
    out.regarding = *regarding;
  }
  return out;
}

Result<void> check_operation(const Json& operation, const std::string& where) {
  static const std::set<std::string> known = {"add", "remove", "replace", "move", "copy", "test"};
  const std::string op = base::string_at(operation, {"op"});
  if (known.count(op) == 0) {
    return invalid_result(where + " must have an op: add, remove, replace, move, copy or test");
  }
  const Json* path = base::find(operation, {"path"});
  const auto is_pointer = [](const Json* value) {
    return value != nullptr && value->is_string() &&
           (value->get_ref<const std::string&>().empty() ||
            value->get_ref<const std::string&>().front() == '/');
  };
  if (!is_pointer(path))
    return invalid_result(where + ".path must be a JSON pointer, as in /spec/x");
  if ((op == "move" || op == "copy") && !is_pointer(base::find(operation, {"from"}))) {
    return invalid_result(where + ".from must be a JSON pointer, as in /spec/x");
  }
  const bool needs_value = op == "add" || op == "replace" || op == "test";
  if (needs_value && !operation.contains("value")) return invalid_result(where + " has no value");
  return {};
}

Result<void> check_form(const Entry& entry, const HookPatch& patch) {
  if (patch.type != core::PatchType::json) {
    if (patch.patch.is_object()) return {};
    return entry.wrong("patch", "must be an object for the types merge and strategic");
  }
  if (!patch.patch.is_array()) {
    return entry.wrong("patch", "must be a list of operations for the type json");
  }
  if (patch.patch.size() > kMostOperations) {
    return entry.wrong("patch", fmt::format("has more than {} operations", kMostOperations));
  }
  for (std::size_t i = 0; i < patch.patch.size(); ++i) {
    KW_TRY(check_operation(patch.patch[i], fmt::format("{}.patch[{}]", entry.where, i)));
  }
  return {};
}

Result<HookPatch> read_patch(const Entry& entry) {
  KW_TRY(check_reference(entry, {"subresource", "type", "patch"}));
  HookPatch out;
  for (const char* key : {"apiVersion", "kind", "namespace", "name"}) {
    if (const Json* item = entry.get(key)) out.target[key] = *item;
  }
  KW_ASSIGN(out.subresource, entry.text("subresource", kLongestName));
  if (out.subresource.find_first_of("/%?. ") != std::string::npos) {
    return entry.wrong("subresource", "is no subresource's name");
  }
  KW_ASSIGN(const std::string type, entry.text("type", kLongestWord));
  if (type == "json") {
    out.type = core::PatchType::json;
  } else if (type == "strategic") {
    out.type = core::PatchType::strategic;
  } else if (!type.empty() && type != "merge") {
    return entry.wrong("type", fmt::format("is \"{}\"; it must be json, merge or strategic", type));
  }
  const Json* patch = entry.get("patch");
  if (patch == nullptr) return entry.wrong("patch", "is missing");
  out.patch = *patch;
  KW_TRY(check_form(entry, out));
  return out;
}

Result<void> read_metric_labels(const Entry& entry, HookMetric& out) {
  const Json* labels = entry.get("labels");
  if (labels == nullptr) return {};
  if (!labels->is_object()) return entry.wrong("labels", "must be a mapping");
  if (labels->size() > kMostMetricLabels) {
    return entry.wrong("labels", fmt::format("has more than {} labels", kMostMetricLabels));
  }
  for (const auto& [key, value] : labels->items()) {
    if (!is_metric_name(key, false) || key.rfind("__", 0) == 0 || key.size() > kLongestName) {
      return entry.wrong("labels", fmt::format("has \"{}\", which is no label name", key));
    }
    if (const auto wrong = base::misread_name(key); !wrong.empty()) {
      return entry.wrong("labels", fmt::format("has \"{}\": {}; call it otherwise", key, wrong));
    }
    if (key == "controller" || (key == "le" && out.kind == MetricKind::histogram)) {
      return entry.wrong("labels", fmt::format("has \"{}\", which kubewatch sets", key));
    }
    if (!value.is_string()) {
      return entry.wrong("labels." + key,
                         fmt::format("must be a string, not {} (quote it)", value.type_name()));
    }
    if (value.get_ref<const std::string&>().size() > kLongestMetricLabel) {
      return entry.wrong("labels." + key,
                         fmt::format("is longer than {} bytes", kLongestMetricLabel));
    }
    // To Prometheus an empty label is none: beside a series without it there would be one twice.
    if (!value.get_ref<const std::string&>().empty()) out.labels[key] = value.get<std::string>();
  }
  return {};
}

Result<void> read_buckets(const Entry& entry, HookMetric& out) {
  const Json* buckets = entry.get("buckets");
  if (buckets == nullptr) return {};
  if (out.kind != MetricKind::histogram) return entry.wrong("buckets", "are a histogram's");
  if (!buckets->is_array() || buckets->empty() || buckets->size() > kMostMetricBuckets) {
    return entry.wrong("buckets",
                       fmt::format("must be a list of 1 to {} numbers", kMostMetricBuckets));
  }
  for (const Json& bound : *buckets) {
    if (!bound.is_number() || !std::isfinite(bound.get<double>())) {
      return entry.wrong("buckets", "must be numbers");
    }
    if (!out.buckets.empty() && !rises(out.buckets.back(), bound.get<double>())) {
      return entry.wrong("buckets", "must rise, within 16 digits");
    }
    out.buckets.push_back(bound.get<double>());
  }
  return {};
}

Result<void> read_ttl(const Entry& entry, HookMetric& out) {
  KW_ASSIGN(const std::string text, entry.text("ttl", kLongestWord));
  if (text.empty()) return {};
  auto ttl = base::parse_duration(text);
  if (!ttl.ok()) return entry.wrong("ttl", "is no duration: " + ttl.error().message());
  if (*ttl <= Duration{0}) return entry.wrong("ttl", "must be longer than 0s");
  out.ttl = *ttl;
  return {};
}

Result<HookMetric> read_metric(const Entry& entry) {
  KW_TRY(entry.known({"name", "type", "value", "labels", "ttl", "buckets", "help"}));
  HookMetric out;
  KW_ASSIGN(out.name, entry.required("name", kLongestName));
  if (!is_metric_name(out.name, true)) {
    return entry.wrong("name", fmt::format("is \"{}\"; it may have letters, digits, _ and :, and "
                                           "must not start with a digit",
                                           out.name));
  }
  for (const char* taken : {"kubewatch_", "process_"}) {
    if (out.name.rfind(taken, 0) == 0) {
      return entry.wrong("name", fmt::format("starts with {}, as kubewatch's own do", taken));
    }
  }
  KW_ASSIGN(const std::string type, entry.required("type", kLongestWord));
  if (type == "gauge") {
    out.kind = MetricKind::gauge;
  } else if (type == "histogram") {
    out.kind = MetricKind::histogram;
  } else if (type != "counter") {
    return entry.wrong("type",
                       fmt::format("is \"{}\"; it must be counter, gauge or histogram", type));
  }
  const Json* value = entry.get("value");
  if (value == nullptr || !value->is_number() || !std::isfinite(value->get<double>())) {
    return entry.wrong("value", "must be a number");
  }
  out.value = value->get<double>();
  if (out.kind == MetricKind::counter && out.value < 0) {
    return entry.wrong("value", "must not be negative: counters only rise (use a gauge)");
  }
  KW_TRY(read_metric_labels(entry, out));
  KW_TRY(read_ttl(entry, out));
  KW_TRY(read_buckets(entry, out));
  KW_ASSIGN(out.help, entry.text("help", kLongestMetricLabel));
  return out;
}

}  // namespace

Result<std::vector<HookEvent>> read_events(const Json& value) {
  return read_list<HookEvent>(value, "events", kMostEvents, read_event);
}

Result<std::vector<HookPatch>> read_patches(const Json& value) {
  return read_list<HookPatch>(value, "patches", kMostPatches, read_patch);
}

Result<std::vector<HookMetric>> read_metrics(const Json& value) {
  KW_ASSIGN(auto metrics, read_list<HookMetric>(value, "metrics", kMostMetrics, read_metric));
  std::map<std::string, MetricKind> kinds;
  for (const HookMetric& metric : metrics) {
    if (kinds.try_emplace(metric.name, metric.kind).first->second != metric.kind) {
      return invalid_result(fmt::format("metrics: {} is there with two types", metric.name));
    }
  }
  return metrics;
}

}  // namespace kubewatch::hooks
