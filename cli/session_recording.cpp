#include "cli/session_recording.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/flags.hpp"
#include "hooks/recorder.hpp"
#include "hooks/recording_transport.hpp"

namespace kubewatch::cli {

namespace {

constexpr const char* kRecordingFlags = "Recordings";

}  // namespace

void SessionRecording::bind(CLI::App& app, Use use) {
  use_ = use;
  auto* record = app.add_option("--record", record_,
                                use == Use::reads
                                    ? "keep in this file what the server told, for "
                                      "--from-recording; values of Secrets are hidden"
                                    : "keep in this file what was written, and the objects before "
                                      "and after; values of Secrets are hidden");
  record->type_name("FILE")->group(kRecordingFlags);
  if (use == Use::writes) {
    // In no list of flags: it is here to be refused.
    app.add_option_function<std::string>(
           "--from-recording",
           [](const std::string&) {
             throw CLI::ValidationError(
                 "--from-recording",
                 "nothing can be written to a recording; look at it with watch "
                 "TYPE/NAME --diff --from-recording FILE");
           })
        ->group("");
    return;
  }
  app.add_option("--from-recording", from_,
                 "take what was recorded in this file instead of asking a server; ends where it "
                 "ends")
      ->type_name("FILE")
      ->excludes(record)
      ->group(kRecordingFlags);
}

Result<void> SessionRecording::check() const {
  return records() ? check_output_file("--record", record_) : Result<void>();
}

Result<std::unique_ptr<Session>> SessionRecording::open(const client::ConfigOverrides& overrides,
                                                        std::function<void()> on_end,
                                                        loop::EventLoop* shared) {
  if (replays()) {
    if (const std::string flag = server_flag_of(overrides); !flag.empty()) {
      return Error(ErrorKind::invalid, flag + " names a server, but --from-recording asks none");
    }
    auto session = Session::open_recording(from_, overrides.namespace_, std::move(on_end), shared);
    // A file that is missing is wrong usage, whatever the file system said of it.
    if (!session.ok()) return Error(ErrorKind::invalid, session.error().render());
    return session;
  }
  KW_ASSIGN(auto session, Session::open(overrides, shared));
  if (!records()) return session;
  auto file = hooks::RecordingFile::create(record_);
  if (!file.ok()) return Error(ErrorKind::invalid, "--record: " + file.error().render());
  const auto recorder = std::make_shared<hooks::Recorder>(session->loop(), std::move(*file),
                                                          hooks::RecorderOptions{});
  recorder_ = recorder;
  session->wrap_transport([&](http::Transport& inner) {
    using Objects = hooks::RecordingTransport::Objects;
    return std::make_unique<hooks::RecordingTransport>(
        inner, recorder, use_ == Use::writes ? Objects::recorded : Objects::left_out);
  });
  return session;
}

void SessionRecording::note(const std::vector<core::ResourceType>& types) {
  if (const auto recorder = recorder_.lock()) recorder->on_types(types);
}

std::string SessionRecording::note_version(const core::ResourceType& now) {
  if (!records()) return "";
  note({now});
  return fmt::format("the recording has what follows under {}.{}.{}: name that to read it",
                     now.plural, now.gvk.version, now.gvk.group);
}

void SessionRecording::learn(const Json& object) {
  if (const auto recorder = recorder_.lock()) recorder->learn(object);
}

std::string SessionRecording::end() {
  const auto recorder = recorder_.lock();
  return recorder == nullptr ? "" : recorder->end(true);
}

}  // namespace kubewatch::cli
