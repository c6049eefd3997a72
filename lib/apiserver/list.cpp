#include "apiserver/list.hpp"

#include "apiserver/continue_token.hpp"
#include "apiserver/writer.hpp"

namespace kubewatch::apiserver {

namespace {

// Where a list starts, and in which state.
struct Start {
  std::uint64_t version = 0;
  std::string from;
  bool exact = false;  // not the newest state
};

// One object is fetched by its key.
bool names_one(const Resource& resource, const std::string& prefix,
               const core::FieldSelector& fields) {
  if (resource.type.namespaced && prefix.empty()) return false;
  for (const auto& one : fields.requirements()) {
    if (one.path == "metadata.name" && one.equal) return true;
  }
  return false;
}

constexpr const char* kTooOld =
    "The provided continue parameter is too old to display a consistent list result. You can "
    "start a new list without the continue parameter, or use the continue token in this response "
    "to retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list.";

Result<Start> start_of(const Storage& storage, const ListOptions& options,
                       const std::optional<ContinueToken>& token) {
  Start start;
  start.version = storage.version();
  if (token) {
    if (!options.resource_version.empty() && options.resource_version != "0") {
      return bad_request("specifying resource version is not allowed when using continue");
    }
    start.from = token->start;
    if (token->version > 0) {
      start.version = static_cast<std::uint64_t>(token->version);
      start.exact = true;
    }
    return start;
  }
  if (options.version > storage.version()) {
    return version_too_large(options.version, storage.version());
  }
  const bool legacy_exact = options.limit > 0 && options.match == core::VersionMatch::unset;
  if (options.version > 0 && (options.match == core::VersionMatch::exact || legacy_exact)) {
    start.version = options.version;
    start.exact = true;
  }
  return start;
}

}  // namespace

Result<ListResult> list_objects(const Storage& storage, const Resource& resource,
                                const std::string& prefix, const ListOptions& options) {
  std::optional<ContinueToken> token;
  if (!options.continue_token.empty()) {
    KW_ASSIGN(token, decode_continue(options.continue_token, prefix));
  }
  KW_ASSIGN(const Start start, start_of(storage, options, token));
  // From the watch cache ("0") the real server gives everything at once, what is left included.
  const std::uint64_t limit = options.resource_version == "0" ? 0 : options.limit;
  ListResult out;
  out.meta.version = start.version;
  std::uint64_t further = 0;
  const bool of_one = names_one(resource, prefix, options.fields);
  const auto visit = [&](const ObjectPtr& object) {
    const bool full = limit > 0 && out.items.size() >= limit;
    if (!full) {
      const Glance glance(object.get());
      const bool selected = options.labels.matches(object->labels()) &&
                            (options.fields.empty() || options.fields.matches(object->json()));
      if (selected) out.items.push_back(object);
      return true;
    }
    // Whether anything of what follows is selected is not looked at, but where no other can be.
    if (of_one) return false;
    if (further++ == 0) {
      const auto version = static_cast<std::int64_t>(start.version);
      out.meta.continue_token =
          encode_continue(continue_after(version, out.items.back()->key()), prefix);
    }
    return !options.selects();  // only counted when the count is told
  };
  if (start.exact) {
    const auto done =
        storage.each_at(resource.storage_id, start.version, prefix, start.from, visit);
    if (!done && token && done.error().is_gone()) return expired_token(kTooOld, *token, prefix);
    KW_TRY(done);
  } else {
    storage.each(resource.storage_id, prefix, start.from, visit);
  }
  if (further > 0 && !options.selects()) out.meta.remaining = further;
  return out;
}

}  // namespace kubewatch::apiserver
