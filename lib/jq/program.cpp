// Chooses between our evaluator and libjq, and enforces the limits on text, outputs and time.
#include <fmt/format.h>

#include <chrono>

#include "base/strings.hpp"
#include "jq/evaluator.hpp"
#include "jq/helper.hpp"
#include "jq/jq.hpp"
#include "jq/overruns.hpp"
#include "jq/parser.hpp"
#include "jq/reads.hpp"
#include "jq/tokens.hpp"
#include "jq/value.hpp"

namespace kubewatch::jq {

struct ProgramState {
  std::string text;
  NodePtr root;  // null: libjq's
  // Of all copies: what never ends for one object hardly ends for the next.
  mutable Overruns overruns;
};

namespace {

constexpr std::size_t kMaxProgram = 64U << 10U;

Result<void> check_text(std::string_view text) {
  if (text.size() > kMaxProgram) {
    return Error(ErrorKind::invalid,
                 fmt::format("a jq program of {} bytes, more than {}", text.size(), kMaxProgram));
  }
  if (!base::is_valid_utf8(text) || text.find('\0') != std::string_view::npos) {
    return Error(ErrorKind::invalid, "the jq program is not UTF-8 text");
  }
  return {};
}

// Our parser gave up; libjq has the last word. Ours is the better message because it has a
// position.
Result<void> check_with_libjq(const std::string& text, const Error& ours) {
  auto compiled = helper_compile(text);
  if (compiled.ok() || compiled.error().kind() == ErrorKind::unavailable) return compiled;
  if (ours.kind() != ErrorKind::unsupported) return Error(ErrorKind::invalid, ours.message());
  const Error& theirs = compiled.error();
  return Error(ErrorKind::invalid, fmt::format("{} ({})", ours.message(), theirs.message()));
}

Error with_program(Error error, const std::string& text) {
  return std::move(error).with_context(fmt::format("jq '{}'", text.substr(0, 200)));
}

TimePoint clock() {
  return std::chrono::floor<Duration>(std::chrono::steady_clock::now());
}

// Told without the time that is left: the same words as long as nothing changes.
Error paused(const ProgramState& state, const Limits& limits) {
  return with_program(
      Error(ErrorKind::timeout,
            fmt::format("it was not run: the last {} times it took too long (it has {}), and is "
                        "tried again {} after that",
                        state.overruns.in_a_row(), base::format_duration(limits.deadline),
                        base::format_duration(state.overruns.pause()))),
      state.text);
}

// What uses up its steps or memory before its time costs a thousand objects minutes as well: two
// million steps are a tenth of a second.
constexpr Duration kLong{20};

bool is_overrun(const Error& error, Duration took) {
  return error.kind() == ErrorKind::timeout ||
         (error.kind() == ErrorKind::too_large && took >= kLong);
}

// `evaluate`, unless the program has been taking too long.
template <class T, class Evaluate>
Result<T> timed(const ProgramState& state, const Limits& limits, const Evaluate& evaluate) {
  const TimePoint begin = clock();
  if (state.overruns.pauses(begin)) return paused(state, limits);
  Result<T> out = evaluate();
  const TimePoint end = clock();
  if (!out.ok() && is_overrun(out.error(), end - begin)) {
    state.overruns.overran(end);
  } else if (out.ok() || out.error().kind() != ErrorKind::unavailable) {  // it was run
    state.overruns.ended();
  }
  if (!out.ok()) return with_program(std::move(out).error(), state.text);
  return out;
}

Result<std::vector<Json>> run_native(const Node& root, const Json& input, const Limits& limits) {
  Evaluator evaluator(limits.deadline);
  std::vector<Json> outputs;
  std::size_t bytes = 0;
  bool limited = false;
  evaluator.eval(root, input, nullptr, [&](const Json& value) {
    bytes += to_text(value).size();
    limited = outputs.size() >= limits.max_outputs || bytes > limits.max_output_bytes;
    if (!limited) outputs.push_back(value);
    return !limited;
  });
  if (auto failure = evaluator.failure()) return *std::move(failure);
  if (limited) {
    return Error(ErrorKind::too_large, "the program has more output than allowed");
  }
  return outputs;
}

Result<bool> test_native(const Node& root, const Json& input, const Limits& limits) {
  Evaluator evaluator(limits.deadline);
  bool truth = false;
  evaluator.eval(root, input, nullptr, [&](const Json& value) {
    truth = is_truthy(value);
    return false;
  });
  if (auto failure = evaluator.failure()) return *std::move(failure);
  return truth;
}

}  // namespace

Result<Program> Program::compile(std::string_view text) {
  KW_TRY(check_text(text));
  KW_ASSIGN(const auto tokens, tokenize(text));
  KW_TRY(refuse_forbidden(text, tokens));
  auto state = std::make_shared<ProgramState>();
  state->text = text;
  auto root = parse_program(text, tokens);
  if (root.ok()) {
    state->root = *std::move(root);
    return Program(std::move(state));
  }
  // Deeper than anyone writes by hand: not worth trusting libjq's parser with.
  if (root.error().kind() == ErrorKind::too_large) {
    return Error(ErrorKind::invalid, root.error().message());
  }
  KW_TRY(check_with_libjq(state->text, root.error()));
  return Program(std::move(state));
}

Result<std::vector<Json>> Program::run(const Json& input, const Limits& limits) const {
  return timed<std::vector<Json>>(*state_, limits, [&] {
    return native() ? run_native(*state_->root, input, limits)
                    : helper_run(state_->text, input, limits);
  });
}

Result<bool> Program::test(const Json& input, const Limits& limits) const {
  return timed<bool>(*state_, limits, [&]() -> Result<bool> {
    if (native()) return test_native(*state_->root, input, limits);
    KW_ASSIGN(const auto outputs, helper_run(state_->text, input, limits, true));
    return !outputs.empty() && is_truthy(outputs.front());
  });
}

const std::string& Program::text() const {
  return state_->text;
}

bool Program::native() const {
  return state_->root != nullptr;
}

std::optional<std::vector<std::string>> Program::as_path() const {
  std::vector<std::string> keys;
  const Node* node = state_->root.get();
  while (node != nullptr && node->kind == NodeKind::field && !node->optional) {
    keys.insert(keys.begin(), node->text);
    node = node->kids[0].get();
  }
  if (node == nullptr || node->kind != NodeKind::identity) return std::nullopt;
  return keys;
}

std::vector<std::vector<std::string>> Program::reads() const {
  return native() ? paths_read(*state_->root) : std::vector<Path>();
}

}  // namespace kubewatch::jq
