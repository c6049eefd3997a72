// What can be waited for, as a value: a question about one object (or its absence) with three
// answers, and how such questions combine. Pure. The stock ones are in stock_conditions.hpp,
// kubectl's forms in wait_condition.hpp; await.hpp does the waiting.
#pragma once

#include <functional>
#include <string>

#include "base/json_fwd.hpp"

namespace kubewatch::runtime {

struct Verdict {
  enum class State {
    met,
    not_yet,
    failed,  // waiting longer is pointless: only a change that somebody makes could help
  };
  State state = State::not_yet;
  std::string reason;  // one line for people: what is seen instead, or why it failed

  static Verdict met() { return {State::met, ""}; }
  static Verdict not_yet(std::string reason) { return {State::not_yet, std::move(reason)}; }
  static Verdict failed(std::string reason) { return {State::failed, std::move(reason)}; }
  bool is_met() const { return state == State::met; }
  bool is_failed() const { return state == State::failed; }
};

class Condition {
 public:
  // `object` null: it does not exist. Must not throw.
  using Look = std::function<Verdict(const Json* object)>;
  // What it needs to know of an object: of one that is too big or too deep only the metadata is
  // kept, and whoever asks for more would take what is not known for what is not there.
  enum class Reads { content, metadata };
  // `text` names it in messages: "the Pod is running".
  Condition(std::string text, Look look, Reads reads = Reads::content)
      : text_(std::move(text)), look_(std::move(look)), reads_(reads) {}

  Verdict look(const Json* object) const { return look_(object); }
  const std::string& text() const { return text_; }
  Reads reads() const { return reads_; }

 private:
  std::string text_;
  Look look_;
  Reads reads_;
};

// Met while `condition` is not; a failed condition can never be met, so its opposite is.
Condition not_(Condition condition);
// Met when both are; failed as soon as one failed.
Condition and_(Condition a, Condition b);
// Met when one is; failed once both failed.
Condition or_(Condition a, Condition b);

}  // namespace kubewatch::runtime
