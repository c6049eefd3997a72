#include "core/object_rules.hpp"

#include "support/catch.hpp"

namespace kubewatch::core {

namespace {

using Problems = std::vector<std::string>;

const Gvk kStatefulSet{"apps", "v1", "StatefulSet"};
const Gvk kCronJob{"batch", "v1", "CronJob"};
const Gvk kConfigMap{"", "v1", "ConfigMap"};
const Gvk kRole{"rbac.authorization.k8s.io", "v1", "Role"};

}  // namespace

TEST_CASE("names are labels of kinds whose names become part of a host's") {
  const Problems dots = {"must not contain dots"};
  CHECK(object_name_problems({"", "v1", "Namespace"}, "a.b") == dots);
  CHECK(object_name_problems({"", "v1", "Service"}, "a.b") == dots);
  CHECK(object_name_problems(kStatefulSet, "1x.y") == dots);
  CHECK(object_name_problems(kStatefulSet, std::string(64, 'a')) ==
        Problems{"must be no more than 63 characters"});
  CHECK(object_name_problems({"apps", "v1", "Deployment"}, "a.b").empty());
}

TEST_CASE("a CronJob leaves room for the names of its Jobs") {
  CHECK(object_name_problems(kCronJob, std::string(52, 'a')).empty());
  CHECK(object_name_problems(kCronJob, std::string(53, 'a')) ==
        Problems{"must be no more than 52 characters"});
  CHECK(object_name_problems(kCronJob, std::string(254, 'a')) ==
        Problems{"must be no more than 253 characters", "must be no more than 52 characters"});
  CHECK(object_name_problems(kCronJob, std::string(60, 'a'), NamePart::prefix).empty());
}

TEST_CASE("some kinds have any name that can stand in a URL") {
  for (const Gvk& gvk :
       {kRole, Gvk{"policy", "v1", "PodDisruptionBudget"}, Gvk{"", "v1", "Event"}}) {
    CHECK(object_name_problems(gvk, "Bad_Name").empty());
    CHECK(object_name_problems(gvk, "a/%b") ==
          Problems{"may not contain '/'", "may not contain '%'"});
    CHECK(object_name_problems(gvk, "..") == Problems{"may not be '..'"});
    CHECK(object_name_problems(gvk, "..", NamePart::prefix).empty());
  }
  CHECK_FALSE(object_name_problems({"events.k8s.io", "v1", "Event"}, "Bad_Name").empty());
}

TEST_CASE("a prefix may end with a dash, a name may not") {
  CHECK(object_name_problems(kConfigMap, "web-", NamePart::prefix).empty());
  CHECK_FALSE(object_name_problems(kConfigMap, "web-").empty());
  CHECK(object_name_problems(kConfigMap, std::string(254, 'A')).size() == 2);
}

}  // namespace kubewatch::core
