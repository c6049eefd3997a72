#include "cli/watch/object_print.hpp"

#include <array>
#include <utility>

#include "base/strings.hpp"
#include "base/yaml.hpp"
#include "cli/watch/event_filter.hpp"
#include "core/json_path.hpp"
#include "jq/jq.hpp"
#include "jq/value.hpp"

namespace kubewatch::cli::watch {

namespace {

using Print = ObjectView::Print;

constexpr std::array<const char*, 8> kFormats = {
    "table", "wide",          "json",       "yaml",
    "name",  "jsonpath=PATH", "jq=PROGRAM", "custom-columns=HEADER:PATH,..."};

Error wrong(const std::string& format, const std::string& text, const Error& error) {
  return Error(ErrorKind::invalid, with_caret(text, error.message()))
      .with_context("--output " + format);
}

Result<std::string> print_name(const Event& event, WallTime) {
  return base::escape_for_terminal(object_word(event.source().type, event.change().meta.name)) +
         "\n";
}

Result<std::string> print_yaml(const Event& event, WallTime) {
  const runtime::StoreChange& change = event.change();
  Json out = {{"apiVersion", "kubewatch.dev/v1"},
              {"kind", "WatchEvent"},
              {"type", event_name(change.type)},
              {"object", event.object()}};
  if (change.initial) out["initial"] = true;
  if (change.relisted) out["relisted"] = true;
  if (!event.source().context.empty()) out["context"] = event.source().context;
  return base::dump_yaml(out) + "---\n";
}

Result<Print> jq_print(const std::string& text) {
  auto program = jq::Program::compile(text);
  if (!program.ok()) return wrong("jq", text, program.error());
  return Print(
      [program = std::move(*program)](const Event& event, WallTime) -> Result<std::string> {
        KW_ASSIGN(const auto values, program.run(event.object()));
        std::string out;
        for (const Json& value : values) out += jq::to_display(value) + "\n";
        return out;
      });
}

std::string values_text(const core::JsonPath& path, const Json& object, const char* between) {
  std::string out;
  for (const Json* value : path.find(object)) {
    if (!out.empty()) out += between;
    out += core::scalar_text(*value);
  }
  return out;
}

Result<Print> jsonpath_print(const std::string& text) {
  auto path = core::JsonPath::parse(text);
  if (!path.ok()) return wrong("jsonpath", without_braces(text), path.error());
  return Print([path = std::move(*path)](const Event& event, WallTime) -> Result<std::string> {
    return base::escape_for_terminal(values_text(path, event.object(), " ")) + "\n";
  });
}

// EVENT, then the columns that were asked for.
class CustomColumns : public View {
 public:
  static Result<std::unique_ptr<View>> make(const std::string& text, bool headers) {
    std::vector<std::string> names = {"EVENT"};
    std::vector<core::JsonPath> paths;
    for (const std::string& one : split_paths(text)) {
      const auto colon = one.find(':');
      if (colon == 0 || colon == std::string::npos || colon + 1 == one.size()) {
        return Error(ErrorKind::invalid,
                     "--output custom-columns: expected HEADER:PATH, found \"" + one + "\"");
      }
      auto path = core::JsonPath::parse(one.substr(colon + 1));
      if (!path.ok())
        return wrong("custom-columns", without_braces(one.substr(colon + 1)), path.error());
      names.push_back(one.substr(0, colon));
      paths.push_back(std::move(*path));
    }
    return std::unique_ptr<View>(
        new CustomColumns(EventTable(std::move(names), headers, kEventWidth), std::move(paths)));
  }

  Result<void> event(const Event& event, WallTime, std::string& out) override {
    const bool initial = event.change().initial;
    std::vector<std::string> cells = {initial ? "INITIAL"
                                              : std::string(event_name(event.change().type))};
    for (const core::JsonPath& path : paths_) {
      std::string cell = values_text(path, event.object(), ",");
      cells.push_back(cell.empty() ? "<none>" : std::move(cell));
    }
    table_.add(std::move(cells));
    if (table_.waiting() >= 500) out += table_.text();
    return {};
  }
  void synced(const SourceInfo&, std::size_t, std::string&) override {}
  void gap(const SourceInfo&, std::string&) override { table_.add_mark({"GAP"}); }
  void flush(std::string& out) override { out += table_.text(); }

 private:
  CustomColumns(EventTable table, std::vector<core::JsonPath> paths)
      : table_(std::move(table)), paths_(std::move(paths)) {}

  EventTable table_;
  std::vector<core::JsonPath> paths_;
};

std::unique_ptr<View> view_of(Print print) {
  return std::make_unique<ObjectView>(std::move(print));
}

}  // namespace

Result<std::unique_ptr<View>> make_object_view(const std::string& format, bool headers) {
  const auto equals = format.find('=');
  const std::string word = format.substr(0, equals);
  const std::string text = equals == std::string::npos ? "" : format.substr(equals + 1);
  if (format == "name") return view_of(print_name);
  if (format == "yaml") return view_of(print_yaml);
  if (word == "jq" && !text.empty()) {
    KW_ASSIGN(auto print, jq_print(text));
    return view_of(std::move(print));
  }
  if (word == "jsonpath" && !text.empty()) {
    KW_ASSIGN(auto print, jsonpath_print(text));
    return view_of(std::move(print));
  }
  if (word == "custom-columns" && !text.empty()) return CustomColumns::make(text, headers);
  std::string known;
  for (const char* one : kFormats) known += (known.empty() ? "" : ", ") + std::string(one);
  return Error(ErrorKind::invalid, "--output: \"" + format + "\" is none of the formats " + known);
}

}  // namespace kubewatch::cli::watch
