// Opening the triggers of all documents.
#include "hooks/trigger_hub.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <set>

#include "base/log.hpp"
#include "hooks/trigger_backlog.hpp"
#include "http/listen_address.hpp"

namespace kubewatch::hooks {
namespace {

// The first rule of each document: the others have the same triggers.
std::vector<const Rule*> one_per_document(const std::vector<Rule>& rules) {
  std::set<std::string> seen;
  std::vector<const Rule*> out;
  for (const Rule& rule : rules) {
    if (seen.insert(rule.document).second) out.push_back(&rule);
  }
  return out;
}

// Between a source and the sink; as long as the source.
class Paced {
 public:
  Paced(loop::EventLoop& loop, std::function<void(const TriggerRequest&)> sink)
      : loop_(loop), sink_(std::move(sink)) {}

  void take(const TriggerRequest& request) {
    if (backlog_.take(loop_.now(), request)) return sink_(request);
    if (!timer_) wait();
  }

 private:
  void wait() {
    const auto left = backlog_.wait(loop_.now());
    if (!left) return;
    timer_ = loop_.after(*left, [this] {
      timer_.reset();
      if (const auto request = backlog_.next(loop_.now())) sink_(*request);
      wait();
    });
  }

  loop::EventLoop& loop_;
  std::function<void(const TriggerRequest&)> sink_;
  TriggerBacklog backlog_;
  loop::Timer timer_;
};

}  // namespace

TriggerHub::TriggerHub(loop::EventLoop& loop, base::Random& random, Sink sink)
    : loop_(loop), random_(random), sink_(std::move(sink)) {}

Result<void> TriggerHub::open(const std::vector<Rule>& rules, const std::string& folder,
                              const std::optional<ListenAddress>& address) {
  KW_TRY(listen(rules, address));
  for (const Rule* rule : one_per_document(rules)) open_sources(*rule, folder);
  return {};
}

Result<void> TriggerHub::change(const std::vector<Rule>& rules, const std::string& folder,
                                const std::optional<ListenAddress>& address,
                                const std::set<std::string>& ended) {
  KW_TRY(listen(rules, address));
  for (const std::string& document : ended) sources_.erase(document);
  for (const Rule* rule : one_per_document(rules)) {
    if (sources_.count(rule->document) == 0) open_sources(*rule, folder);
  }
  return {};
}

void TriggerHub::close() {
  sources_.clear();
  server_.reset();
}

void TriggerHub::open_sources(const Rule& rule, const std::string& folder) {
  if (rule.triggers.empty()) return;
  // No rule has a name that begins with a dot.
  const std::string own = folder + "/.triggers-" + rule.document;
  ::mkdir(own.c_str(), 0700);
  for (std::size_t i = 0; i < rule.triggers.size(); ++i) {
    const TriggerRule& trigger = rule.triggers[i];
    const std::string name = trigger.exec.empty() ? trigger.file : trigger.exec.front();
    const auto paced = std::make_shared<Paced>(
        loop_, [this, document = rule.document, name](TriggerRequest request) {
          request.source = name;
          const auto count = sink_(document, request);
          base::vlog(1, fmt::format("trigger of {}: {} objects run", document, count.value_or(0)));
        });
    const TriggerSetting setting{
        loop_,         random_,
        rule.document, rule.reconcile.directory,
        own,           [paced](const TriggerRequest& request) { paced->take(request); }};
    if (auto source = open_trigger(setting, trigger, i)) {
      sources_[rule.document].push_back(std::move(source));
    }
  }
}

Result<void> TriggerHub::listen(const std::vector<Rule>& rules,
                                const std::optional<ListenAddress>& address) {
  std::vector<TriggerRoute> routes;
  for (const Rule* rule : one_per_document(rules)) {
    for (const TriggerRule& trigger : rule->triggers) {
      if (trigger.http_path.empty()) continue;
      if (!address) {
        return Error(ErrorKind::invalid,
                     fmt::format("controller {} has an HTTP trigger: say with --triggers "
                                 "ADDRESS:PORT where to listen for it",
                                 rule->document));
      }
      if (trigger.token_file.empty() && !http::is_loopback_host(address->address)) {
        return Error(ErrorKind::invalid,
                     fmt::format("the HTTP trigger {} of controller {} has no tokenFile: anybody "
                                 "who reaches {} could use it; add one, or listen on 127.0.0.1",
                                 trigger.http_path, rule->document, address->address));
      }
      routes.push_back({trigger.http_path, trigger.token_file, rule->document});
    }
  }
  if (routes.empty()) {
    server_.reset();
    return {};
  }
  if (server_ != nullptr) {
    server_->set_routes(std::move(routes));
    return {};
  }
  auto server = TriggerServer::listen(loop_, *address, std::move(routes), sink_);
  // Nothing about the API server, whatever its kind.
  if (!server.ok()) return Error(ErrorKind::unavailable, "triggers: " + server.error().render());
  server_ = std::move(*server);
  base::log_info("listening for triggers",
                 {{"address", http::to_string({address->address, server_->port()})}});
  return {};
}

}  // namespace kubewatch::hooks
