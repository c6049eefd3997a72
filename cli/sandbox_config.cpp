#include "cli/sandbox_config.hpp"

#include <fmt/format.h>

#include <charconv>

namespace kubewatch::cli {

Result<apiserver::SandboxOptions> parse_listen(const std::string& text) {
  apiserver::SandboxOptions options;
  const auto colon = text.rfind(':');
  const auto bad = [&] {
    return Error(ErrorKind::invalid,
                 fmt::format("{}: expected ADDRESS:PORT, such as 127.0.0.1:0", text));
  };
  if (colon == std::string::npos || colon == 0) return bad();
  options.address = text.substr(0, colon);
  if (options.address.front() == '[' && options.address.back() == ']') {
    options.address = options.address.substr(1, options.address.size() - 2);
  }
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + colon + 1, end, options.port);
  if (parsed.ec != std::errc() || parsed.ptr != end) return bad();
  return options;
}

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
