// How events are shown: a table, NDJSON, diffs, or single values. A view makes text; who writes it
// out, and when, is output's business. Pure.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "cli/printers/columns.hpp"
#include "cli/terminal.hpp"
#include "cli/watch/event_table.hpp"
#include "cli/watch/field_changes.hpp"
#include "cli/watch/watched.hpp"
#include "core/json_cut.hpp"
#include "hooks/secret_hash.hpp"

namespace kubewatch::cli::watch {

class View {
 public:
  virtual ~View() = default;
  // Appends what is shown of it. Errors: of a path or program that fails on the object.
  virtual Result<void> event(const Event& event, WallTime now, std::string& out) = 0;
  // Everything that was there has been told: so many objects were shown.
  virtual void synced(const SourceInfo& source, std::size_t objects, std::string& out) = 0;
  // Steps between the events before and what was there before them may be missing.
  virtual void gap(const SourceInfo& source, std::string& out) = 0;
  // What waits to be aligned.
  virtual void flush(std::string&) {}
};

struct ViewOptions {
  bool several_contexts = false;
  bool several_namespaces = false;  // a column says which
  bool several_types = false;
  bool headers = true;
  bool show_managed_fields = false;
  bool wide = false;  // with the columns of lower priority
  bool diff = false;
  bool yaml = false;                // JsonView: documents that end with "---" in place of lines
  Terminal terminal;                // JSON must not hold what one interprets, either
  std::vector<std::string> fields;  // of --fields
  std::vector<std::string> label_columns;
  bool show_labels = false;
};

// Of ADDED, MODIFIED, DELETED, INITIAL, SYNCED, GAP on a terminal with colours.
Style event_style(std::string_view word);

// EVENT, then the columns of the kind. Of several kinds they stand in the last one, behind NAME and
// AGE, as "READY=1/1 STATUS=Running": one header for all.
class TableView : public View {
 public:
  explicit TableView(ViewOptions options);
  // Before the first event: rows of several kinds come, whatever the options say.
  void of_several_types() { options_.several_types = options_.several_types || table_ == nullptr; }
  // Of a kind; before its first event, else it has the built-in ones, or NAME and AGE.
  void set_columns(const core::ResourceType& type, std::shared_ptr<const Columns> columns);
  Result<void> event(const Event& event, WallTime now, std::string& out) override;
  void synced(const SourceInfo& source, std::size_t objects, std::string& out) override;
  void gap(const SourceInfo& source, std::string& out) override;
  void flush(std::string& out) override;

 private:
  EventTable& table(const core::ResourceType& type);
  void mark(const char* word, const SourceInfo& source, std::string text, std::string& out);
  void append_labels(const runtime::StoreChange& change, std::vector<std::string>& cells) const;
  // What stands in front of the kind's columns.
  std::vector<std::string> head(const char* word, const SourceInfo& source,
                                const std::string& namespace_) const;
  std::string details_of(const Event& event, WallTime now) const;

  ViewOptions options_;
  ColumnBook columns_;
  std::unique_ptr<EventTable> table_;
};

// One line per event:
// {"apiVersion":"kubewatch.dev/v1","kind":"WatchEvent","type":"ADDED","initial":true,
//  "relisted":true,"context":"a","object":{...},"fields":[...],"changes":[...],"writers":[...]}
class JsonView : public View {
 public:
  explicit JsonView(ViewOptions options);
  Result<void> event(const Event& event, WallTime now, std::string& out) override;
  void synced(const SourceInfo& source, std::size_t objects, std::string& out) override;
  void gap(const SourceInfo& source, std::string& out) override;

 private:
  void append_object(const Event& event, std::string& out) const;
  void append_changes(const Event& event, std::string& out) const;
  // What was appended since `start` is a line.
  Result<void> end_line(std::size_t start, std::string& out) const;

  ViewOptions options_;
  core::JsonCutter cutter_;
  hooks::SecretHash secrets_;
};

// What changed, field by field, and who changed it.
class DiffView : public View {
 public:
  explicit DiffView(ViewOptions options);
  Result<void> event(const Event& event, WallTime now, std::string& out) override;
  void synced(const SourceInfo& source, std::size_t objects, std::string& out) override;
  void gap(const SourceInfo& source, std::string& out) override;

 private:
  void append_headed(std::string_view word, const std::string& rest, std::string& out) const;
  void append_change(const FieldChange& change, const std::string& by, std::string& out) const;

  ViewOptions options_;
  hooks::SecretHash secrets_;
};

// One object after the other, as a printer makes them; marks are left out.
class ObjectView : public View {
 public:
  using Print = std::function<Result<std::string>(const Event& event, WallTime now)>;
  explicit ObjectView(Print print) : print_(std::move(print)) {}
  Result<void> event(const Event& event, WallTime now, std::string& out) override;
  void synced(const SourceInfo&, std::size_t, std::string&) override {}
  void gap(const SourceInfo&, std::string&) override {}

 private:
  Print print_;
};

}  // namespace kubewatch::cli::watch
