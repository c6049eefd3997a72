// The life of one run, from the end of its hook on.
#include "hooks/run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "hooks/close_kind.hpp"
#include "hooks/field_warnings.hpp"
#include "hooks/finalizer_patch.hpp"
#include "hooks/metric_mask.hpp"
#include "hooks/printed_secrets.hpp"
#include "hooks/secret_parts.hpp"
#include "hooks/shown_message.hpp"

namespace kubewatch::hooks {
namespace {

// Shown in the owner's status already.
bool shows_error(const std::string& object_json) {
  if (object_json.find(kErrorCondition) == std::string::npos) return false;
  const auto object = base::parse_json(object_json);
  const Json* conditions = object.ok() ? base::find(*object, {"status", "conditions"}) : nullptr;
  if (conditions == nullptr || !conditions->is_array()) return false;
  return std::any_of(conditions->begin(), conditions->end(), is_error_condition);
}

bool has_live_conditions(const std::string& object_json) {
  if (object_json.find("\"conditions\"") == std::string::npos) return false;
  const auto object = base::parse_json(object_json);
  return object.ok() && base::find(*object, {"status", "conditions"}) != nullptr;
}

std::optional<Duration> retry_after(const std::vector<Error>& failures) {
  std::optional<Duration> longest;
  for (const Error& error : failures) {
    if (error.status() == nullptr || !error.status()->retry_after_seconds) continue;
    const Duration wait{*error.status()->retry_after_seconds * 1000LL};
    if (!longest || wait > *longest) longest = wait;
  }
  return longest;
}

}  // namespace

Run::Run(RunHost& host, RunInput input, Done done)
    : host_(host),
      input_(std::move(input)),
      done_(std::move(done)),
      started_(host.services().loop.now()) {
  const core::ObjectMeta& meta = input_.object.meta;
  owner_ = {host_.owner_type().gvk, host_.owner_type().namespaced, meta.key(), meta.uid,
            meta.deleting() || input_.deleted};
  Services& services = host_.services();
  if (services.telemetry.traces != nullptr) {
    trace_ = std::make_shared<RunTrace>(*services.telemetry.traces, services.loop, services.random);
  }
  observer_ = std::make_shared<RunRequests>(log_fields(), trace_);
}

Run::~Run() {
  process_.reset();  // it may still be at work in its home
  if (homes_ != nullptr) homes_->give_back(home_);
}

bool Run::has_hook() const {
  return !input_.finalizing || host_.rule().finalize.has_value();
}

const HookRule& Run::hook() const {
  return input_.finalizing ? host_.rule().finalize->hook : host_.rule().reconcile;
}

base::LogFields Run::log_fields() const {
  base::LogFields fields = {{"controller", host_.rule().name},
                            {"object", owner_.str()},
                            {"reason", std::string(runtime::to_string(input_.work.reason))},
                            {"run", input_.id},
                            {"attempt", std::to_string(input_.work.attempt)}};
  if (trace_ != nullptr) fields.emplace_back("trace", trace_->ids().trace);
  return fields;
}

bool Run::has_status() const {
  return !input_.deleted && host_.owner_type().has_subresource("status");
}

void Run::terminate() {
  stopped_ = true;
  if (hook_running_) process_->terminate();
}

// What it has begun to write is stopped by the client's write gate where the lead was lost; else it
// is written.
void Run::abandon(std::string why) {
  dropped_ = std::move(why);
  terminate();
}

void Run::on_exit(HookExit exit) {
  const auto scope = traced();
  hook_running_ = false;
  list_files_.clear();
  // A token may have been renewed while it ran.
  for (const std::string& secret : host_.hooks().secrets_of(hook())) mask_.add_value(secret);
  if (guest_ != nullptr) mask_.merge(guest_->secrets());
  host_.hooks().revoke(home_);
  exit_ = std::move(exit);
  const bool counts = !dropped_ && reads_output(exit_, host_.rule().retry);
  if (hook().output_manifests && !counts) learn_printed();
  if (exit_.broken) exit_.broken = shown_message(mask_, *exit_.broken);
  if (!exit_.refused) tell_exchange();
  if (dropped_) {
    let_lines_go();
    return fail_dropped();
  }
  if (!hook().output_manifests) {
    log_output();
    return decide({}, HookOutput{});
  }
  if (!counts) return decide({}, std::nullopt);
  check_then_read();
}

// Of output that does not count: nobody else looks for Secrets in it. What only may be one is
// taken for one where the rule may print some: a worker's mask keeps what is learned.
void Run::learn_printed() {
  if (!may_print_secrets() && !names_secret(exit_.out)) return;
  printed_whole_ =
      mask_printed(exit_.out, !why_cut_off(exit_).empty(), mask_) && !exit_.output_overflow;
}

// The lines that waited for what the hook printed. Gives why they are kept to ourselves, where they
// are.
std::string Run::let_lines_go() {
  if (process_ == nullptr) return "";
  if (printed_whole_ || !may_print_secrets()) {
    process_->release(mask_);
    return "";
  }
  const std::string cut = why_cut_off(exit_);
  return process_->withhold(
      mask_, cut.empty()
                 ? "the hook may print Secrets and its stdout cannot be read, so they cannot be "
                   "masked; a hook that prints whole documents, or none, shows them"
                 : "the hook may print Secrets and " + cut +
                       ", so they cannot be masked; a hook that ends by itself shows them");
}

// A manifest that the schema refuses may be right under a schema that was changed meanwhile: then
// it is read again.
void Run::check_then_read() {
  if (host_.rule().apply.validate == Validate::none) return read_output(true, nullptr);
  const TimePoint now = host_.services().loop.now();
  host_.with_schemas(now - kSchemaAge, [this, now](const KindSchemas& schemas) {
    const auto scope = traced();
    schema_time_ = now;
    read_output(true, &schemas);
  });
}

void Run::tell_exchange() const {
  if (!host_.services().on_exchange) return;
  host_.services().on_exchange(
      {input_.id, host_.rule(), owner_, std::string(runtime::to_string(input_.work.reason)),
       input_.work.reason_object, input_.work.attempt, input_.finalizing, document_, exit_, mask_});
}

// Of a worker; what a process prints was logged as it came.
void Run::log_output() const {
  LineLimit limit(1000, Duration::max());
  const std::vector<std::string> lines = base::split(exit_.out, '\n');
  base::LogFields fields = log_fields();
  fields.emplace_back("stream", "stdout");
  for (const std::string& line : lines) {
    if (line.empty() || !limit.admit(TimePoint{})) continue;
    const bool cut = &line == &lines.back() && !why_cut_off(exit_).empty();
    base::log_info(cut ? mask_.mask_cut(line) : mask_.mask(line), fields);
  }
  if (limit.dropped() == 0) return;
  base::log_warn(fmt::format("{} lines of stdout were left out: too many", limit.dropped()),
                 fields);
}

void Run::read_output(bool may_rediscover, const KindSchemas* schemas) {
  const auto resources = host_.services().resources();
  OutputContext context{host_.rule(), owner_, [&](const core::Gvk& gvk) {
                          return resources ? resources->find(gvk) : nullptr;
                        }};
  context.meant_by = [&](const core::Gvk& gvk) {
    return resources ? close_kind(resources->all(), gvk) : "";
  };
  context.manifests_allowed = !input_.finalizing || host_.rule().finalize->apply;
  context.deleted = input_.deleted;
  context.max_output = hook().max_output;
  context.selects = [this](const StreamRule& stream, const std::string& namespace_) {
    return host_.caches().selects_namespace(stream, namespace_);
  };
  context.has_status = has_status();
  bool refused_by_schema = false;
  const auto take = [&](const Result<SchemaVerdict>& checked) {
    refused_by_schema = refused_by_schema || !checked.ok();
    return checked.ok() ? Result<bool>(*checked == SchemaVerdict::to_ask)
                        : Result<bool>(checked.error());
  };
  if (schemas != nullptr) {
    context.check_schema = [&](const core::Gvk& gvk, const Json& manifest) {
      return take(schemas->check(gvk, manifest));
    };
  }
  // Where the hook gives up nothing else is written: the server may judge, and the failure stays
  // what it is.
  if (schemas != nullptr && !gives_up(exit_.code.value_or(0), host_.rule().retry)) {
    context.check_status = [&](const HookResult& result) {
      return take(schemas->check_status(owner_.gvk, result.status, result.conditions));
    };
  }
  auto output =
      exit_.is_list ? parse_output_list(exit_.out, context) : parse_output(exit_.out, context);
  // Of an object that goes or is let go, nothing is left that `prune` could be said of.
  if (output.ok() && output->result && output->result->children_none && !input_.finalizing &&
      !host_.rule().apply.prune) {
    output = Error(ErrorKind::invalid,
                   "children: none removes all children, and apply.prune: false in the rule says "
                   "that none is removed: change one of the two");
  }
  if (!output.ok()) {
    if (refused_by_schema && !schemas_renewed_) {
      schemas_renewed_ = true;
      return host_.with_schemas(schema_time_, [this](const KindSchemas& renewed) {
        const auto scope = traced();
        read_output(true, &renewed);
      });
    }
    // A kind that is unknown now may have come since the last discovery.
    if (output.error().is_not_found() && may_rediscover) {
      return host_.services().rediscover([this, schemas] { read_output(false, schemas); });
    }
    learn_printed();
    OutputFacts facts;
    facts.problem = "invalid output: " + shown_message(mask_, output.error().render());
    return decide(std::move(facts), std::nullopt);
  }
  for (const auto* list : {&output->manifests, &output->create}) {
    for (const Manifest& manifest : *list) mask_.add_object(manifest.object);
  }
  for (const PatchTarget& patch : output->patches) {
    if (is_secret(patch.type.gvk)) mask_patch(patch.patch, mask_);
  }
  warn_of_fields(*output);
  OutputFacts facts;
  facts.has_result = output->result.has_value();
  if (output->result) {
    facts.result_message = message_line(mask_.mask(output->result->message));
    for (Json& condition : output->result->conditions) {
      if (Json* message = base::find(condition, {"message"}); message && message->is_string()) {
        *message = mask_.mask(message->get<std::string>());
      }
    }
    requeue_after_ = output->result->requeue_after;
  }
  decide(std::move(facts), std::move(*output));
}

void Run::warn_of_fields(const HookOutput& output) const {
  for (const Manifest& manifest : output.manifests) {
    const auto found = field_warnings(manifest.object, 3);
    if (!found.empty()) host_.warn_of_fields(manifest.id().str(), base::join(found, ", "));
  }
}

void Run::decide(OutputFacts facts, std::optional<HookOutput> output) {
  const std::string withheld = let_lines_go();
  verdict_ = judge(exit_, hook(), host_.rule().retry, facts);
  const bool failed = verdict_.outcome != Outcome::done && verdict_.outcome != Outcome::not_yet;
  if (failed) host_.hooks().credentials_failed(hook());
  if (failed && process_ != nullptr && !process_->last_line().empty() && !facts.has_result) {
    verdict_.message += " (last line of stderr: " + process_->last_line() + ")";
  }
  if (failed && !withheld.empty()) verdict_.message += " (" + withheld + ")";
  if (output && output->result && output->result->children_none &&
      verdict_.outcome == Outcome::not_yet) {
    add_to_message("children: none removes none with exit code 75: it counts with 0");
  }
  const bool writes =
      output && (verdict_.writes_children() || verdict_.outcome == Outcome::permanent);
  if (!writes) return conclude();
  if (verdict_.outcome == Outcome::permanent && !hook().output_manifests) return conclude();
  auto shared = std::make_shared<HookOutput>(std::move(*output));
  auto plan = [this, shared](bool has_conditions, const std::string& object) {
    PlanInput input{host_.rule(), owner_, verdict_};
    input.finalizing = input_.finalizing;
    input.has_finalizer =
        !input_.deleted && input_.object.meta.has_finalizer(host_.rule().finalizer_name);
    // The object that the run began with may be older than what an earlier run wrote into it.
    input.shows_error = shows_error(object) || host_.memory().status(owner_.uid).shows_error;
    input.has_conditions = has_conditions;
    printed_itself_ = shared->own.has_value() && verdict_.writes_children();
    write(make_plan(std::move(*shared), input), has_conditions);
  };
  if (!has_status()) return plan(false, "");
  with_status([this, plan](const std::string& object) {
    host_.with_status_shape(
        host_.services().loop.now() - kSchemaAge, [plan, object](const StatusShape& shape) {
          plan(shape.known ? shape.conditions : has_live_conditions(object), object);
        });
  });
}

// The object with its status: a cache of metadata has to ask for it. "" when it cannot be had: the
// writes will meet what is wrong.
void Run::with_status(std::function<void(const std::string& object)> then) {
  if (host_.rule().for_.list.content == core::Content::full) return then(input_.object.json);
  status_request_ = host_.client().get(host_.owner_type(), owner_.key,
                                       [then = std::move(then)](const Result<Json>& live) {
                                         then(live.ok() ? base::dump_json(live.value()) : "");
                                       });
}

void Run::write(WritePlan plan, bool has_conditions) {
  const auto scope = traced();  // the schema may have been asked for by another run
  if (dropped_) return fail_dropped();
  events_ = std::move(plan.events);
  metrics_ = std::move(plan.metrics);
  remove_children_ = plan.remove_children;
  if (input_.keep_printed) {
    for (const Manifest& manifest : plan.manifests) {
      printed_[manifest.id().str()] = manifest.object;
    }
    for (const PatchTarget& patch : plan.patches) {
      std::string name = "patch of " + patch.id().str();
      for (int n = 2; printed_.count(name) > 0; ++n) {
        name = fmt::format("patch {} of {}", n, patch.id().str());
      }
      printed_[std::move(name)] = patch.patch;
    }
  }
  writer_ = std::make_unique<OutcomeWriter>(
      host_, OutcomeInput{owner_, input_.object.meta, has_conditions, mask_, log_fields()},
      std::move(plan));
  owner_in_doubt() ? look_for_owner() : start_writes();
}

// What is written for an object that is gone would be nobody's. Whoever gives up writes its status
// alone, which looks for the object itself.
bool Run::owner_in_doubt() const {
  return verdict_.writes_children() && hook().output_manifests && !input_.deleted &&
         !input_.finalizing && !host_.caches().has_object(owner_.key, owner_.uid);
}

// It may only have left the selection: then all is written as if it had not.
void Run::look_for_owner() {
  requests_.run<Result<Json>>(
      [this](const Result<Json>& live) {
        const auto scope = traced();
        if (dropped_) return fail_dropped();
        const bool another = live.ok() && base::string_at(*live, {"metadata", "uid"}) != owner_.uid;
        const bool gone = another || (!live.ok() && live.error().is_not_found());
        gone ? end_without_owner() : start_writes();
      },
      [&](client::ObjectCallback done) {
        return host_.client().get(host_.owner_type(), owner_.key, std::move(done));
      });
}

void Run::start_writes() {
  writer_->start([this](WriteReport report) { on_written(std::move(report)); });
}

// No failure: nobody waits for it any more.
void Run::end_without_owner() {
  verdict_ = {Outcome::done,
              "the object was deleted while its hook ran: nothing of its output was written",
              {}};
  requeue_after_.reset();
  printed_itself_ = false;
  conclude();
}

void Run::on_written(WriteReport report) {
  report_ = std::move(report);
  if (report_.owner_gone) return end_without_owner();
  if (verdict_.outcome == Outcome::permanent && report_.refused()) {
    // It failed for good before that, and says so.
    verdict_.message += "; " + shown_message(mask_, report_.message());
  } else if (!report_.failures.empty()) {
    verdict_.outcome = Outcome::write_failed;
    verdict_.message = shown_message(mask_, report_.message());
    return conclude();
  }
  tell_events_and_metrics();
  if (input_.finalizing && verdict_.outcome == Outcome::done) return clean_up();
  conclude();
}

// Children that only we remove go before the finalizer does, or all of them where the hook says so.
// From those that are to stay the garbage collector takes their owner references, by which they
// would look like the ones that it leaves to us.
void Run::clean_up() {
  using Orphaning = ChildMemory::Orphaning;
  const auto scope = traced();
  const Orphaning known = host_.memory().orphaning(owner_.uid);
  if (owner_.deleting && known == Orphaning::yes) return leave_children();
  cleaner_ = std::make_unique<Pruner>(host_, owner_);
  std::optional<Pruner::Dying> dying;
  if (owner_.deleting && known != Orphaning::no) {
    const auto object = base::parse_json(input_.object.json);
    dying =
        Pruner::Dying{object.ok() ? deleted_at(*object) : WallTime{}, known == Orphaning::unsure};
  }
  const PruneMode mode = remove_children_ ? PruneMode::all : PruneMode::unreferenced;
  cleaner_->clean_up(mode, dying, [this](PruneReport pruned) {
    if (pruned.orphaned) return leave_children();
    report_.deleted += pruned.deleted;
    for (const std::string& name : pruned.names) report_.wrote("deleted " + name);
    if (pruned.failures.empty()) return remove_finalizer();
    report_.failures = std::move(pruned.failures);
    fail_clean_up();
  });
}

void Run::leave_children() {
  base::log_info("the object was deleted with its children to stay (orphan): they are kept",
                 log_fields());
  if (remove_children_) {
    add_to_message(
        "children: none removes none: the object was deleted with its children to stay "
        "(orphan)");
  }
  remove_finalizer();
}

void Run::add_to_message(std::string_view text) {
  if (!verdict_.message.empty()) verdict_.message += "; ";
  verdict_.message += text;
}

void Run::remove_finalizer() {
  const Rule& rule = host_.rule();
  change_finalizer(
      host_.client(), requests_,
      {host_.owner_type(), input_.object.meta, rule.finalizer_name, rule.apply.field_manager,
       false},
      [this](Result<ChangedMeta> changed) {
        if (!changed.ok()) {
          report_.failures.push_back(
              std::move(changed.error()).with_context("removing finalizer from " + owner_.str()));
          return fail_clean_up();
        }
        if (changed->has_value()) {
          host_.finalizer_patched(owner_, (*changed)->resource_version);
        }
        host_.memory().forget(owner_.uid);
        conclude();
      });
}

// The plan is carried out, or there was none: the object is told here what the server refuses.
void Run::fail_clean_up() {
  const auto scope = traced();
  verdict_.outcome = Outcome::write_failed;
  verdict_.message = shown_message(mask_, report_.message());
  // The status of an object that has left the selection is not the rule's to write.
  if (!report_.permanent() || !owner_.deleting) return conclude();
  condition_ = std::make_unique<OwnerCondition>(host_, owner_, input_.object.meta);
  condition_->tell(kWriteFailedReason, verdict_.message, [this](bool written) {
    report_.status_written = report_.status_written || written;
    conclude();
  });
}

void Run::fail(Outcome outcome, const std::string& message) {
  verdict_ = {outcome, shown_message(mask_, message), {}};
  conclude();
}

runtime::RunOutcome Run::queue_outcome() const {
  using RunVerdict = runtime::RunOutcome::Verdict;
  switch (verdict_.outcome) {
    case Outcome::done:
      if (!requeue_after_ || input_.finalizing) return {RunVerdict::done, {}};
      return {RunVerdict::requeue, requeue_after_};
    case Outcome::not_yet: return {RunVerdict::not_yet, requeue_after_};
    case Outcome::permanent: return {RunVerdict::parked, {}};
    // Looked at once more: it may have come back meanwhile.
    case Outcome::dropped: return runtime::RunOutcome::put_off(host_.services().loop.now());
    case Outcome::write_failed:
      if (report_.permanent()) return {RunVerdict::parked, {}};
      return {RunVerdict::failed, retry_after(report_.failures)};
    default:
      // The rule says when, and not when at the earliest.
      if (verdict_.after) return runtime::RunOutcome::failed_for(*verdict_.after);
      return {RunVerdict::failed, {}};
  }
}

// The log line of a run's end is written by whoever gets the RunRecord.
void Run::report() {
  if (is_fine(to_string(verdict_.outcome)) || dropped_ || exit_.canceled) return;
  runtime::Happening event = failure_of(owner_, verdict_.outcome, verdict_.message);
  if (report_.conflicts()) event.reason = kConflictReason;
  if (!owner_.uid.empty()) host_.services().reporter.tell(host_.rule().name, event);
}

void Run::tell_events_and_metrics() {
  Services& services = host_.services();
  for (runtime::Happening& event : events_) {
    for (std::string* text : {&event.note, &event.reason, &event.action}) {
      *text = mask_.mask(*text);
    }
    core::ObjectRef& object = event.regarding;
    if (object.uid.empty()) {
      const core::Gvk gvk{core::parse_group_version(object.api_version)->group, "", object.kind};
      const auto child = host_.cached_child(child_id(gvk, {object.namespace_, object.name}));
      if (child) object.uid = child->uid;
    }
    services.reporter.tell(host_.rule().name, event);
  }
  Metrics& metrics = services.telemetry.metrics;
  const TimePoint now = services.loop.now();
  std::vector<HookMetric> taken;
  for (HookMetric& metric : metrics_) {
    metric.help = mask_.mask(metric.help);
    if (mask_metric(mask_, metric.name, metric.labels)) {
      taken.push_back(std::move(metric));
    } else {
      metrics.hook_refused(host_.rule().name, kSecretInMetricName, now);
    }
  }
  metrics.hook_reported(host_.rule().name, taken, now, services.on_metric);
}

void Run::end_trace() {
  if (trace_ == nullptr) return;
  const bool good = is_fine(to_string(verdict_.outcome));
  trace_->end((input_.finalizing ? "finalize " : "reconcile ") + host_.rule().name,
              {{"kubewatch.controller", host_.rule().name},
               {"kubewatch.object", owner_.str()},
               {"kubewatch.reason", std::string(runtime::to_string(input_.work.reason))},
               {"kubewatch.run", input_.id},
               {"kubewatch.attempt", std::to_string(input_.work.attempt)},
               {"kubewatch.outcome", std::string(to_string(verdict_.outcome))}},
              good ? std::nullopt : std::optional(verdict_.message));
}

// What its hook has written through the gateway, besides what it printed.
void Run::add_own_writes(RunEnd& end) const {
  if (guest_ == nullptr) return;
  const GatewayGuest::Written& written = guest_->written();
  end.record.created += written.created;
  end.record.configured += written.configured;
  end.record.unchanged += written.unchanged;
  end.record.deleted += written.deleted;
  for (const std::string& one : written.writes) {
    if (end.record.writes.size() < WriteReport::kMaxWrites) end.record.writes.push_back(one);
  }
  end.wrote_itself = written.itself;
  end.printed.insert(written.sent.begin(), written.sent.end());
}

void Run::conclude() {
  report();
  end_trace();
  const client::RequestScope outside(host_.client().observers(), nullptr);
  RunEnd end;
  end.record.id = input_.id;
  end.record.controller = host_.rule().name;
  end.record.object = owner_.str();
  end.record.key = owner_.key;
  end.record.reason = std::string(runtime::to_string(input_.work.reason));
  end.record.reason_object = input_.work.reason_object;
  end.record.attempt = input_.work.attempt;
  end.record.outcome = std::string(to_string(verdict_.outcome));
  end.record.message = verdict_.message;
  end.record.exit_code = exit_.code;
  end.record.cpu = exit_.cpu;
  end.record.max_rss = exit_.max_rss;
  end.record.requeue_after = requeue_after_;
  end.record.elapsed = host_.services().loop.now() - started_;
  end.record.created = report_.created;
  end.record.configured = report_.configured;
  end.record.unchanged = report_.unchanged;
  end.record.deleted = report_.deleted;
  end.record.writes = std::move(report_.writes);
  if (trace_ != nullptr) end.record.trace = trace_->ids().trace;
  if (process_ != nullptr) {
    end.record.stderr_tail = process_->stderr_tail();
    host_.services().telemetry.metrics.run_used(host_.rule().name, exit_.cpu,
                                                static_cast<double>(exit_.max_rss),
                                                host_.services().loop.now());
  }
  end.status_written = report_.status_written;
  end.printed_itself = printed_itself_;
  end.printed = std::move(printed_);
  add_own_writes(end);
  end.outcome = queue_outcome();
  end.slow_retry = verdict_.outcome == Outcome::write_failed && report_.permanent();
  auto done = std::move(done_);
  done(std::move(end));
}

}  // namespace kubewatch::hooks
