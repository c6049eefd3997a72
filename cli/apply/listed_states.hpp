// What the server has of many objects before they are applied, by one list for all of a kind and
// namespace instead of a request for each: half of the server's work of a large call. It only saves
// requests: an object that it does not know is asked for alone, whatever the reason (few objects of
// the kind, a collection much larger than the call, no right to list, an answer that broke off).
// Owned by ApplyRun; what it gives is as old as its list, so writes that rely on it say its
// resourceVersion.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/client.hpp"
#include "core/resource.hpp"

namespace kubewatch::cli {

class ListedStates {
 public:
  // `client` must outlive it. At most so many requests at once.
  ListedStates(client::Client& client, std::size_t at_once) : client_(client), at_once_(at_once) {}

  // An object that will be applied. Before read().
  void expect(const core::ResourceType& type, const core::ObjectKey& key);
  // Lists what is worth it, a few at a time. `done` comes once, possibly before this returns.
  // Failures only mean that less is known.
  void read(std::function<void()> done);
  // Its text as in the list, "": there is none. nullopt: not known. Gives each away once.
  std::optional<std::string> take(const core::ResourceType& type, const core::ObjectKey& key);

 private:
  struct Group {
    core::ResourceType type;
    std::string namespace_;
    std::map<std::string, std::string> objects;  // by wanted name; "" until found
    std::size_t found = 0;
    std::size_t items = 0;  // read so far, wanted or not
    std::size_t bytes = 0;
    bool whole = false;  // who was not found is not there
    client::PendingPtr request;
    loop::Timer cut_off;  // set: ended before its answer did
  };
  using GroupKey = std::pair<std::string, std::string>;  // qualified plural, namespace
  static GroupKey key_of(const core::ResourceType& type, const std::string& namespace_);
  void begin_more();
  void list(Group& group, const std::string& continue_token);
  static bool is_enough(const Group& group);
  void keep(Group& group, std::string_view item);
  void end(Group& group);

  client::Client& client_;
  const std::size_t at_once_;
  std::map<GroupKey, Group> groups_;
  std::vector<Group*> waiting_;
  std::size_t open_ = 0;
  std::function<void()> done_;
};

}  // namespace kubewatch::cli
