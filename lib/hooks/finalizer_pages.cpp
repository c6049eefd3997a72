#include "hooks/finalizer_pages.hpp"

#include <utility>

namespace kubewatch::hooks {
namespace {

constexpr std::int64_t kCarriersPage = 500;

}  // namespace

FinalizerPages::FinalizerPages(client::Client& client, core::ResourceType type,
                               std::string finalizer)
    : client_(client), type_(std::move(type)), finalizer_(std::move(finalizer)) {}

void FinalizerPages::begin(std::vector<std::string> places) {
  places_ = std::move(places);
  at_ = 0;
  continue_token_.clear();
}

bool FinalizerPages::next(OnPage on_page) {
  if (at_ >= places_.size()) return false;
  core::ListParams params;
  params.limit = kCarriersPage;
  params.content = core::Content::metadata;
  params.continue_token = continue_token_;
  const std::string place = places_[at_];
  requests_.run<Result<client::ListResult>>(
      [this, place, on_page = std::move(on_page)](Result<client::ListResult> page) {
        on_page(place, take(std::move(page)));
      },
      [&](auto done) { return client_.list(type_, place, params, std::move(done)); });
  return true;
}

FinalizerPages::Carrying FinalizerPages::take(Result<client::ListResult> page) {
  continue_token_ = page.ok() ? page->page.continue_token : "";
  if (continue_token_.empty()) ++at_;
  if (!page.ok()) return std::move(page.error());
  std::vector<core::ObjectMeta> carrying;
  for (const std::string& item : page->items) {
    auto meta = core::parse_meta(item);
    if (meta.ok() && meta->has_finalizer(finalizer_)) carrying.push_back(std::move(*meta));
  }
  return carrying;
}

}  // namespace kubewatch::hooks
