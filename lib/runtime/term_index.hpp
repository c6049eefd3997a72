// Which slots carry which terms: labels, namespaces, owners. A term is known by its hash alone, 64
// bits under a key of this process, so that no text is kept and nobody outside can make two terms
// meet; an entry costs about 22 bytes and a slot in it half a bit to four bytes. Plain data
// structure; what a slot carried before, its owner knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/slot_set.hpp"
#include "runtime/store_id_table.hpp"

namespace kubewatch::runtime {

using Term = std::uint64_t;
using Terms = std::vector<Term>;  // sorted, no doubles: see normalise()

// What two terms are told apart by beside their texts.
enum class TermKind : std::uint8_t { namespace_, label_key, label, owner, named };
// The same for all indexes of the process. `value`: of label only.
Term term_of(TermKind kind, std::string_view text, std::string_view value = {});
void normalise(Terms& terms);
// Of all terms: equal for equal sets, and for others as good as never.
std::uint64_t hash_of(const Terms& terms);

class TermIndex {
 public:
  void insert(SlotId slot, const Terms& terms);
  void erase(SlotId slot, const Terms& terms);
  // Null when no slot carries it. Valid until the next insert or erase.
  const SlotSet* find(Term term) const;
  std::size_t size() const { return by_term_.size(); }
  // An estimate of the memory held.
  std::size_t bytes() const;

 private:
  struct Entry {
    Term term = 0;
    SlotSet slots;
  };
  std::uint32_t place_of(Term term) const;

  IdTable by_term_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
};

}  // namespace kubewatch::runtime
