// The query parameters of list and watch, checked as the API server checks them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apiserver/request.hpp"
#include "apiserver/resource.hpp"
#include "base/random.hpp"
#include "core/params.hpp"
#include "core/selector.hpp"

namespace kubewatch::apiserver {

struct ListOptions {
  bool watch = false;
  core::LabelSelector labels;
  core::FieldSelector fields;
  std::string resource_version;  // as sent; a number, or ""
  std::uint64_t version = 0;     // its value
  core::VersionMatch match = core::VersionMatch::unset;
  std::uint64_t limit = 0;
  std::string continue_token;
  std::optional<Duration> timeout;
  bool bookmarks = false;
  std::optional<bool> send_initial_events;

  bool selects() const { return !labels.empty() || !fields.empty(); }
};

// Errors: bad_request (selectors, numbers), invalid_options (combinations); for a watch with a
// malformed resourceVersion a 500, as the real server has it.
Result<ListOptions> parse_list_options(const Resource& resource, const Query& query, bool watch);
// With the field selector as one of stored objects.
Result<ListOptions> stored_list_options(const Resource& resource, const Query& query, bool watch);

// How long the watch lasts: as long as it asks for, or one to two times the min-request-timeout of
// the real server.
Duration watch_time(const ListOptions& options, base::Random& random);

// Decimal digits only. Errors: worded as Go's strconv.ParseUint.
Result<std::uint64_t> parse_version(const std::string& text);

}  // namespace kubewatch::apiserver
