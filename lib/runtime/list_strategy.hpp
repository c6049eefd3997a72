// Which form of reading a whole state costs least, as a plain function of what is known. It decides
// a first try: what to do after a refusal is the watcher's business.
//
// Measured on kube-apiserver 1.36 with 100k Pods of 5.95 KB (tests/bench/cache, "Choice of
// strategy"): one LIST without pages is the fastest for the whole
// collection (7-8 s against 16 s streamed and 22 s in pages), for a label that selects 10 % of it
// (1.2 s against 1.7 s streamed and 5 s in pages) and for one namespace. It is served from the
// watch cache and sent as it is encoded. Servers before 1.31 read a consistent LIST from etcd, all
// of the collection for a selector too: pages keep that bounded; resourceVersion=0 is answered from
// their cache, whole. A streaming list stays a choice of the user: it is gentler to the memory of
// old servers.
#pragma once

#include <cstdint>
#include <optional>

#include "core/server_version.hpp"

namespace kubewatch::runtime {

enum class ListForm { unpaged, paged, streaming };

struct ListSituation {
  bool narrowed = false;                      // by a label or field selector
  bool from_cache = false;                    // any version will do: resourceVersion=0
  std::optional<core::ServerVersion> server;  // absent: not known, taken for a new one
  std::uint32_t page_size = 0;                // 0 = pages are not wanted
};

ListForm choose_strategy(const ListSituation& situation);
// Whether the answer depends on the server's version.
bool needs_server_version(const ListSituation& situation);

}  // namespace kubewatch::runtime
