#include "cli/metadata_reads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/ascii.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "cli/printers/custom_columns.hpp"
#include "core/json_path.hpp"
#include "core/json_template.hpp"
#include "hooks/changed_paths.hpp"

namespace kubewatch::cli {

namespace {

using Steps = std::vector<std::string>;
using Input = MetadataReads::Input;

bool is_kept_member(std::string_view name) {
  return name == "metadata" || name == "apiVersion" || name == "kind";
}

// The step that is a member of an object; "" where there is none.
std::string_view member_in(const Steps& steps, Input input) {
  if (steps.empty()) return "";
  const std::string& first = steps.front();
  if (input == Input::event && (first == "event" || first == "initial")) return "";
  const bool above =
      (input == Input::event && first == "old") || (input == Input::list && first == "items");
  if (!above) return first;
  return steps.size() > 1 ? std::string_view(steps[1]) : "";
}

// .metadata.annotations["a/b"]
std::string place_text(const Steps& steps) {
  std::string out;
  for (const std::string& step : steps) out += hooks::path_step(base::dump_json(step));
  return out;
}

bool is_identifier_char(char c) {
  return base::is_alphanumeric(c) || c == '_';
}

// ".items[0].spec | x" -> items, spec; what is behind them stays in `text`.
Steps take_steps(std::string_view& text) {
  Steps out;
  while (text.starts_with('.')) {
    std::size_t end = 1;
    while (end < text.size() && is_identifier_char(text[end])) ++end;
    if (end == 1) break;
    out.emplace_back(text.substr(1, end - 1));
    text.remove_prefix(end);
    if (text.starts_with('[')) text.remove_prefix(std::min(text.find(']'), text.size() - 1) + 1);
    if (text.starts_with('?')) text.remove_prefix(1);
  }
  return out;
}

// Of a program whose reads are not followed: libjq runs it, or it iterates over a list. Its first
// path is seen, and of a list that of each item: further on the input may be any value.
std::string lost_in_words(std::string_view text, Input input) {
  text.remove_prefix(std::min(text.find_first_not_of("[( \t\n"), text.size()));
  Steps steps = take_steps(text);
  if (input == Input::list && !steps.empty() && steps.front() == "items") {
    steps.erase(steps.begin());
    text = base::trim(text);
    if (steps.empty() && text.starts_with('|')) {
      text = base::trim(text.substr(1));
      steps = take_steps(text);
    }
    input = Input::object;
  }
  const std::string_view member = member_in(steps, input);
  return member.empty() || is_kept_member(member) ? "" : place_text(steps);
}

// What the program reads and metadata alone does not have, as far as it goes; "" = nothing that can
// be seen.
std::string lost_place(const jq::Program& program, Input input) {
  Steps found;
  for (const Steps& steps : program.reads()) {
    const std::string_view member = member_in(steps, input);
    if (member.empty() || is_kept_member(member)) continue;
    const bool goes_on =
        steps.size() > found.size() && std::equal(found.begin(), found.end(), steps.begin());
    if (goes_on) found = steps;
  }
  if (!found.empty()) return place_text(found);
  const bool followed = program.native() && input != Input::list;
  return followed ? "" : lost_in_words(program.text(), input);
}

// Behind what is opened at `at`: a brace, a bracket. npos: it is not closed.
std::size_t group_end(std::string_view text, std::size_t at) {
  int depth = 0;
  char quote = '\0';
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != '\0') {
      if (c == '\\') {
        ++at;
      } else if (c == quote) {
        quote = '\0';
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{' || c == '(') {
      ++depth;
    } else if ((c == ']' || c == '}' || c == ')') && --depth == 0) {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

// What follows ".items[...]"; absent where that is not what it begins with.
std::optional<std::string_view> behind_items(std::string_view path) {
  constexpr std::string_view kItems = ".items";
  if (!path.starts_with(kItems) || path.substr(kItems.size(), 1) != "[") return std::nullopt;
  const std::size_t end = group_end(path, kItems.size());
  if (end == std::string_view::npos) return std::nullopt;
  return path.substr(end);
}

// A text or a number, which a template prints as it stands.
bool is_template_literal(std::string_view action) {
  if (action.empty() || action == "true" || action == "false") return true;
  return base::is_digit(action[0]) ||
         std::string_view("\"'+-").find(action[0]) != std::string_view::npos;
}

}  // namespace

Error MetadataReads::refused(const std::string& flag, const std::string& place) const {
  return {ErrorKind::invalid, fmt::format("{} reads {}, but {} only apiVersion, kind and metadata",
                                          flag, place, keeper_)};
}

Result<void> MetadataReads::check(const std::string& flag, const jq::Program& program,
                                  Input input) const {
  const std::string place = lost_place(program, input);
  if (place.empty()) return {};
  return refused(flag, place);
}

Result<void> MetadataReads::check_path(const std::string& flag, std::string_view path,
                                       Input input) const {
  const auto relaxed = core::relaxed_path(path);
  if (!relaxed.ok()) return {};
  if (const auto item = behind_items(*relaxed); item && input == Input::list) {
    const std::size_t choice = relaxed->size() - item->size();
    KW_TRY(check_choice(flag, std::string_view(*relaxed).substr(0, choice)));
    return item->empty() ? Result<void>() : check_path(flag, *item, Input::object);
  }
  const auto parsed = core::JsonPath::parse(*relaxed);
  if (!parsed.ok()) return {};
  const std::string field = parsed->first_field();
  const std::string member = field.substr(0, field.find('.'));  // ['a.b'] may be a path
  const bool of_list = input == Input::list && member == "items";
  if (member.empty() || of_list || is_kept_member(member)) return {};
  return refused(flag, *relaxed);
}

Result<void> MetadataReads::check_choice(const std::string& flag, std::string_view items) const {
  for (std::size_t at = items.find('@'); at != std::string_view::npos; at = items.find('@', at)) {
    const std::size_t begin = ++at;
    at = std::min(items.find_first_of(" \t=!<>&|)", begin), items.size());
    KW_TRY(check_path(flag, items.substr(begin, at - begin), Input::object));
  }
  return {};
}

// Inside of a range the paths start where it leads.
Result<void> MetadataReads::check_template(std::string_view text, Input input) const {
  const std::string flag = "-o jsonpath";
  if (text.find('{') == std::string_view::npos) return check_path(flag, text, input);
  std::vector<std::optional<Input>> inputs{input};  // absent: something else than these
  for (std::size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at)) {
    const std::size_t end = group_end(text, at);
    if (end == std::string_view::npos) break;
    std::string_view action = base::trim(text.substr(at + 1, end - at - 2));
    at = end;
    if (action == "end") {
      if (inputs.size() > 1) inputs.pop_back();
      continue;
    }
    constexpr std::string_view kRange = "range";
    const bool range = action.starts_with(kRange) && action.size() > kRange.size() &&
                       !is_identifier_char(action[kRange.size()]);
    if (range) action = base::trim(action.substr(kRange.size()));
    const std::optional<Input> here = inputs.back();
    if (here && !is_template_literal(action)) KW_TRY(check_path(flag, action, *here));
    if (!range) continue;
    const auto item = behind_items(action);
    const bool objects = here == Input::list && item && item->empty();
    inputs.push_back(objects ? std::optional(Input::object) : std::nullopt);
  }
  return {};
}

Result<void> MetadataReads::check_columns(const std::string& text) const {
  const auto columns = CustomColumns::of_format(text);
  if (!columns.ok()) return {};
  for (const std::string& path : columns->path_texts()) {
    KW_TRY(check_path("-o custom-columns", path, Input::object));
  }
  return {};
}

Result<void> MetadataReads::check_format(const OutputFormat& format, Input input) const {
  switch (format.kind) {
    case OutputFormat::Kind::jsonpath: return check_template(format.text, input);
    case OutputFormat::Kind::custom_columns: return check_columns(format.text);
    case OutputFormat::Kind::jq: {
      const auto program = jq::Program::compile(format.text);
      return program.ok() ? check("-o jq", *program, input) : Result<void>();
    }
    default: return {};
  }
}

}  // namespace kubewatch::cli
