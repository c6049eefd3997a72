// The columns of a kind, for objects that we hold ourselves: those of the embedded server for
// built-in kinds, a CRD's additionalPrinterColumns, else NAME and AGE.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/time.hpp"
#include "client/client.hpp"
#include "core/resource.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::cli {

struct Column {
  std::string name;                                            // "Restarts"; printed in capitals
  int priority = 0;                                            // above 0: only with -o wide
  std::function<Json(const Json& object, WallTime now)> make;  // null: an empty cell
  std::string member;  // of the object, the only one that `make` looks at; "" = it may look at any
};
using Columns = std::vector<Column>;

inline bool is_shown(const Column& column, bool wide) {
  return wide || column.priority <= 0;
}

// Known here without a server; null for a kind that is none of the built-in ones.
std::shared_ptr<const Columns> builtin_columns_of(const core::ResourceType& type);
// Of a CustomResourceDefinition and one of its versions. Paths that are wrong find nothing.
std::shared_ptr<const Columns> crd_columns(const Json& crd, const std::string& version);
// NAME and AGE.
std::shared_ptr<const Columns> plain_columns();

// "" for null, scalars as kubectl shows them: of several lines the first and "...".
std::string cell_text(const Json& cell);
// The age of a creationTimestamp: "5m", "<unknown>".
std::string age_text(const std::string& timestamp, WallTime now);

// Columns by kind; what it has not it takes for plain.
class ColumnBook {
 public:
  void put(const core::ResourceType& type, std::shared_ptr<const Columns> columns);
  std::shared_ptr<const Columns> of(const core::ResourceType& type) const;
  bool has(const core::ResourceType& type) const;

 private:
  std::map<core::Gvk, std::shared_ptr<const Columns>> known_;
  mutable std::map<core::Gvk, std::shared_ptr<const Columns>> built_in_;  // or plain, made once
};

// Asks for the CRD of a kind; `done` comes once, from the loop, always with columns: who may not
// read CRDs gets NAME and AGE.
[[nodiscard]] client::PendingPtr fetch_columns(
    client::Client& client, const core::ResourceType& type,
    std::function<void(std::shared_ptr<const Columns>)> done);
// The same into `book`, which may have them, while `loop` turns: `within` at most, or until
// `stopped`. Then they are plain.
void find_columns(
    ColumnBook& book, client::Client& client, loop::EventLoop& loop, const core::ResourceType& type,
    Duration within, const std::function<bool()>& stopped = [] { return false; });

}  // namespace kubewatch::cli
