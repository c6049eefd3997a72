// One schema made ready for validation, and what one look at a value found. Private to validator.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/regex.hpp"
#include "schema/validator.hpp"

namespace kubewatch::schema {

struct Validator::Node {
  using Nodes = std::vector<std::unique_ptr<Node>>;
  const Structural* schema = nullptr;
  std::string types;   // "string", "integer,string", "" for anything
  std::string format;  // "" when the server passes over it
  bool integer = false, number = false, any_type = false;
  std::optional<base::Regex> pattern;
  std::string bad_pattern;  // why it does not compile
  using Properties = std::vector<std::pair<std::string_view, std::unique_ptr<Node>>>;
  Properties properties;  // sorted
  std::unique_ptr<Node> additional;
  std::unique_ptr<Node> items;
  Nodes all_of, any_of, one_of;
  std::unique_ptr<Node> not_node;

  // Null: no property. `from` is where to begin, and moves on: the keys of an object come sorted
  // too.
  const Node* property(std::string_view key, Properties::const_iterator& from) const;
};

// An error before it has a place: `name` is the server's own dotted name of the value.
struct Issue {
  enum class Kind { plain, invalid, type_invalid, required, not_supported, too_long, too_many };
  Kind kind = Kind::plain;
  std::string name;
  std::string text;   // the validator's sentence
  std::string shown;  // bad value
  std::vector<std::string> supported;
  std::int64_t actual = 0, most = 0;

  std::size_t bytes() const;  // of its texts
};

// `matches` counts the checks that were made; of several failed alternatives the one with the most
// is reported.
struct Outcome {
  std::vector<Issue> issues;
  int matches = 0;

  bool fine() const { return issues.empty(); }
  void add(Issue issue);
  void merge(Outcome&& other);

 private:
  std::unique_ptr<std::unordered_set<std::string>> seen_;  // sentences, once there are many
};

}  // namespace kubewatch::schema
