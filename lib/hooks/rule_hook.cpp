// reconcile and finalize: what is run and with which surroundings.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/ascii.hpp"
#include "base/document_words.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "core/resource.hpp"
#include "hooks/rule_parts.hpp"
#include "hooks/rule_values.hpp"

namespace kubewatch::hooks {

namespace {

constexpr Duration kLongestTimeout = std::chrono::hours(24);
// One value of env, as kubewatch-rules(5) says; the runner holds computed values to the same.
constexpr std::size_t kLongestVariable = 64U << 10U;
constexpr std::size_t kLargestOutput = 256U << 20U;
// The kernel counts what processes use in ticks of 10 ms.
constexpr Duration kShortestCpu{10};

// "" when a rule may set or inherit the variable.
std::string check_variable(const std::string& name) {
  const auto word = [](char c) { return base::is_alphanumeric(c) || c == '_'; };
  const bool digit_first = !name.empty() && base::is_digit(name.front());
  if (name.empty() || digit_first || !std::all_of(name.begin(), name.end(), word)) {
    return "not the name of an environment variable";
  }
  static const std::set<std::string> kOurs = {"PATH", "HOME", "TRACEPARENT",
                                              "KUBEWATCH_PROCESS_MARK"};
  if (kOurs.contains(name) || name.starts_with("KW_")) return "set by kubewatch itself";
  return "";
}

bool read_variable(const RuleNode& node, const std::string& folder, EnvValue& out) {
  if (node.value().is_string()) {
    out.literal = node.value().get<std::string>();
    if (out.literal.find('\0') != std::string::npos) return node.problem("must not contain NUL");
    return out.literal.size() <= kLongestVariable ||
           node.problem(fmt::format("longer than {} bytes", kLongestVariable));
  }
  if (!node.value().is_object()) {
    return wrong_type(node, node.value().is_primitive() && !node.value().is_null()
                                ? "text"
                                : "text, {from: {file: PATH}} or {jq: PROGRAM}");
  }
  const RuleReader file = [&](const RuleNode& inner) {
    return read_file_path(inner, folder, out.file.emplace());
  };
  const RuleReader from = [&](const RuleNode& inner) {
    return read_keys(inner, {{"file", file, true}});
  };
  const bool ok = read_keys(node, {{"from", from}, {"jq", program(out.jq)}});
  if (node.has("from") != node.has("jq")) return ok;
  return node.problem(node.has("jq") ? "from and jq exclude each other: one of both gives the value"
                                     : "needs one of from and jq");
}

RuleReader environment(const std::string& folder, std::map<std::string, EnvValue>& out) {
  return [&folder, &out](const RuleNode& node) {
    if (!node.value().is_object()) return wrong_type(node, "a mapping of names to values");
    bool ok = true;
    for (const auto& [name, value] : node.value().items()) {
      const RuleNode variable = node.child(name);
      std::string wrong = check_variable(name);
      if (const auto misread = base::misread_name(name);
          wrong.empty() && !misread.empty() && !variable.key_is_text()) {
        wrong = std::string(misread) + "; put it in quotes";
      }
      if (!wrong.empty()) ok = variable.problem_at_key(wrong);
      ok = read_variable(variable, folder, out[name]) && ok;
    }
    return ok;
  };
}

RuleReader inherited(std::vector<std::string>& out) {
  return list_of([&out](const RuleNode& node) {
    std::string name;
    if (!text(name)(node)) return false;
    const std::string wrong = check_variable(name);
    if (!wrong.empty()) return node.problem(fmt::format("{}: {}", in_quotes(name), wrong));
    if (std::find(out.begin(), out.end(), name) != out.end()) {
      return node.problem(fmt::format("{} is listed twice", in_quotes(name)));
    }
    out.push_back(std::move(name));
    return true;
  });
}

// none | kubeconfig | cache | {serviceAccount: NAME}
bool read_credentials(const RuleNode& node, CredentialsRule& out) {
  using Kind = CredentialsRule::Kind;
  if (node.value().is_object()) {
    out.kind = Kind::service_account;
    return read_keys(node, {{"serviceAccount", object_name(out.service_account), true}});
  }
  const auto word = one_of(node, {"none", "kubeconfig", "cache"});
  if (!word) return false;
  out.kind = *word == 0 ? Kind::none : *word == 1 ? Kind::kubeconfig : Kind::cache;
  return true;
}

// A hook that is handed credentials finds them by this variable.
bool check_kubeconfig(const RuleNode& node, const HookRule& hook) {
  if (hook.credentials.kind == CredentialsRule::Kind::none) return true;
  const std::string name = "KUBECONFIG";
  const auto& inherited = hook.inherit_env;
  const bool set_twice = hook.env.contains(name) ||
                         std::find(inherited.begin(), inherited.end(), name) != inherited.end();
  return !set_twice ||
         node.child("credentials").problem("sets KUBECONFIG, and so does env or inheritEnv");
}

bool read_limits(const RuleNode& node, HookRule& out) {
  HookLimits& limits = out.limits;
  return read_keys(node, {{"output", size(out.max_output, 1024, kLargestOutput)},
                          {"memory", size(limits.memory, 1U << 20U, std::size_t{1} << 44U)},
                          {"cpu", duration(limits.cpu, kShortestCpu)},
                          {"processes", whole(limits.processes, 1, 1'000'000)}});
}

std::vector<RuleKey> hook_keys(const std::string& folder, HookRule& out) {
  return {{"exec", [&](const RuleNode& node) { return read_exec(node, folder, out.argv); }},
          {"shell", [&](const RuleNode& node) { return read_shell(node, out); }},
          {"timeout", duration(out.timeout, Duration{1}, kLongestTimeout)},
          {"grace", duration(out.grace, Duration{0}, kLongestTimeout)},
          {"env", environment(folder, out.env)},
          {"inheritEnv", inherited(out.inherit_env)},
          {"output", choice<bool>(out.output_manifests, {{"manifests", true}, {"log", false}})},
          {"credentials",
           [&](const RuleNode& node) { return read_credentials(node, out.credentials); }},
          {"limits", [&](const RuleNode& node) { return read_limits(node, out); }},
          {"mode", choice<HookMode>(
                       out.mode, {{"process", HookMode::process}, {"worker", HookMode::worker}})},
          {"lists", choice<ListsIn>(out.lists,
                                    {{"document", ListsIn::document}, {"files", ListsIn::files}})}};
}

bool read_hook(const RuleNode& node, const std::string& folder, HookRule& out,
               std::vector<RuleKey> more) {
  out.directory = folder;
  std::vector<RuleKey> keys = hook_keys(folder, out);
  std::move(more.begin(), more.end(), std::back_inserter(keys));
  bool ok = read_keys(node, keys);
  if (!node.value().is_object()) return false;
  if (node.has("exec") == node.has("shell")) {
    ok = node.problem(node.has("exec") ? "exec and shell exclude each other"
                                       : "needs exec or shell: what to run");
  }
  ok = check_kubeconfig(node, out) && ok;
  for (const std::string& name : out.inherit_env) {
    if (!out.env.contains(name)) continue;
    ok = node.child("inheritEnv").problem(fmt::format("{} is in env too", in_quotes(name)));
  }
  return ok;
}

RuleReader finalizer(std::string& out) {
  return [&out](const RuleNode& node) {
    std::string name;
    if (!text(name)(node)) return false;
    const std::size_t slash = name.find('/');
    if (slash == std::string::npos) {
      return node.problem(fmt::format("{} has no domain; write it like example.com/{}",
                                      in_quotes(name),
                                      base::escape_for_terminal(name.substr(0, 63))));
    }
    // The API server's rule for finalizers is the one for label keys.
    const std::string wrong = core::check_label_key(name);
    if (!wrong.empty()) return node.problem(fmt::format("{}: {}", in_quotes(name), wrong));
    out = std::move(name);
    return true;
  };
}

}  // namespace

bool read_reconcile(const RuleNode& node, const std::string& folder, HookRule& out) {
  return read_hook(node, folder, out, {});
}

bool read_finalize(const RuleNode& node, const std::string& folder, FinalizeRule& out,
                   std::string& finalizer_name, WhenRemoved& when_removed) {
  return read_hook(node, folder, out.hook,
                   {{"name", finalizer(finalizer_name)},
                    {"apply", flag(out.apply)},
                    {"whenControllerRemoved",
                     choice<WhenRemoved>(when_removed, {{"release", WhenRemoved::release},
                                                        {"keep", WhenRemoved::keep}})}});
}

}  // namespace kubewatch::hooks
