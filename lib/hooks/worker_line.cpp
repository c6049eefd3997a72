// Slices instead of trees: most answers hold an id and nothing else.
#include "hooks/worker_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/json.hpp"
#include "base/number_text.hpp"
#include "base/strings.hpp"
#include "core/json_scan.hpp"

namespace kubewatch::hooks {
namespace {

constexpr int kHighestExit = 255;

Error broken(const std::string& what) {
  return Error(ErrorKind::invalid, what);
}

Result<int> exit_of(std::string_view value) {
  const auto code = base::read_number<int>(value);
  if (!code || *code < 0 || *code > kHighestExit) {
    return broken("\"exit\" must be a whole number from 0 to 255");
  }
  return *code;
}

// The line is untrusted: a member twice could be read one way here and another way by a person.
class AnswerReader {
 public:
  Result<WorkerAnswer> read(std::string_view line) {
    core::JsonCursor cursor(line);
    auto fields = cursor.each_field(
        [this](std::string_view key, std::string_view value) { return take(key, value); });
    if (fields.ok()) fields = cursor.expect_end();
    if (!fields.ok()) {
      return broken("not one JSON object: " + fields.error().message());
    }
    if (problem_) return *problem_;
    if (out_.id.empty()) return broken("without \"id\"");
    return std::move(out_);
  }

 private:
  // Problems of a member are kept: what the scanner says of the line as a whole comes first.
  Result<void> take(std::string_view key, std::string_view value) {
    const auto result = take_member(key, value);
    if (!result.ok() && !problem_) problem_ = result.error();
    return {};
  }

  Result<void> take_member(std::string_view key, std::string_view value) {
    if (!seen_.insert(std::string(key)).second) {
      return broken(fmt::format("with the member {} twice", shown_part(key)));
    }
    if (key == "id") {
      KW_ASSIGN(out_.id, core::decode_json_string(value));
      if (out_.id.empty()) return broken("with an empty \"id\"");
    } else if (key == "exit") {
      KW_ASSIGN(out_.exit, exit_of(value));
    } else if (key == "documents") {
      if (value.empty() || value.front() != '[') return broken("\"documents\" must be a list");
      out_.documents = value;
    } else {
      return broken(
          fmt::format("with an unknown member {} (known: id, exit, documents)", shown_part(key)));
    }
    return {};
  }

  WorkerAnswer out_;
  std::set<std::string> seen_;
  std::optional<Error> problem_;
};

}  // namespace

std::string shown_part(std::string_view text) {
  constexpr std::size_t kShown = 40;
  if (text.size() > kShown) return fmt::format("of {} bytes", text.size());
  return '"' + base::escape_for_terminal(text) + '"';
}

std::string worker_line(std::string document, const std::vector<std::string>& variables) {
  if (!document.empty() && document.back() == '}') document.pop_back();
  document += R"(,"env":{)";
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const std::string& variable = variables[i];
    const std::size_t equals = variable.find('=');
    if (i > 0) document += ',';
    document += base::json_quoted(variable.substr(0, equals));
    document += ':';
    document += base::json_quoted(variable.substr(equals + 1));
  }
  document += "}}";
  // A line break can only stand between tokens there; inside a string it would be escaped.
  if (document.find('\n') != std::string::npos) {
    std::replace(document.begin(), document.end(), '\n', ' ');
  }
  return document;
}

Result<WorkerAnswer> parse_worker_answer(std::string_view line) {
  if (base::trim(line).empty()) return broken("an empty line");
  return AnswerReader().read(line);
}

}  // namespace kubewatch::hooks
