// How a watch begins on servers that are there, away, set up wrong or lack what is asked for. Time
// is skipped.
#include <algorithm>
#include <optional>
#include <utility>

#include "cli/watch/source_set.hpp"
#include "local_session.hpp"

namespace kubewatch::cli::watch {

namespace {

// What it is told to fail with comes in place of every answer.
class FailingTransport : public http::Transport {
 public:
  FailingTransport(loop::EventLoop& loop, const std::optional<Error>& failure)
      : loop_(loop), inner_(loop), failure_(failure) {}

  std::unique_ptr<http::Call> start(http::Request request, http::CallHandlers handlers) override {
    if (!failure_) return inner_.start(std::move(request), std::move(handlers));
    struct Failing : http::Call {
      loop::Timer answer;
    };
    auto call = std::make_unique<Failing>();
    call->answer = loop_.after(Duration{1}, [done = std::move(handlers.on_done), why = *failure_] {
      const auto own = done;  // it may end the call
      own(why);
    });
    return call;
  }

 private:
  loop::EventLoop& loop_;
  rehearsal::LocalServer inner_;
  const std::optional<Error>& failure_;
};

const Error kAway = Error(ErrorKind::unreachable, "refused").as_disconnect();
const Error kNotTrusted(ErrorKind::unreachable, "TLS: the certificate is of nobody");

// The servers "a" and "b", or one alone.
struct Rig : LocalSession {
  explicit Rig(std::vector<std::string> names = {""}) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (i > 0) others.push_back(open());
      Session& one = i == 0 ? *session : *others.back();
      one.wrap_transport([this, i](http::Transport&) {
        return std::make_unique<FailingTransport>(loop, failures[i]);
      });
      sessions.emplace_back(names[i], &one);
    }
  }
  std::unique_ptr<Session> open() {
    client::ConfigOverrides flags;
    flags.kubeconfig = folder + "/config";
    flags.cache_dir = folder + "/another-cache";
    flags.server = rehearsal::LocalServer::kUrl;
    auto opened = Session::open(flags, &loop);
    REQUIRE(opened.ok());
    return std::move(*opened);
  }
  void start(const std::vector<std::string>& words = {"configmaps"}) {
    SourceCallbacks out;
    out.on_change = [](const SourceInfo&, const runtime::StoreChange&, bool) {};
    out.on_synced = [this](const SourceInfo& source, bool, bool) {
      synced.push_back(source.context);
    };
    out.on_failure = [](const SourceInfo&, runtime::WatcherFailure, const Error&) {};
    out.on_types = [] {};
    out.on_version = [](const core::ResourceType&) {};
    out.on_note = [this](const std::string& text) { notes.push_back(text); };
    out.on_nothing_left = [this](const Error& error) { left.push_back(error.render()); };
    out.prepare = [](Session&, const core::ResourceType&, const std::function<void()>& go_on) {
      go_on();
    };
    auto wanted = wanted_of(words);
    REQUIRE(wanted.ok());
    sources.emplace(sessions, std::move(*wanted), SourceOptions(), std::move(out));
    sources->start();
  }
  bool pass(Duration time) {
    return loop.run_until([] { return false; }, time);
  }

  std::optional<Error> failures[2];
  std::vector<std::unique_ptr<Session>> others;
  std::vector<std::pair<std::string, Session*>> sessions;
  std::vector<std::string> synced, notes, left;
  std::optional<SourceSet> sources;
};

}  // namespace

TEST_CASE("a server that is away when the watch begins is asked again until it answers") {
  Rig rig;
  rig.failures[0] = kAway;
  rig.start();
  rig.pass(Duration{60000});
  CHECK(rig.notes == std::vector<std::string>{"GET /api: refused; asking again until it answers"});
  CHECK(rig.sources->unread() == std::vector<std::string>{"configmaps (GET /api: refused)"});
  rig.failures[0].reset();
  rig.pass(Duration{60000});
  CHECK(rig.synced == std::vector<std::string>{""});
  CHECK(rig.sources->unread().empty());
  CHECK(rig.left.empty());
}

TEST_CASE("until a server has said anything it is told that it gave no answer") {
  Rig rig;
  rig.start();
  const std::string url = rehearsal::LocalServer::kUrl;
  CHECK(rig.sources->unread() ==
        std::vector<std::string>{"configmaps (no answer from " + url + ")"});
}

TEST_CASE("what no time mends ends the watch of one server") {
  Rig rig;
  rig.failures[0] = kNotTrusted;
  rig.start();
  rig.pass(Duration{1000});
  CHECK(rig.left == std::vector<std::string>{"GET /api: " + kNotTrusted.message()});
  CHECK(rig.notes.empty());
}

TEST_CASE("of several servers none ends the others, and each is named") {
  Rig rig({"a", "b"});
  rig.failures[0] = kNotTrusted;
  rig.start();
  rig.pass(Duration{60000});
  CHECK(rig.synced == std::vector<std::string>{"b"});
  CHECK(rig.left.empty());
  const std::string why = "context a: GET /api: " + kNotTrusted.message();
  CHECK(rig.notes == std::vector<std::string>{why + "; asking again until it answers"});
  CHECK(rig.sources->unread() == std::vector<std::string>{"configmaps in context a (GET /api: " +
                                                          kNotTrusted.message() + ")"});
  rig.failures[0].reset();
  rig.pass(Duration{60000});
  CHECK(rig.synced == std::vector<std::string>{"b", "a"});
}

TEST_CASE("where no server is left that may answer the watch ends") {
  Rig rig({"a", "b"});
  rig.failures[0] = rig.failures[1] = kNotTrusted;
  rig.start();
  rig.pass(Duration{100});
  REQUIRE(rig.left.size() == 1);
  CHECK(rig.left.front().find(kNotTrusted.message()) != std::string::npos);
}

TEST_CASE("a kind that cannot be watched ends the watch, known from before or not") {
  Rig rig;
  const bool known = GENERATE(false, true);
  CAPTURE(known);
  if (known) REQUIRE(rig.session->resources().ok());
  rig.start({"configmaps,selfsubjectaccessreviews"});
  rig.pass(Duration{1000});
  REQUIRE(rig.left.size() == 1);
  CHECK(rig.left.front().find("cannot be watched") != std::string::npos);
  CHECK(rig.synced.empty());
}

TEST_CASE("a kind that one server cannot watch leaves the other servers alone") {
  Rig rig({"a", "b"});
  rig.failures[1] = kAway;
  rig.start({"selfsubjectaccessreviews"});
  rig.pass(Duration{1000});
  CHECK(rig.left.empty());
  rig.failures[1].reset();
  rig.pass(Duration{60000});
  CHECK(rig.left.size() == 1);
}

}  // namespace kubewatch::cli::watch
