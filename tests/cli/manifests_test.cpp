#include "cli/manifests.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "cli/crd/source.hpp"
#include "support/catch.hpp"
#include "support/nobody.hpp"

namespace kubewatch::cli {

namespace {

struct Folder {
  Folder() {
    char name[] = "/tmp/kubewatch-manifests-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  void file(const std::string& name, const std::string& text) const {
    std::ofstream(path + "/" + name) << text;
  }
  std::string path;
};

// Another file as this process's stdin.
struct Stdin {
  explicit Stdin(const char* path) : before(::dup(STDIN_FILENO)) {
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    REQUIRE(::dup2(fd, STDIN_FILENO) == STDIN_FILENO);
    ::close(fd);
  }
  ~Stdin() {
    ::dup2(before, STDIN_FILENO);
    ::close(before);
  }
  Stdin(const Stdin&) = delete;
  Stdin& operator=(const Stdin&) = delete;
  int before;
};

const char* const kRule = "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: r}\n";
const char* const kMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

}  // namespace

TEST_CASE("rule files in a folder of manifests are passed over, one that is named is not") {
  const Folder folder;
  folder.file("rules.yaml", kRule);
  folder.file("map.yaml", kMap);
  const auto all = read_manifests({folder.path}, false);
  REQUIRE(all.ok());
  REQUIRE(all->size() == 1);
  CHECK(all->front().object["kind"] == "ConfigMap");
  CHECK(read_manifests({folder.path + "/rules.yaml"}, false)->size() == 1);
}

TEST_CASE("a kustomization in a folder of manifests is passed over, one that is named is refused") {
  const Folder folder;
  folder.file("map.yaml", kMap);
  folder.file("kustomization.yaml", "resources: [map.yaml]\n");
  folder.file("kustomization.yml",
              "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n");
  const auto all = read_manifests({folder.path}, false);
  REQUIRE(all.ok());
  CHECK(all->size() == 1);
  CHECK(read_manifests({folder.path + "/*.yaml"}, false)->size() == 1);
  const std::string named = folder.path + "/kustomization.yaml";
  const std::string what = named + " is a kustomization: ";
  CHECK(read_manifests({named}, false, true).error().message() == what + "give its folder to -k");
  CHECK(read_manifests({named}, false).error().message() ==
        what + "render it, as in kubectl kustomize " + folder.path + " | kubewatch ... -f -");
  // Flux names its objects so, too.
  folder.file("kustomization.yaml",
              "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n"
              "metadata: {name: a}\n");
  CHECK(read_manifests({folder.path}, false)->size() == 2);
}

TEST_CASE("stdin is read up to a limit, and what cannot be read of it is no empty file") {
  const Folder folder;
  folder.file("map.yaml", kMap);
  {
    const Stdin map((folder.path + "/map.yaml").c_str());
    CHECK(read_text("-").value() == kMap);
  }
  {
    const Stdin map((folder.path + "/map.yaml").c_str());
    CHECK(read_manifests({"-"}, false)->size() == 1);
  }
  {
    const Stdin directory("/");
    const auto read = read_manifests({"-"}, false);
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().message() == "cannot read stdin: it is a folder");
    CHECK(read_text("-").error().message() == "cannot read stdin: it is a folder");
  }
  const Stdin endless("/dev/zero");
  const auto text = read_text("-");
  REQUIRE_FALSE(text.ok());
  CHECK(text.error().kind() == ErrorKind::invalid);
  CHECK(text.error().message() == "stdin: more than 64 MiB");
}

TEST_CASE("a pipe that is named is read once somebody writes to it") {
  const Folder folder;
  const std::string pipe = folder.path + "/pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::thread of_manifests([&] { std::ofstream(pipe) << kMap; });
  const auto read = read_manifests({pipe}, false);
  of_manifests.join();
  REQUIRE(read.ok());
  REQUIRE(read->size() == 1);
  CHECK(read->front().source == pipe);
  std::thread of_text([&] { std::ofstream(pipe) << kRule; });
  const auto text = read_text(pipe);
  of_text.join();
  CHECK(text.value() == kRule);
}

