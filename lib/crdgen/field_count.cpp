#include "crdgen/field_count.hpp"

#include <fmt/format.h>

#include <map>

#include "base/strings.hpp"
#include "schema/cel_types.hpp"
#include "schema/rule_checker.hpp"

namespace kubewatch::crdgen {

namespace {

const char* condition_of(FieldCount::Kind kind) {
  switch (kind) {
    case FieldCount::Kind::exactly_one: return "== 1";
    case FieldCount::Kind::at_most_one: return "<= 1";
    case FieldCount::Kind::at_least_one: return ">= 1";
  }
  return "";
}

std::string controller_gen_rule_of(const FieldCount& count) {
  std::vector<std::string> terms;
  for (const std::string& field : count.fields) terms.push_back(fmt::format("has(self.{})", field));
  return fmt::format("[{}].filter(x, x == true).size() {}", base::join(terms, ","),
                     condition_of(count.kind));
}

// X of every has(self.X) in a rule's tokens.
std::vector<std::string> asked_fields(const std::string& tokens) {
  constexpr std::string_view kAsked = "has ( self . ";
  std::vector<std::string> out;
  for (auto at = tokens.find(kAsked); at != std::string::npos; at = tokens.find(kAsked, at)) {
    at += kAsked.size();
    out.push_back(tokens.substr(at, tokens.find(' ', at) - at));
  }
  return out;
}

}  // namespace

std::string rule_of(const FieldCount& count) {
  std::vector<std::string> terms;
  for (const std::string& field : count.fields) {
    terms.push_back(fmt::format("(has(self.{}) ? 1 : 0)", field));
  }
  return base::join(terms, " + ") + " " + condition_of(count.kind);
}

std::optional<FieldCount> field_count_of(const std::string& rule, const Json& properties) {
  using Kind = FieldCount::Kind;
  const std::string tokens = schema::rule_tokens(rule);
  FieldCount count{Kind::exactly_one, asked_fields(tokens)};
  if (count.fields.empty() || !properties.is_object()) return std::nullopt;
  for (const Kind kind : {Kind::exactly_one, Kind::at_most_one, Kind::at_least_one}) {
    count.kind = kind;
    if (tokens != schema::rule_tokens(rule_of(count)) &&
        tokens != schema::rule_tokens(controller_gen_rule_of(count))) {
      continue;
    }
    std::map<std::string, std::string> names;
    for (const auto& [name, property] : properties.items()) {
      if (const auto in_cel = schema::escape_name(name)) names[*in_cel] = name;
    }
    for (std::string& field : count.fields) {
      const auto name = names.find(field);
      if (name == names.end()) return std::nullopt;
      field = name->second;
    }
    return count;
  }
  return std::nullopt;
}

}  // namespace kubewatch::crdgen
