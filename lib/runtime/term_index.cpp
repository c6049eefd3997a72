#include "runtime/term_index.hpp"

#include <algorithm>
#include <cstring>

#include "base/random.hpp"

namespace kubewatch::runtime {

namespace {

struct Key {
  std::uint64_t a, b;
};

const Key& key() {
  static const Key kKey = [] {
    auto random = base::Random::from_system();
    return Key{random.next() | 1U, random.next() | 1U};
  }();
  return kKey;
}

// Both halves of a 128-bit product: each bit of either factor reaches every bit of the result.
std::uint64_t mix(std::uint64_t x, std::uint64_t y) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{x} * y;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

std::uint64_t word_at(const char* at, std::size_t size) {
  std::uint64_t out = 0;
  std::memcpy(&out, at, size);
  return out;
}

std::uint64_t absorb(std::uint64_t state, std::string_view text) {
  const Key& k = key();
  state = mix(state ^ text.size() ^ k.a, k.b);
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    state = mix(state ^ word_at(text.data() + at, 8) ^ k.a, k.b);
  }
  if (at < text.size()) {
    state = mix(state ^ word_at(text.data() + at, text.size() - at) ^ k.a, k.b);
  }
  return state;
}

}  // namespace

Term term_of(TermKind kind, std::string_view text, std::string_view value) {
  std::uint64_t state = mix(static_cast<std::uint64_t>(kind) + 1 + key().b, key().a);
  state = absorb(state, text);
  if (kind == TermKind::label) state = absorb(state, value);
  return mix(state ^ key().b, key().a);
}

void normalise(Terms& terms) {
  std::sort(terms.begin(), terms.end());
  terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
}

std::uint64_t hash_of(const Terms& terms) {
  std::uint64_t state = key().a;
  for (const Term term : terms) state = mix(state ^ term, key().b);
  return state;
}

std::uint32_t TermIndex::place_of(Term term) const {
  return by_term_.find(term, [&](std::uint32_t at) { return entries_[at].term == term; });
}

void TermIndex::insert(SlotId slot, const Terms& terms) {
  for (const Term term : terms) {
    std::uint32_t at = place_of(term);
    if (at == IdTable::kNone) {
      if (free_.empty()) {
        // A third at a time, as the slots themselves.
        if (entries_.size() == entries_.capacity()) {
          entries_.reserve(entries_.size() + entries_.size() / 3 + 16);
        }
        at = static_cast<std::uint32_t>(entries_.size());
        entries_.emplace_back();
      } else {
        at = free_.back();
        free_.pop_back();
      }
      entries_[at].term = term;
      by_term_.insert(at, [this](std::uint32_t other) { return entries_[other].term; });
    }
    entries_[at].slots.insert(slot);
  }
}

void TermIndex::erase(SlotId slot, const Terms& terms) {
  for (const Term term : terms) {
    const std::uint32_t at = place_of(term);
    if (at == IdTable::kNone) continue;
    entries_[at].slots.erase(slot);
    if (!entries_[at].slots.empty()) continue;
    by_term_.erase(at, [this](std::uint32_t other) { return entries_[other].term; });
    free_.push_back(at);
  }
}

const SlotSet* TermIndex::find(Term term) const {
  const std::uint32_t at = place_of(term);
  return at == IdTable::kNone ? nullptr : &entries_[at].slots;
}

std::size_t TermIndex::bytes() const {
  std::size_t sum = by_term_.bytes() + entries_.capacity() * sizeof(Entry) +
                    free_.capacity() * sizeof(std::uint32_t);
  for (const Entry& entry : entries_) sum += entry.slots.bytes();
  return sum;
}

}  // namespace kubewatch::runtime
