// Pairs the requests of both by their number and hands the answers of the first on.
#include "model/twin.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kubewatch::model {

namespace {

// A piece is never so small that a long answer takes for ever.
constexpr std::size_t kMostPieces = 2000;
constexpr std::size_t kShown = 160;

std::string request_line(const http::Request& request, std::size_t number) {
  return fmt::format("asks {}: {} {} {}", number, request.method, request.url,
                     request.headers.get("Authorization"));
}

std::string count_line(const runtime::Reflector& reflector) {
  const runtime::ReflectorStats stats = reflector.stats();
  const runtime::StoreStats store = reflector.store().stats();
  return fmt::format(
      "{} events, {} passed over, {} reconnects, {} unparsable (\"{}\"), {} objects of {} bytes, "
      "{} relists; last failure: {}",
      stats.events, stats.skipped_events, stats.reconnects, reflector.store().unparsable().count,
      reflector.store().unparsable().last, store.objects, store.json_bytes, store.relists,
      reflector.last_failure().value_or("none"));
}

// Of long lines the part where they differ.
std::string contrast(const std::string& one, const std::string& other) {
  const auto differ = std::mismatch(one.begin(), one.end(), other.begin(), other.end()).first;
  const auto at = static_cast<std::size_t>(differ - one.begin());
  const std::size_t from = at > kShown / 2 ? at - kShown / 2 : 0;
  return fmt::format("\"{}\", in other pieces \"{}\"", one.substr(from, kShown),
                     other.substr(from, kShown));
}

}  // namespace

// ---------------------------------------------------------------- what is told

void Account::add(const std::string& line) {
  lines.push_back(fmt::format("{} {}", loop_.now().time_since_epoch().count(), line));
}

void Account::told(const runtime::StoreChange& change, const runtime::Store& store) {
  add(fmt::format("tells {}{}{}{} {}/{} {} {} of {} at {}: {} before: {}",
                  static_cast<int>(change.type), change.initial ? " initial" : "",
                  change.relisted ? " relisted" : "", change.reduced ? " reduced" : "",
                  change.meta.namespace_, change.meta.name, change.meta.uid,
                  change.meta.resource_version, store.size(), store.resource_version(), change.json,
                  change.previous_json));
}

void Account::synced(bool gap, const runtime::Store& store) {
  add(fmt::format("synced at {}{}, {} objects", store.resource_version(), gap ? " after a gap" : "",
                  store.size()));
}

void Account::bookmark(const std::string& version) {
  add("bookmark " + version);
}

void Account::failure(runtime::WatcherFailure where, const Error& error, Duration retry_in) {
  add(fmt::format("fails: {}: {}, again in {} ms", to_string(where), error.render(),
                  retry_in.count()));
}

// ---------------------------------------------------------------- what goes over the link

// One request of both and its answer. A side that is gone hears nothing more.
struct Twin::Exchange {
  http::CallHandlers first;
  http::CallHandlers second;
  bool first_there = false;
  bool second_there = false;
  std::size_t largest = 1;  // piece

  void pass_on(std::string_view bytes, base::Random& random) {
    const std::size_t least = bytes.size() / kMostPieces;
    while (second_there && !bytes.empty()) {
      const std::size_t size =
          std::min(bytes.size(), std::max<std::size_t>(least, 1 + random.below(largest)));
      if (second.on_data) second.on_data(bytes.substr(0, size));
      bytes.remove_prefix(size);
    }
  }
};

std::shared_ptr<Twin::Exchange> Twin::exchange(std::size_t number) {
  while (exchanges_.size() <= number) {
    auto next = std::make_shared<Exchange>();
    static constexpr std::size_t kLargest[] = {1, 2, 30, 1000};
    next->largest = kLargest[pieces_.below(std::size(kLargest))];
    exchanges_.push_back(std::move(next));
  }
  return exchanges_[number];
}

// Both sides drop what they asked for by destroying the handle.
class Twin::FirstSide final : public http::Transport {
 public:
  FirstSide(Twin& twin, http::Transport& link) : twin_(twin), link_(link) {}

  std::unique_ptr<http::Call> start(http::Request request, http::CallHandlers handlers) override {
    auto handle = std::make_unique<Handle>(twin_, asked_++);
    twin_.first_.add(request_line(request, handle->number));
    const auto both = twin_.exchange(handle->number);
    both->first = std::move(handlers);
    both->first_there = true;
    handle->exchange = both;
    handle->call = link_.start(std::move(request), listening(both));
    return handle;
  }

