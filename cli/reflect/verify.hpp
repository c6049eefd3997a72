// --verify: whether a cache holds exactly what the server has at the same resourceVersion. The
// server's exact list goes into a second cache of the same make, and the two are compared object by
// object. Comparing is pure; asking is thin.
#pragma once

#include <functional>
#include <memory>
#include <string>
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
std::vector<Drift> compare_states(const core::ReadState& cache, const runtime::Store& server,
                                  bool secret);

struct Verified {
  std::string resource_version;
  std::size_t objects = 0;
  std::vector<Drift> drift;
  bool skipped = false;  // the server does not remember that resourceVersion any more
};

// One round of one kind, now. Destroying it ends it. Errors of `done`: of the request.
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
  core::ReadStatePtr state_;
  runtime::Store server_;
  client::PendingPtr request_;
};

// A line per object and, below it, per field.
std::string drift_text(const CachedKind& kind, const Verified& verified);
Json drift_json(const CachedKind& kind, const Verified& verified);

}  // namespace kubewatch::cli
