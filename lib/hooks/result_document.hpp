// The one `kind: Result` document that a hook may print, as data. Every key is checked: unknown
// ones and wrong types are invalid output. Pure; what its objects may be is output's business.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "hooks/result_extras.hpp"

namespace kubewatch::hooks {

struct HookResult {
  std::string message;  // as printed: message_line() makes the line of it that is told
  std::optional<Duration> requeue_after;
  std::optional<Json> status;    // an object without `conditions`; null values remove
  std::vector<Json> conditions;  // each {type, status, reason, message}, or a removal
  bool children_none = false;
  std::vector<Json> create;  // manifests as printed
  std::vector<Json> remove;  // {apiVersion, kind, namespace?, name}
  std::vector<HookEvent> events;
  std::vector<HookPatch> patches;
  std::vector<HookMetric> metrics;
};

// {type, status: null}: the condition of that type is to go.
bool is_removal(const Json& condition);
bool is_result_document(const Json& document);
// Errors: invalid, naming the key.
Result<HookResult> parse_result_document(const Json& document);

// One line of at most 1,024 bytes. After secrets were masked: what is cut would not be known.
std::string message_line(std::string text);

}  // namespace kubewatch::hooks
