#include "apiserver/read_streams.hpp"

#include <utility>

namespace kubewatch::apiserver {

namespace {

constexpr std::size_t kPiece = 128U << 10U;
constexpr std::size_t kAhead = 512U << 10U;  // that a client has not taken
// The last bookmark comes shortly before the end, so that the client resumes close to it.
constexpr Duration kBeforeEnd{2000};

}  // namespace

ListStream::ListStream(const ReadKind& kind, ListSlice slice, Representation as, WallTime now,
                       std::shared_ptr<http::Responder> to, TimePoint started)
    : kind_(kind),
      slice_(std::move(slice)),
      as_(std::move(as)),
      now_(now),
      to_(std::move(to)),
      frame_(kind.text().frame(as_, slice_.meta)),
      at_(slice_.from),
      stall_(started) {
  to_->send(frame_.head);
}

bool ListStream::append(const ReadKind& kind, const ListSlice& slice, const Representation& as,
                        WallTime now, std::size_t bytes, std::size_t& looks, std::size_t& at,
                        std::uint64_t& sent, std::string& out) {
  const Keys& keys = *slice.listing.keys;
  while (at < slice.to && out.size() < bytes && (looks > 0 || slice.fields.empty())) {
    const auto json = selected_json(*slice.listing.state, slice.fields, keys[at++], looks);
    if (!json) continue;
    if (sent++ > 0) out += ',';
    kind.text().append_item(as, *json, now, out);
  }
  return at < slice.to;
}

bool ListStream::pump(std::size_t& looks) {
  starved_ = false;
  while (!to_->gone() && to_->backlog() < kAhead) {
    std::string piece;
    const bool more = append(kind_, slice_, as_, now_, kPiece, looks, at_, sent_, piece);
    if (!more) piece += frame_.tail;
    to_->send(piece);
    if (!more) return false;
    starved_ = looks == 0 && !slice_.fields.empty();
    if (starved_) break;
  }
  return !to_->gone();
}

bool ListStream::over(TimePoint now) {
  return to_->gone() || stall_.stalled(to_->backlog(), now);
}

std::optional<std::string> ListStream::whole(const ReadKind& kind, const ListSlice& slice,
                                             const Representation& as, WallTime now,
                                             std::size_t most, std::uint64_t& sent) {
  const ListFrame frame = kind.text().frame(as, slice.meta);
  std::string out = frame.head;
  std::size_t at = slice.from;
  std::size_t looks = slice.to - slice.from;
  if (append(kind, slice, as, now, most, looks, at, sent, out)) return std::nullopt;
  return out + frame.tail;
}

OpenWatch::OpenWatch(std::unique_ptr<ReadWatch> watch, std::shared_ptr<http::Responder> to,
                     TimePoint now, Duration bookmark_interval)
    : watch_(std::move(watch)),
      to_(std::move(to)),
      bookmark_interval_(bookmark_interval),
      deadline_(now + watch_->spec().timeout),
      next_bookmark_(now + bookmark_interval),
      stall_(now) {}

bool OpenWatch::pump(const ReadHistory& history, const ReadTurn& turn) {
  if (over()) return false;
  if (!watch_->pump(*this, history, turn)) over_ = true;
  return !over_;
}

bool OpenWatch::tick(const ReadHistory& history, TimePoint now, const ReadTurn& turn) {
  if (!pump(history, turn)) return false;
  const Duration timeout = watch_->spec().timeout;
  const bool last = !last_bookmark_sent_ && now + kBeforeEnd >= deadline_ && timeout > kBeforeEnd;
  if (last || now >= next_bookmark_) {
    watch_->bookmark(*this, history);
    next_bookmark_ = now + bookmark_interval_;
    last_bookmark_sent_ = last_bookmark_sent_ || last;
  }
  dropped_ = stall_.stalled(to_->backlog(), now);
  if (dropped_ || now >= deadline_) over_ = true;
  return !over_;
}

}  // namespace kubewatch::apiserver
