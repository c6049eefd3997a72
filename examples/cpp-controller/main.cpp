// A controller in C++, whole. Each Notice becomes a ConfigMap with its text, and a file in a folder
// that stands for whatever a controller keeps outside of the cluster. Somebody deletes or edits the
// ConfigMap: it comes back. The Notice goes: the cluster takes the ConfigMap along, and the
// finalizer lets nothing go before the file is gone.
//
//   notice-controller FOLDER [--leader-elect]
//
// One thread, one event loop: what a callback waits for, everything waits for. What takes time is
// started (a request, a process) and ends the run later, by `done`.
#include <csignal>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "base/result.hpp"
#include "client/api.hpp"
#include "client/client.hpp"
#include "client/config.hpp"
#include "core/object_ref.hpp"
#include "generated/demo.example.com_notices.hpp"  // by crd-gen, from types.yaml
#include "loop/event_loop.hpp"
#include "runtime/applier.hpp"
#include "runtime/finalizer_runner.hpp"
#include "runtime/leadership.hpp"
#include "runtime/operator.hpp"
#include "runtime/predicate.hpp"

namespace {

using namespace kubewatch;
using notice_v1::Notice;

const std::string kName = "notice-controller";  // who writes, in managedFields; the Lease
const std::string kFinalizer = "demo.example.com/notice-file";
constexpr Duration kGrace{20000};  // from SIGTERM on; less than the Pod's 30 s

// Kinds that no struct stands for are spelled out here, or asked of the server by discover().
core::ResourceType config_maps() {
  core::ResourceType type;
  type.gvk = {"", "v1", "ConfigMap"};
  type.plural = "configmaps";
  return type;
}

// What should be, of one Notice. It remembers nothing: what it is given is the newest state, and a
// run that is repeated changes nothing more.
class Notices {
 public:
  Notices(client::Client& client, std::filesystem::path folder)
      : folder_(std::move(folder)),
        applier_(client, kName, /*force=*/true),  // or what somebody edited is a conflict
        finalizer_(client, notices_, kFinalizer, kName, tasks()) {}

  const core::ResourceType& type() const { return notices_; }

  // The finalizer is there before anything is made that needs it: it decides which task is due.
  void reconcile(const runtime::StoredObject& object, runtime::ReconcileDone done) {
    finalizer_.step(object, std::move(done));
  }

 private:
  runtime::FinalizerRunner::Tasks tasks() {
    runtime::FinalizerRunner::Tasks out;
    out.apply = [this](const auto& object, auto done) { publish(object, done); };
    out.cleanup = [this](const auto& object, auto done) { take_back(object, done); };
    return out;
  }

  // An Error ends the run: it is logged, and the Notice tried again with a backoff of its own.
  void publish(const runtime::StoredObject& object, const runtime::ReconcileDone& done) {
    const core::ObjectMeta& meta = object.meta;
    const auto notice = client::Api<Notice>::decode_text(object.json, notices_);
    if (!notice.ok()) return done(notice.error());
    // Not tried again until somebody changes it. (The CRD lets nobody write such a Notice.)
    if (!notice->spec || !notice->spec->text) return done(runtime::RunOutcome::parked());
    const std::string& text = *notice->spec->text;

    const std::string file = file_of(meta);
    const auto written = base::write_generated_file(file, text + "\n", 0644);
    if (!written.ok()) return done(written.error());

    Json metadata = {{"name", meta.name}, {"namespace", meta.namespace_}};
    Notice told;  // only what is set here is applied, and is ours from then on
    told.apiVersion = meta.api_version;
    told.kind = meta.kind;
    told.metadata = metadata;
    told.status = notice_v1::NoticeStatus{meta.name, file};

    // By its reference the ConfigMap runs its owner when it changes, and goes with it.
    metadata["ownerReferences"] =
        Json::array({core::owner_reference(core::object_ref(meta), /*controller=*/true)});
    const Json child = {{"apiVersion", "v1"},
                        {"kind", "ConfigMap"},
                        {"metadata", metadata},
                        {"data", {{"text", text}}}};
    applier_.apply(config_maps(), child, [this, status = told.to_json(), done](auto applied) {
      if (!applied.ok()) return done(std::move(applied));
      applier_.apply(notices_, status, done, "status");
    });
  }

