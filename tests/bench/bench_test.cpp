#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "bench/corpus.hpp"
#include "bench/line_api.hpp"
#include "bench/readback.hpp"
#include "core/meta.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::bench;

namespace {

// What a client reads of an answer, without the head and the chunks' sizes.
std::string read_answer(LineApi& api, const std::string& head) {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  std::string raw;
  std::thread reader([&] {
    char buffer[4096];
    ssize_t got = 0;
    while ((got = ::read(ends[1], buffer, sizeof buffer)) > 0) {
      raw.append(buffer, static_cast<std::size_t>(got));
    }
  });
  Output output;
  api.answer(parse_request(head), output);
  const auto progress = output.send(ends[0]);
  ::close(ends[0]);
  reader.join();
  ::close(ends[1]);
  REQUIRE(progress == Output::Progress::done);
  const std::size_t body = raw.find("\r\n\r\n") + 4;
  if (raw.find("chunked") > body) return raw.substr(body);
  std::string out;
  std::size_t at = body;
  while (at < raw.size()) {
    const std::size_t line = raw.find("\r\n", at);
    const std::size_t size = std::stoul(raw.substr(at, line - at), nullptr, 16);
    out += raw.substr(line + 2, size);
    at = line + 2 + size + 2;
  }
  return out;
}

std::vector<std::string> items_of(const std::string& list, std::size_t piece = 997) {
  std::vector<std::string> out;
  ItemCutter cutter;
  for (std::size_t at = 0; at < list.size(); at += piece) {
    cutter.feed(std::string_view(list).substr(at, piece),
                [&](std::string_view item) { out.emplace_back(item); });
  }
  return out;
}

}  // namespace

TEST_CASE("A smaller corpus is the beginning of a larger one") {
  for (const auto kind : {CorpusKind::realistic, CorpusKind::hostile, CorpusKind::small}) {
    const Corpus few(kind, 30);
    const Corpus many(kind, 300);
    for (std::size_t i = 0; i < few.size(); ++i) CHECK(few.item(i) == many.item(i));
  }
}

TEST_CASE("Every object of a corpus is JSON with its own name, and of the size that is said") {
  const Corpus realistic(CorpusKind::realistic, 200);
  const Corpus small(CorpusKind::small, 200);
  for (const Corpus* corpus : {&realistic, &small}) {
    for (std::size_t i = 0; i < corpus->size(); ++i) {
      const auto meta = core::parse_meta(corpus->item(i));
      REQUIRE(meta.ok());
      CHECK(meta->name == corpus->name(i).name);
      CHECK(meta->namespace_ == corpus->name(i).namespace_);
      CHECK(meta->resource_version == std::to_string(Corpus::kFirstVersion + i));
    }
  }
  CHECK(realistic.items(0, 200).size() / 200 > 5500);
  CHECK(realistic.items(0, 200).size() / 200 < 6500);
  CHECK(small.items(0, 200).size() / 200 > 900);
  CHECK(small.items(0, 200).size() / 200 < 1150);
}

TEST_CASE("A touched object has the new version and time and is otherwise the same") {
  Corpus corpus(CorpusKind::realistic, 3);
  const std::string before(corpus.item(1));
  corpus.touch(1, 2000000007, 1767323045000000001);
  const auto meta = core::parse_meta(corpus.item(1));
  REQUIRE(meta.ok());
  CHECK(meta->resource_version == "2000000007");
  REQUIRE(meta->annotation("bench.kubewatch.dev/sent") != nullptr);
  CHECK(*meta->annotation("bench.kubewatch.dev/sent") == "1767323045000000001");
  corpus.touch(1, Corpus::kFirstVersion + 1, 0);
  CHECK(corpus.item(1) == before);
}

TEST_CASE("The pages of a list join to the whole list") {
  Corpus corpus(CorpusKind::realistic, 250);
  LineApi api(corpus);
  const auto whole = items_of(read_answer(api, "GET /api/v1/pods HTTP/1.1\r\n"));
  REQUIRE(whole.size() == 250);
  std::vector<std::string> pages;
  for (const char* query : {"limit=100", "limit=100&continue=100", "limit=100&continue=200"}) {
    for (auto& item :
         items_of(read_answer(api, std::string("GET /api/v1/pods?") + query + " HTTP/1.1\r\n"))) {
      pages.push_back(std::move(item));
    }
  }
  CHECK(pages == whole);
  for (std::size_t i = 0; i < whole.size(); ++i) CHECK(whole[i] == corpus.item(i));
}

TEST_CASE("A metadata list holds the metadata of every object and no more") {
  Corpus corpus(CorpusKind::small, 130);
  LineApi api(corpus);
  const auto items = items_of(read_answer(
      api, "GET /api/v1/pods HTTP/1.1\r\nAccept: application/json;as=PartialObjectMetadataList"));
  REQUIRE(items.size() == 130);
  for (std::size_t i = 0; i < items.size(); ++i) {
    CHECK(without_type(items[i]) == "{\"metadata\":" + std::string(corpus.metadata(i)) + "}");
  }
}

TEST_CASE("A streaming list sends every object, then the bookmark that ends it") {
  Corpus corpus(CorpusKind::small, 130);
  LineApi api(corpus);
  const std::string events = read_answer(
      api, "GET /api/v1/pods?watch=true&sendInitialEvents=true&resourceVersion= HTTP/1.1\r\n");
  std::size_t lines = 0;
  std::size_t at = 0;
  for (std::size_t end = 0; (end = events.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string line = events.substr(at, end - at);
    if (lines < 130) {
      CHECK(line == "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\"," +
                        std::string(corpus.item(lines).substr(1)) + "}");
    } else {
      CHECK(line.find("k8s.io/initial-events-end") != std::string::npos);
    }
    ++lines;
  }
  CHECK(lines == 131);
}

TEST_CASE("A watch from before the last change is told that its version is gone") {
  Corpus corpus(CorpusKind::small, 10);
  LineApi api(corpus);
  read_answer(api, "POST /bench/gone?changed=100 HTTP/1.1\r\n");
  CHECK(api.take_gone());
  CHECK_FALSE(api.take_gone());
  const std::string answer =
      read_answer(api, "GET /api/v1/pods?watch=1&resourceVersion=2000000000 HTTP/1.1\r\n");
  CHECK(answer.find("\"code\":410") != std::string::npos);
}

TEST_CASE("managedFields is cut with its comma wherever it stands") {
  CHECK(
      without_managed_fields(R"({"metadata":{"name":"a","managedFields":[{"x":"]}\""}]},"s":1})") ==
      R"({"metadata":{"name":"a"},"s":1})");
  CHECK(without_managed_fields(R"({"metadata":{"managedFields":[],"name":"a"}})") ==
        R"({"metadata":{"name":"a"}})");
  CHECK(without_managed_fields(R"({"metadata":{"managedFields":[{}]}})") == R"({"metadata":{}})");
  const std::string elsewhere = R"({"metadata":{"name":"managedFields"},"managedFields":[1]})";
  CHECK(without_managed_fields(elsewhere) == elsewhere);
}

TEST_CASE("Type members are cut only where they come first") {
  CHECK(without_type(R"({"kind":"Pod","apiVersion":"v1","metadata":{}})") == R"({"metadata":{}})");
  CHECK(without_type(R"({"metadata":{},"kind":"Pod"})") == R"({"metadata":{},"kind":"Pod"})");
}
