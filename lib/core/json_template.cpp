// Parser and evaluation of kubectl's templates of JSONPath.
#include "core/json_template.hpp"

#include <fmt/format.h>

#include "base/ascii.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "core/json_path_steps.hpp"

namespace kubewatch::core {

// What is printed as it stands, what a path finds, or a range over what a path finds.
struct TemplateNode {
  std::string text;
  JsonPath path;
  enum class What { text, path, range } what = What::text;
  std::vector<TemplateNode> inside;  // of a range
};

namespace {

constexpr std::size_t kMaxText = 1U << 20U;
constexpr std::size_t kMaxRanges = 16;

using Nodes = std::vector<TemplateNode>;

class TemplateParser {
 public:
  explicit TemplateParser(std::string_view text) : text_(text) {}

  std::optional<PathProblem> run(Nodes& out) {
    if (auto problem = nodes(out, 0)) return problem;
    return at_ < text_.size() ? std::optional(PathProblem{"{end} without {range}", open_})
                              : std::nullopt;
  }

 private:
  // Until {end}, which is taken, or the end of the text.
  std::optional<PathProblem> nodes(Nodes& out, std::size_t depth) {
    const std::size_t range = open_;
    while (at_ < text_.size()) {
      const std::size_t brace = std::min(text_.find('{', at_), text_.size());
      if (brace > at_) out.push_back({std::string(text_.substr(at_, brace - at_)), {}, {}, {}});
      at_ = brace;
      if (at_ >= text_.size()) break;
      open_ = at_++;
      if (word("end")) {
        if (auto problem = close()) return problem;
        if (depth > 0) return std::nullopt;
        return PathProblem{"{end} without {range}", open_};
      }
      if (auto problem = action(out, depth)) return problem;
    }
    if (depth > 0) return PathProblem{"{range} without {end}", range};
    return std::nullopt;
  }

  // After '{'.
  std::optional<PathProblem> action(Nodes& out, std::size_t depth) {
    if (word("range")) {
      if (depth >= kMaxRanges) return PathProblem{"the ranges are nested too deep", open_};
      TemplateNode range;
      range.what = TemplateNode::What::range;
      if (auto problem = path(range.path)) return problem;
      if (auto problem = nodes(range.inside, depth + 1)) return problem;
      out.push_back(std::move(range));
      return std::nullopt;
    }
    skip_space();
    TemplateNode made;
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c == '"' || c == '\'') {
      if (auto problem = parse_quoted(text_, at_, Quoted::literal, made.text)) return problem;
      out.push_back(std::move(made));
      return close();
    }
    if (c == '+' || c == '-' || base::is_digit(c) || word("true") || word("false")) {
      return number(out);
    }
    made.what = TemplateNode::What::path;
    if (auto problem = path(made.path)) return problem;
    out.push_back(std::move(made));
    return std::nullopt;
  }

  std::optional<PathProblem> number(Nodes& out) {
    std::size_t begin = open_ + 1;
    const std::size_t end = text_.find('}', begin);
    if (end == std::string_view::npos) return PathProblem{"'{' is not closed", open_};
    std::string_view literal = base::trim(text_.substr(begin, end - begin));
    if (literal.starts_with('+')) literal.remove_prefix(1);
    const Json value = Json::parse(literal, nullptr, false);
    if (value.is_discarded() || !value.is_primitive()) {
      return PathProblem{"this is neither a path nor a number", begin};
    }
    out.push_back({scalar_text(value), {}, {}, {}});
    at_ = end + 1;
    return std::nullopt;
  }

  std::optional<PathProblem> path(JsonPath& into) {
    PathSteps steps;
    if (auto problem = parse_path(text_, at_, steps)) return problem;
    into = JsonPath(std::move(steps));
    return close();
  }

