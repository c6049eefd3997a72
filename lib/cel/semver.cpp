// Semantic versions: cel/opaque.hpp.
#include <algorithm>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "cel/opaque.hpp"

namespace kubewatch::cel {

namespace {

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), base::is_digit);
}

bool is_identifier(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return base::is_alphanumeric(c) || c == '-'; });
}

Error broken(std::string message) {
  return {ErrorKind::invalid, std::move(message)};
}

Result<std::uint64_t> version_number(std::string_view text, const char* name) {
  if (!is_number(text)) {
    return broken("Invalid character(s) found in " + std::string(name) + " number \"" +
                  std::string(text) + "\"");
  }
  if (text.size() > 1 && text[0] == '0') {
    std::string title(name);
    title[0] = static_cast<char>(title[0] - 32);
    return broken(title + " number must not contain leading zeroes \"" + std::string(text) + "\"");
  }
  if (text.size() > 19) return broken("version number \"" + std::string(text) + "\" is too large");
  std::uint64_t out = 0;
  for (const char c : text) out = out * 10 + static_cast<std::uint64_t>(c - '0');
  return out;
}

// "v01.2" as "1.2.0".
Result<std::string> normalized(std::string_view text) {
  if (!text.empty() && text[0] == 'v') text.remove_prefix(1);
  std::vector<std::string> parts;
  while (parts.size() < 2 && text.find('.') != std::string_view::npos) {
    parts.emplace_back(text.substr(0, text.find('.')));
    text.remove_prefix(text.find('.') + 1);
  }
  parts.emplace_back(text);
  for (auto& part : parts) {
    if (part.size() < 2) continue;
    part.erase(0, part.find_first_not_of('0') == std::string::npos ? part.size()
                                                                   : part.find_first_not_of('0'));
    if (part.empty() || !base::is_digit(part[0])) part.insert(0, "0");
  }
  if (parts.size() < 3 && parts.back().find_first_of("+-") != std::string::npos) {
    return broken("short version cannot contain PreRelease/Build meta data");
  }
  while (parts.size() < 3) parts.emplace_back("0");
  return base::join(parts, ".");
}

int compare_identifiers(const std::string& left, const std::string& right) {
  const bool left_number = is_number(left), right_number = is_number(right);
  if (left_number != right_number) return left_number ? -1 : 1;
  if (left_number && left.size() != right.size()) return left.size() < right.size() ? -1 : 1;
  return left == right ? 0 : (left < right ? -1 : 1);
}

}  // namespace

Result<Semver> Semver::parse(std::string_view text, bool normalize) {
  std::string own;
  if (normalize) {
    KW_ASSIGN(own, normalized(text));
    text = own;
  }
  if (text.empty()) return broken("Version string empty");
  const auto first = text.find('.');
  const auto second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second == std::string_view::npos) return broken("No Major.Minor.Patch elements found");
  Semver out;
  KW_ASSIGN(out.major, version_number(text.substr(0, first), "major"));
  KW_ASSIGN(out.minor, version_number(text.substr(first + 1, second - first - 1), "minor"));
  std::string_view rest = text.substr(second + 1);
  const auto plus = rest.find('+');
  if (plus != std::string_view::npos) {
    for (const auto& part : base::split(rest.substr(plus + 1), '.')) {
      if (part.empty()) return broken("Build meta data is empty");
      if (!is_identifier(part)) {
        return broken("Invalid character(s) found in build meta data \"" + part + "\"");
      }
    }
    rest = rest.substr(0, plus);
  }
  const auto dash = rest.find('-');
  KW_ASSIGN(out.patch, version_number(rest.substr(0, dash), "patch"));
  if (dash == std::string_view::npos) return out;
  for (auto& part : base::split(rest.substr(dash + 1), '.')) {
    if (part.empty()) return broken("Prerelease is empty");
    if (!is_identifier(part)) {
      return broken("Invalid character(s) found in prerelease \"" + part + "\"");
    }
    if (is_number(part) && part.size() > 1 && part[0] == '0') {
      return broken("Numeric PreRelease version must not contain leading zeroes \"" + part + "\"");
    }
    out.pre.push_back(std::move(part));
  }
  return out;
}

int Semver::compare(const Semver& other) const {
  if (major != other.major) return major < other.major ? -1 : 1;
  if (minor != other.minor) return minor < other.minor ? -1 : 1;
  if (patch != other.patch) return patch < other.patch ? -1 : 1;
  if (pre.empty() || other.pre.empty()) {  // a release is after its prereleases
    return static_cast<int>(pre.empty()) - static_cast<int>(other.pre.empty());
  }
  for (std::size_t i = 0; i < std::min(pre.size(), other.pre.size()); ++i) {
    if (const int by_part = compare_identifiers(pre[i], other.pre[i]); by_part != 0) return by_part;
  }
  if (pre.size() == other.pre.size()) return 0;
  return pre.size() < other.pre.size() ? -1 : 1;
}

}  // namespace kubewatch::cel
