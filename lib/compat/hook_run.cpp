// Files, process, operations.
#include "compat/hook_run.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/files.hpp"
#include "base/strings.hpp"
#include "compat/kinds.hpp"
#include "hooks/hook_homes.hpp"
#include "hooks/hook_process.hpp"
#include "hooks/metric_mask.hpp"
#include "hooks/shown_message.hpp"

namespace kubewatch::compat {
namespace {

constexpr std::size_t kMaxFile = 16U << 20U;

constexpr const char* kContextFile = "binding-context.json";
constexpr const char* kMetricsFile = "metrics.json";
constexpr const char* kPatchFile = "patch.json";

// All of them are there before the hook runs, those of webhooks too: hooks name them.
constexpr std::array<std::pair<const char*, const char*>, 6> kFiles = {
    {{"BINDING_CONTEXT_PATH", kContextFile},
     {"METRICS_PATH", kMetricsFile},
     {"KUBERNETES_PATCH_PATH", kPatchFile},
     {"ADMISSION_RESPONSE_PATH", "admission-response.json"},
     {"VALIDATING_RESPONSE_PATH", "validating-response.json"},
     {"CONVERSION_RESPONSE_PATH", "conversion-response.json"}}};

// In a private folder, for one run: nothing that must survive a crash.
Result<void> write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return Error(ErrorKind::forbidden, "cannot write " + path);
  return {};
}

// A hook may have removed it.
Result<std::string> read_answer(const std::string& path) {
  auto text = base::read_regular_file(path, kMaxFile);
  if (!text.ok() && text.error().is_not_found()) return std::string();
  return text;
}

}  // namespace

HookRun::HookRun(RunServices& services, const HookFile& file, RunInput input, Done done)
    : services_(services),
      file_(file),
      input_(std::move(input)),
      done_(std::move(done)),
      rule_(make_rule()) {}

HookRun::~HookRun() {
  call_.reset();
  hooks::remove_private_folder(input_.folder);
}

Result<void> HookRun::make_files() {
  // Where it was taken away, nobody else's in its place is taken for it.
  const auto parent = std::filesystem::path(input_.folder).parent_path();
  KW_TRY(hooks::make_private_folder(parent.string()));
  if (mkdir(input_.folder.c_str(), 0700) != 0) {
    return Error(ErrorKind::forbidden, "cannot make the folder " + input_.folder);
  }
  for (const auto& [variable, name] : kFiles) {
    const std::string path = input_.folder + "/" + name;
    const bool context = std::string_view(name) == kContextFile;
    KW_TRY(write_file(path, context ? input_.context : ""));
    input_.environment.push_back(std::string(variable) + "=" + path);
  }
  input_.context.clear();
  return {};
}

hooks::HookRule HookRun::make_rule() const {
  hooks::HookRule out;
  // Its output is for people: both streams go to the log, in order.
  out.argv = {"/bin/sh", "-c", "exec \"$0\" >&2", file_.path};
  out.directory = std::filesystem::path(file_.path).parent_path().string();
  out.timeout = input_.timeout;
  out.grace = input_.grace;
  return out;
}

void HookRun::start() {
  if (auto made = make_files(); !made.ok()) return conclude("failed", made.error().render());
  hooks::HookStart start;
  start.environment = std::move(input_.environment);
  start.log_fields = input_.log_fields;
  start.stream = "output";
  start.mask = input_.mask;
  auto started =
      hooks::HookProcess::start(services_.client.loop(), services_.guard, rule_, std::move(start),
                                [this](hooks::HookExit exit) { on_exit(std::move(exit)); });
  if (!started.ok()) return conclude("failed", started.error().render());
  call_ = *std::move(started);
}

void HookRun::terminate() {
  terminated_ = true;
  if (call_) call_->terminate();
}

