// One watch and its cache for as many as like: controllers of a ControllerBuilder, streams of a
// StreamSet, readers. It is listed and watched once, and held in memory once, whoever comes when.
// Thin: a Reflector with listeners. Subscribers at their own pace are Reflector::subscribe's.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/reflector.hpp"
#include "runtime/stream_set.hpp"

namespace kubewatch::runtime {

// How a watch is called in health and messages: "pods in namespace shop with app=web".
std::string watch_name(const core::ResourceType& type, const std::string& namespace_,
                       const WatcherOptions& options);

// Lives as long as somebody holds it: its sources do. Not to be let go by the last one from inside
// what it tells.
class SharedWatch : public std::enable_shared_from_this<SharedWatch> {
 public:
  // Arguments as Reflector: `client` and `random` must outlive it. Nothing is asked of the server
  // before its first source is started.
  static std::shared_ptr<SharedWatch> open(client::Client& client, base::Random& random,
                                           core::ResourceType type, std::string namespace_ = "",
                                           WatcherOptions options = {}, StoreOptions store = {});
  SharedWatch(const SharedWatch&) = delete;
  SharedWatch& operator=(const SharedWatch&) = delete;

  // For one stream. Whoever comes late is told first what is there, as added and initial, then
  // synced; from then on each change when the cache has it, with its previous state, as all are.
  std::unique_ptr<ChangeSource> source();
  const Store& store() const { return reflector_.store(); }
  // To load() it before anybody listens, to save() it, for its figures.
  Reflector& reflector() { return reflector_; }
  const core::ResourceType& type() const { return reflector_.type(); }
  const std::string& namespace_name() const { return reflector_.namespace_name(); }
  const std::string& name() const { return name_; }
  // What the cache has of each object.
  core::Content content() const { return content_; }

 private:
  struct Listener {
    SourceEvents events;
    bool told = false;  // what is there; until then nothing else
  };
  class Source;

  SharedWatch(client::Client& client, base::Random& random, core::ResourceType type,
              std::string namespace_, WatcherOptions options, StoreOptions store);
  ReflectorCallbacks callbacks();
  std::shared_ptr<Listener> listen(SourceEvents events);
  void tell_what_is_there(Listener& listener);
  void each(const std::function<void(const SourceEvents&)>& tell);

  loop::EventLoop& loop_;
  const std::string name_;
  const core::Content content_;
  std::vector<std::weak_ptr<Listener>> listeners_;  // in the order in which they came
  bool started_ = false;
  std::optional<std::pair<Error, Duration>> failure_;  // the newest
  Reflector reflector_;
};

}  // namespace kubewatch::runtime
