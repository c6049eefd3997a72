#include "hooks/record_mask.hpp"

#include "base/json.hpp"
#include "base/strings.hpp"
#include "support/catch.hpp"

namespace kubewatch::hooks {

namespace {

const SecretHash kHash(SecretHash::Key{1, 2});

Json secret(const std::string& value) {
  return {{"apiVersion", "v1"},
          {"kind", "Secret"},
          {"metadata",
           {{"name", "s"},
            {"annotations", {{"kubectl.kubernetes.io/last-applied-configuration", value}}}}},
          {"type", "Opaque"},
          {"data", {{"token", base::base64_encode(value)}}}};
}

Json config(const std::string& value) {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", {{"name", "correct-horse"}, {"annotations", {{"a", value}}}}},
          {"data", {{"url", "https://me:" + value + "@host"}}}};
}

}  // namespace

TEST_CASE("values of Secrets become hashes in a recording, and *** where they stand elsewhere") {
  RecordMask mask(kHash);
  Json one = secret("correct-horse");
  mask.learn(one);
  mask.hide(one);
  const std::string text = base::dump_json(one);
  CHECK(text.find("correct-horse") == std::string::npos);
  CHECK(text.find(base::base64_encode("correct-horse")) == std::string::npos);
  CHECK(one["type"] == "Opaque");
  CHECK(*base::base64_decode(one["data"]["token"].get<std::string>()) ==
        kHash.placeholder("correct-horse"));

  Json other = config("correct-horse");
  mask.hide(other);
  CHECK(other["data"]["url"] == "https://me:***@host");
  CHECK(other["metadata"]["annotations"]["a"] == "***");
  CHECK(other["metadata"]["name"] == "correct-horse");  // names are in paths as well
}

TEST_CASE("a replay hides what hooks make of placeholders as the recording hid the values") {
  RecordMask recorded(kHash);
  Json value = secret("correct-horse");
  recorded.learn(value);
  recorded.hide(value);
  Json copied = config("correct-horse");
  recorded.hide(copied);
  Json fixed = secret("a constant of the hook");
  recorded.learn(fixed);
  recorded.hide(fixed);

  RecordMask replayed(kHash, true);
  Json again = value;  // what the replayed hook is given, and copies
  replayed.learn(again);
  replayed.hide(again);
  CHECK(again == value);
  Json pasted = config(kHash.placeholder("correct-horse"));
  replayed.hide(pasted);
  CHECK(pasted == copied);
  Json made = secret("a constant of the hook");
  replayed.learn(made);
  replayed.hide(made);
  CHECK(made == fixed);
}

TEST_CASE("patches of Secrets are hidden although they do not say what they are") {
  RecordMask mask(kHash);
  Json merge = {{"path", "/api/v1/namespaces/shop/secrets/s"},
                {"body", {{"stringData", {{"k", "value-1"}, {"gone", nullptr}}}}}};
  mask.hide_write(merge);
  CHECK(merge["body"]["stringData"]["k"] == kHash.placeholder("value-1"));
  CHECK(merge["body"]["stringData"]["gone"].is_null());
  CHECK_FALSE(merge["body"].contains("kind"));
  Json json = {
      {"path", "/api/v1/namespaces/shop/secrets/s"},
      {"body", Json::array({{{"op", "test"}, {"path", "/metadata/uid"}, {"value", "u"}},
                            {{"op", "add"}, {"path", "/data/k"}, {"value", "dmFsdWU="}}})}};
  mask.hide_write(json);
  CHECK(json["body"][0]["value"] == "u");
  CHECK(is_placeholder(json["body"][1]["value"].get<std::string>()));
}

TEST_CASE("what stands in a Secret where its values should is hidden whole") {
  for (const Json& data : {Json("hunter22"), Json{"hunter22"}, Json{{"k", {"hunter22"}}}}) {
    const Json printed = {{"kind", "Secret"}, {"data", data}, {"stringData", nullptr}};
    Json recorded = printed;
    RecordMask(kHash).hide(recorded);
    CHECK(base::dump_json(recorded).find("hunter22") == std::string::npos);
    CHECK(recorded["stringData"].is_null());
    Json shown = printed;
    kHash.hide(shown, SecretHash::Reader::person);
    CHECK(base::dump_json(shown).find("hunter22") == std::string::npos);
    CHECK(shown["stringData"].is_null());
  }
}

TEST_CASE("patches of a Secret's metadata do not carry its values, and what they set is learned") {
  RecordMask mask(kHash);
  const std::string applied = "kubectl.kubernetes.io/last-applied-configuration";
  const auto set = [](const char* path, const Json& value) {
    return Json{{"op", "add"}, {"path", path}, {"value", value}};
  };
  Json patch = {{"path", "/api/v1/namespaces/shop/secrets/s"},
                {"body", Json::array({set("/data/k", base::base64_encode("correct-horse")),
                                      set("/metadata/annotations/a", "was correct-horse"),
                                      set("/metadata/annotations", {{applied, "first-value"}}),
                                      set("/metadata", {{"annotations", {{applied, "2nd"}}}}),
                                      set("/metadata/annotations/kubectl.kubernetes.io~1last-"
                                          "applied-configuration",
                                          "third-value")})}};
  mask.learn_write(patch);
  mask.hide_write(patch);
  const Json& body = patch["body"];
  CHECK(is_placeholder(body[0]["value"].get<std::string>()));
  CHECK(body[1]["value"] == "was ***");
  CHECK(body[2]["value"][applied] == "secret");
  CHECK(body[3]["value"]["annotations"][applied] == "secret");
  CHECK(body[4]["value"] == "secret");
  Json merge = {{"path", "/api/v1/namespaces/shop/secrets/s"},
                {"body", {{"stringData", {{"k", "battery-staple"}}}}}};
  mask.learn_write(merge);
  CHECK(mask.hide("battery-staple") == "***");
}

}  // namespace kubewatch::hooks
