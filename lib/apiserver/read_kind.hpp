// One cached kind as a read-only API server offers it: its history, its open watches, who waits for
// a newer state, the states that pages go on in. Answers are decided here; sending is
// read_server's.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/list_options.hpp"
#include "apiserver/read_history.hpp"
#include "apiserver/read_pages.hpp"
#include "apiserver/read_text.hpp"
#include "apiserver/read_waiters.hpp"
#include "apiserver/read_watch.hpp"
#include "core/read_backend.hpp"

namespace kubewatch::apiserver {

// What of a listing one answer holds.
struct ListSlice {
  Listing listing;
  std::size_t from = 0, to = 0;  // places in listing.keys
  core::FieldSelector fields;    // still to be looked at, object by object
  ListMeta meta;
  // Of a page that a field selector chooses nobody knows where it ends before so many are found:
  // ReadKind::search() looks for them and leaves a slice of them alone. 0: nothing is searched for.
  std::uint64_t limit = 0;
  // Of the page after it: what all keys of the list begin with, and whose pages they are.
  std::string prefix{};
  std::string selection{};
  Keys found{};
  // For an answer that cannot go out in pieces: all that match are searched for.
  void search_all();
};

// A request cannot be answered before the cache has come so far.
struct NotYet {
  std::uint64_t version = 0;
};

class ReadKind {
 public:
  // `backend` must outlive it.
  ReadKind(const core::ReadBackend& backend, ResourcePtr resource, HistoryLimits limits);

  const core::ReadBackend& backend() const { return backend_; }
  const ReadText& text() const { return text_; }
  const Resource& resource() const { return text_.resource(); }
  ReadHistory& history() { return history_; }
  const ReadHistory& history() const { return history_; }
  std::uint64_t version() const;
  // "pods", "pods in namespace \"shop\"".
  std::string name() const;
  // All objects that a request for this namespace ("" = all) means.
  bool covers(const std::string& namespace_) const;

  // What was there before is no past of what is there now: the first state, or data that went back.
  void start_over(std::uint64_t version);
  // Lets go of states that nobody reads pages of any more.
  void expire(TimePoint now) { pages_.expire(now); }

  // What a list holds, after search(). Absent in `not_yet`: it can be answered. Errors: expired,
  // version_too_large, bad_request.
  Result<ListSlice> list(const std::string& namespace_, const ListOptions& options, TimePoint now,
                         std::optional<NotYet>& not_yet);
  // The rest of list() where it has to look into objects, one for each of `looks`. False: they did
  // not suffice; to be called again.
  bool search(ListSlice& slice, std::size_t& looks, TimePoint now);
  // The same for a start of a watch; the error is for the stream (410).
  std::unique_ptr<ReadWatch> watch(ReadWatchSpec spec, const ListOptions& options, TimePoint now,
                                   std::optional<NotYet>& not_yet);
  // A GET that names a resourceVersion.
  std::optional<NotYet> not_yet(std::uint64_t wanted) const;

 private:
  Listing listing(const std::string& namespace_, const ListOptions& options, TimePoint now);
  Result<ListSlice> go_on(const std::string& namespace_, const ListOptions& options, TimePoint now);
  ListSlice cut(ListSlice slice, const std::string& namespace_, const ListOptions& options,
                std::uint64_t version, TimePoint now);
  void end_page(ListSlice& slice, TimePoint now);

  const core::ReadBackend& backend_;
  ReadText text_;
  ReadHistory history_;
  ReadPages pages_;
  // The last listing, for as long as somebody reads it: a thousand clients that start at once share
  // one.
  struct Recent {
    std::uint64_t version = 0;
    std::string selection;
    std::weak_ptr<const core::ReadState> state;
    std::weak_ptr<const Keys> keys;
  } recent_;
};

}  // namespace kubewatch::apiserver
