// Programs of `triggers`, as processes.
#include "hooks/trigger_program.hpp"

#include "hooks/rule_folder.hpp"
#include "support/catch.hpp"

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
