// What the command line of `reflect` said, checked. The flags of lists, watches and printers are
// those of the other verbs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "cli/controller/metrics_flags.hpp"
#include "cli/flags.hpp"
#include "cli/session_recording.hpp"
#include "cli/stream_flags.hpp"

namespace kubewatch::cli {

enum class ReflectMode { keep, once, query, serve, estimate, verify };

struct ReflectFlags {
  std::vector<std::string> words;  // TYPE[,TYPE...] [NAME...], TYPE/NAME...
  bool once = false, query = false, estimate = false, verify = false;
  std::string serve;  // ADDRESS:PORT
  Selection selection;
  std::vector<std::string> namespaces;  // of several -n; set by the verb
  runtime::WatcherOptions stream;
  ContentFlags content;
  std::vector<std::string> strip;  // as given: .status, .metadata.annotations["x"]
  std::optional<Duration> timeout;

  std::string kubeconfig_out;
  std::vector<std::string> serve_names;
  bool insecure_http = false;
  bool forward_reads = false, forward_writes = false;

  std::string snapshot, from;
  std::optional<Duration> snapshot_interval;
  std::optional<std::uint32_t> sample;
  std::optional<Duration> interval;
  std::optional<std::uint32_t> rounds;
  MetricsFlags metrics;
  SessionRecording recording;

  ReflectMode mode() const;
  // A selection among what all caches of --from hold, since no TYPE is named.
  bool selects_of_file() const;
  // What only several flags together can get wrong. Errors: invalid.
  Result<void> check() const;
  // The same of --from without kinds, and of --record and --from-recording.
  Result<void> check_saved_kinds() const;
  Result<void> check_recording() const;
  runtime::WatcherOptions watcher_options() const;
  // Errors: invalid (a path that is none, or is needed).
  Result<runtime::StoreOptions> store_options() const;
};

void bind_reflect(CLI::App& app, ReflectFlags& flags);

// ".metadata.annotations[\"a/b\"]" as /metadata/annotations/a~1b. Errors: invalid: no plain path,
// or of what identifies an object.
Result<std::string> strip_pointer(const std::string& path);

}  // namespace kubewatch::cli
