#include "hooks/dry_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/yaml.hpp"
#include "core/server_fields.hpp"
#include "core/status.hpp"
#include "hooks/forced_paths.hpp"
#include "hooks/immutable_refusal.hpp"
#include "hooks/output.hpp"
#include "hooks/recorded_request.hpp"
#include "hooks/secret_refusal.hpp"
#include "hooks/text_diff.hpp"
#include "hooks/write_order.hpp"

namespace kubewatch::hooks {

namespace {

std::string path_of(const http::Request& request) {
  const auto target = api_target(request.url);
  return target ? target->path : request.url;
}

// Changes nothing, and what the run does follows from its answer: may it, and with which token.
// That answer must never be shown.
bool is_question(const http::Request& request) {
  if (request.method == "GET" || request.method == "HEAD") return true;
  const auto target = api_target(request.url);
  return target && request.method == "POST" && is_review(*target);
}

bool is_event(const http::Request& request) {
  const auto target = api_target(request.url);
  return target && target->plural == "events" &&
         (target->group.empty() || target->group == "events.k8s.io");
}

core::Gvk secret_or_other(std::string_view path) {
  const auto target = api_target(path);
  const bool secret = target && target->plural == "secrets" && target->group.empty();
  return secret ? core::Gvk{"", "v1", "Secret"} : core::Gvk{};
}

// The object that a write is about: without its subresource, and with the name of a new one.
std::string object_url(const http::Request& request) {
  std::string url = request.url.substr(0, request.url.find('?'));
  const auto target = api_target(url);
  if (request.method == "POST") {
    const auto body = base::parse_json(request.body);
    return url + "/" + (body.ok() ? base::string_at(*body, {"metadata", "name"}) : "");
  }
  if (target && !target->subresource.empty()) url.resize(url.rfind('/'));
  return url;
}

// What may be answered by another write of the same object.
bool may_come_again(const DryWrite& write, const Error& refusal) {
  const auto target = api_target(write.path);
  if (write.verb != "apply" || !target || !target->subresource.empty()) return false;
  return is_field_conflict(refusal) || is_immutable_refusal(refusal);
}

http::Request read_of(const http::Request& write) {
  http::Request request = write;
  request.method = "GET";
  request.url = object_url(write);
  request.body.clear();
  http::Headers headers;
  for (const auto& [name, value] : write.headers.all()) {
    if (name != "Content-Type") headers.add(name, value);
  }
  request.headers = std::move(headers);
  return request;
}

bool is_dry(const http::Request& request) {
  return request.url.find("dryRun=All") != std::string::npos;
}

// Of what can be made alone (a Binding) nothing is kept.
bool says_absent(int status) {
  return status == 404 || status == 405;
}

bool is_definition(const Json& object) {
  const auto gvk = core::gvk_of(object);
  return gvk.ok() && is_crd(*gvk);
}

// Who makes a definition waits for the server to take it up.
Json established(Json crd) {
  crd["status"] = {{"conditions", {{{"type", "Established"}, {"status", "True"}}}}};
  return crd;
}

// What differs by itself says nothing.
Json bare(Json object) {
  core::drop_metadata(
      object, {"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"});
  return object;
}

std::string title(const Json& object) {
  const std::string in = base::string_at(object, {"metadata", "namespace"});
  return base::string_at(object, {"kind"}) + " " + (in.empty() ? "" : in + "/") +
         base::string_at(object, {"metadata", "name"});
}

}  // namespace

http::Request as_question(http::Request request) {
  request.url += request.url.find('?') == std::string::npos ? "?dryRun=All" : "&dryRun=All";
  return request;
}

// First the object as it is, then the question, then the answer to whoever wrote.
class DryRunTransport::WriteCall : public http::Call {
 public:
  WriteCall(DryRunTransport& owner, http::Request request, http::CallHandlers handlers)
      : owner_(owner),
        request_(std::move(request)),
        handlers_(std::move(handlers)),
        rehearsal_(is_dry(request_)) {}

