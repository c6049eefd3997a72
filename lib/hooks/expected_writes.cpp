// Waiting for caches to show our own writes.
#include "hooks/expected_writes.hpp"

#include <algorithm>

#include "base/ascii.hpp"

namespace kubewatch::hooks {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), base::is_digit);
}

}  // namespace

bool at_least_version(const std::string& seen, const std::string& wanted) {
  if (!is_number(seen) || !is_number(wanted)) return seen == wanted;
  return seen.size() != wanted.size() ? seen.size() > wanted.size() : seen >= wanted;
}

void ExpectedWrites::expect(const ChildId& id, const std::string& resource_version, TimePoint now) {
  open_[id] = {resource_version, now};
}

bool ExpectedWrites::seen(const ChildId& id, const std::string& resource_version) {
  auto it = open_.find(id);
  if (it == open_.end() || !at_least_version(resource_version, it->second.version)) return false;
  open_.erase(it);
  return true;
}

bool ExpectedWrites::expire(TimePoint now) {
  bool dropped = false;
  for (auto it = open_.begin(); it != open_.end();) {
    const bool old = now - it->second.since >= patience_;
    dropped = dropped || old;
    it = old ? open_.erase(it) : std::next(it);
  }
  return dropped;
}

}  // namespace kubewatch::hooks