 private:
  struct Handle : http::Call {
    Handle(Twin& the_twin, std::size_t the_number) : twin(the_twin), number(the_number) {}
    ~Handle() override {
      if (exchange->first_there) twin.first_.add(fmt::format("drops {}", number));
      exchange->first_there = false;
    }
    Twin& twin;
    const std::size_t number;
    std::shared_ptr<Exchange> exchange;
    std::unique_ptr<http::Call> call;
  };

  // Each handler may drop the call, and with it what the link holds of these closures.
  http::CallHandlers listening(const std::shared_ptr<Exchange>& exchange) {
    http::CallHandlers out;
    out.on_head = [held = exchange](const http::ResponseHead& head) {
      const auto both = held;
      if (both->first.on_head) both->first.on_head(head);
      if (both->second_there && both->second.on_head) both->second.on_head(head);
    };
    out.on_data = [held = exchange, &random = twin_.pieces_](std::string_view bytes) {
      const auto both = held;
      auto& pieces = random;
      if (both->first.on_data) both->first.on_data(bytes);
      both->pass_on(bytes, pieces);
    };
    out.on_done = [held = exchange](Result<void> result) {
      const auto both = held;
      both->first_there = false;
      if (both->first.on_done) both->first.on_done(result);
      if (!both->second_there) return;
      both->second_there = false;
      if (both->second.on_done) both->second.on_done(std::move(result));
    };
    return out;
  }

  Twin& twin_;
  http::Transport& link_;
  std::size_t asked_ = 0;
};

class Twin::SecondSide final : public http::Transport {
 public:
  explicit SecondSide(Twin& twin) : twin_(twin) {}

  std::unique_ptr<http::Call> start(http::Request request, http::CallHandlers handlers) override {
    auto handle = std::make_unique<Handle>(twin_, asked_++);
    twin_.second_.add(request_line(request, handle->number));
    handle->exchange = twin_.exchange(handle->number);
    handle->exchange->second = std::move(handlers);
    handle->exchange->second_there = true;
    return handle;
  }

 private:
  struct Handle : http::Call {
    Handle(Twin& the_twin, std::size_t the_number) : twin(the_twin), number(the_number) {}
    ~Handle() override {
      if (exchange->second_there) twin.second_.add(fmt::format("drops {}", number));
      exchange->second_there = false;
    }
    Twin& twin;
    const std::size_t number;
    std::shared_ptr<Exchange> exchange;
  };

  Twin& twin_;
  std::size_t asked_ = 0;
};

// ---------------------------------------------------------------- the twin

Twin::Twin(loop::EventLoop& loop, http::Transport& link, const TwinSetup& setup)
    : loop_(loop),
      first_(loop),
      second_(loop),
      pieces_(setup.seed + 1),
      random_(setup.seed),
      first_side_(std::make_unique<FirstSide>(*this, link)),
      second_side_(std::make_unique<SecondSide>(*this)),
      client_(std::make_unique<client::Client>(loop_, *second_side_, setup.config, setup.rewinds)) {
  runtime::ReflectorCallbacks callbacks;
  callbacks.on_change = [this](const runtime::StoreChange& change) {
    second_.told(change, reflector_->store());
  };
  callbacks.on_synced = [this](bool gap) { second_.synced(gap, reflector_->store()); };
  callbacks.on_bookmark = [this](const std::string& version) { second_.bookmark(version); };
  callbacks.on_failure = [this](runtime::WatcherFailure where, const Error& error,
                                Duration retry_in) { second_.failure(where, error, retry_in); };
  callbacks.on_outdated = [this] { second_.add("outdated"); };
  callbacks.log_failures = false;  // the first has told the log
  reflector_ =
      std::make_unique<runtime::Reflector>(*client_, setup.type, setup.namespace_, setup.watcher,
                                           runtime::StoreOptions{}, random_, std::move(callbacks));
}

Twin::~Twin() = default;

http::Transport& Twin::transport() {
  return *first_side_;
}

std::string Twin::difference(const runtime::Reflector& under_test) {
  while (!first_.lines.empty() && !second_.lines.empty()) {
    if (first_.lines.front() != second_.lines.front()) {
      return contrast(first_.lines.front(), second_.lines.front());
    }
    first_.lines.pop_front();
    second_.lines.pop_front();
  }
  if (!first_.lines.empty()) return contrast(first_.lines.front(), "nothing");
  if (!second_.lines.empty()) return contrast("nothing", second_.lines.front());
  const std::string counts = count_line(under_test);
  const std::string same = count_line(*reflector_);
  return counts == same ? "" : contrast(counts, same);
}

}  // namespace kubewatch::model
