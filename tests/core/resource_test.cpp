// Names of kinds and objects, and the checks of names.
#include "core/resource.hpp"

#include <algorithm>
#include <functional>

#include "base/json.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::core;

TEST_CASE("an apiVersion is VERSION or GROUP/VERSION") {
  CHECK(parse_group_version("v1").value() == GroupVersion{"", "v1"});
  CHECK(parse_group_version("apps/v1").value() == GroupVersion{"apps", "v1"});
  CHECK(parse_group_version("apps/v1")->str() == "apps/v1");
  CHECK(parse_group_version("v1")->str() == "v1");
  for (const char* bad : {"", "/", "/v1", "apps/", "a/b/c"}) {
    INFO(bad);
    const auto result = parse_group_version(bad);
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().kind() == ErrorKind::invalid);
  }
}

TEST_CASE("a manifest names its kind or the error says what is missing") {
  const auto gvk = gvk_of(Json::parse(R"({"apiVersion":"apps/v1","kind":"Deployment"})"));
  REQUIRE(gvk.ok());
  CHECK(gvk->str() == "apps/v1 Deployment");
  CHECK(gvk->api_version() == "apps/v1");
  CHECK(gvk_of(Json::parse(R"({"kind":"Pod"})")).error().message() == "apiVersion is missing");
  CHECK(gvk_of(Json::parse(R"({"apiVersion":"v1"})")).error().message() == "kind is missing");
  CHECK(gvk_of(Json::parse(R"({"apiVersion":1,"kind":"Pod"})")).error().kind() ==
        ErrorKind::invalid);
  CHECK_FALSE(gvk_of(Json::parse("[]")).ok());
}

TEST_CASE("a resource type knows its verbs, subresources and qualified name") {
  ResourceType type{
      {"apps", "v1", "Deployment"}, "deployments", "deployment", true, {}, {}, {}, {}};
  type.verbs = {"get", "list"};
  type.subresources = {{"status", type.gvk, {"get"}}};
  CHECK(type.has_verb("list"));
  CHECK_FALSE(type.has_verb("watch"));
  CHECK(type.has_subresource("status"));
  CHECK_FALSE(type.has_subresource("scale"));
  CHECK(type.qualified_plural() == "deployments.apps");
  type.gvk.group = "";
  CHECK(type.qualified_plural() == "deployments");
}

TEST_CASE("object keys print, compare and hash") {
  const ObjectKey a{"shop", "web"};
  CHECK(a.str() == "shop/web");
  CHECK(ObjectKey{"", "node-1"}.str() == "node-1");
  CHECK(ObjectKeyHash{}(a) == ObjectKeyHash{}(ObjectKey{"shop", "web"}));
  CHECK(ObjectKeyHash{}({"a", "b"}) != ObjectKeyHash{}({"b", "a"}));
  CHECK(ObjectKey{"a", "z"} < ObjectKey{"b", "a"});
}

TEST_CASE("names chosen by a hash that is known do not meet in a table") {
  constexpr std::size_t kPlaces = 1009;
  std::vector<std::size_t> found(kPlaces);
  std::size_t chosen = 0;
  for (int i = 0; chosen < 1000; ++i) {
    const ObjectKey key{"", "web-" + std::to_string(i)};
    const std::size_t none = std::hash<std::string>{}("");
    const std::size_t known = none ^ (std::hash<std::string>{}(key.name) + 0x9e3779b97f4a7c15U +
                                      (none << 6U) + (none >> 2U));
    if (known % kPlaces != 0) continue;
    ++chosen;
    ++found.at(ObjectKeyHash{}(key) % kPlaces);
  }
  CHECK(*std::max_element(found.begin(), found.end()) < 50);
}

TEST_CASE("names are checked as the API server checks them") {
  CHECK(check_dns_subdomain("web.example.com").empty());
  CHECK(check_dns_subdomain("0").empty());
  CHECK(check_dns_subdomain(std::string(253, 'a')).empty());
  CHECK(check_dns_subdomain(std::string(254, 'a')) == "must be no more than 253 characters");
  CHECK(
      check_dns_subdomain("Web") ==
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
      "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
      "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
  for (const char* bad : {"", ".", "a..b", "-a", "a-", "a_b", "a/b", "..", "a.-b"}) {
    INFO(bad);
    CHECK_FALSE(check_dns_subdomain(bad).empty());
  }
  CHECK(check_dns_label("shop-1").empty());
  CHECK(check_dns_label("a.b") == "must not contain dots");
  CHECK(check_dns_label("a_b") ==
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
        "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex "
        "used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')");
  CHECK(check_dns_label(std::string(64, 'a')) == "must be no more than 63 characters");
  CHECK(dns_label_problems("a." + std::string(63, 'a')) ==
        std::vector<std::string>{"must be no more than 63 characters", "must not contain dots"});
  CHECK(dns_subdomain_problems(std::string(254, 'A')).size() == 2);
}

TEST_CASE("label keys and values are checked as the API server checks them") {
  for (const char* good : {"app", "a.b_c-D", "example.com/name", "kubewatch.dev/owner-uid"}) {
    INFO(good);
    CHECK(check_label_key(good).empty());
  }
  CHECK(check_label_key("") == "name part must be non-empty");
  CHECK(check_label_key("/x") == "prefix part must be non-empty");
  CHECK(check_label_key("x/") == "name part must be non-empty");
  CHECK(check_label_key("UP/x").rfind("prefix part a lowercase RFC 1123 subdomain", 0) == 0);
  CHECK(check_label_key("a/b/c").find("optional DNS subdomain prefix") != std::string::npos);
  CHECK(check_label_key("-a").rfind("name part must consist of alphanumeric", 0) == 0);
  CHECK(check_label_key(std::string(64, 'a')) == "name part must be no more than 63 bytes");
  CHECK(check_label_key(std::string(254, 'a') + "/x") ==
        "prefix part must be no more than 253 bytes");
  CHECK(check_label_value("").empty());
  CHECK(check_label_value("A_b.c-1").empty());
  CHECK(check_label_value("a b").rfind("a valid label must be an empty string or consist of", 0) ==
        0);
  CHECK_FALSE(check_label_value("a/b").empty());
  CHECK_FALSE(check_label_value(std::string(64, 'a')).empty());
}

TEST_CASE("a resource type is read as it was written, and nothing from what is none") {
  ResourceType type;
  type.gvk = {"demo.dev", "v1", "Web"};
  type.plural = "webs";
  type.singular = "web";
  type.short_names = {"w"};
  type.categories = {"all"};
  for (const bool namespaced : {true, false}) {
    type.namespaced = namespaced;
    const ResourceType read = resource_type_of(to_json(type));
    CHECK(read.gvk == type.gvk);
    CHECK(read.plural == "webs");
    CHECK(read.singular == "web");
    CHECK(read.namespaced == namespaced);
    CHECK(read.short_names == type.short_names);
    CHECK(read.categories == type.categories);
  }
  CHECK(resource_type_of("text").plural.empty());
}
