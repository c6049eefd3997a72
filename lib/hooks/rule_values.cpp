// Text, numbers, durations, sizes, choices. What needs Kubernetes' or jq's rules is in
// rule_words.cpp.
#include "hooks/rule_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/json.hpp"

namespace kubewatch::hooks {

namespace {

// Digits with a suffix of Kubernetes' quantities; fractions and exponents are not worth their
// surprises.
std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, count);
  if (code != std::errc() || rest == text.data()) return std::nullopt;
  const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  constexpr std::pair<std::string_view, std::uint64_t> kUnits[] = {
      {"", 1},           {"k", 1000},       {"M", 1'000'000}, {"G", 1'000'000'000},
      {"Ki", 1U << 10U}, {"Mi", 1U << 20U}, {"Gi", 1U << 30U}};
  for (const auto& [name, factor] : kUnits) {
    if (suffix != name) continue;
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(count, factor, &bytes)) return std::nullopt;
    return bytes;
  }
  return std::nullopt;
}

std::string size_text(std::size_t bytes) {
  if (bytes % (1U << 20U) == 0) return fmt::format("{}Mi", bytes >> 20U);
  if (bytes % (1U << 10U) == 0) return fmt::format("{}Ki", bytes >> 10U);
  return fmt::format("{}", bytes);
}

// "a, b or c"
std::string or_list(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

}  // namespace

bool wrong_type(const RuleNode& node, std::string_view wanted) {
  const Json& value = node.value();
  const bool unquoted = wanted == "text" && (value.is_boolean() || value.is_number());
  return node.problem(fmt::format("must be {}, not {}{}", wanted, type_name(value),
                                  unquoted ? " (put it in quotes)" : ""));
}

RuleReader text(std::string& out) {
  return [&out](const RuleNode& node) {
    if (!node.value().is_string()) return wrong_type(node, "text");
    const auto& value = node.value().get_ref<const std::string&>();
    if (value.empty()) return node.problem("must not be empty");
    if (value.find('\0') != std::string::npos) return node.problem("must not contain NUL");
    if (value.size() > kLongestArgument) {
      return node.problem(fmt::format("longer than {} bytes: put it in a file", kLongestArgument));
    }
    out = value;
    return true;
  };
}

RuleReader flag(bool& out) {
  return [&out](const RuleNode& node) {
    if (!node.value().is_boolean()) return wrong_type(node, "true or false");
    out = node.value().get<bool>();
    return true;
  };
}

RuleReader whole_number(std::int64_t& out, std::int64_t min, std::int64_t max) {
  return [&out, min, max](const RuleNode& node) {
    const Json& value = node.value();
    if (!value.is_number_integer()) return wrong_type(node, "a whole number");
    // Unsigned values beyond int64 would turn negative in the conversion.
    const bool huge = value.is_number_unsigned() && value.get<std::uint64_t>() >> 63U != 0;
    const std::int64_t found = huge ? max : value.get<std::int64_t>();
    if (huge || found < min || found > max) {
      return node.problem(fmt::format("must be from {} to {}, not {}", min, max, value.dump()));
    }
    out = found;
    return true;
  };
}

RuleReader number(double& out, double min, double max) {
  return [&out, min, max](const RuleNode& node) {
    if (!node.value().is_number()) return wrong_type(node, "a number");
    const auto found = node.value().get<double>();
    if (!(found >= min && found <= max)) {
      return node.problem(
          fmt::format("must be from {} to {}, not {}", min, max, node.value().dump()));
    }
    out = found;
    return true;
  };
}

RuleReader duration(Duration& out, Duration min, Duration max) {
  return [&out, min, max](const RuleNode& node) {
    const Json& value = node.value();
    const bool zero = value.is_number_integer() && value == 0;
    if (!value.is_string() && !zero) {
      return wrong_type(node, "a duration such as 30s, 5m or 1h30m");
    }
    auto parsed = base::parse_duration(zero ? "0" : value.get_ref<const std::string&>());
    if (!parsed.ok()) return node.problem(parsed.error().message());
    if (*parsed < min || *parsed > max) {
      return node.problem(fmt::format("must be from {} to {}, not {}", base::format_duration(min),
                                      base::format_duration(max), base::format_duration(*parsed)));
    }
    out = *parsed;
    return true;
  };
}

RuleReader size(std::size_t& out, std::size_t min, std::size_t max) {
  return [&out, min, max](const RuleNode& node) {
    const Json& value = node.value();
    const bool whole_value = value.is_number_integer() && value >= 0;
    if (!value.is_string() && !whole_value) return wrong_type(node, "a size such as 64Ki or 4Mi");
    const auto bytes = whole_value ? std::optional(value.get<std::uint64_t>())
                                   : parse_size(value.get_ref<const std::string&>());
    if (!bytes) {
      return node.problem(fmt::format("{} is not a size; write it like 65536, 64Ki, 4Mi or 1Gi",
                                      in_quotes(value.get_ref<const std::string&>())));
    }
    if (*bytes < min || *bytes > max) {
      return node.problem(
          fmt::format("must be from {} to {} bytes", size_text(min), size_text(max)));
    }
    out = static_cast<std::size_t>(*bytes);
    return true;
  };
}

std::optional<std::size_t> one_of(const RuleNode& node, const std::vector<std::string>& words) {
  if (node.probe() != nullptr) node.probe()->on_words(node.path(), words);
  if (!node.value().is_string()) {
    wrong_type(node, or_list(words));
    return std::nullopt;
  }
  const auto& found = node.value().get_ref<const std::string&>();
  const auto it = std::find(words.begin(), words.end(), found);
  if (it != words.end()) return static_cast<std::size_t>(it - words.begin());
  node.problem(fmt::format("must be {}, not {}{}", or_list(words), in_quotes(found),
                           did_you_mean(found, words)));
  return std::nullopt;
}

RuleReader list_of(RuleReader item, std::string empty_hint) {
  return [item = std::move(item), empty_hint = std::move(empty_hint)](const RuleNode& node) {
    if (!node.value().is_array()) return wrong_type(node, "a list");
    if (node.value().empty() && !empty_hint.empty()) {
      return node.problem("must not be empty; " + empty_hint);
    }
    bool ok = true;
    for (std::size_t i = 0; i < node.value().size(); ++i) ok = item(node.item(i)) && ok;
    return ok;
  };
}

}  // namespace kubewatch::hooks
