#include "hooks/definition_watch.hpp"

#include <utility>

#include "base/log.hpp"
#include "hooks/access_review.hpp"

namespace kubewatch::hooks {
namespace {

constexpr Duration kRegularly{60000};
// A definition is told first, then established, and then discovery has it; and when it goes, a
// second look is to find the kind missing.
const std::vector<Duration> kAfterChange = {Duration{200}, Duration{1000}, Duration{5000},
                                            Duration{5000}};
// A server's discovery may be a moment behind what its watches say.
constexpr Duration kDoubted{1000};
constexpr Duration kDoubtPause{30000};
// The second is for a server that was behind for longer.
constexpr int kDoubtLooks = 2;
constexpr int kTries = 2;
constexpr Duration kConfirm{1000};

constexpr const char* kDefinitionGroup = "apiextensions.k8s.io";

}  // namespace

DefinitionWatch::DefinitionWatch(client::Client& client, StreamPool& pool,
                                 std::function<void()> ask,
                                 std::function<bool(const std::string& group)> follows)
    : client_(client),
      loop_(client.loop()),
      pool_(pool),
      ask_(std::move(ask)),
      follows_(std::move(follows)) {}

void DefinitionWatch::start(const client::ResourceMap& resources) {
  if (stopped_) return;
  if (!regular_) ask_regularly();
  if (definitions_ || refused_) return;
  const auto* type = resources.find_kind(kDefinitionGroup, "CustomResourceDefinition");
  if (type == nullptr) return;
  StreamSpec spec;
  spec.type = *type;
  spec.list.content = core::Content::metadata;
  spec.needed = false;  // the regular look does as well
  definitions_.emplace();
  definitions_->open(
      pool_, spec, {},
      {[this](const runtime::StoreChange& change) { on_definition(change.meta.name); },
       [this] {
         // Never from inside of what is closed by it.
         refused_timer_ = loop_.after(Duration{0}, [this] { give_up_refused(); });
       }});
}

// The right is a convenience: to try on would warn for ever of what nothing waits for.
void DefinitionWatch::give_up_refused() {
  if (!definitions_ || !definitions_->blocked()) return;
  definitions_.reset();
  refused_ = true;
  base::log_info(
      "custom resource definitions cannot be watched: whether kinds have come or gone is looked at "
      "once a minute");
}

// To try the list itself would be a refusal each minute, an alarm for somebody. Who does not lead
// asks as well: no gate is before it. What was not answered in a minute is not waited for.
void DefinitionWatch::ask_for_right() {
  requests_ = {};
  Right right;
  right.verb = "list";
  right.group = kDefinitionGroup;
  right.resource = "customresourcedefinitions";
  requests_.run<Result<Json>>(
      [this](const Result<Json>& answer) {
        if (const auto allowed = answer.ok() ? allowed_by(*answer) : std::nullopt) {
          on_right(*allowed);
        }
      },
      [&](client::ObjectCallback done) {
        return client_.create(access_review_type(), "", access_review(right), {}, std::move(done));
      });
}

// What is refused although the right is there is refused for something else, or by another server
// that does not know of the right yet: it is tried twice.
void DefinitionWatch::on_right(bool allowed) {
  if (!allowed) tries_ = 0;
  if (!allowed || tries_ >= kTries || stopped_) return;
  ++tries_;
  refused_ = false;
  base::log_info("custom resource definitions may be watched now");
  ask_();  // start() comes after it
}

void DefinitionWatch::stop() {
  stopped_ = true;
  refused_timer_.reset();
  soon_.reset();
  regular_.reset();
  requests_ = {};
  confirm_.reset();
  doubts_.clear();
}

void DefinitionWatch::doubt(const core::Gvk& gvk) {
  if (stopped_) return;
  const auto [it, fresh] = doubts_.try_emplace(gvk);
  it->second.looks = kDoubtLooks;
  if (fresh) ask_of_doubted(gvk, kDoubted);
}

// By value: what the timer holds goes with it.
void DefinitionWatch::ask_of_doubted(core::Gvk gvk, Duration delay) {
  doubts_[gvk].timer = loop_.after(delay, [this, gvk] {
    const auto it = doubts_.find(gvk);
    if (it->second.looks == 0) {
      doubts_.erase(it);
      return;
    }
    --it->second.looks;
    ask_();
    ask_of_doubted(gvk, kDoubtPause);
  });
}

void DefinitionWatch::confirm() {
  if (!stopped_) confirm_ = loop_.after(kConfirm, [this] { ask_(); });
}

void DefinitionWatch::ask_regularly() {
  regular_ = loop_.after(kRegularly, [this] {
    ask_regularly();
    ask_();
    if (refused_) ask_for_right();
  });
}

void DefinitionWatch::ask_after(std::vector<Duration> delays) {
  if (delays.empty() || stopped_) return;
  const Duration first = delays.front();
  delays.erase(delays.begin());
  soon_ = loop_.after(first, [this, delays = std::move(delays)]() mutable {
    ask_();
    ask_after(std::move(delays));
  });
}

// "websites.demo.kubewatch.dev"
void DefinitionWatch::on_definition(const std::string& name) {
  const std::size_t dot = name.find('.');
  if (dot != std::string::npos && follows_(name.substr(dot + 1))) ask_after(kAfterChange);
}

}  // namespace kubewatch::hooks
