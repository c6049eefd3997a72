// The life of one run, until its hook has been started: what the hook is given, and what keeps it
// from being started.
#include <algorithm>
#include <iterator>

#include "base/files.hpp"
#include "hooks/reduced.hpp"
#include "hooks/run.hpp"
#include "hooks/worker_line.hpp"

namespace kubewatch::hooks {
namespace {

// Ours instead of the random one that hooks get without tracing.
void set_traceparent(std::vector<std::string>& variables, const std::string& value) {
  static constexpr std::string_view kName = "TRACEPARENT=";
  std::erase_if(variables, [](const std::string& one) { return one.starts_with(kName); });
  variables.push_back(std::string(kName) + value);
}

}  // namespace

void Run::start() {
  if (input_.finalizing && host_.rule().finalize && host_.rule().finalize->left_out) {
    verdict_ = {Outcome::done, "its finalize hook is not run in a dry run", {}};
    return conclude();
  }
  if (has_hook()) return start_hook();
  // A finalizer that is there for children only: nothing to ask, they are removed. The server may
  // quote the object in its refusals.
  mask_.add_json(input_.object.json);
  verdict_ = {};
  clean_up();
}

bool Run::may_print_secrets() const {
  const core::Gvk secret{"", "v1", "Secret"};
  const Rule& rule = host_.rule();
  return std::any_of(rule.owns.begin(), rule.owns.end(),
                     [&](const auto& owns) { return owns.stream.gvk == secret; }) ||
         std::any_of(rule.writes.begin(), rule.writes.end(),
                     [&](const auto& writes) { return writes.gvk == secret; });
}

void Run::start_hook() {
  host_.hooks().prepare(hook(), [this](const Result<void>& ready) {
    if (stopped_) {
      exit_.canceled = true;
      return fail(Outcome::failed, "ended by shutdown before it started");
    }
    if (!ready.ok()) return fail(Outcome::failed, ready.error().render());
    launch();
  });
}

// False: they are not fit for a hook, and the run has ended.
bool Run::take_lists(Invocation& invocation) {
  const RuleCaches& caches = host_.caches();
  invocation.owned = caches.owned(owner_.uid, owner_.key.namespace_);
  const std::string& json = input_.deleted ? input_.previous : input_.object.json;
  using Unindexed = RuleCaches::Unindexed;
  const bool indexed = json.empty() || caches.has_object(owner_.key, owner_.uid);
  invocation.related = caches.related(
      owner_.key, indexed ? std::nullopt : std::optional(Unindexed{json, input_.deleted}));
  for (auto* lists : {&invocation.owned, &invocation.related}) {
    for (InputList& list : *lists) {
      if (list.lack) {
        wait_for(std::move(*list.lack));
        return false;
      }
      for (const std::string& object : list.objects) mask_.add_json(object);
    }
  }
  return true;
}

void Run::wait_for(Lack lack) {
  RunEnd end;
  end.lack = std::move(lack);
  auto done = std::move(done_);
  done(std::move(end));
}

Result<void> Run::put_in_files(Invocation& invocation) {
  for (auto* lists : {&invocation.owned, &invocation.related}) {
    for (InputList& list : *lists) {
      KW_ASSIGN(ListFilePtr file, host_.hooks().list_files().of(list.objects));
      list.file = file->path;
      if (!host_.services().on_exchange) std::vector<std::string>().swap(list.objects);
      list_files_.push_back(std::move(file));
    }
  }
  return {};
}

void Run::launch() {
  Invocation invocation;
  if (!take_lists(invocation)) return;
  if (hook().lists == ListsIn::files) {
    if (auto put = put_in_files(invocation); !put.ok()) {
      return fail(Outcome::failed, put.error().render());
    }
  }
  invocation.id = input_.id;
  invocation.controller = host_.rule().name;
  invocation.reason = input_.work.reason;
  invocation.reason_object = input_.work.reason_object;
  invocation.attempt = input_.work.attempt;
  invocation.finalizing = input_.finalizing;
  invocation.object = input_.object.json;
  invocation.previous = std::move(input_.previous);
  mask_.add_json(invocation.object);
  mask_.add_json(invocation.previous);
  const bool worker = hook().mode == HookMode::worker;
  if (!worker) {
    auto home = host_.hooks().homes()->take();
    if (!home.ok()) return fail(Outcome::failed, home.error().render());
    home_ = std::move(*home);
    homes_ = host_.hooks().homes();
  }
  const EnvironmentInput source{invocation,
                                input_.object.meta,
                                hook(),
                                host_.work_dir(),
                                home_,
                                own_environment,
                                base::read_regular_file,
                                worker ? EnvironmentPart::line : EnvironmentPart::all};
  auto environment = build_environment(source, host_.services().random);
  if (!environment.ok()) return fail(Outcome::failed, environment.error().render());
  for (const std::string& secret : environment->secrets) mask_.add_value(secret);
  if (trace_ != nullptr) set_traceparent(environment->variables, trace_->ids().traceparent());
  if (hook().credentials.kind == CredentialsRule::Kind::cache) {
    guest_ = std::make_shared<GatewayGuest>(owner_.uid, child_id(owner_.gvk, owner_.key),
                                            input_.keep_printed, observer_);
  }
  std::string document = build_document(invocation, hook().lists);
  if (host_.services().on_exchange) {
    // Of files nothing is left afterwards.
    document_ = hook().lists == ListsIn::files ? build_document(invocation) : document;
  }
  HookStart start{{}, std::move(document), input_.id, log_fields(), mask_, may_print_secrets()};
  if (worker) {
    for (const std::string& secret : host_.hooks().secrets_of(hook())) mask_.add_value(secret);
    start.mask = mask_;
    start.input = worker_line(std::move(start.input), environment->variables);
    start.given = [&hooks = host_.hooks(), guest = guest_](const std::string& home) {
      hooks.serve(home, guest);
    };
  } else {
    start.environment = std::move(environment->variables);
    auto credentials = host_.hooks().credentials_in(home_, hook());
    if (!credentials.ok()) return fail(Outcome::failed, credentials.error().render());
    for (const std::string& secret : credentials->secrets) mask_.add_value(secret);
    std::move(credentials->variables.begin(), credentials->variables.end(),
              std::back_inserter(start.environment));
    host_.hooks().serve(home_, guest_);
    start.mask = mask_;
  }
  auto process = host_.hooks().start(hook(), std::move(start),
                                     [this](HookExit exit) { on_exit(std::move(exit)); });
  if (!process.ok()) {
    host_.hooks().revoke(home_);
    return fail(Outcome::failed, process.error().render());
  }
  process_ = std::move(*process);
  hook_running_ = true;
}

}  // namespace kubewatch::hooks
