// Which changes of a worker's files end it.
#include "hooks/program_changes.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

struct Rig {
  // The file changes in each of these seconds: when did that count?
  std::vector<int> counted(int from, int to, int every = 1) {
    std::vector<int> out;
    for (int second = from; second < to; second += every) {
      if (judge(second).counts) out.push_back(second);
    }
    return out;
  }
  ProgramChanges::Judgement judge(int second) {
    const auto judged = changes.judge("/state.txt", std::to_string(++stamp), at(second));
    if (judged.pause) told.push_back(*judged.pause);
    return judged;
  }
  static TimePoint at(int second) { return TimePoint{Duration{second * 1000}}; }

  ProgramChanges changes;
  int stamp = 0;
  std::vector<Duration> told;
};

}  // namespace

TEST_CASE("a program that is edited now and then counts each time") {
  Rig rig;
  CHECK(rig.counted(0, 500, 10).size() == 50);
  CHECK(rig.told.empty());
}

TEST_CASE("a file that changes all the time counts after pauses that grow to an hour") {
  Rig rig;
  CHECK(rig.counted(0, 400) == std::vector<int>{0, 1, 2, 12, 32, 72, 152, 312});
  // Nobody is left to think that ten seconds still hold.
  CHECK(rig.told == std::vector<Duration>{Duration{10000}, Duration{80000}});
  const std::vector<int> later = rig.counted(400, 400 + 10 * 3600);
  REQUIRE(later.size() > 2);
  CHECK(later.size() < 15);
  CHECK(later.back() - *(later.end() - 2) == 3600);
  CHECK(rig.told.size() == 3);
  CHECK(rig.told.back() == Duration{640000});
}

TEST_CASE("what is found changed late after a pause still is one that goes on changing") {
  Rig rig;
  CHECK(rig.counted(0, 3).size() == 3);
  CHECK_FALSE(rig.judge(11).counts);
  CHECK(rig.judge(30).counts);  // 28 s after the last one: less than two pauses and 10 s
  CHECK_FALSE(rig.judge(49).counts);
  CHECK(rig.judge(50).counts);
}

TEST_CASE("a file that was quiet for a while counts at once again") {
  Rig rig;
  CHECK(rig.counted(0, 3).size() == 3);
  CHECK(rig.counted(100, 110) == std::vector<int>{100, 101, 102});
  CHECK(rig.told.size() == 2);  // another series
}

TEST_CASE("one change ends all workers that are older, and is one change") {
  ProgramChanges changes;
  const TimePoint now = Rig::at(1);
  for (int worker = 0; worker < 8; ++worker) {
    const auto judged = changes.judge("/w.sh", "new", now);
    CHECK(judged.counts);
    CHECK_FALSE(judged.pause);
  }
  CHECK(changes.judge("/w.sh", "newer", now).counts);
}

TEST_CASE("the pause of one file is none of another") {
  Rig rig;
  CHECK(rig.counted(0, 3).size() == 3);
  CHECK_FALSE(rig.judge(4).counts);
  CHECK(rig.changes.judge("/w.sh", "new", Rig::at(4)).counts);
}
