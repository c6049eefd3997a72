// The proof of P1 to P3 on a server under load: writers at 200 operations per second, the storage
// compacted every 5 s, every connection of the watchers cut, reset, stalled or slowed by a proxy
// after a few seconds, and in runs of a minute or more once a compaction with a restart, so that
// watches answer 410. Meanwhile six Reflectors of different strategies and selections are compared
// with exact LISTs (stress_reader.hpp). Which server: KUBEWATCH_E2E_SERVER and
// KUBEWATCH_E2E_FOLDER.
//
//   e2e_stress [--seconds N] [--rate OPERATIONS_PER_SECOND] [--seed N]      exit 0 nothing was
//   wrong
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "base/log.hpp"
#include "e2e/fault_proxy.hpp"
#include "e2e/stress_reader.hpp"
#include "e2e/stress_writers.hpp"

namespace kubewatch::e2e {

namespace {

struct Settings {
  int seconds = 120;
  int rate = 200;
  std::uint64_t seed = 1;
};

constexpr Duration kCompactEvery{5000};
constexpr Duration kConverge{60000};
// A machine that is busy with other tests writes less: the run goes on until it proves something.
constexpr int kAtMostTimesLonger = 6;

std::vector<ReaderSpec> reader_specs() {
  using runtime::ListSemantics;
  using runtime::ListStrategy;
  std::vector<ReaderSpec> specs = {{"configmaps, auto", "ConfigMap", {}},
                                   {"configmaps, selected, auto", "ConfigMap", {}},
                                   {"configmaps, in pages", "ConfigMap", {}},
                                   {"websites, unpaged, any", "Website", {}},
                                   {"websites, streaming", "Website", {}},
                                   {"websites, selected pages, notOlderThan", "Website", {}}};
  for (ReaderSpec& spec : specs) {
    spec.options.timeout = Duration{5000};
    spec.options.idle = Duration{3500};
    spec.options.initial_end = Duration{3500};
    spec.options.open = Duration{5000};
    spec.options.backoff.initial = Duration{100};
    spec.options.backoff.max = Duration{1000};
  }
  specs[1].options.label_selector = "tier=web";
  specs[2].options.strategy = ListStrategy::paged;
  specs[2].options.page_size = 10;
  specs[3].options.strategy = ListStrategy::unpaged;
  specs[3].options.semantics = ListSemantics::any;
  specs[4].options.strategy = ListStrategy::streaming;
  specs[5].options.label_selector = "tier in (web)";
  specs[5].options.strategy = ListStrategy::paged;
  specs[5].options.page_size = 10;
  specs[5].options.semantics = ListSemantics::not_older_than;
  return specs;
}

// The server's address, through the proxy.
client::ClientConfig through(const client::ClientConfig& config, std::uint16_t port) {
  client::ClientConfig out = config;
  out.server = out.server.substr(0, out.server.rfind(':') + 1) + std::to_string(port);
  return out;
}

std::uint16_t port_of(const std::string& url) {
  return static_cast<std::uint16_t>(std::atoi(url.c_str() + url.rfind(':') + 1));
}

class Stress {
 public:
  explicit Stress(const Settings& settings)
      : settings_(settings),
        random_(settings.seed),
        proxy_(world_.loop(), port_of(world_.server().config().server), {}, random_) {
    world_.apply(kWebsiteCrd);
    writers_ = std::make_unique<Writers>(world_, settings.rate, settings.seed + 1);
    const auto config = through(world_.server().config(), proxy_.port());
    auto transport = client::make_transport(world_.loop(), config);
    if (!transport.ok()) throw std::runtime_error(transport.error().render());
    transport_ = std::move(transport).value();
    client_ = std::make_unique<client::Client>(world_.loop(), *transport_, config);
    for (auto& spec : reader_specs()) {
      readers_.push_back(std::make_unique<Reader>(world_, *client_, random_, std::move(spec)));
    }
  }

  int run() {
    writers_->start();
    for (auto& reader : readers_) reader->start();
    const TimePoint begin = world_.loop().now();
    Duration length{settings_.seconds * 1000};
    bool restarted = settings_.seconds < 60;
    while (world_.loop().now() < begin + length ||
           (too_little() && world_.loop().now() < begin + length * kAtMostTimesLonger)) {
      world_.loop().run_until([] { return false; }, kCompactEvery);
      if (!restarted && world_.loop().now() >= begin + length / 2) {
        restarted = true;
        const TimePoint down = world_.loop().now();
        world_.server().compact();
        away_ = world_.loop().now() - down;
        length += away_;
      } else {
        world_.server().compact_storage();
      }
      ++compactions_;
    }
    seconds_ = static_cast<double>((world_.loop().now() - begin - away_).count()) / 1000;
    writers_->stop();
    proxy_.calm();
    converge();
    return report();
  }

