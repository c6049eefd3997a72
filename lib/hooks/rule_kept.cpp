// What reads an object that is kept in part (content: metadata, strip) must not look for more: it
// would find nothing, and decide by that.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/ascii.hpp"
#include "base/json.hpp"
#include "base/json_pointer.hpp"
#include "hooks/changed_paths.hpp"
#include "hooks/rule_parts.hpp"
#include "hooks/rule_values.hpp"
#include "jq/paths.hpp"

namespace kubewatch::hooks {

namespace {

bool check_changed_of_metadata(const RuleNode& node) {
  bool ok = true;
  for (std::size_t i = 0; node.value().is_array() && i < node.value().size(); ++i) {
    const RuleNode item = node.item(i);
    if (!item.value().is_string()) continue;  // already reported
    const auto& path = item.value().get_ref<const std::string&>();
    const std::size_t end = path.find_first_of(".[", 1);
    const std::string first = path.substr(0, end);
    if (first == ".metadata" || first == ".kind" || first == ".apiVersion") continue;
    ok = item.problem(
        fmt::format("looks at {}, which spec.for.content: metadata does not keep", first));
  }
  return ok;
}

bool is_in_metadata(std::string_view member) {
  return member == "metadata" || member == "apiVersion" || member == "kind";
}

// The first member that a program of libjq reads of the object and that metadata alone does not
// have; "" = none that can be seen. Only its text is known. Behind a pipe the input may be another
// one: there only the usual members of an object count.
std::string lost_in_text(std::string_view program) {
  constexpr std::array<std::string_view, 5> kLost = {"spec", "status", "data", "stringData",
                                                     "binaryData"};
  const auto is_word = [](char c) { return base::is_alphanumeric(c) || c == '_'; };
  bool piped = false;
  char before = ' ';  // the last character
  for (std::size_t i = 0; i < program.size(); before = program[i++]) {
    piped = piped || program[i] == '|';
    const bool goes_on = is_word(before) || before == ']' || before == ')' || before == '"' ||
                         before == '.' || before == '?';
    if (program[i] != '.' || goes_on) continue;
    std::size_t end = i + 1;
    while (end < program.size() && is_word(program[end])) ++end;
    const std::string_view name = program.substr(i + 1, end - i - 1);
    if (name.empty() || is_in_metadata(name)) continue;
    if (!piped || std::find(kLost.begin(), kLost.end(), name) != kLost.end()) {
      return std::string(name);
    }
  }
  return "";
}

// As above, of any program.
std::string lost_member(const jq::Program& program) {
  if (!program.native()) return lost_in_text(program.text());
  for (const auto& steps : program.reads()) {
    if (!is_in_metadata(steps.front())) return steps.front();
  }
  return "";
}

// .metadata.annotations["a/b"]
std::string shown(const std::vector<std::string>& steps) {
  std::string out;
  for (const std::string& step : steps) out += path_step(base::dump_json(step));
  return out;
}

bool is_dropped(const std::vector<std::string>& steps, const std::vector<std::string>& strip) {
  const std::string pointer = base::pointer_to(steps) + "/";
  return std::any_of(strip.begin(), strip.end(), [&](const std::string& dropped) {
    return pointer.starts_with(dropped + "/");
  });
}

bool check_stripped(const RuleNode& node, const std::vector<std::string>& steps,
                    const StreamRule& stream, const std::string& whose) {
  if (!is_dropped(steps, stream.strip)) return true;
  return node.problem(
      fmt::format("reads {}, which {}strip drops before the cache", shown(steps), whose));
}

// Of one stream's objects; `whose`: "spec.for.", or "" where both keys stand side by side.
class KeptCheck {
 public:
  KeptCheck(const StreamRule& stream, std::string whose)
      : stream_(stream), whose_(std::move(whose)) {}

  bool filter(const RuleNode& parent) const { return program(parent, "filter", stream_.filter); }

