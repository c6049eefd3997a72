// The life of one run.
#include "hooks/run.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "client/apply_result.hpp"
#include "runtime/finalizer.hpp"

namespace kubewatch::hooks {
namespace {

std::optional<std::string> own_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

// Shown in the owner's status already: our error condition with status False.
bool shows_error(const std::string& object_json) {
  if (object_json.find(kErrorCondition) == std::string::npos) return false;
  const auto object = base::parse_json(object_json);
  const Json* conditions = object.ok() ? base::find(*object, {"status", "conditions"}) : nullptr;
  if (conditions == nullptr || !conditions->is_array()) return false;
  for (const Json& condition : *conditions) {
    if (base::string_at(condition, {"type"}) == kErrorCondition) {
      return base::string_at(condition, {"status"}) == "False";
    }
  }
  return false;
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
            meta.deleting()};
}

Run::~Run() {
  if (home_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(home_, ignored);
}

bool Run::has_hook() const {
  return !input_.finalizing || host_.rule().finalize.has_value();
}

const HookRule& Run::hook() const {
  return input_.finalizing ? host_.rule().finalize->hook : host_.rule().reconcile;
}

base::LogFields Run::log_fields() const {
  return {{"controller", host_.rule().name},
          {"object", owner_.str()},
          {"reason", std::string(runtime::to_string(input_.work.reason))},
          {"run", input_.id},
          {"attempt", std::to_string(input_.work.attempt)}};
}

void Run::start() {
  if (has_hook()) return start_hook();
  // A finalizer that is there for children only: nothing to ask, they are removed.
  verdict_ = {};
  clean_up();
}

namespace {

bool may_print_secrets(const Rule& rule) {
  const core::Gvk secret{"", "v1", "Secret"};
  return std::any_of(rule.owns.begin(), rule.owns.end(),
                     [&](const auto& owns) { return owns.stream.gvk == secret; }) ||
         std::any_of(rule.writes.begin(), rule.writes.end(),
                     [&](const auto& writes) { return writes.gvk == secret; });
}

}  // namespace

void Run::start_hook() {
  Invocation invocation;
  invocation.id = input_.id;
  invocation.controller = host_.rule().name;
  invocation.reason = input_.work.reason;
  invocation.reason_object = input_.work.reason_object;
  invocation.attempt = input_.work.attempt;
  invocation.finalizing = input_.finalizing;
  invocation.object = input_.object.json;
  invocation.previous = std::move(input_.previous);
  invocation.owned = host_.caches().owned(owner_.uid);
  invocation.related = host_.caches().related(owner_.key);
  mask_.add_json(invocation.object);
  mask_.add_json(invocation.previous);
  for (const std::string& object : invocation.owned) mask_.add_json(object);
  for (const auto& [name, objects] : invocation.related) {
    for (const std::string& object : objects) mask_.add_json(object);
  }
  home_ = host_.new_home(input_.id);
  const EnvironmentInput source{invocation, input_.object.meta, hook(),         host_.work_dir(),
                                home_,      own_environment,    base::read_file};
  auto environment = build_environment(source, host_.services().random);
  if (!environment.ok()) return fail(Outcome::failed, mask_.mask(environment.error().render()));
  for (const std::string& secret : environment->secrets) mask_.add_value(secret);
  std::string document = build_document(invocation);
  if (host_.services().on_trace) document_ = document;
  HookStart start{std::move(environment->variables), std::move(document), log_fields(), mask_,
                  may_print_secrets(host_.rule())};
  auto process = HookProcess::start(host_.services().loop, hook(), std::move(start),
                                    [this](loop::ProcessExit exit) { on_exit(std::move(exit)); });
  if (!process.ok()) return fail(Outcome::failed, process.error().render());
  process_ = std::move(*process);
  hook_running_ = true;
}

void Run::terminate() {
  if (hook_running_) process_->terminate();
}

// A run that has begun to write is stopped by the client's write gate.
void Run::abandon() {
  dropped_ = true;
  terminate();
}

void Run::on_exit(loop::ProcessExit exit) {
  hook_running_ = false;
  exit_ = std::move(exit);
  tell_trace();
  if (dropped_) {
    process_->release(mask_);
    return fail(Outcome::failed, "the lead was lost while it ran: its outcome is dropped");
  }
  if (!hook().output_manifests) {
    log_output();
    return decide({}, HookOutput{});
  }
  if (!reads_output(exit_, host_.rule().retry)) return decide({}, std::nullopt);
  read_output(true);
}

void Run::tell_trace() const {
  if (!host_.services().on_trace) return;
  host_.services().on_trace(
      {input_.id, host_.rule(), owner_, std::string(runtime::to_string(input_.work.reason)),
       input_.work.reason_object, input_.work.attempt, input_.finalizing, document_, exit_});
}

void Run::log_output() const {
  LineLimit limit(1000, 0);
  for (const std::string& line : base::split(exit_.out, '\n')) {
    if (!line.empty() && limit.admit(TimePoint{})) base::log_info(mask_.mask(line), log_fields());
  }
}

void Run::read_output(bool may_rediscover) {
  const auto resources = host_.services().resources();
  OutputContext context{host_.rule(), owner_, [&](const core::Gvk& gvk) {
                          return resources ? resources->find(gvk) : nullptr;
                        }};
  context.manifests_allowed = !input_.finalizing || host_.rule().finalize->apply;
  context.has_status = host_.owner_type().has_subresource("status");
  auto output = parse_output(exit_.out, context);
  if (!output.ok()) {
    // A kind that is unknown now may have come since the last discovery.
    if (output.error().is_not_found() && may_rediscover) {
      return host_.services().rediscover([this] { read_output(false); });
    }
    OutputFacts facts;
    facts.problem = "invalid output: " + mask_.mask(output.error().render());
    return decide(std::move(facts), std::nullopt);
  }
  for (const auto* list : {&output->manifests, &output->create}) {
    for (const Manifest& manifest : *list) mask_.add_object(manifest.object);
  }
  OutputFacts facts;
  facts.has_result = output->result.has_value();
  if (output->result) {
    facts.result_message = mask_.mask(output->result->message);
    requeue_after_ = output->result->requeue_after;
  }
  decide(std::move(facts), std::move(*output));
}

void Run::decide(OutputFacts facts, std::optional<HookOutput> output) {
  if (process_ != nullptr) process_->release(mask_);
  verdict_ = judge(exit_, hook(), host_.rule().retry, facts);
  const bool failed = verdict_.outcome != Outcome::done && verdict_.outcome != Outcome::not_yet;
  if (failed && process_ != nullptr && !process_->last_line().empty() && !facts.has_result) {
    verdict_.message += " (last line of stderr: " + process_->last_line() + ")";
  }
  const bool writes =
      output && (verdict_.writes_children() || verdict_.outcome == Outcome::permanent);
  if (!writes) return conclude();
  if (verdict_.outcome == Outcome::permanent && !hook().output_manifests) return conclude();
  auto shared = std::make_shared<HookOutput>(std::move(*output));
  auto plan = [this, shared](bool has_conditions, const std::string& object) {
    PlanInput input{host_.rule(), owner_, verdict_};
    input.finalizing = input_.finalizing;
    input.has_finalizer = input_.object.meta.has_finalizer(host_.rule().finalizer_name);
    input.shows_error = shows_error(object);
    input.has_conditions = has_conditions;
    write(make_plan(std::move(*shared), input), has_conditions);
  };
  if (!host_.owner_type().has_subresource("status")) return plan(false, "");
  with_status([this, plan](const std::string& object) {
    host_.with_status_shape([plan, object](const StatusShape& shape) {
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
  writer_ = std::make_unique<OutcomeWriter>(
      host_, OutcomeInput{owner_, input_.object.meta, has_conditions, mask_}, std::move(plan));
  writer_->start([this](WriteReport report) { on_written(std::move(report)); });
}

void Run::on_written(WriteReport report) {
  report_ = std::move(report);
  if (!report_.failures.empty()) {
    verdict_.outcome = Outcome::write_failed;
    verdict_.message = mask_.mask(report_.message());
    return conclude();
  }
  if (input_.finalizing && verdict_.outcome == Outcome::done) return clean_up();
  conclude();
}

// Children that only we remove go before the finalizer does.
void Run::clean_up() {
  cleaner_ = std::make_unique<Pruner>(host_, owner_);
  cleaner_->start(PruneMode::unreferenced, {}, [this](PruneReport pruned) {
    report_.deleted += pruned.deleted;
    if (pruned.failures.empty()) return remove_finalizer();
    report_.failures = std::move(pruned.failures);
    verdict_.outcome = Outcome::write_failed;
    verdict_.message = mask_.mask(report_.message());
    conclude();
  });
}

void Run::remove_finalizer() {
  const std::string& name = host_.rule().finalizer_name;
  core::PatchParams params;
  params.type = core::PatchType::json;
  params.field_manager = host_.rule().apply.field_manager;
  const Json patch = runtime::remove_finalizer_patch(input_.object.meta, name);
  requests_.run<Result<client::ApplyResult>>(
      [this](Result<client::ApplyResult> answer) {
        if (!answer.ok() && !answer.error().is_not_found()) {
          // The patch tests the list it was made for: a refusal asks for another look at the
          // object.
          report_.failures.push_back(refused_patch(std::move(answer.error()))
                                         .with_context("removing finalizer from " + owner_.str()));
          verdict_.outcome = Outcome::write_failed;
          verdict_.message = report_.message();
        } else {
          if (answer.ok()) {
            host_.finalizer_patched(
                owner_, base::string_at(answer->object, {"metadata", "resourceVersion"}));
          }
          host_.memory().forget(owner_.uid);
        }
        conclude();
      },
      [&](auto done) {
        return host_.client().patch(host_.owner_type(), owner_.key, patch, params, std::move(done));
      });
}

void Run::fail(Outcome outcome, std::string message) {
  verdict_ = {outcome, std::move(message), {}};
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
    case Outcome::write_failed:
      if (report_.permanent()) return {RunVerdict::parked, {}};
      return {RunVerdict::failed, retry_after(report_.failures)};
    default: return {RunVerdict::failed, verdict_.after};
  }
}

// The log line of a run's end is written by whoever gets the RunRecord.
void Run::report() {
  const bool good = verdict_.outcome == Outcome::done || verdict_.outcome == Outcome::not_yet;
  if (good || dropped_ || exit_.canceled) return;
  host_.services().reporter.report(owner_, host_.rule().name, verdict_.outcome, verdict_.message);
}

void Run::conclude() {
  report();
  RunEnd end;
  end.record.id = input_.id;
  end.record.controller = host_.rule().name;
  end.record.object = owner_.str();
  end.record.reason = std::string(runtime::to_string(input_.work.reason));
  end.record.attempt = input_.work.attempt;
  end.record.outcome = std::string(to_string(verdict_.outcome));
  end.record.message = verdict_.message;
  end.record.exit_code = exit_.code;
  end.record.requeue_after = requeue_after_;
  end.record.elapsed = host_.services().loop.now() - started_;
  end.record.created = report_.created;
  end.record.configured = report_.configured;
  end.record.unchanged = report_.unchanged;
  end.record.deleted = report_.deleted;
  end.outcome = queue_outcome();
  end.slow_retry = verdict_.outcome == Outcome::write_failed && report_.permanent();
  auto done = std::move(done_);
  done(std::move(end));
}

}  // namespace kubewatch::hooks
