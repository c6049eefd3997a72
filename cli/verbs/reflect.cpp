// kubewatch reflect --once: syncs a compact cache of some kinds, says what it costs, or prints the
// objects.
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <ostream>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "base/yaml.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/flags.hpp"
#include "cli/interrupt.hpp"
#include "cli/session.hpp"
#include "cli/stream_flags.hpp"
#include "runtime/failure_counts.hpp"

namespace kubewatch::cli {

namespace {

std::uint64_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  in >> total >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

struct Kind {
  core::ResourceType type;
  std::unique_ptr<runtime::Reflector> reflector;
  bool synced = false;
};

class Reflect : public Command {
 public:
  std::string name() const override { return "reflect"; }
  std::string summary() const override { return "keep a compact cache and say what it holds"; }

  void bind(CLI::App& app) override {
    app.add_option("TYPE", types_, "TYPE[,TYPE...]")->required();
    app.add_flag("--once", once_, "sync, print, and end");
    bind_selection(app, selection_);
    add_duration(app, "--timeout", timeout_, "how long the sync may take (default 5m)");
    bind_output(app, output_, {"stats", "json", "objects", "yaml", "name"});
    bind_stream(app, stream_);
    bind_content(app, content_);
  }

  int run(Context& context) override {
    if (!once_) {
      return fail(context, kUsage,
                  "reflect needs --once: it syncs, prints and ends, and serves nobody");
    }
    if (auto checked = check_selection(selection_); !checked.ok()) {
      return fail(context, kUsage, checked.error().render());
    }
    if (auto checked = check_stream(stream_); !checked.ok()) {
      return fail(context, kUsage, checked.error().render());
    }
    auto session = Session::open(context.global.config);
    if (!session.ok()) return fail(context, session.error());
    auto types = (*session)->resolve(base::join(types_, ","));
    if (!types.ok()) return fail(context, types.error());
    return sync(context, **session, *types);
  }

 private:
  int sync(Context& context, Session& session, const std::vector<core::ResourceType>& types) {
    const TimePoint begin = session.loop().now();
    std::vector<std::unique_ptr<Kind>> kinds;
    std::optional<Error> refused;
    for (const auto& type : types) kinds.push_back(start(session, type, refused));
    bool interrupted = false;
    Interrupt interrupt(session.loop(), [&] { interrupted = true; });
    const auto all_synced = [&] {
      return std::all_of(kinds.begin(), kinds.end(), [](const auto& k) { return k->synced; });
    };
    session.loop().run_until([&] { return refused || interrupted || all_synced(); },
                             timeout_.value_or(Duration{300000}));
    if (refused) return fail(context, *refused);
    if (interrupted) return fail(context, kFailed, "interrupted before the cache was complete");
    if (!all_synced()) return timed_out(context, kinds);
    const auto seconds = std::chrono::duration<double>(session.loop().now() - begin).count();
    if (output_ == "stats" || output_ == "json") {
      print_stats(context, kinds, seconds);
    } else {
      for (const auto& kind : kinds) print_objects(context, *kind);
    }
    return kDone;
  }

  std::unique_ptr<Kind> start(Session& session, const core::ResourceType& type,
                              std::optional<Error>& refused) {
    auto kind = std::make_unique<Kind>();
    kind->type = type;
    runtime::WatcherOptions options = stream_;
    options.content = content_of(content_);
    options.label_selector = selection_.label_selector;
    options.field_selector = selection_.field_selector;
    runtime::ReflectorCallbacks callbacks;
    callbacks.log_failures = false;  // warn_of_failure says more
    callbacks.on_synced = [raw = kind.get()](bool) { raw->synced = true; };
    callbacks.on_failure = [&refused, raw = kind.get()](runtime::WatcherFailure where,
                                                        const Error& error, Duration retry) {
      const bool final = error.is_forbidden() || error.is_unauthorized() || error.is_not_found();
      if (final && !refused) refused.emplace(error);
      warn_of_failure(raw->type.gvk.kind, raw->reflector->stats(), where, error, retry);
    };
    const bool everywhere = selection_.all_namespaces || !type.namespaced;
    kind->reflector = std::make_unique<runtime::Reflector>(
        session.client(), type, everywhere ? "" : session.client().config().namespace_, options,
        store_options(content_), session.random(), std::move(callbacks));
    kind->reflector->start();
    return kind;
  }

