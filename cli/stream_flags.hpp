// The flags of commands that list and watch: one table for watch, reflect and wait-condition, with
// the words and bounds of a rule file's `list:`; and what all three say of failures.
#pragma once

#include <string>

#include "base/json_fwd.hpp"
#include "cli/flags.hpp"
#include "runtime/reflector.hpp"

namespace kubewatch::cli {

// --list-strategy, --list-semantics, --chunk-size, --watch-timeout, --bookmarks, --backoff-initial,
// --backoff-max. `options` must outlive the app.
void bind_stream(CLI::App& app, runtime::WatcherOptions& options);
// --metadata-only, --show-managed-fields, of the commands that print objects.
struct ContentFlags {
  bool metadata_only = false;
  bool show_managed_fields = false;
};
void bind_content(CLI::App& app, ContentFlags& flags);
core::Content content_of(const ContentFlags& flags);
runtime::StoreOptions store_options(const ContentFlags& flags);
// What only several flags together can get wrong. Errors: invalid.
Result<void> check_stream(const runtime::WatcherOptions& options);

// Asking again would be answered alike: may not be read, or not in this way (400, 405).
bool is_refusal(const Error& error);
// A warning with the kind, where it failed and how often so far: never only at debug level.
void warn_of_failure(const std::string& kind, const runtime::ReflectorStats& stats,
                     runtime::WatcherFailure where, const Error& error, Duration retry_in);
// {"initialList": 2, "watchStart": 0, "stream": 1, "serverError": 0, "noResourceVersion": 0}
Json failures_json(const runtime::ReflectorStats& stats);

}  // namespace kubewatch::cli
