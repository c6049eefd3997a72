#include "runtime/await.hpp"

#include <fmt/format.h>

#include "client/target.hpp"
#include "core/status.hpp"
#include "runtime/give_up.hpp"
#include "runtime/object_watch.hpp"
#include "runtime/stock_conditions.hpp"

namespace kubewatch::runtime {

namespace {

// One wait. Ends are posted: the watch is not destroyed from inside its own callback.
class Await : public std::enable_shared_from_this<Await> {
 public:
  Await(client::Client& client, const core::ResourceType& type, core::ObjectKey key,
        Condition condition, AwaitOptions options, AwaitDone done)
      : client_(client),
        what_(type.qualified_plural() + " " + key.str()),
        type_(type),
        key_(std::move(key)),
        condition_(std::move(condition)),
        options_(std::move(options)),
        done_(std::move(done)) {
    if (options_.gives_up) give_up_ = GiveUp(options_.gives_up);
  }

  void start(base::Random& random) {
    ObjectWatch::Callbacks callbacks;
    callbacks.on_change = [this] { look(); };
    callbacks.on_failure = [this](WatcherFailure, const Error& error, Duration retry_in) {
      if (!give_up_.failed(error, retry_in, watch_->synced())) return;
      end(Error(error).with_context(waiting()));
    };
    callbacks.on_works = [this] { give_up_.works(); };
    watch_ = std::make_unique<ObjectWatch>(client_, type_, key_, options_.watcher, random,
                                           std::move(callbacks));
    if (options_.deadline > Duration::zero()) {
      timer_ = client_.loop().after(options_.deadline, [this] { time_out(); });
    }
    watch_->start();
  }

  void cancel() {
    ended_ = true;
    timer_.reset();
    watch_.reset();
  }

 private:
  std::string waiting() const {
    return fmt::format("waiting until {} ({})", condition_.text(), what_);
  }

  void look() {
    const Json* object = watch_->object();
    if (watch_->reduced() && condition_.reads() == Condition::Reads::content) {
      return end(Error(ErrorKind::too_large, why_reduced(what_)).with_context(waiting()));
    }
    const Verdict verdict = condition_.look(object);
    if (verdict.state == Verdict::State::not_yet) return;
    Awaited out;
    out.met = verdict.is_met();
    out.reason = verdict.reason;
    if (object != nullptr) out.object = *object;
    end(std::move(out));
  }

  void time_out() {
    std::string seen = "no answer from the server yet";
    if (watch_->synced()) seen = condition_.look(watch_->object()).reason;
    // What was seen before it began to fail may be long over.
    if (const Error* failure = watch_->failure()) {
      seen = failure->render() + (watch_->synced() ? "; last seen: " + seen : "");
    }
    end(Error(ErrorKind::timeout,
              "timed out after " + base::format_duration(options_.deadline) + ": " + seen)
            .with_context(waiting()));
  }

  void end(Result<Awaited> result) {
    if (ended_) return;
    ended_ = true;
    client_.loop().post([weak = weak_from_this(), result = std::move(result)]() mutable {
      const auto self = weak.lock();
      if (!self || !self->watch_) return;  // canceled meanwhile
      self->cancel();
      const AwaitDone done = std::move(self->done_);
      done(std::move(result));
    });
  }

  client::Client& client_;
  const std::string what_;
  const core::ResourceType type_;
  const core::ObjectKey key_;
  const Condition condition_;
  AwaitOptions options_;
  GiveUp give_up_;
  AwaitDone done_;
  std::unique_ptr<ObjectWatch> watch_;
  loop::Timer timer_;
  bool ended_ = false;
};

struct AwaitPending : client::Pending {
  std::shared_ptr<Await> await;
  ~AwaitPending() override { await->cancel(); }
};

// First the delete, then the wait: whichever is pending. Both live in it, so it may be destroyed in
// either's callback.
struct DeletePending : client::Pending {
  client::PendingPtr current;
};

// Of the object that is dying, or of the Status that says it is gone.
std::string uid_of(const Json& answer) {
  const std::string uid = base::string_at(answer, {"metadata", "uid"});
  return uid.empty() ? base::string_at(answer, {"details", "uid"}) : uid;
}

client::PendingPtr refuse(client::Client& client, const core::ResourceType& type,
                          const core::ObjectKey& key, Error why, AwaitDone done) {
  return client::refuse(
      client.loop(),
      std::move(why).with_context("waiting for " + type.qualified_plural() + " " + key.str()),
      std::move(done));
}

}  // namespace

client::PendingPtr await_condition(client::Client& client, const core::ResourceType& type,
                                   const core::ObjectKey& key, Condition condition,
                                   AwaitOptions options, base::Random& random, AwaitDone done) {
  // A watch for no name is one of all names.
  if (auto checked = client::check_target(type, key); !checked.ok()) {
    return refuse(client, type, key, std::move(checked).error(), std::move(done));
  }
  auto pending = std::make_unique<AwaitPending>();
  pending->await = std::make_shared<Await>(client, type, key, std::move(condition),
                                           std::move(options), std::move(done));
  pending->await->start(random);
  return pending;
}

client::PendingPtr delete_and_finalize(client::Client& client, const core::ResourceType& type,
                                       const core::ObjectKey& key, const core::DeleteParams& params,
                                       AwaitOptions options, base::Random& random, AwaitDone done) {
  if (params.dry_run) {
    return refuse(client, type, key,
                  Error(ErrorKind::invalid, "a dry run deletes nothing that could be waited for"),
                  std::move(done));
  }
  auto pending = std::make_unique<DeletePending>();
  pending->current = client.remove(
      type, key, params,
      [&client, &random, type, key, options = std::move(options), done = std::move(done),
       outer = pending.get()](Result<Json> answer) mutable {
        AwaitDone tell = std::move(done);  // it may destroy this closure
        if (!answer.ok() && core::is_absent_object(answer.error())) {
          return tell(Awaited{true, "", {}});
        }
        if (!answer.ok()) return tell(std::move(answer).error());
        auto next = await_condition(client, type, key, conditions::deleted(uid_of(*answer)),
                                    std::move(options), random, std::move(tell));
        outer->current = std::move(next);  // destroys this closure: nothing after it
      });
  return pending;
}

}  // namespace kubewatch::runtime
