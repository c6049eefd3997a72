// What a jq program reads of an object, as news (predicate.hpp) and as an index of a cache
// (store.hpp). Each change costs a parse and a run, which blocks for at most the program's deadline
// (jq::Limits), so programs that jq::Program::native() is true of are the ones to take.
#pragma once

#include "jq/jq.hpp"
#include "runtime/predicate.hpp"
#include "runtime/store.hpp"

namespace kubewatch::runtime {

namespace predicates {
// All outputs in their order: a change is news when one of them is another. null and no output are
// values like any other; a program that fails on an object is an absent property of it.
Predicate jq(kubewatch::jq::Program program);
}  // namespace predicates

// For Store::add_index: each output that is text is a key, numbers, true and false are by their
// JSON. null, lists and objects are no keys (".spec.hosts[]", not ".spec.hosts"), and an object on
// which the program fails has none.
IndexKeys index_by_jq(jq::Program program);

}  // namespace kubewatch::runtime
