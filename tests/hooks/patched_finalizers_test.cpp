// Finalizers that were patched: what waits for the cache to show it, and for how long.
#include "hooks/patched_finalizers.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using hooks::PatchedFinalizers;
using Shown = PatchedFinalizers::Shown;

namespace {

constexpr const char* kFinalizer = "kubewatch.dev/web";

core::ObjectMeta meta(const std::string& version, bool finalizer, const std::string& uid = "u1") {
  core::ObjectMeta out;
  out.namespace_ = "shop";
  out.name = "a";
  out.uid = uid;
  out.resource_version = version;
  if (finalizer) out.finalizers = {kFinalizer};
  return out;
}

const TimePoint kStart{};
const TimePoint kLater = kStart + PatchedFinalizers::kPatience;
const TimePoint kJustBefore = kLater - Duration{1};

}  // namespace

TEST_CASE("a finalizer that was put on is waited for, but not for ever") {
  PatchedFinalizers patched(kFinalizer);
  CHECK(patched.look(meta("4", false), kStart) == Shown::yes);
  CHECK(patched.note(meta("4", false), "5", false, kStart));
  CHECK(patched.look(meta("4", false), kJustBefore) == Shown::not_yet);
  SECTION("its event comes") {
    CHECK(patched.look(meta("5", true), kJustBefore) == Shown::yes);
    CHECK(patched.look(meta("4", false), kJustBefore) == Shown::yes);  // it is not known any more
  }
  SECTION("its event does not come") {
    CHECK(patched.look(meta("4", false), kLater) == Shown::yes);
    CHECK(patched.look(meta("4", false), kStart) == Shown::yes);
  }
  SECTION("another object has the name") {
    CHECK(patched.look(meta("4", false, "u2"), kStart) == Shown::yes);
  }
  SECTION("it is forgotten") {
    patched.forget({"shop", "a"});
    CHECK(patched.look(meta("4", false), kStart) == Shown::yes);
  }
}

TEST_CASE("a finalizer that was taken off is overdue as long as the cache shows it") {
  PatchedFinalizers patched(kFinalizer);
  // The answer has the version before where it was the last one.
  CHECK(patched.note(meta("5", true), "5", true, kStart));
  CHECK(patched.look(meta("5", true), kJustBefore) == Shown::not_yet);
  CHECK(patched.look(meta("5", true), kLater) == Shown::overdue);
  CHECK(patched.look(meta("9", true), kLater) == Shown::overdue);
  CHECK(patched.look(meta("9", false), kLater) == Shown::yes);
  CHECK(patched.look(meta("5", true), kLater) == Shown::yes);
}

TEST_CASE("what waits for its first run is known, however long its event takes") {
  PatchedFinalizers patched(kFinalizer);
  CHECK_FALSE(patched.any_added());
  CHECK(patched.note(meta("3", true), "4", false, kStart));  // taken off: it was not selected
  CHECK_FALSE(patched.any_added());
  patched.note(meta("4", false), "5", false, kStart);
  patched.note(meta("4", false), "6", false, kStart);
  CHECK(patched.any_added());
  SECTION("it is shown") {
    CHECK(patched.look(meta("5", true), kJustBefore) == Shown::not_yet);
    CHECK(patched.any_added());
    CHECK(patched.look(meta("6", true), kLater) == Shown::yes);
  }
  SECTION("it is looked at in vain") {
    patched.look(meta("4", false), kLater);
  }
  SECTION("it is forgotten") {
    patched.forget({"shop", "a"});
  }
  SECTION("all of it is") {
    patched.clear();
  }
  SECTION("it is deleted meanwhile, and let go") {
    CHECK(patched.note(meta("7", true), "8", true, kStart));
  }
  CHECK_FALSE(patched.any_added());
  patched.forget({"shop", "a"});
  CHECK_FALSE(patched.any_added());
}

TEST_CASE("what the cache shows already is not waited for") {
  PatchedFinalizers patched(kFinalizer);
  CHECK_FALSE(patched.note(meta("5", true), "5", false, kStart));
  CHECK_FALSE(patched.note(meta("6", false), "5", true, kStart));
  CHECK(patched.look(meta("5", true), kStart) == Shown::yes);
}
