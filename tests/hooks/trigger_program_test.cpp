// Programs of `triggers`, as processes.
#include "hooks/trigger_program.hpp"

#include <filesystem>

#include "hooks/rule_folder.hpp"
#include "support/catch.hpp"
#include "support/limit.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

// It ends with more in its pipe than may be read before it is started again.
TEST_CASE("what a trigger program printed before it ended is read whole, however late") {
  loop::EventLoop loop;
  base::Random random(1);
  const test::RuleFolder folder;
  std::vector<std::string> names;
  {
    TriggerProgram program(
        {loop, random, "c", folder.path(), folder.path(),
         [&](const TriggerRequest& request) { names.push_back(request.key->name); }},
        {"/bin/sh", "-c",
         "[ -e ran ] && sleep 60; touch ran; seq -f '{\"name\": \"an-object-%05.0f\"}' 1450"},
        0);
    loop.run_until([&] { return names.size() >= 1450; }, Duration{30000});
  }
  REQUIRE(names.size() == 1450);
  CHECK(names.front() == "an-object-00001");
  CHECK(names.back() == "an-object-01450");
}

TEST_CASE("a trigger program whose pipe a cleaner of temporary folders took has a new one") {
  loop::EventLoop loop;
  base::Random random(1);
  const test::RuleFolder rules;
  const test::RuleFolder work;
  const std::string own = work.file("engine/.triggers-c");
  std::filesystem::create_directories(own);
  std::size_t told = 0;
  const bool folder_too = GENERATE(false, true);
  // It says one thing each time, and ends only when it is told to.
  TriggerProgram program(
      {loop, random, "c", rules.path(), own, [&](const TriggerRequest&) { ++told; }},
      {"/bin/sh", "-c",
       "echo '{\"name\": \"a\"}'; while [ ! -e end ]; do sleep 0.01; done; rm end"},
      0);
  REQUIRE(loop.run_until([&] { return told == 1; }, kLimit));
  std::filesystem::remove_all(folder_too ? work.file("engine") : own + "/trigger-0");
  rules.write("end", "");
  CHECK(loop.run_until([&] { return told == 2; }, kLimit));
  CHECK(std::filesystem::is_fifo(own + "/trigger-0"));
}
