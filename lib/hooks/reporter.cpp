// Events on objects whose runs fail.
#include "hooks/reporter.hpp"

#include <unistd.h>

#include "base/json.hpp"
#include "base/log.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMaxNote = 1000;  // the API allows 1 kB
constexpr std::size_t kMaxName = 230;   // room for the suffix within 253
constexpr std::size_t kMaxRemembered = 10000;

std::string host_instance() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) return "kubewatch";
  return "kubewatch-" + std::string(name).substr(0, 100);
}

}  // namespace

bool OncePer::admit(const std::string& key, TimePoint now) {
  if (last_.size() > kMaxRemembered) {
    for (auto it = last_.begin(); it != last_.end();) {
      it = now - it->second >= window_ ? last_.erase(it) : std::next(it);
    }
  }
  auto [it, fresh] = last_.try_emplace(key, now);
  if (!fresh && now - it->second < window_) return false;
  it->second = now;
  return true;
}

std::string_view event_reason(Outcome outcome) {
  switch (outcome) {
    case Outcome::timeout: return "HookTimedOut";
    case Outcome::invalid_output: return "InvalidOutput";
    case Outcome::write_failed: return "WriteFailed";
    case Outcome::permanent: return "PermanentFailure";
    default: return "HookFailed";
  }
}

Json make_event(const Owner& owner, const std::string& controller, const std::string& instance,
                std::string_view reason, const std::string& note, const std::string& suffix,
                WallTime now) {
  const std::string ns = owner.namespaced ? owner.key.namespace_ : "default";
  Json regarding = {{"apiVersion", owner.gvk.api_version()},
                    {"kind", owner.gvk.kind},
                    {"name", owner.key.name},
                    {"uid", owner.uid}};
  if (owner.namespaced) regarding["namespace"] = owner.key.namespace_;
  return {{"apiVersion", "events.k8s.io/v1"},
          {"kind", "Event"},
          {"metadata",
           {{"name", owner.key.name.substr(0, kMaxName) + "." + suffix}, {"namespace", ns}}},
          {"eventTime", base::format_rfc3339_micro(now)},
          {"reportingController", std::string(kDomain) + controller},
          {"reportingInstance", instance},
          {"action", "Reconcile"},
          {"reason", reason},
          {"regarding", std::move(regarding)},
          {"note", note.substr(0, kMaxNote)},
          {"type", "Warning"}};
}

Reporter::Reporter(client::Client& client, base::Random& random)
    : client_(client), random_(random), instance_(host_instance()) {}

void Reporter::report(const core::ResourceType* type, const Owner& owner,
                      const std::string& controller, Outcome outcome, const std::string& note) {
  const std::string_view reason = event_reason(outcome);
  if (type == nullptr || owner.uid.empty()) return;
  const std::string key = owner.uid + " " + std::string(reason) + " " + note;
  if (!once_.admit(key, client_.loop().now())) return;
  const Json event = make_event(owner, controller, instance_, reason, note, random_.suffix(10),
                                client_.loop().wall());
  requests_.run<Result<Json>>(
      [](Result<Json> answer) {
        if (!answer.ok()) base::vlog(2, "an Event was not written: " + answer.error().render());
      },
      [&](client::ObjectCallback done) {
        return client_.create(*type, base::string_at(event, {"metadata", "namespace"}), event, {},
                              std::move(done));
      });
}

}  // namespace kubewatch::hooks
