// Field by field, for people. Secret values are placeholders that are equal for equal values.
#include <fmt/format.h>

#include <utility>

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
  std::string text = base::dump_json(*value);
  if (text.size() <= kMostText) return text;
  std::size_t end = kMostText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  text.resize(end);
  return text + "...";
}

std::string headline(const Event& event, const ViewOptions& options) {
  const runtime::StoreChange& change = event.change();
  std::string out = change.initial ? "INITIAL" : std::string(event_name(change.type));
  out += "  ";
  if (!event.source().context.empty()) out += event.source().context + " ";
  if (options.several_namespaces && !change.meta.namespace_.empty()) {
    out += change.meta.namespace_ + "/";
  }
  return out + object_name(event.source().type, change.meta.name);
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
  std::string head = headline(event, options_);
  if (event.change().initial) {
    append_line(head, out);
    return {};
  }
  const Writers writers(event.before(), event.object());
  const auto latest = writers.latest();
  // Who deleted an object is not in it.
  const bool told = event.change().type != runtime::ChangeType::deleted && !latest.empty();
  if (told) head += "  by " + latest.front().text();
  if (told && !latest.front().time.empty()) head += " at " + latest.front().time;
  append_line(head, out);
  if (!modified || event.before() == nullptr) return {};
  Json before = *event.before();
  Json after = event.object();
  secrets_.hide(before, hooks::SecretHash::Reader::person);
  secrets_.hide(after, hooks::SecretHash::Reader::person);
  for (const FieldChange& change : field_changes(before, after)) {
    std::string line = change.steps.empty()
                           ? "    ..."
                           : fmt::format("    {}: {} -> {}", change.path, value_text(change.before),
                                         value_text(change.after));
    const auto writer = writers.of(change);
    // The headline has the first one; only others are told again.
    if (writer && latest.size() != 1) line += "  by " + writer->text();
    append_line(line, out);
  }
  return {};
}

void DiffView::synced(const SourceInfo& source, std::size_t objects, std::string& out) {
  append_line(fmt::format("SYNCED  {} ({} object{})", source.type.qualified_plural(), objects,
                          objects == 1 ? "" : "s"),
              out);
}

void DiffView::gap(const SourceInfo& source, std::string& out) {
  append_line(
      fmt::format("GAP  {} (changes in between may be missing)", source.type.qualified_plural()),
      out);
}

}  // namespace kubewatch::cli::watch
