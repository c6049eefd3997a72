// One watch of a cached kind on a sink that takes as much as the test lets it.
#include "apiserver/read_watch.hpp"

#include "apiserver/registry.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

namespace {

class FakeSink : public WatchSink {
 public:
  void send(std::string_view bytes) override {
    text.append(bytes);
    waiting += bytes.size();
  }
  void send_now(std::string_view bytes) override {
    at_once.append(bytes);
    send(bytes);
  }
  std::size_t backlog() const override { return reads ? 0 : waiting; }
  bool gone() const override { return false; }

  std::string text;
  std::string at_once;  // what of it did not wait
  std::size_t waiting = 0;
  bool reads = true;
};

ReadChange modified(std::uint64_t version, std::size_t size) {
  ReadChange out;
  out.type = ReadEventType::modified;
  out.key = {"shop", "a"};
  out.version = version;
  out.json = R"({"metadata":{"name":"a","namespace":"shop","resourceVersion":")" +
             std::to_string(version) + R"("},"data":{"k":")" + std::string(size, 'x') + R"("}})";
  out.previous_json = out.json;
  return out;
}

// Objects of which the last one alone is on node n1; counts who reads them.
class CountedState : public core::ReadState {
 public:
  explicit CountedState(std::size_t size) : size_(size) {}
  const std::string& resource_version() const override { return version_; }
  std::vector<core::ObjectKey> select(const core::LabelSelector&,
                                      const std::optional<std::string>&) const override {
    return keys();
  }
  std::optional<std::string> json(const core::ObjectKey& key) const override {
    ++read;
    return R"({"metadata":{"name":")" + key.name + R"(","namespace":"shop"},"spec":{"nodeName":")" +
           (key.name == std::to_string(size_ - 1) ? "n1" : "n2") + R"("}})";
  }
  Keys keys() const {
    Keys out;
    for (std::size_t i = 0; i < size_; ++i) out.push_back({"shop", std::to_string(i)});
    return out;
  }
  mutable std::size_t read = 0;

 private:
  std::size_t size_;
  std::string version_ = "1";
};

const ReadText& maps() {
  static const ReadText text(Registry().find("", "v1", "configmaps"), false);
  return text;
}

}  // namespace

TEST_CASE("a watch that nobody reads is handed no more than a megabyte, then told 410") {
  ReadHistory history({1000, 4U << 20U});
  history.reset(1);
  ReadWatch slow({}, maps());
  ReadWatch quick({}, maps());
  REQUIRE(slow.start_after(1, history).ok());
  REQUIRE(quick.start_after(1, history).ok());
  FakeSink stalled;
  stalled.reads = false;
  FakeSink read;
  bool open = true;
  std::uint64_t version = 1;
  for (int i = 0; i < 200; ++i) {
    history.add(modified(++version, 50000));
    CHECK(quick.pump(read, history, {}));
    open = open && slow.pump(stalled, history, {});
  }
  CHECK_FALSE(open);
  CHECK(stalled.text.size() < (3U << 19U));
  CHECK(stalled.text.find("\"code\":410") != std::string::npos);
  CHECK(read.text.find("\"resourceVersion\":\"" + std::to_string(version) + "\"") !=
        std::string::npos);
}

TEST_CASE("a line is made once for all watches that see an event the same way") {
  ReadHistory history;
  history.reset(1);
  ReadWatch one({}, maps());
  ReadWatch two({}, maps());
  REQUIRE(one.start_after(1, history).ok());
  REQUIRE(two.start_after(1, history).ok());
  FakeSink a;
  FakeSink b;
  history.add(modified(2, 10));
  CHECK(one.pump(a, history, {}));
  CHECK(two.pump(b, history, {}));
  CHECK(a.text == b.text);
  CHECK(history.at(history.first())->lines.size() == 1);
}

TEST_CASE("a watch that is behind the others leaves no lines in the history") {
  ReadHistory history;
  history.reset(1);
  ReadWatch behind({}, maps());
  REQUIRE(behind.start_after(1, history).ok());
  FakeSink sink;
  history.add(modified(2, 10));
  history.add(modified(3, 10));
  const std::uint64_t share_from = history.end();  // these two were sent to all who keep up
  history.add(modified(4, 10));
  CHECK(behind.pump(sink, history, {{}, share_from}));
  CHECK(sink.text.find("\"resourceVersion\":\"2\"") != std::string::npos);
  CHECK(history.at(history.first())->lines.empty());
  CHECK(history.at(history.first() + 1)->lines.empty());
  CHECK(history.at(history.first() + 2)->lines.size() == 1);
}

