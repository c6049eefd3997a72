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

std::vector<std::string> items_of(std::string_view body) {
  std::vector<std::string> out;
  const auto page = parse_list(body, [&](std::string_view item) { out.emplace_back(item); });
  REQUIRE(page.ok());
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

TEST_CASE("a list gives its items wherever its metadata stands") {
  for (
      const char* body :
      {R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"c\u0041","remainingItemCount":3},"items":[{"a":1} , {"b":"]"}]})",
       R"({"apiVersion":"v1","items":[{"a":1},{"b":"]"}],"kind":"PodList","metadata":{"continue":"cA","resourceVersion":"7"}})"}) {
    INFO(body);
    std::vector<std::string> items;
    const auto page = parse_list(body, [&](std::string_view item) { items.emplace_back(item); });
    REQUIRE(page.ok());
    CHECK(page->kind == "PodList");
    CHECK(page->api_version == "v1");
    CHECK(page->resource_version == "7");
    CHECK(page->continue_token == "cA");
    CHECK(items == std::vector<std::string>{R"({"a":1})", R"({"b":"]"})"});
  }
}

TEST_CASE("a list without items is empty") {
  CHECK(items_of(R"({"kind":"PodList","items":[]})").empty());
  CHECK(items_of(R"({"kind":"PodList","items":null,"metadata":null})").empty());
  CHECK(items_of(R"({"kind":"PodList"})").empty());
  CHECK(items_of(R"({"items":[ ]})").empty());
}

TEST_CASE("broken items and odd items are handed out for their reader to judge") {
  CHECK(items_of(R"({"items":[{"a":tru},7,null,"x"]})") ==
        std::vector<std::string>{R"({"a":tru})", "7", "null", "\"x\""});
}

TEST_CASE("what is no list hands out nothing") {
  for (const char* bad :
       {"", "[]", "{", R"({"kind":"PodList","items":[{"a":1})", R"({"items":[{"a":1}]} x)",
        R"({"items":[{"a":1}],"kind":7})", R"({"items":[{"a":1},]})", R"({"items":[{"a":1} {}]})",
        R"({"items":{"a":1}})", R"({"kind":"Table","rows":[]})", R"({"kind":"Status","code":500})",
        R"({"items":[{"a":1}],"metadata":[]})",
        R"({"items":[{"a":1}],"metadata":{"resourceVersion":7}})", R"({})",
        R"({"items":[{"a":1}],)", "{\"items\":[\"a"}) {
    INFO(bad);
    std::size_t items = 0;
    const auto page = parse_list(bad, [&](std::string_view) { ++items; });
    REQUIRE_FALSE(page.ok());
    CHECK(page.error().kind() == ErrorKind::invalid);
    CHECK(items == 0);
  }
  CHECK(parse_list(R"({"kind":"Table","rows":[]})", [](std::string_view) {}).error().message() ==
        "the server answered with a Table where a list is expected");
}
