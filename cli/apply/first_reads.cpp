#include "cli/apply/first_reads.hpp"

#include <algorithm>

#include "core/meta.hpp"

namespace kubewatch::cli {

namespace {

constexpr Duration kLongest{10000};

}  // namespace

FirstReads::FirstReads(client::Client& client, FirstReadLimits limits)
    : client_(client), limits_(limits) {}

void FirstReads::add(const core::ResourceType& type, const core::ObjectKey& key) {
  Group& group = groups_[{type.gvk, key.namespace_}];
  group.type = type;
  group.names.insert(key.name);
}

void FirstReads::read(const std::function<bool()>& stopped) {
  for (auto& [key, group] : groups_) {
    if (group.names.size() >= limits_.least_objects && !stopped()) list(key.second, group, stopped);
  }
}

void FirstReads::list(const std::string& namespace_, Group& group,
                      const std::function<bool()>& stopped) {
  core::ListParams params;
  params.limit = static_cast<std::uint32_t>(group.names.size() + limits_.more_than_asked);
  bool ended = false;
  const auto on_item = [&](std::string_view item) {
    group.bytes += item.size();
    const auto meta = core::parse_meta(item);
    if (!meta.ok() || group.names.count(meta->name) == 0) return;
    auto object = base::parse_json(item);
    if (!object.ok()) return;
    // Lists leave these out of their items.
    (*object)["apiVersion"] = group.type.gvk.api_version();
    (*object)["kind"] = group.type.gvk.kind;
    group.found[meta->name] = std::move(*object);
  };
  const auto on_page = [&](Result<core::ListPage> page) {
    ended = true;
    // Items count only of a list that came to its end.
    if (!page.ok()) group.found.clear();
    group.complete = page.ok() && page->continue_token.empty();
  };
  const auto pending = client_.list_items(group.type, namespace_, params, on_item, on_page);
  client_.loop().run_until([&] { return ended || stopped() || group.bytes > limits_.most_bytes; },
                           kLongest);
  if (!ended) group.found.clear();
}

std::optional<Json> FirstReads::take(const core::ResourceType& type, const core::ObjectKey& key) {
  const auto group = groups_.find({type.gvk, key.namespace_});
  // One that is applied twice has changed by the second time.
  if (group == groups_.end() || group->second.names.erase(key.name) == 0) return std::nullopt;
  const auto found = group->second.found.extract(key.name);
  if (!found.empty()) return std::move(found.mapped());
  if (group->second.complete) return Json();
  return std::nullopt;
}

}  // namespace kubewatch::cli
