// The strings extension and regular expressions. Positions count code points.
#include <algorithm>
#include <optional>

#include "base/utf8.hpp"
#include "cel/format_text.hpp"
#include "cel/functions.hpp"

namespace kubewatch::cel {

namespace {

using Kind = Value::Kind;
using Arguments = std::span<Value>;

bool strings(Arguments a, std::size_t count) {
  if (a.size() < count) return false;
  for (std::size_t i = 0; i < count; ++i) {
    if (!a[i].is(Kind::string)) return false;
  }
  return true;
}
bool is_int(Arguments a, std::size_t index) {
  return a.size() == index + 1 && a[index].is(Kind::integer);
}

Value out_of_range(std::int64_t index) {
  return Value::error("index out of range: " + std::to_string(index));
}

// Where each code point begins, and the end.
std::vector<std::size_t> starts(std::string_view text) {
  std::vector<std::size_t> out;
  for (std::size_t at = 0; at < text.size(); at += base::next_utf8(text, at).size) {
    out.push_back(at);
  }
  out.push_back(text.size());
  return out;
}

Value int_of(std::size_t number) {
  return Value::integer(static_cast<std::int64_t>(number));
}

Value contains(Arguments a, const Prepared& /*prepared*/) {
  if (!strings(a, 2)) return Value::no_such_overload();
  return Value::boolean(a[0].text().find(a[1].text()) != std::string_view::npos);
}
Value starts_with(Arguments a, const Prepared& /*prepared*/) {
  if (!strings(a, 2)) return Value::no_such_overload();
  return Value::boolean(a[0].text().substr(0, a[1].text().size()) == a[1].text());
}
Value ends_with(Arguments a, const Prepared& /*prepared*/) {
  if (!strings(a, 2)) return Value::no_such_overload();
  const auto text = a[0].text(), end = a[1].text();
  return Value::boolean(text.size() >= end.size() && text.substr(text.size() - end.size()) == end);
}

Value char_at(Arguments a, const Prepared& /*prepared*/) {
  if (!strings(a, 1) || !is_int(a, 1)) return Value::no_such_overload();
  const auto at = starts(a[0].text());
  const auto index = a[1].as_int();
  const auto last = static_cast<std::int64_t>(at.size()) - 1;
  if (index < 0 || index > last) return out_of_range(index);
  if (index == last) return Value::string("");
  const auto from = at[static_cast<std::size_t>(index)];
  const auto to = at[static_cast<std::size_t>(index) + 1];
  return Value::string(std::string(a[0].text().substr(from, to - from)));
}

Value index_of(Arguments a) {
  const auto text = a[0].text(), wanted = a[1].text();
  const auto from = a.size() == 3 ? a[2].as_int() : 0;
  if (wanted.empty()) return Value::integer(from);
  const auto at = starts(text);
  if (from < 0) return out_of_range(from);
  if (from >= static_cast<std::int64_t>(at.size()) - 1) return Value::integer(-1);
  const auto found = text.find(wanted, at[static_cast<std::size_t>(from)]);
  if (found == std::string_view::npos) return Value::integer(-1);
  return int_of(code_points(text.substr(0, found)));
}

Value last_index_of(Arguments a) {
  const auto text = a[0].text(), wanted = a[1].text();
  const auto at = starts(text);
  const auto length = static_cast<std::int64_t>(at.size()) - 1;
  if (wanted.empty()) return Value::integer(a.size() == 3 ? a[2].as_int() : length);
  const auto from = a.size() == 3 ? a[2].as_int() : length - 1;
  if (a.size() == 3 && from < 0) return out_of_range(from);
  if (from < 0 || from >= length) return Value::integer(-1);
  const auto found = text.rfind(wanted, at[static_cast<std::size_t>(from)]);
  if (found == std::string_view::npos) return Value::integer(-1);
  return int_of(code_points(text.substr(0, found)));
}

// Of strings and of lists.
Value find_first(Arguments a, const Prepared& prepared) {
  if (strings(a, 2) && (a.size() == 2 || is_int(a, 2))) return index_of(a);
  if (a.size() != 2 || !a[0].is(Kind::list)) return Value::no_such_overload();
  for (std::size_t i = 0, size = *size_of(a[0]); i < size; ++i) {
    if (equals(element(a[0], i), a[1], *prepared.allowance).is_true()) return int_of(i);
  }
  return Value::integer(-1);
}
Value find_last(Arguments a, const Prepared& prepared) {
  if (strings(a, 2) && (a.size() == 2 || is_int(a, 2))) return last_index_of(a);
  if (a.size() != 2 || !a[0].is(Kind::list)) return Value::no_such_overload();
  for (std::size_t i = *size_of(a[0]); i > 0; --i) {
    if (equals(element(a[0], i - 1), a[1], *prepared.allowance).is_true()) return int_of(i - 1);
  }
  return Value::integer(-1);
}

template <char kFrom, char kTo>
Value ascii_case(Arguments a, const Prepared& /*prepared*/) {
  if (!strings(a, 1)) return Value::no_such_overload();
  std::string text(a[0].text());
  for (char& c : text) {
    if (c >= kFrom && c <= kTo) c = static_cast<char>(c ^ 0x20);
  }
  return Value::string(std::move(text));
}

Value replace(Arguments a, const Prepared& prepared) {
  if (!strings(a, 3) || (a.size() == 4 && !is_int(a, 3))) return Value::no_such_overload();
  std::int64_t left = a.size() == 4 ? a[3].as_int() : -1;
  const auto text = a[0].text(), old = a[1].text(), with = a[2].text();
  std::string out;
  std::size_t at = 0;
  while (left != 0) {
    const auto found = text.find(old, at);
    if (found == std::string_view::npos) break;
    // What is put in is paid for by nobody, however often.
    if (!prepared.allowance->text(found - at + with.size())) return Value::cancelled();
    out.append(text.substr(at, found - at)).append(with);
    at = found + old.size();
    --left;
    if (!old.empty()) continue;
    if (at >= text.size()) return Value::string(std::move(out));
    const auto size = base::next_utf8(text, at).size;
    out.append(text.substr(at, size));
    at += size;
    if (at == text.size()) {  // "" is also found at the end
      if (left != 0) out.append(with);
      return Value::string(std::move(out));
    }
  }
  return Value::string(out.append(text.substr(at)));
}

Value split(Arguments a, const Prepared& prepared) {
  if (!strings(a, 2) || (a.size() == 3 && !is_int(a, 2))) return Value::no_such_overload();
  std::int64_t left = a.size() == 3 ? a[2].as_int() : -1;
  std::vector<Value> out;
  if (left == 0) return list(std::move(out));
  const auto text = a[0].text(), separator = a[1].text();
  std::size_t at = 0;
  while (left != 1 && at <= text.size()) {
    std::size_t end = text.find(separator, at);
    if (separator.empty()) {
      if (at == text.size()) return list(std::move(out));
      end = at + base::next_utf8(text, at).size;
      if (end == text.size()) break;
    }
    if (end == std::string_view::npos) break;
    if (!prepared.allowance->items(1)) return Value::cancelled();
    out.push_back(Value::piece(a[0], text.substr(at, end - at)));
    at = end + separator.size();
    --left;
  }
  if (!separator.empty() || at < text.size()) out.push_back(Value::piece(a[0], text.substr(at)));
  return list(std::move(out));
}

Value substring(Arguments a, const Prepared& /*prepared*/) {
  if (!strings(a, 1) || !a[1].is(Kind::integer) || !a.back().is(Kind::integer)) {
    return Value::no_such_overload();
  }
  const auto at = starts(a[0].text());
  const auto length = static_cast<std::int64_t>(at.size()) - 1;
  const auto from = a[1].as_int(), to = a.size() == 3 ? a[2].as_int() : length;
  if (a.size() == 3 && from > to) {
    return Value::error("invalid substring range. start: " + std::to_string(from) +
                        ", end: " + std::to_string(to));
  }
  if (from < 0 || from > length) return out_of_range(from);
  if (to < 0 || to > length) return out_of_range(to);
  const auto begin = at[static_cast<std::size_t>(from)], end = at[static_cast<std::size_t>(to)];
  return Value::string(std::string(a[0].text().substr(begin, end - begin)));
}

bool is_white(char32_t c) {
  return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

Value trim(Arguments a, const Prepared& /*prepared*/) {
  if (!strings(a, 1)) return Value::no_such_overload();
  const auto text = a[0].text();
  std::size_t begin = text.size(), end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto c = base::next_utf8(text, at);
    if (!is_white(c.code)) {
      begin = std::min(begin, at);
      end = at + c.size;
    }
    at += c.size;
  }
  return Value::string(end == 0 ? "" : std::string(text.substr(begin, end - begin)));
}

Value join(Arguments a, const Prepared& prepared) {
  if (!a[0].is(Kind::list) || (a.size() == 2 && !a[1].is(Kind::string))) {
    return Value::no_such_overload();
  }
  std::string out;
  for (std::size_t i = 0, size = *size_of(a[0]); i < size; ++i) {
    const Value part = element(a[0], i);
    if (part.is_error()) return part;
    if (!part.is(Kind::string)) return Value::error("join: invalid input");
    const std::string_view separator = i > 0 && a.size() == 2 ? a[1].text() : "";
    if (!prepared.allowance->look() ||
        !prepared.allowance->text(separator.size() + part.text().size())) {
      return Value::cancelled();
    }
    out += separator;
    out += part.text();
  }
  return Value::string(std::move(out));
}

Value quote(Arguments a, const Prepared& /*prepared*/) {
  if (!strings(a, 1)) return Value::no_such_overload();
  static constexpr std::string_view kSpecial = "\a\b\f\n\r\t\v\\\"";
  static constexpr std::string_view kNames = "abfnrtv\\\"";
  std::string out = "\"";
  for (const char c : a[0].text()) {
    const auto found = kSpecial.find(c);
    if (found == std::string_view::npos) {
      out += c;
    } else {
      out += '\\';
      out += kNames[found];
    }
  }
  return Value::string(out + "\"");
}

Value format(Arguments a, const Prepared& prepared) {
  if (!strings(a, 1) || !a[1].is(Kind::list)) return Value::no_such_overload();
  return format_text(a[0].text(), a[1], *prepared.allowance);
}

// The regular expression of a call: prepared, or made now.
struct Pattern {
  Pattern(const Value& text, const Prepared& prepared) : regex(prepared.regex) {
    if (regex != nullptr) return;
    auto made = base::Regex::compile(text.text());
    if (!made.ok()) {
      problem = made.error().message();
      return;
    }
    own.emplace(std::move(*made));
    regex = &*own;
  }
  const base::Regex* regex;
  std::optional<base::Regex> own;
  std::string problem;
};

Value matches(Arguments a, const Prepared& prepared) {
  if (!strings(a, 2)) return Value::no_such_overload();
  const Pattern pattern(a[1], prepared);
  if (pattern.regex == nullptr) return Value::error(pattern.problem);
  return Value::boolean(pattern.regex->search(a[0].text()));
}

Value find(Arguments a, const Prepared& prepared) {
  if (!strings(a, 2)) return Value::no_such_overload();
  const Pattern pattern(a[1], prepared);
  if (pattern.regex == nullptr) return Value::error("Illegal regex: " + pattern.problem);
  const auto found = pattern.regex->find(a[0].text());
  if (!found) return Value::string("");
  return Value::string(std::string(a[0].text().substr(found->begin, found->end - found->begin)));
}

Value find_all(Arguments a, const Prepared& prepared) {
  if (!strings(a, 2) || (a.size() == 3 && !is_int(a, 2))) return Value::no_such_overload();
  const Pattern pattern(a[1], prepared);
  if (pattern.regex == nullptr) return Value::error("Illegal regex: " + pattern.problem);
  std::int64_t left = a.size() == 3 ? a[2].as_int() : -1;
  const auto text = a[0].text();
  std::vector<Value> out;
  std::size_t at = 0, last_end = std::string_view::npos;
  while (left != 0 && at <= text.size()) {
    const auto found = pattern.regex->find(text, at);
    if (!found) break;
    const bool empty = found->begin == found->end;
    // An empty match right behind the last one does not count.
    if (!empty || found->begin != last_end) {
      if (!prepared.allowance->items(1)) return Value::cancelled();
      out.push_back(Value::piece(a[0], text.substr(found->begin, found->end - found->begin)));
      --left;
    }
    last_end = found->end;
    at = found->end;
    if (empty) at += at < text.size() ? base::next_utf8(text, at).size : 1;
  }
  return list(std::move(out));
}

constexpr NamedImplementation kTable[] = {
    {"contains", contains},
    {"startsWith", starts_with},
    {"endsWith", ends_with},
    {"charAt", char_at},
    {"indexOf", find_first},
    {"lastIndexOf", find_last},
    {"lowerAscii", ascii_case<'A', 'Z'>},
    {"upperAscii", ascii_case<'a', 'z'>},
    {"replace", replace},
    {"split", split},
    {"substring", substring},
    {"trim", trim},
    {"join", join},
    {"strings.quote", quote},
    {"format", format},
    {"matches", matches},
    {"find", find},
    {"findAll", find_all},
};

}  // namespace

std::span<const NamedImplementation> string_functions() {
  return kTable;
}

}  // namespace kubewatch::cel
