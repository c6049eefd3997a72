// Rows of events.
#include <fmt/format.h>

#include <chrono>

#include "base/strings.hpp"
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
  if (!options_.fields.empty()) {
    headers.insert(headers.end(), options_.fields.begin(), options_.fields.end());
  } else if (options_.several_types) {
    headers.insert(headers.end(), {"AGE", "DETAILS"});
  } else {
    for (const Column& column : columns_of(type)) headers.push_back(column.header);
    headers.emplace_back("AGE");
  }
  table_ = std::make_unique<EventTable>(std::move(headers), options_.headers, kEventWidth);
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

Result<void> TableView::event(const Event& event, WallTime now, std::string& out) {
  const runtime::StoreChange& change = event.change();
  const core::ResourceType& type = event.source().type;
  EventTable& rows = table(type);
  const RawObject object(change.json);
  auto cells = head(word_of(change), event.source(), change.meta.namespace_, change.meta.name);
  if (!options_.fields.empty()) {
    for (const ShownField& field : event.fields) cells.push_back(field_text(field));
  } else if (options_.several_types) {
    std::string details;
    for (const Column& column : columns_of(type)) {
      if (!details.empty()) details += ' ';
      details += column.header + "=" + column.cell(object, now);
    }
    cells.insert(cells.end(), {age_of(change.meta, now), std::move(details)});
  } else {
    for (const Column& column : columns_of(type)) {
      std::string cell = column.cell(object, now);
      cells.push_back(cell.empty() ? "<none>" : std::move(cell));
    }
    cells.push_back(age_of(change.meta, now));
  }
  rows.add(std::move(cells));
  if (rows.waiting() >= kMostRows) out += rows.text();
  return {};
}

void TableView::mark(const char* word, const SourceInfo& source, std::string text,
                     std::string& out) {
  EventTable& rows = table(source.type);
  rows.add_mark(head(word, source, source.namespace_, std::move(text)));
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
