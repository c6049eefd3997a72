// Operators on the changes of a watch, chained in the order of the calls:
//
//   ChangeStream stream;
//   stream.applied().predicate(predicates::generation()).debounce(Duration{500}).to(handler);
//
// Each change pushed in at the front comes out at the back, or does not. Plain class: `now` is an
// argument; who chains a debounce also calls advance() when next_due() says so. What a store keeps
// is decided before (StoreOptions); what is edited here is seen by the handlers only.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "runtime/predicate.hpp"
#include "runtime/store.hpp"

namespace kubewatch::runtime {

class ChangeStream {
 public:
  using Handler = std::function<void(const StoreChange&)>;

  ChangeStream();
  ~ChangeStream();
  ChangeStream(ChangeStream&&) noexcept;
  ChangeStream& operator=(ChangeStream&&) noexcept;

  // What is added or changed; deletions are dropped.
  ChangeStream& applied();
  // Deletions only. Neither of both: all that was touched.
  ChangeStream& deleted();
  // No longer than the first list.
  ChangeStream& live();
  ChangeStream& filter(std::function<bool(const StoreChange&)> wanted);
  ChangeStream& predicate(Predicate predicate, PredicateOptions options = {});
  // Edits what follows sees. The metadata that identifies the object is not to be changed.
  ChangeStream& modify(std::function<void(StoreChange&)> edit);
  // Sees what passes here; several may be told.
  ChangeStream& tap(Handler handler);
  // One change per object and `window`, told that long after the first one and never later: the
  // newest state, with what was before the first. A deletion and a creation under the same name
  // stay two changes.
  ChangeStream& debounce(Duration window);
  // The end of the chain; the last call counts.
  ChangeStream& to(Handler handler);

  void push(TimePoint now, const StoreChange& change);
  // When a debounced change comes due; absent when none waits.
  std::optional<TimePoint> next_due() const;
  void advance(TimePoint now);
  // Nothing comes out any more, of what is on its way either. May be called from inside a handler.
  void stop() { stopped_ = true; }

  // One operator of the chain.
  class Stage;

 private:
  void run(std::size_t stage, TimePoint now, const StoreChange& change);

  std::vector<std::unique_ptr<Stage>> stages_;
  Handler handler_;
  bool stopped_ = false;
};

}  // namespace kubewatch::runtime
