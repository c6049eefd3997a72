#include "runtime/term_index.hpp"

#include <map>
#include <set>

#include "base/random.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;

TEST_CASE("terms of other kinds, keys and values are other terms") {
  const std::set<Term> terms = {
      term_of(TermKind::label, "a", "b"),       term_of(TermKind::label, "ab", ""),
      term_of(TermKind::label, "", "ab"),       term_of(TermKind::label_key, "ab"),
      term_of(TermKind::namespace_, "ab"),      term_of(TermKind::owner, "ab"),
      term_of(TermKind::label, "a", "bc"),      term_of(TermKind::label, "12345678", "9"),
      term_of(TermKind::label, "1234567", "89")};
  CHECK(terms.size() == 9);
  CHECK(term_of(TermKind::label, "a", "b") == term_of(TermKind::label, "a", "b"));
}

TEST_CASE("equal sets of terms have one hash, in whatever order they came") {
  Terms a{3, 1, 2, 1}, b{1, 2, 3};
  normalise(a);
  CHECK(a == b);
  CHECK(hash_of(a) == hash_of(b));
  CHECK(hash_of(Terms{1, 2}) != hash_of(Terms{1, 3}));
  CHECK(hash_of(Terms{}) != hash_of(Terms{0}));
}

TEST_CASE("the index equals a plain map after random changes, and forgets dead terms") {
  base::Random random(3);
  TermIndex index;
  std::map<SlotId, std::set<Term>> model;
  for (int step = 0; step < 20000; ++step) {
    const auto slot = static_cast<SlotId>(random.below(100));
    Terms before(model[slot].begin(), model[slot].end());
    std::set<Term> now;
    for (auto n = random.below(5); n > 0; --n) {
      // Many are seen once only, like a label with the object's own name.
      now.insert(random.below(2) == 0 ? random.below(6) : 1000 + static_cast<Term>(step));
    }
    index.erase(slot, before);
    index.insert(slot, Terms(now.begin(), now.end()));
    model[slot] = now;
  }
  std::map<Term, std::vector<SlotId>> wanted;
  for (const auto& [slot, terms] : model) {
    for (const Term term : terms) wanted[term].push_back(slot);
  }
  CHECK(index.size() == wanted.size());
  for (const auto& [term, slots] : wanted) {
    const SlotSet* found = index.find(term);
    REQUIRE(found != nullptr);
    std::vector<SlotId> ids;
    found->collect(ids);
    REQUIRE(ids == slots);
  }
  CHECK(index.find(999) == nullptr);
  for (const auto& [slot, terms] : model) index.erase(slot, Terms(terms.begin(), terms.end()));
  CHECK(index.size() == 0);
}
