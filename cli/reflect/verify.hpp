// --verify: whether a cache holds exactly what the server has at the same resourceVersion. The
// server's exact list goes into a second cache of the same make, and the two are compared object by
// object. Comparing is pure; asking is thin.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/reflect/kinds.hpp"

namespace kubewatch::cli {

struct Drift {
  core::ObjectKey key;
  enum class What { missing, surplus, different } what = What::different;
  std::vector<std::string> fields;  // ".spec.replicas: 3 here, 4 on the server"
};

// `cache` against `server`, both as objects without managedFields. `secret`: values of data are not
// shown. At most `most` fields of an object are named.
std::vector<std::string> differing_fields(const std::string& cache, const std::string& server,
                                          bool secret, std::size_t most = 20);
// Objects that `server` keeps reduced are not compared. `unnamed`: the server has so many more that
// cannot be named; what it seems not to have may be one of them, and is not told.
std::vector<Drift> compare_states(const core::ReadState& cache, const runtime::Store& server,
                                  bool secret, std::size_t unnamed = 0);

struct Verified {
  std::string resource_version;
  std::size_t objects = 0;
  std::vector<Drift> drift;
  bool skipped = false;  // the server does not remember that resourceVersion any more
  std::vector<core::ObjectKey> reduced;  // could not be kept whole here: not compared
  std::optional<Error> failed{};         // why the server did not answer, where that passes
  std::size_t unnamed = 0;               // the server has so many that cannot be named
  bool compared() const { return !skipped && !failed; }
  std::size_t not_compared() const { return reduced.size() + unnamed; }
};

// Whether the next round may have an answer where this one got that error.
bool passes(const Error& error);

// One round of one kind, now. Destroying it ends it. Errors of `done`: of the request, that stay.
class VerifyRound {
 public:
  using Done = std::function<void(Result<Verified>)>;
  VerifyRound(client::Client& client, const CachedKind& kind, Done done);

 private:
  void next_page(const std::string& token);
  void page_done(Result<core::ListPage> page);

  client::Client& client_;
  const CachedKind& kind_;
  Done done_;
  const core::ResourceType type_;  // of the state; the cache may go on in another version
  core::ReadStatePtr state_;
  runtime::Store server_;
  std::size_t unnamed_ = 0;
  client::PendingPtr request_;
};

// What all rounds together say. No I/O.
class VerifyTally {
 public:
  // How the rounds came to their end.
  enum class End { whole, interrupted, timed_out };
  struct Verdict {
    int code = 0;         // ExitCode
    std::string message;  // why it is no whole comparison; "" where it is one
  };

  explicit VerifyTally(std::vector<std::string> kinds)
      : kinds_(std::move(kinds)), compared_(kinds_.size(), false), failed_(kinds_.size()) {}
  // One kind of a round; by its place in `kinds`.
  void add(std::size_t kind, const Verified& verified);
  void round_done() { ++rounds_; }
  // 9 for a difference, however it ended; 0 only when each kind was compared at least once.
  Verdict verdict(End end) const;

 private:
  std::vector<std::string> kinds_;
  std::vector<bool> compared_;
  std::vector<std::optional<Error>> failed_;  // by kind: what came last instead of an answer
  std::string left_out_;                      // why the first was not compared that was not
  std::uint64_t rounds_ = 0;
  bool drifted_ = false;
};

// A line per object and, below it, per field.
std::string drift_text(const CachedKind& kind, const Verified& verified);
Json drift_json(const CachedKind& kind, const Verified& verified);

}  // namespace kubewatch::cli