  static int timed_out(Context& context, const std::vector<std::unique_ptr<Kind>>& kinds) {
    for (const auto& kind : kinds) {
      if (kind->synced) continue;
      return fail(context, kTimedOut,
                  fmt::format("timed out reading {}: {}", kind->type.qualified_plural(),
                              kind->reflector->last_failure().value_or("no answer yet")));
    }
    return kTimedOut;
  }

  void print_stats(Context& context, const std::vector<std::unique_ptr<Kind>>& kinds,
                   double seconds) const {
    runtime::StoreStats sum;
    Json per_kind = Json::array();
    for (const auto& kind : kinds) {
      const auto stats = kind->reflector->store().stats();
      sum.objects += stats.objects;
      sum.json_bytes += stats.json_bytes;
      sum.held_bytes += stats.held_bytes;
      sum.relists += stats.relists;
      sum.unparsable += stats.unparsable;
      per_kind.push_back({{"type", kind->type.qualified_plural()},
                          {"objects", stats.objects},
                          {"jsonBytes", stats.json_bytes},
                          {"heldBytes", stats.held_bytes},
                          {"failures", failures_json(kind->reflector->stats())},
                          {"resourceVersion", kind->reflector->store().resource_version()}});
    }
    if (output_ == "json") {
      context.out << base::dump_json({{"objects", sum.objects},
                                      {"jsonBytes", sum.json_bytes},
                                      {"heldBytes", sum.held_bytes},
                                      {"unparsable", sum.unparsable},
                                      {"rssBytes", resident_bytes()},
                                      {"seconds", seconds},
                                      {"kinds", per_kind}})
                  << "\n";
      return;
    }
    for (const auto& kind : per_kind) {
      context.out << fmt::format("{:<30} {:>9} objects {:>12} bytes of JSON {:>12} bytes held\n",
                                 base::escape_for_terminal(kind["type"].get<std::string>()),
                                 kind["objects"].get<std::uint64_t>(),
                                 kind["jsonBytes"].get<std::uint64_t>(),
                                 kind["heldBytes"].get<std::uint64_t>());
    }
    for (const auto& kind : kinds) {
      const std::string failures = runtime::to_text(kind->reflector->stats().failures);
      if (failures.empty()) continue;
      context.out << base::escape_for_terminal(fmt::format("{:<30} failed and repaired: {}",
                                                           kind->type.qualified_plural(), failures))
                  << "\n";
    }
    context.out << fmt::format(
        "{} objects, {} bytes of JSON, {} bytes held, RSS {} bytes, {:.3f} s\n", sum.objects,
        sum.json_bytes, sum.held_bytes, resident_bytes(), seconds);
  }

  void print_objects(Context& context, const Kind& kind) const {
    const auto& store = kind.reflector->store();
    for (const auto& key : store.keys()) {
      const auto object = store.get(key);
      if (!object) continue;
      if (output_ == "name") {
        context.out << base::escape_for_terminal(
                           fmt::format("{}/{}", base::to_lower(kind.type.gvk.kind), key.str()))
                    << "\n";
      } else if (output_ == "objects") {
        context.out << object->json << "\n";
      } else if (auto parsed = base::parse_json(object->json); parsed.ok()) {
        context.out << "---\n" << base::dump_yaml(*parsed);
      }
    }
  }

  std::vector<std::string> types_;
  bool once_ = false;
  Selection selection_;
  runtime::WatcherOptions stream_;
  ContentFlags content_;
  std::optional<Duration> timeout_;
  std::string output_ = "stats";
};

}  // namespace

std::unique_ptr<Command> make_reflect() {
  return std::make_unique<Reflect>();
}

}  // namespace kubewatch::cli
