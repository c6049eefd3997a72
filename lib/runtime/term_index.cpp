#include "runtime/term_index.hpp"

#include <algorithm>

#include "base/table_hash.hpp"

namespace kubewatch::runtime {

Term term_of(TermKind kind, std::string_view text, std::string_view value) {
  const Term term = base::table_hash(text, static_cast<std::uint64_t>(kind) + 1);
  return kind == TermKind::label ? base::table_hash(value, term) : term;
}

void normalise(Terms& terms) {
  std::sort(terms.begin(), terms.end());
  terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
}

std::uint64_t hash_of(const Terms& terms) {
  return base::table_hash(
      {reinterpret_cast<const char*>(terms.data()), terms.size() * sizeof(Term)});
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
