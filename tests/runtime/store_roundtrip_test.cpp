// What goes into a store comes out of it: random objects, compact and pretty-printed, whole and in
// pieces, equal byte for byte but for what is cut.
#include "base/json.hpp"
#include "base/random.hpp"
#include "core/list_splitter.hpp"
#include "runtime/store.hpp"
#include "runtime/store_ingest.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;

namespace {

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t n) { return random_.below(n); }

  std::string text() {
    static const std::vector<std::string> kPieces = {"a",
                                                     "web",
                                                     "\"",
                                                     "\\",
                                                     "{",
                                                     "}",
                                                     "[",
                                                     "]",
                                                     ",",
                                                     ":",
                                                     "\n",
                                                     "\t",
                                                     "/",
                                                     " ",
                                                     "\x7f",
                                                     "\xc3\xa9",
                                                     "\xe2\x82\xac",
                                                     "\x01",
                                                     "managedFields"};
    std::string out;
    for (auto n = below(6); n > 0; --n) out += kPieces[below(kPieces.size())];
    return out;
  }
  Json value(int depth) {
    switch (below(depth > 0 ? 8 : 6)) {
      case 0: return text();
      case 1: return static_cast<std::int64_t>(below(1U << 30U)) - 500;
      case 2: return static_cast<double>(below(100000)) / 64.0;
      case 3: return below(2) == 0;
      case 4: return nullptr;
      case 5: return std::string(below(150), 'x');
      case 6: {
        Json out = Json::array();
        for (auto n = below(5); n > 0; --n) out.push_back(value(depth - 1));
        return out;
      }
      default: return object(depth - 1);
    }
  }
  Json object(int depth) {
    Json out = Json::object();
    for (auto n = below(6); n > 0; --n) out[text()] = value(depth);
    return out;
  }
  // Of a list: with or without a type of its own.
  Json item(int number) {
    Json out = object(4);
    for (const char* name : {"apiVersion", "kind", "metadata"}) out.erase(name);
    if (below(2) == 0) out.update({{"apiVersion", "v1"}, {"kind", "Pod"}});
    Json meta = object(2);
    for (const char* name : {"name", "namespace", "uid", "resourceVersion", "generation", "labels",
                             "creationTimestamp", "deletionTimestamp", "annotations", "finalizers",
                             "ownerReferences"}) {
      meta.erase(name);
    }
    meta["name"] = "o" + std::to_string(number);
    if (below(2) == 0) meta["uid"] = text();
    meta["resourceVersion"] = std::to_string(below(1000));
    if (below(2) == 0) meta["labels"] = {{"app", text()}};
    meta["managedFields"] = Json::array({{{"manager", text()}, {"fieldsV1", object(3)}}});
    out["metadata"] = meta;
    return out;
  }

 private:
  base::Random random_;
};

}  // namespace

TEST_CASE("any object reads back as it was sent, without managedFields, compact") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Maker make(seed);
    StoreOptions options;
    options.type = {"", "v1", "Pod"};
    Store store(options);
    std::string list = "{\"items\":[";
    std::vector<std::string> wanted, managers;
    const int count = seed % 10 == 0 ? 500 : 20;  // with a dictionary, and without
    for (int i = 0; i < count; ++i) {
      Json item = make.item(i);
      list += (i == 0 ? "" : ",") + item.dump(make.below(2) == 0 ? -1 : 3);
      managers.push_back(item["metadata"]["managedFields"][0]["manager"]);
      item["metadata"].erase("managedFields");
      std::string text = item.dump();
      if (!item.contains("kind")) text.insert(1, R"("apiVersion":"v1","kind":"Pod",)");
      wanted.push_back(text);
    }
    list += "],\"kind\":\"PodList\"}";
    core::ListSplitter splitter;
    store.begin_init();
    const std::size_t chunk = 1 + make.below(500);
    for (std::size_t at = 0; at < list.size(); at += chunk) {
      REQUIRE(splitter
                  .feed(std::string_view(list).substr(at, chunk),
                        [&](std::string_view item) { REQUIRE(store.init_apply(item).ok()); })
                  .ok());
    }
    REQUIRE(splitter.finish().ok());
    store.finish_init("1");
    for (const bool compacted : {false, true}) {
      while (compacted && store.compact_some(100) > 0) {
      }
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto object = store.get({"", "o" + std::to_string(i)});
        CAPTURE(i, wanted[i], compacted);
        REQUIRE(object);
        REQUIRE(object->json == wanted[i]);
        REQUIRE(object->managers().at(0).manager == managers[i]);
      }
    }
    REQUIRE(store.unparsable().count == 0);
  }
}
