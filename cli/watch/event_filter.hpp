// Which events a watch shows: --fields (only when what stands there changed) and --when (only
// objects for which a jq program is true). Pure but for jq's helper process.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "cli/metadata_reads.hpp"
#include "core/json_path.hpp"
#include "jq/jq.hpp"

namespace kubewatch::cli::watch {

// jq (".spec.replicas"), or kubectl's JSONPath in braces ("{.spec.replicas}").
class ValuePath {
 public:
  // Errors: invalid, with a caret.
  static Result<ValuePath> parse(const std::string& text);
  // What it leads to: null when nothing, a list when several. Errors: of jq (invalid, timeout).
  Result<Json> of(const Json& object) const;
  // Errors: invalid, where it reads more.
  Result<void> check(const std::string& flag, const MetadataReads& kept) const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::optional<jq::Program> program_;
  std::optional<core::JsonPath> path_;
};

// One event as jq sees it: the object, with the state before it and the event's type beside it.
struct EventView {
  const Json* before = nullptr;  // null: there was none
  const Json* object = nullptr;
  std::string type;  // ADDED, MODIFIED, DELETED
  bool initial = false;
  // The object with .old (null where there was none), .event and .initial.
  Json input() const;
};

struct ShownField {
  std::string path;
  Json before;  // null: nothing was there
  Json after;
};

class EventFilter {
 public:
  // Comma lists and repeated flags; commas in brackets, braces and quotes belong to a path.
  // Errors: invalid, naming the flag.
  static Result<EventFilter> parse(const std::vector<std::string>& fields, const std::string& when);

  // Neither flag was given: nothing needs to be parsed.
  bool empty() const { return fields_.empty() && !when_; }
  bool has_fields() const { return !fields_.empty(); }
  // For objects of which no more is kept. Errors: invalid, naming the flag.
  Result<void> check(const MetadataReads& kept) const;
  std::vector<std::string> field_names() const;
  // Absent: not to be shown. Else the values of --fields. Errors: of jq, naming the flag.
  Result<std::optional<std::vector<ShownField>>> look(const EventView& event) const;

 private:
  std::vector<ValuePath> fields_;
  std::optional<jq::Program> when_;
};

// "a,b[.x,.y]" -> "a", "b[.x,.y]".
std::vector<std::string> split_paths(std::string_view text);

}  // namespace kubewatch::cli::watch
