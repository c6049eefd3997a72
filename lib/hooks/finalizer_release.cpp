#include "hooks/finalizer_release.hpp"

#include <utility>

#include "base/log.hpp"
#include "client/apply_result.hpp"
#include "hooks/secret_refusal.hpp"
#include "runtime/finalizer.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kPatchesAtOnce = 8;

}  // namespace

FinalizerRelease::FinalizerRelease(client::Client& client, base::Random& random,
                                   ReleaseTarget target)
    : client_(client),
      random_(random),
      target_(std::move(target)),
      pages_(client, target_.type, target_.finalizer) {
  if (target_.namespaces.empty() || !target_.type.namespaced) target_.namespaces = {""};
}

void FinalizerRelease::start(std::function<void()> done) {
  done_ = std::move(done);
  timer_ = client_.loop().after(Duration{0}, [this] { begin_pass(); });
}

void FinalizerRelease::begin_pass() {
  ++passes_;
  failed_ = 0;
  pages_.begin(target_.namespaces);
  next_page();
}

void FinalizerRelease::next_page() {
  const bool asked =
      pages_.next([this](const std::string& place, FinalizerPages::Carrying carrying) {
        on_page(place, std::move(carrying));
      });
  if (!asked) end_pass();
}

void FinalizerRelease::on_page(const std::string& place, FinalizerPages::Carrying carrying) {
  if (!carrying.ok()) {
    // The kind is gone, and its objects with it.
    if (carrying.error().is_not_found()) return end_pass();
    ++failed_;
    failure_ = (place.empty() ? "" : "namespace " + place + ": ") + carrying.error().render();
    // That one may not be listed is no reason to leave the others.
    return next_page();
  }
  to_patch_ = std::move(*carrying);
  patch_some();
}

void FinalizerRelease::patch_some() {
  while (!to_patch_.empty() && in_flight_ < kPatchesAtOnce) {
    const core::ObjectMeta meta = std::move(to_patch_.back());
    to_patch_.pop_back();
    ++in_flight_;
    core::PatchParams params;
    params.type = core::PatchType::json;
    params.field_manager = target_.field_manager;
    requests_.run<Result<client::ApplyResult>>(
        [this, object = meta.key().str()](const Result<client::ApplyResult>& answer) {
          --in_flight_;
          if (answer.ok()) {
            on_patched(object, nullptr);
          } else {
            const Error refused = without_secret_values(answer.error(), target_.type.gvk);
            on_patched(object, &refused);
          }
          patch_some();
        },
        [&](auto done) {
          return client_.patch(target_.type, meta.key(),
                               runtime::remove_finalizer_patch(meta, target_.finalizer), params,
                               std::move(done));
        });
  }
  if (in_flight_ == 0) next_page();
}

void FinalizerRelease::on_patched(const std::string& object, const Error* refused) {
  if (refused != nullptr && !refused->is_not_found()) {
    ++failed_;
    failure_ = object + ": " + refused->render();
  } else {
    ++released_;
  }
}

void FinalizerRelease::end_pass() {
  if (failed_ == 0 || passes_ >= kMostReleasePasses) return end();
  timer_ = client_.loop().after(backoff_.fail(random_), [this] { begin_pass(); });
}

void FinalizerRelease::end() {
  base::LogFields fields = {{"controller", target_.controller},
                            {"finalizer", target_.finalizer},
                            {"objects", std::to_string(released_)}};
  if (failed_ == 0 && released_ == 0) {
    base::vlog(1, "the controller is gone: no object has its finalizer", fields);
  } else if (failed_ == 0) {
    base::log_info("the controller is gone: its finalizer was taken off", fields);
  } else {
    fields.emplace_back("error", failure_);
    base::log_error(
        "the controller is gone, and its finalizer could not be taken off everywhere; with its old "
        "rule file: kubewatch run-controller finalizers -f FILE --release",
        fields);
  }
  timer_ = client_.loop().after(Duration{0}, [done = done_] { done(); });
}

}  // namespace kubewatch::hooks
