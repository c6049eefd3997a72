// Asks for a new discovery when a CustomResourceDefinition of a followed group changes, and once a
// minute: where CRDs may not be watched, which is said once, the regular look is what is left. With
// it the server is asked whether they may be by now; then they are. Where nobody follows
// definitions it asks when the watch of a kind is in doubt. Owned by the engine.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/discovery.hpp"
#include "client/in_flight.hpp"
#include "hooks/streams.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::hooks {

class DefinitionWatch {
 public:
  // `ask`: make a new discovery. `follows`: whether somebody cares for the kinds of a group. client
  // and pool must outlive it.
  DefinitionWatch(client::Client& client, StreamPool& pool, std::function<void()> ask,
                  std::function<bool(const std::string& group)> follows);

  // After a discovery, when somebody cares at all; again and again does no harm.
  void start(const client::ResourceMap& resources);
  // A watch says that the kind is not what it was: it is not there, or an object has another scope.
  // Asks soon, and never twice for one kind within half a minute, however often this is called.
  void doubt(const core::Gvk& gvk);
  // The last discovery told something that the next one is to confirm.
  void confirm();
  void stop();

 private:
  void on_definition(const std::string& name);
  void give_up_refused();
  void ask_for_right();
  void on_right(bool allowed);
  void ask_after(std::vector<Duration> delays);
  void ask_regularly();
  void ask_of_doubted(core::Gvk gvk, Duration delay);

  client::Client& client_;
  loop::EventLoop& loop_;
  StreamPool& pool_;
  std::function<void()> ask_;
  std::function<bool(const std::string&)> follows_;
  std::optional<StreamGroup> definitions_;
  bool refused_ = false;
  int tries_ = 0;  // since the right was last seen missing
  loop::Timer refused_timer_;
  loop::Timer soon_;
  loop::Timer regular_;
  loop::Timer confirm_;
  struct Doubt {
    int looks = 0;  // still to come
    loop::Timer timer;
  };
  std::map<core::Gvk, Doubt> doubts_;
  bool stopped_ = false;
  client::InFlight requests_;
};

}  // namespace kubewatch::hooks
