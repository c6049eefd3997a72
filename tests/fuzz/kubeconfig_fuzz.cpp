// Any bytes as a kubeconfig: an error or entries that can be asked for everything; read twice it is
// the same as once, and from a file the same as from memory.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "base/json.hpp"
#include "client/kubeconfig.hpp"

using namespace kubewatch::client;

namespace {

void ask_everything(const KubeconfigEntry& entry) {
  for (const char* key : {"server", "token", "tokenFile", "cluster", "namespace", "as"}) {
    if (const auto value = entry.text(key); value.ok()) entry.resolve(*value);
  }
  static_cast<void>(entry.flag("insecure-skip-tls-verify"));
  static_cast<void>(entry.texts("as-groups"));
  static_cast<void>(entry.text_lists("as-user-extra"));
  static_cast<void>(entry.has("exec"));
  // Inline data, or no data at all: files that the bytes name are none of the fuzzer's business.
  for (const std::string key : {"client-key", "client-certificate", "certificate-authority"}) {
    const auto data = entry.text(key + "-data");
    const auto path = entry.text(key);
    if (!data.ok() || !data->empty() || (path.ok() && path->empty())) {
      static_cast<void>(entry.content(key));
    }
  }
}

// One file for all runs, rewritten each time.
std::string file_with(std::string_view text) {
  static const int fd = ::memfd_create("kubeconfig", MFD_CLOEXEC);
  if (::ftruncate(fd, 0) != 0 ||
      ::pwrite(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    std::abort();
  }
  return "/proc/self/fd/" + std::to_string(fd);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Kubeconfig config;
  const bool ok = merge_kubeconfig("/dir/config", text, config).ok();
  for (const auto* entries : {&config.clusters, &config.users, &config.contexts}) {
    for (const auto& [name, entry] : *entries) ask_everything(entry);
  }
  const std::string file = file_with(text);
  const auto loaded = load_kubeconfig({"/nonexistent/config", file, file}, false);
  if (loaded.ok() != ok) std::abort();
  if (ok && (loaded->clusters.size() != config.clusters.size() ||
             loaded->users.size() != config.users.size() ||
             loaded->contexts.size() != config.contexts.size() ||
             loaded->current_context != config.current_context)) {
    std::abort();
  }
  return 0;
}