  void start() {
    if (is_event(request_)) {
      answer_ = {201, {}, request_.body};
      timer_ = owner_.loop_.after(Duration{0}, [this] { give(); });
      return;
    }
    write_.verb = verb_of(request_.method, request_.headers.get("Content-Type"));
    write_.path = path_of(request_);
    object_path_ = path_of(read_of(request_));
    call_ = http::fetch(owner_.inner_, read_of(request_),
                        [this](Result<http::Response> answer) { on_live(std::move(answer)); });
  }

 private:
  void on_live(Result<http::Response> answer) {
    if (!answer.ok()) return handlers_.on_done(answer.error());
    if (answer->status == 200) {
      auto live = base::parse_json(answer->body);
      if (live.ok()) write_.live = std::move(*live);
    } else if (answer->status >= 300 && !says_absent(answer->status)) {
      return on_unread(std::move(*answer));
    }
    if (write_.verb == "delete") {
      answer_ = std::move(*answer);  // the object as it is, or a 404
      if (write_.live) {
        if (!rehearsal_) owner_.deleted_.insert(object_path_);
        tell();
      }
      return give();
    }
    const bool makes =
        write_.verb == "create" || (write_.verb == "apply" && write_.path == object_path_);
    if (makes && owner_.deleted_.count(object_path_) > 0 && take_as_sent()) {
      write_.anew = true;
      write_.live.reset();
      return taken();
    }
    // The call that answered is on the stack: the next one starts in the next turn.
    timer_ = owner_.loop_.after(Duration{0}, [this] { ask(); });
  }

  // What would change is not known without it. Whoever wrote may try again.
  void on_unread(http::Response answer) {
    answer_ = std::move(answer);
    write_.refused = "the object cannot be read: " +
                     core::error_from_response(answer_.status, answer_.body).message();
    tell();
    give();
  }

  void tell() {
    if (!rehearsal_) owner_.on_write_(write_);
  }

  void ask() {
    call_ = http::fetch(owner_.inner_, rehearsal_ ? request_ : as_question(request_),
                        [this](Result<http::Response> answer) { on_answer(std::move(answer)); });
  }

  void on_answer(Result<http::Response> answer) {
    if (!answer.ok()) return handlers_.on_done(answer.error());
    answer_ = std::move(*answer);
    if (answer_.status >= 400) return on_refused();
    if (auto body = base::parse_json(answer_.body); body.ok()) {
      write_.result = std::move(*body);
      return taken();
    }
    tell();
    give();
  }

  // Where the server cannot be asked. False: nobody could read it.
  bool take_as_sent() {
    auto sent = base::parse_json(request_.body);
    if (!sent.ok()) return false;
    write_.result = std::move(*sent);
    answer_ = {201, {}, request_.body};
    return true;
  }

  // Also a version more of a definition. What is only rehearsed may be left after all.
  void taken() {
    if (!rehearsal_) {
      owner_.deleted_.erase(object_path_);
      owner_.note_made(write_.result, !write_.live);
    }
    if (!write_.live && is_definition(write_.result)) {
      answer_.body = established(write_.result).dump();
    }
    tell();
    give();
  }

  void on_refused() {
    const Error refusal = core::error_from_response(answer_.status, answer_.body);
    if (!write_.live && write_.verb != "patch") write_.lacks = owner_.lacks(write_.path, refusal);
    if (!write_.lacks.empty() && take_as_sent()) return taken();
    write_.refused = without_secret_values(refusal, secret_or_other(write_.path)).message();
    write_.may_come_again = may_come_again(write_, refusal);
    tell();
    give();
  }

  // May destroy this call.
  void give() {
    const auto handlers = handlers_;
    const auto answer = answer_;
    const std::weak_ptr<char> alive = alive_;
    http::ResponseHead head{answer.status, answer.headers};
    if (!head.headers.has("Content-Type")) head.headers.set("Content-Type", "application/json");
    if (handlers.on_head) handlers.on_head(head);
    if (!alive.expired() && handlers.on_data) handlers.on_data(answer.body);
    if (!alive.expired()) handlers.on_done({});
  }

