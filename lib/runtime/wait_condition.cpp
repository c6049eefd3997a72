#include "runtime/wait_condition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "core/json_path.hpp"
#include "jq/jq.hpp"
#include "runtime/object_status.hpp"
#include "runtime/rollout_status.hpp"

namespace kubewatch::runtime {

namespace {

struct Delete {};
struct Create {};
struct Ready {};
struct Rollout {};
struct Filter {
  jq::Program program;
};
struct StatusOf {
  std::string type;
  std::string status;
};
struct Path {
  core::JsonPath path;
  std::string text;
  std::optional<std::string> value;  // absent: anything will do
};

bool same_text(std::string_view a, std::string_view b) {
  return base::to_lower(a) == base::to_lower(b);
}

std::string_view unquote(std::string_view text) {
  if (text.size() >= 2 && (text.front() == '\'' || text.front() == '"') &&
      text.front() == text.back()) {
    return text.substr(1, text.size() - 2);
  }
  return text;
}

// Where the path ends and "=value" begins: an '=' outside brackets, braces and quotes.
std::size_t path_end(std::string_view text) {
  std::size_t depth = 0;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != '\0') {
      if (c == '\\') {
        ++i;
      } else if (c == quote) {
        quote = '\0';
      }
    } else if (depth > 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '{' || c == '[' || c == '(') {
      ++depth;
    } else if ((c == '}' || c == ']' || c == ')') && depth > 0) {
      --depth;
    } else if (c == '=' && depth == 0) {
      return i;
    }
  }
  return text.size();
}

Result<Path> parse_path(std::string_view text) {
  // A shell's quotes that came through: 'jsonpath'='{.a}'=3, or quotes around all of it.
  if (!text.empty() && (text.front() == '\'' || text.front() == '"')) {
    const std::size_t close = text.find(text.front(), 1);
    if (close == text.size() - 1) {
      text = unquote(text);
    } else if (close != std::string_view::npos && text[close + 1] == '=') {
      KW_ASSIGN(auto out, parse_path(text.substr(1, close - 1)));
      if (out.value) return Error(ErrorKind::invalid, "two values in one jsonpath condition");
      out.value = std::string(base::trim(unquote(text.substr(close + 2))));
      return out;
    }
  }
  const std::size_t end = path_end(text);
  Path out;
  out.text = std::string(base::trim(text.substr(0, end)));
  KW_ASSIGN(out.path, core::JsonPath::parse(out.text));
  if (end < text.size()) {
    out.value = std::string(base::trim(unquote(text.substr(end + 1))));
    if (out.value->empty()) {
      return Error(ErrorKind::invalid,
                   "a jsonpath condition needs a value after '=', like "
                   "jsonpath='{.status.readyReplicas}'=3");
    }
  }
  return out;
}

// The innermost part of a status around `value`, a place in it, that tells its generation; `of`
// does for all of `at`. Null: none, or the place is not in there.
const Json* telling_generation(const Json& at, const Json* value, const Json* of) {
  if (at.is_object() && at.contains("observedGeneration")) of = &at;
  if (&at == value) return of;
  if (!at.is_structured()) return nullptr;
  for (const Json& one : at) {
    if (const Json* found = telling_generation(one, value, of)) return found;
  }
  return nullptr;
}

// What a path leads to in a status, whichever way it goes there, proves nothing while that is of an
// older generation (kubectl reports success here); a condition may tell its own. Which generation
// was observed is true in any case. And a deletion raises the generation, which nobody need observe
// any more: of an object that is being deleted the status is what there is.
std::optional<Behind> behind_at(const Json& object, const Json* value) {
  const Json* status = base::find(object, {"status"});
  if (status == nullptr || !base::string_at(object, {"metadata", "deletionTimestamp"}).empty()) {
    return std::nullopt;
  }
  const Json* of = telling_generation(*status, value, nullptr);
  if (of == nullptr || value == base::find(*of, {"observedGeneration"})) return std::nullopt;
  return behind(object, of == status ? nullptr : of);
}

Result<bool> path_met(const Path& wanted, const Json& object) {
  // kubectl ends at each error. What the object may mend, as a list that is still empty, is waited
  // for here; not so the quotes around a number, which would only be seen at the end of the time.
  if (const auto strict = wanted.path.evaluate(object);
      !strict.ok() && core::is_type_mistake(strict.error())) {
    return Error(ErrorKind::invalid, strict.error().message());
  }
  const auto found = wanted.path.find(object);
  if (found.empty() || (found.size() == 1 && found[0]->is_null())) return false;
  if (behind_at(object, found.front())) return false;
  if (found.size() > 1) {
    return Error(ErrorKind::invalid, fmt::format("jsonpath {} leads to {} values, one is needed",
                                                 wanted.text, found.size()));
  }
  if (!wanted.value) return true;
  if (found[0]->is_structured()) {
    return Error(ErrorKind::invalid,
                 fmt::format("jsonpath {} leads to a list or an object, which cannot be compared "
                             "with a value",
                             wanted.text));
  }
  return base::trim(core::scalar_text(*found[0])) == *wanted.value;
}

