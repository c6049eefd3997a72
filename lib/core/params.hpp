// Parameters of the API verbs, their validation and their query strings. No I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace kubewatch::core {

enum class VersionMatch { unset, not_older_than, exact };

// metadata: objects come as PartialObjectMetadata (API concepts, "Metadata-only fetches"). A server
// that cannot do it answers with whole objects, so whoever wants little memory cuts them himself.
enum class Content { full, metadata };
// Values of the Accept header.
std::string_view accept_list(Content content);
std::string_view accept_watch(Content content);

struct ListParams {
  std::string label_selector;
  std::string field_selector;
  std::uint32_t limit = 0;     // 0 = unpaged
  std::string continue_token;  // sent without resourceVersion and match
  std::string resource_version;
  VersionMatch match = VersionMatch::unset;
  Content content = Content::full;
  // Combinations the server refuses (API concepts, "Semantics for get and list"). Errors: invalid.
  Result<void> validate() const;
  std::string query() const;  // "a=b&c=d" or ""
};

struct WatchParams {
  std::string label_selector;
  std::string field_selector;
  std::string resource_version;
  bool bookmarks = true;
  bool send_initial_events = false;  // implies resourceVersionMatch=NotOlderThan (KEP-3157)
  Duration timeout{290000};          // whole seconds on the wire
  Content content = Content::full;
  Result<void> validate() const;
  std::string query() const;
};

struct WriteParams {
  bool dry_run = false;
  std::string field_manager;
  std::string field_validation;  // "" | Ignore | Warn | Strict
  std::string query() const;
};

enum class PatchType { json, merge, strategic, apply };
std::string_view content_type(PatchType type);

struct PatchParams {
  PatchType type = PatchType::merge;
  bool dry_run = false;
  bool force = false;         // apply only
  std::string field_manager;  // required for apply, at most 128 printable characters
  std::string field_validation;
  Result<void> validate() const;
  std::string query() const;
};

enum class Propagation { unset, background, foreground, orphan };

struct DeleteParams {
  Propagation propagation = Propagation::unset;
  std::string uid;  // preconditions
  std::string resource_version;
  bool dry_run = false;
  std::optional<std::int64_t> grace_period_seconds;
  std::string query() const;
  std::string body() const;  // a DeleteOptions document
};

}  // namespace kubewatch::core
