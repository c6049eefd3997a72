#include "apiserver/init_events.hpp"

#include <fmt/format.h>

namespace kubewatch::apiserver {

void InitEvents::count(const std::string& group, const std::string& resource,
                       std::uint64_t events) {
  if (events > 0) counts_[{group, resource}] += events;
}

std::uint64_t InitEvents::total(const std::string& group, const std::string& resource) const {
  const auto it = counts_.find({group, resource});
  return it == counts_.end() ? 0 : it->second;
}

// Groups and plurals are DNS names: nothing in them needs quoting.
std::string InitEvents::text() const {
  std::string out =
      "# HELP apiserver_init_events_total Counter of init events processed to start watches, by "
      "resource.\n# TYPE apiserver_init_events_total counter\n";
  for (const auto& [name, count] : counts_) {
    out += fmt::format("apiserver_init_events_total{{group=\"{}\",resource=\"{}\"}} {}\n",
                       name.first, name.second, count);
  }
  return out;
}

}  // namespace kubewatch::apiserver
