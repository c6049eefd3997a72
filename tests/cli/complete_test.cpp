#include "cli/help/complete.hpp"

#include <CLI/CLI.hpp>

#include "support/catch.hpp"

namespace kubewatch::cli {

namespace {

using What = CompletionPlace::What;

CompletionPlace place(const std::vector<std::string>& words) {
  static const auto kTree = build_tree();
  return completion_place(*kTree, words);
}

bool offers(const CompletionPlace& at, const std::string& word) {
  for (const auto& [one, help] : at.words) {
    if (one == word) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a word is completed as what stands there by the command tree") {
  CHECK(offers(place({""}), "watch"));
  CHECK(offers(place({"-n", "x", "wa"}), "watch"));
  CHECK(offers(place({"run-controller", "ch"}), "check"));
  CHECK(offers(place({"watch", "--fi"}), "--field-selector"));
  CHECK(offers(place({"watch", "--fi"}), "--kubeconfig"));
  CHECK_FALSE(offers(place({"--fi"}), "--field-selector"));
  CHECK(offers(place({"watch", "-"}), "-l"));
  CHECK(offers(place({"completion", ""}), "zsh"));
  CHECK_FALSE(offers(place({"completion", "--"}), "--write-docs"));
  CHECK(place({"sandbox", "-f", ""}).what == What::files);
  CHECK(place({"watch", "--nonsense=x"}).what == What::nothing);
  CHECK(place({}).what == What::words);
}

TEST_CASE("files are offered wherever a file or a folder is taken, and nowhere else") {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"crd-gen", "diff", ""},
                                             {"crd-gen", "diff", "old.yaml", ""},
                                             {"crd-gen", "validate", "crd.yaml", "web"},
                                             {"crd-gen", "lint", ""},
                                             {"crd-gen", "import", ""},
                                             {"crd-gen", "types.yaml", ""},
                                             {"run-controller", "test", ""},
                                             {"run-controller", "--state", ""},
                                             {"--cache-dir", ""},
                                             {"watch", "--cache-dir=/tm"}}) {
    CAPTURE(words);
    CHECK(place(words).what == What::files);
  }
  CHECK(place({"reflect", "--strip", ""}).what == What::nothing);
  CHECK(place({"help", ""}).what == What::words);
  const auto either = place({"crd-gen", "li"});
  CHECK(offers(either, "lint"));
  CHECK(either.or_files);
  CHECK_FALSE(place({"run-controller", "ch"}).or_files);
}

TEST_CASE("help is completed with what there is help of") {
  CHECK(offers(place({"help", ""}), "watch"));
  CHECK(offers(place({"help", "ru"}), "rules"));
  CHECK(offers(place({"help", "run-controller", ""}), "trigger"));
  CHECK_FALSE(offers(place({"help", "run-controller", ""}), "rules"));
  CHECK(place({"help", "what", ""}).words.empty());
}

TEST_CASE("values of flags are completed behind a blank and behind an equals sign") {
  CHECK(place({"watch", "-n", "sh"}).what == What::namespaces);
  CHECK(place({"watch", "pods", "--namespace=sh"}).prefix == "--namespace=");
  CHECK(place({"watch", "-n", "a,sh"}).prefix == "a,");
  CHECK(place({"watch", "-n", "a,sh"}).part == "sh");
  CHECK(place({"--context", ""}).what == What::contexts);
  CHECK(place({"--cluster", ""}).what == What::clusters);
  CHECK(place({"--user", ""}).what == What::users);
  CHECK(offers(place({"watch", "-o", ""}), "json"));
  CHECK(offers(place({"--log-format", ""}), "json"));
  CHECK(place({"watch", "-l", ""}).what == What::nothing);
}

TEST_CASE("types, then names, TYPE/NAME after a slash, a,b after a comma") {
  CHECK(place({"watch", ""}).what == What::types);
  CHECK(place({"watch", "pods,sv"}).prefix == "pods,");
  CHECK(place({"watch", "pods", ""}).what == What::names);
  CHECK(place({"watch", "pods", ""}).type == "pods");
  CHECK(place({"watch", "pods/we"}).type == "pods");
  CHECK(place({"watch", "pods/we"}).prefix == "pods/");
  CHECK(place({"watch", "pods/we"}).part == "we");
  const auto after_slash = place({"wait-condition", "pod/a", "de"});
  CHECK(after_slash.what == What::types);
  CHECK(after_slash.slash);
  // Values of flags, and what follows "--", are no commands and no flags.
  CHECK(place({"watch", "-n", "watch", ""}).what == What::types);
  CHECK(place({"watch", "--", "-x"}).what == What::types);
}

TEST_CASE("a name that would be a flag, a folder or a path is not offered") {
  for (const char* good : {"web-0", "web.example", "system:node", "a..b"}) {
    CAPTURE(good);
    CHECK(is_offered_name(good));
  }
  for (const char* bad : {"", "-", "-f", "--exec=reboot", ".", "..", "a/b", "a%2fb"}) {
    CAPTURE(bad);
    CHECK_FALSE(is_offered_name(bad));
  }
}

TEST_CASE("the name that we were started by says how we are called") {
  CHECK(invocation_of("/usr/bin/kubewatch").program == "kubewatch");
  CHECK(invocation_of("kubewatch-debug").program == "kubewatch");
  CHECK(invocation_of("/opt/kubectl-kubewatch").program == "kubectl kubewatch");
  CHECK(invocation_of("kubectl-foo-bar_baz").program == "kubectl foo bar-baz");
  CHECK(invocation_of("kubectl-").program == "kubewatch");
  CHECK(invocation_of("/opt/kubectl_complete-kubewatch").completes);
  CHECK_FALSE(invocation_of("/opt/kubectl-kubewatch").completes);
}

}  // namespace kubewatch::cli