TEST_CASE("lists are expanded, and namespaces and CRDs go first") {
  const Folder folder;
  folder.file("all.yaml",
              std::string(kMap) +
                  "---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: "
                  "Secret, metadata: {name: s}}\n- {apiVersion: "
                  "apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: "
                  "{name: c}}\n- {apiVersion: v1, kind: ServiceAccount, metadata: {name: a}}\n- "
                  "{apiVersion: v1, kind: Namespace, metadata: {name: space}}\n");
  auto all = read_manifests({folder.path + "/all.yaml"}, false);
  REQUIRE(all.ok());
  sort_for_writing(*all);
  std::string kinds;
  for (const auto& one : *all) kinds += one.object["kind"].get<std::string>() + " ";
  CHECK(kinds == "Namespace CustomResourceDefinition ServiceAccount ConfigMap Secret ");
}

TEST_CASE("the items of a typed list are of the list's type, as a server prints them") {
  const Folder folder;
  folder.file("list.yaml",
              "apiVersion: apps/v1\nkind: DeploymentList\nitems:\n- metadata: {name: a}\n"
              "- {apiVersion: v1, kind: Secret, metadata: {name: s}}\n");
  const auto all = read_manifests({folder.path + "/list.yaml"}, false);
  REQUIRE(all.ok());
  CHECK(all->at(0).object["kind"] == "Deployment");
  CHECK(all->at(0).object["apiVersion"] == "apps/v1");
  CHECK(all->at(1).object["kind"] == "Secret");
  folder.file("bad.yaml", "apiVersion: v1\nkind: List\nitems: [{metadata: {name: a}}]\n");
  const auto bad = read_manifests({folder.path + "/bad.yaml"}, false);
  REQUIRE_FALSE(bad.ok());
  CHECK(bad.error().render().ends_with("without apiVersion (item 1 of the List)"));
}

TEST_CASE("a pattern that the shell left alone is one, unless a file is called so") {
  const Folder folder;
  folder.file("a.yaml", kMap);
  folder.file("b.yaml", kMap);
  folder.file("b.txt", "no manifest");
  CHECK(read_manifests({folder.path + "/*.yaml"}, false)->size() == 2);
  folder.file("[x].yaml", kMap);
  CHECK(read_manifests({folder.path + "/[x].yaml"}, false)->size() == 1);
  const auto none = read_manifests({folder.path + "/*.json"}, false);
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().render() == "nothing matches the path \"" + folder.path + "/*.json\"");
}

TEST_CASE("paths are split at commas, unless a file is called so") {
  const Folder folder;
  folder.file("a.yaml", kMap);
  folder.file("b.yaml", kRule);
  const std::string both = folder.path + "/a.yaml," + folder.path + "/b.yaml";
  const auto two = read_manifests({both}, false);
  REQUIRE(two.ok());
  REQUIRE(two->size() == 2);
  CHECK(two->front().source == folder.path + "/a.yaml");
  // It was named, so it is not passed over.
  CHECK(two->back().source == folder.path + "/b.yaml");
  folder.file("a.yaml,b.yaml", kMap);
  const auto one = read_manifests({folder.path + "/a.yaml,b.yaml"}, false);
  REQUIRE(one.ok());
  REQUIRE(one->size() == 1);
  CHECK(one->front().source == folder.path + "/a.yaml,b.yaml");
  const auto missing = read_manifests({folder.path + "/a.yaml,none.yaml"}, false);
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().render() == "the path \"none.yaml\" does not exist");
}

TEST_CASE("a manifest that cannot be applied is refused with its file") {
  const Folder folder;
  folder.file("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n");
  const auto refused = read_manifests({folder.path}, false);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().render() == folder.path + "/a.yaml: a ConfigMap without metadata.name");
}

TEST_CASE("a name that YAML reads as a boolean is refused with the cure") {
  const Folder folder;
  folder.file("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: on}\n");
  const auto refused = read_manifests({folder.path}, false);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().render().find("is true, not text; quote it") != std::string::npos);
}

TEST_CASE("a namespace that YAML reads as a number is refused: it would be another one") {
  const auto refused = parse_manifests(
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: 2024}\n", "a.yaml");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().render() ==
        "a.yaml: ConfigMap \"a\": metadata.namespace is 2024, not text; quote it");
  CHECK(parse_manifests("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: null}\n",
                        "a.yaml")
            .ok());
}

TEST_CASE("what no URL can hold is refused with file and object before anything is written") {
  const auto refusal = [](const std::string& text) {
    const auto read = parse_manifests(std::string(kMap) + "---\n" + text, "a.yaml");
    return read.ok() ? "" : read.error().render();
  };
  CHECK(refusal("{apiVersion: v1, kind: ConfigMap, metadata: {name: a/b}}") ==
        "a.yaml: ConfigMap \"a/b\": metadata.name may not contain '/' (document 2 of 2)");
  CHECK(refusal("{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: ..}}")
            .starts_with("a.yaml: ConfigMap \"b\": metadata.namespace may not"));
  CHECK(refusal("{apiVersion: a/b/c, kind: X, metadata: {name: b}}")
            .starts_with("a.yaml: X \"b\": apiVersion \"a/b/c\" is not VERSION or GROUP/VERSION"));
  CHECK(refusal("{apiVersion: v1, kind: List}") ==
        "a.yaml: a List without items (document 2 of 2)");
}

