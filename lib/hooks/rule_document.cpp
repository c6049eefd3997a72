#include "hooks/rule_document.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/keyed_hash.hpp"
#include "base/strings.hpp"
#include "hooks/rule_kinds.hpp"
#include "hooks/rule_parts.hpp"
#include "hooks/rule_values.hpp"

namespace kubewatch::hooks {

namespace {

constexpr std::string_view kOurGroup = "kubewatch.dev";
constexpr std::string_view kApiVersion = "kubewatch.dev/v1";

const std::vector<std::string>& kinds() {
  static const std::vector<std::string> kKinds = {"Controller", "Admission", "Conversion",
                                                  "ControllerTest", "TypeDefinitions"};
  return kKinds;
}

bool check_api_version(const RuleNode& node) {
  std::string value;
  if (!text(value)(node)) return false;
  if (value == kApiVersion) return true;
  return node.problem(
      fmt::format("must be {} in a rule file, not {}", kApiVersion, in_quotes(value)));
}

// Whether it is a Controller; anything else is reported.
bool check_kind(const RuleNode& node) {
  const auto index = one_of(node, kinds());
  if (!index) return false;
  if (kinds()[*index] == "ControllerTest") {
    return node.problem(
        "ControllerTest: a test case is no rule; run it with `run-controller test`");
  }
  if (kinds()[*index] == "TypeDefinitions") {
    return node.problem("TypeDefinitions: types are no rule; `crd-gen` makes their definitions");
  }
  return *index == 0 ||
         node.problem(fmt::format("{}: not supported yet", node.value().get<std::string>()));
}

// A list stays one; a single kind is the rule's own.
bool read_for_of(const RuleNode& node, ReadRule& out) {
  const bool ok = read_for(node, out.kinds);
  if (node.value().is_array() || out.kinds.empty()) return ok;
  out.rule.for_ = std::move(out.kinds.front());
  out.kinds.clear();
  return ok;
}

void read_spec(const RuleNode& node, const std::string& folder, ReadRule& out) {
  Rule& rule = out.rule;
  rule.has_for = node.has("for");
  if (!rule.has_for) rule.concurrency = 1;
  const auto finalize = [&](const RuleNode& inner) {
    return read_finalize(inner, folder, rule.finalize.emplace(), rule.finalizer_name,
                         rule.when_removed);
  };
  read_keys(
      node,
      {{"for", [&](const RuleNode& inner) { return read_for_of(inner, out); }},
       {"owns", [&](const RuleNode& inner) { return read_owns(inner, rule.owns); }},
       {"writes", [&](const RuleNode& inner) { return read_writes(inner, rule.writes); }},
       {"watches",
        [&](const RuleNode& inner) { return read_watches(inner, rule.has_for, rule.watches); }},
       {"triggers",
        [&](const RuleNode& inner) { return read_triggers(inner, folder, rule.triggers); }},
       {"changed", [&](const RuleNode& inner) { return read_changed(inner, rule.changed); }},
       {"debounce", duration(rule.debounce)},
       {"resync",
        [&](const RuleNode& inner) {
          // 0 is how "never" is written out; anything else below a second is a mistake.
          if (!duration(rule.resync)(inner)) return false;
          return rule.resync == Duration{0} || rule.resync >= Duration{1000} ||
                 inner.problem("must be at least 1s, or 0 for never");
        }},
       {"schedule", [&](const RuleNode& inner) { return read_schedule(inner, rule.schedule); }},
       {"onDelete", flag(rule.on_delete)},
       {"whenNoLongerMatched", choice<WhenUnmatched>(rule.when_no_longer_matched,
                                                     {{"keep", WhenUnmatched::keep},
                                                      {"release", WhenUnmatched::release},
                                                      {"finalize", WhenUnmatched::finalize}})},
       {"concurrency", whole(rule.concurrency, 1, 1000)},
       {"reconcile",
        [&](const RuleNode& inner) { return read_reconcile(inner, folder, rule.reconcile); }, true},
       {"finalize", finalize},
       {"retry", [&](const RuleNode& inner) { return read_retry(inner, rule.retry); }},
       {"apply", [&](const RuleNode& inner) { return read_apply(inner, rule.apply); }}});
  if (!node.value().is_object()) return;
  check_kept(node, out.rule, out.kinds);
  if (!rule.has_for) check_without_for(node, rule);
  const bool finalizes = rule.when_no_longer_matched == WhenUnmatched::finalize;
  if (finalizes && !node.has("finalize")) {
    node.child("whenNoLongerMatched")
        .problem("finalize needs spec.finalize: there is nothing to run");
  }
}

// Where a key stands, or the document when the value is a default.
base::Remark place_of(const RuleNode& document, std::initializer_list<const char*> keys) {
  RuleNode node = document;
  for (const char* key : keys) {
    if (!node.has(key)) {
      node = document;
      break;
    }
    node = node.child(key);
  }
  const base::YamlMark mark = node.mark();
  return {node.file(), mark.line, mark.column, ""};
}

void fill_defaults(const RuleNode& document, const std::string& folder, ReadRule& out) {
  Rule& rule = out.rule;
  rule.document = rule.name;
  rule.file = document.file();
  rule.line = document.mark().line;
  rule.fingerprint = base::siphash24(0, 0, folder + "\n" + base::dump_json(document.value()));
  if (rule.finalizer_name.empty()) rule.finalizer_name = fmt::format("{}/{}", kOurGroup, rule.name);
  if (rule.apply.field_manager.empty()) rule.apply.field_manager = "kubewatch/" + rule.name;
  out.name_at = place_of(document, {"metadata", "name"});
  out.manager_at = place_of(document, {"spec", "apply", "fieldManager"});
  out.finalizer_at = place_of(document, {"spec", "finalize", "name"});
}

}  // namespace

bool is_foreign(const Json& document) {
  if (!document.is_object()) return false;
  const std::string api_version = base::string_at(document, {"apiVersion"});
  const std::string kind = base::string_at(document, {"kind"});
  if (api_version.empty() || kind.empty()) return false;
  const std::string group = api_version.substr(0, api_version.find('/'));
  // Test cases and types lie beside rules; `run-controller test` and `crd-gen` read those.
  if (group == kOurGroup) return kind == "ControllerTest" || kind == "TypeDefinitions";
  // A misspelt group must not make a rule vanish.
  const bool our_kind = std::find(kinds().begin(), kinds().end(), kind) != kinds().end();
  return !our_kind || base::suggest(group, {std::string(kOurGroup)}).empty();
}

std::vector<ReadRule> one_per_kind(ReadRule read) {
  std::vector<StreamRule> kinds = std::move(read.kinds);
  read.kinds.clear();
  if (kinds.empty()) return {std::move(read)};
  std::vector<ReadRule> out;
  for (StreamRule& kind : kinds) {
    ReadRule one = read;
    if (kind.every_kind) {
      one.rule.for_ = std::move(kind);  // its kinds are added when they are known
    } else {
      one.rule = rule_of_kind(read.rule, std::move(kind));
    }
    out.push_back(std::move(one));
  }
  return out;
}

std::optional<ReadRule> read_document(const RuleNode& node, const std::string& folder) {
  if (!node.value().is_object()) {
    node.problem(fmt::format("must be a mapping with apiVersion: {} and kind: Controller, not {}",
                             kApiVersion, type_name(node.value())));
    return std::nullopt;
  }
  const bool ours = node.has("apiVersion") && check_api_version(node.child("apiVersion"));
  const bool controller = node.has("kind") && ours && check_kind(node.child("kind"));
  if (node.has("apiVersion") && !ours) return std::nullopt;
  if (ours && node.has("kind") && !controller) return std::nullopt;
  ReadRule out;
  const auto checked = [](const RuleNode&) { return true; };
  const auto metadata = [&out](const RuleNode& inner) {
    return read_keys(inner, {{"name", object_name(out.rule.name), true}});
  };
  const auto spec = [&](const RuleNode& inner) {
    read_spec(inner, folder, out);
    return true;
  };
  read_keys(node, {{"apiVersion", checked, true},
                   {"kind", checked, true},
                   {"metadata", metadata, true},
                   {"spec", spec, true}});
  fill_defaults(node, folder, out);
  return out;
}

}  // namespace kubewatch::hooks
