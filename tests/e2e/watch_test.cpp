// kubewatch watch as a program: what it prints of what happens on both servers, and how it ends.
#include <signal.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "e2e/kubewatch_process.hpp"
#include "e2e/turner.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {
namespace {

// One `kubewatch watch`.
class Watch : public Program {
 public:
  Watch(World& w, std::vector<std::string> words, const std::vector<std::string>& before = {})
      : Program(w.loop(), command(w, std::move(words), before)) {}

  // Of NDJSON: "ADDED a", "SYNCED", in order.
  std::vector<std::string> events() const {
    std::vector<std::string> seen;
    for (const std::string& line : base::split(out, '\n')) {
      if (line.empty()) continue;
      const auto event = base::parse_json(line);
      REQUIRE(event.ok());
      CHECK((*event)["apiVersion"] == "kubewatch.dev/v1");
      CHECK((*event)["kind"] == "WatchEvent");
      std::string text = base::string_at(*event, {"type"});
      if (event->value("initial", false)) text += "*";
      const std::string name = base::string_at(*event, {"object", "metadata", "name"});
      seen.push_back(name.empty() ? text : text + " " + name);
    }
    return seen;
  }

 private:
  static ProgramOptions command(World& w, std::vector<std::string> words,
                                const std::vector<std::string>& before) {
    w.file("kubeconfig2", client::render_kubeconfig(w.server().config(), "other"));
    words.insert(words.begin(), "watch");
    return kubewatch_command(w, std::move(words),
                             w.kubeconfig() + ":" + w.folder() + "/kubeconfig2", before);
  }
};

std::string settings(const std::string& name, const std::string& value,
                     const std::string& namespace_ = "@NS@") {
  return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name +
         ", namespace: " + namespace_ + ", labels: {of: watch}}, data: {k: \"" + value + "\"}}";
}

using Seen = std::vector<std::string>;

// For a --duration that passes in full: again with much more of it where a busy machine did not
// come so far within it.
bool holds_after(const std::string& time, const std::function<bool(const std::string&)>& holds) {
  return holds(time) || holds("20s");
}

// For a watch in front of it: its reader takes one line and goes, its exit code stays.
const std::vector<std::string> kReadOneLine = {
    "/bin/sh", "-c", "{ \"$@\"; echo $? > $FOLDER/code; } | head -n 1", "sh"};

}  // namespace

E2E_CASE("a watch prints what is there, SYNCED, then every change, and ends with 0 by a signal") {
  World w;
  w.apply(settings("a", "1"));
  Watch watch(w, {"configmaps", "-l", "of=watch", "-n", w.ns(), "-o", "json", "--stats"});
  REQUIRE(watch.will_show("SYNCED"));
  w.apply(settings("b", "1"));
  REQUIRE(watch.will_show("\"b\""));
  w.apply(settings("a", "2"));
  REQUIRE(watch.will_show("MODIFIED"));
  w.remove("ConfigMap", "a");
  REQUIRE(watch.will_show("DELETED"));
  CHECK(watch.end(SIGTERM) == 0);
  CHECK(watch.events() == Seen{"ADDED* a", "SYNCED", "ADDED b", "MODIFIED a", "DELETED a"});
  CHECK(watch.says("stats: configmaps: 1 objects, "));
  CHECK_FALSE(watch.says(" 0 bytes"));
  CHECK(watch.says("stats: 4 shown in "));
}

E2E_CASE("files name the objects that are watched, and labels are columns") {
  World w;
  w.apply(settings("a", "1"));
  w.apply(settings("other", "1"));
  w.file("maps.yaml", settings("a", "1") + "\n---\n" + settings("late", "1"));
  Watch watch(w, {"-f", w.folder() + "/maps.yaml", "-n", w.ns(), "-L", "of", "--show-labels",
                  "--max-events", "2"});
  REQUIRE(watch.will_say("configmaps \"late\" does not exist yet: waiting for it"));
  w.apply(settings("other", "2"));
  w.apply(settings("late", "1"));
  CHECK(watch.code() == 0);
  CHECK(watch.shows("AGE   OF      LABELS\n"));
  CHECK(watch.shows("INITIAL    a "));
  CHECK(watch.shows("ADDED      late "));
  CHECK(watch.shows("watch   of=watch\n"));
  CHECK_FALSE(watch.shows("other"));
  Watch chosen(w, {"-f", w.folder() + "/maps.yaml", "-n", w.ns(), "-l", "of=nothing"});
  CHECK(chosen.code() == 5);
  CHECK(chosen.err == "error: no objects in the given files match -l of=nothing\n");
}

