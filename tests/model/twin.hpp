// The second of two reflectors that see the same (P4): it is answered with what the one under test
// is answered with, head, bytes and end, at the same virtual time, but in other pieces. All that
// the two ask, tell and count must be equal, with the time of each.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "client/client.hpp"
#include "client/rewinds.hpp"
#include "http/transport.hpp"
#include "loop/event_loop.hpp"
#include "runtime/reflector.hpp"

namespace kubewatch::model {

// What one of the two asked and told, line by line, until it was compared.
class Account {
 public:
  explicit Account(loop::EventLoop& loop) : loop_(loop) {}
  void told(const runtime::StoreChange& change, const runtime::Store& store);
  void synced(bool gap, const runtime::Store& store);
  void bookmark(const std::string& version);
  void failure(runtime::WatcherFailure where, const Error& error, Duration retry_in);
  void add(const std::string& line);

  std::deque<std::string> lines;

 private:
  loop::EventLoop& loop_;
};

struct TwinSetup {
  client::ClientConfig config;
  std::shared_ptr<client::Rewinds> rewinds;  // of the twins alone: null, no twin
  core::ResourceType type;
  std::string namespace_;
  runtime::WatcherOptions watcher;
  std::uint64_t seed = 0;  // of the reflector under test: equal failures wait equally long
};

class Twin {
 public:
  // `link` must outlive it, and it all calls of transport().
  Twin(loop::EventLoop& loop, http::Transport& link, const TwinSetup& setup);
  ~Twin();

  // For the reflector under test: the link, listened to.
  http::Transport& transport();
  Account& account() { return first_; }
  void start() { reflector_->start(); }
  // "" when both asked, told and counted the same up to now.
  std::string difference(const runtime::Reflector& under_test);

 private:
  struct Exchange;
  class FirstSide;
  class SecondSide;
  std::shared_ptr<Exchange> exchange(std::size_t number);

  loop::EventLoop& loop_;
  Account first_;
  Account second_;
  base::Random pieces_;
  base::Random random_;
  std::vector<std::shared_ptr<Exchange>> exchanges_;  // by the number of the request
  std::unique_ptr<FirstSide> first_side_;
  std::unique_ptr<SecondSide> second_side_;
  std::unique_ptr<client::Client> client_;
  std::unique_ptr<runtime::Reflector> reflector_;
};

}  // namespace kubewatch::model
