// The truth that the checker compares with: an etcd in memory with one revision for all kinds. It
// remembers every state of every kind, so that a check can ask what a cache ought to hold at any
// resourceVersion. No HTTP, no faults (api_server.hpp), no clock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "core/watch_event.hpp"

namespace kubewatch::model {

enum class Shape { plain, huge, deep };  // deep: nested beyond what a store takes whole

struct SimObject {
  std::string namespace_;
  std::string name;
  std::string uid;
  std::uint64_t revision = 0;  // of its last change
  std::uint64_t value = 0;
  bool selected = false;  // carries the label that narrow views ask for
  Shape shape = Shape::plain;
};
using SimKey = std::pair<std::string, std::string>;  // namespace, name
using SimState = std::map<SimKey, SimObject>;

// What one watch asks for.
struct View {
  std::size_t kind = 0;
  std::string namespace_;      // "" = all
  bool selected_only = false;  // labelSelector sel=yes
  bool matches(const SimObject& object) const {
    return (namespace_.empty() || object.namespace_ == namespace_) &&
           (!selected_only || object.selected);
  }
};

struct SimEvent {
  core::WatchEventType type = core::WatchEventType::added;
  std::uint64_t revision = 0;
  SimObject object;  // of a deletion: the last state, under the event's revision
};

// The object as it stands in a list item or an event.
std::string to_json(std::size_t kind, const SimObject& object, bool with_type);
std::string kind_name(std::size_t kind);

class Cluster {
 public:
  Cluster(std::size_t kinds, base::Random& random);

  std::uint64_t revision() const { return revision_; }
  std::uint64_t compacted() const { return compacted_; }
  // Counts restores. A version that was told before is a version of this epoch only if
  // it is not newer than what every restore since went back to.
  std::uint64_t epoch() const { return epoch_; }

  SimState state_at(const View& view, std::uint64_t revision) const;
  // The first event of a view in (after, upto], as the server tells it to that view.
  std::optional<SimEvent> next_event(const View& view, std::uint64_t after,
                                     std::uint64_t upto) const;

  // One random change of one kind; `shapes`: huge and deep objects as well.
  void write(std::size_t kind, bool shapes);
  void compact_to(std::uint64_t revision);
  // etcd restored from a backup: back to `to`. bump: the revision jumps ahead instead and all
  // before it is compacted (etcdutl --bump-revision --mark-compacted).
  void restore(std::uint64_t to, bool bump);

 private:
  struct Change {
    std::size_t kind = 0;
    std::optional<SimObject> before;
    std::optional<SimObject> after;
  };
  void record(std::size_t kind, const SimKey& key, std::optional<SimObject> after);

  base::Random& random_;
  std::uint64_t revision_ = 10;
  std::uint64_t compacted_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint64_t uids_ = 0;
  std::uint64_t values_ = 0;
  std::vector<std::map<std::uint64_t, SimState>> states_;  // by kind
  std::map<std::uint64_t, Change> changes_;
};

}  // namespace kubewatch::model
