// Arguments, checkpoints, statistics and the queue of commands of `watch`.
#include <unistd.h>

#include <array>
#include <sstream>

#include "cli/stdout_writer.hpp"
#include "cli/watch/checkpoint.hpp"
#include "cli/watch/exec_queue.hpp"
#include "cli/watch/exec_runner.hpp"
#include "cli/watch/output.hpp"
#include "cli/watch/source_set.hpp"
#include "cli/watch/stdout_reader.hpp"
#include "cli/watch/watch_stats.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::cli::watch;
using Words = std::vector<std::string>;

namespace {

std::string text_of(const Words& words) {
  const auto wanted = wanted_of(words);
  if (!wanted.ok()) return wanted.error().render();
  std::string out;
  for (const Wanted& one : *wanted) {
    out += one.type + "(";
    for (const std::string& name : one.names) out += name + " ";
    out += ")";
  }
  return out;
}

ExecJob job(const std::string& key, const std::string& name) {
  return {key, name, "", 0, false};
}

}  // namespace

TEST_CASE("types are a list, with names or without, or TYPE/NAME words") {
  CHECK(text_of({"pods,deployments"}) == "pods()deployments()");
  CHECK(text_of({"pods", "a", "b"}) == "pods(a b )");
  CHECK(text_of({"pod/a", "deploy/x", "pod/b"}) == "pod(a b )deploy(x )");
}

TEST_CASE("words that are neither are refused") {
  CHECK(text_of({"pod/a", "b"}).find("there is no need to specify a resource type") == 0);
  CHECK(text_of({"pods/"}).find("a single resource and name") != std::string::npos);
  CHECK(text_of({"a/b/c"}).find("more than one slash") != std::string::npos);
  CHECK(text_of({"a,b/c"}).find("there is no need") == 0);
  CHECK(text_of({"pods,,x"}).find("an empty resource type") != std::string::npos);
}

TEST_CASE("manifests name their objects, each once, in their own namespace or that of -n") {
  const auto manifest = [](const char* text) { return cli::Manifest{Json::parse(text), "f.yaml"}; };
  const std::vector<cli::Manifest> files = {
      manifest(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}})"),
      manifest(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"}})"),
      manifest(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}})"),
      manifest(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"b","namespace":"x"}})")};
  const auto wanted = wanted_of(files, "");
  REQUIRE(wanted.ok());
  REQUIRE(wanted->size() == 3);
  CHECK((*wanted)[0].type == "Pod.v1.");
  CHECK((*wanted)[0].names == Words{"a"});
  CHECK((*wanted)[0].namespace_.empty());
  CHECK((*wanted)[1].type == "Deployment.v1.apps");
  CHECK((*wanted)[2].namespace_ == "x");
  CHECK((*wanted_of({files[0]}, "y"))[0].namespace_ == "y");
  CHECK_FALSE(wanted_of(files, "y").ok());
}

TEST_CASE("a kind that comes and cannot be watched leaves the others waited for") {
  const auto type = [](const std::string& plural, std::vector<std::string> verbs,
                       std::vector<std::string> categories = {}) {
    core::ResourceType out;
    out.gvk = {"shop.example", "v1", plural};
    out.plural = plural;
    out.verbs = std::move(verbs);
    out.categories = std::move(categories);
    return out;
  };
  client::ResourceMap map;
  map.add(type("reviews", {"create"}, {"shop"}));
  map.add(type("carts", {"list", "watch"}, {"shop"}));
  const auto seen = look_up(
      map, {{"orders", {}, ""}, {"reviews", {}, ""}, {"carts", {"a"}, ""}, {"bills", {}, ""}});
  REQUIRE(seen.missing.size() == 2);
  CHECK(seen.missing[0].type == "orders");
  CHECK(seen.missing[1].type == "bills");
  REQUIRE(seen.found.size() == 1);
  CHECK(seen.found[0].first.names == Words{"a"});
  CHECK(seen.found[0].second.plural == "carts");
  REQUIRE(seen.refused.size() == 1);
  CHECK(seen.refused[0].render().find("reviews.shop.example cannot be watched") !=
        std::string::npos);
  // Of a category what can be watched is.
  const auto category = look_up(map, {{"shop", {}, ""}});
  CHECK(category.refused.empty());
  REQUIRE(category.found.size() == 1);
  CHECK(category.found[0].second.plural == "carts");
}

