// Cuts members out of JSON text without building a tree: what the store drops from an object before
// it keeps it. No validator: it never reads out of bounds and never recurses into data, but broken
// scalars pass through; whoever keeps the result validates it (parse_meta).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace kubewatch::core {

// Views into the scanned text. `key` is raw: as between its quotes, escapes not resolved.
struct JsonMember {
  std::string_view key;
  std::string_view value;
};

// Calls `on_member` for each top-level member, in order, up to the first broken one.
// Errors: invalid (not an object, or cut short).
Result<void> for_each_member(std::string_view object,
                             const std::function<void(const JsonMember&)>& on_member);

struct JsonCutResult {
  std::string json;              // compact
  bool has_api_version = false;  // it is in `json`
  bool has_kind = false;
  std::string_view noted;  // what `note` points at, as it stands in the text; "" = not there
};

// All pointers are RFC 6901, e.g. "/metadata/managedFields": keys and array indexes. "" and
// pointers of more than 32 tokens are ignored: a whole object is never cut.
struct JsonCutRules {
  std::vector<std::string> drop;
  std::vector<std::string> keep;  // when not empty: nothing else stays; `drop` wins
  std::string note;               // handed out as it is, dropped or not
};

class JsonCutter {
 public:
  explicit JsonCutter(const JsonCutRules& rules);

  // The object without these members. Errors: invalid (structure), too_large (what is left is
  // deeper than max_depth).
  Result<JsonCutResult> cut(std::string_view object, std::size_t max_depth) const;

  struct Node {
    std::vector<std::pair<std::string, std::size_t>> children;  // token -> index in nodes_
    bool drop = false;
    bool keep = false;  // it and what is below, but for drops
    bool note = false;
  };

 private:
  // Null when the pointer is ignored.
  Node* node_at(std::string_view pointer);

  std::vector<Node> nodes_;  // [0] is the root
};

}  // namespace kubewatch::core
