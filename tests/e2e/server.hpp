// The two API servers that every case of tests/e2e runs on: the sandbox in this process, and a real
// kube-apiserver that the ctest fixture started (control_plane.cpp). Which one:
// KUBEWATCH_E2E_SERVER.
#pragma once

#include <memory>
#include <string>

#include "client/config.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::e2e {

class Server {
 public:
  virtual ~Server() = default;
  virtual const client::ClientConfig& config() const = 0;
  virtual std::string name() const = 0;  // "sandbox" or "kube-apiserver"
  // Forgets its history: resourceVersions from before answer 410 afterwards. Ends open watches.
  virtual void compact() = 0;
  // Only compacts what is stored; watches stay, and a real server's watch cache keeps its window.
  virtual void compact_storage() = 0;
  // Ends all connections and comes back with the same objects (the sandbox only drops watches).
  virtual void restart() = 0;
  // Restores what was stored at the last back_up(): objects and resourceVersions go back, and the
  // server says nothing of it. Both end watches, the first one perhaps.
  virtual void back_up() = 0;
  virtual void restore() = 0;
};

std::unique_ptr<Server> make_server(loop::EventLoop& loop);

// It is to be the real one, and the fixture has started none: exit code 77 skips a test.
bool real_is_missing();

}  // namespace kubewatch::e2e
