// The ring of changes that watches of a cached kind start from, who waits for a newer state, and
// the states that pages go on in.
#include "apiserver/read_history.hpp"

#include <algorithm>

#include "apiserver/passed_documents.hpp"
#include "apiserver/read_pages.hpp"
#include "apiserver/read_waiters.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

namespace {

ReadChange change(ReadEventType type, const std::string& name, std::uint64_t version) {
  ReadChange out;
  out.type = type;
  out.key = {"shop", name};
  out.version = version;
  out.json = R"({"metadata":{"name":")" + name + R"(","resourceVersion":")" +
             std::to_string(version) + R"("}})";
  return out;
}

std::vector<std::string> told(const ReadHistory& history, std::uint64_t after) {
  std::vector<std::string> out;
  for (auto at = history.after(after); at < history.end(); ++at) {
    const ReadChange& one = history.at(at)->change;
    out.push_back(std::string(to_string(one.type)) + " " + one.key.name + " " +
                  std::to_string(one.version));
  }
  return out;
}

void relist(ReadHistory& history, std::vector<ReadChange> found, std::uint64_t version) {
  for (auto& one : found) history.note_relisted(std::move(one));
  history.add_relisted(version);
}

using Lines = std::vector<std::string>;
constexpr auto kAdded = ReadEventType::added;
constexpr auto kModified = ReadEventType::modified;
constexpr auto kDeleted = ReadEventType::deleted;

}  // namespace

TEST_CASE("a history tells what is newer than a resourceVersion, from where it begins") {
  ReadHistory history;
  history.reset(10);
  history.add(change(kAdded, "a", 11));
  history.add(change(kModified, "a", 13));
  history.advance(20);
  CHECK(told(history, 10) == Lines{"ADDED a 11", "MODIFIED a 13"});
  CHECK(told(history, 11) == Lines{"MODIFIED a 13"});
  CHECK(told(history, 13).empty());
  CHECK(history.version() == 20);
  CHECK(history.reaches(10));
  CHECK_FALSE(history.reaches(9));
}

TEST_CASE("a history forgets its oldest events by number and by bytes, and says so") {
  ReadHistory few({2, 1U << 20U});
  few.reset(1);
  for (std::uint64_t v = 2; v <= 5; ++v) few.add(change(kModified, "a", v));
  CHECK(told(few, 0) == Lines{"MODIFIED a 4", "MODIFIED a 5"});
  CHECK(few.oldest() == 3);
  CHECK_FALSE(few.reaches(2));
  CHECK(few.first() == 2);

  ReadHistory small({100, 1000});
  small.reset(1);
  for (std::uint64_t v = 2; v <= 20; ++v) small.add(change(kModified, "a", v));
  CHECK(small.bytes() <= 1000);
  CHECK(small.end() - small.first() >= 1);
  CHECK(small.reaches(19));
}

TEST_CASE("what a relist found is told in order, deletions last and at its resourceVersion") {
  ReadHistory history;
  history.reset(10);
  relist(history,
         {change(kModified, "c", 17), change(kDeleted, "gone", 5), change(kAdded, "b", 14),
          change(kDeleted, "too", 6)},
         20);
  CHECK(told(history, 10) ==
        Lines{"ADDED b 14", "MODIFIED c 17", "DELETED gone 20", "DELETED too 20"});
  // Whoever has seen one of the deletions and goes on from it is told both of them again.
  CHECK(history.at(history.end() - 1)->change.json ==
        R"({"metadata":{"name":"too","resourceVersion":"17"}})");
  CHECK(told(history, 17) == Lines{"DELETED gone 20", "DELETED too 20"});
}

