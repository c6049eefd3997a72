// How conditions combine.
#include "runtime/condition.hpp"

#include "base/json.hpp"

namespace kubewatch::runtime {

namespace {

std::string joined(const Verdict& a, const Verdict& b) {
  if (a.reason.empty() || b.reason.empty()) return a.reason + b.reason;
  return a.reason + "; " + b.reason;
}

}  // namespace

Condition not_(Condition condition) {
  std::string text = "not (" + condition.text() + ")";
  return {std::move(text), [condition = std::move(condition)](const Json* object) {
            if (condition.look(object).is_met()) return Verdict::not_yet(condition.text());
            return Verdict::met();
          }};
}

Condition and_(Condition a, Condition b) {
  std::string text = a.text() + " and " + b.text();
  return {std::move(text), [a = std::move(a), b = std::move(b)](const Json* object) {
            const Verdict one = a.look(object);
            const Verdict other = b.look(object);
            if (one.is_failed()) return one;
            if (other.is_failed()) return other;
            if (one.is_met() && other.is_met()) return Verdict::met();
            return Verdict::not_yet(joined(one, other));
          }};
}

Condition or_(Condition a, Condition b) {
  std::string text = a.text() + " or " + b.text();
  return {std::move(text), [a = std::move(a), b = std::move(b)](const Json* object) {
            const Verdict one = a.look(object);
            const Verdict other = b.look(object);
            if (one.is_met() || other.is_met()) return Verdict::met();
            if (one.is_failed() && other.is_failed()) return Verdict::failed(joined(one, other));
            return Verdict::not_yet(joined(one, other));
          }};
}

}  // namespace kubewatch::runtime
