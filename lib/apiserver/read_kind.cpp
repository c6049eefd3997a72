#include "apiserver/read_kind.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "apiserver/continue_token.hpp"
#include "core/resource_version.hpp"

namespace kubewatch::apiserver {

namespace {

// All pages of one list, and no others.
std::string selection_of(const std::string& namespace_, const ListOptions& options) {
  return namespace_ + "|" + options.labels.str();
}

constexpr const char* kPageTooOld =
    "The provided continue parameter is too old to display a consistent list result: the cache "
    "keeps the state of a list's first page for five minutes. Start a new list, or go on "
    "inconsistently with the token in this answer's metadata.";

}  // namespace

ReadKind::ReadKind(const core::ReadBackend& backend, ResourcePtr resource, HistoryLimits limits)
    : backend_(backend),
      text_(std::move(resource), backend.content() == core::Content::metadata),
      history_(limits) {}

std::uint64_t ReadKind::version() const {
  return core::version_number(backend_.resource_version()).value_or(0);
}

std::string ReadKind::name() const {
  const std::string& in = backend_.namespace_name();
  return backend_.type().qualified_plural() +
         (in.empty() ? "" : fmt::format(" in namespace \"{}\"", in));
}

bool ReadKind::covers(const std::string& namespace_) const {
  return backend_.namespace_name().empty() || backend_.namespace_name() == namespace_;
}

void ReadKind::start_over(std::uint64_t version) {
  history_.reset(version);
  pages_.clear();
  recent_ = {};
}

Listing ReadKind::listing(const std::string& namespace_, const ListOptions& options,
                          TimePoint now) {
  const std::string selection = selection_of(namespace_, options);
  if (Listing known = pages_.find(version(), selection, now); known.keys) return known;
  if (recent_.version == version() && recent_.selection == selection) {
    if (Listing shared{recent_.state.lock(), recent_.keys.lock()}; shared.state && shared.keys) {
      return shared;
    }
  }
  Listing out;
  out.state = backend_.state();
  std::optional<std::string> in;
  if (!namespace_.empty()) in = namespace_;
  out.keys = std::make_shared<const Keys>(in_api_order(out.state->select(options.labels, in)));
  recent_ = {version(), selection, out.state, out.keys};
  return out;
}

ListSlice ReadKind::cut(ListSlice slice, const std::string& namespace_, const ListOptions& options,
                        std::uint64_t version, TimePoint now) {
  const Keys& keys = *slice.listing.keys;
  slice.meta.version = version;
  slice.fields = options.fields;
  slice.to = keys.size();
  // From the watch cache ("0") the real server gives everything at once, or all that is left.
  const bool all = options.resource_version == "0";
  const std::uint64_t limit = all ? 0 : options.limit;
  if (limit == 0) return slice;
  slice.prefix = key_prefix(namespace_);
  slice.selection = selection_of(namespace_, options);
  if (!options.fields.empty()) {
    slice.to = slice.from;
    slice.limit = limit;
    return slice;
  }
  if (limit >= keys.size() - slice.from) return slice;
  slice.to = slice.from + static_cast<std::size_t>(limit);
  if (!options.selects()) slice.meta.remaining = keys.size() - slice.to;
  end_page(slice, now);
  return slice;
}

// The next one begins where this one ends, in the same state.
void ReadKind::end_page(ListSlice& slice, TimePoint now) {
  const auto version = static_cast<std::int64_t>(slice.meta.version);
  const core::ObjectKey& last = (*slice.listing.keys)[slice.to - 1];
  slice.meta.continue_token = encode_continue(continue_after(version, last.str()), slice.prefix);
  pages_.keep(slice.meta.version, slice.selection, slice.listing, now);
}

void ListSlice::search_all() {
  if (fields.empty() || limit > 0) return;
  limit = std::numeric_limits<std::uint64_t>::max();
  to = from;
}

bool ReadKind::search(ListSlice& slice, std::size_t& looks, TimePoint now) {
  if (slice.limit == 0) return true;
  const Keys& keys = *slice.listing.keys;
  for (; slice.to < keys.size() && slice.found.size() < slice.limit; ++slice.to) {
    if (looks == 0) return false;
    const core::ObjectKey& key = keys[slice.to];
    if (selected_json(*slice.listing.state, slice.fields, key, looks)) slice.found.push_back(key);
  }
  if (slice.to < keys.size()) end_page(slice, now);
  slice.listing.keys = std::make_shared<const Keys>(std::exchange(slice.found, {}));
  slice.from = 0;
  slice.to = slice.listing.keys->size();
  slice.fields = {};
  slice.limit = 0;
  return true;
}

Result<ListSlice> ReadKind::go_on(const std::string& namespace_, const ListOptions& options,
                                  TimePoint now) {
  KW_ASSIGN(const ContinueToken token,
            decode_continue(options.continue_token, key_prefix(namespace_)));
  if (!options.resource_version.empty() && options.resource_version != "0") {
    return bad_request("specifying resource version is not allowed when using continue");
  }
  ListSlice slice;
  std::uint64_t at = version();
  if (token.version > 0) {
    at = static_cast<std::uint64_t>(token.version);
    slice.listing = pages_.find(at, selection_of(namespace_, options), now);
    if (!slice.listing.keys) return expired_token(kPageTooOld, token, key_prefix(namespace_));
  } else {
    slice.listing = listing(namespace_, options, now);
  }
  slice.from = place_of(*slice.listing.keys, token.start);
  return cut(std::move(slice), namespace_, options, at, now);
}

std::optional<NotYet> ReadKind::not_yet(std::uint64_t wanted) const {
  if (wanted <= version()) return std::nullopt;
  return NotYet{wanted};
}

Result<ListSlice> ReadKind::list(const std::string& namespace_, const ListOptions& options,
                                 TimePoint now, std::optional<NotYet>& not_yet_out) {
  if (!options.continue_token.empty()) return go_on(namespace_, options, now);
  not_yet_out = not_yet(options.version);
  if (not_yet_out) return ListSlice{};
  const bool legacy_exact = options.limit > 0 && options.match == core::VersionMatch::unset;
  const bool exact =
      options.version > 0 && (options.match == core::VersionMatch::exact || legacy_exact);
  ListSlice slice;
  if (exact && options.version != version()) {
    // Only a state that pages are still read from is kept.
    slice.listing = pages_.find(options.version, selection_of(namespace_, options), now);
    if (!slice.listing.keys) {
      return expired(
          fmt::format("too old resource version: {} (the cache is at {} and keeps no "
                      "older states)",
                      options.version, version()));
    }
    return cut(std::move(slice), namespace_, options, options.version, now);
  }
  slice.listing = listing(namespace_, options, now);
  return cut(std::move(slice), namespace_, options, version(), now);
}

std::unique_ptr<ReadWatch> ReadKind::watch(ReadWatchSpec spec, const ListOptions& options,
                                           TimePoint now, std::optional<NotYet>& not_yet_out) {
  const std::string in = spec.namespace_;
  auto out = std::make_unique<ReadWatch>(std::move(spec), text_);
  const bool wants_state = options.send_initial_events.value_or(options.version == 0);
  if (wants_state) {
    if (options.send_initial_events.value_or(false)) not_yet_out = not_yet(options.version);
    if (not_yet_out) return nullptr;
    // An old-style watch without a start is served as one that asked for initial events.
    out->start_with_state(listing(in, options, now), version(), true, history_);
    return out;
  }
  const std::uint64_t from = options.version == 0 ? version() : options.version;
  if (auto started = out->start_after(from, history_); !started.ok()) {
    out->start_with_error(std::move(started).error());
  }
  return out;
}

}  // namespace kubewatch::apiserver
