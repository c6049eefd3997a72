// What is remembered of objects from one run to the next.
#include "hooks/key_notes.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;
using runtime::Reason;
using Mark = KeyNotes::Mark;
using Woken = LoopAlarm::Woken;
using Keys = std::set<core::ObjectKey>;

namespace {

const core::ObjectKey kA{"shop", "a"};
const core::ObjectKey kB{"shop", "b"};

TimePoint at(std::int64_t ms) {
  return TimePoint{} + Duration{ms};
}

runtime::Work work(Reason reason, const std::string& object = "") {
  return {kA, reason, object, 1};
}

}  // namespace

TEST_CASE("marks are counted, however often they are set") {
  KeyNotes notes;
  notes.set(kA, Mark::debounced);
  notes.set(kA, Mark::debounced);
  notes.set(kA, Mark::asked_for);
  notes.set(kB, Mark::debounced);
  CHECK(notes.count(Mark::debounced) == 2);
  CHECK(notes.has(kA, Mark::asked_for));
  CHECK_FALSE(notes.has(kB, Mark::asked_for));
  notes.clear(kA, Mark::debounced);
  notes.clear(kA, Mark::debounced);
  CHECK(notes.count(Mark::debounced) == 1);
  CHECK_FALSE(notes.has(kA, Mark::debounced));
  CHECK(notes.has(kA, Mark::asked_for));
}

TEST_CASE("a run is given the object as it was before the first change since the last run") {
  KeyNotes notes;
  notes.keep_previous(kA, "");
  notes.keep_previous(kA, "first");
  notes.keep_previous(kA, "second");
  CHECK(notes.take_previous(kA) == "first");
  CHECK(notes.take_previous(kA).empty());
  notes.keep_previous(kA, "third");
  notes.drop_previous(kA);
  CHECK(notes.take_previous(kA).empty());
}

TEST_CASE("a run that waited tells what woke it first") {
  KeyNotes notes;
  notes.keep_reason(work(Reason::created));
  notes.keep_reason(work(Reason::updated));
  runtime::Work run = work(Reason::updated);
  notes.take_reason(run, false);
  CHECK(run.reason == Reason::created);
  // Once.
  run.reason = Reason::updated;
  notes.take_reason(run, false);
  CHECK(run.reason == Reason::updated);
}

TEST_CASE("of a run that was held the last reason is told, unless it ends as another kind of run") {
  KeyNotes notes;
  notes.keep_reason(work(Reason::created));
  notes.put_back_reason(work(Reason::related_changed, "v1 ConfigMap shop/x"), false);
  runtime::Work run = work(Reason::updated);
  notes.take_reason(run, false);
  CHECK(run.reason == Reason::related_changed);
  CHECK(run.reason_object == "v1 ConfigMap shop/x");
  notes.put_back_reason(work(Reason::created), false);
  run = work(Reason::updated);
  notes.take_reason(run, true);
  CHECK(run.reason == Reason::updated);
}

TEST_CASE("a retry, and what somebody has asked for, are told as that") {
  for (const Reason reason : {Reason::retry, Reason::manual, Reason::external}) {
    KeyNotes notes;
    notes.keep_reason(work(Reason::created));
    runtime::Work run = work(reason);
    notes.take_reason(run, false);
    CHECK(run.reason == reason);
  }
}

TEST_CASE("a run that others have caused as well is not its own doing") {
  KeyNotes notes;
  notes.note_woken(kA, Woken::by_itself);
  notes.note_woken(kA, Woken::by_rule);
  CHECK(notes.take_woken(kA) == Woken::by_itself);
  // Nothing is known of what has woken it.
  CHECK(notes.take_woken(kA) == Woken::by_others);
  notes.note_woken(kA, Woken::by_rule);
  CHECK(notes.take_woken(kA) == Woken::by_rule);
  notes.note_woken(kA, Woken::by_others);
  notes.note_woken(kA, Woken::by_itself);
  CHECK(notes.take_woken(kA) == Woken::by_others);
}

TEST_CASE("what the selection has to show is awaited for a while, counted from the first time") {
  KeyNotes notes;
  CHECK(notes.awaits(kA, at(0), at(0)));
  CHECK(notes.any_awaited());
  CHECK(notes.awaits(kA, at(1000), at(1000)));
  const auto since = notes.end_wait(kA);
  REQUIRE(since);
  CHECK(*since == at(0));
  CHECK_FALSE(notes.any_awaited());
  CHECK(notes.awaits(kA, *since, at(KeyNotes::kLongestWay.count() - 1)));
  notes.end_wait(kA);
  CHECK_FALSE(notes.awaits(kA, *since, at(KeyNotes::kLongestWay.count())));
  CHECK_FALSE(notes.any_awaited());
}

TEST_CASE("how the last run ended is known by its end alone") {
  using Verdict = KeyNotes::Verdict;
  KeyNotes notes;
  notes.note_end(kA, Verdict::failed);
  notes.note_end(kB, Verdict::not_yet);
  CHECK(notes.failing() == Keys{kA});
  CHECK(notes.unfinished() == Keys{kB});
  notes.note_end(kA, Verdict::not_yet);
  CHECK(notes.failing().empty());
  CHECK(notes.unfinished() == Keys{kA, kB});
  notes.drop_unfinished(kA);
  notes.note_end(kB, Verdict::done);
  CHECK(notes.unfinished().empty());
  notes.note_end(kA, Verdict::failed);
  notes.note_end(kA, Verdict::parked);
  CHECK(notes.failing().empty());
}

TEST_CASE("objects that runs have left something of are found wherever they are") {
  KeyNotes notes;
  notes.note_end(kA, KeyNotes::Verdict::failed);
  notes.keep_reason({kB, Reason::created, "", 1});
  notes.keep_previous({"shop", "c"}, "before");
  notes.set({"shop", "d"}, Mark::prints_itself);
  CHECK(notes.of_runs() == Keys{kA, kB});
  notes.drop_run(kA);
  notes.drop_run(kB);
  CHECK(notes.of_runs().empty());
}

TEST_CASE("one call forgets all of an object, and nothing of another") {
  KeyNotes notes;
  for (const core::ObjectKey& key : {kA, kB}) {
    for (const Mark mark : {Mark::reduced, Mark::asked_for, Mark::debounced, Mark::prints_itself}) {
      notes.set(key, mark);
    }
    notes.keep_previous(key, "before");
    notes.keep_reason({key, Reason::created, "", 1});
    notes.note_woken(key, Woken::by_itself);
    notes.awaits(key, at(0), at(0));
    notes.note_end(key, KeyNotes::Verdict::failed);
  }
  notes.forget(kA);
  for (const Mark mark : {Mark::reduced, Mark::asked_for, Mark::debounced, Mark::prints_itself}) {
    CHECK_FALSE(notes.has(kA, mark));
    CHECK(notes.has(kB, mark));
    CHECK(notes.count(mark) == 1);
  }
  CHECK(notes.of_runs() == Keys{kB});
  CHECK(notes.take_previous(kA).empty());
  CHECK(notes.take_woken(kA) == Woken::by_others);
  CHECK_FALSE(notes.end_wait(kA));
  CHECK(notes.any_awaited());
  CHECK(notes.end_wait(kB));
  CHECK_FALSE(notes.any_awaited());
}
