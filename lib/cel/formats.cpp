// Named formats: cel/opaque.hpp. The wording is that of apimachinery.
#include <array>

#include "base/regex.hpp"
#include "base/strings.hpp"
#include "cel/opaque.hpp"
#include "cel/values.hpp"

namespace kubewatch::cel {

namespace {

constexpr const char* kLabel = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
constexpr const char* kSubdomain =
    "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
constexpr const char* kOldLabel = "[a-z]([-a-z0-9]*[a-z0-9])?";
constexpr const char* kQualified = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
constexpr const char* kLabelValue = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";

using Problems = std::vector<std::string>;

bool whole_match(std::string_view text, const char* pattern) {
  const auto regex = base::Regex::compile("^" + std::string(pattern) + "$");
  return regex.ok() && regex->search(text);
}

std::string too_long(std::size_t most) {
  return "must be no more than " + std::to_string(most) + " bytes";
}

// "WHAT (e.g. 'a',  or 'b', regex used for validation is 'R')".
std::string regex_problem(const std::string& what, const char* pattern,
                          std::initializer_list<const char*> examples) {
  std::string out = what + " (e.g. ";
  bool first = true;
  for (const char* example : examples) {
    if (!first) out += " or ";
    first = false;
    out += "'" + std::string(example) + "', ";
  }
  return out + "regex used for validation is '" + pattern + "')";
}

// A name that ends with '-' is fine as a prefix.
std::string without_dash(std::string_view text) {
  std::string out(text);
  if (out.size() > 1 && out.back() == '-') out.back() = 'a';
  return out;
}

Problems label(std::string_view text) {
  Problems out;
  if (text.size() > 63) out.push_back(too_long(63));
  if (whole_match(text, kLabel)) return out;
  if (whole_match(text, kSubdomain)) {
    out.emplace_back("must not contain dots");
    return out;
  }
  out.push_back(
      regex_problem("a lowercase RFC 1123 label must consist of lower case alphanumeric "
                    "characters or '-', and must start and end with an alphanumeric "
                    "character",
                    kLabel, {"my-name", "123-abc"}));
  return out;
}

Problems subdomain(std::string_view text) {
  Problems out;
  if (text.size() > 253) out.push_back(too_long(253));
  if (!whole_match(text, kSubdomain)) {
    out.push_back(
        regex_problem("a lowercase RFC 1123 subdomain must consist of lower case "
                      "alphanumeric characters, '-' or '.', and must start and end with "
                      "an alphanumeric character",
                      kSubdomain, {"example.com"}));
  }
  return out;
}

Problems old_label(std::string_view text) {
  Problems out;
  if (text.size() > 63) out.push_back(too_long(63));
  if (!whole_match(text, kOldLabel)) {
    out.push_back(
        regex_problem("a DNS-1035 label must consist of lower case alphanumeric "
                      "characters or '-', start with an alphabetic character, and end "
                      "with an alphanumeric character",
                      kOldLabel, {"my-name", "abc-123"}));
  }
  return out;
}

Problems qualified(std::string_view text) {
  static const std::string kWhat =
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
      "alphanumeric character";
  Problems out;
  const auto parts = base::split(text, '/');
  std::string name = parts[0];
  if (parts.size() == 2) {
    name = parts[1];
    if (parts[0].empty()) {
      out.emplace_back("prefix part must be non-empty");
    } else {
      for (const auto& problem : subdomain(parts[0])) out.push_back("prefix part " + problem);
    }
  } else if (parts.size() != 1) {
    out.push_back("a qualified name " +
                  regex_problem(kWhat, kQualified, {"MyName", "my.name", "123-abc"}) +
                  " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
    return out;
  }
  if (name.empty()) {
    out.emplace_back("name part must be non-empty");
  } else if (name.size() > 63) {
    out.push_back("name part " + too_long(63));
  }
  if (!whole_match(name, kQualified)) {
    out.push_back("name part " +
                  regex_problem(kWhat, kQualified, {"MyName", "my.name", "123-abc"}));
  }
  return out;
}

Problems label_value(std::string_view text) {
  Problems out;
  if (text.size() > 63) out.push_back(too_long(63));
  if (!whole_match(text, kLabelValue)) {
    out.push_back(
        regex_problem("a valid label must be an empty string or consist of alphanumeric "
                      "characters, '-', '_' or '.', and must start and end with an "
                      "alphanumeric character",
                      kLabelValue, {"MyValue", "my_value", "12345"}));
  }
  return out;
}

Problems uri(std::string_view text) {
  const auto parsed = Url::parse(text);
  if (!parsed.ok()) return {parsed.error().message()};
  delete *parsed;
  return {};
}

Problems matching(bool fine, const char* complaint) {
  return fine ? Problems() : Problems{complaint};
}

Problems uuid(std::string_view text) {
  return matching(whole_match(text,
                              "(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?"
                              "[0-9a-f]{12}"),
                  "does not match the UUID format");
}
Problems bytes(std::string_view text) {
  static constexpr const char* kBase64 =
      "(?:[A-Za-z0-9+\\/]{4})*(?:[A-Za-z0-9+\\/]{2}==|[A-Za-z0-9+\\/]{3}=|[A-Za-z0-9+\\/]{4})";
  return matching(!text.empty() && whole_match(text, kBase64), "invalid base64");
}
Problems date(std::string_view text) {
  return matching(parse_timestamp(std::string(text) + "T00:00:00Z", true).has_value(),
                  "invalid date");
}
Problems date_time(std::string_view text) {
  return matching(text.size() > 19 && parse_timestamp(text, false).has_value(), "invalid datetime");
}

struct Known {
  std::string_view name;
  std::size_t regex_size;
  Problems (*problems)(std::string_view);
  bool prefix = false;
};

const Known* find(std::string_view name) {
  static constexpr std::array<Known, 13> kFormats = {
      {{"dns1123Label", 30, label},
       {"dns1123Subdomain", 60, subdomain},
       {"dns1035Label", 30, old_label},
       {"qualifiedName", 60, qualified},
       {"dns1123LabelPrefix", 30, label, true},
       {"dns1123SubdomainPrefix", 60, subdomain, true},
       {"dns1035LabelPrefix", 30, old_label, true},
       {"labelValue", 40, label_value},
       {"uri", 1103, uri},
       {"uuid", 73, uuid},
       {"byte", 84, bytes},
       {"date", 132, date},
       {"datetime", 132, date_time}}};
  for (const auto& known : kFormats) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

}  // namespace

bool Format::known(std::string_view name) {
  return find(name) != nullptr;
}

std::size_t Format::regex_size() const {
  const auto* found = find(name);
  return found == nullptr ? 0 : found->regex_size;
}

std::vector<std::string> Format::problems(std::string_view text) const {
  const auto* found = find(name);
  if (found == nullptr) return {"unknown format " + name};
  return found->problems(found->prefix ? without_dash(text) : std::string(text));
}

}  // namespace kubewatch::cel
