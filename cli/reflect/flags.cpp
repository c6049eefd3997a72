#include "cli/reflect/flags.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <CLI/CLI.hpp>

#include "base/json_pointer.hpp"
#include "cli/reflect/saved.hpp"
#include "cli/resource_args.hpp"
#include "http/listen_address.hpp"
#include "jq/paths.hpp"
#include "runtime/needed_paths.hpp"

namespace kubewatch::cli {

namespace {

constexpr const char* kServing = "Serving";
constexpr const char* kFiles = "Saved caches";

void bind_serving(CLI::App& app, ReflectFlags& flags) {
  app.add_option("--serve", flags.serve,
                 "answer the Kubernetes read API from the cache there; port 0 is a free one")
      ->type_name("ADDRESS:PORT")
      ->group(kServing);
  app.add_option(
         "--kubeconfig-out", flags.kubeconfig_out,
         "where to write the kubeconfig that leads there (mode 0600; default: a new folder)")
      ->type_name("FILE")
      ->group(kServing);
  app.add_option("--serve-name", flags.serve_names,
                 "a further name or address it is reached by, repeatable: for the certificate")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->group(kServing);
  app.add_flag("--insecure-http", flags.insecure_http,
               "plain HTTP without a token, on loopback only")
      ->group(kServing);
  app.add_flag("--forward-reads", flags.forward_reads,
               "pass reads of what is not cached on, with your credentials")
      ->group(kServing);
  app.add_flag("--forward-writes", flags.forward_writes, "pass writes on, with your credentials")
      ->group(kServing);
}

void bind_files(CLI::App& app, ReflectFlags& flags) {
  app.add_option("--snapshot", flags.snapshot,
                 "write the cache there at the end, compressed, mode 0600")
      ->type_name("FILE")
      ->group(kFiles);
  app.add_option("--from", flags.from,
                 "start with this saved cache and watch on from where it stood; with --query no "
                 "server is needed")
      ->type_name("FILE")
      ->group(kFiles);
  add_duration(app, "--snapshot-interval", flags.snapshot_interval, "write it so often as well")
      ->group(kFiles);
}

}  // namespace

void bind_reflect(CLI::App& app, ReflectFlags& flags) {
  app.add_option("TYPE", flags.words, "TYPE[,TYPE...] [NAME...], or TYPE/NAME...")
      ->type_name("TYPE");
  app.add_flag("--once", flags.once, "sync, say what the cache holds and costs, and end");
  app.add_flag("--query", flags.query, "sync, print the objects, and end");
  auto* estimate =
      app.add_flag("--estimate", flags.estimate,
                   "read a page and say what the cache will cost and what would make it cheaper");
  auto* verify =
      app.add_flag("--verify", flags.verify,
                   "compare the cache with exact lists of the server; exit 9 on a difference");
  bind_selection(app, flags.selection);
  app.add_option("--strip", flags.strip,
                 "a path that is dropped before the cache, as .status, repeatable")
      ->type_name("PATH")
      ->allow_extra_args(false);
  add_duration(app, "--timeout", flags.timeout,
               "how long the first sync may take with --once, --query and --verify (default 5m; "
               "0: no limit)");
  app.add_option("--sample", flags.sample, "objects that --estimate reads (default 500)")
      ->type_name("N")
      ->check(CLI::Range(1U, 10000U))
      ->needs(estimate);
  app.add_option("--rounds", flags.rounds,
                 "comparisons that --verify makes (default 1); 0: until stopped")
      ->type_name("N")
      ->needs(verify);
  add_duration(app, "--interval", flags.interval, "between two of them (default 10s)")
      ->needs(verify);
  bind_serving(app, flags);
  bind_files(app, flags);
  flags.recording.bind(app);
  bind_stream(app, flags.stream);
  bind_content(app, flags.content);
  flags.metrics.bind(app, false);
}

ReflectMode ReflectFlags::mode() const {
  if (once) return ReflectMode::once;
  if (query) return ReflectMode::query;
  if (estimate) return ReflectMode::estimate;
  if (verify) return ReflectMode::verify;
  return serve.empty() ? ReflectMode::keep : ReflectMode::serve;
}

bool ReflectFlags::selects_of_file() const {
  return !from.empty() && words.empty() && (has_selector(selection) || !namespaces.empty());
}

Result<void> ReflectFlags::check() const {
  const auto wrong = [](const std::string& message) { return Error(ErrorKind::invalid, message); };
  const int modes = int{once} + int{query} + int{estimate} + int{verify} + int{!serve.empty()};
  if (modes > 1) {
    return wrong("--once, --query, --serve, --estimate and --verify are different jobs: give one");
  }
  if (words.empty() && from.empty())
    return wrong("which kinds? Name a TYPE, or a cache with --from");
  KW_ASSIGN(const auto asked, parse_resource_words(words));
  const bool named = std::any_of(asked.begin(), asked.end(),
                                 [](const TypeAndNames& one) { return !one.names.empty(); });
  if (!serve.empty()) {
    if (auto parsed = http::parse_listen_address(serve); !parsed.ok()) {
      return std::move(parsed.error()).with_context("--serve");
    }
  } else if (!kubeconfig_out.empty() || !serve_names.empty() || insecure_http || forward_reads ||
             forward_writes) {
    return wrong(
        "--kubeconfig-out, --serve-name, --insecure-http, --forward-reads and --forward-writes are "
        "about --serve ADDRESS:PORT");
  }
  if (!kubeconfig_out.empty()) KW_TRY(check_output_file("--kubeconfig-out", kubeconfig_out));
  if (insecure_http && (forward_reads || forward_writes)) {
    return wrong(
        "--insecure-http asks for no token: with --forward-reads or --forward-writes every user of "
        "this machine would act as you; leave out one of them");
  }
  if ((estimate || query) && !snapshot.empty()) {
    return wrong("--snapshot is for --once, --serve, --verify, or a cache that is just kept");
  }
  if (timeout && (mode() == ReflectMode::keep || !serve.empty() || estimate)) {
    return wrong("--timeout is about the first sync of --once, --query and --verify");
  }
  if (estimate && !from.empty()) return wrong("--estimate asks the server; it reads no --from");
  if (snapshot_interval && snapshot.empty())
    return wrong("--snapshot-interval needs --snapshot FILE");
  if (!snapshot.empty()) {
    KW_TRY(check_output_file("--snapshot", snapshot));
    if (auto usable = check_snapshot_file(snapshot); !usable.ok()) {
      return std::move(usable.error()).with_context("--snapshot");
    }
  }
  if (named && has_selector(selection)) {
    return wrong("name cannot be provided when a selector is specified");
  }
  KW_TRY(check_saved_kinds());
  KW_TRY(check_recording());
  KW_TRY(check_selection(selection));
  KW_TRY(check_stream(stream));
  KW_TRY(store_options());
  return metrics.check();
}

// Without TYPE the caches of the file go on as they were saved. Of those that print objects the
// selection is of what is printed.
Result<void> ReflectFlags::check_saved_kinds() const {
  if (from.empty() || !words.empty()) return {};
  const bool prints = once || query;
  const bool selects = !prints && (selects_of_file() || selection.all_namespaces);
  const bool shapes =
      content.metadata_only || !strip.empty() || (content.show_managed_fields && !query);
  if (!selects && !shapes) return {};
  return Error(ErrorKind::invalid,
               "--from without a TYPE goes on with the caches of the file as they are: name the "
               "TYPE to give it -n, -A, -l, --field-selector, --metadata-only, --strip or "
               "--show-managed-fields");
}

Result<void> ReflectFlags::check_recording() const {
  if (!recording.records() && !recording.replays()) return {};
  KW_TRY(recording.check());
  const auto wrong = [](const std::string& message) { return Error(ErrorKind::invalid, message); };
  const std::string flag = recording.records() ? "--record" : "--from-recording";
  if (estimate || verify) {
    return wrong("--estimate and --verify are about the server as it is: " + flag +
                 " is for the other jobs");
  }
  if (!from.empty()) {
    return wrong(
        recording.records()
            ? "a recording begins with a list, and --from goes on without one: give --from "
              "or --record"
            : "--from and --from-recording both say what the cache begins with: give one");
  }
  if (recording.replays() && (forward_reads || forward_writes)) {
    return wrong(
        "--from-recording asks no server that --forward-reads and --forward-writes could "
        "pass on to");
  }
  return {};
}

runtime::WatcherOptions ReflectFlags::watcher_options() const {
  runtime::WatcherOptions out = stream;
  out.content = content_of(content);
  out.label_selector = selection.label_selector;
  out.field_selector = selection.field_selector;
  return out;
}

Result<runtime::StoreOptions> ReflectFlags::store_options() const {
  runtime::StoreOptions out = cli::store_options(content);
  for (const auto& path : strip) {
    auto pointer = strip_pointer(path);
    if (!pointer.ok()) return std::move(pointer.error()).with_context("--strip");
    out.strip.push_back(*pointer);
  }
  return out;
}

Result<std::string> strip_pointer(const std::string& path) {
  KW_ASSIGN(const auto steps, jq::parse_path(path));
  std::string pointer = base::pointer_to(steps);
  if (runtime::is_needed(pointer)) {
    return Error(ErrorKind::invalid, fmt::format("{} cannot be dropped: the cache needs it", path));
  }
  return pointer;
}

}  // namespace kubewatch::cli
