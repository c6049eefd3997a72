// Reads one trigger request.
#include "hooks/trigger_request.hpp"

#include <fmt/format.h>

#include "base/ascii.hpp"
#include "base/cut_text.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kLongestObjectName = 253;

Error wrong(std::string message) {
  return {ErrorKind::invalid, "a trigger " + std::move(message)};
}

// "" when it is absent.
Result<std::string> text_in_request(const Json& request, const std::string& key) {
  const auto it = request.find(key);
  if (it == request.end() || it->is_null()) return std::string();
  if (!it->is_string()) return wrong(fmt::format("must have text as \"{}\"", key));
  return it->get<std::string>();
}

// Path segments are all that the names of every kind have in common.
Result<void> check_name(const std::string& name, const std::string& key) {
  const bool bad = name.size() > kLongestObjectName || name == "." || name == ".." ||
                   name.find_first_of("/%") != std::string::npos ||
                   base::escape_for_terminal(name) != name;
  if (!bad) return {};
  return wrong(fmt::format("has a {} that no object can have: \"{}\"", key,
                           base::escape_for_terminal(name.substr(0, 60))));
}

Result<void> check_members(const Json& request) {
  for (const auto& [key, value] : request.items()) {
    const bool known =
        key == "name" || key == "namespace" || key == "reason" || key == "selector" || key == "all";
    if (!known) {
      return wrong(fmt::format("has the unknown member \"{}\"",
                               base::escape_for_terminal(key.substr(0, 60))));
    }
  }
  return {};
}

Result<void> read_object(const Json& request, TriggerRequest& out) {
  core::ObjectKey key;
  KW_ASSIGN(key.name, text_in_request(request, "name"));
  KW_ASSIGN(key.namespace_, text_in_request(request, "namespace"));
  if (key.name.empty()) return wrong("must have a \"name\" that is not empty");
  KW_TRY(check_name(key.name, "name"));
  KW_TRY(check_name(key.namespace_, "namespace"));
  out.key = std::move(key);
  return {};
}

Result<void> read_selector(const Json& request, TriggerRequest& out) {
  KW_ASSIGN(const std::string text, text_in_request(request, "selector"));
  // An empty selector would be everything: that is said with all.
  if (text.empty()) return wrong("must have a \"selector\" that is not empty");
  KW_ASSIGN(out.selector, core::LabelSelector::parse(text));
  return {};
}

}  // namespace

std::string tidy_trigger_reason(std::string_view text) {
  std::string out;
  for (const char c : text) out += base::is_control(c) ? ' ' : c;
  return base::cut_text(std::string(base::trim(out)), kMaxTriggerReason);
}

Result<TriggerRequest> read_trigger_request(std::string_view line) {
  auto request = base::parse_json(line, {kMaxTriggerBytes, /*max_depth=*/4});
  if (!request.ok()) return std::move(request).error().with_context("reading a trigger");
  if (!request->is_object()) return wrong("must be a JSON object");
  KW_TRY(check_members(*request));
  TriggerRequest out;
  KW_ASSIGN(const std::string reason, text_in_request(*request, "reason"));
  out.reason = tidy_trigger_reason(reason);
  const bool named = request->contains("name") || request->contains("namespace");
  const int ways = int{named} + int{request->contains("selector")} + int{request->contains("all")};
  if (ways != 1) {
    return wrong("must be one of {\"name\", \"namespace\"}, {\"selector\"} and {\"all\": true}");
  }
  if (named) {
    KW_TRY(read_object(*request, out));
  } else if (request->contains("selector")) {
    KW_TRY(read_selector(*request, out));
  } else {
    if ((*request)["all"] != true) return wrong("must have true as \"all\"");
    out.all = true;
  }
  return out;
}

// No selector is a star.
std::string objects_of(const TriggerRequest& wide) {
  return wide.all ? "*" : wide.selector->str();
}

}  // namespace kubewatch::hooks
