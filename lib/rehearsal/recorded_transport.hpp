// Answers requests out of a recording instead of a server (recorded_server), so that commands that
// read run on it as they are. Watches are told as fast as they are taken, in the recorded order,
// once nobody is between a list and its watch.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <set>

#include "http/transport.hpp"
#include "loop/event_loop.hpp"
#include "rehearsal/recorded_server.hpp"

namespace kubewatch::rehearsal {

class RecordedTransport : public http::Transport {
 public:
  // `loop` must outlive it. `on_end` is called once, from the loop, when all was told.
  RecordedTransport(loop::EventLoop& loop, RecordedServer server, std::function<void()> on_end);
  ~RecordedTransport() override;

  std::unique_ptr<http::Call> start(http::Request request, http::CallHandlers handlers) override;
  Result<void> set_tls(http::TlsOptions) override { return {}; }
  const RecordedServer& server() const;

 private:
  struct Impl;
  struct Watch;
  class Plain;
  std::shared_ptr<Impl> impl_;
};

}  // namespace kubewatch::rehearsal