TEST_CASE("a name that came back with another uid between two lists is deleted, then added") {
  ReadHistory history;
  history.reset(10);
  relist(history,
         {change(kDeleted, "a", 5), change(kAdded, "a", 15), change(kDeleted, "c", 6),
          change(kModified, "b", 12), change(kDeleted, "d", 7)},
         20);
  CHECK(told(history, 10) ==
        Lines{"MODIFIED b 12", "DELETED a 15", "ADDED a 15", "DELETED c 20", "DELETED d 20"});
  // Whoever goes on from the deletion is told it again, and the addition.
  const auto shown = [&](std::uint64_t place) { return history.at(place)->change.json; };
  CHECK(shown(history.first() + 1) == R"({"metadata":{"name":"a","resourceVersion":"12"}})");
  CHECK(shown(history.first() + 3) == R"({"metadata":{"name":"c","resourceVersion":"15"}})");
  CHECK(shown(history.first() + 4) == R"({"metadata":{"name":"d","resourceVersion":"15"}})");
  CHECK(told(history, 12) == Lines{"DELETED a 15", "ADDED a 15", "DELETED c 20", "DELETED d 20"});
}

TEST_CASE("a live deletion that is older than the state comes right before what is behind it") {
  ReadHistory history;
  history.reset(10);
  history.add(change(kDeleted, "a", 9));
  CHECK(told(history, 0).empty());
  history.add(change(kAdded, "a", 12));
  CHECK(told(history, 10) == Lines{"DELETED a 12", "ADDED a 12"});
  CHECK(history.at(history.first())->change.json ==
        R"({"metadata":{"name":"a","resourceVersion":"10"}})");
  history.add(change(kDeleted, "b", 9));
  history.advance(15);
  CHECK(told(history, 12) == Lines{"DELETED b 15"});
}

TEST_CASE("what was reached before the data went back is not reached again by its number") {
  ReadHistory history;
  history.reset(10);
  history.add(change(kAdded, "a", 107));
  history.reset(60);
  CHECK(history.reaches(60));
  CHECK_FALSE(history.reaches(107));
  CHECK_FALSE(history.reaches(61));
  CHECK(history.reaches(108));  // of the future, as it always could
  history.advance(80);
  CHECK(history.reaches(61));
  CHECK_FALSE(history.reaches(107));
}

TEST_CASE("an object that is found as old as what was told before is of another past") {
  const auto goes_on = [](std::vector<ReadChange> relisted, std::uint64_t version) {
    ReadHistory history({1, 1000});  // also where no more than the first of them is kept
    history.reset(10);
    history.advance(700);
    for (auto& one : relisted) history.note_relisted(std::move(one));
    return history.goes_on_at(version);
  };
  CHECK(goes_on({}, 700));
  CHECK(goes_on({change(kModified, "a", 701), change(kDeleted, "b", 5)}, 915));
  CHECK_FALSE(goes_on({}, 699));
  CHECK_FALSE(goes_on({change(kAdded, "c", 901), change(kModified, "a", 550)}, 915));
  CHECK_FALSE(
      goes_on({change(kAdded, "d", 902), change(kAdded, "c", 901), change(kAdded, "a", 9)}, 915));
  CHECK_FALSE(goes_on({change(kAdded, "a", 700)}, 915));
}