  // done() lets the Notice go; an Error keeps it, and this comes again.
  void take_back(const runtime::StoredObject& object, const runtime::ReconcileDone& done) {
    const std::string file = file_of(object.meta);
    std::error_code problem;
    std::filesystem::remove(file, problem);  // one that is not there is no problem
    if (problem) return done(Error(ErrorKind::unavailable, file + ": " + problem.message()));
    done(runtime::RunOutcome::done());
  }

  // No namespace has a dot in its name, so that no two Notices share a file.
  std::string file_of(const core::ObjectMeta& meta) const {
    return (folder_ / (meta.namespace_ + "." + meta.name)).string();
  }

  const core::ResourceType notices_ = client::resource_type_of<Notice>();
  const std::filesystem::path folder_;
  runtime::Applier applier_;
  runtime::FinalizerRunner finalizer_;
};

// The exit code. Errors: there is no configuration, or none that can be used. A server that is away
// is none: the watches wait for it.
Result<int> run(const std::filesystem::path& folder, bool leader_elect) {
  // What is needed by others stands before them: all goes in the reverse order.
  int code = 0;
  loop::EventLoop loop;
  base::Random random = base::Random::from_system();
  // $KUBECONFIG, ~/.kube/config, or the service account of the Pod.
  KW_ASSIGN(const auto config, client::load_config({}, client::ConfigEnvironment::from_process()));
  KW_ASSIGN(const auto transport, client::make_transport(loop, config));
  std::optional<client::Client> lease_client;
  std::optional<runtime::Leadership> leadership;
  client::Client client(loop, *transport, config);
  Notices notices(client, folder);
  std::unique_ptr<runtime::Operator> controller;
  loop::Timer cut_off;

  // Nothing new starts, runs come to their end, the Lease is given back; then the loop stops. Again
  // with less time: whichever ends first.
  const auto end = [&](Duration within) {
    if (leadership) leadership->leave();
    controller->shut_down(within, [&](const runtime::ShutdownReport& report) {
      for (const auto& key : report.cut_off) base::log_warn("cut off", {{"notice", key.str()}});
      if (!report.clean) code = 1;
      loop.stop();
    });
    cut_off = loop.after(within, [&] { controller->shut_down_now(); });
  };

  runtime::ControllerBuilder builder(loop, client, random);
  builder.for_(notices.type())
      .owns(config_maps())
      .predicates(runtime::predicates::generation())  // our own status is no news
      .concurrency(10);

  // Of several instances one works; the others have warm caches and wait. A write passes the gate
  // only while the Lease is held for certain.
  if (leader_elect) {
    runtime::LeadershipOptions options;
    options.election.lease = {config.namespace_, kName};
    options.election.identity = kName + "_" + random.uuid();
    KW_TRY(options.validate());
    runtime::LeadershipCallbacks callbacks;
    callbacks.gained = [&](std::size_t) { controller->lead(); };
    callbacks.end_runs = [&](std::size_t, auto done) { controller->stand_by(std::move(done)); };
    callbacks.lost = [&](const std::string& why, Duration within) {
      base::log_error("not the leader any more: " + why);
      code = 1;
      end(within);
    };
    auto lease_config = config;  // a client of its own: without the gate, and impatient
    lease_config.request_timeout = options.election.request_timeout();
    lease_client.emplace(loop, *transport, lease_config);
    leadership.emplace(*lease_client, options, random, callbacks);
    client.set_write_gate(&leadership->gate());
    builder.standby().release_on_shutdown([&](auto done) { leadership->release(std::move(done)); });
  }

  // An Error only where the chain above is wrong.
  KW_ASSIGN(controller, builder.build([&](const auto& object, const auto&, auto done) {
    notices.reconcile(object, std::move(done));
  }));

  // The second signal is of somebody who does not want to wait.
  bool asked = false;
  const auto on_signal = [&] { end(std::exchange(asked, true) ? Duration{0} : kGrace); };
  const auto terminate = loop.on_signal(SIGTERM, on_signal);
  const auto interrupt = loop.on_signal(SIGINT, on_signal);

  controller->start();
  if (leadership) leadership->start();
  loop.run();
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  const bool leader_elect = argc == 3 && std::string_view(argv[2]) == "--leader-elect";
  if (argc != 2 && !leader_elect) {
    std::cerr << "usage: notice-controller FOLDER [--leader-elect]\n";
    return 2;
  }
  const auto code = run(argv[1], leader_elect);
  if (code.ok()) return *code;
  std::cerr << "notice-controller: " << code.error().render() << '\n';
  return 1;
}
