// --dry-run: a transport that lets reads through and turns every write into a question. The server
// is asked what would come of it (dryRun=All), deletions are not sent at all, Events are dropped;
// whoever wrote gets the answer as if it had happened. Each write is told with the object as it is.
// What a write asks for that is itself a dry run (apply.validate: server) is not told.
#pragma once

#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "core/resource.hpp"
#include "hooks/rule.hpp"
#include "hooks/secret_hash.hpp"
#include "hooks/secret_mask.hpp"
#include "http/transport_around.hpp"

namespace kubewatch::hooks {

struct DryWrite {
  std::string verb;          // create, apply, patch, update, delete
  std::string path;          // of the object or, of a create, its collection
  std::optional<Json> live;  // absent: there is no such object
  Json result;               // null: it would be deleted
  std::string refused;       // the server's words, when it would not do it; without_secret_values
  // "ServiceAccount shop/runner", which an earlier write would make: without it the server cannot
  // judge this one, and `result` is what was sent.
  std::string lacks{};
  // An earlier write would delete what is there: `live` is absent, and `result` is what was sent.
  bool anew = false;
  // Of a refusal: whoever wrote may answer it with force, or by deleting the object to make it
  // anew. Then what comes of that is the answer to both.
  bool may_come_again = false;
};

class DryRunTransport : public http::TransportAround {
 public:
  using OnWrite = std::function<void(const DryWrite&)>;
  // `loop` and `inner` must outlive it.
  DryRunTransport(loop::EventLoop& loop, http::Transport& inner, OnWrite on_write);

  std::unique_ptr<http::Call> start(http::Request request, http::CallHandlers handlers) override;

 private:
  class WriteCall;

  void note_made(const Json& object, bool is_new);
  // Of a refused write: what it lacks, as far as an earlier one would have made it; else "".
  std::string lacks(const std::string& path, const Error& refusal) const;

  loop::EventLoop& loop_;
  OnWrite on_write_;
  struct Made {
    core::Gvk gvk;
    core::ObjectKey key;
    auto operator<=>(const Made&) const = default;
  };
  // By pieces of paths that earlier writes would have made: "/namespaces/shop/",
  // "/apis/demo.dev/v1/".
  std::map<std::string, Made> made_paths_;
  std::set<Made> made_;            // of what is looked up as others are written
  std::set<std::string> deleted_;  // paths of objects that are still there
};

// A request that changes nothing, whatever its body says. Precondition: POST, PUT or PATCH that is
// no dry run.
http::Request as_question(http::Request request);

// Rules of a dry run: one object at a time; no `credentials: cache`, whose writes would be real;
// no finalize hook, which may act outside the cluster.
void make_dry(Rule& rule);

// Every text in it, also what stands there encoded for YAML or JSON.
void mask_values(Json& value, const SecretMask& mask);

// The write for people: "apply ConfigMap shop/a: created", then a diff of YAML; "" when nothing
// would change. It says so where the server could not judge it. Values of a Secret are hidden by
// `secrets`; what of `known` stands elsewhere is ***.
std::string text_of(const DryWrite& write, const SecretHash& secrets,
                    const SecretMask& known = SecretMask());

}  // namespace kubewatch::hooks
