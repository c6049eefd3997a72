// Field by field, for people. Secret values are placeholders that are equal for equal values.
#include <fmt/format.h>

#include <utility>

#include "base/cut_text.hpp"
#include "base/strings.hpp"
#include "cli/printers/object_printer.hpp"
#include "cli/watch/field_changes.hpp"
#include "cli/watch/views.hpp"
#include "cli/watch/writers.hpp"

namespace kubewatch::cli::watch {

namespace {

constexpr std::size_t kMostText = 200;  // of one value

std::string value_text(const std::optional<Json>& value) {
  if (!value) return "(none)";
  return base::shortened_bytes(base::dump_json(*value), kMostText);
}

// What stands behind the event's word.
std::string object_of(const Event& event, const ViewOptions& options) {
  const runtime::StoreChange& change = event.change();
  std::string out;
  if (!event.source().context.empty()) out += event.source().context + " ";
  if (options.several_namespaces && !change.meta.namespace_.empty()) {
    out += change.meta.namespace_ + "/";
  }
  return out + object_name(event.source().type, change.meta.name);
}

std::string kind_of(const SourceInfo& source) {
  std::string out = source.context.empty() ? "" : source.context + " ";
  out += source.type.qualified_plural();
  return source.namespace_.empty() ? out : out + " in " + source.namespace_;
}

void append_line(const std::string& line, std::string& out) {
  out += base::escape_for_terminal(line);
  out += '\n';
}

}  // namespace

DiffView::DiffView(ViewOptions options)
    : options_(std::move(options)), secrets_(hooks::SecretHash::make()) {}

Result<void> DiffView::event(const Event& event, WallTime, std::string& out) {
  const bool modified = event.change().type == runtime::ChangeType::modified;
  const std::string head = object_of(event, options_);
  if (event.change().initial) {
    append_headed("INITIAL", head, out);
    return {};
  }
  const Writers writers(event.before(), event.object());
  const auto latest = writers.latest();
  // Who deleted an object is not in it.
  const bool told = event.change().type != runtime::ChangeType::deleted && !latest.empty();
  std::string by = told ? "  by " + latest.front().text() : "";
  if (told && !latest.front().time.empty()) by += " at " + latest.front().time;
  append_headed(event_name(event.change().type), head + by, out);
  if (!modified || event.before() == nullptr) return {};
  Json before = *event.before();
  Json after = event.object();
  secrets_.hide(before, hooks::SecretHash::Reader::person);
  secrets_.hide(after, hooks::SecretHash::Reader::person);
  for (const FieldChange& change : field_changes(before, after)) {
    const auto writer = writers.of(change);
    // The headline has the first one; only others are told again.
    append_change(change, writer && latest.size() != 1 ? "  by " + writer->text() : "", out);
  }
  return {};
}

void DiffView::append_headed(std::string_view word, const std::string& rest,
                             std::string& out) const {
  out += styled(word, event_style(word), options_.terminal);
  append_line("  " + rest, out);
}

void DiffView::append_change(const FieldChange& change, const std::string& by,
                             std::string& out) const {
  if (change.steps.empty()) return append_line("    ..." + by, out);
  const auto value = [this](const std::optional<Json>& one, Style style) {
    return styled(base::escape_for_terminal(value_text(one)), style, options_.terminal);
  };
  out += base::escape_for_terminal(fmt::format("    {}: ", change.path));
  out += value(change.before, Style::red) + " -> " + value(change.after, Style::green);
  append_line(by, out);
}

void DiffView::synced(const SourceInfo& source, std::size_t objects, std::string& out) {
  append_headed("SYNCED",
                fmt::format("{} ({} object{})", kind_of(source), objects, objects == 1 ? "" : "s"),
                out);
}

void DiffView::gap(const SourceInfo& source, std::string& out) {
  append_headed("GAP", kind_of(source) + " (changes in between may be missing)", out);
}

}  // namespace kubewatch::cli::watch
