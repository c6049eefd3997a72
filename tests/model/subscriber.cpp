#include "model/subscriber.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

namespace kubewatch::model {

namespace {

constexpr std::size_t kRequestsAMinute = 90;
constexpr std::uint32_t kDetours = 6;
constexpr Duration kLongestWait{300000};  // whatever Retry-After says
constexpr Duration kInOrder{20000};       // a watch that ended in order after so long was well
constexpr const char* kManagersLeft = R"([["x","","",""]])";  // of those that to_json has
constexpr Duration kQuiet{140000};  // after so long a silence a watch is reopened

std::uint64_t number(const std::string& text) {
  return std::strtoull(text.c_str(), nullptr, 10);
}

core::ResourceType type_of(std::size_t kind) {
  core::ResourceType type;
  type.gvk = {"", "v1", kind_name(kind)};
  type.plural = fmt::format("things{}", kind);
  type.verbs = {"list", "watch"};
  return type;
}

client::ClientConfig config_of(const SubscriberOptions& options) {
  client::ClientConfig out;
  out.server = "https://server.test";
  out.token_file = options.token_file;
  return out;
}

runtime::WatcherOptions with_selector(SubscriberOptions options) {
  if (options.view.selected_only) options.watcher.label_selector = "sel=yes";
  return options.watcher;
}

const char* name_of(runtime::ChangeType type) {
  return type == runtime::ChangeType::added      ? "added"
         : type == runtime::ChangeType::modified ? "modified"
                                                 : "deleted";
}

std::string data_of(const SimObject& object) {
  return fmt::format("\"value\":\"{}\"", object.value);
}

// What a store keeps of the server's text; of what is too deep, the metadata.
std::string stored_text(std::size_t kind, const SimObject& object) {
  static const std::string kManagers = R"("managedFields":[{"manager":"x"}],)";
  static const std::string kData = R"(,"data":)";
  std::string out = to_json(kind, object, true);
  out.erase(out.find(kManagers), kManagers.size());
  if (object.shape == Shape::deep) out.replace(out.find(kData), std::string::npos, "}");
  return out;
}

SimKey key_of(const core::ObjectMeta& meta) {
  return {meta.namespace_, meta.name};
}

}  // namespace

Subscriber::Subscriber(std::string the_name, SubscriberOptions options, loop::EventLoop& loop,
                       ApiServer& server, std::shared_ptr<client::Rewinds> rewinds,
                       base::Random& random, Verdict& verdict)
    : link(loop, server, random, verdict, the_name),
      view(options.view),
      name(std::move(the_name)),
      loop_(loop),
      server_(server),
      verdict_(verdict),
      options_(with_selector(options)),
      seed_(random.next()),
      random_(seed_),
      twin_(make_twin(options)),
      client_(loop, twin_ ? twin_->transport() : link, config_of(options), std::move(rewinds)) {
  link.observer = this;
  runtime::ReflectorCallbacks callbacks;
  callbacks.on_change = [this](const runtime::StoreChange& change) { told(change); };
  callbacks.on_synced = [this](bool gap) { told_synced(gap); };
  callbacks.on_bookmark = [this](const std::string& version) { told_bookmark(version); };
  callbacks.on_failure = [this](runtime::WatcherFailure where, const Error& error,
                                Duration retry_in) { told_failure(where, error, retry_in); };
  // The server is there: what is held is worth less than the wait, unless the server asked for it.
  callbacks.on_outdated = [this] {
    if (twin_) twin_->account().add("outdated");
    if (syncs_ > 0 && !waits_as_asked_) not_before_ = now();
  };
  reflector_ =
      std::make_unique<runtime::Reflector>(client_, type_of(view.kind), view.namespace_, options_,
                                           runtime::StoreOptions{}, random_, std::move(callbacks));
}

std::unique_ptr<Twin> Subscriber::make_twin(const SubscriberOptions& options) {
  if (!options.twin_rewinds) return nullptr;
  const TwinSetup setup{config_of(options), options.twin_rewinds,
                        type_of(view.kind), view.namespace_,
                        options_,           seed_};
  return std::make_unique<Twin>(loop_, link, setup);
}

void Subscriber::start() {
  reflector_->start();
  if (twin_) twin_->start();
}

void Subscriber::on_restore(std::uint64_t to) {
  if (syncs_ > 0 && position_ > to) lost_ = true;
}

// ---------------------------------------------------------------- what it is told

void Subscriber::told(const runtime::StoreChange& change) {
  verdict_.trace(now(), [&] {
    return fmt::format("{}: told {} {}/{} rv {}{}{}, store at {}", name, name_of(change.type),
                       change.meta.namespace_, change.meta.name, change.meta.resource_version,
                       change.initial ? " initial" : "", change.relisted ? " relisted" : "",
                       store().resource_version());
  });
  if (twin_) twin_->account().told(change, store());
  const auto it = known_.find(key_of(change.meta));
  check_said(change, it == known_.end() ? nullptr : &it->second);
  if (change.initial || change.relisted) {
    check_net(change);
  } else {
    check_live(change);
  }
  if (change.type == runtime::ChangeType::deleted) {
    known_.erase(key_of(change.meta));
  } else {
    known_[key_of(change.meta)] = {change.meta.uid, change.json, false};
  }
  if (on_change) on_change(change);
}

// What a change says of before must be what was told before.
void Subscriber::check_said(const runtime::StoreChange& change, const Known* before) {
  const auto what = [&](const char* problem) {
    return [&change, this, problem] {
      return fmt::format("{}: {} {}/{} {}", name, name_of(change.type), change.meta.namespace_,
                         change.meta.name, problem);
    };
  };
  const bool is_new = change.type == runtime::ChangeType::added;
  verdict_.expect(Guarantee::unique, is_new == (before == nullptr),
                  what(is_new ? "but it was told before" : "but it was never told"));
  if (before == nullptr || is_new) return;
  verdict_.expect(Guarantee::net_change, change.meta.uid == before->uid,
                  what("but it is another object of that name"));
  verdict_.expect(Guarantee::net_change,
                  change.previous_meta && change.previous_json == before->json &&
                      change.previous_meta->uid == before->uid,
                  what("with another previous state than the one told"));
  if (change.type == runtime::ChangeType::modified) {
    verdict_.expect(Guarantee::unique, change.json != before->json, what("without a change"));
  } else if (change.relisted) {
    verdict_.expect(Guarantee::net_change, change.json == before->json,
                    what("without its last known state"));
  }
}

// While watching: this event and no other follows what was told.
void Subscriber::check_live(const runtime::StoreChange& change) {
  const std::uint64_t at = number(store().resource_version());
  reset_backoff();
  verdict_.expect(Guarantee::whole_list, syncs_ > 0,
                  [&] { return name + ": a change before the first sync"; });
  verdict_.expect(Guarantee::ordered, lost_ || at > position_,
                  [&] { return fmt::format("{}: told version {} after {}", name, at, position_); });
  const auto next = server_.cluster().next_event(view, position_, server_.cluster().revision());
  if (!lost_) {
    const bool same = next && next->revision == at && next->object.name == change.meta.name &&
                      next->object.namespace_ == change.meta.namespace_ &&
                      next->object.uid == change.meta.uid &&
                      (next->type == core::WatchEventType::deleted) ==
                          (change.type == runtime::ChangeType::deleted);
    verdict_.expect(Guarantee::reliable, same, [&] {
      return fmt::format(
          "{}: told {} {}/{} at {}, but after {} comes {}", name, name_of(change.type),
          change.meta.namespace_, change.meta.name, at, position_,
          next ? fmt::format("{} at {}", next->object.name, next->revision) : "nothing");
    });
    if (next && next->object.shape != Shape::deep) {
      verdict_.expect(Guarantee::reliable,
                      change.json.find(data_of(next->object)) != std::string::npos,
                      [&] { return name + ": told with another content"; });
    }
  }
  position_ = at;
}

// After a list: all changes come after the store has all of them.
void Subscriber::check_net(const runtime::StoreChange& change) {
  verdict_.expect(Guarantee::net_change,
                  change.initial == (syncs_ == 0) && change.relisted == (syncs_ > 0),
                  [&] { return name + ": a change found by a list is not marked so"; });
  verdict_.expect(Guarantee::whole_list, store().ready(),
                  [&] { return name + ": told before the list was whole"; });
  if (checked_batch_) return;
  checked_batch_ = true;
  const SimState wanted = server_.cluster().state_at(view, number(store().resource_version()));
  verdict_.expect(Guarantee::whole_list, store().size() == wanted.size(), [&] {
    return fmt::format("{}: a reader sees {} of {} objects", name, store().size(), wanted.size());
  });
}

void Subscriber::told_synced(bool gap) {
  const std::uint64_t at = number(store().resource_version());
  verdict_.trace(now(), [&] {
    return fmt::format("{}: synced at {}{}", name, at, gap ? " after a gap" : "");
  });
  if (twin_) twin_->account().synced(gap, store());
  verdict_.expect(Guarantee::net_change, gap == (syncs_ > 0),
                  [&] { return name + ": the gap is marked wrongly"; });
  verdict_.expect(Guarantee::ordered, lost_ || at >= position_, [&] {
    return fmt::format("{}: a list took it back from {} to {}", name, position_, at);
  });
  const bool fresh = options_.semantics != runtime::ListSemantics::recent ||
                     asked_epoch_ != server_.cluster().epoch() || at >= asked_at_;
  verdict_.expect(Guarantee::exact_cache, fresh, [&] {
    return fmt::format("{}: asked for the newest at {}, got {}", name, asked_at_, at);
  });
  ++syncs_;
  lost_ = false;
  position_ = at;
  gone_.reset();
  detours_ = 0;
  checked_batch_ = false;
  check_store(syncs_ > 1 ? Guarantee::net_change : Guarantee::exact_cache);
  if (on_synced) on_synced();
}

void Subscriber::told_bookmark(const std::string& version) {
  if (twin_) twin_->account().bookmark(version);
  const std::uint64_t at = number(version);
  reset_backoff();
  verdict_.expect(Guarantee::ordered, lost_ || at >= position_, [&] {
    return fmt::format("{}: a bookmark took it back from {} to {}", name, position_, at);
  });
  position_ = at;
  check_store(Guarantee::bookmarkable);
}

// ---------------------------------------------------------------- failures and backoff

void Subscriber::reset_backoff() {
  failed_ = gone_failed_ = {};
}

void Subscriber::maybe_reset_backoff() {
  failed_.least = gone_failed_.least = 0;
}

void Subscriber::told_failure(runtime::WatcherFailure where, const Error& error,
                              Duration retry_in) {
  verdict_.trace(now(), [&] {
    return fmt::format("{}: failure {} ({}), again in {} ms", name, to_string(where),
                       error.render().substr(0, 90), retry_in.count());
  });
  if (twin_) twin_->account().failure(where, error, retry_in);
  ++failures_;
  ++failures_by_.at(static_cast<std::size_t>(where));
  verdict_.expect(
      Guarantee::told,
      reflector_->stats().failures == failures_by_ && reflector_->last_failure().has_value(),
      [&] { return name + ": failures are counted wrongly"; });
  if (retry_in.count() == 0) {
    verdict_.expect(Guarantee::request_rate, ++detours_ <= kDetours,
                    [&] { return name + ": one detour after the other, without a pause"; });
    return;
  }
  check_delay(where, error, retry_in);
  verdict_.expect(Guarantee::request_rate, !asked_wait_ || retry_in >= *asked_wait_,
                  [&] { return name + ": waits less than Retry-After says"; });
  not_before_ = now() + retry_in;
  waits_as_asked_ = asked_wait_.has_value();
  asked_wait_.reset();
}

// Pages that are asked for again have a backoff of their own. Whether a page is, or the whole list,
// shows only afterwards: the delay may be of either then. Versions that are gone have one as well.
void Subscriber::check_delay(runtime::WatcherFailure where, const Error& error, Duration delay) {
  const base::BackoffPolicy& policy = options_.backoff;
  const auto of = [&](std::uint32_t count, double spread) {
    const double raw = static_cast<double>(policy.initial.count()) *
                       std::pow(policy.factor, static_cast<double>(count));
    const auto max = static_cast<double>(policy.max.count());
    return Duration(static_cast<std::int64_t>(std::min(max, std::min(raw, max) * spread)));
  };
  const auto fits = [&](const Failed& failed) {
    Duration most = of(failed.most, 1.0 + policy.jitter) + Duration(2);
    if (asked_wait_) most = std::max(most, *asked_wait_ * 12 / 10);
    return delay >= of(failed.least, 1.0 - policy.jitter) - Duration(2) && delay <= most;
  };
  if (error.is_gone() && where != runtime::WatcherFailure::initial_list) {
    verdict_.expect(Guarantee::independent, fits(gone_failed_), [&] {
      return fmt::format("{}: after {} to {} versions of its own that were gone it waits {} ms",
                         name, gone_failed_.least + 1, gone_failed_.most + 1, delay.count());
    });
    ++gone_failed_.least;
    ++gone_failed_.most;
    return;
  }
  const bool of_page = page_asked_ && where == runtime::WatcherFailure::initial_list;
  const bool page_fits = of_page && fits(page_failed_);
  const bool fits_own = fits(failed_);
  verdict_.expect(Guarantee::independent, fits_own || page_fits, [&] {
    return fmt::format("{}: after {} to {} failures of its own{} it waits {} ms", name,
                       failed_.least + 1, failed_.most + 1,
                       of_page ? fmt::format(", {} to {} of its page,", page_failed_.least + 1,
                                             page_failed_.most + 1)
                               : "",
                       delay.count());
  });
  if (fits_own) ++failed_.most;
  if (page_fits) ++page_failed_.most;
  if (!page_fits) ++failed_.least;
  if (!fits_own) ++page_failed_.least;
}

void Subscriber::on_refused(const RequestSeen& request, int status, int retry_after) {
  if (request.watch && !request.initial && status == 410) gone_ = number(request.version);
  if (retry_after > 0) {
    asked_wait_ = std::min<Duration>(std::chrono::seconds(retry_after), kLongestWait);
  }
  failures_before_ = failures_;
  must_tell_ = true;
  may_try_again_ = status == 401 && !second_try_;
}

// ---------------------------------------------------------------- what goes over the link

void Subscriber::on_request(const RequestSeen& request) {
  verdict_.trace(now(), [&] {
    return fmt::format("{}: {}{} at \"{}\"", name,
                       request.watch ? (request.initial ? "streaming list" : "watch") : "list",
                       request.continued ? ", next page" : "", request.version);
  });
  // The client's own second try after a 401, with the token that the file holds by now.
  second_try_ = std::exchange(may_try_again_, false) && must_tell_;
  if (second_try_) must_tell_ = false;
  verdict_.expect(Guarantee::request_rate, now() >= not_before_,
                  [&] { return name + ": asks before the time that its failure told"; });
  page_asked_ = request.continued;
  // What was asked for before came, or it is another list.
  const bool came = failures_ == failures_then_ && !second_try_;
  if (!request.continued || came) page_failed_ = {};
  failures_then_ = failures_;
  if (request.continued) return;
  if (!request.watch || request.initial) {
    asked_at_ = server_.cluster().revision();
    asked_epoch_ = server_.cluster().epoch();
  }
  requests_.push_back(now());
  while (requests_.front() + Duration(60000) < now()) requests_.pop_front();
  verdict_.expect(Guarantee::request_rate, requests_.size() <= kRequestsAMinute, [&] {
    return fmt::format("{}: {} requests within a minute", name, requests_.size());
  });
  if (!request.watch || request.initial) return;
  const std::uint64_t at = number(request.version);
  verdict_.expect(Guarantee::resumable, syncs_ > 0 && at == position_, [&] {
    return fmt::format("{}: watches from {} but stands at {}", name, at, position_);
  });
  verdict_.expect(Guarantee::request_rate, gone_ != at, [&] {
    return fmt::format("{}: asks again for version {}, which is gone", name, at);
  });
}

void Subscriber::before_delivery(const std::vector<Frame>& frames) {
  for (const Frame& frame : frames) {
    if (frame.retry_after > 0) asked_wait_ = std::chrono::seconds(frame.retry_after);
  }
}

void Subscriber::on_list(const Reply& reply) {
  verdict_.trace(now(), [&] { return fmt::format("{}: a list of {}", name, reply.version); });
  last_list_ = reply.version;
}

void Subscriber::on_frames(const Delivered& delivered) {
  bool error = false;
  for (const Frame& frame : delivered.frames) {
    error = error || frame.error_code != 0;
    if (frame.error_code == 410 && syncs_ > 0 && position_ != 0) gone_ = position_;
  }
  if (must_tell_) {
    must_tell_ = false;
    verdict_.expect(Guarantee::told, failures_ > failures_before_,
                    [&] { return name + ": an answer that failed was not told"; });
  }
  verdict_.expect(Guarantee::told, !error || reflector_->last_failure() || !delivered.alive,
                  [&] { return name + ": an ERROR event was not told"; });
  asked_wait_.reset();
  check();
}

void Subscriber::on_dropped(Duration open, Duration quiet) {
  if (quiet >= kQuiet || open >= options_.backoff_reset) maybe_reset_backoff();
}

void Subscriber::on_ended(Duration open) {
  if (open >= options_.backoff_reset) return reset_backoff();
  // In order, or not: that is the watcher's to know.
  if (open >= kInOrder) maybe_reset_backoff();
}

// ---------------------------------------------------------------- the cache

void Subscriber::check() {
  if (!verdict_.ok()) return;
  if (!store().ready()) {
    verdict_.expect(Guarantee::whole_list,
                    syncs_ == 0 && store().size() == 0 && store().keys().empty(),
                    [&] { return name + ": a reader sees a list that is not whole"; });
    return;
  }
  check_store(Guarantee::exact_cache);
}

void Subscriber::check_store(Guarantee as) {
  if (lost_) return;
  verdict_.expect(as, number(store().resource_version()) == position_, [&] {
    return fmt::format("{}: the store is at {}, told was {}", name, store().resource_version(),
                       position_);
  });
  const SimState wanted = server_.cluster().state_at(view, position_);
  std::string problem = difference(wanted);
  if (problem.empty()) problem = index_difference(wanted);
  verdict_.expect(as, problem.empty(),
                  [&] { return fmt::format("{}: at version {}: {}", name, position_, problem); });
  if (problem.empty()) check_text(wanted);
}

// However it came, it is one text: that of the server, with its type and without managedFields.
void Subscriber::check_text(const SimState& wanted) {
  for (const auto& [key, object] : wanted) {
    Known& known = known_.at(key);
    if (std::exchange(known.compared, true)) continue;
    const std::string text = stored_text(view.kind, object);
    const core::ObjectKey named{key.first, key.second};
    const auto stored = store().get(named);
    const bool deep = object.shape == Shape::deep;
    const bool same = stored && stored->json == text && stored->reduced == deep &&
                      stored->managers_text == kManagersLeft;
    verdict_.expect(Guarantee::same_result, same, [&] {
      return fmt::format("{}: {} is kept as {:.300}, managers {}, where the server has {:.300}",
                         name, named.str(), stored ? stored->json : "none",
                         stored ? stored->managers_text : "none", text);
    });
  }
}

void Subscriber::compare_twin() {
  if (!twin_ || !verdict_.ok()) return;
  const std::string problem = twin_->difference(*reflector_);
  verdict_.expect(Guarantee::same_result, problem.empty(),
                  [&] { return fmt::format("{}: {}", name, problem); });
}

std::string Subscriber::difference(const SimState& wanted) const {
  if (store().size() != wanted.size()) {
    return fmt::format("the cache has {} objects, the server {}", store().size(), wanted.size());
  }
  if (known_.size() != wanted.size()) {
    return fmt::format("{} objects were told, the server has {}", known_.size(), wanted.size());
  }
  for (const auto& [key, object] : wanted) {
    const std::string where = key.first + "/" + key.second;
    const auto stored = store().get({key.first, key.second});
    if (!stored) return where + " is not in the cache";
    if (stored->meta.uid != object.uid ||
        number(stored->meta.resource_version) != object.revision) {
      return where + " is cached in another version";
    }
    if (object.shape != Shape::deep && stored->json.find(data_of(object)) == std::string::npos) {
      return where + " is cached with another content";
    }
    if (stored->json.find("managedFields") != std::string::npos) {
      return where + " is cached with managedFields";
    }
    const auto it = known_.find(key);
    if (it == known_.end()) return where + " was never told";
    if (it->second.json != stored->json) return where + " was told otherwise than it is cached";
  }
  return "";
}

std::string Subscriber::index_difference(const SimState& wanted) const {
  const auto check = [](const std::vector<core::ObjectKey>& found, const SimState& all,
                        const auto& belongs) {
    std::set<SimKey> keys;
    for (const auto& key : found) keys.insert({key.namespace_, key.name});
    return std::all_of(all.begin(), all.end(),
                       [&](const auto& entry) {
                         return belongs(entry.second) == (keys.count(entry.first) > 0);
                       }) &&
           keys.size() == found.size();
  };
  const std::uint64_t turn = (position_ + wanted.size()) % 3;
  if (!check(store().keys_with_label("parity", "p1"), wanted,
             [](const SimObject& object) { return object.value % 2 == 1; })) {
    return "the label index is wrong";
  }
  if (!check(store().keys_owned_by(fmt::format("own{}", turn)), wanted,
             [turn](const SimObject& object) { return object.value % 3 == turn; })) {
    return "the owner index is wrong";
  }
  return "";
}

bool Subscriber::converged() const {
  if (lost_ || !store().ready() || reflector_->last_failure()) return false;
  return difference(server_.cluster().state_at(view, server_.cluster().revision())).empty();
}

std::string Subscriber::describe() const {
  return fmt::format("{} (at {}{}, server at {}): {}; last failure: {}", name, position_,
                     lost_ ? ", lost" : "", server_.cluster().revision(),
                     difference(server_.cluster().state_at(view, server_.cluster().revision())),
                     reflector_->last_failure().value_or("none"));
}

}  // namespace kubewatch::model
