// Any bytes as a kubeconfig: an error or entries that can be asked for everything.
#include <cstdint>

#include "client/kubeconfig.hpp"

using namespace kubewatch::client;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Kubeconfig config;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(merge_kubeconfig("/dir/config", text, config));
  for (const auto* entries : {&config.clusters, &config.users, &config.contexts}) {
    for (const auto& [name, entry] : *entries) {
      for (const char* key : {"server", "token", "tokenFile", "cluster", "namespace", "as"}) {
        if (const auto value = entry.text(key); value.ok()) entry.resolve(*value);
      }
      static_cast<void>(entry.flag("insecure-skip-tls-verify"));
      static_cast<void>(entry.texts("as-groups"));
      static_cast<void>(entry.text_lists("as-user-extra"));
      // Only inline data: files that the bytes name are none of the fuzzer's business.
      if (const auto data_key = entry.text("client-key-data"); data_key.ok() && !data_key->empty())
        static_cast<void>(entry.content("client-key"));
    }
  }
  return 0;
}
