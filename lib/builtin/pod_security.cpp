#include "builtin/pod_security.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <set>

#include "base/strings.hpp"
#include "builtin/checks.hpp"
#include "builtin/pod_security_checks.hpp"

namespace kubewatch::builtin {

namespace {

using base::string_at;

constexpr std::array kSecurityLevels = {"privileged", "baseline", "restricted"};
constexpr const char* kSecurityLabel = "pod-security.kubernetes.io/";

// The labels of one namespace, each told where it is wrong.
class SecurityLabels {
 public:
  SecurityLabels(const Json& ns, FieldErrors& errors)
      : labels_(base::value_at(ns, {"metadata", "labels"})), errors_(errors) {}

  bool has(const std::string& name) const { return text(name) != nullptr; }

  // `otherwise`: where it cannot be read.
  SecurityLevel level(const std::string& name, SecurityLevel otherwise) {
    const std::string* value = text(name);
    if (value == nullptr) return SecurityLevel::privileged;
    const auto* const it = std::find(kSecurityLevels.begin(), kSecurityLevels.end(), *value);
    if (it != kSecurityLevels.end()) {
      return static_cast<SecurityLevel>(it - kSecurityLevels.begin());
    }
    tell(name, *value, "must be one of privileged, baseline, restricted");
    return otherwise;
  }

  std::optional<std::int64_t> version(const std::string& name) {
    const std::string* value = text(name);
    if (value == nullptr || *value == "latest") return std::nullopt;
    if (const auto minor = read_version(*value)) return minor;
    tell(name, *value, "must be \"latest\" or \"v1.x\"");
    return std::nullopt;
  }

 private:
  const std::string* text(const std::string& name) const {
    const Json* value = base::find(labels_, {kSecurityLabel + name});
    return value == nullptr ? nullptr : value->get_ptr<const std::string*>();
  }

  static std::optional<std::int64_t> read_version(std::string_view text) {
    constexpr std::string_view kMajor = "v1.";
    if (!text.starts_with(kMajor)) return std::nullopt;
    text.remove_prefix(kMajor.size());
    const bool digits = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
    if (!digits || (text.size() > 1 && text[0] == '0')) return std::nullopt;
    std::int64_t minor = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), minor);
    return read.ec == std::errc() ? std::optional(minor) : std::nullopt;
  }

  void tell(const std::string& name, const std::string& value, const char* why) {
    errors_.push_back(field_invalid(fmt::format("metadata.labels[{}{}]", kSecurityLabel, name),
                                    go_quoted(value), why));
  }

  const Json& labels_;
  FieldErrors& errors_;
};

JudgedPod judged(const SecurityStandard& standard, const Json& pod) {
  JudgedPod out{base::value_at(pod, {"metadata", "annotations"}), base::value_at(pod, {"spec"}),
                standard.minor.value_or(std::numeric_limits<std::int64_t>::max())};
  for (const char* list : {"initContainers", "containers", "ephemeralContainers"}) {
    for (const Json& one : base::items_at(out.spec, {list})) out.containers.push_back(&one);
  }
  return out;
}

std::string told_reasons(const std::vector<SecurityFault>& faults) {
  std::vector<std::string> out;
  for (const auto& fault : faults) out.push_back(fault.reason);
  return base::join(out, ", ");
}

std::string told_details(const std::vector<SecurityFault>& faults) {
  std::vector<std::string> out;
  for (const auto& fault : faults) {
    out.push_back(fault.detail.empty() ? fault.reason
                                       : fmt::format("{} ({})", fault.reason, fault.detail));
  }
  return base::join(out, ", ");
}

bool is_other_image(const Json& before, const Json& after) {
  return string_at(before, {"image"}) != string_at(after, {"image"});
}

// Of those of one controller the first goes before others: they are alike.
std::vector<const Json*> in_judged_order(const std::vector<const Json*>& pods) {
  std::vector<const Json*> out;
  std::vector<const Json*> alike;
  std::set<std::string> controllers;
  for (const Json* pod : pods) {
    const Json& owners = base::items_at(*pod, {"metadata", "ownerReferences"});
    const auto controller = std::find_if(owners.begin(), owners.end(), [](const Json& owner) {
      return base::bool_at(owner, {"controller"});
    });
    const bool first =
        controller == owners.end() || controllers.insert(string_at(*controller, {"uid"})).second;
    (first ? out : alike).push_back(pod);
  }
  out.insert(out.end(), alike.begin(), alike.end());
  return out;
}

}  // namespace

std::string SecurityStandard::text() const {
  const char* name = kSecurityLevels.at(static_cast<std::size_t>(level));
  return minor ? fmt::format("{}:v1.{}", name, *minor) : fmt::format("{}:latest", name);
}

