// What an object needs now, and which changes are worth a run.
#include "hooks/next_step.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

core::ObjectMeta object(bool guarded, bool deleting) {
  core::ObjectMeta meta;
  if (guarded) meta.finalizers = {"kubewatch.dev/w"};
  if (deleting) meta.deletion_timestamp = "2026-01-01T00:00:00Z";
  return meta;
}

Rule rule(bool finalize, WhenUnmatched when = WhenUnmatched::release) {
  Rule out;
  out.finalizer_name = "kubewatch.dev/w";
  if (finalize) out.finalize.emplace();
  out.when_no_longer_matched = when;
  return out;
}

}  // namespace

TEST_CASE("the next step follows from finalizer, deletion and selection") {
  struct Case {
    const char* what;
    bool guarded, deleting, matched, finalize;
    NextStep step;
  };
  const std::vector<Case> cases = {
      {"plain rule", false, false, true, false, NextStep::reconcile},
      {"finalizer missing", false, false, true, true, NextStep::add_finalizer},
      {"finalizer there", true, false, true, true, NextStep::reconcile},
      {"finalizer for children only", true, false, true, false, NextStep::reconcile},
      {"deleted, ours", true, true, true, true, NextStep::finalize},
      {"deleted, ours, excluded by the filter", true, true, false, true, NextStep::finalize},
      {"deleted, ours for children", true, true, true, false, NextStep::finalize},
      {"deleted, not ours", false, true, true, true, NextStep::skip},
      {"unmatched, no finalizer", false, false, false, true, NextStep::skip},
      {"unmatched with finalizer", true, false, false, true, NextStep::remove_finalizer},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    CHECK(next_step(object(c.guarded, c.deleting), c.matched, rule(c.finalize)) == c.step);
  }
}

TEST_CASE("whenNoLongerMatched decides for an object that left the selection") {
  const auto left = object(true, false);
  CHECK(next_step(left, false, rule(true, WhenUnmatched::keep)) == NextStep::skip);
  CHECK(next_step(left, false, rule(true, WhenUnmatched::release)) == NextStep::remove_finalizer);
  CHECK(next_step(left, false, rule(true, WhenUnmatched::finalize)) == NextStep::finalize);
  // A deletion is finalized whatever it says.
  CHECK(next_step(object(true, true), false, rule(true, WhenUnmatched::keep)) ==
        NextStep::finalize);
}

TEST_CASE("own changes run when they count") {
  OwnChange base;
  base.matched_before = base.matched_now = true;
  struct Case {
    const char* what;
    std::function<void(OwnChange&)> set;
    Reaction reaction;
  };
  const std::vector<Case> cases = {
      {"nothing that counts", [](OwnChange&) {}, Reaction::ignore},
      {"content", [](OwnChange& c) { c.content_changed = true; }, Reaction::run_debounced},
      {"new", [](OwnChange& c) { c.added = true; }, Reaction::run_now},
      {"finalizers", [](OwnChange& c) { c.lifecycle_changed = true; }, Reaction::run_now},
      {"new but excluded",
       [](OwnChange& c) {
         c.added = true;
         c.matched_now = false;
       },
       Reaction::ignore},
      {"new, excluded, with our finalizer",
       [](OwnChange& c) {
         c.added = c.has_finalizer = true;
         c.matched_now = false;
       },
       Reaction::run_now},
      {"came into the selection", [](OwnChange& c) { c.matched_before = false; },
       Reaction::run_now},
      {"left the selection", [](OwnChange& c) { c.matched_now = false; }, Reaction::run_now},
      {"never was in the selection", [](OwnChange& c) { c.matched_now = c.matched_before = false; },
       Reaction::ignore},
      {"left it with our finalizer",
       [](OwnChange& c) {
         c.matched_now = false;
         c.has_finalizer = true;
       },
       Reaction::run_now},
      {"dying without ours",
       [](OwnChange& c) {
         c.deleting = true;
         c.lifecycle_changed = true;
       },
       Reaction::run_now},
      {"dying without ours, as before", [](OwnChange& c) { c.deleting = c.content_changed = true; },
       Reaction::ignore},
      {"dying with ours, excluded by the filter",
       [](OwnChange& c) {
         c.deleting = c.lifecycle_changed = c.has_finalizer = true;
         c.matched_now = c.matched_before = false;
       },
       Reaction::run_now},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    OwnChange change = base;
    c.set(change);
    CHECK(react(change) == c.reaction);
  }
}

TEST_CASE("a changed finalizer list or deletion is a lifecycle change, labels are not") {
  core::ObjectMeta labelled = object(false, false);
  labelled.labels = {{"a", "b"}};
  CHECK_FALSE(lifecycle_differs(object(false, false), labelled));
  CHECK(lifecycle_differs(object(false, false), object(true, false)));
  CHECK(lifecycle_differs(object(true, false), object(true, true)));
}
