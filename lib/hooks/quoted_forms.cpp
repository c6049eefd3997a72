#include "hooks/quoted_forms.hpp"

#include <algorithm>
#include <set>

#include "base/ascii.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "core/go_json.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::hooks {
namespace {

// Behind and before its quotes.
std::string inside(std::string_view quoted) {
  return std::string(quoted.substr(1, quoted.size() - 2));
}

std::string in_json(const std::string& text) {
  return inside(base::json_quoted(text));
}

std::string in_ascii_json(const std::string& text) {
  return inside(Json(text).dump(-1, ' ', true, Json::error_handler_t::replace));
}

bool has_quoted_form(char c) {
  return base::is_control(c) || static_cast<unsigned char>(c) >= 0x80 ||
         std::string_view("\"\\<>&").find(c) != std::string_view::npos;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::vector<std::string> others(std::set<std::string> forms, const std::string& value) {
  forms.erase(value);
  return {forms.begin(), forms.end()};
}

}  // namespace

std::vector<std::string> quoted_forms(std::string_view value) {
  // Nearly all values.
  if (std::none_of(value.begin(), value.end(), has_quoted_form)) return {};
  if (!base::is_valid_utf8(value)) return {};
  const std::string text(value);
  const std::set<std::string> once = {in_json(text), inside(core::go_json(Json(text))),
                                      in_ascii_json(text), inside(schema::go_quoted(text))};
  std::set<std::string> forms;
  for (const std::string& form : once) {
    forms.insert(form);
    forms.insert(in_json(form));
  }
  return others(std::move(forms), text);
}

std::vector<std::string> url_forms(std::string_view value) {
  const std::string strict = base::percent_encode(value);
  std::string script = strict;
  for (const auto& [code, plain] :
       {std::pair("%21", "!"), {"%27", "'"}, {"%28", "("}, {"%29", ")"}, {"%2A", "*"}}) {
    script = replaced(std::move(script), code, plain);
  }
  return others({strict, replaced(strict, "%20", "+"), script}, std::string(value));
}

}  // namespace kubewatch::hooks
