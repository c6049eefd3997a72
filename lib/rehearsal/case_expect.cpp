#include "rehearsal/case_expect.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <utility>

#include "base/json.hpp"
#include "hooks/engine.hpp"
#include "hooks/metric_store.hpp"
#include "hooks/rule_values.hpp"
#include "hooks/verdict.hpp"
#include "runtime/work_queue.hpp"

namespace kubewatch::rehearsal {

namespace {

using hooks::RuleNode;
using hooks::RuleReader;

constexpr std::int64_t kMost = 1'000'000'000;

// Empty text too: a run without an object has no name.
bool any_text(const RuleNode& node) {
  return node.value().is_string() || hooks::wrong_type(node, "text");
}

bool any_number(const RuleNode& node) {
  return node.value().is_number() || hooks::wrong_type(node, "a number");
}

bool any_duration(const RuleNode& node) {
  Duration ignored{0};
  return hooks::duration(ignored)(node);
}

RuleReader count(std::int64_t most = kMost) {
  return [most](const RuleNode& node) {
    std::int64_t ignored = 0;
    return hooks::whole_number(ignored, 0, most)(node);
  };
}

RuleReader word(std::vector<std::string> words) {
  return [words = std::move(words)](const RuleNode& node) {
    return hooks::one_of(node, words).has_value();
  };
}

// The words of an enum.
template <class Enum>
RuleReader word_of(std::initializer_list<Enum> values) {
  std::vector<std::string> words;
  for (const Enum value : values) words.emplace_back(to_string(value));
  return word(std::move(words));
}

// Of a member that may be absent, which null says.
RuleReader or_null(RuleReader reader) {
  return [reader = std::move(reader)](const RuleNode& node) {
    return node.value().is_null() || reader(node);
  };
}

// But for `dropped`: a case has neither shards nor a lead that could be lost.
std::vector<std::string> outcomes() {
  using hooks::Outcome;
  std::vector<std::string> words;
  for (const Outcome outcome :
       {Outcome::done, Outcome::not_yet, Outcome::permanent, Outcome::failed, Outcome::timeout,
        Outcome::invalid_output, Outcome::write_failed}) {
    words.emplace_back(to_string(outcome));
  }
  words.emplace_back(hooks::kIncomplete);
  return words;
}

// As run_json() has it.
bool check_run(const RuleNode& node) {
  using runtime::Reason;
  return hooks::read_keys(
      node,
      {{"controller", any_text},
       {"kind", any_text},
       {"namespace", or_null(any_text)},
       {"name", any_text},
       {"reason", word_of({Reason::created, Reason::updated, Reason::owned_changed,
                           Reason::related_changed, Reason::resync, Reason::schedule, Reason::retry,
                           Reason::requeue, Reason::startup, Reason::external, Reason::manual})},
       {"attempt", count()},
       {"outcome", word(outcomes())},
       {"message", any_text},
       {"exitCode", or_null(count(255))},
       {"requeueAfter", or_null(any_duration)},
       {"created", count()},
       {"configured", count()},
       {"unchanged", count()},
       {"deleted", count()},
       {"times", count()}});
}

// As write_json() has it.
bool check_write(const RuleNode& node) {
  return hooks::read_keys(
      node, {{"verb", word({"create", "apply", "patch", "update", "delete", "deletecollection"})},
             {"apiVersion", any_text},
             {"kind", any_text},
             {"namespace", or_null(any_text)},
             {"name", any_text},
             {"subresource", or_null(any_text)},
             {"effect", word({"created", "configured", "unchanged", "deleted", "failed"})},
             {"code", count(599)},
             {"manager", any_text},
             {"times", count()}});
}

bool check_object_of_event(const RuleNode& node) {
  const RuleReader text = or_null(any_text);
  return hooks::read_keys(node, {{"apiVersion", text},
                                 {"kind", text},
                                 {"namespace", text},
                                 {"name", text},
                                 {"uid", text},
                                 {"resourceVersion", text},
                                 {"fieldPath", text}});
}

// As an item of the server's list.
bool check_event(const RuleNode& node) {
  return hooks::read_keys(node, {{"metadata", is_mapping},
                                 {"type", word({"Normal", "Warning"})},
                                 {"reason", any_text},
                                 {"action", or_null(any_text)},
                                 {"note", or_null(any_text)},
                                 {"regarding", or_null(check_object_of_event)},
                                 {"related", or_null(check_object_of_event)},
                                 {"reportingController", or_null(any_text)},
                                 {"reportingInstance", or_null(any_text)},
                                 {"eventTime", or_null(any_text)},
                                 {"series", or_null(is_mapping)},
                                 {"deprecatedSource", or_null(is_mapping)},
                                 {"deprecatedFirstTimestamp", or_null(any_text)},
                                 {"deprecatedLastTimestamp", or_null(any_text)},
                                 {"deprecatedCount", or_null(count())},
                                 {"times", count()}});
}

// As a Result has it, and its controller.
bool check_metric(const RuleNode& node) {
  using hooks::MetricKind;
  return hooks::read_keys(
      node, {{"controller", any_text},
             {"name", any_text},
             {"type", word_of({MetricKind::counter, MetricKind::gauge, MetricKind::histogram})},
             {"value", any_number},
             {"labels", or_null(is_mapping)},
             {"help", or_null(any_text)},
             {"buckets", or_null(hooks::list_of(any_number))},
             {"ttl", or_null(any_duration)},
             {"times", count()}});
}

bool plain_text(const RuleNode& node) {
  std::string ignored;
  return hooks::text(ignored)(node);
}

}  // namespace

bool is_list(const RuleNode& node) {
  return node.value().is_array() || hooks::wrong_type(node, "a list");
}

bool is_mapping(const RuleNode& node) {
  return node.value().is_object() || hooks::wrong_type(node, "a mapping");
}

bool is_reference(const RuleNode& node) {
  if (!is_mapping(node)) return false;
  if (base::string_at(node.value(), {"kind"}).empty()) return node.problem("needs a kind");
  for (const Json* name :
       {base::find(node.value(), {"name"}), base::find(node.value(), {"metadata", "name"})}) {
    if (name == nullptr || name->is_string() || name->is_null()) continue;
    return node.problem(
        fmt::format("its name must be text, not {}; put it in quotes", base::dump_json(*name)));
  }
  const bool named = !base::string_at(node.value(), {"name"}).empty() ||
                     !base::string_at(node.value(), {"metadata", "name"}).empty();
  return named || node.problem("needs a name");
}

// A misspelt `namespace` would name the object of that name in another one.
bool is_name_of_object(const RuleNode& node) {
  if (!is_reference(node)) return false;
  if (node.has("metadata")) {
    const auto any = [](const RuleNode&) { return true; };
    std::vector<hooks::RuleKey> fields;
    for (const char* field :
         {"name", "namespace", "generateName", "uid", "resourceVersion", "generation", "labels",
          "annotations", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
          "finalizers", "ownerReferences", "managedFields", "selfLink"}) {
      fields.push_back({field, any});
    }
    return hooks::read_keys(node.child("metadata"), fields);
  }
  return hooks::read_keys(
      node,
      {{"apiVersion", any_text}, {"kind", any_text}, {"namespace", any_text}, {"name", any_text}});
}

bool check_expect(const RuleNode& node) {
  const auto any = [](const RuleNode&) { return true; };
  return hooks::read_keys(node, {{"object", is_name_of_object},
                                 {"objects", hooks::list_of(is_reference)},
                                 {"absent", hooks::list_of(is_name_of_object)},
                                 {"runs", hooks::list_of(check_run)},
                                 {"status", any},
                                 {"writes", hooks::list_of(check_write)},
                                 {"events", hooks::list_of(check_event)},
                                 {"conditions", hooks::list_of(is_mapping)},
                                 {"requeueAfter", or_null(any_duration)},
                                 {"metrics", hooks::list_of(check_metric)},
                                 {"finalizers", hooks::list_of(plain_text)},
                                 {"log", hooks::list_of(plain_text)}});
}

}  // namespace kubewatch::rehearsal
