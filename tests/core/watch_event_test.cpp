// Framing: the same events for every chunking (P4), in time linear in the bytes.
#include "core/watch_event.hpp"

#include <vector>

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::core;

namespace {

struct Fed {
  std::vector<std::string> documents;
  bool ok = true;
  ErrorKind kind = ErrorKind::internal;
  std::size_t pending = 0;
};

Fed feed_in_chunks(std::string_view bytes, std::size_t chunk, std::size_t limit = 1U << 20U) {
  JsonSplitter splitter(limit);
  Fed out;
  for (std::size_t at = 0; at < bytes.size() && out.ok; at += chunk) {
    const auto fed = splitter.feed(bytes.substr(at, chunk), [&](std::string_view document) {
      out.documents.emplace_back(document);
    });
    if (!fed.ok()) {
      out.ok = false;
      out.kind = fed.error().kind();
    }
  }
  out.pending = splitter.pending();
  return out;
}

}  // namespace

TEST_CASE("a stream gives the same documents for every chunking") {
  const std::string stream =
      "{\"a\":1}\n{\"b\":\"}{\\\"\\\\\"}{\"c\":[{}]} \r\n\t[1,[2]]\n{\"d\":\"\xc3\xa9\\u007b\"}\n";
  const std::vector<std::string> wanted = {"{\"a\":1}", "{\"b\":\"}{\\\"\\\\\"}", "{\"c\":[{}]}",
                                           "[1,[2]]", "{\"d\":\"\xc3\xa9\\u007b\"}"};
  for (std::size_t chunk = 1; chunk <= stream.size(); ++chunk) {
    INFO(chunk);
    const Fed fed = feed_in_chunks(stream, chunk);
    CHECK(fed.ok);
    CHECK(fed.documents == wanted);
    CHECK(fed.pending == 0);
  }
}

TEST_CASE("an unfinished document is pending") {
  const Fed fed = feed_in_chunks("{\"a\":1}{\"b\":", 3);
  CHECK(fed.ok);
  CHECK(fed.documents.size() == 1);
  CHECK(fed.pending == 5);
}

TEST_CASE("garbage between documents ends the stream, for every chunking") {
  for (const char* stream : {"{}x{}", "{}]", "7", "\"x\"", "{},{}", "<html>", "{}\x1e{}"}) {
    for (std::size_t chunk : {1U, 2U, 100U}) {
      INFO(stream << " " << chunk);
      const Fed fed = feed_in_chunks(stream, chunk);
      CHECK_FALSE(fed.ok);
      CHECK(fed.kind == ErrorKind::invalid);
      CHECK(fed.documents.size() == (stream[0] == '{' ? 1 : 0));
    }
  }
  JsonSplitter splitter;
  const auto ignore = [](std::string_view) {};
  CHECK_FALSE(splitter.feed("x", ignore).ok());
  CHECK_FALSE(splitter.feed("{}", ignore).ok());
}

TEST_CASE("a document above the limit ends the stream, for every chunking") {
  const std::string fits = "{\"a\":\"" + std::string(92, 'x') + "\"}";
  REQUIRE(fits.size() == 100);
  for (std::size_t chunk : {1U, 7U, 99U, 100U, 1000U}) {
    INFO(chunk);
    CHECK(feed_in_chunks(fits + fits, chunk, 100).documents.size() == 2);
    const Fed fed = feed_in_chunks(fits + fits, chunk, 99);
    CHECK_FALSE(fed.ok);
    CHECK(fed.kind == ErrorKind::too_large);
    CHECK(fed.documents.empty());
    CHECK_FALSE(feed_in_chunks(fits.substr(0, 99) + std::string(1000, 'y'), chunk, 100).ok);
  }
}

TEST_CASE("a large document in tiny chunks costs linear time") {
  // Quadratic work would be 8e12 steps: the test would not end.
  const std::string large = "{\"a\":\"" + std::string(4U << 20U, '{') + "\"}";
  const Fed fed = feed_in_chunks(large + large, 1, 8U << 20U);
  CHECK(fed.ok);
  CHECK(fed.documents.size() == 2);
}

TEST_CASE("watch events are read whatever the order of their keys") {
  const auto event = parse_watch_event(R"( {"type":"ADDED","object":{"kind":"Pod","x":"}"}} )");
  REQUIRE(event.ok());
  CHECK(event->type == WatchEventType::added);
  CHECK(event->object == R"({"kind":"Pod","x":"}"})");
  CHECK(parse_watch_event(R"({"object":{},"extra":[1],"type":"DELETED"})")->type ==
        WatchEventType::deleted);
  CHECK(parse_watch_event(R"({"type":"MODIFIED","object":{}})")->type == WatchEventType::modified);
  CHECK(parse_watch_event(R"({"type":"BOOKMARK","object":{}})")->type == WatchEventType::bookmark);
  CHECK(parse_watch_event(R"({"type":"ERROR","object":{}})")->type == WatchEventType::error);
  const auto other = parse_watch_event(R"({"type":"NEW","object":{}})");
  CHECK(other->type == WatchEventType::unknown);
  CHECK(other->type_name == "NEW");
}

TEST_CASE("an event whose object is broken inside is still an event") {
  const auto event = parse_watch_event(R"({"type":"ADDED","object":{"a":tru,,}})");
  REQUIRE(event.ok());
  CHECK(event->object == R"({"a":tru,,})");
}

TEST_CASE("what is no watch event is refused") {
  for (const char* bad : {"", "{}", "[]", "7", R"({"type":"ADDED"})", R"({"object":{}})",
                          R"({"type":7,"object":{}})", R"({"type":"ADDED","object":7})",
                          R"({"type":"ADDED","object":null})", R"({"type":"ADDED","object":[]})",
                          R"({"type":"ADDED","object":{})", R"({"type":"ADDED" "object":{}})",
                          R"({"type":"ADDED","object":{}}x)", R"({"kind":"Status","code":410})"}) {
    INFO(bad);
    const auto event = parse_watch_event(bad);
    REQUIRE_FALSE(event.ok());
    CHECK(event.error().kind() == ErrorKind::invalid);
  }
}