E2E_CASE("wide has the columns of lower priority, of built-in kinds too") {
  World w;
  w.apply(
      "{apiVersion: v1, kind: Service, metadata: {name: web, namespace: \"@NS@\"}, "
      "spec: {selector: {tier: front}, ports: [{port: 80}]}}");
  Watch watch(w, {"service/web", "-n", w.ns(), "-o", "wide", "--max-events", "1"});
  CHECK(watch.code() == 0);
  CHECK(watch.shows("EXTERNAL-IP   PORT(S)   AGE"));
  CHECK(watch.shows("   SELECTOR\n"));
  CHECK(watch.shows("   tier=front\n"));
}

E2E_CASE("many named objects are watched together, and one that two words name is told once") {
  World w;
  std::string files;
  for (int i = 0; i < 20; ++i) files += settings("m" + std::to_string(i), "1") + "\n---\n";
  w.file("many.yaml", files);
  for (int i = 0; i < 19; ++i) w.apply(settings("m" + std::to_string(i), "1"));
  w.apply(settings("other", "1"));
  Watch many(w, {"-f", w.folder() + "/many.yaml", "-n", w.ns(), "-o", "name", "--max-events", "20",
                 "--stats"});
  REQUIRE(many.will_say("\"m19\" does not exist yet"));
  w.apply(settings("other", "2"));
  w.apply(settings("m19", "1"));
  CHECK(many.code() == 0);
  CHECK(std::count(many.out.begin(), many.out.end(), '\n') == 20);
  CHECK_FALSE(many.shows("other"));
  CHECK(holds_after("5s", [&](const std::string& time) {
    Watch twice(w, {"cm/m1", "configmaps/m1", "-n", w.ns(), "-o", "json", "--duration", time});
    const int code = twice.code();
    UNSCOPED_INFO(code << "\n" << twice.out << "\n" << twice.err);
    return code == 0 && twice.events() == Seen{"ADDED* m1", "SYNCED"};
  }));
}

E2E_CASE("a forgotten history is a GAP in the stream, which goes on") {
  World w;
  w.apply(settings("a", "1"));
  Watch watch(w, {"configmaps", "-l", "of=watch", "-n", w.ns(), "-o", "json"});
  REQUIRE(watch.will_show("SYNCED"));
  // The server goes on without the watch seeing it, so that the place it knows is forgotten.
  w.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: unseen, namespace: \"@NS@\"}}");
  w.server().compact();
  w.apply(settings("b", "1"));
  REQUIRE(watch.will_show("\"b\""));
  REQUIRE(watch.will_show("\"type\":\"GAP\""));
  w.remove("ConfigMap", "a");
  REQUIRE(watch.will_show("DELETED"));
  CHECK(watch.end(SIGINT) == 0);
  const auto seen = watch.events();
  CHECK(std::count(seen.begin(), seen.end(), "ADDED b") == 1);
  CHECK(std::count(seen.begin(), seen.end(), "DELETED a") == 1);
}

