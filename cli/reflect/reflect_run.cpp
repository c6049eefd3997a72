#include "cli/reflect/reflect_run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/printers/object_printer.hpp"
#include "cli/reflect/estimate.hpp"
#include "cli/reflect/report.hpp"
#include "cli/reflect/serve.hpp"
#include "cli/reflect/verify.hpp"
#include "cli/reflect/versions.hpp"
#include "cli/resource_args.hpp"
#include "cli/served_config.hpp"
#include "cli/session.hpp"
#include "cli/terminal.hpp"
#include "core/status.hpp"

namespace kubewatch::cli {

namespace {

constexpr const char* kReflectContext = "kubewatch-reflect";
constexpr Duration kFirstSync{300000};
constexpr Duration kForEver{1LL << 50};
constexpr Duration kStatusEvery{1000};
constexpr Duration kVerifyEvery{10000};
constexpr std::uint32_t kSample = 500;

class ReflectRun {
 public:
  // `told_all`: all of a recording was told. Everything must outlive it.
  ReflectRun(Context& context, Session& session, ReflectFlags& flags, const ReflectQuery& query,
             SavedFile& saved, const bool& told_all)
      : context_(context),
        session_(session),
        flags_(flags),
        query_(query),
        saved_(saved),
        told_all_(told_all) {}

  int run() {
    Duration time = flags_.timeout.value_or(kFirstSync);
    if (time == Duration{0}) time = kForEver;
    synced_by_ = session_.loop().now() + time;
    Interrupt interrupt(session_.loop(), [&] {
      interrupted_ = true;
      session_.loop().stop();
    });
    const auto bound = [&](TimePoint until) {
      session_.bound_waits(
          Session::Bound{until, base::format_duration(time), [this] { return interrupted_; }});
    };
    bound(ends() ? synced_by_ : TimePoint::max());
    auto plans = plan();
    bound(TimePoint::max());
    if (interrupted_ && runs_on()) return save();
    if (!plans.ok()) return fail(context_, plans.error());
    if (flags_.mode() == ReflectMode::serve) {
      if (auto one = check_served(*plans); !one.ok()) return fail(context_, one.error());
    }
    drop_foreign(client::identity_of(session_.client().config()));
    tell_unused(*plans);
    if (flags_.mode() == ReflectMode::estimate) return run_estimate(*plans);
    began_ = session_.loop().now();
    if (!ends()) session_.loop().warn_of_slow_turns();
    if (const int code = open(std::move(*plans)); code != kDone) return code;
    if (interrupted_ && runs_on()) return save();
    switch (flags_.mode()) {
      case ReflectMode::once:
      case ReflectMode::query: return run_once();
      case ReflectMode::verify: return run_verify();
      default: return run_on();
    }
  }

 private:
  // What ends with the first sync has a deadline for it, and finding the kinds is part of it.
  bool ends() const {
    const ReflectMode mode = flags_.mode();
    return mode == ReflectMode::once || mode == ReflectMode::query || mode == ReflectMode::verify;
  }

  bool runs_on() const { return !ends() && flags_.mode() != ReflectMode::estimate; }

  bool json() const { return query_.output() == "json"; }

  // ---------------------------------------------------------------- the caches

  Result<std::vector<KindPlan>> plan() {
    if (flags_.words.empty()) {
      std::vector<KindPlan> out;
      for (const auto& saved : saved_.kinds) {
        KindPlan plan = saved.plan;
        plan.watch = flags_.watcher_options();
        plan.watch.label_selector = saved.plan.watch.label_selector;
        plan.watch.field_selector = saved.plan.watch.field_selector;
        plan.watch.content = saved.plan.watch.content;
        out.push_back(std::move(plan));
      }
      return out;
    }
    KW_ASSIGN(const auto words, parse_resource_words(flags_.words));
    // A kept discovery may have versions that the server has no more. What runs on waits for a
    // server that is away, with what is kept where that will do; what ends says so at once.
    std::vector<std::string> types;
    for (const auto& word : words) types.push_back(word.type);
    if (runs_on() && session_.known(types) == nullptr) {
      session_.await_server(flags_.stream.backoff, [this](const Error& error) {
        context_.err << base::escape_for_terminal(base::one_line(error.render()))
                     << "; asking again until it answers" << std::endl;
      });
    }
    const auto now = session_.resources();
    if (!now.ok() && (!runs_on() || !client::may_come_back(now.error()))) return now.error();
    for (const auto& word : words) {
      KW_ASSIGN(const auto resolved, session_.resolve(word.type));
      flags_.recording.note(resolved);
      for (const auto& type : resolved) {
        asked_.push_back({type, word.names, names_version(word.type, type.gvk)});
      }
    }
    return plan_kinds(flags_, asked_, session_.client().config().namespace_);
  }

