#include "hooks/finalizer_release.hpp"

#include <utility>

#include "base/log.hpp"
#include "client/apply_result.hpp"
#include "runtime/finalizer.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kPatchesAtOnce = 8;
constexpr std::size_t kMostPasses = 10;  // with the backoff: about six minutes
constexpr std::int64_t kPageSize = 500;

}  // namespace

FinalizerRelease::FinalizerRelease(client::Client& client, base::Random& random,
                                   ReleaseTarget target)
    : client_(client), random_(random), target_(std::move(target)) {
  if (target_.namespaces.empty() || !target_.type.namespaced) target_.namespaces = {""};
}

void FinalizerRelease::start(std::function<void()> done) {
  done_ = std::move(done);
  timer_ = client_.loop().after(Duration{0}, [this] { begin_pass(); });
}

void FinalizerRelease::begin_pass() {
  ++passes_;
  at_ = 0;
  failed_ = 0;
  continue_token_.clear();
  list();
}

void FinalizerRelease::list() {
  core::ListParams params;
  params.limit = kPageSize;
  params.content = core::Content::metadata;
  params.continue_token = continue_token_;
  requests_.run<Result<client::ListResult>>(
      [this](Result<client::ListResult> page) { on_page(std::move(page)); },
      [&](auto done) {
        return client_.list(target_.type, target_.namespaces[at_], params, std::move(done));
      });
}

void FinalizerRelease::on_page(Result<client::ListResult> page) {
  if (!page.ok()) {
    // The kind is gone, and its objects with it.
    if (page.error().is_not_found()) return end_pass();
    ++failed_;
    const std::string& in = target_.namespaces[at_];
    failure_ = (in.empty() ? "" : "namespace " + in + ": ") + page.error().render();
    // That one may not be listed is no reason to leave the others.
    return next_place();
  }
  for (const std::string& item : page->items) {
    auto meta = core::parse_meta(item);
    if (meta.ok() && meta->has_finalizer(target_.finalizer)) to_patch_.push_back(std::move(*meta));
  }
  continue_token_ = page->page.continue_token;
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
          on_patched(object, answer.ok() ? nullptr : &answer.error());
          patch_some();
        },
        [&](auto done) {
          return client_.patch(target_.type, meta.key(),
                               runtime::remove_finalizer_patch(meta, target_.finalizer), params,
                               std::move(done));
        });
  }
  if (in_flight_ > 0 || !to_patch_.empty()) return;
  if (!continue_token_.empty()) return list();
  next_place();
}

void FinalizerRelease::next_place() {
  continue_token_.clear();
  if (++at_ < target_.namespaces.size()) return list();
  end_pass();
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
  if (failed_ == 0 || passes_ >= kMostPasses) return end();
  timer_ = client_.loop().after(backoff_.fail(random_), [this] { begin_pass(); });
}

void FinalizerRelease::end() {
  base::LogFields fields = {{"controller", target_.controller},
                            {"finalizer", target_.finalizer},
                            {"objects", std::to_string(released_)}};
  if (failed_ == 0) {
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