E2E_CASE("a watch of a version that is served no more goes on in another, or says that it waits") {
  World w;
  make_turner(w, "true", "false");
  const auto object = [](const std::string& version, const std::string& name) {
    return "{apiVersion: turn.kubewatch.dev/" + version +
           ", kind: Turner, metadata: {name: " + name + ", namespace: '@NS@'}}";
  };
  for (const char* name : {"t1", "t2"}) w.apply(object("v1alpha1", name));
  Watch any(w, {"turners.turn.kubewatch.dev", "-n", w.ns(), "-o", "json"});
  Watch pinned(w, {"turners.v1alpha1.turn.kubewatch.dev", "-n", w.ns(), "-o", "json"});
  REQUIRE(any.will_show("SYNCED"));
  REQUIRE(pinned.will_show("SYNCED"));
  w.apply(turner("false", "true"));
  REQUIRE(turned(w, "v1", true));
  REQUIRE(
      any.will_say("turners.turn.kubewatch.dev is served as v1 now, not as v1alpha1: going on"));
  REQUIRE(pinned.will_say("waiting for the version that was asked for"));
  REQUIRE(any.will_show("\"type\":\"GAP\""));
  w.apply(object("v1", "t3"));
  REQUIRE(any.will_show("\"t3\""));
  w.remove(kTurner, "t1");
  REQUIRE(any.will_show("DELETED"));
  CHECK(any.end(SIGTERM) == 0);
  // The objects themselves did not change, but their version did.
  CHECK(any.events() == Seen{"ADDED* t1", "ADDED* t2", "SYNCED", "MODIFIED t1", "MODIFIED t2",
                             "GAP", "ADDED t3", "DELETED t1"});
  CHECK(pinned.events() == Seen{"ADDED* t1", "ADDED* t2", "SYNCED"});
  // What was asked for is there again.
  w.apply(turner("true", "true"));
  CHECK(pinned.will_show("\"t3\"", kDiscovery));
  CHECK(pinned.end(SIGTERM) == 0);
  remove_turner(w);
}

E2E_CASE("two versions of a kind are watched, each with a checkpoint of its own") {
  World w;
  make_turner(w, "true", "true");
  const auto object = [](const std::string& name) {
    return "{apiVersion: turn.kubewatch.dev/v1, kind: Turner, metadata: {name: " + name +
           ", namespace: '@NS@'}}";
  };
  const std::string alpha = "turners.v1alpha1.turn.kubewatch.dev";
  const std::string v1 = "turners.v1.turn.kubewatch.dev";
  // "v1 t2"; with a star what was there at the beginning.
  const auto seen_by = [&](const std::string& types, const char* events) {
    Watch watch(w, {types, "-n", w.ns(), "-o", "json", "--max-events", events, "--checkpoint",
                    w.folder() + "/point"});
    CHECK(watch.code() == 0);
    std::set<std::string> out;
    for (const std::string& line : base::split(watch.out, '\n')) {
      const auto told = base::parse_json(line);
      if (!told.ok() || base::string_at(*told, {"type"}) != "ADDED") continue;
      const std::string version = base::string_at(*told, {"object", "apiVersion"});
      out.insert(version.substr(version.rfind('/') + 1) + " " +
                 base::string_at(*told, {"object", "metadata", "name"}) +
                 (told->value("initial", false) ? "*" : ""));
    }
    return out;
  };
  using Told = std::set<std::string>;
  w.apply(object("t1"));
  CHECK(seen_by(alpha, "1") == Told{"v1alpha1 t1*"});
  w.apply(object("t2"));
  // What the one alone had told says nothing of the other, whatever comes first.
  CHECK(seen_by(v1 + "," + alpha, "3") == Told{"v1 t1*", "v1 t2*", "v1alpha1 t2"});
  w.apply(object("t3"));
  CHECK(seen_by(alpha + "," + v1, "2") == Told{"v1 t3", "v1alpha1 t3"});
  w.apply(object("t4"));
  CHECK(seen_by(alpha, "1") == Told{"v1alpha1 t4"});
  w.apply(object("t5"));
  CHECK(seen_by(v1, "2") == Told{"v1 t4", "v1 t5"});
  remove_turner(w);
}

E2E_CASE("kinds of many namespaces and contexts come in one stream") {
  World w;
  w.apply(settings("a", "1"));
  w.apply(settings("b", "1", "@NS2@"));
  w.apply(
      "{apiVersion: v1, kind: Secret, metadata: {name: c, namespace: \"@NS@\", "
      "labels: {of: watch}}}");
  Watch watch(w, {"configmaps,secrets", "-l", "of=watch", "-n", w.ns() + "," + w.ns2(), "--context",
                  "e2e", "--context", "other", "-o", "json", "--max-events", "6"});
  CHECK(watch.code() == 0);
  int other = 0;
  for (const std::string& line : base::split(watch.out, '\n')) {
    if (line.find("\"context\":\"other\"") != std::string::npos &&
        line.find("ADDED") != std::string::npos) {
      ++other;
    }
  }
  CHECK(other == 3);
}

