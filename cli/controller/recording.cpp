#include "cli/controller/recording.hpp"

#include <CLI/CLI.hpp>

#include "cli/flags.hpp"
#include "hooks/recorder.hpp"
#include "hooks/recording_transport.hpp"

namespace kubewatch::cli {

void Recording::bind(CLI::App& app) {
  auto* file = app.add_option("--record", file_,
                              "keep in this file what the watches told, the runs and what they "
                              "wrote, for run-controller replay");
  file->type_name("FILE");
  app.add_option("--record-limit", megabytes_,
                 "how large the recording may become, 1 to 512; then it ends (default 64)")
      ->type_name("MEGABYTES")
      ->check(CLI::Range(std::size_t{1}, std::size_t{512}).description(""))
      ->needs(file);
}

Result<void> Recording::open(Session& session, const std::vector<hooks::Rule>& rules,
                             bool complete) {
  if (!wanted()) return {};
  KW_TRY(check_output_file("--record", file_));
  auto file = hooks::RecordingFile::create(file_, {megabytes_ << 20U});
  if (!file.ok()) {
    const bool occupied = file.error().kind() == ErrorKind::already_exists;
    return Error(occupied ? ErrorKind::invalid : file.error().kind(),
                 "--record: " + file.error().render());
  }
  hooks::RecorderOptions options;
  options.complete = complete;
  for (const hooks::Rule& rule : rules) options.controllers.push_back(rule.name);
  const auto recorder =
      std::make_shared<hooks::Recorder>(session.loop(), std::move(*file), std::move(options));
  recorder_ = recorder;
  session.wrap_transport([&](http::Transport& inner) {
    using Objects = hooks::RecordingTransport::Objects;
    return std::make_unique<hooks::RecordingTransport>(inner, recorder, Objects::as_found);
  });
  return {};
}

void Recording::follow(hooks::EngineCallbacks& callbacks) {
  const auto recorder = recorder_.lock();
  if (recorder == nullptr) return;
  callbacks.on_run = [recorder, then = std::move(callbacks.on_run)](const hooks::RunRecord& run) {
    recorder->on_run(run);
    if (then) then(run);
  };
  callbacks.on_exchange = [recorder](const hooks::HookExchange& exchange) {
    recorder->on_exchange(exchange);
  };
}

std::string Recording::end(bool idle) {
  const auto recorder = recorder_.lock();
  return recorder == nullptr ? "" : recorder->end(idle);
}

}  // namespace kubewatch::cli