// Of a Secret only what is known to be harmless: kubectl keeps all of it in an annotation as well,
// and wildcards lead there too.
bool is_secret_data(const Path& wanted, const Json& object) {
  if (base::string_at(object, {"kind"}) != "Secret") return false;
  const std::string first = wanted.path.first_field();
  if (first == "type" || first == "immutable" || first == "kind" || first == "apiVersion") {
    return false;
  }
  std::string_view text = wanted.text;
  if (text.starts_with('{')) text.remove_prefix(1);
  constexpr std::string_view kMetadata = ".metadata.";
  if (!text.starts_with(kMetadata)) return true;
  text.remove_prefix(kMetadata.size());
  for (const std::string_view harmless :
       {"name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp",
        "deletionTimestamp", "labels", "finalizers", "ownerReferences"}) {
    if (!text.starts_with(harmless)) continue;
    const std::string_view rest = text.substr(harmless.size());
    if (rest.empty() || rest.front() == '}' || rest.front() == '.' || rest.front() == '[') {
      return rest.find("..") != std::string_view::npos;
    }
  }
  return true;
}

std::string describe_path(const Path& wanted, const Json& object) {
  const auto found = wanted.path.find(object);
  if (found.empty()) {
    const auto strict = wanted.path.evaluate(object);
    if (strict.ok()) return fmt::format("{} is absent", wanted.text);
    return fmt::format("{} cannot be followed: {}", wanted.text, strict.error().message());
  }
  std::string out;
  if (found.size() > 1) {
    out = fmt::format("{} leads to {} values", wanted.text, found.size());
  } else if (found[0]->is_structured()) {
    out = fmt::format("{} is {}", wanted.text, found[0]->is_array() ? "a list" : "an object");
  } else if (is_secret_data(wanted, object)) {
    out = fmt::format("{} is another value (not shown: a Secret)", wanted.text);
  } else {
    out = fmt::format("{} is {}", wanted.text, core::scalar_text(*found[0]));
  }
  if (const auto late = behind_at(object, found.front())) {
    out += fmt::format(", of generation {}, now {}", late->observed, late->current);
  }
  return out;
}

std::string describe_deletion(const Json& object) {
  if (base::string_at(object, {"metadata", "deletionTimestamp"}).empty()) return "still exists";
  const auto names = base::strings_at(object, {"metadata", "finalizers"});
  if (names.empty()) return "is being deleted";
  return fmt::format("is being deleted, held by finalizers {}", base::join(names, ", "));
}

}  // namespace

struct WaitCondition::Impl {
  std::variant<Delete, Create, StatusOf, Path, Ready, Rollout, Filter> what;
};

namespace {

Result<StatusOf> parse_status_of(std::string_view rest, std::string_view whole) {
  const std::size_t equals = rest.find('=');
  StatusOf out{std::string(rest.substr(0, equals)), "true"};
  if (equals != std::string_view::npos) out.status = rest.substr(equals + 1);
  if (out.type.empty() || out.status.empty()) {
    return Error(ErrorKind::invalid, fmt::format("invalid condition \"{}\": use condition=Type or "
                                                 "condition=Type=Status",
                                                 whole));
  }
  return out;
}

Judgement of_status(const KStatus& status) {
  Judgement out;
  if (status.status == KState::current) out.state = Judgement::State::met;
  if (status.status == KState::failed) out.state = Judgement::State::failed;
  out.current = fmt::format("{}: {}", to_string(status.status), status.message);
  out.wanted = status.wanted;
  out.rule = status.rule;
  out.changes_at = status.changes_at;
  return out;
}

// A Secret's values are nobody's business here.
bool is_secret(const Json& object) {
  return base::string_at(object, {"kind"}) == "Secret";
}

Judgement judge_program(const jq::Program& program, const Json& object) {
  Judgement out;
  out.rule = "jq";
  out.wanted = "true";
  const auto outputs = program.run(object);
  if (!outputs.ok()) {
    // What a program cannot do with an object as it is now it may do later: a list that is null.
    if (outputs.error().kind() != ErrorKind::invalid) out.state = Judgement::State::invalid;
    // jq's words quote the values that it could not work with.
    out.current = is_secret(object) ? "an error (not shown: a Secret)" : outputs.error().render();
    return out;
  }
  if (outputs->empty()) {
    out.current = "no output";
    return out;
  }
  const Json& first = outputs->front();
  const bool truth = !first.is_null() && !(first.is_boolean() && !first.get<bool>());
  if (truth) out.state = Judgement::State::met;
  if (first.is_structured()) {
    out.current = first.is_array() ? "a list" : "an object";
  } else if (is_secret(object) && !first.is_boolean() && !first.is_null()) {
    out.current = "a value (not shown: a Secret)";
  } else {
    out.current = core::scalar_text(first);
  }
  return out;
}

}  // namespace