TEST_CASE("a manifest may have 64 MiB") {
  const Folder folder;
  folder.file("a.yaml",
              std::string(kMap) + "data: {a: \"" + std::string(17U << 20U, 'x') + "\"}\n");
  CHECK(read_manifests({folder.path}, false).ok());
}

TEST_CASE("a document that is no object is told as what it is") {
  const auto refusal = [](const std::string& text) {
    return parse_manifests(text, "a.yaml").error().render();
  };
  CHECK(refusal("[{\"apiVersion\": \"v1\"}]") == "a.yaml: a list, not an object");
  CHECK(refusal("hello") == "a.yaml: text, not an object");
  CHECK(refusal(std::string(kMap) + "---\n5\n") ==
        "a.yaml: a number, not an object (document 2 of 2)");
  CHECK(refusal("{apiVersion: v1, kind: List, items: [x]}") ==
        "a.yaml: text, not an object (item 1 of the List)");
}

TEST_CASE("of several documents the one that is refused is named") {
  const auto refused = parse_manifests(std::string(kMap) + "---\nkind: X\n", "a.yaml");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().render() == "a.yaml: an object without apiVersion (document 2 of 2)");
}

TEST_CASE("a link to nothing among the manifests is an error, not one file less") {
  const Folder folder;
  folder.file("a.yaml", kMap);
  std::filesystem::create_symlink(folder.path + "/gone", folder.path + "/b.yaml");
  std::filesystem::create_symlink(folder.path + "/gone", folder.path + "/b.txt");
  const auto refused = read_manifests({folder.path}, false);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().render().find(folder.path + "/b.yaml") != std::string::npos);
}

TEST_CASE("values of a Secret that are no texts are refused without being told") {
  const auto refusal = [](const std::string& rest) {
    const auto read = parse_manifests(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n" + rest + "\n", "s.yaml");
    return read.ok() ? "" : read.error().render();
  };
  CHECK(refusal("stringData: {pin: 4711}") ==
        "s.yaml: Secret \"s\": .stringData.pin is no text; quote it");
  CHECK(refusal("stringData: {list: [hidden]}") ==
        "s.yaml: Secret \"s\": .stringData.list is no text");
  CHECK(refusal("data: {a: {b: hidden}}") == "s.yaml: Secret \"s\": .data.a is no text");
  CHECK(refusal("stringData: hidden") == "s.yaml: Secret \"s\": .stringData is no map of texts");
  CHECK(refusal("data: [hidden]") == "s.yaml: Secret \"s\": .data is no map of texts");
  CHECK(refusal("data: {a: null}\nstringData: {b: '4711'}").empty());
  CHECK(parse_manifests("{apiVersion: example.com/v1, kind: Secret, metadata: {name: s}, data: 1}",
                        "s.yaml")
            .ok());
}

TEST_CASE("a folder below that cannot be read is an error that names it") {
  const Folder folder;
  folder.file("a.yaml", kMap);
  const std::string closed = folder.path + "/closed";
  std::filesystem::create_directory(closed);
  std::filesystem::permissions(folder.path, std::filesystem::perms::all);
  std::filesystem::permissions(closed, std::filesystem::perms::none);
  const auto read = [&folder](bool recursive) {
    const test::AsNobody nobody;
    return read_manifests({folder.path}, recursive);
  };
  const auto flat = read(false);
  const auto deep = read(true);
  std::filesystem::permissions(closed, std::filesystem::perms::all);
  REQUIRE_FALSE(deep.ok());
  CHECK(deep.error().render() == "folder " + closed + ": Permission denied");
  REQUIRE(flat.ok());
  CHECK(flat->size() == 1);
}

TEST_CASE("a recursive read takes every folder below, but follows no link to one") {
  const Folder folder;
  std::filesystem::create_directories(folder.path + "/x/y");
  folder.file("x/y/a.yaml", kMap);
  std::filesystem::create_directory_symlink(folder.path, folder.path + "/x/back");
  CHECK(read_manifests({folder.path}, true)->size() == 1);
}

}  // namespace kubewatch::cli
