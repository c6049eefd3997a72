// Lists item by item: the same items and the same end for every chunking (P4).
#include "core/list_splitter.hpp"

#include <optional>
#include <vector>

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::core;

namespace {

struct Split {
  std::vector<std::string> items;
  Result<ListPage> page;
};

Split split(std::string_view body, std::size_t chunk, std::size_t limit = 8U << 20U) {
  ListSplitter splitter(limit);
  Split out{{}, ListPage{}};
  for (std::size_t at = 0; at < body.size(); at += chunk) {
    auto fed = splitter.feed(body.substr(at, chunk),
                             [&](std::string_view item) { out.items.emplace_back(item); });
    if (fed.ok()) continue;
    out.page = std::move(fed).error();
    return out;
  }
  out.page = splitter.finish();
  return out;
}

std::vector<std::string> items_of(std::string_view body) {
  const Split got = split(body, 5);
  REQUIRE(got.page.ok());
  return got.items;
}

}  // namespace

TEST_CASE("a list gives its items wherever its metadata stands") {
  for (
      const char* body :
      {R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"c\u0041","remainingItemCount":3},"items":[{"a":1} , {"b":"]"}]})",
       R"({"apiVersion":"v1","items":[{"a":1},{"b":"]"}],"kind":"PodList","metadata":{"continue":"cA","resourceVersion":"7"}})"}) {
    INFO(body);
    for (std::size_t chunk = 1; chunk < 300; ++chunk) {
      CAPTURE(chunk);
      const Split got = split(body, chunk);
      REQUIRE(got.page.ok());
      const ListPage* page = &*got.page;
      const auto& items = got.items;
      CHECK(page->kind == "PodList");
      CHECK(page->api_version == "v1");
      CHECK(page->resource_version == "7");
      CHECK(page->continue_token == "cA");
      CHECK(items == std::vector<std::string>{R"({"a":1})", R"({"b":"]"})"});
    }
  }
}

TEST_CASE("a page says how many objects follow, where the server counts them") {
  const auto remaining = [](const std::string& metadata) {
    const Split got = split(R"({"kind":"PodList","metadata":)" + metadata + R"(,"items":[]})", 5);
    REQUIRE(got.page.ok());
    return got.page->remaining;
  };
  CHECK(remaining(R"({"remainingItemCount":900,"continue":"c"})") == 900U);
  CHECK(remaining(R"({"remainingItemCount":0})") == 0U);
  for (const char* none :
       {R"({"continue":"c"})", "null", R"({"remainingItemCount":null})",
        R"({"remainingItemCount":-3})", R"({"remainingItemCount":1.5})",
        R"({"remainingItemCount":"9"})", R"({"remainingItemCount":99999999999999999999999})"}) {
    INFO(none);
    CHECK_FALSE(remaining(none));
  }
}

TEST_CASE("a continue token that no URL has room for is not taken") {
  const auto page = [](std::size_t size) {
    const std::string token(size, 'c');
    return split(R"({"kind":"PodList","metadata":{"continue":")" + token + R"("},"items":[]})", 999)
        .page;
  };
  CHECK(page(64U << 10U).ok());
  const auto long_one = page((64U << 10U) + 1);
  REQUIRE_FALSE(long_one.ok());
  CHECK(long_one.error().kind() == ErrorKind::invalid);
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

TEST_CASE("what is no whole list is an error at its end, for every chunking") {
  for (const char* bad :
       {"", "[]", "{", R"({"kind":"PodList","items":[{"a":1})", R"({"items":[{"a":1}]} x)",
        R"({"items":[{"a":1}],"kind":7})", R"({"items":[{"a":1},]})", R"({"items":[{"a":1} {}]})",
        R"({"items":{"a":1}})", R"({"kind":"Table","rows":[]})", R"({"kind":"Status","code":500})",
        R"({"items":[{"a":1}],"metadata":[]})",
        R"({"items":[{"a":1}],"metadata":{"resourceVersion":7}})", R"({})",
        R"({"items":[{"a":1}],)", "{\"items\":[\"a"}) {
    INFO(bad);
    for (std::size_t chunk : {1U, 2U, 7U, 1000U}) {
      const Split got = split(bad, chunk);
      REQUIRE_FALSE(got.page.ok());
      CHECK(got.page.error().kind() == ErrorKind::invalid);
    }
  }
  CHECK(split(R"({"kind":"Table","rows":[]})", 3).page.error().message() ==
        "the server answered with a Table where a list is expected");
  CHECK(split(R"({"items":[{"a":1} {}]})", 4).page.error().message() ==
        "not valid JSON: wrong character at byte 18, where , or ] is expected");
  CHECK(split(R"({"items":[{"a":1})", 4).page.error().message() ==
        "not valid JSON: the text ends at byte 17, where , or ] is expected");
  CHECK(split(R"({"items":[],"items":[]})", 4).page.error().message() ==
        "the list has its items twice");
}

TEST_CASE("what brings no item ends the list at the limit of an item, for every chunking") {
  const std::string big(101, 'x');
  const auto why = [](const std::string& body, const std::string& last) {
    for (std::size_t chunk : {1U, 7U, 1000U}) {
      CAPTURE(chunk, body);
      const Split got = split(body, chunk, 100);
      REQUIRE_FALSE(got.page.ok());
      CHECK(got.page.error().kind() == ErrorKind::too_large);
      CHECK(got.page.error().message() ==
            "the list has more than 100 bytes without an item, the last of them " + last);
    }
  };
  why(R"({"kind":"PodList","x":")" + big, R"(in its "x")");
  why(R"({"items":[{"a":1}],"rows":[")" + big + R"("]})", R"(in its "rows")");
  why(R"({"items":[],"kind":")" + big + R"("})", R"(in its "kind")");
  why(R"({")" + big, "a key");
  const std::string blanks(101, ' ');
  why(blanks, "white space");
  why(R"({"items":[{"a":1})" + blanks + "]}", "white space");
  why(R"({"items":[]})" + blanks, "white space");
  std::string many = "{";
  for (int i = 0; i < 30; ++i) many += R"("k":1,)";
  const Split got = split(many, 3, 100);
  REQUIRE_FALSE(got.page.ok());
  CHECK(got.page.error().kind() == ErrorKind::too_large);
}

TEST_CASE("each item begins the count of what brings none anew") {
  const std::string gap(60, ' ');
  std::string body = R"({"items":[)";
  for (int i = 0; i < 10; ++i) body += gap + "{}" + (i < 9 ? "," : "");
  CHECK(split(body + R"(],"x":")" + gap + R"("})", 7, 100).page.ok());
}

TEST_CASE("an item above the limit ends the list") {
  const std::string big(200, 'x');
  CHECK(split(R"({"items":[{"a":1},{"b":")" + big + R"("}]})", 7, 100).page.error().kind() ==
        ErrorKind::too_large);
  CHECK(split(R"({"items":[{"b":")" + big + R"("}]})", 7, 300).page.ok());
}

TEST_CASE("a list of megabytes in tiny chunks costs linear time") {
  const std::string item = "{\"a\":\"" + std::string(1U << 20U, '{') + "\"}";
  const Split got = split("{\"items\":[" + item + "," + item + "]}", 1);
  CHECK(got.page.ok());
  CHECK(got.items.size() == 2);
}
