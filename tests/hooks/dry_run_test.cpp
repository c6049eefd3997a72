// Diffs of texts, placeholders of secrets, and writes that are only asked about.
#include "hooks/dry_run.hpp"

#include "base/strings.hpp"
#include "hooks/text_diff.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

TEST_CASE("a diff shows what changed with some lines around it") {
  CHECK(unified_diff("a\nb\nc\n", "a\nb\nc\n").empty());
  CHECK(unified_diff("a\nb\nc\n", "a\nx\nc\n") == "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
  CHECK(unified_diff("", "a\nb\n") == "@@ -0,0 +1,2 @@\n+a\n+b\n");
  CHECK(unified_diff("a\n", "") == "@@ -1,1 +0,0 @@\n-a\n");
}

TEST_CASE("changes far apart are two hunks, near ones are one") {
  std::string before;
  std::string far;
  std::string near;
  for (int i = 1; i <= 20; ++i) {
    const std::string line = std::to_string(i) + "\n";
    before += line;
    far += i == 2 || i == 19 ? "x\n" : line;
    near += i == 8 || i == 13 ? "x\n" : line;
  }
  CHECK(unified_diff(before, far) ==
        "@@ -1,5 +1,5 @@\n 1\n-2\n+x\n 3\n 4\n 5\n"
        "@@ -16,5 +16,5 @@\n 16\n 17\n 18\n-19\n+x\n 20\n");
  CHECK(unified_diff(before, near) ==
        "@@ -5,12 +5,12 @@\n 5\n 6\n 7\n-8\n+x\n 9\n 10\n 11\n 12\n-13\n+x\n 14\n 15\n 16\n");
}

TEST_CASE("the keyed hash is SipHash-2-4") {
  // The first two vectors of the reference: key 00..0f, inputs "" and "\0".
  const SecretHash::Key key = {0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL};
  CHECK(sip_hash(key, "") == 0x726fdb47dd0e0e31ULL);
  CHECK(sip_hash(key, std::string_view("\0", 1)) == 0x74f839c593dc67fdULL);
}

TEST_CASE("values of a Secret are hidden, equal ones alike, others not at all") {
  const SecretHash hash({1, 2});
  Json secret = {{"kind", "Secret"},
                 {"metadata", {{"name", "s"}}},
                 {"data", {{"a", base::base64_encode("hunter2")}}},
                 {"stringData", {{"b", "hunter2"}, {"c", "other"}}}};
  Json list = {{"kind", "List"}, {"items", {secret}}};
  hash.hide(secret);
  const std::string text = base::dump_json(secret);
  CHECK(text.find("hunter2") == std::string::npos);
  CHECK(text.find(base::base64_encode("hunter2")) == std::string::npos);
  CHECK(*base::base64_decode(secret["data"]["a"].get<std::string>()) == secret["stringData"]["b"]);
  CHECK(secret["stringData"]["b"] != secret["stringData"]["c"]);
  hash.hide(list);
  CHECK(base::dump_json(list).find("hunter2") == std::string::npos);
  Json map = {{"kind", "ConfigMap"}, {"data", {{"a", "hunter2"}}}};
  hash.hide(map);
  CHECK(map["data"]["a"] == "hunter2");
  CHECK(SecretHash({1, 3}).placeholder("hunter2") != hash.placeholder("hunter2"));
}

TEST_CASE("in a dry run a hook keeps its credentials, a cache to read only") {
  Rule rule;
  rule.reconcile.credentials.kind = CredentialsRule::Kind::cache;
  make_dry(rule);
  CHECK(rule.reconcile.credentials.kind == CredentialsRule::Kind::cache);
  CHECK(rule.reconcile.credentials.read_only);
}

TEST_CASE("a question is the same request that changes nothing") {
  http::Request request;
  request.method = "PATCH";
  request.url = "https://host/api/v1/namespaces/a/configmaps/b?fieldManager=x";
  CHECK(as_question(request).url == request.url + "&dryRun=All");
  request.url = "https://host/api/v1/namespaces";
  CHECK(as_question(request).url == request.url + "?dryRun=All");
}

TEST_CASE("what would be written is said with a diff, and nothing when it is there already") {
  const SecretHash hash({1, 2});
  const Json live = {{"kind", "ConfigMap"},
                     {"metadata", {{"name", "a"}, {"namespace", "n"}, {"resourceVersion", "1"}}},
                     {"data", {{"k", "v"}}}};
  Json same = live;
  same["metadata"]["resourceVersion"] = "2";
  CHECK(text_of({"apply", "/x", live, same, ""}, hash).empty());
  Json other = live;
  other["data"]["k"] = "w";
  const std::string text = text_of({"apply", "/x", live, other, ""}, hash);
  CHECK(text.find("apply ConfigMap n/a: configured\n--- live\n+++ dry run\n") == 0);
  CHECK(text.find("-  k: v\n+  k: w\n") != std::string::npos);
  CHECK(text_of({"delete", "/x", live, Json(), ""}, hash).find("delete ConfigMap n/a: deleted\n") ==
        0);
  CHECK(text_of({"apply", "/x", std::nullopt, other, ""}, hash)
            .find("apply ConfigMap n/a: created\n") == 0);
  CHECK(text_of({"apply", "/x", live, Json(), "not allowed"}, hash) ==
        "apply ConfigMap n/a: refused: not allowed\n");
}

TEST_CASE("an answer whose metadata is none is shown as it is") {
  const SecretHash hash({1, 2});
  const Json live = {{"kind", "X"}, {"metadata", "x"}};
  const Json next = {{"kind", "X"}, {"metadata", nullptr}};
  CHECK(text_of({"apply", "/x", live, next, ""}, hash).find("-metadata: ") != std::string::npos);
}

TEST_CASE("a diff of a Secret shows that a value differs and not which it is") {
  const SecretHash hash({1, 2});
  Json live = {{"kind", "Secret"},
               {"metadata", {{"name", "a"}}},
               {"data", {{"k", base::base64_encode("hunter2")}, {"same", "eA=="}}}};
  Json next = live;
  next["data"]["k"] = base::base64_encode("hunter3");
  const std::string text = text_of({"apply", "/x", live, next, ""}, hash);
  CHECK(text.find("-  k: \"" + hash.masked("hunter2") + "\"\n") != std::string::npos);
  CHECK(text.find("+  k: \"" + hash.masked("hunter3") + "\"\n") != std::string::npos);
  CHECK(hash.masked("x").find("<masked ") == 0);
  CHECK(text.find("-  same: ") == std::string::npos);
  CHECK(text.find(base::base64_encode("hunter")) == std::string::npos);
  CHECK(text.find("eA==") == std::string::npos);
}

TEST_CASE("a dry run hides what a hook has put outside of its Secret") {
  const SecretHash hash({1, 2});
  SecretMask known;
  known.add_value("hunter2");
  known.add_value("say \"please\"");
  known.add_value("4711471147");
  const Json live = {{"kind", "ConfigMap"}, {"metadata", {{"name", "a"}}}, {"data", {{"k", "v"}}}};
  Json next = live;
  next["metadata"]["annotations"]["note"] = "it is hunter2";
  next["data"]["k"] = "say \"please\"\nnow";
  next["status"] = {{"number", 4711471147}, {"hunter2", true}};
  const std::string text = text_of({"apply", "/x", live, next, ""}, hash, known);
  INFO(text);
  for (const char* secret : {"hunter2", "please", "4711471147"}) {
    CHECK(text.find(secret) == std::string::npos);
  }
  CHECK(text.find("it is ***") != std::string::npos);
  CHECK(text_of({"apply", "/x", live, Json(), "no hunter2 here"}, hash, known) ==
        "apply ConfigMap a: refused: no *** here\n");
  // Both sides are secret: that they differ is still told.
  Json one = live;
  one["data"]["k"] = "hunter2";
  Json other = live;
  other["data"]["k"] = "4711471147";
  CHECK(text_of({"apply", "/x", one, other, ""}, hash, known)
            .find("configured\n--- live\n+++ dry run\n(only values of Secrets differ)\n") !=
        std::string::npos);
}
