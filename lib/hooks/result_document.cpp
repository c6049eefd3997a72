// Checks and reads the Result document of a hook.
#include "hooks/result_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/cut_text.hpp"
#include "base/strings.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMaxMessage = 1024;
constexpr std::size_t kMaxReason = 1024;          // metav1.Condition
constexpr std::size_t kMaxConditionText = 32768;  // metav1.Condition

Result<std::string> text_in_result(const Json& value, const std::string& key) {
  if (!value.is_string()) {
    return invalid_result(fmt::format("{} must be a string, not {}", key, value.type_name()));
  }
  return value.get<std::string>();
}

Result<void> read_message(const Json& value, HookResult& out) {
  KW_ASSIGN(out.message, text_in_result(value, "message"));
  return {};
}

Result<void> read_requeue(const Json& value, HookResult& out) {
  KW_ASSIGN(const std::string text, text_in_result(value, "requeueAfter"));
  auto duration = base::parse_duration(text);
  if (!duration.ok()) return invalid_result("requeueAfter: " + duration.error().message());
  if (*duration <= Duration{0}) return invalid_result("requeueAfter must be longer than 0s");
  out.requeue_after = *duration;
  return {};
}

// Of other keys null is as if they were left out. Here it could be meant to remove all there is.
Error says_nothing(const char* key, const char* instead) {
  return invalid_result(
      fmt::format("{}: null removes nothing; {}, or leave {} out", key, instead, key));
}

Result<void> read_status(const Json& value, HookResult& out) {
  if (value.is_null()) {
    return says_nothing("status", "print the fields that are to go as null, {FIELD: null}");
  }
  if (!value.is_object()) return invalid_result("status must be an object");
  if (value.contains("conditions")) {
    return invalid_result("status.conditions: print them as the Result's `conditions`");
  }
  out.status = value;
  return {};
}

// {type: Ready, status: null}, and nothing else.
Result<Json> read_removal(const Json& value, const std::string& where) {
  for (const auto& [key, item] : value.items()) {
    if (key == "status" || key == "type") continue;
    return invalid_result(
        fmt::format("{}: status: null removes the condition; leave out {}", where, key));
  }
  const std::string type = base::string_at(value, {"type"});
  if (type.empty()) return invalid_result(where + " names no type");
  return Json{{"type", type}, {"status", nullptr}};
}

Result<Json> read_condition(const Json& value, std::size_t index) {
  const std::string where = fmt::format("conditions[{}]", index);
  if (!value.is_object()) return invalid_result(where + " must be an object");
  if (is_removal(value)) return read_removal(value, where);
  Json condition = {{"type", ""}, {"status", ""}, {"reason", "Reported"}, {"message", ""}};
  for (const auto& [key, item] : value.items()) {
    if (!condition.contains(key)) {
      return invalid_result(
          fmt::format("{}: unknown key \"{}\" (known: type, status, reason, message; "
                      "observedGeneration and lastTransitionTime are kept by kubewatch)",
                      where, key));
    }
    if (!item.is_string()) {
      return invalid_result(
          fmt::format("{}.{} must be a string, not {} (quote it)", where, key, item.type_name()));
    }
    condition[key] = item;
  }
  const std::string status = condition["status"];
  if (condition["type"].get_ref<const std::string&>().empty()) {
    return invalid_result(where + " names no type");
  }
  if (status != "True" && status != "False" && status != "Unknown") {
    return invalid_result(
        fmt::format("{}.status is \"{}\"; it must be \"True\", \"False\" or \"Unknown\", "
                    "or null to remove the condition",
                    where, status));
  }
  if (condition["reason"].get_ref<const std::string&>().empty()) condition["reason"] = "Reported";
  if (condition["reason"].get_ref<const std::string&>().size() > kMaxReason ||
      condition["message"].get_ref<const std::string&>().size() > kMaxConditionText) {
    return invalid_result(where + ": reason or message is too long");
  }
  return condition;
}

