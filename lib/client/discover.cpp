// The requests of discovery: /api and /apis, each of which answers aggregated or in the old form;
// the old form needs one more request per group version, a few at a time.
#include <deque>
#include <map>

#include "base/json.hpp"
#include "client/discovery.hpp"
#include "client/discovery_documents.hpp"
#include "client/sender.hpp"
#include "core/url.hpp"

namespace kubewatch::client {
namespace {

using Done = std::function<void(Result<std::shared_ptr<const ResourceMap>>)>;

constexpr const char* kAggregatedAccept =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
    "application/json";
constexpr std::size_t kParallel = 8;
constexpr const char* kUnreadable = "the server's answer cannot be read";

// What one group version, or one whole aggregated answer, gave. Kept apart until the end, so that
// the order is the server's and not that of the answers.
using Piece = DiscoveredGroups;

class Discovery : public std::enable_shared_from_this<Discovery> {
 public:
  Discovery(Client& client, Done done) : client_(client), done_(std::move(done)) {}

  void start() {
    ask("/api", [](Discovery& self, Result<Json> answer) { self.on_core(std::move(answer)); });
  }

  void cancel() {
    ended_ = true;
    requests_.clear();
  }

 private:
  void ask(const std::string& path, std::function<void(Discovery&, Result<Json>)> then) {
    const std::size_t id = next_request_++;
    requests_[id] = client_.raw(
        "GET", path,
        [weak = weak_from_this(), id, path, then = std::move(then)](Result<http::Response> answer) {
          const auto self = weak.lock();
          if (!self || self->ended_) return;
          Result<Json> document = document_of(self->client_.config(), path, std::move(answer));
          const auto next = then;  // the request owns this closure, and goes now
          self->requests_.erase(id);
          next(*self, std::move(document));
        },
        kAggregatedAccept);
  }

  static Result<Json> document_of(const ClientConfig& config, const std::string& path,
                                  Result<http::Response> answer) {
    if (!answer.ok()) return std::move(answer).error();
    const std::string what = "discovery at " + path;
    if (answer->status != 200) {
      return error_of_answer(answer->status, answer->headers, answer->body, &config)
          .with_context(what);
    }
    auto document = base::parse_json(answer->body);
    if (document.ok()) return document;
    return unreadable_answer(document.error()).with_context(kUnreadable).with_context(what);
  }

  static Error no_discovery(const std::string& path, Error why) {
    return unreadable_answer(std::move(why))
        .with_context(kUnreadable)
        .with_context("discovery at " + path);
  }

  // One of /api and /apis may be missing (a server of groups only, one of the core alone), as
  // client-go has it; any other failure is the answer. Where both are, it is no API server, or has
  // another path: nobody said that it has no such kind.
  void on_core(Result<Json> answer) {
    if (!answer.ok() && !answer.error().is_not_found()) return end(std::move(answer).error());
    has_core_ = answer.ok();
    if (answer.ok()) {
      auto taken = take(*answer, read_core_versions);
      if (!taken.ok()) return end(no_discovery("/api", std::move(taken).error()));
    }
    ask("/apis", [](Discovery& self, Result<Json> groups) { self.on_groups(std::move(groups)); });
  }

  void on_groups(Result<Json> answer) {
    const bool missing = !answer.ok() && answer.error().is_not_found();
    if (missing && !has_core_) {
      return end(
          no_api_server(answer.error(), &client_.config()).with_context("discovery at /apis"));
    }
    if (!answer.ok() && !missing) return end(std::move(answer).error());
    if (answer.ok()) {
      auto taken = take(*answer, read_group_versions);
      if (!taken.ok()) return end(no_discovery("/apis", std::move(taken).error()));
    }
    // That it has nothing at all no API server says, and all there was would count as gone.
    if (!names_version_) {
      return end(Error(ErrorKind::unavailable,
                       "discovery: the server names no API version, neither at /api nor at /apis: "
                       "it does not say what kinds it has"));
    }
    ask_more();
  }

  using ReadVersions = Result<std::vector<core::GroupVersion>> (*)(const Json&);
  Result<void> take(const Json& document, ReadVersions read_versions) {
    if (is_aggregated(document)) {
      KW_ASSIGN(Piece piece, read_aggregated(document));
      names_version_ = names_version_ || piece.names_version;
      pieces_.push_back(std::move(piece));
      return {};
    }
    KW_ASSIGN(auto versions, read_versions(document));
    names_version_ = names_version_ || !versions.empty();
    for (core::GroupVersion& gv : versions) {
      waiting_.emplace_back(pieces_.size(), std::move(gv));
      pieces_.emplace_back();
    }
    return {};
  }

  void ask_more() {
    while (!waiting_.empty() && requests_.size() < kParallel) {
      auto [index, gv] = std::move(waiting_.front());
      waiting_.pop_front();
      ask(core::group_version_path(gv),
          [index = index, gv = gv](Discovery& self, Result<Json> answer) {
            self.on_version(index, gv, std::move(answer));
          });
    }
    if (requests_.empty()) finish();
  }

  Result<void> take_version(std::size_t index, const core::GroupVersion& gv,
                            const Result<Json>& answer) {
    if (!answer.ok()) return answer.error();
    auto types = read_resource_list(*answer, gv);
    if (!types.ok()) return no_discovery(core::group_version_path(gv), std::move(types).error());
    pieces_[index].types = std::move(types).value();
    return {};
  }

  void on_version(std::size_t index, const core::GroupVersion& gv, Result<Json> answer) {
    if (auto failed = take_version(index, gv, answer); !failed.ok()) {
      pieces_[index].failed.push_back(gv.str() + ": " + failed.error().render());
    }
    ask_more();
  }

  void finish() {
    auto map = std::make_shared<ResourceMap>();
    for (Piece& piece : pieces_) {
      for (core::ResourceType& type : piece.types) map->add(std::move(type));
      for (std::string& failure : piece.failed) map->failed_groups.push_back(std::move(failure));
    }
    end(std::shared_ptr<const ResourceMap>(std::move(map)));
  }

  void end(Result<std::shared_ptr<const ResourceMap>> result) {
    ended_ = true;
    requests_.clear();
    const Done done = std::move(done_);
    done(std::move(result));
  }

  Client& client_;
  Done done_;
  std::map<std::size_t, PendingPtr> requests_;
  std::size_t next_request_ = 0;
  std::vector<Piece> pieces_;
  std::deque<std::pair<std::size_t, core::GroupVersion>> waiting_;
  bool has_core_ = false;
  bool names_version_ = false;
  bool ended_ = false;
};

struct DiscoveryPending : Pending {
  std::shared_ptr<Discovery> discovery;
  ~DiscoveryPending() override { discovery->cancel(); }
};

}  // namespace

PendingPtr discover(Client& client, Done done) {
  auto pending = std::make_unique<DiscoveryPending>();
  pending->discovery = std::make_shared<Discovery>(client, std::move(done));
  pending->discovery->start();
  return pending;
}

}  // namespace kubewatch::client
