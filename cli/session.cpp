#include "cli/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "cli/sandbox_config.hpp"
#include "client/credentials.hpp"
#include "client/sender.hpp"
#include "hooks/recording_format.hpp"
#include "rehearsal/recorded_transport.hpp"

namespace kubewatch::cli {

Result<void> Session::connect(client::ClientConfig config) {
  KW_TRY(client::check_token(config));
  KW_ASSIGN(transport_, client::make_transport(loop_, config));
  client_ = std::make_unique<client::Client>(loop_, *transport_, std::move(config));
  return {};
}

void Session::make_dry(hooks::DryRunTransport::OnWrite on_write) {
  wrap_transport([&](http::Transport& inner) {
    return std::make_unique<hooks::DryRunTransport>(loop_, inner, std::move(on_write));
  });
}

void Session::wrap_transport(const Wrap& wrap) {
  client::ClientConfig config = client_->config();
  client_.reset();
  wires_.insert(wires_.begin(), std::move(transport_));
  transport_ = wrap(*wires_.front());
  client_ = std::make_unique<client::Client>(loop_, *transport_, std::move(config));
}

Result<std::unique_ptr<Session>> Session::open(const client::ConfigOverrides& overrides,
                                               loop::EventLoop* shared) {
  auto loaded = client::load_config(overrides, client::ConfigEnvironment::from_process());
  // A kubeconfig that is missing or broken is wrong usage, whatever the file system said of it.
  if (!loaded.ok()) return Error(ErrorKind::invalid, loaded.error().render());
  auto config = std::move(loaded).value();
  auto session = std::unique_ptr<Session>(new Session(shared));
  session->discovery_file_.emplace(client::cache_folder(overrides.cache_dir), config);
  KW_TRY(session->connect(std::move(config)));
  return session;
}

Result<std::unique_ptr<Session>> Session::open_recording(const std::string& file,
                                                         const std::string& namespace_,
                                                         std::function<void()> on_end,
                                                         loop::EventLoop* shared) {
  KW_ASSIGN(const std::string bytes, base::read_file(file, hooks::kMaxRecording));
  auto server = rehearsal::RecordedServer::load(bytes);
  if (!server.ok()) return std::move(server).error().with_context(file);
  if (!server->damage().empty()) {
    base::log_warn("the recording " + file + " ends early: " + server->damage());
  }
  auto session = std::unique_ptr<Session>(new Session(shared));
  session->recording_ = file;
  session->damaged_ = !server->damage().empty();
  client::ClientConfig config;
  config.server = "http://recording.invalid";
  config.namespace_ = namespace_.empty() ? "default" : namespace_;
  config.source = "the recording " + file;
  session->transport_ = std::make_unique<rehearsal::RecordedTransport>(
      session->loop_, std::move(*server), std::move(on_end));
  session->client_ =
      std::make_unique<client::Client>(session->loop_, *session->transport_, std::move(config));
  return session;
}

Result<std::unique_ptr<Session>> Session::open_sandbox(std::vector<Manifest> manifests) {
  auto session = std::unique_ptr<Session>(new Session());
  KW_ASSIGN(session->sandbox_, apiserver::Sandbox::start(session->loop_, {}));
  KW_TRY(load_into(*session->sandbox_, std::move(manifests)));
  KW_TRY(session->connect(sandbox_client_config(*session->sandbox_)));
  return session;
}

bool Session::over() const {
  return bound_ && (loop_.now() >= bound_->until || (bound_->interrupted && bound_->interrupted()));
}

void Session::turn_until(const std::function<bool()>& holds, Duration most) {
  const Duration left = bound_ ? bound_->until - loop_.now() : most;
  loop_.run_until([&] { return holds() || over(); }, std::clamp(left, Duration{0}, most));
}

Error Session::out_of_bounds() const {
  const bool in_time = !bound_ || loop_.now() < bound_->until;
  if (in_time || (bound_->interrupted && bound_->interrupted())) {
    return {ErrorKind::canceled, "interrupted"};
  }
  return {ErrorKind::timeout,
          fmt::format("timed out: {} within {}", client_->no_answer(), bound_->time)};
}

void Session::await_server(base::BackoffPolicy backoff, std::function<void(const Error&)> told) {
  await_backoff_ = backoff;
  await_told_ = std::move(told);
}

Result<Session::Resources> Session::resources() {
  if (resources_) return resources_;
  const auto ask = [&](auto done) { return client::discover(*client_, std::move(done)); };
  auto found = wait_patiently<Resources>(ask);
  base::Backoff backoff(await_backoff_);
  while (!found.ok() && await_told_ && client::may_come_back(found.error()) && !over()) {
    if (backoff.failures() == 0) await_told_(found.error());
    turn_until([] { return false; }, client::pause_before_next(found.error(), backoff, random_));
    if (!over()) found = wait_patiently<Resources>(ask);
  }
  if (!found.ok()) return found;
  keep(std::move(*found));
  return resources_;
}

void Session::keep(Resources found) {
  resources_ = std::move(found);
  note_answered();
  if (discovery_file_) discovery_file_->save(*resources_, loop_.wall());
}

bool Session::is_hopeless(const Error& error) const {
  return !answered_ && client::is_wrongly_set_up(error);
}

Result<std::string> Session::read(const std::string& path, const std::string& what) {
  KW_ASSIGN(auto answer, wait_patiently<http::Response>([&](auto done) {
              auto judge = [this, &what, done = std::move(done)](Result<http::Response> given) {
                if (!given.ok() || given->status == 200) return done(std::move(given));
                done(client::error_of_answer(given->status, given->headers, given->body,
                                             &client_->config())
                         .with_context(what));
              };
              return client_->raw("GET", path, std::move(judge));
            }));
  return std::move(answer.body);
}

const Session::Resources& Session::kept() {
  if (!std::exchange(looked_for_kept_, true) && discovery_file_ && !resources_) {
    kept_resources_ = discovery_file_->load(loop_.wall());
  }
  return resources_ ? resources_ : kept_resources_;
}

Session::Resources Session::known(const std::vector<std::string>& words) {
  const Resources& map = kept();
  const bool knows_all =
      map && std::none_of(words.begin(), words.end(),
                          [&](const std::string& word) { return map->resolve(word).empty(); });
  return knows_all ? map : nullptr;
}

Result<Session::Resources> Session::resources_with(const std::vector<std::string>& words) {
  if (auto map = known(words)) return map;
  return resources();
}

Result<std::optional<core::ResourceType>> Session::type_of(const core::Gvk& gvk) {
  const Resources& known = kept();
  if (known && known->find(gvk) != nullptr) return std::optional(*known->find(gvk));
  KW_ASSIGN(const auto map, resources());
  const auto* type = map->find(gvk);
  return type == nullptr ? std::nullopt : std::optional(*type);
}

void Session::forget_resources() {
  resources_.reset();
  kept_resources_.reset();
  looked_for_kept_ = true;
}

Result<std::vector<core::ResourceType>> Session::resolve(const std::string& word) {
  KW_ASSIGN(const auto map, resources_with({word}));
  auto found = map->resolve(word);
  if (found.empty()) return missing_type(*map, word);
  return found;
}

Error Session::missing_type(const client::ResourceMap& map, const std::string& word) const {
  std::vector<std::string> known;
  for (const auto& type : map.all()) {
    known.push_back(type.plural);
    known.insert(known.end(), type.short_names.begin(), type.short_names.end());
  }
  if (map.group_did_not_answer(word)) {
    return {ErrorKind::unavailable,
            fmt::format("whether the server has a resource type \"{}\" is not known{}", word,
                        failed_groups(map))};
  }
  const std::string who = recording_.empty() ? "the server"
                          : damaged_         ? "what is left of the recording " + recording_
                                             : "the recording " + recording_;
  std::string text = fmt::format("{} doesn't have a resource type \"{}\"", who, word);
  if (const auto close = base::suggest(word, known); !close.empty()) {
    text += fmt::format(", did you mean \"{}\"?", close.front());
  }
  return {damaged_ ? ErrorKind::invalid : ErrorKind::not_found, text + failed_groups(map)};
}

std::string failed_groups(const client::ResourceMap& map) {
  if (map.failed_groups.empty()) return "";
  return fmt::format(" (discovery failed for {})", base::join(map.failed_groups, "; "));
}

}  // namespace kubewatch::cli