TEST_CASE("the newest event does not wait, where its round is the first of a turn") {
  ReadHistory history;
  history.reset(1);
  ReadWatch watch({}, maps());
  REQUIRE(watch.start_after(1, history).ok());
  FakeSink sink;
  history.add(modified(2, 10));
  history.add(modified(3, 10));
  CHECK(watch.pump(sink, history, {{}, 0, true}));
  CHECK(sink.at_once.find("\"resourceVersion\":\"2\"") == std::string::npos);
  CHECK(sink.at_once.find("\"resourceVersion\":\"3\"") != std::string::npos);
  history.add(modified(4, 10));
  CHECK(watch.pump(sink, history, {}));
  CHECK(sink.text.find("\"resourceVersion\":\"4\"") != std::string::npos);
  CHECK(sink.at_once.find("\"resourceVersion\":\"4\"") == std::string::npos);
  // What leaves a selection as well.
  ReadWatchSpec spec;
  spec.labels = core::LabelSelector::parse("a=b").value();
  ReadWatch chosen(spec, maps());
  REQUIRE(chosen.start_after(history.version(), history).ok());
  ReadChange left = modified(5, 10);
  left.previous_labels = {{"a", "b"}};
  history.add(left);
  FakeSink other;
  CHECK(chosen.pump(other, history, {{}, 0, true}));
  CHECK(other.at_once.find("\"type\":\"DELETED\"") != std::string::npos);
}

TEST_CASE("a state that a field selector chooses from is looked at as far as the turn allows") {
  ReadHistory history;
  history.reset(1);
  const auto state = std::make_shared<CountedState>(5000);
  const auto keys = std::make_shared<const Keys>(state->keys());
  ReadWatchSpec spec;
  spec.fields = core::FieldSelector::parse("spec.nodeName=n1").value();
  ReadWatch watch(spec, maps());
  watch.start_with_state({state, keys}, 1, true, history);
  FakeSink sink;
  std::size_t looks = 1000;
  const ReadTurn turn{{}, 0, false, &looks};
  CHECK(watch.pump(sink, history, turn));
  CHECK(state->read == 1000);
  CHECK(looks == 0);
  CHECK(watch.starved());
  CHECK(watch.pump(sink, history, turn));
  CHECK(state->read == 1000);
  history.add(modified(2, 10));
  for (int turns = 0; turns < 10 && watch.starved(); ++turns) {
    CHECK(sink.text.empty());
    looks = 1000;
    CHECK(watch.pump(sink, history, turn));
  }
  CHECK_FALSE(watch.starved());
  CHECK(state->read == 5000);
  CHECK(sink.text.find("\"name\":\"4999\"") != std::string::npos);
  // Of what the key says nothing is read, and without a selector nothing is counted.
  spec.fields = core::FieldSelector::parse("metadata.name=7").value();
  ReadWatch named(spec, maps());
  named.start_with_state({state, keys}, 1, true, history);
  looks = 2;  // one would be used up by the one that is read
  CHECK(named.pump(sink, history, turn));
  CHECK_FALSE(named.starved());
  CHECK(state->read == 5001);
  ReadWatch all({}, maps());
  all.start_with_state({state, keys}, 1, true, history);
  looks = 0;
  CHECK(all.pump(sink, history, turn));
  CHECK_FALSE(all.starved());
  CHECK(state->read == 10001);
}

TEST_CASE("a bookmark is sent when it is wanted and nothing waits before it") {
  ReadHistory history;
  history.reset(1);
  ReadWatchSpec spec;
  spec.bookmarks = true;
  ReadWatch watch(spec, maps());
  ReadWatch plain({}, maps());
  REQUIRE(watch.start_after(1, history).ok());
  REQUIRE(plain.start_after(1, history).ok());
  FakeSink sink;
  FakeSink other;
  history.advance(9);
  watch.bookmark(sink, history);
  plain.bookmark(other, history);
  CHECK(sink.text.find("\"type\":\"BOOKMARK\"") != std::string::npos);
  CHECK(sink.text.find("\"resourceVersion\":\"9\"") != std::string::npos);
  CHECK(other.text.empty());
  history.add(modified(10, 10));
  sink.text.clear();
  watch.bookmark(sink, history);
  CHECK(sink.text.empty());
}

}  // namespace kubewatch::apiserver
