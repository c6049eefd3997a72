// All triggers of the loaded rules: one set per document, however many controllers it makes, and
// one HTTP listener for all. Requests go to the engine. Owned by it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hooks/trigger_server.hpp"
#include "hooks/trigger_sources.hpp"

namespace kubewatch::hooks {

class TriggerHub {
 public:
  // How many objects run; absent: the controllers of this document do not run here (yet).
  using Sink =
      std::function<std::optional<std::size_t>(const std::string& document, const TriggerRequest&)>;
  TriggerHub(loop::EventLoop& loop, base::Random& random, Sink sink);

  // `folder`: private, exists. Errors: invalid (HTTP triggers without an address, or without a
  // token on one that others reach; the address is taken).
  Result<void> open(const std::vector<Rule>& rules, const std::string& folder,
                    const std::optional<ListenAddress>& address);
  // Other rules: the sources of the documents in `ended` go, those of new ones come, all others go
  // on. Errors: as open(); nothing has changed then.
  Result<void> change(const std::vector<Rule>& rules, const std::string& folder,
                      const std::optional<ListenAddress>& address,
                      const std::set<std::string>& ended);
  // Programs are killed, nobody is listened to. Not from inside of the sink.
  void close();
  std::uint16_t port() const { return server_ ? server_->port() : std::uint16_t{0}; }

 private:
  Result<void> listen(const std::vector<Rule>& rules, const std::optional<ListenAddress>& address);
  void open_sources(const Rule& rule, const std::string& folder);

  loop::EventLoop& loop_;
  base::Random& random_;
  Sink sink_;
  std::map<std::string, std::vector<std::unique_ptr<TriggerSource>>> sources_;  // by document
  std::unique_ptr<TriggerServer> server_;
};

}  // namespace kubewatch::hooks
