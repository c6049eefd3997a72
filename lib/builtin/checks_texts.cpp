// Texts by their characters: the names, keys and paths of checks.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "builtin/checks.hpp"
#include "core/object_rules.hpp"
#include "core/resource.hpp"
#include "core/selector.hpp"

namespace kubewatch::builtin {

Problems label_problems(const std::string& text) {
  return core::dns_label_problems(text);
}

Problems subdomain_problems(const std::string& text) {
  return core::dns_subdomain_problems(text);
}

bool is_word(std::string_view text, std::string_view more) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return base::is_alphanumeric(c) || more.find(c) != std::string_view::npos;
  });
}

namespace {

std::string longer_than(std::size_t most, const char* unit = "characters") {
  return fmt::format("must be no more than {} {}", most, unit);
}

bool has_no_upper(std::string_view text) {
  return std::none_of(text.begin(), text.end(), base::is_upper);
}

bool is_qualified_name(std::string_view text) {
  return is_word(text, "-_.") && base::is_alphanumeric(text.front()) &&
         base::is_alphanumeric(text.back());
}

}  // namespace

Problems dns1035_problems(const std::string& text) {
  Problems out;
  if (text.size() > 63) out.push_back(longer_than(63));
  const bool good = is_word(text, "-") && has_no_upper(text) && base::is_lower(text.front()) &&
                    text.back() != '-';
  if (!good) {
    out.push_back(shape_sentence(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
        "alphabetic character, and end with an alphanumeric character",
        {"my-name", "abc-123"}, "[a-z]([-a-z0-9]*[a-z0-9])?"));
  }
  return out;
}

Problems wildcard_problems(const std::string& text) {
  Problems out;
  if (text.size() > 253) out.push_back(longer_than(253));
  if (!text.starts_with("*.") || !core::check_dns_subdomain(text.substr(2)).empty()) {
    out.push_back(shape_sentence(
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, "
        "which must consist of lower case alphanumeric characters, '-' or '.' and end with an "
        "alphanumeric character",
        {"*.example.com"},
        "\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"));
  }
  return out;
}

Problems qualified_problems(const std::string& text) {
  const auto parts = base::split(text, '/');
  if (parts.size() > 2) return {core::check_label_key(text)};
  Problems out;
  if (parts.size() == 2) {
    if (parts[0].empty()) out.emplace_back("prefix part must be non-empty");
    for (const auto& problem : core::dns_subdomain_problems(parts[0], "bytes")) {
      if (!parts[0].empty()) out.push_back("prefix part " + problem);
    }
  }
  const std::string& name = parts.empty() ? text : parts.back();
  if (name.empty()) out.emplace_back("name part must be non-empty");
  if (name.size() > 63) out.push_back("name part " + longer_than(63, "bytes"));
  if (!is_qualified_name(name)) out.push_back(core::check_label_key("-"));
  return out;
}

Problems label_value_problems(const std::string& text) {
  Problems out;
  if (text.size() > 63) out.push_back(longer_than(63, "bytes"));
  if (!text.empty() && !is_qualified_name(text)) out.push_back(core::check_label_value("-"));
  return out;
}

Problems path_segment_problems(const std::string& text) {
  if (text == "." || text == "..") return {core::check_path_segment(text)};
  Problems out;
  for (const char c : {'/', '%'}) {
    if (text.find(c) != std::string::npos) out.push_back(fmt::format("may not contain '{}'", c));
  }
  return out;
}

Problems port_name_problems(const std::string& text) {
  Problems out;
  if (text.size() > 15) out.push_back(longer_than(15));
  if (!is_word(text, "-") || !has_no_upper(text)) {
    out.emplace_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (std::none_of(text.begin(), text.end(), base::is_lower)) {
    out.emplace_back("must contain at least one letter (a-z)");
  }
  if (text.find("--") != std::string::npos) {
    out.emplace_back("must not contain consecutive hyphens");
  }
  if (!text.empty() && (text.front() == '-' || text.back() == '-')) {
    out.emplace_back("must not begin or end with a hyphen");
  }
  return out;
}

Problems env_name_problems(const std::string& text) {
  if (text.empty()) return {"environment variable name must be non-empty"};
  const bool good = std::all_of(text.begin(), text.end(),
                                [](char c) { return c >= ' ' && c <= '~' && c != '='; });
  if (good) return {};
  return {
      "a valid environment variable name must consist only of printable ASCII characters other "
      "than '='"};
}

void check_domain_path(const Field& path) {
  const std::string text = path.text();
  if (text.empty()) return path.required();
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == text.size()) {
    return path.invalid("must be a domain-prefixed path (such as \"acme.io/foo\")");
  }
  const std::string host = text.substr(0, slash);
  for (const auto& problem : subdomain_problems(host)) {
    path.invalid_as(go_quoted(host), problem);
  }
  const std::string rest = text.substr(slash + 1);
  const bool good = is_word(rest, "/-._~%!$&'()*+,;=:");
  if (good) return;
  path.invalid_as(go_quoted(rest),
                  shape_sentence("Invalid path", {}, "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"));
}

void check_no_backsteps(const Field& path) {
  const auto parts = base::split(path.text(), '/');
  if (std::find(parts.begin(), parts.end(), "..") != parts.end()) {
    path.invalid("must not contain '..'");
  }
}

void check_descending_path(const Field& path) {
  if (path.text().starts_with("/")) path.invalid("must be a relative path");
  check_no_backsteps(path);
}

void check_local_path(const Field& path) {
  check_descending_path(path);
  const std::string text = path.text();
  if (text.starts_with("..") && !text.starts_with("../")) path.invalid("must not start with '..'");
}

}  // namespace kubewatch::builtin
