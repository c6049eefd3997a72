// Objects, lists, tables and watch lines as the text that goes out, put together from the stored
// objects' cached text. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/negotiate.hpp"
#include "apiserver/object.hpp"
#include "apiserver/resource.hpp"
#include "apiserver/storage.hpp"
#include "base/time.hpp"

namespace kubewatch::apiserver {

// Always JSON; see finish() for YAML and pretty.
std::string object_text(const Resource& resource, const Representation& as, const Object& object,
                        WallTime now);

struct ListMeta {
  std::uint64_t version = 0;
  std::string continue_token;
  std::optional<std::uint64_t> remaining;
};
std::string list_text(const Resource& resource, const Representation& as,
                      const std::vector<ObjectPtr>& items, const ListMeta& meta, WallTime now);
// What stands around the items of a list or the rows of a table.
struct ListFrame {
  std::string head, tail;
};
ListFrame list_frame(const Resource& resource, const Representation& as, const ListMeta& meta);
// `{"kind":...,"apiVersion":...,`, in the order in which the server writes them.
std::string type_head(const Resource& resource, const std::string& kind);
// The beginning of a Table up to its rows, which "]}" ends.
std::string table_head(const Representation& as, const std::string& metadata,
                       const std::string& columns);

// JSON text as the client wanted it: as it is, indented, or YAML.
std::string finish(const Representation& as, std::string json);

// One line of a watch stream, newline included. `with_columns`: a Table carries its column
// definitions in the first line only.
std::string watch_line(const Resource& resource, const Representation& as, const char* type,
                       const Object& object, bool with_columns, WallTime now);
std::string bookmark_line(const Resource& resource, const Representation& as, std::uint64_t version,
                          bool initial_events_end);
std::string error_line(const Error& error);

}  // namespace kubewatch::apiserver
