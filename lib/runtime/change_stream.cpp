// The stages of a ChangeStream.
#include "runtime/change_stream.hpp"

#include <map>
#include <unordered_map>
#include <utility>

namespace kubewatch::runtime {

class ChangeStream::Stage {
 public:
  virtual ~Stage() = default;
  // The change that goes on: the given one, or an edited copy in `scratch`; null when it ends here.
  virtual const StoreChange* pass(TimePoint now, const StoreChange& change,
                                  StoreChange& scratch) = 0;
  virtual std::optional<TimePoint> next_due() const { return std::nullopt; }
  // What was kept back and is due.
  virtual std::vector<StoreChange> take(TimePoint /*now*/) { return {}; }
};

namespace {

class FilterStage : public ChangeStream::Stage {
 public:
  explicit FilterStage(std::function<bool(TimePoint, const StoreChange&)> wanted)
      : wanted_(std::move(wanted)) {}
  const StoreChange* pass(TimePoint now, const StoreChange& change, StoreChange&) override {
    return wanted_(now, change) ? &change : nullptr;
  }

 private:
  std::function<bool(TimePoint, const StoreChange&)> wanted_;
};

class ModifyStage : public ChangeStream::Stage {
 public:
  explicit ModifyStage(std::function<void(StoreChange&)> edit) : edit_(std::move(edit)) {}
  const StoreChange* pass(TimePoint, const StoreChange& change, StoreChange& scratch) override {
    scratch = change;
    edit_(scratch);
    return &scratch;
  }

 private:
  std::function<void(StoreChange&)> edit_;
};

// The net of two changes of one object, one after the other; the second is not the creation of
// another object.
StoreChange merged(StoreChange first, const StoreChange& second) {
  StoreChange out = second;
  out.initial = first.initial && second.initial;
  out.relisted = first.relisted || second.relisted;
  const bool created = first.type == ChangeType::added;
  if (created && second.type == ChangeType::deleted) return out;  // it was there, for a moment
  if (created) out.type = ChangeType::added;
  out.previous_meta = std::move(first.previous_meta);
  out.previous_json = std::move(first.previous_json);
  return out;
}

class DebounceStage : public ChangeStream::Stage {
 public:
  explicit DebounceStage(Duration window) : window_(window) {}

  const StoreChange* pass(TimePoint now, const StoreChange& change, StoreChange&) override {
    const core::ObjectKey key = change.meta.key();
    const auto [it, fresh] = kept_.try_emplace(key);
    if (fresh) due_.emplace(now + window_, key);
    std::vector<StoreChange>& changes = it->second;
    if (changes.empty() || changes.back().type == ChangeType::deleted) {
      changes.push_back(change);
    } else {
      changes.back() = merged(std::move(changes.back()), change);
    }
    // Recreated over and over: the first deletion and the last state tell it all.
    if (changes.size() > kMostKept) changes.erase(changes.begin() + 1, changes.end() - 1);
    return nullptr;
  }

  std::optional<TimePoint> next_due() const override {
    if (due_.empty()) return std::nullopt;
    return due_.begin()->first;
  }

  std::vector<StoreChange> take(TimePoint now) override {
    std::vector<StoreChange> out;
    while (!due_.empty() && due_.begin()->first <= now) {
      auto node = kept_.extract(due_.begin()->second);
      due_.erase(due_.begin());
      for (StoreChange& change : node.mapped()) out.push_back(std::move(change));
    }
    return out;
  }

 private:
  static constexpr std::size_t kMostKept = 2;
  Duration window_;
  std::unordered_map<core::ObjectKey, std::vector<StoreChange>, core::ObjectKeyHash> kept_;
  std::multimap<TimePoint, core::ObjectKey> due_;
};

}  // namespace

ChangeStream::ChangeStream() = default;
ChangeStream::~ChangeStream() = default;
ChangeStream::ChangeStream(ChangeStream&&) noexcept = default;
ChangeStream& ChangeStream::operator=(ChangeStream&&) noexcept = default;

ChangeStream& ChangeStream::applied() {
  return filter([](const StoreChange& change) { return change.type != ChangeType::deleted; });
}

ChangeStream& ChangeStream::deleted() {
  return filter([](const StoreChange& change) { return change.type == ChangeType::deleted; });
}

ChangeStream& ChangeStream::live() {
  return filter([](const StoreChange& change) { return !change.initial; });
}

ChangeStream& ChangeStream::filter(std::function<bool(const StoreChange&)> wanted) {
  stages_.push_back(std::make_unique<FilterStage>(
      [wanted = std::move(wanted)](TimePoint, const StoreChange& change) {
        return wanted(change);
      }));
  return *this;
}

ChangeStream& ChangeStream::predicate(Predicate predicate, PredicateOptions options) {
  auto memory = std::make_shared<PredicateFilter>(std::move(predicate), options);
  stages_.push_back(std::make_unique<FilterStage>(
      [memory](TimePoint now, const StoreChange& change) { return memory->passes(now, change); }));
  return *this;
}

ChangeStream& ChangeStream::modify(std::function<void(StoreChange&)> edit) {
  stages_.push_back(std::make_unique<ModifyStage>(std::move(edit)));
  return *this;
}

ChangeStream& ChangeStream::tap(Handler handler) {
  return filter([handler = std::move(handler)](const StoreChange& change) {
    handler(change);
    return true;
  });
}

ChangeStream& ChangeStream::debounce(Duration window) {
  if (window > Duration{0}) stages_.push_back(std::make_unique<DebounceStage>(window));
  return *this;
}

ChangeStream& ChangeStream::to(Handler handler) {
  handler_ = std::move(handler);
  return *this;
}

void ChangeStream::push(TimePoint now, const StoreChange& change) {
  run(0, now, change);
}

void ChangeStream::run(std::size_t stage, TimePoint now, const StoreChange& change) {
  // Two, because an edit may follow an edit and must not write over what it reads.
  StoreChange scratch[2];
  const StoreChange* current = &change;
  for (; stage < stages_.size(); ++stage) {
    StoreChange& free = current == &scratch[0] ? scratch[1] : scratch[0];
    current = stages_[stage]->pass(now, *current, free);
    if (current == nullptr || stopped_) return;
  }
  if (handler_) handler_(*current);
}

std::optional<TimePoint> ChangeStream::next_due() const {
  std::optional<TimePoint> earliest;
  for (const auto& stage : stages_) {
    const auto due = stage->next_due();
    if (due && (!earliest || *due < *earliest)) earliest = due;
  }
  return earliest;
}

void ChangeStream::advance(TimePoint now) {
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    for (const StoreChange& change : stages_[i]->take(now)) {
      if (stopped_) return;
      run(i + 1, now, change);
    }
  }
}

}  // namespace kubewatch::runtime
