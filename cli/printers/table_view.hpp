// Tables of objects: which columns, NAMESPACE and TYPE/NAME in front, labels behind; finished lists
// and streams. Makes text; asks nobody. Internal to cli/printers.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "cli/printers/columns.hpp"
#include "cli/printers/print_flags.hpp"
#include "cli/printers/text_table.hpp"
#include "core/resource.hpp"

namespace kubewatch::cli {

class PrintedObject;
struct PrinterSetup;

struct TableColumn {
  std::string name;  // "Restarts"
  int priority = 0;  // above 0: only in wide tables
};

class TableView {
 public:
  // All references must outlive it.
  TableView(const PrintFlags& flags, const PrinterSetup& setup, bool wide, const ColumnBook& book)
      : flags_(flags), setup_(setup), wide_(wide), book_(book) {}

  // A table for each kind, in the order of their first objects, blank lines between.
  void print(std::ostream& out, const std::vector<PrintedObject>& objects, WallTime now);
  void append(std::ostream& out, const PrintedObject& object, WallTime now,
              const std::vector<std::string>& leading);
  void measure(const PrintedObject& object, WallTime now, const std::vector<std::string>& leading);

 private:
  struct Row {
    std::vector<std::string> cells;
    core::ObjectKey key;
    std::vector<std::pair<std::string, std::string>> labels;
  };
  Row row_of(const PrintedObject& object, WallTime now) const;
  bool with_namespace(const core::ResourceType& type) const;
  std::vector<std::string> headers(const core::ResourceType& type,
                                   const std::vector<TableColumn>& columns) const;
  std::vector<std::string> whole(const core::ResourceType& type,
                                 const std::vector<TableColumn>& columns, const Row& row,
                                 const std::vector<std::string>& leading) const;
  std::vector<TableColumn> columns_of(const core::ResourceType& type) const;
  bool with_kind() const;
  // A new header when the kind is another one than before; true then.
  bool enter(const core::ResourceType& type, const std::vector<TableColumn>& columns);
  void print_header(std::ostream& out);

  const PrintFlags& flags_;
  const PrinterSetup& setup_;
  const bool wide_;
  const ColumnBook& book_;
  TextTable text_;
  std::optional<core::Gvk> kind_;  // of the header
  bool header_due_ = false;
  bool printed_ = false;
};

}  // namespace kubewatch::cli
