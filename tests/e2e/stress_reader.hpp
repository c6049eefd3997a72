// One Reflector under test and everything that it must keep to: each change fits what was told
// before, in order and once; at a bookmark the cache, and what the changes alone amount to, equal
// an exact LIST at that resourceVersion, byte for byte; every confirmed write was told, but for
// those inside a marked gap.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "e2e/stress_writers.hpp"
#include "runtime/reflector.hpp"

namespace kubewatch::e2e {

struct ReaderSpec {
  std::string name;
  std::string kind;
  runtime::WatcherOptions options;
};

class Reader {
 public:
  struct Counts {
    std::uint64_t changes = 0;
    std::uint64_t bookmarks = 0;
    std::uint64_t equal = 0;           // comparisons with an exact LIST
    std::uint64_t not_comparable = 0;  // that resourceVersion was compacted before the LIST
    std::uint64_t gaps = 0;
  };

  // `proxied`: the client that goes through the faults; the world's own goes straight.
  Reader(World& world, client::Client& proxied, base::Random& random, ReaderSpec spec);
  void start() { reflector_->start(); }
  const std::string& name() const { return spec_.name; }
  const runtime::Reflector& reflector() const { return *reflector_; }
  const Counts& counts() const { return counts_; }
  // What was wrong, the first few; empty is right.
  const std::vector<std::string>& problems() const { return problems_; }
  // Each of `writes` up to the store's resourceVersion was told. Only where nothing is selected.
  void check_all_told(const std::vector<Writers::Write>& writes);
  // Whether the cache equals `items`, the newest state, now.
  bool equals(const std::vector<std::string>& items) const;

 private:
  using State = std::map<std::string, std::string>;  // namespace/name -> normal text

  void problem(const std::string& what);
  void on_change(const runtime::StoreChange& change);
  void on_synced(bool gap);
  void compare(const std::string& resource_version);
  void compared(const std::string& resource_version, const State& seen,
                const std::vector<std::string>& items);
  State cached() const;
  State told() const;

  World& world_;
  ReaderSpec spec_;
  Counts counts_;
  std::vector<std::string> problems_;
  struct Told {
    std::string uid;
    std::uint64_t version = 0;
    std::string text;
    bool exists = false;
  };
  std::map<std::string, Told> told_;
  std::map<std::uint64_t, std::string> versions_;              // told by changes: the object's key
  std::uint64_t last_version_ = 0;                             // of events and bookmarks
  std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps_;  // (after, up to]
  client::PendingPtr request_;
  std::unique_ptr<runtime::Reflector> reflector_;
};

}  // namespace kubewatch::e2e
