#include "runtime/change_stream.hpp"

#include <fmt/format.h>

#include "runtime/changes.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;
using test::change_of;
using test::meta_named;

namespace {

TimePoint at(std::int64_t ms) {
  return TimePoint{Duration{ms}};
}

// "added a1<-", "modified a3<-a1", "deleted a3": name and version, now and before.
struct Told {
  std::vector<std::string> lines;
  ChangeStream::Handler handler() {
    return [this](const StoreChange& change) {
      static const char* const kTypes[] = {"added", "modified", "deleted"};
      std::string line = fmt::format("{} {}{}", kTypes[static_cast<int>(change.type)],
                                     change.meta.name, change.meta.resource_version);
      if (change.previous_meta) line += "<-" + change.previous_meta->resource_version;
      lines.push_back(line);
    };
  }
  std::string all() const {
    std::string out;
    for (const std::string& line : lines) out += line + ";";
    return out;
  }
};

StoreChange added(const std::string& name, int version) {
  return change_of(meta_named(name, version), ChangeType::added);
}
StoreChange modified(const std::string& name, int version, int before) {
  StoreChange change = change_of(meta_named(name, version), ChangeType::modified);
  change.previous_meta = meta_named(name, before);
  return change;
}
StoreChange deleted(const std::string& name, int version) {
  StoreChange change = change_of(meta_named(name, version), ChangeType::deleted);
  change.previous_meta = meta_named(name, version);
  return change;
}

}  // namespace

TEST_CASE("a stream selects what is applied, deleted, or both") {
  const auto run = [](const std::function<void(ChangeStream&)>& chain) {
    Told told;
    ChangeStream stream;
    chain(stream);
    stream.to(told.handler());
    stream.push(at(0), added("a", 1));
    stream.push(at(0), modified("a", 2, 1));
    stream.push(at(0), deleted("a", 3));
    return told.all();
  };
  CHECK(run([](auto&) {}) == "added a1;modified a2<-1;deleted a3<-3;");
  CHECK(run([](auto& stream) { stream.applied(); }) == "added a1;modified a2<-1;");
  CHECK(run([](auto& stream) { stream.deleted(); }) == "deleted a3<-3;");
  CHECK(run([](auto& stream) { stream.applied().deleted(); }).empty());
}

TEST_CASE("operators work in the order in which they are chained") {
  Told told, tapped;
  ChangeStream stream;
  stream.modify([](StoreChange& change) {
          change.meta.labels = {{"team", "x"}};
        })
      .tap(tapped.handler())
      .predicate(predicates::labels())
      .modify([](StoreChange& change) { change.meta.name += change.meta.labels[0].second; })
      .to(told.handler());
  const StoreChange first = added("a", 1);
  stream.push(at(0), first);
  stream.push(at(0), modified("a", 2, 1));
  CHECK(tapped.all() == "added a1;modified a2<-1;");
  CHECK(told.all() == "added ax1;");
  CHECK(first.meta.labels.empty());  // the edit is seen downstream only
}

TEST_CASE("live drops the first list, a filter what it does not want") {
  Told told;
  ChangeStream stream;
  stream.live()
      .filter([](const StoreChange& change) { return change.meta.name != "b"; })
      .to(told.handler());
  StoreChange initial = added("a", 1);
  initial.initial = true;
  stream.push(at(0), initial);
  stream.push(at(0), added("b", 2));
  stream.push(at(0), added("c", 3));
  CHECK(told.all() == "added c3;");
}

TEST_CASE("a debounce tells the net change once, counted from the first one") {
  Told told;
  ChangeStream stream;
  stream.debounce(Duration{100}).to(told.handler());
  CHECK_FALSE(stream.next_due());
  stream.push(at(0), modified("a", 2, 1));
  stream.push(at(50), modified("b", 2, 1));
  for (int i = 0; i < 9; ++i) stream.push(at(90), modified("a", 3 + i, 2 + i));
  CHECK(stream.next_due() == at(100));
  stream.advance(at(99));
  CHECK(told.all().empty());
  stream.advance(at(100));
  CHECK(told.all() == "modified a11<-1;");
  CHECK(stream.next_due() == at(150));
  stream.advance(at(200));
  CHECK(told.all() == "modified a11<-1;modified b2<-1;");
  CHECK_FALSE(stream.next_due());
}

TEST_CASE("a debounce loses no creation and no deletion") {
  Told told;
  ChangeStream stream;
  stream.debounce(Duration{100}).to(told.handler());
  const auto net = [&](const std::vector<StoreChange>& changes) {
    told.lines.clear();
    for (const StoreChange& change : changes) stream.push(at(0), change);
    stream.advance(at(100));
    return told.all();
  };
  CHECK(net({added("a", 1), modified("a", 2, 1)}) == "added a2;");
  CHECK(net({modified("a", 3, 2), deleted("a", 4)}) == "deleted a4<-2;");
  CHECK(net({added("a", 1), deleted("a", 2)}) == "deleted a2<-2;");
  CHECK(net({deleted("a", 2), added("a", 3)}) == "deleted a2<-2;added a3;");
  std::vector<StoreChange> again;
  for (int i = 0; i < 50; ++i) {
    again.push_back(deleted("a", 2 * i));
    again.push_back(added("a", 2 * i + 1));
  }
  CHECK(net(again) == "deleted a0<-0;added a99;");
}
