#include "apiserver/stored_size.hpp"

#include <fmt/format.h>

#include "apiserver/crd.hpp"
#include "apiserver/status.hpp"
#include "builtin/aggregation.hpp"
#include "core/go_json.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr std::size_t kMostRequest = 1536U << 10U;  // of etcd's server: --max-request-bytes
constexpr std::size_t kMostMessage = 2U << 20U;     // of its client

// Bytes of a protobuf message: a number, and a field of that many bytes.
std::size_t varint(std::uint64_t number) {
  std::size_t size = 1;
  while ((number >>= 7U) != 0) ++size;
  return size;
}

std::size_t field(std::size_t bytes) {
  return 1 + varint(bytes) + bytes;
}

// The transaction that puts a value where the key is still at a revision; of an update it reads the
// key where that failed.
std::size_t transaction(std::size_t key, std::size_t value, std::uint64_t revision) {
  const std::size_t compare = 2 + field(key) + 1 + varint(revision);
  const std::size_t put = field(key) + field(value);
  const std::size_t get = revision == 0 ? 0 : field(field(field(key)));
  return field(compare) + field(field(put)) + get;
}

// And what etcd's server makes of it: with an id, in a field of a high number.
std::size_t logged(std::size_t transaction) {
  constexpr std::size_t kHeader = 14;
  return kHeader + field(transaction);
}

// The texts of a value, and the keys of its maps: what any form of it has in it. `node`: null where
// nothing is known of the type.
std::size_t least_size(const Json& value, const schema::MergeNode* node) {
  constexpr std::size_t kEach = 2;
  if (value.is_number()) return kEach + 3;
  std::size_t size = kEach;
  if (value.is_string()) return size + value.get_ref<const std::string&>().size();
  if (value.is_array()) {
    const schema::MergeNode* element = node != nullptr ? node->element.get() : nullptr;
    for (const auto& item : value) size += least_size(item, element);
  }
  if (value.is_object()) {
    const bool named = node != nullptr && node->is_struct;  // fields have numbers there
    for (auto it = value.begin(); it != value.end(); ++it) {
      if (!named) size += kEach + it.key().size();
      size += least_size(*it, node != nullptr ? node->child(it.key()) : nullptr);
    }
  }
  return size;
}

// What is base64 in an object and bytes where it is kept: so much less.
std::size_t saved_by_bytes(const Resource& resource, const Json& stored) {
  const char* map = resource.storage_id == "secrets"      ? "data"
                    : resource.storage_id == "configmaps" ? "binaryData"
                                                          : nullptr;
  const Json* values = map == nullptr ? nullptr : base::find(stored, {map});
  if (values == nullptr || !values->is_object()) return 0;
  std::size_t saved = 0;
  for (const auto& value : *values) {
    if (value.is_string()) saved += value.get_ref<const std::string&>().size() / 4;
  }
  return saved;
}

bool is_kept_as_json(const Resource& resource) {
  return resource.custom || resource.storage_id == kCrds ||
         resource.storage_id == builtin::kApiServices;
}

std::size_t json_size(const Json& stored) {
  std::size_t size = core::go_json(stored).size() + 1;  // it ends with a line break
  const std::string version = base::string_at(stored, {"metadata", "resourceVersion"});
  // That is not part of what is kept.
  return version.empty()
             ? size
             : size - version.size() - std::string_view(R"("resourceVersion":"",)").size();
}

}  // namespace

Result<void> check_stored_size(const Resource& resource, const std::string& key, const Json& stored,
                               std::uint64_t live) {
  // As JSON a byte of a text is six at most, and nothing else grows more.
  constexpr std::size_t kMostGrowth = 6;
  const bool json = is_kept_as_json(resource);
  std::size_t size =
      least_size(stored, json ? nullptr : resource.merge.get()) - saved_by_bytes(resource, stored);
  if (json && size * kMostGrowth > kMostRequest) size = json_size(stored);
  const std::size_t request =
      transaction(std::string_view("/registry/").size() + key.size(), size, live);
  if (request > kMostMessage) {
    return internal_error(
        fmt::format("rpc error: code = ResourceExhausted desc = trying to send message larger than "
                    "max ({} vs. {})",
                    request, kMostMessage));
  }
  if (logged(request) > kMostRequest) return request_too_large();
  return {};
}

}  // namespace kubewatch::apiserver