E2E_CASE("objects and kinds that are not there yet are waited for") {
  World w;
  Watch named(w, {"configmap/late", "-n", w.ns(), "--until", ".data.k == \"2\"", "-o", "name"});
  REQUIRE(named.will_say("does not exist yet: waiting for it"));
  // A real server may have the kind from another case: then it is simply watched.
  Watch kind(w, {"fleets.e2e.kubewatch.dev", "-l", "of=" + w.ns(), "--max-events", "1", "-o",
                 "name", "--watch-only"});
  w.apply(settings("late", "1"));
  REQUIRE(named.will_show("configmap/late\n"));
  w.apply(settings("late", "2"));
  CHECK(named.code() == 0);
  CHECK(named.out == "configmap/late\nconfigmap/late\n");
  w.apply(kFleetCrd);
  int title = 0;
  REQUIRE(w.eventually([&] {
    w.apply(
        "{apiVersion: e2e.kubewatch.dev/v1, kind: Fleet, metadata: {name: \"@NS@\", "
        "labels: {of: \"@NS@\"}}, spec: {title: \"" +
        std::to_string(++title) + "\"}}");
    return !kind.running();
  }));
  CHECK(kind.code() == 0);
  CHECK(kind.out == "fleet.e2e.kubewatch.dev/" + w.ns() + "\n");
  w.remove("Fleet", w.ns(), "");
}

E2E_CASE("a later run with the checkpoint tells what has changed since, deletions included") {
  World w;
  for (const char* name : {"a", "b", "c"}) w.apply(settings(name, "1"));
  const std::vector<std::string> words = {"configmaps", "-l",           "of=watch",
                                          "-n",         w.ns(),         "-o",
                                          "json",       "--checkpoint", w.folder() + "/point"};
  const auto with = [&](const std::string& count) {
    auto out = words;
    out.insert(out.end(), {"--max-events", count});
    return out;
  };
  Watch cut(w, with("2"));  // in the middle of the list: nothing may be taken for told
  CHECK(cut.code() == 0);
  CHECK(cut.says("the checkpoint stays as it was"));
  Watch first(w, with("3"));
  CHECK(first.code() == 0);
  w.apply(settings("a", "2"));
  w.remove("ConfigMap", "b");
  w.apply(settings("d", "1"));
  Watch second(w, with("3"));
  CHECK(second.code() == 0);
  CHECK(second.events() == Seen{"MODIFIED a", "DELETED b", "ADDED d"});
  w.server().compact();  // the saved place is gone: the differences are found by a new list
  w.remove("ConfigMap", "c");
  Watch third(w, with("1"));
  CHECK(third.code() == 0);
  CHECK(third.events() == Seen{"DELETED c"});
}

E2E_CASE("a checkpoint stays as it was when what is printed does not get out") {
  World w;
  w.apply(settings("a", "1"));
  const std::vector<std::string> words = {"configmaps", "-l",           "of=watch",
                                          "-n",         w.ns(),         "-o",
                                          "json",       "--checkpoint", w.folder() + "/point"};
  auto one = words;
  one.insert(one.end(), {"--max-events", "1"});
  Watch first(w, one);
  CHECK(first.code() == 0);
  const std::string saved = w.read("point");
  REQUIRE_FALSE(saved.empty());
  w.apply(settings("b", "1"));
  for (const auto& with : {words, one}) {
    Watch full(w, with, {"/bin/sh", "-c", "exec \"$@\" > /dev/full", "sh"});
    CHECK(full.code() == 1);
    CHECK(full.says("cannot write to stdout"));
    CHECK(full.says("the checkpoint stays as it was"));
    CHECK(w.read("point") == saved);
  }
  Watch again(w, one);
  CHECK(again.code() == 0);
  CHECK(again.events() == Seen{"ADDED b"});
}

