#include "hooks/finalizers_outside.hpp"

#include <algorithm>
#include <utility>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "hooks/access_review.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMostNames = 5;
constexpr Duration kLeadPause{5000};

std::string some_of(const std::set<std::string>& names) {
  std::vector<std::string> out(names.begin(), names.end());
  if (out.size() > kMostNames) {
    out.resize(kMostNames);
    out.emplace_back("...");
  }
  return base::join(out, ", ");
}

}  // namespace

FinalizersOutside::FinalizersOutside(client::Client& client, base::Random& random,
                                     ReleaseTarget rule, WatchedBefore before)
    : client_(client),
      random_(random),
      rule_(std::move(rule)),
      before_(std::move(before)),
      pages_(client, rule_.type, rule_.finalizer) {
  for (const std::string& name : rule_.namespaces) before_.namespaces.erase(name);
}

void FinalizersOutside::start(std::function<void(Found)> done) {
  done_ = std::move(done);
  timer_ = client_.loop().after(Duration{0}, [this] { begin(); });
}

void FinalizersOutside::begin() {
  if (before_.all || before_.namespaces.empty()) return ask_for_right();
  places_.assign(before_.namespaces.begin(), before_.namespaces.end());
  begin_pass();
}

// A rule with namespaces needs no right beyond them, and a list that is refused is an alarm for
// somebody: it is asked first. A process that does not lead may not ask.
void FinalizersOutside::ask_for_right() {
  if (!client_.may_write().ok()) {
    timer_ = client_.loop().after(kLeadPause, [this] { ask_for_right(); });
    return;
  }
  Right right;
  right.verb = "list";
  right.group = rule_.type.gvk.group;
  right.resource = rule_.type.plural;
  const Json review = access_review(right);
  requests_.run<Result<Json>>(
      [this](const Result<Json>& answer) {
        places_.assign(before_.namespaces.begin(), before_.namespaces.end());
        if (answer.ok() && allowed_by(*answer) == true) places_ = {""};
        blind_ = before_.all && !(places_.size() == 1 && places_[0].empty());
        begin_pass();
      },
      [&](client::ObjectCallback done) {
        return client_.create(access_review_type(), "", review, {}, std::move(done));
      });
}

void FinalizersOutside::begin_pass() {
  ++passes_;
  found_ = {};
  others_.clear();
  pages_.begin(places_);
  next_page();
}

void FinalizersOutside::next_page() {
  const bool asked =
      pages_.next([this](const std::string& place, const FinalizerPages::Carrying& carrying) {
        on_page(place, carrying);
      });
  if (!asked) end();
}

void FinalizersOutside::on_page(const std::string& place,
                                const FinalizerPages::Carrying& carrying) {
  if (!carrying.ok()) {
    const Error& error = carrying.error();
    if (error.is_not_found()) return end();  // the kind is gone, and its objects with it
    if (!error.is_forbidden()) return again_or_end(error);
    if (place.empty()) {
      found_.unseen = before_.namespaces;
      blind_ = before_.all;
    } else {
      found_.unseen.insert(place);
    }
    return next_page();
  }
  for (const core::ObjectMeta& meta : *carrying) note(meta);
  next_page();
}

void FinalizersOutside::note(const core::ObjectMeta& meta) {
  const auto& own = rule_.namespaces;
  if (std::find(own.begin(), own.end(), meta.namespace_) != own.end()) return;
  if (before_.all || before_.namespaces.contains(meta.namespace_)) {
    found_.namespaces.insert(meta.namespace_);
  } else {
    others_.insert(meta.key().str());
  }
}

void FinalizersOutside::again_or_end(const Error& error) {
  if (passes_ < kMostReleasePasses) {
    timer_ = client_.loop().after(backoff_.fail(random_), [this] { begin_pass(); });
    return;
  }
  base::log_warn("cannot look for the rule's finalizer outside its namespaces",
                 {{"controller", rule_.controller}, {"error", error.render()}});
  found_.unseen = before_.namespaces;
  end();
}

void FinalizersOutside::end() {
  if (!others_.empty()) {
    base::log_warn(
        "objects outside the rule's namespaces carry its finalizer: unless another instance runs "
        "the rule there, their deletion waits until it is taken off, in each of their namespaces, "
        "with: kubewatch run-controller finalizers -f FILE -n NAMESPACE --release",
        {{"controller", rule_.controller},
         {"finalizer", rule_.finalizer},
         {"count", std::to_string(others_.size())},
         {"objects", some_of(others_)}});
  }
  if (!found_.unseen.empty() || blind_) {
    base::log_warn(
        "namespaces that the rule does not name any more could not be read: objects there may "
        "carry its finalizer still, and their deletion waits until it is taken off, in each of "
        "them, "
        "with: kubewatch run-controller finalizers -f FILE -n NAMESPACE --release",
        {{"controller", rule_.controller},
         {"finalizer", rule_.finalizer},
         {"namespaces", blind_ ? "all" : some_of(found_.unseen)}});
  }
  timer_ = client_.loop().after(Duration{0}, [this] {
    const auto done = done_;
    done(std::move(found_));
  });
}

}  // namespace kubewatch::hooks