Result<void> read_conditions(const Json& value, HookResult& out) {
  if (value.is_null()) {
    return says_nothing("conditions", "print each that is to go as {type: TYPE, status: null}");
  }
  if (!value.is_array()) return invalid_result("conditions must be a list");
  std::set<std::string> types;
  for (std::size_t i = 0; i < value.size(); ++i) {
    KW_ASSIGN(Json condition, read_condition(value[i], i));
    if (!types.insert(condition["type"]).second) {
      return invalid_result(
          fmt::format("conditions: type {} is there twice", condition["type"].get<std::string>()));
    }
    out.conditions.push_back(std::move(condition));
  }
  return {};
}

Result<void> read_children(const Json& value, HookResult& out) {
  if (!value.is_string() || value != "none") {
    return invalid_result(
        "children may only be \"none\" (remove all children); children are printed as "
        "manifests");
  }
  out.children_none = true;
  return {};
}

Result<void> read_objects(const Json& value, const std::string& key, std::vector<Json>& out) {
  if (!value.is_array()) return invalid_result(key + " must be a list");
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (!value[i].is_object())
      return invalid_result(fmt::format("{}[{}] must be an object", key, i));
    out.push_back(value[i]);
  }
  return {};
}

Result<void> read_delete(const Json& value, HookResult& out) {
  KW_TRY(read_objects(value, "delete", out.remove));
  static const std::set<std::string> known = {"apiVersion", "kind", "namespace", "name"};
  for (const Json& target : out.remove) {
    for (const auto& [key, item] : target.items()) {
      if (known.count(key) == 0) {
        return invalid_result(
            fmt::format("delete: unknown key \"{}\" (known: apiVersion, kind, namespace, "
                        "name)",
                        key));
      }
      if (!item.is_string()) return invalid_result(fmt::format("delete: {} must be a string", key));
    }
  }
  return {};
}

template <class T>
Result<void> take(Result<std::vector<T>> read, std::vector<T>& out) {
  if (!read.ok()) return std::move(read).error();
  out = std::move(*read);
  return {};
}

Result<void> read_key(const std::string& key, const Json& value, HookResult& out) {
  if (key == "apiVersion" || key == "kind") return {};
  if (key == "message") return read_message(value, out);
  if (key == "requeueAfter") return read_requeue(value, out);
  if (key == "status") return read_status(value, out);
  if (key == "conditions") return read_conditions(value, out);
  if (key == "children") return read_children(value, out);
  if (key == "create") return read_objects(value, "create", out.create);
  if (key == "delete") return read_delete(value, out);
  if (key == "events") return take(read_events(value), out.events);
  if (key == "patches") return take(read_patches(value), out.patches);
  if (key == "metrics") return take(read_metrics(value), out.metrics);
  static const std::vector<std::string> known = {"message",  "requeueAfter", "status", "conditions",
                                                 "children", "create",       "delete", "events",
                                                 "patches",  "metrics"};
  const auto close = base::suggest(key, known);
  return invalid_result(fmt::format("unknown key \"{}\"{}", key,
                                    close.empty() ? "" : "; did you mean " + close.front() + "?"));
}

}  // namespace

bool is_removal(const Json& condition) {
  const Json* status = base::find(condition, {"status"});
  return status != nullptr && status->is_null();
}

bool is_result_document(const Json& document) {
  return base::string_at(document, {"kind"}) == "Result" &&
         base::string_at(document, {"apiVersion"}).rfind("kubewatch.dev/", 0) == 0;
}

Result<HookResult> parse_result_document(const Json& document) {
  if (const std::string version = base::string_at(document, {"apiVersion"});
      version != "kubewatch.dev/v1") {
    return invalid_result("apiVersion must be kubewatch.dev/v1, not " + version);
  }
  HookResult out;
  for (const auto& [key, value] : document.items()) {
    if (value.is_null() && key != "status" && key != "conditions") continue;
    KW_TRY(read_key(key, value, out));
  }
  return out;
}

std::string message_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  return base::cut_text(std::string(base::trim(text)), kMaxMessage);
}

}  // namespace kubewatch::hooks
