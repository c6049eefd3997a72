// What a watch tells its views: one event of one source. Data.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "cli/watch/event_filter.hpp"
#include "core/resource.hpp"
#include "runtime/store.hpp"

namespace kubewatch::cli::watch {

// A kind in a namespace of a context.
struct SourceInfo {
  std::string context;  // "" when the watch has only one
  core::ResourceType type;
  std::string namespace_;  // "" = all
  std::size_t group = 0;   // equal for objects that were named together
};

// ADDED, MODIFIED, DELETED.
std::string_view event_name(runtime::ChangeType type);

// One change. The trees are made when they are first asked for, and by whoever needs them.
class Event {
 public:
  // All must outlive it.
  Event(const SourceInfo& source, const runtime::StoreChange& change)
      : source_(source), change_(change) {}

  const SourceInfo& source() const { return source_; }
  const runtime::StoreChange& change() const { return change_; }
  // Null where the text is no JSON (an object of which only the metadata could be kept is JSON).
  const Json& object() const;
  // Null pointer: there was none.
  const Json* before() const;
  EventView view() const;

  std::vector<ShownField> fields;  // of --fields

 private:
  const SourceInfo& source_;
  const runtime::StoreChange& change_;
  mutable std::optional<Json> object_;
  mutable std::optional<Json> before_;
};

}  // namespace kubewatch::cli::watch
