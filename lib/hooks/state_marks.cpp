#include "hooks/state_marks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "hooks/caches.hpp"
#include "hooks/ownership.hpp"
#include "hooks/program_files.hpp"

namespace kubewatch::hooks {
namespace {

// A larger one is told by its time alone.
constexpr std::size_t kMaxRead = 16U << 20U;

void add_files(const HookRule& hook, std::vector<std::string>& out) {
  for (std::string& path : program_files_of(hook)) out.push_back(std::move(path));
  for (const auto& [name, value] : hook.env) {
    if (value.file) out.push_back(*value.file);
  }
}

// What this process hands over to its hooks.
std::string inherited(const HookRule& hook) {
  std::string out;
  for (const std::string& name : hook.inherit_env) {
    out += name + "=" + base::from_environment(name.c_str()) + "\n";
  }
  return out;
}

}  // namespace

std::vector<std::string> hook_files_of(const Rule& rule) {
  std::vector<std::string> out;
  add_files(rule.reconcile, out);
  if (rule.finalize) add_files(rule.finalize->hook, out);
  return out;
}

std::string HookFiles::mark(const Rule& rule, const StateStore& state) {
  std::string out = inherited(rule.reconcile);
  if (rule.finalize) out += inherited(rule.finalize->hook);
  for (const std::string& path : hook_files_of(rule)) {
    Known& known = known_[path];
    std::string stamp = file_stamp(path);
    if (stamp.empty()) stamp = "missing";
    if (known.stamp != stamp || known.hash.empty()) {
      const auto content = base::read_regular_file(path, kMaxRead);
      known = {stamp, state.hash(content.ok() ? *content : stamp)};
    }
    out += path + " " + known.hash + "\n";
  }
  return out;
}

// One line for each object that the run would see. Of the object itself what `changed` counts, so
// that our own status does not make it new; generation or resourceVersion tell changes that were
// undone.
std::string RuleCaches::input_mark(const core::ObjectKey& key, const core::ObjectMeta& meta,
                                   const std::string& json) const {
  const auto object = base::parse_json(json);
  std::string out =
      fmt::format("{} {} {} {}\n", meta.uid, meta.deletion_timestamp.value_or(""),
                  base::join(meta.finalizers, ","), object.ok() ? content_.of(*object) : 0);
  out += meta.generation > 0 ? std::to_string(meta.generation) : meta.resource_version;
  const auto add = [&out](const core::ObjectMeta& other) {
    out += fmt::format("\n{}/{} {} {}", other.namespace_, other.name, other.uid,
                       other.resource_version);
  };
  for (const auto& owned : owned_) {
    out += "\nowned " + owned->type.gvk.str() + (owned->absent ? " absent" : "");
    std::vector<core::ObjectKey> keys =
        owned->group.keys_with_label(std::string(kOwnerUidLabel), meta.uid);
    std::sort(keys.begin(), keys.end());
    for (const auto& child : keys) {
      if (const auto found = owned->group.get_meta(child)) add(*found);
    }
  }
  for (const auto& related : related_) {
    out += "\nrelated " + related->rule->name + (related->absent ? " absent" : "");
    if (!relation_failure(*related, key).empty()) out += " incomplete";
    std::vector<core::ObjectKey> keys = related_keys(*related, key);
    std::sort(keys.begin(), keys.end());
    for (const auto& other : keys) {
      if (const auto found = related->group.get_meta(other)) add(*found);
    }
  }
  return out;
}

}  // namespace kubewatch::hooks
