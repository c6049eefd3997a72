#include "rehearsal/observed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "apiserver/convert.hpp"
#include "core/resource.hpp"
#include "rehearsal/matcher.hpp"
#include "rehearsal/met_items.hpp"

namespace kubewatch::rehearsal {

namespace {

constexpr const char* kNoKind = "<none>";  // of a run without an object

std::string name_of(const Json& value) {
  const std::string name = base::string_at(value, {"metadata", "name"});
  return name.empty() ? base::string_at(value, {"name"}) : name;
}

std::string namespace_of(const Json& value) {
  const std::string name = base::string_at(value, {"metadata", "namespace"});
  return name.empty() ? base::string_at(value, {"namespace"}) : name;
}

std::string title(const Json& value) {
  const std::string in = namespace_of(value);
  return base::string_at(value, {"kind"}) + " " + (in.empty() ? "" : in + "/") + name_of(value);
}

// None: it says no duration.
std::optional<Duration> duration_of(const Json& value) {
  if (value.is_number_integer()) return Duration{0};  // a bare 0 is all that is not text
  if (!value.is_string()) return std::nullopt;
  const auto parsed = base::parse_duration(value.get<std::string>());
  return parsed.ok() ? std::optional(*parsed) : std::nullopt;
}

// Durations written as what happened has them: 90s is 1m30s.
Json with_durations(Json item) {
  for (const char* key : {"requeueAfter", "ttl"}) {
    Json* value = base::find(item, {key});
    if (value == nullptr) continue;
    if (const auto duration = duration_of(*value)) *value = base::format_duration(*duration);
  }
  return item;
}

// The same object: kind and name, the group where it is said, the namespace where it is said and
// "default" otherwise.
bool is_same(const Json& wanted, const Json& object) {
  if (base::string_at(wanted, {"kind"}) != base::string_at(object, {"kind"})) return false;
  if (name_of(wanted) != name_of(object)) return false;
  const std::string api_version = base::string_at(wanted, {"apiVersion"});
  if (!api_version.empty() &&
      core::group_of(api_version) != core::group_of(base::string_at(object, {"apiVersion"}))) {
    return false;
  }
  const std::string in = namespace_of(object);
  if (in.empty()) return true;
  const std::string said = namespace_of(wanted);
  return (said.empty() ? "default" : said) == in;
}

class StepCheck {
 public:
  StepCheck(const TestCase& test, const Step& step, const Observed& seen)
      : test_(test), step_(step), seen_(seen) {}

  std::vector<Failure> run() {
    if (!step_.expect.is_object()) return {};
    objects();
    absent();
    list("runs", seen_.runs, "run");
    writes();
    list("events", seen_.events, "event");
    list("metrics", seen_.metrics, "metric");
    of_the_object();
    requeue();
    log();
    return std::move(failures_);
  }

 private:
  const Json* expected(const char* key) const { return base::find(step_.expect, {key}); }
  std::string pointer(const std::string& rest) const { return step_.pointer + "/" + rest; }
  void fail(const std::string& at, std::string message) {
    failures_.push_back({test_.place(at), std::move(message)});
  }

  // In the version that is asked for; without one, in that which the rules use.
  std::optional<Json> find(const Json& wanted) const {
    const auto found = std::find_if(seen_.objects.begin(), seen_.objects.end(),
                                    [&](const Json& object) { return is_same(wanted, object); });
    if (found == seen_.objects.end()) return std::nullopt;
    const auto asked = core::gvk_of(wanted);
    return in_version(asked.ok() ? *asked : used_version(*found), *found);
  }

  core::Gvk used_version(const Json& object) const {
    const auto stored = core::gvk_of(object);
    const auto used = std::find_if(seen_.used.begin(), seen_.used.end(), [&](const auto& gvk) {
      return stored.ok() && gvk.kind == stored->kind && gvk.group == stored->group;
    });
    return used == seen_.used.end() ? core::Gvk() : *used;
  }

  // As it is stored where it is not served in that version.
  Json in_version(const core::Gvk& gvk, const Json& object) const {
    const auto served = std::find_if(seen_.resources.begin(), seen_.resources.end(),
                                     [&](const auto& one) { return one->type.gvk == gvk; });
    return served == seen_.resources.end() ? object : apiserver::to_served(**served, object);
  }

  void objects() {
    const Json* list = expected("objects");
    if (list == nullptr) return;
    for (std::size_t i = 0; i < list->size(); ++i) {
      const Json& wanted = (*list)[i];
      const std::string at = pointer(fmt::format("objects/{}", i));
      const auto live = find(wanted);
      if (!live) {
        fail(at, title(wanted) + ": there is no such object");
        continue;
      }
      Json fields = wanted;
      for (const char* key : {"apiVersion", "name", "namespace"}) fields.erase(key);
      for (const Difference& difference : compare(fields, *live)) {
        fail(at + difference.pointer,
             fmt::format("{}: {}: {}", title(*live), difference.path, difference.message));
      }
    }
  }

