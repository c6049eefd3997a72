// Writes at a steady rate: creates, changes, moves in and out of a selection (label tier) and
// deletes objects of two kinds, one write per object at a time, and remembers the resourceVersion
// of every write that the server confirmed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "e2e/world.hpp"

namespace kubewatch::e2e {

class Writers {
 public:
  struct Counts {
    std::uint64_t confirmed = 0;
    std::uint64_t refused = 0;  // conflicts with what happened meanwhile
    std::uint64_t lost = 0;     // no answer: the server was away
  };
  struct Write {
    std::uint64_t version = 0;
    core::ObjectKey key;
  };

  Writers(World& world, int per_second, std::uint64_t seed);
  void start();
  void stop() { timer_.reset(); }
  const Counts& counts() const { return counts_; }
  // Confirmed creates and changes, by kind, in the order of their confirmation.
  const std::vector<Write>& writes(const std::string& kind) const { return writes_.at(kind); }

 private:
  struct Object {
    std::string kind;
    core::ObjectKey key;
    bool exists = false;
    bool web = false;
    client::PendingPtr pending;
    bool busy = false;
  };

  void tick();
  void write(Object& object);
  void create(Object& object);
  void change(Object& object);
  void remove(Object& object);
  void done(Object& object, const Result<void>& result, const Json* written);

  World& world_;
  int per_second_;
  base::Random random_;
  Counts counts_;
  std::map<std::string, std::vector<Write>> writes_;
  std::vector<Object> objects_;
  loop::Timer timer_;
  TimePoint started_{};
  std::uint64_t begun_ = 0;
  int value_ = 0;
};

}  // namespace kubewatch::e2e
