#include "cli/sandbox_config.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apiserver/saved_objects.hpp"
#include "base/log.hpp"

namespace kubewatch::cli {

namespace {

// Of hundreds of objects no more are told of one by one.
constexpr std::size_t kMostNamed = 20;

std::string loaded_word(const Manifest& manifest) {
  return fmt::format("{}: {} \"{}\"", manifest.source, base::string_at(manifest.object, {"kind"}),
                     base::string_at(manifest.object, {"metadata", "name"}));
}

// What is left out of them, as of another cluster.
void fit(std::vector<Manifest>& manifests) {
  std::vector<const Json*> objects;
  for (const Manifest& one : manifests) objects.push_back(&one.object);
  const auto uids = apiserver::uids_of(objects);
  std::size_t told = 0;
  for (Manifest& one : manifests) {
    for (const std::string& what : apiserver::fit_saved(one.object, uids)) {
      if (++told > kMostNamed) continue;
      base::log_warn(fmt::format("{}: {}: left out", loaded_word(one), what));
    }
  }
  if (told > kMostNamed) {
    base::log_warn(fmt::format("left out of objects: {} more", told - kMostNamed));
  }
}

bool is_given_address(const Manifest& manifest) {
  return base::string_at(manifest.object, {"apiVersion"}) == "v1" &&
         base::string_at(manifest.object, {"kind"}) == "Service" &&
         base::string_at(manifest.object, {"spec", "clusterIP"}).empty();
}

// All of them in one error, each in a line of its own.
Error refused(const std::vector<Error>& errors) {
  if (errors.size() == 1) return errors.front();
  std::string text = fmt::format("{} objects were refused:", errors.size());
  for (std::size_t i = 0; i < errors.size() && i < kMostNamed; ++i) {
    text += "\n  " + errors[i].render();
  }
  if (errors.size() > kMostNamed)
    text += fmt::format("\n  and {} more", errors.size() - kMostNamed);
  return {errors.front().kind(), text};
}

}  // namespace

Result<void> load_into(apiserver::Sandbox& server, std::vector<Manifest> manifests) {
  sort_for_writing(manifests);
  fit(manifests);
  // They come last, lest they take an address that another one names.
  std::stable_partition(manifests.begin(), manifests.end(),
                        [](const Manifest& one) { return !is_given_address(one); });
  std::vector<Error> errors;
  for (const auto& manifest : manifests) {
    auto loaded = server.load(manifest.object, "kubewatch-sandbox");
    if (!loaded.ok()) {
      errors.push_back(std::move(loaded).error().with_context(loaded_word(manifest)));
    }
  }
  if (!errors.empty()) return refused(errors);
  return {};
}

client::ClientConfig sandbox_client_config(const apiserver::Sandbox& server) {
  client::ClientConfig config;
  config.server = server.url();
  config.ca_pem = server.ca_pem();
  config.token = server.token();
  config.namespace_ = "default";
  config.source = "the sandbox";
  return config;
}

}  // namespace kubewatch::cli
