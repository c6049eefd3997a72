#include "cli/stream_flags.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/json.hpp"
#include "base/log.hpp"
#include "runtime/failure_counts.hpp"
#include "runtime/stream_choices.hpp"

namespace kubewatch::cli {

namespace {

const char* const kStreamFlags = "Lists and watches";

template <class Table, class Enum>
void add_choice(CLI::App& app, const std::string& name, Enum& into, const Table& table,
                const std::string& type, const std::string& text) {
  std::vector<std::string> words;
  for (const auto& [word, value] : table) words.emplace_back(word);
  const auto set = [&into, &table](const std::string& chosen) {
    for (const auto& [word, value] : table) {
      if (word == chosen) into = value;
    }
  };
  app.add_option_function<std::string>(name, set, text)
      ->type_name(type)
      ->check(CLI::IsMember(words))
      ->group(kStreamFlags);
}

void add_bounded(CLI::App& app, const std::string& name, Duration& into, Duration min, Duration max,
                 const std::string& text) {
  const auto set = [&into, name, min, max](const std::string& value) {
    const auto parsed = base::parse_duration(value);
    if (!parsed.ok()) throw CLI::ValidationError(name, parsed.error().render());
    if (*parsed < min || *parsed > max) {
      throw CLI::ValidationError(
          name, fmt::format("must be from {} to {}, not {}", base::format_duration(min),
                            base::format_duration(max), value));
    }
    into = *parsed;
  };
  app.add_option_function<std::string>(name, set, text)->type_name("DURATION")->group(kStreamFlags);
}

}  // namespace

void bind_stream(CLI::App& app, runtime::WatcherOptions& options) {
  add_choice(app, "--list-strategy", options.strategy, runtime::kListStrategies, "STRATEGY",
             "how the present state is read (default auto)");
  add_choice(
      app, "--list-semantics", options.semantics, runtime::kListSemantics, "SEMANTICS",
      "how new it must be: the newest, whatever the server's cache has, or not older than what "
      "was seen before, first that of the cache (default recent)");
  app.add_option(
         "--chunk-size", options.page_size,
         "objects per page where pages are used: --list-strategy=paged, and where another way "
         "fails (default 500); 0: never in pages")
      ->type_name("N")
      ->check(CLI::Range(std::uint32_t{0}, runtime::kMaxPageSize))
      ->group(kStreamFlags);
  add_bounded(app, "--watch-timeout", options.timeout, runtime::kMinWatchTimeout,
              runtime::kMaxWatchTimeout,
              "after which the server ends a watch, to be taken up again (default 290s; until a "
              "bookmark came, at most 225s)");
  app.add_flag(
         "--bookmarks", options.bookmarks,
         "ask for bookmarks, which make resuming cheap; a streaming list always does (default "
         "true; --bookmarks=false)")
      ->group(kStreamFlags);
  add_bounded(app, "--backoff-initial", options.backoff.initial, runtime::kMinBackoff,
              runtime::kMaxBackoff, "the wait after a first failure (default 800ms)");
  add_bounded(app, "--backoff-max", options.backoff.max, runtime::kMinBackoff, runtime::kMaxBackoff,
              "the longest wait after failures (default 30s)");
}

void bind_content(CLI::App& app, ContentFlags& flags) {
  app.add_flag("--metadata-only", flags.metadata_only,
               "read and keep apiVersion, kind and metadata only")
      ->group(kStreamFlags);
  app.add_flag("--show-managed-fields", flags.show_managed_fields,
               "keep metadata.managedFields, which is dropped otherwise")
      ->group(kStreamFlags);
}

core::Content content_of(const ContentFlags& flags) {
  return flags.metadata_only ? core::Content::metadata : core::Content::full;
}

runtime::StoreOptions store_options(const ContentFlags& flags) {
  runtime::StoreOptions out;
  out.keep_managed_fields = flags.show_managed_fields;
  return out;
}

Result<void> check_stream(const runtime::WatcherOptions& options) {
  if (options.backoff.max < options.backoff.initial) {
    return Error(ErrorKind::invalid,
                 fmt::format("--backoff-max {} is shorter than --backoff-initial {}",
                             base::format_duration(options.backoff.max),
                             base::format_duration(options.backoff.initial)));
  }
  if (options.strategy == runtime::ListStrategy::paged && options.page_size == 0) {
    return Error(ErrorKind::invalid, "--list-strategy=paged needs a --chunk-size above 0");
  }
  return {};
}

bool is_refusal(const Error& error) {
  if (error.is_forbidden() || error.is_unauthorized()) return true;
  return error.status() != nullptr && (error.status()->code == 400 || error.status()->code == 405);
}

void warn_of_failure(const std::string& kind, const runtime::ReflectorStats& stats,
                     runtime::WatcherFailure where, const Error& error, Duration retry_in) {
  base::log_warn("watch interrupted, trying again", {{"kind", kind},
                                                     {"where", std::string(to_string(where))},
                                                     {"error", error.render()},
                                                     {"in", base::format_duration(retry_in)},
                                                     {"so_far", runtime::to_text(stats.failures)}});
}

Json failures_json(const runtime::ReflectorStats& stats) {
  Json out = Json::object();
  for (std::size_t i = 0; i < stats.failures.size(); ++i) {
    out[std::string(key_of(static_cast<runtime::WatcherFailure>(i)))] = stats.failures[i];
  }
  return out;
}

}  // namespace kubewatch::cli