  // Another cluster has other objects, and its resourceVersions mean nothing here. Where only the
  // URL or the authority is another one this costs a list.
  void drop_foreign(const client::ServerIdentity& server) {
    const std::string why = why_foreign(saved_.kinds, server);
    if (why.empty()) return;
    context_.err << base::escape_for_terminal(fmt::format(
                        "{} was {}: its objects are not used, all is read anew", flags_.from, why))
                 << "\n";
    saved_.clear();
  }

  // Saved caches that nothing is asked of would be left out in silence.
  void tell_unused(const std::vector<KindPlan>& plans) const {
    for (const auto& plan : plans) {
      if (saved_.kinds.empty() || saved_for(plan) != nullptr) continue;
      context_.err << base::escape_for_terminal(fmt::format("{} holds no cache of {}: it is read "
                                                            "anew",
                                                            flags_.from, plan.text()))
                   << "\n";
    }
  }

  const SavedKind* saved_for(const KindPlan& plan) const {
    for (const auto& saved : saved_.kinds) {
      const KindPlan& has = saved.plan;
      if (has.type.gvk == plan.type.gvk && has.namespace_ == plan.namespace_ &&
          has.name == plan.name) {
        return &saved;
      }
    }
    return nullptr;
  }

  int open(std::vector<KindPlan> plans) {
    const bool serving = flags_.mode() == ReflectMode::serve;
    if (serving) {
      auto started = CacheServing::start(session_.client(), flags_);
      if (!started.ok()) return fail(context_, started.error());
      serving_ = std::move(*started);
    }
    follow_versions();
    for (auto& plan : plans) {
      kinds_.push_back(
          std::make_unique<CachedKind>(session_.client(), session_.random(), plan, serving));
      CachedKind& kind = *kinds_.back();
      if (const SavedKind* saved = saved_for(kind.plan())) {
        auto loaded = kind.reflector().load(saved->bytes);
        if (!loaded.ok()) {
          return fail(context_, kUsage,
                      loaded.error().render() +
                          "; name no TYPE and no selector with --from to "
                          "have what the file holds");
        }
      }
      const auto failed = [this, of = &kind](const Error& error) {
        refused_.erase(of);
        failed_with_[of] = error.kind();
        if (error.is_not_found()) {
          versions_->not_found(*of, error);
          return refusal() != nullptr;
        }
        const bool answered = std::any_of(kinds_.begin(), kinds_.end(), [](const auto& one) {
          return one->reflector().answered();
        });
        const bool hopeless = !answered && session_.is_hopeless(error);
        if (hopeless || is_refusal(error)) refused_.emplace(of, error);
        return refusal() != nullptr;
      };
      if (serving) {
        serving_->add(kind, resource_of(kind.type()), failed);
      } else {
        kind.tell({{}, {}, {}, failed});
      }
    }
    // The caches hold what was in the file.
    saved_.clear();
    // What ends at the first sync would otherwise end with the file, however old it is.
    const bool lists = flags_.mode() == ReflectMode::once || flags_.mode() == ReflectMode::verify;
    for (const auto& kind : kinds_) lists ? kind->start_with_list() : kind->start();
    return kDone;
  }