E2E_CASE("a checkpoint stays as it was when a signal leaves events without their command") {
  World w;
  w.apply(settings("a", "1"));
  const std::vector<std::string> words = {"configmaps", "-l",           "of=watch",
                                          "-n",         w.ns(),         "-o",
                                          "json",       "--checkpoint", w.folder() + "/point"};
  const auto with = [&](const std::vector<std::string>& more) {
    auto out = words;
    out.insert(out.end(), more.begin(), more.end());
    return out;
  };
  Watch first(w, with({"--max-events", "1"}));
  CHECK(first.code() == 0);
  const std::string saved = w.read("point");
  Watch cut(w, with({"--exec-parallel", "1", "--exec",
                     "echo x >> $FOLDER/begun; while [ ! -e $FOLDER/go ]; do sleep 0.1; done"}));
  w.apply(settings("b", "1"));
  w.apply(settings("c", "1"));
  REQUIRE(cut.will_show("\"c\""));
  REQUIRE(w.eventually([&] { return w.read("begun") == "x\n"; }));
  cut.signal(SIGTERM);
  REQUIRE(cut.will_say("1 events were not given to --exec any more"));
  w.file("go", "");
  CHECK(cut.code() == 0);
  CHECK(cut.says("the checkpoint stays as it was"));
  CHECK(w.read("point") == saved);
  Watch second(w, with({"--max-events", "2", "--exec", "echo x >> $FOLDER/run"}));
  CHECK(second.code() == 0);
  CHECK(second.events() == Seen{"ADDED b", "ADDED c"});
  CHECK(w.read("run") == "x\nx\n");
  CHECK(w.read("point") != saved);
}

E2E_CASE("a diff names the fields that changed and who changed them") {
  World w;
  w.apply(settings("a", "1"), "alice");
  Watch watch(w, {"configmap", "a", "-n", w.ns(), "--diff", "-o", "json"});
  REQUIRE(watch.will_show("SYNCED"));
  w.apply(settings("a", "2"), "bob");
  REQUIRE(watch.will_show("MODIFIED"));
  CHECK(watch.end(SIGTERM) == 0);
  const auto lines = base::split(watch.out, '\n');
  REQUIRE(lines.size() >= 3);
  const auto event = base::parse_json(lines[2]);
  REQUIRE(event.ok());
  REQUIRE((*event)["changes"].size() == 1);
  const Json& change = (*event)["changes"][0];
  CHECK(change["path"] == ".data.k");
  CHECK(change["old"] == "1");
  CHECK(change["new"] == "2");
  CHECK(change["by"]["manager"] == "bob");
  CHECK(change["by"]["operation"] == "Apply");
  CHECK(base::find(*event, {"object", "metadata", "managedFields"}) == nullptr);
}

E2E_CASE("only events that change the named fields are shown, only objects that --when accepts") {
  World w;
  w.apply(settings("a", "1"));
  w.apply(settings("b", "1"));
  Watch watch(w, {"configmaps", "-n", w.ns(), "-l", "of=watch", "--fields", ".data.k", "--when",
                  ".metadata.name == \"a\"", "-o", "json", "--max-events", "2"});
  REQUIRE(watch.will_show("SYNCED"));
  w.merge("ConfigMap", "a", "{metadata: {annotations: {x: one}}}");
  w.apply(settings("b", "2"));
  w.apply(settings("a", "2"));
  CHECK(watch.code() == 0);
  CHECK(watch.events() == Seen{"ADDED* a", "SYNCED", "MODIFIED a"});
  CHECK(watch.shows(R"("fields":[{"new":"2","old":"1","path":".data.k"}])"));
}

E2E_CASE("an --until that is not met within --duration is exit code 3, --duration alone 0") {
  World w;
  CHECK(holds_after("3s", [&](const std::string& time) {
    Watch never(w, {"configmap/none", "-n", w.ns(), "--until", "create", "--duration", time});
    const int code = never.code();
    UNSCOPED_INFO(code << "\n" << never.err);
    return code == 3 && never.says("timed out: --until create");
  }));
  CHECK(holds_after("3s", [&](const std::string& time) {
    Watch short_one(w, {"configmaps", "-n", w.ns(), "--duration", time});
    const int code = short_one.code();
    UNSCOPED_INFO(code << "\n" << short_one.err);
    return code == 0;
  }));
  w.apply(settings("a", "1"));
  Watch other(w, {"configmap/a", "-n", w.ns(), "--until", ".data.k == \"2\"", "--max-events", "1"});
  CHECK(other.code() == 3);
  CHECK(other.says("--until .data.k == \"2\" was not met within 1 events"));
  Watch enough(w, {"configmap/a", "-n", w.ns(), "--max-events", "1"});
  CHECK(enough.code() == 0);
  // Whoever goes on after it must not be told that it was met.
  Watch ended(w, {"configmap/none", "-n", w.ns(), "--until", "create"});
  REQUIRE(ended.will_say("waiting for it"));
  CHECK(ended.end(SIGTERM) == 1);
  CHECK(ended.says("interrupted before --until create was met"));
}

