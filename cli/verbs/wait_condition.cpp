// kubewatch wait-condition: waits until objects are as asked and says why when they are not, with
// exit codes that CI can use. What it waits with is cli/wait/waiter.hpp.
#include <fmt/format.h>

#include <ostream>

#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/flags.hpp"
#include "cli/resource_args.hpp"
#include "cli/session.hpp"
#include "cli/session_recording.hpp"
#include "cli/stream_flags.hpp"
#include "cli/wait/waiter.hpp"

namespace kubewatch::cli {

namespace {

using runtime::WaitTarget;

ResourceRules rules() {
  ResourceRules out;
  out.all_flag = true;
  out.all_implied = false;
  out.recursive = true;
  return out;
}

WaitTarget wait_target(const Target& of) {
  return {of.type, of.namespace_, of.name, of.label_selector, of.field_selector, "", false};
}

std::string name_of(const Manifest& manifest) {
  return base::string_at(manifest.object, {"metadata", "name"});
}

// "websites/a", "websites".
std::string text_of(const TypeAndNames& asked) {
  return asked.names.size() == 1 ? asked.type + "/" + asked.names.front() : asked.type;
}

class WaitConditionCommand : public Command {
 public:
  std::string name() const override { return "wait-condition"; }
  std::string summary() const override { return "wait for conditions, with exit codes for CI"; }

  bool several_namespaces() const override { return true; }

  void bind(CLI::App& app) override {
    bind_resources(app, resources_, rules());
    bind_wait_goal(app, flags_);
    bind_wait_counts(app, flags_);
    bind_output(app, flags_.output, {"text", "json", "junit", "github"});
    app.add_flag("-q,--quiet", flags_.quiet,
                 "no progress and no line for what is met; errors are still told");
    recording_.bind(app);
    bind_stream(app, stream_);
  }

  int run(Context& context) override {
    auto goal = wait_goal_of(flags_);
    if (!goal.ok()) return fail(context, kUsage, goal.error().render());
    namespaces_ = context.global.namespaces;
    // Folders are read to their depths unless told otherwise; -k has none.
    if (!resources_.kustomize.empty()) resources_.recursive = false;
    if (auto checked = check(); !checked.ok()) {
      return fail(context, kUsage, checked.error().render());
    }
    Waiter* told = nullptr;
    auto session = recording_.open(context.global.config, [&told] {
      if (told != nullptr) told->end_of_recording();
    });
    if (!session.ok()) return fail(context, session.error());
    deletion_ = goal->awaits_deletion();
    Waiter waiter(context, **session, flags_, std::move(goal).value(), stream_);
    told = &waiter;
    if (recording_.replays()) waiter.of_recording();
    waiter.start_clock();
    auto added = add_targets(**session, waiter);
    if (!added.ok() && wrong_files_) return fail(context, kUsage, added.error().render());
    if (!added.ok()) return waiter.fail(added.error());
    if (*added == 0) return fail(context, nothing_in_files(resources_));
    waiter.start();
    const int waited = waiter.finish();
    const int code = fail_too(context, waited, recording_.end());
    told = nullptr;
    return code;
  }

 private:
  Result<void> check() const {
    KW_TRY(check_resources(resources_, rules()));
    KW_TRY(check_selection(resources_.selection));
    KW_TRY(check_stream(stream_));
    KW_TRY(recording_.check());
    if (recording_.replays() && flags_.hold) {
      return Error(ErrorKind::invalid,
                   "--hold waits by the clock, and a recording is told as fast as it can be");
    }
    if (resources_.from_files() && namespaces_.size() > 1) {
      return Error(ErrorKind::invalid, "several namespaces cannot be given with -f or -k");
    }
    const bool counts = flags_.min_count || flags_.exactly;
    const bool chosen = resources_.all || !resources_.selection.label_selector.empty() ||
                        !resources_.selection.field_selector.empty();
    if (counts && (!chosen || resources_.from_files())) {
      return Error(ErrorKind::invalid,
                   "--min-count and --exactly count what -l, --field-selector or --all choose");
    }
    return {};
  }