 private:
  // With the writers still, every cache becomes the newest state.
  void converge() {
    const TimePoint begin = world_.loop().now();
    world_.holds_for([] { return true; }, Duration{1000});  // the last answers
    for (auto& reader : readers_) {
      const bool equal =
          world_.eventually([&] { return reader->equals(newest(*reader)); }, kConverge);
      if (!equal) wrong_.push_back(reader->name() + ": did not become the newest state");
      if (reader->name().find("selected") == std::string::npos) {
        reader->check_all_told(writers_->writes(reader->reflector().type().gvk.kind));
      }
    }
    converged_ = world_.loop().now() - begin;
  }

  // Too few comparisons, or too few writes, would prove nothing.
  std::uint64_t least_comparisons() const {
    return static_cast<std::uint64_t>(settings_.seconds) / 2;
  }
  std::uint64_t least_writes() const {
    return static_cast<std::uint64_t>(settings_.rate) *
           static_cast<std::uint64_t>(settings_.seconds) / 2;
  }
  bool too_little() const {
    std::uint64_t equal = 0;
    for (const auto& reader : readers_) equal += reader->counts().equal;
    return equal < least_comparisons() || writers_->counts().confirmed < least_writes();
  }

  std::vector<std::string> newest(const Reader& reader) {
    core::ListParams params;
    if (reader.name().find("selected") != std::string::npos) params.label_selector = "tier=web";
    std::optional<Result<client::ListResult>> answer;
    const auto pending = world_.client().list(
        reader.reflector().type(), world_.ns(), params,
        [&](Result<client::ListResult> result) { answer.emplace(std::move(result)); });
    world_.loop().run_until([&] { return answer.has_value(); }, Duration{30000});
    if (!answer || !answer->ok()) throw std::runtime_error("the newest state cannot be read");
    return std::move((*answer)->items);
  }

  int report() {
    const auto& faults = proxy_.counts();
    const auto& writes = writers_->counts();
    Reader::Counts sum;
    for (const auto& reader : readers_) {
      const auto& counts = reader->counts();
      fmt::print(
          "  {:<40} {:>6} changes {:>4} bookmarks {:>4} compared {:>3} not comparable "
          "{:>3} gaps {:>4} reconnects\n",
          reader->name(), counts.changes, counts.bookmarks, counts.equal, counts.not_comparable,
          counts.gaps, reader->reflector().stats().reconnects);
      sum.changes += counts.changes;
      sum.equal += counts.equal;
      sum.not_comparable += counts.not_comparable;
      sum.gaps += counts.gaps;
      for (const auto& problem : reader->problems()) wrong_.push_back(problem);
    }
    if (too_little()) {
      wrong_.push_back(fmt::format("only {} comparisons and {} writes, {} and {} are wanted",
                                   sum.equal, writes.confirmed, least_comparisons(),
                                   least_writes()));
    }
    for (const auto& what : wrong_) fmt::print("WRONG {}\n", what);
    fmt::print(
        "stress on {}: {:.0f} s and {} of restart, {} writes ({:.0f}/s; {} refused, {} without "
        "answer), {} compactions; {} connections: {} cut, {} reset, {} stalled, {} slowed; {} "
        "changes told, {} "
        "caches equal to the exact LIST, {} not comparable, {} gaps; converged in {}; {} wrong\n",
        world_.server().name(), seconds_, base::format_duration(away_), writes.confirmed,
        static_cast<double>(writes.confirmed) / seconds_, writes.refused, writes.lost, compactions_,
        faults.connections, faults.cuts, faults.resets, faults.stalls, faults.slow, sum.changes,
        sum.equal, sum.not_comparable, sum.gaps, base::format_duration(converged_), wrong_.size());
    return wrong_.empty() ? 0 : 1;
  }

  Settings settings_;
  base::Random random_;
  World world_;
  FaultProxy proxy_;
  std::unique_ptr<Writers> writers_;
  std::unique_ptr<http::Transport> transport_;
  std::unique_ptr<client::Client> client_;
  std::vector<std::unique_ptr<Reader>> readers_;
  std::vector<std::string> wrong_;
  int compactions_ = 0;
  double seconds_ = 0;
  Duration converged_{0};
  Duration away_{0};  // while the server was restarted
};

Settings settings_of(int argc, char** argv) {
  Settings out;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    if (flag == "--seconds")
      out.seconds = std::atoi(argv[i + 1]);
    else if (flag == "--rate")
      out.rate = std::atoi(argv[i + 1]);
    else if (flag == "--seed")
      out.seed = std::strtoull(argv[i + 1], nullptr, 10);
    else
      throw std::runtime_error("unknown flag " + flag);
  }
  return out;
}

}  // namespace

}  // namespace kubewatch::e2e

int main(int argc, char** argv) {
  using namespace kubewatch;
  if (e2e::real_is_missing()) {
    std::cout << "stress: no real kube-apiserver was started\n";
    return 77;
  }
  if (const char* level = std::getenv("KUBEWATCH_E2E_VERBOSITY"); level != nullptr) {
    base::LogOptions log;
    log.verbosity = std::atoi(level);
    base::configure_log(log);
  }
  try {
    return e2e::Stress(e2e::settings_of(argc, argv)).run();
  } catch (const std::exception& e) {
    std::cerr << "stress: " << e.what() << "\n";
    return 1;
  }
}
