// --record and --from-recording of reflect, wait-condition and apply-ssa: what was told once is
// told again without the server, and no value of a Secret stands in it. watch has its own in
// watch_test.
#include <signal.h>

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "e2e/kubewatch_process.hpp"
#include "e2e/world.hpp"
#include "hooks/recording_format.hpp"

namespace kubewatch::e2e {
namespace {

constexpr Duration kPatience{90000};

// With a home; `server` false: without a kubeconfig, as on another machine.
ProgramOptions command(World& w, std::vector<std::string> words, bool server) {
  for (std::string& word : words) word = w.expand(word);
  const std::string none = w.folder() + "/none";
  ProgramOptions options = kubewatch_command(w, std::move(words), server ? w.kubeconfig() : none);
  options.environment.push_back("HOME=" + w.folder());
  return options;
}

Ran run(World& w, std::vector<std::string> words, bool server) {
  return Program(w.loop(), command(w, std::move(words), server)).ran(kPatience);
}

Ran replay(World& w, std::vector<std::string> words) {
  words.insert(words.end(), {"-n", "@NS@", "--from-recording", w.folder() + "/recording"});
  return run(w, std::move(words), false);
}

std::string map_of(const std::string& name, const std::string& value) {
  return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name +
         ", namespace: '@NS@', labels: {of: recordings}}, data: {k: \"" + value + "\"}}";
}

std::string text_of(const World& w) {
  const auto bytes = base::read_file(w.folder() + "/recording", hooks::kMaxRecording);
  REQUIRE(bytes.ok());
  const auto loaded = hooks::load_recording(*bytes);
  REQUIRE(loaded.ok());
  CHECK(loaded->damage.empty());
  return base::join(loaded->lines, "\n");
}

}  // namespace

E2E_CASE("a recorded wait is judged again without the server, for other conditions too") {
  World w;
  w.apply(map_of("a", "1"));
  Program recorded(w.loop(),
                   command(w,
                           {"wait-condition", "cm/a", "-n", "@NS@", "--for=jsonpath={.data.k}=3",
                            "--timeout", "60s", "--record", w.folder() + "/recording"},
                           true));
  REQUIRE(recorded.will_say("is 1"));
  w.apply(map_of("a", "2"));
  REQUIRE(recorded.will_say("is 2"));
  w.apply(map_of("a", "3"));
  CHECK(recorded.code(kPatience) == 0);

  auto again = replay(w, {"wait-condition", "cm/a", "--for=jsonpath={.data.k}=3"});
  CHECK(again.code == 0);
  CHECK(again.out == recorded.out);
  // What held in between is found as well: each recorded state is judged.
  CHECK(replay(w, {"wait-condition", "configmaps/a", "--for=jsonpath={.data.k}=2"}).code == 0);
  CHECK(
      replay(w, {"wait-condition", "cm/a", "--for=ready", "--fail-if=jq=.data.k == \"1\""}).code ==
      4);
  again = replay(w, {"wait-condition", "cm/a", "--for=jsonpath={.data.k}=4"});
  CHECK(again.code == 3);
  CHECK(again.err.find("the recording ends before jsonpath={.data.k}=4") != std::string::npos);
  CHECK(replay(w, {"wait-condition", "cm/b", "--for=create"}).code == 5);
  CHECK(replay(w, {"wait-condition", "deployment/b", "--for=create"}).code == 5);
}

E2E_CASE("reflect fills its caches from a recording: the state at its end is asked about") {
  World w;
  w.apply(map_of("a", "1"));
  w.apply(map_of("b", "1"));
  const std::vector<std::string> chosen = {"reflect", "cm", "-l", "of=recordings"};
  auto words = chosen;
  words.insert(words.end(), {"-n", "@NS@", "--record", w.folder() + "/recording"});
  Program recorded(w.loop(), command(w, words, true));
  REQUIRE(recorded.will_say(" 2 | "));
  w.apply(map_of("a", "2"));
  w.apply(map_of("c", "1"));
  w.remove("ConfigMap", "b");
  w.apply(map_of("last", "1"));
  // Whatever it says on its way, the last of them must be in the file.
  REQUIRE(w.eventually([&] {
    const auto bytes = base::read_file(w.folder() + "/recording", hooks::kMaxRecording);
    if (!bytes.ok()) return false;
    const auto loaded = hooks::load_recording(*bytes);
    return loaded.ok() &&
           base::join(loaded->lines, "\n").find("\"name\":\"last\"") != std::string::npos;
  }));
  CHECK(recorded.end(SIGTERM, kPatience) == 0);

  const auto asked = [&](std::vector<std::string> more) {
    auto all = chosen;
    all.insert(all.end(), more.begin(), more.end());
    return replay(w, all);
  };
  auto seen =
      asked({"--query", "-o", "jsonpath={range .items[*]}{.metadata.name}={.data.k} {end}"});
  CHECK(seen.code == 0);
  CHECK(seen.out == "a=2 c=1 last=1 ");
  seen = asked({"--once", "-o", "json"});
  CHECK(seen.code == 0);
  const auto figures = base::parse_json(seen.out);
  REQUIRE(figures.ok());
  CHECK((*figures)["kinds"][0]["objects"] == 3);
  CHECK(asked({"--snapshot", w.folder() + "/saved"}).code == 0);
  const Ran saved =
      run(w, {"reflect", "--from", w.folder() + "/saved", "--query", "-o", "name"}, false);
  CHECK(saved.code == 0);
  CHECK(saved.out == "configmap/a\nconfigmap/c\nconfigmap/last\n");
  CHECK(replay(w, {"reflect", "pods", "--query"}).code == 5);
  CHECK(replay(w, {"reflect", "cm", "-l", "of=another", "--query"}).code == 5);

  auto serve = chosen;
  serve.insert(serve.end(),
               {"-n", "@NS@", "--serve", "127.0.0.1:0", "--kubeconfig-out", w.folder() + "/reader",
                "--from-recording", w.folder() + "/recording"});
  Program served(w.loop(), command(w, serve, false));
  REQUIRE(served.will_show("serving on"));
  const auto read = [&] {
    const Ran reader = run(w,
                           {"reflect", "cm", "-n", "@NS@", "--query", "-o", "name", "--kubeconfig",
                            w.folder() + "/reader"},
                           false);
    return reader.code == 0 ? reader.out : "";
  };
  CHECK(w.eventually([&] { return read() == "configmap/a\nconfigmap/c\nconfigmap/last\n"; }));
  CHECK(served.end(SIGTERM, kPatience) == 0);
}

E2E_CASE("a recording that is cut short before it tells of a kind is a wrong file") {
  World w;
  w.apply(map_of("a", "1"));
  const std::string file = w.folder() + "/recording";
  CHECK(run(w, {"reflect", "cm", "-n", "@NS@", "--once", "--record", file}, true).code == 0);
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"watch", "cm"},
        std::vector<std::string>{"reflect", "cm", "--once"},
        std::vector<std::string>{"wait-condition", "cm/a", "--for=create"}}) {
    const Ran again = replay(w, words);
    CHECK(again.code == 2);
    CHECK(again.err.find("what is left of the recording " + file +
                         " doesn't have a resource type \"cm\"") != std::string::npos);
  }
}