  // How many targets there are, the ones with a type to come included.
  Result<std::size_t> add_targets(Session& session, Waiter& waiter) {
    if (resources_.from_files()) return add_manifests(session, waiter);
    waiter.heed_signals();
    KW_ASSIGN(const auto words, parse_resource_words(resources_.words));
    std::size_t count = 0;
    for (const auto& asked : words) {
      const auto resolve = [this, &session, asked]() -> Result<Waiter::Resolved> {
        ResourceFlags one = resources_;
        one.words = {asked.type};
        one.words.insert(one.words.end(), asked.names.begin(), asked.names.end());
        const auto map = session.resources_with({asked.type});
        if (!map.ok()) return later_if_missing(map.error());
        const auto found = resolve_targets(session, one, rules(), namespaces_);
        if (!found.ok() && (*map)->group_did_not_answer(asked.type)) return later(found.error());
        // A word may be misspelt: "it does not exist" would be a wrong success for a deletion.
        if (!found.ok()) return later_if_missing(found.error());
        std::vector<WaitTarget> out;
        for (const auto& target : *found) {
          KW_TRY(can_watch(target.type));
          recording_.note({target.type});
          out.push_back(wait_target(target));
          out.back().pinned = names_version(asked.type, target.type.gvk);
        }
        const bool category = std::any_of(out.begin(), out.end(), [&](const WaitTarget& target) {
          return target.type.gvk != out.front().type.gvk;
        });
        for (auto& target : out) (category ? target.category : target.word) = asked.type;
        return Waiter::Resolved{std::move(out), std::nullopt, std::nullopt};
      };
      KW_TRY(waiter.add(text_of(asked), resolve));
      ++count;
    }
    return count;
  }

  Result<std::size_t> add_manifests(Session& session, Waiter& waiter) {
    auto read = read_resource_files(session.loop(), resources_);
    wrong_files_ = !read.ok();
    KW_ASSIGN(const auto manifests, std::move(read));
    waiter.heed_signals();
    std::size_t count = 0;
    for (const auto& manifest : manifests) {
      const auto resolve = [this, &session, manifest]() -> Result<Waiter::Resolved> {
        auto found = look_up_kind(session, manifest);
        if (!found.ok()) return later_if_missing(found.error());
        if (found->missing) return without_type(manifest, *found->missing);
        const core::ResourceType& type = *found->type;
        KW_TRY(can_watch(type).with_context(manifest.source));
        recording_.note({type});
        const std::string asked = namespaces_.empty() ? "" : namespaces_.front();
        KW_ASSIGN(auto namespace_, namespace_of(manifest, type.namespaced, asked,
                                                session.client().config().namespace_));
        WaitTarget target{type, std::move(namespace_), name_of(manifest), "", "", "", true};
        return Waiter::Resolved{{std::move(target)}, std::nullopt, std::nullopt};
      };
      KW_TRY(waiter.add(base::string_at(manifest.object, {"kind"}) + "/" + name_of(manifest),
                        resolve));
      ++count;
    }
    return count;
  }

  // A type that is not there may come, but not into a recording. Other errors of discovery are the
  // waiter's: it waits for a server that is away; one that is none, or not well, is the end.
  Result<Waiter::Resolved> later_if_missing(const Error& why) const {
    if (!why.is_not_found() || deletion_) return why;
    return later(why);
  }

  // A group that did not answer is waited for, whatever is asked: it may have the object still.
  Result<Waiter::Resolved> later(const Error& why) const {
    if (recording_.replays()) return why;
    Waiter::Resolved out;
    out.later = why;
    return out;
  }
  Result<Waiter::Resolved> without_type(const Manifest& manifest, const Error& why) const {
    Waiter::Resolved out;
    if (why.is_not_found()) {
      if (!deletion_) return later_if_missing(why);
      KW_ASSIGN(auto gvk, core::gvk_of(manifest.object));
      const std::string namespace_ = base::string_at(manifest.object, {"metadata", "namespace"});
      out.gone = Waiter::Gone{std::move(gvk), {namespace_, name_of(manifest)}};
      return out;
    }
    return later(why);
  }

  static Result<void> can_watch(const core::ResourceType& type) {
    if (type.verbs.empty() || (type.has_verb("list") && type.has_verb("watch"))) return {};
    return Error(ErrorKind::unsupported,
                 fmt::format("{} cannot be waited for: the server does not list and watch them",
                             type.qualified_plural()));
  }

  ResourceFlags resources_;
  WaitFlags flags_;
  runtime::WatcherOptions stream_;
  SessionRecording recording_;
  std::vector<std::string> namespaces_;  // of -n; empty: the context's
  bool deletion_ = false;
  bool wrong_files_ = false;
};

}  // namespace

std::unique_ptr<Command> make_wait_condition() {
  return std::make_unique<WaitConditionCommand>();
}

}  // namespace kubewatch::cli
