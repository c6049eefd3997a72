// Pods by their operating system: the options of Windows, and what the Pods of one system may not
// say. Nothing of what a node makes of it.
#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "builtin/validation_pods.hpp"

namespace kubewatch::builtin {

namespace {

constexpr std::size_t kMostSpecKiB = 64;
constexpr std::size_t kDomainBelow = 256;
constexpr std::size_t kMostUser = 104;
constexpr std::size_t kMostNetBios = 15;

bool has_any(const std::string& text, std::string_view characters) {
  return text.find_first_of(characters) != std::string::npos;
}

bool has_control_characters(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

bool is_net_bios_name(const std::string& text) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  const auto length = static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins));
  return length > 0 && length <= kMostNetBios && text.front() != '.' &&
         !has_any(text, "\\/:*?\"<>|");
}

bool is_domain_label(const std::string& text) {
  return !text.empty() && text.size() <= 63 && base::is_alphanumeric(text.front()) &&
         base::is_alphanumeric(text.back()) && std::all_of(text.begin(), text.end(), [](char c) {
           return base::is_alphanumeric(c) || c == '-';
         });
}

bool is_domain_name(const std::string& text) {
  const auto labels = base::split(text, '.');
  return std::all_of(labels.begin(), labels.end(), is_domain_label);
}

void check_domain(const Field& name, const std::string& domain) {
  if (domain.size() >= kDomainBelow) {
    name.invalid(
        fmt::format("runAsUserName's Domain length must be under {} characters", kDomainBelow));
  }
  if (is_net_bios_name(domain) || is_domain_name(domain)) return;
  name.invalid("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
}

void check_user(const Field& name, const std::string& user) {
  if (user.empty()) {
    name.invalid("runAsUserName's User cannot be empty");
  } else if (user.size() > kMostUser) {
    name.invalid(fmt::format("runAsUserName's User length must not be longer than {} characters",
                             kMostUser));
  }
  if (!user.empty() && user.find_first_not_of(". ") == std::string::npos) {
    name.invalid("runAsUserName's User cannot contain only periods or spaces");
  }
  if (has_any(user, "\"/\\:;|=,+*?<>@[]")) {
    name.invalid(
        "runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]");
  }
}

// "DOMAIN\USER", or the user alone.
void check_user_name(const Field& name) {
  if (!name.present()) return;
  const std::string text = name.text();
  if (text.empty()) return name.invalid("runAsUserName cannot be an empty string");
  if (has_control_characters(text)) {
    return name.invalid("runAsUserName cannot contain control characters");
  }
  const auto parts = base::split(text, '\\');
  if (parts.size() > 2) {
    return name.invalid("runAsUserName cannot contain more than one backslash");
  }
  if (parts.size() == 2) check_domain(name, parts.front());
  check_user(name, parts.back());
}

std::vector<Field> containers_of(const Field& spec) {
  std::vector<Field> out;
  for (const char* key : {"initContainers", "containers", "ephemeralContainers"}) {
    for (const auto& container : spec[key].items()) out.push_back(container);
  }
  return out;
}

void check_linux_pod(const Field& spec) {
  const auto none = [](const Field& security) {
    const Field options = security["windowsOptions"];
    if (options.present()) options.forbidden("windows options cannot be set for a linux pod");
  };
  none(spec["securityContext"]);
  for (const auto& container : containers_of(spec)) none(container["securityContext"]);
}

void check_windows_pod(const Field& spec) {
  const auto unsaid = [](const Field& field) {
    if (field.present()) field.forbidden("cannot be set for a windows pod");
  };
  const Field security = spec["securityContext"];
  unsaid(security["appArmorProfile"]);
  unsaid(security["seLinuxOptions"]);
  unsaid(spec["hostUsers"]);
  for (const char* key : {"hostPID", "hostIPC"}) {
    if (spec[key].is_true()) unsaid(spec[key]);
  }
  for (const char* key : {"seccompProfile", "fsGroup", "fsGroupChangePolicy"}) {
    unsaid(security[key]);
  }
  if (!security["sysctls"].empty()) unsaid(security["sysctls"]);
  unsaid(spec["shareProcessNamespace"]);
  for (const char* key : {"runAsUser", "runAsGroup", "supplementalGroups",
                          "supplementalGroupsPolicy", "seLinuxChangePolicy"}) {
    unsaid(security[key]);
  }
  for (const auto& container : containers_of(spec)) {
    for (const char* key : {"appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities",
                            "readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation",
                            "procMount", "runAsUser", "runAsGroup"}) {
      unsaid(container["securityContext"][key]);
    }
  }
}

}  // namespace

void check_windows_options(const Field& options) {
  const Field name = options["gmsaCredentialSpecName"];
  if (name.present()) name.invalid_each(subdomain_problems(name.text()));
  const Field spec = options["gmsaCredentialSpec"];
  if (spec.present() && spec.empty()) {
    spec.invalid("gmsaCredentialSpec cannot be an empty string");
  } else if (spec.size() > kMostSpecKiB * 1024) {
    spec.invalid(fmt::format("gmsaCredentialSpec size must be under {} KiB", kMostSpecKiB));
  }
  check_user_name(options["runAsUserName"]);
}

void check_host_process(const Field& spec) {
  const Field pod = spec["securityContext"]["windowsOptions"]["hostProcess"];
  const auto containers = containers_of(spec);
  std::size_t count = 0;
  for (const auto& container : containers) {
    const Field own = container["securityContext"]["windowsOptions"]["hostProcess"];
    if (pod.present() && own.present() && pod.is_true() != own.is_true()) {
      own.invalid(fmt::format(
          "pod hostProcess value must be identical if both are specified, was {}", pod.is_true()));
    }
    if (own.present() ? own.is_true() : pod.is_true()) ++count;
  }
  if (count == 0) return;
  if (count != containers.size()) {
    spec.invalid_as("\"\"",
                    "If pod contains any hostProcess containers then all containers must be "
                    "HostProcess containers");
  }
  if (spec["hostNetwork"].is_true()) return;
  spec["hostNetwork"].invalid_as(
      "false", "hostNetwork must be true if pod contains any hostProcess containers");
}

void check_os(const Field& spec) {
  const Field os = spec["os"];
  if (!os.present()) return;
  const Field name = os["name"];
  if (name.empty()) return name.required();
  name.at(os.path()).one_of({"linux", "windows"});
  if (name.is("linux")) check_linux_pod(spec);
  if (name.is("windows")) check_windows_pod(spec);
}

}  // namespace kubewatch::builtin