TEST_CASE("a relist that finds more than a history holds is kept no further, and ends its epoch") {
  const auto found = [](std::uint64_t version) {
    ReadChange out = change(kModified, "a" + std::to_string(version), version);
    out.json.append(1024, ' ');
    return out;
  };
  ReadHistory history({100, 64U << 10U});
  history.reset(10);
  history.add(change(kAdded, "a", 11));
  const auto epoch = history.epoch();
  for (std::uint64_t i = 0; i < 5; ++i) history.note_relisted(found(12 + i));
  CHECK(history.relisting());
  history.add_relisted(20);
  CHECK_FALSE(history.relisting());
  CHECK(history.epoch() == epoch);
  CHECK(told(history, 10).size() == 6);
  // By number, and by bytes.
  for (const std::uint64_t count : {101U, 1000U}) {
    const std::uint64_t base = history.version();
    std::size_t most = 0;
    for (std::uint64_t i = 1; i <= count; ++i) {
      history.note_relisted(count > 101 ? found(base + i) : change(kModified, "a", base + i));
      most = std::max(most, history.relisted_bytes());
    }
    CHECK(most <= (64U << 10U));
    CHECK(history.relisted_bytes() == 0);
    CHECK(history.relisting());
    CHECK(history.goes_on_at(base + count));
    const auto before = history.epoch();
    history.add_relisted(base + count);
    CHECK_FALSE(history.relisting());
    CHECK(history.epoch() != before);
    CHECK_FALSE(history.reaches(base));
    CHECK(history.reaches(base + count));
  }
  // One object alone is told, however long it is.
  ReadChange huge = change(kModified, "a", history.version() + 1);
  huge.json.append(100U << 10U, ' ');
  const auto before = history.epoch();
  relist(history, {huge}, huge.version);
  CHECK(history.epoch() == before);
  CHECK(told(history, huge.version - 1) == Lines{"MODIFIED a " + std::to_string(huge.version)});
}

TEST_CASE("a new epoch ends all watches of the one before") {
  ReadHistory history;
  history.reset(10);
  history.add(change(kAdded, "a", 11));
  const auto epoch = history.epoch();
  history.reset(4);
  CHECK(history.epoch() != epoch);
  CHECK(history.first() == history.end());
  CHECK(history.version() == 4);
}

TEST_CASE("a resourceVersion is replaced in the text and nothing else is") {
  CHECK(with_version(R"({"a":1,"metadata":{"x":{"resourceVersion":"7"},"resourceVersion":"8"}})",
                     99) ==
        R"({"a":1,"metadata":{"x":{"resourceVersion":"7"},"resourceVersion":"99"}})");
  CHECK(with_version(R"({"metadata":{}})", 99) == R"({"metadata":{}})");
}

TEST_CASE("who waits for a resourceVersion is let go when it is reached or the time is over") {
  VersionWaiters<int> waiters;
  const TimePoint t{};
  waiters.add(12, t + Duration{3000}, 1);
  waiters.add(20, t + Duration{1000}, 2);
  CHECK(waiters.take_reached(11).empty());
  CHECK(waiters.take_reached(12) == std::vector<int>{1});
  CHECK(waiters.take_expired(t + Duration{999}).empty());
  CHECK(waiters.take_expired(t + Duration{1000}) == std::vector<int>{2});
  CHECK(waiters.size() == 0);
}

TEST_CASE("keys are listed as the API does, which is not by pairs") {
  const Keys keys = {{"a", "x"}, {"a", "y"}, {"a-b", "x"}, {"a.b", "x"}, {"b", "x"}};
  const Keys ordered = in_api_order(keys);
  std::vector<std::string> texts;
  for (const auto& key : ordered) texts.push_back(key.str());
  CHECK(texts == Lines{"a-b/x", "a.b/x", "a/x", "a/y", "b/x"});
  CHECK(place_of(ordered, "a/x") == 2);
  CHECK(place_of(ordered, "a/xx") == 3);
  CHECK(place_of(ordered, "a-b/x") == 0);
  CHECK(place_of(ordered, "a.b/y") == 2);
  CHECK(place_of(ordered, "zz") == 5);
  const Keys cluster = in_api_order({{"", "a"}, {"", "b"}});
  CHECK(place_of(cluster, "b") == 1);
}

