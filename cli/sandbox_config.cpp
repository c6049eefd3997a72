#include "cli/sandbox_config.hpp"

#include <fmt/format.h>

namespace kubewatch::cli {

Result<void> load_into(apiserver::Sandbox& server, std::vector<Manifest> manifests) {
  sort_for_writing(manifests);
  for (const auto& manifest : manifests) {
    auto loaded = server.load(manifest.object, "kubewatch-sandbox");
    if (!loaded.ok()) {
      return std::move(loaded).error().with_context(
          fmt::format("{}: {} \"{}\"", manifest.source, base::string_at(manifest.object, {"kind"}),
                      base::string_at(manifest.object, {"metadata", "name"})));
    }
  }
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