  // What is misspelt is never there, and would be met for ever.
  std::string why_never_there(const Json& wanted) const {
    const std::string controller = base::string_at(wanted, {"controller"});
    const auto& names = seen_.controllers;
    if (!controller.empty() && std::find(names.begin(), names.end(), controller) == names.end()) {
      return "there is no controller " + controller;
    }
    const std::string kind = base::string_at(wanted, {"kind"});
    if (kind.empty() || kind == kNoKind) return "";
    const std::string api_version = base::string_at(wanted, {"apiVersion"});
    const auto& all = seen_.resources;
    const bool known = std::any_of(all.begin(), all.end(), [&](const auto& one) {
      const core::Gvk& gvk = one->storage_gvk;
      return gvk.kind == kind && (api_version.empty() || gvk.group == core::group_of(api_version));
    });
    if (known) return "";
    return fmt::format("the server has no kind {}{}", kind,
                       api_version.empty() ? "" : " of " + api_version);
  }

  void absent() {
    const Json* list = expected("absent");
    if (list == nullptr) return;
    for (std::size_t i = 0; i < list->size(); ++i) {
      const std::string at = pointer(fmt::format("absent/{}", i));
      if (const std::string why = why_never_there((*list)[i]); !why.empty()) {
        fail(at, why);
      } else if (const auto live = find((*list)[i])) {
        fail(at, title(*live) + ": it should not be there");
      }
    }
  }

  // Each expected item is met by one of its own (`times`: by so many, no more); an empty list means
  // that there was none.
  void list(const char* key, const std::vector<Json>& seen, const std::string& what) {
    const Json* wanted = expected(key);
    if (wanted == nullptr) return;
    if (wanted->empty() && !seen.empty()) {
      fail(pointer(key),
           fmt::format("expected no {}, got {}: {}", what, seen.size(), shown(seen.front())));
    }
    std::vector<Json> fields;
    std::vector<ExpectedItem> items;
    for (const Json& one : *wanted) {
      Json& item = fields.emplace_back(with_durations(one));
      const auto times = base::int_at(item, {"times"});
      item.erase("times");
      items.push_back({static_cast<std::size_t>(times.value_or(1)), times.has_value()});
    }
    const auto met = met_items(items, seen.size(), [&](std::size_t item, std::size_t one) {
      return compare(fields[item], seen[one]).empty();
    });
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::string at = pointer(fmt::format("{}/{}", key, i));
      const Json* regarding = base::find(fields[i], {"regarding"});
      const std::string why = met[i] > 0 ? "" : why_never_there(regarding ? *regarding : fields[i]);
      if (!why.empty()) {
        fail(at, why);
        continue;
      }
      if (met[i] == items[i].times) continue;
      const std::string count =
          items[i].exactly ? fmt::format(" (expected {} times, got {})", items[i].times, met[i])
                           : "";
      fail(at, fmt::format("no such {}: {}{}{}", what, shown(fields[i]), count,
                           nearest(fields[i], seen)));
    }
  }

  // What there was instead: the one with the fewest differences.
  static std::string nearest(const Json& wanted, const std::vector<Json>& seen) {
    const Json* best = nullptr;
    std::vector<Difference> differences;
    for (const Json& one : seen) {
      auto found = compare(wanted, one);
      if (best != nullptr && found.size() >= differences.size()) continue;
      best = &one;
      differences = std::move(found);
    }
    if (best == nullptr) return "; there was none at all";
    std::string out = "; the nearest is " + shown(*best);
    for (const Difference& one : differences) out += "; " + one.path + ": " + one.message;
    return out;
  }

  void writes() {
    const Json* wanted = expected("writes");
    if (wanted == nullptr) return;
    // Writes that change nothing count only where somebody asks for them.
    const bool asks = std::any_of(wanted->begin(), wanted->end(), [](const Json& item) {
      return base::string_at(item, {"effect"}) == "unchanged";
    });
    std::vector<Json> list_of;
    for (const Json& write : seen_.writes) {
      if (asks || base::string_at(write, {"effect"}) != "unchanged") list_of.push_back(write);
    }
    list("writes", list_of, "write");
  }