  // `compiled`: as it was read; absent where that failed, which is reported already.
  bool program(const RuleNode& parent, const std::string& key,
               const std::optional<jq::Program>& compiled) const {
    if (!parent.value().is_object() || !parent.has(key)) return true;
    const RuleNode node = parent.child(key);
    if (!node.value().is_string()) return true;  // already reported
    if (!compiled) return true;
    if (bare() && !check_bare(node, *compiled)) return false;
    for (const auto& steps : compiled->reads()) {
      if (!check_stripped(node, steps, stream_, whose_)) return false;
    }
    return true;
  }

  bool env(const RuleNode& spec, const std::string& hook, const HookRule& rule) const {
    if (!spec.has(hook) || !spec.child(hook).value().is_object()) return true;
    const RuleNode block = spec.child(hook);
    if (!block.has("env") || !block.child("env").value().is_object()) return true;
    const RuleNode env = block.child("env");
    bool ok = true;
    for (const auto& [name, value] : env.value().items()) {
      const auto read = rule.env.find(name);
      const auto compiled = read == rule.env.end() ? std::nullopt : read->second.jq;
      ok = program(env.child(name), "jq", compiled) && ok;
    }
    return ok;
  }

  bool changed(const RuleNode& spec) const {
    if (!spec.has("changed") || !spec.child("changed").value().is_array()) return true;
    const RuleNode list = spec.child("changed");
    bool ok = !bare() || check_changed_of_metadata(list);
    for (std::size_t i = 0; ok && i < list.value().size(); ++i) {
      if (!list.item(i).value().is_string()) return true;  // already reported
      const auto path = jq::parse_path(list.item(i).value().get_ref<const std::string&>());
      if (path.ok()) ok = check_stripped(list.item(i), *path, stream_, whose_);
    }
    return ok;
  }

 private:
  bool check_bare(const RuleNode& node, const jq::Program& program) const {
    const std::string lost = lost_member(program);
    if (lost.empty()) return true;
    return node.problem(
        fmt::format("reads {}, which {}content: metadata does not keep", shown({lost}), whose_));
  }

  bool bare() const { return stream_.list.content == core::Content::metadata; }

  const StreamRule& stream_;
  std::string whose_;
};

}  // namespace

void check_kept(const RuleNode& spec, const Rule& rule, const std::vector<StreamRule>& kinds) {
  std::vector<KeptCheck> objects;  // what the rule is for
  for (const StreamRule& kind : kinds) objects.emplace_back(kind, "spec.for.");
  if (kinds.empty()) objects.emplace_back(rule.for_, "spec.for.");
  // Several kinds may have the same fault; it is told once.
  const auto each_kind = [&](const auto& check) {
    (void)std::all_of(objects.begin(), objects.end(), check);
  };
  if (spec.has("for")) {
    const RuleNode place = spec.child("for");
    for (std::size_t i = 0; i < objects.size(); ++i) {
      objects[i].filter(kinds.empty() ? place : place.item(i));
    }
    each_kind([&](const KeptCheck& check) { return check.changed(spec); });
    each_kind([&](const KeptCheck& check) { return check.env(spec, "reconcile", rule.reconcile); });
    if (rule.finalize) {
      each_kind(
          [&](const KeptCheck& check) { return check.env(spec, "finalize", rule.finalize->hook); });
    }
  }
  for (std::size_t i = 0; i < rule.owns.size(); ++i) {
    KeptCheck(rule.owns[i].stream, "").filter(spec.child("owns").item(i));
  }
  for (std::size_t i = 0; i < rule.watches.size(); ++i) {
    const RuleNode place = spec.child("watches").item(i);
    if (spec.has("for")) {
      each_kind([&](const KeptCheck& check) {
        return check.program(place, "refs", rule.watches[i].refs);
      });
    }
    const KeptCheck related(rule.watches[i].stream, "");
    related.filter(place);
    related.program(place, "map", rule.watches[i].map);
  }
}

}  // namespace kubewatch::hooks
