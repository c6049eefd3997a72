#include "cli/watch/run_options.hpp"

#include <algorithm>
#include <utility>

#include "cli/flags.hpp"
#include "cli/watch/object_print.hpp"

namespace kubewatch::cli::watch {

namespace {

constexpr Duration kLeastStatsInterval{100};

bool is_table(const OutputFormat& format) {
  return format.kind == OutputFormat::Kind::table || format.kind == OutputFormat::Kind::wide;
}

Result<void> check_words(const RunOptions& options) {
  const auto refuse = [](const std::string& text) { return Error(ErrorKind::invalid, text); };
  const ResourceFlags& resources = options.resources;
  if (resources.from_files()) {
    if (options.namespaces.size() > 1) {
      return refuse("several namespaces cannot be given with -f or -k");
    }
    return check_resource_files(resources);
  }
  if (resources.words.empty()) {
    return refuse("which kinds? Name a TYPE, objects as TYPE/NAME, or files that have them by -f");
  }
  KW_ASSIGN(const auto parsed, parse_resource_words(resources.words));
  const bool named = std::any_of(parsed.begin(), parsed.end(),
                                 [](const TypeAndNames& one) { return !one.names.empty(); });
  if (named && has_selector(resources.selection)) {
    return refuse("name cannot be provided when a selector is specified");
  }
  return {};
}

}  // namespace

Result<void> check(const RunOptions& options, const SessionRecording& recording) {
  const bool table = is_table(options.output);
  const bool json = options.output.kind == OutputFormat::Kind::json;
  const auto refuse = [](const std::string& text) { return Error(ErrorKind::invalid, text); };
  if (options.diff && !table && !json) {
    return refuse("--diff is shown as text or with -o json, not with another -o");
  }
  if (options.diff && !options.fields.empty()) {
    return refuse("--diff shows every field that changed, --fields only some: give one of them");
  }
  if (!options.fields.empty() && !table && !json) {
    return refuse("--fields is shown as table or with -o json, not with another -o");
  }
  if (options.contexts.size() > 1 && (recording.records() || recording.replays())) {
    return refuse("a recording is of one context: give one --context");
  }
  KW_TRY(recording.check());
  if (!options.checkpoint.empty()) KW_TRY(check_output_file("--checkpoint", options.checkpoint));
  if (recording.replays() && !options.checkpoint.empty()) {
    return refuse("--checkpoint continues on a server, not on a recording");
  }
  if (options.stats_interval && *options.stats_interval < kLeastStatsInterval) {
    return refuse("--stats-interval must be 100ms or more");
  }
  if ((!options.label_columns.empty() || options.show_labels) && (!table || options.diff)) {
    return refuse("-L and --show-labels are columns of the table");
  }
  return check_words(options);
}

Result<std::unique_ptr<View>> make_view(const RunOptions& options,
                                        const std::vector<Wanted>& wanted,
                                        std::vector<std::string> fields) {
  ViewOptions view;
  view.several_contexts = options.contexts.size() > 1;
  const bool same_place = std::all_of(wanted.begin(), wanted.end(), [&](const Wanted& one) {
    return one.namespace_ == wanted.front().namespace_;
  });
  view.several_namespaces =
      options.resources.selection.all_namespaces || options.namespaces.size() > 1 || !same_place;
  // A word may be a category: the server says so.
  view.several_types = std::any_of(wanted.begin(), wanted.end(), [&](const Wanted& one) {
    return one.type != wanted.front().type;
  });
  view.label_columns = options.label_columns;
  view.show_labels = options.show_labels;
  view.headers = !options.no_headers;
  view.show_managed_fields = options.content.show_managed_fields;
  view.wide = options.output.kind == OutputFormat::Kind::wide;
  view.diff = options.diff;
  view.fields = std::move(fields);
  view.terminal = options.terminal;
  const OutputFormat::Kind format = options.output.kind;
  view.yaml = format == OutputFormat::Kind::yaml;
  if (format == OutputFormat::Kind::json || view.yaml) {
    return std::unique_ptr<View>(std::make_unique<JsonView>(std::move(view)));
  }
  if (options.diff) return std::unique_ptr<View>(std::make_unique<DiffView>(std::move(view)));
  if (is_table(options.output)) {
    return std::unique_ptr<View>(std::make_unique<TableView>(std::move(view)));
  }
  return make_object_view(options.output, view);
}

}  // namespace kubewatch::cli::watch