  // The one object that status, conditions and finalizers are about.
  std::optional<Json> the_object(const char* key) {
    if (const Json* named = expected("object")) {
      auto live = find(*named);
      if (!live) fail(pointer("object"), title(*named) + ": there is no such object");
      return live;
    }
    std::vector<const Json*> found;
    for (const Json& object : seen_.objects) {
      for (const core::Gvk& gvk : seen_.for_) {
        if (base::string_at(object, {"kind"}) == gvk.kind &&
            core::group_of(base::string_at(object, {"apiVersion"})) == gvk.group) {
          found.push_back(&object);
        }
      }
    }
    if (found.size() == 1) return in_version(used_version(*found.front()), *found.front());
    fail(pointer(key), fmt::format("there are {} objects of the rule's kind: say which by expect."
                                   "object: {{kind, name}}, or use expect.objects",
                                   found.size()));
    return std::nullopt;
  }

  void of_the_object() {
    for (const char* key : {"status", "conditions", "finalizers"}) {
      const Json* wanted = expected(key);
      if (wanted == nullptr) continue;
      const auto object = the_object(key);
      if (!object) continue;
      const bool finalizers = std::string(key) == "finalizers";
      const Json* live = finalizers ? base::find(*object, {"metadata", "finalizers"})
                         : std::string(key) == "conditions"
                             ? base::find(*object, {"status", "conditions"})
                             : base::find(*object, {"status"});
      if (wanted->is_null()) {
        if (live != nullptr && !live->is_null()) {
          fail(pointer(key), fmt::format("{}: {}: expected not to be there, got {}", title(*object),
                                         key, shown(*live)));
        }
        continue;
      }
      const Json none = finalizers || wanted->is_array() ? Json::array() : Json::object();
      for (const Difference& one : compare(*wanted, live == nullptr ? none : *live)) {
        fail(pointer(key) + one.pointer, fmt::format("{}: {}{}: {}", title(*object), key,
                                                     one.path == "." ? "" : one.path, one.message));
      }
    }
  }

  void requeue() {
    const Json* wanted = expected("requeueAfter");
    if (wanted == nullptr) return;
    const Json none;
    const auto last = std::find_if(seen_.runs.rbegin(), seen_.runs.rend(), has_run);
    const Json* live = last == seen_.runs.rend() ? nullptr : base::find(*last, {"requeueAfter"});
    if (duration_of(*wanted) == duration_of(live == nullptr ? none : *live)) return;
    fail(pointer("requeueAfter"), fmt::format("expected {}, the last run asked for {}",
                                              shown(*wanted), live ? shown(*live) : "none"));
  }

  void log() {
    const Json* wanted = expected("log");
    if (wanted == nullptr) return;
    if (wanted->empty() && !seen_.log.empty()) {
      fail(pointer("log"), "expected no log line of a hook, got " + shown(seen_.log.front()));
    }
    for (std::size_t i = 0; i < wanted->size(); ++i) {
      const std::string text = (*wanted)[i].get<std::string>();
      const bool found = std::any_of(seen_.log.begin(), seen_.log.end(), [&](const auto& line) {
        return line.find(text) != std::string::npos;
      });
      if (!found) fail(pointer(fmt::format("log/{}", i)), "no log line has " + shown(text));
    }
  }

  const TestCase& test_;
  const Step& step_;
  const Observed& seen_;
  std::vector<Failure> failures_;
};

}  // namespace

Json run_json(const hooks::RunRecord& run) {
  const auto space = run.object.find(' ');
  const std::string rest = space == std::string::npos ? "" : run.object.substr(space + 1);
  const auto slash = rest.find('/');
  Json out = {{"controller", run.controller},
              {"kind", run.object.substr(0, space)},
              {"name", slash == std::string::npos ? rest : rest.substr(slash + 1)},
              {"reason", run.reason},
              {"attempt", run.attempt},
              {"outcome", run.outcome},
              {"message", run.message},
              {"created", run.created},
              {"configured", run.configured},
              {"unchanged", run.unchanged},
              {"deleted", run.deleted}};
  if (slash != std::string::npos) out["namespace"] = rest.substr(0, slash);
  if (run.exit_code) out["exitCode"] = *run.exit_code;
  if (run.requeue_after) out["requeueAfter"] = base::format_duration(*run.requeue_after);
  return out;
}

bool has_run(const Json& run) {
  return base::string_at(run, {"outcome"}) != hooks::kIncomplete;
}

Json write_json(const ApiWrite& write) {
  Json out = {{"verb", write.verb},      {"apiVersion", write.gvk.api_version()},
              {"kind", write.gvk.kind},  {"name", write.key.name},
              {"effect", write.effect},  {"code", write.code},
              {"manager", write.manager}};
  if (!write.key.namespace_.empty()) out["namespace"] = write.key.namespace_;
  if (!write.subresource.empty()) out["subresource"] = write.subresource;
  return out;
}

std::vector<Failure> check_step(const TestCase& test, const Step& step, const Observed& seen) {
  return StepCheck(test, step, seen).run();
}

}  // namespace kubewatch::rehearsal
