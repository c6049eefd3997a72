// What the flags of `kubewatch watch` say: what they contradict each other in, and the view that
// they ask for. Asks no server.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/printers/output_format.hpp"
#include "cli/resource_args.hpp"
#include "cli/session_recording.hpp"
#include "cli/stream_flags.hpp"
#include "cli/terminal.hpp"
#include "cli/watch/end_rule.hpp"
#include "cli/watch/exec_runner.hpp"
#include "cli/watch/source_set.hpp"
#include "cli/watch/views.hpp"

namespace kubewatch::cli::watch {

struct RunOptions {
  ResourceFlags resources;              // TYPE, names; -f; the selectors
  std::vector<std::string> contexts;    // empty: the current one
  std::vector<std::string> namespaces;  // empty: that of the configuration
  runtime::WatcherOptions stream;
  ContentFlags content;
  OutputFormat output;
  Terminal terminal;  // of stdout
  bool no_headers = false;
  std::vector<std::string> label_columns;
  bool show_labels = false;
  bool diff = false;
  bool watch_only = false;
  std::vector<std::string> fields;
  std::string when;
  EndRule::Flags end;
  std::string checkpoint;
  ExecOptions exec;  // command "" = none
  bool stats = false;
  std::optional<Duration> stats_interval;
};

// Errors: invalid, for what only several flags together can get wrong.
Result<void> check(const RunOptions& options, const SessionRecording& recording);

// Of these objects; `fields` are the names of --fields. Errors: as make_object_view.
Result<std::unique_ptr<View>> make_view(const RunOptions& options,
                                        const std::vector<Wanted>& wanted,
                                        std::vector<std::string> fields);

}  // namespace kubewatch::cli::watch
