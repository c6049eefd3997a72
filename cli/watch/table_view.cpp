// Rows of events.
#include <fmt/format.h>

#include <chrono>

#include "base/strings.hpp"
#include "cli/printers/label_cells.hpp"
#include "cli/watch/views.hpp"

namespace kubewatch::cli::watch {

namespace {

constexpr std::size_t kMostRows = 500;  // that wait to be aligned together

std::string age_of(const core::ObjectMeta& meta, WallTime now) {
  const auto created = base::parse_rfc3339(meta.creation_timestamp);
  if (!created.ok()) return "<unknown>";
  return base::format_age(std::chrono::duration_cast<std::chrono::seconds>(now - *created));
}

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

void TableView::set_columns(const core::ResourceType& type, std::vector<Column> columns) {
  columns_[type.gvk] = std::move(columns);
}

const std::vector<Column>& TableView::columns_of(const core::ResourceType& type) {
  const auto [found, fresh] = columns_.try_emplace(type.gvk);
  if (fresh) found->second = builtin_columns(type);
  return found->second;
}

EventTable& TableView::table(const core::ResourceType& type) {
  if (table_ != nullptr) return *table_;
  std::vector<std::string> headers = {"EVENT"};
  if (options_.several_contexts) headers.emplace_back("CONTEXT");
  if (options_.several_namespaces) headers.emplace_back("NAMESPACE");
  if (options_.several_types) headers.emplace_back("KIND");
  headers.emplace_back("NAME");
  const bool details = options_.fields.empty() && options_.several_types;
  if (!options_.fields.empty()) {
    headers.insert(headers.end(), options_.fields.begin(), options_.fields.end());
  } else {
    if (!details) {
      for (const Column& column : columns_of(type)) headers.push_back(column.header);
    }
    headers.emplace_back("AGE");
  }
  for (const std::string& key : options_.label_columns) headers.push_back(label_header(key));
  if (options_.show_labels) headers.emplace_back("LABELS");
  if (details) headers.emplace_back("DETAILS");
  table_ = std::make_unique<EventTable>(std::move(headers), options_.headers, kEventWidth,
                                        options_.terminal);
  return *table_;
}

std::vector<std::string> TableView::head(const char* word, const SourceInfo& source,
                                         const std::string& namespace_, std::string name) const {
  std::vector<std::string> cells = {word};
  if (options_.several_contexts) cells.push_back(source.context);
  if (options_.several_namespaces) cells.push_back(namespace_);
  if (options_.several_types) cells.push_back(source.type.gvk.kind);
  cells.push_back(std::move(name));
  return cells;
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
  const RawObject object(change.json);
  auto cells = head(word_of(change), event.source(), change.meta.namespace_, change.meta.name);
  if (!options_.fields.empty()) {
    for (const ShownField& field : event.fields) cells.push_back(field_text(field));
    append_labels(change, cells);
  } else if (options_.several_types) {
    std::string details;
    for (const Column& column : columns_of(type)) {
      if (!details.empty()) details += ' ';
      details += column.header + "=" + column.cell(object, now);
    }
    cells.push_back(age_of(change.meta, now));
    append_labels(change, cells);
    cells.push_back(std::move(details));
  } else {
    for (const Column& column : columns_of(type)) {
      std::string cell = column.cell(object, now);
      cells.push_back(cell.empty() ? "<none>" : std::move(cell));
    }
    cells.push_back(age_of(change.meta, now));
    append_labels(change, cells);
  }
  rows.add(std::move(cells), options_.terminal.color ? event_style(word_of(change)) : Style::plain);
  if (rows.waiting() >= kMostRows) out += rows.text();
  return {};
}

void TableView::mark(const char* word, const SourceInfo& source, std::string text,
                     std::string& out) {
  EventTable& rows = table(source.type);
  rows.add_mark(head(word, source, source.namespace_, std::move(text)), event_style(word));
  if (rows.waiting() >= kMostRows) out += rows.text();
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
