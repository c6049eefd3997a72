// What the server has of the objects of one call, by a list for each kind and namespace of which
// there are many: a thousand objects are one request, not a thousand. What a list does not tell,
// because it is forbidden, cut off or too large, is read object by object as ever. Owned by the
// run; blocks on the session's loop.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "client/client.hpp"
#include "core/resource.hpp"

namespace kubewatch::cli {

struct FirstReadLimits {
  std::size_t least_objects = 8;        // fewer are read one by one
  std::size_t most_bytes = 32U << 20U;  // of a list, then it is given up
  std::size_t more_than_asked = 100;    // how many others may be in the list's page
};

class FirstReads {
 public:
  // `client` must outlive it.
  explicit FirstReads(client::Client& client, FirstReadLimits limits = {});

  void add(const core::ResourceType& type, const core::ObjectKey& key);
  // Blocks until the lists are there or `stopped` holds.
  void read(const std::function<bool()>& stopped);
  // Nothing: not known. Null: there is none. Told once.
  std::optional<Json> take(const core::ResourceType& type, const core::ObjectKey& key);

 private:
  struct Group {
    core::ResourceType type;
    std::set<std::string> names;
    std::map<std::string, Json> found;
    std::size_t bytes = 0;
    bool complete = false;  // a name that was not found is not there
  };
  using GroupKey = std::pair<core::Gvk, std::string>;  // the kind and the namespace
  void list(const std::string& namespace_, Group& group, const std::function<bool()>& stopped);

  client::Client& client_;
  const FirstReadLimits limits_;
  std::map<GroupKey, Group> groups_;
};

}  // namespace kubewatch::cli
