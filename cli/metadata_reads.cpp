#include "cli/metadata_reads.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "cli/printers/custom_columns.hpp"
#include "core/json_path.hpp"
#include "core/json_template.hpp"
#include "hooks/changed_paths.hpp"

namespace kubewatch::cli {

namespace {

using Steps = core::PathRead;
using Input = MetadataReads::Input;

bool is_kept_member(std::string_view name) {
  return name == "metadata" || name == "apiVersion" || name == "kind";
}

// The step that is a member of an object; "" where there is none.
std::string_view member_in(const Steps& steps, Input input) {
  if (steps.empty() || !steps.front()) return "";
  const std::string& first = *steps.front();
  if (input == Input::event && (first == "event" || first == "initial")) return "";
  const bool above =
      (input == Input::event && first == "old") || (input == Input::list && first == "items");
  if (!above) return first;
  return steps.size() > 1 && steps[1] ? std::string_view(*steps[1]) : "";
}

// .metadata.annotations["a/b"], .spec.containers[*].image
std::string place_text(const Steps& steps) {
  std::string out;
  for (const auto& step : steps) out += step ? hooks::path_step(base::dump_json(*step)) : "[*]";
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
  for (const auto& read : program.reads()) {
    const Steps steps(read.begin(), read.end());
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

Result<void> MetadataReads::check_reads(const std::string& flag,
                                        const std::vector<core::PathRead>& reads,
                                        Input input) const {
  for (Steps steps : reads) {
    const bool of_item =
        input == Input::list && steps.size() > 1 && steps[0] == "items" && !steps[1];
    if (of_item) steps.erase(steps.begin(), steps.begin() + 2);
    const std::string_view member = member_in(steps, of_item ? Input::object : input);
    if (!member.empty() && !is_kept_member(member)) return refused(flag, place_text(steps));
  }
  return {};
}

Result<void> MetadataReads::check_path(const std::string& flag, std::string_view path,
                                       Input input) const {
  const auto parsed = core::JsonPath::parse(path);
  return parsed.ok() ? check_reads(flag, parsed->reads(), input) : Result<void>();
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
    case OutputFormat::Kind::jsonpath: {
      const auto parsed = core::JsonTemplate::parse(format.text);
      return parsed.ok() ? check_reads("-o jsonpath", parsed->reads(), input) : Result<void>();
    }
    case OutputFormat::Kind::custom_columns: return check_columns(format.text);
    case OutputFormat::Kind::jq: {
      const auto program = jq::Program::compile(format.text);
      return program.ok() ? check("-o jq", *program, input) : Result<void>();
    }
    default: return {};
  }
}

}  // namespace kubewatch::cli
