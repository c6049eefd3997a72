// Which form of reading a whole state costs least, as a plain function of what is known. It decides
// a first try: what to do after a refusal is the watcher's business.
//
// Costs, measured on kube-apiserver 1.36 with 100k Pods of 5.95 KB (wall until complete, one
// client, 2 cores; the rows of facts/kube-apiserver.md and of lib/runtime/README.md):
//   whole collection          unpaged LIST 7.3-8.2 s, streaming list 16 s, pages of 500 22 s
//   a selector, 10k of 100k   streaming list 1.3 s, pages of 500 5.3 s
// A LIST in one namespace is served from that namespace's part of the watch cache: as the whole
// collection, but smaller. Servers before 1.31 read a consistent LIST from etcd, all of it for a
// selector too: pages keep that bounded; resourceVersion=0 is answered from their cache, whole.
// Streaming lists (feature gate WatchList) are on by default in 1.32 and from 1.34 on, off in 1.33
// and before 1.32 (KEP-3157): a try there is a wasted request.
#pragma once

#include <cstdint>
#include <optional>

namespace kubewatch::runtime {

// What GET /version says; minor without its suffix ("27+" is 27).
struct ServerVersion {
  int major = 1;
  int minor = 0;
  friend bool operator<(const ServerVersion& a, const ServerVersion& b) {
    return a.major != b.major ? a.major < b.major : a.minor < b.minor;
  }
};

enum class ListForm { unpaged, paged, streaming };

struct ListSituation {
  bool narrowed = false;                // by a label or field selector
  bool from_cache = false;              // any version will do: resourceVersion=0
  std::optional<ServerVersion> server;  // absent: not known, so try
  std::uint64_t last_size = 0;          // objects of the last full state; 0 = not known
  std::uint32_t page_size = 0;          // 0 = pages are not wanted
};

ListForm choose_strategy(const ListSituation& situation);
// Whether sendInitialEvents is worth a try.
bool may_stream_lists(const std::optional<ServerVersion>& server);

}  // namespace kubewatch::runtime
