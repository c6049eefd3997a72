#include "cli/printers/table_view.hpp"

#include <algorithm>
#include <ostream>

#include "base/strings.hpp"
#include "cli/printers/label_cells.hpp"
#include "cli/printers/object_printer.hpp"
#include "core/meta.hpp"

namespace kubewatch::cli {

bool TableView::with_kind() const {
  return flags_.show_kind || setup_.several_kinds;
}

std::vector<TableColumn> TableView::columns_of(const core::ResourceType& type) const {
  std::vector<TableColumn> out;
  for (const auto& column : *(setup_.common_columns ? plain_columns() : book_.of(type))) {
    out.push_back({column.name, column.priority});
  }
  return out;
}

TableView::Row TableView::row_of(const PrintedObject& object, WallTime now) const {
  Row row;
  auto meta = object.meta();
  if (setup_.common_columns) {
    row.cells = {meta.name, age_text(meta.creation_timestamp, now)};  // as plain_columns()
  } else {
    const Json& value = object.value();
    for (const auto& column : *book_.of(object.type())) {
      // What is not printed costs nothing.
      const bool shown = is_shown(column, wide_);
      row.cells.push_back(shown ? cell_text(column.make(value, now)) : std::string());
    }
  }
  row.key = meta.key();
  row.labels = std::move(meta.labels);
  return row;
}

// kubectl leaves NAMESPACE out for kinds that have none.
bool TableView::with_namespace(const core::ResourceType& type) const {
  return setup_.with_namespace && (type.namespaced || setup_.common_columns);
}

std::vector<std::string> TableView::headers(const core::ResourceType& type,
                                            const std::vector<TableColumn>& columns) const {
  std::vector<std::string> out = setup_.leading;
  if (with_namespace(type)) out.emplace_back("NAMESPACE");
  for (const auto& column : columns) {
    if (column.priority <= 0 || wide_) out.push_back(as_header(column.name));
  }
  for (const auto& key : flags_.label_columns) out.push_back(label_header(key));
  if (flags_.show_labels) out.emplace_back("LABELS");
  return out;
}

std::vector<std::string> TableView::whole(const core::ResourceType& type,
                                          const std::vector<TableColumn>& columns, const Row& row,
                                          const std::vector<std::string>& leading) const {
  std::vector<std::string> out = leading;
  out.resize(setup_.leading.size());
  if (with_namespace(type)) out.push_back(row.key.namespace_);
  bool named = false;
  for (std::size_t i = 0; i < row.cells.size() && i < columns.size(); ++i) {
    if (columns[i].priority > 0 && !wide_) continue;
    const bool name = !named && base::to_lower(columns[i].name) == "name";
    named = named || name;
    out.push_back(name && with_kind() ? object_name(type, row.cells[i]) : row.cells[i]);
  }
  for (const auto& key : flags_.label_columns) out.push_back(label_of(row.labels, key));
  if (flags_.show_labels) out.push_back(all_labels(row.labels));
  return out;
}

bool TableView::enter(const core::ResourceType& type, const std::vector<TableColumn>& columns) {
  if (kind_ && (setup_.common_columns || *kind_ == type.gvk)) return false;
  kind_ = type.gvk;
  text_.start(headers(type, columns));
  if (!flags_.no_headers) text_.measure_headers();
  header_due_ = true;
  return true;
}

void TableView::print_header(std::ostream& out) {
  if (!std::exchange(header_due_, false)) return;
  if (std::exchange(printed_, true) && !flags_.no_headers) out << "\n";
  if (!flags_.no_headers) out << text_.render_headers();
}

void TableView::print(std::ostream& out, const std::vector<PrintedObject>& objects, WallTime now) {
  std::vector<core::Gvk> kinds;
  for (const auto& one : objects) {
    const auto& gvk = one.type().gvk;
    if (std::find(kinds.begin(), kinds.end(), gvk) == kinds.end()) kinds.push_back(gvk);
  }
  if (setup_.common_columns && !kinds.empty()) kinds.resize(1);
  for (const auto& gvk : kinds) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& one : objects) {
      if (!setup_.common_columns && one.type().gvk != gvk) continue;
      const auto columns = columns_of(one.type());
      enter(one.type(), columns);
      rows.push_back(whole(one.type(), columns, row_of(one, now), {}));
      text_.measure(rows.back());
    }
    print_header(out);
    for (const auto& row : rows) out << text_.render(row);
  }
}

void TableView::append(std::ostream& out, const PrintedObject& object, WallTime now,
                       const std::vector<std::string>& leading) {
  const auto columns = columns_of(object.type());
  enter(object.type(), columns);
  const auto cells = whole(object.type(), columns, row_of(object, now), leading);
  if (header_due_) text_.measure(cells);
  print_header(out);
  out << text_.render(cells);
}

void TableView::measure(const PrintedObject& object, WallTime now,
                        const std::vector<std::string>& leading) {
  const auto columns = columns_of(object.type());
  enter(object.type(), columns);
  text_.measure(whole(object.type(), columns, row_of(object, now), leading));
}

}  // namespace kubewatch::cli
