#include "client/shared_login.hpp"

#include <map>
#include <utility>
#include <vector>

namespace kubewatch::client {
namespace {

using Key = std::pair<loop::EventLoop*, std::string>;

class SharedLogin;

std::map<Key, std::weak_ptr<SharedLogin>>& all_shared() {
  static std::map<Key, std::weak_ptr<SharedLogin>> instance;
  return instance;
}

// What one transport waits for, and which login it has.
struct Asker {
  std::function<void(Result<Login>)> done;
  std::uint64_t generation = 0;
};
using AskerPtr = std::shared_ptr<Asker>;

// Whether the newest login is still good is LoginState's to say, of all transports together: what
// one of them was refused the others do not get, nor is another one asked for by each of them.
class SharedLogin : public std::enable_shared_from_this<SharedLogin> {
 public:
  SharedLogin(Key key, std::unique_ptr<LoginSource> source)
      : loop_(*key.first), key_(std::move(key)), source_(std::move(source)) {}
  ~SharedLogin() { all_shared().erase(key_); }
  SharedLogin(const SharedLogin&) = delete;
  SharedLogin& operator=(const SharedLogin&) = delete;

  void fetch(const AskerPtr& asker, bool refused) {
    if (refused) (void)state_.refused(asker->generation, loop_.now());
    if (state_.usable(loop_.wall())) {
      // While there is one who asks, there is the shared login.
      loop_.post([this, weak = std::weak_ptr(asker)] {
        if (const auto one = weak.lock()) give(*one, state_.login());
      });
      return;
    }
    waiting_.push_back(asker);
    if (std::exchange(fetching_, true)) return;
    source_->fetch(state_.was_refused(), [this](Result<Login> login) { fetched(login); });
  }

 private:
  void fetched(const Result<Login>& login) {
    const auto keep = shared_from_this();
    fetching_ = false;
    if (login.ok()) (void)state_.took(*login, loop_.now());
    for (const auto& weak : std::exchange(waiting_, {})) {
      if (const auto one = weak.lock()) give(*one, login);
    }
  }

  void give(Asker& asker, Result<Login> login) {
    if (login.ok()) asker.generation = state_.generation();
    if (const auto done = std::exchange(asker.done, nullptr)) done(std::move(login));
  }

  loop::EventLoop& loop_;
  const Key key_;
  LoginState state_;
  bool fetching_ = false;
  std::vector<std::weak_ptr<Asker>> waiting_;
  // Last: its callback uses what stands above.
  std::unique_ptr<LoginSource> source_;
};

class SharedSource : public LoginSource {
 public:
  explicit SharedSource(std::shared_ptr<SharedLogin> shared) : shared_(std::move(shared)) {}

  void fetch(bool refused, std::function<void(Result<Login>)> done) override {
    asker_->done = std::move(done);
    shared_->fetch(asker_, refused);
  }

 private:
  std::shared_ptr<SharedLogin> shared_;
  AskerPtr asker_ = std::make_shared<Asker>();
};

}  // namespace

Result<std::unique_ptr<LoginSource>> share_login_source(loop::EventLoop& loop,
                                                        const std::string& key,
                                                        const MakeLoginSource& make) {
  const Key whole{&loop, key};
  std::shared_ptr<SharedLogin> shared;
  if (const auto found = all_shared().find(whole); found != all_shared().end()) {
    shared = found->second.lock();
  }
  if (!shared) {
    KW_ASSIGN(auto source, make());
    shared = std::make_shared<SharedLogin>(whole, std::move(source));
    all_shared()[whole] = shared;
  }
  return std::unique_ptr<LoginSource>(std::make_unique<SharedSource>(std::move(shared)));
}

}  // namespace kubewatch::client
