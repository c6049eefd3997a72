// Predicates: which changes of an object are news. A predicate turns an object into a hash of what
// counts; PredicateFilter remembers the last hash of each object and drops a change that left it as
// it was. It filters what is told, never what a store keeps. Pure: `now` is an argument.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/time.hpp"
#include "core/meta.hpp"
#include "runtime/store.hpp"

namespace kubewatch::runtime {

class Predicate {
 public:
  // What counts of an object, as a hash; absent when the object has no such property: then the
  // change passes, because nothing can be said of it. `json` is the object as it is stored.
  using Value = std::function<std::optional<std::uint64_t>(const core::ObjectMeta& meta,
                                                           const std::string& json)>;
  Predicate(Value value) : value_(std::move(value)) {}  // NOLINT: implicit

  std::optional<std::uint64_t> of(const core::ObjectMeta& meta, const std::string& json) const {
    return value_(meta, json);
  }
  // News when either is. Absent as soon as one is absent: a ConfigMap has no generation, and
  // generation.and_then(finalizers) must not swallow its data.
  Predicate and_then(Predicate other) const;
  // The other's where this one is absent: generation().fallback(resource_version()).
  Predicate fallback(Predicate other) const;

 private:
  Value value_;
};

namespace predicates {
// metadata.generation: changes with the spec, not with the status; absent for kinds without one.
Predicate generation();
Predicate resource_version();  // every write
// Sets: an empty one is a value, the order does not count.
Predicate labels();
Predicate annotations();
Predicate finalizers();
Predicate deletion();  // deletionTimestamp set or not
// Anything else, by its text: a jq path, a JSON pointer, a field of a parsed object.
Predicate text(std::function<std::optional<std::string>(const std::string& json)> read);
// A property that every object has and that never changes. fallback(constant()) makes "absent" a
// value like any other.
Predicate constant();
}  // namespace predicates

struct PredicateOptions {
  // What was let through so long ago passes again, changed or not.
  Duration ttl{3600000};
  // Objects remembered; beyond that the one let through longest ago is forgotten, and passes the
  // next time it comes.
  std::size_t max_objects = 1000000;
  // Changes of deletionTimestamp and finalizers always pass: neither changes the generation for
  // certain, and who misses one leaves an object that cannot go.
  bool lifecycle = true;
};

class PredicateFilter {
 public:
  explicit PredicateFilter(Predicate predicate, PredicateOptions options = {});

  // Whether the change is news. A deletion always is, and so is a new uid under an old name.
  bool passes(TimePoint now, const StoreChange& change);
  std::size_t remembered() const { return by_key_.size(); }

 private:
  struct Entry {
    core::ObjectKey key;
    std::uint64_t uid = 0;  // a hash
    std::uint64_t value = 0;
    TimePoint since;  // when it was let through
  };
  using Entries = std::list<Entry>;

  std::optional<std::uint64_t> value_of(const StoreChange& change) const;
  void forget(Entries::iterator entry);
  void forget_old(TimePoint now);

  Predicate predicate_;
  PredicateOptions options_;
  Entries entries_;  // the one let through longest ago comes first
  std::unordered_map<core::ObjectKey, Entries::iterator, core::ObjectKeyHash> by_key_;
};

}  // namespace kubewatch::runtime
