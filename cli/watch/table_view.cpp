// Rows of events.
#include <fmt/format.h>

#include "cli/printers/label_cells.hpp"
#include "cli/watch/columns.hpp"
#include "cli/watch/views.hpp"

namespace kubewatch::cli::watch {

namespace {

std::string field_text(const ShownField& field) {
  if (field.after.is_null()) return "<none>";
  return field.after.is_string() ? field.after.get<std::string>() : base::dump_json(field.after);
}

const char* word_of(const runtime::StoreChange& change) {
  return change.initial ? "INITIAL" : event_name(change.type).data();
}

}  // namespace

Style event_style(std::string_view word) {
  if (word == "ADDED") return Style::green;
  if (word == "MODIFIED") return Style::yellow;
  if (word == "DELETED") return Style::red;
  if (word == "SYNCED") return Style::cyan;
  return word == "GAP" ? Style::magenta : Style::plain;
}

TableView::TableView(ViewOptions options) : options_(std::move(options)) {}

void TableView::set_columns(const core::ResourceType& type,
                            std::shared_ptr<const Columns> columns) {
  columns_.put(type, std::move(columns));
}

EventTable& TableView::table(const core::ResourceType& type) {
  if (table_ != nullptr) return *table_;
  std::vector<std::string> headers = {"EVENT"};
  if (options_.several_contexts) headers.emplace_back("CONTEXT");
  if (options_.several_namespaces) headers.emplace_back("NAMESPACE");
  if (options_.several_types) headers.emplace_back("KIND");
  const bool details = options_.fields.empty() && options_.several_types;
  if (!options_.fields.empty()) {
    headers.emplace_back("NAME");
    headers.insert(headers.end(), options_.fields.begin(), options_.fields.end());
  } else if (details) {
    headers.insert(headers.end(), {"NAME", "AGE"});
  } else {
    for (const Column& column : *columns_.of(type)) {
      if (is_shown(column, options_.wide)) headers.push_back(as_header(column.name));
    }
  }
  for (const std::string& key : options_.label_columns) headers.push_back(label_header(key));
  if (options_.show_labels) headers.emplace_back("LABELS");
  if (details) headers.emplace_back("DETAILS");
  table_ = std::make_unique<EventTable>(std::move(headers), options_.headers, kEventWidth,
                                        options_.terminal);
  return *table_;
}

std::vector<std::string> TableView::head(const char* word, const SourceInfo& source,
                                         const std::string& namespace_) const {
  std::vector<std::string> cells = {word};
  if (options_.several_contexts) cells.push_back(source.context);
  if (options_.several_namespaces) cells.push_back(namespace_);
  if (options_.several_types) cells.push_back(source.type.gvk.kind);
  return cells;
}

// What has a column of its own is not said again.
std::string TableView::details_of(const Event& event, WallTime now) const {
  const core::ResourceType& type = event.source().type;
  const auto columns = columns_.of(type);
  const auto cells = cells_of(type, *columns, options_.wide, event.change().json, now);
  std::string out;
  std::size_t at = 0;
  for (const Column& column : *columns) {
    if (!is_shown(column, options_.wide)) continue;
    const std::string& cell = cells[at++];
    const std::string header = as_header(column.name);
    if (header == "NAME" || header == "AGE") continue;
    out += (out.empty() ? "" : " ") + header + "=" + cell;
  }
  return out;
}

void TableView::append_labels(const runtime::StoreChange& change,
                              std::vector<std::string>& cells) const {
  for (const std::string& key : options_.label_columns) {
    cells.push_back(label_of(change.meta.labels, key));
  }
  if (options_.show_labels) cells.push_back(all_labels(change.meta.labels));
}

Result<void> TableView::event(const Event& event, WallTime now, std::string& out) {
  const runtime::StoreChange& change = event.change();
  const core::ResourceType& type = event.source().type;
  EventTable& rows = table(type);
  auto cells = head(word_of(change), event.source(), change.meta.namespace_);
  if (!options_.fields.empty()) {
    cells.push_back(change.meta.name);
    for (const ShownField& field : event.fields) cells.push_back(field_text(field));
    append_labels(change, cells);
  } else if (options_.several_types) {
    cells.push_back(change.meta.name);
    cells.push_back(age_text(change.meta.creation_timestamp, now));
    append_labels(change, cells);
    cells.push_back(details_of(event, now));
  } else {
    for (std::string& cell : cells_of(type, *columns_.of(type), options_.wide, change.json, now)) {
      cells.push_back(std::move(cell));
    }
    append_labels(change, cells);
  }
  rows.add(std::move(cells), options_.terminal.color ? event_style(word_of(change)) : Style::plain);
  if (rows.waiting() >= kMostWaitingRows) out += rows.text();
  return {};
}

void TableView::mark(const char* word, const SourceInfo& source, std::string text,
                     std::string& out) {
  EventTable& rows = table(source.type);
  auto cells = head(word, source, source.namespace_);
  cells.push_back(std::move(text));
  rows.add_mark(std::move(cells), event_style(word));
  if (rows.waiting() >= kMostWaitingRows) out += rows.text();
}

void TableView::synced(const SourceInfo& source, std::size_t objects, std::string& out) {
  mark("SYNCED", source, fmt::format("({} object{})", objects, objects == 1 ? "" : "s"), out);
}

void TableView::gap(const SourceInfo& source, std::string& out) {
  mark("GAP", source, "(changes in between may be missing)", out);
}

void TableView::flush(std::string& out) {
  if (table_ != nullptr) out += table_->text();
}

Result<void> ObjectView::event(const Event& event, WallTime now, std::string& out) {
  KW_ASSIGN(std::string text, print_(event, now));
  out += text;
  return {};
}

}  // namespace kubewatch::cli::watch