TEST_CASE("the states that pages go on in are bounded in number and time") {
  ReadPages pages(2, Duration{1000});
  const TimePoint t{};
  const auto keys = std::make_shared<const Keys>(Keys{{"shop", "a"}});
  pages.keep(1, "|", {nullptr, keys}, t);
  pages.keep(2, "|", {nullptr, keys}, t);
  CHECK(pages.find(1, "|", t + Duration{500}).keys);
  CHECK_FALSE(pages.find(1, "shop|", t).keys);
  pages.keep(3, "|", {nullptr, keys}, t + Duration{600});  // the one used longest ago goes
  CHECK(pages.size() == 2);
  CHECK_FALSE(pages.find(2, "|", t + Duration{600}).keys);
  CHECK(pages.find(3, "|", t + Duration{1599}).keys);
  CHECK_FALSE(pages.find(1, "|", t + Duration{1599}).keys);
}

TEST_CASE("documents of the server are kept for a while, and longer when it is away") {
  PassedDocuments documents(Duration{1000}, 1500);
  const TimePoint t{};
  documents.keep("/api", {200, {}, std::string(1000, 'x')}, t);
  documents.keep("/broken", {500, {}, "no"}, t);
  CHECK(documents.fresh("/api", t + Duration{999}) != nullptr);
  CHECK(documents.fresh("/api", t + Duration{1000}) == nullptr);
  CHECK(documents.any("/api") != nullptr);
  CHECK(documents.any("/broken") == nullptr);
  documents.keep("/apis", {200, {}, std::string(1000, 'y')}, t + Duration{1});
  CHECK(documents.any("/api") == nullptr);  // the older of the two is too much
  CHECK(documents.bytes() >= 1000);
  CHECK(documents.bytes() <= 1500);
  documents.doubt_until(t + Duration{2});
  documents.doubt_until(t);  // takes nothing back
  CHECK(documents.fresh("/apis", t + Duration{1}) == nullptr);
  CHECK(documents.any("/apis") != nullptr);
  documents.keep("/apis", {200, {}, "new"}, t + Duration{2});
  CHECK(documents.fresh("/apis", t + Duration{2}) != nullptr);
  CHECK(is_passed_document("/apis/apps/v1"));
  CHECK(is_passed_document("/openapi/v3/api/v1"));
  CHECK(is_passed_document("/version"));
  CHECK_FALSE(is_passed_document("/api/v1/pods"));
  CHECK_FALSE(is_passed_document("/metrics"));
}

TEST_CASE("documents are bounded by all that is kept of them, under whatever keys") {
  const TimePoint t{};
  const auto key = [](std::size_t number, std::size_t size) {
    return "/version?x=" + std::to_string(number) + std::string(size, 'k');
  };
  PassedDocuments documents(Duration{1000}, 1U << 20U);
  const http::Response small{200, {}, std::string(10, 'x')};
  documents.keep(key(0, 100'000), small, t);
  CHECK(documents.any(key(0, 100'000)) == nullptr);
  CHECK(documents.bytes() == 0);
  // Their keys count: a megabyte has less than 400 of these.
  for (std::size_t i = 0; i < 400; ++i) {
    documents.keep(key(i, 3000), small, t + Duration{static_cast<std::int64_t>(i)});
    documents.keep(key(i, 3000), small, t + Duration{static_cast<std::int64_t>(i)});
  }
  CHECK(documents.bytes() <= (1U << 20U));
  CHECK(documents.bytes() > (1U << 19U));
  CHECK(documents.any(key(0, 3000)) == nullptr);
  CHECK(documents.any(key(399, 3000)) != nullptr);
  // And their headers.
  http::Response headed = small;
  headed.headers.set("ETag", std::string(2U << 20U, 'e'));
  documents.keep("/headed", headed, t);
  CHECK(documents.any("/headed") == nullptr);
  // And how many there are.
  PassedDocuments many(Duration{1000}, 64U << 20U);
  for (std::size_t i = 0; i < 1500; ++i) {
    many.keep(key(i, 0), small, t + Duration{static_cast<std::int64_t>(i)});
  }
  CHECK(many.any(key(499, 0)) == nullptr);
  CHECK(many.any(key(500, 0)) != nullptr);
  CHECK(many.bytes() < 1000 * 400);
}

}  // namespace kubewatch::apiserver
