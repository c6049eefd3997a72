// Answers made from the text of cached objects, without a tree of them: objects, list items, table
// rows, lines of a watch. Not for the sandbox's objects: those are encode.hpp's. Pure.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/encode.hpp"
#include "apiserver/negotiate.hpp"
#include "apiserver/read_history.hpp"
#include "apiserver/resource.hpp"
#include "base/time.hpp"
#include "core/read_backend.hpp"
#include "core/selector.hpp"

namespace kubewatch::apiserver {

// How one kind's cached objects are shown; keeps nothing of them.
class ReadText {
 public:
  // metadata_only: the texts hold no more than that, so tables have a name and an age.
  ReadText(ResourcePtr resource, bool metadata_only);

  const Resource& resource() const { return *shown_; }
  // One object as a GET answers it.
  std::string object(const Representation& as, std::string_view json, WallTime now) const;
  // An item of a list, or a row of a table.
  void append_item(const Representation& as, std::string_view json, WallTime now,
                   std::string& out) const;
  ListFrame frame(const Representation& as, const ListMeta& meta) const;
  // A line of a watch, newline included.
  std::string line(const Representation& as, const char* type, std::string_view json,
                   bool with_columns, WallTime now) const;

 private:
  void append_row(const Representation& as, std::string_view json, WallTime now,
                  std::string& out) const;

  ResourcePtr resource_;
  ResourcePtr shown_;  // what tables are made by
};

// Whether the object is what the selector wants, from its text.
bool matches_fields(const core::FieldSelector& fields, const core::ObjectKey& key,
                    std::string_view json);
// The text of a listed object where the selector wants it; absent where not, or where it is gone.
// Takes one of `looks` where a text had to be read to know: that is what a selection costs.
std::optional<std::string> selected_json(const core::ReadState& state,
                                         const core::FieldSelector& fields,
                                         const core::ObjectKey& key, std::size_t& looks);
// The value at "spec.nodeName" as a field selector compares it; "" when there is none.
std::string field_text(std::string_view json, std::string_view path);

// The cells of an ordinary Pod, without a tree of it: nothing about it needs a longer look
// (restarts, waiting or ended containers, deletion, gates). False: it is no such Pod, `out` is as
// it was.
bool append_pod_cells(std::string_view json, WallTime now, std::string& out);

}  // namespace kubewatch::apiserver
