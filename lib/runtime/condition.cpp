// How conditions combine.
#include "runtime/condition.hpp"

#include "base/json.hpp"

namespace kubewatch::runtime {

namespace {

std::string joined(const Verdict& a, const Verdict& b) {
  if (a.reason.empty() || b.reason.empty()) return a.reason + b.reason;
  return a.reason + "; " + b.reason;
}

Condition::Reads what_both_read(const Condition& a, const Condition& b) {
  using Reads = Condition::Reads;
  const bool metadata = a.reads() == Reads::metadata && b.reads() == Reads::metadata;
  return metadata ? Reads::metadata : Reads::content;
}

}  // namespace

Condition not_(Condition condition) {
  std::string text = "not (" + condition.text() + ")";
  const Condition::Reads reads = condition.reads();
  return {std::move(text),
          [condition = std::move(condition)](const Json* object) {
            if (condition.look(object).is_met()) return Verdict::not_yet(condition.text());
            return Verdict::met();
          },
          reads};
}

Condition and_(Condition a, Condition b) {
  std::string text = a.text() + " and " + b.text();
  const Condition::Reads reads = what_both_read(a, b);
  return {std::move(text),
          [a = std::move(a), b = std::move(b)](const Json* object) {
            const Verdict one = a.look(object);
            const Verdict other = b.look(object);
            if (one.is_failed()) return one;
            if (other.is_failed()) return other;
            if (one.is_met() && other.is_met()) return Verdict::met();
            return Verdict::not_yet(joined(one, other));
          },
          reads};
}

Condition or_(Condition a, Condition b) {
  std::string text = a.text() + " or " + b.text();
  const Condition::Reads reads = what_both_read(a, b);
  return {std::move(text),
          [a = std::move(a), b = std::move(b)](const Json* object) {
            const Verdict one = a.look(object);
            const Verdict other = b.look(object);
            if (one.is_met() || other.is_met()) return Verdict::met();
            if (one.is_failed() && other.is_failed()) return Verdict::failed(joined(one, other));
            return Verdict::not_yet(joined(one, other));
          },
          reads};
}

}  // namespace kubewatch::runtime