void HookRun::on_exit(hooks::HookExit exit) {
  result_.exit = std::move(exit);
  result_.stderr_tail = call_->stderr_tail();
  const hooks::HookExit& end = result_.exit;
  const bool well = end.code == 0 && !end.timed_out;
  result_.outcome = well ? "done" : "failed";
  if (!well) {
    if (end.refused) {
      result_.message = end.refused->render();
    } else if (end.timed_out) {
      result_.outcome = "timeout";
      result_.message = "not done after " + base::format_duration(input_.timeout);
    } else if (end.code) {
      result_.message = fmt::format("exit code {}", *end.code);
    } else {
      result_.message = fmt::format("ended by signal {}", end.signal.value_or(0));
    }
    if (!call_->last_line().empty()) result_.message += ": " + call_->last_line();
  }
  auto operations = read_operations();
  if (!well) {
    // What a failed hook left is dropped, but for status that it wants written all the same.
    return write(operations.ok() ? despite_failure(*std::move(operations))
                                 : std::vector<Operation>());
  }
  if (!operations.ok()) {
    return conclude(
        "invalid-output",
        "KUBERNETES_PATCH_PATH: " + hooks::shown_message(input_.mask, operations.error().render()));
  }
  if (auto metrics = read_metrics(); !metrics.ok()) {
    return conclude("invalid-output",
                    "METRICS_PATH: " + hooks::shown_message(input_.mask, metrics.error().render()));
  }
  write(*std::move(operations));
}

Result<std::vector<Operation>> HookRun::read_operations() {
  KW_ASSIGN(const std::string text, read_answer(input_.folder + "/" + kPatchFile));
  std::set<std::string> unknown;
  auto operations = parse_patch_file(text, unknown);
  note_unknown("KUBERNETES_PATCH_PATH", unknown);
  return operations;
}

Result<void> HookRun::read_metrics() {
  KW_ASSIGN(const std::string text, read_answer(input_.folder + "/" + kMetricsFile));
  std::set<std::string> unknown;
  KW_ASSIGN(result_.metrics, parse_metrics_file(text, unknown));
  note_unknown("METRICS_PATH", unknown);
  return {};
}

void HookRun::note_unknown(const char* variable, const std::set<std::string>& fields) {
  if (fields.empty()) return;
  result_.notes.push_back(
      std::string(variable) + ": " +
      hooks::shown_message(input_.mask, base::join({fields.begin(), fields.end()}, "; ")));
}

void HookRun::mask_metrics() {
  bool refused = false;
  for (MetricOperation& metric : std::exchange(result_.metrics, {})) {
    if (!hooks::mask_metric(input_.mask, metric.name, metric.labels)) {
      refused = refused || metric.action != MetricOperation::Action::expire;
      if (metric.group.empty()) continue;
      // The group holds nothing of earlier runs all the same.
      metric.action = MetricOperation::Action::expire;
      metric.name.clear();
      metric.labels.clear();
    }
    result_.metrics.push_back(std::move(metric));
  }
  if (!refused) return;
  result_.notes.push_back(std::string("METRICS_PATH: a metric is not taken: ") +
                          hooks::kSecretInMetricName);
}

// A kind that is not known may have been made a moment ago, by the hook itself.
void HookRun::write(std::vector<Operation> operations) {
  const auto resources = services_.resources();
  const bool known = std::all_of(operations.begin(), operations.end(), [&](const Operation& one) {
    return find_kind(*resources, one.api_version, one.kind).ok();
  });
  if (known) return patch(std::move(operations));
  services_.rediscover(
      [this, alive = std::weak_ptr<char>(alive_), operations = std::move(operations)]() mutable {
        if (!alive.expired()) patch(std::move(operations));
      });
}

void HookRun::patch(std::vector<Operation> operations) {
  patcher_ = std::make_unique<ObjectPatcher>(services_.client, services_.resources(),
                                             services_.client.config().namespace_, services_.dry);
  patcher_->run(std::move(operations),
                [this](PatchSummary summary) { on_written(std::move(summary)); });
}

void HookRun::on_written(PatchSummary summary) {
  result_.patch = std::move(summary);
  input_.mask.merge(result_.patch.secrets);
  const auto& errors = result_.patch.errors;
  if (!errors.empty()) {
    std::string message = hooks::shown_message(input_.mask, errors.front().render());
    if (errors.size() > 1) message += fmt::format(" (and {} more)", errors.size() - 1);
    if (result_.outcome == "done") {
      result_.outcome = "write-failed";
      result_.message = std::move(message);
    } else {
      result_.message += "; " + message;
    }
  }
  conclude(result_.outcome, result_.message);
}

// Never from inside of what is ended by it.
void HookRun::conclude(std::string outcome, std::string message) {
  result_.outcome = std::move(outcome);
  result_.message = std::move(message);
  // What is tried again says them again, and counters would count it twice.
  if (result_.outcome != "done") result_.metrics.clear();
  mask_metrics();
  result_.cut_off = terminated_ && result_.outcome != "done";
  timer_ = services_.client.loop().after(Duration{0}, [this] {
    const Done done = std::move(done_);
    done(std::move(result_));
  });
}

}  // namespace kubewatch::compat