  // An upgrade may take the version away that is listed, or have done so before a saved cache of it
  // came here.
  void follow_versions() {
    KindVersions::Told told;
    told.refused = [this](CachedKind& kind, const Error& error) {
      refused_.insert_or_assign(&kind, error);
    };
    told.goes_on = [this](CachedKind& kind, const core::Gvk& before) {
      for (AskedKind& one : asked_) {
        if (one.type.gvk == before) one.type = kind.type();
      }
      const std::string recorded = flags_.recording.note_version(kind.type());
      if (!recorded.empty()) base::log_warn(recorded);
    };
    versions_.emplace(session_.client(), serving_.get(), std::move(told));
  }

  apiserver::ResourcePtr resource_of(const core::ResourceType& type) {
    apiserver::ResourcePtr out;
    client::InFlight requests;
    serving_->find_resource(requests, session_.client(), type,
                            [&](apiserver::ResourcePtr found) { out = std::move(found); });
    session_.loop().run_until([&] { return out != nullptr || interrupted_; }, kFirstSync);
    return out == nullptr ? serving_->resource_of(type, nullptr) : out;
  }

  bool all_synced() const {
    return std::all_of(kinds_.begin(), kinds_.end(), [](const auto& k) { return k->synced(); });
  }

  // That a kind may not be read at all ends what needs all of them; what goes on until it is
  // stopped only when there is no other kind.
  const Error* refusal() const {
    const Error* first = nullptr;
    std::size_t refused = 0;
    for (const auto& kind : kinds_) {
      const auto found = refused_.find(kind.get());
      if (found == refused_.end() || kind->synced()) continue;
      if (++refused == 1) first = &found->second;
    }
    return ends() || refused == kinds_.size() ? first : nullptr;
  }

  // Exit codes; kDone: all are complete.
  int first_sync() {
    session_.loop().run_until([&] { return refusal() || interrupted_ || all_synced(); },
                              std::max(synced_by_ - session_.loop().now(), Duration{0}));
    if (const Error* refused = refusal()) return fail(context_, *refused);
    if (interrupted_) return fail(context_, kFailed, "interrupted before the cache was complete");
    for (const auto& kind : kinds_) {
      if (kind->synced()) continue;
      const auto failure = kind->reflector().last_failure();
      const bool reached = failure && kind->reached_since_failure();
      const auto how = failed_with_.find(kind.get());
      const bool gone = failure && !reached && how != failed_with_.end() &&
                        how->second == base::ErrorKind::unreachable;
      return fail(context_, gone ? kUnreachable : kTimedOut,
                  fmt::format("timed out reading {}: {}{}", kind->name(),
                              reached ? "the server was reached again, and what it tells was not "
                                        "whole in time; before that "
                                      : "",
                              failure.value_or("no answer yet")));
    }
    return flags_.recording.replays() ? whole_recording() : kDone;
  }

  // The state in which the recording leaves the caches is the one that is asked about.
  int whole_recording() {
    session_.loop().run_until([&] { return told_all_ || refusal() || interrupted_; }, kForEver);
    if (const Error* refused = refusal()) return fail(context_, *refused);
    if (!told_all_)
      return fail(context_, kFailed, "interrupted before the recording was at its end");
    return kDone;
  }

  // Of those that may not be read nothing is to come for now.
  bool settled() const {
    return std::all_of(kinds_.begin(), kinds_.end(), [this](const auto& kind) {
      return kind->synced() || refused_.count(kind.get()) != 0;
    });
  }

  // A kind that may not be read would hold back the others for ever, and is left out. One that is
  // still listed holds them back: the file may hold it from the last time.
  int save(bool at_end = true) {
    if (flags_.snapshot.empty()) return kDone;
    std::vector<std::string> refused, coming;
    for (const auto& kind : kinds_) {
      if (kind->store().ready()) continue;
      (refused_.count(kind.get()) != 0 ? refused : coming).push_back(kind->name());
    }
    if (!coming.empty() || refused.size() == kinds_.size()) {
      const std::vector<std::string>& lacking = coming.empty() ? refused : coming;
      std::string why = "the cache is not complete, and was not saved";
      if (!lacking.empty()) why += ": " + base::join(lacking, ", ");
      if (at_end) return fail(context_, kFailed, flags_.snapshot + ": " + why);
      base::log_warn(why, {{"file", flags_.snapshot}});
      return kDone;
    }
    if (!refused.empty()) {
      base::log_warn("caches that may not be read were left out of what was saved",
                     {{"file", flags_.snapshot}, {"caches", base::join(refused, ", ")}});
    }
    auto written =
        write_saved(flags_.snapshot, client::identity_of(session_.client().config()), kinds_);
    if (!written.ok()) return fail(context_, kFailed, written.error().render());
    return kDone;
  }

