// kubewatch watch: streams every change of one or more kinds, over disconnects and gaps, until
// stopped.
#include <fmt/format.h>

#include <ostream>
#include <set>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "base/time.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/flags.hpp"
#include "cli/interrupt.hpp"
#include "cli/session.hpp"
#include "cli/stream_flags.hpp"

namespace kubewatch::cli {

namespace {

std::string_view event_name(runtime::ChangeType type) {
  switch (type) {
    case runtime::ChangeType::added: return "ADDED";
    case runtime::ChangeType::modified: return "MODIFIED";
    case runtime::ChangeType::deleted: return "DELETED";
  }
  return "UNKNOWN";
}

class Watch : public Command {
 public:
  std::string name() const override { return "watch"; }
  std::string summary() const override { return "stream every change of one or more kinds"; }

  void bind(CLI::App& app) override {
    app.add_option("TYPE", words_, "TYPE[,TYPE...] [NAME...], or TYPE/NAME")->required();
    bind_selection(app, selection_);
    bind_output(app, output_, {"table", "json", "name"});
    bind_stream(app, stream_);
    bind_content(app, content_);
  }

  int run(Context& context) override {
    if (auto checked = check_selection(selection_); !checked.ok()) {
      return fail(context, kUsage, checked.error().render());
    }
    if (auto checked = check_stream(stream_); !checked.ok()) {
      return fail(context, kUsage, checked.error().render());
    }
    auto session = Session::open(context.global.config);
    if (!session.ok()) return fail(context, session.error());
    if (const auto slash = words_.front().find('/'); slash != std::string::npos) {
      if (words_.size() > 1) return fail(context, kUsage, "TYPE/NAME stands alone");
      words_.push_back(words_.front().substr(slash + 1));
      words_.front().resize(slash);
    }
    auto types = (*session)->resolve(words_.front());
    if (!types.ok()) return fail(context, types.error());
    names_.insert(words_.begin() + 1, words_.end());
    std::vector<std::unique_ptr<runtime::Reflector>> reflectors;
    for (const auto& type : *types) reflectors.push_back(watch(context, **session, type));
    if (output_ == "table") {
      print_row(context, "EVENT", "KIND", "NAMESPACE", "NAME", "AGE");
    }
    Interrupt interrupt((*session)->loop(), [&] { (*session)->loop().stop(); });
    for (auto& reflector : reflectors) reflector->start();
    (*session)->loop().run();
    // The only ways out of the loop are a signal and a reader that went; the rest is repaired.
    if (!context.out) return fail(context, kFailed, "cannot write to stdout");
    return interrupt.happened() ? kDone : fail(context, kFailed, "the event loop ended by itself");
  }

 private:
  std::unique_ptr<runtime::Reflector> watch(Context& context, Session& session,
                                            const core::ResourceType& type) {
    runtime::WatcherOptions options = stream_;
    options.content = content_of(content_);
    options.label_selector = selection_.label_selector;
    options.field_selector = selection_.field_selector;
    if (names_.size() == 1 && options.field_selector.empty()) {
      options.field_selector = "metadata.name=" + *names_.begin();
    }
    runtime::ReflectorCallbacks callbacks;
    callbacks.log_failures = false;  // warn_of_failure says more
    const std::string kind = type.gvk.kind;
    callbacks.on_change = [this, &context, &session, kind](const runtime::StoreChange& change) {
      print(context, session, kind, change);
    };
    callbacks.on_synced = [this, &context, kind](bool gap) {
      if (gap) print_gap(context, kind);
    };
    const auto watched = std::make_shared<const runtime::Reflector*>(nullptr);
    callbacks.on_failure = [kind, watched](runtime::WatcherFailure where, const Error& error,
                                           Duration retry) {
      warn_of_failure(kind, (*watched)->stats(), where, error, retry);
    };
    const bool everywhere = selection_.all_namespaces || !type.namespaced;
    auto reflector = std::make_unique<runtime::Reflector>(
        session.client(), type, everywhere ? "" : session.client().config().namespace_, options,
        store_options(content_), session.random(), std::move(callbacks));
    *watched = reflector.get();
    return reflector;
  }

  void print(Context& context, Session& session, const std::string& kind,
             const runtime::StoreChange& change) {
    if (!names_.empty() && names_.count(change.meta.name) == 0) return;
    const std::string event(event_name(change.type));
    if (output_ == "json") {
      context.out << "{\"type\":\"" << event << "\",\"object\":" << change.json << "}\n";
    } else if (output_ == "name") {
      context.out << base::escape_for_terminal(
                         fmt::format("{}/{}", base::to_lower(kind), change.meta.key().str()))
                  << "\n";
    } else {
      print_row(context, event, kind, change.meta.namespace_, change.meta.name,
                age(session, change.meta));
    }
    context.out.flush();
    if (!context.out) session.loop().stop();
  }

  void print_gap(Context& context, const std::string& kind) const {
    if (output_ == "json") {
      context.out << base::dump_json({{"type", "GAP"}, {"kind", kind}}) << std::endl;
    } else if (output_ == "table") {
      print_row(context, "GAP", kind, "", "", "");
      context.out.flush();
    }
  }

  static std::string age(Session& session, const core::ObjectMeta& meta) {
    const auto created = base::parse_rfc3339(meta.creation_timestamp);
    if (!created.ok()) return "<unknown>";
    return base::format_age(
        std::chrono::duration_cast<std::chrono::seconds>(session.loop().wall() - *created));
  }

  static void print_row(Context& context, const std::string& event, const std::string& kind,
                        const std::string& namespace_, const std::string& name,
                        const std::string& age) {
    context.out << base::escape_for_terminal(fmt::format("{:<9} {:<20} {:<20} {:<40} {}", event,
                                                         kind, namespace_, name, age))
                << "\n";
  }

  std::vector<std::string> words_;
  std::set<std::string> names_;
  Selection selection_;
  runtime::WatcherOptions stream_;
  ContentFlags content_;
  std::string output_ = "table";
};

}  // namespace

std::unique_ptr<Command> make_watch() {
  return std::make_unique<Watch>();
}

}  // namespace kubewatch::cli
