#include "cli/watch/watch_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <ostream>
#include <utility>

#include "base/log.hpp"
#include "base/strings.hpp"
#include "cli/exit_code.hpp"
#include "cli/flags.hpp"
#include "cli/interrupt.hpp"
#include "cli/quoted_values.hpp"
#include "cli/watch/checkpoint.hpp"
#include "cli/watch/event_filter.hpp"
#include "cli/watch/output.hpp"
#include "cli/watch/stdout_reader.hpp"
#include "cli/watch/views.hpp"
#include "cli/watched_output.hpp"
#include "hooks/counting_transport.hpp"

namespace kubewatch::cli::watch {

namespace {

constexpr Duration kCheckpointEvery{30000};
constexpr Duration kReaderLook{1000};  // whether the reader took what was printed
constexpr Duration kReaderLookAtEnd{20};
constexpr std::uint64_t kToldProblems = 10;  // of --when and --fields; further ones are counted

using Counts = hooks::CountingTransport::Counts;

class Run {
 public:
  Run(Context& context, const RunOptions& options, SessionRecording& recording)
      : context_(context),
        options_(options),
        recording_(recording),
        stdout_(context.out.rdbuf() == std::cout.rdbuf() ? STDOUT_FILENO : -1) {}

  int run();

 private:
  Result<void> open_sessions();
  Result<void> prepare();
  Result<void> check_reads() const;
  Result<std::vector<Wanted>> wanted_objects();
  SourceOptions source_options();
  SourceCallbacks source_callbacks();
  void start_timers();
  void time_is_up();
  void watch_reader();
  void fetch_columns(Session& session, const core::ResourceType& type, std::function<void()> go_on);
  void on_change(const SourceInfo& source, const runtime::StoreChange& change, bool resumed);
  void on_synced(const SourceInfo& source, bool gap, bool resumed);
  bool passes(Event& event);
  bool whole(const Event& event, const char* flag);
  void exec(const Event& event);
  void note(const std::string& text);
  void problem(const Event& event, const Error& error);
  void tell_stats();
  void save_checkpoint();
  void save_told_parts();
  void write_parts(const Result<CheckpointParts>& parts);
  void note_unseen(const runtime::StoreChange& change);
  void end(int code, const std::string& why = "");
  void interrupted();
  void broken_stdout();
  void tell_unwritten();
  void save_last_parts();
  void await_reader();
  void stop();

