// Requests to the API as recordings have them: which of them read what the caches are told, which
// write, and a write as an entry. The same for a recorded controller and for one that is replayed.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "core/api_path.hpp"
#include "http/message.hpp"

namespace kubewatch::hooks {

// A path of the API with its query.
struct ApiTarget : core::ApiPath {
  std::string path;  // without the query, as sent
  std::string query;

  std::string parameter(
      std::string_view name) const;  // decoded; "" when absent, or the query is broken
  bool flag(std::string_view name) const;
  // "/apis/apps/v1/namespaces/shop/deployments?labelSelector&fieldSelector": what a stream is of,
  // however often it is opened.
  std::string stream() const;
};
// From a URL or a path. Absent: no resource of the API.
std::optional<ApiTarget> api_target(std::string_view url);

// create | update | delete | apply | patch
std::string verb_of(const std::string& method, std::string_view content_type);

// Reviews and requests for tokens: they are sent as writes are, and change nothing.
bool is_review(const ApiTarget& target);

// Reviews and dry runs change nothing; Events and Leases are ours and follow the clock.
bool is_left_out(const ApiTarget& target);

// Whether an object can leave this selection while it lives: a watch tells of that as of a
// deletion. Not by its name or namespace, nor by the label of children: who owns them puts that
// back.
bool can_be_left(std::string_view labels, std::string_view fields);

// What a request is to a recording.
enum class RequestUse { other, list, watch, write };
RequestUse use_of(const std::string& method, const ApiTarget& target);

// {"verb","path","manager"?,"body"}: of a create the path names the new object, of a deletion there
// is no body. Absent: not a write, or one that recordings leave out (Events, Leases, dry runs).
std::optional<Json> write_entry(const std::string& method, const std::string& url,
                                std::string_view content_type, const std::string& body);

}  // namespace kubewatch::hooks
