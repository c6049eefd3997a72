// retry, apply, triggers, schedule.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/ascii.hpp"
#include "base/json.hpp"
#include "base/number_text.hpp"
#include "base/strings.hpp"
#include "hooks/rule_cron.hpp"
#include "hooks/rule_parts.hpp"
#include "hooks/rule_values.hpp"

namespace kubewatch::hooks {

namespace {

// The decimal number that a key is, without sign and leading zeros.
std::optional<int> exit_code(const std::string& key) {
  const auto code = base::read_number<int>(key);
  const bool plain = code && key.front() != '-' && (key.front() != '0' || key == "0");
  return plain && *code <= 255 ? code : std::nullopt;
}

std::string check_exit(const std::optional<int>& code) {
  if (!code) return "not an exit code (1 to 255)";
  if (*code == 0 || *code == 65 || *code == 75) {
    return "has a fixed meaning: 0 done, 65 permanent failure, 75 not yet";
  }
  return "";
}

// permanent | {after: 1m}
bool read_exit(const RuleNode& node, RetryExit& out) {
  if (!node.value().is_object()) {
    if (node.value() != "permanent") return node.problem("must be permanent or {after: DURATION}");
    out.permanent = true;
    return true;
  }
  return read_keys(node, {{"after", duration(out.after.emplace(), Duration{1}), true}});
}

bool read_exits(const RuleNode& node, std::map<int, RetryExit>& out) {
  if (!node.value().is_object()) return wrong_type(node, "a mapping of exit codes");
  bool ok = true;
  for (const auto& [key, value] : node.value().items()) {
    const RuleNode entry = node.child(key);
    const auto code = exit_code(key);
    const std::string wrong = check_exit(code);
    if (!wrong.empty()) ok = entry.problem_at_key(wrong);
    RetryExit what;
    ok = read_exit(entry, what) && ok;
    if (code) out[*code] = what;
  }
  return ok;
}

// The API server's rule: at most 128 bytes, printable.
RuleReader field_manager(std::string& out) {
  return [&out](const RuleNode& node) {
    std::string value;
    if (!text(value)(node)) return false;
    if (value.size() > kLongestManager) {
      return node.problem(fmt::format("longer than {} bytes", kLongestManager));
    }
    const bool spaces = value.find_first_of("\t\n") != std::string::npos;
    if (spaces || base::escape_for_terminal(value) != value) {
      return node.problem(
          fmt::format("{} has characters that cannot be printed", in_quotes(value)));
    }
    out = std::move(value);
    return true;
  };
}

// .spec.template["a/b"]
bool read_force_path(const RuleNode& node, std::vector<ForcedPath>& out) {
  auto steps = path_steps(node);
  if (!steps) return false;
  if (steps->empty()) return node.problem("names the whole object; use force: true");
  out.push_back(*std::move(steps));
  return true;
}

bool read_http_trigger(const RuleNode& node, const std::string& folder, TriggerRule& out) {
  const RuleReader token = [&](const RuleNode& value) {
    return read_file_path(value, folder, out.token_file);
  };
  if (!read_keys(node, {{"path", text(out.http_path), true}, {"tokenFile", token}})) return false;
  const bool plain = std::all_of(out.http_path.begin(), out.http_path.end(), [](char c) {
    return base::is_alphanumeric(c) || c == '/' || c == '-' || c == '_' || c == '.' || c == '~';
  });
  const RuleNode path = node.child("path");
  if (!out.http_path.starts_with('/')) return path.problem("must start with /");
  return plain || path.problem("must be a path of letters, digits and -_.~/");
}

bool read_trigger(const RuleNode& node, const std::string& folder, TriggerRule& out) {
  const RuleReader exec = [&](const RuleNode& inner) { return read_exec(inner, folder, out.exec); };
  const RuleReader http = [&](const RuleNode& inner) {
    return read_http_trigger(inner, folder, out);
  };
  const RuleReader file = [&](const RuleNode& inner) {
    if (!text(out.file)(inner)) return false;  // may appear later: it is followed
    if (!out.file.starts_with('/')) out.file = folder + "/" + out.file;
    struct stat info {};
    if (!inner.looks_for_files() || ::stat(out.file.c_str(), &info) != 0) return true;
    return S_ISREG(info.st_mode) ||
           inner.problem(fmt::format("{} is no regular file", in_quotes(out.file)));
  };
  const bool ok = read_keys(node, {{"exec", exec}, {"file", file}, {"http", http}});
  if (!node.value().is_object()) return false;
  const int sources = int{node.has("exec")} + int{node.has("file")} + int{node.has("http")};
  if (sources == 1) return ok;
  return node.problem(sources == 0 ? "needs one of exec, file and http"
                                   : "exec, file and http exclude each other: give each a trigger "
                                     "of its own in the list");
}

}  // namespace

bool read_retry(const RuleNode& node, RetryRule& out) {
  const bool ok = read_keys(
      node, {{"initial", duration(out.backoff.initial, Duration{1})},
             {"max", duration(out.backoff.max, Duration{1})},
             {"factor", number(out.backoff.factor, 1, 100)},
             {"jitter", number(out.backoff.jitter, 0, 1)},
             {"maxAttempts", whole(out.max_attempts, 0, 1'000'000)},
             {"exits", [&out](const RuleNode& inner) { return read_exits(inner, out.exits); }}});
  if (!ok || out.backoff.max >= out.backoff.initial) return ok;
  return node.problem(fmt::format("max ({}) is shorter than initial ({})",
                                  base::format_duration(out.backoff.max),
                                  base::format_duration(out.backoff.initial)));
}

bool read_apply(const RuleNode& node, ApplyRule& out) {
  const RuleReader force = [&out](const RuleNode& inner) {
    if (!inner.value().is_array()) return flag(out.force)(inner);
    return list_of([&out](const RuleNode& item) { return read_force_path(item, out.force_paths); },
                   "leave it out")(inner);
  };
  return read_keys(
      node,
      {{"fieldManager", field_manager(out.field_manager)},
       {"force", force},
       {"adopt", choice<Adopt>(out.adopt, {{"never", Adopt::never}, {"unowned", Adopt::unowned}})},
       {"onImmutable",
        choice<OnImmutable>(out.on_immutable,
                            {{"fail", OnImmutable::fail}, {"recreate", OnImmutable::recreate}})},
       {"prune", flag(out.prune)},
       {"ownerReference",
        choice<OwnerRef>(out.owner_reference, {{"controller", OwnerRef::controller},
                                               {"plain", OwnerRef::plain},
                                               {"none", OwnerRef::none}})},
       {"validate", choice<Validate>(out.validate, {{"none", Validate::none},
                                                    {"schema", Validate::schema},
                                                    {"server", Validate::server}})}});
}

bool read_triggers(const RuleNode& node, const std::string& folder, std::vector<TriggerRule>& out) {
  return list_of(
      [&](const RuleNode& item) { return read_trigger(item, folder, out.emplace_back()); },
      "leave it out")(node);
}

bool read_schedule(const RuleNode& node, std::optional<CronSchedule>& out) {
  std::string value;
  if (!text(value)(node)) return false;
  if (const std::string wrong = check_cron(value); !wrong.empty()) return node.problem(wrong);
  auto schedule = CronSchedule::parse(value);
  if (!schedule.ok()) return node.problem(base::escape_for_terminal(schedule.error().render()));
  // Any year will do: a date that comes at all comes within the horizon.
  if (!schedule->next(WallTime{})) return node.problem("is never due: no such date exists");
  out = *std::move(schedule);
  return true;
}

}  // namespace kubewatch::hooks