TEST_CASE("a checkpoint is read back as it was packed, and nothing else is") {
  const CheckpointParts parts = {{"|pods|shop|", {std::string("a\0b\nc", 5), {"https://a", "m"}}},
                                 {"x|y||", {"", {}}}};
  const std::string bytes = pack_checkpoint(parts);
  const auto read = unpack_checkpoint(bytes);
  REQUIRE(read.ok());
  CHECK(*read == parts);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK(!unpack_checkpoint(bytes.substr(0, size)).ok());
  }
  CHECK(!unpack_checkpoint(bytes + "x").ok());
  for (std::size_t bit = 0; bit < 8 * (bytes.size() - 5); ++bit) {  // of the head
    std::string broken = bytes;
    broken[bit / 8] = static_cast<char>(broken[bit / 8] ^ (1 << bit % 8));
    INFO(bit);
    REQUIRE_FALSE(unpack_checkpoint(broken).ok());
  }
  CHECK(unpack_checkpoint("hello").error().render().find("remove the file") != std::string::npos);
  CHECK(!unpack_checkpoint("kubewatch-checkpoint 1\n[{\"of\":\"a\",\"size\":-1}]\n").ok());
  // One with a checksum is another version to those who know of none, and must have it.
  CHECK(bytes.starts_with("kubewatch-checkpoint 2\n"));
  CHECK(!unpack_checkpoint("kubewatch-checkpoint 2\n[{\"of\":\"p\",\"size\":2}]\nab").ok());
}

TEST_CASE("a checkpoint knows its server, and one of before without it is read") {
  const auto old = unpack_checkpoint("kubewatch-checkpoint 1\n[{\"of\":\"p\",\"size\":2}]\nab");
  REQUIRE(old.ok());
  CHECK(old->at("p").bytes == "ab");
  CHECK(old->at("p").server == client::ServerIdentity{});
  const auto of_two = unpack_checkpoint(pack_checkpoint({{"p", {"ab", {"https://a", "m"}}}}));
  REQUIRE(of_two.ok());
  CHECK(of_two->at("p").server == client::ServerIdentity{"https://a", "m"});
}

TEST_CASE("a checkpoint is written only of what was told and run") {
  Undelivered what;
  CHECK(why_kept(what).empty());
  what.of_a_list = 2;
  CHECK(why_kept(what) == "2 changes of a list were not shown any more");
  what.commands = 3;
  CHECK(why_kept(what) == "--exec is not done with 3 events");
  what.stdout_broken = true;
  CHECK(why_kept(what) == "what was printed last did not get out");
}

TEST_CASE("a reader that does not read is waited for until an end is asked for") {
  using cli::WritePatience;
  const TimePoint t{Duration{1000000}};
  const Duration grace = WritePatience::kGrace;
  WritePatience one;
  CHECK(!one.over(t + std::chrono::hours(9), 0));
  // A signal gives it a little time, a second one none.
  CHECK(!one.over(t, 1));
  CHECK(!one.over(t + grace / 2, 1));
  CHECK(one.over(t + grace, 1));
  CHECK(WritePatience().over(t, 2));
  WritePatience heard;
  CHECK(!heard.over(t, 1));
  heard.ending();
  CHECK(!heard.over(t + grace / 2, 0));
  CHECK(heard.over(t + grace / 2, 1));
  CHECK(heard.over(t + grace, 0));
  WritePatience deadline;
  deadline.end_at(t);
  CHECK(!deadline.over(t - Duration{1}, 0));
  CHECK(!deadline.over(t, 0));
  CHECK(deadline.over(t + grace, 0));
}

TEST_CASE("what a reader of a pipe did not take is known, and that it went away") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const StdoutReader reader(ends[1]);
  CHECK(reader.is_pipe());
  CHECK(reader.unread() == 0);
  REQUIRE(::write(ends[1], "abcd", 4) == 4);
  CHECK(reader.unread() == 4);
  std::array<char, 3> taken{};
  REQUIRE(::read(ends[0], taken.data(), 3) == 3);
  CHECK(reader.unread() == 1);
  CHECK(!reader.gone());
  ::close(ends[0]);
  CHECK(reader.gone());
  CHECK(reader.unread() == 1);
  ::close(ends[1]);
  CHECK(!StdoutReader(-1).is_pipe());
  CHECK(!StdoutReader(-1).gone());
  CHECK(StdoutReader(-1).unread() == 0);
}

TEST_CASE("a mark in what was written is passed once no more than what follows it is unread") {
  CHECK(was_read(0, 0, 0));
  CHECK(!was_read(10, 10, 1));
  CHECK(!was_read(10, 15, 6));
  CHECK(was_read(10, 15, 5));
  CHECK(!was_read(10, 10, 100));  // of others
}

TEST_CASE("a reader that is lost breaks the output once") {
  loop::EventLoop loop;
  std::ostringstream out;
  ObjectView view({});
  int told = 0;
  Output output(loop, out, view, [&] { ++told; });
  output.buffer() += "a";
  output.flush();
  output.lose_reader();
  output.lose_reader();
  CHECK(output.broken());
  output.buffer() += "b";
  output.flush();
  CHECK(out.str() == "a");
  CHECK(told == 1);
}

TEST_CASE("what is written at once are whole lines where they fit") {
  CHECK(cli::next_piece("a\nb") == 3);
  const std::string text = std::string(4000, 'a') + "\n" + std::string(4000, 'b') + "\n";
  CHECK(cli::next_piece(text) == 4001);
  CHECK(cli::next_piece(std::string(9000, 'a')) == 4096);
}