  Context& context_;
  const RunOptions& options_;
  SessionRecording& recording_;
  loop::EventLoop loop_;
  std::vector<std::pair<std::string, std::unique_ptr<Session>>> sessions_;
  std::map<std::string, std::shared_ptr<Counts>> counts_;  // by context
  EventFilter filter_;
  EndRule end_;
  std::unique_ptr<View> view_;
  TableView* table_ = nullptr;  // view_, when it is one
  std::unique_ptr<Output> output_;
  std::unique_ptr<ExecRunner> exec_;
  std::unique_ptr<SourceSet> sources_;
  std::vector<client::PendingPtr> columns_;
  std::map<std::size_t, std::size_t> initial_;  // shown, by the source's group
  loop::Timer deadline_, stats_timer_, checkpoint_timer_;
  StdoutReader stdout_;
  loop::FdWatch reader_;  // of stdout, where it is a pipe
  loop::Timer reader_timer_;
  std::optional<TimePoint> reader_until_;  // it has so long to take what was printed
  TimePoint started_{};
  std::uint64_t problems_ = 0;
  bool changed_ = false;  // since the checkpoint was written
  core::ObjectKey told_last_;
  // They wait for the reader to take all that was printed up to there.
  std::optional<Result<CheckpointParts>> told_parts_;
  std::uint64_t told_bytes_ = 0;
  std::optional<Result<CheckpointParts>> last_parts_;  // as it was when the end was decided
  bool ending_turn_ = false;                           // the turn in which it was
  Undelivered undelivered_;                            // of what they have
  bool ended_ = false;
  bool stopped_ = false;
  int code_ = kFailed;
};

int Run::run() {
  started_ = loop_.now();
  loop_.warn_of_slow_turns();
  if (auto ready = prepare(); !ready.ok()) return fail(context_, ready.error());
  Interrupt interrupt(
      loop_, [this] { interrupted(); },
      [this] {
        if (exec_ != nullptr) exec_->terminate();
      });
  sources_->start();
  watch_reader();
  start_timers();
  loop_.run();
  if (!stopped_) return fail(context_, kFailed, "the event loop ended by itself");
  return code_;
}

Result<void> Run::open_sessions() {
  const std::vector<std::string> contexts =
      options_.contexts.empty() ? std::vector<std::string>{""} : options_.contexts;
  for (const std::string& name : contexts) {
    client::ConfigOverrides overrides = context_.global.config;
    if (!name.empty()) overrides.context = name;
    if (!options_.namespaces.empty()) overrides.namespace_ = options_.namespaces.front();
    auto session = recording_.open(
        overrides,
        [this] {
          if (end_.timed_out_is_failure()) {
            return end(kTimedOut, "the recording ends before --until " + end_.until());
          }
          end(kDone);
        },
        &loop_);
    if (!session.ok() && contexts.size() > 1) {
      return std::move(session).error().with_context("context " + name);
    }
    if (!session.ok()) return std::move(session).error();
    const std::string key = contexts.size() > 1 ? name : "";
    if (options_.stats || options_.stats_interval) {
      const auto counts = counts_[key] = std::make_shared<Counts>();
      (*session)->wrap_transport([&](http::Transport& inner) {
        return std::make_unique<hooks::CountingTransport>(inner, counts);
      });
    }
    sessions_.emplace_back(key, std::move(*session));
  }
  return {};
}

Result<void> Run::prepare() {
  KW_ASSIGN(auto wanted, wanted_objects());
  KW_ASSIGN(filter_, EventFilter::parse(options_.fields, options_.when));
  KW_ASSIGN(end_, EndRule::parse(options_.end));
  KW_TRY(check_reads());
  KW_ASSIGN(view_, make_view(options_, wanted, filter_.field_names()));
  table_ = dynamic_cast<TableView*>(view_.get());
  SourceOptions sources = source_options();
  if (!options_.checkpoint.empty()) {
    KW_ASSIGN(sources.loaded, read_checkpoint(options_.checkpoint));
  }
  KW_TRY(open_sessions());
  output_ = std::make_unique<Output>(
      loop_, context_.out, *view_, [this] { broken_stdout(); },
      context_.out.rdbuf() == std::cout.rdbuf() ? std::make_unique<StdoutWriter>(STDOUT_FILENO)
                                                : nullptr);
  if (end_.duration()) output_->end_at(started_ + *end_.duration());
  if (!options_.exec.command.empty()) {
    exec_ = std::make_unique<ExecRunner>(loop_, options_.exec, [this](std::string_view text) {
      output_->flush();  // what was printed before
      output_->buffer() +=
          options_.terminal.tty ? base::escape_for_terminal(text, true) : std::string(text);
      // What follows has a line of its own.
      if (!text.ends_with('\n')) output_->buffer() += '\n';
      output_->added();
    });
  }
  std::vector<std::pair<std::string, Session*>> sessions;
  for (auto& [name, session] : sessions_) sessions.emplace_back(name, session.get());
  sources_ = std::make_unique<SourceSet>(std::move(sessions), std::move(wanted), std::move(sources),
                                         source_callbacks());
  return {};
}

Result<void> Run::check_reads() const {
  if (!options_.content.metadata_only) return {};
  const MetadataReads kept;
  KW_TRY(filter_.check(kept));
  KW_TRY(end_.check(kept));
  return kept.check_format(options_.output, MetadataReads::Input::object);
}

Result<std::vector<Wanted>> Run::wanted_objects() {
  if (!options_.resources.from_files()) return wanted_of(options_.resources.words);
  KW_ASSIGN(const auto manifests, read_resource_files(loop_, options_.resources));
  if (manifests.empty()) return nothing_in_files(options_.resources);
  return wanted_of(manifests, options_.namespaces.empty() ? "" : options_.namespaces.front());
}

SourceOptions Run::source_options() {
  SourceOptions out;
  out.stream = options_.stream;
  out.stream.content = content_of(options_.content);
  // Of files it chose among the manifests.
  if (!options_.resources.from_files()) {
    out.stream.label_selector = options_.resources.selection.label_selector;
  }
  out.stream.field_selector = options_.resources.selection.field_selector;
  out.store = store_options(options_.content);
  // Who changed what is in them.
  if (options_.diff) out.store.keep_managed_fields = true;
  out.namespaces = options_.namespaces;
  out.all_namespaces = options_.resources.selection.all_namespaces;
  out.want_previous = options_.diff || !filter_.empty() || end_.wants_object();
  out.wait_for_types = !recording_.replays();
  return out;
}

SourceCallbacks Run::source_callbacks() {
  SourceCallbacks out;
  out.on_change = [this](const SourceInfo& source, const runtime::StoreChange& change,
                         bool resumed) { on_change(source, change, resumed); };
  out.on_synced = [this](const SourceInfo& source, bool gap, bool resumed) {
    on_synced(source, gap, resumed);
  };
  out.on_failure = [this](const SourceInfo&, runtime::WatcherFailure where, const Error& error) {
    // A recording that does not have it will never have it.
    const bool hopeless = where == runtime::WatcherFailure::initial_list;
    if (recording_.replays() && hopeless) end(exit_code_of(error), error.render());
  };
  out.on_note = [this](const std::string& text) { note(text); };
  out.on_nothing_left = [this](const Error& error) { end(exit_code_of(error), error.render()); };
  out.prepare = [this](Session& session, const core::ResourceType& type,
                       std::function<void()> go_on) {
    fetch_columns(session, type, std::move(go_on));
  };
  out.on_types = [this] {
    const auto types = sources_->types();
    recording_.note(types);
    if (table_ != nullptr && types.size() > 1) table_->of_several_types();
  };
  out.on_version = [this](const core::ResourceType& now) {
    if (const auto text = recording_.note_version(now); !text.empty()) note(text);
  };
  return out;
}

// A custom kind's columns are in its definition; who may not read it gets NAME and AGE. So does
// every kind of which metadata alone is kept: other columns would be made up.
void Run::fetch_columns(Session& session, const core::ResourceType& type,
                        std::function<void()> go_on) {
  if (table_ == nullptr || !options_.fields.empty()) return go_on();
  if (options_.content.metadata_only) {
    table_->set_columns(type, plain_columns());
    return go_on();
  }
  if (builtin_columns_of(type)) return go_on();
  columns_.push_back(
      cli::fetch_columns(session.client(), type, [this, type, go_on = std::move(go_on)](auto made) {
        table_->set_columns(type, std::move(made));
        go_on();
      }));
}

// A reader that goes away is seen at once, and not with the next event, which may never come.
void Run::watch_reader() {
  const bool writes = (::fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_WRONLY;
  if (!stdout_.is_pipe() || !writes) return;
  reader_ = loop_.on_readable(STDOUT_FILENO, [this] {
    if (!stdout_.gone()) return;
    loop_.post([this] { reader_ = {}; });  // it would be told in every turn
    if (!ended_) output_->lose_reader();
  });
}

void Run::start_timers() {
  if (end_.duration()) {
    const Duration left = started_ + *end_.duration() - loop_.now();
    deadline_ = loop_.after(std::max(left, Duration{0}), [this] { time_is_up(); });
  }
  if (options_.stats_interval) {
    stats_timer_ = loop_.after(*options_.stats_interval, [this] { tell_stats(); });
  }
  if (!options_.checkpoint.empty()) {
    checkpoint_timer_ = loop_.after(kCheckpointEvery, [this] { save_checkpoint(); });
  }
}

// --duration counts from the start of the command: a server that does not even say what it has ends
// it, too.
void Run::time_is_up() {
  const std::string within = base::format_duration(*end_.duration());
  const std::string unread = base::join(sources_->unread(), ", ");
  if (end_.timed_out_is_failure()) {
    return end(kTimedOut,
               fmt::format("timed out: --until {} was not met within {}{}{}", end_.until(), within,
                           unread.empty() ? "" : "; not read: ", unread));
  }
  if (unread.empty()) return end(kDone);
  end(kTimedOut, fmt::format("timed out: not read within {}: {}", within, unread));
}

void Run::on_change(const SourceInfo& source, const runtime::StoreChange& change, bool resumed) {
  if (change.initial && (options_.watch_only || resumed)) return;
  if (ended_) return note_unseen(change);
  changed_ = true;
  told_last_ = change.meta.key();
  Event event(source, change);
  if (!passes(event)) return;
  if (change.initial) ++initial_[source.group];
  auto shown = view_->event(event, loop_.wall(), output_->buffer());
  if (!shown.ok()) problem(event, shown.error());
  output_->added();
  exec(event);
  if (ended_) return;
  std::optional<EventView> view;
  if (end_.wants_object() && (!end_.reads_content() || whole(event, "--until"))) {
    view = event.view();
  }
  const auto verdict = end_.note(view ? &*view : nullptr);
  if (!verdict.ok()) return problem(event, without_quoted_values(verdict.error(), event.object()));
  if (*verdict == EndRule::Verdict::goes_on) return;
  if (*verdict == EndRule::Verdict::met || !end_.timed_out_is_failure()) return end(kDone);
  end(kTimedOut,
      fmt::format("--until {} was not met within {} events", end_.until(), end_.shown()));
}

bool Run::passes(Event& event) {
  if (filter_.empty()) return true;
  if (!whole(event, filter_.has_fields() ? "--fields" : "--when")) return false;
  auto fields = filter_.look(event.view());
  if (!fields.ok()) {
    problem(event, without_quoted_values(fields.error(), event.object()));
    return false;
  }
  if (!*fields) return false;
  event.fields = std::move(**fields);
  return true;
}

// Nothing is decided by what lacks.
bool Run::whole(const Event& event, const char* flag) {
  if (!event.change().reduced) return true;
  problem(event, Error(ErrorKind::too_large, runtime::why_reduced("it")).with_context(flag));
  return false;
}

void Run::exec(const Event& event) {
  if (exec_ == nullptr || exec_->run(event)) return;
  ++undelivered_.commands;
  end(kFailed,
      "10000 events, or 256 MiB of them, wait for --exec besides those of lists: it is slower than "
      "what happens");
}

void Run::on_synced(const SourceInfo& source, bool gap, bool resumed) {
  if (ended_) return;
  changed_ = true;
  if (gap) {
    view_->gap(source, output_->buffer());
    return output_->added();
  }
  if (resumed || options_.watch_only) return;
  view_->synced(source, initial_[source.group], output_->buffer());
  output_->added();
}

void Run::note(const std::string& text) {
  context_.err << base::escape_for_terminal(base::one_line(text)) << "\n";
  context_.err.flush();
}

// A program that fails on one object fails on many: the first are told, the rest are counted.
void Run::problem(const Event& event, const Error& error) {
  if (++problems_ <= kToldProblems) {
    base::log_warn("an event cannot be judged or shown",
                   {{"kind", event.source().type.gvk.kind},
                    {"object", event.change().meta.key().str()},
                    {"error", error.render()}});
  }
}

void Run::tell_stats() {
  auto stats = sources_->stats();
  for (const auto& [context, counts] : counts_) {
    for (const auto& [kind, bytes] : *counts) {
      const auto found = stats.find(context.empty() ? kind : context + "/" + kind);
      if (found != stats.end()) found->second.bytes = bytes;
    }
  }
  context_.err << base::escape_for_terminal(
      stats_text(stats, end_.shown(), output_->lag(), loop_.now() - started_), true);
  context_.err.flush();
  if (options_.stats_interval && !ended_) {
    stats_timer_ = loop_.after(*options_.stats_interval, [this] { tell_stats(); });
  }
}

// What was printed was flushed before and taken by its reader, and the commands were run: a run
// that continues from here repeats rather than loses.
void Run::save_checkpoint() {
  if (ended_) return;
  output_->flush();
  if (ended_) return;  // it did not get out
  if (exec_ != nullptr && !exec_->idle()) {
    // In a turn of its own: a list may be half told when they are done.
    return exec_->when_idle(
        [this] { checkpoint_timer_ = loop_.after(Duration{0}, [this] { save_checkpoint(); }); });
  }
  if (std::exchange(changed_, false)) {
    told_parts_ = sources_->save();
    told_bytes_ = output_->written();
  }
  save_told_parts();
}

// What stands in a pipe is lost with its reader.
void Run::save_told_parts() {
  if (ended_) return;
  if (told_parts_ && !was_read(told_bytes_, output_->written(), stdout_.unread())) {
    checkpoint_timer_ = loop_.after(kReaderLook, [this] { save_told_parts(); });
    return;
  }
  if (told_parts_) write_parts(*std::exchange(told_parts_, std::nullopt));
  checkpoint_timer_ = loop_.after(kCheckpointEvery, [this] { save_checkpoint(); });
}

void Run::write_parts(const Result<CheckpointParts>& parts) {
  const auto saved =
      parts.ok() ? write_checkpoint(options_.checkpoint, *parts) : Result<void>(parts.error());
  if (saved.ok()) return;
  base::log_error("the checkpoint cannot be written", {{"error", saved.error().render()}});
  if (ended_ && code_ == kDone) code_ = kFailed;
}

// The end was decided in the middle of a list: all of it is in the cache, and so in the last parts.
// The two halves of a replaced object are told one after the other, too.
void Run::note_unseen(const runtime::StoreChange& change) {
  const bool of_a_list = change.initial || change.relisted;
  if (ending_turn_ && (of_a_list || change.meta.key() == told_last_)) ++undelivered_.of_a_list;
}

// What was begun is finished, what waits is not begun; while that is waited for, a signal ends it.
void Run::interrupted() {
  const bool waiting = ended_;
  const std::string why = end_.why_unmet();
  const auto unread = sources_->unread();
  if (!waiting && !unread.empty()) note("not read: " + base::join(unread, ", "));
  end(why.empty() ? kDone : kFailed, why);
  if (exec_ == nullptr) return;
  const std::size_t dropped = exec_->drop();
  if (dropped > 0) note(fmt::format("{} events were not given to --exec any more", dropped));
  undelivered_.commands += dropped;
  if (waiting) undelivered_.commands += exec_->terminate();
}

void Run::end(int code, const std::string& why) {
  if (ended_) return;
  ended_ = true;
  code_ = code;
  if (!why.empty()) code_ = fail(context_, code, why);
  told_parts_.reset();
  if (!options_.checkpoint.empty()) last_parts_ = sources_->save();
  ending_turn_ = true;
  output_->ending();
  // In a turn of its own: we may be inside a callback of what is about to go.
  loop_.post([this] {
    ending_turn_ = false;
    output_->flush();
    if (exec_ == nullptr) return await_reader();
    exec_->when_idle([this] { await_reader(); });
  });
}

// What ends us often ends the reader, too: first is seen whether it takes what it has not read yet,
// or dies. One that does neither is there, and slow.
void Run::await_reader() {
  output_->flush();
  if (!reader_until_) reader_until_ = loop_.now() + WritePatience::kGrace;
  const bool open = last_parts_ && !output_->broken() && output_->unwritten() == 0 &&
                    stdout_.unread() > 0 && !stdout_.gone();
  if (last_parts_ && stdout_.gone() && stdout_.unread() > 0) output_->lose_reader();
  if (!open || loop_.now() >= *reader_until_) return stop();
  reader_timer_ = loop_.after(kReaderLookAtEnd, [this] { await_reader(); });
}

// It may come with the last flush, when the end was taken for a good one.
void Run::broken_stdout() {
  const std::string why = cannot_write(context_.out, output_->broken_by());
  if (ended_ && code_ == kDone) code_ = fail(context_, kFailed, why);
  end(kFailed, why);
}

void Run::tell_unwritten() {
  if (output_->unwritten() == 0) return;
  const std::string what =
      fmt::format("stdout was not read: {} lines were not written", output_->unwritten());
  if (code_ == kDone) {
    code_ = fail(context_, kFailed, what);
  } else {
    note(what);
  }
}

void Run::save_last_parts() {
  if (!last_parts_) return;
  undelivered_.stdout_broken = output_->broken() || output_->unwritten() > 0;
  const std::string why = why_kept(undelivered_);
  if (why.empty()) return write_parts(*last_parts_);
  note(why + ": the checkpoint stays as it was, and the next run tells all of that again");
}

void Run::stop() {
  if (std::exchange(stopped_, true)) return;
  output_->flush();
  tell_unwritten();
  save_last_parts();
  code_ = fail_too(context_, code_, recording_.end());
  if (options_.stats || options_.stats_interval) tell_stats();
  if (problems_ > kToldProblems) {
    note(fmt::format("{} events could not be judged or shown", problems_));
  }
  if (exec_ != nullptr && exec_->failures() > 0 && code_ == kDone) {
    code_ =
        fail(context_, kFailed,
             fmt::format("--exec failed for {} of {} events", exec_->failures(), exec_->runs()));
  }
  loop_.stop();
}

}  // namespace

int run_watch(Context& context, const RunOptions& options, SessionRecording& recording) {
  return Run(context, options, recording).run();
}

}  // namespace kubewatch::cli::watch