E2E_CASE("apply-ssa records what was written and what became of it, without values of Secrets") {
  World w;
  w.apply(map_of("a", "1"), "kubewatch");
  const std::string secret =
      "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: '@NS@'}, stringData: "
      "{password: open-sesame-1}}";
  w.file("objects.yaml", w.expand(map_of("a", "open-sesame-1 is not said") + "\n---\n" +
                                  map_of("b", "2") + "\n---\n" + secret));
  CHECK(run(w,
            {"apply-ssa", "-f", w.folder() + "/objects.yaml", "--record", w.folder() + "/recording",
             "--wait", "--for=create"},
            true)
            .code == 0);
  const std::string text = text_of(w);
  CHECK(text.find("open-sesame") == std::string::npos);
  CHECK(text.find("b3Blbi1zZXNhbWUtM") == std::string::npos);
  std::vector<std::string> writes;
  for (const auto& line : base::split(text, '\n')) {
    const auto entry = base::parse_json(line);
    REQUIRE(entry.ok());
    if (base::string_at(*entry, {"t"}) != "write") continue;
    CHECK((*entry)["manager"] == "kubewatch");
    writes.push_back(
        base::string_at(*entry, {"verb"}) + " " +
        base::string_at(*entry, {"path"}).substr(base::string_at(*entry, {"path"}).rfind('/') + 1));
  }
  std::sort(writes.begin(), writes.end());
  CHECK(writes == std::vector<std::string>{"apply a", "apply b", "apply s"});

  auto seen = replay(w, {"watch", "cm/a", "--diff"});
  CHECK(seen.code == 0);
  CHECK(seen.out.find(".data.k") != std::string::npos);
  CHECK(seen.out.find("*** is not said") != std::string::npos);
  seen = replay(w, {"watch", "configmap/b", "-o", "json"});
  CHECK(seen.code == 0);
  CHECK(seen.out.find("\"type\":\"ADDED\"") != std::string::npos);
  CHECK(replay(w, {"wait-condition", "cm/b", "--for=jsonpath={.data.k}=2"}).code == 0);

  // Without a watch of --wait what was read and answered is all there is: no gap between the two.
  w.file("objects.yaml", w.expand(map_of("a", "3") + "\n---\n" + map_of("b", "3")));
  std::filesystem::remove(w.folder() + "/recording");
  CHECK(
      run(w,
          {"apply-ssa", "-f", w.folder() + "/objects.yaml", "--record", w.folder() + "/recording"},
          true)
          .code == 0);
  for (const char* name : {"cm/a", "cm/b"}) {
    seen = replay(w, {"watch", name, "--diff"});
    CHECK(seen.code == 0);
    CHECK(seen.out.find("-> \"3\"") != std::string::npos);
    CHECK((seen.out + seen.err).find("GAP") == std::string::npos);
    CHECK((seen.out + seen.err).find("interrupted") == std::string::npos);
  }
  seen = replay(w, {"watch", "configmaps"});
  CHECK(seen.code == 7);
  CHECK(seen.err.find("name one, such as configmaps/") != std::string::npos);
}

}  // namespace kubewatch::e2e