  // ---------------------------------------------------------------- --once, --query

  int run_once() {
    if (const int code = first_sync(); code != kDone) return code;
    const std::string& output = query_.output();
    if (flags_.mode() == ReflectMode::query ||
        (!output.empty() && output != "stats" && output != "json")) {
      const auto code = query_.from_kinds(context_, flags_, kinds_, asked_, session_);
      const int printed = code.ok() ? *code : fail(context_, code.error());
      const int saved = save();
      return printed != kDone ? printed : saved;
    }
    const auto figures = figures_of(kinds_, session_.loop().now());
    const auto process = process_figures(session_.loop().now() - began_);
    if (json()) {
      context_.out << shown_json(base::dump_json(figures_json(figures, process))) << "\n";
    } else {
      context_.out << figures_text(figures, process);
    }
    return save();
  }

  // ---------------------------------------------------------------- --estimate

  int run_estimate(const std::vector<KindPlan>& plans) {
    std::vector<Estimate> all;
    for (const auto& plan : plans) {
      core::ListParams params;
      params.label_selector = plan.watch.label_selector;
      params.field_selector = plan.watch.field_selector;
      params.limit = flags_.sample.value_or(kSample);
      std::optional<Sampler> sampler;
      const auto page = session_.wait_patiently<core::ListPage>([&](auto done) {
        sampler.emplace(plan.text());
        return session_.client().list_items(
            plan.type, plan.namespace_, params,
            [&sampler](std::string_view item) { sampler->add(item); }, std::move(done));
      });
      if (!page.ok()) return fail(context_, page.error());
      runtime::StoreOptions store = plan.store;
      store.type = plan.type.gvk;
      store.content = plan.watch.content;
      all.push_back(estimate(sampler->finish(*page), store));
    }
    if (json()) {
      context_.out << shown_json(base::dump_json(estimate_json(all))) << "\n";
    } else {
      context_.out << estimate_text(all);
    }
    return kDone;
  }

  // ---------------------------------------------------------------- --verify

  int run_verify() {
    if (const int code = first_sync(); code != kDone) return code;
    std::vector<std::string> names;
    for (const auto& kind : kinds_) names.push_back(kind->name());
    VerifyTally tally(names);
    using End = VerifyTally::End;
    End end = End::whole;
    const std::uint32_t rounds = flags_.rounds.value_or(1);
    for (std::uint32_t round = 0; end == End::whole && (rounds == 0 || round < rounds); ++round) {
      if (round > 0) {
        session_.loop().run_until([&] { return interrupted_; },
                                  flags_.interval.value_or(kVerifyEvery));
      }
      if (interrupted_) {
        end = End::interrupted;
        break;
      }
      auto ended = verify_round(tally);
      if (!ended.ok()) return fail(context_, ended.error());
      end = *ended;
    }
    const int saved = save();
    const auto verdict = tally.verdict(end);
    if (!verdict.message.empty()) return fail(context_, verdict.code, verdict.message);
    return saved != kDone ? saved : verdict.code;
  }

  Result<VerifyTally::End> verify_round(VerifyTally& tally) {
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      const auto& kind = kinds_[i];
      // What is held of the version before would differ in all objects.
      session_.loop().run_until([&] { return !kind->store().of_another_version() || interrupted_; },
                                kFirstSync);
      std::optional<Result<Verified>> answer;
      VerifyRound one(session_.client(), *kind,
                      [&](Result<Verified> found) { answer.emplace(std::move(found)); });
      session_.loop().run_until([&] { return answer || interrupted_; }, Duration{3600000});
      if (!answer)
        return interrupted_ ? VerifyTally::End::interrupted : VerifyTally::End::timed_out;
      KW_TRY(*answer);
      tally.add(i, **answer);
      if (json()) {
        context_.out << shown_json(base::dump_json(drift_json(*kind, **answer))) << std::endl;
      } else {
        context_.out << drift_text(*kind, **answer) << std::flush;
      }
    }
    tally.round_done();
    return VerifyTally::End::whole;
  }

