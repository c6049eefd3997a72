#include "hooks/definition_watch.hpp"

#include <utility>

#include "base/log.hpp"

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
constexpr Duration kConfirm{1000};

}  // namespace

DefinitionWatch::DefinitionWatch(loop::EventLoop& loop, StreamPool& pool, std::function<void()> ask,
                                 std::function<bool(const std::string& group)> follows)
    : loop_(loop), pool_(pool), ask_(std::move(ask)), follows_(std::move(follows)) {}

void DefinitionWatch::start(const client::ResourceMap& resources) {
  if (stopped_) return;
  if (!regular_) ask_regularly();
  if (definitions_ || refused_) return;
  const auto* type = resources.find_kind("apiextensions.k8s.io", "CustomResourceDefinition");
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

void DefinitionWatch::stop() {
  stopped_ = true;
  refused_timer_.reset();
  soon_.reset();
  regular_.reset();
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