Result<WaitCondition> WaitCondition::parse(std::string_view text) {
  const std::string_view trimmed = base::trim(text);
  auto impl = std::make_shared<Impl>();
  if (same_text(trimmed, "delete")) {
    impl->what = Delete{};
  } else if (same_text(trimmed, "create")) {
    impl->what = Create{};
  } else if (same_text(trimmed, "ready")) {
    impl->what = Ready{};
  } else if (same_text(trimmed, "rollout")) {
    impl->what = Rollout{};
  } else if (trimmed.starts_with("jq=")) {
    if (base::trim(trimmed.substr(3)).empty()) {
      return Error(ErrorKind::invalid, "jq= needs a program, like jq=.status.ready");
    }
    KW_ASSIGN(auto program, jq::Program::compile(trimmed.substr(3)));
    impl->what = Filter{std::move(program)};
  } else if (trimmed.starts_with("condition=")) {
    KW_ASSIGN(auto condition, parse_status_of(trimmed.substr(10), trimmed));
    impl->what = std::move(condition);
  } else if (trimmed.starts_with("jsonpath=")) {
    KW_ASSIGN(auto path, parse_path(trimmed.substr(9)));
    impl->what = std::move(path);
  } else {
    return Error(ErrorKind::invalid,
                 fmt::format("unrecognized condition \"{}\": use ready, rollout, delete, create, "
                             "condition=Type[=Status], jsonpath={{.path}}[=value] or jq=PROGRAM",
                             trimmed));
  }
  WaitCondition out;
  out.impl_ = std::move(impl);
  out.text_ = std::string(trimmed);
  return out;
}

Judgement WaitCondition::judge(const Json* object, WallTime now,
                               const KStatusOptions& options) const {
  if (std::holds_alternative<Ready>(impl_->what)) return of_status(kstatus(object, now, options));
  if (std::holds_alternative<Rollout>(impl_->what)) {
    return of_status(rollout_status(object, now, options));
  }
  const auto* filter = std::get_if<Filter>(&impl_->what);
  if (filter != nullptr && object != nullptr) return judge_program(filter->program, *object);
  Judgement out;
  out.current = describe(object);
  if (waits_for_deletion()) {
    out.rule = "exists";
    out.wanted = "gone";
  } else if (const auto* wanted = std::get_if<StatusOf>(&impl_->what)) {
    out.rule = "status.conditions";
    out.wanted = wanted->type + "=" + wanted->status;
  } else if (const auto* path = std::get_if<Path>(&impl_->what)) {
    out.rule = "jsonpath";
    out.wanted = path->value.value_or("any value");
  } else {
    out.rule = filter != nullptr ? "jq" : "exists";
    out.wanted = filter != nullptr ? "true" : "it exists";
  }
  const auto found = met(object);
  if (!found.ok()) {
    out.state = Judgement::State::invalid;
    out.current = found.error().render();
  } else if (*found) {
    out.state = Judgement::State::met;
  }
  return out;
}

Result<bool> WaitCondition::met(const Json* object) const {
  if (waits_for_deletion()) return object == nullptr;
  if (object == nullptr) return false;
  if (const auto* wanted = std::get_if<StatusOf>(&impl_->what)) {
    const Json* condition = find_condition(*object, wanted->type);
    return condition != nullptr && !behind(*object, condition) &&
           same_text(base::string_at(*condition, {"status"}), wanted->status);
  }
  if (const auto* path = std::get_if<Path>(&impl_->what)) return path_met(*path, *object);
  if (waits_for_creation()) return true;
  const Judgement judgement = judge(object, WallTime::max());
  if (judgement.state == Judgement::State::invalid) {
    return Error(ErrorKind::invalid, judgement.current);
  }
  return judgement.state == Judgement::State::met;
}

std::string WaitCondition::describe(const Json* object) const {
  if (object == nullptr) return "does not exist";
  if (waits_for_deletion()) return describe_deletion(*object);
  if (const auto* wanted = std::get_if<StatusOf>(&impl_->what)) {
    return describe_condition(*object, wanted->type);
  }
  if (const auto* path = std::get_if<Path>(&impl_->what)) return describe_path(*path, *object);
  return waits_for_creation() ? "exists" : judge(object, WallTime::max()).current;
}

Condition WaitCondition::condition() const {
  return {text_, [self = *this](const Json* object) {
            const auto found = self.met(object);
            if (!found.ok()) return Verdict::failed(found.error().render());
            return *found ? Verdict::met() : Verdict::not_yet(self.describe(object));
          }};
}

std::string WaitCondition::path() const {
  const auto* path = std::get_if<Path>(&impl_->what);
  return path == nullptr ? "" : path->text;
}

bool WaitCondition::waits_for_deletion() const {
  return std::holds_alternative<Delete>(impl_->what);
}
bool WaitCondition::waits_for_creation() const {
  return std::holds_alternative<Create>(impl_->what);
}

}  // namespace kubewatch::runtime
