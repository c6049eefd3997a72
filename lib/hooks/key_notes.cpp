// Notes on objects, from one run to the next.
#include "hooks/key_notes.hpp"

#include <algorithm>
#include <utility>

namespace kubewatch::hooks {
namespace {

std::uint8_t bit_of(KeyNotes::Mark mark) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(mark));
}

}  // namespace

template <class Value>
void KeyNotes::tidy(PerKey<Value>& entries, typename PerKey<Value>::iterator it) {
  if (it->second == Value{}) entries.erase(it);
}

void KeyNotes::set(const core::ObjectKey& key, Mark mark, bool is_so) {
  if (has(key, mark) == is_so) return;
  const auto it = small_.try_emplace(key).first;
  it->second.marks ^= bit_of(mark);
  std::size_t& count = counts_[static_cast<std::size_t>(mark)];
  count = is_so ? count + 1 : count - 1;
  tidy(small_, it);
}

bool KeyNotes::has(const core::ObjectKey& key, Mark mark) const {
  if (count(mark) == 0) return false;
  const auto it = small_.find(key);
  return it != small_.end() && (it->second.marks & bit_of(mark)) != 0;
}

void KeyNotes::keep_previous(const core::ObjectKey& key, std::string object) {
  if (object.empty()) return;
  std::string& kept = waiting_[key].previous;
  if (kept.empty()) kept = std::move(object);
}

std::string KeyNotes::take_previous(const core::ObjectKey& key) {
  const auto it = waiting_.find(key);
  if (it == waiting_.end()) return "";
  std::string previous = std::exchange(it->second.previous, "");
  tidy(waiting_, it);
  return previous;
}

void KeyNotes::drop_previous(const core::ObjectKey& key) {
  take_previous(key);
}

void KeyNotes::keep_reason(const runtime::Work& work) {
  std::optional<Reason>& kept = waiting_[work.key].reason;
  if (!kept) kept = Reason{work.reason, work.reason_object};
}

void KeyNotes::put_back_reason(const runtime::Work& work, bool finalizing) {
  waiting_[work.key].reason = Reason{work.reason, work.reason_object, finalizing};
}

void KeyNotes::take_reason(runtime::Work& work, bool finalizing) {
  const auto it = waiting_.find(work.key);
  if (it == waiting_.end()) return;
  const std::optional<Reason> kept = std::exchange(it->second.reason, std::nullopt);
  tidy(waiting_, it);
  if (!kept || kept->finalizing != finalizing) return;
  using runtime::Reason;
  if (work.reason == Reason::retry || work.reason == Reason::manual ||
      work.reason == Reason::external) {
    return;
  }
  work.reason = kept->reason;
  work.reason_object = kept->object;
}

void KeyNotes::drop_run(const core::ObjectKey& key) {
  if (const auto it = waiting_.find(key); it != waiting_.end()) {
    it->second.previous.clear();
    it->second.reason.reset();
    tidy(waiting_, it);
  }
  settle(key);
}

void KeyNotes::note_woken(const core::ObjectKey& key, LoopAlarm::Woken woken) {
  Small& small = small_[key];
  small.is_woken = true;
  if (woken > small.woken) small.woken = woken;
}

LoopAlarm::Woken KeyNotes::take_woken(const core::ObjectKey& key) {
  const auto it = small_.find(key);
  if (it == small_.end() || !it->second.is_woken) return LoopAlarm::Woken::by_others;
  const LoopAlarm::Woken woken = it->second.woken;
  it->second.is_woken = false;
  it->second.woken = Small{}.woken;
  tidy(small_, it);
  return woken;
}

bool KeyNotes::awaits(const core::ObjectKey& key, TimePoint since, TimePoint now) {
  if (now - since >= kLongestWay) return false;
  std::optional<TimePoint>& awaited = waiting_[key].awaited_since;
  if (awaited) return true;
  awaited = since;
  ++awaited_;
  return true;
}

std::optional<TimePoint> KeyNotes::end_wait(const core::ObjectKey& key) {
  if (awaited_ == 0) return std::nullopt;
  const auto it = waiting_.find(key);
  if (it == waiting_.end() || !it->second.awaited_since) return std::nullopt;
  --awaited_;
  const auto since = std::exchange(it->second.awaited_since, std::nullopt);
  tidy(waiting_, it);
  return since;
}

void KeyNotes::note_end(const core::ObjectKey& key, Verdict verdict) {
  settle(key);
  if (verdict == Verdict::not_yet) unfinished_.insert(key);
  if (verdict == Verdict::failed) failing_.insert(key);
}

void KeyNotes::settle(const core::ObjectKey& key) {
  failing_.erase(key);
  unfinished_.erase(key);
}

std::set<core::ObjectKey> KeyNotes::of_runs() const {
  std::set<core::ObjectKey> keys = failing_;
  keys.insert(unfinished_.begin(), unfinished_.end());
  for (const auto& [key, waiting] : waiting_) {
    if (waiting.reason) keys.insert(key);
  }
  return keys;
}

void KeyNotes::forget(const core::ObjectKey& key) {
  if (const auto it = small_.find(key); it != small_.end()) {
    for (std::size_t i = 0; i < kMarks; ++i) {
      if ((it->second.marks >> i & 1U) != 0) --counts_[i];
    }
    small_.erase(it);
  }
  end_wait(key);
  waiting_.erase(key);
  settle(key);
}

}  // namespace kubewatch::hooks
