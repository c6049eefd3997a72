#include "hooks/run_history.hpp"

#include "base/json.hpp"
#include "support/catch.hpp"

namespace kubewatch::hooks {

namespace {

RunRecord run_of(const std::string& controller, const std::string& name, const std::string& id) {
  RunRecord out;
  out.controller = controller;
  out.key = {"shop", name};
  out.id = id;
  out.outcome = "done";
  return out;
}

std::string ids(const RunHistory::Runs& runs) {
  std::string out;
  for (const auto& run : runs) out += run->record.id + " ";
  return out;
}

}  // namespace

TEST_CASE("the last runs of a controller and of an object are kept, oldest first") {
  RunHistory history({3, 2, 10});
  for (const char* id : {"1", "2", "3", "4"}) history.add({}, run_of("web", "a", id));
  history.add({}, run_of("other", "a", "5"));
  CHECK(ids(history.of_controller("web")) == "2 3 4 ");
  CHECK(ids(history.of_object("web", {"shop", "a"})) == "3 4 ");
  CHECK(ids(history.all()) == "2 3 4 5 ");
  CHECK(history.last("web", {"shop", "a"})->record.id == "4");
  CHECK(history.last("web", {"shop", "b"}) == nullptr);
}

TEST_CASE("what has only waited is listed, and is not the last run") {
  RunHistory history;
  RunRecord waited = run_of("web", "a", "2");
  waited.outcome = std::string(kIncomplete);
  history.add({}, waited);
  CHECK(history.last("web", {"shop", "a"}) == nullptr);
  history.add({}, run_of("web", "a", "1"));
  history.add({}, waited);
  CHECK(history.last("web", {"shop", "a"})->record.id == "1");
  CHECK(ids(history.of_object("web", {"shop", "a"})) == "1 2 ");
}

TEST_CASE("the runs of one object under several controllers are in the order of their ends") {
  RunHistory history;
  for (const char* id : {"1", "3"}) {
    history.add({}, run_of("web", "a", id));
    history.add({}, run_of("other", "a", id + std::string("b")));
    history.add({}, run_of("web", "b", "no"));
  }
  CHECK(ids(history.of_object({{"other", {"shop", "a"}}, {"web", {"shop", "a"}}})) == "1 1b 3 3b ");
}

TEST_CASE("the object that ran longest ago is forgotten first") {
  RunHistory history({100, 2, 2});
  history.add({}, run_of("web", "a", "1"));
  history.add({}, run_of("web", "b", "2"));
  history.add({}, run_of("web", "a", "3"));
  history.add({}, run_of("web", "c", "4"));
  CHECK(history.objects() == 2);
  CHECK(history.last("web", {"shop", "b"}) == nullptr);
  CHECK(ids(history.of_object("web", {"shop", "a"})) == "1 3 ");
}

TEST_CASE("a run without an exit code or stderr shows neither") {
  RunHistory history;
  auto record = run_of("web", "a", "1");
  CHECK_FALSE(to_json(*history.add({}, record)).contains("exitCode"));
  record.exit_code = 3;
  record.stderr_tail = "no\n";
  const Json shown = to_json(*history.add({}, record));
  CHECK(shown["exitCode"] == 3);
  CHECK(shown["stderr"] == "no\n");
  CHECK(shown["number"] == 2);
}

}  // namespace kubewatch::hooks
