// When a store trains its dictionaries, and how records move to the newest one.
#include <algorithm>
#include <utility>

#include "runtime/store_impl.hpp"
#include "runtime/text_patch.hpp"

namespace kubewatch::runtime {

namespace {

// More samples and bigger dictionaries gain nothing (measured). Every seventh is held back to see
// what the dictionary does to texts that it was not trained on.
constexpr std::size_t kSamples = 350;
constexpr std::size_t kProofEvery = 7;
constexpr std::size_t kWindow = 500;             // objects between two looks at the ratio
constexpr double kWorse = 1.3;                   // than that: time for a new dictionary
constexpr std::size_t kMostPlain = 256U << 10U;  // bytes of changes that are not encoded yet

double ratio_of(std::uint64_t stored, std::uint64_t text) {
  return static_cast<double>(stored) / static_cast<double>(std::max<std::uint64_t>(1, text));
}

}  // namespace

bool Store::Impl::may_wait(std::size_t text_size) const {
  return !initializing && text_size <= kMostPlain / 4;
}

void Store::Impl::encode_changes() {
  plain_bytes = 0;
  for (const SlotId id : std::exchange(plain_changes, {})) {
    const Record* now = slots[id].current.get();
    if (now == nullptr || now->encoding() == codec.best()) continue;
    recode(id);
    look_at_ratio(*slots[id].current);
  }
}

void Store::Impl::note_new(SlotId id, const Record& record) {
  if (codec.trained()) {
    if (!may_wait(record.text_size())) return look_at_ratio(record);
    plain_changes.push_back(id);
    plain_bytes += record.text_size();
    if (plain_bytes > kMostPlain) encode_changes();
    return;
  }
  // A busy object stands in the list once per change: bounded by forgetting the doubles.
  if (to_compact.size() > 2 * std::size_t{slots.limit()} + 64) {
    std::sort(to_compact.begin(), to_compact.end());
    to_compact.erase(std::unique(to_compact.begin(), to_compact.end()), to_compact.end());
  }
  to_compact.push_back(id);
  if (slots.used_count() >= train_at) train();
}

// Texts of objects evenly spread over the store.
void Store::Impl::take_samples(std::vector<std::string>& samples, std::vector<std::string>& proof,
                               std::vector<std::string>& patches) const {
  const std::size_t step = std::max<std::size_t>(1, slots.limit() / kSamples);
  std::size_t taken = 0;
  for (std::size_t at = 0; at < slots.limit() && taken < kSamples; at += step) {
    const auto id = static_cast<SlotId>(at);
    const Record* record = slots.staged(id);
    if (record == nullptr) record = slots[id].current.get();
    if (record == nullptr) continue;
    const auto sample = [this](const Record& of) {
      return marked_text(of).substr(0, StoreCodec::kSampleBytes);
    };
    std::string text = sample(*record);
    // Neighbours in a list are often of one family.
    if (at + 1 < slots.limit() && slots[id + 1].current) {
      std::string patch = make_patch(text, sample(*slots[id + 1].current));
      if (patch.size() * kAlike < text.size()) patches.push_back(std::move(patch));
    }
    (++taken % kProofEvery == 0 ? proof : samples).push_back(std::move(text));
  }
}

// Each training waits for four times as many objects as the last one, so that training and
// recoding stay a small part of all work.
void Store::Impl::train() {
  train_at = 4 * std::max(slots.used_count(), train_at);
  new_since_training = 0;
  std::vector<std::string> samples, proof, patches;
  take_samples(samples, proof, patches);
  if (!codec.train(samples, proof, patches)) return;
  ++trainings;
  std::uint64_t text = 0, stored = 0;
  for (const auto& one : proof) {
    text += one.size();
    stored += codec.compress(one).bytes.size();
  }
  trained_ratio = ratio_of(stored, text);
  window_text = window_stored = window_objects = 0;
  to_compact.clear();
  for (SlotId id = 0; id < slots.limit(); ++id) {
    if (slots.used(id)) to_compact.push_back(id);
  }
}

// New objects that compress badly are not like those that the dictionary was trained on.
void Store::Impl::look_at_ratio(const Record& record) {
  window_text += record.text_size();
  window_stored += record.bytes().size();
  ++window_objects;
  ++new_since_training;
  if (window_objects < kWindow) return;
  const double ratio = ratio_of(window_stored, window_text);
  window_text = window_stored = window_objects = 0;
  const bool enough = slots.used_count() >= train_at || new_since_training >= train_at;
  // One move at a time: records of at most two dictionaries live at once.
  if (ratio > trained_ratio * kWorse && enough && to_compact.empty()) train();
}

// The dictionary came with the objects: how it does is what it does with them.
void Store::Impl::note_loaded() {
  if (!codec.trained()) return;
  std::uint64_t text = 0, stored = 0;
  for (SlotId id = 0; id < slots.limit(); ++id) {
    if (!slots[id].current) continue;
    text += slots[id].current->text_size();
    stored += slots[id].current->bytes().size();
  }
  trained_ratio = ratio_of(stored, text);
  train_at = std::max(train_at, 4 * slots.used_count());
}

void Store::Impl::recode(SlotId id) {
  if (const RecordPtr now = slots[id].current; now && now->encoding() != codec.best()) {
    slots.set_current(id, recoded(id, *now));
  }
  if (const Record* next = slots.staged(id); next != nullptr && next->encoding() != codec.best()) {
    slots.set_staged(id, recoded(id, *next));
  }
}

void Store::Impl::forget_dictionaries() {
  for (SlotId id = 0; id < slots.limit(); ++id) {
    const auto other = [&](const Record* record) {
      return record != nullptr && record->encoding() >= kFirstDictionary &&
             record->encoding() != codec.best();
    };
    if (other(slots[id].current.get()) || other(slots.staged(id))) return;
  }
  codec.forget_others();
}

std::size_t Store::compact_some(std::size_t max_records) {
  auto& left = impl_->to_compact;
  if (max_records == 0) return left.size() + impl_->plain_changes.size();
  impl_->encode_changes();
  if (left.empty()) return 0;
  for (std::size_t done = 0; done < max_records && !left.empty(); ++done) {
    const SlotId id = left.back();
    left.pop_back();
    if (impl_->slots.used(id)) impl_->recode(id);
  }
  if (!left.empty()) return left.size();
  left.shrink_to_fit();
  impl_->forget_dictionaries();
  return 0;
}

}  // namespace kubewatch::runtime
