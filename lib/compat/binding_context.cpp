// Writing down contexts. Objects are texts already and are not parsed again.
#include "compat/binding_context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/json.hpp"
#include "base/strings.hpp"

namespace kubewatch::compat {
namespace {

// Of all contexts of one run.
constexpr std::size_t kMostSnapshotBytes = 64U << 20U;

void append_items(std::string& out, const std::vector<SnapshotItem>& items, bool& first) {
  for (const SnapshotItem& item : items) {
    if (!first) out += ',';
    first = false;
    out += '{';
    if (!item.object.empty()) out += "\"object\":" + item.object;
    if (item.filtered) {
      if (!item.object.empty()) out += ',';
      out += "\"filterResult\":" + *item.filtered;
    }
    out += '}';
  }
}

class Writer {
 public:
  Writer(const HookConfig& config, const SnapshotOf& snapshot_of)
      : config_(config), snapshot_of_(snapshot_of) {}

  void write(const Context& context) {
    // A group has one name, whichever of its bindings woke the hook. Releases of shell-operator
    // differ in where hooks find it, so it is in both places.
    out_ +=
        "{\"binding\":" + base::json_quoted(context.group.empty() ? context.name : context.group);
    if (context.type != ContextType::startup) {
      const bool grouped = !context.group.empty();
      out_ += ",\"type\":";
      out_ += grouped ? "\"Group\"" : type_of(context.type);
      if (grouped) out_ += ",\"groupName\":" + base::json_quoted(context.group);
      if (!grouped) write_objects(context);
      write_snapshots(context);
    }
    out_ += '}';
  }

  std::string out_ = "[";

 private:
  static const char* type_of(ContextType type) {
    switch (type) {
      case ContextType::schedule: return "\"Schedule\"";
      case ContextType::synchronization: return "\"Synchronization\"";
      default: return "\"Event\"";
    }
  }

  void write_objects(const Context& context) {
    if (context.type == ContextType::synchronization) {
      out_ += ",\"objects\":[";
      bool first = true;
      append_items(out_, snapshot_of_(context.binding), first);
      out_ += ']';
    }
    if (context.type != ContextType::event) return;
    out_ += fmt::format(",\"watchEvent\":\"{}\"", to_string(context.event));
    if (!context.object.empty()) out_ += ",\"object\":" + context.object;
    if (context.filtered) out_ += ",\"filterResult\":" + *context.filtered;
  }

  std::vector<std::string> names_for(const Context& context) const {
    std::vector<std::string> out = context.snapshots_from;
    if (context.group.empty()) return out;
    for (const KubernetesBinding& binding : config_.kubernetes) {
      if (binding.group != context.group) continue;
      if (std::find(out.begin(), out.end(), binding.name) == out.end()) {
        out.push_back(binding.name);
      }
    }
    return out;
  }

  void write_snapshots(const Context& context) {
    const auto names = names_for(context);
    if (names.empty()) return;
    out_ += ",\"snapshots\":{";
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (i > 0) out_ += ',';
      out_ += base::json_quoted(names[i]) + ":" + snapshot(names[i]);
    }
    out_ += '}';
  }

  // Read once for all contexts of a run.
  const std::string& snapshot(const std::string& name) {
    const auto [it, fresh] = texts_.emplace(name, "[");
    if (!fresh) return it->second;
    bool first = true;
    for (std::size_t i = 0; i < config_.kubernetes.size(); ++i) {
      if (config_.kubernetes[i].name == name) append_items(it->second, snapshot_of_(i), first);
    }
    it->second += ']';
    return it->second;
  }

  const HookConfig& config_;
  const SnapshotOf& snapshot_of_;
  std::map<std::string, std::string> texts_;
};

Context context_of(const Binding& binding, std::size_t place, ContextType type) {
  Context out;
  out.type = type;
  out.binding = place;
  out.name = binding.name;
  out.group = binding.group;
  out.snapshots_from = binding.snapshots_from;
  return out;
}

std::string describe(const Context& context) {
  switch (context.type) {
    case ContextType::startup: return "onStartup";
    case ContextType::schedule: return "Schedule of " + context.name;
    case ContextType::synchronization: return "Synchronization of " + context.name;
    case ContextType::event: break;
  }
  return fmt::format("{} {}", to_string(context.event), context.object_id);
}

}  // namespace

Context startup_context() {
  Context out;
  out.name = "onStartup";
  return out;
}

Context schedule_context(const HookConfig& config, std::size_t binding) {
  return context_of(config.schedules[binding], binding, ContextType::schedule);
}

Context synchronization_context(const HookConfig& config, std::size_t binding) {
  return context_of(config.kubernetes[binding], binding, ContextType::synchronization);
}

std::string render_contexts(const HookConfig& config, const std::vector<Context>& contexts,
                            const SnapshotOf& snapshot_of) {
  Writer writer(config, snapshot_of);
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    if (i > 0) writer.out_ += ',';
    writer.write(contexts[i]);
  }
  return std::move(writer.out_) + "]";
}

bool shows_state(const std::vector<Context>& contexts) {
  return std::any_of(contexts.begin(), contexts.end(), [](const Context& one) {
    return one.type == ContextType::synchronization || !one.group.empty() ||
           !one.snapshots_from.empty();
  });
}

std::size_t most_contexts(const HookConfig& config,
                          const std::function<std::size_t(std::size_t binding)>& bytes_of) {
  std::set<std::string> names;  // of bindings that any context shows
  for (const ScheduleBinding& binding : config.schedules) {
    names.insert(binding.snapshots_from.begin(), binding.snapshots_from.end());
  }
  for (const KubernetesBinding& binding : config.kubernetes) {
    names.insert(binding.snapshots_from.begin(), binding.snapshots_from.end());
    if (!binding.group.empty()) names.insert(binding.name);
  }
  std::size_t bytes = 1;
  for (std::size_t i = 0; i < config.kubernetes.size(); ++i) {
    if (names.count(config.kubernetes[i].name) > 0) bytes += bytes_of(i);
  }
  return std::max<std::size_t>(1, kMostSnapshotBytes / bytes);
}

std::string describe(const std::vector<Context>& contexts) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(kNamed, contexts.size()); ++i) {
    parts.push_back(describe(contexts[i]));
  }
  std::string out = base::join(parts, ", ");
  if (contexts.size() > kNamed) out += fmt::format(" and {} more", contexts.size() - kNamed);
  return out;
}

}  // namespace kubewatch::compat