  // ---------------------------------------------------------------- until stopped

  std::optional<apiserver::ReadCounters> served() const {
    if (!serving_) return std::nullopt;
    return serving_->server().counters();
  }

  int run_on() {
    ServedConfig config(kReflectContext, "kubewatch reflect");
    if (serving_) {
      auto written = config.write(serving_->config(session_.client().config().namespace_),
                                  flags_.kubeconfig_out);
      if (!written.ok()) return fail(context_, written.error());
      context_.out << "serving on " << serving_->server().url() << "\n"
                   << export_line(*written) << std::endl;
    }
    auto metrics = flags_.metrics.serve(
        session_.loop(), {[&] { return facts_of(figures_of(kinds_, session_.loop().now())); },
                          [&](const hooks::EngineFacts&, bool ready) {
                            return metrics_of(figures_of(kinds_, session_.loop().now()),
                                              process_figures(session_.loop().now() - began_),
                                              served(), ready);
                          }});
    if (!metrics.ok()) return fail(context_, metrics.error());
    loop::Timer status;
    loop::Timer saving;
    follow(status);
    save_often(saving);
    // A served cache stays as the recording left it.
    const auto over = [&] { return told_all_ && !serving_; };
    session_.loop().run_until([&] { return interrupted_ || over() || refusal(); }, kForEver);
    if (::isatty(STDERR_FILENO) != 0) context_.err << "\n";
    if (const Error* refused = refusal(); !interrupted_ && refused) return fail(context_, *refused);
    return save();
  }

  void save_often(loop::Timer& timer) {
    if (!flags_.snapshot_interval) return;
    timer = session_.loop().after(*flags_.snapshot_interval, [&] {
      (void)save(false);  // it has said what failed; the next one may not
      save_often(timer);
    });
  }

  // A line that is written over on a terminal; elsewhere one whenever a kind becomes complete,
  // fails or is listed anew.
  void follow(loop::Timer& timer) {
    const auto line = [&] {
      return status_line(figures_of(kinds_, session_.loop().now()), served());
    };
    if (::isatty(STDERR_FILENO) != 0) {
      const std::size_t width = terminal_of(context_.global.color, STDERR_FILENO).width;
      context_.err << "\r\x1b[K" << (width > 1 ? cut_to_width(line(), width - 1) : line())
                   << std::flush;
    } else {
      std::string news;
      for (const auto& kind : kinds_) {
        news += fmt::format("{} {};", kind->syncs(), kind->reflector().last_failure().has_value());
      }
      if (news != last_news_ && settled()) {
        last_news_ = news;
        context_.err << line() << std::endl;
      }
    }
    timer = session_.loop().after(kStatusEvery, [this, &timer] { follow(timer); });
  }

  Context& context_;
  Session& session_;
  ReflectFlags& flags_;
  const ReflectQuery& query_;
  SavedFile& saved_;
  const bool& told_all_;
  std::vector<AskedKind> asked_;
  CachedKinds kinds_;
  std::unique_ptr<CacheServing> serving_;  // reads the caches
  std::optional<KindVersions> versions_;
  std::map<const CachedKind*, Error> refused_;                // whose last failure was final
  std::map<const CachedKind*, base::ErrorKind> failed_with_;  // last
  bool interrupted_ = false;
  std::string last_news_;
  TimePoint began_{};
  TimePoint synced_by_{};
};

}  // namespace

int run_reflect(Context& context, ReflectFlags& flags, const ReflectQuery& query,
                SavedFile& saved) {
  bool told_all = false;
  auto session = flags.recording.open(context.global.config, [&] { told_all = true; });
  if (!session.ok()) return fail(context, session.error());
  ReflectRun run(context, **session, flags, query, saved, told_all);
  const int reflected = run.run();
  return fail_too(context, reflected, flags.recording.end());
}

}  // namespace kubewatch::cli