E2E_CASE("a watch that could not read what was asked does not end with 0") {
  World w;
  CHECK(holds_after("3s", [&](const std::string& time) {
    Watch unknown(w, {"frobs", "-n", w.ns(), "--duration", time});
    const int code = unknown.code();
    UNSCOPED_INFO(code << "\n" << unknown.err);
    return code == 3 && unknown.says("not read within " + time + ": frobs");
  }));
  Watch refused(
      w, {"configmaps", "-n", w.ns(), "--field-selector", "spec.frob=1", "--duration", "20s"});
  CHECK(refused.code() == 1);
  CHECK(refused.says("spec.frob"));
}

E2E_CASE("a command runs for each event, one after the other for an object; failures are told") {
  World w;
  Watch watch(w, {"configmap/a", "-n", w.ns(), "--exec",
                  "cat > $FOLDER/$KW_EVENT.json; echo $KW_EVENT >> $FOLDER/order; "
                  "test $KW_EVENT != DELETED",
                  "--until", "delete"});
  REQUIRE(watch.will_say("waiting for it"));
  w.apply(settings("a", "1"));
  REQUIRE(w.eventually([&] { return w.read("order") == "ADDED\n"; }));
  w.apply(settings("a", "2"));
  w.remove("ConfigMap", "a");
  CHECK(watch.code() == 1);
  CHECK(w.read("order") == "ADDED\nMODIFIED\nDELETED\n");
  CHECK(w.read("MODIFIED.json").find("\"k\":\"2\"") != std::string::npos);
  CHECK(watch.says("--exec failed for 1 of 3 events"));
}

E2E_CASE("what a command prints has lines of its own, and what fails is named with its object") {
  World w;
  w.apply(settings("a", "1"));
  Watch watch(w, {"configmap/a", "-n", w.ns(), "-o", "name", "--exec", "printf tail", "--when",
                  "(.data.k | tonumber) < 2"});
  REQUIRE(watch.will_show("configmap/a\ntail\n"));
  w.apply(settings("a", "word"));
  REQUIRE(watch.will_say("cannot be judged or shown"));
  CHECK(watch.says("object=" + w.ns() + "/a"));
  CHECK(watch.end(SIGTERM) == 0);
}

E2E_CASE("a reader that goes away is seen before the next event") {
  World w;
  w.apply(settings("a", "1"));
  Watch watch(w, {"configmaps", "-n", w.ns(), "-l", "of=watch", "-o", "name"}, kReadOneLine);
  REQUIRE(watch.will_show("configmap/a"));
  REQUIRE(w.eventually([&] { return w.read("code") == "1\n"; }));
  CHECK(watch.will_say("cannot write to stdout"));
}

E2E_CASE("a recorded watch is told again without the server") {
  World w;
  w.apply(settings("a", "1"));
  Watch recorded(w, {"configmaps", "-n", w.ns(), "-l", "of=watch", "-o", "json", "--record",
                     w.folder() + "/recording"});
  REQUIRE(recorded.will_show("SYNCED"));
  w.apply(settings("b", "1"));
  REQUIRE(recorded.will_show("\"b\""));
  w.remove("ConfigMap", "a");
  REQUIRE(recorded.will_show("DELETED"));
  CHECK(recorded.end(SIGTERM) == 0);
  Watch again(w, {"cm", "-n", w.ns(), "-l", "of=watch", "-o", "json", "--from-recording",
                  w.folder() + "/recording"});
  CHECK(again.code() == 0);
  CHECK(again.events() == recorded.events());
}

E2E_CASE("a reader that goes away ends the watch with 1, not with a quiet 0") {
  World w;
  w.apply(settings("a", "1"));
  Watch watch(w, {"configmaps", "-n", w.ns(), "-l", "of=watch", "-o", "name"}, kReadOneLine);
  REQUIRE(watch.will_show("configmap/a"));
  int count = 0;
  REQUIRE(w.eventually([&] {
    w.apply(settings("a", std::to_string(++count)));
    return !w.read("code").empty();
  }));
  CHECK(w.read("code") == "1\n");
  CHECK(watch.will_say("cannot write to stdout"));
}

}  // namespace kubewatch::e2e