  std::optional<PathProblem> close() {
    skip_space();
    if (at_ >= text_.size()) return PathProblem{"'{' is not closed", open_};
    if (text_[at_] != '}') return PathProblem{"'}' is expected", at_};
    ++at_;
    return std::nullopt;
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  // Whether the action is this word alone or this word and more; takes it then.
  bool word(std::string_view wanted) {
    std::size_t at = at_;
    while (at < text_.size() && text_[at] == ' ') ++at;
    if (text_.substr(at, wanted.size()) != wanted) return false;
    const char next = at + wanted.size() < text_.size() ? text_[at + wanted.size()] : '}';
    if (next != ' ' && next != '}' && next != '.' && next != '[') return false;
    // "{end.x}" is the field x of the field end; "{range.items[*]}" is a range, as in kubectl.
    if (next != ' ' && next != '}' && wanted != "range") return false;
    at_ = at + wanted.size();
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t open_ = 0;  // the last '{'
};

class Rendering {
 public:
  explicit Rendering(const JsonTemplate::Limits& limits) : limits_(limits) {}

  Result<void> run(const Nodes& nodes, const Json& value) {
    for (const auto& node : nodes) {
      // What ranges over much and prints nothing is bounded too.
      if (++steps_ > kMaxSteps) {
        return Error(ErrorKind::too_large, "the template takes too many steps");
      }
      if (node.what == TemplateNode::What::text) {
        KW_TRY(add(node.text));
        continue;
      }
      JsonPath::Limits limits;
      limits.allow_missing = limits_.allow_missing;
      KW_ASSIGN(const auto found, node.path.evaluate(value, limits));
      bool first = true;
      for (const Json* one : found) {
        if (node.what == TemplateNode::What::range) {
          KW_TRY(run(node.inside, *one));
          continue;
        }
        if (!std::exchange(first, false)) KW_TRY(add(" "));
        // Of a null that is ranged over kubectl has no value, of one in a field it has null.
        KW_TRY(add(one == &value && one->is_null() ? "<no value>" : scalar_text(*one)));
      }
    }
    return {};
  }

  std::string take() { return std::move(out_); }

 private:
  Result<void> add(std::string_view text) {
    if (text.size() > limits_.max_bytes - out_.size()) {
      return Error(ErrorKind::too_large,
                   fmt::format("the template prints more than {} bytes", limits_.max_bytes));
    }
    out_ += text;
    return {};
  }

  static constexpr std::size_t kMaxSteps = 50'000'000;
  const JsonTemplate::Limits limits_;
  std::string out_;
  std::size_t steps_ = 0;
};

void add_template_reads(const Nodes& nodes, const PathRead& from, std::vector<PathRead>& into) {
  for (const TemplateNode& node : nodes) {
    if (node.what == TemplateNode::What::text) continue;
    const auto lead = add_reads(node.path.steps(), from, into);
    if (lead) add_template_reads(node.inside, *lead, into);
  }
}

Error invalid_template(std::string_view text, const PathProblem& problem, std::size_t* problem_at) {
  if (problem_at != nullptr) *problem_at = problem.at;
  return {ErrorKind::invalid, fmt::format("invalid JSONPath \"{}\": {} at character {}", text,
                                          problem.what, problem.at + 1)};
}

}  // namespace

Result<JsonTemplate> JsonTemplate::parse(std::string_view text, std::size_t* problem_at) {
  auto nodes = std::make_shared<Nodes>();
  if (text.size() > kMaxText) {
    return Error(ErrorKind::too_large, "the JSONPath template is longer than 1 MiB");
  }
  if (text.find_first_of("{}") == std::string_view::npos && !base::trim(text).empty()) {
    KW_ASSIGN(auto path, JsonPath::parse(text, problem_at));
    nodes->push_back({"", std::move(path), TemplateNode::What::path, {}});
  } else if (auto problem = TemplateParser(text).run(*nodes)) {
    return invalid_template(text, *problem, problem_at);
  }
  JsonTemplate out;
  out.nodes_ = std::move(nodes);
  return out;
}

Result<std::string> JsonTemplate::render(const Json& value, const Limits& limits) const {
  Rendering rendering(limits);
  if (nodes_) KW_TRY(rendering.run(*nodes_, value));
  return rendering.take();
}

std::vector<PathRead> JsonTemplate::reads() const {
  std::vector<PathRead> out;
  if (nodes_) add_template_reads(*nodes_, {}, out);
  return out;
}

Result<std::string> relaxed_path(std::string_view text, std::size_t* problem_at) {
  std::string_view inner = base::trim(text);
  const bool braces = inner.size() >= 2 && inner.front() == '{' && inner.back() == '}';
  if (braces) inner = base::trim(inner.substr(1, inner.size() - 2));
  const auto offset = static_cast<std::size_t>(inner.data() - text.data());
  if (inner.empty() || inner.find_first_of("{}") != std::string_view::npos) {
    const std::size_t at = inner.empty() ? 0 : offset + inner.find_first_of("{}");
    return invalid_template(text,
                            {"unexpected path string, expected a 'name1.name2' or '.name1.name2' "
                             "or '{name1.name2}' or '{.name1.name2}'",
                             at},
                            problem_at);
  }
  std::size_t at = 0;
  if (auto parsed = JsonPath::parse(inner, &at); !parsed.ok()) {
    if (problem_at != nullptr) *problem_at = offset + at;
    return parsed.error();
  }
  const bool rooted = std::string_view(".[$@").find(inner.front()) != std::string_view::npos;
  return (rooted ? "" : ".") + std::string(inner);
}

}  // namespace kubewatch::core