TEST_CASE("commands of one object run one after the other, of others beside them") {
  ExecQueue queue(2);
  queue.push(job("a", "a1"));
  queue.push(job("a", "a2"));
  queue.push(job("b", "b1"));
  queue.push(job("c", "c1"));
  CHECK(queue.take()->name == "a1");
  CHECK(queue.take()->name == "b1");
  CHECK(!queue.take());  // two run
  queue.done("b");
  CHECK(queue.take()->name == "c1");
  queue.done("a");
  CHECK(queue.take()->name == "a2");
  CHECK(queue.waiting() == 0);
  CHECK(queue.running() == 2);
}

TEST_CASE("too many waiting commands are refused, and what waits can be dropped") {
  ExecQueue queue(1, {2, 100});
  CHECK(queue.push(job("a", "1")));
  CHECK(queue.push(job("a", "2")));
  CHECK(!queue.push(job("a", "3")));
  CHECK(queue.drop() == 2);
  CHECK(!queue.take());
  ExecJob large = job("a", "4");
  large.content.assign(60, 'x');
  CHECK(queue.push(large));
  CHECK(!queue.push(large));
  CHECK(queue.take()->name == "4");
  CHECK(queue.push(large));
}

TEST_CASE("a list of any length may wait, and takes no room from what happens meanwhile") {
  ExecQueue queue(1, {2, 100});
  ExecJob listed = job("a", "of a list");
  listed.listed = true;
  listed.content.assign(60, 'x');
  for (int i = 0; i < 100; ++i) CHECK(queue.push(listed));
  CHECK(queue.push(job("a", "1")));
  CHECK(queue.push(job("a", "2")));
  CHECK(!queue.push(job("a", "3")));
  CHECK(queue.waiting() == 102);
  CHECK(queue.take()->name == "of a list");
  CHECK(!queue.push(job("a", "3")));
}

TEST_CASE("how a command ended is told in a few words") {
  hooks::HookExit exit;
  exit.code = 0;
  CHECK(problem_of(exit).empty());
  exit.code = 3;
  CHECK(problem_of(exit) == "exit 3");
  exit.code.reset();
  exit.signal = 9;
  CHECK(problem_of(exit) == "it was ended by signal 9");
  exit.timed_out = true;
  CHECK(problem_of(exit).find("--exec-timeout") != std::string::npos);
}

TEST_CASE("an event is in the environment of its command") {
  SourceInfo source;
  source.context = "prod";
  source.type.gvk = {"apps", "v1", "Deployment"};
  runtime::StoreChange change;
  change.type = runtime::ChangeType::deleted;
  change.meta.name = "web";
  change.meta.namespace_ = "shop";
  const auto environment = exec_environment(Event(source, change));
  const auto has = [&](const std::string& one) {
    return std::find(environment.begin(), environment.end(), one) != environment.end();
  };
  CHECK(has("KW_EVENT=DELETED"));
  CHECK(has("KW_INITIAL=false"));
  CHECK(has("KW_CONTEXT=prod"));
  CHECK(has("KW_API_VERSION=apps/v1"));
  CHECK(has("KW_NAMESPACE=shop"));
  CHECK(has("KW_NAME=web"));
}

TEST_CASE("what a command is given is what it was, whatever a server calls its objects") {
  const SourceInfo source{"", {}, "shop", 0};
  runtime::StoreChange change;
  change.meta.name = "a\n\nb";
  change.meta.uid = std::string("u\0BASH_ENV=/tmp/x\0KW_X=1", 24);
  change.json = "{\"a\": 1}\n\n";
  const Event event(source, change);
  std::vector<std::string> environment;
  CHECK(take_content(exec_content(event), environment) == change.json);
  CHECK(environment == exec_environment(event));
}

TEST_CASE("quantiles of lag are right to half of their value") {
  LagHistogram lag;
  CHECK(lag.quantile(0.99) == Duration{0});
  for (int i = 0; i < 99; ++i) lag.add(Duration{4});
  lag.add(Duration{1000});
  CHECK(lag.quantile(0.5) >= Duration{4});
  CHECK(lag.quantile(0.5) <= Duration{6});
  CHECK(lag.quantile(1.0) == Duration{1000});
  CHECK(lag.longest() == Duration{1000});
}

TEST_CASE("statistics name every kind and what was shown") {
  SourceStats pods;
  pods.objects = 3;
  pods.events = 7;
  pods.bytes = 100;
  pods.relists = 1;
  SourceStats nodes;
  nodes.failures = {1, 0, 2, 0, 0};
  const std::string text =
      stats_text({{"pods", pods}, {"nodes", nodes}}, 9, LagHistogram(), Duration{1500});
  CHECK(text.find("stats: pods: 3 objects, 7 events, 100 bytes, 1 relists, 0 reconnects, "
                  "0 failures\n") != std::string::npos);
  CHECK(text.find("0 reconnects, 3 failures (initial list 1, watch stream 2)\n") !=
        std::string::npos);
  CHECK(text.find("9 shown in 1.5s") != std::string::npos);
}