  DryRunTransport& owner_;
  http::Request request_;
  http::CallHandlers handlers_;
  const bool rehearsal_;  // whoever wrote asks, too
  DryWrite write_;
  std::string object_path_;
  http::Response answer_;
  std::unique_ptr<http::Call> call_;
  loop::Timer timer_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

DryRunTransport::DryRunTransport(loop::EventLoop& loop, http::Transport& inner, OnWrite on_write)
    : TransportAround(inner), loop_(loop), on_write_(std::move(on_write)) {}

void DryRunTransport::note_made(const Json& object, bool is_new) {
  const auto gvk = core::gvk_of(object);
  if (!gvk.ok()) return;
  const Made made{*gvk, core::object_key(object)};
  const OrderClass order = order_class(*gvk);
  if (order == OrderClass::namespaces) {
    made_paths_["/namespaces/" + made.key.name + "/"] = made;
  }
  if (order == OrderClass::looked_up && is_new) made_.insert(made);
  if (!is_definition(object)) return;
  for (const Json& version : base::items_at(object, {"spec", "versions"})) {
    made_paths_["/apis/" + base::string_at(object, {"spec", "group"}) + "/" +
                base::string_at(version, {"name"}) + "/"] = made;
  }
}

std::string DryRunTransport::lacks(const std::string& path, const Error& refusal) const {
  const auto text = [](const Made& made) { return child_id(made.gvk, made.key).str(); };
  for (const auto& [piece, made] : made_paths_) {
    if (refusal.is_not_found() && path.find(piece) != std::string::npos) return text(made);
  }
  const auto target = api_target(path);
  for (const Made& made : made_) {
    if (target && says_lacking(refusal, target->namespace_, made.gvk, made.key)) return text(made);
  }
  return "";
}

std::unique_ptr<http::Call> DryRunTransport::start(http::Request request,
                                                   http::CallHandlers handlers) {
  if (is_question(request)) {
    return inner_.start(std::move(request), std::move(handlers));
  }
  auto call = std::make_unique<WriteCall>(*this, std::move(request), std::move(handlers));
  call->start();
  return call;
}

void make_dry(Rule& rule) {
  rule.concurrency = 1;
  if (rule.finalize) rule.finalize->left_out = true;
  // What it passes on would be written.
  rule.reconcile.credentials.read_only = true;
}

void mask_values(Json& value, const SecretMask& mask) {
  if (value.is_string()) {
    value = mask.mask(value.get_ref<const std::string&>());
  } else if (value.is_structured()) {
    for (Json& item : value) mask_values(item, mask);
  }
}

std::string text_of(const DryWrite& write, const SecretHash& secrets, const SecretMask& known) {
  Json live = write.live ? bare(*write.live) : Json();
  Json result = bare(write.result);
  const std::string name = title(write.live ? live : result);
  if (!write.refused.empty()) {
    return known.mask(fmt::format("{} {}: refused: {}\n", write.verb,
                                  write.live ? name : write.path, write.refused));
  }
  const bool differs = live != result;
  if (!differs) return "";
  // Values that differ keep differing: they are hidden by their hash.
  for (Json* object : {&live, &result}) {
    secrets.hide(*object, SecretHash::Reader::person);
    mask_values(*object, known);
  }
  const std::string before = write.live ? base::dump_yaml(live) : "";
  const std::string after = result.is_null() ? "" : base::dump_yaml(result);
  const char* effect = !write.live ? "created" : result.is_null() ? "deleted" : "configured";
  const std::string diff =
      before == after ? "(only values of Secrets differ)\n" : unified_diff(before, after);
  // Once more for what is no text in them: numbers, keys.
  std::string unsure = write.anew ? " (cannot be judged before the old one is deleted)" : "";
  if (!write.lacks.empty()) unsure = " (cannot be judged before " + write.lacks + " is written)";
  return known.mask(fmt::format("{} {}: {}{}\n--- live\n+++ dry run\n{}", write.verb, name, effect,
                                unsure, diff));
}

}  // namespace kubewatch::hooks
