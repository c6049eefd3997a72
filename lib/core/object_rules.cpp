#include "core/object_rules.hpp"

#include <cstddef>
#include <cstdint>

#include "base/ascii.hpp"
#include "base/strings.hpp"

namespace kubewatch::core {
namespace {

int sextet(char c) {
  if (base::is_upper(c)) return c - 'A';
  if (base::is_lower(c)) return c - 'a' + 26;
  if (base::is_digit(c)) return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// Its Jobs have eleven characters more.
constexpr std::size_t kMaxCronJobName = 52;
constexpr std::size_t kMaxDataKey = 253;

// Kinds of whose names the server demands no more than that they can stand in a URL.
bool has_free_names(const Gvk& gvk) {
  return gvk.group == "rbac.authorization.k8s.io" ||
         (gvk.group == "policy" && gvk.kind == "PodDisruptionBudget") ||
         (gvk.group.empty() && gvk.kind == "Event");
}

}  // namespace

std::vector<std::string> path_segment_problems(std::string_view name, NamePart part) {
  if (part == NamePart::whole && (name == "." || name == "..")) {
    return {"may not be '" + std::string(name) + "'"};
  }
  std::vector<std::string> out;
  for (const char c : {'/', '%'}) {
    if (name.find(c) == std::string_view::npos) continue;
    out.push_back(std::string("may not contain '") + c + "'");
  }
  return out;
}

std::string check_path_segment(std::string_view name) {
  const auto problems = path_segment_problems(name, NamePart::whole);
  return problems.empty() ? "" : problems.front();
}

std::vector<std::string> object_name_problems(const Gvk& gvk, std::string_view name,
                                              NamePart part) {
  if (has_free_names(gvk)) return path_segment_problems(name, part);
  // What is added to a prefix may follow a dash.
  std::string shown(name);
  if (part == NamePart::prefix && shown.size() > 1 && shown.back() == '-') {
    shown.replace(shown.size() - 2, 2, "a");
  }
  const bool core = gvk.group.empty();
  const bool label = (core && (gvk.kind == "Namespace" || gvk.kind == "Service")) ||
                     (gvk.group == "apps" && gvk.kind == "StatefulSet");
  if (label) return dns_label_problems(shown);
  const bool counts_bytes = core && gvk.kind == "ReplicationController";
  auto out = dns_subdomain_problems(shown, counts_bytes ? "bytes" : "characters");
  const bool cron = gvk.group == "batch" && gvk.kind == "CronJob";
  if (cron && part == NamePart::whole && name.size() > kMaxCronJobName) {
    out.push_back("must be no more than " + std::to_string(kMaxCronJobName) + " characters");
  }
  return out;
}

std::string check_object_name(const Gvk& gvk, std::string_view name) {
  const auto problems = object_name_problems(gvk, name);
  return problems.empty() ? "" : problems.front();
}

std::string check_annotation_key(std::string_view key) {
  return check_label_key(base::to_lower(std::string(key)));
}

std::vector<std::string> data_key_problems(std::string_view key) {
  std::vector<std::string> out;
  if (key.size() > kMaxDataKey) {
    out.push_back("must be no more than " + std::to_string(kMaxDataKey) + " characters");
  }
  const bool letters = key.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                           "0123456789-_.") == std::string_view::npos;
  if (key.empty() || !letters) {
    out.emplace_back(
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
        "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
        "'[-._a-zA-Z0-9]+')");
  }
  // It is the name of a file.
  if (key == "." || key == "..") {
    out.push_back("must not be '" + std::string(key) + "'");
  } else if (key.starts_with("..")) {
    out.emplace_back("must not start with '..'");
  }
  return out;
}

std::variant<std::string, std::size_t> decode_bytes(std::string_view text) {
  std::string out;
  std::size_t at = 0;
  const auto skip_breaks = [&] {
    while (at < text.size() && (text[at] == '\n' || text[at] == '\r')) ++at;
  };
  while (true) {
    std::uint32_t bits = 0;
    std::size_t count = 0;
    for (; count < 4; ++count) {
      skip_breaks();
      if (at == text.size() && count == 0) return out;
      if (at == text.size()) return at - count;
      const char c = text[at++];
      const int value = sextet(c);
      if (value >= 0) {
        bits = bits << 6U | static_cast<std::uint32_t>(value);
        continue;
      }
      if (c != '=' || count < 2) return at - 1;
      if (count == 2) {
        skip_breaks();
        if (at == text.size()) return at;
        if (text[at] != '=') return at - 1;
        ++at;
      }
      skip_breaks();
      if (at < text.size()) return at;
      break;
    }
    bits <<= 6U * (4 - count);
    for (std::size_t i = 1; i < count; ++i) {
      out += static_cast<char>(bits >> (24U - 8U * i) & 0xffU);
    }
    if (count < 4) return out;
  }
}

std::optional<std::string> decoded_bytes(std::string_view text) {
  auto decoded = decode_bytes(text);
  auto* bytes = std::get_if<std::string>(&decoded);
  return bytes == nullptr ? std::nullopt : std::optional(std::move(*bytes));
}

}  // namespace kubewatch::core