SecurityPolicy security_policy(const Json& ns, FieldErrors& errors) {
  SecurityLabels labels(ns, errors);
  SecurityPolicy out;
  const std::size_t before = errors.size();
  out.enforce.level = labels.level("enforce", SecurityLevel::restricted);
  const bool enforces = errors.size() == before;
  out.enforce.minor = labels.version("enforce-version");
  labels.level("audit", SecurityLevel::privileged);
  labels.version("audit-version");
  out.warn.level = labels.level("warn", SecurityLevel::privileged);
  out.warn.minor = labels.version("warn-version");
  // Who enforces warns of templates, whose Pods would be refused later.
  if (!labels.has("warn") && enforces && out.enforce.level > out.warn.level) {
    out.warn.level = out.enforce.level;
    if (!labels.has("warn-version")) out.warn.minor = out.enforce.minor;
  }
  return out;
}

bool asks_for_more(const SecurityStandard& before, const SecurityStandard& after) {
  if (after.level == SecurityLevel::privileged) return false;
  return after.minor != before.minor || after.level > before.level;
}

std::vector<SecurityFault> security_faults(const SecurityStandard& standard, const Json& pod) {
  if (standard.level == SecurityLevel::privileged) return {};
  const JudgedPod subject = judged(standard, pod);
  const bool restricted = standard.level == SecurityLevel::restricted;
  std::vector<SecurityFault> out;
  const auto judge = [&](const SecurityCheck& check) {
    if (auto fault = check.judge(subject)) out.push_back(std::move(*fault));
  };
  for (const auto& check : baseline_checks()) {
    const bool replaced = restricted && check.replaced && subject.since(*check.replaced);
    if (subject.since(check.since) && !replaced) judge(check);
  }
  if (!restricted) return out;
  for (const auto& check : restricted_checks()) {
    if (subject.since(check.since)) judge(check);
  }
  return out;
}

std::string security_violation(const SecurityStandard& standard, const Json& pod) {
  const auto faults = security_faults(standard, pod);
  if (faults.empty()) return "";
  return fmt::format("PodSecurity \"{}\": {}", standard.text(), told_details(faults));
}

bool is_security_update(const Json& live, const Json& pod) {
  for (const char* list : {"containers", "initContainers"}) {
    const Json& before = base::items_at(live, {"spec", list});
    const Json& after = base::items_at(pod, {"spec", list});
    if (!std::equal(before.begin(), before.end(), after.begin(), after.end(),
                    [](const Json& a, const Json& b) { return !is_other_image(a, b); })) {
      return true;
    }
  }
  std::map<std::string, const Json*> before;  // the first of a name
  for (const Json& one : base::items_at(live, {"spec", "ephemeralContainers"})) {
    before.emplace(string_at(one, {"name"}), &one);
  }
  for (const Json& one : base::items_at(pod, {"spec", "ephemeralContainers"})) {
    const auto same = before.find(string_at(one, {"name"}));
    if (same == before.end() || is_other_image(*same->second, one)) return true;
  }
  return false;
}

std::vector<std::string> warnings_of_pods(const std::string& ns, const SecurityStandard& standard,
                                          const std::vector<const Json*>& pods) {
  struct Alike {
    std::string first;  // by name
    std::size_t count = 0;
  };
  std::map<std::string, Alike> by_reasons;
  std::vector<const Json*> ordered = in_judged_order(pods);
  if (ordered.size() > kMostJudgedPods) ordered.resize(kMostJudgedPods);
  for (const Json* pod : ordered) {
    const auto faults = security_faults(standard, *pod);
    if (faults.empty()) continue;
    Alike& alike = by_reasons[told_reasons(faults)];
    const std::string name = string_at(*pod, {"metadata", "name"});
    if (alike.count++ == 0 || name < alike.first) alike.first = name;
  }
  std::vector<std::string> told;
  for (const auto& [reasons, alike] : by_reasons) {
    const std::size_t others = alike.count - 1;
    const std::string more =
        others == 0 ? "" : fmt::format(" (and {} other pod{})", others, others == 1 ? "" : "s");
    told.push_back(fmt::format("{}{}: {}", alike.first, more, reasons));
  }
  std::sort(told.begin(), told.end());
  std::vector<std::string> out;
  if (ordered.size() < pods.size()) {
    out.push_back(
        fmt::format("new PodSecurity enforce level only checked against the first {} of {} "
                    "existing pods",
                    ordered.size(), pods.size()));
  }
  if (!told.empty()) {
    out.push_back(fmt::format(
        "existing pods in namespace \"{}\" violate the new PodSecurity enforce level \"{}\"", ns,
        standard.text()));
  }
  out.insert(out.end(), told.begin(), told.end());
  return out;
}

}  // namespace kubewatch::builtin
